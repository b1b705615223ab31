/* Any text: parsed within its bounds or refused with a message; places can be asked for.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_value(struct json_object *value, unsigned depth)
{
    BUG_IF(depth > 2 * LIMIT_JSON_DEPTH); /* an alias may add its own depth */
    if (json_object_is_type(value, json_type_string))
        BUG_IF(!utf8_valid(
            str_of(json_object_get_string(value), (size_t)json_object_get_string_len(value))));
    if (json_object_is_type(value, json_type_array))
        for (size_t i = 0; i < json_object_array_length(value); i++)
            check_value(json_object_array_get_idx(value, i), depth + 1);
    if (json_object_is_type(value, json_type_object)) {
        struct json_object_iter member;

        json_object_object_foreachC(value, member)
        {
            BUG_IF(!utf8_valid(str_from(member.key)));
            check_value(member.val, depth + 1);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_YAML yaml = YAML_INIT;
    struct err err = ERR_INIT;
    struct yaml_position at;

    if (yaml_parse(str_of((const char *)bytes, n), "fuzz", &yaml, &err) < 0) {
        BUG_IF(err.code != ERR_BAD_REQUEST && err.code != ERR_TOO_LARGE);
        return 0;
    }
    check_value(yaml.root, 0);
    yaml_where(&yaml, STR("/a/0/b"), &at);
    BUG_IF(yaml_where(&yaml, STR(""), &at) && (at.line == 0 || at.column == 0));
    return 0;
}
