/* What a path in a command means.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

#define PARTS_MAX 64
#define UP_MAX    4 /* more than this many ".." at the front are as good as "/" */

bool danger_has_glob(struct str part)
{
    for (size_t i = 0; i < part.n; i++)
        if (part.p[i] == MARK_STAR || part.p[i] == MARK_ANY || part.p[i] == MARK_SET)
            return true;
    return false;
}

/* "*", ".*", ".[!.]*", "?*": everything that is there. */
static bool means_all(struct str part)
{
    bool star = false;

    for (size_t i = 0; i < part.n; i++) {
        if (part.p[i] == MARK_STAR)
            star = true;
        else if (part.p[i] != MARK_ANY && part.p[i] != '.' && part.p[i] != '!' &&
                 part.p[i] != MARK_SET && part.p[i] != ']' && part.p[i] != '^')
            return false;
    }
    return star;
}

/* A path being put together. */
struct parts {
    struct str at[PARTS_MAX];
    size_t n;
    bool absolute;
};

static void go_up(struct parts *parts)
{
    struct str *last = parts->n ? &parts->at[parts->n - 1] : NULL;

    if (last && last->n == 1 && last->p[0] == MARK_HOME) {
        parts->absolute = true;
        *last = STR("home");
    } else if (last && !str_is(*last, "..")) {
        parts->n--;
    } else if (!parts->absolute && parts->n < PARTS_MAX) {
        parts->at[parts->n++] = STR("..");
    }
}

static void add_parts(struct parts *parts, struct str text)
{
    struct str part;

    while (text.p && str_split(&text, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (str_is(part, ".."))
            go_up(parts);
        else if (parts->n < PARTS_MAX)
            parts->at[parts->n++] = part;
    }
}

static void begin_at(struct parts *parts, struct str path)
{
    *parts = (struct parts){ .absolute = path.n > 0 && path.p[0] == '/' };
    add_parts(parts, path);
}

static bool is_rooted(struct str text)
{
    return text.n > 0 && (text.p[0] == '/' || text.p[0] == MARK_HOME || text.p[0] == MARK_UNKNOWN);
}

static void drop_front(struct parts *parts, size_t n)
{
    parts->n -= n;
    memmove(parts->at, parts->at + n, parts->n * sizeof(parts->at[0]));
}

/* /proc/self/root is /, /proc/self/cwd where the command is, and enough ".." lead to / as well. */
static void see_through(struct danger_scan *scan, struct parts *parts)
{
    size_t up = 0;

    while (up < parts->n && str_is(parts->at[up], ".."))
        up++;
    if (up >= UP_MAX) {
        drop_front(parts, up);
        parts->absolute = true;
    }
    while (parts->absolute && parts->n >= 3 && str_is(parts->at[0], "proc") &&
           danger_is(parts->at[1], "self thread-self") && danger_is(parts->at[2], "root cwd")) {
        bool root = str_is(parts->at[2], "root");
        struct parts rest = *parts;

        drop_front(&rest, 3);
        begin_at(parts, root ? STR("/") : scan->cwd);
        for (size_t i = 0; i < rest.n && parts->n < PARTS_MAX; i++)
            parts->at[parts->n++] = rest.at[i];
    }
}

static struct str put_together(struct danger_scan *scan, const struct parts *parts)
{
    AUTO_BUF out = BUF_INIT(DANGER_BYTES_MAX);

    if (parts->absolute && parts->n == 0)
        buf_add_char(&out, '/');
    for (size_t i = 0; i < parts->n; i++) {
        if (i > 0 || parts->absolute)
            buf_add_char(&out, '/');
        buf_add_str(&out, parts->at[i]);
    }
    return arena_str(scan->arena, buf_str(&out));
}

/* Through a link that the command made. */
static struct str follow_link(struct danger_scan *scan, struct str path)
{
    for (size_t i = 0; i < scan->links_n; i++) {
        const struct danger_link *link = &scan->links[i];

        if (link->name.n == 0 || !str_starts(path, link->name))
            continue;
        if (path.n == link->name.n)
            return link->target;
        if (path.p[link->name.n] == '/')
            return str_from(arena_printf(scan->arena, "%.*s%.*s", STR_ARG(link->target),
                                         STR_ARG(str_skip(path, link->name.n))));
    }
    return path;
}

struct str danger_path(struct danger_scan *scan, struct str text)
{
    struct parts parts;

    begin_at(&parts, is_rooted(text) ? STR("") : scan->cwd);
    if (text.n > 0 && text.p[0] == '/')
        parts.absolute = true;
    add_parts(&parts, text);
    see_through(scan, &parts);
    if (parts.n > 0 && means_all(parts.at[parts.n - 1]))
        parts.n--;
    return follow_link(scan, put_together(scan, &parts));
}

static bool only_up(struct str path)
{
    struct str part;

    while (str_split(&path, '/', &part))
        if (!str_is(part, ".."))
            return false;
    return true;
}

bool danger_path_vital(struct str path)
{
    static const char *const dirs[] = {
        "/",     "/bin",     "/boot",    "/dev",      "/etc",       "/home",
        "/lib",  "/lib32",   "/lib64",   "/media",    "/mnt",       "/opt",
        "/proc", "/root",    "/run",     "/sbin",     "/srv",       "/sys",
        "/usr",  "/usr/bin", "/usr/lib", "/usr/sbin", "/usr/share", "/usr/local",
        "/var",  "/var/lib", "/Users",   "/System",   "/Library",   "/Applications",
    };
    struct str rest;

    if (path.n == 0 || (path.n == 1 && path.p[0] == MARK_HOME))
        return true;
    if (path.p[0] != '/')
        return only_up(path);
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (str_is(path, dirs[i]))
            return true;
    rest = str_skip(path, 1);
    if (str_find_char(rest, '/') < 0)
        return danger_has_glob(rest);
    if (str_starts(path, STR("/home/")) || str_starts(path, STR("/Users/")))
        return str_find_char(str_skip(rest, (size_t)str_find_char(rest, '/') + 1), '/') < 0;
    return false;
}

bool danger_path_device(struct str path)
{
    static const char *const names[] = { "sd",     "hd",  "vd",   "xvd",  "nvme",
                                         "mmcblk", "dm-", "md",   "nbd",  "mapper",
                                         "disk",   "mem", "kmem", "port", "rdisk" };

    if (!str_starts(path, STR("/dev/")))
        return false;
    path = str_skip(path, 5);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_starts(path, str_from(names[i])))
            return true;
    return danger_has_glob(path) && str_find_char(path, '/') < 0;
}

/* One part of a path against one of a place; the place's may end with '*'. */
static bool part_is(struct str have, struct str want)
{
    static const char *const ends[] = { "rsa", "ed25519", "ecdsa" };
    struct str stem = want;

    if (want.p[want.n - 1] != '*')
        return str_eq(have, want) || danger_glob_is(have, want);
    stem.n--;
    if (str_ends(have, STR(".pub")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        char name[64];
        int n = snprintf(name, sizeof(name), "%.*s%s", STR_ARG(stem), ends[i]);

        if (danger_glob_is(have, str_of(name, (size_t)n)))
            return true;
    }
    return str_starts(have, stem);
}

/* Takes the home directory off the front, also when it was spelled out. */
static bool skip_home(struct str *path)
{
    struct str rest, part;

    if (path->n > 0 && path->p[0] == MARK_HOME) {
        *path = str_skip(*path, 1);
        return true;
    }
    if (!str_starts(*path, STR("/")))
        return false;
    rest = str_skip(*path, 1);
    str_split(&rest, '/', &part);
    if (part_is(part, STR("home")) || part_is(part, STR("Users"))) {
        if (!str_split(&rest, '/', &part))
            return false;
    } else if (!part_is(part, STR("root"))) {
        return false;
    }
    *path = rest;
    return rest.p != NULL;
}

/* -1: elsewhere; 0: dir itself; 1: below it. */
static int against(struct str path, const char *dir)
{
    struct str wanted = str_from(dir), have, want;

    if (wanted.p[0] == '~') {
        wanted = str_skip(wanted, 2);
        if (!skip_home(&path))
            return -1;
    } else {
        if (!str_starts(path, STR("/")))
            return -1;
        wanted = str_skip(wanted, 1);
    }
    if (path.p && path.n > 0 && path.p[0] == '/')
        path = str_skip(path, 1);
    while (str_split(&wanted, '/', &want))
        if (!str_split(&path, '/', &have) || have.n == 0 || !part_is(have, want))
            return -1;
    return path.p ? 1 : 0;
}

bool danger_path_in(struct str path, const char *dir)
{
    return against(path, dir) >= 0;
}

bool danger_path_is(struct str path, const char *dir)
{
    return against(path, dir) == 0;
}

bool danger_glob_is(struct str word, struct str name)
{
    char pattern[64], text[64];

    if (!danger_has_glob(word) || word.n >= sizeof(pattern) || name.n >= sizeof(text))
        return false;
    for (size_t i = 0; i < word.n; i++)
        pattern[i] = word.p[i] == MARK_STAR  ? '*'
                     : word.p[i] == MARK_ANY ? '?'
                     : word.p[i] == MARK_SET ? '['
                                             : word.p[i];
    pattern[word.n] = '\0';
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    return fnmatch(pattern, text, 0) == 0;
}
