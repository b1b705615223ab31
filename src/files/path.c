/* Which paths a tree may hold.
 *
 * path_normalise() knows what is hostile in general. A tree asks for more: a path must come in its
 * one normal spelling, because it is stored, compared and shown as it is, and nothing in it may
 * mean something else to a program that decodes it once more.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/path.h"
#include "agent/agent.h"
#include "base/utf8.h"
#include "files/files_int.h"
#include "files/nfc_int.h"

#define PARTS_MAX  16
#define FOLDED_MAX (4 * FILE_PATH_MAX)
#define SHOWN_MAX  80

static int denied(struct err *err, struct str path, const char *reason)
{
    struct str shown = utf8_truncate(path, SHOWN_MAX);

    return err_set(err, ERR_PATH_DENIED, "path \"%.*s%s\": %s", STR_ARG(shown),
                   shown.n < path.n ? "…" : "", reason);
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* %2e, %2F, %00, %c0%ae, %252e: all begin in the same way. */
static bool has_encoded(struct str path)
{
    for (size_t i = 0; i + 2 < path.n; i++)
        if (path.p[i] == '%' && is_hex(path.p[i + 1]) && is_hex(path.p[i + 2]))
            return true;
    return false;
}

/* NULL when all parts are fine. path is normalised. */
static const char *parts_fault(struct str path)
{
    struct str rest = path, part;
    size_t count = 0;

    while (str_split(&rest, '/', &part)) {
        if (++count > PARTS_MAX)
            return "more than 16 parts";
        if (part.p[0] == '.')
            return "a name begins with a dot";
    }
    return NULL;
}

static const char *spelling_fault(struct str path)
{
    switch (nfc_check(path)) {
    case NFC_DECOMPOSED:
        return "not in composed form (NFC)";
    case NFC_UNKNOWN:
        return "a code point that is no character";
    case NFC_FINE:
        break;
    }
    return NULL;
}

int file_path_check(struct str path, struct arena *arena, struct str *ret_folded, struct err *err)
{
    AUTO_BUF normal = BUF_INIT(LIMIT_PATH_BYTES);
    AUTO_BUF folded = BUF_INIT(FOLDED_MAX);
    const char *fault;

    if (path_normalise(path, &normal, err) < 0)
        return -1;
    if (path.n > FILE_PATH_MAX)
        return denied(err, path, "longer than 1024 bytes");
    if (!str_eq(buf_str(&normal), path))
        return denied(err, path, "\".\" and empty parts are not allowed");
    fault = parts_fault(path);
    if (fault)
        return denied(err, path, fault);
    if (has_encoded(path))
        return denied(err, path, "a percent-encoded character; write the character itself");
    fault = spelling_fault(path);
    if (fault)
        return denied(err, path, fault);
    if (path_fold(path, &folded) < 0)
        return denied(err, path, "can't be compared");
    if (ret_folded)
        *ret_folded = arena_str(arena, buf_str(&folded));
    return 0;
}

int file_tree_check(struct str tree, struct err *err)
{
    struct str rest = tree, kind = STR_NONE;

    if (tree.n && str_split(&rest, '/', &kind) &&
        (str_is(kind, "agents") || str_is(kind, "users")) && agent_id_check(rest, NULL) == 0)
        return 0;
    return err_set(err, ERR_PATH_DENIED, "tree \"%.*s\": it is agents/ID or users/ID",
                   STR_ARG(utf8_truncate(tree, SHOWN_MAX)));
}
