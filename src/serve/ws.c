/* The WebSocket protocol machine, over wslay's event layer.
 *
 * wslay pulls input and pushes output through callbacks; here both ends are memory, so a call of
 * ws_feed() runs to its end without waiting, and the same code is driven by sockets, tests and the
 * fuzzer.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/ws_int.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <wslay/wslay.h>

#include "base/limits.h"
#include "base/utf8.h"

#define KEY_TEXT   24 /* 16 bytes in base64 */
#define REASON_MAX 123
#define OUTPUT_MAX (LIMIT_WEBSOCKET_BYTES + 64 * KIB)

struct ws {
    wslay_event_context_ptr wslay;
    struct str input;
    struct buf output;
    void (*message)(void *arg, bool text, struct str bytes);
    void *arg;
    enum ws_code bad_code; /* to be said instead of wslay's answer */
    bool broken;
};

/* ---- handshake ---- */

bool ws_header_has(struct str header, const char *token)
{
    struct str word;

    if (!header.p)
        return false;
    while (str_split(&header, ',', &word))
        if (str_eq_nocase(str_trim(word), str_from(token)))
            return true;
    return false;
}

static bool is_key(struct str key)
{
    for (size_t i = 0; i < key.n; i++)
        if (i >= KEY_TEXT - 2
                ? key.p[i] != '='
                : !((key.p[i] >= 'a' && key.p[i] <= 'z') || (key.p[i] >= 'A' && key.p[i] <= 'Z') ||
                    (key.p[i] >= '0' && key.p[i] <= '9') || key.p[i] == '+' || key.p[i] == '/'))
            return false;
    return key.n == KEY_TEXT;
}

int ws_handshake_check(const struct ws_handshake *handshake, struct err *err)
{
    if (!handshake->is_get || !handshake->http_1_1)
        return err_set(err, ERR_BAD_REQUEST, "a WebSocket begins with a GET of HTTP/1.1");
    if (!ws_header_has(handshake->upgrade, "websocket") ||
        !ws_header_has(handshake->connection, "upgrade"))
        return err_set(err, ERR_BAD_REQUEST,
                       "this address speaks WebSocket: send Connection: Upgrade and Upgrade: "
                       "websocket");
    if (!str_is(handshake->version, "13"))
        return err_set(err, ERR_BAD_REQUEST, "Sec-WebSocket-Version must be 13");
    if (!is_key(handshake->key))
        return err_set(err, ERR_BAD_REQUEST, "Sec-WebSocket-Key must be 16 bytes in base64");
    return 0;
}

void ws_accept(struct str key, char ret_accept[WS_ACCEPT_TEXT + 1])
{
    static const char magic[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    unsigned char text[KEY_TEXT + sizeof(magic)], digest[SHA_DIGEST_LENGTH];
    size_t n = key.n < KEY_TEXT ? key.n : KEY_TEXT;

    memcpy(text, key.p, n);
    memcpy(text + n, magic, sizeof(magic) - 1);
    SHA1(text, n + sizeof(magic) - 1, digest);
    EVP_EncodeBlock((unsigned char *)ret_accept, digest, sizeof(digest));
}

/* ---- wslay's ends ---- */

static ssize_t on_recv(wslay_event_context_ptr wslay, uint8_t *out, size_t n, int flags, void *arg)
{
    struct ws *ws = arg;
    size_t take = n < ws->input.n ? n : ws->input.n;

    (void)flags;
    if (take == 0) {
        wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    memcpy(out, ws->input.p, take);
    ws->input = str_skip(ws->input, take);
    return (ssize_t)take;
}

static ssize_t on_send(wslay_event_context_ptr wslay, const uint8_t *bytes, size_t n, int flags,
                       void *arg)
{
    struct ws *ws = arg;

    (void)flags;
    if (buf_add(&ws->output, bytes, n) < 0) {
        wslay_event_set_error(wslay, WSLAY_ERR_CALLBACK_FAILURE);
        return -1;
    }
    return (ssize_t)n;
}

static void on_message(wslay_event_context_ptr wslay, const struct wslay_event_on_msg_recv_arg *got,
                       void *arg)
{
    struct ws *ws = arg;

    /* wslay lets half a code pass, and checks the reason only when it comes in one piece. */
    if (got->opcode == WSLAY_CONNECTION_CLOSE && got->msg_length == 1)
        ws->bad_code = WS_PROTOCOL_ERROR;
    if (got->opcode == WSLAY_CONNECTION_CLOSE && got->msg_length > 2 &&
        !utf8_valid(str_of((const char *)got->msg + 2, got->msg_length - 2)))
        ws->bad_code = WS_BAD_DATA;
    if (wslay_is_ctrl_frame(got->opcode) || wslay_event_get_close_sent(wslay))
        return;
    ws->message(ws->arg, got->opcode == WSLAY_TEXT_FRAME,
                str_of((const char *)got->msg, got->msg_length));
}

/* Errors within a frame's head end wslay's context without a word: the close is ours to say. */
static void break_off(struct ws *ws, enum ws_code code)
{
    const unsigned char frame[] = { 0x88, 2, (unsigned char)(code >> 8), (unsigned char)code };

    if (!ws->broken && !wslay_event_get_close_sent(ws->wslay))
        buf_add(&ws->output, frame, sizeof(frame));
    ws->broken = true;
}

static void push_output(struct ws *ws)
{
    if (!ws->broken && wslay_event_send(ws->wslay) < 0)
        ws->broken = true;
}

struct ws *ws_new(size_t message_max, void (*message)(void *arg, bool text, struct str bytes),
                  void *arg)
{
    static const struct wslay_event_callbacks callbacks = {
        .recv_callback = on_recv,
        .send_callback = on_send,
        .on_msg_recv_callback = on_message,
    };
    struct ws *ws = NEW(struct ws);

    if (wslay_event_context_server_init(&ws->wslay, &callbacks, ws) < 0)
        BUG("wslay: out of memory");
    wslay_event_config_set_max_recv_msg_length(ws->wslay, message_max);
    ws->output = BUF_INIT(OUTPUT_MAX);
    ws->message = message;
    ws->arg = arg;
    return ws;
}

void ws_free(struct ws *ws)
{
    if (!ws)
        return;
    wslay_event_context_free(ws->wslay);
    buf_release(&ws->output);
    free(ws);
}

void ws_feed(struct ws *ws, struct str bytes)
{
    ws->input = bytes;
    while (ws->input.n > 0 && !ws_done(ws)) {
        size_t before = ws->input.n;

        if (wslay_event_recv(ws->wslay) < 0)
            break_off(ws, WS_PROTOCOL_ERROR);
        else if (ws->bad_code)
            break_off(ws, ws->bad_code);
        /* After a protocol error wslay stops reading: the rest does not matter any more. */
        if (ws->input.n == before)
            break;
    }
    ws->input = STR_NONE;
    push_output(ws);
}

struct buf *ws_output(struct ws *ws)
{
    return &ws->output;
}

void ws_ping(struct ws *ws)
{
    const struct wslay_event_msg ping = { .opcode = WSLAY_PING };

    if (!ws_close_sent(ws) && wslay_event_queue_msg(ws->wslay, &ping) == 0)
        push_output(ws);
}

void ws_close(struct ws *ws, uint16_t code, const char *reason)
{
    struct str said = utf8_truncate(str_from(reason), REASON_MAX);

    if (ws->broken)
        return;
    if (wslay_event_queue_close(ws->wslay, code, (const uint8_t *)said.p, said.n) == 0)
        push_output(ws);
}

bool ws_close_sent(const struct ws *ws)
{
    return ws->broken || wslay_event_get_close_sent(ws->wslay);
}

bool ws_done(const struct ws *ws)
{
    return ws->broken ||
           (wslay_event_get_close_sent(ws->wslay) && (wslay_event_get_close_received(ws->wslay) ||
                                                      !wslay_event_get_read_enabled(ws->wslay)));
}

uint16_t ws_client_code(const struct ws *ws)
{
    return wslay_event_get_close_received(ws->wslay)
               ? wslay_event_get_status_code_received(ws->wslay)
               : WS_ABNORMAL;
}

/* ---- frames for everybody ---- */

int ws_frame(struct buf *out, bool text, struct str bytes)
{
    unsigned char head[10] = { (unsigned char)(0x80 |
                                               (text ? WSLAY_TEXT_FRAME : WSLAY_BINARY_FRAME)) };
    size_t n = 2, wide = bytes.n < 126 ? 0 : bytes.n <= UINT16_MAX ? 2 : 8;

    head[1] = (unsigned char)(wide == 0 ? bytes.n : wide == 2 ? 126 : 127);
    for (size_t i = 0; i < wide; i++)
        head[n++] = (unsigned char)((uint64_t)bytes.n >> 8 * (wide - 1 - i));
    buf_add(out, head, n);
    return buf_add_str(out, bytes);
}
