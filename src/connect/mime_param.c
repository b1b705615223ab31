/* Parameters of a header ("text/plain; charset=utf-8; name*0*=…"), RFC 2045 and RFC 2231.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/uri.h"
#include "connect/mime_int.h"

#define VALUE_MAX 1024
#define PIECES    16

/* The next name and raw value; false at the end. */
static bool next(struct str *rest, struct str *ret_name, struct buf *value)
{
    struct str s = *rest;
    ptrdiff_t semicolon = str_find_char(s, ';');
    size_t i = 0;

    buf_clear(value);
    if (semicolon < 0)
        return false;
    s = str_skip(s, (size_t)semicolon + 1);
    while (i < s.n && s.p[i] != '=' && s.p[i] != ';')
        i++;
    *ret_name = str_trim(str_take(s, i));
    s = str_skip(s, i < s.n && s.p[i] == '=' ? i + 1 : i);
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = str_skip(s, 1);
    if (s.n && s.p[0] == '"') {
        for (i = 1; i < s.n && s.p[i] != '"'; i++) {
            if (s.p[i] == '\\' && i + 1 < s.n)
                i++;
            buf_add_char(value, s.p[i]);
        }
        i += i < s.n;
    } else {
        for (i = 0; i < s.n && s.p[i] != ';'; i++)
            continue;
        buf_add_str(value, str_trim(str_take(s, i)));
    }
    *rest = str_skip(s, i);
    return true;
}

/* name, name*, name*3 or name*3*: which piece, and whether it is percent-encoded. */
static bool is_piece(struct str given, const char *name, unsigned *ret_n, bool *ret_encoded)
{
    size_t n = strlen(name);
    struct str tail = str_skip(given, n);
    uint64_t number = 0;

    if (given.n < n || !str_eq_nocase(str_take(given, n), str_from(name)))
        return false;
    *ret_encoded = tail.n && tail.p[tail.n - 1] == '*';
    if (*ret_encoded)
        tail.n--;
    *ret_n = 0;
    if (!tail.n)
        return true;
    if (tail.p[0] != '*' || str_to_u64(str_skip(tail, 1), &number) < 0 || number >= PIECES)
        return false;
    *ret_n = (unsigned)number;
    return true;
}

/* charset'language'text, of the first piece. */
static struct str take_charset(struct str *value)
{
    ptrdiff_t first = str_find_char(*value, '\''), second;
    struct str charset;

    if (first < 0)
        return STR_NONE;
    second = str_find_char(str_skip(*value, (size_t)first + 1), '\'');
    if (second < 0)
        return STR_NONE;
    charset = str_take(*value, (size_t)first);
    *value = str_skip(*value, (size_t)first + 1 + (size_t)second + 1);
    return charset;
}

struct str mime_param(struct str header, const char *name, struct arena *arena)
{
    AUTO_BUF value = BUF_INIT(VALUE_MAX);
    AUTO_BUF bytes = BUF_INIT((size_t)VALUE_MAX * PIECES);
    AUTO_BUF text = BUF_INIT((size_t)4 * VALUE_MAX * PIECES);
    AUTO_BUF line = BUF_INIT((size_t)4 * VALUE_MAX * PIECES);
    struct str given, charset = STR_NONE;
    bool encoded, any = false, raw = true;
    unsigned n, wanted = 0;

    while (next(&header, &given, &value)) {
        struct str piece = buf_str(&value);

        if (!is_piece(given, name, &n, &encoded) || n != wanted)
            continue;
        if (encoded && n == 0)
            charset = arena_str(arena, take_charset(&piece));
        if (!encoded || uri_decode(piece, &bytes) < 0)
            buf_add_str(&bytes, encoded ? STR_NONE : piece);
        raw &= !encoded;
        any = true;
        wanted = n + 1;
    }
    if (!any)
        return STR_NONE;
    if (raw) /* many write encoded words here, against the rules */
        mime_decode_words(buf_str(&bytes), &line);
    else
        mime_to_utf8(buf_str(&bytes), charset, &text);
    mime_one_line(buf_str(&text), &line);
    return arena_str(arena, buf_str(&line));
}
