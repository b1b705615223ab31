/* Stories of runs, walked through the engine: what happens, in order, word for word.
 *
 * SPDX-License-Identifier: MIT
 */
#include "walk.h"

static void begin(struct walk *w, struct test *t)
{
    walk_begin(w, t, &run_program, NULL);
    SAYS(w, START, 0, 0, "start, think");
}

TEST(the_program_is_sound)
{
    ASSERT_OK(bp_program_check(&run_program, &t->err));
}

TEST(an_answer_without_calls_ends_a_structured_run)
{
    AUTO_WALK w;

    begin(&w, t);
    SAYS(&w, MUSING, 0, 0, "musing");
    SAYS(&w, SAID, 0, 0, "said");
    SAYS(&w, THOUGHT, 0, 0, "thought, done");
    SAYS(&w, NOTE, 0, 0, "refused by nothing_after_done");
}

TEST(a_call_acts_when_the_thought_is_whole_and_its_result_is_thought_about)
{
    AUTO_WALK w;

    begin(&w, t);
    SAYS(&w, CALL, 1, 0, "call(1)");
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), act(1)");
    SAYS(&w, ACTED, 1, 0, "acted(1), settled(1), observe, think");
    SAYS(&w, THOUGHT, 0, 0, "thought, done");
}

TEST(wiggum_checks_after_every_iteration_until_it_is_finished)
{
    AUTO_WALK w;

    walk_begin(&w, t, &run_program, NULL);
    SAYS(&w, START, 0, RUN_WIGGUM, "start(wiggum), think(wiggum)");
    SAYS(&w, CALL, 1, RUN_RISKY | RUN_WAIVABLE, "call(1, risky, waivable)");
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), act(1, risky, waivable, wiggum)");
    SAYS(&w, ACTED, 1, 0,
         "acted(1), settled(1, risky, waivable, wiggum), observe(wiggum), check(wiggum)");
    SAYS(&w, CHECKED, 0, 0, "checked, think(wiggum)");
    SAYS(&w, THOUGHT, 0, 0, "thought, observe(wiggum), check(wiggum)");
    SAYS(&w, CHECKED, 0, RUN_FINISHED, "checked(finished), done(wiggum)");
}
