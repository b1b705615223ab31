/* What is to be checked of a program, and what was found; the work is done in explore.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/check.h"

#include <limits.h>
#include <string.h>

#include "bp/explore_int.h"

static bool has_final(const struct bp_program *program)
{
    for (unsigned t = 1; t < program->type_count; t++)
        if (program->types[t].flags & BP_FINAL)
            return true;
    return false;
}

/* ---- points that are never reached ---- */

static void note_unreachable(struct bp_report *report, const struct graph *g)
{
    const struct model *m = g->model;
    unsigned points = 0;

    for (unsigned i = 0; i < m->thread_count; i++)
        points += m->threads[i].thread->n;
    report->unreachable = ARENA_NEW_N(&report->arena, struct bp_place, points + 1);
    for (unsigned i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];

        for (unsigned p = 0; p < t->thread->n && t->thread->kind != BP_PROPERTY; p++)
            if (!(g->reached[i * POINT_WORDS + p / 64] >> p % 64 & 1))
                report->unreachable[report->unreachable_count++] =
                    (struct bp_place){ t->thread, t->index, 0, (uint8_t)p };
    }
    for (unsigned t = 1; t < m->program->type_count; t++)
        if (!(g->selected >> t & 1))
            report->never |= BP_TYPE(t);
}

/* ---- safety ---- */

/* One property. It is first tried with no thread of the program at all, where everything that
 * threads request may happen at any moment. A way to a bad point that the whole program does not
 * allow names a thread that stands in that way, or that would have to ask; that thread is taken
 * in, and so on. What is proved of few threads holds for all: the others only take steps away. */
struct proof {
    struct bp_report *report;
    const struct bp_check_options *options;
    struct bp_finding *finding;
    const char *property;
    struct model whole;
    bool *keep;
    bool all; /* keep is true for every thread */
};

static void keep_all(struct proof *p)
{
    for (unsigned i = 0; i < p->report->program->thread_count; i++)
        p->keep[i] = true;
    p->all = true;
}

static bool requests(const struct bp_thread *thread, unsigned type)
{
    for (unsigned at = 0; at < thread->n; at++)
        if (thread->at[at].request.type == type)
            return true;
    return false;
}

/* Threads that are left out and may ask for it. */
static unsigned count_requesters(const struct proof *p, unsigned type)
{
    const struct bp_program *program = p->report->program;
    unsigned n = 0;

    for (unsigned i = 0; i < program->thread_count; i++)
        n += !p->keep[i] && requests(&program->threads[i], type);
    return n;
}

static void keep_requesters(struct proof *p, unsigned type)
{
    const struct bp_program *program = p->report->program;

    for (unsigned i = 0; i < program->thread_count; i++)
        p->keep[i] = p->keep[i] || requests(&program->threads[i], type);
}

/* Takes in what makes the way impossible: a thread that blocks one of its steps, else all that
 * could ask for one, where these are fewest. state: before the step that is the first not to fit;
 * what comes after is walked as if it had. */
static void refine(struct proof *p, const struct bp_trace *trace, unsigned at,
                   const uint32_t *looked, struct state *state)
{
    unsigned fewest = UINT_MAX, type = 0;

    for (unsigned i = at - 1; i < trace->step_count; i++) {
        struct bp_step step = trace->steps[i];
        const struct model_thread *obstacle, *bad;
        struct state next;

        if (!trace_step_fits(&p->whole, state, looked[step.event.type], &step)) {
            unsigned n = count_requesters(p, step.event.type);

            obstacle = model_obstacle(&p->whole, state, &step.event);
            if (obstacle && !p->keep[obstacle->index]) {
                p->keep[obstacle->index] = true;
                return;
            }
            if (n && n < fewest) {
                fewest = n;
                type = step.event.type;
            }
        }
        model_apply(&p->whole, state, &step.event, &next, &bad);
        model_copy(&p->whole, state, &next);
    }
    if (type)
        keep_requesters(p, type);
    else
        keep_all(p);
}

/* Does the whole program allow this way to a bad point? If not, refines. */
static bool confirm(struct proof *p, const struct graph *g, struct bp_trace *trace)
{
    struct arena *arena = &p->report->arena;
    struct state state;
    unsigned at;
    bool bad;

    graph_trace(g, g->bad_node, &g->bad_event, 1, arena, trace);
    at = trace_complete(&p->whole, g->model->looked, arena, trace, &state, &bad);
    if (!at && bad)
        return true;
    BUG_IF(p->all); /* with nothing left out, what is found is possible */
    if (at)
        refine(p, trace, at, g->model->looked, &state);
    else
        keep_all(p);
    return false;
}

static void add_stats(struct bp_check_stats *sum, const struct bp_check_stats *last)
{
    double seconds = sum->seconds + last->seconds;

    *sum = *last;
    sum->seconds = seconds;
}

/* 1: settled, 0: refined, once more; -1: too large. */
static int try_proof(struct proof *p, struct err *err)
{
    struct model_scope scope = { .property = p->property, .keep = p->keep };
    AUTO_GRAPH g = { .model = NULL };
    AUTO_MODEL m = { .program = NULL };

    if (model_init(&m, p->report->program, p->report->keys, scope, p->options->limits, err) < 0)
        return -1;
    graph_init(&g, &m, false, false);
    p->finding->verdict = graph_explore(&g, p->options, p->property);
    add_stats(&p->finding->stats, &g.stats);
    if (p->finding->verdict != BP_VIOLATED)
        return 1;
    return confirm(p, &g, &p->finding->trace);
}

static void note_support(struct proof *p)
{
    const struct bp_program *program = p->report->program;
    struct bp_finding *f = p->finding;

    f->rests_on = ARENA_NEW_N(&p->report->arena, const char *, program->thread_count + 1u);
    for (unsigned i = 0; i < program->thread_count && f->verdict == BP_PROVED; i++)
        if (p->keep[i] && program->threads[i].kind <= BP_GUARD)
            f->rests_on[f->rests_count++] = program->threads[i].name;
}

static int check_safety(struct bp_report *report, const char *property,
                        const struct bp_check_options *options, struct err *err)
{
    struct proof p = { .report = report, .options = options, .property = property };
    struct model_scope scope = { .property = property, .all_bits = true };
    int r;

    p.finding = &report->findings[report->finding_count++];
    p.finding->name = property;
    p.keep = ARENA_NEW_N(&report->arena, bool, report->program->thread_count + 1u);
    if (options->whole)
        keep_all(&p);
    r = model_init(&p.whole, report->program, report->keys, scope, options->limits, err);
    while (r == 0 && (r = try_proof(&p, err)) == 0)
        ;
    if (r > 0)
        note_support(&p);
    model_release(&p.whole);
    return r;
}

/* ---- progress, and what is never reached ---- */

static int check_progress(struct bp_report *report, const struct bp_check_options *options,
                          struct err *err)
{
    struct bp_finding *finding = &report->findings[report->finding_count++];
    struct model_scope scope = { .environment = true };
    AUTO_GRAPH g = { .model = NULL };
    AUTO_MODEL m = { .program = NULL };
    AUTO_MODEL whole = { .program = NULL };
    struct bp_event *more;
    struct state state;
    uint32_t stuck;
    unsigned more_count;
    bool bad;

    if (model_init(&m, report->program, report->keys, scope, options->limits, err) < 0)
        return -1;
    finding->name = BP_PROGRESS;
    graph_init(&g, &m, true, true);
    finding->verdict = graph_explore(&g, options, BP_PROGRESS);
    finding->stats = g.stats;
    if (finding->verdict != BP_PROVED)
        return 0;
    note_unreachable(report, &g);
    if (!has_final(report->program)) {
        finding->verdict = BP_UNKNOWN;
        return 0;
    }
    stuck = graph_find_stuck(&g);
    if (stuck == NO_NODE)
        return 0;
    finding->verdict = BP_VIOLATED;
    more_count = graph_dead_end(&g, stuck, &report->arena, &more);
    graph_trace(&g, stuck, more, more_count, &report->arena, &finding->trace);
    finding->trace.closed_at = finding->trace.step_count - more_count;
    scope.all_bits = true;
    if (model_init(&whole, report->program, report->keys, scope, options->limits, err) < 0)
        return -1;
    trace_complete(&whole, m.looked, &report->arena, &finding->trace, &state, &bad);
    return 0;
}

static int check_all(struct bp_report *report, const struct bp_check_options *options,
                     struct err *err)
{
    const struct bp_program *program = report->program;

    for (unsigned i = 0; i < program->thread_count && !options->only_progress; i++)
        if (program->threads[i].kind == BP_PROPERTY &&
            check_safety(report, program->threads[i].name, options, err) < 0)
            return -1;
    return check_progress(report, options, err);
}

int bp_check(const struct bp_program *program, const struct bp_check_options *options,
             struct bp_report *ret_report, struct err *err)
{
    static const struct bp_check_options defaults;
    struct bp_report report = { .program = program };

    if (!options)
        options = &defaults;
    if (bp_program_check(program, err) < 0)
        return -1;
    report.keys = options->keys ? options->keys : BP_CHECK_KEYS;
    report.findings = ARENA_NEW_N(&report.arena, struct bp_finding, program->thread_count + 2u);
    if (check_all(&report, options, err) < 0) {
        bp_report_release(&report);
        return err_wrap(err, "check program %s", program->name);
    }
    *ret_report = report;
    return 0;
}

void bp_report_release(struct bp_report *report)
{
    arena_release(&report->arena);
}

enum bp_verdict bp_report_verdict(const struct bp_report *report)
{
    enum bp_verdict worst = BP_PROVED;

    for (unsigned i = 0; i < report->finding_count; i++) {
        if (report->findings[i].verdict == BP_VIOLATED)
            return BP_VIOLATED;
        if (report->findings[i].verdict == BP_BOUND)
            worst = BP_BOUND;
    }
    return worst;
}

const struct bp_finding *bp_finding_find(const struct bp_report *report, const char *name)
{
    for (unsigned i = 0; i < report->finding_count; i++)
        if (strcmp(report->findings[i].name, name) == 0)
            return &report->findings[i];
    return NULL;
}

const char *bp_verdict_name(enum bp_verdict verdict)
{
    static const char *const names[] = { "unknown", "proved", "violated", "bound" };

    return (unsigned)verdict < sizeof(names) / sizeof(names[0]) ? names[verdict] : "unknown";
}
