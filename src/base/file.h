/* Whole files: read with a cap, written so that a crash leaves the old or the new text.
 *
 * All of these block; the loop uses them at start-up only and otherwise from the pool.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_FILE_H
#define DORMOUSE_BASE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Appends a regular file to buf; its cap (BUF_INIT) is the most that is read. ERR_NOT_FOUND when
 * it is absent, ERR_TOO_LARGE past the cap, ERR_BAD_REQUEST when it is a directory or device. */
int file_read(const char *path, struct buf *buf, struct err *err);
/* The same from an open descriptor, which stays open; name is for messages. */
int file_read_fd(int fd, const char *name, struct buf *buf, struct err *err);

/* Replaces path by text: a temporary file beside it is written, synced and renamed over it, then
 * the directory is synced. On failure the old file is as it was and no temporary is left, unless
 * it is that last sync which fails: then the new text is in place, but may not outlive a crash. The
 * last component of path is never followed when it is a symbolic link: the link is replaced. */
int file_write_atomic(const char *path, struct str text, mode_t mode, struct err *err);
/* The same for a name (no slash) in an open directory. */
int file_write_atomic_at(int dir_fd, const char *name, struct str text, mode_t mode,
                         struct err *err);

/* Loops over short writes and interrupts. -1 with errno otherwise. */
int file_write_all(int fd, struct str text);

void file_close_auto(int *fd);
/* AUTO_FD fd = -1; closes at the end of its scope. */
#define AUTO_FD __attribute__((cleanup(file_close_auto))) int

#endif
