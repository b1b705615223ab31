/* Help pages for people, from the command table.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "cli/args_int.h"
#include "cli/help_int.h"
#include "cli/term.h"

#define WIDTH   80
#define TERM_AT 2

void help_paragraphs(const char *details,
                     void (*fn)(struct buf *out, struct str text, enum help_kind kind),
                     struct buf *out)
{
    struct str rest = str_from(details), line;
    enum help_kind code = HELP_CODE;
    const char *start = NULL, *end = NULL;

    while (str_split(&rest, '\n', &line)) {
        bool as_is = line.n > 2 && line.p[0] == ' ' && line.p[1] == ' ';

        if ((line.n == 0 || as_is) && start) {
            fn(out, str_of(start, (size_t)(end - start)), HELP_TEXT);
            start = NULL;
        }
        if (as_is) {
            fn(out, str_skip(line, 2), code);
        } else if (line.n > 0) {
            start = start ? start : line.p;
            end = line.p + line.n;
        }
        code = as_is ? HELP_CODE_MORE : HELP_CODE;
    }
    if (start)
        fn(out, str_of(start, (size_t)(end - start)), HELP_TEXT);
}

static void add_term(struct buf *out, const char *term, const char *text, int column)
{
    int len = (int)strlen(term);

    buf_printf(out, "%*s%s", TERM_AT, "", term);
    if (TERM_AT + len + 2 > column)
        buf_printf(out, "\n%*s", column, "");
    else
        buf_printf(out, "%*s", column - TERM_AT - len, "");
    term_wrap(out, str_from(text), column, column, WIDTH);
}

static void option_term(const struct cli_option *option, char *out, size_t size)
{
    snprintf(out, size, "--%s%s%s%s", option->name, option->value ? " " : "",
             option->value ? option->value : "", option->repeats ? "..." : "");
}

static void add_options(struct buf *out, const char *title, const struct cli_option *options)
{
    char term[96];

    if (!options || !options->name)
        return;
    buf_printf(out, "\n%s\n", title);
    for (; options->name; options++) {
        option_term(options, term, sizeof(term));
        add_term(out, term, options->help, 24);
    }
}

void help_usage(struct buf *out, const struct cli_command *command)
{
    buf_add_text(out, command->name);
    if (*command->operands)
        buf_printf(out, " %s", command->operands);
    for (const struct cli_option *o = command->options; o && o->name; o++)
        buf_printf(out, " [--%s%s%s]%s", o->name, o->value ? " " : "", o->value ? o->value : "",
                   o->repeats ? "..." : "");
}

static void add_paragraph(struct buf *out, struct str text, enum help_kind kind)
{
    if (kind != HELP_CODE_MORE)
        buf_add_char(out, '\n');
    if (kind == HELP_TEXT)
        term_wrap(out, text, 0, 0, WIDTH);
    else
        buf_printf(out, "    %.*s\n", STR_ARG(text));
}

static void add_commands(struct buf *out, const struct cli_command *const *commands,
                         const char *group)
{
    size_t len = group ? strlen(group) : 0;

    for (; *commands; commands++)
        if (!group ||
            (strncmp((*commands)->name, group, len) == 0 && (*commands)->name[len] == ' '))
            add_term(out, (*commands)->name, (*commands)->summary, 18);
}

void help_command(struct buf *out, const struct cli_command *command)
{
    AUTO_BUF text = BUF_INIT(4096);

    help_usage(&text, command);
    buf_add_text(out, "usage: dormouse ");
    term_wrap(out, buf_str(&text), 16, 16, WIDTH);
    buf_clear(&text);
    buf_printf(&text, "%s.", command->summary);
    buf_add_char(out, '\n');
    term_wrap(out, buf_str(&text), 0, 0, WIDTH);
    if (command->details)
        help_paragraphs(command->details, add_paragraph, out);
    if (cli_is_group(cli_commands, command->name)) {
        buf_add_text(out, "\nmore commands:\n");
        add_commands(out, cli_commands, command->name);
    }
    add_options(out, "options:", command->options);
    add_options(out, "options of every command:", cli_global_options);
}

void help_group(struct buf *out, const struct cli_command *const *commands, const char *group)
{
    buf_printf(out, "usage: dormouse %s COMMAND\n\ncommands:\n", group);
    add_commands(out, commands, group);
    buf_printf(out, "\n`dormouse help %s COMMAND` says more.\n", group);
}

void help_overview(struct buf *out, const struct cli_command *const *commands)
{
    buf_add_text(out, "Dormouse, a local-first agent runtime.\n\n"
                      "usage: dormouse COMMAND [--data DIR] [--json]\n\ncommands:\n");
    add_commands(out, commands, NULL);
    buf_add_text(out, "\ntopics:\n");
    for (const struct help_topic *topic = help_topics; topic->name; topic++)
        add_term(out, topic->name, topic->summary, 18);
    add_options(out, "options of every command:", cli_global_options);
    buf_add_text(out, "\n`dormouse help COMMAND` and `help TOPIC` say more; begin with "
                      "`dormouse serve`.\n");
}

void help_topic(struct buf *out, const struct help_topic *topic)
{
    buf_printf(out, "%s: %s\n", topic->name, topic->summary);
    if (topic->details)
        help_paragraphs(topic->details, add_paragraph, out);
    if (topic->terms)
        buf_add_char(out, '\n');
    for (const struct help_term *term = topic->terms; term && term->term; term++)
        add_term(out, term->term, term->text, 24);
}
