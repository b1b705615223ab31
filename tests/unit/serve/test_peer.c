/* Who may speak at the Unix socket.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "harness/test.h"
#include "serve/peer.h"

#define STRANGER 12345
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

struct peer_case {
    int listener;
    struct sockaddr_un address;
};

static void case_begin(struct test *t, struct peer_case *c)
{
    c->address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    snprintf(c->address.sun_path, sizeof(c->address.sun_path), "%s", test_path(t, "s"));
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(bind(c->listener, (struct sockaddr *)&c->address, sizeof(c->address)), 0);
    ASSERT_EQ(listen(c->listener, 4), 0);
    /* Whoever gets to the socket at all: the modes are another wall. */
    chmod(test_dir(t), 0711);
    chmod(c->address.sun_path, 0777);
}

/* In the child: connects and stays. */
_Noreturn static void case_connect(const struct peer_case *c)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (connect(fd, (const struct sockaddr *)&c->address, sizeof(c->address)) < 0)
        _exit(errno);
    pause();
    _exit(0);
}

/* The connection of the child, which may have failed instead. */
static int case_accept(const struct peer_case *c, pid_t pid)
{
    int fd = accept(c->listener, NULL, NULL);

    ASSERT(fd >= 0);
    ASSERT_EQ(waitpid(pid, NULL, WNOHANG), 0);
    return fd;
}

static void case_end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST(a_process_of_ones_own_may_speak)
{
    struct peer_case c;
    pid_t pid;
    int fd;

    case_begin(t, &c);
    pid = fork();
    if (pid == 0)
        case_connect(&c);
    fd = case_accept(&c, pid);
    ASSERT(peer_may_speak(fd));
    case_end(pid);
    ASSERT(!peer_may_speak(fd));
}

/* Its number may soon be another's. */
TEST(a_process_that_has_ended_may_not_speak_while_its_number_is_kept)
{
    struct peer_case c;
    int fd, process;
    socklen_t size = sizeof(process);
    siginfo_t info;
    pid_t pid;

    case_begin(t, &c);
    pid = fork();
    if (pid == 0)
        case_connect(&c);
    fd = case_accept(&c, pid);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &size) < 0)
        SKIP("this kernel does not say (Linux before 6.5)");
    kill(pid, SIGKILL);
    ASSERT_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    ASSERT(!peer_may_speak(fd));
    case_end(pid);
}

TEST(another_user_may_not_speak_but_root_may)
{
    struct peer_case c;
    pid_t pid;
    int fd;

    if (geteuid() != 0)
        SKIP("only root can be somebody else");
    case_begin(t, &c);
    pid = fork();
    if (pid == 0) {
        if (setgroups(0, NULL) < 0 || setresgid(STRANGER, STRANGER, STRANGER) < 0 ||
            setresuid(STRANGER, STRANGER, STRANGER) < 0)
            _exit(1);
        case_connect(&c);
    }
    fd = case_accept(&c, pid);
    ASSERT(!peer_may_speak(fd));
    case_end(pid);

    pid = fork();
    if (pid == 0)
        case_connect(&c);
    fd = case_accept(&c, pid);
    ASSERT_EQ(seteuid(STRANGER), 0);
    ASSERT(peer_may_speak(fd));
    ASSERT_EQ(seteuid(0), 0);
    case_end(pid);
}

TEST(a_process_in_a_namespace_of_its_own_may_not_speak)
{
    struct peer_case c;
    int ready[2], fd;
    pid_t pid, inner = 0;

    case_begin(t, &c);
    ASSERT_EQ(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        /* Without root a user namespace allows the other one; some systems allow neither. */
        if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
            _exit(1);
        inner = fork();
        if (inner == 0)
            case_connect(&c);
        if (write(ready[1], &inner, sizeof(inner)) < 0)
            _exit(1);
        pause();
    }
    close(ready[1]);
    if (read(ready[0], &inner, sizeof(inner)) != sizeof(inner))
        SKIP("no process namespace can be made here");
    fd = case_accept(&c, pid);
    ASSERT(!peer_may_speak(fd));
    kill(inner, SIGKILL);
    case_end(pid);
}

TEST(what_is_no_unix_socket_may_not_speak)
{
    AUTO_FD tcp = socket(AF_INET, SOCK_STREAM, 0);
    AUTO_FD unconnected = socket(AF_UNIX, SOCK_STREAM, 0);

    ASSERT(!peer_may_speak(tcp));
    ASSERT(!peer_may_speak(unconnected));
    ASSERT(!peer_may_speak(-1));
}

/* A daemon that sees the processes of another namespace can't look anybody up there. The user still
 * counts. */
TEST(with_the_proc_of_others_the_user_alone_decides)
{
    struct peer_case c;
    pid_t pid, judge;
    int fd, status;

    case_begin(t, &c);
    if (geteuid() != 0)
        SKIP("only root can mount");
    pid = fork();
    if (pid == 0)
        case_connect(&c);
    fd = case_accept(&c, pid);
    judge = fork();
    if (judge == 0) {
        if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("tmpfs", "/proc", "tmpfs", 0, NULL) < 0)
            _exit(2);
        _exit(peer_may_speak(fd) ? 0 : 1);
    }
    ASSERT_EQ(waitpid(judge, &status, 0), judge);
    ASSERT_EQ(WEXITSTATUS(status), 0);
    case_end(pid);
}
