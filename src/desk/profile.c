/* What an agent of a kind may do.
 *
 * A profile bounds what every agent of its kind may do, whatever its own list of tools says of the
 * journal. Other tools (files, commands, accounts) belong to no profile: an agent of a kind that
 * has one uses them only when a person put them on its list. The planner is the agent that greets
 * and has, without a list, every tool that is for everybody.
 *
 * SPDX-License-Identifier: MIT
 */
#include "desk/desk_int.h"

static const char *const planner[] = { "category.read",   "task.read",   "task.write",
                                       "checklist.write", "time.write",  "dayPlan.read",
                                       "dayPlan.write",   "rating.read", "report.write",
                                       "alarm.write",     NULL };
static const char *const gym_coach[] = {
    "category.read", "task.read", "time.write", "rating.read", "rating.write", "report.write", NULL
};
static const char *const strategy[] = { "category.read", "task.read",    "dayPlan.read",
                                        "rating.read",   "report.write", NULL };
static const char *const pomodoro[] = { "category.read", "task.read",   "time.write", "rating.read",
                                        "rating.write",  "alarm.write", NULL };

static const struct profile {
    const char *kind;
    const char *const *capabilities;
    bool greets;
} profiles[] = {
    { "planner", planner, .greets = true },
    { "gym_coach", gym_coach },
    { "strategy", strategy },
    { "pomodoro", pomodoro },
};

static const struct profile *find_profile(struct str kind)
{
    for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
        if (str_is(kind, profiles[i].kind))
            return &profiles[i];
    }
    return NULL;
}

const char *const *desk_profile(struct str kind)
{
    const struct profile *profile = find_profile(kind);

    return profile ? profile->capabilities : NULL;
}

static bool is_among(const char *capability, const char *const *all)
{
    for (; *all; all++) {
        if (strcmp(capability, *all) == 0)
            return true;
    }
    return false;
}

/* Its own memory and slots, and asking people. */
static bool has_everybody(const char *capability)
{
    return str_starts(str_from(capability), STR("memory.")) ||
           str_starts(str_from(capability), STR("slots.")) ||
           str_starts(str_from(capability), STR("people."));
}

/* Capabilities that some profile knows: those of the journal and of reports. */
static bool is_profiled(const char *capability)
{
    for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
        if (is_among(capability, profiles[i].capabilities))
            return true;
    }
    return false;
}

const char *desk_missing(const struct agent *agent, const struct tool_contract *contract)
{
    const struct profile *profile = find_profile(str_from(agent->kind));

    for (const char *const *at = contract->capabilities; profile && *at; at++) {
        bool other = !is_profiled(*at) && (profile->greets || agent->tools);

        if (!is_among(*at, profile->capabilities) && !has_everybody(*at) && !other)
            return *at;
    }
    return NULL;
}
