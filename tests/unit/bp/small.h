/* Small programs for tests: types of every sort, and an engine that writes down what it selected.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_BP_SMALL_H
#define DORMOUSE_TESTS_BP_SMALL_H

#include <stdio.h>

#include "bp/check.h"
#include "harness/test.h"

enum {
    NO = 0,
    A, /* requested, without a key */
    B,
    C,
    D,
    X, /* from outside */
    Y,
    MODE, /* from outside, latches the program's record */
    BORN, /* begins a key */
    EDIT, /* latches a key's record */
    K,    /* of a key, requested */
    L,
    E,    /* of a key, from outside */
    OVER, /* ends a key, requested */
    GONE, /* ends a key, from outside */
    TUNE, /* requested, latches the program's record */
    KEEP, /* of a key, requested, latches its record */
    STOP, /* COOP */
    FIN,  /* FINAL */
    SMALL_TYPES
};

enum { RED = 1, BLUE = 2, GREEN = 4 };

extern const struct bp_type small_types[SMALL_TYPES];
extern const char *const small_bits[3];

#define SMALL(threads_)                                                                            \
    ((struct bp_program){ .name = "small",                                                         \
                          .types = small_types,                                                    \
                          .threads = (threads_),                                                   \
                          .bits = small_bits,                                                      \
                          .type_count = SMALL_TYPES,                                               \
                          .thread_count = BP_COUNT(threads_),                                      \
                          .bit_count = 3 })

/* A program with a vocabulary of its own, without attributes. */
#define STORY(name_, types_, threads_)                                                             \
    ((struct bp_program){ .name = (name_),                                                         \
                          .types = (types_),                                                       \
                          .threads = (threads_),                                                   \
                          .type_count = BP_COUNT(types_),                                          \
                          .thread_count = BP_COUNT(threads_) })

/* An engine with 4 keys and what it selected, as "x a(1, red) b ". */
struct play {
    struct bp_engine *engine;
    struct bp_program program;
    struct bp_refusal refusal;
    struct buf heard;
    struct buf why;
};

void play_start(struct play *play, struct bp_program program, const struct bp_options *options);
void play_release(struct play *play);
#define PLAY __attribute__((cleanup(play_release))) struct play

/* Offers an event; true when it was selected. play->why says why not. */
bool play_offer(struct play *play, unsigned type, unsigned key, uint32_t bits);
/* What was selected since the last call. */
const char *play_heard(struct play *play);

#endif
