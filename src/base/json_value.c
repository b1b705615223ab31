/* Looking at values: types, equality, typed members.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>

#include "base/json.h"
#include "base/json_number.h"
#include "base/map.h"

const char *json_type_name(const struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_object:
        return "object";
    case json_type_array:
        return "array";
    case json_type_string:
        return "string";
    case json_type_int:
        return "integer";
    case json_type_double:
        return json_number_is_integer(value) ? "integer" : "number";
    case json_type_boolean:
        return "boolean";
    case json_type_null:
        break;
    }
    return "null";
}

struct str json_str(const struct json_object *value)
{
    if (json_object_get_type(value) != json_type_string)
        return STR_NONE;
    return str_of(json_object_get_string((struct json_object *)value),
                  (size_t)json_object_get_string_len(value));
}

struct json_object *json_find(const struct json_object *object, const char *key)
{
    struct json_object *value = NULL;

    if (json_object_get_type(object) != json_type_object)
        return NULL;
    json_object_object_get_ex(object, key, &value);
    return value;
}

struct str json_member(const struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

size_t json_length(const struct json_object *value)
{
    return json_object_is_type(value, json_type_array) ? json_object_array_length(value) : 0;
}

static bool arrays_equal(const struct json_object *a, const struct json_object *b)
{
    size_t n = json_length(a);

    if (n != json_length(b))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!json_equal(json_object_array_get_idx(a, i), json_object_array_get_idx(b, i)))
            return false;
    return true;
}

static bool objects_equal(const struct json_object *a, const struct json_object *b)
{
    struct lh_entry *entry;

    if (json_object_object_length(a) != json_object_object_length(b))
        return false;
    lh_foreach(json_object_get_object(a), entry)
    {
        struct json_object *other;

        if (!json_object_object_get_ex(b, lh_entry_k(entry), &other) ||
            !json_equal(lh_entry_v(entry), other))
            return false;
    }
    return true;
}

bool json_equal(const struct json_object *a, const struct json_object *b)
{
    enum json_type type = json_object_get_type(a);

    if (json_is_number(a) && json_is_number(b))
        return json_number_cmp(a, b) == 0;
    if (type != json_object_get_type(b))
        return false;
    switch (type) {
    case json_type_object:
        return objects_equal(a, b);
    case json_type_array:
        return arrays_equal(a, b);
    case json_type_string:
        return str_eq(json_str(a), json_str(b));
    case json_type_boolean:
        return json_object_get_boolean(a) == json_object_get_boolean(b);
    default:
        return true;
    }
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static uint64_t hash_number(const struct json_object *value)
{
    double d = json_number_double(value);

    if (d == 0)
        d = 0; /* -0 and 0 are equal */
    return map_hash(str_of((const char *)&d, sizeof(d)));
}

static uint64_t hash_object(const struct json_object *object)
{
    struct lh_entry *entry;
    uint64_t sum = 1;

    /* Addition: the order of members is irrelevant. */
    lh_foreach(json_object_get_object(object), entry)
    {
        uint64_t key = map_hash(str_from(lh_entry_k(entry)));

        sum += mix(key ^ mix(json_hash(lh_entry_v(entry)) + 1));
    }
    return mix(sum);
}

uint64_t json_hash(const struct json_object *value)
{
    uint64_t hash = 2;

    switch (json_object_get_type(value)) {
    case json_type_object:
        return hash_object(value);
    case json_type_array:
        for (size_t i = 0; i < json_length(value); i++)
            hash = mix(hash + json_hash(json_object_array_get_idx(value, i)));
        return hash;
    case json_type_string:
        return map_hash(json_str(value));
    case json_type_int:
    case json_type_double:
        return hash_number(value);
    case json_type_boolean:
        return json_object_get_boolean(value) ? 3 : 4;
    case json_type_null:
        break;
    }
    return 5;
}

static int fail_type(const char *key, const char *expected, const struct json_object *value,
                     struct err *err)
{
    return err_set(err, ERR_SCHEMA_VIOLATION, "\"%s\": expected %s, found %s", key, expected,
                   json_type_name(value));
}

static int find_typed(const struct json_object *object, const char *key, enum json_type type,
                      const char *expected, struct json_object **ret_value, struct err *err)
{
    struct json_object *value = json_find(object, key);

    if (!value)
        return 0;
    if (json_object_get_type(value) != type)
        return fail_type(key, expected, value, err);
    *ret_value = value;
    return 1;
}

int json_get_str(const struct json_object *object, const char *key, struct str *ret_value,
                 struct err *err)
{
    struct json_object *value = NULL;
    int r = find_typed(object, key, json_type_string, "a string", &value, err);

    if (r > 0)
        *ret_value = json_str(value);
    return r;
}

int json_get_i64(const struct json_object *object, const char *key, int64_t *ret_value,
                 struct err *err)
{
    struct json_object *value = json_find(object, key);

    if (!value)
        return 0;
    if (!json_number_i64(value, ret_value))
        return fail_type(key, "an integer of 64 bits", value, err);
    return 1;
}

int json_get_double(const struct json_object *object, const char *key, double *ret_value,
                    struct err *err)
{
    struct json_object *value = json_find(object, key);

    if (!value)
        return 0;
    if (!json_is_number(value))
        return fail_type(key, "a number", value, err);
    *ret_value = json_number_double(value);
    return 1;
}

int json_get_bool(const struct json_object *object, const char *key, bool *ret_value,
                  struct err *err)
{
    struct json_object *value = NULL;
    int r = find_typed(object, key, json_type_boolean, "true or false", &value, err);

    if (r > 0)
        *ret_value = json_object_get_boolean(value);
    return r;
}

int json_get_object(const struct json_object *object, const char *key,
                    struct json_object **ret_value, struct err *err)
{
    return find_typed(object, key, json_type_object, "an object", ret_value, err);
}

int json_get_array(const struct json_object *object, const char *key,
                   struct json_object **ret_value, struct err *err)
{
    return find_typed(object, key, json_type_array, "an array", ret_value, err);
}
