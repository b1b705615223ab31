/* [SCHEMA, INSTANCE, REMOTE?]: compiling and validating ends, and says the same with and without a
 * report.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/json.h"
#include "base/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void validate(const struct schema *schema, struct json_object *instance)
{
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    AUTO_BUF text = BUF_INIT(1 << 20);
    struct err first = ERR_INIT, second = ERR_INIT;
    int r = schema_validate(schema, instance, &report, &first);

    BUG_IF(r != schema_validate(schema, instance, NULL, &second));
    BUG_IF(first.code != second.code);
    BUG_IF((first.code == ERR_SCHEMA_VIOLATION) != (report.n > 0));
    schema_report_text(&report, &text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(schema_registry) registry = NULL;
    AUTO(schema) schema = NULL;
    AUTO_JSON doc = NULL;
    struct json_object *remote;

    if (json_parse_flags(str_of((const char *)bytes, n), JSON_BIG_INTEGERS, &doc, NULL) < 0 ||
        json_object_get_type(doc) != json_type_array)
        return 0;
    registry = schema_registry_new();
    remote = json_object_array_get_idx(doc, 2);
    if (remote && schema_registry_add(registry, STR("http://x/r"), remote, NULL) < 0)
        return 0;
    if (schema_compile(registry, json_object_array_get_idx(doc, 0), STR("http://x/s"),
                       SCHEMA_ASSERT_FORMAT, &schema, NULL) < 0)
        return 0;
    schema_registry_free(registry);
    registry = NULL;
    validate(schema, json_object_array_get_idx(doc, 1));
    return 0;
}
