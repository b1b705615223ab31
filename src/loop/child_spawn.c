/* From a config to a running launcher.
 *
 * posix_spawn() shares our memory until the launcher is executed, so its cost does not depend on
 * our size. Every descriptor that goes over is first moved above FD_BASE: then the numbers 0, 1,
 * 2, ... of the child can be filled one after the other without overwriting one that is still
 * needed. All are close-on-exec, those that dup2() makes are not.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/child_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop/child_int.h"

#define FD_BASE (3 + CHILD_FDS_MAX + 1)
#define UMASK   077

/* The child's ends, until it has them. */
struct ends {
    int fds[3 + CHILD_FDS_MAX + 1]; /* as the child will number them; the last is the status */
    int count;
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_ends(struct ends *ends)
{
    for (int i = 0; i < ends->count; i++)
        close_fd(&ends->fds[i]);
}

static void close_spawned(struct spawned *spawned)
{
    close_fd(&spawned->pidfd);
    close_fd(&spawned->input);
    close_fd(&spawned->output[CHILD_OUT]);
    close_fd(&spawned->output[CHILD_ERR]);
    close_fd(&spawned->status);
}

/* Takes fd over, whatever happens. */
static int give(struct ends *ends, int fd)
{
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FD_BASE);

    if (fd >= 0)
        close(fd);
    ends->fds[ends->count++] = high;
    return high < 0 ? -1 : 0;
}

/* reads: we do. */
static int give_pipe(struct ends *ends, bool reads, int *ret_ours)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    *ret_ours = fds[reads ? 0 : 1];
    if (give(ends, fds[reads ? 1 : 0]) < 0)
        return -1;
    return fcntl(*ret_ours, F_SETFL, O_NONBLOCK);
}

static int give_copy(struct ends *ends, int fd)
{
    return give(ends, fcntl(fd, F_DUPFD_CLOEXEC, FD_BASE));
}

static int make_ends(const struct child_config *config, struct ends *ends, struct spawned *spawned)
{
    if (config->input.n == 0 && !config->input_open) {
        if (give(ends, open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
            return -1;
    } else if (give_pipe(ends, false, &spawned->input) < 0) {
        return -1;
    }
    if (give_pipe(ends, true, &spawned->output[CHILD_OUT]) < 0)
        return -1;
    if (config->merge ? give_copy(ends, ends->fds[1]) < 0
                      : give_pipe(ends, true, &spawned->output[CHILD_ERR]) < 0)
        return -1;
    for (size_t i = 0; i < config->fd_count; i++)
        if (give_copy(ends, config->fds[i]) < 0)
            return -1;
    return give_pipe(ends, true, &spawned->status);
}

static uint64_t files_soft = 1024;

void child_set_files(uint64_t soft)
{
    files_soft = soft;
}

static char *number(struct arena *arena, uint64_t n)
{
    return arena_printf(arena, "%llu", (unsigned long long)n);
}

static char **launcher_args(struct arena *arena, const struct child_config *config, int status)
{
    size_t count = child_count(config->argv);
    char **argv = ARENA_NEW_N(arena, char *, LAUNCH_ARGS + count + 1);

    argv[LAUNCH_NAME] = arena_text(arena, CHILD_LAUNCHER);
    argv[LAUNCH_PARENT] = number(arena, (uint64_t)getpid());
    argv[LAUNCH_STATUS] = number(arena, (uint64_t)status);
    argv[LAUNCH_UMASK] = number(arena, config->umask ? config->umask : UMASK);
    argv[LAUNCH_CPU] = number(arena, config->limits.cpu_s);
    argv[LAUNCH_MEMORY] = number(arena, config->limits.memory_bytes);
    argv[LAUNCH_PROCESSES] = number(arena, config->limits.processes);
    argv[LAUNCH_FILE_BYTES] = number(arena, config->limits.file_bytes);
    argv[LAUNCH_FILES] = config->limits.files ? number(arena, config->limits.files)
                                              : arena_printf(arena, "%c%llu", LAUNCH_SOFT_MARK,
                                                             (unsigned long long)files_soft);
    argv[LAUNCH_CWD] = arena_text(arena, config->cwd ? config->cwd : "/");
    argv[LAUNCH_PATH] = arena_text(arena, config->path);
    for (size_t i = 0; i < count; i++)
        argv[LAUNCH_ARGS + i] = arena_text(arena, config->argv[i]);
    return argv;
}

static char **marked_environment(struct arena *arena, const char *const *env)
{
    size_t count = child_count(env);
    char **marked = ARENA_NEW_N(arena, char *, count + 1);

    for (size_t i = 0; i < count; i++)
        marked[i] = arena_printf(arena, "%c%s", LAUNCH_ENV_MARK, env[i]);
    return marked;
}

/* A session of its own, all signals as a fresh process has them. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    int error;

    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    sigemptyset(&none);
    error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error)
        error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error)
        error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                                         POSIX_SPAWN_SETSIGMASK);
    return error;
}

/* Returns an errno. */
static int spawn_launcher(const struct child_config *config, const struct ends *ends,
                          pid_t *ret_pid)
{
    AUTO_ARENA arena = ARENA_INIT;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error;

    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    error = set_attributes(&attributes);
    for (int i = 0; i < ends->count && !error; i++)
        error = posix_spawn_file_actions_adddup2(&actions, ends->fds[i], i);
    if (!error)
        error = posix_spawn(ret_pid, launcher_path(), &actions, &attributes,
                            launcher_args(&arena, config, ends->count - 1),
                            marked_environment(&arena, config->env));
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static enum err_code code_of(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return ERR_NOT_FOUND;
    case EACCES:
    case EPERM:
        return ERR_PATH_DENIED;
    case E2BIG:
    case ENAMETOOLONG:
        return ERR_TOO_LARGE;
    case ENOEXEC:
        return ERR_BAD_REQUEST;
    default:
        return ERR_INTERNAL;
    }
}

int child_spawn(const struct child_config *config, struct spawned *ret_spawned, struct err *err)
{
    struct spawned spawned = { .pidfd = -1, .input = -1, .output = { -1, -1 }, .status = -1 };
    struct ends ends = { .count = 0 };
    int error = make_ends(config, &ends, &spawned) < 0 ? errno : 0;

    if (!error)
        error = spawn_launcher(config, &ends, &spawned.pid);
    close_ends(&ends);
    if (!error) {
        spawned.pidfd = pidfd_open(spawned.pid, 0);
        if (spawned.pidfd < 0) {
            error = errno;
            kill(-spawned.pid, SIGKILL);
            waitpid(spawned.pid, NULL, 0);
        }
    }
    if (error) {
        close_spawned(&spawned);
        /* A missing launcher is our own trouble, not the caller's. */
        return err_set(err, error == E2BIG ? ERR_TOO_LARGE : ERR_INTERNAL, "start %s: %s",
                       config->path, strerror(error));
    }
    *ret_spawned = spawned;
    return 0;
}

void child_spawn_status(int status_fd, const char *path, const char *cwd, struct err *ret_err)
{
    struct launch_failure failure = { LAUNCH_OK, 0 };
    ssize_t n;

    do
        n = read(status_fd, &failure, sizeof(failure));
    while (n < 0 && errno == EINTR);
    if (n != sizeof(failure))
        return;
    switch ((enum launch_step)failure.step) {
    case LAUNCH_OK:
        break;
    case LAUNCH_PREPARE:
        err_set(ret_err, ERR_INTERNAL, "prepare %s: %s", path, strerror(failure.error));
        break;
    case LAUNCH_LIMIT:
        err_set(ret_err, ERR_INTERNAL, "limit %s: %s", path, strerror(failure.error));
        break;
    case LAUNCH_CHDIR:
        err_set(ret_err, code_of(failure.error), "start %s in %s: %s", path, cwd,
                strerror(failure.error));
        break;
    case LAUNCH_EXEC:
        err_set(ret_err, code_of(failure.error), "start %s: %s", path, strerror(failure.error));
        break;
    }
}
