/* What quick add understood, as JSON and as a task.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "journal/list.h"
#include "journal/moves.h"
#include "journal/quick.h"

#define NAMES_MAX 200 /* categories that a wrong name is compared with */

/* ---- JSON ---- */

/* UTF-16 units of the first n bytes. */
static int64_t units(struct str text, size_t n)
{
    struct str rest = str_take(text, n);
    int64_t count = 0;

    while (rest.n > 0) {
        uint32_t code = 0;

        count += utf8_decode(&rest, &code) == 0 && code > 0xffff ? 2 : 1;
    }
    return count;
}

static void write_list(struct json_writer *w, const char *key, const struct str *list, size_t n)
{
    if (n == 0)
        return;
    json_put_array(w, key);
    for (size_t i = 0; i < n; i++)
        json_write_str(w, list[i]);
    json_write_array_end(w);
}

static void write_span(struct json_writer *w, const struct quick *quick,
                       const struct quick_span *span)
{
    json_write_object_begin(w);
    json_put_text(w, "kind", quick_kind_name(span->kind));
    json_put_i64(w, "start", units(quick->text, span->start));
    json_put_i64(w, "end", units(quick->text, span->end));
    json_put_some_str(w, "value", span->value);
    json_write_object_end(w);
}

void quick_write(struct json_writer *w, const struct quick *quick)
{
    static const char *const priorities[] = { "P0", "P1", "P2", "P3" };

    json_write_object_begin(w);
    json_put_some_str(w, "title", quick->title);
    json_put_some_str(w, "due", str_from(quick->due));
    if (quick->estimate_min > 0) {
        json_put_i64(w, "estimateMinutes", quick->estimate_min);
    }
    if (quick->priority >= 0)
        json_put_some_str(w, "priority", str_from(priorities[quick->priority]));
    json_put_some_str(w, "category", quick->category);
    write_list(w, "labels", quick->labels, quick->label_count);
    write_list(w, "items", quick->items, quick->item_count);
    json_put_some_str(w, "notes", quick->notes);
    json_put_array(w, "spans");
    for (size_t i = 0; i < quick->span_count; i++)
        write_span(w, quick, &quick->spans[i]);
    json_write_array_end(w);
    json_write_object_end(w);
}

/* ---- the task ---- */

static int no_category(struct journal_write *write, struct str name, struct err *err)
{
    struct record_filter filter = { .type = RECORD_CATEGORY, .limit = NAMES_MAX };
    struct arena *arena = journal_arena(write);
    const char *names[NAMES_MAX], *near;
    struct record *found;
    size_t n;
    bool more;

    if (record_list(journal_of(write), &filter, arena, &found, &n, &more, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct str of = record_str(&found[i], "name");

        names[i] = arena_copy(arena, of.p, of.n);
    }
    near = nearest_name(arena_copy(arena, name.p, name.n), names, n);
    if (near)
        return err_set(err, ERR_NOT_FOUND, "there is no category \"%.*s\"; did you mean \"%s\"?",
                       STR_ARG(name), near);
    return err_set(err, ERR_NOT_FOUND, "there is no category \"%.*s\"; make it first",
                   STR_ARG(name));
}

static int find_category(struct journal_write *write, struct str name, struct record *ret_category,
                         struct err *err)
{
    int r = journal_find_name(journal_of(write), RECORD_CATEGORY, name, journal_arena(write),
                              ret_category, err);

    if (r == 0)
        return no_category(write, name, err);
    return r < 0 ? -1 : 0;
}

static void add_str(struct json_object *fields, const char *name, struct str text)
{
    if (text.n > 0)
        json_object_object_add(fields, name, json_object_new_string_len(text.p, (int)text.n));
}

static int make_task(struct journal_write *write, const struct quick *quick,
                     struct record *ret_task, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct record category;

    add_str(fields, "title", quick->title);
    add_str(fields, "notes", quick->notes);
    add_str(fields, "due", str_from(quick->due));
    if (quick->estimate_min > 0)
        json_object_object_add(fields, "estimateMinutes",
                               json_object_new_int64(quick->estimate_min));
    if (quick->priority >= 0)
        json_object_object_add(fields, "priority", json_object_new_int(quick->priority));
    if (quick->category.n > 0) {
        if (find_category(write, quick->category, &category, err) < 0)
            return -1;
        add_str(fields, "categoryId", category.id);
    }
    return journal_create(write, RECORD_TASK, STR_NONE, fields, ret_task, err);
}

static int make_checklist(struct journal_write *write, const struct quick *quick,
                          struct str task_id, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct record list;

    add_str(fields, "taskId", task_id);
    add_str(fields, "title", STR("Checklist"));
    if (journal_create(write, RECORD_CHECKLIST, STR_NONE, fields, &list, err) < 0)
        return -1;
    return checklist_add(write, list.id, quick->items, quick->item_count, NULL, err);
}

int quick_add(struct journal_write *write, const struct quick *quick, struct record *ret_task,
              struct err *err)
{
    struct record task;

    if (make_task(write, quick, &task, err) < 0)
        return -1;
    if (quick->label_count > 0 &&
        task_set_labels(write, task.id, quick->labels, quick->label_count, true, err) < 0)
        return -1;
    if (quick->item_count > 0 && make_checklist(write, quick, task.id, err) < 0)
        return -1;
    if (ret_task)
        *ret_task = task;
    return 0;
}
