/* The types of records: their names and their fields.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "journal/fields_int.h"
#include "journal/journal_int.h"

static const char *const names[] = { [RECORD_NONE] = "none",
#define X(id, name, key) [RECORD_##id] = (name),
                                     RECORD_TYPES(X)
#undef X
};

const char *record_type_name(enum record_type type)
{
    return names[type];
}

const char *record_type_a(enum record_type type)
{
    static const char *const with_article[] = { [RECORD_NONE] = "nothing",
#define X(id, name, key) [RECORD_##id] = "a " name,
                                                RECORD_TYPES(X)
#undef X
    };

    return type == RECORD_ENTRY        ? "an entry"
           : type == RECORD_ATTACHMENT ? "an attachment"
           : type == RECORD_ENTRY_LINK ? "an entryLink"
                                       : with_article[type];
}

const char *record_list_name(enum record_type type)
{
    static const char *const lists[] = {
        [RECORD_NONE] = "none",
        [RECORD_CATEGORY] = "categories",
        [RECORD_LABEL] = "labels",
        [RECORD_TASK] = "tasks",
        [RECORD_CHECKLIST] = "checklists",
        [RECORD_CHECKLIST_ITEM] = "checklistItems",
        [RECORD_TIME_ENTRY] = "timeEntries",
        [RECORD_DAY_PLAN] = "dayPlans",
        [RECORD_DAY_PLAN_BLOCK] = "dayPlanBlocks",
        [RECORD_RATING] = "ratings",
        [RECORD_ENTRY] = "entries",
        [RECORD_ATTACHMENT] = "attachments",
        [RECORD_ENTRY_LINK] = "entryLinks",
    };

    return lists[type];
}

enum record_type record_type_of(struct str name)
{
    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++) {
        if (str_is(name, names[type]))
            return (enum record_type)type;
    }
    return RECORD_NONE;
}

/* ---- words ---- */

const char *const task_statuses[] = { "OPEN",    "GROOMED", "IN_PROGRESS", "BLOCKED",
                                      "ON_HOLD", "DONE",    "REJECTED",    NULL };
static const char *const task_priorities[] = { "P0", "P1", "P2", "P3", NULL };
static const char *const rating_targets[] = { "task", "timeEntry", "dayPlan", "entry", NULL };
static const char *const entry_kinds[] = { "note", "workout", "audio", "measurement", NULL };
static const char *const link_relations[] = { "about",  "follow_up", "source",
                                              "report", "related",   NULL };

bool task_status_is_closed(struct str status)
{
    return str_is(status, "DONE") || str_is(status, "REJECTED");
}

/* ---- fields ---- */

#define FIELD(name_, column_, kind_, ...) { .name = (name_), .kind = (kind_), __VA_ARGS__ },
#define COLUMN(name_, column_, ...)       #column_,
#define X(id, name_, key)                                                                          \
    static const struct record_field fields_##id[] = { id##_FIELDS(FIELD) };                       \
    static const char *const columns_##id[] = { id##_FIELDS(COLUMN) };                             \
    _Static_assert(ARRAY_LEN(fields_##id) <= RECORD_FIELDS_MAX, "a record holds them all");
RECORD_TYPES(X)
#undef X

static const struct {
    const struct record_field *fields;
    const char *const *columns;
    size_t count;
} tables[] = { [RECORD_NONE] = { NULL, NULL, 0 },
#define X(id, name_, key) [RECORD_##id] = { fields_##id, columns_##id, ARRAY_LEN(fields_##id) },
               RECORD_TYPES(X)
#undef X
};

const struct record_field *record_fields(enum record_type type, size_t *ret_count)
{
    *ret_count = tables[type].count;
    return tables[type].fields;
}

const char *const *record_columns(enum record_type type)
{
    return tables[type].columns;
}

int record_field_index(enum record_type type, struct str name)
{
    for (size_t i = 0; i < tables[type].count; i++) {
        if (str_is(name, tables[type].fields[i].name))
            return (int)i;
    }
    return -1;
}

/* ---- values of records ---- */

const struct record_value *record_get(const struct record *record, const char *field)
{
    int i = record_field_index(record->type, str_from(field));

    if (i < 0)
        BUG("a %s has no field %s", record_type_name(record->type), field);
    return &record->v[i];
}

struct str record_str(const struct record *record, const char *field)
{
    return record_get(record, field)->s;
}

int64_t record_i64(const struct record *record, const char *field)
{
    return record_get(record, field)->i;
}

struct record_value *record_field_of(struct record *record, const char *name)
{
    int i = record_field_index(record->type, str_from(name));

    BUG_IF(i < 0);
    return &record->v[i];
}
