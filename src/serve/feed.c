/* Feeds: who reads them, and what is sent to all of them at once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/feed.h"

#include <stdlib.h>

#include "serve/client_int.h"
#include "serve/serve_int.h"
#include "serve/sse_int.h"
#include "serve/ws_int.h"

#define ENCODED_EXTRA 4096 /* around the data of an event */

void feed_leave(struct serve_client *client)
{
    struct serve_feed *feed = client->feed;

    if (!feed)
        return;
    client->feed = NULL;
    *client->feed_link = client->feed_next;
    if (client->feed_next)
        client->feed_next->feed_link = client->feed_link;
    feed->count--;
    if (feed->ops && feed->ops->left)
        feed->ops->left(feed, client, feed->arg);
}

/* It may have ended between the request and now. */
static bool feed_lives(const struct serve *serve, const struct serve_feed *feed)
{
    const struct serve_feed *at = serve->feeds;

    while (at && at != feed)
        at = at->next;
    return at != NULL;
}

void feed_join(struct serve_client *client, struct serve_feed *feed, uint64_t after)
{
    if (!feed_lives(client->serve, feed)) {
        client_say_goodbye(client, "this feed has ended");
        return;
    }
    client->feed = feed;
    client->feed_next = feed->first;
    client->feed_link = &feed->first;
    if (feed->first)
        feed->first->feed_link = &client->feed_next;
    feed->first = client;
    feed->count++;
    if (feed->ops && feed->ops->joined)
        feed->ops->joined(feed, client, after, feed->arg);
}

struct serve_feed *serve_feed_new(struct serve *serve, const char *name,
                                  const struct serve_feed_ops *ops, void *arg)
{
    struct serve_feed *feed = NEW(struct serve_feed);

    feed->serve = serve;
    feed->name = name;
    feed->ops = ops;
    feed->arg = arg;
    feed->next = serve->feeds;
    serve->feeds = feed;
    return feed;
}

void serve_feed_free(struct serve_feed *feed)
{
    if (!feed)
        return;
    feed->ops = NULL;
    while (feed->first) {
        struct serve_client *client = feed->first;

        feed_leave(client);
        client_say_goodbye(client, "this feed has ended");
    }
    for (struct serve_feed **at = &feed->serve->feeds; *at; at = &(*at)->next) {
        if (*at == feed) {
            *at = feed->next;
            break;
        }
    }
    free(feed);
}

unsigned serve_feed_clients(const struct serve_feed *feed)
{
    return feed->count;
}

size_t serve_feed_backlog(const struct serve_feed *feed)
{
    size_t most = 0;

    for (const struct serve_client *client = feed->first; client; client = client->feed_next)
        if (client->stream.queued > most)
            most = client->stream.queued;
    return most;
}

/* How a client reads an event. */
enum form { FORM_SSE = 0, FORM_SSE_CHUNKED, FORM_WS, FORM_COUNT };

_Static_assert(FORM_COUNT == ARRAY_LEN(((struct serve_event *)0)->encoded), "one for each form");

static struct chunk *encode(enum form form, uint64_t id, const char *event, struct str data)
{
    AUTO_BUF text = BUF_INIT(2 * data.n + ENCODED_EXTRA);
    AUTO_BUF wire = BUF_INIT(2 * data.n + 2 * ENCODED_EXTRA);

    if (form == FORM_WS) {
        ws_frame(&wire, true, data);
    } else {
        sse_event(&text, id, event, data);
        sse_wire(&wire, buf_str(&text), form == FORM_SSE_CHUNKED);
    }
    return chunk_copy(buf_str(&wire));
}

static enum form form_of(const struct serve_client *client)
{
    return client->kind == CLIENT_WS ? FORM_WS : client->chunked ? FORM_SSE_CHUNKED : FORM_SSE;
}

static int send_chunk(struct serve_client *client, struct chunk *chunk)
{
    if (client->kind == CLIENT_WS && ws_close_sent(client->ws))
        return -1;
    return stream_push(&client->stream, chunk);
}

int serve_client_send_event(struct serve_client *client, struct serve_event *event)
{
    enum form form = form_of(client);

    if (!event->encoded[form])
        event->encoded[form] = encode(form, event->id, event->event, event->data);
    return send_chunk(client, event->encoded[form]);
}

void serve_event_release(struct serve_event *event)
{
    for (size_t i = 0; i < ARRAY_LEN(event->encoded); i++)
        chunk_unref(TAKE(event->encoded[i]));
}

void serve_feed_publish(struct serve_feed *feed, uint64_t id, const char *event, struct str data)
{
    struct serve_event shared = { .id = id, .event = event, .data = data };
    struct serve_client *next;

    feed->published++;
    for (struct serve_client *client = feed->first; client; client = next) {
        next = client->feed_next;
        serve_client_send_event(client, &shared);
    }
    serve_event_release(&shared);
}

int serve_client_send(struct serve_client *client, uint64_t id, const char *event, struct str data)
{
    struct serve_event alone = { .id = id, .event = event, .data = data };
    int r = serve_client_send_event(client, &alone);

    serve_event_release(&alone);
    return r;
}

void feed_drained(struct stream *stream)
{
    struct serve_client *client = client_of(stream);
    struct serve_feed *feed = client->feed;

    if (feed && feed->ops && feed->ops->drained)
        feed->ops->drained(feed, client, feed->arg);
}

void serve_client_overflow(struct serve_client *client)
{
    struct stream *stream = &client->stream;

    if (stream->over || stream->dead || stream->ending)
        return;
    stream->over = true;
    stream->set->overflows++;
    stream->ops->overflow(stream);
}
