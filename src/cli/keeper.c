/* Starting a keeper: our own binary as `serve --keeper`, which tells by a pipe that it is ready.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"

#define START_MS 15000

extern char **environ;

static bool answers(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
        return false;
    memcpy(address.sun_path, path, strlen(path) + 1);
    return connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static int spawn_keeper(const struct cli_args *args, int out_fd, struct err *err)
{
    char self[LIMIT_PATH_BYTES];
    const char *const argv[] = { "dormouse",         "serve", "--keeper", "--json", "--data",
                                 cli_data_dir(args), NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    pid_t pid;
    int r;

    if (n < 0)
        return err_set(err, ERR_INTERNAL, "the program's own file is not known");
    self[n] = '\0';
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    r = posix_spawn(&pid, self, &actions, &attributes, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (r != 0)
        return err_set(err, ERR_INTERNAL, "the keeper could not be started: %s", strerror(r));
    return 0;
}

/* Its first line: {"url":...} when it is ready, {"error":...} when it can't be. */
static int read_line(int fd, struct buf *out, struct err *err)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    char byte;

    for (;;) {
        if (poll(&poll_fd, 1, START_MS) == 0)
            return err_set(err, ERR_TIMEOUT, "the keeper was not ready within %d s",
                           START_MS / 1000);
        if (read(fd, &byte, 1) != 1 || byte == '\n')
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
                       "the keeper ended before it was ready (`dormouse doctor` says more)");
    error = json_find(value, "error");
    if (!error)
        return 0;
    snprintf(code, sizeof(code), "%.*s", STR_ARG(json_str(json_find(error, "code"))));
    return err_set(err, err_from_name(code) ? err_from_name(code) : ERR_INTERNAL, "%.*s",
                   STR_ARG(json_str(json_find(error, "message"))));
}

int keeper_ensure(const struct cli_args *args, const char *socket_path, struct err *err)
{
    int pipe_fds[2];
    int r;

    if (answers(socket_path))
        return 0;
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return err_set(err, ERR_INTERNAL, "pipe: %s", strerror(errno));
    r = spawn_keeper(args, pipe_fds[1], err);
    close(pipe_fds[1]);
    if (r == 0)
        r = wait_ready(pipe_fds[0], err);
    close(pipe_fds[0]);
    /* Another command may have been quicker: then its keeper is ours, too. */
    if (r < 0 && err->code == ERR_CONFLICT)
        for (int i = 0; i < 100 && r < 0; i++) {
            poll(NULL, 0, 20);
            r = answers(socket_path) ? 0 : -1;
        }
    return r;
}
