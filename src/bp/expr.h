/* Expressions that classify a call: what policy files say after `classify:`.
 *
 *     tool == "bash" and args.command contains "rm -rf"
 *     tool in ["write_file", "edit"] and not args.path prefix "/tmp/"
 *     args.count > 10 or args.url matches "ftp:*"
 *
 * Values are those of the call (tool, agent, mode, and args with a path of names and [numbers]),
 * texts in single or double quotes, numbers, true, false and null. Comparisons are == != < <= > >=
 * in prefix suffix contains matches, and `PATH exists`; `and`, `or`, `not` and parentheses
 * combine them. There is no conversion: a value that is absent or of another type than the
 * comparison needs makes it false (and != true). `matches` is a glob over the whole text: * is any
 * run of bytes, ? one.
 *
 * Nothing can go wrong in evaluation: it always ends, allocates nothing and has a yes or a no.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_EXPR_H
#define DORMOUSE_BP_EXPR_H

#include <json-c/json.h>

#include "base/arena.h"
#include "base/err.h"

#define EXPR_BYTES_MAX 4096
#define EXPR_NODES_MAX 256
#define EXPR_DEPTH_MAX 32
#define EXPR_LIST_MAX  128

struct expr;

/* What an expression is asked about. */
struct expr_facts {
    struct str tool, agent, mode;
    struct json_object *args; /* may be NULL */
};

/* The expression lies in arena. Errors name the column and what could stand there. */
int expr_parse(struct str text, struct arena *arena, const struct expr **ret_expr, struct err *err);
bool expr_holds(const struct expr *expr, const struct expr_facts *facts);

/* The glob of `matches`. */
bool expr_glob(struct str pattern, struct str text);

#endif
