/* One request through the gateway, for tests in other languages.
 *
 * Standard input: {"spec":{"provider","base_url","model","secret"},"request":{"system","tools":
 * [{"name","description","input_schema"}],"messages":[{"role","text","calls":[{"id","name",
 * "arguments"}],"opaque","call_id","failed"}],"max_output_tokens"},"consent":true}
 *
 * Standard output, a line each: {"delta":"text"|"thinking","text":..}, then {"reply":{..}} or
 * {"error":{"code","message","retry_after_ms"}}.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "loop/http_retry.h"
#include "model/model.h"

struct session {
    struct loop *loop;
    struct arena arena;
    const char *secret;
    bool consent;
    struct buf line;
};

static void print_line(struct session *session)
{
    puts(buf_text(&session->line));
    fflush(stdout);
    buf_clear(&session->line);
}

static struct str str_at(struct json_object *object, const char *key)
{
    struct str value = STR_NONE;

    json_get_str(object, key, &value, NULL);
    return value;
}

static const char *text_at(struct session *session, struct json_object *object, const char *key)
{
    struct str value = str_at(object, key);

    return value.p ? arena_copy(&session->arena, value.p, value.n) : NULL;
}

/* A value as JSON text. */
static struct str json_text(struct session *session, struct json_object *value)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&text);

    json_write_value(&w, value);
    return arena_str(&session->arena, buf_str(&text));
}

static size_t length(struct json_object *list)
{
    return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

/* ---- reading ---- */

static enum model_role role_of(struct str name)
{
    return str_is(name, "assistant") ? MODEL_ASSISTANT
           : str_is(name, "tool")    ? MODEL_TOOL
                                     : MODEL_USER;
}

static void read_message(struct session *session, struct json_object *from,
                         struct model_message *message)
{
    struct json_object *calls = json_find(from, "calls");
    struct model_call *list = ARENA_NEW_N(&session->arena, struct model_call, length(calls) + 1);

    for (size_t i = 0; i < length(calls); i++) {
        struct json_object *call = json_object_array_get_idx(calls, i);

        list[i] = (struct model_call){ .id = str_at(call, "id"),
                                       .name = str_at(call, "name"),
                                       .arguments = str_at(call, "arguments") };
    }
    *message = (struct model_message){
        .role = role_of(str_at(from, "role")),
        .text = str_at(from, "text"),
        .opaque = str_at(from, "opaque"),
        .opaque_model = STR("m"),
        .calls = list,
        .call_count = length(calls),
        .call_id = str_at(from, "call_id"),
        .tool_name = str_at(from, "tool_name"),
    };
    json_get_bool(from, "failed", &message->failed, NULL);
}

static void read_request(struct session *session, struct json_object *from,
                         struct model_request *request)
{
    struct json_object *messages = json_find(from, "messages"), *tools = json_find(from, "tools");
    struct model_message *list =
        ARENA_NEW_N(&session->arena, struct model_message, length(messages) + 1);
    struct model_tool *tool_list =
        ARENA_NEW_N(&session->arena, struct model_tool, length(tools) + 1);

    for (size_t i = 0; i < length(messages); i++)
        read_message(session, json_object_array_get_idx(messages, i), &list[i]);
    for (size_t i = 0; i < length(tools); i++) {
        struct json_object *tool = json_object_array_get_idx(tools, i);

        tool_list[i] = (struct model_tool){
            .name = str_at(tool, "name"),
            .description = str_at(tool, "description"),
            .input_schema = json_text(session, json_find(tool, "input_schema")),
        };
    }
    *request = (struct model_request){ .model_id = "m",
                                       .system = str_at(from, "system"),
                                       .tools = tool_list,
                                       .tool_count = length(tools),
                                       .messages = list,
                                       .message_count = length(messages) };
    json_get_i64(from, "max_output_tokens", &request->max_output_tokens, NULL);
}

/* ---- writing ---- */

static void on_delta(void *arg, enum model_delta kind, struct str text)
{
    struct session *session = arg;
    struct json_writer w = JSON_WRITER(&session->line);

    json_write_object_begin(&w);
    json_put_text(&w, "delta", kind == MODEL_DELTA_TEXT ? "text" : "thinking");
    json_put_str(&w, "text", text);
    json_write_object_end(&w);
    print_line(session);
}

static void write_reply(struct json_writer *w, const struct model_reply *reply)
{
    static const char *const stops[] = { "none", "end", "calls", "length", "filter" };

    json_put_object(w, "reply");
    json_put_str(w, "text", reply->text);
    json_put_str(w, "thinking", reply->thinking);
    json_put_str(w, "opaque", reply->opaque);
    json_put_str(w, "model", reply->model);
    json_put_str(w, "stop", str_from(stops[reply->stop]));
    json_put_i64(w, "input_tokens", reply->usage.input_tokens);
    json_put_i64(w, "output_tokens", reply->usage.output_tokens);
    json_put_i64(w, "cached_tokens", reply->usage.cached_tokens);
    json_put_bool(w, "estimated", reply->usage.estimated);
    json_put_array(w, "calls");
    for (size_t i = 0; i < reply->call_count; i++) {
        json_write_object_begin(w);
        json_put_str(w, "id", reply->calls[i].id);
        json_put_str(w, "name", reply->calls[i].name);
        json_put_str(w, "arguments", reply->calls[i].arguments);
        json_put_str(w, "problem", reply->calls[i].problem);
        json_write_object_end(w);
    }
    json_write_array_end(w);
    json_write_object_end(w);
}

static void write_error(struct json_writer *w, const struct err *err, int64_t retry_after_ms)
{
    char text[ERR_TEXT_MAX + 64];

    json_put_object(w, "error");
    json_put_str(w, "code", str_from(err_name(err->code)));
    json_put_str(w, "message", str_from(err_format(err, text, sizeof(text))));
    json_put_i64(w, "retry_after_ms", retry_after_ms);
    json_write_object_end(w);
}

static void on_done(void *arg, const struct model_reply *reply, const struct err *err,
                    int64_t retry_after_ms)
{
    struct session *session = arg;
    struct json_writer w = JSON_WRITER(&session->line);

    json_write_object_begin(&w);
    if (reply)
        write_reply(&w, reply);
    else
        write_error(&w, err, retry_after_ms);
    json_write_object_end(&w);
    print_line(session);
    loop_stop(session->loop);
}

/* ---- running ---- */

static int give_secret(void *arg, const char *ref, struct buf *out, struct err *err)
{
    struct session *session = arg;

    (void)ref;
    (void)err;
    return buf_add_text(out, session->secret);
}

static int give_consent(void *arg, const struct model_spec *spec, struct err *err)
{
    struct session *session = arg;

    if (session->consent)
        return 0;
    return err_set(err, ERR_PRIVACY_CONFIRMATION_REQUIRED, "nobody agreed to %s", spec->id);
}

static int run(struct session *session, struct json_object *input, struct err *err)
{
    static const struct model_sink sink = { .on_delta = on_delta, .on_done = on_done };
    static const struct http_retry_policy quick = {
        .max_attempts = 2, .base_ms = 1, .cap_ms = 2, .retry_after_cap_ms = 100
    };
    struct json_object *from = json_find(input, "spec");
    struct model_spec spec = { .id = "m",
                               .provider = text_at(session, from, "provider"),
                               .base_url = text_at(session, from, "base_url"),
                               .model = text_at(session, from, "model") };
    struct model_gateway_config config = { .models = &spec,
                                           .model_count = 1,
                                           .retry = &quick,
                                           .secret = give_secret,
                                           .consent = give_consent,
                                           .arg = session };
    AUTO(loop) loop = NULL;
    AUTO(model_gateway) gateway = NULL;
    struct model_request request;
    struct model_exchange *x;

    session->secret = text_at(session, from, "secret");
    spec.secret_ref = session->secret ? "secret" : NULL;
    json_get_bool(input, "consent", &session->consent, NULL);
    read_request(session, json_find(input, "request"), &request);
    if (loop_new(NULL, &loop, err) < 0)
        return -1;
    session->loop = config.loop = loop;
    if (model_gateway_new(&config, &gateway, err) < 0 ||
        model_start(gateway, &request, &sink, session, &x, err) < 0)
        return -1;
    return loop_run(loop, err);
}

int main(void)
{
    struct session session = { .line = BUF_INIT(LIMIT_JSON_BYTES) };
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_JSON input = NULL;
    struct err err = ERR_INIT;
    char part[65536];
    ssize_t n;

    while ((n = read(STDIN_FILENO, part, sizeof(part))) > 0)
        buf_add(&text, part, (size_t)n);
    if (json_parse(buf_str(&text), &input, &err) < 0 || run(&session, input, &err) < 0) {
        struct json_writer w = JSON_WRITER(&session.line);

        json_write_object_begin(&w);
        write_error(&w, &err, -1);
        json_write_object_end(&w);
        print_line(&session);
    }
    buf_release(&session.line);
    arena_release(&session.arena);
    return 0;
}
