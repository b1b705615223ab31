/* Queues of chunks over a socket pair: what is read at the other end is what was queued, however
 * it is cut and however slowly it is read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/stream_int.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/rand.h"
#include "harness/test.h"

struct fixture {
    struct stream stream; /* first */
    struct stream_set set;
    uv_loop_t uv;
    int far; /* the reader's end */
    unsigned wakes, overflows, closed;
    struct buf heard;
};

static void on_wake(void *arg)
{
    ((struct fixture *)arg)->wakes++;
}

static void on_input(struct stream *stream, struct str bytes)
{
    buf_add_str(&((struct fixture *)stream)->heard, bytes);
}

static void on_overflow(struct stream *stream)
{
    ((struct fixture *)stream)->overflows++;
    stream_truncate(stream);
}

static void on_closed(struct stream *stream)
{
    ((struct fixture *)stream)->closed++;
}

static const struct stream_ops talking = { on_input, on_overflow, on_closed };
static const struct stream_ops silent = { NULL, on_overflow, on_closed };

static struct fixture *open_pair(struct test *t, const struct stream_ops *ops, size_t queue_max)
{
    struct fixture *f = ARENA_NEW(&t->arena, struct fixture);
    int pair[2], small = 4096;

    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    f->far = pair[1];
    f->heard = BUF_INIT(1 << 20);
    uv_loop_init(&f->uv);
    f->set = (struct stream_set){ .uv = &f->uv, .queue_max = queue_max, .wake = on_wake, .arg = f };
    ASSERT_EQ(stream_start(&f->stream, &f->set, ops, pair[0]), 0);
    return f;
}

static void turn(struct fixture *f)
{
    uv_run(&f->uv, UV_RUN_NOWAIT);
    stream_set_flush(&f->set);
}

static void close_pair(struct fixture *f)
{
    stream_close(&f->stream);
    uv_run(&f->uv, UV_RUN_DEFAULT);
    ASSERT_EQ(f->closed, 1);
    ASSERT_EQ(f->set.handles, 0);
    ASSERT_EQ(f->set.count, 0);
    ASSERT_EQ(uv_loop_close(&f->uv), 0);
    close(f->stream.fd);
    close(f->far);
    buf_release(&f->heard);
}

static int push(struct fixture *f, struct str bytes)
{
    struct chunk *chunk = chunk_copy(bytes);
    int r = stream_push(&f->stream, chunk);

    chunk_unref(chunk);
    return r;
}

/* Up to n bytes that are there. */
static size_t take(struct fixture *f, struct buf *to, size_t n)
{
    char bytes[70000];
    ssize_t got = read(f->far, bytes, n < sizeof(bytes) ? n : sizeof(bytes));

    if (got <= 0)
        return 0;
    buf_add(to, bytes, (size_t)got);
    return (size_t)got;
}

TEST(stream_delivers_what_was_queued_whatever_the_sizes)
{
    struct fixture *f = open_pair(t, &silent, 1 << 20);
    AUTO_BUF sent = BUF_INIT(8 << 20);
    AUTO_BUF got = BUF_INIT(8 << 20);
    struct rand_fake rand;
    char bytes[20000];

    rand_fake_init(&rand, 7);
    for (int step = 0; step < 3000; step++) {
        size_t n = (size_t)rand_below(&rand.rand, rand_below(&rand.rand, 20) ? 300 : 20000);

        rand_fill(&rand.rand, bytes, n);
        if (f->stream.queued + n < f->set.queue_max && push(f, str_of(bytes, n)) == 0)
            buf_add(&sent, bytes, n);
        if (rand_below(&rand.rand, 3) == 0)
            turn(f);
        if (rand_below(&rand.rand, 4) == 0)
            take(f, &got, (size_t)rand_below(&rand.rand, 30000));
        ASSERT_EQ(f->stream.queued + f->set.bytes_sent, sent.n);
    }
    while (got.n < sent.n) {
        turn(f);
        take(f, &got, 65536);
    }
    ASSERT(str_eq(buf_str(&got), buf_str(&sent)));
    ASSERT_EQ(f->stream.queued, 0);
    ASSERT_EQ(f->overflows, 0);
    close_pair(f);
}

TEST(stream_wakes_its_owner_once_for_many_chunks)
{
    struct fixture *f = open_pair(t, &silent, 1000);
    AUTO_BUF got = BUF_INIT(1000);

    for (int i = 0; i < 100; i++)
        push(f, STR("abc"));
    ASSERT_EQ(f->wakes, 1);
    ASSERT_EQ(take(f, &got, 1000), 0); /* nothing leaves before the flush */
    stream_set_flush(&f->set);
    ASSERT_EQ(take(f, &got, 1000), 300);
    close_pair(f);
}

TEST(stream_cap_holds_to_the_byte_but_for_a_single_chunk)
{
    struct fixture *f = open_pair(t, &silent, 100);
    char big[5000] = { 0 };

    /* One that is larger than the cap goes when nothing else waits, or it could never. */
    ASSERT_EQ(push(f, str_of(big, sizeof(big))), 0);
    ASSERT_EQ(push(f, STR("x")), -1);
    ASSERT_EQ(f->overflows, 1);
    ASSERT_EQ(f->set.overflows, 1);
    ASSERT_EQ(f->stream.used, 0); /* on_overflow() dropped it: nothing of it was written */
    /* Said once; the last word that follows has room whatever its size. */
    ASSERT_EQ(push(f, str_of(big, sizeof(big))), 0);
    ASSERT_EQ(push(f, STR("x")), 0);
    ASSERT_EQ(f->overflows, 1);
    close_pair(f);
    f = open_pair(t, &silent, 100);
    ASSERT_EQ(push(f, str_of(big, 99)), 0);
    ASSERT_EQ(push(f, STR("x")), 0);
    ASSERT_EQ(push(f, STR("y")), -1);
    ASSERT_EQ(f->overflows, 1);
    close_pair(f);
}

TEST(stream_counts_chunks_too)
{
    struct fixture *f = open_pair(t, &silent, SIZE_MAX / 2);

    for (int i = 0; i < STREAM_CHUNKS_MAX; i++)
        ASSERT_EQ(push(f, STR("")), 0);
    ASSERT_EQ(push(f, STR("")), -1);
    ASSERT_EQ(f->overflows, 1);
    close_pair(f);
}

TEST(stream_never_cuts_a_chunk_that_is_partly_written)
{
    struct fixture *f = open_pair(t, &silent, 1 << 20);
    AUTO_BUF got = BUF_INIT(1 << 20);
    char *big = memset(arena_alloc(&t->arena, 500000, 1), 'b', 500000);

    push(f, str_of(big, 500000));
    push(f, STR("second"));
    turn(f);
    ASSERT(f->stream.offset > 0 && f->stream.used == 2);
    stream_truncate(&f->stream);
    ASSERT_EQ(f->stream.used, 1);
    push(f, STR("last word"));
    stream_finish(&f->stream);
    ASSERT_EQ(push(f, STR("too late")), -1);
    while (f->set.count > 0) {
        take(f, &got, 65536);
        turn(f);
    }
    while (take(f, &got, 65536) > 0)
        ;
    ASSERT(f->stream.flushed);
    ASSERT_EQ(got.n, 500000 + strlen("last word"));
    ASSERT_STR(str_skip(buf_str(&got), 500000), "last word");
    close_pair(f);
}

TEST(stream_reads_what_came_before_the_end)
{
    struct fixture *f = open_pair(t, &talking, 1000);

    ASSERT_EQ(write(f->far, "one", 3), 3);
    turn(f);
    ASSERT_STR(buf_str(&f->heard), "one");
    ASSERT_EQ(write(f->far, "two", 3), 3);
    shutdown(f->far, SHUT_WR);
    turn(f);
    ASSERT_STR(buf_str(&f->heard), "onetwo");
    turn(f);
    ASSERT_EQ(f->set.count, 0);
    turn(f);
    ASSERT(!f->stream.flushed);
    close_pair(f);
}

TEST(stream_that_reads_nothing_still_notices_the_end)
{
    struct fixture *f = open_pair(t, &silent, 1000);

    ASSERT_EQ(write(f->far, "ignored", 7), 7);
    turn(f);
    ASSERT_EQ(f->set.count, 1);
    close(f->far);
    f->far = open("/dev/null", O_RDONLY);
    push(f, STR("into the void"));
    turn(f);
    turn(f);
    ASSERT_EQ(f->set.count, 0);
    close_pair(f);
}

TEST(stream_chunks_are_shared_and_freed_with_the_last_queue)
{
    struct fixture *a = open_pair(t, &silent, 1000), *b = open_pair(t, &silent, 1000);
    struct chunk *chunk = chunk_copy(STR("for both"));
    AUTO_BUF got = BUF_INIT(100);

    stream_push(&a->stream, chunk);
    stream_push(&b->stream, chunk);
    ASSERT_EQ(chunk->refs, 3);
    turn(a);
    ASSERT_EQ(chunk->refs, 2);
    stream_close(&b->stream);
    ASSERT_EQ(chunk->refs, 1);
    ASSERT_EQ(stream_push(&b->stream, chunk), -1);
    ASSERT_EQ(chunk->refs, 1);
    chunk_unref(chunk);
    chunk_unref(NULL);
    take(a, &got, 100);
    ASSERT_STR(buf_str(&got), "for both");
    close_pair(a);
    close_pair(b);
}

TEST(stream_closed_while_it_waits_to_be_flushed_is_forgotten)
{
    struct fixture *f = open_pair(t, &silent, 1000);

    push(f, STR("never"));
    ASSERT(f->set.dirty == &f->stream);
    stream_close(&f->stream);
    stream_close(&f->stream);
    ASSERT(f->set.dirty == NULL && f->set.first == NULL);
    stream_finish(&f->stream);
    ASSERT(f->set.dirty == NULL);
    stream_set_flush(&f->set);
    close_pair(f);
}
