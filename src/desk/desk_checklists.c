/* Tools that make, change and move checklists and their items.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "desk/desk_int.h"

#define LIST_TITLE "Checklist"

static int make_list(struct desk_op *op, struct str task_id, struct str title,
                     struct record *ret_list, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();

    fields_str(fields, "taskId", task_id);
    fields_str(fields, "title", title);
    return journal_create(op->write, RECORD_CHECKLIST, STR_NONE, fields, ret_list, err);
}

/* ---- making ---- */

static int aim_create(struct desk_op *op, struct err *err)
{
    return scope_get(op, RECORD_TASK, arg_str(op, "taskId"), NULL, err);
}

static int act_create(struct desk_op *op, struct err *err)
{
    struct record list, *items;
    struct str *titles;
    size_t n = arg_list(op, "items", &titles);

    if (make_list(op, op->aims[0].id, arg_str(op, "title"), &list, err) < 0)
        return -1;
    if (checklist_add(op->write, list.id, titles, n, &items, err) < 0)
        return err_wrap(err, "/items");
    out_record(op, "checklist", &list);
    out_records(op, "items", items, n);
    return 0;
}

/* ---- adding ---- */

/* The first checklist of the task. 1 found, 0 it has none. */
static int first_list(struct desk_op *op, struct str task_id, struct record *ret_list,
                      struct err *err)
{
    struct record_filter filter = { .type = RECORD_CHECKLIST, .parent = task_id, .limit = 1 };
    struct record *lists;
    size_t n;
    bool more;

    if (record_list(op->journal, &filter, op->arena, &lists, &n, &more, err) < 0)
        return -1;
    if (n > 0)
        *ret_list = lists[0];
    return n > 0;
}

static int aim_add(struct desk_op *op, struct err *err)
{
    struct str list_id = arg_str(op, "checklistId"), task_id = arg_str(op, "taskId");
    struct record list;

    if (list_id.n == 0 && task_id.n == 0)
        return err_set(err, ERR_BAD_REQUEST, "/checklistId: say to which checklist (or taskId)");
    if (list_id.n == 0)
        return scope_get(op, RECORD_TASK, task_id, NULL, err);
    if (scope_get(op, RECORD_CHECKLIST, list_id, &list, err) < 0)
        return -1;
    if (task_id.n > 0 && !str_eq(record_str(&list, "taskId"), task_id))
        return err_set(err, ERR_BAD_REQUEST, "/taskId: the checklist is not of this task");
    return 0;
}

static int act_add(struct desk_op *op, struct err *err)
{
    struct str list_id = arg_str(op, "checklistId"), *titles;
    struct record list, *items;
    size_t n = arg_list(op, "items", &titles);
    int r;

    if (list_id.n == 0) {
        r = first_list(op, op->aims[0].id, &list, err);
        if (r < 0 || (r == 0 && make_list(op, op->aims[0].id, STR(LIST_TITLE), &list, err) < 0))
            return -1;
        list_id = list.id;
    }
    if (checklist_add(op->write, list_id, titles, n, &items, err) < 0)
        return err_wrap(err, "/items");
    out_str(op, "checklistId", list_id);
    out_records(op, "items", items, n);
    return 0;
}

/* ---- changing ---- */

static int aim_update(struct desk_op *op, struct err *err)
{
    struct json_object *items = json_find(op->args, "items");

    for (size_t i = 0; i < json_length(items); i++) {
        struct json_object *item = json_object_array_get_idx(items, i);

        if (json_object_object_length(item) < 2)
            return err_set(err, ERR_BAD_REQUEST, "/items/%zu: say what to change, besides id", i);
        if (scope_get(op, RECORD_CHECKLIST_ITEM, json_str(json_find(item, "id")), NULL, err) < 0)
            return err_wrap(err, "/items/%zu", i);
    }
    return 0;
}

static int change_item(struct desk_op *op, struct json_object *item, struct record *ret_item,
                       struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct json_object_iter it;

    json_object_object_foreachC(item, it)
    {
        if (strcmp(it.key, "id") != 0)
            json_object_object_add(fields, it.key, json_object_get(it.val));
    }
    return journal_change(op->write, RECORD_CHECKLIST_ITEM, json_str(json_find(item, "id")), fields,
                          ret_item, err);
}

static int act_update(struct desk_op *op, struct err *err)
{
    struct json_object *items = json_find(op->args, "items");
    size_t n = json_length(items);
    struct record *changed = ARENA_NEW_N(op->arena, struct record, n + 1);

    for (size_t i = 0; i < n; i++) {
        if (change_item(op, json_object_array_get_idx(items, i), &changed[i], err) < 0)
            return err_wrap(err, "/items/%zu", i);
    }
    out_records(op, "items", changed, n);
    return 0;
}

/* ---- moving ---- */

/* All items are of the checklist that they are said to be of. */
static int aim_items(struct desk_op *op, struct str from, struct err *err)
{
    struct str *ids;
    size_t n = arg_list(op, "itemIds", &ids);

    for (size_t i = 0; i < n; i++) {
        struct record item;

        if (scope_get(op, RECORD_CHECKLIST_ITEM, ids[i], &item, err) < 0)
            return err_wrap(err, "/itemIds/%zu", i);
        if (!str_eq(record_str(&item, "checklistId"), from))
            return err_set(err, ERR_CONFLICT,
                           "/itemIds/%zu: item \"%.*s\" is not in checklist \"%.*s\"", i,
                           STR_ARG(ids[i]), STR_ARG(from));
    }
    return 0;
}

static int aim_move(struct desk_op *op, struct err *err)
{
    struct str from = arg_str(op, "fromChecklistId"), to = arg_str(op, "toChecklistId");

    if (str_eq(from, to))
        return err_set(err, ERR_BAD_REQUEST, "/toChecklistId: the items are there already");
    if (scope_get(op, RECORD_CHECKLIST, from, NULL, err) < 0 ||
        scope_get(op, RECORD_CHECKLIST, to, NULL, err) < 0)
        return -1;
    return aim_items(op, from, err);
}

static int act_move(struct desk_op *op, struct err *err)
{
    struct str *ids;
    size_t n = arg_list(op, "itemIds", &ids);

    if (checklist_move(op->write, ids, n, op->aims[0].id, op->aims[1].id,
                       arg_bool(op, "preserveCheckedState", true), err) < 0)
        return -1;
    out_i64(op, "moved", (int64_t)n);
    return 0;
}

static int aim_move_out(struct desk_op *op, struct err *err)
{
    struct str from = arg_str(op, "fromChecklistId");

    if (scope_get(op, RECORD_CHECKLIST, from, NULL, err) < 0)
        return -1;
    return aim_items(op, from, err);
}

static int act_move_out(struct desk_op *op, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    const struct record *from = &op->aims[0];
    struct record task, list;
    struct str category, *ids;
    size_t n = arg_list(op, "itemIds", &ids);

    if (journal_category_of(op->journal, from, op->arena, &category, err) < 0)
        return -1;
    fields_str(fields, "title", arg_str(op, "newTaskTitle"));
    if (category.n > 0)
        fields_str(fields, "categoryId", category);
    journal_copies(op->write, from);
    if (journal_create(op->write, RECORD_TASK, STR_NONE, fields, &task, err) < 0 ||
        make_list(op, task.id, record_str(from, "title"), &list, err) < 0)
        return -1;
    journal_copies(op->write, NULL);
    if (checklist_move(op->write, ids, n, from->id, list.id,
                       arg_bool(op, "preserveCheckedState", true), err) < 0)
        return -1;
    out_record(op, "task", &task);
    out_i64(op, "moved", (int64_t)n);
    return 0;
}

const struct desk_tool desk_checklist_tools[] = {
    { .name = "create_checklist",
      .title = "Create a checklist",
      .aim = aim_create,
      .act = act_create },
    { .name = "add_multiple_checklist_items",
      .title = "Add to a checklist",
      .aim = aim_add,
      .act = act_add },
    { .name = "update_checklist_items",
      .title = "Change items of checklists",
      .aim = aim_update,
      .act = act_update },
    { .name = "move_checklist_items",
      .title = "Move items to another checklist",
      .aim = aim_move,
      .act = act_move },
    { .name = "move_checklist_items_to_new_task",
      .title = "Move items to a new task",
      .aim = aim_move_out,
      .act = act_move_out },
};
const size_t desk_checklist_tool_count = ARRAY_LEN(desk_checklist_tools);
