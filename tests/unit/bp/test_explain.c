/* SPDX-License-Identifier: MIT */
#include "bp/explain.h"

#include "bp/programs/approval_int.h"
#include "bp/programs/programs_int.h"
#include "harness/test.h"

/* A risky call that waits for its answer. */
static struct bp_engine *waiting_engine(void)
{
    struct bp_engine *e = bp_new(&bp_program_approval, 3, NULL);

    bp_offer(e, &(struct bp_event){ .type = EV_PROMPT }, NULL);
    bp_offer(e, &(struct bp_event){ .type = EV_CALL, .key = 1, .bits = RISKY }, NULL);
    bp_offer(e, &(struct bp_event){ .type = EV_THOUGHT, .bits = MORE }, NULL);
    return e;
}

TEST(why_can_this_not_happen_has_an_answer_with_names)
{
    struct bp_engine *e = waiting_engine();
    AUTO_BUF text = BUF_INIT(1 << 16);
    struct bp_why why;

    bp_explain(e, &(struct bp_event){ .type = EV_ACT, .key = 1 }, &t->arena, &why);
    ASSERT_EQ(why.reason, BP_BLOCKED);
    ASSERT_EQ(why.requested_count, 1);
    ASSERT_EQ(why.blocked_count, 1);
    bp_why_text(&bp_program_approval, &why, &text);
    ASSERT_TEXT(buf_text(&text),
                "act(1, risky) is blocked by ask_first(1) at 1 (waits for the answer)\n"
                "  requested by call(1) at 1 (wants to act)\n"
                "  blocked by ask_first(1) at 1 (waits for the answer)\n");
    bp_free(e);
}

TEST(an_event_that_may_happen_or_that_nobody_asks_for_is_told_too)
{
    struct bp_engine *e = waiting_engine();
    struct bp_why why;

    bp_explain(e, &(struct bp_event){ .type = EV_ANSWER, .key = 1 }, &t->arena, &why);
    ASSERT_EQ(why.reason, BP_FINE);
    ASSERT_EQ(why.waited_count, 2);
    bp_explain(e, &(struct bp_event){ .type = EV_GIVE_UP }, &t->arena, &why);
    ASSERT_EQ(why.reason, BP_NOT_REQUESTED);
    bp_explain(e, &(struct bp_event){ .type = EV_ANSWER, .key = 2 }, &t->arena, &why);
    ASSERT_EQ(why.reason, BP_KEY_NOT_BORN);
    bp_explain(e, &(struct bp_event){ .type = 200 }, &t->arena, &why);
    ASSERT_EQ(why.reason, BP_NO_SUCH_TYPE);
    bp_explain(e, &(struct bp_event){ .type = EV_OBSERVE }, &t->arena, &why);
    ASSERT_EQ(why.reason, BP_BLOCKED);
    ASSERT_TEXT(why.blocked[0].thread->name, "call");
    bp_free(e);
}

TEST(what_comes_next_is_marked)
{
    struct bp_engine *e = bp_new(&bp_program_approval, 3, NULL);
    AUTO_BUF text = BUF_INIT(1 << 16);
    struct bp_why why;

    bp_force(e, &(struct bp_event){ .type = EV_PROMPT }, NULL);
    bp_explain(e, &(struct bp_event){ .type = EV_THINK }, &t->arena, &why);
    ASSERT(why.next);
    bp_why_text(&bp_program_approval, &why, &text);
    ASSERT_CONTAINS(buf_text(&text), "think is possible, and is next\n");
    bp_free(e);
}

TEST(a_snapshot_shows_every_instance_by_priority)
{
    struct bp_engine *e = waiting_engine();
    AUTO_BUF text = BUF_INIT(1 << 16);

    bp_snapshot_text(e, &text);
    ASSERT_CONTAINS(buf_text(&text),
                    "call(1) at 1 (wants to act), requests act(1, risky), waits for denied of its"
                    " key; cancel, kill, blocks observe, done\n");
    ASSERT_CONTAINS(buf_text(&text), "no_danger at 0, blocks act where dangerous\n");
    ASSERT(strstr(buf_text(&text), "ask_first(1)") < strstr(buf_text(&text), "loop at"));
    bp_free(e);
}

TEST(explanations_and_snapshots_are_json_too)
{
    struct bp_engine *e = waiting_engine();
    struct json_object *o, *field, *first;
    struct bp_why why;

    bp_explain(e, &(struct bp_event){ .type = EV_ACT, .key = 1 }, &t->arena, &why);
    o = bp_why_json(&bp_program_approval, &why);
    ASSERT(json_object_object_get_ex(o, "possible", &field));
    ASSERT(!json_object_get_boolean(field));
    ASSERT(json_object_object_get_ex(o, "blocked", &field));
    first = json_object_array_get_idx(field, 0);
    ASSERT(json_object_object_get_ex(first, "doing", &field));
    ASSERT_TEXT(json_object_get_string(field), "waits for the answer");
    ASSERT(json_object_object_get_ex(o, "reason", &field));
    ASSERT_CONTAINS(json_object_get_string(field), "is blocked by ask_first(1)");
    json_object_put(o);
    o = bp_snapshot_json(e);
    first = json_object_array_get_idx(o, 0);
    ASSERT(json_object_object_get_ex(first, "thread", &field));
    ASSERT_TEXT(json_object_get_string(field), "ask_first");
    ASSERT(json_object_object_get_ex(first, "waits", &field));
    ASSERT_EQ(json_object_array_length(field), 2);
    json_object_put(o);
    bp_free(e);
}
