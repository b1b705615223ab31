/* Selected events become rows.
 *
 * Called by the engine for every event, inside a unit. An event from outside brings its content
 * (run->unit.said); what the program selects itself gets it here: a gate its inbox item, an act its
 * entry in the ledger, a settlement its result. Then the row is chained to those before it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json_put.h"
#include "base/log.h"
#include "run/content.h"
#include "run/run_int.h"
#include "run/seal.h"

/* What the row will refer to, and room for it while it is made. */
struct making {
    struct run_said said;
    struct message message;
    struct inbox_item item;
    struct buf data;
    bool hidden; /* not for clients */
    bool twice;  /* its data is told before it, as an event of its own: run_public_before() */
};

void run_new_id(const struct run *run, char ret_id[SHA256_TEXT_SIZE])
{
    AUTO_BUF text = BUF_INIT(1024);

    buf_add_text(&text, "id|v1|");
    buf_add_str(&text, run->row.run_key);
    buf_add_char(&text, '|');
    buf_add_i64(&text, run->rows + 1);
    sha256_text(buf_str(&text), ret_id);
}

void run_message_init(struct run *run, struct message *message, enum message_kind kind)
{
    char *id = arena_alloc(&run->scratch, SHA256_TEXT_SIZE, 1);

    run_new_id(run, id);
    *message = (struct message){ .id = str_from(id),
                                 .agent_n = run->agent.n,
                                 .thread_n = run->thread.n,
                                 .run_n = run->row.n,
                                 .kind = kind,
                                 .created_at = run->unit.now };
}

int run_message_append(struct run *run, struct message *message, struct err *err)
{
    struct run_appended *appended;

    if (message_append(run->runner->config.agent_domain, run->runner->config.change, &run->thread,
                       message, err) < 0)
        return -1;
    prompt_cache_add(run, message);
    appended = ARENA_NEW(&run->scratch, struct run_appended);
    *appended = (struct run_appended){ run->unit.appended, *message };
    run->unit.appended = appended;
    return 0;
}

/* Mostly the unit has just written what its events refer to. */
static int refer_to_message(struct run *run, int64_t n, struct making *making, struct err *err)
{
    const struct run_appended *appended = run->unit.appended;

    making->said.ref = n;
    making->said.message = &making->message;
    while (appended && appended->message.n != n)
        appended = appended->next;
    if (!appended)
        return message_get_n(run->runner->config.agent_domain, n, &run->scratch, &making->message,
                             err);
    making->message = appended->message;
    return 0;
}

static struct run_call *call_of(struct run *run, const struct bp_event *event)
{
    return event->key ? run_call_get(run, event->key) : NULL;
}

/* ---- what the program selects itself ---- */

static int on_gate(struct run *run, struct run_call *call, struct making *making, struct err *err)
{
    if (call->by_person) {
        making->said.ref = call->inbox_n;
        making->hidden = true;
        return inbox_get_n(run->runner->config.agent_domain, call->inbox_n, &call->arena,
                           &making->item, err) < 0
                   ? -1
                   : (making->said.item = &making->item, 0);
    }
    if (run_gate_open(call, &making->item, err) < 0)
        return -1;
    making->said.ref = making->item.n;
    making->said.item = &making->item;
    return 0;
}

static int on_waiting(struct run *run, struct run_call *call, struct making *making,
                      struct err *err)
{
    making->hidden = call->by_person;
    making->said.ref = call->inbox_n;
    if (inbox_get_n(run->runner->config.agent_domain, call->inbox_n, &call->arena, &making->item,
                    err) < 0)
        return -1;
    making->said.item = &making->item;
    return 0;
}

static int on_act(struct run *run, struct run_call *call, struct making *making, struct err *err)
{
    if (run_call_prepare(call, err) < 0)
        return -1;
    if (call->attempted && operation_attempt(run->runner->config.agent_domain, call->operation_n,
                                             run->unit.now, err) < 0)
        return -1;
    call->acting = call->attempted = true;
    run->row.tool_calls++;
    run->unit.out->acts |= UINT64_C(1) << call->key;
    making->said.ref = call->operation_n;
    return 0;
}

static void on_denied(struct run_call *call, struct making *making)
{
    struct err why = ERR_INIT;
    enum err_code code = call->no_code ? call->no_code : ERR_REJECTED;

    if (!run_call_is_memory(call))
        return;
    err_set(&why, code, "%.*s",
            STR_ARG(call->no_message.n ? call->no_message : str_from(err_sentence(code))));
    run_memory_complete(call, &why, &making->data);
    making->said.data = buf_str(&making->data);
}

/* Who asked for a change of memory hears of its end, also when the run ends first: no event says so
 * but the call's settlement, which tells both. */
static void tell_withdrawn(struct run_call *call, struct making *making)
{
    struct err why = ERR_INIT;

    run_call_why_not(call, &why);
    run_memory_complete(call, &why, &making->data);
    making->said.data = buf_str(&making->data);
    making->twice = true;
}

static int on_settled(struct run *run, struct run_call *call, struct making *making,
                      struct err *err)
{
    enum inbox_kind kind = 0;
    int r = run_withdraw(call, &kind, err);

    if (r < 0)
        return -1;
    if (r > 0 && kind == INBOX_MEMORY)
        tell_withdrawn(call, making);
    if (!call->result_n)
        return run_call_refuse(call, &making->said, &making->message, err);
    return refer_to_message(run, call->result_n, making, err);
}

static void write_reason(const struct run *run, struct making *making)
{
    struct json_writer w = JSON_WRITER(&making->data);

    json_write_object_begin(&w);
    json_put_str(&w, "code", run->row.error_code);
    json_put_str(&w, "message", run->row.error_message);
    json_write_object_end(&w);
    making->said.data = buf_str(&making->data);
}

static void on_give_up(struct run *run, const struct bp_event *event, struct making *making)
{
    enum err_code code = ERR_BUDGET_EXCEEDED;
    const char *message = "the run has used up its tokens or its time";
    bool told = str_is(run->row.error_code, err_name(code)); /* which of the day's budgets */

    if (told)
        message = arena_copy(&run->arena, run->row.error_message.p, run->row.error_message.n);
    if (event->bits & RUN_WHY_KILLED) {
        code = ERR_KILL_SWITCH_ACTIVE;
        message = err_sentence(code);
    } else if (event->bits & RUN_WHY_ITERATIONS) {
        code = ERR_ITERATIONS_EXCEEDED;
        message = err_sentence(code);
    } else if (event->bits & RUN_WHY_TOOL_CALLS) {
        message = "the run has made as many tool calls as it may";
    }
    if (!run->decreed) {
        run->row.error_code = str_from(err_name(code));
        run->row.error_message = str_from(message);
    }
    write_reason(run, making);
}

static const char *stop_reason(const struct run *run)
{
    if (run->cancelled && !run->decreed)
        return "cancelled";
    return run->row.error_code.n ? "error" : "end_turn";
}

static int on_done(struct run *run, struct making *making, struct err *err)
{
    const char *reason = stop_reason(run);
    struct json_writer w = JSON_WRITER(&making->data);
    char seal[SHA256_TEXT_SIZE];

    run->row.stop_reason = str_from(reason);
    run->row.status = strcmp(reason, "cancelled") == 0 ? RUN_CANCELLED
                      : run->row.error_code.n          ? RUN_STATUS_FAILED
                                                       : RUN_DONE;
    run->row.result_n = run->last_said_n;
    run->row.ended_at = run->unit.now;
    run->row.wait_kind = STR_NONE;
    run->row.wait_until = 0;
    run->ended = run->dirty = true;
    run->unit.out->ended = true;
    run->row.active_ms += run->unit.now - run->active_since;
    run->active_since = run->unit.now;
    run_seal(&run->row, seal);
    json_write_object_begin(&w);
    json_put_text(&w, "stopReason", reason);
    json_put_i64(&w, "iterations", run->row.iterations);
    json_put_text(&w, "seal", seal);
    json_write_object_end(&w);
    making->said.data = buf_str(&making->data);
    return run->last_said_n ? refer_to_message(run, run->last_said_n, making, err) : 0;
}

static void on_observe(struct run *run, const struct bp_event *event, struct making *making)
{
    struct json_writer w = JSON_WRITER(&making->data);

    run->row.iterations++;
    if (!(event->bits & RUN_WIGGUM))
        return;
    json_write_object_begin(&w);
    json_put_i64(&w, "count", run->row.iterations);
    json_write_object_end(&w);
    making->said.data = buf_str(&making->data);
}

static int make_own(struct run *run, const struct bp_event *event, struct making *making,
                    struct err *err)
{
    struct run_call *call = call_of(run, event);

    switch (event->type) {
    case RUN_EV_THINK:
        run->unit.out->think = true;
        return 0;
    case RUN_EV_CHECK:
        run->unit.out->check = true;
        return 0;
    case RUN_EV_GATE:
        return on_gate(run, call, making, err);
    case RUN_EV_WAITING:
        return on_waiting(run, call, making, err);
    case RUN_EV_ACT:
        return on_act(run, call, making, err);
    case RUN_EV_DENIED:
        on_denied(call, making);
        return 0;
    case RUN_EV_SETTLED:
        return on_settled(run, call, making, err);
    case RUN_EV_OBSERVE:
        on_observe(run, event, making);
        return 0;
    case RUN_EV_GIVE_UP:
        on_give_up(run, event, making);
        return 0;
    case RUN_EV_DONE:
        return on_done(run, making, err);
    default:
        return 0;
    }
}

/* ---- the row ---- */

static struct run_out_event *let_out(struct run *run, int64_t seq, const char *type)
{
    struct run_out_event *event;

    if (!run_is_followed(run, type))
        return NULL;
    event = NEW(struct run_out_event);
    *event = (struct run_out_event){ .seq = seq, .type = type, .json = BUF_INIT(LIMIT_JSON_BYTES) };
    *run->unit.out->last = event;
    run->unit.out->last = &event->next;
    return event;
}

static void hand_out(struct run *run, const struct run_event_row *row, const struct making *making)
{
    struct run_out_event *event;
    struct err err = ERR_INIT;
    int r = 0;

    if (!row->seq)
        return;
    if (making->twice && (event = let_out(run, row->seq - 1, "memory_edit_complete")))
        r = run_public_before(&event->json, &run->row, run->thread.id, row, &err);
    event = let_out(run, row->seq, run_public_type(&row->event, making->said.item));
    if (r == 0 && event)
        r = run_public_write(&event->json, &run->row, run->thread.id, row, making->said.message,
                             making->said.item, &err);
    if (r < 0)
        LOG_ERROR("run", "an event can't be told", LOG_STR("run", run->row.run_key), LOG_ERR(&err));
}

/* Several events of a unit refer to the same message. */
static void digest_content(struct run *run, const struct bp_event *event,
                           const struct run_said *said, uint8_t ret_digest[SHA256_BYTES])
{
    int64_t n = said->message ? said->message->n : 0;

    if (n && n == run->unit.digested_n) {
        memcpy(ret_digest, run->unit.digest, SHA256_BYTES);
        return;
    }
    run_content_digest(event, said->message, said->item, ret_digest);
    if (!n)
        return;
    run->unit.digested_n = n;
    memcpy(run->unit.digest, ret_digest, SHA256_BYTES);
}

static int append(struct run *run, const struct bp_event *event, struct making *making,
                  struct err *err)
{
    struct run_event_row row = { .run_n = run->row.n,
                                 .thread_n = run->thread.n,
                                 .event = *event,
                                 .ref = making->said.ref,
                                 .data = making->said.data,
                                 .at = run->unit.now };
    struct run_link link;

    if (!making->hidden && run_event_is_public(event, call_of(run, event)))
        row.seq = run->thread.last_seq += making->twice ? 2 : 1;
    link = (struct run_link){ .type = event->type,
                              .key = event->key,
                              .bits = event->bits,
                              .seq = row.seq,
                              .data = row.data,
                              .at = row.at };
    digest_content(run, event, &making->said, link.content);
    run_chain_next(run->chain, &link, row.chain);
    if (run_event_append(run->runner->config.agent_domain, &row, NULL, err) < 0)
        return -1;
    memcpy(run->chain, row.chain, sizeof(run->chain));
    run->rows++;
    run->unit.rows++;
    hand_out(run, &row, making);
    return 0;
}

void run_record_selected(void *ctx, const struct bp_event *event, const struct bp_place *by)
{
    struct run *run = ctx;
    struct making making = { .data = BUF_INIT(LIMIT_JSON_BYTES) };
    int r = 0;

    if (run->unit.failed)
        return;
    if (!by->thread) {
        making.said = run->unit.said;
        run->unit.said = (struct run_said){ 0 };
    } else {
        r = make_own(run, event, &making, &run->unit.err);
    }
    if (r < 0 || append(run, event, &making, &run->unit.err) < 0)
        run->unit.failed = true;
    if (event->key)
        run_call_follow_wait(call_of(run, event), event);
    if (event->type == RUN_EV_SETTLED)
        run_call_release(call_of(run, event));
    buf_release(&making.data);
}
