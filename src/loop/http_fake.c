/* The scripted client.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/http_fake.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "loop/http_int.h"
#include "loop/loop.h"

#define SEEN_MAX 1024

struct fake_client {
    struct http_client client; /* first */
    struct loop *loop;
    struct arena arena; /* what was seen */
    const struct http_fake_answer *answers;
    size_t n_answers, next;
    struct http_fake_seen *seen[SEEN_MAX];
    size_t n_seen;
    struct play *plays;
    unsigned depth;
    bool freed;
};

struct play {
    struct http_exchange exchange; /* first */
    struct play *prev, *next;
    struct http_handler handler;
    void *arg;
    const struct http_fake_answer *answer;
    struct loop_timer timer;
    int64_t started_ms, body_bytes;
    size_t chunk;
    bool head_sent, paused, cancelled;
};

static struct fake_client *client_of(const struct play *play)
{
    return (struct fake_client *)play->exchange.client;
}

static void leave(struct fake_client *fake)
{
    if (--fake->depth > 0 || !fake->freed)
        return;
    arena_release(&fake->arena);
    free(fake);
}

static void finish(struct play *play, enum err_code code, enum http_phase phase)
{
    struct fake_client *fake = client_of(play);
    int64_t took = clock_mono_ms(loop_clock(fake->loop)) - play->started_ms;
    struct http_result result = {
        .phase = code ? phase : HTTP_PHASE_DONE,
        .status = play->head_sent ? play->answer->status : 0,
        .total_ms = took,
        .body_bytes = play->body_bytes,
        .attempts = 1,
    };

    if (code)
        err_set(&result.err, code, "scripted: %s", err_sentence(code));
    loop_timer_stop(fake->loop, &play->timer);
    if (play->prev)
        play->prev->next = play->next;
    else
        fake->plays = play->next;
    if (play->next)
        play->next->prev = play->prev;
    play->handler.on_done(&play->exchange, &result, play->arg);
    free(play);
}

static void send_head(struct play *play)
{
    const struct http_fake_answer *answer = play->answer;
    struct http_head head = { answer->status, answer->fields, answer->n_fields };

    play->head_sent = true;
    if (play->handler.on_headers)
        play->handler.on_headers(&play->exchange, &head, play->arg);
}

static void send_chunk(struct play *play)
{
    struct str chunk = play->answer->chunks[play->chunk++];

    play->body_bytes += (int64_t)chunk.n;
    if (play->handler.on_data &&
        play->handler.on_data(&play->exchange, chunk, play->arg) == HTTP_PAUSE)
        play->paused = true;
}

/* One step of the script a tick. */
static void on_step(struct loop_timer *timer)
{
    struct play *play = (struct play *)(void *)((char *)timer - offsetof(struct play, timer));
    struct fake_client *fake = client_of(play);
    const struct http_fake_answer *answer = play->answer;

    fake->depth++;
    if (play->cancelled) {
        finish(play, ERR_CANCELLED, play->head_sent ? HTTP_PHASE_BODY : HTTP_PHASE_WAIT);
    } else if (!play->head_sent && answer->status) {
        send_head(play);
        loop_timer_start(fake->loop, timer, answer->n_chunks ? answer->chunk_delay_ms : 0);
    } else if (play->head_sent && play->chunk < answer->n_chunks) {
        send_chunk(play);
        if (!play->paused || play->cancelled)
            loop_timer_start(fake->loop, timer,
                             play->chunk < answer->n_chunks ? answer->chunk_delay_ms : 0);
    } else {
        finish(play, answer->fail, answer->phase);
    }
    leave(fake);
}

static struct str read_whole_source(struct fake_client *fake, struct http_source *source)
{
    AUTO_BUF body = BUF_INIT(HTTP_BODY_SENT_MAX);
    char block[4096];
    ssize_t n;

    while ((n = source->read(source, block, sizeof(block), NULL)) > 0)
        buf_add(&body, block, (size_t)n);
    return arena_str(&fake->arena, buf_str(&body));
}

static void note(struct fake_client *fake, const struct http_request *request)
{
    struct http_fake_seen *seen;
    struct http_request copy;

    if (fake->n_seen == SEEN_MAX)
        BUG("more than %d requests of a scripted client", SEEN_MAX);
    http_request_copy(&fake->arena, request, &copy);
    seen = ARENA_NEW(&fake->arena, struct http_fake_seen);
    *seen =
        (struct http_fake_seen){ copy.method, copy.url, copy.headers, copy.n_headers, copy.body };
    if (request->source)
        seen->body = read_whole_source(fake, request->source);
    fake->seen[fake->n_seen++] = seen;
}

static int fake_start(struct http_client *client, const struct http_request *request,
                      const struct http_handler *handler, void *arg,
                      struct http_exchange **ret_exchange, struct err *err)
{
    static const struct http_fake_answer past_end = { .fail = ERR_PROVIDER_FAILED,
                                                      .phase = HTTP_PHASE_CONNECT };
    struct fake_client *fake = (struct fake_client *)client;
    struct play *play = NEW(struct play);

    (void)err;
    note(fake, request);
    play->exchange.client = client;
    play->handler = *handler;
    play->arg = arg;
    play->answer = fake->next < fake->n_answers ? &fake->answers[fake->next++] : &past_end;
    play->timer.fire = on_step;
    play->started_ms = clock_mono_ms(loop_clock(fake->loop));
    play->next = fake->plays;
    if (play->next)
        play->next->prev = play;
    fake->plays = play;
    if (!play->answer->silent)
        loop_timer_start(fake->loop, &play->timer, play->answer->delay_ms);
    *ret_exchange = &play->exchange;
    return 0;
}

static void fake_cancel(struct http_exchange *x)
{
    struct play *play = (struct play *)x;

    play->cancelled = true;
    loop_timer_start(client_of(play)->loop, &play->timer, 0);
}

static void fake_resume(struct http_exchange *x)
{
    struct play *play = (struct play *)x;

    if (!play->paused)
        return;
    play->paused = false;
    loop_timer_start(client_of(play)->loop, &play->timer, 0);
}

static void fake_source_ready(struct http_exchange *x)
{
    (void)x; /* sources are read at once */
}

static void fake_free(struct http_client *client)
{
    struct fake_client *fake = (struct fake_client *)client;

    fake->depth++;
    fake->freed = true;
    for (struct play *first; (first = fake->plays);) {
        finish(first, ERR_CANCELLED, first->head_sent ? HTTP_PHASE_BODY : HTTP_PHASE_WAIT);
        BUG_IF(fake->plays == first);
    }
    leave(fake);
}

static const struct http_ops fake_ops = {
    .start = fake_start,
    .cancel = fake_cancel,
    .resume = fake_resume,
    .source_ready = fake_source_ready,
    .free = fake_free,
};

struct http_client *http_fake_new(struct loop *loop, const struct http_fake_answer *answers,
                                  size_t n)
{
    struct fake_client *fake = NEW(struct fake_client);

    fake->client.ops = &fake_ops;
    fake->loop = loop;
    fake->answers = answers;
    fake->n_answers = n;
    return &fake->client;
}

size_t http_fake_count(const struct http_client *client)
{
    return ((const struct fake_client *)client)->n_seen;
}

const struct http_fake_seen *http_fake_seen(const struct http_client *client, size_t i)
{
    const struct fake_client *fake = (const struct fake_client *)client;

    BUG_IF(i >= fake->n_seen);
    return fake->seen[i];
}
