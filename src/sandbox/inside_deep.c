/* Guarded names that come into being, or change, deeper in a writable place (guarded.h): a new
 * repository below it, a directory with an .envrc.
 *
 * They may be made (a command may well clone something), so the hand looks when a command, or
 * another operation that writes, ends, and makes harmless what tools outside would obey: what is
 * not just as the inventory has it is set aside under a name that nobody reads, and reported. A new
 * repository keeps its configuration while that says nothing but what every clone says, and its
 * samples of hooks.
 *
 * The look goes everywhere: also into directories of git and into those that a command closed.
 * Where it did not get, it says so (inside_cut.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/visible.h"
#include "sandbox/git_config.h"
#include "sandbox/guarded.h"
#include "sandbox/inside_int.h"

#define ENTRIES_MAX 200000 /* looked at after one command */
#define DEPTH_MAX   64
#define CONFIG_MAX  (256 * KIB)

static struct {
    const struct inside_setup *setup;
    bool starting; /* whatever is there belongs to the inventory */
    unsigned entries;
    bool changed;
    char *message;
    char path[LIMIT_PATH_BYTES]; /* of what is being looked at */
    size_t n;
} deep;

/* ---- where the look is ---- */

/* Not all of what is at deep.path is looked at. */
static void deep_cut(enum cut_why why)
{
    if (cut_note(deep.path, why, deep.starting, deep.message))
        deep.changed = true;
}

static bool deep_push(const char *name, size_t *ret_before)
{
    size_t room = sizeof(deep.path) - deep.n;
    const char *slash = deep.n == 1 && deep.path[0] == '/' ? "" : "/";
    int n = snprintf(deep.path + deep.n, room, "%s%s", slash, name);

    *ret_before = deep.n;
    if (n < 0 || (size_t)n >= room) {
        deep.path[deep.n] = '\0';
        deep_cut(CUT_LONG);
        return false;
    }
    deep.n += (size_t)n;
    return true;
}

static void deep_pop(size_t before)
{
    deep.n = before;
    deep.path[before] = '\0';
}

/* ---- one guarded thing ---- */

/* Guarded by itself, since the start (inside_guard.c). */
static bool deep_known(void)
{
    for (size_t i = 0; deep.setup->deny_write[i]; i++)
        if (strcmp(deep.setup->deny_write[i], deep.path) == 0)
            return true;
    return false;
}

enum thing_kind {
    THING_OTHER = 0, /* never harmless */
    THING_GIT,       /* of guarded_git */
    THING_GIT_LATER, /* of guarded_git_later */
    THING_OBEYED,    /* of setup->obeyed */
};

static bool deep_is_plain(int dir, const char *name, enum thing_kind kind)
{
    AUTO_BUF text = BUF_INIT(CONFIG_MAX);
    AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 || file_read_fd(fd, name, &text, NULL) < 0)
        return false;
    switch (kind) {
    case THING_GIT_LATER:
        return git_sequence_is_plain(name, buf_str(&text));
    case THING_GIT:
        return strcmp(name, "commondir") == 0 ? str_is(str_trim(buf_str(&text)), "../..")
                                              : git_config_is_plain(buf_str(&text));
    case THING_OBEYED:
    case THING_OTHER:
        break;
    }
    return false;
}

static bool deep_only_samples(int dir, const char *name)
{
    static const char sample[] = ".sample";
    const struct dirent *entry;
    struct reach reach;
    bool only = true;
    DIR *list;

    if (!reach_open(&reach, dir, name))
        return false;
    list = reach.listed ? reach_list(&reach) : NULL;
    while (list && only && (entry = readdir(list))) {
        size_t n = strlen(entry->d_name);

        only = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
               (n >= sizeof(sample) && strcmp(entry->d_name + n - strlen(sample), sample) == 0);
    }
    if (list)
        closedir(list);
    reach_close(&reach);
    return list && only;
}

/* Of git's, whether it is as every clone has it, or runs nothing when git goes on. */
static bool deep_is_harmless(const struct thing *thing, int dir, const char *name,
                             enum thing_kind kind)
{
    if (kind == THING_OBEYED || (kind == THING_GIT && strcmp(name, "hooks") == 0))
        return thing->type == S_IFDIR && deep_only_samples(dir, name);
    return kind != THING_OTHER && thing->type == S_IFREG && deep_is_plain(dir, name, kind);
}

/* At deep.path, which is name in dir. */
static void deep_thing(int dir, const char *name, enum thing_kind kind)
{
    bool known = deep_known();
    struct thing thing;

    /* At the start it is kept all the same: it may move along with the directory that holds it. */
    if ((known && !deep.starting) || !thing_see(&thing, dir, name))
        return;
    if (thing.cut && !known)
        deep_cut(CUT_MUCH);
    if (!deep.starting) {
        if (inventory_has(deep.path, &thing))
            return;
        if (!deep_is_harmless(&thing, dir, name, kind)) {
            deep.changed = true;
            if (inside_guard_aside(dir, name, deep.path, deep.message) &&
                thing_see(&thing, dir, name))
                inventory_keep(deep.path, &thing);
            return;
        }
    }
    if (deep.starting || !thing.fresh)
        inventory_keep(deep.path, &thing);
}

static void deep_git_later(int dir, const struct guarded_name *g)
{
    struct reach reach;
    size_t before, within;
    struct stat st;

    if (!deep_push(g->way, &before))
        return;
    if (reach_open(&reach, dir, g->way)) {
        if (deep_push(g->name, &within)) {
            deep_thing(reach.fd, g->name, THING_GIT_LATER);
            deep_pop(within);
        }
        reach_close(&reach);
    } else if (fstatat(dir, g->way, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
        deep_thing(dir, g->way, THING_OTHER);
    }
    deep_pop(before);
}

/* What a person's own configuration of git names in every repository: path is the rest of the way
 * to it from dir. */
static void deep_obeyed_at(int dir, const char *path)
{
    const char *slash = strchr(path, '/');
    char name[NAME_MAX + 1];
    struct reach reach;
    size_t before;
    struct stat st;

    if (snprintf(name, sizeof(name), "%.*s", (int)strcspn(path, "/"), path) > NAME_MAX ||
        !deep_push(name, &before))
        return;
    if (!slash) {
        deep_thing(dir, name, THING_OBEYED);
    } else if (reach_open(&reach, dir, name)) {
        deep_obeyed_at(reach.fd, slash + 1);
        reach_close(&reach);
    } else if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
        deep_thing(dir, name, THING_OTHER);
    }
    deep_pop(before);
}

static void deep_obeyed(int dir)
{
    for (size_t i = 0; deep.setup->obeyed[i]; i++)
        deep_obeyed_at(dir, deep.setup->obeyed[i]);
}

static void deep_git(int dir)
{
    size_t before;

    for (size_t i = 0; guarded_git[i]; i++)
        if (deep_push(guarded_git[i], &before)) {
            deep_thing(dir, guarded_git[i], THING_GIT);
            deep_pop(before);
        }
    for (const struct guarded_name *g = guarded_git_later; g->name; g++)
        deep_git_later(dir, g);
}

/* ---- everything below a place ---- */

static void deep_dir(int dir, const char *name, int depth);

/* Thousands of entries: what is left is for them. */
static bool deep_is_heavy(const char *name)
{
    return strcmp(name, "node_modules") == 0 || strcmp(name, "objects") == 0;
}

/* Private to the sandbox, where "/" is a place: nobody outside sees it. What is a place of its own
 * below them is looked at as such. */
static bool deep_is_private(void)
{
    static const char *const dirs[] = { "/proc", "/sys", "/dev", "/run", "/tmp" };

    for (size_t i = 0; !deep.setup->off && deep.n <= strlen("/proc") && i < ARRAY_LEN(dirs); i++)
        if (strcmp(deep.path, dirs[i]) == 0)
            return true;
    return false;
}

static void deep_entry(int dir, const struct dirent *entry, int depth)
{
    size_t before;

    if (!deep_push(entry->d_name, &before))
        return;
    if (guarded_has(guarded_names, deep.path, entry->d_type == DT_LNK))
        deep_thing(dir, entry->d_name, THING_OTHER);
    else if ((entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) && !deep_is_private())
        deep_dir(dir, entry->d_name, depth + 1);
    deep_pop(before);
}

/* Nobody here can list it, and so nobody here has made it; it is asked for the names that matter.
 */
static void deep_closed(const struct reach *reach)
{
    struct thing thing;
    size_t before;
    char seen[201];

    for (const struct guarded_name *g = guarded_names; g->name; g++)
        if (g->way[0] == '\0' && deep_push(g->name, &before)) {
            deep_thing(reach->fd, g->name, THING_OTHER);
            deep_pop(before);
        }
    deep_git(reach->fd);
    deep_obeyed(reach->fd);
    memset(&thing, 0, sizeof(thing));
    if (!deep.starting && !inventory_has(deep.path, &thing)) {
        snprintf(deep.message, INSIDE_MESSAGE_MAX,
                 "%s can't be listed: not looked through for settings that tools outside obey",
                 visible_name(deep.path, seen, sizeof(seen)));
        inside_guard_tell(deep.message, true);
    }
    inventory_keep(deep.path, &thing);
}

static void deep_open(const struct reach *reach, DIR *list, bool git, int depth)
{
    const struct dirent *entry;
    unsigned marks = 0, heavy = 0;
    bool tree = false; /* of a repository */

    /* Twice where it must: the heavy ones last. */
    for (int round = 0; round < 2 && (round == 0 || heavy > 0); round++) {
        for (rewinddir(list); deep.entries <= ENTRIES_MAX && (entry = readdir(list));) {
            bool is_heavy = deep_is_heavy(entry->d_name);

            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                continue;
            if (round == 0) {
                if (++deep.entries == ENTRIES_MAX + 1)
                    deep_cut(CUT_HERE);
                marks += guarded_is_git_mark(entry->d_name);
                heavy += is_heavy;
                tree = tree || strcasecmp(entry->d_name, ".git") == 0;
            }
            if (is_heavy == (round == 1))
                deep_entry(reach->fd, entry, depth);
        }
        git = git || marks >= GUARDED_GIT_MARKS;
        if (round == 0 && git)
            deep_git(reach->fd);
        if (round == 0 && (git || tree))
            deep_obeyed(reach->fd);
    }
}

/* At deep.path. A directory that git would take for its own is looked at as such, and besides like
 * any other. */
static void deep_dir(int dir, const char *name, int depth)
{
    struct reach reach;
    DIR *list;

    if (depth > DEPTH_MAX)
        deep_cut(CUT_DEEP);
    if (depth > DEPTH_MAX || !reach_open(&reach, dir, name))
        return;
    list = reach.listed ? reach_list(&reach) : NULL;
    if (list) {
        deep_open(&reach, list, strcasecmp(name, ".git") == 0, depth);
        closedir(list);
    } else {
        deep_closed(&reach);
    }
    reach_close(&reach);
}

static void deep_places(void)
{
    deep.entries = 0;
    deep.changed = false;
    for (size_t i = 0; deep.setup->allow_write[i]; i++) {
        deep.n = (size_t)snprintf(deep.path, sizeof(deep.path), "%s", deep.setup->allow_write[i]);
        deep_dir(AT_FDCWD, deep.setup->allow_write[i], 0);
    }
}

void inside_deep_init(const struct inside_setup *setup)
{
    deep.setup = setup;
    deep.starting = true;
    deep_places();
    deep.starting = false;
}

bool inside_deep_look(char message[INSIDE_MESSAGE_MAX])
{
    deep.message = message;
    deep_places();
    return deep.changed;
}
