/* A thread of an agent in an open domain.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_MEMORY_RIG_H
#define DORMOUSE_TESTS_MEMORY_RIG_H

#include "agent/agent.h"
#include "db/migrations.h"
#include "harness/db_test.h"
#include "memory/message.h"

#define NOW INT64_C(1700000000000)

struct rig {
    struct test *t;
    struct domain *domain;
    struct change *change;
    struct agent agent;
    struct thread thread;
    int64_t next; /* for ids */
};

static inline struct rig rig_open(struct test *t)
{
    struct rig rig = { .t = t,
                       .domain = db_test_open(t, migrations_agent, migrations_agent_count) };

    ASSERT_OK(change_open(rig.domain, NULL, NULL, &rig.change, &t->err));
    ASSERT_OK(agent_ensure_default(rig.domain, rig.change, "Planner", NOW, &t->arena, &rig.agent,
                                   &t->err));
    ASSERT_OK(thread_open(rig.domain, STR("planner:session:1"), rig.agent.n, NOW, &t->arena,
                          &rig.thread, &t->err));
    return rig;
}

static inline void rig_close(struct rig *rig)
{
    change_free(rig->change);
    domain_free(rig->domain);
}
#define AUTO_RIG __attribute__((cleanup(rig_close))) struct rig

/* Appends with a new id; returns the row. */
static inline int64_t rig_append(struct rig *rig, struct message message)
{
    struct test *t = rig->t;

    message.id = str_from(arena_printf(&t->arena, "m%lld", (long long)++rig->next));
    message.created_at = NOW + rig->next;
    ASSERT_OK(message_append(rig->domain, rig->change, &rig->thread, &message, &t->err));
    return message.n;
}

/* {"text":"xxx..."} of n bytes in all. */
static inline struct str rig_text(struct test *t, size_t n, char fill)
{
    char *text = arena_alloc(&t->arena, n + 1, 1);

    memset(text, fill, n);
    memcpy(text, "{\"text\":\"", 9);
    memcpy(text + n - 2, "\"}", 2);
    return str_of(text, n);
}

#endif
