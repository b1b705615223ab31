/* Any bytes: flags lie inside the text, in order, at most 200, and each is what it says.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "memory/edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = str_of((const char *)bytes, n);
    AUTO_ARENA arena = ARENA_INIT;
    struct memory_flag *flags;
    size_t count = memory_flags(text, &arena, &flags);

    BUG_IF(count > 200);
    for (size_t i = 0; i < count; i++) {
        BUG_IF(flags[i].start >= flags[i].end || flags[i].end > n);
        BUG_IF(!str_eq(flags[i].match,
                       str_of(text.p + flags[i].start, flags[i].end - flags[i].start)));
        BUG_IF(!flags[i].pattern || !flags[i].description);
        BUG_IF(flags[i].severity != MEMORY_WARNING && flags[i].severity != MEMORY_DANGER);
        BUG_IF(i && flags[i - 1].start > flags[i].start);
    }
    return 0;
}
