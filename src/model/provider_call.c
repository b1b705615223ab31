/* Provider "call": the embedder's own function (dm_agent_config.model_call).
 *
 * It is called in a tick of its own and may answer at once, later, or not at all; on_done may come
 * after the exchange was cancelled or the gateway freed. So what the embedder holds is a small
 * record of its own that ends with its on_done, and that forgets the exchange when that ends first.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "model/provider_int.h"

struct call_state {
    struct model_exchange *x; /* NULL: the exchange has ended */
    bool called, in_call;
    bool done;
};

static void on_delta(void *arg, enum model_delta kind, struct str text)
{
    struct call_state *state = arg;

    if (state->x && !state->done)
        exchange_delta(state->x, kind, text);
}

/* What the reply holds beyond the deltas. */
static int take_text(struct model_exchange *x, enum model_delta kind, struct str text,
                     struct err *err)
{
    struct str had = exchange_text(x, kind);

    if (text.n == 0)
        return 0;
    if (!str_starts(text, had))
        return err_set(err, ERR_PROVIDER_FAILED,
                       "model %s: the reply's %s does not begin with the deltas it sent",
                       x->spec->id, kind == MODEL_DELTA_THINKING ? "thinking" : "text");
    exchange_delta(x, kind, str_skip(text, had.n));
    return 0;
}

static void take_reply(struct model_exchange *x, const struct model_reply *reply)
{
    struct err err = ERR_INIT;

    if (take_text(x, MODEL_DELTA_THINKING, reply->thinking, &err) < 0 ||
        take_text(x, MODEL_DELTA_TEXT, reply->text, &err) < 0) {
        exchange_fail(x, &err, -1);
        return;
    }
    for (size_t i = 0; i < reply->call_count; i++)
        if (exchange_call(x, reply->calls[i].id, reply->calls[i].name, reply->calls[i].arguments,
                          reply->calls[i].problem) < 0)
            break;
    if (reply->opaque.n > 0)
        exchange_opaque(x, reply->opaque);
    exchange_model(x, reply->model);
    /* Zero tokens in: the embedder did not count. */
    if (reply->usage.input_tokens > 0)
        exchange_usage(x, reply->usage.input_tokens, reply->usage.output_tokens,
                       reply->usage.cached_tokens);
    exchange_finish(x, reply->stop ? reply->stop : MODEL_STOP_END);
}

static void on_done(void *arg, const struct model_reply *reply, const struct err *err,
                    int64_t retry_after_ms)
{
    struct call_state *state = arg;
    struct model_exchange *x = state->x;
    struct err silent = ERR_INIT;

    BUG_IF(state->done); /* the embedder's promise: exactly once */
    state->done = true;
    if (x)
        x->state = NULL;
    state->x = NULL;
    if (!state->in_call)
        free(state);
    if (!x)
        return;
    if (reply) {
        take_reply(x, reply);
        return;
    }
    err_set(&silent, ERR_PROVIDER_FAILED, "model %s: neither a reply nor an error came",
            x->spec->id);
    exchange_fail(x, err && err->code ? err : &silent, retry_after_ms);
}

static void call_now(struct model_exchange *x)
{
    static const struct model_sink sink = { .on_delta = on_delta, .on_done = on_done };
    struct call_state *state = x->state;
    struct err err = ERR_INIT;
    int result;

    state->called = state->in_call = true;
    result = x->spec->call(x->spec->call_arg, &x->request, &sink, state, &err);
    state->in_call = false;
    if (!state->done && result >= 0)
        return;
    /* It answered from inside, or will not. */
    x = state->x;
    free(state);
    if (!x)
        return;
    x->state = NULL;
    if (!err.code)
        err_set(&err, ERR_PROVIDER_FAILED, "model %s: the call failed", x->spec->id);
    exchange_fail(x, &err, -1);
}

static int call_start(struct model_exchange *x, struct err *err)
{
    struct call_state *state;

    if (!x->spec->call)
        return err_set(err, ERR_BAD_REQUEST, "model %s: provider call without a function",
                       x->spec->id);
    state = NEW(struct call_state);
    state->x = x;
    x->state = state;
    exchange_soon(x, call_now, 0);
    return 0;
}

/* The exchange ends before its function has answered. */
static void call_release(struct model_exchange *x)
{
    struct call_state *state = x->state;

    if (!state)
        return;
    state->x = NULL;
    if (!state->called)
        free(state);
}

const struct model_provider model_provider_call = {
    .name = "call",
    .start = call_start,
    .release = call_release,
};
