/* The log of a run, told event by event.
 *
 * The program is run along: before a row is forced through it, it says who requests that event.
 * What a row refers to (a message, an inbox item, an entry of the ledger) is read along. How long
 * something took is the time between the event that began it and the one that ended it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/trace.h"

#include <json-c/json.h>
#include <stdio.h>

#include "agent/agent.h"
#include "agent/inbox.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "bp/engine.h"
#include "bp/explain.h"
#include "desk/desk.h"
#include "memory/message.h"
#include "run/content.h"
#include "run/log_int.h"
#include "run/program.h"
#include "run/resume.h"
#include "run/rules.h"
#include "run/run_int.h"

#define SHORT_BYTES  160
#define EVENT_COLUMN 34

/* A row and all that belongs to it. */
struct told {
    const struct run_event_row *row;
    struct bp_place by; /* thread NULL: from outside, or not known */
    int64_t took_ms;    /* -1: it ends nothing */
    int64_t waited_ms;  /* besides, for a person; of the end */
    struct message *message;
    struct inbox_item *item;
    struct operation *operation;
    struct json_object *content, *data; /* of the message, and of the row; may be NULL */
};

struct tracing {
    struct domain *domain;
    struct run_rulebook rules;
    const struct bp_program *program; /* that the rows at hand were recorded with */
    struct run_record run;
    int64_t waited_ms;        /* for a person */
    struct bp_engine *engine; /* NULL: the log is another program's */
    struct run_past past;
    int64_t asked_at, began_at[RUN_CALLS_MAX + 1];
    struct arena arena; /* of a row */
    struct buf out;
    bool json, failed;
    bool known; /* its rules */
    run_line_fn *line;
    void *arg;
    struct err *err;
};

/* ---- reading along ---- */

static int refer(struct tracing *t, struct told *told)
{
    const struct run_event_row *row = told->row;
    enum run_content kind = row->ref ? run_content_kind(&row->event) : RUN_CONTENT_NONE;

    if (kind == RUN_CONTENT_MESSAGE) {
        told->message = ARENA_NEW(&t->arena, struct message);
        if (message_get_n(t->domain, row->ref, &t->arena, told->message, t->err) < 0)
            return -1;
        if (json_parse(told->message->content, &told->content, NULL) < 0)
            told->content = NULL;
    } else if (kind == RUN_CONTENT_INBOX) {
        told->item = ARENA_NEW(&t->arena, struct inbox_item);
        if (inbox_get_n(t->domain, row->ref, &t->arena, told->item, t->err) < 0)
            return -1;
    } else if (kind == RUN_CONTENT_OPERATION) {
        told->operation = ARENA_NEW(&t->arena, struct operation);
        if (operation_load(t->domain, row->ref, &t->arena, told->operation, t->err) <= 0)
            told->operation = NULL;
    }
    if (!row->data.n || json_parse(row->data, &told->data, NULL) < 0)
        told->data = NULL;
    return 0;
}

/* An engine of the rules that hold from this row on; none when nobody knows them any more. */
static void take_rules(struct tracing *t, const struct run_event_row *row)
{
    struct run_change change;
    bool had = t->engine || row->event.type == RUN_EV_START;

    bp_free(t->engine);
    t->engine = NULL;
    if (!had || run_change_read(row->data, &change, NULL) < 0 ||
        run_rulebook_find(&t->rules, change.hash, &t->program, NULL) <= 0 ||
        run_engine(t->program, t->run.settings, NULL, NULL, &t->engine, NULL) < 0)
        return;
    if (row->event.type != RUN_EV_POLICY ||
        run_change_follow(t->engine, &t->past, &change, NULL) == 0)
        return;
    bp_free(t->engine);
    t->engine = NULL;
}

static void run_along(struct tracing *t, struct told *told)
{
    struct bp_event next;
    struct bp_place by = { .thread = NULL };

    if (told->row->event.type == RUN_EV_START || told->row->event.type == RUN_EV_POLICY)
        take_rules(t, told->row);
    run_past_add(&t->past, &told->row->event);
    if (!t->engine || told->row->event.type == RUN_EV_POLICY)
        return;
    if (bp_next(t->engine, &next, &by))
        told->by = by;
    if (bp_force(t->engine, &told->row->event, NULL) < 0) {
        told->by = (struct bp_place){ .thread = NULL };
        bp_free(t->engine);
        t->engine = NULL;
    }
}

static int64_t *clock_of(struct tracing *t, const struct bp_event *event)
{
    return event->key && event->key <= RUN_CALLS_MAX ? &t->began_at[event->key] : &t->asked_at;
}

static void time_it(struct tracing *t, struct told *told)
{
    const struct bp_event *event = &told->row->event;
    int64_t *began = clock_of(t, event);

    told->took_ms = -1;
    switch (event->type) {
    case RUN_EV_THINK:
    case RUN_EV_CHECK:
    case RUN_EV_ACT:
    case RUN_EV_WAITING:
        *began = told->row->at;
        break;
    case RUN_EV_THOUGHT:
    case RUN_EV_CHECKED:
    case RUN_EV_ACTED:
    case RUN_EV_ANSWER:
        told->took_ms = *began ? told->row->at - *began : -1;
        break;
    case RUN_EV_DONE:
        told->took_ms = t->run.active_ms;
        told->waited_ms = t->waited_ms;
        break;
    default:
        break;
    }
}

/* ---- for people ---- */

/* In one line, without anything that a terminal might act on, and not too long. */
static void add_short(struct buf *out, struct str text)
{
    struct str rest = utf8_truncate(text, SHORT_BYTES);
    bool cut = rest.n < text.n, space = false;
    uint32_t code;

    while (rest.n) {
        if (utf8_decode(&rest, &code) < 0)
            code = 0xfffd;
        if (code == ' ' || utf8_oddity_of(code) != UTF8_PLAIN) {
            space = true;
            continue;
        }
        if (space)
            buf_add_text(out, " ");
        space = false;
        buf_add_utf8(out, code);
    }
    if (cut)
        buf_add_text(out, "…");
}

static void add_value(struct buf *out, struct json_object *value)
{
    if (json_object_is_type(value, json_type_string))
        add_short(out, json_str(value));
    else if (value)
        add_short(out, str_from(json_object_to_json_string_ext(
                           value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)));
}

static void add_error(struct buf *out, struct json_object *error)
{
    add_short(out, json_str(json_find(error, "code")));
    buf_add_text(out, ": ");
    add_short(out, json_str(json_find(error, "message")));
}

/* As a person reads it, where the tool has words for that. */
static void add_answer(struct buf *out, struct str tool, struct json_object *output)
{
    AUTO_BUF words = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_BUF line = BUF_INIT(LIMIT_JSON_BYTES);
    struct str text;

    if (!desk_say_answer(tool, output, &words)) {
        add_value(out, output);
        return;
    }
    text = str_trim(buf_str(&words));
    for (size_t i = 0; i < text.n; i++)
        buf_add(&line, text.p[i] == '\n' ? "; " : &text.p[i], text.p[i] == '\n' ? 2 : 1);
    add_short(out, buf_str(&line));
}

static void tell_message(struct buf *out, const struct told *told)
{
    const struct message *message = told->message;
    bool musing = told->row->event.type == RUN_EV_MUSING;

    if (message->tool_name.n)
        buf_printf(out, "%.*s ", STR_ARG(message->tool_name));
    if (message->kind == MESSAGE_ACTION)
        add_value(out, json_find(told->content, "arguments"));
    else if (json_find(told->content, "error"))
        add_error(out, json_find(told->content, "error"));
    else if (json_find(told->content, "output"))
        add_answer(out, message->tool_name, json_find(told->content, "output"));
    else
        add_value(out, json_find(told->content, musing ? "thinking" : "text"));
}

static bool is_decision(const struct bp_event *event)
{
    return event->type == RUN_EV_ANSWER || event->type == RUN_EV_EDIT || event->type == RUN_EV_TOLD;
}

static void tell_item(struct buf *out, const struct told *told)
{
    const struct inbox_item *item = told->item;

    if (!is_decision(&told->row->event)) {
        add_short(out, item->title);
        buf_add_text(out, " ");
        add_short(out, item->body);
        return;
    }
    buf_printf(out, "%s by ", inbox_state_name(item->state));
    add_short(out, item->decided_by);
    if (item->reason.n) {
        buf_add_text(out, ": ");
        add_short(out, item->reason);
    }
    if (item->answer.n) {
        buf_add_text(out, " ");
        add_short(out, item->answer);
    }
}

static void tell_what(struct buf *out, const struct told *told)
{
    size_t before = out->n;

    if (told->message)
        tell_message(out, told);
    else if (told->item)
        tell_item(out, told);
    else if (told->operation)
        buf_printf(out, "%.*s, %s", STR_ARG(told->operation->tool_name),
                   operation_status_name(told->operation->status));
    if (told->data && told->row->event.type != RUN_EV_START) {
        buf_add_text(out, out->n > before ? " " : "");
        add_value(out, told->data);
    }
}

static void add_span(struct buf *out, int64_t ms)
{
    if (ms < 1000)
        buf_printf(out, "%lld ms", (long long)ms);
    else if (ms < 120000)
        buf_printf(out, "%.1f s", (double)ms / 1000);
    else
        buf_printf(out, "%.1f min", (double)ms / 60000);
}

static void tell_text(struct tracing *t, const struct told *told)
{
    const struct run_event_row *row = told->row;
    AUTO_BUF event = BUF_INIT(512);
    char seq[24] = "";

    if (row->seq)
        snprintf(seq, sizeof(seq), "#%lld", (long long)row->seq);
    bp_event_text(t->program, &row->event, &event);
    buf_printf(&t->out, "%10.3f %6s  %-*s", (double)(row->at - t->run.created_at) / 1000, seq,
               EVENT_COLUMN, buf_text(&event));
    buf_add_text(&t->out, " ");
    tell_what(&t->out, told);
    if (told->took_ms >= 0) {
        buf_add_text(&t->out, " (took ");
        add_span(&t->out, told->took_ms);
        if (told->waited_ms > 0) {
            buf_add_text(&t->out, ", waited ");
            add_span(&t->out, told->waited_ms);
            buf_add_text(&t->out, " for you");
        }
        buf_add_text(&t->out, ")");
    }
    if (told->by.thread)
        buf_printf(&t->out, " [%s]", told->by.thread->name);
}

/* ---- for programs ---- */

static void write_message(struct json_writer *w, const struct told *told)
{
    const struct message *message = told->message;

    json_put_object(w, "message");
    json_put_some_str(w, "id", message->id);
    json_put_some_str(w, "kind", str_from(message_kind_name(message->kind)));
    json_put_some_str(w, "tool", message->tool_name);
    json_put_some_str(w, "callId", message->call_id);
    json_put_some_str(w, "status", message->status);
    json_put_value(w, "content", told->content);
    json_write_object_end(w);
}

static void write_item(struct json_writer *w, const struct told *told)
{
    const struct inbox_item *item = told->item;

    json_put_object(w, "item");
    json_put_some_str(w, "id", item->id);
    json_put_some_str(w, "kind", str_from(inbox_kind_name(item->kind)));
    json_put_some_str(w, "tool", item->tool_name);
    json_put_some_str(w, "title", item->title);
    json_put_some_str(w, "body", item->body);
    if (is_decision(&told->row->event)) {
        json_put_some_str(w, "state", str_from(inbox_state_name(item->state)));
        json_put_some_str(w, "decidedBy", item->decided_by);
        json_put_some_str(w, "reason", item->reason);
        json_put_some_str(w, "answer", item->answer);
    }
    json_write_object_end(w);
}

static void write_operation(struct json_writer *w, const struct operation *operation)
{
    json_put_object(w, "operation");
    json_put_some_str(w, "id", operation->operation_id);
    json_put_some_str(w, "tool", operation->tool_name);
    json_put_some_str(w, "status", str_from(operation_status_name(operation->status)));
    json_put_i64(w, "attempts", operation->attempts);
    json_write_object_end(w);
}

static void write_attributes(struct json_writer *w, const struct bp_program *program, uint32_t bits)
{
    json_put_array(w, "attributes");
    for (unsigned i = 0; i < program->bit_count; i++)
        if (bits >> i & 1)
            json_write_text(w, program->bits[i]);
    json_write_array_end(w);
}

static void write_by(struct json_writer *w, const struct bp_place *by)
{
    AUTO_JSON place = by->thread ? bp_place_json(by) : NULL;

    json_put_value(w, "by", place);
}

static void tell_json(struct tracing *t, const struct told *told)
{
    const struct run_event_row *row = told->row;
    struct json_writer w = JSON_WRITER(&t->out);

    json_write_object_begin(&w);
    json_put_i64(&w, "row", row->n);
    if (row->seq)
        json_put_i64(&w, "seq", row->seq);
    json_put_time(&w, "at", row->at);
    json_put_some_str(&w, "type", str_from(t->program->types[row->event.type].name));
    if (row->event.key)
        json_put_i64(&w, "key", row->event.key);
    write_attributes(&w, t->program, row->event.bits);
    write_by(&w, &told->by);
    if (told->took_ms >= 0)
        json_put_i64(&w, "tookMs", told->took_ms);
    if (told->waited_ms > 0)
        json_put_i64(&w, "waitedMs", told->waited_ms);
    if (told->message)
        write_message(&w, told);
    if (told->item)
        write_item(&w, told);
    if (told->operation)
        write_operation(&w, told->operation);
    if (told->data) {
        json_put_value(&w, "data", told->data);
    }
    json_write_object_end(&w);
}

/* ---- the whole ---- */

static void put_line(struct tracing *t)
{
    t->line(t->arg, buf_str(&t->out));
    buf_clear(&t->out);
}

static bool tell_row(void *arg, const struct run_event_row *row)
{
    struct tracing *t = arg;
    struct told told = { .row = row };

    if (!row->event.type || row->event.type >= t->program->type_count) {
        err_set(t->err, ERR_INTEGRITY_FAILED, "row %lld of the log: there is no event of type %u",
                (long long)row->n, row->event.type);
        t->failed = true;
        return false;
    }
    t->failed = refer(t, &told) < 0;
    if (!t->failed) {
        run_along(t, &told);
        time_it(t, &told);
        if (t->json)
            tell_json(t, &told);
        else
            tell_text(t, &told);
        put_line(t);
    }
    json_object_put(told.content);
    json_object_put(told.data);
    arena_reset(&t->arena);
    return !t->failed;
}

static void tell_run_json(struct tracing *t, const struct agent *agent)
{
    struct json_writer w = JSON_WRITER(&t->out);
    const struct run_record *run = &t->run;

    json_write_object_begin(&w);
    json_put_object(&w, "run");
    json_put_some_str(&w, "id", run->run_key);
    json_put_some_str(&w, "agent", str_from(agent->id));
    json_put_some_str(&w, "model", run->model_id);
    json_put_some_str(&w, "mode", run->mode);
    json_put_some_str(&w, "status", str_from(run_status_name(run->status)));
    json_put_some_str(&w, "stopReason", run->stop_reason);
    json_put_some_str(&w, "errorCode", run->error_code);
    json_put_time(&w, "createdAt", run->created_at);
    json_put_bool(&w, "sameProgram", t->known);
    json_write_object_end(&w);
    json_write_object_end(&w);
    put_line(t);
}

static void tell_run_text(struct tracing *t, const struct agent *agent)
{
    const struct run_record *run = &t->run;
    char at[TIMEFMT_SIZE];

    timefmt_rfc3339(run->created_at, at);
    buf_printf(&t->out, "run %.*s of %s, %s, %.*s, model %.*s: %s", STR_ARG(run->run_key),
               agent->id, at, STR_ARG(run->mode), STR_ARG(run->model_id),
               run_status_name(run->status));
    if (run->error_code.n) {
        buf_printf(&t->out, ", %.*s: ", STR_ARG(run->error_code));
        add_short(&t->out, run->error_message);
    }
    if (!t->known)
        buf_add_text(&t->out, " (recorded with other rules than this program's)");
    put_line(t);
}

static bool is_known(struct tracing *t)
{
    const struct bp_program *program;

    return t->run.program_hash.n == BP_HASH_BYTES &&
           run_rulebook_find(&t->rules, (const uint8_t *)t->run.program_hash.p, &program, NULL) > 0;
}

static int trace(struct tracing *t, int64_t run_n, struct arena *kept)
{
    struct agent agent;
    struct str pending;
    int found = run_load_n(t->domain, run_n, kept, &t->run, t->err);

    if (found == 0)
        return err_set(t->err, ERR_NOT_FOUND, "there is no run %lld", (long long)run_n);
    if (found < 0 || agent_get_n(t->domain, t->run.agent_n, kept, &agent, t->err) < 0 ||
        run_times(t->domain, &t->run, kept, &pending, &t->waited_ms, t->err) < 0)
        return -1;
    t->known = is_known(t);
    if (t->json)
        tell_run_json(t, &agent);
    else
        tell_run_text(t, &agent);
    if (run_events_of_run(t->domain, run_n, tell_row, t, t->err) < 0 || t->failed)
        return -1;
    return 0;
}

int run_trace(struct domain *agent_domain, int64_t run_n, const struct bp_program *program,
              bool json, run_line_fn *line, void *arg, struct err *err)
{
    AUTO_ARENA kept = ARENA_INIT;
    struct tracing t = { .domain = agent_domain,
                         .program = program,
                         .arena = ARENA_INIT,
                         .out = BUF_INIT(4 * LIMIT_JSON_BYTES),
                         .json = json,
                         .line = line,
                         .arg = arg,
                         .err = err };
    int r;

    run_rulebook_init(&t.rules, agent_domain, program, STR_NONE);
    r = trace(&t, run_n, &kept);
    bp_free(t.engine);
    run_past_release(&t.past);
    run_rulebook_release(&t.rules);
    buf_release(&t.out);
    arena_release(&t.arena);
    return r;
}
