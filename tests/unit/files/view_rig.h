/* A store with a view in the test's folder, and a person who works in that folder.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_FILES_VIEW_RIG_H
#define DORMOUSE_TESTS_FILES_VIEW_RIG_H

#include <sys/stat.h>
#include <unistd.h>

#include "rig.h"

/* Moves on; a fake loop hears of the disk only in its ticks. */
static inline void view_advance(struct rig *rig, int64_t ms)
{
    for (int64_t step; ms > 0; ms -= step) {
        step = ms < 100 ? ms : ms < 10000 ? 100 : 1000;
        loop_fake_tick(rig->loop);
        loop_fake_advance(rig->loop, step);
    }
}

/* Until everything that happened is written and recorded. */
static inline void view_settle(struct rig *rig)
{
    view_advance(rig, 5000);
}

/* The clock stands at the present: times of files are the system's. */
static inline struct rig *view_open(struct test *t)
{
    struct rig *rig = rig_open_at(t, test_path(t, "files"), clock_wall_ms(clock_system()));

    view_advance(rig, 10);
    return rig;
}

static inline const char *disk_path(struct rig *rig, const char *path)
{
    return arena_printf(&rig->t->arena, "%s/agents/coach/%s", rig->view_dir, path);
}

/* Content on disk; "(none)" when there is no such file. */
static inline const char *disk(struct rig *rig, const char *path)
{
    const char *whole = disk_path(rig, path);
    struct stat st;

    if (lstat(whole, &st) < 0)
        return "(none)";
    return test_read_file(rig->t, whole).p;
}

static inline void human_does(struct rig *rig, const char *command)
{
    const char *line =
        arena_printf(&rig->t->arena, "cd %s/agents/coach && { %s; }", rig->view_dir, command);

    if (system(line) != 0)
        FAIL("%s", command);
}

/* Content in the store; "(none)" when there is no such file. */
static inline const char *stored(struct rig *rig, const char *path)
{
    struct test *t = rig->t;
    struct file file;
    int r = file_get(rig->files, TREE, str_from(path), &t->arena, &file, &t->err);

    ASSERT_OK(r);
    return r ? arena_copy(&t->arena, file.content.p, file.content.n) : "(none)";
}

/* "3 owner:edited 2 owner:x ..." */
static inline const char *history(struct rig *rig, const char *path)
{
    struct test *t = rig->t;
    struct file *versions;
    char *text = arena_text(&t->arena, "");
    size_t count;

    ASSERT_OK(file_history(rig->files, TREE, str_from(path), 0, 0, &t->arena, &versions, &count,
                           &t->err));
    for (size_t i = 0; i < count; i++) {
        struct file file;

        ASSERT_EQ(file_get_version(rig->files, TREE, str_from(path), versions[i].version, &t->arena,
                                   &file, &t->err),
                  1);
        text = arena_printf(&t->arena, "%s%s%.*s:%.*s", text, i ? " " : "", STR_ARG(file.author),
                            STR_ARG(file.deleted ? STR("-") : file.content));
    }
    return text;
}

static inline void agent_writes(struct rig *rig, const char *path, const char *content)
{
    struct file file;

    ASSERT_EQ(rig_put(rig,
                      &(struct file_write){ .tree = TREE,
                                            .path = str_from(path),
                                            .content = str_from(content),
                                            .base = FILE_ANY_VERSION,
                                            .author = STR("agent") },
                      &file),
              1);
}

/* The text of the one problem, "" when there is none. */
static inline const char *problem(struct rig *rig)
{
    struct test *t = rig->t;
    struct file_problem *problems;
    size_t count;

    files_problems(rig->files, &t->arena, &problems, &count);
    if (count > 1)
        FAIL("%zu problems, among them %s and %s", count, problems[0].text.p, problems[1].text.p);
    return count ? arena_printf(&t->arena, "%s: %s", problems[0].path.p, problems[0].text.p) : "";
}

#endif
