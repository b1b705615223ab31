/* The embedder's own function as a provider, and through it what every provider's words become.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "model_rig.h"

/* What the function does when it is called. */
struct play {
    void (*act)(struct play *play);
    int result; /* of the function */
    const struct model_request *request;
    const struct model_sink *sink;
    void *arg;
    struct err *err;
    unsigned calls;
};

static int play_call(void *call_arg, const struct model_request *request,
                     const struct model_sink *sink, void *arg, struct err *err)
{
    struct play *play = call_arg;

    play->calls++;
    play->request = request;
    play->sink = sink;
    play->arg = arg;
    play->err = err;
    if (play->act)
        play->act(play);
    return play->result;
}

static struct play *current;

static void use_play(struct model_rig *rig, struct model_gateway_config *config)
{
    (void)config;
    rig->spec.call = play_call;
    rig->spec.call_arg = current;
}

static void ask_play(struct test *t, struct ask *ask, void (*act)(struct play *play))
{
    struct play play = { .act = act };
    struct model_rig rig;

    *ask = ASK_INIT;
    current = &play;
    model_rig_open(&rig, t, "call", NULL, use_play);
    ask_run(ask, &rig, NULL);
    ASSERT_EQ(play.calls, 1);
    model_rig_close(&rig);
}

static void say(struct play *play, const char *text)
{
    play->sink->on_delta(play->arg, MODEL_DELTA_TEXT, str_from(text));
}

static void done(struct play *play, struct model_reply reply)
{
    play->sink->on_done(play->arg, &reply, NULL, -1);
}

/* ---- answers ---- */

static void answer_whole(struct play *play)
{
    if (play->request->message_count != 1 || !str_is(play->request->messages[0].text, "Hello"))
        FAIL("another request");
    done(play, (struct model_reply){ .text = STR("Hi there"),
                                     .thinking = STR("hm"),
                                     .model = STR("mine"),
                                     .usage = { .input_tokens = 7, .output_tokens = 2 } });
}

TEST(an_answer_from_inside_the_call_is_an_answer)
{
    struct ask ask;

    ask_play(t, &ask, answer_whole);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "Hi there");
    ASSERT_STR(ask.thinking, "hm");
    ASSERT_STR(ask.model, "mine");
    ASSERT_TEXT(buf_text(&ask.deltas), "H:hm|T:Hi there|");
    ASSERT_EQ(ask.usage.input_tokens, 7);
    ASSERT(!ask.usage.estimated);
    ask_release(&ask);
}

static void answer_in_deltas(struct play *play)
{
    say(play, "One ");
    say(play, "two");
    done(play, (struct model_reply){ .text = STR("One two three") });
}

TEST(what_the_reply_holds_beyond_its_deltas_is_handed_over)
{
    struct ask ask;

    ask_play(t, &ask, answer_in_deltas);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "One two three");
    ASSERT_TEXT(buf_text(&ask.deltas), "T:One |T:two|T: three|");
    ASSERT(ask.usage.estimated);
    ask_release(&ask);
}

static void answer_otherwise(struct play *play)
{
    say(play, "One ");
    done(play, (struct model_reply){ .text = STR("Two") });
}

TEST(a_reply_that_contradicts_its_deltas_is_a_failure)
{
    struct ask ask;

    ask_play(t, &ask, answer_otherwise);
    ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(ask_error(&ask), "does not begin with the deltas");
    ask_release(&ask);
}

static void fail_later(struct play *play)
{
    struct err err = ERR_INIT;

    err_set(&err, ERR_RATE_LIMITED, "not now");
    play->sink->on_done(play->arg, NULL, &err, 5000);
}

static void refuse(struct play *play)
{
    play->result = err_set(play->err, ERR_BAD_REQUEST, "not like this");
}

static void refuse_silently(struct play *play)
{
    play->result = -1;
}

static void say_nothing_at_all(struct play *play)
{
    play->sink->on_done(play->arg, NULL, NULL, -1);
}

TEST(a_call_fails_in_each_of_its_ways)
{
    struct ask ask;

    ask_play(t, &ask, fail_later);
    ASSERT_ASK_FAILED(&ask, ERR_RATE_LIMITED);
    ASSERT_EQ(ask.retry_after_ms, 5000);
    ask_release(&ask);
    ask_play(t, &ask, refuse);
    ASSERT_ASK_FAILED(&ask, ERR_BAD_REQUEST);
    ASSERT_CONTAINS(ask_error(&ask), "not like this");
    ask_release(&ask);
    ask_play(t, &ask, refuse_silently);
    ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
    ask_release(&ask);
    ask_play(t, &ask, say_nothing_at_all);
    ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
    ask_release(&ask);
}

TEST(an_answer_that_comes_after_cancel_or_the_end_is_let_go)
{
    struct play play = { .act = NULL };
    struct model_rig rig;
    struct ask one = ASK_INIT, two = ASK_INIT, early = ASK_INIT;
    void *first;

    current = &play;
    model_rig_open(&rig, t, "call", NULL, use_play);
    /* Before the function was even called. */
    ask_start(&early, &rig, NULL);
    model_cancel(early.x);
    rig_wait(&rig);
    ASSERT_ASK_FAILED(&early, ERR_CANCELLED);
    ASSERT_EQ(play.calls, 0);
    ask_start(&one, &rig, NULL);
    while (play.calls == 0) {
        loop_stop(rig.loop);
        ASSERT_OK(loop_run(rig.loop, &t->err));
    }
    model_cancel(one.x);
    rig_wait(&rig);
    ASSERT_ASK_FAILED(&one, ERR_CANCELLED);
    first = play.arg;
    ask_start(&two, &rig, NULL);
    while (play.calls == 1) {
        loop_stop(rig.loop);
        ASSERT_OK(loop_run(rig.loop, &t->err));
    }
    model_gateway_free(TAKE(rig.gateway));
    ASSERT_ASK_FAILED(&two, ERR_CANCELLED);
    play.sink->on_delta(first, MODEL_DELTA_TEXT, STR("late"));
    play.sink->on_done(first, &(struct model_reply){ .text = STR("late") }, NULL, -1);
    play.sink->on_done(play.arg, &(struct model_reply){ .text = STR("late") }, NULL, -1);
    ask_release(&early);
    ask_release(&one);
    ask_release(&two);
    model_rig_close(&rig);
}

TEST(a_spec_without_a_function_is_refused)
{
    static const struct model_message hello = { .role = MODEL_USER, .text = { "Hello", 5 } };
    static const struct model_request request = { .model_id = "m",
                                                  .messages = &hello,
                                                  .message_count = 1 };
    static const struct model_sink sink = { NULL, NULL };
    struct model_exchange *x;
    struct model_rig rig;

    model_rig_open(&rig, t, "call", NULL, NULL);
    ASSERT_FAILS(model_start(rig.gateway, &request, &sink, NULL, &x, &t->err), ERR_BAD_REQUEST);
    model_rig_close(&rig);
}

/* ---- what becomes of a provider's words ---- */

static void cut_characters(struct play *play)
{
    say(play, "a\360\237");
    say(play, "\220");
    say(play, "\255b\303");
    say(play, "c\377");
    say(play, "d\342\202");
    done(play, (struct model_reply){ .stop = MODEL_STOP_END });
}

TEST(characters_that_are_cut_between_deltas_are_put_together)
{
    struct ask ask;

    ask_play(t, &ask, cut_characters);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "a\360\237\220\255b\357\277\275c\357\277\275d\357\277\275");
    ASSERT_TEXT(buf_text(&ask.deltas), "T:a|T:\360\237\220\255b|T:\357\277\275c\357\277\275|T:d|"
                                       "T:\357\277\275|");
    ask_release(&ask);
}

static void odd_calls(struct play *play)
{
    static const struct model_call calls[] = {
        { .id = { "same", 4 }, .name = { "a", 1 }, .arguments = { "", 0 } },
        { .id = { "same", 4 }, .name = { "b", 1 }, .arguments = { " {\"x\":1}\n", 9 } },
        { .id = { "", 0 },
          .name = { "c", 1 },
          .arguments = { "{}", 2 },
          .problem = { "can't", 5 } },
        { .id = { "with space", 10 }, .name = { "d\377", 2 }, .arguments = { "null", 4 } },
        { .id = { "\n", 1 }, .name = { "e", 1 }, .arguments = { "{\"a\":\"\377\"}", 9 } },
    };

    done(play, (struct model_reply){ .calls = calls, .call_count = 5, .stop = MODEL_STOP_CALLS });
}

TEST(calls_get_ids_of_their_own_and_problems_where_they_have_them)
{
    struct ask ask;

    ask_play(t, &ask, odd_calls);
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_EQ(ask.call_count, 5);
    ASSERT_STR(ask.calls[0].id, "same");
    ASSERT_STR(ask.calls[0].arguments, "{}");
    ASSERT_STR(ask.calls[0].problem, "");
    ASSERT_STR(ask.calls[1].arguments, "{\"x\":1}");
    ASSERT_STR(ask.calls[2].problem, "can't");
    ASSERT_STR(ask.calls[3].name, "d\357\277\275");
    ASSERT_STR(ask.calls[3].problem, "The arguments must be a JSON object, not null");
    ASSERT_STR(ask.calls[4].problem, "");
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < i; k++)
            ASSERT(!str_eq(ask.calls[i].id, ask.calls[k].id));
    ask_release(&ask);
}

static void no_calls(struct play *play)
{
    done(play, (struct model_reply){ .text = STR("x"), .stop = MODEL_STOP_CALLS });
}

static void too_many_calls(struct play *play)
{
    static struct model_call calls[MODEL_CALLS_MAX + 1];

    for (size_t i = 0; i <= MODEL_CALLS_MAX; i++)
        calls[i] = (struct model_call){ .name = STR("f"), .arguments = STR("{}") };
    done(play, (struct model_reply){ .calls = calls, .call_count = MODEL_CALLS_MAX + 1 });
}

static void too_much_text(struct play *play)
{
    static char block[1 << 20];

    memset(block, 'x', sizeof(block));
    for (int i = 0; i < 5; i++)
        play->sink->on_delta(play->arg, i & 1 ? MODEL_DELTA_TEXT : MODEL_DELTA_TEXT,
                             str_of(block, sizeof(block)));
    done(play, (struct model_reply){ .stop = MODEL_STOP_END });
}

TEST(caps_hold)
{
    struct ask ask;

    ask_play(t, &ask, no_calls);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ask_release(&ask);
    ask_play(t, &ask, too_many_calls);
    ASSERT_ASK_FAILED(&ask, ERR_TOO_LARGE);
    ask_release(&ask);
    ask_play(t, &ask, too_much_text);
    ASSERT_ASK_FAILED(&ask, ERR_TOO_LARGE);
    ASSERT_EQ(ask.delta_count, 4);
    ask_release(&ask);
}
