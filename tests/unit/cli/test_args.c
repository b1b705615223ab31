/* The command line parser on a table of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "cli/args_int.h"
#include "harness/test.h"

static int run_nothing(const struct cli_args *args)
{
    (void)args;
    return CLI_DONE;
}

static const struct cli_option copy_options[] = {
    { .name = "depth", .value = "N", .help = "how deep" },
    { .name = "force", .help = "do it" },
    { .name = "tag", .value = "T", .help = "a tag", .repeats = true },
    { .name = "shape", .value = "S", .help = "a shape", .choices = "round square" },
    { .name = NULL },
};
static const struct cli_command cmd_copy = {
    .name = "copy",
    .operands = "FROM TO",
    .summary = "Copies",
    .options = copy_options,
    .operands_min = 2,
    .operands_max = 2,
    .run = run_nothing,
};
static const struct cli_command cmd_any = {
    .name = "any",
    .operands = "[WORD...]",
    .summary = "Takes all",
    .operands_max = -1,
    .run = run_nothing,
};
static const struct cli_command cmd_tree_show = {
    .name = "tree show",
    .operands = "",
    .summary = "Shows",
    .run = run_nothing,
};
static const struct cli_command cmd_tree_grow = {
    .name = "tree grow",
    .operands = "[BY]",
    .summary = "Grows",
    .operands_max = 1,
    .run = run_nothing,
};
static const struct cli_command *const table[] = { &cmd_copy, &cmd_any, &cmd_tree_show,
                                                   &cmd_tree_grow, NULL };

/* Parses words (ends with NULL) into args. */
static int parse(struct test *t, struct cli_args *args, const char *const *words)
{
    char *argv[32] = { (char *)"dormouse" };
    int argc = 1;

    for (; words[argc - 1]; argc++)
        argv[argc] = arena_text(&t->arena, words[argc - 1]);
    *args = (struct cli_args){ .command = NULL };
    return cli_parse(args, table, argc, argv, &t->err);
}
#define PARSE(...) parse(t, &args, (const char *const[]){ __VA_ARGS__, NULL })
#define ASSERT_WRONG(text_, ...)                                                                   \
    do {                                                                                           \
        ASSERT_FAILS(PARSE(__VA_ARGS__), ERR_BAD_REQUEST);                                         \
        ASSERT_CONTAINS(err_message(&t->err, 0), (text_));                                         \
        cli_args_release(&args);                                                                   \
        err_reset(&t->err);                                                                        \
    } while (0)

TEST(options_and_operands_may_be_mixed)
{
    AUTO_ARGS args;

    ASSERT_OK(PARSE("copy", "--depth", "3", "a", "--force", "b"));
    ASSERT(args.command == &cmd_copy);
    ASSERT_TEXT(cli_value(&args, "depth"), "3");
    ASSERT(cli_has(&args, "force"));
    ASSERT(!cli_json(&args));
    ASSERT_EQ(cli_operand_count(&args), 2);
    ASSERT_TEXT(cli_operand(&args, 0), "a");
    ASSERT_TEXT(cli_operand(&args, 1), "b");
    ASSERT(cli_operand(&args, 2) == NULL);
}

TEST(a_value_may_follow_an_equals_sign)
{
    AUTO_ARGS args;

    ASSERT_OK(PARSE("copy", "--depth=", "a", "b"));
    ASSERT_TEXT(cli_value(&args, "depth"), "");
    cli_args_release(&args);
    ASSERT_OK(PARSE("copy", "--tag=x=y", "a", "b"));
    ASSERT_TEXT(cli_value(&args, "tag"), "x=y");
}

TEST(a_value_may_look_like_an_option)
{
    AUTO_ARGS args;

    ASSERT_OK(PARSE("copy", "--depth", "--force", "a", "b"));
    ASSERT_TEXT(cli_value(&args, "depth"), "--force");
    ASSERT(!cli_has(&args, "force"));
}

TEST(global_options_may_stand_before_the_command)
{
    AUTO_ARGS args;

    ASSERT_OK(PARSE("--json", "--data", "/d", "tree", "show"));
    ASSERT(args.command == &cmd_tree_show);
    ASSERT(cli_json(&args));
    ASSERT_TEXT(cli_value(&args, "data"), "/d");
}

TEST(two_dashes_end_the_options)
{
    AUTO_ARGS args;

    ASSERT_OK(PARSE("any", "--", "--json", "-x", "--"));
    ASSERT(!cli_json(&args));
    ASSERT_EQ(cli_operand_count(&args), 3);
    ASSERT_TEXT(cli_operand(&args, 0), "--json");
    ASSERT_TEXT(cli_operand(&args, 2), "--");
}

TEST(a_single_dash_is_an_operand)
{
    AUTO_ARGS args;

    ASSERT_OK(PARSE("copy", "-", "b"));
    ASSERT_TEXT(cli_operand(&args, 0), "-");
}

TEST(repeated_options_keep_their_order)
{
    AUTO_ARGS args;

    ASSERT_OK(PARSE("copy", "--tag", "1", "--tag=2", "a", "b", "--tag", "3"));
    ASSERT_TEXT(cli_value_at(&args, "tag", 0), "1");
    ASSERT_TEXT(cli_value_at(&args, "tag", 2), "3");
    ASSERT(cli_value_at(&args, "tag", 3) == NULL);
}

TEST(a_mistyped_command_is_answered_with_the_nearest)
{
    struct cli_args args;

    ASSERT_WRONG("no command `cpoy`; did you mean `copy`?", "cpoy", "a", "b");
    ASSERT_WRONG("did you mean `tree`?", "treee");
    ASSERT_WRONG("no command `xyzzy`; `dormouse help` lists them all", "xyzzy");
    ASSERT_WRONG("no command `tree sohw`; did you mean `tree show`?", "tree", "sohw");
    ASSERT_WRONG("no command `tree burn`; there is: show, grow", "tree", "burn");
    ASSERT_WRONG("`tree` needs one of: show, grow", "tree");
    ASSERT_WRONG("`tree` needs one of: show, grow", "tree", "--json");
}

TEST(a_mistyped_option_is_answered_with_the_nearest)
{
    struct cli_args args;

    ASSERT_WRONG("no option --dept; did you mean --depth?", "copy", "--dept", "3", "a", "b");
    ASSERT_WRONG("no option --jsno; did you mean --json?", "any", "--jsno=1");
    ASSERT_WRONG("no option --zzzzzz; `dormouse help copy` lists them", "copy", "--zzzzzz");
    ASSERT_WRONG("no option -f; options are written with two dashes", "copy", "-f");
    ASSERT_WRONG("no option --force", "--force", "copy", "a", "b");
}

TEST(an_operand_typed_as_an_option_is_named)
{
    struct cli_args args;

    ASSERT_WRONG("no option --from; it is given without one: `dormouse copy FROM TO`", "copy",
                 "--from", "a");
    ASSERT_WRONG("no option --wrod; it is given without one: `dormouse any [WORD...]`", "any",
                 "--wrod=x");
    ASSERT_WRONG("no option --by; it is given", "tree", "grow", "--by", "2");
    ASSERT_WRONG("no option --from; `dormouse help any` lists them", "any", "--from");
}

TEST(a_word_near_one_of_the_choices_is_answered_with_it)
{
    struct cli_args args;

    ASSERT_WRONG("--shape takes one of: round square; not `rond`; did you mean `round`?", "copy",
                 "--shape=rond", "a", "b");
    ASSERT_WRONG("not `SQUARE`; did you mean `square`?", "copy", "--shape", "SQUARE", "a", "b");
    ASSERT_WRONG("--shape takes one of: round square; not `triangle`", "copy", "--shape",
                 "triangle", "a", "b");
}

TEST(values_are_missing_superfluous_or_not_allowed)
{
    struct cli_args args;

    ASSERT_WRONG("--depth needs a value: --depth N", "copy", "a", "b", "--depth");
    ASSERT_WRONG("--force takes no value", "copy", "a", "b", "--force=yes");
    ASSERT_WRONG("--depth may be given only once", "copy", "--depth=1", "--depth=2", "a", "b");
    ASSERT_WRONG("--shape takes one of: round square; not `rou`", "copy", "--shape=rou", "a", "b");
    ASSERT_WRONG("--shape takes one of: round square; not ``", "copy", "--shape=", "a", "b");
}

TEST(operands_are_counted)
{
    struct cli_args args;

    ASSERT_WRONG("`copy` needs FROM TO", "copy", "a");
    ASSERT_WRONG("`copy` does not take `c`; it takes FROM TO", "copy", "a", "b", "c");
    ASSERT_WRONG("`tree show` does not take `x`", "tree", "show", "x");
}

TEST(a_flag_may_be_repeated)
{
    AUTO_ARGS args;

    ASSERT_OK(PARSE("copy", "--force", "--force", "a", "b"));
}

TEST(help_is_possible_for_an_incomplete_line)
{
    AUTO_ARGS args;

    ASSERT_OK(PARSE("copy", "--help"));
    ASSERT(cli_has(&args, "help"));
    cli_args_release(&args);
    ASSERT_OK(PARSE("tree", "-h"));
    ASSERT(args.command == NULL);
    ASSERT_TEXT(args.group, "tree");
    cli_args_release(&args);
    ASSERT_OK(PARSE("--help", "tree"));
    ASSERT_TEXT(args.group, "tree");
}

TEST(an_empty_line_is_no_mistake_of_the_parser)
{
    AUTO_ARGS args = { .command = NULL };
    char *argv[] = { (char *)"dormouse", NULL };

    ASSERT_OK(cli_parse(&args, table, 1, argv, &t->err));
    ASSERT(args.command == NULL);
    cli_args_release(&args);
    args = (struct cli_args){ .command = NULL };
    ASSERT_OK(cli_parse(&args, table, 0, argv + 1, &t->err));
    cli_args_release(&args);
    args = (struct cli_args){ .command = NULL };
    ASSERT_FAILS(parse(t, &args, (const char *const[]){ "", NULL }), ERR_BAD_REQUEST);
}

TEST(what_was_understood_before_a_mistake_is_kept)
{
    AUTO_ARGS args;

    ASSERT_FAILS(PARSE("copy", "--json", "a", "b", "--nonsense"), ERR_BAD_REQUEST);
    ASSERT(cli_json(&args));
    ASSERT(args.command == &cmd_copy);
}

TEST(very_long_words_are_refused_without_harm)
{
    AUTO_ARGS args;
    char *word = arena_alloc(&t->arena, 100001, 1);

    memset(word, '-', 2);
    memset(word + 2, 'a', 99998);
    ASSERT_FAILS(PARSE("copy", word), ERR_BAD_REQUEST);
    cli_args_release(&args);
    ASSERT_FAILS(PARSE(word + 2), ERR_BAD_REQUEST);
}

static int nothing(const struct cli_args *args)
{
    (void)args;
    return 0;
}

static const struct cli_option deep_options[] = { { .name = "key", .value = "KEY", .help = "x" },
                                                  { .name = NULL } };
static const struct cli_command deep_add = {
    .name = "log task add", .operands = "[TITLE...]", .operands_max = -1, .run = nothing
};
static const struct cli_command deep_list = { .name = "log task list",
                                              .operands = "",
                                              .run = nothing };
static const struct cli_command deep_see = { .name = "log see", .operands = "", .run = nothing };
static const struct cli_command deep_watch = {
    .name = "watch", .operands = "[WHO]", .options = deep_options, .operands_max = 1, .run = nothing
};
static const struct cli_command deep_watch_list = { .name = "watch list",
                                                    .operands = "",
                                                    .run = nothing };
static const struct cli_command *const deep[] = { &deep_add,   &deep_list,       &deep_see,
                                                  &deep_watch, &deep_watch_list, NULL };

TEST(a_command_may_have_three_words_and_a_group_may_be_one)
{
    static const struct {
        const char *words[6];
        const char *meaning; /* the command, its operands, or what the mistake is told with */
    } cases[] = {
        { { "log", "task", "add", "x" }, "log task add: x" },
        { { "log", "--json", "task", "list" }, "log task list:" },
        { { "log", "see" }, "log see:" },
        { { "log" }, "`log` needs one of: task, see" },
        { { "log", "task" }, "`log task` needs one of: add, list" },
        { { "log", "task", "lst" }, "did you mean `log task list`?" },
        { { "log", "tsk" }, "did you mean `log task`?" },
        { { "watch" }, "watch:" },
        { { "watch", "coach" }, "watch: coach" },
        { { "watch", "list" }, "watch list:" },
        { { "watch", "--json", "list" }, "watch list:" },
        { { "watch", "--key", "x", "list" }, "watch: list" },
        { { "watch", "--", "list" }, "watch: list" },
        { { "watch", "list", "x" }, "does not take `x`" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARGS args = { .command = NULL };
        char *argv[8] = { (char *)"dormouse" };
        struct err err = ERR_INIT;
        const char *told;
        int n = 1;

        for (; n < 7 && cases[i].words[n - 1]; n++)
            argv[n] = (char *)cases[i].words[n - 1];
        if (cli_parse(&args, deep, n, argv, &err) < 0)
            told = err_message(&err, 0);
        else
            told = arena_printf(&t->arena, "%s:%s%s", args.command->name,
                                cli_operand_count(&args) ? " " : "",
                                cli_operand_count(&args) ? cli_operand(&args, 0) : "");
        ASSERT_CONTAINS(told, cases[i].meaning);
    }
}

TEST(every_command_of_the_product_is_well_formed)
{
    for (size_t i = 0; cli_commands[i]; i++) {
        const struct cli_command *command = cli_commands[i];
        size_t spaces = 0;

        for (const char *p = command->name; *p; p++)
            spaces += *p == ' ';
        ASSERT(spaces <= 2);
        ASSERT(command->run != NULL && command->operands != NULL);
        ASSERT(command->summary[strlen(command->summary) - 1] != '.');
        ASSERT(command->operands_max == -1 || command->operands_max >= command->operands_min);
        ASSERT((command->operands_max == 0) == (*command->operands == '\0'));
        for (const struct cli_option *o = command->options; o && o->name; o++) {
            for (const struct cli_option *g = cli_global_options; g->name; g++)
                ASSERT(strcmp(o->name, g->name) != 0);
            ASSERT(o->help[strlen(o->help) - 1] != '.');
        }
        for (size_t j = 0; j < i; j++)
            ASSERT(strcmp(command->name, cli_commands[j]->name) != 0);
    }
}

/* One line each: what it means, as "command: operands" or the error's message. */
TEST(the_words_of_a_command_may_have_options_between_them)
{
    static const struct {
        const char *words[8];
        const char *meaning;
    } cases[] = {
        { { "tree", "show" }, "tree show:" },
        { { "tree show" }, "tree show:" },
        { { "tree", "--json", "show" }, "tree show:" },
        { { "--json", "tree", "--data", "show", "grow", "3" }, "tree grow: 3" },
        { { "tree", "--", "grow", "--json" }, "tree grow: --json" },
        { { "--", "tree", "grow", "x" }, "tree grow: x" },
        { { "tree" }, "`tree` needs one of: show, grow" },
        { { "tree", "--json" }, "`tree` needs one of: show, grow" },
        { { "tree", "shwo", "--help" }, "no command `tree shwo`; did you mean `tree show`?" },
        { { "tree", "zzz" }, "no command `tree zzz`; there is: show, grow" },
        { { "tree", "copy" }, "no command `tree copy`; there is: show, grow" },
        { { "tree", "" }, "no command `tree `; there is: show, grow" },
        { { "tree", "--depth", "3", "show" },
          "no option --depth; `dormouse help tree` lists them" },
        { { "show" }, "no command `show`; `dormouse help` lists them all" },
        { { "tre" }, "no command `tre`; did you mean `tree`?" },
        { { "" }, "no command ``; `dormouse help` lists them all" },
        { { "any", "tree", "show" }, "any: tree show" },
        { { "tree", "show", "tree" }, "`tree show` does not take `tree`" },
        { { "tree", "grow", "1", "2" }, "`tree grow` does not take `2`; it takes [BY]" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARGS args;
        AUTO_BUF meaning = BUF_INIT(512);

        err_reset(&t->err);
        if (parse(t, &args, cases[i].words) < 0)
            buf_add_text(&meaning, err_message(&t->err, 0));
        else
            buf_printf(&meaning, "%s:", args.command ? args.command->name : "");
        for (size_t k = 0; t->err.code == ERR_NONE && cli_operand(&args, k); k++)
            buf_printf(&meaning, " %s", cli_operand(&args, k));
        ASSERT_TEXT(buf_text(&meaning), cases[i].meaning);
    }
}
