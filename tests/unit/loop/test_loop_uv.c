/* The loop on libuv: real time, real descriptors.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "harness/test.h"
#include "store_fake.h"

struct stopper {
    struct loop_timer timer; /* first */
    struct loop *loop;
    int fired;
};

static void stop_now(struct loop_timer *timer)
{
    struct stopper *stopper = (struct stopper *)timer;

    stopper->fired++;
    loop_stop(stopper->loop);
}

static struct loop *new_loop(struct test *t)
{
    struct loop *loop = NULL;

    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    return loop;
}

/* ---- time ---- */

TEST(a_timer_never_fires_early)
{
    AUTO(loop) loop = new_loop(t);
    struct stopper stopper = { .timer.fire = stop_now, .loop = loop };
    int64_t before;

    for (int delay = 0; delay < 12; delay++) {
        before = clock_mono_ns(loop_clock(loop));
        loop_timer_start(loop, &stopper.timer, delay);
        ASSERT_OK(loop_run(loop, &t->err));
        ASSERT(clock_mono_ns(loop_clock(loop)) - before >= delay * 1000000LL);
    }
    ASSERT_EQ(stopper.fired, 12);
}

TEST(an_alarm_never_rings_early)
{
    AUTO(loop) loop = new_loop(t);
    struct stopper stopper = { .timer.fire = stop_now, .loop = loop };

    for (int delay = -5; delay < 12; delay++) {
        int64_t at = clock_wall_ms(loop_clock(loop)) + delay;

        loop_alarm_start(loop, &stopper.timer, at);
        ASSERT_OK(loop_run(loop, &t->err));
        ASSERT(clock_wall_ms(loop_clock(loop)) >= at);
    }
    ASSERT_EQ(stopper.fired, 17);
}

TEST(an_alarm_that_was_moved_or_stopped_does_not_ring_at_the_old_time)
{
    AUTO(loop) loop = new_loop(t);
    struct stopper end = { .timer.fire = stop_now, .loop = loop };
    struct stopper moved = end, stopped = end;
    int64_t now = clock_wall_ms(loop_clock(loop));

    loop_alarm_start(loop, &moved.timer, now + 5);
    loop_alarm_start(loop, &stopped.timer, now + 5);
    loop_timer_start(loop, &end.timer, 40);
    loop_alarm_start(loop, &moved.timer, now + HOURS(5));
    loop_timer_stop(loop, &stopped.timer);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT(end.fired == 1 && moved.fired == 0 && stopped.fired == 0);
}

/* The clock of a test, stood beside a real loop: an alarm rings by it and not by the system's. */
TEST(alarms_ring_by_the_injected_clock)
{
    struct clock_fake clock;
    AUTO(loop) loop = NULL;
    struct stopper ring, end;

    clock_fake_init(&clock, 5000);
    ASSERT_OK(loop_new(&clock.clock, &loop, &t->err));
    ring = end = (struct stopper){ .timer.fire = stop_now, .loop = loop };
    loop_alarm_start(loop, &ring.timer, 5000);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(ring.fired, 1);
    loop_alarm_start(loop, &ring.timer, 5001);
    loop_timer_start(loop, &end.timer, 0);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT(ring.fired == 1 && end.fired == 1);
}

/* ---- standing still ---- */

struct listener {
    struct loop_timer timer; /* first */
    struct loop *loop;
    uv_poll_t poll;
    int fds[2];
    bool heard, judged_heard;
    struct loop_effect still;
};

static void on_heard(uv_poll_t *poll, int status, int events)
{
    struct listener *listener = poll->data;

    (void)status, (void)events;
    listener->heard = true;
    uv_poll_stop(poll);
}

static void judge(struct loop_timer *timer)
{
    struct listener *listener = (struct listener *)timer;

    listener->judged_heard = listener->heard;
    loop_stop(listener->loop);
}

/* The limit passes and the answer comes while the loop does not run. */
static void stand_still(struct loop_effect *effect)
{
    struct listener *listener =
        (struct listener *)((char *)effect - offsetof(struct listener, still));
    const struct timespec still = { .tv_nsec = 20000000 };

    nanosleep(&still, NULL);
    if (write(listener->fds[1], "x", 1) != 1)
        FAIL("write");
}

static void drop_nothing(struct loop_effect *effect, const struct err *why)
{
    (void)effect, (void)why;
}

static void listen_before_judging(struct test *t, bool alarm)
{
    AUTO(loop) loop = new_loop(t);
    struct listener listener = { .timer.fire = judge,
                                 .loop = loop,
                                 .still = { .run = stand_still, .drop = drop_nothing } };

    ASSERT_OK(pipe2(listener.fds, O_CLOEXEC | O_NONBLOCK));
    ASSERT_OK(uv_poll_init(loop_uv(loop), &listener.poll, listener.fds[0]));
    listener.poll.data = &listener;
    ASSERT_OK(uv_poll_start(&listener.poll, UV_READABLE, on_heard));
    loop_after_commit(loop, &listener.still);
    if (alarm)
        loop_alarm_start(loop, &listener.timer, clock_wall_ms(loop_clock(loop)) + 15);
    else
        loop_timer_start(loop, &listener.timer, 15);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT(listener.judged_heard);
    uv_close((uv_handle_t *)&listener.poll, NULL);
    close(listener.fds[0]);
    close(listener.fds[1]);
}

TEST(what_came_while_the_loop_stood_still_is_read_before_a_timer_fires)
{
    listen_before_judging(t, false);
}

TEST(what_came_while_the_loop_stood_still_is_read_before_an_alarm_rings)
{
    listen_before_judging(t, true);
}

/* ---- somebody sets the clock ----
 *
 * The kernel then makes the timer's descriptor readable and reading it fails with ECANCELED. The
 * machine's clock is not ours to set, so the linker puts these in front of the C library's. */

static int alarm_fd = -1, armed;
static bool clock_was_set;
static struct itimerspec armed_for;

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *old);
ssize_t __real_read(int fd, void *bytes, size_t n);
ssize_t __wrap_read(int fd, void *bytes, size_t n);

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *old)
{
    if (flags != (TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET))
        FAIL("an alarm that nobody would wake when the clock is set");
    alarm_fd = fd;
    armed_for = *at;
    armed++;
    return __real_timerfd_settime(fd, flags, at, old);
}

ssize_t __wrap_read(int fd, void *bytes, size_t n)
{
    ssize_t got = __real_read(fd, bytes, n);

    if (fd != alarm_fd || !clock_was_set)
        return got;
    clock_was_set = false;
    errno = ECANCELED;
    return -1;
}

struct setter {
    struct loop_timer timer; /* first */
    struct clock_fake *clock;
    int64_t wall_ms;
};

static void set_clock(struct loop_timer *timer)
{
    static const struct itimerspec now = { .it_value.tv_nsec = 1 };
    struct setter *setter = (struct setter *)timer;

    clock_set_wall(setter->clock, setter->wall_ms);
    clock_was_set = true;
    __real_timerfd_settime(alarm_fd, 0, &now, NULL);
}

TEST(an_alarm_rings_when_the_clock_is_set_past_it_and_not_when_it_is_set_back)
{
    struct clock_fake clock;
    AUTO(loop) loop = NULL;
    struct stopper ring;
    struct setter setter = { { .fire = set_clock }, &clock, DAYS(100) - HOURS(1) };
    int64_t left_s;

    clock_fake_init(&clock, DAYS(100));
    ASSERT_OK(loop_new(&clock.clock, &loop, &t->err));
    ring = (struct stopper){ .timer.fire = stop_now, .loop = loop };
    loop_alarm_start(loop, &ring.timer, DAYS(100) + HOURS(2));
    loop_stop(loop);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT(armed >= 1 && ring.fired == 0);

    /* Back by an hour: three are left now. */
    loop_timer_start(loop, &setter.timer, 0);
    while (clock_was_set || setter.timer.heap_index)
        ASSERT_OK((loop_stop(loop), loop_run(loop, &t->err)));
    ASSERT_OK((loop_stop(loop), loop_run(loop, &t->err)));
    ASSERT_EQ(ring.fired, 0);
    left_s = armed_for.it_value.tv_sec - clock_wall_ms(clock_system()) / 1000;
    ASSERT(left_s > 3 * 3600 - 60 && left_s <= 3 * 3600 + 1);

    /* Forward, past it. */
    setter.wall_ms = DAYS(100) + HOURS(3);
    loop_timer_start(loop, &setter.timer, 0);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(ring.fired, 1);
}

struct counter {
    struct loop_tick_hook hook; /* first */
    int ticks;
};

static void count_tick(struct loop_tick_hook *hook)
{
    ((struct counter *)hook)->ticks++;
}

TEST(a_loop_with_nothing_to_do_sleeps)
{
    AUTO(loop) loop = new_loop(t);
    struct stopper end = { .timer.fire = stop_now, .loop = loop }, far = end;
    struct counter counter = { { count_tick }, 0 };

    loop_add_tick_hook(loop, &counter.hook);
    loop_timer_start(loop, &end.timer, 300);
    loop_timer_start(loop, &far.timer, HOURS(9));
    loop_alarm_start(loop, &(struct loop_timer){ .fire = stop_now },
                     clock_wall_ms(loop_clock(loop)) + HOURS(9));
    ASSERT_OK(loop_run(loop, &t->err));
    /* A tick to begin with, one for the timer, one or two for the stop. */
    ASSERT(counter.ticks >= 2 && counter.ticks <= 5);
}

static void wake_five_times(struct loop_tick_hook *hook)
{
    struct counter *counter = (struct counter *)hook;

    if (++counter->ticks <= 5)
        loop_wake(((struct stopper *)(counter + 1))->loop);
    else
        loop_stop(((struct stopper *)(counter + 1))->loop);
}

TEST(waking_ticks_again_without_sleeping)
{
    AUTO(loop) loop = new_loop(t);
    struct {
        struct counter counter;
        struct stopper stopper;
    } both = { { { wake_five_times }, 0 }, { .loop = loop } };
    int64_t before = clock_mono_ms(loop_clock(loop));

    loop_add_tick_hook(loop, &both.counter.hook);
    loop_wake(loop);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT(both.counter.ticks >= 6);
    ASSERT(clock_mono_ms(loop_clock(loop)) - before < 2000);
}

/* ---- what wrote decides nothing: everything is committed before the loop sleeps ---- */

struct writer {
    struct loop_effect effect; /* first */
    struct loop_timer timer;
    struct loop *loop;
    struct store_fake *store;
    int row;
};

static void written(struct loop_effect *effect)
{
    struct writer *writer = (struct writer *)effect;

    if (!store_has(writer->store, writer->row))
        FAIL("let out before it was durable");
    loop_stop(writer->loop);
}

static void not_written(struct loop_effect *effect, const struct err *why)
{
    (void)effect;
    FAIL("dropped: %s", err_message(why, 0));
}

static void write_row(struct writer *writer)
{
    struct err err = ERR_INIT;

    if (loop_unit_begin(writer->loop, store_domain(writer->store), &err) < 0)
        FAIL("%s", err_message(&err, 0));
    store_write(writer->store, ++writer->row);
    loop_after_commit(writer->loop, &writer->effect);
    if (loop_unit_end(writer->loop, true, &err) < 0)
        FAIL("%s", err_message(&err, 0));
}

static void write_by_timer(struct loop_timer *timer)
{
    write_row((struct writer *)((char *)timer - offsetof(struct writer, timer)));
}

static void write_by_socket(uv_poll_t *poll, int status, int events)
{
    char byte;

    (void)status, (void)events;
    if (read(*(int *)((struct writer *)poll->data + 1), &byte, 1) == 1)
        write_row(poll->data);
}

static void write_by_pool(uv_work_t *req, int status)
{
    (void)status;
    write_row(req->data);
}

static void do_nothing(uv_work_t *req)
{
    (void)req;
}

TEST(what_timers_sockets_and_pool_results_write_is_committed_at_once)
{
    AUTO(loop) loop = new_loop(t);
    struct store_fake *store = NEW(struct store_fake);
    struct {
        struct writer writer;
        int fds[2];
    } w = { .writer = { .effect = { written, not_written }, .loop = loop, .store = store } };
    uv_poll_t poll = { .data = &w.writer };
    uv_work_t work = { .data = &w.writer };

    loop_attach_store(loop, store_domain(store), &store_fake_ops);
    w.writer.timer.fire = write_by_timer;
    loop_timer_start(loop, &w.writer.timer, 1);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(store->durable_count, 1);

    ASSERT(pipe(w.fds) == 0 && write(w.fds[1], "x", 1) == 1);
    uv_poll_init(loop_uv(loop), &poll, w.fds[0]);
    uv_poll_start(&poll, UV_READABLE, write_by_socket);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(store->durable_count, 2);

    uv_queue_work(loop_uv(loop), &work, do_nothing, write_by_pool);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(store->durable_count, 3);

    uv_close((uv_handle_t *)&poll, NULL);
    loop_free(TAKE(loop));
    free(store);
}

static void write_and_stop(struct loop_timer *timer)
{
    struct writer *writer = (struct writer *)((char *)timer - offsetof(struct writer, timer));

    loop_stop(writer->loop);
    write_row(writer);
}

TEST(stopping_finishes_the_tick_under_way)
{
    AUTO(loop) loop = new_loop(t);
    struct store_fake *store = NEW(struct store_fake);
    struct writer writer = { .effect = { written, not_written }, .loop = loop, .store = store };

    loop_attach_store(loop, store_domain(store), &store_fake_ops);
    writer.timer.fire = write_and_stop;
    loop_timer_start(loop, &writer.timer, 0);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(store->durable_count, 1);
    loop_free(TAKE(loop));
    free(store);
}

TEST(the_loop_can_run_again_after_it_was_stopped)
{
    AUTO(loop) loop = new_loop(t);
    struct stopper stopper = { .timer.fire = stop_now, .loop = loop };

    loop_stop(loop);
    ASSERT_OK(loop_run(loop, &t->err));
    loop_timer_start(loop, &stopper.timer, 2);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(stopper.fired, 1);
}

TEST(a_fake_loop_has_no_libuv)
{
    struct clock_fake clock;
    AUTO(loop) loop = NULL;

    clock_fake_init(&clock, 0);
    loop = loop_new_fake(&clock);
    ASSERT(loop_uv(loop) == NULL);
    ASSERT(loop_clock(loop) == &clock.clock);
    loop_free(NULL);
}

TEST(a_loop_that_cannot_be_made_says_why)
{
    struct rlimit files, none;
    struct loop *loop = NULL;

    getrlimit(RLIMIT_NOFILE, &files);
    none = (struct rlimit){ 0, files.rlim_max };
    setrlimit(RLIMIT_NOFILE, &none);
    ASSERT_FAILS(loop_new(NULL, &loop, &t->err), ERR_INTERNAL);
    setrlimit(RLIMIT_NOFILE, &files);
    ASSERT(loop == NULL);
}
