/* Guarded names of the writable places: which paths no command may write, whether they are there or
 * not (guarded.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/guarded.h"
#include "sandbox/walls_int.h"

#define GIT_DEPTH 6 /* of submodules in submodules */

static const char *guarded_join(struct walls *w, const char *dir, const char *name)
{
    return arena_printf(&w->arena, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name);
}

static bool guarded_is(const char *path, mode_t type)
{
    struct stat st;

    return lstat(path, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

/* A link is guarded with what it leads to. */
static void guard_path(struct walls *w, const char *path)
{
    const char *real;

    walls_add(w, &w->deny_write, path);
    if (!guarded_is(path, S_IFLNK))
        return;
    real = walls_resolve(w, path, "/");
    if (real && strcmp(real, path) != 0)
        walls_add(w, &w->deny_write, real);
}

static void guard_git(struct walls *w, const char *dir, int depth);

static void guard_git_below(struct walls *w, const char *dir, int depth)
{
    const struct dirent *entry;
    DIR *open_dir = opendir(dir);

    while (open_dir && (entry = readdir(open_dir)))
        if (entry->d_name[0] != '.')
            guard_git(w, guarded_join(w, dir, entry->d_name), depth + 1);
    if (open_dir)
        closedir(open_dir);
}

/* A git directory, with those of its submodules and further working trees. It is bound onto itself,
 * so that it can't be moved away and replaced. */
static void guard_git(struct walls *w, const char *dir, int depth)
{
    if (depth > GIT_DEPTH || !guarded_is(dir, S_IFDIR))
        return;
    if (!guarded_is(guarded_join(w, dir, "HEAD"), S_IFREG)) {
        /* modules/a/b, for a submodule that is called a/b */
        if (depth > 0)
            guard_git_below(w, dir, depth);
        return;
    }
    walls_add(w, &w->pinned, dir);
    for (size_t i = 0; guarded_git[i]; i++)
        guard_path(w, guarded_join(w, dir, guarded_git[i]));
    guard_git_below(w, guarded_join(w, dir, "modules"), depth);
    guard_git_below(w, guarded_join(w, dir, "worktrees"), depth);
}

static void guard_tree(struct walls *w, const char *dir)
{
    const char *git = guarded_join(w, dir, ".git");

    for (size_t i = 0; guarded_names[i]; i++)
        guard_path(w, guarded_join(w, dir, guarded_names[i]));
    if (guarded_is(git, S_IFREG) || guarded_is(git, S_IFLNK))
        guard_path(w, git);
    guard_git(w, git, 0);
}

void walls_guard_places(struct walls *w)
{
    guard_tree(w, w->cwd);
    for (size_t i = 0; i < w->allow_write.n; i++)
        if (strcmp(w->allow_write.items[i], w->cwd) != 0)
            guard_tree(w, w->allow_write.items[i]);
}

void walls_guard_repositories(struct walls *w)
{
    for (size_t i = 0; i < w->repositories.n; i++) {
        const char *dir = w->repositories.items[i];
        bool place = strcmp(dir, w->cwd) == 0;

        for (size_t k = 0; k < w->allow_write.n; k++)
            place = place || strcmp(dir, w->allow_write.items[k]) == 0;
        if (!place && walls_below_any(dir, &w->allow_write))
            guard_tree(w, dir);
    }
}
