/* The HTTP client against a well-behaved peer: what goes out, what comes back, flow, the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "http_rig.h"

static bool serve_hello(struct peer_conn *conn)
{
    return peer_answer(conn, 200, "X-Greeting:  hi there \r\nX-Empty:\r\n", "hello");
}

TEST(http_gets_head_and_body)
{
    struct rig rig;
    struct call call = { 0 };

    rig_open(&rig, t, serve_hello, NULL, NULL);
    call_get(&call, &rig, "/a?b=c");
    ASSERT_CALL_OK(&call, 200);
    ASSERT_EQ(call.heads, 1);
    ASSERT_STR(buf_str(&call.body), "hello");
    ASSERT_CONTAINS(call.text, "X-Greeting: hi there\n");
    ASSERT_CONTAINS(call.text, "X-Empty: \n");
    ASSERT_CONTAINS(rig.peer.shared->last_head, "GET /a?b=c HTTP/1.1\r\n");
    ASSERT_CONTAINS(rig.peer.shared->last_head, "User-Agent: dormouse\r\n");
    ASSERT_EQ(call.result.body_bytes, 5);
    ASSERT(call.result.header_bytes > 40);
    ASSERT(call.result.resolve_ms >= 0 && call.result.connect_ms >= call.result.resolve_ms);
    ASSERT(call.result.first_byte_ms >= call.result.connect_ms);
    ASSERT(call.result.total_ms >= call.result.first_byte_ms);
    ASSERT_EQ(call.result.phase, HTTP_PHASE_DONE);
    ASSERT_EQ(call.result.attempts, 1);
    call_release(&call);
    rig_close(&rig);
}

static bool serve_echo(struct peer_conn *conn)
{
    return peer_answer(conn, 200, "", conn->shared->last_body);
}

TEST(http_sends_method_headers_and_body)
{
    static const struct http_header headers[] = {
        { .name = { "Content-Type", 12 }, .value = { "application/json", 16 } },
        { .name = { "X-Empty", 7 }, .value = { "", 0 } },
    };
    struct rig rig;
    struct call call = { 0 };

    rig_open(&rig, t, serve_echo, NULL, NULL);
    call_run(&call, &rig,
             &(struct http_request){ .method = "PATCH",
                                     .url = rig_url(&rig, "/"),
                                     .headers = headers,
                                     .n_headers = 2,
                                     .body = STR("{\"a\":1}"),
                                     .user_agent = "tester/1" });
    ASSERT_CALL_OK(&call, 200);
    ASSERT_STR(buf_str(&call.body), "{\"a\":1}");
    ASSERT_EQ(call.result.sent_bytes, 7);
    ASSERT_CONTAINS(rig.peer.shared->last_head, "PATCH / HTTP/1.1\r\n");
    ASSERT_CONTAINS(rig.peer.shared->last_head, "Content-Length: 7\r\n");
    ASSERT_CONTAINS(rig.peer.shared->last_head, "Content-Type: application/json\r\n");
    ASSERT_CONTAINS(rig.peer.shared->last_head, "X-Empty:\r\n");
    ASSERT_CONTAINS(rig.peer.shared->last_head, "User-Agent: tester/1\r\n");
    ASSERT(!strstr(rig.peer.shared->last_head, "Expect"));
    ASSERT(!strstr(rig.peer.shared->last_head, "Accept-Encoding"));
    call_release(&call);
    rig_close(&rig);
}

TEST(http_sends_every_method_with_the_right_framing)
{
    static const struct {
        const char *method, *length;
    } cases[] = { { "GET", NULL }, { "DELETE", NULL }, { "OPTIONS", NULL }, { "POST", "0" },
                  { "PUT", "0" },  { "PATCH", "0" },   { "PROPFIND", NULL } };
    struct rig rig;

    rig_open(&rig, t, serve_hello, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct call call = { 0 };
        struct peer_conn conn = { 0 };
        char value[32];
        const char *length;

        call_run(&call, &rig,
                 &(struct http_request){ .method = cases[i].method, .url = rig_url(&rig, "/") });
        ASSERT_CALL_OK(&call, 200);
        memcpy(conn.head, rig.peer.shared->last_head, sizeof(conn.head));
        ASSERT(str_starts(str_from(conn.head), str_from(cases[i].method)));
        length = peer_header(&conn, "Content-Length", value, sizeof(value));
        if (cases[i].length)
            ASSERT_TEXT(length, cases[i].length);
        else
            ASSERT(!length);
        ASSERT(!peer_header(&conn, "Content-Type", value, sizeof(value)));
        call_release(&call);
    }
    rig_close(&rig);
}

static bool serve_head(struct peer_conn *conn)
{
    return peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n");
}

TEST(http_head_has_no_body_whatever_its_length_says)
{
    struct rig rig;
    struct call call = { 0 };

    rig_open(&rig, t, serve_head, NULL, NULL);
    call_run(&call, &rig, &(struct http_request){ .method = "HEAD", .url = rig_url(&rig, "/") });
    ASSERT_CALL_OK(&call, 200);
    ASSERT_EQ(call.bytes, 0);
    call_release(&call);
    rig_close(&rig);
}

static bool serve_statuses(struct peer_conn *conn)
{
    return peer_answer(conn, atoi(conn->path + 1), "", "x");
}

TEST(http_any_status_is_an_answer)
{
    static const char *const paths[] = { "/200", "/204", "/301", "/404", "/429", "/500", "/599" };
    struct rig rig;

    rig_open(&rig, t, serve_statuses, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct call call = { 0 };

        call_get(&call, &rig, paths[i]);
        ASSERT_CALL_OK(&call, atoi(paths[i] + 1));
        ASSERT_EQ(call.status, atoi(paths[i] + 1));
        call_release(&call);
    }
    rig_close(&rig);
}

static bool serve_interim(struct peer_conn *conn)
{
    return peer_text(conn, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n"
                           "\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Folded: a\r\n"
                           " b\r\nTrailer: X-Late\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n"
                           "X-Late: 1\r\n\r\n");
}

TEST(http_reads_interim_heads_folds_chunks_and_trailers)
{
    struct rig rig;
    struct call call = { 0 };

    rig_open(&rig, t, serve_interim, NULL, NULL);
    call_get(&call, &rig, "/");
    ASSERT_CALL_OK(&call, 200);
    ASSERT_EQ(call.heads, 1);
    ASSERT_CONTAINS(call.text, "X-Folded: a b\n");
    ASSERT(!strstr(call.text, "X-Early"));
    ASSERT(!strstr(call.text, "X-Late:"));
    ASSERT_STR(buf_str(&call.body), "abcde");
    call_release(&call);
    rig_close(&rig);
}

TEST(http_keeps_connections_for_the_next_request)
{
    struct rig rig;
    struct call calls[5] = { 0 };

    rig_open(&rig, t, serve_hello, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        call_get(&calls[i], &rig, "/");
        ASSERT_CALL_OK(&calls[i], 200);
        ASSERT_EQ(calls[i].result.reused, i > 0);
        call_release(&calls[i]);
    }
    ASSERT_EQ(rig.peer.shared->connections, 1);
    ASSERT_EQ(rig.peer.shared->requests, 5);
    rig_close(&rig);
}

static int count_sockets(void)
{
    int n = 0;

    for (int fd = 3; fd < 256; fd++) {
        char path[64], target[64];
        ssize_t length;

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        length = readlink(path, target, sizeof(target) - 1);
        n += length > 7 && memcmp(target, "socket:", 7) == 0;
    }
    return n;
}

/* Answers when all have asked, so that none can use another's connection. */
static bool serve_together(struct peer_conn *conn)
{
    while (strcmp(conn->path, "/together") == 0 &&
           __atomic_load_n(&conn->shared->requests, __ATOMIC_SEQ_CST) < 9)
        peer_nap(1);
    return serve_hello(conn);
}

TEST(http_keeps_no_more_connections_than_allowed)
{
    struct rig rig;
    struct call calls[8] = { 0 }, first = { 0 };
    int before;

    rig_open(&rig, t, serve_together, NULL, &(struct http_options){ .max_kept = 2 });
    call_get(&first, &rig, "/");
    before = count_sockets(); /* one connection, and what libcurl has for itself */
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        call_start(&calls[i], &rig, &(struct http_request){ .url = rig_url(&rig, "/together") });
    rig_run(&rig);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        ASSERT_CALL_OK(&calls[i], 200);
        call_release(&calls[i]);
    }
    ASSERT_EQ(rig.peer.shared->connections, 8);
    ASSERT(count_sockets() - before <= 1);
    call_release(&first);
    rig_close(&rig);
    ASSERT_EQ(count_sockets(), 0);
}

/* Closes after the first answer, without saying so. */
static bool serve_once(struct peer_conn *conn)
{
    serve_echo(conn);
    return false;
}

TEST(http_sends_again_when_a_kept_connection_was_dead)
{
    struct rig rig;

    rig_open(&rig, t, serve_once, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        struct call call = { 0 };

        call_run(&call, &rig,
                 &(struct http_request){
                     .method = "PUT", .url = rig_url(&rig, "/"), .body = STR("again") });
        ASSERT_CALL_OK(&call, 200);
        ASSERT_STR(buf_str(&call.body), "again");
        call_release(&call);
    }
    rig_close(&rig);
}

/* A connection's second request is read and then hung up on. */
static bool serve_then_hang_up(struct peer_conn *conn)
{
    return conn->nth == 1 && serve_echo(conn);
}

static ssize_t word_read(struct http_source *source, char *out, size_t max, struct err *err)
{
    (void)err;
    if (source->size != 4 || max < 4)
        FAIL("no room");
    memcpy(out, "word", 4);
    return 4;
}

static int word_rewind(struct http_source *source, struct err *err)
{
    (void)source, (void)err;
    return 0;
}

TEST(http_repeats_by_itself_only_what_may_be_sent_twice)
{
    struct http_source can = { 4, word_read, word_rewind }, can_not = { 4, word_read, NULL };
    const struct {
        struct http_request request;
        bool works;
        unsigned requests; /* that the peer saw, with the first */
    } cases[] = {
        { { .method = "GET" }, true, 3 },
        { { .method = "PUT", .body = STR("x") }, true, 3 },
        { { .method = "PUT", .source = &can }, true, 3 },
        { { .method = "PUT", .source = &can_not }, false, 2 },
        { { .method = "POST", .body = STR("x") }, false, 2 },
        { { .method = "POST", .body = STR("x"), .safe = true }, true, 3 },
        { { .method = "POST" }, true, 2 }, /* over a connection of its own */
        { { .method = "POST", .safe = true }, true, 3 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_request request = cases[i].request;
        struct rig rig;
        struct call first = { 0 }, call = { 0 };

        rig_open(&rig, t, serve_then_hang_up, NULL, NULL);
        call_get(&first, &rig, "/");
        request.url = rig_url(&rig, "/");
        call_run(&call, &rig, &request);
        if ((call.result.err.code == ERR_NONE) != cases[i].works ||
            rig.peer.shared->requests != cases[i].requests)
            FAIL("case %zu: %u requests, %s", i, rig.peer.shared->requests, call_error(&call));
        if (!cases[i].works)
            ASSERT_CALL_FAILED(&call, ERR_PROVIDER_FAILED, HTTP_PHASE_WAIT);
        call_release(&first);
        call_release(&call);
        rig_close(&rig);
    }
}

/* Inside on_headers every descriptor of the process must be close-on-exec. */
static void check_cloexec(struct call *call)
{
    int checked = 0;

    (void)call;
    for (int fd = 3; fd < 256; fd++) {
        char path[64], target[64];
        ssize_t length;

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        length = readlink(path, target, sizeof(target) - 1);
        if (length <= 7 || memcmp(target, "socket:", 7) != 0)
            continue;
        ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        checked++;
    }
    ASSERT(checked > 0);
}

TEST(http_sockets_do_not_leak_into_children)
{
    struct rig rig;
    struct call call = { .at_headers = check_cloexec };

    rig_open(&rig, t, serve_hello, NULL, NULL);
    call_get(&call, &rig, "/");
    ASSERT_CALL_OK(&call, 200);
    call_release(&call);
    rig_close(&rig);
}

static void never_done(struct http_exchange *x, const struct http_result *result, void *arg)
{
    (void)x, (void)result, (void)arg;
    FAIL("a request that was not started has ended");
}

TEST(http_refuses_requests_past_its_limit)
{
    static const struct http_handler handler = { .on_done = never_done };
    struct rig rig;
    struct call calls[2] = { 0 };
    struct http_exchange *x;

    rig_open(&rig, t, serve_hello, NULL, &(struct http_options){ .max_active = 2 });
    for (size_t i = 0; i < 2; i++)
        call_start(&calls[i], &rig, &(struct http_request){ .url = rig_url(&rig, "/") });
    ASSERT_FAILS(http_start(rig.client, &(struct http_request){ .url = rig_url(&rig, "/") },
                            &handler, NULL, &x, &t->err),
                 ERR_RATE_LIMITED);
    rig_run(&rig);
    for (size_t i = 0; i < 2; i++) {
        ASSERT_CALL_OK(&calls[i], 200);
        call_release(&calls[i]);
    }
    rig_close(&rig);
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
    loop_timer_start(call->rig->loop, call->arg, 200);
    return HTTP_PAUSE;
}

static unsigned sent_while_paused;

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

    rig_open(&rig, t, serve_big, NULL, NULL);
    call.arg = &reader;
    call_run(&call, &rig,
             &(struct http_request){ .url = rig_url(&rig, "/"),
                                     .limits = { .max_body_bytes = BIG_BYTES, .idle_ms = 50 } });
    ASSERT_CALL_FAILED(&call, ERR_CANCELLED, HTTP_PHASE_BODY);
    ASSERT_EQ(call.chunks, 1);
    /* No more than what fits into the sockets' buffers. */
    ASSERT(sent_while_paused * 65536ll < BIG_BYTES / 2);
    call_release(&call);
    rig_close(&rig);
}

TEST(http_reports_success_only_after_the_reader_goes_on)
{
    struct rig rig;
    struct call call = { .at_data = pause_at_once };
    struct slow_reader reader = { .timer = { .fire = read_on }, .call = &call };
    int64_t before = clock_mono_ms(clock_system());

    rig_open(&rig, t, serve_hello, NULL, NULL);
    call.arg = &reader;
    call_run(&call, &rig,
             &(struct http_request){ .url = rig_url(&rig, "/"), .limits = { .total_ms = 100 } });
    ASSERT_CALL_OK(&call, 200);
    ASSERT(clock_mono_ms(clock_system()) - before >= 200);
    call_release(&call);
    rig_close(&rig);
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
    ASSERT_CALL_FAILED(&at_start, ERR_CANCELLED, HTTP_PHASE_CONNECT);
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

TEST(http_client_that_makes_no_request_does_not_open_libcurl)
{
    struct rig rig;
    struct call call = { 0 };

    rig_open(&rig, t, serve_hello, NULL, NULL);
    ASSERT(!strstr(test_read_file(t, "/proc/self/maps").p, "libcurl"));
    call_get(&call, &rig, "/");
    ASSERT_CALL_OK(&call, 200);
    ASSERT(strstr(test_read_file(t, "/proc/self/maps").p, "libcurl"));
    call_release(&call);
    rig_close(&rig);
}
