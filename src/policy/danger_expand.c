/* What $ and ` stand for in a word: variables, substitutions, arithmetic.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_word_int.h"

/* ---- variables ---- */

bool danger_is_name_char(int c)
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
static void all_arguments(struct danger_build *b)
{
    const struct danger_args *args = &b->scan->args;

    if (args->unknown)
        danger_add_mark(b, MARK_UNKNOWN);
    for (size_t i = 1; !args->unknown && i < args->n; i++) {
        if (i > 1)
            danger_add_mark(b, b->split ? MARK_FIELD : ' ');
        danger_add_value(b, args->words[i].text, true);
        b->facts |= args->words[i].facts;
    }
}

/* ${name[...]}: one element when the number is plain, else all of them. */
static void elements(struct danger_build *b, struct str value, struct str index)
{
    struct str element = value;
    size_t i = 0;

    index = str_take(str_skip(index, 1), index.n >= 2 ? index.n - 2 : 0);
    for (size_t k = 0; k < index.n; k++) {
        if (index.p[k] < '0' || index.p[k] > '9' || k > 4) {
            danger_add_value(b, value, false);
            return;
        }
        i = i * 10 + (size_t)(index.p[k] - '0');
    }
    for (size_t k = 0; k <= i; k++)
        if (!str_split(&value, ' ', &element))
            return;
    danger_add_value(b, element, true);
}

/* ${name:-other} and ${name:=other} */
static void with_default(struct danger_build *b, struct str name, const struct str *value,
                         struct str rest, bool quoted)
{
    bool colon = rest.p[0] == ':', sets = rest.p[colon] == '=';
    struct danger_word other = danger_expand_text(b->scan, str_skip(rest, colon ? 2 : 1));

    b->facts |= other.facts;
    if (sets && !(value && value->n))
        danger_set_var(b->scan, name, other.text, other.facts);
    danger_add_value(b, value && value->n ? *value : other.text, quoted);
}

/* ${name:+other} and ${name:?why} */
static void when_set(struct danger_build *b, const struct str *value, struct str rest, bool quoted)
{
    bool colon = rest.p[0] == ':', other = rest.p[colon] == '+';
    struct danger_word word = danger_expand_text(b->scan, str_skip(rest, colon ? 2 : 1));

    b->facts |= word.facts;
    if (value && (value->n || !colon))
        danger_add_value(b, other ? word.text : *value, quoted);
    else if (!other)
        danger_add_mark(b, MARK_UNKNOWN); /* the shell ends here */
}

/* ${...}: defaults and elements are followed; cutting a known start off PATH and its like is a
 * well-known way to spell a slash; any other change of a value makes it unknown, but what stands in
 * it is run all the same. */
static void expand_braced(struct danger_build *b, struct str inside, bool quoted)
{
    struct str name, value, rest;
    const struct danger_var *var;
    size_t n = 0;
    bool set;

    if (inside.n > 1 && inside.p[0] == '!' && danger_find_var(b->scan, str_skip(inside, 1)))
        inside = danger_find_var(b->scan, str_skip(inside, 1))->value; /* ${!name} */
    while (n < inside.n && danger_is_name_char((unsigned char)inside.p[n]))
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
        danger_add_value(b, STR(" "), quoted);
        return;
    }
    set = n > 0 && danger_value_of(b->scan, name, &value);
    var = danger_find_var(b->scan, name);
    if (var)
        b->facts |= var->facts;
    if (rest.n == 0 && n > 0) {
        if (set)
            danger_add_value(b, value, quoted);
    } else if (str_is(rest, ":0:1") && danger_is(name, "PATH HOME PWD SHELL OLDPWD")) {
        danger_add_char(b, '/');
    } else if (set && rest.n > 2 && rest.p[0] == '[' && rest.p[rest.n - 1] == ']') {
        elements(b, value, rest);
    } else if (rest.n >= 1 && (rest.p[0] == '-' || rest.p[0] == '=' ||
                               (rest.n >= 2 && rest.p[0] == ':' && strchr("-=", rest.p[1])))) {
        with_default(b, name, set ? &value : NULL, rest, quoted);
    } else if (rest.n >= 1 && strchr("+?", rest.p[rest.n > 1 && rest.p[0] == ':'])) {
        when_set(b, set ? &value : NULL, rest, quoted);
    } else if (set && danger_cut(&value, rest)) {
        danger_add_value(b, value, quoted);
    } else {
        b->facts |= danger_expand_text(b->scan, rest).facts;
        if (n == 0 || set || rest.p[0] == ':')
            danger_add_mark(b, MARK_UNKNOWN); /* else there is nothing to cut from */
    }
}

/* ---- substitutions ---- */

static void substitute(struct danger_build *b, struct danger_stream out, bool quoted)
{
    b->facts |= out.facts;
    if (!out.text.p) {
        danger_add_mark(b, MARK_UNKNOWN);
        return;
    }
    while (out.text.n > 0 && out.text.p[out.text.n - 1] == '\n')
        out.text.n--;
    danger_add_value(b, out.text, quoted);
}

static void command_substitution(struct danger_build *b, struct danger_reader *r, bool quoted)
{
    struct str cwd = b->scan->cwd;

    r->at += 2;
    substitute(b, danger_run_list(r, ")", (struct danger_stream){ 0 }), quoted);
    b->scan->cwd = cwd;
}

void danger_backticks(struct danger_build *b, struct danger_reader *r, bool quoted)
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

static void arithmetic(struct danger_build *b, struct danger_reader *r, bool quoted)
{
    r->at++;
    if (danger_read_arithmetic(r)) {
        danger_add_mark(b, MARK_UNKNOWN);
    } else {
        r->at--;
        command_substitution(b, r, quoted); /* a subshell in it */
    }
}

static void number_escape(struct danger_build *b, struct danger_reader *r, int base, int digits)
{
    int value = 0, c;

    for (; digits > 0 && (c = hex_digit(danger_peek(r, 0))) >= 0 && c < base; digits--, r->at++)
        value = value * base + c;
    danger_add_char(b, value < 0x80 ? (char)value : MARK_UNKNOWN);
}

/* $'...' */
static void ansi_quoted(struct danger_build *b, struct danger_reader *r)
{
    static const char from[] = "nrtabefv", to[] = "\n\r\t\a\b\033\f\v";

    b->quoted = true;
    for (r->at += 2; r->at < r->s.n && r->s.p[r->at] != '\''; r->at++) {
        const char *at;
        int c;

        if (r->s.p[r->at] != '\\' || r->at + 1 >= r->s.n) {
            danger_add_char(b, r->s.p[r->at]);
            continue;
        }
        c = (unsigned char)r->s.p[++r->at];
        at = strchr(from, c);
        if (at && c) {
            danger_add_char(b, to[at - from]);
        } else if (c == 'x' || c == 'u' || c == 'U') {
            r->at++;
            number_escape(b, r, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8);
            r->at--;
        } else if (c >= '0' && c <= '7') {
            number_escape(b, r, 8, 3);
            r->at--;
        } else {
            danger_add_char(b, (char)c);
        }
    }
    r->at++;
}

/* At a '$'. */
void danger_dollar(struct danger_build *b, struct danger_reader *r, bool quoted)
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
    } else if (danger_is_name_char(c) || (c > 0 && strchr("@*?$!#-", c))) {
        if (danger_is_name_char(c) && !(c >= '0' && c <= '9'))
            while (danger_is_name_char(danger_peek(r, n + 1)))
                n++;
        expand_braced(b, str_of(r->s.p + r->at + 1, n), quoted);
        if (c == '#')
            danger_add_mark(b, MARK_UNKNOWN);
        r->at += n + 1;
    } else {
        danger_add_char(b, '$');
        r->at++;
    }
}
