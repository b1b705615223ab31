/* A peer that misbehaves: every time-out, cap, cut and malformed answer has its own outcome.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "http_rig.h"

static bool serve_fault(struct peer_conn *conn)
{
    const char *path = conn->path;
    static char block[65536];

    if (strcmp(path, "/silent") == 0)
        return peer_stall(conn);
    if (strcmp(path, "/half-head") == 0)
        return peer_text(conn, "HTTP/1.1 200 OK\r\nX-A: 1\r\nX-B: 2\r\n") && peer_stall(conn);
    if (strcmp(path, "/half-body") == 0)
        return peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc") &&
               peer_stall(conn);
    if (strcmp(path, "/reset-head") == 0)
        return peer_text(conn, "HTTP/1.1 200 OK\r\nX-A: ") && peer_reset(conn);
    if (strcmp(path, "/reset-body") == 0)
        return peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc") &&
               (peer_nap(20), peer_reset(conn));
    if (strcmp(path, "/short") == 0)
        return peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc") && false;
    if (strcmp(path, "/hang-up") == 0)
        return false;
    if (strcmp(path, "/bad-chunk") == 0)
        return peer_text(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
                               "zz\r\nde\r\n0\r\n\r\n");
    if (strcmp(path, "/open-chunk") == 0)
        return peer_text(conn,
                         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n") &&
               false;
    if (strcmp(path, "/http09") == 0)
        return peer_text(conn, "just some text\n") && false;
    if (strcmp(path, "/garbage") == 0)
        return peer_send(conn, "\0\377\1\2HTTP/9.9 -1\r\n\r\n", 19) && false;
    if (strcmp(path, "/bad-length") == 0)
        return peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc") && false;
    if (strcmp(path, "/many-headers") == 0) {
        peer_text(conn, "HTTP/1.1 200 OK\r\n");
        for (int i = 0; i < 10000; i++)
            if (!peer_text(conn, "X-Header-%d: some value that takes room\r\n", i))
                return false;
        return peer_text(conn, "\r\n") && false;
    }
    if (strcmp(path, "/long-header") == 0) {
        memset(block, 'h', sizeof(block));
        peer_text(conn, "HTTP/1.1 200 OK\r\nX-Long: ");
        for (int i = 0; i < 64; i++)
            if (!peer_send(conn, block, sizeof(block)))
                return false;
        return false;
    }
    if (strcmp(path, "/endless") == 0) {
        memset(block, 'x', sizeof(block));
        peer_text(conn, "HTTP/1.1 200 OK\r\n\r\n");
        while (peer_send(conn, block, sizeof(block)))
            ;
        return false;
    }
    if (strcmp(path, "/says-big") == 0)
        return peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\n") &&
               peer_stall(conn);
    if (strcmp(path, "/early-deaf") == 0) {
        peer_nap(5000); /* does not read the request's body */
        return false;
    }
    if (strcmp(path, "/early-no") == 0)
        return peer_answer(conn, 413, "Connection: close\r\n", "no") && peer_stall(conn);
    return peer_answer(conn, 200, "", "fine");
}

struct fault {
    const char *path;
    struct http_limits limits;
    enum err_code code;
    enum http_phase phase;
    const char *text; /* part of the message */
    int64_t bytes;    /* of the body that still came */
};

static const struct fault faults[] = {
    { "/silent", { .first_byte_ms = 30 }, ERR_TIMEOUT, HTTP_PHASE_WAIT, "first byte: nothing", 0 },
    { "/silent", { .total_ms = 30 }, ERR_TIMEOUT, HTTP_PHASE_WAIT, "not finished after 30 ms", 0 },
    { "/silent", { .first_byte_ms = 2000 }, ERR_TIMEOUT, HTTP_PHASE_WAIT, "for 2 seconds", 0 },
    { "/silent", { .total_ms = 2000 }, ERR_TIMEOUT, HTTP_PHASE_WAIT, "after 2 seconds", 0 },
    { "/half-head", { .first_byte_ms = 30 }, ERR_TIMEOUT, HTTP_PHASE_WAIT, "first byte", 0 },
    { "/half-body", { .idle_ms = 30 }, ERR_TIMEOUT, HTTP_PHASE_BODY, "body: nothing happened", 3 },
    { "/half-body", { .total_ms = 30 }, ERR_TIMEOUT, HTTP_PHASE_BODY, "not finished", 3 },
    { "/reset-head", { 0 }, ERR_PROVIDER_FAILED, HTTP_PHASE_WAIT, "first byte", 0 },
    { "/reset-body", { 0 }, ERR_PROVIDER_FAILED, HTTP_PHASE_BODY, "body", 3 },
    { "/short", { 0 }, ERR_PROVIDER_FAILED, HTTP_PHASE_BODY, "body", 3 },
    { "/hang-up", { 0 }, ERR_PROVIDER_FAILED, HTTP_PHASE_WAIT, "first byte", 0 },
    { "/bad-chunk", { 0 }, ERR_PROVIDER_FAILED, HTTP_PHASE_BODY, "body", 3 },
    { "/open-chunk", { 0 }, ERR_PROVIDER_FAILED, HTTP_PHASE_BODY, "body", 3 },
    { "/http09", { 0 }, ERR_PROVIDER_FAILED, HTTP_PHASE_WAIT, "first byte", 0 },
    { "/garbage", { 0 }, ERR_PROVIDER_FAILED, HTTP_PHASE_WAIT, "first byte", 0 },
    { "/bad-length", { 0 }, ERR_PROVIDER_FAILED, HTTP_PHASE_WAIT, "first byte", 0 },
    { "/many-headers", { 0 }, ERR_TOO_LARGE, HTTP_PHASE_WAIT, "head is longer", 0 },
    { "/many-headers",
      { .max_header_bytes = 1000 },
      ERR_TOO_LARGE,
      HTTP_PHASE_WAIT,
      "1000 bytes",
      0 },
    { "/endless", { .max_body_bytes = 1000000 }, ERR_TOO_LARGE, HTTP_PHASE_BODY, "1000000", -1 },
    { "/says-big", { 0 }, ERR_TOO_LARGE, HTTP_PHASE_BODY, "5000000000", 0 },
};

static unsigned stalls;  /* time passes when so many connections stall, */
static int64_t has_come; /* so much has come */
static unsigned waits;   /* and no more calls than these go on */

static void pass_time(struct rig *rig)
{
    if (rig->waiting > 0 && rig->waiting <= waits && rig->bytes >= has_come &&
        __atomic_load_n(&rig->peer.shared->stalled, __ATOMIC_SEQ_CST) >= stalls)
        clock_advance(&rig->clock, 31);
}

static void pass_time_for(struct rig *rig, const struct fault *f)
{
    stalls = rig->peer.shared->stalled + (f->code == ERR_TIMEOUT);
    has_come = rig->bytes + f->bytes;
    waits = f->code == ERR_TIMEOUT;
}

TEST(http_every_fault_has_its_own_outcome)
{
    struct rig rig;

    rig_open_still(&rig, t, serve_fault, NULL, pass_time);
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        const struct fault *f = &faults[i];
        struct call call = { 0 };

        pass_time_for(&rig, f);
        call_run(&call, &rig,
                 &(struct http_request){ .url = rig_url(&rig, f->path), .limits = f->limits });
        if (call.result.err.code != f->code || call.result.phase != f->phase || call.dones != 1 ||
            (f->bytes >= 0 && call.bytes != f->bytes) || !strstr(call_error(&call), f->text))
            FAIL("%s: %s in %s after %lld bytes: %s", f->path, err_name(call.result.err.code),
                 http_phase_name(call.result.phase), (long long)call.bytes, call_error(&call));
        ASSERT_EQ(call.result.status, f->phase == HTTP_PHASE_BODY ? 200 : 0);
        if (f->limits.max_body_bytes)
            ASSERT(call.bytes <= f->limits.max_body_bytes);
        call_release(&call);
    }
    rig_close(&rig);
}

TEST(http_one_endless_header_is_cut_off)
{
    struct rig rig;
    struct call call = { 0 };

    rig_open(&rig, t, serve_fault, NULL, NULL);
    call_get(&call, &rig, "/long-header");
    /* libcurl's own cap for a line or ours for the head, whichever counts first. */
    ASSERT(call.result.err.code == ERR_TOO_LARGE || call.result.err.code == ERR_PROVIDER_FAILED);
    ASSERT_EQ(call.result.phase, HTTP_PHASE_WAIT);
    call_release(&call);
    rig_close(&rig);
}

/* ---- slow peers, byte by byte ---- */

#define SLOW_HEAD "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
#define SLOW_BODY "0123456789"
#define STEP_MS   20

/* A byte, then it waits until the test has let time pass. */
static bool serve_slowly(struct peer_conn *conn)
{
    const char *text = SLOW_HEAD SLOW_BODY;

    for (unsigned i = 1; *text; text++, i++) {
        if (!peer_send(conn, text, 1))
            return false;
        __atomic_store_n(&conn->shared->stalled, i, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&conn->shared->counter, __ATOMIC_SEQ_CST) < i)
            peer_nap(1);
    }
    return true;
}

static void step(struct rig *rig)
{
    unsigned sent = __atomic_load_n(&rig->peer.shared->stalled, __ATOMIC_SEQ_CST);

    if (rig->peer.shared->counter == sent)
        return;
    clock_advance(&rig->clock, STEP_MS);
    __atomic_store_n(&rig->peer.shared->counter, sent, __ATOMIC_SEQ_CST);
}

TEST(http_limits_of_a_slow_answer_count_from_where_they_should)
{
    enum { head_ms = STEP_MS * (sizeof(SLOW_HEAD) - 1), body_ms = STEP_MS * 10 };
    static const struct {
        struct http_limits limits;
        enum err_code code;
        enum http_phase phase;
    } cases[] = {
        /* Each byte of a body gives it time again; bytes of a head do not. */
        { { .idle_ms = 2 * STEP_MS }, ERR_NONE, HTTP_PHASE_DONE },
        { { .idle_ms = STEP_MS / 2 }, ERR_TIMEOUT, HTTP_PHASE_BODY },
        { { .first_byte_ms = head_ms + STEP_MS }, ERR_NONE, HTTP_PHASE_DONE },
        { { .first_byte_ms = head_ms / 2 }, ERR_TIMEOUT, HTTP_PHASE_WAIT },
        { { .total_ms = head_ms / 2 }, ERR_TIMEOUT, HTTP_PHASE_WAIT },
        { { .total_ms = head_ms + body_ms / 2 }, ERR_TIMEOUT, HTTP_PHASE_BODY },
        { { .total_ms = head_ms + 2 * body_ms }, ERR_NONE, HTTP_PHASE_DONE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;
        struct call call = { 0 };

        rig_open_still(&rig, t, serve_slowly, NULL, step);
        call_run(&call, &rig,
                 &(struct http_request){ .url = rig_url(&rig, "/"), .limits = cases[i].limits });
        if (call.result.err.code != cases[i].code || call.result.phase != cases[i].phase)
            FAIL("case %zu ended in %s: %s", i, http_phase_name(call.result.phase),
                 call_error(&call));
        if (cases[i].code == ERR_NONE)
            ASSERT_STR(buf_str(&call.body), SLOW_BODY);
        call_release(&call);
        rig_close(&rig);
    }
}

static bool serve_in_halves(struct peer_conn *conn)
{
    if (!peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf"))
        return false;
    while (__atomic_load_n(&conn->shared->counter, __ATOMIC_SEQ_CST) == 0)
        peer_nap(1);
    if (!peer_text(conn, "half"))
        return false;
    __atomic_store_n(&conn->shared->counter, 2, __ATOMIC_SEQ_CST);
    return true;
}

#define HELD_MS 20

/* Between two ticks, until the rest of the body lies in the socket and its time is over. Not in
 * the tick that read the first half: libuv's timer is set for the new limit in the next one. */
static void hold_up_once(struct rig *rig)
{
    static int ticks;
    unsigned *turn = &rig->peer.shared->counter;

    if (rig->bytes != 4 || ++ticks != 3)
        return;
    __atomic_store_n(turn, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(turn, __ATOMIC_SEQ_CST) != 2)
        peer_nap(1);
    peer_nap(HELD_MS + 10);
    clock_advance(&rig->clock, HELD_MS + 10);
}

TEST(http_a_loop_that_was_held_up_does_not_blame_the_peer)
{
    struct rig rig;
    struct call call = { 0 };

    rig_open_still(&rig, t, serve_in_halves, NULL, hold_up_once);
    call_run(&call, &rig,
             &(struct http_request){ .url = rig_url(&rig, "/"), .limits = { .idle_ms = HELD_MS } });
    ASSERT_CALL_OK(&call, 200);
    ASSERT_STR(buf_str(&call.body), "halfhalf");
    call_release(&call);
    rig_close(&rig);
}

#define LONG_BYTES (8 << 20) /* more than one look at a socket brings */

static bool serve_much(struct peer_conn *conn)
{
    static const char block[1 << 16];

    if (!peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n"))
        return false;
    for (size_t sent = 0; sent < LONG_BYTES; sent += sizeof(block))
        if (!peer_send(conn, block, sizeof(block)))
            return false;
    return true;
}

static void stand_still_once(struct rig *rig)
{
    static bool stood;

    if (stood || rig->bytes == 0)
        return;
    stood = true;
    clock_advance(&rig->clock, MINUTES(5));
}

TEST(http_the_time_in_which_the_loop_stood_still_is_not_the_exchanges)
{
    struct rig rig;
    struct call call = { 0 };

    rig_open_still(&rig, t, serve_much, NULL, stand_still_once);
    call_run(&call, &rig,
             &(struct http_request){ .url = rig_url(&rig, "/"),
                                     .limits = { .idle_ms = HTTP_NEVER, .total_ms = MINUTES(1) } });
    ASSERT_CALL_OK(&call, 200);
    ASSERT_EQ(call.bytes, LONG_BYTES);
    call_release(&call);
    rig_close(&rig);
}

TEST(http_an_upload_that_nobody_reads_times_out_as_sending)
{
    AUTO_BUF body = BUF_INIT(32 * MIB);
    struct rig rig;
    struct call call = { 0 };

    memset(buf_reserve(&body, 32 * MIB), 'u', 32 * MIB);
    buf_grown(&body, 32 * MIB);
    rig_open(&rig, t, serve_fault, NULL, NULL);
    call_run(&call, &rig,
             &(struct http_request){ .method = "PUT",
                                     .url = rig_url(&rig, "/early-deaf"),
                                     .body = buf_str(&body),
                                     .limits = { .idle_ms = 150 } });
    ASSERT_CALL_FAILED(&call, ERR_TIMEOUT, HTTP_PHASE_SEND);
    ASSERT(call.result.sent_bytes > 0 && call.result.sent_bytes < 32 * (int64_t)MIB);
    call_release(&call);
    rig_close(&rig);
}

TEST(http_takes_an_answer_that_comes_before_the_body_was_sent)
{
    AUTO_BUF body = BUF_INIT(32 * MIB);
    struct rig rig;
    struct call call = { 0 };

    memset(buf_reserve(&body, 32 * MIB), 'u', 32 * MIB);
    buf_grown(&body, 32 * MIB);
    rig_open(&rig, t, serve_fault, NULL, NULL);
    call_run(&call, &rig,
             &(struct http_request){
                 .method = "POST", .url = rig_url(&rig, "/early-no"), .body = buf_str(&body) });
    ASSERT_CALL_OK(&call, 413);
    ASSERT_STR(buf_str(&call.body), "no");
    call_release(&call);
    rig_close(&rig);
}

/* A socket that is never accepted from, with its queue full: connecting takes forever. */
static int full_listener(uint16_t *ret_port, int fillers[], int n)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) < 0 || listen(fd, 0) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) < 0)
        FAIL("listen: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)!connect(fillers[i], (struct sockaddr *)&at, size);
    }
    *ret_port = ntohs(at.sin_port);
    return fd;
}

TEST(http_connecting_times_out)
{
    struct rig rig;
    struct call call = { 0 };
    int fillers[4];

    rig_open(&rig, t, NULL, NULL, NULL);
    full_listener(&rig.peer.port, fillers, 4);
    call_run(&call, &rig,
             &(struct http_request){ .url = rig_url(&rig, "/"), .limits = { .connect_ms = 80 } });
    ASSERT_CALL_FAILED(&call, ERR_TIMEOUT, HTTP_PHASE_CONNECT);
    ASSERT_EQ(call.result.connect_ms, -1);
    call_release(&call);
    rig_close(&rig);
}

TEST(http_a_refused_connection_says_so)
{
    struct rig rig;
    struct call call = { 0 };

    rig_open(&rig, t, serve_fault, NULL, NULL);
    peer_stop(&rig.peer);
    call_get(&call, &rig, "/secret-path?key=secret-query");
    ASSERT_CALL_FAILED(&call, ERR_PROVIDER_FAILED, HTTP_PHASE_CONNECT);
    ASSERT_CONTAINS(call_error(&call), "Connection refused");
    ASSERT_CONTAINS(call_error(&call), "GET http://127.0.0.1:");
    ASSERT(!strstr(call_error(&call), "secret"));
    call_release(&call);
    rig_close(&rig);
}

/* No failure's text may hold what a header, the body, the path or the query said. */
TEST(http_failures_never_repeat_secrets)
{
    static const struct http_header headers[] = {
        { .name = { "Authorization", 13 }, .value = { "Bearer sk-topsecret", 19 } },
        { .name = { "X-Api-Key", 9 }, .value = { "topsecret-2", 11 }, .secret = true },
    };
    struct rig rig;

    rig_open_still(&rig, t, serve_fault, NULL, pass_time);
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        struct call call = { 0 };

        pass_time_for(&rig, &faults[i]);
        call_run(&call, &rig,
                 &(struct http_request){ .method = "POST",
                                         .url = rig_url(&rig, faults[i].path),
                                         .limits = faults[i].limits,
                                         .headers = headers,
                                         .n_headers = 2,
                                         .body = STR("topsecret-3") });
        ASSERT(call.result.err.code != ERR_NONE);
        ASSERT(!strstr(call_error(&call), "topsecret"));
        ASSERT(!strstr(call_error(&call), faults[i].path));
        call_release(&call);
    }
    rig_close(&rig);
}

TEST(http_a_fault_of_one_exchange_leaves_others_alone)
{
    struct rig rig;
    struct call good[4] = { 0 }, bad[ARRAY_LEN(faults)] = { 0 };

    rig_open_still(&rig, t, serve_fault, NULL, pass_time);
    stalls = waits = 0;
    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        stalls = waits += faults[i].code == ERR_TIMEOUT;
    has_come = 6; /* of the half bodies */
    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        call_start(&bad[i], &rig,
                   &(struct http_request){ .url = rig_url(&rig, faults[i].path),
                                           .limits = faults[i].limits });
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        call_start(&good[i], &rig, &(struct http_request){ .url = rig_url(&rig, "/") });
    rig_run(&rig);
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        ASSERT_CALL_FAILED(&bad[i], faults[i].code, faults[i].phase);
        call_release(&bad[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        ASSERT_CALL_OK(&good[i], 200);
        ASSERT_STR(buf_str(&good[i].body), "fine");
        call_release(&good[i]);
    }
    rig_close(&rig);
}

/* Bytes and a reset that wait together when the loop looks: the bytes count. */
static bool serve_reset_together(struct peer_conn *conn)
{
    static char block[50000];
    unsigned *turn = &conn->shared->counter;

    if (strcmp(conn->path, "/other") == 0)
        return peer_answer(conn, 200, "", "other");
    memset(block, 'x', sizeof(block));
    while (__atomic_load_n(turn, __ATOMIC_SEQ_CST) != 1)
        peer_nap(1);
    peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
    peer_send(conn, block, sizeof(block));
    peer_reset(conn);
    close(conn->fd);
    __atomic_store_n(turn, 2, __ATOMIC_SEQ_CST);
    return false;
}

static void hold_up_the_loop(struct call *call)
{
    unsigned *turn = &call->rig->peer.shared->counter;

    __atomic_store_n(turn, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(turn, __ATOMIC_SEQ_CST) != 2)
        peer_nap(1);
}

TEST(http_reads_what_came_before_a_reset)
{
    struct rig rig;
    struct call call = { 0 }, other = { .at_headers = hold_up_the_loop };

    rig_open(&rig, t, serve_reset_together, NULL, NULL);
    call_start(&call, &rig, &(struct http_request){ .url = rig_url(&rig, "/") });
    call_start(&other, &rig, &(struct http_request){ .url = rig_url(&rig, "/other") });
    rig_run(&rig);
    ASSERT_CALL_OK(&other, 200);
    ASSERT_CALL_FAILED(&call, ERR_PROVIDER_FAILED, HTTP_PHASE_BODY);
    ASSERT_EQ(call.bytes, 50000);
    ASSERT_EQ(call.result.status, 200);
    call_release(&call);
    call_release(&other);
    rig_close(&rig);
}
