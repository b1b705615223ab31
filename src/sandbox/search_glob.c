/* The glob of a search: alternatives expanded once, then matched one by one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/limits.h"
#include "sandbox/glob.h"
#include "sandbox/search.h"

struct expansion {
    struct arena *arena;
    struct search_glob *glob;
};

static int expand(struct expansion *e, struct str text, struct err *err);

/* Behind the set that begins at `at`, or behind its '[' when it has no end. A ']' in front is a
 * member. */
static size_t set_end(struct str text, size_t at)
{
    size_t i = at + 1;

    i += i < text.n && (text.p[i] == '!' || text.p[i] == '^');
    for (i++; i < text.n; i++)
        if (text.p[i] == ']')
            return i + 1;
    return at + 1;
}

/* Past one character of a pattern: an escape is two bytes, a set is one. */
static size_t step(struct str text, size_t at)
{
    if (text.p[at] == '[')
        return set_end(text, at);
    return text.p[at] == '\\' && at + 1 < text.n ? at + 2 : at + 1;
}

/* The place of c outside deeper braces from `at` on, or text.n. */
static size_t find_at_level(struct str text, size_t at, const char *chars)
{
    for (size_t depth = 0; at < text.n; at = step(text, at)) {
        if (depth == 0 && strchr(chars, text.p[at]))
            return at;
        depth += text.p[at] == '{';
        depth -= text.p[at] == '}' && depth > 0;
    }
    return text.n;
}

static int add_plain(struct expansion *e, struct str text, struct err *err)
{
    if (e->glob->n == SEARCH_GLOBS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "glob has more than %d alternatives",
                       SEARCH_GLOBS_MAX);
    e->glob->alternatives[e->glob->n++] = text;
    return 0;
}

static int expand_braces(struct expansion *e, struct str text, size_t open, size_t close,
                         struct err *err)
{
    struct str inner = str_of(text.p + open + 1, close - open - 1);
    size_t at = 0;

    for (;;) {
        size_t comma = find_at_level(inner, at, ",");
        char *one = arena_printf(e->arena, "%.*s%.*s%.*s", (int)open, text.p, (int)(comma - at),
                                 inner.p + at, (int)(text.n - close - 1), text.p + close + 1);

        if (expand(e, str_from(one), err) < 0)
            return -1;
        if (comma == inner.n)
            return 0;
        at = comma + 1;
    }
}

static int expand(struct expansion *e, struct str text, struct err *err)
{
    size_t open = 0, close;

    while (open < text.n && text.p[open] != '{')
        open = step(text, open);
    if (open >= text.n)
        return add_plain(e, text, err);
    close = find_at_level(text, open + 1, "}");
    if (close == text.n)
        return err_set(err, ERR_BAD_REQUEST, "glob has a { without its }");
    return expand_braces(e, text, open, close, err);
}

int search_glob_parse(struct str text, struct arena *arena, struct search_glob *ret_glob,
                      struct err *err)
{
    struct search_glob glob = { .n = 0 };
    struct expansion e = { .arena = arena, .glob = &glob };

    if (text.n > LIMIT_PATH_BYTES / 4 || memchr(text.p, '\0', text.n))
        return err_set(err, ERR_BAD_REQUEST, "glob has %zu bytes, or a NUL; at most %d are allowed",
                       text.n, LIMIT_PATH_BYTES / 4);
    glob.negated = text.n && text.p[0] == '!';
    text = str_skip(text, glob.negated);
    if (str_starts(text, STR("./")))
        text = str_skip(text, 1);
    if (text.n == 0 || str_is(text, "/"))
        return err_set(err, ERR_BAD_REQUEST, "glob is empty; expected a pattern such as *.c");
    if (text.p[text.n - 1] == '/' && glob.negated)
        text.n--;
    else if (text.p[text.n - 1] == '/')
        text = str_from(arena_printf(arena, "%.*s**", STR_ARG(text)));
    if (expand(&e, arena_str(arena, text), err) < 0)
        return -1;
    *ret_glob = glob;
    return 0;
}

static bool matches_one(struct str glob, struct str path)
{
    const char *slash;

    if (glob.n && memchr(glob.p, '/', glob.n))
        return glob_match(glob.p[0] == '/' ? str_skip(glob, 1) : glob, path);
    slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    return glob_match(glob, slash ? str_skip(path, (size_t)(slash - path.p) + 1) : path);
}

bool search_glob_match(const struct search_glob *glob, struct str path)
{
    for (unsigned i = 0; i < glob->n; i++)
        if (matches_one(glob->alternatives[i], path))
            return !glob->negated;
    return glob->negated;
}
