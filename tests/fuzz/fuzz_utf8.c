/* Any bytes: sanitised text is valid, truncation and decoding agree.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = str_of((const char *)bytes, n), rest = text;
    AUTO_BUF clean = BUF_INIT(3 * n + 3);
    bool valid = utf8_valid(text), decoded = true;
    size_t count = 0;

    for (; rest.n; count++) {
        uint32_t code = 0;
        char back[UTF8_MAX_BYTES];
        const char *at = rest.p;

        if (utf8_decode(&rest, &code) < 0)
            decoded = false;
        else
            BUG_IF(utf8_encode(code, back) != (size_t)(rest.p - at) ||
                   memcmp(back, at, (size_t)(rest.p - at)) != 0);
    }
    BUG_IF(valid != decoded || count != utf8_count(text));
    BUG_IF(utf8_sanitise(text, &clean) < 0 || !utf8_valid(buf_str(&clean)));
    BUG_IF(utf8_count(buf_str(&clean)) != count);
    BUG_IF(valid && !str_eq(buf_str(&clean), text));
    for (size_t max = 0; max <= n && max < 16; max++)
        BUG_IF(valid && !utf8_valid(utf8_truncate(text, max)));
    utf8_find_odd(text, ~0u, NULL, NULL);
    return 0;
}
