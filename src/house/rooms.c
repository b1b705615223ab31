/* Wiring policy, models, tools and the runner together.
 *
 * SPDX-License-Identifier: MIT
 */
#include "house/rooms.h"

#include <stdio.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "house/data_dir.h"
#include "memory/edit.h"
#include "run/program.h"

static int open_policy(struct rooms *rooms, const char *data_dir, struct err *err)
{
    const char *path = arena_printf(&rooms->arena, "%s/policy.yaml", data_dir);
    AUTO_BUF text = BUF_INIT(LIMIT_YAML_BYTES);
    struct err absent = ERR_INIT;

    if (file_read(path, &text, &absent) < 0) {
        if (absent.code == ERR_NOT_FOUND)
            return 0;
        *err = absent;
        return -1;
    }
    sha256_text(buf_str(&text), rooms->policy_hash);
    rooms->policy_text = arena_str(&rooms->arena, buf_str(&text));
    return bp_policy_load(path, &rooms->policy, err);
}

/* A policy under which a run could hang is refused before a run meets it. */
static int check_policy(const struct bp_program *program, const char *data_dir, struct err *err)
{
    int r = run_policy_check(program, err);

    if (r < 0)
        return err_wrap(err, "%s/policy.yaml", data_dir);
    if (r == 0)
        LOG_WARN("house", "the policy is too large to prove at the start that every run can end; "
                          "dormouse verify takes the time");
    return 0;
}

/* Of those who share a database each has counters of its own. */
static int open_change(struct rooms *rooms, const struct rooms_config *config, struct err *err)
{
    char host[UUID_TEXT_SIZE];
    bool shared = domain_is_shared(config->agent);

    if (shared && data_dir_host(config->data_dir, host, err) < 0)
        return -1;
    if (change_open_as(config->agent, shared ? host : NULL, NULL, NULL, &rooms->change, err) < 0)
        return -1;
    return change_join(rooms->change, config->journal, err);
}

static void open_journal(struct rooms *rooms, const struct rooms_config *config)
{
    rooms->journal = journal_new(&(struct journal_config){
        .loop = config->loop, .domain = config->journal, .change = rooms->change });
}

static void open_desk(struct rooms *rooms, const struct rooms_config *config)
{
    rooms->desk = desk_new(&(struct desk_config){ .journal = rooms->journal,
                                                  .agent_domain = config->agent,
                                                  .change = rooms->change,
                                                  .tools = rooms->tools });
}

/* What agents may not read does not wake them either; nor does what Dormouse itself writes. */
static struct folder_rules unwatched(struct rooms *rooms, const struct rooms_config *config)
{
    const struct config_list *denied = &rooms->config->sandbox_deny_read;
    const char **all;
    size_t n = denied->n;
    AUTO_TEXT usual = NULL;

    all = ARENA_NEW_N(&rooms->arena, const char *, n + 2);
    for (size_t i = 0; i < n; i++)
        all[i] = denied->items[i];
    all[n++] = config->data_dir;
    /* Another house's files are no more an agent's business than this one's. */
    if (data_dir_resolve(NULL, &usual, NULL) == 0)
        all[n++] = arena_text(&rooms->arena, usual);
    return (struct folder_rules){ .denied = all, .count = n, .base = rooms->cwd };
}

static int open_waker(struct rooms *rooms, const struct rooms_config *config, struct err *err)
{
    const struct waker_config how = { .loop = config->loop,
                                      .agent_domain = config->agent,
                                      .journal = rooms->journal,
                                      .change = rooms->change,
                                      .runner = rooms->runner,
                                      .kill = rooms->kill,
                                      .folders = unwatched(rooms, config),
                                      .cooldown_ms = config->cooldown_ms,
                                      .runs_per_hour = config->runs_per_hour,
                                      .max_flights = config->max_flights,
                                      .lease_ms = config->lease_ms,
                                      .poll_ms = config->poll_ms };

    if (waker_new(&how, &rooms->waker, err) < 0)
        return -1;
    builder_set_waker(rooms->builder, rooms->waker);
    desk_set_alarms(rooms->desk, &waker_alarms, rooms->waker);
    return 0;
}

static int open_files(struct rooms *rooms, const struct rooms_config *config, struct err *err)
{
    struct files_config how = { .loop = config->loop,
                                .agent_domain = config->agent,
                                .change = rooms->change,
                                .view_dir =
                                    arena_printf(&rooms->arena, "%s/files", config->data_dir),
                                .admits = memory_admits };

    return files_new(&how, &rooms->files, err);
}

static int open_models(struct rooms *rooms, const struct rooms_config *config, struct err *err)
{
    struct model_gateway_config how = { .loop = config->loop,
                                        .models = config->models,
                                        .model_count = config->model_count,
                                        .secret = config->secret,
                                        .consent = config->consent,
                                        .arg = config->arg };

    return model_gateway_new(&how, &rooms->models, err);
}

static void find_cwd(struct rooms *rooms, const char *given)
{
    if (given)
        snprintf(rooms->cwd, sizeof(rooms->cwd), "%s", given);
    else if (!getcwd(rooms->cwd, sizeof(rooms->cwd)))
        snprintf(rooms->cwd, sizeof(rooms->cwd), "/");
}

static void open_builder(struct rooms *rooms, const struct rooms_config *config)
{
    rooms->builder = builder_new(&(struct builder_config){ .loop = config->loop,
                                                           .agent_domain = config->agent,
                                                           .change = rooms->change,
                                                           .models = rooms->models,
                                                           .tools = rooms->tools,
                                                           .files = rooms->files,
                                                           .connect = rooms->connect,
                                                           .journal = rooms->journal });
}

static int open_connect(struct rooms *rooms, const struct rooms_config *config, struct err *err)
{
    struct connect_config how = config->connect;

    how.loop = config->loop;
    how.agent_domain = config->agent;
    if (connect_new(&how, &rooms->connect, err) < 0)
        return -1;
    connect_bind(rooms->connect, rooms->tools);
    return 0;
}

static int open_skills(struct rooms *rooms, const struct rooms_config *config, struct err *err)
{
    struct skills_config how = { .loop = config->loop,
                                 .agent_domain = config->agent,
                                 .change = rooms->change,
                                 .files = rooms->files,
                                 .tools = rooms->tools,
                                 .shared_root = config->skills_root,
                                 .trusted_keys = config->skill_keys };

    return skills_new(&how, &rooms->skills, err);
}

static int tell_more(void *arg, const struct agent *agent, struct buf *out, struct arena *arena,
                     struct str *ret_taint, struct err *err)
{
    struct rooms *rooms = arg;

    desk_tell(agent, out);
    return skills_prompt(rooms->skills, agent, out, arena, ret_taint, err);
}

/* Somebody to talk to from the first start; and the wizard, so that it can be spoken to by its id,
 * in whatever words this binary has for it. */
static int ensure_agents(struct rooms *rooms, const struct rooms_config *config, struct err *err)
{
    struct agent agent;
    int r;

    if (loop_unit_begin(config->loop, config->agent, err) < 0)
        return -1;
    r = builder_ensure_first(rooms->builder, config->agent_name, &rooms->arena, &agent, err);
    if (r >= 0)
        r = builder_ensure_wizard(rooms->builder, &rooms->arena, &agent, err);
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r < 0 ? -1 : 0;
}

/* ---- what a run may do ---- */

static const char *const *copy_list(const struct config_list *list, struct arena *arena)
{
    const char **copy = ARENA_NEW_N(arena, const char *, list->n + 1);

    for (size_t i = 0; i < list->n; i++)
        copy[i] = arena_text(arena, list->items[i]);
    return copy;
}

void rooms_sandbox(const struct config *config, const char *data_dir, struct arena *arena,
                   struct sandbox_spec *spec)
{
    *spec = (struct sandbox_spec){
        .cwd = spec->cwd,
        .data_dir = data_dir,
        .allow_write = copy_list(&config->sandbox_allow_write, arena),
        .deny_read = copy_list(&config->sandbox_deny_read, arena),
        .allow_domains = copy_list(&config->sandbox_allowed_domains, arena),
        .allow_unix_sockets = copy_list(&config->sandbox_unix_sockets, arena),
        .allow_home = config->sandbox_allow_home,
        .time_limit_ms = config->sandbox_timeout_ms,
        .memory_bytes = (uint64_t)config->sandbox_memory_bytes,
        .processes = (uint64_t)config->sandbox_processes,
        .disk_bytes = (uint64_t)config->sandbox_disk_bytes,
        .files = (uint64_t)config->sandbox_files,
        .off = !config->sandbox_enabled,
    };
}

void rooms_budget(const struct config *config, struct budget_limits *limits)
{
    *limits = (struct budget_limits){
        .agent = { .tokens = config->budget_tokens_per_day,
                   .cost = (int64_t)(config->budget_cost_per_day * 1e6),
                   .tool_calls = config->budget_tool_calls_per_day },
        .all = { .tokens = config->budget_all_tokens_per_day,
                 .cost = (int64_t)(config->budget_all_cost_per_day * 1e6),
                 .tool_calls = config->budget_all_tool_calls_per_day },
    };
}

/* By the files that are there now: the settings were read when the daemon started. */
static int bounds_for(void *arg, const char *cwd, struct arena *arena, struct run_bounds *bounds,
                      struct err *err)
{
    const struct rooms *rooms = arg;
    AUTO(config) config = NULL;

    if (config_for_dir(rooms->config, rooms->data_dir, cwd, &config, NULL, err) < 0)
        return -1;
    rooms_sandbox(config, rooms->data_dir, arena, &bounds->sandbox);
    bounds->sandbox.resolved = true;
    rooms_budget(config, &bounds->budget);
    return 0;
}

static int open_runner(struct rooms *rooms, const struct rooms_config *config, struct err *err)
{
    const struct bp_program *program = &run_program;
    struct tool_bed_config bed = { .loop = config->loop,
                                   .agent_domain = config->agent,
                                   .kill = rooms->kill,
                                   .policy = rooms->policy,
                                   .policy_text_hash = rooms->policy_hash,
                                   .files = rooms->files };
    struct runner_config runner = {
        .loop = config->loop,
        .agent_domain = config->agent,
        .change = rooms->change,
        .models = rooms->models,
        .kill = rooms->kill,
        .default_agent_name = config->agent_name,
        .default_model = config->agent_model,
        .default_cwd = rooms->cwd,
        .files = rooms->files,
        .bounds = bounds_for,
        .bounds_arg = rooms,
    };

    if (rooms->policy && run_program_with_policy(rooms->policy, &rooms->arena, &program, err) < 0)
        return -1;
    if (program != &run_program && check_policy(program, config->data_dir, err) < 0)
        return -1;
    bed.program = rooms->policy ? program : NULL;
    runner.program = program;
    if (program != &run_program)
        runner.policy_text = rooms->policy_text;
    rooms_sandbox(rooms->config, config->data_dir, &rooms->arena, &runner.sandbox);
    rooms_budget(rooms->config, &runner.budget);
    if (tool_bed_new(&bed, &rooms->tools, err) < 0 || open_connect(rooms, config, err) < 0)
        return -1;
    open_desk(rooms, config);
    if (open_skills(rooms, config, err) < 0)
        return -1;
    open_builder(rooms, config);
    if (ensure_agents(rooms, config, err) < 0)
        return -1;
    runner.tools = rooms->tools;
    runner.more_system = tell_more;
    runner.more_system_arg = rooms;
    if (runner_new(&runner, &rooms->runner, err) < 0)
        return -1;
    builder_set_runner(rooms->builder, rooms->runner);
    return 0;
}

/* One line when a domain stops taking writes, one when it takes them again. */
static void health_changed(struct domain *domain, enum domain_health health, const struct err *why,
                           void *arg)
{
    static const char *const says[] = {
        [DOMAIN_OK] = "the store takes writes again",
        [DOMAIN_AWAY] = "the database server can't be reached; it is tried again until it can",
        [DOMAIN_READ_ONLY] = "a write failed; until one succeeds there is only reading",
        [DOMAIN_LOST] = "a sync failed; the next start finds out what was saved",
    };
    struct rooms *rooms = arg;

    if (health == DOMAIN_OK)
        LOG_INFO("store", says[health], LOG_TEXT("domain", domain_name(domain)));
    else if (why)
        LOG_WARN("store", says[health], LOG_TEXT("domain", domain_name(domain)), LOG_ERR(why));
    else
        LOG_WARN("store", says[health], LOG_TEXT("domain", domain_name(domain)));
    if (!loop_is_healthy(rooms->loop))
        return;
    if (rooms->runner)
        runner_look_again(rooms->runner);
    if (rooms->waker)
        waker_look(rooms->waker);
}

int rooms_open(struct rooms *rooms, const struct rooms_config *config, struct err *err)
{
    rooms->loop = config->loop;
    loop_on_health(config->loop, health_changed, rooms);
    rooms->config = config->config;
    if (!rooms->config && config_builtin(&rooms->builtin, err) < 0)
        return -1;
    if (!rooms->config)
        rooms->config = rooms->builtin;
    rooms->data_dir = config->data_dir;
    find_cwd(rooms, config->cwd);
    if (open_change(rooms, config, err) < 0)
        return -1;
    open_journal(rooms, config);
    if (kill_open(config->agent, &rooms->kill, err) < 0 ||
        open_policy(rooms, config->data_dir, err) < 0 || open_models(rooms, config, err) < 0 ||
        open_files(rooms, config, err) < 0)
        return -1;
    if (open_runner(rooms, config, err) < 0)
        return -1;
    return open_waker(rooms, config, err);
}

void rooms_stop(struct rooms *rooms)
{
    if (rooms->loop)
        loop_on_health(rooms->loop, NULL, NULL);
    if (rooms->waker)
        waker_stop(rooms->waker);
    if (rooms->runner)
        runner_stop(rooms->runner);
    model_gateway_free(rooms->models);
    connect_stop(rooms->connect);
    tool_bed_free(rooms->tools);
    desk_free(TAKE(rooms->desk));
    files_free(rooms->files);
    connect_free(TAKE(rooms->connect));
    rooms->models = NULL;
    rooms->tools = NULL;
    rooms->files = NULL;
}

void rooms_release(struct rooms *rooms)
{
    rooms_stop(rooms);
    if (rooms->loop) {
        model_wait(rooms->loop);
        loop_settle(rooms->loop); /* hands of runs that have just ended */
    }
    loop_free(rooms->loop);
    waker_free(rooms->waker);
    runner_free(rooms->runner);
    journal_free(rooms->journal);
    builder_free(rooms->builder);
    bp_policy_free(rooms->policy);
    kill_switches_free(rooms->kill);
    skills_free(rooms->skills);
    change_free(rooms->change);
    config_free(rooms->builtin);
    arena_release(&rooms->arena);
    *rooms = ROOMS_INIT;
}
