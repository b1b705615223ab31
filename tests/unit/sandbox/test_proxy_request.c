/* Heads, lists and bodies without sockets.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "harness/test.h"
#include "sandbox/proxy_int.h"

static int parse(struct test *t, const char *head, struct proxy_request *ret)
{
    return proxy_request_parse(str_from(head), ret, &t->err);
}

static const char *rewritten(struct test *t, const char *head)
{
    AUTO_BUF out = BUF_INIT(4096);
    struct proxy_request request;

    ASSERT_OK(parse(t, head, &request));
    ASSERT_OK(proxy_request_write(&request, &out));
    return arena_copy(&t->arena, buf_text(&out), out.n);
}

TEST(a_head_ends_at_its_empty_line)
{
    ASSERT_EQ(proxy_head_size(STR("")), 0);
    ASSERT_EQ(proxy_head_size(STR("GET / HTTP/1.1\r\n\r")), 0);
    ASSERT_EQ(proxy_head_size(STR("GET / HTTP/1.1\n\n")), 0);
    ASSERT_EQ(proxy_head_size(STR("G\r\n\r\nmore\r\n\r\n")), 5);
}

TEST(targets_are_taken_apart)
{
    struct proxy_request request;

    ASSERT_OK(parse(t, "GET http://A.Test/x?y HTTP/1.1\r\n\r\n", &request));
    ASSERT_TEXT(request.host.name, "a.test");
    ASSERT_EQ(request.host.port, 80);
    ASSERT_STR(request.target, "/x?y");
    ASSERT(!request.connect);
    ASSERT_OK(parse(t, "GET HTTP://a.test:8080 HTTP/1.0\r\n\r\n", &request));
    ASSERT_EQ(request.host.port, 8080);
    ASSERT_OK(parse(t, "CONNECT [2001:DB8::1]:443 HTTP/1.1\r\n\r\n", &request));
    ASSERT(request.connect && request.host.numeric);
    ASSERT_TEXT(request.host.name, "2001:db8::1");
    ASSERT_OK(parse(t, "GET http://0x7f000001/ HTTP/1.1\r\n\r\n", &request));
    ASSERT_TEXT(request.host.name, "127.0.0.1");
}

TEST(the_origin_server_gets_its_own_form)
{
    ASSERT_TEXT(rewritten(t, "GET http://a.test HTTP/1.0\r\nHost: b\r\nA: 1\r\n\r\n"),
                "GET / HTTP/1.1\r\nHost: a.test\r\nA: 1\r\nConnection: close\r\n\r\n");
    ASSERT_TEXT(rewritten(t, "GET http://a.test?q HTTP/1.1\r\n\r\n"),
                "GET /?q HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
    ASSERT_TEXT(rewritten(t, "PUT http://[::1]:99/p HTTP/1.1\r\nContent-Length: 3\r\n\r\n"),
                "PUT /p HTTP/1.1\r\nHost: [::1]:99\r\nContent-Length: 3\r\n"
                "Connection: close\r\n\r\n");
}

TEST(framing_can_t_be_named_away)
{
    ASSERT_TEXT(rewritten(t, "POST http://a.test/ HTTP/1.1\r\nConnection: content-length, "
                             "transfer-encoding, x\r\nContent-Length: 3\r\nX: 1\r\n\r\n"),
                "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n"
                "Connection: close\r\n\r\n");
}

TEST(heads_that_are_not_plain_are_refused)
{
    static const char *const heads[] = {
        "",
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET  HTTP/1.1\r\n\r\n",
        "GET http://a.test/\r\n\r\n",
        "GET http://a.test/ HTTP/1.1 x\r\n\r\n",
        "G(T http://a.test/ HTTP/1.1\r\n\r\n",
        " GET http://a.test/ HTTP/1.1\r\n\r\n",
        "GET http://a.test/ http/1.1\r\n\r\n",
        "GET http://a.test/ HTTP/1.11\r\n\r\n",
        "GET http:///x HTTP/1.1\r\n\r\n",
        "GET http://a.test:/ HTTP/1.1\r\n\r\n",
        "GET http://a.test:99999/ HTTP/1.1\r\n\r\n",
        "GET http://a test/ HTTP/1.1\r\n\r\n",
        "GET http://a.test/#f HTTP/1.1\r\n\r\n",
        "GET http://a.test\\@b.test/ HTTP/1.1\r\n\r\n",
        "GET http://a.test./ HTTP/1.1\r\n\r\n",
        "GET ftp://a.test/ HTTP/1.1\r\n\r\n",
        "GET http://a.test/\x01 HTTP/1.1\r\n\r\n",
        "GET http://a%2etest/ HTTP/1.1\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\n: x\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nA\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nA B: x\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nA: \x01\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nA: b\rB: c\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nContent-Length:\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nContent-Length: 0x10\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nContent-Length: 9999999999999999999\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
        "GET http://a.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
        "Transfer-Encoding: chunked\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nTransfer-Encoding: \x0b"
        "chunked\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n",
        "CONNECT http://a.test/ HTTP/1.1\r\n\r\n",
        "CONNECT a.test:443/ HTTP/1.1\r\n\r\n",
        "CONNECT u@a.test:443 HTTP/1.1\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\n\r\nmore",
    };
    struct proxy_request request;

    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        if (parse(t, heads[i], &request) >= 0 || t->err.code != ERR_BAD_REQUEST)
            FAIL("%s was taken", heads[i]);
}

TEST(a_nul_is_no_end)
{
    struct proxy_request request;

    ASSERT_FAILS(
        proxy_request_parse(STR("GET http://a.test\0.b.test/ HTTP/1.1\r\n\r\n"), &request, &t->err),
        ERR_BAD_REQUEST);
    ASSERT_FAILS(proxy_request_parse(STR("GET http://a.test/ HTTP/1.1\r\nA: \0b\r\n\r\n"), &request,
                                     &t->err),
                 ERR_BAD_REQUEST);
}

TEST(too_many_fields_are_refused)
{
    AUTO_BUF head = BUF_INIT(PROXY_HEAD_MAX);
    struct proxy_request request;

    buf_add_text(&head, "GET http://a.test/ HTTP/1.1\r\n");
    for (int i = 0; i < 129; i++)
        buf_printf(&head, "a%d: b\r\n", i);
    buf_add_text(&head, "\r\n");
    ASSERT_FAILS(proxy_request_parse(buf_str(&head), &request, &t->err), ERR_BAD_REQUEST);
}

/* ---- the list ---- */

static bool has(struct test *t, const char *entry, const char *host)
{
    const char *texts[] = { entry, NULL };
    struct proxy_list list;
    struct proxy_host parsed;
    bool found;

    ASSERT_OK(proxy_list_init(&list, texts, &t->err));
    ASSERT_OK(proxy_host_parse(str_from(host), &parsed, &t->err));
    found = proxy_list_has(&list, &parsed);
    proxy_list_release(&list);
    return found;
}

TEST(entries_match_exactly_or_below)
{
    ASSERT(has(t, "a.test", "a.test:80"));
    ASSERT(has(t, "a.test", "A.TEST:443"));
    ASSERT(!has(t, "a.test", "a.test:8080"));
    ASSERT(has(t, "a.test:8080", "a.test:8080"));
    ASSERT(!has(t, "a.test:8080", "a.test:80"));
    ASSERT(!has(t, "a.test", "b.a.test:80"));
    ASSERT(has(t, "*.a.test", "b.a.test:80"));
    ASSERT(has(t, "*.a.test", "c.b.a.test:443"));
    ASSERT(!has(t, "*.a.test", "a.test:80"));
    ASSERT(!has(t, "*.a.test", "ba.test:80"));
    ASSERT(has(t, "*.a.test:81", "b.a.test:81"));
    ASSERT(!has(t, "*.a.test", "b.a.test.evil:80"));
    ASSERT(has(t, "127.0.0.1", "127.1:80"));
    ASSERT(has(t, "[::1]:99", "[0:0::1]:99"));
    ASSERT(!has(t, "127.0.0.1", "[::ffff:127.0.0.1]:80"));
    ASSERT(!has(t, "*.0.0.1.test", "127.0.0.1:80"));
}

TEST(only_public_or_listed_addresses_are_reached)
{
    const char *texts[] = { "10.0.0.7", "127.0.0.1:8080", NULL };
    static const struct {
        const char *addr;
        uint16_t port;
        bool reached;
    } cases[] = { { "93.184.216.34", 80, true }, { "93.184.216.34", 9999, true },
                  { "10.0.0.7", 80, true },      { "10.0.0.7", 22, false },
                  { "10.0.0.8", 80, false },     { "127.0.0.1", 8080, true },
                  { "127.0.0.1", 80, false },    { "2606:4700::1111", 443, true },
                  { "::1", 8080, false },        { "::ffff:10.0.0.7", 80, false } };
    struct proxy_list list;
    struct dns_addr addr;

    ASSERT_OK(proxy_list_init(&list, texts, &t->err));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_EQ(dns_literal(str_from(cases[i].addr), &addr), 1);
        if (proxy_list_reaches(&list, &addr, cases[i].port) != cases[i].reached)
            FAIL("%s:%u", cases[i].addr, cases[i].port);
    }
    proxy_list_release(&list);
}

TEST(a_list_has_a_cap)
{
    const char **texts = arena_alloc(&t->arena, PROXY_ENTRIES_MAX + 2, sizeof(char *));
    struct proxy_list list;

    for (int i = 0; i <= PROXY_ENTRIES_MAX; i++)
        texts[i] = "a.test";
    ASSERT_FAILS(proxy_list_init(&list, texts, &t->err), ERR_TOO_LARGE);
}

/* ---- bodies ---- */

/* Where the body ends, whichever way the bytes are cut; -1 when they are broken, -2 when more must
 * come. */
static ptrdiff_t end_of(struct test *t, const char *head, const char *bytes, size_t step)
{
    struct proxy_request request;
    struct proxy_body body;
    size_t n = strlen(bytes), at = 0;

    ASSERT_OK(parse(t, head, &request));
    proxy_body_init(&body, &request);
    while (at < n && !body.done) {
        size_t piece = n - at < step ? n - at : step;
        ptrdiff_t own = proxy_body_take(&body, str_of(bytes + at, piece));

        if (own < 0)
            return -1;
        at += (size_t)own;
    }
    return body.done ? (ptrdiff_t)at : -2;
}

#define CHUNKED "POST http://a.test/ HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n"

TEST(the_end_of_a_body_is_found_however_it_is_cut)
{
    static const struct {
        const char *bytes;
        ptrdiff_t end;
    } cases[] = {
        { "0\r\n\r\nGET", 5 },
        { "3\r\nabc\r\n0\r\n\r\nGET", 13 },
        { "A;x=y\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\nGET", 36 },
        { "0\r\nA: 1\r\nB: 2\r\n\r\n", 17 },
        { "00003\r\nabc\r\n000\r\n\r\n", 19 },
        { "3\r\nabc\r\n0\r\n", -2 },
        { "3\r\nab", -2 },
        { "", -2 },
        { "\r\n", -1 },
        { "g\r\n", -1 },
        { "3\nabc\r\n0\r\n\r\n", -1 },
        { "3 \r\nabc\r\n0\r\n\r\n", -1 },
        { "3\r\nabcd\r\n0\r\n\r\n", -1 },
        { "3\r\nabc\n0\r\n\r\n", -1 },
        { "-3\r\nabc\r\n", -1 },
        { "0x3\r\nabc\r\n", -1 },
        { "1111111111111111\r\n", -1 },
        { "0\r\nA: 1\nB: 2\r\n\r\n", -1 },
        { "0\r\n\rx", -1 },
        { "3;\x01\r\nabc", -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t step = 1; step < 50; step += 4) {
            ptrdiff_t end = end_of(t, CHUNKED, cases[i].bytes, step);

            if (end != cases[i].end)
                FAIL("%s by %zu ends at %td, not %td", cases[i].bytes, step, end, cases[i].end);
        }
}

TEST(endless_chunk_lines_are_broken)
{
    char *bytes = arena_alloc(&t->arena, 6000, 1);

    memset(bytes, 'x', 5999);
    memcpy(bytes, "3;", 2);
    ASSERT_EQ(end_of(t, CHUNKED, bytes, 1000), -1);
    memcpy(bytes, "0\r\nA: ", 6);
    ASSERT_EQ(end_of(t, CHUNKED, bytes, 1000), -1);
}

TEST(a_length_is_a_length)
{
    ASSERT_EQ(end_of(t, "POST http://a.test/ HTTP/1.1\r\nContent-Length: 3\r\n\r\n", "abcdef", 2),
              3);
    ASSERT_EQ(end_of(t, "POST http://a.test/ HTTP/1.1\r\nContent-Length: 9\r\n\r\n", "abc", 2), -2);
    ASSERT_EQ(end_of(t, "POST http://a.test/ HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "abc", 2), 0);
    ASSERT_EQ(end_of(t, "GET http://a.test/ HTTP/1.1\r\n\r\n", "abc", 2), 0);
}
