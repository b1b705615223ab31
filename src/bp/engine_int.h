/* The engine's insides, shared by engine.c (selection), index.c (set-up) and explain.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_ENGINE_INT_H
#define DORMOUSE_BP_ENGINE_INT_H

#include "bp/engine.h"

#define NONE    UINT32_MAX /* no slot */
#define NOWHERE 255        /* slot.point of an instance that does not live */
#define STAYS   (-2)       /* reaction: the thread is not concerned */

enum wish { WISH_NONE = 0, WISH_READY, WISH_PARKED };

struct slot {
    uint64_t priority; /* thread, then birth of the key; less is first */
    uint32_t heap_at;  /* while ready */
    uint16_t thread, key;
    uint16_t count; /* matches of wait[0] at this point */
    uint8_t point;
    uint8_t wish;
};

struct key {
    uint64_t born; /* number of this birth */
    uint64_t detail;
    uint32_t bits;
    uint16_t older, younger; /* keys that live, by birth; 0 at the ends */
    bool lives;
};

struct link {
    uint32_t next, prev;
};

struct move {
    uint32_t slot;
    int to;
};

/* A point (for spawn: a thread) that an event type concerns. */
struct concern {
    uint32_t first_slot; /* of the thread */
    uint32_t list;       /* index into heads: the slots at this point */
    uint32_t has, lacks; /* block and spawn: what the selector asks; react: 0 */
    uint16_t thread;
    uint8_t point;
    bool mine; /* only the slot with the event's key is concerned */
};

struct bp_engine {
    const struct bp_program *program;
    bp_selected_fn *selected;
    void *ctx;
    struct arena arena; /* everything below */
    uint32_t steps_max;
    uint16_t key_max;
    bool busy;

    struct slot *slots;
    struct link *links; /* slots at the same point */
    struct link *park_links;
    struct move *moves;
    uint32_t *heap;
    uint32_t slot_count, heap_count, move_count, point_count, park_rows;

    uint32_t *heads;       /* first slot at each point, all threads one after the other */
    uint32_t *first_point; /* of each thread in heads */
    uint32_t *first_slot;  /* of each thread; NONE when it takes no part */
    uint32_t *instances;   /* of each thread */
    uint16_t *keyed;       /* threads that have a slot a key */
    unsigned keyed_count;

    struct key *keys; /* [0] unused */
    uint64_t *free_keys;
    uint64_t births;
    uint16_t oldest, youngest;
    uint32_t record; /* of the program */
    uint16_t limits[BP_LIMITS_MAX];

    uint32_t *parked; /* first parked slot of each (type, key) */
    uint32_t park_row[BP_TYPES_MAX];
    uint32_t parked_count[BP_TYPES_MAX];

    struct concern *react[BP_TYPES_MAX], *react_end[BP_TYPES_MAX];
    struct concern *block[BP_TYPES_MAX], *block_end[BP_TYPES_MAX];
    struct concern *spawn[BP_TYPES_MAX], *spawn_end[BP_TYPES_MAX];
};

static inline bool bp_runs(const struct bp_thread *thread)
{
    return thread->kind == BP_PROGRAM || thread->kind == BP_GUARD;
}

static inline unsigned bp_times_of(const struct bp_engine *engine, const struct bp_point *point)
{
    return point->times & 0x8000 ? engine->limits[point->times & 0x7fff] : point->times;
}

/* Memory and indexes; to be cleared before use. */
struct bp_engine *bp_engine_build(const struct bp_program *program, uint16_t key_max);
/* No key lives and no thread has begun. */
void bp_engine_clear(struct bp_engine *engine);

/* ---- slots.c ---- */

/* An instance begins at point 0, stands at a point, moves (leave, then enter) and ends. */
void slot_begin(struct bp_engine *engine, uint32_t slot);
void slot_enter(struct bp_engine *engine, uint32_t slot, uint8_t point);
void slot_leave(struct bp_engine *engine, uint32_t slot);
void slot_end(struct bp_engine *engine, uint32_t slot);

void key_begin(struct bp_engine *engine, uint16_t key);
/* Ends its instances, too. */
void key_end(struct bp_engine *engine, uint16_t key);

/* A ready request was found blocked. */
void request_park(struct bp_engine *engine, uint32_t slot);
/* Parked requests of a type, with this key or all, are ready to be looked at again. */
void requests_wake(struct bp_engine *engine, uint8_t type, uint16_t key);
void requests_wake_all(struct bp_engine *engine, uint8_t type);

/* ---- engine.c ---- */

/* Why this can't be offered, apart from threads that block it or are full. */
enum bp_reason bp_event_reason(const struct bp_engine *engine, const struct bp_event *event);

/* Is the event acceptable from outside, if the program is quiet? */
int bp_admit(const struct bp_engine *engine, const struct bp_event *event,
             struct bp_refusal *ret_refusal);

#endif
