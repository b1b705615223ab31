/* A small HTTP/1.1 client: requests, answers with a length or in chunks, and event streams.
 *
 * The other side is our own daemon on a socket that only the owner can reach; it is read with
 * bounds all the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/client.h"

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

struct client {
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

static int client_new(const char *path, struct client **ret_client, struct err *err)
{
    struct client *client;
    int fd = -1;

    if (connect_to(path, &fd, err) < 0)
        return -1;
    client = NEW(struct client);
    *client = (struct client){ .fd = fd, .in = BUF_INIT(EVENT_BYTES) };
    client->last = &client->first;
    snprintf(client->path, sizeof(client->path), "%s", path);
    *ret_client = client;
    return 0;
}

int client_open(const struct cli_args *args, struct client **ret_client, struct err *err)
{
    char path[LIMIT_PATH_BYTES];

    snprintf(path, sizeof(path), "%s/dormouse.sock", cli_data_dir(args));
    if (keeper_ensure(args, path, err) < 0)
        return -1;
    return client_new(path, ret_client, err);
}

int client_again(const struct client *client, struct client **ret_client, struct err *err)
{
    return client_new(client->path, ret_client, err);
}

static void drop_events(struct client *client)
{
    struct event *next;

    for (struct event *event = client->first; event; event = next) {
        next = event->next;
        buf_release(&event->json);
        free(event);
    }
    if (client->given) {
        buf_release(&client->given->json);
        free(client->given);
    }
}

void client_free(struct client *client)
{
    if (!client)
        return;
    if (client->following)
        sse_release(&client->sse);
    drop_events(client);
    buf_release(&client->in);
    close(client->fd);
    free(client);
}

int client_fd(const struct client *client)
{
    return client->fd;
}

/* ---- reading ---- */

/* 1 something came, 0 nothing within wait_ms or the end, -1. */
static int fill(struct client *client, int wait_ms, struct err *err)
{
    struct pollfd poll_fd = { .fd = client->fd, .events = POLLIN };
    char *room;
    ssize_t n;

    if (client->closed)
        return 0;
    do
        n = poll(&poll_fd, 1, wait_ms);
    while (n < 0 && errno == EINTR && wait_ms < 0);
    if (n <= 0)
        return 0;
    room = buf_reserve(&client->in, READ_BYTES);
    if (!room)
        return err_set(err, ERR_TOO_LARGE, "the daemon's answer is longer than %u bytes",
                       EVENT_BYTES);
    do
        n = read(client->fd, room, READ_BYTES);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(err, ERR_PROVIDER_FAILED, "the daemon went away: %s", strerror(errno));
    if (n == 0)
        client->closed = true;
    buf_grown(&client->in, (size_t)n);
    return n > 0;
}

static struct str line_of(struct client *client, bool *ret_there)
{
    struct str all = buf_str(&client->in);
    ptrdiff_t end = str_find(all, STR("\r\n"));

    *ret_there = end >= 0;
    return end >= 0 ? str_take(all, (size_t)end) : STR_NONE;
}

static int wait_line(struct client *client, struct buf *out, struct err *err)
{
    bool there;
    struct str line = line_of(client, &there);

    while (!there) {
        if (client->in.n > HEAD_BYTES)
            return err_set(err, ERR_PROVIDER_FAILED, "the daemon's answer has no end of line");
        if (fill(client, -1, err) < 0)
            return -1;
        line = line_of(client, &there);
        if (!there && client->closed)
            return err_set(err, ERR_PROVIDER_FAILED, "the daemon went away before it answered");
    }
    buf_clear(out);
    buf_add_str(out, line);
    buf_consume(&client->in, line.n + 2);
    return 0;
}

static void read_field(struct client *client, struct str line)
{
    struct str name, value = line;
    uint64_t length;

    if (!str_split(&value, ':', &name))
        return;
    value = str_trim(value);
    if (str_eq_nocase(name, STR("Content-Length")) && str_to_u64(value, &length) == 0) {
        client->kind = BODY_LENGTH;
        client->left = length;
    } else if (str_eq_nocase(name, STR("Transfer-Encoding"))) {
        client->kind = BODY_CHUNKED;
        client->left = 0;
    }
}

static int read_head(struct client *client, struct err *err)
{
    AUTO_BUF line = BUF_INIT(HEAD_BYTES);

    do {
        if (wait_line(client, &line, err) < 0)
            return -1;
        if (sscanf(buf_text(&line), "HTTP/1.%*d %d", &client->status) != 1)
            return err_set(err, ERR_PROVIDER_FAILED, "the daemon does not speak HTTP");
        client->kind = BODY_TO_END;
        client->left = 0;
        client->body_over = false;
        do {
            if (wait_line(client, &line, err) < 0)
                return -1;
            read_field(client, buf_str(&line));
        } while (line.n);
    } while (client->status == 100);
    if (client->status == 204 || client->status == 304 ||
        (client->kind == BODY_LENGTH && client->left == 0))
        client->body_over = true;
    return 0;
}

/* The next piece of the body that is there: 1, 0 when nothing is (or it is over), -1. */
static int take_piece(struct client *client, struct str *ret_piece, struct err *err)
{
    AUTO_BUF line = BUF_INIT(HEAD_BYTES);
    bool there;
    unsigned long long size;

    if (client->body_over)
        return 0;
    if (client->kind == BODY_CHUNKED && client->left == 0) {
        struct str text = line_of(client, &there);

        if (!there)
            return 0;
        if (text.n == 0) { /* what ends the chunk before */
            buf_consume(&client->in, 2);
            text = line_of(client, &there);
            if (!there)
                return 0;
        }
        buf_add_str(&line, text);
        if (sscanf(buf_text(&line), "%llx", &size) != 1)
            return err_set(err, ERR_PROVIDER_FAILED, "the daemon sent a chunk without size");
        buf_consume(&client->in, text.n + 2);
        client->left = size;
        if (size == 0) {
            client->body_over = true;
            return 0;
        }
    }
    *ret_piece = buf_str(&client->in);
    if (client->kind != BODY_TO_END)
        *ret_piece = str_take(*ret_piece, client->left);
    return ret_piece->n > 0;
}

static void took(struct client *client, size_t n)
{
    if (client->kind != BODY_TO_END)
        client->left -= n;
    buf_consume(&client->in, n);
    if (client->kind == BODY_LENGTH && client->left == 0)
        client->body_over = true;
}

static int read_body(struct client *client, struct buf *out, struct err *err)
{
    struct str piece;
    int r;

    while (!client->body_over) {
        r = take_piece(client, &piece, err);
        if (r < 0)
            return -1;
        if (r == 0) {
            if (client->body_over)
                break;
            r = fill(client, -1, err);
            if (r < 0)
                return -1;
            if (r == 0 && client->closed && client->kind == BODY_TO_END)
                break;
            if (r == 0 && client->closed)
                return err_set(err, ERR_PROVIDER_FAILED, "the daemon's answer was cut off");
            continue;
        }
        if (buf_add_str(out, piece) < 0)
            return err_set(err, ERR_TOO_LARGE, "the daemon's answer is too long");
        took(client, piece.n);
    }
    return 0;
}

/* ---- asking ---- */

static int send_request(struct client *client, const char *method, const char *path,
                        struct str body, const char *accept, struct err *err)
{
    AUTO_BUF out = BUF_INIT(LIMIT_HTTP_BODY_BYTES + HEAD_BYTES);

    buf_printf(&out, "%s %s HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\n", method, path, accept);
    if (body.n || strcmp(method, "GET") != 0)
        buf_printf(&out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body.n);
    buf_add_text(&out, "\r\n");
    if (buf_add_str(&out, body) < 0)
        return err_set(err, ERR_TOO_LARGE, "the request is longer than %u bytes",
                       LIMIT_HTTP_BODY_BYTES);
    if (file_write_all(client->fd, buf_str(&out)) < 0)
        return err_set(err, ERR_PROVIDER_FAILED, "the daemon went away: %s", strerror(errno));
    return read_head(client, err);
}

/* {"error":{"code","message"}} as an error of ours. */
static int server_error(struct client *client, struct str body, struct err *err)
{
    AUTO_JSON value = NULL;
    struct json_object *error = NULL;
    char code[64];

    if (json_parse(body, &value, NULL) == 0)
        error = json_find(value, "error");
    if (!error)
        return err_set(err, ERR_PROVIDER_FAILED, "the daemon answered with status %d",
                       client->status);
    snprintf(code, sizeof(code), "%.*s", STR_ARG(json_str(json_find(error, "code"))));
    return err_set(err, err_from_name(code) ? err_from_name(code) : ERR_INTERNAL, "%.*s",
                   STR_ARG(json_str(json_find(error, "message"))));
}

int client_ask(struct client *client, const char *method, const char *path, struct str body,
               struct json_object **ret_body, struct err *err)
{
    AUTO_BUF answer = BUF_INIT(LIMIT_JSON_BYTES);

    if (send_request(client, method, path, body, "application/json", err) < 0 ||
        read_body(client, &answer, err) < 0)
        return -1;
    if (client->status >= 400)
        return server_error(client, buf_str(&answer), err);
    *ret_body = NULL;
    return answer.n ? json_parse(buf_str(&answer), ret_body, err) : 0;
}

/* ---- event streams ---- */

static int on_event(const struct sse_event *from, void *arg)
{
    struct client *client = arg;
    struct event *event;

    if (str_is(from->type, "bye"))
        return 0;
    event = NEW(struct event);
    event->json = BUF_INIT(EVENT_BYTES);
    buf_add_str(&event->json, from->data);
    *client->last = event;
    client->last = &event->next;
    return 0;
}

int client_follow(struct client *client, const char *method, const char *path, struct str body,
                  struct err *err)
{
    AUTO_BUF answer = BUF_INIT(LIMIT_JSON_BYTES);

    if (send_request(client, method, path, body, "text/event-stream", err) < 0)
        return -1;
    if (client->status >= 400) {
        if (read_body(client, &answer, err) < 0)
            return -1;
        return server_error(client, buf_str(&answer), err);
    }
    sse_init(&client->sse, EVENT_BYTES, on_event, client);
    client->following = true;
    return 0;
}

static int feed(struct client *client, struct err *err)
{
    struct str piece;
    int r;

    while ((r = take_piece(client, &piece, err)) == 1) {
        if (sse_feed(&client->sse, piece, err) < 0)
            return -1;
        took(client, piece.n);
    }
    return r;
}

int client_next(struct client *client, int wait_ms, struct str *ret_json, struct err *err)
{
    int r;

    if (client->given) {
        buf_release(&client->given->json);
        free(client->given);
        client->given = NULL;
    }
    for (;;) {
        if (feed(client, err) < 0)
            return -1;
        if (client->first)
            break;
        if (client->body_over || client->closed)
            return 0;
        r = fill(client, wait_ms, err);
        if (r < 0)
            return -1;
        if (r == 0 && !client->closed)
            return 2;
    }
    client->given = client->first;
    client->first = client->given->next;
    if (!client->first)
        client->last = &client->first;
    *ret_json = buf_str(&client->given->json);
    return 1;
}
