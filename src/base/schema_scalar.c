/* Keywords about one value alone: type, enum, const, numbers, sizes, strings, format.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json.h"
#include "base/json_number.h"
#include "base/schema_int.h"
#include "base/utf8.h"

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

static int type_compile(struct schema_compiler *c, struct json_object *value, const void **ret_data)
{
    bool list = json_object_get_type(value) == json_type_array;
    size_t n = list ? json_length(value) : 1;
    struct type_data *data = ARENA_NEW(&c->schema->arena, struct type_data);

    for (size_t i = 0; i < n; i++)
        if (add_type(data, json_str(list ? json_object_array_get_idx(value, i) : value)) < 0)
            n = 0;
    if (n == 0)
        return schema_refuse(c, NULL,
                             "must be null, boolean, object, array, string, number or integer, or "
                             "a list of these");
    *ret_data = data;
    return 1;
}

static bool type_check(struct schema_run *run, const struct schema_use *use,
                       const struct schema_value *v)
{
    const struct type_data *data = use->data;

    if ((schema_type_bit(v->json) & data->bits) ||
        ((data->bits & SCHEMA_INTEGER) && json_number_is_integer(v->json)))
        return true;
    return schema_fail(run, "type", v->path, "must be %s, found %s", data->text,
                       json_type_name(v->json));
}

/* ---- enum, const ---- */

static int enum_compile(struct schema_compiler *c, struct json_object *value, const void **ret_data)
{
    if (json_object_get_type(value) != json_type_array)
        return schema_refuse(c, NULL, "must be an array");
    *ret_data = value;
    return 1;
}

static bool fail_enum(struct schema_run *run, struct json_object *values,
                      const struct schema_path *path)
{
    size_t n = json_length(values);
    AUTO_BUF text = BUF_INIT(400);
    char shown[80];

    if (n == 0)
        return schema_fail(run, "enum", path, "nothing is allowed here");
    for (size_t i = 0; run->report && i < n && i < SHOWN_VALUES; i++) {
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
                       const struct schema_value *v)
{
    struct json_object *values = (struct json_object *)use->data;
    size_t n = json_length(values);

    run->work += n / 8;
    for (size_t i = 0; i < n; i++)
        if (json_equal(json_object_array_get_idx(values, i), v->json))
            return true;
    return fail_enum(run, values, v->path);
}

/* The value may be null, so the data is the schema. */
static int const_compile(struct schema_compiler *c, struct json_object *value,
                         const void **ret_data)
{
    (void)value;
    *ret_data = c->object;
    return 1;
}

static bool const_check(struct schema_run *run, const struct schema_use *use,
                        const struct schema_value *v)
{
    struct json_object *value = json_find(use->data, "const");
    char shown[120];

    if (json_equal(value, v->json))
        return true;
    return schema_fail(run, "const", v->path, "must be %s",
                       schema_show(value, shown, sizeof(shown)));
}

/* ---- numbers ---- */

static int number_compile(struct schema_compiler *c, struct json_object *value,
                          const void **ret_data)
{
    if (!json_is_number(value))
        return schema_refuse(c, NULL, "must be a number");
    *ret_data = value;
    return 1;
}

static int multiple_of_compile(struct schema_compiler *c, struct json_object *value,
                               const void **ret_data)
{
    AUTO_JSON zero = json_object_new_int(0);

    if (json_is_number(value) && json_number_cmp(value, zero) <= 0)
        return schema_refuse(c, NULL, "must be greater than 0");
    return number_compile(c, value, ret_data);
}

static bool fail_number(struct schema_run *run, const struct schema_use *use,
                        const struct schema_path *path, const char *what)
{
    char shown[64];

    return schema_fail(run, use->keyword->name, path, "must be %s %s", what,
                       schema_show((struct json_object *)use->data, shown, sizeof(shown)));
}

static bool maximum_check(struct schema_run *run, const struct schema_use *use,
                          const struct schema_value *v)
{
    return json_number_cmp(v->json, use->data) <= 0 || fail_number(run, use, v->path, "at most");
}

static bool minimum_check(struct schema_run *run, const struct schema_use *use,
                          const struct schema_value *v)
{
    return json_number_cmp(v->json, use->data) >= 0 || fail_number(run, use, v->path, "at least");
}

static bool exclusive_maximum_check(struct schema_run *run, const struct schema_use *use,
                                    const struct schema_value *v)
{
    return json_number_cmp(v->json, use->data) < 0 || fail_number(run, use, v->path, "less than");
}

static bool exclusive_minimum_check(struct schema_run *run, const struct schema_use *use,
                                    const struct schema_value *v)
{
    return json_number_cmp(v->json, use->data) > 0 ||
           fail_number(run, use, v->path, "greater than");
}

static bool multiple_of_check(struct schema_run *run, const struct schema_use *use,
                              const struct schema_value *v)
{
    return json_number_is_multiple(v->json, use->data) ||
           fail_number(run, use, v->path, "a multiple of");
}

/* ---- minLength, maxItems and so on ---- */

/* Characters, items or properties. */
static int64_t size_of(struct json_object *value, const char **ret_what)
{
    switch (json_object_get_type(value)) {
    case json_type_object:
        *ret_what = "properties";
        return json_object_object_length(value);
    case json_type_array:
        *ret_what = "items";
        return (int64_t)json_length(value);
    default:
        *ret_what = "characters";
        return (int64_t)utf8_count(json_str(value));
    }
}

static bool at_most_check(struct schema_run *run, const struct schema_use *use,
                          const struct schema_value *v)
{
    const char *what;
    int64_t n = size_of(v->json, &what), limit = *(const int64_t *)use->data;

    return n <= limit ||
           schema_fail(run, use->keyword->name, v->path, "must have at most %lld %s, found %lld",
                       (long long)limit, what, (long long)n);
}

static bool at_least_check(struct schema_run *run, const struct schema_use *use,
                           const struct schema_value *v)
{
    const char *what;
    int64_t n = size_of(v->json, &what), limit = *(const int64_t *)use->data;

    return n >= limit ||
           schema_fail(run, use->keyword->name, v->path, "must have at least %lld %s, found %lld",
                       (long long)limit, what, (long long)n);
}

/* ---- strings ---- */

struct pattern_data {
    const struct regex *regex;
    struct str source;
};

static int pattern_compile(struct schema_compiler *c, struct json_object *value,
                           const void **ret_data)
{
    struct pattern_data *data;

    if (json_object_get_type(value) != json_type_string)
        return schema_refuse(c, NULL, "must be a regular expression in a string");
    data = ARENA_NEW(&c->schema->arena, struct pattern_data);
    data->source = json_str(value);
    data->regex = schema_compile_regex(c, data->source, "pattern");
    *ret_data = data;
    return data->regex ? 1 : -1;
}

static bool pattern_check(struct schema_run *run, const struct schema_use *use,
                          const struct schema_value *v)
{
    const struct pattern_data *data = use->data;
    struct err why = ERR_INIT;
    int r = regex_match(data->regex, json_str(v->json), &why);

    if (r < 0)
        return schema_abort(run, why.code, err_message(&why, 0));
    return r > 0 || schema_fail(run, "pattern", v->path, "must match the pattern %.*s",
                                (int)(data->source.n < 200 ? data->source.n : 200), data->source.p);
}

static int format_compile(struct schema_compiler *c, struct json_object *value,
                          const void **ret_data)
{
    if (json_object_get_type(value) != json_type_string)
        return schema_refuse(c, NULL, "must be a string");
    if (!(c->flags & SCHEMA_ASSERT_FORMAT) && !(c->unit->vocabularies & SCHEMA_FORMAT_ASSERTION))
        return 0;
    *ret_data = schema_format_find(json_str(value));
    return *ret_data != NULL;
}

static bool format_check(struct schema_run *run, const struct schema_use *use,
                         const struct schema_value *v)
{
    const struct schema_format *format = use->data;

    return format->check(json_str(v->json)) ||
           schema_fail(run, "format", v->path, "must be %s", format->what);
}

#define VALUE  SCHEMA_VALIDATION
#define FORMAT (SCHEMA_FORMAT_ANNOTATION | SCHEMA_FORMAT_ASSERTION)

const struct schema_keyword schema_scalar_keywords[] = {
    { "type", VALUE, SCHEMA_ANY, type_compile, type_check },
    { "enum", VALUE, SCHEMA_ANY, enum_compile, enum_check },
    { "const", VALUE, SCHEMA_ANY, const_compile, const_check, 6 },
    { "maximum", VALUE, SCHEMA_NUMBER, number_compile, maximum_check },
    { "minimum", VALUE, SCHEMA_NUMBER, number_compile, minimum_check },
    { "exclusiveMaximum", VALUE, SCHEMA_NUMBER, number_compile, exclusive_maximum_check },
    { "exclusiveMinimum", VALUE, SCHEMA_NUMBER, number_compile, exclusive_minimum_check },
    { "multipleOf", VALUE, SCHEMA_NUMBER, multiple_of_compile, multiple_of_check },
    { "maxLength", VALUE, SCHEMA_STRING, schema_keyword_count, at_most_check },
    { "minLength", VALUE, SCHEMA_STRING, schema_keyword_count, at_least_check },
    { "maxItems", VALUE, SCHEMA_ARRAY, schema_keyword_count, at_most_check },
    { "minItems", VALUE, SCHEMA_ARRAY, schema_keyword_count, at_least_check },
    { "maxProperties", VALUE, SCHEMA_OBJECT, schema_keyword_count, at_most_check },
    { "minProperties", VALUE, SCHEMA_OBJECT, schema_keyword_count, at_least_check },
    { "pattern", VALUE, SCHEMA_STRING, pattern_compile, pattern_check },
    { "format", FORMAT, SCHEMA_STRING, format_compile, format_check },
    { NULL },
};
