/* Making the records of an exported journal again.
 *
 * They keep their ids and times; counter, clock and batch are those of this write. A category or
 * label whose name another one has here is that one: what refers to it is changed on the way. Other
 * references stay as they are, also to what was deleted before the export; only what a record is
 * part of must be there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "journal/import_int.h"
#include "journal/journal_int.h"
#include "journal/moves.h"

/* The category or label that stands here for one of the file: itself, or that of its name. */
static int find_named(struct journal_write *write, const struct import *import,
                      enum record_type type, struct str id, struct str *ret_id, struct err *err)
{
    struct record record;
    int r = record_load(write->journal, type, id, write->arena, &record, err);

    *ret_id = id;
    if (r < 0 || (r > 0 && !record.deleted_at))
        return r < 0 ? -1 : 0;
    for (size_t i = 0; i < import->count; i++) {
        const struct record *whole = import->records[i].whole;

        if (whole->type > type)
            break; /* lists stand in the order of types */
        if (whole->type != type || !str_eq(whole->id, id))
            continue;
        r = record_by_name(write->journal, type, record_str(whole, "name"), write->arena, &record,
                           err);
        if (r > 0)
            *ret_id = record.id;
        return r < 0 ? -1 : 0;
    }
    return 0;
}

static int mend_category(struct journal_write *write, const struct import *import,
                         struct record *record, struct err *err)
{
    struct record_value *value;

    if (record_field_index(record->type, STR("categoryId")) < 0)
        return 0;
    value = record_field_of(record, "categoryId");
    return value->set ? find_named(write, import, RECORD_CATEGORY, value->s, &value->s, err) : 0;
}

static int give_labels(struct journal_write *write, const struct import *import,
                       const struct import_record *from, struct err *err)
{
    struct str *ids = ARENA_NEW_N(write->arena, struct str, from->label_count + 1);

    for (size_t i = 0; i < from->label_count; i++)
        if (find_named(write, import, RECORD_LABEL, from->labels[i], &ids[i], err) < 0)
            return -1;
    return task_set_labels(write, from->id, ids, from->label_count, false, err);
}

/* Its state here: that of itself, or of one that has its name. It takes the place of one that an
 * undone import made. */
static int state_of(struct journal_write *write, struct record *record,
                    struct import_states *states, struct err *err)
{
    struct record old;
    int r = record_load(write->journal, record->type, record->id, write->arena, &old, err);

    if (r > 0) {
        record->n = old.n;
        record->vector_clock = old.vector_clock;
        r = import_state_of(write->journal, states, &old, err);
    }
    if (r == IMPORT_ABSENT && (record->type == RECORD_CATEGORY || record->type == RECORD_LABEL))
        r = record_by_name(write->journal, record->type, record_str(record, "name"), write->arena,
                           &old, err);
    return r;
}

static void count(struct import_result *result, enum record_type type)
{
    result->tasks += type == RECORD_TASK;
    result->categories += type == RECORD_CATEGORY;
    result->others += type != RECORD_TASK && type != RECORD_CATEGORY;
}

int import_restore(struct journal_write *write, const struct import *import,
                   const struct import_record *from, struct import_states *states,
                   struct import_result *result, struct err *err)
{
    struct record record = *from->whole;
    int r = state_of(write, &record, states, err);

    if (r != 0)
        return r;
    if (mend_category(write, import, &record, err) < 0 ||
        record_check_parent(write, &record, err) < 0 || record_complete(write, &record, err) < 0 ||
        record_put_as_it_is(write, &record, NULL, err) < 0)
        return -1;
    count(result, record.type);
    if (record.type == RECORD_TASK && from->label_count)
        return give_labels(write, import, from, err) < 0 ? -1 : 0;
    if (record.type == RECORD_ATTACHMENT)
        return attachment_store(write->journal, record.id, from->content, err);
    if (record.type == RECORD_DAY_PLAN_BLOCK)
        return plan_check_overlaps(write, record_str(&record, "planId"), err);
    return 0;
}
