/* SPDX-License-Identifier: MIT */
#include "random_program.h"

#include <stdio.h>

uint32_t dice_roll(struct dice *dice, uint32_t below)
{
    dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((dice->state >> 33) % below);
}

static const uint8_t plain_requests[] = { A, B, C, D, FIN };
static const uint8_t keyed_requests[] = { K, L, OVER };
static const uint8_t plain_types[] = { A, B, C, D, X, Y, MODE, STOP, FIN };
static const uint8_t keyed_types[] = { BORN, EDIT, K, L, E, OVER, GONE };

#define PICK(dice, list) (list)[dice_roll((dice), sizeof(list))]

static struct bp_sel random_sel(struct dice *d, bool keyed, unsigned points)
{
    struct bp_sel sel = { .types = 0 };
    bool of_key = dice_roll(d, 2);

    for (uint32_t n = 1 + dice_roll(d, 2); n; n--)
        sel.types |= BP_TYPE(of_key ? PICK(d, keyed_types) : PICK(d, plain_types));
    sel.mine = keyed && of_key && dice_roll(d, 4);
    if (dice_roll(d, 2))
        sel.has = 1u << dice_roll(d, 3);
    if (dice_roll(d, 3) == 0)
        sel.lacks = (1u << dice_roll(d, 3)) & ~sel.has;
    sel.go = (uint8_t)(dice_roll(d, 3) ? BP_GO(dice_roll(d, points))
                                       : (dice_roll(d, 3) ? BP_NEXT : BP_END));
    return sel;
}

/* The first wait leads to the next point, so every point can be reached. */
static void random_point(struct dice *d, struct bp_point *point, bool keyed, unsigned points,
                         bool only_waits)
{
    unsigned waits = 1 + dice_roll(d, 3), blocks = only_waits ? 0 : dice_roll(d, 3);

    for (unsigned i = 0; i < waits; i++)
        point->wait[i] = random_sel(d, keyed, points);
    point->wait[0].go = BP_NEXT;
    for (unsigned i = 0; i < blocks; i++)
        point->block[i] = random_sel(d, keyed, points);
    point->times = dice_roll(d, 4) ? 0 : (uint16_t)(1 + dice_roll(d, 3));
    if (only_waits || dice_roll(d, 2))
        return;
    if (keyed && dice_roll(d, 3)) {
        point->request.type = PICK(d, keyed_requests);
        point->request.mine = true;
    } else {
        point->request.type = PICK(d, plain_requests);
    }
    if (dice_roll(d, 4) == 0)
        point->request.set = 1u << dice_roll(d, 3);
    point->request.go = (uint8_t)(dice_roll(d, 2) ? BP_NEXT : BP_GO(dice_roll(d, points)));
}

static void random_thread(struct dice *d, struct bp_thread *thread, const char *name, bool property,
                          struct arena *arena)
{
    unsigned n = 1 + dice_roll(d, 3);
    bool keyed = dice_roll(d, 2);
    struct bp_point *points = ARENA_NEW_N(arena, struct bp_point, n + 1);

    *thread = (struct bp_thread){ .name = name, .at = points, .n = (uint8_t)n };
    if (keyed) {
        thread->spawn.types = BP_TYPE(BORN) | (dice_roll(d, 2) ? BP_TYPE(EDIT) : 0);
        thread->spawn.has = dice_roll(d, 3) ? 0 : RED;
        thread->max = dice_roll(d, 4) ? 0 : 1;
    } else if (dice_roll(d, 4) == 0) {
        thread->spawn.types = BP_TYPE(X) | BP_TYPE(Y);
    }
    for (unsigned i = 0; i < n; i++)
        random_point(d, &points[i], keyed, n, property);
    if (dice_roll(d, 4) == 0)
        thread->until[0] = random_sel(d, keyed, n);
    if (!property)
        return;
    thread->kind = BP_PROPERTY;
    thread->max = 0;
    points[n].bad = true;
    thread->n++;
}

const struct bp_program *random_program(struct dice *d, bool with_property, struct arena *arena)
{
    static const char *const names[] = { "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7" };
    unsigned n = 2 + dice_roll(d, 5);
    struct bp_program *p = ARENA_NEW(arena, struct bp_program);
    struct bp_thread *threads = ARENA_NEW_N(arena, struct bp_thread, n + 1);
    struct err err = ERR_INIT;
    char text[512];

    for (unsigned i = 0; i < n; i++)
        random_thread(d, &threads[i], names[i], false, arena);
    if (with_property)
        random_thread(d, &threads[n++], "property", true, arena);
    *p = (struct bp_program){ .name = "random",
                              .types = small_types,
                              .threads = threads,
                              .bits = small_bits,
                              .type_count = SMALL_TYPES,
                              .thread_count = (uint16_t)n,
                              .bit_count = 3 };
    if (bp_program_check(p, &err) < 0)
        FAIL("the generator made a program that is not sound: %s",
             err_format(&err, text, sizeof(text)));
    return p;
}
