/* The server with well-behaved clients.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server.h"

#define STOP_MS 2000

TEST(server_tells_its_health_to_anyone)
{
    struct server *server = server_start(t, NULL);
    struct answer answer = ask(t, server, "GET", "/healthz", false, NULL, NULL);
    int length = (int)answer.body.n;

    ASSERT_EQ(answer.status, 200);
    ASSERT_STR(answer.body,
               "{\"status\":\"ok\",\"version\":\"test\",\"domains\":{\"agent\":\"ok\"}}");
    ASSERT_TEXT(answer_header(t, &answer, "Content-Type"), "application/json");
    ASSERT_TEXT(answer_header(t, &answer, "X-Content-Type-Options"), "nosniff");
    answer = ask(t, server, "HEAD", "/healthz", false, NULL, NULL);
    ASSERT_EQ(answer.status, 200);
    ASSERT_EQ(atoi(answer_header(t, &answer, "Content-Length")), length);
    setenv("TEST_HEALTH", "read_only", 1);
    answer = ask(t, server, "GET", "/healthz", false, NULL, NULL);
    ASSERT_EQ(answer.status, 503);
    ASSERT_CONTAINS(answer.body.p, "\"degraded\"");
    server_stop(server, STOP_MS);
}

TEST(server_answers_404_405_and_options_from_its_table)
{
    struct server *server = server_start(t, NULL);
    struct answer answer = ask(t, server, "GET", "/nowhere", false, NULL, NULL);

    ASSERT_EQ(answer.status, 404);
    ASSERT_CONTAINS(answer.body.p, "\"code\":\"not_found\"");
    answer = ask(t, server, "DELETE", "/healthz", false, NULL, NULL);
    ASSERT_EQ(answer.status, 405);
    ASSERT_TEXT(answer_header(t, &answer, "Allow"), "OPTIONS, GET, HEAD");
    answer = ask(t, server, "OPTIONS", "/api/v1/test/echo", true, NULL, NULL);
    ASSERT_EQ(answer.status, 204);
    ASSERT_TEXT(answer_header(t, &answer, "Allow"), "OPTIONS, POST");
    answer = ask(t, server, "OPTIONS", "*", false, NULL, NULL);
    ASSERT_EQ(answer.status, 204);
    answer = ask(t, server, "BREW", "/healthz", false, NULL, NULL);
    ASSERT_EQ(answer.status, 501);
    server_stop(server, STOP_MS);
}

TEST(server_wants_the_token_for_every_api_path_even_those_that_do_not_exist)
{
    struct server *server = server_start(t, NULL);
    static const char *const paths[] = { "/api/v1/openapi.json", "/api/v1/nothing",
                                         "/api/v1/events", "/api/v1/test/things/1" };

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct answer answer = ask(t, server, "GET", paths[i], false, NULL, NULL);

        ASSERT_EQ(answer.status, 401);
        ASSERT_TEXT(answer_header(t, &answer, "WWW-Authenticate"), "Bearer");
        answer = ask(t, server, "GET", paths[i], false, "Authorization: Bearer wrong\r\n", NULL);
        ASSERT_EQ(answer.status, 401);
    }
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/nothing", true, NULL, NULL).status, 404);
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/things/1", true, NULL, NULL).status, 200);
    server_stop(server, STOP_MS);
}

TEST(server_gives_handlers_decoded_parameters)
{
    struct server *server = server_start(t, NULL);
    struct answer answer =
        ask(t, server, "GET", "/api/v1/test/things/a%20b?q=x%26y", true, NULL, NULL);

    ASSERT_STR(answer.body, "a b|x&y");
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/things/1?r=1", true, NULL, NULL).status, 400);
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/things/1?q=%zz", true, NULL, NULL).status, 400);
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/things/%2e%2e", true, NULL, NULL).status, 400);
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/silent", true, NULL, NULL).status, 500);
    server_stop(server, STOP_MS);
}

TEST(server_checks_the_host_of_every_request)
{
    static const struct {
        const char *line, *headers;
        int status;
    } cases[] = {
        { "GET / HTTP/1.1", "Host: localhost:PORT\r\n", 200 },
        { "GET / HTTP/1.1", "HOST: LOCALHOST:PORT\r\n", 200 },
        { "GET / HTTP/1.1", "Host: [::1]:PORT\r\n", 200 },
        { "GET / HTTP/1.0", "Host: HERE\r\n", 200 },
        { "GET http://HERE/ HTTP/1.1", "Host: HERE\r\n", 200 },
        { "GET HTTP://LOCALHOST:PORT HTTP/1.1", "Host: localhost:PORT\r\n", 200 },
        { "GET / HTTP/1.1", "", 400 },
        { "GET / HTTP/1.0", "", 400 },
        { "GET / HTTP/1.1", "Host:\r\n", 400 },
        { "GET / HTTP/1.1", "Host: HERE\r\nHost: HERE\r\n", 400 },
        { "GET / HTTP/1.1", "Host: HERE\r\nhost: evil.example\r\n", 400 },
        { "GET http://HERE/ HTTP/1.1", "", 400 },
        { "GET http://HERE/ HTTP/1.0", "", 400 },
        { "GET http://HERE/ HTTP/1.1", "Host: evil.example\r\n", 400 },
        { "GET http://evil.example/ HTTP/1.1", "Host: HERE\r\n", 400 },
        { "GET http://x@HERE/ HTTP/1.1", "Host: HERE\r\n", 400 },
        { "GET http://evil.example/ HTTP/1.1", "Host: evil.example\r\n", 403 },
        { "GET / HTTP/1.1", "Host: evil.example\r\n", 403 },
        { "GET / HTTP/1.1", "Host: evil.example:PORT\r\n", 403 },
        { "GET / HTTP/1.1", "Host: 127.0.0.1.nip.io:PORT\r\n", 403 },
        { "GET / HTTP/1.1", "Host: localhost\r\n", 403 },
        { "GET / HTTP/1.1", "Host: localhost:1\r\n", 403 },
        { "GET / HTTP/1.1", "Host: localhost.:PORT\r\n", 403 },
        { "GET / HTTP/1.1", "Host: 0.0.0.0:PORT\r\n", 403 },
        { "GET / HTTP/1.1", "Host: [0:0:0:0:0:0:0:1]:PORT\r\n", 403 },
        { "GET / HTTP/1.1", "Host: HERE, evil.example\r\n", 403 },
        { "GET / HTTP/1.1", "X-Forwarded-Host: HERE\r\nHost: evil.example\r\n", 403 },
        /* Before anything else is told, whatever is asked for. */
        { "GET /nowhere HTTP/1.1", "Host: evil.example\r\n", 403 },
        { "OPTIONS * HTTP/1.1", "Host: evil.example\r\n", 403 },
        { "GET /metrics HTTP/1.1", "Host: evil.example\r\n", 403 },
        { "GET /api/v1/events HTTP/1.1", "Host: evil.example\r\nAuthorization: Bearer TOKEN\r\n",
          403 },
    };
    struct server *server = server_start(t, NULL);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int fd = client_open(server);
        struct answer answer;

        client_send_template(
            server, fd, arena_printf(&t->arena, "%s\r\n%s\r\n", cases[i].line, cases[i].headers));
        answer = client_answer(t, fd);
        if (answer.status != cases[i].status)
            test_case_failed("%s %s: %d", cases[i].line, cases[i].headers, answer.status);
        else
            test_case_passed();
        close(fd);
    }
    server_stop(server, STOP_MS);
}

/* What /metrics tells is for this machine: not for what a proxy on it passes on. */
TEST(server_tells_its_numbers_to_this_machine_only)
{
    static const struct {
        const char *more;
        int status;
    } cases[] = {
        { NULL, 200 },
        { "X-Forwarded-Proto: https\r\n", 200 },
        { "X-Forwarded-For: 203.0.113.9\r\n", 403 },
        { "x-forwarded-for: 127.0.0.1\r\n", 403 },
        { "Forwarded: for=203.0.113.9\r\n", 403 },
        { "Origin: http://evil.example\r\n", 403 },
    };
    struct server *server = server_start(t, NULL);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ASSERT_EQ(ask(t, server, "GET", "/metrics", false, cases[i].more, NULL).status,
                  cases[i].status);
    ASSERT_EQ(ask(t, server, "GET", "/metrics", true, cases[2].more, NULL).status, 403);
    server_stop(server, STOP_MS);
}

static const char *origin(struct test *t, struct server *server)
{
    return arena_printf(&t->arena, "Origin: http://127.0.0.1:%u\r\n", server_port(server));
}

TEST(server_keeps_pages_of_other_sites_out)
{
    struct server *server = server_start(t, NULL);
    const char *foreign = "Origin: http://evil.example\r\n";

    ASSERT_EQ(ask(t, server, "POST", "/api/v1/test/echo", true, foreign, "x").status, 403);
    ASSERT_EQ(ask(t, server, "POST", "/api/v1/test/public", false, foreign, "x").status, 403);
    ASSERT_EQ(ask(t, server, "GET", "/healthz", false, foreign, NULL).status, 403);
    ASSERT_EQ(ask(t, server, "POST", "/api/v1/test/echo", true, "Origin: null\r\n", "x").status,
              403);
    ASSERT_EQ(ask(t, server, "POST", "/api/v1/test/echo", true, origin(t, server), "x").status,
              200);
    ASSERT_EQ(ask(t, server, "POST", "/api/v1/test/echo", true, NULL, "x").status, 200);
    server_stop(server, STOP_MS);
}

static void make_login(struct server *server, void *arg)
{
    serve_login_url(server_serve(server), arg);
}

/* "Cookie: NAME=VALUE\r\n" after a login with a new one-time link. */
static const char *log_in(struct test *t, struct server *server)
{
    AUTO_BUF url = BUF_INIT(300);
    struct answer answer;
    const char *set, *path;

    server_do(server, make_login, &url);
    path = strstr(buf_text(&url), "/login");
    answer = ask(t, server, "HEAD", path, false, NULL, NULL); /* a preview */
    ASSERT_EQ(answer.status, 204);
    answer = ask(t, server, "GET", path, false, NULL, NULL);
    ASSERT_EQ(answer.status, 303);
    ASSERT_TEXT(answer_header(t, &answer, "Location"), "/");
    set = answer_header(t, &answer, "Set-Cookie");
    ASSERT_CONTAINS(set, "; HttpOnly; SameSite=Strict");
    ASSERT_EQ(ask(t, server, "GET", path, false, NULL, NULL).status, 403); /* only once */
    return arena_printf(&t->arena, "Cookie: %.*s\r\n", (int)strcspn(set, ";"), set);
}

TEST(server_logs_a_browser_in_by_a_one_time_link)
{
    struct server *server = server_start(t, NULL);
    const char *cookie = log_in(t, server);
    const char *both = arena_printf(&t->arena, "%s%s", cookie, origin(t, server));

    ASSERT_EQ(ask(t, server, "GET", "/api/v1/openapi.json", false, cookie, NULL).status, 200);
    ASSERT_EQ(ask(t, server, "POST", "/api/v1/test/echo", false, cookie, "x").status, 403);
    ASSERT_EQ(ask(t, server, "POST", "/api/v1/test/echo", false, both, "x").status, 200);
    ASSERT_EQ(
        ask(t, server, "GET", "/api/v1/openapi.json", false, "Cookie: dormouse=v1.1.x\r\n", NULL)
            .status,
        401);
    ASSERT_EQ(ask(t, server, "GET", "/login?code=guess", false, NULL, NULL).status, 403);
    ASSERT_EQ(ask(t, server, "GET", "/login", false, NULL, NULL).status, 403);
    server_stop(server, STOP_MS);
}

#define HANDSHAKE                                                                                  \
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"                   \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

/* Every kind of route, asked by everybody, from every kind of page. */
TEST(server_lets_in_by_who_asks_and_from_which_page)
{
    enum { NOBODY, STRANGER, BEARER, COOKIE, WHO_COUNT };
    enum { NO_PAGE, OWN_PAGE, FOREIGN_PAGE, SANDBOXED_PAGE, PAGE_COUNT };
    static const struct {
        const char *method, *path, *more, *body;
        bool acts, open; /* acts: a cookie needs a page; open: to anybody */
        int status;      /* when it is let in */
    } routes[] = {
        { "GET", "/api/v1/test/things/7", "", NULL, .status = 200 },
        { "HEAD", "/api/v1/test/things/7", "", NULL, .status = 200 },
        { "POST", "/api/v1/test/echo", "", "x", .acts = true, .status = 200 },
        { "POST", "/api/v1/test/public", "", "x", .acts = true, .open = true, .status = 200 },
        { "PUT", "/api/v1/test/echo", "", "x", .acts = true, .status = 405 },
        { "DELETE", "/api/v1/test/none", "", NULL, .acts = true, .status = 404 },
        { "GET", "/api/v1/test/none", "", NULL, .status = 404 },
        { "GET", "/healthz", "", NULL, .open = true, .status = 200 },
        { "GET", "/api/v1/test/ws", HANDSHAKE, NULL, .acts = true, .status = 101 },
        { "GET", "/api/v1/test/story/ws", HANDSHAKE, NULL, .acts = true, .status = 101 },
    };
    struct server *server = server_start(t, NULL);
    const char *who[WHO_COUNT] = { "", "Authorization: Bearer guess\r\n", "", log_in(t, server) };
    const char *page[PAGE_COUNT] = { "", origin(t, server), "Origin: http://evil.example\r\n",
                                     "Origin: null\r\n" };

    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
        for (int asks = 0; asks < WHO_COUNT; asks++)
            for (int from = 0; from < PAGE_COUNT; from++) {
                bool foreign = from >= FOREIGN_PAGE;
                bool lost = asks == COOKIE && from == NO_PAGE && routes[i].acts;
                bool known = asks >= BEARER || routes[i].open;
                int wanted = foreign || lost ? 403 : known ? routes[i].status : 401;
                int status =
                    ask(t, server, routes[i].method, routes[i].path, asks == BEARER,
                        arena_printf(&t->arena, "%s%s%s", routes[i].more, who[asks], page[from]),
                        routes[i].body)
                        .status;

                if (asks == STRANGER && status == 429)
                    continue; /* it has guessed too often */
                if (status != wanted)
                    FAIL("%s %s by %d from %d: %d, not %d", routes[i].method, routes[i].path, asks,
                         from, status, wanted);
            }
    server_stop(server, STOP_MS);
}

TEST(server_makes_login_links_for_those_who_have_the_token)
{
    struct server *server = server_start(t, NULL);
    struct answer answer = ask(t, server, "POST", "/api/v1/login-codes", true, NULL, "");

    ASSERT_EQ(answer.status, 201);
    ASSERT_CONTAINS(answer.body.p, "/login?code=");
    ASSERT_EQ(ask(t, server, "POST", "/api/v1/login-codes", false, NULL, "").status, 401);
    server_stop(server, STOP_MS);
}

TEST(server_trusts_its_owner_on_the_unix_socket)
{
    struct server *server = server_start(t, NULL);
    int fd = client_open_unix(server);

    client_send(fd, "GET /api/v1/test/things/7 HTTP/1.1\r\nHost: dormouse\r\n\r\n");
    ASSERT_STR(client_answer(t, fd).body, "7|");
    client_send(fd, "POST /api/v1/test/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    ASSERT_STR(client_answer(t, fd).body, "hi");
    close(fd);
    server_stop(server, STOP_MS);
    ASSERT_EQ(access(test_path(t, "s.sock"), F_OK), -1);
}

TEST(server_page_is_compressed_cached_and_locked_down)
{
    struct server *server = server_start(t, NULL);
    struct answer plain = ask(t, server, "GET", "/", false, NULL, NULL);
    struct answer gzip = ask(t, server, "GET", "/", false, "Accept-Encoding: gzip\r\n", NULL);
    const char *etag = answer_header(t, &plain, "ETag"), *style;
    struct answer answer;

    ASSERT_CONTAINS(answer_header(t, &plain, "Content-Security-Policy"), "default-src 'none'");
    ASSERT_TEXT(answer_header(t, &plain, "X-Frame-Options"), "DENY");
    ASSERT_TEXT(answer_header(t, &plain, "Referrer-Policy"), "no-referrer");
    ASSERT_TEXT(answer_header(t, &plain, "Cache-Control"), "no-cache");
    ASSERT_TEXT(answer_header(t, &gzip, "Content-Encoding"), "gzip");
    ASSERT_TEXT(answer_header(t, &gzip, "Vary"), "Accept-Encoding");
    ASSERT(gzip.body.n < plain.body.n && gzip.body.p[0] == 0x1f);
    ASSERT(strcmp(etag, answer_header(t, &gzip, "ETag")) != 0);
    answer = ask(t, server, "GET", "/", false,
                 arena_printf(&t->arena, "If-None-Match: %s\r\n", etag), NULL);
    ASSERT_EQ(answer.status, 304);
    ASSERT_EQ(answer.body.n, 0);
    style = strstr(plain.body.p, "rel=\"stylesheet\"");
    ASSERT(style != NULL);
    style = strstr(style, "/assets/");
    ASSERT(style != NULL);
    answer = ask(t, server, "GET", arena_copy(&t->arena, style, strcspn(style, "\"")), false, NULL,
                 NULL);
    ASSERT_EQ(answer.status, 200);
    ASSERT_CONTAINS(answer_header(t, &answer, "Content-Type"), "text/css");
    ASSERT_CONTAINS(answer_header(t, &answer, "Cache-Control"), "immutable");
    ASSERT_EQ(ask(t, server, "GET", "/assets/style.css", false, NULL, NULL).status, 404);
    ASSERT_EQ(ask(t, server, "GET", "/assets/index.html", false, NULL, NULL).status, 404);
    server_stop(server, STOP_MS);
}

TEST(server_answers_the_paths_of_views_with_the_page)
{
    static const char *const views[] = { "/inbox",      "/inbox/abc",      "/agents/a%3Ab/c",
                                         "/runs/1?x=1", "/settings/slack", "/wizard",
                                         "/journal",    "/journal/day",    "/wakes?status=queued" };
    static const char *const others[] = { "/inboxes",   "/nothing", "/assets",
                                          "/api/inbox", "/run/x",   "/Inbox" };
    struct server *server = server_start(t, NULL);
    struct answer page = ask(t, server, "GET", "/", false, NULL, NULL);
    const char *home = answer_header(t, &page, "ETag");

    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        struct answer answer = ask(t, server, "GET", views[i], false, NULL, NULL);

        ASSERT_EQ(answer.status, 200);
        ASSERT_TEXT(answer_header(t, &answer, "ETag"), home);
        ASSERT_CONTAINS(answer_header(t, &answer, "Content-Security-Policy"), "script-src 'self'");
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        ASSERT(ask(t, server, "GET", others[i], false, NULL, NULL).status >= 400);
    ASSERT_EQ(ask(t, server, "POST", "/inbox", false, NULL, NULL).status, 405);
    server_stop(server, STOP_MS);
}

/* What the page asks for first is named in its head, and only in the page's. */
TEST(server_page_names_what_it_asks_for_first)
{
    struct server *server = server_start(t, NULL);
    struct answer answer = ask(t, server, "GET", "/", false, "Accept-Encoding: gzip\r\n", NULL);
    const char *etag = answer_header(t, &answer, "ETag"), *link = answer_header(t, &answer, "Link");

    ASSERT_CONTAINS(link, "</api/v1/agents>; rel=preload; as=fetch; crossorigin");
    ASSERT_CONTAINS(link, "</api/v1/inbox>; rel=preload; as=fetch; crossorigin");
    answer =
        ask(t, server, "GET", "/", false,
            arena_printf(&t->arena, "Accept-Encoding: gzip\r\nIf-None-Match: %s\r\n", etag), NULL);
    ASSERT_EQ(answer.status, 304);
    ASSERT_TEXT(answer_header(t, &answer, "Link"), link);
    answer = ask(t, server, "GET", "/journal", false, NULL, NULL);
    ASSERT_CONTAINS(answer_header(t, &answer, "Link"), "</api/v1/inbox>");
    ASSERT(strstr(answer_header(t, &answer, "Link"), "agents") == NULL);
    server_stop(server, STOP_MS);
}

TEST(server_tells_a_browser_with_the_page_and_a_program_in_json_that_nothing_is_there)
{
    static const char browser[] = "Accept: application/xhtml+xml, Text/HTML;q=0.9, */*\r\n";
    static const char *const lost[] = { "/xyz", "/inboxes", "/Inbox", "/x/y?z", "/apiary" };
    static const char *const never[] = { "/api", "/api/v1x", "/assets", "/assets/a/b" };
    struct server *server = server_start(t, NULL);
    struct answer answer;

    for (size_t i = 0; i < ARRAY_LEN(lost); i++) {
        answer = ask(t, server, "GET", lost[i], false, browser, NULL);
        ASSERT_EQ(answer.status, 404);
        ASSERT_CONTAINS(answer_header(t, &answer, "Content-Type"), "text/html");
        ASSERT_CONTAINS(answer_header(t, &answer, "Content-Security-Policy"), "script-src 'self'");
        ASSERT_CONTAINS(answer.body.p, "<div id=\"app\">");
        answer = ask(t, server, "GET", lost[i], false, "Accept: */*\r\n", NULL);
        ASSERT_EQ(answer.status, 404);
        ASSERT_CONTAINS(answer_header(t, &answer, "Content-Type"), "application/json");
        ASSERT_EQ(ask(t, server, "POST", lost[i], true, browser, NULL).status, 404);
    }
    for (size_t i = 0; i < ARRAY_LEN(never); i++) {
        answer = ask(t, server, "GET", never[i], true, browser, NULL);
        ASSERT_EQ(answer.status, 404);
        ASSERT_CONTAINS(answer_header(t, &answer, "Content-Type"), "application/json");
    }
    answer = ask(t, server, "GET", "/api/v1/nothing", false, browser, NULL);
    ASSERT_EQ(answer.status, 401);
    server_stop(server, STOP_MS);
}

TEST(server_page_is_not_sent_again_when_the_browser_has_it)
{
    struct server *server = server_start(t, NULL);
    struct answer plain = ask(t, server, "GET", "/", false, NULL, NULL);
    struct answer gzip = ask(t, server, "GET", "/", false, "Accept-Encoding: gzip\r\n", NULL);
    const char *p = answer_header(t, &plain, "ETag"), *z = answer_header(t, &gzip, "ETag");
    const struct {
        const char *method, *accept, *match;
        int status;
    } cases[] = {
        { "GET", "identity", p, 304 },
        { "HEAD", "identity", p, 304 },
        { "GET", "gzip", z, 304 },
        { "GET", "gzip", arena_printf(&t->arena, "W/%s", z), 304 },
        { "GET", "identity", arena_printf(&t->arena, "\"x\", %s", p), 304 },
        { "GET", "gzip;q=0", "*", 304 },
        { "GET", "gzip", p, 200 }, /* another form of it */
        { "GET", "identity", z, 200 },
        { "GET", "identity", "\"x\"", 200 },
        { "GET", "identity", "", 200 },
        { "GET", "identity", arena_copy(&t->arena, p, strlen(p) - 1), 200 },
        { "GET", "identity", arena_copy(&t->arena, p + 1, strlen(p) - 2), 200 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer =
            ask(t, server, cases[i].method, "/", false,
                arena_printf(&t->arena, "Accept-Encoding: %s\r\nIf-None-Match: %s\r\n",
                             cases[i].accept, cases[i].match),
                NULL);

        if (answer.status != cases[i].status ||
            (answer.status == 304 && (answer.body.n > 0 || !*answer_header(t, &answer, "ETag") ||
                                      *answer_header(t, &answer, "Content-Encoding"))))
            test_case_failed("%s %s with %s: %d", cases[i].method, cases[i].accept, cases[i].match,
                             answer.status);
        else
            test_case_passed();
        ASSERT_TEXT(answer_header(t, &answer, "Vary"), "Accept-Encoding");
    }
    server_stop(server, STOP_MS);
}

/* Two browsers with one link: one of them is logged in. */
TEST(server_takes_a_link_once_even_from_two_at_once)
{
    struct server *server = server_start(t, NULL);

    for (int round = 0; round < 20; round++) {
        AUTO_BUF url = BUF_INIT(300);
        int fds[4], good = 0;

        server_do(server, make_login, &url);
        for (int i = 0; i < 4; i++)
            fds[i] = client_open(server);
        for (int i = 0; i < 4; i++)
            client_request(server, fds[i], "GET", strstr(buf_text(&url), "/login"), false, NULL,
                           NULL);
        for (int i = 0; i < 4; i++) {
            struct answer answer = client_answer(t, fds[i]);

            good += answer.status == 303;
            ASSERT(answer.status == 303 || answer.status == 403);
            ASSERT_EQ(*answer_header(t, &answer, "Set-Cookie") != '\0', answer.status == 303);
            close(fds[i]);
        }
        ASSERT_EQ(good, 1);
    }
    server_stop(server, STOP_MS);
}

TEST(server_answers_pipelined_requests_in_order_though_the_first_takes_long)
{
    struct server *server = server_start(t, NULL);
    int fd = client_open(server);
    char c;

    client_request(server, fd, "GET", "/api/v1/test/hold", true, NULL, NULL);
    client_request(server, fd, "GET", "/healthz", false, NULL, NULL);
    for (int i = 0; i < 5; i++)
        ASSERT_EQ(ask(t, server, "GET", "/healthz", false, NULL, NULL).status, 200);
    ASSERT_EQ(recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT), -1);
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/release", true, NULL, NULL).status, 204);
    ASSERT_STR(client_answer(t, fd).body, "held");
    ASSERT_CONTAINS(client_answer(t, fd).body.p, "\"ok\"");
    close(fd);
    server_stop(server, STOP_MS);
}

TEST(server_survives_an_answer_to_a_client_that_has_left)
{
    struct server *server = server_start(t, NULL);
    int fd = client_open(server);

    client_request(server, fd, "GET", "/api/v1/test/hold", true, NULL, NULL);
    ASSERT_EQ(ask(t, server, "GET", "/healthz", false, NULL, NULL).status, 200);
    close(fd);
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/release", true, NULL, NULL).status, 204);
    while (metric(t, server, "http_connections") > 1)
        ;
    server_stop(server, STOP_MS);
}

/* The methods that the document names are those that the server allows; how many. */
static unsigned check_path(struct test *t, struct server *server, const char *path,
                           struct json_object *item)
{
    struct answer options = ask(t, server, "OPTIONS", path, true, NULL, NULL);
    const char *allow = answer_header(t, &options, "Allow");
    struct json_object *operation;
    bool get = json_object_object_get_ex(item, "get", &operation);
    bool post = json_object_object_get_ex(item, "post", get ? NULL : &operation);

    ASSERT_EQ(options.status, 204);
    ASSERT_EQ(json_object_object_length(item), get + post);
    ASSERT_EQ(strstr(allow, "GET") != NULL, get);
    ASSERT_EQ(strstr(allow, "POST") != NULL, post);
    ASSERT(json_object_object_get_ex(operation, "summary", NULL));
    return (unsigned)(get + post);
}

TEST(server_openapi_is_true_to_its_routes)
{
    struct server *server = server_start(t, NULL);
    struct answer answer = ask(t, server, "GET", "/api/v1/openapi.json", true, NULL, NULL);
    struct json_object *root = json_tokener_parse(answer.body.p), *paths;
    unsigned operations = 0;

    ASSERT(root && json_object_object_get_ex(root, "paths", &paths));
    for (struct json_object_iterator at = json_object_iter_begin(paths),
                                     end = json_object_iter_end(paths);
         !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
        operations += check_path(t, server, json_object_iter_peek_name(&at),
                                 json_object_iter_peek_value(&at));
    ASSERT_EQ(operations, 9 + 16);
    json_object_put(root);
    server_stop(server, STOP_MS);
}

TEST(server_keeps_connections_and_answers_pipelined_requests_in_order)
{
    struct server *server = server_start(t, NULL);
    int fd = client_open(server);
    AUTO_BUF text = BUF_INIT(100000);

    for (int i = 0; i < 50; i++) {
        buf_printf(&text,
                   "GET /api/v1/test/things/%d HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                   "Authorization: Bearer %s\r\n\r\n",
                   i, server_port(server), server_token(server));
        buf_printf(&text,
                   "POST /api/v1/test/echo HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                   "Authorization: Bearer %s\r\nContent-Length: 4\r\n\r\n%04d",
                   server_port(server), server_token(server), i);
    }
    client_send_bytes(fd, buf_text(&text), text.n);
    for (int i = 0; i < 50; i++) {
        ASSERT_STR(client_answer(t, fd).body, arena_printf(&t->arena, "%d|", i));
        ASSERT_STR(client_answer(t, fd).body, arena_printf(&t->arena, "%04d", i));
    }
    close(fd);
    ASSERT_EQ(metric(t, server, "http_connections_total"), 2);
    server_stop(server, STOP_MS);
}

TEST(server_answers_a_held_request_later_and_others_meanwhile)
{
    struct server *server = server_start(t, NULL);
    int fd = client_open(server);

    client_request(server, fd, "GET", "/api/v1/test/hold", true, NULL, NULL);
    while (metric(t, server, "http_connections") < 2)
        ;
    /* The hold may still be on its way; releasing until it is answered is not a wait for time. */
    for (;;) {
        char c;

        ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/release", true, NULL, NULL).status, 204);
        if (recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 1)
            break;
    }
    ASSERT_STR(client_answer(t, fd).body, "held");
    client_request(server, fd, "GET", "/healthz", false, NULL, NULL);
    ASSERT_EQ(client_answer(t, fd).status, 200);
    close(fd);
    server_stop(server, STOP_MS);
}

TEST(server_takes_chunked_bodies_and_expect_continue)
{
    struct server *server = server_start(t, NULL);
    int fd = client_open(server);
    char line[25];

    client_request(server, fd, "POST", "/api/v1/test/echo", true, "Transfer-Encoding: chunked\r\n",
                   NULL);
    client_send(fd, "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
    ASSERT_STR(client_answer(t, fd).body, "hello world");
    client_request(server, fd, "POST", "/api/v1/test/echo", true,
                   "Expect: 100-continue\r\nContent-Length: 3\r\n", NULL);
    ASSERT_EQ(client_read(fd, line, 25), 25);
    ASSERT_EQ(memcmp(line, "HTTP/1.1 100 Continue\r\n\r\n", 25), 0);
    client_send(fd, "abc");
    ASSERT_STR(client_answer(t, fd).body, "abc");
    close(fd);
    server_stop(server, STOP_MS);
}

TEST(server_sends_big_answers_to_slow_readers)
{
    struct server *server = server_start(t, NULL);
    int fd = client_open(server);
    struct answer answer;

    client_request(server, fd, "GET", "/api/v1/test/big", true, NULL, NULL);
    ASSERT_EQ(ask(t, server, "GET", "/healthz", false, NULL, NULL).status, 200);
    answer = client_answer(t, fd);
    ASSERT_EQ(answer.body.n, 32u << 20);
    ASSERT_EQ(answer.body.p[answer.body.n - 1], 'b');
    close(fd);
    server_stop(server, STOP_MS);
}

TEST(server_counts_what_it_does_without_naming_it)
{
    struct server *server = server_start(t, NULL);
    struct answer answer;

    ask(t, server, "GET", "/api/v1/test/things/secret-name?q=secret-query", true, NULL, NULL);
    answer = ask(t, server, "GET", "/metrics", false, NULL, NULL);
    ASSERT_CONTAINS(answer.body.p, "dormouse_http_requests_total{method=\"GET\",route=\"/api/v1/"
                                   "test/things/{id}\",status=\"2xx\"} 1\n");
    ASSERT(strstr(answer.body.p, "secret") == NULL);
    ASSERT_CONTAINS(answer.body.p, "# TYPE dormouse_ticks_total counter\n");
    server_stop(server, STOP_MS);
}

TEST(server_refuses_to_start_when_the_port_is_taken_and_cleans_up)
{
    struct server *server = server_start(t, NULL);
    char listen[64];
    struct serve_config config = { .listen = listen, .token_path = test_path(t, "token2") };
    struct serve *second = NULL;
    AUTO(loop) loop = NULL;

    snprintf(listen, sizeof(listen), "127.0.0.1:%u", server_port(server));
    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    ASSERT_FAILS(serve_start(loop, &config, &second, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), listen);
    ASSERT_CONTAINS(test_err_text(t), "--listen");
    /* The Unix socket fails after the first door is open: everything is undone. */
    err_reset(&t->err);
    config.listen = "127.0.0.1:0";
    config.socket_path = test_path(t, "no-such-dir/s.sock");
    ASSERT_FAILS(serve_start(loop, &config, &second, &t->err), ERR_INTERNAL);
    server_stop(server, STOP_MS);
}

TEST(server_finishes_what_is_under_way_when_it_stops)
{
    struct server *server = server_start(t, NULL);
    int held = client_open(server), idle = client_open(server), half = client_open(server);
    struct answer answer;

    client_request(server, idle, "GET", "/healthz", false, NULL, NULL);
    ASSERT_EQ(client_answer(t, idle).status, 200);
    client_request(server, half, "POST", "/api/v1/test/echo", true, "Content-Length: 4\r\n", NULL);
    client_request(server, held, "GET", "/api/v1/test/hold", true, NULL, NULL);
    /* Both are there when an answer asked for later has come. */
    ASSERT_EQ(ask(t, server, "GET", "/healthz", false, NULL, NULL).status, 200);
    server_begin_stop(server, 300);
    ASSERT(client_closed(idle));
    client_send(half, "done");
    answer = client_answer(t, half);
    ASSERT_STR(answer.body, "done");
    ASSERT_TEXT(answer_header(t, &answer, "Connection"), "close");
    /* The held one is never answered: the deadline ends it. */
    ASSERT_EQ(client_answer(t, held).status, 0);
    server_join(server);
    close(held), close(idle), close(half);
}

TEST(server_raises_the_descriptor_limit_and_remembers_the_old_one)
{
    struct rlimit limit, before;
    struct server *server;

    getrlimit(RLIMIT_NOFILE, &before);
    limit = before;
    limit.rlim_cur = 1024;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    server = server_start(t, NULL);
    getrlimit(RLIMIT_NOFILE, &limit);
    ASSERT(limit.rlim_cur > 1024);
    ASSERT_EQ(serve_nofile(server_serve(server)), 1024);
    server_stop(server, STOP_MS);
}
