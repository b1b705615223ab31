/* Whatever is read from an archive lies within the limits, and written again it is read the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/limits.h"
#include "files/archive.h"
#include "files/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const struct archive_limits limits = { .entries = 50,
                                              .entry_bytes = 64 * KIB,
                                              .total_bytes = 256 * KIB };

static void check_again(const struct archive_entry *entries, size_t count)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_BUF out = BUF_INIT(MIB);
    struct archive_entry *again;
    size_t again_count;

    BUG_IF(archive_write(entries, count, &out, NULL) < 0);
    BUG_IF(archive_read(buf_str(&out), &limits, &arena, &again, &again_count, NULL) < 0);
    BUG_IF(again_count != count);
    for (size_t i = 0; i < count; i++)
        BUG_IF(!str_eq(entries[i].path, again[i].path) ||
               !str_eq(entries[i].content, again[i].content) ||
               entries[i].executable != again[i].executable);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct archive_entry *entries;
    struct err err = ERR_INIT;
    size_t count, total = 0;

    if (archive_read(str_of((const char *)bytes, n), &limits, &arena, &entries, &count, &err) < 0) {
        BUG_IF(err.code == ERR_NONE);
        return 0;
    }
    BUG_IF(count > limits.entries);
    for (size_t i = 0; i < count; i++) {
        BUG_IF(file_path_check(entries[i].path, &arena, NULL, NULL) < 0);
        BUG_IF(entries[i].content.n > limits.entry_bytes);
        BUG_IF(i && str_cmp(entries[i - 1].path, entries[i].path) >= 0);
        total += entries[i].content.n;
    }
    BUG_IF(total > limits.total_bytes);
    check_again(entries, count);
    return 0;
}
