/* The model's own ground: how states are packed, how keys are renamed, and what is too large.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/model_int.h"
#include "random_program.h"

#define WIDE 20

/* Threads with 2 to 21 places each: codes of 2 to 5 bits that cross the words in many ways. */
static const struct bp_program *wide_program(struct arena *arena, unsigned keyed)
{
    struct bp_program *p = ARENA_NEW(arena, struct bp_program);
    struct bp_thread *threads = ARENA_NEW_N(arena, struct bp_thread, WIDE);
    struct bp_point *points = ARENA_NEW_N(arena, struct bp_point, WIDE);

    *p = (struct bp_program){ .name = "wide",
                              .types = small_types,
                              .threads = threads,
                              .bits = small_bits,
                              .type_count = SMALL_TYPES,
                              .thread_count = WIDE,
                              .bit_count = 3 };
    for (unsigned i = 0; i < WIDE; i++) {
        points[i] = (struct bp_point){ .wait = { BP_ON(X, .has = RED) },
                                       .block = { BP_ON(K, .has = RED | BLUE) },
                                       .times = (uint16_t)(2 + i) };
        threads[i] =
            (struct bp_thread){ .name = arena_printf(arena, "t%u", i), .at = &points[i], .n = 1 };
        if (i < keyed)
            threads[i].spawn = (struct bp_sel)BP_ON(BORN);
    }
    return p;
}

static void random_state(struct dice *d, const struct model *m, struct state *s)
{
    *s = (struct state){ .alive = dice_roll(d, 1u << (m->keys + 1)) };
    s->record[0] = dice_roll(d, 8) & m->program_bits;
    for (unsigned key = 1; key <= m->keys; key++)
        s->record[key] = dice_roll(d, 8) & m->key_bits;
    for (unsigned i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];

        for (unsigned key = t->keyed; key <= (t->keyed ? m->keys : 0); key++)
            s->code[model_slot(m, t, key)] = (uint8_t)dice_roll(d, t->codes + 1u);
    }
}

static bool same_state(const struct model *m, const struct state *a, const struct state *b)
{
    return a->alive == b->alive && memcmp(a->code, b->code, m->slots) == 0 &&
           memcmp(a->record, b->record, (m->keys + 1) * sizeof(a->record[0])) == 0;
}

TEST(states_of_any_width_are_packed_and_unpacked_without_loss)
{
    struct dice d = { 11 };

    for (unsigned keyed = 0; keyed <= WIDE; keyed++) {
        const struct bp_program *p = wide_program(&t->arena, keyed);
        AUTO_MODEL m = { .program = NULL };

        ASSERT_OK(model_init(&m, p, 1 + keyed % 8, (struct model_scope){ .all_bits = keyed % 2 },
                             NULL, &t->err));
        for (int i = 0; i < 200; i++) {
            uint64_t words[MODEL_WORDS_MAX + 1], others[MODEL_WORDS_MAX + 1];
            struct state a, b, back = { .alive = 0 };

            random_state(&d, &m, &a);
            b = a;
            b.code[dice_roll(&d, m.slots)] ^= 1;
            words[m.words] = others[m.words] = 0xfeed;
            model_pack(&m, &a, words);
            model_pack(&m, &b, others);
            model_unpack(&m, words, &back);
            ASSERT(same_state(&m, &a, &back));
            ASSERT(memcmp(words, others, m.words * sizeof(words[0])) != 0);
            ASSERT_EQ(words[m.words], 0xfeed);
        }
    }
}

/* Renames keys of a state at random: the content of key k goes to names[k]. */
static void shuffle(struct dice *d, const struct model *m, const struct state *from,
                    struct state *to)
{
    unsigned names[MODEL_KEYS_MAX + 1];

    *to = *from;
    to->alive = from->alive & STATE_OVER;
    for (unsigned key = 1; key <= m->keys; key++)
        names[key] = key;
    for (unsigned key = m->keys; key > 1; key--) {
        unsigned other = 1 + dice_roll(d, key), kept = names[key];

        names[key] = names[other];
        names[other] = kept;
    }
    for (unsigned key = 1; key <= m->keys; key++) {
        to->alive |= (from->alive >> key & 1) << names[key];
        to->record[names[key]] = from->record[key];
        memcpy(to->code + m->globals + (names[key] - 1) * m->per_key,
               from->code + m->globals + (key - 1) * m->per_key, m->per_key);
    }
}

static void kill_dead(const struct model *m, struct state *s)
{
    for (unsigned key = 1; key <= m->keys; key++)
        if (!(s->alive >> key & 1)) {
            s->record[key] = 0;
            memset(s->code + m->globals + (key - 1) * m->per_key, 0, m->per_key);
        }
}

TEST(states_that_differ_in_the_names_of_keys_get_one_form_and_others_two)
{
    const struct bp_program *p = wide_program(&t->arena, 3);
    AUTO_MODEL m = { .program = NULL };
    struct dice d = { 12 };

    ASSERT_OK(model_init(&m, p, 4, (struct model_scope){ .all_bits = true }, NULL, &t->err));
    for (int i = 0; i < 5000; i++) {
        uint8_t order[MODEL_KEYS_MAX + 1];
        struct state a, b, changed;
        unsigned key;

        random_state(&d, &m, &a);
        kill_dead(&m, &a);
        shuffle(&d, &m, &a, &b);
        changed = b;
        model_canonical(&m, &a, false, order);
        model_canonical(&m, &b, false, order);
        ASSERT(same_state(&m, &a, &b));
        for (key = 1; key <= 4 && !(changed.alive >> key & 1); key++)
            ;
        if (key > 4)
            continue;
        changed.record[key] ^= RED;
        model_canonical(&m, &changed, false, order);
        ASSERT(!same_state(&m, &a, &changed));
    }
}

TEST(by_birth_only_gaps_are_closed_and_the_order_says_who_was_who)
{
    const struct bp_program *p = wide_program(&t->arena, 2);
    AUTO_MODEL m = { .program = NULL };
    struct dice d = { 13 };

    ASSERT_OK(model_init(&m, p, 5, (struct model_scope){ .all_bits = true }, NULL, &t->err));
    for (int i = 0; i < 2000; i++) {
        uint8_t order[MODEL_KEYS_MAX + 1];
        struct state a, old;
        unsigned next = 0;

        random_state(&d, &m, &old);
        kill_dead(&m, &old);
        a = old;
        model_canonical(&m, &a, true, order);
        for (unsigned key = 1; key <= 5; key++)
            if (old.alive >> key & 1) {
                ASSERT_EQ(order[++next], key);
                ASSERT(a.alive >> next & 1);
                ASSERT_EQ(a.record[next], old.record[key]);
            }
        ASSERT_EQ(a.alive & STATE_OVER, old.alive & STATE_OVER);
        ASSERT_EQ(__builtin_popcount(a.alive), __builtin_popcount(old.alive));
    }
}

/* ---- what is too large ---- */

static const char *too_large(struct test *t, const struct bp_program *p, unsigned keys)
{
    AUTO_MODEL m = { .program = NULL };

    err_reset(&t->err);
    ASSERT_FAILS(model_init(&m, p, keys, (struct model_scope){ .property = NULL }, NULL, &t->err),
                 ERR_TOO_LARGE);
    return test_err_text(t);
}

/* n keyed threads with so many counts at their only point. */
static const struct bp_program *many_threads(struct test *t, unsigned n, unsigned times)
{
    struct bp_program *p = ARENA_NEW(&t->arena, struct bp_program);
    struct bp_thread *threads = ARENA_NEW_N(&t->arena, struct bp_thread, n);
    struct bp_point *point = ARENA_NEW(&t->arena, struct bp_point);

    *p = *wide_program(&t->arena, 0);
    *point = (struct bp_point){ .wait = { BP_ON_MINE(E) }, .times = (uint16_t)times };
    for (unsigned i = 0; i < n; i++)
        threads[i] = (struct bp_thread){
            .name = arena_printf(&t->arena, "t%u", i), .at = point, .n = 1, .spawn = BP_ON(BORN)
        };
    p->threads = threads;
    p->thread_count = (uint16_t)n;
    ASSERT_OK(bp_program_check(p, &t->err));
    return p;
}

TEST(what_a_state_can_not_hold_is_refused_with_the_numbers)
{
    ASSERT_TEXT(too_large(t, many_threads(t, 1, 256), 1),
                "thread t0 has 256 places to be told apart (points and counts); the checker takes"
                " 255: check it with a smaller limit");
    ASSERT_TEXT(too_large(t, many_threads(t, 129, 1), 8),
                "program wide has 1032 thread instances with 8 keys; the checker takes 1024");
    ASSERT_TEXT(too_large(t, many_threads(t, 128, 2), 8),
                "a state of program wide takes 2057 bits with 8 keys; the checker takes 1024");
}

TEST(a_state_of_the_largest_size_is_still_taken)
{
    uint64_t words[MODEL_WORDS_MAX];
    AUTO_MODEL m = { .program = NULL };
    struct state last, back = { .alive = 0 };

    /* 4 bits for what lives and one a thread and key: 1024. */
    ASSERT_OK(model_init(&m, many_threads(t, 340, 1), 3, (struct model_scope){ .property = NULL },
                         NULL, &t->err));
    ASSERT_EQ(m.slots, 1020);
    ASSERT_EQ(m.words, MODEL_WORDS_MAX);
    model_begin(&m, &last);
    last.code[m.slots - 1] = 1;
    model_pack(&m, &last, words);
    ASSERT_EQ(words[MODEL_WORDS_MAX - 1], UINT64_C(1) << 63);
    model_unpack(&m, words, &back);
    ASSERT(same_state(&m, &last, &back));
    ASSERT_CONTAINS(too_large(t, many_threads(t, 341, 1), 3), "takes 1027 bits with 3 keys");
}

TEST(more_events_from_outside_than_can_be_tried_are_refused)
{
    static const char *const names[] = { "b0", "b1", "b2", "b3", "b4", "b5", "b6",
                                         "b7", "b8", "b9", "ba", "bb", "bc" };
    static const struct bp_type types[] = { { NULL }, { "x", BP_EXT, 0x1fff } };
    struct bp_point one[] = { { .wait = { BP_ON(1, .has = 0x0fff) } } };
    struct bp_thread threads[] = { { BP_TABLE("one", one) } };
    struct bp_program p = { .name = "wide",
                            .types = types,
                            .threads = threads,
                            .bits = names,
                            .type_count = 2,
                            .thread_count = 1,
                            .bit_count = BP_COUNT(names) };
    AUTO_MODEL m = { .program = NULL };

    /* 12 attributes are 4096 events, 13 one time too many. */
    ASSERT_OK(model_init(&m, &p, 1, (struct model_scope){ .property = NULL }, NULL, &t->err));
    one[0].wait[0].has = 0x1fff;
    ASSERT_TEXT(too_large(t, &p, 1),
                "program wide allows 8192 different events from outside at once; the checker takes"
                " 4096: let fewer attributes be looked at");
}

/* ---- what is forgotten of a key ---- */

enum { EV_BORN = 1, EV_MARK, EV_WORK, EV_DROP, EV_GONE, EV_KINDS };
enum { GOOD = 1, LOUD = 2 };

static const struct bp_type kinds[EV_KINDS] = {
    [EV_BORN] = { "born", BP_EXT | BP_KEYED | BP_BIRTH, GOOD | LOUD },
    [EV_MARK] = { "mark", BP_EXT | BP_KEYED | BP_LATCH, GOOD | LOUD },
    [EV_WORK] = { "work", BP_KEYED },
    [EV_DROP] = { "drop", BP_EXT | BP_KEYED },
    [EV_GONE] = { "gone", BP_KEYED | BP_RETIRE },
};
static const char *const kind_bits[] = { "good", "loud" };
static const struct bp_point worker[] = {
    { .request = BP_MINE(EV_WORK, .go = BP_GO(2)), .wait = { BP_ON_MINE(EV_DROP) } },
    { .wait = { BP_ON_MINE(EV_MARK, .go = BP_GO(0)), BP_ON_MINE(EV_DROP) } },
    { .request = BP_MINE(EV_GONE) },
};
static const struct bp_point only_good[] = {
    { .block = { BP_ON(EV_WORK, .lacks = GOOD) } },
};

/* At 0 it may work, where good is looked at; at 1 it works only after a mark, which says anew. */
TEST(a_key_keeps_the_attributes_that_it_may_yet_ask_with)
{
    static const struct {
        uint8_t point;
        bool rewritten; /* mark tells all that is kept */
        uint32_t kept;
    } cases[] = { { 0, true, GOOD }, { 1, true, 0 }, { 1, false, GOOD }, { 2, true, 0 } };

    for (unsigned i = 0; i < BP_COUNT(cases); i++) {
        const struct bp_thread threads[] = {
            { BP_TABLE("worker", worker), .spawn = BP_ON(EV_BORN) },
            { BP_TABLE("only_good", only_good), .kind = BP_GUARD },
        };
        struct bp_type types[EV_KINDS];
        const struct bp_program program = { .name = "forgets",
                                            .types = types,
                                            .threads = threads,
                                            .bits = kind_bits,
                                            .type_count = EV_KINDS,
                                            .thread_count = 2,
                                            .bit_count = 2 };
        AUTO_MODEL m = { .program = NULL };
        struct state state;

        memcpy(types, kinds, sizeof(types));
        if (!cases[i].rewritten)
            types[EV_MARK].bits = LOUD;
        ASSERT_OK(model_init(&m, &program, 2, (struct model_scope){ .environment = true }, NULL,
                             &t->err));
        model_begin(&m, &state);
        state.alive = 1u << 2;
        state.record[2] = GOOD | LOUD;
        state.code[model_slot(&m, &m.threads[0], 2)] = m.threads[0].code_of[cases[i].point];
        model_forget(&m, &state);
        ASSERT_EQ(state.record[2], cases[i].kept);
    }
}

/* A thread that may begin at any moment asks with what is kept then; and so does one left out. */
TEST(a_key_keeps_what_threads_that_are_not_there_yet_may_ask_with)
{
    static const struct bp_point idle[] = { { .wait = { BP_ON_MINE(EV_DROP, .go = BP_GO(0)) } } };
    const struct bp_thread threads[] = {
        { BP_TABLE("idle", idle), .spawn = BP_ON(EV_BORN) },
        { BP_TABLE("worker", worker), .spawn = BP_ON(EV_DROP) },
        { BP_TABLE("only_good", only_good), .kind = BP_GUARD },
    };
    const struct bp_program program = { .name = "keeps",
                                        .types = kinds,
                                        .threads = threads,
                                        .bits = kind_bits,
                                        .type_count = EV_KINDS,
                                        .thread_count = 3,
                                        .bit_count = 2 };
    static const bool keep[] = { true, false, true };
    const struct model_scope scopes[] = { { .environment = true }, { .keep = keep } };

    for (unsigned i = 0; i < BP_COUNT(scopes); i++) {
        AUTO_MODEL m = { .program = NULL };
        struct state state;

        ASSERT_OK(model_init(&m, &program, 1, scopes[i], NULL, &t->err));
        model_begin(&m, &state);
        state.alive = 1u << 1;
        state.record[1] = GOOD | LOUD;
        state.code[model_slot(&m, &m.threads[0], 1)] = m.threads[0].code_of[0];
        model_forget(&m, &state);
        ASSERT_EQ(state.record[1], GOOD);
    }
}
