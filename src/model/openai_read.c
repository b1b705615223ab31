/* Chat Completions, the answer: chunks into text, thinking and calls.
 *
 * Every compatible server streams the same shape and differs in the edges. Which call a piece
 * belongs to: an id that was seen names its call whatever the index says; a new id begins a new
 * call even where the index repeats (Ollama calls every one 0); without an id the index counts;
 * with neither, a piece with a name begins a call and one without continues the last.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json_write.h"
#include "model/openai_int.h"

void openai_state_release(struct openai_state *state)
{
    for (size_t i = 0; i < state->call_count; i++) {
        buf_release(&state->calls[i].id);
        buf_release(&state->calls[i].name);
        buf_release(&state->calls[i].arguments);
    }
    free(state->calls);
    json_object_put(state->details);
    model_stream_release(&state->stream);
}

/* ---- calls ---- */

static struct openai_call *call_new(struct openai_state *state, int64_t index)
{
    struct openai_call *call;

    if (state->call_count >= MODEL_CALLS_MAX)
        return NULL;
    if (!state->calls || state->call_count == state->call_cap) {
        state->call_cap = state->call_cap ? 2 * state->call_cap : 4;
        state->calls = alloc_resize(state->calls, state->call_cap, sizeof(*state->calls));
    }
    call = &state->calls[state->call_count];
    *call = (struct openai_call){
        .index = index,
        .id = BUF_INIT(1024),
        .name = BUF_INIT(1024),
        .arguments = BUF_INIT(MODEL_TEXT_MAX),
    };
    state->current = (ptrdiff_t)state->call_count++;
    return call;
}

static struct openai_call *call_by_id(struct openai_state *state, struct str id)
{
    for (size_t i = 0; i < state->call_count; i++)
        if (str_eq(buf_str(&state->calls[i].id), id)) {
            state->current = (ptrdiff_t)i;
            return &state->calls[i];
        }
    return NULL;
}

/* The newest with this index: older ones of the same were ended by a new id. */
static struct openai_call *call_by_index(struct openai_state *state, int64_t index)
{
    for (size_t i = state->call_count; i-- > 0;)
        if (state->calls[i].index == index) {
            state->current = (ptrdiff_t)i;
            return &state->calls[i];
        }
    return NULL;
}

static struct openai_call *call_for(struct openai_state *state, struct str id, int64_t index,
                                    bool has_name)
{
    struct openai_call *found = NULL;

    if (id.n > 0) {
        found = call_by_id(state, id);
        /* A call that began without an id may get it later. */
        if (!found && index >= 0)
            found = call_by_index(state, index);
        if (found && found->id.n > 0 && !str_eq(buf_str(&found->id), id))
            found = NULL;
    } else if (index >= 0) {
        found = call_by_index(state, index);
    } else if (!has_name && state->current >= 0) {
        found = &state->calls[state->current];
    }
    return found ? found : call_new(state, index);
}

static bool is_whole_object(struct str text)
{
    AUTO_JSON value = NULL;

    return text.n > 1 && text.p[text.n - 1] == '}' && json_parse(text, &value, NULL) == 0 &&
           json_object_is_type(value, json_type_object);
}

/* Arguments come as text in pieces, as an object at once (Ollama's own form), or a second time. */
static int add_arguments(struct openai_state *state, struct openai_call *call,
                         struct json_object *arguments)
{
    AUTO_BUF text = BUF_INIT(MODEL_TEXT_MAX);
    struct str piece = json_str(arguments);

    if (json_object_is_type(arguments, json_type_object)) {
        struct json_writer w = JSON_WRITER(&text);

        json_write_value(&w, arguments);
        if (json_write_end(&w) < 0)
            return -1;
        piece = buf_str(&text);
        buf_clear(&call->arguments);
    } else if (piece.n > 1 && str_eq(piece, buf_str(&call->arguments)) && is_whole_object(piece)) {
        return 0;
    }
    state->call_bytes += piece.n;
    if (state->call_bytes > MODEL_TEXT_MAX)
        return -1;
    return buf_add_str(&call->arguments, piece);
}

static int add_call(struct openai_state *state, struct json_object *piece)
{
    struct json_object *function = json_find(piece, "function");
    struct str id = model_json_str(piece, "id"), name = model_json_str(function, "name");
    struct openai_call *call = call_for(state, id, model_json_i64(piece, "index", -1), name.n > 0);

    if (!call)
        return -1;
    if (call->id.n == 0)
        buf_add_str(&call->id, id);
    /* Some servers repeat the name with every piece; none cuts it. */
    if (call->name.n == 0)
        buf_add_str(&call->name, name);
    return add_arguments(state, call, json_find(function, "arguments"));
}

static int add_calls(struct openai_state *state, struct json_object *delta)
{
    struct json_object *calls = json_find(delta, "tool_calls");
    struct json_object *old = json_find(delta, "function_call");
    size_t n = json_object_is_type(calls, json_type_array) ? json_length(calls) : 0;

    for (size_t i = 0; i < n; i++)
        if (add_call(state, json_object_array_get_idx(calls, i)) < 0)
            return -1;
    if (json_object_is_type(old, json_type_object)) {
        AUTO_JSON wrapped = json_object_new_object();

        json_object_object_add(wrapped, "function", json_object_get(old));
        return add_call(state, wrapped);
    }
    return 0;
}

/* ---- text ---- */

static int add_text(struct model_exchange *x, enum model_delta kind, struct str text)
{
    struct openai_state *state = x->state;

    if (text.n == 0)
        return 0;
    state->some = true;
    return exchange_delta(x, kind, text);
}

/* content as a list of parts: {"type":"text","text":..}, {"type":"thinking","thinking":[..]}. */
static int add_parts(struct model_exchange *x, enum model_delta kind, struct json_object *parts)
{
    size_t n = json_object_is_type(parts, json_type_array) ? json_length(parts) : 0;

    for (size_t i = 0; i < n; i++) {
        struct json_object *part = json_object_array_get_idx(parts, i);

        if (add_text(x, kind, model_json_str(part, "text")) < 0 ||
            add_parts(x, MODEL_DELTA_THINKING, json_find(part, "thinking")) < 0)
            return -1;
    }
    return 0;
}

static int add_delta(struct model_exchange *x, struct json_object *delta)
{
    struct openai_state *state = x->state;
    struct str thinking = model_json_str(delta, "reasoning_content"),
               refusal = model_json_str(delta, "refusal");

    if (thinking.n == 0) /* OpenRouter and vLLM; never both */
        thinking = model_json_str(delta, "reasoning");
    state->refused |= refusal.n > 0;
    if (add_text(x, MODEL_DELTA_THINKING, thinking) < 0 ||
        add_text(x, MODEL_DELTA_TEXT, model_json_str(delta, "content")) < 0 ||
        add_parts(x, MODEL_DELTA_TEXT, json_find(delta, "content")) < 0 ||
        add_text(x, MODEL_DELTA_TEXT, refusal) < 0 ||
        openai_details_add(state, json_find(delta, "reasoning_details")) < 0)
        return -1;
    return add_calls(state, delta);
}

/* ---- how it ends ---- */

static const struct {
    const char *name;
    enum model_stop stop; /* NONE: the server gave up */
} reasons[] = {
    { "stop", MODEL_STOP_END },
    { "tool_calls", MODEL_STOP_CALLS },
    { "function_call", MODEL_STOP_CALLS },
    { "length", MODEL_STOP_LENGTH },
    { "max_tokens", MODEL_STOP_LENGTH },
    { "model_length", MODEL_STOP_LENGTH },
    { "content_filter", MODEL_STOP_FILTER },
    { "safety", MODEL_STOP_FILTER },
    { "refusal", MODEL_STOP_FILTER },
    { "error", MODEL_STOP_NONE },
    { "abort", MODEL_STOP_NONE },
    { "insufficient_system_resource", MODEL_STOP_NONE },
};

static void note_reason(struct openai_state *state, struct str reason)
{
    if (reason.n == 0)
        return;
    state->stopped = true;
    state->stop = MODEL_STOP_END; /* eos, end_turn and what else they call it */
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (str_eq_nocase(reason, str_from(reasons[i].name)))
            state->stop = reasons[i].stop;
    if (state->stop == MODEL_STOP_NONE)
        err_set(&state->failed, ERR_PROVIDER_FAILED, "the server stopped with \"%.*s\"",
                STR_ARG(str_take(reason, 40)));
}

static void note_usage(struct model_exchange *x, struct json_object *document)
{
    struct json_object *usage = json_find(document, "usage");
    int64_t cached;

    if (!json_object_is_type(usage, json_type_object))
        return;
    cached = model_json_tokens(json_find(usage, "prompt_tokens_details"), "cached_tokens");
    if (cached < 0) /* DeepSeek */
        cached = model_json_tokens(usage, "prompt_cache_hit_tokens");
    exchange_usage(x, model_json_tokens(usage, "prompt_tokens"),
                   model_json_tokens(usage, "completion_tokens"), cached);
}

/* A chunk, or a whole answer: they differ in the name of the member. */
static int add_document(struct model_exchange *x, struct json_object *document, const char *member)
{
    struct openai_state *state = x->state;
    struct json_object *choices = json_find(document, "choices"), *choice = NULL;
    struct str model = model_json_str(document, "model");

    if (model.n > 0)
        exchange_model(x, model);
    note_usage(x, document);
    if (json_object_is_type(choices, json_type_array))
        choice = json_object_array_get_idx(choices, 0);
    if (!choice || model_json_i64(choice, "index", 0) != 0)
        return 0;
    if (add_delta(x, json_find(choice, member)) < 0)
        return -1;
    note_reason(state, model_json_str(choice, "finish_reason"));
    return 0;
}

static enum model_stream_step on_event(struct model_exchange *x, const struct sse_event *event,
                                       struct json_object *data, struct err *err)
{
    if (str_is(str_trim(event->data), "[DONE]"))
        return MODEL_STREAM_DONE;
    if (!data) {
        if (event->data.n == 0)
            return MODEL_STREAM_ON;
        err_set(err, ERR_PROVIDER_FAILED, "model %s: an event of the answer is no JSON",
                x->spec->id);
        return MODEL_STREAM_FAILED;
    }
    return add_document(x, data, "delta") < 0 ? MODEL_STREAM_FAILED : MODEL_STREAM_ON;
}

static int on_whole(struct model_exchange *x, struct json_object *answer, struct err *err)
{
    if (!json_find(answer, "choices"))
        return err_set(err, ERR_PROVIDER_FAILED, "the answer has no choices");
    if (add_document(x, answer, "message") < 0)
        return err_set(err, ERR_TOO_LARGE, "the answer is too large");
    return 0;
}

static int on_end(struct model_exchange *x, bool whole, enum model_stop *ret_stop, struct err *err)
{
    struct openai_state *state = x->state;

    if (state->failed.code) {
        *err = state->failed;
        return -1;
    }
    if (!state->stopped && !(whole && (state->some || state->call_count > 0)))
        return err_set(err, ERR_PROVIDER_FAILED, "the stream ended before the answer did");
    for (size_t i = 0; i < state->call_count; i++)
        if (exchange_call(x, buf_str(&state->calls[i].id), buf_str(&state->calls[i].name),
                          buf_str(&state->calls[i].arguments), STR_NONE) < 0)
            break;
    openai_details_end(x, state);
    *ret_stop = state->stopped ? state->stop : MODEL_STOP_END;
    if (state->refused)
        *ret_stop = MODEL_STOP_FILTER;
    return 0;
}

const struct model_stream_ops openai_stream_ops = {
    .event = on_event,
    .whole = on_whole,
    .end = on_end,
    .refused = openai_refused,
};
