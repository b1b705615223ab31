/* write_report: what an agent has to say for now.
 *
 * A report is the agent domain's own: no second domain is written, and its id follows from the
 * operation, so that writing it again changes nothing. It remembers what of the journal it had
 * seen, which is all there was when it was written.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "agent/report.h"
#include "base/hash.h"
#include "desk/desk_int.h"

#define RECENT 200 /* batches that are looked at for what other hosts wrote */

/* ---- sources ---- */

/* What a source names of the journal must be the agent's own; what is no record there (a day, a
 * sum) is taken as it is. */
static int check_source(struct desk_op *op, struct json_object *source, struct err *err)
{
    struct str id = json_str(json_find(source, "id"));
    struct record record;
    int r;

    if (!str_is(json_str(json_find(source, "type")), "journal") || !record_id_valid(id))
        return 0;
    r = journal_find_id(op->journal, id, op->arena, &record, err);
    if (r <= 0 || record.type == RECORD_DAY_PLAN || record.type == RECORD_LABEL)
        return r < 0 ? -1 : 0;
    return scope_record(op, &record, err);
}

static int aim_report(struct desk_op *op, struct err *err)
{
    struct json_object *sources = json_find(op->args, "sources");

    for (size_t i = 0; i < json_length(sources); i++) {
        if (check_source(op, json_object_array_get_idx(sources, i), err) < 0)
            return err_wrap(err, "/sources/%zu", i);
    }
    return 0;
}

static size_t read_sources(struct desk_op *op, const struct report_source **ret_sources)
{
    struct json_object *list = json_find(op->args, "sources");
    size_t n = json_length(list);
    struct report_source *sources = ARENA_NEW_N(op->arena, struct report_source, n + 1);

    for (size_t i = 0; i < n; i++) {
        struct json_object *source = json_object_array_get_idx(list, i);
        struct json_object *inferred = json_find(source, "inferred");

        sources[i] = (struct report_source){
            .source_type = json_str(json_find(source, "type")),
            .source_id = json_str(json_find(source, "id")),
            .claim_id = json_str(json_find(source, "claim")),
            .captured_at = op->now,
            .confidence = -1,
            .inferred = inferred && json_object_get_boolean(inferred),
        };
    }
    *ret_sources = sources;
    return n;
}

/* ---- what it had seen ---- */

/* Of this host everything so far, of others what the newest batches and the report before know. */
static int seen_now(struct desk_op *op, const struct report *before, struct vclock *ret_seen,
                    struct err *err)
{
    struct change *change = op->desk->config.change;
    struct change_row *rows;
    size_t n;

    if (before)
        *ret_seen = before->cursor;
    if (change_batches_since(journal_domain(op->journal), 0, RECENT, op->arena, &rows, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < rows[i].unit_count; k++) {
            const struct change_unit *unit = &rows[i].unit[k];

            if (vclock_of(ret_seen, unit->host_id) < unit->counter)
                *ret_seen = vclock_with(ret_seen, unit->host_id, unit->counter, op->arena);
        }
    }
    *ret_seen =
        vclock_with(ret_seen, str_from(change_host_id(change)), change_next(change), op->arena);
    return 0;
}

/* ---- writing ---- */

static struct str report_id(struct desk_op *op)
{
    char id[SHA256_TEXT_SIZE];

    sha256_text(str_from(arena_printf(op->arena, "id|v1|%.*s|%.*s", STR_ARG(op->call->run_id),
                                      STR_ARG(op->call->operation_id))),
                id);
    return arena_str(op->arena, str_from(id));
}

static struct str provenance(struct desk_op *op)
{
    AUTO_BUF text = BUF_INIT(16u << 10);
    struct json_writer w = JSON_WRITER(&text);

    op->out = &w;
    json_write_object_begin(&w);
    out_str(op, "agentId", str_from(op->call->agent->id));
    out_str(op, "threadId", op->call->thread_id);
    out_str(op, "runId", op->call->run_id);
    out_str(op, "operationId", op->call->operation_id);
    out_str(op, "wakeReason", op->call->wake_reason);
    json_write_object_end(&w);
    return arena_str(op->arena, buf_str(&text));
}

static void read_report(struct desk_op *op, struct report *ret_report)
{
    struct json_object *confidence = json_find(op->args, "confidence");

    *ret_report = (struct report){
        .id = report_id(op),
        .agent_n = op->call->agent->n,
        .run_n = op->call->run_n,
        .created_at = op->now,
        .scope = arg_str(op, "scope").n > 0 ? arg_str(op, "scope") : STR("current"),
        .title = arg_str(op, "title"),
        .text = arg_str(op, "text"),
        .confidence = confidence ? json_object_get_double(confidence) : -1,
        .provenance = provenance(op),
        .taint = op->call->taint,
    };
    ret_report->source_count = read_sources(op, &ret_report->sources);
}

/* The newest of this scope that is not this one. 1 found, 0 none. */
static int find_before(struct desk_op *op, const struct report *report, struct report *ret_before,
                       struct err *err)
{
    struct report *list;
    size_t n;

    if (report_list(op->desk->config.agent_domain, report->agent_n, report->scope, 0, 2, op->arena,
                    &list, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(list[i].id, report->id)) {
            *ret_before = list[i];
            return 1;
        }
    }
    return 0;
}

static int store(struct desk_op *op, const struct report *report, struct change_batch *batch,
                 struct err *err)
{
    const struct desk_config *config = &op->desk->config;
    struct loop *loop = journal_loop(op->journal);
    int r;

    if (loop_unit_begin(loop, config->agent_domain, err) < 0)
        return -1;
    r = agent_hold_alive(config->agent_domain, report->agent_n, err);
    if (r == 0)
        r = report_put(config->agent_domain, config->change, report, batch, err);
    if (r > 0)
        r = change_batch_write(config->agent_domain, config->change, batch, op->now, err);
    if (loop_unit_end(loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r < 0 ? -1 : 0;
}

static int finish(struct desk_op *op, struct tool_job *job, const struct report *report,
                  bool changed, struct err *err)
{
    /* Named here and not by the batch, which a repetition has none of. */
    struct token tokens[] = { { TOKEN_SEMANTIC_KEY, STR_NONE, STR("AGENT_REPORT") },
                              { TOKEN_ENTITY_ID, STR_NONE, report->id },
                              { TOKEN_ENTITY_ID, STR_NONE, str_from(op->call->agent->id) } };
    AUTO_BUF text = BUF_INIT(4096);
    struct json_writer w = JSON_WRITER(&text);
    struct tool_result result = { .err = ERR_INIT };

    op->out = &w;
    json_write_object_begin(&w);
    out_str(op, "reportId", report->id);
    out_bool(op, "changed", changed);
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_INTERNAL, "the answer does not fit");
    result.output = buf_str(&text);
    result.changed_entity_ids =
        str_from(arena_printf(op->arena, "[\"%.*s\"]", STR_ARG(report->id)));
    result.changed_tokens = tokens_json(tokens, ARRAY_LEN(tokens), op->arena);
    tool_job_finish(job, &result);
    return 0;
}

static int start_report(struct tool_job *job, struct err *err)
{
    const struct desk_bound *bound = tool_job_impl_arg(job);
    struct change_batch batch = CHANGE_BATCH(tool_job_arena(job), CHANGE_BY_AGENT);
    struct report report, before = { 0 };
    struct desk_op op;
    int r;

    op_init(&op, bound->desk, bound->tool, tool_job_call(job), tool_job_arguments(job),
            tool_job_arena(job));
    read_report(&op, &report);
    r = find_before(&op, &report, &before, err);
    if (r < 0 || seen_now(&op, r ? &before : NULL, &report.cursor, err) < 0)
        return -1;
    batch.author_id = str_from(op.call->agent->id);
    batch.operation_id = op.call->operation_id;
    if (store(&op, &report, &batch, err) < 0)
        return -1;
    return finish(
        &op, job, &report,
        r == 0 || !str_eq(before.title, report.title) || !str_eq(before.text, report.text), err);
}

const struct desk_tool desk_report_tools[] = {
    { .name = "write_report", .aim = aim_report, .start = start_report, .everywhere = true },
};
const size_t desk_report_tool_count = ARRAY_LEN(desk_report_tools);
