/* The HTTP client against a well-behaved peer: what goes out, what comes back.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

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
