/* SPDX-License-Identifier: MIT */
#include "peer.h"

int peer_open_sse(struct test *t, struct server *server, const char *path, const char *more)
{
    int fd = client_open(server);

    client_request(server, fd, "GET", path, true, more, NULL);
    ASSERT_CONTAINS(client_read_until(t, fd, "\r\n\r\n").p, "text/event-stream");
    return fd;
}

int peer_open_ws(struct test *t, struct server *server, const char *path)
{
    int fd = client_open(server);
    struct str head;

    client_request(server, fd, "GET", path, true,
                   "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                   NULL);
    head = client_read_until(t, fd, "\r\n\r\n");
    ASSERT_CONTAINS(head.p, "HTTP/1.1 101 ");
    ASSERT_CONTAINS(head.p, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    return fd;
}

/* A masked frame of less than 126 bytes; the mask is zero, which is allowed. */
void peer_send_frame(int fd, unsigned first, const char *payload, size_t n)
{
    char frame[140] = { (char)first, (char)(0x80 | n) };

    memcpy(frame + 6, payload, n);
    client_send_bytes(fd, frame, n + 6);
}

/* Reads a frame; its opcode, the payload in t->arena. -1 when the connection ended. */
int peer_read_frame(struct test *t, int fd, struct str *ret_payload)
{
    unsigned char head[2], more[8];
    size_t n;
    char *bytes;

    if (client_read(fd, head, 2) != 2)
        return -1;
    ASSERT_EQ(head[1] & 0x80, 0);
    n = head[1];
    if (n >= 126) {
        size_t wide = n == 126 ? 2 : 8;

        if (client_read(fd, more, wide) != wide)
            return -1;
        n = 0;
        for (size_t i = 0; i < wide; i++)
            n = n << 8 | more[i];
    }
    bytes = arena_alloc(&t->arena, n + 1, 1);
    if (client_read(fd, bytes, n) != n)
        return -1;
    *ret_payload = str_of(bytes, n);
    return head[0] & 0x0F;
}

unsigned peer_read_close(struct test *t, int fd)
{
    struct str payload;
    int opcode;

    while ((opcode = peer_read_frame(t, fd, &payload)) >= 0 && opcode != 8)
        ;
    return opcode == 8 && payload.n >= 2
               ? (unsigned)(unsigned char)payload.p[0] << 8 | (unsigned char)payload.p[1]
               : 0;
}
