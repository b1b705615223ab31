/* Opening the domains.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/domains.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "config/config.h"
#include "db/migrations.h"

static const struct domain_row {
    const char *name;
    const struct migration *migrations;
    const size_t *migration_count;
    enum db_sync sync;
    bool always_local;
} rows[DOMAINS_COUNT] = {
    [DOMAIN_JOURNAL] = { "journal", migrations_journal, &migrations_journal_count, DB_SYNC_FULL,
                         false },
    [DOMAIN_AGENT] = { "agent", migrations_agent, &migrations_agent_count, DB_SYNC_FULL, false },
    /* What a power cut takes from the index is made again. */
    [DOMAIN_INDEX] = { "index", migrations_index, &migrations_index_count, DB_SYNC_NORMAL, true },
};

const char *domains_name(size_t i)
{
    return rows[i].name;
}

static char *path_text(const char *scheme, const char *data_dir, size_t i)
{
    AUTO_BUF text = BUF_INIT(LIMIT_PATH_BYTES + 64);

    buf_printf(&text, "%s%s/%s.sqlite", scheme, data_dir, rows[i].name);
    return buf_take(&text);
}

char *domains_path(const char *data_dir, size_t i)
{
    return path_text("", data_dir, i);
}

bool domains_is_local(const struct config *config, size_t i)
{
    return rows[i].always_local || strncmp(config->store_url, "postgres", 8) != 0;
}

static int open_at(const char *url, size_t i, bool read_only, struct domain **ret_domain,
                   struct err *err)
{
    const struct domain_config how = {
        .name = rows[i].name,
        .url = url,
        .migrations = rows[i].migrations,
        .migration_count = *rows[i].migration_count,
        .sync = rows[i].sync,
        .read_only = read_only,
    };

    return domain_open(&how, ret_domain, err);
}

int domains_open_one(const struct config *config, const char *data_dir, size_t i, bool read_only,
                     struct domain **ret_domain, struct err *err)
{
    AUTO_TEXT path = path_text("sqlite:", data_dir, i);

    return open_at(domains_is_local(config, i) ? path : config->store_url, i, read_only, ret_domain,
                   err);
}

int domains_open_file(const char *data_dir, size_t i, struct domain **ret_domain, struct err *err)
{
    AUTO_TEXT path = path_text("sqlite:", data_dir, i);

    return open_at(path, i, true, ret_domain, err);
}

int domains_open(const struct config *config, const char *data_dir, struct domains *ret_domains,
                 struct err *err)
{
    struct domains domains = { { NULL } };

    for (size_t i = 0; i < DOMAINS_COUNT; i++)
        if (domains_open_one(config, data_dir, i, false, &domains.at[i], err) < 0) {
            domains_release(&domains);
            return -1;
        }
    *ret_domains = domains;
    return 0;
}

void domains_release(struct domains *domains)
{
    for (size_t i = DOMAINS_COUNT; i-- > 0;) {
        domain_free(domains->at[i]);
        domains->at[i] = NULL;
    }
}
