/* Growing byte strings.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

void buf_release(struct buf *buf)
{
    free(buf->p);
    buf->p = NULL;
    buf->n = buf->cap = 0;
    buf->full = false;
}

char *buf_reserve(struct buf *buf, size_t n)
{
    size_t need;

    if (buf->full || n > buf->max || buf->n > buf->max - n) {
        buf->full = true;
        return NULL;
    }
    need = buf->n + n + 1;
    if (need > buf->cap) {
        size_t cap = buf->cap ? buf->cap : 128;

        while (cap < need)
            cap += cap / 2 + 1;
        if (cap - 1 > buf->max)
            cap = buf->max + 1;
        buf->p = alloc_resize(buf->p, cap, 1);
        buf->cap = cap;
    }
    return buf->p + buf->n;
}

void buf_grown(struct buf *buf, size_t n)
{
    BUG_IF(buf->n + n >= buf->cap);
    buf->n += n;
    buf->p[buf->n] = '\0';
}

int buf_add(struct buf *buf, const void *bytes, size_t n)
{
    char *end = buf_reserve(buf, n);

    if (!end)
        return -1;
    if (n)
        memcpy(end, bytes, n);
    buf_grown(buf, n);
    return 0;
}

int buf_add_str(struct buf *buf, struct str s)
{
    return buf_add(buf, s.p, s.n);
}

int buf_add_text(struct buf *buf, const char *text)
{
    return buf_add(buf, text, strlen(text));
}

int buf_add_char(struct buf *buf, char c)
{
    return buf_add(buf, &c, 1);
}

int buf_add_u64(struct buf *buf, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    return buf_add(buf, digits + at, sizeof(digits) - at);
}

int buf_add_i64(struct buf *buf, int64_t value)
{
    if (value >= 0)
        return buf_add_u64(buf, (uint64_t)value);
    buf_add_char(buf, '-');
    return buf_add_u64(buf, -(uint64_t)value);
}

/* Mostly there is room already, so it is written at once; else its length is known then. */
int buf_vprintf(struct buf *buf, const char *fmt, va_list args)
{
    size_t room = buf->full ? 0 : buf->cap - buf->n;
    va_list again;
    char *end;
    int n;

    va_copy(again, args);
    n = vsnprintf(room ? buf->p + buf->n : NULL, room, fmt, again);
    va_end(again);
    if (n < 0)
        BUG("bad format \"%s\"", fmt);
    if ((size_t)n >= room) {
        if (room)
            buf->p[buf->n] = '\0';
        end = buf_reserve(buf, (size_t)n);
        if (!end)
            return -1;
        vsnprintf(end, (size_t)n + 1, fmt, args);
    }
    buf_grown(buf, (size_t)n);
    return 0;
}

int buf_printf(struct buf *buf, const char *fmt, ...)
{
    va_list args;
    int r;

    va_start(args, fmt);
    r = buf_vprintf(buf, fmt, args);
    va_end(args);
    return r;
}

void buf_consume(struct buf *buf, size_t n)
{
    BUG_IF(n > buf->n);
    if (n == 0)
        return;
    memmove(buf->p, buf->p + n, buf->n - n + 1);
    buf->n -= n;
}

void buf_clear(struct buf *buf)
{
    buf->n = 0;
    buf->full = false;
    if (buf->p)
        buf->p[0] = '\0';
}

const char *buf_text(const struct buf *buf)
{
    return buf->p ? buf->p : "";
}

char *buf_take(struct buf *buf)
{
    char *p = buf->p ? buf->p : alloc_text("");

    *buf = BUF_INIT(buf->max);
    return p;
}
