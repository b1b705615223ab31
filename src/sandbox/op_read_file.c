/* read_file: lines of a text with their numbers, or what kind of file it is.
 *
 * Files up to OP_FILE_MAX are read whole, so that their hash can be remembered for write_file. Of
 * larger ones only what leads to the wanted lines is read, up to READ_FAR_MAX; nothing depends on
 * how large they say they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/utf8.h"
#include "sandbox/op_file.h"
#include "sandbox/op_lines.h"
#include "sandbox/op_sniff.h"

#define READ_LINES_DEFAULT 2000
#define READ_LINES_MAX     20000
#define READ_FAR_MAX       (256 * MIB)
#define READ_STEP          (256 * KIB)
#define READ_ENTRIES_MAX   1000
#define READ_NAMES_MAX     100000 /* of a directory; more are not looked at */

struct range {
    int64_t offset, limit;
};

static int get_range(struct json_object *arguments, struct range *ret_range, struct err *err)
{
    struct range range = { .offset = 1, .limit = READ_LINES_DEFAULT };

    if (json_get_i64(arguments, "offset", &range.offset, err) < 0 ||
        json_get_i64(arguments, "limit", &range.limit, err) < 0)
        return -1;
    if (range.offset < 1)
        return err_set(err, ERR_BAD_REQUEST, "offset is %lld; lines are counted from 1",
                       (long long)range.offset);
    if (range.limit < 1 || range.limit > READ_LINES_MAX)
        return err_set(err, ERR_BAD_REQUEST, "limit is %lld; 1 to %d lines are allowed",
                       (long long)range.limit, READ_LINES_MAX);
    *ret_range = range;
    return 0;
}

static void write_head(struct json_writer *out, const char *path, const char *kind, int64_t bytes)
{
    json_put_text(out, "path", path);
    json_put_text(out, "kind", kind);
    if (bytes >= 0) {
        json_put_i64(out, "bytes", bytes);
    }
}

static void write_hash(struct json_writer *out, const char *sha256)
{
    if (!sha256)
        return;
    json_put_text(out, "sha256", sha256);
}

static void write_sniff(struct json_writer *out, const char *path, const struct sniff *kind,
                        int64_t bytes, const char *sha256)
{
    json_write_object_begin(out);
    write_head(out, path, kind->kind == SNIFF_IMAGE ? "image" : "binary", bytes);
    json_put_text(out, "type", kind->type);
    if (kind->width && kind->height) {
        json_put_u64(out, "width", kind->width);
        json_put_u64(out, "height", kind->height);
    }
    write_hash(out, sha256);
    json_write_object_end(out);
}

/* ---- text ---- */

static void note(struct json_writer *out, const char *text)
{
    json_write_text(out, text);
}

static void write_notes(struct json_writer *out, const struct lines *lines, bool hashed)
{
    char text[128];

    json_put_array(out, "notes");
    if (lines->shortened) {
        snprintf(text, sizeof(text), "%llu lines longer than %d bytes were shortened",
                 (unsigned long long)lines->shortened, LINES_LINE_MAX);
        note(out, text);
    }
    if (lines->invalid) {
        snprintf(text, sizeof(text), "%llu lines hold bytes that are no UTF-8, shown as U+FFFD",
                 (unsigned long long)lines->invalid);
        note(out, text);
    }
    if (lines->with_cr)
        note(out, "lines end in CR LF");
    if (!hashed) {
        snprintf(text, sizeof(text), "larger than %u bytes: write_file can't overwrite it",
                 OP_FILE_MAX);
        note(out, text);
    }
    json_write_array_end(out);
}

/* total is negative when it is not known. */
static void write_text(struct json_writer *out, const char *path, const struct lines *lines,
                       int64_t bytes, int64_t total, const char *sha256)
{
    bool more = total < 0 || (int64_t)lines->last < total;

    json_write_object_begin(out);
    write_head(out, path, "text", bytes);
    json_put_object(out, "lines");
    json_put_u64(out, "first", lines->last ? lines->first : 0);
    json_put_u64(out, "last", lines->last);
    if (total >= 0) {
        json_put_i64(out, "total", total);
    }
    json_write_object_end(out);
    json_put_str(out, "text", buf_str(&lines->text));
    json_put_bool(out, "truncated", more);
    if (more) {
        json_put_u64(out, "next_offset", lines->last + 1);
    }
    write_hash(out, sha256);
    if (lines->shortened || lines->invalid || lines->with_cr || !sha256)
        write_notes(out, lines, sha256 != NULL);
    json_write_object_end(out);
}

static int past_end(struct err *err, const struct range *range, uint64_t total)
{
    return err_set(err, ERR_BAD_REQUEST, "offset is %lld, but the file has %llu lines",
                   (long long)range->offset, (unsigned long long)total);
}

static int read_whole(struct op_ctx *ctx, const char *path, int fd, const struct range *range,
                      struct json_writer *out, struct err *err)
{
    __attribute__((cleanup(lines_release))) struct lines lines;
    AUTO_BUF text = BUF_INIT(OP_FILE_MAX);
    char sha256[SHA256_TEXT_SIZE];
    struct sniff kind;
    uint64_t total;

    lines_init(&lines, (uint64_t)range->offset, (uint64_t)range->limit);
    if (file_read_fd(fd, path, &text, err) < 0)
        return -1;
    sha256_text(buf_str(&text), sha256);
    kind = sniff(str_take(buf_str(&text), text.n < SNIFF_BYTES ? text.n : SNIFF_BYTES));
    if (kind.kind != SNIFF_TEXT) {
        op_seen_put(ctx->state, path, sha256);
        write_sniff(out, path, &kind, (int64_t)text.n, sha256);
        return 0;
    }
    lines_add(&lines, buf_str(&text));
    total = lines_end(&lines);
    if ((uint64_t)range->offset > total && range->offset > 1)
        return past_end(err, range, total);
    op_seen_put(ctx->state, path, sha256);
    write_text(out, path, &lines, (int64_t)text.n, (int64_t)total, sha256);
    return 0;
}

/* Reads on until the window is filled. *ret_total is -1 when the end was not reached. */
static int read_lines(struct op_ctx *ctx, const char *path, int fd, struct lines *lines,
                      struct buf *piece, int64_t *ret_total, struct err *err)
{
    uint64_t far = 0;

    for (;;) {
        ssize_t n;

        lines_add(lines, buf_str(piece));
        if (lines_done(lines))
            break;
        if (op_check(ctx, err) < 0)
            return -1;
        if (far >= READ_FAR_MAX)
            return err_set(err, ERR_TOO_LARGE,
                           "line %llu of %s lies past its first %u MiB; use bash (tail, sed) there",
                           (unsigned long long)lines->first, path, READ_FAR_MAX / MIB);
        buf_clear(piece);
        n = read(fd, buf_reserve(piece, READ_STEP), READ_STEP);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return access_fail(err, errno, "read", path);
        if (n == 0) {
            *ret_total = (int64_t)lines_end(lines);
            return 0;
        }
        buf_grown(piece, (size_t)n);
        far += (size_t)n;
    }
    *ret_total = -1;
    return 0;
}

static int read_part(struct op_ctx *ctx, const char *path, int fd, const struct stat *st,
                     const struct range *range, struct json_writer *out, struct err *err)
{
    __attribute__((cleanup(lines_release))) struct lines lines;
    AUTO_BUF piece = BUF_INIT(READ_STEP);
    struct sniff kind;
    int64_t total = -1;
    ssize_t n;

    lines_init(&lines, (uint64_t)range->offset, (uint64_t)range->limit);
    n = read(fd, buf_reserve(&piece, SNIFF_BYTES), SNIFF_BYTES);
    if (n < 0)
        return access_fail(err, errno, "read", path);
    buf_grown(&piece, (size_t)n);
    kind = sniff(buf_str(&piece));
    if (kind.kind != SNIFF_TEXT) {
        write_sniff(out, path, &kind, st->st_size, NULL);
        return 0;
    }
    if (read_lines(ctx, path, fd, &lines, &piece, &total, err) < 0)
        return -1;
    if (total >= 0 && range->offset > total)
        return past_end(err, range, (uint64_t)total);
    write_text(out, path, &lines, st->st_size, total, NULL);
    return 0;
}

/* ---- directories ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *entry_text(struct arena *arena, int dir_fd, const struct dirent *entry)
{
    struct stat st;
    unsigned char type = entry->d_type;

    if (type == DT_UNKNOWN && fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        type = S_ISDIR(st.st_mode) ? DT_DIR : S_ISLNK(st.st_mode) ? DT_LNK : DT_REG;
    return arena_printf(arena, "%s%s", entry->d_name,
                        type == DT_DIR   ? "/"
                        : type == DT_LNK ? "@"
                                         : "");
}

static size_t list(struct op_ctx *ctx, DIR *dir, const char **names)
{
    struct dirent *entry;
    size_t n = 0;

    while (n < READ_NAMES_MAX && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !access_name_denied(&ctx->state->rules, str_from(entry->d_name)))
            names[n++] = entry_text(ctx->arena, dirfd(dir), entry);
    qsort(names, n, sizeof(*names), by_name);
    return n;
}

static int read_directory(struct op_ctx *ctx, const struct access_place *place,
                          struct json_writer *out, struct err *err)
{
    int fd = openat(place->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const char **names;
    size_t n;

    if (!dir) {
        access_fail(err, errno, "read", place->path);
        file_close_auto(&fd);
        return -1;
    }
    names = ARENA_NEW_N(ctx->arena, const char *, READ_NAMES_MAX);
    n = list(ctx, dir, names);
    closedir(dir);
    json_write_object_begin(out);
    write_head(out, place->path, "directory", -1);
    json_put_array(out, "entries");
    for (size_t i = 0; i < n && i < READ_ENTRIES_MAX; i++)
        json_write_text(out, names[i]);
    json_write_array_end(out);
    json_put_u64(out, "total", n);
    json_put_bool(out, "truncated", n > READ_ENTRIES_MAX);
    json_write_object_end(out);
    return 0;
}

int op_read_file(struct op_ctx *ctx, struct json_object *arguments, struct json_writer *out,
                 struct err *err)
{
    AUTO_PLACE place = ACCESS_PLACE_INIT;
    struct range range = { 0, 0 };
    struct stat st;
    struct str path;
    AUTO_FD fd = -1;

    if (op_path_argument(arguments, &path, err) < 0 || get_range(arguments, &range, err) < 0 ||
        op_check(ctx, err) < 0 || access_read(ctx, path, &place, err) < 0)
        return -1;
    if (S_ISDIR(place.st.st_mode))
        return read_directory(ctx, &place, out, err);
    if (access_open(ctx, &place, &fd, &st, err) < 0)
        return -1;
    if (st.st_size <= OP_FILE_MAX)
        return read_whole(ctx, place.path, fd, &range, out, err);
    return read_part(ctx, place.path, fd, &st, &range, out, err);
}
