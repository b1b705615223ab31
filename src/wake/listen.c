/* Hearing of what other processes on the database queue or change.
 *
 * Whoever stores a wake, a batch, an event of a run, a kill switch or a decision about a run that
 * is under way elsewhere tells the others in the same transaction; a connection that does nothing
 * else hears it and is watched by the loop. While there is none (it is made again, with a growing
 * pause, when it ends) all of it is looked at by a timer, as it is from a loop for tests. After
 * every pause everything is looked at once: what was told meanwhile was missed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <uv.h>

#include "base/log.h"
#include "base/timefmt.h"
#include "change/batch.h"
#include "wake/waker_int.h"

#define CONNECT_MS   10000
#define PAUSE_MIN_MS 250
#define PAUSE_MAX_MS 30000

enum {
    TOLD_WAKE = 1 << 0,
    TOLD_BATCH = 1 << 1,
    TOLD_EVENTS = 1 << 2,
    TOLD_KILL = 1 << 3,
    TOLD_INBOX = 1 << 4
};
static const char *const channels[] = { WAKE_CHANNEL, CHANGE_BATCHES_CHANNEL, RUN_EVENTS_CHANNEL,
                                        KILL_CHANNEL, INBOX_CHANNEL };

static struct loop *loop_of(const struct ear *ear)
{
    return ear->waker->config.loop;
}

/* Clients here may follow runs that another process executes. */
static void tell_events(struct ear *ear)
{
    struct waker_listener *listener = ear->waker->listener;

    if (listener && listener->events)
        listener->events(listener);
}

/* The switches first: what is looked at then may be stopped by one, or no longer. */
static void look_at_all(struct ear *ear)
{
    run_kill_elsewhere(ear->waker->config.runner);
    run_decided_elsewhere(ear->waker->config.runner);
    waker_look(ear->waker);
    tell_events(ear);
}

/* ---- without it ---- */

static void poll_later(struct ear *ear)
{
    loop_timer_start(loop_of(ear), &ear->poll_timer, ear->waker->config.poll_ms);
}

static void poll_due(struct loop_timer *timer)
{
    struct ear *ear = CONTAINER_OF(timer, struct ear, poll_timer);

    look_at_all(ear);
    poll_later(ear);
}

/* ---- the descriptor ---- */

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static void unwatch(struct ear *ear)
{
    if (ear->handle)
        uv_close((uv_handle_t *)ear->handle, on_closed);
    ear->handle = NULL;
}

static void on_ready(uv_poll_t *handle, int status, int events);

/* libpq may go on with another descriptor while it connects. */
static void watch(struct ear *ear)
{
    int fd = db_listener_fd(ear->listener);
    int events = (db_listener_reads(ear->listener) ? UV_READABLE : 0) |
                 (db_listener_writes(ear->listener) ? UV_WRITABLE : 0);

    if (ear->handle && ear->fd != fd)
        unwatch(ear);
    if (!ear->handle) {
        ear->handle = NEW(uv_poll_t);
        ear->fd = fd;
        if (uv_poll_init(loop_uv(loop_of(ear)), ear->handle, fd) < 0)
            BUG("uv_poll");
        ear->handle->data = ear;
        uv_unref((uv_handle_t *)ear->handle);
    }
    uv_poll_start(ear->handle, events, on_ready);
}

/* ---- coming and going ---- */

static void lose(struct ear *ear, const struct err *why)
{
    unwatch(ear);
    db_listener_stop(ear->listener);
    if (!ear->deaf)
        LOG_WARN("wake", "what other processes queue is not heard of, it is looked for",
                 LOG_ERR(why), LOG_I64("everyMs", ear->waker->config.poll_ms));
    if (ear->listens)
        poll_later(ear);
    ear->deaf = true;
    ear->listens = false;
    loop_timer_start(loop_of(ear), &ear->timer, ear->pause_ms);
    ear->pause_ms = 2 * ear->pause_ms < PAUSE_MAX_MS ? 2 * ear->pause_ms : PAUSE_MAX_MS;
}

static void begin_to_hear(struct ear *ear)
{
    if (ear->deaf)
        LOG_INFO("wake", "what other processes queue is heard of again");
    ear->deaf = false;
    ear->listens = true;
    ear->pause_ms = PAUSE_MIN_MS;
    loop_timer_stop(loop_of(ear), &ear->timer);
    loop_timer_stop(loop_of(ear), &ear->poll_timer);
    look_at_all(ear);
}

static void on_ready(uv_poll_t *handle, int status, int events)
{
    struct ear *ear = handle->data;
    struct err err = ERR_INIT;
    unsigned told = 0;
    int r;

    (void)status, (void)events; /* what is wrong is what libpq says */
    r = db_listener_step(ear->listener, &told, &err);
    if (r < 0) {
        lose(ear, &err);
        return;
    }
    if (r > 0 && !ear->listens)
        begin_to_hear(ear);
    if (told & TOLD_KILL)
        run_kill_elsewhere(ear->waker->config.runner);
    if (told & TOLD_INBOX)
        run_decided_elsewhere(ear->waker->config.runner);
    if (told & TOLD_BATCH)
        waker_look(ear->waker);
    else if (told & TOLD_WAKE)
        waker_look_queue(ear->waker);
    if (told & TOLD_EVENTS)
        tell_events(ear);
    watch(ear);
}

static void start(struct ear *ear)
{
    struct err err = ERR_INIT;

    if (db_listener_start(ear->listener, &err) < 0) {
        lose(ear, &err);
        return;
    }
    watch(ear);
    loop_timer_start(loop_of(ear), &ear->timer, CONNECT_MS);
}

/* The pause is over; or it took too long to connect. */
static void ear_due(struct loop_timer *timer)
{
    struct ear *ear = CONTAINER_OF(timer, struct ear, timer);
    struct err err = ERR_INIT;
    char span[TIMEFMT_SPAN_SIZE];

    if (!ear->handle) {
        start(ear);
        return;
    }
    err_set(&err, ERR_TIMEOUT, "Postgres did not answer within %s", timefmt_span(CONNECT_MS, span));
    lose(ear, &err);
}

void waker_hear(struct waker *waker)
{
    struct ear *ear = &waker->ear;
    struct journal *journal = waker->config.journal;

    *ear = (struct ear){ .waker = waker, .pause_ms = PAUSE_MIN_MS };
    ear->timer.fire = ear_due;
    ear->poll_timer.fire = poll_due;
    poll_later(ear);
    if (!loop_uv(loop_of(ear)))
        return;
    ear->listener =
        db_listener_new(waker->config.agent_domain, journal ? journal_domain(journal) : NULL,
                        channels, ARRAY_LEN(channels));
    start(ear);
}

void waker_unhear(struct waker *waker)
{
    struct ear *ear = &waker->ear;

    if (!ear->waker)
        return;
    loop_timer_stop(loop_of(ear), &ear->timer);
    loop_timer_stop(loop_of(ear), &ear->poll_timer);
    unwatch(ear);
    db_listener_free(ear->listener);
    ear->listener = NULL;
}
