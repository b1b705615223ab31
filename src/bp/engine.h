/* The engine: runs a behavioral program, one selected event after the other.
 *
 * All memory is taken by bp_new(); offering, selecting and forcing allocate nothing. An engine is
 * deterministic: the same program, limits and sequence of accepted events give the same
 * selections, so the sequence of selected events is all that must be kept to resume.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_ENGINE_H
#define DORMOUSE_BP_ENGINE_H

#include "base/alloc.h"
#include "bp/bp.h"

struct bp_engine;

/* Who asked for an event, or stands in its way. */
struct bp_place {
    const struct bp_thread
        *thread;    /* NULL: nobody; an event from outside was asked for by nobody */
    uint16_t index; /* of the thread in its program */
    uint16_t key;   /* of the instance, 0 when it has none */
    uint8_t point;
};

enum bp_reason {
    BP_FINE = 0,
    BP_NO_SUCH_TYPE,
    BP_NOT_FROM_OUTSIDE, /* offered, but its type is not EXT */
    BP_BAD_KEY,          /* above key_max, missing, or given to a type without one */
    BP_KEY_NOT_BORN,
    BP_KEY_IN_USE,    /* a BIRTH of a key that lives */
    BP_BAD_BITS,      /* attributes that the type may not carry */
    BP_BLOCKED,       /* by .by */
    BP_FULL,          /* .by has as many instances as it may */
    BP_NOT_QUIET,     /* offered while a selection is under way */
    BP_NOT_REQUESTED, /* a thread would have to request it and none does */
    BP_NOT_NEXT,      /* forced, but .instead, requested by .by, is what would be selected */
    BP_ENDLESS,       /* a super-step longer than steps_max, .by goes on and on: a broken
                         program. The only reason after which an offered event may have been
                         selected; drop the engine */
};

struct bp_refusal {
    enum bp_reason reason;
    struct bp_place by;
    struct bp_event instead;
};

/* Called for every selected event, in order, after all threads have moved on. by->thread is NULL
 * for an event from outside. May look at the engine (bp_explain, bp_record), but not offer. */
typedef void bp_selected_fn(void *ctx, const struct bp_event *event, const struct bp_place *by);

struct bp_options {
    bp_selected_fn *selected; /* may be NULL */
    void *ctx;
    const uint16_t
        *limits;        /* one a limit of the program; 0 keeps its value; NULL: all as declared */
    uint32_t steps_max; /* events in one super-step at most; 0: a million */
};

/* program has passed bp_program_check() and outlives the engine. PROPERTY and ENVIRONMENT threads
 * take no part. key_max: how many keys may live at once, at most BP_KEYS_MAX. Not yet run: the
 * first bp_run() or bp_offer() selects what the threads request at their first points. */
struct bp_engine *bp_new(const struct bp_program *program, uint16_t key_max,
                         const struct bp_options *options);
/* As new, with other options: what bp_new() works out about the program is kept. */
void bp_reset(struct bp_engine *engine, const struct bp_options *options);
void bp_free(struct bp_engine *engine);

/* Selects until nothing is selectable. Returns how many events were, or -1 after steps_max of
 * them (*ret_refusal, may be NULL, says who goes on and on); the engine may be run again. */
int bp_run(struct bp_engine *engine, struct bp_refusal *ret_refusal);

/* Runs to quiet, then offers an event from outside, then runs to quiet again. 0: it was selected.
 * -1: it was refused, *ret_refusal (may be NULL) says why, and it left no trace: nothing is
 * queued inside. */
int bp_offer(struct bp_engine *engine, const struct bp_event *event,
             struct bp_refusal *ret_refusal);

/* Takes one recorded event: what the tables would select next must be this, or, when they are
 * quiet, it must be acceptable from outside. Does not call `selected`. -1: mismatch, and nothing
 * has changed. */
int bp_force(struct bp_engine *engine, const struct bp_event *event,
             struct bp_refusal *ret_refusal);

/* Takes an event that was selected under other guards, whether or not these would have let it
 * happen: threads react, nothing is requested or blocked meanwhile. Does not call `selected`. -1:
 * there is no such type, or its key can't be. */
int bp_follow(struct bp_engine *engine, const struct bp_event *event);

/* What would be selected next: 1 and *ret_event (by, may be NULL, is who requests it), or 0. */
int bp_next(struct bp_engine *engine, struct bp_event *ret_event, struct bp_place *ret_by);

/* A key that is free to be born, the lowest; 0 when all live. */
uint16_t bp_free_key(const struct bp_engine *engine);
bool bp_key_lives(const struct bp_engine *engine, uint16_t key);
/* The attributes of a key that lives, or of the program for key 0. */
uint32_t bp_record(const struct bp_engine *engine, uint16_t key);
/* Where the thread's instance with that key stands: the point, or -1 when there is none. */
int bp_point_of(const struct bp_engine *engine, unsigned thread, uint16_t key);
/* How often wait[0] of that point has matched. */
unsigned bp_count_of(const struct bp_engine *engine, unsigned thread, uint16_t key);
const struct bp_program *bp_program_of(const struct bp_engine *engine);

/* "ask_first(1) at 1 (waits for the answer)" */
void bp_place_text(const struct bp_place *place, struct buf *out);
/* "act(1) is blocked by ask_first(1) at 1 (waits for the answer)" */
void bp_refusal_text(const struct bp_program *program, const struct bp_event *event,
                     const struct bp_refusal *refusal, struct buf *out);

/* AUTO(bp_engine) e = bp_new(...); */
static inline void bp_engine_free(struct bp_engine *engine)
{
    bp_free(engine);
}
AUTO_DEFINE(bp_engine)

#endif
