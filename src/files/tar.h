/* Writing a tar archive (POSIX ustar), so that a backup or an agent is one file which every system
 * unpacks. A name that is too long for a header goes into a pax record before it. And reading the
 * backups among them, which may be larger than memory; archives of others are read by archive.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FILES_TAR_H
#define DORMOUSE_FILES_TAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define TAR_NAME_MAX 4096

struct tar {
    int fd;
    /* Where the bytes go instead of fd; NULL: fd. */
    int (*write)(void *to, struct str bytes, struct err *err);
    void *to;
    int64_t mtime_s;                                        /* of every file */
    void (*progress)(int64_t done, int64_t all, void *arg); /* of a file's bytes; may be NULL */
    void *arg;
};

/* A regular file with mode 0600. name is at most TAR_NAME_MAX bytes. */
int tar_add_bytes(const struct tar *tar, const char *name, struct str bytes, struct err *err);
/* The same, with mode 0700 where executable. */
int tar_add_member(const struct tar *tar, const char *name, struct str bytes, bool executable,
                   struct err *err);
/* The bytes of a file, as many as it has when it is opened; one that shrinks meanwhile is an
 * error. When sha256 is not NULL it gets the hash of what was
 * written (SHA256_TEXT_SIZE bytes). */
int tar_add_file(const struct tar *tar, const char *name, const char *path, char *sha256,
                 struct err *err);
int tar_end(const struct tar *tar, struct err *err);

struct tar_entry {
    char name[100];
    int64_t size;
    int64_t left; /* of its bytes, unread */
};

/* The next file, after all of the one before was read: 1, or 0 at the end; integrity_failed for an
 * archive that is cut off, damaged, or has more than plain files with short names. */
int tar_next(int fd, struct tar_entry *ret_entry, struct err *err);
/* Its next bytes; *ret_n is 0 at its end. */
int tar_read(int fd, struct tar_entry *entry, char *out, size_t room, size_t *ret_n,
             struct err *err);

#endif
