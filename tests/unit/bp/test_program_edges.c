/* What a program may still be: each bound from its allowed side, and refusals that come first.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/engine.h"
#include "small.h"

static const struct bp_point plain[] = { { .wait = { BP_ON(X) } } };

static int check_points(struct test *t, const struct bp_point *at, unsigned n, struct bp_sel spawn)
{
    struct bp_thread threads[] = {
        { .name = "t", .at = at, .n = (uint8_t)n, .spawn = spawn },
    };
    struct bp_program p = SMALL(threads);

    err_reset(&t->err);
    return bp_program_check(&p, &t->err);
}

TEST(a_thread_may_have_200_points_and_not_one_more)
{
    struct bp_point at[BP_POINTS_MAX + 1] = { { .name = NULL } };
    struct bp_sel none = { .types = 0 };

    for (unsigned i = 0; i < BP_POINTS_MAX + 1; i++)
        at[i].wait[0].types = BP_TYPE(X);
    ASSERT_OK(check_points(t, at, BP_POINTS_MAX, none));
    ASSERT_FAILS(check_points(t, at, BP_POINTS_MAX + 1, none), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(test_err_text(t), "program small: thread t: has 201 points; 1 to 200 are allowed");
    /* The last point can be gone to, the one after it can not. */
    at[0].wait[0].go = BP_GO(BP_POINTS_MAX - 1);
    at[BP_POINTS_MAX - 1].wait[0].go = BP_GO(1);
    ASSERT_OK(check_points(t, at, BP_POINTS_MAX, none));
    at[0].wait[0].go = BP_GO(BP_POINTS_MAX);
    ASSERT_FAILS(check_points(t, at, BP_POINTS_MAX, none), ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(test_err_text(t), "point 0: wait goes to point 200, but there are only 200");
}

TEST(a_way_may_lead_through_any_wait_the_request_or_an_until)
{
    const struct bp_point by_last_wait[] = {
        { .wait = { BP_ON(X, .go = BP_END), BP_ON(X, .go = BP_END), BP_ON(X, .go = BP_END),
                    BP_ON(Y, .go = BP_GO(1)) } },
        { .wait = { BP_ON(X) } },
    };
    const struct bp_point by_request[] = {
        { .request = BP_ASK(A, .go = BP_GO(1)), .wait = { BP_ON(X, .go = BP_END) } },
        { .wait = { BP_ON(X) } },
    };
    const struct bp_point closed[] = { { .wait = { BP_ON(X, .go = BP_GO(0)) } },
                                       { .wait = { BP_ON(X) } } };
    struct bp_thread threads[] = { { BP_TABLE("t", closed) } };
    struct bp_program p = SMALL(threads);
    struct bp_sel none = { .types = 0 };

    ASSERT_OK(check_points(t, by_last_wait, 2, none));
    ASSERT_OK(check_points(t, by_request, 2, none));
    ASSERT_FAILS(bp_program_check(&p, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(test_err_text(t), "program small: thread t, point 1: no way leads here");
    threads[0].until[0] = (struct bp_sel)BP_ON(Y, .go = BP_GO(1));
    ASSERT_OK(bp_program_check(&p, &t->err));
    threads[0].until[0].go = BP_END;
    threads[0].until[2] = (struct bp_sel)BP_ON(Y);
    err_reset(&t->err);
    ASSERT_FAILS(bp_program_check(&p, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(test_err_text(t),
                "program small: thread t: until has an empty place before a used one");
}

TEST(all_64_types_and_32_attributes_can_be_used)
{
    static char names[64][8], bit_names[32][8];
    static struct bp_type types[64];
    static const char *bits[32];
    struct bp_point at[] = { { .wait = { BP_ON(63, .has = 1u << 31) } },
                             { .request = BP_ASK(1, .set = 1u << 31) } };
    struct bp_thread threads[] = { { BP_TABLE("t", at) } };
    struct bp_program p = { .name = "wide",
                            .types = types,
                            .threads = threads,
                            .bits = bits,
                            .type_count = 64,
                            .thread_count = 1,
                            .bit_count = 32 };
    PLAY play;

    for (unsigned i = 0; i < 64; i++) {
        snprintf(names[i], sizeof(names[i]), "t%u", i);
        types[i] =
            (struct bp_type){ i ? names[i] : NULL, i == 63 ? BP_EXT : 0, i == 63 ? UINT32_MAX : 0 };
    }
    for (unsigned i = 0; i < 32; i++) {
        snprintf(bit_names[i], sizeof(bit_names[i]), "b%u", i);
        bits[i] = bit_names[i];
    }
    play_start(&play, p, NULL);
    ASSERT(play_offer(&play, 63, 0, 1));
    ASSERT(play_offer(&play, 63, 0, 1u << 31));
    ASSERT_TEXT(play_heard(&play), "t63(b0) t63(b31) t1(b31) ");
    p.bit_count = 31; /* now the last one has no name */
    ASSERT_FAILS(bp_program_check(&p, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(test_err_text(t),
                "program wide: type t63 has attributes beyond the 31 that are named");
    types[63].bits = INT32_MAX;
    err_reset(&t->err);
    ASSERT_FAILS(bp_program_check(&p, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(test_err_text(t), "program wide: thread t, point 0: wait asks for an attribute that"
                                  " does not exist");
}

TEST(a_type_with_attributes_in_a_program_that_names_none_is_refused)
{
    static const struct bp_thread threads[] = { { BP_TABLE("t", plain) } };
    struct bp_program p = SMALL(threads);

    p.bits = NULL;
    p.bit_count = 0;
    ASSERT_FAILS(bp_program_check(&p, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(test_err_text(t),
                "program small: type x has attributes beyond the 0 that are named");
}

static const struct {
    struct bp_type type;
    bool sound;
} flag_cases[] = {
    { { "t", BP_EXT | BP_KEYED | BP_BIRTH, RED }, true },
    { { "t", BP_EXT | BP_KEYED | BP_BIRTH | BP_LATCH, RED }, true },
    { { "t", BP_EXT | BP_KEYED | BP_BIRTH | BP_RETIRE }, false },
    { { "t", BP_EXT | BP_KEYED | BP_RETIRE }, true },
    { { "t", BP_KEYED | BP_RETIRE }, true },
    { { "t", BP_KEYED | BP_RETIRE | BP_FINAL }, true },
    { { "t", BP_EXT | BP_RETIRE }, false },
    { { "t", BP_EXT | BP_COOP }, true },
    { { "t", BP_EXT | BP_COOP | BP_FINAL }, false },
    { { "t", BP_EXT | BP_FINAL }, true },
    { { "t", BP_OPEN | BP_KEYED }, true },
    { { "t", BP_OPEN | BP_EXT | BP_KEYED }, false },
    { { "t", BP_LATCH, RED | BLUE | GREEN }, true },
    { { "t", BP_KEYED, RED }, false },
    { { "t", BP_EXT, GREEN }, true },
    { { "t", BP_EXT, GREEN << 1 }, false },
};

TEST(flags_of_a_type_go_together_or_they_do_not)
{
    static const struct bp_thread threads[] = { { BP_TABLE("t", plain) } };

    for (unsigned i = 0; i < BP_COUNT(flag_cases); i++) {
        struct bp_program p = SMALL(threads);
        struct bp_type types[SMALL_TYPES];

        memcpy(types, small_types, sizeof(types));
        types[D] = flag_cases[i].type;
        p.types = types;
        err_reset(&t->err);
        if ((bp_program_check(&p, &t->err) >= 0) == flag_cases[i].sound)
            test_case_passed();
        else
            test_case_failed("flags %#x, bits %#x: %s", flag_cases[i].type.flags,
                             flag_cases[i].type.bits, test_err_text(t));
    }
}

TEST(words_for_events_and_selectors_hold_for_anything_that_can_be_passed)
{
    static const struct bp_thread threads[] = { { BP_TABLE("t", plain) } };
    struct bp_program p = SMALL(threads);
    static const struct {
        struct bp_event event;
        const char *text;
    } events[] = {
        { { .type = A }, "a" },
        { { .type = A, .key = 4096 }, "a(4096)" },
        { { .type = A, .bits = RED | GREEN }, "a(red, green)" },
        { { .type = K, .key = 1, .bits = BLUE | 1u << 31 }, "k(1, blue, bit31)" },
        { { .type = 0, .key = 7 }, "?(7)" },
        { { .type = 255 }, "?" },
    };
    static const struct {
        struct bp_sel sel;
        const char *text;
    } sels[] = {
        { { .types = 0 }, "" },
        { BP_ON_ANY(BP_TYPE(A) | BP_TYPE(FIN)), "a, fin" },
        { BP_ON_MINE(K, .has = RED), "k of its key where red" },
        { BP_ON(X, .lacks = RED | BLUE), "x where not red and not blue" },
        { BP_ON(X, .has = GREEN, .lacks = RED), "x where green and not red" },
        { BP_ON(63, .has = 8), "? where bit3" },
    };
    AUTO_BUF text = BUF_INIT(1000);

    for (unsigned i = 0; i < BP_COUNT(events); i++, buf_clear(&text)) {
        bp_event_text(&p, &events[i].event, &text);
        ASSERT_TEXT(buf_text(&text), events[i].text);
    }
    for (unsigned i = 0; i < BP_COUNT(sels); i++, buf_clear(&text)) {
        bp_sel_text(&p, &sels[i].sel, &text);
        ASSERT_TEXT(buf_text(&text), sels[i].text);
    }
    bp_point_text(&threads[0], 9, &text); /* past the last: a number, no name */
    ASSERT_TEXT(buf_text(&text), "9");
}
