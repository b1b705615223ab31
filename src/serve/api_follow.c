/* Clients that follow a thread or a run: first from the log, then live.
 *
 * A follower knows the last seq that its client has. It begins with the log: an effect at the end
 * of a tick, when everything written is committed, sends what comes after that seq, a queue's worth
 * at a time, and goes on when the client has taken it. When nothing is left the follower is live
 * and gets events as they are published. That may be in the middle of a tick's effects: events of
 * the same commit that are published after it were in the log already, and are known by their seq.
 * So each recorded event is sent once, in order, with no gap between log and life. Partial events
 * are never in the log and go to live followers only; one that becomes live while a model speaks
 * gets what it has missed of the answer in one piece, so parts have no gap either.
 *
 * Where several processes share the database a run may be executed by another: that it recorded
 * something is told, and a live follower with events in the log that it has not got reads on there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/map.h"
#include "serve/api_follow_int.h"

#define HOLD_MS 500 /* for a client to say where it was */

/* ---- life ---- */

static char *copy(struct str text)
{
    return text.n ? alloc_copy(text.p, text.n) : NULL;
}

struct api_follower *api_follower_new(struct api *api, const struct api_follow *what)
{
    struct api_follower *follower = NEW(struct api_follower);

    *follower = (struct api_follower){
        .api = api,
        .next = api->followers,
        .link = &api->followers,
        .thread_id = copy(what->thread_id),
        .run_id = copy(what->run_id),
        .agent_id = copy(what->agent_id),
        .thread_hash = map_hash(what->thread_id),
        .start = what->after,
        .last = what->after,
        .held = what->held,
    };
    if (follower->next)
        follower->next->link = &follower->next;
    api->followers = follower;
    return follower;
}

void api_follower_destroy(struct api_follower *follower)
{
    free(follower->thread_id);
    free(follower->run_id);
    free(follower->agent_id);
    free(follower);
}

static void follower_free(struct api_follower *follower)
{
    *follower->link = follower->next;
    if (follower->next)
        follower->next->link = follower->link;
    follower->client = NULL;
    loop_timer_stop(follower->api->config.loop, &follower->hold);
    if (!follower->queued)
        api_follower_destroy(follower); /* else the effect does */
}

static void client_gone(void *data)
{
    follower_free(data);
}

struct api *api_follower_api(const struct api_follower *follower)
{
    return follower->api;
}

struct str api_follower_thread(const struct api_follower *follower)
{
    return str_from(follower->thread_id);
}

struct str api_follower_agent(const struct api_follower *follower)
{
    return str_from(follower->agent_id);
}

/* ---- sending ---- */

void api_follower_tell(struct api_follower *follower, const char *type, struct str json)
{
    if (follower->client)
        serve_client_send(follower->client, 0, type, json);
}

/* ---- promises ---- */

struct promise {
    struct loop_effect effect;
    struct api *api;
    struct api_follower *follower; /* compared only: it may be gone */
};

static void promise_kept(struct loop_effect *effect)
{
    free(effect);
}

static void promise_broken(struct loop_effect *effect, const struct err *why)
{
    struct promise *promise = (struct promise *)effect;
    struct api_follower *at = promise->api->followers;

    while (at && at != promise->follower)
        at = at->next;
    if (at)
        api_ws_error(at, why);
    free(promise);
}

void api_follower_promise(struct api_follower *follower)
{
    struct api_config *config = &follower->api->config;
    struct promise *promise;
    struct err err = ERR_INIT;

    if (loop_unit_begin(config->loop, config->agent_domain, &err) < 0) {
        api_ws_error(follower, &err);
        return;
    }
    promise = NEW(struct promise);
    promise->effect = (struct loop_effect){ .run = promise_kept, .drop = promise_broken };
    promise->api = follower->api;
    promise->follower = follower;
    loop_after_commit(config->loop, &promise->effect);
    loop_unit_end(config->loop, true, NULL);
}

/* ---- coming ---- */

static void hold_over(struct loop_timer *timer)
{
    api_follower_go(CONTAINER_OF(timer, struct api_follower, hold));
}

static void joined(struct serve_feed *feed, struct serve_client *client, uint64_t after, void *arg)
{
    struct api_follower *follower = serve_client_data(client);

    (void)feed, (void)arg;
    if (after > 0 && after <= INT64_MAX)
        follower->start = follower->last = (int64_t)after;
    if (!follower->held) {
        api_follower_read(follower);
        return;
    }
    follower->state = FOLLOW_HELD;
    follower->hold.fire = hold_over;
    loop_timer_start(follower->api->config.loop, &follower->hold, HOLD_MS);
}

static void drained(struct serve_feed *feed, struct serve_client *client, void *arg)
{
    struct api_follower *follower = serve_client_data(client);

    (void)feed, (void)arg;
    if (follower->state != FOLLOW_LOG)
        return;
    loop_timer_stop(follower->api->config.loop, &follower->hold);
    api_follower_read(follower);
}

static void message(struct serve_feed *feed, struct serve_client *client, struct str text,
                    void *arg)
{
    (void)feed, (void)arg;
    api_ws_message(serve_client_data(client), text);
}

static const struct serve_feed_ops feed_ops = {
    .joined = joined,
    .message = message,
    .drained = drained,
};

static struct serve_feed *feed_of(struct api *api, struct serve_request *request)
{
    if (!api->feed)
        api->feed = serve_feed_new(serve_request_serve(request), "runs", &feed_ops, api);
    return api->feed;
}

static void give(struct api_follower *follower, struct serve_client *client)
{
    follower->client = client;
    if (client)
        serve_client_set_data(client, follower, client_gone);
    else
        follower_free(follower);
}

void api_follower_open_sse(struct api_follower *follower, struct serve_request *request)
{
    give(follower, serve_feed_open_sse(feed_of(follower->api, request), request));
}

void api_follower_open_ws(struct api_follower *follower, struct serve_request *request)
{
    give(follower, serve_feed_open_ws(feed_of(follower->api, request), request));
}

void api_follower_go(struct api_follower *follower)
{
    loop_timer_stop(follower->api->config.loop, &follower->hold);
    if (follower->state == FOLLOW_HELD)
        api_follower_read(follower);
}

static int check_resume(struct api_follower *follower, int64_t after, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct thread thread = { .n = 0 };

    if (thread_find(follower->api->config.agent_domain, str_from(follower->thread_id), &arena,
                    &thread, err) < 0)
        return -1;
    if (after < 0 || after > thread.last_seq)
        return err_set(err, ERR_BAD_REQUEST,
                       "after is %lld; the events of this thread have seq 1 to %lld",
                       (long long)after, (long long)thread.last_seq);
    return 0;
}

int api_follower_resume(struct api_follower *follower, int64_t after, struct err *err)
{
    if (check_resume(follower, after, err) < 0)
        return -1;
    if (follower->state == FOLLOW_HELD) {
        follower->start = follower->last = after;
        api_follower_go(follower);
        return 0;
    }
    if (after >= follower->start || follower->state == FOLLOW_OVER)
        return 0; /* this connection has them all, or gets them */
    if (follower->seen_to > 0)
        return err_set(err, ERR_CONFLICT, "earlier events are being sent already");
    follower->seen_from = follower->start;
    follower->seen_to = follower->last;
    follower->start = follower->last = after;
    api_follower_read(follower);
    return 0;
}

void api_followers_free(struct api *api)
{
    struct api_follower *next;

    api_followers_look_end(api);
    for (struct api_follower *follower = api->followers; follower; follower = next) {
        next = follower->next;
        if (follower->client)
            serve_client_set_data(follower->client, NULL, NULL);
        follower_free(follower);
    }
    serve_feed_free(TAKE(api->feed));
}
