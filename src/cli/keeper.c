/* Starting a keeper: our own binary as `serve --keeper`, which tells by a pipe that it is ready.
 *
 * Two commands may start one at the same moment. The lock of the data directory lets one of them
 * live; the other says conflict, and its command uses the winner's.
 *
 * A keeper stands in for a daemon. `serve` says by the lock that it is next (house/data_dir.h) and
 * sends SIGUSR1; the keeper looks at the lock, says goodbye to its clients and goes. They start no
 * other while somebody is next: they wait for the socket.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/unix_address.h"
#include "house/data_dir.h"

#define START_MS 20000
#define LOOK_MS  10 /* between looks at a daemon that is starting or ending */

extern char **environ;

static bool answers(const char *path)
{
    AUTO_UNIX_ADDRESS address = UNIX_ADDRESS_INIT;
    AUTO_FD fd = -1;

    if (unix_address_init(&address, path, NULL) < 0)
        return false;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (const struct sockaddr *)&address.sa, sizeof(address.sa)) == 0;
}

/* ---- starting ---- */

static void actions_init(posix_spawn_file_actions_t *actions, int out_fd)
{
    posix_spawn_file_actions_init(actions);
    posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(actions, out_fd, 1);
    posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(actions, 3);
}

/* A session of its own (Ctrl-C is not for it) and no signal as the command has set it. */
static void attributes_init(posix_spawnattr_t *attributes)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setflags(
        attributes, (short)(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

static int spawn_keeper(const struct cli_args *args, int out_fd, pid_t *ret_pid, struct err *err)
{
    const char *const argv[] = { "dormouse",         "serve", "--keeper", "--json", "--data",
                                 cli_data_dir(args), NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int r;

    actions_init(&actions, out_fd);
    attributes_init(&attributes);
    r = posix_spawn(ret_pid, "/proc/self/exe", &actions, &attributes, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (r != 0)
        return err_set(err, ERR_INTERNAL, "the keeper could not be started: %s", strerror(r));
    return 0;
}

/* ---- waiting for it ---- */

/* Its first line: {"url":...} when it is ready, {"error":...} when it can't be. */
static int read_line(int fd, struct buf *out, struct err *err)
{
    int64_t deadline = clock_mono_ms(clock_system()) + START_MS;
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    char byte;
    ssize_t n;
    int r;

    for (;;) {
        int64_t left = deadline - clock_mono_ms(clock_system());

        r = left > 0 ? poll(&poll_fd, 1, (int)left) : 0;
        if (r == 0)
            return err_set(err, ERR_TIMEOUT, "the keeper was not ready within %d s",
                           START_MS / 1000);
        if (r < 0)
            continue;
        n = read(fd, &byte, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != 1 || byte == '\n')
            return 0;
        buf_add_char(out, byte);
    }
}

static int wait_ready(int fd, struct err *err)
{
    AUTO_BUF line = BUF_INIT(16 * KIB);
    AUTO_JSON value = NULL;
    struct json_object *error;
    char code[64];

    if (read_line(fd, &line, err) < 0)
        return -1;
    if (json_parse(buf_str(&line), &value, NULL) < 0)
        return err_set(err, ERR_INTERNAL,
                       "the keeper ended before it was ready; `dormouse doctor` says more, and so "
                       "does " KEEPER_LOG " in the data directory");
    error = json_find(value, "error");
    if (!error)
        return 0;
    snprintf(code, sizeof(code), "%.*s", STR_ARG(json_str(json_find(error, "code"))));
    return err_set(err, err_from_name(code) ? err_from_name(code) : ERR_INTERNAL, "%.*s",
                   STR_ARG(json_str(json_find(error, "message"))));
}

static int start(const struct cli_args *args, struct err *err)
{
    int pipe_fds[2], r;
    pid_t pid = 0;

    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return err_set(err, ERR_INTERNAL, "pipe: %s", strerror(errno));
    r = spawn_keeper(args, pipe_fds[1], &pid, err);
    close(pipe_fds[1]);
    if (r == 0)
        r = wait_ready(pipe_fds[0], err);
    close(pipe_fds[0]);
    /* One that failed is about to end; one that lives is collected by init when we are gone. */
    if (r < 0 && pid > 0 && err->code != ERR_TIMEOUT)
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    return r;
}

int keeper_ensure(const struct cli_args *args, const char *socket_path, struct err *err)
{
    int64_t deadline = clock_mono_ms(clock_system()) + START_MS;
    struct err last = ERR_INIT;

    do {
        if (answers(socket_path))
            return 0;
        /* Somebody has the directory, or is next, and does not answer: it is starting, or ending.
         */
        if (data_dir_is_free(cli_data_dir(args))) {
            err_reset(&last);
            if (start(args, &last) == 0)
                return 0;
            if (last.code != ERR_CONFLICT)
                break;
        } else {
            err_reset(&last);
            err_set(&last, ERR_CONFLICT,
                    "the data directory %s is in use, but nobody answers at %s", cli_data_dir(args),
                    socket_path);
        }
        poll(NULL, 0, LOOK_MS);
    } while (clock_mono_ms(clock_system()) < deadline);
    *err = last;
    return -1;
}

/* ---- leaving ---- */

/* By what it was started with, as spawn_keeper() does. */
static bool is_keeper(pid_t pid)
{
    char path[64], words[256];
    AUTO_FD fd = -1;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, words, sizeof(words));
    return n > 0 && memmem(words, (size_t)n, "\0--keeper", sizeof("\0--keeper"));
}

void keeper_leave(const char *data_dir)
{
    int64_t end = clock_mono_ms(clock_system()) + KEEPER_LEAVE_MS;
    pid_t holder = data_dir_holder(data_dir);

    if (holder > 0 && is_keeper(holder))
        kill(holder, SIGUSR1);
    while ((holder = data_dir_holder(data_dir)) > 0 && is_keeper(holder) &&
           clock_mono_ms(clock_system()) < end)
        poll(NULL, 0, LOOK_MS);
}

/* A keeper that has just locked may not have written its number yet: the former one is dead. */
static bool may_go(pid_t holder)
{
    return holder < 0 || is_keeper(holder) || (kill(holder, 0) < 0 && errno == ESRCH);
}

int keeper_replace(const char *data_dir)
{
    int64_t end = clock_mono_ms(clock_system()) + KEEPER_REPLACE_MS;
    pid_t holder, asked = 0;
    int next_fd = -1;

    for (;;) {
        if (next_fd < 0)
            data_dir_be_next(data_dir, &next_fd, NULL);
        holder = data_dir_holder(data_dir);
        if ((holder == 0 && next_fd >= 0) || (holder != 0 && !may_go(holder)) ||
            clock_mono_ms(clock_system()) >= end)
            return next_fd;
        if (next_fd >= 0 && holder != asked && holder > 0 && is_keeper(holder)) {
            kill(holder, SIGUSR1);
            asked = holder;
        }
        poll(NULL, 0, LOOK_MS);
    }
}

/* ---- what it is not for ---- */

bool keeper_is_all(const char *data_dir)
{
    pid_t holder = data_dir_holder(data_dir);

    return holder == 0 || (holder > 0 && is_keeper(holder));
}
