/* What completion offers, on a table of its own and on that of the product; the scripts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/args_int.h"
#include "cli/complete.h"
#include "harness/test.h"

static const struct cli_option options[] = {
    { .name = "deep", .value = "N", .help = "how deep", .repeats = true },
    { .name = "file", .value = "FILE", .help = "a file" },
    { .name = "shape", .value = "S", .help = "a shape", .choices = "round square" },
    { .name = "key", .value = "KEY", .help = "what" },
    { .name = NULL },
};
static const struct cli_command cmd_dig = { .name = "dig",
                                            .operands = "DIR [HOLE...]",
                                            .summary = "Digs",
                                            .options = options,
                                            .operands_max = -1 };
static const struct cli_command cmd_tree = {
    .name = "tree", .operands = "FILE", .summary = "Plants", .operands_max = 1
};
static const struct cli_command cmd_tree_show = { .name = "tree show",
                                                  .operands = "",
                                                  .summary = "Shows" };
static const struct cli_command cmd_tree_leaf_add = { .name = "tree leaf add",
                                                      .operands = "",
                                                      .summary = "Adds" };
static const struct cli_command cmd_tree_leaf_rm = { .name = "tree leaf rm",
                                                     .operands = "",
                                                     .summary = "Removes" };
static const struct cli_command cmd_help = { .name = "help",
                                             .operands = "[COMMAND]",
                                             .summary = "Helps" };
static const struct cli_command *const table[] = {
    &cmd_dig, &cmd_tree, &cmd_tree_show, &cmd_tree_leaf_add, &cmd_tree_leaf_rm, &cmd_help, NULL
};

/* Words are parted by one space; what stands behind the last is being typed. Answers the words
 * without what is said of them, parted by spaces. */
static const char *offered(struct test *t, const char *typed)
{
    const char *words[32];
    AUTO_BUF out = BUF_INIT(64 * 1024), only = BUF_INIT(64 * 1024);
    struct str rest = str_from(typed), word, line;
    size_t n = 0;

    while (n < 32 && str_split(&rest, ' ', &word))
        words[n++] = arena_copy(&t->arena, word.p, word.n);
    complete_line(&out, table, words, n);
    rest = buf_str(&out);
    while (rest.n && str_split(&rest, '\n', &line)) {
        ptrdiff_t tab = str_find_char(line, '\t');

        buf_printf(&only, "%s%.*s", only.n ? " " : "",
                   STR_ARG(tab < 0 ? line : str_take(line, (size_t)tab)));
    }
    return arena_text(&t->arena, buf_text(&only));
}

TEST(every_place_of_a_line_has_its_words)
{
    static const struct {
        const char *typed, *offered;
    } cases[] = {
        { "dormouse", "dig tree help" },
        { "dormouse ", "dig tree help" },
        { "dormouse d", "dig" },
        { "dormouse x", "" },
        { "dormouse --json d", "dig" },
        { "dormouse --data here d", "dig" },
        { "dormouse dig ", ":dir" },
        { "dormouse dig a ", "" },
        { "dormouse dig --s", "--shape" },
        { "dormouse dig --shape ", "round square" },
        { "dormouse dig --shape r", "round" },
        { "dormouse dig --shape=s", "--shape=square" },
        { "dormouse dig --shape = s", "square" },
        { "dormouse dig --shape =", "round square" },
        { "dormouse dig --shape round ", ":dir" },
        { "dormouse dig --file ", ":file" },
        { "dormouse dig --deep ", "" },
        { "dormouse dig --key T", "TASK TIME_ENTRY" },
        { "dormouse dig --key=WO", "--key=WORKOUT" },
        { "dormouse dig -- --s", ":dir" },
        { "dormouse dig --unknown ", ":dir" },
        { "dormouse tree ", "show leaf :file" },
        { "dormouse tree l", "leaf :file" },
        { "dormouse tree leaf ", "add rm" },
        { "dormouse tree --json leaf r", "rm" },
        { "dormouse tree show ", "" },
        { "dormouse tree --da", "--data" },
        { "dormouse tree show --data ", ":dir" },
        { "dormouse help t", "tree times" },
        { "dormouse help tree ", "show leaf" },
        { "dormouse help tree leaf a", "add" },
        { "dormouse help dig ", "" },
        { "dormouse nothing ", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (strcmp(offered(t, cases[i].typed), cases[i].offered) != 0)
            FAIL("\"%s\": %s", cases[i].typed, offered(t, cases[i].typed));
}

TEST(every_command_and_option_of_the_product_is_offered)
{
    setenv("DORMOUSE_DATA", test_path(t, "nobody"), 1);
    for (size_t i = 0; cli_commands[i]; i++) {
        const struct cli_command *command = cli_commands[i];
        const char *words[8] = { "dormouse" };
        struct str rest = str_from(command->name), word;
        AUTO_BUF out = BUF_INIT(64 * 1024);
        size_t n = 1;

        while (str_split(&rest, ' ', &word)) {
            words[n] = arena_copy(&t->arena, word.p, word.n);
            buf_clear(&out);
            complete_line(&out, cli_commands, words, ++n);
            ASSERT_CONTAINS(buf_text(&out), words[n - 1]);
        }
        words[n++] = "--";
        buf_clear(&out);
        complete_line(&out, cli_commands, words, n);
        for (const struct cli_option *o = command->options; o && o->name; o++)
            ASSERT_CONTAINS(buf_text(&out), arena_printf(&t->arena, "--%s\t", o->name));
    }
}

TEST(what_is_said_of_a_word_sends_no_commands_to_the_terminal)
{
    AUTO_BUF out = BUF_INIT(1024);
    struct complete line = { .cur = "a", .out = &out };

    complete_add(&line, "", STR("ab"), STR("red \033[31m\nline"));
    complete_add(&line, "", STR("a\033"), STR("x"));
    complete_add(&line, "", STR("b"), STR("x"));
    ASSERT_TEXT(buf_text(&out), "ab\tred  [31m line\n");
}

/* Shells that are not here read nothing. */
TEST(shells_read_their_scripts_without_complaint)
{
    static const char *const shells[] = { "bash", "zsh", "fish" };

    for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
        const char *path = test_path(t, shells[i]), *text = complete_script(shells[i]);

        ASSERT_CONTAINS(text, "help --complete -- ");
        test_write_file(path, text, strlen(text));
        if (system(arena_printf(&t->arena, "command -v %s >/dev/null", shells[i])) == 0)
            ASSERT_EQ(system(arena_printf(&t->arena, "%s -n %s", shells[i], path)), 0);
    }
}
