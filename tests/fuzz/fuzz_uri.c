/* BASE, a newline, REF: once its dot segments are gone, an absolute target resolves to itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/alloc.h"
#include "base/uri.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str ref = str_of((const char *)bytes, n), base = STR_NONE;
    AUTO_BUF once = BUF_INIT(1 << 20);
    AUTO_BUF twice = BUF_INIT(1 << 20);
    AUTO_BUF again = BUF_INIT(1 << 20);
    AUTO_BUF decoded = BUF_INIT(1 << 20);

    if (n == 0)
        return 0;
    str_split(&ref, '\n', &base);
    uri_resolve(base, ref, &once);
    uri_decode(buf_str(&once), &decoded);
    if (!uri_is_valid(base) || !uri_is_valid_reference(ref))
        return 0;
    uri_resolve(base, buf_str(&once), &twice);
    uri_resolve(base, buf_str(&twice), &again);
    BUG_IF(!str_eq(buf_str(&twice), buf_str(&again)));
    return 0;
}
