/* Tools that make and change tasks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "desk/desk_int.h"

#define LIST_TITLE   "Checklist"
#define CHILDREN_MAX 1000

/* ---- a new task ---- */

/* Arguments of create_task that are no fields of a task. */
static const char *const beside_task[] = { "labels", "checklistItems", NULL };

static int aim_create(struct desk_op *op, struct err *err)
{
    AUTO_JSON fields = fields_without(op, beside_task);
    struct record task = { .type = RECORD_TASK };
    struct str category;

    if (scope_choose(op, arg_str(op, "categoryId"), &category, err) < 0)
        return -1;
    return record_apply(&task, fields, op->arena, err);
}

static int add_items(struct desk_op *op, const struct record *task, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct record list;
    struct str *titles;
    size_t n = arg_list(op, "checklistItems", &titles);

    if (n == 0)
        return 0;
    fields_str(fields, "taskId", task->id);
    fields_str(fields, "title", STR(LIST_TITLE));
    if (journal_create(op->write, RECORD_CHECKLIST, STR_NONE, fields, &list, err) < 0 ||
        checklist_add(op->write, list.id, titles, n, NULL, err) < 0)
        return err_wrap(err, "/checklistItems");
    return 0;
}

static int act_create(struct desk_op *op, struct err *err)
{
    AUTO_JSON fields = fields_without(op, beside_task);
    struct record task;
    struct str category, *labels;
    size_t n = arg_list(op, "labels", &labels);

    if (scope_choose(op, arg_str(op, "categoryId"), &category, err) < 0)
        return -1;
    if (category.n > 0)
        fields_str(fields, "categoryId", category);
    if (journal_create(op->write, RECORD_TASK, STR_NONE, fields, &task, err) < 0)
        return -1;
    if (n > 0 && task_set_labels(op->write, task.id, labels, n, false, err) < 0)
        return err_wrap(err, "/labels");
    if (add_items(op, &task, err) < 0)
        return -1;
    out_record(op, "task", &task);
    return 0;
}

/* ---- fields of a task ---- */

/* What is not the id says what changes. */
static const char *const beside_change[] = { "taskId", NULL };

static int aim_update(struct desk_op *op, struct err *err)
{
    AUTO_JSON fields = fields_without(op, beside_change);
    struct str category = arg_str(op, "categoryId");
    struct record task;

    if (json_object_object_length(fields) < 1)
        return err_set(err, ERR_BAD_REQUEST, "say what to change, besides taskId");
    if (scope_get(op, RECORD_TASK, arg_str(op, "taskId"), &task, err) < 0)
        return -1;
    if (category.n > 0 && scope_into(op, "where you want to move the task", category, err) < 0)
        return -1;
    return record_apply(&task, fields, op->arena, err);
}

static int act_update(struct desk_op *op, struct err *err)
{
    AUTO_JSON fields = fields_without(op, beside_change);
    struct record task;

    if (journal_change(op->write, RECORD_TASK, op->aims[0].id, fields, &task, err) < 0)
        return -1;
    out_record(op, "task", &task);
    return 0;
}

static int aim_task(struct desk_op *op, struct err *err)
{
    return scope_get(op, RECORD_TASK, arg_str(op, "taskId"), NULL, err);
}

static int act_labels(struct desk_op *op, struct err *err)
{
    struct record **rows;
    struct str *labels;
    size_t n = arg_list(op, "labels", &labels), *counts;

    if (task_set_labels(op->write, op->aims[0].id, labels, n, false, err) < 0)
        return err_wrap(err, "/labels");
    if (task_labels_of(op->journal, op->aims, 1, op->arena, &rows, &counts, err) < 0)
        return -1;
    out_str(op, "taskId", op->aims[0].id);
    out_records(op, "labels", rows[0], counts[0]);
    return 0;
}

/* ---- what follows ---- */

static int aim_source(struct desk_op *op, struct err *err)
{
    if (scope_get(op, RECORD_TASK, arg_str(op, "sourceTaskId"), NULL, err) < 0)
        return -1;
    if (arg_bool(op, "preserveCategoryAndLabels", true))
        return 0;
    return scope_category(op, "a task that does not keep the category", STR_NONE, err);
}

static int act_follow_up(struct desk_op *op, struct err *err)
{
    const struct record *source = &op->aims[0];
    struct str title = arg_str(op, "newTaskTitle");
    struct follow_up how = {
        .source_id = source->id,
        .title = title.n > 0 ? title : task_title_after(record_str(source, "title"), op->arena),
        .carry_open_items = arg_bool(op, "carryOverOpenChecklistItems", false),
        .close_as = arg_str(op, "closeSourceTaskAs"),
        .keep_category_and_labels = arg_bool(op, "preserveCategoryAndLabels", true),
    };
    struct follow_up_result result;

    if (task_follow_up(op->write, &how, &result, err) < 0)
        return -1;
    out_record(op, "task", &result.task);
    out_i64(op, "movedItems", (int64_t)result.moved);
    return 0;
}

static int list_of(struct desk_op *op, enum record_type type, struct str parent,
                   struct record **ret_records, size_t *ret_count, struct err *err)
{
    struct record_filter filter = { .type = type, .parent = parent, .limit = CHILDREN_MAX };
    bool more;

    return record_list(op->journal, &filter, op->arena, ret_records, ret_count, &more, err);
}

/* Has a checklist of the task an item that is open? */
static int has_open_items(struct desk_op *op, struct str task_id, struct err *err)
{
    struct record *lists, *items;
    size_t n, count;

    if (list_of(op, RECORD_CHECKLIST, task_id, &lists, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (list_of(op, RECORD_CHECKLIST_ITEM, lists[i].id, &items, &count, err) < 0)
            return -1;
        for (size_t k = 0; k < count; k++) {
            if (!record_i64(&items[k], "checked"))
                return 1;
        }
    }
    return 0;
}

static int act_conclude(struct desk_op *op, struct err *err)
{
    const struct record *task = &op->aims[0];
    struct str close_as = arg_str(op, "closeAs");
    struct follow_up how = {
        .source_id = task->id,
        .carry_open_items = true,
        .close_as = close_as.n > 0 ? close_as : STR("DONE"),
        .keep_category_and_labels = true,
    };
    struct follow_up_result result;
    int open = has_open_items(op, task->id, err);

    if (open < 0)
        return -1;
    if (open)
        how.title = arg_str(op, "followUpTitle");
    if (task_follow_up(op->write, &how, &result, err) < 0 ||
        out_now(op, "task", RECORD_TASK, task->id, err) < 0)
        return -1;
    if (result.task.n > 0)
        out_record(op, "followUp", &result.task);
    out_i64(op, "movedItems", (int64_t)result.moved);
    return 0;
}

#define SET(name_, title_)                                                                         \
    {                                                                                              \
        .name = (name_), .title = (title_), .aim = aim_update, .act = act_update                   \
    }

const struct desk_tool desk_task_tools[] = {
    { .name = "create_task", .title = "Create a task", .aim = aim_create, .act = act_create },
    SET("update_task_fields", "Change a task"),
    SET("set_task_language", "Set the language of a task"),
    SET("update_task_estimate", "Change the estimate of a task"),
    SET("update_task_due_date", "Change when a task is due"),
    SET("update_task_priority", "Change the priority of a task"),
    { .name = "assign_task_labels",
      .title = "Change the labels of a task",
      .aim = aim_task,
      .act = act_labels },
    { .name = "create_follow_up_task",
      .title = "Create a task that follows another",
      .aim = aim_source,
      .act = act_follow_up },
    { .name = "conclude_task_with_rollover",
      .title = "Conclude a task",
      .aim = aim_task,
      .act = act_conclude },
};
const size_t desk_task_tool_count = ARRAY_LEN(desk_task_tools);
