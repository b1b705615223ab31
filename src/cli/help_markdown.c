/* docs/commands.md, from the command table. A test compares the file with this.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/help_int.h"

static void add_option_list(struct buf *out, const struct cli_option *options)
{
    if (!options || !options->name)
        return;
    buf_add_char(out, '\n');
    for (; options->name; options++)
        buf_printf(out, "- `--%s%s%s`: %s%s\n", options->name, options->value ? " " : "",
                   options->value ? options->value : "", options->help,
                   options->repeats ? " (may be given several times)" : "");
}

static void add_paragraph(struct buf *out, struct str text, enum help_kind kind)
{
    if (kind != HELP_CODE_MORE)
        buf_add_char(out, '\n');
    buf_printf(out, "%s%.*s\n", kind == HELP_TEXT ? "" : "    ", STR_ARG(text));
}

static void add_terms(struct buf *out, const char *title, const struct help_term *terms)
{
    buf_printf(out, "\n## %s\n\n", title);
    for (; terms->term; terms++)
        buf_printf(out, "- `%s`: %s\n", terms->term, terms->text);
}

void help_markdown(struct buf *out, const struct cli_command *const *commands)
{
    buf_add_text(out,
                 "# Commands\n\nMade by `dormouse help --markdown`; change the command table, "
                 "not this page.\n\n"
                 "    dormouse COMMAND [--data DIR] [--json]\n\n| command | does |\n|---|---|\n");
    for (size_t i = 0; commands[i]; i++)
        buf_printf(out, "| `%s` | %s |\n", commands[i]->name, commands[i]->summary);
    buf_add_text(out, "\n## Options of every command\n");
    add_option_list(out, cli_global_options);
    for (size_t i = 0; commands[i]; i++) {
        buf_printf(out, "\n## %s\n\n    dormouse ", commands[i]->name);
        help_usage(out, commands[i]);
        buf_printf(out, "\n\n%s.\n", commands[i]->summary);
        if (commands[i]->details)
            help_paragraphs(commands[i]->details, add_paragraph, out);
        add_option_list(out, commands[i]->options);
    }
    add_terms(out, "Exit codes", help_exit_codes);
    add_terms(out, "Environment", help_environment);
    add_terms(out, "Files", help_files);
}
