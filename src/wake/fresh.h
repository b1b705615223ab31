/* How fresh a report is: what happened since that concerns its agent.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_FRESH_H
#define DORMOUSE_WAKE_FRESH_H

#include "agent/report.h"
#include "journal/journal.h"

/* Judges it by its age and by the batches of the journal that it has not seen, were not written by
 * the agent itself, and match one of its subscriptions. journal may be NULL: by age alone. */
int report_freshness_of(struct domain *agent_domain, struct journal *journal,
                        const struct agent *agent, const struct report *report, int64_t now_ms,
                        struct arena *arena, struct report_freshness *ret_fresh, struct err *err);

#endif
