/* The moment that a rating counts for: that of what it rates, not of when it was typed.
 *
 * Lists and sums go by ratedAt and its index. A day's rating lies within that day, whatever was
 * given. Of anything else ratedAt is what was given, or else the moment of what is rated, and then
 * it moves along when that is moved.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "journal/journal_int.h"
#include "journal/list.h"

#define RATINGS_PAGE 1000

/* An open task has none. */
static const struct record_value *moment_of(const struct record *record)
{
    static const struct record_value none;

    switch (record->type) {
    case RECORD_ENTRY:
        return record_get(record, "at");
    case RECORD_TIME_ENTRY:
        return record_get(record, "startedAt");
    case RECORD_TASK:
        return record_get(record, "closedAt");
    default:
        return &none;
    }
}

int rating_set_moment(struct journal_write *write, struct record *rating, struct err *err)
{
    enum record_type type = record_type_of(record_str(rating, "targetType"));
    struct record target;
    int r = type == RECORD_NONE ? 0
                                : record_load(write->journal, type, record_str(rating, "targetId"),
                                              write->arena, &target, err);

    if (r == 1 && moment_of(&target)->set)
        *record_field_of(rating, "ratedAt") = *moment_of(&target);
    return r < 0 ? -1 : 0;
}

int rating_keep_in_day(struct journal_write *write, struct record *rating, struct err *err)
{
    struct str day = plan_day(record_str(rating, "targetId"));
    struct record_value *at = record_field_of(rating, "ratedAt");
    int64_t from, to;

    if (!str_is(record_str(rating, "targetType"), "dayPlan") || day.n == 0)
        return 0;
    if (journal_day_span(write->journal, day, &from, &to, err) < 0)
        return -1;
    if (at->i < from || at->i >= to)
        at->i = from + (to - from) / 2;
    return 0;
}

static int move(struct journal_write *write, const struct record *before, int64_t at,
                struct err *err)
{
    struct record rating = *before;

    record_field_of(&rating, "ratedAt")->i = at;
    return record_put(write, &rating, before, err);
}

int ratings_follow(struct journal_write *write, const struct record *before,
                   const struct record *record, struct err *err)
{
    const struct record_value *was = moment_of(before), *is = moment_of(record);
    struct record_filter filter = { .type = RECORD_RATING,
                                    .target_id = record->id,
                                    .limit = RATINGS_PAGE };
    struct record *ratings;
    size_t n;
    bool more;

    if (!was->set || !is->set || was->i == is->i)
        return 0;
    if (record_list(write->journal, &filter, write->arena, &ratings, &n, &more, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (record_type_of(record_str(&ratings[i], "targetType")) == record->type &&
            record_i64(&ratings[i], "ratedAt") == was->i &&
            move(write, &ratings[i], is->i, err) < 0)
            return -1;
    }
    return 0;
}
