/* SPDX-License-Identifier: MIT */
#include "sandbox/search_pattern.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/rand.h"
#include "hand_ops.h"
#include "sandbox/search_literal.h"

/* Numbers of the lines that match, as text: "1 3". */
static const char *lines_of(struct test *t, const char *pattern, bool regex, bool ignore_case,
                            struct str text)
{
    AUTO(pattern) p = NULL;
    AUTO(pattern_run) run = NULL;
    AUTO_BUF out = BUF_INIT(100000);
    const char *at = text.p, *end = text.p + text.n;
    struct pattern_hit hit;
    size_t line = 1;

    ASSERT_OK(pattern_compile(str_from(pattern), regex, ignore_case, &p, &t->err));
    run = pattern_run_new(p);
    while (at < end && pattern_find(run, at, end, NULL, NULL, &hit) > 0) {
        ASSERT(hit.line >= at && hit.match >= hit.line && hit.match <= hit.line_end);
        ASSERT(hit.line == text.p || hit.line[-1] == '\n');
        ASSERT(hit.line_end == end || *hit.line_end == '\n');
        for (; at < hit.line; at++)
            line += *at == '\n';
        buf_printf(&out, "%s%zu", out.n ? " " : "", line);
        for (; at < end && at <= hit.line_end; at++)
            line += *at == '\n';
    }
    return arena_text(&t->arena, buf_text(&out));
}

#define RE(pattern, text)    lines_of(t, pattern, true, false, str_from(text))
#define RE_I(pattern, text)  lines_of(t, pattern, true, true, str_from(text))
#define FIX(pattern, text)   lines_of(t, pattern, false, false, str_from(text))
#define FIX_I(pattern, text) lines_of(t, pattern, false, true, str_from(text))

TEST(fixed_texts_are_found_by_line)
{
    ASSERT_TEXT(FIX("b", "a\nb\nab b\n\nb"), "2 3 5");
    ASSERT_TEXT(FIX("a.c", "abc\na.c\n"), "2");
    ASSERT_TEXT(FIX("B", "b\n"), "");
    ASSERT_TEXT(FIX_I("B[", "b[\nB[\nb\n"), "1 2");
    ASSERT_TEXT(FIX_I("\xC3\x89t", "\xC3\xA9T\nx\n"), "1");
    ASSERT_TEXT(FIX("x", ""), "");
}

TEST(expressions_see_one_line_at_a_time)
{
    ASSERT_TEXT(RE("^b$", "a\nb\nbb\nb"), "2 4");
    ASSERT_TEXT(RE("^$", "a\n\nb\n\n"), "2 4");
    ASSERT_TEXT(RE("a\\s+b", "a\nb\na b\n"), "3");
    ASSERT_TEXT(RE("[^x]+b", "a\nb\nxb\nab\n"), "4");
    ASSERT_TEXT(RE("\\s*foo", "x\n  foo\n"), "2");
    ASSERT_TEXT(RE("x*", "a\nb"), "1 2");
    ASSERT_TEXT(RE("x*", "a\nb\n"), "1 2");
    ASSERT_TEXT(RE("a\\z", "a\nb\na"), "1 3");
    ASSERT_TEXT(RE("\\Ab", "a\nb\n"), "2");
    ASSERT_TEXT(RE("(?<!a\\n)b", "a\nb\n"), "2");
    ASSERT_TEXT(RE("a(?!\\n)", "a\nab\n"), "1 2");
    ASSERT_TEXT(RE("(?i)AB", "ab\nAB\n"), "1 2");
    ASSERT_TEXT(RE("foo|bar", "a bar\nfoo\nbaz\n"), "1 2");
    ASSERT_TEXT(RE("(a|b)\\1", "ab\naa\nbb\n"), "2 3");
    ASSERT_TEXT(RE("a++b", "aab\n"), "1");
    ASSERT_TEXT(RE_I("needle[0-9]", "NEEDLE7\nneedle\n"), "1");
    ASSERT_TEXT(RE_I("\xE2\x84\xAA", "k\nK\nx\n"), "1 2");
    ASSERT_TEXT(RE_I("task[0-9]", "ta\xC5\xBFk1\nTASK2\n"), "1 2");
}

TEST(text_beyond_ascii_is_unicode_and_bad_bytes_do_no_harm)
{
    ASSERT_TEXT(RE("^a.b$", "a\xC3\xA9"
                            "b\naxb\na\xFF"
                            "b\n"),
                "1 2");
    ASSERT_TEXT(RE("\\w+\xC3\xA9", "caf\xC3\xA9\n\xFF\xFE\n"), "1");
    ASSERT_TEXT(RE("^\\w+$", "\xC3\xBC"
                             "ber\nx y\n"),
                "1");
    ASSERT_TEXT(RE("\\x{e9}", "caf\xC3\xA9\nx\n"), "1");
    ASSERT_TEXT(RE("foo", "\xFF\xFF foo \xC3\nbar\n"), "1");
}

TEST(patterns_that_say_nothing_are_refused)
{
    AUTO(pattern) p = NULL;
    AUTO_BUF big = BUF_INIT(10000);

    ASSERT_FAILS(pattern_compile(STR(""), false, false, &p, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(pattern_compile(STR("a\nb"), false, false, &p, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(pattern_compile(STR("a\0b"), true, false, &p, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(pattern_compile(STR("\xC3\xA9(b"), true, false, &p, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "at character 4");
    ASSERT_FAILS(pattern_compile(STR("a\\C"), true, false, &p, &t->err), ERR_BAD_REQUEST);
    for (int i = 0; i < 200; i++)
        buf_add_text(&big, "(");
    ASSERT_FAILS(pattern_compile(buf_str(&big), true, false, &p, &t->err), ERR_BAD_REQUEST);
    while (big.n <= PATTERN_MAX)
        buf_add_char(&big, 'a');
    ASSERT_FAILS(pattern_compile(buf_str(&big), false, false, &p, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "1024");
}

static const struct {
    const char *regex, *required;
    bool nocase;
} required[] = {
    { "foo", "foo", false },
    { "foo.*barbaz", "barbaz", false },
    { "fo+bar", "bar", false },
    { "foo?bar", "bar", false },
    { "abcd*", "abc", false },
    { "abc{2}", "ab", false },
    { "(foo)bar", "bar", false },
    { "(?:foo)?x", "x", false },
    { "foo|bar", "", false },
    { "a(b|c)def", "def", false },
    { "\\bword\\b", "word", false },
    { "a\\.b\\(c", "a.b(c", false },
    { "x\\x41bc", "", false },
    { "\\Qa.b\\E", "", false },
    { "(?i)foo", "", false },
    { "[abc]def[)]", "def", false },
    { "[[:alpha:]]x", "", false },
    { "ta[s]k", "ta", true },
    { "lookup", "loo", true },
    { "\xC3\xA9?ab", "ab", false },
    { "x\xC3\xA9?", "x", false },
    { "^abc$", "abc", false },
    { "a)b", "", false },
    { "\\1ab", "", false },
};

TEST(a_required_text_is_in_every_match)
{
    for (size_t i = 0; i < sizeof(required) / sizeof(*required); i++) {
        char out[PATTERN_MAX];
        size_t n = pattern_required(str_from(required[i].regex), required[i].nocase, out);

        if (str_is(str_of(out, n), required[i].required))
            test_case_passed();
        else
            test_case_failed("%s requires %.*s", required[i].regex, (int)n, out);
    }
}

TEST(alternatives_are_told_apart_at_the_top_only)
{
    struct str b[PATTERN_BRANCHES];

    ASSERT_EQ(pattern_branches(STR("foo"), b, 4), 1);
    ASSERT_EQ(pattern_branches(STR("foo|b(a|r)|[|]x"), b, 4), 3);
    ASSERT_STR(b[0], "foo");
    ASSERT_STR(b[1], "b(a|r)");
    ASSERT_STR(b[2], "[|]x");
    ASSERT_EQ(pattern_branches(STR("a\\|b|"), b, 4), 2);
    ASSERT_STR(b[0], "a\\|b");
    ASSERT_STR(b[1], "");
    ASSERT_EQ(pattern_branches(STR("a|b|c|d|e"), b, 4), 0);
    ASSERT_EQ(pattern_branches(STR("(?i)a|b"), b, 4), 0);
    ASSERT_EQ(pattern_branches(STR("a)|b"), b, 4), 0);
    ASSERT_TEXT(RE("foo|bar|quux", "a\nxbar\nfoo bar\n\nquu\nquux"), "2 3 6");
    ASSERT_TEXT(RE_I("foo[0-9]|barb", "FOO1\nfoo\nBARB\n"), "1 3");
}

TEST(literals_are_found_where_memmem_finds_them)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 5);
    for (int i = 0; i < 20000; i++) {
        char text[200], needle[8];
        size_t n = rand_below(&rand.rand, sizeof(text)), k = 1 + rand_below(&rand.rand, 6);
        struct literal literal;
        const char *expected;

        for (size_t j = 0; j < n; j++)
            text[j] = "abAB\n_["[rand_below(&rand.rand, 7)];
        for (size_t j = 0; j < k; j++)
            needle[j] = "abAB_{"[rand_below(&rand.rand, 6)];
        literal_init(&literal, str_of(needle, k), false);
        expected = n < k ? NULL : memmem(text, n, needle, k);
        ASSERT(literal_find(&literal, text, text + n) == expected);
        literal_init(&literal, str_of(needle, k), true);
        expected = NULL;
        for (size_t j = 0; j + k <= n && !expected; j++)
            if (str_eq_nocase(str_of(text + j, k), str_of(needle, k)))
                expected = text + j;
        ASSERT(literal_find(&literal, text, text + n) == expected);
        ASSERT(literal_find_plain(&literal, text, text + n) == expected);
    }
}

TEST(an_evil_expression_ends, .timeout_s = 40)
{
    AUTO(pattern) p = NULL;
    AUTO(pattern_run) run = NULL;
    AUTO_BUF text = BUF_INIT(1u << 20);
    struct pattern_hit hit;
    int64_t began = clock_mono_ms(clock_system());

    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 40; k++)
            buf_add_char(&text, 'a');
        buf_add_text(&text, "!\n");
    }
    ASSERT_OK(pattern_compile(STR("^(a+)+$"), true, false, &p, &t->err));
    run = pattern_run_new(p);
    ASSERT_EQ(pattern_find(run, buf_text(&text), buf_text(&text) + text.n, NULL, NULL, &hit), -1);
    ASSERT_EQ(pattern_costly(run), PATTERN_COSTLY_MAX + 1);
    ASSERT(clock_mono_ms(clock_system()) - began < 30000);
}

static bool stop_at_once(void *arg)
{
    ++*(int *)arg;
    return true;
}

TEST(a_search_stops_when_it_is_asked_to)
{
    AUTO(pattern) p = NULL;
    AUTO(pattern_run) run = NULL;
    AUTO_BUF text = BUF_INIT(1u << 20);
    struct pattern_hit hit;
    int asked = 0;

    for (int i = 0; i < 20000; i++)
        buf_add_text(&text, "some line here\n");
    ASSERT_OK(pattern_compile(STR("[0-9]x|[a-c]{9}"), true, false, &p, &t->err));
    run = pattern_run_new(p);
    ASSERT_EQ(
        pattern_find(run, buf_text(&text), buf_text(&text) + text.n, stop_at_once, &asked, &hit),
        -1);
    ASSERT_EQ(asked, 1);
}

/* ---- windows against lines ---- */

TEST(random_expressions_match_the_lines_that_each_line_alone_does, .timeout_s = 60)
{
    static const char *const parts[] = { "a",   "b",  "\\s",       "[^a]", ".",
                                         "^",   "$",  "a*",        "b+",   "(a|b)",
                                         "\\b", "x?", "[ab]{1,2}", "\\n?", "ab" };
    struct rand_fake rand;

    rand_fake_init(&rand, 99);
    for (int i = 0; i < 1500; i++) {
        AUTO_BUF re = BUF_INIT(100);
        AUTO_BUF text = BUF_INIT(400);
        AUTO_BUF expected = BUF_INIT(1000);
        struct str rest, line;
        size_t number = 0;

        for (uint64_t n = 1 + rand_below(&rand.rand, 4); n > 0; n--)
            buf_add_text(&re, parts[rand_below(&rand.rand, sizeof(parts) / sizeof(*parts))]);
        for (uint64_t n = rand_below(&rand.rand, 60); n > 0; n--)
            buf_add_char(&text, "aab x\n\n"[rand_below(&rand.rand, 7)]);
        rest = buf_str(&text);
        while (str_split(&rest, '\n', &line)) {
            number++;
            /* A text that ends in a newline has no line after it; and an empty subject is a line
             * only when it stands before a newline. */
            if (!rest.p && line.n == 0)
                break;
            if (line.n ? lines_of(t, buf_text(&re), true, false, line)[0] != '\0'
                       : RE(buf_text(&re), "\n")[0] != '\0')
                buf_printf(&expected, "%s%zu", expected.n ? " " : "", number);
        }
        if (strcmp(RE(buf_text(&re), buf_text(&text)), buf_text(&expected)) != 0)
            FAIL("%s on\n%s\n is %s, expected %s", buf_text(&re), buf_text(&text),
                 RE(buf_text(&re), buf_text(&text)), buf_text(&expected));
    }
}
