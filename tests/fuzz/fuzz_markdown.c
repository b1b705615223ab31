/* Any bytes, cut anywhere: the same output, valid UTF-8, and no control character but our own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <locale.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "cli/markdown.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void render(struct str text, int width, bool colours, size_t step, struct buf *out)
{
    AUTO(markdown) md = markdown_new(width, colours);

    for (; text.n; text = str_skip(text, step))
        markdown_add(md, str_take(text, step), out);
    markdown_end(md, out);
}

/* The first two bytes say width and size of pieces. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_BUF whole = BUF_INIT(64u << 20);
    AUTO_BUF pieces = BUF_INIT(64u << 20);
    struct str text, rest;

    if (n < 2)
        return 0;
    setlocale(LC_CTYPE, "C.UTF-8");
    text = str_of((const char *)bytes + 2, n - 2);
    render(text, bytes[0] % 100, false, SIZE_MAX, &whole);
    render(text, bytes[0] % 100, false, bytes[1] % 16 + 1u, &pieces);
    BUG_IF(!str_eq(buf_str(&whole), buf_str(&pieces)));
    BUG_IF(!utf8_valid(buf_str(&whole)));
    for (rest = buf_str(&whole); rest.n;) {
        uint32_t code = 0;

        utf8_decode(&rest, &code);
        BUG_IF(code != '\n' && utf8_oddity_of(code) == UTF8_CONTROL);
    }
    return 0;
}
