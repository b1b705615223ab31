/* Ignore rules along the way down.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "sandbox/search_int.h"

/* Of git's rules the nearest that decides counts, within the repository. */
static enum ignore_verdict ask_git(const struct search_rules *rules, struct str path, bool is_dir)
{
    enum ignore_verdict verdict = IGNORE_NONE;

    for (const struct search_rules *r = rules; r && verdict == IGNORE_NONE; r = r->parent) {
        if (r->gitignore)
            verdict = ignore_match(r->gitignore, str_skip(path, r->path_n + 1), is_dir);
        if (verdict == IGNORE_NONE && r->exclude)
            verdict = ignore_match(r->exclude, str_skip(path, r->path_n + 1), is_dir);
        if (r->is_repository)
            break;
    }
    return verdict;
}

bool search_ignored(const struct search_rules *rules, struct str path, bool is_dir)
{
    for (const struct search_rules *r = rules; r; r = r->parent) {
        enum ignore_verdict verdict =
            r->ignore ? ignore_match(r->ignore, str_skip(path, r->path_n + 1), is_dir)
                      : IGNORE_NONE;

        if (verdict != IGNORE_NONE)
            return verdict == IGNORE_YES;
    }
    return ask_git(rules, path, is_dir) == IGNORE_YES;
}

static struct ignore *load(int dir_fd, const char *name)
{
    AUTO_FD fd = search_open_beneath(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    AUTO_BUF text = BUF_INIT(IGNORE_FILE_MAX);
    struct ignore *rules;

    /* What is too large or no file has no rules. */
    if (fd < 0 || file_read_fd(fd, name, &text, NULL) < 0)
        return NULL;
    rules = ignore_parse(buf_str(&text));
    if (ignore_count(rules) > 0)
        return rules;
    ignore_free(rules);
    return NULL;
}

void search_rules_load(struct search_rules *rules, int dir_fd, bool ignore, bool gitignore,
                       bool git)
{
    rules->ignore = ignore ? load(dir_fd, ".ignore") : NULL;
    rules->gitignore = gitignore ? load(dir_fd, ".gitignore") : NULL;
    rules->exclude = git ? load(dir_fd, ".git/info/exclude") : NULL;
    rules->is_repository = git;
}

void search_rules_release(struct search_rules *rules)
{
    ignore_free(rules->ignore);
    ignore_free(rules->gitignore);
    ignore_free(rules->exclude);
    rules->ignore = rules->gitignore = rules->exclude = NULL;
}

static bool has_git(int dir_fd)
{
    return faccessat(dir_fd, ".git", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The directory that holds path, opened under the rules; -1 when it may not be. */
static int open_above(struct op_ctx *ctx, struct str path)
{
    AUTO_PLACE place = ACCESS_PLACE_INIT;

    if (access_read(ctx, path.n ? path : STR("/"), &place, NULL) < 0)
        return -1;
    return openat(place.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

struct search_rules *search_rules_above(struct op_ctx *ctx, const char *path)
{
    struct search_rules *nearest = NULL, **last = &nearest;
    struct str at = str_from(path);

    while (at.n) {
        const char *slash = memrchr(at.p, '/', at.n);
        AUTO_FD fd = -1;
        struct search_rules *rules;

        at.n = (size_t)(slash - at.p);
        fd = open_above(ctx, at);
        if (fd < 0)
            break;
        rules = ARENA_NEW(ctx->arena, struct search_rules);
        rules->path_n = at.n;
        search_rules_load(rules, fd, true, true, has_git(fd));
        *last = rules;
        last = (struct search_rules **)&rules->parent;
        if (rules->is_repository)
            return nearest;
    }
    /* In no repository: what happens to lie further up does not count. */
    for (const struct search_rules *r = nearest; r; r = r->parent)
        search_rules_release((struct search_rules *)r);
    return NULL;
}
