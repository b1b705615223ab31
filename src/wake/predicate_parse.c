/* Predicates: a recursive descent parser that writes the line of steps (predicate_int.h) as it
 * goes. Literals are read by the JSON reader, so that texts and numbers mean what they mean
 * everywhere else.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "wake/predicate_int.h"

#define VALUES_MAX 512
#define STORED_MAX (PREDICATE_BYTES_MAX + VALUES_MAX * (RECORD_ID_MAX + 3))
#define NO_JUMP    UINT16_MAX

struct parser {
    struct str text;
    size_t at;
    unsigned depth;
    struct predicate *out;
    size_t value_room;
    size_t marked;                       /* bytes of ids behind names */
    const struct predicate_names *names; /* NULL: texts are ids, or have theirs */
    struct buf *bound;                   /* with the ids that names found */
    size_t bound_at;                     /* so far */
    struct err *err;
};

/* ---- places ---- */

/* Columns count characters, from 1. */
static size_t column(const struct parser *p, size_t at)
{
    return utf8_count(str_take(p->text, at)) + 1;
}

/* What p->err says was found there. */
static int at_column(struct parser *p, size_t at)
{
    char why[ERR_TEXT_MAX / 2];

    err_format(p->err, why, sizeof(why));
    err_reset(p->err);
    return err_set(p->err, ERR_BAD_REQUEST, "column %zu: %s", column(p, at), why);
}

static int fail(struct parser *p, const char *allowed)
{
    struct str rest = utf8_truncate(str_skip(p->text, p->at), 16);

    if (!rest.n)
        return err_set(p->err, ERR_BAD_REQUEST, "column %zu: it ends, but %s is needed",
                       column(p, p->at), allowed);
    return err_set(p->err, ERR_BAD_REQUEST, "column %zu: \"%.*s\" stands where %s is allowed",
                   column(p, p->at), STR_ARG(rest), allowed);
}

static void skip_space(struct parser *p)
{
    while (p->at < p->text.n && strchr(" \t\r\n", p->text.p[p->at]) && p->text.p[p->at])
        p->at++;
}

static char peek(const struct parser *p)
{
    return p->at < p->text.n ? p->text.p[p->at] : '\0';
}

static bool take_char(struct parser *p, char c)
{
    skip_space(p);
    if (peek(p) != c)
        return false;
    p->at++;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The name that begins here, empty when none does. Not taken yet. */
static struct str peek_word(const struct parser *p)
{
    size_t end = p->at;

    while (end < p->text.n &&
           (is_letter(p->text.p[end]) || (end > p->at && is_digit(p->text.p[end]))))
        end++;
    return str_of(p->text.p + p->at, end - p->at);
}

static bool take_word(struct parser *p, const char *word)
{
    skip_space(p);
    if (!str_is(peek_word(p), word))
        return false;
    p->at += strlen(word);
    return true;
}

/* ---- steps ---- */

static struct predicate_node *add_node(struct parser *p, enum predicate_op op)
{
    struct predicate_node *node;

    if (p->out->node_count == PREDICATE_NODES_MAX) {
        err_set(p->err, ERR_BAD_REQUEST, "column %zu: more than %d steps", column(p, p->at),
                PREDICATE_NODES_MAX);
        return NULL;
    }
    node = &p->out->nodes[p->out->node_count++];
    *node = (struct predicate_node){ .op = (uint8_t)op };
    return node;
}

static struct predicate_value *add_value(struct parser *p)
{
    if (p->out->value_count == p->value_room) {
        err_set(p->err, ERR_BAD_REQUEST, "column %zu: more than %d values", column(p, p->at),
                VALUES_MAX);
        return NULL;
    }
    return &p->out->values[p->out->value_count++];
}

/* ---- literals ---- */

/* Where the text ends that begins here; 0 when it does not. */
static size_t text_end(const struct parser *p)
{
    size_t end = p->at + 1;

    while (end < p->text.n && p->text.p[end] != '"')
        end += p->text.p[end] == '\\' ? 2 : 1;
    return end < p->text.n ? end + 1 : 0;
}

/* Where the number or word ends that begins here. */
static size_t plain_end(const struct parser *p)
{
    size_t end = p->at;

    while (end < p->text.n &&
           (is_letter(p->text.p[end]) || is_digit(p->text.p[end]) || p->text.p[end] == '+' ||
            p->text.p[end] == '-' || p->text.p[end] == '.'))
        end++;
    return end;
}

/* The literal here, taken: a text, a number, true, false or null. */
static int read_literal(struct parser *p, struct json_object **ret_value, struct str *ret_shown)
{
    struct err why = ERR_INIT;
    bool text;
    size_t end;

    skip_space(p);
    text = peek(p) == '"';
    end = text ? text_end(p) : plain_end(p);
    if (!end)
        return err_set(p->err, ERR_BAD_REQUEST, "column %zu: the text does not end",
                       column(p, p->at));
    *ret_shown = str_of(p->text.p + p->at, end - p->at);
    if (!ret_shown->n || json_parse(*ret_shown, ret_value, &why) < 0)
        return fail(p, "a text in double quotes, a number, true, false or null");
    p->at = end;
    return 0;
}

/* The category or label that a text of this field may name; RECORD_NONE: it is none. */
static enum record_type named_type(const struct predicate_field *field, enum predicate_op op)
{
    enum record_type type = field->index == PREDICATE_ID ? field->type : field->field->ref;

    if ((field->field->kind != FIELD_ID && field->field->kind != FIELD_IDS) ||
        op == PREDICATE_PREFIX)
        return RECORD_NONE;
    return type == RECORD_CATEGORY || type == RECORD_LABEL ? type : RECORD_NONE;
}

/* "gym"@"0190...": what counts is the id. */
static int read_mark(struct parser *p, struct json_object **literal)
{
    AUTO_JSON id = NULL;
    size_t at = p->at;
    struct str shown;

    if (p->names || p->at + 1 >= p->text.n || p->text.p[p->at + 1] != '"')
        return fail(p, "and, or, or the end");
    p->at++;
    if (read_literal(p, &id, &shown) < 0)
        return -1;
    p->marked += p->at - at;
    json_object_put(*literal);
    *literal = TAKE(id);
    return 0;
}

/* Its id is put behind the name. */
static int bind_name(struct parser *p, enum record_type type, struct str text)
{
    struct str id;

    if (p->names->find(p->names->arg, type, text, &id, p->err) < 0)
        return -1;
    if (str_eq(text, id))
        return 0;
    buf_add_str(p->bound, str_of(p->text.p + p->bound_at, p->at - p->bound_at));
    buf_printf(p->bound, "@\"%.*s\"", STR_ARG(id));
    p->bound_at = p->at;
    return 0;
}

/* After a literal that stood at `at`. */
static int read_name(struct parser *p, const struct predicate_field *field, enum predicate_op op,
                     size_t at, struct json_object **literal)
{
    enum record_type type = named_type(field, op);

    if (!type || !json_object_is_type(*literal, json_type_string) || !json_str(*literal).n)
        return 0;
    if (peek(p) == '@')
        return read_mark(p, literal);
    return p->names && bind_name(p, type, json_str(*literal)) < 0 ? at_column(p, at) : 0;
}

static int read_value(struct parser *p, const struct predicate_field *field,
                      struct predicate_node *node)
{
    AUTO_JSON literal = NULL;
    struct predicate_value *value;
    struct str shown;
    size_t at;

    skip_space(p);
    at = p->at;
    if (read_literal(p, &literal, &shown) < 0)
        return -1;
    if (read_name(p, field, (enum predicate_op)node->op, at, &literal) < 0)
        return -1;
    if (!literal && (node->op == PREDICATE_EQ || node->op == PREDICATE_NE)) {
        node->op = node->op == PREDICATE_EQ ? PREDICATE_IS_NULL : PREDICATE_IS_SET;
        return 0;
    }
    value = add_value(p);
    if (!value)
        return -1;
    node->count++;
    if (predicate_literal(field, (enum predicate_op)node->op, literal, shown, &p->out->arena, value,
                          p->err) < 0)
        return at_column(p, at);
    return 0;
}

static int read_list(struct parser *p, const struct predicate_field *field,
                     struct predicate_node *node)
{
    if (!take_char(p, '['))
        return fail(p, "[ and a list of values");
    do {
        if (read_value(p, field, node) < 0)
            return -1;
    } while (take_char(p, ','));
    return take_char(p, ']') ? 0 : fail(p, ", or ]");
}

/* ---- comparisons ---- */

static int read_field(struct parser *p, struct predicate_field *ret_field)
{
    enum record_type type;
    struct str name;
    size_t at;

    skip_space(p);
    at = p->at;
    name = peek_word(p);
    if (!name.n)
        return fail(p, "a field such as task.status, not or (");
    if (predicate_find_type(name, &type, p->err) < 0)
        return at_column(p, at);
    p->at += name.n;
    if (peek(p) != '.')
        return fail(p, "a dot and the name of a field");
    at = ++p->at;
    name = peek_word(p);
    if (!name.n)
        return fail(p, "the name of a field");
    if (predicate_find_field(type, name, ret_field, p->err) < 0)
        return at_column(p, at);
    p->at += name.n;
    return 0;
}

static const struct sign {
    const char *sign;
    enum predicate_op op;
} signs[] = {
    { "==", PREDICATE_EQ }, { "!=", PREDICATE_NE },         { "<=", PREDICATE_LE },
    { ">=", PREDICATE_GE }, { "<", PREDICATE_LT },          { ">", PREDICATE_GT },
    { "in", PREDICATE_IN }, { "prefix", PREDICATE_PREFIX },
};

static const struct sign *read_sign(struct parser *p)
{
    skip_space(p);
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        if (is_letter(signs[i].sign[0])) {
            if (take_word(p, signs[i].sign))
                return &signs[i];
        } else if (str_starts(str_skip(p->text, p->at), str_from(signs[i].sign))) {
            p->at += strlen(signs[i].sign);
            return &signs[i];
        }
    }
    return NULL;
}

/* "dayPlan.pinnedTaskIds == null": whether there is a list at all. */
static bool asks_for_null(struct parser *p, const struct sign *sign)
{
    skip_space(p);
    return (sign->op == PREDICATE_EQ || sign->op == PREDICATE_NE) && str_is(peek_word(p), "null");
}

static int read_comparison(struct parser *p)
{
    struct predicate_field field;
    struct predicate_node *node;
    const struct sign *sign;
    size_t at;

    if (read_field(p, &field) < 0)
        return -1;
    skip_space(p);
    at = p->at;
    sign = read_sign(p);
    if (!sign)
        return fail(p, "a comparison (== != < <= > >= in prefix)");
    if (!asks_for_null(p, sign) && predicate_check_op(&field, sign->op, sign->sign, p->err) < 0)
        return at_column(p, at);
    node = add_node(p, sign->op);
    if (!node)
        return -1;
    node->type = (uint8_t)field.type;
    node->field = field.index;
    node->by = (uint8_t)predicate_by(field.field);
    node->first = p->out->value_count;
    return sign->op == PREDICATE_IN ? read_list(p, &field, node) : read_value(p, &field, node);
}

/* ---- and, or, not ---- */

static int read_or(struct parser *p);

static int read_group(struct parser *p)
{
    if (read_or(p) < 0)
        return -1;
    return take_char(p, ')') ? 0 : fail(p, "and, or, or )");
}

static int read_not(struct parser *p)
{
    int r;

    if (++p->depth > PREDICATE_DEPTH_MAX)
        return err_set(p->err, ERR_BAD_REQUEST, "column %zu: nested deeper than %d",
                       column(p, p->at), PREDICATE_DEPTH_MAX);
    if (take_word(p, "not"))
        r = read_not(p) < 0 || !add_node(p, PREDICATE_NOT) ? -1 : 0;
    else if (take_char(p, '('))
        r = read_group(p);
    else
        r = read_comparison(p);
    p->depth--;
    return r;
}

/* All jumps of a chain leave for its end; until that is known each names the one before. */
static int read_chain(struct parser *p, const char *word, enum predicate_op op,
                      int (*read)(struct parser *))
{
    uint16_t last = NO_JUMP;

    if (read(p) < 0)
        return -1;
    while (take_word(p, word)) {
        struct predicate_node *jump = add_node(p, op);

        if (!jump)
            return -1;
        jump->first = last;
        last = (uint16_t)(p->out->node_count - 1);
        if (read(p) < 0)
            return -1;
    }
    while (last != NO_JUMP) {
        struct predicate_node *jump = &p->out->nodes[last];

        last = jump->first;
        jump->first = p->out->node_count;
    }
    return 0;
}

static int read_and(struct parser *p)
{
    return read_chain(p, "and", PREDICATE_AND, read_not);
}

static int read_or(struct parser *p)
{
    return read_chain(p, "or", PREDICATE_OR, read_and);
}

static int read_all(struct parser *p)
{
    skip_space(p);
    if (p->at == p->text.n)
        return 0;
    if (read_or(p) < 0)
        return -1;
    skip_space(p);
    return p->at < p->text.n ? fail(p, "and, or, or the end") : 0;
}

/* ---- the whole ---- */

/* Steps and values take at least two bytes of text each. */
static size_t room_for(struct str text, size_t max)
{
    size_t room = text.n / 2 + 1;

    return room < max ? room : max;
}

static int parse(struct parser *p, struct predicate **ret_predicate, struct err *err)
{
    AUTO(predicate) predicate = NULL;
    size_t valid = utf8_valid_prefix(p->text);

    p->err = err;
    if (p->text.n > (p->names ? PREDICATE_BYTES_MAX : STORED_MAX))
        return err_set(err, ERR_BAD_REQUEST, "a predicate of %zu bytes; %d are allowed", p->text.n,
                       PREDICATE_BYTES_MAX);
    if (valid < p->text.n)
        return err_set(err, ERR_BAD_REQUEST, "column %zu: this is not UTF-8", column(p, valid));
    predicate = NEW(struct predicate);
    p->out = predicate;
    p->value_room = room_for(p->text, VALUES_MAX);
    predicate->nodes = ARENA_NEW_N(&predicate->arena, struct predicate_node, PREDICATE_NODES_MAX);
    predicate->values = ARENA_NEW_N(&predicate->arena, struct predicate_value, p->value_room);
    if (read_all(p) < 0)
        return -1;
    if (p->text.n - p->marked > PREDICATE_BYTES_MAX)
        return err_set(err, ERR_BAD_REQUEST, "a predicate of %zu bytes; %d are allowed",
                       p->text.n - p->marked, PREDICATE_BYTES_MAX);
    *ret_predicate = TAKE(predicate);
    return 0;
}

int predicate_parse(struct str text, struct predicate **ret_predicate, struct err *err)
{
    return parse(&(struct parser){ .text = text }, ret_predicate, err);
}

int predicate_bind(struct str typed, const struct predicate_names *names, struct buf *out,
                   struct err *err)
{
    AUTO(predicate) predicate = NULL;
    struct parser p = { .text = typed, .names = names, .bound = out };

    if (parse(&p, &predicate, err) < 0)
        return -1;
    buf_add_str(out, str_skip(typed, p.bound_at));
    return 0;
}

void predicate_typed(struct str stored, struct buf *out)
{
    struct parser p = { .text = stored };

    while (p.at < stored.n) {
        size_t end = peek(&p) == '"' ? text_end(&p) : p.at + 1;

        end = end ? end : stored.n;
        buf_add_str(out, str_of(stored.p + p.at, end - p.at));
        p.at = end;
        if (stored.p[end - 1] == '"' && peek(&p) == '@' && ++p.at < stored.n && peek(&p) == '"')
            p.at = text_end(&p) ? text_end(&p) : stored.n;
    }
}
