/* A small HTTP/1.1 client: requests, answers with a length or in chunks, and event streams.
 *
 * The other side is our own daemon on a socket that only the owner can reach; it is read with
 * bounds all the same.
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
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/keeper.h"
#include "loop/sse.h"

#define HEAD_BYTES  (64 * KIB)
#define EVENT_BYTES (8 * MIB)
#define READ_BYTES  (64 * KIB)

enum body_kind { BODY_NONE = 0, BODY_LENGTH, BODY_CHUNKED, BODY_TO_END };

struct talk {
    char path[LIMIT_PATH_BYTES];
    int fd;
    struct buf in; /* read and not used */
    enum body_kind kind;
    uint64_t left; /* of the body, or of the chunk */
    bool body_over, closed;
    int status;
    struct sse_parser sse;
    bool following;
    struct event {
        struct event *next;
        struct buf json;
    } * first, **last, *given;
};

/* ---- connecting ---- */

static int connect_to(const char *path, int *ret_fd, struct err *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    AUTO_FD fd = -1;

    if (strlen(path) >= sizeof(address.sun_path))
        return err_set(err, ERR_BAD_REQUEST, "%s is too long for a socket's name (%zu bytes)", path,
                       sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return err_set(err, ERR_NOT_FOUND, "no daemon answers at %s: %s", path, strerror(errno));
    *ret_fd = fd;
    fd = -1;
    return 0;
}

static int talk_new(const char *path, struct talk **ret_talk, struct err *err)
{
    struct talk *talk;
    int fd = -1;

    if (connect_to(path, &fd, err) < 0)
        return -1;
    talk = NEW(struct talk);
    *talk = (struct talk){ .fd = fd, .in = BUF_INIT(EVENT_BYTES) };
    talk->last = &talk->first;
    snprintf(talk->path, sizeof(talk->path), "%s", path);
    *ret_talk = talk;
    return 0;
}

int talk_open(const struct cli_args *args, struct talk **ret_talk, struct err *err)
{
    char path[LIMIT_PATH_BYTES];

    snprintf(path, sizeof(path), "%s/dormouse.sock", cli_data_dir(args));
    if (keeper_ensure(args, path, err) < 0)
        return -1;
    return talk_new(path, ret_talk, err);
}

int talk_again(const struct talk *talk, struct talk **ret_talk, struct err *err)
{
    return talk_new(talk->path, ret_talk, err);
}

static void drop_events(struct talk *talk)
{
    struct event *next;

    for (struct event *event = talk->first; event; event = next) {
        next = event->next;
        buf_release(&event->json);
        free(event);
    }
    if (talk->given) {
        buf_release(&talk->given->json);
        free(talk->given);
    }
}

void talk_free(struct talk *talk)
{
    if (!talk)
        return;
    if (talk->following)
        sse_release(&talk->sse);
    drop_events(talk);
    buf_release(&talk->in);
    close(talk->fd);
    free(talk);
}

int talk_fd(const struct talk *talk)
{
    return talk->fd;
}

/* ---- reading ---- */

/* 1 something came, 0 nothing within wait_ms or the end, -1. */
static int fill(struct talk *talk, int wait_ms, struct err *err)
{
    struct pollfd poll_fd = { .fd = talk->fd, .events = POLLIN };
    char *room;
    ssize_t n;

    if (talk->closed)
        return 0;
    do
        n = poll(&poll_fd, 1, wait_ms);
    while (n < 0 && errno == EINTR && wait_ms < 0);
    if (n <= 0)
        return 0;
    room = buf_reserve(&talk->in, READ_BYTES);
    if (!room)
        return err_set(err, ERR_TOO_LARGE, "the daemon's answer is longer than %u bytes",
                       EVENT_BYTES);
    do
        n = read(talk->fd, room, READ_BYTES);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(err, ERR_PROVIDER_FAILED, "the daemon went away: %s", strerror(errno));
    if (n == 0)
        talk->closed = true;
    buf_grown(&talk->in, (size_t)n);
    return n > 0;
}

static struct str line_of(struct talk *talk, bool *ret_there)
{
    struct str all = buf_str(&talk->in);
    ptrdiff_t end = str_find(all, STR("\r\n"));

    *ret_there = end >= 0;
    return end >= 0 ? str_take(all, (size_t)end) : STR_NONE;
}

static int wait_line(struct talk *talk, struct buf *out, struct err *err)
{
    bool there;
    struct str line = line_of(talk, &there);

    while (!there) {
        if (talk->in.n > HEAD_BYTES)
            return err_set(err, ERR_PROVIDER_FAILED, "the daemon's answer has no end of line");
        if (fill(talk, -1, err) < 0)
            return -1;
        line = line_of(talk, &there);
        if (!there && talk->closed)
            return err_set(err, ERR_PROVIDER_FAILED, "the daemon went away before it answered");
    }
    buf_clear(out);
    buf_add_str(out, line);
    buf_consume(&talk->in, line.n + 2);
    return 0;
}

static void read_field(struct talk *talk, struct str line)
{
    struct str name, value = line;
    uint64_t length;

    if (!str_split(&value, ':', &name))
        return;
    value = str_trim(value);
    if (str_eq_nocase(name, STR("Content-Length")) && str_to_u64(value, &length) == 0) {
        talk->kind = BODY_LENGTH;
        talk->left = length;
    } else if (str_eq_nocase(name, STR("Transfer-Encoding"))) {
        talk->kind = BODY_CHUNKED;
        talk->left = 0;
    }
}

static int read_head(struct talk *talk, struct err *err)
{
    AUTO_BUF line = BUF_INIT(HEAD_BYTES);

    do {
        if (wait_line(talk, &line, err) < 0)
            return -1;
        if (sscanf(buf_text(&line), "HTTP/1.%*d %d", &talk->status) != 1)
            return err_set(err, ERR_PROVIDER_FAILED, "the daemon does not speak HTTP");
        talk->kind = BODY_TO_END;
        talk->left = 0;
        talk->body_over = false;
        do {
            if (wait_line(talk, &line, err) < 0)
                return -1;
            read_field(talk, buf_str(&line));
        } while (line.n);
    } while (talk->status == 100);
    if (talk->status == 204 || talk->status == 304 ||
        (talk->kind == BODY_LENGTH && talk->left == 0))
        talk->body_over = true;
    return 0;
}

/* The next piece of the body that is there: 1, 0 when nothing is (or it is over), -1. */
static int take_piece(struct talk *talk, struct str *ret_piece, struct err *err)
{
    AUTO_BUF line = BUF_INIT(HEAD_BYTES);
    bool there;
    unsigned long long size;

    if (talk->body_over)
        return 0;
    if (talk->kind == BODY_CHUNKED && talk->left == 0) {
        struct str text = line_of(talk, &there);

        if (!there)
            return 0;
        if (text.n == 0) { /* what ends the chunk before */
            buf_consume(&talk->in, 2);
            text = line_of(talk, &there);
            if (!there)
                return 0;
        }
        buf_add_str(&line, text);
        if (sscanf(buf_text(&line), "%llx", &size) != 1)
            return err_set(err, ERR_PROVIDER_FAILED, "the daemon sent a chunk without size");
        buf_consume(&talk->in, text.n + 2);
        talk->left = size;
        if (size == 0) {
            talk->body_over = true;
            return 0;
        }
    }
    *ret_piece = buf_str(&talk->in);
    if (talk->kind != BODY_TO_END)
        *ret_piece = str_take(*ret_piece, talk->left);
    return ret_piece->n > 0;
}

static void took(struct talk *talk, size_t n)
{
    if (talk->kind != BODY_TO_END)
        talk->left -= n;
    buf_consume(&talk->in, n);
    if (talk->kind == BODY_LENGTH && talk->left == 0)
        talk->body_over = true;
}

static int read_body(struct talk *talk, struct buf *out, struct err *err)
{
    struct str piece;
    int r;

    while (!talk->body_over) {
        r = take_piece(talk, &piece, err);
        if (r < 0)
            return -1;
        if (r == 0) {
            if (talk->body_over)
                break;
            r = fill(talk, -1, err);
            if (r < 0)
                return -1;
            if (r == 0 && talk->closed && talk->kind == BODY_TO_END)
                break;
            if (r == 0 && talk->closed)
                return err_set(err, ERR_PROVIDER_FAILED, "the daemon's answer was cut off");
            continue;
        }
        if (buf_add_str(out, piece) < 0)
            return err_set(err, ERR_TOO_LARGE, "the daemon's answer is too long");
        took(talk, piece.n);
    }
    return 0;
}

/* ---- asking ---- */

static int send_request(struct talk *talk, const char *method, const char *path, struct str body,
                        const char *accept, struct err *err)
{
    AUTO_BUF out = BUF_INIT(LIMIT_HTTP_BODY_BYTES + HEAD_BYTES);

    buf_printf(&out, "%s %s HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\n", method, path, accept);
    if (body.n || strcmp(method, "GET") != 0)
        buf_printf(&out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body.n);
    buf_add_text(&out, "\r\n");
    if (buf_add_str(&out, body) < 0)
        return err_set(err, ERR_TOO_LARGE, "the request is longer than %u bytes",
                       LIMIT_HTTP_BODY_BYTES);
    if (file_write_all(talk->fd, buf_str(&out)) < 0)
        return err_set(err, ERR_PROVIDER_FAILED, "the daemon went away: %s", strerror(errno));
    return read_head(talk, err);
}

/* {"error":{"code","message"}} as an error of ours. */
static int server_error(struct talk *talk, struct str body, struct err *err)
{
    AUTO_JSON value = NULL;
    struct json_object *error = NULL;
    char code[64];

    if (json_parse(body, &value, NULL) == 0)
        error = json_find(value, "error");
    if (!error)
        return err_set(err, ERR_PROVIDER_FAILED, "the daemon answered with status %d",
                       talk->status);
    snprintf(code, sizeof(code), "%.*s", STR_ARG(json_str(json_find(error, "code"))));
    return err_set(err, err_from_name(code) ? err_from_name(code) : ERR_INTERNAL, "%.*s",
                   STR_ARG(json_str(json_find(error, "message"))));
}

int talk_ask(struct talk *talk, const char *method, const char *path, struct str body,
             struct json_object **ret_body, struct err *err)
{
    AUTO_BUF answer = BUF_INIT(LIMIT_JSON_BYTES);

    if (send_request(talk, method, path, body, "application/json", err) < 0 ||
        read_body(talk, &answer, err) < 0)
        return -1;
    if (talk->status >= 400)
        return server_error(talk, buf_str(&answer), err);
    *ret_body = NULL;
    return answer.n ? json_parse(buf_str(&answer), ret_body, err) : 0;
}

/* ---- event streams ---- */

static int on_event(const struct sse_event *from, void *arg)
{
    struct talk *talk = arg;
    struct event *event;

    if (str_is(from->type, "bye"))
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

    if (send_request(talk, method, path, body, "text/event-stream", err) < 0)
        return -1;
    if (talk->status >= 400) {
        if (read_body(talk, &answer, err) < 0)
            return -1;
        return server_error(talk, buf_str(&answer), err);
    }
    sse_init(&talk->sse, EVENT_BYTES, on_event, talk);
    talk->following = true;
    return 0;
}

static int feed(struct talk *talk, struct err *err)
{
    struct str piece;
    int r;

    while ((r = take_piece(talk, &piece, err)) == 1) {
        if (sse_feed(&talk->sse, piece, err) < 0)
            return -1;
        took(talk, piece.n);
    }
    return r;
}

int talk_next(struct talk *talk, int wait_ms, struct str *ret_json, struct err *err)
{
    int r;

    if (talk->given) {
        buf_release(&talk->given->json);
        free(talk->given);
        talk->given = NULL;
    }
    for (;;) {
        if (feed(talk, err) < 0)
            return -1;
        if (talk->first)
            break;
        if (talk->body_over || talk->closed)
            return 0;
        r = fill(talk, wait_ms, err);
        if (r < 0)
            return -1;
        if (r == 0 && !talk->closed)
            return 2;
    }
    talk->given = talk->first;
    talk->first = talk->given->next;
    if (!talk->first)
        talk->last = &talk->first;
    *ret_json = buf_str(&talk->given->json);
    return 1;
}
