/* Lists of records in the order of an index, and facts about tasks set by set.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/map.h"
#include "journal/list_int.h"
#include "journal/record_store_int.h"

/* ---- lists ---- */

/* A list goes on after a row: what that row is sorted by is looked up, so a cursor is its number.
 */
#define UP(id, where, key, lowest)                                                                 \
    {                                                                                              \
        RECORD_SELECT(id)                                                                          \
        "WHERE deleted_at IS NULL AND " where "(" key ", n) > (coalesce(("                         \
        "SELECT a." key " FROM " id##_TABLE " a WHERE a.n = ?), " lowest "), ?)"                   \
                                            " ORDER BY " key ", n LIMIT ?"                         \
    }
#define DOWN(id, where, key, highest)                                                              \
    {                                                                                              \
        RECORD_SELECT(id)                                                                          \
        "WHERE deleted_at IS NULL AND " where "(" key ", n) < (coalesce(("                         \
        "SELECT a." key " FROM " id##_TABLE " a WHERE a.n = ?), " highest "), ?)"                  \
                                            " ORDER BY " key " DESC, n DESC LIMIT ?"               \
    }
#define BIG       "9223372036854775807"
#define LAST_TEXT "'\xf4\x8f\xbf\xbf'" /* the last character there is */
#define BY_NUMBER(id, where, key)                                                                  \
    {                                                                                              \
        UP(id, where, key, "-1"), DOWN(id, where, key, BIG)                                        \
    }
#define BY_TEXT(id, where, key)                                                                    \
    {                                                                                              \
        UP(id, where, key, "''"), DOWN(id, where, key, LAST_TEXT)                                  \
    }
#define BETWEEN(key) key " >= ? AND " key " < ? AND "

struct order {
    struct sql up, down;
};

/* All of a type; with a range of time where that is their order. */
static const struct order all[RECORD_TYPES_END] = {
    [RECORD_CATEGORY] = BY_TEXT(CATEGORY, "", "folded"),
    [RECORD_LABEL] = BY_TEXT(LABEL, "", "folded"),
    [RECORD_TASK] = BY_NUMBER(TASK, "", "n"),
    [RECORD_CHECKLIST] = BY_NUMBER(CHECKLIST, "", "n"),
    [RECORD_CHECKLIST_ITEM] = BY_NUMBER(CHECKLIST_ITEM, "", "n"),
    [RECORD_TIME_ENTRY] = BY_NUMBER(TIME_ENTRY, BETWEEN("started_at"), "started_at"),
    [RECORD_DAY_PLAN] = BY_TEXT(DAY_PLAN, BETWEEN("plan_date"), "plan_date"),
    [RECORD_DAY_PLAN_BLOCK] = BY_NUMBER(DAY_PLAN_BLOCK, "", "n"),
    [RECORD_RATING] = BY_NUMBER(RATING, BETWEEN("rated_at"), "rated_at"),
    [RECORD_ENTRY] = BY_NUMBER(ENTRY, BETWEEN("at"), "at"),
    [RECORD_ATTACHMENT] = BY_NUMBER(ATTACHMENT, "", "n"),
    [RECORD_ENTRY_LINK] = BY_NUMBER(ENTRY_LINK, "", "n"),
};
/* Of a parent, kind or target. */
static const struct order some[RECORD_TYPES_END] = {
    [RECORD_CHECKLIST] = BY_NUMBER(CHECKLIST, "task_id = ? AND ", "position"),
    [RECORD_CHECKLIST_ITEM] = BY_NUMBER(CHECKLIST_ITEM, "checklist_id = ? AND ", "position"),
    [RECORD_TIME_ENTRY] =
        BY_NUMBER(TIME_ENTRY, "task_id = ? AND " BETWEEN("started_at"), "started_at"),
    [RECORD_DAY_PLAN_BLOCK] = BY_NUMBER(DAY_PLAN_BLOCK, "plan_id = ? AND ", "start_at"),
    [RECORD_RATING] = BY_NUMBER(
        RATING,
        "target_type IN ('task', 'timeEntry', 'dayPlan', 'entry') AND target_id = ? AND " BETWEEN(
            "rated_at"),
        "rated_at"),
    [RECORD_ENTRY] = BY_NUMBER(ENTRY, "kind = ? AND " BETWEEN("at"), "at"),
    [RECORD_ATTACHMENT] = BY_NUMBER(ATTACHMENT, "entry_id = ? AND ", "n"),
    [RECORD_ENTRY_LINK] = BY_NUMBER(ENTRY_LINK, "(from_id = ? OR to_id = ?) AND ", "n"),
};
static const struct order blocks_of_task =
    BY_NUMBER(DAY_PLAN_BLOCK, "task_id = ? AND ", "start_at");

/* What `some` of the type compares with; empty: nothing. */
static struct str equal_of(const struct record_filter *filter)
{
    switch (filter->type) {
    case RECORD_CHECKLIST:
    case RECORD_CHECKLIST_ITEM:
    case RECORD_ATTACHMENT:
        return filter->parent;
    case RECORD_DAY_PLAN_BLOCK:
    case RECORD_TIME_ENTRY:
        return filter->parent.n ? filter->parent : filter->target_id;
    case RECORD_RATING:
    case RECORD_ENTRY_LINK:
        return filter->target_id;
    case RECORD_ENTRY:
        return filter->kind;
    default:
        return STR_NONE;
    }
}

static void bind_range(struct stmt *q, struct journal *journal, const struct record_filter *filter,
                       struct arena *arena)
{
    int64_t to = filter->to ? filter->to : INT64_MAX;
    char day[JOURNAL_DAY_SIZE];

    if (filter->type == RECORD_TIME_ENTRY || filter->type == RECORD_RATING ||
        filter->type == RECORD_ENTRY) {
        stmt_bind_i64(q, filter->from);
        stmt_bind_i64(q, to);
    }
    if (filter->type != RECORD_DAY_PLAN)
        return;
    journal_day_at(journal, filter->from, day);
    stmt_bind_text(q, filter->from ? arena_text(arena, day) : "");
    journal_day_at(journal, filter->to - 1, day);
    /* The last day is within: whatever is longer than it sorts after it. */
    stmt_bind_text(q, filter->to ? arena_printf(arena, "%s~", day) : "~");
}

int record_list_chunk(struct journal *journal, const struct record_filter *filter, int64_t after,
                      int chunk, struct arena *arena, struct record **ret_records,
                      size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct str equal = equal_of(filter);
    const struct order *order = equal.n ? &some[filter->type] : &all[filter->type];

    if (filter->type == RECORD_DAY_PLAN_BLOCK && filter->parent.n == 0 && equal.n > 0)
        order = &blocks_of_task;
    if (db_prepare(domain_db(journal->domain), filter->newest_first ? order->down : order->up, &q,
                   err) < 0)
        return -1;
    if (equal.n > 0)
        stmt_bind_str(q, equal);
    if (equal.n > 0 && filter->type == RECORD_ENTRY_LINK)
        stmt_bind_str(q, equal);
    bind_range(q, journal, filter, arena);
    stmt_bind_i64(q, after);
    stmt_bind_i64(q, after == 0 && filter->newest_first ? INT64_MAX : after);
    stmt_bind_i64(q, chunk);
    return record_read_all(q, filter->type, arena, ret_records, ret_count, err);
}

/* ---- facts about tasks, SET_MAX of them at a time ---- */

/* The ids of a set; places that are left over stay empty. */
static void bind_set(struct stmt *q, const struct record *tasks, size_t n)
{
    for (size_t i = 0; i < SET_MAX; i++)
        stmt_bind_str(q, i < n ? tasks[i].id : STR(""));
}

/* Where each task stands, plus one. */
static void places(struct map *map, const struct record *tasks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        map_put(map, tasks[i].id, (void *)(uintptr_t)(i + 1));
}

static int labels_of_set(struct journal *journal, const struct record *tasks, size_t n,
                         struct arena *arena, struct record **labels, size_t *counts,
                         struct err *err)
{
    AUTO(stmt) q = NULL;
    AUTO_MAP map = MAP_INIT;
    size_t room[SET_MAX] = { 0 };
    int r;

    places(&map, tasks, n);
    if (db_prepare(domain_db(journal->domain),
                   SQL("SELECT x.task_id, l.name, l.color, l.n, l.id, l.created_at, l.updated_at,"
                       " l.deleted_at, l.vector_clock, l.counter, l.provenance FROM task_labels x"
                       " JOIN labels l ON l.id = x.label_id WHERE x.task_id IN " MARKS
                       " AND x.deleted_at IS NULL AND l.deleted_at IS NULL ORDER BY l.folded, l.n"),
                   &q, err) < 0)
        return -1;
    bind_set(q, tasks, n);
    while ((r = stmt_step(q, err)) == 1) {
        size_t at = (uintptr_t)map_find(&map, stmt_str(q, "task_id")) - 1;

        if (counts[at] == room[at]) {
            struct record *more = ARENA_NEW_N(arena, struct record, room[at] = room[at] * 2 + 4);

            if (counts[at] > 0)
                memcpy(more, labels[at], counts[at] * sizeof(*more));
            labels[at] = more;
        }
        record_read(q, RECORD_LABEL, arena, &labels[at][counts[at]++]);
    }
    return r;
}

int task_labels_of(struct journal *journal, const struct record *tasks, size_t n,
                   struct arena *arena, struct record ***ret_labels, size_t **ret_counts,
                   struct err *err)
{
    struct record **labels = ARENA_NEW_N(arena, struct record *, n + 1);
    size_t *counts = ARENA_NEW_N(arena, size_t, n + 1);

    for (size_t i = 0; i < n; i += SET_MAX) {
        size_t set = n - i < SET_MAX ? n - i : SET_MAX;

        if (labels_of_set(journal, tasks + i, set, arena, labels + i, counts + i, err) < 0)
            return -1;
    }
    *ret_labels = labels;
    *ret_counts = counts;
    return 0;
}

static int time_of_set(struct journal *journal, const struct record *tasks, size_t n,
                       int64_t now_ms, int64_t *ms, struct err *err)
{
    AUTO(stmt) q = NULL;
    AUTO_MAP map = MAP_INIT;
    int r;

    places(&map, tasks, n);
    if (db_prepare(domain_db(journal->domain),
                   SQL("SELECT task_id, started_at, ended_at FROM time_entries"
                       " WHERE deleted_at IS NULL AND task_id IN " MARKS),
                   &q, err) < 0)
        return -1;
    bind_set(q, tasks, n);
    while ((r = stmt_step(q, err)) == 1) {
        size_t at = (uintptr_t)map_find(&map, stmt_str(q, "task_id")) - 1;
        int64_t ended = stmt_is_null(q, "ended_at") ? now_ms : stmt_i64(q, "ended_at");

        if (ended > stmt_i64(q, "started_at"))
            ms[at] += ended - stmt_i64(q, "started_at");
    }
    return r;
}

int task_time_of(struct journal *journal, const struct record *tasks, size_t n, int64_t now_ms,
                 struct arena *arena, int64_t **ret_ms, struct err *err)
{
    int64_t *ms = ARENA_NEW_N(arena, int64_t, n + 1);

    for (size_t i = 0; i < n; i += SET_MAX) {
        size_t set = n - i < SET_MAX ? n - i : SET_MAX;

        if (time_of_set(journal, tasks + i, set, now_ms, ms + i, err) < 0)
            return -1;
    }
    *ret_ms = ms;
    return 0;
}
