/* The tar writer.
 *
 * SPDX-License-Identifier: MIT
 */
#include "files/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "files/tar_int.h"

#define COPY_BYTES (64 * 1024)
#define OCTAL_MAX  077777777777LL /* what eleven octal digits hold: 8 GiB */

static int write_all(const struct tar *tar, const char *bytes, size_t n, struct err *err)
{
    if (tar->write)
        return tar->write(tar->to, str_of(bytes, n), err);
    if (file_write_all(tar->fd, str_of(bytes, n)) < 0)
        return err_set(err, ERR_STORAGE_FAILED, "write: %s", strerror(errno));
    return 0;
}

/* Octal, or where that does not suffice the binary form that GNU tar and libarchive read. */
static void put_size(char out[12], int64_t size)
{
    if (size <= OCTAL_MAX) {
        snprintf(out, 12, "%011llo", (long long)size);
        return;
    }
    for (int i = 11; i > 0; i--, size >>= 8)
        out[i] = (char)(size & 0xff);
    out[0] = (char)0x80;
}

static int put_header(const struct tar *tar, struct tar_header *header, int64_t size,
                      struct err *err)
{
    const unsigned char *bytes = (const unsigned char *)header;
    unsigned sum = 0;

    memcpy(header->magic, "ustar", 6);
    memcpy(header->version, "00", 2);
    memcpy(header->uid, "0000000", 7);
    memcpy(header->gid, "0000000", 7);
    put_size(header->size, size);
    snprintf(header->mtime, sizeof(header->mtime), "%011llo",
             (long long)(tar->mtime_s < 0 || tar->mtime_s > OCTAL_MAX ? 0 : tar->mtime_s));
    /* The sum counts its own field as spaces. */
    memset(header->checksum, ' ', sizeof(header->checksum));
    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += bytes[i];
    snprintf(header->checksum, sizeof(header->checksum), "%06o", sum);
    return write_all(tar, (const char *)header, TAR_BLOCK, err);
}

static int pad(const struct tar *tar, int64_t size, struct err *err)
{
    static const char zeros[TAR_BLOCK];
    size_t over = (size_t)(size % TAR_BLOCK);

    return over ? write_all(tar, zeros, TAR_BLOCK - over, err) : 0;
}

static int put_small(const struct tar *tar, struct tar_header *header, struct str bytes,
                     struct err *err)
{
    if (put_header(tar, header, (int64_t)bytes.n, err) < 0 ||
        write_all(tar, bytes.p, bytes.n, err) < 0)
        return -1;
    return pad(tar, (int64_t)bytes.n, err);
}

/* "LENGTH path=NAME\n", where LENGTH counts its own digits too. */
static int add_long_name(const struct tar *tar, const char *name, struct err *err)
{
    struct tar_header header = { .type = 'x', .name = "PaxHeader", .mode = "0000600" };
    size_t n = strlen(name) + sizeof(" path=\n") - 1, digits = 1;
    char record[TAR_NAME_MAX + 32];

    for (size_t limit = 10; n + digits >= limit; limit *= 10)
        digits++;
    snprintf(record, sizeof(record), "%zu path=%s\n", n + digits, name);
    return put_small(tar, &header, str_from(record), err);
}

static int add_header(const struct tar *tar, const char *name, int64_t size, bool executable,
                      struct err *err)
{
    struct tar_header header = { .type = '0' };
    size_t n = strlen(name);

    BUG_IF(n > TAR_NAME_MAX);
    if (n >= sizeof(header.name) && add_long_name(tar, name, err) < 0)
        return -1;
    memcpy(header.name, name, n < sizeof(header.name) ? n : sizeof(header.name) - 1);
    memcpy(header.mode, executable ? "0000700" : "0000600", 7);
    return put_header(tar, &header, size, err);
}

int tar_add_member(const struct tar *tar, const char *name, struct str bytes, bool executable,
                   struct err *err)
{
    if (add_header(tar, name, (int64_t)bytes.n, executable, err) < 0 ||
        write_all(tar, bytes.p, bytes.n, err) < 0 || pad(tar, (int64_t)bytes.n, err) < 0)
        return err_wrap(err, "archive %s", name);
    return 0;
}

int tar_add_bytes(const struct tar *tar, const char *name, struct str bytes, struct err *err)
{
    return tar_add_member(tar, name, bytes, false, err);
}

static int copy_bytes(const struct tar *tar, int from, int64_t size, struct sha256 *hash,
                      struct err *err)
{
    AUTO_TEXT chunk = alloc_zero(1, COPY_BYTES);

    for (int64_t left = size; left > 0;) {
        ssize_t n = read(from, chunk, left < COPY_BYTES ? (size_t)left : COPY_BYTES);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_set(err, ERR_STORAGE_FAILED, "read: %s",
                           n < 0 ? strerror(errno) : "it became shorter meanwhile");
        sha256_add(hash, str_of(chunk, (size_t)n));
        if (write_all(tar, chunk, (size_t)n, err) < 0)
            return -1;
        left -= n;
        if (tar->progress)
            tar->progress(size - left, size, tar->arg);
    }
    return pad(tar, size, err);
}

int tar_add_file(const struct tar *tar, const char *name, const char *path, char *sha256,
                 struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    struct sha256 hash;
    struct stat st;
    int from = open(path, O_RDONLY | O_CLOEXEC), r;

    if (from < 0)
        return err_set(err, ERR_NOT_FOUND, "open %s: %s", path, strerror(errno));
    sha256_init(&hash);
    if (fstat(from, &st) < 0 || !S_ISREG(st.st_mode))
        r = err_set(err, ERR_BAD_REQUEST, "%s is not a regular file", path);
    else
        r = add_header(tar, name, st.st_size, false, err) < 0
                ? -1
                : copy_bytes(tar, from, st.st_size, &hash, err);
    close(from);
    sha256_finish(&hash, digest);
    if (r < 0)
        return err_wrap(err, "archive %s", path);
    if (sha256)
        hex_encode(digest, sizeof(digest), sha256);
    return 0;
}

int tar_end(const struct tar *tar, struct err *err)
{
    static const char zeros[2 * TAR_BLOCK];

    return write_all(tar, zeros, sizeof(zeros), err);
}
