/* Writing a tar archive (POSIX ustar), so that a backup is one file which every system unpacks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_TAR_H
#define DORMOUSE_CLI_TAR_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define TAR_NAME_MAX 99

/* A regular file with mode 0600. name is at most TAR_NAME_MAX bytes. */
int tar_add_bytes(int fd, const char *name, struct str bytes, int64_t mtime_s, struct err *err);
/* The bytes of a file, as many as it has when it is opened; one that shrinks meanwhile is an
 * error. When sha256 is not NULL it gets the hash of what was
 * written (SHA256_TEXT_SIZE bytes). */
int tar_add_file(int fd, const char *name, const char *path, int64_t mtime_s, char *sha256,
                 struct err *err);
int tar_end(int fd, struct err *err);

#endif
