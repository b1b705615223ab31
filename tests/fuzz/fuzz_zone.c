/* A time zone's table: read or refused; what is read gives offsets and moments that agree.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(zone) zone = NULL;

    if (zone_parse(str_of((const char *)bytes, n), &zone, NULL) < 0)
        return 0;
    for (int64_t s = 0; s < INT64_C(4000000000); s += 86400 * 31 + 7777) {
        int64_t utc = 0;

        if (zone_moment(zone, s, &utc) > 0)
            BUG_IF(utc + zone_offset(zone, utc) != s);
    }
    return 0;
}
