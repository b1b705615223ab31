/* Alarms, as the rules set and hear them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_OFFLINE_ALARM_INT_H
#define DORMOUSE_MODEL_OFFLINE_ALARM_INT_H

#include "model/offline_when_int.h"

#define OFFLINE_SESSION_MARK "Session of " /* how the time of a session is described */
#define OFFLINE_BREAK_SHORT  5             /* minutes */
#define OFFLINE_BREAK_LONG   15

/* Calls set_alarm, which was given; minutes 0 takes it back. */
void offline_set_alarm(struct offline_turn *turn, const char *name, int64_t minutes,
                       struct str note);
/* What list_alarms answered in this turn: a list, or NULL. */
struct json_object *offline_alarms(const struct offline_turn *turn);
bool offline_alarm_named(const struct offline_turn *turn, const char *name);

#endif
