/* Queues of shared chunks, written with writev().
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/stream_int.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"

#define IOV_BATCH  64
#define READ_BYTES 16384

struct chunk *chunk_new(size_t n)
{
    struct chunk *chunk = alloc_zero(1, sizeof(*chunk) + n);

    chunk->refs = 1;
    chunk->n = n;
    return chunk;
}

struct chunk *chunk_copy(struct str bytes)
{
    struct chunk *chunk = chunk_new(bytes.n);

    if (bytes.n > 0)
        memcpy(chunk->bytes, bytes.p, bytes.n);
    return chunk;
}

struct chunk *chunk_ref(struct chunk *chunk)
{
    chunk->refs++;
    return chunk;
}

void chunk_unref(struct chunk *chunk)
{
    if (chunk && --chunk->refs == 0)
        free(chunk);
}

/* ---- the queue ---- */

static void grow(struct stream *stream)
{
    unsigned room = stream->room ? stream->room * 2 : 4;
    struct chunk **queue = NEW_N(struct chunk *, room);

    for (unsigned i = 0; i < stream->used; i++)
        queue[i] = stream->queue[(stream->head + i) % stream->room];
    free(stream->queue);
    stream->queue = queue;
    stream->head = 0;
    stream->room = room;
}

static void mark_dirty(struct stream *stream)
{
    struct stream_set *set = stream->set;

    if (stream->dirty)
        return;
    stream->dirty = true;
    stream->dirty_next = set->dirty;
    set->dirty = stream;
    set->wake(set->arg);
}

int stream_push(struct stream *stream, struct chunk *chunk)
{
    if (stream->dead || stream->ending)
        return -1;
    if (!stream->over &&
        (stream->used == STREAM_CHUNKS_MAX ||
         (stream->used > 0 && stream->queued + chunk->n > stream->set->queue_max))) {
        stream->over = true;
        stream->set->overflows++;
        stream->ops->overflow(stream);
        return -1;
    }
    if (stream->used == stream->room)
        grow(stream);
    stream->queue[(stream->head + stream->used++) % stream->room] = chunk_ref(chunk);
    stream->queued += chunk->n;
    mark_dirty(stream);
    return 0;
}

static void pop(struct stream *stream)
{
    chunk_unref(stream->queue[stream->head]);
    stream->head = (stream->head + 1) % stream->room;
    stream->used--;
    stream->offset = 0;
}

static void drop_queue(struct stream *stream)
{
    while (stream->used > 0)
        pop(stream);
    free(stream->queue);
    stream->queue = NULL;
    stream->room = 0;
    stream->queued = 0;
}

static void written(struct stream *stream, size_t n)
{
    stream->set->bytes_sent += n;
    stream->queued -= n;
    while (stream->used > 0) {
        size_t left = stream->queue[stream->head]->n - stream->offset;

        if (n < left) {
            stream->offset += n;
            return;
        }
        n -= left;
        pop(stream);
    }
}

static ssize_t write_some(struct stream *stream)
{
    struct iovec iov[IOV_BATCH];
    struct msghdr message = { .msg_iov = iov };

    for (unsigned i = 0; i < stream->used && i < IOV_BATCH; i++) {
        struct chunk *chunk = stream->queue[(stream->head + i) % stream->room];
        size_t skip = i == 0 ? stream->offset : 0;

        iov[message.msg_iovlen++] = (struct iovec){ chunk->bytes + skip, chunk->n - skip };
    }
    if (message.msg_iovlen == 1)
        return send(stream->fd, iov[0].iov_base, iov[0].iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sendmsg(stream->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- polling ---- */

static void on_poll(uv_poll_t *poll, int status, int events);

static void watch(struct stream *stream, int events)
{
    if (stream->dead || stream->polled == events)
        return;
    stream->polled = events;
    uv_poll_start(&stream->poll, events, on_poll);
}

static int base_events(const struct stream *stream)
{
    return UV_DISCONNECT | (stream->ops->input ? UV_READABLE : 0);
}

/* Closing with unread input would reset the connection, and the peer could lose our last words
 * (a WebSocket's close code). So only our side is closed; what still comes is read and dropped
 * until the peer's side closes too, or the owner's deadline ends it. */
static void linger(struct stream *stream)
{
    stream->lingering = true;
    if (shutdown(stream->fd, SHUT_WR) < 0)
        stream_close(stream);
}

static void flush(struct stream *stream)
{
    while (stream->used > 0 && !stream->dead) {
        ssize_t n = write_some(stream);

        if (n >= 0) {
            written(stream, (size_t)n);
        } else if (errno == EAGAIN) {
            watch(stream, base_events(stream) | UV_WRITABLE);
            return;
        } else if (errno != EINTR) {
            stream_close(stream);
            return;
        }
    }
    watch(stream, base_events(stream));
    if (!stream->ending && !stream->dead && stream->ops->drained)
        stream->ops->drained(stream);
    if (!stream->ending || stream->dead || stream->lingering || stream->used > 0)
        return;
    stream->flushed = true;
    if (stream->ops->input && stream->end_ms)
        linger(stream);
    else
        stream_close(stream);
}

static void read_input(struct stream *stream)
{
    char bytes[READ_BYTES];
    ssize_t n = recv(stream->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (n > 0 && !stream->lingering)
        stream->ops->input(stream, str_of(bytes, (size_t)n));
    else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        stream_close(stream);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct stream *stream = poll->data;

    if (status < 0) {
        stream_close(stream);
        return;
    }
    /* What came before the end is read before the end is believed. */
    if (events & UV_READABLE)
        read_input(stream);
    else if (events & UV_DISCONNECT)
        stream_close(stream);
    if ((events & UV_WRITABLE) && !stream->dead)
        mark_dirty(stream);
}

int stream_start(struct stream *stream, struct stream_set *set, const struct stream_ops *ops,
                 int fd)
{
    int status = uv_poll_init(set->uv, &stream->poll, fd);

    if (status < 0)
        return -1;
    stream->ops = ops;
    stream->set = set;
    stream->fd = fd;
    stream->poll.data = stream;
    stream->next = set->first;
    stream->link = &set->first;
    if (set->first)
        set->first->link = &stream->next;
    set->first = stream;
    set->count++;
    set->handles++;
    watch(stream, base_events(stream));
    return 0;
}

void stream_truncate(struct stream *stream)
{
    while (stream->used > (stream->offset > 0 ? 1u : 0u)) {
        struct chunk *last = stream->queue[(stream->head + --stream->used) % stream->room];

        stream->queued -= last->n;
        chunk_unref(last);
    }
}

void stream_finish(struct stream *stream)
{
    if (stream->ending || stream->dead)
        return;
    stream->ending = true;
    mark_dirty(stream);
}

static void on_closed(uv_handle_t *handle)
{
    struct stream *stream = handle->data;

    stream->set->handles--;
    stream->ops->closed(stream);
}

void stream_close(struct stream *stream)
{
    struct stream_set *set = stream->set;

    if (stream->dead)
        return;
    stream->dead = true;
    for (struct stream **at = &set->dirty; stream->dirty && *at; at = &(*at)->dirty_next) {
        if (*at == stream) {
            *at = stream->dirty_next;
            stream->dirty = false;
            break;
        }
    }
    *stream->link = stream->next;
    if (stream->next)
        stream->next->link = stream->link;
    set->count--;
    drop_queue(stream);
    uv_close((uv_handle_t *)&stream->poll, on_closed);
}

void stream_set_flush(struct stream_set *set)
{
    while (set->dirty) {
        struct stream *stream = set->dirty;

        set->dirty = stream->dirty_next;
        stream->dirty = false;
        flush(stream);
    }
}
