/* DORMOUSE_SECTION_KEY=value stands for section.key. Lists are separated by commas. A variable
 * that stands for nothing is an error: a mistyped DORMOUSE_SANDBOX_ENABLED must not be silent.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <string.h>

#include "base/nearest.h"
#include "config/config_int.h"

#define PREFIX        "DORMOUSE_"
#define NAME_TEXT_MAX 96

/* Ours, but not configuration. */
static const char *const other_names[] = { "DORMOUSE_DATA", "DORMOUSE_LOG", "DORMOUSE_LOG_FORMAT",
                                           "DORMOUSE_MASTER_KEY_FILE" };

static void variable_of(const char *path, char *out, size_t size)
{
    size_t n = strlen(PREFIX);

    memcpy(out, PREFIX, n);
    for (; *path && n + 1 < size; path++)
        out[n++] = *path == '.' ? '_' : (char)toupper((unsigned char)*path);
    out[n] = '\0';
}

static const struct config_field *field_of(struct str name)
{
    char variable[NAME_TEXT_MAX];

    for (const struct config_field *field = config_fields; field->path; field++) {
        variable_of(field->path, variable, sizeof(variable));
        if (str_is(name, variable))
            return field;
    }
    return NULL;
}

static void unknown_variable(const char *name, struct config_problems *problems)
{
    const char **names = ARENA_NEW_N(&problems->arena, const char *, config_field_count), *near;
    char variable[NAME_TEXT_MAX];

    for (size_t i = 0; i < config_field_count; i++) {
        variable_of(config_fields[i].path, variable, sizeof(variable));
        names[i] = arena_text(&problems->arena, variable);
    }
    near = nearest_name(name, names, config_field_count);
    config_problem_add(problems, name, 0, 0, "stands for no configuration key%s%s%s",
                       near ? "; did you mean " : "; `dormouse config show` lists the keys",
                       near ? near : "", near ? "?" : "");
}

static bool is_other(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(other_names); i++)
        if (str_is(name, other_names[i]))
            return true;
    return str_starts(name, STR("DORMOUSE_TEST_"));
}

static void set_field(struct json_object *tree, const struct config_field *field, const char *name,
                      struct str text, const char **names, struct config_problems *problems)
{
    struct json_object *value = NULL;
    struct err err = ERR_INIT;

    if (config_value_from_text(field, text, &value, &err) < 0) {
        config_problem_add(problems, name, 0, 0, "%s %s", field->path, err_message(&err, 0));
        return;
    }
    config_tree_set(tree, field->path, value);
    names[field - config_fields] = name;
}

static const char *lookup(char *const *environment, const char *name)
{
    size_t n = strlen(name);

    for (; *environment; environment++)
        if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
            return *environment + n + 1;
    return NULL;
}

/* Seed systems say it with two variables. DATABASE_URL alone means nothing to us: it is often
 * set for another program. */
static void state_store(struct json_object *tree, char *const *environment, const char **names,
                        struct config_problems *problems)
{
    const char *backend = lookup(environment, "STATE_STORE_BACKEND");
    const char *url = lookup(environment, "DATABASE_URL");

    if (!backend || !*backend || lookup(environment, "DORMOUSE_STORE_URL"))
        return;
    if (strcmp(backend, "sqlite") == 0)
        return;
    if (strcmp(backend, "postgres") != 0)
        config_problem_add(problems, "STATE_STORE_BACKEND", 0, 0,
                           "must be `sqlite` or `postgres`, not `%.64s`", backend);
    else if (!url || !*url)
        config_problem_add(problems, "STATE_STORE_BACKEND", 0, 0,
                           "is postgres, but DATABASE_URL is not set");
    else
        set_field(tree, field_of(STR("DORMOUSE_STORE_URL")), "DATABASE_URL", str_from(url), names,
                  problems);
}

struct json_object *config_environment(char *const *environment, const char **ret_names,
                                       struct config_problems *problems)
{
    struct json_object *tree = json_object_new_object();

    for (char *const *at = environment; at && *at; at++) {
        struct str name = str_of(*at, strcspn(*at, "="));
        const struct config_field *field;
        const char *text;

        if (!str_starts(name, STR(PREFIX)) || name.p[name.n] != '=' || is_other(name))
            continue;
        field = field_of(name);
        text = arena_copy(&problems->arena, name.p, name.n);
        if (field)
            set_field(tree, field, text, str_from(name.p + name.n + 1), ret_names, problems);
        else
            unknown_variable(text, problems);
    }
    if (environment)
        state_store(tree, environment, ret_names, problems);
    if (json_object_object_length(tree) > 0)
        return tree;
    json_object_put(tree);
    return NULL;
}
