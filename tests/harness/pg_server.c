/* Starts Postgres for the tests and makes sure that it ends.
 *
 * A guard process starts the server and then reads from a pipe whose other end only the suite's
 * processes hold. However they end, by exit, crash or kill, the read then returns; the guard stops
 * the server and removes its directory. A suite that ends in the ordinary way waits for that.
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness/pg_server.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared by all processes of the suite, because the test that starts the server is one of many. */
static struct server {
    enum { SERVER_OFF = 0, SERVER_UP, SERVER_FAILED } state;
    char dir[64];
    char why[256];
} * server;
static int suite_end[2] = { -1, -1 }; /* the guard reads, the suite holds the write end */
static int guard_end[2] = { -1, -1 }; /* the suite reads, the guard holds the write end */
static pid_t suite_pid;

bool pg_server_syncs;

static void fail(const char *what, const char *detail)
{
    snprintf(server->why, sizeof(server->why), "%s: %s", what, detail);
    server->state = SERVER_FAILED;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

/* Postgres refuses to run as root. */
static bool drop_root(void)
{
    const struct passwd *user = getpwnam("postgres");

    if (geteuid() != 0)
        return true;
    if (!user)
        user = getpwnam("nobody");
    return user && setgroups(0, NULL) == 0 && setgid(user->pw_gid) == 0 &&
           setuid(user->pw_uid) == 0;
}

static bool give_to_user(const char *path)
{
    const struct passwd *user = getpwnam("postgres");

    if (geteuid() != 0)
        return true;
    if (!user)
        user = getpwnam("nobody");
    return user && chown(path, user->pw_uid, user->pw_gid) == 0;
}

static bool find_tool(const char *tool, char *path, size_t size)
{
    char pattern[128];
    glob_t found;
    bool ok;

    snprintf(pattern, sizeof(pattern), "/usr/lib/postgresql/*/bin/%s", tool);
    ok = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;
    if (ok)
        snprintf(path, size, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return ok;
}

/* Exit status of the tool, run as the unprivileged user with its output in the log. Fills
 * argv[0] with the whole path: Postgres looks there for its other programs. */
static int run_tool(const char *tool, const char *argv[])
{
    char path[256], log[128];
    int status;
    pid_t pid;

    if (!find_tool(tool, path, sizeof(path)))
        return -1;
    argv[0] = path;
    snprintf(log, sizeof(log), "%s/log", server->dir);
    pid = fork();
    if (pid == 0) {
        int fd;

        if (!drop_root() || chdir(server->dir) < 0)
            _exit(126);
        fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(125);
        close_range(3, ~0u, 0);
        execv(path, (char *const *)argv);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void start_server(void)
{
    char data[96], options[256], log[96];
    const char *initdb[] = { NULL,         "-A", "trust", "-U", "dormouse", "--no-sync",
                             "--locale=C", "-E", "UTF8",  "-D", data,       NULL };
    const char *start[] = { NULL, "-D", data, "-w",    "-t",    "60",
                            "-l", log,  "-o", options, "start", NULL };
    char text[32];
    int r;

    snprintf(data, sizeof(data), "%s/data", server->dir);
    snprintf(log, sizeof(log), "%s/server.log", server->dir);
    snprintf(options, sizeof(options),
             pg_server_syncs ? "-k %s -h '' -c shared_buffers=128MB -c max_connections=40"
                             : "-k %s -h '' -F -c full_page_writes=off -c shared_buffers=16MB"
                               " -c max_connections=40 -c autovacuum=off",
             server->dir);
    r = run_tool("initdb", initdb);
    if (r != 0) {
        snprintf(text, sizeof(text), "status %d", r);
        fail("initdb", r < 0 ? "not found under /usr/lib/postgresql" : text);
        return;
    }
    r = run_tool("pg_ctl", start);
    if (r != 0) {
        snprintf(text, sizeof(text), "status %d", r);
        fail("pg_ctl start", text);
        return;
    }
    server->state = SERVER_UP;
}

static void stop_server(void)
{
    char data[96];
    const char *stop[] = { NULL, "-D", data, "-m", "immediate", "-w", "stop", NULL };

    snprintf(data, sizeof(data), "%s/data", server->dir);
    run_tool("pg_ctl", stop);
    nftw(server->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static _Noreturn void guard(int ready)
{
    int null = open("/dev/null", O_RDWR);
    char byte;

    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    close(suite_end[1]);
    close(guard_end[0]);
    start_server();
    close(ready);
    while (read(suite_end[0], &byte, 1) < 0 && errno == EINTR)
        ;
    stop_server();
    _exit(0);
}

const char *pg_server_dir(const char **ret_why)
{
    int ready[2];
    char byte;
    pid_t pid;

    if (server->state == SERVER_OFF) {
        snprintf(server->dir, sizeof(server->dir), "/tmp/dormouse-pg-XXXXXX");
        if (!mkdtemp(server->dir) || !give_to_user(server->dir) || pipe2(ready, O_CLOEXEC) < 0) {
            fail("temporary directory", strerror(errno));
        } else {
            /* Twice, so that the guard is nobody's child here and dies with no test. */
            pid = fork();
            if (pid == 0) {
                close(ready[0]);
                if (fork() == 0)
                    guard(ready[1]);
                _exit(0);
            }
            close(ready[1]);
            waitpid(pid, NULL, 0);
            while (read(ready[0], &byte, 1) < 0 && errno == EINTR)
                ;
            close(ready[0]);
        }
    }
    if (server->state == SERVER_UP)
        return server->dir;
    *ret_why = server->why[0] ? server->why : "the guard ended";
    return NULL;
}

/* The suite is done: let the guard know and wait until it has cleaned up. */
static void end_suite(void)
{
    char byte;

    if (getpid() != suite_pid || server->state == SERVER_OFF)
        return;
    close(suite_end[1]);
    close(guard_end[1]);
    while (read(guard_end[0], &byte, 1) < 0 && errno == EINTR)
        ;
}

__attribute__((constructor)) static void prepare_server(void)
{
    server = mmap(NULL, sizeof(*server), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    suite_pid = getpid();
    if (server == MAP_FAILED || pipe2(suite_end, O_CLOEXEC) < 0 || pipe2(guard_end, O_CLOEXEC) < 0)
        abort();
    atexit(end_suite);
}
