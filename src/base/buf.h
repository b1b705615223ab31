/* struct buf: a growing byte string with a cap.
 *
 * Appending past the cap keeps what was there, sets `full` for good and returns -1, so a caller
 * may append many times and look once at the end. The text is always NUL-terminated.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_BUF_H
#define DORMOUSE_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct buf {
    char *p;    /* NULL while empty and never grown: use buf_text() */
    size_t n;   /* bytes used, without the NUL */
    size_t cap; /* bytes allocated */
    size_t max; /* most bytes allowed, without the NUL */
    bool full;  /* something did not fit */
};

#define BUF_INIT(max_bytes) ((struct buf){ .max = (max_bytes) })

void buf_release(struct buf *buf);
/* AUTO_BUF b = BUF_INIT(MAX); */
#define AUTO_BUF __attribute__((cleanup(buf_release))) struct buf

int buf_add(struct buf *buf, const void *bytes, size_t n);
int buf_add_str(struct buf *buf, struct str s);
int buf_add_text(struct buf *buf, const char *text);
int buf_add_char(struct buf *buf, char c);
/* In decimal. */
int buf_add_i64(struct buf *buf, int64_t value);
int buf_add_u64(struct buf *buf, uint64_t value);
int buf_printf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *buf, const char *fmt, va_list args);
/* n bytes at the end to be written by the caller, then buf_grown(buf, used). NULL when full. */
char *buf_reserve(struct buf *buf, size_t n);
void buf_grown(struct buf *buf, size_t n);
/* Removes n bytes at the front. */
void buf_consume(struct buf *buf, size_t n);
/* Empty again, allocation kept. */
void buf_clear(struct buf *buf);

/* Valid until the next change. Never NULL. */
const char *buf_text(const struct buf *buf);
static inline struct str buf_str(const struct buf *buf)
{
    return (struct str){ buf_text(buf), buf->n };
}
/* Hands the allocation over (free() it); the buffer is empty afterwards. */
char *buf_take(struct buf *buf);

#endif
