/* Tasks: their labels, their checklists, and what follows them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/map.h"
#include "change/taint.h"
#include "journal/journal_int.h"
#include "journal/moves.h"

static void add_str(struct json_object *fields, const char *name, struct str text)
{
    json_object_object_add(fields, name,
                           json_object_new_string_len(text.p ? text.p : "", (int)text.n));
}

/* ---- labels ---- */

static int make_label(struct journal_write *write, struct str name, struct record *ret_label,
                      struct err *err)
{
    AUTO_JSON fields = json_object_new_object();

    add_str(fields, "name", name);
    return journal_create(write, RECORD_LABEL, STR_NONE, fields, ret_label, err);
}

/* By id, else by name. */
static int find_label(struct journal_write *write, struct str words, bool make,
                      struct record *ret_label, struct err *err)
{
    int r = 0;

    if (words.n > NAME_BYTES_MAX)
        return err_set(err, ERR_BAD_REQUEST, "a label of %zu bytes is too long; at most %d",
                       words.n, NAME_BYTES_MAX);
    if (record_id_valid(words))
        r = journal_get(write->journal, RECORD_LABEL, words, write->arena, ret_label, err);
    if (r == 0)
        r = record_by_name(write->journal, RECORD_LABEL, words, write->arena, ret_label, err);
    if (r != 0)
        return r < 0 ? -1 : 0;
    if (make)
        return make_label(write, words, ret_label, err);
    return err_set(err, ERR_NOT_FOUND, "there is no label \"%.*s\"", STR_ARG(words));
}

/* What the task has and keeps is taken out of wanted, the rest of what it has is taken away. */
static int drop_labels(struct journal_write *write, struct str task_id, struct map *wanted,
                       struct map *known, struct err *err)
{
    struct task_label *rows;
    size_t n;
    int changed = 0;

    if (task_labels_load(write->journal, task_id, STR_NONE, write->arena, &rows, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].deleted_at) {
            map_put(known, rows[i].label_id, &rows[i]);
            continue;
        }
        if (map_remove(wanted, rows[i].label_id))
            continue;
        changed = 1;
        if (task_label_put(write, &rows[i], true, err) < 0)
            return -1;
    }
    return changed;
}

static int give_labels(struct journal_write *write, struct str task_id, const struct map *wanted,
                       const struct map *known, struct err *err)
{
    map_each (wanted, label) {
        struct task_label fresh = { .task_id = task_id, .label_id = label->key };
        struct task_label *old = map_find(known, label->key);

        if (task_label_put(write, old ? old : &fresh, false, err) < 0)
            return -1;
    }
    return 0;
}

int task_set_labels(struct journal_write *write, struct str task_id, const struct str *labels,
                    size_t n, bool make, struct err *err)
{
    AUTO_MAP wanted = MAP_INIT;
    AUTO_MAP known = MAP_INIT;
    struct record task;
    int changed;

    if (n > TASK_LABELS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "a task has at most %d labels, not %zu",
                       TASK_LABELS_MAX, n);
    if (record_need(write->journal, RECORD_TASK, task_id, write->arena, &task, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct record label;

        if (find_label(write, str_trim(labels[i]), make, &label, err) < 0)
            return -1;
        map_put(&wanted, label.id, write);
    }
    changed = drop_labels(write, task.id, &wanted, &known, err);
    if (changed < 0 || give_labels(write, task.id, &wanted, &known, err) < 0)
        return -1;
    return changed || map_count(&wanted) > 0;
}

/* ---- checklists ---- */

int checklist_add(struct journal_write *write, struct str checklist_id, const struct str *titles,
                  size_t n, struct record **ret_items, struct err *err)
{
    struct record *items, list;

    if (n > CHECKLIST_ADD_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%zu items at once; at most %d are allowed", n,
                       CHECKLIST_ADD_MAX);
    if (record_need(write->journal, RECORD_CHECKLIST, checklist_id, write->arena, &list, err) < 0)
        return -1;
    items = ARENA_NEW_N(write->arena, struct record, n + 1);
    for (size_t i = 0; i < n; i++) {
        AUTO_JSON fields = json_object_new_object();

        add_str(fields, "checklistId", list.id);
        add_str(fields, "title", titles[i]);
        if (journal_create(write, RECORD_CHECKLIST_ITEM, STR_NONE, fields, &items[i], err) < 0)
            return err_wrap(err, "item %zu", i + 1);
    }
    if (ret_items)
        *ret_items = items;
    return 0;
}

static int move_item(struct journal_write *write, struct str id, struct str from, struct str to,
                     bool keep_checked, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct record item;
    int64_t position;

    if (record_need(write->journal, RECORD_CHECKLIST_ITEM, id, write->arena, &item, err) < 0)
        return -1;
    if (!str_eq(record_str(&item, "checklistId"), from))
        return err_set(err, ERR_CONFLICT, "item \"%.*s\" stands in checklist %.*s, not in %.*s",
                       STR_ARG(id), STR_ARG(record_str(&item, "checklistId")), STR_ARG(from));
    if (record_next_position(write->journal, RECORD_CHECKLIST_ITEM, to, &position, err) < 0)
        return -1;
    add_str(fields, "checklistId", to);
    json_object_object_add(fields, "position", json_object_new_int64(position));
    if (!keep_checked)
        json_object_object_add(fields, "checked", json_object_new_boolean(false));
    return journal_change(write, RECORD_CHECKLIST_ITEM, id, fields, NULL, err);
}

int checklist_move(struct journal_write *write, const struct str *item_ids, size_t n,
                   struct str from, struct str to, bool keep_checked, struct err *err)
{
    struct record list;

    if (n > CHECKLIST_ADD_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%zu items at once; at most %d are allowed", n,
                       CHECKLIST_ADD_MAX);
    if (record_need(write->journal, RECORD_CHECKLIST, from, write->arena, &list, err) < 0 ||
        record_need(write->journal, RECORD_CHECKLIST, to, write->arena, &list, err) < 0)
        return -1;
    if (str_eq(from, to))
        return err_set(err, ERR_BAD_REQUEST, "the items stand in checklist %.*s already",
                       STR_ARG(to));
    for (size_t i = 0; i < n; i++) {
        if (move_item(write, item_ids[i], from, to, keep_checked, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- what follows a task ---- */

/* The open items of one list: their ids. */
static int open_items(struct journal_write *write, struct str checklist_id, struct str **ret_ids,
                      size_t *ret_count, struct err *err)
{
    struct record *items;
    size_t n, open = 0;

    if (record_children(write->journal, RECORD_CHECKLIST_ITEM, checklist_id, 0, write->arena,
                        &items, &n, err) < 0)
        return -1;
    *ret_ids = ARENA_NEW_N(write->arena, struct str, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!record_i64(&items[i], "checked"))
            (*ret_ids)[open++] = items[i].id;
    }
    *ret_count = open;
    return 0;
}

/* Moves the open items of a list into one of the same name that task gets; how many. With task NULL
 * it only counts. */
static int carry_list(struct journal_write *write, const struct record *list,
                      const struct record *task, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct record copy;
    struct str *ids;
    size_t n;

    if (open_items(write, list->id, &ids, &n, err) < 0)
        return -1;
    if (n == 0 || !task)
        return (int)n;
    add_str(fields, "taskId", task->id);
    add_str(fields, "title", record_str(list, "title"));
    journal_copies(write, list);
    if (journal_create(write, RECORD_CHECKLIST, STR_NONE, fields, &copy, err) < 0)
        return -1;
    journal_copies(write, NULL);
    if (checklist_move(write, ids, n, list->id, copy.id, false, err) < 0)
        return -1;
    return (int)n;
}

static int carry(struct journal_write *write, struct str source_id, const struct record *task,
                 struct err *err)
{
    struct record *lists;
    size_t n;
    int carried = 0;

    if (record_children(write->journal, RECORD_CHECKLIST, source_id, 0, write->arena, &lists, &n,
                        err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int r = carry_list(write, &lists[i], task, err);

        if (r < 0)
            return -1;
        carried += r;
    }
    return carried;
}

static int copy_labels(struct journal_write *write, struct str from, struct str to, struct err *err)
{
    struct task_label *rows;
    size_t n, live = 0;
    struct str *ids;

    if (task_labels_load(write->journal, from, STR_NONE, write->arena, &rows, &n, err) < 0)
        return -1;
    ids = ARENA_NEW_N(write->arena, struct str, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].deleted_at)
            ids[live++] = rows[i].label_id;
    }
    return task_set_labels(write, to, ids, live, false, err);
}

static int link_tasks(struct journal_write *write, struct str from, struct str to, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();

    add_str(fields, "relation", STR("follow_up"));
    add_str(fields, "fromType", STR("task"));
    add_str(fields, "fromId", from);
    add_str(fields, "toType", STR("task"));
    add_str(fields, "toId", to);
    return journal_create(write, RECORD_ENTRY_LINK, STR_NONE, fields, NULL, err);
}

#define PART STR(", part ")

struct str task_title_after(struct str title, struct arena *arena)
{
    size_t digits = 0, head;
    int64_t part = 1;

    while (digits < title.n && digits < 6 && title.p[title.n - digits - 1] >= '0' &&
           title.p[title.n - digits - 1] <= '9')
        digits++;
    head = title.n - digits;
    if (digits > 0 && str_ends(str_take(title, head), PART) &&
        str_to_i64(str_skip(title, head), &part) == 0)
        title = str_take(title, head - PART.n);
    else
        part = 1;
    if (title.n + PART.n + 8 > NAME_BYTES_MAX)
        return title;
    return str_from(
        arena_printf(arena, "%.*s%.*s%lld", STR_ARG(title), STR_ARG(PART), (long long)part + 1));
}

static int make_follow_up(struct journal_write *write, const struct follow_up *how,
                          const struct record *source, struct record *ret_task, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct str before = record_str(source, "title");
    struct str title = how->title.n ? how->title : task_title_after(before, write->arena);
    int r;

    add_str(fields, "title", title);
    add_str(fields, "priority", record_str(source, "priority"));
    if (record_get(source, "language")->set)
        add_str(fields, "language", record_str(source, "language"));
    if (how->keep_category_and_labels && record_get(source, "categoryId")->set)
        add_str(fields, "categoryId", record_str(source, "categoryId"));
    journal_copies(write, taint_stays(before, title) ? source : NULL);
    r = journal_create(write, RECORD_TASK, STR_NONE, fields, ret_task, err);
    journal_copies(write, NULL);
    if (r < 0 || link_tasks(write, ret_task->id, source->id, err) < 0)
        return -1;
    if (!how->keep_category_and_labels)
        return 0;
    return copy_labels(write, source->id, ret_task->id, err);
}

static int close_source(struct journal_write *write, const struct follow_up *how, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();

    if (how->close_as.n == 0)
        return 0;
    if (!task_status_is_closed(how->close_as))
        return err_set(err, ERR_BAD_REQUEST, "a task is closed as DONE or REJECTED, not \"%.*s\"",
                       STR_ARG(str_take(how->close_as, 40)));
    add_str(fields, "status", how->close_as);
    return journal_change(write, RECORD_TASK, how->source_id, fields, NULL, err);
}

int task_follow_up(struct journal_write *write, const struct follow_up *how,
                   struct follow_up_result *ret_result, struct err *err)
{
    struct follow_up_result result = { .moved = 0 };
    struct record source;
    int open = 0;

    if (record_need(write->journal, RECORD_TASK, how->source_id, write->arena, &source, err) < 0)
        return -1;
    if (how->carry_open_items)
        open = carry(write, source.id, NULL, err);
    if (open < 0)
        return -1;
    if (how->title.n > 0 || open > 0 || !how->carry_open_items) {
        if (make_follow_up(write, how, &source, &result.task, err) < 0)
            return -1;
        if (open > 0 && carry(write, source.id, &result.task, err) < 0)
            return -1;
        result.moved = (size_t)open;
    }
    if (close_source(write, how, err) < 0)
        return -1;
    *ret_result = result;
    return 0;
}
