/* Counterexamples: how a state was reached, with keys named as in one concrete run, walked again
 * through the whole program and written for people.
 *
 * The graph stores states with their keys renamed, so the way to one is walked from the start while
 * noting which concrete key goes by which name. The walk through the whole program renames nothing,
 * so that no renaming can hide a mistake.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "bp/explore_int.h"

/* names[k]: the concrete key that the graph's state calls k. */
struct walk {
    const struct graph *graph;
    struct state state;
    uint8_t names[MODEL_KEYS_MAX + 1];
};

static uint8_t fresh_name(const struct walk *w)
{
    for (uint8_t name = 1;; name++) {
        bool used = false;

        for (unsigned key = 1; key <= w->graph->model->keys; key++)
            used = used || (w->state.alive >> key & 1 && w->names[key] == name);
        if (!used)
            return name;
    }
}

static void walk_step(struct walk *w, struct bp_event event, struct bp_event *ret_named)
{
    const struct model *m = w->graph->model;
    uint8_t order[MODEL_KEYS_MAX + 1], names[MODEL_KEYS_MAX + 1] = { 0 };
    const struct model_thread *bad;
    struct state to;

    if (m->program->types[event.type].flags & BP_BIRTH)
        w->names[event.key] = fresh_name(w);
    *ret_named = event;
    ret_named->key = w->names[event.key];
    model_apply(m, &w->state, &event, &to, &bad);
    model_canonical(m, &to, w->graph->by_priority, order);
    for (unsigned key = 1; key <= m->keys; key++)
        names[key] = w->names[order[key]];
    memcpy(w->names, names, sizeof(names));
    model_copy(m, &w->state, &to);
}

void graph_trace(const struct graph *g, uint32_t node, const struct bp_event *last,
                 struct arena *arena, struct bp_trace *trace)
{
    struct walk w = { .graph = g };
    unsigned n = 0, at;

    for (uint32_t up = node; g->arrivals[up].parent != NO_NODE; up = g->arrivals[up].parent)
        n++;
    *trace = (struct bp_trace){ .step_count = n + (last != NULL),
                                .keys = g->model->keys,
                                .any_order = !g->by_priority };
    trace->steps = ARENA_NEW_N(arena, struct bp_step, n + 2);
    at = n;
    for (uint32_t up = node; at; up = g->arrivals[up].parent) {
        const struct arrival *a = &g->arrivals[up];

        trace->steps[--at].event = (struct bp_event){ a->type, a->key, a->bits, 0 };
    }
    if (last)
        trace->steps[n].event = *last;
    model_start(g->model, &w.state);
    for (unsigned i = 0; i < trace->step_count; i++)
        walk_step(&w, trace->steps[i].event, &trace->steps[i].event);
}

/* ---- the same way through the whole program ---- */

/* The request in this state that the step may stand for: attributes that the model of the step did
 * not look at may differ. */
static bool find_wish(const struct model *m, const struct state *state,
                      const struct bp_event *event, uint32_t looked, struct model_wish *ret_wish)
{
    unsigned at = 0;

    while (model_next(m, state, &at, ret_wish))
        if (ret_wish->event.type == event->type && ret_wish->event.key == event->key &&
            !((ret_wish->event.bits ^ event->bits) & looked))
            return true;
    return false;
}

/* Can the step happen here? Fills in who asks for it. */
static bool step_fits(const struct model *m, const struct state *state, uint32_t looked,
                      struct bp_step *step)
{
    unsigned flags = m->program->types[step->event.type].flags;
    bool lives = state->alive >> step->event.key & 1;
    struct model_wish wish;

    if (flags & BP_KEYED && lives == !!(flags & BP_BIRTH))
        return false;
    if (flags & BP_EXT)
        return model_admits(m, state, &step->event);
    if (!find_wish(m, state, &step->event, looked, &wish))
        return false;
    step->event.bits = wish.event.bits;
    step->by = (struct bp_place){ wish.thread->thread, wish.thread->index, wish.key, wish.point };
    return true;
}

static void note_ends(const struct model *m, const struct state *state, struct arena *arena,
                      struct bp_trace *trace)
{
    trace->end_count = 0;
    trace->ends = ARENA_NEW_N(arena, struct bp_place, m->slots + 1);
    for (unsigned i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];

        for (unsigned key = t->keyed; key <= (t->keyed ? m->keys : 0); key++) {
            int point = model_point(m, state, t, key);

            if (point >= 0)
                trace->ends[trace->end_count++] =
                    (struct bp_place){ t->thread, t->index, (uint16_t)key, (uint8_t)point };
        }
    }
}

unsigned trace_complete(const struct model *m, const uint32_t *looked, struct arena *arena,
                        struct bp_trace *trace, struct state *ret_state, bool *ret_bad)
{
    const struct model_thread *bad = NULL;
    struct state to;

    model_start(m, ret_state);
    *ret_bad = false;
    for (unsigned i = 0; i < trace->step_count; i++) {
        struct bp_step *step = &trace->steps[i];

        if (!step_fits(m, ret_state, looked ? looked[step->event.type] : UINT32_MAX, step))
            return i + 1;
        *ret_bad = model_apply(m, ret_state, &step->event, &to, &bad);
        model_copy(m, ret_state, &to);
    }
    note_ends(m, ret_state, arena, trace);
    return 0;
}

unsigned bp_trace_replay(const struct bp_program *program, const struct bp_trace *trace,
                         const char *property, const uint16_t *limits)
{
    struct model_scope scope = { .property = property,
                                 .environment = !trace->any_order,
                                 .all_bits = true };
    struct bp_trace copy = *trace;
    AUTO_MODEL m = { .program = NULL };
    AUTO_ARENA arena = ARENA_INIT;
    struct state state;
    unsigned at;
    bool bad;

    if (model_init(&m, program, trace->keys, scope, limits, NULL) < 0)
        return 1;
    copy.steps = ARENA_NEW_N(&arena, struct bp_step, trace->step_count + 1);
    memcpy(copy.steps, trace->steps, trace->step_count * sizeof(copy.steps[0]));
    at = trace_complete(&m, NULL, &arena, &copy, &state, &bad);
    if (at)
        return at;
    return property && !bad ? trace->step_count + 1 : 0;
}

/* ---- text ---- */

static void place_text(const struct bp_place *place, struct buf *out)
{
    buf_add_text(out, place->thread->name);
    if (place->key)
        buf_printf(out, "(%u)", place->key);
    buf_add_text(out, " at ");
    bp_point_text(place->thread, place->point, out);
}

void bp_trace_text(const struct bp_program *program, const struct bp_trace *trace, struct buf *out)
{
    for (unsigned i = 0; i < trace->step_count; i++) {
        const struct bp_step *step = &trace->steps[i];

        buf_printf(out, "  %2u. ", i + 1);
        bp_event_text(program, &step->event, out);
        if (step->by.thread) {
            buf_add_text(out, "  requested by ");
            place_text(&step->by, out);
        } else {
            buf_add_text(out, "  from outside");
        }
        buf_add_char(out, '\n');
    }
    buf_add_text(out, "  then:\n");
    for (unsigned i = 0; i < trace->end_count; i++) {
        buf_add_text(out, "      ");
        place_text(&trace->ends[i], out);
        if (trace->ends[i].thread->at[trace->ends[i].point].bad)
            buf_add_text(out, "  <- must not be reached");
        buf_add_char(out, '\n');
    }
}
