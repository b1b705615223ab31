/* Writing JSON, piece by piece into a buffer.
 *
 *     struct json_writer w = JSON_WRITER(&buf);
 *     json_write_object_begin(&w);
 *     json_write_key(&w, "id");
 *     json_write_str(&w, id);
 *     json_write_object_end(&w);
 *     if (json_write_end(&w) < 0) ...
 *
 * Commas and colons are the writer's business. Text is escaped as RFC 8785 has it; invalid UTF-8 is
 * replaced by U+FFFD, so the output is valid whatever came in. Doubles are written with the
 * shortest digits; those that JSON can't say (NaN, infinite) as null. Calls out of order are our
 * own mistake (BUG). Nothing needs to be checked on the way: json_write_end() says whether all of
 * it fitted.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_JSON_WRITE_H
#define DORMOUSE_BASE_JSON_WRITE_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

#define JSON_WRITER_DEPTH 160

struct json_writer {
    struct buf *out;
    uint8_t depth;
    bool after_key;
    /* Per level: 'o' or 'a', and whether it has a member already. */
    char kind[JSON_WRITER_DEPTH];
    bool some[JSON_WRITER_DEPTH];
};

#define JSON_WRITER(buf) ((struct json_writer){ .out = (buf) })

void json_write_object_begin(struct json_writer *w);
void json_write_object_end(struct json_writer *w);
void json_write_array_begin(struct json_writer *w);
void json_write_array_end(struct json_writer *w);
void json_write_key(struct json_writer *w, const char *key);
void json_write_key_str(struct json_writer *w, struct str key);
void json_write_str(struct json_writer *w, struct str text);
void json_write_text(struct json_writer *w, const char *text); /* NULL: null */
void json_write_i64(struct json_writer *w, int64_t value);
void json_write_u64(struct json_writer *w, uint64_t value);
void json_write_double(struct json_writer *w, double value);
void json_write_bool(struct json_writer *w, bool value);
void json_write_null(struct json_writer *w);
/* A whole value; numbers that were parsed keep their text. */
void json_write_value(struct json_writer *w, struct json_object *value);
/* Text that is known to be one JSON value. */
void json_write_raw(struct json_writer *w, struct str text);
/* 0, or -1 when the buffer was full. */
int json_write_end(struct json_writer *w);

/* The text in double quotes, escaped. */
void json_quote(struct buf *out, struct str text);

#endif
