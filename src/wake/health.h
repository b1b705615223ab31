/* How things stand with wakes and timers, in numbers: for `dormouse doctor`. Reads only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_HEALTH_H
#define DORMOUSE_WAKE_HEALTH_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "db/domain.h"

struct wake_health {
    int64_t queued;       /* wakes that wait */
    int64_t due_since;    /* when the one that is due the longest was; 0: none is due */
    int64_t flying;       /* runs of wakes that execute */
    int64_t waiting;      /* those that wait for a person */
    int64_t timers;       /* that will fire */
    int64_t next_timer;   /* when the first of them is due; 0: there is none */
    int64_t next_alarm;   /* the same of alarms, which agents set while they speak with somebody */
    int64_t next_queued;  /* when the next wake is due that is not yet; 0: there is none */
    int64_t dead_letters; /* batches that could not be judged and woke nobody */
    const char *dead_why; /* of the newest of them; in the arena */
};

/* Of the agent domain, at a time. */
int wake_health(struct domain *domain, int64_t now, struct arena *arena,
                struct wake_health *ret_health, struct err *err);

#endif
