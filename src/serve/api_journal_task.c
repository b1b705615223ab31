/* /journal/tasks: lists with filters, a task with all that hangs on it, and what people do with
 * tasks and their checklists.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/clock.h"
#include "journal/quick.h"
#include "serve/api_journal_int.h"

#define CHILDREN_MAX 1000

static struct str query_of(struct api_journal_work *work, const char *name)
{
    return serve_request_query(work->request, name);
}

/* ---- lists ---- */

static int read_choices(struct api_journal_work *work, struct task_filter *filter, struct err *err)
{
    static const char *const orders[] = { "due", "priority", "updated" };
    struct str closed = query_of(work, "closed"), order = query_of(work, "order");

    filter->closed = str_is(closed, "true");
    filter->any = str_is(closed, "any");
    if (closed.n && !filter->closed && !filter->any && !str_is(closed, "false"))
        return err_set(err, ERR_BAD_REQUEST, "closed must be true, false or any, not \"%.*s\"",
                       STR_ARG(str_take(closed, 40)));
    for (size_t i = 0; order.n && i < ARRAY_LEN(orders); i++) {
        if (!str_is(order, orders[i]))
            continue;
        filter->order = (enum task_order)i;
        return 0;
    }
    if (order.n)
        return err_set(err, ERR_BAD_REQUEST, "order must be due, priority or updated, not \"%.*s\"",
                       STR_ARG(str_take(order, 40)));
    return 0;
}

static int read_tasks_filter(struct api_journal_work *work, struct task_filter *filter,
                             struct err *err)
{
    struct str limit = query_of(work, "limit");
    int64_t number = 0;

    *filter = (struct task_filter){
        .status = query_of(work, "status"),
        .category_id = query_of(work, "categoryId"),
        .label_id = query_of(work, "labelId"),
        .due_from = query_of(work, "dueFrom"),
        .due_to = query_of(work, "dueTo"),
        .text = query_of(work, "q"),
        .after = query_of(work, "after"),
    };
    if (limit.p && (str_to_i64(limit, &number) < 0 || number < 1 || number > 500))
        return err_set(err, ERR_BAD_REQUEST, "limit must be a number from 1 to 500, not \"%.*s\"",
                       STR_ARG(str_take(limit, 40)));
    filter->limit = (int)number;
    return read_choices(work, filter, err);
}

/* How many of them fit into one answer. */
static size_t fitting(const struct task_page *page)
{
    size_t bytes = 0, n = 0;

    while (n < page->count && bytes < JOURNAL_PAGE_BYTES)
        bytes += 1000 + record_str(&page->tasks[n++], "notes").n;
    return n;
}

static int list_tasks(struct api_journal_work *work, struct err *err)
{
    struct task_filter filter;
    struct task_page page;
    size_t fits;

    if (read_tasks_filter(work, &filter, err) < 0 ||
        task_list(work->journal, &filter, work->arena, &page, err) < 0)
        return -1;
    fits = fitting(&page);
    if (fits < page.count) { /* once more, for the cursor of a shorter page */
        filter.limit = (int)fits;
        if (task_list(work->journal, &filter, work->arena, &page, err) < 0)
            return -1;
    }
    json_write_object_begin(work->w);
    if (api_journal_put_list(work, "items", page.tasks, page.count, err) < 0)
        return -1;
    json_put_some_str(work->w, "next", page.next);
    json_write_object_end(work->w);
    return 0;
}

void api_tasks_list(struct serve_request *request)
{
    api_journal_look(request, list_tasks);
}

/* ---- one task ---- */

static int children(struct api_journal_work *work, enum record_type type, struct str parent,
                    struct record **ret_records, size_t *ret_count, struct err *err)
{
    struct record_filter filter = { .type = type, .limit = CHILDREN_MAX };
    bool more;

    if (type == RECORD_ENTRY_LINK)
        filter.target_id = parent;
    else
        filter.parent = parent;
    return record_list(work->journal, &filter, work->arena, ret_records, ret_count, &more, err);
}

static int put_checklists(struct api_journal_work *work, struct str task_id, struct err *err)
{
    struct record *lists, *items;
    size_t n, item_count;

    if (children(work, RECORD_CHECKLIST, task_id, &lists, &n, err) < 0)
        return -1;
    json_put_array(work->w, "checklists");
    for (size_t i = 0; i < n; i++) {
        if (children(work, RECORD_CHECKLIST_ITEM, lists[i].id, &items, &item_count, err) < 0)
            return -1;
        json_write_object_begin(work->w);
        api_journal_put_members(work, &lists[i]);
        if (api_journal_put_list(work, "items", items, item_count, err) < 0)
            return -1;
        json_write_object_end(work->w);
    }
    json_write_array_end(work->w);
    return 0;
}

static int put_labels(struct api_journal_work *work, const struct record *task, struct err *err)
{
    struct record **labels;
    size_t *counts;

    if (task_labels_of(work->journal, task, 1, work->arena, &labels, &counts, err) < 0)
        return -1;
    json_put_array(work->w, "labelIds");
    for (size_t i = 0; i < counts[0]; i++)
        json_write_str(work->w, labels[0][i].id);
    json_write_array_end(work->w);
    return api_journal_put_list(work, "labels", labels[0], counts[0], err);
}

int api_journal_put_task(struct api_journal_work *work, const struct record *task, struct err *err)
{
    int64_t now = clock_wall_ms(loop_clock(api_of(work->request)->config.loop)), *spent;
    struct record *links;
    size_t n;

    json_write_object_begin(work->w);
    api_journal_put_members(work, task);
    if (put_labels(work, task, err) < 0 || put_checklists(work, task->id, err) < 0 ||
        task_time_of(work->journal, task, 1, now, work->arena, &spent, err) < 0 ||
        children(work, RECORD_ENTRY_LINK, task->id, &links, &n, err) < 0)
        return -1;
    json_put_i64(work->w, "timeMs", spent[0]);
    if (api_journal_put_list(work, "links", links, n, err) < 0)
        return -1;
    json_write_object_end(work->w);
    return 0;
}

int api_journal_take_labels(struct api_journal_work *work, struct str **ret_labels,
                            size_t *ret_count, bool *ret_given, struct err *err)
{
    *ret_given = false;
    *ret_count = 0;
    if (work->type != RECORD_TASK || !json_find(work->body, "labels"))
        return 0;
    if (api_journal_texts(work, "labels", TASK_LABELS_MAX, ret_labels, ret_count, err) < 0)
        return -1;
    for (size_t i = 0; i < *ret_count; i++)
        (*ret_labels)[i] = arena_str(work->arena, (*ret_labels)[i]);
    json_object_object_del(work->body, "labels");
    *ret_given = true;
    return 0;
}

static int set_labels(struct api_journal_work *work, struct err *err)
{
    struct record task;
    struct str *labels;
    bool make = true;
    size_t n;

    if (api_journal_record(work, RECORD_TASK, serve_request_param(work->request, "id"), false,
                           &task, err) < 0 ||
        json_get_bool(work->body, "make", &make, err) < 0 ||
        api_journal_texts(work, "labels", TASK_LABELS_MAX, &labels, &n, err) < 0)
        return -1;
    if (!json_find(work->body, "labels"))
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/labels: is missing; it is the list of names or ids the task has from now "
                       "on");
    if (task_set_labels(work->write, task.id, labels, n, make, err) < 0)
        return -1;
    return api_journal_put_task(work, &task, err);
}

void api_tasks_labels(struct serve_request *request)
{
    static const char *const members[] = { "labels", "make", NULL };

    api_journal_do(request, &(struct api_journal_job){
                                .status = 200, .members = members, .work = set_labels });
}

static int follow_up(struct api_journal_work *work, struct err *err)
{
    struct follow_up how = { .carry_open_items = true, .keep_category_and_labels = true };
    struct follow_up_result result = { .moved = 0 };
    struct record source;

    if (api_journal_record(work, RECORD_TASK, serve_request_param(work->request, "id"), false,
                           &source, err) < 0 ||
        json_get_str(work->body, "title", &how.title, err) < 0 ||
        json_get_str(work->body, "closeAs", &how.close_as, err) < 0 ||
        json_get_bool(work->body, "carryOpenItems", &how.carry_open_items, err) < 0 ||
        json_get_bool(work->body, "keepCategoryAndLabels", &how.keep_category_and_labels, err) < 0)
        return -1;
    if (how.close_as.p && !how.close_as.n)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/closeAs: must be DONE or REJECTED, not empty");
    how.source_id = source.id;
    if (task_follow_up(work->write, &how, &result, err) < 0)
        return -1;
    json_write_object_begin(work->w);
    json_write_key(work->w, "task");
    if (!result.task.n)
        json_write_null(work->w);
    else if (api_journal_put(work, &result.task, err) < 0)
        return -1;
    json_put_i64(work->w, "moved", (int64_t)result.moved);
    json_write_object_end(work->w);
    return 0;
}

void api_tasks_follow_up(struct serve_request *request)
{
    static const char *const members[] = { "title", "closeAs", "carryOpenItems",
                                           "keepCategoryAndLabels", NULL };

    api_journal_do(
        request, &(struct api_journal_job){ .status = 200, .members = members, .work = follow_up });
}

/* ---- quick add ---- */

static int quick(struct api_journal_work *work, struct err *err)
{
    struct quick quick;
    struct record task;
    struct str text = STR_NONE;
    char now[JOURNAL_CLOCK_SIZE];
    bool preview = false;

    if (json_get_str(work->body, "text", &text, err) < 0 ||
        json_get_bool(work->body, "preview", &preview, err) < 0)
        return -1;
    journal_clock_at(work->journal, clock_wall_ms(loop_clock(journal_loop(work->journal))), now);
    if (quick_parse(text, str_from(now), work->arena, &quick, err) < 0)
        return err_wrap(err, "/text");
    if (!preview && quick_add(work->write, &quick, &task, err) < 0)
        return -1;
    json_write_object_begin(work->w);
    json_write_key(work->w, "parsed");
    quick_write(work->w, &quick);
    if (!preview) {
        json_write_key(work->w, "task");
        if (api_journal_put_task(work, &task, err) < 0)
            return -1;
    }
    json_write_object_end(work->w);
    return 0;
}

void api_journal_quick(struct serve_request *request)
{
    static const char *const members[] = { "text", "preview", NULL };

    api_journal_do(request,
                   &(struct api_journal_job){ .status = 200, .members = members, .work = quick });
}

/* ---- checklists ---- */

static int add_items(struct api_journal_work *work, struct err *err)
{
    struct record list, *items;
    struct str *titles;
    size_t n;

    if (api_journal_record(work, RECORD_CHECKLIST, serve_request_param(work->request, "id"), false,
                           &list, err) < 0 ||
        api_journal_texts(work, "titles", CHECKLIST_ADD_MAX, &titles, &n, err) < 0)
        return -1;
    if (!json_find(work->body, "titles"))
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/titles: is missing; it is the list of titles to add");
    if (checklist_add(work->write, list.id, titles, n, &items, err) < 0)
        return -1;
    json_write_object_begin(work->w);
    if (api_journal_put_list(work, "items", items, n, err) < 0)
        return -1;
    json_write_object_end(work->w);
    return 0;
}

void api_checklists_add(struct serve_request *request)
{
    static const char *const members[] = { "titles", NULL };

    api_journal_do(
        request, &(struct api_journal_job){ .status = 201, .members = members, .work = add_items });
}

static int move_items(struct api_journal_work *work, struct err *err)
{
    struct str *ids, from = STR_NONE, to = STR_NONE;
    bool keep_checked = true;
    size_t n;

    if (api_journal_texts(work, "itemIds", CHECKLIST_ADD_MAX, &ids, &n, err) < 0 ||
        json_get_str(work->body, "fromChecklistId", &from, err) < 0 ||
        json_get_str(work->body, "toChecklistId", &to, err) < 0 ||
        json_get_bool(work->body, "keepChecked", &keep_checked, err) < 0)
        return -1;
    if (!n || !from.n || !to.n)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/%s: is missing",
                       !n        ? "itemIds"
                       : !from.n ? "fromChecklistId"
                                 : "toChecklistId");
    if (checklist_move(work->write, ids, n, from, to, keep_checked, err) < 0)
        return -1;
    json_write_object_begin(work->w);
    json_put_i64(work->w, "moved", (int64_t)n);
    json_write_object_end(work->w);
    return 0;
}

void api_checklists_move(struct serve_request *request)
{
    static const char *const members[] = { "itemIds", "fromChecklistId", "toChecklistId",
                                           "keepChecked", NULL };

    api_journal_do(request, &(struct api_journal_job){
                                .status = 200, .members = members, .work = move_items });
}
