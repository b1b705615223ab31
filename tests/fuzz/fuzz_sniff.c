/* Heads of files: every prefix has a kind, and only images have a size.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "sandbox/op_lines.h"
#include "sandbox/op_sniff.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_lines(struct str text)
{
    struct lines whole, cut;
    uint64_t total;

    lines_init(&whole, 1, 100);
    lines_init(&cut, 1, 100);
    lines_add(&whole, text);
    for (size_t i = 0; i < text.n; i++)
        lines_add(&cut, str_of(text.p + i, 1));
    total = lines_end(&whole);
    BUG_IF(lines_end(&cut) != total || whole.last > total);
    BUG_IF(!str_eq(buf_str(&whole.text), buf_str(&cut.text)));
    lines_release(&whole);
    lines_release(&cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str head = str_of(n ? (const char *)bytes : "", n);
    struct sniff found = sniff(head);

    BUG_IF((found.kind == SNIFF_TEXT) != (found.type == NULL));
    BUG_IF(found.kind != SNIFF_IMAGE && (found.width || found.height));
    BUG_IF(found.kind == SNIFF_TEXT && n && memchr(head.p, '\0', n < 8192 ? n : 8192));
    check_lines(head);
    return 0;
}
