/* The library: opening, runs, and working in a loop of one's own or another's.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ftw.h>
#include <json-c/json_object.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/json_write.h"
#include "base/limits.h"
#include "db/migrations.h"
#include "embed/embed_int.h"
#include "house/data_dir.h"
#include "house/store_files.h"

#define MODEL_ID "embedder"

const char *dm_version(void)
{
    return DORMOUSE_VERSION;
}

int embed_fail(struct dm_error *error, const struct err *err)
{
    if (!error)
        return -1;
    snprintf(error->code, sizeof(error->code), "%s", err_name(err->code));
    err_format(err, error->message, sizeof(error->message));
    return -1;
}

/* ---- opening ---- */

/* An older program knows a shorter struct. */
static int read_config(const struct dm_agent_config *given, struct dm_agent_config *ret_config,
                       struct err *err)
{
    struct dm_agent_config config = DM_AGENT_CONFIG_INIT;

    if (!given || given->size < sizeof(size_t) || given->size > 4096)
        return err_set(err, ERR_BAD_REQUEST, "config.size is not that of struct dm_agent_config");
    memcpy(&config, given, given->size < sizeof(config) ? given->size : sizeof(config));
    *ret_config = config;
    return 0;
}

static char *copy_of(const char *text)
{
    return text ? alloc_copy(text, strlen(text)) : NULL;
}

static void keep_config(struct dm_house *house, const struct dm_agent_config *config)
{
    house->agent_name = copy_of(config->agent_name ? config->agent_name : "Planner");
    house->cwd = copy_of(config->cwd);
    house->model_call = config->model_call;
    house->model_arg = config->model_arg;
    house->on_event = config->on_event;
    house->event_arg = config->event_arg;
}

static int make_directory(struct dm_house *house, const char *given, struct err *err)
{
    char name[] = "/tmp/dormouse-XXXXXX";

    if (given)
        return data_dir_resolve(given, &house->directory, err);
    if (!mkdtemp(name))
        return err_set(err, ERR_STORAGE_FAILED, "no temporary directory can be made in /tmp");
    house->directory = copy_of(name);
    house->temporary = true;
    return 0;
}

static int open_domain(struct dm_house *house, const char *name, const struct migration *migrations,
                       size_t migration_count, struct domain **ret_domain, struct err *err)
{
    AUTO_BUF url = BUF_INIT(8192);
    struct domain_config how = { .name = name,
                                 .migrations = migrations,
                                 .migration_count = migration_count,
                                 .sync = DB_SYNC_FULL };

    buf_printf(&url, "sqlite:%s/%s.sqlite", house->directory, name);
    how.url = buf_text(&url);
    return domain_open(&how, ret_domain, err);
}

static int open_store(struct dm_house *house, struct err *err)
{
    if (data_dir_prepare(house->directory, err) < 0 ||
        data_dir_lock(house->directory, &house->lock_fd, err) < 0 ||
        store_files_begin(house->directory, err) < 0 ||
        open_domain(house, "journal", migrations_journal, migrations_journal_count, &house->journal,
                    err) < 0 ||
        open_domain(house, "agent", migrations_agent, migrations_agent_count, &house->agent, err) <
            0 ||
        store_files_made(house->directory, house->journal, house->agent, err) < 0 ||
        loop_new(NULL, &house->loop, err) < 0)
        return -1;
    loop_attach(house->loop, house->journal);
    loop_attach(house->loop, house->agent);
    return 0;
}

static void heard(struct run_listener *listener, const struct run_public *event)
{
    struct dm_house *house =
        (struct dm_house *)((char *)listener - offsetof(struct dm_house, listener));
    char *run, *json;

    if (!house->on_event)
        return;
    run = alloc_copy(event->run_id.p, event->run_id.n);
    json = alloc_copy(event->json.p, event->json.n);
    house->on_event(house->event_arg, run, json);
    free(run);
    free(json);
}

/* The built-in settings; the working directory may be written to, and what the program adds. */
static int open_config(struct dm_house *house, const struct dm_agent_config *config,
                       struct err *err)
{
    struct json_object *writable = json_object_new_array();

    json_object_array_add(writable, json_object_new_string("."));
    for (size_t i = 0; config->allow_write && config->allow_write[i]; i++)
        json_object_array_add(writable, json_object_new_string(config->allow_write[i]));
    if (config_builtin(&house->config, err) < 0) {
        json_object_put(writable);
        return -1;
    }
    if (config_set(house->config, "sandbox.security.allowWrite", writable, err) < 0)
        return -1;
    /* The program that embeds us has named its places. */
    if (config_set(house->config, "sandbox.security.allowHome", json_object_new_boolean(true),
                   err) < 0)
        return -1;
    return config_set(house->config, "sandbox.enabled",
                      json_object_new_boolean(!config->no_sandbox), err);
}

static int open_rooms(struct dm_house *house, struct err *err)
{
    struct rooms_config how = {
        .data_dir = house->directory,
        .loop = house->loop,
        .journal = house->journal,
        .agent = house->agent,
        .models = &house->spec,
        .model_count = house->model_call != NULL,
        .agent_name = house->agent_name,
        .agent_model = house->model_call ? MODEL_ID : "offline",
        .cwd = house->cwd,
        .config = house->config,
    };

    house->spec = (struct model_spec){
        .id = MODEL_ID, .provider = "call", .call = embed_model_call, .call_arg = house
    };
    if (rooms_open(&house->rooms, &how, err) < 0)
        return -1;
    house->listener.event = heard;
    runner_listen(house->rooms.runner, &house->listener);
    return 0;
}

int dm_open(const struct dm_agent_config *given, struct dm_house **ret_house,
            struct dm_error *error)
{
    struct dm_agent_config config = { 0 };
    struct dm_house *house;
    struct err err = ERR_INIT;

    if (read_config(given, &config, &err) < 0)
        return embed_fail(error, &err);
    house = NEW(struct dm_house);
    *house = (struct dm_house){ .rooms = ROOMS_INIT, .lock_fd = -1 };
    keep_config(house, &config);
    if (make_directory(house, config.directory, &err) < 0 || open_store(house, &err) < 0 ||
        open_config(house, &config, &err) < 0 || open_rooms(house, &err) < 0) {
        dm_close(house);
        return embed_fail(error, &err);
    }
    *ret_house = house;
    return 0;
}

/* ---- closing ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    remove(path);
    return 0;
}

void dm_close(struct dm_house *house)
{
    if (!house)
        return;
    house->on_event = NULL;
    house->rooms.loop = house->loop;
    rooms_release(&house->rooms);
    embed_tools_free(house);
    domain_free(house->agent);
    domain_free(house->journal);
    if (house->lock_fd >= 0)
        close(house->lock_fd);
    if (house->temporary)
        nftw(house->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    config_free(house->config);
    free(house->directory);
    free(house->agent_name);
    free(house->cwd);
    free(house);
}

/* ---- runs ---- */

static int read_mode(int mode, enum run_mode *ret_mode, struct err *err)
{
    if (mode != DM_STRUCTURED && mode != DM_WIGGUM)
        return err_set(err, ERR_BAD_REQUEST, "no such mode: %d; DM_STRUCTURED or DM_WIGGUM", mode);
    *ret_mode = mode == DM_WIGGUM ? RUN_COOK : RUN_STRUCTURED;
    return 0;
}

int dm_start(struct dm_house *house, const struct dm_prompt *given, char ret_run_id[DM_ID_SIZE],
             struct dm_error *error)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct dm_prompt prompt = { .size = sizeof(prompt) };
    struct run_request request;
    struct run_info info;
    struct err err = ERR_INIT;

    if (!given || given->size < 2 * sizeof(size_t) || given->size > 4096) {
        err_set(&err, ERR_BAD_REQUEST, "prompt.size is not that of struct dm_prompt");
        return embed_fail(error, &err);
    }
    memcpy(&prompt, given, given->size < sizeof(prompt) ? given->size : sizeof(prompt));
    request = (struct run_request){ .prompt = str_from(prompt.prompt),
                                    .session_id = str_from(prompt.session),
                                    .turn_id = str_from(prompt.turn),
                                    .max_iterations = prompt.max_iterations,
                                    .max_tokens = prompt.max_tokens,
                                    .max_tool_calls = prompt.max_tool_calls,
                                    .max_ms = prompt.max_ms };
    if (read_mode(prompt.mode, &request.mode, &err) < 0 ||
        run_start(house->rooms.runner, &request, &arena, &info, &err) < 0)
        return embed_fail(error, &err);
    snprintf(ret_run_id, DM_ID_SIZE, "%.*s", STR_ARG(info.run_id));
    return 0;
}

int dm_cancel(struct dm_house *house, const char *run_id, struct dm_error *error)
{
    struct err err = ERR_INIT;

    if (run_cancel(house->rooms.runner, str_from(run_id), &err) < 0)
        return embed_fail(error, &err);
    return 0;
}

int dm_set_mode(struct dm_house *house, const char *run_id, int mode, struct dm_error *error)
{
    enum run_mode to = RUN_STRUCTURED;
    struct err err = ERR_INIT;

    if (read_mode(mode, &to, &err) < 0 ||
        run_set_mode(house->rooms.runner, str_from(run_id), to, &err) < 0)
        return embed_fail(error, &err);
    return 0;
}

static int read_decision(int decision, int scope, const char *text, struct buf *room,
                         struct inbox_decision *ret_decision, struct err *err)
{
    static const enum inbox_state states[] = { [DM_APPROVE] = INBOX_APPROVED,
                                               [DM_REJECT] = INBOX_REJECTED,
                                               [DM_EDIT] = INBOX_EDITED,
                                               [DM_ANSWER] = INBOX_ANSWERED };
    bool anyway = decision > 0 && decision & DM_ANYWAY;

    if (anyway)
        decision &= ~DM_ANYWAY;
    if (decision < DM_APPROVE || decision > DM_ANSWER || scope < DM_ONCE || scope > DM_ALWAYS)
        return err_set(err, ERR_BAD_REQUEST, "no such decision or scope: %d, %d", decision, scope);
    if (!text && (decision == DM_EDIT || decision == DM_ANSWER))
        return err_set(err, ERR_BAD_REQUEST, "an edit or an answer needs its text");
    *ret_decision = (struct inbox_decision){ .state = states[decision],
                                             .scope = (enum inbox_scope)scope,
                                             .anyway = anyway,
                                             .by = STR("owner") };
    if (decision == DM_REJECT)
        ret_decision->reason = str_from(text);
    if (decision == DM_EDIT)
        ret_decision->answer = str_from(text);
    if (decision == DM_ANSWER) {
        json_quote(room, str_from(text));
        ret_decision->answer = buf_str(room);
    }
    return 0;
}

int dm_decide(struct dm_house *house, const char *item_id, int decision, int scope,
              const char *text, struct dm_error *error)
{
    AUTO_BUF room = BUF_INIT(LIMIT_JSON_BYTES);
    struct inbox_decision said;
    struct err err = ERR_INIT;
    int r = read_decision(decision, scope, text, &room, &said, &err);

    if (r == 0)
        r = run_decide(house->rooms.runner, str_from(item_id), &said, &err);
    return r < 0 ? embed_fail(error, &err) : r;
}

static int state_of(struct str status)
{
    static const struct {
        const char *status;
        int state;
    } states[] = { { "queued", DM_RUNNING },      { "running", DM_RUNNING },
                   { "waiting", DM_WAITING },     { "done", DM_DONE },
                   { "cancelled", DM_CANCELLED }, { "failed", DM_FAILED } };

    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        if (str_is(status, states[i].status))
            return states[i].state;
    }
    return DM_STATE_NONE;
}

int dm_run_state(struct dm_house *house, const char *run_id, struct dm_error *error)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct run_info info;
    struct err err = ERR_INIT;

    if (run_get(house->rooms.runner, str_from(run_id), &arena, &info, &err) < 0)
        return embed_fail(error, &err);
    return state_of(info.status);
}

/* ---- working ---- */

static int work(struct dm_house *house, uv_run_mode how, struct dm_error *error)
{
    struct err err = ERR_INIT;
    int more;

    if (house->working) {
        err_set(&err, ERR_CONFLICT, "the house is working already: not from a callback");
        return embed_fail(error, &err);
    }
    house->working = true;
    more = uv_run(loop_uv(house->loop), how);
    house->working = false;
    return more != 0;
}

int dm_step(struct dm_house *house, struct dm_error *error)
{
    if (work(house, UV_RUN_NOWAIT, error) < 0)
        return -1;
    return dm_timeout_ms(house) == 0;
}

int dm_fd(const struct dm_house *house)
{
    return uv_backend_fd(loop_uv(house->loop));
}

/* What our loop knows, and what libuv knows. */
int dm_timeout_ms(const struct dm_house *house)
{
    int ours = loop_wait_ms(house->loop), theirs;

    uv_update_time(loop_uv(house->loop));
    theirs = uv_backend_timeout(loop_uv(house->loop));
    if (ours < 0 || theirs < 0)
        return ours < 0 ? theirs : ours;
    return ours < theirs ? ours : theirs;
}

static void on_deadline(struct loop_timer *timer)
{
    timer->due_ms = 0;
}

int dm_run_until(struct dm_house *house, const char *run_id, int timeout_ms, struct dm_error *error)
{
    struct loop_timer deadline = { .fire = on_deadline };
    int64_t end = clock_mono_ms(loop_clock(house->loop)) + timeout_ms;
    int last_ticks = LOOP_LAST_TICKS, state;

    if (timeout_ms >= 0)
        loop_timer_start(house->loop, &deadline, timeout_ms);
    for (;;) {
        state = dm_run_state(house, run_id, error);
        /* Ended is what has been committed and told: not while there is something to do. */
        if (state < 0 || (state != DM_RUNNING && (loop_wait_ms(house->loop) != 0 || !last_ticks--)))
            break;
        if (timeout_ms >= 0 && clock_mono_ms(loop_clock(house->loop)) >= end)
            break;
        if (work(house, UV_RUN_ONCE, error) < 0) {
            state = -1;
            break;
        }
    }
    loop_timer_stop(house->loop, &deadline);
    return state;
}
