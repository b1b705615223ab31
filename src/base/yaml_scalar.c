/* The core schema of YAML 1.2 (chapter 10.3.2): what a plain scalar means.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/yaml_int.h"

#define NUMBER_MAX 400 /* bytes; a longer number is refused */

static bool one_of(struct str text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(text, words[i]))
            return true;
    return false;
}

static bool is_null(struct str text)
{
    static const char *const words[] = { "", "~", "null", "Null", "NULL" };

    return one_of(text, words, ARRAY_LEN(words));
}

static bool is_bool(struct str text, bool *ret_value)
{
    static const char *const yes[] = { "true", "True", "TRUE" };
    static const char *const no[] = { "false", "False", "FALSE" };

    *ret_value = one_of(text, yes, ARRAY_LEN(yes));
    return *ret_value || one_of(text, no, ARRAY_LEN(no));
}

static struct str unsigned_part(struct str text)
{
    return text.n && (text.p[0] == '-' || text.p[0] == '+') ? str_skip(text, 1) : text;
}

static size_t digits(struct str s, size_t at)
{
    size_t n = 0;

    while (at + n < s.n && s.p[at + n] >= '0' && s.p[at + n] <= '9')
        n++;
    return n;
}

static bool is_decimal(struct str text)
{
    struct str s = unsigned_part(text);

    return s.n > 0 && digits(s, 0) == s.n;
}

/* 0o17 and 0x1F, without a sign. */
static int base_of(struct str text)
{
    int base = str_starts(text, STR("0o")) ? 8 : str_starts(text, STR("0x")) ? 16 : 0;

    for (size_t i = 2; i < text.n && base; i++) {
        char c = text.p[i];
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : 16;

        if (digit >= base)
            return 0;
    }
    return text.n > 2 ? base : 0;
}

static bool is_float(struct str text)
{
    struct str s = unsigned_part(text);
    size_t whole = digits(s, 0), at = whole, fraction = 0;

    if (at < s.n && s.p[at] == '.')
        fraction = digits(s, ++at), at += fraction;
    if (whole + fraction == 0)
        return false;
    if (at < s.n && (s.p[at] | 32) == 'e') {
        size_t exponent;

        at++;
        if (at < s.n && (s.p[at] == '-' || s.p[at] == '+'))
            at++;
        exponent = digits(s, at);
        if (exponent == 0)
            return false;
        at += exponent;
    }
    return at == s.n;
}

static bool is_not_finite(struct str text)
{
    static const char *const infinities[] = { ".inf", ".Inf", ".INF" };
    static const char *const nans[] = { ".nan", ".NaN", ".NAN" }; /* without a sign */

    return one_of(unsigned_part(text), infinities, ARRAY_LEN(infinities)) ||
           one_of(text, nans, ARRAY_LEN(nans));
}

static int integer(struct str text, int base, struct json_object **ret_value,
                   const char **ret_fault)
{
    char copy[NUMBER_MAX + 1] = "";
    struct str s = base == 10 ? text : str_skip(text, 2);
    unsigned long long magnitude;
    bool negative = s.n && s.p[0] == '-';

    *ret_fault = "an integer outside -2^63 .. 2^64-1";
    if (s.n > NUMBER_MAX)
        return -1;
    s = unsigned_part(s);
    memcpy(copy, s.p, s.n);
    errno = 0;
    magnitude = strtoull(copy, NULL, base);
    if (errno || (negative && magnitude > (unsigned long long)INT64_MAX + 1))
        return -1;
    if (negative)
        *ret_value = json_object_new_int64((int64_t)(0 - magnitude));
    else if (magnitude <= INT64_MAX)
        *ret_value = json_object_new_int64((int64_t)magnitude);
    else
        *ret_value = json_object_new_uint64(magnitude);
    return 0;
}

static int floating(struct str text, struct json_object **ret_value, const char **ret_fault)
{
    char copy[NUMBER_MAX + 1] = "";
    double value;

    *ret_fault = "a number that no double can hold";
    if (text.n > NUMBER_MAX)
        return -1;
    memcpy(copy, text.p, text.n);
    value = strtod(copy, NULL);
    if (!isfinite(value))
        return -1;
    *ret_value = json_object_new_double(value);
    return 0;
}

static struct json_object *string(struct str text)
{
    return json_object_new_string_len(text.n ? text.p : "", (int)text.n);
}

static int untagged(struct str text, struct json_object **ret_value, const char **ret_fault)
{
    bool flag;
    int base;

    if (is_null(text))
        *ret_value = NULL;
    else if (is_bool(text, &flag))
        *ret_value = json_object_new_boolean(flag);
    else if (is_decimal(text))
        return integer(text, 10, ret_value, ret_fault);
    else if ((base = base_of(text)) != 0)
        return integer(text, base, ret_value, ret_fault);
    else if (is_float(text))
        return floating(text, ret_value, ret_fault);
    else if (is_not_finite(text))
        return *ret_fault = "infinity and NaN are not allowed; put it in quotes if it is a text",
               -1;
    else
        *ret_value = string(text);
    return 0;
}

int yaml_scalar(struct str text, enum yaml_tag tag, struct json_object **ret_value,
                const char **ret_fault)
{
    static const struct {
        enum json_type type;
        const char *fault;
    } wanted[] = {
        [YAML_TAG_INT] = { json_type_int, "tagged !!int, but no integer" },
        [YAML_TAG_FLOAT] = { json_type_double, "tagged !!float, but no number" },
        [YAML_TAG_BOOL] = { json_type_boolean, "tagged !!bool, but neither true nor false" },
        [YAML_TAG_NULL] = { json_type_null, "tagged !!null, but not null" },
    };
    struct json_object *value;

    if (tag == YAML_TAG_STR) {
        *ret_value = string(text);
        return 0;
    }
    if (tag == YAML_TAG_FLOAT && is_decimal(text))
        return floating(text, ret_value, ret_fault);
    if (untagged(text, &value, ret_fault) < 0)
        return -1;
    if (tag != YAML_TAG_NONE && json_object_get_type(value) != wanted[tag].type) {
        json_object_put(value);
        *ret_fault = wanted[tag].fault;
        return -1;
    }
    *ret_value = value;
    return 0;
}
