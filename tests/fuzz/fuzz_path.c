/* Whatever is accepted is a normal form that stays below its root.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_accepted(struct str path)
{
    AUTO_BUF again = BUF_INIT(LIMIT_PATH_BYTES);
    struct str rest = path, name;

    BUG_IF(path_normalise(path, &again, NULL) < 0 || !str_eq(buf_str(&again), path));
    BUG_IF(path.n == 0 || path.p[0] == '/' || path.p[path.n - 1] == '/');
    BUG_IF(!utf8_valid(path) || memchr(path.p, '\0', path.n) || memchr(path.p, '\\', path.n));
    while (str_split(&rest, '/', &name))
        BUG_IF(name.n == 0 || name.n > LIMIT_PATH_NAME_BYTES || str_is(name, ".") ||
               str_is(name, ".."));
}

static void check_fold(struct str text)
{
    AUTO_BUF once = BUF_INIT(12 * text.n + 12);
    AUTO_BUF twice = BUF_INIT(12 * 12 * text.n + 12);

    if (path_fold(text, &once) < 0) {
        BUG_IF(utf8_valid(text));
        return;
    }
    BUG_IF(path_fold(buf_str(&once), &twice) < 0);
    BUG_IF(!str_eq(buf_str(&once), buf_str(&twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const guarded[] = { ".git", "agents/caf\u00E9" };
    struct str text = str_of((const char *)bytes, n);
    AUTO_BUF out = BUF_INIT(LIMIT_PATH_BYTES);
    struct err err = ERR_INIT;

    check_fold(text);
    if (path_normalise(text, &out, &err) < 0) {
        char message[ERR_TEXT_MAX];

        BUG_IF(out.n || err.code == ERR_NONE);
        err_format(&err, message, sizeof(message));
        BUG_IF(utf8_find_odd(str_from(message), ~0u, NULL, NULL) != UTF8_PLAIN);
        return 0;
    }
    check_accepted(buf_str(&out));
    path_check_protected(buf_str(&out), guarded, ARRAY_LEN(guarded), &err);
    return 0;
}
