/* An index over an agent domain and a journal, on a loop that never sleeps.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_FIND_RIG_H
#define DORMOUSE_TESTS_FIND_RIG_H

#include "agent/agent.h"
#include "db/db.h"
#include "db/migrations.h"
#include "files/files.h"
#include "find/find.h"
#include "harness/db_test.h"
#include "journal/journal.h"
#include "memory/conversation.h"

#define NOW INT64_C(1700000000000)

struct rig {
    struct test *t;
    struct domain *domain, *index, *journal_domain;
    struct change *change;
    struct journal *journal; /* NULL: there is none */
    struct clock_fake clock;
    struct loop *loop;
    struct files *files;
    struct find *find;
    struct agent agent;
};

static inline struct domain *open_index(struct test *t, const char *name)
{
    struct domain_config config = { .name = "index",
                                    .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, name)),
                                    .migrations = migrations_index,
                                    .migration_count = migrations_index_count };
    struct domain *domain;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    return domain;
}

static inline void open_find(struct rig *rig, const char *name)
{
    rig->index = open_index(rig->t, name);
    loop_attach(rig->loop, rig->index);
    rig->find = find_new(&(struct find_config){ .loop = rig->loop,
                                                .agent_domain = rig->domain,
                                                .index_domain = rig->index,
                                                .journal = rig->journal });
}

#define UNIT(rig, expr)                                                                            \
    __extension__({                                                                                \
        int r_;                                                                                    \
        err_reset(&(rig)->t->err);                                                                 \
        if (loop_unit_begin((rig)->loop, (rig)->domain, &(rig)->t->err) < 0)                       \
            FAIL("no unit: %s", test_err_text((rig)->t));                                          \
        r_ = (expr);                                                                               \
        if (loop_unit_end((rig)->loop, r_ >= 0, NULL) < 0)                                         \
            FAIL("the unit was not kept");                                                         \
        loop_fake_tick((rig)->loop);                                                               \
        r_;                                                                                        \
    })

static inline void add_agent(struct rig *rig, const char *id, const char *name,
                             const char *description, struct agent *ret_agent)
{
    struct test *t = rig->t;

    *ret_agent = (struct agent){
        .id = id, .kind = "custom", .display_name = name, .description = description
    };
    ASSERT_OK(UNIT(rig, agent_add(rig->domain, rig->change, ret_agent, NOW, &t->err)));
}

static inline void open_journal(struct rig *rig)
{
    struct test *t = rig->t;
    struct domain_config config = { .name = "journal",
                                    .url = db_test_domain_url(t, "journal"),
                                    .migrations = migrations_journal,
                                    .migration_count = migrations_journal_count };

    ASSERT_OK(domain_open(&config, &rig->journal_domain, &t->err));
    ASSERT_OK(change_join(rig->change, rig->journal_domain, &t->err));
    loop_attach(rig->loop, rig->journal_domain);
    rig->journal = journal_new(&(struct journal_config){ .loop = rig->loop,
                                                         .domain = rig->journal_domain,
                                                         .change = rig->change,
                                                         .zone = "Europe/Berlin" });
}

static inline struct rig *rig_open_with(struct test *t, bool journal)
{
    struct rig *rig = NEW(struct rig);

    rig->t = t;
    rig->domain = db_test_open(t, migrations_agent, migrations_agent_count);
    ASSERT_OK(change_open(rig->domain, NULL, NULL, &rig->change, &t->err));
    clock_fake_init(&rig->clock, NOW);
    rig->loop = loop_new_fake(&rig->clock);
    if (journal)
        open_journal(rig);
    loop_attach(rig->loop, rig->domain);
    ASSERT_OK(files_new(&(struct files_config){ .loop = rig->loop,
                                                .agent_domain = rig->domain,
                                                .change = rig->change },
                        &rig->files, &t->err));
    open_find(rig, "index.sqlite");
    add_agent(rig, "coach", "Coach", "", &rig->agent);
    return rig;
}

static inline struct rig *rig_open(struct test *t)
{
    return rig_open_with(t, false);
}

static inline void rig_free(struct rig *rig)
{
    find_free(rig->find);
    files_free(rig->files);
    journal_free(rig->journal);
    loop_free(rig->loop);
    change_free(rig->change);
    domain_free(rig->index);
    domain_free(rig->domain);
    domain_free(rig->journal_domain);
    free(rig);
}
AUTO_DEFINE(rig)

/* ---- writing ---- */

static inline int append(struct rig *rig, struct thread *thread, int count, const char *text)
{
    struct test *t = rig->t;

    for (int i = 0; i < count; i++) {
        char id[UUID_TEXT_SIZE];
        struct message message = { .kind = i % 2 ? MESSAGE_THOUGHT : MESSAGE_USER,
                                   .created_at = NOW };

        change_new_id(rig->change, id);
        message.id = str_from(id);
        message.content = str_from(arena_printf(&t->arena, "{\"text\":\"%s number%d\"}", text, i));
        if (message_append(rig->domain, rig->change, thread, &message, &t->err) < 0)
            return -1;
    }
    return thread_save(rig->domain, thread, NOW, &t->err);
}

static inline struct thread say_as(struct rig *rig, const struct agent *agent,
                                   const char *thread_id, int count, const char *text)
{
    struct test *t = rig->t;
    struct thread thread;

    ASSERT_OK(UNIT(rig, thread_open(rig->domain, str_from(thread_id), agent->n, NOW, &t->arena,
                                    &thread, &t->err)));
    ASSERT_OK(UNIT(rig, append(rig, &thread, count, text)));
    return thread;
}

static inline struct thread say(struct rig *rig, const char *thread_id, int count, const char *text)
{
    return say_as(rig, &rig->agent, thread_id, count, text);
}

static inline void put(struct rig *rig, const char *tree, const char *path, struct str content)
{
    struct test *t = rig->t;
    struct file_write write = { .tree = str_from(tree),
                                .path = str_from(path),
                                .content = content,
                                .base = FILE_ANY_VERSION,
                                .remove = !content.p,
                                .author = STR("owner") };
    struct file file;

    ASSERT_OK(UNIT(rig, file_put(rig->files, &write, &t->arena, &file, &t->err)));
}

/* ---- asking ---- */

static struct find_result *results;

static inline size_t search_in(struct rig *rig, struct str text, const char *agent_id, int limit)
{
    struct test *t = rig->t;
    struct find_query query = { .text = text, .agent_id = str_from(agent_id), .limit = limit };
    size_t n;

    err_reset(&t->err);
    ASSERT_OK(find_search(rig->find, &query, &t->arena, &results, &n, &t->err));
    loop_fake_tick(rig->loop);
    return n;
}

static inline size_t search(struct rig *rig, const char *text)
{
    return search_in(rig, str_from(text), "", 100);
}

static inline void catch_up(struct rig *rig)
{
    struct test *t = rig->t;
    int r;

    while ((r = find_catch_up(rig->find, &t->err)) == 1)
        ;
    ASSERT_EQ(r, 0);
    loop_fake_tick(rig->loop);
}

#endif
