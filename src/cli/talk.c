/* A small HTTP/1.1 client over a Unix socket: requests, answers, and event streams.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/talk.h"

#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/rand.h"
#include "base/unix_address.h"
#include "base/uuid.h"
#include "cli/answer.h"
#include "cli/keeper.h"
#include "loop/sse.h"

#define EVENT_BYTES (LIMIT_JSON_BYTES)
#define READ_BYTES  (64 * KIB)
#define ANSWER_MS   60000
/* Routes know how much they take; none takes more. */
#define REQUEST_BYTES LIMIT_JSON_BYTES

struct event {
    struct event *next;
    struct buf json;
};

struct talk {
    const struct cli_args *args; /* NULL: connected by path */
    char path[LIMIT_PATH_BYTES];
    int fd;
    struct answer answer;
    bool closed;
    bool keep;
    bool owed; /* the answer to a request that was given up has not come */
    struct sse_parser sse;
    bool following;
    struct event *first, **last, *given;
};

/* ---- connecting ---- */

static int connect_to(const char *path, int *ret_fd, struct err *err)
{
    AUTO_UNIX_ADDRESS address = UNIX_ADDRESS_INIT;
    int fd, r;

    if (unix_address_init(&address, path, err) < 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set(err, ERR_INTERNAL, "socket: %s", strerror(errno));
    do
        r = connect(fd, (const struct sockaddr *)&address.sa, sizeof(address.sa));
    while (r < 0 && errno == EINTR);
    if (r < 0) {
        err_set(err, ERR_NOT_FOUND, "no daemon answers at %s: %s", path, strerror(errno));
        close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

int talk_connect(const char *path, struct talk **ret_talk, struct err *err)
{
    struct talk *talk;
    int fd = -1;

    if (strlen(path) >= sizeof(talk->path))
        return err_set(err, ERR_BAD_REQUEST, "the path of the socket is too long");
    if (connect_to(path, &fd, err) < 0)
        return -1;
    talk = NEW(struct talk);
    talk->fd = fd;
    talk->last = &talk->first;
    answer_init(&talk->answer);
    memcpy(talk->path, path, strlen(path) + 1);
    *ret_talk = talk;
    return 0;
}

/* A keeper may end between the look and the connection: then there is another. */
static int connect_or_start(const struct cli_args *args, const char *path, struct talk **ret_talk,
                            struct err *err)
{
    for (int tries = 0; tries < 3; tries++) {
        err_reset(err);
        if (keeper_ensure(args, path, err) < 0)
            return -1;
        if (talk_connect(path, ret_talk, err) == 0) {
            (*ret_talk)->args = args;
            return 0;
        }
    }
    return -1;
}

int talk_open(const struct cli_args *args, struct talk **ret_talk, struct err *err)
{
    char path[LIMIT_PATH_BYTES];

    if (snprintf(path, sizeof(path), "%s/dormouse.sock", cli_data_dir(args)) >= (int)sizeof(path))
        return err_set(err, ERR_BAD_REQUEST, "the path of the data directory is too long");
    return connect_or_start(args, path, ret_talk, err);
}

int talk_again(const struct talk *talk, struct talk **ret_talk, struct err *err)
{
    if (!talk->args)
        return talk_connect(talk->path, ret_talk, err);
    return connect_or_start(talk->args, talk->path, ret_talk, err);
}

static void event_free(struct event *event)
{
    if (event)
        buf_release(&event->json);
    free(event);
}

void talk_free(struct talk *talk)
{
    struct event *next;

    if (!talk)
        return;
    if (talk->following)
        sse_release(&talk->sse);
    for (struct event *event = talk->first; event; event = next) {
        next = event->next;
        event_free(event);
    }
    event_free(talk->given);
    answer_release(&talk->answer);
    close(talk->fd);
    free(talk);
}

int talk_fd(const struct talk *talk)
{
    return talk->fd;
}

void talk_keep(struct talk *talk)
{
    talk->keep = true;
}

static int reconnect(struct talk *talk, struct err *err)
{
    struct talk *fresh = NULL;

    if (talk_again(talk, &fresh, err) < 0)
        return -1;
    close(talk->fd);
    talk->fd = fresh->fd;
    answer_release(&talk->answer);
    talk->answer = fresh->answer;
    free(fresh);
    talk->closed = talk->owed = false;
    return 0;
}

/* ---- reading ---- */

static int gone(struct err *err, int number)
{
    return err_set(err, ERR_PROVIDER_FAILED, "the daemon went away%s%s", number ? ": " : "",
                   number ? strerror(number) : "");
}

/* 1 something came (or the end did), 0 nothing within wait_ms or a signal came, -1. */
static int fill(struct talk *talk, int wait_ms, struct err *err)
{
    struct pollfd poll_fd = { .fd = talk->fd, .events = POLLIN };
    char *room;
    ssize_t n;
    int r = poll(&poll_fd, 1, wait_ms);

    if (r <= 0)
        return r == 0 || errno == EINTR ? 0 : gone(err, errno);
    room = buf_reserve(&talk->answer.in, READ_BYTES);
    if (!room)
        return err_set(err, ERR_TOO_LARGE, "the daemon's answer is too long");
    n = recv(talk->fd, room, READ_BYTES, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n < 0 && errno != ECONNRESET)
        return gone(err, errno);
    if (n <= 0)
        talk->closed = true;
    else
        buf_grown(&talk->answer.in, (size_t)n);
    return 1;
}

/* Until something came, at most ANSWER_MS altogether. */
static int fill_by(struct talk *talk, int64_t deadline, struct err *err)
{
    int64_t left;
    int r;

    do {
        left = deadline - clock_mono_ms(clock_system());
        if (left <= 0) {
            talk->owed = true;
            return err_set(err, ERR_TIMEOUT, "the daemon has not answered for %d s",
                           ANSWER_MS / 1000);
        }
        r = fill(talk, (int)left, err);
    } while (r == 0);
    return r;
}

static int64_t answer_deadline(void)
{
    return clock_mono_ms(clock_system()) + ANSWER_MS;
}

static int read_head(struct talk *talk, struct err *err)
{
    int64_t deadline = answer_deadline();
    int r;

    while ((r = answer_head(&talk->answer, err)) == 0) {
        if (talk->closed)
            return answer_closed(&talk->answer, err);
        if (fill_by(talk, deadline, err) < 0)
            return -1;
    }
    return r < 0 ? -1 : 0;
}

static int read_body(struct talk *talk, struct buf *out, struct err *err)
{
    struct str piece;
    int r;

    for (;;) {
        while ((r = answer_piece(&talk->answer, &piece, err)) == 1) {
            if (buf_add_str(out, piece) < 0)
                return err_set(err, ERR_TOO_LARGE, "the daemon's answer is too long");
            answer_took(&talk->answer, piece.n);
        }
        if (r < 0)
            return -1;
        if (talk->answer.at == ANSWER_OVER)
            return 0;
        if (talk->closed)
            return answer_closed(&talk->answer, err);
        if (fill_by(talk, answer_deadline(), err) < 0)
            return -1;
    }
}

/* ---- asking ---- */

static int send_all(int fd, struct str text)
{
    while (text.n) {
        ssize_t n = send(fd, text.p, text.n, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        text = str_skip(text, (size_t)n);
    }
    return 0;
}

static int write_request(struct buf *out, const char *method, const char *path, struct str body,
                         const char *accept, struct err *err)
{
    buf_printf(out, "%s %s HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\n", method, path, accept);
    if (strcmp(method, "POST") == 0) { /* sent twice, it is done once */
        struct uuid_source source;
        char key[UUID_TEXT_SIZE];

        uuid_source_init(&source, clock_system(), rand_system());
        uuid_next_text(&source, key);
        buf_printf(out, "Idempotency-Key: %s\r\n", key);
    }
    if (body.n || strcmp(method, "GET") != 0)
        buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body.n);
    buf_add_text(out, "\r\n");
    if (body.n > REQUEST_BYTES || buf_add_str(out, body) < 0)
        return err_set(err, ERR_TOO_LARGE, "the request is longer than %u bytes", REQUEST_BYTES);
    return 0;
}

static int exchange(struct talk *talk, struct str request, struct err *err)
{
    /* What it said before it went counts: a refusal may come before all was sent. */
    int sent = send_all(talk->fd, request), number = errno;

    answer_next(&talk->answer);
    if (read_head(talk, err) < 0) {
        if (sent < 0 && err->code != ERR_TIMEOUT) {
            err_reset(err);
            gone(err, number);
        }
        return -1;
    }
    return 0;
}

/* Where there is no other connection: what comes next on this one answers what was given up. */
static int read_owed(struct talk *talk, struct err *err)
{
    AUTO_BUF dropped = BUF_INIT(LIMIT_JSON_BYTES);

    if (talk->answer.at < ANSWER_BODY && read_head(talk, err) < 0)
        return -1;
    if (read_body(talk, &dropped, err) < 0)
        return -1;
    talk->owed = false;
    return 0;
}

/* Nothing is under way, so whatever came is no answer of ours: the end of the connection, or the
 * last words of a daemon that closes it. */
static bool is_stale(const struct talk *talk)
{
    struct pollfd poll_fd = { .fd = talk->fd, .events = POLLIN };

    return talk->closed || talk->owed || talk->answer.in.n || poll(&poll_fd, 1, 0) > 0;
}

/* The daemon gave the connection up before it had the request: it closed without a word, or said
 * that it waited too long for one. */
static bool was_given_up(const struct talk *talk, int r, const struct err *err)
{
    if (r == 0)
        return talk->answer.status == 408;
    return err->code == ERR_PROVIDER_FAILED && talk->answer.at == ANSWER_STATUS &&
           !talk->answer.in.n;
}

/* Sends it and reads the head. The daemon closes connections that were idle for long, and it may
 * have been started again: then the request goes over a new one. What changes something may be
 * asked for twice: turns, decisions and switches are applied once, and what is made goes by its
 * key. */
static int request(struct talk *talk, const char *method, const char *path, struct str body,
                   const char *accept, struct err *err)
{
    AUTO_BUF out = BUF_INIT(REQUEST_BYTES + ANSWER_HEAD_BYTES);
    int r;

    BUG_IF(talk->following);
    if (write_request(&out, method, path, body, accept, err) < 0)
        return -1;
    if (talk->keep && talk->owed && read_owed(talk, err) < 0)
        return -1;
    if (is_stale(talk)) {
        if (talk->keep)
            return gone(err, 0);
        if (reconnect(talk, err) < 0)
            return -1;
    }
    r = exchange(talk, buf_str(&out), err);
    if (talk->keep || !was_given_up(talk, r, err))
        return r;
    err_reset(err);
    return reconnect(talk, err) < 0 ? -1 : exchange(talk, buf_str(&out), err);
}

/* {"error":{"code","message"}} as an error of ours. */
static int server_error(int status, struct str body, struct err *err)
{
    AUTO_JSON value = NULL;
    struct json_object *error = NULL;
    char code[64];

    if (json_parse(body, &value, NULL) == 0)
        error = json_find(value, "error");
    if (!error)
        return err_set(err, ERR_PROVIDER_FAILED, "the daemon answered with status %d", status);
    snprintf(code, sizeof(code), "%.*s", STR_ARG(json_str(json_find(error, "code"))));
    return err_set(err, err_from_name(code) ? err_from_name(code) : ERR_INTERNAL, "%.*s",
                   STR_ARG(json_str(json_find(error, "message"))));
}

static int read_answer(struct talk *talk, struct buf *out, struct err *err)
{
    if (read_body(talk, out, err) < 0)
        return -1;
    if (talk->answer.close)
        talk->closed = true;
    if (talk->answer.status >= 400)
        return server_error(talk->answer.status, buf_str(out), err);
    return 0;
}

int talk_ask(struct talk *talk, const char *method, const char *path, struct str body,
             struct json_object **ret_body, struct err *err)
{
    AUTO_BUF answer = BUF_INIT(LIMIT_JSON_BYTES);

    if (request(talk, method, path, body, "application/json", err) < 0 ||
        read_answer(talk, &answer, err) < 0)
        return -1;
    if (answer.n == 0) {
        *ret_body = NULL;
        return 0;
    }
    if (json_parse(buf_str(&answer), ret_body, err) < 0)
        return err_wrap(err, "the daemon's answer to %s", path);
    return 0;
}

int talk_once(const struct cli_args *args, const char *method, const char *path, struct str body,
              struct json_object **ret_body, struct err *err)
{
    AUTO(talk) talk = NULL;

    if (talk_open(args, &talk, err) < 0)
        return -1;
    return talk_ask(talk, method, path, body, ret_body, err);
}

int talk_bytes(const struct cli_args *args, const char *method, const char *path, struct str body,
               struct buf *out, struct err *err)
{
    AUTO(talk) talk = NULL;

    if (talk_open(args, &talk, err) < 0 || request(talk, method, path, body, "*/*", err) < 0)
        return -1;
    return read_answer(talk, out, err);
}

/* ---- event streams ---- */

static int on_event(const struct sse_event *from, void *arg)
{
    struct talk *talk = arg;
    struct event *event;

    if (str_is(from->type, "goodbye"))
        return 0;
    event = NEW(struct event);
    event->json = BUF_INIT(EVENT_BYTES);
    buf_add_str(&event->json, from->data);
    *talk->last = event;
    talk->last = &event->next;
    return 0;
}

int talk_follow(struct talk *talk, const char *method, const char *path, struct str body,
                struct err *err)
{
    AUTO_BUF answer = BUF_INIT(LIMIT_JSON_BYTES);

    if (request(talk, method, path, body, "text/event-stream", err) < 0)
        return -1;
    if (talk->answer.status >= 400)
        return read_answer(talk, &answer, err);
    sse_init(&talk->sse, EVENT_BYTES, on_event, talk);
    talk->following = true;
    return 0;
}

static int feed(struct talk *talk, struct err *err)
{
    struct str piece;
    int r;

    while ((r = answer_piece(&talk->answer, &piece, err)) == 1) {
        if (sse_feed(&talk->sse, piece, err) < 0)
            return -1;
        answer_took(&talk->answer, piece.n);
    }
    return r;
}

static void give(struct talk *talk, struct str *ret_json)
{
    talk->given = talk->first;
    talk->first = talk->given->next;
    if (!talk->first)
        talk->last = &talk->first;
    *ret_json = buf_str(&talk->given->json);
}

int talk_next(struct talk *talk, int wait_ms, struct str *ret_json, struct err *err)
{
    int r;

    BUG_IF(!talk->following);
    event_free(talk->given);
    talk->given = NULL;
    for (;;) {
        if (!talk->first && feed(talk, err) < 0)
            return -1;
        if (talk->first) {
            give(talk, ret_json);
            return 1;
        }
        if (talk->answer.at == ANSWER_OVER)
            return 0;
        if (talk->closed)
            return answer_closed(&talk->answer, err);
        r = fill(talk, wait_ms, err);
        if (r < 0)
            return -1;
        if (r == 0 && wait_ms >= 0)
            return 2;
    }
}
