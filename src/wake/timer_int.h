/* What a timer does next, between its plan, its checks and its store.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_TIMER_INT_H
#define DORMOUSE_WAKE_TIMER_INT_H

#include "wake/recurrence_int.h"

/* Stands at an occurrence of a timer. */
struct timer_walk {
    const struct timer *timer;
    const struct zone *zone;
    struct recurrence *rule; /* of rrule */
    int64_t local, at;       /* at 0: there is none any more */
};
/* At the timer's next occurrence, its moment as the zone is now. */
int timer_walk_open(const struct timer *timer, const struct zone *zone, struct timer_walk *ret_walk,
                    struct err *err);
void timer_walk_next(struct timer_walk *walk);
void timer_walk_close(struct timer_walk *walk);

/* Whether it is a timer at all; fills in what may be left out (kind, start, missed_cap). */
int timer_check(struct timer *timer, const struct zone *zone, int64_t now_ms, struct err *err);
/* Sets next_local and next_run_at: the first occurrence after floor_ms. */
int timer_first(struct timer *timer, const struct zone *zone, int64_t floor_ms, struct err *err);
/* The same for a machine that is elsewhere now: see timer_rezone(). */
int timer_moved(struct timer *timer, const struct zone *zone, struct err *err);

/* ---- timer_store.c ---- */

struct stmt;
void timer_bind_number(struct stmt *q, int64_t n);     /* 0: null */
void timer_bind_text(struct stmt *q, struct str text); /* empty: null */
/* Inside a unit: it fires no more; deleted: a person removed it, and it is told. */
int timer_set_gone(struct domain *domain, struct change *change, const struct timer *timer,
                   bool deleted, int64_t now_ms, struct err *err);
/* Active ones without a zone whose moment depends on one, after n, at most limit. */
int timer_read_zoneless(struct domain *domain, int64_t after_n, int limit, struct arena *arena,
                        struct timer **ret_list, size_t *ret_count, struct err *err);

#endif
