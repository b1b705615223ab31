/* The strict JSON scanner: RFC 8259 text into tokens, and nothing that is not RFC 8259.
 *
 * It refuses what lenient parsers let through and what then means different things to different
 * readers: comments, NaN, lone surrogates, invalid UTF-8, control characters in strings, leading
 * zeros, a byte order mark. Linear in the text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_JSON_SCAN_H
#define DORMOUSE_BASE_JSON_SCAN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum json_token_kind {
    JSON_TOKEN_END = 0,
    JSON_TOKEN_OBJECT_OPEN,
    JSON_TOKEN_OBJECT_CLOSE,
    JSON_TOKEN_ARRAY_OPEN,
    JSON_TOKEN_ARRAY_CLOSE,
    JSON_TOKEN_COLON,
    JSON_TOKEN_COMMA,
    JSON_TOKEN_STRING,
    JSON_TOKEN_NUMBER,
    JSON_TOKEN_TRUE,
    JSON_TOKEN_FALSE,
    JSON_TOKEN_NULL,
};

struct json_token {
    enum json_token_kind kind;
    struct str text; /* STRING: unescaped; NUMBER: as written. Valid until the next token. */
    bool integer;    /* NUMBER without fraction and exponent */
    const char *at;  /* where it begins */
};

struct json_scan {
    struct str all;
    const char *p, *end;
    struct buf unescaped;
};

/* Keeps a view of text. End with json_scan_release(). */
void json_scan_init(struct json_scan *scan, struct str text);
void json_scan_release(struct json_scan *scan);
/* The next token; JSON_TOKEN_END at the end of the text, again and again. */
int json_scan_next(struct json_scan *scan, struct json_token *ret_token, struct err *err);
/* "LINE:COLUMN: message" with ERR_BAD_REQUEST; both count from 1, columns in characters. */
int json_scan_fail(const struct json_scan *scan, const char *at, struct err *err, const char *fmt,
                   ...) __attribute__((format(printf, 4, 5)));

#endif
