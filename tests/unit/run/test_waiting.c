/* What happens between asking and the answer: previews under way, kill switches, pauses.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stage.h"

/* ---- previews under way ---- */

DB_TEST(nothing_is_asked_before_its_preview_is_there)
{
    struct stage *stage = stage_new(t);

    stage->hold_previews = true;
    stage_says(stage, "!put {}");
    stage_run(stage, "put");
    ASSERT_TEXT(stage_story(stage), "init");
    ASSERT_EQ(stage_pending(stage), 0);
    stage_show(stage);
    ASSERT_TEXT(stage_story(stage), "init tool_use approval_gate waiting");
    stage_free(stage);
}

DB_TEST(call_whose_preview_fails_is_told_to_the_model_and_asks_nobody)
{
    static const enum run_mode modes[] = { RUN_STRUCTURED, RUN_COOK };

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct stage *stage = stage_new(t);
        struct run_request request = { .prompt = STR("go"), .mode = modes[i] };
        int64_t pending;

        stage->unshowable = "the text to replace is not there";
        stage_says(stage, "!put {}\n!note {}");
        stage_says(stage, modes[i] == RUN_COOK ? "{\"done\":true}" : "I see.");
        stage_run_with(stage, &request);
        ASSERT_OK(inbox_count_pending(stage->domain, &pending, &t->err));
        ASSERT_EQ(pending, 0);
        ASSERT_CONTAINS(stage->last_request, "the text to replace is not there");
        ASSERT(!strstr(stage_story(stage), "approval_gate"));
        ASSERT_EQ(stage->done_count, 1); /* the other call acted */
        ASSERT_TEXT(stage_status(stage, stage->info.run_id), "done");
        stage_free(stage);
    }
}

DB_TEST(target_that_became_impossible_after_the_yes_is_told_to_the_model)
{
    struct stage *stage = stage_new(t);
    int64_t pending;

    stage_says(stage, "!put {}");
    stage_says(stage, "I see.");
    stage_run(stage, "go");
    stage->target = "2";
    stage->unshowable = "the file is gone";
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_OK(inbox_count_pending(stage->domain, &pending, &t->err));
    ASSERT_EQ(pending, 0);
    ASSERT_CONTAINS(stage->last_request, "the file is gone");
    ASSERT_EQ(stage->done_count, 0);
    ASSERT_TEXT(stage_status(stage, stage->info.run_id), "done");
    stage_free(stage);
}

DB_TEST(cancel_while_a_preview_is_made_ends_the_run)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->hold_previews = true;
    stage_says(stage, "!put {}");
    id = stage_run(stage, "put");
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, id), "cancelled");
    ASSERT_TEXT(stage_story(stage), "init error done");
    ASSERT_EQ(stage->model_calls, 1);
    stage_free(stage);
}

DB_TEST(kill_while_a_preview_is_made_ends_the_run)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->hold_previews = true;
    stage_says(stage, "!put {}");
    id = stage_run(stage, "put");
    ASSERT_EQ(run_kill(stage->runner, KILL_ALL, "", "enough", true, &t->err), 1);
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, id), "failed");
    ASSERT_CONTAINS(stage_last(stage, "error"), "kill_switch_active");
    ASSERT_EQ(stage->model_calls, 1);
    stage_free(stage);
}

DB_TEST(class_killed_while_its_preview_is_made_is_denied)
{
    struct stage *stage = stage_new(t);

    stage->hold_previews = true;
    stage_says(stage, "!put {}");
    stage_says(stage, "Not possible.");
    stage_run(stage, "put");
    ASSERT_EQ(run_kill(stage->runner, KILL_TOOLS, "files2", "enough", true, &t->err), 1);
    stage_show(stage);
    ASSERT_TEXT(stage_story(stage), "init tool_use tool_result text done");
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "kill_switch_active");
    ASSERT_EQ(stage_pending(stage), 0);
    stage_free(stage);
}

DB_TEST(crash_while_a_preview_is_made_asks_the_model_again)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->hold_previews = true;
    stage_says(stage, "!put {}");
    stage_says(stage, "Done otherwise.");
    id = stage_run(stage, "put");
    stage_crash(stage);
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, id), "done");
    ASSERT_EQ(stage_pending(stage), 0);
    stage_free(stage);
}

/* ---- kill switches and what waits ---- */

DB_TEST(what_waits_for_a_person_outlives_a_kill_and_takes_no_yes_meanwhile)
{
    static const struct {
        enum kill_scope scope;
        const char *value;
    } cases[] = { { KILL_ALL, "" }, { KILL_TOOLS, "test" } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stage *stage = stage_new(t);
        struct str id;

        stage_says(stage, "!send {}");
        stage_says(stage, "ok");
        id = stage_run(stage, "send");
        ASSERT_EQ(run_kill(stage->runner, cases[i].scope, cases[i].value, "x", true, &t->err), 1);
        stage_settle(stage);
        ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), -1);
        ASSERT_EQ(t->err.code, ERR_KILL_SWITCH_ACTIVE);
        err_reset(&t->err);
        ASSERT_EQ(stage_pending(stage), 1);
        ASSERT_EQ(stage->done_count, 0);
        ASSERT_EQ(run_kill(stage->runner, cases[i].scope, cases[i].value, "x", false, &t->err), 1);
        ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
        ASSERT_TEXT(stage_status(stage, id), "done");
        ASSERT_EQ(stage->done_count, 1);
        stage_free(stage);
    }
}

static void set_paused(struct stage *stage, bool paused)
{
    struct test *t = stage->t;

    ASSERT_OK(loop_unit_begin(stage->loop, stage->domain, &t->err));
    ASSERT_EQ(agent_set_paused(stage->domain, stage->change, STR("planner"), paused, 1, &t->err),
              1);
    ASSERT_OK(loop_unit_end(stage->loop, true, &t->err));
    stage_settle(stage);
}

DB_TEST(a_paused_agent_takes_no_yes_and_what_it_asked_keeps_waiting)
{
    static const struct {
        const char *call, *answer;
        enum inbox_state yes;
        size_t done;
    } cases[] = { { "!send {}", NULL, INBOX_APPROVED, 1 },
                  { "!send {}", "{}", INBOX_EDITED, 1 },
                  { "!query {}", "\"a\"", INBOX_ANSWERED, 0 } };

    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        struct stage *stage = stage_new(t);
        struct str id;

        stage_says(stage, cases[i / 2].call);
        stage_says(stage, "ok");
        id = stage_run(stage, "do");
        set_paused(stage, true);
        if (i % 2)
            stage_crash(stage); /* read anew with the pause */
        ASSERT_EQ(stage_decide(stage, cases[i / 2].yes, cases[i / 2].answer), -1);
        ASSERT_EQ(t->err.code, ERR_AGENT_PAUSED);
        err_reset(&t->err);
        ASSERT_EQ(stage_pending(stage), 1);
        set_paused(stage, false);
        ASSERT_EQ(stage_decide(stage, cases[i / 2].yes, cases[i / 2].answer), 1);
        ASSERT_TEXT(stage_status(stage, id), "done");
        ASSERT(!strstr(stage_last(stage, "tool_result"), "agent_paused"));
        ASSERT_EQ(stage->done_count, cases[i / 2].done);
        stage_free(stage);
    }
}

DB_TEST(a_no_is_taken_while_the_agent_is_paused)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage_says(stage, "!send {}");
    stage_says(stage, "ok");
    id = stage_run(stage, "send");
    set_paused(stage, true);
    ASSERT_EQ(stage_decide(stage, INBOX_REJECTED, NULL), 1);
    ASSERT_TEXT(stage_status(stage, id), "done");
    ASSERT_EQ(stage->done_count, 0);
    stage_free(stage);
}

DB_TEST(question_takes_no_answer_during_a_kill)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "!query {}");
    stage_says(stage, "ok");
    stage_run(stage, "which");
    ASSERT_EQ(run_kill(stage->runner, KILL_ALL, "", "x", true, &t->err), 1);
    ASSERT_EQ(stage_decide(stage, INBOX_ANSWERED, "\"a\""), -1);
    ASSERT_EQ(t->err.code, ERR_KILL_SWITCH_ACTIVE);
    err_reset(&t->err);
    ASSERT_EQ(run_kill(stage->runner, KILL_ALL, "", "x", false, &t->err), 1);
    ASSERT_EQ(stage_decide(stage, INBOX_ANSWERED, "\"a\""), 1);
    stage_free(stage);
}
