/* Whether a text is in composed form (NFC, UAX 15), and made of characters that are known.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FILES_NFC_INT_H
#define DORMOUSE_FILES_NFC_INT_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum nfc_fault {
    NFC_FINE = 0,
    NFC_DECOMPOSED, /* the same text has another, composed form */
    NFC_UNKNOWN,    /* a code point that is no character in the Unicode of the build */
};
/* text is valid UTF-8. */
enum nfc_fault nfc_check(struct str text);

/* The tables, written by tools/make-nfc. Sorted. */
struct nfc_range {
    uint32_t first, last, value;
};
struct nfc_pair {
    uint32_t first, second;
};
extern const struct nfc_range nfc_never[], nfc_class[];
extern const struct nfc_pair nfc_pairs[];
extern const size_t nfc_never_count, nfc_class_count, nfc_pairs_count;

#endif
