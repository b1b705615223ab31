/* Trajectories: a wiggum run as a learner wants it, a step a call.
 *
 * The state of a step is what the model had before it when it chose: the task, where, in which
 * iteration, and the results of the iteration before. The status of a step is "completed", "failed"
 * (an error, or a command that ended with another code than 0) or "refused" (it was not carried
 * out). A run is a success when its last check said that it is finished, and not that it gave up,
 * and when of the calls it made at least one was carried out: what only asked and was told no has
 * done nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "agent/agent.h"
#include "agent/inbox.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "memory/message.h"
#include "run/content.h"
#include "run/log_int.h"
#include "run/program.h"
#include "run/trace.h"

#define STATE_BYTES (16 * KIB) /* of earlier results in a state */
#define PAGE        100

struct step {
    const char *state, *action, *thinking; /* thinking may be NULL */
    bool acted;                            /* it was begun; else it was refused */
};

struct telling {
    struct domain *domain;
    struct arena arena; /* of the run */
    struct run_record run;
    const char *prompt, *thinking;
    struct step steps[RUN_CALLS_MAX + 1]; /* by key, those under way */
    struct buf seen, seeing;              /* results of the last iteration, and of this one */
    struct buf out;
    struct json_writer w;
    int64_t iterations;
    unsigned calls, acts; /* made; carried out */
    bool finished, failed;
    struct err *err;
};

/* ---- texts ---- */

static const char *member(struct telling *t, struct json_object *object, const char *key)
{
    struct str text = json_str(json_find(object, key));

    return text.n ? arena_copy(&t->arena, text.p, text.n) : NULL;
}

static const char *json_text(struct json_object *value)
{
    return json_object_to_json_string_ext(value,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

/* "ls -l" for bash; "read_file {...}" for the others. */
static const char *action_of(struct telling *t, struct str tool, struct str arguments)
{
    AUTO_JSON value = NULL;
    const char *command = NULL;

    if (str_is(tool, "bash") && json_parse(arguments, &value, NULL) == 0)
        command = member(t, value, "command");
    if (command)
        return command;
    return arena_printf(&t->arena, "%.*s %.*s", STR_ARG(tool), STR_ARG(arguments));
}

/* What came of it: output as text, else as JSON; an error with its code. */
static const char *observation_of(struct telling *t, struct json_object *content)
{
    struct json_object *output = json_find(content, "output"), *error = json_find(content, "error");
    const char *both = member(t, output, "output");
    const char *out = member(t, output, "stdout"), *err = member(t, output, "stderr");

    if (error)
        return arena_printf(&t->arena, "%s: %s", json_object_get_string(json_find(error, "code")),
                            json_object_get_string(json_find(error, "message")));
    if (both)
        return both;
    if (out || err)
        return arena_printf(&t->arena, "%s%s", out ? out : "", err ? err : "");
    if (json_object_is_type(output, json_type_string))
        return arena_text(&t->arena, json_object_get_string(output));
    return arena_text(&t->arena, output ? json_text(output) : "");
}

static const char *state_of(struct telling *t)
{
    return arena_printf(&t->arena, "Task: %s\nDirectory: %.*s\nIteration: %lld\n%s",
                        t->prompt ? t->prompt : "", STR_ARG(t->run.cwd),
                        (long long)t->iterations + 1, buf_text(&t->seen));
}

/* ---- rows ---- */

static int read_message(struct telling *t, const struct run_event_row *row,
                        struct message *ret_message, struct json_object **ret_content)
{
    if (message_get_n(t->domain, row->ref, &t->arena, ret_message, t->err) < 0 ||
        json_parse(ret_message->content, ret_content, t->err) < 0)
        return -1;
    return 0;
}

/* NULL: it has none; a command that was killed has one that is null. */
static struct json_object *exit_code_of(struct json_object *content, bool *ret_has)
{
    struct json_object *output = json_find(content, "output"), *code = NULL;

    *ret_has = output && json_object_is_type(output, json_type_object) &&
               json_object_object_get_ex(output, "exit_code", &code);
    return code;
}

static const char *status_of(const struct step *step, struct json_object *content)
{
    bool has_code;
    struct json_object *code = exit_code_of(content, &has_code);

    if (!step->acted)
        return "refused";
    if (json_find(content, "error") || (has_code && (!code || json_object_get_int(code) != 0)))
        return "failed";
    return "completed";
}

static void write_step(struct telling *t, const struct step *step, const char *observation,
                       struct json_object *content)
{
    struct json_writer *w = &t->w;
    bool has_code;
    struct json_object *code = exit_code_of(content, &has_code);

    json_write_object_begin(w);
    json_put_text(w, "state", step->state);
    json_put_text(w, "action", step->action);
    json_put_text(w, "observation", observation);
    json_put_text(w, "status", status_of(step, content));
    if (has_code) {
        json_write_key(w, "exit_code");
        json_write_value(w, code);
    }
    if (step->thinking) {
        json_put_text(w, "thinking", step->thinking);
    }
    json_write_object_end(w);
}

static void settle(struct telling *t, const struct run_event_row *row, struct json_object *content)
{
    const struct step *step = &t->steps[row->event.key];
    const char *observation = observation_of(t, content);

    if (!step->action)
        return;
    write_step(t, step, observation, content);
    t->calls++;
    t->acts += step->acted && !json_find(content, "error");
    buf_printf(&t->seeing, "\n$ %s\n", step->action);
    buf_add_str(&t->seeing, utf8_truncate(str_from(observation), STATE_BYTES / 4));
    t->steps[row->event.key] = (struct step){ .state = NULL };
}

static int tell_message(struct telling *t, const struct run_event_row *row)
{
    struct message message;
    AUTO_JSON content = NULL;

    if (!row->ref)
        return 0;
    if (read_message(t, row, &message, &content) < 0)
        return -1;
    switch (row->event.type) {
    case RUN_EV_START:
        t->prompt = member(t, content, "text");
        break;
    case RUN_EV_MUSING:
        t->thinking = member(t, content, "thinking");
        break;
    case RUN_EV_CALL:
        t->steps[row->event.key] = (struct step){
            .state = state_of(t),
            .action = action_of(t, message.tool_name, json_str(json_find(content, "arguments"))),
            .thinking = t->thinking,
        };
        break;
    case RUN_EV_SETTLED:
        settle(t, row, content);
        break;
    default:
        break;
    }
    return 0;
}

/* A person's other arguments are what was done. */
static int tell_edit(struct telling *t, const struct run_event_row *row)
{
    struct inbox_item item;

    if (!row->ref)
        return 0;
    if (inbox_get_n(t->domain, row->ref, &t->arena, &item, t->err) < 0)
        return -1;
    if (item.answer.n)
        t->steps[row->event.key].action = action_of(t, item.tool_name, item.answer);
    return 0;
}

static bool gave_up(struct str checked)
{
    AUTO_JSON data = NULL;
    bool yes = false;

    return json_parse(checked, &data, NULL) == 0 &&
           json_get_bool(data, "gaveUp", &yes, NULL) == 1 && yes;
}

static int tell(struct telling *t, const struct run_event_row *row)
{
    switch (row->event.type) {
    case RUN_EV_THINK:
        t->thinking = NULL;
        return 0;
    case RUN_EV_EDIT:
        return tell_edit(t, row);
    case RUN_EV_ACT:
        t->steps[row->event.key].acted = true;
        return 0;
    case RUN_EV_OBSERVE:
        t->iterations++;
        buf_clear(&t->seen);
        buf_add_str(&t->seen, utf8_truncate(buf_str(&t->seeing), STATE_BYTES));
        buf_clear(&t->seeing);
        return 0;
    case RUN_EV_CHECKED:
        t->finished = row->event.bits & RUN_FINISHED && !(row->event.bits & RUN_FAILED) &&
                      !gave_up(row->data);
        return 0;
    case RUN_EV_START:
    case RUN_EV_MUSING:
    case RUN_EV_CALL:
    case RUN_EV_SETTLED:
        return tell_message(t, row);
    default:
        return 0;
    }
}

static bool tell_row(void *arg, const struct run_event_row *row)
{
    struct telling *t = arg;

    if (row->event.key > RUN_CALLS_MAX) {
        err_set(t->err, ERR_INTEGRITY_FAILED, "row %lld of the log: there is no call %u",
                (long long)row->n, row->event.key);
        t->failed = true;
    } else if (tell(t, row) < 0) {
        t->failed = true;
    }
    return !t->failed;
}

/* ---- a run ---- */

/* The prompt is known after the first row, so the steps are written first and wrapped here. */
static void finish(struct telling *t, struct str steps, struct buf *line)
{
    struct json_writer w = JSON_WRITER(line);
    bool success = t->finished && t->run.status == RUN_DONE && (!t->calls || t->acts);

    json_write_object_begin(&w);
    json_put_str(&w, "task_id", t->run.run_key);
    json_put_text(&w, "prompt", t->prompt ? t->prompt : "");
    json_put_raw(&w, "steps", steps);
    json_put_text(&w, "outcome", success ? "success" : "failure");
    json_put_i64(&w, "iterations", t->iterations);
    json_put_i64(&w, "reward", success);
    json_write_object_end(&w);
}

static int tell_run(struct telling *t, struct buf *line)
{
    t->w = JSON_WRITER(&t->out);
    json_write_array_begin(&t->w);
    if (run_events_of_run(t->domain, t->run.n, tell_row, t, t->err) < 0 || t->failed)
        return err_wrap(t->err, "trajectory of run %.*s", STR_ARG(str_take(t->run.run_key, 8)));
    json_write_array_end(&t->w);
    if (json_write_end(&t->w) < 0)
        return err_set(t->err, ERR_TOO_LARGE, "the trajectory of run %.*s is too long",
                       STR_ARG(str_take(t->run.run_key, 8)));
    finish(t, buf_str(&t->out), line);
    return 0;
}

static int one(struct domain *domain, const struct run_record *run, run_line_fn *line, void *arg,
               struct err *err)
{
    struct telling t = { .domain = domain,
                         .arena = ARENA_INIT,
                         .run = *run,
                         .seen = BUF_INIT(STATE_BYTES),
                         .seeing = BUF_INIT(4 * LIMIT_JSON_BYTES),
                         .out = BUF_INIT(4 * LIMIT_JSON_BYTES),
                         .err = err };
    AUTO_BUF text = BUF_INIT(5 * LIMIT_JSON_BYTES);
    int r = tell_run(&t, &text);

    if (r == 0)
        line(arg, buf_str(&text));
    buf_release(&t.seen);
    buf_release(&t.seeing);
    buf_release(&t.out);
    arena_release(&t.arena);
    return r;
}

/* ---- all of them ---- */

static bool wanted(const struct run_record *run, const struct trajectory_filter *filter)
{
    return run->ended_at && str_is(run->mode, "wiggum") && run->created_at >= filter->since_ms;
}

int run_trajectories(struct domain *agent_domain, const struct trajectory_filter *filter,
                     run_line_fn *line, void *arg, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct agent agent = { .n = 0 };
    struct run_record *runs;
    int64_t before = 0;
    size_t n = PAGE;
    int told = 0;

    if (filter->agent_id.n && agent_get(agent_domain, filter->agent_id, &arena, &agent, err) < 0)
        return -1;
    while (n == PAGE) {
        arena_reset(&arena);
        if (run_records(agent_domain, agent.n, before, PAGE, &arena, &runs, &n, err) < 0)
            return -1;
        for (size_t i = 0; i < n; i++) {
            before = runs[i].n;
            if (!wanted(&runs[i], filter))
                continue;
            if (one(agent_domain, &runs[i], line, arg, err) < 0)
                return -1;
            told++;
        }
    }
    return told;
}
