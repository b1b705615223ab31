/* Provider "openai": Chat Completions of OpenAI and of every server that speaks it.
 *
 * llama-server, Ollama, vLLM, LM Studio, OpenRouter and others take the same request; only what all
 * of them take is sent. The request is written stable part first (model, tools, system), so that
 * prompt caches keep working.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "model/openai_int.h"
#include "model/request_int.h"
#include "policy/secret.h"

#define OPENAI_URL "https://api.openai.com/v1"

/* OpenAI's newer models refuse max_tokens; other servers know nothing else. */
static bool is_openai(const struct model_spec *spec)
{
    struct str host = model_url_host(spec->base_url ? spec->base_url : OPENAI_URL);

    return str_eq_nocase(host, STR("api.openai.com")) || str_ends(host, STR(".openai.azure.com"));
}

static void write_tool(struct json_writer *w, const struct model_tool *tool)
{
    json_write_object_begin(w);
    json_put_text(w, "type", "function");
    json_put_object(w, "function");
    json_put_str(w, "name", tool->name);
    json_put_str(w, "description", tool->description);
    json_put_raw(w, "parameters", tool->input_schema);
    json_write_object_end(w);
    json_write_object_end(w);
}

static void write_calls(struct json_writer *w, const struct model_message *message)
{
    json_put_array(w, "tool_calls");
    for (size_t i = 0; i < message->call_count; i++) {
        const struct model_call *call = &message->calls[i];

        json_write_object_begin(w);
        json_put_str(w, "id", call->id);
        json_put_text(w, "type", "function");
        json_put_object(w, "function");
        json_put_str(w, "name", call->name);
        json_put_str(w, "arguments", request_arguments(call));
        json_write_object_end(w);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static void write_role(struct json_writer *w, const char *role)
{
    json_write_object_begin(w);
    json_put_text(w, "role", role);
}

/* present: see struct model_request; of the last message. A message of its own would be a second
 * one of the person's in a row, which some servers' templates refuse. */
static void write_content(struct json_writer *w, struct str text, struct str present)
{
    AUTO_BUF both = BUF_INIT(text.n + present.n + 2);

    if (!present.n) {
        json_write_str(w, text);
        return;
    }
    buf_add_str(&both, text);
    buf_add_text(&both, text.n ? "\n\n" : "");
    buf_add_str(&both, present);
    json_write_str(w, buf_str(&both));
}

static void write_message(struct json_writer *w, const struct model_message *message,
                          struct str present)
{
    static const char *const roles[] = {
        [MODEL_USER] = "user", [MODEL_ASSISTANT] = "assistant", [MODEL_TOOL] = "tool"
    };
    AUTO_JSON details = NULL;

    write_role(w, roles[message->role]);
    if (message->role == MODEL_TOOL) {
        json_put_str(w, "tool_call_id", message->call_id);
    }
    json_write_key(w, "content");
    if (message->role == MODEL_ASSISTANT && message->text.n == 0 && message->call_count > 0)
        json_write_null(w);
    else
        write_content(w, message->text, present);
    if (message->role == MODEL_ASSISTANT && message->call_count > 0)
        write_calls(w, message);
    if (message->role == MODEL_ASSISTANT && message->opaque.n > 0 &&
        json_parse(message->opaque, &details, NULL) == 0 &&
        json_object_is_type(details, json_type_array)) {
        json_put_value(w, "reasoning_details", details);
    }
    json_write_object_end(w);
}

static void write_tools(struct json_writer *w, const struct model_request *request)
{
    if (request->tool_count == 0) /* an empty list is refused */
        return;
    json_put_array(w, "tools");
    for (size_t i = 0; i < request->tool_count; i++)
        write_tool(w, &request->tools[i]);
    json_write_array_end(w);
}

static void write_messages(struct json_writer *w, const struct model_request *request)
{
    json_put_array(w, "messages");
    if (request->system.n > 0) {
        write_role(w, "system");
        json_put_str(w, "content", request->system);
        json_write_object_end(w);
    }
    for (size_t i = 0; i < request->message_count; i++)
        write_message(w, &request->messages[i],
                      i + 1 == request->message_count ? request->present : STR_NONE);
    json_write_array_end(w);
}

static int write_body(const struct model_exchange *x, bool plain, struct buf *out)
{
    const struct model_request *request = &x->request;
    struct json_writer w = JSON_WRITER(out);

    json_write_object_begin(&w);
    json_put_text(&w, "model", x->spec->model ? x->spec->model : "default");
    json_put_bool(&w, "stream", true);
    if (!plain) {
        json_put_object(&w, "stream_options");
        json_put_bool(&w, "include_usage", true);
        json_write_object_end(&w);
    }
    if (request->max_output_tokens > 0) {
        json_put_i64(&w, is_openai(x->spec) ? "max_completion_tokens" : "max_tokens",
                     request->max_output_tokens);
    }
    write_tools(&w, request);
    write_messages(&w, request);
    json_write_object_end(&w);
    return json_write_end(&w);
}

static int send_body(struct model_exchange *x, struct str bearer, struct str body, struct err *err)
{
    struct http_header headers[4] = {
        { .name = STR("Content-Type"), .value = STR("application/json") },
        { .name = STR("Accept"), .value = STR("text/event-stream") },
    };
    size_t n = 2;

    if (bearer.n > 0) {
        headers[n++] = (struct http_header){ STR("Authorization"), bearer, true };
        if (is_openai(x->spec) && x->spec->base_url) /* Azure's name for it */
            headers[n++] = (struct http_header){ STR("api-key"), exchange_secret(x), true };
    }
    return model_stream_start(x, x->state, &openai_stream_ops, "/chat/completions", headers, n,
                              body, err);
}

static int openai_send(struct model_exchange *x, struct err *err)
{
    const struct openai_state *state = x->state;
    AUTO_BUF body = BUF_INIT(HTTP_BODY_SENT_MAX);
    struct buf bearer = BUF_INIT(MODEL_SECRET_MAX + 16);
    int result;

    if (write_body(x, state->plain, &body) < 0)
        return err_set(err, ERR_CONTEXT_TOO_LONG, "model %s: the request is over %u bytes",
                       x->spec->id, HTTP_BODY_SENT_MAX);
    request_bearer(x, &bearer);
    result = send_body(x, buf_str(&bearer), buf_str(&body), err);
    secrets_wipe(&bearer);
    return result;
}

static int openai_start(struct model_exchange *x, struct err *err)
{
    struct openai_state *state;

    if (request_check(x, err) < 0)
        return -1;
    state = NEW(struct openai_state);
    state->current = -1;
    x->state = state;
    return openai_send(x, err);
}

/* Older servers know no stream_options and say so. Without them the tokens are estimated. */
bool openai_refused(struct model_exchange *x, int status, struct str body)
{
    struct openai_state *state = x->state;
    struct err err = ERR_INIT;

    if (state->plain || (status != 400 && status != 422) ||
        str_find(body, STR("stream_options")) < 0)
        return false;
    state->plain = true;
    if (openai_send(x, &err) < 0)
        exchange_fail(x, &err, -1);
    return true;
}

static void openai_release(struct model_exchange *x)
{
    if (!x->state)
        return;
    openai_state_release(x->state);
    free(x->state);
    x->state = NULL;
}

const struct model_provider model_provider_openai = {
    .name = "openai",
    .default_url = OPENAI_URL,
    .start = openai_start,
    .cancel = model_stream_cancel,
    .release = openai_release,
};
