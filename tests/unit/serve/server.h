/* A real server on loopback for tests, its loop in a thread of its own, and a raw-socket client
 * that can misbehave.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_SERVE_SERVER_H
#define DORMOUSE_TESTS_SERVE_SERVER_H

#include <stdint.h>

#include "base/buf.h"
#include "harness/test.h"
#include "serve/feed.h"
#include "serve/serve.h"

struct server;

/* limits may be NULL. Every test route is under /api/v1/test. */
struct server *server_start(struct test *t, const struct serve_limits *limits);
/* Listening on another address (NULL: on sockets that are inherited), by further names; warnings go
 * to said, unless it is NULL. */
struct server *server_start_at(struct test *t, const struct serve_limits *limits,
                               const char *listen, const char *const *hosts, struct buf *said);
/* Graceful stop within deadline_ms; fails the test when the loop does not end. */
void server_stop(struct server *server, int64_t deadline_ms);
/* Begins to stop and returns at once; server_join() waits. */
void server_begin_stop(struct server *server, int64_t deadline_ms);
void server_join(struct server *server);
/* Runs fn in the loop's thread and waits for it. */
void server_do(struct server *server, void (*fn)(struct server *server, void *arg), void *arg);
struct serve *server_serve(struct server *server);
struct serve_feed *server_feed(struct server *server);
struct serve_feed *server_talk(struct server *server);
/* In the loop's thread. */
void server_end_talk(struct server *server);
/* /api/v1/test/story and /story/ws tell so many events, and end. */
#define STORY_EVENTS 5
/* Clients of these that are no more. */
unsigned server_released(struct server *server);
/* How often the last connection has gone. */
unsigned server_idles(struct server *server);
/* What the last WebSocket of /api/v1/test/ws ended with, 0 before. */
unsigned server_ws_closed(struct server *server);
/* The domain that /api/v1/test/write writes to. Touched in the loop's thread only. */
struct store_fake;
struct store_fake *server_store(struct server *server);
unsigned server_port(struct server *server);
const char *server_token(struct server *server);
/* Milliseconds since some start. */
int64_t now_ms(void);
/* Resident bytes of this process. */
size_t resident_bytes(void);

/* A blocking socket whose reads give up after 20 s. */
int client_open(struct server *server);
/* To this IPv4 address of the server's. */
int client_open_to(struct server *server, const char *ip);
int client_open_unix(struct server *server);
void client_send(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void client_send_bytes(int fd, const void *bytes, size_t n);
/* text with HERE replaced by 127.0.0.1:PORT, PORT by the port and TOKEN by the token. */
void client_send_template(struct server *server, int fd, const char *text);
/* Reads give up after so long. */
void client_be_patient(int fd, int seconds);
/* A request with Host and, when auth, the token. */
void client_request(struct server *server, int fd, const char *method, const char *path, bool auth,
                    const char *more_headers, const char *body);

struct answer {
    int status; /* 0: the connection ended without one */
    struct str head, body;
};
/* One answer with Content-Length; NULL-terminated parts in t->arena. */
struct answer client_answer(struct test *t, int fd);
/* Reads until text was seen; all that was read. Fails the test when the connection ends. */
struct str client_read_until(struct test *t, int fd, const char *text);
/* Reads up to n bytes exactly; fewer when the connection ends. */
size_t client_read(int fd, void *out, size_t n);
/* True when the other side has closed (reads and drops what still comes). */
bool client_closed(int fd);
/* Connect, ask, close. */
struct answer ask(struct test *t, struct server *server, const char *method, const char *path,
                  bool auth, const char *more_headers, const char *body);
/* Value of a header, "" when absent. */
const char *answer_header(struct test *t, const struct answer *answer, const char *name);
/* A counter from /metrics. */
int64_t metric(struct test *t, struct server *server, const char *name);

#endif
