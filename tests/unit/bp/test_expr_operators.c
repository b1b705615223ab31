/* Every operator with values of every type, what binds how, and every bound from both sides.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "bp/expr.h"
#include "harness/test.h"

static const char arguments[] =
    "{\"text\":\"abc\",\"empty\":\"\",\"n\":5,\"half\":0.5,\"neg\":-3,\"big\":9007199254740992,"
    "\"yes\":true,\"no\":false,\"nil\":null,\"list\":[1,\"abc\",true,null,[1,2],{\"k\":1}],"
    "\"void\":[],\"map\":{\"k\":1},\"same\":{\"k\":1},\"other\":{\"k\":2},\"hole\":{},"
    "\"utf\":\"gr\\u00fcn\",\"zero\":\"a\\u0000b\",\"deep\":[[[{\"x\":[7]}]]],\"and\":1,"
    "\"tool\":\"inner\",\"UPPER_9\":1,\"star\":\"a*b\",\"lines\":\"a\\nb\"}";

struct question {
    const char *text;
    bool holds;
};

static void ask(struct test *t, const struct question *questions, unsigned n)
{
    struct json_object *args = json_tokener_parse(arguments);
    struct expr_facts facts = { STR("bash"), STR("coach"), STR("open"), args };

    ASSERT(args != NULL);
    for (unsigned i = 0; i < n; i++) {
        const struct expr *e;

        err_reset(&t->err);
        if (expr_parse(str_from(questions[i].text), &t->arena, &e, &t->err) < 0)
            test_case_failed("%s: %s", questions[i].text, test_err_text(t));
        else if (expr_holds(e, &facts) != questions[i].holds)
            test_case_failed("%s is %s", questions[i].text, questions[i].holds ? "false" : "true");
        else
            test_case_passed();
    }
    json_object_put(args);
}

/* ---- a value of one type against a value of another ---- */

/* One of each type; two that stand in the same row are equal to themselves and nothing else. */
static const char *const operands[] = { "args.text", "args.n",   "args.yes",   "args.no",
                                        "args.nil",  "args.map", "args.list",  "args.half",
                                        "args.neg",  "tool",     "args.empty", "args.void" };

TEST(values_of_different_types_are_never_equal_and_each_is_equal_to_itself)
{
    for (unsigned i = 0; i < ARRAY_LEN(operands); i++)
        for (unsigned k = 0; k < ARRAY_LEN(operands); k++) {
            char eq[64], ne[64];
            struct question both[] = { { eq, i == k }, { ne, i != k } };

            snprintf(eq, sizeof(eq), "%s == %s", operands[i], operands[k]);
            snprintf(ne, sizeof(ne), "%s != %s", operands[i], operands[k]);
            ask(t, both, 2);
        }
}

TEST(only_numbers_have_an_order_and_exactly_one_of_three_holds_for_two_of_them)
{
    static const double values[] = { 5, 0.5, -3 };
    static const char *const numbers[] = { "args.n", "args.half", "args.neg" };

    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 3; k++) {
            char text[4][64];
            struct question all[] = { { text[0], values[i] < values[k] },
                                      { text[1], values[i] <= values[k] },
                                      { text[2], values[i] > values[k] },
                                      { text[3], values[i] >= values[k] } };
            static const char *const ops[] = { "<", "<=", ">", ">=" };

            for (unsigned op = 0; op < 4; op++)
                snprintf(text[op], sizeof(text[op]), "%s %s %s", numbers[i], ops[op], numbers[k]);
            ask(t, all, 4);
        }
}

TEST(an_order_with_a_value_that_is_no_number_is_false_either_way)
{
    static const char *const ops[] = { "<", "<=", ">", ">=" };
    static const char *const others[] = { "args.text", "args.yes",  "args.nil", "args.map",
                                          "args.list", "args.gone", "tool",     "\"5\"" };

    for (unsigned i = 0; i < ARRAY_LEN(others); i++)
        for (unsigned op = 0; op < 4; op++) {
            char left[64], right[64];
            struct question both[] = { { left, false }, { right, false } };

            snprintf(left, sizeof(left), "%s %s 5", others[i], ops[op]);
            snprintf(right, sizeof(right), "5 %s %s", ops[op], others[i]);
            ask(t, both, 2);
        }
}

TEST(operators_on_text_are_false_of_anything_but_text)
{
    static const char *const ops[] = { "prefix", "suffix", "matches" };
    static const char *const others[] = { "args.n",   "args.yes",  "args.nil",
                                          "args.map", "args.gone", "args.list" };

    for (unsigned i = 0; i < ARRAY_LEN(others); i++)
        for (unsigned op = 0; op < ARRAY_LEN(ops); op++) {
            char left[64], right[64];
            struct question both[] = { { left, false }, { right, false } };

            snprintf(left, sizeof(left), "%s %s ''", others[i], ops[op]);
            snprintf(right, sizeof(right), "'' %s %s", ops[op], others[i]);
            ask(t, both, 2);
        }
}

/* ---- each operator at its edges ---- */

static const struct question edges[] = {
    { "args.text prefix ''", true },
    { "args.text suffix ''", true },
    { "args.text contains ''", true },
    { "args.empty contains ''", true },
    { "args.empty contains 'a'", false },
    { "args.text prefix 'abc'", true },
    { "args.text prefix 'abcd'", false },
    { "args.text suffix 'abc'", true },
    { "args.text suffix 'xabc'", false },
    { "args.text prefix 'bc'", false },
    { "args.text suffix 'ab'", false },
    { "args.text contains 'bc'", true },
    { "args.text contains 'ac'", false },
    { "args.text contains args.text", true },
    { "args.text contains 'ABC'", false },
    { "'abc' == args.text", true },
    { "5 == args.n", true },
    { "-3 == args.neg", true },
    { "args.neg < 0", true },
    { "args.half == 5e-1", true },
    { "args.half == 0.50", true },
    { "args.n == 5E0", true },
    { "args.n == 0.5e+1", true },
    { "args.big == 9007199254740992", true },
    { "args.big > 9007199254740991", true },
    { "args.yes == true and args.no == false", true },
    { "args.yes == false or args.no == true", false },
    { "null == null", true },
    { "null == false", false },
    { "null == 0", false },
    { "null == ''", false },
    { "true == 1", false },
    { "args.map == args.same", true },
    { "args.map == args.other", false },
    { "args.map == args.hole", false },
    { "args.map != args.other", true },
    { "args.gone != args.gone", true },
    { "args.gone == null", false },
    /* in: the list holds literals */
    { "args.n in [4, 5]", true },
    { "args.n in [4, 6]", false },
    { "args.n in ['5']", false },
    { "args.nil in [null]", true },
    { "args.gone in [null]", false },
    { "args.no in [true, false]", true },
    { "args.yes in [1, 'true']", false },
    { "args.list in [1, 'abc']", false },
    { "'x' in ['y', \"x\"]", true },
    { "tool in ['bas', 'bashh']", false },
    /* contains over a list: an item that is equal */
    { "args.list contains 1", true },
    { "args.list contains 'abc'", true },
    { "args.list contains 'ab'", false },
    { "args.list contains true", true },
    { "args.list contains false", false },
    { "args.list contains null", true },
    { "args.list contains args.map", true },
    { "args.list contains args.other", false },
    { "args.list contains args.list[4]", true },
    { "args.list contains args.gone", false },
    { "args.void contains null", false },
    { "args.map contains 'k'", false },
    { "args.n contains 5", false },
    { "'args' contains 'rg'", true },
    /* paths */
    { "args.deep[0][0][0].x[0] == 7", true },
    { "args.deep[0][0][1] exists", false },
    { "args.deep[0].x exists", false },
    { "args.map[0] exists", false },
    { "args.list[3] exists", true },
    { "args.list[3] == null", true },
    { "args.list[6] exists", false },
    { "args.list[000001] == 'abc'", true },
    { "args.list[3].x exists", false },
    { "args.nil.x exists", false },
    { "args.text[0] exists", false },
    { "args.and == 1", true },
    { "args.tool == 'inner'", true },
    { "args.UPPER_9 == 1", true },
    { "args.upper_9 exists", false },
    { "args exists", true },
    { "tool exists and agent exists and mode exists", true },
    { "null exists", true },
    { "'x' exists", true },
    /* bytes that are not plain */
    { "args.utf matches 'gr??n'", true },
    { "args.utf matches 'gr?n'", false },
    { "args.utf contains '\xc3\xbc'", true },
    { "args.zero suffix 'b'", true },
    { "args.zero == 'a'", false },
    { "args.zero matches 'a?b'", true },
    { "args.lines == 'a\\nb'", true },
    { "args.lines matches 'a*b'", true },
    { "'\\t' == '\t'", true },
    { "'\\\\' == \"\\\\\"", true },
    { "'it\\'s' == \"it's\"", true },
    { "'a\\'' == 'a'", false },
    /* the glob has no escape: a star in the text is a byte like another */
    { "args.star matches 'a*b'", true },
    { "args.star matches 'a?b'", true },
    { "args.text matches ''", false },
    { "args.empty matches ''", true },
    { "args.empty matches '*'", true },
    { "args.empty matches '?'", false },
    { "args.text matches '***'", true },
    { "args.text matches \"???\"", true },
    { "args.text matches \"????\"", false },
    { "args.text matches '*c'", true },
    { "args.text matches 'c*'", false },
    { "args.text matches '*b*'", true },
    { "args.text matches 'a*?c'", true },
    { "args.text matches 'a*b?c'", false },
    { "args.text matches '[a]bc'", false },
};

TEST(every_operator_says_what_it_should_at_its_edges)
{
    ask(t, edges, ARRAY_LEN(edges));
}

/* ---- what binds how ---- */

/* All eight values of three constants, against C's own operators. */
TEST(and_binds_before_or_and_not_before_both_for_all_values)
{
    static const char *const word[] = { "false", "true" };

    for (unsigned v = 0; v < 8; v++) {
        bool a = v & 1, b = v & 2, c = v & 4;
        const struct {
            const char *form;
            bool holds;
        } forms[] = {
            { "%s or %s and %s", a || (b && c) },
            { "%s and %s or %s", (a && b) || c },
            { "(%s or %s) and %s", (a || b) && c },
            { "%s and (%s or %s)", a && (b || c) },
            { "not %s and %s or %s", (!a && b) || c },
            { "not (%s and %s) or %s", !(a && b) || c },
            { "not %s or %s and %s", !a || (b && c) },
            { "%s or not %s and %s", a || (!b && c) },
            { "not not %s and not (%s or %s)", a && !(b || c) },
            { "%s and %s and %s", a && b && c },
            { "%s or %s or %s", a || b || c },
            { "((%s)) and (((%s) or (%s)))", a && (b || c) },
        };

        for (unsigned i = 0; i < ARRAY_LEN(forms); i++) {
            char text[96];
            struct question q = { text, forms[i].holds };

            snprintf(text, sizeof(text), forms[i].form, /* NOLINT: all forms take three words */
                     word[a], word[b], word[c]);
            ask(t, &q, 1);
        }
    }
}

TEST(not_takes_a_whole_comparison)
{
    static const struct question questions[] = {
        { "not tool == 'bash'", false },
        { "not tool == 'x' and agent == 'coach'", true },
        { "not tool == 'x' or false", true },
        { "not args.gone exists and not args.n < 5", true },
        { "not args.n in [5]", false },
        { "not (tool == 'x' or agent == 'coach')", false },
        { "true and not false or false", true },
    };

    ask(t, questions, ARRAY_LEN(questions));
}

/* ---- refusals ---- */

#define VALUES "tool, agent, mode, args, a quoted text, a number, true, false or null"
#define SIGNS  "a comparison (== != < <= > >= in prefix suffix contains matches exists)"
#define ITEMS  "a quoted text, a number, true, false or null"
#define ESCAPE "one of \" \\ ' n t after the backslash"

/* The whole message. What stands there is cut after 16 bytes. */
static const struct {
    const char *text, *message;
} wrong[] = {
    { "   ", "column 4: it ends, but " VALUES " is needed" },
    { "Tool == 'x'", "column 1: \"Tool == 'x'\" stands where " VALUES " is allowed" },
    { "TRUE", "column 1: \"TRUE\" stands where " VALUES " is allowed" },
    { "tool === 'x'", "column 8: \"= 'x'\" stands where " VALUES " is allowed" },
    { "tool =! 'x'", "column 6: \"=! 'x'\" stands where " SIGNS " is allowed" },
    { "tool <> 'x'", "column 7: \"> 'x'\" stands where " VALUES " is allowed" },
    { "tool equals 'something long'",
      "column 6: \"equals 'somethin\" stands where " SIGNS " is allowed" },
    { "tool prefixes 'x'", "column 6: \"prefixes 'x'\" stands where " SIGNS " is allowed" },
    { "'x'", "column 4: it ends, but " SIGNS " is needed" },
    { "null", "column 5: it ends, but " SIGNS " is needed" },
    { "5 and true", "column 3: \"and true\" stands where " SIGNS " is allowed" },
    { "true true", "column 6: \"true\" stands where and, or, or the end is allowed" },
    { "true)", "column 5: \")\" stands where and, or, or the end is allowed" },
    { "true && false", "column 6: \"&& false\" stands where and, or, or the end is allowed" },
    { "true and", "column 9: it ends, but " VALUES " is needed" },
    { "true or or true", "column 9: \"or true\" stands where " VALUES " is allowed" },
    { "true andtrue", "column 6: \"andtrue\" stands where and, or, or the end is allowed" },
    { "()", "column 2: \")\" stands where " VALUES " is allowed" },
    { "(true", "column 6: it ends, but and, or, or ) is needed" },
    { "(true]", "column 6: \"]\" stands where and, or, or ) is allowed" },
    { "((true)", "column 8: it ends, but and, or, or ) is needed" },
    { "tool.name == 'x'", "column 5: \".name == 'x'\" stands where " SIGNS " is allowed" },
    { "tool in", "column 8: it ends, but [ and a list of values is needed" },
    { "tool in [", "column 10: it ends, but " ITEMS " is needed" },
    { "tool in ['a',]", "column 14: \"]\" stands where " ITEMS " is allowed" },
    { "tool in [,'a']", "column 10: \",'a']\" stands where " ITEMS " is allowed" },
    { "tool in ['a'", "column 13: it ends, but , or ] is needed" },
    { "tool in [['a']]", "column 10: \"['a']]\" stands where " ITEMS " is allowed" },
    { "tool in ['a' 'b']", "column 14: \"'b']\" stands where , or ] is allowed" },
    { "args. exists", "column 6: \" exists\" stands where a name is allowed" },
    { "args.9 exists", "column 6: \"9 exists\" stands where a name is allowed" },
    { "args.", "column 6: it ends, but a name is needed" },
    { "args[", "column 6: it ends, but a number and ] is needed" },
    { "args[]", "column 6: \"]\" stands where a number and ] is allowed" },
    { "args[-1] exists", "column 6: \"-1] exists\" stands where a number and ] is allowed" },
    { "args[1 ] exists", "column 7: \" ] exists\" stands where a number and ] is allowed" },
    { "args[1", "column 7: it ends, but a number and ] is needed" },
    { "args['a'] exists", "column 6: \"'a'] exists\" stands where a number and ] is allowed" },
    { "args [0] exists", "column 6: \"[0] exists\" stands where " SIGNS " is allowed" },
    { "tool == 'x\"", "column 12: it ends, but the closing quote is needed" },
    { "tool == '\\", "column 11: it ends, but " ESCAPE " is needed" },
    { "tool == '\\x41'", "column 11: \"x41'\" stands where " ESCAPE " is allowed" },
    { "tool == +1", "column 9: \"+1\" stands where " VALUES " is allowed" },
    { "tool == .5", "column 9: \".5\" stands where " VALUES " is allowed" },
    { "tool == --1", "column 9: \"--1\" stands where a number is allowed" },
    { "tool == -.5", "column 9: \"-.5\" stands where a number is allowed" },
    { "tool == 1e", "column 9: \"1e\" stands where a number is allowed" },
    { "tool == 1-1", "column 9: \"1-1\" stands where a number is allowed" },
    { "tool == -inf", "column 9: \"-inf\" stands where a number is allowed" },
    { "tool == 0x10", "column 10: \"x10\" stands where and, or, or the end is allowed" },
};

TEST(a_broken_expression_is_refused_with_this_very_message)
{
    for (unsigned i = 0; i < ARRAY_LEN(wrong); i++) {
        const struct expr *e;

        err_reset(&t->err);
        if (expr_parse(str_from(wrong[i].text), &t->arena, &e, &t->err) >= 0)
            test_case_failed("accepted: %s", wrong[i].text);
        else if (strcmp(test_err_text(t), wrong[i].message) != 0)
            test_case_failed("%s\n   gives: %s\n   not:   %s", wrong[i].text, test_err_text(t),
                             wrong[i].message);
        else
            test_case_passed();
    }
}

/* ---- bounds, from both sides ---- */

/* before, n times each, after. */
static int parse_many(struct test *t, const char *before, const char *each, unsigned n,
                      const char *after)
{
    AUTO_BUF text = BUF_INIT(1 << 16);
    const struct expr *e;

    buf_add_text(&text, before);
    for (unsigned i = 0; i < n; i++)
        buf_add_text(&text, each);
    buf_add_text(&text, after);
    err_reset(&t->err);
    return expr_parse(buf_str(&text), &t->arena, &e, &t->err);
}

TEST(bounds_of_an_expression_are_exact)
{
    ASSERT_OK(parse_many(t, "tool in [", "1,", EXPR_LIST_MAX - 1, "1]"));
    ASSERT_FAILS(parse_many(t, "tool in [", "1,", EXPR_LIST_MAX, "1]"), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(test_err_text(t),
                "column 266: \"1]\" stands where a list of at most 128 values is allowed");
    ASSERT_OK(parse_many(t, "args", ".a", EXPR_DEPTH_MAX, " exists"));
    ASSERT_FAILS(parse_many(t, "args", ".a", EXPR_DEPTH_MAX + 1, " exists"), ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(test_err_text(t), "stands where a shorter path is allowed");
    ASSERT_OK(parse_many(t, "", "not ", EXPR_DEPTH_MAX - 1, "true"));
    ASSERT_FAILS(parse_many(t, "", "not ", EXPR_DEPTH_MAX, "true"), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), ": nested deeper than 32");
    /* n comparisons and n - 1 `or` between them */
    ASSERT_OK(parse_many(t, "true", " or true", 127, ""));
    ASSERT_FAILS(parse_many(t, "true", " or true", 128, ""), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), ": more than 256 parts");
    ASSERT_OK(parse_many(t, "true", " ", EXPR_BYTES_MAX - 4, ""));
    ASSERT_FAILS(parse_many(t, "true", " ", EXPR_BYTES_MAX - 3, ""), ERR_TOO_LARGE);
    ASSERT_TEXT(test_err_text(t), "an expression of 4097 bytes; 4096 are allowed");
}

TEST(depth_is_given_back_by_what_is_closed)
{
    ASSERT_OK(parse_many(t, "true", " and (not (true))", 60, ""));
}

TEST(facts_that_are_missing_are_absent_and_empty_ones_are_not)
{
    struct expr_facts none = { STR_NONE, STR_NONE, STR_NONE, NULL };
    struct expr_facts empty = { STR(""), STR(""), STR(""), NULL };
    const struct expr *e;

    ASSERT_OK(
        expr_parse(STR("tool exists or agent exists or mode exists"), &t->arena, &e, &t->err));
    ASSERT(!expr_holds(e, &none));
    ASSERT(expr_holds(e, &empty));
    ASSERT_OK(expr_parse(STR("tool == '' and agent matches '*' and mode in ['']"), &t->arena, &e,
                         &t->err));
    ASSERT(!expr_holds(e, &none));
    ASSERT(expr_holds(e, &empty));
    ASSERT_OK(expr_parse(STR("tool != 'x'"), &t->arena, &e, &t->err));
    ASSERT(expr_holds(e, &none));
}
