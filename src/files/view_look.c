/* Looking at a view without a daemon.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "files/view_int.h"

struct look {
    int dir_fd;
    struct arena *arena;
    struct file_problem *problems;
    size_t count;
};

static void look_at_tree(struct look *look, char *name)
{
    struct view_tree tree = { .name = name, .seen = MAP_INIT };
    struct view_scan scan = { .dir_fd = look->dir_fd,
                              .inotify_fd = -1,
                              .tree = &tree,
                              .arena = ARENA_INIT,
                              .only_notes = true };

    view_scan_run(&scan);
    for (struct view_note *note = scan.notes; note && look->count < VIEW_PROBLEMS_MAX;
         note = note->next)
        look->problems[look->count++] =
            (struct file_problem){ .tree = str_from(name),
                                   .path = arena_str(look->arena, note->path),
                                   .text = str_from(arena_text(look->arena, note->text)) };
    arena_release(&scan.arena);
}

static void look_at_kind(struct look *look, const char *kind)
{
    int fd = openat(look->dir_fd, kind, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        char *name = arena_printf(look->arena, "%s/%s", kind, entry->d_name);

        if (file_tree_check(str_from(name), NULL) == 0)
            look_at_tree(look, name);
    }
    if (dir)
        closedir(dir);
    else
        file_close_auto(&fd);
}

void files_look(const char *view_dir, struct arena *arena, struct file_problem **ret_problems,
                size_t *ret_count)
{
    AUTO_FD fd = open(view_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct look look = { .dir_fd = fd, .arena = arena };

    look.problems = ARENA_NEW_N(arena, struct file_problem, VIEW_PROBLEMS_MAX);
    if (fd >= 0) {
        look_at_kind(&look, "agents");
        look_at_kind(&look, "users");
    }
    *ret_problems = look.problems;
    *ret_count = look.count;
}
