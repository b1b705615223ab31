/* Provider "script": plays replies, delays and failures from a YAML file. For tests and evals.
 *
 * The file is read when the gateway opens. A step is chosen when a request starts; what follows
 * depends on nothing but the step and the loop's clock.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "model/provider_int.h"
#include "model/script_int.h"

/* Deltas handed over in one tick when no delay lies between them. */
#define CHUNKS_PER_TICK 64

struct playing {
    const struct script_step *step;
    struct str text; /* variables filled in */
    int64_t round;   /* of step->repeat */
    size_t at;       /* bytes of text in this round */
    int64_t said;    /* in all */
    struct err err;  /* no step fitted */
};

static int script_open(struct model_gateway *gateway, const struct model_spec *spec,
                       void **ret_shared, struct err *err)
{
    struct script *script = NULL;

    (void)gateway;
    if (!spec->script_path)
        return err_set(err, ERR_BAD_REQUEST,
                       "provider script needs script_path, the YAML file of replies");
    if (script_load(spec->script_path, &script, err) < 0)
        return -1;
    *ret_shared = script;
    return 0;
}

static void script_close(void *shared)
{
    script_free(shared);
}

static void fail_unmatched(struct model_exchange *x)
{
    struct playing *p = x->state;
    struct err err = p->err;

    exchange_fail(x, &err, -1);
}

static void fail_as_scripted(struct model_exchange *x, const struct script_step *step)
{
    struct err err = ERR_INIT;

    if (step->message.n)
        err_set(&err, step->fail, "%.*s", STR_ARG(step->message));
    else
        err_set(&err, step->fail, "scripted failure: %s", err_name(step->fail));
    exchange_fail(x, &err, step->retry_after_ms);
}

static void finish(struct model_exchange *x, struct playing *p)
{
    const struct script_step *step = p->step;

    if (step->fail) {
        fail_as_scripted(x, step);
        return;
    }
    for (size_t i = 0; i < step->call_count; i++) {
        const struct script_call *call = &step->calls[i];
        struct str arguments = step->has_variables
                                   ? script_fill(call->arguments, &x->request, true, &x->arena)
                                   : call->arguments;

        if (exchange_call(x, call->id, call->name, arguments, call->problem) < 0)
            break;
    }
    exchange_usage(x, step->input, step->output, step->cached);
    if (step->model.n)
        exchange_model(x, step->model);
    exchange_finish(x, step->stop);
}

/* The next delta, or an empty one at the end. */
static struct str next_chunk(struct playing *p)
{
    const struct script_step *step = p->step;
    struct str rest = str_skip(p->text, p->at), chunk;
    size_t size = step->chunk_size ? step->chunk_size : rest.n;

    if (step->fail && p->said + (int64_t)size > step->after_bytes)
        size = (size_t)(step->after_bytes - p->said);
    chunk = str_take(rest, size);
    p->at += chunk.n;
    p->said += (int64_t)chunk.n;
    if (p->at == p->text.n && p->round + 1 < step->repeat) {
        p->round++;
        p->at = 0;
    }
    return chunk;
}

static void play(struct model_exchange *x)
{
    struct playing *p = x->state;

    for (int i = 0; i < CHUNKS_PER_TICK; i++) {
        struct str chunk = next_chunk(p);

        if (!chunk.n || exchange_delta(x, MODEL_DELTA_TEXT, chunk) < 0) {
            finish(x, p);
            return;
        }
        if (p->step->chunk_delay_ms)
            break;
    }
    exchange_soon(x, play, p->step->chunk_delay_ms);
}

static void begin(struct model_exchange *x)
{
    struct playing *p = x->state;

    if (p->step->thinking.n)
        (void)exchange_delta(x, MODEL_DELTA_THINKING, p->step->thinking);
    play(x);
}

static int script_start(struct model_exchange *x, struct err *err)
{
    struct playing *p = NEW(struct playing);

    (void)err;
    x->state = p;
    p->step = script_find(x->shared, &x->request, &p->err);
    if (!p->step) {
        exchange_soon(x, fail_unmatched, 0);
        return 0;
    }
    p->text = p->step->has_variables ? script_fill(p->step->text, &x->request, false, &x->arena)
                                     : p->step->text;
    exchange_soon(x, begin, p->step->delay_ms);
    return 0;
}

static void script_release(struct model_exchange *x)
{
    free(x->state);
    x->state = NULL;
}

const struct model_provider model_provider_script = {
    .name = "script",
    .start = script_start,
    .release = script_release,
    .open = script_open,
    .close = script_close,
};
