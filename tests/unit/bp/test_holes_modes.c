/* Holes that switching modes tears.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/programs/modes_int.h"
#include "bp/programs/programs_int.h"
#include "variant.h"

static const struct bp_thread *thread_of(const char *name)
{
    return &bp_program_modes.threads[bp_thread_find(&bp_program_modes, name)];
}

TEST(a_guard_that_a_mode_switch_interrupts_and_so_unblocks_is_found)
{
    struct bp_thread guard = *thread_of("ask_unless_cooking");
    const char *trace;

    guard.until[0] = (struct bp_sel)BP_ON(EV_SET_MODE, .go = BP_END);
    trace = counterexample(t, variant(t, &bp_program_modes, guard), "structured_needs_yes");
    ASSERT_TEXT(trace, "call(1) set_mode thought act(1)");
}

TEST(two_model_requests_after_a_mode_switch_while_thinking_are_found)
{
    const struct bp_program *p = bp_program_without(&bp_program_modes, "one_thought", &t->arena);
    struct bp_thread loop = *thread_of("loop");

    /* A loop that begins anew in the other mode, as one loop a mode would. */
    loop.until[1] = (struct bp_sel)BP_ON(EV_SET_MODE, .go = BP_GO(0));
    ASSERT_TEXT(counterexample(t, variant(t, p, loop), "one_model_request"),
                "think set_mode think");
    /* The guard mends even that loop's safety. */
    expect_proved(t, variant(t, &bp_program_modes, loop), BP_PROGRESS);
}

TEST(a_mode_that_the_model_could_set_is_found)
{
    static const struct bp_point sneaks[] = { { .request = BP_MINE(EV_ACT, .set = COOK) } };
    struct bp_thread call = *thread_of("call");

    call.at = sneaks;
    call.n = 1;
    ASSERT_CONTAINS(counterexample(t, variant(t, &bp_program_modes, call), "mode_is_the_persons"),
                    "act(1, cook)");
}
