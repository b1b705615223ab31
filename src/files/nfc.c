/* The check for composed form, without composing.
 *
 * A text is in NFC when no code point of it is one that NFC replaces, marks on a letter stand in
 * the order of their classes, and no mark (or vowel) would compose with the letter before it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "files/nfc_int.h"

#include <stdlib.h>

#include "base/utf8.h"

static int in_range(const void *key, const void *row)
{
    uint32_t code = *(const uint32_t *)key;
    const struct nfc_range *range = row;

    return code < range->first ? -1 : code > range->last;
}

static uint32_t value_of(uint32_t code, const struct nfc_range *ranges, size_t n)
{
    const struct nfc_range *found = bsearch(&code, ranges, n, sizeof(*ranges), in_range);

    return found ? found->value : 0;
}

static int by_pair(const void *key, const void *row)
{
    const struct nfc_pair *a = key, *b = row;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->second < b->second ? -1 : a->second > b->second;
}

/* Hangul by arithmetic: a lead and a vowel, or a syllable without tail and a tail. */
static bool composes(uint32_t first, uint32_t second)
{
    struct nfc_pair pair = { first, second };

    if (first >= 0x1100 && first < 0x1113 && second >= 0x1161 && second < 0x1176)
        return true;
    if (first >= 0xAC00 && first <= 0xD7A3 && (first - 0xAC00) % 28 == 0 && second > 0x11A7 &&
        second < 0x11C3)
        return true;
    return bsearch(&pair, nfc_pairs, nfc_pairs_count, sizeof(pair), by_pair) != NULL;
}

enum nfc_fault nfc_check(struct str text)
{
    uint32_t starter = 0, last_class = 0; /* of the code point before */
    bool first = true;

    while (text.n) {
        uint32_t code = 0, never, class;

        utf8_decode(&text, &code);
        if (code < 0x80) {
            starter = code;
            last_class = 0;
            first = false;
            continue;
        }
        never = value_of(code, nfc_never, nfc_never_count);
        class = value_of(code, nfc_class, nfc_class_count);
        if (never)
            return never == 1 ? NFC_DECOMPOSED : NFC_UNKNOWN;
        if (class && class < last_class)
            return NFC_DECOMPOSED;
        /* Blocked from its starter by a mark of the same class, or (a starter) by any mark. */
        if (!first && (last_class == 0 || (class && class > last_class)) && composes(starter, code))
            return NFC_DECOMPOSED;
        if (class == 0) {
            starter = code;
            first = false;
        }
        last_class = class;
    }
    return NFC_FINE;
}
