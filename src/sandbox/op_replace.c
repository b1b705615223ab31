/* Replacing a file without losing what someone else wrote meanwhile.
 *
 * The new text goes into a temporary file beside the old one. A new file is then put in place by a
 * rename that replaces nothing; an old one by a rename that exchanges the two, after which what
 * came out is compared with what was read: when it is something else, the two are exchanged back.
 * File systems that can't do either get a plain rename after one more look.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "sandbox/op_file.h"

#define TEMP_TRIES 16

struct temp {
    int dir_fd, fd;
    char name[LIMIT_PATH_NAME_BYTES + 1];
};

static void temp_remove(struct temp *temp)
{
    if (temp->fd < 0)
        return;
    close(temp->fd);
    unlinkat(temp->dir_fd, temp->name, 0);
    temp->fd = -1;
}

static int temp_open(struct temp *temp, const struct access_place *place, struct err *err)
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        char random[17];
        uint64_t value = rand_u64(rand_system());

        hex_encode(&value, sizeof(value), random);
        snprintf(temp->name, sizeof(temp->name), ".%.*s.%s.tmp",
                 STR_ARG(utf8_truncate(str_from(place->name), 200)), random);
        temp->fd = openat(place->dir_fd, temp->name,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (temp->fd >= 0 || errno != EEXIST)
            break;
    }
    temp->dir_fd = place->dir_fd;
    return temp->fd < 0 ? access_fail(err, errno, "write", place->path) : 0;
}

/* Set-id bits are not carried over to a text that someone else chose. */
static bool keep_owner(int fd, const struct op_file *old)
{
    bool kept = true;

    if (!old->exists)
        return true;
    if (old->st.st_uid != geteuid() || old->st.st_gid != getegid())
        kept = fchown(fd, old->st.st_uid, old->st.st_gid) == 0;
    return fchmod(fd, old->st.st_mode & 0777) == 0 && kept;
}

/* Whether what stands under name in the directory is byte for byte what was loaded. */
static bool is_still(const struct op_file *old, int dir_fd, const char *name)
{
    AUTO_FD fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    AUTO_BUF text = BUF_INIT(OP_FILE_MAX);

    return fd >= 0 && file_read_fd(fd, name, &text, NULL) == 0 &&
           str_eq(buf_str(&text), buf_str(&old->text));
}

static int changed(struct err *err, const char *path)
{
    return err_set(err, ERR_CONFLICT, "%s was changed by someone else just now; read it again",
                   path);
}

static int put_new(struct temp *temp, const struct access_place *place, struct err *err)
{
    int r = renameat2(temp->dir_fd, temp->name, temp->dir_fd, place->name, RENAME_NOREPLACE);

    /* link() refuses an existing name, too. */
    if (r < 0 && (errno == EINVAL || errno == ENOSYS))
        r = linkat(temp->dir_fd, temp->name, temp->dir_fd, place->name, 0);
    else if (r == 0) {
        close(temp->fd);
        temp->fd = -1;
    }
    if (r < 0 && errno == EEXIST)
        return err_set(err, ERR_CONFLICT, "%s was made by someone else just now; read it first",
                       place->path);
    return r < 0 ? access_fail(err, errno, "write", place->path) : 0;
}

static int put_over(struct temp *temp, const struct access_place *place, const struct op_file *old,
                    struct err *err)
{
    int fd = temp->dir_fd;

    if (renameat2(fd, temp->name, fd, place->name, RENAME_EXCHANGE) == 0) {
        if (is_still(old, fd, temp->name))
            return 0;
        /* Back again; the temporary name then holds our text, which is removed. */
        if (renameat2(fd, temp->name, fd, place->name, RENAME_EXCHANGE) < 0)
            return access_fail(err, errno, "restore", place->path);
        return changed(err, place->path);
    }
    if (errno == ENOENT)
        return changed(err, place->path);
    if (errno != EINVAL && errno != ENOSYS)
        return access_fail(err, errno, "write", place->path);
    if (!is_still(old, fd, place->name))
        return changed(err, place->path);
    if (renameat(fd, temp->name, fd, place->name) < 0)
        return access_fail(err, errno, "write", place->path);
    close(temp->fd);
    temp->fd = -1;
    return 0;
}

static void sync_directory(int dir_fd)
{
    /* One of O_PATH can't be synced; one that can't be read is left to the system. */
    AUTO_FD fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        fsync(fd);
}

int op_file_replace(struct op_ctx *ctx, struct access_place *place, const struct op_file *old,
                    struct str text, bool *ret_owner_kept, struct err *err)
{
    __attribute__((cleanup(temp_remove))) struct temp temp = { .fd = -1 };
    bool kept;

    if (op_check(ctx, err) < 0 || access_make_parents(place, err) < 0 ||
        temp_open(&temp, place, err) < 0)
        return -1;
    if (file_write_all(temp.fd, text) < 0)
        return access_fail(err, errno, "write", place->path);
    kept = keep_owner(temp.fd, old);
    if (fsync(temp.fd) < 0)
        return access_fail(err, errno, "write", place->path);
    if ((old->exists ? put_over(&temp, place, old, err) : put_new(&temp, place, err)) < 0)
        return -1;
    sync_directory(place->dir_fd);
    if (ret_owner_kept)
        *ret_owner_kept = kept;
    return 0;
}
