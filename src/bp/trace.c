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
    model_forget(m, &to);
    model_canonical(m, &to, w->graph->by_priority, order);
    for (unsigned key = 1; key <= m->keys; key++)
        names[key] = w->names[order[key]];
    memcpy(w->names, names, sizeof(names));
    model_copy(m, &w->state, &to);
}

void graph_trace(const struct graph *g, uint32_t node, const struct bp_event *more,
                 unsigned more_count, struct arena *arena, struct bp_trace *trace)
{
    struct walk w = { .graph = g };
    unsigned n = 0, at;

    for (uint32_t up = node; g->arrivals[up].parent != NO_NODE; up = g->arrivals[up].parent)
        n++;
    *trace = (struct bp_trace){ .step_count = n + more_count,
                                .closed_at = n + more_count,
                                .keys = g->model->keys,
                                .any_order = !g->by_priority };
    trace->steps = ARENA_NEW_N(arena, struct bp_step, trace->step_count + 1);
    at = n;
    for (uint32_t up = node; at; up = g->arrivals[up].parent) {
        const struct arrival *a = &g->arrivals[up];

        trace->steps[--at].event = (struct bp_event){ a->type, a->key, a->bits, 0 };
    }
    for (unsigned i = 0; i < more_count; i++)
        trace->steps[n + i].event = more[i];
    model_begin(g->model, &w.state);
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

bool trace_step_fits(const struct model *m, const struct state *state, uint32_t looked,
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

static struct bp_stand stand_of(const struct model *m, const struct state *state,
                                const struct model_thread *t, unsigned key, unsigned point)
{
    struct bp_stand stand = { .place = { t->thread, t->index, (uint16_t)key, (uint8_t)point } };
    const struct model_thread *blocker;
    unsigned by;

    if (!t->thread->at[point].request.type)
        return stand;
    stand.wish = model_request(state, &t->thread->at[point].request, key);
    blocker = model_blocker(m, state, &stand.wish, &by);
    if (blocker)
        stand.blocked_by = (struct bp_place){ blocker->thread, blocker->index, (uint16_t)by,
                                              (uint8_t)model_point(m, state, blocker, by) };
    return stand;
}

static void note_ends(const struct model *m, const struct state *state, struct arena *arena,
                      struct bp_trace *trace)
{
    trace->end_count = 0;
    trace->ends = ARENA_NEW_N(arena, struct bp_stand, m->slots + 1);
    for (unsigned i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];

        for (unsigned key = t->keyed; key <= (t->keyed ? m->keys : 0); key++) {
            int point = model_point(m, state, t, key);

            if (point >= 0)
                trace->ends[trace->end_count++] = stand_of(m, state, t, key, (unsigned)point);
        }
    }
}

unsigned trace_complete(const struct model *m, const uint32_t *looked, struct arena *arena,
                        struct bp_trace *trace, struct state *ret_state, bool *ret_bad)
{
    const struct model_thread *bad = NULL;
    struct state to;

    model_begin(m, ret_state);
    *ret_bad = false;
    for (unsigned i = 0; i < trace->step_count; i++) {
        struct bp_step *step = &trace->steps[i];

        if (!trace_step_fits(m, ret_state, looked ? looked[step->event.type] : UINT32_MAX, step))
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

#define EVENT_WIDTH 28

static void step_text(const struct bp_program *program, const struct bp_step *step, unsigned number,
                      struct buf *out)
{
    size_t begin;

    buf_printf(out, "    %2u. ", number);
    begin = out->n;
    bp_event_text(program, &step->event, out);
    while (out->n - begin < EVENT_WIDTH && buf_add_char(out, ' ') >= 0)
        ;
    if (step->by.thread) {
        buf_add_text(out, "  requested by ");
        bp_place_text(&step->by, out);
        buf_add_char(out, '\n');
    } else {
        buf_add_text(out, "  from outside\n");
    }
}

/* What is wrong, once it has happened: a bad point was entered, or no way leads to the end. */
static void wrong_text(const struct bp_program *program, const struct bp_trace *trace,
                       struct buf *out)
{
    const char *before = "from here no ";

    buf_add_text(out, "     => ");
    for (unsigned i = 0; trace->any_order && i < trace->end_count; i++)
        if (trace->ends[i].place.thread->at[trace->ends[i].place.point].bad) {
            bp_place_text(&trace->ends[i].place, out);
            buf_add_text(out, " must not be reached\n");
            return;
        }
    for (unsigned t = 1; t < program->type_count; t++)
        if (program->types[t].flags & BP_FINAL) {
            buf_printf(out, "%s%s", before, program->types[t].name);
            before = " or ";
        }
    buf_add_text(out, " can be reached without a person stepping in\n");
}

/* Threads that only watch, at a point without a name, are left out. */
static void stand_text(const struct bp_program *program, const struct bp_stand *stand,
                       struct buf *out)
{
    const struct bp_point *at = &stand->place.thread->at[stand->place.point];

    if (at->bad || (!at->name && !stand->wish.type))
        return;
    buf_add_text(out, "        ");
    bp_place_text(&stand->place, out);
    if (stand->wish.type) {
        buf_add_text(out, ": ");
        bp_event_text(program, &stand->wish, out);
        buf_add_text(out, stand->blocked_by.thread ? " is blocked by " : " is possible");
    }
    if (stand->blocked_by.thread)
        bp_place_text(&stand->blocked_by, out);
    buf_add_char(out, '\n');
}

void bp_trace_text(const struct bp_program *program, const struct bp_trace *trace, struct buf *out)
{
    for (unsigned i = 0; i < trace->step_count; i++) {
        if (i == trace->closed_at)
            wrong_text(program, trace, out);
        step_text(program, &trace->steps[i], i + 1, out);
    }
    if (trace->closed_at == trace->step_count)
        wrong_text(program, trace, out);
    buf_add_text(out, "    then:\n");
    for (unsigned i = 0; i < trace->end_count; i++)
        stand_text(program, &trace->ends[i], out);
}
