/* Cuts a long export between its records. The text is not parsed here beyond where values begin
 * and end: whoever reads the parts does that, and says what is wrong with them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/journal_parts.h"

#include <string.h>

#include "base/buf.h"

#define MEMBERS_MAX 32
#define TAIL        2 /* "]}" */

struct member {
    struct str key, value; /* the key with its quotes */
};

struct cutter {
    struct journal_parts_use *use;
    struct err *err;
    struct buf head, part; /* head: what every part begins with */
    size_t max, known, parts;
    struct str list; /* that is open in part */
};

/* ---- where values end ---- */

static size_t skip_blank(struct str text, size_t at)
{
    while (at < text.n && strchr(" \t\r\n", text.p[at]))
        at++;
    return at;
}

/* After the closing quote; 0: there is none. */
static size_t skip_string(struct str text, size_t at)
{
    for (at++; at < text.n; at++) {
        if (text.p[at] == '\\')
            at++;
        else if (text.p[at] == '"')
            return at + 1;
    }
    return 0;
}

/* 0: it does not end. */
static size_t skip_value(struct str text, size_t at)
{
    size_t depth = 0;

    while (at < text.n) {
        char c = text.p[at];

        if (c == '"') {
            at = skip_string(text, at);
            if (!at)
                return 0;
        } else if (depth == 0 && strchr(",]} \t\r\n", c)) {
            return at;
        } else {
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
            at++;
        }
        if (depth == 0 && strchr("\"}]", c))
            return at;
    }
    return 0;
}

/* The next element of a list or member of an object; false after the last. *at stands after the
 * opening bracket first. */
static bool next_value(struct str text, size_t *at, struct str *ret_value)
{
    size_t begin = skip_blank(text, *at), end;

    if (begin < text.n && (text.p[begin] == ',' || text.p[begin] == ':'))
        begin = skip_blank(text, begin + 1);
    if (begin >= text.n || text.p[begin] == ']' || text.p[begin] == '}')
        return false;
    end = skip_value(text, begin);
    if (end <= begin)
        return false;
    *ret_value = str_of(text.p + begin, end - begin);
    *at = end;
    return true;
}

static size_t trailing(struct str text)
{
    size_t n = 0;

    while (n < text.n && strchr(" \t\r\n", text.p[text.n - 1 - n]))
        n++;
    return n;
}

/* 0: it is no object, or not whole. */
static size_t read_members(struct str text, struct member *members)
{
    size_t at = skip_blank(text, 0) + 1, n = 0;

    if (at > text.n || text.p[at - 1] != '{')
        return 0;
    while (n < MEMBERS_MAX && next_value(text, &at, &members[n].key) &&
           next_value(text, &at, &members[n].value))
        n++;
    at = skip_blank(text, at);
    return at + 1 == text.n - trailing(text) && text.p[at] == '}' ? n : 0;
}

static bool is_list(const struct member *member)
{
    return member->value.p[0] == '[';
}

/* ---- parts ---- */

static bool is_named(const struct member *member)
{
    return is_list(member) &&
           (str_is(member->key, "\"categories\"") || str_is(member->key, "\"labels\""));
}

static void add_member(struct buf *out, struct str key, struct str value)
{
    buf_printf(out, "%c%.*s:", out->n ? ',' : '{', STR_ARG(key));
    buf_add_str(out, value);
}

static int flush(struct cutter *c)
{
    int r;

    if (c->list.n)
        buf_add_text(&c->part, "]");
    buf_add_text(&c->part, "}");
    r = c->use->part(c->use, buf_str(&c->part), c->parts ? c->known : 0, c->err);
    c->parts++;
    c->list = STR_NONE;
    buf_clear(&c->part);
    buf_add_str(&c->part, buf_str(&c->head));
    return r;
}

static int add_record(struct cutter *c, struct str key, struct str record)
{
    size_t more = record.n + key.n + TAIL + 4;

    if (c->head.n + more > c->max)
        return err_set(c->err, ERR_TOO_LARGE,
                       "a record of %.*s has %zu bytes; at most %zu can be sent", STR_ARG(key),
                       record.n, c->max - c->head.n);
    if (c->part.n + more > c->max && flush(c) < 0)
        return -1;
    if (!str_eq(c->list, key)) {
        buf_printf(&c->part, "%s,%.*s:[", c->list.n ? "]" : "", STR_ARG(key));
        c->list = key;
    } else {
        buf_add_text(&c->part, ",");
    }
    buf_add_str(&c->part, record);
    return 0;
}

static int cut(struct cutter *c, const struct member *members, size_t n)
{
    struct str value;

    for (size_t i = 0; i < n; i++) {
        if (!is_list(&members[i]) || is_named(&members[i]))
            add_member(&c->head, members[i].key, members[i].value);
        for (size_t at = 1; is_named(&members[i]) && next_value(members[i].value, &at, &value);)
            c->known++;
    }
    if (!c->head.n || c->head.full)
        return err_set(c->err, ERR_BAD_REQUEST, "the file is no journal that was exported");
    buf_add_str(&c->part, buf_str(&c->head));
    for (size_t i = 0; i < n; i++) {
        if (!is_list(&members[i]) || is_named(&members[i]))
            continue;
        for (size_t at = 1; next_value(members[i].value, &at, &value);)
            if (add_record(c, members[i].key, value) < 0)
                return -1;
    }
    return flush(c);
}

int journal_parts(struct str text, size_t max, struct journal_parts_use *use, struct err *err)
{
    struct cutter c = {
        .use = use, .err = err, .head = BUF_INIT(max), .part = BUF_INIT(max), .max = max
    };
    struct member members[MEMBERS_MAX];
    int r;

    if (text.n <= max)
        return use->part(use, text, 0, err);
    r = cut(&c, members, read_members(text, members));
    buf_release(&c.head);
    buf_release(&c.part);
    return r;
}
