/* JSON: strict reading, typed access, field tables and JSON Pointer over json-c's DOM.
 *
 * A value is json-c's struct json_object *, reference counted; JSON null is the NULL pointer.
 * Writing is in json_write.h, the canonical form in json_canonical.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_JSON_H
#define DORMOUSE_BASE_JSON_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

static inline void json_auto_put(struct json_object **owned)
{
    json_object_put(*owned);
}
/* AUTO_JSON doc = NULL; drops the reference when doc leaves scope. */
#define AUTO_JSON __attribute__((cleanup(json_auto_put))) struct json_object *

/* ---- reading ---- */

enum json_parse_flags {
    /* Integers beyond 64 bits become doubles that remember their digits (json_number.h reads
     * them exactly) instead of being refused. For schemas and what is checked against them. */
    JSON_BIG_INTEGERS = 1,
};

/* Reads exactly one RFC 8259 value (and white space) from text. Refused, with ERR_BAD_REQUEST and
 * "LINE:COLUMN: what is wrong": anything outside the RFC (comments, NaN, trailing commas or text, a
 * byte order mark), duplicate keys, NUL in a key, lone surrogates, invalid UTF-8, nesting deeper
 * than LIMIT_JSON_DEPTH, integers outside -2^63 .. 2^64-1, numbers that overflow a double; with
 * ERR_TOO_LARGE: text beyond LIMIT_JSON_BYTES. A number with fraction or exponent becomes the
 * nearest double and keeps its text. The caller owns *ret_value, which is NULL for `null`. */
int json_parse(struct str text, struct json_object **ret_value, struct err *err);
int json_parse_flags(struct str text, unsigned flags, struct json_object **ret_value,
                     struct err *err);

/* ---- looking ---- */

/* "object", "array", "string", "integer", "number", "boolean", "null". */
const char *json_type_name(const struct json_object *value);
/* View of a string value, valid as long as the value. STR_NONE when it is none. */
struct str json_str(const struct json_object *value);
/* The member, or NULL when absent, null, or when object is none. */
struct json_object *json_find(const struct json_object *object, const char *key);
/* Text of a member; STR_NONE when there is none. */
struct str json_member(const struct json_object *object, const char *key);
/* Elements of an array; of anything else, NULL too, none: json-c aborts there. */
size_t json_length(const struct json_object *value);
/* Same value by JSON Schema's rules: order of members is irrelevant, 1 equals 1.0. */
bool json_equal(const struct json_object *a, const struct json_object *b);
/* Equal values have equal hashes. Seeded per process. */
uint64_t json_hash(const struct json_object *value);

/* Each finds a member of the given type. 1: there, *ret_ set; 0: absent (or null), *ret_
 * untouched; -1: another type, err (ERR_SCHEMA_VIOLATION) names the key and what was expected.
 * A number such as 3.0 is an integer. Strings are views into the value. */
int json_get_str(const struct json_object *object, const char *key, struct str *ret_value,
                 struct err *err);
int json_get_i64(const struct json_object *object, const char *key, int64_t *ret_value,
                 struct err *err);
int json_get_double(const struct json_object *object, const char *key, double *ret_value,
                    struct err *err);
int json_get_bool(const struct json_object *object, const char *key, bool *ret_value,
                  struct err *err);
int json_get_object(const struct json_object *object, const char *key,
                    struct json_object **ret_value, struct err *err);
int json_get_array(const struct json_object *object, const char *key,
                   struct json_object **ret_value, struct err *err);

/* ---- field tables ---- */

enum json_kind {
    JSON_KIND_NONE = 0,
    JSON_STR,    /* struct str, a view into the document */
    JSON_I64,    /* int64_t */
    JSON_U32,    /* uint32_t */
    JSON_DOUBLE, /* double */
    JSON_BOOL,   /* bool */
    JSON_OBJECT, /* struct json_object *, borrowed */
    JSON_ARRAY,  /* struct json_object *, borrowed */
    JSON_ANY,    /* struct json_object *, borrowed; null is as absent */
    JSON_STRUCT, /* a struct read by the table `nested` */
};

struct json_field {
    const char *name; /* NULL ends a table */
    size_t offset;
    const struct json_field *nested; /* for JSON_STRUCT */
    enum json_kind kind;
    bool required;
};

#define JSON_FIELD(type, member, name_, kind_, ...)                                                \
    {                                                                                              \
        .name = (name_), .kind = (kind_), .offset = offsetof(type, member), __VA_ARGS__            \
    }

enum json_read_flags {
    JSON_REFUSE_UNKNOWN = 1, /* keys that are not in the table */
};

/* Fills *record from object by the table. Members that are absent keep what record held, so set
 * defaults first. On failure (ERR_SCHEMA_VIOLATION) err names the JSON Pointer and what is
 * expected there; record may then be partly filled. */
int json_read(const struct json_object *object, const struct json_field *fields, unsigned flags,
              void *record, struct err *err);

/* ---- JSON Pointer, RFC 6901 ---- */

#define JSON_POINTER_MAX 4096

/* Follows pointer ("" is the whole, "/a~1b/0"). ERR_BAD_REQUEST when it is malformed,
 * ERR_NOT_FOUND naming the part that is absent. *ret_value is borrowed, NULL when null. */
int json_pointer_find(struct json_object *value, struct str pointer, struct json_object **ret_value,
                      struct err *err);
/* Splits off the first reference token, unescaped into out. 1: done, 0: pointer is exhausted,
 * -1: malformed (no leading '/', bad '~') or longer than size - 1. */
int json_pointer_next(struct str *rest, char *out, size_t size, struct str *ret_token);
/* *value becomes its member or item named by token; -1 when there is none. */
int json_pointer_step(struct json_object **value, struct str token);
/* Appends "/token", escaped. */
void json_pointer_add(struct buf *out, struct str token);

#endif
