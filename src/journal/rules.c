/* Rules that look at more than one field, or at other records.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/hash.h"
#include "base/json.h"
#include "journal/journal_int.h"

/* ---- ids that follow from what a record says ---- */

static struct str hashed(struct arena *arena, const char *text)
{
    char id[SHA256_TEXT_SIZE];

    sha256_text(str_from(text), id);
    return arena_str(arena, str_from(id));
}

struct str record_derived_id(const struct record *record, struct arena *arena)
{
#define F(name) STR_ARG(record_str(record, name))
    if (record->type == RECORD_DAY_PLAN)
        return str_from(arena_printf(arena, "dayplan-%.*s", F("planDate")));
    if (record->type == RECORD_RATING)
        return hashed(arena, arena_printf(arena, "rating|v1|%.*s|%.*s|%.*s", F("targetType"),
                                          F("targetId"), F("dimension")));
    if (record->type == RECORD_ENTRY_LINK)
        return hashed(arena, arena_printf(arena, "link|v1|%.*s|%.*s:%.*s|%.*s:%.*s", F("relation"),
                                          F("fromType"), F("fromId"), F("toType"), F("toId")));
    return STR_NONE;
#undef F
}

/* ---- what follows from other fields ---- */

static void complete_task(struct journal_write *write, struct record *task)
{
    bool closed = task_status_is_closed(record_str(task, "status"));
    struct record_value *closed_at = record_field_of(task, "closedAt");

    if (closed && !closed_at->set)
        *closed_at = (struct record_value){ .set = true, .i = write->now };
    else if (!closed)
        *closed_at = (struct record_value){ .set = false };
}

/* At the end of its list, unless it says where. */
static int complete_position(struct journal_write *write, struct record *record, const char *parent,
                             struct err *err)
{
    struct record_value *position = record_field_of(record, "position");

    if (position->i >= 0)
        return 0;
    position->i = 0;
    if (record_str(record, parent).n == 0)
        return 0;
    return record_next_position(write->journal, record->type, record_str(record, parent),
                                &position->i, err);
}

static int complete_name(struct journal_write *write, const struct record *record, struct err *err)
{
    struct record same;
    struct str name = record_str(record, "name");
    int r = record_by_name(write->journal, record->type, name, write->arena, &same, err);

    if (r == 1 && !str_eq(same.id, record->id))
        return err_set(err, ERR_CONFLICT, "/name: there is %s \"%.*s\" already: %.*s",
                       record_type_a(record->type), STR_ARG(record_str(&same, "name")),
                       STR_ARG(same.id));
    return r < 0 ? -1 : 0;
}

static int complete_time(struct journal_write *write, const struct record *entry, struct err *err)
{
    const struct record_value *ended = record_get(entry, "endedAt");
    struct record other;
    int r;

    if (ended->set && ended->i < record_i64(entry, "startedAt"))
        return err_set(err, ERR_SCHEMA_VIOLATION, "/endedAt: lies before startedAt");
    if (ended->set)
        return 0;
    r = other_running(write->journal, entry->id, write->arena, &other, err);
    if (r == 1)
        return err_set(err, ERR_CONFLICT, "/endedAt: the timer %.*s runs already; stop it first",
                       STR_ARG(other.id));
    return r;
}

static bool has_text(const struct record *record, const char *field)
{
    return str_trim(record_str(record, field)).n > 0;
}

int record_check_sense(const struct record *record, struct err *err)
{
    struct str kind;

    if (record->type == RECORD_ENTRY_LINK &&
        str_eq(record_str(record, "fromId"), record_str(record, "toId")) &&
        str_eq(record_str(record, "fromType"), record_str(record, "toType")))
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/toId: is the same as fromId; nothing is linked to itself");
    if (record->type != RECORD_ENTRY)
        return 0;
    kind = record_str(record, "kind");
    if (str_is(kind, "measurement") && !record_get(record, "value")->set)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/value: is missing; a measurement has one");
    if (str_is(kind, "note") && !has_text(record, "body") && !has_text(record, "title") &&
        !record_get(record, "subtype")->set)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/body: is empty; a note says something");
    return 0;
}

int record_complete(struct journal_write *write, struct record *record, struct err *err)
{
    switch (record->type) {
    case RECORD_CATEGORY:
    case RECORD_LABEL:
        return complete_name(write, record, err);
    case RECORD_TASK:
        complete_task(write, record);
        return 0;
    case RECORD_CHECKLIST:
        return complete_position(write, record, "taskId", err);
    case RECORD_CHECKLIST_ITEM:
        return complete_position(write, record, "checklistId", err);
    case RECORD_TIME_ENTRY:
        return complete_time(write, record, err);
    case RECORD_DAY_PLAN_BLOCK:
        if (record_i64(record, "endTime") <= record_i64(record, "startTime"))
            return err_set(err, ERR_SCHEMA_VIOLATION, "/endTime: does not lie after startTime");
        return 0;
    case RECORD_RATING:
        return rating_keep_in_day(write, record, err);
    default:
        return 0;
    }
}

/* ---- references ---- */

static int check_ref(struct journal_write *write, const char *field, enum record_type type,
                     struct str id, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct record found;
    int r = record_load(write->journal, type, id, &arena, &found, err);

    if (r < 0)
        return -1;
    if (r == 0 || found.deleted_at)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/%s: there is no %s \"%.*s\"%s", field,
                       record_type_name(type), STR_ARG(id), r ? "; it was deleted" : "");
    return 0;
}

static int check_refs_of_list(struct journal_write *write, const struct record_field *field,
                              struct str list, struct err *err)
{
    AUTO_JSON ids = NULL;

    if (json_parse(list, &ids, err) < 0)
        return -1;
    for (size_t i = 0; i < json_length(ids); i++) {
        if (check_ref(write, field->name, field->ref, json_str(json_object_array_get_idx(ids, i)),
                      err) < 0)
            return -1;
    }
    return 0;
}

/* Of what lies outside of the journal only an agent's report is linked; whether it is there only
 * the agents' domain knows. */
static int check_link_end(const char *field, struct str name, enum record_type type,
                          struct err *err)
{
    AUTO_BUF names = BUF_INIT(1024);

    if (type != RECORD_NONE || str_is(name, RECORD_LINK_REPORT))
        return 0;
    for (int i = RECORD_NONE + 1; i < RECORD_TYPES_END; i++)
        buf_printf(&names, "%s, ", record_type_name((enum record_type)i));
    return err_set(err, ERR_SCHEMA_VIOLATION, "/%s: \"%.*s\" is none of %s" RECORD_LINK_REPORT,
                   field, STR_ARG(name), buf_text(&names));
}

/* The type of an id that may be of any stands in another field. */
static int type_beside(const struct record *record, const char *field, enum record_type *ret_type,
                       struct err *err)
{
    const char *beside = strcmp(field, "targetId") == 0 ? "targetType"
                         : strcmp(field, "fromId") == 0 ? "fromType"
                                                        : "toType";
    struct str name = record_str(record, beside);

    *ret_type = record_type_of(name);
    return record->type == RECORD_ENTRY_LINK ? check_link_end(beside, name, *ret_type, err) : 0;
}

int record_check_parent(struct journal_write *write, const struct record *record, struct err *err)
{
    size_t n;
    const struct record_field *fields = record_fields(record->type, &n);

    for (size_t i = 0; i < n; i++) {
        const struct record_field *field = &fields[i];
        bool parent = field->kind == FIELD_ID && field->ref != RECORD_NONE &&
                      (field->required || record->type == RECORD_CHECKLIST);

        if (parent && record->v[i].set &&
            check_ref(write, field->name, field->ref, record->v[i].s, err) < 0)
            return -1;
    }
    return 0;
}

static int check_field(struct journal_write *write, const struct record *record,
                       const struct record_field *field, const struct record_value *value,
                       struct err *err)
{
    enum record_type type = field->ref;

    if (field->kind == FIELD_IDS)
        return check_refs_of_list(write, field, value->s, err);
    if (field->kind != FIELD_ID)
        return 0;
    if (type == RECORD_NONE && type_beside(record, field->name, &type, err) < 0)
        return -1;
    return type == RECORD_NONE ? 0 : check_ref(write, field->name, type, value->s, err);
}

int record_check_refs(struct journal_write *write, const struct record *record,
                      const struct record *before, struct err *err)
{
    size_t n;
    const struct record_field *fields = record_fields(record->type, &n);

    for (size_t i = 0; i < n; i++) {
        const struct record_value *value = &record->v[i];

        if (!value->set || (before && record_value_eq(value, &before->v[i])))
            continue;
        if (check_field(write, record, &fields[i], value, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- blocks of a plan ---- */

int plan_check_overlaps(struct journal_write *write, struct str plan_id, struct err *err)
{
    struct record *blocks;
    size_t n;

    if (record_children(write->journal, RECORD_DAY_PLAN_BLOCK, plan_id, 0, write->arena, &blocks,
                        &n, err) < 0)
        return -1;
    for (size_t i = 1; i < n; i++) {
        char begin[JOURNAL_CLOCK_SIZE], end[JOURNAL_CLOCK_SIZE];

        if (record_i64(&blocks[i], "startTime") >= record_i64(&blocks[i - 1], "endTime"))
            continue;
        journal_clock_at(write->journal, record_i64(&blocks[i], "startTime"), begin);
        journal_clock_at(write->journal, record_i64(&blocks[i - 1], "endTime"), end);
        return err_set(err, ERR_CONFLICT,
                       "/startTime: the block of %s would begin before the block before it ends, "
                       "at %s",
                       begin + 11, end + 11);
    }
    return 0;
}

int plan_check_in_day(struct journal_write *write, const struct record *block, struct err *err)
{
    struct record plan;
    struct str day;
    int64_t from, to;

    if (record_need(write->journal, RECORD_DAY_PLAN, record_str(block, "planId"), write->arena,
                    &plan, err) < 0)
        return -1;
    day = record_str(&plan, "planDate");
    if (journal_day_span(write->journal, day, &from, &to, err) < 0)
        return -1;
    if (record_i64(block, "startTime") < from || record_i64(block, "endTime") > to)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/%s: lies outside of %.*s",
                       record_i64(block, "startTime") < from ? "startTime" : "endTime",
                       STR_ARG(day));
    return 0;
}

int plan_check_block(struct journal_write *write, const struct record *block, struct err *err)
{
    if (block->type != RECORD_DAY_PLAN_BLOCK)
        return 0;
    if (plan_check_in_day(write, block, err) < 0)
        return -1;
    return plan_check_overlaps(write, record_str(block, "planId"), err);
}
