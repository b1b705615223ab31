/* SPDX-License-Identifier: MIT */
#include "walk.h"

static void note(void *ctx, const struct bp_event *event, const struct bp_place *by)
{
    struct walk *w = ctx;

    (void)by;
    if (w->count == WALK_EVENTS_MAX)
        FAIL("a walk of more than %d events", WALK_EVENTS_MAX);
    w->events[w->count++] = *event;
}

void walk_begin(struct walk *w, struct test *t, const struct bp_program *program,
                const uint16_t *limits)
{
    struct bp_options options = { .selected = note, .ctx = w, .limits = limits };

    *w = (struct walk){ .t = t };
    ASSERT_OK(bp_program_check(program, &t->err));
    w->engine = bp_new(program, RUN_CALLS_MAX, &options);
}

void walk_end(struct walk *w)
{
    bp_free(w->engine);
}

int walk_offer(struct walk *w, unsigned type, unsigned key, uint32_t bits)
{
    struct bp_event event = { .type = (uint8_t)type, .key = (uint16_t)key, .bits = bits };

    return bp_offer(w->engine, &event, NULL);
}

const char *walk_says(struct walk *w, unsigned type, unsigned key, uint32_t bits)
{
    struct bp_event event = { .type = (uint8_t)type, .key = (uint16_t)key, .bits = bits };
    const struct bp_program *program = bp_program_of(w->engine);
    struct bp_refusal refusal;
    AUTO_BUF out = BUF_INIT(1 << 16);

    if (bp_offer(w->engine, &event, &refusal) < 0) {
        if (refusal.by.thread)
            buf_printf(&out, "refused by %s", refusal.by.thread->name);
        else
            buf_printf(&out, "refused, reason %d", refusal.reason);
    }
    for (; w->shown < w->count; w->shown++) {
        if (out.n)
            buf_add_text(&out, ", ");
        bp_event_text(program, &w->events[w->shown], &out);
    }
    return arena_copy(&w->t->arena, buf_text(&out), strlen(buf_text(&out)));
}

const char *walk_doing(struct walk *w, const char *thread, unsigned key)
{
    const struct bp_program *program = bp_program_of(w->engine);
    int index = bp_thread_find(program, thread);
    int point = index < 0 ? -1 : bp_point_of(w->engine, (unsigned)index, (uint16_t)key);
    const char *name = point < 0 ? "" : program->threads[index].at[point].name;

    return name ? name : "";
}

bool walk_done(const struct walk *w)
{
    return w->count && w->events[w->count - 1].type == RUN_EV_DONE;
}
