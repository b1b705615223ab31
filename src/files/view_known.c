/* What the view knows: its trees, what it wants to write, and what is wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/log.h"
#include "files/view_int.h"

#define WANTED_MAX 4096 /* then whole trees are compared */

void view_tree_free(struct view_tree *tree)
{
    map_each (&tree->seen, entry)
        free(entry->value);
    map_release(&tree->seen);
    free(tree->after);
    free(tree->name);
    free(tree);
}

struct view_tree *view_tree_of(struct view *view, struct str name)
{
    struct view_tree *tree = map_find(&view->trees, name);

    if (tree)
        return tree;
    tree = NEW(struct view_tree);
    tree->name = alloc_copy(name.p, name.n);
    tree->seen = MAP_INIT;
    tree->dirty = tree->heads = true;
    map_put(&view->trees, name, tree);
    return tree;
}

void view_want(struct view *view, struct str tree, struct str path)
{
    AUTO_BUF key = BUF_INIT(2 * FILE_PATH_MAX);
    struct view_want *want;

    buf_printf(&key, "%.*s %.*s", STR_ARG(tree), STR_ARG(path));
    want = map_find(&view->wanted, buf_str(&key));
    if (want) {
        want->again = want->busy;
        return;
    }
    if (map_count(&view->wanted) >= WANTED_MAX) {
        view_tree_of(view, tree)->heads = true;
        return;
    }
    map_put(&view->wanted, buf_str(&key), NEW(struct view_want));
}

void view_problem_release(struct view_problem *problem)
{
    free(problem->tree);
    free(problem->path);
    free(problem->text);
}

static struct view_problem *find_problem(struct view *view, struct str tree, struct str path)
{
    for (size_t i = 0; i < view->problem_count; i++)
        if (str_is(tree, view->problems[i].tree) && str_is(path, view->problems[i].path))
            return &view->problems[i];
    return NULL;
}

void view_problem(struct view *view, struct str tree, struct str path, const char *text,
                  bool scanned)
{
    struct view_problem *problem = find_problem(view, tree, path);

    /* What a walk and a write say of one path is the same trouble: the first word stays. */
    if (problem && (problem->scanned != scanned || strcmp(problem->text, text) == 0))
        return;
    LOG_WARN("files", "the view and the store differ", LOG_STR("tree", tree), LOG_STR("path", path),
             LOG_TEXT("why", text));
    if (!problem && view->problem_count == VIEW_PROBLEMS_MAX)
        return;
    if (problem)
        view_problem_release(problem);
    else
        problem = &view->problems[view->problem_count++];
    *problem = (struct view_problem){ .tree = alloc_copy(tree.p, tree.n),
                                      .path = alloc_copy(path.p, path.n),
                                      .text = alloc_text(text),
                                      .at = clock_wall_ms(loop_clock(view->loop)),
                                      .scanned = scanned };
}

void view_problem_clear(struct view *view, struct str tree, struct str path)
{
    struct view_problem *problem = find_problem(view, tree, path);

    if (!problem)
        return;
    view_problem_release(problem);
    *problem = view->problems[--view->problem_count];
}

void files_problems(struct files *files, struct arena *arena, struct file_problem **ret_problems,
                    size_t *ret_count)
{
    size_t count = files->view ? files->view->problem_count : 0;
    struct file_problem *list = ARENA_NEW_N(arena, struct file_problem, count + 1);

    for (size_t i = 0; i < count; i++) {
        const struct view_problem *problem = &files->view->problems[i];

        list[i] = (struct file_problem){ .tree = str_from(arena_text(arena, problem->tree)),
                                         .path = str_from(arena_text(arena, problem->path)),
                                         .text = str_from(arena_text(arena, problem->text)),
                                         .since = problem->at };
    }
    *ret_problems = list;
    *ret_count = count;
}
