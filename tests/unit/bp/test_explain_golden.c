/* Explanations and snapshots, whole, in many states of one small program.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/explain.h"
#include "small.h"

static const struct bp_point worker[] = {
    { .name = "wants", .request = BP_MINE(K, .set = GREEN), .wait = { BP_ON_MINE(E) } },
    { .wait = { BP_ON_MINE(E, .has = RED), BP_ON(STOP, .go = BP_END) },
      .block = { BP_ON_ANY(BP_TYPE(A) | BP_TYPE(B)), BP_ON_MINE(GONE, .lacks = RED | BLUE) } },
};
static const struct bp_point gate[] = {
    { .name = "shut", .wait = { BP_ON(Y) }, .block = { BP_ON(K), BP_ON(X, .has = RED) } },
    { .name = "open", .wait = { BP_ON(X, .go = BP_GO(0)) } },
};
static const struct bp_point talker[] = { { .request = BP_ASK(A) },
                                          { .request = BP_ASK(TUNE, .set = RED) } };
static const struct bp_point hidden[] = { { .wait = { BP_ON(X) } } };

static const struct bp_thread threads[] = {
    { BP_TABLE("worker", worker), .spawn = BP_ON(BORN), .max = 2 },
    { BP_TABLE("gate", gate), .kind = BP_GUARD },
    { BP_TABLE("talker", talker), .until = { BP_ON(STOP, .go = BP_END) } },
    { BP_TABLE("hidden", hidden), .kind = BP_PROPERTY },
};

static const char *snapshot(struct test *t, struct play *p)
{
    AUTO_BUF text = BUF_INIT(1 << 16);

    bp_snapshot_text(p->engine, &text);
    return arena_text(&t->arena, buf_text(&text));
}

static const char *why(struct test *t, struct play *p, unsigned type, unsigned key, uint32_t bits)
{
    struct bp_event event = { .type = (uint8_t)type, .key = (uint16_t)key, .bits = bits };
    AUTO_BUF text = BUF_INIT(1 << 16);
    struct bp_why answer;

    bp_explain(p->engine, &event, &t->arena, &answer);
    bp_why_text(&p->program, &answer, &text);
    return arena_text(&t->arena, buf_text(&text));
}

static const char *why_json(struct test *t, struct play *p, unsigned type, unsigned key,
                            uint32_t bits)
{
    struct bp_event event = { .type = (uint8_t)type, .key = (uint16_t)key, .bits = bits };
    struct bp_why answer;
    struct json_object *o;
    const char *text;

    bp_explain(p->engine, &event, &t->arena, &answer);
    o = bp_why_json(&p->program, &answer);
    text = arena_text(&t->arena, json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
    json_object_put(o);
    return text;
}

/* Two workers wait at the gate: 2 was born before 1. */
static void two_wait(struct play *p)
{
    play_start(p, SMALL(threads), NULL);
    ASSERT(play_offer(p, BORN, 2, RED));
    ASSERT(play_offer(p, BORN, 1, 0));
}

TEST(a_snapshot_of_the_beginning_shows_threads_in_order_and_no_property)
{
    struct bp_program program = SMALL(threads);
    PLAY p = { .program = program, .heard = BUF_INIT(100), .why = BUF_INIT(100) };

    p.engine = bp_new(&p.program, 4, NULL); /* not run yet */
    ASSERT_TEXT(snapshot(t, &p), "gate at 0 (shut), waits for y, blocks k; x where red\n"
                                 "talker at 0, requests a\n");
    ASSERT_EQ(bp_run(p.engine, NULL), 2);
    ASSERT_TEXT(snapshot(t, &p), "gate at 0 (shut), waits for y, blocks k; x where red\n");
}

TEST(a_snapshot_shows_instances_by_the_age_of_their_keys_with_the_bits_they_would_carry)
{
    PLAY p;

    two_wait(&p);
    ASSERT_TEXT(snapshot(t, &p),
                "worker(2) at 0 (wants), requests k(2, red, green), waits for e of its key\n"
                "worker(1) at 0 (wants), requests k(1, red, green), waits for e of its key\n"
                "gate at 0 (shut), waits for y, blocks k; x where red\n");
    ASSERT(play_offer(&p, E, 2, 0));
    ASSERT_TEXT(snapshot(t, &p),
                "worker(2) at 1, waits for e of its key where red; stop, blocks a, b; gone of its"
                " key where not red and not blue\n"
                "worker(1) at 0 (wants), requests k(1, red, green), waits for e of its key\n"
                "gate at 0 (shut), waits for y, blocks k; x where red\n");
    ASSERT(play_offer(&p, STOP, 0, 0));
    ASSERT(play_offer(&p, Y, 0, 0));
    ASSERT_TEXT(snapshot(t, &p),
                "worker(1) at 1, waits for e of its key where red; stop, blocks a, b; gone of its"
                " key where not red and not blue\n"
                "gate at 1 (open), waits for x\n");
}

TEST(a_snapshot_in_json_has_the_same_words)
{
    PLAY p;
    struct json_object *o;

    two_wait(&p);
    ASSERT(play_offer(&p, E, 2, 0));
    o = bp_snapshot_json(p.engine);
    ASSERT_TEXT(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN),
                "[{\"thread\":\"worker\",\"key\":2,\"point\":1,"
                "\"waits\":[\"e of its key where red\",\"stop\"],"
                "\"blocks\":[\"a, b\",\"gone of its key where not red and not blue\"]},"
                "{\"thread\":\"worker\",\"key\":1,\"point\":0,\"doing\":\"wants\","
                "\"requests\":\"k(1, red, green)\",\"waits\":[\"e of its key\"],\"blocks\":[]},"
                "{\"thread\":\"gate\",\"point\":0,\"doing\":\"shut\",\"waits\":[\"y\"],"
                "\"blocks\":[\"k\",\"x where red\"]}]");
    json_object_put(o);
}

TEST(a_blocked_request_is_explained_with_who_asks_and_who_is_in_the_way)
{
    PLAY p;

    two_wait(&p);
    ASSERT_TEXT(why(t, &p, K, 1, GREEN), "k(1, red, green) is blocked by gate at 0 (shut)\n"
                                         "  requested by worker(1) at 0 (wants)\n"
                                         "  blocked by gate at 0 (shut)\n");
    /* Without green it is another event, which nobody asks for; it would be blocked all the same */
    ASSERT_TEXT(why(t, &p, K, 1, 0), "k(1, red) is blocked by gate at 0 (shut)\n"
                                     "  blocked by gate at 0 (shut)\n");
    ASSERT_TEXT(why_json(t, &p, K, 2, GREEN),
                "{\"event\":\"k(2, red, green)\",\"possible\":false,"
                "\"reason\":\"k(2, red, green) is blocked by gate at 0 (shut)\","
                "\"requested\":[{\"thread\":\"worker\",\"key\":2,\"point\":0,\"doing\":\"wants\"}],"
                "\"waited\":[],"
                "\"blocked\":[{\"thread\":\"gate\",\"point\":0,\"doing\":\"shut\"}]}");
}

static const struct {
    unsigned type, key;
    uint32_t bits;
    const char *text;
} answers[] = {
    { Y, 0, 0, "y is possible\n  waited for by gate at 0 (shut)\n" },
    { X, 0, 0, "x is possible\n" },
    { X, 0, RED, "x(red) is blocked by gate at 0 (shut)\n  blocked by gate at 0 (shut)\n" },
    { X, 0, BLUE, "x(blue) is possible\n" },
    { STOP, 0, 0, "stop is possible\n" },
    { STOP, 0, RED, "stop(red) carries attributes that its type may not have\n" },
    { E, 2, 0, "e(2) is possible\n  waited for by worker(2) at 0 (wants)\n" },
    { E, 3, 0, "e(3) speaks of a key that does not live\n" },
    { E, 9, 0,
      "e(9) has a key where none is allowed, none where one is needed, or one out of range\n" },
    { BORN, 1, 0, "born(1) begins a key that already lives\n" },
    { BORN, 3, 0, "born(3) would begin one more instance than is allowed of worker\n" },
    { GONE, 1, 0, "gone(1) is possible\n" },
    { A, 0, 0, "a(red) is not requested by any thread\n" },
    { L, 2, 0, "l(2, red) is not requested by any thread\n" },
    { NO, 0, 0, "? has no known type\n" },
    { 77, 3, 0, "?(3) has no known type\n" },
};

TEST(every_sort_of_answer_has_its_words)
{
    PLAY p;

    two_wait(&p);
    for (unsigned i = 0; i < BP_COUNT(answers); i++) {
        const char *text = why(t, &p, answers[i].type, answers[i].key, answers[i].bits);

        if (strcmp(text, answers[i].text) == 0)
            test_case_passed();
        else
            test_case_failed("%s   instead of\n%s", text, answers[i].text);
    }
    ASSERT_TEXT(play_heard(&p), "a tune(red) born(2, red) born(1) "); /* asking selects nothing */
}

TEST(an_until_counts_as_waiting_and_what_is_next_is_marked)
{
    struct bp_program program = SMALL(threads);
    PLAY p = { .program = program, .heard = BUF_INIT(100), .why = BUF_INIT(100) };

    p.engine = bp_new(&p.program, 4, NULL);
    ASSERT_TEXT(why(t, &p, A, 0, 0), "a is possible, and is next\n"
                                     "  requested by talker at 0\n");
    ASSERT_TEXT(why(t, &p, STOP, 0, 0), "stop is possible\n"
                                        "  waited for by talker at 0\n");
    ASSERT_TEXT(why_json(t, &p, STOP, 0, 0),
                "{\"event\":\"stop\",\"possible\":true,\"reason\":\"stop is possible\","
                "\"requested\":[],\"waited\":[{\"thread\":\"talker\",\"point\":0}],"
                "\"blocked\":[]}");
}

TEST(two_who_block_are_both_named_and_the_first_by_priority_is_the_reason)
{
    static const struct bp_point shut[] = { { .name = "one", .block = { BP_ON(X) } } };
    static const struct bp_point also[] = { { .block = { BP_ON(Y), BP_ON(X) } } };
    static const struct bp_thread both[] = { { BP_TABLE("also", also) },
                                             { BP_TABLE("shut", shut) } };
    PLAY p;

    play_start(&p, SMALL(both), NULL);
    ASSERT_TEXT(why(t, &p, X, 0, 0), "x is blocked by also at 0\n"
                                     "  blocked by also at 0\n"
                                     "  blocked by shut at 0 (one)\n");
    ASSERT(!play_offer(&p, X, 0, 0));
    ASSERT_TEXT(buf_text(&p.why), "x is blocked by also at 0");
}
