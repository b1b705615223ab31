/* How many tokens a text is, roughly.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/tokens.h"

int64_t tokens_estimate(struct str text)
{
    int64_t twelfths = 0;

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < 0x80)
            twelfths += 3;
        else if (c >= 0xc0) /* the first byte of a longer character */
            twelfths += 8;
    }
    return text.n ? twelfths / 12 + 1 : 0;
}
