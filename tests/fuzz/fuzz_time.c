/* Date-times and UUIDs: what is read and written again reads the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/timefmt.h"
#include "base/uuid.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = str_of((const char *)bytes, n);
    struct err err = ERR_INIT;
    struct uuid uuid;
    int64_t ms, again;

    if (timefmt_parse(text, &ms, &err) == 0) {
        char written[TIMEFMT_SIZE];

        timefmt_rfc3339(ms, written);
        BUG_IF(timefmt_parse(str_from(written), &again, &err) < 0 || again != ms);
    }
    if (uuid_parse(text, &uuid) == 0) {
        char written[UUID_TEXT_SIZE];

        uuid_format(uuid, written);
        BUG_IF(!str_eq_nocase(text, str_from(written)));
    }
    return 0;
}
