/* A child that tells what it finds, or behaves badly on demand. Only libc, no sanitizers.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int list_fds(char **argv)
{
    DIR *dir = opendir("/proc/self/fd");

    (void)argv;
    for (int fd = 0; fd < 65536; fd++)
        if (fd != dirfd(dir) && fcntl(fd, F_GETFD) >= 0)
            printf("%d ", fd);
    return 0;
}

static int list_env(char **argv)
{
    (void)argv;
    for (char **at = environ; *at; at++)
        puts(*at);
    return 0;
}

static int tell_state(char **argv)
{
    struct rlimit files, core;
    sigset_t blocked;
    struct sigaction action;
    int odd = 0, death = 0;
    char cwd[4096];

    (void)argv;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int sig = 1; sig < 32; sig++)
        odd += sigismember(&blocked, sig) == 1 ||
               (sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_DFL);
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_CORE, &core);
    prctl(PR_GET_PDEATHSIG, &death);
    printf("session %d group %d signals %d files %d core %d death %d umask %03o cwd %s\n",
           getsid(0) == getpid(), getpgrp() == getpid(), odd, (int)files.rlim_cur,
           (int)core.rlim_max, death, (unsigned)umask(0), getcwd(cwd, sizeof(cwd)));
    return 0;
}

static void say_pid(pid_t pid)
{
    printf("%d\n", (int)pid);
    fflush(stdout);
}

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

/* The child and its grandchild ignore SIGTERM; the grandchild in a group of its own when asked. */
static int stubborn(char **argv)
{
    pid_t pid;

    signal(SIGTERM, SIG_IGN);
    pid = fork();
    if (pid == 0) {
        if (argv[2] && strcmp(argv[2], "other-group") == 0)
            setpgid(0, 0);
        sleep_for_ever();
    }
    say_pid(pid);
    sleep_for_ever();
    return 0;
}

static void on_term(int sig)
{
    (void)sig;
    (void)!write(1, "bye", 3);
    _exit(3);
}

static int polite(char **argv)
{
    (void)argv;
    signal(SIGTERM, on_term);
    puts("ready");
    fflush(stdout);
    sleep_for_ever();
    return 0;
}

/* Ends at once and leaves a process behind that holds the output open. */
static int leave(char **argv)
{
    int fds[2];
    char byte;
    pid_t pid;

    if (pipe(fds) < 0)
        return 1;
    pid = fork();
    if (pid == 0) {
        if (argv[2] && strcmp(argv[2], "escape") == 0)
            setsid();
        if (argv[2] && strcmp(argv[2], "other-group") == 0)
            setpgid(0, 0);
        if (argv[2] && strcmp(argv[2], "silent") == 0)
            close(1), close(2);
        (void)!write(fds[1], "x", 1);
        sleep_for_ever();
    }
    (void)!read(fds[0], &byte, 1);
    say_pid(pid);
    return 0;
}

static int flood(char **argv)
{
    static char block[65536];
    size_t left = strtoull(argv[2], NULL, 10);
    int fd = argv[3] ? atoi(argv[3]) : 1;

    memset(block, 'x', sizeof(block));
    while (left > 0) {
        ssize_t n = write(fd, block, left < sizeof(block) ? left : sizeof(block));

        if (n < 0)
            return 1;
        left -= (size_t)n;
    }
    return 0;
}

/* As many processes as it may; says how many. All end when it closes the pipe. */
static int multiply(char **argv)
{
    int most = atoi(argv[2]), n = 0, fds[2];
    char byte;

    if (pipe(fds) < 0)
        return 1;
    for (pid_t pid; n < most && (pid = fork()) >= 0; n++)
        if (pid == 0) {
            close(fds[1]);
            _exit((int)read(fds[0], &byte, 1));
        }
    close(fds[1]);
    while (wait(NULL) > 0)
        ;
    printf("%d\n", n);
    return 0;
}

static int echo(char **argv)
{
    char block[65536];
    ssize_t n;

    (void)argv;
    while ((n = read(0, block, sizeof(block))) > 0)
        for (ssize_t at = 0, w; at < n; at += w)
            if ((w = write(1, block + at, (size_t)(n - at))) < 0)
                return 1;
    return 0;
}

static int deaf(char **argv)
{
    (void)argv;
    close(0);
    puts("closed");
    fflush(stdout);
    return 0;
}

static int burn(char **argv)
{
    (void)argv;
    for (volatile unsigned long n = 0;; n++)
        ;
    return 0;
}

static int swallow(char **argv)
{
    size_t bytes = strtoull(argv[2], NULL, 10);
    char *p = malloc(bytes);

    if (!p)
        return 9;
    memset(p, 1, bytes);
    printf("%d\n", p[bytes / 2]);
    return 0;
}

static int write_file(char **argv)
{
    int fd = open(argv[2], O_CREAT | O_WRONLY, 0600);
    char *args[] = { argv[0], argv[1], argv[3], NULL, NULL };
    char number[16];

    snprintf(number, sizeof(number), "%d", fd);
    args[3] = number;
    return flood(args);
}

/* Says what descriptors 3 and 4 are. */
static int read_fds(char **argv)
{
    char a = '?', b = '?';

    (void)argv;
    (void)!read(3, &a, 1);
    (void)!read(4, &b, 1);
    printf("%c%c", a, b);
    return 0;
}

static int both(char **argv)
{
    (void)argv;
    (void)!write(1, "to out\n", 7);
    (void)!write(2, "to err\n", 7);
    return 7;
}

static int die(char **argv)
{
    return raise(atoi(argv[2]));
}

static const struct {
    const char *name;
    int (*run)(char **argv);
} acts[] = {
    { "fds", list_fds },      { "env", list_env },      { "state", tell_state },
    { "stubborn", stubborn }, { "polite", polite },     { "leave", leave },
    { "flood", flood },       { "echo", echo },         { "deaf", deaf },
    { "burn", burn },         { "swallow", swallow },   { "write-file", write_file },
    { "multiply", multiply }, { "read-fds", read_fds }, { "both", both },
    { "die", die },
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(acts) / sizeof(acts[0]); i++)
        if (strcmp(argv[1], acts[i].name) == 0)
            return acts[i].run(argv);
    return 2;
}
