/* The course of a run: how it begins and in which mode, hostile models, and what it can't go on
 * with: other rules, altered logs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "db/db.h"
#include "run/program.h"
#include "run/run_int.h"
#include "stage.h"

/* ---- modes ---- */

DB_TEST(wiggum_checks_after_each_iteration_until_the_model_says_done)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("go"), .mode = RUN_COOK };

    stage_says(stage, "!note {}");
    stage_says(stage, "Not {\"done\": false} yet");
    stage_says(stage, "Some text");
    stage_says(stage, "{\"done\": true}");
    stage_run_with(stage, &request);
    ASSERT_TEXT(stage_story(stage), "init tool_use tool_result iteration text iteration done");
    ASSERT_CONTAINS(stage_last(stage, "done"), "Some text");
    stage_free(stage);
}

DB_TEST(wiggum_still_asks_about_what_always_asks)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("go"), .mode = RUN_COOK };

    stage_says(stage, "!send {}");
    stage_run_with(stage, &request);
    ASSERT_EQ(stage->done_count, 0);
    ASSERT_TEXT(stage_status(stage, stage->info.run_id), "waiting");
    ASSERT_OK(run_set_mode(stage->runner, stage->info.run_id, RUN_STRUCTURED, &t->err));
    stage_settle(stage);
    ASSERT_STR(stage_info(stage, stage->info.run_id).mode, "structured");
    stage_free(stage);
}

DB_TEST(mode_of_a_run_that_was_cancelled_can_not_be_set)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->hold_tools = true;
    stage_says(stage, "!note {}");
    id = stage_run(stage, "go");
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    ASSERT_FAILS(run_set_mode(stage->runner, id, RUN_COOK, &t->err), ERR_CANCELLED);
    stage_settle(stage);
    ASSERT_STR(stage_info(stage, id).mode, "structured");
    stage_free(stage);
}

/* ---- what can't go on ---- */

/* The same program with one guard less: another hash. */
static const struct bp_program *other_program(struct test *t)
{
    struct bp_program *other = ARENA_NEW(&t->arena, struct bp_program);
    struct bp_thread *threads = ARENA_NEW_N(&t->arena, struct bp_thread, run_program.thread_count);

    *other = run_program;
    memcpy(threads, run_program.threads + 1, (run_program.thread_count - 1u) * sizeof(*threads));
    other->threads = threads;
    other->thread_count--;
    return other;
}

DB_TEST(run_of_another_program_ends_with_a_reason_and_asks_nobody_any_more)
{
    static const char *const replies[] = { "!send {}\n!poke {}", "!send {}", "!query {}", "?",
                                           "#rate_limited x" };

    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        struct stage *stage = stage_new(t);
        struct inbox_item *items;
        struct run_info info;
        struct str id;
        size_t n;

        stage->hold_tools = true;
        stage_says(stage, replies[i]);
        id = stage_run(stage, "go");
        stage->config.program = other_program(t);
        stage_crash(stage);
        stage_settle(stage);
        info = stage_info(stage, id);
        ASSERT_STR(info.status, "failed");
        ASSERT_STR(info.error_code, "resume_conflict");
        ASSERT_CONTAINS(stage_last(stage, "done"), "\"stopReason\":\"error\"");
        ASSERT_CONTAINS(stage_last(stage, "error"), "resume_conflict");
        ASSERT_OK(inbox_list(stage->domain, INBOX_PENDING, 0, 0, &t->arena, &items, &n, &t->err));
        ASSERT_EQ(n, 0);
        /* The conversation is free for the next, and whole: stage_free() pairs calls and results.
         */
        stage_says(stage, "Here.");
        stage_run(stage, "once more");
        ASSERT_CONTAINS(stage_last(stage, "done"), "Here.");
        stage->config.program = NULL;
        stage->altered = true; /* two programs: neither replays all */
        stage_free(stage);
    }
}

DB_TEST(decision_about_a_run_of_another_program_ends_it)
{
    struct stage *stage = stage_new(t);
    struct str id, item;

    stage_says(stage, "!send {}");
    id = stage_run(stage, "go");
    item = stage_item(stage);
    stage->config.program = other_program(t);
    stage_crash(stage); /* and the decision is there before recovery looks */
    ASSERT_FAILS(run_decide(stage->runner, item,
                            &(struct inbox_decision){ .state = INBOX_APPROVED, .by = STR("owner") },
                            &t->err),
                 ERR_RESUME_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "which this program can't make any more");
    stage_settle(stage);
    ASSERT_STR(stage_info(stage, id).error_code, "resume_conflict");
    /* Ended by decree, and still as its own program recorded it: replayed by stage_free(). */
    ASSERT_TEXT(stage_story(stage), "init tool_use approval_gate waiting tool_result error done");
    stage_free(stage);
}

DB_TEST(altered_log_ends_the_run_when_it_is_loaded)
{
    static const char *const changes[] = {
        ("UPDATE agent_messages SET content = '{\"arguments\":\"{\\\"to\\\":\\\"eve\\\"}\"}'"
         " WHERE kind = 'action'"),
        "UPDATE inbox SET body = '{\"to\":\"eve\"}'",
        "UPDATE run_events SET bits = 0 WHERE key = 1 AND bits <> 0",
        "DELETE FROM run_events WHERE n = (SELECT max(n) FROM run_events)",
        "UPDATE runs SET settings = '{\"maxIterations\":99999999}'",
    };

    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        struct stage *stage = stage_new(t);
        struct run_info info;
        struct str id;

        stage_says(stage, "!send {\"to\":\"ada\"}");
        id = stage_run(stage, "go");
        stage_alter(stage, changes[i]);
        ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), -1);
        err_reset(&t->err);
        info = stage_info(stage, id);
        ASSERT_EQ(stage->done_count, 0);
        ASSERT_STR(info.status, "failed");
        ASSERT_CONTAINS(stage_last(stage, "done"), "\"stopReason\":\"error\"");
        stage_free(stage);
    }
}

/* ---- hostile models ---- */

DB_TEST(hundred_calls_are_cut_and_everybody_is_told)
{
    struct stage *stage = stage_new(t);
    AUTO_BUF calls = BUF_INIT(1u << 16);

    for (int i = 0; i < 100; i++)
        buf_printf(&calls, "%s!note {\"i\":%d}", i ? "\n" : "", i);
    stage_says(stage, buf_text(&calls));
    stage_says(stage, "ok");
    stage_run(stage, "go");
    ASSERT_EQ(stage->done_count, RUN_CALLS_MAX);
    ASSERT_CONTAINS(stage->last_request, "68 more calls were not made: at most 32 in one answer");
    ASSERT_CONTAINS(stage_last(stage, "notice"), "68 more calls were not made");
    stage_free(stage);
}

DB_TEST(calls_that_make_no_sense_go_back_to_the_model)
{
    static const struct {
        const char *call, *says;
    } cases[] = {
        { "!nosuchtool {}", "nosuchtool" },
        { "!note {\"a\":", "JSON" },
        { "!note [1]", "object" },
        { "!note \"text\"", "object" },
        { "!../../etc/passwd {}", "passwd" },
        { "! {}", "tool" },
    };
    struct stage *stage = stage_new(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        stage_says(stage, cases[i].call);
        stage_says(stage, "I see.");
        stage_run(stage, "go");
        ASSERT_CONTAINS(stage_last(stage, "tool_result"), "\"status\":\"failed\"");
        ASSERT_CONTAINS(stage_last(stage, "tool_result"), cases[i].says);
        ASSERT_CONTAINS(stage_last(stage, "done"), "I see.");
    }
    ASSERT_EQ(stage->done_count, 0);
    stage_free(stage);
}

DB_TEST(answer_that_is_too_long_to_keep_ends_the_run)
{
    struct stage *stage = stage_new(t);
    size_t n = 3u << 20;
    char *text = malloc(n + 1);
    struct str id;

    memset(text, 'a', n);
    text[n] = '\0';
    stage_says(stage, text);
    id = stage_run(stage, "go");
    free(text);
    ASSERT_STR(stage_info(stage, id).error_code, "too_large");
    ASSERT_EQ(stage->model_calls, 1);
    stage_free(stage);
}

DB_TEST(arguments_of_control_characters_are_kept_whole)
{
    struct stage *stage = stage_new(t);
    size_t n = (1u << 20) + 40000;
    char *text = malloc(n + 32);
    size_t at = (size_t)sprintf(text, "!note {\"text\":\"");

    memset(text + at, '\\', n & ~(size_t)1); /* each pair is one backslash */
    strcpy(text + at + (n & ~(size_t)1), "\"}");
    stage_says(stage, text);
    stage_says(stage, "ok");
    stage_run(stage, "go");
    free(text);
    ASSERT_CONTAINS(stage_last(stage, "done"), "ok");
    stage_free(stage);
}

/* ---- rules that leave no way ---- */

/* A start refuses such a policy; whatever comes by it all the same ends, and says so. */
DB_TEST(run_that_no_rule_lets_go_on_ends_with_a_reason)
{
    static const char *const blocks[] = { "act", "gate", "done", "think", "settled", "observe" };

    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
        struct stage *stage = stage_new(t);
        struct run_request request = { .prompt = STR("go"), .session_id = str_from(blocks[i]) };
        struct str id;

        stage->policy = arena_printf(&t->arena,
                                     "version: 1\nfor: [run]\nguards:\n  - name: holds_it\n"
                                     "    points:\n      - block: [{ on: %s }]\n",
                                     blocks[i]);
        stage_crash(stage);
        stage_says(stage, "!send {}\n!note {}");
        stage_says(stage, "ok");
        id = stage_run_with(stage, &request);
        loop_fake_advance(stage->loop, 5000);
        if (strcmp(stage_status(stage, id), "waiting") == 0)
            ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
        loop_fake_advance(stage->loop, 5000);
        ASSERT_TEXT(stage_status(stage, id), "failed");
        ASSERT_CONTAINS(stage_last(stage, "error"), "no rule lets it go on");
        stage->altered = true; /* it was ended without its rules */
        stage_free(stage);
    }
}

/* ---- starting ---- */

DB_TEST(same_turn_sent_again_starts_nothing_new)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("go"),
                                   .session_id = STR("s"),
                                   .turn_id = STR("t1") };
    struct str first, second;

    stage_says(stage, "Here.");
    first = stage_run_with(stage, &request);
    second = stage_run_with(stage, &request);
    ASSERT_STR(first, arena_printf(&t->arena, "%.*s", STR_ARG(second)));
    ASSERT_EQ(stage->model_calls, 1);
    stage_crash(stage);
    second = stage_run_with(stage, &request);
    ASSERT_STR(first, arena_printf(&t->arena, "%.*s", STR_ARG(second)));
    ASSERT_EQ(stage->model_calls, 1);
    stage_free(stage);
}

DB_TEST(conversation_has_one_run_at_a_time)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("go"), .session_id = STR("s") };
    struct run_info info;
    struct str id;

    stage_says(stage, "!send {}");
    id = stage_run_with(stage, &request);
    ASSERT_FAILS(run_start(stage->runner, &request, &t->arena, &info, &t->err), ERR_CONFLICT);
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    stage_says(stage, "Here.");
    stage_run_with(stage, &request);
    ASSERT_CONTAINS(stage_last(stage, "done"), "Here.");
    stage_free(stage);
}

DB_TEST(bad_requests_are_refused_with_what_is_wrong)
{
    struct stage *stage = stage_new(t);
    char *long_name = arena_printf(&t->arena, "%0300d", 1);
    struct run_request good = { .prompt = STR("go") };
    struct run_info info;
    const struct {
        struct run_request request;
        enum err_code code;
    } cases[] = {
        { { .prompt = STR("  \n ") }, ERR_BAD_REQUEST },
        { { .prompt = STR("\xff\xfe") }, ERR_BAD_REQUEST },
        { { .prompt = str_of(malloc(2u << 20), 2u << 20) }, ERR_TOO_LARGE },
        { { .prompt = STR("x"), .session_id = str_from(long_name) }, ERR_BAD_REQUEST },
        { { .prompt = STR("x"), .turn_id = str_of("a\0b", 3) }, ERR_BAD_REQUEST },
        { { .prompt = STR("x"), .model_id = str_of("test\0x", 6) }, ERR_BAD_REQUEST },
        { { .prompt = STR("x"), .model_id = STR("nosuch") }, ERR_MODEL_NOT_ALLOWED },
        { { .prompt = STR("x"), .cwd = STR("relative") }, ERR_BAD_REQUEST },
        { { .prompt = STR("x"), .cwd = STR("/no/such/folder") }, ERR_BAD_REQUEST },
        { { .prompt = STR("x"), .max_iterations = -1 }, ERR_BAD_REQUEST },
        { { .prompt = STR("x"), .max_iterations = 1 << 20 }, ERR_BAD_REQUEST },
        { { .prompt = STR("x"), .agent_id = STR("nobody") }, ERR_NOT_FOUND },
        { { .prompt = STR("x"), .rerun_of = STR("nothing") }, ERR_NOT_FOUND },
    };

    memset((char *)cases[2].request.prompt.p, 'x', cases[2].request.prompt.n);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_FAILS(run_start(stage->runner, &cases[i].request, &t->arena, &info, &t->err),
                     cases[i].code);
    free((char *)cases[2].request.prompt.p);
    stage_says(stage, "Here.");
    stage_run_with(stage, &good);
    ASSERT_CONTAINS(stage_last(stage, "done"), "Here.");
    stage_free(stage);
}

DB_TEST(run_is_found_by_the_beginning_of_its_id)
{
    struct stage *stage = stage_new(t);
    struct run_info info;
    struct str id;

    stage_says(stage, "Here.");
    id = stage_run(stage, "go");
    ASSERT_OK(run_find(stage->runner, str_take(id, 8), &t->arena, &info, &t->err));
    ASSERT_STR(info.result, "Here.");
    ASSERT_STR(info.prompt, "go");
    ASSERT_FAILS(run_find(stage->runner, str_take(id, 3), &t->arena, &info, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(run_find(stage->runner, STR("zzzz"), &t->arena, &info, &t->err), ERR_NOT_FOUND);
    stage_free(stage);
}
