/* doctor: the data directory, the configuration and the databases.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "cli/columns.h"
#include "cli/doctor_int.h"
#include "cli/domains.h"
#include "cli/keeper.h"
#include "cli/term.h"
#include "files/files.h"
#include "house/data_dir.h"
#include "house/store_files.h"
#include "serve/guard.h"
#include "wake/health.h"

#define SPACE_FAIL_BYTES ((uint64_t)64 * MIB)
#define SPACE_WARN_BYTES ((uint64_t)1024 * MIB)
#define WAKE_LATE_MS     (10 * 60 * 1000)

extern char **environ;

struct config *doctor_config(struct doctor *doctor)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    struct config_sources sources = { .data_dir = doctor->data_dir, .environment = environ };
    char work_dir[PATH_MAX];
    struct config *config = NULL;

    if (realpath(".", work_dir))
        sources.work_dir = work_dir;
    if (config_load(&sources, &config, &problems, NULL) == 0) {
        doctor_add(doctor, DOCTOR_OK, "configuration", NULL, "valid");
        return config;
    }
    for (size_t i = 0; i < problems.n; i++) {
        const struct config_problem *p = &problems.items[i];

        if (p->line)
            doctor_add(doctor, DOCTOR_FAIL, "configuration", NULL, "%s:%u:%u: %s", p->file, p->line,
                       p->column, p->message);
        else
            doctor_add(doctor, DOCTOR_FAIL, "configuration", NULL, "%s: %s", p->file, p->message);
    }
    return NULL;
}

static void check_space(struct doctor *doctor, const char *path)
{
    struct statvfs fs;
    uint64_t bytes;
    enum doctor_status status = DOCTOR_OK;

    if (statvfs(path, &fs) < 0)
        return;
    bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (bytes < SPACE_FAIL_BYTES)
        status = DOCTOR_FAIL;
    else if (bytes < SPACE_WARN_BYTES)
        status = DOCTOR_WARN;
    doctor_add(doctor, status, "free space",
               status == DOCTOR_OK
                   ? NULL
                   : arena_printf(&doctor->arena, "du -xh %s | sort -h | tail", path),
               "%.1f GiB", (double)bytes / (1024.0 * MIB));
}

/* The nearest directory above path that exists. */
static const char *existing_parent(struct doctor *doctor, const char *path)
{
    char *copy = arena_text(&doctor->arena, path), *slash;

    while (access(copy, F_OK) < 0 && (slash = strrchr(copy, '/')) != NULL && slash != copy)
        *slash = '\0';
    return access(copy, F_OK) == 0 ? copy : "/";
}

static void check_absent(struct doctor *doctor)
{
    const char *parent = existing_parent(doctor, doctor->data_dir);

    if (faccessat(AT_FDCWD, parent, W_OK | X_OK, AT_EACCESS) < 0)
        doctor_add(doctor, DOCTOR_FAIL, "data directory", "dormouse doctor --data DIR",
                   "%s can't be created: %s: %s", doctor->data_dir, parent, strerror(errno));
    else
        doctor_add(doctor, DOCTOR_OK, "data directory", NULL, "%s will be created at first use",
                   doctor->data_dir);
    check_space(doctor, parent);
}

static void check_lock(struct doctor *doctor)
{
    pid_t holder = data_dir_holder(doctor->data_dir);

    if (holder > 0 && keeper_is_all(doctor->data_dir))
        doctor_add(doctor, DOCTOR_OK, "daemon", NULL,
                   "not running; process %d stays until what commands began is done", (int)holder);
    else if (holder > 0)
        doctor_add(doctor, DOCTOR_OK, "daemon", NULL, "running as process %d", (int)holder);
    else if (holder < 0)
        doctor_add(doctor, DOCTOR_OK, "daemon", NULL, "running");
    else
        doctor_add(doctor, DOCTOR_OK, "daemon", NULL, "not running; start it with dormouse serve");
}

/* The daemon refuses a token that others can read, or that is none. */
static void check_token(struct doctor *doctor)
{
    const char *path = arena_printf(&doctor->arena, "%s/token", doctor->data_dir);
    struct err err = ERR_INIT;

    if (guard_check_token(path, &err) < 0)
        doctor_add(doctor, DOCTOR_FAIL, "token", arena_printf(&doctor->arena, "rm %s", path), "%s",
                   err_message(&err, 0));
}

/* Only told when something is wrong: most people never look into the folder. */
static void check_files(struct doctor *doctor)
{
    const char *dir = arena_printf(&doctor->arena, "%s/files", doctor->data_dir);
    struct file_problem *problems;
    size_t count;

    files_look(dir, &doctor->arena, &problems, &count);
    if (count)
        doctor_add(doctor, DOCTOR_WARN, "files",
                   arena_printf(&doctor->arena, "ls -l %s/%.*s", dir, STR_ARG(problems[0].tree)),
                   "%zu in %s can't be remembered, as %.*s/%.*s: %.*s", count, dir,
                   STR_ARG(problems[0].tree), STR_ARG(problems[0].path), STR_ARG(problems[0].text));
}

/* What to type depends on why: rights can be given, a read-only disk needs another directory. */
static const char *access_cure(struct doctor *doctor, const struct stat *st, int why)
{
    if (why == EACCES && st->st_uid == geteuid())
        return arena_printf(&doctor->arena, "chmod 700 %s", doctor->data_dir);
    return "dormouse doctor --data DIR, a directory of your own";
}

void doctor_data(struct doctor *doctor)
{
    const char *path = doctor->data_dir;
    struct stat st;

    if (stat(path, &st) < 0) {
        if (errno == ENOENT)
            check_absent(doctor);
        else
            doctor_add(doctor, DOCTOR_FAIL, "data directory", "dormouse doctor --data DIR",
                       "%s: %s", path, strerror(errno));
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        doctor_add(doctor, DOCTOR_FAIL, "data directory", "dormouse doctor --data DIR",
                   "%s: it is not a directory", path);
        return;
    }
    if (faccessat(AT_FDCWD, path, R_OK | W_OK | X_OK, AT_EACCESS) < 0)
        doctor_add(doctor, DOCTOR_FAIL, "data directory", access_cure(doctor, &st, errno), "%s: %s",
                   path, strerror(errno));
    else if (st.st_mode & 077)
        doctor_add(doctor, DOCTOR_WARN, "data directory",
                   arena_printf(&doctor->arena, "chmod 700 %s", path),
                   "%s is open to others (mode %04o)", path, (unsigned)st.st_mode & 07777);
    else
        doctor_add(doctor, DOCTOR_OK, "data directory", NULL, "%s (mode 0700)", path);
    check_token(doctor);
    check_lock(doctor);
    check_files(doctor);
    check_space(doctor, path);
}

/* What to type for a database that does not open or is not sound. */
static const char *cure(struct doctor *doctor, size_t i, const char *path, enum err_code code)
{
    if (code == ERR_VERSION_CONFLICT)
        return "dormouse serve";
    if (code == ERR_CONFLICT)
        return "install the Dormouse that wrote it";
    if (!path)
        return "psql URL (the URL of store.url)";
    return arena_printf(&doctor->arena,
                        i == DOMAIN_INDEX ? "stop the daemon and remove %s; it is rebuilt"
                                          : "restore a backup of %s (dormouse help backup)",
                        path);
}

/* A wake that nobody takes: no daemon runs, or it has too much to do. */
static void check_due(struct doctor *doctor, const struct wake_health *health, int64_t now)
{
    bool daemon = !keeper_is_all(doctor->data_dir);
    char since[AGO_SIZE], at[TIMEFMT_SIZE];

    if (!health->due_since || now - health->due_since < WAKE_LATE_MS)
        return;
    timefmt_rfc3339(health->due_since, at);
    doctor_add(doctor, DOCTOR_WARN, "wakes",
               daemon ? "dormouse wakes --status queued" : "dormouse serve",
               "one has been due since %s; %s", ago_text(str_from(at), now, since),
               daemon ? "agents may have more to do than there are places"
                      : "agents wake while the daemon runs");
}

static void check_wakes(struct doctor *doctor, struct domain *domain)
{
    int64_t now = clock_wall_ms(clock_system());
    struct wake_health health;
    struct err err = ERR_INIT;
    char text[ERR_TEXT_MAX], next[AGO_SIZE] = "", at[TIMEFMT_SIZE];
    bool idle;

    if (wake_health(domain, now, &doctor->arena, &health, &err) < 0) {
        doctor_add(doctor, DOCTOR_FAIL, "wakes", NULL, "%s", err_format(&err, text, sizeof(text)));
        return;
    }
    timefmt_rfc3339(health.next_timer, at);
    doctor_add(doctor, DOCTOR_OK, "wakes", NULL, "%lld queued, %lld under way%s",
               (long long)health.queued, (long long)health.flying,
               health.waiting ? arena_printf(&doctor->arena, ", %lld waiting for you",
                                             (long long)health.waiting)
                              : ", nothing waits for you");
    /* A keeper that is there stays for an alarm. */
    idle = health.timers > (health.next_alarm && data_dir_holder(doctor->data_dir)) &&
           keeper_is_all(doctor->data_dir);
    doctor_add(doctor, idle ? DOCTOR_WARN : DOCTOR_OK, "timers", idle ? "dormouse serve" : NULL,
               "%lld%s%s%s", (long long)health.timers, health.timers ? ", the next " : "",
               health.timers ? ago_text(str_from(at), now, next) : "",
               idle ? "; they fire while the daemon runs" : "");
    check_due(doctor, &health, now);
    if (health.dead_letters)
        doctor_add(doctor, DOCTOR_WARN, "changes", "dormouse wakes",
                   "%lld could not be read and woke nobody; the last: %s",
                   (long long)health.dead_letters, health.dead_why);
}

/* path: NULL on Postgres. Returns -1 when it can't be opened. */
static int check_database(struct doctor *doctor, size_t i, const char *path)
{
    const char *name = arena_printf(&doctor->arena, "%s database", domains_name(i));
    const char *where = path ? "" : " (Postgres)";
    AUTO(domain) domain = NULL;
    struct err err = ERR_INIT;
    char text[ERR_TEXT_MAX];
    int version = 0, opened;

    if (path && i != DOMAIN_INDEX && store_files_lost(doctor->data_dir, path)) {
        doctor_add(doctor, DOCTOR_FAIL, name, store_files_cure(doctor->data_dir, &doctor->arena),
                   "%s %s, and nothing starts without it", path,
                   store_files_lost(doctor->data_dir, path));
        return 0;
    }
    if (path && access(path, F_OK) < 0) {
        doctor_add(doctor, DOCTOR_OK, name, NULL, "not there yet");
        return 0;
    }
    term_note(stderr, name);
    opened = domains_open_one(doctor->config, doctor->data_dir, i, true, &domain, &err);
    if (opened < 0 && !path && err.code == ERR_NOT_FOUND)
        doctor_add(doctor, DOCTOR_OK, name, NULL, "not there yet%s", where);
    else if (opened < 0 || domain_check(domain, &err) < 0 ||
             domain_schema_version(domain, &version, &err) < 0)
        doctor_add(doctor, err.code == ERR_VERSION_CONFLICT ? DOCTOR_WARN : DOCTOR_FAIL, name,
                   cure(doctor, i, path, err.code), "%s", err_format(&err, text, sizeof(text)));
    else
        doctor_add(doctor, DOCTOR_OK, name, NULL, "sound, schema version %d%s", version, where);
    if (opened == 0 && !err.code && i == DOMAIN_AGENT) {
        check_wakes(doctor, domain);
        doctor_budget(doctor, domain);
    }
    term_note(stderr, NULL);
    return opened;
}

void doctor_databases(struct doctor *doctor)
{
    bool reachable = true;

    if (!doctor->config)
        return;
    for (size_t i = 0; i < DOMAINS_COUNT; i++) {
        bool local = domains_is_local(doctor->config, i);
        AUTO_TEXT path = local ? domains_path(doctor->data_dir, i) : NULL;

        /* The same server gives the same answer. */
        if (local || reachable)
            reachable = check_database(doctor, i, path) == 0 || local;
    }
}
