/* A builder over an open agent domain, on a loop that only tests move.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_BUILDER_RIG_H
#define DORMOUSE_TESTS_BUILDER_RIG_H

#include "builder/builder.h"
#include "db/migrations.h"
#include "files/files.h"
#include "harness/db_test.h"
#include "model/model.h"
#include "tool/tool.h"

#define NOW INT64_C(1700000000000)

struct rig {
    struct test *t;
    struct domain *domain;
    struct change *change;
    struct clock_fake clock;
    struct loop *loop;
    struct files *files;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct builder *builder;
};

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
    rig->builder = builder_new(&(struct builder_config){ .loop = rig->loop,
                                                         .agent_domain = rig->domain,
                                                         .change = rig->change,
                                                         .models = rig->models,
                                                         .tools = rig->tools,
                                                         .files = rig->files });
    return rig;
}

static inline void rig_free(struct rig *rig)
{
    model_gateway_free(rig->models);
    tool_bed_free(rig->tools);
    files_free(rig->files);
    loop_free(rig->loop);
    builder_free(rig->builder);
    change_free(rig->change);
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

#endif
