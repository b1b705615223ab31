/* Guards that look right and are not: the checker finds each, with a shortest trace.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/programs/approval_int.h"
#include "bp/programs/programs_int.h"
#include "variant.h"

/* ---- an approval gate that waits for the first act before it blocks ---- */

enum {
    G_NONE,
    G_PROMPT,
    G_THINK,
    G_THOUGHT,
    G_ACT,
    G_ACTED,
    G_OBSERVE,
    G_GATE,
    G_RESPONSE,
    G_ENTER_WIGGUM,
};

static const struct bp_type gate_types[] = {
    [G_PROMPT] = { "prompt", BP_EXT },
    [G_THINK] = { "think" },
    [G_THOUGHT] = { "thought", BP_EXT | BP_LATCH, RISKY },
    [G_ACT] = { "act" },
    [G_ACTED] = { "acted", BP_EXT },
    [G_OBSERVE] = { "observe" },
    [G_GATE] = { "approval_gate" },
    [G_RESPONSE] = { "approval_response", BP_EXT, ALLOWED },
    [G_ENTER_WIGGUM] = { "enterWiggum", BP_EXT },
};

static const char *const gate_bits[] = { "risky", "dangerous", "allowed", "more" };

static const struct bp_point structured_loop[] = {
    { .wait = { BP_ON(G_PROMPT) } },  { .request = BP_ASK(G_THINK) },
    { .wait = { BP_ON(G_THOUGHT) } }, { .request = BP_ASK(G_ACT) },
    { .wait = { BP_ON(G_ACTED) } },   { .request = BP_ASK(G_OBSERVE, .go = BP_GO(0)) },
};

static const struct bp_point sketched_gate[] = {
    { .wait = { BP_ON(G_ACT, .has = RISKY) } },
    { .request = BP_ASK(G_GATE), .block = { BP_ON(G_ACT) } },
    { .wait = { BP_ON(G_RESPONSE, .go = BP_GO(0)) } },
};

/* The same rule, blocking from the start. */
static const struct bp_point mended_gate[] = {
    { .wait = { BP_ON(G_THOUGHT, .has = RISKY) }, .block = { BP_ON(G_ACT, .has = RISKY) } },
    { .request = BP_ASK(G_GATE), .block = { BP_ON(G_ACT, .has = RISKY) } },
    { .wait = { BP_ON(G_RESPONSE, .has = ALLOWED), BP_ON(G_THOUGHT, .go = BP_GO(1)) },
      .block = { BP_ON(G_ACT, .has = RISKY) } },
    { .wait = { BP_ON(G_ACT, .go = BP_GO(0)), BP_ON(G_THOUGHT, .has = RISKY, .go = BP_GO(1)),
                BP_ON(G_THOUGHT, .go = BP_GO(0)) } },
};

static const struct bp_point gate_property[] = {
    { .wait = { BP_ON(G_GATE), BP_ON(G_ACT, .has = RISKY, .go = BP_GO(3)) } },
    { .wait = { BP_ON(G_RESPONSE, .has = ALLOWED), BP_ON(G_ACT, .has = RISKY, .go = BP_GO(3)) } },
    { .wait = { BP_ON(G_ACT, .go = BP_GO(0)), BP_ON(G_THOUGHT, .go = BP_GO(0)) } },
    { .bad = true },
};

#define WIGGUM .until = { BP_ON(G_ENTER_WIGGUM, .go = BP_END) }

static const struct bp_thread gate_threads[] = {
    { BP_TABLE("structuredLoop", structured_loop), WIGGUM },
    { BP_TABLE("approvalGate", sketched_gate), .kind = BP_GUARD, WIGGUM },
    { BP_TABLE("approved", gate_property), .kind = BP_PROPERTY },
};

static const struct bp_program gate_program = {
    .name = "gate",
    .types = gate_types,
    .threads = gate_threads,
    .bits = gate_bits,
    .type_count = BP_COUNT(gate_types),
    .thread_count = BP_COUNT(gate_threads),
    .bit_count = BP_COUNT(gate_bits),
};

TEST(a_gate_that_waits_for_the_first_act_lets_it_through)
{
    ASSERT_TEXT(counterexample(t, &gate_program, "approved"),
                "prompt think thought(risky) act(risky)");
}

TEST(the_gate_that_blocks_from_the_start_still_falls_to_an_interrupt)
{
    const struct bp_program *p = variant(
        t, &gate_program,
        (struct bp_thread){ BP_TABLE("approvalGate", mended_gate), .kind = BP_GUARD, WIGGUM });
    const struct bp_thread kept = { BP_TABLE("approvalGate", mended_gate), .kind = BP_GUARD };
    struct bp_thread loop = { BP_TABLE("structuredLoop", structured_loop) };

    /* Interrupted together with the loop it does no harm; but the loop alone may go on. */
    expect_proved(t, p, BP_PROGRESS);
    ASSERT_TEXT(counterexample(t, variant(t, p, loop), "approved"),
                "prompt think thought(risky) enterWiggum act(risky)");
    expect_proved(t, variant(t, variant(t, p, loop), kept), BP_PROGRESS);
}

/* ---- one thread of the approval program changed ---- */

#define RISKY_CALLS                                                                                \
    .kind = BP_GUARD, .spawn = BP_ON_ANY(BP_TYPE(EV_CALL) | BP_TYPE(EV_EDIT), .has = RISKY),       \
    .until = { BP_ON_MINE(EV_EDIT, .lacks = RISKY, .go = BP_END) }

TEST(a_block_that_is_dropped_while_waiting_for_the_answer_is_found)
{
    static const struct bp_point drops[] = {
        { .request = BP_MINE(EV_ASK), .block = { BP_ON_MINE(EV_ACT) } },
        { .wait = { BP_ON_MINE(EV_ANSWER), BP_ON_MINE(EV_EDIT, .go = BP_GO(0)) } },
        { .wait = { BP_ON_MINE(EV_EDIT, .go = BP_GO(0)) } },
    };
    const struct bp_program *p = variant(
        t, &bp_program_approval, (struct bp_thread){ BP_TABLE("ask_first", drops), RISKY_CALLS });

    ASSERT_TEXT(counterexample(t, p, "risky_needs_yes"),
                "call(1, risky) ask(1, risky) thought act(1, risky)");
}

TEST(an_answer_for_another_call_that_is_accepted_is_found)
{
    static const struct bp_point any_answer[] = {
        { .request = BP_MINE(EV_ASK), .block = { BP_ON_MINE(EV_ACT) } },
        { .wait = { BP_ON(EV_ANSWER), BP_ON_MINE(EV_EDIT, .go = BP_GO(0)) },
          .block = { BP_ON_MINE(EV_ACT) } },
        { .wait = { BP_ON_MINE(EV_EDIT, .go = BP_GO(0)) } },
    };
    const struct bp_program *p =
        variant(t, &bp_program_approval,
                (struct bp_thread){ BP_TABLE("ask_first", any_answer), RISKY_CALLS });

    /* One call asks, another is answered. */
    ASSERT_TEXT(counterexample(t, p, "risky_needs_yes"),
                "call(1) call(2, risky) ask(2, risky) thought answer(1) act(2, risky)");
}

TEST(danger_that_is_judged_only_when_the_call_is_born_is_found)
{
    static const struct bp_point at_birth[] = { { .block = { BP_ON_MINE(EV_ACT) } } };
    const struct bp_program *p =
        variant(t, &bp_program_approval,
                (struct bp_thread){ BP_TABLE("no_danger", at_birth), .kind = BP_GUARD,
                                    .spawn = BP_ON(EV_CALL, .has = DANGEROUS) });

    ASSERT_TEXT(counterexample(t, p, "never_dangerous"),
                "call(1) thought edit(1, dangerous) act(1, dangerous)");
}

TEST(a_no_after_which_the_run_hangs_is_found)
{
    static const struct bp_point says_nothing[] = {
        { .wait = { BP_ON_MINE(EV_ANSWER, .lacks = ALLOWED) } },
        { .block = { BP_ON_MINE(EV_ACT) } },
    };
    const struct bp_program *p =
        variant(t, &bp_program_approval,
                (struct bp_thread){ BP_TABLE("a_no_stays_no", says_nothing), .kind = BP_GUARD,
                                    .spawn = BP_ON(EV_CALL) });

    ASSERT_TEXT(counterexample(t, p, BP_PROGRESS),
                "prompt think call(1, risky) ask(1, risky) answer(1) | thought");
    expect_proved(t, p, BP_PROGRESS);
}

TEST(an_edit_after_the_yes_that_is_not_asked_again_is_found)
{
    static const struct bp_point asks_once[] = {
        { .request = BP_MINE(EV_ASK), .block = { BP_ON_MINE(EV_ACT) } },
        { .wait = { BP_ON_MINE(EV_ANSWER) }, .block = { BP_ON_MINE(EV_ACT) } },
    };
    const struct bp_program *p =
        variant(t, &bp_program_approval,
                (struct bp_thread){ BP_TABLE("ask_first", asks_once), .kind = BP_GUARD,
                                    .spawn = BP_ON(EV_CALL) });

    ASSERT_TEXT(counterexample(t, p, "risky_needs_yes"),
                "call(1) ask(1) thought answer(1, allowed) edit(1, risky) act(1, risky)");
}

TEST(an_endless_super_step_has_no_progress)
{
    static const struct bp_point spins[] = { { .request = BP_ASK(EV_GIVE_UP, .go = BP_GO(0)) } };
    struct bp_program *p = ARENA_NEW(&t->arena, struct bp_program);
    struct bp_thread *threads =
        ARENA_NEW_N(&t->arena, struct bp_thread, bp_program_approval.thread_count + 1u);

    *p = bp_program_approval;
    threads[0] = (struct bp_thread){ BP_TABLE("spins", spins) };
    memcpy(threads + 1, p->threads, p->thread_count * sizeof(threads[0]));
    p->threads = threads;
    p->thread_count++;
    ASSERT_TEXT(counterexample(t, p, BP_PROGRESS), "| give_up");
}
