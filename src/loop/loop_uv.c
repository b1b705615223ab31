/* The loop driven by libuv. One iteration is one tick:
 *
 *   prepare   decides about sleeping: while something in our heaps is due, a transaction is open,
 *             effects wait or somebody called loop_wake(), an idle handle makes the poll return
 *             at once. The uv timer and the alarms' descriptor only end a sleep
 *   poll      sockets, children, pool results: they write units and queue effects
 *   check     what was due before the poll fires; the tick ends: commit, effects, hooks
 *
 * So nothing fires before what lay in the sockets when it came due was read. A process that stood
 * still (SIGSTOP, a machine without memory) finds its timers overdue and the answers that they
 * were set for in its sockets: silence is judged after listening. And what timers write is
 * committed with what sockets write: that poll costs a microsecond when the loop must not sleep,
 * and collects more for the same commit.
 *
 * uv timers stand still during a suspend and know nothing of somebody setting the clock, so
 * alarms have a timerfd on CLOCK_REALTIME that is cancelled (becomes readable) in both cases.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include "loop/loop_int.h"

struct loop_uv {
    struct loop loop; /* first */
    uv_loop_t uv;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle;
    uv_timer_t timer;
    int64_t timer_due, alarm_due; /* what the handles are armed for */
    int64_t mono_ms, wall_ms;     /* before the poll: what is due then fires behind it */
    int alarm_fd;                 /* -1 before the first alarm */
    uv_poll_t alarm_poll;
};

static struct loop_uv *uv_of(struct loop *loop)
{
    return (struct loop_uv *)loop;
}

static void on_idle(uv_idle_t *idle)
{
    (void)idle;
}

static void on_timer(uv_timer_t *timer)
{
    struct loop_uv *l = timer->data;

    l->timer_due = TIMERS_NONE;
}

static void arm_timer(struct loop_uv *l)
{
    int64_t due = timers_next(&l->loop.timers), wait;

    /* An injected clock may have been moved: then the distance is another. */
    if (due == l->timer_due && (due == TIMERS_NONE || l->loop.clock == clock_system()))
        return;
    l->timer_due = due;
    if (due == TIMERS_NONE) {
        uv_timer_stop(&l->timer);
        return;
    }
    wait = due - clock_mono_ms(l->loop.clock);
    /* libuv counts from the time it cached when the iteration began. */
    uv_update_time(&l->uv);
    uv_timer_start(&l->timer, on_timer, wait > 0 ? (uint64_t)wait : 0, 0);
}

/* Reading fails with ECANCELED when the clock was set; either way the heap knows what is due. */
static void on_alarm(uv_poll_t *poll, int status, int events)
{
    struct loop_uv *l = poll->data;
    uint64_t times;

    (void)status, (void)events;
    while (read(l->alarm_fd, &times, sizeof(times)) < 0 && errno == EINTR)
        ;
    l->alarm_due = TIMERS_NONE;
}

static void open_alarm(struct loop_uv *l)
{
    l->alarm_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (l->alarm_fd < 0 || uv_poll_init(&l->uv, &l->alarm_poll, l->alarm_fd) < 0 ||
        uv_poll_start(&l->alarm_poll, UV_READABLE, on_alarm) < 0)
        BUG("timerfd: %s", strerror(errno));
    l->alarm_poll.data = l;
}

static void arm_alarm(struct loop_uv *l)
{
    int64_t due = timers_next(&l->loop.alarms), now;
    struct itimerspec at = { 0 };

    if (due == l->alarm_due)
        return;
    if (l->alarm_fd < 0)
        open_alarm(l);
    l->alarm_due = due;
    if (due != TIMERS_NONE) {
        /* An injected clock may differ from the system's: the distance counts. 0 would disarm. */
        now = clock_wall_ms(l->loop.clock);
        if (l->loop.clock != clock_system())
            due = due - now + clock_wall_ms(clock_system());
        at.it_value.tv_sec = due / 1000;
        at.it_value.tv_nsec = due % 1000 * 1000000;
        if (due <= 0)
            at.it_value = (struct timespec){ .tv_nsec = 1 };
    }
    if (timerfd_settime(l->alarm_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL) < 0 &&
        errno != ECANCELED)
        BUG("timerfd_settime: %s", strerror(errno));
}

/* Starting and stopping timers only moves them in the heap; what comes first is looked at here,
 * once an iteration. */
static void on_prepare(uv_prepare_t *prepare)
{
    struct loop_uv *l = prepare->data;

    l->mono_ms = clock_mono_ms(l->loop.clock);
    l->wall_ms = clock_wall_ms(l->loop.clock);
    arm_timer(l);
    arm_alarm(l);
    if (loop_pending(&l->loop) || timers_next(&l->loop.timers) <= l->mono_ms ||
        timers_next(&l->loop.alarms) <= l->wall_ms)
        uv_idle_start(&l->idle, on_idle);
    else
        uv_idle_stop(&l->idle);
}

static void on_check(uv_check_t *check)
{
    struct loop_uv *l = check->data;

    timers_fire(&l->loop.timers, l->mono_ms);
    timers_fire(&l->loop.alarms, l->wall_ms);
    loop_end_tick(&l->loop);
    if (loop_finished(&l->loop))
        uv_stop(&l->uv);
}

static int uv_loop_run(struct loop *loop, struct err *err)
{
    uv_run(&uv_of(loop)->uv, UV_RUN_DEFAULT);
    loop->stopping = false;
    loop->last_ticks = 0;
    return loop_result(loop, err);
}

static struct uv_loop_s *uv_loop_uv(struct loop *loop)
{
    return &uv_of(loop)->uv;
}

static void uv_loop_free(struct loop *loop)
{
    struct loop_uv *l = uv_of(loop);

    BUG_IF(loop->work_running || loop->children);
    loop_release(loop);
    uv_close((uv_handle_t *)&l->prepare, NULL);
    uv_close((uv_handle_t *)&l->check, NULL);
    uv_close((uv_handle_t *)&l->idle, NULL);
    uv_close((uv_handle_t *)&l->timer, NULL);
    if (l->alarm_fd >= 0)
        uv_close((uv_handle_t *)&l->alarm_poll, NULL);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    if (l->alarm_fd >= 0)
        close(l->alarm_fd);
    if (uv_loop_close(&l->uv) < 0)
        BUG("a handle of the loop was not closed");
    free(l);
}

/* ---- pool ---- */

struct uv_job {
    uv_work_t req;
    struct loop_work_job *job;
};

static void in_pool(uv_work_t *req)
{
    loop_work_run(((struct uv_job *)req)->job);
}

static void back_from_pool(uv_work_t *req, int status)
{
    struct loop_work_job *job = ((struct uv_job *)req)->job;

    (void)status;
    free(req);
    loop_work_finished(job);
}

static void uv_loop_submit(struct loop *loop, struct loop_work_job *job)
{
    struct uv_job *uv_job = NEW(struct uv_job);

    uv_job->job = job;
    uv_queue_work(&uv_of(loop)->uv, &uv_job->req, in_pool, back_from_pool);
}

static const struct loop_ops uv_ops = {
    .run = uv_loop_run,
    .free = uv_loop_free,
    .uv = uv_loop_uv,
    .submit = uv_loop_submit,
};

int loop_new(struct clock *clock, struct loop **ret_loop, struct err *err)
{
    struct loop_uv *l = NEW(struct loop_uv);
    int status = uv_loop_init(&l->uv);

    /* A peer or child that no longer listens is an error of the write, not the end of us. */
    signal(SIGPIPE, SIG_IGN);

    if (status < 0) {
        free(l);
        return err_set(err, ERR_INTERNAL, "start the event loop: %s", uv_strerror(status));
    }
    loop_init(&l->loop, &uv_ops, clock ? clock : clock_system());
    l->alarm_fd = -1;
    l->timer_due = l->alarm_due = TIMERS_NONE;
    l->prepare.data = l->check.data = l->timer.data = l;
    uv_prepare_init(&l->uv, &l->prepare);
    uv_check_init(&l->uv, &l->check);
    uv_idle_init(&l->uv, &l->idle);
    uv_timer_init(&l->uv, &l->timer);
    uv_prepare_start(&l->prepare, on_prepare);
    uv_check_start(&l->check, on_check);
    *ret_loop = &l->loop;
    return 0;
}
