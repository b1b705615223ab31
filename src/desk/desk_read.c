/* Tools that read: categories, tasks, entries, time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"
#include "base/json_put.h"
#include "desk/desk_int.h"

#define LIST_MAX     200
#define CHILDREN_MAX 1000

/* ---- categories ---- */

static int read_categories(struct desk_op *op, struct err *err)
{
    struct record_filter filter = { .type = RECORD_CATEGORY, .limit = CHILDREN_MAX };
    struct record *categories;
    size_t n;
    bool more;

    /* A category counts for itself, so the scope is the list. */
    filter.scope = &op->scope;
    if (record_list(op->journal, &filter, op->arena, &categories, &n, &more, err) < 0)
        return -1;
    out_records(op, "categories", categories, n);
    return 0;
}

/* ---- tasks ---- */

static int aim_category(struct desk_op *op, struct err *err)
{
    struct str category = arg_str(op, "categoryId");

    return category.n > 0 ? scope_category(op, "what you ask for", category, err) : 0;
}

static int read_tasks(struct desk_op *op, struct err *err)
{
    struct str order = arg_str(op, "order");
    struct task_filter filter = {
        .scope = &op->scope,
        .status = arg_str(op, "status"),
        .closed = arg_bool(op, "closed", false),
        .category_id = arg_str(op, "categoryId"),
        .label_id = arg_str(op, "labelId"),
        .due_from = arg_str(op, "dueFrom"),
        .due_to = arg_str(op, "dueTo"),
        .text = arg_str(op, "text"),
        .order = str_is(order, "priority")  ? TASKS_BY_PRIORITY
                 : str_is(order, "updated") ? TASKS_BY_UPDATED
                                            : TASKS_BY_DUE,
        .after = arg_str(op, "after"),
        .limit = (int)arg_i64(op, "limit", 0),
    };
    struct task_page page;

    if (task_list(op->journal, &filter, op->arena, &page, err) < 0)
        return -1;
    out_records(op, "tasks", page.tasks, page.count);
    if (page.next.n > 0)
        out_str(op, "next", page.next);
    return 0;
}

static int aim_task(struct desk_op *op, struct err *err)
{
    return scope_get(op, RECORD_TASK, arg_str(op, "taskId"), NULL, err);
}

/* Children of one record, in their order. */
static int list_of(struct desk_op *op, enum record_type type, struct str parent,
                   struct record **ret_records, size_t *ret_count, struct err *err)
{
    struct record_filter filter = {
        .type = type, .scope = &op->scope, .parent = parent, .limit = CHILDREN_MAX
    };
    bool more;

    return record_list(op->journal, &filter, op->arena, ret_records, ret_count, &more, err);
}

static int write_checklists(struct desk_op *op, struct str task_id, struct err *err)
{
    struct record *lists, *items;
    size_t n, count;

    if (list_of(op, RECORD_CHECKLIST, task_id, &lists, &n, err) < 0)
        return -1;
    json_put_array(op->out, "checklists");
    for (size_t i = 0; i < n; i++) {
        if (list_of(op, RECORD_CHECKLIST_ITEM, lists[i].id, &items, &count, err) < 0)
            return -1;
        json_write_object_begin(op->out);
        op_tells(op, &lists[i]);
        record_write_members(op->out, &lists[i]);
        out_records(op, "items", items, count);
        json_write_object_end(op->out);
    }
    json_write_array_end(op->out);
    return 0;
}

static int write_links(struct desk_op *op, struct str task_id, struct err *err)
{
    struct record_filter filter = {
        .type = RECORD_ENTRY_LINK, .scope = &op->scope, .target_id = task_id, .limit = LIST_MAX
    };
    struct record *links;
    size_t n;
    bool more;

    if (record_list(op->journal, &filter, op->arena, &links, &n, &more, err) < 0)
        return -1;
    out_records(op, "links", links, n);
    return 0;
}

static int write_labels(struct desk_op *op, const struct record *task, struct err *err)
{
    struct record **labels;
    size_t *counts;

    if (task_labels_of(op->journal, task, 1, op->arena, &labels, &counts, err) < 0)
        return -1;
    out_records(op, "labels", labels[0], counts[0]);
    return 0;
}

static int read_task(struct desk_op *op, struct err *err)
{
    const struct record *task = &op->aims[0];
    int64_t *ms;

    out_record(op, "task", task);
    if (write_labels(op, task, err) < 0 || write_checklists(op, task->id, err) < 0 ||
        task_time_of(op->journal, task, 1, op->now, op->arena, &ms, err) < 0)
        return -1;
    out_i64(op, "timeMinutes", ms[0] / MINUTES(1));
    return write_links(op, task->id, err);
}

/* A person who names a task that is none of the agent's is told that, by the whole title or id
 * alone: fewer words would let an agent guess what stands elsewhere. */
static int write_reach(struct desk_op *op, struct err *err)
{
    struct task_match match;

    if (op->scope.all || !str_is(op->call->wake_reason, "userInitiated"))
        return 0;
    if (task_resolve(op->journal, NULL, arg_str(op, "reference"), 1, op->arena, &match, err) < 0)
        return -1;
    if (match.count > 0 && match.candidates[0].score >= 1)
        out_bool(op, "outOfReach", true);
    return 0;
}

static int read_reference(struct desk_op *op, struct err *err)
{
    struct task_match match;

    if (task_resolve(op->journal, &op->scope, arg_str(op, "reference"),
                     (int)arg_i64(op, "limit", 0), op->arena, &match, err) < 0)
        return -1;
    json_put_array(op->out, "candidates");
    for (size_t i = 0; i < match.count; i++) {
        const struct record *task = &match.candidates[i].task;

        op_tells(op, task);
        json_write_object_begin(op->out);
        out_str(op, "taskId", task->id);
        out_str(op, "title", record_str(task, "title"));
        out_str(op, "status", record_str(task, "status"));
        out_str(op, "categoryId", record_str(task, "categoryId"));
        out_named(op, record_str(task, "categoryId"));
        if (record_get(task, "due")->set)
            out_str(op, "due", record_str(task, "due"));
        json_put_double(op->out, "score",
                        (double)(int)(match.candidates[i].score * 1000 + 0.5) / 1000);
        json_write_object_end(op->out);
    }
    json_write_array_end(op->out);
    out_bool(op, "ambiguous", !match.sure);
    return match.count > 0 ? 0 : write_reach(op, err);
}

/* ---- entries and time ---- */

static int filter_times(struct desk_op *op, struct record_filter *filter, struct err *err)
{
    if (arg_time(op, "from", &filter->from, err) < 0 || arg_time(op, "to", &filter->to, err) < 0)
        return -1;
    filter->scope = &op->scope;
    filter->newest_first = true;
    filter->limit = (int)arg_i64(op, "limit", 50);
    return 0;
}

static int read_entries(struct desk_op *op, struct err *err)
{
    struct record_filter filter = { .type = RECORD_ENTRY, .kind = arg_str(op, "kind") };
    struct record *entries;
    size_t n;
    bool more;

    if (filter_times(op, &filter, err) < 0 ||
        record_list(op->journal, &filter, op->arena, &entries, &n, &more, err) < 0)
        return -1;
    out_records(op, "entries", entries, n);
    return 0;
}

static int aim_time_entries(struct desk_op *op, struct err *err)
{
    return arg_str(op, "taskId").n > 0 ? aim_task(op, err) : 0;
}

static int64_t minutes_of(struct desk_op *op, const struct record *entries, size_t n)
{
    int64_t ms = 0;

    for (size_t i = 0; i < n; i++) {
        const struct record_value *ended = record_get(&entries[i], "endedAt");
        int64_t end = ended->set ? ended->i : op->now, start = record_i64(&entries[i], "startedAt");

        ms += end > start ? end - start : 0;
    }
    return ms / MINUTES(1);
}

static int read_time_entries(struct desk_op *op, struct err *err)
{
    struct record_filter filter = { .type = RECORD_TIME_ENTRY, .parent = arg_str(op, "taskId") };
    struct record *entries, running;
    size_t n;
    bool more;
    int r;

    if (filter_times(op, &filter, err) < 0 ||
        record_list(op->journal, &filter, op->arena, &entries, &n, &more, err) < 0)
        return -1;
    out_records(op, "timeEntries", entries, n);
    out_i64(op, "totalMinutes", minutes_of(op, entries, n));
    r = timer_running(op->journal, op->arena, &running, err);
    if (r == 1)
        r = scope_has(op, &running, err);
    if (r == 1)
        out_record(op, "running", &running);
    return r < 0 ? -1 : 0;
}

const struct desk_tool desk_read_tools[] = {
    { .name = "list_allowed_categories", .read = read_categories, .everywhere = true },
    { .name = "list_tasks_in_scope", .aim = aim_category, .read = read_tasks },
    { .name = "read_task", .aim = aim_task, .read = read_task },
    { .name = "resolve_task_reference", .read = read_reference },
    { .name = "list_entries_in_scope", .read = read_entries },
    { .name = "list_time_entries", .aim = aim_time_entries, .read = read_time_entries },
};
const size_t desk_read_tool_count = ARRAY_LEN(desk_read_tools);
