/* Words of a query, and that nothing but words comes of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "find/find.h"
#include "harness/test.h"

static const char *expression(struct test *t, const char *text)
{
    AUTO_BUF out = BUF_INIT(16384);
    struct find_words words;

    find_words(str_from(text), &words);
    find_expression(&words, &out);
    return arena_text(&t->arena, buf_text(&out));
}

TEST(a_query_becomes_quoted_words)
{
    static const struct {
        const char *text, *expression;
    } cases[] = {
        { "zebra", "\"zebra\"*" },
        { "zebra crossing", "\"zebra\" \"crossing\"*" },
        { "  zebra,,crossing! ", "\"zebra\" \"crossing\"*" },
        { "the zebra", "\"zebra\"*" },
        { "the", "\"the\"*" },
        { "zebra OR crossing", "\"zebra\" \"crossing\"*" },
        { "zebra NOT crossing", "\"zebra\" \"NOT\" \"crossing\"*" },
        { "\"zebra", "\"zebra\"*" },
        { "body:zebra*", "\"body\" \"zebra\"*" },
        { "NEAR(a b, 3)", "\"NEAR\" \"b\" \"3\"*" },
        { "Z\xc3\xbcrich", "\"Z\xc3\xbcrich\"*" },
        { "a\xe2\x80\xaez", "\"z\"*" },
        { "\xff\xfe", "" },
        { "", "" },
        { "()*^-+", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(expression(t, cases[i].text), cases[i].expression);
}

TEST(a_long_query_is_cut)
{
    AUTO_BUF text = BUF_INIT(1 << 20);
    struct find_words words;

    for (int i = 0; i < 5000; i++)
        buf_add_text(&text, "wort ");
    find_words(buf_str(&text), &words);
    ASSERT_EQ(words.n, FIND_WORDS_MAX);
}

TEST(all_words_must_be_in_a_text)
{
    struct find_words words;

    find_words(STR("Zebra CROSS"), &words);
    ASSERT(find_in(&words, STR("a crossing for zebras")));
    ASSERT(!find_in(&words, STR("zebra")));
    find_words(STR(""), &words);
    ASSERT(!find_in(&words, STR("zebra")));
}
