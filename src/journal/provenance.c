/* Where the texts of records came from, field by field.
 *
 *   provenance = {"title": "import:work.ics", "notes": "mail:ann@example.org (12 Nov)"}
 *
 * A text that a write leaves alone keeps what it has, whoever writes beside it. A text that is
 * written anew has the writer's; it keeps the old one's too as long as it holds words of the old
 * text (taint_stays). So the person's own words take a stranger's away, and a correction does not.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "change/taint.h"
#include "journal/journal_int.h"

/* Can it hold somebody's words? */
static bool is_text(const struct record_field *field)
{
    return field->kind == FIELD_TEXT ||
           (field->kind == FIELD_LINE &&
            (field->form == FORM_ANY || field->form == FORM_FILE_NAME));
}

struct str record_taint(const struct record *record, struct arena *arena)
{
    struct str taint = STR_NONE;
    struct json_object_iter at;
    AUTO_JSON kept = NULL;

    if (!record->provenance.n || json_parse(record->provenance, &kept, NULL) < 0)
        return record->provenance.n ? str_from(taint_kind_name(TAINT_OTHER)) : STR_NONE;
    json_object_object_foreachC(kept, at)
    {
        taint = taint_join(taint, arena_str(arena, json_str(at.val)), arena);
    }
    return taint;
}

void journal_copies(struct journal_write *write, const struct record *from)
{
    write->copied = from ? record_taint(from, write->arena) : STR_NONE;
}

/* Of one text after the write. kept: of before. */
static struct str field_taint(const struct journal_write *write, const struct record_value *now,
                              const struct record_value *before, struct str kept)
{
    struct str own;

    if (!now->set)
        return STR_NONE;
    if (before && before->set && str_eq(before->s, now->s))
        return kept;
    own = taint_join(write->author.taint, write->copied, write->arena);
    if (kept.n && taint_stays(before->s, now->s))
        own = taint_join(own, kept, write->arena);
    return own;
}

void record_set_provenance(struct journal_write *write, struct record *record,
                           const struct record *before)
{
    AUTO_BUF out = BUF_INIT(RECORD_FIELDS_MAX * (TAINT_MAX + 64));
    struct json_writer w = JSON_WRITER(&out);
    AUTO_JSON kept = NULL;
    size_t n, some = 0;
    const struct record_field *fields = record_fields(record->type, &n);

    record->provenance = STR_NONE;
    if (before && before->provenance.n)
        json_parse(before->provenance, &kept, NULL);
    if (!kept && !write->author.taint.n && !write->copied.n)
        return;
    json_write_object_begin(&w);
    for (size_t i = 0; i < n; i++) {
        struct str taint = is_text(&fields[i])
                               ? field_taint(write, &record->v[i], before ? &before->v[i] : NULL,
                                             json_str(json_find(kept, fields[i].name)))
                               : STR_NONE;

        if (taint.n)
            json_put_str(&w, fields[i].name, taint);
        some += taint.n > 0;
    }
    json_write_object_end(&w);
    if (some)
        record->provenance = arena_str(write->arena, buf_str(&out));
}
