/* /journal/days, /journal/timer, ratings: what a day holds, and what runs now.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/clock.h"
#include "base/map.h"
#include "serve/api_journal_int.h"

#define DAY_ROWS_MAX 1000
#define DUE_MAX      500

/* ---- the timer ---- */

static int put_entry(struct api_journal_work *work, const struct record *entry, struct err *err)
{
    json_write_object_begin(work->w);
    json_write_key(work->w, "entry");
    if (!entry)
        json_write_null(work->w);
    else if (api_journal_put(work, entry, err) < 0)
        return -1;
    json_write_object_end(work->w);
    return 0;
}

static int look_timer(struct api_journal_work *work, struct err *err)
{
    struct record entry;
    int r = timer_running(work->journal, work->arena, &entry, err);

    return r < 0 ? -1 : put_entry(work, r ? &entry : NULL, err);
}

void api_timer_get(struct serve_request *request)
{
    api_journal_look(request, look_timer);
}

/* The task that the body names, by its id or the beginning of it; empty: none. */
static int task_of(struct api_journal_work *work, struct str *ret_id, struct err *err)
{
    struct record task;
    struct str id = STR_NONE;

    *ret_id = STR_NONE;
    if (json_get_str(work->body, "taskId", &id, err) < 0)
        return -1;
    if (!id.n)
        return 0;
    if (api_journal_record(work, RECORD_TASK, id, false, &task, err) < 0)
        return err_wrap(err, "/taskId");
    *ret_id = task.id;
    return 0;
}

static int start_timer(struct api_journal_work *work, struct err *err)
{
    struct str task, description = STR_NONE;
    struct record entry;

    if (task_of(work, &task, err) < 0 ||
        json_get_str(work->body, "description", &description, err) < 0 ||
        timer_start(work->write, task, description, &entry, err) < 0)
        return -1;
    return put_entry(work, &entry, err);
}

void api_timer_start(struct serve_request *request)
{
    static const char *const members[] = { "taskId", "description", NULL };

    api_journal_do(request, &(struct api_journal_job){
                                .status = 200, .members = members, .work = start_timer });
}

static int stop_timer(struct api_journal_work *work, struct err *err)
{
    struct record entry;
    struct str task;

    if (task_of(work, &task, err) < 0 || timer_stop(work->write, task, 0, &entry, err) < 0)
        return -1;
    return put_entry(work, &entry, err);
}

void api_timer_stop(struct serve_request *request)
{
    static const char *const members[] = { "taskId", NULL };

    api_journal_do(request, &(struct api_journal_job){
                                .status = 200, .members = members, .work = stop_timer });
}

/* ---- a day ---- */

struct day {
    char text[JOURNAL_DAY_SIZE];
    struct str plan_id;
    int64_t from, to;
};

static int read_day(struct api_journal_work *work, struct day *ret_day, struct err *err)
{
    struct str text = serve_request_param(work->request, "day");

    journal_today(work->journal, ret_day->text);
    if (str_is(text, "today"))
        text = str_from(ret_day->text);
    if (!record_day_valid(text, false))
        return err_set(err, ERR_BAD_REQUEST, "\"%.*s\" is not a day; write YYYY-MM-DD or today",
                       STR_ARG(str_take(text, 40)));
    memcpy(ret_day->text, text.p, text.n);
    ret_day->plan_id = str_from(arena_printf(work->arena, "dayplan-%s", ret_day->text));
    return journal_day_span(work->journal, str_from(ret_day->text), &ret_day->from, &ret_day->to,
                            err);
}

/* Tasks that a day's records name, each once. */
static void note_task(struct map *seen, struct str id)
{
    if (id.n && map_count(seen) < DUE_MAX)
        map_put(seen, id, seen);
}

static int put_rows(struct api_journal_work *work, const char *key, struct record_filter filter,
                    const char *task_field, struct map *seen, struct err *err)
{
    struct record *records;
    size_t n;
    bool more;

    filter.limit = DAY_ROWS_MAX;
    if (record_list(work->journal, &filter, work->arena, &records, &n, &more, err) < 0)
        return -1;
    for (size_t i = 0; task_field && i < n; i++)
        note_task(seen, record_str(&records[i], task_field));
    return api_journal_put_list(work, key, records, n, err);
}

/* Time that was spent in it: what began the day before and went on counts too. */
static int put_time(struct api_journal_work *work, const struct day *day, struct map *seen,
                    struct err *err)
{
    struct record_filter filter = { .type = RECORD_TIME_ENTRY,
                                    .from = day->from > DAYS(1) ? day->from - DAYS(1) : 1,
                                    .to = day->to,
                                    .limit = DAY_ROWS_MAX };
    struct record *records;
    size_t n, kept = 0;
    bool more;

    if (record_list(work->journal, &filter, work->arena, &records, &n, &more, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct record_value *ended = record_get(&records[i], "endedAt");

        if (record_i64(&records[i], "startedAt") < day->from && ended->set && ended->i <= day->from)
            continue;
        note_task(seen, record_str(&records[i], "taskId"));
        records[kept++] = records[i];
    }
    return api_journal_put_list(work, "timeEntries", records, kept, err);
}

static int put_plan(struct api_journal_work *work, const struct day *day, struct map *seen,
                    struct err *err)
{
    AUTO_JSON pins = NULL;
    struct record plan;
    int r = journal_get(work->journal, RECORD_DAY_PLAN, day->plan_id, work->arena, &plan, err);

    if (r < 0)
        return -1;
    json_write_key(work->w, "plan");
    if (!r) {
        json_write_null(work->w);
        return 0;
    }
    if (record_get(&plan, "pinnedTaskIds")->set &&
        json_parse(record_str(&plan, "pinnedTaskIds"), &pins, err) < 0)
        return -1;
    for (size_t i = 0; i < json_length(pins); i++)
        note_task(seen, json_str(json_object_array_get_idx(pins, i)));
    return api_journal_put(work, &plan, err);
}

static int put_due(struct api_journal_work *work, const struct day *day, struct err *err)
{
    struct task_filter filter = { .any = true,
                                  .due_from = str_from(day->text),
                                  .due_to = str_from(day->text),
                                  .limit = DUE_MAX };
    struct task_page page;

    if (task_list(work->journal, &filter, work->arena, &page, err) < 0)
        return -1;
    return api_journal_put_list(work, "dueTasks", page.tasks, page.count, err);
}

/* What the other rows name, so that nobody has to ask for each. */
static int put_named(struct api_journal_work *work, const struct map *seen, struct err *err)
{
    struct record *tasks = ARENA_NEW_N(work->arena, struct record, map_count(seen) + 1);
    size_t n = 0;

    map_each (seen, entry) {
        int r = journal_get(work->journal, RECORD_TASK, entry->key, work->arena, &tasks[n], err);

        if (r < 0)
            return -1;
        n += (size_t)r;
    }
    return api_journal_put_list(work, "tasks", tasks, n, err);
}

static int put_day(struct api_journal_work *work, const struct day *day, struct err *err)
{
    struct record_filter within = { .from = day->from, .to = day->to };
    AUTO_MAP seen = MAP_INIT;

    json_write_object_begin(work->w);
    json_put_some_text(work->w, "day", day->text);
    json_put_some_time(work->w, "from", day->from);
    json_put_some_time(work->w, "to", day->to);
    json_put_some_text(work->w, "zone", journal_zone_name(work->journal));
    if (put_plan(work, day, &seen, err) < 0 ||
        put_rows(work, "blocks",
                 (struct record_filter){ .type = RECORD_DAY_PLAN_BLOCK, .parent = day->plan_id },
                 "taskId", &seen, err) < 0)
        return -1;
    within.type = RECORD_ENTRY;
    if (put_time(work, day, &seen, err) < 0 ||
        put_rows(work, "entries", within, NULL, &seen, err) < 0 || put_due(work, day, err) < 0 ||
        put_rows(work, "ratings",
                 (struct record_filter){ .type = RECORD_RATING, .target_id = day->plan_id }, NULL,
                 &seen, err) < 0 ||
        put_named(work, &seen, err) < 0)
        return -1;
    json_write_object_end(work->w);
    return 0;
}

static int look_day(struct api_journal_work *work, struct err *err)
{
    struct day day = { .text = "" };

    return read_day(work, &day, err) < 0 ? -1 : put_day(work, &day, err);
}

void api_days_get(struct serve_request *request)
{
    api_journal_look(request, look_day);
}

static int put_blocks(struct api_journal_work *work, struct err *err)
{
    struct day day = { .text = "" };
    struct str *deletes;
    size_t n;

    if (read_day(work, &day, err) < 0 ||
        api_journal_texts(work, "deletes", PLAN_BLOCKS_MAX, &deletes, &n, err) < 0 ||
        day_plan_put_blocks(work->write, str_from(day.text), json_find(work->body, "upserts"),
                            deletes, n, err) < 0)
        return -1;
    return put_day(work, &day, err);
}

void api_days_blocks(struct serve_request *request)
{
    static const char *const members[] = { "upserts", "deletes", NULL };

    api_journal_do(request, &(struct api_journal_job){
                                .status = 200, .members = members, .work = put_blocks });
}

static int put_pins(struct api_journal_work *work, struct err *err)
{
    struct day day = { .text = "" };
    struct str *tasks;
    size_t n;

    if (read_day(work, &day, err) < 0 ||
        api_journal_texts(work, "taskIds", DUE_MAX, &tasks, &n, err) < 0)
        return -1;
    if (!json_find(work->body, "taskIds"))
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/taskIds: is missing; it is the list of tasks that are pinned from now on");
    if (day_plan_pin(work->write, str_from(day.text), tasks, n, err) < 0)
        return -1;
    return put_day(work, &day, err);
}

void api_days_pins(struct serve_request *request)
{
    static const char *const members[] = { "taskIds", NULL };

    api_journal_do(
        request, &(struct api_journal_job){ .status = 200, .members = members, .work = put_pins });
}

/* ---- ratings ---- */

static int put_rating(struct api_journal_work *work, struct err *err)
{
    struct record rating;

    /* Its id follows from what is rated. */
    return rate(work->write, work->body, &rating, err) < 0 ? -1
                                                           : api_journal_put(work, &rating, err);
}

void api_ratings_put(struct serve_request *request)
{
    api_journal_do(request, &(struct api_journal_job){ .status = 200, .work = put_rating });
}

static int look_summary(struct api_journal_work *work, struct err *err)
{
    struct rating_summary *list;
    int64_t from, to;
    size_t n;

    if (api_journal_span(work, &from, &to, err) < 0 ||
        rating_summaries(work->journal, NULL, from, to, work->arena, &list, &n, err) < 0)
        return -1;
    json_write_object_begin(work->w);
    json_put_array(work->w, "items");
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(work->w);
        json_put_some_str(work->w, "dimension", list[i].dimension);
        json_put_i64(work->w, "count", list[i].count);
        json_put_double(work->w, "mean", list[i].mean);
        json_put_i64(work->w, "lowest", list[i].lowest);
        json_put_i64(work->w, "highest", list[i].highest);
        json_write_object_end(work->w);
    }
    json_write_array_end(work->w);
    json_write_object_end(work->w);
    return 0;
}

void api_ratings_summary(struct serve_request *request)
{
    api_journal_look(request, look_summary);
}
