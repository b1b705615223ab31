/* Keywords about one value: type, enum, const, numbers, strings, format.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json.h"
#include "base/json_number.h"
#include "base/schema_int.h"

#define SHOWN_VALUES 8

/* ---- type ---- */

static const struct {
    const char *name, *article;
    unsigned bits;
} types[] = {
    { "null", "null", SCHEMA_NULL },
    { "boolean", "true or false", SCHEMA_BOOLEAN },
    { "object", "an object", SCHEMA_OBJECT },
    { "array", "an array", SCHEMA_ARRAY },
    { "string", "a string", SCHEMA_STRING },
    { "number", "a number", SCHEMA_NUMBER | SCHEMA_INTEGER },
    { "integer", "an integer", SCHEMA_INTEGER },
};

struct type_data {
    unsigned bits;
    char text[120]; /* "a string or null" */
};

static int add_type(struct type_data *data, struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        size_t n = strlen(data->text);

        if (!str_is(name, types[i].name))
            continue;
        data->bits |= types[i].bits;
        snprintf(data->text + n, sizeof(data->text) - n, "%s%s", n ? " or " : "", types[i].article);
        return 0;
    }
    return -1;
}

static int type_compile(struct schema_compiler *c, struct json_object *schema,
                        const void **ret_data)
{
    static const char allowed[] =
        "must be null, boolean, object, array, string, number or integer, or "
        "a list of these";
    struct type_data *data;
    struct json_object *value;

    if (!schema_member(schema, "type", &value))
        return 0;
    data = ARENA_NEW(&c->schema->arena, struct type_data);
    if (json_object_get_type(value) != json_type_array) {
        if (add_type(data, json_str(value)) < 0)
            return schema_refuse(c, "type", "%s", allowed);
    } else {
        if (json_object_array_length(value) == 0)
            return schema_refuse(c, "type", "%s", allowed);
        for (size_t i = 0; i < json_object_array_length(value); i++)
            if (add_type(data, json_str(json_object_array_get_idx(value, i))) < 0)
                return schema_refuse(c, "type", "%s", allowed);
    }
    *ret_data = data;
    return 1;
}

static unsigned type_bits(struct json_object *instance)
{
    switch (json_object_get_type(instance)) {
    case json_type_object:
        return SCHEMA_OBJECT;
    case json_type_array:
        return SCHEMA_ARRAY;
    case json_type_string:
        return SCHEMA_STRING;
    case json_type_int:
        return SCHEMA_NUMBER | SCHEMA_INTEGER;
    case json_type_double:
        return SCHEMA_NUMBER | (json_number_is_integer(instance) ? SCHEMA_INTEGER : 0);
    case json_type_boolean:
        return SCHEMA_BOOLEAN;
    case json_type_null:
        break;
    }
    return SCHEMA_NULL;
}

static bool type_check(struct schema_run *run, const struct schema_use *use,
                       struct json_object *instance, const struct schema_path *path,
                       struct schema_marks *marks)
{
    const struct type_data *data = use->data;

    (void)marks;
    if (type_bits(instance) & data->bits)
        return true;
    return schema_fail(run, "type", path, "must be %s, found %s", data->text,
                       json_type_name(instance));
}

/* ---- enum, const ---- */

static int enum_compile(struct schema_compiler *c, struct json_object *schema,
                        const void **ret_data)
{
    struct json_object *value;

    if (!schema_member(schema, "enum", &value))
        return 0;
    if (json_object_get_type(value) != json_type_array)
        return schema_refuse(c, "enum", "must be an array");
    *ret_data = value;
    return 1;
}

static bool fail_enum(struct schema_run *run, struct json_object *values,
                      const struct schema_path *path)
{
    size_t n = json_object_array_length(values);
    AUTO_BUF text = BUF_INIT(400);
    char shown[80];

    for (size_t i = 0; i < n && i < SHOWN_VALUES; i++) {
        struct json_object *value = json_object_array_get_idx(values, i);

        buf_add_text(&text, i ? ", " : "");
        if (json_str(value).n > 0 && json_str(value).n < sizeof(shown))
            buf_add_str(&text, json_str(value));
        else
            buf_add_text(&text, schema_show(value, shown, sizeof(shown)));
    }
    if (n > SHOWN_VALUES)
        buf_printf(&text, " and %zu more", n - SHOWN_VALUES);
    return schema_fail(run, "enum", path, "must be one of %s", buf_text(&text));
}

static bool enum_check(struct schema_run *run, const struct schema_use *use,
                       struct json_object *instance, const struct schema_path *path,
                       struct schema_marks *marks)
{
    struct json_object *values = (struct json_object *)use->data;
    size_t n = json_object_array_length(values);

    (void)marks;
    run->work += n / 8;
    for (size_t i = 0; i < n; i++)
        if (json_equal(json_object_array_get_idx(values, i), instance))
            return true;
    return run->report ? fail_enum(run, values, path) : schema_fail(run, "enum", path, "x");
}

/* The value may be null, so the data is the schema. */
static int const_compile(struct schema_compiler *c, struct json_object *schema,
                         const void **ret_data)
{
    (void)c;
    *ret_data = schema;
    return json_object_object_get_ex(schema, "const", NULL);
}

static bool const_check(struct schema_run *run, const struct schema_use *use,
                        struct json_object *instance, const struct schema_path *path,
                        struct schema_marks *marks)
{
    struct json_object *value = json_find(use->data, "const");
    char shown[120];

    (void)marks;
    if (json_equal(value, instance))
        return true;
    return schema_fail(run, "const", path, "must be %s", schema_show(value, shown, sizeof(shown)));
}

/* ---- numbers ---- */

static int number_compile(struct schema_compiler *c, struct json_object *schema, const char *key,
                          const void **ret_data)
{
    struct json_object *value;

    if (!schema_member(schema, key, &value))
        return 0;
    if (!json_is_number(value))
        return schema_refuse(c, key, "must be a number");
    *ret_data = value;
    return 1;
}

static int maximum_compile(struct schema_compiler *c, struct json_object *schema,
                           const void **ret_data)
{
    return number_compile(c, schema, "maximum", ret_data);
}

static int minimum_compile(struct schema_compiler *c, struct json_object *schema,
                           const void **ret_data)
{
    return number_compile(c, schema, "minimum", ret_data);
}

static int exclusive_maximum_compile(struct schema_compiler *c, struct json_object *schema,
                                     const void **ret_data)
{
    return number_compile(c, schema, "exclusiveMaximum", ret_data);
}

static int exclusive_minimum_compile(struct schema_compiler *c, struct json_object *schema,
                                     const void **ret_data)
{
    return number_compile(c, schema, "exclusiveMinimum", ret_data);
}

static int multiple_of_compile(struct schema_compiler *c, struct json_object *schema,
                               const void **ret_data)
{
    int r = number_compile(c, schema, "multipleOf", ret_data);

    if (r > 0 && json_number_double(*ret_data) <= 0)
        return schema_refuse(c, "multipleOf", "must be greater than 0");
    return r;
}

static bool fail_number(struct schema_run *run, const struct schema_use *use,
                        const struct schema_path *path, const char *what)
{
    char shown[64];

    return schema_fail(run, use->keyword->name, path, "must be %s %s", what,
                       schema_show((struct json_object *)use->data, shown, sizeof(shown)));
}

static bool maximum_check(struct schema_run *run, const struct schema_use *use,
                          struct json_object *instance, const struct schema_path *path,
                          struct schema_marks *marks)
{
    (void)marks;
    return json_number_cmp(instance, use->data) <= 0 || fail_number(run, use, path, "at most");
}

static bool minimum_check(struct schema_run *run, const struct schema_use *use,
                          struct json_object *instance, const struct schema_path *path,
                          struct schema_marks *marks)
{
    (void)marks;
    return json_number_cmp(instance, use->data) >= 0 || fail_number(run, use, path, "at least");
}

static bool exclusive_maximum_check(struct schema_run *run, const struct schema_use *use,
                                    struct json_object *instance, const struct schema_path *path,
                                    struct schema_marks *marks)
{
    (void)marks;
    return json_number_cmp(instance, use->data) < 0 || fail_number(run, use, path, "less than");
}

static bool exclusive_minimum_check(struct schema_run *run, const struct schema_use *use,
                                    struct json_object *instance, const struct schema_path *path,
                                    struct schema_marks *marks)
{
    (void)marks;
    return json_number_cmp(instance, use->data) > 0 || fail_number(run, use, path, "greater than");
}

static bool multiple_of_check(struct schema_run *run, const struct schema_use *use,
                              struct json_object *instance, const struct schema_path *path,
                              struct schema_marks *marks)
{
    (void)marks;
    return json_number_is_multiple(instance, use->data) ||
           fail_number(run, use, path, "a multiple of");
}

/* ---- strings ---- */

static int count_compile(struct schema_compiler *c, struct json_object *schema, const char *key,
                         const void **ret_data)
{
    int64_t count, *data;
    int r = schema_compile_count(c, schema, key, &count);

    if (r <= 0)
        return r;
    data = ARENA_NEW(&c->schema->arena, int64_t);
    *data = count;
    *ret_data = data;
    return 1;
}

static int max_length_compile(struct schema_compiler *c, struct json_object *schema,
                              const void **ret_data)
{
    return count_compile(c, schema, "maxLength", ret_data);
}

static int min_length_compile(struct schema_compiler *c, struct json_object *schema,
                              const void **ret_data)
{
    return count_compile(c, schema, "minLength", ret_data);
}

/* In code points. */
static int64_t text_length(struct json_object *instance)
{
    struct str text = json_str(instance);
    int64_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    return n;
}

static bool max_length_check(struct schema_run *run, const struct schema_use *use,
                             struct json_object *instance, const struct schema_path *path,
                             struct schema_marks *marks)
{
    int64_t n = text_length(instance), limit = *(const int64_t *)use->data;

    (void)marks;
    return n <= limit ||
           schema_fail(run, "maxLength", path, "must have at most %lld characters, found %lld",
                       (long long)limit, (long long)n);
}

static bool min_length_check(struct schema_run *run, const struct schema_use *use,
                             struct json_object *instance, const struct schema_path *path,
                             struct schema_marks *marks)
{
    int64_t n = text_length(instance), limit = *(const int64_t *)use->data;

    (void)marks;
    return n >= limit ||
           schema_fail(run, "minLength", path, "must have at least %lld characters, found %lld",
                       (long long)limit, (long long)n);
}

struct pattern_data {
    const struct regex *regex;
    struct str source;
};

static int pattern_compile(struct schema_compiler *c, struct json_object *schema,
                           const void **ret_data)
{
    struct pattern_data *data;
    struct json_object *value;

    if (!schema_member(schema, "pattern", &value))
        return 0;
    if (json_object_get_type(value) != json_type_string)
        return schema_refuse(c, "pattern", "must be a regular expression in a string");
    data = ARENA_NEW(&c->schema->arena, struct pattern_data);
    data->source = json_str(value);
    data->regex = schema_compile_regex(c, data->source, "pattern");
    *ret_data = data;
    return data->regex ? 1 : -1;
}

static bool pattern_check(struct schema_run *run, const struct schema_use *use,
                          struct json_object *instance, const struct schema_path *path,
                          struct schema_marks *marks)
{
    const struct pattern_data *data = use->data;
    struct err why = ERR_INIT;
    int r = regex_match(data->regex, json_str(instance), &why);

    (void)marks;
    if (r < 0)
        return schema_abort(run, why.code, err_message(&why, 0));
    return r > 0 || schema_fail(run, "pattern", path, "must match the pattern %.*s",
                                (int)(data->source.n < 200 ? data->source.n : 200), data->source.p);
}

static int format_compile(struct schema_compiler *c, struct json_object *schema,
                          const void **ret_data)
{
    struct json_object *value;

    if (!schema_member(schema, "format", &value))
        return 0;
    if (json_object_get_type(value) != json_type_string)
        return schema_refuse(c, "format", "must be a string");
    if (!(c->flags & SCHEMA_ASSERT_FORMAT) && !(c->unit->vocabularies & SCHEMA_FORMAT_ASSERTION))
        return 0;
    *ret_data = schema_format_find(json_str(value));
    return *ret_data != NULL;
}

static bool format_check(struct schema_run *run, const struct schema_use *use,
                         struct json_object *instance, const struct schema_path *path,
                         struct schema_marks *marks)
{
    const struct schema_format *format = use->data;

    (void)marks;
    return format->check(json_str(instance)) ||
           schema_fail(run, "format", path, "must be %s", format->what);
}

#define VALUE  SCHEMA_VALIDATION
#define FORMAT (SCHEMA_FORMAT_ANNOTATION | SCHEMA_FORMAT_ASSERTION)

const struct schema_keyword schema_scalar_keywords[] = {
    { "type", VALUE, SCHEMA_ANY, type_compile, type_check },
    { "enum", VALUE, SCHEMA_ANY, enum_compile, enum_check },
    { "const", VALUE, SCHEMA_ANY, const_compile, const_check },
    { "maximum", VALUE, SCHEMA_NUMBER, maximum_compile, maximum_check },
    { "minimum", VALUE, SCHEMA_NUMBER, minimum_compile, minimum_check },
    { "exclusiveMaximum", VALUE, SCHEMA_NUMBER, exclusive_maximum_compile,
      exclusive_maximum_check },
    { "exclusiveMinimum", VALUE, SCHEMA_NUMBER, exclusive_minimum_compile,
      exclusive_minimum_check },
    { "multipleOf", VALUE, SCHEMA_NUMBER, multiple_of_compile, multiple_of_check },
    { "maxLength", VALUE, SCHEMA_STRING, max_length_compile, max_length_check },
    { "minLength", VALUE, SCHEMA_STRING, min_length_compile, min_length_check },
    { "pattern", VALUE, SCHEMA_STRING, pattern_compile, pattern_check },
    { "format", FORMAT, SCHEMA_STRING, format_compile, format_check },
    { NULL },
};
