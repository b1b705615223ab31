/* The clockwork: one alarm for the timer that is due next, however many there are.
 *
 * When it rings, timers that are due are taken page by page; the wakes of a timer, what was skipped
 * and when it is due next are one unit, so a crash at any point fires each occurrence once. When
 * this machine comes to another zone, timers without a zone of their own are moved first.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_CLOCKWORK_H
#define DORMOUSE_WAKE_CLOCKWORK_H

#include "loop/loop.h"
#include "wake/timer.h"

struct clockwork;

struct clockwork_config {
    struct loop *loop;
    struct domain *domain; /* agent */
    struct change *change;
    const char *zone; /* of timers without one; NULL: this machine's, followed when it changes */
    /* Wakes were queued, and are durable. May be NULL. */
    void (*queued)(void *arg);
    void *arg;
    /* For tests: how the machine's zone is found, and the folder whose `localtime` says it. NULL:
     * zone_system() and /etc. */
    void (*find_zone)(char ret_name[ZONE_NAME_MAX + 1]);
    const char *zone_dir;
};
/* Looks with the loop's first tick. */
struct clockwork *clockwork_new(const struct clockwork_config *config);
/* Nothing fires any more. */
void clockwork_stop(struct clockwork *clockwork);
void clockwork_free(struct clockwork *clockwork);
AUTO_DEFINE(clockwork)

/* A timer was added, changed or removed. Cheap; may be called inside a unit. */
void clockwork_look(struct clockwork *clockwork);

#endif
