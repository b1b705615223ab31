/* The proxy with real sockets and real servers.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/http_peer.h"
#include "proxy_rig.h"

static bool hello(struct peer_conn *conn)
{
    return peer_answer(conn, 200, "", "hello") && !strstr(conn->head, "Connection: close");
}

/* An entry "host:PORT" of the peer. */
static const char *at(struct test *t, const struct http_peer *peer, const char *host)
{
    return arena_printf(&t->arena, "%s:%u", host, peer->port);
}

static const char *get(struct test *t, const struct http_peer *peer, const char *host,
                       const char *path)
{
    return arena_printf(&t->arena, "GET http://%s:%u%s HTTP/1.1\r\nHost: other.test\r\n\r\n", host,
                        peer->port, path);
}

static const char *connect_line(struct test *t, const struct http_peer *peer, const char *host)
{
    return arena_printf(&t->arena, "CONNECT %s:%u HTTP/1.1\r\nHost: x\r\n\r\n", host, peer->port);
}

#define START(rig, list, names)                                                                    \
    rig_start(t, &(rig), &(struct proxy_config){ .allow_domains = (list) }, names)

/* ---- what is admitted ---- */

TEST(a_listed_address_is_reached_in_plain_http)
{
    struct http_peer peer;
    struct rig rig;
    const char *text;

    peer_start(&peer, hello, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, NULL);
    text = rig_ask(t, &rig, get(t, &peer, "127.0.0.1", "/a?b=c"));
    ASSERT_CONTAINS(text, "HTTP/1.1 200 ");
    ASSERT_CONTAINS(text, "hello");
    ASSERT_CONTAINS(peer.shared->last_head, "GET /a?b=c HTTP/1.1\r\n");
    rig_stop(t, &rig);
    ASSERT_EQ(rig.shared->refusals, 0);
    ASSERT_EQ(rig.shared->counts.admitted, 1);
    ASSERT_EQ(rig.shared->counts.refused, 0);
    ASSERT(access(rig.path, F_OK) < 0);
}

TEST(a_tunnel_carries_bytes_both_ways)
{
    struct http_peer peer;
    struct rig rig;
    int fd;

    peer_start(&peer, hello, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, NULL);
    fd = rig_client(t, &rig);
    rig_send(fd, connect_line(t, &peer, "127.0.0.1"));
    ASSERT_TEXT(rig_read_until(t, fd, "\r\n\r\n"), "HTTP/1.1 200 Connection established\r\n\r\n");
    for (int i = 0; i < 3; i++) {
        rig_send(fd, "GET /x HTTP/1.1\r\nHost: y\r\n\r\n");
        ASSERT_CONTAINS(rig_read_until(t, fd, "hello"), "HTTP/1.1 200 ");
    }
    close(fd);
    rig_stop(t, &rig);
    ASSERT_EQ(peer.shared->connections, 1);
    ASSERT_EQ(peer.shared->requests, 3);
}

TEST(bytes_right_behind_a_connect_are_not_lost)
{
    struct http_peer peer;
    struct rig rig;
    int fd;

    peer_start(&peer, hello, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, NULL);
    fd = rig_client(t, &rig);
    rig_send(fd, arena_printf(&t->arena, "%sGET /early HTTP/1.1\r\nHost: y\r\n\r\n",
                              connect_line(t, &peer, "127.0.0.1")));
    ASSERT_CONTAINS(rig_read_until(t, fd, "hello"), "established");
    ASSERT_CONTAINS(peer.shared->last_head, "/early");
    close(fd);
    rig_stop(t, &rig);
}

TEST(a_listed_name_with_a_listed_address_is_reached)
{
    static const struct rig_name names[] = { { "intra.test", "127.0.0.1" }, { NULL, NULL } };
    struct http_peer peer;
    struct rig rig;

    peer_start(&peer, hello, NULL);
    const char *list[] = { at(t, &peer, "Intra.Test"), at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, names);
    ASSERT_CONTAINS(rig_ask(t, &rig, get(t, &peer, "INTRA.test", "/")), " 200 ");
    ASSERT_CONTAINS(peer.shared->last_head,
                    arena_printf(&t->arena, "\r\nHost: intra.test:%u\r\n", peer.port));
    ASSERT(!strstr(peer.shared->last_head, "other.test"));
    rig_stop(t, &rig);
}

TEST(the_next_address_is_tried_when_one_does_not_answer)
{
    static const struct rig_name names[] = { { "two.test", "127.0.0.2 10.1.1.1 127.0.0.1" },
                                             { NULL, NULL } };
    struct http_peer peer;
    struct rig rig;

    peer_start(&peer, hello, NULL);
    /* 127.0.0.2 is listed and refuses; 10.1.1.1 is not listed and is passed over. */
    const char *list[] = { at(t, &peer, "two.test"), at(t, &peer, "127.0.0.2"),
                           at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, names);
    ASSERT_CONTAINS(rig_ask(t, &rig, get(t, &peer, "two.test", "/")), " 200 ");
    rig_stop(t, &rig);
}

/* Each address is judged, not the first alone: one that is listed lets no other in. */
TEST(of_several_addresses_only_those_that_may_be_reached_are_dialled)
{
    static const struct rig_name names[] = { { "first.test", "127.0.0.2 127.0.0.1" },
                                             { "last.test", "127.0.0.1 127.0.0.2" },
                                             { "middle.test", "127.0.0.2 127.0.0.1 127.0.0.3" },
                                             { NULL, NULL } };
    struct http_peer peer;
    struct rig rig;

    /* The peer is at 127.0.0.1, which is not listed. */
    peer_start(&peer, hello, NULL);
    const char *list[] = { at(t, &peer, "*.test"), at(t, &peer, "127.0.0.2"),
                           at(t, &peer, "127.0.0.3"), NULL };

    START(rig, list, names);
    for (size_t i = 0; names[i].name; i++)
        ASSERT_CONTAINS(rig_ask(t, &rig, get(t, &peer, names[i].name, "/")), " 502 ");
    rig_stop(t, &rig);
    ASSERT_EQ(peer.shared->connections, 0);
}

/* ---- what is refused ---- */

TEST(a_host_that_is_not_listed_gets_a_sentence_and_no_lookup)
{
    static const struct rig_name names[] = { { NULL, NULL } };
    const char *list[] = { "example.org", "*.example.net", NULL };
    static const char *const hosts[] = {
        "evil.test",   "example.org.evil.test", "xexample.org",     "www.example.org",
        "example.net", "evilexample.net",       "example.org:8080", "127.0.0.1",
        "[::1]",       "169.254.169.254"
    };
    struct rig rig;

    START(rig, list, names);
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        const char *text =
            rig_ask(t, &rig, arena_printf(&t->arena, "GET http://%s/ HTTP/1.1\r\n\r\n", hosts[i]));

        ASSERT_CONTAINS(text, "HTTP/1.1 403 Forbidden\r\n");
        ASSERT_CONTAINS(text, "may not be reached from the sandbox: it is not among the allowed");
        ASSERT_EQ(rig.shared->refusals, i + 1);
    }
    ASSERT_TEXT(rig.shared->host, "169.254.169.254");
    ASSERT_EQ(rig.shared->port, 80);
    ASSERT_CONTAINS(rig.shared->why, "not among the allowed hosts");
    ASSERT_EQ(rig.shared->lookups, 0);
    rig_stop(t, &rig);
    ASSERT_EQ(rig.shared->counts.refused, ARRAY_LEN(hosts));
    ASSERT_EQ(rig.shared->counts.admitted, 0);
}

TEST(a_connect_that_is_refused_is_told_the_same)
{
    const char *list[] = { "example.org", NULL };
    struct rig rig;
    const char *text;

    START(rig, list, NULL);
    text = rig_ask(t, &rig, "CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    ASSERT_CONTAINS(text, "HTTP/1.1 403 ");
    ASSERT_CONTAINS(text, "evil.test:443 may not be reached");
    text = rig_ask(t, &rig, "CONNECT example.org:22 HTTP/1.1\r\n\r\n");
    ASSERT_CONTAINS(text, "example.org:22 may not be reached");
    rig_stop(t, &rig);
    ASSERT_EQ(rig.shared->port, 22);
}

TEST(an_empty_list_admits_nothing)
{
    struct rig rig;

    START(rig, NULL, NULL);
    ASSERT_CONTAINS(rig_ask(t, &rig, "GET http://example.org/ HTTP/1.1\r\n\r\n"), " 403 ");
    rig_stop(t, &rig);
}

TEST(a_listed_name_that_leads_inside_is_refused)
{
    static const struct rig_name names[] = {
        { "a.test", "127.0.0.1" },
        { "b.test", "10.0.0.7" },
        { "c.test", "169.254.169.254" },
        { "d.test", "::1" },
        { "e.test", "::ffff:127.0.0.1" },
        { "f.test", "64:ff9b::7f00:1" },
        { "g.test", "0.0.0.0" },
        { "h.test", "fe80::1" },
        { "i.test", "192.168.1.1 fd00::1" },
        { "j.test", "2002:7f00:1::" },
        { "k.test", "100.64.0.1" },
        { "l.test", "224.0.0.1" },
        { "m.test", "::" },
        { NULL, NULL },
    };
    const char *list[] = { "*.test", NULL };
    struct rig rig;

    START(rig, list, names);
    for (size_t i = 0; names[i].name; i++) {
        const char *text = rig_ask(
            t, &rig, arena_printf(&t->arena, "CONNECT %s:443 HTTP/1.1\r\n\r\n", names[i].name));

        ASSERT_CONTAINS(text, "HTTP/1.1 403 ");
        ASSERT_CONTAINS(text, "address that is not listed itself");
        ASSERT_TEXT(rig.shared->host, names[i].name);
    }
    rig_stop(t, &rig);
    ASSERT_EQ(rig.shared->counts.admitted, 0);
}

TEST(an_address_that_is_listed_for_another_port_is_refused)
{
    static const struct rig_name names[] = { { "a.test", "127.0.0.1" }, { NULL, NULL } };
    struct http_peer peer;
    struct rig rig;

    peer_start(&peer, hello, NULL);
    const char *list[] = { at(t, &peer, "a.test"), "127.0.0.1:1", NULL };

    START(rig, list, names);
    ASSERT_CONTAINS(rig_ask(t, &rig, get(t, &peer, "a.test", "/")), " 403 ");
    ASSERT_CONTAINS(rig_ask(t, &rig, get(t, &peer, "127.0.0.1", "/")), " 403 ");
    rig_stop(t, &rig);
    ASSERT_EQ(peer.shared->connections, 0);
}

TEST(other_spellings_of_an_address_are_the_address)
{
    const char *list[] = { "*.test", "example.org", NULL };
    static const char *const spellings[] = { "0x7f.1", "2130706433", "0177.0.0.1", "127.1",
                                             "[::ffff:127.0.0.1]" };
    struct rig rig;

    START(rig, list, NULL);
    for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
        ASSERT_CONTAINS(
            rig_ask(t, &rig,
                    arena_printf(&t->arena, "CONNECT %s:443 HTTP/1.1\r\n\r\n", spellings[i])),
            " 403 ");
    rig_stop(t, &rig);
}

TEST(refusals_are_told_one_by_one_up_to_a_cap)
{
    struct rig rig;

    START(rig, NULL, NULL);
    for (int i = 0; i < PROXY_REPORTS_MAX + 20; i++)
        rig_ask(t, &rig, "GET http://evil.test/ HTTP/1.1\r\n\r\n");
    rig_stop(t, &rig);
    ASSERT_EQ(rig.shared->refusals, PROXY_REPORTS_MAX + 1);
    ASSERT_CONTAINS(rig.shared->why, "only counted");
    ASSERT_EQ(rig.shared->counts.refused, PROXY_REPORTS_MAX + 20);
}

/* ---- requests that are not plain ---- */

TEST(requests_with_two_readings_are_refused)
{
    static const char *const requests[] = {
        "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET https://a.test/ HTTP/1.1\r\n\r\n",
        "GET http://u:p@a.test/ HTTP/1.1\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nA: b\nB: c\r\n\r\n",
        "GET http://a.test/ HTTP/2\r\n\r\n",
        "CONNECT a.test HTTP/1.1\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
        "nonsense\r\n\r\n",
        "\x16\x03\x01\x02\r\n\r\n",
    };
    const char *list[] = { "a.test", NULL };
    struct rig rig;

    START(rig, list, NULL);
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        ASSERT_CONTAINS(rig_ask(t, &rig, requests[i]), "HTTP/1.1 400 Bad Request\r\n");
        ASSERT_EQ(rig.shared->refusals, i + 1);
    }
    rig_stop(t, &rig);
}

TEST(a_head_that_never_ends_is_cut_off)
{
    struct rig rig;
    char *big = arena_alloc(&t->arena, PROXY_HEAD_MAX + 100, 1);

    memset(big, 'a', PROXY_HEAD_MAX + 50);
    memcpy(big, "GET http://a.test/ HTTP/1.1\r\nX: ", 32);
    START(rig, NULL, NULL);
    ASSERT_CONTAINS(rig_ask(t, &rig, big), "more than 16 KiB");
    rig_stop(t, &rig);
}

TEST(a_client_that_drips_is_cut_off)
{
    struct proxy_config config = { .head_ms = 200 };
    struct rig rig;
    int64_t began = clock_mono_ms(clock_system());
    int fd;

    rig_start(t, &rig, &config, NULL);
    fd = rig_client(t, &rig);
    rig_send(fd, "GET http://a");
    ASSERT_CONTAINS(rig_read(t, fd), "HTTP/1.1 408 ");
    ASSERT(clock_mono_ms(clock_system()) - began >= 200);
    close(fd);
    rig_stop(t, &rig);
}

TEST(a_second_request_never_rides_along)
{
    struct http_peer peer;
    struct rig rig;
    const char *text;

    peer_start(&peer, hello, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, NULL);
    text = rig_ask(t, &rig,
                   arena_printf(&t->arena,
                                "POST http://127.0.0.1:%u/one HTTP/1.1\r\nContent-Length: 3\r\n\r\n"
                                "abcGET /two HTTP/1.1\r\nHost: evil.test\r\n\r\n",
                                peer.port));
    ASSERT_CONTAINS(text, " 200 ");
    text = rig_ask(t, &rig,
                   arena_printf(&t->arena,
                                "POST http://127.0.0.1:%u/one HTTP/1.1\r\nTransfer-Encoding: "
                                "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /two HTTP/1.1\r\n\r\n",
                                peer.port));
    ASSERT_CONTAINS(text, " 200 ");
    rig_stop(t, &rig);
    ASSERT_EQ(peer.shared->requests, 2);
    ASSERT(!strstr(peer.shared->last_head, "/two"));
}

TEST(a_broken_chunk_ends_the_connection)
{
    struct http_peer peer;
    struct rig rig;

    peer_start(&peer, hello, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, NULL);
    ASSERT_TEXT(rig_ask(t, &rig,
                        arena_printf(&t->arena,
                                     "POST http://127.0.0.1:%u/ HTTP/1.1\r\nTransfer-Encoding: "
                                     "chunked\r\n\r\nzz\r\nabc",
                                     peer.port)),
                "");
    rig_stop(t, &rig);
}

TEST(hop_by_hop_fields_are_kept_back)
{
    struct http_peer peer;
    struct rig rig;

    peer_start(&peer, hello, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, NULL);
    rig_ask(t, &rig,
            arena_printf(&t->arena,
                         "GET http://127.0.0.1:%u/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: "
                         "secret\r\nProxy-Connection: keep-alive\r\nConnection: X-Mine, close\r\n"
                         "X-Mine: 1\r\nUpgrade: h2c\r\nAccept: */*\r\n\r\n",
                         peer.port));
    ASSERT_CONTAINS(peer.shared->last_head, "Accept: */*\r\n");
    ASSERT_CONTAINS(peer.shared->last_head, "Connection: close\r\n");
    ASSERT(!strstr(peer.shared->last_head, "secret"));
    ASSERT(!strstr(peer.shared->last_head, "X-Mine"));
    ASSERT(!strstr(peer.shared->last_head, "h2c"));
    rig_stop(t, &rig);
}

/* ---- trouble ---- */

TEST(what_can_t_be_reached_is_502_and_no_refusal)
{
    static const struct rig_name names[] = {
        { "gone.test", "" }, { "dead.test", "127.0.0.3" }, { "refused.test", "" }, { NULL, NULL }
    };
    const char *list[] = { "*.test", "127.0.0.3", "127.0.0.4", NULL };
    struct rig rig;
    const char *text;

    START(rig, list, names);
    text = rig_ask(t, &rig, "CONNECT gone.test:443 HTTP/1.1\r\n\r\n");
    ASSERT_CONTAINS(text, "HTTP/1.1 502 ");
    ASSERT_CONTAINS(text, "no such name");
    ASSERT_CONTAINS(rig_ask(t, &rig, "CONNECT dead.test:443 HTTP/1.1\r\n\r\n"),
                    "connection refused");
    ASSERT_CONTAINS(rig_ask(t, &rig, "CONNECT 127.0.0.4:443 HTTP/1.1\r\n\r\n"),
                    "connection refused");
    ASSERT_CONTAINS(rig_ask(t, &rig, "CONNECT refused.test:443 HTTP/1.1\r\n\r\n"),
                    "no more lookups");
    rig_stop(t, &rig);
    ASSERT_EQ(rig.shared->refusals, 0);
}

TEST(a_name_server_that_never_answers_is_given_up)
{
    static const struct rig_name names[] = { { "slow.test", "-" }, { NULL, NULL } };
    const char *list[] = { "slow.test", NULL };
    struct proxy_config config = { .allow_domains = list, .connect_ms = 100 };
    struct rig rig;
    int fd;

    rig_start(t, &rig, &config, names);
    ASSERT_CONTAINS(rig_ask(t, &rig, "CONNECT slow.test:443 HTTP/1.1\r\n\r\n"), "HTTP/1.1 504 ");
    /* A client that leaves meanwhile, and an end of everything while a name is looked up. */
    fd = rig_client(t, &rig);
    rig_send(fd, "CONNECT slow.test:443 HTTP/1.1\r\n\r\n");
    close(fd);
    fd = rig_client(t, &rig);
    rig_send(fd, "CONNECT slow.test:443 HTTP/1.1\r\n\r\n");
    rig_stop(t, &rig);
    close(fd);
}

TEST(connections_beyond_the_cap_are_told_so)
{
    struct proxy_config config = { .connections_max = 3 };
    struct rig rig;
    int fds[3];

    rig_start(t, &rig, &config, NULL);
    for (int i = 0; i < 3; i++) {
        fds[i] = rig_client(t, &rig);
        rig_send(fds[i], "GET ");
    }
    ASSERT_CONTAINS(rig_ask(t, &rig, "GET http://a.test/ HTTP/1.1\r\n\r\n"), "HTTP/1.1 503 ");
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    rig_stop(t, &rig);
}

static bool stall(struct peer_conn *conn)
{
    peer_text(conn, "HTTP/1.1 200 OK\r\n\r\nbegun");
    return peer_stall(conn);
}

TEST(a_connection_on_which_nothing_moves_is_closed)
{
    struct http_peer peer;
    struct rig rig;

    peer_start(&peer, stall, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };
    struct proxy_config config = { .allow_domains = list, .idle_ms = 200 };

    rig_start(t, &rig, &config, NULL);
    ASSERT_CONTAINS(rig_ask(t, &rig, get(t, &peer, "127.0.0.1", "/")), "begun");
    rig_stop(t, &rig);
}

static bool cut(struct peer_conn *conn)
{
    peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    return peer_reset(conn);
}

TEST(a_server_that_breaks_off_breaks_the_client_off)
{
    struct http_peer peer;
    struct rig rig;
    char answer[1];

    peer_start(&peer, cut, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, NULL);
    rig_ask(t, &rig, get(t, &peer, "127.0.0.1", "/"));
    /* The proxy sees the client leave in a turn of its own. */
    do {
        ASSERT_EQ(write(rig.control, "?", 1), 1);
        ASSERT_EQ(read(rig.control, answer, 1), 1);
    } while (rig.shared->counts.open > 0);
    rig_stop(t, &rig);
}

#define BIG (8 * 1024 * 1024)

static bool big(struct peer_conn *conn)
{
    static char block[65536];

    memset(block, 'b', sizeof(block));
    peer_text(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", BIG);
    for (int i = 0; i < BIG / (int)sizeof(block); i++)
        if (!peer_send(conn, block, sizeof(block)))
            return false;
    return false;
}

/* Resident size of a process in KiB. */
static long resident(struct test *t, int pid)
{
    struct str text = test_read_file(t, arena_printf(&t->arena, "/proc/%d/statm", pid));
    long pages = 0;

    sscanf(text.p, "%*d %ld", &pages);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

TEST(a_client_that_does_not_read_holds_the_server_back)
{
    struct http_peer peer;
    struct rig rig;
    char *buf = arena_alloc(&t->arena, 65536, 1);
    size_t total = 0;
    long before;
    ssize_t n;
    int fd;

    peer_start(&peer, big, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, NULL);
    before = resident(t, rig.pid);
    fd = rig_client(t, &rig);
    rig_send(fd, get(t, &peer, "127.0.0.1", "/"));
    rig_read_until(t, fd, "\r\n\r\n");
    ASSERT(resident(t, rig.pid) - before < 4096);
    while ((n = recv(fd, buf, 65536, 0)) > 0)
        total += (size_t)n;
    ASSERT_EQ(total, BIG);
    close(fd);
    rig_stop(t, &rig);
}

static bool count_body(struct peer_conn *conn)
{
    return peer_answer(conn, 200, "", "got it") && false;
}

TEST(a_large_body_arrives_whole)
{
    struct http_peer peer;
    struct rig rig;
    char *block = arena_alloc(&t->arena, 100001, 1);
    int fd;

    peer_start(&peer, count_body, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };

    memset(block, 'u', 100000);
    START(rig, list, NULL);
    fd = rig_client(t, &rig);
    rig_send(fd,
             arena_printf(&t->arena,
                          "POST http://127.0.0.1:%u/ HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n",
                          peer.port));
    for (int i = 0; i < 20; i++)
        rig_send(fd, block);
    ASSERT_CONTAINS(rig_read(t, fd), "got it");
    close(fd);
    rig_stop(t, &rig);
    ASSERT_EQ(peer.shared->body_bytes, 2000000);
}

static bool answer_at_end(struct peer_conn *conn)
{
    char byte;

    while (read(conn->fd, &byte, 1) == 1)
        ;
    return peer_text(conn, "after the end") && false;
}

TEST(half_open_connections_work)
{
    struct http_peer peer;
    struct rig rig;
    int fd;

    peer_start(&peer, answer_at_end, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, NULL);
    fd = rig_client(t, &rig);
    rig_send(fd, connect_line(t, &peer, "127.0.0.1"));
    rig_read_until(t, fd, "\r\n\r\n");
    rig_send(fd, "GET / HTTP/1.1\r\n\r\n");
    shutdown(fd, SHUT_WR);
    ASSERT_TEXT(rig_read(t, fd), "after the end");
    close(fd);
    rig_stop(t, &rig);
}

TEST(everything_ends_when_the_proxy_is_freed)
{
    struct http_peer peer;
    struct rig rig;
    int fd, idle;

    peer_start(&peer, stall, NULL);
    const char *list[] = { at(t, &peer, "127.0.0.1"), NULL };

    START(rig, list, NULL);
    idle = rig_client(t, &rig);
    fd = rig_client(t, &rig);
    rig_send(fd, get(t, &peer, "127.0.0.1", "/"));
    rig_read_until(t, fd, "begun");
    rig_stop(t, &rig);
    ASSERT_TEXT(rig_read(t, fd), "");
    ASSERT_TEXT(rig_read(t, idle), "");
}

/* ---- starting ---- */

TEST(the_socket_is_the_owner_s_alone)
{
    struct rig rig;
    struct stat st;

    START(rig, NULL, NULL);
    ASSERT_EQ(stat(rig.path, &st), 0);
    ASSERT(S_ISSOCK(st.st_mode));
    ASSERT_EQ(st.st_mode & 0777, 0600);
    rig_stop(t, &rig);
}

TEST(wrong_lists_and_paths_are_named)
{
    static const char *const bad[] = {
        "http://a.test", "a.test/x", "a b",       "*.1.2.3.4", "a.test:0",
        "a.test:65536",  "a.test:x", "*",         "*.*.test",  "",
        "[::1",          "a..b",     "1.2.3.4.5", "é.test",    "[::1]x"
    };
    AUTO(loop) loop = NULL;
    struct proxy *proxy;
    struct proxy_config config = { .socket_path = test_path(t, "s") };
    char *deep;

    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const char *list[] = { "fine.test", bad[i], NULL };

        config.allow_domains = list;
        ASSERT_FAILS(proxy_start(loop, &config, &proxy, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), arena_printf(&t->arena, "allowed host %s", bad[i]));
    }
    config.allow_domains = NULL;
    deep = arena_alloc(&t->arena, 300, 1);
    memset(deep, 'x', 200);
    config.socket_path = deep;
    ASSERT_FAILS(proxy_start(loop, &config, &proxy, &t->err), ERR_BAD_REQUEST);
    config.socket_path = test_path(t, "no/such/dir");
    ASSERT_FAILS(proxy_start(loop, &config, &proxy, &t->err), ERR_SANDBOX_UNAVAILABLE);
    test_write_file(test_path(t, "taken"), "x", 1);
    config.socket_path = test_path(t, "taken");
    ASSERT_FAILS(proxy_start(loop, &config, &proxy, &t->err), ERR_SANDBOX_UNAVAILABLE);
    ASSERT_EQ(access(test_path(t, "taken"), F_OK), 0);
}
