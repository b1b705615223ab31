/* The input is a patch and a text, cut at the first 0xFF byte: applied whole or not at all.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str all = str_of((const char *)bytes, n);
    ptrdiff_t cut = str_find_char(all, (char)0xFF);
    struct str text = cut < 0 ? all : str_take(all, (size_t)cut);
    struct str old_text = cut < 0 ? STR_NONE : str_skip(all, (size_t)cut + 1);
    AUTO_PATCH patch = PATCH_INIT;
    struct err err = ERR_INIT;

    if (patch_parse(text, &patch, &err) < 0) {
        BUG_IF(err.code != ERR_BAD_REQUEST || patch.files);
        return 0;
    }
    for (const struct patch_file *file = patch.files; file; file = file->next) {
        AUTO_BUF out = BUF_INIT(4 * n + 100);

        buf_add_text(&out, "kept");
        patch_target(file);
        if (patch_apply(file, old_text, &out, NULL, &err) < 0)
            BUG_IF(!str_is(buf_str(&out), "kept"));
    }
    return 0;
}
