/* Archives: hostile ones read within bounds, our own written the same way every time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FILES_ARCHIVE_H
#define DORMOUSE_FILES_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct archive_entry {
    struct str path; /* checked by file_path_check(); folders are not listed */
    struct str content;
    bool executable;
};

struct archive_limits {
    size_t entries;     /* 0: 1,000 */
    size_t entry_bytes; /* 0: 1 MiB */
    size_t total_bytes; /* 0: 16 MiB, after decompression */
};

/* These block, for as long as unpacking the limits takes: any thread.
 *
 * tar (also gzip) or zip in memory. Refused: links, devices, paths that leave, two entries of one
 * path, encryption, more than the limits (before it is unpacked, so a bomb costs nothing), and what
 * is cut off: a zip without its directory, a gzip without its end, a tar without its last blocks.
 */
int archive_read(struct str bytes, const struct archive_limits *limits, struct arena *arena,
                 struct archive_entry **ret_entries, size_t *ret_count, struct err *err);
/* The same of a folder on disk; links are refused, hidden files are left out. */
int archive_read_dir(const char *path, const struct archive_limits *limits, struct arena *arena,
                     struct archive_entry **ret_entries, size_t *ret_count, struct err *err);
/* A gzipped tar with entries in order of path and no time or owner in it: the same content is the
 * same bytes. conflict for two entries of one path, or a file where another needs a folder. */
int archive_write(const struct archive_entry *entries, size_t count, struct buf *out,
                  struct err *err);

#endif
