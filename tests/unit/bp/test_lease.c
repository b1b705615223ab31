/* The lease on the engine, event by event, and what each of its guards and properties is worth.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/programs/programs_int.h"
#include "small.h"
#include "variant.h"

static unsigned type_of(const char *name)
{
    for (unsigned i = 1; i < bp_program_lease.type_count; i++)
        if (strcmp(bp_program_lease.types[i].name, name) == 0)
            return i;
    FAIL("no event %s", name);
}

static bool offer(struct play *p, const char *name, unsigned key)
{
    return play_offer(p, type_of(name), key, 0);
}

TEST(a_worker_is_granted_writes_and_leaves)
{
    PLAY p;

    play_start(&p, bp_program_lease, NULL);
    ASSERT(offer(&p, "want", 1));
    ASSERT_TEXT(play_heard(&p), "want(1) grant(1) write(1) ");
    ASSERT(offer(&p, "release", 1));
    ASSERT_TEXT(play_heard(&p), "release(1) gone(1) ");
    ASSERT(!bp_key_lives(p.engine, 1));
}

TEST(a_second_worker_is_granted_when_the_first_lets_go)
{
    PLAY p;

    play_start(&p, bp_program_lease, NULL);
    ASSERT(offer(&p, "want", 2));
    ASSERT(offer(&p, "want", 1));
    ASSERT_TEXT(play_heard(&p), "want(2) grant(2) write(2) want(1) ");
    ASSERT(offer(&p, "release", 2));
    ASSERT_TEXT(play_heard(&p), "release(2) gone(2) grant(1) write(1) ");
}

TEST(a_worker_whose_lease_ran_out_is_told_instead_of_writing)
{
    PLAY p;

    play_start(&p, bp_program_lease, NULL);
    ASSERT(offer(&p, "want", 1));
    ASSERT(offer(&p, "want", 2));
    play_heard(&p);
    ASSERT(offer(&p, "expire", 1));
    ASSERT_TEXT(play_heard(&p), "expire(1) refused(1) gone(1) grant(2) write(2) ");
}

TEST(a_store_that_closes_waits_for_its_workers_and_then_takes_nothing)
{
    PLAY p;

    play_start(&p, bp_program_lease, NULL);
    ASSERT(offer(&p, "want", 1));
    ASSERT(offer(&p, "want", 2));
    play_heard(&p);
    ASSERT(offer(&p, "close", 0));
    ASSERT_TEXT(play_heard(&p), "close gone(2) "); /* it was not granted yet */
    ASSERT(!offer(&p, "want", 3));
    ASSERT_TEXT(buf_text(&p.why), "want(3) is blocked by store at 1 (closes)");
    ASSERT(offer(&p, "release", 1));
    ASSERT_TEXT(play_heard(&p), "release(1) gone(1) closed ");
    ASSERT(!offer(&p, "close", 0));
    ASSERT_TEXT(buf_text(&p.why), "close is blocked by store at 2 (closed)");
}

/* What stays proved, and what is broken in how many events, without each guard. */
static const struct {
    const char *guard, *property;
    enum bp_verdict verdict;
} worth[] = {
    { "fence", "no_stale_write", BP_VIOLATED },
    { "fence", "no_second_grant", BP_PROVED },
    { "fence", "no_write_without_lease", BP_PROVED },
    { "one_holder", "no_stale_write", BP_PROVED },
    { "one_holder", "no_second_grant", BP_VIOLATED },
    { "one_holder", "no_write_without_lease", BP_PROVED },
};

TEST(each_guard_of_the_lease_keeps_its_own_property_and_no_other)
{
    for (unsigned i = 0; i < BP_COUNT(worth); i++) {
        const struct bp_program *p =
            bp_program_without(&bp_program_lease, worth[i].guard, &t->arena);
        AUTO_REPORT report = { .program = NULL };
        const struct bp_finding *f;

        ASSERT_OK(bp_check(p, &(struct bp_check_options){ .keys = 2 }, &report, &t->err));
        f = bp_finding_find(&report, worth[i].property);
        if (f->verdict == worth[i].verdict)
            test_case_passed();
        else
            test_case_failed("without %s %s is %s", worth[i].guard, worth[i].property,
                             bp_verdict_name(f->verdict));
    }
}

TEST(the_shortest_ways_to_break_the_lease_are_these)
{
    const struct bp_program *no_fence = bp_program_without(&bp_program_lease, "fence", &t->arena);
    const struct bp_program *many = bp_program_without(&bp_program_lease, "one_holder", &t->arena);

    ASSERT_TEXT(counterexample(t, no_fence, "no_stale_write"),
                "want(1) grant(1) expire(1) write(1)");
    ASSERT_TEXT(counterexample(t, many, "no_second_grant"), "want(1) grant(1) want(2) grant(2)");
    ASSERT(bp_program_without(&bp_program_lease, "nobody", &t->arena) == NULL);
}
