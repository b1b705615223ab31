/* When a rule fires, without storing anything.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/timefmt.h"
#include "wake/timer_int.h"

/* A moment with its offset, a local time, or a day. */
static int read_from(struct str from, const struct zone *zone, int64_t *ret_ms, struct err *err)
{
    char midnight[TIMER_LOCAL_SIZE];
    int64_t local;

    if (timefmt_parse(from, ret_ms, NULL) == 0)
        return 0;
    if (from.n == 10) {
        snprintf(midnight, sizeof(midnight), "%.*sT00:00:00", STR_ARG(from));
        from = str_from(midnight);
    }
    if (local_parse("from", from, &local, NULL) < 0)
        return err_set(
            err, ERR_BAD_REQUEST,
            "from: \"%.*s\" is neither a moment such as 2026-02-18T06:00:00Z nor a local "
            "time such as 2026-02-18T07:00 nor a day",
            STR_ARG(str_take(from, 40)));
    *ret_ms = local_moment(zone, local);
    return 0;
}

static void fill(const struct zone *zone, int64_t at, struct timer_occurrence *one)
{
    int64_t local = 0, shown = local_of(zone, at), offset = shown - at / 1000, earlier;
    char text[TIMER_LOCAL_SIZE];

    (void)local_parse("local", str_from(one->local), &local, NULL);
    one->at = at;
    one->gap = shown != local;
    one->overlap = !one->gap && zone_moment(zone, local, &earlier) > 1;
    local_text(shown, text);
    snprintf(one->time, sizeof(one->time), "%s%c%02d:%02d", text, offset < 0 ? '-' : '+',
             (int)((offset < 0 ? -offset : offset) / 3600),
             (int)((offset < 0 ? -offset : offset) / 60 % 60));
}

static int start_of(const struct timer_preview *what, const struct zone *zone, int64_t from_ms,
                    char ret_start[TIMER_LOCAL_SIZE], struct err *err)
{
    int64_t start;

    if (!what->start.n) {
        timer_local(zone, from_ms, ret_start);
        return recurrence_start(what->rrule, ret_start, ret_start, err);
    }
    if (local_parse("start", what->start, &start, err) < 0)
        return -1;
    local_text(start, ret_start);
    return 0;
}

int timer_preview(const struct timer_preview *what, const struct zone *zone, int64_t now_ms,
                  struct arena *arena, struct timer_occurrence **ret_list, size_t *ret_count,
                  struct err *err)
{
    AUTO(recurrence) rule = NULL;
    char start[TIMER_LOCAL_SIZE];
    struct timer_occurrence *list;
    int64_t from = now_ms - now_ms % MINUTES(1), at;
    size_t n = 0;

    if (what->count < 1 || what->count > TIMER_PREVIEW_MAX)
        return err_set(err, ERR_BAD_REQUEST, "count: is from 1 to %d", TIMER_PREVIEW_MAX);
    if (what->from.n && read_from(what->from, zone, &from, err) < 0)
        return -1;
    if (start_of(what, zone, from, start, err) < 0 ||
        recurrence_parse(what->rrule, str_from(start), &rule, err) < 0)
        return -1;
    list = ARENA_NEW_N(arena, struct timer_occurrence, (size_t)what->count);
    at = (what->from.n ? from : now_ms + 1) - 1;
    while (n < (size_t)what->count &&
           recurrence_next_moment(rule, zone, at, list[n].local, &at) == 1)
        fill(zone, at, &list[n++]);
    *ret_list = list;
    *ret_count = n;
    return 0;
}
