/* The client against servers that answer well, badly, late and not at all.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/unix_address.h"
#include "cli/talk.h"
#include "harness/test.h"

/* ---- a server that says what it is told ---- */

struct script {
    const char *answers[4]; /* to the requests of one connection; NULL hangs up */
    const char *unasked;    /* said at once on the first connection, which then ends */
    size_t piece;           /* bytes at a time; 0: all at once */
    bool reset;             /* closes without reading the request */
};

/* Whole requests only: a head, and as much body as it says. */
static bool read_request(int fd)
{
    char text[65536];
    size_t n = 0, length = 0;

    while (n < sizeof(text) - 1) {
        ssize_t got = recv(fd, text + n, sizeof(text) - 1 - n, 0);
        const char *end, *field;

        if (got <= 0)
            return false;
        n += (size_t)got;
        text[n] = '\0';
        end = strstr(text, "\r\n\r\n");
        field = strstr(text, "Content-Length: ");
        length = field ? (size_t)atoi(field + 16) : 0;
        if (end && n >= (size_t)(end + 4 - text) + length)
            return true;
    }
    return false;
}

static void say(int fd, const char *text, size_t piece)
{
    size_t n = strlen(text);

    for (size_t at = 0; at < n;) {
        size_t part = piece && piece < n - at ? piece : n - at;

        if (send(fd, text + at, part, MSG_NOSIGNAL) <= 0)
            return;
        at += part;
    }
}

static void serve(int listener, const struct script *script)
{
    bool unasked = script->unasked;

    for (;; unasked = false) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            _exit(0);
        if (unasked) {
            say(fd, script->unasked, 0);
            close(fd);
            continue;
        }
        for (size_t i = 0; !script->reset && i < 4 && script->answers[i] && read_request(fd); i++)
            say(fd, script->answers[i], script->piece);
        close(fd);
    }
}

/* The socket's path; the server ends with the test. */
static const char *start(struct test *t, const struct script *script)
{
    AUTO_UNIX_ADDRESS address = UNIX_ADDRESS_INIT;
    static unsigned n;
    const char *path = test_path(t, arena_printf(&t->arena, "%u.sock", n++));
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);

    ASSERT_OK(unix_address_init(&address, path, &t->err));
    ASSERT_EQ(bind(listener, (struct sockaddr *)&address.sa, sizeof(address.sa)), 0);
    ASSERT_EQ(listen(listener, 8), 0);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener, script);
    }
    close(listener);
    return path;
}

static struct talk *connected(struct test *t, const struct script *script)
{
    struct talk *talk = NULL;

    ASSERT_OK(talk_connect(start(t, script), &talk, &t->err));
    return talk;
}

#define JSON_ANSWER(length, body)                                                                  \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " length "\r\n\r\n" body
#define STREAM                                                                                     \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

/* ---- asking ---- */

TEST(answers_are_read_whatever_pieces_they_come_in)
{
    for (size_t piece = 0; piece < 8; piece++) {
        AUTO(talk)
        talk = connected(
            t, &(struct script){ .answers = { JSON_ANSWER("8", "{\"a\":12}"),
                                              "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                                              "chunked\r\n\r\n3\r\n{\"a\r\n5\r\n\":13}\r\n"
                                              "0\r\n\r\n",
                                              "HTTP/1.1 204 No Content\r\n\r\n" },
                                 .piece = piece });
        int64_t value = 0;

        for (int64_t i = 12; i < 14; i++) {
            AUTO_JSON body = NULL;

            ASSERT_OK(talk_ask(talk, "POST", "/x", STR("{}"), &body, &t->err));
            ASSERT_EQ(json_get_i64(body, "a", &value, &t->err), 1);
            ASSERT_EQ(value, i);
        }
        AUTO_JSON body = NULL;
        ASSERT_OK(talk_ask(talk, "DELETE", "/x", STR_NONE, &body, &t->err));
        ASSERT(!body);
    }
}

TEST(an_error_of_the_server_keeps_its_code_and_words)
{
    AUTO(talk)
    talk = connected(
        t, &(struct script){
               .answers = { "HTTP/1.1 403 Forbidden\r\nContent-Length: 67\r\n\r\n"
                            "{\"error\":{\"code\":\"kill_switch_active\",\"message\":\"stopped %s "
                            "%n\"}}  ",
                            "HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops",
                            "HTTP/1.1 500 Oops\r\nContent-Length: 32\r\n\r\n"
                            "{\"error\":{\"code\":\"never heard\"}}" } });
    AUTO_JSON body = NULL;

    ASSERT_FAILS(talk_ask(talk, "GET", "/x", STR_NONE, &body, &t->err), ERR_KILL_SWITCH_ACTIVE);
    ASSERT_TEXT(test_err_text(t), "stopped %s %n");
    err_reset(&t->err);
    ASSERT_FAILS(talk_ask(talk, "GET", "/x", STR_NONE, &body, &t->err), ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "status 500");
    err_reset(&t->err);
    ASSERT_FAILS(talk_ask(talk, "GET", "/x", STR_NONE, &body, &t->err), ERR_INTERNAL);
    ASSERT(!body);
}

TEST(a_connection_that_was_closed_while_idle_is_made_anew)
{
    AUTO(talk) talk = connected(t, &(struct script){ .answers = { JSON_ANSWER("2", "{}") } });

    for (int i = 0; i < 5; i++) {
        AUTO_JSON body = NULL;

        ASSERT_OK(talk_ask(talk, "GET", "/x", STR_NONE, &body, &t->err));
        ASSERT(body);
    }
    talk_keep(talk);
    AUTO_JSON body = NULL;
    ASSERT_FAILS(talk_ask(talk, "GET", "/x", STR_NONE, &body, &t->err), ERR_PROVIDER_FAILED);
}

#define TIMED_OUT                                                                                  \
    "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 53\r\n\r\n"              \
    "{\"error\":{\"code\":\"timeout\",\"message\":\"too long\"}}  "

/* The daemon's last words on an idle connection are no answer to what is asked afterwards. */
TEST(what_came_before_the_request_is_not_its_answer)
{
    static const char *const unasked[] = { TIMED_OUT, JSON_ANSWER("7", "{\"b\":1}") };

    for (size_t i = 0; i < ARRAY_LEN(unasked); i++) {
        AUTO(talk)
        talk = connected(t, &(struct script){ .unasked = unasked[i],
                                              .answers = { JSON_ANSWER("7", "{\"a\":1}") } });
        struct pollfd fd = { .fd = talk_fd(talk), .events = POLLIN };
        AUTO_JSON body = NULL;

        ASSERT_EQ(poll(&fd, 1, -1), 1);
        ASSERT_OK(talk_ask(talk, "POST", "/x", STR("{}"), &body, &t->err));
        ASSERT(json_find(body, "a"));
    }
}

/* It crossed the request on its way: RFC 9110 (15.5.9) has the client ask again. */
TEST(a_408_is_asked_again_on_another_connection)
{
    AUTO(talk)
    talk =
        connected(t, &(struct script){ .answers = { JSON_ANSWER("7", "{\"a\":1}"), TIMED_OUT } });

    for (int i = 0; i < 3; i++) {
        AUTO_JSON body = NULL;

        ASSERT_OK(talk_ask(talk, "POST", "/x", STR("{}"), &body, &t->err));
        ASSERT(json_find(body, "a"));
    }
}

static int listen_at(struct test *t, const char *path)
{
    AUTO_UNIX_ADDRESS address = UNIX_ADDRESS_INIT;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ASSERT_OK(unix_address_init(&address, path, &t->err));
    ASSERT_EQ(bind(listener, (struct sockaddr *)&address.sa, sizeof(address.sa)), 0);
    ASSERT_EQ(listen(listener, 8), 0);
    return listener;
}

/* A keeper that stops closes its listener with us in the queue; the next one takes its place. */
TEST(a_connection_that_nobody_accepted_is_made_anew)
{
    static const struct script script = { .answers = { JSON_ANSWER("7", "{\"a\":1}") } };
    const char *path = test_path(t, "queue.sock");
    int listener = listen_at(t, path);
    AUTO(talk) talk = NULL;
    AUTO_JSON body = NULL;

    ASSERT_OK(talk_connect(path, &talk, &t->err));
    close(listener);
    unlink(path);
    listener = listen_at(t, path);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener, &script);
    }
    close(listener);
    ASSERT_OK(talk_ask(talk, "POST", "/x", STR("{}"), &body, &t->err));
    ASSERT(json_find(body, "a"));
}

TEST(a_server_that_goes_away_is_an_error_and_no_crash)
{
    static const char *const answers[] = {
        NULL,
        "HTTP/1.1",
        "HTTP/1.1 200 OK\r\nContent-Le",
        JSON_ANSWER("9", "{\"a\":1}"),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}",
        "garbage garbage garbage\r\n",
        JSON_ANSWER("7", "{\"a\":1,"),
    };

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        AUTO(talk) talk = connected(t, &(struct script){ .answers = { answers[i] } });
        AUTO_JSON body = NULL;

        err_reset(&t->err);
        if (talk_ask(talk, "GET", "/x", STR_NONE, &body, &t->err) >= 0)
            FAIL("taken for an answer: %s", answers[i]);
        ASSERT(t->err.code == ERR_PROVIDER_FAILED || t->err.code == ERR_BAD_REQUEST);
    }
}

TEST(a_big_request_to_a_server_that_hangs_up_is_an_error)
{
    AUTO(talk) talk = connected(t, &(struct script){ .reset = true });
    AUTO_JSON body = NULL;
    size_t n = 4 << 20;
    char *text = arena_alloc(&t->arena, n, 1);

    memset(text, 'x', n);
    ASSERT_FAILS(talk_ask(talk, "POST", "/x", str_of(text, n), &body, &t->err),
                 ERR_PROVIDER_FAILED);
}

TEST(a_request_beyond_the_limit_is_not_sent)
{
    AUTO(talk) talk = connected(t, &(struct script){ .answers = { JSON_ANSWER("2", "{}") } });
    AUTO_JSON body = NULL;
    char *text = calloc(17, 1 << 20);

    ASSERT_FAILS(talk_ask(talk, "POST", "/x", str_of(text, 17 << 20), &body, &t->err),
                 ERR_TOO_LARGE);
    free(text);
    err_reset(&t->err);
    ASSERT_OK(talk_ask(talk, "GET", "/x", STR_NONE, &body, &t->err));
}

TEST(nobody_at_the_socket_is_said)
{
    struct talk *talk = NULL;

    ASSERT_FAILS(talk_connect(test_path(t, "none.sock"), &talk, &t->err), ERR_NOT_FOUND);
    ASSERT_CONTAINS(test_err_text(t), "none.sock");
    ASSERT(!talk);
}

TEST(a_socket_in_a_deep_directory_is_reached)
{
    AUTO_UNIX_ADDRESS address = UNIX_ADDRESS_INIT;
    AUTO(talk) talk = NULL;
    const char *dir = test_path(t, arena_printf(&t->arena, "%0180d", 1));
    const char *path = arena_printf(&t->arena, "%s/dormouse.sock", dir);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ASSERT_EQ(mkdir(dir, 0700), 0);
    ASSERT_OK(unix_address_init(&address, path, &t->err));
    ASSERT_EQ(bind(listener, (struct sockaddr *)&address.sa, sizeof(address.sa)), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    ASSERT_OK(talk_connect(path, &talk, &t->err));
    close(listener);
}

/* ---- streams ---- */

static void expect_event(struct test *t, struct talk *talk, const char *expected)
{
    struct str json;

    ASSERT_EQ(talk_next(talk, -1, &json, &t->err), 1);
    ASSERT_STR(json, expected);
}

TEST(events_are_given_one_by_one_until_the_stream_ends)
{
    for (size_t piece = 0; piece < 12; piece++) {
        AUTO(talk)
        talk = connected(
            t, &(struct script){ .answers = { STREAM "23\r\nid: 1\nevent: a\ndata: {\"n\":1}\n\n: "
                                                     "pin\r\n"
                                                     "16\r\ng\n\ndata: {\ndata: \"n\":2\r\n"
                                                     "2b\r\n\ndata: }\n\nevent: goodbye\ndata: "
                                                     "{\"code\":1}\n\n\r\n"
                                                     "0\r\n\r\n" },
                                 .piece = piece });
        struct str json;

        ASSERT_OK(talk_follow(talk, "POST", "/run", STR("{}"), &t->err));
        expect_event(t, talk, "{\"n\":1}");
        expect_event(t, talk, "{\n\"n\":2\n}");
        ASSERT_EQ(talk_next(talk, -1, &json, &t->err), 0);
        ASSERT_EQ(talk_next(talk, -1, &json, &t->err), 0);
    }
}

TEST(a_stream_that_is_cut_is_an_error_after_its_events)
{
    AUTO(talk)
    talk =
        connected(t, &(struct script){ .answers = { STREAM "9\r\ndata: 1\n\n\r\nff\r\ndata: 2" } });
    struct str json;

    ASSERT_OK(talk_follow(talk, "POST", "/run", STR("{}"), &t->err));
    expect_event(t, talk, "1");
    ASSERT_EQ(talk_next(talk, -1, &json, &t->err), -1);
    ASSERT_EQ(t->err.code, ERR_PROVIDER_FAILED);
}

TEST(garbage_in_a_stream_is_an_error)
{
    AUTO(talk)
    talk = connected(t, &(struct script){ .answers = { STREAM "zz\r\ndata: 1\n\n\r\n" } });
    struct str json;

    ASSERT_OK(talk_follow(talk, "POST", "/run", STR("{}"), &t->err));
    ASSERT_EQ(talk_next(talk, -1, &json, &t->err), -1);
}

TEST(a_refused_stream_is_the_servers_error)
{
    AUTO(talk)
    talk =
        connected(t, &(struct script){ .answers = { "HTTP/1.1 404 No\r\nContent-Length: "
                                                    "46\r\n\r\n{\"error\":{\"code\":\"not_found\","
                                                    "\"message\":\"no\"}} ",
                                                    JSON_ANSWER("2", "{}") } });
    AUTO_JSON body = NULL;

    ASSERT_FAILS(talk_follow(talk, "GET", "/x", STR_NONE, &t->err), ERR_NOT_FOUND);
    err_reset(&t->err);
    ASSERT_OK(talk_ask(talk, "GET", "/x", STR_NONE, &body, &t->err));
}

TEST(an_open_stream_without_events_says_so)
{
    AUTO(talk) talk = NULL;
    const char *path = test_path(t, "quiet.sock");
    int listener = listen_at(t, path), fd;
    struct str json;

    ASSERT_OK(talk_connect(path, &talk, &t->err));
    fd = accept(listener, NULL, NULL);
    if (fork() == 0) { /* the head, once the request is there */
        if (read_request(fd))
            say(fd, STREAM, 0);
        _exit(0);
    }
    ASSERT_OK(talk_follow(talk, "GET", "/x", STR_NONE, &t->err));
    ASSERT_EQ(talk_next(talk, 0, &json, &t->err), 2);
    say(fd, "9\r\ndata: 1", 0);
    ASSERT_EQ(talk_next(talk, 20, &json, &t->err), 2);
    say(fd, "\n\n\r\n", 0);
    expect_event(t, talk, "1");
    close(fd);
    ASSERT_EQ(talk_next(talk, -1, &json, &t->err), -1);
    close(listener);
}
