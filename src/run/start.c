/* Starting a run: who, where, with what; then the user's message and the first event.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "agent/session.h"
#include "base/hash.h"
#include "base/json_put.h"
#include "base/log.h"
#include "base/utf8.h"
#include "run/run_int.h"

#define PROMPT_BYTES       (1 * MIB)
#define TOOL_CALLS_DEFAULT 1000
#define NAME_BYTES         256

/* ---- checking ---- */

static int check_prompt(struct str prompt, struct err *err)
{
    if (!str_trim(prompt).n)
        return err_set(err, ERR_BAD_REQUEST, "the prompt is empty");
    if (prompt.n > PROMPT_BYTES)
        return err_set(err, ERR_TOO_LARGE, "the prompt has %zu bytes; at most %u are allowed",
                       prompt.n, PROMPT_BYTES);
    if (!utf8_valid(prompt))
        return err_set(err, ERR_BAD_REQUEST, "the prompt is not valid UTF-8");
    return 0;
}

static int check_limit(const char *name, int64_t value, int64_t max, struct err *err)
{
    if (value < 0 || value > max)
        return err_set(err, ERR_BAD_REQUEST, "%s is %lld; it must be between 1 and %lld", name,
                       (long long)value, (long long)max);
    return 0;
}

static int check_cwd(struct str cwd, struct err *err)
{
    char path[LIMIT_PATH_BYTES];
    struct stat st;

    if (!cwd.n)
        return 0;
    if (cwd.p[0] != '/' || cwd.n >= sizeof(path) || memchr(cwd.p, '\0', cwd.n))
        return err_set(err, ERR_BAD_REQUEST, "the working directory must be an absolute path");
    snprintf(path, sizeof(path), "%.*s", STR_ARG(cwd));
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(err, ERR_BAD_REQUEST, "the working directory %s is not a directory", path);
    return 0;
}

/* Parts of ids: what people and programs type. */
static int check_name(const char *what, struct str name, struct err *err)
{
    if (name.n > NAME_BYTES)
        return err_set(err, ERR_BAD_REQUEST, "%s has %zu bytes; at most %d are allowed", what,
                       name.n, NAME_BYTES);
    for (size_t i = 0; i < name.n; i++) {
        if ((unsigned char)name.p[i] < ' ')
            return err_set(err, ERR_BAD_REQUEST, "%s has a control character", what);
    }
    if (!utf8_valid(name))
        return err_set(err, ERR_BAD_REQUEST, "%s is not valid UTF-8", what);
    return 0;
}

/* A bar stands between the parts of a run's key: with one in a name, a turn of one conversation
 * could be taken for that of another. */
static int check_session(struct str session, struct err *err)
{
    if (session.n && memchr(session.p, '|', session.n))
        return err_set(err, ERR_BAD_REQUEST, "the session \"%.*s\" has a |, which is not allowed",
                       STR_ARG(str_take(session, 80)));
    return check_name("the session", session, err);
}

static int check_request(struct runner *runner, const struct run_request *request, struct err *err)
{
    char model[NAME_BYTES + 1];

    if (check_session(request->session_id, err) < 0 ||
        check_name("the thread", request->thread_id, err) < 0 ||
        check_name("the turn", request->turn_id, err) < 0 ||
        check_name("the run's key", request->run_key, err) < 0 ||
        check_name("what woke it", request->trigger_source_id, err) < 0 ||
        check_name("the model", request->model_id, err) < 0 ||
        check_prompt(request->prompt, err) < 0 || check_cwd(request->cwd, err) < 0 ||
        check_limit("maxIterations", request->max_iterations, BP_TIMES_MAX, err) < 0 ||
        check_limit("maxToolCalls", request->max_tool_calls, BP_TIMES_MAX, err) < 0 ||
        check_limit("maxTokens", request->max_tokens, INT64_MAX, err) < 0 ||
        check_limit("maxMs", request->max_ms, INT64_MAX, err) < 0)
        return -1;
    if (!request->model_id.n)
        return 0;
    snprintf(model, sizeof(model), "%.*s", STR_ARG(request->model_id));
    if (!model_spec_find(runner->config.models, model))
        return err_set(err, ERR_MODEL_NOT_ALLOWED,
                       "there is no model %s (`dormouse model list` shows those there are)", model);
    return 0;
}

int run_may_begin(const struct agent *agent, const struct kill_switches *kill, struct err *err)
{
    const struct kill_switch *on = kill ? kill_is_on(kill, agent->id, NULL) : NULL;

    if (agent->lifecycle == AGENT_DESTROYED)
        return err_set(err, ERR_AGENT_DESTROYED, "the agent %s no longer exists", agent->id);
    if (agent->paused)
        return err_set(err, ERR_AGENT_PAUSED,
                       "the agent %s is paused; `dormouse agent resume %s` ends that", agent->id,
                       agent->id);
    return on ? kill_refuse(on, err) : 0;
}

/* ---- names ---- */

static void name_run(struct run *run, const struct run_request *request)
{
    char turn[UUID_TEXT_SIZE];
    AUTO_BUF text = BUF_INIT(4096);
    char key[SHA256_TEXT_SIZE];
    struct str session = request->session_id.n ? request->session_id : request->thread_id;
    struct str turn_id = request->turn_id;

    if (request->run_key.n) {
        run->row.run_key = run->row.wake_key = arena_str(&run->arena, request->run_key);
        return;
    }
    if (!turn_id.n) {
        uuid_next_text(&run->runner->uuids, turn);
        turn_id = str_from(turn);
    }
    if (session.n)
        buf_printf(&text, "run|v1|user|%s|%.*s|%.*s", run->agent.id, STR_ARG(session),
                   STR_ARG(turn_id));
    else
        buf_printf(&text, "run|v1|manual|%s|%.*s", run->agent.id, STR_ARG(turn_id));
    sha256_text(buf_str(&text), key);
    run->row.run_key = str_from(arena_text(&run->arena, key));
}

static struct str thread_name(struct run *run, const struct run_request *request)
{
    if (request->session_id.n)
        return str_from(arena_printf(&run->arena, "%s:session:%.*s", run->agent.id,
                                     STR_ARG(request->session_id)));
    return str_from(
        arena_printf(&run->arena, "%s:run:%.*s", run->agent.id, STR_ARG(run->row.run_key)));
}

static void write_settings(struct run *run, const struct run_request *request)
{
    AUTO_BUF out = BUF_INIT(1024);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    json_put_i64(&w, "maxIterations",
                 request->max_iterations ? request->max_iterations : LIMIT_RUN_ITERATIONS);
    json_put_i64(&w, "maxToolCalls",
                 request->max_tool_calls ? request->max_tool_calls : TOOL_CALLS_DEFAULT);
    if (request->max_tokens) {
        json_put_i64(&w, "maxTokens", request->max_tokens);
    }
    if (request->max_ms) {
        json_put_i64(&w, "maxMs", request->max_ms);
    }
    json_write_object_end(&w);
    run->row.settings = arena_str(&run->arena, buf_str(&out));
}

static struct str or_else(struct arena *arena, struct str given, const char *otherwise)
{
    return given.n ? arena_str(arena, given) : str_from(otherwise);
}

/* Without links: what its files say holds for where it is, and a link could lead elsewhere later.
 */
static struct str real_cwd(struct run *run, const struct run_request *request)
{
    struct str cwd = or_else(&run->arena, request->cwd, run->runner->config.default_cwd);
    char real[PATH_MAX];

    if (!realpath(arena_copy(&run->scratch, cwd.p, cwd.n), real))
        return cwd;
    return str_from(arena_text(&run->arena, real));
}

static void fill_row(struct run *run, const struct run_request *request)
{
    const struct runner_config *config = &run->runner->config;
    const char *model = run->agent.model_id ? run->agent.model_id : config->default_model;
    struct run_record *row = &run->row;

    row->agent_n = run->agent.n;
    row->wake_reason = or_else(&run->arena, request->wake_reason, "userInitiated");
    row->status = RUN_RUNNING;
    row->mode = request->mode == RUN_COOK ? STR("wiggum") : STR("structured");
    row->model_id = or_else(&run->arena, request->model_id, model);
    row->cwd = real_cwd(run, request);
    row->override_code = arena_str(&run->arena, request->override_code);
    row->program_hash = str_of((const char *)run->runner->rules.hash, BP_HASH_BYTES);
    row->host_n = change_host(config->change);
    row->fence = run->runner->fence;
    row->created_at = row->updated_at = run->unit.now;
    run->cwd = arena_printf(&run->arena, "%.*s", STR_ARG(row->cwd));
    write_settings(run, request);
}

/* ---- the first rows ---- */

static int append_prompt(struct run *run, const struct run_request *request,
                         struct message *message, struct err *err)
{
    AUTO_BUF content = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&content);

    run_message_init(run, message,
                     request->run_key.n || request->observed ? MESSAGE_OBSERVATION : MESSAGE_USER);
    message->trigger_source_id = request->trigger_source_id;
    message->taint = request->prompt_taint;
    json_write_object_begin(&w);
    json_put_str(&w, "text", request->prompt);
    json_write_object_end(&w);
    message->content = arena_str(&run->scratch, buf_str(&content));
    return run_message_append(run, message, err);
}

static int offer_start(struct run *run, const struct message *message, struct err *err)
{
    AUTO_BUF data = BUF_INIT(1024);
    struct json_writer w = JSON_WRITER(&data);
    struct run_said said = { .ref = message->n, .message = message };
    char hash[2 * BP_HASH_BYTES + 1];

    hex_encode(run->runner->rules.hash, BP_HASH_BYTES, hash);
    json_write_object_begin(&w);
    json_put_text(&w, "agent", run->agent.id);
    json_put_text(&w, "program", hash);
    json_put_raw(&w, "settings", run->row.settings);
    json_write_object_end(&w);
    said.data = buf_str(&data);
    return run_offer(run, RUN_EV_START, 0, str_is(run->row.mode, "wiggum") ? RUN_WIGGUM : 0, &said,
                     err);
}

/* One run at a time in a thread: events have one order there. */
static int insert_only(struct run *run, struct err *err)
{
    struct domain *domain = run->runner->config.agent_domain;
    struct run_record other;
    int r = run_insert(domain, &run->row, err);

    if (r != 0)
        return r;
    if (run_open_of_thread(domain, run->thread.n, &run->scratch, &other, err) <= 0)
        return err->code ? -1 : err_set(err, ERR_CONFLICT, "the turn was sent twice");
    return err_set(
        err, ERR_CONFLICT,
        "the conversation has a run that has not ended: %.12s is %s; decide what it waits "
        "for, or cancel it",
        other.run_key.p, run_status_name(other.status));
}

static int find_agent(struct run *run, const struct run_request *request, struct err *err)
{
    const struct runner_config *config = &run->runner->config;

    if (request->agent_id.n)
        return agent_get(config->agent_domain, request->agent_id, &run->arena, &run->agent, err);
    return agent_ensure_default(config->agent_domain, config->change, config->default_agent_name,
                                run->unit.now, &run->arena, &run->agent, err);
}

/* A session begins with its first run; a thread that is named must be there. */
static int find_thread(struct run *run, const struct run_request *request, struct err *err)
{
    struct domain *domain = run->runner->config.agent_domain;
    int r;

    if (!request->thread_id.n)
        return thread_open(domain, thread_name(run, request), run->agent.n, run->unit.now,
                           &run->arena, &run->thread, err);
    r = thread_find(domain, request->thread_id, &run->arena, &run->thread, err);
    if (r < 0)
        return -1;
    if (r == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "there is no thread %.*s (`dormouse threads list` shows them; "
                       "`dormouse run --session NAME` begins one of your own naming)",
                       STR_ARG(request->thread_id));
    if (run->thread.agent_n != run->agent.n)
        return err_set(err, ERR_CONFLICT, "thread %.*s belongs to another agent",
                       STR_ARG(request->thread_id));
    return 0;
}

/* A person speaks in a conversation that has a name: it is open now, and for a while. What begins a
 * thread of its own is a question, not a conversation. */
static int hear(struct run *run, const struct run_request *request, const struct message *message,
                struct err *err)
{
    const struct runner_config *config = &run->runner->config;

    if (request->run_key.n)
        return 0;
    if ((request->session_id.n || request->thread_id.n) &&
        session_touch(config->agent_domain, &run->agent, run->thread.id, run->thread.n,
                      run->unit.now, err) < 0)
        return -1;
    if (config->spoken)
        config->spoken(config->spoken_arg);
    return run_tell_said(run, message, err);
}

/* 1 begun, 0 the turn had been sent before. */
static int begin(struct run *run, const struct run_request *request, struct err *err)
{
    struct domain *domain = run->runner->config.agent_domain;
    struct run_record earlier;
    struct message message;
    int r;

    if (find_agent(run, request, err) < 0)
        return -1;
    name_run(run, request);
    if (request->turn_id.n || request->run_key.n) {
        r = run_load(domain, run->row.run_key, &run->scratch, &earlier, err);
        if (r != 0)
            return r < 0 ? -1 : 0;
    }
    if (run_may_begin(&run->agent, run->runner->config.kill, err) < 0 ||
        (run->runner->fence && agent_hold_alive(domain, run->agent.n, err) < 0) ||
        find_thread(run, request, err) < 0)
        return -1;
    fill_row(run, request);
    if (run_bounds_read(run, err) < 0)
        return -1;
    run->row.thread_n = run->thread.n;
    if (request->rerun_of.n) {
        if (run_record_get(domain, request->rerun_of, &run->scratch, &earlier, err) < 0)
            return -1;
        run->row.rerun_of_n = earlier.n;
    }
    if (insert_only(run, err) < 0 ||
        (request->also && request->also(request->also_arg, run->row.n, err) < 0) ||
        run_engine_new(run, run->runner->config.program, err) < 0 ||
        append_prompt(run, request, &message, err) < 0)
        return -1;
    run->row.prompt_n = message.n; /* stored with the next change of the row */
    if (hear(run, request, &message, err) < 0)
        return -1;
    return offer_start(run, &message, err) < 0 ? -1 : 1;
}

static void info_of_new(const struct run *run, const struct run_request *request,
                        struct arena *arena, struct run_info *ret_info)
{
    *ret_info = (struct run_info){ .n = run->row.n,
                                   .run_id = arena_str(arena, run->row.run_key),
                                   .thread_id = arena_str(arena, run->thread.id),
                                   .agent_id = str_from(arena_text(arena, run->agent.id)),
                                   .status = str_from(run_status_name(run->row.status)),
                                   .mode = run->row.mode,
                                   .model_id = arena_str(arena, run->row.model_id),
                                   .prompt = arena_str(arena, request->prompt),
                                   .created_at = run->row.created_at,
                                   .updated_at = run->row.updated_at,
                                   .last_seq = run->thread.last_seq };
    run_info_limits(&run->limits, ret_info);
}

int run_start(struct runner *runner, const struct run_request *request, struct arena *arena,
              struct run_info *ret_info, struct err *err)
{
    struct run *run;
    struct str key;
    int r;

    if (check_request(runner, request, err) < 0)
        return -1;
    run = run_new(runner);
    run_hold(run);
    r = run_unit_begin(run, err);
    if (r == 0) {
        r = begin(run, request, err);
        key = arena_str(arena, run->row.run_key);
        if (r > 0) {
            map_put(&runner->runs, run->row.run_key, run);
            run_watch_time(run);
        }
        if (run_unit_end(run, r > 0, err) < 0)
            r = -1;
        if (r > 0)
            info_of_new(run, request, arena, ret_info);
        else if (r == 0)
            r = run_get(runner, key, arena, ret_info, err);
    }
    run_unhold(run);
    return r < 0 ? -1 : 0;
}
