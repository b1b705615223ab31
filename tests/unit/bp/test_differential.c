/* The engine against the plain model, and the checker against a search without any of its
 * shortcuts, on random programs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/map.h"
#include "bp/engine.h"
#include "bp/model_int.h"
#include "random_program.h"

#define SEQUENCES   20000
#define PER_PROGRAM 10
#define EVENTS      30
#define KEYS        3
#define SUPER_STEP  50

/* Both, side by side. */
struct pair {
    const struct bp_program *program;
    struct bp_engine *engine;
    const struct model *model;
    struct state state;
    unsigned births[KEYS + 1], births_count;
    bool all_bits; /* the model keeps attributes that nobody looks at, too */
};

static void compare_states(const struct pair *p)
{
    const struct model *m = p->model;

    for (unsigned i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];

        for (unsigned key = t->keyed; key <= (t->keyed ? KEYS : 0u); key++) {
            ASSERT_EQ(bp_point_of(p->engine, t->index, (uint16_t)key),
                      model_point(m, &p->state, t, key));
            ASSERT_EQ(bp_count_of(p->engine, t->index, (uint16_t)key),
                      model_count(m, &p->state, t, key));
        }
    }
    ASSERT_EQ(bp_record(p->engine, 0) & m->program_bits, p->state.record[0]);
    for (unsigned key = 1; key <= KEYS; key++) {
        ASSERT_EQ(bp_key_lives(p->engine, (uint16_t)key), p->state.alive >> key & 1);
        ASSERT_EQ(bp_record(p->engine, (uint16_t)key) & m->key_bits, p->state.record[key]);
    }
}

/* What the rules say comes next, found by looking at every request. */
static bool expected_next(const struct pair *p, struct bp_event *ret_event)
{
    struct model_wish wish;
    uint64_t best = UINT64_MAX;
    unsigned at = 0;

    while (model_next(p->model, &p->state, &at, &wish)) {
        uint64_t rank = (uint64_t)wish.thread->index << 32 | (wish.key ? p->births[wish.key] : 0);

        if (rank < best) {
            best = rank;
            *ret_event = wish.event;
        }
    }
    return best != UINT64_MAX;
}

static void advance(struct pair *p, const struct bp_event *event)
{
    const struct model_thread *bad;
    struct state to;

    model_apply(p->model, &p->state, event, &to, &bad);
    model_copy(p->model, &p->state, &to);
    if (p->program->types[event->type].flags & BP_BIRTH)
        p->births[event->key] = ++p->births_count;
    compare_states(p);
}

/* Selects until quiet or for long enough: some random programs never become quiet. */
static bool run_to_quiet(struct pair *p)
{
    for (int i = 0; i < SUPER_STEP; i++) {
        struct bp_event next, expected;
        bool more = expected_next(p, &expected);

        ASSERT_EQ(bp_next(p->engine, &next, NULL), more);
        if (!more)
            return true;
        ASSERT_EQ(next.type, expected.type);
        ASSERT_EQ(next.key, expected.key);
        ASSERT_EQ((next.bits ^ expected.bits) &
                      (p->all_bits ? UINT32_MAX : p->model->looked[next.type]),
                  0);
        ASSERT_EQ(bp_force(p->engine, &next, NULL), 0);
        advance(p, &expected);
    }
    return false;
}

static bool model_takes(const struct pair *p, const struct bp_event *event)
{
    unsigned flags = p->program->types[event->type].flags;
    bool lives = p->state.alive >> event->key & 1;

    if (flags & BP_KEYED && lives == !!(flags & BP_BIRTH))
        return false;
    return model_admits(p->model, &p->state, event);
}

static void offer_something(struct pair *p, struct dice *d, unsigned *accepted)
{
    static const uint8_t outside[] = { X, Y, MODE, BORN, BORN, BORN, EDIT, EDIT, E, GONE, STOP };
    struct bp_event event = { .type = outside[dice_roll(d, sizeof(outside))] };
    bool keyed = p->program->types[event.type].flags & BP_KEYED;
    bool fits;

    event.key = (uint16_t)(keyed ? 1 + dice_roll(d, KEYS) : 0);
    event.bits = dice_roll(d, 8) & p->model->vary[event.type];
    fits = model_takes(p, &event);
    ASSERT_EQ(bp_force(p->engine, &event, NULL), fits ? 0 : -1);
    if (fits) {
        advance(p, &event);
        (*accepted)++;
    }
}

static void play_sequence(const struct bp_program *program, const struct model *model,
                          bool all_bits, struct dice *d, unsigned *accepted)
{
    struct pair p = { .program = program, .model = model, .all_bits = all_bits };

    p.engine = bp_new(program, KEYS, NULL);
    model_begin(model, &p.state);
    compare_states(&p);
    for (int i = 0; i < EVENTS && run_to_quiet(&p); i++)
        offer_something(&p, d, accepted);
    bp_free(p.engine);
}

TEST(engine_and_model_agree_on_20000_random_event_sequences, .timeout_s = 300)
{
    struct dice d = { 20260101 };
    unsigned accepted = 0;

    for (unsigned i = 0; i < SEQUENCES / PER_PROGRAM; i++) {
        AUTO_ARENA arena = ARENA_INIT;
        const struct bp_program *program = random_program(&d, BP_PROGRAM, &arena);
        struct model_scope scope = { .all_bits = i % 2 };
        AUTO_MODEL model = { .program = NULL };

        ASSERT_OK(model_init(&model, program, KEYS, scope, NULL, &t->err));
        for (unsigned k = 0; k < PER_PROGRAM; k++)
            play_sequence(program, &model, scope.all_bits, &d, &accepted);
    }
    /* Most sequences have to be about something. */
    ASSERT(accepted > 5 * SEQUENCES);
}

/* ---- the checker ---- */

#define STATES_MAX 5000

/* The length of a shortest way to a bad point, 0 when there is none, -1 past the bound. Keeps keys
 * as they are, leaves no thread out, looks at every key that may be born, and tells all attributes
 * apart, whether anybody looks at them or not. */
struct plain_search {
    const struct model *model;
    struct state *states;
    unsigned *depth;
    unsigned count;
    struct map known;
};

static void plain_add(struct plain_search *s, const struct state *state, unsigned depth)
{
    uint64_t words[MODEL_WORDS_MAX] = { 0 };
    struct str key = str_of((const char *)words, s->model->words * sizeof(words[0]));

    model_pack(s->model, state, words);
    if (s->count > STATES_MAX || map_find(&s->known, key))
        return;
    map_put(&s->known, key, s);
    s->states[s->count] = *state;
    s->depth[s->count++] = depth;
}

static bool plain_step(struct plain_search *s, unsigned node, const struct bp_event *event)
{
    const struct model_thread *bad;
    struct state to = { .alive = 0 };
    bool found = model_apply(s->model, &s->states[node], event, &to, &bad);

    plain_add(s, &to, s->depth[node] + 1);
    return found;
}

static bool plain_offers(struct plain_search *s, unsigned node)
{
    const struct bp_program *program = s->model->program;

    for (unsigned type = 1; type < program->type_count; type++) {
        unsigned flags = program->types[type].flags;
        bool keyed = flags & BP_KEYED;

        for (unsigned key = keyed; flags & BP_EXT && key <= (keyed ? s->model->keys : 0); key++) {
            bool lives = s->states[node].alive >> key & 1;

            if (keyed && lives == !!(flags & BP_BIRTH))
                continue;
            for (uint32_t bits = 0; bits < 8; bits++) {
                struct bp_event event = { (uint8_t)type, (uint16_t)key, bits, 0 };

                if (!(bits & ~program->types[type].bits) &&
                    model_admits(s->model, &s->states[node], &event) && plain_step(s, node, &event))
                    return true;
            }
        }
    }
    return false;
}

static int plain_shortest(const struct model *model)
{
    struct plain_search s = { .model = model, .known = MAP_INIT };
    struct state start;
    int found = 0;

    s.states = calloc(STATES_MAX + 2, sizeof(s.states[0]));
    s.depth = calloc(STATES_MAX + 2, sizeof(s.depth[0]));
    model_begin(model, &start);
    plain_add(&s, &start, 0);
    for (unsigned node = 0; node < s.count && !found; node++) {
        struct model_wish wish;
        unsigned at = 0;

        while (!found && model_next(model, &s.states[node], &at, &wish))
            if (plain_step(&s, node, &wish.event))
                found = (int)s.depth[node] + 1;
        if (!found && plain_offers(&s, node))
            found = (int)s.depth[node] + 1;
    }
    if (!found && s.count > STATES_MAX)
        found = -1;
    free(s.states);
    free(s.depth);
    map_release(&s.known);
    return found;
}

static int length_found(const struct bp_program *program, bool whole)
{
    struct bp_check_options options = { .keys = 2, .whole = whole, .states_max = STATES_MAX };
    AUTO_REPORT report = { .program = NULL };
    const struct bp_finding *f;

    if (bp_check(program, &options, &report, NULL) < 0)
        FAIL("the checker refused a random program");
    f = bp_finding_find(&report, "property");
    if (f->verdict == BP_BOUND)
        return -1;
    if (f->verdict == BP_PROVED)
        return 0;
    ASSERT_EQ(bp_trace_replay(program, &f->trace, "property", NULL), 0);
    return (int)f->trace.step_count;
}

TEST(the_checker_finds_the_same_shortest_ways_as_a_search_without_shortcuts, .timeout_s = 300)
{
    unsigned proved = 0, violated = 0, together = 0, programs = test_long() ? 1500 : 100;
    struct dice d = { 42 };

    for (unsigned i = 0; i < programs; i++) {
        AUTO_ARENA arena = ARENA_INIT;
        const struct bp_program *program = random_program(&d, BP_PROPERTY, &arena);
        struct model_scope scope = { .property = "property", .all_bits = true };
        AUTO_MODEL model = { .program = NULL };
        int plain, sliced = length_found(program, false), whole = length_found(program, true);

        ASSERT_OK(model_init(&model, program, 2, scope, NULL, &t->err));
        plain = plain_shortest(&model);
        if (sliced >= 0 && whole >= 0)
            ASSERT_EQ(sliced, whole);
        if (plain >= 0 && whole >= 0)
            ASSERT_EQ(whole, plain);
        if (plain >= 0 && sliced >= 0)
            ASSERT_EQ(sliced, plain);
        proved += sliced == 0;
        violated += sliced > 0;
        together += plain >= 0 && sliced >= 0;
    }
    /* Both verdicts must have been tested many times. */
    printf("  %u proved, %u violated, %u compared with the plain search\n", proved, violated,
           together);
    ASSERT(proved > programs / 3 && violated > programs / 5 && together > programs * 2 / 3);
}
