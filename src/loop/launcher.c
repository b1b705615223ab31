/* The launcher: what runs between posix_spawn() and the program. It is our own binary started
 * again, so it uses nothing but system calls and does not touch the rest of the house.
 *
 * The daemon does not do these things itself between fork and exec, because a fork costs time by
 * resident size; and it does not do them in a vfork child, because the directory or the program
 * may lie on a file system that hangs, and the loop would hang with it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loop/child_int.h"

#define EXIT_LAUNCH 127

bool child_launcher_asked(int argc, char **argv)
{
    return argc > 0 && strcmp(argv[LAUNCH_NAME], CHILD_LAUNCHER) == 0;
}

static _Noreturn void fail(int status, enum launch_step step)
{
    struct launch_failure failure = { step, errno };

    while (write(status, &failure, sizeof(failure)) < 0 && errno == EINTR)
        ;
    _exit(EXIT_LAUNCH);
}

/* Our parent wrote it. */
static unsigned long long number(const char *text)
{
    return strtoull(text, NULL, 10);
}

/* text "0" leaves it as it is. The hard limit may be lower than what is asked for. */
static int set_limit(__rlimit_resource_t what, const char *text, rlim_t slack)
{
    rlim_t wanted = number(text);
    struct rlimit limit;

    if (wanted == 0)
        return 0;
    if (getrlimit(what, &limit) < 0)
        return -1;
    if (limit.rlim_max > wanted + slack)
        limit.rlim_max = wanted + slack;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    return setrlimit(what, &limit);
}

/* The soft limit alone: the program may raise it again. */
static int set_soft_files(const char *text)
{
    rlim_t wanted = strtoull(text, NULL, 10);
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -1;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    return setrlimit(RLIMIT_NOFILE, &limit);
}

static int set_limits(char **argv)
{
    const struct rlimit no_core = { 0, 0 };

    /* A second of CPU time between SIGXCPU and SIGKILL. */
    if (set_limit(RLIMIT_CPU, argv[LAUNCH_CPU], 1) < 0 ||
        set_limit(RLIMIT_AS, argv[LAUNCH_MEMORY], 0) < 0 ||
        set_limit(RLIMIT_NPROC, argv[LAUNCH_PROCESSES], 0) < 0 ||
        set_limit(RLIMIT_FSIZE, argv[LAUNCH_FILE_BYTES], 0) < 0 ||
        setrlimit(RLIMIT_CORE, &no_core) < 0)
        return -1;
    if (argv[LAUNCH_FILES][0] == LAUNCH_SOFT_MARK)
        return set_soft_files(argv[LAUNCH_FILES] + 1);
    return set_limit(RLIMIT_NOFILE, argv[LAUNCH_FILES], 0);
}

static void unmark_environment(void)
{
    for (char **at = environ; *at; at++)
        if (**at == LAUNCH_ENV_MARK)
            ++*at;
}

int child_launcher_main(int argc, char **argv)
{
    int status;

    if (argc <= LAUNCH_ARGS)
        return EXIT_LAUNCH;
    status = (int)number(argv[LAUNCH_STATUS]);
    if (status < 3 || fcntl(status, F_SETFD, FD_CLOEXEC) < 0)
        return EXIT_LAUNCH;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || close_range((unsigned)status + 1, ~0u, 0) < 0)
        fail(status, LAUNCH_PREPARE);
    /* It may have died before the signal was asked for. */
    if (getppid() != (pid_t)number(argv[LAUNCH_PARENT]))
        _exit(EXIT_LAUNCH);
    umask((mode_t)number(argv[LAUNCH_UMASK]));
    if (set_limits(argv) < 0)
        fail(status, LAUNCH_LIMIT);
    if (chdir(argv[LAUNCH_CWD]) < 0)
        fail(status, LAUNCH_CHDIR);
    unmark_environment();
    execve(argv[LAUNCH_PATH], argv + LAUNCH_ARGS, environ);
    fail(status, LAUNCH_EXEC);
}
