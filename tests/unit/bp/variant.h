/* Programs with one thread changed, and what the checker says of them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_BP_VARIANT_H
#define DORMOUSE_TESTS_BP_VARIANT_H

#include "bp/check.h"
#include "harness/test.h"

/* The program with this thread in the place of the one of the same name. */
const struct bp_program *variant(struct test *t, const struct bp_program *program,
                                 struct bp_thread thread);

/* Fails the test unless the property is violated (safety: the trace replays step by step). Returns
 * the events of the trace as "call(1, risky) thought act(1, risky)"; "|" stands where progress is
 * lost, if more follows. */
const char *counterexample(struct test *t, const struct bp_program *program, const char *property);
/* A progress trace runs by priority, so the engine itself must take every step of it. */
void replay_on_engine(const struct bp_program *program, const struct bp_trace *trace);
/* Fails the test unless every finding is proved, except those named. */
void expect_proved(struct test *t, const struct bp_program *program, const char *except);

#endif
