/* Exploration: nodes are numbered as they are found, so the array of states is its own queue and
 * numbers grow with the distance from the start. A hash table tells which states are known.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "bp/explore_int.h"

#define FIRST_ROOM     1024
#define PROGRESS_EVERY 8192
/* Edges are numbered in 32 bits. */
#define EDGES_CAP (UINT64_C(1) << 31)
/* One state leads to no more than so many others. */
#define STEPS_MAX (MODEL_EVENTS_MAX + MODEL_SLOTS_MAX)

static double now_s(const struct bp_check_options *options)
{
    struct clock *clock = options->clock ? options->clock : clock_system();

    return (double)clock_mono_ns(clock) / 1e9;
}

void graph_init(struct graph *g, const struct model *model, bool by_priority, bool keep_edges)
{
    *g = (struct graph){
        .model = model, .by_priority = by_priority, .keep_edges = keep_edges, .bad_node = NO_NODE
    };
    g->reached = NEW_N(uint64_t, (model->thread_count + 1) * POINT_WORDS);
}

void graph_release(struct graph *g)
{
    free(g->words);
    free(g->arrivals);
    free(g->table);
    free(g->edge_first);
    free(g->edges);
    free(g->finals);
    free(g->reached);
}

/* ---- the set of known states ---- */

static uint64_t hash_words(const uint64_t *words, unsigned n)
{
    uint64_t h = 0x9e3779b97f4a7c15;

    for (unsigned i = 0; i < n; i++) {
        h = (h ^ words[i]) * 0xff51afd7ed558ccd;
        h ^= h >> 32;
    }
    return h ^ h >> 29;
}

static void grow_table(struct graph *g)
{
    unsigned words = g->model->words;

    free(g->table);
    g->table_size = g->table_size ? g->table_size * 2 : FIRST_ROOM * 2;
    g->table = NEW_N(uint32_t, g->table_size);
    for (uint32_t node = 0; node < g->count; node++) {
        uint64_t h = hash_words(g->words + (size_t)node * words, words);

        while (g->table[h & (g->table_size - 1)])
            h++;
        g->table[h & (g->table_size - 1)] = node + 1;
    }
}

static void grow_nodes(struct graph *g)
{
    g->room = g->room ? g->room * 2 : FIRST_ROOM;
    g->words = alloc_resize(g->words, (size_t)g->room * g->model->words, sizeof(g->words[0]));
    g->arrivals = alloc_resize(g->arrivals, g->room, sizeof(g->arrivals[0]));
    if (!g->keep_edges)
        return;
    g->edge_first = alloc_resize(g->edge_first, g->room + 1u, sizeof(g->edge_first[0]));
    g->finals = alloc_resize(g->finals, g->room, sizeof(g->finals[0]));
}

/* The node of this state, new or known. */
static uint32_t intern(struct graph *g, const uint64_t *packed, struct arrival arrival)
{
    unsigned words = g->model->words;
    uint64_t h = hash_words(packed, words);
    uint32_t at;

    if (g->count * 2 >= g->table_size)
        grow_table(g);
    while ((at = g->table[h & (g->table_size - 1)])) {
        if (memcmp(g->words + (size_t)(at - 1) * words, packed, words * sizeof(packed[0])) == 0)
            return at - 1;
        h++;
    }
    if (g->count == g->room)
        grow_nodes(g);
    g->table[h & (g->table_size - 1)] = g->count + 1;
    memcpy(g->words + (size_t)g->count * words, packed, words * sizeof(packed[0]));
    g->arrivals[g->count] = arrival;
    if (g->keep_edges)
        g->finals[g->count] = false;
    return g->count++;
}

/* ---- one node ---- */

static void note_reached(struct graph *g, const struct state *state)
{
    const struct model *m = g->model;

    for (unsigned i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];

        for (unsigned key = t->keyed; key <= (t->keyed ? m->keys : 0); key++) {
            int point = model_point(m, state, t, key);

            if (point >= 0)
                g->reached[i * POINT_WORDS + (unsigned)point / 64] |= UINT64_C(1) << point % 64;
        }
    }
}

static void add_edge(struct graph *g, uint32_t to)
{
    if (g->edge_count == g->edge_room) {
        g->edge_room = g->edge_room ? g->edge_room * 2 : FIRST_ROOM * 4;
        g->edges = alloc_resize(g->edges, g->edge_room, sizeof(g->edges[0]));
    }
    g->edges[g->edge_count++] = to;
}

bool graph_step(const struct graph *g, const struct state *from, const struct bp_event *event,
                uint64_t *packed, const struct model_thread **ret_bad)
{
    uint8_t order[MODEL_KEYS_MAX + 1];
    struct state to;
    bool bad = model_apply(g->model, from, event, &to, ret_bad);

    if (g->keep_edges && g->model->program->types[event->type].flags & BP_FINAL)
        to.alive |= STATE_OVER;
    model_forget(g->model, &to);
    model_canonical(g->model, &to, g->by_priority, order);
    model_pack(g->model, &to, packed);
    return bad;
}

void graph_state(const struct graph *g, uint32_t node, struct state *ret_state)
{
    model_unpack(g->model, g->words + (size_t)node * g->model->words, ret_state);
}

void graph_events(const struct graph *g, const struct state *state, struct bp_event *offers,
                  graph_event_fn *fn, void *ctx)
{
    struct model_wish wish;
    unsigned at = 0, n;

    while (model_next(g->model, state, &at, &wish)) {
        fn(ctx, state, &wish.event);
        if (g->by_priority)
            return;
    }
    n = model_offers(g->model, state, g->by_priority, offers);
    for (unsigned i = 0; i < n; i++)
        fn(ctx, state, &offers[i]);
}

/* From the node that is being expanded. */
static void follow(void *ctx, const struct state *from, const struct bp_event *event)
{
    struct graph *g = ctx;
    unsigned flags = g->model->program->types[event->type].flags;
    uint32_t node = g->expanded, next;
    uint64_t packed[MODEL_WORDS_MAX];
    const struct model_thread *bad;

    g->stats.transitions++;
    g->selected |= BP_TYPE(event->type);
    if (graph_step(g, from, event, packed, &bad) && g->bad_node == NO_NODE) {
        g->bad_node = node;
        g->bad_event = *event;
    }
    next =
        intern(g, packed, (struct arrival){ node, event->bits, event->type, (uint8_t)event->key });
    if (!g->keep_edges)
        return;
    if (flags & BP_FINAL)
        g->finals[node] = true;
    if (!(flags & BP_COOP))
        add_edge(g, next);
}

static void expand(struct graph *g, struct bp_event *offers)
{
    uint32_t node = g->expanded;
    struct state state;

    graph_state(g, node, &state);
    note_reached(g, &state);
    if (g->keep_edges) {
        g->edge_first[node] = (uint32_t)g->edge_count;
        if (state.alive & STATE_OVER)
            g->finals[node] = true; /* what comes after is explored, but owes no progress */
    }
    graph_events(g, &state, offers, follow, g);
    g->expanded++;
}

/* What this many nodes, places in the table and edges take, and then the search for stuck states.
 */
static uint64_t bytes_of(const struct graph *g, uint64_t room, uint64_t table, uint64_t edges)
{
    uint64_t node = g->model->words * sizeof(uint64_t) + sizeof(struct arrival);

    if (g->keep_edges)
        node += 8 * sizeof(uint32_t) + 1;
    return room * node + table * sizeof(uint32_t) + edges * 2 * sizeof(uint32_t);
}

/* Would memory pass its bound if the next state leads to as many others as can be? */
static bool is_full(const struct graph *g)
{
    uint64_t room = g->room, table = g->table_size, edges = g->edge_room;

    while (room < (uint64_t)g->count + STEPS_MAX)
        room = room ? room * 2 : FIRST_ROOM;
    while (table <= ((uint64_t)g->count + STEPS_MAX) * 2)
        table = table ? table * 2 : FIRST_ROOM;
    while (g->keep_edges && edges < g->edge_count + STEPS_MAX)
        edges = edges ? edges * 2 : FIRST_ROOM;
    return bytes_of(g, room, table, edges) > g->bytes_max;
}

static void count_node(struct graph *g, const struct bp_check_options *options, const char *what,
                       double start)
{
    if (g->expanded == g->depth_end) {
        g->depth_end = g->count;
        g->stats.depth++;
    }
    if (g->count - g->expanded > g->stats.queue_max)
        g->stats.queue_max = g->count - g->expanded;
    if (options->progress && g->expanded % PROGRESS_EVERY == 0) {
        g->stats.states = g->count;
        g->stats.seconds = now_s(options) - start;
        options->progress(options->ctx, what, &g->stats, g->count - g->expanded);
    }
}

static enum bp_verdict explore_all(struct graph *g, const struct bp_check_options *options,
                                   const char *what, double start)
{
    uint64_t max = options->states_max ? options->states_max : BP_CHECK_STATES;
    struct bp_event *offers = NEW_N(struct bp_event, MODEL_EVENTS_MAX);

    if (max > BP_CHECK_STATES_MAX)
        max = BP_CHECK_STATES_MAX;
    while (g->expanded < g->count && g->bad_node == NO_NODE && g->count <= max &&
           g->edge_count <= EDGES_CAP && !(g->stats.full = is_full(g))) {
        expand(g, offers);
        if (g->expanded < g->count)
            count_node(g, options, what, start);
    }
    if (g->keep_edges)
        g->edge_first[g->expanded] = (uint32_t)g->edge_count;
    free(offers);
    if (g->bad_node != NO_NODE)
        return BP_VIOLATED;
    return g->expanded < g->count ? BP_BOUND : BP_PROVED;
}

enum bp_verdict graph_explore(struct graph *g, const struct bp_check_options *options,
                              const char *what)
{
    double start = now_s(options);
    uint64_t packed[MODEL_WORDS_MAX];
    enum bp_verdict verdict;
    struct state first;

    model_begin(g->model, &first);
    model_pack(g->model, &first, packed);
    intern(g, packed, (struct arrival){ .parent = NO_NODE });
    g->depth_end = 1;
    g->bytes_max = options->bytes_max ? options->bytes_max : BP_CHECK_BYTES;
    verdict = explore_all(g, options, what, start);
    g->stats.states = g->count;
    g->stats.seconds = now_s(options) - start;
    g->stats.bytes = bytes_of(g, g->room, g->table_size, g->edge_room);
    return verdict;
}
