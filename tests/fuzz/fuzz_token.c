/* Tokens, as a list or in the former form: read or refused; what is read keeps every rule, and its
 * texts read back the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/alloc.h"
#include "change/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void try_list(struct str text)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct token *tokens, *again;
    size_t n, m;
    struct str json;

    if (tokens_parse(text, &arena, &tokens, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        BUG_IF(token_check(&tokens[i], NULL) < 0);
    json = tokens_json(tokens, n, &arena);
    BUG_IF(tokens_parse(json, &arena, &again, &m, NULL) < 0 || m > n);
    BUG_IF(!str_eq(tokens_json(again, m, &arena), json));
    BUG_IF(tokens_unique(again, m) != m);
}

static void try_former(struct str text)
{
    AUTO_BUF back = BUF_INIT(1024);
    struct token token;

    if (token_parse_text(text, &token, NULL) < 0)
        return;
    BUG_IF(token_check(&token, NULL) < 0);
    token_text(&token, &back);
    BUG_IF(!str_eq(buf_str(&back), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = str_of((const char *)bytes, n);

    try_list(text);
    try_former(text);
    return 0;
}
