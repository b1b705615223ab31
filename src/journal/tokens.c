/* What a write is about, for those who wait for changes: the semantic key of the record, its id,
 * what it belongs to, and subtypes that can be waited for.
 *
 * SPDX-License-Identifier: MIT
 */
#include "journal/journal_int.h"

static const char *const keys[] = {
#define X(id, name, key) [RECORD_##id] = (key),
    RECORD_TYPES(X)
#undef X
};

static const char *semantic_key(const struct record *record)
{
    struct str kind;

    if (record->type != RECORD_ENTRY)
        return keys[record->type];
    kind = record_str(record, "kind");
    if (str_is(kind, "workout"))
        return "WORKOUT";
    return str_is(kind, "audio") ? "AUDIO" : "NOTE";
}

static void add_subtype(struct change_batch *batch, const char *name_space, struct str value)
{
    if (value.n > 0)
        change_batch_subtype(batch, name_space, value);
}

static void add_subtypes(struct change_batch *batch, const struct record *record)
{
    if (record->type == RECORD_TASK) {
        add_subtype(batch, "taskStatus", record_str(record, "status"));
    } else if (record->type == RECORD_ENTRY) {
        if (str_is(record_str(record, "kind"), "workout"))
            add_subtype(batch, "workoutType", record_str(record, "subtype"));
        if (str_is(record_str(record, "kind"), "measurement"))
            add_subtype(batch, "measurementType", record_str(record, "subtype"));
    }
    if (record_field_index(record->type, STR("categoryId")) >= 0)
        add_subtype(batch, "categoryId", record_str(record, "categoryId"));
}

/* The task, list, plan, entry or target that it belongs to. */
static void add_parents(struct change_batch *batch, const struct record *record)
{
    static const char *const parents[] = { "taskId",   "checklistId", "planId", "entryId",
                                           "targetId", "fromId",      "toId" };

    for (size_t i = 0; i < ARRAY_LEN(parents); i++) {
        if (record_field_index(record->type, str_from(parents[i])) < 0)
            continue;
        if (record_str(record, parents[i]).n > 0)
            change_batch_id(batch, record_str(record, parents[i]));
    }
}

void batch_add_record(struct journal_write *write, const struct record *record,
                      const struct record *before, int64_t counter)
{
    struct change_batch *batch = &write->batch;

    change_batch_unit(batch, write->journal->change, counter,
                      str_from(record_type_name(record->type)), record->id);
    change_batch_key(batch, semantic_key(record));
    add_subtypes(batch, record);
    add_parents(batch, record);
    if (!before)
        return;
    /* Who watches a category, list or task also learns that something has left it. */
    add_parents(batch, before);
    if (record_field_index(record->type, STR("categoryId")) >= 0)
        add_subtype(batch, "categoryId", record_str(before, "categoryId"));
}
