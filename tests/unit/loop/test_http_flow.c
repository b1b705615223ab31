/* Bodies in both directions, back-pressure, compression, cancelling and freeing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/resource.h>

#include "base/limits.h"
#include "http_rig.h"

static bool serve_hello(struct peer_conn *conn)
{
    return peer_answer(conn, 200, "", "hello");
}

static bool serve_echo(struct peer_conn *conn)
{
    return peer_answer(conn, 200, "", conn->shared->last_body);
}

/* ---- sources ---- */

struct pattern_source {
    struct http_source source; /* first */
    int64_t at, end, pause_at;
    struct rig *rig;
    struct call *call;
    struct loop_timer timer;
    unsigned waits;
    bool broken;
};

static void pattern_ready(struct loop_timer *timer)
{
    struct pattern_source *p =
        (struct pattern_source *)(void *)((char *)timer - offsetof(struct pattern_source, timer));

    http_source_ready(p->call->x);
}

static ssize_t pattern_read(struct http_source *source, char *out, size_t max, struct err *err)
{
    struct pattern_source *p = (struct pattern_source *)source;
    size_t n = (size_t)(p->end - p->at) < max ? (size_t)(p->end - p->at) : max;

    if (p->broken && p->at > 0)
        return err_set(err, ERR_CONFLICT, "the file changed");
    if (p->pause_at && p->at >= p->pause_at && p->waits == 0) {
        p->waits++;
        p->timer.fire = pattern_ready;
        loop_timer_start(p->rig->loop, &p->timer, 5);
        return HTTP_SOURCE_LATER;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = "0123456789abcdef"[(p->at + (int64_t)i) % 16];
    p->at += (int64_t)n;
    return (ssize_t)n;
}

static int pattern_rewind(struct http_source *source, struct err *err)
{
    (void)err;
    ((struct pattern_source *)source)->at = 0;
    return 0;
}

static void run_source(struct test *t, int64_t size, int64_t end, int64_t pause_at)
{
    struct rig rig;
    struct call call = { 0 };
    struct pattern_source p = { .source = { size, pattern_read, pattern_rewind },
                                .end = end,
                                .pause_at = pause_at,
                                .rig = &rig,
                                .call = &call };

    rig_open(&rig, t, serve_echo, NULL, NULL);
    call_run(
        &call, &rig,
        &(struct http_request){ .method = "POST", .url = rig_url(&rig, "/"), .source = &p.source });
    ASSERT_CALL_OK(&call, 200);
    ASSERT_EQ(rig.peer.shared->body_bytes, end);
    ASSERT_EQ(call.result.sent_bytes, end);
    ASSERT_EQ(p.waits, pause_at ? 1 : 0);
    ASSERT(str_starts(buf_str(&call.body), STR("0123456789abcdef0123")));
    ASSERT_EQ(strstr(rig.peer.shared->last_head, "chunked") != NULL, size < 0);
    call_release(&call);
    rig_close(&rig);
}

TEST(http_sends_a_body_of_known_size_from_a_source)
{
    run_source(t, 3000000, 3000000, 0);
}

TEST(http_sends_a_body_of_unknown_size_in_chunks)
{
    run_source(t, -1, 3000000, 0);
}

TEST(http_waits_for_a_source_that_has_nothing_yet)
{
    run_source(t, -1, 500000, 200000);
    run_source(t, 500000, 500000, 200000);
}

static void run_bad_source(struct test *t, int64_t size, int64_t end, bool broken,
                           enum err_code code, const char *text)
{
    struct rig rig;
    struct call call = { 0 };
    struct pattern_source p = { .source = { size, pattern_read, NULL },
                                .end = end,
                                .broken = broken };

    rig_open(&rig, t, serve_echo, NULL, NULL);
    call_run(
        &call, &rig,
        &(struct http_request){ .method = "POST", .url = rig_url(&rig, "/"), .source = &p.source });
    ASSERT_CALL_FAILED(&call, code, HTTP_PHASE_SEND);
    ASSERT_CONTAINS(call_error(&call), text);
    call_release(&call);
    rig_close(&rig);
}

TEST(http_fails_when_the_source_fails_or_is_short)
{
    run_bad_source(t, 3000000, 3000000, true, ERR_CONFLICT, "the file changed");
    run_bad_source(t, 3000000, 1000000, false, ERR_BAD_REQUEST, "1000000 of 3000000");
}

/* ---- flow ---- */

#define BIG_BYTES (50 * (int64_t)MIB)

static bool serve_big(struct peer_conn *conn)
{
    static char block[65536];

    memset(block, 'x', sizeof(block));
    if (!peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: %lld\r\n\r\n", (long long)BIG_BYTES))
        return false;
    for (int64_t sent = 0; sent < BIG_BYTES; sent += sizeof(block)) {
        if (!peer_send(conn, block, sizeof(block)))
            return false;
        conn->shared->counter++;
    }
    return true;
}

struct slow_reader {
    struct loop_timer timer; /* first */
    struct call *call;
    unsigned pauses;
    bool paused;
};

static void read_on(struct loop_timer *timer)
{
    struct slow_reader *reader = (struct slow_reader *)timer;

    reader->paused = false;
    http_resume(reader->call->x);
}

static enum http_flow pause_now_and_then(struct call *call, struct str chunk)
{
    struct slow_reader *reader = call->arg;

    (void)chunk;
    ASSERT(!reader->paused);
    if (call->chunks % 100 != 0)
        return HTTP_GO;
    reader->pauses++;
    reader->paused = true;
    loop_timer_start(call->rig->loop, &reader->timer, 1);
    return HTTP_PAUSE;
}

TEST(http_streams_50_MB_through_pauses_in_bounded_memory)
{
    struct rig rig;
    struct call call = { .at_data = pause_now_and_then, .body = BUF_INIT(16) };
    struct slow_reader reader = { .timer = { .fire = read_on }, .call = &call };
    struct rusage before, after;

    rig_open(&rig, t, serve_big, NULL, NULL);
    call.arg = &reader;
    getrusage(RUSAGE_SELF, &before);
    call_run(&call, &rig,
             &(struct http_request){ .url = rig_url(&rig, "/"),
                                     .limits = { .max_body_bytes = BIG_BYTES } });
    getrusage(RUSAGE_SELF, &after);
    ASSERT_CALL_OK(&call, 200);
    ASSERT_EQ(call.bytes, BIG_BYTES);
    ASSERT(reader.pauses >= 20);
    ASSERT(after.ru_maxrss - before.ru_maxrss < 16 * 1024); /* KB, with ASan's and libcurl's own */
    call_release(&call);
    rig_close(&rig);
}

static enum http_flow pause_at_once(struct call *call, struct str chunk)
{
    (void)chunk;
    loop_timer_start(call->rig->loop, call->arg, 300);
    return HTTP_PAUSE;
}

static unsigned sent_while_paused, ticks;

static void count_tick(struct loop_tick_hook *hook)
{
    (void)hook;
    ticks++;
}

static void look_and_cancel(struct loop_timer *timer)
{
    struct slow_reader *reader = (struct slow_reader *)timer;

    sent_while_paused = reader->call->rig->peer.shared->counter;
    http_cancel(reader->call->x);
}

TEST(http_a_paused_reader_stops_the_sender)
{
    struct rig rig;
    struct call call = { .at_data = pause_at_once };
    struct slow_reader reader = { .timer = { .fire = look_and_cancel }, .call = &call };
    struct loop_tick_hook hook = { .after_tick = count_tick };

    rig_open(&rig, t, serve_big, NULL, NULL);
    call.arg = &reader;
    loop_add_tick_hook(rig.loop, &hook);
    call_run(&call, &rig,
             &(struct http_request){ .url = rig_url(&rig, "/"),
                                     .limits = { .max_body_bytes = BIG_BYTES } });
    ASSERT_CALL_FAILED(&call, ERR_CANCELLED, HTTP_PHASE_BODY);
    ASSERT_EQ(call.chunks, 1);
    /* No more than what fits into the sockets' buffers. */
    ASSERT(sent_while_paused * 65536ll < BIG_BYTES / 2);
    ASSERT(ticks < 100); /* the socket is readable all the time, and the loop sleeps */
    loop_remove_tick_hook(rig.loop, &hook);
    call_release(&call);
    rig_close(&rig);
}

static bool serve_in_halves(struct peer_conn *conn)
{
    if (strcmp(conn->path, "/whole") == 0)
        return serve_hello(conn);
    if (!peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"))
        return false;
    while (__atomic_load_n(&conn->shared->counter, __ATOMIC_SEQ_CST) == 0)
        peer_nap(1);
    return peer_text(conn, "again");
}

static struct call *paused_call;

/* A few ticks, an hour, a few ticks: whatever could go wrong has. */
static void resume_after_an_hour(struct rig *rig)
{
    static int turns;

    if (rig->bytes != 5 || paused_call->dones)
        return;
    turns++;
    if (turns == 3)
        clock_advance(&rig->clock, HOURS(1));
    if (turns != 6)
        return;
    __atomic_store_n(&rig->peer.shared->counter, 1, __ATOMIC_SEQ_CST);
    http_resume(paused_call->x);
}

static enum http_flow pause_first(struct call *call, struct str chunk)
{
    (void)chunk;
    return call->chunks == 1 ? HTTP_PAUSE : HTTP_GO;
}

static void run_paused(struct test *t, const char *path, struct http_limits limits,
                       const char *body)
{
    struct rig rig;
    struct call call = { .at_data = pause_first };

    paused_call = &call;
    rig_open_still(&rig, t, serve_in_halves, NULL, resume_after_an_hour);
    call_run(&call, &rig, &(struct http_request){ .url = rig_url(&rig, path), .limits = limits });
    ASSERT_CALL_OK(&call, 200);
    ASSERT_STR(buf_str(&call.body), body);
    ASSERT(call.result.total_ms >= HOURS(1));
    call_release(&call);
    rig_close(&rig);
}

TEST(http_a_reader_that_pauses_is_not_a_peer_that_is_silent)
{
    run_paused(t, "/", (struct http_limits){ .idle_ms = 30, .total_ms = HTTP_NEVER }, "helloagain");
}

TEST(http_reports_success_only_after_the_reader_goes_on)
{
    run_paused(t, "/whole", (struct http_limits){ .idle_ms = 30, .total_ms = 60 }, "hello");
}

/* ---- compression ---- */

static bool serve_gzip(struct peer_conn *conn)
{
    struct str packed = *(const struct str *)conn->arg;

    return peer_text(conn,
                     "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                     packed.n) &&
           peer_send(conn, packed.p, packed.n);
}

static struct str gzip_zeros(struct test *t, const char *size)
{
    const char *path = test_path(t, "zeros.gz");
    const char *command =
        arena_printf(&t->arena, "head -c %s /dev/zero | gzip -9 > %s", size, path);

    ASSERT_EQ(system(command), 0);
    return test_read_file(t, path);
}

TEST(http_decompresses_when_asked)
{
    struct str packed = gzip_zeros(t, "100000");
    struct rig rig;
    struct call plain = { 0 }, unpacked = { 0 };

    rig_open(&rig, t, serve_gzip, &packed, NULL);
    call_get(&plain, &rig, "/");
    ASSERT_CALL_OK(&plain, 200);
    ASSERT_EQ(plain.bytes, packed.n);
    call_run(&unpacked, &rig,
             &(struct http_request){ .url = rig_url(&rig, "/"), .decompress = true });
    ASSERT_CALL_OK(&unpacked, 200);
    ASSERT_EQ(unpacked.bytes, 100000);
    ASSERT_CONTAINS(rig.peer.shared->last_head, "Accept-Encoding: gzip, deflate, br\r\n");
    call_release(&plain);
    call_release(&unpacked);
    rig_close(&rig);
}

TEST(http_stops_a_decompression_bomb_at_the_limit)
{
    struct str packed = gzip_zeros(t, "30M");
    struct rig rig;
    struct call call = { 0 };

    ASSERT(packed.n < 100000);
    rig_open(&rig, t, serve_gzip, &packed, NULL);
    call_run(&call, &rig,
             &(struct http_request){ .url = rig_url(&rig, "/"),
                                     .decompress = true,
                                     .limits = { .max_body_bytes = 1000000 } });
    ASSERT_CALL_FAILED(&call, ERR_TOO_LARGE, HTTP_PHASE_BODY);
    ASSERT(call.bytes <= 1000000);
    call_release(&call);
    rig_close(&rig);
}

TEST(http_refuses_a_body_that_is_not_what_its_encoding_says)
{
    struct str packed = STR("this is no gzip at all, whatever the header says");
    struct rig rig;
    struct call call = { 0 };

    rig_open(&rig, t, serve_gzip, &packed, NULL);
    call_run(&call, &rig, &(struct http_request){ .url = rig_url(&rig, "/"), .decompress = true });
    ASSERT_CALL_FAILED(&call, ERR_PROVIDER_FAILED, HTTP_PHASE_BODY);
    call_release(&call);
    rig_close(&rig);
}

/* ---- cancel and free ---- */

static void cancel_self(struct call *call)
{
    http_cancel(call->x);
    http_cancel(call->x);
}

static enum http_flow cancel_in_data(struct call *call, struct str chunk)
{
    (void)chunk;
    http_cancel(call->x);
    return HTTP_GO;
}

TEST(http_cancel_works_from_every_callback_and_ends_once)
{
    struct rig rig;
    struct call at_start = { 0 }, at_head = { .at_headers = cancel_self },
                at_data = { .at_data = cancel_in_data };

    rig_open(&rig, t, serve_big, NULL, NULL);
    call_start(&at_start, &rig, &(struct http_request){ .url = rig_url(&rig, "/") });
    http_cancel(at_start.x);
    ASSERT_EQ(at_start.dones, 0);
    rig_run(&rig);
    ASSERT_EQ(at_start.result.err.code, ERR_CANCELLED);
    ASSERT_EQ(at_start.dones, 1);
    ASSERT_EQ(at_start.heads, 0);
    call_run(&at_head, &rig,
             &(struct http_request){ .url = rig_url(&rig, "/"),
                                     .limits = { .max_body_bytes = BIG_BYTES } });
    ASSERT_CALL_FAILED(&at_head, ERR_CANCELLED, HTTP_PHASE_BODY);
    ASSERT_EQ(at_head.chunks, 0);
    call_run(&at_data, &rig,
             &(struct http_request){ .url = rig_url(&rig, "/"),
                                     .limits = { .max_body_bytes = BIG_BYTES } });
    ASSERT_CALL_FAILED(&at_data, ERR_CANCELLED, HTTP_PHASE_BODY);
    ASSERT_EQ(at_data.chunks, 1);
    call_release(&at_start);
    call_release(&at_head);
    call_release(&at_data);
    rig_close(&rig);
}

static bool serve_stall(struct peer_conn *conn)
{
    if (strcmp(conn->path, "/stall") == 0)
        return peer_stall(conn);
    return serve_hello(conn);
}

static void cancel_other(struct call *call)
{
    struct call *other = call->arg;

    http_cancel(other->x);
}

TEST(http_cancel_of_another_exchange_inside_a_callback)
{
    struct rig rig;
    struct call victim = { 0 }, killer = { .at_headers = cancel_other, .arg = &victim };

    rig_open(&rig, t, serve_stall, NULL, NULL);
    call_start(&victim, &rig, &(struct http_request){ .url = rig_url(&rig, "/stall") });
    call_start(&killer, &rig, &(struct http_request){ .url = rig_url(&rig, "/") });
    rig_run(&rig);
    ASSERT_CALL_OK(&killer, 200);
    ASSERT_EQ(victim.result.err.code, ERR_CANCELLED);
    ASSERT_EQ(victim.dones, 1);
    call_release(&victim);
    call_release(&killer);
    rig_close(&rig);
}

static void start_other(struct call *call)
{
    call_start(call->arg, call->rig, &(struct http_request){ .url = rig_url(call->rig, "/") });
}

static enum http_flow start_other_in_data(struct call *call, struct str chunk)
{
    (void)chunk;
    start_other(call);
    return HTTP_GO;
}

TEST(http_starts_requests_from_inside_callbacks)
{
    struct rig rig;
    struct call calls[4] = { { .at_headers = start_other, .arg = &calls[1] },
                             { .at_data = start_other_in_data, .arg = &calls[2] },
                             { .at_done = start_other, .arg = &calls[3] } };

    rig_open(&rig, t, serve_hello, NULL, NULL);
    call_get(&calls[0], &rig, "/");
    for (size_t i = 0; i < 4; i++) {
        ASSERT_CALL_OK(&calls[i], 200);
        call_release(&calls[i]);
    }
    rig_close(&rig);
}

static void stop_loop(struct call *call)
{
    loop_stop(call->rig->loop);
}

TEST(http_free_ends_every_exchange_exactly_once)
{
    static const struct table_name names[] = { { "slow.test", "127.0.0.1", -1 },
                                               { NULL, NULL, 0 } };
    struct table_resolver table;
    struct rig rig;
    struct call calls[6] = { 0 };
    struct call answered = { .at_done = stop_loop };

    table_resolver_init(&table, names, &rig.loop);
    rig_open(&rig, t, serve_stall, NULL, &(struct http_options){ .resolver = &table.resolver });
    for (size_t i = 0; i < 5; i++)
        call_start(&calls[i], &rig, &(struct http_request){ .url = rig_url(&rig, "/stall") });
    call_start(&calls[5], &rig, &(struct http_request){ .url = "http://slow.test/" });
    call_start(&answered, &rig, &(struct http_request){ .url = rig_url(&rig, "/") });
    ASSERT_OK(loop_run(rig.loop, &t->err)); /* until one was answered: the others are under way */
    ASSERT_CALL_OK(&answered, 200);
    http_client_free(rig.client);
    rig.client = NULL;
    for (size_t i = 0; i < 6; i++) {
        ASSERT_EQ(calls[i].dones, 1);
        ASSERT_EQ(calls[i].result.err.code, ERR_CANCELLED);
        call_release(&calls[i]);
    }
    ASSERT_EQ(table.cancelled, 1);
    call_release(&answered);
    rig_close(&rig);
}

static void free_client(struct call *call)
{
    http_client_free(call->rig->client);
    call->rig->client = NULL;
}

TEST(http_client_may_be_freed_in_on_done)
{
    struct rig rig;
    struct call other = { 0 }, last = { .at_done = free_client };

    rig_open(&rig, t, serve_stall, NULL, NULL);
    call_start(&other, &rig, &(struct http_request){ .url = rig_url(&rig, "/stall") });
    call_start(&last, &rig, &(struct http_request){ .url = rig_url(&rig, "/") });
    rig_run(&rig);
    ASSERT_CALL_OK(&last, 200);
    ASSERT_EQ(other.dones, 1);
    ASSERT_EQ(other.result.err.code, ERR_CANCELLED);
    call_release(&other);
    call_release(&last);
    rig_close(&rig);
}

/* ---- everything at once ---- */

static bool serve_anything(struct peer_conn *conn)
{
    unsigned what = (unsigned)atoi(conn->path + 1) * 2654435761u >> 28;
    static char block[40000];

    memset(block, 'x', sizeof(block));
    switch (what) {
    case 0:
        return peer_reset(conn);
    case 1:
        return false;
    case 2:
        return peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort") && false;
    case 3:
        return peer_stall(conn);
    case 4:
        return peer_text(conn, "garbage\r\n\r\n") && false;
    case 5:
        return peer_answer(conn, 302, "Location: /5\r\n", "");
    case 6:
        return peer_answer(conn, 302, "Location: /1\r\n", "");
    case 7:
    case 8:
        return peer_text(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9c40\r\n") &&
               peer_send(conn, block, sizeof(block)) && peer_text(conn, "\r\n0\r\n\r\n");
    default:
        return peer_answer(conn, 200, "", "fine");
    }
}

struct storm {
    struct loop_timer timer; /* first: whoever was paused goes on */
    struct loop *loop;
    struct call calls[40];
    uint64_t state;
    unsigned started;
};

static unsigned roll(struct storm *storm, unsigned n)
{
    storm->state = storm->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(storm->state >> 33) % n;
}

/* Cancels or resumes somebody, perhaps itself. */
static void stir(struct call *call)
{
    struct storm *storm = call->arg;
    struct call *other = &storm->calls[roll(storm, ARRAY_LEN(storm->calls))];

    if (other->x && roll(storm, 8) == 0)
        http_cancel(other->x);
    for (size_t i = 0; i < ARRAY_LEN(storm->calls); i++)
        if (storm->calls[i].x && roll(storm, 3) == 0)
            http_resume(storm->calls[i].x);
}

static enum http_flow stir_data(struct call *call, struct str chunk)
{
    (void)chunk;
    stir(call);
    return roll(call->arg, 4) == 0 ? HTTP_PAUSE : HTTP_GO;
}

static void resume_all(struct loop_timer *timer)
{
    struct storm *storm = (struct storm *)timer;

    for (size_t i = 0; i < ARRAY_LEN(storm->calls); i++)
        if (storm->calls[i].x)
            http_resume(storm->calls[i].x);
    loop_timer_start(storm->loop, timer, 20);
}

static void start_in_storm(struct storm *storm, struct rig *rig, struct call *call)
{
    *call = (struct call){ .at_headers = stir, .at_data = stir_data, .arg = storm };
    call->body = BUF_INIT(16);
    call_start(call, rig,
               &(struct http_request){
                   .url = rig_url(rig, arena_printf(&rig->t->arena, "/%u", storm->started++)),
                   .max_redirects = 3,
                   .limits = { .first_byte_ms = 200, .total_ms = 3000, .idle_ms = 1000 } });
}

TEST(http_every_exchange_of_a_storm_ends_once)
{
    struct storm *storm = NEW(struct storm);
    struct rig rig;
    unsigned fine = 0, cancelled = 0, failed = 0;

    storm->state = 42;
    rig_open(&rig, t, serve_anything, NULL, NULL);
    storm->loop = rig.loop;
    storm->timer.fire = resume_all;
    loop_timer_start(rig.loop, &storm->timer, 20);
    for (int round = 0; round < 6; round++) {
        for (size_t i = 0; i < ARRAY_LEN(storm->calls); i++)
            start_in_storm(storm, &rig, &storm->calls[i]);
        rig_run(&rig);
        for (size_t i = 0; i < ARRAY_LEN(storm->calls); i++) {
            enum err_code code = storm->calls[i].result.err.code;

            ASSERT_EQ(storm->calls[i].dones, 1);
            fine += code == ERR_NONE;
            cancelled += code == ERR_CANCELLED;
            failed += code == ERR_PROVIDER_FAILED || code == ERR_TIMEOUT;
            call_release(&storm->calls[i]);
        }
    }
    ASSERT_EQ(fine + cancelled + failed, 240);
    ASSERT(fine > 0 && cancelled > 0 && failed > 0);
    loop_timer_stop(rig.loop, &storm->timer);
    rig_close(&rig);
    free(storm);
}
