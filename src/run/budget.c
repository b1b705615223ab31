/* The day's budget of a run: reserved before its model is asked, settled with the answer.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/tokens.h"
#include "run/run_int.h"

/* So that the worst case is known: nothing longer is asked for where a budget limits. */
#define BUDGET_OUTPUT_TOKENS 16384
/* What a message or tool costs besides its text. */
#define BUDGET_EACH_TOKENS 8

static const struct budget_day *budget_today(struct runner *runner, int64_t now_ms)
{
    if (now_ms < runner->today.begins_ms || now_ms >= runner->today.ends_ms)
        budget_day_of(now_ms, &runner->today);
    return &runner->today;
}

static struct budget_limits budget_of(const struct run *run)
{
    struct budget_limits limits = run->bounds.budget;

    budget_limits_of(&run->agent, &limits);
    return limits;
}

bool run_budget_limits(const struct run *run)
{
    const struct budget_limits limits = budget_of(run);

    return budget_limits_model(&limits);
}

static int64_t budget_prompt_tokens(const struct model_request *request)
{
    int64_t sum = tokens_estimate(request->system);

    for (size_t i = 0; i < request->tool_count; i++)
        sum += BUDGET_EACH_TOKENS + tokens_estimate(request->tools[i].name) +
               tokens_estimate(request->tools[i].description) +
               tokens_estimate(request->tools[i].input_schema);
    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *m = &request->messages[i];

        sum += BUDGET_EACH_TOKENS + tokens_estimate(m->text) + tokens_estimate(m->thinking) +
               tokens_estimate(m->opaque);
        for (size_t k = 0; k < m->call_count; k++)
            sum += BUDGET_EACH_TOKENS + tokens_estimate(m->calls[k].name) +
                   tokens_estimate(m->calls[k].arguments);
    }
    return sum;
}

/* A cost that nobody knows can't be held within a budget. */
static int budget_check_price(const struct budget_limits *limits, const struct model_spec *spec,
                              struct err *err)
{
    if (!(limits->agent.cost || limits->all.cost) || model_spec_is_local(spec) ||
        spec->price_input > 0 || spec->price_output > 0)
        return 0;
    return err_set(err, ERR_BUDGET_EXCEEDED,
                   "there is a budget for a day's cost, and model %s has no price: set `price` of "
                   "this model in config.yaml",
                   spec->id);
}

int run_budget_reserve(struct run *run, struct model_request *request, struct err *err)
{
    struct runner *runner = run->runner;
    const struct model_spec *spec = model_spec_find(runner->config.models, request->model_id);
    const struct budget_limits limits = budget_of(run);
    const int64_t now = clock_wall_ms(loop_clock(runner->config.loop));
    struct budget_need need = { .run_n = run->row.n,
                                .agent_n = run->agent.n,
                                .input_tokens = budget_prompt_tokens(request),
                                .output_tokens = BUDGET_OUTPUT_TOKENS };

    if (spec && budget_check_price(&limits, spec, err) < 0)
        return -1;
    if (spec) {
        need.price_input = spec->price_input;
        need.price_output = spec->price_output;
    }
    run->reserved_input = need.input_tokens;
    return budget_reserve(runner->config.agent_domain, &need, &limits, budget_today(runner, now),
                          &request->max_output_tokens, err);
}

int run_budget_settle(struct run *run, const struct model_usage *usage, struct err *err)
{
    const struct budget used = { .tokens = usage->input_tokens + usage->output_tokens,
                                 .cost = (int64_t)(usage->cost * 1e6 + 0.5) };

    return budget_settle(run->runner->config.agent_domain, run->row.n, run->agent.n, &used,
                         budget_today(run->runner, run->unit.now), err);
}

/* Of an answer that did not come whole: what was sent, and what came of it, is paid for. */
int run_budget_failed(struct run *run, enum err_code code, struct err *err)
{
    const int64_t came = run->text_bytes + run->thinking_bytes;
    const struct model_spec *spec;
    struct model_usage usage = { 0 };
    char id[256];

    if (run->sent && (came || code == ERR_TIMEOUT || code == ERR_CANCELLED)) {
        snprintf(id, sizeof(id), "%.*s", STR_ARG(run->row.model_id));
        spec = model_spec_find(run->runner->config.models, id);
        usage.input_tokens = run->reserved_input;
        usage.output_tokens = (came + 2) / 3;
        if (spec)
            usage.cost = ((double)usage.input_tokens * spec->price_input +
                          (double)usage.output_tokens * spec->price_output) /
                         1e6;
    }
    return run_budget_settle(run, &usage, err);
}

/* Inside a unit: 1 they may act, 0 the day's budget is used up and the run is told so. */
int run_budget_calls(struct run *run, unsigned count, struct err *err)
{
    const struct budget_limits limits = budget_of(run);
    struct err why = ERR_INIT;
    char text[ERR_TEXT_MAX];

    if (!count || budget_tool_calls(run->runner->config.agent_domain, run->agent.n, count, &limits,
                                    budget_today(run->runner, run->unit.now), &why) == 0)
        return 1;
    if (why.code != ERR_BUDGET_EXCEEDED) {
        *err = why;
        return -1;
    }
    run->row.error_code = str_from(err_name(why.code));
    run->row.error_message =
        str_from(arena_text(&run->arena, err_format(&why, text, sizeof(text))));
    return 0;
}

int runner_budget(struct runner *runner, const struct agent *agent, struct run_budget *ret_budget,
                  struct err *err)
{
    struct domain *domain = runner->config.agent_domain;
    const struct budget_day *day =
        budget_today(runner, clock_wall_ms(loop_clock(runner->config.loop)));

    *ret_budget = (struct run_budget){ .limits = runner->config.budget, .ends_ms = day->ends_ms };
    budget_limits_of(agent, &ret_budget->limits);
    ret_budget->own = budget_own(agent);
    if (budget_used(domain, agent->n, day, &ret_budget->used, &ret_budget->held, err) < 0)
        return -1;
    return budget_used(domain, 0, day, &ret_budget->all_used, &ret_budget->all_held, err);
}
