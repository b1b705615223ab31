/* Aligned columns and times in words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/timefmt.h"
#include "cli/columns.h"
#include "cli/woke.h"
#include "harness/test.h"

static const char *printed_within(struct test *t, const struct columns *columns, int width)
{
    char *text = arena_alloc(&t->arena, 8192, 1);
    FILE *file = fmemopen(text, 8192, "w");

    columns_print_within(columns, width, file);
    fclose(file);
    return text;
}

static const char *printed(struct test *t, const struct columns *columns)
{
    return printed_within(t, columns, 0);
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
    char longer[4000];

    memset(longer, 'a', sizeof(longer));
    columns_init(&columns, (const char *const[]){ "A", NULL });
    columns_add(&columns, (struct str[]){ STR("one\ntwo\033[31m\rthree") });
    columns_add(&columns, (struct str[]){ str_of(longer, sizeof(longer)) });
    ASSERT_CONTAINS(printed(t, &columns), "one two [31m three\n");
    columns_release(&columns);
}

TEST(a_cell_that_is_too_long_says_so)
{
    struct columns columns;
    char longer[4000];

    memset(longer, 'a', sizeof(longer));
    columns_init(&columns, (const char *const[]){ "A", "B", NULL });
    columns_add(&columns, (struct str[]){ str_of(longer, 4000), STR("x") });
    columns_add(&columns, (struct str[]){ STR("x"), str_of(longer, 4000) });
    ASSERT_CONTAINS(printed(t, &columns), "aaa…  x\n");
    ASSERT_CONTAINS(printed(t, &columns), "aaa…\n");
    ASSERT_EQ(columns.width[0], 161);
    ASSERT_EQ(columns.width[1], 2001);
    columns_release(&columns);
}

TEST(a_column_that_may_gives_way_where_lines_are_short)
{
    struct columns columns;

    columns_init(&columns, (const char *const[]){ "ID", "REASON", "STATUS", "WHY", NULL });
    columns.shrinks = 1;
    columns_add(&columns, (struct str[]){ STR("1"), STR("manual: plan the däy and the rest of it"),
                                          STR("done"), STR("its run is done") });
    ASSERT_TEXT(printed_within(t, &columns, 39), "ID  REASON                  STATUS  WHY\n"
                                                 "1   manual: plan the däy …  done    \n"
                                                 "    its run is done\n");
    ASSERT_CONTAINS(printed(t, &columns), "and the rest of it  done    its run is done\n");
    columns_release(&columns);
}

TEST(a_wake_reads_as_what_woke_it)
{
    static const struct {
        const char *text, *title;
    } cases[] = {
        { "[wake: manual 01a1e5d2-5f3b]\nA person woke you.\n\nPlan it.\n\nDo what.",
          "manual: Plan it." },
        { "[wake: manual 01a1e5d2-5f3b]\nA person woke you.\n\nDo what.", "manual" },
        { "[wake: timer 01a1e5d2-5f3b] The time has come. Nobo", "timer: The time has come. Nobo" },
        { "[wake: timer 01a1e5", "timer" },
        { "wake me", "wake me" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(4096);

        ASSERT_STR(woke_title(str_from(cases[i].text), &out), cases[i].title);
    }
}

TEST(the_last_column_is_broken_where_lines_end)
{
    struct columns columns;

    columns_init(&columns, (const char *const[]){ "ID", "WHAT", NULL });
    columns_add(&columns, (struct str[]){ STR("1"), STR("one two three four five six seven") });
    columns_add(&columns, (struct str[]){ STR("2"), STR("short") });
    ASSERT_TEXT(printed_within(t, &columns, 30), "ID  WHAT\n"
                                                 "1   one two three four five\n"
                                                 "    six seven\n"
                                                 "2   short\n");
    ASSERT_CONTAINS(printed_within(t, &columns, 80), "1   one two three four five six seven\n");
    columns_release(&columns);
}

TEST(the_last_column_goes_below_when_the_others_leave_no_room)
{
    struct columns columns;

    columns_init(&columns, (const char *const[]){ "ID", "WHAT", NULL });
    columns_add(&columns, (struct str[]){ STR("0123456789"), STR("one two three four five") });
    columns_add(&columns, (struct str[]){ STR("2"), STR("short") });
    ASSERT_TEXT(printed_within(t, &columns, 24), "ID          WHAT\n"
                                                 "0123456789  \n"
                                                 "    one two three four\n"
                                                 "    five\n"
                                                 "2           short\n");
    columns_release(&columns);
}

TEST(spans_are_said_in_their_greatest_unit)
{
    char text[SPAN_SIZE];

    ASSERT_TEXT(span_text(7200, text), "2 h");
    ASSERT_TEXT(span_text(5400, text), "90 min");
    ASSERT_TEXT(span_text(86400, text), "day");
    ASSERT_TEXT(span_text(172800, text), "2 days");
    ASSERT_TEXT(span_text(61, text), "61 s");
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
