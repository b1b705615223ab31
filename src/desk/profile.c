/* What an agent of a kind may do.
 *
 * SPDX-License-Identifier: MIT
 */
#include "desk/desk.h"

static const char *const planner[] = {
    "category.read", "task.read",     "task.write",  "checklist.write", "time.write",
    "dayPlan.read",  "dayPlan.write", "rating.read", "report.write",    NULL
};
static const char *const gym_coach[] = {
    "category.read", "task.read", "time.write", "rating.read", "rating.write", "report.write", NULL
};
static const char *const strategy[] = { "category.read", "task.read",    "dayPlan.read",
                                        "rating.read",   "report.write", NULL };
static const char *const pomodoro[] = { "category.read", "task.read",    "time.write",
                                        "rating.read",   "rating.write", NULL };

static const struct {
    const char *kind;
    const char *const *capabilities;
} profiles[] = {
    { "planner", planner },
    { "gym_coach", gym_coach },
    { "strategy", strategy },
    { "pomodoro", pomodoro },
};

const char *const *desk_profile(struct str kind)
{
    for (size_t i = 0; i < sizeof(profiles) / sizeof(*profiles); i++) {
        if (str_is(kind, profiles[i].kind))
            return profiles[i].capabilities;
    }
    return NULL;
}
