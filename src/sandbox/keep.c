/* Head and tail.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

void keep_init(struct keep *keep, size_t bytes)
{
    memset(keep, 0, sizeof(*keep));
    keep->half = bytes / 2;
    keep->head = BUF_INIT(keep->half);
}

void keep_release(struct keep *keep)
{
    buf_release(&keep->head);
    free(keep->tail);
    keep->tail = NULL;
}

void keep_add(struct keep *keep, const char *bytes, size_t n)
{
    size_t room = keep->half - keep->head.n, first = n < room ? n : room;

    keep->total += n;
    buf_add(&keep->head, bytes, first);
    bytes += first;
    n -= first;
    if (n == 0)
        return;
    if (!keep->tail)
        keep->tail = alloc_zero(keep->half, 1);
    if (n > keep->half) {
        bytes += n - keep->half;
        n = keep->half;
    }
    for (size_t done = 0; done < n;) {
        size_t part = keep->half - keep->tail_at;

        if (part > n - done)
            part = n - done;
        memcpy(keep->tail + keep->tail_at, bytes + done, part);
        keep->tail_at = (keep->tail_at + part) % keep->half;
        done += part;
    }
    keep->tail_n = keep->tail_n + n < keep->half ? keep->tail_n + n : keep->half;
}

bool keep_cut(const struct keep *keep)
{
    return keep->total > keep->head.n + keep->tail_n;
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Bytes at the front of the tail that belong to a character whose beginning was left out. */
static size_t torn_front(const struct keep *keep, size_t at)
{
    size_t n = 0;

    while (n < UTF8_MAX_BYTES - 1 && n < keep->tail_n &&
           continues(keep->tail[(at + n) % keep->half]))
        n++;
    return n;
}

/* Appends the tail, oldest first, without its first `skip` bytes. */
static void write_tail(const struct keep *keep, struct buf *out, size_t at, size_t skip)
{
    for (size_t i = skip; i < keep->tail_n;) {
        size_t from = (at + i) % keep->half, part = keep->half - from;

        if (part > keep->tail_n - i)
            part = keep->tail_n - i;
        buf_add(out, keep->tail + from, part);
        i += part;
    }
}

/* Without the beginning of a character whose rest was left out. */
static struct str whole_head(struct str head)
{
    size_t back = 0;

    while (back < UTF8_MAX_BYTES - 1 && back < head.n && continues(head.p[head.n - 1 - back]))
        back++;
    if (back < head.n) {
        unsigned char first = (unsigned char)head.p[head.n - 1 - back];
        size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;

        if (first >= 0xc2 && first <= 0xf4 && back + 1 < size)
            head.n -= back + 1;
    }
    return head;
}

void keep_write(const struct keep *keep, struct buf *out)
{
    size_t at = keep->tail_n < keep->half ? 0 : keep->tail_at, skip = 0;
    struct str head = buf_str(&keep->head);

    if (keep_cut(keep)) {
        head = whole_head(head);
        skip = torn_front(keep, at);
    }
    buf_add_str(out, head);
    if (keep_cut(keep))
        buf_printf(out, "\n[... %llu bytes left out ...]\n",
                   (unsigned long long)(keep->total - head.n - (keep->tail_n - skip)));
    if (keep->tail)
        write_tail(keep, out, at, skip);
}
