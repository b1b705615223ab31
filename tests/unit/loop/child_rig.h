/* One loop, and the child of the moment.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_LOOP_CHILD_RIG_H
#define DORMOUSE_TESTS_LOOP_CHILD_RIG_H

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "harness/test.h"
#include "loop/child_int.h"

#define SOON_MS 20000 /* what would be waited for otherwise has no end */

/* One loop, and what the child of the moment said. */
struct run {
    struct clock_fake clock; /* of a still one */
    struct loop *loop;
    struct child *child;
    struct child_config config;
    const char *argv[8];
    int ended;
    struct child_result result;
    char *out, *error; /* copies */
    void (*on_line)(struct run *run, struct str bytes);
    struct buf seen; /* with on_output */
};

static inline struct run *run_new_by(struct test *t, struct run *run, struct clock *clock)
{
    child_set_launcher(LAUNCHER_PATH);
    ASSERT_OK(loop_new(clock, &run->loop, &t->err));
    run->seen = BUF_INIT(64 << 20);
    return run;
}

static inline struct run *run_new(struct test *t)
{
    return run_new_by(t, NEW(struct run), NULL);
}

/* Time passes only when the test says so, however busy the machine is. */
static inline struct run *run_new_still(struct test *t)
{
    struct run *run = NEW(struct run);

    clock_fake_init(&run->clock, 0);
    return run_new_by(t, run, &run->clock.clock);
}

static inline void run_free(struct run *run)
{
    loop_free(run->loop);
    buf_release(&run->seen);
    free(run->out);
    free(run->error);
    free(run);
}
AUTO_DEFINE(run)

static inline void on_done(struct child *child, const struct child_result *result, void *arg)
{
    struct run *run = arg;

    if (child != run->child)
        FAIL("done for another child");
    run->ended++;
    run->result = *result;
    free(run->out);
    free(run->error);
    run->out = alloc_copy(result->out.p, result->out.n);
    run->error = alloc_copy(result->error.p, result->error.n);
    loop_stop(run->loop);
}

static inline void on_output(struct child *child, enum child_stream stream, struct str bytes,
                             void *arg)
{
    struct run *run = arg;

    (void)child, (void)stream;
    buf_add_str(&run->seen, bytes);
    if (run->on_line)
        run->on_line(run, bytes);
}

/* Arguments up to NULL. */
static inline void start(struct test *t, struct run *run, const char *act, const char *a,
                         const char *b)
{
    run->argv[0] = "probe";
    run->argv[1] = act;
    run->argv[2] = a;
    run->argv[3] = b;
    run->config.path = run->config.path ? run->config.path : PROBE_PATH;
    run->config.argv = run->argv;
    run->config.done = on_done;
    run->config.arg = run;
    run->ended = 0;
    ASSERT_OK(child_start(run->loop, &run->config, &run->child, &t->err));
}

static inline void finish(struct test *t, struct run *run)
{
    if (run->ended == 0)
        ASSERT_OK(loop_run(run->loop, &t->err));
    ASSERT_EQ(run->ended, 1);
}

static inline void play(struct test *t, struct run *run, const char *act, const char *a,
                        const char *b)
{
    start(t, run, act, a, b);
    finish(t, run);
}

/* Waits until a process that is not our child has ended. */
static inline bool ends_within(pid_t pid, int ms)
{
    int fd = pidfd_open(pid, 0);
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    bool ended;

    if (fd < 0)
        return errno == ESRCH;
    ended = poll(&poll_fd, 1, ms) == 1;
    close(fd);
    return ended;
}

static inline int count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* ---- readers that pause ---- */

static inline void pause_at_once(struct run *run, struct str bytes)
{
    (void)bytes;
    child_pause(run->child, CHILD_OUT);
    loop_stop(run->loop);
}

struct alarm {
    struct loop_timer timer; /* first */
    struct run *run;
};

static inline void resume_late(struct loop_timer *timer)
{
    struct run *run = ((struct alarm *)timer)->run;

    run->on_line = NULL;
    child_resume(run->child, CHILD_OUT);
}

#endif
