/* Rows of webhooks. The token itself is shown once and stored nowhere: only its hash is.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/base64.h"
#include "base/hash.h"
#include "base/rand.h"
#include "db/db.h"
#include "wake/webhook.h"

#define TOKEN_BYTES 32
#define TOKEN_TEXT  43 /* in base64url without padding */

static void make_token(char ret_token[WEBHOOK_TOKEN_SIZE])
{
    AUTO_BUF text = BUF_INIT(WEBHOOK_TOKEN_SIZE - 1);
    uint8_t bytes[TOKEN_BYTES];

    rand_fill(rand_system(), bytes, sizeof(bytes));
    base64url_encode(str_of((const char *)bytes, sizeof(bytes)), &text);
    BUG_IF(text.full || text.n != TOKEN_TEXT);
    memcpy(ret_token, buf_text(&text), text.n + 1);
}

int webhook_add(struct domain *domain, int64_t subscription_n, int64_t now_ms,
                char ret_token[WEBHOOK_TOKEN_SIZE], struct err *err)
{
    AUTO(stmt) q = NULL;
    char hash[SHA256_TEXT_SIZE];

    make_token(ret_token);
    sha256_text(str_from(ret_token), hash);
    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO webhooks (subscription_n, token_hash, created_at)"
                       " VALUES (?, ?, ?)"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, subscription_n);
    stmt_bind_text(q, hash);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

int webhook_remove(struct domain *domain, int64_t subscription_n, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("DELETE FROM webhooks WHERE subscription_n = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, subscription_n);
    return stmt_run(q, err);
}

int webhook_find(struct domain *domain, struct str token, struct arena *arena,
                 struct subscription *ret_subscription, struct err *err)
{
    AUTO(stmt) q = NULL;
    char hash[SHA256_TEXT_SIZE];
    int r;

    if (token.n != TOKEN_TEXT)
        return 0;
    sha256_text(token, hash);
    if (db_prepare(domain_db(domain),
                   SQL("SELECT " SUBSCRIPTION_COLUMNS
                       " FROM webhooks w JOIN agent_subscriptions s ON s.n = w.subscription_n"
                       " JOIN agents a ON a.n = s.agent_n"
                       " WHERE w.token_hash = ? AND s.deleted_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, hash);
    r = stmt_step(q, err);
    if (r == 1)
        subscription_read_row(q, arena, ret_subscription);
    return r;
}

int webhook_count(struct domain *domain, int64_t subscription_n, int64_t received, int64_t refused,
                  int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE webhooks SET received = received + ?, refused = refused + ?,"
                       " last_at = ? WHERE subscription_n = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, received);
    stmt_bind_i64(q, refused);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, subscription_n);
    return stmt_run(q, err);
}

int webhook_counts(struct domain *domain, int64_t subscription_n, struct webhook_counts *ret_counts,
                   struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT received, refused, last_at FROM webhooks WHERE subscription_n = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, subscription_n);
    r = stmt_step(q, err);
    if (r == 1)
        *ret_counts = (struct webhook_counts){
            .received = stmt_i64(q, "received"),
            .refused = stmt_i64(q, "refused"),
            .last_at = stmt_i64(q, "last_at"),
        };
    return r;
}
