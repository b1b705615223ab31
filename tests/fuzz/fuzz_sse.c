/* Fuzz target: the event stream parser. The same bytes whole and cut by their own content must
 * give the same events, and every event must be valid UTF-8 within the limit.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/map.h"
#include "loop/sse.h"

#define EVENT_MAX 256

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct digest {
    uint64_t hash;
    size_t count;
};

static int add(const struct sse_event *event, void *arg)
{
    struct digest *digest = arg;

    if (event->data.n > EVENT_MAX || event->type.n == 0)
        abort();
    digest->hash = digest->hash * 31 + map_hash(event->type);
    digest->hash = digest->hash * 31 + map_hash(event->data);
    digest->hash = digest->hash * 31 + map_hash(event->id);
    digest->count++;
    return 0;
}

static int feed_cut(struct sse_parser *sse, const uint8_t *bytes, size_t n)
{
    int result = 0;

    for (size_t at = 0; at < n && result == 0;) {
        size_t part = 1 + bytes[at] % 5;

        part = part < n - at ? part : n - at;
        result = sse_feed(sse, str_of((const char *)bytes + at, part), NULL);
        at += part;
    }
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct digest whole = { 0 }, cut = { 0 };
    struct sse_parser a, b;
    int result_a, result_b;

    sse_init(&a, EVENT_MAX, add, &whole);
    sse_init(&b, EVENT_MAX, add, &cut);
    result_a = sse_feed(&a, str_of((const char *)bytes, n), NULL);
    result_b = feed_cut(&b, bytes, n);
    if (result_a != result_b || whole.hash != cut.hash || whole.count != cut.count ||
        sse_retry_ms(&a) != sse_retry_ms(&b) || !str_eq(sse_last_id(&a), sse_last_id(&b)))
        abort();
    sse_release(&a);
    sse_release(&b);
    return 0;
}
