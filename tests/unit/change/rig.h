/* Both domains of records, and this host in them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_CHANGE_RIG_H
#define DORMOUSE_TESTS_CHANGE_RIG_H

#include "change/change.h"
#include "db/migrations.h"
#include "harness/db_test.h"

/* The journal of this test: a file of its own, or a schema beside the agent domain's. */
static inline struct domain *open_journal(struct test *t)
{
    const struct domain_config config = {
        .name = "journal",
        .url = db_test_domain_url(t, "journal"),
        .migrations = migrations_journal,
        .migration_count = migrations_journal_count,
    };
    struct domain *domain = NULL;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    return domain;
}

static inline struct domain *open_agent(struct test *t)
{
    return db_test_open(t, migrations_agent, migrations_agent_count);
}

#endif
