/* Progress proofs on random programs against a search that asks of each state anew whether the end
 * can be reached.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdio.h>

#include "base/map.h"
#include "bp/explore_int.h"
#include "random_program.h"
#include "variant.h"

#define STATES_MAX 2500
#define STEPS_MAX  128
#define KEYS       2

/* A state, and which key was born first: keys keep their names here. */
struct known {
    struct state state;
    uint8_t born[KEYS]; /* keys that live, the oldest first; 0 behind them */
};

/* Every state by priority, with all its steps that are not COOP, as a plain list. */
struct plain {
    const struct model *model;
    struct known states[STATES_MAX + 1];
    unsigned steps[STATES_MAX + 1][STEPS_MAX], step_count[STATES_MAX + 1];
    unsigned depth[STATES_MAX + 1];
    bool ends[STATES_MAX + 1];
    unsigned count;
    bool full;
    struct map known;
};

/* Index + 1 of the state, or 0 when there is no room. */
static unsigned plain_find(struct plain *p, const struct known *k, unsigned depth)
{
    uint64_t words[MODEL_WORDS_MAX + 1] = { 0 };
    struct str key = str_of((const char *)words, (p->model->words + 1) * sizeof(words[0]));
    void *found;

    model_pack(p->model, &k->state, words);
    words[p->model->words] = (uint64_t)k->born[0] << 8 | k->born[1];
    found = map_find(&p->known, key);
    if (found)
        return (unsigned)(uintptr_t)found;
    if (p->count == STATES_MAX) {
        p->full = true;
        return 0;
    }
    p->depth[p->count] = depth;
    p->states[p->count++] = *k;
    map_put(&p->known, key, (void *)(uintptr_t)p->count);
    return p->count;
}

static void note_births(const struct model *m, const struct bp_event *event, struct known *k)
{
    unsigned flags = m->program->types[event->type].flags;

    if (flags & BP_BIRTH)
        k->born[k->born[0] ? 1 : 0] = (uint8_t)event->key;
    if (flags & BP_RETIRE && k->born[0] == event->key)
        k->born[0] = k->born[1];
    if (flags & BP_RETIRE)
        k->born[1] = 0;
}

static void plain_step(struct plain *p, unsigned node, const struct bp_event *event)
{
    unsigned flags = p->model->program->types[event->type].flags;
    const struct model_thread *bad;
    struct known to = p->states[node];
    unsigned next;

    if (flags & BP_FINAL) {
        p->ends[node] = true;
        return;
    }
    model_apply(p->model, &p->states[node].state, event, &to.state, &bad);
    note_births(p->model, event, &to);
    next = plain_find(p, &to, p->depth[node] + 1);
    if (!next || flags & BP_COOP)
        return;
    ASSERT(p->step_count[node] < STEPS_MAX);
    p->steps[node][p->step_count[node]++] = next - 1;
}

/* The request of the thread declared first, of its key born first. */
static bool plain_wish(const struct plain *p, const struct known *k, struct bp_event *ret_event)
{
    unsigned at = 0, best = UINT_MAX;
    struct model_wish wish;

    while (model_next(p->model, &k->state, &at, &wish)) {
        unsigned rank = wish.thread->index * 4u + (wish.key && wish.key != k->born[0]);

        if (rank < best)
            *ret_event = wish.event;
        best = rank < best ? rank : best;
    }
    return best != UINT_MAX;
}

static void plain_offers(struct plain *p, unsigned node)
{
    const struct bp_program *program = p->model->program;

    for (unsigned type = 1; type < program->type_count; type++) {
        unsigned flags = program->types[type].flags;
        bool keyed = flags & BP_KEYED;

        for (unsigned key = keyed; flags & BP_EXT && key <= (keyed ? KEYS : 0u); key++)
            for (uint32_t bits = 0; bits < 8; bits++) {
                struct bp_event event = { (uint8_t)type, (uint16_t)key, bits, 0 };
                bool lives = p->states[node].state.alive >> key & 1;

                if (!(bits & ~program->types[type].bits) &&
                    !(keyed && lives == !!(flags & BP_BIRTH)) &&
                    model_admits(p->model, &p->states[node].state, &event))
                    plain_step(p, node, &event);
            }
    }
}

static void plain_explore(struct plain *p)
{
    struct known start = { .born = { 0 } };

    model_begin(p->model, &start.state);
    plain_find(p, &start, 0);
    for (unsigned node = 0; node < p->count && !p->full; node++) {
        struct bp_event event;

        if (plain_wish(p, &p->states[node], &event))
            plain_step(p, node, &event);
        else
            plain_offers(p, node);
    }
}

/* Can the end be reached from here? Looked for from the node forward, for each node anew. */
static bool reaches_end(const struct plain *p, unsigned node)
{
    static unsigned queue[STATES_MAX];
    static bool seen[STATES_MAX];
    unsigned head = 0, tail = 0;

    memset(seen, 0, sizeof(seen));
    queue[tail++] = node;
    seen[node] = true;
    while (head < tail) {
        unsigned at = queue[head++];

        if (p->ends[at])
            return true;
        for (unsigned i = 0; i < p->step_count[at]; i++)
            if (!seen[p->steps[at][i]]) {
                seen[p->steps[at][i]] = true;
                queue[tail++] = p->steps[at][i];
            }
    }
    return false;
}

/* The first state without a way, or p->count. */
static unsigned plain_stuck(const struct plain *p)
{
    unsigned node = 0;

    while (node < p->count && reaches_end(p, node))
        node++;
    return node;
}

static void check_trace(struct test *t, const struct bp_program *program,
                        const struct bp_finding *f, unsigned expected)
{
    ASSERT_EQ(f->trace.closed_at, expected);
    ASSERT_EQ(bp_trace_replay(program, &f->trace, NULL, NULL), 0);
    replay_on_engine(program, &f->trace);
    ASSERT_EQ(t->err.code, ERR_NONE);
}

TEST(progress_is_judged_as_by_asking_every_state_anew, .timeout_s = 300)
{
    static struct plain p;
    unsigned open = 0, stuck = 0, programs = test_long() ? 3000 : 100;
    struct dice d = { 7 };

    for (unsigned i = 0; i < programs; i++) {
        struct bp_check_options options = { .keys = KEYS, .states_max = 4 * STATES_MAX };
        struct model_scope scope = { .environment = true, .all_bits = true };
        AUTO_ARENA arena = ARENA_INIT;
        const struct bp_program *program =
            random_program(&d, i % 2 ? BP_ENVIRONMENT : BP_PROGRAM, &arena);
        AUTO_REPORT report = { .program = NULL };
        AUTO_MODEL model = { .program = NULL };
        const struct bp_finding *f;

        ASSERT_OK(model_init(&model, program, KEYS, scope, NULL, &t->err));
        memset(&p, 0, sizeof(p));
        p.model = &model;
        plain_explore(&p);
        ASSERT_OK(bp_check(program, &options, &report, &t->err));
        f = bp_finding_find(&report, BP_PROGRESS);
        if (!p.full && f->verdict != BP_BOUND) {
            unsigned first = plain_stuck(&p);

            ASSERT_EQ(f->verdict, first == p.count ? BP_PROVED : BP_VIOLATED);
            if (first < p.count)
                check_trace(t, program, f, p.depth[first]);
            open += first == p.count;
            stuck += first < p.count;
        }
        map_release(&p.known);
    }
    printf("  %u with a way, %u without\n", open, stuck);
    ASSERT(stuck > programs / 8);
}
