/* Breadth-first exploration of a model, and the graph that it leaves.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_EXPLORE_INT_H
#define DORMOUSE_BP_EXPLORE_INT_H

#include "bp/check.h"
#include "bp/model_int.h"

#define NO_NODE UINT32_MAX

/* How a state was first reached. Keys are the names that the parent state uses. */
struct arrival {
    uint32_t parent;
    uint32_t bits;
    uint8_t type, key;
};

struct graph {
    const struct model *model;
    bool by_priority; /* as the engine runs, else in any order */
    uint64_t *words;  /* packed states, in the order in which they were found */
    struct arrival *arrivals;
    uint32_t *table; /* open addressing: node + 1, 0 free */
    uint32_t count, room, table_size;
    uint32_t expanded;
    uint32_t depth_end; /* nodes below were found at the depth that is being expanded, or before */

    bool keep_edges;
    uint32_t *edge_first; /* by expanded node, into edges; one more at the end */
    uint32_t *edges;      /* targets of steps that are not COOP */
    uint64_t edge_count, edge_room;
    uint8_t *finals; /* by node: a FINAL event can happen here, or has happened */

    uint64_t *reached; /* by thread of the model: bit p, point p was stood at (words of 4) */
    uint64_t selected; /* types */
    uint32_t bad_node; /* expanded when a bad point was entered, or NO_NODE */
    struct bp_event bad_event;
    struct bp_check_stats stats;
    uint64_t bytes_max;
};

#define POINT_WORDS 4 /* 256 points a thread */

void graph_init(struct graph *graph, const struct model *model, bool by_priority, bool keep_edges);
void graph_release(struct graph *graph);
#define AUTO_GRAPH __attribute__((cleanup(graph_release))) struct graph

/* Explores to the end, to the first bad point, or to the bound. */
enum bp_verdict graph_explore(struct graph *graph, const struct bp_check_options *options,
                              const char *what);
void graph_state(const struct graph *graph, uint32_t node, struct state *ret_state);
/* Calls fn for every event that can happen in the state. offers: room for MODEL_EVENTS_MAX. */
typedef void graph_event_fn(void *ctx, const struct state *from, const struct bp_event *event);
void graph_events(const struct graph *graph, const struct state *state, struct bp_event *offers,
                  graph_event_fn *fn, void *ctx);
/* The state after the event, renamed and packed as nodes are. */
bool graph_step(const struct graph *graph, const struct state *from, const struct bp_event *event,
                uint64_t *packed, const struct model_thread **ret_bad);

/* ---- stuck.c: after an exploration with edges ---- */

/* The first state from which no FINAL event can be reached, or NO_NODE. */
uint32_t graph_find_stuck(const struct graph *graph);
/* A shortest way from there on to a state that is never left for good but by COOP events: the
 * events, in arena; returns how many. */
unsigned graph_dead_end(const struct graph *graph, uint32_t stuck, struct arena *arena,
                        struct bp_event **ret_events);

/* ---- trace.c ---- */

/* The events that lead to a node, and then these; who asks for them is not known yet. */
void graph_trace(const struct graph *graph, uint32_t node, const struct bp_event *more,
                 unsigned more_count, struct arena *arena, struct bp_trace *ret_trace);

/* Can the step happen in this state of the whole program? Fills in who asks for it. looked:
 * attributes that it tells apart. */
bool trace_step_fits(const struct model *model, const struct state *state, uint32_t looked,
                     struct bp_step *step);

/* Walks the trace through a model of the whole program and fills in who asks for each event and
 * where all stand in the end. looked: attributes that the steps tell apart, by type; NULL: all.
 * 0, or the number of the first step that is not possible, in *ret_state. */
unsigned trace_complete(const struct model *model, const uint32_t *looked, struct arena *arena,
                        struct bp_trace *trace, struct state *ret_state, bool *ret_bad);

#endif
