/* Migrations: numbered, checksummed, applied in order inside one transaction and recorded in
 * schema_migrations beside the data.
 *
 * An up-to-date domain is only read. Otherwise the steps that are missing are looked up again
 * under the writer's lock, because another process may have applied them in between.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/migrate.h"

#include <string.h>

/* ---- checksums ---- */

static bool says_something(struct str line)
{
    return line.n > 0 && !str_starts(line, STR("--"));
}

static struct str trim_end(struct str line)
{
    while (line.n > 0 && strchr(" \t\r", line.p[line.n - 1]))
        line.n--;
    return line;
}

void migration_checksum(const char *text, char ret_checksum[SHA256_TEXT_SIZE])
{
    struct str rest = str_from(text), line;
    uint8_t digest[SHA256_BYTES];
    struct sha256 hash;

    sha256_init(&hash);
    while (str_split(&rest, '\n', &line)) {
        line = trim_end(line);
        if (!says_something(str_trim(line)))
            continue;
        sha256_add(&hash, line);
        sha256_add(&hash, STR("\n"));
    }
    sha256_finish(&hash, digest);
    hex_encode(digest, sizeof(digest), ret_checksum);
}

/* ---- what was applied ---- */

static int read_count(struct db *db, struct sql sql, int64_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db, sql, &q, err) < 0)
        return -1;
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    BUG_IF(r == 0);
    *ret_count = stmt_i64(q, "n");
    return 0;
}

static int compare_step(struct stmt *q, const struct db_ops *ops, const struct migration *step,
                        struct err *err)
{
    char checksum[SHA256_TEXT_SIZE];

    if (stmt_i64(q, "number") != step->number)
        return err_set(err, ERR_INTEGRITY_FAILED,
                       "schema_migrations lists step %lld where step %d belongs",
                       (long long)stmt_i64(q, "number"), step->number);
    migration_checksum(ops->migration_text(step), checksum);
    if (!str_is(stmt_str(q, "checksum"), checksum))
        return err_set(err, ERR_INTEGRITY_FAILED,
                       "migration %d (%s) was applied with checksum %.*s, but this program has"
                       " %.12s: the text of an applied migration must not change",
                       step->number, step->name, STR_ARG(str_take(stmt_str(q, "checksum"), 12)),
                       checksum);
    return 0;
}

/* The steps of another domain have other names. */
static bool is_anothers(struct db *db, const struct migration *steps, size_t n)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db, SQL("SELECT number, name FROM schema_migrations ORDER BY number"), &q,
                   NULL) < 0)
        return false;
    for (size_t i = 0; i < n && stmt_step(q, NULL) > 0; i++)
        if (stmt_i64(q, "number") == steps[i].number && !str_is(stmt_str(q, "name"), steps[i].name))
            return true;
    return false;
}

static int compare_applied(struct db *db, const struct migration *steps, size_t n, int *ret_version,
                           struct err *err)
{
    AUTO(stmt) q = NULL;
    int version = 0, r;

    if (db_prepare(db, SQL("SELECT number, checksum FROM schema_migrations ORDER BY number"), &q,
                   err) < 0)
        return -1;
    while ((r = stmt_step(q, err)) > 0) {
        if (version >= (int)n)
            return err_set(err, ERR_CONFLICT,
                           "the data has schema version %lld or newer, this program knows up to"
                           " %zu: use a newer Dormouse",
                           (long long)stmt_i64(q, "number"), n);
        if (compare_step(q, db->ops, &steps[version], err) < 0)
            return is_anothers(db, steps, n)
                       ? err_wrap(err, "this is the database of another domain")
                       : -1;
        version++;
    }
    if (r < 0)
        return -1;
    *ret_version = version;
    return 0;
}

int migrate_check(struct db *db, const struct migration *steps, size_t n, int *ret_version,
                  struct err *err)
{
    int64_t recorded, tables;

    /* In this order: another process may be creating both, in one transaction. */
    if (read_count(db, db->ops->count_tables, &tables, err) < 0 ||
        read_count(db, db->ops->count_records, &recorded, err) < 0)
        return -1;
    if (recorded)
        return compare_applied(db, steps, n, ret_version, err);
    if (tables)
        return err_set(err, ERR_CONFLICT,
                       "there are %lld tables but no schema_migrations: this is not a database of"
                       " Dormouse",
                       (long long)tables);
    *ret_version = 0;
    return 0;
}

/* ---- applying ---- */

static int record_step(struct db *db, const struct migration *step, struct clock *clock,
                       struct err *err)
{
    char checksum[SHA256_TEXT_SIZE];
    AUTO(stmt) q = NULL;

    migration_checksum(db->ops->migration_text(step), checksum);
    if (db_prepare(db,
                   SQL("INSERT INTO schema_migrations (number, name, checksum, applied_at)"
                       " VALUES (?, ?, ?, ?)"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, step->number);
    stmt_bind_text(q, step->name);
    stmt_bind_text(q, checksum);
    stmt_bind_i64(q, clock_wall_ms(clock));
    return stmt_run(q, err);
}

/* Under the lock: what another process has migrated meanwhile must not replace the copy of what
 * was there before. */
static int copy_first(struct db *db, const struct migration *steps, size_t n, struct err *err)
{
    int version = 0;

    if (migrate_check(db, steps, n, &version, err) < 0)
        return -1;
    return version > 0 && version < (int)n ? db->ops->save_before(db, (int)n, err) : 0;
}

static int apply_missing(struct db *db, const struct migration *steps, size_t n,
                         struct clock *clock, struct err *err)
{
    int version = 0;

    if (db->ops->save_before && copy_first(db, steps, n, err) < 0)
        return err_wrap(err, "copy the data before migrating");
    if (db->ops->script(db, db->ops->migration_start, err) < 0)
        return -1;
    if (compare_applied(db, steps, n, &version, err) < 0)
        return -1;
    for (size_t i = (size_t)version; i < n; i++)
        if (db->ops->script(db, db->ops->migration_text(&steps[i]), err) < 0 ||
            record_step(db, &steps[i], clock, err) < 0)
            return err_wrap(err, "migration %d (%s)", steps[i].number, steps[i].name);
    return 0;
}

static int apply_in_transaction(struct db *db, const struct migration *steps, size_t n,
                                struct clock *clock, struct err *err)
{
    struct err ignored = ERR_INIT;

    if (db_control(db, DB_BEGIN, err) < 0)
        return -1;
    if (apply_missing(db, steps, n, clock, err) == 0 && db_control(db, DB_COMMIT, err) == 0)
        return 0;
    if (db_control(db, DB_ROLLBACK, &ignored) < 0)
        db_abandon(db);
    return -1;
}

/* A domain that holds nothing yet has nothing to lose: its first tables last when the first record
 * does. A power cut before that leaves a domain that holds nothing. */
static int apply_first(struct db *db, const struct migration *steps, size_t n, struct clock *clock,
                       struct err *err)
{
    int r;

    if (!db->ops->relax)
        return apply_in_transaction(db, steps, n, clock, err);
    if (db->ops->relax(db, true, err) < 0)
        return -1;
    r = apply_in_transaction(db, steps, n, clock, err);
    if (r == 0)
        r = db->ops->relax(db, false, err);
    return r;
}

int migrate(struct db *db, const struct migration *steps, size_t n, struct clock *clock,
            struct err *err)
{
    int version = 0;

    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        BUG_IF(steps[i].number != (int)i + 1 || !db->ops->migration_text(&steps[i]));
    if (migrate_check(db, steps, n, &version, err) < 0)
        return -1;
    if (version == (int)n)
        return 0;
    if (db->read_only)
        return err_set(err, ERR_VERSION_CONFLICT,
                       "the data has schema version %d and needs %zu: start the daemon once, it"
                       " migrates",
                       version, n);
    if (version == 0)
        return apply_first(db, steps, n, clock, err);
    return apply_in_transaction(db, steps, n, clock, err);
}
