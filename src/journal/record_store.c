/* Rows of records. One statement of each kind per type, made from its table of fields; reading and
 * binding go by the same table, so a new field is one line there and a column in a migration.
 *
 * What has no value is NULL, but for texts (''), days (the last there is, so that they sort last)
 * and lists ('[]').
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/path.h"
#include "base/utf8.h"
#include "journal/list_int.h"
#include "journal/record_store_int.h"

#define NO_DAY   "9999-12-31"
#define FOLD_MAX 4096

/* ---- reading ---- */

static void read_word(struct stmt *q, const char *column, const struct record_field *field,
                      struct record_value *value)
{
    struct str text = field->ordinal ? STR_NONE : stmt_str(q, column);
    int64_t place = field->ordinal ? stmt_i64(q, column) : -1;

    for (int64_t i = 0; field->words[i]; i++) {
        if (i == place || (!field->ordinal && str_is(text, field->words[i])))
            *value = (struct record_value){ .set = true, .i = i, .s = str_from(field->words[i]) };
    }
}

static void read_text(struct stmt *q, const char *column, const char *none, struct arena *arena,
                      struct record_value *value)
{
    struct str text = stmt_str(q, column);

    if (text.p && !str_is(text, none))
        *value = (struct record_value){ .set = true, .s = arena_str(arena, text) };
}

static void read_value(struct stmt *q, const char *column, const struct record_field *field,
                       struct arena *arena, struct record_value *value)
{
    switch (field->kind) {
    case FIELD_WORD:
        read_word(q, column, field, value);
        break;
    case FIELD_REAL:
        if (!stmt_is_null(q, column))
            *value = (struct record_value){ .set = true, .f = stmt_f64(q, column) };
        break;
    case FIELD_INT:
    case FIELD_BOOL:
    case FIELD_TIME:
        if (!stmt_is_null(q, column))
            *value = (struct record_value){ .set = true, .i = stmt_i64(q, column) };
        break;
    case FIELD_DAY:
        read_text(q, column, NO_DAY, arena, value);
        break;
    case FIELD_IDS:
        read_text(q, column, "[]", arena, value);
        break;
    case FIELD_LINE:
    case FIELD_TEXT:
    case FIELD_ID:
        read_text(q, column, "", arena, value);
        break;
    }
}

void record_read(struct stmt *q, enum record_type type, struct arena *arena,
                 struct record *ret_record)
{
    const char *const *columns = record_columns(type);
    size_t n;
    const struct record_field *fields = record_fields(type, &n);

    *ret_record = (struct record){
        .type = type,
        .n = stmt_i64(q, "n"),
        .id = arena_str(arena, stmt_str(q, "id")),
        .created_at = stmt_i64(q, "created_at"),
        .updated_at = stmt_i64(q, "updated_at"),
        .deleted_at = stmt_i64(q, "deleted_at"),
        .counter = stmt_i64(q, "counter"),
        .vector_clock = arena_str(arena, stmt_str(q, "vector_clock")),
        .provenance = arena_str(arena, stmt_str(q, "provenance")),
    };
    for (size_t i = 0; i < n; i++)
        read_value(q, columns[i], &fields[i], arena, &ret_record->v[i]);
}

int record_read_all(struct stmt *q, enum record_type type, struct arena *arena,
                    struct record **ret_records, size_t *ret_count, struct err *err)
{
    struct record *records = NULL;
    size_t count = 0, room = 0;
    int r;

    while ((r = stmt_step(q, err)) == 1) {
        ARENA_ROOM(arena, records, count, room);
        record_read(q, type, arena, &records[count++]);
    }
    if (r < 0)
        return -1;
    *ret_records = records;
    *ret_count = count;
    return 0;
}

/* ---- one record ---- */

#define MARK(...)              "?, "
#define SET(name, column, ...) #column " = ?, "
#define DERIVED(column)        #column ", "
#define DERIVED_MARK(column)   "?, "
#define DERIVED_SET(column)    #column " = ?, "

static const struct {
    struct sql get, set, insert, update;
} statements[] = { [RECORD_NONE] = { { NULL }, { NULL }, { NULL }, { NULL } },
#define X(id, name, key)                                                                           \
    [RECORD_##id] = {                                                                              \
        { RECORD_SELECT(id) "WHERE id = ?" },                                                      \
        { RECORD_SELECT(id) "WHERE id IN " MARKS },                                                \
        { "INSERT INTO " id##_TABLE " (" id##_FIELDS(RECORD_COLUMN)                                \
              id##_DERIVED(DERIVED) "created_at, updated_at, deleted_at, vector_clock, host_n, "   \
                                    "counter, provenance, id) VALUES (" id##_FIELDS(MARK)          \
                                        id##_DERIVED(DERIVED_MARK) "?, ?, ?, ?, ?, ?, ?, ?)"       \
                                                                   " RETURNING n" },               \
        { "UPDATE " id##_TABLE " SET " id##_FIELDS(SET)                                            \
              id##_DERIVED(DERIVED_SET) "created_at = ?, updated_at = ?, deleted_at = ?, "         \
                                        "vector_clock = ?, host_n = ?,"                            \
                                        " counter = ?, provenance = ? WHERE id = ?" },             \
    },
                   RECORD_TYPES(X)
#undef X
};

int record_load(struct journal *journal, enum record_type type, struct str id, struct arena *arena,
                struct record *ret_record, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (!record_id_valid(id)) /* nothing has such a one */
        return 0;
    if (db_prepare(domain_db(journal->domain), statements[type].get, &q, err) < 0)
        return -1;
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r == 1)
        record_read(q, type, arena, ret_record);
    return r;
}

int record_load_set(struct journal *journal, enum record_type type, const struct str *ids, size_t n,
                    struct arena *arena, struct record **ret_records, size_t *ret_count,
                    struct err *err)
{
    AUTO(stmt) q = NULL;

    BUG_IF(n > SET_MAX);
    if (db_prepare(domain_db(journal->domain), statements[type].set, &q, err) < 0)
        return -1;
    for (size_t i = 0; i < SET_MAX; i++) /* an id that can't be is looked for as none */
        stmt_bind_str(q, i < n && record_id_valid(ids[i]) ? ids[i] : STR(""));
    return record_read_all(q, type, arena, ret_records, ret_count, err);
}

static void bind_text(struct stmt *q, const struct record_value *value, const char *none)
{
    if (value->set)
        stmt_bind_str(q, value->s);
    else
        stmt_bind_text(q, none);
}

static void bind_value(struct stmt *q, const struct record_field *field,
                       const struct record_value *value)
{
    switch (field->kind) {
    case FIELD_LINE:
    case FIELD_TEXT:
        bind_text(q, value, "");
        break;
    case FIELD_DAY:
        bind_text(q, value, NO_DAY);
        break;
    case FIELD_IDS:
        bind_text(q, value, "[]");
        break;
    case FIELD_ID:
        bind_text(q, value, NULL);
        break;
    case FIELD_WORD:
        if (field->ordinal)
            stmt_bind_i64(q, value->i);
        else
            bind_text(q, value, NULL);
        break;
    case FIELD_REAL:
        value->set ? stmt_bind_f64(q, value->f) : stmt_bind_null(q);
        break;
    case FIELD_INT:
    case FIELD_BOOL:
    case FIELD_TIME:
        value->set ? stmt_bind_i64(q, value->i) : stmt_bind_null(q);
        break;
    }
}

struct str name_fold(struct str name, struct arena *arena)
{
    AUTO_BUF folded = BUF_INIT(FOLD_MAX);

    /* Names are valid and short; whatever does not fold is compared as it is. */
    if (path_fold(name, &folded) < 0)
        return name;
    return arena_str(arena, buf_str(&folded));
}

static void bind_derived(struct stmt *q, const struct record *record, struct arena *arena)
{
    if (record->type == RECORD_TASK)
        stmt_bind_i64(q, task_status_is_closed(record_str(record, "status")));
    else if (record->type == RECORD_CATEGORY || record->type == RECORD_LABEL)
        stmt_bind_str(q, name_fold(record_str(record, "name"), arena));
}

static void bind_record(struct stmt *q, struct journal *journal, const struct record *record,
                        struct arena *arena)
{
    size_t n;
    const struct record_field *fields = record_fields(record->type, &n);

    for (size_t i = 0; i < n; i++)
        bind_value(q, &fields[i], &record->v[i]);
    bind_derived(q, record, arena);
    stmt_bind_i64(q, record->created_at);
    stmt_bind_i64(q, record->updated_at);
    stmt_bind_some_i64(q, record->deleted_at);
    stmt_bind_str(q, record->vector_clock);
    stmt_bind_i64(q, change_host_in(journal->change, journal->domain));
    stmt_bind_i64(q, record->counter);
    stmt_bind_some_str(q, record->provenance);
    stmt_bind_str(q, record->id);
}

int record_insert(struct journal *journal, struct record *record, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(journal->domain), statements[record->type].insert, &q, err) < 0)
        return -1;
    bind_record(q, journal, record, &arena);
    if (stmt_step(q, err) != 1)
        return -1;
    record->n = stmt_i64(q, "n");
    return 0;
}

int record_update(struct journal *journal, const struct record *record, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(journal->domain), statements[record->type].update, &q, err) < 0)
        return -1;
    bind_record(q, journal, record, &arena);
    return stmt_run(q, err);
}

/* ---- those that belong together ---- */

#define CHILDREN(id, parent, order)                                                                \
    [RECORD_##id] = {                                                                              \
        { RECORD_SELECT(id) "WHERE " parent " = ? AND deleted_at IS NULL ORDER BY " order },       \
        { RECORD_SELECT(id) "WHERE " parent " = ? AND deleted_at = ? ORDER BY " order },           \
    }
static const struct {
    struct sql live, deleted;
} children[RECORD_TYPES_END] = {
    CHILDREN(CHECKLIST, "task_id", "position, n"),
    CHILDREN(CHECKLIST_ITEM, "checklist_id", "position, n"),
    CHILDREN(DAY_PLAN_BLOCK, "plan_id", "start_at, n"),
    CHILDREN(ATTACHMENT, "entry_id", "n"),
};

int record_children(struct journal *journal, enum record_type type, struct str parent,
                    int64_t deleted_at, struct arena *arena, struct record **ret_records,
                    size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(journal->domain),
                   deleted_at ? children[type].deleted : children[type].live, &q, err) < 0)
        return -1;
    stmt_bind_str(q, parent);
    if (deleted_at)
        stmt_bind_i64(q, deleted_at);
    return record_read_all(q, type, arena, ret_records, ret_count, err);
}

int record_by_name(struct journal *journal, enum record_type type, struct str name,
                   struct arena *arena, struct record *ret_record, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (!utf8_valid(name) || memchr(name.p ? name.p : "", 0, name.n))
        return 0;
    if (db_prepare(domain_db(journal->domain),
                   type == RECORD_LABEL
                       ? SQL(RECORD_SELECT(LABEL) "WHERE folded = ? AND deleted_at IS NULL"
                                                  " ORDER BY n LIMIT 1")
                       : SQL(RECORD_SELECT(CATEGORY) "WHERE folded = ? AND deleted_at IS NULL"
                                                     " ORDER BY n LIMIT 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, name_fold(str_trim(name), arena));
    r = stmt_step(q, err);
    if (r == 1)
        record_read(q, type, arena, ret_record);
    return r;
}

int record_next_position(struct journal *journal, enum record_type type, struct str parent,
                         int64_t *ret_position, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(journal->domain),
                   type == RECORD_CHECKLIST
                       ? SQL("SELECT coalesce(max(position), -1) + 1 AS position FROM checklists"
                             " WHERE task_id = ? AND deleted_at IS NULL")
                       : SQL("SELECT coalesce(max(position), -1) + 1 AS position"
                             " FROM checklist_items WHERE checklist_id = ? AND deleted_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, parent);
    if (stmt_step(q, err) != 1)
        return -1;
    *ret_position = stmt_i64(q, "position");
    return 0;
}

int category_uses(struct journal *journal, struct str id, int64_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(
            domain_db(journal->domain),
            SQL("SELECT (SELECT count(*) FROM tasks WHERE category_id = ? AND deleted_at IS NULL)"
                " + (SELECT count(*) FROM time_entries WHERE category_id = ? AND deleted_at IS "
                "NULL)"
                " + (SELECT count(*) FROM day_plan_blocks WHERE category_id = ?"
                " AND deleted_at IS NULL)"
                " + (SELECT count(*) FROM ratings WHERE category_id = ? AND deleted_at IS NULL)"
                " + (SELECT count(*) FROM entries WHERE category_id = ? AND deleted_at IS NULL)"
                " AS uses"),
            &q, err) < 0)
        return -1;
    for (int i = 0; i < 5; i++)
        stmt_bind_str(q, id);
    if (stmt_step(q, err) != 1)
        return -1;
    *ret_count = stmt_i64(q, "uses");
    return 0;
}

int other_running(struct journal *journal, struct str id, struct arena *arena,
                  struct record *ret_entry, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(journal->domain),
                   SQL(RECORD_SELECT(TIME_ENTRY) "WHERE ended_at IS NULL AND deleted_at IS NULL"
                                                 " AND id <> ? ORDER BY started_at DESC LIMIT 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r == 1)
        record_read(q, RECORD_TIME_ENTRY, arena, ret_entry);
    return r;
}
