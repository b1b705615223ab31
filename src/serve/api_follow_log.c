/* What followers read of the log, a queue's worth at a time, until they are live.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/log.h"
#include "serve/api_follow_int.h"

#define PAGE_BYTES (LIMIT_CLIENT_QUEUE_BYTES / 2) /* of the log, unsent */
#define STALL_MS   10000                          /* for a client to take what is queued */

static bool is_done(const struct run_public *event)
{
    return !event->partial && strcmp(event->type, "done") == 0;
}

void api_follower_end(struct api_follower *follower)
{
    follower->state = FOLLOW_OVER;
    serve_client_end(follower->client);
}

int api_follower_send(struct api_follower *follower, const struct run_public *event,
                      struct serve_event *shared)
{
    if (serve_client_send_event(follower->client, shared) < 0)
        return -1;
    follower->last = event->seq;
    if (follower->run_id && is_done(event))
        api_follower_end(follower);
    return 0;
}

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
    page->broken = api_follower_send(follower, event, &shared) < 0;
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

bool api_follower_has_room(const struct api_follower *follower)
{
    return serve_client_backlog(follower->client) <= PAGE_BYTES / 2;
}

void api_follower_catch_up(struct api_follower *follower)
{
    if (api_follower_has_room(follower))
        run_partials(follower->api->config.runner, str_from(follower->thread_id),
                     str_from(follower->run_id), follower->heard, send_part, follower);
}

static bool note_one(void *arg, const struct run_public *event)
{
    (void)event;
    *(bool *)arg = true;
    return false;
}

bool api_follower_lacks(struct api_follower *follower)
{
    struct err err = ERR_INIT;
    bool lacks = false;

    return run_events_after(follower->api->config.runner, str_from(follower->thread_id),
                            str_from(follower->run_id), follower->last, note_one, &lacks,
                            &err) >= 0 &&
           lacks;
}

static void go_live(struct api_follower *follower)
{
    if (follower->seen_to > follower->last)
        follower->last = follower->seen_to;
    follower->seen_from = follower->seen_to = 0;
    follower->state = FOLLOW_LIVE;
    if (!run_is_over(follower))
        api_follower_catch_up(follower);
    else if (api_follower_lacks(
                 follower)) /* another process has ended it since the page was read */
        api_follower_read(follower);
    else
        api_follower_end(follower);
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
        api_follower_end(follower);
    } else if (follower->state == FOLLOW_LOG && page.full) {
        wait_for_client(follower);
    } else if (follower->state == FOLLOW_LOG && !page.broken) {
        go_live(follower);
    }
}

static void on_clean(struct loop_effect *effect)
{
    struct api_follower *follower = CONTAINER_OF(effect, struct api_follower, effect);

    follower->queued = false;
    if (!follower->client)
        api_follower_destroy(follower);
    else if (follower->state != FOLLOW_LOG)
        return;
    /* An effect before this one has begun to write: not for anybody's eyes yet. */
    else if (domain_in_transaction(follower->api->config.agent_domain))
        api_follower_read(follower);
    else
        send_page(follower);
}

static void on_dropped(struct loop_effect *effect, const struct err *why)
{
    struct api_follower *follower = CONTAINER_OF(effect, struct api_follower, effect);

    (void)why;
    follower->queued = false;
    if (!follower->client)
        api_follower_destroy(follower);
}

void api_follower_read(struct api_follower *follower)
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
