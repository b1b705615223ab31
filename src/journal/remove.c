/* Deleting and restoring, with what hangs on a record: checklists of a task, items of a checklist,
 * blocks of a plan, attachments of an entry, a label's place on tasks. Everything that goes along
 * gets the same moment of deletion; restoring brings back what has that moment.
 *
 * SPDX-License-Identifier: MIT
 */
#include "journal/journal_int.h"

/* What goes along with a type; RECORD_NONE: nothing. */
static enum record_type child_type(enum record_type type)
{
    switch (type) {
    case RECORD_TASK:
        return RECORD_CHECKLIST;
    case RECORD_CHECKLIST:
        return RECORD_CHECKLIST_ITEM;
    case RECORD_DAY_PLAN:
        return RECORD_DAY_PLAN_BLOCK;
    case RECORD_ENTRY:
        return RECORD_ATTACHMENT;
    default:
        return RECORD_NONE;
    }
}

/* Deletes what is live (gone), or restores what was deleted at that moment. */
static int turn(struct journal_write *write, struct record *record, bool gone, struct err *err);

static int turn_children(struct journal_write *write, const struct record *parent, bool gone,
                         int64_t deleted_at, struct err *err)
{
    enum record_type type = child_type(parent->type);
    struct record *list;
    size_t n;

    if (type == RECORD_NONE)
        return 0;
    if (record_children(write->journal, type, parent->id, deleted_at, write->arena, &list, &n,
                        err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (turn(write, &list[i], gone, err) < 0)
            return -1;
    }
    return 0;
}

static int turn_labels(struct journal_write *write, struct str label_id, bool gone,
                       int64_t deleted_at, struct err *err)
{
    struct task_label *rows;
    size_t n;

    if (task_labels_load(write->journal, STR_NONE, label_id, write->arena, &rows, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].deleted_at == deleted_at && task_label_put(write, &rows[i], gone, err) < 0)
            return -1;
    }
    return 0;
}

static int turn(struct journal_write *write, struct record *record, bool gone, struct err *err)
{
    struct record before = *record;
    int64_t deleted_at = record->deleted_at;

    record->deleted_at = gone ? write->now : 0;
    if (record_put(write, record, &before, err) < 0 ||
        turn_children(write, record, gone, deleted_at, err) < 0)
        return -1;
    if (record->type == RECORD_LABEL)
        return turn_labels(write, record->id, gone, deleted_at, err);
    return 0;
}

static int load(struct journal_write *write, enum record_type type, struct str id,
                struct record *ret_record, struct err *err)
{
    int r = record_load(write->journal, type, id, write->arena, ret_record, err);

    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no %s \"%.*s\"", record_type_name(type),
                       STR_ARG(str_take(id, RECORD_ID_MAX)));
    return r < 0 ? -1 : 0;
}

static int check_unused(struct journal_write *write, const struct record *category, struct err *err)
{
    int64_t uses;

    if (category_uses(write->journal, category->id, &uses, err) < 0)
        return -1;
    if (uses == 0)
        return 0;
    return err_set(err, ERR_CONFLICT,
                   "category \"%.*s\" is used by %lld record%s; archive it instead"
                   " ({\"archived\": true}), or give them another category first",
                   STR_ARG(record_str(category, "name")), (long long)uses, uses == 1 ? "" : "s");
}

int journal_remove(struct journal_write *write, enum record_type type, struct str id,
                   struct err *err)
{
    struct record record;

    if (load(write, type, id, &record, err) < 0)
        return -1;
    if (record.deleted_at)
        return 0;
    if (type == RECORD_CATEGORY && check_unused(write, &record, err) < 0)
        return -1;
    return turn(write, &record, true, err) < 0 ? -1 : 1;
}

int journal_restore(struct journal_write *write, enum record_type type, struct str id,
                    struct err *err)
{
    struct record record;

    if (load(write, type, id, &record, err) < 0)
        return -1;
    if (!record.deleted_at)
        return 0;
    /* Its parent must be there, its name free, no other timer run. */
    if (record_check_parent(write, &record, err) < 0 || record_complete(write, &record, err) < 0)
        return err_wrap(err, "restore %s %.*s", record_type_name(type), STR_ARG(id));
    if (turn(write, &record, false, err) < 0)
        return -1;
    if (type == RECORD_DAY_PLAN)
        return plan_check_overlaps(write, record.id, err) < 0 ? -1 : 1;
    return plan_check_block(write, &record, err) < 0 ? -1 : 1;
}
