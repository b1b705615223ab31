/* Inside the room: what a report may be.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_REPORT_INT_H
#define DORMOUSE_AGENT_REPORT_INT_H

#include "agent/report.h"

/* bad_request or too_large says which member and what is allowed. */
int report_check(const struct report *report, struct err *err);

#endif
