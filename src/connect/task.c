/* What a tool's job keeps while it asks: which request is under way, and what comes next.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
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

static void ended(struct task *task, bool unsure)
{
    struct err err = ERR_INIT;

    if (unsure)
        err_set(&err, ERR_EFFECT_UNKNOWN, "it was cancelled while it was being sent");
    else
        err_set(&err, ERR_CANCELLED, "the call was cancelled");
    task_fail(task, &err);
}

static void answered(void *arg, const struct gate_answer *answer)
{
    struct task *task = arg;

    task->call = NULL;
    if (task->cancelled || answer->err.code == ERR_CANCELLED)
        ended(task, answer->unsure);
    else
        task->step(task, answer);
}

int task_ask(struct task *task, const struct gate_request *request,
             void (*step)(struct task *task, const struct gate_answer *answer), struct err *err)
{
    task->step = step;
    return gate_start(task->connect->gate, request, answered, task, &task->call, err);
}

static void release(struct task *task)
{
    if (task->release)
        TAKE(task->release)(task);
}

void task_fail(struct task *task, const struct err *err)
{
    struct tool_result result = { .err = *err };

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
    struct task *task = tool_job_data(job);

    if (task && task->call) {
        task->cancelled = true;
        gate_cancel(task->call);
        return;
    }
    if (task && task->wait)
        google_unwait(task->connect->oauth, TAKE(task->wait));
    ended(task_of(job), false);
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
