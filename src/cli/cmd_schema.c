/* dormouse schema check
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/schema.h"
#include "base/yaml.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/term.h"

static bool is_yaml(const char *path)
{
    return str_ends(str_from(path), STR(".yaml")) || str_ends(str_from(path), STR(".yml"));
}

static int read_yaml(struct str text, const char *path, struct json_object **ret_value,
                     struct err *err)
{
    AUTO_YAML yaml = YAML_INIT;

    if (yaml_parse(text, path, &yaml, err) < 0)
        return -1;
    *ret_value = json_object_get(yaml.root);
    return 0;
}

/* Pipes are welcome here: `<(command)` is a common argument. */
static int read_text(const char *path, struct buf *text, struct err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    AUTO_FD opened = is_stdin ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    int fd = is_stdin ? STDIN_FILENO : opened;
    ssize_t n = fd < 0 ? -1 : 1;

    while (fd >= 0 && n > 0) {
        char chunk[16 * KIB];

        n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0 && buf_add(text, chunk, (size_t)n) < 0)
            return err_set(err, ERR_TOO_LARGE, "%s is larger than %zu MiB", path, text->max / MIB);
    }
    if (n < 0)
        return err_set(err, ERR_NOT_FOUND, "read %s: %s", path, strerror(errno));
    return 0;
}

/* By the file's ending; standard input ("-") is JSON. */
static int read_document(const char *path, struct json_object **ret_value, struct err *err)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);

    if (read_text(path, &text, err) < 0)
        return -1;
    if (is_yaml(path))
        return read_yaml(buf_str(&text), path, ret_value, err);
    if (json_parse_flags(buf_str(&text), JSON_BIG_INTEGERS, ret_value, err) < 0)
        return err_wrap(err, "%s", strcmp(path, "-") == 0 ? "standard input" : path);
    return 0;
}

static int add_reference(struct schema_registry *registry, const char *typed, struct err *err)
{
    const char *equals = strrchr(typed, '=');
    AUTO_JSON document = NULL;

    if (!equals || equals == typed || !equals[1])
        return err_set(err, ERR_BAD_REQUEST, "--ref takes URI=FILE, not `%.128s`", typed);
    if (read_document(equals + 1, &document, err) < 0)
        return -1;
    return schema_registry_add(registry, str_of(typed, (size_t)(equals - typed)), document, err);
}

static int compile(const struct cli_args *args, struct schema **ret_schema, struct err *err)
{
    AUTO(schema_registry) registry = schema_registry_new();
    AUTO_JSON document = NULL;
    const char *reference;
    unsigned flags = cli_has(args, "assert-format") ? SCHEMA_ASSERT_FORMAT : 0;

    for (size_t i = 0; (reference = cli_value_at(args, "ref", i)) != NULL; i++)
        if (add_reference(registry, reference, err) < 0)
            return -1;
    if (read_document(cli_operand(args, 0), &document, err) < 0)
        return -1;
    if (schema_compile(registry, document, STR(""), flags, ret_schema, err) < 0)
        return err_wrap(err, "schema %s", cli_operand(args, 0));
    return 0;
}

static void print_json(bool valid, const struct schema_report *report)
{
    struct json_object *out = json_object_new_object(), *errors = json_object_new_array();

    json_object_object_add(out, "valid", json_object_new_boolean(valid));
    for (size_t i = 0; i < report->n; i++) {
        struct json_object *row = json_object_new_object();

        json_object_object_add(row, "instance", json_object_new_string(report->errors[i].instance));
        json_object_object_add(row, "schema", json_object_new_string(report->errors[i].keyword));
        json_object_object_add(row, "message", json_object_new_string(report->errors[i].message));
        json_object_array_add(errors, row);
    }
    json_object_object_add(out, "errors", errors);
    if (report->more)
        json_object_object_add(out, "more", json_object_new_boolean(true));
    cli_print_json(out);
}

static int tell(const struct cli_args *args, bool valid, const struct schema_report *report)
{
    AUTO_BUF text = BUF_INIT(1 * MIB);

    if (cli_json(args)) {
        print_json(valid, report);
    } else if (valid) {
        puts("valid");
    } else {
        schema_report_text(report, &text);
        term_text(stdout, buf_text(&text));
        if (report->more)
            puts("and more");
    }
    return valid ? CLI_DONE : CLI_FAILED;
}

static int run_schema_check(const struct cli_args *args)
{
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    AUTO(schema) schema = NULL;
    AUTO_JSON instance = NULL;
    struct err err = ERR_INIT;
    int r;

    if (compile(args, &schema, &err) < 0 ||
        read_document(cli_operand(args, 1), &instance, &err) < 0)
        return cli_fail(args, &err);
    r = schema_validate(schema, instance, &report, &err);
    if (r < 0 && err.code != ERR_SCHEMA_VIOLATION)
        return cli_fail(args, &err);
    return tell(args, r == 0, &report);
}

static const struct cli_option options[] = {
    { .name = "ref",
      .value = "URI=FILE",
      .help = "the document that a $ref to URI means",
      .repeats = true },
    { .name = "assert-format", .help = "let `format` fail instead of only describing" },
    { .name = NULL },
};

const struct cli_command cli_cmd_schema_check = {
    .name = "schema check",
    .operands = "SCHEMA INSTANCE",
    .summary = "Checks a JSON document against a JSON Schema (draft 2020-12)",
    .details = "Either may be `-` for standard input, and a file that ends in .yaml or .yml is "
               "read as YAML. The exit code is 0 when INSTANCE is valid; otherwise it is 1 and "
               "every error is named with its place in the instance and in the schema. Nothing is "
               "ever fetched: documents that the schema refers to are given with --ref.\n\n"
               "  dormouse schema check person.schema.json ada.json",
    .options = options,
    .operands_min = 2,
    .operands_max = 2,
    .run = run_schema_check,
};
