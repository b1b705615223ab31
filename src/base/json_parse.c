/* Strict parsing: tokens of json_scan.c into json-c values, one pass, recursion bounded by
 * LIMIT_JSON_DEPTH. A key is looked up in the object's own hash table before it is added (its hash
 * is seeded at random by json-c), so finding duplicates stays linear.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <json-c/linkhash.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_number.h"
#include "base/json_scan.h"
#include "base/limits.h"

#define ARRAY_FIRST 4

struct parser {
    struct json_scan scan;
    struct json_token token; /* the one to be looked at */
    unsigned flags;
    unsigned depth;
    struct err *err;
};

static int parse_value(struct parser *p, struct json_object **ret_value);

static int advance(struct parser *p)
{
    return json_scan_next(&p->scan, &p->token, p->err);
}

static int fail(struct parser *p, const char *what)
{
    return json_scan_fail(&p->scan, p->token.at, p->err, "%s", what);
}

static int parse_integer(struct parser *p, struct json_object **ret_value)
{
    struct str text = p->token.text;
    uint64_t u;
    int64_t i;

    if (str_to_i64(text, &i) == 0)
        *ret_value = json_object_new_int64(i);
    else if (str_to_u64(text, &u) == 0)
        *ret_value = json_object_new_uint64(u);
    else
        return -1;
    return 0;
}

static int parse_number(struct parser *p, struct json_object **ret_value)
{
    char text[LIMIT_JSON_NUMBER_BYTES + 1];
    double value;

    if (p->token.integer && parse_integer(p, ret_value) == 0)
        return 0;
    if (p->token.integer && !(p->flags & JSON_BIG_INTEGERS))
        return fail(p, "the integer is beyond 64 bits");
    memcpy(text, p->token.text.p, p->token.text.n);
    text[p->token.text.n] = '\0';
    value = json_number_read(text);
    if (!isfinite(value))
        return fail(p, "the number is beyond what a double can hold");
    *ret_value = json_object_new_double_s(value, text);
    return 0;
}

/* The key is owned by the object once it is added. */
static int parse_member(struct parser *p, struct json_object *object)
{
    struct lh_table *table = json_object_get_object(object);
    struct json_object *value = NULL;
    AUTO_TEXT key = NULL;
    unsigned long hash;

    if (p->token.kind != JSON_TOKEN_STRING)
        return fail(p, "expected a key in double quotes");
    if (p->token.text.n && memchr(p->token.text.p, '\0', p->token.text.n))
        return fail(p, "a key holds no NUL character");
    key = alloc_copy(p->token.text.p, p->token.text.n);
    hash = lh_get_hash(table, key);
    if (lh_table_lookup_entry_w_hash(table, key, hash))
        return json_scan_fail(&p->scan, p->token.at, p->err, "the key \"%.60s\" appears twice",
                              key);
    if (advance(p) < 0)
        return -1;
    if (p->token.kind != JSON_TOKEN_COLON)
        return fail(p, "expected ':' after the key");
    if (advance(p) < 0 || parse_value(p, &value) < 0)
        return -1;
    if (lh_table_insert_w_hash(table, key, value, hash, 0) != 0)
        BUG("no memory for an object");
    key = NULL;
    return 0;
}

static int parse_object(struct parser *p, struct json_object **ret_value)
{
    AUTO_JSON object = json_object_new_object();

    if (advance(p) < 0)
        return -1;
    if (p->token.kind == JSON_TOKEN_OBJECT_CLOSE) {
        *ret_value = TAKE(object);
        return 0;
    }
    for (;;) {
        if (parse_member(p, object) < 0 || advance(p) < 0)
            return -1;
        if (p->token.kind == JSON_TOKEN_OBJECT_CLOSE)
            break;
        if (p->token.kind != JSON_TOKEN_COMMA)
            return fail(p, "expected ',' or '}' after a member");
        if (advance(p) < 0)
            return -1;
    }
    *ret_value = TAKE(object);
    return 0;
}

static int parse_array(struct parser *p, struct json_object **ret_value)
{
    AUTO_JSON array = json_object_new_array_ext(ARRAY_FIRST);

    if (advance(p) < 0)
        return -1;
    if (p->token.kind == JSON_TOKEN_ARRAY_CLOSE) {
        *ret_value = TAKE(array);
        return 0;
    }
    for (;;) {
        struct json_object *item = NULL;

        if (parse_value(p, &item) < 0)
            return -1;
        json_object_array_add(array, item);
        if (advance(p) < 0)
            return -1;
        if (p->token.kind == JSON_TOKEN_ARRAY_CLOSE)
            break;
        if (p->token.kind != JSON_TOKEN_COMMA)
            return fail(p, "expected ',' or ']' after an item");
        if (advance(p) < 0)
            return -1;
    }
    *ret_value = TAKE(array);
    return 0;
}

static int parse_nested(struct parser *p, struct json_object **ret_value)
{
    int r;

    if (p->depth == LIMIT_JSON_DEPTH)
        return json_scan_fail(&p->scan, p->token.at, p->err, "nested deeper than %d levels",
                              LIMIT_JSON_DEPTH);
    p->depth++;
    r = p->token.kind == JSON_TOKEN_OBJECT_OPEN ? parse_object(p, ret_value)
                                                : parse_array(p, ret_value);
    p->depth--;
    return r;
}

/* Leaves the value's last token current. */
static int parse_value(struct parser *p, struct json_object **ret_value)
{
    switch (p->token.kind) {
    case JSON_TOKEN_OBJECT_OPEN:
    case JSON_TOKEN_ARRAY_OPEN:
        return parse_nested(p, ret_value);
    case JSON_TOKEN_STRING:
        *ret_value = json_object_new_string_len(p->token.text.p ? p->token.text.p : "",
                                                (int)p->token.text.n);
        return 0;
    case JSON_TOKEN_NUMBER:
        return parse_number(p, ret_value);
    case JSON_TOKEN_TRUE:
    case JSON_TOKEN_FALSE:
        *ret_value = json_object_new_boolean(p->token.kind == JSON_TOKEN_TRUE);
        return 0;
    case JSON_TOKEN_NULL:
        *ret_value = NULL;
        return 0;
    case JSON_TOKEN_END:
        return fail(p, "the text ends where a value is expected");
    default:
        return fail(p, "expected a value");
    }
}

static int parse_document(struct parser *p, struct json_object **ret_value)
{
    AUTO_JSON value = NULL;

    if (advance(p) < 0 || parse_value(p, &value) < 0 || advance(p) < 0)
        return -1;
    if (p->token.kind != JSON_TOKEN_END)
        return fail(p, "unexpected text after the value");
    *ret_value = TAKE(value);
    return 0;
}

int json_parse_flags(struct str text, unsigned flags, struct json_object **ret_value,
                     struct err *err)
{
    struct parser p = { .flags = flags, .err = err };
    int r;

    if (text.n > LIMIT_JSON_BYTES)
        return err_set(err, ERR_TOO_LARGE, "JSON text of %zu bytes; at most %u are allowed", text.n,
                       LIMIT_JSON_BYTES);
    json_scan_init(&p.scan, text);
    r = parse_document(&p, ret_value);
    json_scan_release(&p.scan);
    return r;
}

int json_parse(struct str text, struct json_object **ret_value, struct err *err)
{
    return json_parse_flags(text, 0, ret_value, err);
}
