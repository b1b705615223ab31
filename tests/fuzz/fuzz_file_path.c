/* A path that is accepted has one spelling, stays in its tree and folds alike however it is read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/path.h"
#include "base/utf8.h"
#include "files/files.h"
#include "files/nfc_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_accepted(struct str path, struct str folded)
{
    AUTO_BUF again = BUF_INIT(16 * FILE_PATH_MAX);
    struct str rest = path, part;
    unsigned parts = 0;

    BUG_IF(path.n == 0 || path.n > FILE_PATH_MAX || !utf8_valid(path));
    BUG_IF(memchr(path.p, '\0', path.n) || memchr(path.p, '\\', path.n));
    BUG_IF(utf8_find_odd(path, ~1u, NULL, NULL) != UTF8_PLAIN || nfc_check(path) != NFC_FINE);
    while (str_split(&rest, '/', &part)) {
        parts++;
        BUG_IF(part.n == 0 || part.n > 255 || part.p[0] == '.' || part.p[0] == ' ');
        BUG_IF(part.p[part.n - 1] == '.' || part.p[part.n - 1] == ' ');
    }
    BUG_IF(parts > 16);
    /* The key has as many parts, and is its own key. */
    for (rest = folded; str_split(&rest, '/', &part);)
        parts--;
    BUG_IF(parts != 0);
    BUG_IF(path_fold(folded, &again) < 0 || !str_eq(buf_str(&again), folded));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str path = str_of((const char *)bytes, n), folded = STR_NONE;
    AUTO_ARENA arena = ARENA_INIT;
    struct err err = ERR_INIT;

    if (file_path_check(path, &arena, &folded, &err) == 0)
        check_accepted(path, folded);
    else
        BUG_IF(err.code != ERR_PATH_DENIED && err.code != ERR_TOO_LARGE);
    return 0;
}
