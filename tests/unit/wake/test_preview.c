/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "alert_rig.h"
#include "wake/preview.h"

#define TOLD_MAX 300

struct told {
    struct test *t;
    struct {
        enum match_outcome outcome;
        int64_t at, not_before;
        struct str record;
    } at[TOLD_MAX];
    size_t n, steps;
};

static void tell(void *arg, const struct preview_match *one)
{
    struct told *told = arg;
    struct test *t = told->t;

    ASSERT(told->n < TOLD_MAX);
    told->at[told->n].outcome = one->match.outcome;
    told->at[told->n].at = one->row->created_at;
    told->at[told->n].not_before = one->not_before;
    told->at[told->n].record =
        one->match.record_count ? arena_str(&t->arena, one->match.records[0].id) : STR_NONE;
    told->n++;
}

/* All of it: afterwards told and the counts. */
static int look(struct alert *a, struct preview *preview, struct told *told)
{
    struct test *t = a->t;
    int r = 1;

    *told = (struct told){ .t = t };
    preview->agent_domain = a->agents;
    preview->journal = a->journal;
    preview->tell = tell;
    preview->arg = told;
    if (preview_begin(preview, &t->err) < 0)
        return -1;
    for (; r > 0; told->steps++)
        r = preview_step(preview, &t->err);
    return r;
}

DB_TEST(a_preview_tells_what_would_have_woken_and_what_not)
{
    static const struct token tasks[] = { KEY("TASK") };
    AUTO_ALERT a;
    struct agent coach;
    struct told told;
    struct preview preview = { .subscription = { .source = WAKE_JOURNAL,
                                                 .tokens = tasks,
                                                 .token_count = 1,
                                                 .predicate = STR("task.priority <= 1") },
                               .agent = &coach,
                               .limit = 10 };

    alert_open(&a, t);
    alert_agent(&a, "coach", "[\"*\"]");
    ASSERT_OK(agent_get(a.agents, STR("coach"), &t->arena, &coach, &t->err));
    alert_category(&a, "gym"); /* has none of the tokens */
    clock_advance(&a.clock, 1000);
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\",\"priority\":\"P1\"}");
    clock_advance(&a.clock, 1000);
    alert_write(&a, NULL, RECORD_TASK, "t-2", "{\"title\":\"y\",\"priority\":\"P3\"}");
    clock_advance(&a.clock, 1000);
    alert_write(&a, "coach", RECORD_TASK, "t-3", "{\"title\":\"z\",\"priority\":\"P0\"}");
    ASSERT_OK(look(&a, &preview, &told));
    ASSERT_EQ(told.n, 3);
    ASSERT_EQ(told.at[0].outcome, MATCH_AUTHOR);
    ASSERT_EQ(told.at[1].outcome, MATCH_PREDICATE);
    ASSERT_EQ(told.at[2].outcome, MATCH_YES);
    ASSERT_STR(told.at[2].record, "t-1");
    ASSERT_EQ(told.at[2].not_before, 0);
    ASSERT_EQ(preview.matched, 1);
    ASSERT_EQ(preview.unmatched, 2);
    /* outside of its hours it would have waited for them */
    preview.subscription.hours =
        (struct active_hours){ .set = true, .from_min = 720, .to_min = 780, .zone = "UTC" };
    ASSERT_OK(look(&a, &preview, &told));
    ASSERT_EQ(told.at[2].not_before, ALERT_NOW + HOURS(3));
    ASSERT_EQ(told.at[1].not_before, 0); /* does not match at all */
    preview.subscription.hours.from_min = 540;
    ASSERT_OK(look(&a, &preview, &told));
    ASSERT_EQ(told.at[2].not_before, 0);
    /* bounded by time */
    preview.since_ms = ALERT_NOW + 2000;
    ASSERT_OK(look(&a, &preview, &told));
    ASSERT_EQ(told.n, 2);
    /* and checked */
    preview.subscription.predicate = STR("task.priority <= 9");
    ASSERT_FAILS(look(&a, &preview, &told), ERR_BAD_REQUEST);
    preview.subscription = (struct subscription){ .source = WAKE_WEBHOOK };
    ASSERT_OK(look(&a, &preview, &told));
    ASSERT_EQ(told.n, 0);
}

DB_TEST(a_preview_counts_all_of_a_long_past_and_lists_the_newest)
{
    static const struct token tasks[] = { KEY("TASK") };
    AUTO_ALERT a;
    struct agent coach;
    struct told told;
    struct preview preview = { .subscription = { .source = WAKE_JOURNAL,
                                                 .tokens = tasks,
                                                 .token_count = 1,
                                                 .predicate = STR("task.priority == 0") },
                               .agent = &coach,
                               .limit = 5 };

    alert_open(&a, t);
    alert_agent(&a, "coach", "[\"*\"]");
    ASSERT_OK(agent_get(a.agents, STR("coach"), &t->arena, &coach, &t->err));
    /* the matches are the oldest of all; several batches are of one moment */
    for (int i = 0; i < PREVIEW_STEP_BATCHES + 30; i++) {
        char id[16];

        snprintf(id, sizeof(id), "t-%d", i);
        if (i % 3 == 0)
            clock_advance(&a.clock, 10);
        alert_write(&a, NULL, RECORD_TASK, id,
                    i < 12 ? "{\"title\":\"x\",\"priority\":\"P0\"}" : "{\"title\":\"x\"}");
    }
    ASSERT_OK(look(&a, &preview, &told));
    ASSERT_EQ(preview.matched, 12);
    ASSERT_EQ(preview.unmatched, PREVIEW_STEP_BATCHES + 18);
    ASSERT(told.steps > 1);
    ASSERT_EQ(told.n, 10);
    ASSERT_EQ(preview_shown(&preview, true), 5);
    ASSERT_EQ(preview_shown(&preview, false), 5);
    ASSERT_EQ(told.at[4].outcome, MATCH_PREDICATE);
    ASSERT_STR(told.at[5].record, "t-11");
    ASSERT_STR(told.at[9].record, "t-7");
    for (size_t i = 1; i < told.n; i++)
        ASSERT(told.at[i - 1].at >= told.at[i].at);
}
