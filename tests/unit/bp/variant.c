/* SPDX-License-Identifier: MIT */
#include "variant.h"

#include <stdio.h>

const struct bp_program *variant(struct test *t, const struct bp_program *program,
                                 struct bp_thread thread)
{
    struct bp_program *copy = ARENA_NEW(&t->arena, struct bp_program);
    struct bp_thread *threads = ARENA_NEW_N(&t->arena, struct bp_thread, program->thread_count);
    int at = bp_thread_find(program, thread.name);

    ASSERT(at >= 0);
    memcpy(threads, program->threads, program->thread_count * sizeof(threads[0]));
    threads[at] = thread;
    *copy = *program;
    copy->threads = threads;
    return copy;
}

void replay_on_engine(const struct bp_program *program, const struct bp_trace *trace)
{
    uint16_t limits[BP_LIMITS_MAX] = { 0 };
    struct bp_engine *engine;

    for (unsigned i = 0; i < program->limit_count; i++)
        limits[i] = program->limits[i].checked;
    engine = bp_new(program, (uint16_t)trace->keys, &(struct bp_options){ .limits = limits });
    for (unsigned i = 0; i < trace->step_count; i++)
        ASSERT_EQ(bp_force(engine, &trace->steps[i].event, NULL), 0);
    bp_free(engine);
}

const char *counterexample(struct test *t, const struct bp_program *program, const char *property)
{
    bool progress = strcmp(property, BP_PROGRESS) == 0;
    AUTO_REPORT report = { .program = NULL };
    AUTO_BUF text = BUF_INIT(1 << 16);
    const struct bp_finding *f;

    ASSERT_OK(bp_check(program, NULL, &report, &t->err));
    f = bp_finding_find(&report, property);
    ASSERT(f != NULL);
    if (f->verdict != BP_VIOLATED)
        FAIL("%s is %s", property, bp_verdict_name(f->verdict));
    ASSERT_EQ(bp_trace_replay(program, &f->trace, progress ? NULL : property, NULL), 0);
    if (progress)
        replay_on_engine(program, &f->trace);
    for (unsigned i = 0; i < f->trace.step_count; i++) {
        buf_add_text(&text, i ? " " : "");
        buf_add_text(&text, i == f->trace.closed_at ? "| " : "");
        bp_event_text(program, &f->trace.steps[i].event, &text);
    }
    return arena_text(&t->arena, buf_text(&text));
}

void expect_proved(struct test *t, const struct bp_program *program, const char *except)
{
    AUTO_REPORT report = { .program = NULL };

    ASSERT_OK(bp_check(program, NULL, &report, &t->err));
    for (unsigned i = 0; i < report.finding_count; i++)
        if (report.findings[i].verdict != BP_PROVED &&
            (!except || strcmp(except, report.findings[i].name) != 0))
            FAIL("%s of %s is %s", report.findings[i].name, program->name,
                 bp_verdict_name(report.findings[i].verdict));
}
