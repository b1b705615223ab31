/* Finds, creates and locks the data directory.
 *
 * The lock is an open file description lock on DATA/lock: it ends with the process, however that
 * ends, and a child that inherits no descriptor can't keep it. The file's text is the holder's
 * process number, for messages only; the lock alone decides.
 *
 * One byte of the file, far behind its text, stands for the wish to be next. Whoever takes the
 * lock takes that byte along for a moment, so while a daemon holds the wish nobody else gets the
 * lock, not even one that looked before the wish was there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "house/data_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/known_dirs.h"
#include "base/limits.h"
#include "base/rand.h"
#include "base/str.h"

#define LOCK_NAME "lock"
#define LOCK_WISH ((off_t)1 << 30)

static const struct flock lock_all = { .l_type = F_WRLCK, .l_whence = SEEK_SET },
                          lock_held = { .l_type = F_WRLCK,
                                        .l_whence = SEEK_SET,
                                        .l_len = LOCK_WISH },
                          lock_wish = { .l_type = F_WRLCK,
                                        .l_whence = SEEK_SET,
                                        .l_start = LOCK_WISH,
                                        .l_len = 1 };

static const char *env(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static int absolute(const char *path, const char *tail, char **ret_path, struct err *err)
{
    char cwd[LIMIT_PATH_BYTES] = "", out[LIMIT_PATH_BYTES];
    int n;

    if (path[0] != '/' && !getcwd(cwd, sizeof(cwd)))
        return err_set(err, ERR_BAD_REQUEST, "the working directory is gone: %s", strerror(errno));
    n = snprintf(out, sizeof(out), "%s%s%s%s", cwd, cwd[0] && cwd[1] ? "/" : "", path, tail);
    if (n < 0 || (size_t)n >= sizeof(out))
        return err_set(err, ERR_BAD_REQUEST, "the data directory's path is too long");
    while (n > 1 && out[n - 1] == '/')
        out[--n] = '\0';
    *ret_path = alloc_text(out);
    return 0;
}

static const char *home_dir(void)
{
    const char *home = env("HOME");
    struct passwd *user;

    if (home && home[0] == '/')
        return home;
    user = getpwuid(geteuid());
    return user && user->pw_dir && user->pw_dir[0] == '/' ? user->pw_dir : NULL;
}

int data_dir_resolve(const char *typed, char **ret_path, struct err *err)
{
    const char *home;

    if (typed && !*typed)
        return err_set(err, ERR_BAD_REQUEST, "--data needs a directory, not an empty text");
    if (typed || env("DORMOUSE_DATA"))
        return absolute(typed ? typed : env("DORMOUSE_DATA"), "", ret_path, err);
    /* A relative XDG_DATA_HOME is to be ignored, says the XDG specification. */
    if (env("XDG_DATA_HOME") && env("XDG_DATA_HOME")[0] == '/')
        return absolute(env("XDG_DATA_HOME"), "/dormouse", ret_path, err);
    home = home_dir();
    if (!home)
        return err_set(err, ERR_BAD_REQUEST,
                       "no home directory: give --data DIR or set DORMOUSE_DATA");
    return absolute(home, "/.local/share/dormouse", ret_path, err);
}

static int make_dirs(const char *path, struct err *err)
{
    char part[LIMIT_PATH_BYTES];
    size_t len = strlen(path);

    if (len >= sizeof(part))
        return err_set(err, ERR_BAD_REQUEST, "the path is too long");
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0700) == 0 || errno == EEXIST)
            continue;
        /* A parent that exists may answer EROFS or EACCES instead of EEXIST. */
        if (i < len && access(part, F_OK) == 0)
            continue;
        return err_set(err, ERR_BAD_REQUEST, "create %s: %s", part, strerror(errno));
    }
    return 0;
}

int data_dir_prepare(const char *path, struct err *err)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        if (errno != ENOENT)
            return err_set(err, ERR_BAD_REQUEST, "data directory %s: %s", path, strerror(errno));
        if (make_dirs(path, err) < 0)
            return err_wrap(err, "data directory %s", path);
        if (stat(path, &st) < 0)
            return err_set(err, ERR_BAD_REQUEST, "data directory %s: %s", path, strerror(errno));
    }
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_BAD_REQUEST, "data directory %s: it is not a directory", path);
    if (st.st_uid != geteuid() && geteuid() != 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "data directory %s: it belongs to another user (number %u)", path,
                       (unsigned)st.st_uid);
    if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) < 0)
        return err_set(err, ERR_BAD_REQUEST, "data directory %s: %s%s", path, strerror(errno),
                       errno == EACCES ? "; try: chmod 700 on it" : "");
    if ((st.st_mode & 077) != 0 && chmod(path, 0700) < 0)
        return err_set(err, ERR_BAD_REQUEST, "data directory %s: close it to others: %s", path,
                       strerror(errno));
    /* For the sandboxes of every daemon of this user. Where it can't be noted, at least ours knows.
     */
    known_dirs_add(path, NULL);
    return 0;
}

/* ---- the lock ---- */

static int lock_path(const char *dir, char *out, size_t size)
{
    int n = snprintf(out, size, "%s/" LOCK_NAME, dir);

    return n > 0 && (size_t)n < size ? 0 : -1;
}

static pid_t read_holder(int fd)
{
    char text[24] = "";
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    int64_t pid;

    if (n <= 0 || str_to_i64(str_trim(str_of(text, (size_t)n)), &pid) < 0 || pid <= 0 ||
        pid > INT32_MAX)
        return -1;
    return (pid_t)pid;
}

static int lock_open(const char *path, int *ret_fd, struct err *err)
{
    char file[LIMIT_PATH_BYTES];
    int fd;

    if (lock_path(path, file, sizeof(file)) < 0)
        return err_set(err, ERR_BAD_REQUEST, "the path of %s is too long", path);
    fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(err, ERR_BAD_REQUEST, "open %s: %s", file, strerror(errno));
    *ret_fd = fd;
    return 0;
}

static bool lock_is_taken(int fd, struct flock range)
{
    return fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

static int lock_refused(const char *path, int fd, int failure, struct err *err)
{
    pid_t holder = lock_is_taken(fd, lock_held) ? read_holder(fd) : -1;

    if (failure != EAGAIN && failure != EACCES)
        return err_set(err, ERR_INTERNAL, "lock %s/" LOCK_NAME ": %s", path, strerror(failure));
    if (holder > 0)
        return err_set(err, ERR_CONFLICT,
                       "another dormouse (process %d) uses %s; stop it with: kill %d", (int)holder,
                       path, (int)holder);
    return err_set(err, ERR_CONFLICT, "another dormouse uses %s", path);
}

int data_dir_lock_next(const char *path, int fd, struct err *err)
{
    struct flock wish = lock_wish;
    char text[24];
    int n;

    if (fcntl(fd, F_OFD_SETLK, &lock_all) < 0)
        return lock_refused(path, fd, errno, err);
    n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
    wish.l_type = F_UNLCK;
    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n ||
        fcntl(fd, F_OFD_SETLK, &wish) < 0)
        return err_set(err, ERR_STORAGE_FAILED, "write %s/" LOCK_NAME ": %s", path,
                       strerror(errno));
    return 0;
}

int data_dir_lock(const char *path, int *ret_fd, struct err *err)
{
    int fd;

    if (lock_open(path, &fd, err) < 0)
        return -1;
    if (data_dir_lock_next(path, fd, err) < 0) {
        close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

int data_dir_be_next(const char *path, int *ret_fd, struct err *err)
{
    int fd;

    if (lock_open(path, &fd, err) < 0)
        return -1;
    if (fcntl(fd, F_OFD_SETLK, &lock_wish) < 0) {
        lock_refused(path, fd, errno, err);
        close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

/* Is this range of the lock taken? *ret_holder, unless NULL: by whom. */
static bool lock_look(const char *path, struct flock range, pid_t *ret_holder)
{
    char file[LIMIT_PATH_BYTES];
    bool taken;
    int fd;

    if (lock_path(path, file, sizeof(file)) < 0)
        return false;
    fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    taken = lock_is_taken(fd, range);
    if (taken && ret_holder)
        *ret_holder = read_holder(fd);
    close(fd);
    return taken;
}

pid_t data_dir_holder(const char *path)
{
    pid_t holder = 0;

    lock_look(path, lock_held, &holder);
    return holder;
}

bool data_dir_has_next(const char *path)
{
    return lock_look(path, lock_wish, NULL);
}

bool data_dir_is_free(const char *path)
{
    return !lock_look(path, lock_all, NULL);
}

/* ---- who it is ---- */

static int make_host(const char *path, char ret_id[UUID_TEXT_SIZE], struct err *err)
{
    struct uuid_source uuids;

    uuid_source_init(&uuids, clock_system(), rand_system());
    uuid_next_text(&uuids, ret_id);
    return file_write_atomic(path, str_from(ret_id), 0600, err);
}

int data_dir_host(const char *path, char ret_id[UUID_TEXT_SIZE], struct err *err)
{
    char name[LIMIT_PATH_BYTES];
    AUTO_BUF text = BUF_INIT(256);
    struct err why = ERR_INIT;
    struct str id;

    snprintf(name, sizeof(name), "%s/host", path);
    if (file_read(name, &text, &why) < 0) {
        if (why.code == ERR_NOT_FOUND)
            return make_host(name, ret_id, err);
        *err = why;
        return -1;
    }
    id = str_trim(buf_str(&text));
    if (!uuid_valid(id))
        return err_set(err, ERR_INTEGRITY_FAILED,
                       "%s does not hold a UUID; without the file a new one is made", name);
    snprintf(ret_id, UUID_TEXT_SIZE, "%.*s", STR_ARG(id));
    return 0;
}
