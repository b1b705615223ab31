/* Trying a transaction again when another writer got in the way.
 *
 * SPDX-License-Identifier: MIT
 */
#include <time.h>

#include "base/clock.h"
#include "base/rand.h"
#include "db/db_int.h"
#include "db/domain.h"

#define RETRY_TRIES     8
#define RETRY_BUDGET_MS 10000 /* no new try after this */
#define RETRY_FIRST_MS  4     /* at most; doubled after each try */

/* Two processes that collided must not meet again at the same moment: half of the pause is by
 * chance. */
static void pause_after(int try, struct rand *rand)
{
    int64_t longest_us = 1000 * (int64_t)RETRY_FIRST_MS << try;
    int64_t us = longest_us / 2 + (int64_t)rand_below(rand, (uint64_t)longest_us / 2);

    nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000 }, NULL);
}

static int attempt(struct domain *domain, int (*body)(struct db *, void *, struct err *), void *arg,
                   struct err *err)
{
    if (domain_begin_serializable(domain, err) < 0)
        return -1;
    if (body(domain->db, arg, err) < 0) {
        domain_rollback(domain);
        return -1;
    }
    return domain_commit(domain, err);
}

int domain_retry(struct domain *domain, int (*body)(struct db *db, void *arg, struct err *err),
                 void *arg, struct err *err)
{
    int64_t started = clock_mono_ms(domain->clock);

    for (int try = 0;; try++) {
        struct err why = ERR_INIT;

        domain->db->trouble = DB_FINE;
        if (attempt(domain, body, arg, &why) == 0)
            return 0;
        if (domain->db->trouble != DB_BUSY || try + 1 >= RETRY_TRIES ||
            clock_mono_ms(domain->clock) - started > RETRY_BUDGET_MS) {
            *err = why;
            return try == 0 ? -1 : err_wrap(err, "after %d tries", try + 1);
        }
        pause_after(try, domain->rand);
    }
}
