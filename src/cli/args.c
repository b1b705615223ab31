/* The command line parser.
 *
 * Options and operands may be mixed; `--` ends the options. Global options may stand before the
 * command. Nothing may be abbreviated: scripts that rely on it break when an option is added. A
 * mistake is answered with the nearest name that exists (args_unknown.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "cli/args_int.h"

#define NAME_BYTES 256

const struct cli_option cli_global_options[] = {
    { .name = "data", .value = "DIR", .help = "the data directory" },
    { .name = "json", .help = "print JSON on standard output" },
    { .name = "help", .help = "show help and do nothing else (also -h)" },
    { .name = "version", .help = "show the version and do nothing else" },
    { .name = NULL },
};

struct parser {
    struct cli_args *args;
    const struct cli_command *const *commands;
    char *const *argv;
    int argc, at;
    struct err *err;
};

void cli_args_release(struct cli_args *args)
{
    free(args->data_dir);
    arena_release(&args->arena);
}

/* ---- commands ---- */

const struct cli_option *cli_find_option(const struct cli_option *options, const char *name,
                                         size_t len)
{
    for (; options && options->name; options++)
        if (strlen(options->name) == len && memcmp(options->name, name, len) == 0)
            return options;
    return NULL;
}

/* Is name the beginning of a longer command's name, up to a space? */
static bool is_begun_by(const char *name, const char *words, size_t len)
{
    return strncmp(name, words, len) == 0 && name[len] == ' ';
}

bool cli_is_group(const struct cli_command *const *commands, const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (is_begun_by(commands[i]->name, name, strlen(name)))
            return true;
    return false;
}

static const struct cli_command *find_named(const struct cli_command *const *commands,
                                            const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* The longest one that these words begin with. */
const struct cli_command *cli_find_command(const struct cli_command *const *commands, int n,
                                           const char *const *words, int *ret_used)
{
    const struct cli_command *found = NULL;
    AUTO_BUF name = BUF_INIT(NAME_BYTES);

    for (int i = 0; i < n && !name.full; i++) {
        const struct cli_command *longer;

        buf_printf(&name, "%s%s", i ? " " : "", words[i]);
        longer = find_named(commands, buf_text(&name));
        if (!longer)
            continue;
        found = longer;
        *ret_used = i + 1;
    }
    return found;
}

/* The words of a command may have options between them. */
static int take_command(struct parser *p)
{
    struct cli_args *args = p->args;
    const char *word = p->argv[p->at++];
    const char *name = args->group ? arena_printf(&args->arena, "%s %s", args->group, word) : word;

    args->command = find_named(p->commands, name);
    if (args->command)
        return 0;
    if (cli_is_group(p->commands, name)) {
        args->group = name;
        return 0;
    }
    return cli_unknown_command(p->commands, args->group ? args->group : "", word, &args->arena,
                               p->err);
}

/* A command may be a group too (`subscribe AGENT`, `subscribe list`): the first operand decides,
 * unless options of the shorter one were given. */
static bool take_longer_command(struct parser *p, const char *word)
{
    struct cli_args *args = p->args;
    const struct cli_command *longer;

    if (args->operand_count || !cli_is_group(p->commands, args->command->name))
        return false;
    for (size_t i = 0; i < args->typed_count; i++)
        if (cli_find_option(args->command->options, args->typed[i].option->name,
                            strlen(args->typed[i].option->name)))
            return false;
    longer =
        find_named(p->commands, arena_printf(&args->arena, "%s %s", args->command->name, word));
    if (!longer)
        return false;
    args->command = longer;
    p->at++;
    return true;
}

/* ---- options ---- */

static const struct cli_option *find_option(const struct cli_args *args, const char *name,
                                            size_t len)
{
    const struct cli_option *option = NULL;

    if (args->command)
        option = cli_find_option(args->command->options, name, len);
    return option ? option : cli_find_option(cli_global_options, name, len);
}

static int keep_option(struct parser *p, const struct cli_option *option, const char *value)
{
    struct cli_args *args = p->args;

    if (option->choices && value && cli_check_choice(option, value, &args->arena, p->err) < 0)
        return -1;
    for (size_t i = 0; option->value && !option->repeats && i < args->typed_count; i++)
        if (args->typed[i].option == option)
            return err_set(p->err, ERR_BAD_REQUEST, "--%s may be given only once", option->name);
    args->typed[args->typed_count++] = (struct cli_typed){ option, value };
    return 0;
}

static int take_option(struct parser *p)
{
    const char *name = p->argv[p->at++] + 2;
    size_t len = strcspn(name, "=");
    const char *value = name[len] == '=' ? name + len + 1 : NULL;
    const struct cli_option *option = find_option(p->args, name, len);

    if (!option)
        return cli_unknown_option(p->args, arena_copy(&p->args->arena, name, len), &p->args->arena,
                                  p->err);
    if (!option->value && value)
        return err_set(p->err, ERR_BAD_REQUEST, "--%s takes no value", option->name);
    if (option->value && !value) {
        if (p->at == p->argc)
            return err_set(p->err, ERR_BAD_REQUEST, "--%s needs a value: --%s %s", option->name,
                           option->name, option->value);
        value = p->argv[p->at++];
    }
    return keep_option(p, option, value);
}

/* ---- the whole line ---- */

static int check_operands(struct parser *p)
{
    const struct cli_command *command = p->args->command;
    size_t n = p->args->operand_count;

    if (cli_has(p->args, "help"))
        return 0;
    if (!command)
        return p->args->group
                   ? cli_unknown_command(p->commands, p->args->group, NULL, &p->args->arena, p->err)
                   : 0;
    if (n < (size_t)command->operands_min)
        return err_set(p->err, ERR_BAD_REQUEST, "`%s` needs %s", command->name, command->operands);
    if (command->operands_max >= 0 && n > (size_t)command->operands_max)
        return err_set(p->err, ERR_BAD_REQUEST, "`%s` does not take `%.64s`%s%s", command->name,
                       p->args->operands[command->operands_max],
                       *command->operands ? "; it takes " : "", command->operands);
    return 0;
}

static int take_word(struct parser *p, bool options_ended)
{
    const char *word = p->argv[p->at];

    if (!options_ended && strcmp(word, "-h") == 0) {
        p->at++;
        return keep_option(p, cli_find_option(cli_global_options, "help", 4), NULL);
    }
    if (!options_ended && word[0] == '-' && word[1] == '-')
        return take_option(p);
    if (!options_ended && word[0] == '-' && word[1])
        return err_set(p->err, ERR_BAD_REQUEST,
                       "no option %.64s; options are written with two dashes", word);
    if (!p->args->command)
        return take_command(p);
    if (!options_ended && take_longer_command(p, word))
        return 0;
    p->args->operands[p->args->operand_count++] = word;
    p->at++;
    return 0;
}

int cli_parse(struct cli_args *args, const struct cli_command *const *commands, int argc,
              char *const *argv, struct err *err)
{
    struct parser p = { args, commands, argv, argc, 1, err };
    size_t room = argc > 0 ? (size_t)argc : 1;
    bool options_ended = false;

    args->typed = ARENA_NEW_N(&args->arena, struct cli_typed, room);
    args->operands = ARENA_NEW_N(&args->arena, const char *, room);
    while (p.at < argc) {
        if (!options_ended && strcmp(argv[p.at], "--") == 0) {
            options_ended = true;
            p.at++;
        } else if (take_word(&p, options_ended) < 0) {
            return -1;
        }
    }
    return check_operands(&p);
}

/* ---- what commands ask ---- */

bool cli_has(const struct cli_args *args, const char *option)
{
    const struct cli_option *wanted = find_option(args, option, strlen(option));

    for (size_t i = 0; i < args->typed_count; i++)
        if (args->typed[i].option == wanted)
            return true;
    return false;
}

const char *cli_value(const struct cli_args *args, const char *option)
{
    return cli_value_at(args, option, 0);
}

const char *cli_value_at(const struct cli_args *args, const char *option, size_t i)
{
    const struct cli_option *wanted = find_option(args, option, strlen(option));

    if (!wanted)
        BUG("option --%s is not in the table of `%s`", option, args->command->name);
    for (size_t at = 0; at < args->typed_count; at++)
        if (args->typed[at].option == wanted && i-- == 0)
            return args->typed[at].value;
    return NULL;
}

int cli_number(const struct cli_args *args, const char *option, int64_t min, int64_t max,
               int64_t *value, struct err *err)
{
    const char *typed = cli_value(args, option);
    int64_t number;

    if (!typed)
        return 0;
    if (str_to_i64(str_from(typed), &number) < 0 || number < min || number > max)
        return err_set(err, ERR_BAD_REQUEST, "--%s takes a number from %lld to %lld, not \"%.40s\"",
                       option, (long long)min, (long long)max, typed);
    *value = number;
    return 1;
}

const char *cli_operand(const struct cli_args *args, size_t i)
{
    return i < args->operand_count ? args->operands[i] : NULL;
}

size_t cli_operand_count(const struct cli_args *args)
{
    return args->operand_count;
}

bool cli_json(const struct cli_args *args)
{
    return cli_has(args, "json");
}
