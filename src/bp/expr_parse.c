/* Expressions: a recursive descent parser into a small tree. The grammar is in expr.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bp/expr_int.h"

struct parser {
    struct str text;
    size_t at;
    unsigned nodes, depth;
    struct arena *arena;
    struct err *err;
};

static int fail(struct parser *p, const char *allowed)
{
    if (p->at >= p->text.n)
        return err_set(p->err, ERR_SCHEMA_VIOLATION, "column %zu: it ends, but %s is needed",
                       p->at + 1, allowed);
    return err_set(p->err, ERR_SCHEMA_VIOLATION, "column %zu: \"%.*s\" stands where %s is allowed",
                   p->at + 1, (int)(p->text.n - p->at < 16 ? p->text.n - p->at : 16),
                   p->text.p + p->at, allowed);
}

static void skip_space(struct parser *p)
{
    while (p->at < p->text.n && (p->text.p[p->at] == ' ' || p->text.p[p->at] == '\t' ||
                                 p->text.p[p->at] == '\n' || p->text.p[p->at] == '\r'))
        p->at++;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char peek(const struct parser *p)
{
    return p->at < p->text.n ? p->text.p[p->at] : '\0';
}

static bool take_char(struct parser *p, char c)
{
    skip_space(p);
    if (p->at >= p->text.n || p->text.p[p->at] != c)
        return false;
    p->at++;
    return true;
}

/* The name that begins here, empty when none does. Not taken yet. */
static struct str peek_word(struct parser *p)
{
    size_t end;

    skip_space(p);
    end = p->at;
    if (end < p->text.n && is_letter(p->text.p[end]))
        while (end < p->text.n &&
               (is_letter(p->text.p[end]) || is_digit(p->text.p[end]) || p->text.p[end] == '-'))
            end++;
    return str_of(p->text.p + p->at, end - p->at);
}

static bool take_word(struct parser *p, const char *word)
{
    struct str next = peek_word(p);

    if (!str_is(next, word))
        return false;
    p->at += next.n;
    return true;
}

static struct expr *new_node(struct parser *p, enum op op)
{
    struct expr *e;

    if (++p->nodes > EXPR_NODES_MAX) {
        err_set(p->err, ERR_TOO_LARGE, "column %zu: more than %d parts", p->at + 1, EXPR_NODES_MAX);
        return NULL;
    }
    e = ARENA_NEW(p->arena, struct expr);
    e->op = op;
    return e;
}

static int read_text(struct parser *p, struct str *ret_text)
{
    char quote = p->text.p[p->at++];
    char *to = arena_alloc(p->arena, p->text.n - p->at + 1, 1);
    size_t n = 0;

    while (p->at < p->text.n && p->text.p[p->at] != quote) {
        char c = p->text.p[p->at++];

        if (c == '\\') {
            const char *escapes = "\"\\'nt", *found;

            found =
                p->at < p->text.n && p->text.p[p->at] ? strchr(escapes, p->text.p[p->at]) : NULL;
            if (!found)
                return fail(p, "one of \" \\ ' n t after the backslash");
            c = *found == 'n' ? '\n' : *found == 't' ? '\t' : *found;
            p->at++;
        }
        to[n++] = c;
    }
    if (p->at >= p->text.n)
        return fail(p, "the closing quote");
    p->at++;
    *ret_text = str_of(to, n);
    return 0;
}

static int read_number(struct parser *p, double *ret_number)
{
    char digits[64];
    size_t n = 0;
    char *end;

    while (n < sizeof(digits) - 1 && p->at + n < p->text.n) {
        char c = p->text.p[p->at + n];

        if (!is_digit(c) && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E')
            break;
        digits[n++] = c;
    }
    digits[n] = '\0';
    *ret_number = strtod(digits, &end);
    if (n == 0 || *end || !isfinite(*ret_number) ||
        (!is_digit(digits[0]) && !(digits[0] == '-' && is_digit(digits[1]))))
        return fail(p, "a number");
    p->at += n;
    return 0;
}

/* 1: it was a literal, 0: something else stands here. */
static int read_literal(struct parser *p, struct value *ret_value)
{
    char c;

    *ret_value = (struct value){ .kind = ABSENT };
    skip_space(p);
    c = peek(p);
    if (c == '"' || c == '\'') {
        ret_value->kind = TEXT;
        return read_text(p, &ret_value->text) < 0 ? -1 : 1;
    }
    if (is_digit(c) || c == '-') {
        ret_value->kind = NUMBER;
        return read_number(p, &ret_value->number) < 0 ? -1 : 1;
    }
    if (take_word(p, "null")) {
        ret_value->kind = NOTHING;
        return 1;
    }
    if (take_word(p, "true") || take_word(p, "false")) {
        ret_value->kind = TRUTH;
        ret_value->truth = p->text.p[p->at - 2] == 'u';
        return 1;
    }
    return 0;
}

static int read_index(struct parser *p, struct step *step)
{
    size_t digits = 0;

    while (is_digit(peek(p)) && digits < 6) {
        step->index = step->index * 10 + (size_t)(peek(p) - '0');
        p->at++;
        digits++;
    }
    if (!digits || peek(p) != ']')
        return fail(p, "a number and ]");
    p->at++;
    return 0;
}

static int read_path(struct parser *p, struct operand *operand)
{
    struct step **link = &operand->path;
    unsigned steps = 0;

    while (peek(p) == '.' || peek(p) == '[') {
        struct step *step = ARENA_NEW(p->arena, struct step);
        struct str name;

        if (++steps > EXPR_DEPTH_MAX)
            return fail(p, "a shorter path");
        p->at++;
        if (p->text.p[p->at - 1] == '[') {
            if (read_index(p, step) < 0)
                return -1;
        } else {
            name = is_letter(peek(p)) ? peek_word(p) : STR_NONE;
            if (!name.n)
                return fail(p, "a name");
            step->name = arena_copy(p->arena, name.p, name.n);
            p->at += name.n;
        }
        *link = step;
        link = &step->next;
    }
    return 0;
}

static int read_operand(struct parser *p, struct operand *ret_operand)
{
    static const struct {
        const char *word;
        enum source source;
    } sources[] = {
        { "tool", FROM_TOOL }, { "agent", FROM_AGENT }, { "mode", FROM_MODE }, { "args", FROM_ARGS }
    };
    int r = read_literal(p, &ret_operand->literal);

    if (r)
        return r < 0 ? -1 : 0;
    for (unsigned i = 0; i < ARRAY_LEN(sources); i++) {
        if (!take_word(p, sources[i].word))
            continue;
        ret_operand->source = sources[i].source;
        return sources[i].source == FROM_ARGS ? read_path(p, ret_operand) : 0;
    }
    return fail(p, "tool, agent, mode, args, a quoted text, a number, true, false or null");
}

static enum op read_op(struct parser *p)
{
    static const struct {
        const char *sign;
        enum op op;
    } signs[] = { { "==", OP_EQ }, { "!=", OP_NE }, { "<=", OP_LE },
                  { ">=", OP_GE }, { "<", OP_LT },  { ">", OP_GT } },
      words[] = { { "in", OP_IN },           { "prefix", OP_PREFIX },
                  { "suffix", OP_SUFFIX },   { "contains", OP_CONTAINS },
                  { "matches", OP_MATCHES }, { "exists", OP_EXISTS } };

    skip_space(p);
    for (unsigned i = 0; i < ARRAY_LEN(signs); i++)
        if (str_starts(str_skip(p->text, p->at), str_from(signs[i].sign))) {
            p->at += strlen(signs[i].sign);
            return signs[i].op;
        }
    for (unsigned i = 0; i < ARRAY_LEN(words); i++)
        if (take_word(p, words[i].sign))
            return words[i].op;
    return OP_NONE;
}

static int read_list(struct parser *p, struct expr *e)
{
    if (!take_char(p, '['))
        return fail(p, "[ and a list of values");
    e->list = ARENA_NEW_N(p->arena, struct value, EXPR_LIST_MAX);
    if (take_char(p, ']'))
        return 0;
    do {
        int r;

        if (e->list_count == EXPR_LIST_MAX)
            return fail(p, "a list of at most 128 values");
        r = read_literal(p, &e->list[e->list_count]);
        if (r < 0)
            return -1;
        if (r == 0)
            return fail(p, "a quoted text, a number, true, false or null");
        e->list_count++;
    } while (take_char(p, ','));
    return take_char(p, ']') ? 0 : fail(p, ", or ]");
}

static struct expr *read_or(struct parser *p);

static struct expr *read_comparison(struct parser *p)
{
    struct expr *e = new_node(p, OP_NONE);

    if (!e || read_operand(p, &e->a) < 0)
        return NULL;
    e->op = read_op(p);
    if (e->op == OP_NONE && e->a.source == FROM_LITERAL && e->a.literal.kind == TRUTH) {
        e->op = OP_CONST;
        e->truth = e->a.literal.truth;
        return e;
    }
    if (e->op == OP_EXISTS)
        return e;
    if (e->op == OP_NONE) {
        fail(p, "a comparison (== != < <= > >= in prefix suffix contains matches exists)");
        return NULL;
    }
    if (e->op == OP_IN)
        return read_list(p, e) < 0 ? NULL : e;
    return read_operand(p, &e->b) < 0 ? NULL : e;
}

static struct expr *read_group(struct parser *p)
{
    struct expr *e = read_or(p);

    if (e && !take_char(p, ')')) {
        fail(p, "and, or, or )");
        return NULL;
    }
    return e;
}

static struct expr *read_not(struct parser *p)
{
    struct expr *e = NULL;

    if (++p->depth > EXPR_DEPTH_MAX) {
        err_set(p->err, ERR_TOO_LARGE, "column %zu: nested deeper than %d", p->at + 1,
                EXPR_DEPTH_MAX);
        return NULL;
    }
    if (take_word(p, "not")) {
        e = new_node(p, OP_NOT);
        if (e && !(e->left = read_not(p)))
            return NULL;
    } else if (take_char(p, '(')) {
        e = read_group(p);
    } else {
        e = read_comparison(p);
    }
    p->depth--;
    return e;
}

static struct expr *read_chain(struct parser *p, const char *word, enum op op,
                               struct expr *(*read)(struct parser *))
{
    struct expr *left = read(p);

    while (left && take_word(p, word)) {
        struct expr *both = new_node(p, op);

        if (!both)
            return NULL;
        both->left = left;
        both->right = read(p);
        left = both->right ? both : NULL;
    }
    return left;
}

static struct expr *read_and(struct parser *p)
{
    return read_chain(p, "and", OP_AND, read_not);
}

static struct expr *read_or(struct parser *p)
{
    return read_chain(p, "or", OP_OR, read_and);
}

int expr_parse(struct str text, struct arena *arena, const struct expr **ret_expr, struct err *err)
{
    struct parser p = { .text = text, .arena = arena, .err = err };
    const struct expr *e;

    if (text.n > EXPR_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "an expression of %zu bytes; %d are allowed", text.n,
                       EXPR_BYTES_MAX);
    e = read_or(&p);
    if (!e)
        return -1;
    skip_space(&p);
    if (p.at < text.n)
        return fail(&p, "and, or, or the end");
    *ret_expr = e;
    return 0;
}
