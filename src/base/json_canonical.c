/* RFC 8785.
 *
 * Keys are sorted by UTF-16 code units, which differs from the order of their UTF-8 bytes only
 * where a character above U+FFFF (surrogates, D800..DFFF) meets one of U+E000..U+FFFF.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json_canonical.h"

#include <json-c/linkhash.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_number.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/utf8.h"

struct canon {
    struct buf *out;
    unsigned depth;
    struct err *err;
};

static int add_value(struct canon *c, struct json_object *value);

/* Where the bytes first differ: lead bytes EE and EF begin U+E000..U+FFFF, F0..F4 what lies above.
 * In UTF-16 the latter come first. The bytes before are equal, so both stand at the same place of
 * their sequences. */
static int utf16_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;

    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a.p[i], y = (unsigned char)b.p[i];

        if (x == y)
            continue;
        if (x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0))
            return x >= 0xf0 ? -1 : 1;
        return x < y ? -1 : 1;
    }
    return (a.n > b.n) - (a.n < b.n);
}

struct member {
    struct str key;
    struct json_object *value;
};

static int member_cmp(const void *a, const void *b)
{
    return utf16_cmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static int add_string(struct canon *c, struct str text)
{
    size_t good = utf8_valid_prefix(text);

    if (good < text.n)
        return err_set(c->err, ERR_BAD_REQUEST,
                       "canonical JSON: a string is not UTF-8 (byte 0x%02x)",
                       (unsigned char)text.p[good]);
    json_quote(c->out, text);
    return 0;
}

static int add_members(struct canon *c, const struct member *members, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_add_char(c->out, ',');
        if (add_string(c, members[i].key) < 0)
            return -1;
        buf_add_char(c->out, ':');
        if (add_value(c, members[i].value) < 0)
            return -1;
    }
    return 0;
}

static int add_object(struct canon *c, struct json_object *object)
{
    size_t n = 0;
    struct member *members = NEW_N(struct member, (size_t)json_object_object_length(object) + 1);
    struct lh_entry *entry;
    int r;

    lh_foreach(json_object_get_object(object), entry) members[n++] =
        (struct member){ str_from(lh_entry_k(entry)), lh_entry_v(entry) };
    qsort(members, n, sizeof(*members), member_cmp);
    buf_add_char(c->out, '{');
    r = add_members(c, members, n);
    buf_add_char(c->out, '}');
    free(members);
    return r;
}

static int add_array(struct canon *c, struct json_object *array)
{
    buf_add_char(c->out, '[');
    for (size_t i = 0; i < json_length(array); i++) {
        if (i > 0)
            buf_add_char(c->out, ',');
        if (add_value(c, json_object_array_get_idx(array, i)) < 0)
            return -1;
    }
    buf_add_char(c->out, ']');
    return 0;
}

static int add_nested(struct canon *c, struct json_object *value)
{
    int r;

    if (c->depth == LIMIT_JSON_DEPTH)
        return err_set(c->err, ERR_BAD_REQUEST, "canonical JSON: nested deeper than %d levels",
                       LIMIT_JSON_DEPTH);
    c->depth++;
    r = json_object_get_type(value) == json_type_object ? add_object(c, value)
                                                        : add_array(c, value);
    c->depth--;
    return r;
}

/* RFC 8785 knows doubles only and prints their shortest digits. An integer that this would change
 * is refused, or the digests of different integers would be the same. */
static int add_number(struct canon *c, struct json_object *value)
{
    double d = json_number_double(value);
    char text[JSON_NUMBER_MAX], plain[JSON_NUMBER_MAX];
    const char *digits = json_number_text(value, plain);
    size_t n;

    if (!isfinite(d))
        return err_set(c->err, ERR_BAD_REQUEST, "canonical JSON: a number is not finite");
    n = json_number_format(d, text);
    if (fabs(d) >= 0x1p53 && !strpbrk(digits, ".eE") && strcmp(digits, text) != 0)
        return err_set(
            c->err, ERR_BAD_REQUEST,
            "canonical JSON: the integer %.40s does not survive as a double; send it as a "
            "string",
            digits);
    buf_add(c->out, text, n);
    return 0;
}

static int add_value(struct canon *c, struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_object:
    case json_type_array:
        return add_nested(c, value);
    case json_type_string:
        return add_string(c, json_str(value));
    case json_type_int:
    case json_type_double:
        return add_number(c, value);
    case json_type_boolean:
        buf_add_text(c->out, json_object_get_boolean(value) ? "true" : "false");
        return 0;
    case json_type_null:
        break;
    }
    buf_add_text(c->out, "null");
    return 0;
}

int json_canonical(struct json_object *value, struct buf *out, struct err *err)
{
    struct canon c = { .out = out, .err = err };

    if (add_value(&c, value) < 0)
        return -1;
    if (out->full)
        return err_set(err, ERR_TOO_LARGE, "canonical JSON of more than %zu bytes", out->max);
    return 0;
}
