/* Trying a transaction again when another writer got in the way.
 *
 * SPDX-License-Identifier: MIT
 */
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "db/db_int.h"
#include "db/domain.h"

#define RETRY_TRIES      8
#define RETRY_BUDGET_MS  10000 /* no new try after this */
#define RETRY_FIRST_MS   4
#define RETRY_LONGEST_MS 256

/* Two processes that collided must not meet again at the same moment: half of the pause is by
 * chance. This chance decides nothing but the length of a pause. */
static uint64_t chance(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = (*state ^ (*state >> 30)) * 0xbf58476d1ce4e5b9u;

    return z ^ (z >> 27);
}

static void pause_ms(int try, uint64_t *state)
{
    int64_t longest = RETRY_FIRST_MS << try;
    int64_t us;
    struct timespec pause;

    if (longest > RETRY_LONGEST_MS)
        longest = RETRY_LONGEST_MS;
    us = longest * 500 + (int64_t)(chance(state) % (uint64_t)(longest * 500));
    pause = (struct timespec){ us / 1000000, us % 1000000 * 1000 };
    nanosleep(&pause, NULL);
}

static int attempt(struct domain *domain, int (*body)(struct db *, void *, struct err *), void *arg,
                   struct err *err)
{
    if (domain_begin_serializable(domain, err) < 0)
        return -1;
    if (body(domain_db(domain), arg, err) < 0) {
        domain_rollback(domain);
        return -1;
    }
    return domain_commit(domain, err);
}

int domain_retry(struct domain *domain, int (*body)(struct db *db, void *arg, struct err *err),
                 void *arg, struct err *err)
{
    int64_t started = clock_mono_ms(clock_system());
    uint64_t state = (uint64_t)clock_mono_ns(clock_system()) ^ (uint64_t)getpid();

    for (int try = 0;; try++) {
        struct err why = ERR_INIT;

        domain_db(domain)->trouble = DB_FINE;
        if (attempt(domain, body, arg, &why) == 0)
            return 0;
        if (domain_db(domain)->trouble != DB_BUSY || try + 1 >= RETRY_TRIES ||
            clock_mono_ms(clock_system()) - started > RETRY_BUDGET_MS) {
            *err = why;
            return try == 0 ? -1 : err_wrap(err, "after %d tries", try + 1);
        }
        pause_ms(try, &state);
    }
}
