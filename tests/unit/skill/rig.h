/* Skills over an open agent domain with a file store, on a loop that only tests move.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_SKILL_RIG_H
#define DORMOUSE_TESTS_SKILL_RIG_H

#include "db/migrations.h"
#include "harness/db_test.h"
#include "skill/skill_int.h"

#define NOW INT64_C(1700000000000)

struct rig {
    struct test *t;
    struct domain *domain;
    struct change *change;
    struct clock_fake clock;
    struct loop *loop;
    struct files *files;
    struct tool_bed *tools;
    struct skills *skills;
    struct agent agent;
    const char *root; /* of shared skills */
    const char *const *keys;
};

struct rig *rig_open(struct test *t);
/* With keys whose signatures count; NULL ends them. */
struct rig *rig_open_trusting(struct test *t, const char *const *keys);
void rig_free(struct rig *rig);
AUTO_DEFINE(rig)

/* Each in a unit of its own; -1 with t->err. */
int rig_add(struct rig *rig, const char *name, const char *tools, struct skill *ret_skill);
int rig_put(struct rig *rig, const char *path, const char *content, const char *author);
int rig_delete(struct rig *rig, const char *path);
struct skill rig_get(struct rig *rig, const char *id);
bool rig_has(struct rig *rig, const char *id);
struct skill *rig_list(struct rig *rig, size_t *ret_count);
/* Those that are not shared. */
size_t rig_own_count(struct rig *rig);
/* Of a file of the agent; NULL: there is none. */
const char *rig_content(struct rig *rig, const char *path);
const char *rig_taint(struct rig *rig, const char *path);
/* A skill of the shared folder. */
void rig_share(struct rig *rig, const char *name, const char *text);
/* Lets a second pass, so that the folder is looked at again. */
void rig_later(struct rig *rig);
const char *rig_text(struct rig *rig, const char *name, const char *more, const char *body);

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

#endif
