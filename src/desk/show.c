/* What a person reads before deciding about a change.
 *
 * The change is made in a unit that is rolled back. What it has touched is read inside of it and
 * once more after it: the difference is what is shown, a line for each record, whatever tool made
 * it. So nothing is shown that would not be done, and nothing is done that was not shown.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/clock.h"
#include "base/timefmt.h"
#include "base/visible.h"
#include "desk/desk_int.h"

#define WORDS_MAX 200 /* bytes of a text that is quoted */

/* ---- collecting ---- */

static bool is_known(const struct desk_changes *changes, enum record_type type, struct str id)
{
    for (size_t i = 0; i < changes->n; i++) {
        if (changes->at[i].after.type == type && str_eq(changes->at[i].after.id, id))
            return true;
    }
    return false;
}

static int add_labels(struct desk_op *op, struct str unit_id, struct buf *lines, struct err *err)
{
    ptrdiff_t colon = str_find_char(unit_id, ':');
    struct record task, **labels;
    size_t *counts;
    int r;

    if (colon < 0)
        return 0;
    r = journal_get(op->journal, RECORD_TASK, str_take(unit_id, (size_t)colon), op->arena, &task,
                    err);
    if (r <= 0 || task_labels_of(op->journal, &task, 1, op->arena, &labels, &counts, err) < 0)
        return r < 0 ? -1 : 0;
    buf_printf(lines,
               "Labels of \"%.*s\":", STR_ARG(str_take(record_str(&task, "title"), WORDS_MAX)));
    for (size_t i = 0; i < counts[0]; i++)
        buf_printf(lines, "%s %.*s", i ? "," : "", STR_ARG(record_str(&labels[0][i], "name")));
    buf_add_text(lines, counts[0] ? "\n" : " none\n");
    return 0;
}

int changes_collect(struct desk_op *op, struct desk_changes *ret_changes, struct err *err)
{
    const struct change_batch *batch = journal_batch(op->write);
    AUTO_BUF lines = BUF_INIT(64u << 10);
    struct str labelled = STR_NONE;

    *ret_changes = (struct desk_changes){ .n = 0 };
    ret_changes->at = ARENA_NEW_N(op->arena, struct desk_change, batch->unit_count + 1);
    for (size_t i = 0; i < batch->unit_count; i++) {
        const struct change_unit *unit = &batch->units[i];
        enum record_type type = record_type_of(unit->payload_type);
        struct str task =
            str_take(unit->payload_id, (size_t)(str_find_char(unit->payload_id, ':') + 1));

        if (str_is(unit->payload_type, "taskLabel") && !str_eq(task, labelled)) {
            labelled = task;
            if (add_labels(op, unit->payload_id, &lines, err) < 0)
                return -1;
        }
        if (type == RECORD_NONE || is_known(ret_changes, type, unit->payload_id))
            continue;
        if (journal_get_any(op->journal, type, unit->payload_id, op->arena,
                            &ret_changes->at[ret_changes->n++].after, err) < 0)
            return -1;
    }
    ret_changes->labels = arena_str(op->arena, buf_str(&lines));
    return 0;
}

int changes_before(struct desk_op *op, struct desk_changes *changes, struct err *err)
{
    for (size_t i = 0; i < changes->n; i++) {
        struct desk_change *change = &changes->at[i];

        if (journal_get_any(op->journal, change->after.type, change->after.id, op->arena,
                            &change->before, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- words ---- */

/* "17 Feb 16:00", local; of another year "17 Feb 2027 16:00". */
static void add_moment(struct desk_op *op, int64_t at, bool day, struct buf *out)
{
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    char text[JOURNAL_CLOCK_SIZE], now[JOURNAL_CLOCK_SIZE];
    int64_t month = 1, of_month = 1;

    journal_clock_at(op->journal, at, text);
    journal_clock_at(op->journal, op->now, now);
    str_to_i64(str_of(text + 5, 2), &month);
    str_to_i64(str_of(text + 8, 2), &of_month);
    if (day)
        buf_printf(out, "%lld %s ", (long long)of_month, months[(month - 1) % 12]);
    if (day && strncmp(text, now, 4) != 0)
        buf_printf(out, "%.4s ", text);
    buf_printf(out, "%.5s", text + 11);
}

static void add_span(struct desk_op *op, int64_t from, int64_t to, struct buf *out)
{
    char first[JOURNAL_DAY_SIZE], last[JOURNAL_DAY_SIZE];

    journal_day_at(op->journal, from, first);
    journal_day_at(op->journal, to, last);
    add_moment(op, from, true, out);
    buf_add_text(out, "–");
    add_moment(op, to, strcmp(first, last) != 0, out);
}

static void add_quoted(struct str text, struct buf *out)
{
    buf_add_char(out, '"');
    visible_line(text, out);
    buf_add_char(out, '"');
}

/* As it will be when it is changed, else as it is. */
static bool find_record(struct desk_op *op, enum record_type type, struct str id,
                        const struct desk_changes *changes, struct record *ret_record)
{
    struct err err = ERR_INIT;

    for (size_t i = 0; i < changes->n; i++) {
        if (changes->at[i].after.type == type && str_eq(changes->at[i].after.id, id)) {
            *ret_record = changes->at[i].after;
            return true;
        }
    }
    return type != RECORD_NONE && id.n > 0 &&
           journal_get_any(op->journal, type, id, op->arena, ret_record, &err) == 1;
}

/* The record's own words: "Leg day". */
static bool add_name(struct desk_op *op, enum record_type type, struct str id,
                     const struct desk_changes *changes, struct buf *out)
{
    const char *field = type == RECORD_CATEGORY || type == RECORD_LABEL ? "name" : "title";
    struct record found;

    if (!find_record(op, type, id, changes, &found) ||
        record_field_index(type, str_from(field)) < 0)
        return false;
    add_quoted(record_str(&found, field), out);
    return true;
}

/* " (Gym)" of what the record counts for, as it was or will be. */
static void add_category(struct desk_op *op, struct str id, struct buf *out)
{
    struct record category;
    struct err err = ERR_INIT;

    if (id.n > 0 &&
        journal_get_any(op->journal, RECORD_CATEGORY, id, op->arena, &category, &err) == 1)
        buf_printf(out, " (%.*s)", STR_ARG(record_str(&category, "name")));
}

static void add_duration(int64_t ms, struct buf *out)
{
    char text[TIMEFMT_LENGTH_SIZE];

    buf_add_text(out, timefmt_length(ms / MINUTES(1), text));
}

/* " of "Leg day"": the task of a checklist, the list of an item. */
static void add_owner(struct desk_op *op, const struct record *record,
                      const struct desk_changes *changes, struct buf *out)
{
    bool item = record->type == RECORD_CHECKLIST_ITEM;
    struct str id = record_str(record, item ? "checklistId" : "taskId");

    if (id.n == 0)
        return;
    buf_add_text(out, " of ");
    if (!add_name(op, item ? RECORD_CHECKLIST : RECORD_TASK, id, changes, out))
        buf_add_str(out, id);
}

/* Of a list of tasks those that are the agent's. */
static void add_names(struct desk_op *op, struct str list, const struct desk_changes *changes,
                      struct buf *out)
{
    AUTO_JSON ids = NULL;
    struct err err = ERR_INIT;
    const char *mark = "";

    if (json_parse(list, &ids, &err) < 0)
        return;
    for (size_t i = 0; i < json_length(ids); i++) {
        struct str id = json_str(json_object_array_get_idx(ids, i));
        struct record task;

        if (journal_get_any(op->journal, RECORD_TASK, id, op->arena, &task, &err) != 1 ||
            scope_has(op, &task, &err) != 1)
            continue;
        buf_add_text(out, mark);
        add_name(op, RECORD_TASK, id, changes, out);
        mark = ", ";
    }
    if (!mark[0])
        buf_add_text(out, "none");
}

static void add_reference(struct desk_op *op, enum record_type type, struct str id,
                          const struct desk_changes *changes, struct buf *out)
{
    struct record list;

    if (!add_name(op, type, id, changes, out))
        buf_add_str(out, id);
    if (type == RECORD_CHECKLIST && find_record(op, type, id, changes, &list))
        add_owner(op, &list, changes, out);
}

static void add_value(struct desk_op *op, const struct record_field *field,
                      const struct record_value *value, const struct desk_changes *changes,
                      struct buf *out)
{
    if (!value->set) {
        buf_add_text(out, "none");
        return;
    }
    switch (field->kind) {
    case FIELD_INT:
        if (strcmp(field->name, "estimateMinutes") == 0)
            add_duration(MINUTES(value->i), out);
        else
            buf_printf(out, "%lld", (long long)value->i);
        break;
    case FIELD_REAL:
        buf_printf(out, "%g", value->f);
        break;
    case FIELD_BOOL:
        buf_add_text(out, value->i ? "yes" : "no");
        break;
    case FIELD_TIME:
        add_moment(op, value->i, true, out);
        break;
    case FIELD_ID:
        add_reference(op, field->ref, value->s, changes, out);
        break;
    case FIELD_LINE:
    case FIELD_TEXT:
        add_quoted(value->s, out);
        break;
    case FIELD_IDS:
        add_names(op, value->s, changes, out);
        break;
    case FIELD_WORD:
    case FIELD_DAY:
        buf_add_str(out, value->s);
        break;
    }
}

/* ---- lines ---- */

static const char *noun(enum record_type type)
{
    switch (type) {
    case RECORD_CHECKLIST_ITEM:
        return "item";
    case RECORD_TIME_ENTRY:
        return "time";
    case RECORD_DAY_PLAN:
        return "plan of the day";
    case RECORD_DAY_PLAN_BLOCK:
        return "block";
    default:
        return record_type_name(type);
    }
}

/* Said by the line's subject, or following from others. */
static bool is_silent(const struct record_field *field)
{
    static const char *const silent[] = {
        "position",  "closedAt",  "planId",        "planDate",   "ratedAt",   "title",
        "startTime", "endTime",   "categoryId",    "taskId",     "dimension", "targetType",
        "targetId",  "startedAt", "sourceEntryId", "checklistId"
    };

    for (size_t i = 0; i < ARRAY_LEN(silent); i++) {
        if (strcmp(field->name, silent[i]) == 0)
            return true;
    }
    return false;
}

/* A field as people call it. */
static const char *label(const char *field)
{
    static const struct {
        const char *field, *label;
    } labels[] = {
        { "categoryId", "category" },      { "taskId", "task" },
        { "estimateMinutes", "estimate" }, { "pinnedTaskIds", "pinned tasks" },
        { "startTime", "from" },           { "endTime", "to" },
        { "startedAt", "from" },           { "endedAt", "to" },
    };

    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        if (strcmp(labels[i].field, field) == 0)
            return labels[i].label;
    }
    return field;
}

static bool same_value(const struct record_value *a, const struct record_value *b)
{
    return a->set == b->set && (!a->set || (a->i == b->i && a->f == b->f && str_eq(a->s, b->s)));
}

static void add_timed(struct desk_op *op, const struct record *entry,
                      const struct desk_changes *changes, struct buf *out)
{
    add_moment(op, record_i64(entry, "startedAt"), true, out);
    buf_add_text(out, " ");
    add_name(op, RECORD_TASK, record_str(entry, "taskId"), changes, out);
}

/* What is rated: a title, or what it is and of when. */
static void add_target(struct desk_op *op, const struct record *rating,
                       const struct desk_changes *changes, struct buf *out)
{
    enum record_type type = record_type_of(record_str(rating, "targetType"));
    struct record target;

    if (!find_record(op, type, record_str(rating, "targetId"), changes, &target)) {
        buf_printf(out, "a %s", noun(type));
        return;
    }
    if (type == RECORD_TIME_ENTRY) {
        buf_add_text(out, "time ");
        add_timed(op, &target, changes, out);
    } else if (type == RECORD_DAY_PLAN) {
        buf_printf(out, "the day %.*s", STR_ARG(record_str(&target, "planDate")));
    } else if (type == RECORD_ENTRY) {
        struct str title = record_str(&target, "title");

        buf_printf(out, "%.*s ", STR_ARG(record_str(&target, "kind")));
        add_quoted(title.n ? title : record_str(&target, "subtype"), out);
        buf_add_text(out, " of ");
        add_moment(op, record_i64(&target, "at"), true, out);
    } else {
        add_name(op, type, target.id, changes, out);
    }
}

/* What a task, block or time is called on a line: its title, its span or what it is of. */
static void add_subject(struct desk_op *op, const struct record *record,
                        const struct desk_changes *changes, struct buf *out)
{
    struct str category = STR_NONE;
    struct err err = ERR_INIT;

    if (record->type == RECORD_DAY_PLAN_BLOCK) {
        add_span(op, record_i64(record, "startTime"), record_i64(record, "endTime"), out);
        buf_add_text(out, " ");
        add_name(op, RECORD_TASK, record_str(record, "taskId"), changes, out);
    } else if (record->type == RECORD_DAY_PLAN) {
        buf_add_str(out, record_str(record, "planDate"));
    } else if (record->type == RECORD_TIME_ENTRY) {
        add_timed(op, record, changes, out);
    } else if (record->type == RECORD_RATING) {
        buf_printf(out, "%.*s of ", STR_ARG(record_str(record, "dimension")));
        add_target(op, record, changes, out);
    } else {
        add_quoted(record_str(record, "title"), out);
    }
    if (record->type == RECORD_CHECKLIST || record->type == RECORD_CHECKLIST_ITEM)
        add_owner(op, record, changes, out);
    if (record->type != RECORD_CHECKLIST_ITEM && record->type != RECORD_CHECKLIST &&
        journal_category_of(op->journal, record, op->arena, &category, &err) == 0)
        add_category(op, category, out);
}

/* The fields that a new record has, or that are others now: "; due none → 2026-02-18". */
static void add_fields(struct desk_op *op, const struct desk_change *change,
                       const struct desk_changes *changes, struct buf *out)
{
    bool fresh = change->before.type == RECORD_NONE;
    const char *mark = ": ";
    size_t n;
    const struct record_field *fields = record_fields(change->after.type, &n);

    for (size_t i = 0; i < n; i++) {
        const struct record_value *was = &change->before.v[i], *is = &change->after.v[i];
        bool plain = !fields[i].required && is->i == fields[i].initial && !fields[i].nullable;

        if (fresh ? !is->set || plain || is_silent(&fields[i]) : same_value(was, is))
            continue;
        if (!fresh &&
            (strcmp(fields[i].name, "position") == 0 || strcmp(fields[i].name, "closedAt") == 0 ||
             strcmp(fields[i].name, "checklistId") == 0))
            continue;
        buf_printf(out, "%s%s ", mark, label(fields[i].name));
        if (!fresh) {
            add_value(op, &fields[i], was, changes, out);
            buf_add_text(out, " → ");
        }
        add_value(op, &fields[i], is, changes, out);
        mark = "; ";
    }
}

static void add_logged(struct desk_op *op, const struct record *entry,
                       const struct desk_changes *changes, struct buf *out)
{
    int64_t from = record_i64(entry, "startedAt"), to = record_i64(entry, "endedAt");
    struct str category = STR_NONE, words = record_str(entry, "description");
    struct err err = ERR_INIT;

    buf_add_text(out, "Log ");
    add_duration(to - from, out);
    if (record_str(entry, "taskId").n > 0)
        buf_add_text(out, " on ");
    add_name(op, RECORD_TASK, record_str(entry, "taskId"), changes, out);
    if (journal_category_of(op->journal, entry, op->arena, &category, &err) == 0)
        add_category(op, category, out);
    buf_add_text(out, ": ");
    add_span(op, from, to, out);
    if (words.n > 0) {
        buf_add_text(out, ", ");
        add_quoted(words, out);
    }
}

/* An item that goes to another list. */
static bool add_moved(struct desk_op *op, const struct desk_change *change,
                      const struct desk_changes *changes, struct buf *out)
{
    struct str from, to;

    if (change->after.type != RECORD_CHECKLIST_ITEM || change->before.type == RECORD_NONE)
        return false;
    from = record_str(&change->before, "checklistId");
    to = record_str(&change->after, "checklistId");
    if (str_eq(from, to))
        return false;
    buf_add_text(out, "Move item ");
    add_quoted(record_str(&change->before, "title"), out);
    buf_add_text(out, " from ");
    add_reference(op, RECORD_CHECKLIST, from, changes, out);
    buf_add_text(out, " to ");
    add_reference(op, RECORD_CHECKLIST, to, changes, out);
    add_fields(op, change, changes, out);
    return true;
}

static void add_line(struct desk_op *op, const struct desk_change *change,
                     const struct desk_changes *changes, struct buf *out)
{
    const struct record *after = &change->after;
    bool fresh = change->before.type == RECORD_NONE;

    if (fresh && after->type == RECORD_TIME_ENTRY && record_get(after, "endedAt")->set) {
        add_logged(op, after, changes, out);
    } else if (after->deleted_at) {
        buf_printf(out, "Remove %s ", noun(after->type));
        add_subject(op, after, changes, out);
    } else if (!add_moved(op, change, changes, out)) {
        buf_printf(out, fresh ? "New %s " : "Change %s ", noun(after->type));
        add_subject(op, fresh ? after : &change->before, changes, out);
        add_fields(op, change, changes, out);
    }
    buf_add_char(out, '\n');
}

int changes_show(struct desk_op *op, const struct desk_changes *changes, struct buf *out,
                 struct err *err)
{
    for (size_t i = 0; i < changes->n; i++)
        if (changes->at[i].after.type != RECORD_ENTRY_LINK)
            add_line(op, &changes->at[i], changes, out);
    buf_add_str(out, changes->labels);
    if (out->n == 0)
        buf_add_text(out, "Nothing changes: it is so already.\n");
    if (out->full)
        return err_set(err, ERR_TOO_LARGE, "what would change is too long to show");
    return 0;
}
