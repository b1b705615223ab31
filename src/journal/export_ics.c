/* The journal as iCalendar.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json_number.h"
#include "base/map.h"
#include "journal/export.h"
#include "journal/ics.h"
#include "journal/list.h"

#define PAGE         500
#define CHILDREN_MAX 1000

struct writing {
    struct journal *journal;
    struct buf *out;
    struct map categories; /* id to name */
    struct map listed;     /* ids of tasks that have checklists: most have none */
    struct arena names;    /* of categories */
    struct arena *arena;   /* of one page */
};

/* ---- what all have ---- */

static void put_time(struct buf *out, const char *name, int64_t at)
{
    char text[ICS_TIME_SIZE];

    ics_time(at, text);
    ics_put(out, name, text);
}

static void put_some(struct buf *out, const char *name, struct str text)
{
    if (text.n)
        ics_put_text(out, name, text);
}

static void begin(struct writing *w, const char *component, const struct record *record)
{
    ics_put(w->out, "BEGIN", component);
    ics_put(w->out, "UID", arena_printf(w->arena, "%.*s@dormouse", STR_ARG(record->id)));
    put_time(w->out, "DTSTAMP", record->updated_at);
    put_time(w->out, "CREATED", record->created_at);
    put_time(w->out, "LAST-MODIFIED", record->updated_at);
}

static void put_category(struct writing *w, const struct record *record)
{
    const char *name = map_find(&w->categories, record_str(record, "categoryId"));

    if (name)
        ics_put_text(w->out, "X-DORMOUSE-CATEGORY", str_from(name));
}

/* An end in the same second would be none: DTEND lies after DTSTART. */
static void put_span(struct buf *out, int64_t from, int64_t to)
{
    put_time(out, "DTSTART", from);
    if (to / 1000 > from / 1000)
        put_time(out, "DTEND", to);
}

/* ---- tasks ---- */

static void put_due(struct writing *w, struct str due)
{
    char text[32];

    if (due.n == 10)
        snprintf(text, sizeof(text), "%.4s%.2s%.2s", due.p, due.p + 5, due.p + 8);
    else if (due.n == 16)
        snprintf(text, sizeof(text), "%.4s%.2s%.2sT%.2s%.2s00", due.p, due.p + 5, due.p + 8,
                 due.p + 11, due.p + 14);
    if (due.n)
        ics_put(w->out, due.n == 10 ? "DUE;VALUE=DATE" : "DUE", text);
}

static void put_status(struct writing *w, const struct record *task)
{
    struct str status = record_str(task, "status");
    static const char *const priorities[] = { "1", "3", "5", "9" };

    ics_put(w->out, "STATUS",
            str_is(status, "DONE")          ? "COMPLETED"
            : str_is(status, "REJECTED")    ? "CANCELLED"
            : str_is(status, "IN_PROGRESS") ? "IN-PROCESS"
                                            : "NEEDS-ACTION");
    ics_put_text(w->out, "X-DORMOUSE-STATUS", status);
    ics_put(w->out, "PRIORITY", priorities[record_i64(task, "priority") & 3]);
    if (record_get(task, "closedAt")->set)
        put_time(w->out, "COMPLETED", record_i64(task, "closedAt"));
}

static void put_labels(struct writing *w, const struct record *labels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ics_put_text(w->out, "CATEGORIES", record_str(&labels[i], "name"));
}

static int children(struct writing *w, enum record_type type, struct str parent,
                    struct record **ret_records, size_t *ret_count, struct err *err)
{
    struct record_filter filter = { .type = type, .parent = parent, .limit = CHILDREN_MAX };
    bool more;

    return record_list(w->journal, &filter, w->arena, ret_records, ret_count, &more, err);
}

static int put_items(struct writing *w, struct str task_id, struct err *err)
{
    struct record *lists, *items;
    size_t n, count;

    if (!map_find(&w->listed, task_id))
        return 0;
    if (children(w, RECORD_CHECKLIST, task_id, &lists, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (children(w, RECORD_CHECKLIST_ITEM, lists[i].id, &items, &count, err) < 0)
            return -1;
        for (size_t k = 0; k < count; k++)
            ics_put_text(w->out,
                         record_i64(&items[k], "checked")
                             ? "X-DORMOUSE-ITEM;X-DORMOUSE-CHECKED=TRUE"
                             : "X-DORMOUSE-ITEM",
                         record_str(&items[k], "title"));
    }
    return 0;
}

static int put_task(struct writing *w, const struct record *task, const struct record *labels,
                    size_t label_count, struct err *err)
{
    begin(w, "VTODO", task);
    ics_put_text(w->out, "SUMMARY", record_str(task, "title"));
    put_some(w->out, "DESCRIPTION", record_str(task, "notes"));
    put_due(w, record_str(task, "due"));
    put_status(w, task);
    put_labels(w, labels, label_count);
    put_category(w, task);
    if (record_get(task, "estimateMinutes")->set)
        ics_put(w->out, "X-DORMOUSE-ESTIMATE",
                arena_printf(w->arena, "%lld", (long long)record_i64(task, "estimateMinutes")));
    if (put_items(w, task->id, err) < 0)
        return -1;
    ics_put(w->out, "END", "VTODO");
    return 0;
}

/* ---- events ---- */

static int put_title_of(struct writing *w, const struct record *record, const char *otherwise,
                        struct err *err)
{
    struct str id = record_str(record, "taskId");
    struct record task;
    int r = id.n ? journal_get(w->journal, RECORD_TASK, id, w->arena, &task, err) : 0;

    if (r < 0)
        return -1;
    ics_put_text(w->out, "SUMMARY", r ? record_str(&task, "title") : str_from(otherwise));
    put_some(w->out, "X-DORMOUSE-TASK", id);
    return 0;
}

static int put_block(struct writing *w, const struct record *block, struct err *err)
{
    begin(w, "VEVENT", block);
    if (put_title_of(w, block, "Planned", err) < 0)
        return -1;
    put_span(w->out, record_i64(block, "startTime"), record_i64(block, "endTime"));
    put_some(w->out, "DESCRIPTION", record_str(block, "note"));
    put_some(w->out, "X-DORMOUSE-DAY", str_skip(record_str(block, "planId"), strlen("dayplan-")));
    put_category(w, block);
    ics_put(w->out, "END", "VEVENT");
    return 0;
}

static int put_time_entry(struct writing *w, const struct record *entry, struct err *err)
{
    if (!record_get(entry, "endedAt")->set)
        return 0; /* it runs */
    begin(w, "VEVENT", entry);
    if (put_title_of(w, entry, "Time", err) < 0)
        return -1;
    put_span(w->out, record_i64(entry, "startedAt"), record_i64(entry, "endedAt"));
    put_some(w->out, "DESCRIPTION", record_str(entry, "description"));
    ics_put(w->out, "X-DORMOUSE-KIND", "timeEntry");
    put_category(w, entry);
    ics_put(w->out, "END", "VEVENT");
    return 0;
}

static void put_entry(struct writing *w, const struct record *entry)
{
    AUTO_BUF number = BUF_INIT(64);
    struct json_writer value = JSON_WRITER(&number);

    begin(w, "VEVENT", entry);
    put_some(w->out, "SUMMARY", record_str(entry, "title"));
    put_span(w->out, record_i64(entry, "at"),
             record_i64(entry, "at") + record_i64(entry, "durationMs"));
    put_some(w->out, "DESCRIPTION", record_str(entry, "body"));
    ics_put_text(w->out, "X-DORMOUSE-KIND", record_str(entry, "kind"));
    put_some(w->out, "X-DORMOUSE-SUBTYPE", record_str(entry, "subtype"));
    put_some(w->out, "X-DORMOUSE-UNIT", record_str(entry, "unit"));
    if (record_get(entry, "value")->set) {
        json_write_double(&value, record_get(entry, "value")->f);
        ics_put(w->out, "X-DORMOUSE-VALUE", buf_text(&number));
    }
    put_category(w, entry);
    ics_put(w->out, "END", "VEVENT");
}

/* ---- pages ---- */

static int put_tasks(struct writing *w, const struct record *tasks, size_t n, struct err *err)
{
    struct record **labels;
    size_t *counts;

    if (!n)
        return 0;
    if (task_labels_of(w->journal, tasks, n, w->arena, &labels, &counts, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (put_task(w, &tasks[i], labels[i], counts[i], err) < 0)
            return -1;
    return 0;
}

static int put_page(struct writing *w, const struct record *records, size_t n, struct err *err)
{
    if (n && records[0].type == RECORD_TASK)
        return put_tasks(w, records, n, err);
    for (size_t i = 0; i < n; i++) {
        int r = 0;

        if (records[i].type == RECORD_CATEGORY)
            map_put(&w->categories, records[i].id,
                    arena_printf(&w->names, "%.*s", STR_ARG(record_str(&records[i], "name"))));
        else if (records[i].type == RECORD_CHECKLIST)
            map_put(&w->listed, record_str(&records[i], "taskId"), w);
        else if (records[i].type == RECORD_DAY_PLAN_BLOCK)
            r = put_block(w, &records[i], err);
        else if (records[i].type == RECORD_TIME_ENTRY)
            r = put_time_entry(w, &records[i], err);
        else
            put_entry(w, &records[i]);
        if (r < 0)
            return -1;
    }
    return 0;
}

static int put_type(struct writing *w, enum record_type type, struct err *err)
{
    struct record_filter filter = { .type = type, .limit = PAGE };
    bool more = true;

    while (more) {
        struct record *records;
        size_t n;

        arena_reset(w->arena);
        if (record_list(w->journal, &filter, w->arena, &records, &n, &more, err) < 0 ||
            put_page(w, records, n, err) < 0)
            return -1;
        if (n)
            filter.after = records[n - 1].n;
        if (w->out->full)
            return err_set(err, ERR_TOO_LARGE, "the journal is larger than %zu bytes as iCalendar",
                           w->out->max);
    }
    return 0;
}

int export_ics(struct journal *journal, struct buf *out, struct err *err)
{
    static const enum record_type types[] = {
        RECORD_CATEGORY,       RECORD_CHECKLIST,  RECORD_TASK,
        RECORD_DAY_PLAN_BLOCK, RECORD_TIME_ENTRY, RECORD_ENTRY
    };
    AUTO_ARENA page = ARENA_INIT;
    struct writing w = { .journal = journal,
                         .out = out,
                         .categories = MAP_INIT,
                         .listed = MAP_INIT,
                         .names = ARENA_INIT,
                         .arena = &page };
    int r = 0;

    ics_put(out, "BEGIN", "VCALENDAR");
    ics_put(out, "VERSION", "2.0");
    ics_put(out, "PRODID", "-//Dormouse//Journal//EN");
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(types); i++)
        r = put_type(&w, types[i], err);
    ics_put(out, "END", "VCALENDAR");
    map_release(&w.categories);
    map_release(&w.listed);
    arena_release(&w.names);
    if (r == 0 && out->full)
        r = err_set(err, ERR_TOO_LARGE, "the journal is larger than %zu bytes as iCalendar",
                    out->max);
    return r;
}
