/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "desk/desk.h"
#include "harness/test.h"

static bool may(const char *kind, const char *capability)
{
    const char *const *all = desk_profile(str_from(kind));

    for (size_t i = 0; all && all[i]; i++) {
        if (strcmp(all[i], capability) == 0)
            return true;
    }
    return false;
}

TEST(a_strategist_reads_and_reports_and_writes_nothing_else)
{
    ASSERT(may("strategy", "rating.read") && may("strategy", "report.write"));
    ASSERT(!may("strategy", "task.write") && !may("strategy", "dayPlan.write"));
    ASSERT(!may("strategy", "time.write") && !may("strategy", "checklist.write"));
}

TEST(a_coach_logs_time_and_changes_no_task)
{
    ASSERT(may("gym_coach", "time.write") && !may("gym_coach", "task.write"));
}

TEST(a_kind_without_profile_has_none)
{
    ASSERT(!desk_profile(STR("custom")) && !desk_profile(STR("")));
}
