/* An open agent domain for the run log.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_RUN_LOG_RIG_H
#define DORMOUSE_TESTS_RUN_LOG_RIG_H

#include "db/migrations.h"
#include "harness/db_test.h"
#include "run/log_int.h"

#define NOW INT64_C(1700000000000)

static inline struct domain *open_log(struct test *t)
{
    return db_test_open(t, migrations_agent, migrations_agent_count);
}

#endif
