/* What a front end can still do behind its wall: show, wait and speak, and nothing else.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cli/fence.h"
#include "harness/test.h"

static int try_open(void)
{
    return open("/etc/passwd", O_RDONLY);
}

static int try_create(void)
{
    return open("fence-was-here", O_WRONLY | O_CREAT, 0600);
}

static int try_unix(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int try_inet(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}

static int try_pair(void)
{
    int fds[2];

    return socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
}

static int try_fork(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return pid;
}

static int try_exec(void)
{
    return execl("/bin/true", "true", (char *)NULL);
}

static int try_stat(void)
{
    struct stat st;

    return stat("/etc/passwd", &st);
}

static int try_unlink(void)
{
    return unlink("/tmp/nothing-of-this-name");
}

static int try_kill(void)
{
    return kill(getppid(), 0);
}

static int try_ptrace(void)
{
    return (int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static int try_type_into_terminal(void)
{
    return ioctl(0, TIOCSTI, "x");
}

static int try_executable_memory(void)
{
    void *p =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? -1 : 0;
}

static int try_make_executable(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

static const struct {
    const char *name;
    int (*try)(void);
} refused[] = {
    { "open a file", try_open },
    { "create a file", try_create },
    { "a Unix socket", try_unix },
    { "an internet socket", try_inet },
    { "a pair of sockets", try_pair },
    { "a process", try_fork },
    { "a program", try_exec },
    { "look at a file", try_stat },
    { "remove a file", try_unlink },
    { "signal", try_kill },
    { "trace", try_ptrace },
    { "type into the terminal", try_type_into_terminal },
    { "executable memory", try_executable_memory },
    { "memory made executable", try_make_executable },
};

/* Runs fn behind the fence in a process of its own; its exit code. */
static int behind(int (*fn)(int which, int fd), int which, int fd)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        struct err err = ERR_INIT;

        if (fence_close(&err) < 0)
            _exit(90);
        _exit(fn(which, fd));
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int try_one(int which, int fd)
{
    (void)fd;
    if (refused[which].try() >= 0)
        return 1;
    return errno == EPERM || errno == EACCES ? 0 : 2;
}

TEST(nothing_can_be_opened_behind_the_fence)
{
    for (int i = 0; i < (int)(sizeof(refused) / sizeof(refused[0])); i++) {
        int code = behind(try_one, i, -1);

        if (code == 90)
            SKIP("no seccomp here");
        if (code != 0)
            FAIL("%s: %d", refused[i].name, code);
    }
}

TEST(the_same_things_work_without_it)
{
    int fd = try_open(), unix_fd = try_unix();

    ASSERT(fd >= 0);
    ASSERT(unix_fd >= 0);
    ASSERT_EQ(try_stat(), 0);
    close(fd);
    close(unix_fd);
}

/* What showing and speaking take. */
static int use_what_is_open(int which, int fd)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    struct termios terminal;
    char text[16] = "";
    char *memory = malloc(3 << 20);

    (void)which;
    if (send(fd, "ping", 4, MSG_NOSIGNAL) != 4)
        return 1;
    if (poll(&poll_fd, 1, 5000) != 1 || recv(fd, text, sizeof(text), MSG_DONTWAIT) != 4)
        return 2;
    if (!memory || memset(memory, 1, 3 << 20) != memory)
        return 3;
    free(memory);
    if (tcgetattr(fd, &terminal) == 0 || errno != ENOTTY)
        return 4;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) >= 0) /* not even asking */
        return 5;
    return close(fd);
}

TEST(what_was_open_goes_on_working)
{
    int fds[2], code;
    char text[8];

    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    ASSERT_EQ(write(fds[1], "pong", 4), 4);
    code = behind(use_what_is_open, 0, fds[0]);
    if (code == 90)
        SKIP("no seccomp here");
    ASSERT_EQ(code, 0);
    ASSERT_EQ(read(fds[1], text, sizeof(text)), 4);
    close(fds[0]);
    close(fds[1]);
}
