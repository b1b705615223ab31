/* Walks an engine of the run's program: each word from outside answers with what was selected.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_RUN_WALK_H
#define DORMOUSE_TESTS_RUN_WALK_H

#include "bp/engine.h"
#include "harness/test.h"
#include "run/program.h"

#define WALK_EVENTS_MAX 4096

struct walk {
    struct test *t;
    struct bp_engine *engine;
    struct bp_event events[WALK_EVENTS_MAX]; /* all that was selected */
    unsigned count, shown;
};

/* NULL limits: as declared. The engine ends with walk_end(). */
void walk_begin(struct walk *w, struct test *t, const struct bp_program *program,
                const uint16_t *limits);
void walk_end(struct walk *w);
#define AUTO_WALK __attribute__((cleanup(walk_end))) struct walk

/* 0 or -1. */
int walk_offer(struct walk *w, unsigned type, unsigned key, uint32_t bits);
/* "start, think": what the word led to; "refused by killed" when it was. */
const char *walk_says(struct walk *w, unsigned type, unsigned key, uint32_t bits);
/* Where a thread stands, in words: "waits for the answer"; "" when it does not live. */
const char *walk_doing(struct walk *w, const char *thread, unsigned key);
bool walk_done(const struct walk *w);

#define SAYS(w, name, key, bits, expected)                                                         \
    ASSERT_TEXT(walk_says((w), RUN_EV_##name, (key), (bits)), (expected))

#endif
