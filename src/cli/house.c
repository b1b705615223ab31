/* Wiring a data directory's parts together.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/house.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"
#include "cli/config.h"
#include "cli/data_dir.h"
#include "cli/models.h"
#include "run/program.h"

/* ---- opening ---- */

static int open_domains(struct house *house, struct err *err)
{
    if (domains_open(house->config, house->data_dir, &house->domains, err) == 0)
        return 0;
    if (err->code == ERR_INTEGRITY_FAILED)
        err_wrap(err, "stored data is damaged (`dormouse doctor` says where and what to do)");
    else if (err->code == ERR_STORAGE_FAILED)
        err_wrap(err, "the data can't be written (`dormouse doctor` looks at disk and rights)");
    return -1;
}

int house_open(struct house *house, const struct config *config, const char *data_dir,
               struct err *err)
{
    house->config = config;
    house->data_dir = data_dir;
    if (data_dir_prepare(data_dir, err) < 0 || data_dir_lock(data_dir, &house->lock_fd, err) < 0 ||
        open_domains(house, err) < 0 || loop_new(NULL, &house->loop, err) < 0)
        return -1;
    for (size_t i = 0; i < DOMAINS_COUNT; i++)
        loop_attach(house->loop, house->domains.at[i]);
    return 0;
}

/* ---- models ---- */

static int open_models(struct house *house, struct err *err)
{
    struct model_gateway_config how = { .loop = house->loop,
                                        .secret = models_secret,
                                        .consent = models_consent,
                                        .arg = &house->access };

    models_init(&house->specs, house->config, house->data_dir);
    how.models = house->specs.items;
    how.model_count = house->specs.n;
    house->access = (struct models_access){ .secrets = house->secrets,
                                            .agent = house->domains.at[DOMAIN_AGENT] };
    return model_gateway_new(&how, &house->models, err);
}

/* ---- policy and tools ---- */

static int open_policy(struct house *house, struct err *err)
{
    const char *path = arena_printf(&house->arena, "%s/policy.yaml", house->data_dir);
    AUTO_BUF text = BUF_INIT(LIMIT_YAML_BYTES);
    struct err absent = ERR_INIT;

    if (file_read(path, &text, &absent) < 0) {
        if (absent.code == ERR_NOT_FOUND)
            return 0;
        *err = absent;
        return -1;
    }
    sha256_text(buf_str(&text), house->policy_hash);
    return bp_policy_load(path, &house->policy, err);
}

static void fill_sandbox(struct house *house, struct sandbox_spec *spec)
{
    const struct config *config = house->config;

    *spec = (struct sandbox_spec){
        .allow_write = (const char *const *)config->sandbox_allow_write.items,
        .deny_read = (const char *const *)config->sandbox_deny_read.items,
        .allow_domains = (const char *const *)config->sandbox_allowed_domains.items,
        .data_dir = house->data_dir,
        .time_limit_ms = config->sandbox_timeout_ms,
        .memory_bytes = (uint64_t)config->sandbox_memory_bytes,
        .processes = (uint64_t)config->sandbox_processes,
        .off = !config->sandbox_enabled,
    };
}

static int open_runner(struct house *house, struct err *err)
{
    struct domain *agent = house->domains.at[DOMAIN_AGENT];
    const struct bp_program *program = &run_program;
    struct tool_bed_config bed = { .loop = house->loop,
                                   .agent_domain = agent,
                                   .kill = house->kill,
                                   .policy = house->policy,
                                   .policy_text_hash = house->policy_hash };
    struct runner_config runner = {
        .loop = house->loop,
        .agent_domain = agent,
        .change = house->change,
        .models = house->models,
        .kill = house->kill,
        .default_agent_name = house->config->agent_name,
        .default_model = house->config->agent_model,
        .default_cwd = house->cwd,
    };

    if (!getcwd(house->cwd, sizeof(house->cwd)))
        snprintf(house->cwd, sizeof(house->cwd), "/");
    if (house->policy && run_program_with_policy(house->policy, &house->arena, &program, err) < 0)
        return -1;
    bed.program = house->policy ? program : NULL;
    runner.program = program;
    fill_sandbox(house, &runner.sandbox);
    if (tool_bed_new(&bed, &house->tools, err) < 0)
        return -1;
    runner.tools = house->tools;
    return runner_new(&runner, &house->runner, err);
}

/* So that there is somebody to talk to from the first start. */
static int ensure_agent(struct house *house, struct err *err)
{
    struct domain *domain = house->domains.at[DOMAIN_AGENT];
    struct agent agent;
    int r;

    if (loop_unit_begin(house->loop, domain, err) < 0)
        return -1;
    r = agent_ensure_default(domain, house->change, house->config->agent_name,
                             clock_wall_ms(loop_clock(house->loop)), &house->arena, &agent, err);
    if (loop_unit_end(house->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r < 0 ? -1 : 0;
}

int house_wake(struct house *house, struct err *err)
{
    struct domain *agent = house->domains.at[DOMAIN_AGENT];

    house->secrets = secrets_new(house->data_dir);
    if (change_open(agent, NULL, NULL, &house->change, err) < 0 ||
        kill_open(agent, &house->kill, err) < 0 || open_policy(house, err) < 0 ||
        open_models(house, err) < 0 || ensure_agent(house, err) < 0)
        return -1;
    return open_runner(house, err);
}

/* ---- closing ---- */

void house_sleep(struct house *house)
{
    if (house->runner)
        runner_stop(house->runner);
    model_gateway_free(house->models);
    tool_bed_free(house->tools);
    house->models = NULL;
    house->tools = NULL;
}

void house_release(struct house *house)
{
    house_sleep(house);
    if (house->loop)
        model_servers_wait(house->loop);
    loop_free(house->loop);
    runner_free(house->runner);
    bp_policy_free(house->policy);
    kill_switches_free(house->kill);
    secrets_free(house->secrets);
    change_free(house->change);
    models_release(&house->specs);
    domains_release(&house->domains);
    arena_release(&house->arena);
    if (house->lock_fd >= 0)
        close(house->lock_fd);
    *house = HOUSE_INIT;
}
