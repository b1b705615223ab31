/* An answer of Slack: read or refused with a sentence that holds nothing odd.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/json.h"
#include "connect/connect_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct gate_answer answer = { .status = n && bytes[0] == '!' ? 429 : 200,
                                  .type = STR("application/json"),
                                  .body = str_of((const char *)bytes, n),
                                  .retry_after_ms = -1 };
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;
    bool unsure;
    const char *text;

    if (slack_read(&answer, &unsure, &json, &err) == 0) {
        BUG_IF(!json);
        return 0;
    }
    text = err_message(&err, 0);
    BUG_IF(!text || !*text);
    for (; *text; text++)
        BUG_IF((unsigned char)*text < 0x20);
    return 0;
}
