/* What an archive or a folder may hold, counted while it is read.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/limits.h"
#include "files/archive_int.h"
#include "files/files.h"

#define ENTRIES_DEFAULT     1000
#define ENTRY_BYTES_DEFAULT (1 * MIB)
#define TOTAL_BYTES_DEFAULT (16 * MIB)

void collect_init(struct collect *collect, const struct archive_limits *limits, struct arena *arena)
{
    *collect = (struct collect){ .arena = arena, .folded = MAP_INIT };
    if (limits)
        collect->limits = *limits;
    if (!collect->limits.entries)
        collect->limits.entries = ENTRIES_DEFAULT;
    if (!collect->limits.entry_bytes)
        collect->limits.entry_bytes = ENTRY_BYTES_DEFAULT;
    if (!collect->limits.total_bytes)
        collect->limits.total_bytes = TOTAL_BYTES_DEFAULT;
}

void collect_release(struct collect *collect)
{
    map_release(&collect->folded);
}

int collect_count(struct collect *collect, struct err *err)
{
    if (++collect->seen > collect->limits.entries)
        return err_set(err, ERR_TOO_LARGE, "more than %zu entries", collect->limits.entries);
    return 0;
}

static int check_size(const struct collect *collect, struct str path, int64_t size, struct err *err)
{
    if (size > (int64_t)collect->limits.entry_bytes)
        return err_set(err, ERR_TOO_LARGE, "entry \"%.*s\": more than %zu bytes", STR_ARG(path),
                       collect->limits.entry_bytes);
    if (size > 0 && (size_t)size > collect->limits.total_bytes - collect->total)
        return err_set(err, ERR_TOO_LARGE, "entry \"%.*s\": with it more than %zu bytes in all",
                       STR_ARG(path), collect->limits.total_bytes);
    return 0;
}

int collect_check(struct collect *collect, struct str path, int64_t size, struct err *err)
{
    struct str folded;

    if (file_path_check(path, collect->arena, &folded, err) < 0)
        return -1;
    if (map_find(&collect->folded, folded))
        return err_set(err, ERR_CONFLICT, "entry \"%.*s\": it is there twice", STR_ARG(path));
    return check_size(collect, path, size, err);
}

int collect_add(struct collect *collect, struct str path, struct str content, bool executable,
                struct err *err)
{
    struct str folded;

    if (check_size(collect, path, (int64_t)content.n, err) < 0 ||
        file_path_check(path, collect->arena, &folded, err) < 0)
        return -1;
    if (collect->count == collect->room) {
        size_t room = collect->room ? collect->room * 2 : 16;
        struct archive_entry *more = ARENA_NEW_N(collect->arena, struct archive_entry, room);

        if (collect->count)
            memcpy(more, collect->entries, collect->count * sizeof(*more));
        collect->entries = more;
        collect->room = room;
    }
    map_put(&collect->folded, folded, collect);
    collect->total += content.n;
    collect->entries[collect->count++] = (struct archive_entry){
        .path = arena_str(collect->arena, path), .content = content, .executable = executable
    };
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return str_cmp(((const struct archive_entry *)a)->path,
                   ((const struct archive_entry *)b)->path);
}

/* No file where another entry needs a folder. */
static int check_parents(struct collect *collect, struct str path, struct err *err)
{
    struct str folded;

    if (file_path_check(path, collect->arena, &folded, err) < 0)
        return -1;
    for (size_t i = 0; i < folded.n; i++)
        if (folded.p[i] == '/' && map_find(&collect->folded, str_take(folded, i)))
            return err_set(err, ERR_CONFLICT, "entry \"%.*s\": a part of its path is a file",
                           STR_ARG(path));
    return 0;
}

int collect_end(struct collect *collect, struct archive_entry **ret_entries, size_t *ret_count,
                struct err *err)
{
    for (size_t i = 0; i < collect->count; i++)
        if (check_parents(collect, collect->entries[i].path, err) < 0)
            return -1;
    if (collect->count)
        qsort(collect->entries, collect->count, sizeof(*collect->entries), by_path);
    *ret_entries = collect->entries;
    *ret_count = collect->count;
    return 0;
}
