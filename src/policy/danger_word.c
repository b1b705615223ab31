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
    bool quoted; /* some part was: an empty field stays one */
    bool split;  /* unquoted expansions are split into fields */
};

static int peek(const struct danger_reader *r, size_t ahead)
{
    return r->at + ahead < r->s.n ? (unsigned char)r->s.p[r->at + ahead] : -1;
}

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

        if (!quoted && b->split && (c == ' ' || c == '\t' || c == '\n'))
            c = MARK_FIELD;
        else if (!quoted && c == '*')
            c = MARK_STAR;
        else if (!quoted && c == '?')
            c = MARK_ANY;
        buf_add_char(&b->text, c);
    }
}

/* ---- variables ---- */

void danger_set_var(struct danger_scan *scan, struct str name, struct str value, unsigned facts)
{
    for (size_t i = 0; i < scan->vars_n; i++)
        if (str_eq(scan->vars[i].name, name)) {
            scan->vars[i].value = value;
            scan->vars[i].facts = facts;
            return;
        }
    if (scan->vars_n < DANGER_VARS_MAX)
        scan->vars[scan->vars_n++] = (struct danger_var){ name, value, facts };
}

/* False when it is not set. */
static bool value_of(struct danger_scan *scan, struct str name, struct str *ret)
{
    static const char unknown[] = { MARK_UNKNOWN }, home[] = { MARK_HOME };
    static const char data[] = { MARK_HOME, '/', '.', 'l', 'o', 'c', 'a', 'l', '/', 's', 'h', 'a',
                                 'r',       'e', '/', 'd', 'o', 'r', 'm', 'o', 'u', 's', 'e' };

    for (size_t i = 0; i < scan->vars_n; i++)
        if (str_eq(scan->vars[i].name, name)) {
            *ret = scan->vars[i].value;
            return true;
        }
    if (str_is(name, "HOME"))
        *ret = str_of(home, 1);
    else if (str_is(name, "DORMOUSE_DATA"))
        *ret = str_of(data, sizeof(data));
    else if (str_is(name, "XDG_DATA_HOME"))
        *ret = str_of(data, sizeof(data) - 9);
    else if (str_is(name, "PWD"))
        *ret = scan->cwd.n ? scan->cwd : STR(".");
    else if (danger_is(name, "PATH USER LOGNAME SHELL TMPDIR LANG TERM OLDPWD HOSTNAME RANDOM "
                             "SECONDS PPID UID EUID BASH BASHPID LINENO XDG_RUNTIME_DIR "
                             "XDG_CONFIG_HOME XDG_CACHE_HOME ? # $ ! - _ REPLY"))
        *ret = str_of(unknown, 1);
    else
        return false;
    return true;
}

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

/* ${...}: defaults and alternatives are followed; cutting a known start off PATH and its like is a
 * well-known way to spell a slash; any other change of a value makes it unknown. */
static void expand_braced(struct build *b, struct str inside, bool quoted)
{
    struct str name, value, rest;
    size_t n = 0;
    bool set;

    while (n < inside.n && is_name_char((unsigned char)inside.p[n]))
        n++;
    if (n == 0 && inside.n > 0 && strchr("@*?$!-", inside.p[0]))
        n = 1;
    name = str_take(inside, n);
    rest = str_skip(inside, n);
    if (str_is(name, "IFS")) {
        add_value(b, STR(" "), quoted);
        return;
    }
    set = n > 0 && value_of(b->scan, name, &value);
    for (size_t i = 0; i < b->scan->vars_n; i++)
        if (str_eq(b->scan->vars[i].name, name))
            b->facts |= b->scan->vars[i].facts;
    if (rest.n == 0 && n > 0) {
        if (set)
            add_value(b, value, quoted);
    } else if (str_is(rest, ":0:1") && danger_is(name, "PATH HOME PWD SHELL OLDPWD")) {
        add(b, '/');
    } else if (rest.n >= 1 && (rest.p[0] == '-' || rest.p[0] == '=' ||
                               (rest.n >= 2 && rest.p[0] == ':' && strchr("-=", rest.p[1])))) {
        size_t skip = rest.p[0] == ':' ? 2 : 1;
        struct danger_word other = danger_expand_text(b->scan, str_skip(rest, skip));

        b->facts |= other.facts;
        add_value(b, set && value.n ? value : other.text, quoted);
    } else if (n > 0 && !set && rest.p[0] != ':') {
        return; /* nothing to cut from */
    } else {
        add_mark(b, MARK_UNKNOWN);
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

static void arithmetic(struct build *b, struct danger_reader *r)
{
    size_t depth = 0;

    for (r->at += 1; r->at < r->s.n; r->at++) {
        if (r->s.p[r->at] == '(')
            depth++;
        else if (r->s.p[r->at] == ')' && --depth == 0)
            break;
    }
    r->at++;
    add_mark(b, MARK_UNKNOWN);
}

static int hex(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void number_escape(struct build *b, struct danger_reader *r, int base, int digits)
{
    int value = 0, c;

    for (; digits > 0 && (c = hex(peek(r, 0))) >= 0 && c < base; digits--, r->at++)
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
    int c = peek(r, 1);
    size_t n = 1;

    if (c == '(' && peek(r, 2) == '(') {
        r->at++;
        arithmetic(b, r);
    } else if (c == '(') {
        command_substitution(b, r, quoted);
    } else if (c == '{') {
        r->at += 2;
        expand_braced(b, braced(r), quoted);
    } else if (c == '\'' && !quoted) {
        ansi_quoted(b, r);
    } else if (c == '"' && !quoted) {
        r->at++;
    } else if (is_name_char(c) || (c > 0 && strchr("@*?$!#-", c))) {
        if (is_name_char(c) && !(c >= '0' && c <= '9'))
            while (is_name_char(peek(r, n + 1)))
                n++;
        expand_braced(b, str_of(r->s.p + r->at + 1, n), quoted);
        if (c == '#' || c == '0')
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

        if (c == '\\' && peek(r, 1) >= 0 && strchr("\"\\$`\n", peek(r, 1))) {
            if (peek(r, 1) != '\n')
                add(b, (char)peek(r, 1));
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
    while (is_name_char(peek(r, 0)) || peek(r, 0) == '-' || peek(r, 0) == '+')
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
    struct danger_stream out;

    r->at += 2;
    out = danger_run_list(r, ")", (struct danger_stream){ 0 });
    b->facts |= out.facts;
    add_mark(b, MARK_UNKNOWN);
}

static void read_parts(struct build *b, struct danger_reader *r)
{
    size_t start = b->text.n;

    for (;;) {
        int c = peek(r, 0);

        if ((c == '<' || c == '>') && peek(r, 1) == '(')
            process_substitution(b, r);
        else if (ends_word(c))
            return;
        else if (c == '\\' && peek(r, 1) == '\n')
            r->at += 2;
        else if (c == '\\') {
            b->quoted = true;
            if (peek(r, 1) >= 0)
                buf_add_char(&b->text, (char)peek(r, 1));
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

static void add_field(struct danger_scan *scan, struct str text, unsigned facts,
                      struct danger_word **words, size_t *n)
{
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
    (*words)[(*n)++] = (struct danger_word){ arena_str(scan->arena, text), facts };
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

static void expand_braces(struct danger_scan *scan, struct str text, unsigned facts, int depth,
                          struct danger_word **words, size_t *n)
{
    size_t open, close, from;
    int level = 0;

    if (scan->hit)
        return;
    if (depth > 8 || !find_braces(text, &open, &close)) {
        add_field(scan, text, facts, words, n);
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
            expand_braces(scan, buf_str(&one), facts, depth + 1, words, n);
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
            expand_braces(reader->scan, field, b.facts, 0, words, n);
    if (b.facts && b.text.n == 0 && !b.quoted)
        add_field(reader->scan, STR(""), b.facts, words, n);
    buf_release(&b.text);
}

static struct danger_word take(struct build *b)
{
    struct danger_word word = { arena_str(b->scan->arena, buf_str(&b->text)), b->facts };

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
