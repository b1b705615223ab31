/* Care of a SQLite file: checkpoints when idle, online backup, integrity check.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
#include "db/sqlite_int.h"

/* Pages that turns write again and again are copied once for all of them, and a copy needs three
 * syncs: SQLite's own 1000 made that one turn in twenty. They stay within SQLITE_WAL_BYTES_MAX, so
 * that the log is never cut while there is work. */
#define CHECKPOINT_FRAMES     3500
#define BACKUP_PAGES_PER_STEP 256
#define BACKUP_WAIT_MS        20
#define BACKUP_COPIES_KEPT    3
#define CHECK_PROBLEMS_MAX    "1" /* the first is enough to say that it is damaged */

/* ---- the write-ahead log ---- */

/* What can't be copied now stays in the log and is copied later. But a failed sync means the same
 * here as in a commit; SQLite's own automatic checkpoint would keep it to itself. */
static int checkpoint(struct sqlite *sqlite, int mode, int *ret_frames, int *ret_copied)
{
    int rc = sqlite3_wal_checkpoint_v2(sqlite->handle, NULL, mode, ret_frames, ret_copied);

    if (rc == SQLITE_IOERR_FSYNC)
        db_fail(&sqlite->db, DB_LOST);
    return rc;
}

/* PASSIVE never waits for anyone. Once everything is copied into the database and no reader needs
 * the log, TRUNCATE gives its space back; it takes the writer's lock, so only then, and without
 * waiting. While there is work the log is reused from its start instead (truncation at every
 * checkpoint cost a third of the throughput). */
void sqlite_idle(struct db *db)
{
    struct sqlite *sqlite = sqlite_of(db);
    int frames = -1, copied = -1;

    if (db->read_only || db->health != DOMAIN_OK)
        return;
    if (checkpoint(sqlite, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied) != SQLITE_OK ||
        frames <= 0 || copied < frames)
        return;
    sqlite3_busy_timeout(sqlite->handle, 0);
    checkpoint(sqlite, SQLITE_CHECKPOINT_TRUNCATE, &frames, &copied);
    sqlite3_busy_timeout(sqlite->handle, sqlite->busy_ms);
}

int sqlite_after_commit(void *arg, sqlite3 *handle, const char *name, int frames)
{
    int copied;

    (void)handle, (void)name;
    if (frames >= CHECKPOINT_FRAMES)
        checkpoint(arg, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);
    return SQLITE_OK;
}

/* ---- room ---- */

/* A domain that takes one more page and is full again at the next would be of no use. */
#define ROOM_BYTES (1 * MIB)

/* Reserves it in a file without a name, which is gone when it is closed. */
int sqlite_has_room(struct db *db, struct err *err)
{
    AUTO_TEXT copy = alloc_text(sqlite_of(db)->path);
    AUTO_FD fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

    if (fd < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)
        return err_set(err, ERR_STORAGE_FAILED, "write to %s: %s", dirname(copy), strerror(errno));
    if (fd >= 0 && fallocate(fd, 0, 0, ROOM_BYTES) < 0 && errno != EOPNOTSUPP)
        return err_set(err, ERR_STORAGE_FAILED, "reserve %u bytes beside %s: %s", ROOM_BYTES,
                       sqlite_of(db)->path, strerror(errno));
    return 0;
}

int sqlite_is_writable(struct db *db, struct err *err)
{
    const char *path = sqlite_of(db)->path;

    if (strcmp(path, ":memory:") == 0 || access(path, W_OK) == 0)
        return 0;
    return err_set(err, ERR_STORAGE_FAILED, "write to %s: %s", path, strerror(errno));
}

/* ---- identity ---- */

/* SQLite keeps the application's number in the head of the file; copies and backups take it along.
 */
int sqlite_identity(struct db *db, int64_t *ret_identity, struct err *err)
{
    struct sqlite *sqlite = sqlite_of(db);
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(sqlite->handle, "PRAGMA application_id", -1, &q, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        *ret_identity = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return rc == SQLITE_ROW ? 0 : sqlite_fail(sqlite, rc, err);
}

int sqlite_set_identity(struct db *db, int64_t identity, struct err *err)
{
    struct sqlite *sqlite = sqlite_of(db);
    char text[64];
    int rc;

    snprintf(text, sizeof(text), "PRAGMA application_id=%d", (int)identity);
    rc = sqlite3_exec(sqlite->handle, text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : sqlite_fail(sqlite, rc, err);
}

/* ---- backup ---- */

static int sync_path(const char *path, int flags, struct err *err)
{
    int fd = open(path, flags | O_CLOEXEC);
    int r = fd < 0 ? -1 : fsync(fd);

    if (r < 0)
        err_set(err, ERR_STORAGE_FAILED, "sync %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return r;
}

static int sync_dir_of(const char *path, struct err *err)
{
    AUTO_TEXT copy = alloc_text(path);

    return sync_path(dirname(copy), O_RDONLY | O_DIRECTORY, err);
}

/* A read transaction is open, so every step copies from the same state. */
static int copy_pages(struct sqlite *sqlite, sqlite3 *to, db_progress_fn *progress, void *arg,
                      struct err *err)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", sqlite->handle, "main");
    int rc, waited_ms = 0;

    if (!backup)
        return err_set(err, ERR_STORAGE_FAILED, "%s", sqlite3_errmsg(to));
    do {
        rc = sqlite3_backup_step(backup, BACKUP_PAGES_PER_STEP);
        if (progress) {
            int all = sqlite3_backup_pagecount(backup);

            progress(all - sqlite3_backup_remaining(backup), all, arg);
        }
        if ((rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED) {
            if ((waited_ms += BACKUP_WAIT_MS) > sqlite->busy_ms)
                break;
            sqlite3_sleep(BACKUP_WAIT_MS);
            rc = SQLITE_OK;
        }
    } while (rc == SQLITE_OK);
    sqlite3_backup_finish(backup);
    if (rc == SQLITE_DONE)
        return 0;
    return err_set(err, ERR_STORAGE_FAILED, "%s (code %d)", sqlite3_errstr(rc), rc);
}

/* The copy is one plain file: no log beside it that somebody could forget to take along. */
static int copy_into(struct sqlite *sqlite, const char *path, db_progress_fn *progress, void *arg,
                     struct err *err)
{
    sqlite3 *to = NULL;
    int rc = sqlite3_open_v2(
        path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    int r = -1;

    if (rc == SQLITE_OK)
        rc = sqlite3_exec(to, "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL", NULL, NULL,
                          NULL);
    if (rc != SQLITE_OK)
        err_set(err, ERR_STORAGE_FAILED, "create %s: %s", path, sqlite3_errstr(rc));
    else
        r = copy_pages(sqlite, to, progress, arg, err);
    if (r == 0 &&
        (rc = sqlite3_exec(to, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL)) != SQLITE_OK)
        r = err_set(err, ERR_STORAGE_FAILED, "finish %s: %s", path, sqlite3_errstr(rc));
    sqlite3_close(to);
    return r;
}

/* The copy is one state, even while others write: a read transaction holds it still. Without it
 * the copy would begin anew at every commit of another process. */
static int copy_snapshot(struct sqlite *sqlite, const char *path, db_progress_fn *progress,
                         void *arg, struct err *err)
{
    int rc =
        sqlite3_exec(sqlite->handle, "BEGIN; SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    int r;

    if (rc != SQLITE_OK)
        r = sqlite_fail(sqlite, rc, err);
    else
        r = copy_into(sqlite, path, progress, arg, err);
    if (!sqlite3_get_autocommit(sqlite->handle))
        sqlite3_exec(sqlite->handle, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

static int make_temporary(const char *path, char *ret_path, size_t size, struct err *err)
{
    int fd;

    if (snprintf(ret_path, size, "%s.part-XXXXXX", path) >= (int)size)
        return err_set(err, ERR_BAD_REQUEST, "the name %.60s... is too long", path);
    fd = mkostemp(ret_path, O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_STORAGE_FAILED, "create %s: %s", ret_path, strerror(errno));
    close(fd);
    return 0;
}

/* Refuses when `to` exists. A stick's file system knows no link(), a network's no RENAME_NOREPLACE.
 */
static int rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL || link(from, to) < 0)
        return -1;
    return unlink(from);
}

static int put_in_place(const char *from, const char *to, bool replace, struct err *err)
{
    if ((replace ? rename(from, to) : rename_new(from, to)) == 0)
        return sync_dir_of(to, err);
    if (errno == EEXIST)
        return err_set(err, ERR_CONFLICT, "%s exists already", to);
    return err_set(err, ERR_STORAGE_FAILED, "rename to %s: %s", to, strerror(errno));
}

static int backup_to(struct sqlite *sqlite, const char *path, bool replace,
                     db_progress_fn *progress, void *arg, struct err *err)
{
    char part[PATH_MAX];

    if (make_temporary(path, part, sizeof(part), err) < 0)
        return -1;
    if (copy_snapshot(sqlite, part, progress, arg, err) == 0 &&
        sync_path(part, O_RDONLY, err) == 0 && put_in_place(part, path, replace, err) == 0)
        return 0;
    unlink(part);
    return err_wrap(err, "copy to %s", path);
}

int sqlite_backup(struct db *db, const char *path, db_progress_fn *progress, void *arg,
                  struct err *err)
{
    if (access(path, F_OK) == 0)
        return err_set(err, ERR_CONFLICT, "%s exists already", path);
    return backup_to(sqlite_of(db), path, false, progress, arg, err);
}

/* ---- copies before migrations ---- */

/* The version in NAME.before-vN, or -1 when entry is something else. */
static int64_t version_of(const char *entry, const char *prefix)
{
    int64_t version = -1;

    if (!str_starts(str_from(entry), str_from(prefix)) ||
        str_to_i64(str_skip(str_from(entry), strlen(prefix)), &version) < 0)
        return -1;
    return version;
}

/* The lowest version among them, and how many there are. */
static int64_t lowest_copy(const char *dir_path, const char *prefix, int *ret_count)
{
    DIR *dir = opendir(dir_path);
    int64_t lowest = INT64_MAX;

    *ret_count = 0;
    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        int64_t version = version_of(entry->d_name, prefix);

        if (version < 0)
            continue;
        ++*ret_count;
        if (version < lowest)
            lowest = version;
    }
    closedir(dir);
    return lowest;
}

static void drop_old_copies(const char *path)
{
    AUTO_TEXT dir_copy = alloc_text(path);
    AUTO_TEXT name_copy = alloc_text(path);
    const char *dir = dirname(dir_copy);
    char prefix[NAME_MAX + 16], old[PATH_MAX + NAME_MAX];
    int count;

    snprintf(prefix, sizeof(prefix), "%s.before-v", basename(name_copy));
    for (;;) {
        int64_t lowest = lowest_copy(dir, prefix, &count);

        if (count <= BACKUP_COPIES_KEPT)
            return;
        snprintf(old, sizeof(old), "%s/%s%lld", dir, prefix, (long long)lowest);
        if (unlink(old) < 0)
            return;
    }
}

/* By a connection of its own, because SQLite copies from none that is about to write. */
static int copy_by_reader(const struct sqlite *writer, const char *path, struct err *err)
{
    struct sqlite reader = { .path = writer->path, .busy_ms = writer->busy_ms };
    int rc =
        sqlite3_open_v2(reader.path, &reader.handle,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    int r = rc == SQLITE_OK ? backup_to(&reader, path, true, NULL, NULL, err)
                            : sqlite_fail(&reader, rc, err);

    sqlite3_close(reader.handle);
    return r;
}

int sqlite_save_before(struct db *db, int version, struct err *err)
{
    struct sqlite *sqlite = sqlite_of(db);
    char path[PATH_MAX];

    if (strcmp(sqlite->path, ":memory:") == 0)
        return 0;
    if (snprintf(path, sizeof(path), "%s.before-v%d", sqlite->path, version) >= (int)sizeof(path))
        return err_set(err, ERR_BAD_REQUEST, "the name %.60s... is too long", sqlite->path);
    if (copy_by_reader(sqlite, path, err) < 0)
        return -1;
    drop_old_copies(sqlite->path);
    return 0;
}

/* ---- integrity ---- */

static int expect(struct sqlite *sqlite, const char *sql, const char *wanted, struct err *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(sqlite->handle, sql, -1, &q, NULL);
    int r = 0;

    if (rc == SQLITE_OK)
        rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) {
        const char *found = (const char *)sqlite3_column_text(q, 0);

        if (!wanted || !found || strcmp(found, wanted) != 0)
            r = err_set(err, ERR_INTEGRITY_FAILED, "%s says: %s", sql, found ? found : "(null)");
    } else if (rc != SQLITE_DONE || wanted) {
        r = sqlite_fail(sqlite, rc, err);
    }
    sqlite3_finalize(q);
    return r;
}

int sqlite_check(struct db *db, struct err *err)
{
    struct sqlite *sqlite = sqlite_of(db);

    if (expect(sqlite, "PRAGMA integrity_check(" CHECK_PROBLEMS_MAX ")", "ok", err) < 0)
        return -1;
    return expect(sqlite,
                  "SELECT 'table ' || \"table\" || ' row ' || coalesce(rowid, '?') || ' refers to"
                  " nothing in ' || parent FROM pragma_foreign_key_check LIMIT 1",
                  NULL, err);
}
