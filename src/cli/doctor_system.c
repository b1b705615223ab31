/* doctor: what this system has.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/dl.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"
#include "cli/doctor_int.h"
#include "db/engine.h"
#include "run/program.h"
#include "sandbox/sandbox.h"

#define LANDLOCK_VERSION_FLAG 1 /* LANDLOCK_CREATE_RULESET_VERSION, absent from older headers */

const char *doctor_find_program(struct doctor *doctor, const char *name)
{
    const char *path = getenv("PATH");
    struct str rest = str_from(path ? path : "/usr/local/bin:/usr/bin:/bin"), dir;
    char file[LIMIT_PATH_BYTES];

    while (str_split(&rest, ':', &dir)) {
        snprintf(file, sizeof(file), "%.*s/%s", STR_ARG(dir), name);
        if (dir.n > 0 && access(file, X_OK) == 0)
            return arena_text(&doctor->arena, file);
    }
    return NULL;
}

/* As a start does; without a policy there is nothing to say. */
void doctor_policy(struct doctor *doctor)
{
    struct err err = ERR_INIT;
    char text[ERR_TEXT_MAX];
    int r = run_policy_check_file(doctor->data_dir, &err);

    if (r < 0)
        doctor_add(doctor, DOCTOR_FAIL, "policy", "dormouse verify", "%s",
                   err_format(&err, text, sizeof(text)));
    else if (r > 0)
        doctor_add(doctor, DOCTOR_OK, "policy", NULL, "a run can always end under it");
}

void doctor_sqlite(struct doctor *doctor)
{
    const char *lacks = db_sqlite_lacks();

    if (lacks)
        doctor_add(doctor, DOCTOR_FAIL, "SQLite", "apt install libsqlite3-0", "%s lacks %s",
                   db_sqlite_version(), lacks);
    else
        doctor_add(doctor, DOCTOR_OK, "SQLite", NULL, "%s with full-text search",
                   db_sqlite_version());
}

/* ---- isolation ---- */

/* In a child, because there is no way back. */
static bool can_unshare(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void check_namespaces(struct doctor *doctor)
{
    if (can_unshare())
        doctor_add(doctor, DOCTOR_OK, "namespaces", NULL, "user namespaces work");
    else
        doctor_add(doctor, DOCTOR_WARN, "namespaces",
                   "sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000",
                   "this system refuses user namespaces: agents can't run commands");
}

static void check_landlock(struct doctor *doctor)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION_FLAG);

    if (abi >= 1)
        doctor_add(doctor, DOCTOR_OK, "Landlock", NULL, "ABI %ld", abi);
    else
        doctor_add(
            doctor, DOCTOR_WARN, "Landlock", "add landlock to the kernel's lsm= parameter",
            "not offered by this kernel (%s): one wall of the sandbox is missing, and denied "
            "places that do not exist yet are not denied",
            strerror(errno));
}

static void check_seccomp(struct doctor *doctor)
{
    uint32_t action = SECCOMP_RET_KILL_PROCESS;

    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
        doctor_add(doctor, DOCTOR_OK, "seccomp", NULL, "filters work");
    else
        doctor_add(doctor, DOCTOR_WARN, "seccomp", NULL,
                   "no filters (%s): one wall of the sandbox is missing", strerror(errno));
}

/* The hand connects in place of commands, and needs to take their sockets for that. */
static void check_tracing(struct doctor *doctor)
{
    AUTO_BUF scope = BUF_INIT(64);

    if (file_read("/proc/sys/kernel/yama/ptrace_scope", &scope, NULL) == 0 && scope.n > 0 &&
        scope.p[0] >= '2')
        doctor_add(doctor, DOCTOR_WARN, "connections", "sysctl -w kernel.yama.ptrace_scope=1",
                   "kernel.yama.ptrace_scope is %c: commands in the sandbox have no Unix sockets, "
                   "listed or of their own, and what tools outside obey is noticed when a command "
                   "ends instead of refused",
                   scope.p[0]);
}

static void check_user(struct doctor *doctor)
{
    if (geteuid() == 0)
        doctor_add(doctor, DOCTOR_OK, "user", NULL,
                   "root; agents' commands run as a user of their own, and `dormouse serve --user "
                   "NAME` needs no root at all");
}

/* Without it no tool of agents works, with walls or without. */
static bool check_hand(struct doctor *doctor)
{
    const char *hand = sandbox_program();

    if (hand)
        doctor_add(doctor, DOCTOR_OK, "dormouse-hand", NULL, "%s", hand);
    else
        doctor_add(doctor, DOCTOR_FAIL, "dormouse-hand", "install dormouse again",
                   "not beside dormouse nor in ../libexec/dormouse, or others may write to it: "
                   "agents can't run commands or touch files");
    return hand != NULL;
}

/* The walls together, as a run would use them. */
static void check_isolation(struct doctor *doctor)
{
    struct err err = ERR_INIT;
    char text[ERR_TEXT_MAX];

    if (sandbox_available(&err) == 0)
        doctor_add(doctor, DOCTOR_OK, "isolation", NULL, "a command was run in the sandbox");
    else
        doctor_add(doctor, DOCTOR_WARN, "isolation", NULL, "agents can't run commands: %s",
                   err_format(&err, text, sizeof(text)));
}

/* Where a run would begin: here. */
static void check_limits(struct doctor *doctor)
{
    const char *unheld[SANDBOX_UNHELD_MAX];
    size_t n = sandbox_unheld(".", unheld);

    for (size_t i = 0; i < n; i++)
        doctor_add(doctor, DOCTOR_WARN, "limits", "read docs/sandbox.md, How limits are counted",
                   "%s", unheld[i]);
    if (n == 0)
        doctor_add(doctor, DOCTOR_OK, "limits", NULL,
                   "the kernel holds memory and processes of every sandbox");
}

void doctor_sandbox(struct doctor *doctor)
{
    const char *bwrap = doctor_find_program(doctor, "bwrap");

    if (doctor->config && !doctor->config->sandbox_enabled)
        doctor_add(doctor, DOCTOR_WARN, "sandbox", "remove sandbox.enabled from the configuration",
                   "turned off: agents' commands can touch whatever you can touch");
    if (bwrap)
        doctor_add(doctor, DOCTOR_OK, "bubblewrap", NULL, "%s", bwrap);
    else
        doctor_add(doctor, DOCTOR_WARN, "bubblewrap", "apt install bubblewrap",
                   "absent: agents can't run commands");
    check_namespaces(doctor);
    check_landlock(doctor);
    check_seccomp(doctor);
    check_tracing(doctor);
    check_user(doctor);
    if (check_hand(doctor) && bwrap)
        check_isolation(doctor);
    check_limits(doctor);
}

/* ---- what is used when it is there ---- */

static void check_library(struct doctor *doctor, const char *soname, const char *package,
                          const char *lost)
{
    const char *name = arena_printf(&doctor->arena, "%s", soname);
    struct err err = ERR_INIT;

    if (dl_load(soname, NULL, 0, &err) == 0)
        doctor_add(doctor, DOCTOR_OK, name, NULL, "loads");
    else
        doctor_add(doctor, DOCTOR_WARN, name,
                   arena_printf(&doctor->arena, "apt install %s", package), "absent: %s", lost);
}

void doctor_optional(struct doctor *doctor)
{
    static const struct {
        const char *program, *use;
    } programs[] = {
        { "llama-server", "a local language model" },
        { "chromium", "browser stories" },
        { "git", "history of agents' files" },
    };

    check_library(doctor, "libcurl.so.4", "libcurl4", "no model or web access");
    check_library(doctor, "libpq.so.5", "libpq5", "no Postgres");
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        const char *path = doctor_find_program(doctor, programs[i].program);

        doctor_add(doctor, DOCTOR_OK, programs[i].program, NULL, "%s%s",
                   path ? path : "absent, needed only for ", path ? "" : programs[i].use);
    }
}
