/* An open agent domain with this host in it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_AGENT_RIG_H
#define DORMOUSE_TESTS_AGENT_RIG_H

#include "change/change.h"
#include "db/migrations.h"
#include "harness/db_test.h"

#define NOW INT64_C(1700000000000)

struct rig {
    struct domain *domain;
    struct change *change;
};

static inline struct rig rig_open(struct test *t)
{
    struct rig rig = { .domain = db_test_open(t, migrations_agent, migrations_agent_count) };

    ASSERT_OK(change_open(rig.domain, NULL, NULL, &rig.change, &t->err));
    return rig;
}

static inline void rig_close(struct rig *rig)
{
    change_free(rig->change);
    domain_free(rig->domain);
}
#define AUTO_RIG __attribute__((cleanup(rig_close))) struct rig

#endif
