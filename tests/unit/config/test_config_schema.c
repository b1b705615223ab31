/* Schema, field table, example and documentation say the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "base/json_write.h"
#include "config/config_int.h"
#include "config_test.h"

static struct json_object *schema_of(struct test *t)
{
    static struct json_object *document; /* freed with the process */

    if (!document)
        ASSERT_OK(json_parse(config_schema(), &document, &t->err));
    return document;
}

/* The schema of a dotted key; into the items of a list of records with "models.id". */
static struct json_object *schema_find(struct json_object *node, const char *path)
{
    struct str rest = str_from(path), name;
    char key[128];

    while (node && str_split(&rest, '.', &name)) {
        snprintf(key, sizeof(key), "%.*s", STR_ARG(name));
        if (json_find(node, "items"))
            node = json_find(node, "items");
        node = json_find(json_find(node, "properties"), key);
    }
    return node;
}

static unsigned leaves(struct json_object *node)
{
    struct json_object *properties = json_find(node, "properties");
    struct json_object_iterator at, end;
    unsigned n = 0;

    if (json_find(node, "items") && json_find(json_find(node, "items"), "properties"))
        return leaves(json_find(node, "items"));
    if (!properties)
        return 1;
    at = json_object_iter_begin(properties);
    end = json_object_iter_end(properties);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
        n += leaves(json_object_iter_peek_value(&at));
    return n;
}

static unsigned fields(const struct config_field *field)
{
    unsigned n = 0;

    for (; field->path; field++)
        n += field->record ? fields(field->record) : 1;
    return n;
}

TEST(the_schema_and_the_field_table_have_the_same_keys)
{
    struct json_object *schema = schema_of(t);

    for (const struct config_field *f = config_fields; f->path; f++) {
        if (!schema_find(schema, f->path))
            FAIL("the schema lacks %s", f->path);
        for (const struct config_field *r = f->record; r && r->path; r++)
            if (!schema_find(schema_find(schema, f->path), r->path))
                FAIL("the schema lacks %s of %s", r->path, f->path);
    }
    ASSERT_EQ(leaves(schema), fields(config_fields));
}

static void same_default(struct test *t, const struct config_field *field, struct json_object *node)
{
    struct json_object *expected = json_find(node, "default");
    AUTO_JSON actual = NULL;

    if (field->kind == CONFIG_RECORDS)
        return;
    if (!field->initial != !expected)
        FAIL("%s has a default on one side only", field->path);
    if (!expected)
        return;
    ASSERT_OK(config_value_from_text(field, str_from(field->initial), &actual, &t->err));
    if (!json_equal(actual, expected))
        FAIL("%s: the table says %s, the schema %s", field->path, json_object_get_string(actual),
             json_object_get_string(expected));
}

TEST(the_defaults_of_schema_and_field_table_agree)
{
    for (const struct config_field *f = config_fields; f->path; f++) {
        struct json_object *node = schema_find(schema_of(t), f->path);

        same_default(t, f, node);
        for (const struct config_field *r = f->record; r && r->path; r++)
            same_default(t, r, schema_find(node, r->path));
    }
}

TEST(choices_and_descriptions_are_in_the_schema)
{
    for (const struct config_field *f = config_fields; f->path; f++) {
        struct json_object *node = schema_find(schema_of(t), f->path), *list;
        AUTO_BUF words = BUF_INIT(1024);

        if (!json_find(node, "description"))
            FAIL("%s is not described", f->path);
        if (f->kind != CONFIG_CHOICE)
            continue;
        list = json_find(node, "enum");
        for (size_t i = 0; i < json_object_array_length(list); i++)
            buf_printf(&words, "%s%s", i ? " " : "",
                       json_object_get_string(json_object_array_get_idx(list, i)));
        ASSERT_TEXT(buf_text(&words), f->choices);
    }
}

/* The last part of every key as it stands in the example, commented out or not. */
TEST(the_example_names_every_key_and_is_valid)
{
    const char *path = arena_printf(&t->arena, "%s/share/config.example.yaml", test_source_root());
    struct str text = test_read_file(t, path);

    for (const struct config_field *f = config_fields; f->path; f++)
        for (const struct config_field *r = f->record ? f->record : f; r && r->path;
             r = f->record ? r + 1 : NULL) {
            const char *name = strrchr(r->path, '.') ? strrchr(r->path, '.') + 1 : r->path;

            if (str_find(text, str_from(arena_printf(&t->arena, "%s:", name))) < 0)
                FAIL("share/config.example.yaml lacks %s", r->path);
        }
    ASSERT_TEXT(config_wrong(t, text.p), "it is valid");
}

/* With every comment sign in front of a setting removed, too. */
TEST(the_example_is_valid_with_everything_in_it_turned_on)
{
    const char *path = arena_printf(&t->arena, "%s/share/config.example.yaml", test_source_root());
    struct str rest = test_read_file(t, path), line;
    AUTO_BUF text = BUF_INIT(64 * 1024);

    while (str_split(&rest, '\n', &line)) {
        ptrdiff_t sign = str_find(line, STR("#"));

        /* "# Text for people" has a space after the sign, "#key: value" has none. */
        if (sign >= 0 && (size_t)sign + 1 < line.n && line.p[sign + 1] != ' ' &&
            str_trim(str_take(line, (size_t)sign)).n == 0)
            buf_printf(&text, "%.*s%.*s\n", (int)sign, line.p,
                       STR_ARG(str_skip(line, (size_t)sign + 1)));
        else
            buf_printf(&text, "%.*s\n", STR_ARG(line));
    }
    ASSERT_TEXT(config_wrong(t, buf_text(&text)), "it is valid");
}

TEST(the_documentation_names_every_key)
{
    const char *path = arena_printf(&t->arena, "%s/docs/configuration.md", test_source_root());
    struct str text = test_read_file(t, path);

    for (const struct config_field *f = config_fields; f->path; f++) {
        struct json_object *node = schema_find(schema_of(t), f->path);
        struct str words = json_str(json_find(node, "description"));

        if (str_find(text, str_from(arena_printf(&t->arena, "| `%s`", f->path))) < 0)
            FAIL("docs/configuration.md lacks `%s`", f->path);
        if (str_find(text, words) < 0)
            FAIL("docs/configuration.md says something else of `%s` than the schema", f->path);
    }
}
