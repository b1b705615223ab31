/* Archives in memory: read within bounds, written the same way every time.
 *
 * A header says how large its entry is before a byte of it is decompressed, and what lies is
 * caught while it is read: the most that is ever unpacked is the limit and one piece more.
 *
 * SPDX-License-Identifier: MIT
 */
#include "files/archive.h"

#include <zlib.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "files/archive_int.h"
#include "files/files.h"
#include "files/tar.h"
#include "files/unpack.h"

#define PIECE          (64 * KIB)
#define OVERHEAD_BYTES (2 * KIB) /* of headers, an entry */

static int refuse(struct err *err, const char *name, const char *why)
{
    return err_set(err, ERR_BAD_REQUEST, "entry \"%.*s\": %s",
                   STR_ARG(utf8_truncate(str_from(name), 200)), why);
}

static int read_content(struct collect *collect, struct unpack *unpack, struct str path,
                        struct str *ret_content, struct err *err)
{
    size_t left = collect->limits.total_bytes - collect->total;
    AUTO_BUF content =
        BUF_INIT((left < collect->limits.entry_bytes ? left : collect->limits.entry_bytes) + PIECE);
    size_t n;

    do {
        char *room = buf_reserve(&content, PIECE);

        if (!room || content.n > content.max - PIECE)
            return err_set(err, ERR_TOO_LARGE, "entry \"%.*s\": it unpacks to more than allowed",
                           STR_ARG(path));
        if (unpack_read(unpack, room, PIECE, &n, err) < 0)
            return err_wrap(err, "entry \"%.*s\"", STR_ARG(path));
        buf_grown(&content, n);
    } while (n);
    *ret_content = arena_str(collect->arena, buf_str(&content));
    return 0;
}

/* "dir/" names a folder and "./" stands before what some programs pack. */
static struct str name_of(const char *name)
{
    struct str path = str_from(name);

    while (str_starts(path, STR("./")))
        path = str_skip(path, 2);
    return path;
}

static int read_folder(struct collect *collect, struct str path, struct err *err)
{
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    if (path.n == 0 || str_is(path, "."))
        return 0;
    return file_path_check(path, collect->arena, NULL, err);
}

static int read_entry(struct collect *collect, struct unpack *unpack,
                      const struct unpack_entry *entry, struct err *err)
{
    struct str path, content;

    if (!entry->name)
        return refuse(err, "?", "its name is no UTF-8 text");
    path = name_of(entry->name);
    if (entry->encrypted)
        return refuse(err, entry->name, "it is encrypted");
    if (entry->kind == UNPACK_LINK)
        return refuse(err, entry->name, "it is a link");
    if (entry->kind == UNPACK_FOLDER)
        return read_folder(collect, path, err);
    if (entry->kind != UNPACK_FILE)
        return refuse(err, entry->name, "it is neither a file nor a folder");
    if (collect_check(collect, path, entry->size, err) < 0)
        return -1;
    path = arena_str(collect->arena, path);
    if (read_content(collect, unpack, path, &content, err) < 0)
        return -1;
    return collect_add(collect, path, content, entry->executable, err);
}

static int read_entries(struct collect *collect, struct unpack *unpack, struct err *err)
{
    struct unpack_entry entry;
    int r;

    while ((r = unpack_next(unpack, &entry, err)) == 1) {
        int64_t most = (int64_t)(collect->limits.total_bytes + MIB) +
                       (int64_t)collect->limits.entries * OVERHEAD_BYTES;

        if (unpack_cost(unpack) > most)
            return err_set(err, ERR_TOO_LARGE, "it unpacks to more than allowed");
        if (collect_count(collect, err) < 0 || read_entry(collect, unpack, &entry, err) < 0)
            return -1;
    }
    return r;
}

int archive_read(struct str bytes, const struct archive_limits *limits, struct arena *arena,
                 struct archive_entry **ret_entries, size_t *ret_count, struct err *err)
{
    AUTO(unpack) unpack = NULL;
    AUTO_COLLECT collect;

    collect_init(&collect, limits, arena);
    if (unpack_open(bytes, &unpack, err) < 0 || read_entries(&collect, unpack, err) < 0 ||
        collect_end(&collect, ret_entries, ret_count, err) < 0)
        return err_wrap(err, "read archive");
    return 0;
}

/* ---- writing ---- */

struct gzip {
    z_stream stream;
    struct buf *out;
};

static int pump(struct gzip *gzip, int flush, struct err *err)
{
    int r;

    do {
        char *room = buf_reserve(gzip->out, PIECE);

        if (!room)
            return err_set(err, ERR_TOO_LARGE, "the archive is larger than %zu bytes",
                           gzip->out->max);
        gzip->stream.next_out = (unsigned char *)room;
        gzip->stream.avail_out = PIECE;
        r = deflate(&gzip->stream, flush);
        BUG_IF(r == Z_STREAM_ERROR);
        buf_grown(gzip->out, PIECE - gzip->stream.avail_out);
    } while (gzip->stream.avail_out == 0 || (flush == Z_FINISH && r != Z_STREAM_END));
    return 0;
}

static int compress_bytes(void *to, struct str bytes, struct err *err)
{
    struct gzip *gzip = to;

    gzip->stream.next_in = (unsigned char *)(uintptr_t)bytes.p;
    gzip->stream.avail_in = (unsigned)bytes.n;
    return bytes.n ? pump(gzip, Z_NO_FLUSH, err) : 0;
}

static int write_entries(const struct tar *tar, const struct archive_entry *entries, size_t count,
                         struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        AUTO_TEXT name = alloc_copy(entries[i].path.p, entries[i].path.n);

        if (tar_add_member(tar, name, entries[i].content, entries[i].executable, err) < 0)
            return -1;
    }
    return tar_end(tar, err);
}

/* In order, and nothing that archive_read() would refuse for its path. */
static int check_entries(struct collect *collect, const struct archive_entry *entries, size_t count,
                         struct archive_entry **ret_order, struct err *err)
{
    size_t n;

    for (size_t i = 0; i < count; i++)
        if (collect_check(collect, entries[i].path, (int64_t)entries[i].content.n, err) < 0 ||
            collect_add(collect, entries[i].path, entries[i].content, entries[i].executable, err) <
                0)
            return -1;
    return collect_end(collect, ret_order, &n, err);
}

int archive_write(const struct archive_entry *entries, size_t count, struct buf *out,
                  struct err *err)
{
    static const struct archive_limits any = { INT64_MAX, INT64_MAX, INT64_MAX };
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_COLLECT collect;
    struct gzip gzip = { .out = out };
    gz_header header = { .os = 255 }; /* no time, no name, unknown system */
    struct tar tar = { .fd = -1, .write = compress_bytes, .to = &gzip };
    struct archive_entry *order;
    int r;

    collect_init(&collect, &any, &arena);
    if (check_entries(&collect, entries, count, &order, err) < 0)
        return err_wrap(err, "write archive");
    BUG_IF(deflateInit2(&gzip.stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                        Z_DEFAULT_STRATEGY) != Z_OK);
    deflateSetHeader(&gzip.stream, &header);
    r = write_entries(&tar, order, count, err);
    if (r >= 0)
        r = pump(&gzip, Z_FINISH, err);
    deflateEnd(&gzip.stream);
    return r < 0 ? err_wrap(err, "write archive") : 0;
}
