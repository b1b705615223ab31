/* SPDX-License-Identifier: MIT */
#include "proof.h"

struct bp_thread *thread_copy(struct test *t, const char *name)
{
    struct bp_thread *copy = ARENA_NEW(&t->arena, struct bp_thread);
    struct bp_point *points;
    int at = bp_thread_find(&run_program, name);

    ASSERT(at >= 0);
    *copy = run_program.threads[at];
    points = ARENA_NEW_N(&t->arena, struct bp_point, copy->n);
    memcpy(points, copy->at, copy->n * sizeof(points[0]));
    copy->at = points;
    return copy;
}

struct bp_point *points_of(struct bp_thread *copy)
{
    return (struct bp_point *)(uintptr_t)copy->at;
}

static struct bp_program *copy_of(struct test *t, const struct bp_program *program)
{
    struct bp_program *copy = ARENA_NEW(&t->arena, struct bp_program);
    struct bp_thread *threads = ARENA_NEW_N(&t->arena, struct bp_thread, program->thread_count);

    memcpy(threads, program->threads, program->thread_count * sizeof(threads[0]));
    *copy = *program;
    copy->threads = threads;
    return copy;
}

const struct bp_program *with_thread(struct test *t, const struct bp_program *program,
                                     const struct bp_thread *thread)
{
    struct bp_program *copy = copy_of(t, program);
    int at = bp_thread_find(program, thread->name);

    ASSERT(at >= 0);
    ((struct bp_thread *)(uintptr_t)copy->threads)[at] = *thread;
    return copy;
}

/* Without the properties that nobody asked for. */
static const struct bp_program *narrowed(struct test *t, const struct bp_program *program,
                                         const char *finding)
{
    struct bp_program *copy = copy_of(t, program);
    struct bp_thread *threads = (struct bp_thread *)(uintptr_t)copy->threads;
    uint16_t n = 0;

    for (unsigned i = 0; i < copy->thread_count; i++)
        if (threads[i].kind != BP_PROPERTY || strcmp(threads[i].name, finding) == 0)
            threads[n++] = threads[i];
    copy->thread_count = n;
    return copy;
}

static void replay_on_engine(const struct bp_program *program, const struct bp_trace *trace)
{
    uint16_t limits[BP_LIMITS_MAX] = { 0 };
    AUTO(bp_engine) engine = NULL;

    for (unsigned i = 0; i < program->limit_count; i++)
        limits[i] = program->limits[i].checked;
    engine = bp_new(program, (uint16_t)trace->keys, &(struct bp_options){ .limits = limits });
    for (unsigned i = 0; i < trace->step_count; i++)
        ASSERT_EQ(bp_force(engine, &trace->steps[i].event, NULL), 0);
}

static const char *events_of(struct test *t, const struct bp_program *program,
                             const struct bp_trace *trace)
{
    AUTO_BUF text = BUF_INIT(1 << 16);

    for (unsigned i = 0; i < trace->step_count; i++) {
        buf_add_text(&text, i ? " " : "");
        buf_add_text(&text, i == trace->closed_at ? "| " : "");
        bp_event_text(program, &trace->steps[i].event, &text);
    }
    return arena_text(&t->arena, buf_text(&text));
}

const char *broken(struct test *t, const struct bp_program *program, const char *finding,
                   unsigned keys)
{
    const struct bp_program *p = narrowed(t, program, finding);
    bool progress = strcmp(finding, BP_PROGRESS) == 0;
    AUTO_REPORT report = { .program = NULL };
    const struct bp_finding *f;

    ASSERT_OK(bp_check(p, &(struct bp_check_options){ .keys = keys }, &report, &t->err));
    f = bp_finding_find(&report, finding);
    ASSERT(f != NULL);
    if (f->verdict != BP_VIOLATED)
        FAIL("%s is %s", finding, bp_verdict_name(f->verdict));
    ASSERT_EQ(bp_trace_replay(p, &f->trace, progress ? NULL : finding, NULL), 0);
    if (progress)
        replay_on_engine(p, &f->trace);
    return events_of(t, p, &f->trace);
}

const char *unproved(struct test *t, const struct bp_program *program, const char *finding,
                     unsigned keys)
{
    AUTO_REPORT report = { .program = NULL };
    const struct bp_finding *f;

    ASSERT_OK(bp_check(narrowed(t, program, finding), &(struct bp_check_options){ .keys = keys },
                       &report, &t->err));
    f = bp_finding_find(&report, finding);
    ASSERT(f != NULL);
    return f->verdict == BP_PROVED ? NULL : bp_verdict_name(f->verdict);
}
