/* Day budgets: what reserving and settling a request costs, after none, ten thousand and a hundred
 * thousand others. It is to cost the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/budget.h"
#include "base/clock.h"
#include "db/migrations.h"

#define CHUNK  1000 /* requests of a transaction */
#define TIMED  5000
#define AGENTS 50
#define DAY    20000
#define TARGET 2.0 /* times the first figure */

static void must(int r, const struct err *err, const char *what)
{
    char text[ERR_TEXT_MAX];

    if (r >= 0)
        return;
    fprintf(stderr, "bench-budget: %s: %s\n", what, err_format(err, text, sizeof(text)));
    exit(1);
}

/* Request number i: each agent in turn, and a new day after every hundred. */
static void one(struct domain *domain, int64_t i)
{
    const struct budget_day day = { .number = DAY + i / 100 };
    const struct budget_need need = {
        .run_n = i + 1, .agent_n = 1 + i % AGENTS, .input_tokens = 10, .output_tokens = 10
    };
    const struct budget_limits limits = { .agent = { .tokens = 1000000 },
                                          .all = { .tokens = 1000000 } };
    struct err err = ERR_INIT;
    int64_t output;

    must(budget_reserve(domain, &need, &limits, &day, &output, &err), &err, "reserve");
    must(budget_settle(domain, need.run_n, need.agent_n, &(struct budget){ .tokens = 15 }, &day,
                       &err),
         &err, "settle");
}

static void requests(struct domain *domain, int64_t *at, int64_t count)
{
    struct err err = ERR_INIT;

    for (int64_t end = *at + count; *at < end; ++*at) {
        if (*at % CHUNK == 0)
            must(domain_begin(domain, &err), &err, "begin");
        one(domain, *at);
        if ((*at + 1) % CHUNK == 0)
            must(domain_commit(domain, &err), &err, "commit");
    }
}

int main(void)
{
    static const int64_t before[] = { 0, 10000, 100000 };
    char dir[] = "/tmp/bench-budget-XXXXXX", url[256], file[256];
    struct domain *domain;
    struct err err = ERR_INIT;
    int64_t at = 0;
    double first = 0;

    if (!mkdtemp(dir))
        return 1;
    snprintf(url, sizeof(url), "sqlite:%s/agent.sqlite", dir);
    must(domain_open(&(struct domain_config){ .name = "agent",
                                              .url = url,
                                              .migrations = migrations_agent,
                                              .migration_count = migrations_agent_count },
                     &domain, &err),
         &err, "open");
    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        int64_t began;
        double us;

        requests(domain, &at, before[i] > at ? before[i] - at : 0);
        began = clock_mono_ns(clock_system());
        requests(domain, &at, TIMED);
        us = (double)(clock_mono_ns(clock_system()) - began) / 1e3 / TIMED;
        if (i == 0)
            first = us;
        printf("{\"bench\":\"budget.reserve\",\"before\":%lld,\"value\":%.1f,\"unit\":\"us\","
               "\"times_first\":%.2f,\"target\":%.1f}\n",
               (long long)before[i], us, us / first, TARGET);
    }
    domain_free(domain);
    for (const char *const *p = (const char *const[]){ "", "-wal", "-shm", NULL }; *p; p++) {
        snprintf(file, sizeof(file), "%s/agent.sqlite%s", dir, *p);
        unlink(file);
    }
    rmdir(dir);
    return 0;
}
