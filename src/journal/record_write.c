/* Records as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json_put.h"
#include "base/timefmt.h"
#include "journal/record.h"

static void write_time(struct json_writer *w, int64_t ms)
{
    char text[TIMEFMT_SIZE];

    timefmt_rfc3339(ms, text);
    json_write_text(w, text);
}

static void write_value(struct json_writer *w, const struct record_field *field,
                        const struct record_value *value)
{
    switch (field->kind) {
    case FIELD_INT:
        json_write_i64(w, value->i);
        break;
    case FIELD_REAL:
        json_write_double(w, value->f);
        break;
    case FIELD_BOOL:
        json_write_bool(w, value->i != 0);
        break;
    case FIELD_TIME:
        write_time(w, value->i);
        break;
    case FIELD_IDS:
        json_write_raw(w, value->s);
        break;
    case FIELD_LINE:
    case FIELD_TEXT:
    case FIELD_WORD:
    case FIELD_DAY:
    case FIELD_ID:
        json_write_str(w, value->s);
        break;
    }
}

static void write_stamp(struct json_writer *w, const char *key, int64_t ms)
{
    if (ms == 0)
        return;
    json_write_key(w, key);
    write_time(w, ms);
}

void record_write_members(struct json_writer *w, const struct record *record)
{
    size_t n;
    const struct record_field *fields = record_fields(record->type, &n);

    json_put_str(w, "id", record->id);
    for (size_t i = 0; i < n; i++) {
        if (!record->v[i].set)
            continue;
        json_write_key(w, fields[i].name);
        write_value(w, &fields[i], &record->v[i]);
    }
    write_stamp(w, "createdAt", record->created_at);
    write_stamp(w, "updatedAt", record->updated_at);
    write_stamp(w, "deletedAt", record->deleted_at);
}

void record_write(struct json_writer *w, const struct record *record)
{
    json_write_object_begin(w);
    record_write_members(w, record);
    json_write_object_end(w);
}
