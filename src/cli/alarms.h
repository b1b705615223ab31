/* What wakes an agent, in words.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_ALARMS_H
#define DORMOUSE_CLI_ALARMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/command.h"

struct json_object;

/* Asks for both and adds them to agent as "subscriptions" and "timers". */
int alarms_get(const struct cli_args *args, struct json_object *agent, struct err *err);
/* What a subscription waits for: "TASK or workoutType=running where ...", "files in DIR". */
void alarms_what(struct json_object *subscription, struct buf *out);
/* What narrows it down, each behind before: whose changes, when, how often. */
void alarms_limits(struct json_object *subscription, const char *before, struct buf *out);
/* One of them as a line: "A workout is logged (WORKOUT)", "Every day at 07:00 (in 5 h)". */
void alarms_subscription(struct json_object *subscription, struct buf *out);
void alarms_timer(struct json_object *timer, int64_t now_ms, struct buf *out);
/* All of an agent that alarms_get() has seen, a line each behind head; what stands behind the first
 * is as wide. Nothing: one line that says so, unless quiet. */
void alarms_print(struct json_object *agent, const char *head, bool quiet);
/* Addresses of webhooks that were just made: they are shown this once. */
void alarms_print_hooks(struct json_object *agent);
/* What the daemon warned of in its answer, to standard error. */
void alarms_print_warnings(struct json_object *answer);

#endif
