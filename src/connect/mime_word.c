/* Text in headers (RFC 2047) and character sets.
 *
 * Character sets are taken from a list of those that mail has: a name out of a message is not
 * handed to the C library as it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <iconv.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "connect/mime_int.h"

#define LINE_MAX_HEADER 76
#define WORD_OVERHEAD   12 /* =?UTF-8?B??= */

static const char *const charsets[] = {
    "ISO-8859-1",   "ISO-8859-2",   "ISO-8859-3",   "ISO-8859-4",   "ISO-8859-5",   "ISO-8859-6",
    "ISO-8859-7",   "ISO-8859-8",   "ISO-8859-9",   "ISO-8859-10",  "ISO-8859-13",  "ISO-8859-14",
    "ISO-8859-15",  "ISO-8859-16",  "WINDOWS-1250", "WINDOWS-1251", "WINDOWS-1252", "WINDOWS-1253",
    "WINDOWS-1254", "WINDOWS-1255", "WINDOWS-1256", "WINDOWS-1257", "WINDOWS-1258", "KOI8-R",
    "KOI8-U",       "SHIFT_JIS",    "EUC-JP",       "ISO-2022-JP",  "GB2312",       "GBK",
    "GB18030",      "BIG5",         "EUC-KR",       "UTF-16",       "UTF-16LE",     "UTF-16BE",
};

static const char *charset_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(charsets); i++)
        if (str_eq_nocase(name, str_from(charsets[i])))
            return charsets[i];
    if (str_eq_nocase(name, STR("latin1")))
        return "ISO-8859-1";
    if (str_eq_nocase(name, STR("cp1252")))
        return "WINDOWS-1252";
    return NULL;
}

/* What can't be converted becomes U+FFFD, a byte at a time. */
static void convert(struct str bytes, const char *charset, struct buf *out)
{
    iconv_t cd = iconv_open("UTF-8", charset);
    char *in = (char *)bytes.p, piece[1024];
    size_t left = bytes.n;

    if (cd == (iconv_t)-1) {
        utf8_sanitise(bytes, out);
        return;
    }
    while (left > 0 && !out->full) {
        char *to = piece;
        size_t room = sizeof(piece);
        size_t r = iconv(cd, &in, &left, &to, &room);

        buf_add(out, piece, sizeof(piece) - room);
        if (r != (size_t)-1 || errno == E2BIG)
            continue;
        buf_add_utf8(out, UTF8_REPLACEMENT);
        in++;
        left--;
    }
    iconv_close(cd);
}

void mime_to_utf8(struct str bytes, struct str charset, struct buf *out)
{
    const char *known = charset_find(charset);

    if (known)
        convert(bytes, known, out);
    else if (utf8_valid(bytes) || str_eq_nocase(charset, STR("utf-8")))
        utf8_sanitise(bytes, out);
    else
        convert(bytes, "WINDOWS-1252", out);
}

/* ---- decoding ---- */

struct word {
    struct str charset, text;
    bool base64;
    size_t n; /* bytes of it all */
};

/* =?charset*language?B?text?= at the front of s. */
static bool word_at(struct str s, struct word *ret_word)
{
    struct str rest, charset, encoding, text;
    ptrdiff_t end;

    if (!str_starts(s, STR("=?")))
        return false;
    rest = str_skip(s, 2);
    if (str_find_char(rest, '?') <= 0)
        return false;
    charset = str_take(rest, (size_t)str_find_char(rest, '?'));
    rest = str_skip(rest, charset.n + 1);
    if (rest.n < 3 || rest.p[1] != '?')
        return false;
    encoding = str_take(rest, 1);
    rest = str_skip(rest, 2);
    end = str_find(rest, STR("?="));
    if (end < 0)
        return false;
    text = str_take(rest, (size_t)end);
    if (charset.n > 60 || str_find_char(text, ' ') >= 0 || str_find_char(charset, ' ') >= 0 ||
        !strchr("bBqQ", encoding.p[0] ? encoding.p[0] : '!'))
        return false;
    if (str_find_char(charset, '*') >= 0)
        charset = str_take(charset, (size_t)str_find_char(charset, '*'));
    *ret_word = (struct word){ .charset = charset,
                               .text = text,
                               .base64 = encoding.p[0] == 'b' || encoding.p[0] == 'B',
                               .n = (size_t)(text.p - s.p) + text.n + 2 };
    return true;
}

/* Bytes of words in a row: a character may be cut between two. */
struct run {
    struct buf bytes;
    struct str charset;
};

static void run_end(struct run *run, struct buf *out)
{
    if (run->bytes.n)
        mime_to_utf8(buf_str(&run->bytes), run->charset, out);
    buf_clear(&run->bytes);
    run->charset = STR_NONE;
}

static void run_add(struct run *run, const struct word *word, struct buf *out)
{
    if (!str_eq_nocase(run->charset, word->charset))
        run_end(run, out);
    run->charset = word->charset;
    if (word->base64)
        base64_decode(word->text, &run->bytes);
    else
        quoted_printable_decode(word->text, true, &run->bytes);
}

static size_t spaces(struct str s)
{
    size_t n = 0;

    while (n < s.n && (s.p[n] == ' ' || s.p[n] == '\t'))
        n++;
    return n;
}

static void decode_into(struct str value, struct buf *out)
{
    struct run run = { .bytes = BUF_INIT(out->max) };
    struct word word;

    while (value.n) {
        size_t gap = run.charset.p ? spaces(value) : 0, n = 0;

        if (word_at(str_skip(value, gap), &word)) {
            run_add(&run, &word, out);
            value = str_skip(value, gap + word.n);
            continue;
        }
        run_end(&run, out);
        do
            n++;
        while (n < value.n && value.p[n] != '=');
        mime_to_utf8(str_take(value, n), STR("unknown"), out);
        value = str_skip(value, n);
    }
    run_end(&run, out);
    buf_release(&run.bytes);
}

void mime_one_line(struct str rest, struct buf *out)
{
    while (rest.n) {
        struct str before = rest;
        uint32_t code;

        if (utf8_decode(&rest, &code) < 0)
            buf_add_utf8(out, UTF8_REPLACEMENT);
        else if (utf8_oddity_of(code) == UTF8_CONTROL)
            buf_add_char(out, ' ');
        else
            buf_add(out, before.p, before.n - rest.n);
    }
}

void mime_decode_words(struct str value, struct buf *out)
{
    AUTO_BUF text = BUF_INIT(out->max);

    decode_into(value, &text);
    mime_one_line(buf_str(&text), out);
}

/* ---- encoding ---- */

static bool needs_words(struct str text)
{
    size_t word = 0;

    if (str_find(text, STR("=?")) >= 0)
        return true;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        word = c == ' ' ? 0 : word + 1;
        if (c < 0x20 || c >= 0x7f || word >= LINE_MAX_HEADER)
            return true;
    }
    /* White space at an end, or twice, would not survive folding. */
    return text.n &&
           (text.p[0] == ' ' || text.p[text.n - 1] == ' ' || str_find(text, STR("  ")) >= 0);
}

/* Plain words, folded between them. */
static void add_folded(struct str text, size_t column, struct buf *out)
{
    struct str word;
    bool first = true;

    while (str_split(&text, ' ', &word)) {
        if (!first && column + 1 + word.n > LINE_MAX_HEADER) {
            buf_add_text(out, "\r\n");
            column = 0;
        }
        if (!first) {
            buf_add_char(out, ' ');
            column++;
        }
        buf_add_str(out, word);
        column += word.n;
        first = false;
    }
}

void mime_encode_words(struct str text, size_t column, struct buf *out)
{
    bool first = true;

    if (!needs_words(text)) {
        add_folded(text, column, out);
        return;
    }
    while (text.n) {
        size_t used = (first ? column : 1) + WORD_OVERHEAD;
        size_t room = used + 8 < LINE_MAX_HEADER ? (LINE_MAX_HEADER - used) / 4 * 3 : 3;
        struct str piece = utf8_truncate(text, room < 4 ? 4 : room);

        buf_add_text(out, first ? "=?UTF-8?B?" : "\r\n =?UTF-8?B?");
        base64_encode(piece, out);
        buf_add_text(out, "?=");
        text = str_skip(text, piece.n ? piece.n : text.n);
        first = false;
    }
}
