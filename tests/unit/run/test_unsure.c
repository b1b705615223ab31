/* A sender whose acknowledgement is lost: the message may be there or not. Nobody but the person
 * can know, so the person is asked, and nothing is sent a second time without that word.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stage.h"

#include "agent/inbox.h"

/* A person said yes, it was sent, and nobody said so. */
static struct str send_unsurely(struct stage *stage)
{
    struct str id;

    stage_says(stage, "!send {\"to\":\"ada\"}");
    stage_says(stage, "I told her.");
    stage->unsure = true;
    id = stage_run(stage, "tell ada");
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    stage_settle(stage);
    stage->unsure = false;
    return id;
}

static enum inbox_kind kind_asked(struct stage *stage)
{
    struct test *t = stage->t;
    struct inbox_item item;

    ASSERT_OK(inbox_get(stage->domain, stage_item(stage), &t->arena, &item, &t->err));
    return item.kind;
}

DB_TEST(a_person_is_asked_and_nothing_is_sent_again_by_itself)
{
    struct stage *stage = stage_new(t);
    struct str id = send_unsurely(stage);

    ASSERT_EQ(stage->done_count, 1);
    ASSERT_EQ(kind_asked(stage), INBOX_UNKNOWN_EFFECT);
    ASSERT_TEXT(stage_status(stage, id), "waiting");
    ASSERT(!stage_last(stage, "tool_result")); /* the model hears nothing before */
    ASSERT_EQ(stage->model_calls, 1);
    loop_fake_advance(stage->loop, 24 * 3600 * 1000);
    stage_settle(stage);
    ASSERT_EQ(stage->done_count, 1);
    for (int i = 0; i < 2; i++) {
        stage_restart(stage);
        stage_settle(stage);
        ASSERT_EQ(stage->done_count, 1);
        ASSERT_EQ(kind_asked(stage), INBOX_UNKNOWN_EFFECT);
    }
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    ASSERT_EQ(stage->done_count, 1);
    stage_free(stage);
}

DB_TEST(a_person_who_says_it_was_sent_ends_it_there)
{
    struct stage *stage = stage_new(t);
    struct str id = send_unsurely(stage);

    ASSERT_EQ(stage_decide_with(stage, (struct inbox_decision){ .state = INBOX_REJECTED,
                                                                .by = STR("owner"),
                                                                .reason = STR("it was sent") }),
              1);
    stage_settle(stage);
    ASSERT_EQ(stage->done_count, 1);
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "effect_unknown");
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "The person says: it was sent");
    ASSERT_CONTAINS(stage->last_request, "it was sent"); /* and so does the model */
    ASSERT_TEXT(stage_status(stage, id), "done");
    stage_free(stage);
}

DB_TEST(a_person_who_says_again_has_it_sent_once_more)
{
    struct stage *stage = stage_new(t);
    struct str id = send_unsurely(stage);

    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    stage_settle(stage);
    ASSERT_EQ(stage->done_count, 2);
    ASSERT_TEXT(stage->effects[1].tool, "send");
    ASSERT_TEXT(stage->effects[1].arguments, stage->effects[0].arguments);
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "\"completed\"");
    ASSERT_TEXT(stage_status(stage, id), "done");
    stage_free(stage);
}

/* Lost a second time: asked a second time. */
DB_TEST(every_lost_acknowledgement_is_a_question_of_its_own)
{
    struct stage *stage = stage_new(t);
    struct str first, id = send_unsurely(stage);

    first = stage_item(stage);
    stage->unsure = true;
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    stage_settle(stage);
    ASSERT_EQ(stage->done_count, 2);
    ASSERT_EQ(kind_asked(stage), INBOX_UNKNOWN_EFFECT);
    ASSERT(!str_eq(stage_item(stage), first));
    ASSERT_EQ(stage_decide_with(
                  stage, (struct inbox_decision){ .state = INBOX_REJECTED, .by = STR("owner") }),
              1);
    stage_settle(stage);
    ASSERT_EQ(stage->done_count, 2);
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "do not repeat it");
    ASSERT_TEXT(stage_status(stage, id), "done");
    stage_free(stage);
}

/* With a key the other side tells one from two: that is the tool's to use, nobody is asked. */
DB_TEST(a_sender_with_a_key_fails_without_a_question)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage_says(stage, "!mail {\"to\":\"ada\"}");
    stage_says(stage, "It failed.");
    stage->unsure = true;
    id = stage_run(stage, "write to ada");
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    stage_settle(stage);
    ASSERT_EQ(stage->done_count, 1);
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "effect_unknown");
    ASSERT_TEXT(stage_status(stage, id), "done");
    stage_free(stage);
}

/* One that can be told twice is told again, under the name that the other side knows it by. */
DB_TEST(keyed_call_that_was_under_way_goes_on_under_its_operation)
{
    struct stage *stage = stage_new(t);
    struct str operation, id;

    stage_says(stage, "!note {}");
    stage_says(stage, "ok");
    stage->hold_tools = true;
    id = stage_run(stage, "note it");
    ASSERT(stage->jobs[0]);
    operation = arena_str(&t->arena, tool_job_operation_id(stage->jobs[0]));
    ASSERT(operation.n > 0);
    stage->hold_tools = false;
    stage_crash(stage);
    stage_settle(stage);
    ASSERT_EQ(stage->done_count, 1);
    ASSERT_STR(operation, stage->effects[0].operation);
    ASSERT_TEXT(stage_status(stage, id), "done");
    stage_free(stage);
}
