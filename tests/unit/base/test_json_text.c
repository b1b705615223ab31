/* Texts that are JSON, with what they are written back as, and texts that are not, with the place
 * and the reason. Single quotes stand for double ones, for the reader's sake; a row that needs a
 * real single quote writes it as a backquote.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/json.h"
#include "base/json_write.h"
#include "harness/test.h"

static const char *unquoted(struct test *t, const char *quoted)
{
    char *text = arena_text(&t->arena, quoted);

    for (char *p = text; *p; p++) {
        if (*p == '\'')
            *p = '"';
        else if (*p == '`')
            *p = '\'';
    }
    return text;
}

struct good {
    const char *text, *written;
};

static void check_good(struct test *t, const struct good *row)
{
    const char *text = unquoted(t, row->text), *written = unquoted(t, row->written);
    AUTO_BUF out = BUF_INIT(4096);
    AUTO_JSON value = NULL;
    struct json_writer w = JSON_WRITER(&out);

    t->err = ERR_INIT;
    if (json_parse(str_from(text), &value, &t->err) < 0) {
        test_case_failed("%s was refused: %s", text, test_err_text(t));
        return;
    }
    json_write_value(&w, value);
    if (strcmp(buf_text(&out), written) != 0)
        test_case_failed("%s became %s, expected %s", text, buf_text(&out), written);
    else
        test_case_passed();
}

struct bad {
    const char *text, *message;
};

static void check_bad(struct test *t, const struct bad *row)
{
    const char *text = unquoted(t, row->text), *message = unquoted(t, row->message);
    AUTO_JSON value = NULL;

    t->err = ERR_INIT;
    if (json_parse(str_from(text), &value, &t->err) == 0)
        test_case_failed("%s was accepted", text);
    else if (t->err.code != ERR_BAD_REQUEST || value)
        test_case_failed("%s: %s", text, err_name(t->err.code));
    else if (strcmp(t->err.text, message) != 0)
        test_case_failed("%s said \"%s\", expected \"%s\"", text, t->err.text, message);
    else
        test_case_passed();
}

#define CHECK_GOOD(rows)                                                                           \
    for (size_t i_ = 0; i_ < ARRAY_LEN(rows); i_++)                                                \
    check_good(t, &(rows)[i_])
#define CHECK_BAD(rows)                                                                            \
    for (size_t i_ = 0; i_ < ARRAY_LEN(rows); i_++)                                                \
    check_bad(t, &(rows)[i_])

TEST(json_text_of_every_shape_is_read_and_written_back)
{
    static const struct good rows[] = {
        { "null", "null" },
        { "true", "true" },
        { "false", "false" },
        { "''", "''" },
        { "[]", "[]" },
        { "{}", "{}" },
        { "[ ]", "[]" },
        { "{ }", "{}" },
        { "\t[\r\n]\n", "[]" },
        { "\n\n\n{\r}\t", "{}" },
        { " null ", "null" },
        { "[null]", "[null]" },
        { "[null,null]", "[null,null]" },
        { "[true , false]", "[true,false]" },
        { "[1\n,\n2]", "[1,2]" },
        { "[[]]", "[[]]" },
        { "[[],[]]", "[[],[]]" },
        { "[[[[[[]]]]]]", "[[[[[[]]]]]]" },
        { "[{},[],'']", "[{},[],'']" },
        { "{'':0}", "{'':0}" },
        { "{'a':null}", "{'a':null}" },
        { "{'a' : 1 , 'b' : 2}", "{'a':1,'b':2}" },
        { "{'b':1,'a':2}", "{'b':1,'a':2}" },
        { "{'a':{'a':{'a':{}}}}", "{'a':{'a':{'a':{}}}}" },
        { "{'a':1,'A':2}", "{'a':1,'A':2}" },
        { "{'a':1,'a ':2}", "{'a':1,'a ':2}" },
        { "{'a':[{'a':1},{'a':1}]}", "{'a':[{'a':1},{'a':1}]}" },
        { "{'a\\nb':1}", "{'a\\nb':1}" },
        { "{'\\u0061':1}", "{'a':1}" },
        { "{'\xc3\xa9':1,'e\xcc\x81':2}", "{'\xc3\xa9':1,'e\xcc\x81':2}" },
        { "{'null':null,'true':true}", "{'null':null,'true':true}" },
        { "{'__proto__':{},'constructor':1}", "{'__proto__':{},'constructor':1}" },
        { "[1,[2,[3,[4,{'a':[5]}]]]]", "[1,[2,[3,[4,{'a':[5]}]]]]" },
        { "['a','a']", "['a','a']" },
        { "['[','{',',',':','//','#']", "['[','{',',',':','//','#']" },
    };

    CHECK_GOOD(rows);
}

TEST(json_text_of_numbers_keeps_their_digits)
{
    static const struct good rows[] = {
        { "0", "0" },
        { "-0", "0" },
        { "-0.0", "-0.0" },
        { "0.0", "0.0" },
        { "1", "1" },
        { "-1", "-1" },
        { "10", "10" },
        { "1234567890", "1234567890" },
        { "2147483647", "2147483647" },
        { "2147483648", "2147483648" },
        { "-2147483649", "-2147483649" },
        { "9007199254740993", "9007199254740993" },
        { "9223372036854775807", "9223372036854775807" },
        { "9223372036854775808", "9223372036854775808" },
        { "-9223372036854775808", "-9223372036854775808" },
        { "18446744073709551615", "18446744073709551615" },
        { "0.5", "0.5" },
        { "-0.5", "-0.5" },
        { "0.50", "0.50" },
        { "1.0", "1.0" },
        { "1e0", "1e0" },
        { "1E0", "1E0" },
        { "1e+0", "1e+0" },
        { "1e-0", "1e-0" },
        { "1e00", "1e00" },
        { "1e007", "1e007" },
        { "0e1", "0e1" },
        { "0E+99", "0E+99" },
        { "0e99999", "0e99999" },
        { "-0e-99999", "-0e-99999" },
        { "1.5e300", "1.5e300" },
        { "1e-400", "1e-400" },
        { "4.9e-324", "4.9e-324" },
        { "1.7976931348623157e308", "1.7976931348623157e308" },
        { "1.7976931348623158e308", "1.7976931348623158e308" },
        { "123456789012345678901.0", "123456789012345678901.0" },
        { "0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827" },
        { "[0,-0.1,1e1]", "[0,-0.1,1e1]" },
        { "[1,2]", "[1,2]" },
        { "[123.456e-78]", "[123.456e-78]" },
        { "{'a':0}", "{'a':0}" },
        { "0 ", "0" },
        { "1\n", "1" },
    };

    CHECK_GOOD(rows);
}

TEST(json_text_of_strings_is_written_with_as_few_escapes_as_may_be)
{
    static const struct good rows[] = {
        { "'a'", "'a'" },
        { "' '", "' '" },
        { "'\\''", "'\\''" },
        { "'\\\\'", "'\\\\'" },
        { "'\\\\\\\\'", "'\\\\\\\\'" },
        { "'\\\\\\''", "'\\\\\\''" },
        { "'\\/'", "'/'" },
        { "'/'", "'/'" },
        { "'\\b\\f\\n\\r\\t'", "'\\b\\f\\n\\r\\t'" },
        { "'\\u0008\\u000c\\u000a\\u000D\\u0009'", "'\\b\\f\\n\\r\\t'" },
        { "'\\u0000'", "'\\u0000'" },
        { "'a\\u0000b'", "'a\\u0000b'" },
        { "'\\u001F'", "'\\u001f'" },
        { "'\\u0020'", "' '" },
        { "'\\u0022'", "'\\''" },
        { "'\\u005C'", "'\\\\'" },
        { "'\\u0041\\u0062'", "'Ab'" },
        { "'\\u007f'", "'\x7f'" },
        { "'\x7f'", "'\x7f'" },
        { "'\\u0080'", "'\xc2\x80'" },
        { "'\\u07ff'", "'\xdf\xbf'" },
        { "'\\u0800'", "'\xe0\xa0\x80'" },
        { "'\\ud7ff'", "'\xed\x9f\xbf'" },
        { "'\\ue000'", "'\xee\x80\x80'" },
        { "'\\uffff'", "'\xef\xbf\xbf'" },
        { "'\\uFFFE'", "'\xef\xbf\xbe'" },
        { "'\\ufeff'", "'\xef\xbb\xbf'" },
        { "'\xef\xbb\xbf'", "'\xef\xbb\xbf'" },
        { "'\\u2028\\u2029'", "'\xe2\x80\xa8\xe2\x80\xa9'" },
        { "'\\ud800\\udc00'", "'\xf0\x90\x80\x80'" },
        { "'\\uDBFF\\uDFFF'", "'\xf4\x8f\xbf\xbf'" },
        { "'\\uD834\\udd1e'", "'\xf0\x9d\x84\x9e'" },
        { "'\xf0\x9d\x84\x9e'", "'\xf0\x9d\x84\x9e'" },
        { "'\xf4\x8f\xbf\xbf'", "'\xf4\x8f\xbf\xbf'" },
        { "'x\\ud83d\\ude00y\\ud83d\\ude01z'", "'x\xf0\x9f\x98\x80y\xf0\x9f\x98\x81z'" },
        { "'\\u00e9\\\\u00e9'", "'\xc3\xa9\\\\u00e9'" },
        { "'/* no comment */'", "'/* no comment */'" },
        { "'NaN'", "'NaN'" },
        { "'`'", "'`'" },
    };

    CHECK_GOOD(rows);
}

#define NO_END    "the string has no end"
#define NO_VALUE  "the text ends where a value is expected"
#define VALUE     "expected a value"
#define KEY       "expected a key in double quotes"
#define MEMBER    "expected `,` or `}` after a member"
#define ITEM      "expected `,` or `]` after an item"
#define AFTER     "unexpected text after the value"
#define COMMENTS  "JSON has no comments"
#define NO_NUMBER "not a JSON number (no NaN, Infinity or leading `+`)"
#define ZEROS     "a number has no leading zeros"
#define POINT     "expected a digit after the decimal point"
#define EXPONENT  "expected a digit in the exponent"
#define MINUS     "expected a digit after `-`"
#define QUOTES    "strings stand in double quotes"
#define COLON     "expected `:` after the key"

TEST(json_text_that_is_badly_built_is_refused_at_its_place)
{
    static const struct bad rows[] = {
        { "", "1:1: " NO_VALUE },
        { "\n\n ", "3:2: " NO_VALUE },
        { "[", "1:2: " NO_VALUE },
        { "[1", "1:3: " ITEM },
        { "[1,", "1:4: " NO_VALUE },
        { "[1,\n", "2:1: " NO_VALUE },
        { "[,", "1:2: " VALUE },
        { "[,1]", "1:2: " VALUE },
        { "[1,,2]", "1:4: " VALUE },
        { "[1,]", "1:4: " VALUE },
        { "[1,\n]", "2:1: " VALUE },
        { "['',]", "1:5: " VALUE },
        { "[1:2]", "1:3: " ITEM },
        { "[1}", "1:3: " ITEM },
        { "[}", "1:2: " VALUE },
        { "[1 true]", "1:4: " ITEM },
        { "[3[4]]", "1:3: " ITEM },
        { "['a' 'b']", "1:6: " ITEM },
        { "[[1]", "1:5: " ITEM },
        { "]", "1:1: " VALUE },
        { "}", "1:1: " VALUE },
        { ",", "1:1: " VALUE },
        { ":", "1:1: " VALUE },
        { "1]", "1:2: " AFTER },
        { "[]]", "1:3: " AFTER },
        { "{}}", "1:3: " AFTER },
        { "[][]", "1:3: " AFTER },
        { "1 2", "1:3: " AFTER },
        { "1\n2", "2:1: " AFTER },
        { "null null", "1:6: " AFTER },
        { "'a' 'b'", "1:5: " AFTER },
        { "[],", "1:3: " AFTER },
        { "{", "1:2: " KEY },
        { "{1:1}", "1:2: " KEY },
        { "{null:1}", "1:2: " KEY },
        { "{[]:1}", "1:2: " KEY },
        { "{{}:1}", "1:2: " KEY },
        { "{,}", "1:2: " KEY },
        { "{'a':1,,'b':2}", "1:8: " KEY },
        { "{'a':1,}", "1:8: " KEY },
        { "{'a':1,\n}", "2:1: " KEY },
        { "{'a':1,1}", "1:8: " KEY },
        { "{]", "1:2: " KEY },
        { "{'a'", "1:5: " COLON },
        { "{'a'}", "1:5: " COLON },
        { "{'a',1}", "1:5: " COLON },
        { "{'a' 'b'}", "1:6: " COLON },
        { "{'a':", "1:6: " NO_VALUE },
        { "{'a':}", "1:6: " VALUE },
        { "{'a'::1}", "1:6: " VALUE },
        { "{'a':,}", "1:6: " VALUE },
        { "{'a':1", "1:7: " MEMBER },
        { "{'a':1]", "1:7: " MEMBER },
        { "{'a':1:2}", "1:7: " MEMBER },
        { "{'a':'b':1}", "1:9: " MEMBER },
        { "{'a':1 'b':2}", "1:8: " MEMBER },
        { "{'a':1}#", "1:8: " COMMENTS },
        { "{'a':1}//", "1:8: " COMMENTS },
        { "{'a':/**/1}", "1:6: " COMMENTS },
        { "[#\n1]", "1:2: " COMMENTS },
        { "{a:1}", "1:2: unexpected character `a`" },
        { "{`a`:1}", "1:2: " QUOTES },
        { "[`a`]", "1:2: " QUOTES },
        { "[*]", "1:2: unexpected character `*`" },
        { "<null>", "1:1: unexpected character `<`" },
        { "(1)", "1:1: unexpected character `(`" },
        { "undefined", "1:1: unexpected character `u`" },
        { "True", "1:1: unexpected character `T`" },
        { "\f[]", "1:1: unexpected byte 0x0c" },
        { "[\v]", "1:2: unexpected byte 0x0b" },
        { "[\xc2\xa0]", "1:2: unexpected byte 0xc2" },
        { "[\xe2\x81\xa0]", "1:2: unexpected byte 0xe2" },
        { "\xff", "1:1: unexpected byte 0xff" },
        { "\x7f", "1:1: unexpected byte 0x7f" },
        { "\xef\xbb\xbf{}", "1:1: a byte order mark is not allowed" },
        { "[\xef\xbb\xbf]", "1:2: a byte order mark is not allowed" },
        { "\xef\xbb", "1:1: unexpected byte 0xef" },
        { "tru", "1:1: expected a value (did you mean true?)" },
        { "[truth]", "1:2: expected a value (did you mean true?)" },
        { "[fals]", "1:2: expected a value (did you mean false?)" },
        { "[nul]", "1:2: expected a value (did you mean null?)" },
        { "nULL", "1:1: expected a value (did you mean null?)" },
        { "truee", "1:5: unexpected character `e`" },
        { "nulll", "1:5: unexpected character `l`" },
        { "[true\n,\nfalsy]", "3:1: expected a value (did you mean false?)" },
        { "{'a':1,'b':2,'a':3}", "1:14: the key 'a' appears twice" },
        { "{'a':1,'\\u0061':3}", "1:8: the key 'a' appears twice" },
        { "{'':1,'':1}", "1:7: the key '' appears twice" },
        { "[{'x':{'y':1,\n 'y':1}}]", "2:2: the key 'y' appears twice" },
        { "{'\\u0000':1}", "1:2: a key holds no NUL character" },
        { "{'a':1,'b\\u0000c':1}", "1:8: a key holds no NUL character" },
    };

    CHECK_BAD(rows);
}

TEST(json_text_of_numbers_that_are_none_is_refused_at_its_place)
{
    static const struct bad rows[] = {
        { "-", "1:2: " MINUS },
        { "[-]", "1:3: " MINUS },
        { "[- 1]", "1:3: " MINUS },
        { "--1", "1:2: " MINUS },
        { "-a", "1:2: " MINUS },
        { "-.5", "1:2: " MINUS },
        { "-e1", "1:2: " MINUS },
        { "-NaN", "1:2: " MINUS },
        { "-Infinity", "1:2: " MINUS },
        { "+", "1:1: " NO_NUMBER },
        { "[+1]", "1:2: " NO_NUMBER },
        { "[+-1]", "1:2: " NO_NUMBER },
        { "[NaN]", "1:2: " NO_NUMBER },
        { "[Infinity]", "1:2: " NO_NUMBER },
        { "Inf", "1:1: " NO_NUMBER },
        { "00", "1:1: " ZEROS },
        { "[012]", "1:2: " ZEROS },
        { "[-012]", "1:2: " ZEROS },
        { "[0,00]", "1:4: " ZEROS },
        { "000.5", "1:1: " ZEROS },
        { "1.", "1:3: " POINT },
        { "[1.]", "1:4: " POINT },
        { "0.", "1:3: " POINT },
        { "0.e1", "1:3: " POINT },
        { "1.e5", "1:3: " POINT },
        { "1..2", "1:3: " POINT },
        { "1.-2", "1:3: " POINT },
        { "1. 5", "1:3: " POINT },
        { "[1e]", "1:4: " EXPONENT },
        { "1e", "1:3: " EXPONENT },
        { "1E+", "1:4: " EXPONENT },
        { "1e-", "1:4: " EXPONENT },
        { "1e+-1", "1:4: " EXPONENT },
        { "1ee1", "1:3: " EXPONENT },
        { "1e.5", "1:3: " EXPONENT },
        { "0.3e", "1:5: " EXPONENT },
        { "1e 5", "1:3: " EXPONENT },
        { "1.2.3", "1:4: unexpected character `.`" },
        { "1e5.0", "1:4: unexpected character `.`" },
        { "1e5e5", "1:4: unexpected character `e`" },
        { ".5", "1:1: unexpected character `.`" },
        { "[.5]", "1:2: unexpected character `.`" },
        { "0x1F", "1:2: unexpected character `x`" },
        { "0b1", "1:2: unexpected character `b`" },
        { "1_000", "1:2: unexpected character `_`" },
        { "1,000", "1:2: " AFTER },
        { "1 000", "1:3: " ZEROS },
        { "1a", "1:2: unexpected character `a`" },
        { "1n", "1:2: expected a value (did you mean null?)" },
        { "1f", "1:2: expected a value (did you mean false?)" },
        { "[1-2]", "1:3: " ITEM },
        { "1+2", "1:2: " NO_NUMBER },
        { "\xef\xbc\x91", "1:1: unexpected byte 0xef" },
        { "[1\xd9\xa1]", "1:3: unexpected byte 0xd9" },
        { "[0,18446744073709551616]", "1:4: the integer is beyond 64 bits" },
        { "-9223372036854775809", "1:1: the integer is beyond 64 bits" },
        { "1e309", "1:1: the number is beyond what a double can hold" },
        { "[-1e309]", "1:2: the number is beyond what a double can hold" },
        { "1.7976931348623159e308", "1:1: the number is beyond what a double can hold" },
        { "1e99999", "1:1: the number is beyond what a double can hold" },
    };

    CHECK_BAD(rows);
}

#define ESCAPE  "unknown escape; allowed are \\' \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"
#define DIGITS  "\\u needs four hexadecimal digits"
#define LINE    "the string has no end on its line"
#define LONE(c) "a lone surrogate (\\u" c ") is no character"
#define CTRL(c) "control character 0x" c " in a string: escape it"
#define UTF8(c) "invalid UTF-8 (byte 0x" c ")"

TEST(json_text_of_strings_that_are_none_is_refused_at_its_place)
{
    static const struct bad rows[] = {
        { "'", "1:2: " NO_END },
        { "'abc", "1:5: " NO_END },
        { "['", "1:3: " NO_END },
        { "'\\'", "1:4: " NO_END },
        { "'\\", "1:2: " NO_END },
        { "'a\\\\\\'", "1:7: " NO_END },
        { "'\xc3\xa9\xc3\xa9", "1:4: " NO_END },
        { "{'a':'", "1:7: " NO_END },
        { "'\n'", "1:2: " LINE },
        { "'a\\\n'", "1:3: " ESCAPE },
        { "['a\nb']", "1:4: " LINE },
        { "'\t'", "1:2: " CTRL("09") },
        { "'\r'", "1:2: " CTRL("0d") },
        { "'ab\x01'", "1:4: " CTRL("01") },
        { "'\\n\x1f'", "1:4: " CTRL("1f") },
        { "'\\a'", "1:2: " ESCAPE },
        { "'\\0'", "1:2: " ESCAPE },
        { "'\\x41'", "1:2: " ESCAPE },
        { "'\\N'", "1:2: " ESCAPE },
        { "'\\U0041'", "1:2: " ESCAPE },
        { "'\\`'", "1:2: " ESCAPE },
        { "'\\ '", "1:2: " ESCAPE },
        { "'\\\xc3\xa9'", "1:2: " ESCAPE },
        { "'\xc3\xa9\\q'", "1:3: " ESCAPE },
        { "'\\u'", "1:2: " DIGITS },
        { "'\\u0'", "1:2: " DIGITS },
        { "'\\u00'", "1:2: " DIGITS },
        { "'\\u00A'", "1:2: " DIGITS },
        { "'\\u00AG'", "1:2: " DIGITS },
        { "'\\u+041'", "1:2: " DIGITS },
        { "'\\u 041'", "1:2: " DIGITS },
        { "'\\u{41}'", "1:2: " DIGITS },
        { "'\\u004", "1:2: " DIGITS },
        { "'\\u00:0'", "1:2: " DIGITS },
        { "'\\u00@0'", "1:2: " DIGITS },
        { "'\\u00`0'", "1:2: " DIGITS },
        { "'\\ud800'", "1:2: " LONE("d800") },
        { "'\\udbff'", "1:2: " LONE("dbff") },
        { "'\\udc00'", "1:2: " LONE("dc00") },
        { "'\\uDFFF'", "1:2: " LONE("dfff") },
        { "'\\ud800abc'", "1:2: " LONE("d800") },
        { "'\\ud800\\n'", "1:2: " LONE("d800") },
        { "'\\ud800\\u0041'", "1:2: " LONE("d800") },
        { "'\\ud800\\ud800'", "1:2: " LONE("d800") },
        { "'\\ud800\\ue000'", "1:2: " LONE("d800") },
        { "'\\ud800\\udc0'", "1:2: " LONE("d800") },
        { "'\\ud800\\xdc00'", "1:2: " LONE("d800") },
        { "'\\ud800\\udc00\\udc00'", "1:14: " LONE("dc00") },
        { "'\\udc00\\ud800'", "1:2: " LONE("dc00") },
        { "'\xff'", "1:2: " UTF8("ff") },
        { "'\x80'", "1:2: " UTF8("80") },
        { "'a\xbf'", "1:3: " UTF8("bf") },
        { "'\xc0\xaf'", "1:2: " UTF8("c0") },
        { "'\xc1\xbf'", "1:2: " UTF8("c1") },
        { "'\xc3'", "1:2: " UTF8("c3") },
        { "'\xc3(", "1:2: " UTF8("c3") },
        { "'\xe0\x80\xaf'", "1:2: " UTF8("e0") },
        { "'\xe2\x82'", "1:2: " UTF8("e2") },
        { "'\xed\xa0\x80'", "1:2: " UTF8("ed") },
        { "'\xed\xbf\xbf'", "1:2: " UTF8("ed") },
        { "'\xf0\x80\x80\x80'", "1:2: " UTF8("f0") },
        { "'\xf4\x90\x80\x80'", "1:2: " UTF8("f4") },
        { "'\xf5\x80\x80\x80'", "1:2: " UTF8("f5") },
        { "'\xf0\x9f\x98\x80\xfe'", "1:3: " UTF8("fe") },
        { "{'\xff':1}", "1:3: " UTF8("ff") },
        { "[1,\n  '\xe9']", "2:4: " UTF8("e9") },
    };

    CHECK_BAD(rows);
}
