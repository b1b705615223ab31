/* Day budgets: days, limits, and what is left of them in words.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/budget.h"

#include <stdio.h>
#include <time.h>

#include "agent/budget_int.h"
#include "base/json.h"
#include "base/zone.h"

#define DAY_S 86400

/* ---- days ---- */

static int64_t budget_floor(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

/* The first moment of a day there: where clocks skip midnight, the moment to which they go. */
static int64_t budget_midnight(const struct zone *zone, int64_t day)
{
    int64_t utc = day * DAY_S;

    for (int64_t local = day * DAY_S; zone && zone_moment(zone, local, &utc) == 0; local += 900)
        continue;
    return utc;
}

void budget_day_of(int64_t now_ms, struct budget_day *ret_day)
{
    char name[ZONE_NAME_MAX + 1];
    AUTO(zone) zone = NULL;
    int64_t utc = budget_floor(now_ms, 1000);

    zone_system(name);
    if (zone_open(str_from(name), &zone, NULL) < 0)
        zone = NULL; /* UTC */
    ret_day->number = budget_floor(utc + (zone ? zone_offset(zone, utc) : 0), DAY_S);
    ret_day->begins_ms = budget_midnight(zone, ret_day->number) * 1000;
    ret_day->ends_ms = budget_midnight(zone, ret_day->number + 1) * 1000;
}

/* ---- limits ---- */

static int64_t budget_lower(int64_t a, int64_t b)
{
    return !a || (b && b < a) ? b : a;
}

struct budget budget_own(const struct agent *agent)
{
    struct budget own = { 0 };
    AUTO_JSON extension = NULL;
    double cost = 0;

    if (!agent->extension || json_parse(str_from(agent->extension), &extension, NULL) < 0)
        return own;
    json_get_i64(extension, BUDGET_KEY_TOKENS, &own.tokens, NULL);
    json_get_i64(extension, BUDGET_KEY_TOOL_CALLS, &own.tool_calls, NULL);
    json_get_double(extension, BUDGET_KEY_COST, &cost, NULL);
    own.cost = (int64_t)(cost * 1e6);
    return own;
}

void budget_limits_of(const struct agent *agent, struct budget_limits *limits)
{
    const struct budget own = budget_own(agent);

    limits->agent.tokens = budget_lower(limits->agent.tokens, own.tokens);
    limits->agent.cost = budget_lower(limits->agent.cost, own.cost);
    limits->agent.tool_calls = budget_lower(limits->agent.tool_calls, own.tool_calls);
}

bool budget_limits_model(const struct budget_limits *limits)
{
    return limits->agent.tokens || limits->agent.cost || limits->all.tokens || limits->all.cost;
}

/* ---- what is left ---- */

void budget_when(int64_t ms, char ret_text[BUDGET_WHEN_SIZE])
{
    time_t s = (time_t)(ms / 1000);
    struct tm tm;

    localtime_r(&s, &tm);
    strftime(ret_text, BUDGET_WHEN_SIZE, "%Y-%m-%d %H:%M", &tm);
}

static int budget_refuse(const struct budget_state *state, const char *what, const char *option,
                         int64_t used, int64_t held, int64_t need, int64_t limit, double unit,
                         struct err *err)
{
    char when[BUDGET_WHEN_SIZE], under_way[64] = "";
    int digits = unit == 1 ? 0 : 4;

    budget_when(state->day->ends_ms, when);
    if (held)
        snprintf(under_way, sizeof(under_way), ", %.*f reserved for requests under way", digits,
                 (double)held / unit);
    return err_set(err, ERR_BUDGET_EXCEEDED,
                   "the day's budget of %s for %s is %.*f%s: %.*f used%s, and this needs %.*f; it "
                   "begins anew at %s, or raise it: %s%s%s",
                   what, state->all ? "all agents" : "this agent", digits, (double)limit / unit,
                   unit == 1 ? "" : BUDGET_CURRENCY, digits, (double)used / unit, under_way, digits,
                   (double)need / unit, when, state->all ? "" : "`dormouse agent set AGENT --",
                   state->all ? "budget.all" : option,
                   state->all ? " in config.yaml" : " N`, and budget in config.yaml");
}

int budget_fit(const struct budget_state *state, const struct budget_need *need,
               int64_t *output_tokens, struct err *err)
{
    const struct budget *limit = &state->limit, *used = &state->used, *held = &state->held;
    int64_t least_tokens = need->input_tokens + BUDGET_OUTPUT_MIN;
    double least_cost =
        (double)need->input_tokens * need->price_input + BUDGET_OUTPUT_MIN * need->price_output;
    int64_t left = limit->tokens - used->tokens - held->tokens;
    double cost_left = (double)(limit->cost - used->cost - held->cost);

    if (limit->tokens && left < least_tokens)
        return budget_refuse(state, "tokens", "tokens-per-day", used->tokens, held->tokens,
                             least_tokens, limit->tokens, 1, err);
    if (limit->cost && (cost_left < least_cost || cost_left <= 0))
        return budget_refuse(state, "cost", "cost-per-day", used->cost, held->cost,
                             (int64_t)least_cost, limit->cost, 1e6, err);
    if (limit->tokens && left - need->input_tokens < *output_tokens)
        *output_tokens = left - need->input_tokens;
    cost_left -= (double)need->input_tokens * need->price_input;
    if (limit->cost && need->price_output > 0 &&
        cost_left / need->price_output < (double)*output_tokens)
        *output_tokens = (int64_t)(cost_left / need->price_output);
    return 0;
}

int budget_fit_calls(const struct budget_state *state, int64_t count, struct err *err)
{
    if (!state->limit.tool_calls || state->used.tool_calls + count <= state->limit.tool_calls)
        return 0;
    return budget_refuse(state, "tool calls", "tool-calls-per-day", state->used.tool_calls, 0,
                         count, state->limit.tool_calls, 1, err);
}

void budget_say(const struct budget *limit, const struct budget *used, const struct budget *held,
                struct buf *out, bool *ret_stops)
{
    const struct {
        const char *what;
        int64_t limit, used, held;
        double unit;
    } rows[] = { { "tokens", limit->tokens, used->tokens, held->tokens, 1 },
                 { "cost", limit->cost, used->cost, held->cost, 1e6 },
                 { "tool calls", limit->tool_calls, used->tool_calls, 0, 1 } };
    size_t before = out->n;

    *ret_stops = false;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const int digits = rows[i].unit == 1 ? 0 : 4;
        const int64_t left = rows[i].limit - rows[i].used - rows[i].held;

        if (!rows[i].limit)
            continue;
        buf_printf(out, "%s%.*f of %.*f %s%s used, %.*f left", out->n > before ? "; " : "", digits,
                   (double)rows[i].used / rows[i].unit, digits,
                   (double)rows[i].limit / rows[i].unit, rows[i].what,
                   rows[i].unit == 1 ? "" : BUDGET_CURRENCY, digits,
                   (double)(left > 0 ? left : 0) / rows[i].unit);
        *ret_stops |= left <= 0;
    }
}
