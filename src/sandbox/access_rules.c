/* The rules themselves, and what the system says when it refuses.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>

#include "base/limits.h"
#include "base/path.h"
#include "sandbox/access.h"

int access_fail(struct err *err, int number, const char *what, const char *path)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return err_set(err, ERR_NOT_FOUND, "%s %s: %s", what, path, strerror(number));
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case EXDEV:
        return err_set(err, ERR_PATH_DENIED, "%s %s: %s", what, path, strerror(number));
    case ENAMETOOLONG:
        return err_set(err, ERR_BAD_REQUEST, "%s %.200s: a name longer than %d bytes", what, path,
                       LIMIT_PATH_NAME_BYTES);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return err_set(err, ERR_TOO_LARGE, "%s %s: %s; nothing was changed", what, path,
                       strerror(number));
    case EEXIST:
        return err_set(err, ERR_CONFLICT, "%s %s: it exists already", what, path);
    default:
        return err_set(err, ERR_INTERNAL, "%s %s: %s", what, path, strerror(number));
    }
}

const char *access_type_name(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "directory";
    case S_IFIFO:
        return "named pipe";
    case S_IFSOCK:
        return "socket";
    case S_IFCHR:
    case S_IFBLK:
        return "device";
    case S_IFLNK:
        return "symbolic link";
    case S_IFREG:
        return "file";
    default:
        return "special file";
    }
}

/* ---- rules ---- */

static bool is_below(struct str path, const char *rule)
{
    struct str root = str_from(rule);

    if (root.n == 1 && root.p[0] == '/')
        return true;
    return str_starts(path, root) && (path.n == root.n || path.p[root.n] == '/');
}

const char *access_rule_of(const char *const *rules, struct str path)
{
    for (size_t i = 0; rules && rules[i]; i++)
        if (is_below(path, rules[i]))
            return rules[i];
    return NULL;
}

static bool is_ascii(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    return true;
}

/* Names that a file system may take for one are the same here: it only refuses more. */
bool access_name_denied(const struct op_rules *rules, struct str name)
{
    for (size_t i = 0; rules->deny_names && rules->deny_names[i]; i++) {
        struct str denied = str_from(rules->deny_names[i]);

        if (str_eq_nocase(name, denied) || (!is_ascii(name) && path_same(name, denied)))
            return true;
    }
    return false;
}

bool access_path_denied(const struct op_rules *rules, struct str path)
{
    return access_rule_of(rules->deny_read, path) != NULL;
}

void access_ids_load(const struct op_rules *rules, struct access_ids *ret_ids)
{
    struct stat st;

    ret_ids->n = 0;
    for (size_t i = 0; rules->deny_read && rules->deny_read[i]; i++) {
        if (ret_ids->n == ACCESS_RULES_MAX)
            break;
        if (stat(rules->deny_read[i], &st) < 0 || !(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
            continue;
        ret_ids->id[ret_ids->n].dev = st.st_dev;
        ret_ids->id[ret_ids->n++].ino = st.st_ino;
    }
}

bool access_ids_have(const struct access_ids *ids, const struct stat *st)
{
    for (unsigned i = 0; i < ids->n; i++)
        if (ids->id[i].ino == st->st_ino && ids->id[i].dev == st->st_dev)
            return true;
    return false;
}
