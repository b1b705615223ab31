/* ECMA-262's syntax, construct by construct, and the reason for each refusal.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "base/utf8.h"
#include "harness/test.h"

struct row {
    const char *pattern;
    const char *yes[6]; /* texts that match */
    const char *no[6];
};

static void check_texts(struct test *t, const struct row *row, const struct regex *regex, bool yes)
{
    const char *const *texts = yes ? row->yes : row->no;

    for (size_t i = 0; i < ARRAY_LEN(row->yes) && texts[i]; i++) {
        int r = regex_match(regex, str_from(texts[i]), &t->err);

        if (r == (int)yes)
            test_case_passed();
        else
            test_case_failed("/%s/ on \"%s\" gave %d", row->pattern, texts[i], r);
    }
}

static void check_row(struct test *t, const struct row *row)
{
    AUTO(regex) regex = NULL;

    t->err = ERR_INIT;
    if (regex_compile(str_from(row->pattern), &regex, &t->err) < 0) {
        test_case_failed("/%s/: %s", row->pattern, test_err_text(t));
        return;
    }
    check_texts(t, row, regex, true);
    check_texts(t, row, regex, false);
}

#define CHECK_TABLE(rows)                                                                          \
    for (size_t i_ = 0; i_ < ARRAY_LEN(rows); i_++)                                                \
    check_row(t, &(rows)[i_])

TEST(regex_table_of_quantifiers)
{
    static const struct row rows[] = {
        { "^a*$", { "", "a", "aaa" }, { "b", "ab" } },
        { "^a+$", { "a", "aaa" }, { "", "b" } },
        { "^a?$", { "", "a" }, { "aa" } },
        { "^a{0}$", { "" }, { "a" } },
        { "^a{3}$", { "aaa" }, { "aa", "aaaa" } },
        { "^a{2,}$", { "aa", "aaaaa" }, { "a", "" } },
        { "^a{2,4}$", { "aa", "aaa", "aaaa" }, { "a", "aaaaa" } },
        { "^a{0,1}$", { "", "a" }, { "aa" } },
        { "^(ab){2}$", { "abab" }, { "ab", "aabb" } },
        { "^(?:ab)+c$", { "abc", "ababc" }, { "c", "aabbc" } },
        { "^[ab]{2}$", { "ab", "ba", "aa" }, { "a", "ac" } },
        { "^.{2}$", { "ab", "\xf0\x9f\x90\xb2x" }, { "a", "abc" } },
        { "^a*?b$", { "b", "aab" }, { "a" } },
        { "^a+?b$", { "ab", "aab" }, { "b" } },
        { "^a??b$", { "b", "ab" }, { "aab" } },
        { "^a{1,2}?b$", { "ab", "aab" }, { "b", "aaab" } },
        { "^\\d{2}-\\d{2}$", { "12-34" }, { "1-34", "12-345" } },
        { "^\\{2}$", { "{2}" }, { "{", "{{" } },
        { "^a{$", { "a{" }, { "a" } },
        { "^a{1$", { "a{1" }, { "a" } },
        { "^a{1,$", { "a{1," }, { "aa" } },
        { "^a{x}$", { "a{x}" }, { "a" } },
        { "^a{ 1}$", { "a{ 1}" }, { "a" } },
        { "^a}$", { "a}" }, { "a" } },
        { "^a]$", { "a]" }, { "a" } },
        { "^\xc3\xa9{2}$", { "\xc3\xa9\xc3\xa9" }, { "\xc3\xa9", "\xc3\xa9x" } },
        { "^(a|b)*c$", { "c", "abbac" }, { "abd" } },
        { "^(a*)*$", { "", "aaa" }, { "b" } },
        { "(?=a)*b", { "b", "ab" }, { "a" } },
    };

    CHECK_TABLE(rows);
}

TEST(regex_table_of_anchors_groups_and_alternatives)
{
    static const struct row rows[] = {
        { "^a", { "a", "ab" }, { "ba", "\na", "" } },
        { "a$", { "a", "ba" }, { "ab", "a\n", "" } },
        { "^$", { "" }, { "\n", " " } },
        { "$^", { "" }, { "a" } },
        { "a|b", { "a", "b", "xa" }, { "c", "" } },
        { "^a|b$", { "ax", "xb" }, { "xa", "bx" } },
        { "^(?:a|b)$", { "a", "b" }, { "ax", "xb" } },
        { "^(?:a||b)$", { "a", "", "b" }, { "c" } },
        { "^(|a)b$", { "b", "ab" }, { "aab" } },
        { "^ab|cd|ef$", { "abx", "xcdx", "xef" }, { "xab", "efx" } },
        { "\\bab\\b", { "ab", "x ab y", "-ab-" }, { "xab", "aby", "_ab" } },
        { "\\Bb", { "ab" }, { "b", "a b" } },
        { "b\\B", { "bc" }, { "b", "b " } },
        { "^\\b$", { NULL }, { "", " " } },
        { "\\b\xc3\xa9", { "a\xc3\xa9" }, { "\xc3\xa9", " \xc3\xa9" } },
        { "^(a)(b)\\2\\1$", { "abba" }, { "abab", "ab" } },
        { "^(a|b)\\1$", { "aa", "bb" }, { "ab", "ba" } },
        { "^(?<q>['\"])x\\k<q>$", { "'x'", "\"x\"" }, { "'x\"", "x" } },
        { "^(?<a>x)(?<b>y)\\k<b>\\k<a>$", { "xyyx" }, { "xyxy" } },
        { "^\\k<a>(?<a>x)$", { "x" }, { "xx" } },
        { "^\\1(x)$", { "x" }, { "xx" } },
        { "^(x)?\\1y$", { "y", "xxy" }, { "xy" } },
        { "^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10$", { "abcdefghijj" }, { "abcdefghija0" } },
        { "^((a)(b))\\1\\3$", { "ababb" }, { "abab" } },
        { "a(?=b)", { "ab" }, { "ac", "a" } },
        { "a(?!b)", { "ac", "a" }, { "ab" } },
        { "(?<=a)b", { "ab" }, { "b", "cb" } },
        { "(?<!a)b", { "b", "cb" }, { "ab" } },
        { "^(?=.*\\d)(?=.*[a-z]).{4,}$", { "abc1", "1abc" }, { "abcd", "1234", "a1" } },
        { "(?<=\\$)\\d+$", { "$42" }, { "42", "#42" } },
        { "(?<=ab|c)d", { "abd", "cd" }, { "bd" } },
        { "^(?!.*--)[a-z-]+$", { "a-b" }, { "a--b" } },
        { "(?:(?:(?:a)))", { "a" }, { "b" } },
        { "()", { "", "a" }, { NULL } },
        { "(?=)", { "" }, { NULL } },
        { "(?!)", { NULL }, { "", "a" } },
    };

    CHECK_TABLE(rows);
}

TEST(regex_table_of_classes)
{
    static const struct row rows[] = {
        { "^[abc]$", { "a", "b", "c" }, { "d", "", "ab" } },
        { "^[^abc]$", { "d", "\n", "\xc3\xa9" }, { "a", "", "dd" } },
        { "^[a-c]$", { "a", "b", "c" }, { "d", "-" } },
        { "^[a-]$", { "a", "-" }, { "b" } },
        { "^[-a]$", { "a", "-" }, { "b" } },
        { "^[a-c-e]$", { "b", "-", "e" }, { "d" } },
        { "^[+--]$", { "+", ",", "-" }, { "." } },
        { "^[\\]]$", { "]" }, { "\\" } },
        { "^[\\\\]$", { "\\" }, { "]" } },
        { "^[\\^a]$", { "^", "a" }, { "b" } },
        { "^[a^]$", { "^", "a" }, { "b" } },
        { "^[.]$", { "." }, { "a" } },
        { "^[$(*+?{|}]$", { "$", "(", "*", "{", "|", "}" }, { ")", "a" } },
        { "^[[:alpha:]]$", { ":]", "a]", "[]" }, { "b]", "x" } },
        { "^[&&a]$", { "&", "a" }, { "b" } },
        { "^[\\d]$", { "0", "9" }, { "a", "\xd9\xa1" } },
        { "^[^\\d]$", { "a", "\xd9\xa1" }, { "0" } },
        { "^[\\D]$", { "a", "\xd9\xa1" }, { "0" } },
        { "^[\\w]$", { "a", "Z", "0", "_" }, { "-", "\xc3\xa9", " " } },
        { "^[\\W]$", { "-", "\xc3\xa9" }, { "a", "_" } },
        { "^[^\\W]$", { "a", "_" }, { "-", "\xc3\xa9" } },
        { "^[\\s]$", { " ", "\t", "\n", "\xe2\x80\x82" }, { "a", "\xe2\x80\x8b" } },
        { "^[^\\S]$", { " ", "\xc2\xa0" }, { "a" } },
        { "^[\\d\\-x]$", { "1", "-", "x" }, { "a" } },
        { "^[\\d-]$", { "1", "-" }, { "a" } },
        { "^[\\b]$", { "\b" }, { "b" } },
        { "^[\\n\\t\\r\\f\\v]$", { "\n", "\t", "\r", "\f", "\v" }, { "n" } },
        { "^[\\x41-\\x43]$", { "A", "C" }, { "D" } },
        { "^[\\u0041-\\u{43}]$", { "A", "C" }, { "D" } },
        { "^[\\cA-\\cC]$", { "\x01", "\x03" }, { "\x04", "A" } },
        { "^[\xce\xb1-\xcf\x89]$", { "\xce\xb2" }, { "a" } },
        { "^[\\u{1F600}-\\u{1F64F}]$", { "\xf0\x9f\x98\x81" }, { "\xf0\x9f\x9a\x80" } },
        { "^[\\p{L}]$", { "a", "\xc3\xa9" }, { "1" } },
        { "^[^\\p{L}]$", { "1" }, { "a", "\xc3\xa9" } },
        { "^[\\P{L}x]$", { "1", "x" }, { "a" } },
        { "^[\\p{Nd}\\p{Lu}]$", { "A", "1", "\xd9\xa1" }, { "a" } },
        { "[]", { NULL }, { "", "a" } },
        { "^[^]{2}$", { "ab", "\n\n" }, { "a" } },
        { "^x[]?y$", { "xy" }, { "xay" } },
    };

    CHECK_TABLE(rows);
}

TEST(regex_table_of_escapes)
{
    static const struct row rows[] = {
        { "^\\.$", { "." }, { "a" } },
        { "^\\^\\$\\\\$", { "^$\\" }, { "" } },
        { "^\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\/$", { "*+?()[]{}|/" }, { "" } },
        { "^\\!\\\"\\#\\%\\&\\'\\,\\:\\;\\<\\=\\>\\@\\_\\`\\~$", { "!\"#%&',:;<=>@_`~" }, { "" } },
        { "^\\x00$", { NULL }, { "", "0" } },
        { "^\\x7e$", { "~" }, { "x7e" } },
        { "^\\xe9$", { "\xc3\xa9" }, { "e" } },
        { "^\\u00e9$", { "\xc3\xa9" }, { "e" } },
        { "^\\u20AC$", { "\xe2\x82\xac" }, { "u20AC" } },
        { "^\\u{20ac}$", { "\xe2\x82\xac" }, { "u" } },
        { "^\\u{00000041}$", { "A" }, { "u" } },
        { "^\\u{10FFFF}$", { "\xf4\x8f\xbf\xbf" }, { "u" } },
        { "^\\uD834\\uDD1E$", { "\xf0\x9d\x84\x9e" }, { "x" } },
        { "^\\uD834\\u0041$", { NULL }, { "A", "\xf0\x9d\x84\x9e" } },
        { "^\\cJ$", { "\n" }, { "J", "cJ" } },
        { "^\\cz$", { "\x1a" }, { "z" } },
        { "^\\d\\D$", { "1a" }, { "11", "aa" } },
        { "^\\w\\W$", { "a-", "_\xc3\xa9" }, { "aa", "--" } },
        { "^\\s\\S$",
          { " a", "\xe2\x80\xa8"
                  "a" },
          { "  ", "aa" } },
        { "^\\s$",
          { "\xe1\x9a\x80", "\xe2\x80\xaf", "\xe2\x81\x9f" },
          { "\xe1\xa0\x8e", "\xc2\x85" } },
        { "^.$", { "\x0b", "\x0c", "\xc2\x85" }, { "\r", "\xe2\x80\xa9", "" } },
        { "^\\p{L}+$", { "a\xc3\xa9\xe4\xb8\xad" }, { "a1" } },
        { "^\\p{Lu}\\p{Ll}$", { "Ab", "\xc3\x89\xc3\xa9" }, { "ab", "AB" } },
        { "^\\p{Uppercase_Letter}$", { "A" }, { "a" } },
        { "^\\p{N}$", { "1", "\xe2\x85\xa3" }, { "a" } },
        { "^\\p{Punctuation}$", { "!", "\xc2\xbf" }, { "a", "+" } },
        { "^\\p{Currency_Symbol}$", { "$", "\xe2\x82\xac" }, { "a" } },
        { "^\\p{Script=Cyrillic}+$", { "\xd0\x94\xd0\xb0" }, { "Da" } },
        { "^\\P{Script=Latin}$", { "1" }, { "a" } },
        { "^\\p{White_Space}$", { " ", "\xe3\x80\x80" }, { "a" } },
        { "^\\p{ASCII}$", { "a", "~" }, { "\xc3\xa9" } },
        { "^\\p{Any}$", { "a", "\n", "\xf0\x9f\x98\x80" }, { "" } },
    };

    CHECK_TABLE(rows);
}

TEST(regex_refusals_give_reason_and_position)
{
    static const struct {
        const char *pattern, *what;
        size_t position;
    } cases[] = {
        { "a\\q", "unknown escape", 2 },
        { "\\y", "unknown escape", 1 },
        { "x[\\q]", "unknown escape", 3 },
        { "[\\B]", "unknown escape", 2 },
        { "[\\1]", "unknown escape", 2 },
        { "[\\k]", "unknown escape", 2 },
        { "\\01", "unknown escape", 1 },
        { "ab\\", "unknown escape", 3 },
        { "\\k", "unknown escape", 1 },
        { "\\ ", "unknown escape", 1 },
        { "\\\xc3\xa9", "unknown escape", 1 },
        { "*", "nothing to repeat", 1 },
        { "a**", "nothing to repeat", 3 },
        { "a{2}*", "nothing to repeat", 5 },
        { "a+?+", "nothing to repeat", 4 },
        { "(*a)", "nothing to repeat", 2 },
        { "a|+", "nothing to repeat", 3 },
        { "^?", "nothing to repeat", 2 },
        { "$*", "nothing to repeat", 2 },
        { "\\b*", "nothing to repeat", 3 },
        { "(?<=a)*", "nothing to repeat", 7 },
        { "(?<!a){2}", "nothing to repeat", 7 },
        { "{1}", "nothing to repeat", 1 },
        { "a)", "')' without '('", 2 },
        { "(a))", "')' without '('", 4 },
        { "(a", "'(' is not closed", 3 },
        { "((a)", "'(' is not closed", 5 },
        { "x[a", "'[' is not closed", 2 },
        { "[", "'[' is not closed", 1 },
        { "[^", "'[' is not closed", 1 },
        { "[a\\]", "'[' is not closed", 1 },
        { "[b-a]", "range out of order", 2 },
        { "[a-zz-y]", "range out of order", 5 },
        { "[\\w-z]", "a range needs characters at both ends", 2 },
        { "[a-\\s]", "a range needs characters at both ends", 2 },
        { "[\\p{L}-z]", "a range needs characters at both ends", 2 },
        { "\\xg0", "malformed hexadecimal escape", 2 },
        { "\\x4", "malformed hexadecimal escape", 2 },
        { "\\u004", "malformed hexadecimal escape", 2 },
        { "\\u{}", "malformed hexadecimal escape", 2 },
        { "\\u{41", "malformed hexadecimal escape", 2 },
        { "\\u{g}", "malformed hexadecimal escape", 2 },
        { "\\u{110000}", "malformed hexadecimal escape", 2 },
        { "\\c", "\\c needs a letter", 2 },
        { "\\c[", "\\c needs a letter", 2 },
        { "\\pL", "\\p needs a name in braces", 3 },
        { "\\p{L", "\\p needs a name in braces", 3 },
        { "\\p{L l}", "bad property name", 3 },
        { "\\p{^L}", "bad property name", 3 },
        { "\\p{Age=3}", "unknown kind of property", 3 },
        { "(?<a", "malformed group name", 4 },
        { "(?<>a)", "malformed group name", 4 },
        { "(?<1>a)", "malformed group name", 4 },
        { "(?<a-b>c)", "malformed group name", 4 },
        { "\\k<>", "malformed group name", 4 },
        { "\\k<a", "malformed group name", 4 },
        { "(?P<a>b)", "unknown kind of group", 2 },
        { "(?'a'b)", "unknown kind of group", 2 },
        { "(?>a)", "unknown kind of group", 2 },
        { "(?|a)", "unknown kind of group", 2 },
        { "(?R)", "unknown kind of group", 2 },
        { "(?1)", "unknown kind of group", 2 },
        { "(?#a)", "unknown kind of group", 2 },
        { "(?-i:a)", "unknown kind of group", 2 },
        { "(?", "unknown kind of group", 2 },
        { "a\xff", "invalid UTF-8", 2 },
        { "[\xff]", "invalid UTF-8", 2 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *message =
            arena_printf(&t->arena, "regular expression \"%s\": %s at position %zu",
                         cases[i].pattern, cases[i].what, cases[i].position);
        AUTO(regex) regex = NULL;

        t->err = ERR_INIT;
        if (regex_compile(str_from(cases[i].pattern), &regex, &t->err) == 0)
            test_case_failed("/%s/ was accepted", cases[i].pattern);
        else if (t->err.code != ERR_BAD_REQUEST || strcmp(t->err.text, message) != 0)
            test_case_failed("\"%s\", expected \"%s\"", t->err.text, message);
        else
            test_case_passed();
    }
}

/* Class by class, over every ASCII character and the first few beyond. */
TEST(regex_shorthands_agree_with_their_definitions)
{
    static const struct {
        const char *pattern, *same;
    } cases[] = {
        { "^\\d$", "^[0-9]$" },          { "^\\D$", "^[^0-9]$" },
        { "^\\w$", "^[A-Za-z0-9_]$" },   { "^\\W$", "^[^A-Za-z0-9_]$" },
        { "^[\\d]$", "^\\d$" },          { "^[^\\D]$", "^\\d$" },
        { "^[\\W]$", "^\\W$" },          { "^[^\\w]$", "^\\W$" },
        { "^[\\s]$", "^\\s$" },          { "^[^\\S]$", "^\\s$" },
        { "^[\\s\\S]$", "^[^]$" },       { "^[\\d\\D]$", "^[^]$" },
        { "^(?!\\s)[^]$", "^\\S$" },     { "^.$", "^[^\\n\\r\\u2028\\u2029]$" },
        { "^[^\\s\\S]$", "^[]$" },       { "^\\p{ASCII}$", "^[\\x00-\\x7f]$" },
        { "^[^\\p{L}\\D]$", "^[0-9]$" }, { "^(?:\\w|\\W)$", "^[^]$" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(regex) one = NULL;
        AUTO(regex) two = NULL;

        ASSERT_OK(regex_compile(str_from(cases[i].pattern), &one, &t->err));
        ASSERT_OK(regex_compile(str_from(cases[i].same), &two, &t->err));
        for (uint32_t c = 0; c < 0x3100; c += c < 0x100 ? 1 : 7) {
            AUTO_BUF text = BUF_INIT(8);

            buf_add_utf8(&text, c);
            if (regex_match(one, buf_str(&text), &t->err) !=
                regex_match(two, buf_str(&text), &t->err))
                FAIL("/%s/ and /%s/ differ on U+%04X", cases[i].pattern, cases[i].same, c);
        }
    }
}
