/* The table `credentials`: which accounts there are. It names the secret and never holds it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connect/connect_int.h"
#include "db/db.h"
#include "db/domain.h"

int credential_find(struct domain *domain, const char *provider, struct arena *arena,
                    struct credential *ret_credential, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT secret_ref, account, scopes, checked_at FROM credentials"
                       " WHERE provider = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, provider);
    r = stmt_step(q, err);
    if (r < 0)
        return err_wrap(err, "look for the account %s", provider);
    if (r == 0)
        return 0;
    *ret_credential = (struct credential){
        .provider = provider,
        .secret_ref = arena_str(arena, stmt_str(q, "secret_ref")).p,
        .account = arena_str(arena, stmt_str(q, "account")),
        .scopes = arena_str(arena, stmt_str(q, "scopes")),
        .checked_at = stmt_is_null(q, "checked_at") ? 0 : stmt_i64(q, "checked_at"),
    };
    return 1;
}

int credential_save(struct domain *domain, const struct credential *credential, int64_t now_ms,
                    struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO credentials (provider, secret_ref, account, scopes, checked_at,"
                       " created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (provider) DO UPDATE SET secret_ref = excluded.secret_ref,"
                       " account = excluded.account, scopes = excluded.scopes,"
                       " checked_at = excluded.checked_at, updated_at = excluded.updated_at"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, credential->provider);
    stmt_bind_text(q, credential->secret_ref);
    stmt_bind_str(q, credential->account);
    stmt_bind_str(q, credential->scopes);
    stmt_bind_i64(q, credential->checked_at);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err) < 0 ? err_wrap(err, "record the account %s", credential->provider) : 0;
}

int credential_remove(struct domain *domain, const char *provider, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("DELETE FROM credentials WHERE provider = ?"), &q, err) <
        0)
        return -1;
    stmt_bind_text(q, provider);
    return stmt_run(q, err) < 0 ? err_wrap(err, "forget the account %s", provider) : 0;
}
