/* The three domains of a data directory, and where each of them lies.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_DOMAINS_H
#define DORMOUSE_CLI_DOMAINS_H

#include <stdbool.h>
#include <stddef.h>

#include "db/domain.h"

struct config;

enum { DOMAIN_JOURNAL = 0, DOMAIN_AGENT, DOMAIN_INDEX, DOMAINS_COUNT };

struct domains {
    struct domain *at[DOMAINS_COUNT];
};

/* "journal", "agent", "index". */
const char *domains_name(size_t i);
/* Whether it lies in the data directory and not on Postgres; the index always does. */
bool domains_is_local(const struct config *config, size_t i);
/* DATA/agent.sqlite, to be freed. */
char *domains_path(const char *data_dir, size_t i);

/* One of them. read_only: nothing is created, migrated or changed. */
int domains_open_one(const struct config *config, const char *data_dir, size_t i, bool read_only,
                     struct domain **ret_domain, struct err *err);
/* The file of this directory, read-only, whatever a configuration says. */
int domains_open_file(const char *data_dir, size_t i, struct domain **ret_domain, struct err *err);
/* All of them, created and migrated where needed. On failure none stays open. */
int domains_open(const struct config *config, const char *data_dir, struct domains *ret_domains,
                 struct err *err);
void domains_release(struct domains *domains);

#endif
