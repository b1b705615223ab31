/* Commands: no crash, a bounded time, and a finding that lies within the command.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "policy/danger.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str command = str_of((const char *)bytes, n);
    struct danger danger = { .rule = NULL };

    if (!danger_find(command, &danger))
        return 0;
    BUG_IF(!danger.rule || !danger.about);
    BUG_IF(danger.part.p < command.p || danger.part.p + danger.part.n > command.p + n);
    return 0;
}
