/* A yes that covers more than one call: grants, what they cover and what is never granted; what is
 * dangerous.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "change/taint.h"
#include "stage.h"

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
    ASSERT_EQ(stage_pending(stage), 1); /* other arguments */
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    stage_run(stage, "send again");
    ASSERT_EQ(stage->done_count, 3);
    ASSERT_EQ(stage_pending(stage), 1); /* another run */
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
    ASSERT_EQ(stage_pending(stage), 1);
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
    ASSERT_EQ(stage_pending(stage), 1); /* the model hears nothing of it: a person is asked */
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
    ASSERT_EQ(stage_pending(stage), 1);
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
    ASSERT_EQ(stage_pending(stage), 1);
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
        ASSERT_EQ(stage_pending(stage), 1);
        if (words[i].needs) {
            ASSERT_FAILS(stage_decide_with(stage, said), ERR_CONFIRMATION_REQUIRED);
            ASSERT_CONTAINS(t->err.text, "Text that others wrote was read");
            err_reset(&t->err);
            ASSERT_EQ(stage_pending(stage), 1);
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
    ASSERT_EQ(stage_pending(stage), 1); /* the same again asks again */
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
    ASSERT_EQ(stage_pending(stage), 1);
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
    ASSERT_EQ(stage_pending(stage), 1);
    stage_free(stage);
}
