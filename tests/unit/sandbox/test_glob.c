/* SPDX-License-Identifier: MIT */
#include "sandbox/glob.h"

#include "base/arena.h"
#include "hand_ops.h"
#include "sandbox/search.h"

static bool matches(const char *pattern, const char *text)
{
    return glob_match(str_from(pattern), str_from(text));
}

static const struct {
    const char *pattern, *text;
    bool matches;
} cases[] = {
    { "a", "a", true },
    { "a", "b", false },
    { "a", "ab", false },
    { "", "", true },
    { "?", "a", true },
    { "?", "", false },
    { "?", "/", false },
    { "*", "", true },
    { "*", "abc", true },
    { "*", "a/b", false },
    { "a*c", "abbbc", true },
    { "a*c*e", "abcde", true },
    { "a*c*e", "abcd", false },
    { "*a*b*c", "xxaxxbxxaxxbxxc", true },
    { "[abc]", "b", true },
    { "[!abc]", "b", false },
    { "[^abc]", "d", true },
    { "[a-c]x", "bx", true },
    { "[a-c]x", "dx", false },
    { "[]]", "]", true },
    { "[]-]", "-", true },
    { "[!]]", "]", false },
    { "[a-]", "-", true },
    { "[\\]]", "]", true },
    { "[[:digit:]]", "7", true },
    { "[[:digit:]]", "x", false },
    { "[![:space:]]", "x", true },
    { "[[:nonsense:]]", "x", false },
    { "[", "[", false },
    { "[a", "a", false },
    { "a\\*", "a*", true },
    { "a\\*", "ab", false },
    { "a\\", "a\\", false },
    { "[!a]", "/", false },
    { "a/b", "a/b", true },
    { "a/*", "a/b", true },
    { "a/*", "a/b/c", false },
    { "**", "a/b/c", true },
    { "**/c", "a/b/c", true },
    { "**/c", "c", true },
    { "a/**", "a/b/c", true },
    { "a/**", "a", false },
    { "a/**/c", "a/c", true },
    { "a/**/c", "a/b/b/c", true },
    { "a/**/c", "a/b/b/d", false },
    { "a/**/b/**/c", "a/x/b/y/b/c", true },
    { "a/**/*.c", "a/b/x.c", true },
    { "a**b", "axxb", true },
    { "a**b", "a/b", false },
    { "**a/b", "xa/b", true },
    { "**/**/a", "a", true },
    { "a[x/y]b", "axb", true },
    { "a[/]b", "a/b", false },
    { "\xC3\xA9*", "\xC3\xA9t\xC3\xA9", true },
};

TEST(globs_match_as_git_has_it)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (matches(cases[i].pattern, cases[i].text) == cases[i].matches)
            test_case_passed();
        else
            test_case_failed("%s on %s", cases[i].pattern, cases[i].text);
    }
}

TEST(a_glob_of_many_stars_takes_no_longer_than_its_lengths_say, .timeout_s = 10)
{
    AUTO_BUF pattern = BUF_INIT(10000);
    AUTO_BUF text = BUF_INIT(100000);

    for (int i = 0; i < 500; i++)
        buf_add_text(&pattern, "*a");
    buf_add_text(&pattern, "b");
    for (int i = 0; i < 5000; i++)
        buf_add_char(&text, 'a');
    ASSERT(!glob_match(buf_str(&pattern), buf_str(&text)));
    buf_clear(&pattern);
    buf_clear(&text);
    for (int i = 0; i < 300; i++)
        buf_add_text(&pattern, "**/a/");
    buf_add_text(&pattern, "b");
    for (int i = 0; i < 3000; i++)
        buf_add_text(&text, "a/");
    ASSERT(!glob_match(buf_str(&pattern), buf_str(&text)));
}

static bool glob_takes(struct test *t, const char *glob, const char *path)
{
    struct search_glob parsed;

    ASSERT_OK(search_glob_parse(str_from(glob), &t->arena, &parsed, &t->err));
    return search_glob_match(&parsed, str_from(path));
}

TEST(the_glob_of_a_search_has_alternatives_and_negation)
{
    struct search_glob parsed;
    AUTO_BUF long_glob = BUF_INIT(10000);

    ASSERT(glob_takes(t, "*.c", "a/b/x.c"));
    ASSERT(!glob_takes(t, "*.c", "a/b/x.h"));
    ASSERT(glob_takes(t, "*.{c,h}", "a/x.h"));
    ASSERT(glob_takes(t, "{src,test{s,}}/**/*.c", "test/a/x.c"));
    ASSERT(!glob_takes(t, "{src,test{s,}}/**/*.c", "lib/a/x.c"));
    ASSERT(glob_takes(t, "src/*.c", "src/x.c"));
    ASSERT(!glob_takes(t, "src/*.c", "a/src/x.c"));
    ASSERT(glob_takes(t, "/x.c", "x.c"));
    ASSERT(!glob_takes(t, "/x.c", "a/x.c"));
    ASSERT(glob_takes(t, "./x.c", "x.c"));
    ASSERT(glob_takes(t, "src/", "src/a/b"));
    ASSERT(!glob_takes(t, "!*.o", "a.o"));
    ASSERT(glob_takes(t, "!*.o", "a.c"));
    ASSERT(glob_takes(t, "\\{a,b\\}", "{a,b}"));
    ASSERT_FAILS(search_glob_parse(STR("{a,b"), &t->arena, &parsed, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(search_glob_parse(STR("!"), &t->arena, &parsed, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(search_glob_parse(STR(""), &t->arena, &parsed, &t->err), ERR_BAD_REQUEST);
    for (int i = 0; i < 20; i++)
        buf_add_text(&long_glob, "{a,b}");
    ASSERT_FAILS(search_glob_parse(buf_str(&long_glob), &t->arena, &parsed, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "64 alternatives");
    while (long_glob.n < 2000)
        buf_add_char(&long_glob, 'x');
    ASSERT_FAILS(search_glob_parse(buf_str(&long_glob), &t->arena, &parsed, &t->err),
                 ERR_BAD_REQUEST);
}

/* As rg has it. */
TEST(braces_and_commas_inside_a_set_are_themselves)
{
    static const struct {
        const char *glob, *path;
        bool takes;
    } globs[] = {
        { "a[{]b", "a{b", true },       { "a[{]b", "axb", false },
        { "a[{,]b", "a,b", true },      { "{a[,]b,axb}", "a,b", true },
        { "{a[,]b,axb}", "axb", true }, { "{a[,]b,axb}", "a", false },
        { "{a[}]b,zz}", "a}b", true },  { "{a[}]b,zz}", "zz", true },
        { "a[!{]b", "axb", true },      { "a[!{]b", "a{b", false },
        { "{[]}]x,y}", "}x", true },    { "{[]}]x,y}", "y", true },
        { "\\[{a,b}", "[b", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(globs); i++)
        if (glob_takes(t, globs[i].glob, globs[i].path) != globs[i].takes)
            FAIL("%s %s %s", globs[i].glob, globs[i].takes ? "refuses" : "takes", globs[i].path);
}
