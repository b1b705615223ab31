/* A new SQLite file, made at the cost of one sync.
 *
 * SQLite itself turns the log of an empty file on under a rollback journal, with five syncs. Here
 * the one page of an empty database is written to a file without a name, synced, and linked to
 * its name: whatever happens, the name stands for nothing or for a whole database. That the name
 * itself lasts is the work of the first sync of the log, which syncs the directory too.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "db/sqlite_int.h"

/* "File format write version" and "read version"; 2 is WAL (SQLite's file format, 1.3). */
#define HEADER_VERSIONS_AT 18
#define HEADER_WAL         2

/* The bytes of a database without tables whose log is on; to be freed with sqlite3_free(). */
static unsigned char *empty_database(sqlite3_int64 *ret_size)
{
    unsigned char *bytes = NULL;
    sqlite3 *empty = NULL;

    if (sqlite3_open(":memory:", &empty) == SQLITE_OK &&
        sqlite3_exec(empty, "PRAGMA user_version=0", NULL, NULL, NULL) == SQLITE_OK)
        bytes = sqlite3_serialize(empty, "main", ret_size, 0);
    sqlite3_close(empty);
    if (bytes && *ret_size > HEADER_VERSIONS_AT + 1)
        memset(bytes + HEADER_VERSIONS_AT, HEADER_WAL, 2);
    return bytes;
}

static int link_to_name(int fd, const char *path)
{
    char from[32];

    snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* 1 it is there, 0 this file system has no files without names, -1 failed. Nobody can have the
 * file open before it has a name, so closing it drops no lock of SQLite's. */
static int create_whole(const char *path)
{
    AUTO_TEXT copy = alloc_text(path);
    AUTO_FD fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    sqlite3_int64 size = 0;
    unsigned char *bytes;
    int r;

    if (fd < 0)
        return 0;
    bytes = empty_database(&size);
    r = bytes ? file_write_all(fd, str_of((char *)bytes, (size_t)size)) : 0;
    sqlite3_free(bytes);
    if (!bytes)
        return 0;
    if (r < 0 || fdatasync(fd) < 0)
        return -1;
    if (link_to_name(fd, path) == 0 || errno == EEXIST)
        return 1;
    return 0;
}

/* SQLite makes it a database. */
static int create_empty(const char *path)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == EEXIST ? 1 : -1;
}

int sqlite_create(const char *path, struct err *err)
{
    int r = access(path, F_OK) == 0 ? 1 : create_whole(path);

    if (r == 0)
        r = create_empty(path);
    if (r < 0)
        return err_set(err, ERR_INTERNAL, "create %s: %s", path, strerror(errno));
    return 0;
}
