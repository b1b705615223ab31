/* Lists of any type of record, ratings added up, and the timer that runs.
 *
 * What agents may see is decided here, record by record, by the category that each counts for now:
 * what is stored beside a record (a rating's category) may be older than where its task has moved.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/map.h"
#include "base/utf8.h"
#include "journal/list_int.h"

#define LIST_DEFAULT 200
#define LIST_MAX     1000

/* ---- scope ---- */

static int end_in_scope(struct journal *journal, const struct journal_scope *scope, struct str type,
                        struct str id, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    enum record_type of = record_type_of(type);
    struct record end;
    struct str category = STR_NONE;
    int r = of == RECORD_NONE ? 0 : record_load(journal, of, id, &arena, &end, err);

    if (r < 0 || (r == 1 && journal_category_of(journal, &end, &arena, &category, err) < 0))
        return -1;
    return journal_in_scope(scope, category);
}

int record_in_scope(struct journal *journal, const struct journal_scope *scope,
                    const struct record *record, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct str category;
    int r;

    if (!scope || scope->all)
        return 1;
    if (record->type == RECORD_ENTRY_LINK) {
        r = end_in_scope(journal, scope, record_str(record, "fromType"),
                         record_str(record, "fromId"), err);
        return r <= 0 ? r
                      : end_in_scope(journal, scope, record_str(record, "toType"),
                                     record_str(record, "toId"), err);
    }
    if (journal_category_of(journal, record, &arena, &category, err) < 0)
        return -1;
    return journal_in_scope(scope, category);
}

/* ---- lists ---- */

static bool is_or_empty(struct str wanted, struct str value)
{
    return wanted.n == 0 || str_eq(wanted, value);
}

/* What more than one of the filters asks for, after the index has answered one of them. */
static bool fits(const struct record_filter *filter, const struct record *record)
{
    int64_t at;

    switch (record->type) {
    case RECORD_RATING:
        return is_or_empty(filter->kind, record_str(record, "dimension"));
    case RECORD_TIME_ENTRY:
        return is_or_empty(filter->parent, record_str(record, "taskId")) &&
               is_or_empty(filter->target_id, record_str(record, "taskId"));
    case RECORD_DAY_PLAN_BLOCK:
        at = record_i64(record, "startTime");
        return at >= filter->from && (filter->to == 0 || at < filter->to) &&
               is_or_empty(filter->target_id, record_str(record, "taskId"));
    default:
        return true;
    }
}

/* Of a kind or of something that can't be. */
static bool can_be(const struct record_filter *filter)
{
    struct str kind = filter->kind;

    return (filter->parent.n == 0 || record_id_valid(filter->parent)) &&
           (filter->target_id.n == 0 || record_id_valid(filter->target_id)) &&
           (kind.n == 0 || (utf8_valid(kind) && !memchr(kind.p, 0, kind.n)));
}

int record_list(struct journal *journal, const struct record_filter *filter, struct arena *arena,
                struct record **ret_records, size_t *ret_count, bool *ret_more, struct err *err)
{
    size_t limit = filter->limit <= 0         ? LIST_DEFAULT
                   : filter->limit < LIST_MAX ? (size_t)filter->limit
                                              : LIST_MAX;
    struct record *records = ARENA_NEW_N(arena, struct record, limit + 1), *rows;
    size_t count = 0, n = 0;
    int64_t after = filter->after;

    do {
        if (!can_be(filter))
            break;
        if (record_list_chunk(journal, filter, after, (int)limit + 1, arena, &rows, &n, err) < 0)
            return -1;
        for (size_t i = 0; i < n && count <= limit; i++) {
            int r =
                fits(filter, &rows[i]) ? record_in_scope(journal, filter->scope, &rows[i], err) : 0;

            if (r < 0)
                return -1;
            if (r > 0)
                records[count++] = rows[i];
        }
        after = n > 0 ? rows[n - 1].n : after;
    } while (n > limit && count <= limit);
    *ret_more = count > limit;
    *ret_count = count > limit ? limit : count;
    *ret_records = records;
    return 0;
}

int timer_running(struct journal *journal, struct arena *arena, struct record *ret_entry,
                  struct err *err)
{
    return other_running(journal, STR(""), arena, ret_entry, err);
}

/* ---- ratings ---- */

static void add_rating(struct map *sums, const struct record *rating, struct arena *arena)
{
    struct str dimension = record_str(rating, "dimension");
    struct rating_summary *sum = map_find(sums, dimension);
    int64_t value = record_i64(rating, "value");

    if (!sum) {
        sum = ARENA_NEW(arena, struct rating_summary);
        *sum = (struct rating_summary){ .dimension = arena_str(arena, dimension),
                                        .lowest = value,
                                        .highest = value };
        map_put(sums, dimension, sum);
    }
    sum->count++;
    sum->mean += (double)value; /* divided at the end */
    sum->lowest = value < sum->lowest ? value : sum->lowest;
    sum->highest = value > sum->highest ? value : sum->highest;
}

static int by_dimension(const void *a, const void *b)
{
    return str_cmp(((const struct rating_summary *)a)->dimension,
                   ((const struct rating_summary *)b)->dimension);
}

int rating_summaries(struct journal *journal, const struct journal_scope *scope, int64_t from,
                     int64_t to, struct arena *arena, struct rating_summary **ret_list,
                     size_t *ret_count, struct err *err)
{
    struct record_filter filter = {
        .type = RECORD_RATING, .scope = scope, .from = from, .to = to, .limit = LIST_MAX
    };
    AUTO_MAP sums = MAP_INIT;
    struct rating_summary *list;
    size_t n, count = 0;
    bool more = true;

    while (more) {
        AUTO_ARENA page = ARENA_INIT;
        struct record *ratings;

        if (record_list(journal, &filter, &page, &ratings, &n, &more, err) < 0)
            return -1;
        for (size_t i = 0; i < n; i++)
            add_rating(&sums, &ratings[i], arena);
        if (n > 0)
            filter.after = ratings[n - 1].n;
    }
    list = ARENA_NEW_N(arena, struct rating_summary, map_count(&sums) + 1);
    map_each (&sums, entry) {
        list[count] = *(struct rating_summary *)entry->value;
        list[count].mean /= (double)list[count].count;
        count++;
    }
    if (count > 0)
        qsort(list, count, sizeof(*list), by_dimension);
    *ret_list = list;
    *ret_count = count;
    return 0;
}
