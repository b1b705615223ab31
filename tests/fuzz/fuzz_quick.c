/* Quick add: every text is taken apart or refused. What was understood lies in the text, in order,
 * and what comes out is what a task may hold.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "journal/quick.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const struct quick *q, struct str text)
{
    BUG_IF(q->title.n == 0 || utf8_count(q->title) > 500 || !utf8_valid(q->title));
    BUG_IF(q->due[0] && !record_day_valid(str_from(q->due), true));
    BUG_IF(q->estimate_min < 0 || q->estimate_min > 100000);
    BUG_IF(q->priority < -1 || q->priority > 3);
    BUG_IF(!utf8_valid(q->notes) || !utf8_valid(q->category));
    for (size_t i = 0; i < q->label_count; i++)
        BUG_IF(q->labels[i].n == 0 || utf8_count(q->labels[i]) > 100);
    for (size_t i = 0; i < q->item_count; i++)
        BUG_IF(q->items[i].n == 0);
    for (size_t i = 0; i < q->span_count; i++) {
        BUG_IF(q->spans[i].start >= q->spans[i].end || q->spans[i].end > text.n);
        BUG_IF(i > 0 && q->spans[i].start < q->spans[i - 1].end);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_BUF out = BUF_INIT(1 << 20);
    struct str text = str_of((const char *)bytes, n);
    struct json_writer w = JSON_WRITER(&out);
    struct quick q;
    struct quick_when when;

    for (int behind = 0; behind < 2; behind++)
        if (quick_when(text, STR("2026-02-18T09:30"), behind, &arena, &when))
            BUG_IF(when.has_clock && (when.minutes < 0 || when.minutes >= 24 * 60));
    if (quick_parse(text, STR("2026-02-18"), &arena, &q, NULL) < 0)
        return 0;
    check(&q, text);
    quick_write(&w, &q);
    BUG_IF(json_write_end(&w) < 0);
    return 0;
}
