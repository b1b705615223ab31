/* Whether this machine can build the walls, and what to do when it can't.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/place.h"
#include "base/str.h"
#include "sandbox/lend.h"
#include "sandbox/sandbox.h"
#include "sandbox/walls.h"

const char *walls_bwrap(void)
{
    static char found[PATH_MAX];
    const char *path = getenv("PATH");
    struct str rest = str_from(path && *path ? path : "/usr/local/bin:/usr/bin:/bin"), dir;

    while (!found[0] && str_split(&rest, ':', &dir)) {
        if (dir.n == 0 || dir.p[0] != '/')
            continue;
        snprintf(found, sizeof(found), "%.*s/bwrap", STR_ARG(dir));
        if (access(found, X_OK) < 0)
            found[0] = '\0';
    }
    return found[0] ? found : NULL;
}

/* What bubblewrap says when the system refuses, and what helps; the first that fits. */
static const struct {
    const char *said, *help;
    bool root; /* only when Dormouse is */
} helps[] = {
    { "root may not make mounts",
      "Dormouse runs as root here, and no command of an agent may: run it as an ordinary user "
      "(dormouse serve --user NAME), or give the container CAP_SYS_ADMIN" },
    { "lent to an unprivileged user",
      "Dormouse runs as root here, and no command of an agent may: keep the place on ext4, xfs, "
      "btrfs or tmpfs, or run Dormouse as an ordinary user (dormouse serve --user NAME)" },
    { "setting up uid map: Operation not permitted",
      "Dormouse runs as root here, but without the rights of root: run it as an ordinary user, or "
      "give the container CAP_SYS_ADMIN, CAP_SETUID and CAP_SETGID",
      .root = true },
    { "No permissions to create", "allow user namespaces: sysctl -w "
                                  "kernel.unprivileged_userns_clone=1" },
    { "setting up uid map", "this system restricts user namespaces (AppArmor): sysctl -w "
                            "kernel.apparmor_restrict_unprivileged_userns=0" },
    { "No space left on device", "too many namespaces: sysctl -w user.max_user_namespaces=10000" },
    { "Can't mount proc", "this container hides parts of /proc: start it with "
                          "--security-opt systempaths=unconfined" },
    { "Operation not permitted", "allow user namespaces: sysctl -w "
                                 "kernel.unprivileged_userns_clone=1, or, in a container, start it "
                                 "with a seccomp profile that admits them" },
    { "changed while", "start it again; somebody renames or replaces it all the time" },
    { "Unknown option", "a newer bubblewrap is needed, 0.8.0 or later: apt install bubblewrap" },
};

int walls_explain(struct err *err, const char *bwrap_said)
{
    const char *help = "dormouse doctor says what is missing";

    if (!walls_bwrap())
        return err_set(err, ERR_SANDBOX_UNAVAILABLE,
                       "bubblewrap is not installed: apt install bubblewrap");
    for (size_t i = 0; i < ARRAY_LEN(helps); i++)
        if (strstr(bwrap_said, helps[i].said) && (!helps[i].root || walls_is_root())) {
            help = helps[i].help;
            break;
        }
    return err_set(err, ERR_SANDBOX_UNAVAILABLE, "the sandbox can't be built (%.300s): %s",
                   bwrap_said[0] ? bwrap_said : "it ended without a word", help);
}

/* The namespaces that the walls need around /bin/true, with stderr into said. */
static int try_bwrap(char *said, size_t size)
{
    const char *argv[] = { "bwrap",
                           "--unshare-user",
                           "--unshare-pid",
                           "--unshare-ipc",
                           "--unshare-uts",
                           "--unshare-net",
                           "--disable-userns",
                           "--die-with-parent",
                           "--cap-drop",
                           "ALL",
                           "--uid",
                           "1000",
                           "--ro-bind",
                           "/",
                           "/",
                           "--tmpfs",
                           "/tmp",
                           "--proc",
                           "/proc",
                           "--dev",
                           "/dev",
                           "--perms",
                           "0000",
                           "--size",
                           "4096",
                           "--tmpfs",
                           "/tmp/d",
                           "--",
                           "/bin/true",
                           NULL };
    char *env[] = { NULL };
    posix_spawn_file_actions_t actions;
    int pipes[2], status = -1;
    size_t n = 0;
    ssize_t got;
    pid_t pid;

    if (pipe2(pipes, O_CLOEXEC) < 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 2);
    if (posix_spawn(&pid, walls_bwrap(), &actions, NULL, (char *const *)argv, env) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[1]);
    /* It says a line in several parts. */
    while (n < size - 1 &&
           ((got = read(pipes[0], said + n, size - 1 - n)) > 0 || (got < 0 && errno == EINTR)))
        n += got > 0 ? (size_t)got : 0;
    said[n] = '\0';
    close(pipes[0]);
    if (pid > 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    return status;
}

static bool try_lending(const char *path, char *said, size_t size)
{
    AUTO_FD fd = open(path, O_PATH | O_CLOEXEC);
    AUTO_FD copy = fd < 0 ? -1 : lend_copy(fd);

    if (fd < 0 || copy >= 0)
        return true;
    if (errno == EPERM)
        snprintf(said, size, "root may not make mounts here: %s", strerror(errno));
    else
        snprintf(said, size, "%.300s can't be lent to an unprivileged user (idmapped mount: %s)",
                 path, strerror(errno));
    return false;
}

/* As root nothing is run that could not be lent, and the home always is: whether that works here.
 */
static bool try_lending_home(char *said, size_t size)
{
    const char *home = place_home();

    return !walls_is_root() || strcmp(home, "/") == 0 || try_lending(home, said, size);
}

int walls_explain_lent(const struct walls *w, struct err *err)
{
    char said[512] = "see above";

    for (size_t i = 0; i < w->view_count; i++)
        if (w->views[i].lent && !try_lending(w->views[i].path, said, sizeof(said)))
            break;
    return walls_explain(err, said);
}

int sandbox_available(struct err *err)
{
    static bool known;
    static struct err kept;
    char said[512] = "";

    if (!known) {
        err_reset(&kept);
        if (!walls_bwrap() || try_bwrap(said, sizeof(said)) != 0 ||
            !try_lending_home(said, sizeof(said))) {
            said[strcspn(said, "\n")] = '\0';
            walls_explain(&kept, said);
        }
        known = true;
    }
    if (kept.code == ERR_NONE)
        return 0;
    if (err)
        *err = kept;
    return -1;
}
