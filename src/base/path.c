/* Normalisation of untrusted paths.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/path.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/path_int.h"
#include "base/utf8.h"

#define SHOWN_MAX 80

static int denied(struct err *err, struct str path, const char *reason)
{
    AUTO_BUF shown = BUF_INIT(6 * SHOWN_MAX);
    struct str rest = str_take(path, SHOWN_MAX);

    /* A message must not carry what was refused for deceiving. */
    while (rest.n) {
        uint32_t code = UTF8_REPLACEMENT;

        if (utf8_decode(&rest, &code) < 0 || utf8_oddity_of(code) == UTF8_PLAIN)
            buf_add_utf8(&shown, code);
        else
            buf_printf(&shown, "\\u%04x", code);
    }
    return err_set(err, ERR_PATH_DENIED, "path \"%s%s\": %s", buf_text(&shown),
                   path.n > SHOWN_MAX ? "…" : "", reason);
}

static int check_characters(struct str path, struct err *err)
{
    unsigned refused = 1u << UTF8_INVALID | 1u << UTF8_CONTROL | 1u << UTF8_BIDI |
                       1u << UTF8_HIDDEN | 1u << UTF8_ODD_SPACE | 1u << UTF8_PRIVATE;
    enum utf8_oddity oddity;
    char reason[128];
    uint32_t code;
    size_t at;

    oddity = utf8_find_odd(path, refused, &at, &code);
    if (oddity == UTF8_PLAIN)
        return 0;
    if (oddity == UTF8_INVALID)
        snprintf(reason, sizeof(reason), "invalid UTF-8 at byte %zu", at);
    else if (code == 0)
        snprintf(reason, sizeof(reason), "NUL at byte %zu", at);
    else
        snprintf(reason, sizeof(reason), "%s U+%04X at byte %zu", utf8_oddity_name(oddity), code,
                 at);
    return denied(err, path, reason);
}

/* CON, con.txt, COM1, LPT¹: opened as devices by Windows whatever the directory. */
static bool is_device(struct str name)
{
    static const char *const devices[] = { "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$" };
    ptrdiff_t dot = str_find_char(name, '.');
    struct str stem = str_trim(dot < 0 ? name : str_take(name, (size_t)dot));
    struct str port = str_skip(stem, 3);

    for (size_t i = 0; i < ARRAY_LEN(devices); i++)
        if (str_eq_nocase(stem, str_from(devices[i])))
            return true;
    if (!str_eq_nocase(str_take(stem, 3), STR("COM")) &&
        !str_eq_nocase(str_take(stem, 3), STR("LPT")))
        return false;
    return (port.n == 1 && port.p[0] >= '0' && port.p[0] <= '9') || str_is(port, "¹") ||
           str_is(port, "²") || str_is(port, "³");
}

/* GIT~1, PROGRA~2.TXT: by such a name FAT and NTFS also find a file of another, longer one. */
static bool is_short_alias(struct str name)
{
    ptrdiff_t dot = str_find_char(name, '.');
    struct str stem = dot < 0 ? name : str_take(name, (size_t)dot);
    ptrdiff_t tilde = str_find_char(stem, '~');
    uint64_t number;

    if (tilde < 1 || stem.n > 8 || (dot >= 0 && name.n - stem.n > 4))
        return false;
    return str_to_u64(str_skip(stem, (size_t)tilde + 1), &number) == 0;
}

/* Slashes of mathematics, which some systems turn into plain ones. */
static bool has_odd_slash(struct str name)
{
    static const char *const slashes[] = { "\u2044", "\u2215", "\u2216",
                                           "\u29F5", "\u29F8", "\u29F9" };

    for (size_t i = 0; i < ARRAY_LEN(slashes); i++)
        if (str_find(name, str_from(slashes[i])) >= 0)
            return true;
    return false;
}

/* Fullwidth dots and slashes are plain ones to some systems. */
static bool folds_to_structure(struct str name)
{
    AUTO_BUF folded = BUF_INIT(4 * LIMIT_PATH_BYTES);
    struct str s;

    if (has_odd_slash(name) || path_fold(name, &folded) < 0)
        return true;
    s = buf_str(&folded);
    return str_is(s, ".") || str_is(s, "..") || str_find_char(s, '/') >= 0 ||
           str_find_char(s, '\\') >= 0 || str_ends(s, STR(".")) != str_ends(name, STR(".")) ||
           is_device(s) || is_short_alias(s);
}

static bool has_compatibility(struct str name)
{
    while (name.n) {
        uint32_t code = 0;

        if (utf8_decode(&name, &code) < 0 || path_is_compatibility(code))
            return true;
    }
    return false;
}

static bool is_ascii(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] >= 0x80)
            return false;
    return true;
}

/* NULL when the name is fine. */
static const char *name_fault(struct str name)
{
    struct str rest = name;
    uint32_t first;

    if (str_is(name, ".."))
        return "\"..\" is not allowed";
    if (name.n > LIMIT_PATH_NAME_BYTES)
        return "a name is longer than 255 bytes";
    if (name.p[name.n - 1] == '.' || name.p[name.n - 1] == ' ')
        return "a name ends in a dot or blank";
    if (name.p[0] == ' ')
        return "a name begins with a blank";
    for (size_t i = 0; i < name.n; i++)
        if (strchr(":*?<>|\"", name.p[i]))
            return "a name holds one of : * ? < > | \"";
    if (is_device(name))
        return "a name is that of a Windows device";
    if (is_short_alias(name))
        return "a name looks like a short alias of Windows (NAME~1)";
    if (is_ascii(name))
        return NULL;
    if (utf8_decode(&rest, &first) == 0 && path_is_mark(first))
        return "a name begins with a combining mark";
    if (has_compatibility(name))
        return "a name holds a compatibility form; write the plain characters";
    if (folds_to_structure(name))
        return "a name looks like a dot, a slash, a device or a short alias";
    return NULL;
}

int path_normalise(struct str path, struct buf *out, struct err *err)
{
    struct str rest = path, name;
    size_t start = out->n;

    if (path.n == 0)
        return denied(err, path, "empty");
    if (path.n > LIMIT_PATH_BYTES)
        return denied(err, path, "longer than 4096 bytes");
    if (check_characters(path, err) < 0)
        return -1;
    if (path.p[0] == '/')
        return denied(err, path, "absolute; it must be relative");
    if (str_find_char(path, '\\') >= 0)
        return denied(err, path, "backslash; names are separated by /");
    while (str_split(&rest, '/', &name)) {
        const char *fault;

        if (name.n == 0 || str_is(name, "."))
            continue;
        fault = name_fault(name);
        if (fault) {
            if (out->p)
                out->p[out->n = start] = '\0';
            return denied(err, path, fault);
        }
        if (out->n > start)
            buf_add_char(out, '/');
        buf_add_str(out, name);
    }
    if (out->full)
        return err_set(err, ERR_TOO_LARGE, "path does not fit into %zu bytes", out->max);
    return out->n == start ? denied(err, path, "names no file") : 0;
}

bool path_same(struct str a, struct str b)
{
    AUTO_BUF fold_a = BUF_INIT(4 * LIMIT_PATH_BYTES);
    AUTO_BUF fold_b = BUF_INIT(4 * LIMIT_PATH_BYTES);

    if (path_fold(a, &fold_a) < 0 || path_fold(b, &fold_b) < 0)
        return str_eq(a, b);
    return str_eq(buf_str(&fold_a), buf_str(&fold_b));
}

int path_check_protected(struct str path, const char *const *protected_paths, size_t n,
                         struct err *err)
{
    AUTO_BUF folded = BUF_INIT(4 * LIMIT_PATH_BYTES);

    if (path_fold(path, &folded) < 0)
        return denied(err, path, "can't be compared");
    for (size_t i = 0; i < n; i++) {
        AUTO_BUF guard = BUF_INIT(4 * LIMIT_PATH_BYTES);
        struct str below;
        char reason[160];

        BUG_IF(path_fold(str_from(protected_paths[i]), &guard) < 0);
        if (!str_starts(buf_str(&folded), buf_str(&guard)))
            continue;
        below = str_skip(buf_str(&folded), guard.n);
        if (below.n && below.p[0] != '/')
            continue;
        snprintf(reason, sizeof(reason), "\"%.100s\" is protected", protected_paths[i]);
        return denied(err, path, reason);
    }
    return 0;
}
