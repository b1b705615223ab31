/* Random sound programs over the small types, the same for the same seed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_BP_RANDOM_PROGRAM_H
#define DORMOUSE_TESTS_BP_RANDOM_PROGRAM_H

#include "small.h"

struct dice {
    uint64_t state;
};

uint32_t dice_roll(struct dice *dice, uint32_t below);

/* In arena. last: PROPERTY adds a thread "property" that only waits and marks a bad point,
 * ENVIRONMENT one that blocks events from outside, PROGRAM none. */
const struct bp_program *random_program(struct dice *dice, enum bp_kind last, struct arena *arena);

#endif
