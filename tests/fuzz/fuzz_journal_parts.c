/* SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/alloc.h"
#include "cli/journal_parts.h"

static int look(struct journal_parts_use *use, struct str text, size_t known, struct err *err)
{
    (void)use;
    (void)known;
    (void)err;
    BUG_IF(text.n > 200);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct journal_parts_use use = { .part = look };
    struct err err = ERR_INIT;

    journal_parts(str_of((const char *)bytes, n), 200, &use, &err);
    return 0;
}
