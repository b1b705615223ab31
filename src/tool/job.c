/* Jobs: a preview or an execution under way, from the caller's word to the one completion.
 *
 *   preview:  SHOWING -> told
 *   start:    judged -> CHECKING (something was approved) -> ACTING -> told
 *
 * Checking makes the preview again and compares the digest; when it is another, nothing is done and
 * the result is stale. A completion is told in a later tick than the call that led to it: what ends
 * inside the caller's own call waits for a timer of no delay.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "change/taint.h"
#include "tool/tool_int.h"

#define FROM(ptr, member)                                                                          \
    ((struct tool_job *)(void *)((char *)(ptr)-offsetof(struct tool_job, member)))

/* How long the hand may take to end what was cancelled. */
#define GRACE_MS 10000

/* ---- a copy of the call ---- */

static const char *copy_text(struct arena *arena, const char *text)
{
    return text ? arena_text(arena, text) : NULL;
}

static const char *const *copy_list(struct arena *arena, const char *const *list)
{
    size_t n = 0;
    const char **copy;

    while (list && list[n])
        n++;
    copy = ARENA_NEW_N(arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = arena_text(arena, list[i]);
    return copy;
}

static const struct agent *copy_agent(struct arena *arena, const struct agent *agent)
{
    struct agent *copy = ARENA_NEW(arena, struct agent);

    *copy = *agent;
    copy->id = copy_text(arena, agent->id);
    copy->kind = copy_text(arena, agent->kind);
    copy->display_name = copy_text(arena, agent->display_name);
    copy->mode = copy_text(arena, agent->mode);
    copy->allowed_category_ids = copy_text(arena, agent->allowed_category_ids);
    copy->model_id = copy_text(arena, agent->model_id);
    copy->prompt_id = copy_text(arena, agent->prompt_id);
    copy->instructions = copy_text(arena, agent->instructions);
    copy->tools = copy_text(arena, agent->tools);
    copy->description = copy_text(arena, agent->description);
    copy->template = copy_text(arena, agent->template);
    copy->profile = copy_text(arena, agent->profile);
    copy->extension = copy_text(arena, agent->extension);
    copy->taint = copy_text(arena, agent->taint);
    return copy;
}

static void copy_sandbox(struct arena *arena, struct sandbox_spec *spec)
{
    spec->cwd = copy_text(arena, spec->cwd);
    spec->allow_write = copy_list(arena, spec->allow_write);
    spec->deny_read = copy_list(arena, spec->deny_read);
    spec->allow_domains = copy_list(arena, spec->allow_domains);
    spec->allow_unix_sockets = copy_list(arena, spec->allow_unix_sockets);
    spec->data_dir = copy_text(arena, spec->data_dir);
    spec->home = copy_text(arena, spec->home);
    spec->env = copy_list(arena, spec->env);
}

static void copy_call(struct arena *arena, struct tool_call *call)
{
    call->agent = copy_agent(arena, call->agent);
    call->thread_id = arena_str(arena, call->thread_id);
    call->run_id = arena_str(arena, call->run_id);
    call->wake_reason = arena_str(arena, call->wake_reason);
    call->name = arena_str(arena, call->name);
    call->arguments = arena_str(arena, call->arguments);
    call->problem = arena_str(arena, call->problem);
    call->taint = arena_str(arena, call->taint);
    call->inbox_id = arena_str(arena, call->inbox_id);
    call->operation_id = arena_str(arena, call->operation_id);
    call->directory = copy_text(arena, call->directory);
    copy_sandbox(arena, &call->sandbox);
}

/* ---- life ---- */

static void on_limit(struct loop_timer *timer);
static void on_soon(struct loop_timer *timer);

static struct tool_job *job_new(struct tool_bed *bed, const struct tool_call *call,
                                struct hand *hand, void *arg)
{
    struct tool_job *job = NEW(struct tool_job);

    job->bed = bed;
    job->call = *call;
    copy_call(&job->arena, &job->call);
    job->hand = hand;
    job->arg = arg;
    job->limit.fire = on_limit;
    job->soon.fire = on_soon;
    job->next = bed->jobs;
    job->link = &bed->jobs;
    if (job->next)
        job->next->link = &job->next;
    bed->jobs = job;
    return job;
}

/* Off the bed's list and out of the loop. */
static void job_unlink(struct tool_job *job)
{
    struct loop *loop = job->bed->config.loop;

    loop_timer_stop(loop, &job->limit);
    loop_timer_stop(loop, &job->soon);
    *job->link = job->next;
    if (job->next)
        job->next->link = job->link;
    job_forget_hand(job);
}

static void job_release(struct tool_job *job)
{
    json_object_put(job->arguments);
    arena_release(&job->arena);
    free(job);
}

static void job_free(struct tool_job *job)
{
    job_unlink(job);
    job_release(job);
}

static void tell_guards(const struct tool_job *job)
{
    for (struct tool_guard *guard = job->bed->guards; guard; guard = guard->next)
        if (guard->succeeded)
            guard->succeeded(guard, &job->call, job->binding->entry->contract, job->arguments);
}

/* Unlinked before the caller hears of it, who may free the bed. */
static void tell(struct tool_job *job)
{
    if (job->phase == JOB_ACTING && job->result.err.code == ERR_NONE && !job->result.stale)
        tell_guards(job);
    job_unlink(job);
    if (job->phase == JOB_SHOWING)
        job->preview_done(job->arg, &job->preview);
    else
        job->done(job->arg, &job->result);
    job_release(job);
}

static void on_soon(struct loop_timer *timer)
{
    tell(FROM(timer, soon));
}

/* The result stands. */
static void job_settle(struct tool_job *job, bool later)
{
    BUG_IF(job->finished);
    job->finished = true;
    loop_timer_stop(job->bed->config.loop, &job->limit);
    if (job->inside || later)
        loop_timer_start(job->bed->config.loop, &job->soon, 0);
    else
        tell(job);
}

/* What a result is when it says nothing itself. A command that can reach hosts may have fetched
 * what it prints: somebody else's text. */
static struct str contract_taint(struct tool_job *job)
{
    const char *kind = job->binding->entry->contract->output_taint;
    const struct sandbox_spec *spec = &job->call.sandbox;
    AUTO_BUF hosts = BUF_INIT(TAINT_LABEL_MAX * 2);

    if (!kind || strcmp(kind, taint_kind_name(TAINT_COMMAND)) != 0)
        return str_from(kind);
    for (size_t i = 0; spec->allow_domains && spec->allow_domains[i]; i++)
        buf_printf(&hosts, "%s%s", i ? " or " : "from ", spec->allow_domains[i]);
    if (!hosts.n && !spec->off)
        return str_from(kind);
    return taint_source(TAINT_WEB, hosts.n ? buf_str(&hosts) : STR("it runs without walls"),
                        &job->arena);
}

void job_fail(struct tool_job *job, const struct err *err)
{
    if (job->phase == JOB_SHOWING) {
        job->preview = (struct tool_preview){ .err = *err };
        approval_digest(job->bed, &job->call, job->binding->entry->contract->name, STR("?"),
                        job->preview.digest);
    } else {
        /* What went wrong may be said in words of the other side. */
        job->result = (struct tool_result){ .err = *err, .taint = contract_taint(job) };
    }
    job_settle(job, err->code == ERR_CANCELLED);
}

void job_drop(struct tool_job *job, const struct err *err)
{
    if (!job->finished) {
        job->preview.err = job->result.err = *err;
        job->finished = true;
    }
    tell(job);
}

/* ---- ending early ---- */

static void end_early(struct tool_job *job)
{
    struct err err = ERR_INIT;

    job->ending = true;
    if (job->hand_wait) {
        loop_timer_start(job->bed->config.loop, &job->limit, GRACE_MS);
        job_cancel_hand(job);
    } else if (job->binding->impl->cancel) {
        job->inside = true;
        job->binding->impl->cancel(job);
        job->inside = false;
    } else {
        job_end_error(job, &err);
        job_fail(job, &err);
    }
}

void job_end_error(const struct tool_job *job, struct err *ret_err)
{
    if (job->timed_out)
        err_set(ret_err, ERR_TIMEOUT, "%s took longer than %lld s and was ended",
                job->binding->entry->contract->name,
                (long long)job->binding->entry->contract->timeout_ms / 1000);
    else
        err_set(ret_err, ERR_CANCELLED, "the call was cancelled");
}

static void on_limit(struct loop_timer *timer)
{
    struct tool_job *job = FROM(timer, limit);
    struct err err = ERR_INIT;

    if (!job->ending) {
        job->timed_out = true;
        end_early(job);
        return;
    }
    /* The hand does not answer. Whatever it does later is none of ours. */
    job_end_error(job, &err);
    job_fail(job, &err);
}

void tool_cancel(struct tool_job *job)
{
    if (job->finished || job->ending)
        return;
    job->inside = true;
    end_early(job);
    /* It lives: what is told while inside is told in a later tick.
     * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    job->inside = false;
}

/* ---- starting ---- */

static int act(struct tool_job *job, struct err *err)
{
    job->phase = JOB_ACTING;
    return job->binding->impl->start(job, err);
}

/* Without a preview of its own a tool has no target that could change. */
static int begin(struct tool_job *job, struct err *err)
{
    struct tool_preview nothing = { .err = ERR_INIT };

    if (!job->approved.n)
        return act(job, err);
    job->phase = JOB_CHECKING;
    if (job->binding->impl->preview)
        return job->binding->impl->preview(job, err);
    tool_job_shown(job, &nothing, STR(""));
    return 0;
}

static int run_first(struct tool_job *job, int (*first)(struct tool_job *job, struct err *err),
                     struct tool_job **ret_job, struct err *err)
{
    int r;

    loop_timer_start(job->bed->config.loop, &job->limit, job->binding->entry->contract->timeout_ms);
    job->inside = true;
    r = first(job, err);
    job->inside = false;
    if (r < 0) {
        job_free(job);
        return -1;
    }
    if (ret_job)
        *ret_job = job;
    return 0;
}

int tool_start(struct tool_bed *bed, const struct tool_call *call, struct str operation_id,
               struct str approved_digest, struct hand *hand, tool_done_fn *done, void *arg,
               struct tool_job **ret_job, struct err *err)
{
    struct tool_job *job = job_new(bed, call, hand, arg);
    struct tool_verdict verdict;

    job->done = done;
    job->phase = JOB_ACTING;
    job->operation_id = arena_str(&job->arena, operation_id);
    job->call.operation_id = job->operation_id;
    job->approved = arena_str(&job->arena, approved_digest);
    judge_again(bed, &job->call, &job->arena, &verdict, &job->arguments);
    if (verdict.attributes & (TOOL_REFUSED | TOOL_DANGEROUS | TOOL_KILLED)) {
        err_set(err, verdict.code, "%s", verdict.message);
        job_free(job);
        return -1;
    }
    job->binding = bed_find(bed, job->call.name);
    return run_first(job, begin, ret_job, err);
}

/* ---- what handlers use ---- */

const struct tool_call *tool_job_call(const struct tool_job *job)
{
    return &job->call;
}

struct json_object *tool_job_arguments(const struct tool_job *job)
{
    return job->arguments;
}

struct str tool_job_operation_id(const struct tool_job *job)
{
    return job->operation_id;
}

void *tool_job_impl_arg(const struct tool_job *job)
{
    return job->binding->impl_arg;
}

struct loop *tool_job_loop(const struct tool_job *job)
{
    return job->bed->config.loop;
}

struct domain *tool_job_domain(const struct tool_job *job)
{
    return job->bed->config.agent_domain;
}

struct hand *tool_job_hand(const struct tool_job *job)
{
    return job->hand;
}

struct arena *tool_job_arena(struct tool_job *job)
{
    return &job->arena;
}

void tool_job_set_data(struct tool_job *job, void *data)
{
    job->data = data;
}

void *tool_job_data(const struct tool_job *job)
{
    return job->data;
}

/* A preview, or a check before acting, that ended without anything to show. */
static void end_unshown(struct tool_job *job, const struct tool_result *result)
{
    struct err err = result->err;

    if (err.code == ERR_NONE)
        err_set(&err, ERR_INTERNAL, "%s ended before it had shown what it would do",
                job->binding->entry->contract->name);
    if (job->ending) {
        err_reset(&err);
        job_end_error(job, &err);
    }
    job_fail(job, &err);
}

void tool_job_finish(struct tool_job *job, const struct tool_result *result)
{
    struct tool_result *r = &job->result;

    if (job->phase != JOB_ACTING) {
        end_unshown(job, result);
        return;
    }
    *r = *result;
    r->question = arena_str(&job->arena, result->question);
    r->changed_entity_ids = arena_str(&job->arena, result->changed_entity_ids);
    r->changed_tokens = arena_str(&job->arena, result->changed_tokens);
    r->taint = result->taint.n ? arena_str(&job->arena, result->taint) : contract_taint(job);
    r->output = STR_NONE;
    if (job->ending && r->err.code == ERR_CANCELLED) {
        err_reset(&r->err);
        job_end_error(job, &r->err);
    }
    if (result->output.n) {
        struct err wrong = ERR_INIT;

        if (output_make(job->binding->entry, result->output, &job->arena, &r->output, &wrong) < 0)
            r->err = wrong;
    }
    job_settle(job, r->err.code == ERR_CANCELLED);
}

/* ---- previews ---- */

static void check(struct tool_job *job, const struct tool_preview *preview, struct str version)
{
    char digest[SHA256_TEXT_SIZE];
    struct err err = ERR_INIT;

    if (preview->err.code != ERR_NONE) {
        job_fail(job, &preview->err);
        return;
    }
    approval_digest(job->bed, &job->call, job->binding->entry->contract->name, version, digest);
    if (!str_is(job->approved, digest)) {
        job_stale(job);
        return;
    }
    job->version = arena_str(&job->arena, version);
    job->version_known = true;
    if (act(job, &err) < 0)
        job_fail(job, &err);
}

void job_stale(struct tool_job *job)
{
    job->result = (struct tool_result){ .stale = true };
    job_settle(job, false);
}

void tool_job_shown(struct tool_job *job, const struct tool_preview *preview,
                    struct str target_version)
{
    struct tool_preview *p = &job->preview;
    struct tool_preview unseen = { .title = preview->title };

    if (!preview->err.code && preview_check(preview, &unseen.err) < 0)
        preview = &unseen;
    if (job->phase == JOB_CHECKING) {
        check(job, preview, target_version);
        return;
    }
    preview_make(job, preview);
    approval_digest(job->bed, &job->call, job->binding->entry->contract->name, target_version,
                    p->digest);
    job_settle(job, p->err.code == ERR_CANCELLED);
}

int tool_preview(struct tool_bed *bed, const struct tool_call *call, struct hand *hand,
                 tool_preview_fn *done, void *arg, struct tool_job **ret_job, struct err *err)
{
    struct tool_job *job = job_new(bed, call, hand, arg);
    struct tool_verdict verdict;

    job->preview_done = done;
    job->phase = JOB_SHOWING;
    job->operation_id = job->call.operation_id;
    judge_again(bed, &job->call, &job->arena, &verdict, &job->arguments);
    if (verdict.attributes & TOOL_REFUSED) {
        err_set(err, verdict.code, "%s", verdict.message);
        job_free(job);
        return -1;
    }
    job->binding = bed_find(bed, job->call.name);
    return run_first(job,
                     job->binding->impl->preview ? job->binding->impl->preview : preview_arguments,
                     ret_job, err);
}
