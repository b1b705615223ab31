/* dormouse help
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "cli/args_int.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/complete.h"
#include "cli/help_int.h"

static int print_page(const struct cli_args *args, const struct buf *page)
{
    struct json_object *out;

    if (!cli_json(args)) {
        fwrite(buf_text(page), 1, page->n, stdout);
        return CLI_DONE;
    }
    out = json_object_new_object();
    json_object_object_add(out, "text", json_object_new_string_len(buf_text(page), (int)page->n));
    cli_print_json(out);
    return CLI_DONE;
}

static const char *meant_topic(const char *word)
{
    const char *names[32];
    size_t n = 0;

    while (n < ARRAY_LEN(names) && help_topics[n].name) {
        names[n] = help_topics[n].name;
        n++;
    }
    return nearest_name(word, names, n);
}

/* What is known of the words is the group. */
static int unknown(const struct cli_args *args, const char *const *words, int n)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct err err = ERR_INIT;
    const char *group = "", *word = words[0], *topic;

    for (int i = 1; i < n; i++) {
        const char *longer = arena_printf(&arena, "%s%s%s", group, *group ? " " : "", word);

        if (!cli_is_group(cli_commands, longer))
            break;
        group = longer;
        word = words[i];
    }
    topic = *group || cli_meant_word(cli_commands, "", word, &arena) ? NULL : meant_topic(word);
    if (topic)
        err_set(&err, ERR_BAD_REQUEST, "no command and no topic `%.64s`; did you mean `%s`?", word,
                topic);
    else
        cli_unknown_command(cli_commands, group, word, &arena, &err);
    cli_fail(args, &err);
    return CLI_USAGE;
}

int cli_help_page(const struct cli_args *args, const char *const *words, int n)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
    AUTO_BUF name = BUF_INIT(256);
    const struct cli_command *command;
    int used = 0;

    if (n == 0) {
        help_overview(&page, cli_commands);
        return print_page(args, &page);
    }
    for (int i = 0; i < n; i++)
        buf_printf(&name, "%s%s", i ? " " : "", words[i]);
    command = cli_find_command(cli_commands, n, words, &used);
    if (command && used == n)
        help_command(&page, command);
    else if (cli_is_group(cli_commands, buf_text(&name)))
        help_group(&page, cli_commands, buf_text(&name));
    else if (help_topic_find(buf_text(&name)))
        help_topic(&page, help_topic_find(buf_text(&name)));
    else
        return unknown(args, words, n);
    return print_page(args, &page);
}

static int run_help(const struct cli_args *args)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);

    if (cli_has(args, "man"))
        help_man(&page, cli_commands);
    else if (cli_has(args, "markdown"))
        help_markdown(&page, cli_commands);
    else if (cli_value(args, "completion"))
        buf_add_text(&page, complete_script(cli_value(args, "completion")));
    else if (cli_has(args, "complete"))
        complete_line(&page, cli_commands, args->operands, args->operand_count);
    else
        return cli_help_page(args, args->operands, (int)args->operand_count);
    return print_page(args, &page);
}

static const struct cli_option options[] = {
    { .name = "man", .help = "print the manual page as roff" },
    { .name = "markdown", .help = "print the reference as Markdown" },
    { .name = "completion",
      .value = "SHELL",
      .help = "print a completion script for bash, zsh or fish",
      .choices = "bash zsh fish" },
    { .name = "complete", .help = "print what may end the words behind --, for such scripts" },
    { .name = NULL },
};

const struct cli_command cli_cmd_help = {
    .name = "help",
    .operands = "[COMMAND|TOPIC]",
    .summary = "Says what a command does and takes, or tells of a topic",
    .details = "Topics are ids, times, rules, predicates, exit-codes, environment and files.\n\n"
               "To try completion in the current shell:\n\n"
               "  source <(dormouse help --completion bash)   # or zsh\n"
               "  dormouse help --completion fish | source\n\n"
               "Ids are those of the daemon that runs; none is started for them.",
    .options = options,
    .operands_max = -1,
    .run = run_help,
};
