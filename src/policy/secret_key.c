/* The key of the sealed file: 32 bytes as 64 hexadecimal digits in a file that its owner alone can
 * read.
 *
 * $DORMOUSE_MASTER_KEY_FILE names one that somebody made (openssl rand -hex 32); it is never
 * created. Else DATA/secrets.key is made at first use, and only while nothing is sealed: a new key
 * could not open what an old one closed, and would hide that the old one is lost.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/rand.h"
#include "policy/secret_int.h"

#define KEY_TEXT (2 * SECRET_KEY_BYTES) /* and a newline */

static const char *named_path(void)
{
    const char *path = getenv("DORMOUSE_MASTER_KEY_FILE");

    return path && *path ? path : NULL;
}

bool secret_key_named(void)
{
    return named_path() != NULL;
}

void secret_key_path(const char *data_dir, char *out, size_t size)
{
    if (named_path())
        snprintf(out, size, "%s", named_path());
    else
        snprintf(out, size, "%s/secrets.key", data_dir);
}

void secret_file_path(const char *data_dir, char *out, size_t size)
{
    snprintf(out, size, "%s/secrets", data_dir);
}

/* Written under another name and linked: the key is there whole or not at all, and of two that are
 * made at once one wins. */
static int make_key(const char *path, struct err *err)
{
    uint8_t key[SECRET_KEY_BYTES];
    char text[KEY_TEXT + 2], temporary[LIMIT_PATH_BYTES + 16];
    AUTO_FD fd = -1;
    int r = 0;

    snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
    fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
    if (fd < 0)
        return err_set(err, ERR_STORAGE_FAILED, "make the key file %s: %s", path, strerror(errno));
    rand_fill(rand_system(), key, sizeof(key));
    hex_encode(key, sizeof(key), text);
    text[KEY_TEXT] = '\n';
    if (file_write_all(fd, str_of(text, KEY_TEXT + 1)) < 0 || fsync(fd) < 0 ||
        (link(temporary, path) < 0 && errno != EEXIST))
        r = err_set(err, ERR_STORAGE_FAILED, "make the key file %s: %s", path, strerror(errno));
    unlink(temporary);
    explicit_bzero(key, sizeof(key));
    explicit_bzero(text, sizeof(text));
    return r;
}

static int check_file(int fd, const char *path, struct err *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_SECRET_UNAVAILABLE, "the key %s is not a regular file", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return err_set(err, ERR_SECRET_UNAVAILABLE,
                       "the key file %s belongs to user %u; it must be yours", path, st.st_uid);
    if (st.st_mode & 077)
        return err_set(err, ERR_SECRET_UNAVAILABLE,
                       "others can use the key file %s (mode %04o); type `chmod 600 %s`", path,
                       (unsigned)(st.st_mode & 07777), path);
    return 0;
}

static int read_key(int fd, const char *path, uint8_t ret_key[SECRET_KEY_BYTES], struct err *err)
{
    char text[KEY_TEXT + 3];
    ssize_t n = pread(fd, text, sizeof(text), 0);
    int r = -1;

    while (n > KEY_TEXT && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        n--;
    if (n == KEY_TEXT)
        r = hex_decode(str_of(text, KEY_TEXT), ret_key, SECRET_KEY_BYTES);
    explicit_bzero(text, sizeof(text));
    if (r < 0)
        return err_set(err, ERR_SECRET_UNAVAILABLE,
                       "the key file %s does not hold 64 hexadecimal digits and a newline", path);
    return 0;
}

static int no_key(const char *path, const char *sealed, struct err *err)
{
    if (named_path())
        return err_set(err, ERR_SECRET_UNAVAILABLE,
                       "the key file %s (DORMOUSE_MASTER_KEY_FILE) can't be read: %s; make one "
                       "with `(umask 077; openssl rand -hex 32 >FILE)`",
                       path, strerror(errno));
    return err_set(
        err, ERR_SECRET_UNAVAILABLE,
        "the key file %s can't be read (%s), so %s can't be opened; put the key back, or "
        "move %s away and set the secrets again",
        path, strerror(errno), sealed, sealed);
}

static int open_key(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The descriptor, which is no longer closed at the end of the scope. */
static int keep(int *fd)
{
    int kept = *fd;

    *fd = -1;
    return kept;
}

int secret_key_load(const char *data_dir, bool make, uint8_t ret_key[SECRET_KEY_BYTES], int *ret_fd,
                    struct err *err)
{
    char path[LIMIT_PATH_BYTES], sealed[LIMIT_PATH_BYTES];
    AUTO_FD fd = -1;

    secret_key_path(data_dir, path, sizeof(path));
    secret_file_path(data_dir, sealed, sizeof(sealed));
    fd = open_key(path);
    if (fd < 0 && errno == ENOENT && make && !named_path() && access(sealed, F_OK) < 0) {
        if (make_key(path, err) < 0)
            return -1;
        fd = open_key(path);
    }
    if (fd < 0)
        return no_key(path, sealed, err);
    if (check_file(fd, path, err) < 0 || read_key(fd, path, ret_key, err) < 0)
        return -1;
    *ret_fd = keep(&fd);
    return 0;
}
