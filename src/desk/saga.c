/* A change by an agent, made once.
 *
 * The run has written the intent into the agent domain's ledger before the handler begins. The
 * handler makes the change in a unit of the journal, and in the same unit keeps under the call's
 * operationId all that it will answer. Only when the journal has committed is the run told, which
 * then settles its ledger. Whatever ends in between, the run starts the same operation again: the
 * journal knows the id, and answers what was kept without changing anything.
 *
 *   kept = {"output":{...},"ids":[...],"tokens":[...],"version":"..."}
 *
 * version is what an approval was bound to, so that an approved call which was done already is
 * recognised although its target is another by now.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/json_put.h"
#include "desk/desk_int.h"

/* A change that is made and waits for its commit. */
struct desk_waiting {
    struct loop_effect effect;
    struct desk *desk;
    struct tool_job *job; /* NULL: nobody waits any more */
    struct str kept;      /* in the job's arena */
    bool began;           /* start() has returned */
    struct desk_waiting *next, **link;
};

void op_init(struct desk_op *op, struct desk *desk, const struct desk_tool *tool,
             const struct tool_call *call, struct json_object *args, struct arena *arena)
{
    *op = (struct desk_op){ .desk = desk,
                            .journal = desk->config.journal,
                            .tool = tool,
                            .call = call,
                            .args = args,
                            .arena = arena };
    op->now = clock_wall_ms(loop_clock(journal_loop(op->journal)));
    scope_of(call->agent, arena, &op->scope);
}

static void op_of(struct tool_job *job, struct desk_op *ret_op)
{
    const struct desk_bound *bound = tool_job_impl_arg(job);

    op_init(ret_op, bound->desk, bound->tool, tool_job_call(job), tool_job_arguments(job),
            tool_job_arena(job));
}

static struct journal_author author_of(struct desk_op *op)
{
    char hash[SHA256_TEXT_SIZE];

    sha256_text(op->call->arguments, hash);
    return (struct journal_author){
        .kind = CHANGE_BY_AGENT,
        .agent_id = str_from(op->call->agent->id),
        .operation_id = op->call->operation_id,
        .operation = str_from(op->tool->name),
        .arguments_hash = arena_str(op->arena, str_from(hash)),
        .taint = op->call->taint,
    };
}

int desk_done(struct desk_op *op, struct str *ret_kept, struct err *err)
{
    struct journal_author author = author_of(op);

    return journal_done(op->journal, &author, op->arena, ret_kept, err);
}

/* ---- telling ---- */

static struct str text_of(struct json_object *value, struct arena *arena)
{
    return value ? arena_str(arena,
                             str_from(json_object_to_json_string_ext(
                                 value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)))
                 : STR_NONE;
}

static void tell(struct tool_job *job, struct str kept)
{
    struct arena *arena = tool_job_arena(job);
    struct tool_result result = { .err = ERR_INIT };
    AUTO_JSON value = NULL;

    if (json_parse(kept, &value, &result.err) == 0) {
        result.output = text_of(json_find(value, "output"), arena);
        result.changed_entity_ids = text_of(json_find(value, "ids"), arena);
        result.changed_tokens = text_of(json_find(value, "tokens"), arena);
        result.taint = arena_str(arena, json_str(json_find(value, "taint")));
    }
    tool_job_finish(job, &result);
}

static void tell_failure(struct tool_job *job, const struct err *err)
{
    struct tool_result result = { .err = *err };

    tool_job_finish(job, &result);
}

/* Off the desk's list; what is left is the caller's to free. */
static struct tool_job *waiting_end(struct desk_waiting *waiting)
{
    if (waiting->desk) {
        *waiting->link = waiting->next;
        if (waiting->next)
            waiting->next->link = waiting->link;
    }
    return waiting->job;
}

static void on_committed(struct loop_effect *effect)
{
    struct desk_waiting *waiting = CONTAINER_OF(effect, struct desk_waiting, effect);
    struct tool_job *job = waiting_end(waiting);
    struct str kept = waiting->kept;

    free(waiting);
    if (job)
        tell(job, kept);
}

/* The commit failed, and perhaps not all of it: the journal itself knows whether it was made. */
static void tell_lost(struct tool_job *job, const struct err *why)
{
    struct desk_op op;
    struct err err = ERR_INIT;
    struct str kept;

    op_of(job, &op);
    if (desk_done(&op, &kept, &err) == 1)
        tell(job, kept);
    else
        tell_failure(job, why);
}

static void on_dropped(struct loop_effect *effect, const struct err *why)
{
    struct desk_waiting *waiting = CONTAINER_OF(effect, struct desk_waiting, effect);
    struct tool_job *job = waiting_end(waiting);
    bool began = waiting->began;

    free(waiting);
    /* Rolled back inside of start(), which says so itself; or the loop ends, and with it who would
     * hear of it. */
    if (job && began && why->code != ERR_CANCELLED)
        tell_lost(job, why);
}

/* Inside the unit. */
static struct desk_waiting *wait_for_commit(struct desk_op *op, struct tool_job *job,
                                            struct str kept)
{
    struct desk *desk = op->desk;
    struct desk_waiting *waiting = NEW(struct desk_waiting);

    *waiting = (struct desk_waiting){
        .effect = { .run = on_committed, .drop = on_dropped },
        .desk = desk,
        .job = job,
        .kept = kept,
        .next = desk->waiting,
        .link = &desk->waiting,
    };
    if (waiting->next)
        waiting->next->link = &waiting->next;
    desk->waiting = waiting;
    loop_after_commit(journal_loop(op->journal), &waiting->effect);
    return waiting;
}

void desk_forget(struct desk *desk)
{
    for (struct desk_waiting *waiting = desk->waiting; waiting; waiting = waiting->next) {
        waiting->desk = NULL;
        waiting->job = NULL;
    }
    desk->waiting = NULL;
}

/* ---- doing ---- */

static void write_ids(struct json_writer *w, const struct change_batch *batch)
{
    json_write_array_begin(w);
    for (size_t i = 0; i < batch->unit_count; i++) {
        bool again = false;

        for (size_t k = 0; k < i && !again; k++)
            again = str_eq(batch->units[k].payload_id, batch->units[i].payload_id);
        if (!again)
            json_write_str(w, batch->units[i].payload_id);
    }
    json_write_array_end(w);
}

/* What the call answers, with what it has changed. */
static void write_rest(struct desk_op *op, struct json_writer *w, struct str version)
{
    const struct change_batch *batch = journal_batch(op->write);

    json_write_key(w, "ids");
    write_ids(w, batch);
    json_put_raw(w, "tokens", tokens_json(batch->tokens, batch->token_count, op->arena));
    json_put_str(w, "version", version);
    json_put_some_str(w, "taint", op->taint);
}

/* Inside the unit: looks once more, makes the change, and checks what came of it. */
static int perform(struct desk_op *op, bool preview, struct str version, struct str *ret_kept,
                   struct err *err)
{
    AUTO_BUF text = BUF_INIT(DESK_OUTPUT_MAX);
    struct json_writer w = JSON_WRITER(&text);

    op->out = &w;
    json_write_object_begin(&w);
    json_put_object(&w, "output");
    if (op->tool->aim(op, err) < 0 || op->tool->act(op, err) < 0 || scope_changes(op, err) < 0 ||
        out_names(op, err) < 0)
        return -1;
    if (preview)
        out_bool(op, "preview", true);
    json_write_object_end(&w);
    write_rest(op, &w, version);
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the answer is longer than %u bytes", DESK_OUTPUT_MAX);
    *ret_kept = arena_str(op->arena, buf_str(&text));
    return 0;
}

/* In a unit that leaves nothing; changes may be NULL. */
static int rehearse(struct desk_op *op, struct desk_changes *ret_changes, struct str *ret_kept,
                    struct err *err)
{
    struct journal_author author = author_of(op);
    int r;

    author.operation_id = STR_NONE;
    if (journal_begin(op->journal, &author, op->arena, &op->write, NULL, err) < 0)
        return -1;
    r = perform(op, true, STR_NONE, ret_kept, err);
    if (r == 0 && ret_changes)
        r = changes_collect(op, ret_changes, err);
    journal_end(op->write, false, STR_NONE, NULL);
    op->write = NULL;
    return r;
}

/* Nothing has changed: neither ids nor tokens. */
static int start_preview_only(struct desk_op *op, struct tool_job *job, struct err *err)
{
    struct tool_result result = { .err = ERR_INIT };
    AUTO_JSON value = NULL;
    struct str kept;

    if (rehearse(op, NULL, &kept, err) < 0 || json_parse(kept, &value, err) < 0)
        return -1;
    result.output = text_of(json_find(value, "output"), op->arena);
    result.taint = op->taint;
    tool_job_finish(job, &result);
    return 0;
}

/* The version that was checked in this job before; nothing when nobody was asked. */
static struct str version_of(const struct tool_job *job)
{
    const struct str *version = tool_job_data(job);

    return version ? *version : STR_NONE;
}

/* Whoever destroys the agent on another host waits until what this tick writes is committed. */
static int hold_agent(struct desk_op *op, struct err *err)
{
    struct domain *domain = op->desk->config.agent_domain;
    struct loop *loop = journal_loop(op->journal);
    int r;

    if (loop_unit_begin(loop, domain, err) < 0)
        return -1;
    r = agent_hold_alive(domain, op->call->agent->n, err);
    if (loop_unit_end(loop, r == 0, r == 0 ? err : NULL) < 0)
        return -1;
    return r;
}

int desk_write_start(struct tool_job *job, struct err *err)
{
    struct desk_waiting *waiting;
    struct journal_author author;
    struct desk_op op;
    struct str kept;
    int r;

    op_of(job, &op);
    if (arg_bool(&op, "previewOnly", false))
        return start_preview_only(&op, job, err);
    if (hold_agent(&op, err) < 0)
        return -1;
    author = author_of(&op);
    r = journal_begin(op.journal, &author, op.arena, &op.write, &kept, err);
    if (r < 0)
        return -1;
    if (r == 0) {
        tell(job, kept);
        return 0;
    }
    if (perform(&op, false, version_of(job), &kept, err) < 0) {
        journal_end(op.write, false, STR_NONE, NULL);
        return -1;
    }
    waiting = wait_for_commit(&op, job, kept);
    if (journal_end(op.write, true, kept, err) < 0)
        return -1;
    waiting->began = true;
    return 0;
}

void desk_write_cancel(struct tool_job *job)
{
    (void)job;
}

bool desk_write_spared(void *arg, const struct tool_call *call, struct json_object *arguments)
{
    struct json_object *only = json_find(arguments, "previewOnly");

    (void)arg;
    (void)call;
    return only && json_object_get_boolean(only);
}

/* ---- before a person decides ---- */

/* H of the versions of all that it is aimed at, and of what is shown. */
static struct str version_now(struct desk_op *op, struct str shown)
{
    AUTO_BUF text = BUF_INIT(DESK_OUTPUT_MAX);
    char hash[SHA256_TEXT_SIZE];

    for (size_t i = 0; i < op->aim_count; i++)
        buf_printf(&text, "%s:%.*s@%.*s\n", record_type_name(op->aims[i].type),
                   STR_ARG(op->aims[i].id), STR_ARG(op->aims[i].vector_clock));
    buf_add_str(&text, shown);
    sha256_text(buf_str(&text), hash);
    return arena_str(op->arena, str_from(hash));
}

static void show(struct tool_job *job, struct desk_op *op, struct str text, struct str version)
{
    struct tool_preview preview = { .title = str_from(op->tool->title),
                                    .kind = STR("text"),
                                    .text = text };
    struct str *known = ARENA_NEW(op->arena, struct str);

    *known = version;
    tool_job_set_data(job, known);
    tool_job_shown(job, &preview, version);
}

/* It was done already. With these arguments: what was approved then. With others, which a person
 * gave: nothing is left to look at. */
static int show_done(struct tool_job *job, struct desk_op *op, struct str kept, struct err *err)
{
    AUTO_JSON value = NULL;

    if (json_parse(kept, &value, err) < 0)
        return -1;
    show(job, op, STR("This was done already."),
         arena_str(op->arena, json_str(json_find(value, "version"))));
    return 0;
}

int desk_write_preview(struct tool_job *job, struct err *err)
{
    AUTO_BUF text = BUF_INIT(DESK_OUTPUT_MAX);
    struct desk_changes changes;
    struct desk_op op;
    struct str kept;
    int r;

    op_of(job, &op);
    r = desk_done(&op, &kept, err);
    if (r < 0 && err->code == ERR_CONFLICT) {
        err_reset(err);
        return err_set(err, ERR_CANCELLED, "it was done already, with the arguments a person gave");
    }
    if (r != 0)
        return r < 0 ? -1 : show_done(job, &op, kept, err);
    if (rehearse(&op, &changes, &kept, err) < 0 || changes_before(&op, &changes, err) < 0 ||
        changes_show(&op, &changes, &text, err) < 0)
        return -1;
    show(job, &op, arena_str(op.arena, buf_str(&text)), version_now(&op, buf_str(&text)));
    return 0;
}
