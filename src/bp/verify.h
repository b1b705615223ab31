/* Checks every registered program and says what was found, for people or as JSON lines. This is
 * what `dormouse verify` runs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_VERIFY_H
#define DORMOUSE_BP_VERIFY_H

#include <stdio.h>

#include "bp/check.h"

struct bp_verify_options {
    const struct bp_program *const *programs; /* ends with NULL; NULL: bp_programs */
    const char *policy_path; /* a policy file to apply to each program that knows its events; NULL:
                                none */
    const char *only;        /* just the program of this name; NULL: all */
    uint64_t states_max;     /* a proof, 0: BP_CHECK_STATES */
    unsigned keys;           /* 0: BP_CHECK_KEYS */
    bool json;               /* one JSON object a line instead of text */
    FILE *progress;          /* a terminal: one line that changes while a proof is long; or NULL */
    struct clock *clock;     /* NULL: the system's */
};

/* Writes to out and returns a bp_verdict: PROVED when everything holds, VIOLATED with a
 * counterexample written, BOUND when a proof had too many states. -1 when it could not be checked
 * at all: no such program, a policy that does not load, a program that is not sound. */
int bp_verify_all(const struct bp_verify_options *options, FILE *out, struct err *err);

#endif
