/* A day's budget on a stage whose clock is moved over local midnight.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <time.h>

#include "agent/budget.h"
#include "stage.h"

static void limit_tokens(struct stage *stage, int64_t tokens)
{
    stage_alter(stage,
                arena_printf(&stage->t->arena,
                             "UPDATE agents SET extension = '{\"budget.tokensPerDay\":%lld}'",
                             (long long)tokens));
}

static int64_t used_today(struct stage *stage, const struct budget_day *day)
{
    struct test *t = stage->t;
    struct budget used, held;

    ASSERT_OK(budget_used(stage->domain, 0, day, &used, &held, &t->err));
    return used.tokens;
}

/* In a zone where the day ends at 11:00 by UTC, and nowhere near it. */
DB_TEST(what_was_used_up_can_be_used_again_after_local_midnight)
{
    struct budget_day day;
    struct stage *stage;
    int64_t used;

    setenv("TZ", "Pacific/Auckland", 1);
    tzset();
    stage = stage_new(t);
    budget_day_of(clock_wall_ms(loop_clock(stage->loop)), &day);
    ASSERT(day.ends_ms % (24 * 3600 * 1000) == 11 * 3600 * 1000);
    stage_says(stage, "The first.");
    ASSERT_TEXT(stage_status(stage, stage_run(stage, "go")), "done");
    used = used_today(stage, &day);
    ASSERT(used > 0);
    limit_tokens(stage, used + 100000);
    stage_says(stage, "There is room.");
    ASSERT_TEXT(stage_status(stage, stage_run(stage, "go on")), "done");
    used = used_today(stage, &day);
    limit_tokens(stage, used);
    ASSERT_TEXT(stage_status(stage, stage_run(stage, "go on")), "failed");
    ASSERT_CONTAINS(stage_last(stage, "error"), "budget_exceeded");
    /* The last moment of the day, with what a run takes on the stage before it. */
    loop_fake_advance(stage->loop, day.ends_ms - 1000 - clock_wall_ms(loop_clock(stage->loop)));
    ASSERT_TEXT(stage_status(stage, stage_run(stage, "go on")), "failed");
    ASSERT(clock_wall_ms(loop_clock(stage->loop)) < day.ends_ms);
    ASSERT_EQ(used_today(stage, &day), used);
    /* And midnight. The day before keeps its figures. */
    limit_tokens(stage, 100000);
    loop_fake_advance(stage->loop, day.ends_ms - clock_wall_ms(loop_clock(stage->loop)));
    stage_says(stage, "A new day.");
    ASSERT_TEXT(stage_status(stage, stage_run(stage, "go on")), "done");
    ASSERT_EQ(used_today(stage, &day), used);
    budget_day_of(clock_wall_ms(loop_clock(stage->loop)), &day);
    ASSERT(used_today(stage, &day) > 0);
    stage_free(stage);
}
