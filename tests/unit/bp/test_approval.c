/* Whole turns of the approval program on the engine, as a person would see them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/engine.h"
#include "bp/programs/approval_int.h"
#include "bp/programs/programs_int.h"
#include "small.h"

static void start(struct play *p, const uint16_t *limits)
{
    play_start(p, bp_program_approval, &(struct bp_options){ .limits = limits });
    ASSERT(play_offer(p, EV_PROMPT, 0, 0));
    ASSERT_TEXT(play_heard(p), "prompt think ");
}

TEST(a_turn_without_calls_is_think_and_done)
{
    PLAY p;

    start(&p, NULL);
    ASSERT(play_offer(&p, EV_THOUGHT, 0, 0));
    ASSERT_TEXT(play_heard(&p), "thought done ");
    ASSERT(!play_offer(&p, EV_PROMPT, 0, 0));
    ASSERT_TEXT(buf_text(&p.why), "prompt is blocked by nothing_after_done at 1 (holds)");
}

TEST(parallel_calls_act_side_by_side_and_are_joined_before_observing)
{
    PLAY p;

    start(&p, NULL);
    play_offer(&p, EV_CALL, 1, 0);
    play_offer(&p, EV_CALL, 2, 0);
    play_offer(&p, EV_CALL, 3, 0);
    ASSERT(play_offer(&p, EV_THOUGHT, 0, MORE));
    ASSERT_TEXT(play_heard(&p), "call(1) call(2) call(3) thought(more) act(1) act(2) act(3) ");
    play_offer(&p, EV_ACTED, 2, 0);
    play_offer(&p, EV_ACTED, 1, 0);
    ASSERT_TEXT(play_heard(&p), "acted(2) settled(2) acted(1) settled(1) ");
    play_offer(&p, EV_ACTED, 3, 0);
    ASSERT_TEXT(play_heard(&p), "acted(3) settled(3) observe think ");
}

TEST(a_risky_call_waits_for_its_own_yes_while_others_act)
{
    PLAY p;

    start(&p, NULL);
    play_offer(&p, EV_CALL, 1, RISKY);
    play_offer(&p, EV_CALL, 2, 0);
    play_offer(&p, EV_THOUGHT, 0, MORE);
    ASSERT_TEXT(play_heard(&p), "call(1, risky) ask(1, risky) call(2) thought(more) act(2) ");
    play_offer(&p, EV_ANSWER, 2, ALLOWED);
    ASSERT_TEXT(play_heard(&p), "answer(2, allowed) ");
    play_offer(&p, EV_ANSWER, 1, ALLOWED);
    ASSERT_TEXT(play_heard(&p), "answer(1, allowed) act(1, risky) ");
}

TEST(a_no_settles_the_call_without_an_act)
{
    PLAY p;

    start(&p, NULL);
    play_offer(&p, EV_CALL, 1, RISKY);
    play_offer(&p, EV_THOUGHT, 0, MORE);
    play_heard(&p);
    play_offer(&p, EV_ANSWER, 1, 0);
    ASSERT_TEXT(play_heard(&p), "answer(1) denied(1, risky) settled(1, risky) observe think ");
}

TEST(an_edit_at_approval_is_asked_again_or_waived_by_what_it_became)
{
    PLAY p;

    start(&p, NULL);
    play_offer(&p, EV_CALL, 1, RISKY);
    play_offer(&p, EV_CALL, 2, RISKY);
    play_offer(&p, EV_THOUGHT, 0, MORE);
    play_heard(&p);
    play_offer(&p, EV_EDIT, 1, RISKY);
    ASSERT_TEXT(play_heard(&p), "edit(1, risky) ask(1, risky) ");
    play_offer(&p, EV_EDIT, 2, 0);
    ASSERT_TEXT(play_heard(&p), "edit(2) act(2) ");
    ASSERT(!play_offer(&p, EV_EDIT, 2, RISKY));
    ASSERT_TEXT(buf_text(&p.why), "edit(2, risky) is blocked by call(2) at 2 (acts)");
    play_offer(&p, EV_EDIT, 1, DANGEROUS);
    ASSERT_TEXT(play_heard(&p), "edit(1, dangerous) denied(1, dangerous) settled(1, dangerous) ");
}

TEST(a_dangerous_call_is_refused_even_with_a_yes)
{
    PLAY p;

    start(&p, NULL);
    play_offer(&p, EV_CALL, 1, RISKY | DANGEROUS);
    ASSERT_CONTAINS(play_heard(&p), "denied(1, risky, dangerous) settled(1");
    ASSERT(!play_offer(&p, EV_ANSWER, 1, ALLOWED));
    ASSERT_EQ(p.refusal.reason, BP_KEY_NOT_BORN);
}

TEST(cancel_lets_effects_in_flight_complete_and_starts_nothing)
{
    PLAY p;

    start(&p, NULL);
    play_offer(&p, EV_CALL, 1, 0);
    play_offer(&p, EV_CALL, 2, RISKY);
    play_offer(&p, EV_THOUGHT, 0, MORE);
    play_heard(&p);
    play_offer(&p, EV_CANCEL, 0, 0);
    ASSERT_TEXT(play_heard(&p), "cancel settled(2, risky) ");
    ASSERT(!play_offer(&p, EV_CALL, 2, 0));
    play_offer(&p, EV_ACTED, 1, 0);
    ASSERT_TEXT(play_heard(&p), "acted(1) settled(1) done ");
}

TEST(kill_during_a_thought_is_done_when_the_thought_has_come_back)
{
    PLAY p;

    start(&p, NULL);
    play_offer(&p, EV_CALL, 1, 0);
    play_offer(&p, EV_KILL, 0, 0);
    ASSERT_TEXT(play_heard(&p), "call(1) kill settled(1) ");
    play_offer(&p, EV_THOUGHT, 0, MORE);
    ASSERT_TEXT(play_heard(&p), "thought(more) done ");
}

TEST(the_limit_of_rounds_is_what_the_engine_was_given)
{
    static const uint16_t three[] = { 3 };
    PLAY p;

    start(&p, three);
    play_offer(&p, EV_THOUGHT, 0, MORE);
    play_offer(&p, EV_THOUGHT, 0, MORE);
    ASSERT_TEXT(play_heard(&p), "thought(more) observe think thought(more) observe think ");
    play_offer(&p, EV_THOUGHT, 0, MORE);
    ASSERT_TEXT(play_heard(&p), "thought(more) observe give_up done ");
}
