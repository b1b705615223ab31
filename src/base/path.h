/* Paths from outside: normalised so that they can't leave their root, and opened so that nothing
 * on disk can lead them out of it.
 *
 * path_normalise() looks at the text alone; path_open_beneath() at the file system. Use both: the
 * first gives the name that is stored, compared and shown, the second holds even when links are
 * swapped in meanwhile.
 *
 * Names that look alike. Two names that a person or a case-insensitive file system may take for
 * one have the same path_fold(): Unicode case folding and compatibility decomposition, marks on one
 * letter in a fixed order, invisible characters dropped. Blocks that are second forms of other
 * characters (presentation forms, squared words, mathematical letters, doubled ideographs) are
 * refused in names instead. Limits: look-alikes of different scripts (Cyrillic а, Latin a) stay
 * different, and the tables are of the Unicode that the building Python knows (14 on Debian 12), so
 * the key is for comparing and never for storing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_PATH_H
#define DORMOUSE_BASE_PATH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Appends the normal form of an untrusted relative path to out: components joined by single
 * slashes, without `.`, leading `./` or trailing slash. ERR_PATH_DENIED, naming the reason and the
 * place, for: empty, absolute, `..`, NUL, a backslash, invalid UTF-8, control, bidirectional and
 * hidden characters and unusual spaces, a name that ends in a dot or blank or begins with a
 * blank, what Windows takes for a device, a stream or a short alias (CON, NUL.txt, a:b, GIT~1, and
 * any of * ? < > | "), names longer than LIMIT_PATH_NAME_BYTES, paths longer than LIMIT_PATH_BYTES,
 * a name that begins with a combining mark, holds a compatibility form, or looks like `..` or a
 * slash (fullwidth dots). */
int path_normalise(struct str path, struct buf *out, struct err *err);

/* Appends the comparison key of a path or name. -1 when out is full or it is no valid UTF-8. */
int path_fold(struct str path, struct buf *out);
/* Whether a person or a file system may take one for the other. */
bool path_same(struct str a, struct str b);
/* ERR_PATH_DENIED when a component of `path` (normalised) is the same, in the sense above, as
 * that component of one of `protected_paths` or lies below it: ".git" covers ".GIT/config". */
int path_check_protected(struct str path, const char *const *protected_paths, size_t n,
                         struct err *err);

/* Opens a normalised path below the directory root_fd, following no symbolic link in any
 * component and crossing to no place outside. O_CLOEXEC is added to flags. The
 * kernel's openat2() does it in one step; where that is missing or forbidden, each component is
 * opened by itself. ERR_PATH_DENIED for a link, ERR_NOT_FOUND for what is not there. */
int path_open_beneath(int root_fd, const char *path, int flags, mode_t mode, int *ret_fd,
                      struct err *err);
/* The fallback alone, for tests. */
int path_open_walking(int root_fd, const char *path, int flags, mode_t mode, int *ret_fd,
                      struct err *err);
/* Creates the directories of path that are missing; none of those on the way may be a link. */
int path_mkdir_beneath(int root_fd, const char *path, mode_t mode, struct err *err);
/* file_write_atomic_at() for a path whose directory exists. */
int path_write_beneath(int root_fd, const char *path, struct str text, mode_t mode,
                       struct err *err);

#endif
