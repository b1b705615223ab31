/* Where a request's body ends.
 *
 * The bytes are passed on as they are; this only finds the end, so that a second request can't
 * ride along on an admitted connection. Chunked framing is read strictly: CRLF only, no more than
 * 15 digits, short lines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/proxy_int.h"

#define LINE_BYTES 4096

enum {
    SIZE = 0,
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER,
    TRAILER_LINE,
    TRAILER_LF,
    LAST_LF
};

void proxy_body_init(struct proxy_body *body, const struct proxy_request *request)
{
    *body = (struct proxy_body){ .framing = request->framing, .left = request->length };
    if (body->framing == PROXY_BODY_CHUNKED)
        body->left = 0;
    body->done = body->framing == PROXY_BODY_NONE;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A byte of the line with a chunk's size. */
static int size_byte(struct proxy_body *body, char c)
{
    int value = digit(c);

    if (body->state == SIZE && value >= 0 && body->line < 15) {
        body->left = body->left << 4 | (unsigned)value;
        body->line++;
        return 0;
    }
    if (body->line == 0 || ++body->line > LINE_BYTES)
        return -1;
    if (c == '\r')
        body->state = SIZE_LF;
    else if (body->state == SIZE ? c != ';' : (c < 0x20 && c != '\t') || c == 0x7f)
        return -1;
    else
        body->state = EXTENSION;
    return 0;
}

static int expect(struct proxy_body *body, char c, char wanted, unsigned next)
{
    body->state = next;
    body->line = 0;
    return c == wanted ? 0 : -1;
}

static int trailer_byte(struct proxy_body *body, char c)
{
    if (c == '\r') {
        body->state = body->state == TRAILER ? LAST_LF : TRAILER_LF;
        return 0;
    }
    if (++body->line > LINE_BYTES || (c < 0x20 && c != '\t' && c >= 0) || c == 0x7f)
        return -1;
    body->state = TRAILER_LINE;
    return 0;
}

/* Any byte but those of the data itself. */
static int framing_byte(struct proxy_body *body, char c)
{
    switch (body->state) {
    case SIZE:
    case EXTENSION:
        return size_byte(body, c);
    case SIZE_LF:
        return expect(body, c, '\n', body->left ? DATA : TRAILER);
    case DATA_CR:
        return expect(body, c, '\r', DATA_LF);
    case DATA_LF:
        return expect(body, c, '\n', SIZE);
    case TRAILER_LF:
        return expect(body, c, '\n', TRAILER);
    case LAST_LF:
        body->done = true;
        return c == '\n' ? 0 : -1;
    default:
        return trailer_byte(body, c);
    }
}

static size_t take_data(struct proxy_body *body, size_t n)
{
    n = n < body->left ? n : (size_t)body->left;
    body->left -= n;
    return n;
}

ptrdiff_t proxy_body_take(struct proxy_body *body, struct str bytes)
{
    size_t at = 0;

    if (body->framing == PROXY_BODY_LENGTH && !body->done) {
        at = take_data(body, bytes.n);
        body->done = body->left == 0;
    }
    while (body->framing == PROXY_BODY_CHUNKED && at < bytes.n && !body->done) {
        if (body->state != DATA) {
            if (framing_byte(body, bytes.p[at++]) < 0)
                return -1;
            continue;
        }
        at += take_data(body, bytes.n - at);
        if (body->left == 0)
            body->state = DATA_CR;
    }
    return (ptrdiff_t)at;
}
