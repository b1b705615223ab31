/* Policies that runs were recorded under, by the identity of the rules, and whose a run is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "run/rules.h"

int rules_put(struct domain *domain, const char *key, struct str text, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO meta (key, value) VALUES (?, ?)"
                       " ON CONFLICT (key) DO UPDATE SET value = excluded.value"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, key);
    stmt_bind_str(q, text);
    return stmt_run(q, err);
}

int rules_get(struct domain *domain, const char *key, struct arena *arena, struct str *ret_text,
              struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL("SELECT value FROM meta WHERE key = ?"), &q, err) < 0)
        return -1;
    stmt_bind_text(q, key);
    r = stmt_step(q, err);
    if (r == 1)
        *ret_text = arena_str(arena, stmt_str(q, "value"));
    return r;
}

int rules_save(struct domain *domain, int64_t run_n, struct str hash, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("UPDATE runs SET program_hash = ? WHERE n = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_blob(q, hash);
    stmt_bind_i64(q, run_n);
    return stmt_run(q, err);
}
