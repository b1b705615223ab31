/* Progress: which states have a way to a FINAL event, and where those end that have none.
 *
 * A state without a way is the counterexample, but seldom tells why: what is in the way may come
 * much later. So from there the search goes on to states that are never left for good, the last
 * ones of that part of the graph: a deadlock, or a few states that turn in a circle.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bp/explore_int.h"

/* Edges out of node n lead to to[first[n]] .. to[first[n + 1]]. */
struct edges {
    uint32_t *first, *to;
};

static void reverse_edges(const struct graph *g, struct edges *ret_edges)
{
    uint32_t *first = NEW_N(uint32_t, g->count + 2u);
    uint32_t *to = NEW_N(uint32_t, g->edge_count + 1);

    for (uint64_t i = 0; i < g->edge_count; i++)
        first[g->edges[i] + 2]++;
    for (uint32_t node = 2; node <= g->count; node++)
        first[node] += first[node - 1];
    for (uint32_t node = 0; node < g->expanded; node++)
        for (uint32_t i = g->edge_first[node]; i < g->edge_first[node + 1]; i++)
            to[first[g->edges[i] + 1]++] = node;
    *ret_edges = (struct edges){ first, to };
}

static void release_edges(struct edges *edges)
{
    free(edges->first);
    free(edges->to);
}

/* Nodes in the order in which they were found, and from where; NO_NODE: not found. */
struct search {
    uint32_t *queue, *parents;
    uint32_t count;
};

static struct search search_new(uint32_t nodes)
{
    struct search s = { NEW_N(uint32_t, nodes + 1u), NEW_N(uint32_t, nodes + 1u), 0 };

    memset(s.parents, 0xff, nodes * sizeof(s.parents[0]));
    return s;
}

static void search_release(struct search *s)
{
    free(s->queue);
    free(s->parents);
}
#define AUTO_SEARCH __attribute__((cleanup(search_release))) struct search

static void search_add(struct search *s, uint32_t node, uint32_t parent)
{
    if (s->parents[node] != NO_NODE)
        return;
    s->parents[node] = parent;
    s->queue[s->count++] = node;
}

static void search_all(struct search *s, struct edges edges)
{
    for (uint32_t at = 0; at < s->count; at++)
        for (uint32_t i = edges.first[s->queue[at]]; i < edges.first[s->queue[at] + 1]; i++)
            search_add(s, edges.to[i], s->queue[at]);
}

uint32_t graph_find_stuck(const struct graph *g)
{
    AUTO_SEARCH good = search_new(g->count);
    struct edges back;
    uint32_t stuck = 0;

    reverse_edges(g, &back);
    for (uint32_t node = 0; node < g->count; node++)
        if (g->finals[node])
            search_add(&good, node, node);
    search_all(&good, back);
    release_edges(&back);
    while (stuck < g->count && good.parents[stuck] != NO_NODE)
        stuck++;
    return stuck < g->count ? stuck : NO_NODE;
}

/* ---- where it all ends ---- */

/* Tarjan's search for sets of nodes that lead to each other, from one node on and without
 * recursion. Sets come out last ones first, so one is never left if no edge leads out of it. */
struct sets {
    const struct graph *graph;
    uint32_t *number; /* in the order of visits, from 1; 0: not visited */
    uint32_t *low;    /* the lowest number on the stack that the node is known to lead to */
    uint32_t *next_edge;
    uint32_t *path, *stack; /* being visited; visited, and not in a set yet */
    uint8_t *settled;       /* in a set */
    uint8_t *last;          /* in a set that is never left */
    uint32_t visits, path_count, stack_count;
};

static void visit(struct sets *s, uint32_t node)
{
    s->number[node] = s->low[node] = ++s->visits;
    s->next_edge[node] = s->graph->edge_first[node];
    s->path[s->path_count++] = node;
    s->stack[s->stack_count++] = node;
}

/* The node is the first of its set: all above it on the stack belong to it. */
static void settle(struct sets *s, uint32_t node)
{
    const struct graph *g = s->graph;
    uint32_t from = s->stack_count;
    bool last = true;

    while (s->stack[--from] != node)
        ;
    for (uint32_t at = from; at < s->stack_count; at++)
        for (uint32_t i = g->edge_first[s->stack[at]]; i < g->edge_first[s->stack[at] + 1]; i++)
            last = last && !s->settled[g->edges[i]];
    for (uint32_t at = from; at < s->stack_count; at++) {
        s->settled[s->stack[at]] = true;
        s->last[s->stack[at]] = last;
    }
    s->stack_count = from;
}

static void lower(struct sets *s, uint32_t node, uint32_t to)
{
    if (to < s->low[node])
        s->low[node] = to;
}

static void visit_next(struct sets *s)
{
    uint32_t node = s->path[s->path_count - 1], to;

    if (s->next_edge[node] < s->graph->edge_first[node + 1]) {
        to = s->graph->edges[s->next_edge[node]++];
        if (!s->number[to])
            visit(s, to);
        else if (!s->settled[to])
            lower(s, node, s->number[to]);
        return;
    }
    if (s->low[node] == s->number[node])
        settle(s, node);
    if (--s->path_count)
        lower(s, s->path[s->path_count - 1], s->low[node]);
}

/* Which nodes that `from` leads to are in a set that is never left; the caller frees it. */
static uint8_t *find_last(const struct graph *g, uint32_t from)
{
    uint32_t *numbers = NEW_N(uint32_t, 5 * ((size_t)g->count + 1));
    struct sets s = { .graph = g, .number = numbers };

    s.low = numbers + g->count + 1;
    s.next_edge = s.low + g->count + 1;
    s.path = s.next_edge + g->count + 1;
    s.stack = s.path + g->count + 1;
    s.settled = NEW_N(uint8_t, g->count + 1u);
    s.last = NEW_N(uint8_t, g->count + 1u);
    visit(&s, from);
    while (s.path_count)
        visit_next(&s);
    free(numbers);
    free(s.settled);
    return s.last;
}

/* Edges have forgotten their events: the one that leads to this node is looked for. */
struct looking {
    const struct graph *graph;
    const uint64_t *to;
    bool found;
    struct bp_event event;
};

static void look_at_event(void *ctx, const struct state *from, const struct bp_event *event)
{
    struct looking *l = ctx;
    const struct model *m = l->graph->model;
    uint64_t packed[MODEL_WORDS_MAX];
    const struct model_thread *bad;

    if (l->found || m->program->types[event->type].flags & BP_COOP)
        return;
    graph_step(l->graph, from, event, packed, &bad);
    l->found = memcmp(packed, l->to, m->words * sizeof(packed[0])) == 0;
    l->event = *event;
}

static struct bp_event event_between(const struct graph *g, uint32_t from, uint32_t to)
{
    struct looking l = { .graph = g, .to = g->words + (size_t)to * g->model->words };
    struct bp_event *offers = NEW_N(struct bp_event, MODEL_EVENTS_MAX);
    struct state state;

    graph_state(g, from, &state);
    graph_events(g, &state, offers, look_at_event, &l);
    free(offers);
    BUG_IF(!l.found);
    return l.event;
}

unsigned graph_dead_end(const struct graph *g, uint32_t stuck, struct arena *arena,
                        struct bp_event **ret_events)
{
    AUTO_SEARCH way = search_new(g->count);
    uint8_t *last = find_last(g, stuck);
    uint32_t end = stuck;
    unsigned n = 0;

    search_add(&way, stuck, stuck);
    search_all(&way, (struct edges){ g->edge_first, g->edges });
    for (uint32_t i = 0; !last[end]; i++)
        end = way.queue[i];
    for (uint32_t node = end; node != stuck; node = way.parents[node])
        n++;
    *ret_events = ARENA_NEW_N(arena, struct bp_event, n + 1);
    for (unsigned i = n; i; i--, end = way.parents[end])
        (*ret_events)[i - 1] = event_between(g, way.parents[end], end);
    free(last);
    return n;
}
