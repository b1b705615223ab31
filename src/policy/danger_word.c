/* One word of a shell command, expanded as far as reading alone can.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

/* The word being built. */
struct build {
    struct danger_scan *scan;
    struct buf text;
    unsigned facts;
    struct str script, sink; /* of <(...) and >(...) in it */
    bool quoted;             /* some part was: an empty field stays one */
    bool split;              /* unquoted expansions are split into fields */
};

static void add(struct build *b, char c)
{
    if ((unsigned char)c < 0x20 && c != '\n' && c != '\t' && c != '\r')
        c = MARK_UNKNOWN; /* decoded from an escape: never one of our marks */
    buf_add_char(&b->text, c);
}

static void add_mark(struct build *b, char mark)
{
    buf_add_char(&b->text, mark);
}

/* An expansion's value: unquoted blanks in it end fields, its own globs count. */
static void add_value(struct build *b, struct str value, bool quoted)
{
    /* Values that are made of values grow quickly. */
    if (value.n > b->scan->budget) {
        danger_obscure(b->scan);
        return;
    }
    b->scan->budget -= value.n;
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

/* ---- variables ---- */

static bool is_name_char(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Up to the brace that closes; nested ones and quotes are skipped. */
static struct str braced(struct danger_reader *r)
{
    size_t from = r->at, depth = 1;

    for (; r->at < r->s.n; r->at++) {
        char c = r->s.p[r->at];

        if (c == '\\' && r->at + 1 < r->s.n)
            r->at++;
        else if (c == '{')
            depth++;
        else if (c == '}' && --depth == 0) {
            struct str inside = str_of(r->s.p + from, r->at - from);

            r->at++;
            return inside;
        }
    }
    return str_of(r->s.p + from, r->at - from);
}

/* "$@": each argument is a field of its own, quoted or not. */
static void all_arguments(struct build *b)
{
    const struct danger_args *args = &b->scan->args;

    if (args->unknown)
        add_mark(b, MARK_UNKNOWN);
    for (size_t i = 1; !args->unknown && i < args->n; i++) {
        if (i > 1)
            add_mark(b, b->split ? MARK_FIELD : ' ');
        add_value(b, args->words[i].text, true);
        b->facts |= args->words[i].facts;
    }
}

/* ${name[...]}: one element when the number is plain, else all of them. */
static void elements(struct build *b, struct str value, struct str index)
{
    struct str element = value;
    size_t i = 0;

    index = str_take(str_skip(index, 1), index.n >= 2 ? index.n - 2 : 0);
    for (size_t k = 0; k < index.n; k++) {
        if (index.p[k] < '0' || index.p[k] > '9' || k > 4) {
            add_value(b, value, false);
            return;
        }
        i = i * 10 + (size_t)(index.p[k] - '0');
    }
    for (size_t k = 0; k <= i; k++)
        if (!str_split(&value, ' ', &element))
            return;
    add_value(b, element, true);
}

/* ${name:-other} and ${name:=other} */
static void with_default(struct build *b, struct str name, const struct str *value, struct str rest,
                         bool quoted)
{
    bool colon = rest.p[0] == ':', sets = rest.p[colon] == '=';
    struct danger_word other = danger_expand_text(b->scan, str_skip(rest, colon ? 2 : 1));

    b->facts |= other.facts;
    if (sets && !(value && value->n))
        danger_set_var(b->scan, name, other.text, other.facts);
    add_value(b, value && value->n ? *value : other.text, quoted);
}

/* ${name:+other} and ${name:?why} */
static void when_set(struct build *b, const struct str *value, struct str rest, bool quoted)
{
    bool colon = rest.p[0] == ':', other = rest.p[colon] == '+';
    struct danger_word word = danger_expand_text(b->scan, str_skip(rest, colon ? 2 : 1));

    b->facts |= word.facts;
    if (value && (value->n || !colon))
        add_value(b, other ? word.text : *value, quoted);
    else if (!other)
        add_mark(b, MARK_UNKNOWN); /* the shell ends here */
}

/* ${...}: defaults and elements are followed; cutting a known start off PATH and its like is a
 * well-known way to spell a slash; any other change of a value makes it unknown, but what stands in
 * it is run all the same. */
static void expand_braced(struct build *b, struct str inside, bool quoted)
{
    struct str name, value, rest;
    const struct danger_var *var;
    size_t n = 0;
    bool set;

    if (inside.n > 1 && inside.p[0] == '!' && danger_find_var(b->scan, str_skip(inside, 1)))
        inside = danger_find_var(b->scan, str_skip(inside, 1))->value; /* ${!name} */
    while (n < inside.n && is_name_char((unsigned char)inside.p[n]))
        n++;
    if (n == 0 && inside.n > 0 && strchr("@*?$!-", inside.p[0]))
        n = 1;
    name = str_take(inside, n);
    rest = str_skip(inside, n);
    if (danger_is(name, "@ *")) {
        all_arguments(b);
        return;
    }
    if (str_is(name, "IFS")) {
        add_value(b, STR(" "), quoted);
        return;
    }
    set = n > 0 && danger_value_of(b->scan, name, &value);
    var = danger_find_var(b->scan, name);
    if (var)
        b->facts |= var->facts;
    if (rest.n == 0 && n > 0) {
        if (set)
            add_value(b, value, quoted);
    } else if (str_is(rest, ":0:1") && danger_is(name, "PATH HOME PWD SHELL OLDPWD")) {
        add(b, '/');
    } else if (set && rest.n > 2 && rest.p[0] == '[' && rest.p[rest.n - 1] == ']') {
        elements(b, value, rest);
    } else if (rest.n >= 1 && (rest.p[0] == '-' || rest.p[0] == '=' ||
                               (rest.n >= 2 && rest.p[0] == ':' && strchr("-=", rest.p[1])))) {
        with_default(b, name, set ? &value : NULL, rest, quoted);
    } else if (rest.n >= 1 && strchr("+?", rest.p[rest.n > 1 && rest.p[0] == ':'])) {
        when_set(b, set ? &value : NULL, rest, quoted);
    } else if (set && danger_cut(&value, rest)) {
        add_value(b, value, quoted);
    } else {
        b->facts |= danger_expand_text(b->scan, rest).facts;
        if (n == 0 || set || rest.p[0] == ':')
            add_mark(b, MARK_UNKNOWN); /* else there is nothing to cut from */
    }
}

/* ---- substitutions ---- */

static void substitute(struct build *b, struct danger_stream out, bool quoted)
{
    b->facts |= out.facts;
    if (!out.text.p) {
        add_mark(b, MARK_UNKNOWN);
        return;
    }
    while (out.text.n > 0 && out.text.p[out.text.n - 1] == '\n')
        out.text.n--;
    add_value(b, out.text, quoted);
}

static void command_substitution(struct build *b, struct danger_reader *r, bool quoted)
{
    struct str cwd = b->scan->cwd;

    r->at += 2;
    substitute(b, danger_run_list(r, ")", (struct danger_stream){ 0 }), quoted);
    b->scan->cwd = cwd;
}

static void backticks(struct build *b, struct danger_reader *r, bool quoted)
{
    AUTO_BUF inside = BUF_INIT(DANGER_BYTES_MAX);

    r->at++;
    while (r->at < r->s.n && r->s.p[r->at] != '`') {
        if (r->s.p[r->at] == '\\' && r->at + 1 < r->s.n && strchr("`\\$", r->s.p[r->at + 1]))
            r->at++;
        buf_add_char(&inside, r->s.p[r->at++]);
    }
    r->at++;
    substitute(b,
               danger_run_text(b->scan, arena_str(b->scan->arena, buf_str(&inside)),
                               (struct danger_stream){ 0 }),
               quoted);
}

bool danger_read_arithmetic(struct danger_reader *r)
{
    size_t depth = 2, at = r->at + 2;
    char quote = 0;

    for (; at < r->s.n && depth > 0; at++) {
        char c = r->s.p[at];

        if (c == '\\' && quote != '\'')
            at++;
        else if (quote || c == '"' || c == '\'' || c == '`')
            quote = !quote ? c : quote == c ? 0 : quote;
        else if (c == '(')
            depth++;
        else if (c == ')' && --depth == 1 && (at + 1 == r->s.n || r->s.p[at + 1] != ')'))
            return false;
    }
    if (depth > 0 || at > r->s.n)
        return false;
    danger_expand_text(r->scan, str_of(r->s.p + r->at + 2, at - 2 - r->at - 2));
    r->at = at;
    return true;
}

static void arithmetic(struct build *b, struct danger_reader *r, bool quoted)
{
    r->at++;
    if (danger_read_arithmetic(r)) {
        add_mark(b, MARK_UNKNOWN);
    } else {
        r->at--;
        command_substitution(b, r, quoted); /* a subshell in it */
    }
}

static void number_escape(struct build *b, struct danger_reader *r, int base, int digits)
{
    int value = 0, c;

    for (; digits > 0 && (c = hex_digit(danger_peek(r, 0))) >= 0 && c < base; digits--, r->at++)
        value = value * base + c;
    add(b, value < 0x80 ? (char)value : MARK_UNKNOWN);
}

/* $'...' */
static void ansi_quoted(struct build *b, struct danger_reader *r)
{
    static const char from[] = "nrtabefv", to[] = "\n\r\t\a\b\033\f\v";

    b->quoted = true;
    for (r->at += 2; r->at < r->s.n && r->s.p[r->at] != '\''; r->at++) {
        const char *at;
        int c;

        if (r->s.p[r->at] != '\\' || r->at + 1 >= r->s.n) {
            add(b, r->s.p[r->at]);
            continue;
        }
        c = (unsigned char)r->s.p[++r->at];
        at = strchr(from, c);
        if (at && c) {
            add(b, to[at - from]);
        } else if (c == 'x' || c == 'u' || c == 'U') {
            r->at++;
            number_escape(b, r, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8);
            r->at--;
        } else if (c >= '0' && c <= '7') {
            number_escape(b, r, 8, 3);
            r->at--;
        } else {
            add(b, (char)c);
        }
    }
    r->at++;
}

/* At a '$'. */
static void dollar(struct build *b, struct danger_reader *r, bool quoted)
{
    int c = danger_peek(r, 1);
    size_t n = 1;

    if (c == '(' && danger_peek(r, 2) == '(') {
        arithmetic(b, r, quoted);
    } else if (c == '(') {
        command_substitution(b, r, quoted);
    } else if (c == '{') {
        r->at += 2;
        expand_braced(b, braced(r), quoted);
    } else if (c == '\'' && !quoted && !r->scan->plain) {
        ansi_quoted(b, r);
    } else if (c == '"' && !quoted) {
        r->at++;
    } else if (is_name_char(c) || (c > 0 && strchr("@*?$!#-", c))) {
        if (is_name_char(c) && !(c >= '0' && c <= '9'))
            while (is_name_char(danger_peek(r, n + 1)))
                n++;
        expand_braced(b, str_of(r->s.p + r->at + 1, n), quoted);
        if (c == '#')
            add_mark(b, MARK_UNKNOWN);
        r->at += n + 1;
    } else {
        add(b, '$');
        r->at++;
    }
}

static void double_quoted(struct build *b, struct danger_reader *r)
{
    b->quoted = true;
    r->at++;
    while (r->at < r->s.n && r->s.p[r->at] != '"') {
        char c = r->s.p[r->at];

        if (c == '\\' && danger_peek(r, 1) >= 0 && strchr("\"\\$`\n", danger_peek(r, 1))) {
            if (danger_peek(r, 1) != '\n')
                add(b, (char)danger_peek(r, 1));
            r->at += 2;
        } else if (c == '$') {
            dollar(b, r, true);
        } else if (c == '`') {
            backticks(b, r, true);
        } else {
            buf_add_char(&b->text, c);
            r->at++;
        }
    }
    r->at++;
}

static void single_quoted(struct build *b, struct danger_reader *r)
{
    b->quoted = true;
    for (r->at++; r->at < r->s.n && r->s.p[r->at] != '\''; r->at++)
        buf_add_char(&b->text, r->s.p[r->at]);
    r->at++;
}

static void tilde(struct build *b, struct danger_reader *r)
{
    add_mark(b, MARK_HOME);
    r->at++;
    while (is_name_char(danger_peek(r, 0)) || danger_peek(r, 0) == '-' || danger_peek(r, 0) == '+')
        r->at++; /* ~name is somebody's home as well */
}

static void unquoted(struct build *b, struct danger_reader *r)
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
static void process_substitution(struct build *b, struct danger_reader *r)
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
    add_mark(b, MARK_UNKNOWN);
}

static void read_parts(struct build *b, struct danger_reader *r)
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
            backticks(b, r, false);
        else if (c == '$')
            dollar(b, r, false);
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

/* ---- braces and fields ---- */

static struct danger_word word_of(const struct build *b, struct str text)
{
    return (struct danger_word){ arena_str(b->scan->arena, text), b->facts, b->script, b->sink };
}

static void add_field(const struct build *b, struct str text, struct danger_word **words, size_t *n)
{
    struct danger_scan *scan = b->scan;

    if (*n == DANGER_WORDS_MAX) {
        danger_obscure(scan);
        return;
    }
    if (*n % 64 == 0) {
        struct danger_word *more = ARENA_NEW_N(scan->arena, struct danger_word, *n + 64);

        if (*n)
            memcpy(more, *words, *n * sizeof(*more));
        *words = more;
    }
    (*words)[(*n)++] = word_of(b, text);
}

/* The first {a,b} of text: before, inside, after. */
static bool find_braces(struct str text, size_t *ret_open, size_t *ret_close)
{
    for (size_t open = 0; open < text.n; open++) {
        size_t depth = 0;
        bool comma = false;

        if (text.p[open] != MARK_OPEN)
            continue;
        for (size_t i = open; i < text.n; i++) {
            if (text.p[i] == MARK_OPEN)
                depth++;
            else if (text.p[i] == MARK_COMMA && depth == 1)
                comma = true;
            else if (text.p[i] == MARK_CLOSE && --depth == 0) {
                if (!comma)
                    break;
                *ret_open = open;
                *ret_close = i;
                return true;
            }
        }
    }
    return false;
}

/* {a..b}: letters or numbers in a row, which stand for something unknown. */
static struct str without_ranges(struct danger_scan *scan, struct str text)
{
    AUTO_BUF out = BUF_INIT(DANGER_FIELD_MAX);

    if (str_find_char(text, MARK_OPEN) < 0 || str_find(text, STR("..")) < 0)
        return text;
    for (size_t i = 0; i < text.n; i++) {
        struct str rest = str_skip(text, i);
        ptrdiff_t close = rest.p[0] == MARK_OPEN ? str_find_char(rest, MARK_CLOSE) : -1;

        if (close > 0 && str_find(str_take(rest, (size_t)close), STR("..")) > 0) {
            buf_add_char(&out, MARK_UNKNOWN);
            i += (size_t)close;
        } else {
            buf_add_char(&out, text.p[i]);
        }
    }
    return arena_str(scan->arena, buf_str(&out));
}

static void expand_braces(const struct build *b, struct str text, int depth,
                          struct danger_word **words, size_t *n)
{
    size_t open, close, from;
    int level = 0;

    if (b->scan->hit)
        return;
    if (depth > 12 || !find_braces(text, &open, &close)) {
        add_field(b, without_ranges(b->scan, text), words, n);
        return;
    }
    from = open + 1;
    for (size_t i = from; i <= close; i++) {
        if (text.p[i] == MARK_OPEN)
            level++;
        if ((text.p[i] == MARK_COMMA && level == 0) || i == close) {
            AUTO_BUF one = BUF_INIT(DANGER_FIELD_MAX);

            buf_add(&one, text.p, open);
            buf_add(&one, text.p + from, i - from);
            buf_add(&one, text.p + close + 1, text.n - close - 1);
            expand_braces(b, buf_str(&one), depth + 1, words, n);
            from = i + 1;
        } else if (text.p[i] == MARK_CLOSE) {
            level--;
        }
    }
}

void danger_read_word(struct danger_reader *reader, struct danger_word **words, size_t *n)
{
    struct build b = { .scan = reader->scan, .text = BUF_INIT(DANGER_BYTES_MAX), .split = true };
    struct str rest, field;

    read_parts(&b, reader);
    rest = buf_str(&b.text);
    while (str_split(&rest, MARK_FIELD, &field))
        if (field.n > 0 || (b.quoted && b.text.n == 0))
            expand_braces(&b, field, 0, words, n);
    if (b.facts && b.text.n == 0 && !b.quoted)
        add_field(&b, STR(""), words, n);
    buf_release(&b.text);
}

static struct danger_word take(struct build *b)
{
    struct danger_word word = word_of(b, buf_str(&b->text));

    buf_release(&b->text);
    return word;
}

struct danger_word danger_read_single(struct danger_reader *reader)
{
    struct build b = { .scan = reader->scan, .text = BUF_INIT(DANGER_BYTES_MAX) };

    read_parts(&b, reader);
    return take(&b);
}

struct danger_word danger_expand_text(struct danger_scan *scan, struct str text)
{
    struct build b = { .scan = scan, .text = BUF_INIT(DANGER_BYTES_MAX) };
    struct danger_reader r = { .scan = scan, .s = text };

    while (r.at < text.n && !scan->hit) {
        if (text.p[r.at] == '\\' && r.at + 1 < text.n && strchr("\\$`", text.p[r.at + 1])) {
            buf_add_char(&b.text, text.p[r.at + 1]);
            r.at += 2;
        } else if (text.p[r.at] == '$') {
            dollar(&b, &r, true);
        } else if (text.p[r.at] == '`') {
            backticks(&b, &r, true);
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
