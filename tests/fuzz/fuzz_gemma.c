/* FunctionGemma's output: never a crash, arguments are always a JSON object, and the stream may be
 * cut anywhere: byte by byte it says the same as whole.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "model/gemma_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hear_text(void *arg, struct str text)
{
    buf_add_str(arg, text);
}

static void hear_call(void *arg, const struct gemma_call *call)
{
    AUTO_JSON value = NULL;

    if (json_parse(call->arguments, &value, NULL) < 0 ||
        !json_object_is_type(value, json_type_object))
        BUG("arguments are no object: %.*s", STR_ARG(call->arguments));
    buf_printf(arg, "[%.*s|%.*s|%.*s|%u]", STR_ARG(call->name), STR_ARG(call->arguments),
               STR_ARG(call->problem), call->repairs);
}

static void hear(struct str text, size_t piece, struct buf *out)
{
    const struct model_tool tools[] = {
        { STR("ls"), STR(""), STR("{\"properties\":{\"a\":{\"type\":\"integer\"}}}") },
        { STR("bash"), STR(""), STR("{\"properties\":{\"command\":{\"type\":\"string\"}}}") },
    };
    struct gemma_parser parser;

    gemma_parser_init(&parser, tools, ARRAY_LEN(tools));
    parser.on_text = hear_text;
    parser.on_call = hear_call;
    parser.arg = out;
    while (text.n) {
        gemma_parser_feed(&parser, str_take(text, piece));
        text = str_skip(text, piece);
    }
    gemma_parser_end(&parser);
    gemma_parser_release(&parser);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF whole = BUF_INIT(16u << 20);
    AUTO_BUF pieces = BUF_INIT(16u << 20);
    struct str text = { (const char *)data, size };

    if (size > 20000)
        return 0;
    hear(text, SIZE_MAX, &whole);
    hear(text, 1, &pieces);
    if (!str_eq(buf_str(&whole), buf_str(&pieces)))
        BUG("cut by bytes it is another:\n%s\n%s", buf_text(&whole), buf_text(&pieces));
    return 0;
}
