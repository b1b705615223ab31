/* WebSocket (RFC 6455) without sockets: the handshake's checks, and a protocol machine that takes
 * bytes in and gives messages and bytes out. wslay does the framing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_WS_INT_H
#define DORMOUSE_SERVE_WS_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define WS_ACCEPT_TEXT 28

enum ws_code {
    WS_NONE = 0,
    WS_NORMAL = 1000,
    WS_GOING_AWAY = 1001,
    WS_PROTOCOL_ERROR = 1002,
    WS_UNSUPPORTED = 1003,
    WS_ABNORMAL = 1006, /* never on the wire: the connection broke */
    WS_BAD_DATA = 1007,
    WS_POLICY = 1008,
    WS_TOO_BIG = 1009,
    WS_INTERNAL = 1011,
    WS_TRY_LATER = 1013,
};

/* The request's headers, absent ones with p NULL. */
struct ws_handshake {
    struct str upgrade, connection, version, key;
    bool http_1_1, is_get;
};
int ws_handshake_check(const struct ws_handshake *handshake, struct err *err);
/* Sec-WebSocket-Accept for a key. */
void ws_accept(struct str key, char ret_accept[WS_ACCEPT_TEXT + 1]);
/* Is token one of the comma-separated words of a header? Upper and lower case are equal. */
bool ws_header_has(struct str header, const char *token);

struct ws;
/* message is called from ws_feed(), never again once a close was sent or received. */
struct ws *ws_new(size_t message_max, void (*message)(void *arg, bool text, struct str bytes),
                  void *arg);
void ws_free(struct ws *ws);
AUTO_DEFINE(ws)

/* Bytes from the client. What has to be answered (pong, close) is in ws_output() afterwards. */
void ws_feed(struct ws *ws, struct str bytes);
/* Bytes for the client; take them and buf_clear(). */
struct buf *ws_output(struct ws *ws);
void ws_ping(struct ws *ws);
/* Sends a close; further ones do nothing. reason is cut to 123 bytes. */
void ws_close(struct ws *ws, uint16_t code, const char *reason);
bool ws_close_sent(const struct ws *ws);
/* Both sides said close, or the client broke the protocol: the connection can end. */
bool ws_done(const struct ws *ws);
/* The client's close code, 1005 when it gave none, 1006 when there was no close yet. */
uint16_t ws_client_code(const struct ws *ws);

/* A whole unmasked frame, which can go to many clients at once. */
int ws_frame(struct buf *out, bool text, struct str bytes);

#endif
