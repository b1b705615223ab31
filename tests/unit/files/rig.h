/* A store over an open agent domain, on a loop that only tests move.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_FILES_RIG_H
#define DORMOUSE_TESTS_FILES_RIG_H

#include "db/migrations.h"
#include "files/files.h"
#include "harness/db_test.h"

#define NOW  INT64_C(1700000000000)
#define TREE STR("agents/coach")

struct rig {
    struct test *t;
    struct domain *domain;
    struct change *change;
    struct clock_fake clock;
    struct loop *loop;
    struct files *files;
    const char *view_dir; /* NULL: no view */
};

/* As the room above would: this one knows no names. */
static inline int rig_admits(struct str tree, struct str path, struct err *err)
{
    (void)tree;
    return str_is(path, "AGENTS.md") ? err_set(err, ERR_PATH_DENIED, "not for files") : 0;
}

static inline void rig_start(struct rig *rig)
{
    struct test *t = rig->t;

    ASSERT_OK(files_new(&(struct files_config){ .loop = rig->loop,
                                                .agent_domain = rig->domain,
                                                .change = rig->change,
                                                .view_dir = rig->view_dir,
                                                .admits = rig_admits },
                        &rig->files, &t->err));
}

static inline struct rig *rig_open_at(struct test *t, const char *view_dir, int64_t now)
{
    struct rig *rig = NEW(struct rig);

    rig->t = t;
    rig->view_dir = view_dir;
    rig->domain = db_test_open(t, migrations_agent, migrations_agent_count);
    ASSERT_OK(change_open(rig->domain, NULL, NULL, &rig->change, &t->err));
    clock_fake_init(&rig->clock, now);
    rig->loop = loop_new_fake(&rig->clock);
    loop_attach(rig->loop, rig->domain);
    rig_start(rig);
    return rig;
}

static inline struct rig *rig_open(struct test *t)
{
    return rig_open_at(t, NULL, NOW);
}

static inline void rig_free(struct rig *rig)
{
    files_free(rig->files);
    loop_free(rig->loop);
    change_free(rig->change);
    domain_free(rig->domain);
    free(rig);
}
AUTO_DEFINE(rig)

/* One write in a unit of its own; ret_file lives in the test's arena. */
static inline int rig_put(struct rig *rig, const struct file_write *write, struct file *ret_file)
{
    struct test *t = rig->t;
    int r;

    err_reset(&t->err);
    ASSERT_OK(loop_unit_begin(rig->loop, rig->domain, &t->err));
    r = file_put(rig->files, write, &t->arena, ret_file, &t->err);
    ASSERT_OK(loop_unit_end(rig->loop, r >= 0, NULL));
    loop_fake_tick(rig->loop);
    return r;
}

static inline int rig_write(struct rig *rig, const char *path, const char *content, int64_t base,
                            struct file *ret_file)
{
    return rig_put(rig,
                   &(struct file_write){ .tree = TREE,
                                         .path = str_from(path),
                                         .content = str_from(content),
                                         .base = base,
                                         .author = STR("owner"),
                                         .reason = STR("a test") },
                   ret_file);
}

static inline int rig_remove(struct rig *rig, const char *path, int64_t base, struct file *ret_file)
{
    return rig_put(rig,
                   &(struct file_write){ .tree = TREE,
                                         .path = str_from(path),
                                         .remove = true,
                                         .base = base,
                                         .author = STR("owner") },
                   ret_file);
}

#endif
