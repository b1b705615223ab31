/* The checker on the registered programs, and its own bookkeeping.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/check.h"

#include <stdio.h>

#include "bp/programs/programs_int.h"
#include "small.h"
#include "variant.h"

TEST(every_property_of_every_program_is_proved_over_three_keys)
{
    for (int i = 0; bp_programs[i]; i++) {
        AUTO_REPORT report = { .program = NULL };

        ASSERT_OK(bp_check(bp_programs[i], NULL, &report, &t->err));
        ASSERT_EQ(report.keys, 3);
        for (unsigned k = 0; k < report.finding_count; k++) {
            const struct bp_finding *f = &report.findings[k];

            if (f->verdict == BP_PROVED && f->stats.states > 1 && f->stats.transitions > 1)
                test_case_passed();
            else
                test_case_failed("%s of %s is %s after %llu states", f->name, bp_programs[i]->name,
                                 bp_verdict_name(f->verdict), (unsigned long long)f->stats.states);
        }
        ASSERT_EQ(report.unreachable_count, 0);
        ASSERT_EQ(report.never, 0);
    }
}

/* A state that is known is never taken for a new one, however often the table grew. */
TEST(the_number_of_states_is_what_it_is)
{
    AUTO_REPORT report = { .program = NULL };

    ASSERT_OK(bp_check(&bp_program_approval, NULL, &report, &t->err));
    ASSERT_EQ(bp_finding_find(&report, "risky_needs_yes")->stats.states, 10660);
    ASSERT_EQ(bp_finding_find(&report, BP_PROGRESS)->stats.states, 2978);
}

/* The table: removing this guard breaks at least this. */
static const struct {
    const struct bp_program *program;
    const char *guard, *breaks;
} needed[] = {
    { &bp_program_approval, "ask_first", "risky_needs_yes" },
    { &bp_program_approval, "a_no_stays_no", "no_means_no" },
    { &bp_program_approval, "no_danger", "never_dangerous" },
    { &bp_program_approval, "refuse_danger", BP_PROGRESS },
    { &bp_program_approval, "round_limit", "rounds_are_limited" },
    { &bp_program_approval, "cancelled", "cancel_stops" },
    { &bp_program_approval, "killed", "kill_stops" },
    { &bp_program_approval, "nothing_after_done", "done_is_done" },
    { &bp_program_approval, "one_thought", "one_model_request" },
    { &bp_program_modes, "no_danger", "never_dangerous" },
    { &bp_program_modes, "ask_unless_cooking", "structured_needs_yes" },
    { &bp_program_modes, "one_thought", "one_model_request" },
    { &bp_program_modes, "cancelled", "cancel_stops" },
    { &bp_program_modes, "nothing_after_done", "done_is_done" },
    { &bp_program_lease, "fence", "no_stale_write" },
    { &bp_program_lease, "one_holder", "no_second_grant" },
};

TEST(without_each_guard_in_turn_the_checker_finds_a_counterexample_that_replays)
{
    for (unsigned i = 0; i < BP_COUNT(needed); i++) {
        const struct bp_program *p =
            bp_program_without(needed[i].program, needed[i].guard, &t->arena);

        ASSERT(p != NULL);
        counterexample(t, p, needed[i].breaks);
        test_case_passed();
    }
}

TEST(the_table_of_needed_guards_names_every_guard_of_every_program)
{
    for (int i = 0; bp_programs[i]; i++)
        for (unsigned k = 0; k < bp_programs[i]->thread_count; k++) {
            const struct bp_thread *thread = &bp_programs[i]->threads[k];
            bool listed = thread->kind != BP_GUARD;

            for (unsigned n = 0; n < BP_COUNT(needed); n++)
                listed = listed || (needed[n].program == bp_programs[i] &&
                                    strcmp(needed[n].guard, thread->name) == 0);
            if (!listed)
                FAIL("guard %s of %s is not in the table", thread->name, bp_programs[i]->name);
        }
}

TEST(a_proof_says_which_threads_it_rests_on_and_removing_another_keeps_it)
{
    AUTO_REPORT report = { .program = NULL };
    const struct bp_finding *f;

    ASSERT_OK(bp_check(&bp_program_approval, NULL, &report, &t->err));
    f = bp_finding_find(&report, "never_dangerous");
    ASSERT_EQ(f->rests_count, 1);
    ASSERT_TEXT(f->rests_on[0], "no_danger");
    for (unsigned i = 0; i < bp_program_approval.thread_count; i++) {
        const struct bp_thread *thread = &bp_program_approval.threads[i];
        AUTO_REPORT without = { .program = NULL };

        if (thread->kind != BP_GUARD || strcmp(thread->name, "no_danger") == 0)
            continue;
        ASSERT_OK(bp_check(bp_program_without(&bp_program_approval, thread->name, &t->arena), NULL,
                           &without, &t->err));
        ASSERT_EQ(bp_finding_find(&without, "never_dangerous")->verdict, BP_PROVED);
    }
}

/* What a proof rests on is what a reader takes from it: no more threads than needed. */
static const struct {
    const struct bp_program *program;
    const char *property, *rests_on;
} resting[] = {
    { &bp_program_approval, "risky_needs_yes", "ask_first a_no_stays_no call" },
    { &bp_program_approval, "no_means_no", "a_no_stays_no call" },
    { &bp_program_approval, "never_dangerous", "no_danger" },
    { &bp_program_approval, "one_act_a_call", "call" },
    { &bp_program_approval, "rounds_are_limited", "round_limit one_thought loop" },
    { &bp_program_approval, "cancel_stops", "cancelled" },
    { &bp_program_approval, "kill_stops", "killed" },
    { &bp_program_approval, "calls_are_joined", "call" },
    { &bp_program_approval, "one_model_request", "one_thought" },
    { &bp_program_approval, "done_is_done", "nothing_after_done" },
    { &bp_program_modes, "structured_needs_yes", "ask_unless_cooking call" },
    { &bp_program_modes, "mode_is_the_persons", "" },
    { &bp_program_modes, "no_means_no", "ask_unless_cooking call" },
    { &bp_program_lease, "no_stale_write", "fence" },
    { &bp_program_lease, "no_second_grant", "one_holder" },
    { &bp_program_lease, "no_write_without_lease", "worker" },
};

static void compare_support(const struct bp_finding *f, const char *expected)
{
    AUTO_BUF names = BUF_INIT(4096);

    for (unsigned k = 0; k < f->rests_count; k++)
        buf_printf(&names, "%s%s", k ? " " : "", f->rests_on[k]);
    if (strcmp(buf_text(&names), expected) == 0)
        test_case_passed();
    else
        test_case_failed("%s rests on %s", f->name, buf_text(&names));
}

TEST(proofs_rest_on_few_threads)
{
    for (unsigned p = 0; bp_programs[p]; p++) {
        AUTO_REPORT report = { .program = NULL };

        ASSERT_OK(bp_check(bp_programs[p], NULL, &report, &t->err));
        for (unsigned i = 0; i < BP_COUNT(resting); i++)
            if (resting[i].program == bp_programs[p])
                compare_support(bp_finding_find(&report, resting[i].property), resting[i].rests_on);
    }
}

TEST(leaving_no_thread_out_gives_the_same_verdicts)
{
    struct bp_check_options options = { .keys = 2, .whole = true };

    for (int i = 0; bp_programs[i]; i++) {
        AUTO_REPORT report = { .program = NULL };

        if (bp_programs[i] == &bp_program_approval)
            options.keys = 1;
        ASSERT_OK(bp_check(bp_programs[i], &options, &report, &t->err));
        ASSERT_EQ(bp_report_verdict(&report), BP_PROVED);
        options.keys = 2;
    }
}

/* With this property alone. */
static const struct bp_program *approval_with(struct test *t, const char *property)
{
    const struct bp_program *p = &bp_program_approval;

    for (unsigned i = 0; i < bp_program_approval.thread_count; i++) {
        const struct bp_thread *thread = &bp_program_approval.threads[i];

        if (thread->kind == BP_PROPERTY && strcmp(thread->name, property) != 0)
            p = bp_program_without(p, thread->name, &t->arena);
    }
    return p;
}

static unsigned progress_calls;
static uint64_t progress_states;

static void on_progress(void *ctx, const char *what, const struct bp_check_stats *stats,
                        uint64_t queue)
{
    ASSERT(ctx == &progress_calls);
    ASSERT(what != NULL);
    ASSERT(queue > 0);
    progress_calls++;
    progress_states = stats->states;
}

TEST(a_bound_is_kept_and_reported_and_progress_is_shown_on_the_way)
{
    struct bp_check_options options = {
        .whole = true, .states_max = 70000, .progress = on_progress, .ctx = &progress_calls
    };
    const struct bp_program *p = approval_with(t, "never_dangerous");
    AUTO_REPORT report = { .program = NULL };
    const struct bp_finding *f;

    ASSERT_OK(bp_check(p, &options, &report, &t->err));
    f = bp_finding_find(&report, "never_dangerous");
    ASSERT_EQ(f->verdict, BP_BOUND);
    ASSERT(f->stats.states < 70000 + 4096);
    ASSERT(f->stats.bytes < 100 << 20);
    ASSERT(f->stats.queue_max > 1000);
    ASSERT(f->stats.depth > 3);
    ASSERT_EQ(bp_report_verdict(&report), BP_BOUND);
    ASSERT(progress_calls > 0);
    ASSERT(progress_states > 0);
}

TEST(a_proof_that_needs_more_memory_than_it_may_have_is_given_up)
{
    static const uint64_t bounds[] = { 1 << 20, 2 << 20, 4 << 20 };
    const struct bp_program *p = approval_with(t, "never_dangerous");
    uint64_t before = 0;

    for (unsigned i = 0; i < BP_COUNT(bounds); i++) {
        struct bp_check_options options = { .whole = true, .bytes_max = bounds[i] };
        AUTO_REPORT report = { .program = NULL };

        ASSERT_OK(bp_check(p, &options, &report, &t->err));
        ASSERT_EQ(report.findings[0].verdict, BP_BOUND);
        ASSERT(report.findings[0].stats.full);
        ASSERT(report.findings[0].stats.bytes <= bounds[i]);
        ASSERT(report.findings[0].stats.states > before);
        before = report.findings[0].stats.states;
    }
    ASSERT(before > 10000);
}

/* ---- small programs ---- */

TEST(points_and_types_that_are_never_reached_are_reported)
{
    static const struct bp_point one[] = {
        { .wait = { BP_ON(A), BP_ON(X, .go = BP_GO(2)) } },
        { .name = "after a", .request = BP_ASK(B) },
        { .request = BP_ASK(C) },
    };
    static const struct bp_thread threads[] = { { BP_TABLE("one", one) } };
    struct bp_program program = SMALL(threads);
    AUTO_REPORT report = { .program = NULL };

    ASSERT_OK(bp_check(&program, NULL, &report, &t->err));
    ASSERT_EQ(report.unreachable_count, 1);
    ASSERT_TEXT(report.unreachable[0].thread->name, "one");
    ASSERT_EQ(report.unreachable[0].point, 1);
    ASSERT(report.never & BP_TYPE(A));
    ASSERT(report.never & BP_TYPE(B));
    ASSERT(!(report.never & BP_TYPE(C)));
}

TEST(attributes_that_nobody_looks_at_are_not_told_apart)
{
    static const struct bp_point plain[] = { { .wait = { BP_ON(X) } },
                                             { .wait = { BP_ON(X, .go = BP_GO(0)) } } };
    static const struct bp_point looks[] = { { .wait = { BP_ON(X, .has = RED) } },
                                             { .wait = { BP_ON(X, .go = BP_GO(0)) } } };
    static const struct bp_thread without[] = { { BP_TABLE("one", plain) } };
    static const struct bp_thread with[] = { { BP_TABLE("one", looks) } };
    struct bp_program a = SMALL(without), b = SMALL(with);
    AUTO_REPORT ra = { .program = NULL };
    AUTO_REPORT rb = { .program = NULL };
    struct bp_check_options options = { .keys = 1 };
    uint64_t ta, tb;

    ASSERT_OK(bp_check(&a, &options, &ra, &t->err));
    ASSERT_OK(bp_check(&b, &options, &rb, &t->err));
    ta = ra.findings[ra.finding_count - 1].stats.transitions;
    tb = rb.findings[rb.finding_count - 1].stats.transitions;
    /* x may or may not be red: one event more in each state. */
    ASSERT_EQ(ra.findings[ra.finding_count - 1].stats.states,
              rb.findings[rb.finding_count - 1].stats.states);
    ASSERT_EQ(tb - ta, ra.findings[ra.finding_count - 1].stats.states);
}

TEST(states_that_differ_in_the_names_of_keys_are_one)
{
    static const struct bp_point one[] = { { .wait = { BP_ON_MINE(E) } },
                                           { .wait = { BP_ON_MINE(E) } } };
    static const struct bp_point nothing[] = { { .wait = { BP_ON(A) } }, { .bad = true } };
    static const struct bp_thread threads[] = {
        { BP_TABLE("one", one), .spawn = BP_ON(BORN) },
        { BP_TABLE("nothing", nothing), .kind = BP_PROPERTY },
    };
    struct bp_program program = SMALL(threads);
    struct bp_check_options options = { .whole = true };
    AUTO_REPORT report = { .program = NULL };

    ASSERT_OK(bp_check(&program, &options, &report, &t->err));
    /* A key is absent, at either point or without its thread; 3 of 4 kinds, in any order. */
    ASSERT_EQ(report.findings[0].stats.states, 20);
}

TEST(progress_must_not_depend_on_a_person_and_ends_with_the_final_event)
{
    static const struct bp_point needs_stop[] = { { .wait = { BP_ON(STOP) } },
                                                  { .request = BP_ASK(FIN) } };
    static const struct bp_point needs_x[] = { { .wait = { BP_ON(X) } },
                                               { .request = BP_ASK(FIN) } };
    static const struct bp_thread bad[] = { { BP_TABLE("one", needs_stop) } };
    static const struct bp_thread good[] = { { BP_TABLE("one", needs_x) } };
    struct bp_program b = SMALL(bad), g = SMALL(good);

    ASSERT_TEXT(counterexample(t, &b, BP_PROGRESS), "");
    expect_proved(t, &g, NULL);
}

TEST(an_environment_is_assumed_for_progress_and_never_for_safety)
{
    static const struct bp_point one[] = { { .wait = { BP_ON(X), BP_ON(Y, .go = BP_GO(2)) } },
                                           { .request = BP_ASK(FIN) },
                                           { .wait = { BP_ON(A) } } };
    static const struct bp_point no_y[] = { { .block = { BP_ON(Y) } } };
    static const struct bp_point never_y[] = { { .wait = { BP_ON(Y) } }, { .bad = true } };
    static const struct bp_thread with[] = { { BP_TABLE("one", one) },
                                             { BP_TABLE("no_y", no_y), .kind = BP_ENVIRONMENT },
                                             { BP_TABLE("never_y", never_y),
                                               .kind = BP_PROPERTY } };
    struct bp_program p = SMALL(with);

    ASSERT_TEXT(counterexample(t, &p, "never_y"), "y");
    expect_proved(t, &p, "never_y");
    ASSERT_TEXT(counterexample(t, bp_program_without(&p, "no_y", &t->arena), BP_PROGRESS), "y");
}

TEST(safety_is_proved_in_any_order_so_priority_can_not_save_a_guard)
{
    /* The engine always selects a first; but nothing blocks b. */
    static const struct bp_point first[] = { { .request = BP_ASK(A) } };
    static const struct bp_point second[] = { { .request = BP_ASK(B) } };
    static const struct bp_point a_before_b[] = { { .wait = { BP_ON(A, .go = BP_END), BP_ON(B) } },
                                                  { .bad = true } };
    static const struct bp_thread threads[] = {
        { BP_TABLE("first", first) },
        { BP_TABLE("second", second) },
        { BP_TABLE("a_before_b", a_before_b), .kind = BP_PROPERTY },
    };
    struct bp_program program = SMALL(threads);

    ASSERT_TEXT(counterexample(t, &program, "a_before_b"), "b");
}

TEST(a_trace_reads_as_a_story)
{
    AUTO_REPORT report = { .program = NULL };
    AUTO_BUF text = BUF_INIT(1 << 16);
    const struct bp_program *p = bp_program_without(&bp_program_approval, "ask_first", &t->arena);

    ASSERT_OK(bp_check(p, NULL, &report, &t->err));
    bp_trace_text(p, &bp_finding_find(&report, "risky_needs_yes")->trace, &text);
    ASSERT_TEXT(
        buf_text(&text),
        "     1. call(1, risky)                from outside\n"
        "     2. thought                       from outside\n"
        "     3. act(1, risky)                 requested by call(1) at 1 (wants to act)\n"
        "     => risky_needs_yes(1) at 3 (a risky act without a yes to what it does) must not"
        " be reached\n"
        "    then:\n"
        "        call(1) at 2 (acts)\n"
        "        loop at 0 (waits for a prompt)\n");
}

TEST(what_is_too_large_for_the_checker_is_refused_with_the_number)
{
    static const struct bp_point one[] = { { .wait = { BP_ON(X) }, .times = 300 } };
    static const struct bp_thread threads[] = { { BP_TABLE("one", one) } };
    struct bp_program program = SMALL(threads);
    AUTO_REPORT report = { .program = NULL };

    ASSERT_FAILS(bp_check(&program, NULL, &report, &t->err), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "thread one has 300 places");
    err_reset(&t->err);
    ASSERT_FAILS(
        bp_check(&bp_program_lease, &(struct bp_check_options){ .keys = 9 }, &report, &t->err),
        ERR_BAD_REQUEST);
}

TEST(a_trace_that_was_tampered_with_does_not_replay)
{
    const struct bp_program *p = bp_program_without(&bp_program_approval, "no_danger", &t->arena);
    AUTO_REPORT report = { .program = NULL };
    struct bp_trace trace;

    ASSERT_OK(bp_check(p, NULL, &report, &t->err));
    trace = bp_finding_find(&report, "never_dangerous")->trace;
    ASSERT_EQ(bp_trace_replay(p, &trace, "never_dangerous", NULL), 0);
    ASSERT_EQ(bp_trace_replay(&bp_program_approval, &trace, "never_dangerous", NULL),
              trace.step_count);
    trace.step_count--;
    ASSERT_EQ(bp_trace_replay(p, &trace, "never_dangerous", NULL), trace.step_count + 1);
    trace.step_count++;
    trace.steps[0].event.key = 2;
    ASSERT(bp_trace_replay(p, &trace, "never_dangerous", NULL) > 0);
}
