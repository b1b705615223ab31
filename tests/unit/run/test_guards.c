/* Every rule is needed and every property can fail: without each guard in turn, and with each hole
 * that such programs have had, the checker shows a way to what must not be.
 *
 * SPDX-License-Identifier: MIT
 */
#include "proof.h"

static const struct {
    const char *guard, *finding;
    unsigned keys;
    const char *trace;
} needed[] = {
    { "starts_once", "begins_with_start", 1, "set_mode" },
    { "nothing_after_done", "done_is_done", 1, "start cancel done kill" },
    { "no_danger", "never_dangerous", 1,
      "start think call(1, dangerous) thought act(1, dangerous)" },
    { "refuse_danger", BP_PROGRESS, 1, "start think call(1, dangerous) thought" },
    { "no_refused", "refused_never_acts", 1,
      "start think call(1, refused) thought act(1, refused)" },
    { "refuse_refused", BP_PROGRESS, 1, "start think call(1, refused) thought" },
    { "no_killed_class", "class_kill_holds", 1,
      "start think call(1, class_killed) thought act(1, class_killed)" },
    { "refuse_killed_class", BP_PROGRESS, 1, "start think call(1, class_killed) thought" },
    { "a_no_stays_no", "no_means_no", 1,
      "start think call(1, risky) thought gate(1, risky) waiting(1, risky) answer(1) edit(1) "
      "act(1)" },
    { "a_no_stays_no", BP_PROGRESS, 1,
      "start think call(1, risky) thought gate(1, risky) waiting(1, risky) answer(1)" },
    { "answers_are_asked", "answer_needs_question", 1, "start think call(1) answer(1)" },
    { "ask_first", "risky_needs_yes", 1, "start think call(1, risky) thought act(1, risky)" },
    { "ask_first", "waived_only_as_agreed", 1, "start think call(1, risky) thought act(1, risky)" },
    { "serial", "serial_acts_alone", 2,
      "start think call(1) call(2, serial) thought act(2, serial) act(1)" },
    { "serial", "serial_waits_its_turn", 2,
      "start think call(1) call(2, serial) thought act(1) act(2, serial)" },
    { "tool_limit", "tool_calls_are_limited", 1,
      "start think call(1) thought act(1) acted(1, stale) act(1) acted(1, stale) act(1)" },
    { "over_tool_limit", BP_PROGRESS, 1,
      "start think call(1) thought act(1) acted(1, stale) act(1) acted(1, stale)" },
    { "iteration_limit", "iterations_are_limited", 1, "start think thought(more) observe think" },
    { "spent", "spent_stops", 1, "start spent think" },
    { "killed", "kill_stops", 1, "start kill think" },
    { "killed", "kill_takes_no_yes", 1, "start kill think call(1) edit(1)" },
    { "kill_ends", BP_PROGRESS, 1, "start think thought(failed, later) kill | resume" },
    { "gate_outlives_kill", "kill_leaves_gates", 1,
      "start think call(1, risky) thought gate(1, risky) waiting(1, risky) kill give_up(later)" },
    { "question_outlives_kill", "kill_leaves_questions", 1,
      "start think call(1) thought act(1) asked(1) kill acted(1)" },
    { "unknown_outlives_kill", "kill_leaves_unknown", 1,
      "start think call(1) thought act(1) acted(1, unknown) kill give_up(later)" },
    { "cancelled", "cancel_stops", 1, "start think cancel call(1)" },
    { "given_up", "given_up_stops", 1, "start think spent give_up(finished) call(1)" },
    { "one_request", "one_model_request", 1, "start think cancel done" },
    { "replies_are_asked", "replies_need_requests", 1, "start musing" },
    { "rest", "resume_needs_a_rest", 1, "start resume" },
};
#define NEEDED (sizeof(needed) / sizeof(needed[0]))

TEST(without_a_guard_there_is_a_way_to_what_it_keeps_away, .timeout_s = 120)
{
    for (size_t i = 0; i < NEEDED; i++) {
        const struct bp_program *p = bp_program_without(&run_program, needed[i].guard, &t->arena);
        const char *trace = broken(t, p, needed[i].finding, needed[i].keys);

        if (strcmp(trace, needed[i].trace) == 0)
            test_case_passed();
        else
            test_case_failed("without %s: %s", needed[i].guard, trace);
    }
}

TEST(every_guard_is_among_those_that_were_removed)
{
    for (unsigned i = 0; i < run_program.thread_count; i++) {
        const struct bp_thread *thread = &run_program.threads[i];
        size_t found = 0;

        for (size_t k = 0; k < NEEDED; k++)
            found += strcmp(needed[k].guard, thread->name) == 0;
        if (thread->kind == BP_GUARD && !found)
            FAIL("nothing says what %s is for", thread->name);
    }
}

/* ---- holes ---- */

/* As in a sketch that this program descends from: it waits for the first act before it blocks. */
TEST(a_gate_that_waits_for_the_first_act_lets_it_through)
{
    static const struct bp_point sketched[] = {
        { .wait = { BP_ON_MINE(RUN_EV_ACT, .has = RUN_RISKY) } },
        { .request = BP_MINE(RUN_EV_GATE), .block = { BP_ON_MINE(RUN_EV_ACT) } },
        { .request = BP_MINE(RUN_EV_WAITING), .block = { BP_ON_MINE(RUN_EV_ACT) } },
        { .wait = { BP_ON_MINE(RUN_EV_ANSWER) }, .block = { BP_ON_MINE(RUN_EV_ACT) } },
    };
    struct bp_thread gate = *thread_copy(t, "ask_first");

    gate.at = sketched;
    gate.n = BP_COUNT(sketched);
    ASSERT_TEXT(broken(t, with_thread(t, &run_program, &gate), "risky_needs_yes", 1),
                "start think call(1, risky) thought act(1, risky)");
}

TEST(a_block_that_is_dropped_while_waiting_for_the_answer_is_found)
{
    struct bp_thread *gate = thread_copy(t, "ask_first");

    memset(points_of(gate)[2].block, 0, sizeof(gate->at[2].block));
    ASSERT_TEXT(
        broken(t, with_thread(t, &run_program, gate), "risky_needs_yes", 1),
        "start think call(1, risky) thought gate(1, risky) waiting(1, risky) act(1, risky)");
}

TEST(an_answer_for_another_call_that_is_accepted_is_found)
{
    struct bp_thread *gate = thread_copy(t, "ask_first");

    points_of(gate)[2].wait[0].mine = false;
    ASSERT_CONTAINS(broken(t, with_thread(t, &run_program, gate), "risky_needs_yes", 2),
                    "waiting(1, risky) gate(2, risky) waiting(2, risky) answer(1, allowed) "
                    "act(2, risky)");
}

TEST(a_yes_that_outlives_an_edit_is_found)
{
    struct bp_thread *gate = thread_copy(t, "ask_first");

    gate->until[1] = gate->until[2];
    gate->until[2] = (struct bp_sel){ .types = 0 };
    ASSERT_TEXT(broken(t, with_thread(t, &run_program, gate), "risky_needs_yes", 1),
                "start think call(1, risky) thought gate(1, risky) waiting(1, risky) answer(1, "
                "allowed) edit(1, risky) act(1, risky)");
}

TEST(a_yes_that_outlives_a_stale_target_is_found)
{
    struct bp_thread *gate = thread_copy(t, "ask_first");

    gate->until[2] = (struct bp_sel){ .types = 0 };
    ASSERT_TEXT(broken(t, with_thread(t, &run_program, gate), "risky_needs_yes", 1),
                "start(wiggum) think(wiggum) call(1, risky, waivable) thought act(1, risky, "
                "waivable, wiggum) acted(1, stale) set_mode act(1, risky, waivable)");
}

TEST(a_gate_that_a_mode_switch_interrupts_and_so_unblocks_is_found)
{
    struct bp_thread *gate = thread_copy(t, "ask_first");

    gate->until[0] = (struct bp_sel)BP_ON(RUN_EV_SET_MODE, .go = BP_END);
    ASSERT_TEXT(broken(t, with_thread(t, &run_program, gate), "risky_needs_yes", 1),
                "start think call(1, risky) thought set_mode act(1, risky)");
}

TEST(a_waiver_of_what_must_always_ask_is_found)
{
    struct bp_thread *gate = thread_copy(t, "ask_first");

    for (unsigned i = 0; i < 3; i++)
        points_of(gate)[i].block[1] = points_of(gate)[i].block[0];
    ASSERT_TEXT(broken(t, with_thread(t, &run_program, gate), "waived_only_as_agreed", 1),
                "start(wiggum) think(wiggum) call(1, risky) thought act(1, risky, wiggum)");
}

TEST(danger_that_is_judged_only_when_the_call_is_born_is_found)
{
    static const struct bp_point at_birth[] = { { .block = { BP_ON_MINE(RUN_EV_ACT) } } };
    struct bp_thread guard = { .name = "no_danger",
                               .at = at_birth,
                               .n = 1,
                               .kind = BP_GUARD,
                               .spawn = BP_ON(RUN_EV_CALL, .has = RUN_DANGEROUS) };

    ASSERT_TEXT(broken(t, with_thread(t, &run_program, &guard), "never_dangerous", 1),
                "start think call(1) thought edit(1, dangerous) act(1, dangerous)");
}

TEST(two_model_requests_after_a_mode_switch_while_thinking_are_found)
{
    const struct bp_program *p = bp_program_without(&run_program, "one_request", &t->arena);
    struct bp_thread *loop = thread_copy(t, "loop");

    /* A loop that begins anew in the other mode, as one loop a mode would. */
    loop->until[1] = (struct bp_sel)BP_ON(RUN_EV_SET_MODE, .go = BP_GO(1));
    ASSERT_CONTAINS(broken(t, with_thread(t, p, loop), "one_model_request", 1), "start think");
    /* The guard mends even that loop's safety. */
    ASSERT(unproved(t, with_thread(t, &run_program, loop), "one_model_request", 1) == NULL);
}

TEST(a_no_after_which_the_run_hangs_is_found)
{
    struct bp_thread *guard = thread_copy(t, "a_no_stays_no");

    points_of(guard)[1].request = (struct bp_req){ .type = 0 };
    ASSERT_TEXT(broken(t, with_thread(t, &run_program, guard), BP_PROGRESS, 1),
                "start think call(1, risky) thought gate(1, risky) waiting(1, risky) answer(1)");
}

TEST(a_mode_that_a_call_could_set_is_found)
{
    struct bp_thread *call = thread_copy(t, "call");

    points_of(call)[1].request.set = RUN_WIGGUM;
    ASSERT_TEXT(broken(t, with_thread(t, &run_program, call), "mode_is_the_persons", 1),
                "start think call(1) thought act(1, wiggum)");
}

/* ---- the work itself ---- */

static const struct {
    const char *finding;
    unsigned point, wait; /* of call: this wait leads to `go` */
    unsigned go, other;   /* and the next one to `other` */
    const char *trace;
} derailed[] = {
    /* Done: again. */
    { "one_act_a_call", 2, 2, 1, 6, "start think call(1) thought act(1) acted(1) act(1)" },
    /* Unknown: again. */
    { "unknown_waits", 2, 0, 1, 3, "start think call(1) thought act(1) acted(1, stale) told(1)" },
    /* Denied: as if it were not. */
    { "denied_never_acts", 0, 2, 0, 5,
      "start think call(1, dangerous) denied(1, dangerous) thought edit(1) act(1)" },
};

TEST(a_call_that_goes_the_wrong_way_is_found)
{
    for (size_t i = 0; i < BP_COUNT(derailed); i++) {
        struct bp_thread *call = thread_copy(t, "call");
        struct bp_sel *wait;
        const char *trace;

        wait = points_of(call)[derailed[i].point].wait + derailed[i].wait;
        wait[0].go = BP_GO(derailed[i].go);
        wait[1].go = BP_GO(derailed[i].other);
        trace = broken(t, with_thread(t, &run_program, call), derailed[i].finding, 1);
        if (strcmp(trace, derailed[i].trace) == 0)
            test_case_passed();
        else
            test_case_failed("%s: %s", derailed[i].finding, trace);
    }
}

static const struct {
    const char *finding;
    unsigned point, block; /* of call: this block is missing */
    const char *trace;
} unblocked[] = {
    { "calls_are_joined", 2, 0, "start think call(1) thought act(1) done" },
    { "one_completion_an_act", 1, 1, "start think call(1) thought acted(1)" },
};

TEST(a_call_that_does_not_hold_what_it_must_is_found)
{
    for (size_t i = 0; i < BP_COUNT(unblocked); i++) {
        struct bp_thread *call = thread_copy(t, "call");
        const char *trace;

        points_of(call)[unblocked[i].point].block[unblocked[i].block] =
            call->at[unblocked[i].point].block[!unblocked[i].block];
        trace = broken(t, with_thread(t, &run_program, call), unblocked[i].finding, 1);
        if (strcmp(trace, unblocked[i].trace) == 0)
            test_case_passed();
        else
            test_case_failed("%s: %s", unblocked[i].finding, trace);
    }
}

TEST(everything_is_proved_with_two_calls_side_by_side, .timeout_s = 120)
{
    AUTO_REPORT report = { .program = NULL };

    ASSERT_OK(bp_check(&run_program, &(struct bp_check_options){ .keys = 2 }, &report, &t->err));
    for (unsigned i = 0; i < report.finding_count; i++)
        if (report.findings[i].verdict == BP_PROVED)
            test_case_passed();
        else
            test_case_failed("%s is %s", report.findings[i].name,
                             bp_verdict_name(report.findings[i].verdict));
    ASSERT_EQ(report.unreachable_count, 0);
    ASSERT_EQ(report.never, 0);
}
