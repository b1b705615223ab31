/* The Messages API, the answer: blocks with their deltas into text, thinking and calls.
 *
 * Events and kinds of blocks that are not known are passed over, as the API's versioning rules ask.
 * Errors in the middle of a stream are stream.c's.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json_put.h"
#include "model/anthropic_int.h"

void anthropic_state_release(struct anthropic_state *state)
{
    for (size_t i = 0; i < state->block_count; i++) {
        json_object_put(state->blocks[i].start);
        buf_release(&state->blocks[i].thinking);
        buf_release(&state->blocks[i].signature);
        buf_release(&state->blocks[i].arguments);
    }
    free(state->blocks);
    model_stream_release(&state->stream);
}

/* ---- blocks ---- */

static enum anthropic_kind kind_of(struct json_object *block)
{
    static const struct {
        const char *name;
        enum anthropic_kind kind;
    } kinds[] = {
        { "text", ANTHROPIC_TEXT },
        { "thinking", ANTHROPIC_THINKING },
        { "redacted_thinking", ANTHROPIC_REDACTED },
        { "tool_use", ANTHROPIC_CALL },
    };
    struct str type = model_json_str(block, "type");

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(type, kinds[i].name))
            return kinds[i].kind;
    return ANTHROPIC_OTHER;
}

static int add_text(struct model_exchange *x, struct anthropic_block *block, struct str text)
{
    block->text_bytes += text.n;
    return text.n ? exchange_delta(x, MODEL_DELTA_TEXT, text) : 0;
}

static int add_thinking(struct model_exchange *x, struct anthropic_block *block, struct str text)
{
    if (text.n == 0)
        return 0;
    if (buf_add_str(&block->thinking, text) < 0)
        return -1;
    return exchange_delta(x, MODEL_DELTA_THINKING, text);
}

static int block_start(struct model_exchange *x, int64_t index, struct json_object *start)
{
    struct anthropic_state *state = x->state;
    struct anthropic_block *block;

    if (state->block_count >= ANTHROPIC_BLOCKS_MAX)
        return -1;
    if (state->block_count == state->block_cap) {
        state->block_cap = state->block_cap ? 2 * state->block_cap : 4;
        state->blocks = alloc_resize(state->blocks, state->block_cap, sizeof(*state->blocks));
    }
    block = &state->blocks[state->block_count++];
    *block = (struct anthropic_block){
        .kind = kind_of(start),
        .index = index,
        .start = json_object_get(start),
        .thinking = BUF_INIT(MODEL_TEXT_MAX),
        .signature = BUF_INIT(MODEL_TEXT_MAX),
        .arguments = BUF_INIT(MODEL_TEXT_MAX),
    };
    if (block->kind == ANTHROPIC_THINKING)
        buf_add_str(&block->signature, model_json_str(start, "signature"));
    if (add_thinking(x, block, model_json_str(start, "thinking")) < 0)
        return -1;
    return block->kind == ANTHROPIC_TEXT ? add_text(x, block, model_json_str(start, "text")) : 0;
}

/* The newest block with this index. */
static struct anthropic_block *block_find(struct anthropic_state *state, int64_t index)
{
    for (size_t i = state->block_count; i-- > 0;)
        if (state->blocks[i].index == index)
            return &state->blocks[i];
    return NULL;
}

static int block_delta(struct model_exchange *x, int64_t index, struct json_object *delta)
{
    struct anthropic_state *state = x->state;
    struct anthropic_block *block = block_find(state, index);
    struct str json = model_json_str(delta, "partial_json"),
               signature = model_json_str(delta, "signature");

    if (!block)
        return 0;
    state->bytes += json.n + signature.n;
    if (state->bytes > MODEL_TEXT_MAX)
        return -1;
    if (block->kind == ANTHROPIC_TEXT)
        return add_text(x, block, model_json_str(delta, "text"));
    if (block->kind == ANTHROPIC_CALL)
        return buf_add_str(&block->arguments, json);
    if (block->kind != ANTHROPIC_THINKING)
        return 0;
    if (signature.n > 0 && buf_add_str(&block->signature, signature) < 0)
        return -1;
    return add_thinking(x, block, model_json_str(delta, "thinking"));
}

/* ---- the message ---- */

static const struct {
    const char *name;
    enum model_stop stop;
} reasons[] = {
    { "end_turn", MODEL_STOP_END },
    { "stop_sequence", MODEL_STOP_END },
    { "tool_use", MODEL_STOP_CALLS },
    { "max_tokens", MODEL_STOP_LENGTH },
    { "model_context_window_exceeded", MODEL_STOP_LENGTH },
    { "pause_turn", MODEL_STOP_LENGTH }, /* it would have gone on */
    { "refusal", MODEL_STOP_FILTER },
};

static void note_reason(struct anthropic_state *state, struct str reason)
{
    if (reason.n == 0)
        return;
    state->stopped = true;
    state->stop = MODEL_STOP_END;
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (str_is(reason, reasons[i].name))
            state->stop = reasons[i].stop;
}

static void update(int64_t *number, struct json_object *usage, const char *key)
{
    int64_t said = model_json_tokens(usage, key);

    if (said >= 0)
        *number = said;
}

/* input_tokens are those that no cache had a part in; here input means all of them. */
static void note_usage(struct model_exchange *x, struct json_object *usage)
{
    struct anthropic_state *state = x->state;
    int64_t input;

    update(&state->input, usage, "input_tokens");
    update(&state->cache_read, usage, "cache_read_input_tokens");
    update(&state->cache_write, usage, "cache_creation_input_tokens");
    input = state->input;
    if (input >= 0 && state->cache_read > 0)
        input += state->cache_read;
    if (input >= 0 && state->cache_write > 0)
        input += state->cache_write;
    exchange_usage(x, input, model_json_tokens(usage, "output_tokens"), state->cache_read);
}

static void note_message(struct model_exchange *x, struct json_object *message)
{
    struct str model = model_json_str(message, "model");

    if (model.n > 0)
        exchange_model(x, model);
    note_usage(x, json_find(message, "usage"));
    note_reason(x->state, model_json_str(message, "stop_reason"));
}

static enum model_stream_step step_of(int result)
{
    return result < 0 ? MODEL_STREAM_FAILED : MODEL_STREAM_ON;
}

static enum model_stream_step on_event(struct model_exchange *x, const struct sse_event *event,
                                       struct json_object *data, struct err *err)
{
    struct str type = model_json_str(data, "type");
    int64_t index = model_json_i64(data, "index", -1);

    (void)err;
    if (type.n == 0)
        type = event->type;
    if (str_is(type, "message_stop"))
        return MODEL_STREAM_DONE;
    if (str_is(type, "message_start"))
        note_message(x, json_find(data, "message"));
    else if (str_is(type, "content_block_start"))
        return step_of(block_start(x, index, json_find(data, "content_block")));
    else if (str_is(type, "content_block_delta"))
        return step_of(block_delta(x, index, json_find(data, "delta")));
    else if (str_is(type, "message_delta")) {
        note_reason(x->state, model_json_str(json_find(data, "delta"), "stop_reason"));
        note_usage(x, json_find(data, "usage"));
    }
    return MODEL_STREAM_ON;
}

static int on_whole(struct model_exchange *x, struct json_object *answer, struct err *err)
{
    struct json_object *content = json_find(answer, "content");

    if (!json_object_is_type(content, json_type_array))
        return err_set(err, ERR_PROVIDER_FAILED, "the answer has no content");
    note_message(x, answer);
    for (size_t i = 0; i < json_length(content); i++)
        if (block_start(x, (int64_t)i, json_object_array_get_idx(content, i)) < 0)
            return err_set(err, ERR_TOO_LARGE, "the answer is too large");
    return 0;
}

/* ---- the end ---- */

static int hand_over_call(struct model_exchange *x, struct anthropic_block *block)
{
    struct json_object *input = json_find(block->start, "input");
    struct str arguments = buf_str(&block->arguments);
    AUTO_BUF text = BUF_INIT(MODEL_TEXT_MAX);

    if (arguments.n == 0 && json_object_is_type(input, json_type_object)) {
        struct json_writer w = JSON_WRITER(&text);

        json_write_value(&w, input);
        json_write_end(&w);
        arguments = buf_str(&text); /* one that is cut is no JSON, and the call says so */
    }
    return exchange_call(x, model_json_str(block->start, "id"),
                         model_json_str(block->start, "name"), arguments, STR_NONE);
}

static void write_thinking(struct json_writer *w, struct anthropic_block *block)
{
    if (block->kind == ANTHROPIC_THINKING) {
        json_object_object_add(
            block->start, "thinking",
            json_object_new_string_len(buf_text(&block->thinking), (int)block->thinking.n));
        json_object_object_add(
            block->start, "signature",
            json_object_new_string_len(buf_text(&block->signature), (int)block->signature.n));
    }
    json_write_value(w, block->start);
}

static void write_count(struct json_writer *w, const char *key, size_t n)
{
    json_write_object_begin(w);
    json_put_u64(w, key, n);
    json_write_object_end(w);
}

static void write_opaque(struct anthropic_state *state, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    size_t calls = 0;

    json_write_array_begin(&w);
    for (size_t i = 0; i < state->block_count; i++) {
        struct anthropic_block *block = &state->blocks[i];

        if (block->kind == ANTHROPIC_THINKING || block->kind == ANTHROPIC_REDACTED)
            write_thinking(&w, block);
        else if (block->kind == ANTHROPIC_TEXT && block->text_bytes > 0)
            write_count(&w, "text", block->text_bytes);
        else if (block->kind == ANTHROPIC_CALL)
            write_count(&w, "call", calls++);
    }
    json_write_array_end(&w);
    json_write_end(&w); /* too much of it: exchange_opaque() says so */
}

static bool has_thinking(const struct anthropic_state *state)
{
    for (size_t i = 0; i < state->block_count; i++)
        if (state->blocks[i].kind == ANTHROPIC_THINKING ||
            state->blocks[i].kind == ANTHROPIC_REDACTED)
            return true;
    return false;
}

static int on_end(struct model_exchange *x, bool whole, enum model_stop *ret_stop, struct err *err)
{
    struct anthropic_state *state = x->state;
    AUTO_BUF opaque = BUF_INIT(2 * MODEL_TEXT_MAX);

    if (!state->stopped && !whole)
        return err_set(err, ERR_PROVIDER_FAILED, "the stream ended before the answer did");
    for (size_t i = 0; i < state->block_count; i++)
        if (state->blocks[i].kind == ANTHROPIC_CALL && hand_over_call(x, &state->blocks[i]) < 0)
            break;
    if (has_thinking(state)) {
        write_opaque(state, &opaque);
        exchange_opaque(x, buf_str(&opaque));
    }
    *ret_stop = state->stopped ? state->stop : MODEL_STOP_END;
    return 0;
}

const struct model_stream_ops anthropic_stream_ops = {
    .event = on_event,
    .whole = on_whole,
    .end = on_end,
};
