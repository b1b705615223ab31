/* Provider "anthropic": the Messages API.
 *
 * The API wants user and assistant in turns, results of calls first in the user's message that
 * follows them, no empty texts, and thinking blocks back unchanged while their turn goes on. Cache
 * marks stand behind the stable front (tools and system) and, once a conversation goes on, at its
 * end, so that each turn reads what the turn before has written.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json_put.h"
#include "model/anthropic_int.h"
#include "model/request_int.h"

#define ANTHROPIC_URL     "https://api.anthropic.com"
#define ANTHROPIC_VERSION "2023-06-01"
#define DEFAULT_OUTPUT    8192 /* max_tokens must be set; every current model allows it */
#define EMPTY_TEXT        "(no text)"

/* ---- pieces ---- */

static void write_cache_mark(struct json_writer *w)
{
    json_put_object(w, "cache_control");
    json_put_text(w, "type", "ephemeral");
    json_write_object_end(w);
}

static void write_text_block(struct json_writer *w, struct str text, bool mark)
{
    json_write_object_begin(w);
    json_put_text(w, "type", "text");
    json_put_str(w, "text", str_trim(text).n ? text : STR(EMPTY_TEXT));
    if (mark)
        write_cache_mark(w);
    json_write_object_end(w);
}

/* Ids of other providers may hold what this one refuses. */
static void write_id(struct json_writer *w, struct str id)
{
    char hex[SHA256_TEXT_SIZE], text[40];
    bool fit = id.n > 0 && id.n <= 64;

    for (size_t i = 0; i < id.n && fit; i++)
        fit = (id.p[i] >= 'a' && id.p[i] <= 'z') || (id.p[i] >= 'A' && id.p[i] <= 'Z') ||
              (id.p[i] >= '0' && id.p[i] <= '9') || id.p[i] == '_' || id.p[i] == '-';
    if (fit) {
        json_write_str(w, id);
        return;
    }
    sha256_text(id, hex);
    snprintf(text, sizeof(text), "toolu_%.24s", hex);
    json_write_text(w, text);
}

static void write_call(struct json_writer *w, const struct model_call *call)
{
    json_write_object_begin(w);
    json_put_text(w, "type", "tool_use");
    json_write_key(w, "id");
    write_id(w, call->id);
    json_put_str(w, "name", call->name);
    json_put_raw(w, "input", request_arguments(call));
    json_write_object_end(w);
}

static void write_result(struct json_writer *w, const struct model_message *message, bool mark)
{
    json_write_object_begin(w);
    json_put_text(w, "type", "tool_result");
    json_write_key(w, "tool_use_id");
    write_id(w, message->call_id);
    if (message->text.n > 0) {
        json_put_str(w, "content", message->text);
    }
    if (message->failed) {
        json_put_bool(w, "is_error", true);
    }
    if (mark)
        write_cache_mark(w);
    json_write_object_end(w);
}

/* ---- the assistant's turns ---- */

/* The blocks as they came. False, with nothing written, when the message no longer fits them. */
static bool opaque_fits(struct json_object *opaque, const struct model_message *message)
{
    size_t n = json_object_is_type(opaque, json_type_array) ? json_length(opaque) : 0;
    int64_t text = 0, calls = 0;

    for (size_t i = 0; i < n; i++) {
        struct json_object *item = json_object_array_get_idx(opaque, i);
        int64_t bytes = model_json_i64(item, "text", 0), call = model_json_i64(item, "call", -1);

        if (bytes < 0 || bytes > (int64_t)message->text.n || (call >= 0 && call != calls))
            return false;
        text += bytes;
        calls += call >= 0;
    }
    return n > 0 && text == (int64_t)message->text.n && calls == (int64_t)message->call_count;
}

static void write_as_it_came(struct json_writer *w, struct json_object *opaque,
                             const struct model_message *message)
{
    struct str rest = message->text;

    for (size_t i = 0; i < json_length(opaque); i++) {
        struct json_object *item = json_object_array_get_idx(opaque, i);
        int64_t bytes = model_json_i64(item, "text", 0), call = model_json_i64(item, "call", -1);

        if (call >= 0) {
            write_call(w, &message->calls[call]);
        } else if (bytes > 0) {
            write_text_block(w, str_take(rest, (size_t)bytes), false);
            rest = str_skip(rest, (size_t)bytes);
        } else {
            json_write_value(w, item);
        }
    }
}

static void write_assistant(struct json_writer *w, const struct model_message *message)
{
    AUTO_JSON opaque = NULL;

    if (message->opaque.n > 0 && json_parse(message->opaque, &opaque, NULL) == 0 &&
        opaque_fits(opaque, message)) {
        write_as_it_came(w, opaque, message);
        return;
    }
    if (message->text.n > 0 || message->call_count == 0)
        write_text_block(w, message->text, false);
    for (size_t i = 0; i < message->call_count; i++)
        write_call(w, &message->calls[i]);
}

/* ---- the whole ---- */

static void write_turn(struct json_writer *w, const char *role)
{
    json_write_object_begin(w);
    json_put_text(w, "role", role);
    json_put_array(w, "content");
}

static void end_turn(struct json_writer *w)
{
    json_write_array_end(w);
    json_write_object_end(w);
}

/* Messages of one side in a row are one turn; request_mend() has put results first. */
static void write_messages(struct json_writer *w, const struct model_request *request)
{
    enum model_role side = MODEL_ROLE_NONE;

    json_put_array(w, "messages");
    if (request->messages[0].role == MODEL_ASSISTANT) {
        write_turn(w, "user");
        write_text_block(w, STR("(earlier messages are left out)"), false);
        end_turn(w);
    }
    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *message = &request->messages[i];
        enum model_role now = message->role == MODEL_ASSISTANT ? MODEL_ASSISTANT : MODEL_USER;
        bool mark = i > 0 && i + 1 == request->message_count;

        if (side != now && side)
            end_turn(w);
        if (side != now)
            write_turn(w, now == MODEL_ASSISTANT ? "assistant" : "user");
        side = now;
        if (now == MODEL_ASSISTANT)
            write_assistant(w, message);
        else if (message->role == MODEL_TOOL)
            write_result(w, message, mark);
        else
            write_text_block(w, message->text, mark);
    }
    if (request->present.n && side == MODEL_USER)
        write_text_block(w, request->present, false); /* behind the mark: it is not cached */
    end_turn(w);
    json_write_array_end(w);
}

static void write_tools(struct json_writer *w, const struct model_request *request)
{
    if (request->tool_count == 0)
        return;
    json_put_array(w, "tools");
    for (size_t i = 0; i < request->tool_count; i++) {
        const struct model_tool *tool = &request->tools[i];

        json_write_object_begin(w);
        json_put_str(w, "name", tool->name);
        json_put_str(w, "description", tool->description);
        json_put_raw(w, "input_schema", tool->input_schema);
        if (i + 1 == request->tool_count && request->system.n == 0)
            write_cache_mark(w);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static int write_body(const struct model_exchange *x, struct buf *out)
{
    const struct model_request *request = &x->request;
    struct json_writer w = JSON_WRITER(out);

    json_write_object_begin(&w);
    json_put_text(&w, "model", x->spec->model ? x->spec->model : "");
    json_write_key(&w, "max_tokens");
    json_write_i64(&w,
                   request->max_output_tokens > 0 ? request->max_output_tokens : DEFAULT_OUTPUT);
    json_put_bool(&w, "stream", true);
    write_tools(&w, request);
    if (request->system.n > 0) {
        json_put_array(&w, "system");
        write_text_block(&w, request->system, true);
        json_write_array_end(&w);
    }
    write_messages(&w, request);
    json_write_object_end(&w);
    return json_write_end(&w);
}

static int anthropic_send(struct model_exchange *x, struct str key, struct str body,
                          struct err *err)
{
    struct http_header headers[4] = {
        { .name = STR("Content-Type"), .value = STR("application/json") },
        { .name = STR("Accept"), .value = STR("text/event-stream") },
        { .name = STR("anthropic-version"), .value = STR(ANTHROPIC_VERSION) },
        { .name = STR("x-api-key"), .value = key, .secret = true },
    };

    return model_stream_start(x, x->state, &anthropic_stream_ops, "/v1/messages", headers,
                              key.n > 0 ? 4 : 3, body, err);
}

static int anthropic_start(struct model_exchange *x, struct err *err)
{
    AUTO_BUF body = BUF_INIT(HTTP_BODY_SENT_MAX);
    struct anthropic_state *state;

    if (!x->spec->model)
        return err_set(err, ERR_BAD_REQUEST, "model %s: `model` is not set", x->spec->id);
    if (request_check(x, err) < 0)
        return -1;
    if (write_body(x, &body) < 0)
        return err_set(err, ERR_CONTEXT_TOO_LONG, "model %s: the request is over %u bytes",
                       x->spec->id, HTTP_BODY_SENT_MAX);
    state = NEW(struct anthropic_state);
    state->input = state->cache_read = state->cache_write = -1;
    x->state = state;
    return anthropic_send(x, exchange_secret(x), buf_str(&body), err);
}

static void anthropic_release(struct model_exchange *x)
{
    if (!x->state)
        return;
    anthropic_state_release(x->state);
    free(x->state);
    x->state = NULL;
}

const struct model_provider model_provider_anthropic = {
    .name = "anthropic",
    .default_url = ANTHROPIC_URL,
    .start = anthropic_start,
    .cancel = model_stream_cancel,
    .release = anthropic_release,
};
