/* What doctor says of day budgets: those that are set, what is used of them and left, and what one
 * of them stops today.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/budget.h"
#include "base/clock.h"
#include "cli/doctor_int.h"
#include "house/rooms.h"

struct budget_look {
    struct doctor *doctor;
    struct domain *domain;
    struct budget_day day;
    struct budget_limits limits; /* by the configuration */
    size_t shown;
    struct err err;
};

static void budget_line(struct budget_look *look, int64_t agent_n, const char *whose,
                        const char *fix, const struct budget *limit)
{
    AUTO_BUF text = BUF_INIT(1024);
    char when[BUDGET_WHEN_SIZE];
    struct budget used, held;
    bool stops;

    if (!limit->tokens && !limit->cost && !limit->tool_calls)
        return;
    if (budget_used(look->domain, agent_n, &look->day, &used, &held, &look->err) < 0)
        return;
    budget_say(limit, &used, &held, &text, &stops);
    budget_when(look->day.ends_ms, when);
    look->shown++;
    doctor_add(look->doctor, stops ? DOCTOR_WARN : DOCTOR_OK, "budget", stops ? fix : NULL,
               "%s today: %s%s%s", whose, buf_text(&text),
               stops ? "; it is used up: requests are refused until " : "", stops ? when : "");
}

static bool budget_agent(void *arg, const struct agent *agent)
{
    struct budget_look *look = arg;
    struct budget_limits limits = look->limits;
    struct arena *arena = &look->doctor->arena;

    budget_limits_of(agent, &limits);
    budget_line(look, agent->n, arena_printf(arena, "agent %s", agent->id),
                arena_printf(arena,
                             "dormouse agent set %s --tokens-per-day N (or --cost-per-day, "
                             "--tool-calls-per-day)",
                             agent->id),
                &limits.agent);
    return !look->err.code;
}

void doctor_budget(struct doctor *doctor, struct domain *agent_domain)
{
    struct budget_look look = { .doctor = doctor, .domain = agent_domain };
    char text[ERR_TEXT_MAX];

    budget_day_of(clock_wall_ms(clock_system()), &look.day);
    rooms_budget(doctor->config, &look.limits);
    budget_line(
        &look, 0, "all agents",
        arena_printf(&doctor->arena, "raise budget.all in %s/config.yaml", doctor->data_dir),
        &look.limits.all);
    if (!look.err.code)
        agent_each(agent_domain, budget_agent, &look, &look.err);
    if (look.err.code)
        doctor_add(doctor, DOCTOR_FAIL, "budget", NULL, "%s",
                   err_format(&look.err, text, sizeof(text)));
    else if (!look.shown)
        doctor_add(doctor, DOCTOR_OK, "budget", NULL, "none is set: agents may use up any amount");
}
