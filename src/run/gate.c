/* Before a person: judging a call, what is shown of it, and the inbox item.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/json_put.h"
#include "memory/edit.h"
#include "run/run_int.h"

#define APPROVAL_MS ((int64_t)7 * 24 * 60 * 60 * 1000)

/* ---- judging ---- */

static int look_for_grant(struct run_call *call, struct err *err)
{
    struct run *run = call->run;
    struct approval_grant grant;
    int r = grant_find(run->runner->config.agent_domain, run->agent.n, run->row.n, call->name,
                       call->verdict.pattern, call->taint, &call->arena, &grant, err);

    if (r > 0) {
        call->verdict.attributes &= ~(uint32_t)TOOL_RISKY;
        call->granted_by = grant.inbox_id;
        call->grant_id = grant.id;
    }
    return r < 0 ? -1 : 0;
}

#define NEVER (TOOL_REFUSED | TOOL_DANGEROUS | TOOL_KILLED)

/* Looking at what it would do has failed: the model is told, and no person is asked to approve
 * what can't be done. */
static void refuse_failed(struct run_call *call)
{
    call->verdict.attributes |= TOOL_REFUSED;
    call->verdict.code = call->fail_code;
    call->verdict.message = call->fail_message.p;
}

int run_call_judge(struct run_call *call, struct err *err)
{
    struct tool_call tool;

    run_call_tool(call, &tool);
    tool_judge(call->run->runner->config.tools, &tool, &call->arena, &call->verdict);
    memcpy(call->operation_id, call->verdict.operation_id, sizeof(call->operation_id));
    if (call->fail_code && !(call->verdict.attributes & NEVER))
        refuse_failed(call);
    call->no_code = call->verdict.code;
    call->no_message = str_from(call->verdict.message);
    call->granted_by = call->grant_id = STR_NONE;
    if (!(call->verdict.attributes & TOOL_RISKY) || !call->verdict.pattern.n)
        return 0;
    return look_for_grant(call, err);
}

bool run_call_needs_preview(const struct run_call *call)
{
    uint32_t attributes = call->verdict.attributes;
    bool cooking = bp_record(call->run->engine, 0) & RUN_WIGGUM;

    if (attributes & NEVER)
        return false;
    return attributes & TOOL_RISKY && !(cooking && attributes & TOOL_WAIVABLE);
}

/* The directory, the walls, the files and what was granted are those of now, not of the answer that
 * made the call: a call before it may have moved, and a grant may have been taken back. */
int run_call_check_grant(struct run_call *call, struct err *err)
{
    uint32_t asked = bp_record(call->run->engine, call->key) & RUN_RISKY;

    if (asked || !call->verdict.contract)
        return 1;
    if (run_call_judge(call, err) < 0)
        return -1;
    return !(call->verdict.attributes & TOOL_RISKY);
}

bool run_call_is_granted(const struct run_call *call)
{
    return call->granted_by.n && !(bp_record(call->run->engine, call->key) & RUN_RISKY);
}

/* ---- showing ---- */

struct showing {
    struct run_call *call;
    void (*done)(struct run_call *call);
};

static void shown(void *arg, const struct tool_preview *preview)
{
    struct showing *showing = arg;
    struct run_call *call = showing->call;
    char text[ERR_TEXT_MAX];

    call->job = NULL;
    run_hand_rest(call);
    call->fail_code = preview->err.code;
    if (preview->err.code)
        call->fail_message =
            arena_str(&call->arena, str_from(err_format(&preview->err, text, sizeof(text))));
    call->title = arena_str(&call->arena, preview->title);
    memcpy(call->digest, preview->digest, sizeof(call->digest));
    call->preview_kind = arena_str(&call->arena, preview->kind);
    call->preview = arena_str(&call->arena, preview->text);
    call->details = arena_str(&call->arena, preview->details);
    showing->done(call);
    free(showing);
}

void run_call_preview(struct run_call *call, void (*done)(struct run_call *call))
{
    struct run *run = call->run;
    struct showing *showing = NEW(struct showing);
    struct tool_preview failed = { .err = ERR_INIT, .title = call->name };
    struct tool_call tool;
    struct hand *hand;

    *showing = (struct showing){ .call = call, .done = done };
    run_call_tool(call, &tool);
    if (run_hand_take(call, &hand, &failed.err) < 0 ||
        tool_preview(run->runner->config.tools, &tool, hand, shown, showing, &call->job,
                     &failed.err) < 0)
        shown(showing, &failed);
}

/* ---- asking ---- */

int run_item_add(struct run *run, struct run_call *call, enum inbox_kind kind,
                 struct inbox_item *item, struct err *err)
{
    int64_t wait = run->runner->config.approval_ms;

    run_new_id(run, call->inbox_id);
    item->id = str_from(call->inbox_id);
    item->kind = kind;
    item->state = INBOX_PENDING;
    item->agent_n = run->agent.n;
    item->thread_n = run->thread.n;
    item->run_n = run->row.n;
    item->call_key = call->key;
    item->tool_name = call->name;
    item->created_at = run->unit.now;
    item->expires_at = run->unit.now + (wait ? wait : APPROVAL_MS);
    if (inbox_add(run->runner->config.agent_domain, run->runner->config.change, item, err) < 0)
        return -1;
    call->inbox_n = item->n;
    runner_wait_until(run->runner, item->expires_at);
    return 0;
}

/* Beside what the tool shows, a change of memory names itself and its call: clients answer with it.
 * The tool's object is taken over as it was written: parsing hundreds of kilobytes to add two
 * members would cost more than the rest of the question. */
static struct str with_ids(struct run_call *call)
{
    struct str details = call->details;
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&out);

    if (details.n < 2 || details.p[0] != '{')
        return STR_NONE;
    json_write_object_begin(&w);
    json_put_text(&w, "request_id", call->inbox_id);
    json_put_str(&w, "tool_call_id", call->call_id);
    if (details.p[1] != '}')
        buf_add_char(&out, ',');
    buf_add_str(&out, str_skip(details, 1));
    return out.full ? STR_NONE : arena_str(&call->arena, buf_str(&out));
}

int run_gate_open(struct run_call *call, struct inbox_item *item, struct err *err)
{
    bool shown = call->preview_kind.n > 0; /* not when the mode changed while it waited its turn */
    enum inbox_kind kind = call->verdict.contract ? call->verdict.contract->inbox_kind : INBOX_TOOL;

    run_new_id(call->run, call->inbox_id);
    *item = (struct inbox_item){ .title = call->title.n ? call->title : call->name,
                                 .body = call->arguments,
                                 .preview_kind = shown ? call->preview_kind : STR("text"),
                                 .preview = shown ? call->preview : call->arguments,
                                 .digest = str_from(call->digest),
                                 .taint = call->taint,
                                 .pattern = call->verdict.pattern,
                                 .details = kind == INBOX_MEMORY ? with_ids(call) : call->details };
    return run_item_add(call->run, call, kind, item, err);
}

/* ---- changes of memory ---- */

bool run_call_is_memory(const struct run_call *call)
{
    return call->inbox_n && call->verdict.contract &&
           call->verdict.contract->inbox_kind == INBOX_MEMORY;
}

/* A model may spell a path as it likes: clients are told the file. */
static struct str path_of(const struct run_call *call, struct json_object *arguments,
                          struct arena *arena)
{
    return memory_spelling(call->run->runner->config.files, &call->run->agent,
                           json_str(json_find(arguments, "path")),
                           str_is(json_str(json_find(arguments, "operation")), "delete"), arena);
}

void run_memory_complete(const struct run_call *call, const struct err *why, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_JSON arguments = NULL;
    char text[ERR_TEXT_MAX];

    json_parse(call->arguments, &arguments, NULL);
    json_write_object_begin(&w);
    json_put_text(&w, "request_id", call->inbox_id);
    json_put_bool(&w, "success", !why);
    json_put_str(&w, "path", path_of(call, arguments, &arena));
    if (why) {
        json_put_object(&w, "error");
        json_put_text(&w, "code", err_name(why->code));
        json_put_text(&w, "message", err_format(why, text, sizeof(text)));
        json_write_object_end(&w);
    }
    json_write_object_end(&w);
}
