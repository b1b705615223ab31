/* The same program, started again as somebody else.
 *
 * Started again, because much was looked up with root's eyes by now: the home directory, the data
 * directory, the configuration.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/as_user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"

#define AS_USER_ARGS_BYTES (4 * MIB)

/* Our arguments without --user NAME and --user=NAME; they stay in text. */
static char **as_user_arguments(struct buf *text)
{
    size_t n = 0, room;
    char **argv;

    for (size_t i = 0; i < text->n; i++)
        n += text->p[i] == '\0';
    room = n + 1;
    argv = NEW_N(char *, room);
    n = 0;
    for (size_t i = 0; i < text->n; i += strlen(text->p + i) + 1) {
        char *arg = text->p + i;

        if (strcmp(arg, "--user") == 0)
            i += strlen(arg) + 1;
        else if (strncmp(arg, "--user=", 7) != 0)
            argv[n++] = arg;
    }
    return argv;
}

/* What would lead back to root's own directories. */
static void as_user_environment(const struct passwd *user)
{
    static const char *const gone[] = { "XDG_RUNTIME_DIR", "XDG_DATA_HOME",  "XDG_STATE_HOME",
                                        "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "MAIL" };

    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        unsetenv(gone[i]);
    setenv("HOME", user->pw_dir, 1);
    setenv("USER", user->pw_name, 1);
    setenv("LOGNAME", user->pw_name, 1);
    setenv("SHELL", user->pw_shell && *user->pw_shell ? user->pw_shell : "/bin/sh", 1);
}

int as_user(const char *name, struct err *err)
{
    AUTO_BUF text = BUF_INIT(AS_USER_ARGS_BYTES);
    const struct passwd *user;

    if (geteuid() != 0)
        return err_set(err, ERR_BAD_REQUEST, "--user %s: only root can become another user", name);
    errno = 0;
    user = getpwnam(name);
    if (!user)
        return err_set(err, ERR_NOT_FOUND, "--user %s: there is no such user; try: useradd -m %s",
                       name, name);
    if (user->pw_uid == 0)
        return err_set(err, ERR_BAD_REQUEST, "--user %s: that is root again; name another user",
                       name);
    if (file_read("/proc/self/cmdline", &text, err) < 0)
        return -1;
    if (initgroups(user->pw_name, user->pw_gid) < 0 ||
        setresgid(user->pw_gid, user->pw_gid, user->pw_gid) < 0 ||
        setresuid(user->pw_uid, user->pw_uid, user->pw_uid) < 0)
        return err_set(err, ERR_INTERNAL, "--user %s: %s", name, strerror(errno));
    as_user_environment(user);
    execv("/proc/self/exe", as_user_arguments(&text));
    return err_set(err, ERR_INTERNAL, "--user %s: start dormouse again: %s", name, strerror(errno));
}
