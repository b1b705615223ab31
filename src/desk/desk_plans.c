/* Tools that plan a day.
 *
 * A day has one plan for all categories. Of blocks that are not its own an agent learns only when
 * they keep the time taken, and of pinned tasks that are not its own nothing: they stay where they
 * are whatever it pins.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json_put.h"
#include "base/timefmt.h"
#include "desk/desk_int.h"

#define BLOCKS_MAX 1000

/* ---- reading ---- */

static struct str plan_id(struct desk_op *op)
{
    return str_from(arena_printf(op->arena, "dayplan-%.*s", STR_ARG(arg_str(op, "planDate"))));
}

static int check_day(struct desk_op *op, struct err *err)
{
    struct str day = arg_str(op, "planDate");

    if (record_day_valid(day, false))
        return 0;
    return err_set(err, ERR_BAD_REQUEST, "/planDate: the calendar has no \"%.*s\"", STR_ARG(day));
}

/* The plan as it is now becomes an aim. 1 there, 0 none yet. */
static int aim_plan(struct desk_op *op, struct record *ret_plan, struct err *err)
{
    int r;

    if (check_day(op, err) < 0)
        return -1;
    r = journal_get(op->journal, RECORD_DAY_PLAN, plan_id(op), op->arena, ret_plan, err);
    if (r == 1)
        op_aim(op, ret_plan);
    return r;
}

static int blocks_of(struct desk_op *op, struct record **ret_blocks, size_t *ret_count,
                     struct err *err)
{
    struct record_filter filter = { .type = RECORD_DAY_PLAN_BLOCK,
                                    .parent = plan_id(op),
                                    .limit = BLOCKS_MAX };
    bool more;

    return record_list(op->journal, &filter, op->arena, ret_blocks, ret_count, &more, err);
}

/* The pinned tasks that are the agent's, or those that are not. The caller owns the list. */
static int pins(struct desk_op *op, const struct record *plan, bool own,
                struct json_object **ret_ids, struct err *err)
{
    AUTO_JSON kept = json_object_new_array();
    AUTO_JSON all = NULL;

    if (record_get(plan, "pinnedTaskIds")->set &&
        json_parse(record_str(plan, "pinnedTaskIds"), &all, err) < 0)
        return -1;
    for (size_t i = 0; i < json_length(all); i++) {
        struct json_object *id = json_object_array_get_idx(all, i);
        struct record task;
        int r = journal_get_any(op->journal, RECORD_TASK, json_str(id), op->arena, &task, err);

        if (r == 1)
            r = scope_has(op, &task, err);
        if (r < 0)
            return -1;
        if ((r == 1) == own)
            json_object_array_add(kept, json_object_get(id));
    }
    *ret_ids = TAKE(kept);
    return 0;
}

/* The plan without what is not the agent's: its note is about the whole day. */
static int write_plan(struct desk_op *op, const struct record *plan, struct err *err)
{
    AUTO_JSON pinned = NULL;

    if (pins(op, plan, true, &pinned, err) < 0)
        return -1;
    op_tells(op, plan);
    json_put_object(op->out, "dayPlan");
    out_str(op, "id", plan->id);
    out_str(op, "planDate", record_str(plan, "planDate"));
    if (op->scope.all && record_get(plan, "note")->set)
        out_str(op, "note", record_str(plan, "note"));
    json_put_value(op->out, "pinnedTaskIds", pinned);
    json_write_object_end(op->out);
    for (size_t i = 0; i < json_length(pinned); i++)
        out_titled(op, json_str(json_object_array_get_idx(pinned, i)));
    return 0;
}

/* Own ones as they are, and when the others keep the time taken. */
static int write_blocks(struct desk_op *op, bool busy, struct err *err)
{
    struct record *blocks, *own;
    size_t n, count = 0, others = 0;

    if (blocks_of(op, &blocks, &n, err) < 0)
        return -1;
    own = ARENA_NEW_N(op->arena, struct record, n + 1);
    for (size_t i = 0; i < n; i++) {
        int r = scope_has(op, &blocks[i], err);

        if (r < 0)
            return -1;
        if (r > 0)
            own[count++] = blocks[i];
        else
            blocks[others++] = blocks[i];
    }
    out_records(op, "blocks", own, count);
    if (!busy)
        return 0;
    json_put_array(op->out, "busy");
    for (size_t i = 0; i < others; i++) {
        json_write_object_begin(op->out);
        out_time(op, "startTime", record_i64(&blocks[i], "startTime"));
        out_time(op, "endTime", record_i64(&blocks[i], "endTime"));
        json_write_object_end(op->out);
    }
    json_write_array_end(op->out);
    return 0;
}

static int aim_open(struct desk_op *op, struct err *err)
{
    struct record plan;

    return aim_plan(op, &plan, err) < 0 ? -1 : 0;
}

static int act_open(struct desk_op *op, struct err *err)
{
    struct record plan;

    if (day_plan_open(op->write, arg_str(op, "planDate"), &plan, err) < 0 ||
        write_plan(op, &plan, err) < 0 || write_blocks(op, true, err) < 0)
        return -1;
    out_bool(op, "created", op->aim_count == 0);
    return 0;
}

/* ---- blocks ---- */

/* What a block names must be the agent's: the block itself when it is there, its task, else its
 * category. */
static int aim_block(struct desk_op *op, struct json_object *block, struct err *err)
{
    struct str id = json_str(json_find(block, "id")), task = json_str(json_find(block, "taskId"));
    struct str category = json_str(json_find(block, "categoryId")), chosen;
    struct record old;
    int r = 0;

    if (id.n > 0)
        r = journal_get(op->journal, RECORD_DAY_PLAN_BLOCK, id, op->arena, &old, err);
    if (r < 0 || (r == 1 && scope_record(op, &old, err) < 0))
        return -1;
    if (r == 1 && !str_eq(record_str(&old, "planId"), plan_id(op)))
        return err_set(err, ERR_CONFLICT, "block \"%.*s\" is of another day", STR_ARG(id));
    if (r == 1)
        op_aim(op, &old);
    if (category.n > 0 && scope_into(op, "the block", category, err) < 0)
        return -1;
    if (task.n > 0)
        return scope_get(op, RECORD_TASK, task, NULL, err);
    return r == 1 ? 0 : scope_choose(op, category, &chosen, err);
}

/* Within its day, and with an end after its beginning. */
static int check_times(struct desk_op *op, struct json_object *block, struct err *err)
{
    struct str start = json_str(json_find(block, "startTime"));
    struct str end = json_str(json_find(block, "endTime"));
    int64_t day_from, day_to, from, to;

    if (timefmt_parse(start, &from, err) < 0 || timefmt_parse(end, &to, err) < 0 ||
        journal_day_span(op->journal, arg_str(op, "planDate"), &day_from, &day_to, err) < 0)
        return -1;
    if (to <= from)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/endTime: does not lie after startTime");
    if (from < day_from || to > day_to)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/%s: lies outside of %.*s",
                       from < day_from ? "startTime" : "endTime", STR_ARG(arg_str(op, "planDate")));
    return 0;
}

static int aim_blocks(struct desk_op *op, const char *name, struct err *err)
{
    struct json_object *blocks = json_find(op->args, name);
    struct record plan;

    if (aim_plan(op, &plan, err) < 0)
        return -1;
    for (size_t i = 0; i < json_length(blocks); i++) {
        struct json_object *block = json_object_array_get_idx(blocks, i);

        if (aim_block(op, block, err) < 0 || check_times(op, block, err) < 0)
            return err_wrap(err, "/%s/%zu", name, i);
    }
    return 0;
}

/* ---- overlaps ---- */

struct span {
    int64_t from, to;
};

static bool is_listed(const struct str *ids, size_t n, struct str id)
{
    for (size_t i = 0; i < n; i++) {
        if (str_eq(ids[i], id))
            return true;
    }
    return false;
}

static bool is_given(struct json_object *blocks, struct str id)
{
    for (size_t i = 0; i < json_length(blocks); i++) {
        if (str_eq(json_str(json_find(json_object_array_get_idx(blocks, i), "id")), id))
            return true;
    }
    return false;
}

static int refuse_overlap(const char *name, struct err *err)
{
    return err_set(err, ERR_CONFLICT,
                   "/%s: blocks would overlap each other or time that is taken, or an id is taken; "
                   "get_or_create_day_plan shows blocks and busy times",
                   name);
}

/* What will stand in the plan: what is there and stays, and what is given. */
static int check_overlaps(struct desk_op *op, const char *name, const struct str *deletes,
                          size_t delete_count, struct err *err)
{
    struct json_object *given = json_find(op->args, name);
    size_t n, count = 0, more = json_length(given);
    struct record *blocks;
    struct span *spans;

    if (blocks_of(op, &blocks, &n, err) < 0)
        return -1;
    spans = ARENA_NEW_N(op->arena, struct span, n + more + 1);
    for (size_t i = 0; i < n; i++) {
        if (!is_listed(deletes, delete_count, blocks[i].id) && !is_given(given, blocks[i].id))
            spans[count++] = (struct span){ record_i64(&blocks[i], "startTime"),
                                            record_i64(&blocks[i], "endTime") };
    }
    for (size_t i = 0; i < more; i++) {
        struct json_object *block = json_object_array_get_idx(given, i);
        struct span span;

        if (timefmt_parse(json_str(json_find(block, "startTime")), &span.from, err) < 0 ||
            timefmt_parse(json_str(json_find(block, "endTime")), &span.to, err) < 0)
            return -1;
        for (size_t k = 0; k < count; k++) {
            if (span.from < spans[k].to && spans[k].from < span.to)
                return refuse_overlap(name, err);
        }
        spans[count++] = span;
    }
    return 0;
}

/* Appends the block; one that is new and has neither task nor category goes to the only category
 * there is. */
static int add_block(struct desk_op *op, struct json_object *blocks, struct json_object *block,
                     struct err *err)
{
    struct json_object *copy = json_object_new_object();
    struct str category = json_str(json_find(block, "categoryId"));
    struct str id = json_str(json_find(block, "id"));
    struct json_object_iter it;
    struct record old;
    int known = 0;

    json_object_array_add(blocks, copy);
    json_object_object_foreachC(block, it)
        json_object_object_add(copy, it.key, json_object_get(it.val));
    if (id.n > 0)
        known = journal_get(op->journal, RECORD_DAY_PLAN_BLOCK, id, op->arena, &old, err);
    if (known != 0 || category.n > 0 || json_find(block, "taskId") || op->scope.all)
        return known < 0 ? -1 : 0;
    if (scope_choose(op, STR_NONE, &category, err) < 0)
        return -1;
    fields_str(copy, "categoryId", category);
    return 0;
}

/* What the journal says of an overlap names blocks that may be somebody else's. */
static int put_blocks(struct desk_op *op, const char *name, const struct str *deletes,
                      size_t delete_count, struct err *err)
{
    struct json_object *given = json_find(op->args, name);
    AUTO_JSON upserts = json_object_new_array();

    for (size_t i = 0; i < json_length(given); i++) {
        if (add_block(op, upserts, json_object_array_get_idx(given, i), err) < 0)
            return -1;
    }
    if (day_plan_put_blocks(op->write, arg_str(op, "planDate"), upserts, deletes, delete_count,
                            err) == 0)
        return 0;
    if (err->code != ERR_CONFLICT)
        return -1;
    err_reset(err);
    return refuse_overlap(name, err);
}

static int aim_upsert(struct desk_op *op, struct err *err)
{
    struct str *deletes;
    size_t n = arg_list(op, "deletes", &deletes);
    struct json_object *upserts = json_find(op->args, "upserts");

    if (n == 0 && (!upserts || json_length(upserts) == 0))
        return err_set(err, ERR_BAD_REQUEST, "/upserts: give blocks to put or to delete");
    if (aim_blocks(op, "upserts", err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct record block;

        if (scope_get(op, RECORD_DAY_PLAN_BLOCK, deletes[i], &block, err) < 0)
            return err_wrap(err, "/deletes/%zu", i);
        if (!str_eq(record_str(&block, "planId"), plan_id(op)))
            return err_set(err, ERR_CONFLICT, "/deletes/%zu: the block is of another day", i);
    }
    return check_overlaps(op, "upserts", deletes, n, err);
}

static int act_upsert(struct desk_op *op, struct err *err)
{
    struct str *deletes;
    size_t n = arg_list(op, "deletes", &deletes);

    if (put_blocks(op, "upserts", deletes, n, err) < 0)
        return -1;
    return write_blocks(op, false, err);
}

/* ---- planning anew ---- */

/* Own blocks that have not ended and are not given again. */
static int replaced(struct desk_op *op, struct record **ret_blocks, size_t *ret_count,
                    struct err *err)
{
    size_t n, count = 0;

    if (blocks_of(op, ret_blocks, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct record *block = &(*ret_blocks)[i];
        int r = scope_has(op, block, err);

        if (r < 0)
            return -1;
        if (r > 0 && record_i64(block, "endTime") > op->now &&
            !is_given(json_find(op->args, "blocks"), block->id))
            (*ret_blocks)[count++] = *block;
    }
    *ret_count = count;
    return 0;
}

static struct str *ids_of(struct desk_op *op, const struct record *records, size_t n)
{
    struct str *ids = ARENA_NEW_N(op->arena, struct str, n + 1);

    for (size_t i = 0; i < n; i++)
        ids[i] = records[i].id;
    return ids;
}

static int aim_replan(struct desk_op *op, struct err *err)
{
    struct record *blocks;
    size_t n;

    if (aim_blocks(op, "blocks", err) < 0 || replaced(op, &blocks, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        op_aim(op, &blocks[i]);
    return check_overlaps(op, "blocks", ids_of(op, blocks, n), n, err);
}

static int act_replan(struct desk_op *op, struct err *err)
{
    struct record *blocks;
    size_t n;

    if (replaced(op, &blocks, &n, err) < 0 ||
        put_blocks(op, "blocks", ids_of(op, blocks, n), n, err) < 0 ||
        write_blocks(op, false, err) < 0)
        return -1;
    out_i64(op, "removed", (int64_t)n);
    return 0;
}

/* ---- pins ---- */

static int aim_pin(struct desk_op *op, struct err *err)
{
    struct record plan;
    struct str *ids;
    size_t n = arg_list(op, "taskIds", &ids);

    if (aim_plan(op, &plan, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (scope_get(op, RECORD_TASK, ids[i], NULL, err) < 0)
            return err_wrap(err, "/taskIds/%zu", i);
    }
    return 0;
}

static int act_pin(struct desk_op *op, struct err *err)
{
    AUTO_JSON others = NULL;
    struct record plan;
    struct str *given, *ids;
    size_t n = arg_list(op, "taskIds", &given), kept;

    if (day_plan_open(op->write, arg_str(op, "planDate"), &plan, err) < 0 ||
        pins(op, &plan, false, &others, err) < 0)
        return -1;
    kept = json_length(others);
    ids = ARENA_NEW_N(op->arena, struct str, n + kept + 1);
    for (size_t i = 0; i < n; i++)
        ids[i] = given[i];
    for (size_t i = 0; i < kept; i++)
        ids[n + i] = json_str(json_object_array_get_idx(others, i));
    if (day_plan_pin(op->write, arg_str(op, "planDate"), ids, n + kept, err) < 0 ||
        journal_get(op->journal, RECORD_DAY_PLAN, plan.id, op->arena, &plan, err) < 0)
        return -1;
    return write_plan(op, &plan, err);
}

const struct desk_tool desk_plan_tools[] = {
    { .name = "get_or_create_day_plan",
      .title = "Open the plan of a day",
      .aim = aim_open,
      .act = act_open },
    { .name = "upsert_day_plan_blocks",
      .title = "Change the plan of a day",
      .aim = aim_upsert,
      .act = act_upsert },
    { .name = "pin_day_plan_tasks", .title = "Pin tasks to a day", .aim = aim_pin, .act = act_pin },
    { .name = "replan_day_blocks",
      .title = "Plan a day anew",
      .aim = aim_replan,
      .act = act_replan },
};
const size_t desk_plan_tool_count = ARRAY_LEN(desk_plan_tools);
