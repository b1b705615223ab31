/* Any content, whole or cut, as one line of words: bounded, one line, valid UTF-8.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/utf8.h"
#include "memory/conversation.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const size_t limits[] = { 1, 7, 80, 4096 };
    AUTO_ARENA arena = ARENA_INIT;

    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct str line = message_line(str_of((const char *)bytes, n), limits[i], &arena);

        BUG_IF(line.n > limits[i] + 8); /* and a mark that more follows */
        BUG_IF(!utf8_valid(line));
        for (size_t k = 0; k < line.n; k++)
            BUG_IF((unsigned char)line.p[k] < ' ');
    }
    return 0;
}
