/* Between the files of day budgets.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_BUDGET_INT_H
#define DORMOUSE_AGENT_BUDGET_INT_H

#include "agent/budget.h"

/* In an agent's extension. */
#define BUDGET_KEY_TOKENS     "budget.tokensPerDay"
#define BUDGET_KEY_COST       "budget.costPerDay"
#define BUDGET_KEY_TOOL_CALLS "budget.toolCallsPerDay"

/* One row of the day, as it is while nobody else can change it. */
struct budget_state {
    const struct budget_day *day;
    bool all;
    struct budget limit, used, held;
};

/* Lowers *output_tokens to what is left. */
int budget_fit(const struct budget_state *state, const struct budget_need *need,
               int64_t *output_tokens, struct err *err);
int budget_fit_calls(const struct budget_state *state, int64_t count, struct err *err);

#endif
