/* Values: from a variable's text to JSON, from JSON into the typed struct.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "config/config_int.h"

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit durations[] = {
    { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 },
};
static const struct unit sizes[] = {
    { "B", 1 },
    { "KiB", 1 << 10 },
    { "MiB", 1 << 20 },
    { "GiB", 1 << 30 },
};

static int parse_unit(struct str text, const struct unit *units, size_t n, int64_t *ret_value)
{
    size_t digits = 0;
    int64_t number;

    while (digits < text.n && text.p[digits] >= '0' && text.p[digits] <= '9')
        digits++;
    if (str_to_i64(str_take(text, digits), &number) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (str_is(str_skip(text, digits), units[i].name))
            return __builtin_mul_overflow(number, units[i].factor, ret_value) ? -1 : 0;
    return -1;
}

/* In the largest unit that has it whole: 600000 is 10m. */
static void add_unit(int64_t value, const struct unit *units, size_t n, struct buf *out)
{
    size_t i = n - 1;

    while (i > 0 && (value == 0 || value % units[i].factor != 0))
        i--;
    buf_printf(out, "%lld%s", (long long)(value / units[i].factor), units[i].name);
}

void config_add_duration(int64_t ms, struct buf *out)
{
    add_unit(ms, durations, ARRAY_LEN(durations), out);
}

void config_add_bytes(int64_t bytes, struct buf *out)
{
    add_unit(bytes, sizes, ARRAY_LEN(sizes), out);
}

int config_parse_duration(struct str text, int64_t *ret_ms, struct err *err)
{
    if (parse_unit(text, durations, ARRAY_LEN(durations), ret_ms) < 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "`%.*s` is not a duration; write a number with ms, s, m, h or d, like 30s",
                       (int)(text.n > 64 ? 64 : text.n), text.p);
    return 0;
}

int config_parse_bytes(struct str text, int64_t *ret_bytes, struct err *err)
{
    if (parse_unit(text, sizes, ARRAY_LEN(sizes), ret_bytes) < 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "`%.*s` is not a size; write a number with B, KiB, MiB or GiB, like 1GiB",
                       (int)(text.n > 64 ? 64 : text.n), text.p);
    return 0;
}

/* ---- from text ---- */

static int bool_from_text(struct str text, struct json_object **ret_value, struct err *err)
{
    bool yes = str_is(text, "true") || str_is(text, "1") || str_is(text, "yes");

    if (!yes && !str_is(text, "false") && !str_is(text, "0") && !str_is(text, "no"))
        return err_set(err, ERR_BAD_REQUEST, "must be true or false");
    *ret_value = json_object_new_boolean(yes);
    return 0;
}

static int number_from_text(struct str text, struct json_object **ret_value, struct err *err)
{
    char copy[64], *end;
    double number;

    if (text.n == 0 || text.n >= sizeof(copy))
        return err_set(err, ERR_BAD_REQUEST, "must be a number");
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    /* strtod() would also read "nan", "inf" and hexadecimal. */
    if (strspn(copy, "0123456789+-.eE") != text.n)
        return err_set(err, ERR_BAD_REQUEST, "must be a number");
    errno = 0;
    number = strtod(copy, &end);
    if (*end || errno)
        return err_set(err, ERR_BAD_REQUEST, "must be a number");
    *ret_value = json_object_new_double(number);
    return 0;
}

static struct json_object *list_from_text(struct str text)
{
    struct json_object *list = json_object_new_array();
    struct str item;

    while (text.n > 0 && str_split(&text, ',', &item)) {
        item = str_trim(item);
        json_object_array_add(list, json_object_new_string_len(item.p, (int)item.n));
    }
    return list;
}

int config_value_from_text(const struct config_field *field, struct str text,
                           struct json_object **ret_value, struct err *err)
{
    int64_t number;

    switch (field->kind) {
    case CONFIG_BOOL:
        return bool_from_text(text, ret_value, err);
    case CONFIG_INT:
        if (str_to_i64(text, &number) < 0)
            return err_set(err, ERR_BAD_REQUEST, "must be a whole number");
        *ret_value = json_object_new_int64(number);
        return 0;
    case CONFIG_NUMBER:
        return number_from_text(text, ret_value, err);
    case CONFIG_LIST:
        *ret_value = list_from_text(text);
        return 0;
    case CONFIG_TEXT:
    case CONFIG_CHOICE:
    case CONFIG_DURATION:
    case CONFIG_BYTES:
        *ret_value = json_object_new_string_len(text.p ? text.p : "", (int)text.n);
        return 0;
    case CONFIG_RECORDS:
    case CONFIG_KIND_NONE:
        break;
    }
    return err_set(err, ERR_BAD_REQUEST, "can only be set in a file");
}

/* ---- into the struct ---- */

static struct str text_of(struct json_object *value)
{
    return str_of(json_object_get_string(value), (size_t)json_object_get_string_len(value));
}

static int set_unit(const struct config_field *field, struct json_object *value, void *at,
                    struct err *err)
{
    int64_t *number = at;

    if (!json_object_is_type(value, json_type_string)) {
        *number = json_object_get_int64(value);
        return 0;
    }
    if (field->kind == CONFIG_DURATION)
        return config_parse_duration(text_of(value), number, err);
    return config_parse_bytes(text_of(value), number, err);
}

static int set_choice(const struct config_field *field, struct json_object *value, int *at,
                      struct err *err)
{
    struct str rest = str_from(field->choices), choice;

    for (int i = 0; str_split(&rest, ' ', &choice); i++)
        if (str_eq(choice, text_of(value))) {
            *at = i;
            return 0;
        }
    return err_set(err, ERR_BAD_REQUEST, "must be one of: %s", field->choices);
}

static void set_list(struct json_object *value, struct config_list *list, struct arena *arena)
{
    size_t n = json_length(value);

    list->items = ARENA_NEW_N(arena, const char *, n + 1);
    list->n = n;
    for (size_t i = 0; i < n; i++) {
        struct str text = text_of(json_object_array_get_idx(value, i));

        list->items[i] = arena_copy(arena, text.p, text.n);
    }
}

static int set_record(const struct config_field *fields, struct json_object *value, void *record,
                      struct arena *arena, struct err *err)
{
    for (; fields->path; fields++) {
        struct json_object *found = config_tree_find(value, fields->path);

        if (found && config_field_set(fields, found, record, arena, err) < 0)
            return err_wrap(err, "%s", fields->path);
    }
    return 0;
}

static int set_records(const struct config_field *field, struct json_object *value, void *at,
                       struct arena *arena, struct err *err)
{
    struct config_models *records = at; /* any struct of items and n */
    size_t n = json_length(value);
    char *items = arena_alloc(arena, n + 1, field->record_size);

    for (size_t i = 0; i < n; i++)
        if (set_record(field->record, json_object_array_get_idx(value, i),
                       items + i * field->record_size, arena, err) < 0)
            return err_wrap(err, "%s[%zu]", field->path, i);
    records->items = (struct config_model *)(void *)items;
    records->n = n;
    return 0;
}

int config_field_set(const struct config_field *field, struct json_object *value, void *record,
                     struct arena *arena, struct err *err)
{
    void *at = (char *)record + field->offset;

    switch (field->kind) {
    case CONFIG_TEXT:
        *(const char **)at = arena_copy(arena, text_of(value).p, text_of(value).n);
        return 0;
    case CONFIG_BOOL:
        *(bool *)at = json_object_get_boolean(value);
        return 0;
    case CONFIG_INT:
        *(int64_t *)at = json_object_get_int64(value);
        return 0;
    case CONFIG_NUMBER:
        *(double *)at = json_object_get_double(value);
        return 0;
    case CONFIG_DURATION:
    case CONFIG_BYTES:
        return set_unit(field, value, at, err);
    case CONFIG_CHOICE:
        return set_choice(field, value, at, err);
    case CONFIG_LIST:
        set_list(value, at, arena);
        return 0;
    case CONFIG_RECORDS:
        return set_records(field, value, at, arena, err);
    case CONFIG_KIND_NONE:
        break;
    }
    BUG("configuration field %s has no kind", field->path);
}

/* ---- trees ---- */

struct json_object *config_tree_find(struct json_object *tree, const char *path)
{
    struct str rest = str_from(path), name;
    char key[128];

    while (tree && str_split(&rest, '.', &name)) {
        if (!json_object_is_type(tree, json_type_object) || name.n >= sizeof(key))
            return NULL;
        memcpy(key, name.p, name.n);
        key[name.n] = '\0';
        tree = json_object_object_get(tree, key);
    }
    return tree;
}

void config_tree_set(struct json_object *tree, const char *path, struct json_object *value)
{
    struct str rest = str_from(path), name;
    const char *dot;
    char key[128];

    while (str_split(&rest, '.', &name)) {
        struct json_object *below;

        dot = name.p + name.n;
        snprintf(key, sizeof(key), "%.*s", STR_ARG(name));
        if (*dot == '\0')
            break;
        below = json_object_object_get(tree, key);
        if (!below) {
            below = json_object_new_object();
            json_object_object_add(tree, key, below);
        }
        tree = below;
    }
    json_object_object_add(tree, key, value);
}

void config_pointer(const char *path, char *out, size_t size)
{
    int n = snprintf(out, size, "/%s", path);

    for (int i = 0; i < n && (size_t)i < size; i++)
        if (out[i] == '.')
            out[i] = '/';
}

/* ---- the whole struct ---- */

static int fill_field(struct config *config, const struct config_field *field, struct err *err)
{
    struct json_object *value = config_tree_find(config->tree, field->path), *initial = NULL;
    int r;

    if (!value && field->initial) {
        if (config_value_from_text(field, str_from(field->initial), &initial, err) < 0)
            BUG("the default of %s is wrong", field->path);
        value = initial;
    }
    r = value ? config_field_set(field, value, config, &config->arena, err) : 0;
    json_object_put(initial);
    return r < 0 ? err_wrap(err, "%s", field->path) : 0;
}

int config_fill(struct config *config, struct err *err)
{
    for (const struct config_field *field = config_fields; field->path; field++)
        if (fill_field(config, field, err) < 0)
            return -1;
    return 0;
}
