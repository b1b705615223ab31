/* Reading files for the search.
 *
 * Small files come in one read into a buffer that each thread keeps. Large ones come in steps; what
 * follows the last newline is moved to the front and completed by the next step.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
#include "sandbox/search_int.h"

void search_reader_begin(struct search_reader *reader, int fd, uint64_t size)
{
    reader->fd = fd;
    reader->n = reader->used = 0;
    reader->size = size;
    reader->total = 0;
    reader->end = false;
}

void search_reader_release(struct search_reader *reader)
{
    free(reader->p);
    reader->p = NULL;
}

static void make_room(struct search_reader *r)
{
    size_t want = SEARCH_BUFFER_FIRST;

    if (r->p && r->used < r->n)
        memmove(r->p, r->p + r->used, r->n - r->used);
    r->n -= r->used;
    r->used = 0;
    if (r->size >= want)
        want = r->size < SEARCH_STEP ? (size_t)r->size + 1 : SEARCH_STEP;
    while (want < SEARCH_BUFFER_MAX && want <= r->n)
        want *= 2;
    if (want > r->cap) {
        r->p = alloc_resize(r->p, want, 1);
        r->cap = want;
    }
}

/* Fills the buffer; 0, or -1 with errno. */
static int fill(struct search_reader *r)
{
    while (!r->end && r->n < r->cap) {
        ssize_t n = read(r->fd, r->p + r->n, r->cap - r->n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        r->n += (size_t)n;
        r->total += (size_t)n;
        /* A file of the size that it said to have needs no second read to find its end. */
        r->end = n == 0 || (r->total == r->size && r->size > 0);
    }
    return 0;
}

int search_reader_next(struct search_reader *r, struct str *ret_piece)
{
    for (;;) {
        const char *newline;

        if (r->end && r->used == r->n)
            return 0;
        if (!r->p || !r->end)
            make_room(r);
        if (fill(r) < 0)
            return -1;
        if (r->n == r->used)
            continue;
        newline = r->end ? NULL : memrchr(r->p, '\n', r->n);
        if (!r->end && !newline && r->cap < SEARCH_BUFFER_MAX)
            continue;
        *ret_piece = str_of(r->p, newline ? (size_t)(newline - r->p) + 1 : r->n);
        r->used = ret_piece->n;
        return 1;
    }
}

int search_open_file(int dir_fd, const char *name, const struct access_ids *ids, uint64_t *ret_size)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || access_ids_have(ids, &st)) {
        close(fd);
        return -1;
    }
    *ret_size = (uint64_t)st.st_size;
    return fd;
}

int search_open_walking(int root_fd, const char *path, int flags)
{
    int dir = dup(root_fd);

    while (dir >= 0) {
        const char *slash = strchr(path, '/');
        char name[LIMIT_PATH_NAME_BYTES + 1];
        size_t n = slash ? (size_t)(slash - path) : strlen(path);
        int next;

        if (n > LIMIT_PATH_NAME_BYTES)
            break;
        snprintf(name, sizeof(name), "%.*s", (int)n, path);
        next = openat(dir, name,
                      slash ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
                            : flags | O_NOFOLLOW | O_CLOEXEC);
        close(dir);
        if (!slash)
            return next;
        dir = next;
        path = slash + 1;
    }
    file_close_auto(&dir);
    return -1;
}

int search_open_beneath(int root_fd, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_NOFOLLOW | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd;

    if (path[0] == '\0')
        return openat(root_fd, ".", flags | O_CLOEXEC);
    fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN))
        return search_open_walking(root_fd, path, flags);
    return (int)fd;
}
