/* Which task somebody means. SPDX-License-Identifier: MIT */
#include "journal/list.h"
#include "rig.h"

/* What is there, in two categories; closed ones begin with an x. */
static const struct {
    const char *id, *title, *category;
} tasks[] = {
    { "fence", "Fix the garden fence", "home" },
    { "paint", "Paint the garden shed", "home" },
    { "leg", "Leg day at gym", "gym" },
    { "r1", "Morning run", "gym" },
    { "run10", "Long run 10 km", "gym" },
    { "report", "Write quarterly report", "" },
    { "report2", "Write quarterly report", "" },
    { "tax", "Steuererklärung abgeben", "" },
    { "xtax", "Pay taxes", "" },
    { "xfence", "Fix fence", "home" },
    { "milk", "Buy milk", "home" },
    { "xmilk", "Buy milk", "home" },
    { "xswim", "Swim", "gym" },
};

static void fill(struct rig *rig)
{
    rig_add_as(rig, RECORD_CATEGORY, "home", "{'name':'Home'}");
    rig_add_as(rig, RECORD_CATEGORY, "gym", "{'name':'Gym'}");
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
        AUTO_BUF json = BUF_INIT(1000);

        buf_printf(&json, "{'title':'%s','status':'%s'", tasks[i].title,
                   tasks[i].id[0] == 'x' ? "DONE" : "OPEN");
        if (tasks[i].category[0])
            buf_printf(&json, ",'categoryId':'%s'", tasks[i].category);
        buf_add_text(&json, "}");
        rig_add_as(rig, RECORD_TASK, tasks[i].id, buf_text(&json));
    }
}

DB_TEST(words_lead_to_the_task_that_is_meant)
{
    static const struct {
        const char *words, *first;
        bool sure;
    } cases[] = {
        { "Fix the garden fence", "fence", true },
        { "garden fence", "fence", true },
        { "GARDEN  FENCE!", "fence", true },
        { "the fence task", "fence", false }, /* a closed one has it too */
        { "garden", "fence", false },
        { "gardn fense", "fence", false },
        { "leg day", "leg", true },
        { "gym leg", "leg", true },
        { "legs", "leg", false },
        { "run", "r1", false },
        { "morning run", "r1", true },
        { "long run", "run10", true },
        { "quarterly report", "report", false },
        { "Write quarterly report", "report", false }, /* twice the same */
        { "steuererklarung", "tax", false },
        { "STEUERERKLÄRUNG abgeben", "tax", true },
        { "buy milk", "milk", true }, /* the closed one of this name is past */
        { "swim", "xswim", true },    /* closed, but exactly this and nothing else */
        { "swi", "xswim", false },
        { "pay tax", "xtax", false },
        { "report2", "report2", true }, /* an id */
        { "zebra", NULL, false },
        { "the", NULL, false },
    };
    AUTO_RIG rig;
    struct task_match match;

    rig_open(&rig, t);
    fill(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_OK(task_resolve(rig.journal, &journal_all, str_from(cases[i].words), 0, &t->arena,
                               &match, &t->err));
        if (!cases[i].first
                ? match.count != 0
                : match.count == 0 || !str_is(match.candidates[0].task.id, cases[i].first) ||
                      match.sure != cases[i].sure)
            test_case_failed("\"%s\": %.*s (%.2f), %ssure, second %.*s (%.2f)", cases[i].words,
                             STR_ARG(match.count ? match.candidates[0].task.id : STR("none")),
                             match.count ? match.candidates[0].score : 0, match.sure ? "" : "not ",
                             STR_ARG(match.count > 1 ? match.candidates[1].task.id : STR("none")),
                             match.count > 1 ? match.candidates[1].score : 0);
        else
            test_case_passed();
    }
}

DB_TEST(what_is_out_of_scope_is_no_candidate)
{
    AUTO_RIG rig;
    struct str gym = STR("gym");
    struct journal_scope scope = { .categories = &gym, .n = 1 }, nothing = { .n = 0 };
    struct task_match match;

    rig_open(&rig, t);
    fill(&rig);
    ASSERT_OK(
        task_resolve(rig.journal, &scope, STR("garden fence"), 0, &t->arena, &match, &t->err));
    ASSERT_EQ(match.count, 0);
    ASSERT(!match.sure);
    ASSERT_OK(task_resolve(rig.journal, &scope, STR("fence"), 0, &t->arena, &match, &t->err));
    ASSERT_EQ(match.count, 0); /* nor by its id */
    ASSERT_OK(task_resolve(rig.journal, &scope, STR("leg day"), 0, &t->arena, &match, &t->err));
    ASSERT_EQ(match.count, 1);
    ASSERT_OK(task_resolve(rig.journal, &nothing, STR("leg day"), 0, &t->arena, &match, &t->err));
    ASSERT_EQ(match.count, 0);
}

DB_TEST(open_candidates_stand_before_closed_ones_and_better_before_worse)
{
    AUTO_RIG rig;
    struct task_match match;
    bool closed = false;
    double last = 2;

    rig_open(&rig, t);
    fill(&rig);
    ASSERT_OK(task_resolve(rig.journal, NULL, STR("fix fence"), 20, &t->arena, &match, &t->err));
    ASSERT(match.count >= 2);
    ASSERT(!match.sure); /* the closed one is nearer */
    for (size_t i = 0; i < match.count; i++) {
        bool now = task_status_is_closed(record_str(&match.candidates[i].task, "status"));

        ASSERT(now >= closed);
        ASSERT(now > closed || match.candidates[i].score <= last);
        ASSERT(match.candidates[i].score > 0 && match.candidates[i].score <= 1);
        closed = now;
        last = match.candidates[i].score;
    }
    ASSERT(closed);
    ASSERT_OK(task_resolve(rig.journal, NULL, STR("run"), 1, &t->arena, &match, &t->err));
    ASSERT_EQ(match.count, 1);
    ASSERT(!match.sure); /* also when the second one is not shown */
}

DB_TEST(an_open_task_is_meant_before_a_closed_one_of_the_same_title)
{
    AUTO_RIG rig;
    struct task_match match;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "old", "{'title':'Weekly water plants','status':'DONE'}");
    rig_add_as(&rig, RECORD_TASK, "new", "{'title':'Weekly water plants'}");
    for (size_t i = 0; i < 2; i++) {
        struct str words = i ? STR("weekly water plants") : STR("water plants");

        ASSERT_OK(task_resolve(rig.journal, NULL, words, 0, &t->arena, &match, &t->err));
        ASSERT_EQ(match.count, 2);
        ASSERT_STR(match.candidates[0].task.id, "new");
        ASSERT(match.sure);
    }
}

DB_TEST(words_that_are_too_long_or_none_are_refused)
{
    AUTO_RIG rig;
    struct task_match match;
    char text[501];

    rig_open(&rig, t);
    memset(text, 'a', sizeof(text));
    ASSERT_FAILS(task_resolve(rig.journal, NULL, str_of(text, 501), 0, &t->arena, &match, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_OK(task_resolve(rig.journal, NULL, str_of(text, 500), 0, &t->arena, &match, &t->err));
    for (size_t i = 0; i < 3; i++) {
        static const char *const none[] = { "", "  ", "?!" };

        ASSERT_FAILS(
            task_resolve(rig.journal, NULL, str_from(none[i]), 0, &t->arena, &match, &t->err),
            ERR_BAD_REQUEST);
        ASSERT_CONTAINS(err_message(&t->err, 0), "words of its title are needed, or its id");
    }
}
