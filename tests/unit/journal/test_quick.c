/* Quick add. SPDX-License-Identifier: MIT */
#include "journal/list.h"
#include "journal/quick.h"
#include "rig.h"

#define TODAY "2026-02-18" /* a Wednesday */

/* title | due | estimate | priority | category | labels | items | notes, empty ones left out at the
 * end */
static const char *parsed(struct test *t, const char *text, const char *today)
{
    AUTO_BUF out = BUF_INIT(100000);
    struct quick q;
    struct err err = ERR_INIT;

    if (quick_parse(str_from(text), str_from(today), &t->arena, &q, &err) < 0)
        return arena_printf(&t->arena, "error: %s", err_message(&err, 0));
    buf_printf(&out, "%.*s|%s|", STR_ARG(q.title), q.due);
    if (q.estimate_min)
        buf_printf(&out, "%lld", (long long)q.estimate_min);
    buf_add_char(&out, '|');
    if (q.priority >= 0)
        buf_printf(&out, "P%d", q.priority);
    buf_printf(&out, "|%.*s|", STR_ARG(q.category));
    for (size_t i = 0; i < q.label_count; i++)
        buf_printf(&out, "%s%.*s", i ? "," : "", STR_ARG(q.labels[i]));
    buf_add_char(&out, '|');
    for (size_t i = 0; i < q.item_count; i++)
        buf_printf(&out, "%s%.*s", i ? "," : "", STR_ARG(q.items[i]));
    buf_printf(&out, "|%.*s", STR_ARG(q.notes));
    while (out.n > 0 && out.p[out.n - 1] == '|')
        out.p[--out.n] = '\0';
    return arena_text(&t->arena, buf_text(&out));
}

TEST(words_become_a_task)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "Fix fence", "Fix fence" },
        { "Fix fence tomorrow 2h #home", "Fix fence|2026-02-19|120|||home" },
        { "Fix fence tomorrow 2h #home !1 @garden due:friday",
          "Fix fence tomorrow|2026-02-20|120|P1|garden|home" },
        { "  Fix \t fence  ", "Fix fence" },
        /* days */
        { "Call mum today", "Call mum|2026-02-18" },
        { "Call mum TONIGHT", "Call mum|2026-02-18" },
        { "Call mum Tomorrow!", "Call mum|2026-02-19" },
        { "Call mum wednesday", "Call mum|2026-02-25" },
        { "Call mum thursday", "Call mum|2026-02-19" },
        { "Call mum on Sunday", "Call mum|2026-02-22" },
        { "Call mum by fri", "Call mum|2026-02-20" },
        { "Buy sun cream", "Buy sun cream" },
        { "Sat nav update", "Sat nav update" },
        { "Call mum next week", "Call mum|2026-02-23" },
        { "Call mum next wednesday", "Call mum|2026-02-25" },
        { "Call mum next friday", "Call mum|2026-02-27" },
        { "Call mum next month", "Call mum|2026-03-01" },
        { "Call the next person", "Call the next person" },
        { "Call mum in 3 days", "Call mum|2026-02-21" },
        { "Call mum in a week", "Call mum|2026-02-25" },
        { "Call mum in 2 months", "Call mum|2026-04-18" },
        { "Call mum in two weeks", "Call mum|2026-03-04" },
        { "Call mum in twelve days", "Call mum|2026-03-02" },
        { "Call mum day after tomorrow", "Call mum|2026-02-20" },
        { "Call mum on the day after", "Call mum on the day after" },
        { "Call mum 24 Dec", "Call mum|2026-12-24" },
        { "Call mum Dec 24th, early", "Call mum early|2026-12-24" },
        { "Call mum on 1st of May", "Call mum|2026-05-01" },
        { "Call mum 1st of May 2027 9am", "Call mum|2027-05-01T09:00" },
        { "Best of May", "Best of May" },
        { "Pay rent on the 1st", "Pay rent|2026-03-01" },
        { "Pay rent by the 18th", "Pay rent|2026-02-18" },
        { "Pay rent on the 31st", "Pay rent|2026-03-31" },
        { "Pay rent on the 2", "Pay rent on the 2" },
        { "Read the 5th chapter", "Read the 5th chapter" },
        { "Pay rent end of month", "Pay rent|2026-02-28" },
        { "Pay rent by the end", "Pay rent by the end" },
        { "Pay rent by end of the month", "Pay rent|2026-02-28" },
        { "Call mum this friday", "Call mum|2026-02-20" },
        { "Call mum this wed", "Call mum|2026-02-18" },
        { "Call mum this weekend", "Call mum|2026-02-21" },
        { "Do this thing", "Do this thing" },
        { "Call mum tmrw", "Call mum|2026-02-19" },
        { "Pay rent 2026/12/24", "Pay rent|2026-12-24" },
        { "Call mum on 1 February", "Call mum|2027-02-01" },
        { "Call mum 3 sept 2027", "Call mum|2027-09-03" },
        { "Call mum June 31", "Call mum June 31" },
        { "Call mum 32 June", "Call mum 32 June" },
        { "Call mum Feb 29 2027", "Call mum Feb 29 2027" },
        { "Call mum 3 May 1", "Call mum 1|2026-05-03" },
        { "May I call mum", "May I call mum" },
        { "Gym every monday", "Gym every monday" },
        { "Gym every monday, from tomorrow", "Gym every monday, from tomorrow" },
        { "Each friday gym", "Each friday gym" },
        { "Every time I try", "Every time I try" },
        { "Call mum in 2 hours", "Call mum in 2 hours" }, /* nobody knows what time it is */
        { "Call mum in an hour 30m", "Call mum in an hour||30" },
        { "Call mum in 0 days", "Call mum in 0 days" },
        { "Call mum in 99999 days", "Call mum in 99999 days" },
        { "Pay rent 12.5.", "Pay rent|2026-05-12" },
        { "Pay rent 1.2.", "Pay rent|2027-02-01" },
        { "Pay rent 18.2.", "Pay rent|2026-02-18" },
        { "Pay rent 29.2.", "Pay rent|2028-02-29" },
        { "Pay rent 24.12.2026", "Pay rent|2026-12-24" },
        { "Pay rent 31.2", "Pay rent 31.2" },
        { "Pay rent \\31.2.", "Pay rent 31.2." },
        { "Pay 99.2.", "Pay 99.2." },
        { "Pay 12.5 euro", "Pay 12.5 euro" },
        { "Pay rent 2026-12-24", "Pay rent|2026-12-24" },
        { "Pay rent \\2026-13-24", "Pay rent 2026-13-24" },
        { "Pay rent due:24.12", "Pay rent|2026-12-24" },
        { "Pay rent due: in 3 days", "Pay rent|2026-02-21" },
        { "Pay rent due:next week", "Pay rent|2026-02-23" },
        { "Pay rent due friday", "Pay rent|2026-02-20" },
        { "Pay rent \\due:fryday", "Pay rent due:fryday" },
        { "Pay rent \\!9 \\2026-13-45", "Pay rent !9 2026-13-45" },
        { "Win !!! now !important", "Win !!! now !important" },
        { "Pay rent due:", "Pay rent due:" },
        { "Pay rent due:2026-12-24T16:00 today", "Pay rent today|2026-12-24T16:00" },
        { "Plan Friday meeting tomorrow", "Plan Friday meeting|2026-02-19" },
        /* times */
        { "Meet Ada tomorrow at 16:00", "Meet Ada|2026-02-19T16:00" },
        { "Meet Ada tomorrow 9:30", "Meet Ada|2026-02-19T09:30" },
        { "Meet Ada at 4pm", "Meet Ada|2026-02-18T16:00" },
        { "Meet Ada at 12am friday", "Meet Ada|2026-02-20T00:00" },
        { "Meet Ada at 12:15pm", "Meet Ada|2026-02-18T12:15" },
        { "Meet Ada at noon", "Meet Ada|2026-02-18T12:00" },
        { "Meet Ada at 25:00", "Meet Ada at 25:00" },
        { "Meet Ada at 13pm", "Meet Ada at 13pm" },
        { "Mix paint 4:30", "Mix paint 4:30" },
        { "Mix paint 24:30", "Mix paint 24:30" },
        { "Meet Ada 16:30", "Meet Ada|2026-02-18T16:30" },
        { "Meet Ada 4:30pm", "Meet Ada|2026-02-18T16:30" },
        { "Meet Ada 4:30 tomorrow", "Meet Ada|2026-02-19T04:30" },
        { "Watch 4pm and spam", "Watch and spam|2026-02-18T16:00" },
        { "Meet \\16:30", "Meet 16:30" },
        { "Meet Ada at home", "Meet Ada at home" },
        { "Meet Ada tomorrow, at 16:00, #work", "Meet Ada|2026-02-19T16:00||||work" },
        { "Meet Ada 4 pm tomorrow", "Meet Ada|2026-02-19T16:00" },
        { "Meet Ada at 4:30 p.m.", "Meet Ada|2026-02-18T16:30" },
        { "Meet Ada tomorrow at 9", "Meet Ada|2026-02-19T09:00" },
        { "Meet Ada at 9 tomorrow", "Meet Ada|2026-02-19T09:00" },
        { "Meet Ada tomorrow at 5", "Meet Ada at 5|2026-02-19" }, /* early or late? */
        { "Meet Ada at 9", "Meet Ada at 9" },
        { "Call mum tomorrow morning", "Call mum|2026-02-19T09:00" },
        { "Call mum friday evening", "Call mum|2026-02-20T19:00" },
        { "Morning run", "Morning run" },
        { "Buy evening dress tomorrow", "Buy evening dress|2026-02-19" },
        { "Meet Ada friday 14:00-15:30", "Meet Ada|2026-02-20T14:00|90" },
        { "Meet Ada 3pm-4pm tomorrow", "Meet Ada|2026-02-19T15:00|60" },
        { "Meet Ada 15:00-14:00", "Meet Ada 15:00-14:00" },
        { "Meet Ada fri 14:00-15:30", "Meet Ada|2026-02-20T14:00|90" },
        { "Meet Ada fri 9:30", "Meet Ada|2026-02-20T09:30" },
        { "Read 10-20", "Read 10-20" },
        /* all of a phrase, or nothing */
        { "Look at mails of last friday", "Look at mails of last friday" },
        { "Sum up last month tomorrow", "Sum up last month|2026-02-19" },
        { "Sum up what came since monday 9:00", "Sum up what came since monday 9:00" },
        { "Ask who left after 16:00 tomorrow", "Ask who left after 16:00|2026-02-19" },
        { "Call before friday", "Call before friday" },
        { "Camp from friday to sunday", "Camp from friday to sunday" },
        { "Camp between fri and sun, due:thu", "Camp between fri and sun|2026-02-19" },
        { "Water every 2 hours", "Water every 2 hours" },
        { "Water every monday 2h", "Water every monday||120" },
        { "Read the last chapter friday", "Read the last chapter|2026-02-20" },
        { "Pay rent end of next month", "Pay rent|2026-03-31" },
        { "Pay rent by end of this month", "Pay rent|2026-02-28" },
        { "Pay rent end of next year", "Pay rent end of next year" },
        { "Meet Ada from 9:00 to 10:00", "Meet Ada|2026-02-18T09:00|60" },
        { "Meet Ada tomorrow from 3 pm until 4:30 pm", "Meet Ada|2026-02-19T15:00|90" },
        { "Meet Ada 9:00 to 10:00 on fri", "Meet Ada|2026-02-20T09:00|60" },
        { "Meet Ada 14:00 - 15:30", "Meet Ada|2026-02-18T14:00|90" },
        { "Meet Ada from 22:00 to 2:00", "Meet Ada from 22:00 to 2:00" },
        { "Meet Ada from 16:00", "Meet Ada from 16:00" },
        { "Fly from 10 to 12", "Fly from 10 to 12" },
        { "Meet Ada tomorrow noon", "Meet Ada|2026-02-19T12:00" },
        { "Meet Ada noon tomorrow", "Meet Ada|2026-02-19T12:00" },
        { "Watch high noon", "Watch high noon" },
        /* durations */
        { "Read 1h 30m", "Read||90" },
        { "Read 2 hours 15 minutes tomorrow", "Read|2026-02-19|135" },
        { "Read for 1 hour and 5 min", "Read||65" },
        { "Read 1h 2h", "Read 1h||120" },
        { "Read 1h and sleep", "Read and sleep||60" },
        { "Read 1h 90m", "Read 1h||90" },
        { "Read 1,5h", "Read||90" },
        { "Read half an hour", "Read||30" },
        { "Read for an hour", "Read||60" },
        { "Read 90m", "Read||90" },
        { "Read 1h30", "Read||90" },
        { "Read 1h30m", "Read||90" },
        { "Read 1.5h", "Read||90" },
        { "Read for 2 hours", "Read||120" },
        { "Read 45 minutes", "Read||45" },
        { "Read 45min.", "Read||45" },
        { "Buy 2 m cable", "Buy 2 m cable" },
        { "Run 10km", "Run 10km" },
        { "Read 0h", "Read 0h" },
        { "Read 1h75", "Read 1h75" },
        { "Read 30m15", "Read 30m15" },
        { "Read 9999999h", "Read 9999999h" },
        { "Wait for me", "Wait for me" },
        /* signs */
        { "Fix #home #Garden #HOME", "Fix|||||home,Garden" },
        { "See issue #12", "See issue #12" },
        { "See issue #12a", "See issue|||||12a" },
        { "C# is # nice", "C# is # nice" },
        { "Mail ada@example.org", "Mail ada@example.org" },
        { "Fix @a @b", "Fix @a||||b" },
        { "Fix !0", "Fix|||P0" },
        { "Fix !p3", "Fix|||P3" },
        { "Fix !now !", "Fix !now !" },
        { "Fix !urgent", "Fix|||P0" },
        { "Fix !High!", "Fix|||P1" },
        { "Fix !medium, !LOW", "Fix !medium|||P3" },
        { "Fix !P1 it!", "Fix it!|||P1" },
        { "Fix #grün", "Fix|||||grün" },
        { "Fix @\"Home & Garden\" #\"by hand\", today", "Fix|2026-02-18|||Home & Garden|by hand" },
        { "Fix @\"Home", "Fix||||\"Home" },
        { "Say \"@\"a b\"\" x", "Say \"@\"a b\"\" x" },
        /* escapes and quotes */
        { "Write \\#not a label", "Write #not a label" },
        { "Watch \\tomorrow never dies", "Watch tomorrow never dies" },
        { "Watch \"Tomorrow never dies\" friday", "Watch \"Tomorrow never dies\"|2026-02-20" },
        { "Clean \\ slash", "Clean \\ slash" },
        { "due:\\friday x", "due:\\friday x" },
        /* lines */
        { "Party friday\n- cake\n* drinks\n[ ] music\nAsk Ada first\n\n- [ ] lights",
          "Party|2026-02-20|||||cake,drinks,music,lights|Ask Ada first" },
        { "Party\r\n- cake\r\n", "Party||||||cake" },
        /* nothing to do */
        { "", "error: the text does not say what is to be done" },
        { "tomorrow #home", "error: the text does not say what is to be done" },
        { "\n- cake", "error: the text does not say what is to be done" },
        { ",", "error: the text does not say what is to be done" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = parsed(t, cases[i].text, TODAY);

        if (strcmp(got, cases[i].expected) != 0)
            test_case_failed("\"%s\"\n    is %s\n    not %s", cases[i].text, got,
                             cases[i].expected);
        else
            test_case_passed();
    }
}

TEST(so_much_later_than_now_is_a_day_and_a_time)
{
    static const struct {
        const char *text, *now, *expected;
    } cases[] = {
        { "Call mum in 2 hours", "2026-02-18T09:30", "Call mum|2026-02-18T11:30" },
        { "Call mum in an hour", "2026-02-18T23:30", "Call mum|2026-02-19T00:30" },
        { "Call mum in 90m 15m", "2026-02-18T09:30", "Call mum|2026-02-18T11:00|15" },
        { "Call mum in 1.5 hours", "2026-02-18T09:30", "Call mum|2026-02-18T11:00" },
        { "Call mum in 1440 minutes", "2026-12-31T00:00", "Call mum|2027-01-01T00:00" },
        { "Call mum in 999999 hours", "2026-02-18T09:30", "Call mum in 999999 hours" },
        { "Call mum tomorrow", "2026-02-18T23:59", "Call mum|2026-02-19" },
        { "Call mum in half an hour", "2026-02-18T09:30", "Call mum|2026-02-18T10:00" },
        { "Call mum in 1h 15m", "2026-02-18T09:30", "Call mum|2026-02-18T10:45" },
        { "Call mum at 9:30", "2026-02-18T09:30", "Call mum|2026-02-18T09:30" },
        { "Call mum at 9:29", "2026-02-18T09:30", "Call mum|2026-02-19T09:29" },
        { "Call mum today 8:00", "2026-02-18T09:30", "Call mum|2026-02-18T08:00" },
        { "Call mum", "2026-02-18T24:00",
          "error: \"2026-02-18T24:00\" is not a day; write "
          "YYYY-MM-DD" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(parsed(t, cases[i].text, cases[i].now), cases[i].expected);
}

static const char *when(struct test *t, const char *text, bool behind)
{
    struct quick_when at;
    char day[TIMEFMT_SIZE] = "";

    if (!quick_when(str_from(text), STR(TODAY "T09:30"), behind, &t->arena, &at))
        return "none";
    if (at.has_day)
        timefmt_rfc3339(at.day * 86400 * 1000, day);
    return at.has_clock
               ? arena_printf(&t->arena, "%.10s %02d:%02d", day, at.minutes / 60, at.minutes % 60)
               : arena_printf(&t->arena, "%.10s", day);
}

TEST(what_has_been_lies_behind_and_what_is_to_come_ahead)
{
    static const struct {
        const char *text, *ahead, *behind;
    } cases[] = {
        { "today", "2026-02-18", "2026-02-18" },
        { "yesterday", "2026-02-17", "2026-02-17" },
        { "Yesterday at 9:30", "2026-02-17 09:30", "2026-02-17 09:30" },
        { "17:00 yesterday", "2026-02-17 17:00", "2026-02-17 17:00" },
        { "tomorrow 8:00", "2026-02-19 08:00", "2026-02-19 08:00" },
        { "friday", "2026-02-20", "2026-02-13" },
        { "on fri 16:00", "2026-02-20 16:00", "2026-02-13 16:00" },
        { "wednesday", "2026-02-25", "2026-02-18" },
        { "last wednesday", "2026-02-11", "2026-02-11" },
        { "last fri 9am", "2026-02-13 09:00", "2026-02-13 09:00" },
        { "3 days ago 9:00", "2026-02-15 09:00", "2026-02-15 09:00" },
        { "at 9:00 3 days ago", "2026-02-15 09:00", "2026-02-15 09:00" },
        { "2 hours ago 9:00", "none", "none" },
        { "3 days ago friday", "none", "none" },
        { "next friday", "2026-02-27", "2026-02-27" },
        { "in 3 days", "2026-02-21", "2026-02-21" },
        { "3 days ago", "2026-02-15", "2026-02-15" },
        { "a week ago", "2026-02-11", "2026-02-11" },
        { "2 months ago", "none", "none" },
        { "2 hours ago", "2026-02-18 07:30", "2026-02-18 07:30" },
        { "90m ago", "2026-02-18 08:00", "2026-02-18 08:00" },
        { "10 hours ago", "2026-02-17 23:30", "2026-02-17 23:30" },
        { "in 2 hours", "2026-02-18 11:30", "2026-02-18 11:30" },
        { "12.10.", "2026-10-12", "2025-10-12" },
        { "12.10", "2026-10-12", "2025-10-12" },
        { "24 Dec 9:00", "2026-12-24 09:00", "2025-12-24 09:00" },
        { "18 Feb", "2026-02-18", "2026-02-18" },
        { "24 Dec 2027", "2027-12-24", "2027-12-24" },
        { "2026-12-24 16:00", "2026-12-24 16:00", "2026-12-24 16:00" },
        { "9am", " 09:00", " 09:00" },
        { "9:30", " 09:30", " 09:30" },
        { "at noon", " 12:00", " 12:00" },
        { "", "none", "none" },
        { "yesterdays", "none", "none" },
        { "yesterday 25:00", "none", "none" },
        { "yesterday afternoon", "none", "none" },
        { "friday friday", "none", "none" },
        { "9:00 10:00", "none", "none" },
        { "last week", "none", "none" },
        { "ago", "none", "none" },
        { "2 ago", "none", "none" },
        { "3/4/2026", "none", "none" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ASSERT_TEXT(when(t, cases[i].text, false), cases[i].ahead);
        ASSERT_TEXT(when(t, cases[i].text, true), cases[i].behind);
    }
}

TEST(a_date_that_may_be_two_days_is_refused)
{
    static const char *const doubtful[] = { "3/4/2026",     "03/04/26",    "13/4/2026",  "4-3-2026",
                                            "due:3/4/2026", "12/31/2026.", "31/12/2026," };
    static const char *const others[] = { "1/2",         "2026/13/1",  "1/2/3",       "40/1/2026",
                                          "a/b/cdef",    "0/1/2026",   "1/2/3/2026",  "3-4-5",
                                          "555-12-1234", "\\3/4/2026", "\"3/4/2026\"" };

    for (size_t i = 0; i < ARRAY_LEN(doubtful); i++) {
        const char *got = parsed(t, arena_printf(&t->arena, "Pay %s", doubtful[i]), TODAY);

        ASSERT_CONTAINS(got, "which is the day, which the month? write 2026-12-24, 24.12.2026");
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        ASSERT_CONTAINS(parsed(t, arena_printf(&t->arena, "Pay %s", others[i]), TODAY), "Pay ");
}

TEST(what_says_that_it_is_a_day_or_a_priority_and_is_none_is_refused)
{
    static const char *const cases[][2] = {
        { "Pay due:2026-13-45", "\"due:2026-13-45\" is no day; write due:friday" },
        { "Pay due:fryday now", "\"due:fryday\" is no day" },
        { "Pay !9", "\"!9\" is no priority; write !0 (first) to !3" },
        { "Pay !p4 rent", "\"!p4\" is no priority" },
        { "Pay 2026-02-30", "a day that no calendar has" },
        { "Pay 31.2.2026", "a day that no calendar has" },
        { "Pay 31.2.", "a day that no calendar has" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_CONTAINS(parsed(t, cases[i][0], TODAY), cases[i][1]);
    ASSERT_TEXT(parsed(t, "Pay due:friday due:24.12", TODAY), "Pay due:friday|2026-12-24");
}

TEST(days_are_counted_from_any_day)
{
    ASSERT_TEXT(parsed(t, "x tomorrow", "2026-12-31"), "x|2027-01-01");
    ASSERT_TEXT(parsed(t, "x tomorrow", "2028-02-28"), "x|2028-02-29");
    ASSERT_TEXT(parsed(t, "x monday", "2026-02-22"), "x|2026-02-23");
    ASSERT_TEXT(parsed(t, "x sunday", "2026-02-22"), "x|2026-03-01");
    ASSERT_TEXT(parsed(t, "x next week", "2026-02-23"), "x|2026-03-02");
    ASSERT_TEXT(parsed(t, "x in 1 month", "2026-01-31"), "x|2026-02-28");
    ASSERT_TEXT(parsed(t, "x next month", "2026-12-31"), "x|2027-01-01");
    ASSERT_TEXT(parsed(t, "x tomorrow", "someday"), "error: \"someday\" is not a day; write "
                                                    "YYYY-MM-DD");
}

TEST(every_weekday_is_one_to_seven_days_away)
{
    static const char *const names[] = { "monday", "tuesday",  "wednesday", "thursday",
                                         "friday", "saturday", "sunday" };

    for (int i = 0; i < 7; i++) {
        const char *text = arena_printf(&t->arena, "x %s", names[(2 + i + 1) % 7]);

        ASSERT_TEXT(parsed(t, text, TODAY), arena_printf(&t->arena, "x|2026-02-%d", 18 + i + 1));
    }
}

TEST(what_was_understood_has_its_place)
{
    static const char text[] = "Größe 🐭 messen tomorrow, at 16:00 #home !1\n- Maß";
    struct quick q;
    AUTO_BUF out = BUF_INIT(10000);
    struct json_writer w = JSON_WRITER(&out);

    ASSERT_OK(quick_parse(str_from(text), STR(TODAY), &t->arena, &q, &t->err));
    ASSERT_EQ(q.span_count, 5);
    for (size_t i = 1; i < q.span_count; i++)
        ASSERT(q.spans[i - 1].end <= q.spans[i].start);
    ASSERT_STR(str_of(text + q.spans[0].start, q.spans[0].end - q.spans[0].start), "tomorrow");
    ASSERT_STR(str_of(text + q.spans[1].start, q.spans[1].end - q.spans[1].start), "at 16:00");
    ASSERT_STR(str_of(text + q.spans[2].start, q.spans[2].end - q.spans[2].start), "#home");
    quick_write(&w, &q);
    ASSERT_OK(json_write_end(&w));
    ASSERT_TEXT(buf_text(&out),
                "{\"title\":\"Größe 🐭 messen\",\"due\":\"2026-02-19T16:00\",\"priority\":\"P1\","
                "\"labels\":[\"home\"],\"items\":[\"Maß\"],\"spans\":["
                "{\"kind\":\"day\",\"start\":16,\"end\":24,\"value\":\"2026-02-19\"},"
                "{\"kind\":\"time\",\"start\":26,\"end\":34,\"value\":\"16:00\"},"
                "{\"kind\":\"label\",\"start\":35,\"end\":40,\"value\":\"home\"},"
                "{\"kind\":\"priority\",\"start\":41,\"end\":43,\"value\":\"P1\"},"
                "{\"kind\":\"item\",\"start\":44,\"end\":49,\"value\":\"Maß\"}]}");
}

TEST(long_and_broken_texts_are_refused_or_bounded)
{
    AUTO_BUF text = BUF_INIT(1 << 20);
    struct quick q;

    for (int i = 0; i < QUICK_TEXT_MAX / 5 + 1; i++)
        buf_add_text(&text, "#ab\n ");
    ASSERT_FAILS(quick_parse(buf_str(&text), STR(TODAY), &t->arena, &q, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(quick_parse(STR("x\xff"), STR(TODAY), &t->arena, &q, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(quick_parse(STR("x\0y"), STR(TODAY), &t->arena, &q, &t->err), ERR_BAD_REQUEST);
    buf_clear(&text);
    for (int i = 0; i < 501; i++)
        buf_add_char(&text, 'x');
    ASSERT_FAILS(quick_parse(buf_str(&text), STR(TODAY), &t->arena, &q, &t->err), ERR_BAD_REQUEST);
    buf_clear(&text);
    for (int i = 0; i < 30; i++)
        buf_printf(&text, "#l%d ", i);
    buf_add_text(&text, "x");
    ASSERT_OK(quick_parse(buf_str(&text), STR(TODAY), &t->arena, &q, &t->err));
    ASSERT_EQ(q.label_count, QUICK_LABELS_MAX);
    ASSERT_CONTAINS(arena_copy(&t->arena, q.title.p, q.title.n), "#l29 x");
    buf_clear(&text);
    buf_add_text(&text, "x");
    for (int i = 0; i < 200; i++)
        buf_printf(&text, "\n- item %d", i);
    ASSERT_OK(quick_parse(buf_str(&text), STR(TODAY), &t->arena, &q, &t->err));
    ASSERT_EQ(q.item_count, QUICK_ITEMS_MAX);
    ASSERT(q.span_count <= QUICK_SPANS_MAX);
    ASSERT(q.notes.n > 0);
    buf_clear(&text);
    for (int i = 0; i < 1000; i++)
        buf_add_text(&text, "a ");
    ASSERT_FAILS(quick_parse(buf_str(&text), STR(TODAY), &t->arena, &q, &t->err), ERR_BAD_REQUEST);
}

DB_TEST(a_quick_task_is_there_with_all_that_was_said)
{
    AUTO_RIG rig;
    struct quick q;
    struct record task, **labels, *lists, *items;
    struct record_filter of = { .type = RECORD_CHECKLIST };
    size_t n, *counts;
    bool more;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CATEGORY, "g", "{'name':'Garden'}");
    ASSERT_OK(quick_parse(STR("Fix fence tomorrow 2h #home #urgent !1 @garden\n- wood\n- paint"),
                          STR(TODAY), &t->arena, &q, &t->err));
    ASSERT_OK(quick_add(rig_begin(&rig), &q, &task, &t->err));
    rig_end(&rig);
    task = rig_get(&rig, RECORD_TASK, task.id);
    ASSERT_STR(record_str(&task, "title"), "Fix fence");
    ASSERT_STR(record_str(&task, "due"), "2026-02-19");
    ASSERT_STR(record_str(&task, "categoryId"), "g");
    ASSERT_STR(record_str(&task, "priority"), "P1");
    ASSERT_EQ(record_i64(&task, "estimateMinutes"), 120);
    ASSERT_OK(task_labels_of(rig.journal, &task, 1, &t->arena, &labels, &counts, &t->err));
    ASSERT_EQ(counts[0], 2);
    of.parent = task.id;
    ASSERT_OK(record_list(rig.journal, &of, &t->arena, &lists, &n, &more, &t->err));
    ASSERT_EQ(n, 1);
    of = (struct record_filter){ .type = RECORD_CHECKLIST_ITEM, .parent = lists[0].id };
    ASSERT_OK(record_list(rig.journal, &of, &t->arena, &items, &n, &more, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_STR(record_str(&items[0], "title"), "wood");
}

DB_TEST(a_category_that_is_not_there_is_asked_for)
{
    AUTO_RIG rig;
    struct quick q;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CATEGORY, "g", "{'name':'Garden'}");
    ASSERT_OK(quick_parse(STR("x @Gardn"), STR(TODAY), &t->arena, &q, &t->err));
    ASSERT_FAILS(quick_add(rig_begin(&rig), &q, NULL, &t->err), ERR_NOT_FOUND);
    rig_drop(&rig);
    ASSERT_TEXT(err_message(&t->err, 0),
                "there is no category \"Gardn\"; did you mean \"Garden\"?");
    t->err = ERR_INIT;
    ASSERT_OK(quick_parse(STR("x @zzz"), STR(TODAY), &t->arena, &q, &t->err));
    ASSERT_FAILS(quick_add(rig_begin(&rig), &q, NULL, &t->err), ERR_NOT_FOUND);
    rig_drop(&rig);
    ASSERT_TEXT(err_message(&t->err, 0), "there is no category \"zzz\"; make it first");
}
