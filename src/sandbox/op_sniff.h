/* What kind of file begins with these bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_OP_SNIFF_H
#define DORMOUSE_SANDBOX_OP_SNIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define SNIFF_BYTES (64 * 1024) /* looking at more finds no more */

enum sniff_kind {
    SNIFF_TEXT = 0,
    SNIFF_BINARY,
    SNIFF_IMAGE,
};

struct sniff {
    enum sniff_kind kind;
    const char *type;       /* media type; NULL for text */
    uint32_t width, height; /* of an image, 0 when its head does not tell */
};

/* head is the beginning of the file. Text is what holds no NUL near its beginning and begins like
 * no format that is known to be binary. */
struct sniff sniff(struct str head);

#endif
