/* Expressions of a policy: any text parses or is refused, and what parses has a value.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>

#include "bp/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct json_object *args;
    struct expr_facts facts = { STR("bash"), STR("coach"), STR("structured"), NULL };
    AUTO_ARENA arena = ARENA_INIT;
    struct err err = ERR_INIT;
    const struct expr *expr;

    if (!args)
        args = json_tokener_parse("{\"a\":\"text\",\"b\":[1,2,{\"c\":null}],\"d\":true,\"e\":1.5}");
    if (expr_parse(str_of((const char *)bytes, n), &arena, &expr, &err) < 0) {
        if (err.code == ERR_NONE)
            abort(); /* refused without a reason */
        return 0;
    }
    expr_holds(expr, &facts);
    facts.args = args;
    expr_holds(expr, &facts);
    return 0;
}
