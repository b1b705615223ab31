/* WebSocket frames, whole and in pieces: both ways must end the same, and no message may be longer
 * than allowed or, when it is text, be other than UTF-8.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "serve/ws_int.h"

#define MESSAGE_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct seen {
    struct ws *ws;
    unsigned count;
    size_t total;
};

static void on_message(void *arg, bool text, struct str message)
{
    struct seen *seen = arg;

    if (message.n > MESSAGE_MAX || (text && !utf8_valid(message)) || ws_close_sent(seen->ws))
        abort();
    seen->count++;
    seen->total += message.n;
}

static struct seen run(struct str input, size_t step)
{
    struct seen seen = { .count = 0 };

    seen.ws = ws_new(MESSAGE_MAX, on_message, &seen);
    for (size_t at = 0; at < input.n; at += step)
        ws_feed(seen.ws, str_take(str_skip(input, at), step));
    ws_ping(seen.ws);
    ws_close(seen.ws, WS_GOING_AWAY, "end");
    if (!ws_close_sent(seen.ws))
        abort();
    ws_free(seen.ws);
    seen.ws = NULL;
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str input = str_of((const char *)bytes, n);
    struct seen whole, pieces;

    if (n > 65536)
        return 0;
    whole = run(input, n ? n : 1);
    pieces = run(input, 1);
    if (whole.count != pieces.count || whole.total != pieces.total)
        abort();
    return 0;
}
