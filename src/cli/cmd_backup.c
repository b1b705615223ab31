/* dormouse backup FILE
 *
 * Each database is copied with the engine's online backup (consistent while the daemon writes)
 * into a directory beside FILE, from there into a tar archive in the same place; then the archive
 * is synced and gets its name. So FILE is either whole or not there, and an interruption leaves
 * nothing behind.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "cli/backup.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/domains.h"
#include "cli/term.h"
#include "config/config.h"
#include "files/tar.h"
#include "house/store_files.h"

/* What the owner wrote beside the databases. The token is left out: a restored directory makes a
 * new one. */
static const char *const plain_files[] = { "config.yaml", "policy.yaml" };

bool backup_has(const char *name)
{
    char database[64];

    for (size_t i = 0; i < DOMAINS_COUNT; i++) {
        snprintf(database, sizeof(database), "%s.sqlite", domains_name(i));
        if (strcmp(name, database) == 0)
            return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(plain_files); i++)
        if (strcmp(name, plain_files[i]) == 0)
            return true;
    return false;
}

struct backup {
    const char *data_dir;
    const char *path; /* FILE */
    /* A directory beside FILE, the archive in it that becomes FILE, and a database's copy. */
    char work[LIMIT_PATH_BYTES], partial[LIMIT_PATH_BYTES], scratch[LIMIT_PATH_BYTES];
    struct tar tar;            /* of partial */
    struct json_object *files; /* manifest rows */
    struct term_progress progress;
    struct arena arena; /* of its labels */
};

/* The backup that runs, for the handler. */
static struct backup *running;

/* Removes a directory with the files in it, by system calls alone: a signal may have interrupted
 * anything. */
static void remove_work(const char *path)
{
    struct entry {
        uint64_t inode;
        int64_t offset;
        unsigned short length;
        unsigned char type;
        char name[];
    };
    _Alignas(struct entry) char bytes[2048];
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n;

    while (fd >= 0 && (n = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0)
        for (long at = 0; at < n;) {
            const struct entry *entry = (const struct entry *)(const void *)(bytes + at);

            unlinkat(fd, entry->name, 0);
            at += entry->length;
        }
    if (fd >= 0)
        close(fd);
    rmdir(path);
}

static void interrupted(int number)
{
    if (running && running->work[0])
        remove_work(running->work);
    signal(number, SIG_DFL);
    raise(number);
}

static void on_interruption(void (*handler)(int))
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_handler = handler };

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        sigaction(numbers[i], &action, NULL);
}

static void backup_release(struct backup *backup)
{
    on_interruption(SIG_DFL);
    running = NULL;
    if (backup->tar.fd >= 0)
        close(backup->tar.fd);
    if (backup->work[0])
        remove_work(backup->work);
    json_object_put(backup->files);
    term_progress_end(&backup->progress);
    arena_release(&backup->arena);
}

static void show_pages(int done_pages, int all_pages, void *arg)
{
    term_progress_update(arg, done_pages, all_pages);
}

static void show_bytes(int64_t done, int64_t all, void *arg)
{
    term_progress_update(arg, done, all);
}

static int add_file(struct backup *backup, const char *name, const char *path, struct err *err)
{
    char hash[SHA256_TEXT_SIZE];
    struct json_object *row;
    struct stat st;

    if (tar_add_file(&backup->tar, name, path, hash, err) < 0)
        return -1;
    row = json_object_new_object();
    json_object_object_add(row, "name", json_object_new_string(name));
    if (stat(path, &st) == 0)
        json_object_object_add(row, "bytes", json_object_new_int64(st.st_size));
    json_object_object_add(row, "sha256", json_object_new_string(hash));
    json_object_array_add(backup->files, row);
    return 0;
}

static int add_domain(struct backup *backup, const struct config *config, size_t i, struct err *err)
{
    AUTO_TEXT path = domains_path(backup->data_dir, i);
    AUTO(domain) domain = NULL;
    char name[64];
    int r;

    if (access(path, F_OK) < 0)
        return 0;
    if (domains_open_one(config, backup->data_dir, i, true, &domain, err) < 0)
        return -1;
    backup->progress.label = arena_printf(&backup->arena, "copying %s", domains_name(i));
    if (domain_backup(domain, backup->scratch, show_pages, &backup->progress, err) < 0)
        return -1;
    backup->progress.label = arena_printf(&backup->arena, "packing %s", domains_name(i));
    snprintf(name, sizeof(name), "%s.sqlite", domains_name(i));
    r = add_file(backup, name, backup->scratch, err);
    unlink(backup->scratch);
    return r < 0 ? -1 : 1;
}

static int add_domains(struct backup *backup, const struct config *config, struct err *err)
{
    int found = 0;

    for (size_t i = 0; i < DOMAINS_COUNT; i++) {
        int r = add_domain(backup, config, i, err);

        if (r < 0)
            return -1;
        found += r;
    }
    if (found == 0)
        return err_set(err, ERR_NOT_FOUND, "there is nothing to back up in %s", backup->data_dir);
    return 0;
}

static int add_plain_files(struct backup *backup, struct err *err)
{
    char path[LIMIT_PATH_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(plain_files); i++) {
        snprintf(path, sizeof(path), "%s/%s", backup->data_dir, plain_files[i]);
        if (access(path, F_OK) == 0 && add_file(backup, plain_files[i], path, err) < 0)
            return -1;
    }
    return 0;
}

static int add_manifest(struct backup *backup, struct err *err)
{
    struct json_object *manifest = json_object_new_object();
    char made[TIMEFMT_SIZE];
    const char *text;
    int r;

    timefmt_rfc3339(backup->tar.mtime_s * 1000, made);
    json_object_object_add(manifest, "format", json_object_new_int(BACKUP_FORMAT));
    json_object_object_add(manifest, "version", json_object_new_string(DORMOUSE_VERSION));
    json_object_object_add(manifest, "at", json_object_new_string(made));
    json_object_object_add(manifest, "files", json_object_get(backup->files));
    text = json_object_to_json_string_ext(manifest, JSON_C_TO_STRING_PRETTY);
    r = tar_add_bytes(&backup->tar, BACKUP_MANIFEST, str_from(text), err);
    json_object_put(manifest);
    return r;
}

static int sync_directory(const char *path, struct err *err)
{
    char copy[LIMIT_PATH_BYTES];
    int fd, r;

    snprintf(copy, sizeof(copy), "%s", path);
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    r = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0)
        close(fd);
    return r < 0 ? err_set(err, ERR_STORAGE_FAILED, "sync the directory of %s: %s", path,
                           strerror(errno))
                 : 0;
}

static int already_there(const char *path, struct err *err)
{
    return err_set(err, ERR_CONFLICT, "%s is already there; a backup never overwrites", path);
}

static int begin(struct backup *backup, struct err *err)
{
    int n = snprintf(backup->work, sizeof(backup->work), "%s.partial-XXXXXX", backup->path);

    if (!*backup->path || n < 0 || (size_t)n + 16 >= sizeof(backup->work)) {
        backup->work[0] = '\0';
        return err_set(err, ERR_BAD_REQUEST, "the name of FILE is %s",
                       *backup->path ? "too long" : "empty");
    }
    if (access(backup->path, F_OK) == 0 || !mkdtemp(backup->work)) {
        int failure = errno;

        backup->work[0] = '\0';
        if (access(backup->path, F_OK) == 0)
            return already_there(backup->path, err);
        return err_set(err, ERR_BAD_REQUEST, "create %s: %s", backup->path, strerror(failure));
    }
    snprintf(backup->partial, sizeof(backup->partial), "%s/archive", backup->work);
    snprintf(backup->scratch, sizeof(backup->scratch), "%s/database", backup->work);
    backup->tar.fd = open(backup->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (backup->tar.fd < 0)
        return err_set(err, ERR_STORAGE_FAILED, "create %s: %s", backup->partial, strerror(errno));
    return 0;
}

static int hash_entry(int fd, struct tar_entry *entry, char ret_hash[SHA256_TEXT_SIZE],
                      struct err *err)
{
    AUTO_TEXT piece = alloc_zero(1, 256 * KIB);
    uint8_t digest[SHA256_BYTES];
    struct sha256 hash;
    size_t n;

    sha256_init(&hash);
    do {
        if (tar_read(fd, entry, piece, 256 * KIB, &n, err) < 0)
            return -1;
        sha256_add(&hash, str_of(piece, n));
    } while (n);
    sha256_finish(&hash, digest);
    hex_encode(digest, sizeof(digest), ret_hash);
    return 0;
}

/* What was written is read again: a backup that can't be restored is found now and not then. */
static int verify(struct backup *backup, struct err *err)
{
    AUTO_FD fd = open(backup->partial, O_RDONLY | O_CLOEXEC);
    struct tar_entry entry;
    char hash[SHA256_TEXT_SIZE];
    size_t seen = 0;
    int r;

    if (fd < 0)
        return err_set(err, ERR_STORAGE_FAILED, "open %s: %s", backup->partial, strerror(errno));
    while ((r = tar_next(fd, &entry, err)) == 1) {
        struct json_object *row = json_object_array_get_idx(backup->files, seen);

        if (hash_entry(fd, &entry, hash, err) < 0)
            return -1;
        if (strcmp(entry.name, BACKUP_MANIFEST) == 0)
            continue;
        if (!row || !str_is(json_str(json_find(row, "name")), entry.name) ||
            !str_is(json_str(json_find(row, "sha256")), hash))
            return err_set(err, ERR_INTEGRITY_FAILED, "%s was not written as it is", entry.name);
        seen++;
    }
    if (r == 0 && seen != json_length(backup->files))
        return err_set(err, ERR_INTEGRITY_FAILED, "not all files were written");
    return r;
}

static int finish(struct backup *backup, struct err *err)
{
    if (add_manifest(backup, err) < 0 || tar_end(&backup->tar, err) < 0)
        return -1;
    if (fsync(backup->tar.fd) < 0)
        return err_set(err, ERR_STORAGE_FAILED, "sync: %s", strerror(errno));
    if (verify(backup, err) < 0)
        return err_wrap(err, "read it again");
    if (renameat2(AT_FDCWD, backup->partial, AT_FDCWD, backup->path, RENAME_NOREPLACE) < 0) {
        if (errno == EEXIST)
            return already_there(backup->path, err);
        return err_set(err, ERR_STORAGE_FAILED, "name it %s: %s", backup->path, strerror(errno));
    }
    return sync_directory(backup->path, err);
}

/* Half a backup would be worse than none. */
static int refuse_postgres(const struct config *config, struct err *err)
{
    if (domains_is_local(config, DOMAIN_JOURNAL))
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "the records are on Postgres (store.url); back them up there: "
                   "pg_dump --format=custom --schema=journal --schema=agent --file=FILE URL");
}

static void report(const struct cli_args *args, const struct backup *backup)
{
    struct json_object *out;
    struct stat st = { .st_size = 0 };

    stat(backup->path, &st);
    if (!cli_json(args)) {
        printf("%s: %zu files, %lld bytes\nrestore with: dormouse restore %s\n", backup->path,
               json_length(backup->files), (long long)st.st_size, backup->path);
        return;
    }
    out = json_object_new_object();
    json_object_object_add(out, "file", json_object_new_string(backup->path));
    json_object_object_add(out, "bytes", json_object_new_int64(st.st_size));
    json_object_object_add(out, "files", json_object_get(backup->files));
    cli_print_json(out);
}

static int run_backup(const struct cli_args *args)
{
    __attribute__((cleanup(backup_release))) struct backup backup = {
        .data_dir = cli_data_dir(args),
        .path = cli_operand(args, 0),
        .tar = { .fd = -1,
                 .mtime_s = clock_wall_ms(clock_system()) / 1000,
                 .progress = show_bytes,
                 .arg = &backup.progress },
        .files = json_object_new_array(),
    };
    AUTO(config) config = NULL;
    struct err err = ERR_INIT;

    term_progress_init(&backup.progress, "", stderr, false);
    running = &backup;
    on_interruption(interrupted);
    if (cli_config(args, &config, &err) < 0 || refuse_postgres(config, &err) < 0 ||
        begin(&backup, &err) < 0 || add_domains(&backup, config, &err) < 0 ||
        add_plain_files(&backup, &err) < 0 || finish(&backup, &err) < 0) {
        err_wrap(&err, "backup");
        return cli_fail(args, &err);
    }
    store_files_note_backup(backup.data_dir, backup.path, backup.tar.mtime_s * 1000);
    report(args, &backup);
    return CLI_DONE;
}

const struct cli_command cli_cmd_backup = {
    .name = "backup",
    .operands = "FILE",
    .summary = "Copies all databases and settings into one archive, also while the daemon runs",
    .details =
        "FILE becomes a tar archive with the databases (journal.sqlite, agent.sqlite, "
        "index.sqlite), config.yaml and policy.yaml where they exist, and manifest.json with the "
        "hash of each. It is readable by you alone, and never overwrites.\n\n"
        "What was written is read again and compared before FILE gets its name. `dormouse "
        "restore FILE` brings it back, `dormouse restore --check FILE` only checks it.\n\n"
        "The token of the HTTP interface is not in the archive; a new one is made. Neither are "
        "secrets: set them again, or copy DATA/secrets and its key yourself. Records on "
        "Postgres are backed up with pg_dump.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_backup,
};
