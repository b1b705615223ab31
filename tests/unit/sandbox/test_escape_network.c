/* Ways out of the sandbox by the network and by sockets, each tried for real.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "refused.h"

TEST(no_network_is_reached)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_PROBE("raw", "", "Operation not permitted");
    ASSERT_PROBE("packet", "", "Operation not permitted");
    ASSERT_PROBE("vsock", "", "Operation not permitted");
    ASSERT_PROBE("netlink", "9", "Operation not permitted");  /* audit */
    ASSERT_PROBE("netlink", "12", "Operation not permitted"); /* netfilter */
    ASSERT_PROBE("netlink", "15", "Operation not permitted"); /* uevents */
    ASSERT_PROBE("netlink", "21", "Operation not permitted"); /* crypto */
    ASSERT(rig_noticed(&rig, "socket"));
    ASSERT_PROBE("dns", "8.8.8.8", "Network is unreachable");
    ASSERT_REFUSED("getent hosts example.org", "");
    ASSERT_CONTAINS(rig_bash(&rig, "ls /sys/class/net /proc/net/dev 2>&1; cat /proc/net/dev"),
                    "lo:");
    ASSERT(!strstr(rig_text(&rig, "output"), "eth"));
    rig_end(&rig);
}

static int listen_tcp(struct test *t)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)t;
    ASSERT(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 4) == 0);
    return fd;
}

static int listen_unix(const char *name, size_t n, int abstract)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ASSERT(n < sizeof(at.sun_path) - 1);
    memcpy(at.sun_path + abstract, name, n);
    ASSERT(bind(fd, (struct sockaddr *)&at,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)abstract + n)) == 0);
    ASSERT(listen(fd, 4) == 0);
    return fd;
}

TEST(the_daemon_s_port_is_not_reached)
{
    struct sockaddr_in at;
    socklen_t size = sizeof(at);
    struct rig rig;
    int fd = listen_tcp(t);

    rig_init(&rig, t);
    ASSERT_EQ(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    ASSERT_PROBE("tcp", arena_printf(&t->arena, "%d", ntohs(at.sin_port)), "Connection refused");
    rig_end(&rig);
    close(fd);
}

TEST(unix_sockets_outside_are_not_reached)
{
    struct rig rig;
    const char *path, *abstract = arena_printf(&t->arena, "dormouse-test-%d", (int)getpid());
    int in_data, named;

    rig_init(&rig, t);
    path = arena_printf(&t->arena, "%s/s", rig.data);
    in_data = listen_unix(path, strlen(path) + 1, 0);
    named = listen_unix(abstract, strlen(abstract), 1);
    ASSERT_PROBE("unix", path, "Permission denied");
    ASSERT_PROBE("abstract", abstract, "");
    ASSERT(!strstr(rig_text(&rig, "output"), "succeeded"));
    rig_end(&rig);
    close(in_data);
    close(named);
}

static void assert_nobody_came(int fd)
{
    ASSERT_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    ASSERT(accept(fd, NULL, NULL) < 0);
    close(fd);
}

TEST(unix_sockets_lead_to_nobody_outside_wherever_they_lie)
{
    struct rig rig;
    const char *home, *here, *link, *hard;
    int in_home, in_project;

    rig_init(&rig, t);
    home = arena_printf(&t->arena, "%s/s", rig.home);
    here = arena_printf(&t->arena, "%s/s", rig.project);
    link = arena_printf(&t->arena, "%s/link", rig.project);
    hard = arena_printf(&t->arena, "%s/hard", rig.project);
    in_home = listen_unix(home, strlen(home) + 1, 0);
    in_project = listen_unix(here, strlen(here) + 1, 0);
    ASSERT_EQ(chmod(home, 0777), 0);
    ASSERT_EQ(chmod(here, 0777), 0);
    ASSERT_EQ(symlink(home, link), 0);
    ASSERT_EQ(symlink("s", hard), 0);
    ASSERT_PROBE("unix", home, "Permission denied");
    ASSERT_PROBE("unix", here, "Permission denied");
    ASSERT_PROBE("unix", "s", "Permission denied");
    ASSERT_PROBE("unix", "./../project/s", "Permission denied");
    ASSERT_PROBE("unix", link, "Permission denied");
    ASSERT_PROBE("unix", hard, "Permission denied");
    ASSERT_PROBE("unix", arena_printf(&t->arena, "/proc/self/root%s", home), "Permission denied");
    ASSERT(rig_noticed(&rig, "socket: connection to"));
    ASSERT_PROBE("unix", "absent", "No such file");
    ASSERT_PROBE("unix", "readme", "Connection refused");
    rig_bash(&rig, "ln s other && mv other moved");
    ASSERT_PROBE("unix", "moved", "Permission denied");
    ASSERT_PROBE("unix_datagram", here, "Operation not permitted");
    ASSERT_PROBE("unix_datagram_pair", here, "Operation not permitted");
    rig_end(&rig);
    assert_nobody_came(in_home);
    assert_nobody_came(in_project);
}

/* Wherever it lies: outside of all places, in a writable one, below a private one. */
TEST(a_listed_unix_socket_is_reached_and_its_neighbour_is_not)
{
    struct rig rig;
    const char *listed[4] = { NULL }, *beside;
    const char *private_dir = arena_printf(&t->arena, "/tmp/dormouse-s-%d", (int)getpid());
    int fds[3], neighbour;

    rig_init(&rig, t);
    ASSERT_EQ(mkdir(private_dir, 0755), 0);
    listed[0] = arena_printf(&t->arena, "%s/s", rig.home);
    listed[1] = arena_printf(&t->arena, "%s/s", rig.project);
    listed[2] = arena_printf(&t->arena, "%s/s", private_dir);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = listen_unix(listed[i], strlen(listed[i]) + 1, 0);
    beside = arena_printf(&t->arena, "%s/t", rig.project);
    neighbour = listen_unix(beside, strlen(beside) + 1, 0);
    ASSERT_EQ(chmod(beside, 0777), 0);
    rig.spec.allow_unix_sockets = listed;
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        rig_bash(&rig, arena_printf(&t->arena, "%s unix %s", rig_probe(&rig), listed[i]));
        if (rig_exit(&rig) != 0)
            FAIL("%s: %s", listed[i], rig.text);
        ASSERT_EQ(fcntl(fds[i], F_SETFL, O_NONBLOCK), 0);
        ASSERT(accept(fds[i], NULL, NULL) >= 0);
    }
    ASSERT_PROBE("unix", beside, "Permission denied");
    /* Its name can't be given to another. */
    rig_bash(&rig, "mv t s || ln -f t s || rm s");
    ASSERT(rig_exit(&rig) != 0);
    ASSERT_PROBE("unix", "t", "Permission denied");
    rig_end(&rig);
    assert_nobody_came(neighbour);
    unlink(listed[2]);
    rmdir(private_dir);
}

/* While the hand runs, somebody outside puts another socket at the listed name. */
TEST(a_listed_unix_socket_is_the_one_that_was_there)
{
    struct rig rig;
    const char *listed[2] = { NULL }, *other;
    int first, second;

    rig_init(&rig, t);
    listed[0] = arena_printf(&t->arena, "%s/s", rig.home);
    other = arena_printf(&t->arena, "%s/t", rig.home);
    first = listen_unix(listed[0], strlen(listed[0]) + 1, 0);
    second = listen_unix(other, strlen(other) + 1, 0);
    rig.spec.allow_unix_sockets = listed;
    rig_bash(&rig, "true");
    ASSERT_EQ(rename(other, listed[0]), 0);
    rig_bash(&rig, arena_printf(&t->arena, "%s unix %s", rig_probe(&rig), listed[0]));
    rig_end(&rig);
    assert_nobody_came(second);
    close(first);
}

TEST(what_is_no_socket_or_a_daemon_s_can_not_be_listed)
{
    struct rig rig;
    const char *listed[2] = { NULL }, *path;
    int fd;

    rig_init(&rig, t);
    path = arena_printf(&t->arena, "%s/dormouse.sock", rig.data);
    fd = listen_unix(path, strlen(path) + 1, 0);
    ASSERT_EQ(link(path, arena_printf(&t->arena, "%s/hard", rig.home)), 0);
    ASSERT_EQ(symlink(path, arena_printf(&t->arena, "%s/soft", rig.home)), 0);
    for (size_t i = 0; i < 4; i++) {
        static const char *const names[] = { "data/dormouse.sock", "hard", "soft", "notes" };

        listed[0] = arena_printf(&t->arena, "%s/%s", rig.home, names[i]);
        rig.spec.allow_unix_sockets = listed;
        rig_call(&rig, "bash", "{\"command\":\"true\"}");
        ASSERT_EQ(rig.err.code, i < 3 ? ERR_PATH_DENIED : ERR_BAD_REQUEST);
        ASSERT_CONTAINS(err_message(&rig.err, 0),
                        i < 3 ? "data directory of Dormouse" : "it is no socket");
        rig_end_hand(&rig);
    }
    rig_end(&rig);
    assert_nobody_came(fd);
}

/* One thread connects, another writes now one name and now the other into the address. */
TEST(an_address_that_changes_while_it_is_judged_leads_nowhere)
{
    struct rig rig;
    const char *here;
    int in_project;

    rig_init(&rig, t);
    here = arena_printf(&t->arena, "%s/s", rig.project);
    in_project = listen_unix(here, strlen(here) + 1, 0);
    rig_bash(&rig, arena_printf(&t->arena, "%s unix_flip s", rig_probe(&rig)));
    ASSERT_CONTAINS(rig_text(&rig, "output"), "unix_flip: succeeded");
    rig_end(&rig);
    assert_nobody_came(in_project);
}

/* As on a kernel that does not let the hand take a command's socket. */
static void without_pidfd_getfd(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_getfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { .len = ARRAY_LEN(code), .filter = code };

    ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

TEST(where_sockets_can_not_be_taken_tcp_works_and_unix_sockets_are_refused)
{
    const char *unheld[SANDBOX_UNHELD_MAX];
    struct rig rig;
    const char *here;
    size_t n;
    int fd;

    rig_init(&rig, t);
    here = arena_printf(&t->arena, "%s/s", rig.project);
    fd = listen_unix(here, strlen(here) + 1, 0);
    without_pidfd_getfd();
    rig_bash(&rig, "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); "
                   "socket.create_connection(s.getsockname()); print(\"tcp works\")'");
    ASSERT_CONTAINS(rig_text(&rig, "output"), "tcp works");
    ASSERT_PROBE("unix", here, "Operation not permitted");
    rig_end(&rig);
    assert_nobody_came(fd);
    n = sandbox_unheld(rig.project, unheld);
    ASSERT(n > 0);
    ASSERT_CONTAINS(unheld[n - 1], "no Unix sockets inside");
}

TEST(unix_sockets_of_its_own_work)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig,
             "python3 - <<'P'\n"
             "import os, socket, threading\n"
             "for at in ('/tmp/s', '/dev/shm/s', 's', os.path.abspath('t')):\n"
             "    s = socket.socket(socket.AF_UNIX); s.bind(at); s.listen()\n"
             "    c = socket.socket(socket.AF_UNIX); c.connect(at); c.send(b'x')\n"
             "    print(s.accept()[0].recv(1))\n"
             "a, b = socket.socketpair(); a.send(b'y'); print(b.recv(1))\n"
             "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.bind('q'); s.listen()\n"
             "c = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); c.connect('q')\n"
             "n = socket.socket(); n.setblocking(False); print(n.connect_ex(('127.0.0.1', 1)))\n"
             "P\n");
    ASSERT_EQ(rig_exit(&rig), 0);
    ASSERT_CONTAINS(rig_text(&rig, "output"), "b'x'\nb'x'\nb'x'\nb'x'\nb'y'\n");
    rig_end(&rig);
}

/* Servers of its own are fine: the loopback inside belongs to the sandbox. */
TEST(abstract_sockets_and_ports_inside_work)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig,
             "python3 - <<'P'\n"
             "import socket\n"
             "for family, at in ((socket.AF_UNIX, '\\0x'), (socket.AF_INET, ('127.0.0.1', 0))):\n"
             "    s = socket.socket(family); s.bind(at); s.listen()\n"
             "    c = socket.socket(family); c.connect(s.getsockname()); print('ok')\n"
             "P\n");
    ASSERT_TEXT(rig_text(&rig, "output"), "ok\nok\n");
    rig_end(&rig);
}
