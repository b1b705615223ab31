/* Files that git's configuration names: directories of hooks, further configuration, scripts that
 * are filters or pagers. git runs or obeys them wherever they lie, so those in a writable place are
 * guarded like the configuration itself, whether they are there or not.
 *
 * Read are the configuration of each repository in a writable place or around one, the home's and
 * the system's, and what these include, whatever the condition. A name that a shell would have to
 * expand ("$HOME/x") is not understood.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/place.h"
#include "sandbox/git_config.h"
#include "sandbox/walls_int.h"

#define FILES_MAX    64               /* configuration files of one repository */
#define DEPTH_MAX    10               /* of those that include each other, as git has it */
#define SHELLS_MAX   4                /* in each other */
#define NAMED_MAX    128              /* guarded paths of one repository */
#define CONFIG_BYTES (1024 * KIB)     /* of one that is read */
#define USER_BYTES   (16 * KIB)       /* of what is known of a user */
#define LINK_BYTES   LIMIT_PATH_BYTES /* of a file that only names a directory */

struct git_look {
    struct walls *w;
    const char *tree; /* where git runs commands: the working tree, or a bare repository */
    bool bare;
    bool everywhere; /* the configuration holds for each repository, also for those made later */
    unsigned files, named;
};

/* The first bytes of a regular file. False when there is none. */
static bool look_read(const char *path, struct buf *text)
{
    AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char part[4096];
    struct stat st;
    ssize_t n;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    while ((n = read(fd, part, sizeof(part))) > 0)
        if (buf_add(text, part, (size_t)n) < 0)
            break;
    return true;
}

/* ---- one name ---- */

/* A place, the tree or what holds one of them: as a whole it can't be read-only. */
static bool look_is_too_much(const struct git_look *look, const char *path)
{
    bool holds = walls_below(look->tree, path) || walls_below(look->w->cwd, path);

    for (size_t i = 0; i < look->w->allow_write.n; i++)
        holds = holds || walls_below(look->w->allow_write.items[i], path);
    return holds;
}

static void look_guard(struct git_look *look, const char *path)
{
    struct walls *w = look->w;

    if (walls_below_any(path, &w->allow_write) && !walls_below_any(path, &w->deny_write) &&
        !look_is_too_much(look, path) && look->named++ < NAMED_MAX)
        walls_guard_path(w, path, look->tree);
}

/* Past what git allows before a path. */
static const char *look_plain(const char *value)
{
    static const char optional[] = ":(optional)";

    return strncmp(value, optional, strlen(optional)) == 0 ? value + strlen(optional) : value;
}

/* Notes what is to be looked for in new repositories. The tree itself can't be set aside, and what
 * lies outside of it is not looked for. */
static void look_note(struct git_look *look, const char *value)
{
    struct walls *w = look->w;
    const char *path = look_plain(value);

    if (!look->everywhere || path[0] == '/' || path[0] == '~' || place_climbs(path) ||
        w->obeyed.n >= NAMED_MAX)
        return;
    path = place_absolute(path, "/", &w->arena);
    if (!path || strcmp(path, "/") == 0)
        return;
    for (size_t i = 0; i < w->obeyed.n; i++)
        if (strcmp(w->obeyed.items[i], path + 1) == 0)
            return;
    walls_add(w, &w->obeyed, path + 1);
}

/* value as an absolute path, with the homes that git and a shell put into it. NULL when it is too
 * long, or there is no such user. */
static const char *look_path(struct git_look *look, const char *value, const char *base)
{
    struct arena *arena = &look->w->arena;
    char room[USER_BYTES];
    struct passwd user, *found = NULL;
    size_t n;

    value = look_plain(value);
    n = strcspn(value, "/");
    if (value[0] != '~')
        return place_absolute(value, base, arena);
    if (n == 1)
        return place_absolute(arena_printf(arena, "%s%s", look->w->home, value + n), "/", arena);
    if (getpwnam_r(arena_copy(arena, value + 1, n - 1), &user, room, sizeof(room), &found) != 0 ||
        !found)
        return NULL;
    return place_absolute(arena_printf(arena, "%s%s", user.pw_dir, value + n), "/", arena);
}

/* Where full leads, now or when the directories are made that it enters only to leave them. */
static const char *look_level(struct git_look *look, const char *full)
{
    char *level = arena_text(&look->w->arena, full), *up = level;
    struct stat st;

    while ((up = strstr(up, "/.."))) {
        char *name;
        bool there;

        up[0] = '\0';
        name = strrchr(level, '/');
        there = !name || (stat(level, &st) == 0 && S_ISDIR(st.st_mode));
        up[0] = '/';
        if (there || (up[3] != '/' && up[3] != '\0')) {
            up += strlen("/..");
            continue;
        }
        memmove(name, up + strlen("/.."), strlen(up + strlen("/..")) + 1);
        up = level;
    }
    return walls_resolve(look->w, level[0] ? level : "/", "/");
}

/* The same way could lead elsewhere, if what it enters and leaves were made a link. The hand finds
 * what appears there then (inside_guard.c). */
static void look_guard_climb(struct git_look *look, const char *full, const char *real)
{
    struct walls *w = look->w;
    struct stat st;

    if (walls_resolve(w, full, "/") || strcmp(strrchr(full, '/'), "/..") == 0 ||
        look_is_too_much(look, real) || walls_below_any(full, &w->deny_write) ||
        (lstat(real, &st) == 0 && !walls_below_any(real, &w->allow_write)) ||
        look->named++ >= NAMED_MAX)
        return;
    walls_add(w, &w->deny_write, full);
}

/* Where full leads; guards the first link on the way, which could be replaced. */
static const char *look_follow(struct git_look *look, const char *full)
{
    struct walls *w = look->w;
    const char *real = full ? look_level(look, full) : NULL;
    struct stat st;

    if (!real)
        return NULL;
    look_guard_climb(look, full, real);
    for (const char *end = strchr(full + 1, '/');; end = strchr(end + 1, '/')) {
        const char *way = end ? arena_copy(&w->arena, full, (size_t)(end - full)) : full;

        if (lstat(way, &st) == 0 && S_ISLNK(st.st_mode)) {
            const char *slash = strrchr(way, '/');
            const char *dir =
                walls_resolve(w, arena_printf(&w->arena, "%.*s/.", (int)(slash - way), way), "/");

            if (dir)
                look_guard(look,
                           arena_printf(&w->arena, "%s%s", strcmp(dir, "/") ? dir : "", slash));
            break;
        }
        if (!end)
            break;
    }
    return real;
}

/* Of a directory that can't be read-only as a whole. */
static void look_hooks_in(struct git_look *look, const char *dir)
{
    static const char *const hooks[] = {
        "applypatch-msg",     "pre-applypatch",
        "post-applypatch",    "pre-commit",
        "pre-merge-commit",   "prepare-commit-msg",
        "commit-msg",         "post-commit",
        "pre-rebase",         "post-checkout",
        "post-merge",         "pre-push",
        "pre-receive",        "update",
        "proc-receive",       "post-receive",
        "post-update",        "reference-transaction",
        "push-to-checkout",   "pre-auto-gc",
        "post-rewrite",       "sendemail-validate",
        "fsmonitor-watchman", "post-index-change",
        "p4-changelist",      "p4-prepare-changelist",
        "p4-post-changelist", "p4-pre-submit",
    };

    for (size_t i = 0; i < ARRAY_LEN(hooks); i++)
        look_guard(look, arena_printf(&look->w->arena, "%s/%s", dir, hooks[i]));
}

static void look_hooks(struct git_look *look, const char *value)
{
    const char *dir = look_follow(look, look_path(look, value, look->tree));

    look_note(look, value);
    if (dir && look_is_too_much(look, dir))
        look_hooks_in(look, strcmp(dir, "/") == 0 ? "" : dir);
    else if (dir)
        look_guard(look, dir);
}

/* A word that is a file of the tree, or a path that could become one. may_work: it is one only when
 * it can be run, since it may be what the command works on. */
static void look_word(struct git_look *look, const char *word, bool may_work)
{
    const char *full = look_path(look, word, look->tree);
    const char *path = full ? look_level(look, full) : NULL;
    struct stat st;

    if (!may_work && strchr(word, '/'))
        look_note(look, word);
    if (!path || (lstat(path, &st) == 0 ? !S_ISREG(st.st_mode) || (may_work && !(st.st_mode & 0111))
                                        : may_work || !strchr(word, '/')))
        return;
    look_follow(look, full);
    look_guard(look, path);
}

/* The first word without a slash is looked for among the programs. A word with blanks in it may be
 * a name, or a command for another shell. */
static void look_command(struct git_look *look, enum git_names names, const char *value, int depth)
{
    struct str rest = str_from(value);
    char word[LIMIT_PATH_BYTES];

    for (bool first = true; git_command_word(&rest, word); first = false) {
        const char *copy = arena_text(&look->w->arena, word);

        if (word[0] == '\0' || word[0] == '-' || (first && !strchr(word, '/')))
            continue;
        look_word(look, copy, names == GIT_NAMES_ALIAS && !first);
        if (depth < SHELLS_MAX && strpbrk(word, " \t\n;&|"))
            look_command(look, names, copy, depth + 1);
    }
}

/* ---- one file ---- */

static void look_config(struct git_look *look, const char *path, int depth)
{
    AUTO_BUF text = BUF_INIT(CONFIG_BYTES);
    const char *slash = strrchr(path, '/');
    const char *dir = arena_copy(&look->w->arena, path, (size_t)(slash - path));
    struct git_setting setting;
    struct git_config config;

    if (depth > DEPTH_MAX || look->files++ >= FILES_MAX || !look_read(path, &text))
        return;
    config = (struct git_config){ .rest = buf_str(&text) };
    while (git_config_next(&config, &setting)) {
        enum git_names names = git_setting_names(&setting);
        const char *value = arena_text(&look->w->arena, setting.value), *named;

        if (value[0] == '\0')
            continue;
        if (names == GIT_NAMES_HOOKS) {
            look_hooks(look, value);
        } else if (names == GIT_NAMES_COMMAND || names == GIT_NAMES_ALIAS) {
            /* In a bare repository "refs/heads/x" is a branch. */
            if (!look->bare)
                look_command(look, names, value, 0);
        } else if (names != GIT_NAMES_NOTHING) {
            named = look_follow(
                look, look_path(look, value, names == GIT_NAMES_CONFIG ? dir : look->tree));
            if (named)
                look_guard(look, named);
            if (named && names == GIT_NAMES_CONFIG)
                look_config(look, named, depth + 1);
        }
    }
}

/* ---- a repository ---- */

/* The directory that the only line of a file names, after a word. NULL when it names none. */
static const char *look_directory(struct git_look *look, const char *path, const char *word,
                                  const char *base)
{
    AUTO_BUF text = BUF_INIT(LINK_BYTES);
    struct str line;

    if (!look_read(path, &text) || !str_starts(buf_str(&text), str_from(word)))
        return NULL;
    line = str_trim(str_skip(buf_str(&text), strlen(word)));
    return walls_resolve(look->w, arena_copy(&look->w->arena, line.p, line.n), base);
}

static void look_repository(struct git_look *look, const char *git)
{
    struct arena *arena = &look->w->arena;
    const char *common;
    struct stat st;

    if (stat(git, &st) == 0 && S_ISREG(st.st_mode))
        git = look_directory(look, git, "gitdir:", look->tree);
    if (!git)
        return;
    common = look_directory(look, arena_printf(arena, "%s/commondir", git), "", git);
    look_config(look, arena_printf(arena, "%s/config", common ? common : git), 0);
    look_config(look, arena_printf(arena, "%s/config.worktree", git), 0);
}

void walls_guard_named(struct walls *w, const char *tree, const char *git)
{
    struct git_look look = { .w = w, .tree = tree, .bare = strcmp(tree, git) == 0 };

    look_repository(&look, git);
    /* These hold where no repository is, too. */
    look.everywhere = true;
    look_config(&look, arena_printf(&w->arena, "%s/.gitconfig", w->home), 0);
    look_config(&look, arena_printf(&w->arena, "%s/.config/git/config", w->home), 0);
    look_config(&look, "/etc/gitconfig", 0);
}

static bool look_has(struct walls *w, const char *dir, const char *name)
{
    struct stat st;

    return lstat(arena_printf(&w->arena, "%s/%s", dir, name), &st) == 0;
}

void walls_guard_named_around(struct walls *w, const char *place)
{
    char *dir = arena_text(&w->arena, place), *slash;

    while ((slash = strrchr(dir, '/')) && strcmp(dir, "/") != 0) {
        const char *tree;

        slash[slash == dir] = '\0';
        tree = arena_text(&w->arena, dir);
        if (look_has(w, tree, ".git"))
            walls_guard_named(w, tree, arena_printf(&w->arena, "%s/.git", tree));
        if (look_has(w, tree, "HEAD") && look_has(w, tree, "objects"))
            walls_guard_named(w, tree, tree);
    }
}
