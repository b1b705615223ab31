/* What was last seen on disk, as text: a line a file.
 *
 *     VERSION HASH MTIME_NS SIZE INODE agents/ID PATH
 *
 * It is a memory aid: without it (or with a damaged one) every file is read and compared at the
 * next start, and a file that a person removed meanwhile comes back.
 *
 * SPDX-License-Identifier: MIT
 */
#include "files/view_int.h"

static bool next_number(struct str *rest, int64_t *ret)
{
    struct str field;

    return str_split(rest, ' ', &field) && str_to_i64(field, ret) == 0 && *ret >= 0;
}

static bool next_hash(struct str *rest, char ret[SHA256_TEXT_SIZE])
{
    uint8_t digest[SHA256_BYTES];
    struct str field;

    if (!str_split(rest, ' ', &field) || hex_decode(field, digest, sizeof(digest)) < 0)
        return false;
    hex_encode(digest, sizeof(digest), ret);
    return true;
}

bool view_state_next(struct str *rest, struct view_state_line *ret_line)
{
    struct view_seen *seen = &ret_line->seen;
    struct str line;
    uint64_t ino;
    struct str field;

    *ret_line = (struct view_state_line){ .seen = { .version = 0 } };
    if (rest->n == 0 || !str_split(rest, '\n', &line) || line.n == 0)
        return false;
    if (!next_number(&line, &seen->version) || !next_hash(&line, seen->hash) ||
        !next_number(&line, &seen->stat.mtime_ns) || !next_number(&line, &seen->stat.size) ||
        !str_split(&line, ' ', &field) || str_to_u64(field, &ino) < 0 ||
        !str_split(&line, ' ', &ret_line->tree))
        return false;
    seen->stat.ino = ino;
    ret_line->path = line;
    return file_tree_check(ret_line->tree, NULL) == 0 &&
           file_path_check(ret_line->path, NULL, NULL, NULL) == 0;
}

void view_state_add(struct buf *out, const char *tree, struct str path,
                    const struct view_seen *seen)
{
    /* A racy time must not vouch for the content later. */
    buf_printf(out, "%lld %s %lld %lld %llu %s %.*s\n", (long long)seen->version, seen->hash,
               (long long)(seen->stat.racy ? 0 : seen->stat.mtime_ns), (long long)seen->stat.size,
               (unsigned long long)seen->stat.ino, tree, STR_ARG(path));
}
