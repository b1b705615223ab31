/* What JSON may say about a record: each member is looked up in the table of fields and checked by
 * its kind. Errors say the member, what it was and what is allowed there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>
#include <stdio.h>

#include "base/json.h"
#include "base/json_number.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/nearest.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "journal/journal_int.h"

#define SHOWN 60 /* bytes of a value in a message */

/* One member on its way into a record. */
struct member {
    const struct record_field *field;
    struct json_object *json;
    struct arena *arena;
    struct record_value *value;
    struct err *err;
};

/* "/due: 17 is not ..." */
static int refuse(const struct member *m, const char *allowed)
{
    AUTO_BUF shown = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&shown);
    struct str text;

    json_write_value(&w, m->json);
    text = utf8_truncate(buf_str(&shown), SHOWN);
    return err_set(m->err, ERR_SCHEMA_VIOLATION, "/%s: %.*s%s is not %s", m->field->name,
                   STR_ARG(text), text.n < shown.n ? "..." : "", allowed);
}

/* ---- ids and days ---- */

bool record_id_valid(struct str id)
{
    if (id.n == 0 || id.n > RECORD_ID_MAX)
        return false;
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_' || c == '.'))
            return false;
    }
    return true;
}

/* Digits for '0', anything else as it stands. */
static bool has_form(struct str text, const char *form)
{
    if (text.n != strlen(form))
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (form[i] == '0' ? text.p[i] < '0' || text.p[i] > '9' : text.p[i] != form[i])
            return false;
    }
    return true;
}

static unsigned number_at(struct str text, size_t at, size_t n)
{
    unsigned value = 0;

    for (size_t i = at; i < at + n; i++)
        value = value * 10 + (unsigned)(text.p[i] - '0');
    return value;
}

bool record_day_valid(struct str day, bool clock)
{
    bool timed = clock && has_form(day, "0000-00-00T00:00");
    unsigned in_month;

    if (!timed && !has_form(day, "0000-00-00"))
        return false;
    in_month = timefmt_month_days(number_at(day, 0, 4), number_at(day, 5, 2));
    if (number_at(day, 0, 4) == 0 || number_at(day, 8, 2) == 0 || number_at(day, 8, 2) > in_month)
        return false;
    return !timed || (number_at(day, 11, 2) < 24 && number_at(day, 14, 2) < 60);
}

/* ---- lines with a form ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_color(struct str text)
{
    if (text.n != 7 || text.p[0] != '#')
        return false;
    for (size_t i = 1; i < text.n; i++) {
        if (!is_digit(text.p[i]) && !((text.p[i] | 0x20) >= 'a' && (text.p[i] | 0x20) <= 'f'))
            return false;
    }
    return true;
}

/* Subtags of letters and digits, 1 to 8 long; the first of 2 to 8 letters. */
static bool is_language(struct str text)
{
    struct str rest = text, part;

    for (bool first = true; str_split(&rest, '-', &part); first = false) {
        if (part.n < (first ? 2u : 1u) || part.n > 8)
            return false;
        for (size_t i = 0; i < part.n; i++) {
            if (!is_letter(part.p[i]) && (first || !is_digit(part.p[i])))
                return false;
        }
    }
    return true;
}

/* "type/subtype", parameters may follow. */
static bool is_media_type(struct str text)
{
    ptrdiff_t slash = str_find_char(text, '/');

    if (slash <= 0 || (size_t)slash + 1 >= text.n)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < 0x20 || text.p[i] > 0x7e)
            return false;
    }
    return is_letter(text.p[0]) && (is_letter(text.p[slash + 1]) || is_digit(text.p[slash + 1]));
}

struct str attachment_name(struct str text)
{
    size_t n = text.n;

    while (n > 0 && text.p[n - 1] != '/' && text.p[n - 1] != '\\')
        n--;
    text = str_skip(text, n);
    return str_is(text, ".") || str_is(text, "..") ? STR("") : text;
}

static int check_form(const struct member *m, struct str text)
{
    switch (m->field->form) {
    case FORM_COLOR:
        return is_color(text) ? 0 : refuse(m, "a color; write #RRGGBB");
    case FORM_LANGUAGE:
        return is_language(text) ? 0
                                 : refuse(m, "a language; write a BCP 47 tag such as en or de-AT");
    case FORM_MEDIA_TYPE:
        return is_media_type(text) ? 0 : refuse(m, "a content type; write TYPE/SUBTYPE");
    case FORM_TOKEN:
        return text.n <= 200 && str_find_char(text, '|') < 0
                   ? 0
                   : refuse(m, "a short word of at most 200 bytes without '|'");
    case FORM_FILE_NAME:
        return str_eq(attachment_name(text), text) ? 0 : refuse(m, "a file's name without folders");
    case FORM_ANY:
        break;
    }
    return 0;
}

/* ---- kinds ---- */

static void set_str(const struct member *m, struct str text)
{
    *m->value = (struct record_value){ .set = true, .s = arena_str(m->arena, text) };
}

static void set_int(const struct member *m, int64_t i)
{
    *m->value = (struct record_value){ .set = true, .i = i };
}

static int empty(const struct member *m)
{
    if (!m->field->nullable)
        return err_set(m->err, ERR_SCHEMA_VIOLATION, "/%s: is empty; it needs a text",
                       m->field->name);
    *m->value = (struct record_value){ .set = false };
    return 0;
}

static int apply_line(const struct member *m)
{
    struct str text = str_trim(json_str(m->json));
    unsigned odd = 1u << UTF8_CONTROL | 1u << UTF8_INVALID;
    size_t length = utf8_count(text);

    if (text.n == 0)
        return empty(m);
    if (utf8_find_odd(text, odd, NULL, NULL) != UTF8_PLAIN)
        return refuse(m, "text on one line without control characters");
    if (length > (size_t)m->field->max)
        return err_set(m->err, ERR_SCHEMA_VIOLATION,
                       "/%s: has %zu characters; at most %lld are allowed", m->field->name, length,
                       (long long)m->field->max);
    if (check_form(m, text) < 0)
        return -1;
    set_str(m, text);
    return 0;
}

static int apply_text(const struct member *m)
{
    struct str text = json_str(m->json);

    if (text.n == 0)
        return empty(m);
    if (text.n > (size_t)m->field->max)
        return err_set(m->err, ERR_SCHEMA_VIOLATION, "/%s: has %zu bytes; at most %lld are allowed",
                       m->field->name, text.n, (long long)m->field->max);
    if (memchr(text.p, 0, text.n) || !utf8_valid(text))
        return refuse(m, "text without NUL characters");
    set_str(m, text);
    return 0;
}

static int refuse_word(const struct member *m)
{
    AUTO_BUF allowed = BUF_INIT(400);

    buf_add_text(&allowed, "one of ");
    for (size_t i = 0; m->field->words[i]; i++)
        buf_printf(&allowed, "%s%s", i ? ", " : "", m->field->words[i]);
    return refuse(m, buf_text(&allowed));
}

static int apply_word(const struct member *m)
{
    struct str text = json_str(m->json);
    bool number = m->field->ordinal && json_object_is_type(m->json, json_type_int);

    for (size_t i = 0; m->field->words[i]; i++) {
        if (number ? json_object_get_int64(m->json) == (int64_t)i
                   : text.p && str_is(text, m->field->words[i])) {
            *m->value = (struct record_value){ .set = true,
                                               .i = (int64_t)i,
                                               .s = str_from(m->field->words[i]) };
            return 0;
        }
    }
    return refuse_word(m);
}

static int apply_int(const struct member *m)
{
    int64_t i = 0;
    char allowed[100];

    snprintf(allowed, sizeof(allowed), "a whole number from %lld to %lld", (long long)m->field->min,
             (long long)m->field->max);
    if (!json_number_i64(m->json, &i) || i < m->field->min || i > m->field->max)
        return refuse(m, allowed);
    set_int(m, i);
    return 0;
}

static int apply_real(const struct member *m)
{
    if (!json_object_is_type(m->json, json_type_double) &&
        !json_object_is_type(m->json, json_type_int))
        return refuse(m, "a number");
    *m->value = (struct record_value){ .set = true, .f = json_object_get_double(m->json) };
    return 0;
}

static int apply_bool(const struct member *m)
{
    if (!json_object_is_type(m->json, json_type_boolean))
        return refuse(m, "true or false");
    set_int(m, json_object_get_boolean(m->json));
    return 0;
}

static int apply_time(const struct member *m)
{
    struct str text = json_str(m->json);
    int64_t ms;

    if (!text.p || timefmt_parse(text, &ms, NULL) < 0 || ms <= 0)
        return refuse(m, "a time; write 2026-02-18T16:00:00Z (RFC 3339, after 1970)");
    set_int(m, ms);
    return 0;
}

static int apply_day(const struct member *m)
{
    struct str text = json_str(m->json);

    if (!record_day_valid(text, m->field->clock) || str_starts(text, STR("9999-12-31")))
        return refuse(m, m->field->clock ? "a day; write YYYY-MM-DD or YYYY-MM-DDTHH:MM"
                                         : "a day; write YYYY-MM-DD");
    set_str(m, text);
    return 0;
}

static int apply_id(const struct member *m)
{
    struct str text = json_str(m->json);

    if (!record_id_valid(text))
        return refuse(m, "an id; one has 1 to 100 letters, digits, '-', '_' and '.'");
    set_str(m, text);
    return 0;
}

/* Each once, in the order given. */
static int apply_ids(const struct member *m)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_MAP seen = MAP_INIT;
    struct json_writer w = JSON_WRITER(&text);
    size_t n;

    if (!json_object_is_type(m->json, json_type_array))
        return refuse(m, "a list of ids");
    n = json_length(m->json);
    if (n > (size_t)m->field->max)
        return err_set(m->err, ERR_SCHEMA_VIOLATION, "/%s: has %zu ids; at most %lld are allowed",
                       m->field->name, n, (long long)m->field->max);
    json_write_array_begin(&w);
    for (size_t i = 0; i < n; i++) {
        struct str id = json_str(json_object_array_get_idx(m->json, i));

        if (!record_id_valid(id))
            return refuse(m, "a list of ids; one has 1 to 100 letters, digits, '-', '_' and '.'");
        if (!map_put(&seen, id, &seen))
            json_write_str(&w, id);
    }
    json_write_array_end(&w);
    if (map_count(&seen) == 0)
        *m->value = (struct record_value){ .set = false };
    else
        set_str(m, buf_str(&text));
    return 0;
}

static int apply_kind(const struct member *m)
{
    bool texts = m->field->kind == FIELD_LINE || m->field->kind == FIELD_TEXT;

    if (texts && !json_object_is_type(m->json, json_type_string))
        return refuse(m, "a text");
    switch (m->field->kind) {
    case FIELD_LINE:
        return apply_line(m);
    case FIELD_TEXT:
        return apply_text(m);
    case FIELD_WORD:
        return apply_word(m);
    case FIELD_INT:
        return apply_int(m);
    case FIELD_REAL:
        return apply_real(m);
    case FIELD_BOOL:
        return apply_bool(m);
    case FIELD_TIME:
        return apply_time(m);
    case FIELD_DAY:
        return apply_day(m);
    case FIELD_ID:
        return apply_id(m);
    case FIELD_IDS:
        return apply_ids(m);
    }
    return -1;
}

/* ---- members ---- */

static int unknown(enum record_type type, const char *name, struct err *err)
{
    static const char *const ours[] = { "id", "createdAt", "updatedAt", "deletedAt" };
    const char *names[RECORD_FIELDS_MAX + 1], *near;
    AUTO_BUF all = BUF_INIT(600);
    size_t n;
    const struct record_field *fields = record_fields(type, &n);
    struct str shown = utf8_truncate(str_from(name), SHOWN);

    for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
        if (strcmp(name, ours[i]) == 0)
            return err_set(err, ERR_SCHEMA_VIOLATION, "/%s: the journal sets this itself", name);
    }
    for (size_t i = 0; i < n; i++)
        names[i] = fields[i].name;
    if (type == RECORD_TASK)
        names[n++] = "labels"; /* no field of its own, but given and taken as one */
    for (size_t i = 0; i < n; i++)
        buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    near = nearest_name(name, names, n);
    if (near)
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/%.*s: %s has no such field; did you mean \"%s\"?", STR_ARG(shown),
                       record_type_a(type), near);
    return err_set(err, ERR_SCHEMA_VIOLATION, "/%.*s: %s has no such field; it has %s",
                   STR_ARG(shown), record_type_a(type), buf_text(&all));
}

bool record_value_eq(const struct record_value *a, const struct record_value *b)
{
    return a->set == b->set && (!a->set || (a->i == b->i && a->f == b->f && str_eq(a->s, b->s)));
}

static int apply_member(struct member *m, bool stored)
{
    struct record_value before = *m->value;

    if (m->field->read_only)
        return err_set(m->err, ERR_SCHEMA_VIOLATION, "/%s: the journal sets this itself",
                       m->field->name);
    if (m->json) {
        if (apply_kind(m) < 0)
            return -1;
    } else if (m->field->nullable) {
        *m->value = (struct record_value){ .set = false };
    } else {
        return err_set(m->err, ERR_SCHEMA_VIOLATION, "/%s: may not be null", m->field->name);
    }
    if (stored && m->field->fixed && !record_value_eq(&before, m->value))
        return err_set(m->err, ERR_SCHEMA_VIOLATION, "/%s: is given once and can't be changed",
                       m->field->name);
    return 0;
}

int record_apply(struct record *record, struct json_object *object, struct arena *arena,
                 struct err *err)
{
    struct record next = *record;
    struct json_object_iter at;
    size_t n;
    const struct record_field *fields = record_fields(record->type, &n);

    if (!json_object_is_type(object, json_type_object))
        return err_set(err, ERR_SCHEMA_VIOLATION, "fields of %s are an object, not %s",
                       record_type_a(record->type), json_type_name(object));
    json_object_object_foreachC(object, at)
    {
        int i = record_field_index(record->type, str_from(at.key));
        struct member m = { .json = at.val, .arena = arena, .err = err };

        if (i < 0)
            return unknown(record->type, at.key, err);
        m.field = &fields[i];
        m.value = &next.v[i];
        if (apply_member(&m, record->n != 0) < 0)
            return -1;
    }
    *record = next;
    return 0;
}
