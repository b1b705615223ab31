/* dormouse restore FILE
 *
 * The archive is unpacked into DATA.restoring, beside the data directory, and judged there: every
 * hash of its manifest, every database's structure and schema. Only then it takes the directory's
 * place, in one step that exchanges the two names; the former directory is set aside under a name
 * of its own. Killed at any moment, the data directory is the former or the restored one, and the
 * same command begins again.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/backup.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/domains.h"
#include "cli/keeper.h"
#include "cli/term.h"
#include "files/tar.h"
#include "house/data_dir.h"
#include "house/store_files.h"

#define PARTIAL      "restoring" /* in a directory whose contents are not complete */
#define PIECE_BYTES  (256 * KIB)
#define MANIFEST_MAX (1 * MIB)
#define ASIDE_TRIES  100

struct restore {
    const struct cli_args *args;
    const char *file;
    char work[LIMIT_PATH_BYTES], aside[LIMIT_PATH_BYTES + 64];
    struct json_object *manifest; /* as it is in the archive */
    struct json_object *found;    /* name: {"bytes","sha256"} of what was unpacked */
    struct term_progress progress;
    int lock_fd;
};

static void restore_release(struct restore *restore)
{
    json_object_put(restore->manifest);
    json_object_put(restore->found);
    term_progress_end(&restore->progress);
    if (restore->lock_fd >= 0)
        close(restore->lock_fd);
}

/* ---- directories ---- */

static int restore_sync_parent(const char *path, struct err *err)
{
    char copy[LIMIT_PATH_BYTES];
    AUTO_FD fd = -1;

    snprintf(copy, sizeof(copy), "%s", path);
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return err_set(err, ERR_STORAGE_FAILED, "sync the directory of %s: %s", path,
                       strerror(errno));
    return 0;
}

/* What we unpack has no folders. */
static void restore_remove(const char *path)
{
    DIR *dir = opendir(path);

    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(path);
}

/* Nothing but the lock that we hold ourselves. */
static bool restore_is_empty(const char *path)
{
    DIR *dir = opendir(path);
    bool empty = dir != NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, "lock") != 0)
            empty = false;
    if (dir)
        closedir(dir);
    return empty;
}

/* Under the first name "DIR.before-restore-DATE[-N]" that is free. */
static int restore_set_aside(struct restore *restore, const char *path, const char *dir,
                             struct err *err)
{
    time_t now = (time_t)(clock_wall_ms(clock_system()) / 1000);
    char date[32] = "";
    struct tm tm;

    if (gmtime_r(&now, &tm))
        strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &tm);
    for (int i = 0; i < ASIDE_TRIES; i++) {
        int n = snprintf(restore->aside, sizeof(restore->aside), "%s.before-restore-%s", dir, date);

        if (i)
            snprintf(restore->aside + n, sizeof(restore->aside) - (size_t)n, "-%d", i);
        if (renameat2(AT_FDCWD, path, AT_FDCWD, restore->aside, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    return err_set(err, ERR_STORAGE_FAILED, "rename %s to %s: %s", path, restore->aside,
                   strerror(errno));
}

/* Of a try that was cut off. One without the mark is a former data directory whose last name was
 * not given yet: it is kept. */
static int restore_clear_leftover(struct restore *restore, const char *dir, struct err *err)
{
    char mark[LIMIT_PATH_BYTES + 16];

    snprintf(mark, sizeof(mark), "%s/" PARTIAL, restore->work);
    if (access(restore->work, F_OK) < 0)
        return 0;
    if (access(mark, F_OK) < 0)
        return restore_set_aside(restore, restore->work, dir, err);
    restore_remove(restore->work);
    return 0;
}

static int restore_make_work(struct restore *restore, struct err *err)
{
    char mark[LIMIT_PATH_BYTES + 16];
    AUTO_FD fd = -1;

    snprintf(mark, sizeof(mark), "%s/" PARTIAL, restore->work);
    if (mkdir(restore->work, 0700) < 0 && errno != EEXIST)
        return err_set(err, ERR_STORAGE_FAILED, "create %s: %s", restore->work, strerror(errno));
    fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || fsync(fd) < 0)
        return err_set(err, ERR_STORAGE_FAILED, "create %s: %s", mark, strerror(errno));
    return 0;
}

/* ---- unpacking ---- */

static int restore_copy(struct restore *restore, int from, struct tar_entry *entry, int to,
                        struct sha256 *hash, struct err *err)
{
    AUTO_TEXT piece = alloc_zero(1, PIECE_BYTES);
    size_t n;

    do {
        if (tar_read(from, entry, piece, PIECE_BYTES, &n, err) < 0)
            return -1;
        sha256_add(hash, str_of(piece, n));
        if (file_write_all(to, str_of(piece, n)) < 0)
            return err_set(err, ERR_STORAGE_FAILED, "write %s/%s: %s", restore->work, entry->name,
                           strerror(errno));
        term_progress_update(&restore->progress, entry->size - entry->left, entry->size);
    } while (n);
    if (fsync(to) < 0)
        return err_set(err, ERR_STORAGE_FAILED, "sync %s/%s: %s", restore->work, entry->name,
                       strerror(errno));
    return 0;
}

static int restore_unpack_one(struct restore *restore, int from, struct tar_entry *entry,
                              struct err *err)
{
    char path[LIMIT_PATH_BYTES + sizeof(entry->name) + 1], text[SHA256_TEXT_SIZE];
    struct json_object *row;
    struct sha256 hash;
    uint8_t digest[SHA256_BYTES];
    AUTO_FD to = -1;

    snprintf(path, sizeof(path), "%s/%s", restore->work, entry->name);
    to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to < 0)
        return err_set(err, errno == EEXIST ? ERR_INTEGRITY_FAILED : ERR_STORAGE_FAILED,
                       "create %s: %s", path, strerror(errno));
    restore->progress.label = entry->name;
    sha256_init(&hash);
    if (restore_copy(restore, from, entry, to, &hash, err) < 0)
        return -1;
    sha256_finish(&hash, digest);
    hex_encode(digest, sizeof(digest), text);
    row = json_object_new_object();
    json_object_object_add(row, "bytes", json_object_new_int64(entry->size));
    json_object_object_add(row, "sha256", json_object_new_string(text));
    json_object_object_add(restore->found, entry->name, row);
    return 0;
}

static int restore_read_manifest(struct restore *restore, int from, struct tar_entry *entry,
                                 struct err *err)
{
    AUTO_BUF text = BUF_INIT(MANIFEST_MAX);
    char piece[4096];
    size_t n;

    if (restore->manifest || entry->size > MANIFEST_MAX)
        return err_set(err, ERR_INTEGRITY_FAILED, "its manifest is there twice, or too large");
    do {
        if (tar_read(from, entry, piece, sizeof(piece), &n, err) < 0)
            return -1;
        buf_add(&text, piece, n);
    } while (n);
    if (json_parse(buf_str(&text), &restore->manifest, err) < 0) {
        err->code = ERR_INTEGRITY_FAILED;
        return err_wrap(err, "its manifest");
    }
    return 0;
}

static int restore_unpack(struct restore *restore, struct err *err)
{
    AUTO_FD from = open(restore->file, O_RDONLY | O_CLOEXEC);
    struct tar_entry entry;
    int r;

    if (from < 0)
        return err_set(err, ERR_NOT_FOUND, "open %s: %s", restore->file, strerror(errno));
    while ((r = tar_next(from, &entry, err)) == 1) {
        if (strcmp(entry.name, BACKUP_MANIFEST) == 0)
            r = restore_read_manifest(restore, from, &entry, err);
        else if (!backup_has(entry.name))
            r = err_set(err, ERR_INTEGRITY_FAILED, "\"%s\" is no part of a backup", entry.name);
        else
            r = restore_unpack_one(restore, from, &entry, err);
        if (r < 0)
            break;
    }
    term_progress_end(&restore->progress);
    return r < 0 ? err_wrap(err, "%s", restore->file) : 0;
}

/* ---- judging ---- */

static int restore_check_file(const struct restore *restore, struct json_object *row,
                              struct err *err)
{
    const char *name = json_object_get_string(json_find(row, "name"));
    struct json_object *found = name ? json_find(restore->found, name) : NULL;

    if (!found)
        return err_set(err, ERR_INTEGRITY_FAILED, "%s is in its manifest and not in it",
                       name ? name : "something without a name");
    if (!json_equal(json_find(row, "sha256"), json_find(found, "sha256")) ||
        !json_equal(json_find(row, "bytes"), json_find(found, "bytes")))
        return err_set(err, ERR_INTEGRITY_FAILED,
                       "%s is damaged: it is not what its manifest says (sha256 %.12s, expected "
                       "%.12s)",
                       name, json_object_get_string(json_find(found, "sha256")),
                       json_object_get_string(json_find(row, "sha256")));
    return 0;
}

static int restore_check_hashes(const struct restore *restore, struct err *err)
{
    struct json_object *files = NULL;
    int64_t format = 0;

    if (!restore->manifest)
        return err_set(err, ERR_INTEGRITY_FAILED, "it has no manifest, so it is no backup");
    json_get_i64(restore->manifest, "format", &format, NULL);
    if (format != BACKUP_FORMAT)
        return err_set(err, ERR_CONFLICT, "its format is %lld, this program reads %d",
                       (long long)format, BACKUP_FORMAT);
    json_get_array(restore->manifest, "files", &files, NULL);
    for (size_t i = 0; i < json_length(files); i++)
        if (restore_check_file(restore, json_object_array_get_idx(files, i), err) < 0)
            return -1;
    if (json_length(files) != (size_t)json_object_object_length(restore->found))
        return err_set(err, ERR_INTEGRITY_FAILED, "it has files that its manifest does not name");
    return 0;
}

/* A database of an older version is what the next start migrates. */
static int restore_check_databases(const struct restore *restore, struct err *err)
{
    for (size_t i = 0; i < DOMAINS_COUNT; i++) {
        AUTO_TEXT path = domains_path(restore->work, i);
        AUTO(domain) domain = NULL;
        struct err why = ERR_INIT;

        if (access(path, F_OK) < 0) {
            if (i == DOMAIN_INDEX)
                continue;
            return err_set(err, ERR_INTEGRITY_FAILED, "%s.sqlite is not in it", domains_name(i));
        }
        if (domains_open_file(restore->work, i, &domain, &why) == 0 &&
            domain_check(domain, &why) == 0)
            continue;
        if (why.code == ERR_VERSION_CONFLICT)
            continue;
        *err = why;
        return -1;
    }
    return 0;
}

static int restore_check(struct restore *restore, struct err *err)
{
    if (restore_check_hashes(restore, err) < 0 || restore_check_databases(restore, err) < 0)
        return err_wrap(err, "%s", restore->file);
    return 0;
}

/* ---- into its place ---- */

static int restore_exchange(struct restore *restore, const char *dir, struct err *err)
{
    if (renameat2(AT_FDCWD, restore->work, AT_FDCWD, dir, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno != EINVAL)
        return err_set(err, ERR_STORAGE_FAILED, "exchange %s and %s: %s", restore->work, dir,
                       strerror(errno));
    /* A file system that can't: for a moment there is none. */
    if (restore_set_aside(restore, dir, dir, err) < 0)
        return -1;
    if (rename(restore->work, dir) < 0)
        return err_set(err, ERR_STORAGE_FAILED, "rename %s to %s: %s; the former one is %s",
                       restore->work, dir, strerror(errno), restore->aside);
    return 0;
}

static int restore_put_in_place(struct restore *restore, const char *dir, struct err *err)
{
    char mark[LIMIT_PATH_BYTES + 16];
    bool was_empty = restore_is_empty(dir);

    snprintf(mark, sizeof(mark), "%s/" PARTIAL, restore->work);
    if (unlink(mark) < 0 || restore_sync_parent(mark, err) < 0 ||
        restore_exchange(restore, dir, err) < 0)
        return err->code ? -1
                         : err_set(err, ERR_STORAGE_FAILED, "remove %s: %s", mark, strerror(errno));
    if (was_empty)
        restore_remove(restore->work);
    else if (!restore->aside[0] && restore_set_aside(restore, restore->work, dir, err) < 0)
        return -1;
    return restore_sync_parent(dir, err);
}

/* Nobody uses it, and what it holds may be set aside. */
static int restore_claim(struct restore *restore, const char *dir, struct err *err)
{
    if (data_dir_prepare(dir, err) < 0)
        return -1;
    keeper_leave(dir);
    if (data_dir_lock(dir, &restore->lock_fd, err) < 0)
        return -1;
    if (!restore_is_empty(dir) && !cli_has(restore->args, "force"))
        return err_set(err, ERR_CONFLICT,
                       "%s is not empty; --force sets it aside, nothing of it is deleted", dir);
    return 0;
}

static int restore_into(struct restore *restore, const char *dir, struct err *err)
{
    if (snprintf(restore->work, sizeof(restore->work), "%s.restoring", dir) >=
        (int)sizeof(restore->work))
        return err_set(err, ERR_BAD_REQUEST, "the path of the data directory is too long");
    if (restore_claim(restore, dir, err) < 0 || restore_clear_leftover(restore, dir, err) < 0 ||
        restore_make_work(restore, err) < 0)
        return -1;
    restore->aside[0] = '\0';
    if (restore_unpack(restore, err) < 0 || restore_check(restore, err) < 0) {
        restore_remove(restore->work);
        return -1;
    }
    return restore_put_in_place(restore, dir, err);
}

static int restore_only_check(struct restore *restore, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    int r;

    snprintf(restore->work, sizeof(restore->work), "%s/dormouse-check-XXXXXX",
             tmp && *tmp ? tmp : "/var/tmp");
    if (!mkdtemp(restore->work))
        return err_set(err, ERR_STORAGE_FAILED, "create %s: %s", restore->work, strerror(errno));
    r = restore_unpack(restore, err) < 0 || restore_check(restore, err) < 0 ? -1 : 0;
    restore_remove(restore->work);
    return r;
}

/* ---- telling ---- */

static void restore_report_text(const struct restore *restore, const char *dir)
{
    struct json_object *files = NULL;

    printf("%s is a whole backup of %s.\n", restore->file,
           json_object_get_string(json_find(restore->manifest, "at")));
    json_get_array(restore->manifest, "files", &files, NULL);
    for (size_t i = 0; i < json_length(files); i++) {
        struct json_object *row = json_object_array_get_idx(files, i);

        printf("  %-16s %lld bytes\n", json_object_get_string(json_find(row, "name")),
               (long long)json_object_get_int64(json_find(row, "bytes")));
    }
    if (!dir)
        return;
    printf("Restored into %s.\n", dir);
    if (restore->aside[0])
        printf("What was there is in %s. Secrets and the token are in no backup; copy them:\n"
               "  cp -a %s/secrets* %s/token %s/\n",
               restore->aside, restore->aside, restore->aside, dir);
    else
        printf("Secrets and the token are in no backup: set them again.\n");
}

static void restore_report(const struct restore *restore, const char *dir)
{
    struct json_object *out;

    if (!cli_json(restore->args)) {
        restore_report_text(restore, dir);
        return;
    }
    out = json_object_new_object();
    json_object_object_add(out, "file", json_object_new_string(restore->file));
    json_object_object_add(out, "manifest", json_object_get(restore->manifest));
    if (dir)
        json_object_object_add(out, "data", json_object_new_string(dir));
    if (restore->aside[0])
        json_object_object_add(out, "aside", json_object_new_string(restore->aside));
    cli_print_json(out);
}

static int run_restore(const struct cli_args *args)
{
    __attribute__((cleanup(restore_release))) struct restore restore = {
        .args = args,
        .file = cli_operand(args, 0),
        .found = json_object_new_object(),
        .lock_fd = -1,
    };
    const char *dir = cli_has(args, "check") ? NULL : cli_data_dir(args);
    struct err err = ERR_INIT;

    term_progress_init(&restore.progress, "", stderr, false);
    if ((dir ? restore_into(&restore, dir, &err) : restore_only_check(&restore, &err)) < 0) {
        err_wrap(&err, "restore");
        return cli_fail(args, &err);
    }
    if (dir)
        store_files_note_backup(dir, restore.file, clock_wall_ms(clock_system()));
    restore_report(&restore, dir);
    return CLI_DONE;
}

static const struct cli_option restore_options[] = {
    { .name = "check", .help = "only look whether the backup is whole; nothing is restored" },
    { .name = "force", .help = "also when the data directory is not empty: it is set aside" },
    { .name = NULL },
};

const struct cli_command cli_cmd_restore = {
    .name = "restore",
    .operands = "FILE",
    .summary = "Puts the data of a backup into the data directory",
    .details =
        "FILE is what `dormouse backup` made. Before anything is touched, every file in it is "
        "compared with its hash and every database is checked; a damaged backup is refused. A "
        "running daemon must be stopped first. A data directory that is not empty is refused, or "
        "with --force renamed to DATA.before-restore-TIME: nothing is ever deleted.\n\n"
        "The restored directory takes its place in one step. Interrupted, even by a power cut, "
        "the data directory is the former or the restored one; give the command again.\n\n"
        "  dormouse restore --check monday.tar\n"
        "  dormouse restore monday.tar --data ~/restored\n\n"
        "Secrets and the token of the HTTP interface are in no backup. Records on Postgres are "
        "not either: pg_restore brings back what pg_dump saved, and this command restores a "
        "directory whose records are files.",
    .options = restore_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_restore,
};
