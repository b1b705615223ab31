/* A scanner for just as much of SQL as is needed to know where a `?` is a placeholder.
 *
 * The lexical rules are those of Postgres with standard_conforming_strings on: '' within '...',
 * "" within "...", backslashes only in E'...', comments that nest, $tag$ ... $tag$.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/pg_translate.h"

#include <stdbool.h>

struct scan {
    struct str sql;
    size_t at;
    struct buf *out;
};

static char peek(const struct scan *scan, size_t ahead)
{
    return scan->at + ahead < scan->sql.n ? scan->sql.p[scan->at + ahead] : '\0';
}

static bool at_end(const struct scan *scan)
{
    return scan->at >= scan->sql.n;
}

static void copy(struct scan *scan, size_t n)
{
    buf_add(scan->out, scan->sql.p + scan->at, n);
    scan->at += n;
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static int unended(const struct scan *scan, size_t start, const char *what, struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST, "the %s that begins at byte %zu of %zu does not end", what,
                   start, scan->sql.n);
}

/* A doubled quote is two quoted parts side by side, which comes to the same. */
static int quoted(struct scan *scan, bool backslashes, struct err *err)
{
    size_t start = scan->at;
    char quote = peek(scan, 0);

    copy(scan, 1);
    while (!at_end(scan)) {
        char c = peek(scan, 0);

        if (backslashes && c == '\\' && scan->at + 1 < scan->sql.n) {
            copy(scan, 2);
            continue;
        }
        copy(scan, 1);
        if (c == quote && backslashes && peek(scan, 0) == quote)
            copy(scan, 1);
        else if (c == quote)
            return 0;
    }
    return unended(scan, start, "quote", err);
}

static int block_comment(struct scan *scan, struct err *err)
{
    size_t start = scan->at;
    unsigned depth = 0;

    while (!at_end(scan)) {
        if (peek(scan, 0) == '/' && peek(scan, 1) == '*') {
            depth++;
            copy(scan, 2);
        } else if (peek(scan, 0) == '*' && peek(scan, 1) == '/') {
            copy(scan, 2);
            if (--depth == 0)
                return 0;
        } else {
            copy(scan, 1);
        }
    }
    return unended(scan, start, "comment", err);
}

static void line_comment(struct scan *scan)
{
    while (!at_end(scan) && peek(scan, 0) != '\n')
        copy(scan, 1);
}

/* Length of `$tag$` here, 0 when it is none. A tag does not begin with a digit. */
static size_t dollar_tag(const struct scan *scan)
{
    size_t n = 1;

    if (peek(scan, 1) >= '0' && peek(scan, 1) <= '9')
        return 0;
    while (in_word(peek(scan, n)))
        n++;
    return peek(scan, n) == '$' ? n + 1 : 0;
}

static int dollar_quoted(struct scan *scan, size_t tag_n, struct err *err)
{
    struct str tag = str_of(scan->sql.p + scan->at, tag_n);
    ptrdiff_t end = str_find(str_skip(scan->sql, scan->at + tag_n), tag);

    if (end < 0)
        return unended(scan, scan->at, "dollar quote", err);
    copy(scan, tag_n + (size_t)end + tag_n);
    return 0;
}

static void word(struct scan *scan)
{
    while (in_word(peek(scan, 0)) || peek(scan, 0) == '$')
        copy(scan, 1);
}

static bool joins(char c)
{
    return in_word(c) || c == '$';
}

static int placeholder(struct scan *scan, int max_params, int *params, struct err *err)
{
    if (peek(scan, 1) >= '0' && peek(scan, 1) <= '9')
        return err_set(err, ERR_BAD_REQUEST, "placeholder with a number at byte %zu: write only ?",
                       scan->at);
    if (*params >= max_params)
        return err_set(err, ERR_TOO_LARGE, "more than %d placeholders", max_params);
    /* `a?b` must not become the name `a$1b`, nor `$?` the dollar quote `$$`. */
    if (scan->out->n > 0 && joins(scan->out->p[scan->out->n - 1]))
        buf_add_char(scan->out, ' ');
    scan->at++;
    buf_printf(scan->out, "$%d", ++*params);
    if (joins(peek(scan, 0)))
        buf_add_char(scan->out, ' ');
    return 0;
}

static int token(struct scan *scan, int max_params, int *params, struct err *err)
{
    char c = peek(scan, 0);
    size_t tag_n;

    if (c == '?')
        return placeholder(scan, max_params, params, err);
    if (c == '\'' || c == '"')
        return quoted(scan, false, err);
    if ((c == 'E' || c == 'e') && peek(scan, 1) == '\'') {
        copy(scan, 1);
        return quoted(scan, true, err);
    }
    if (c == '-' && peek(scan, 1) == '-')
        line_comment(scan);
    else if (c == '/' && peek(scan, 1) == '*')
        return block_comment(scan, err);
    else if (c == '$' && (tag_n = dollar_tag(scan)) > 0)
        return dollar_quoted(scan, tag_n, err);
    else if (in_word(c))
        word(scan);
    else
        copy(scan, 1);
    return 0;
}

int pg_translate(struct str sql, int max_params, struct buf *out, int *ret_params, struct err *err)
{
    struct scan scan = { .sql = sql, .out = out };
    int params = 0;

    while (!at_end(&scan))
        if (token(&scan, max_params, &params, err) < 0)
            return -1;
    if (out->full)
        return err_set(err, ERR_TOO_LARGE, "the statement is longer than %zu bytes", out->max);
    *ret_params = params;
    return 0;
}
