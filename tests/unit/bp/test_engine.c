/* The rules of selection, one test each. Where plaited documents the same rule its name for it is
 * in the comment.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/engine.h"

#include <stdio.h>

#include "random_program.h"

#define THREADS(...)                                                                               \
    static const struct bp_thread threads[] = { __VA_ARGS__ };                                     \
    PLAY p;                                                                                        \
    play_start(&p, SMALL(threads), NULL)

TEST(threads_run_their_requests_in_order_until_nothing_is_left)
{
    static const struct bp_point one[] = { { .request = BP_ASK(A) }, { .request = BP_ASK(B) } };
    THREADS({ BP_TABLE("one", one) });

    ASSERT_TEXT(play_heard(&p), "a b ");
    ASSERT_EQ(bp_point_of(p.engine, 0, 0), -1);
    ASSERT_EQ(bp_run(p.engine, NULL), 0);
}

/* plaited: priority queue selection, the thread that was added first wins. */
TEST(the_thread_declared_first_has_priority)
{
    static const struct bp_point one[] = { { .request = BP_ASK(A) }, { .request = BP_ASK(A) } };
    static const struct bp_point two[] = { { .request = BP_ASK(B) }, { .request = BP_ASK(B) } };
    THREADS({ BP_TABLE("two", two) }, { BP_TABLE("one", one) });

    ASSERT_TEXT(play_heard(&p), "b b a a ");
}

/* plaited: the water taps, hot and cold taken in turn by a third thread. */
TEST(a_thread_that_blocks_makes_two_others_take_turns)
{
    static const struct bp_point hot[] = { { .request = BP_ASK(A) },
                                           { .request = BP_ASK(A) },
                                           { .request = BP_ASK(A) } };
    static const struct bp_point cold[] = { { .request = BP_ASK(B) },
                                            { .request = BP_ASK(B) },
                                            { .request = BP_ASK(B) } };
    static const struct bp_point turns[] = {
        { .wait = { BP_ON(A) }, .block = { BP_ON(B) } },
        { .wait = { BP_ON(B, .go = BP_GO(0)) }, .block = { BP_ON(A) } },
    };
    THREADS({ BP_TABLE("hot", hot) }, { BP_TABLE("cold", cold) }, { BP_TABLE("turns", turns) });

    ASSERT_TEXT(play_heard(&p), "a b a b a b ");
}

TEST(every_thread_that_requests_the_selected_event_moves_on)
{
    static const struct bp_point one[] = { { .request = BP_ASK(A) }, { .request = BP_ASK(B) } };
    static const struct bp_point two[] = { { .request = BP_ASK(A) }, { .request = BP_ASK(C) } };
    THREADS({ BP_TABLE("one", one) }, { BP_TABLE("two", two) });

    ASSERT_TEXT(play_heard(&p), "a b c ");
}

TEST(requests_that_set_different_attributes_are_different_events)
{
    static const struct bp_point one[] = { { .request = BP_ASK(A, .set = RED) } };
    static const struct bp_point two[] = { { .request = BP_ASK(A) } };
    THREADS({ BP_TABLE("one", one) }, { BP_TABLE("two", two) });

    ASSERT_TEXT(play_heard(&p), "a(red) a ");
}

TEST(a_waiting_thread_moves_on_with_the_event_and_a_selector_tests_its_attributes)
{
    static const struct bp_point one[] = { { .wait = { BP_ON(X, .has = RED, .lacks = BLUE) } },
                                           { .request = BP_ASK(A) } };
    THREADS({ BP_TABLE("one", one) });

    ASSERT(play_offer(&p, X, 0, 0));
    ASSERT(play_offer(&p, X, 0, RED | BLUE));
    ASSERT_TEXT(play_heard(&p), "x x(red, blue) ");
    ASSERT(play_offer(&p, X, 0, RED | GREEN));
    ASSERT_TEXT(play_heard(&p), "x(red, green) a ");
}

/* plaited: interrupt; the thread ends and its request is never selected. */
TEST(an_interrupt_ends_the_thread_and_what_it_blocked_is_free)
{
    static const struct bp_point guard[] = { { .wait = { BP_ON(X, .go = BP_END) },
                                               .block = { BP_ON(A) } } };
    static const struct bp_point one[] = { { .request = BP_ASK(A) } };
    THREADS({ BP_TABLE("guard", guard) }, { BP_TABLE("one", one) });

    ASSERT_TEXT(play_heard(&p), "");
    ASSERT(play_offer(&p, X, 0, 0));
    ASSERT_TEXT(play_heard(&p), "x a ");
    ASSERT_EQ(bp_point_of(p.engine, 0, 0), -1);
}

TEST(until_holds_at_every_point_and_comes_before_request_and_wait)
{
    static const struct bp_point one[] = { { .wait = { BP_ON(Y), BP_ON(X, .go = BP_GO(0)) } },
                                           { .wait = { BP_ON(X, .go = BP_GO(0)) } },
                                           { .request = BP_ASK(A) } };
    static const struct bp_thread threads[] = {
        { BP_TABLE("one", one), .until = { BP_ON(X, .has = RED, .go = BP_GO(2)) } }
    };
    PLAY p;

    play_start(&p, SMALL(threads), NULL);
    ASSERT(play_offer(&p, Y, 0, 0));
    ASSERT_EQ(bp_point_of(p.engine, 0, 0), 1);
    ASSERT(play_offer(&p, X, 0, 0));
    ASSERT_EQ(bp_point_of(p.engine, 0, 0), 0);
    ASSERT(play_offer(&p, X, 0, RED));
    ASSERT_TEXT(play_heard(&p), "y x x(red) a ");
}

TEST(a_thread_takes_its_request_before_its_waits_and_waits_in_order)
{
    static const struct bp_point one[] = {
        { .request = BP_ASK(A, .go = BP_GO(1)), .wait = { BP_ON(A, .go = BP_END) } },
        { .wait = { BP_ON(X, .go = BP_GO(2)), BP_ON(X, .go = BP_END) } },
        { .request = BP_ASK(B) },
    };
    THREADS({ BP_TABLE("one", one) });

    ASSERT(play_offer(&p, X, 0, 0));
    ASSERT_TEXT(play_heard(&p), "a x b ");
}

/* plaited triggers an external event as a request of priority 0; ours waits for quiet, so it can
 * never come between two steps of a super-step, and is refused instead of kept. */
TEST(an_event_from_outside_that_is_blocked_is_refused_with_the_blockers_name_and_leaves_no_trace)
{
    static const struct bp_point guard[] = {
        { .name = "holds the door", .wait = { BP_ON(Y) }, .block = { BP_ON(X, .has = RED) } }
    };
    static const struct bp_point one[] = { { .wait = { BP_ON(X) } }, { .request = BP_ASK(A) } };
    THREADS({ BP_TABLE("one", one) }, { BP_TABLE("guard", guard) });

    ASSERT(!play_offer(&p, X, 0, RED));
    ASSERT_EQ(p.refusal.reason, BP_BLOCKED);
    ASSERT_TEXT(buf_text(&p.why), "x(red) is blocked by guard at 0 (holds the door)");
    ASSERT(play_offer(&p, Y, 0, 0));
    ASSERT_TEXT(play_heard(&p), "y ");
    ASSERT_EQ(bp_point_of(p.engine, 0, 0), 0);
}

TEST(what_can_not_be_offered_is_refused_with_its_reason)
{
    static const struct bp_point one[] = { { .wait = { BP_ON(X) } } };
    THREADS({ BP_TABLE("one", one) });

    ASSERT(!play_offer(&p, A, 0, 0));
    ASSERT_EQ(p.refusal.reason, BP_NOT_FROM_OUTSIDE);
    ASSERT(!play_offer(&p, 0, 0, 0));
    ASSERT_EQ(p.refusal.reason, BP_NO_SUCH_TYPE);
    ASSERT(!play_offer(&p, SMALL_TYPES, 0, 0));
    ASSERT_EQ(p.refusal.reason, BP_NO_SUCH_TYPE);
    ASSERT(!play_offer(&p, 255, 0, 0));
    ASSERT_EQ(p.refusal.reason, BP_NO_SUCH_TYPE);
    ASSERT(!play_offer(&p, X, 1, 0));
    ASSERT_EQ(p.refusal.reason, BP_BAD_KEY);
    ASSERT(!play_offer(&p, E, 0, 0));
    ASSERT_EQ(p.refusal.reason, BP_BAD_KEY);
    ASSERT(!play_offer(&p, BORN, 5, 0));
    ASSERT_EQ(p.refusal.reason, BP_BAD_KEY);
    ASSERT(!play_offer(&p, E, 1, 0));
    ASSERT_EQ(p.refusal.reason, BP_KEY_NOT_BORN);
    ASSERT(!play_offer(&p, Y, 0, RED));
    ASSERT_EQ(p.refusal.reason, BP_BAD_BITS);
    ASSERT(play_offer(&p, BORN, 1, 0));
    ASSERT(!play_offer(&p, BORN, 1, 0));
    ASSERT_EQ(p.refusal.reason, BP_KEY_IN_USE);
    ASSERT_TEXT(play_heard(&p), "born(1) ");
}

/* ---- keys ---- */

static const struct bp_point worker[] = {
    { .request = BP_MINE(K) },
    { .wait = { BP_ON_MINE(E) } },
    { .request = BP_MINE(OVER) },
};

TEST(each_key_has_its_own_instance_that_hears_its_own_key_only)
{
    THREADS({ BP_TABLE("worker", worker), .spawn = BP_ON(BORN) });

    ASSERT(play_offer(&p, BORN, 2, RED));
    ASSERT(play_offer(&p, BORN, 1, 0));
    ASSERT_TEXT(play_heard(&p), "born(2, red) k(2, red) born(1) k(1) ");
    ASSERT(play_offer(&p, E, 1, 0));
    ASSERT_TEXT(play_heard(&p), "e(1) over(1) ");
    ASSERT_EQ(bp_point_of(p.engine, 0, 2), 1);
    ASSERT(!bp_key_lives(p.engine, 1));
    ASSERT(bp_key_lives(p.engine, 2));
    ASSERT_EQ(bp_record(p.engine, 2), RED);
}

TEST(instances_of_a_template_are_ordered_by_the_birth_of_their_keys)
{
    static const struct bp_point eager[] = { { .wait = { BP_ON(X) } }, { .request = BP_MINE(K) } };
    THREADS({ BP_TABLE("eager", eager), .spawn = BP_ON(BORN) });

    play_offer(&p, BORN, 3, 0);
    play_offer(&p, BORN, 1, 0);
    play_offer(&p, BORN, 2, 0);
    play_heard(&p);
    ASSERT(play_offer(&p, X, 0, 0));
    ASSERT_TEXT(play_heard(&p), "x k(3) k(1) k(2) ");
}

TEST(a_retired_key_ends_its_threads_and_may_be_born_again_as_the_youngest)
{
    static const struct bp_point eager[] = { { .wait = { BP_ON(X) } },
                                             { .request = BP_MINE(K, .go = BP_GO(0)) } };
    THREADS({ BP_TABLE("eager", eager), .spawn = BP_ON(BORN) });

    play_offer(&p, BORN, 1, RED);
    play_offer(&p, BORN, 2, 0);
    ASSERT_EQ(bp_free_key(p.engine), 3);
    ASSERT(play_offer(&p, GONE, 1, 0));
    ASSERT_EQ(bp_point_of(p.engine, 0, 1), -1);
    ASSERT_EQ(bp_free_key(p.engine), 1);
    ASSERT(play_offer(&p, BORN, 1, BLUE));
    play_heard(&p);
    ASSERT(play_offer(&p, X, 0, 0));
    ASSERT_TEXT(play_heard(&p), "x k(2) k(1, blue) ");
    play_offer(&p, BORN, 3, 0);
    play_offer(&p, BORN, 4, 0);
    ASSERT_EQ(bp_free_key(p.engine), 0);
}

TEST(a_thread_spawned_by_an_event_does_not_hear_that_event)
{
    static const struct bp_point one[] = { { .wait = { BP_ON_MINE(BORN, .go = BP_END), BP_ON(X) } },
                                           { .request = BP_MINE(K) } };
    THREADS({ BP_TABLE("one", one), .spawn = BP_ON(BORN) });

    ASSERT(play_offer(&p, BORN, 1, 0));
    ASSERT_EQ(bp_point_of(p.engine, 0, 1), 0);
}

TEST(while_an_instance_lives_it_is_not_spawned_again_and_afterwards_it_is)
{
    static const struct bp_point one[] = { { .wait = { BP_ON(X) } },
                                           { .wait = { BP_ON(X, .go = BP_END) } } };
    THREADS({ BP_TABLE("one", one), .spawn = BP_ON_ANY(BP_TYPE(BORN) | BP_TYPE(EDIT)) });

    play_offer(&p, BORN, 1, 0);
    play_offer(&p, X, 0, 0);
    play_offer(&p, EDIT, 1, 0);
    ASSERT_EQ(bp_point_of(p.engine, 0, 1), 1);
    play_offer(&p, X, 0, 0);
    ASSERT_EQ(bp_point_of(p.engine, 0, 1), -1);
    play_offer(&p, EDIT, 1, 0);
    ASSERT_EQ(bp_point_of(p.engine, 0, 1), 0);
}

TEST(a_thread_may_be_spawned_by_an_event_without_a_key)
{
    static const struct bp_point one[] = { { .wait = { BP_ON(Y) } }, { .request = BP_ASK(A) } };
    THREADS({ BP_TABLE("one", one), .spawn = BP_ON(X, .has = RED) });

    play_offer(&p, X, 0, 0);
    play_offer(&p, Y, 0, 0);
    ASSERT_TEXT(play_heard(&p), "x y ");
    play_offer(&p, X, 0, RED);
    play_offer(&p, Y, 0, 0);
    ASSERT_TEXT(play_heard(&p), "x(red) y a ");
}

TEST(a_birth_beyond_the_cap_of_a_template_is_refused)
{
    static const struct bp_point one[] = { { .wait = { BP_ON_MINE(GONE) } } };
    THREADS({ BP_TABLE("one", one), .max = 2, .spawn = BP_ON(BORN, .has = RED) });

    ASSERT(play_offer(&p, BORN, 1, RED));
    ASSERT(play_offer(&p, BORN, 2, RED));
    ASSERT(!play_offer(&p, BORN, 3, RED));
    ASSERT_EQ(p.refusal.reason, BP_FULL);
    ASSERT_CONTAINS(buf_text(&p.why), "one more instance than is allowed of one");
    ASSERT(!bp_key_lives(p.engine, 3));
    ASSERT(play_offer(&p, BORN, 3, 0));
    ASSERT(play_offer(&p, GONE, 1, 0));
    ASSERT(play_offer(&p, BORN, 1, RED));
}

/* Thousands of keys, some gone again and born anew: requests come by age, however the heap and
 * the lists inside were stirred. */
TEST(the_largest_engine_orders_its_requests_by_the_age_of_their_keys)
{
    static const struct bp_point eager[] = { { .wait = { BP_ON(X) } },
                                             { .request = BP_MINE(K, .go = BP_GO(0)) } };
    static const struct bp_point gate[] = {
        { .wait = { BP_ON(Y, .go = BP_GO(1)) }, .block = { BP_ON(K) } },
        { .wait = { BP_ON(Y, .go = BP_GO(0)) } },
    };
    static const struct bp_thread threads[] = { { BP_TABLE("eager", eager), .spawn = BP_ON(BORN) },
                                                { BP_TABLE("gate", gate) } };
    static uint16_t born[3 * BP_KEYS_MAX];
    struct bp_program program = SMALL(threads);
    AUTO(bp_engine) e = bp_new(&program, BP_KEYS_MAX, NULL);
    struct dice d = { 5 };
    unsigned births = 0;
    struct bp_event next;

    while (births < BP_COUNT(born)) {
        uint16_t key = bp_free_key(e);

        if (!key || (births > 100 && dice_roll(&d, 4) == 0)) {
            key = born[dice_roll(&d, births)];
            if (bp_offer(e, &(struct bp_event){ .type = GONE, .key = key }, NULL) == 0)
                for (unsigned i = 0; i < births; i++)
                    born[i] = born[i] == key ? 0 : born[i];
            continue;
        }
        ASSERT(!bp_key_lives(e, key));
        ASSERT_EQ(bp_offer(e, &(struct bp_event){ .type = BORN, .key = key }, NULL), 0);
        born[births++] = key;
    }
    /* All wish, and are parked at the gate; then it opens. */
    ASSERT_EQ(bp_force(e, &(struct bp_event){ .type = X }, NULL), 0);
    ASSERT_EQ(bp_next(e, &next, NULL), 0);
    ASSERT_EQ(bp_force(e, &(struct bp_event){ .type = Y }, NULL), 0);
    for (unsigned i = 0; i < births; i++) {
        if (!born[i])
            continue;
        ASSERT_EQ(bp_next(e, &next, NULL), 1);
        ASSERT_EQ(next.key, born[i]);
        ASSERT_EQ(bp_force(e, &next, NULL), 0);
    }
    ASSERT_EQ(bp_next(e, &next, NULL), 0);
}

/* ---- records ---- */

TEST(a_latch_rewrites_the_record_and_a_parked_request_is_looked_at_again)
{
    static const struct bp_point guard[] = { { .block = { BP_ON(K, .has = RED) } } };
    static const struct bp_point one[] = { { .request = BP_MINE(K) } };
    THREADS({ BP_TABLE("guard", guard) }, { BP_TABLE("one", one), .spawn = BP_ON(BORN) });

    play_offer(&p, BORN, 1, RED | BLUE);
    ASSERT_TEXT(play_heard(&p), "born(1, red, blue) ");
    play_offer(&p, EDIT, 1, 0);
    ASSERT_TEXT(play_heard(&p), "edit(1) k(1, blue) ");
}

TEST(a_latch_can_also_bring_the_attribute_that_is_blocked)
{
    static const struct bp_point guard[] = { { .block = { BP_ON(K, .has = RED) } } };
    static const struct bp_point one[] = { { .wait = { BP_ON(X) } }, { .request = BP_MINE(K) } };
    THREADS({ BP_TABLE("guard", guard) }, { BP_TABLE("one", one), .spawn = BP_ON(BORN) });

    play_offer(&p, BORN, 1, 0);
    play_offer(&p, EDIT, 1, RED);
    play_offer(&p, X, 0, 0);
    ASSERT_TEXT(play_heard(&p), "born(1) edit(1, red) x ");
}

TEST(the_programs_record_is_inherited_by_all_requests)
{
    static const struct bp_point guard[] = {
        { .block = { BP_ON_ANY(BP_TYPE(K) | BP_TYPE(A), .lacks = GREEN) } }
    };
    static const struct bp_point one[] = { { .request = BP_MINE(K) } };
    static const struct bp_point two[] = { { .request = BP_ASK(A) } };
    THREADS({ BP_TABLE("guard", guard) }, { BP_TABLE("one", one), .spawn = BP_ON(BORN) },
            { BP_TABLE("two", two) });

    play_offer(&p, BORN, 1, RED);
    ASSERT_TEXT(play_heard(&p), "born(1, red) ");
    play_offer(&p, MODE, 0, GREEN);
    ASSERT_TEXT(play_heard(&p), "mode(green) k(1, red, green) a(green) ");
    ASSERT_EQ(bp_record(p.engine, 0), GREEN);
}

TEST(the_detail_of_a_key_goes_with_its_requests)
{
    static const struct bp_point one[] = { { .wait = { BP_ON(X) } },
                                           { .request = BP_MINE(K, .go = BP_GO(0)) } };
    struct bp_event next;
    THREADS({ BP_TABLE("one", one), .spawn = BP_ON(BORN) });

    ASSERT_EQ(bp_offer(p.engine, &(struct bp_event){ .type = BORN, .key = 1, .detail = 77 }, NULL),
              0);
    ASSERT_EQ(bp_force(p.engine, &(struct bp_event){ .type = X }, NULL), 0);
    ASSERT_EQ(bp_next(p.engine, &next, NULL), 1);
    ASSERT_EQ(next.detail, 77);
    bp_run(p.engine, NULL);
    bp_offer(p.engine, &(struct bp_event){ .type = EDIT, .key = 1, .detail = 78 }, NULL);
    bp_force(p.engine, &(struct bp_event){ .type = X }, NULL);
    bp_next(p.engine, &next, NULL);
    ASSERT_EQ(next.detail, 78);
}

/* ---- counts ---- */

TEST(times_counts_matches_of_the_first_wait_only_and_begins_anew)
{
    static const struct bp_point one[] = {
        { .wait = { BP_ON(X, .has = RED), BP_ON(Y, .go = BP_GO(0)) }, .times = 3 },
        { .request = BP_ASK(A, .go = BP_GO(0)) },
    };
    THREADS({ BP_TABLE("one", one) });

    play_offer(&p, X, 0, RED);
    play_offer(&p, X, 0, 0);
    play_offer(&p, X, 0, RED);
    ASSERT_EQ(bp_count_of(p.engine, 0, 0), 2);
    play_offer(&p, Y, 0, 0);
    ASSERT_EQ(bp_count_of(p.engine, 0, 0), 0);
    play_heard(&p);
    for (int i = 0; i < 3; i++)
        play_offer(&p, X, 0, RED);
    ASSERT_TEXT(play_heard(&p), "x(red) x(red) x(red) a ");
}

TEST(a_limit_is_fixed_when_the_engine_is_made)
{
    static const struct bp_point one[] = { { .wait = { BP_ON(X) }, .times = BP_LIMIT(0) },
                                           { .request = BP_ASK(A) } };
    static const struct bp_thread threads[] = { { BP_TABLE("one", one) } };
    static const struct bp_limit limits[] = { { "rounds", 3, 2 } };
    static const uint16_t five[] = { 5 };
    struct bp_program program = SMALL(threads);

    program.limits = limits;
    program.limit_count = 1;
    for (int given = 0; given < 2; given++) {
        PLAY p;
        int n = 0;

        play_start(&p, program, &(struct bp_options){ .limits = given ? five : NULL });
        while (bp_point_of(p.engine, 0, 0) == 0 && n < 100) {
            play_offer(&p, X, 0, 0);
            n++;
        }
        ASSERT_EQ(n, given ? 5 : 3);
    }
}

TEST(a_super_step_without_end_is_stopped_and_names_who_goes_on)
{
    static const struct bp_point one[] = { { .request = BP_ASK(A, .go = BP_GO(0)) } };
    static const struct bp_thread threads[] = { { BP_TABLE("one", one) } };
    PLAY p;

    play_start(&p, SMALL(threads), &(struct bp_options){ .steps_max = 1000 });
    ASSERT_EQ(p.refusal.reason, BP_ENDLESS);
    ASSERT_TEXT(p.refusal.by.thread->name, "one");
    ASSERT(!play_offer(&p, X, 0, 0));
    ASSERT_CONTAINS(buf_text(&p.why), "a super-step without end, kept going by one at 0");
}

/* ---- re-entry, recorded events ---- */

static int offered_inside;

static void offer_inside(void *ctx, const struct bp_event *event, const struct bp_place *by)
{
    struct bp_refusal refusal;

    (void)event;
    (void)by;
    offered_inside = bp_offer(*(struct bp_engine **)ctx, &(struct bp_event){ .type = Y }, &refusal);
    ASSERT_EQ(refusal.reason, BP_NOT_QUIET);
    ASSERT_EQ(bp_force(*(struct bp_engine **)ctx, &(struct bp_event){ .type = Y }, &refusal), -1);
}

TEST(an_offer_from_inside_the_callback_is_refused)
{
    static const struct bp_point one[] = { { .wait = { BP_ON(X) } } };
    static const struct bp_thread threads[] = { { BP_TABLE("one", one) } };
    struct bp_program program = SMALL(threads);
    struct bp_engine *engine;

    engine = bp_new(&program, 1, &(struct bp_options){ .selected = offer_inside, .ctx = &engine });
    ASSERT_EQ(bp_offer(engine, &(struct bp_event){ .type = X }, NULL), 0);
    ASSERT_EQ(offered_inside, -1);
    bp_free(engine);
}

TEST(forcing_a_record_leads_to_the_same_state_and_a_mismatch_is_explained)
{
    THREADS({ BP_TABLE("worker", worker), .spawn = BP_ON(BORN) });
    struct bp_engine *again = bp_new(&p.program, 4, NULL);
    struct bp_refusal refusal;
    AUTO_BUF text = BUF_INIT(1000);

    ASSERT_EQ(bp_force(again, &(struct bp_event){ .type = BORN, .key = 1, .bits = RED }, NULL), 0);
    ASSERT_EQ(bp_force(again, &(struct bp_event){ .type = E, .key = 1 }, &refusal), -1);
    ASSERT_EQ(refusal.reason, BP_NOT_NEXT);
    bp_refusal_text(&p.program, &(struct bp_event){ .type = E, .key = 1 }, &refusal, &text);
    ASSERT_TEXT(buf_text(&text),
                "e(1) does not come next: that is k(1, red), requested by worker(1) at 0");
    ASSERT_EQ(bp_force(again, &(struct bp_event){ .type = K, .key = 1 }, &refusal), -1);
    ASSERT_EQ(bp_force(again, &(struct bp_event){ .type = K, .key = 1, .bits = RED }, NULL), 0);
    ASSERT_EQ(bp_force(again, &(struct bp_event){ .type = K, .key = 1, .bits = RED }, &refusal),
              -1);
    ASSERT_EQ(refusal.reason, BP_NOT_REQUESTED);
    ASSERT_EQ(bp_point_of(again, 0, 1), 1);
    ASSERT_EQ(bp_record(again, 1), RED);
    bp_free(again);
}

/* ---- no allocation after set-up ---- */

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif

static unsigned long allocations;

#ifdef WITH_ASAN
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *p, size_t n)
{
    (void)p;
    (void)n;
    allocations++;
}

static void on_free(const volatile void *p)
{
    (void)p;
}

static void count_allocations(void)
{
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}
#else
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t n);

void *malloc(size_t n)
{
    allocations++;
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    allocations++;
    return __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
    allocations++;
    return __libc_realloc(old, n);
}

static void count_allocations(void)
{
}
#endif

TEST(nothing_is_allocated_after_set_up)
{
    THREADS({ BP_TABLE("worker", worker), .spawn = BP_ON(BORN) });
    struct bp_engine *quiet;
    unsigned long before;

    count_allocations();
    before = allocations;
    quiet = bp_new(&p.program, 4, NULL);
    ASSERT(allocations > before);
    before = allocations;
    for (int i = 0; i < 10000; i++) {
        uint16_t key = bp_free_key(quiet);
        struct bp_refusal refusal;

        bp_offer(quiet, &(struct bp_event){ .type = BORN, .key = key }, NULL);
        bp_offer(quiet, &(struct bp_event){ .type = BORN, .key = key }, &refusal);
        bp_offer(quiet, &(struct bp_event){ .type = EDIT, .key = key }, NULL);
        bp_offer(quiet, &(struct bp_event){ .type = E, .key = key }, NULL);
    }
    ASSERT_EQ(allocations, before);
    ASSERT_EQ(bp_free_key(quiet), 1);
    bp_free(quiet);
}
