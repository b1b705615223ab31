/* Members of a JSON object: a key and its value in one call.
 *
 *     json_write_object_begin(&w);
 *     json_put_str(&w, "id", id);
 *     json_put_some_time(&w, "endedAt", ended_at);
 *     json_write_object_end(&w);
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_JSON_PUT_H
#define DORMOUSE_BASE_JSON_PUT_H

#include "base/json_write.h"

void json_put_str(struct json_writer *w, const char *key, struct str text);
void json_put_text(struct json_writer *w, const char *key, const char *text); /* NULL: null */
void json_put_i64(struct json_writer *w, const char *key, int64_t value);
void json_put_u64(struct json_writer *w, const char *key, uint64_t value);
void json_put_double(struct json_writer *w, const char *key, double value);
void json_put_bool(struct json_writer *w, const char *key, bool value);
void json_put_null(struct json_writer *w, const char *key);
void json_put_value(struct json_writer *w, const char *key, struct json_object *value);
/* Text that is known to be one JSON value. */
void json_put_raw(struct json_writer *w, const char *key, struct str text);
/* Milliseconds since 1970, as RFC 3339. */
void json_put_time(struct json_writer *w, const char *key, int64_t ms);
/* The beginning of one; json_write_object_end() or json_write_array_end() ends it. */
void json_put_object(struct json_writer *w, const char *key);
void json_put_array(struct json_writer *w, const char *key);

/* The same, left out when there is nothing to say: empty, NULL or 0. */
void json_put_some_str(struct json_writer *w, const char *key, struct str text);
void json_put_some_text(struct json_writer *w, const char *key, const char *text);
void json_put_some_i64(struct json_writer *w, const char *key, int64_t value);
void json_put_some_time(struct json_writer *w, const char *key, int64_t ms);
/* Left out when NULL: an empty text was given, too. */
void json_put_given(struct json_writer *w, const char *key, const char *text);

#endif
