/* What live followers hear: events as they are published, and that other processes recorded some.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/map.h"
#include "serve/api_follow_int.h"

#define LOOK_MS  20                             /* for what else other processes record */
#define LIVE_BIG (LIMIT_CLIENT_QUEUE_BYTES / 4) /* an event that would not fit a busy queue */

/* ---- events of this process ---- */

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
        api_follower_catch_up(follower); /* something before it was left out */
    } else if (api_follower_has_room(follower)) {
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
        api_follower_send(follower, event, shared);
    else /* it comes from the log, when the client has taken what is queued */
        api_follower_read(follower);
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

/* ---- what other processes recorded ---- */

/* At the end of a tick, when all that can be read is committed. */
struct api_look {
    struct loop_effect effect;
    struct api *api; /* NULL: gone */
};

static void look_soon(struct api *api);

static void on_look(struct loop_effect *effect)
{
    struct api_look *look = (struct api_look *)effect;
    struct api *api = look->api;

    free(look);
    if (!api)
        return;
    api->looking = NULL;
    if (domain_in_transaction(api->config.agent_domain)) {
        look_soon(api);
        return;
    }
    for (struct api_follower *at = api->followers; at; at = at->next) {
        if (at->state == FOLLOW_LIVE && api_follower_lacks(at))
            api_follower_read(at);
    }
}

static void on_no_look(struct loop_effect *effect, const struct err *why)
{
    (void)why;
    on_look(effect); /* reading once too often does no harm */
}

static void look_soon(struct api *api)
{
    if (api->looking)
        return;
    api->looking = NEW(struct api_look);
    api->looking->effect = (struct loop_effect){ .run = on_look, .drop = on_no_look };
    api->looking->api = api;
    loop_after_commit(api->config.loop, &api->looking->effect);
    loop_wake(api->config.loop);
}

static void look_due(struct loop_timer *timer)
{
    look_soon(CONTAINER_OF(timer, struct api, look));
}

/* Events come in flocks, and every follower is a question to the database: the more there are, the
 * longer they wait for those of other processes. */
void api_followers_look(struct api *api)
{
    int64_t delay = LOOK_MS;

    if (!api->followers || api->look.heap_index)
        return;
    for (const struct api_follower *at = api->followers; at; at = at->next)
        delay++;
    api->look.fire = look_due;
    loop_timer_start(api->config.loop, &api->look, delay);
}

void api_followers_look_end(struct api *api)
{
    loop_timer_stop(api->config.loop, &api->look);
    if (api->looking)
        api->looking->api = NULL;
}
