/* dormouse config check, dormouse config show
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/models.h"
#include "cli/term.h"
#include "config/config.h"
#include "run/program.h"

extern char **environ;

int cli_config(const struct cli_args *args, struct config **ret_config, struct err *err)
{
    const struct config_sources sources = { .data_dir = cli_data_dir(args),
                                            .environment = environ };

    return config_load(&sources, ret_config, NULL, err);
}

/* As it holds for a run in --dir, or here. */
static int load_for_dir(const struct cli_args *args, struct config **ret_config,
                        struct config_problems *problems, struct err *err)
{
    const char *typed = cli_value(args, "dir");
    char dir[PATH_MAX];
    struct config_sources sources = { .data_dir = cli_data_dir(args),
                                      .work_dir = dir,
                                      .environment = environ };

    if (!realpath(typed ? typed : ".", dir))
        return err_set(err, ERR_NOT_FOUND, "--dir %s: there is no such directory",
                       typed ? typed : ".");
    return config_load(&sources, ret_config, problems, err);
}

static const struct cli_option dir_option[] = {
    { .name = "dir", .value = "DIR", .help = "as it holds for a run there, instead of here" },
    { .name = NULL },
};

/* ---- check ---- */

static struct json_object *problem_json(const struct config_problem *problem)
{
    struct json_object *row = json_object_new_object();

    json_object_object_add(row, "file", json_object_new_string(problem->file));
    if (problem->line) {
        json_object_object_add(row, "line", json_object_new_int64(problem->line));
        json_object_object_add(row, "column", json_object_new_int64(problem->column));
    }
    json_object_object_add(row, "message", json_object_new_string(problem->message));
    return row;
}

static void print_problems_json(const struct config_problems *problems)
{
    struct json_object *out = json_object_new_object(), *rows = json_object_new_array();

    for (size_t i = 0; i < problems->n; i++)
        json_object_array_add(rows, problem_json(&problems->items[i]));
    json_object_object_add(out, "valid", json_object_new_boolean(problems->n == 0));
    json_object_object_add(out, "problems", rows);
    if (problems->more)
        json_object_object_add(out, "more", json_object_new_int64((int64_t)problems->more));
    cli_print_json(out);
}

static void print_problems(const struct config_problems *problems)
{
    for (size_t i = 0; i < problems->n; i++) {
        const struct config_problem *p = &problems->items[i];

        term_text(stdout, p->file);
        if (p->line)
            printf(":%u:%u", p->line, p->column);
        fputs(": ", stdout);
        term_text(stdout, p->message);
        putchar('\n');
    }
    if (problems->more)
        printf("and %zu more\n", problems->more);
}

static int run_check(const struct cli_args *args)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config) config = NULL;
    struct err err = ERR_INIT;
    int r = load_for_dir(args, &config, &problems, &err);

    if (r == 0)
        r = run_policy_check_file(cli_data_dir(args), &err) < 0 ||
                    models_check(config, cli_data_dir(args), &err) < 0
                ? -1
                : 0;
    if (r < 0 && problems.n == 0)
        return cli_fail(args, &err);
    if (cli_json(args))
        print_problems_json(&problems);
    else if (r == 0)
        puts("the configuration is valid");
    else
        print_problems(&problems);
    return r == 0 ? CLI_DONE : CLI_FAILED;
}

const struct cli_command cli_cmd_config_check = {
    .name = "config check",
    .operands = "",
    .summary = "Checks the configuration and names what is wrong by file, line and column",
    .details = "Reads DATA/config.yaml, DATA/policy.yaml, the scripts of scripted models and the "
               "variables, as `serve` does, and the "
               ".dormouse/config.yaml of this directory and of those above it, as each run here "
               "does. The exit code is 1 when something is wrong: then the daemon does not start, "
               "or no run here does.",
    .options = dir_option,
    .run = run_check,
};

/* ---- show ---- */

/* Values are aligned; a long one moves its origin alone, or on a narrow terminal to a line below.
 */
#define VALUE_COLUMNS 28

struct table {
    int key, value; /* widths */
    int terminal;   /* 0: none */
    struct buf text;
};

static const char *value_text(struct table *table, struct json_object *value)
{
    struct json_writer writer = JSON_WRITER(&table->text);

    buf_clear(&table->text);
    if (json_object_is_type(value, json_type_string))
        buf_add_str(&table->text, json_str(value));
    else if (value)
        json_write_value(&writer, value);
    else
        buf_add_text(&table->text, "(not set)");
    return buf_text(&table->text);
}

static int wider(int a, size_t b)
{
    return b > (size_t)a ? (int)b : a;
}

static void measure_key(void *arg, const char *key, struct json_object *value, const char *origin)
{
    struct table *table = arg;
    size_t n = strlen(value_text(table, value));

    (void)origin;
    table->key = wider(table->key, strlen(key));
    if (n <= VALUE_COLUMNS)
        table->value = wider(table->value, n);
}

static void print_key(void *arg, const char *key, struct json_object *value, const char *origin)
{
    struct table *table = arg;
    const char *text = value_text(table, value);
    int n = (int)strlen(text), column = wider(table->value, (size_t)n);

    printf("%-*s  ", table->key, key);
    term_text(stdout, text);
    if (table->terminal && table->key + 2 + column + 2 + (int)strlen(origin) > table->terminal)
        fputs("\n    ", stdout);
    else
        printf("%*s  ", column - n, "");
    fputs(term_style(stdout, TERM_DIM), stdout);
    term_text(stdout, origin);
    printf("%s\n", term_style(stdout, TERM_PLAIN));
}

struct shown {
    struct json_object *values, *origins;
};

static void keep_key(void *arg, const char *key, struct json_object *value, const char *origin)
{
    struct shown *shown = arg;

    json_object_object_add(shown->values, key, json_object_get(value));
    json_object_object_add(shown->origins, key, json_object_new_string(origin));
}

static int run_show(const struct cli_args *args)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config) config = NULL;
    struct err err = ERR_INIT;
    struct table table = { .terminal = term_width(stdout), .text = BUF_INIT(64 * KIB) };
    struct shown shown;
    struct json_object *out;

    if (load_for_dir(args, &config, &problems, &err) < 0)
        return cli_fail(args, &err);
    if (!cli_json(args)) {
        config_each(config, measure_key, &table);
        config_each(config, print_key, &table);
        buf_release(&table.text);
        return CLI_DONE;
    }
    shown = (struct shown){ json_object_new_object(), json_object_new_object() };
    config_each(config, keep_key, &shown);
    out = json_object_new_object();
    json_object_object_add(out, "values", shown.values);
    json_object_object_add(out, "origins", shown.origins);
    cli_print_json(out);
    return CLI_DONE;
}

const struct cli_command cli_cmd_config_show = {
    .name = "config show",
    .operands = "",
    .summary = "Shows every setting with its value and where that came from",
    .details = "As it holds for a run in this directory. Secrets are never shown. "
               "docs/configuration.md says what each key means.",
    .options = dir_option,
    .run = run_show,
};
