/* Reading arguments, writing answers.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json_put.h"
#include "base/timefmt.h"
#include "change/taint.h"
#include "desk/desk_int.h"

struct str arg_str(const struct desk_op *op, const char *name)
{
    return json_str(json_find(op->args, name));
}

bool arg_bool(const struct desk_op *op, const char *name, bool otherwise)
{
    struct json_object *value = json_find(op->args, name);

    return value ? json_object_get_boolean(value) : otherwise;
}

int64_t arg_i64(const struct desk_op *op, const char *name, int64_t otherwise)
{
    struct json_object *value = json_find(op->args, name);

    return value ? json_object_get_int64(value) : otherwise;
}

int arg_time(const struct desk_op *op, const char *name, int64_t *ret_ms, struct err *err)
{
    struct str text = arg_str(op, name);

    *ret_ms = 0;
    if (text.n == 0)
        return 0;
    if (timefmt_parse(text, ret_ms, err) < 0) {
        err_reset(err);
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/%s: \"%.*s\" is no moment; write it like 2026-02-17T16:00:00-05:00", name,
                       STR_ARG(str_take(text, 40)));
    }
    return 0;
}

size_t arg_list(const struct desk_op *op, const char *name, struct str **ret_list)
{
    struct json_object *list = json_find(op->args, name);
    size_t n = json_length(list);

    *ret_list = ARENA_NEW_N(op->arena, struct str, n + 1);
    for (size_t i = 0; i < n; i++)
        (*ret_list)[i] = json_str(json_object_array_get_idx(list, i));
    return n;
}

void fields_str(struct json_object *fields, const char *name, struct str value)
{
    json_object_object_add(fields, name,
                           json_object_new_string_len(value.p ? value.p : "", (int)value.n));
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

struct json_object *fields_without(const struct desk_op *op, const char *const *names)
{
    struct json_object *fields = json_object_new_object();
    struct json_object_iter it;

    json_object_object_foreachC(op->args, it)
    {
        if (!is_among(it.key, names))
            json_object_object_add(fields, it.key, json_object_get(it.val));
    }
    return fields;
}

/* ---- answers ---- */

void out_str(struct desk_op *op, const char *name, struct str value)
{
    json_put_str(op->out, name, value);
}

void out_i64(struct desk_op *op, const char *name, int64_t value)
{
    json_put_i64(op->out, name, value);
}

void out_bool(struct desk_op *op, const char *name, bool value)
{
    json_put_bool(op->out, name, value);
}

void out_time(struct desk_op *op, const char *name, int64_t ms)
{
    char text[TIMEFMT_SIZE];

    timefmt_rfc3339(ms, text);
    out_str(op, name, str_from(text));
}

/* Time, blocks and lists have no title of their own: who reads them wants the task's. Two tasks of
 * one title are told apart by their categories. */
static void name_parents(struct desk_op *op, const struct record *record)
{
    if (record_field_index(record->type, STR("taskId")) >= 0)
        out_titled(op, record_str(record, "taskId"));
    if (record->type == RECORD_TASK)
        out_named(op, record_str(record, "categoryId"));
}

void op_tells(struct desk_op *op, const struct record *record)
{
    op->taint = taint_join(op->taint, record_taint(record, op->arena), op->arena);
}

void out_record(struct desk_op *op, const char *name, const struct record *record)
{
    op_tells(op, record);
    json_write_key(op->out, name);
    record_write(op->out, record);
    name_parents(op, record);
}

void out_records(struct desk_op *op, const char *name, const struct record *records, size_t n)
{
    json_put_array(op->out, name);
    for (size_t i = 0; i < n; i++) {
        op_tells(op, &records[i]);
        record_write(op->out, &records[i]);
        name_parents(op, &records[i]);
    }
    json_write_array_end(op->out);
}

static void note_id(struct desk_op *op, struct desk_ids *ids, struct str id)
{
    if (id.n == 0 || ids->n == ARRAY_LEN(ids->at))
        return;
    for (size_t i = 0; i < ids->n; i++) {
        if (str_eq(ids->at[i], id))
            return;
    }
    ids->at[ids->n++] = arena_str(op->arena, id);
}

void out_titled(struct desk_op *op, struct str task_id)
{
    note_id(op, &op->tasks, task_id);
}

void out_named(struct desk_op *op, struct str category_id)
{
    note_id(op, &op->categories, category_id);
}

/* 1 within, 0 outside. */
static int is_reached(struct desk_op *op, const struct record *record, struct err *err)
{
    return record->type == RECORD_CATEGORY ? journal_in_scope(&op->scope, record->id)
                                           : scope_has(op, record, err);
}

/* "taskTitles":{"ID":"Leg day"}, of those that the agent reaches. */
static int write_names(struct desk_op *op, const char *name, enum record_type type,
                       const char *field, const struct desk_ids *ids, struct err *err)
{
    bool some = false;

    for (size_t i = 0; i < ids->n; i++) {
        struct record record;
        int r = journal_get_any(op->journal, type, ids->at[i], op->arena, &record, err);

        r = r == 1 ? is_reached(op, &record, err) : r;
        if (r < 0)
            return -1;
        if (r == 0)
            continue;
        if (!some)
            json_put_object(op->out, name);
        some = true;
        op_tells(op, &record);
        out_str(op, ids->at[i].p, record_str(&record, field));
    }
    if (some)
        json_write_object_end(op->out);
    return 0;
}

int out_names(struct desk_op *op, struct err *err)
{
    if (write_names(op, "taskTitles", RECORD_TASK, "title", &op->tasks, err) < 0)
        return -1;
    return write_names(op, "categoryNames", RECORD_CATEGORY, "name", &op->categories, err);
}

int out_now(struct desk_op *op, const char *name, enum record_type type, struct str id,
            struct err *err)
{
    struct record record;
    int r = journal_get(op->journal, type, id, op->arena, &record, err);

    if (r == 1)
        out_record(op, name, &record);
    return r < 0 ? -1 : 0;
}
