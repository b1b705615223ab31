/* Commands: started, collected, told why they were ended.
 *
 * One thread collects everybody who ends (we are process 1, so orphans are ours too) and hands the
 * status to whoever waits for that pid. A start holds the lock until the child is in the list, so a
 * status can't come before.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/str.h"
#include "sandbox/inside_int.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* closed while everybody is ended */
static struct inside_child *children;

void inside_gate(bool close)
{
    if (close)
        pthread_mutex_lock(&gate);
    else
        pthread_mutex_unlock(&gate);
}

static int prepare(const struct inside_spawn *spawn, posix_spawn_file_actions_t *actions)
{
    int r = posix_spawn_file_actions_addchdir_np(actions, spawn->cwd);

    for (int i = 0; i < 3 && r == 0; i++)
        r = posix_spawn_file_actions_adddup2(actions, spawn->fds[i], i);
    if (r == 0 && spawn->extra >= 0)
        r = posix_spawn_file_actions_adddup2(actions, spawn->extra, OP_BASH_CWD_FD);
    return r;
}

static int spawn_it(const struct inside_spawn *spawn, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int r;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                            (spawn->session ? POSIX_SPAWN_SETSID : 0)));
    r = prepare(spawn, &actions);
    if (r == 0)
        r = posix_spawnp(ret_pid, spawn->argv[0], &actions, &attr, (char *const *)spawn->argv,
                         environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return r;
}

/* A directory of PATH that we may not search says "Permission denied" of every name: that is no
 * answer when no other directory holds the program either. */
static bool child_is_absent(const char *name)
{
    const char *path = getenv("PATH");
    struct str rest = str_from(path ? path : ""), dir;
    char full[LIMIT_PATH_BYTES];

    while (!strchr(name, '/') && str_split(&rest, ':', &dir))
        if (snprintf(full, sizeof(full), "%.*s/%s", STR_ARG(dir), name) < (int)sizeof(full) &&
            access(full, F_OK) == 0)
            return false;
    return !strchr(name, '/');
}

int inside_child_start(const struct inside_spawn *spawn, struct inside_child *child,
                       struct err *err)
{
    int r;

    memset(child, 0, sizeof(*child));
    child->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (child->event < 0)
        return err_set(err, ERR_INTERNAL, "eventfd: %s", strerror(errno));
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&lock);
    r = spawn_it(spawn, &child->pid);
    if (r == 0) {
        child->next = children;
        children = child;
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&gate);
    if (r == 0) {
        inside_watch_wake();
        return 0;
    }
    close(child->event);
    if (access(spawn->cwd, X_OK) < 0)
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_PATH_DENIED,
                       "working directory %.512s: %s", spawn->cwd, strerror(errno));
    if (r == EACCES && child_is_absent(spawn->argv[0]))
        r = ENOENT;
    return err_set(err,
                   r == ENOENT   ? ERR_NOT_FOUND
                   : r == EACCES ? ERR_PATH_DENIED
                                 : ERR_INTERNAL,
                   "start %.512s: %s", spawn->argv[0], strerror(r));
}

void inside_child_release(struct inside_child *child)
{
    pthread_mutex_lock(&lock);
    for (struct inside_child **at = &children; *at; at = &(*at)->next)
        if (*at == child) {
            *at = child->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    close(child->event);
}

bool inside_reap(void)
{
    pid_t pid;
    int status;

    pthread_mutex_lock(&lock);
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (struct inside_child *child = children; child; child = child->next)
            if (child->pid == pid && !child->ended) {
                child->status = status;
                child->ended = true;
                eventfd_write(child->event, 1);
                break;
            }
    pthread_mutex_unlock(&lock);
    return pid == 0;
}

void inside_child_over(const char *limit, const char *message)
{
    pthread_mutex_lock(&lock);
    for (struct inside_child *child = children; child; child = child->next)
        if (!child->ended && !child->limit) {
            snprintf(child->message, sizeof(child->message), "%s", message);
            child->limit = limit;
        }
    pthread_mutex_unlock(&lock);
}
