/* base64 (RFC 4648), both alphabets.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/base64.h"

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void encode(struct str bytes, const char *alphabet, bool pad, struct buf *out)
{
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t n = bytes.n - i < 3 ? bytes.n - i : 3;
        unsigned word = 0;

        for (size_t k = 0; k < 3; k++)
            word = word << 8 | (k < n ? (unsigned char)bytes.p[i + k] : 0u);
        for (size_t k = 0; k <= n; k++)
            buf_add_char(out, alphabet[word >> (18 - 6 * k) & 63]);
        for (size_t k = n; pad && k < 3; k++)
            buf_add_char(out, '=');
    }
}

void base64_encode(struct str bytes, struct buf *out)
{
    encode(bytes, standard, true, out);
}

void base64url_encode(struct str bytes, struct buf *out)
{
    encode(bytes, url, false, out);
}

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

void base64_decode(struct str text, struct buf *out)
{
    unsigned word = 0, bits = 0;

    for (size_t i = 0; i < text.n && text.p[i] != '='; i++) {
        int d = digit(text.p[i]);

        if (d < 0)
            continue;
        word = word << 6 | (unsigned)d;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            buf_add_char(out, (char)(word >> bits & 0xff));
        }
    }
}

bool base64_is_clean(struct str text)
{
    while (text.n && (text.p[text.n - 1] == '=' || text.p[text.n - 1] == '\n'))
        text.n--;
    for (size_t i = 0; i < text.n; i++)
        if (digit(text.p[i]) < 0 && text.p[i] != '\n' && text.p[i] != '\r')
            return false;
    return true;
}
