/* A heap of timers by due time; ties in the order of starting. One for the monotonic clock, one
 * for alarms on the wall clock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_TIMER_INT_H
#define DORMOUSE_LOOP_TIMER_INT_H

#include "loop/loop.h"

struct timers {
    struct loop_timer **heap; /* 1 is the earliest; 0 is not used */
    size_t count, room;
    uint64_t started; /* gives each start its order */
};

#define TIMERS_NONE INT64_MAX

void timers_release(struct timers *timers);
/* Moves it when it runs in this heap already. due_ms is not before the heap's clock. */
void timers_start(struct timers *timers, struct loop_timer *timer, int64_t due_ms);
void timers_stop(struct timers *timers, struct loop_timer *timer);
/* When the earliest is due, or TIMERS_NONE. */
int64_t timers_next(const struct timers *timers);
/* Fires what is due, but nothing that was started by what it fires. Returns how many. */
unsigned timers_fire(struct timers *timers, int64_t now_ms);

#endif
