/* Sets an engine up: places for every possible instance, and for each type the points that it
 * concerns. Everything lies in one arena; after this nothing is allocated.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bp/engine_int.h"

static void count_slots(struct bp_engine *e)
{
    const struct bp_program *p = e->program;
    uint32_t points = 0;

    e->first_slot = ARENA_NEW_N(&e->arena, uint32_t, p->thread_count + 1u);
    e->first_point = ARENA_NEW_N(&e->arena, uint32_t, p->thread_count + 1u);
    e->instances = ARENA_NEW_N(&e->arena, uint32_t, p->thread_count + 1u);
    e->keyed = ARENA_NEW_N(&e->arena, uint16_t, p->thread_count + 1u);
    for (unsigned i = 0; i < p->thread_count; i++) {
        const struct bp_thread *thread = &p->threads[i];

        e->first_slot[i] = NONE;
        if (!bp_runs(thread))
            continue;
        e->first_slot[i] = e->slot_count;
        e->first_point[i] = points;
        points += thread->n;
        if (bp_is_keyed(p, thread))
            e->keyed[e->keyed_count++] = (uint16_t)i;
        e->slot_count += bp_is_keyed(p, thread) ? e->key_max : 1u;
    }
    e->point_count = points;
    e->heads = ARENA_NEW_N(&e->arena, uint32_t, points + 1);
}

static void make_slots(struct bp_engine *e)
{
    e->slots = ARENA_NEW_N(&e->arena, struct slot, e->slot_count + 1);
    e->links = ARENA_NEW_N(&e->arena, struct link, e->slot_count + 1);
    e->park_links = ARENA_NEW_N(&e->arena, struct link, e->slot_count + 1);
    e->moves = ARENA_NEW_N(&e->arena, struct move, e->slot_count + 1);
    e->heap = ARENA_NEW_N(&e->arena, uint32_t, e->slot_count + 1);
}

static void clear_slots(struct bp_engine *e)
{
    const struct bp_program *p = e->program;

    for (uint32_t i = 0; i < e->point_count; i++)
        e->heads[i] = NONE;
    for (unsigned i = 0; i < p->thread_count; i++) {
        bool keyed = bp_is_keyed(p, &p->threads[i]);

        e->instances[i] = 0;
        if (e->first_slot[i] == NONE)
            continue;
        for (unsigned k = 0; k < (keyed ? e->key_max : 1u); k++)
            e->slots[e->first_slot[i] + k] = (struct slot){ .thread = (uint16_t)i,
                                                            .key = (uint16_t)(keyed ? k + 1 : 0),
                                                            .point = NOWHERE };
    }
}

static void make_keys(struct bp_engine *e)
{
    e->keys = ARENA_NEW_N(&e->arena, struct key, e->key_max + 1u);
    e->free_keys = ARENA_NEW_N(&e->arena, uint64_t, e->key_max / 64u + 1);
}

static void clear_keys(struct bp_engine *e)
{
    memset(e->keys, 0, (e->key_max + 1u) * sizeof(*e->keys));
    for (unsigned key = 1; key <= e->key_max; key++)
        e->free_keys[key / 64] |= UINT64_C(1) << key % 64;
}

static void make_parking(struct bp_engine *e)
{
    uint32_t rows = 0;

    for (unsigned t = 0; t < e->program->type_count; t++) {
        e->park_row[t] = rows;
        rows += e->program->types[t].flags & BP_KEYED ? e->key_max + 1u : 1u;
    }
    e->park_rows = rows;
    e->parked = ARENA_NEW_N(&e->arena, uint32_t, rows + 1);
}

static void clear_parking(struct bp_engine *e)
{
    for (uint32_t i = 0; i < e->park_rows; i++)
        e->parked[i] = NONE;
    memset(e->parked_count, 0, sizeof(e->parked_count));
}

/* What the thread does at the point with events of a type: does it react, and only to its own? */
struct interest {
    bool any, mine;
};

static void add_interest(struct interest *in, const struct bp_sel *sel, unsigned type)
{
    if (!(sel->types >> type & 1))
        return;
    in->any = in->any || !sel->mine;
    in->mine = in->mine || sel->mine;
}

static struct interest interest_of(const struct bp_thread *thread, unsigned point, unsigned type)
{
    const struct bp_point *at = &thread->at[point];
    struct interest in = { false, false };

    for (int i = 0; i < BP_UNTILS; i++)
        add_interest(&in, &thread->until[i], type);
    for (int i = 0; i < BP_WAITS; i++)
        add_interest(&in, &at->wait[i], type);
    if (at->request.type == type) {
        in.any = in.any || !at->request.mine;
        in.mine = in.mine || at->request.mine;
    }
    return in;
}

/* Written twice: the first pass (to == NULL) only counts. */
static unsigned list_reactions(struct bp_engine *e, unsigned type, struct concern *to)
{
    unsigned n = 0;

    for (unsigned i = 0; i < e->program->thread_count; i++) {
        const struct bp_thread *thread = &e->program->threads[i];

        for (unsigned point = 0; e->first_slot[i] != NONE && point < thread->n; point++) {
            struct interest in = interest_of(thread, point, type);

            if (!in.any && !in.mine)
                continue;
            if (to)
                to[n] = (struct concern){ .first_slot = e->first_slot[i],
                                          .list = e->first_point[i] + point,
                                          .thread = (uint16_t)i,
                                          .point = (uint8_t)point,
                                          .mine = !in.any };
            n++;
        }
    }
    return n;
}

static unsigned list_blocks(struct bp_engine *e, unsigned type, struct concern *to)
{
    unsigned n = 0;

    for (unsigned i = 0; i < e->program->thread_count; i++) {
        const struct bp_thread *thread = &e->program->threads[i];

        for (unsigned at = 0; e->first_slot[i] != NONE && at < thread->n * BP_BLOCKS; at++) {
            unsigned point = at / BP_BLOCKS;
            const struct bp_sel *sel = &thread->at[point].block[at % BP_BLOCKS];

            if (!(sel->types >> type & 1))
                continue;
            if (to)
                to[n] = (struct concern){ .first_slot = e->first_slot[i],
                                          .list = e->first_point[i] + point,
                                          .has = sel->has,
                                          .lacks = sel->lacks,
                                          .thread = (uint16_t)i,
                                          .point = (uint8_t)point,
                                          .mine = sel->mine };
            n++;
        }
    }
    return n;
}

static unsigned list_spawns(struct bp_engine *e, unsigned type, struct concern *to)
{
    unsigned n = 0;

    for (unsigned i = 0; i < e->program->thread_count; i++) {
        const struct bp_sel *sel = &e->program->threads[i].spawn;

        if (e->first_slot[i] == NONE || !(sel->types >> type & 1))
            continue;
        if (to)
            to[n] = (struct concern){ .first_slot = e->first_slot[i],
                                      .has = sel->has,
                                      .lacks = sel->lacks,
                                      .thread = (uint16_t)i };
        n++;
    }
    return n;
}

typedef unsigned list_fn(struct bp_engine *e, unsigned type, struct concern *to);

static void make_list(struct bp_engine *e, list_fn *list, struct concern **first,
                      struct concern **end)
{
    for (unsigned type = 1; type < e->program->type_count; type++) {
        unsigned n = list(e, type, NULL);

        first[type] = ARENA_NEW_N(&e->arena, struct concern, n + 1u);
        list(e, type, first[type]);
        end[type] = first[type] + n;
    }
}

void bp_engine_clear(struct bp_engine *e)
{
    clear_slots(e);
    clear_keys(e);
    clear_parking(e);
    e->heap_count = e->move_count = 0;
    e->births = 0;
    e->oldest = e->youngest = 0;
    e->record = 0;
    e->busy = false;
}

struct bp_engine *bp_engine_build(const struct bp_program *program, uint16_t key_max)
{
    struct bp_engine *e = NEW(struct bp_engine);

    BUG_IF(key_max > BP_KEYS_MAX);
    e->program = program;
    e->key_max = key_max;
    count_slots(e);
    make_slots(e);
    make_keys(e);
    make_parking(e);
    make_list(e, list_reactions, e->react, e->react_end);
    make_list(e, list_blocks, e->block, e->block_end);
    make_list(e, list_spawns, e->spawn, e->spawn_end);
    return e;
}

void bp_free(struct bp_engine *e)
{
    if (!e)
        return;
    arena_release(&e->arena);
    free(e);
}
