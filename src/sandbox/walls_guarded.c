/* Guarded names of the writable places: which paths no command may write, whether they are there or
 * not (guarded.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/known_dirs.h"
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

static void guard_real(struct walls *w, const char *path)
{
    const char *real = walls_resolve(w, path, "/");

    if (real && strcmp(real, path) != 0)
        walls_add(w, &w->deny_write, real);
}

/* A link is guarded with what it leads to. */
static void guard_path(struct walls *w, const char *path)
{
    walls_add(w, &w->deny_write, path);
    if (guarded_is(path, S_IFLNK))
        guard_real(w, path);
}

/* It stays where it is. */
static void guard_pin(struct walls *w, const char *dir)
{
    for (size_t i = 0; i < w->pinned.n; i++)
        if (strcmp(w->pinned.items[i], dir) == 0)
            return;
    if (guarded_is(dir, S_IFDIR))
        walls_add(w, &w->pinned, dir);
}

static void guard_on_the_way(struct walls *w, const char *dir, const struct guarded_name *entry)
{
    const char *path =
        guarded_join(w, dir, arena_printf(&w->arena, "%s/%s", entry->way, entry->name));
    bool linked = false;

    for (const char *end = path + strlen(dir) + 1; (end = strchr(end, '/')); end++) {
        const char *way = arena_copy(&w->arena, path, (size_t)(end - path));

        linked = linked || guarded_is(way, S_IFLNK);
        guard_pin(w, way);
    }
    guard_path(w, path);
    if (linked)
        guard_real(w, path);
}

void walls_guard_path(struct walls *w, const char *path, const char *root)
{
    size_t n = walls_below(path, root) && strcmp(root, "/") != 0 ? strlen(root) : 0;

    for (const char *end = path + n; (end = strchr(end + 1, '/'));) {
        const char *way = arena_copy(&w->arena, path, (size_t)(end - path));

        if (walls_below_any(way, &w->allow_write))
            guard_pin(w, way);
    }
    guard_path(w, path);
}

static void guard_names(struct walls *w, const char *dir, const struct guarded_name *names)
{
    for (; names->name; names++)
        if (names->way[0])
            guard_on_the_way(w, dir, names);
        else
            guard_path(w, guarded_join(w, dir, names->name));
}

static bool guarded_is_git(struct walls *w, const char *dir)
{
    static const char *const marks[] = {
        "HEAD", "objects", "refs", "commondir", "config", "hooks"
    };
    struct stat st;

    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (lstat(guarded_join(w, dir, marks[i]), &st) == 0)
            return true;
    return false;
}

static void guard_git(struct walls *w, const char *dir, int depth);

static void guard_git_below(struct walls *w, const char *dir, int depth)
{
    const struct dirent *entry;
    DIR *open_dir = opendir(dir);

    while (open_dir && (entry = readdir(open_dir)))
        if (entry->d_name[0] != '.') {
            const char *below = guarded_join(w, dir, entry->d_name);

            /* modules/a/b, for a submodule that is called a/b */
            if (guarded_is_git(w, below))
                guard_git(w, below, depth + 1);
            else if (depth < GIT_DEPTH && guarded_is(below, S_IFDIR))
                guard_git_below(w, below, depth + 1);
        }
    if (open_dir)
        closedir(open_dir);
}

/* A git directory, whatever is left of it, with those of its submodules and further working trees.
 * It is bound onto itself, so that it can't be moved away and replaced. */
static void guard_git(struct walls *w, const char *dir, int depth)
{
    if (depth > GIT_DEPTH || !guarded_is(dir, S_IFDIR))
        return;
    guard_pin(w, dir);
    for (size_t i = 0; guarded_git[i]; i++)
        guard_path(w, guarded_join(w, dir, guarded_git[i]));
    guard_git_below(w, guarded_join(w, dir, "modules"), depth);
    guard_git_below(w, guarded_join(w, dir, "worktrees"), depth);
}

static void guard_tree(struct walls *w, const char *dir)
{
    const char *git = guarded_join(w, dir, ".git");

    guard_names(w, dir, guarded_names);
    if (guarded_is(git, S_IFREG) || guarded_is(git, S_IFLNK))
        guard_path(w, git);
    guard_git(w, git, 0);
    walls_guard_named(w, dir, git);
}

static bool guarded_is_place(const struct walls *w, const char *dir)
{
    bool place = strcmp(dir, w->cwd) == 0;

    for (size_t i = 0; i < w->allow_write.n; i++)
        place = place || strcmp(dir, w->allow_write.items[i]) == 0;
    return place;
}

/* A home that may be written to as a whole. */
static void guard_home(struct walls *w)
{
    const char *known = known_dirs_file(&w->arena);

    if (strcmp(w->home, "/") == 0 || !walls_below_any(w->home, &w->allow_write))
        return;
    if (!guarded_is_place(w, w->home))
        guard_tree(w, w->home);
    guard_names(w, w->home, guarded_home);
    if (known && walls_below_any(known, &w->allow_write))
        guard_path(w, known);
}

void walls_guard_places(struct walls *w)
{
    guard_tree(w, w->cwd);
    for (size_t i = 0; i < w->allow_write.n; i++)
        if (strcmp(w->allow_write.items[i], w->cwd) != 0)
            guard_tree(w, w->allow_write.items[i]);
    for (size_t i = 0; i < w->allow_write.n; i++)
        walls_guard_named_around(w, w->allow_write.items[i]);
    guard_home(w);
}

void walls_guard_repositories(struct walls *w)
{
    for (size_t i = 0; i < w->repositories.n; i++) {
        const char *dir = w->repositories.items[i];

        if (!guarded_is_place(w, dir) && walls_below_any(dir, &w->allow_write))
            guard_tree(w, dir);
    }
    for (size_t i = 0; i < w->bare.n; i++)
        if (walls_below_any(w->bare.items[i], &w->allow_write)) {
            guard_git(w, w->bare.items[i], 0);
            if (strcasecmp(strrchr(w->bare.items[i], '/'), "/.git") != 0)
                walls_guard_named(w, w->bare.items[i], w->bare.items[i]);
        }
}
