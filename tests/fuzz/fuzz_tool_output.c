/* Results as a hostile hand may write them: refused, or JSON within the cap that fits the contract
 * still, without anything that redaction would take out.
 *
 * The first byte chooses the tool.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/redact.h"
#include "tool/tool_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_JSON value = NULL;
    size_t count;
    const struct tool_entry *entries = tool_entries(&count);
    struct tool_entry entry;
    struct str out = STR_NONE;
    struct err err = ERR_INIT;

    if (n == 0)
        return 0;
    entry = entries[bytes[0] % count];
    if (bytes[0] & 128)
        entry.output_max = 1024;
    if (output_make(&entry, str_of((const char *)bytes + 1, n - 1), &arena, &out, &err) < 0) {
        if (err.code != ERR_PROVIDER_FAILED)
            abort();
        return 0;
    }
    if (out.n > entry.output_max || json_parse(out, &value, &err) < 0)
        abort();
    return 0;
}
