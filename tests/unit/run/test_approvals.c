/* Approvals and the inbox: asking, deciding once, editing, expiring, withdrawing, answering.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json.h"
#include "stage.h"

static struct inbox_item get_item(struct stage *stage, struct str id)
{
    struct test *t = stage->t;
    struct inbox_item item;

    ASSERT_OK(inbox_get(stage->domain, id, &t->arena, &item, &t->err));
    return item;
}

DB_TEST(item_holds_what_was_asked_and_how_it_was_shown)
{
    struct stage *stage = stage_new(t);
    struct inbox_item item;

    stage_says(stage, "!put {\"path\":\"a\"}");
    stage_run(stage, "put it");
    item = get_item(stage, stage_item(stage));
    ASSERT_STR(item.tool_name, "put");
    ASSERT_STR(item.body, "{\"path\":\"a\"}");
    ASSERT_STR(item.preview_kind, "diff");
    ASSERT_STR(item.preview, "-old\n+new\n");
    ASSERT_STR(item.title, "Put it there");
    ASSERT_EQ(item.digest.n, 64);
    ASSERT_EQ(item.expires_at - item.created_at, DAYS(7));
    ASSERT_CONTAINS(stage_last(stage, "approval_gate"), "\"preview\":\"-old\\n+new\\n\"");
    stage_free(stage);
}

DB_TEST(decision_is_applied_once_however_often_it_is_sent)
{
    struct stage *stage = stage_new(t);
    const struct inbox_decision yes = { .state = INBOX_APPROVED, .by = STR("owner") };
    const struct inbox_decision no = { .state = INBOX_REJECTED, .by = STR("owner") };
    struct str item;

    stage_says(stage, "!send {}");
    stage_says(stage, "ok");
    stage_run(stage, "send");
    item = stage_item(stage);
    ASSERT_EQ(run_decide(stage->runner, item, &yes, &t->err), 1);
    ASSERT_EQ(run_decide(stage->runner, item, &yes, &t->err), 0);
    stage_settle(stage);
    ASSERT_EQ(run_decide(stage->runner, item, &yes, &t->err), 0);
    ASSERT_FAILS(run_decide(stage->runner, item, &no, &t->err), ERR_CONFLICT);
    ASSERT_EQ(stage->done_count, 1);
    stage_free(stage);
}

DB_TEST(item_that_names_another_call_is_refused_by_its_name_and_ends_its_run)
{
    static const char *const changes[] = {
        "UPDATE inbox SET call_key = 99",    "UPDATE inbox SET call_key = 65537",
        "UPDATE inbox SET call_key = -1",    "UPDATE inbox SET call_key = 0",
        "UPDATE inbox SET call_key = 65536",
    };
    const struct inbox_decision yes = { .state = INBOX_APPROVED, .by = STR("owner") };

    for (size_t i = 0; i < ARRAY_LEN(changes) * 2; i++) {
        struct stage *stage = stage_new(t);
        bool in_memory = i % 2;
        struct str run, item;

        stage->hold_tools = in_memory;
        stage_says(stage, in_memory ? "!send {\"n\":1}\n!note {}" : "!send {\"n\":1}");
        run = stage_run(stage, "send");
        item = stage_item(stage);
        stage_alter(stage, changes[i / 2]);
        ASSERT_FAILS(run_decide(stage->runner, item, &yes, &t->err), ERR_INTEGRITY_FAILED);
        ASSERT_CONTAINS(test_err_text(t), arena_copy(&t->arena, item.p, item.n));
        stage_settle(stage);
        ASSERT_TEXT(stage_status(stage, run), "failed");
        ASSERT_EQ(stage_pending(stage), 0);
        ASSERT_EQ(stage->done_count, 0);
        stage_free(stage);
    }
}

DB_TEST(agent_can_not_decide_its_own_item)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage_says(stage, "!send {\"n\":1}\n!poke {}");
    stage->hold_tools = true;
    id = stage_run(stage, "send");
    /* The run is held in memory by poke, so a half-applied edit would stay. */
    ASSERT_EQ(stage_decide_with(stage, (struct inbox_decision){ .state = INBOX_EDITED,
                                                                .by = STR("agent:x"),
                                                                .answer = STR("{\"n\":2}") }),
              -1);
    ASSERT_EQ(t->err.code, ERR_UNAUTHORIZED);
    err_reset(&t->err);
    ASSERT_EQ(stage_pending(stage), 1);
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    stage_finish(stage);
    stage_finish(stage);
    for (size_t i = 0; i < stage->done_count; i++) {
        if (strcmp(stage->effects[i].tool, "send") == 0)
            ASSERT_TEXT(stage->effects[i].arguments, "{\"n\":1}");
    }
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    stage_free(stage);
}

DB_TEST(verb_that_the_item_does_not_take_is_refused_with_those_it_takes)
{
    struct stage *stage = stage_new(t);
    static const struct {
        const char *call;
        enum inbox_state state;
        const char *answer, *says;
    } cases[] = {
        { "!send {}", INBOX_ANSWERED, "{}", "approve, reject, edit" },
        { "!send {}", INBOX_EDITED, "[1]", "must be a JSON object" },
        { "!send {}", INBOX_EDITED, "{\"a\":", "the edited arguments" },
        { "!query {}", INBOX_APPROVED, "{}", "answer, reject" },
        { "!query {}", INBOX_ANSWERED, "no JSON", "the answer" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str id;

        stage_says(stage, cases[i].call);
        id = stage_run(stage, "go");
        ASSERT_EQ(stage_decide(stage, cases[i].state, cases[i].answer), -1);
        ASSERT_CONTAINS(err_format(&t->err, (char[ERR_TEXT_MAX]){ 0 }, ERR_TEXT_MAX),
                        cases[i].says);
        err_reset(&t->err);
        ASSERT_EQ(stage_pending(stage), 1);
        ASSERT_OK(run_cancel(stage->runner, id, &t->err));
        stage_settle(stage);
        ASSERT_EQ(stage_pending(stage), 0);
    }
    stage_free(stage);
}

DB_TEST(edited_call_acts_with_the_persons_arguments_and_tells_the_model)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "!mail {\"to\":\"ada\"}");
    stage_says(stage, "ok");
    stage_run(stage, "mail");
    ASSERT_EQ(stage_decide(stage, INBOX_EDITED, "{\"to\":\"bob\"}"), 1);
    ASSERT_EQ(stage->done_count, 1);
    ASSERT_TEXT(stage->effects[0].arguments, "{\"to\":\"bob\"}");
    ASSERT_EQ(stage_pending(stage), 0);
    stage_free(stage);
}

/* Keyed tools tell repeated operations apart by their id: a second intent must have its own, also
 * when the first was an edit, also when the model writes it in another way, also after a wait. */
DB_TEST(equal_intents_have_operations_of_their_own)
{
    static const struct {
        const char *first, *edited, *second;
    } cases[] = {
        { "!mail {\"to\":\"ada\"}", NULL, "!mail {\"to\":\"ada\"}" },
        { "!mail {\"to\":\"ada\"}", NULL, "!mail { \"to\" : \"ada\" }" },
        { "!mail {\"to\":\"ada\"}", "{\"to\":\"bob\"}", "!mail {\"to\":\"bob\"}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stage *stage = stage_new(t);

        stage_says(stage, cases[i].first);
        stage_says(stage, cases[i].second);
        stage_says(stage, "ok");
        stage_run(stage, "mail twice");
        ASSERT_EQ(
            stage_decide(stage, cases[i].edited ? INBOX_EDITED : INBOX_APPROVED, cases[i].edited),
            1);
        if (i == 1)
            stage_crash(stage);
        ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
        ASSERT_EQ(stage->done_count, 2);
        ASSERT(strcmp(stage->effects[0].operation, stage->effects[1].operation) != 0);
        stage_free(stage);
    }
}

DB_TEST(parallel_equal_calls_have_operations_of_their_own_after_a_reload)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "!mail {}\n!mail {}\n!mail { }");
    stage_says(stage, "ok");
    stage_run(stage, "mail thrice");
    for (int i = 0; i < 3; i++) {
        stage_crash(stage);
        ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    }
    ASSERT_EQ(stage->done_count, 3);
    ASSERT(strcmp(stage->effects[0].operation, stage->effects[1].operation) != 0);
    ASSERT(strcmp(stage->effects[1].operation, stage->effects[2].operation) != 0);
    ASSERT(strcmp(stage->effects[0].operation, stage->effects[2].operation) != 0);
    stage_free(stage);
}

/* ---- what was shown binds ---- */

DB_TEST(target_that_changed_since_it_was_shown_is_asked_about_again)
{
    struct stage *stage = stage_new(t);
    struct str first;

    stage_says(stage, "!put {\"path\":\"a\"}");
    stage_says(stage, "ok");
    stage_run(stage, "put");
    first = stage_item(stage);
    stage->target = "2";
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_EQ(stage->done_count, 0);
    ASSERT(!str_eq(first, stage_item(stage)));
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_EQ(stage->done_count, 1);
    stage_free(stage);
}

DB_TEST(edit_is_bound_to_what_its_person_saw)
{
    for (int crash = 0; crash < 2; crash++) {
        struct stage *stage = stage_new(t);

        stage_says(stage, "!put {\"path\":\"a\"}");
        stage_says(stage, "ok");
        stage_run(stage, "put");
        stage->target = "2";
        ASSERT_EQ(stage_decide(stage, INBOX_EDITED, "{\"path\":\"b\"}"), 1);
        ASSERT_EQ(stage->done_count, 0);
        /* What is asked now is about the person's arguments, also in another process. */
        ASSERT_STR(get_item(stage, stage_item(stage)).body, "{\"path\":\"b\"}");
        if (crash)
            stage_crash(stage);
        ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
        ASSERT_EQ(stage->done_count, 1);
        ASSERT_TEXT(stage->effects[0].arguments, "{\"path\":\"b\"}");
        stage_free(stage);
    }
}

DB_TEST(edit_of_what_is_as_it_was_shown_acts_at_once)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "!put {\"path\":\"a\"}");
    stage_says(stage, "ok");
    stage_run(stage, "put");
    ASSERT_EQ(stage_decide(stage, INBOX_EDITED, "{\"path\":\"b\"}"), 1);
    ASSERT_EQ(stage->done_count, 1);
    ASSERT_TEXT(stage->effects[0].arguments, "{\"path\":\"b\"}");
    stage_free(stage);
}

/* ---- time, stop, questions ---- */

DB_TEST(expiry_is_an_outcome_of_its_own)
{
    struct stage *stage = stage_new(t);
    struct str item;

    stage_says(stage, "!send {}");
    stage_says(stage, "Too late then.");
    stage_run(stage, "send");
    item = stage_item(stage);
    loop_fake_advance(stage->loop, DAYS(7) - 1000);
    ASSERT_EQ(stage_pending(stage), 1);
    loop_fake_advance(stage->loop, 2000);
    ASSERT_EQ(get_item(stage, item).state, INBOX_EXPIRED);
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "\"expired\"");
    ASSERT_CONTAINS(stage_last(stage, "done"), "Too late then.");
    ASSERT_EQ(stage->done_count, 0);
    stage_free(stage);
}

DB_TEST(clock_that_jumps_expires_what_is_due_by_either_clock)
{
    static const struct {
        int64_t jump, pending, expired; /* ms after which it still waits, and has expired */
    } cases[] = {
        { DAYS(8), -1, 10 },
        { DAYS(6), DAYS(1) - 1000, 2000 },
        { -DAYS(30), DAYS(7) - 1000, 2000 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stage *stage = stage_new(t);
        struct str item;

        stage_says(stage, "!send {}");
        stage_says(stage, "Too late then.");
        stage_run(stage, "send");
        item = stage_item(stage);
        clock_set_wall(&stage->clock, clock_wall_ms(&stage->clock.clock) + cases[i].jump);
        if (cases[i].pending > 0) {
            loop_fake_advance(stage->loop, cases[i].pending);
            ASSERT_EQ(stage_pending(stage), 1);
        }
        loop_fake_advance(stage->loop, cases[i].expired);
        ASSERT_EQ(get_item(stage, item).state, INBOX_EXPIRED);
        ASSERT_CONTAINS(stage_last(stage, "done"), "Too late then.");
        ASSERT_EQ(stage->done_count, 0);
        stage_free(stage);
    }
}

DB_TEST(expiry_comes_while_the_process_was_down)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage_says(stage, "!send {}");
    stage_says(stage, "Too late then.");
    id = stage_run(stage, "send");
    clock_advance(&stage->clock, DAYS(8));
    stage_crash(stage);
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, id), "done");
    stage_free(stage);
}

DB_TEST(cancel_withdraws_what_was_asked)
{
    struct stage *stage = stage_new(t);
    struct str id, item;

    stage_says(stage, "!send {\"n\":1}\n!send {\"n\":2}\n!query {}");
    id = stage_run(stage, "send");
    item = stage_item(stage);
    ASSERT_EQ(stage_pending(stage), 3);
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    ASSERT_EQ(stage_pending(stage), 0);
    ASSERT_EQ(get_item(stage, item).state, INBOX_WITHDRAWN);
    ASSERT_TEXT(stage_status(stage, id), "cancelled");
    ASSERT_FAILS(run_decide(stage->runner, item,
                            &(struct inbox_decision){ .state = INBOX_APPROVED, .by = STR("owner") },
                            &t->err),
                 ERR_CONFLICT);
    ASSERT_EQ(stage->done_count, 0);
    stage_free(stage);
}

DB_TEST(limit_that_ends_the_run_withdraws_what_was_asked)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("go"), .max_tool_calls = 1 };

    stage_says(stage, "!send {}\n!note {\"n\":1}\n!note {\"n\":2}");
    stage_run_with(stage, &request);
    ASSERT_EQ(stage_pending(stage), 0);
    ASSERT_CONTAINS(stage_last(stage, "error"), "budget_exceeded");
    ASSERT_TEXT(stage_status(stage, stage->info.run_id), "failed");
    stage_free(stage);
}

DB_TEST(answer_of_a_person_is_the_result_of_the_question)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "!query {}");
    stage_says(stage, "The blue one.");
    stage_run(stage, "which");
    ASSERT_TEXT(stage_story(stage), "init tool_use waiting");
    ASSERT_CONTAINS(stage_last(stage, "waiting"), "\"title\":\"Which?\"");
    ASSERT_EQ(runner_loaded(stage->runner), 0);
    stage_crash(stage);
    ASSERT_EQ(stage_decide(stage, INBOX_ANSWERED, "\"blue\""), 1);
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "\"output\":{\"answer\":\"blue\"}");
    ASSERT_CONTAINS(stage->last_request, "blue");
    stage_free(stage);
}

/* A number is one of the choices, or a choice's own text, or a slip. */
DB_TEST(answer_by_number_is_one_of_the_choices)
{
    static const struct {
        const char *answer, *says; /* NULL: it is taken */
    } cases[] = {
        { "0", "there is no choice 0: 1 is \"red\", 2 is \"blue\", 3 is \"7\"" },
        { "\"0\"", "there is no choice 0" },
        { "\" 0 \"", "there is no choice 0" },
        { "-1", "there is no choice -1" },
        { "4", "there is no choice 4" },
        { "\"4\"", "there is no choice 4" },
        { "1", NULL },
        { "3", NULL },
        { "\"3\"", NULL },
        { "7", NULL }, /* the third one's text */
        { "\"7\"", NULL },
        { "\"green\"", NULL },
        { "\"0 of them\"", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stage *stage = stage_new(t);
        int r;

        stage->question = STR("{\"question\":\"Which?\",\"choices\":[\"red\",\"blue\",\"7\"]}");
        stage_says(stage, "!query {}");
        stage_says(stage, "I see.");
        stage_run(stage, "which");
        r = stage_decide(stage, INBOX_ANSWERED, cases[i].answer);
        if (cases[i].says) {
            ASSERT(r < 0);
            ASSERT_CONTAINS(test_err_text(t), cases[i].says);
            err_reset(&t->err);
            r = stage_decide(stage, INBOX_ANSWERED, "2");
        }
        ASSERT_EQ(r, 1);
        stage_free(stage);
    }
}

/* What is kept of it is nested deeper than what came: it must be readable all the same. */
DB_TEST(answer_nested_as_deep_as_json_may_be_is_kept_or_refused)
{
    for (int depth = LIMIT_JSON_DEPTH - 4; depth <= LIMIT_JSON_DEPTH; depth++) {
        struct stage *stage = stage_new(t);
        AUTO_BUF answer = BUF_INIT(1024);
        struct str id;
        int r;

        for (int i = 0; i < 2 * depth; i++)
            buf_add_char(&answer, i < depth ? '[' : ']');
        stage_says(stage, "!query {\"question\":\"how deep?\"}");
        stage_says(stage, "I see.");
        id = stage_run(stage, "ask");
        r = stage_decide(stage, INBOX_ANSWERED, buf_text(&answer));
        if (r < 0) {
            ASSERT_CONTAINS(test_err_text(t), "deep");
            err_reset(&t->err);
            ASSERT_EQ(stage_decide(stage, INBOX_REJECTED, NULL), 1);
        }
        ASSERT_TEXT(stage_status(stage, id), "done");
        stage_crash(stage); /* and read back */
        stage_settle(stage);
        stage_free(stage);
    }
}

DB_TEST(rejected_question_fails_with_the_reason)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "!query {}");
    stage_says(stage, "Fine.");
    stage_run(stage, "which");
    ASSERT_EQ(stage_decide(stage, INBOX_REJECTED, NULL), 1);
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "not today");
    stage_free(stage);
}
