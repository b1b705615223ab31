/* From argv to an exit code.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "cli/args_int.h"
#include "cli/cli_int.h"
#include "cli/term.h"
#include "house/data_dir.h"

const char *cli_data_dir(const struct cli_args *args)
{
    return args->data_dir;
}

void cli_print_json(struct json_object *object)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer writer = JSON_WRITER(&text);

    json_write_value(&writer, object);
    if (json_write_end(&writer) < 0)
        BUG("a result of more than %u bytes", LIMIT_JSON_BYTES);
    puts(buf_text(&text));
    json_object_put(object);
}

void cli_print_lines(struct json_object *list)
{
    for (size_t i = 0; i < json_length(list); i++)
        cli_print_json(json_object_get(json_object_array_get_idx(list, i)));
}

static void print_error_json(const struct err *err)
{
    char message[ERR_TEXT_MAX + 64];
    struct json_object *outer = json_object_new_object(), *inner = json_object_new_object();

    err_format(err, message, sizeof(message));
    json_object_object_add(inner, "code", json_object_new_string(err_name(err->code)));
    json_object_object_add(inner, "message", json_object_new_string(message));
    json_object_object_add(outer, "error", inner);
    cli_print_json(outer);
}

/* `subscribe lst`: what was taken for an operand may be a word of the command. */
static void print_meant(const struct cli_args *args)
{
    AUTO_ARENA arena = ARENA_INIT;
    const char *group = args->command ? args->command->name : "", *meant;

    if (!*group || !args->operand_count || !cli_is_group(cli_commands, group))
        return;
    meant = cli_meant_word(cli_commands, group, args->operands[0], &arena);
    if (meant)
        fprintf(stderr, "did you mean `dormouse %s %s`?\n", group, meant);
}

static void print_error(const struct cli_args *args, const struct err *err)
{
    char message[ERR_TEXT_MAX + 64];

    fprintf(stderr, "%sdormouse:%s ", term_style(stderr, TERM_RED), term_style(stderr, TERM_PLAIN));
    term_text(stderr, err_format(err, message, sizeof(message)));
    fputc('\n', stderr);
    print_meant(args);
}

int cli_fail(const struct cli_args *args, const struct err *err)
{
    if (cli_json(args))
        print_error_json(err);
    else
        print_error(args, err);
    if (err->code == ERR_SECRET_UNAVAILABLE)
        return CLI_FAILED;
    return err_http_status(err->code) == 403 ? CLI_DENIED : CLI_FAILED;
}

/* --json counts even when the mistake stands before it. */
static bool asked_for_json(int argc, char *const *argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

static int wrong_usage(const struct cli_args *args, bool json, const struct err *err)
{
    const char *page = args->command ? args->command->name : args->group;

    if (json) {
        print_error_json(err);
        return CLI_USAGE;
    }
    print_error(args, err);
    if (!strstr(err_message(err, 0), "`dormouse help")) /* it says so itself */
        fprintf(stderr, "see `dormouse help%s%s`\n", page ? " " : "", page ? page : "");
    return CLI_USAGE;
}

static int run_command(struct cli_args *args)
{
    struct err err = ERR_INIT;

    if (cli_has(args, "help")) {
        const char *name = args->command ? args->command->name : args->group;

        return cli_help_page(args, &name, name ? 1 : 0);
    }
    if (cli_has(args, "version"))
        return cli_version_page(args);
    if (!args->command) {
        err_set(&err, ERR_BAD_REQUEST, "a command is missing; begin with `dormouse serve`");
        return wrong_usage(args, cli_json(args), &err);
    }
    if (data_dir_resolve(cli_value(args, "data"), &args->data_dir, &err) < 0)
        return wrong_usage(args, cli_json(args), &err);
    return args->command->run(args);
}

int cli_main(int argc, char **argv)
{
    AUTO_ARGS args = { .command = NULL };
    struct err err = ERR_INIT;
    int code;

    if (cli_parse(&args, cli_commands, argc, argv, &err) < 0)
        return wrong_usage(&args, asked_for_json(argc, argv), &err);
    code = run_command(&args);
    /* What could not be written was not done: a full disk must not look like success. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "dormouse: write to standard output: %s\n", strerror(errno));
        return CLI_FAILED;
    }
    return code;
}

int cli_read_stdin(struct buf *out, struct err *err)
{
    for (;;) {
        char *room = buf_reserve(out, 4096);
        ssize_t n = room ? read(STDIN_FILENO, room, 4096) : -1;

        if (!room)
            return err_set(err, ERR_TOO_LARGE, "standard input has more than %zu bytes", out->max);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return err_set(err, ERR_BAD_REQUEST, "read standard input: %s", strerror(errno));
        if (n > 0)
            buf_grown(out, (size_t)n);
    }
}
