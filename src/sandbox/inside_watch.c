/* The watch: looks at processes, memory and disk, and ends what goes over a limit.
 *
 * A cgroup or RLIMIT_NPROC, where there is one, keeps the host safe; but it lets a fork bomb hang
 * until its time is over, and says nothing. So the hand looks itself: often while something runs,
 * hardly at all otherwise; a hand that serves has a thread for it. What goes over a limit is ended
 * in one step with everything in the namespace, because what runs is related and may be
 * multiplying.
 *
 * Between two looks (40 ms) a program can take more than it may: as much as the machine can fill
 * in that time. docs/sandbox.md says so.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "sandbox/inside_int.h"

#define BUSY_MS     INSIDE_LOOK_MS
#define IDLE_MS     400
#define CROWD       2   /* times the limit: certainly too many, dead or alive */
#define GONE_ROUNDS 500 /* of 2 ms */

static struct {
    const struct inside_setup *setup;
    pthread_mutex_t lock;
    pthread_cond_t started;
    bool busy; /* something was started since the last look */
} watch = { .lock = PTHREAD_MUTEX_INITIALIZER, .started = PTHREAD_COND_INITIALIZER };

/* Whoever is dying still counts, so nothing new is started until they are gone, nor before what
 * they leave behind is cleared: it would be taken from under the next command. */
static void over(const char *limit, const char *message, void (*clear)(void))
{
    struct timespec pause = { 0, 2000000 };

    inside_gate(true);
    inside_child_over(limit, message);
    inside_notice_done(limit, "%s", message);
    for (int i = 0; i < GONE_ROUNDS && (i == 0 || procs_more_than(0)); i++) {
        procs_kill_all();
        nanosleep(&pause, NULL);
        inside_reap();
        if (watch.setup->off)
            break;
    }
    if (clear)
        clear();
    inside_gate(false);
}

static void too_many(void)
{
    char message[160];

    snprintf(message, sizeof(message),
             "more than %llu processes at once (sandbox.limits.processes): everything was ended",
             (unsigned long long)watch.setup->processes);
    over("processes", message, NULL);
}

static void check_processes(const struct proc_info *list, size_t n)
{
    size_t alive = 0;

    for (size_t i = 0; i < n; i++)
        alive += !list[i].zombie;
    if (watch.setup->processes > 0 && alive > watch.setup->processes)
        too_many();
}

static void check_memory(const struct proc_info *list, size_t n)
{
    char message[INSIDE_MESSAGE_MAX];

    if (inside_memory_over(list, n, message))
        over("memory", message, inside_memory_clear);
}

static void check_disk(const struct proc_info *list, size_t n)
{
    char message[INSIDE_MESSAGE_MAX];
    const char *limit = inside_disk_over(list, n, message);

    if (limit)
        over(limit, message, NULL);
}

int inside_watch_look(void)
{
    struct proc_info *list;
    size_t n;

    /* While it multiplies there is no time to look at each. */
    if (watch.setup->processes > 0 && !watch.setup->off &&
        procs_more_than((size_t)watch.setup->processes * CROWD))
        too_many();
    n = procs_read(&list);
    check_processes(list, n);
    check_memory(list, n);
    check_disk(list, n);
    free(list);
    return n > 0 ? BUSY_MS : IDLE_MS;
}

static void watch_sleep(int ms)
{
    struct timespec pause = { 0, ms * 1000000L };

    nanosleep(&pause, NULL);
}

/* Until that time is over, or something is started: a short command is looked at as well. */
static void watch_idle(int ms)
{
    struct timespec until;
    int r = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&watch.lock);
    while (!watch.busy && r == 0)
        r = pthread_cond_clockwait(&watch.started, &watch.lock, CLOCK_MONOTONIC, &until);
    watch.busy = false;
    pthread_mutex_unlock(&watch.lock);
}

void inside_watch_wake(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.busy = true;
    pthread_cond_signal(&watch.started);
    pthread_mutex_unlock(&watch.lock);
}

static void *look_again(void *arg)
{
    (void)arg;
    for (;;) {
        int ms = inside_watch_look();

        if (ms > BUSY_MS)
            watch_idle(ms - BUSY_MS);
        watch_sleep(BUSY_MS);
    }
    return NULL;
}

void inside_watch_init(const struct inside_setup *setup)
{
    watch.setup = setup;
    inside_held_init();
    inside_memory_init(setup);
    inside_disk_init(setup);
}

int inside_watch_start(struct err *err)
{
    pthread_t thread;
    int r = pthread_create(&thread, NULL, look_again, NULL);

    if (r != 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "start a thread: %s", strerror(r));
    pthread_detach(thread);
    return 0;
}
