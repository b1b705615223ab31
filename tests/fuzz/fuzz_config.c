/* Configuration text: YAML, schema, merging, the typed struct, and showing it. Parts are separated
 * by a line "%%": the file, the working directory's file, then one variable a part.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "config/config_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define SEPARATOR "\n%%\n"
#define PARTS_MAX 8

static struct str next_part(struct str *rest)
{
    ptrdiff_t end = str_find(*rest, STR(SEPARATOR));
    struct str part = *rest;

    if (end < 0) {
        *rest = STR_NONE;
        return part;
    }
    *rest = str_skip(*rest, (size_t)end + strlen(SEPARATOR));
    return str_take(part, (size_t)end);
}

static void touch(void *arg, const char *key, struct json_object *value, const char *origin)
{
    size_t *total = arg;

    *total += strlen(key) + strlen(origin) + (value ? strlen(json_object_get_string(value)) : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config) config = NULL;
    struct str rest = str_of((const char *)bytes, n);
    struct config_texts texts = { .file = next_part(&rest) };
    char *variables[PARTS_MAX + 1] = { NULL };
    struct config_sources sources = { "/data", "/work", variables };
    struct err err = ERR_INIT;
    size_t total = 0;

    if (rest.p)
        texts.work = next_part(&rest);
    for (size_t i = 0; i < PARTS_MAX && rest.p; i++) {
        struct str part = next_part(&rest);

        variables[i] = alloc_copy(part.p, part.n);
    }
    if (config_load_texts(&sources, &texts, &config, &problems, &err) == 0) {
        if (problems.n > 0)
            abort(); /* valid and wrong at once */
        config_each(config, touch, &total);
    } else if (problems.n == 0 || !problems.items[0].message[0]) {
        abort(); /* refused without a reason */
    }
    for (size_t i = 0; i < PARTS_MAX; i++)
        free(variables[i]);
    return 0;
}
