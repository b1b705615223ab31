/* The tree of an expression, between its parser and its evaluation.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_EXPR_INT_H
#define DORMOUSE_BP_EXPR_INT_H

#include "bp/expr.h"

enum op {
    OP_NONE = 0,
    OP_OR,
    OP_AND,
    OP_NOT,
    OP_CONST,
    OP_EXISTS,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_IN,
    OP_PREFIX,
    OP_SUFFIX,
    OP_CONTAINS,
    OP_MATCHES,
};

enum kind { ABSENT = 0, TEXT, NUMBER, TRUTH, NOTHING, NODE };

/* A value in hand, or where to find it. */
struct value {
    enum kind kind;
    struct str text;
    double number;
    bool truth;
    struct json_object *node; /* array or object */
};

enum source { FROM_LITERAL = 0, FROM_TOOL, FROM_AGENT, FROM_MODE, FROM_ARGS };

struct step {
    char *name; /* NULL: by index */
    size_t index;
    struct step *next;
};

struct operand {
    enum source source;
    struct value literal;
    struct step *path;
};

struct expr {
    enum op op;
    bool truth; /* OP_CONST */
    const struct expr *left, *right;
    struct operand a, b;
    struct value *list; /* OP_IN */
    unsigned list_count;
};

#endif
