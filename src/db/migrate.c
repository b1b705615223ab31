/* Migrations: applied in order, in one transaction.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/migrate.h"

int migrate(struct db *db, const struct migration *migrations, size_t n, struct err *err)
{
    if (n == 0 || db->read_only)
        return 0;
    if (db_control(db, DB_BEGIN, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (db->ops->script(db, db->ops->migration_text(&migrations[i]), err) < 0) {
            struct err ignored = ERR_INIT;

            db_control(db, DB_ROLLBACK, &ignored);
            return err_wrap(err, "migration %d (%s)", migrations[i].number, migrations[i].name);
        }
    return db_control(db, DB_COMMIT, err);
}
