/* One pass over the bytes. A string without escapes is a view of the text; others are unescaped
 * into a buffer. Line and column are counted only when something is wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json_scan.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"

static int scan_number(struct json_scan *scan, struct json_token *token, struct err *err);
static int scan_string(struct json_scan *scan, struct json_token *token, struct err *err);

void json_scan_init(struct json_scan *scan, struct str text)
{
    *scan = (struct json_scan){
        .all = text,
        .p = text.p,
        .end = text.n ? text.p + text.n : text.p,
        .unescaped = BUF_INIT(LIMIT_JSON_BYTES),
    };
}

void json_scan_release(struct json_scan *scan)
{
    buf_release(&scan->unescaped);
}

int json_scan_fail(const struct json_scan *scan, const char *at, struct err *err, const char *fmt,
                   ...)
{
    size_t line = 1, column = 1;
    char message[256];
    va_list args;

    for (const char *p = scan->all.p; p < at; p++) {
        if (*p == '\n')
            line++, column = 1;
        else if (((unsigned char)*p & 0xc0) != 0x80)
            column++;
    }
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    return err_set(err, ERR_BAD_REQUEST, "%zu:%zu: %s", line, column, message);
}

static int fail_unexpected(const struct json_scan *scan, const char *at, struct err *err)
{
    unsigned char c = (unsigned char)*at;

    if (c == '/' || c == '#')
        return json_scan_fail(scan, at, err, "JSON has no comments");
    if (c == 0xef && scan->end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        return json_scan_fail(scan, at, err, "a byte order mark is not allowed");
    if (c == '\'')
        return json_scan_fail(scan, at, err, "strings stand in double quotes");
    if (c == 'N' || c == 'I' || c == '+')
        return json_scan_fail(scan, at, err, "not a JSON number (no NaN, Infinity or leading '+')");
    if (c > 0x20 && c < 0x7f)
        return json_scan_fail(scan, at, err, "unexpected character '%c'", c);
    return json_scan_fail(scan, at, err, "unexpected byte 0x%02x", c);
}

static int scan_word(struct json_scan *scan, struct json_token *token, const char *word,
                     enum json_token_kind kind, struct err *err)
{
    size_t n = strlen(word);

    if ((size_t)(scan->end - scan->p) < n || memcmp(scan->p, word, n) != 0)
        return json_scan_fail(scan, scan->p, err, "expected a value (did you mean %s?)", word);
    scan->p += n;
    token->kind = kind;
    return 0;
}

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

int json_scan_next(struct json_scan *scan, struct json_token *ret_token, struct err *err)
{
    while (scan->p < scan->end && is_space(*scan->p))
        scan->p++;
    *ret_token = (struct json_token){ .kind = JSON_TOKEN_END, .at = scan->p };
    if (scan->p == scan->end)
        return 0;
    switch (*scan->p) {
    case '"':
        return scan_string(scan, ret_token, err);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return scan_number(scan, ret_token, err);
    case 't':
        return scan_word(scan, ret_token, "true", JSON_TOKEN_TRUE, err);
    case 'f':
        return scan_word(scan, ret_token, "false", JSON_TOKEN_FALSE, err);
    case 'n':
        return scan_word(scan, ret_token, "null", JSON_TOKEN_NULL, err);
    case '{':
        ret_token->kind = JSON_TOKEN_OBJECT_OPEN;
        break;
    case '}':
        ret_token->kind = JSON_TOKEN_OBJECT_CLOSE;
        break;
    case '[':
        ret_token->kind = JSON_TOKEN_ARRAY_OPEN;
        break;
    case ']':
        ret_token->kind = JSON_TOKEN_ARRAY_CLOSE;
        break;
    case ':':
        ret_token->kind = JSON_TOKEN_COLON;
        break;
    case ',':
        ret_token->kind = JSON_TOKEN_COMMA;
        break;
    default:
        return fail_unexpected(scan, scan->p, err);
    }
    scan->p++;
    return 0;
}

static inline bool is_digit(const struct json_scan *scan)
{
    return scan->p < scan->end && *scan->p >= '0' && *scan->p <= '9';
}

static bool skip_digits(struct json_scan *scan)
{
    const char *start = scan->p;

    while (is_digit(scan))
        scan->p++;
    return scan->p > start;
}

static bool skip_one(struct json_scan *scan, const char *any)
{
    if (scan->p == scan->end || !*scan->p || !strchr(any, *scan->p))
        return false;
    scan->p++;
    return true;
}

static int scan_number(struct json_scan *scan, struct json_token *token, struct err *err)
{
    const char *start = scan->p;

    token->kind = JSON_TOKEN_NUMBER;
    token->integer = true;
    skip_one(scan, "-");
    if (skip_one(scan, "0")) {
        if (is_digit(scan))
            return json_scan_fail(scan, start, err, "a number has no leading zeros");
    } else if (!skip_digits(scan)) {
        return json_scan_fail(scan, scan->p, err, "expected a digit after '-'");
    }
    if (skip_one(scan, ".")) {
        token->integer = false;
        if (!skip_digits(scan))
            return json_scan_fail(scan, scan->p, err, "expected a digit after the decimal point");
    }
    if (skip_one(scan, "eE")) {
        token->integer = false;
        skip_one(scan, "+-");
        if (!skip_digits(scan))
            return json_scan_fail(scan, scan->p, err, "expected a digit in the exponent");
    }
    token->text = str_of(start, (size_t)(scan->p - start));
    if (token->text.n > LIMIT_JSON_NUMBER_BYTES)
        return json_scan_fail(scan, start, err, "a number has at most %d characters",
                              LIMIT_JSON_NUMBER_BYTES);
    return 0;
}

/* Four hexadecimal digits at p, or -1. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t value = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];

        if (c >= '0' && c <= '9')
            value = value << 4 | (c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value = value << 4 | ((c | 0x20) - 'a' + 10);
        else
            return -1;
    }
    return value;
}

static inline bool is_high(int32_t c)
{
    return c >= 0xd800 && c < 0xdc00;
}

static inline bool is_low(int32_t c)
{
    return c >= 0xdc00 && c < 0xe000;
}

/* scan->p is after "\u". */
static int scan_unicode_escape(struct json_scan *scan, struct err *err)
{
    const char *at = scan->p - 2;
    int32_t c = hex4(scan->p, scan->end), low;

    if (c < 0)
        return json_scan_fail(scan, at, err, "\\u needs four hexadecimal digits");
    scan->p += 4;
    if (is_low(c))
        return json_scan_fail(scan, at, err, "a lone surrogate (\\u%04x) is no character", c);
    if (is_high(c)) {
        if (scan->end - scan->p < 6 || scan->p[0] != '\\' || scan->p[1] != 'u' ||
            !is_low(low = hex4(scan->p + 2, scan->end)))
            return json_scan_fail(scan, at, err, "a lone surrogate (\\u%04x) is no character", c);
        scan->p += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    buf_add_utf8(&scan->unescaped, (uint32_t)c);
    return 0;
}

static int scan_escape(struct json_scan *scan, struct err *err)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *name;

    if (scan->end - scan->p < 2)
        return json_scan_fail(scan, scan->p, err, "the string has no end");
    scan->p += 2;
    if (scan->p[-1] == 'u')
        return scan_unicode_escape(scan, err);
    name = scan->p[-1] ? strchr(names, scan->p[-1]) : NULL;
    if (!name)
        return json_scan_fail(
            scan, scan->p - 2, err,
            "unknown escape; allowed are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    buf_add_char(&scan->unescaped, values[name - names]);
    return 0;
}

/* Moves past characters that stand for themselves; stops at a quote, a backslash or the end. */
static int skip_plain(struct json_scan *scan, struct err *err)
{
    while (scan->p < scan->end) {
        struct str rest = str_of(scan->p, (size_t)(scan->end - scan->p));
        unsigned char c = (unsigned char)*scan->p;
        uint32_t code;

        if (c == '"' || c == '\\')
            return 0;
        if (c < 0x20)
            return json_scan_fail(scan, scan->p, err,
                                  c == '\n' ? "the string has no end on its line"
                                            : "control character 0x%02x in a string: escape it",
                                  c);
        if (c < 0x80) {
            scan->p++;
            continue;
        }
        if (utf8_decode(&rest, &code) < 0)
            return json_scan_fail(scan, scan->p, err, "invalid UTF-8 (byte 0x%02x)", c);
        scan->p = rest.p;
    }
    return json_scan_fail(scan, scan->p, err, "the string has no end");
}

static int scan_string(struct json_scan *scan, struct json_token *token, struct err *err)
{
    const char *start = ++scan->p;

    token->kind = JSON_TOKEN_STRING;
    if (skip_plain(scan, err) < 0)
        return -1;
    if (*scan->p == '"') {
        token->text = str_of(start, (size_t)(scan->p++ - start));
        return 0;
    }
    buf_clear(&scan->unescaped);
    for (;;) {
        buf_add(&scan->unescaped, start, (size_t)(scan->p - start));
        if (*scan->p == '"')
            break;
        if (scan_escape(scan, err) < 0)
            return -1;
        start = scan->p;
        if (skip_plain(scan, err) < 0)
            return -1;
    }
    scan->p++;
    token->text = buf_str(&scan->unescaped);
    return 0;
}
