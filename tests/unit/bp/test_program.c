/* What makes a program sound, and its digest.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/bp.h"

#include "bp/programs/programs_int.h"
#include "small.h"

TEST(every_registered_program_is_sound)
{
    for (int i = 0; bp_programs[i]; i++)
        ASSERT_OK(bp_program_check(bp_programs[i], &t->err));
}

/* ---- threads that must be refused ---- */

static const struct bp_point plain[] = { { .wait = { BP_ON(X) } } };

struct wrong_thread {
    struct bp_thread thread;
    const char *message;
};

#define POINTS(...)                                                                                \
    (const struct bp_point[])                                                                      \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define ONE(...)     .name = "t", .at = POINTS(__VA_ARGS__), .n = 1
#define KEYED_THREAD .spawn = BP_ON(BORN)

static const struct wrong_thread wrong[] = {
    { { .name = "t", .n = 0, .at = plain }, "thread t: has 0 points; 1 to 200" },
    { { .name = "t", .n = 1 }, "has 1 points" },
    { { ONE({ .wait = { BP_ON(X, .go = BP_GO(3)) } }) },
      "thread t, point 0: wait goes to point 3, but there are only 1" },
    { { ONE({ .request = BP_ASK(A, .go = BP_GO(1)) }) }, "request goes to point 1" },
    { { ONE({ .request = BP_ASK(X) }) }, "requests x, which is EXT: it only comes from outside" },
    { { ONE({ .request = BP_ASK(99) }) }, "requests type 99, which does not exist" },
    { { ONE({ .request = BP_ASK(K) }), KEYED_THREAD }, "requests k, which is KEYED, without mine" },
    { { ONE({ .request = BP_MINE(A) }), KEYED_THREAD }, "requests a as mine, but it is not KEYED" },
    { { ONE({ .request = BP_MINE(K) }) }, "requests k as mine, but the thread has no key" },
    { { ONE({ .request = BP_ASK(A, .set = 8) }) }, "sets an attribute that does not exist" },
    { { ONE({ .wait = { BP_ON(40) } }) }, "wait names a type that does not exist" },
    { { ONE({ .wait = { { .types = 1 } } }) }, "wait names a type that does not exist" },
    { { ONE({ .wait = { BP_ON(X, .has = 8) } }) }, "wait asks for an attribute that does not" },
    { { ONE({ .block = { BP_ON(X, .has = 1, .lacks = 1) } }) },
      "block asks for an attribute and for its absence" },
    { { ONE({ .wait = { BP_ON_MINE(E) } }) }, "wait says mine, but the thread has no key" },
    { { ONE({ .wait = { BP_ON_MINE(X) } }), KEYED_THREAD },
      "wait says mine of a type that is not KEYED" },
    { { ONE({ .wait = { { .types = 0 }, BP_ON(X) } }) },
      "wait has an empty place before a used one" },
    { { ONE({ .wait = { BP_ON(X) }, .times = BP_LIMIT(0) }) }, "times refers to limit 0" },
    { { ONE({ .request = BP_ASK(A), .times = 2 }) }, "has times, but nothing to wait for" },
    { { ONE({ .wait = { BP_ON(X) }, .bad = true }) }, "is bad, which only points of property" },
    { { ONE({ .block = { BP_ON(X) } }), .kind = BP_PROPERTY }, "a property thread may only wait" },
    { { ONE({ .request = BP_ASK(A) }), .kind = BP_PROPERTY },
      "requests a, but only program and guard threads may" },
    { { ONE({ .request = BP_ASK(A) }), .kind = BP_ENVIRONMENT }, "only program and guard threads" },
    { { ONE({ .block = { BP_ON(A) } }), .kind = BP_ENVIRONMENT }, "blocks a type that is not EXT" },
    { { ONE({ .wait = { BP_ON(X) } }), .kind = 9 }, "is of kind 9" },
    { { ONE({ .wait = { BP_ON(X) } }), .max = 2 }, "has max, which needs spawn" },
    { { ONE({ .wait = { BP_ON(X) } }), .max = 2, .spawn = BP_ON(K) },
      "has max, which needs spawn by EXT types" },
    { { ONE({ .wait = { BP_ON(X) } }), .spawn = BP_ON_ANY(BP_TYPE(X) | BP_TYPE(BORN)) },
      "spawns by types with and without a key" },
    { { ONE({ .wait = { BP_ON(X) } }), .spawn = BP_ON_MINE(BORN) }, "spawn says mine" },
    { { ONE({ .wait = { BP_ON(X) } }), .spawn = BP_ON(GONE) }, "spawns by a RETIRE type" },
    { { ONE({ .wait = { BP_ON(X) } }), .until = { BP_ON(Y, .go = BP_GO(7)) } },
      "until goes to point 7" },
    { { .name = "t",
        .at = POINTS({ .wait = { BP_ON(X, .go = BP_END) } },
                     { .name = "nowhere", .wait = { BP_ON(X) } }),
        .n = 2 },
      "thread t, point 1 (nowhere): no way leads here" },
    { { .name = "", .at = plain, .n = 1 }, "thread 1 has no name" },
    { { .name = "first", .at = plain, .n = 1 }, "two threads are named first" },
};

TEST(a_thread_that_can_not_be_meant_is_refused_and_the_message_says_where)
{
    for (unsigned i = 0; i < BP_COUNT(wrong); i++) {
        struct bp_thread threads[] = { { BP_TABLE("first", plain) }, wrong[i].thread };
        struct bp_program program = SMALL(threads);

        err_reset(&t->err);
        if (bp_program_check(&program, &t->err) >= 0)
            test_case_failed("accepted what should say: %s", wrong[i].message);
        else if (!strstr(test_err_text(t), wrong[i].message))
            test_case_failed("%s\n   lacks: %s", test_err_text(t), wrong[i].message);
        else
            test_case_passed();
    }
}

static const struct {
    struct bp_type type;
    const char *message;
} wrong_types[] = {
    { { "" }, "type 1 has no name" },
    { { "b", BP_BIRTH | BP_EXT }, "BIRTH or RETIRE, which need KEYED" },
    { { "b", BP_BIRTH | BP_KEYED }, "BIRTH, which needs EXT" },
    { { "b", BP_RETIRE }, "BIRTH or RETIRE, which need KEYED" },
    { { "b", BP_COOP }, "COOP, which needs EXT" },
    { { "b", BP_COOP | BP_EXT | BP_FINAL }, "COOP and FINAL" },
    { { "b", BP_OPEN | BP_EXT }, "OPEN and EXT" },
    { { "b", 0, RED }, "has bits, which only EXT and LATCH types may carry" },
    { { "b", BP_EXT, 8 }, "attributes beyond the 3 that are named" },
    { { "x" }, "two types are named x" },
};

TEST(a_type_that_can_not_be_meant_is_refused)
{
    static const struct bp_thread threads[] = { { BP_TABLE("first", plain) } };

    for (unsigned i = 0; i < BP_COUNT(wrong_types); i++) {
        struct bp_program program = SMALL(threads);
        struct bp_type types[SMALL_TYPES];

        memcpy(types, small_types, sizeof(types));
        types[A] = wrong_types[i].type;
        program.types = types;
        err_reset(&t->err);
        ASSERT_FAILS(bp_program_check(&program, &t->err), ERR_SCHEMA_VIOLATION);
        ASSERT_CONTAINS(test_err_text(t), wrong_types[i].message);
    }
}

static const char *refusal(struct test *t, const struct bp_program *p)
{
    err_reset(&t->err);
    ASSERT_FAILS(bp_program_check(p, &t->err), ERR_SCHEMA_VIOLATION);
    return test_err_text(t);
}

TEST(counts_and_names_of_a_program_are_checked)
{
    static const struct bp_thread threads[] = { { BP_TABLE("first", plain) } };
    static const struct bp_limit wrong_limits[][1] = { { { "rounds", 0, 1 } },
                                                       { { "rounds", 1, 0 } },
                                                       { { NULL, 1, 1 } } };
    static const char *const unnamed[] = { "red", NULL, "green" };
    static const char *const twice[] = { "red", "blue", "red" };
    struct bp_type zero[SMALL_TYPES];
    struct bp_program p = SMALL(threads);

    p.name = NULL;
    ASSERT_TEXT(refusal(t, &p), "a program has no name");
    p = SMALL(threads);
    p.type_count = 65;
    ASSERT_TEXT(refusal(t, &p),
                "program small: 65 types; 2 to 64 are allowed, the first being reserved");
    p.type_count = 1;
    ASSERT_CONTAINS(refusal(t, &p), ": 1 types; 2 to 64");
    p = SMALL(threads);
    memcpy(zero, small_types, sizeof(zero));
    zero[0].name = "zero";
    p.types = zero;
    ASSERT_CONTAINS(refusal(t, &p), "type 0 is named zero, but 0 means none");
    p = SMALL(threads);
    p.bit_count = 33;
    ASSERT_CONTAINS(refusal(t, &p), "33 attributes; 32 are allowed");
    p = SMALL(threads);
    p.bits = unnamed;
    ASSERT_CONTAINS(refusal(t, &p), "attribute 1 has no name");
    p.bits = twice;
    ASSERT_CONTAINS(refusal(t, &p), "two attributes are named red");
    p = SMALL(threads);
    for (unsigned i = 0; i < BP_COUNT(wrong_limits); i++) {
        p.limits = wrong_limits[i];
        p.limit_count = 1;
        ASSERT_CONTAINS(refusal(t, &p),
                        "limit 0 needs a name, a value and a checked value above 0");
    }
    p.limit_count = 17;
    ASSERT_CONTAINS(refusal(t, &p), "17 limits; 16 are allowed");
    p = SMALL(threads);
    p.thread_count = BP_THREADS_MAX + 1;
    ASSERT_CONTAINS(refusal(t, &p), "2049 threads; 2048 are allowed");
}

/* ---- digest, without ---- */

static bool same_hash(const struct bp_program *a, const struct bp_program *b)
{
    uint8_t ha[BP_HASH_BYTES], hb[BP_HASH_BYTES];

    bp_program_hash(a, ha);
    bp_program_hash(b, hb);
    return memcmp(ha, hb, sizeof(ha)) == 0;
}

TEST(the_digest_tells_programs_apart_by_anything_that_decides_what_they_do)
{
    static const struct bp_limit limits[] = { { "rounds", 3, 2 } };
    struct bp_point points[] = { { .wait = { BP_ON(X) }, .block = { BP_ON(A) } } };
    struct bp_point other[] = { { .wait = { BP_ON(X) }, .block = { BP_ON(A) } } };
    struct bp_thread threads_a[] = { { BP_TABLE("one", points) } };
    struct bp_thread threads_b[] = { { BP_TABLE("one", other) } };
    struct bp_program a = SMALL(threads_a), b = SMALL(threads_b);
    struct bp_type types[SMALL_TYPES];

    ASSERT(same_hash(&a, &b));
    other[0].block[0].has = RED;
    ASSERT(!same_hash(&a, &b));
    other[0].block[0].has = 0;
    other[0].wait[0].go = BP_END;
    ASSERT(!same_hash(&a, &b));
    other[0].wait[0].go = BP_NEXT;
    other[0].times = 1;
    ASSERT(!same_hash(&a, &b));
    other[0].times = 0;
    other[0].request.type = A;
    ASSERT(!same_hash(&a, &b));
    other[0].request.type = 0;
    threads_b[0].kind = BP_GUARD;
    ASSERT(!same_hash(&a, &b));
    threads_b[0].kind = BP_PROGRAM;
    threads_b[0].until[0].types = BP_TYPE(Y);
    ASSERT(!same_hash(&a, &b));
    threads_b[0].until[0].types = 0;
    b.limits = limits;
    b.limit_count = 1;
    ASSERT(!same_hash(&a, &b));
    b.limit_count = 0;
    memcpy(types, small_types, sizeof(types));
    types[X].flags |= BP_COOP;
    b.types = types;
    ASSERT(!same_hash(&a, &b));
    b.types = small_types;
    ASSERT(same_hash(&a, &b));
}

TEST(a_program_without_a_thread_keeps_the_others_in_order)
{
    const struct bp_program *p = bp_program_without(&bp_program_lease, "one_holder", &t->arena);

    ASSERT_EQ(p->thread_count, bp_program_lease.thread_count - 1);
    ASSERT_TEXT(p->threads[0].name, "fence");
    ASSERT_TEXT(p->threads[1].name, "worker");
    ASSERT_EQ(bp_thread_find(p, "one_holder"), -1);
    ASSERT(bp_program_without(&bp_program_lease, "nobody", &t->arena) == NULL);
}

TEST(events_and_selectors_are_written_for_people)
{
    AUTO_BUF text = BUF_INIT(1000);
    struct bp_program p = {
        .types = small_types, .bits = small_bits, .type_count = SMALL_TYPES, .bit_count = 3
    };
    struct bp_sel sel = { .types = BP_TYPE(K) | BP_TYPE(L), .has = RED, .lacks = BLUE, .mine = 1 };

    bp_event_text(&p, &(struct bp_event){ .type = K, .key = 2, .bits = RED | 16 }, &text);
    bp_event_text(&p, &(struct bp_event){ .type = 77 }, &text);
    buf_add_char(&text, ' ');
    bp_sel_text(&p, &sel, &text);
    ASSERT_TEXT(buf_text(&text), "k(2, red, bit4)? k, l of its key where red and not blue");
}
