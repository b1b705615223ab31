/* A vector clock: read or refused; what is read is written in one form, which reads back the same,
 * and merging it with itself changes nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/alloc.h"
#include "change/vclock.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct vclock clock, again, merged;
    struct str text;

    if (vclock_parse(str_of((const char *)bytes, n), &arena, &clock, NULL) < 0)
        return 0;
    text = vclock_text(&clock, &arena);
    BUG_IF(vclock_parse(text, &arena, &again, NULL) < 0);
    BUG_IF(vclock_compare(&clock, &again) != VCLOCK_EQUAL);
    BUG_IF(!str_eq(vclock_text(&again, &arena), text));
    merged = vclock_merge(&clock, &again, &arena);
    BUG_IF(merged.n != clock.n || vclock_compare(&merged, &clock) != VCLOCK_EQUAL);
    for (size_t i = 0; i < clock.n; i++)
        BUG_IF(vclock_of(&clock, clock.at[i].host) != clock.at[i].counter);
    return 0;
}
