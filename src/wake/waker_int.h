/* Inside the room: what the files of the waker share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_WAKER_INT_H
#define DORMOUSE_WAKE_WAKER_INT_H

#include "base/uuid.h"
#include "db/listen.h"
#include "wake/claim_int.h"
#include "wake/clockwork.h"
#include "wake/idle.h"
#include "wake/reader.h"
#include "wake/wake.h"
#include "wake/webhook.h"

#define WAKER_EARLIER_MAX 200  /* ended ones looked at for what was missed */
#define WAKER_AGAIN_MS    1000 /* what could not be done is tried again */

/* How it hears of others (listen.c). */
struct ear {
    struct waker *waker; /* NULL: nobody else writes to the database */
    struct db_listener *listener;
    struct uv_poll_s *handle;
    int fd;
    struct loop_timer timer;      /* until it is tried again; or until connecting took too long */
    struct loop_timer poll_timer; /* while it does not listen */
    int64_t pause_ms;
    bool listens, deaf;
};

struct waker {
    struct waker_config config;
    struct uuid_source uuids;
    struct reader *reader;
    struct clockwork *clockwork;
    struct idle *idle;
    struct webhook_gate *gate;
    struct folders *folders;
    struct loop_timer look;  /* something may be due: take() */
    struct loop_timer alarm; /* the next one is due, by the wall clock */
    struct loop_timer timer; /* ... and by as much time as lies between now and then */
    int64_t alarm_at;
    int64_t reached; /* a time that has come although the wall clock was set back; else 0 */
    struct loop_effect noticed;
    struct waker_listener *listener; /* may be NULL */
    bool noticing, stopping;
    /* Where the database is shared. */
    struct loop_timer beat;
    char lease_name[UUID_TEXT_SIZE + 8], lease_holder[UUID_TEXT_SIZE];
    int64_t fence; /* 0: it is not */
    struct ear ear;
};

/* ---- waker.c ---- */
int64_t waker_now(struct waker *waker);
/* Something is due then. */
void waker_wait_until(struct waker *waker, int64_t at);
/* The queue alone. */
void waker_look_queue(struct waker *waker);
/* Inside a unit: waker_look() once it is durable. */
void waker_notice(struct waker *waker);

/* ---- take.c ---- */
/* Takes what is due: ends it, or starts runs. Opens units. */
void waker_take(struct waker *waker);

/* ---- flight.c ---- */
/* The run of this wake, with whatever else its agent has in the queue. Opens units. -1: it could
 * not be now, and stays. */
int waker_fly(struct waker *waker, const struct claim *claim, int64_t now_ms, struct err *err);
/* Of runs: inside the unit in which they end, or begin to wait for a person. */
int waker_landed(void *arg, const struct run_end *end, struct err *err);
int waker_rested(void *arg, const struct run_end *run, struct err *err);

/* ---- listen.c ---- */
/* Where others write to the database. */
void waker_hear(struct waker *waker);
/* Before the loop is freed. */
void waker_unhear(struct waker *waker);

/* ---- share.c ---- */
/* The host's lease, where others write to the database too. Opens a transaction of its own. */
int waker_share(struct waker *waker, struct err *err);
/* Inside a unit, and until its end: 1 this host's lease lasts; always where nobody else writes. */
int waker_holds_lease(const struct waker *waker, struct err *err);
/* In a transaction of its own, or in that which there is: for what is written before the first
 * tick. */
int waker_in_transaction(struct waker *waker, int (*body)(struct waker *waker, struct err *err),
                         struct err *err);
void waker_unshare(struct waker *waker);

#endif
