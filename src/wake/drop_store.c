/* Wakes of a subscription or timer that is gone, or switched off.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "wake/claim_int.h"

#define OF_REASON                                                                                  \
    "SELECT q.n FROM wake_queue q JOIN agents a ON a.n = q.agent_n"                                \
    " WHERE a.id = ? AND q.reason_id = ? ORDER BY q.n LIMIT ?"

/* What another process is about to take flies. */
static int read_page(struct domain *domain, struct str agent_id, struct str reason_id,
                     const char *why, struct claim_end *ends, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    size_t n = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   domain_is_shared(domain) ? SQL(OF_REASON " FOR UPDATE OF q SKIP LOCKED")
                                            : SQL(OF_REASON),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, agent_id);
    stmt_bind_str(q, reason_id);
    stmt_bind_i64(q, CLAIM_MAX);
    while ((r = stmt_step(q, err)) == 1)
        ends[n++] =
            (struct claim_end){ .n = stmt_i64(q, "n"), .status = WAKE_SKIPPED_NOOP, .why = why };
    *ret_count = n;
    return r;
}

int claim_drop_of(struct domain *domain, struct str agent_id, struct str reason_id, const char *why,
                  int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct claim_end *ends = ARENA_NEW_N(&arena, struct claim_end, CLAIM_MAX);
    size_t n;

    do {
        if (read_page(domain, agent_id, reason_id, why, ends, &n, err) < 0 ||
            claim_end_all(domain, ends, n, now_ms, err) < 0)
            return -1;
    } while (n == CLAIM_MAX);
    return 0;
}
