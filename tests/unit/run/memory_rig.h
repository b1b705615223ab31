/* What tests of memory in a run share: the question, its decision, the files.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_RUN_MEMORY_RIG_H
#define DORMOUSE_TESTS_RUN_MEMORY_RIG_H

#include "stage.h"

#define NOTE                                                                                       \
    "!write_memory {\"path\":\"knowledge/a.md\",\"content\":\"- likes tea\\n\",\"reason\":\"said " \
    "so\"}"

static inline struct inbox_item get_item(struct stage *stage, struct str id)
{
    struct test *t = stage->t;
    struct inbox_item item;

    ASSERT_OK(inbox_get(stage->domain, id, &t->arena, &item, &t->err));
    return item;
}

/* Whose memory it is; each test has a process of its own. */
__attribute__((unused)) static const char *agent_id = "planner";

static inline struct str tree(struct stage *stage)
{
    return str_from(arena_printf(&stage->t->arena, "agents/%s", agent_id));
}

static inline struct file get_file(struct stage *stage, const char *path)
{
    struct test *t = stage->t;
    struct file file = { .n = 0 };

    ASSERT(file_get(stage->files, tree(stage), str_from(path), &t->arena, &file, &t->err) >= 0);
    return file;
}

/* As a person would, beside the run. */
static inline void put_file(struct stage *stage, const char *path, const char *content,
                            const char *taint)
{
    struct test *t = stage->t;
    struct file file;

    ASSERT_OK(loop_unit_begin(stage->loop, stage->domain, &t->err));
    ASSERT_OK(file_put(stage->files,
                       &(struct file_write){ .tree = tree(stage),
                                             .path = str_from(path),
                                             .content = str_from(content),
                                             .base = FILE_ANY_VERSION,
                                             .author = STR("owner"),
                                             .taint = str_from(taint) },
                       &t->arena, &file, &t->err));
    ASSERT_OK(loop_unit_end(stage->loop, true, &t->err));
    stage_settle(stage);
}

static inline int decide(struct stage *stage, struct str id, enum inbox_state state,
                         const char *answer)
{
    const struct inbox_decision decision = {
        .state = state, .by = STR("owner"), .anyway = true, .answer = str_from(answer)
    };
    struct test *t = stage->t;
    int r;

    err_reset(&t->err);
    r = run_decide(stage->runner, id, &decision, &t->err);
    stage_settle(stage);
    return r;
}

static inline const char *details(struct stage *stage)
{
    struct inbox_item item = get_item(stage, stage_item(stage));

    return arena_str(&stage->t->arena, item.details).p;
}

static inline void ask_agent(struct stage *stage, const char *prompt)
{
    struct run_request request = { .agent_id = str_from(agent_id), .prompt = str_from(prompt) };

    stage_run_with(stage, &request);
}

#endif
