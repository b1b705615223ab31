/* What the hand is told at the start, in memory files that it inherits.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_put.h"
#include "sandbox/frame.h"
#include "sandbox/hand_int.h"
#include "sandbox/spec_int.h"

static int memory_file(const char *name, struct str bytes, struct err *err)
{
    int fd = memfd_create(name, MFD_CLOEXEC);

    if (fd < 0 || file_write_all(fd, bytes) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
        err_set(err, ERR_INTERNAL, "memory file: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

static void write_list(struct json_writer *w, const char *key, const char *const *items)
{
    json_put_array(w, key);
    for (size_t i = 0; items && items[i]; i++)
        json_write_text(w, items[i]);
    json_write_array_end(w);
}

static void write_views(struct json_writer *w, const struct walls *walls)
{
    char text[64];

    json_put_array(w, "views");
    for (size_t i = 0; i < walls->view_count; i++) {
        const struct place_view *view = &walls->views[i];

        json_write_object_begin(w);
        json_put_text(w, "path", view->path);
        json_put_bool(w, "covered", view->covered);
        json_put_bool(w, "bound", view->bound);
        json_put_bool(w, "lent", view->lent);
        /* As text: they may need all 64 bits. */
        snprintf(text, sizeof(text), "%llu %llu %llu", (unsigned long long)view->dev,
                 (unsigned long long)view->ino, (unsigned long long)view->entry);
        json_put_text(w, "is", text);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static void write_limits(struct json_writer *w, const struct sandbox_spec *spec, int64_t time_ms)
{
    json_put_u64(w, "memory", spec_memory(spec));
    json_put_u64(w, "processes", spec_processes(spec));
    json_put_u64(w, "disk", spec_disk(spec));
    json_put_u64(w, "files", spec_files(spec));
    json_put_i64(w, "timeLimit", time_ms);
}

int hand_setup_file(const struct sandbox_spec *spec, const struct walls *walls,
                    const struct hand_told *told, int groups, struct err *err)
{
    AUTO_BUF text = BUF_INIT(FRAME_BYTES);
    struct json_writer w = JSON_WRITER(&text);

    json_write_object_begin(&w);
    json_put_bool(&w, "off", spec->off);
    json_put_text(&w, "cwd", walls->cwd);
    write_list(&w, "allowWrite", walls->allow_write.items);
    write_list(&w, "denyRead", walls->deny_read.items);
    write_list(&w, "denyNames", walls->deny_names.items);
    write_list(&w, "denyWrite", walls->deny_write.items);
    write_list(&w, "obeyed", walls->obeyed.items);
    write_list(&w, "sockets", walls->sockets.items);
    write_views(&w, walls);
    write_list(&w, "argv", told->argv);
    write_limits(&w, spec, told->time_limit_ms);
    json_put_i64(&w, "proxyPort", told->proxy ? WALLS_PROXY_PORT : 0);
    json_put_i64(&w, "groups", groups);
    if (told->state.n > 0) {
        json_put_raw(&w, "state", told->state);
    }
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "what the hand must know is larger than %u bytes",
                       FRAME_BYTES);
    return memory_file("dormouse-setup", buf_str(&text), err);
}

int hand_args_file(const struct walls *walls, struct err *err)
{
    AUTO_BUF text = BUF_INIT(4 * MIB);

    for (size_t i = 0; i < walls->args.n; i++)
        buf_add(&text, walls->args.items[i], strlen(walls->args.items[i]) + 1);
    if (text.full)
        return err_set(err, ERR_TOO_LARGE, "too many places for one sandbox");
    return memory_file("dormouse-walls", buf_str(&text), err);
}

/* ---- all of it ---- */

#define HAND_PROGRAM "/proc/self/fd/5" /* HAND_FD_PROGRAM */
_Static_assert(HAND_FD_PROGRAM == 5, "HAND_PROGRAM names it");

static int make_socket(struct hand_start *start, struct err *err)
{
    int ends[2], on = 1;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return err_set(err, ERR_INTERNAL, "socket: %s", strerror(errno));
    /* The kernel then says who speaks. */
    setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
    start->socket = ends[0];
    start->fds[start->n++] = ends[1];
    return 0;
}

static void make_command(struct hand_start *start, const struct sandbox_spec *spec, bool staged,
                         bool serves)
{
    size_t n = 0;

    start->path = spec->off ? HAND_PROGRAM : walls_bwrap();
    if (spec->off) {
        start->argv[n++] = HAND_NAME;
    } else {
        if (staged) {
            start->path = HAND_PROGRAM;
            start->argv[n++] = HAND_NAME;
            start->argv[n++] = "stage";
            start->argv[n++] = walls_bwrap();
        }
        start->argv[n++] = "bwrap";
        start->argv[n++] = "--args";
        start->argv[n++] = start->args_fd;
        start->argv[n++] = "--";
        start->argv[n++] = HAND_PROGRAM;
    }
    start->argv[n++] = serves ? "serve" : "exec";
    start->argv[n] = NULL;
}

int hand_start_init(struct hand_start *start, const struct sandbox_spec *spec,
                    const struct walls *walls, struct cgroup *group, const struct hand_told *told,
                    struct err *err)
{
    int groups[CGROUP_FILES_MAX], count = group ? cgroup_files(group, groups) : 0, fd;

    *start = (struct hand_start){ .socket = -1 };
    if (make_socket(start, err) < 0)
        return -1;
    fd = hand_setup_file(spec, walls, told, count, err);
    if (fd < 0)
        return -1;
    start->fds[start->n++] = fd;
    fd = hand_program(err);
    if (fd < 0)
        return -1;
    start->fds[start->n++] = fd;
    for (int i = 0; i < count; i++)
        start->fds[start->n++] = groups[i];
    make_command(start, spec, walls->staged, told->argv == NULL);
    if (spec->off)
        return 0;
    fd = hand_args_file(walls, err);
    if (fd < 0)
        return -1;
    snprintf(start->args_fd, sizeof(start->args_fd), "%zu", HAND_FD_SOCKET + start->n);
    start->fds[start->n++] = fd;
    return 0;
}

void hand_start_release(struct hand_start *start)
{
    /* Socket and setup come first, bubblewrap's arguments last. */
    for (size_t i = 0; i < start->n; i++)
        if (i < 2 || (i + 1 == start->n && start->args_fd[0]))
            close(start->fds[i]);
    if (start->socket >= 0)
        close(start->socket);
    start->socket = -1;
    start->n = 0;
}
