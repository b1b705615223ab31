/* Making the records that a file says.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json_object.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/timefmt.h"
#include "journal/import_int.h"
#include "journal/journal_int.h"
#include "journal/moves.h"

static void add_str(struct json_object *object, const char *key, struct str text)
{
    if (text.n)
        json_object_object_add(object, key, json_object_new_string_len(text.p, (int)text.n));
}

static void add_time(struct json_object *object, const char *key, int64_t at)
{
    char text[TIMEFMT_SIZE];

    timefmt_rfc3339(at, text);
    add_str(object, key, str_from(text));
}

static int state_of(struct journal_write *write, enum record_type type, struct str id,
                    struct import_states *states, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct record record;
    int r = record_load(journal_of(write), type, id, &arena, &record, err);

    return r > 0 ? import_state_of(journal_of(write), states, &record, err) : r;
}

/* The category of this name; made when there is none. */
static int category_of(struct journal_write *write, struct str name, struct import_result *result,
                       struct str *ret_id, struct err *err)
{
    AUTO_JSON fields = NULL;
    struct record record;
    int r;

    *ret_id = STR_NONE;
    if (!name.n)
        return 0;
    r = record_by_name(journal_of(write), RECORD_CATEGORY, name, journal_arena(write), &record,
                       err);
    if (r == 0) {
        fields = json_object_new_object();
        add_str(fields, "name", name);
        r = journal_create(write, RECORD_CATEGORY, STR_NONE, fields, &record, err);
        result->categories++;
    }
    if (r < 0)
        return -1;
    *ret_id = record.id;
    return 0;
}

/* ---- tasks ---- */

static struct str derived(struct arena *arena, struct str id, size_t n)
{
    char hash[SHA256_TEXT_SIZE];

    sha256_text(str_from(arena_printf(arena, "import|v1|%.*s|%zu", STR_ARG(id), n)), hash);
    return arena_str(arena, str_of(hash, 40));
}

static int make_items(struct journal_write *write, const struct import_record *from,
                      struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct arena *arena = journal_arena(write);
    struct record list;

    if (!from->item_count)
        return 0;
    add_str(fields, "taskId", from->id);
    add_str(fields, "title", from->list_title.n ? from->list_title : STR("Checklist"));
    if (journal_create(write, RECORD_CHECKLIST, derived(arena, from->id, 0), fields, &list, err) <
        0)
        return -1;
    for (size_t i = 0; i < from->item_count; i++) {
        AUTO_JSON item = json_object_new_object();

        add_str(item, "checklistId", list.id);
        add_str(item, "title", from->items[i].title);
        json_object_object_add(item, "position", json_object_new_int64((int64_t)i));
        if (from->items[i].checked)
            json_object_object_add(item, "checked", json_object_new_boolean(true));
        if (journal_create(write, RECORD_CHECKLIST_ITEM, derived(arena, from->id, i + 1), item,
                           NULL, err) < 0)
            return -1;
    }
    return 0;
}

/* To the task that it is part of, when that is there. */
static int link_to_parent(struct journal_write *write, const struct import_record *from,
                          const struct import_record *parent, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct record task;
    int r =
        journal_get(journal_of(write), RECORD_TASK, parent->id, journal_arena(write), &task, err);

    if (r <= 0)
        return r;
    add_str(fields, "relation", STR("related"));
    add_str(fields, "fromType", STR("task"));
    add_str(fields, "fromId", from->id);
    add_str(fields, "toType", STR("task"));
    add_str(fields, "toId", parent->id);
    return journal_create(write, RECORD_ENTRY_LINK, STR_NONE, fields, NULL, err);
}

static int make_task(struct journal_write *write, const struct import *import,
                     const struct import_record *from, struct import_result *result,
                     struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct str category;

    if (category_of(write, from->category, result, &category, err) < 0)
        return -1;
    add_str(fields, "title", from->title);
    add_str(fields, "notes", from->notes);
    add_str(fields, "status", from->status);
    add_str(fields, "priority", from->priority);
    add_str(fields, "due", from->due);
    add_str(fields, "categoryId", category);
    if (from->estimate_min)
        json_object_object_add(fields, "estimateMinutes",
                               json_object_new_int64(from->estimate_min));
    if (create_closed_task(write, from->id, fields, from->closed, err) < 0)
        return -1;
    if (from->label_count &&
        task_set_labels(write, from->id, from->labels, from->label_count, true, err) < 0)
        return -1;
    result->tasks++;
    if (make_items(write, from, err) < 0)
        return -1;
    return from->parent ? link_to_parent(write, from, &import->records[from->parent - 1], err) : 0;
}

/* ---- events ---- */

/* The task that an event names, when it is there. */
static int add_task(struct journal_write *write, const struct import_record *from,
                    struct json_object *fields, struct err *err)
{
    struct record task;
    int r = 0;

    if (record_id_valid(from->task_id))
        r = journal_get(journal_of(write), RECORD_TASK, from->task_id, journal_arena(write), &task,
                        err);
    if (r > 0)
        add_str(fields, "taskId", from->task_id);
    return r < 0 ? -1 : 0;
}

static void add_block(struct json_object *fields, const struct import_record *from)
{
    add_str(fields, "note", from->notes);
    add_time(fields, "startTime", from->begin);
    add_time(fields, "endTime", from->end);
}

static void add_spent(struct json_object *fields, const struct import_record *from)
{
    add_str(fields, "description", from->notes);
    add_time(fields, "startedAt", from->begin);
    add_time(fields, "endedAt", from->end ? from->end : from->begin);
}

static void add_entry(struct json_object *fields, const struct import_record *from)
{
    add_str(fields, "kind", from->kind.n ? from->kind : STR("note"));
    add_str(fields, "subtype", from->kind.n ? from->subtype : STR("event"));
    add_str(fields, "title", from->title);
    add_str(fields, "body", from->notes);
    add_str(fields, "unit", from->unit);
    add_time(fields, "at", from->begin);
    if (from->end > from->begin)
        json_object_object_add(fields, "durationMs",
                               json_object_new_int64(from->end - from->begin));
    if (from->has_value)
        json_object_object_add(fields, "value", json_object_new_double(from->value));
}

enum record_type import_type(const struct import_record *from)
{
    if (from->whole)
        return from->whole->type;
    if (!from->is_event)
        return RECORD_TASK;
    if (from->plan_day.n && from->end)
        return RECORD_DAY_PLAN_BLOCK;
    return str_is(from->kind, "timeEntry") ? RECORD_TIME_ENTRY : RECORD_ENTRY;
}

/* What it says, without what it refers to. */
static struct json_object *event_fields(const struct import_record *from)
{
    struct json_object *fields = json_object_new_object();
    enum record_type type = import_type(from);

    type == RECORD_DAY_PLAN_BLOCK ? add_block(fields, from)
    : type == RECORD_TIME_ENTRY   ? add_spent(fields, from)
                                  : add_entry(fields, from);
    return fields;
}

int import_check_event(const struct import_record *from, struct err *err)
{
    AUTO_JSON fields = event_fields(from);
    AUTO_ARENA arena = ARENA_INIT;
    struct record record = { .type = import_type(from) };

    if (record.type == RECORD_DAY_PLAN_BLOCK && !record_day_valid(from->plan_day, false))
        return err_set(err, ERR_BAD_REQUEST, "\"%.*s\" is not a day; write YYYY-MM-DD",
                       STR_ARG(str_take(from->plan_day, 40)));
    return record_apply(&record, fields, &arena, err);
}

void import_count_event(struct import_result *result, const struct import_record *from)
{
    enum record_type type = import_type(from);

    if (type == RECORD_TIME_ENTRY)
        result->time_entries++;
    else if (type == RECORD_DAY_PLAN_BLOCK)
        result->others++;
    else if (from->kind.n)
        result->entries++;
    else
        result->events++;
}

static int make_event(struct journal_write *write, const struct import_record *from,
                      struct import_result *result, struct err *err)
{
    AUTO_JSON fields = event_fields(from);
    enum record_type type = import_type(from);
    struct record plan;
    struct str category;

    if (category_of(write, from->category, result, &category, err) < 0 ||
        (type != RECORD_ENTRY && add_task(write, from, fields, err) < 0))
        return -1;
    add_str(fields, "categoryId", category);
    if (type == RECORD_DAY_PLAN_BLOCK) {
        if (day_plan_open(write, from->plan_day, &plan, err) < 0)
            return -1;
        add_str(fields, "planId", plan.id);
    }
    import_count_event(result, from);
    return journal_create(write, type, from->id, fields, NULL, err);
}

int import_apply(struct journal_write *write, const struct import *import, size_t from,
                 size_t count, struct import_result *result, struct err *err)
{
    size_t end =
        from < import->count && count < import->count - from ? from + count : import->count;
    struct import_states states = { .asked = 0 };

    write->revives = true;
    for (size_t i = from; i < end; i++) {
        const struct import_record *record = &import->records[i];
        int r = record->whole ? import_restore(write, import, record, &states, result, err)
                              : state_of(write, import_type(record), record->id, &states, err);

        if (r > 0)
            import_count_state(result, r);
        else if (r == 0 && !record->whole)
            r = record->is_event ? make_event(write, record, result, err)
                                 : make_task(write, import, record, result, err);
        if (r < 0)
            return record->whole ? err_wrap(err, "%s %.*s", record_type_name(record->whole->type),
                                            STR_ARG(record->id))
                                 : err_wrap(err, "line %zu", record->line);
    }
    return 0;
}
