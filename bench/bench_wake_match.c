/* wake.match: 100,000 subscriptions of 1,000 agents, and a batch of four tokens that concerns ten
 * of them: from the tokens to the subscriptions in hand. Median and 99th percentile of many
 * batches, each with other tokens, so that what one left in a cache helps the next no more than in
 * a house that lives.
 *
 * wake.judge: the same and the judgement of each, with a predicate over the changed task.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rand.h"
#include "db/migrations.h"
#include "wake/predicate.h"
#include "wake/subscription.h"

#define SUBSCRIPTIONS 100000
#define AGENTS        1000
#define CONCERNED     10
#define ROUNDS        3000
#define TARGET_US     50.0

struct bench {
    char dir[64];
    struct domain *domain;
    struct change *change;
    int64_t agents[AGENTS];
};

static void must(int r, const struct err *err, const char *what)
{
    char text[ERR_TEXT_MAX + 64];

    if (r >= 0)
        return;
    fprintf(stderr, "bench-wake-match: %s: %s\n", what, err_format(err, text, sizeof(text)));
    exit(1);
}

static void open_store(struct bench *b)
{
    struct err err = ERR_INIT;
    char url[96];
    struct domain_config config = { .name = "agent",
                                    .url = url,
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count };

    strcpy(b->dir, "/tmp/dormouse-bench-XXXXXX");
    if (!mkdtemp(b->dir))
        exit(1);
    snprintf(url, sizeof(url), "sqlite:%s/agent.sqlite", b->dir);
    must(domain_open(&config, &b->domain, &err), &err, "open");
    must(change_open(b->domain, NULL, NULL, &b->change, &err), &err, "open");
}

static void add_agents(struct bench *b)
{
    struct err err = ERR_INIT;

    for (int i = 0; i < AGENTS; i++) {
        char id[16];
        struct agent agent = { .id = id, .kind = "planner", .display_name = id };

        snprintf(id, sizeof(id), "agent-%d", i);
        must(agent_add(b->domain, b->change, &agent, 1, &err), &err, "agent");
        b->agents[i] = agent.n;
    }
}

/* Each waits for a task of its own; ten each share a workout type, a category, a kind of
 * measurement and an entity. Group g is told of by the values "...-g". */
static void add_subscription(struct bench *b, int i)
{
    static const char *const spaces[] = { "workoutType", "categoryId", "measurementType" };
    char own[24], shared[24], token[WEBHOOK_TOKEN_SIZE];
    int group = i / CONCERNED, place = i % CONCERNED;
    struct token tokens[2] = { { .class = TOKEN_ENTITY_ID }, { .class = TOKEN_SUBTYPE } };
    struct subscription s = {
        .agent_n = b->agents[i % AGENTS],
        .source = WAKE_JOURNAL,
        .tokens = tokens,
        .token_count = 2,
        .predicate = STR("task.categoryId == \"gym\" and task.priority <= 1"),
        .prompt = STR("Look at what changed."),
        .active = true,
    };
    struct err err = ERR_INIT;

    snprintf(own, sizeof(own), "task-%d", i);
    snprintf(shared, sizeof(shared), "shared-%d", group);
    tokens[0].value = str_from(own);
    tokens[1].value = str_from(shared);
    if (place < 9) {
        tokens[1].name_space = str_from(spaces[place % 3]);
    } else {
        tokens[1].class = TOKEN_ENTITY_ID;
    }
    must(subscription_add(b->domain, b->change, &s, 1, token, &err), &err, "subscribe");
}

static void fill(struct bench *b)
{
    struct err err = ERR_INIT;

    must(domain_begin(b->domain, &err), &err, "begin");
    add_agents(b);
    for (int i = 0; i < SUBSCRIPTIONS; i++)
        add_subscription(b, i);
    must(domain_commit(b->domain, &err), &err, "commit");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double round_us(struct bench *b, int group, bool judge, struct arena *arena)
{
    struct err err = ERR_INIT;
    char value[24];
    struct token batch[4] = {
        { .class = TOKEN_SUBTYPE, .name_space = STR("workoutType") },
        { .class = TOKEN_SUBTYPE, .name_space = STR("categoryId") },
        { .class = TOKEN_SUBTYPE, .name_space = STR("measurementType") },
        { .class = TOKEN_ENTITY_ID },
    };
    struct record task = { .type = RECORD_TASK };
    struct subscription *list;
    int64_t begin;
    size_t count;
    double us;

    snprintf(value, sizeof(value), "shared-%d", group);
    for (int i = 0; i < 4; i++)
        batch[i].value = str_from(value);
    /* The reader works in the unit that stores the wakes. */
    must(domain_begin(b->domain, &err), &err, "begin");
    begin = clock_mono_ns(clock_system());
    must(subscription_match(b->domain, batch, 4, 0, 0, arena, &list, &count, &err), &err, "match");
    for (size_t i = 0; judge && i < count; i++) {
        AUTO(predicate) predicate = NULL;

        must(predicate_parse(list[i].predicate, &predicate, &err), &err, "predicate");
        predicate_matches(predicate, &task, STR_NONE);
    }
    us = (double)(clock_mono_ns(clock_system()) - begin) / 1e3;
    domain_rollback(b->domain);
    if (count != CONCERNED) {
        fprintf(stderr, "bench-wake-match: %zu were found, not %d\n", count, CONCERNED);
        exit(1);
    }
    return us;
}

static void measure(struct bench *b, const char *name, bool judge)
{
    static double us[ROUNDS];
    AUTO_ARENA arena = ARENA_INIT;
    struct rand_fake rand;

    rand_fake_init(&rand, 42);
    for (int i = 0; i < ROUNDS; i++) {
        arena_reset(&arena);
        us[i] = round_us(b, (int)rand_below(&rand.rand, SUBSCRIPTIONS / CONCERNED), judge, &arena);
    }
    qsort(us, ROUNDS, sizeof(us[0]), by_value);
    printf("{\"bench\":\"%s\",\"subscriptions\":%d,\"tokens\":4,\"concerned\":%d,\"value\":%.1f,"
           "\"unit\":\"us\",\"p99\":%.1f",
           name, SUBSCRIPTIONS, CONCERNED, us[ROUNDS / 2], us[ROUNDS * 99 / 100]);
    if (!judge)
        printf(",\"target\":%.0f,\"ok\":%s", TARGET_US,
               us[ROUNDS / 2] < TARGET_US ? "true" : "false");
    printf("}\n");
}

int main(void)
{
    struct bench b = { 0 };
    char command[96];

    open_store(&b);
    fill(&b);
    measure(&b, "wake.match", false);
    measure(&b, "wake.judge", true);
    change_free(b.change);
    domain_free(b.domain);
    snprintf(command, sizeof(command), "rm -rf %s", b.dir);
    return system(command) == 0 ? 0 : 1;
}
