/* A builder over an agent domain and a journal, with the tools of both, on a loop that only tests
 * move.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_BUILDER_RIG_H
#define DORMOUSE_TESTS_BUILDER_RIG_H

#include "base/json.h"
#include "builder/builder.h"
#include "db/migrations.h"
#include "desk/desk.h"
#include "files/files.h"
#include "harness/db_test.h"
#include "journal/journal.h"
#include "model/model.h"
#include "tool/tool.h"

#define NOW INT64_C(1700000000000)

struct rig {
    struct test *t;
    struct domain *domain, *journal_domain;
    struct change *change;
    struct clock_fake clock;
    struct loop *loop;
    struct files *files;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct journal *journal;
    struct desk *desk;
    struct builder *builder;
    struct builder_warnings warnings; /* of the last import or copy */
};

static inline void rig_open_journal(struct rig *rig)
{
    struct test *t = rig->t;
    const struct domain_config config = {
        .name = "journal",
        .url = db_test_domain_url(t, "journal"),
        .migrations = migrations_journal,
        .migration_count = migrations_journal_count,
    };

    ASSERT_OK(domain_open(&config, &rig->journal_domain, &t->err));
    ASSERT_OK(change_join(rig->change, rig->journal_domain, &t->err));
    loop_attach(rig->loop, rig->journal_domain);
    rig->journal = journal_new(&(struct journal_config){ .loop = rig->loop,
                                                         .domain = rig->journal_domain,
                                                         .change = rig->change,
                                                         .zone = "Europe/Berlin" });
}

static inline struct rig *rig_open(struct test *t)
{
    struct rig *rig = NEW(struct rig);

    rig->t = t;
    rig->domain = db_test_open(t, migrations_agent, migrations_agent_count);
    ASSERT_OK(change_open(rig->domain, NULL, NULL, &rig->change, &t->err));
    clock_fake_init(&rig->clock, NOW);
    rig->loop = loop_new_fake(&rig->clock);
    loop_attach(rig->loop, rig->domain);
    ASSERT_OK(files_new(&(struct files_config){ .loop = rig->loop,
                                                .agent_domain = rig->domain,
                                                .change = rig->change },
                        &rig->files, &t->err));
    ASSERT_OK(model_gateway_new(&(struct model_gateway_config){ .loop = rig->loop }, &rig->models,
                                &t->err));
    ASSERT_OK(tool_bed_new(&(struct tool_bed_config){ .loop = rig->loop,
                                                      .agent_domain = rig->domain,
                                                      .files = rig->files,
                                                      .policy_text_hash = "" },
                           &rig->tools, &t->err));
    rig_open_journal(rig);
    rig->desk = desk_new(&(struct desk_config){ .journal = rig->journal,
                                                .agent_domain = rig->domain,
                                                .change = rig->change,
                                                .tools = rig->tools });
    rig->builder = builder_new(&(struct builder_config){ .loop = rig->loop,
                                                         .agent_domain = rig->domain,
                                                         .change = rig->change,
                                                         .models = rig->models,
                                                         .tools = rig->tools,
                                                         .files = rig->files,
                                                         .journal = rig->journal });
    return rig;
}

static inline void rig_free(struct rig *rig)
{
    model_gateway_free(rig->models);
    tool_bed_free(rig->tools);
    desk_free(rig->desk);
    files_free(rig->files);
    journal_free(rig->journal);
    loop_free(rig->loop);
    builder_free(rig->builder);
    change_free(rig->change);
    domain_free(rig->journal_domain);
    domain_free(rig->domain);
    free(rig);
}
AUTO_DEFINE(rig)

static inline void rig_begin(struct rig *rig)
{
    struct test *t = rig->t;

    err_reset(&t->err);
    ASSERT_OK(loop_unit_begin(rig->loop, rig->domain, &t->err));
}

static inline int rig_end(struct rig *rig, int r)
{
    struct test *t = rig->t;

    ASSERT_OK(loop_unit_end(rig->loop, r >= 0, NULL));
    loop_fake_tick(rig->loop);
    return r;
}

static inline void rig_category(struct rig *rig, const char *id, const char *name)
{
    const struct journal_author author = { .kind = CHANGE_BY_HUMAN };
    AUTO_JSON fields = json_object_new_object();
    struct test *t = rig->t;
    struct journal_write *write;

    json_object_object_add(fields, "name", json_object_new_string(name));
    ASSERT_EQ(journal_begin(rig->journal, &author, &t->arena, &write, NULL, &t->err), 1);
    ASSERT_OK(journal_create(write, RECORD_CATEGORY, str_from(id), fields, NULL, &t->err));
    ASSERT_OK(journal_end(write, true, STR_NONE, &t->err));
    loop_fake_tick(rig->loop);
}

/* As it is stored. */
static inline struct agent rig_create(struct rig *rig, struct builder_form form)
{
    struct test *t = rig->t;
    struct agent agent;

    rig_begin(rig);
    ASSERT_OK(rig_end(rig, builder_create(rig->builder, &form, &t->arena, &agent, &t->err)));
    ASSERT_OK(agent_get(rig->domain, str_from(agent.id), &t->arena, &agent, &t->err));
    return agent;
}

static inline struct str rig_export(struct rig *rig, const char *id)
{
    struct test *t = rig->t;
    AUTO_BUF out = BUF_INIT(32 << 20);
    struct agent agent;

    ASSERT_OK(agent_get(rig->domain, str_from(id), &t->arena, &agent, &t->err));
    ASSERT_OK(builder_export(rig->builder, &agent, &t->arena, &out, &t->err));
    return arena_str(&t->arena, buf_str(&out));
}

static inline int rig_import(struct rig *rig, struct str bytes, struct agent *ret_agent)
{
    struct test *t = rig->t;

    rig->warnings = (struct builder_warnings){ .n = 0 };
    rig_begin(rig);
    return rig_end(rig, builder_import(rig->builder, bytes, STR_NONE, &t->arena, ret_agent,
                                       &rig->warnings, &t->err));
}

static inline struct agent rig_copy(struct rig *rig, const struct agent *from)
{
    struct test *t = rig->t;
    struct agent copy;

    rig->warnings = (struct builder_warnings){ .n = 0 };
    rig_begin(rig);
    ASSERT_OK(rig_end(rig, builder_duplicate(rig->builder, from, STR_NONE, &t->arena, &copy,
                                             &rig->warnings, &t->err)));
    return copy;
}

#endif
