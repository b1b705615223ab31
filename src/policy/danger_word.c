/* One word of a shell command, expanded as far as reading alone can.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_word_int.h"

void danger_add_char(struct danger_build *b, char c)
{
    if ((unsigned char)c < 0x20 && c != '\n' && c != '\t' && c != '\r')
        c = MARK_UNKNOWN; /* decoded from an escape: never one of our marks */
    buf_add_char(&b->text, c);
}

void danger_add_mark(struct danger_build *b, char mark)
{
    buf_add_char(&b->text, mark);
}

void danger_add_value(struct danger_build *b, struct str value, bool quoted)
{
    /* Values that are made of values grow quickly. */
    if (!danger_charge(b->scan, value.n))
        return;
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];

        if (!quoted && b->split &&
            (c == ' ' || c == '\t' || c == '\n' || str_find_char(b->scan->ifs, c) >= 0))
            c = MARK_FIELD;
        else if (!quoted && c == '*')
            c = MARK_STAR;
        else if (!quoted && c == '?')
            c = MARK_ANY;
        buf_add_char(&b->text, c);
    }
}

struct danger_word danger_word_of(const struct danger_build *b, struct str text)
{
    return (struct danger_word){ arena_str(b->scan->arena, text), b->facts, b->script, b->sink };
}

static void double_quoted(struct danger_build *b, struct danger_reader *r)
{
    b->quoted = true;
    r->at++;
    while (r->at < r->s.n && r->s.p[r->at] != '"') {
        char c = r->s.p[r->at];

        if (c == '\\' && danger_peek(r, 1) >= 0 && strchr("\"\\$`\n", danger_peek(r, 1))) {
            if (danger_peek(r, 1) != '\n')
                danger_add_char(b, (char)danger_peek(r, 1));
            r->at += 2;
        } else if (c == '$') {
            danger_dollar(b, r, true);
        } else if (c == '`') {
            danger_backticks(b, r, true);
        } else {
            buf_add_char(&b->text, c);
            r->at++;
        }
    }
    r->at++;
}

static void single_quoted(struct danger_build *b, struct danger_reader *r)
{
    b->quoted = true;
    for (r->at++; r->at < r->s.n && r->s.p[r->at] != '\''; r->at++)
        buf_add_char(&b->text, r->s.p[r->at]);
    r->at++;
}

static void tilde(struct danger_build *b, struct danger_reader *r)
{
    danger_add_mark(b, MARK_HOME);
    r->at++;
    while (danger_is_name_char(danger_peek(r, 0)) || danger_peek(r, 0) == '-' ||
           danger_peek(r, 0) == '+')
        r->at++; /* ~name is somebody's home as well */
}

static void unquoted(struct danger_build *b, struct danger_reader *r)
{
    static const char from[] = "*?[{},";
    static const char to[] = { MARK_STAR, MARK_ANY, MARK_SET, MARK_OPEN, MARK_CLOSE, MARK_COMMA };
    char c = r->s.p[r->at++];
    const char *at = c ? strchr(from, c) : NULL;

    buf_add_char(&b->text, at ? to[at - from] : c);
}

static bool ends_word(int c)
{
    return c < 0 || strchr(" \t\r\n;&|()<>", c) != NULL;
}

/* <(...) and >(...) */
static void process_substitution(struct danger_build *b, struct danger_reader *r)
{
    bool from = r->s.p[r->at] == '<';
    size_t start = r->at += 2;
    struct danger_stream out = danger_run_list(r, ")", (struct danger_stream){ 0 });

    if (from) {
        b->facts |= out.facts;
        b->script = out.text;
    } else {
        b->sink = str_of(r->s.p + start, r->at > start ? r->at - start - 1 : 0);
    }
    danger_add_mark(b, MARK_UNKNOWN);
}

static void read_parts(struct danger_build *b, struct danger_reader *r)
{
    size_t start = b->text.n;

    for (;;) {
        int c = danger_peek(r, 0);

        if ((c == '<' || c == '>') && danger_peek(r, 1) == '(')
            process_substitution(b, r);
        else if (ends_word(c))
            return;
        else if (c == '\\' && danger_peek(r, 1) == '\n')
            r->at += 2;
        else if (c == '\\') {
            b->quoted = true;
            if (danger_peek(r, 1) >= 0)
                buf_add_char(&b->text, (char)danger_peek(r, 1));
            r->at += 2;
        } else if (c == '\'')
            single_quoted(b, r);
        else if (c == '"')
            double_quoted(b, r);
        else if (c == '`')
            danger_backticks(b, r, false);
        else if (c == '$')
            danger_dollar(b, r, false);
        else if (c == '~' && (b->text.n == start || b->text.p[b->text.n - 1] == '=' ||
                              b->text.p[b->text.n - 1] == ':'))
            tilde(b, r);
        else
            unquoted(b, r);
        if (r->at > r->s.n)
            r->at = r->s.n; /* a quote that never ends */
        if (b->scan->hit)
            return;
    }
}

void danger_read_word(struct danger_reader *reader, struct danger_word **words, size_t *n)
{
    struct danger_build b = { .scan = reader->scan,
                              .text = BUF_INIT(DANGER_BYTES_MAX),
                              .split = true };
    struct str rest, field;

    read_parts(&b, reader);
    rest = buf_str(&b.text);
    while (str_split(&rest, MARK_FIELD, &field))
        if (field.n > 0 || (b.quoted && b.text.n == 0))
            danger_expand_braces(&b, field, 0, words, n);
    if (b.facts && b.text.n == 0 && !b.quoted)
        danger_expand_braces(&b, STR(""), 0, words, n);
    buf_release(&b.text);
}

static struct danger_word take(struct danger_build *b)
{
    struct danger_word word = danger_word_of(b, buf_str(&b->text));

    buf_release(&b->text);
    return word;
}

struct danger_word danger_read_single(struct danger_reader *reader)
{
    struct danger_build b = { .scan = reader->scan, .text = BUF_INIT(DANGER_BYTES_MAX) };

    read_parts(&b, reader);
    return take(&b);
}

struct danger_word danger_expand_text(struct danger_scan *scan, struct str text)
{
    struct danger_build b = { .scan = scan, .text = BUF_INIT(DANGER_BYTES_MAX) };
    struct danger_reader r = { .scan = scan, .s = text };

    while (r.at < text.n && !scan->hit) {
        if (text.p[r.at] == '\\' && r.at + 1 < text.n && strchr("\\$`", text.p[r.at + 1])) {
            buf_add_char(&b.text, text.p[r.at + 1]);
            r.at += 2;
        } else if (text.p[r.at] == '$') {
            danger_dollar(&b, &r, true);
        } else if (text.p[r.at] == '`') {
            danger_backticks(&b, &r, true);
        } else {
            buf_add_char(&b.text, text.p[r.at++]);
        }
    }
    return take(&b);
}

struct str danger_plain(struct danger_scan *scan, struct str text)
{
    static const char marks[] = { MARK_STAR,  MARK_ANY,   MARK_SET,   MARK_OPEN,
                                  MARK_CLOSE, MARK_COMMA, MARK_FIELD, 0 };
    static const char plain[] = "*?[{}, ";
    char *out = arena_copy(scan->arena, text.n ? text.p : "", text.n);

    for (size_t i = 0; i < text.n; i++) {
        const char *at = out[i] ? strchr(marks, out[i]) : NULL;

        if (at)
            out[i] = plain[at - marks];
    }
    return str_of(out, text.n);
}
