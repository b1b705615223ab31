/* The client's side of SSE and WebSocket, byte by byte.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_SERVE_PEER_H
#define DORMOUSE_TESTS_SERVE_PEER_H

#include "server.h"

/* Past the head of the answer. more: further headers, or NULL. */
int peer_open_sse(struct test *t, struct server *server, const char *path, const char *more);
int peer_open_ws(struct test *t, struct server *server, const char *path);
/* A masked frame of less than 126 bytes; first is FIN, RSV and opcode. */
void peer_send_frame(int fd, unsigned first, const char *payload, size_t n);
/* The opcode, with the payload in t->arena. -1 when the connection ended. */
int peer_read_frame(struct test *t, int fd, struct str *ret_payload);
/* Reads up to a close frame: its code, 0 when the connection ended without. */
unsigned peer_read_close(struct test *t, int fd);

#endif
