/* The man page, from the command table.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/help_int.h"

/* In roff a backslash, a hyphen that is to be a minus, and a dot or quote that begins a line mean
 * something. Pages are ASCII; other bytes pass as they are and groff reads them with -K utf8. */
static void add_roff(struct buf *out, struct str text)
{
    bool line_start = true;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (line_start && (c == '.' || c == '\''))
            buf_add_text(out, "\\&");
        if (c == '\\')
            buf_add_text(out, "\\e");
        else if (c == '-')
            buf_add_text(out, "\\-");
        else if (c == '`')
            buf_add_text(out, "\\(ga");
        else
            buf_add_char(out, c);
        line_start = c == '\n';
    }
}

static void add_roff_text(struct buf *out, const char *text)
{
    add_roff(out, str_from(text));
}

static void add_section(struct buf *out, const char *name)
{
    buf_printf(out, ".SH %s\n", name);
}

static void add_term(struct buf *out, const char *term, const char *text)
{
    buf_add_text(out, ".TP\n\\fB");
    add_roff_text(out, term);
    buf_add_text(out, "\\fR\n");
    add_roff_text(out, text);
    buf_add_char(out, '\n');
}

static void add_terms(struct buf *out, const char *section, const struct help_term *terms)
{
    add_section(out, section);
    for (; terms->term; terms++)
        add_term(out, terms->term, terms->text);
}

static void add_options(struct buf *out, const struct cli_option *options)
{
    for (; options && options->name; options++) {
        buf_add_text(out, ".TP\n\\fB\\-\\-");
        add_roff_text(out, options->name);
        buf_add_text(out, "\\fR");
        if (options->value) {
            buf_add_text(out, " \\fI");
            add_roff_text(out, options->value);
            buf_add_text(out, "\\fR");
        }
        buf_add_char(out, '\n');
        add_roff_text(out, options->help);
        buf_printf(out, "%s.\n", options->repeats ? "; may be given several times" : "");
    }
}

static void add_paragraph(struct buf *out, struct str text, enum help_kind kind)
{
    if (kind != HELP_CODE_MORE)
        buf_add_text(out, ".PP\n");
    if (kind != HELP_TEXT)
        buf_add_text(out, ".RS 4\n.nf\n");
    add_roff(out, text);
    buf_add_text(out, kind == HELP_TEXT ? "\n" : "\n.fi\n.RE\n");
}

static void add_command(struct buf *out, const struct cli_command *command)
{
    AUTO_BUF usage = BUF_INIT(4096);

    help_usage(&usage, command);
    buf_add_text(out, ".SS ");
    add_roff_text(out, command->name);
    buf_add_text(out, "\n.B dormouse\n");
    add_roff(out, buf_str(&usage));
    buf_add_text(out, "\n.PP\n");
    add_roff_text(out, command->summary);
    buf_add_text(out, ".\n");
    if (command->details)
        help_paragraphs(command->details, add_paragraph, out);
    add_options(out, command->options);
}

void help_man(struct buf *out, const struct cli_command *const *commands)
{
    buf_printf(out, ".TH DORMOUSE 1 \"\" \"dormouse %s\" \"User Commands\"\n", DORMOUSE_VERSION);
    buf_add_text(out, ".nh\n.ad l\n"); /* names and options are copied: no hyphens of roff's */
    add_section(out, "NAME");
    buf_add_text(out, "dormouse \\- local\\-first agent runtime\n");
    add_section(out, "SYNOPSIS");
    buf_add_text(out, ".B dormouse\n\\fICOMMAND\\fR [\\fB\\-\\-data\\fR \\fIDIR\\fR] "
                      "[\\fB\\-\\-json\\fR]\n");
    add_section(out, "DESCRIPTION");
    add_roff_text(out, "Dormouse runs agents that sleep until data changes, a timer fires or a "
                       "person speaks; they wake, think, act through tools, and go back to sleep. "
                       "Everything they do is recorded before it happens.\n");
    add_section(out, "COMMANDS");
    for (; *commands; commands++)
        add_command(out, *commands);
    add_section(out, "OPTIONS OF EVERY COMMAND");
    add_options(out, cli_global_options);
    add_terms(out, "EXIT STATUS", help_exit_codes);
    add_terms(out, "ENVIRONMENT", help_environment);
    add_terms(out, "FILES", help_files);
}
