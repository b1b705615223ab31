/* Day budgets: what agents may use up on one local day, each of them and all together.
 *
 * What a request to a model may use at most is reserved before it leaves and settled with what the
 * provider counted when its answer is recorded. So requests that are under way at the same time
 * can't all pass one check, and whoever dies in between leaves the reservation standing: it counts
 * as used as soon as the run goes on or ends.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_BUDGET_H
#define DORMOUSE_AGENT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/buf.h"
#include "base/err.h"
#include "db/domain.h"

/* Amounts, or limits: then 0 is none. Cost is in millionths of the currency of the prices. */
#define BUDGET_CURRENCY " (in your models' currency)" /* behind an amount of cost, for people */
struct budget {
    int64_t tokens, cost, tool_calls;
};

struct budget_limits {
    struct budget agent, all; /* of one agent, of all agents together */
};
/* What an agent's own settings say. */
struct budget budget_own(const struct agent *agent);
/* Lowers what one agent may use to that. */
void budget_limits_of(const struct agent *agent, struct budget_limits *limits);
/* A request to a model, or a tool call, can be refused. */
bool budget_limits_model(const struct budget_limits *limits);

/* The local day of a moment, by the system's zone. */
struct budget_day {
    int64_t number;             /* days of the calendar since 1970-01-01 */
    int64_t begins_ms, ends_ms; /* the first moment, and the first of the next day */
};
void budget_day_of(int64_t now_ms, struct budget_day *ret_day);

/* What a request needs. Prices are for a million tokens. */
struct budget_need {
    int64_t run_n;         /* BUDGET_NO_RUN: a request that no run makes */
    int64_t agent_n;       /* 0: it counts for all agents together, and for none of them */
    int64_t input_tokens;  /* at most */
    int64_t output_tokens; /* at most; fewer are reserved when no more are left, never fewer than
                              BUDGET_OUTPUT_MIN */
    double price_input, price_output;
};
#define BUDGET_OUTPUT_MIN 16
#define BUDGET_NO_RUN     (-1)

/* Inside a unit: reserves it, with what an earlier request of the run left reserved counted as
 * used. *ret_output is how many tokens the answer may have. budget_exceeded says whose budget, how
 * much of it is used and when it begins anew. */
int budget_reserve(struct domain *domain, const struct budget_need *need,
                   const struct budget_limits *limits, const struct budget_day *day,
                   int64_t *ret_output, struct err *err);
/* Inside a unit: what the run reserved ends, and this was used (on the day of the reservation, if
 * there is one). */
int budget_settle(struct domain *domain, int64_t run_n, int64_t agent_n, const struct budget *used,
                  const struct budget_day *day, struct err *err);
/* Inside a unit: nobody can tell what became of it, so all that the run reserved counts as used. */
int budget_forfeit(struct domain *domain, int64_t run_n, struct err *err);
/* Inside a unit: that many tool calls more. */
int budget_tool_calls(struct domain *domain, int64_t agent_n, int64_t count,
                      const struct budget_limits *limits, const struct budget_day *day,
                      struct err *err);

/* Appends "200 of 1000 tokens used, 750 left; ..." for what is limited; *ret_stops: nothing is left
 * of one. */
void budget_say(const struct budget *limit, const struct budget *used, const struct budget *held,
                struct buf *out, bool *ret_stops);
/* "2026-11-18 00:00", local. */
#define BUDGET_WHEN_SIZE 32
void budget_when(int64_t ms, char ret_text[BUDGET_WHEN_SIZE]);

/* Used on a day, and reserved of it for requests under way. agent_n 0: by all. */
int budget_used(struct domain *domain, int64_t agent_n, const struct budget_day *day,
                struct budget *ret_used, struct budget *ret_held, struct err *err);

#endif
