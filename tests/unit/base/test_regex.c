/* ECMA-262 patterns: what matches, what is refused, what is bounded.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/regex.h"

#include <stdio.h>

#include "harness/test.h"

TEST(regex_matches_as_ecmascript_does)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        { "^abc$", "abc", true },
        { "^abc$", "abc\n", false },
        { "a+", "xxaayy", true },
        { "", "", true },
        { "^.$", "\xf0\x9f\x90\xb2", true },
        { "^.$", "\n", false },
        { "^.$", "\xe2\x80\xa8", false },
        { "^.$", "\x0b", true },
        { "^\xf0\x9f\x90\xb2*$", "\xf0\x9f\x90\xb2\xf0\x9f\x90\xb2", true },
        { "^\\d$", "\xe0\xa7\xaa", false },
        { "^\\D$", "\xe0\xa7\xaa", true },
        { "^\\w$", "\xc3\xa9", false },
        { "^\\W$", "\xc3\xa9", true },
        { "^[\\w]$", "\xc3\xa9", false },
        { "^\\s$", "\xc2\xa0", true },
        { "^\\s$", "\xef\xbb\xbf", true },
        { "^\\s$", "\xe2\x80\xa9", true },
        { "^\\s$", "\x0b", true },
        { "^\\s$", "\x01", false },
        { "^\\S$", "\xc2\xa0", false },
        { "^\\S$", "x", true },
        { "^[\\s]$", "\xe3\x80\x80", true },
        { "^[^\\s]$", "\xe3\x80\x80", false },
        { "^[\\S]$", "a", true },
        { "^[\\S\\s]$", "\n", true },
        { "^\\t\\n\\v\\f\\r$", "\t\n\v\f\r", true },
        { "^\\cC\\cc$", "\x03\x03", true },
        { "^\\x41\\u0042\\u{43}$", "ABC", true },
        { "^\\uD83D\\uDC32$", "\xf0\x9f\x90\xb2", true },
        { "^[\\uD83D\\uDC32]$", "\xf0\x9f\x90\xb2", true },
        { "^[\xc3\xa0-\xc3\xbc]$", "\xc3\xa9", true },
        { "^[\xf0\x9f\x90\x80-\xf0\x9f\x90\xbf]$", "\xf0\x9f\x90\xb2", true },
        { "\\ud800", "x", false },
        { "^\\p{Letter}cole$",
          "\xc3\xa9"
          "cole",
          true },
        { "^\\p{L}$", "1", false },
        { "^\\P{L}$", "1", true },
        { "^[\\p{Lu}\\d]+$",
          "\xc3\x89"
          "1",
          true },
        { "^\\p{digit}+$", "\xe0\xa7\xaa\xe0\xa7\xa8", true },
        { "^\\p{Script=Greek}$", "\xce\xb1", true },
        { "^\\p{sc=Greek}$", "a", false },
        { "^\\p{scx=Grek}$", "\xce\xb1", true },
        { "^\\p{gc=Lu}$", "A", true },
        { "^\\p{General_Category=Decimal_Number}$", "5", true },
        { "^[]$", "a", false },
        { "^[^]$", "\n", true },
        { "^[\\b]$", "\b", true },
        { "\\bfoo\\b", "a foo b", true },
        { "\\Bfoo", "afoo", true },
        { "^[a\\-z]+$", "a-z", true },
        { "^[a-]+$", "a-", true },
        { "^[\\]\\\\^]+$", "]\\^", true },
        { "^[[]$", "[", true },
        { "^a{2}$", "aa", true },
        { "^a{2,}?$", "aaa", true },
        { "^a{1,2}$", "aaa", false },
        { "^a{,2}$", "a{,2}", true },
        { "^{}$", "{}", true },
        { "^x]y}$", "x]y}", true },
        { "^\\/\\-\\_\\@$", "/-_@", true },
        { "(?<y>\\d{4})-\\k<y>", "2026-2026", true },
        { "(?<$y>a)\\k<$y>", "aa", true },
        { "^(a)|b\\1c$", "bc", true },
        { "(?=ab)a(?!c)(?<=a)b(?<!x)", "ab", true },
        { "^(?:a|b)+?$", "abab", true },
        { "^\\0$", "", false },
        { "^[\\0]$", "x", false },
        { "^(?:)$", "", true },
        { "^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}$", "x.y@example.com", true },
        { "#", "a # b", true },
        { "^a b$", "a b", true },
        { "\\$", "a$", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(regex) regex = NULL;

        ASSERT_OK(regex_compile(str_from(cases[i].pattern), &regex, &t->err));
        if (regex_match(regex, str_from(cases[i].text), &t->err) != cases[i].matches)
            FAIL("/%s/ on \"%s\": expected %s", cases[i].pattern, cases[i].text,
                 cases[i].matches ? "a match" : "none");
    }
}

TEST(regex_refuses_what_ecmascript_does_not_have)
{
    static const char *const bad[] = {
        "\\a",      "\\Z",   "\\A",   "\\e",   "\\Q",          "\\z",         "\\h",      "\\R",
        "\\C",      "(?i)a", "(?>a)", "(?#x)", "(?P<n>a)",     "a++",         "a**",      "*a",
        "?",        "+",     "(",     ")",     "(a",           "[a",          "[z-a]",    "[\\d-z]",
        "[a-\\d]",  "\\",    "[\\",   "\\u12", "\\u{}",        "\\u{110000}", "\\x1",     "\\c1",
        "\\c",      "\\p",   "\\p{",  "\\p{L", "\\p{No_such}", "\\p{x y}",    "\\p{a=b}", "(?<>a)",
        "(?<1a>x)", "\\k<a", "\\k",   "(?a)",  "a{2}{3}",      "{2}",         "^*",       "\\b+",
        "(|*)",     "a|*",   "\\00",  "\\2",   "\\k<no>",      "[\xff]",      "\xc3",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO(regex) regex = NULL;

        t->err = ERR_INIT;
        if (regex_compile(str_from(bad[i]), &regex, &t->err) == 0)
            FAIL("/%s/ was accepted", bad[i]);
        ASSERT_EQ(t->err.code, ERR_BAD_REQUEST);
        ASSERT_CONTAINS(t->err.text, "regular expression");
    }
}

TEST(regex_names_the_position_of_what_is_wrong)
{
    AUTO(regex) regex = NULL;

    ASSERT_FAILS(regex_compile(STR("ab\\Z"), &regex, &t->err), ERR_BAD_REQUEST);
    ASSERT_TEXT(t->err.text, "regular expression \"ab\\Z\": unknown escape at position 3");
}

TEST(regex_bounds_patterns_and_matching)
{
    AUTO(regex) slow = NULL;
    AUTO(regex) none = NULL;
    AUTO(regex) plain = NULL;
    char *text = arena_alloc(&t->arena, REGEX_PATTERN_MAX + 2, 1);

    memset(text, 'a', REGEX_PATTERN_MAX + 1);
    ASSERT_FAILS(regex_compile(str_of(text, REGEX_PATTERN_MAX + 1), &none, &t->err),
                 ERR_BAD_REQUEST);
    memset(text, '(', 1000);
    ASSERT_FAILS(regex_compile(str_of(text, 1000), &none, &t->err), ERR_BAD_REQUEST);
    ASSERT_OK(regex_compile(STR("^(a+)+$"), &slow, &t->err));
    ASSERT_FAILS(regex_match(slow, STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), &t->err),
                 ERR_TIMEOUT);
    ASSERT_OK(regex_compile(STR("a"), &plain, &t->err));
    ASSERT_FAILS(regex_match(plain, STR("\xff"), &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(regex_match(plain, STR_NONE, &t->err), 0);
    ASSERT_EQ(regex_match(plain, STR("\0a"), &t->err), 1);
}
