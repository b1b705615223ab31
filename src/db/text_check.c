/* UTF-8 without NUL. Eight bytes of ASCII are tested at once; that is nearly all there ever is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/text_check.h"

#include <stdint.h>
#include <string.h>

#define HIGH_BITS 0x8080808080808080u
#define LOW_BITS  0x0101010101010101u

/* Eight bytes, none above 0x7f and none zero. */
static bool plain_word(const unsigned char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof(word));
    return ((word | (word - LOW_BITS)) & HIGH_BITS) == 0;
}

static bool continues(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return false;
    return true;
}

/* Length of the sequence at p, 0 when it is broken. Table 3-7 of the Unicode standard. */
static size_t sequence(const unsigned char *p, size_t left)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t n;

    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        n = 2;
    else if (p[0] >= 0xe0 && p[0] <= 0xef)
        n = 3;
    else if (p[0] >= 0xf0 && p[0] <= 0xf4)
        n = 4;
    else
        return 0;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    if (left < n || p[1] < low || p[1] > high || !continues(p + 2, n - 2))
        return 0;
    return n;
}

bool text_is_clean(struct str text)
{
    const unsigned char *p = (const unsigned char *)text.p, *end = p + text.n;

    while (p < end) {
        size_t n;

        if (end - p >= 8 && plain_word(p)) {
            p += 8;
            continue;
        }
        if (*p < 0x80) {
            if (*p == 0)
                return false;
            p++;
            continue;
        }
        n = sequence(p, (size_t)(end - p));
        if (n == 0)
            return false;
        p += n;
    }
    return true;
}
