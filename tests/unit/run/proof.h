/* What the checker says of the run's program with something changed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_RUN_PROOF_H
#define DORMOUSE_TESTS_RUN_PROOF_H

#include "bp/check.h"
#include "harness/test.h"
#include "run/program.h"

/* A copy of the thread whose points may be changed; in t->arena. */
struct bp_thread *thread_copy(struct test *t, const char *name);
struct bp_point *points_of(struct bp_thread *copy);
/* The program with this thread in the place of the one of the same name. */
const struct bp_program *with_thread(struct test *t, const struct bp_program *program,
                                     const struct bp_thread *thread);
/* Fails the test unless the finding is violated by a trace that holds when it is walked again.
 * Returns its events; "|" stands where progress is lost, if more follows. Of the properties only
 * the named one is looked at. */
const char *broken(struct test *t, const struct bp_program *program, const char *finding,
                   unsigned keys);
/* The verdict of one finding, NULL when it is proved. */
const char *unproved(struct test *t, const struct bp_program *program, const char *finding,
                     unsigned keys);

#endif
