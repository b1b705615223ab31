/* journal.list: the first page of 100,000 tasks, with each filter and order that people use.
 *
 * Target: 5 ms each, the median of the rounds; the text is one that one task in a hundred has. A
 * text that nothing has is looked for in a bounded number of tasks and has no target. The yardstick
 * is the same page of 1,000 tasks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "db/migrations.h"
#include "journal/list.h"
#include "journal_fill_store.h"

#define MANY      100000
#define FEW       1000
#define ROUNDS    31
#define TARGET_MS 5.0

struct bench {
    char dir[64], url[128], agent_url[128];
    struct clock_fake clock;
    struct loop *loop;
    struct domain *agent, *domain;
    struct change *change;
    struct journal *journal;
};

static void must(int r, const struct err *err)
{
    char text[ERR_TEXT_MAX];

    if (r >= 0)
        return;
    fprintf(stderr, "bench-journal: %s\n", err_format(err, text, sizeof(text)));
    exit(1);
}

static void open_domain(const char *name, const char *url, const struct migration *migrations,
                        size_t n, struct domain **ret_domain)
{
    struct domain_config config = { .name = name,
                                    .url = url,
                                    .migrations = migrations,
                                    .migration_count = n,
                                    .sync = DB_SYNC_NORMAL };
    struct err err = ERR_INIT;

    must(domain_open(&config, ret_domain, &err), &err);
}

static void bench_open(struct bench *b, int tasks)
{
    struct err err = ERR_INIT;

    snprintf(b->dir, sizeof(b->dir), "/tmp/bench-journal-XXXXXX");
    if (!mkdtemp(b->dir))
        exit(1);
    snprintf(b->url, sizeof(b->url), "sqlite:%s/journal.sqlite", b->dir);
    snprintf(b->agent_url, sizeof(b->agent_url), "sqlite:%s/agent.sqlite", b->dir);
    clock_fake_init(&b->clock, INT64_C(1771405200000));
    b->loop = loop_new_fake(&b->clock);
    open_domain("agent", b->agent_url, migrations_agent, migrations_agent_count, &b->agent);
    open_domain("journal", b->url, migrations_journal, migrations_journal_count, &b->domain);
    must(change_open(b->agent, NULL, NULL, &b->change, &err), &err);
    must(change_join(b->change, b->domain, &err), &err);
    loop_attach(b->loop, b->domain);
    b->journal = journal_new(&(struct journal_config){
        .loop = b->loop, .domain = b->domain, .change = b->change, .zone = "UTC" });
    must(fill_tasks(b->domain, tasks, &err), &err);
}

static void bench_close(struct bench *b)
{
    static const char *const files[] = { "journal.sqlite",     "journal.sqlite-wal",
                                         "journal.sqlite-shm", "agent.sqlite",
                                         "agent.sqlite-wal",   "agent.sqlite-shm" };
    char path[128];

    journal_free(b->journal);
    loop_free(b->loop);
    change_free(b->change);
    domain_free(b->domain);
    domain_free(b->agent);
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", b->dir, files[i]);
        unlink(path);
    }
    rmdir(b->dir);
}

static double page_ms(struct bench *b, const struct task_filter *filter)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct task_page page;
    struct err err = ERR_INIT;
    int64_t start = clock_mono_ns(clock_system());

    must(task_list(b->journal, filter, &arena, &page, &err), &err);
    return (double)(clock_mono_ns(clock_system()) - start) / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), by_value);
    return values[n / 2];
}

/* target 0: there is none. */
static void measure(struct bench *many, struct bench *few, const char *name,
                    const struct task_filter *filter, double target)
{
    double ms[ROUNDS], yardstick[ROUNDS], value, other;

    for (int i = 0; i < ROUNDS; i++) {
        ms[i] = page_ms(many, filter);
        yardstick[i] = page_ms(few, filter);
    }
    value = median(ms, ROUNDS);
    other = median(yardstick, ROUNDS);
    printf("{\"bench\":\"journal.list\",\"filter\":\"%s\",\"tasks\":%d,\"value\":%.3f,"
           "\"unit\":\"ms\",\"yardstick\":\"the same of %d tasks\",\"yardstick_value\":%.3f,"
           "\"ratio\":%.2f",
           name, MANY, value, FEW, other, value / other);
    if (target > 0)
        printf(",\"target\":%.1f,\"ok\":%s", target, value <= target ? "true" : "false");
    printf("}\n");
    fflush(stdout);
}

int main(void)
{
    static const struct {
        const char *name;
        struct task_filter filter;
    } cases[] = {
        { "none", { .limit = 0 } },
        { "status", { .status = { "BLOCKED", 7 } } },
        { "rare status", { .status = { "IN_PROGRESS", 11 } } },
        { "category", { .category_id = { "c3", 2 } } },
        { "label", { .label_id = { "l1", 2 } } },
        { "rare label", { .label_id = { "l2", 2 } } },
        { "text", { .text = { "fence", 5 } } },
        { "category and status and label",
          { .category_id = { "c3", 2 }, .status = { "BLOCKED", 7 }, .label_id = { "l1", 2 } } },
        { "due this week", { .due_from = { "2026-02-16", 10 }, .due_to = { "2026-02-22", 10 } } },
        { "by priority", { .order = TASKS_BY_PRIORITY } },
        { "category by priority", { .category_id = { "c3", 2 }, .order = TASKS_BY_PRIORITY } },
        { "rare status by priority",
          { .status = { "IN_PROGRESS", 11 }, .order = TASKS_BY_PRIORITY } },
        { "closed by updated", { .closed = true, .order = TASKS_BY_UPDATED } },
        { "any", { .any = true } },
    };
    static const struct task_filter nowhere = { .text = { "zebra", 5 } };
    struct bench many = { .dir = "" }, few = { .dir = "" };

    bench_open(&many, MANY);
    bench_open(&few, FEW);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        measure(&many, &few, cases[i].name, &cases[i].filter, TARGET_MS);
    measure(&many, &few, "text that nothing has", &nowhere, 0);
    bench_close(&few);
    bench_close(&many);
    return 0;
}
