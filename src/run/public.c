/* Events as clients see them: which rows are shown, and how each is written.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json_object_iterator.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/timefmt.h"
#include "desk/desk.h"
#include "run/run_int.h"

#define WORDS_BYTES (64u << 10)

const char *run_public_type(const struct bp_event *event, const struct inbox_item *item)
{
    switch (event->type) {
    case RUN_EV_START:
        return "init";
    case RUN_EV_MUSING:
        return "thinking";
    case RUN_EV_SAID:
        return "text";
    case RUN_EV_CALL:
        return "tool_use";
    case RUN_EV_GATE:
        return item && item->kind == INBOX_MEMORY ? "memory_edit_request" : "approval_gate";
    case RUN_EV_WAITING:
    case RUN_EV_ASKED:
        return "waiting";
    case RUN_EV_ACTED:
        return event->bits & RUN_UNKNOWN ? "waiting" : "memory_edit_complete";
    case RUN_EV_DENIED:
        return "memory_edit_complete";
    case RUN_EV_SETTLED:
        return "tool_result";
    case RUN_EV_OBSERVE:
        return event->bits & RUN_WIGGUM ? "iteration" : NULL;
    case RUN_EV_THOUGHT:
    case RUN_EV_CHECKED:
        return event->bits & RUN_FAILED ? "error" : NULL;
    case RUN_EV_GIVE_UP:
        return "error";
    case RUN_EV_DONE:
        return "done";
    case RUN_EV_NOTE:
        return event->bits & RUN_MORE ? "notice" : NULL;
    default:
        return NULL;
    }
}

bool run_event_is_public(const struct bp_event *event, const struct run_call *call)
{
    /* That something was done or refused is told by its result, except to who decided about memory.
     */
    if ((event->type == RUN_EV_ACTED && !(event->bits & RUN_UNKNOWN)) ||
        event->type == RUN_EV_DENIED)
        return call && run_call_is_memory(call);
    return run_public_type(event, NULL) != NULL;
}

/* ---- one writer for each kind ---- */

static void write_text(struct json_writer *w, struct json_object *content, const char *member)
{
    json_put_str(w, "content", json_str(json_find(content, member)));
}

/* What a tool gets: the arguments as they came, when they are JSON. */
static void write_input(struct json_writer *w, struct str arguments)
{
    AUTO_JSON value = NULL;

    json_write_key(w, "input");
    if (json_parse(arguments, &value, NULL) == 0)
        json_write_value(w, value);
    else
        json_write_str(w, arguments);
}

static void write_call(struct json_writer *w, const struct message *message,
                       struct json_object *content)
{
    json_put_str(w, "toolCallId", message->call_id);
    json_put_str(w, "toolName", message->tool_name);
    write_input(w, json_str(json_find(content, "arguments")));
}

/* As a person reads it, where the tool has words for that. */
static void write_words(struct json_writer *w, struct str tool, struct json_object *output)
{
    AUTO_BUF words = BUF_INIT(WORDS_BYTES);

    if (desk_say_answer(tool, output, &words))
        json_put_str(w, "words", str_trim(buf_str(&words)));
}

static void write_result(struct json_writer *w, const struct message *message,
                         struct json_object *content)
{
    struct json_object *output = json_find(content, "output");
    struct json_object *error = json_find(content, "error");

    json_put_str(w, "toolCallId", message->call_id);
    json_put_str(w, "toolName", message->tool_name);
    json_put_text(w, "status", str_is(message->status, "success") ? "completed" : "failed");
    if (output) {
        json_put_value(w, "output", output);
        write_words(w, message->tool_name, output);
    }
    if (error) {
        json_put_value(w, "error", error);
    }
}

static void write_gate(struct json_writer *w, const struct inbox_item *item)
{
    json_put_str(w, "gateId", item->id);
    json_put_str(w, "toolName", item->tool_name);
    write_input(w, item->body);
    json_put_str(w, "title", item->title);
    if (item->preview.n) {
        json_put_str(w, "previewKind", item->preview_kind);
        json_put_str(w, "preview", item->preview);
    }
    inbox_put_view(w, item, false);
}

static void write_waiting(struct json_writer *w, const struct inbox_item *item)
{
    json_put_str(w, "itemId", item->id);
    json_put_text(w, "kind", inbox_kind_name(item->kind));
    json_put_str(w, "title", item->title);
}

static void write_error(struct json_writer *w, struct json_object *data, bool recoverable)
{
    char at[TIMEFMT_SIZE];
    int64_t until = 0;

    json_put_str(w, "code", json_str(json_find(data, "code")));
    json_put_str(w, "message", json_str(json_find(data, "message")));
    json_put_bool(w, "recoverable", recoverable);
    if (json_get_i64(data, "until", &until, NULL) > 0) {
        timefmt_rfc3339(until, at);
        json_put_text(w, "until", at);
    }
}

/* Nothing, when it is no object: then the row is not as it was recorded. */
static void write_members(struct json_writer *w, struct json_object *data)
{
    struct json_object_iterator at, end;

    if (!json_object_is_type(data, json_type_object))
        return;
    at = json_object_iter_begin(data);
    end = json_object_iter_end(data);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        json_put_value(w, json_object_iter_peek_name(&at), json_object_iter_peek_value(&at));
    }
}

/* What could not be shown is still asked about, with what is known of it. */
static void write_request(struct json_writer *w, const struct inbox_item *item)
{
    AUTO_JSON details = NULL;

    inbox_put_view(w, item, false);
    if (item->details.n && json_parse(item->details, &details, NULL) == 0) {
        json_object_object_del(details, "facts");
        write_members(w, details);
        return;
    }
    json_put_str(w, "request_id", item->id);
    write_input(w, item->body);
    json_put_str(w, "reason", item->preview);
}

static void write_body(struct json_writer *w, const struct run_record *run,
                       const struct run_event_row *row, const struct message *message,
                       const struct inbox_item *item, struct json_object *content,
                       struct json_object *data)
{
    switch (row->event.type) {
    case RUN_EV_START:
        json_put_str(w, "model", run->model_id);
        json_put_str(w, "agentId", json_str(json_find(data, "agent")));
        json_put_text(w, "mode", row->event.bits & RUN_WIGGUM ? "wiggum" : "structured");
        break;
    case RUN_EV_MUSING:
        write_text(w, content, "thinking");
        break;
    case RUN_EV_SAID:
        write_text(w, content, "text");
        json_put_bool(w, "isPartial", false);
        break;
    case RUN_EV_CALL:
        if (message)
            write_call(w, message, content);
        break;
    case RUN_EV_SETTLED:
        if (message)
            write_result(w, message, content);
        break;
    case RUN_EV_GATE:
        if (item && item->kind == INBOX_MEMORY)
            write_request(w, item);
        else if (item)
            write_gate(w, item);
        break;
    case RUN_EV_WAITING:
    case RUN_EV_ASKED:
        if (item)
            write_waiting(w, item);
        break;
    case RUN_EV_ACTED:
    case RUN_EV_DENIED:
        if (item)
            write_waiting(w, item);
        else
            write_members(w, data);
        break;
    case RUN_EV_THOUGHT:
    case RUN_EV_CHECKED:
    case RUN_EV_GIVE_UP:
        write_error(w, data, row->event.bits & RUN_LATER);
        break;
    case RUN_EV_DONE:
        json_put_str(w, "stopReason", json_str(json_find(data, "stopReason")));
        json_put_value(w, "iterations", json_find(data, "iterations"));
        if (content)
            json_put_str(w, "result", json_str(json_find(content, "text")));
        break;
    case RUN_EV_NOTE:
        write_text(w, data, "text");
        break;
    default: /* iteration */
        write_members(w, data);
        break;
    }
}

/* What every event begins with. */
static void begin(struct json_writer *w, const char *type, int64_t seq,
                  const struct run_record *run, struct str thread_id, int64_t when)
{
    char at[TIMEFMT_SIZE];

    timefmt_rfc3339(when, at);
    json_write_object_begin(w);
    json_put_text(w, "type", type);
    json_put_i64(w, "seq", seq);
    json_put_str(w, "runId", run->run_key);
    json_put_str(w, "threadId", thread_id);
    json_put_text(w, "at", at);
}

static int finish(struct json_writer *w, const struct buf *out, struct err *err)
{
    json_write_object_end(w);
    if (json_write_end(w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the event is longer than %zu bytes", out->max);
    return 0;
}

bool run_public_has_before(const struct run_event_row *row)
{
    return row->event.type == RUN_EV_SETTLED && row->seq && row->data.n;
}

int run_public_before(struct buf *out, const struct run_record *run, struct str thread_id,
                      const struct run_event_row *row, struct err *err)
{
    struct json_writer w = JSON_WRITER(out);
    AUTO_JSON data = NULL;

    if (json_parse(row->data, &data, err) < 0)
        return -1;
    begin(&w, "memory_edit_complete", row->seq - 1, run, thread_id, row->at);
    write_members(&w, data);
    return finish(&w, out, err);
}

int run_public_write(struct buf *out, const struct run_record *run, struct str thread_id,
                     const struct run_event_row *row, const struct message *message,
                     const struct inbox_item *item, struct err *err)
{
    struct json_writer w = JSON_WRITER(out);
    AUTO_JSON content = NULL;
    AUTO_JSON data = NULL;

    if (message && json_parse(message->content, &content, err) < 0)
        return -1;
    if (row->data.n && json_parse(row->data, &data, err) < 0)
        return -1;
    begin(&w, run_public_type(&row->event, item), row->seq, run, thread_id, row->at);
    write_body(&w, run, row, message, item, content, data);
    return finish(&w, out, err);
}

bool run_is_followed(const struct run *run, const char *type)
{
    for (struct run_listener *at = run->runner->listeners; at; at = at->next) {
        if (!at->wants || at->wants(at, run->thread.id, run->row.run_key, type))
            return true;
    }
    return false;
}

void run_publish(struct runner *runner, const struct run_public *event)
{
    struct run_listener *next;

    for (struct run_listener *listener = runner->listeners; listener; listener = next) {
        next = listener->next;
        listener->event(listener, event);
    }
}
