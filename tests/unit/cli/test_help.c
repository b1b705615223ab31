/* Pages made from the command table.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/help_int.h"
#include "harness/test.h"

static const struct cli_option options[] = {
    { .name = "deep", .value = "N", .help = "how deep", .repeats = true },
    { .name = "file", .value = "FILE", .help = "a file" },
    { .name = "shape", .value = "S", .help = "a shape", .choices = "round square" },
    { .name = "fast", .help = "quickly" },
    { .name = NULL },
};
static const struct cli_command cmd_dig = {
    .name = "dig",
    .operands = "HOLE",
    .summary = "Digs a hole",
    .details = "A first paragraph that is long enough to be broken at the eightieth column, which "
               "is where a terminal ends.\n\n.starts with a dot and has a back\\slash\n\n"
               "  first as-is   line\n  second as-is line\n\nThe end.",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
};
static const struct cli_command cmd_tree_show = { .name = "tree show",
                                                  .operands = "",
                                                  .summary = "Shows" };
static const struct cli_command cmd_tree_grow = { .name = "tree grow",
                                                  .operands = "",
                                                  .summary = "Grows" };
static const struct cli_command *const table[] = { &cmd_dig, &cmd_tree_show, &cmd_tree_grow, NULL };

TEST(a_page_names_operands_options_and_details)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);

    help_command(&page, &cmd_dig);
    ASSERT_CONTAINS(buf_text(&page),
                    "usage: dormouse dig HOLE [--deep N]... [--file FILE] [--shape S] [--fast]\n");
    ASSERT_CONTAINS(buf_text(&page), "\nDigs a hole.\n");
    ASSERT_CONTAINS(buf_text(&page),
                    "\n    first as-is   line\n    second as-is line\n\nThe end.\n");
    ASSERT_CONTAINS(buf_text(&page), "\n  --deep N...           how deep\n");
    ASSERT_CONTAINS(buf_text(&page), "\n  --data DIR            the data directory\n");
}

TEST(no_line_of_a_page_is_wider_than_a_terminal)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
    struct str rest, line;

    help_command(&page, &cmd_dig);
    help_overview(&page, cli_commands);
    for (size_t i = 0; cli_commands[i]; i++)
        help_command(&page, cli_commands[i]);
    rest = buf_str(&page);
    while (str_split(&rest, '\n', &line))
        if (line.n > 80)
            FAIL("%zu columns: %.*s", line.n, STR_ARG(line));
}

TEST(a_group_lists_its_commands_only)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);

    help_group(&page, table, "tree");
    ASSERT_CONTAINS(buf_text(&page), "  tree show       Shows\n  tree grow       Grows\n");
    ASSERT(strstr(buf_text(&page), "dig") == NULL);
}

TEST(the_man_page_escapes_what_roff_would_read)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);

    help_man(&page, table);
    ASSERT_CONTAINS(buf_text(&page), "\n\\&.starts with a dot and has a back\\eslash\n");
    ASSERT_CONTAINS(buf_text(&page), "\n.nf\nfirst as\\-is   line\n");
    ASSERT_CONTAINS(buf_text(&page), "\\fB\\-\\-deep\\fR \\fIN\\fR\n");
    ASSERT_CONTAINS(buf_text(&page), "how deep; may be given several times.\n");
}

TEST(markdown_has_a_section_for_every_command)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);

    help_markdown(&page, table);
    ASSERT_CONTAINS(buf_text(&page), "| `tree grow` | Grows |\n");
    ASSERT_CONTAINS(buf_text(&page), "\n## dig\n\n    dormouse dig HOLE ");
    ASSERT_CONTAINS(buf_text(&page), "- `--deep N`: how deep (may be given several times)\n");
    ASSERT_CONTAINS(buf_text(&page),
                    "\n    first as-is   line\n    second as-is line\n\nThe end.\n");
}

TEST(the_command_reference_is_true)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
    const char *path = arena_printf(&t->arena, "%s/docs/commands.md", test_source_root());

    help_markdown(&page, cli_commands);
    if (!str_eq(test_read_file(t, path), buf_str(&page)))
        FAIL("docs/commands.md is old; make it with: dormouse help --markdown > docs/commands.md");
}
