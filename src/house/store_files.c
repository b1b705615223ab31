/* Looking at the databases before SQLite does: SQLite takes a file that is absent or empty for a
 * new database.
 *
 * SPDX-License-Identifier: MIT
 */
#include "house/store_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/rand.h"
#include "base/timefmt.h"
#include "db/domain.h"

#define MAKING       "making"  /* while a new directory gets its databases */
#define BACKUPS      "backups" /* "TIME PATH" a line, oldest first */
#define BACKUPS_KEPT 20
#define BACKUPS_MAX  (64 * KIB)

/* SQLite's file format, 1.3. */
#define HEADER_BYTES      100
#define HEADER_MAGIC      "SQLite format 3"
#define HEADER_PAGE_AT    16
#define HEADER_CHANGED_AT 24
#define HEADER_PAGES_AT   28
#define HEADER_VALID_AT   92

static const char *const names[] = { "journal.sqlite", "agent.sqlite" };

static const char *path_in(const char *dir, const char *name, char out[LIMIT_PATH_BYTES])
{
    snprintf(out, LIMIT_PATH_BYTES, "%s/%s", dir, name);
    return out;
}

/* ---- backups ---- */

/* The newest first that are still there, with their dates; "" when none is. */
static void list_backups(const char *dir, struct buf *out, size_t most, bool dated)
{
    AUTO_BUF text = BUF_INIT(BACKUPS_MAX);
    char path[LIMIT_PATH_BYTES];
    struct str rest, line, newest[BACKUPS_KEPT];
    size_t n = 0;

    if (file_read(path_in(dir, BACKUPS, path), &text, NULL) < 0)
        return;
    for (rest = buf_str(&text); str_split(&rest, '\n', &line);)
        if (line.n > TIMEFMT_SIZE)
            newest[n++ % BACKUPS_KEPT] = line;
    for (size_t i = 0; i < n && i < BACKUPS_KEPT && most > 0; i++) {
        struct str at, file = newest[(n - 1 - i) % BACKUPS_KEPT];

        if (!str_split(&file, ' ', &at) || file.n >= sizeof(path))
            continue;
        snprintf(path, sizeof(path), "%.*s", STR_ARG(file));
        if (access(path, R_OK) < 0)
            continue;
        buf_printf(out, "%s%s", out->n ? ", " : "", path);
        if (dated)
            buf_printf(out, " (%.*s)", STR_ARG(str_take(at, 10)));
        most--;
    }
}

void store_files_note_backup(const char *dir, const char *path, int64_t at_ms)
{
    AUTO_BUF old = BUF_INIT(BACKUPS_MAX);
    AUTO_BUF out = BUF_INIT(BACKUPS_MAX + LIMIT_PATH_BYTES);
    char file[LIMIT_PATH_BYTES], whole[PATH_MAX], at[TIMEFMT_SIZE];
    struct str rest, line;
    size_t lines = 0;

    if (!realpath(path, whole) || strchr(whole, '\n'))
        return;
    (void)file_read(path_in(dir, BACKUPS, file), &old, NULL);
    for (rest = buf_str(&old); str_split(&rest, '\n', &line);)
        lines++;
    for (rest = buf_str(&old); str_split(&rest, '\n', &line);)
        if (lines-- < BACKUPS_KEPT && line.n)
            buf_printf(&out, "%.*s\n", STR_ARG(line));
    timefmt_rfc3339(at_ms, at);
    buf_printf(&out, "%s %s\n", at, whole);
    (void)file_write_atomic(file, buf_str(&out), 0600, NULL);
}

const char *store_files_cure(const char *dir, struct arena *arena)
{
    AUTO_BUF newest = BUF_INIT(2 * LIMIT_PATH_BYTES);

    list_backups(dir, &newest, 1, false);
    return arena_printf(arena, "dormouse restore %s --data %s --force",
                        newest.n ? buf_text(&newest) : "FILE", dir);
}

/* ---- one file ---- */

static uint64_t number_at(const unsigned char *header, size_t at, int bytes)
{
    uint64_t number = 0;

    for (int i = 0; i < bytes; i++)
        number = number << 8 | header[at + (size_t)i];
    return number;
}

static bool has_log(const char *path)
{
    char log[LIMIT_PATH_BYTES + 8];
    struct stat st;

    snprintf(log, sizeof(log), "%s-wal", path);
    return stat(log, &st) == 0 && st.st_size > 0;
}

/* NULL when nothing is wrong that can be seen from outside. What is in the log may be missing in
 * the file. */
static const char *what_is_wrong(const char *path)
{
    unsigned char header[HEADER_BYTES];
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    uint64_t page;

    if (fd < 0)
        return errno == ENOENT ? "is missing" : "can't be read";
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return "is not a file";
    if (st.st_size == 0)
        return "is empty";
    if (pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
        return "is cut off";
    if (memcmp(header, HEADER_MAGIC, sizeof(HEADER_MAGIC)) != 0)
        return "is not a database";
    page = number_at(header, HEADER_PAGE_AT, 2);
    page = page == 1 ? 65536 : page;
    if (page < 512 || has_log(path))
        return page < 512 ? "is not a database" : NULL;
    if ((uint64_t)st.st_size % page != 0 ||
        (number_at(header, HEADER_CHANGED_AT, 4) == number_at(header, HEADER_VALID_AT, 4) &&
         number_at(header, HEADER_PAGES_AT, 4) * page > (uint64_t)st.st_size))
        return "is cut off";
    return NULL;
}

/* ---- both ---- */

static int refuse(const char *dir, const char *what, struct err *err)
{
    AUTO_BUF known = BUF_INIT(2 * LIMIT_PATH_BYTES);

    list_backups(dir, &known, 3, true);
    return err_set(err, ERR_INTEGRITY_FAILED,
                   "%s. Without it agents, permissions and kill switches would be gone, so nothing "
                   "was started. Restore a backup: dormouse restore FILE --data %s --force "
                   "(%s%s). To begin anew, move the directory away",
                   what, dir, known.n ? "known backups: " : "no backup of it is known here",
                   known.n ? buf_text(&known) : "");
}

static bool is_there(const char *dir, const char *name)
{
    char path[LIMIT_PATH_BYTES];
    struct stat st;

    return lstat(path_in(dir, name, path), &st) == 0;
}

static bool is_begun(const char *dir)
{
    return !is_there(dir, MAKING) && (is_there(dir, names[0]) || is_there(dir, names[1]));
}

const char *store_files_lost(const char *dir, const char *path)
{
    struct stat st;

    if (!is_begun(dir) || (stat(path, &st) == 0 && st.st_size > 0))
        return NULL;
    return access(path, F_OK) == 0 ? "is empty" : "is missing";
}

int store_files_check(const char *dir, struct err *err)
{
    char path[LIMIT_PATH_BYTES], what[LIMIT_PATH_BYTES + 128];

    if (!is_begun(dir))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *wrong = what_is_wrong(path_in(dir, names[i], path));

        if (!wrong)
            continue;
        snprintf(what, sizeof(what), "%s %s, beside %s", path, wrong, names[1 - i]);
        return refuse(dir, what, err);
    }
    return 0;
}

int store_files_begin(const char *dir, struct err *err)
{
    char path[LIMIT_PATH_BYTES];
    AUTO_FD fd = -1;

    if (store_files_check(dir, err) < 0)
        return -1;
    if (is_there(dir, names[0]) || is_there(dir, names[1]))
        return 0;
    fd = open(path_in(dir, MAKING, path), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? err_set(err, ERR_STORAGE_FAILED, "create %s: %s", path, strerror(errno)) : 0;
}

int store_files_made(const char *dir, struct domain *journal, struct domain *agent, struct err *err)
{
    char path[LIMIT_PATH_BYTES], what[LIMIT_PATH_BYTES + 128];
    int64_t one = 0, other = 0;
    int64_t both;

    if (domain_identity(journal, &one, err) < 0 || domain_identity(agent, &other, err) < 0)
        return -1;
    if (one && other && one != other) {
        snprintf(what, sizeof(what), "%s and agent.sqlite are of different data directories",
                 path_in(dir, names[0], path));
        return refuse(dir, what, err);
    }
    both = one ? one : other ? other : 1 + (int64_t)rand_below(rand_system(), INT32_MAX - 1);
    if ((!one && domain_set_identity(journal, both, err) < 0) ||
        (!other && domain_set_identity(agent, both, err) < 0))
        return -1;
    unlink(path_in(dir, MAKING, path));
    return 0;
}
