/* Timers as time passes: what was fired or skipped, and where they go on; in another zone, too.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "db/db.h"
#include "wake/stamp_int.h"
#include "wake/timer_int.h"

#define REZONE_PAGE 500

/* ---- skips ---- */

static int add_skip(struct domain *domain, int64_t timer_n, const struct timer_skip *skip,
                    int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO timer_skips (timer_n, first_at, last_at, count, reason,"
                       " created_at) VALUES (?, ?, ?, ?, ?, ?)"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, timer_n);
    stmt_bind_i64(q, skip->first);
    stmt_bind_i64(q, skip->last);
    stmt_bind_i64(q, skip->count);
    stmt_bind_text(q, skip->why);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

int timer_end(struct domain *domain, struct change *change, const struct timer *timer,
              const char *why, int64_t now_ms, struct err *err)
{
    const struct timer_skip skip = { timer->next_run_at, timer->next_run_at, 1, why };

    if (timer_set_gone(domain, change, timer, false, now_ms, err) < 0)
        return -1;
    return add_skip(domain, timer->n, &skip, now_ms, err);
}

int timer_skips(struct domain *domain, int64_t timer_n, int limit, struct arena *arena,
                struct timer_skipped **ret_list, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct timer_skipped *list = ARENA_NEW_N(arena, struct timer_skipped, (size_t)limit + 1);
    size_t n = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT first_at, last_at, count, reason, created_at FROM timer_skips"
                       " WHERE timer_n = ? ORDER BY n DESC LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, timer_n);
    stmt_bind_i64(q, limit);
    while ((r = stmt_step(q, err)) == 1)
        list[n++] = (struct timer_skipped){
            .first = stmt_i64(q, "first_at"),
            .last = stmt_i64(q, "last_at"),
            .count = stmt_i64(q, "count"),
            .created_at = stmt_i64(q, "created_at"),
            .why = arena_str(arena, stmt_str(q, "reason")),
        };
    if (r < 0)
        return -1;
    *ret_list = list;
    *ret_count = n;
    return 0;
}

/* ---- moving on ---- */

/* The latest moment that was fired or skipped. */
static int64_t last_of(const struct timer *timer, const struct timer_plan *plan)
{
    int64_t last = timer->last_run_at;

    if (plan->firing_count && plan->firings[plan->firing_count - 1] > last)
        last = plan->firings[plan->firing_count - 1];
    for (size_t i = 0; i < plan->skip_count; i++)
        last = plan->skips[i].last > last ? plan->skips[i].last : last;
    return last;
}

static int move(struct domain *domain, const struct timer *timer, const struct timer_plan *plan,
                const struct stamp *stamp, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE agent_timers SET next_run_at = ?, next_local = ?, last_run_at = ?,"
                       " vector_clock = ?, host_n = ?, counter = ?"
                       " WHERE n = ? AND active = 1 AND next_run_at = ? AND updated_at = ?"),
                   &q, err) < 0)
        return -1;
    timer_bind_number(q, plan->next_run_at);
    timer_bind_text(q, str_from(plan->next_local));
    timer_bind_number(q, last_of(timer, plan));
    stamp_bind(q, stamp);
    stmt_bind_i64(q, timer->n);
    stmt_bind_i64(q, timer->next_run_at);
    stmt_bind_i64(q, timer->updated_at);
    if (stmt_run(q, err) < 0)
        return -1;
    return stmt_changes(q) > 0;
}

int timer_advance(struct domain *domain, struct change *change, const struct timer *timer,
                  const struct timer_plan *plan, int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct stamp stamp;
    int r;

    if (stamp_next(domain, change, timer->id, timer->vector_clock, &arena, &stamp, err) < 0)
        return -1;
    r = move(domain, timer, plan, &stamp, err);
    for (size_t i = 0; r == 1 && i < plan->skip_count; i++)
        if (add_skip(domain, timer->n, &plan->skips[i], now_ms, err) < 0)
            return -1;
    return r;
}

/* ---- the zone of this machine ---- */

static int move_zone(struct domain *domain, struct change *change, struct timer *timer,
                     const struct zone *zone, int64_t now_ms, struct err *err)
{
    struct timer_plan plan = { 0 };
    struct timer moved = *timer;

    if (timer_moved(&moved, zone, err) < 0) {
        if (err->code != ERR_INTEGRITY_FAILED)
            return -1;
        err_reset(err);
        return timer_end(domain, change, timer, "damaged", now_ms, err);
    }
    if (moved.next_run_at == timer->next_run_at && strcmp(moved.next_local, timer->next_local) == 0)
        return 0;
    plan.next_run_at = moved.next_run_at;
    memcpy(plan.next_local, moved.next_local, sizeof(plan.next_local));
    return timer_advance(domain, change, timer, &plan, now_ms, err) < 0 ? -1 : 0;
}

int timer_rezone(struct domain *domain, struct change *change, const struct zone *zone,
                 int64_t now_ms, int64_t *after_n, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct timer *list;
    size_t n;

    if (timer_read_zoneless(domain, *after_n, REZONE_PAGE, &arena, &list, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (move_zone(domain, change, &list[i], zone, now_ms, err) < 0)
            return -1;
        *after_n = list[i].n;
    }
    return n == REZONE_PAGE;
}

int timer_zone_known(struct domain *domain, struct arena *arena, struct str *ret_name,
                     struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL("SELECT value FROM meta WHERE key = 'timers_zone'"), &q,
                   err) < 0)
        return -1;
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    *ret_name = r ? arena_str(arena, stmt_str(q, "value")) : STR("");
    return 0;
}

int timer_zone_remember(struct domain *domain, struct str name, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO meta (key, value) VALUES ('timers_zone', ?)"
                       " ON CONFLICT (key) DO UPDATE SET value = excluded.value"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, name);
    return stmt_run(q, err);
}
