/* Aligned columns and times in words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/timefmt.h"
#include "cli/columns.h"
#include "harness/test.h"

static const char *printed(struct test *t, const struct columns *columns)
{
    char *text = arena_alloc(&t->arena, 4096, 1);
    FILE *file = fmemopen(text, 4096, "w");

    columns_print(columns, file);
    fclose(file);
    return text;
}

TEST(columns_line_up_by_characters)
{
    struct columns columns;

    columns_init(&columns, (const char *const[]){ "ID", "NAME", "WHAT", NULL });
    columns_add(&columns, (struct str[]){ STR("1"), STR("Zoë"), STR("x") });
    columns_add(&columns, (struct str[]){ STR("22"), STR("Anna"), STR("two words") });
    columns_add(&columns, (struct str[]){ STR("3"), STR_NONE, STR_NONE });
    ASSERT_TEXT(printed(t, &columns), "ID  NAME  WHAT\n"
                                      "1   Zoë   x\n"
                                      "22  Anna  two words\n"
                                      "3         \n");
    columns_release(&columns);
}

TEST(a_cell_is_one_line_and_sends_no_commands_to_the_terminal)
{
    struct columns columns;
    char longer[1000];

    memset(longer, 'a', sizeof(longer));
    columns_init(&columns, (const char *const[]){ "A", NULL });
    columns_add(&columns, (struct str[]){ STR("one\ntwo\033[31m\rthree") });
    columns_add(&columns, (struct str[]){ str_of(longer, sizeof(longer)) });
    ASSERT_CONTAINS(printed(t, &columns), "one two [31m three\n");
    ASSERT(strlen(printed(t, &columns)) < 250);
    columns_release(&columns);
}

TEST(many_rows_are_kept)
{
    struct columns columns;

    columns_init(&columns, (const char *const[]){ "N", NULL });
    for (int i = 0; i < 200; i++)
        columns_add(&columns, (struct str[]){ STR("7") });
    ASSERT_EQ(columns.n, 201);
    ASSERT_EQ(strlen(printed(t, &columns)), 402);
    columns_release(&columns);
}

TEST(times_are_said_in_words)
{
    static const struct {
        int64_t ago_s;
        const char *text;
    } cases[] = {
        { 0, "just now" },        { 4, "just now" },
        { 5, "5 s ago" },         { 59, "59 s ago" },
        { 60, "1 min ago" },      { 3599, "59 min ago" },
        { 3600, "1 h ago" },      { 172799, "47 h ago" },
        { 172800, "2 days ago" }, { -2, "now" },
        { -5, "in 5 s" },         { -90, "in 2 min" },
        { -3599, "in 1 h" },      { -7200, "in 2 h" },
        { -7141, "in 2 h" },      { -7140, "in 1 h 59 min" },
        { -36060, "in 10 h" },    { -172740, "in 48 h" },
        { -604800, "in 7 days" }, { -604799, "in 7 days" },
    };
    int64_t now = INT64_C(1790000000000);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char at[TIMEFMT_SIZE], text[AGO_SIZE];

        timefmt_rfc3339(now - cases[i].ago_s * 1000, at);
        ASSERT_TEXT(ago_text(str_from(at), now, text), cases[i].text);
    }
}

TEST(what_is_no_time_is_nothing)
{
    char text[AGO_SIZE];

    ASSERT_TEXT(ago_text(STR_NONE, 0, text), "");
    ASSERT_TEXT(ago_text(STR("yesterday"), 0, text), "");
    ASSERT_CONTAINS(ago_text(STR("0000-01-01T00:00:00.000Z"), INT64_C(1790000000000), text),
                    "days ago");
}
