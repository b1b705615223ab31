/* What an agent keeps between conversations: reading it, listing it, and proposing a change.
 *
 * A change is checked before anybody is asked, shown with what is suspicious about it, and bound to
 * the version of the file that was shown: when that is another by the time of the yes, the result
 * is stale and the question is asked anew. An operation that was applied before a crash is
 * recognised by its id and not asked about again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "base/redact.h"
#include "change/taint.h"
#include "memory/edit.h"
#include "tool/tool_int.h"

#define DETAILS_MAX (16u << 20)
#define LIST_MAX    (1u << 20)

static struct files *files_of(const struct tool_job *job)
{
    return ((struct tool_bed *)tool_job_impl_arg(job))->config.files;
}

static int read_edit(const struct tool_call *call, struct json_object *arguments,
                     struct memory_edit *ret_edit, struct err *err)
{
    *ret_edit = (struct memory_edit){
        .path = json_str(json_find(arguments, "path")),
        .content = json_str(json_find(arguments, "content")),
        .reason = json_str(json_find(arguments, "reason")),
        .taint = call->taint,
        .edited = call->edited,
    };
    return memory_operation_of(json_str(json_find(arguments, "operation")), &ret_edit->operation,
                               err);
}

/* ---- before anybody is asked ---- */

int memory_path_check(void *arg, const struct tool_call *call, struct json_object *arguments,
                      struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct str store_path;

    (void)arg;
    (void)call;
    return memory_path(json_str(json_find(arguments, "path")), false, &arena, &store_path, err);
}

/* What came back from a result with its secrets taken out must not be kept like that. */
static int refuse_redacted(struct str content, struct err *err)
{
    if (str_find(content, STR(REDACT_MARK)) < 0)
        return 0;
    return err_set(err, ERR_UNSAFE_TARGET,
                   "/content: %s stands for a secret that you were not shown; leave it out",
                   REDACT_MARK);
}

int memory_tool_check(void *arg, const struct tool_call *call, struct json_object *arguments,
                      struct err *err)
{
    struct tool_bed *bed = arg;
    AUTO_ARENA arena = ARENA_INIT;
    struct memory_proposal proposal;
    struct memory_edit edit;
    int64_t base, version;
    int r;

    if (read_edit(call, arguments, &edit, err) < 0 || memory_edit_check(&edit, &arena, err) < 0 ||
        refuse_redacted(edit.content, err) < 0)
        return -1;
    /* Of a whole text that is no skill nothing is left to look at. */
    if (edit.operation == MEMORY_WRITE && !str_starts(edit.path, STR("skills/")))
        return 0;
    r = memory_applied(bed->config.agent_domain, call->operation_id, &base, &version, err);
    if (r != 0)
        return r < 0 ? -1 : 0;
    return memory_prepare(bed->config.files, call->agent, &edit, &arena, &proposal, err);
}

/* The agent's setting covers what is harmless by every measure there is. */
bool memory_tool_spared(void *arg, const struct tool_call *call, struct json_object *arguments)
{
    struct tool_bed *bed = arg;
    AUTO_ARENA arena = ARENA_INIT;
    struct memory_proposal proposal;
    struct memory_edit edit;
    struct err err = ERR_INIT;

    if (!call->agent->auto_approve_memory || taint_blocks(call->taint) ||
        read_edit(call, arguments, &edit, &err) < 0 || edit.operation == MEMORY_DELETE ||
        !str_starts(edit.path, STR("knowledge/")) ||
        memory_propose(bed->config.files, call->agent, &edit, &arena, &proposal, &err) < 0)
        return false;
    return proposal.flag_count == 0 && !taint_blocks(proposal.taint) && !proposal.full;
}

void memory_tool_danger(void *arg, const struct tool_call *call, struct json_object *arguments,
                        struct buf *out)
{
    struct tool_bed *bed = arg;
    AUTO_ARENA arena = ARENA_INIT;
    struct memory_proposal proposal;
    struct memory_edit edit;
    struct err err = ERR_INIT;

    if (read_edit(call, arguments, &edit, &err) < 0 ||
        memory_propose(bed->config.files, call->agent, &edit, &arena, &proposal, &err) < 0)
        return; /* it fails with the same words when it is done */
    inbox_say_flags(proposal.flag_count, out);
}

/* ---- read and list ---- */

static int finish_with(struct tool_job *job, struct json_writer *w, struct str taint,
                       struct err *err)
{
    struct tool_result result = { .output = buf_str(w->out), .taint = taint };

    if (json_write_end(w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the answer is longer than %zu bytes", w->out->max);
    tool_job_finish(job, &result);
    return 0;
}

/* What is not in the agent's tree may be another room's to give. */
static int read_elsewhere(struct tool_job *job, struct str path, struct file *ret_file,
                          struct err *err)
{
    *ret_file = (struct file){ .path = path, .content_type = STR("text/markdown") };
    for (struct tool_guard *guard = job->bed->guards; guard; guard = guard->next) {
        int r = guard->read_memory ? guard->read_memory(guard, &job->call, path, &job->arena,
                                                        &ret_file->content, err)
                                   : 0;

        if (r != 0)
            return r;
    }
    return 0;
}

int read_memory_start(struct tool_job *job, struct err *err)
{
    struct str path = json_str(json_find(tool_job_arguments(job), "path"));
    AUTO_BUF out = BUF_INIT(DETAILS_MAX);
    AUTO_BUF text = BUF_INIT(DETAILS_MAX);
    struct json_writer w = JSON_WRITER(&out);
    struct file file;
    int r = memory_read(files_of(job), tool_job_call(job)->agent, path, tool_job_arena(job), &file,
                        err);

    if (r == 0)
        r = read_elsewhere(job, path, &file, err);
    if (r < 0)
        return -1;
    if (r == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "no memory file at '%.*s'; list_memory names those "
                       "that there are",
                       STR_ARG(path));
    shown_text(file.content, DETAILS_MAX / 4, &text);
    json_write_object_begin(&w);
    json_put_str(&w, "path", file.path);
    json_put_str(&w, "content", buf_str(&text));
    json_put_str(&w, "content_type", file.content_type);
    json_put_i64(&w, "version", file.version);
    json_put_time(&w, "updated_at", file.updated_at);
    if (file.taint.n)
        json_put_str(&w, "taint", file.taint);
    json_write_object_end(&w);
    return finish_with(job, &w, file.taint, err);
}

int list_memory_start(struct tool_job *job, struct err *err)
{
    struct str directory = json_str(json_find(tool_job_arguments(job), "directory"));
    AUTO_BUF out = BUF_INIT(LIST_MAX);
    struct json_writer w = JSON_WRITER(&out);
    struct str taint = STR_NONE;
    struct file *files;
    size_t count;

    if (memory_list(files_of(job), tool_job_call(job)->agent, directory, tool_job_arena(job),
                    &files, &count, err) < 0)
        return -1;
    json_write_object_begin(&w);
    json_put_array(&w, "files");
    for (size_t i = 0; i < count; i++) {
        json_write_object_begin(&w);
        json_put_str(&w, "path", files[i].path);
        json_put_i64(&w, "bytes", files[i].size);
        json_put_time(&w, "updated_at", files[i].updated_at);
        if (!files[i].version) {
            json_put_bool(&w, "read_only", true);
        }
        json_write_object_end(&w);
        taint = taint_join(taint, files[i].taint, tool_job_arena(job));
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    return finish_with(job, &w, taint, err); /* a name is somebody's text, too */
}

/* ---- write ---- */

static const char *title_of(const struct memory_edit *edit, const struct memory_proposal *proposal,
                            struct arena *arena)
{
    const char *verb = edit->operation == MEMORY_DELETE   ? "Forget"
                       : edit->operation == MEMORY_APPEND ? "Add to"
                       : proposal->exists                 ? "Change"
                                                          : "Remember";

    return arena_printf(arena, "%s %.*s", verb, STR_ARG(proposal->path));
}

static struct str version_text(int64_t base, struct arena *arena)
{
    return str_from(arena_printf(arena, "v%lld", (long long)base));
}

int write_memory_preview(struct tool_job *job, struct err *err)
{
    struct arena *arena = tool_job_arena(job);
    struct tool_preview preview = { .kind = STR("diff") };
    AUTO_BUF details = BUF_INIT(DETAILS_MAX);
    struct memory_proposal proposal;
    struct memory_edit edit;
    int64_t base, version;
    int r = memory_applied(tool_job_domain(job), tool_job_operation_id(job), &base, &version, err);

    if (r < 0 || read_edit(tool_job_call(job), tool_job_arguments(job), &edit, err) < 0)
        return -1;
    if (r > 0) {
        tool_job_shown(job, &preview, version_text(base, arena));
        return 0;
    }
    /* Before acting only the version is compared. */
    if (job->phase == JOB_CHECKING) {
        if (memory_prepare(files_of(job), tool_job_call(job)->agent, &edit, arena, &proposal, err) <
            0)
            return -1;
        tool_job_shown(job, &preview, version_text(proposal.base, arena));
        return 0;
    }
    if (memory_propose(files_of(job), tool_job_call(job)->agent, &edit, arena, &proposal, err) < 0)
        return -1;
    if (proposal.exists && edit.operation != MEMORY_DELETE &&
        str_eq(proposal.current, proposal.proposed))
        return err_set(err, ERR_CONFLICT,
                       "nothing would change: %.*s holds exactly this text already, so nobody is "
                       "asked",
                       STR_ARG(proposal.path));
    memory_details(&edit, &proposal, &details);
    preview.title = str_from(title_of(&edit, &proposal, arena));
    preview.text = proposal.diff;
    preview.details = details.full ? STR_NONE : buf_str(&details);
    tool_job_shown(job, &preview, version_text(proposal.base, arena));
    return 0;
}

static int finish_write(struct tool_job *job, const struct memory_edit *edit, int64_t version,
                        int64_t bytes, bool changed, struct err *err)
{
    AUTO_BUF out = BUF_INIT(16u << 10);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    json_put_str(&w, "path", edit->path);
    json_put_str(&w, "operation", str_from(memory_operation_name(edit->operation)));
    json_put_i64(&w, "version", version);
    json_put_i64(&w, "bytes", bytes);
    json_put_bool(&w, "changed", changed);
    json_write_object_end(&w);
    return finish_with(job, &w, STR_NONE, err);
}

static int apply(struct tool_job *job, const struct memory_edit *edit, struct file *ret_file,
                 struct err *err)
{
    const struct tool_call *call = tool_job_call(job);
    struct memory_proposal proposal;
    int r;

    if (memory_prepare(files_of(job), call->agent, edit, tool_job_arena(job), &proposal, err) < 0 ||
        loop_unit_begin(tool_job_loop(job), tool_job_domain(job), err) < 0)
        return -1;
    r = agent_hold_alive(tool_job_domain(job), call->agent->n, err);
    if (r == 0)
        r = memory_apply(files_of(job), call->agent, edit, &proposal, call->inbox_id, call->run_n,
                         tool_job_operation_id(job), tool_job_arena(job), ret_file, err);
    if (loop_unit_end(tool_job_loop(job), r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r;
}

/* Nobody said yes, and it is not what the agent's setting covers: a last door, should another fail.
 */
static bool is_allowed(struct tool_job *job)
{
    return tool_job_call(job)->inbox_id.n ||
           memory_tool_spared(tool_job_impl_arg(job), tool_job_call(job), tool_job_arguments(job));
}

int write_memory_start(struct tool_job *job, struct err *err)
{
    struct memory_edit edit;
    struct file file = { .n = 0 };
    int64_t base, version;
    int r = memory_applied(tool_job_domain(job), tool_job_operation_id(job), &base, &version, err);

    if (r < 0 || read_edit(tool_job_call(job), tool_job_arguments(job), &edit, err) < 0)
        return -1;
    if (r > 0)
        return finish_write(job, &edit, version, 0, true, err);
    if (!is_allowed(job))
        return err_set(err, ERR_CONFIRMATION_REQUIRED, "nobody has approved this change of memory");
    r = apply(job, &edit, &file, err);
    if (r < 0)
        return -1;
    if (file.path.n)
        edit.path = memory_seen_path(file.path, tool_job_arena(job));
    return finish_write(job, &edit, file.version, file.size, r > 0, err);
}
