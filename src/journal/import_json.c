/* A journal that was exported as JSON, to be read again: every record as it was, with its id, its
 * times and its place.
 *
 * A record goes by the table of fields as everything does that writes records; besides, it says
 * what the journal sets itself elsewhere (createdAt, updatedAt, closedAt). Problems have no line:
 * they name their place in the file (/tasks/3/due). An attachment without its content is left out,
 * and counted: that is how an export is made that does without them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json_object.h>
#include <json-c/linkhash.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/timefmt.h"
#include "journal/import_int.h"
#include "journal/journal_int.h"
#include "journal/moves.h"

#define FORMAT  "dormouse-journal"
#define VERSION 1

/* One object of the file on its way into a record. */
struct reader {
    struct import *import;
    enum record_type type;
    size_t at; /* in its list */
    struct json_object *object;
    struct record *record;
    struct import_record out;
    struct err *err; /* of the whole file */
};

static bool refuse(struct reader *r, const char *text)
{
    import_problem(r->import, 0, "/%s/%zu%s%s", record_list_name(r->type), r->at,
                   text[0] == '/' ? "" : ": ", text);
    return false;
}

/* ---- what the journal sets itself ---- */

/* Takes the member out of the object: it is no field that may be given. */
static struct json_object *take(struct reader *r, const char *key)
{
    struct json_object *value = json_object_get(json_find(r->object, key));

    json_object_object_del(r->object, key);
    return value;
}

static bool take_time(struct reader *r, const char *key, bool needed, int64_t *ret_ms)
{
    AUTO_JSON value = take(r, key);

    *ret_ms = 0;
    if (!value && !needed)
        return true;
    if (timefmt_parse(json_str(value), ret_ms, NULL) < 0 || *ret_ms <= 0)
        return refuse(
            r, arena_printf(r->import->arena, "/%s: is no time (RFC 3339, after 1970)", key));
    return true;
}

static bool take_stamps(struct reader *r)
{
    AUTO_JSON id = take(r, "id");
    int64_t closed = 0;

    if (!record_id_valid(json_str(id)))
        return refuse(r, "/id: is no id; one has 1 to 100 letters, digits, '-', '_' and '.'");
    r->record->id = arena_str(r->import->arena, json_str(id));
    if (!take_time(r, "createdAt", true, &r->record->created_at) ||
        !take_time(r, "updatedAt", true, &r->record->updated_at))
        return false;
    if (r->type != RECORD_TASK)
        return true;
    if (!take_time(r, "closedAt", false, &closed))
        return false;
    if (closed)
        *record_field_of(r->record, "closedAt") = (struct record_value){ .set = true, .i = closed };
    return true;
}

static bool take_labels(struct reader *r)
{
    AUTO_JSON list = take(r, "labelIds");
    size_t n = json_object_is_type(list, json_type_array) ? json_length(list) : 0;

    if ((list && !json_object_is_type(list, json_type_array)) || n > TASK_LABELS_MAX)
        return refuse(r, arena_printf(r->import->arena, "/labelIds: is no list of at most %d ids",
                                      TASK_LABELS_MAX));
    r->out.labels = ARENA_NEW_N(r->import->arena, struct str, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct str id = json_str(json_object_array_get_idx(list, i));

        if (!record_id_valid(id))
            return refuse(r, arena_printf(r->import->arena, "/labelIds/%zu: is no id", i));
        r->out.labels[r->out.label_count++] = arena_str(r->import->arena, id);
    }
    return true;
}

/* ---- bytes of attachments ---- */

static int digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Groups of four with their padding, as export writes it; false: it is none. */
static bool read_base64(struct str text, struct arena *arena, struct str *ret_bytes)
{
    char *out = arena_alloc(arena, text.n / 4 * 3 + 1, 1);
    size_t n = 0;

    if (text.n % 4)
        return false;
    for (size_t i = 0; i < text.n; i += 4) {
        size_t pads = i + 4 < text.n ? 0 : (text.p[i + 3] == '=') + (text.p[i + 2] == '=');
        unsigned word = 0;

        for (size_t k = 0; k < 4; k++) {
            int value = k < 4 - pads ? digit(text.p[i + k]) : 0;

            if (value < 0)
                return false;
            word = word << 6 | (unsigned)value;
        }
        for (size_t k = 0; k < 3 - pads; k++)
            out[n++] = (char)(word >> (16 - 8 * k) & 0xff);
    }
    *ret_bytes = str_of(out, n);
    return true;
}

static bool take_content(struct reader *r)
{
    AUTO_JSON content = take(r, "content");
    AUTO_JSON sha256 = take(r, "sha256");
    char hash[SHA256_TEXT_SIZE];

    struct str name = json_str(json_find(r->object, "fileName"));

    json_object_object_del(r->object, "size"); /* it follows from the content */
    if (attachment_name(name).n)               /* older versions kept folders */
        json_object_object_add(
            r->object, "fileName",
            json_object_new_string_len(attachment_name(name).p, (int)attachment_name(name).n));
    if (!content) {
        r->import->left_out++;
        return false;
    }
    if (!json_object_is_type(content, json_type_string) ||
        !read_base64(json_str(content), r->import->arena, &r->out.content))
        return refuse(r, "/content: is no base64");
    sha256_text(r->out.content, hash);
    if (!str_is(json_str(sha256), hash))
        return refuse(r, "/sha256: is not that of the content");
    *record_field_of(r->record, "sha256") =
        (struct record_value){ .set = true, .s = arena_str(r->import->arena, str_from(hash)) };
    *record_field_of(r->record, "size") =
        (struct record_value){ .set = true, .i = (int64_t)r->out.content.n };
    return true;
}

/* ---- records ---- */

static bool take_fields(struct reader *r)
{
    struct err err = ERR_INIT;
    struct str derived;

    if (record_apply(r->record, r->object, r->import->arena, &err) < 0 ||
        record_check_required(r->record, &err) < 0)
        return refuse(r, err_message(&err, 0));
    derived = record_derived_id(r->record, r->import->arena);
    if (derived.n > 0 && !str_eq(derived, r->record->id))
        return refuse(r, arena_printf(r->import->arena, "/id: that of this %s is %.*s",
                                      record_type_name(r->type), STR_ARG(derived)));
    return true;
}

/* What a preview shows. */
static void describe(struct reader *r)
{
    static const char *const names[] = { "title", "name", "planDate", "dimension", "fileName" };

    r->out.id = r->record->id;
    r->out.is_event = r->type != RECORD_TASK;
    for (size_t i = 0; !r->out.title.n && i < ARRAY_LEN(names); i++)
        if (record_field_index(r->type, str_from(names[i])) >= 0)
            r->out.title = record_str(r->record, names[i]);
    if (r->type == RECORD_TASK)
        r->out.due = record_str(r->record, "due");
}

static int read_record(struct reader *r)
{
    r->record = ARENA_NEW(r->import->arena, struct record);
    *r->record = (struct record){ .type = r->type };
    r->out = (struct import_record){ .whole = r->record };
    if (!json_object_is_type(r->object, json_type_object)) {
        refuse(r, "is no object");
        return 0;
    }
    record_set_initial(r->record, 0);
    if (!take_stamps(r) || (r->type == RECORD_TASK && !take_labels(r)) ||
        (r->type == RECORD_ATTACHMENT && !take_content(r)) || !take_fields(r))
        return 0;
    describe(r);
    return import_keep(r->import, &r->out, r->err);
}

static int read_list(struct import *import, enum record_type type, struct json_object *list,
                     struct err *err)
{
    struct reader r = { .import = import, .type = type, .err = err };

    if (list && !json_object_is_type(list, json_type_array)) {
        import_problem(import, 0, "/%s: is no list", record_list_name(type));
        return 0;
    }
    for (; list && r.at < json_length(list); r.at++) {
        r.object = json_object_array_get_idx(list, r.at);
        if (read_record(&r) < 0)
            return -1;
    }
    return 0;
}

static bool is_known(const char *key)
{
    bool known = strcmp(key, "format") == 0 || strcmp(key, "version") == 0;

    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++)
        known |= strcmp(key, record_list_name((enum record_type)type)) == 0;
    return known;
}

int import_json(struct import *import, struct str text, struct err *err)
{
    AUTO_JSON root = NULL;
    struct json_object_iter at;
    int64_t version = 0;

    if (json_parse(text, &root, err) < 0)
        return err_wrap(err, "the file is no JSON");
    if (!json_object_is_type(root, json_type_object) ||
        !str_is(json_str(json_find(root, "format")), FORMAT))
        return err_set(err, ERR_BAD_REQUEST,
                       "the file is no journal: /format is not \"" FORMAT
                       "\"; it is what `dormouse journal export` writes");
    json_get_i64(root, "version", &version, NULL);
    if (version != VERSION)
        return err_set(err, ERR_BAD_REQUEST, "/version: this program reads version %d", VERSION);
    json_object_object_foreachC(root, at)
    {
        if (!is_known(at.key))
            import_problem(import, 0, "/%.60s: a journal has no such list", at.key);
    }
    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++)
        if (read_list(import, (enum record_type)type,
                      json_find(root, record_list_name((enum record_type)type)), err) < 0)
            return -1;
    return 0;
}
