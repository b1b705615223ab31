/* SPDX-License-Identifier: MIT */
#include "bp/expr.h"

#include <stdio.h>

#include "base/alloc.h"
#include "harness/test.h"

static const struct {
    const char *text;
    bool holds;
} cases[] = {
    { "true", true },
    { "not true", false },
    { "tool == \"bash\"", true },
    { "tool == 'bash'", true },
    { "tool != \"bash\"", false },
    { "agent == \"coach\" and mode == \"structured\"", true },
    { "agent == \"x\" or mode == \"structured\"", true },
    { "agent == \"x\" or mode == \"y\"", false },
    /* `and` binds tighter than `or`, `not` tighter than both */
    { "true or false and false", true },
    { "(true or false) and false", false },
    { "not false and false", false },
    { "not (false and false)", true },
    { "not not true", true },
    { "tool in [\"sh\", \"bash\"]", true },
    { "tool in []", false },
    { "args.count in [1, 2, 3]", true },
    { "args.count == 2", true },
    { "args.count == 2.0", true },
    { "args.count == \"2\"", false },
    { "args.count > 1 and args.count < 3 and args.count >= 2 and args.count <= 2", true },
    { "args.count > -1e3", true },
    { "args.command > 1", false },
    { "args.command prefix \"rm\"", true },
    { "args.command suffix \"/\"", true },
    { "args.command contains \"-rf\"", true },
    { "args.command contains \"-fr\"", false },
    { "args.command matches \"rm * /\"", true },
    { "args.command matches \"rm\"", false },
    { "args.command matches \"?m*\"", true },
    { "args.count prefix \"2\"", false },
    { "args.deep.list[1].name == \"b\"", true },
    { "args.deep.list[9].name == \"b\"", false },
    { "args.deep.list contains 7", true },
    { "args.deep.list contains 8", false },
    { "args.nothing == null", true },
    { "args.absent == null", false },
    { "args.nothing exists", true },
    { "args.absent exists", false },
    { "not args.absent exists", true },
    { "args.absent != \"x\"", true },
    { "args.absent == args.missing", false },
    { "args.flag == true", true },
    { "args.flag == \"true\"", false },
    { "args.command.sub exists", false },
    { "args.a-b == 1", true },
    { "args == args", true },
    { "\"a\\\"b\" == 'a\"b'", true },
    { "'\\n' == \"\\n\"", true },
    { "\ttool\n==\r\"bash\"", true },
};

TEST(expressions_have_the_value_that_they_read_as)
{
    struct json_object *args = json_tokener_parse(
        "{\"command\":\"rm -rf /\",\"count\":2,\"flag\":true,\"nothing\":null,\"a-b\":1,"
        "\"deep\":{\"list\":[{\"name\":\"a\"},{\"name\":\"b\"},7]}}");
    struct expr_facts facts = { STR("bash"), STR("coach"), STR("structured"), args };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        const struct expr *e;

        if (expr_parse(str_from(cases[i].text), &t->arena, &e, &t->err) < 0)
            test_case_failed("%s: %s", cases[i].text, test_err_text(t));
        else if (expr_holds(e, &facts) != cases[i].holds)
            test_case_failed("%s is %d", cases[i].text, !cases[i].holds);
        else
            test_case_passed();
    }
    json_object_put(args);
}

static const struct {
    const char *text, *message;
} wrong[] = {
    { "", "column 1: it ends, but tool, agent, mode, args" },
    { "tool", "column 5: it ends, but a comparison" },
    { "tool ==", "column 8: it ends, but tool, agent" },
    { "tool = \"x\"", "column 6: \"= \"x\"\" stands where a comparison" },
    { "tool == \"x", "column 11: it ends, but the closing quote is needed" },
    { "tool == \"\\q\"", "column 11: \"q\"\" stands where one of" },
    { "tool == \"x\" tool", "column 13: \"tool\" stands where and, or, or the end" },
    { "(tool == \"x\"", "column 13: it ends, but and, or, or )" },
    { "tool in \"x\"", "column 9: \"\"x\"\" stands where [ and a list" },
    { "tool in [\"x\" \"y\"]", "column 14: \"\"y\"]\" stands where , or ]" },
    { "tool in [agent]", "column 10: \"agent]\" stands where a quoted text" },
    { "args..x exists", "column 6: \".x exists\" stands where a name" },
    { "args[x] exists", "column 6: \"x] exists\" stands where a number and ]" },
    { "args[1234567] exists", "where a number and ]" },
    { "toolx == 1", "column 1: \"toolx == 1\" stands where tool, agent" },
    { "tool == 1e999", "where a number" },
    { "tool == 1.2.3", "where a number" },
    { "tool == -", "a number" },
    { "and", "stands where tool" },
    { "not", "it ends" },
};

TEST(a_broken_expression_is_refused_with_its_column_and_what_is_allowed)
{
    for (unsigned i = 0; i < ARRAY_LEN(wrong); i++) {
        const struct expr *e;

        err_reset(&t->err);
        ASSERT_FAILS(expr_parse(str_from(wrong[i].text), &t->arena, &e, &t->err),
                     ERR_SCHEMA_VIOLATION);
        if (!strstr(test_err_text(t), wrong[i].message))
            FAIL("%s: %s", wrong[i].text, test_err_text(t));
    }
}

TEST(an_expression_is_bounded_in_length_depth_and_parts)
{
    char *text = arena_alloc(&t->arena, 8000, 1);
    const struct expr *e;

    memset(text, ' ', 5000);
    ASSERT_FAILS(expr_parse(str_of(text, 5000), &t->arena, &e, &t->err), ERR_TOO_LARGE);
    memset(text, '(', 4000);
    err_reset(&t->err);
    ASSERT_FAILS(expr_parse(str_of(text, 4000), &t->arena, &e, &t->err), ERR_TOO_LARGE);
    for (int i = 0; i < 1000; i++)
        memcpy(text + 4 * i, "not ", 4);
    err_reset(&t->err);
    ASSERT_FAILS(expr_parse(str_of(text, 4000), &t->arena, &e, &t->err), ERR_TOO_LARGE);
    strcpy(text, "args");
    for (int i = 0; i < 33; i++)
        strcat(text, ".a");
    err_reset(&t->err);
    ASSERT_FAILS(expr_parse(str_from(strcat(text, " exists")), &t->arena, &e, &t->err),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(test_err_text(t), "stands where a shorter path is allowed");
    strcpy(text, "tool in [1");
    for (int i = 0; i < EXPR_LIST_MAX; i++)
        strcat(text, ", 1");
    err_reset(&t->err);
    ASSERT_FAILS(expr_parse(str_from(strcat(text, "]")), &t->arena, &e, &t->err),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(test_err_text(t), "stands where a list of at most 128 values is allowed");
    strcpy(text, "true");
    for (int i = 0; i < 400; i++)
        strcat(text, " or true");
    err_reset(&t->err);
    ASSERT_FAILS(expr_parse(str_from(text), &t->arena, &e, &t->err), ERR_TOO_LARGE);
}

TEST(an_expression_without_arguments_is_false_rather_than_a_crash)
{
    struct expr_facts facts = { STR_NONE, STR_NONE, STR_NONE, NULL };
    const struct expr *e;

    ASSERT_OK(
        expr_parse(STR("args.x == 1 or tool == \"a\" or args exists"), &t->arena, &e, &t->err));
    ASSERT(!expr_holds(e, &facts));
    ASSERT_OK(expr_parse(STR("agent == mode"), &t->arena, &e, &t->err));
    ASSERT(!expr_holds(e, &facts));
}

TEST(a_glob_with_many_stars_ends_quickly)
{
    char text[4001];

    memset(text, 'a', 4000);
    text[4000] = '\0';
    ASSERT(!expr_glob(STR("*a*a*a*a*a*a*a*a*a*a*a*a*b"), str_from(text)));
    ASSERT(expr_glob(STR("*"), STR("")));
    ASSERT(!expr_glob(STR("?"), STR("")));
    ASSERT(expr_glob(STR("a*b*c"), STR("a-b-b-c")));
}
