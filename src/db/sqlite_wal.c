/* The log of a SQLite file, written a transaction at a time.
 *
 * SQLite appends a commit to the log in twice as many writes as it has pages: a header of 24 bytes
 * and a page, for each. The system call costs as much for either as carrying a page does, so most
 * of what a small commit costs beside its sync went there. Here the frames of a transaction are put
 * together and reach the file in one write.
 *
 * Nobody misses what is held back. Others look at frames only after the shared index of the log
 * names them, and SQLite enters them there after the last one, the commit frame, was written: that
 * write takes everything along, and it is its result that SQLite gets. Of a transaction that is too
 * large for memory earlier frames are read back by its own connection alone, and every read, sync,
 * truncation or look at the size writes first. A write that does not continue where the last one
 * ended (the log begins anew, a frame is written a second time) goes through as it is.
 *
 * The connection's handle of the log gets other methods, which is what a VFS would do; but there is
 * nothing to register, and whatever VFS is below stays there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "db/sqlite_int.h"

/* SQLite's file format, 4.1: "size of the database file in pages", not zero in a commit frame. */
#define FRAME_HEADER_BYTES 24
#define FRAME_SIZE_AT      4
#define FRAME_SIZE_BYTES   4

/* SQLite's own files take less than 128 KiB in one write. */
#define HELD_BYTES_MAX (120 * KIB)

struct joined {
    sqlite3_io_methods methods; /* what SQLite calls; how a file finds this */
    const sqlite3_io_methods *below;
    sqlite3_int64 next; /* where what follows the last write would go */
    bool in_frame;      /* the last write was a header */
    bool commits;       /* of a commit frame */
    char *held;
    size_t held_bytes; /* they end at next */
};

static struct joined *joined_of(sqlite3_file *file)
{
    return (struct joined *)((char *)file->pMethods - offsetof(struct joined, methods));
}

/* What could not be written is given up, as SQLite does with the transaction. */
static int write_held(struct joined *joined, sqlite3_file *file)
{
    size_t n = joined->held_bytes;

    if (n == 0)
        return SQLITE_OK;
    joined->held_bytes = 0;
    return joined->below->xWrite(file, joined->held, (int)n, joined->next - (sqlite3_int64)n);
}

static bool is_zero(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

static void note_frame(struct joined *joined, const char *bytes, size_t n)
{
    joined->in_frame = !joined->in_frame && n == FRAME_HEADER_BYTES;
    if (joined->in_frame)
        joined->commits = !is_zero(bytes + FRAME_SIZE_AT, FRAME_SIZE_BYTES);
}

static int write_through(struct joined *joined, sqlite3_file *file, const char *bytes, size_t n,
                         sqlite3_int64 at)
{
    int rc = write_held(joined, file);

    joined->in_frame = false;
    note_frame(joined, bytes, n);
    joined->next = at + (sqlite3_int64)n;
    return rc == SQLITE_OK ? joined->below->xWrite(file, bytes, (int)n, at) : rc;
}

static int joined_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 at)
{
    struct joined *joined = joined_of(file);
    size_t n = (size_t)amount;
    bool in_frame = joined->in_frame, whole;
    int rc = SQLITE_OK;

    if (at != joined->next || n > HELD_BYTES_MAX)
        return write_through(joined, file, bytes, n, at);
    note_frame(joined, bytes, n);
    whole = !joined->in_frame && (!in_frame || joined->commits);
    if (joined->held_bytes + n > HELD_BYTES_MAX)
        rc = write_held(joined, file);
    if (!joined->held)
        joined->held = alloc_zero(HELD_BYTES_MAX, 1);
    memcpy(joined->held + joined->held_bytes, bytes, n);
    joined->held_bytes += n;
    joined->next += amount;
    if (rc == SQLITE_OK && whole)
        rc = write_held(joined, file);
    return rc;
}

static int joined_read(sqlite3_file *file, void *ret_bytes, int n, sqlite3_int64 at)
{
    struct joined *joined = joined_of(file);
    int rc = write_held(joined, file);

    return rc == SQLITE_OK ? joined->below->xRead(file, ret_bytes, n, at) : rc;
}

static int joined_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct joined *joined = joined_of(file);
    int rc = write_held(joined, file);

    joined->next = -1;
    return rc == SQLITE_OK ? joined->below->xTruncate(file, size) : rc;
}

static int joined_sync(sqlite3_file *file, int flags)
{
    struct joined *joined = joined_of(file);
    int rc = write_held(joined, file);

    return rc == SQLITE_OK ? joined->below->xSync(file, flags) : rc;
}

static int joined_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    struct joined *joined = joined_of(file);
    int rc = write_held(joined, file);

    return rc == SQLITE_OK ? joined->below->xFileSize(file, ret_size) : rc;
}

/* What is held now belongs to a transaction that was given up. */
static int joined_close(sqlite3_file *file)
{
    struct joined *joined = joined_of(file);

    file->pMethods = joined->below;
    free(joined->held);
    free(joined);
    return file->pMethods->xClose(file);
}

void sqlite_join_writes(sqlite3 *handle)
{
    sqlite3_file *file = NULL;
    struct joined *joined;

    if (sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK ||
        !file || !file->pMethods)
        return;
    joined = NEW(struct joined);
    joined->below = file->pMethods;
    joined->next = -1;
    joined->methods = *file->pMethods;
    joined->methods.iVersion = 1; /* a log is neither mapped nor shared memory */
    joined->methods.xClose = joined_close;
    joined->methods.xRead = joined_read;
    joined->methods.xWrite = joined_write;
    joined->methods.xTruncate = joined_truncate;
    joined->methods.xSync = joined_sync;
    joined->methods.xFileSize = joined_size;
    file->pMethods = &joined->methods;
}
