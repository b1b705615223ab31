/* Timers: recurrence rules, moments and intervals, on the clocks of a zone.
 *
 * An occurrence is a local time. Where clocks skip it (a gap) it is the next minute that they show;
 * where they show it twice (an overlap) it is the first. So each occurrence has one moment, and is
 * fired or skipped exactly once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_TIMER_H
#define DORMOUSE_WAKE_TIMER_H

#include "agent/agent.h"
#include "base/alloc.h"
#include "base/zone.h"

#define TIMER_LOCAL_SIZE 20 /* "2026-02-18T07:00:00" */
#define TIMER_RRULE_MAX  500
#define TIMER_CAP_MAX    100

/* ---- rules, without storing anything ---- */

struct recurrence;
/* rrule: RFC 5545 without the prefix ("FREQ=WEEKLY;BYDAY=MO,WE"), of at most one occurrence a
 * minute; start_local: the first candidate. bad_request says which part is wrong. */
int recurrence_parse(struct str rrule, struct str start_local, struct recurrence **ret_recurrence,
                     struct err *err);
void recurrence_free(struct recurrence *recurrence);
AUTO_DEFINE(recurrence)
/* The first occurrence after this local time ("": from the start): 1, 0 there is none. */
int recurrence_next(struct recurrence *recurrence, const char *after_local,
                    char ret_local[TIMER_LOCAL_SIZE], struct err *err);
/* The moment of a local time there, with the rules for gaps and overlaps. */
int64_t timer_moment(const struct zone *zone, const char *local);
void timer_local(const struct zone *zone, int64_t wall_ms, char ret_local[TIMER_LOCAL_SIZE]);

/* ---- stored ---- */

enum timer_kind { TIMER_KIND_NONE = 0, TIMER_RRULE, TIMER_ONCE, TIMER_INTERVAL };
enum timer_missed { TIMER_MISSED_ONCE = 0, TIMER_MISSED_SKIP, TIMER_MISSED_ALL };
struct timer {
    int64_t n;
    struct str id;
    int64_t agent_n;
    struct str agent_id, name, rrule, zone, prompt; /* zone empty: wherever this machine is */
    enum timer_kind kind;
    char start_local[TIMER_LOCAL_SIZE], next_local[TIMER_LOCAL_SIZE];
    int64_t interval_ms, next_run_at, last_run_at;
    enum timer_missed missed;
    int64_t missed_cap;
    bool active;
    int64_t created_at, updated_at;
};
/* Inside a unit: checked, its first occurrence after now_ms computed, stored. Sets n, id, next. */
int timer_add(struct domain *domain, struct change *change, struct timer *timer, int64_t now_ms,
              struct err *err);
int timer_change(struct domain *domain, struct change *change, struct timer *timer, int64_t now_ms,
                 struct err *err);
int timer_remove(struct domain *domain, struct change *change, struct str id, int64_t now_ms,
                 struct err *err);
int timer_remove_all(struct domain *domain, struct change *change, int64_t agent_n, int64_t now_ms,
                     struct err *err);
int timer_get(struct domain *domain, struct str id, struct arena *arena, struct timer *ret_timer,
              struct err *err);
int timer_list(struct domain *domain, int64_t agent_n, struct arena *arena, struct timer **ret_list,
               size_t *ret_count, struct err *err);

/* When the next one is due; 0: none is. */
int timer_next_due(struct domain *domain, int64_t *ret_at, struct err *err);
int timer_due(struct domain *domain, int64_t now_ms, int limit, struct arena *arena,
              struct timer **ret_list, size_t *ret_count, struct err *err);
/* What is to be done about a timer that is due at now_ms. */
struct timer_plan {
    int64_t *firings; /* scheduledAt of each wake to be made, oldest first; at most missed_cap */
    size_t firing_count;
    bool catch_up; /* they were missed: reason recoveryCatchup */
    int64_t skipped_first, skipped_last, skipped_count;
    const char *skipped_why; /* "missed", "cap" */
    int64_t next_run_at;     /* 0: it has ended */
    char next_local[TIMER_LOCAL_SIZE];
};
/* Pure. A firing counts as missed when it lies more than TIMER_LATE_MS back. zone: what the timer's
 * zone is now. */
#define TIMER_LATE_MS 60000
int timer_plan(const struct timer *timer, const struct zone *zone, int64_t now_ms,
               struct arena *arena, struct timer_plan *ret_plan, struct err *err);
/* Inside a unit, with the wakes of the same plan: moves the timer on and records what was skipped.
 */
int timer_advance(struct domain *domain, struct change *change, const struct timer *timer,
                  const struct timer_plan *plan, int64_t now_ms, struct err *err);
/* Inside a unit: the zone of this machine is another: next moments of timers without a zone are
 * computed anew from next_local, a page at a time. 1 there is more. */
int timer_rezone(struct domain *domain, struct change *change, const struct zone *zone,
                 int64_t now_ms, int64_t *after_n, struct err *err);

#endif
