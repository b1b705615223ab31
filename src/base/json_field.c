/* Field tables: a JSON object into a C struct.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>
#include <stdio.h>

#include "base/json.h"
#include "base/json_number.h"

#define POINTER_MAX 400

struct reader {
    unsigned flags;
    struct err *err;
};

/* Where we are, from the inside out; NULL is the whole. */
struct place {
    const struct place *up;
    const char *name;
};

static int read_object(struct reader *r, const struct json_object *object,
                       const struct json_field *fields, const struct place *at, char *record);

static void add_place(struct buf *out, const struct place *at)
{
    if (!at)
        return;
    add_place(out, at->up);
    json_pointer_add(out, str_from(at->name));
}

static int fail(struct reader *r, const struct place *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* "/a/b: what"; a pointer that is too long is cut. */
static int fail(struct reader *r, const struct place *at, const char *fmt, ...)
{
    AUTO_BUF pointer = BUF_INIT(POINTER_MAX);
    char what[400];
    va_list args;

    add_place(&pointer, at);
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    return err_set(r->err, ERR_SCHEMA_VIOLATION, "%s: %s", at ? buf_text(&pointer) : "/", what);
}

static int fail_expected(struct reader *r, const struct place *at, const char *expected,
                         const struct json_object *value)
{
    return fail(r, at, "expected %s, found %s", expected, json_type_name(value));
}

/* An integer, but not one of these. */
static int fail_range(struct reader *r, const struct place *at, const char *range,
                      const struct json_object *value)
{
    char text[JSON_NUMBER_MAX];

    return fail(r, at, "expected %s, found %.60s", range, json_number_text(value, text));
}

static int read_number(struct reader *r, const struct json_object *value, enum json_kind kind,
                       const struct place *at, char *to)
{
    int64_t i;
    double d;

    if (kind == JSON_DOUBLE) {
        if (!json_is_number(value))
            return fail_expected(r, at, "a number", value);
        d = json_number_double(value);
        memcpy(to, &d, sizeof(d));
        return 0;
    }
    if (!json_number_is_integer(value))
        return fail_expected(r, at, "an integer", value);
    if (!json_number_i64(value, &i) || (kind == JSON_U32 && (i < 0 || i > UINT32_MAX)))
        return fail_range(r, at,
                          kind == JSON_U32 ? "0 to 4294967295"
                                           : "-9223372036854775808 to 9223372036854775807",
                          value);
    if (kind == JSON_U32) {
        uint32_t u = (uint32_t)i;

        memcpy(to, &u, sizeof(u));
    } else {
        memcpy(to, &i, sizeof(i));
    }
    return 0;
}

static int read_value(struct reader *r, struct json_object *value, const struct json_field *field,
                      const struct place *at, char *to)
{
    enum json_type type = json_object_get_type(value);
    struct str text;

    switch (field->kind) {
    case JSON_STR:
        if (type != json_type_string)
            return fail_expected(r, at, "a string", value);
        text = json_str(value);
        memcpy(to, &text, sizeof(text));
        return 0;
    case JSON_I64:
    case JSON_U32:
    case JSON_DOUBLE:
        return read_number(r, value, field->kind, at, to);
    case JSON_BOOL:
        if (type != json_type_boolean)
            return fail_expected(r, at, "true or false", value);
        *(bool *)to = json_object_get_boolean(value);
        return 0;
    case JSON_OBJECT:
        if (type != json_type_object)
            return fail_expected(r, at, "an object", value);
        *(struct json_object **)to = value;
        return 0;
    case JSON_ARRAY:
        if (type != json_type_array)
            return fail_expected(r, at, "an array", value);
        *(struct json_object **)to = value;
        return 0;
    case JSON_ANY:
        *(struct json_object **)to = value;
        return 0;
    case JSON_STRUCT:
        return read_object(r, value, field->nested, at, to);
    case JSON_KIND_NONE:
        break;
    }
    return err_set(r->err, ERR_INTERNAL, "field \"%s\" has no kind", field->name);
}

static int refuse_unknown(struct reader *r, const struct json_object *object,
                          const struct json_field *fields, const struct place *at)
{
    struct lh_entry *entry;

    lh_foreach(json_object_get_object(object), entry)
    {
        const struct json_field *field = fields;
        AUTO_BUF known = BUF_INIT(255);

        while (field->name && strcmp(field->name, lh_entry_k(entry)) != 0)
            field++;
        if (field->name)
            continue;
        for (field = fields; field->name; field++)
            buf_printf(&known, "%s%s", known.n ? ", " : "", field->name);
        return fail(r, &(struct place){ at, lh_entry_k(entry) }, "unknown key; allowed are %s",
                    buf_text(&known));
    }
    return 0;
}

static int read_object(struct reader *r, const struct json_object *object,
                       const struct json_field *fields, const struct place *at, char *record)
{
    if (json_object_get_type(object) != json_type_object)
        return fail_expected(r, at, "an object", object);
    if ((r->flags & JSON_REFUSE_UNKNOWN) && refuse_unknown(r, object, fields, at) < 0)
        return -1;
    for (; fields->name; fields++) {
        struct json_object *value = json_find(object, fields->name);
        struct place field_at = { at, fields->name };

        if (!value && fields->required)
            return fail(r, &field_at, "required but absent");
        if (value && read_value(r, value, fields, &field_at, record + fields->offset) < 0)
            return -1;
    }
    return 0;
}

int json_read(const struct json_object *object, const struct json_field *fields, unsigned flags,
              void *record, struct err *err)
{
    struct reader r = { .flags = flags, .err = err };

    return read_object(&r, object, fields, NULL, record);
}
