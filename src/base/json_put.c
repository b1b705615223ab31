/* SPDX-License-Identifier: MIT */
#include "base/json_put.h"

#include "base/timefmt.h"

void json_put_str(struct json_writer *w, const char *key, struct str text)
{
    json_write_key(w, key);
    json_write_str(w, text);
}

void json_put_text(struct json_writer *w, const char *key, const char *text)
{
    json_write_key(w, key);
    json_write_text(w, text);
}

void json_put_i64(struct json_writer *w, const char *key, int64_t value)
{
    json_write_key(w, key);
    json_write_i64(w, value);
}

void json_put_u64(struct json_writer *w, const char *key, uint64_t value)
{
    json_write_key(w, key);
    json_write_u64(w, value);
}

void json_put_double(struct json_writer *w, const char *key, double value)
{
    json_write_key(w, key);
    json_write_double(w, value);
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
    json_write_key(w, key);
    json_write_bool(w, value);
}

void json_put_null(struct json_writer *w, const char *key)
{
    json_write_key(w, key);
    json_write_null(w);
}

void json_put_value(struct json_writer *w, const char *key, struct json_object *value)
{
    json_write_key(w, key);
    json_write_value(w, value);
}

void json_put_raw(struct json_writer *w, const char *key, struct str text)
{
    json_write_key(w, key);
    json_write_raw(w, text);
}

void json_put_time(struct json_writer *w, const char *key, int64_t ms)
{
    char text[TIMEFMT_SIZE];

    timefmt_rfc3339(ms, text);
    json_put_text(w, key, text);
}

void json_put_object(struct json_writer *w, const char *key)
{
    json_write_key(w, key);
    json_write_object_begin(w);
}

void json_put_array(struct json_writer *w, const char *key)
{
    json_write_key(w, key);
    json_write_array_begin(w);
}

/* ---- where there may be nothing ---- */

void json_put_some_str(struct json_writer *w, const char *key, struct str text)
{
    if (text.n)
        json_put_str(w, key, text);
}

void json_put_some_text(struct json_writer *w, const char *key, const char *text)
{
    json_put_some_str(w, key, str_from(text));
}

void json_put_some_i64(struct json_writer *w, const char *key, int64_t value)
{
    if (value)
        json_put_i64(w, key, value);
}

void json_put_some_time(struct json_writer *w, const char *key, int64_t ms)
{
    if (ms)
        json_put_time(w, key, ms);
}

void json_put_given(struct json_writer *w, const char *key, const char *text)
{
    if (text)
        json_put_text(w, key, text);
}
