/* Wiring a data directory's parts together.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/house.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/models.h"
#include "config/config.h"
#include "house/data_dir.h"
#include "house/store_files.h"

/* ---- opening ---- */

/* Records that are files belong together. */
static int open_files(struct house *house, struct err *err)
{
    bool local = domains_is_local(house->config, DOMAIN_JOURNAL);

    if (local && store_files_begin(house->data_dir, err) < 0)
        return -1;
    if (domains_open(house->config, house->data_dir, &house->domains, err) < 0)
        return -1;
    return local ? store_files_made(house->data_dir, house->domains.at[DOMAIN_JOURNAL],
                                    house->domains.at[DOMAIN_AGENT], err)
                 : 0;
}

static int open_domains(struct house *house, struct err *err)
{
    if (open_files(house, err) == 0)
        return 0;
    if (err->code == ERR_INTEGRITY_FAILED)
        err_wrap(err, "stored data is damaged (`dormouse doctor` says where and what to do)");
    else if (err->code == ERR_STORAGE_FAILED)
        err_wrap(err, "the data can't be written (`dormouse doctor` looks at disk and rights)");
    return -1;
}

static int lock_house(struct house *house, struct err *err)
{
    if (house->lock_fd >= 0)
        return data_dir_lock_next(house->data_dir, house->lock_fd, err);
    return data_dir_lock(house->data_dir, &house->lock_fd, err);
}

int house_open(struct house *house, const struct config *config, const char *data_dir,
               struct err *err)
{
    house->config = config;
    house->data_dir = data_dir;
    if (data_dir_prepare(data_dir, err) < 0 || lock_house(house, err) < 0 ||
        open_domains(house, err) < 0 || loop_new(NULL, &house->loop, err) < 0)
        return -1;
    for (size_t i = 0; i < DOMAINS_COUNT; i++)
        loop_attach(house->loop, house->domains.at[i]);
    return 0;
}

/* ---- what runs ---- */

static void fill_connect(const struct house *house, struct connect_config *connect)
{
    const struct config *config = house->config;

    *connect = (struct connect_config){
        .secrets = house->secrets,
        .slack_base_url = config->connect_slack_base_url,
        .google_base_url = config->connect_google_base_url,
        .google_auth_url = config->connect_google_auth_url,
        .google_token_url = config->connect_google_token_url,
        .google_client_id = config->connect_google_client_id,
        .google_client_secret_ref = config->connect_google_client_secret_ref,
    };
}

/* Relative to the data directory; lives in the rooms' arena. */
static const char *skills_root(struct house *house)
{
    const char *root = house->config->skills_root;

    return root[0] == '/' ? root
                          : arena_printf(&house->rooms.arena, "%s/%s", house->data_dir, root);
}

int house_wake(struct house *house, struct err *err)
{
    struct rooms_config how = {
        .data_dir = house->data_dir,
        .config = house->config,
        .loop = house->loop,
        .journal = house->domains.at[DOMAIN_JOURNAL],
        .agent = house->domains.at[DOMAIN_AGENT],
        .secret = models_secret,
        .consent = models_consent,
        .arg = &house->access,
        .agent_name = house->config->agent_name,
        .agent_model = house->config->agent_model,
        .cooldown_ms = house->config->scheduler_cooldown_ms,
        .runs_per_hour = (unsigned)house->config->scheduler_wakes_per_agent_per_hour,
        .max_flights = (unsigned)house->config->scheduler_max_concurrent_runs,
        .lease_ms = house->config->scheduler_lease_ms,
        .poll_ms = house->config->scheduler_poll_ms,
    };
    int r;

    how.skill_keys = (const char *const *)house->config->skills_trusted_keys.items;
    how.skills_root = skills_root(house);
    house->secrets = secrets_new(house->data_dir);
    house->access = (struct models_access){ .secrets = house->secrets, .agent = how.agent };
    models_init(&house->specs, house->config, house->data_dir);
    fill_connect(house, &how.connect);
    how.models = house->specs.items;
    how.model_count = house->specs.n;
    for (size_t i = 0; i < house->specs.n; i++)
        if (house->specs.items[i].secret_ref)
            secrets_recognise(house->secrets, house->specs.items[i].secret_ref);
    r = rooms_open(&house->rooms, &how, err);
    house->change = house->rooms.change;
    house->kill = house->rooms.kill;
    house->models = house->rooms.models;
    house->runner = house->rooms.runner;
    return r;
}

/* ---- learning ---- */

struct house_learned {
    struct config *config;
    struct models models;
    struct house_learned *next;
};

static void forget(struct house_learned *learned)
{
    models_release(&learned->models);
    config_free(learned->config);
    free(learned);
}

int house_learn(struct house *house, struct config *config, struct err *err)
{
    struct house_learned *learned = NEW(struct house_learned);
    size_t added = 0;
    int r = 0;

    learned->config = config;
    models_init(&learned->models, config, house->data_dir);
    for (size_t i = 0; i < learned->models.n && r == 0; i++) {
        const struct model_spec *spec = &learned->models.items[i];

        if (model_spec_find(house->models, spec->id))
            continue;
        if (spec->secret_ref)
            secrets_recognise(house->secrets, spec->secret_ref);
        r = model_gateway_add(house->models, spec, err);
        added += r == 0;
    }
    if (added == 0) {
        forget(learned);
        return r;
    }
    learned->next = house->learned;
    house->learned = learned;
    return r;
}

/* ---- closing ---- */

void house_sleep(struct house *house)
{
    rooms_stop(&house->rooms);
    house->models = NULL;
}

void house_release(struct house *house)
{
    house->rooms.loop = house->loop; /* also when it was opened and never woken */
    rooms_release(&house->rooms);
    secrets_free(house->secrets);
    models_release(&house->specs);
    while (house->learned) {
        struct house_learned *next = house->learned->next;

        forget(house->learned);
        house->learned = next;
    }
    domains_release(&house->domains);
    if (house->lock_fd >= 0)
        close(house->lock_fd);
    *house = HOUSE_INIT;
}
