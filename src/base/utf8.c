/* UTF-8 decoding and the table of characters that deceive.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"

#include "base/alloc.h"

/* Eight bytes at a time while they are ASCII. */
static size_t ascii_prefix(struct str s)
{
    size_t at = 0;
    uint64_t word;

    for (; at + sizeof(word) <= s.n; at += sizeof(word)) {
        memcpy(&word, s.p + at, sizeof(word));
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    while (at < s.n && (unsigned char)s.p[at] < 0x80)
        at++;
    return at;
}

/* What the first byte says: length, and the range of the second byte, which is where overlong
 * forms, surrogates and too large values show. */
struct lead {
    uint8_t bytes;
    uint8_t low, high;
};

static struct lead lead_of(unsigned char c)
{
    if (c >= 0xC2 && c <= 0xDF)
        return (struct lead){ 2, 0x80, 0xBF };
    if (c >= 0xE0 && c <= 0xEF)
        return (struct lead){ 3, c == 0xE0 ? 0xA0 : 0x80, c == 0xED ? 0x9F : 0xBF };
    if (c >= 0xF0 && c <= 0xF4)
        return (struct lead){ 4, c == 0xF0 ? 0x90 : 0x80, c == 0xF4 ? 0x8F : 0xBF };
    return (struct lead){ 0, 0, 0 };
}

/* Length of the well-formed sequence at the front, which is not ASCII, or minus the length of the
 * ill-formed part. */
static int sequence(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    struct lead lead = lead_of(p[0]);

    if (lead.bytes == 0 || s.n < 2 || p[1] < lead.low || p[1] > lead.high)
        return -1;
    for (int i = 2; i < lead.bytes; i++)
        if ((size_t)i >= s.n || (p[i] & 0xC0) != 0x80)
            return -i;
    return lead.bytes;
}

size_t utf8_valid_prefix(struct str s)
{
    size_t at = 0;

    for (;;) {
        struct str rest;
        int n;

        at += ascii_prefix(str_skip(s, at));
        rest = str_skip(s, at);
        if (rest.n == 0 || (n = sequence(rest)) < 0)
            return at;
        at += (size_t)n;
    }
}

bool utf8_valid(struct str s)
{
    return utf8_valid_prefix(s) == s.n;
}

int utf8_decode(struct str *rest, uint32_t *ret_code)
{
    static const uint8_t payload[] = { 0, 0, 0x1F, 0x0F, 0x07 };
    uint32_t code;
    int n;

    BUG_IF(rest->n == 0);
    if ((unsigned char)rest->p[0] < 0x80) {
        *ret_code = (unsigned char)rest->p[0];
        rest->p++;
        rest->n--;
        return 0;
    }
    n = sequence(*rest);
    if (n < 0) {
        *rest = str_skip(*rest, (size_t)-n);
        return -1;
    }
    code = (unsigned char)rest->p[0] & payload[n];
    for (int i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)rest->p[i] & 0x3F);
    *rest = str_skip(*rest, (size_t)n);
    *ret_code = code;
    return 0;
}

size_t utf8_encode(uint32_t code, char ret_bytes[UTF8_MAX_BYTES])
{
    if (code < 0x80) {
        ret_bytes[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        ret_bytes[0] = (char)(0xC0 | code >> 6);
        ret_bytes[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    if (code < 0x10000) {
        ret_bytes[0] = (char)(0xE0 | code >> 12);
        ret_bytes[1] = (char)(0x80 | (code >> 6 & 0x3F));
        ret_bytes[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    ret_bytes[0] = (char)(0xF0 | code >> 18);
    ret_bytes[1] = (char)(0x80 | (code >> 12 & 0x3F));
    ret_bytes[2] = (char)(0x80 | (code >> 6 & 0x3F));
    ret_bytes[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

int buf_add_utf8(struct buf *buf, uint32_t code)
{
    char bytes[UTF8_MAX_BYTES];
    size_t n = utf8_encode(code, bytes);

    if (n == 0)
        n = utf8_encode(UTF8_REPLACEMENT, bytes);
    return buf_add(buf, bytes, n);
}

size_t utf8_count(struct str s)
{
    size_t count = 0;
    uint32_t code;

    while (s.n) {
        utf8_decode(&s, &code);
        count++;
    }
    return count;
}

struct str utf8_truncate(struct str s, size_t max_bytes)
{
    size_t end = max_bytes;

    if (s.n <= max_bytes)
        return s;
    for (int back = 0; back < UTF8_MAX_BYTES; back++, end--) {
        if (((unsigned char)s.p[end] & 0xC0) != 0x80)
            return str_take(s, end);
        if (end == 0)
            break;
    }
    return str_take(s, max_bytes); /* a run of stray continuation bytes: nothing to protect */
}

int utf8_sanitise(struct str s, struct buf *buf)
{
    while (s.n) {
        size_t good = utf8_valid_prefix(s);
        uint32_t code;

        buf_add(buf, s.p, good);
        s = str_skip(s, good);
        if (s.n) {
            utf8_decode(&s, &code);
            buf_add_utf8(buf, UTF8_REPLACEMENT);
        }
    }
    return buf->full ? -1 : 0;
}

/* Unicode 15: Default_Ignorable_Code_Point, Bidi_Control, General_Category Cc, Zl, Zp, Zs, Co and
 * the blank Hangul, Braille and musical symbols. Sorted. */
static const struct range {
    uint32_t first, last;
    uint8_t oddity;
} odd_ranges[] = {
    { 0x0000, 0x001F, UTF8_CONTROL },     { 0x007F, 0x009F, UTF8_CONTROL },
    { 0x00A0, 0x00A0, UTF8_ODD_SPACE },   { 0x00AD, 0x00AD, UTF8_HIDDEN },
    { 0x034F, 0x034F, UTF8_HIDDEN },      { 0x061C, 0x061C, UTF8_BIDI },
    { 0x115F, 0x1160, UTF8_HIDDEN },      { 0x1680, 0x1680, UTF8_ODD_SPACE },
    { 0x17B4, 0x17B5, UTF8_HIDDEN },      { 0x180B, 0x180F, UTF8_HIDDEN },
    { 0x2000, 0x200A, UTF8_ODD_SPACE },   { 0x200B, 0x200D, UTF8_HIDDEN },
    { 0x200E, 0x200F, UTF8_BIDI },        { 0x2028, 0x2029, UTF8_CONTROL },
    { 0x202A, 0x202E, UTF8_BIDI },        { 0x202F, 0x202F, UTF8_ODD_SPACE },
    { 0x205F, 0x205F, UTF8_ODD_SPACE },   { 0x2060, 0x2065, UTF8_HIDDEN },
    { 0x2066, 0x2069, UTF8_BIDI },        { 0x206A, 0x206F, UTF8_HIDDEN },
    { 0x2800, 0x2800, UTF8_HIDDEN },      { 0x3000, 0x3000, UTF8_ODD_SPACE },
    { 0x3164, 0x3164, UTF8_HIDDEN },      { 0xE000, 0xF8FF, UTF8_PRIVATE },
    { 0xFDD0, 0xFDEF, UTF8_INVALID },     { 0xFE00, 0xFE0F, UTF8_HIDDEN },
    { 0xFEFF, 0xFEFF, UTF8_HIDDEN },      { 0xFFA0, 0xFFA0, UTF8_HIDDEN },
    { 0xFFF0, 0xFFFB, UTF8_HIDDEN },      { 0x1BCA0, 0x1BCA3, UTF8_HIDDEN },
    { 0x1D159, 0x1D159, UTF8_HIDDEN },    { 0x1D173, 0x1D17A, UTF8_HIDDEN },
    { 0xE0000, 0xE0FFF, UTF8_HIDDEN },    { 0xF0000, 0xFFFFD, UTF8_PRIVATE },
    { 0x100000, 0x10FFFD, UTF8_PRIVATE },
};

enum utf8_oddity utf8_oddity_of(uint32_t code)
{
    size_t low = 0, high = ARRAY_LEN(odd_ranges);

    if (code >= 0x20 && code < 0x7F)
        return UTF8_PLAIN;
    if ((code & 0xFFFE) == 0xFFFE || code > 0x10FFFF)
        return UTF8_INVALID;
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (code > odd_ranges[middle].last)
            low = middle + 1;
        else if (code < odd_ranges[middle].first)
            high = middle;
        else
            return (enum utf8_oddity)odd_ranges[middle].oddity;
    }
    return UTF8_PLAIN;
}

const char *utf8_oddity_name(enum utf8_oddity oddity)
{
    static const char *const names[] = {
        [UTF8_PLAIN] = "plain character",         [UTF8_INVALID] = "invalid UTF-8",
        [UTF8_CONTROL] = "control character",     [UTF8_BIDI] = "text direction character",
        [UTF8_HIDDEN] = "hidden character",       [UTF8_ODD_SPACE] = "unusual space",
        [UTF8_PRIVATE] = "private-use character",
    };

    return names[oddity];
}

enum utf8_oddity utf8_find_odd(struct str s, unsigned which, size_t *ret_at, uint32_t *ret_code)
{
    struct str rest = s;

    while (rest.n) {
        size_t at = s.n - rest.n;
        uint32_t code = UTF8_REPLACEMENT;
        enum utf8_oddity oddity;

        if (rest.p[0] >= 0x20 && rest.p[0] < 0x7F) {
            rest = str_skip(rest, 1);
            continue;
        }
        oddity = utf8_decode(&rest, &code) < 0 ? UTF8_INVALID : utf8_oddity_of(code);

        if (oddity != UTF8_PLAIN && (which & 1u << oddity)) {
            if (ret_at)
                *ret_at = at;
            if (ret_code)
                *ret_code = code;
            return oddity;
        }
    }
    return UTF8_PLAIN;
}

int utf8_one_line(struct str s, struct buf *buf)
{
    while (s.n) {
        uint32_t code;
        enum utf8_oddity odd;

        if (utf8_decode(&s, &code) < 0)
            code = UTF8_REPLACEMENT;
        odd = utf8_oddity_of(code);
        buf_add_utf8(buf, odd == UTF8_CONTROL || odd == UTF8_BIDI ? ' ' : code);
    }
    return buf->full ? -1 : 0;
}
