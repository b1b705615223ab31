/* How fresh a report is: what happened since that concerns its agent.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_FRESH_H
#define DORMOUSE_WAKE_FRESH_H

#include "agent/report.h"
#include "journal/journal.h"

/* Judges it by its age and by changes of the journal that it has not seen, that the agent did not
 * write itself, and that concern it: a record that the report cites, or what one of the agent's
 * subscriptions waits for; of an agent that waits for nothing there, whatever lies in its
 * categories. Looks at the newest 1000 batches. journal may be NULL: by age alone. */
int report_freshness_of(struct domain *agent_domain, struct journal *journal,
                        const struct agent *agent, const struct report *report, int64_t now_ms,
                        struct arena *arena, struct report_freshness *ret_fresh, struct err *err);

#endif
