/* Where a request ends: what is sent here is read by a front proxy and by this server, and both
 * must see the same requests, or one of them refuses.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

#define STOP_MS 2000
#define POST    "POST /api/v1/test/echo HTTP/1.1\r\nHost: HERE\r\nAuthorization: Bearer TOKEN\r\n"
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
/* What an attacker wants to be taken for a request of its own. */
#define HIDDEN  "GET /api/v1/test/rows HTTP/1.1\r\nHost: HERE\r\nAuthorization: Bearer TOKEN\r\n\r\n"
#define DELETED "DELETE /healthz HTTP/1.1\r\nHost: HERE\r\n"
#define HEALTH  "GET /healthz HTTP/1.1\r\nHost: HERE\r\n"

/* One answer of 4xx, and then the end, with whatever followed unread. */
static const struct {
    const char *name, *bytes;
    int status;
} refused[] = {
    { "both, length first",
      POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN, 400 },
    { "both, coding first",
      POST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" HIDDEN, 400 },
    { "two lengths", POST "Content-Length: 0\r\nContent-Length: 90\r\n\r\n" HIDDEN, 400 },
    { "two lengths turned", POST "Content-Length: 90\r\nContent-Length: 0\r\n\r\n" HIDDEN, 400 },
    { "one length twice", POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx" HIDDEN, 400 },
    { "lengths on a GET", HEALTH "Content-Length: 0\r\nContent-Length: 90\r\n\r\n" HIDDEN, 400 },
    { "list of lengths", POST "Content-Length: 1, 1\r\n\r\nx" HIDDEN, 400 },
    { "signed length", POST "Content-Length: +1\r\n\r\nx" HIDDEN, 400 },
    { "negative length", POST "Content-Length: -1\r\n\r\nx" HIDDEN, 400 },
    { "hexadecimal length", POST "Content-Length: 0x1\r\n\r\nx" HIDDEN, 400 },
    { "length with letters", POST "Content-Length: 1x\r\n\r\nx" HIDDEN, 400 },
    { "length in two words", POST "Content-Length: 1 0\r\n\r\nx" HIDDEN, 400 },
    { "no length at all", POST "Content-Length:\r\n\r\n" HIDDEN, 400 },
    { "length past 64 bits", POST "Content-Length: 99999999999999999999\r\n\r\nx" HIDDEN, 413 },
    { "blank before the colon of a length", POST "Content-Length : 90\r\n\r\n" HIDDEN, 400 },
    { "tab before the colon of a length", POST "Content-Length\t: 90\r\n\r\n" HIDDEN, 400 },
    { "blank before the colon of a coding",
      POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" HIDDEN, 400 },
    { "folded length", POST "Content-Length:\r\n 90\r\n\r\n" HIDDEN, 400 },
    { "folded coding", POST "Transfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n" HIDDEN, 400 },
    { "header that begins blank", POST " Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN, 400 },
    { "first header begins blank", "GET /healthz HTTP/1.1\r\n X: y\r\nHost: HERE\r\n\r\n" HIDDEN,
      400 },
    { "carriage return in a value", POST "X-A: a\rContent-Length: 90\r\n\r\n" HIDDEN, 400 },
    { "control character in a value", POST "X-A: a\x01\r\n\r\n" HIDDEN, 400 },
    { "separator in a name", POST "X(A): a\r\n\r\n" HIDDEN, 400 },
    { "byte above ASCII in a name", POST "X\xC3\xA4: a\r\n\r\n" HIDDEN, 400 },
    { "line without a colon", POST "what is this\r\n\r\n" HIDDEN, 400 },
    { "identity", POST "Transfer-Encoding: identity\r\n\r\n" HIDDEN, 400 },
    { "unknown coding", POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" HIDDEN, 400 },
    { "chunked twice", POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" HIDDEN, 400 },
    { "gzip and chunked", POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" HIDDEN, 400 },
    { "two codings",
      POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" HIDDEN,
      400 },
    { "vertical tab before chunked",
      POST "Transfer-Encoding: \x0b"
           "chunked\r\n\r\n0\r\n\r\n" HIDDEN,
      400 },
    { "chunked in HTTP/1.0",
      "POST /api/v1/test/public HTTP/1.0\r\nHost: HERE\r\nTransfer-Encoding: "
      "chunked\r\n\r\n0\r\n\r\n" HIDDEN,
      400 },
    { "chunked where no body is taken", HEALTH "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN,
      413 },
    { "chunked with a wrong method", DELETED "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN,
      405 },
    { "long body with a wrong method", DELETED "Content-Length: 100000\r\n\r\n" HIDDEN, 405 },
    { "long body where none is taken", HEALTH "Content-Length: 100000\r\n\r\n" HIDDEN, 413 },
    { "chunk of 0x5", CHUNKED "0x5\r\nhello\r\n0\r\n\r\n" HIDDEN, 400 },
    { "chunk of -5", CHUNKED "-5\r\nhello\r\n0\r\n\r\n" HIDDEN, 400 },
    { "chunk without a number", CHUNKED "\r\nhello\r\n0\r\n\r\n" HIDDEN, 400 },
    { "chunk with a blank", CHUNKED "5 \r\nhello\r\n0\r\n\r\n" HIDDEN, 400 },
    { "chunk longer than it says", CHUNKED "5\r\nhelloXX\r\n0\r\n\r\n" HIDDEN, 400 },
    { "chunk shorter than it says", CHUNKED "7\r\nhello\r\n0\r\n\r\n" HIDDEN, 400 },
    { "chunk of words", CHUNKED "zz\r\nabc\r\n0\r\n\r\n" HIDDEN, 400 },
    { "chunk past 64 bits", CHUNKED "fffffffffffffffff\r\nabc\r\n" HIDDEN, 413 },
    { "line end within an extension", CHUNKED "5;a=\"\n\"\r\nhello\r\n0\r\n\r\n" HIDDEN, 400 },
    { "HTTP/2.0", "GET /healthz HTTP/2.0\r\nHost: HERE\r\n\r\n" HIDDEN, 505 },
    { "lower-case version", "GET /healthz http/1.1\r\nHost: HERE\r\n\r\n" HIDDEN, 400 },
    { "no version", "GET /healthz\r\n\r\n" HIDDEN, 400 },
};

/* The answer of 0 stands for an end without one. */
static void send_and_expect_the_end(struct test *t, struct server *server, size_t i)
{
    int fd = client_open(server);
    int status;

    client_send_template(server, fd, refused[i].bytes);
    status = client_answer(t, fd).status;
    if (status != refused[i].status || !client_closed(fd))
        test_case_failed("%s: %d, expected %d and the end", refused[i].name, status,
                         refused[i].status);
    else
        test_case_passed();
    close(fd);
}

TEST(requests_with_two_readings_are_refused_and_what_follows_is_not_read)
{
    struct serve_limits limits = { .header_ms = 2000, .body_ms = 2000 };
    struct server *server = server_start(t, &limits);
    struct answer metrics;

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        send_and_expect_the_end(t, server, i);
    metrics = ask(t, server, "GET", "/metrics", false, NULL, NULL);
    if (strstr(metrics.body.p, "/test/rows"))
        FAIL("a hidden request was answered");
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/rows", true, NULL, NULL).status, 200);
    metrics = ask(t, server, "GET", "/metrics", false, NULL, NULL);
    ASSERT(strstr(metrics.body.p, "/test/rows") != NULL); /* so it would have been seen */
    server_stop(server, STOP_MS);
}

/* All answered in order on one connection, which stays. */
TEST(requests_with_one_reading_are_answered_in_order)
{
    static const struct {
        const char *bytes, *body;
        int status;
    } cases[] = {
        { "\r\n\r\n" HEALTH "\r\n", "\"ok\"", 200 },
        { POST "Content-Length: 0\r\n\r\n", "", 200 },
        { POST "Content-Length: 0005\r\n\r\nhello", "hello", 200 },
        { CHUNKED "5;a=b;c=\"d\"\r\nhello\r\n0;last\r\n\r\n", "hello", 200 },
        { CHUNKED "1\r\na\r\n00000000000000002\r\nbc\r\n0\r\n\r\n", "abc", 200 },
        { CHUNKED "A\r\n0123456789\r\n000\r\nX-T: y\r\nHost: evil.example\r\n\r\n", "0123456789",
          200 },
        { CHUNKED "0\r\n\r\n", "", 200 },
        { POST "tRaNsFeR-eNcOdInG: ChUnKeD\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "hi", 200 },
        { HEALTH "Content-Length: 5\r\n\r\nhello", "no body is accepted", 413 },
        { DELETED "Content-Length: 5\r\n\r\nhello", "not allowed", 405 },
        { POST "Content-Length: 3\r\nConnection: keep-alive\r\n\r\nend", "end", 200 },
    };
    struct server *server = server_start(t, NULL);
    int fd = client_open(server);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        client_send_template(server, fd, cases[i].bytes);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = client_answer(t, fd);

        if (answer.status != cases[i].status || str_find(answer.body, str_from(cases[i].body)) < 0)
            test_case_failed("%s: %d %.*s", cases[i].bytes, answer.status, STR_ARG(answer.body));
        else
            test_case_passed();
    }
    client_send_template(server, fd, HEALTH "Connection: close\r\n\r\n" HIDDEN);
    ASSERT_EQ(client_answer(t, fd).status, 200);
    ASSERT(client_closed(fd));
    close(fd);
    server_stop(server, STOP_MS);
}

TEST(head_that_arrives_byte_by_byte_is_the_same_head)
{
    struct server *server = server_start(t, NULL);
    static const char text[] = "5\r\nhello\r\n0\r\n\r\n";
    int fd = client_open(server);

    client_send_template(server, fd, POST "Transfer-Encoding: chunked\r\n\r");
    client_send(fd, "\n");
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        client_send_bytes(fd, &text[i], 1);
    ASSERT_STR(client_answer(t, fd).body, "hello");
    close(fd);
    server_stop(server, STOP_MS);
}

/* Request and end in one segment: libmicrohttpd itself never sees the end. */
TEST(half_closed_client_is_answered_and_then_let_go)
{
    struct server *server = server_start(t, NULL); /* idle connections stay for 75 s */
    int fd = client_open(server), patient = client_open(server);
    AUTO_BUF text = BUF_INIT(1000);
    int64_t began;

    client_send_template(server, patient, HEALTH "\r\n");
    ASSERT_EQ(client_answer(t, patient).status, 200);
    for (int i = 0; i < 2; i++)
        buf_printf(&text, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
                   server_port(server));
    began = now_ms();
    ASSERT_EQ(send(fd, text.p, text.n, MSG_MORE), (ssize_t)text.n);
    shutdown(fd, SHUT_WR);
    ASSERT_EQ(client_answer(t, fd).status, 200);
    ASSERT_EQ(client_answer(t, fd).status, 200);
    client_be_patient(fd, 30);
    ASSERT(client_closed(fd));
    ASSERT(now_ms() - began < 30000);
    /* One that is only silent is left alone. */
    client_send_template(server, patient, HEALTH "\r\n");
    ASSERT_EQ(client_answer(t, patient).status, 200);
    close(fd), close(patient);
    server_stop(server, STOP_MS);
}
