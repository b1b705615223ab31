/* A real HTTP/1.1 server on loopback that does as it is told, and misbehaves on request.
 *
 * It runs in a forked process; each connection is served by a process of its own. A test scripts
 * it with a function that gets the parsed request and writes raw bytes: nothing is made well-formed
 * behind the test's back. Facts that tests need from the other side (connections, requests, bytes)
 * are counted in shared memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_HTTP_PEER_H
#define DORMOUSE_TESTS_HTTP_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/test.h"

#define PEER_HEAD_MAX 65536

struct peer_shared {
    unsigned connections, requests, counter;
    unsigned stalled;   /* connections in peer_stall(), or that were */
    int64_t body_bytes; /* of requests */
    char last_head[PEER_HEAD_MAX];
    char last_body[4096];
};

struct peer_conn {
    struct peer_shared *shared;
    const void *arg;
    int fd;
    void *tls;    /* SSL *, NULL on plain connections */
    unsigned nth; /* request on this connection, from 1 */
    char method[16];
    char path[8192];
    char head[PEER_HEAD_MAX];
};

struct http_peer {
    uint16_t port;
    int pid;
    struct peer_shared *shared;
};

/* Serves one request; false closes the connection. */
typedef bool peer_fn(struct peer_conn *conn);

/* Ends with the test (the process dies with its parent). cert_file and key_file: TLS. */
void peer_start(struct http_peer *peer, peer_fn *serve, const void *arg);
void peer_start_tls(struct http_peer *peer, peer_fn *serve, const void *arg, const char *cert_file,
                    const char *key_file);
void peer_stop(struct http_peer *peer);

/* For serve functions. False when the other side is gone. */
bool peer_send(struct peer_conn *conn, const void *bytes, size_t n);
bool peer_text(struct peer_conn *conn, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "HTTP/1.1 STATUS X", Content-Length, these header lines (each with CRLF) and body. */
bool peer_answer(struct peer_conn *conn, int status, const char *headers, const char *body);
/* The value of a request header in out; NULL when absent. */
const char *peer_header(const struct peer_conn *conn, const char *name, char *out, size_t size);
/* Nothing more is sent until the client hangs up. Returns false. */
bool peer_stall(struct peer_conn *conn);
/* RST instead of FIN. Returns false. */
bool peer_reset(struct peer_conn *conn);
void peer_nap(int ms);
/* From now on this connection speaks TLS. False when the handshake fails. */
bool peer_upgrade(struct peer_conn *conn, const char *cert_file, const char *key_file);

#endif
