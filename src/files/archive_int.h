/* Between the readers of archives and folders.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FILES_ARCHIVE_INT_H
#define DORMOUSE_FILES_ARCHIVE_INT_H

#include "base/map.h"
#include "files/archive.h"

/* What was read so far, against the limits. */
struct collect {
    struct archive_limits limits; /* none 0 */
    struct arena *arena;
    struct archive_entry *entries;
    size_t count, room, total;
    size_t seen;       /* entries of any kind */
    struct map folded; /* paths as they are compared */
};

void collect_init(struct collect *collect, const struct archive_limits *limits,
                  struct arena *arena);
void collect_release(struct collect *collect);
#define AUTO_COLLECT __attribute__((cleanup(collect_release))) struct collect

/* One more entry of any kind. */
int collect_count(struct collect *collect, struct err *err);
/* Before it is read: whether a file of this path and size (-1: unknown) may be added. */
int collect_check(struct collect *collect, struct str path, int64_t size, struct err *err);
/* After collect_check(); content belongs to the arena. */
int collect_add(struct collect *collect, struct str path, struct str content, bool executable,
                struct err *err);
/* Sorted by path. */
int collect_end(struct collect *collect, struct archive_entry **ret_entries, size_t *ret_count,
                struct err *err);

#endif
