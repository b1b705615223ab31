/* Approvals and the inbox: asking, deciding once, editing, granting, expiring, withdrawing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json.h"
#include "change/taint.h"
#include "stage.h"

static struct inbox_item get_item(struct stage *stage, struct str id)
{
    struct test *t = stage->t;
    struct inbox_item item;

    ASSERT_OK(inbox_get(stage->domain, id, &t->arena, &item, &t->err));
    return item;
}

static size_t pending(struct stage *stage)
{
    struct test *t = stage->t;
    int64_t n;

    ASSERT_OK(inbox_count_pending(stage->domain, &n, &t->err));
    return (size_t)n;
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
        ASSERT_EQ(pending(stage), 0);
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
    ASSERT_EQ(pending(stage), 1);
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
        ASSERT_EQ(pending(stage), 1);
        ASSERT_OK(run_cancel(stage->runner, id, &t->err));
        stage_settle(stage);
        ASSERT_EQ(pending(stage), 0);
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
    ASSERT_EQ(pending(stage), 0);
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

/* ---- grants ---- */

DB_TEST(yes_for_this_run_covers_exactly_this_call_in_this_run_only)
{
    struct stage *stage = stage_new(t);
    struct inbox_decision yes = { .state = INBOX_APPROVED, .scope = INBOX_FOR_RUN };

    stage_says(stage, "!send {\"n\":1}");
    stage_says(stage, "!send { \"n\": 1 }");
    stage_says(stage, "!send {\"n\":2}");
    stage_says(stage, "ok");
    stage_says(stage, "!send {\"n\":1}");
    stage_run(stage, "send");
    ASSERT_EQ(stage_decide_with(stage, yes), 1);
    ASSERT_EQ(stage->done_count, 2);
    ASSERT_EQ(pending(stage), 1); /* other arguments */
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    stage_run(stage, "send again");
    ASSERT_EQ(stage->done_count, 3);
    ASSERT_EQ(pending(stage), 1); /* another run */
    stage_free(stage);
}

static bool take_id(void *arg, const struct approval_grant *grant)
{
    snprintf(arg, UUID_TEXT_SIZE, "%.*s", STR_ARG(grant->id));
    return true;
}

static void revoke_all(struct stage *stage)
{
    struct test *t = stage->t;
    char id[UUID_TEXT_SIZE] = "";

    ASSERT_OK(grant_each(stage->domain, take_id, id, &t->err));
    ASSERT_OK(loop_unit_begin(stage->loop, stage->domain, &t->err));
    ASSERT_EQ(grant_revoke(stage->domain, str_from(id), 1, &t->err), 1);
    ASSERT_OK(loop_unit_end(stage->loop, true, &t->err));
}

static void revoke_and_ask(struct test *t, enum inbox_scope scope)
{
    struct stage *stage = stage_new(t);
    struct inbox_decision yes = { .state = INBOX_APPROVED, .scope = scope };

    stage_says(stage, "!send {\"n\":1}");
    stage_says(stage, "!send {\"n\":1}\n!query {}");
    stage_says(stage, "!send {\"n\":1}");
    stage_run(stage, "send");
    ASSERT_EQ(stage_decide_with(stage, yes), 1);
    ASSERT_EQ(stage->done_count, 2);
    revoke_all(stage);
    ASSERT_EQ(stage_decide(stage, INBOX_ANSWERED, "\"go on\""), 1);
    ASSERT_EQ(stage->done_count, 2);
    ASSERT_EQ(pending(stage), 1);
    stage_free(stage);
}

DB_TEST(grant_of_a_run_that_was_revoked_asks_again_in_that_run)
{
    revoke_and_ask(t, INBOX_FOR_RUN);
}

DB_TEST(grant_for_always_that_was_revoked_asks_again)
{
    revoke_and_ask(t, INBOX_ALWAYS);
}

/* It waits for its turn behind a call that acts alone: what is true when it acts counts. */
DB_TEST(grant_that_was_revoked_before_the_call_acts_does_not_cover_it)
{
    struct stage *stage = stage_new(t);
    struct inbox_decision yes = { .state = INBOX_APPROVED, .scope = INBOX_ALWAYS };

    stage_says(stage, "!send {\"n\":1}");
    stage_says(stage, "!alone {}\n!send {\"n\":1}");
    stage_says(stage, "I see.");
    stage_run(stage, "send");
    stage->hold_tools = true;
    ASSERT_EQ(stage_decide_with(stage, yes), 1);
    stage_finish(stage); /* the first; now `alone` acts */
    revoke_all(stage);
    stage_finish(stage);
    ASSERT_EQ(stage->done_count, 2);
    ASSERT_EQ(pending(stage), 1); /* the model hears nothing of it: a person is asked */
    stage->hold_tools = false;
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_EQ(stage->done_count, 3);
    ASSERT_CONTAINS(stage_last(stage, "done"), "I see.");
    stage_free(stage);
}

/* The same, but the person says no, or the daemon ends while it is asked. */
DB_TEST(call_that_a_grant_no_longer_covers_can_be_refused_after_a_restart)
{
    struct stage *stage = stage_new(t);
    struct inbox_decision yes = { .state = INBOX_APPROVED, .scope = INBOX_ALWAYS };

    stage_says(stage, "!send {\"n\":1}");
    stage_says(stage, "!alone {}\n!send {\"n\":1}");
    stage_says(stage, "I see.");
    stage_run(stage, "send");
    stage->hold_tools = true;
    ASSERT_EQ(stage_decide_with(stage, yes), 1);
    stage_finish(stage);
    revoke_all(stage);
    stage_finish(stage);
    stage->hold_tools = false;
    stage_restart(stage);
    ASSERT_EQ(pending(stage), 1);
    ASSERT_EQ(stage_decide(stage, INBOX_REJECTED, NULL), 1);
    ASSERT_EQ(stage->done_count, 2);
    ASSERT_CONTAINS(stage_last(stage, "done"), "I see.");
    stage_free(stage);
}

/* The person said yes to it before that text was there: the same call is another question now. */
static void strangers_text_asks_again(struct test *t, enum inbox_scope scope)
{
    struct stage *stage = stage_new(t);
    struct inbox_decision yes = { .state = INBOX_APPROVED, .scope = scope, .anyway = true };
    AUTO_ARENA arena = ARENA_INIT;
    struct inbox_item item;

    stage_says(stage, "!send {\"n\":1}");
    stage_says(stage, "!send {\"n\":1}");
    stage_says(stage, "!fetch {}");
    stage_says(stage, "!send {\"n\":1}");
    stage_says(stage, "!send {\"n\":1}");
    stage_says(stage, "ok");
    stage_run(stage, "send");
    ASSERT_EQ(stage_decide_with(stage, yes), 1);
    ASSERT_EQ(stage->done_count, 3); /* twice, and what a stranger wrote is read */
    ASSERT_EQ(pending(stage), 1);
    ASSERT_OK(inbox_get(stage->domain, stage_item(stage), &arena, &item, &t->err));
    ASSERT(taint_warns(item.taint));
    ASSERT_EQ(stage_decide_with(stage, yes), 1);
    ASSERT_EQ(stage->done_count, 5); /* now they were warned of it */
    ASSERT_CONTAINS(stage_last(stage, "done"), "ok");
    stage_free(stage);
}

DB_TEST(grant_of_a_run_does_not_cover_what_follows_a_strangers_text)
{
    strangers_text_asks_again(t, INBOX_FOR_RUN);
}

DB_TEST(grant_for_always_does_not_cover_what_follows_a_strangers_text)
{
    strangers_text_asks_again(t, INBOX_ALWAYS);
}

/* ---- danger ---- */

/* Whatever door a yes comes through, it is one of these. */
DB_TEST(yes_to_what_is_dangerous_needs_a_second_word)
{
    static const struct {
        enum inbox_state state;
        const char *answer;
        bool needs;
    } words[] = { { INBOX_APPROVED, NULL, true },
                  { INBOX_EDITED, "{\"n\":2}", true },
                  { INBOX_REJECTED, NULL, false } };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct stage *stage = stage_new(t);
        struct inbox_decision said = { .state = words[i].state,
                                       .answer = str_from(words[i].answer) };

        stage_says(stage, "!fetch {}");
        stage_says(stage, "!send {\"n\":1}");
        stage_says(stage, "ok");
        stage_run(stage, "send");
        ASSERT_EQ(pending(stage), 1);
        if (words[i].needs) {
            ASSERT_FAILS(stage_decide_with(stage, said), ERR_CONFIRMATION_REQUIRED);
            ASSERT_CONTAINS(t->err.text, "Text that others wrote was read");
            err_reset(&t->err);
            ASSERT_EQ(pending(stage), 1);
            ASSERT_EQ(stage->done_count, 1);
            said.anyway = true;
        }
        ASSERT_EQ(stage_decide_with(stage, said), 1);
        ASSERT_EQ(stage->done_count, words[i].needs ? 2 : 1);
        said.anyway = false;
        stage_free(stage);
    }
}

DB_TEST(what_is_always_asked_about_is_never_granted)
{
    static const enum inbox_scope scopes[] = { INBOX_FOR_RUN, INBOX_ALWAYS };
    struct stage *stage = stage_new(t);

    stage_says(stage, "!post {}");
    stage_says(stage, "!post {}");
    stage_says(stage, "ok");
    stage_run(stage, "post");
    for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
        struct inbox_decision yes = { .state = INBOX_APPROVED, .scope = scopes[i] };

        ASSERT_FAILS(stage_decide_with(stage, yes), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(t->err.text, "post is decided each time");
        err_reset(&t->err);
        ASSERT_EQ(stage->done_count, 0);
    }
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_EQ(pending(stage), 1); /* the same again asks again */
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_EQ(stage->done_count, 2);
    stage_free(stage);
}

DB_TEST(item_that_offers_no_grant_takes_none)
{
    struct stage *stage = stage_new(t);
    struct inbox_decision yes = { .state = INBOX_APPROVED,
                                  .scope = INBOX_ALWAYS,
                                  .by = STR("owner") };

    stage_says(stage, "!send {}");
    stage_says(stage, "ok");
    stage_run(stage, "send");
    stage_alter(stage, "UPDATE inbox SET pattern = NULL"); /* as one of an earlier version */
    ASSERT_FAILS(run_decide(stage->runner, stage_item(stage), &yes, &t->err), ERR_BAD_REQUEST);
    err_reset(&t->err);
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_EQ(stage->done_count, 1);
    stage_free(stage);
}

DB_TEST(always_covers_this_agent_and_this_exact_pattern)
{
    struct stage *stage = stage_new(t);
    struct inbox_decision yes = { .state = INBOX_APPROVED, .scope = INBOX_ALWAYS };

    stage_says(stage, "!send {\"n\":1}");
    stage_says(stage, "ok");
    stage_says(stage, "!send { \"n\": 1 }");
    stage_says(stage, "ok");
    stage_says(stage, "!send {\"n\":2}");
    stage_run(stage, "send");
    ASSERT_EQ(stage_decide_with(stage, yes), 1);
    stage_run(stage, "send the same");
    ASSERT_EQ(stage->done_count, 2);
    stage_run(stage, "send another");
    ASSERT_EQ(stage->done_count, 2);
    ASSERT_EQ(pending(stage), 1);
    stage_free(stage);
}

DB_TEST(pattern_of_a_star_in_arguments_grants_nothing_else)
{
    struct stage *stage = stage_new(t);
    struct inbox_decision yes = { .state = INBOX_APPROVED, .scope = INBOX_ALWAYS };

    stage_says(stage, "!send {\"*\":\"*\"}");
    stage_says(stage, "!send {\"n\":1}");
    stage_run(stage, "send");
    ASSERT_EQ(stage_decide_with(stage, yes), 1);
    ASSERT_EQ(stage->done_count, 1);
    ASSERT_EQ(pending(stage), 1);
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
    ASSERT_EQ(pending(stage), 1);
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
            ASSERT_EQ(pending(stage), 1);
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
    ASSERT_EQ(pending(stage), 3);
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    ASSERT_EQ(pending(stage), 0);
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
    ASSERT_EQ(pending(stage), 0);
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

/* ---- previews under way ---- */

DB_TEST(nothing_is_asked_before_its_preview_is_there)
{
    struct stage *stage = stage_new(t);

    stage->hold_previews = true;
    stage_says(stage, "!put {}");
    stage_run(stage, "put");
    ASSERT_TEXT(stage_story(stage), "init");
    ASSERT_EQ(pending(stage), 0);
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
    ASSERT_EQ(pending(stage), 0);
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
    ASSERT_EQ(pending(stage), 0);
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
        ASSERT_EQ(pending(stage), 1);
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
        ASSERT_EQ(pending(stage), 1);
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
