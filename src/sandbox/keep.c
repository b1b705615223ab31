/* Head and tail.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

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

/* The part of n bytes of the tail, oldest first, that begins with a whole character. */
static void write_tail(const struct keep *keep, struct buf *out, bool cut)
{
    size_t at = keep->tail_n < keep->half ? 0 : keep->tail_at, skip = 0;

    while (cut && skip < 3 && skip < keep->tail_n &&
           continues(keep->tail[(at + skip) % keep->half]))
        skip++;
    for (size_t i = skip; i < keep->tail_n;) {
        size_t from = (at + i) % keep->half, part = keep->half - from;

        if (part > keep->tail_n - i)
            part = keep->tail_n - i;
        buf_add(out, keep->tail + from, part);
        i += part;
    }
}

/* Without the beginning of a character whose rest was left out. */
static struct str whole_head(const struct keep *keep)
{
    struct str head = buf_str(&keep->head);
    size_t back = 0;

    while (back < 3 && back < head.n && continues(head.p[head.n - 1 - back]))
        back++;
    if (back < head.n && ((unsigned char)head.p[head.n - 1 - back] & 0xc0) == 0xc0)
        head.n -= back + 1;
    return head;
}

void keep_write(const struct keep *keep, struct buf *out)
{
    bool cut = keep_cut(keep);

    buf_add_str(out, cut ? whole_head(keep) : buf_str(&keep->head));
    if (cut)
        buf_printf(out, "\n[... %llu bytes left out ...]\n",
                   (unsigned long long)(keep->total - keep->head.n - keep->tail_n));
    if (keep->tail)
        write_tail(keep, out, cut);
}
