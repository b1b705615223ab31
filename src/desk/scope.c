/* What an agent may reach of the journal.
 *
 * An agent has a list of categories; ["*"] is all of the journal, an empty list or one that can't
 * be read is nothing. Reads are given the list as a journal_scope, writes are checked here: what
 * the arguments name before anything is done, and everything that was changed after it was, before
 * it is kept. A message names the category that is out of reach and nothing else of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "desk/desk_int.h"

#define CATEGORIES_MAX 1000

void scope_of(const struct agent *agent, struct arena *arena, struct journal_scope *ret_scope)
{
    AUTO_JSON list = NULL;
    struct err err = ERR_INIT;
    struct str *categories;
    size_t n, count = 0;

    *ret_scope = (struct journal_scope){ .all = false };
    if (!agent->allowed_category_ids ||
        json_parse(str_from(agent->allowed_category_ids), &list, &err) < 0 ||
        !json_object_is_type(list, json_type_array))
        return;
    n = json_length(list);
    n = n < CATEGORIES_MAX ? n : CATEGORIES_MAX;
    categories = ARENA_NEW_N(arena, struct str, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct str id = json_str(json_object_array_get_idx(list, i));

        if (str_is(id, "*"))
            ret_scope->all = true;
        else if (id.n > 0)
            categories[count++] = arena_str(arena, id);
    }
    ret_scope->categories = categories;
    ret_scope->n = count;
}

bool scope_is_empty(const struct journal_scope *scope)
{
    return !scope->all && scope->n == 0;
}

int scope_category(struct desk_op *op, const char *what, struct str category, struct err *err)
{
    if (journal_in_scope(&op->scope, category))
        return 0;
    if (category.n == 0)
        return err_set(err, ERR_OUT_OF_SCOPE,
                       "%s belongs to no category; you reach only what is in yours", what);
    return err_set(err, ERR_OUT_OF_SCOPE, "%s is in category \"%.*s\", which is not one of yours",
                   what, STR_ARG(str_take(category, RECORD_ID_MAX)));
}

int scope_into(struct desk_op *op, const char *what, struct str category, struct err *err)
{
    struct record record;
    int r;

    if (scope_category(op, what, category, err) < 0)
        return -1;
    r = journal_get(op->journal, RECORD_CATEGORY, category, op->arena, &record, err);
    if (r == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "/categoryId: there is no category \"%.*s\"; list_allowed_categories shows "
                       "yours",
                       STR_ARG(str_take(category, RECORD_ID_MAX)));
    return r < 0 ? -1 : 0;
}

int scope_choose(struct desk_op *op, struct str given, struct str *ret_category, struct err *err)
{
    *ret_category = given;
    if (given.n == 0 && op->scope.all)
        return 0;
    if (given.n == 0 && op->scope.n != 1)
        return err_set(err, ERR_BAD_REQUEST,
                       "/categoryId: say which of your %zu categories it belongs to", op->scope.n);
    if (given.n == 0)
        *ret_category = op->scope.categories[0];
    return scope_into(op, "what you want to make", *ret_category, err);
}

static const char *named(struct desk_op *op, const struct record *record)
{
    return arena_printf(op->arena, "%s \"%.*s\"", record_type_name(record->type),
                        STR_ARG(str_take(record->id, RECORD_ID_MAX)));
}

int scope_record(struct desk_op *op, const struct record *record, struct err *err)
{
    struct str category;
    int r;

    if (op->scope.all)
        return 0;
    /* Of a link both ends count. */
    if (record->type == RECORD_ENTRY_LINK) {
        r = record_in_scope(op->journal, &op->scope, record, err);
        return r > 0   ? 0
               : r < 0 ? -1
                       : err_set(err, ERR_OUT_OF_SCOPE, "what is linked is not all of yours");
    }
    if (journal_category_of(op->journal, record, op->arena, &category, err) < 0)
        return -1;
    return scope_category(op, named(op, record), category, err);
}

int scope_has(struct desk_op *op, const struct record *record, struct err *err)
{
    return record_in_scope(op->journal, &op->scope, record, err);
}

void op_aim(struct desk_op *op, const struct record *record)
{
    op_tells(op, record);
    if (op->aim_count == op->aim_room) {
        size_t room = op->aim_room ? op->aim_room * 2 : 8;
        struct record *aims = ARENA_NEW_N(op->arena, struct record, room);

        if (op->aim_count > 0)
            memcpy(aims, op->aims, op->aim_count * sizeof(*aims));
        op->aims = aims;
        op->aim_room = room;
    }
    op->aims[op->aim_count++] = *record;
}

int scope_get(struct desk_op *op, enum record_type type, struct str id, struct record *ret_record,
              struct err *err)
{
    struct record record;
    int r = journal_get(op->journal, type, id, op->arena, &record, err);

    if (r < 0)
        return -1;
    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no %s \"%.*s\"%s", record_type_name(type),
                       STR_ARG(str_take(id, RECORD_ID_MAX)),
                       type == RECORD_TASK ? "; resolve_task_reference finds tasks" : "");
    if (scope_record(op, &record, err) < 0)
        return -1;
    op_aim(op, &record);
    if (ret_record)
        *ret_record = record;
    return 0;
}

/* ---- after the change ---- */

/* A task's label is named TASK:LABEL; the task counts. */
static struct str before_colon(struct str id)
{
    ptrdiff_t at = str_find_char(id, ':');

    return at < 0 ? id : str_take(id, (size_t)at);
}

static int check_unit(struct desk_op *op, const struct change_unit *unit, struct err *err)
{
    bool label = str_is(unit->payload_type, "taskLabel");
    enum record_type type = label ? RECORD_TASK : record_type_of(unit->payload_type);
    struct str id = label ? before_colon(unit->payload_id) : unit->payload_id;
    struct record record;
    int r;

    /* A day's plan is nobody's; what it holds is checked by itself. */
    if (type == RECORD_DAY_PLAN)
        return 0;
    if (type == RECORD_NONE)
        return err_set(err, ERR_OUT_OF_SCOPE, "\"%.*s\" is nothing that agents change",
                       STR_ARG(unit->payload_type));
    r = journal_get_any(op->journal, type, id, op->arena, &record, err);
    if (r < 0)
        return -1;
    r = r == 0 ? 0 : scope_has(op, &record, err);
    if (r != 0)
        return r < 0 ? -1 : 0;
    /* What the arguments named was checked by name before; of anything else not even the id is
     * theirs to know. */
    return err_set(err, ERR_OUT_OF_SCOPE,
                   "a %s would be changed that is in none of your categories",
                   record_type_name(type));
}

int scope_changes(struct desk_op *op, struct err *err)
{
    const struct change_batch *batch = journal_batch(op->write);

    if (op->scope.all)
        return 0;
    for (size_t i = 0; i < batch->unit_count; i++) {
        if (check_unit(op, &batch->units[i], err) < 0)
            return -1;
    }
    return 0;
}
