/* Calendars: what is understood of them, what is refused and where.
 *
 * SPDX-License-Identifier: MIT
 */
#include "import_rig.h"
#include "journal/ics.h"

TEST(a_todo_of_a_calendar_becomes_a_task)
{
    struct import import = read_as(
        t, IMPORT_ICS,
        CALENDAR("BEGIN:VTODO\r\nUID:abc\r\nSUMMARY;LANGUAGE=en:Fix\\, the fen\r\n ce\\; now\r\n"
                 "DESCRIPTION:two\\nlines \\\\ here\r\nDUE;VALUE=DATE:20260301\r\n"
                 "STATUS:IN-PROCESS\r\nPRIORITY:1\r\nCATEGORIES:home,big\\, wood\r\n"
                 "BEGIN:VALARM\r\nSUMMARY:not this\r\nEND:VALARM\r\n"
                 "X-UNKNOWN;X=\"a:b;c\":whatever\r\nEND:VTODO\r\n"));

    ASSERT_EQ(import.problem_count, 0);
    ASSERT_TEXT(told(t, &import),
                "Fix, the fence; now|2026-03-01|P0|IN_PROGRESS||0|home,big, wood|\n");
    ASSERT_STR(import.records[0].notes, "two\nlines \\ here");
}

TEST(priorities_of_a_calendar_are_one_to_nine)
{
    static const struct {
        const char *said, *priority;
    } rows[] = {
        { "-1", "" },
        { "0", "" },
        { "1", "P0" },
        { "2", "P1" },
        { "4", "P1" },
        { "5", "P2" },
        { "6", "P3" },
        { "9", "P3" },
        { "10", "" },
        { "x", "" },
        { "", "" },
        { "1x", "" },
        { "99999999999999999999", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *text = arena_printf(
            &t->arena, CALENDAR("BEGIN:VTODO\r\nSUMMARY:x\r\nPRIORITY:%s\r\nEND:VTODO\r\n"),
            rows[i].said);
        struct import import = read_as(t, IMPORT_ICS, text);

        ASSERT_EQ(import.count, 1);
        ASSERT_STR(import.records[0].priority, rows[i].priority);
    }
}

TEST(times_of_a_calendar_are_read_where_they_were_written)
{
    static const struct {
        const char *line, *due;
    } rows[] = {
        { "DUE:20260301T160000", "2026-03-01T16:00" },
        { "DUE:20260301T160000Z", "2026-03-01T17:00" },
        { "DUE:20260701T160000Z", "2026-07-01T18:00" },
        { "DUE;TZID=America/New_York:20260301T160000", "2026-03-01T22:00" },
        { "DUE;TZID=/x.example/1/America/New_York:20260301T160000", "2026-03-01T22:00" },
        { "DUE;TZID=Mine:20260301T160000", "2026-03-01T08:00" },
        { "DUE;TZID=America/New_York;VALUE=DATE:20260301", "2026-03-01" },
        { "DUE;TZID=Nowhere/Town:20260301T160000", NULL },
        { "DUE:20260230", NULL },
        { "DUE:2026-03-01", NULL },
        { "DUE:20260301T250000", NULL },
        { "DUE:20260301T1600", NULL },
        { "DUE:", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct import import = read_as(
            t, IMPORT_ICS,
            arena_printf(
                &t->arena,
                CALENDAR("BEGIN:VTIMEZONE\r\nTZID:Mine\r\nX-LIC-LOCATION:Asia/Tokyo\r\n"
                         "BEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nEND:STANDARD\r\n"
                         "END:VTIMEZONE\r\nBEGIN:VTODO\r\nSUMMARY:x\r\n%s\r\nEND:VTODO\r\n"),
                rows[i].line));

        if (rows[i].due ? import.count != 1 || !str_is(import.records[0].due, rows[i].due)
                        : import.count != 0 || import.problem_count != 1)
            FAIL("%s: %s %s", rows[i].line, told(t, &import), problems(t, &import));
    }
}

TEST(events_say_when_they_are)
{
    struct import import = read_as(
        t, IMPORT_ICS,
        CALENDAR(
            "BEGIN:VEVENT\r\nSUMMARY:a\r\nDTSTART:20260301T100000Z\r\nDTEND:20260301T113000Z\r\n"
            "END:VEVENT\r\n"
            "BEGIN:VEVENT\r\nSUMMARY:b\r\nDTSTART:20260301T100000Z\r\nDURATION:P1DT2H30M\r\n"
            "END:VEVENT\r\n"
            "BEGIN:VEVENT\r\nSUMMARY:c\r\nDTSTART;VALUE=DATE:20260301\r\n"
            "DTEND;VALUE=DATE:20260302\r\nEND:VEVENT\r\n"
            "BEGIN:VEVENT\r\nSUMMARY:none\r\nEND:VEVENT\r\n"
            "BEGIN:VEVENT\r\nSUMMARY:back\r\nDTSTART:20260301T100000Z\r\n"
            "DTEND:20260301T090000Z\r\nEND:VEVENT\r\n"
            "BEGIN:VFREEBUSY\r\nSUMMARY:left out\r\nEND:VFREEBUSY\r\n"
            "this is nothing\r\n"
            "BEGIN:VEVENT\r\nSUMMARY:open\r\n"));

    ASSERT_EQ(import.count, 3);
    ASSERT_EQ(import.records[0].end - import.records[0].begin, 90 * 60000);
    ASSERT_EQ(import.records[1].end - import.records[1].begin, (26 * 60 + 30) * 60000);
    ASSERT_EQ(import.records[2].end, 0);
    ASSERT_CONTAINS(problems(t, &import), "does not say when it begins");
    ASSERT_CONTAINS(problems(t, &import), "ends before it begins");
    ASSERT_CONTAINS(problems(t, &import), "this is no NAME:VALUE");
    ASSERT_EQ(try_as(t, IMPORT_ICS, STR("BEGIN:VCARD\r\nEND:VCARD\r\n")), -1);
    ASSERT_EQ(try_as(t, IMPORT_ICS, STR("")), -1);
}

TEST(a_journal_of_a_calendar_becomes_a_note)
{
    struct import import = read_as(
        t, IMPORT_ICS,
        CALENDAR("BEGIN:VJOURNAL\r\nUID:j1\r\nDTSTAMP:20260302T080000Z\r\nSUMMARY:Walk\r\n"
                 "DTSTART:20260301T100000Z\r\nDESCRIPTION:by the brook\r\nDESCRIPTION:a heron\r\n"
                 "STATUS:FINAL\r\nEND:VJOURNAL\r\n"
                 "BEGIN:VJOURNAL\r\nUID:j2\r\nDTSTAMP:20260302T080000Z\r\nEND:VJOURNAL\r\n"
                 "BEGIN:VJOURNAL\r\nUID:j3\r\nSUMMARY:when\r\nEND:VJOURNAL\r\n"));

    ASSERT_EQ(import.count, 2u);
    ASSERT_STR(import.records[0].kind, "note");
    ASSERT_STR(import.records[0].notes, "by the brook\n\na heron");
    ASSERT_EQ(import.records[0].begin, INT64_C(1772359200000));
    ASSERT_EQ(import.records[1].begin, INT64_C(1772438400000));
    ASSERT_TEXT(problems(t, &import), "16: the journal entry does not say when it was (DTSTART)\n");
}

TEST(what_was_changed_of_a_series_is_a_record_of_its_own)
{
    static const char moved[] = "BEGIN:VEVENT\r\nUID:s\r\nRECURRENCE-ID:20260308T100000Z\r\n"
                                "SUMMARY:moved\r\nDTSTART:20260308T120000Z\r\nEND:VEVENT\r\n";
    static const char whole[] = "BEGIN:VEVENT\r\nUID:s\r\nSUMMARY:series\r\n"
                                "DTSTART:20260301T100000Z\r\nRRULE:FREQ=WEEKLY\r\nEND:VEVENT\r\n";
    struct import one =
        read_as(t, IMPORT_ICS, arena_printf(&t->arena, CALENDAR("%s%s"), moved, whole));
    struct import two =
        read_as(t, IMPORT_ICS, arena_printf(&t->arena, CALENDAR("%s%s"), whole, moved));

    ASSERT_EQ(one.count, 2u);
    ASSERT(!str_eq(one.records[0].id, one.records[1].id));
    ASSERT(str_eq(one.records[0].id, two.records[1].id));
    ASSERT(str_eq(one.records[1].id, two.records[0].id));
}

TEST(a_todo_is_done_however_a_calendar_says_it)
{
    static const struct {
        const char *lines, *status;
    } rows[] = {
        { "STATUS:COMPLETED\r\n", "DONE" },
        { "COMPLETED:20260301T100000Z\r\n", "DONE" },
        { "PERCENT-COMPLETE:100\r\n", "DONE" },
        { "PERCENT-COMPLETE:99\r\n", "" },
        { "STATUS:CANCELLED\r\nCOMPLETED:20260301T100000Z\r\n", "REJECTED" },
        { "STATUS:NEEDS-ACTION\r\nPERCENT-COMPLETE:100\r\n", "OPEN" },
        { "STATUS:X-STRANGE\r\n", "" },
        { "STATUS:NEEDS-ACTION\r\nX-DORMOUSE-STATUS:BLOCKED\r\n", "BLOCKED" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct import import =
            read_as(t, IMPORT_ICS,
                    arena_printf(&t->arena, CALENDAR("BEGIN:VTODO\r\nSUMMARY:x\r\n%sEND:VTODO\r\n"),
                                 rows[i].lines));

        ASSERT_EQ(import.count, 1u);
        ASSERT_STR(import.records[0].status, rows[i].status);
    }
}

TEST(when_something_was_done_is_read_in_every_format)
{
    static const struct {
        enum import_format format;
        const char *text, *closed; /* in UTC; the reader lives in Berlin */
    } rows[] = {
        { IMPORT_ICS,
          CALENDAR("BEGIN:VTODO\r\nSUMMARY:x\r\nCOMPLETED:20200101T100000Z\r\nEND:VTODO\r\n"),
          "2020-01-01T10:00:00" },
        { IMPORT_ICS,
          CALENDAR("BEGIN:VTODO\r\nSUMMARY:x\r\nSTATUS:COMPLETED\r\n"
                   "COMPLETED;TZID=America/New_York:20200101T100000\r\nEND:VTODO\r\n"),
          "2020-01-01T15:00:00" },
        { IMPORT_TODOTXT, "x 2025-11-01 2025-10-01 Call mum\n", "2025-10-31T23:00:00" },
        { IMPORT_TODOTXT, "x (A) 2025-11-01 2025-10-01 Call mum\n", "2025-10-31T23:00:00" },
        { IMPORT_TODOTXT, "x Call mum\n", "1970-01-01T00:00:00" },
        { IMPORT_MARKDOWN, "- [x] Was \xe2\x9c\x85 2025-07-01\n", "2025-06-30T22:00:00" },
        { IMPORT_MARKDOWN, "- [-] Not \xe2\x9d\x8c 2025-07-01\n", "2025-06-30T22:00:00" },
        { IMPORT_CSV, "title,completed\nx,2025-07-01 16:00\n", "2025-07-01T14:00:00" },
        { IMPORT_CSV, "title,Completed at\nx,2025-07-01T16:00:30Z\n", "2025-07-01T16:00:30" },
        { IMPORT_CSV, "completion date,title,status\n1.7.2025,x,rejected\n",
          "2025-06-30T22:00:00" },
        { IMPORT_CSV, "title,done\nx,yes\n", "1970-01-01T00:00:00" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct import import = read_as(t, rows[i].format, rows[i].text);
        char at[TIMEFMT_SIZE];

        ASSERT_TEXT(problems(t, &import), "");
        ASSERT_EQ(import.count, 1u);
        ASSERT(import.records[0].status.n > 0);
        timefmt_rfc3339(import.records[0].closed, at);
        ASSERT_STR(str_take(str_from(at), 19), rows[i].closed);
    }
}

TEST(a_day_of_being_done_that_is_none_is_a_problem)
{
    struct import csv = read_as(t, IMPORT_CSV, "title,completed\nx,someday\n");
    struct import ics = read_as(
        t, IMPORT_ICS, CALENDAR("BEGIN:VTODO\r\nSUMMARY:x\r\nCOMPLETED:someday\r\nEND:VTODO\r\n"));

    ASSERT_CONTAINS(problems(t, &csv), "2: \"someday\": what is done says yes, or when");
    ASSERT_CONTAINS(problems(t, &ics), "\"someday\" is no date");
}

/* Better before anything is made than in the middle of the file. */
TEST(an_event_that_can_not_be_stored_is_a_problem_of_its_line)
{
    static const struct {
        const char *lines, *problem;
    } rows[] = {
        { "DTSTART:19690101T000000Z\r\n", "3: /at: \"1969-01-01T00:00:00.000Z\" is not a time" },
        { "DTSTART:19700101T000000Z\r\n", "3: /at: " },
        { "DTSTART:20260101T000000Z\r\nDTEND:20280101T000000Z\r\n",
          "3: /durationMs: 63072000000 is" },
        { "DTSTART:20260101T000000Z\r\nX-DORMOUSE-KIND:party\r\n",
          "3: /kind: \"party\" is not one of note, workout, audio, measurement" },
        { "DTSTART:20260101T000000Z\r\nX-DORMOUSE-KIND:note\r\nX-DORMOUSE-SUBTYPE:a|b\r\n",
          "3: /subtype: \"a|b\" is not" },
        { "DTSTART:20260101T000000Z\r\nDTEND:20260101T010000Z\r\nX-DORMOUSE-DAY:soon\r\n",
          "3: \"soon\" is not a day" },
        { "DTSTART:20260101T000000Z\r\nX-DORMOUSE-UNIT:kilogram-and-some-more\r\n",
          "3: /unit: has 22" },
    };
    struct import import;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        import = read_as(t, IMPORT_ICS,
                         arena_printf(&t->arena,
                                      CALENDAR("BEGIN:VEVENT\r\nSUMMARY:x\r\n%sEND:VEVENT\r\n"),
                                      rows[i].lines));
        ASSERT_EQ(import.count, 0u);
        ASSERT_CONTAINS(problems(t, &import), rows[i].problem);
    }
    import = read_as(t, IMPORT_ICS,
                     CALENDAR("BEGIN:VEVENT\r\nDTSTART:20260101T000000Z\r\nX-DORMOUSE-VALUE:nan\r\n"
                              "END:VEVENT\r\n"));
    ASSERT_EQ(import.count, 1u);
    ASSERT_EQ(import.records[0].has_value, false);
}

TEST(folded_lines_never_cut_a_character)
{
    AUTO_BUF out = BUF_INIT(1 << 16);
    AUTO_BUF text = BUF_INIT(1 << 16);
    struct ics_reader reader;
    struct ics_line line;
    struct str rest, one;

    for (int i = 0; i < 100; i++)
        buf_add_text(&text, i % 3 ? "\xc3\xbc" : "a,\\;\n");
    ics_put_text(&out, "SUMMARY", buf_str(&text));
    rest = buf_str(&out);
    while (str_split(&rest, '\n', &one)) {
        ASSERT(one.n <= 76); /* with the CR */
        ASSERT(!one.n || ((unsigned char)one.p[0] & 0xc0) != 0x80);
    }
    reader = (struct ics_reader){ .rest = buf_str(&out), .arena = &t->arena };
    ASSERT_EQ(ics_next(&reader, &line), 1);
    ASSERT(str_eq(ics_text(line.value, &t->arena), buf_str(&text)));
}
