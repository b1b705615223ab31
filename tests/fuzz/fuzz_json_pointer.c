/* POINTER, a newline, DOCUMENT: following never reads outside, and tokens escape back to the
 * pointer.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void add_escaped(struct buf *out, struct str token)
{
    buf_add_char(out, '/');
    for (size_t i = 0; i < token.n; i++) {
        if (token.p[i] == '~' || token.p[i] == '/')
            buf_add_text(out, token.p[i] == '~' ? "~0" : "~1");
        else
            buf_add_char(out, token.p[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str rest = str_of((const char *)bytes, n), pointer = STR_NONE, tokens, token;
    char text[JSON_POINTER_MAX];
    AUTO_BUF back = BUF_INIT(1 << 22);
    AUTO_JSON doc = NULL;
    struct json_object *found = NULL;
    struct err err = ERR_INIT;
    int r;

    if (n == 0)
        return 0;
    str_split(&rest, '\n', &pointer);
    tokens = pointer;
    while ((r = json_pointer_next(&tokens, text, sizeof(text), &token)) > 0)
        add_escaped(&back, token);
    if (r == 0)
        BUG_IF(!str_eq(buf_str(&back), pointer));
    if (json_parse(rest, &doc, NULL) < 0)
        return 0;
    if (json_pointer_find(doc, pointer, &found, &err) < 0)
        BUG_IF(err.code != ERR_NOT_FOUND && err.code != ERR_BAD_REQUEST);
    else
        BUG_IF(r < 0);
    return 0;
}
