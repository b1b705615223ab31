/* The product's own pages: each command and each option stands on each of them, as it should.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "cli/help_int.h"
#include "harness/test.h"

/* Text with what roff would read taken out again. */
static const char *without_roff(struct test *t, const char *page)
{
    char *out = arena_alloc(&t->arena, strlen(page) + 1, 1), *at = out;

    for (; *page; page++) {
        if (strncmp(page, "\\f", 2) == 0 && page[2])
            page += 2;
        else if (strncmp(page, "\\&", 2) == 0)
            page++;
        else if (strncmp(page, "\\(ga", 4) == 0)
            page += 3, *at++ = '`';
        else if (strncmp(page, "\\e", 2) == 0)
            page++, *at++ = '\\';
        else if (*page == '\\' && page[1] == '-')
            page++, *at++ = '-';
        else
            *at++ = *page;
    }
    return out;
}

/* Words in the same order with any space between them. */
static const char *one_line(struct test *t, const char *page)
{
    char *out = arena_alloc(&t->arena, strlen(page) + 1, 1), *at = out;

    for (; *page; page++) {
        bool space = *page == ' ' || *page == '\n';

        if (!space)
            *at++ = *page;
        else if (at > out && at[-1] != ' ')
            *at++ = ' ';
    }
    return out;
}

static const char *option_text(struct test *t, const struct cli_option *o)
{
    return arena_printf(&t->arena, "--%s%s%s", o->name, o->value ? " " : "",
                        o->value ? o->value : "");
}

static const char *usage_text(struct test *t, const struct cli_command *command)
{
    AUTO_BUF usage = BUF_INIT(4096);

    help_usage(&usage, command);
    return arena_text(&t->arena, buf_text(&usage));
}

TEST(each_commands_page_says_all_about_it)
{
    for (size_t i = 0; cli_commands[i]; i++) {
        const struct cli_command *command = cli_commands[i];
        AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
        const char *text;

        help_command(&page, command);
        text = one_line(t, buf_text(&page));
        ASSERT(strncmp(text, "usage: dormouse ", 16) == 0);
        ASSERT_CONTAINS(text, arena_printf(&t->arena, "usage: dormouse %s %s.",
                                           usage_text(t, command), command->summary));
        for (const struct cli_option *o = command->options; o && o->name; o++)
            ASSERT_CONTAINS(text, arena_printf(&t->arena, " %s%s %s", option_text(t, o),
                                               o->repeats ? "..." : "", o->help));
        for (const struct cli_option *o = cli_global_options; o->name; o++)
            ASSERT_CONTAINS(text, arena_printf(&t->arena, " %s %s", option_text(t, o), o->help));
        if (command->details)
            ASSERT_CONTAINS(text, one_line(t, command->details));
    }
}

TEST(a_page_without_options_has_no_heading_for_them)
{
    for (size_t i = 0; cli_commands[i]; i++) {
        AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
        const struct cli_option *options = cli_commands[i]->options;

        help_command(&page, cli_commands[i]);
        ASSERT_EQ(strstr(buf_text(&page), "\noptions:\n") != NULL, options && options->name);
        ASSERT_CONTAINS(buf_text(&page), "\noptions of every command:\n");
    }
}

TEST(the_usage_of_each_command_is_this)
{
    static const struct {
        const char *name, *usage;
    } cases[] = {
        { "serve", "serve [--listen ADDRESS] [--user NAME] [--open] [--keeper]" },
        { "run", "run PROMPT [--agent AGENT] [--mode MODE] [--model ID] [--max-iterations N] "
                 "[--cwd DIR] [--thread THREAD] [--session NAME] [--sandbox]" },
        { "stdio", "stdio" },
        { "inbox", "inbox [ID] [--all] [--grants] [--revoke ID]" },
        { "approve", "approve ID [--run] [--always] [--anyway]" },
        { "reject", "reject ID [--reason TEXT]" },
        { "edit", "edit ID [--input FILE] [--content FILE] [--anyway]" },
        { "memory ls", "memory ls [--agent AGENT]" },
        { "memory cat", "memory cat PATH [--agent AGENT] [--at VERSION]" },
        { "memory restore", "memory restore PATH VERSION [--agent AGENT] [--reason TEXT]" },
        { "answer", "answer ID TEXT" },
        { "kill", "kill [--all] [--agent AGENT] [--tools CLASS] [--reason TEXT]" },
        { "unkill", "unkill [--all] [--agent AGENT] [--tools CLASS]" },
        { "agent pause", "agent pause AGENT" },
        { "rerun", "rerun RUN [--override CODE]" },
        { "doctor", "doctor" },
        { "config check", "config check [--dir DIR]" },
        { "config show", "config show [--dir DIR]" },
        { "schema check", "schema check SCHEMA INSTANCE [--ref URI=FILE]... [--assert-format]" },
        { "verify", "verify [--policy FILE] [--bound N]" },
        { "backup", "backup FILE" },
        { "version", "version" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct cli_command *found = NULL;

        for (size_t k = 0; cli_commands[k]; k++)
            if (strcmp(cli_commands[k]->name, cases[i].name) == 0)
                found = cli_commands[k];
        ASSERT(found != NULL);
        ASSERT_TEXT(usage_text(t, found), cases[i].usage);
    }
}

TEST(the_overview_lists_each_command_once)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
    const char *list;

    help_overview(&page, cli_commands);
    list = strstr(buf_text(&page), "\ncommands:\n");
    ASSERT(list != NULL);
    for (size_t i = 0; cli_commands[i]; i++) {
        const char *name = cli_commands[i]->name;
        /* A long name has a line of its own. */
        const char *row =
            arena_printf(&t->arena, strlen(name) > 14 ? "\n  %s\n" : "\n  %-16s", name);
        const char *at = strstr(list, row);

        if (!at || strstr(at + 1, row))
            FAIL("`%s` does not stand exactly once in\n%s", cli_commands[i]->name, list);
        ASSERT_CONTAINS(one_line(t, at), cli_commands[i]->summary);
    }
}

/* Text after a term begins in one column, and goes on there. */
TEST(the_columns_of_options_are_aligned)
{
    for (size_t i = 0; cli_commands[i]; i++) {
        AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
        struct str rest, line;
        const char *options;

        help_command(&page, cli_commands[i]);
        options = strstr(buf_text(&page), "options");
        rest = str_from(options);
        while (str_split(&rest, '\n', &line)) {
            bool heading = line.n == 0 || line.p[0] != ' ';

            if (heading)
                continue;
            if (line.n > 24 && !(line.p[23] == ' ' && line.p[24] != ' '))
                FAIL("not in column 24: %.*s", STR_ARG(line));
        }
    }
}

TEST(the_man_page_says_all_about_each_command)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
    const char *text, *flat;

    help_man(&page, cli_commands);
    text = without_roff(t, buf_text(&page));
    flat = one_line(t, text);
    for (size_t i = 0; cli_commands[i]; i++) {
        const struct cli_command *command = cli_commands[i];

        ASSERT_CONTAINS(text,
                        arena_printf(&t->arena, "\n.SS %s\n.B dormouse\n%s\n.PP\n%s.\n",
                                     command->name, usage_text(t, command), command->summary));
        for (const struct cli_option *o = command->options; o && o->name; o++)
            ASSERT_CONTAINS(flat,
                            arena_printf(&t->arena, " .TP %s %s%s.", option_text(t, o), o->help,
                                         o->repeats ? "; may be given several times" : ""));
    }
    for (const struct help_term *term = help_exit_codes; term->term; term++)
        ASSERT_CONTAINS(text, arena_printf(&t->arena, "\n.TP\n%s\n%s\n", term->term, term->text));
}

TEST(the_man_pages_sections_stand_in_their_usual_order)
{
    static const char *const sections[] = {
        "NAME",        "SYNOPSIS",    "DESCRIPTION", "COMMANDS", "OPTIONS OF EVERY COMMAND",
        "EXIT STATUS", "ENVIRONMENT", "FILES",
    };
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
    const char *at;

    help_man(&page, cli_commands);
    at = buf_text(&page);
    ASSERT(strncmp(at, ".TH DORMOUSE 1 ", 15) == 0);
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        at = strstr(at, arena_printf(&t->arena, "\n.SH %s\n", sections[i]));
        if (!at)
            FAIL("no section %s after the one before it", sections[i]);
        at++;
    }
}

/* Blocks that are opened are closed, or the rest of the page would be set as they are. */
TEST(the_man_pages_blocks_are_closed)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
    struct str rest, line;
    int filled = 0, indented = 0, blocks = 0;

    help_man(&page, cli_commands);
    rest = buf_str(&page);
    while (str_split(&rest, '\n', &line)) {
        filled += str_is(line, ".nf") - str_is(line, ".fi");
        indented += str_starts(line, STR(".RS")) - str_is(line, ".RE");
        blocks += str_is(line, ".nf");
        ASSERT(filled >= 0 && filled <= 1 &&
               indented == filled + (str_is(line, ".RS 4") || str_is(line, ".fi")));
    }
    ASSERT_EQ(filled, 0);
    ASSERT_EQ(indented, 0);
    ASSERT(blocks >= 3);
}

TEST(markdown_says_all_about_each_command)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
    const char *text;

    help_markdown(&page, cli_commands);
    text = buf_text(&page);
    for (size_t i = 0; cli_commands[i]; i++) {
        const struct cli_command *command = cli_commands[i];
        const char *section = strstr(text, arena_printf(&t->arena, "\n## %s\n", command->name));

        ASSERT_CONTAINS(
            text, arena_printf(&t->arena, "| `%s` | %s |\n", command->name, command->summary));
        ASSERT_CONTAINS(section, arena_printf(&t->arena, "\n    dormouse %s\n\n%s.\n",
                                              usage_text(t, command), command->summary));
        for (const struct cli_option *o = command->options; o && o->name; o++)
            ASSERT_CONTAINS(section,
                            arena_printf(&t->arena, "\n- `%s`: %s", option_text(t, o), o->help));
    }
    for (const struct help_term *term = help_environment; term->term; term++)
        ASSERT_CONTAINS(text, arena_printf(&t->arena, "\n- `%s`: %s\n", term->term, term->text));
    for (const struct help_term *term = help_files; term->term; term++)
        ASSERT_CONTAINS(text, arena_printf(&t->arena, "\n- `%s`: %s\n", term->term, term->text));
}

static void note_kind(struct buf *out, struct str text, enum help_kind kind)
{
    buf_printf(out, "%c(%.*s)", "tcm"[kind], STR_ARG(text));
}

TEST(details_are_taken_apart_into_paragraphs_and_blocks)
{
    static const struct {
        const char *details, *parts;
    } cases[] = {
        { "", "" },
        { "one", "t(one)" },
        { "one\n\ntwo", "t(one)t(two)" },
        { "one\n\n\n\ntwo\n", "t(one)t(two)" },
        { "  code", "c(code)" },
        { "  code\n  more", "c(code)m(more)" },
        { "text\n  code\n\n  other", "t(text)c(code)c(other)" },
        { "text\n\n  code\ntext", "t(text)c(code)t(text)" },
        { "  code\n    deeper", "c(code)m(  deeper)" },
        { " one space", "t( one space)" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(512);

        help_paragraphs(cases[i].details, note_kind, &out);
        ASSERT_TEXT(buf_text(&out), cases[i].parts);
    }
}
