/* A binary heap whose entries know their place, so that stopping one needs no search.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/timer_int.h"

#include <stdlib.h>

void timers_release(struct timers *timers)
{
    for (size_t i = 1; i <= timers->count; i++)
        timers->heap[i]->heap_index = 0;
    free(timers->heap);
    *timers = (struct timers){ 0 };
}

static bool before(const struct loop_timer *a, const struct loop_timer *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void put(struct timers *timers, size_t at, struct loop_timer *timer)
{
    timers->heap[at] = timer;
    timer->heap_index = at;
}

static void sift_up(struct timers *timers, size_t at)
{
    struct loop_timer *timer = timers->heap[at];

    for (; at > 1 && before(timer, timers->heap[at / 2]); at /= 2)
        put(timers, at, timers->heap[at / 2]);
    put(timers, at, timer);
}

static void sift_down(struct timers *timers, size_t at)
{
    struct loop_timer *timer = timers->heap[at];

    for (size_t child; (child = 2 * at) <= timers->count; at = child) {
        if (child < timers->count && before(timers->heap[child + 1], timers->heap[child]))
            child++;
        if (!before(timers->heap[child], timer))
            break;
        put(timers, at, timers->heap[child]);
    }
    put(timers, at, timer);
}

void timers_stop(struct timers *timers, struct loop_timer *timer)
{
    size_t at = timer->heap_index;
    struct loop_timer *last;

    if (at == 0)
        return;
    BUG_IF(at > timers->count || timers->heap[at] != timer);
    timer->heap_index = 0;
    last = timers->heap[timers->count--];
    if (last == timer)
        return;
    put(timers, at, last);
    sift_up(timers, at);
    sift_down(timers, last->heap_index);
}

void timers_start(struct timers *timers, struct loop_timer *timer, int64_t due_ms)
{
    timers_stop(timers, timer);
    if (timers->count + 2 > timers->room) {
        timers->room = timers->room ? 2 * timers->room : 16;
        timers->heap = alloc_resize(timers->heap, timers->room, sizeof(void *));
    }
    timer->due_ms = due_ms;
    timer->order = ++timers->started;
    put(timers, ++timers->count, timer);
    sift_up(timers, timers->count);
}

int64_t timers_next(const struct timers *timers)
{
    return timers->count ? timers->heap[1]->due_ms : TIMERS_NONE;
}

/* What is started meanwhile is due at now_ms or later and lies behind all that were due before, so
 * the first one of a later order ends the round. */
unsigned timers_fire(struct timers *timers, int64_t now_ms)
{
    uint64_t last = timers->started;
    unsigned fired = 0;

    while (timers_next(timers) <= now_ms && timers->heap[1]->order <= last) {
        struct loop_timer *timer = timers->heap[1];

        timers_stop(timers, timer);
        timer->fire(timer);
        fired++;
    }
    return fired;
}
