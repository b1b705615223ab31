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
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "serve/api_int.h"

#define HOLD_MS    500                            /* for a client to say where it was */
#define PAGE_BYTES (LIMIT_CLIENT_QUEUE_BYTES / 2) /* of the log, unsent */
#define STALL_MS   10000                          /* for a client to take what is queued */
#define LIVE_BIG   (LIMIT_CLIENT_QUEUE_BYTES / 4) /* an event that would not fit a busy queue */

enum follow_state {
    FOLLOW_NEW = 0, /* the head of the answer is not sent yet */
    FOLLOW_HELD,
    FOLLOW_LOG,
    FOLLOW_LIVE,
    FOLLOW_OVER,
};

struct api_follower {
    struct api *api;
    struct api_follower *next, **link;
    struct serve_client *client; /* NULL: gone */
    char *thread_id, *run_id;    /* run_id NULL: all runs of the thread */
    char *agent_id;
    uint64_t thread_hash;
    int64_t start, last;        /* every event in (start, last] was sent */
    int64_t seen_from, seen_to; /* while a resume fills in what came before: sent already */
    struct run_heard heard[2];  /* parts of text and thinking that were sent, or left out */
    enum follow_state state;
    bool held, queued;
    struct loop_effect effect;
    struct loop_timer hold;
};

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

static void destroy(struct api_follower *follower)
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
        destroy(follower); /* else the effect does */
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

static bool is_done(const struct run_public *event)
{
    return !event->partial && strcmp(event->type, "done") == 0;
}

static void end(struct api_follower *follower)
{
    follower->state = FOLLOW_OVER;
    serve_client_end(follower->client);
}

/* A recorded event. */
static int send(struct api_follower *follower, const struct run_public *event,
                struct serve_event *shared)
{
    if (serve_client_send_event(follower->client, shared) < 0)
        return -1;
    follower->last = event->seq;
    if (follower->run_id && is_done(event))
        end(follower);
    return 0;
}

/* ---- the log ---- */

struct page {
    struct api_follower *follower;
    bool full, broken;
};

static bool send_logged(void *arg, const struct run_public *event)
{
    struct page *page = arg;
    struct api_follower *follower = page->follower;
    struct serve_event shared = { .id = (uint64_t)event->seq,
                                  .event = event->type,
                                  .data = event->json };
    size_t backlog = serve_client_backlog(follower->client);

    if (event->seq > follower->seen_from && event->seq <= follower->seen_to) {
        follower->last = event->seq;
        return true;
    }
    if (backlog > 0 && backlog + event->json.n > PAGE_BYTES) {
        page->full = true;
        return false;
    }
    page->broken = send(follower, event, &shared) < 0;
    serve_event_release(&shared);
    return !page->broken && follower->state == FOLLOW_LOG;
}

/* A run that has ended says nothing more. */
static bool run_is_over(struct api_follower *follower)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct run_info info;
    struct err err = ERR_INIT;

    return follower->run_id && (run_get(follower->api->config.runner, str_from(follower->run_id),
                                        &arena, &info, &err) < 0 ||
                                info.ended_at > 0);
}

/* A part that would take too much of the queue is left out: the whole comes when it is complete. */
static void send_part(void *arg, const struct run_public *event)
{
    struct api_follower *follower = arg;
    struct serve_event shared = { .event = event->type, .data = event->json };

    if (event->seq <= follower->last)
        return;
    follower->heard[event->musing] = (struct run_heard){ event->seq, event->until };
    if (event->json.n <= PAGE_BYTES / 2)
        serve_client_send_event(follower->client, &shared);
    serve_event_release(&shared);
}

/* A client that is behind hears more when it has taken what is queued. */
static bool has_room(const struct api_follower *follower)
{
    return serve_client_backlog(follower->client) <= PAGE_BYTES / 2;
}

static void catch_up(struct api_follower *follower)
{
    if (has_room(follower))
        run_partials(follower->api->config.runner, str_from(follower->thread_id),
                     str_from(follower->run_id), follower->heard, send_part, follower);
}

static void go_live(struct api_follower *follower)
{
    if (follower->seen_to > follower->last)
        follower->last = follower->seen_to;
    follower->seen_from = follower->seen_to = 0;
    follower->state = FOLLOW_LIVE;
    if (run_is_over(follower))
        end(follower);
    else
        catch_up(follower);
}

static void stalled(struct loop_timer *timer)
{
    struct api_follower *follower = CONTAINER_OF(timer, struct api_follower, hold);

    serve_client_overflow(follower->client);
}

/* It has a queue full of what it did not take; the log keeps the rest, but not for ever the client.
 */
static void wait_for_client(struct api_follower *follower)
{
    follower->hold.fire = stalled;
    loop_timer_start(follower->api->config.loop, &follower->hold, STALL_MS);
}

static void send_page(struct api_follower *follower)
{
    struct page page = { .follower = follower };
    struct err err = ERR_INIT;
    int r = run_events_after(follower->api->config.runner, str_from(follower->thread_id),
                             str_from(follower->run_id), follower->last, send_logged, &page, &err);

    /* A thread begins with its first run. */
    if (r < 0 && err.code != ERR_NOT_FOUND) {
        LOG_WARN("serve", "a client's events could not be read",
                 LOG_TEXT("thread", follower->thread_id), LOG_ERR(&err));
        end(follower);
    } else if (follower->state == FOLLOW_LOG && page.full) {
        wait_for_client(follower);
    } else if (follower->state == FOLLOW_LOG && !page.broken) {
        go_live(follower);
    }
}

static void read_later(struct api_follower *follower);

static void on_clean(struct loop_effect *effect)
{
    struct api_follower *follower = CONTAINER_OF(effect, struct api_follower, effect);

    follower->queued = false;
    if (!follower->client)
        destroy(follower);
    else if (follower->state != FOLLOW_LOG)
        return;
    /* An effect before this one has begun to write: not for anybody's eyes yet. */
    else if (domain_in_transaction(follower->api->config.agent_domain))
        read_later(follower);
    else
        send_page(follower);
}

static void on_dropped(struct loop_effect *effect, const struct err *why)
{
    struct api_follower *follower = CONTAINER_OF(effect, struct api_follower, effect);

    (void)why;
    follower->queued = false;
    if (!follower->client)
        destroy(follower);
}

static void read_later(struct api_follower *follower)
{
    struct loop *loop = follower->api->config.loop;

    follower->state = FOLLOW_LOG;
    if (follower->queued)
        return;
    follower->queued = true;
    follower->effect = (struct loop_effect){ .run = on_clean, .drop = on_dropped };
    loop_after_commit(loop, &follower->effect);
    loop_wake(loop);
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
        read_later(follower);
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
    read_later(follower);
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
        read_later(follower);
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
    read_later(follower);
    return 0;
}

/* ---- live ---- */

static bool follows(const struct api_follower *follower, const struct run_public *event)
{
    return follower->state == FOLLOW_LIVE && event->seq > follower->last &&
           str_is(event->thread_id, follower->thread_id) &&
           (!follower->run_id || str_is(event->run_id, follower->run_id));
}

static void send_live_part(struct api_follower *follower, const struct run_public *event,
                           struct serve_event *shared)
{
    struct run_heard *heard = &follower->heard[event->musing];

    if (event->offset > (heard->seq == event->seq ? heard->until : 0)) {
        catch_up(follower); /* something before it was left out */
    } else if (has_room(follower)) {
        *heard = (struct run_heard){ event->seq, event->until };
        serve_client_send_event(follower->client, shared);
    }
}

static void send_live(struct api_follower *follower, const struct run_public *event,
                      struct serve_event *shared)
{
    if (event->partial)
        send_live_part(follower, event, shared);
    else if (event->json.n <= LIVE_BIG || serve_client_backlog(follower->client) == 0)
        send(follower, event, shared);
    else /* it comes from the log, when the client has taken what is queued */
        read_later(follower);
}

void api_followers_publish(struct api *api, const struct run_public *event)
{
    struct serve_event shared = { .id = event->partial ? 0 : (uint64_t)event->seq,
                                  .event = event->type,
                                  .data = event->json };
    uint64_t hash = api->followers ? map_hash(event->thread_id) : 0;
    struct api_follower *next;

    for (struct api_follower *follower = api->followers; follower; follower = next) {
        next = follower->next;
        if (follower->thread_hash == hash && follows(follower, event))
            send_live(follower, event, &shared);
    }
    serve_event_release(&shared);
}

void api_followers_free(struct api *api)
{
    struct api_follower *next;

    for (struct api_follower *follower = api->followers; follower; follower = next) {
        next = follower->next;
        if (follower->client)
            serve_client_set_data(follower->client, NULL, NULL);
        follower_free(follower);
    }
    serve_feed_free(TAKE(api->feed));
}
