/* A connection that has become a stream (SSE or WebSocket): its descriptor, what waits to be
 * written, and when it ends.
 *
 * What goes to many clients is encoded once, into a chunk that their queues share. Queues are
 * written by stream_set_flush(), which the server calls after the tick's commit: so no byte can
 * overtake the record it speaks of, and all of a tick's events leave in one writev(). A client
 * that does not keep up gets `overflow` when its queue passes the cap; the log is the buffer that
 * it reads from when it comes back.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_STREAM_INT_H
#define DORMOUSE_SERVE_STREAM_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/str.h"

struct chunk {
    unsigned refs;
    size_t n;
    char bytes[];
};
/* One reference, to be given up with chunk_unref(). */
struct chunk *chunk_new(size_t n);
struct chunk *chunk_copy(struct str bytes);
struct chunk *chunk_ref(struct chunk *chunk);
void chunk_unref(struct chunk *chunk);

struct stream;

struct stream_ops {
    /* Bytes from the client; NULL: they are not wanted and not read. */
    void (*input)(struct stream *stream, struct str bytes);
    /* The queue is past its cap; the new chunk was not taken. Ends the stream in its own way. */
    void (*overflow)(struct stream *stream);
    /* The last call: the poll handle is closed, the descriptor is the owner's again. */
    void (*closed)(struct stream *stream);
    /* All that was queued is written; more may be queued. May be NULL. */
    void (*drained)(struct stream *stream);
};

#define STREAM_CHUNKS_MAX 16384

/* All streams of a server, and those with something to write. */
struct stream_set {
    uv_loop_t *uv;
    struct stream *first, *dirty;
    unsigned count, handles; /* open; not yet closed by libuv */
    size_t queue_max;        /* bytes of one client */
    uint64_t bytes_sent, overflows;
    void (*wake)(void *arg); /* there is something to flush */
    void *arg;
};

struct stream {
    const struct stream_ops *ops;
    struct stream_set *set;
    struct stream *next, **link, *dirty_next;
    uv_poll_t poll;
    int fd, polled;       /* events asked for */
    struct chunk **queue; /* a ring */
    unsigned head, used, room;
    size_t offset, queued;             /* into the first chunk; bytes in all */
    int64_t heard_ms, sent_ms, end_ms; /* for the owner's deadlines; end_ms 0: not ending */
    int64_t patience_ms;               /* how long end_ms may be put off; 0: not at all */
    size_t left;                       /* that the client had not taken when it was */
    bool dirty, ending, over, dead;
    bool flushed;   /* all was written, the end included */
    bool lingering; /* our side is closed, the peer's not yet */
};

/* Begins to watch fd, which stays the owner's. */
int stream_start(struct stream *stream, struct stream_set *set, const struct stream_ops *ops,
                 int fd);
/* Queues another reference to chunk. -1 when the stream is ending or the queue is full. */
int stream_push(struct stream *stream, struct chunk *chunk);
/* Nothing more is queued; closes when all is written (the owner sets a deadline). */
void stream_finish(struct stream *stream);
/* Closes now, dropping what is queued. ops->closed follows in a later iteration. */
void stream_close(struct stream *stream);
/* Drops what is queued behind a chunk that is partly written: room for a last word. */
void stream_truncate(struct stream *stream);
void stream_set_flush(struct stream_set *set);

#endif
