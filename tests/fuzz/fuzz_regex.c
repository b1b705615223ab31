/* PATTERN, a newline, TEXT: translating never makes something that PCRE2 reads past, matching ends.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str rest = str_of((const char *)bytes, n), pattern = STR_NONE;
    AUTO(regex) regex = NULL;
    struct err err = ERR_INIT;

    if (n == 0)
        return 0;
    str_split(&rest, '\n', &pattern);
    if (regex_compile(pattern, &regex, &err) < 0) {
        BUG_IF(err.code != ERR_BAD_REQUEST);
        return 0;
    }
    if (regex_match(regex, rest, &err) < 0)
        BUG_IF(err.code != ERR_TIMEOUT && err.code != ERR_BAD_REQUEST);
    return 0;
}
