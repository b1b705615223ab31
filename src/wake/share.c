/* Several processes on one database.
 *
 * Each host has a lease, renewed by a timer at a third of its length. Whoever finds that a host
 * with runs under way has let its lease run out breaks it (its number grows) and takes those runs
 * over. A process that stood still for that long finds out when it renews, or at the first unit of
 * any of its runs: it forgets what it has in memory, takes its lease anew and goes on with what is
 * still its own.
 *
 * What others queue it hears of (listen.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/log.h"
#include "wake/lease_int.h"
#include "wake/waker_int.h"

#define HOSTS_MAX 8

static struct domain *domain_of(const struct waker *waker)
{
    return waker->config.agent_domain;
}

static struct str name_of(const struct waker *waker)
{
    return str_from(waker->lease_name);
}

static struct str holder_of(const struct waker *waker)
{
    return str_from(waker->lease_holder);
}

/* A fake loop has a time of its own, and all who share its database go by it. */
static int now_of(const struct waker *waker, int64_t *ret_now, struct err *err)
{
    if (loop_uv(waker->config.loop))
        return lease_now(domain_of(waker), ret_now, err);
    *ret_now = clock_wall_ms(loop_clock(waker->config.loop));
    return 0;
}

/* ---- the beat ---- */

/* 1 kept, 0 it was lost, and is ours anew. */
static int renew(struct waker *waker, int64_t now, struct err *err)
{
    int64_t until = now + waker->config.lease_ms;
    int r =
        lease_renew(domain_of(waker), name_of(waker), holder_of(waker), waker->fence, until, err);

    if (r != 0)
        return r;
    return lease_take(domain_of(waker), name_of(waker), holder_of(waker), until, &waker->fence,
                      err);
}

/* 1 there was one. */
static int take_over(struct waker *waker, int64_t now, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct lease_host *hosts;
    size_t n;

    if (lease_dead_hosts(domain_of(waker), change_host(waker->config.change), now, HOSTS_MAX,
                         &arena, &hosts, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct str name = str_from(arena_printf(&arena, "host:%.*s", STR_ARG(hosts[i].id)));
        int64_t runs;
        int r = lease_break(domain_of(waker), name, now, err);

        if (r < 0)
            return -1;
        if (r == 0)
            continue;
        runs = runner_take_over(waker->config.runner, hosts[i].n, err);
        if (runs < 0)
            return -1;
        LOG_WARN("wake", "a host is gone, its runs go on here", LOG_STR("host", hosts[i].id),
                 LOG_I64("runs", runs));
    }
    return n > 0;
}

/* In one unit: nobody's runs are taken over by a host that has no lease itself. 1 there may be
 * something to take. */
static int beat(struct waker *waker, bool *ret_lost, struct err *err)
{
    int64_t now;
    int r, back;

    if (now_of(waker, &now, err) < 0)
        return -1;
    r = renew(waker, now, err);
    if (r < 0)
        return -1;
    *ret_lost = r == 0;
    if (*ret_lost)
        return 1;
    r = take_over(waker, now, err);
    back = r < 0 ? -1 : claim_unpark_lost(domain_of(waker), err);
    return back < 0 ? -1 : r || back;
}

static void beat_due(struct loop_timer *timer)
{
    struct waker *waker = CONTAINER_OF(timer, struct waker, beat);
    struct loop *loop = waker->config.loop;
    struct err err = ERR_INIT;
    bool lost = false;
    int r = loop_unit_begin(loop, domain_of(waker), &err);

    if (r == 0) {
        r = beat(waker, &lost, &err);
        if (loop_unit_end(loop, r >= 0, r >= 0 ? &err : NULL) < 0)
            r = -1;
    }
    if (r < 0 && loop_is_healthy(loop))
        LOG_WARN("wake", "this host's lease could not be renewed", LOG_ERR(&err));
    if (lost) {
        LOG_WARN("wake", "this host's lease was lost, others went on with its runs");
        runner_set_fence(waker->config.runner, waker->fence);
    }
    if (r != 0)
        waker_look(waker);
    loop_timer_start(loop, timer, waker->config.lease_ms / 3);
}

int waker_holds_lease(const struct waker *waker, struct err *err)
{
    int64_t now;

    if (!waker->fence)
        return 1;
    if (now_of(waker, &now, err) < 0)
        return -1;
    return lease_hold(domain_of(waker), name_of(waker), holder_of(waker), waker->fence, now, err);
}

/* ---- coming and going ---- */

int waker_in_transaction(struct waker *waker, int (*body)(struct waker *waker, struct err *err),
                         struct err *err)
{
    struct domain *domain = domain_of(waker);

    if (domain_in_transaction(domain))
        return body(waker, err);
    if (domain_begin(domain, err) < 0)
        return -1;
    if (body(waker, err) < 0) {
        domain_rollback(domain);
        return -1;
    }
    return domain_commit(domain, err);
}

static int take_lease(struct waker *waker, struct err *err)
{
    int64_t now;

    if (now_of(waker, &now, err) < 0)
        return -1;
    return lease_take(domain_of(waker), name_of(waker), holder_of(waker),
                      now + waker->config.lease_ms, &waker->fence, err);
}

static int give_back(struct waker *waker, struct err *err)
{
    return lease_release(domain_of(waker), name_of(waker), holder_of(waker), waker->fence, err);
}

int waker_share(struct waker *waker, struct err *err)
{
    if (!domain_is_shared(domain_of(waker)))
        return 0;
    snprintf(waker->lease_name, sizeof(waker->lease_name), "host:%s",
             change_host_id(waker->config.change));
    uuid_next_text(&waker->uuids, waker->lease_holder);
    if (waker_in_transaction(waker, take_lease, err) < 0)
        return -1;
    runner_set_fence(waker->config.runner, waker->fence);
    waker->beat.fire = beat_due;
    loop_timer_start(waker->config.loop, &waker->beat, 0);
    return 0;
}

void waker_unshare(struct waker *waker)
{
    struct err err = ERR_INIT;

    if (waker->fence && waker_in_transaction(waker, give_back, &err) < 0)
        LOG_WARN("wake", "this host's lease could not be given back", LOG_ERR(&err));
}
