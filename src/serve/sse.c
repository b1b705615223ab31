/* Server-sent events as text.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/sse_int.h"

#include <inttypes.h>

/* The line that begins at *rest, which moves behind its end; false when all was taken. */
static bool next_line(struct str *rest, struct str *ret_line)
{
    size_t n = 0;

    if (!rest->p)
        return false;
    while (n < rest->n && rest->p[n] != '\n' && rest->p[n] != '\r')
        n++;
    *ret_line = str_take(*rest, n);
    if (n == rest->n)
        *rest = STR_NONE;
    else
        *rest = str_skip(
            *rest, n + (rest->p[n] == '\r' && n + 1 < rest->n && rest->p[n + 1] == '\n' ? 2 : 1));
    return true;
}

int sse_event(struct buf *out, uint64_t id, const char *event, struct str data)
{
    struct str line;

    if (!data.p)
        data = STR("");
    if (id > 0)
        buf_printf(out, "id: %" PRIu64 "\n", id);
    if (event)
        buf_printf(out, "event: %s\n", event);
    while (next_line(&data, &line)) {
        buf_add_text(out, "data: ");
        buf_add_str(out, line);
        buf_add_char(out, '\n');
    }
    return buf_add_char(out, '\n');
}

int sse_comment(struct buf *out, const char *text)
{
    return buf_printf(out, ": %s\n\n", text);
}

int sse_retry(struct buf *out, unsigned ms)
{
    return buf_printf(out, "retry: %u\n\n", ms);
}

int sse_wire(struct buf *out, struct str text, bool chunked)
{
    if (!chunked)
        return buf_add_str(out, text);
    buf_printf(out, "%zx\r\n", text.n);
    buf_add_str(out, text);
    return buf_add_text(out, "\r\n");
}
