/* A journal and agents on a loop that never sleeps: 18 February 2026, ten in the morning in Berlin.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_WAKE_ALERT_RIG_H
#define DORMOUSE_TESTS_WAKE_ALERT_RIG_H

#include "agent/agent.h"
#include "base/json.h"
#include "db/migrations.h"
#include "harness/db_test.h"
#include "journal/journal.h"
#include "wake/queue.h"
#include "wake/subscription.h"

#define ALERT_NOW INT64_C(1771405200000) /* 2026-02-18T09:00:00Z, a Wednesday */

struct alert {
    struct test *t;
    struct clock_fake clock;
    struct loop *loop;
    struct domain *agents, *records;
    struct change *change;
    struct journal *journal;
};

/* What does not outlive the process: the loop and all that hangs on it. */
static inline void alert_start(struct alert *a)
{
    struct test *t = a->t;
    struct domain_config config = {
        .name = "journal",
        .url = db_test_domain_url(t, "journal"),
        .migrations = migrations_journal,
        .migration_count = migrations_journal_count,
    };

    a->loop = loop_new_fake(&a->clock);
    a->agents = db_test_open(t, migrations_agent, migrations_agent_count);
    ASSERT_OK(domain_open(&config, &a->records, &t->err));
    ASSERT_OK(change_open(a->agents, &a->clock.clock, NULL, &a->change, &t->err));
    ASSERT_OK(change_join(a->change, a->records, &t->err));
    loop_attach(a->loop, a->records);
    loop_attach(a->loop, a->agents);
    a->journal = journal_new(&(struct journal_config){
        .loop = a->loop, .domain = a->records, .change = a->change, .zone = "Europe/Berlin" });
}

static inline void alert_stop(struct alert *a)
{
    journal_free(a->journal);
    loop_free(a->loop);
    change_free(a->change);
    domain_free(a->records);
    domain_free(a->agents);
}

static inline void alert_open(struct alert *a, struct test *t)
{
    *a = (struct alert){ .t = t };
    clock_fake_init(&a->clock, ALERT_NOW);
    alert_start(a);
}
#define AUTO_ALERT __attribute__((cleanup(alert_stop))) struct alert

static inline int64_t alert_now(struct alert *a)
{
    return clock_wall_ms(&a->clock.clock);
}

static inline void alert_begin(struct alert *a)
{
    struct test *t = a->t;

    ASSERT_OK(loop_unit_begin(a->loop, a->agents, &t->err));
}

static inline void alert_end(struct alert *a)
{
    struct test *t = a->t;

    ASSERT_OK(loop_unit_end(a->loop, true, &t->err));
    loop_fake_tick(a->loop);
}

/* categories: a JSON list. */
static inline int64_t alert_agent(struct alert *a, const char *id, const char *categories)
{
    struct test *t = a->t;
    struct agent agent = {
        .id = id, .kind = "planner", .display_name = id, .allowed_category_ids = categories
    };

    alert_begin(a);
    ASSERT_OK(agent_add(a->agents, a->change, &agent, alert_now(a), &t->err));
    alert_end(a);
    return agent.n;
}

#define KEY(value_)                                                                                \
    {                                                                                              \
        .class = TOKEN_SEMANTIC_KEY, .value = { value_, sizeof(value_) - 1 }                       \
    }
#define ENTITY(value_)                                                                             \
    {                                                                                              \
        .class = TOKEN_ENTITY_ID, .value = { value_, sizeof(value_) - 1 }                          \
    }
#define SUBTYPE(ns_, value_)                                                                       \
    {                                                                                              \
        .class = TOKEN_SUBTYPE, .name_space = { ns_, sizeof(ns_) - 1 }, .value = {                 \
            value_,                                                                                \
            sizeof(value_) - 1                                                                     \
        }                                                                                          \
    }

/* Stored; what is not given is a subscription of the journal to tasks. */
static inline struct subscription *alert_subscribe(struct alert *a, int64_t agent_n,
                                                   struct subscription like)
{
    static const struct token tasks[] = { KEY("TASK") };
    struct test *t = a->t;
    struct subscription *s = ARENA_NEW(&t->arena, struct subscription);
    char token[WEBHOOK_TOKEN_SIZE];

    *s = like;
    s->agent_n = agent_n;
    s->active = true;
    if (!s->source)
        s->source = WAKE_JOURNAL;
    if (!s->token_count && (s->source == WAKE_JOURNAL || s->source == WAKE_AGENT)) {
        s->tokens = tasks;
        s->token_count = 1;
    }
    alert_begin(a);
    ASSERT_OK(subscription_add(a->agents, a->change, s, alert_now(a), token, &t->err));
    alert_end(a);
    return s;
}

/* Writes one record in a unit of its own; agent NULL: a person does. */
static inline void alert_write(struct alert *a, const char *agent, enum record_type type,
                               const char *id, const char *json)
{
    struct test *t = a->t;
    AUTO_JSON fields = NULL;
    struct journal_author author = { .kind = agent ? CHANGE_BY_AGENT : CHANGE_BY_HUMAN,
                                     .agent_id = str_from(agent) };
    struct journal_write *write;
    struct record record;
    int there;

    ASSERT_OK(json_parse(str_from(json), &fields, &t->err));
    there = journal_get_any(a->journal, type, str_from(id), &t->arena, &record, &t->err);
    ASSERT(there >= 0);
    ASSERT_EQ(journal_begin(a->journal, &author, &t->arena, &write, NULL, &t->err), 1);
    if (there)
        ASSERT_OK(journal_change(write, type, str_from(id), fields, &record, &t->err));
    else
        ASSERT_OK(journal_create(write, type, str_from(id), fields, &record, &t->err));
    ASSERT_OK(journal_end(write, true, STR_NONE, &t->err));
    loop_fake_tick(a->loop);
}

static inline void alert_category(struct alert *a, const char *id)
{
    alert_write(a, NULL, RECORD_CATEGORY, id, arena_printf(&a->t->arena, "{\"name\":\"%s\"}", id));
}

#endif
