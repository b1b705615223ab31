/* Selection, made of three indexes that never grow.
 *
 * A thread that is not keyed has one slot, a keyed one has a slot a key, so every possible
 * instance has its place from the beginning. Slots that stand at the same point are linked in a
 * list. For each type a constant list (index.c) names the points that react to it, block it or
 * spawn at it. To find who is concerned by an event is to walk that list: a selector with `mine`
 * leads straight to the slot of the event's key, any other to the list of slots at its point. What
 * other threads and other keys do costs nothing.
 *
 * Slots that request something are either ready, in a heap by priority, or parked under (type,
 * key) because they were found blocked. Leaving a point that blocks, and a LATCH, make the parked
 * requests that it may free ready again; whether they really are free is found when they come to
 * the top. So a request that stays blocked is not looked at again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/engine.h"

#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "bp/engine_int.h"

#define STEPS_MAX_DEFAULT 1000000

/* ---- what an event meets ---- */

static struct bp_event request_of(const struct bp_engine *e, const struct slot *s)
{
    const struct bp_req *req = &e->program->threads[s->thread].at[s->point].request;
    struct bp_event event = { .type = req->type, .bits = e->record | req->set };

    if (req->mine) {
        event.key = s->key;
        event.bits |= e->keys[s->key].bits;
        event.detail = e->keys[s->key].detail;
    }
    return event;
}

static void place_of(const struct bp_engine *e, uint32_t slot, struct bp_place *ret_place)
{
    const struct slot *s = &e->slots[slot];

    *ret_place = (struct bp_place){ &e->program->threads[s->thread], s->thread, s->key, s->point };
}

/* The slot that blocks the event, or NONE. */
static uint32_t blocker_of(const struct bp_engine *e, const struct bp_event *event)
{
    const struct concern *end_at = e->block_end[event->type];

    for (const struct concern *c = e->block[event->type]; c < end_at; c++) {
        if ((event->bits & c->has) != c->has || event->bits & c->lacks)
            continue;
        if (c->mine) {
            uint32_t slot = c->first_slot + event->key - 1u;

            if (e->slots[slot].point == c->point)
                return slot;
        } else if (e->heads[c->list] != NONE) {
            return e->heads[c->list];
        }
    }
    return NONE;
}

/* Where the event leads the slot: a point, NOWHERE, or STAYS. */
static int reaction(struct bp_engine *e, struct slot *s, const struct bp_event *event)
{
    const struct bp_thread *thread = &e->program->threads[s->thread];
    const struct bp_point *point = &thread->at[s->point];

    for (int i = 0; i < BP_UNTILS && thread->until[i].types; i++)
        if (bp_sel_matches(&thread->until[i], event, s->key))
            return bp_target(thread, s->point, thread->until[i].go);
    if (point->request.type == event->type) {
        struct bp_event wish = request_of(e, s);

        if (wish.key == event->key && wish.bits == event->bits)
            return bp_target(thread, s->point, point->request.go);
    }
    for (int i = 0; i < BP_WAITS && point->wait[i].types; i++) {
        if (!bp_sel_matches(&point->wait[i], event, s->key))
            continue;
        if (i == 0 && ++s->count < bp_times_of(e, point))
            return STAYS;
        return bp_target(thread, s->point, point->wait[i].go);
    }
    return STAYS;
}

static void collect(struct bp_engine *e, uint32_t slot, const struct bp_event *event)
{
    int to = reaction(e, &e->slots[slot], event);

    if (to != STAYS)
        e->moves[e->move_count++] = (struct move){ slot, to };
}

static void collect_moves(struct bp_engine *e, const struct bp_event *event)
{
    const struct concern *end_at = e->react_end[event->type];

    e->move_count = 0;
    for (const struct concern *c = e->react[event->type]; c < end_at; c++) {
        if (c->mine) {
            uint32_t slot = c->first_slot + event->key - 1u;

            if (e->slots[slot].point == c->point)
                collect(e, slot, event);
            continue;
        }
        for (uint32_t slot = e->heads[c->list]; slot != NONE; slot = e->links[slot].next)
            collect(e, slot, event);
    }
}

/* Instances that the event begins, collected before anything moves: STAYS marks a spawn. */
static void collect_spawns(struct bp_engine *e, const struct bp_event *event)
{
    for (const struct concern *c = e->spawn[event->type]; c < e->spawn_end[event->type]; c++) {
        uint32_t slot = c->first_slot + (event->key ? event->key - 1u : 0);

        if ((event->bits & c->has) == c->has && !(event->bits & c->lacks) &&
            e->slots[slot].point == NOWHERE)
            e->moves[e->move_count++] = (struct move){ slot, STAYS };
    }
}

static void latch(struct bp_engine *e, const struct bp_event *event)
{
    const struct bp_type *type = &e->program->types[event->type];
    uint32_t *record = event->key ? &e->keys[event->key].bits : &e->record;

    *record = (*record & ~type->bits) | (event->bits & type->bits);
    if (event->key)
        e->keys[event->key].detail = event->detail;
    for (unsigned t = 1; t < e->program->type_count; t++)
        if (event->key && e->program->types[t].flags & BP_KEYED && e->parked_count[t])
            requests_wake(e, (uint8_t)t, event->key);
        else if (!event->key)
            requests_wake_all(e, (uint8_t)t);
}

/* The event is selected: all that it concerns move at once. */
static void take(struct bp_engine *e, const struct bp_event *event)
{
    unsigned flags = e->program->types[event->type].flags;

    collect_moves(e, event);
    collect_spawns(e, event);
    if (flags & BP_BIRTH)
        key_begin(e, event->key);
    if (flags & (BP_BIRTH | BP_LATCH))
        latch(e, event);
    for (uint32_t i = 0; i < e->move_count; i++) {
        struct move m = e->moves[i];

        if (m.to == STAYS) {
            slot_begin(e, m.slot);
        } else if (m.to < 0) {
            slot_end(e, m.slot);
        } else {
            slot_leave(e, m.slot);
            slot_enter(e, m.slot, (uint8_t)m.to);
        }
    }
    if (flags & BP_RETIRE)
        key_end(e, event->key);
}

/* ---- the interface ---- */

int bp_next(struct bp_engine *e, struct bp_event *ret_event, struct bp_place *ret_by)
{
    while (e->heap_count) {
        uint32_t slot = e->heap[0];
        struct bp_event event = request_of(e, &e->slots[slot]);

        if (blocker_of(e, &event) != NONE) {
            request_park(e, slot);
            continue;
        }
        *ret_event = event;
        if (ret_by)
            place_of(e, slot, ret_by);
        return 1;
    }
    return 0;
}

static int refuse(struct bp_refusal *ret_refusal, struct bp_refusal refusal)
{
    if (ret_refusal)
        *ret_refusal = refusal;
    return -1;
}

static void tell(struct bp_engine *e, const struct bp_event *event, const struct bp_place *by)
{
    if (!e->selected)
        return;
    e->busy = true;
    e->selected(e->ctx, event, by);
    e->busy = false;
}

int bp_run(struct bp_engine *e, struct bp_refusal *ret_refusal)
{
    struct bp_place by = { NULL };
    struct bp_event event;
    uint32_t steps = 0;

    if (e->busy)
        return refuse(ret_refusal, (struct bp_refusal){ .reason = BP_NOT_QUIET });
    while (bp_next(e, &event, &by)) {
        if (steps++ == e->steps_max)
            return refuse(ret_refusal,
                          (struct bp_refusal){ .reason = BP_ENDLESS, .by = by, .instead = event });
        take(e, &event);
        tell(e, &event, &by);
    }
    return (int)steps;
}

static enum bp_reason key_reason(const struct bp_engine *e, const struct bp_event *event)
{
    unsigned flags = e->program->types[event->type].flags;

    if (!(flags & BP_KEYED))
        return event->key ? BP_BAD_KEY : BP_FINE;
    if (!event->key || event->key > e->key_max)
        return BP_BAD_KEY;
    if (flags & BP_BIRTH)
        return e->keys[event->key].lives ? BP_KEY_IN_USE : BP_FINE;
    return e->keys[event->key].lives ? BP_FINE : BP_KEY_NOT_BORN;
}

enum bp_reason bp_event_reason(const struct bp_engine *e, const struct bp_event *event)
{
    const struct bp_type *type;

    if (!event->type || event->type >= e->program->type_count)
        return BP_NO_SUCH_TYPE;
    type = &e->program->types[event->type];
    if (!(type->flags & BP_EXT))
        return BP_NOT_FROM_OUTSIDE;
    if (event->bits & ~type->bits)
        return BP_BAD_BITS;
    return key_reason(e, event);
}

static const struct concern *full_thread(const struct bp_engine *e, const struct bp_event *event)
{
    for (const struct concern *c = e->spawn[event->type]; c < e->spawn_end[event->type]; c++) {
        uint16_t max = e->program->threads[c->thread].max;
        uint32_t slot = c->first_slot + (event->key ? event->key - 1u : 0);

        if (max && e->instances[c->thread] >= max && (event->bits & c->has) == c->has &&
            !(event->bits & c->lacks) && e->slots[slot].point == NOWHERE)
            return c;
    }
    return NULL;
}

int bp_admit(const struct bp_engine *e, const struct bp_event *event,
             struct bp_refusal *ret_refusal)
{
    struct bp_refusal refusal = { .reason = bp_event_reason(e, event) };
    const struct concern *full;
    uint32_t slot;

    if (refusal.reason != BP_FINE)
        return refuse(ret_refusal, refusal);
    slot = blocker_of(e, event);
    if (slot != NONE) {
        refusal.reason = BP_BLOCKED;
        place_of(e, slot, &refusal.by);
        return refuse(ret_refusal, refusal);
    }
    full = full_thread(e, event);
    if (full) {
        refusal.reason = BP_FULL;
        refusal.by = (struct bp_place){ &e->program->threads[full->thread], full->thread, 0, 0 };
        return refuse(ret_refusal, refusal);
    }
    return 0;
}

int bp_offer(struct bp_engine *e, const struct bp_event *event, struct bp_refusal *ret_refusal)
{
    struct bp_place outside = { NULL };

    if (bp_run(e, ret_refusal) < 0 || bp_admit(e, event, ret_refusal) < 0)
        return -1;
    take(e, event);
    tell(e, event, &outside);
    return bp_run(e, ret_refusal) < 0 ? -1 : 0;
}

int bp_force(struct bp_engine *e, const struct bp_event *event, struct bp_refusal *ret_refusal)
{
    struct bp_refusal refusal = { .reason = BP_NOT_NEXT };

    if (e->busy)
        return refuse(ret_refusal, (struct bp_refusal){ .reason = BP_NOT_QUIET });
    if (!bp_next(e, &refusal.instead, &refusal.by)) {
        if (bp_admit(e, event, ret_refusal) < 0) {
            if (ret_refusal && ret_refusal->reason == BP_NOT_FROM_OUTSIDE)
                ret_refusal->reason = BP_NOT_REQUESTED;
            return -1;
        }
    } else if (event->type != refusal.instead.type || event->key != refusal.instead.key ||
               event->bits != refusal.instead.bits) {
        return refuse(ret_refusal, refusal);
    }
    take(e, event);
    return 0;
}

int bp_follow(struct bp_engine *e, const struct bp_event *event)
{
    if (e->busy || !event->type || event->type >= e->program->type_count ||
        key_reason(e, event) != BP_FINE)
        return -1;
    take(e, event);
    return 0;
}

uint16_t bp_free_key(const struct bp_engine *e)
{
    for (unsigned word = 0; word <= e->key_max / 64u; word++)
        if (e->free_keys[word])
            return (uint16_t)(word * 64 + (unsigned)__builtin_ctzll(e->free_keys[word]));
    return 0;
}

bool bp_key_lives(const struct bp_engine *e, uint16_t key)
{
    return key <= e->key_max && e->keys[key].lives;
}

uint32_t bp_record(const struct bp_engine *e, uint16_t key)
{
    if (key)
        return bp_key_lives(e, key) ? e->keys[key].bits : 0;
    return e->record;
}

static const struct slot *slot_of(const struct bp_engine *e, unsigned thread, uint16_t key)
{
    bool keyed;

    if (thread >= e->program->thread_count || e->first_slot[thread] == NONE || key > e->key_max)
        return NULL;
    keyed = bp_is_keyed(e->program, &e->program->threads[thread]);
    if (keyed != (key != 0))
        return NULL;
    return &e->slots[e->first_slot[thread] + (key ? key - 1u : 0)];
}

int bp_point_of(const struct bp_engine *e, unsigned thread, uint16_t key)
{
    const struct slot *s = slot_of(e, thread, key);

    return s && s->point != NOWHERE ? s->point : -1;
}

unsigned bp_count_of(const struct bp_engine *e, unsigned thread, uint16_t key)
{
    const struct slot *s = slot_of(e, thread, key);

    return s && s->point != NOWHERE ? s->count : 0;
}

const struct bp_program *bp_program_of(const struct bp_engine *e)
{
    return e->program;
}

void bp_reset(struct bp_engine *e, const struct bp_options *options)
{
    static const struct bp_options defaults;
    const struct bp_program *program = e->program;
    const struct bp_options *o = options ? options : &defaults;

    bp_engine_clear(e);
    e->selected = o->selected;
    e->ctx = o->ctx;
    e->steps_max = o->steps_max ? o->steps_max : STEPS_MAX_DEFAULT;
    if (e->steps_max > INT_MAX)
        e->steps_max = INT_MAX; /* what bp_run() can count */
    for (unsigned i = 0; i < program->limit_count; i++)
        e->limits[i] = o->limits && o->limits[i] ? o->limits[i] : program->limits[i].value;
    for (unsigned i = 0; i < program->thread_count; i++)
        if (!program->threads[i].spawn.types && e->first_slot[i] != NONE)
            slot_begin(e, e->first_slot[i]);
}

struct bp_engine *bp_new(const struct bp_program *program, uint16_t key_max,
                         const struct bp_options *options)
{
    struct bp_engine *e = bp_engine_build(program, key_max);

    bp_reset(e, options);
    return e;
}
