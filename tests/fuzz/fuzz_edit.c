/* Edits: the input is cut at NULs into the text and pairs of old and new. What is applied can be
 * counted again by other means; what is not leaves the result alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "sandbox/op_edit.h"

#define CAP 65536

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_single(struct str text, struct edit edit)
{
    AUTO_BUF out = BUF_INIT(CAP);
    struct err err = ERR_INIT;
    size_t replaced = 0, expected;

    if (edit_apply(text, &edit, 1, &out, &replaced, &err) < 0) {
        BUG_IF(out.n || err.code == ERR_NONE);
        return;
    }
    BUG_IF(replaced == 0 || (!edit.all && replaced != 1));
    /* Where no CR is put in, lengths tell. */
    if (memchr(text.p, '\r', text.n) == NULL) {
        expected = text.n + replaced * edit.new_text.n - replaced * edit.old_text.n;
        BUG_IF(out.n != expected);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str rest = str_of(n ? (const char *)bytes : "", n), text;
    struct edit edits[EDIT_COUNT_MAX];
    AUTO_BUF out = BUF_INIT(CAP);
    AUTO_BUF near = BUF_INIT(1000);
    size_t count = 0, replaced = 0;

    if (n > 4096 || !str_split(&rest, '\0', &text))
        return 0;
    while (count < EDIT_COUNT_MAX && str_split(&rest, '\0', &edits[count].old_text) &&
           str_split(&rest, '\0', &edits[count].new_text)) {
        edits[count].all = edits[count].new_text.n % 2;
        check_single(text, edits[count]);
        edit_near(text, edits[count].old_text, &near);
        count++;
    }
    if (count)
        edit_apply(text, edits, count, &out, &replaced, NULL);
    return 0;
}
