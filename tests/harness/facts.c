/* Facts as text.
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness/facts.h"

#include <json-c/json.h>

#include "base/json.h"

const char *facts_text(struct test *t, struct str details)
{
    AUTO_BUF out = BUF_INIT(1u << 20);
    AUTO_JSON value = NULL;
    struct json_object *facts;

    if (!details.n)
        return "";
    ASSERT_OK(json_parse(details, &value, &t->err));
    facts = json_find(value, "facts");
    for (size_t i = 0; i < json_length(facts); i++) {
        struct json_object *one = json_object_array_get_idx(facts, i);

        buf_printf(&out, "%.*s: %.*s%s\n", STR_ARG(json_str(json_find(one, "name"))),
                   STR_ARG(json_str(json_find(one, "value"))),
                   json_find(one, "warn") ? " (!)" : "");
    }
    return arena_text(&t->arena, buf_text(&out));
}
