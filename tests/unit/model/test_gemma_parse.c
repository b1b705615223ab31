/* What FunctionGemma says, whole, broken, and cut anywhere.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "harness/test.h"
#include "model/gemma_int.h"

static const char bash_schema[] =
    "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\"},\"timeout\":{\"type\":"
    "\"integer\"},\"quiet\":{\"type\":\"boolean\"},\"ratio\":{\"type\":[\"number\",\"null\"]}}}";

struct heard {
    struct buf out; /* text as it is, calls as [name json] or [name!problem] */
    unsigned repairs;
};

static void hear_text(void *arg, struct str text)
{
    buf_add_str(&((struct heard *)arg)->out, text);
}

static void hear_call(void *arg, const struct gemma_call *call)
{
    struct heard *heard = arg;

    buf_printf(&heard->out, "[%.*s%s%.*s]", STR_ARG(call->name), call->problem.n ? "!" : " ",
               STR_ARG(call->problem.n ? call->problem : call->arguments));
    heard->repairs |= call->repairs;
}

/* What is heard of text in pieces of so many bytes. */
static const char *hear(struct test *t, struct str text, size_t piece, unsigned *ret_repairs)
{
    const struct model_tool tools[] = { { STR("bash"), STR(""), STR_NONE },
                                        { STR("ls"), STR(""), STR("{}") } };
    struct model_tool given[2] = { tools[0], tools[1] };
    struct heard heard = { .out = BUF_INIT(1u << 20) };
    struct gemma_parser parser;
    const char *line;

    given[0].input_schema = str_from(bash_schema);
    gemma_parser_init(&parser, given, 2);
    parser.on_text = hear_text;
    parser.on_call = hear_call;
    parser.arg = &heard;
    while (text.n) {
        gemma_parser_feed(&parser, str_take(text, piece));
        text = str_skip(text, piece);
    }
    gemma_parser_end(&parser);
    gemma_parser_release(&parser);
    line = arena_copy(&t->arena, buf_text(&heard.out), heard.out.n);
    buf_release(&heard.out);
    *ret_repairs = heard.repairs;
    return line;
}

#define S      "<start_function_call>"
#define E      "<end_function_call>"
#define X      "<escape>"
#define ONE_LS "[ls {}]"

static const struct {
    const char *said, *heard;
    unsigned repairs;
} cases[] = {
    /* as it should be */
    { "Hello there.", "Hello there.", 0 },
    { S "call:ls{}" E, ONE_LS, 0 },
    { S "call:bash{command:" X "ls -la" X "}" E, "[bash {\"command\":\"ls -la\"}]", 0 },
    { S "call:bash{command:" X "a" X ",timeout:5,quiet:true,ratio:0.5}" E,
      "[bash {\"command\":\"a\",\"timeout\":5,\"quiet\":true,\"ratio\":0.5}]", 0 },
    { S "call:bash{ratio:null}" E, "[bash {\"ratio\":null}]", 0 },
    { S "call:ls{}" E S "call:ls{}" E, ONE_LS ONE_LS, 0 },
    { "I look." S "call:ls{}" E " Then more.", "I look." ONE_LS " Then more.", 0 },
    { S "call:ls{a:{b:[1,2,{c:" X "d" X "}]}}" E, "[ls {\"a\":{\"b\":[1,2,{\"c\":\"d\"}]}}]", 0 },
    { S "call:ls{" X "odd key" X ":1}" E, "[ls {\"odd key\":1}]", 0 },
    { S "call:ls{t:" X "{},[]\"'\n:=" X "}" E, "[ls {\"t\":\"{},[]\\\"'\\n:=\"}]", 0 },
    { S "call:ls{}" E "<end_of_turn>and this is not heard", ONE_LS, 0 },
    { S "call:ls{}" E "<start_function_response>response:ls{made:up}", ONE_LS, 0 },
    { "a < b, c <d> <", "a < b, c <d> <", 0 },
    { "text<escape>more<eos>gone", "textmore", 0 },
    { S "call:fs__list{}" E, "[fs__list {}]", 0 },
    { S "call:mcp.github.list-issues{}" E, "[mcp.github.list-issues {}]", 0 },
    /* mended */
    { "call:ls{}", ONE_LS, GEMMA_NO_START | GEMMA_NO_END },
    { "call:ls{}" E, ONE_LS, GEMMA_NO_START },
    { "Sure:\ncall:bash{command:" X "}" X "} ok", "Sure:\n[bash {\"command\":\"}\"}] ok",
      GEMMA_NO_START | GEMMA_NO_END },
    { S "call:ls{}", ONE_LS, GEMMA_NO_END },
    { S "call:ls{}<end_of_turn>", ONE_LS, GEMMA_NO_END },
    { S "call:ls{}" S "call:ls{}" E, ONE_LS ONE_LS, GEMMA_NO_END },
    { S "ls{}" E, ONE_LS, GEMMA_NO_PREFIX },
    { S " call: ls {} " E, ONE_LS, 0 },
    { S "call:bash{command:\"ls \\\"x\\\"\"}" E, "[bash {\"command\":\"ls \\\"x\\\"\"}]",
      GEMMA_QUOTES },
    { S "call:bash{command:'it is'}" E, "[bash {\"command\":\"it is\"}]", GEMMA_QUOTES },
    { S "call:bash{command:\"a\nb\"}" E, "[bash {\"command\":\"a\\nb\"}]", GEMMA_QUOTES },
    { S "call:bash{command:\"\\u00e4\\n\\ud83d\"}" E,
      "[bash {\"command\":\"\xc3\xa4\\n\xef\xbf\xbd\"}]", GEMMA_QUOTES },
    { S "call:bash{command:'\\ud83d\\ude00'}" E, "[bash {\"command\":\"\xf0\x9f\x98\x80\"}]",
      GEMMA_QUOTES },
    { S "call:ls{u:http://x/y}" E, "[ls {\"u\":\"http://x/y\"}]", GEMMA_BARE_TEXT },
    { S "call:bash{command:ls -la}" E, "[bash {\"command\":\"ls -la\"}]", GEMMA_BARE_TEXT },
    { S "call:bash{command:" X "a" X ",}" E, "[bash {\"command\":\"a\"}]", GEMMA_TRAILING_COMMA },
    { S "call:ls{a:[1,2,],}" E, "[ls {\"a\":[1,2]}]", GEMMA_TRAILING_COMMA },
    { S "call:bash{command:" X "a" X E, "[bash {\"command\":\"a\"}]", GEMMA_OPEN_BRACES },
    { S "call:ls{a:{b:[1" E, "[ls {\"a\":{\"b\":[1]}}]", GEMMA_OPEN_BRACES },
    { S "call:ls" E, ONE_LS, GEMMA_OPEN_BRACES },
    { S "call:bash{command:" X "ls -la}" E, "[bash {\"command\":\"ls -la\"}]",
      GEMMA_OPEN_STRING | GEMMA_OPEN_BRACES },
    { S "call:bash{\"command\": \"ls\"}" E, "[bash {\"command\":\"ls\"}]",
      GEMMA_JSON | GEMMA_QUOTES },
    { S "{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}" E, "[bash {\"command\":\"ls\"}]",
      GEMMA_JSON | GEMMA_QUOTES | GEMMA_NO_PREFIX },
    { S "call:bash({\"command\":\"ls\"})" E, "[bash {\"command\":\"ls\"}]",
      GEMMA_JSON | GEMMA_QUOTES | GEMMA_PARENTHESES },
    { S "call:bash(command=\"ls\", timeout=3)" E, "[bash {\"command\":\"ls\",\"timeout\":3}]",
      GEMMA_QUOTES | GEMMA_PARENTHESES | GEMMA_EQUALS },
    { S "call:bash{timeout:" X "5" X ",quiet:" X "true" X ",ratio:\"1.5\"}" E,
      "[bash {\"timeout\":5,\"quiet\":true,\"ratio\":1.5}]", GEMMA_TYPE | GEMMA_QUOTES },
    { S "call:bash{command:42}" E, "[bash {\"command\":\"42\"}]", GEMMA_TYPE },
    { S "call:bash{quiet:True,ratio:None}" E, "[bash {\"quiet\":true,\"ratio\":null}]",
      GEMMA_WORDS },
    { S "call:ls{}}" E, ONE_LS, 0 },
    /* reported to the model */
    { S E,
      "[!The call could not be read: the call names no function at byte 0 of the call. Write "
      "call:name{argument:<escape>text<escape>}]",
      GEMMA_NO_PREFIX },
};

TEST(gemma_hears_text_and_calls_and_mends_what_is_safe)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        unsigned repairs;
        const char *heard = hear(t, str_from(cases[i].said), SIZE_MAX, &repairs);

        if (strcmp(heard, cases[i].heard) == 0 && repairs == cases[i].repairs)
            test_case_passed();
        else
            test_case_failed("%s ->\n  %s (%u), expected\n  %s (%u)", cases[i].said, heard, repairs,
                             cases[i].heard, cases[i].repairs);
    }
}

TEST(gemma_hears_the_same_wherever_the_stream_is_cut)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t piece = 1; piece <= 24; piece++) {
            unsigned repairs;
            const char *heard = hear(t, str_from(cases[i].said), piece, &repairs);

            if (strcmp(heard, cases[i].heard) != 0 || repairs != cases[i].repairs)
                FAIL("%s in pieces of %zu ->\n  %s (%u), expected\n  %s", cases[i].said, piece,
                     heard, repairs, cases[i].heard);
        }
    }
}

TEST(gemma_reports_calls_that_have_two_readings)
{
    static const struct {
        const char *said, *problem;
    } broken[] = {
        { S "call:bash{command:" X "a,timeout:5}" E, "no closing <escape>" },
        { S "call:bash{command:\"a}" E, "a quoted string has no end" },
        { S "call:bash{command " X "a" X "}" E, "expected ':'" },
        { S "call:bash{command:}" E, "a value is missing" },
        { S "call:bash{command:1,command:2}" E, "\"command\" is given twice" },
        { S "call:bash{command:1 timeout:2}" E, "could not be read" },
        { S "call:bash{a:1}{b:2}" E, "there is text after the arguments" },
        { S "call:bash" X "a" X E, "expected '{'" },
        { S "call:bash{:1}" E, "expected the name of an argument" },
        { S "call:ls{a:[1 2}" E, "expected ',' or ']'" },
        { S "{\"arguments\":{}}" E, "names no function" },
        { S "{\"name\":\"ls\",\"arguments\":[1]}" E, "the arguments are no object" },
        { S "nonsense that is no call" E, "expected '{'" },
    };
    unsigned repairs;

    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        const char *heard = hear(t, str_from(broken[i].said), SIZE_MAX, &repairs);

        if (strchr(heard, '!') && strstr(heard, broken[i].problem))
            test_case_passed();
        else
            test_case_failed("%s ->\n  %s\nlacks %s", broken[i].said, heard, broken[i].problem);
    }
}

TEST(gemma_does_not_take_prose_for_a_call)
{
    static const char *const prose[] = {
        "call: me later", "call:unknown{}", "please call:ls{}", "cat",
        "call",           "call:l",         "recall:ls{}",      "c"
    };
    unsigned repairs;

    for (size_t i = 0; i < ARRAY_LEN(prose); i++) {
        for (size_t piece = 1; piece < 6; piece++)
            ASSERT_TEXT(hear(t, str_from(prose[i]), piece, &repairs), prose[i]);
    }
}

TEST(gemma_bounds_depth_length_and_bare_calls)
{
    AUTO_BUF deep = BUF_INIT(1u << 20);
    AUTO_BUF wide = BUF_INIT(2u << 20);
    AUTO_BUF bare = BUF_INIT(1u << 20);
    unsigned repairs;

    buf_add_text(&deep, S "call:ls{a:");
    for (int i = 0; i < 200; i++)
        buf_add_char(&deep, '[');
    ASSERT_CONTAINS(hear(t, buf_str(&deep), 100, &repairs), "nested too deeply");

    buf_add_text(&wide, S "call:ls{a:" X);
    for (int i = 0; i < 400000; i++)
        buf_add_char(&wide, 'x');
    buf_add_text(&wide, X "}" E "gone");
    ASSERT_CONTAINS(hear(t, buf_str(&wide), 4000, &repairs), "too long");

    buf_add_text(&bare, "call:ls{");
    for (int i = 0; i < 20000; i++)
        buf_add_char(&bare, '{');
    ASSERT_CONTAINS(hear(t, buf_str(&bare), 7, &repairs), "could not be read");
}

TEST(gemma_gives_valid_json_whatever_bytes_come)
{
    static const char bad[] = S "call:ls{a:" X "\xff\xfe\x80 \xc3" X ",b:\"\x01\"}" E;
    unsigned repairs;
    const char *heard = hear(t, str_of(bad, sizeof(bad) - 1), 3, &repairs);

    ASSERT_CONTAINS(heard, "[ls {\"a\":\"\xef\xbf\xbd");
    ASSERT_CONTAINS(heard, "\"b\":\"\\u0001\"}]");
}
