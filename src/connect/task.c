/* What a tool's job keeps while it asks: which request is under way, and what comes next.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "change/taint.h"
#include "connect/connect_int.h"

struct task *task_of(struct tool_job *job)
{
    struct task *task = tool_job_data(job);

    if (task)
        return task;
    task = ARENA_NEW(tool_job_arena(job), struct task);
    task->job = job;
    task->connect = tool_job_impl_arg(job);
    tool_job_set_data(job, task);
    return task;
}

struct asking *task_open(struct task *task, const struct gate_request *request, task_step_fn *step)
{
    struct asking *asking = ARENA_NEW(tool_job_arena(task->job), struct asking);

    *asking =
        (struct asking){ .task = task, .request = *request, .step = step, .next = task->asks };
    task->asks = asking;
    return asking;
}

void task_close(struct asking *asking)
{
    struct asking **at = &asking->task->asks;

    while (*at != asking)
        at = &(*at)->next;
    *at = asking->next;
}

static void ended(struct task *task, bool unsure)
{
    struct err err = ERR_INIT;

    if (unsure) {
        task->ending = false; /* worse than why it ends */
        err_set(&err, ERR_EFFECT_UNKNOWN, "it was cancelled while it was being sent");
    } else {
        err_set(&err, ERR_CANCELLED, "the call was cancelled");
    }
    task_fail(task, &err);
}

static void answered(void *arg, const struct gate_answer *answer)
{
    struct asking *asking = arg;
    struct task *task = asking->task;
    bool ends = task->ending || answer->err.code == ERR_CANCELLED;

    asking->call = NULL;
    if (!ends && asking->again && asking->again(asking, answer))
        return;
    task_close(asking);
    task->tag = asking->request.tag;
    if (ends)
        ended(task, answer->unsure);
    else
        asking->step(task, answer);
}

int task_send(struct asking *asking, struct err *err)
{
    return gate_start(asking->task->connect->gate, &asking->request, answered, asking,
                      &asking->call, err);
}

int task_ask(struct task *task, const struct gate_request *request, task_step_fn *step,
             struct err *err)
{
    struct asking *asking = task_open(task, request, step);

    if (task_send(asking, err) == 0)
        return 0;
    task_close(asking);
    return -1;
}

/* ---- ending ---- */

static void release(struct task *task)
{
    if (task->release)
        TAKE(task->release)(task);
}

static void cancel_open(struct task *task)
{
    for (struct asking *asking = task->asks, *next; asking; asking = next) {
        next = asking->next;
        if (asking->call) {
            gate_cancel(asking->call);
        } else {
            google_unwait(task->connect->oauth, &asking->wait);
            task_close(asking);
        }
    }
}

void task_fail(struct task *task, const struct err *err)
{
    struct tool_result result;

    if (!task->ending) {
        task->ending = true;
        task->end = *err;
        cancel_open(task);
    }
    if (task->asks)
        return; /* whose answers, cancelled, come here again */
    result = (struct tool_result){ .err = task->end };
    release(task);
    tool_job_finish(task->job, &result);
}

void task_fail_sent(struct task *task, bool unsure, const char *who, const struct err *err)
{
    struct err unknown = ERR_INIT;
    char text[ERR_TEXT_MAX];

    if (!unsure) {
        task_fail(task, err);
        return;
    }
    err_set(&unknown, ERR_EFFECT_UNKNOWN,
            "%s did not say whether it was done: %s. It is not sent again by itself", who,
            err_format(err, text, 400));
    task_fail(task, &unknown);
}

void task_cancel(struct tool_job *job)
{
    ended(task_of(job), false);
}

/* How results of accounts name their source: a list of things, or one of them alone. */
static const struct {
    enum taint_kind kind;
    const char *list, *name, *when;
} sources[] = {
    { TAINT_MAIL, "emails", "from", "date" },
    { TAINT_CALENDAR, "events", "title", "start" },
    { TAINT_SLACK, "channels", "name", NULL },
};

/* "Ann <ann@example.org> (12 Nov 2026)". */
static struct str source_of(size_t i, struct json_object *one, struct arena *arena)
{
    struct str name = json_str(json_find(one, sources[i].name));
    struct str when = sources[i].when ? json_str(json_find(one, sources[i].when)) : STR_NONE;
    ptrdiff_t comma = str_find_char(when, ',');

    if (!name.n)
        return STR_NONE;
    when =
        str_take(comma < 0 ? str_take(when, 10) : str_trim(str_skip(when, (size_t)comma + 1)), 11);
    if (when.n)
        name = str_from(arena_printf(arena, "%.*s (%.*s)", STR_ARG(utf8_truncate(name, 60)),
                                     STR_ARG(str_trim(when))));
    return taint_source(sources[i].kind, name, arena);
}

/* Which mails, events or channels a result tells of. Empty: none that has a name. */
static struct str task_sources(struct str json, struct arena *arena)
{
    struct str taint = STR_NONE;
    AUTO_JSON parsed = NULL;
    AUTO_JSON value = NULL;

    if (json_parse(json, &parsed, NULL) < 0)
        return taint;
    value = redact_json(parsed); /* before a name is cut: half a secret is not recognised */
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        struct json_object *list = json_find(value, sources[i].list);
        size_t n = json_object_is_type(list, json_type_array) ? json_length(list) : 0;

        for (size_t k = 0; k < n; k++)
            taint =
                taint_join(taint, source_of(i, json_object_array_get_idx(list, k), arena), arena);
        if (!list && sources[i].when && json_find(value, sources[i].when))
            taint = taint_join(taint, source_of(i, value, arena), arena);
    }
    return taint;
}

void task_finish(struct task *task, struct buf *json, struct json_writer *w)
{
    struct tool_result result = { .err = ERR_INIT };

    release(task);
    if (json_write_end(w) < 0) {
        err_set(&result.err, ERR_TOO_LARGE, "the result is too long");
        tool_job_finish(task->job, &result);
        return;
    }
    result.output = buf_str(json);
    result.taint = task_sources(result.output, tool_job_arena(task->job));
    tool_job_finish(task->job, &result);
}

void task_show(struct task *task, const char *title, struct str text, struct str version)
{
    struct tool_preview preview = { .title = str_from(title), .kind = STR("text"), .text = text };

    tool_job_shown(task->job, &preview, version);
}

struct str task_text(const struct task *task, const char *key)
{
    return json_str(json_find(tool_job_arguments(task->job), key));
}

int64_t task_number(const struct task *task, const char *key, int64_t otherwise)
{
    int64_t value = otherwise;

    json_get_i64(tool_job_arguments(task->job), key, &value, NULL);
    return value;
}

const char *const *task_hosts(const struct task *task)
{
    return tool_contract_find(tool_job_call(task->job)->name)->egress_hosts;
}
