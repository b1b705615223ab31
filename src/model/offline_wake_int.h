/* What woke an agent, as the rules read it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_OFFLINE_WAKE_INT_H
#define DORMOUSE_MODEL_OFFLINE_WAKE_INT_H

#include "model/offline_int.h"

#define OFFLINE_CHANGES_MAX 4 /* more than these are left to the next wake, and said */

struct offline_change {
    struct str type, id; /* "entry" */
    struct json_object *json;
};

struct offline_wake {
    struct str reason; /* "subscription" */
    struct str words;  /* of whoever woke it */
    bool outside;      /* some of it was sent by somebody else */
    struct offline_change changes[OFFLINE_CHANGES_MAX];
    size_t n;
    size_t more;               /* changes that are not in the list */
    struct json_object *alarm; /* that the agent had set; NULL: none rings */
};

typedef void offline_wake_action(struct offline_turn *turn, const struct offline_wake *wake);
/* offline_coach.c: time of workouts that were logged. */
offline_wake_action offline_log_workouts;
/* offline_planner.c: what is open in tasks that are done; the day that begins. */
offline_wake_action offline_carry_over, offline_plan_wake;
/* offline_alarm.c */
offline_wake_action offline_ring;
/* offline_strategist.c */
offline_wake_action offline_review_wake;

/* Is it a workout; a task that is done? */
bool offline_is_workout(const struct offline_change *change);
bool offline_is_done_task(const struct offline_change *change);

#endif
