/* What a path in a command means.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fnmatch.h>
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

#define PARTS_MAX 64

static bool has_glob(struct str part)
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

static size_t split(struct str text, struct str *parts, size_t n, bool absolute)
{
    struct str part;

    while (text.p && str_split(&text, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..") && n > 0 && !str_is(parts[n - 1], ".."))
            n--;
        else if (str_is(part, "..") && absolute)
            continue;
        else if (n < PARTS_MAX)
            parts[n++] = part;
    }
    return n;
}

static bool is_rooted(struct str text)
{
    return text.n > 0 && (text.p[0] == '/' || text.p[0] == MARK_HOME || text.p[0] == MARK_UNKNOWN);
}

struct str danger_path(struct danger_scan *scan, struct str text)
{
    struct str parts[PARTS_MAX];
    bool absolute = text.n > 0 && text.p[0] == '/';
    size_t n = 0, at = 0, room = text.n + scan->cwd.n + 8;
    char *out = arena_alloc(scan->arena, room, 1);

    if (!is_rooted(text)) {
        absolute = scan->cwd.n > 0 && scan->cwd.p[0] == '/';
        n = split(scan->cwd, parts, 0, absolute);
    }
    n = split(text, parts, n, absolute);
    if (n > 0 && means_all(parts[n - 1]))
        n--;
    if (absolute && n == 0)
        out[at++] = '/';
    for (size_t i = 0; i < n; i++) {
        if (i > 0 || absolute)
            out[at++] = '/';
        memcpy(out + at, parts[i].p, parts[i].n);
        at += parts[i].n;
    }
    return str_of(out, at);
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
        return has_glob(rest);
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
    return has_glob(path) && str_find_char(path, '/') < 0;
}

/* The path with ~ for the home directory, also when it was spelled out. */
bool danger_path_in(struct str path, const char *dir)
{
    struct str wanted = str_from(dir);

    if (wanted.p[0] == '~') {
        wanted = str_skip(wanted, 1);
        if (path.n > 0 && path.p[0] == MARK_HOME) {
            path = str_skip(path, 1);
        } else if (str_starts(path, STR("/root/"))) {
            path = str_skip(path, 5);
        } else if (str_starts(path, STR("/home/"))) {
            ptrdiff_t slash = str_find_char(str_skip(path, 6), '/');

            if (slash < 0)
                return false;
            path = str_skip(path, 6 + (size_t)slash);
        } else {
            return false;
        }
    }
    return str_starts(path, wanted) &&
           (path.n == wanted.n || path.p[wanted.n] == '/' || wanted.p[wanted.n - 1] == '/' ||
            wanted.p[wanted.n - 1] == '*');
}

bool danger_glob_is(struct str word, struct str name)
{
    char pattern[64], text[64];

    if (!has_glob(word) || word.n >= sizeof(pattern) || name.n >= sizeof(text))
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
