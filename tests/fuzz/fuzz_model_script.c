/* Scripts of model replies: any bytes are refused or can be asked.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "model/script_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct model_message messages[] = {
        { .role = MODEL_USER, .text = STR("hello") },
        { .role = MODEL_TOOL, .tool_name = STR("bash"), .text = STR("out") },
    };
    const struct model_request request = { .messages = messages, .message_count = 2 };
    AUTO(script) script = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    struct err err = ERR_INIT;

    if (script_parse(str_of((const char *)data, size), "fuzz.yaml", &script, &err) < 0) {
        BUG_IF(err.code == ERR_NONE);
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        struct script_step *step = script_find(script, &request, &err);

        if (step)
            (void)script_fill(step->text, &request, i & 1, &arena);
        else
            BUG_IF(err.code != ERR_PROVIDER_FAILED);
    }
    return 0;
}
