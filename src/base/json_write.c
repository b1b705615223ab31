/* SPDX-License-Identifier: MIT */
#include "base/json_write.h"

#include <json-c/linkhash.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_number.h"
#include "base/utf8.h"

/* A comma where one is due. */
static void before_value(struct json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->depth == 0) {
        BUG_IF(w->some[0]);
        w->some[0] = true;
        return;
    }
    BUG_IF(w->kind[w->depth] != 'a');
    if (w->some[w->depth])
        buf_add_char(w->out, ',');
    w->some[w->depth] = true;
}

static void begin(struct json_writer *w, char kind)
{
    before_value(w);
    BUG_IF(w->depth + 1 >= JSON_WRITER_DEPTH);
    w->depth++;
    w->kind[w->depth] = kind;
    w->some[w->depth] = false;
    buf_add_char(w->out, kind == 'o' ? '{' : '[');
}

static void end(struct json_writer *w, char kind)
{
    BUG_IF(w->depth == 0 || w->kind[w->depth] != kind || w->after_key);
    w->depth--;
    buf_add_char(w->out, kind == 'o' ? '}' : ']');
}

void json_write_object_begin(struct json_writer *w)
{
    begin(w, 'o');
}

void json_write_object_end(struct json_writer *w)
{
    end(w, 'o');
}

void json_write_array_begin(struct json_writer *w)
{
    begin(w, 'a');
}

void json_write_array_end(struct json_writer *w)
{
    end(w, 'a');
}

void json_write_key_str(struct json_writer *w, struct str key)
{
    BUG_IF(w->depth == 0 || w->kind[w->depth] != 'o' || w->after_key);
    if (w->some[w->depth])
        buf_add_char(w->out, ',');
    w->some[w->depth] = true;
    json_quote(w->out, key);
    buf_add_char(w->out, ':');
    w->after_key = true;
}

void json_write_key(struct json_writer *w, const char *key)
{
    json_write_key_str(w, str_from(key));
}

static void add_escape(struct buf *out, unsigned char c)
{
    static const char *const named[128] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\b'] = "\\b", ['\f'] = "\\f",
        ['\n'] = "\\n", ['\r'] = "\\r",  ['\t'] = "\\t",
    };

    if (named[c])
        buf_add_text(out, named[c]);
    else
        buf_printf(out, "\\u%04x", c);
}

/* ASCII that stands for itself: most of every text. */
static bool is_plain(char c)
{
    return c >= 0x20 && c != '"' && c != '\\' && (unsigned char)c < 0x80;
}

#define EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (unsigned char)(c))

/* The same of eight at once: no highest bit set, and none borrowed by taking 0x20 away, nor by
 * taking 1 from what is zero where there is a quote or a backslash. */
static bool eight_plain(const char *p)
{
    uint64_t all, quote, backslash;

    memcpy(&all, p, sizeof(all));
    quote = (all ^ EACH_BYTE('"')) - EACH_BYTE(1);
    backslash = (all ^ EACH_BYTE('\\')) - EACH_BYTE(1);
    return !((all | (all - EACH_BYTE(0x20)) | quote | backslash) & EACH_BYTE(0x80));
}

static size_t plain_bytes(struct str text)
{
    size_t n = 0;

    while (text.n - n >= 8 && eight_plain(text.p + n))
        n += 8;
    while (n < text.n && is_plain(text.p[n]))
        n++;
    return n;
}

static void quote_plain(struct buf *out, struct str text)
{
    char *p = buf_reserve(out, text.n + 2);

    if (!p)
        return;
    *p++ = '"';
    memcpy(p, text.p, text.n);
    p[text.n] = '"';
    buf_grown(out, text.n + 2);
}

void json_quote(struct buf *out, struct str text)
{
    size_t n = plain_bytes(text);
    const char *plain = text.p;
    struct str rest = str_skip(text, n);

    if (n > 0 && n == text.n) {
        quote_plain(out, text);
        return;
    }
    buf_add_char(out, '"');
    while (rest.n > 0) {
        const char *at = rest.p;
        uint32_t code = 0;
        bool valid = utf8_decode(&rest, &code) == 0;

        if (!valid || code < 0x20 || code == '"' || code == '\\') {
            buf_add(out, plain, (size_t)(at - plain));
            if (valid)
                add_escape(out, (unsigned char)code);
            else
                buf_add_utf8(out, UTF8_REPLACEMENT);
            plain = rest.p;
        }
        rest = str_skip(rest, plain_bytes(rest));
    }
    buf_add(out, plain, (size_t)(rest.p - plain));
    buf_add_char(out, '"');
}

void json_write_str(struct json_writer *w, struct str text)
{
    before_value(w);
    json_quote(w->out, text);
}

void json_write_raw(struct json_writer *w, struct str text)
{
    before_value(w);
    buf_add_str(w->out, text);
}

void json_write_null(struct json_writer *w)
{
    json_write_raw(w, STR("null"));
}

void json_write_text(struct json_writer *w, const char *text)
{
    if (text)
        json_write_str(w, str_from(text));
    else
        json_write_null(w);
}

void json_write_i64(struct json_writer *w, int64_t value)
{
    before_value(w);
    buf_add_i64(w->out, value);
}

void json_write_u64(struct json_writer *w, uint64_t value)
{
    before_value(w);
    buf_add_u64(w->out, value);
}

void json_write_double(struct json_writer *w, double value)
{
    char text[JSON_NUMBER_MAX + 2];
    size_t n;

    if (!isfinite(value)) {
        json_write_null(w);
        return;
    }
    n = json_number_format(value, text);
    /* Bare digits would be an integer beyond 64 bits, which json_parse() refuses. */
    if ((value <= -0x1p63 || value >= 0x1p64) && !memchr(text, 'e', n)) {
        text[n++] = '.';
        text[n++] = '0';
    }
    json_write_raw(w, str_of(text, n));
}

void json_write_bool(struct json_writer *w, bool value)
{
    json_write_raw(w, value ? STR("true") : STR("false"));
}

static void write_object(struct json_writer *w, struct json_object *object)
{
    struct lh_entry *entry;

    json_write_object_begin(w);
    lh_foreach(json_object_get_object(object), entry)
    {
        json_write_key(w, lh_entry_k(entry));
        json_write_value(w, lh_entry_v(entry));
    }
    json_write_object_end(w);
}

static void write_number(struct json_writer *w, struct json_object *value)
{
    bool made = json_object_get_type(value) == json_type_double;
    double d = json_number_double(value);
    char text[JSON_NUMBER_MAX];
    const char *shown = isfinite(d) ? json_number_text(value, text) : text;

    if (made && shown == text)
        json_write_double(w, d);
    else
        json_write_raw(w, str_from(shown));
}

void json_write_value(struct json_writer *w, struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_object:
        write_object(w, value);
        break;
    case json_type_array:
        json_write_array_begin(w);
        for (size_t i = 0; i < json_length(value); i++)
            json_write_value(w, json_object_array_get_idx(value, i));
        json_write_array_end(w);
        break;
    case json_type_string:
        json_write_str(w, json_str(value));
        break;
    case json_type_int:
    case json_type_double:
        write_number(w, value);
        break;
    case json_type_boolean:
        json_write_bool(w, json_object_get_boolean(value));
        break;
    case json_type_null:
        json_write_null(w);
        break;
    }
}

int json_write_end(struct json_writer *w)
{
    BUG_IF(w->depth != 0 || w->after_key);
    return w->out->full ? -1 : 0;
}
