/* SPDX-License-Identifier: MIT */
#include "random_program.h"

#include <stdio.h>

uint32_t dice_roll(struct dice *dice, uint32_t below)
{
    dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((dice->state >> 33) % below);
}

static const uint8_t plain_requests[] = { A, B, C, D, TUNE, FIN };
static const uint8_t keyed_requests[] = { K, L, KEEP, OVER };
static const uint8_t plain_types[] = { A, B, C, D, X, Y, MODE, TUNE, STOP, FIN };
static const uint8_t keyed_types[] = { BORN, EDIT, K, L, E, KEEP, OVER, GONE };
static const uint8_t plain_outside[] = { X, Y, MODE };
static const uint8_t keyed_outside[] = { BORN, EDIT, E, GONE };
static const uint8_t plain_spawns[] = { A, X, Y, TUNE, MODE };
static const uint8_t keyed_spawns[] = { BORN, BORN, EDIT, E, K, KEEP };

#define PICK(dice, list) (list)[dice_roll((dice), sizeof(list))]

static uint32_t random_bits(struct dice *d)
{
    return 1u << dice_roll(d, 3) | (dice_roll(d, 4) ? 0 : 1u << dice_roll(d, 3));
}

static void random_attributes(struct dice *d, struct bp_sel *sel)
{
    if (dice_roll(d, 2))
        sel->has = random_bits(d);
    if (dice_roll(d, 3) == 0)
        sel->lacks = random_bits(d) & ~sel->has;
}

static struct bp_sel random_sel(struct dice *d, bool keyed, unsigned points, bool outside)
{
    struct bp_sel sel = { .types = 0 };
    bool of_key = dice_roll(d, 2);

    for (uint32_t n = 1 + dice_roll(d, 2); n; n--)
        if (outside)
            sel.types |= BP_TYPE(of_key ? PICK(d, keyed_outside) : PICK(d, plain_outside));
        else
            sel.types |= BP_TYPE(of_key ? PICK(d, keyed_types) : PICK(d, plain_types));
    sel.mine = keyed && of_key && dice_roll(d, 4);
    random_attributes(d, &sel);
    sel.go = (uint8_t)(dice_roll(d, 3) ? BP_GO(dice_roll(d, points))
                                       : (dice_roll(d, 3) ? BP_NEXT : BP_END));
    return sel;
}

static void random_request(struct dice *d, struct bp_req *request, bool keyed, unsigned points)
{
    if (keyed && dice_roll(d, 3)) {
        request->type = PICK(d, keyed_requests);
        request->mine = true;
    } else {
        request->type = PICK(d, plain_requests);
    }
    if (dice_roll(d, 3) == 0)
        request->set = random_bits(d);
    request->go = (uint8_t)(dice_roll(d, 2) ? BP_NEXT : BP_GO(dice_roll(d, points)));
}

/* The first wait leads to the next point, so every point can be reached. */
static void random_point(struct dice *d, struct bp_point *point, bool keyed, unsigned points,
                         enum bp_kind kind)
{
    unsigned waits = 1 + dice_roll(d, 3), blocks = kind == BP_PROPERTY ? 0 : dice_roll(d, 3);

    for (unsigned i = 0; i < waits; i++)
        point->wait[i] = random_sel(d, keyed, points, false);
    point->wait[0].go = BP_NEXT;
    for (unsigned i = 0; i < blocks; i++)
        point->block[i] = random_sel(d, keyed, points, kind == BP_ENVIRONMENT);
    if (dice_roll(d, 4) == 0)
        point->times = dice_roll(d, 2) ? BP_LIMIT(0) : (uint16_t)(1 + dice_roll(d, 3));
    if (kind <= BP_GUARD && dice_roll(d, 2))
        random_request(d, &point->request, keyed, points);
}

static void random_spawn(struct dice *d, struct bp_thread *thread, bool keyed)
{
    if (!keyed && dice_roll(d, 3))
        return;
    for (uint32_t n = 1 + dice_roll(d, 2); n; n--)
        thread->spawn.types |= BP_TYPE(keyed ? PICK(d, keyed_spawns) : PICK(d, plain_spawns));
    if (dice_roll(d, 3) == 0)
        random_attributes(d, &thread->spawn);
    if (keyed && !(thread->spawn.types & (BP_TYPE(K) | BP_TYPE(KEEP))))
        thread->max = dice_roll(d, 4) ? 0 : 1;
}

static void random_thread(struct dice *d, struct bp_thread *thread, const char *name,
                          enum bp_kind kind, struct arena *arena)
{
    unsigned n = 1 + dice_roll(d, 3);
    bool keyed = dice_roll(d, 2);
    struct bp_point *points = ARENA_NEW_N(arena, struct bp_point, n + 1);

    *thread = (struct bp_thread){ .name = name, .at = points, .n = (uint8_t)n, .kind = kind };
    random_spawn(d, thread, keyed);
    for (unsigned i = 0; i < n; i++)
        random_point(d, &points[i], keyed, n, kind);
    for (uint32_t i = 0; i < dice_roll(d, 8) / 5; i++)
        thread->until[i] = random_sel(d, keyed, n, false);
    if (kind != BP_PROPERTY)
        return;
    thread->max = 0;
    points[n].bad = true;
    thread->n++;
}

const struct bp_program *random_program(struct dice *d, enum bp_kind last, struct arena *arena)
{
    static const char *const names[] = { "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7" };
    static const struct bp_limit limits[] = { { "times", 2, 2 } };
    unsigned n = 2 + dice_roll(d, 5);
    struct bp_program *p = ARENA_NEW(arena, struct bp_program);
    struct bp_thread *threads = ARENA_NEW_N(arena, struct bp_thread, n + 1);
    struct err err = ERR_INIT;
    char text[512];

    for (unsigned i = 0; i < n; i++)
        random_thread(d, &threads[i], names[i], dice_roll(d, 2) ? BP_PROGRAM : BP_GUARD, arena);
    if (last != BP_PROGRAM)
        random_thread(d, &threads[n++], last == BP_PROPERTY ? "property" : "outside", last, arena);
    *p = (struct bp_program){ .name = "random",
                              .types = small_types,
                              .threads = threads,
                              .bits = small_bits,
                              .limits = limits,
                              .type_count = SMALL_TYPES,
                              .thread_count = (uint16_t)n,
                              .bit_count = 3,
                              .limit_count = 1 };
    if (bp_program_check(p, &err) < 0)
        FAIL("the generator made a program that is not sound: %s",
             err_format(&err, text, sizeof(text)));
    return p;
}
