/* Conversations that nobody goes on with: a session ends when its agent has heard no word in it for
 * as long as that agent's sessions last.
 *
 * One alarm, for the session that ends next; it is set when somebody speaks, and nothing is polled.
 * What ended while nobody looked (the machine was off) ends with the first tick.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_IDLE_H
#define DORMOUSE_WAKE_IDLE_H

#include "loop/loop.h"
#include "run/run.h"

struct idle;

/* Hears of speech from runner. Looks with the loop's first tick. */
struct idle *idle_new(struct loop *loop, struct domain *agent_domain, struct runner *runner);
/* Somebody may have spoken to another process on the database, which may end before the session
 * does. Cheap. */
void idle_look(struct idle *idle);
void idle_stop(struct idle *idle);
void idle_free(struct idle *idle);
AUTO_DEFINE(idle)

#endif
