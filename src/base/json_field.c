/* Field tables: a JSON object into a C struct.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>
#include <stdio.h>

#include "base/json.h"
#include "base/json_number.h"

/* Where we are, for errors: the JSON Pointer of the object being read. */
struct reader {
    char at[512];
    size_t n;
    unsigned flags;
    struct err *err;
};

static int read_object(struct reader *r, const struct json_object *object,
                       const struct json_field *fields, char *record);

/* Appends "/name" with ~ and / escaped; a pointer that is too long is cut. */
static size_t enter(struct reader *r, const char *name)
{
    size_t before = r->n;

    if (r->n + 1 < sizeof(r->at))
        r->at[r->n++] = '/';
    for (const char *p = name; *p && r->n + 2 < sizeof(r->at); p++) {
        if (*p == '~' || *p == '/') {
            r->at[r->n++] = '~';
            r->at[r->n++] = *p == '~' ? '0' : '1';
        } else {
            r->at[r->n++] = *p;
        }
    }
    r->at[r->n] = '\0';
    return before;
}

static void leave(struct reader *r, size_t before)
{
    r->n = before;
    r->at[before] = '\0';
}

static int fail_expected(struct reader *r, const char *expected, const struct json_object *value)
{
    return err_set(r->err, ERR_SCHEMA_VIOLATION, "%s: expected %s, found %s", r->n ? r->at : "/",
                   expected, json_type_name(value));
}

static int read_number(struct reader *r, const struct json_object *value, enum json_kind kind,
                       char *to)
{
    int64_t i;
    double d;

    if (kind == JSON_DOUBLE) {
        if (!json_is_number(value))
            return fail_expected(r, "a number", value);
        d = json_number_double(value);
        memcpy(to, &d, sizeof(d));
        return 0;
    }
    if (!json_number_i64(value, &i))
        return fail_expected(r, "an integer", value);
    if (kind == JSON_U32) {
        uint32_t u = (uint32_t)i;

        if (i < 0 || i > UINT32_MAX)
            return err_set(r->err, ERR_SCHEMA_VIOLATION, "%s: expected 0 to 4294967295, found %lld",
                           r->at, (long long)i);
        memcpy(to, &u, sizeof(u));
    } else {
        memcpy(to, &i, sizeof(i));
    }
    return 0;
}

static int read_value(struct reader *r, struct json_object *value, const struct json_field *field,
                      char *to)
{
    enum json_type type = json_object_get_type(value);

    switch (field->kind) {
    case JSON_STR:
        if (type != json_type_string)
            return fail_expected(r, "a string", value);
        memcpy(to, &(struct str){ json_str(value).p, json_str(value).n }, sizeof(struct str));
        return 0;
    case JSON_I64:
    case JSON_U32:
    case JSON_DOUBLE:
        return read_number(r, value, field->kind, to);
    case JSON_BOOL:
        if (type != json_type_boolean)
            return fail_expected(r, "true or false", value);
        *(bool *)to = json_object_get_boolean(value);
        return 0;
    case JSON_OBJECT:
        if (type != json_type_object)
            return fail_expected(r, "an object", value);
        memcpy(to, &value, sizeof(value));
        return 0;
    case JSON_ARRAY:
        if (type != json_type_array)
            return fail_expected(r, "an array", value);
        memcpy(to, &value, sizeof(value));
        return 0;
    case JSON_ANY:
        memcpy(to, &value, sizeof(value));
        return 0;
    case JSON_STRUCT:
        return read_object(r, value, field->nested, to);
    case JSON_KIND_NONE:
        break;
    }
    return err_set(r->err, ERR_INTERNAL, "field \"%s\" has no kind", field->name);
}

static void list_names(const struct json_field *fields, char *out, size_t size)
{
    size_t n = 0;

    out[0] = '\0';
    for (; fields->name && n + 1 < size; fields++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", fields->name);
}

static int refuse_unknown(struct reader *r, const struct json_object *object,
                          const struct json_field *fields)
{
    struct lh_entry *entry;

    lh_foreach(json_object_get_object(object), entry)
    {
        const struct json_field *field = fields;
        char known[256];

        while (field->name && strcmp(field->name, lh_entry_k(entry)) != 0)
            field++;
        if (field->name)
            continue;
        list_names(fields, known, sizeof(known));
        enter(r, lh_entry_k(entry));
        return err_set(r->err, ERR_SCHEMA_VIOLATION, "%s: unknown key; allowed are %s", r->at,
                       known);
    }
    return 0;
}

static int read_object(struct reader *r, const struct json_object *object,
                       const struct json_field *fields, char *record)
{
    if (json_object_get_type(object) != json_type_object)
        return fail_expected(r, "an object", object);
    if ((r->flags & JSON_REFUSE_UNKNOWN) && refuse_unknown(r, object, fields) < 0)
        return -1;
    for (; fields->name; fields++) {
        struct json_object *value = json_find(object, fields->name);
        size_t before = enter(r, fields->name);

        if (!value && fields->required)
            return err_set(r->err, ERR_SCHEMA_VIOLATION, "%s: required but absent", r->at);
        if (value && read_value(r, value, fields, record + fields->offset) < 0)
            return -1;
        leave(r, before);
    }
    return 0;
}

int json_read(const struct json_object *object, const struct json_field *fields, unsigned flags,
              void *record, struct err *err)
{
    struct reader r = { .flags = flags, .err = err };

    return read_object(&r, object, fields, record);
}
