/* The value of an expression: always a yes or a no. See expr.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/expr.h"

#include "base/json.h"
#include "bp/expr_int.h"

static struct value value_of_node(struct json_object *node)
{
    switch (json_object_get_type(node)) {
    case json_type_string:
        return (struct value){ .kind = TEXT,
                               .text = str_of(json_object_get_string(node),
                                              (size_t)json_object_get_string_len(node)) };
    case json_type_int:
    case json_type_double:
        return (struct value){ .kind = NUMBER, .number = json_object_get_double(node) };
    case json_type_boolean:
        return (struct value){ .kind = TRUTH, .truth = json_object_get_boolean(node) };
    case json_type_null:
        return (struct value){ .kind = NOTHING };
    default:
        return (struct value){ .kind = NODE, .node = node };
    }
}

static struct value value_in_args(struct json_object *node, const struct step *path)
{
    if (!node)
        return (struct value){ .kind = ABSENT };
    for (; path; path = path->next) {
        struct json_object *child = NULL;

        if (path->name) {
            if (!json_object_is_type(node, json_type_object) ||
                !json_object_object_get_ex(node, path->name, &child))
                return (struct value){ .kind = ABSENT };
        } else {
            if (!json_object_is_type(node, json_type_array) || path->index >= json_length(node))
                return (struct value){ .kind = ABSENT };
            child = json_object_array_get_idx(node, path->index);
        }
        if (!child)
            return (struct value){ .kind = path->next ? ABSENT : NOTHING };
        node = child;
    }
    return value_of_node(node);
}

static struct value value_of(const struct operand *operand, const struct expr_facts *facts)
{
    struct str text;

    switch (operand->source) {
    case FROM_LITERAL:
        return operand->literal;
    case FROM_ARGS:
        return value_in_args(facts->args, operand->path);
    case FROM_TOOL:
        text = facts->tool;
        break;
    case FROM_AGENT:
        text = facts->agent;
        break;
    case FROM_MODE:
        text = facts->mode;
        break;
    }
    return (struct value){ .kind = text.p ? TEXT : ABSENT, .text = text };
}

static bool same(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TEXT:
        return str_eq(a->text, b->text);
    case NUMBER:
        return a->number == b->number;
    case TRUTH:
        return a->truth == b->truth;
    case NOTHING:
        return true;
    case NODE:
        return json_object_equal(a->node, b->node);
    default:
        return false;
    }
}

bool expr_glob(struct str pattern, struct str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;

    while (t < text.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.n && (pattern.p[p] == '?' || pattern.p[p] == text.p[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

static bool contains(const struct value *a, const struct value *b)
{
    if (a->kind == TEXT && b->kind == TEXT)
        return str_find(a->text, b->text) >= 0;
    if (a->kind != NODE || !json_object_is_type(a->node, json_type_array))
        return false;
    for (size_t i = 0; i < json_length(a->node); i++) {
        struct value item = value_of_node(json_object_array_get_idx(a->node, i));

        if (same(&item, b))
            return true;
    }
    return false;
}

static bool ordered(enum op op, const struct value *a, const struct value *b)
{
    if (a->kind != NUMBER || b->kind != NUMBER)
        return false;
    switch (op) {
    case OP_LT:
        return a->number < b->number;
    case OP_LE:
        return a->number <= b->number;
    case OP_GT:
        return a->number > b->number;
    default:
        return a->number >= b->number;
    }
}

static bool in_list(const struct expr *e, const struct value *a)
{
    for (unsigned i = 0; i < e->list_count; i++)
        if (same(&e->list[i], a))
            return true;
    return false;
}

static bool compare(const struct expr *e, const struct expr_facts *facts)
{
    struct value a = value_of(&e->a, facts), b = value_of(&e->b, facts);
    bool texts = a.kind == TEXT && b.kind == TEXT;

    switch (e->op) {
    case OP_EXISTS:
        return a.kind != ABSENT;
    case OP_EQ:
        return same(&a, &b);
    case OP_NE:
        return !same(&a, &b);
    case OP_IN:
        return in_list(e, &a);
    case OP_PREFIX:
        return texts && str_starts(a.text, b.text);
    case OP_SUFFIX:
        return texts && str_ends(a.text, b.text);
    case OP_MATCHES:
        return texts && expr_glob(b.text, a.text);
    case OP_CONTAINS:
        return contains(&a, &b);
    default:
        return ordered(e->op, &a, &b);
    }
}

/* A chain of `or` hangs to the left, at most EXPR_NODES_MAX deep. */
bool expr_holds(const struct expr *e, const struct expr_facts *facts)
{
    switch (e->op) {
    case OP_OR:
        return expr_holds(e->left, facts) || expr_holds(e->right, facts);
    case OP_AND:
        return expr_holds(e->left, facts) && expr_holds(e->right, facts);
    case OP_NOT:
        return !expr_holds(e->left, facts);
    case OP_CONST:
        return e->truth;
    default:
        return compare(e, facts);
    }
}
