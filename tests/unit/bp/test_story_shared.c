/* Things that are shared, told in tables: forks on a table, a room with a door, attempts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "small.h"
#include "variant.h"

/* ---- two at a table with two forks ---- */

enum { P1A = 1, P1B, P2A, P2B, ATE1, ATE2, TABLE_TYPES };

static const struct bp_type table_types[TABLE_TYPES] = {
    [P1A] = { "1_takes_a", BP_EXT }, [P1B] = { "1_takes_b", BP_EXT },
    [P2A] = { "2_takes_a", BP_EXT }, [P2B] = { "2_takes_b", BP_EXT },
    [ATE1] = { "1_ate", BP_FINAL },  [ATE2] = { "2_ate", BP_FINAL },
};

#define FORK(by_1, by_2)                                                                           \
    {                                                                                              \
        { .name = "on the table",                                                                  \
          .wait = { BP_ON(by_1, .go = BP_GO(1)), BP_ON(by_2, .go = BP_GO(2)) } },                  \
            { .name = "held by 1",                                                                 \
              .wait = { BP_ON(ATE1, .go = BP_GO(0)) },                                             \
              .block = { BP_ON(by_1), BP_ON(by_2) } },                                             \
        {                                                                                          \
            .name = "held by 2", .wait = { BP_ON(ATE2, .go = BP_GO(0)) }, .block = {               \
                BP_ON(by_1),                                                                       \
                BP_ON(by_2)                                                                        \
            }                                                                                      \
        }                                                                                          \
    }
#define DINER(first, second, ate)                                                                  \
    {                                                                                              \
        { .name = "thinks", .wait = { BP_ON(first) }, .block = { BP_ON(second) } },                \
            { .name = "has one fork", .wait = { BP_ON(second) } },                                 \
        {                                                                                          \
            .name = "eats", .request = BP_ASK(ate, .go = BP_GO(0))                                 \
        }                                                                                          \
    }

static const struct bp_point fork_a[] = FORK(P1A, P2A);
static const struct bp_point fork_b[] = FORK(P1B, P2B);
static const struct bp_point diner_1[] = DINER(P1A, P1B, ATE1);
static const struct bp_point diner_2[] = DINER(P2B, P2A, ATE2);
static const struct bp_point diner_2_in_order[] = DINER(P2A, P2B, ATE2);
/* Both at once: 1 has eaten its way to both forks and 2 gets one of them. */
static const struct bp_point no_sharing[] = {
    { .wait = { BP_ON(P1A) } },
    { .wait = { BP_ON(P2A), BP_ON(ATE1, .go = BP_GO(0)) } },
    { .name = "fork a in two hands", .bad = true },
};

#define TABLE(second)                                                                              \
    { BP_TABLE("fork_a", fork_a) }, { BP_TABLE("fork_b", fork_b) },                                \
        { BP_TABLE("diner_1", diner_1) }, { BP_TABLE("diner_2", second) },                         \
    {                                                                                              \
        BP_TABLE("no_sharing", no_sharing), .kind = BP_PROPERTY                                    \
    }

static const struct bp_thread each_its_left[] = { TABLE(diner_2) };
static const struct bp_thread both_a_first[] = { TABLE(diner_2_in_order) };

TEST(diners_who_each_hold_one_fork_wait_forever_and_the_refusal_names_the_holder)
{
    PLAY p;

    play_start(&p, STORY("table", table_types, each_its_left), NULL);
    ASSERT(play_offer(&p, P1A, 0, 0));
    ASSERT(play_offer(&p, P2B, 0, 0));
    ASSERT(!play_offer(&p, P1B, 0, 0));
    ASSERT_TEXT(buf_text(&p.why), "1_takes_b is blocked by fork_b at 2 (held by 2)");
    ASSERT(!play_offer(&p, P2A, 0, 0));
    ASSERT_TEXT(buf_text(&p.why), "2_takes_a is blocked by fork_a at 1 (held by 1)");
    ASSERT_TEXT(play_heard(&p), "1_takes_a 2_takes_b ");
}

TEST(a_meal_puts_both_forks_back)
{
    PLAY p;

    play_start(&p, STORY("table", table_types, each_its_left), NULL);
    for (int meal = 0; meal < 2; meal++) {
        ASSERT(!play_offer(&p, P1B, 0, 0)); /* not yet its turn */
        ASSERT_EQ(p.refusal.by.index, 2);
        ASSERT(play_offer(&p, P1A, 0, 0));
        ASSERT(play_offer(&p, P1B, 0, 0));
        ASSERT_TEXT(play_heard(&p), "1_takes_a 1_takes_b 1_ate ");
        ASSERT(play_offer(&p, P2B, 0, 0));
        ASSERT(play_offer(&p, P2A, 0, 0));
        ASSERT_TEXT(play_heard(&p), "2_takes_b 2_takes_a 2_ate ");
    }
}

TEST(the_checker_finds_the_deadlock_of_the_diners_in_two_events)
{
    struct bp_program p = STORY("table", table_types, each_its_left);
    AUTO_REPORT report = { .program = NULL };
    AUTO_BUF text = BUF_INIT(1 << 16);

    expect_proved(t, &p, BP_PROGRESS);
    ASSERT_TEXT(counterexample(t, &p, BP_PROGRESS), "1_takes_a 2_takes_b");
    ASSERT_OK(bp_check(&p, NULL, &report, &t->err));
    bp_trace_text(&p, &bp_finding_find(&report, BP_PROGRESS)->trace, &text);
    ASSERT_TEXT(buf_text(&text),
                "     1. 1_takes_a                     from outside\n"
                "     2. 2_takes_b                     from outside\n"
                "     => from here no 1_ate or 2_ate can be reached without a person stepping in\n"
                "    then:\n"
                "        fork_a at 1 (held by 1)\n"
                "        fork_b at 2 (held by 2)\n"
                "        diner_1 at 1 (has one fork)\n"
                "        diner_2 at 1 (has one fork)\n");
}

TEST(diners_who_take_the_forks_in_one_order_always_eat)
{
    struct bp_program p = STORY("table", table_types, both_a_first);

    expect_proved(t, &p, NULL);
}

TEST(a_fork_that_does_not_block_is_in_two_hands_after_two_events)
{
    static const struct bp_point loose[] = {
        { .wait = { BP_ON(P1A, .go = BP_GO(1)), BP_ON(P2A, .go = BP_GO(2)) } },
        { .wait = { BP_ON(ATE1, .go = BP_GO(0)) } },
        { .wait = { BP_ON(ATE2, .go = BP_GO(0)) } },
    };
    struct bp_program p = STORY("table", table_types, both_a_first);

    ASSERT_TEXT(counterexample(t, variant(t, &p, (struct bp_thread){ BP_TABLE("fork_a", loose) }),
                               "no_sharing"),
                "1_takes_a 2_takes_a");
}

/* ---- a room for one, and a door that closes: the example of bp.h ---- */

enum { WANT = 1, ENTER, LEAVE, CLOSE, OPEN, ROOM_TYPES };

static const struct bp_type room_types[ROOM_TYPES] = {
    [WANT] = { "want", BP_EXT | BP_KEYED | BP_BIRTH },
    [ENTER] = { "enter", BP_KEYED | BP_FINAL },
    [LEAVE] = { "leave", BP_EXT | BP_KEYED | BP_RETIRE },
    [CLOSE] = { "close", BP_EXT },
    [OPEN] = { "open", BP_EXT },
};
static const struct bp_point visitor[] = {
    { .name = "wants in", .request = BP_MINE(ENTER) },
    { .name = "inside", .wait = { BP_ON_MINE(LEAVE) }, .block = { BP_ON(ENTER) } },
};
static const struct bp_point closed[] = {
    { .wait = { BP_ON(CLOSE) } },
    { .name = "closed", .wait = { BP_ON(OPEN, .go = BP_GO(0)) }, .block = { BP_ON(ENTER) } },
};
static const struct bp_point one_inside[] = {
    { .wait = { BP_ON_MINE(ENTER) } },
    { .wait = { BP_ON(ENTER) } },
    { .name = "two are inside", .bad = true },
};
static const struct bp_point none_while_closed[] = {
    { .wait = { BP_ON(CLOSE) } },
    { .wait = { BP_ON(ENTER), BP_ON(OPEN, .go = BP_GO(0)) } },
    { .name = "entered a closed room", .bad = true },
};
static const struct bp_thread room[] = {
    { BP_TABLE("visitor", visitor), .spawn = BP_ON(WANT) },
    { BP_TABLE("closed", closed), .kind = BP_GUARD },
    { BP_TABLE("one_inside", one_inside), .kind = BP_PROPERTY, .spawn = BP_ON(WANT) },
    { BP_TABLE("none_while_closed", none_while_closed), .kind = BP_PROPERTY },
};

TEST(visitors_enter_one_after_the_other_in_the_order_in_which_they_came)
{
    PLAY p;

    play_start(&p, STORY("room", room_types, room), NULL);
    ASSERT(play_offer(&p, WANT, 3, 0));
    ASSERT(play_offer(&p, WANT, 1, 0));
    ASSERT(play_offer(&p, WANT, 2, 0));
    ASSERT_TEXT(play_heard(&p), "want(3) enter(3) want(1) want(2) ");
    ASSERT(play_offer(&p, LEAVE, 3, 0));
    ASSERT_TEXT(play_heard(&p), "leave(3) enter(1) ");
    ASSERT(play_offer(&p, LEAVE, 2, 0)); /* has waited long enough */
    ASSERT(play_offer(&p, WANT, 3, 0));
    ASSERT(play_offer(&p, LEAVE, 1, 0));
    ASSERT_TEXT(play_heard(&p), "leave(2) want(3) leave(1) enter(3) ");
}

TEST(nobody_enters_a_closed_room_and_who_waits_enters_when_it_opens)
{
    PLAY p;

    play_start(&p, STORY("room", room_types, room), NULL);
    ASSERT(play_offer(&p, CLOSE, 0, 0));
    ASSERT(play_offer(&p, WANT, 1, 0));
    ASSERT_TEXT(play_heard(&p), "close want(1) ");
    ASSERT(play_offer(&p, CLOSE, 0, 0)); /* twice closed is closed */
    ASSERT(play_offer(&p, OPEN, 0, 0));
    ASSERT_TEXT(play_heard(&p), "close open enter(1) ");
}

TEST(the_room_is_proved_with_one_to_four_keys)
{
    struct bp_program p = STORY("room", room_types, room);

    for (unsigned keys = 1; keys <= 4; keys++) {
        AUTO_REPORT report = { .program = NULL };

        ASSERT_OK(bp_check(&p, &(struct bp_check_options){ .keys = keys }, &report, &t->err));
        ASSERT_EQ(report.keys, keys);
        ASSERT_EQ(bp_report_verdict(&report), BP_PROVED);
    }
}

TEST(a_visitor_who_does_not_hold_the_door_lets_a_second_one_in)
{
    static const struct bp_point careless[] = { { .request = BP_MINE(ENTER) },
                                                { .wait = { BP_ON_MINE(LEAVE) } } };
    struct bp_program p = STORY("room", room_types, room);
    const struct bp_program *bad =
        variant(t, &p, (struct bp_thread){ BP_TABLE("visitor", careless), .spawn = BP_ON(WANT) });
    AUTO_REPORT one = { .program = NULL }, two = { .program = NULL };

    /* With one key there is nobody to share with. */
    ASSERT_OK(bp_check(bad, &(struct bp_check_options){ .keys = 1 }, &one, &t->err));
    ASSERT_EQ(bp_report_verdict(&one), BP_PROVED);
    ASSERT_OK(bp_check(bad, &(struct bp_check_options){ .keys = 2 }, &two, &t->err));
    ASSERT_EQ(bp_finding_find(&two, "one_inside")->verdict, BP_VIOLATED);
    ASSERT_EQ(bp_finding_find(&two, "one_inside")->trace.step_count, 4);
    ASSERT_EQ(bp_finding_find(&two, "none_while_closed")->verdict, BP_PROVED);
    ASSERT_TEXT(counterexample(t, bp_program_without(&p, "closed", &t->arena), "none_while_closed"),
                "want(1) close enter(1)");
}

/* ---- attempts ---- */

enum { TRY = 1, OK_, FAILED, GIVE_UP, FINISHED, TRY_TYPES };

static const struct bp_type try_types[TRY_TYPES] = {
    [TRY] = { "try" },
    [OK_] = { "ok", BP_EXT },
    [FAILED] = { "failed", BP_EXT },
    [GIVE_UP] = { "give_up", BP_FINAL },
    [FINISHED] = { "finished", BP_FINAL },
};
static const struct bp_limit try_limits[] = { { "attempts", 3, 2 } };
static const struct bp_point counter[] = {
    { .wait = { BP_ON(FAILED) }, .times = BP_LIMIT(0) },
    { .name = "has had enough", .request = BP_ASK(GIVE_UP), .block = { BP_ON(TRY) } },
};
static const struct bp_point polite_counter[] = {
    { .wait = { BP_ON(FAILED) }, .times = BP_LIMIT(0) },
    { .request = BP_ASK(GIVE_UP) },
};
/* Believes an answer that nobody asked for. */
static const struct bp_point naive_counter[] = {
    { .wait = { BP_ON(FAILED), BP_ON(OK_, .go = BP_END) }, .times = BP_LIMIT(0) },
    { .request = BP_ASK(GIVE_UP), .block = { BP_ON(TRY) } },
};
#define UNTIL_FINISHED .until = { BP_ON(FINISHED, .go = BP_END) }
static const struct bp_point attempt[] = {
    { .name = "tries", .request = BP_ASK(TRY) },
    { .name = "waits", .wait = { BP_ON(OK_), BP_ON(FAILED, .go = BP_GO(0)) } },
    { .request = BP_ASK(FINISHED) },
};
static const struct bp_point only_answers[] = {
    { .wait = { BP_ON(TRY) }, .block = { BP_ON(OK_), BP_ON(FAILED) } },
    { .wait = { BP_ON(OK_, .go = BP_GO(0)), BP_ON(FAILED, .go = BP_GO(0)) } },
};
static const struct bp_point two_tries[] = { { .wait = { BP_ON(TRY) }, .times = 3 },
                                             { .name = "a third try", .bad = true } };
static const struct bp_thread retry[] = {
    { BP_TABLE("counter", counter), .kind = BP_GUARD, UNTIL_FINISHED },
    { BP_TABLE("attempt", attempt), .until = { BP_ON(GIVE_UP, .go = BP_END) } },
    { BP_TABLE("only_answers", only_answers), .kind = BP_ENVIRONMENT },
    { BP_TABLE("two_tries", two_tries), .kind = BP_PROPERTY },
};

static struct bp_program retry_program(void)
{
    struct bp_program p = STORY("retry", try_types, retry);

    p.limits = try_limits;
    p.limit_count = 1;
    return p;
}

TEST(attempts_end_with_the_limit_that_the_engine_was_given)
{
    static const uint16_t five[] = { 5 }, zero[] = { 0 };
    const struct {
        const uint16_t *limits;
        unsigned attempts;
    } cases[] = { { NULL, 3 }, { five, 5 }, { zero, 3 } };

    for (unsigned i = 0; i < BP_COUNT(cases); i++) {
        PLAY p;

        play_start(&p, retry_program(), &(struct bp_options){ .limits = cases[i].limits });
        ASSERT_TEXT(play_heard(&p), "try ");
        for (unsigned k = 1; k < cases[i].attempts; k++) {
            ASSERT(play_offer(&p, FAILED, 0, 0));
            ASSERT_TEXT(play_heard(&p), "failed try ");
            ASSERT_EQ(bp_count_of(p.engine, 0, 0), k);
        }
        ASSERT(play_offer(&p, FAILED, 0, 0));
        ASSERT_TEXT(play_heard(&p), "failed give_up ");
        ASSERT_EQ(bp_point_of(p.engine, 1, 0), -1);
        ASSERT_EQ(bp_count_of(p.engine, 0, 0), 0);
    }
}

TEST(an_attempt_that_works_finishes_and_is_no_longer_counted)
{
    PLAY p;

    play_start(&p, retry_program(), NULL);
    ASSERT(play_offer(&p, FAILED, 0, 0));
    ASSERT(play_offer(&p, OK_, 0, 0));
    ASSERT_TEXT(play_heard(&p), "try failed try ok finished ");
    ASSERT_EQ(bp_point_of(p.engine, 0, 0), -1);
}

TEST(a_counter_that_blocks_is_proved_and_one_that_relies_on_priority_is_not)
{
    struct bp_program p = retry_program();
    const struct bp_program *polite =
        variant(t, &p,
                (struct bp_thread){ BP_TABLE("counter", polite_counter), .kind = BP_GUARD,
                                    UNTIL_FINISHED });
    struct bp_check_options three = { .limits = (const uint16_t[]){ 3 } };
    AUTO_REPORT report = { .program = NULL };

    expect_proved(t, &p, NULL);
    ASSERT_TEXT(counterexample(t, polite, "two_tries"), "try failed try failed try");
    /* A limit above what the property allows breaks it, too. */
    ASSERT_OK(bp_check(&p, &three, &report, &t->err));
    ASSERT_EQ(bp_finding_find(&report, "two_tries")->verdict, BP_VIOLATED);
    ASSERT_EQ(bp_finding_find(&report, "two_tries")->trace.step_count, 5);
    ASSERT_EQ(bp_finding_find(&report, BP_PROGRESS)->verdict, BP_PROVED);
}

/* Safety assumes nothing of the outside, so an `ok` may come before anything was tried. */
TEST(a_counter_that_believes_an_answer_nobody_asked_for_is_found)
{
    struct bp_program p = retry_program();
    const struct bp_program *naive =
        variant(t, &p, (struct bp_thread){ BP_TABLE("counter", naive_counter), .kind = BP_GUARD });
    AUTO_REPORT report = { .program = NULL };
    const struct bp_trace *trace;

    ASSERT_OK(bp_check(naive, NULL, &report, &t->err));
    ASSERT_EQ(bp_finding_find(&report, "two_tries")->verdict, BP_VIOLATED);
    trace = &bp_finding_find(&report, "two_tries")->trace;
    ASSERT_EQ(trace->step_count, 6);
    ASSERT_EQ(bp_trace_replay(naive, trace, "two_tries", NULL), 0);
    ASSERT(bp_trace_replay(&p, trace, "two_tries", NULL) > 0);
    ASSERT_EQ(bp_finding_find(&report, BP_PROGRESS)->verdict, BP_PROVED);
}
