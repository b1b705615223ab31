/* What names and texts of agents may hold.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent.h"
#include "base/buf.h"
#include "harness/test.h"

TEST(names_that_people_give_are_taken)
{
    static const char *const names[] = { "Coach",
                                         "Gym Coach",
                                         "M\xc3\xa4uschen",
                                         "\xe5\xb0\x8f",
                                         "O'Neil & Sons (2)",
                                         "\xf0\x9f\x90\xad",
                                         "a" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ASSERT_OK(agent_name_check("the name", str_from(names[i]), &t->err));
}

TEST(joined_emoji_are_letters_like_any_other)
{
    /* woman, joiner, laptop; heart with its selector */
    ASSERT_OK(
        agent_name_check("the name", STR("\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb"), &t->err));
    ASSERT_OK(agent_name_check("the name", STR("\xe2\x9d\xa4\xef\xb8\x8f"), &t->err));
    ASSERT_FAILS(agent_name_check("the name", STR("ab\xe2\x80\x8d"), &t->err), ERR_BAD_REQUEST);
}

TEST(names_that_hide_something_are_refused_with_the_place)
{
    const struct {
        struct str name;
        const char *says;
    } bad[] = {
        { STR(""), "is empty" },
        { STR("   "), "is empty" },
        { STR(" Coach"), "begins or ends with a space" },
        { STR("Coach "), "begins or ends with a space" },
        { STR("Co\nach"), "U+000A" },
        { STR("Co\tach"), "U+0009" },
        { STR("Co\0ach"), "U+0000" },
        { STR("Co\x1b[31mach"), "U+001B" },
        { STR("Co\x7f"), "U+007F" },
        { STR("\xe2\x80\xaehcaoC"), "U+202E" },
        { STR("Co\xe2\x81\xa6"
              "ach"),
          "U+2066" },
        { STR("Co\xe2\x80\x8b"
              "ach"),
          "U+200B" },
        { STR("Co\xc2\xa0"
              "ach"),
          "U+00A0" },
        { STR("Co\xee\x80\x80"
              "ach"),
          "U+E000" },
        { STR("Co\xe2\x80\xa8"
              "ach"),
          "U+2028" },
        { STR("Co\xf3\xa0\x81\x81"), "U+E0041" },
        { STR("Co\xc0\xaf"
              "ach"),
          "not valid UTF-8 at byte 2" },
        { STR("Coach\xff"), "not valid UTF-8 at byte 5" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        err_reset(&t->err);
        ASSERT_FAILS(agent_name_check("the name", bad[i].name, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(t->err.text, bad[i].says);
    }
}

TEST(a_name_has_at_most_eighty_characters_whatever_their_bytes)
{
    AUTO_BUF name = BUF_INIT(1024);

    for (int i = 0; i < AGENT_NAME_MAX; i++)
        buf_add_text(&name, "\xc3\xa4");
    ASSERT_OK(agent_name_check("the name", buf_str(&name), &t->err));
    buf_add_text(&name, "x");
    ASSERT_FAILS(agent_name_check("the name", buf_str(&name), &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(t->err.text, "81 characters; at most 80");
}

TEST(texts_have_lines_and_tabs_but_nothing_that_turns_them_around)
{
    ASSERT_OK(agent_text_check("it", STR("a\n\tb\r\n\xf0\x9f\x90\xad\xe2\x80\x8d"), 100, &t->err));
    ASSERT_OK(agent_text_check("it", STR(""), 0, &t->err));
    ASSERT_FAILS(agent_text_check("it", STR("a\n\x1b[2J"), 100, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(t->err.text, "U+001B");
    err_reset(&t->err);
    ASSERT_FAILS(agent_text_check("it", STR("fine\n\xe2\x80\xae evil"), 100, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(t->err.text, "at byte 5");
    err_reset(&t->err);
    ASSERT_FAILS(agent_text_check("it", STR("\xed\xa0\x80"), 100, &t->err), ERR_BAD_REQUEST);
}

TEST(a_text_of_the_longest_length_fits_and_one_byte_more_does_not)
{
    char *text = arena_alloc(&t->arena, 1, AGENT_INSTRUCTIONS_MAX + 1);

    memset(text, 'x', AGENT_INSTRUCTIONS_MAX + 1);
    ASSERT_OK(agent_text_check("the instructions", str_of(text, AGENT_INSTRUCTIONS_MAX),
                               AGENT_INSTRUCTIONS_MAX, &t->err));
    ASSERT_FAILS(agent_text_check("the instructions", str_of(text, AGENT_INSTRUCTIONS_MAX + 1),
                                  AGENT_INSTRUCTIONS_MAX, &t->err),
                 ERR_TOO_LARGE);
    ASSERT_CONTAINS(t->err.text, "102401 bytes; at most 102400");
}
