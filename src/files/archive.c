/* Archives in memory: read within bounds, written the same way every time.
 *
 * A header says how large its entry is before a byte of it is decompressed, and what lies is
 * caught while it is read: the most that is ever unpacked is the limit and one piece more.
 *
 * SPDX-License-Identifier: MIT
 */
#include "files/archive.h"

#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "files/archive_int.h"
#include "files/files.h"
#include "files/tar.h"
#include "files/tar_int.h"
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

static uint64_t unpacked_most(const struct archive_limits *limits)
{
    return limits->total_bytes + MIB + limits->entries * OVERHEAD_BYTES;
}

static int read_entries(struct collect *collect, struct unpack *unpack, struct err *err)
{
    struct unpack_entry entry;
    int r;

    while ((r = unpack_next(unpack, &entry, err)) == 1) {
        if (unpack_cost(unpack) > (int64_t)unpacked_most(&collect->limits))
            return err_set(err, ERR_TOO_LARGE, "it unpacks to more than allowed");
        if (collect_count(collect, err) < 0 || read_entry(collect, unpack, &entry, err) < 0)
            return -1;
    }
    return r;
}

/* ---- is it whole? ---- */

#define TAR_END_BYTES  (2 * TAR_BLOCK) /* zeros */
#define ZIP_END_BYTES  22              /* the record at the end of a zip, and a comment after it */
#define ZIP_NOTE_BYTES 65535

static int cut_off(struct err *err, const char *what)
{
    return err_set(err, ERR_BAD_REQUEST, "it is cut off: %s", what);
}

static bool is_zip_whole(struct str bytes)
{
    size_t most = ZIP_END_BYTES + ZIP_NOTE_BYTES;
    size_t first = bytes.n > most ? bytes.n - most : 0;

    for (size_t at = bytes.n - ZIP_END_BYTES + 1; bytes.n >= ZIP_END_BYTES && at-- > first;) {
        const unsigned char *end = (const unsigned char *)bytes.p + at;

        if (memcmp(end, "PK\5\6", 4) == 0 &&
            at + ZIP_END_BYTES + ((size_t)end[20] | (size_t)end[21] << 8) == bytes.n)
            return true;
    }
    return false;
}

/* The last bytes of what was unpacked so far. */
struct tail {
    char bytes[TAR_END_BYTES];
    size_t n;
};

static void tail_add(struct tail *tail, struct str piece)
{
    size_t keep = piece.n < TAR_END_BYTES ? TAR_END_BYTES - piece.n : 0;

    if (keep > tail->n)
        keep = tail->n;
    memmove(tail->bytes, tail->bytes + tail->n - keep, keep);
    piece = piece.n > TAR_END_BYTES ? str_skip(piece, piece.n - TAR_END_BYTES) : piece;
    memcpy(tail->bytes + keep, piece.p, piece.n);
    tail->n = keep + piece.n;
}

static int check_tar_end(const struct tail *tail, uint64_t total, struct err *err)
{
    static const char zeros[TAR_END_BYTES];

    if (total % TAR_BLOCK == 0 && tail->n == TAR_END_BYTES &&
        memcmp(tail->bytes, zeros, TAR_END_BYTES) == 0)
        return 0;
    return cut_off(err, "a tar archive ends with two empty blocks");
}

/* Its check sum and length are right, and so is the end of the tar in it. What unpacks to more than
 * most is refused for that by the reader. */
static int check_gzip(struct str bytes, uint64_t most, struct err *err)
{
    z_stream stream = { .next_in = (unsigned char *)(uintptr_t)bytes.p,
                        .avail_in = (unsigned)bytes.n };
    AUTO_TEXT piece = alloc_zero(1, PIECE);
    struct tail tail = { .n = 0 };
    uint64_t total = 0;
    int r;

    BUG_IF(inflateInit2(&stream, MAX_WBITS + 16) != Z_OK);
    do {
        stream.next_out = (unsigned char *)piece;
        stream.avail_out = PIECE;
        r = inflate(&stream, Z_NO_FLUSH);
        tail_add(&tail, str_of(piece, PIECE - stream.avail_out));
        total += PIECE - stream.avail_out;
        /* Some programs write several streams one after the other. */
        if (r == Z_STREAM_END && stream.avail_in > 1 && stream.next_in[0] == 0x1f)
            r = inflateReset(&stream);
    } while (r == Z_OK && total <= most);
    inflateEnd(&stream);
    if (total > most)
        return 0;
    if (r == Z_BUF_ERROR)
        return cut_off(err, "its gzip stream does not end");
    if (r != Z_STREAM_END)
        return err_set(err, ERR_BAD_REQUEST, "its gzip stream is damaged");
    return check_tar_end(&tail, total, err);
}

/* libarchive reads what there is of an archive and calls that its end. */
static int check_whole(struct str bytes, const struct archive_limits *limits, struct err *err)
{
    struct tail tail = { .n = 0 };

    if (str_starts(bytes, STR("PK")))
        return is_zip_whole(bytes) ? 0 : cut_off(err, "a zip archive ends with its directory");
    if (str_starts(bytes, STR("\x1f\x8b")))
        return check_gzip(bytes, unpacked_most(limits), err);
    tail_add(&tail, bytes);
    return bytes.n >= 512 && memcmp(bytes.p + 257, "ustar", 5) == 0
               ? check_tar_end(&tail, bytes.n, err)
               : 0;
}

int archive_read(struct str bytes, const struct archive_limits *limits, struct arena *arena,
                 struct archive_entry **ret_entries, size_t *ret_count, struct err *err)
{
    AUTO(unpack) unpack = NULL;
    AUTO_COLLECT collect;

    collect_init(&collect, limits, arena);
    if (check_whole(bytes, &collect.limits, err) < 0 || unpack_open(bytes, &unpack, err) < 0 ||
        read_entries(&collect, unpack, err) < 0 ||
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
