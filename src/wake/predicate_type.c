/* Predicates: what may be compared with what, and the words for it when it may not.
 *
 * Literals become values of the field that they are compared with, so that evaluating compares
 * equals with equals: moments are milliseconds, the priority "P1" is 1.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/json_number.h"
#include "base/nearest.h"
#include "base/timefmt.h"
#include "wake/predicate_int.h"

static const struct record_field common[] = {
    { .name = "id", .kind = FIELD_ID },
    { .name = "createdAt", .kind = FIELD_TIME },
    { .name = "updatedAt", .kind = FIELD_TIME },
    { .name = "deletedAt", .kind = FIELD_TIME, .nullable = true },
};

/* Kept beside the task, in rows of their own. */
static const struct record_field labels = {
    .name = "labelIds", .kind = FIELD_IDS, .ref = RECORD_LABEL, .nullable = true
};

/* ---- names ---- */

#define NAMES_MAX (RECORD_FIELDS_MAX + ARRAY_LEN(common) + 1)

static int unknown(const char *what, struct str name, const char *const *names, size_t n,
                   struct err *err)
{
    AUTO_BUF list = BUF_INIT(600);
    char typed[64];
    const char *near;

    snprintf(typed, sizeof(typed), "%.*s", STR_ARG(name));
    near = nearest_name(typed, names, n);
    if (near)
        return err_set(err, ERR_BAD_REQUEST, "%s \"%s\"; did you mean %s?", what, typed, near);
    for (size_t i = 0; i < n; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    return err_set(err, ERR_BAD_REQUEST, "%s \"%s\"; there are %s", what, typed, buf_text(&list));
}

int predicate_find_type(struct str name, enum record_type *ret_type, struct err *err)
{
    const char *names[RECORD_TYPES_END];
    size_t n = 0;

    *ret_type = record_type_of(name);
    if (*ret_type)
        return 0;
    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++)
        names[n++] = record_type_name((enum record_type)type);
    return unknown("there are no records", name, names, n, err);
}

int predicate_find_field(enum record_type type, struct str name, struct predicate_field *ret_field,
                         struct err *err)
{
    const char *names[NAMES_MAX];
    char what[64];
    size_t count;
    const struct record_field *fields = record_fields(type, &count);
    size_t all = count + ARRAY_LEN(common) + (type == RECORD_TASK);

    for (size_t i = 0; i < all; i++) {
        const struct record_field *field = i < count                       ? &fields[i]
                                           : i - count < ARRAY_LEN(common) ? &common[i - count]
                                                                           : &labels;

        names[i] = field->name;
        if (!str_is(name, field->name))
            continue;
        *ret_field = (struct predicate_field){
            .type = type,
            .field = field,
            .index = (uint8_t)(i < count ? i : RECORD_FIELDS_MAX + i - count),
        };
        return 0;
    }
    snprintf(what, sizeof(what), "%s has no field", record_type_name(type));
    return unknown(what, name, names, all, err);
}

/* ---- sentences ---- */

static void describe_words(const struct record_field *field, struct buf *out)
{
    size_t n = 0;

    while (field->words[n])
        n++;
    if (field->ordinal)
        buf_printf(out, "a number from 0 to %zu or ", n - 1);
    buf_add_text(out, "one of");
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s %s", i ? "," : "", field->words[i]);
}

static void describe_int(const struct record_field *field, struct buf *out)
{
    if (field->min < field->max)
        buf_printf(out, "a number from %" PRId64 " to %" PRId64, field->min, field->max);
    else
        buf_add_text(out, "a whole number");
}

static void describe(const struct record_field *field, struct buf *out)
{
    switch (field->kind) {
    case FIELD_LINE:
    case FIELD_TEXT:
        buf_add_text(out, "a text");
        return;
    case FIELD_WORD:
        describe_words(field, out);
        return;
    case FIELD_INT:
        describe_int(field, out);
        return;
    case FIELD_REAL:
        buf_add_text(out, "a number");
        return;
    case FIELD_BOOL:
        buf_add_text(out, "true or false");
        return;
    case FIELD_TIME:
        buf_add_text(out, "a moment such as \"2026-12-01T08:00:00Z\"");
        return;
    case FIELD_DAY:
        buf_printf(out, "a day such as \"2026-12-01\"%s",
                   field->clock ? " or \"2026-12-01T09:30\"" : "");
        return;
    case FIELD_ID:
        buf_printf(out, "the id of %s", field->ref ? record_type_name(field->ref) : "a record");
        return;
    case FIELD_IDS:
    default:
        buf_printf(out, "a list of ids of %s",
                   field->ref ? record_type_name(field->ref) : "records");
    }
}

/* "task.priority is a number from 0 to 3, "high" is text" */
static int refuse(const struct predicate_field *f, struct str shown, const char *what,
                  struct err *err)
{
    AUTO_BUF is = BUF_INIT(400);

    describe(f->field, &is);
    return err_set(err, ERR_BAD_REQUEST, "%s.%s is %s, %.*s%s %s", record_type_name(f->type),
                   f->field->name, buf_text(&is), shown.n > 60 ? 60 : (int)shown.n, shown.p,
                   shown.n > 60 ? "..." : "", what);
}

static int wrong_type(const struct predicate_field *f, const struct json_object *literal,
                      struct str shown, struct err *err)
{
    switch (json_object_get_type(literal)) {
    case json_type_string:
        return refuse(f, shown, "is text", err);
    case json_type_boolean:
        return refuse(f, shown, "is not", err);
    case json_type_null:
        return err_set(err, ERR_BAD_REQUEST,
                       "null is compared with == and != alone, not in a list or order");
    default:
        return refuse(f, shown, "is a number", err);
    }
}

/* ---- operators ---- */

int predicate_check_op(const struct predicate_field *f, enum predicate_op op, const char *sign,
                       struct err *err)
{
    enum field_kind kind = f->field->kind;
    bool text = kind == FIELD_LINE || kind == FIELD_TEXT || kind == FIELD_ID;
    bool ordered = kind == FIELD_INT || kind == FIELD_REAL || kind == FIELD_TIME ||
                   kind == FIELD_DAY || f->field->ordinal;
    bool fine = op == PREDICATE_EQ || op == PREDICATE_NE ? kind != FIELD_IDS
                : op == PREDICATE_PREFIX                 ? text
                                                         : op == PREDICATE_IN || ordered;
    AUTO_BUF is = BUF_INIT(400);

    if (fine)
        return 0;
    describe(f->field, &is);
    return err_set(err, ERR_BAD_REQUEST, "%s.%s is %s: \"%s\" does not compare it; %s do",
                   record_type_name(f->type), f->field->name, buf_text(&is), sign,
                   text                ? "==, !=, in and prefix"
                   : kind == FIELD_IDS ? "in, == null and != null"
                   : ordered           ? "==, !=, <, <=, >, >= and in"
                                       : "==, != and in");
}

enum predicate_by predicate_by(const struct record_field *field)
{
    switch (field->kind) {
    case FIELD_INT:
    case FIELD_BOOL:
    case FIELD_TIME:
        return PREDICATE_BY_INT;
    case FIELD_REAL:
        return PREDICATE_BY_REAL;
    case FIELD_DAY:
        return PREDICATE_BY_DAY;
    case FIELD_IDS:
        return PREDICATE_BY_LIST;
    case FIELD_WORD:
        return field->ordinal ? PREDICATE_BY_INT : PREDICATE_BY_TEXT;
    default:
        return PREDICATE_BY_TEXT;
    }
}

/* ---- literals ---- */

static int word_index(const struct record_field *field, struct str word)
{
    for (int i = 0; field->words && field->words[i]; i++) {
        if (str_is(word, field->words[i]))
            return i;
    }
    return -1;
}

static int no_such_word(const struct predicate_field *f, struct str word, struct str shown,
                        struct err *err)
{
    const char *near;
    char is_not[96];
    size_t n = 0;

    while (f->field->words[n])
        n++;
    near = nearest_name(word.p, f->field->words, n);
    if (!near)
        return refuse(f, shown, f->field->ordinal ? "is text" : "is not", err);
    snprintf(is_not, sizeof(is_not), "is not; did you mean \"%.40s\"?", near);
    return refuse(f, shown, is_not, err);
}

static int read_word(const struct predicate_field *f, struct json_object *literal, struct str shown,
                     struct arena *arena, struct predicate_value *ret_value, struct err *err)
{
    bool text = json_object_is_type(literal, json_type_string);
    int64_t number;
    int word;

    if (!text && f->field->ordinal && json_is_number(literal)) {
        int64_t n = 0;

        while (f->field->words[n])
            n++;
        if (!json_number_i64(literal, &number) || number < 0 || number >= n)
            return refuse(f, shown, "is outside", err);
        ret_value->i = number;
        return 0;
    }
    if (!text)
        return wrong_type(f, literal, shown, err);
    word = word_index(f->field, json_str(literal));
    if (word < 0)
        return no_such_word(f, json_str(literal), shown, err);
    ret_value->i = word;
    ret_value->s = arena_str(arena, json_str(literal));
    return 0;
}

static int read_int(const struct predicate_field *f, struct json_object *literal, struct str shown,
                    int64_t *ret_value, struct err *err)
{
    const struct record_field *field = f->field;

    if (!json_is_number(literal))
        return wrong_type(f, literal, shown, err);
    if (!json_number_i64(literal, ret_value))
        return refuse(f, shown, "is not", err);
    if (field->min < field->max && (*ret_value < field->min || *ret_value > field->max))
        return refuse(f, shown, "is outside", err);
    return 0;
}

static int read_real(const struct predicate_field *f, struct json_object *literal, struct str shown,
                     double *ret_value, struct err *err)
{
    if (!json_is_number(literal))
        return wrong_type(f, literal, shown, err);
    *ret_value = json_number_double(literal);
    return isfinite(*ret_value) ? 0 : refuse(f, shown, "is not", err);
}

static int read_time(const struct predicate_field *f, struct str text, struct str shown,
                     int64_t *ret_value, struct err *err)
{
    struct err why = ERR_INIT;

    return timefmt_parse(text, ret_value, &why) < 0 ? refuse(f, shown, "is not", err) : 0;
}

static int read_text(const struct predicate_field *f, struct json_object *literal, struct str shown,
                     struct arena *arena, struct predicate_value *ret_value, struct err *err)
{
    struct str text = json_str(literal);

    if (!json_object_is_type(literal, json_type_string))
        return wrong_type(f, literal, shown, err);
    if (f->field->kind == FIELD_TIME)
        return read_time(f, text, shown, &ret_value->i, err);
    if (f->field->kind == FIELD_DAY && !record_day_valid(text, f->field->clock))
        return refuse(f, shown, "is not", err);
    if ((f->field->kind == FIELD_ID || f->field->kind == FIELD_IDS) && !text.n)
        return refuse(f, shown, "is empty; == null asks for none", err);
    ret_value->s = arena_str(arena, text);
    return 0;
}

int predicate_literal(const struct predicate_field *f, enum predicate_op op,
                      struct json_object *literal, struct str shown, struct arena *arena,
                      struct predicate_value *ret_value, struct err *err)
{
    *ret_value = (struct predicate_value){ 0 };
    if (op == PREDICATE_PREFIX && json_object_is_type(literal, json_type_string) &&
        !json_str(literal).n)
        return err_set(err, ERR_BAD_REQUEST, "every text begins with \"\"");
    switch (f->field->kind) {
    case FIELD_INT:
        return read_int(f, literal, shown, &ret_value->i, err);
    case FIELD_REAL:
        return read_real(f, literal, shown, &ret_value->f, err);
    case FIELD_WORD:
        return read_word(f, literal, shown, arena, ret_value, err);
    case FIELD_BOOL:
        if (!json_object_is_type(literal, json_type_boolean))
            return wrong_type(f, literal, shown, err);
        ret_value->i = json_object_get_boolean(literal);
        return 0;
    default:
        return read_text(f, literal, shown, arena, ret_value, err);
    }
}
