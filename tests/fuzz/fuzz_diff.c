/* The input is two texts, cut at the first 0xFF byte: applying their diff to one gives the other.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/diff.h"
#include "base/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_round_trip(const struct diff *diff, struct str a, struct str b, size_t context)
{
    AUTO_BUF text = BUF_INIT(16u << 20);
    AUTO_BUF out = BUF_INIT(16u << 20);
    AUTO_PATCH patch = PATCH_INIT;
    struct err err = ERR_INIT;

    BUG_IF(diff_unified(diff, "a/f", "b/f", context, &text) < 0);
    if (text.n == 0) {
        BUG_IF(!str_eq(a, b));
        return;
    }
    BUG_IF(patch_parse(buf_str(&text), &patch, &err) < 0);
    BUG_IF(patch.file_count != 1 || patch_apply(patch.files, a, &out, NULL, &err) < 0);
    BUG_IF(!str_eq(buf_str(&out), b));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str all = str_of((const char *)bytes, n);
    ptrdiff_t cut = str_find_char(all, (char)0xFF);
    struct str a = cut < 0 ? all : str_take(all, (size_t)cut);
    struct str b = cut < 0 ? STR_NONE : str_skip(all, (size_t)cut + 1);
    AUTO_DIFF diff = DIFF_INIT;

    BUG_IF(diff_make(a, b, &diff, NULL) < 0);
    check_round_trip(&diff, a, b, DIFF_CONTEXT);
    check_round_trip(&diff, a, b, 0);
    return 0;
}
