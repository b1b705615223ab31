/* After a commit: what was written is wanted on disk.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "files/view_int.h"

#define DROPPED_MS 10000 /* until what could not be committed is looked at again */

struct written {
    struct loop_effect effect;
    struct view *view;
    char *tree, *path;
    bool from_disk, deleted;
    int64_t version;
    char hash[SHA256_TEXT_SIZE];
    struct view_stat stat;
};

static void end_written(struct written *written)
{
    view_unref(written->view);
    free(written->tree);
    free(written->path);
    free(written);
}

static void on_written(struct loop_effect *effect)
{
    struct written *written = CONTAINER_OF(effect, struct written, effect);
    struct view *view = written->view;

    if (view->files) {
        struct view_tree *tree = view_tree_of(view, str_from(written->tree));

        /* From the disk: no job is in the pool in the tick that records what one found. */
        if (written->from_disk && !view->job)
            view_seen_put(tree, str_from(written->path), written->version, written->hash,
                          &written->stat);
        if (written->from_disk)
            view_problem_clear(view, str_from(written->tree), str_from(written->path));
        view_want(view, str_from(written->tree), str_from(written->path));
        view_arm(view, true);
    }
    end_written(written);
}

static void on_dropped(struct loop_effect *effect, const struct err *why)
{
    struct written *written = CONTAINER_OF(effect, struct written, effect);
    struct view *view = written->view;

    (void)why;
    if (view->files && written->from_disk) {
        view_tree_of(view, str_from(written->tree))->dirty = true;
        view->scan_due = view_now(view) + DROPPED_MS;
    }
    end_written(written);
}

void view_written(struct view *view, struct str tree, const struct file *after)
{
    struct written *written = NEW(struct written);

    written->effect.run = on_written;
    written->effect.drop = on_dropped;
    written->view = view;
    view_ref(view);
    written->tree = alloc_copy(tree.p, tree.n);
    written->path = alloc_copy(after->path.p, after->path.n);
    written->version = after->version;
    if (view->recording && !view->recording->staged && view->recording->stat.ino) {
        written->from_disk = true;
        written->stat = view->recording->stat;
        memcpy(written->hash, view->recording->hash, sizeof(written->hash));
    }
    loop_after_commit(view->loop, &written->effect);
}
