/* The tar reader: the archives that tar.c writes for backups, whatever their size.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "files/tar.h"
#include "files/tar_int.h"

static int cut_off(struct err *err)
{
    return err_set(err, ERR_INTEGRITY_FAILED, "the archive is cut off");
}

static int read_all(int fd, char *out, size_t n, struct err *err)
{
    while (n > 0) {
        ssize_t got = read(fd, out, n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(err, ERR_STORAGE_FAILED, "read: %s", strerror(errno));
        if (got == 0)
            return cut_off(err);
        out += got;
        n -= (size_t)got;
    }
    return 0;
}

static int64_t octal(const char *text, size_t n)
{
    int64_t value = 0;

    for (size_t i = 0; i < n && text[i] >= '0' && text[i] <= '7'; i++)
        value = value * 8 + (text[i] - '0');
    return value;
}

static int64_t size_of(const struct tar_header *header)
{
    const unsigned char *bytes = (const unsigned char *)header->size;
    int64_t size = 0;

    if (!(bytes[0] & 0x80))
        return octal(header->size, sizeof(header->size));
    for (size_t i = 4; i < sizeof(header->size); i++)
        size = size << 8 | bytes[i];
    return size;
}

static bool sum_fits(const struct tar_header *header)
{
    const unsigned char *bytes = (const unsigned char *)header;
    size_t from = offsetof(struct tar_header, checksum);
    int64_t sum = 0;

    for (size_t i = 0; i < sizeof(*header); i++)
        sum += i >= from && i < from + sizeof(header->checksum) ? ' ' : bytes[i];
    return sum == octal(header->checksum, sizeof(header->checksum));
}

static bool is_zero(const struct tar_header *header)
{
    static const struct tar_header zero;

    return memcmp(header, &zero, sizeof(zero)) == 0;
}

int tar_next(int fd, struct tar_entry *ret_entry, struct err *err)
{
    struct tar_header header;

    if (read_all(fd, (char *)&header, sizeof(header), err) < 0)
        return -1;
    if (is_zero(&header)) {
        if (read_all(fd, (char *)&header, sizeof(header), err) < 0)
            return -1;
        return is_zero(&header) ? 0 : err_set(err, ERR_INTEGRITY_FAILED, "its end is damaged");
    }
    if (!sum_fits(&header) || memcmp(header.magic, "ustar", 5) != 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "it is not an archive of dormouse backup");
    if (header.type != '0' || header.prefix[0] ||
        memchr(header.name, '\0', sizeof(header.name)) == NULL)
        return err_set(err, ERR_INTEGRITY_FAILED, "\"%.100s\" is of a kind that no backup contains",
                       header.name);
    *ret_entry = (struct tar_entry){ .size = size_of(&header) };
    memcpy(ret_entry->name, header.name, sizeof(header.name));
    ret_entry->left = ret_entry->size;
    if (ret_entry->size < 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "\"%s\" has no size", ret_entry->name);
    return 1;
}

int tar_read(int fd, struct tar_entry *entry, char *out, size_t room, size_t *ret_n,
             struct err *err)
{
    size_t n = entry->left < (int64_t)room ? (size_t)entry->left : room;
    size_t over = (size_t)(entry->size % TAR_BLOCK);
    char rest[TAR_BLOCK];

    if (read_all(fd, out, n, err) < 0)
        return -1;
    entry->left -= (int64_t)n;
    if (n > 0 && entry->left == 0 && over && read_all(fd, rest, TAR_BLOCK - over, err) < 0)
        return -1;
    *ret_n = n;
    return 0;
}
