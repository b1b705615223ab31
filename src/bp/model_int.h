/* The meaning of a program, written plainly: states, the events that each state allows, and the
 * state that an event leads to. No index, no order that matters: the checker explores this, and
 * tests hold the engine against it.
 *
 * A state is small and flat. A thread's place is one byte, its code: 0 when it does not live,
 * else one number for each (point, matches counted there). Codes of threads without a key come
 * first, then those of key 1, of key 2 and so on, a block each: keys are interchangeable, so blocks
 * may be sorted.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_MODEL_INT_H
#define DORMOUSE_BP_MODEL_INT_H

#include "bp/bp.h"

#define MODEL_KEYS_MAX   8
#define MODEL_SLOTS_MAX  1024
#define MODEL_WORDS_MAX  16
#define MODEL_EVENTS_MAX 4096 /* from outside, that one state may allow */

struct model_thread {
    const struct bp_thread *thread;
    uint16_t index;                    /* in the program */
    uint16_t offset;                   /* of its code: in the state, or in a key's block */
    uint8_t *point_of, *count_of;      /* by code - 1 */
    uint8_t *code_of;                  /* by point, with a count of 0 */
    uint64_t *reacts, *blocks;         /* by point: types */
    uint32_t *asks_with;               /* by point: attributes of its key that it may yet need */
    uint64_t ever_reacts, ever_blocks; /* at any point; spawn counts as reacting */
    uint8_t codes;
    bool keyed;
};

struct model {
    const struct bp_program *program;
    struct arena arena;
    struct model_thread *threads;
    unsigned thread_count;
    unsigned keys;
    unsigned globals, per_key; /* codes outside and in a block */
    unsigned slots, words;
    uint8_t *widths; /* bits that a code takes packed: globals, then those of a block */
    struct model_free *free;
    unsigned free_count;
    uint32_t looked[BP_TYPES_MAX];   /* attributes that some selector looks at, by type */
    uint32_t vary[BP_TYPES_MAX];     /* those in which events from outside may differ */
    uint32_t program_bits, key_bits; /* attributes of the records that anyone looks at */
    uint32_t always;                 /* those of keys that may be needed wherever threads stand */
    uint16_t limits[BP_LIMITS_MAX];
};

#define STATE_OVER 1u /* in alive: a FINAL event has happened (noted in progress proofs only) */

struct state {
    uint32_t alive;                      /* bit k: key k lives */
    uint32_t record[MODEL_KEYS_MAX + 1]; /* [0]: the program's */
    uint8_t code[MODEL_SLOTS_MAX];
};

/* Which threads take part. What a thread that is left out requests may happen at any moment, as
 * if it came from outside: the model then allows all that the program does, and more. */
struct model_scope {
    const char *property; /* this one, NULL: none */
    const bool *keep;     /* by thread, of program and guards; NULL: all */
    bool environment;
    bool all_bits; /* keep attributes in records that nobody looks at, as the engine does */
};

/* Something that threads which were left out may do. */
struct model_free {
    uint8_t type;
    uint32_t set;
};

/* -1 when the program is too large for the model. */
int model_init(struct model *model, const struct bp_program *program, unsigned keys,
               struct model_scope scope, const uint16_t *limits, struct err *err);
void model_release(struct model *model);
#define AUTO_MODEL __attribute__((cleanup(model_release))) struct model

void model_begin(const struct model *model, struct state *state);
void model_copy(const struct model *model, struct state *to, const struct state *from);

/* The event that a request asks for in this state, made with this key. */
struct bp_event model_request(const struct state *state, const struct bp_req *req, unsigned key);

struct model_wish {
    const struct model_thread *thread;
    uint16_t key;
    uint8_t point;
    struct bp_event event;
};
/* The first requested event at or after *at that is not blocked; false when there is none. They
 * come by priority when keys are numbered by birth. */
bool model_next(const struct model *model, const struct state *state, unsigned *at,
                struct model_wish *ret_wish);

/* All events from outside, and free ones, that the state allows; returns how many.
 * Of the keys that are free only the lowest is born (with last: the one after the highest that
 * lives): the others would only be other names for it. */
unsigned model_offers(const struct model *model, const struct state *state, bool last,
                      struct bp_event *ret_events);
bool model_admits(const struct model *model, const struct state *state,
                  const struct bp_event *event);
/* A thread that blocks the event, with the key of its instance, or NULL. */
const struct model_thread *model_blocker(const struct model *model, const struct state *state,
                                         const struct bp_event *event, unsigned *ret_key);
/* A thread that blocks the event or has no room for one more instance, or NULL. */
const struct model_thread *model_obstacle(const struct model *model, const struct state *state,
                                          const struct bp_event *event);

/* The state after the event. Returns whether a bad point was entered; *ret_bad is its thread. */
bool model_apply(const struct model *model, const struct state *from, const struct bp_event *event,
                 struct state *to, const struct model_thread **ret_bad);

/* Where an instance stands: its point, or -1. */
int model_point(const struct model *model, const struct state *state,
                const struct model_thread *thread, unsigned key);
unsigned model_count(const struct model *model, const struct state *state,
                     const struct model_thread *thread, unsigned key);

/* Drops what no thread of a key will ever ask with again: states that differ in it only behave
 * alike. */
void model_forget(const struct model *model, struct state *state);
/* Renames keys: sorted by content, or (by_birth) only closing gaps. order[new] = old. */
void model_canonical(const struct model *model, struct state *state, bool by_birth,
                     uint8_t order[MODEL_KEYS_MAX + 1]);
void model_pack(const struct model *model, const struct state *state, uint64_t *words);
void model_unpack(const struct model *model, const uint64_t *words, struct state *state);

static inline unsigned model_slot(const struct model *model, const struct model_thread *thread,
                                  unsigned key)
{
    return thread->keyed ? model->globals + (key - 1) * model->per_key + thread->offset
                         : thread->offset;
}

#endif
