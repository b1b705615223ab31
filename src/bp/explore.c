/* Exploration: nodes are numbered as they are found, so the array of states is its own queue and
 * numbers grow with the distance from the start. A hash table tells which states are known.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "bp/explore_int.h"

#define FIRST_ROOM     1024
#define PROGRESS_EVERY 8192
/* Nodes and edges are numbered in 32 bits. */
#define STATES_CAP (UINT64_C(1) << 28)
#define EDGES_CAP  (UINT64_C(1) << 31)

static double now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
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

static void follow(struct graph *g, uint32_t node, const struct state *from,
                   const struct bp_event *event)
{
    unsigned flags = g->model->program->types[event->type].flags;
    uint64_t packed[MODEL_WORDS_MAX];
    uint8_t order[MODEL_KEYS_MAX + 1];
    const struct model_thread *bad = NULL;
    struct state to;
    uint32_t next;

    g->stats.transitions++;
    g->selected |= BP_TYPE(event->type);
    if (model_apply(g->model, from, event, &to, &bad) && g->bad_node == NO_NODE) {
        g->bad_node = node;
        g->bad_event = *event;
        g->bad_thread = bad;
    }
    if (g->keep_edges && flags & BP_FINAL) {
        g->finals[node] = true;
        to.alive |= STATE_OVER;
    }
    model_canonical(g->model, &to, g->by_priority, order);
    model_pack(g->model, &to, packed);
    next =
        intern(g, packed, (struct arrival){ node, event->bits, event->type, (uint8_t)event->key });
    if (g->keep_edges && !(flags & BP_COOP))
        add_edge(g, next);
}

static void expand(struct graph *g, uint32_t node, struct bp_event *offers)
{
    const struct model *m = g->model;
    struct model_wish wish;
    struct state state;
    unsigned at = 0, n;

    if (g->keep_edges)
        g->edge_first[node] = (uint32_t)g->edge_count;
    model_unpack(m, g->words + (size_t)node * m->words, &state);
    if (g->keep_edges && state.alive & STATE_OVER)
        g->finals[node] = true; /* what comes after is explored, but owes no progress */
    note_reached(g, &state);
    while (model_next(m, &state, &at, &wish)) {
        follow(g, node, &state, &wish.event);
        if (g->by_priority)
            return;
    }
    n = model_offers(m, &state, g->by_priority, offers);
    for (unsigned i = 0; i < n; i++)
        follow(g, node, &state, &offers[i]);
}

static uint64_t graph_bytes(const struct graph *g)
{
    uint64_t node = g->model->words * sizeof(uint64_t) + sizeof(struct arrival);

    if (g->keep_edges)
        node += sizeof(uint32_t) + 1;
    return g->room * node + (uint64_t)g->table_size * sizeof(uint32_t) +
           g->edge_room * sizeof(uint32_t);
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
        g->stats.seconds = now_s() - start;
        options->progress(options->ctx, what, &g->stats, g->count - g->expanded);
    }
}

static enum bp_verdict explore_all(struct graph *g, const struct bp_check_options *options,
                                   const char *what, double start)
{
    uint64_t max = options->states_max ? options->states_max : BP_CHECK_STATES;
    struct bp_event *offers = NEW_N(struct bp_event, MODEL_EVENTS_MAX);
    enum bp_verdict verdict = BP_PROVED;

    if (max > STATES_CAP)
        max = STATES_CAP;
    while (g->expanded < g->count && g->bad_node == NO_NODE) {
        expand(g, g->expanded++, offers);
        if ((g->count > max || g->edge_count > EDGES_CAP) && g->bad_node == NO_NODE) {
            verdict = BP_BOUND;
            break;
        }
        if (g->expanded < g->count)
            count_node(g, options, what, start);
    }
    if (g->bad_node != NO_NODE)
        verdict = BP_VIOLATED;
    if (g->keep_edges)
        g->edge_first[g->expanded] = (uint32_t)g->edge_count;
    free(offers);
    return verdict;
}

enum bp_verdict graph_explore(struct graph *g, const struct bp_check_options *options,
                              const char *what)
{
    double start = now_s();
    uint64_t packed[MODEL_WORDS_MAX];
    enum bp_verdict verdict;
    struct state first;

    model_start(g->model, &first);
    model_pack(g->model, &first, packed);
    intern(g, packed, (struct arrival){ .parent = NO_NODE });
    g->depth_end = 1;
    verdict = explore_all(g, options, what, start);
    g->stats.states = g->count;
    g->stats.seconds = now_s() - start;
    g->stats.bytes = graph_bytes(g);
    return verdict;
}

/* ---- progress: which nodes have a way to a FINAL event ---- */

/* Edges turned around: sources of the edges into node n are from[first[n]] .. from[first[n+1]]. */
struct reverse {
    uint32_t *first, *from;
};

static void reverse_edges(const struct graph *g, struct reverse *r)
{
    r->first = NEW_N(uint32_t, g->count + 2u);
    r->from = NEW_N(uint32_t, g->edge_count + 1);
    for (uint64_t i = 0; i < g->edge_count; i++)
        r->first[g->edges[i] + 2]++;
    for (uint32_t node = 2; node <= g->count; node++)
        r->first[node] += r->first[node - 1];
    for (uint32_t node = 0; node < g->expanded; node++)
        for (uint32_t i = g->edge_first[node]; i < g->edge_first[node + 1]; i++)
            r->from[r->first[g->edges[i] + 1]++] = node;
}

uint32_t graph_find_stuck(const struct graph *g)
{
    uint32_t *queue = NEW_N(uint32_t, g->count + 1u), head = 0, tail = 0, stuck = NO_NODE;
    uint8_t *good = NEW_N(uint8_t, g->count + 1u);
    struct reverse r;

    reverse_edges(g, &r);
    for (uint32_t node = 0; node < g->count; node++)
        if (g->finals[node]) {
            good[node] = true;
            queue[tail++] = node;
        }
    while (head < tail) {
        uint32_t node = queue[head++];

        for (uint32_t i = r.first[node]; i < r.first[node + 1]; i++)
            if (!good[r.from[i]]) {
                good[r.from[i]] = true;
                queue[tail++] = r.from[i];
            }
    }
    for (uint32_t node = 0; node < g->count && stuck == NO_NODE; node++)
        if (!good[node])
            stuck = node;
    free(queue);
    free(good);
    free(r.first);
    free(r.from);
    return stuck;
}
