/* Tools that read and give ratings.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "base/json_put.h"
#include "base/map.h"
#include "desk/desk_int.h"

#define DAYS_MAX  400
#define PAGE      1000
#define PLAN_MARK "dayplan-"

/* ---- sums ---- */

struct day_sum {
    struct str day, dimension;
    int64_t count, total;
};

static void add_rating(struct desk_op *op, struct map *sums, const struct record *rating)
{
    char day[JOURNAL_DAY_SIZE];
    struct day_sum *sum;
    struct str key;

    journal_day_at(op->journal, record_i64(rating, "ratedAt"), day);
    key =
        str_from(arena_printf(op->arena, "%s|%.*s", day, STR_ARG(record_str(rating, "dimension"))));
    sum = map_find(sums, key);
    if (!sum) {
        sum = ARENA_NEW(op->arena, struct day_sum);
        sum->day = str_take(key, JOURNAL_DAY_SIZE - 1);
        sum->dimension = str_skip(key, JOURNAL_DAY_SIZE);
        map_put(sums, key, sum);
    }
    sum->count++;
    sum->total += record_i64(rating, "value");
}

static int by_day(const void *a, const void *b)
{
    const struct day_sum *x = a, *y = b;
    int order = str_cmp(y->day, x->day);

    return order ? order : str_cmp(x->dimension, y->dimension);
}

static void write_mean(struct desk_op *op, double mean)
{
    json_put_double(op->out, "mean", (double)(int64_t)(mean * 100 + 0.5) / 100);
}

/* The newest days first. */
static void write_days(struct desk_op *op, const struct map *sums)
{
    struct day_sum *list = ARENA_NEW_N(op->arena, struct day_sum, map_count(sums) + 1);
    size_t n = 0;

    map_each (sums, entry)
        list[n++] = *(struct day_sum *)entry->value;
    if (n > 0)
        qsort(list, n, sizeof(*list), by_day);
    json_put_array(op->out, "days");
    for (size_t i = 0; i < n && i < DAYS_MAX; i++) {
        json_write_object_begin(op->out);
        out_str(op, "day", list[i].day);
        out_str(op, "dimension", list[i].dimension);
        out_i64(op, "count", list[i].count);
        write_mean(op, (double)list[i].total / (double)list[i].count);
        json_write_object_end(op->out);
    }
    json_write_array_end(op->out);
}

static int read_days(struct desk_op *op, int64_t from, int64_t to, struct err *err)
{
    struct record_filter filter = {
        .type = RECORD_RATING, .scope = &op->scope, .from = from, .to = to, .limit = PAGE
    };
    AUTO_MAP sums = MAP_INIT;
    bool more = true;

    while (more) {
        AUTO_ARENA page = ARENA_INIT;
        struct record *ratings;
        size_t n;

        if (record_list(op->journal, &filter, &page, &ratings, &n, &more, err) < 0)
            return -1;
        for (size_t i = 0; i < n; i++)
            add_rating(op, &sums, &ratings[i]);
        if (n > 0)
            filter.after = ratings[n - 1].n;
    }
    write_days(op, &sums);
    return 0;
}

static int read_summary(struct desk_op *op, struct err *err)
{
    struct rating_summary *list;
    int64_t from, to;
    size_t n;

    if (arg_time(op, "from", &from, err) < 0 || arg_time(op, "to", &to, err) < 0 ||
        rating_summaries(op->journal, &op->scope, from, to, op->arena, &list, &n, err) < 0)
        return -1;
    json_put_array(op->out, "summaries");
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(op->out);
        out_str(op, "dimension", list[i].dimension);
        out_i64(op, "count", list[i].count);
        write_mean(op, list[i].mean);
        out_i64(op, "lowest", list[i].lowest);
        out_i64(op, "highest", list[i].highest);
        json_write_object_end(op->out);
    }
    json_write_array_end(op->out);
    return arg_bool(op, "byDay", false) ? read_days(op, from, to, err) : 0;
}

/* ---- one target ---- */

/* A day as a whole is in no category, and may be rated before anybody planned it. */
static int aim_target(struct desk_op *op, struct err *err)
{
    struct str type = arg_str(op, "targetType"), id = arg_str(op, "targetId");
    struct record plan;
    int r;

    if (!str_is(type, "dayPlan"))
        return scope_get(op, record_type_of(type), id, NULL, err);
    if (!str_starts(id, STR(PLAN_MARK)) ||
        !record_day_valid(str_skip(id, strlen(PLAN_MARK)), false))
        return err_set(err, ERR_BAD_REQUEST,
                       "/targetId: the plan of a day is named dayplan-2026-02-18");
    if (scope_category(op, "a day as a whole", STR_NONE, err) < 0)
        return -1;
    r = journal_get(op->journal, RECORD_DAY_PLAN, id, op->arena, &plan, err);
    if (r == 1)
        op_aim(op, &plan);
    return r < 0 ? -1 : 0;
}

static int read_target(struct desk_op *op, struct err *err)
{
    struct record_filter filter = { .type = RECORD_RATING,
                                    .scope = &op->scope,
                                    .target_id = arg_str(op, "targetId"),
                                    .limit = PAGE };
    struct record *ratings;
    size_t n;
    bool more;

    if (record_list(op->journal, &filter, op->arena, &ratings, &n, &more, err) < 0)
        return -1;
    out_records(op, "ratings", ratings, n);
    return 0;
}

static int act_rate(struct desk_op *op, struct err *err)
{
    struct record rating;

    if (rate(op->write, op->args, &rating, err) < 0)
        return -1;
    out_record(op, "rating", &rating);
    return 0;
}

const struct desk_tool desk_rating_tools[] = {
    { .name = "get_ratings_summary", .read = read_summary },
    { .name = "get_rating_for_target", .aim = aim_target, .read = read_target },
    { .name = "create_or_update_rating", .title = "Rate", .aim = aim_target, .act = act_rate },
};
const size_t desk_rating_tool_count = ARRAY_LEN(desk_rating_tools);
