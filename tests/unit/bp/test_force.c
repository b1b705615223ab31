/* Records that are played again, requests that are parked and woken, and the caps of an engine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "small.h"

static int force(struct play *p, unsigned type, unsigned key, uint32_t bits)
{
    struct bp_event event = { .type = (uint8_t)type, .key = (uint16_t)key, .bits = bits };
    int r;

    p->refusal = (struct bp_refusal){ .reason = BP_FINE };
    r = bp_force(p->engine, &event, &p->refusal);
    buf_clear(&p->why);
    if (r < 0)
        bp_refusal_text(&p->program, &event, &p->refusal, &p->why);
    return r;
}

/* ---- a record that does not fit ---- */

static const struct bp_point steps[] = { { .wait = { BP_ON(X) } },
                                         { .request = BP_ASK(A, .set = RED) },
                                         { .request = BP_ASK(B) } };
static const struct bp_point keyed[] = {
    { .wait = { BP_ON_MINE(E), BP_ON_MINE(EDIT, .go = BP_GO(0)) }, .block = { BP_ON(Y) } },
    { .request = BP_MINE(K) },
};
static const struct bp_thread forced_threads[] = {
    { BP_TABLE("steps", steps) },
    { BP_TABLE("keyed", keyed), .spawn = BP_ON(BORN), .max = 2 },
};

static const struct {
    unsigned type, key;
    uint32_t bits;
    enum bp_reason reason;
    const char *text;
} quiet_mismatches[] = {
    { NO, 0, 0, BP_NO_SUCH_TYPE, "? has no known type" },
    { SMALL_TYPES, 0, 0, BP_NO_SUCH_TYPE, "? has no known type" },
    { A, 0, 0, BP_NOT_REQUESTED, "a is not requested by any thread" },
    { K, 1, 0, BP_NOT_REQUESTED, "k(1) is not requested by any thread" },
    { Y, 0, 0, BP_BLOCKED, "y is blocked by keyed(2) at 0" },
    { Y, 1, 0, BP_BAD_KEY,
      "y(1) has a key where none is allowed, none where one is needed, or one out of range" },
    { E, 0, 0, BP_BAD_KEY,
      "e has a key where none is allowed, none where one is needed, or one out of range" },
    { E, 5, 0, BP_BAD_KEY,
      "e(5) has a key where none is allowed, none where one is needed, or one out of range" },
    { E, 3, 0, BP_KEY_NOT_BORN, "e(3) speaks of a key that does not live" },
    { BORN, 1, 0, BP_KEY_IN_USE, "born(1) begins a key that already lives" },
    { BORN, 3, 0, BP_FULL, "born(3) would begin one more instance than is allowed of keyed" },
    { E, 1, BLUE, BP_BAD_BITS, "e(1, blue) carries attributes that its type may not have" },
    { MODE, 0, RED | GREEN, BP_BAD_BITS,
      "mode(red, green) carries attributes that its type may not have" },
    { X, 0, 8, BP_BAD_BITS, "x(bit3) carries attributes that its type may not have" },
};

TEST(a_recorded_event_that_a_quiet_engine_can_not_take_is_refused_in_words_and_changes_nothing)
{
    PLAY p;

    play_start(&p, SMALL(forced_threads), NULL);
    ASSERT(play_offer(&p, BORN, 1, 0));
    ASSERT(play_offer(&p, BORN, 2, 0));
    for (unsigned i = 0; i < BP_COUNT(quiet_mismatches); i++) {
        ASSERT_EQ(
            force(&p, quiet_mismatches[i].type, quiet_mismatches[i].key, quiet_mismatches[i].bits),
            -1);
        ASSERT_EQ(p.refusal.reason, quiet_mismatches[i].reason);
        ASSERT_TEXT(buf_text(&p.why), quiet_mismatches[i].text);
        ASSERT_EQ(bp_point_of(p.engine, 0, 0), 0);
        ASSERT_EQ(bp_point_of(p.engine, 1, 1), 0);
        ASSERT_EQ(bp_point_of(p.engine, 1, 2), 0);
        ASSERT_EQ(bp_free_key(p.engine), 3);
    }
    ASSERT_TEXT(play_heard(&p), "born(1) born(2) ");
    ASSERT_EQ(bp_force(p.engine, &(struct bp_event){ .type = A }, NULL), -1);
}

TEST(while_something_is_selectable_only_that_is_taken_and_the_refusal_names_it)
{
    PLAY p;
    static const struct {
        unsigned type, key;
        uint32_t bits;
    } others[] = { { A, 0, 0 },    { A, 0, RED | BLUE }, { A, 1, RED }, { B, 0, RED }, { X, 0, 0 },
                   { BORN, 1, 0 }, { NO, 0, 0 },         { 255, 0, 0 }, { A, 0, BLUE } };

    play_start(&p, SMALL(forced_threads), NULL);
    ASSERT_EQ(force(&p, X, 0, 0), 0);
    for (unsigned i = 0; i < BP_COUNT(others); i++) {
        ASSERT_EQ(force(&p, others[i].type, others[i].key, others[i].bits), -1);
        ASSERT_EQ(p.refusal.reason, BP_NOT_NEXT);
        ASSERT_EQ(p.refusal.instead.type, A);
        ASSERT_EQ(p.refusal.instead.bits, RED);
        ASSERT_CONTAINS(buf_text(&p.why),
                        " does not come next: that is a(red), requested by steps at 1");
        ASSERT_EQ(bp_point_of(p.engine, 0, 0), 1);
    }
    ASSERT_EQ(force(&p, A, 0, RED), 0);
    ASSERT_EQ(bp_point_of(p.engine, 0, 0), 2);
    ASSERT_EQ(force(&p, B, 0, 0), 0);
    ASSERT_EQ(bp_point_of(p.engine, 0, 0), -1);
    ASSERT_TEXT(play_heard(&p), ""); /* what is forced is not told */
}

TEST(a_forced_event_does_not_run_what_it_leads_to)
{
    PLAY p;
    struct bp_event next;
    struct bp_place by;

    play_start(&p, SMALL(forced_threads), NULL);
    ASSERT_EQ(bp_next(p.engine, &next, &by), 0);
    ASSERT_EQ(force(&p, X, 0, GREEN), 0);
    ASSERT_EQ(bp_next(p.engine, &next, &by), 1);
    ASSERT_EQ(next.type, A);
    ASSERT_EQ(by.index, 0);
    ASSERT_EQ(by.point, 1);
    ASSERT_EQ(by.key, 0);
    ASSERT_EQ(bp_next(p.engine, &next, NULL), 1); /* asking selects nothing */
    ASSERT_EQ(bp_run(p.engine, NULL), 2);
    ASSERT_EQ(bp_run(p.engine, NULL), 0);
    ASSERT_TEXT(play_heard(&p), "a(red) b ");
}

struct meddler {
    struct bp_engine *engine;
    unsigned calls;
    int offered, forced, ran;
    struct bp_refusal why[3];
};

static void meddle(void *ctx, const struct bp_event *event, const struct bp_place *by)
{
    struct meddler *m = ctx;

    (void)event;
    (void)by;
    m->calls++;
    m->offered = bp_offer(m->engine, &(struct bp_event){ .type = X }, &m->why[0]);
    m->forced = bp_force(m->engine, &(struct bp_event){ .type = X }, &m->why[1]);
    m->ran = bp_run(m->engine, &m->why[2]);
}

TEST(from_inside_a_selection_nothing_can_be_offered_forced_or_run)
{
    static const struct bp_point plain[] = { { .request = BP_ASK(A) }, { .wait = { BP_ON(X) } } };
    static const struct bp_thread threads[] = { { BP_TABLE("plain", plain) } };
    struct bp_program program = SMALL(threads);
    struct meddler m = { .calls = 0 };

    m.engine = bp_new(&program, 0, &(struct bp_options){ .selected = meddle, .ctx = &m });
    ASSERT_EQ(bp_run(m.engine, NULL), 1);
    ASSERT_EQ(m.calls, 1);
    ASSERT_EQ(m.offered, -1);
    ASSERT_EQ(m.forced, -1);
    ASSERT_EQ(m.ran, -1);
    for (int i = 0; i < 3; i++)
        ASSERT_EQ(m.why[i].reason, BP_NOT_QUIET);
    ASSERT_EQ(bp_point_of(m.engine, 0, 0), 1);
    ASSERT_EQ(bp_offer(m.engine, &(struct bp_event){ .type = X }, NULL), 0);
    bp_free(m.engine);
}

/* ---- parked requests ---- */

TEST(a_request_blocked_twice_wakes_only_when_the_last_blocker_goes)
{
    static const struct bp_point ask[] = { { .request = BP_ASK(A) } };
    static const struct bp_point one[] = { { .wait = { BP_ON(X) }, .block = { BP_ON(A) } } };
    static const struct bp_point two[] = { { .wait = { BP_ON(Y) }, .block = { BP_ON(A) } } };
    static const struct bp_thread threads[] = { { BP_TABLE("ask", ask) },
                                                { BP_TABLE("one", one) },
                                                { BP_TABLE("two", two) } };
    PLAY first, second;

    play_start(&first, SMALL(threads), NULL);
    ASSERT(play_offer(&first, X, 0, 0));
    ASSERT_TEXT(play_heard(&first), "x ");
    ASSERT(play_offer(&first, Y, 0, 0));
    ASSERT_TEXT(play_heard(&first), "y a ");
    play_start(&second, SMALL(threads), NULL);
    ASSERT(play_offer(&second, Y, 0, 0));
    ASSERT_TEXT(play_heard(&second), "y ");
    ASSERT(play_offer(&second, X, 0, 0));
    ASSERT_TEXT(play_heard(&second), "x a ");
}

TEST(requests_that_are_woken_together_keep_their_priority)
{
    static const struct bp_point a[] = { { .request = BP_ASK(A) } };
    static const struct bp_point b[] = { { .request = BP_ASK(B) } };
    static const struct bp_point c[] = { { .request = BP_ASK(C) } };
    static const struct bp_point d[] = { { .request = BP_ASK(D) } };
    static const struct bp_point hold[] = {
        { .wait = { BP_ON(X) },
          .block = { BP_ON_ANY(BP_TYPE(A) | BP_TYPE(B)), BP_ON(C), BP_ON(D) } },
    };
    static const struct bp_thread threads[] = { { BP_TABLE("d", d) },
                                                { BP_TABLE("b", b) },
                                                { BP_TABLE("hold", hold) },
                                                { BP_TABLE("c", c) },
                                                { BP_TABLE("a", a) } };
    PLAY p;

    play_start(&p, SMALL(threads), NULL);
    ASSERT_TEXT(play_heard(&p), "");
    ASSERT(play_offer(&p, X, 0, 0));
    ASSERT_TEXT(play_heard(&p), "x d b c a ");
}

static const struct bp_point asks_k[] = { { .request = BP_MINE(K) }, { .request = BP_MINE(L) } };

TEST(a_block_of_one_key_holds_that_key_alone_and_lets_it_go_alone)
{
    static const struct bp_point hold[] = { { .wait = { BP_ON_MINE(E) },
                                              .block = { BP_ON_MINE(K) } } };
    static const struct bp_thread threads[] = {
        { BP_TABLE("asks", asks_k), .spawn = BP_ON(BORN) },
        { BP_TABLE("hold", hold), .spawn = BP_ON(BORN, .has = RED) },
    };
    PLAY p;

    play_start(&p, SMALL(threads), NULL);
    ASSERT(play_offer(&p, BORN, 2, RED));
    ASSERT(play_offer(&p, BORN, 1, RED));
    ASSERT(play_offer(&p, BORN, 4, 0));
    ASSERT_TEXT(play_heard(&p), "born(2, red) born(1, red) born(4) k(4) l(4) ");
    ASSERT(play_offer(&p, E, 1, 0));
    ASSERT_TEXT(play_heard(&p), "e(1) k(1, red) l(1, red) ");
    ASSERT(play_offer(&p, E, 1, 0));
    ASSERT_TEXT(play_heard(&p), "e(1) ");
    ASSERT(play_offer(&p, E, 2, 0));
    ASSERT_TEXT(play_heard(&p), "e(2) k(2, red) l(2, red) ");
}

TEST(a_parked_request_of_a_key_that_is_retired_is_gone_for_good)
{
    static const struct bp_point hold[] = { { .wait = { BP_ON(X) }, .block = { BP_ON(K) } } };
    static const struct bp_thread threads[] = { { BP_TABLE("asks", asks_k), .spawn = BP_ON(BORN) },
                                                { BP_TABLE("hold", hold) } };
    PLAY p;

    play_start(&p, SMALL(threads), NULL);
    for (unsigned key = 1; key <= 4; key++)
        ASSERT(play_offer(&p, BORN, key, 0));
    ASSERT_EQ(bp_free_key(p.engine), 0);
    ASSERT(play_offer(&p, GONE, 2, 0)); /* from the middle of the list */
    ASSERT(play_offer(&p, GONE, 4, 0)); /* its head */
    ASSERT(play_offer(&p, GONE, 1, 0)); /* its tail */
    ASSERT_EQ(bp_free_key(p.engine), 1);
    ASSERT(bp_key_lives(p.engine, 3));
    ASSERT(!bp_key_lives(p.engine, 4));
    ASSERT(!bp_key_lives(p.engine, 5));
    play_heard(&p);
    ASSERT(play_offer(&p, BORN, 2, BLUE));
    ASSERT(play_offer(&p, X, 0, 0));
    ASSERT_TEXT(play_heard(&p), "born(2, blue) x k(3) l(3) k(2, blue) l(2, blue) ");
}

TEST(a_latch_of_one_key_leaves_the_others_parked)
{
    static const struct bp_point hold[] = { { .block = { BP_ON(K, .has = RED) } } };
    static const struct bp_thread threads[] = { { BP_TABLE("asks", asks_k), .spawn = BP_ON(BORN) },
                                                { BP_TABLE("hold", hold) } };
    PLAY p;

    play_start(&p, SMALL(threads), NULL);
    ASSERT(play_offer(&p, BORN, 1, RED | BLUE));
    ASSERT(play_offer(&p, BORN, 2, RED));
    play_heard(&p);
    ASSERT(play_offer(&p, EDIT, 2, RED)); /* still red */
    ASSERT_TEXT(play_heard(&p), "edit(2, red) ");
    ASSERT(play_offer(&p, EDIT, 1, 0)); /* keeps blue, which an edit may not carry */
    ASSERT_TEXT(play_heard(&p), "edit(1) k(1, blue) l(1, blue) ");
    ASSERT_EQ(bp_record(p.engine, 1), BLUE);
    ASSERT_EQ(bp_record(p.engine, 2), RED);
    ASSERT_EQ(bp_record(p.engine, 3), 0);
}

/* ---- what an engine says of threads that are not there ---- */

TEST(an_engine_has_no_place_for_threads_that_do_not_run_or_keys_that_do_not_fit)
{
    static const struct bp_point watch[] = { { .wait = { BP_ON(X) }, .times = 3 } };
    static const struct bp_thread threads[] = {
        { BP_TABLE("watch", watch) },
        { BP_TABLE("property", watch), .kind = BP_PROPERTY },
        { BP_TABLE("environment", watch), .kind = BP_ENVIRONMENT },
        { BP_TABLE("each", watch), .spawn = BP_ON(BORN) },
    };
    PLAY p;

    play_start(&p, SMALL(threads), NULL);
    ASSERT(play_offer(&p, BORN, 4, 0));
    ASSERT(play_offer(&p, X, 0, 0));
    ASSERT_EQ(bp_point_of(p.engine, 0, 0), 0);
    ASSERT_EQ(bp_count_of(p.engine, 0, 0), 1);
    ASSERT_EQ(bp_point_of(p.engine, 0, 1), -1);
    ASSERT_EQ(bp_point_of(p.engine, 1, 0), -1);
    ASSERT_EQ(bp_point_of(p.engine, 2, 0), -1);
    ASSERT_EQ(bp_point_of(p.engine, 3, 0), -1);
    ASSERT_EQ(bp_point_of(p.engine, 3, 4), 0);
    ASSERT_EQ(bp_count_of(p.engine, 3, 4), 1);
    ASSERT_EQ(bp_point_of(p.engine, 3, 3), -1);
    ASSERT_EQ(bp_count_of(p.engine, 3, 3), 0);
    ASSERT_EQ(bp_point_of(p.engine, 3, 5), -1);
    ASSERT_EQ(bp_count_of(p.engine, 4, 0), 0);
    ASSERT_EQ(bp_point_of(p.engine, 4, 0), -1);
    ASSERT(bp_program_of(p.engine) == &p.program);
}

TEST(keys_of_every_word_of_the_free_list_are_found)
{
    static const struct bp_point each[] = { { .wait = { BP_ON_MINE(E) } } };
    static const struct bp_thread threads[] = { { BP_TABLE("each", each), .spawn = BP_ON(BORN) } };
    struct bp_program program = SMALL(threads);
    struct bp_engine *e = bp_new(&program, 130, NULL);

    for (uint16_t key = 1; key <= 130; key++) {
        ASSERT_EQ(bp_free_key(e), key);
        ASSERT_EQ(bp_offer(e, &(struct bp_event){ .type = BORN, .key = key }, NULL), 0);
    }
    ASSERT_EQ(bp_free_key(e), 0);
    ASSERT_EQ(bp_offer(e, &(struct bp_event){ .type = GONE, .key = 128 }, NULL), 0);
    ASSERT_EQ(bp_free_key(e), 128);
    ASSERT_EQ(bp_offer(e, &(struct bp_event){ .type = GONE, .key = 64 }, NULL), 0);
    ASSERT_EQ(bp_free_key(e), 64);
    ASSERT_EQ(bp_offer(e, &(struct bp_event){ .type = BORN, .key = 64 }, NULL), 0);
    ASSERT_EQ(bp_free_key(e), 128);
    bp_free(e);
}

TEST(an_engine_without_keys_refuses_every_birth)
{
    static const struct bp_point each[] = { { .wait = { BP_ON_MINE(E) } } };
    static const struct bp_thread threads[] = { { BP_TABLE("each", each), .spawn = BP_ON(BORN) } };
    struct bp_program program = SMALL(threads);
    struct bp_engine *e = bp_new(&program, 0, NULL);
    struct bp_refusal why;

    ASSERT_EQ(bp_free_key(e), 0);
    ASSERT_EQ(bp_offer(e, &(struct bp_event){ .type = BORN, .key = 1 }, &why), -1);
    ASSERT_EQ(why.reason, BP_BAD_KEY);
    ASSERT_EQ(bp_run(e, NULL), 0);
    bp_free(e);
}

/* steps_max events are selected, not one more; then the engine may go on. */
TEST(the_cap_of_a_super_step_is_exact)
{
    static const struct bp_point three[] = { { .request = BP_ASK(A) },
                                             { .request = BP_ASK(B) },
                                             { .request = BP_ASK(C) } };
    static const struct bp_thread threads[] = { { BP_TABLE("three", three) } };
    PLAY enough, short_of;

    play_start(&enough, SMALL(threads), &(struct bp_options){ .steps_max = 3 });
    ASSERT_EQ(enough.refusal.reason, BP_FINE);
    ASSERT_TEXT(play_heard(&enough), "a b c ");
    play_start(&short_of, SMALL(threads), &(struct bp_options){ .steps_max = 2 });
    ASSERT_EQ(short_of.refusal.reason, BP_ENDLESS);
    ASSERT_EQ(short_of.refusal.instead.type, C);
    ASSERT_EQ(short_of.refusal.by.point, 2);
    ASSERT_TEXT(play_heard(&short_of), "a b ");
    ASSERT_EQ(bp_run(short_of.engine, NULL), 1);
    ASSERT_TEXT(play_heard(&short_of), "c ");
}
