/* What attachments hold. It stands apart from their rows, so that lists never read it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "journal/journal_int.h"
#include "journal/list.h"

int attachment_store(struct journal *journal, struct str id, struct str bytes, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(journal->domain),
                   SQL("UPDATE attachments SET content = ? WHERE id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_blob(q, bytes.p ? bytes : STR(""));
    stmt_bind_str(q, id);
    return stmt_run(q, err);
}

int attachment_content(struct journal *journal, struct str id, struct arena *arena,
                       struct str *ret_bytes, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(journal->domain),
                   SQL("SELECT content FROM attachments WHERE id = ? AND deleted_at IS NULL"), &q,
                   err) < 0)
        return -1;
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r == 1)
        *ret_bytes = arena_str(arena, stmt_blob(q, "content"));
    return r;
}
