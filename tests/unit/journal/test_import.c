/* Files of other programs: what is understood, what is refused and where.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "base/rand.h"
#include "journal/export.h"
#include "journal/ics.h"
#include "journal/import.h"
#include "journal/list.h"
#include "rig.h"

static struct import read_as(struct test *t, enum import_format format, const char *text)
{
    AUTO(zone) zone = NULL;
    struct import import;

    ASSERT_OK(zone_open(STR("Europe/Berlin"), &zone, &t->err));
    ASSERT_OK(import_read(format, str_from(text), zone, &t->arena, &import, &t->err));
    return import;
}

static int try_as(struct test *t, enum import_format format, struct str text)
{
    struct import import;

    t->err = ERR_INIT;
    return import_read(format, text, NULL, &t->arena, &import, &t->err);
}

/* title|due|priority|status|category|minutes|labels|items, one a line. */
static const char *told(struct test *t, const struct import *import)
{
    AUTO_BUF out = BUF_INIT(1 << 20);

    for (size_t i = 0; i < import->count; i++) {
        const struct import_record *r = &import->records[i];

        buf_printf(&out, "%.*s|%.*s|%.*s|%.*s|%.*s|%lld|", STR_ARG(r->title), STR_ARG(r->due),
                   STR_ARG(r->priority), STR_ARG(r->status), STR_ARG(r->category),
                   (long long)r->estimate_min);
        for (size_t k = 0; k < r->label_count; k++)
            buf_printf(&out, "%s%.*s", k ? "," : "", STR_ARG(r->labels[k]));
        buf_add_char(&out, '|');
        for (size_t k = 0; k < r->item_count; k++)
            buf_printf(&out, "%s%s%.*s", k ? "," : "", r->items[k].checked ? "x " : "",
                       STR_ARG(r->items[k].title));
        buf_add_char(&out, '\n');
    }
    return arena_text(&t->arena, buf_text(&out));
}

static const char *problems(struct test *t, const struct import *import)
{
    AUTO_BUF out = BUF_INIT(1 << 20);

    for (size_t i = 0; i < import->problem_count && i < IMPORT_PROBLEMS_MAX; i++)
        buf_printf(&out, "%zu: %.*s\n", import->problems[i].line,
                   STR_ARG(import->problems[i].text));
    return arena_text(&t->arena, buf_text(&out));
}

/* ---- CSV ---- */

TEST(csv_columns_are_found_by_name_in_any_order_and_case)
{
    struct import import =
        read_as(t, IMPORT_CSV,
                "\xef\xbb\xbf"
                "Notes,TITLE,Tags,estimate,Due Date,STATUS,Priority,Project,whatever\r\n"
                "n,Fix fence,\"a, #b\",1h30,2026-03-01 16:00,in progress,high,Home,z\r\n"
                "\r\n"
                ",Paint,,,18.3.2026,,,\r\n");

    ASSERT_TEXT(told(t, &import), "Fix fence|2026-03-01T16:00|P1|IN_PROGRESS|Home|90|a,b|\n"
                                  "Paint|2026-03-18||||0||\n");
    ASSERT_EQ(import.problem_count, 0);
    ASSERT_STR(import.records[0].notes, "n");
}

TEST(csv_is_separated_by_what_its_first_line_has_most_of)
{
    struct import a = read_as(t, IMPORT_CSV, "title;due\nx, y;2026-01-01\n");
    struct import b = read_as(t, IMPORT_CSV, "title\tdue\nx, y; z\t2026-01-01\n");
    struct import c = read_as(t, IMPORT_CSV, "title\rone\rtwo");

    ASSERT_TEXT(told(t, &a), "x, y|2026-01-01||||0||\n");
    ASSERT_TEXT(told(t, &b), "x, y; z|2026-01-01||||0||\n");
    ASSERT_EQ(c.count, 2);
}

TEST(csv_quoted_fields_hold_separators_quotes_and_lines)
{
    struct import import = read_as(t, IMPORT_CSV,
                                   "title,notes\n\"say \"\"hi\"\", now\",\"two\r\nlines\"\n"
                                   "\"broken\ntitle\",x\nlast,\n");

    ASSERT_EQ(import.count, 3);
    ASSERT_STR(import.records[0].title, "say \"hi\", now");
    ASSERT_STR(import.records[0].notes, "two\r\nlines");
    ASSERT_STR(import.records[1].title, "broken title");
    ASSERT_EQ(import.records[1].line, 4);
    ASSERT_EQ(import.records[2].line, 6);
}

/* One cell as a spreadsheet writes it. */
static void put_cell(struct buf *out, struct str text, char separator, bool always)
{
    bool quotes = always;

    for (size_t i = 0; i < text.n; i++)
        quotes |=
            text.p[i] == separator || text.p[i] == '"' || text.p[i] == '\n' || text.p[i] == '\r';
    if (quotes)
        buf_add_char(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"')
            buf_add_char(out, '"');
        buf_add_char(out, text.p[i]);
    }
    if (quotes)
        buf_add_char(out, '"');
}

TEST(csv_is_read_as_it_was_written_whatever_it_holds)
{
    static const char *const pieces[] = {
        "a", ",", ";", "\t", "\"", "\n", "\r\n", " b", "\xc3\xbc"
    };
    static const char *const ends[] = { "\n", "\r\n", "\r" };
    static const char separators[] = ",;\t";
    struct rand_fake seeded;

    rand_fake_init(&seeded, 9);
    for (int round = 0; round < 300; round++) {
        char separator = separators[round % 3];
        const char *end = ends[round / 3 % 3];
        AUTO_BUF text = BUF_INIT(1 << 16);
        struct str notes[8];
        struct import import;
        size_t rows = 1 + rand_below(&seeded.rand, ARRAY_LEN(notes));

        buf_printf(&text, "%stitle%cnotes%cother%s", round % 2 ? "\xef\xbb\xbf" : "", separator,
                   separator, end);
        for (size_t i = 0; i < rows; i++) {
            AUTO_BUF cell = BUF_INIT(1 << 10);

            buf_add_char(&cell, 'x');
            for (uint64_t n = rand_below(&seeded.rand, 10); n > 0; n--)
                buf_add_text(&cell, pieces[rand_below(&seeded.rand, ARRAY_LEN(pieces))]);
            buf_add_char(&cell, 'x');
            notes[i] = arena_str(&t->arena, buf_str(&cell));
            buf_printf(&text, "t%zu%c", i, separator);
            put_cell(&text, notes[i], separator, rand_below(&seeded.rand, 2) == 0);
            buf_printf(&text, "%c%s", separator, i + 1 < rows || round % 5 ? end : "");
        }
        import = read_as(t, IMPORT_CSV, buf_text(&text));
        ASSERT_EQ(import.problem_count, 0u);
        ASSERT_EQ(import.count, rows);
        for (size_t i = 0; i < rows; i++)
            ASSERT(str_eq(import.records[i].notes, notes[i]));
    }
}

TEST(csv_says_what_is_wrong_and_in_which_line)
{
    struct import import = read_as(t, IMPORT_CSV,
                                   "title,due,priority,status,estimate\n"
                                   "a,someday,,,\n"
                                   "b,,11,,\n"
                                   "c,,,maybe,\n"
                                   "d,,,,long\n"
                                   ",2026-01-01,,,\n"
                                   "e,2026-02-30,,,\n"
                                   "f,,,,,,,\n"
                                   "\"g\"x,,,,\n"
                                   "good,,,,\n"
                                   "\"never ends,,,,\n");

    ASSERT_TEXT(told(t, &import), "good|||||0||\n");
    ASSERT_EQ(import.problem_count, 9);
    ASSERT_CONTAINS(problems(t, &import), "2: \"someday\": a due day is written 2026-02-18");
    ASSERT_CONTAINS(problems(t, &import), "3: \"11\": a priority is P0 to P3");
    ASSERT_CONTAINS(problems(t, &import), "4: \"maybe\": a status is");
    ASSERT_CONTAINS(problems(t, &import), "5: \"long\": an estimate is");
    ASSERT_CONTAINS(problems(t, &import), "6: the task has no title");
    ASSERT_CONTAINS(problems(t, &import), "7: \"2026-02-30\"");
    ASSERT_CONTAINS(problems(t, &import), "8: the line has 8 fields, the first one 5");
    ASSERT_CONTAINS(problems(t, &import), "9: text follows the quote");
    ASSERT_CONTAINS(problems(t, &import), "11: a quoted field does not end");
}

TEST(csv_without_a_title_column_is_refused)
{
    ASSERT_EQ(try_as(t, IMPORT_CSV, STR("a,b\n1,2\n")), -1);
    ASSERT_CONTAINS(err_message(&t->err, 0), "no column is called `title`");
    ASSERT_EQ(try_as(t, IMPORT_CSV, STR("")), -1);
    ASSERT_EQ(try_as(t, IMPORT_CSV, STR("title,name\nx,y\n")), -1);
    ASSERT_CONTAINS(err_message(&t->err, 0), "mean the same");
}

TEST(estimates_are_read_as_people_write_them)
{
    static const struct {
        const char *text;
        int64_t minutes; /* -1: refused */
    } rows[] = {
        { "90", 90 },   { "90m", 90 },       { "90 min", 90 }, { "2h", 120 },
        { "1h30", 90 }, { "1h 30m", 90 },    { "1:30", 90 },   { "45 mins", 45 },
        { "", 0 },      { "0", -1 },         { "h", -1 },      { "2x", -1 },
        { "-5", -1 },   { "999999999", -1 }, { "1h2h", -1 },   { "5m5", -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct import import =
            read_as(t, IMPORT_CSV, arena_printf(&t->arena, "title,estimate\nx,%s\n", rows[i].text));

        if (rows[i].minutes < 0
                ? import.count != 0
                : import.count != 1 || import.records[0].estimate_min != rows[i].minutes)
            FAIL("\"%s\"", rows[i].text);
    }
}

/* ---- todo.txt ---- */

TEST(todotxt_is_read_by_its_rules)
{
    struct import import =
        read_as(t, IMPORT_TODOTXT,
                "x 2026-02-18 2026-02-10 Call mum +family @phone due:2026-02-20\n"
                "(A) Write will @home @desk\n"
                "(B) 2026-01-01 Dated\n"
                "(Z) Last\n"
                "\n"
                "xylophone lesson\n"
                "X is no mark\n"
                "(a) nor is this\n"
                "x Done pri:C key:value http://a.example +one +two\n"
                "email a@b.example\n");

    ASSERT_EQ(import.problem_count, 0);
    ASSERT_TEXT(told(t, &import), "Call mum|2026-02-20||DONE|family|0|phone|\n"
                                  "Write will||P0|||0|home,desk|\n"
                                  "Dated||P1|||0||\n"
                                  "Last||P3|||0||\n"
                                  "xylophone lesson|||||0||\n"
                                  "X is no mark|||||0||\n"
                                  "(a) nor is this|||||0||\n"
                                  "Done key:value http://a.example||P2|DONE|one|0|two|\n"
                                  "email a@b.example|||||0||\n");
}

TEST(labels_beyond_the_bound_and_those_that_came_before_are_left_out)
{
    AUTO_BUF text = BUF_INIT(4096);
    struct import import;

    buf_add_text(&text, "Much @a0 @A0");
    for (int i = 0; i < 3 * IMPORT_LABELS_MAX; i++)
        buf_printf(&text, " @a%d", i);
    import = read_as(t, IMPORT_TODOTXT, buf_text(&text));
    ASSERT_EQ(import.problem_count, 0);
    ASSERT_CONTAINS(told(t, &import), "|a0,a1,a2,");
    ASSERT_CONTAINS(told(t, &import), ",a19|");
}

TEST(todotxt_says_where_a_day_is_wrong_or_nothing_is_said)
{
    struct import import =
        read_as(t, IMPORT_TODOTXT, "fine\nx due:2026-02-30\nPay due:tomorrow\n(A) +project\nx\n");

    ASSERT_TEXT(told(t, &import), "fine|||||0||\n");
    ASSERT_CONTAINS(problems(t, &import), "2: \"due:2026-02-30\"");
    ASSERT_CONTAINS(problems(t, &import), "3: \"due:tomorrow\"");
    ASSERT_CONTAINS(problems(t, &import), "4: the task has no title");
    ASSERT_CONTAINS(problems(t, &import), "5: the task has no title");
}

TEST(a_file_of_todoist_becomes_tasks)
{
    struct import import = read_as(
        t, IMPORT_CSV,
        "\xef\xbb\xbfTYPE,CONTENT,DESCRIPTION,PRIORITY,INDENT,AUTHOR,RESPONSIBLE,DATE,DATE_LANG,"
        "TIMEZONE,DURATION,DURATION_UNIT,DEADLINE,DEADLINE_LANG\n"
        "meta,view_style=list,,,,,,,,,,,,\n"
        "task,Loose @shop,two words,1,1,Ann (1),,2026-11-20,en,Europe/Berlin,,,,\n"
        "task,Child @a,,4,2,Ann (1),,,en,,,,,\n"
        "note,a comment,,,,Ann (1),,,,,,,,\n"
        ",,,,,,,,,,,,,\n"
        "section,Home,,,,,,,,,,,,\n"
        "task,Mail ann@example.org,,2,1,,,20 Nov 2026 14:00,en,,30,minute,,\n"
        "task,Rent,,4,1,,,every month,en,,None,None,,\n"
        "task,\"Odd\nlines\",,9,x,,,,en,,,,2026-12-01,en\n"
        "task,,,4,1,,,,,,,,,\n");

    ASSERT_TEXT(told(t, &import), "Loose|2026-11-20|P0|||0|shop|\n"
                                  "Child||P3|||0|a|\n"
                                  "Mail ann@example.org|2026-11-20T14:00|P1||Home|30||\n"
                                  "Rent||P3||Home|0||\n"
                                  "Odd|2026-12-01|||Home|0||\n");
    ASSERT_STR(import.records[0].notes, "two words");
    ASSERT_STR(import.records[1].notes, "a comment");
    ASSERT_EQ(import.records[1].parent, 1u);
    ASSERT_STR(import.records[3].notes, "Date: every month");
    ASSERT_TEXT(problems(t, &import), "12: the task has no title\n");
}

#define TODOIST "TYPE,CONTENT,DESCRIPTION,PRIORITY,INDENT,DATE,DURATION,DURATION_UNIT,DEADLINE\n"

TEST(nothing_of_a_part_of_a_task_of_todoist_is_lost)
{
    struct import import = read_as(t, IMPORT_CSV,
                                   TODOIST "task,Move,,4,1,2026-12-01,,,2026-12-31\n"
                                           "task,plain,,4,2,,None,None,\n"
                                           "task,plainer,,4,3,,,,\n"
                                           "task,deep @box,,4,3,,,,\n"
                                           "task,Child @lbl,said,1,2,2026-12-24,45,minute,\n"
                                           "task,under child,,4,3,,,,\n"
                                           "task,Long,,4,2,,2,day,\n"
                                           "task,Last,,4,1,,,,\n");

    ASSERT_TEXT(problems(t, &import), "");
    ASSERT_TEXT(told(t, &import), "Move|2026-12-01|P3|||0||plain,plainer\n"
                                  "deep||P3|||0|box|\n"
                                  "Child|2026-12-24|P0|||45|lbl|under child\n"
                                  "Long||P3|||0||\n"
                                  "Last||P3|||0||\n");
    ASSERT_STR(import.records[0].notes, "Deadline: 2026-12-31");
    ASSERT_STR(import.records[2].notes, "said");
    ASSERT_STR(import.records[3].notes, "Duration: 2 day");
    for (size_t i = 0; i < import.count; i++)
        ASSERT_EQ(import.records[i].parent, i > 0 && i < 4 ? 1u : 0u);
}

TEST(a_file_of_toggl_becomes_time)
{
    struct import import =
        read_as(t, IMPORT_CSV,
                "User,Client,Project,Task,Description,Start date,Start time,End date,End time,"
                "Duration,Tags\n"
                "Ann,,Garden,,Weeding,2026-07-10,09:00:00,2026-07-10,10:30:00,01:30:00,\"a, b\"\n"
                "Ann,,Work,Plan,,2026-01-10,11:30:00 PM,2026-01-11,12:30:00 AM,01:00:00,\n"
                "Ann,,,,x,2026-01-10,10:00:00,2026-01-10,09:00:00,,\n"
                "Ann,,,,x,01/02/2026,10:00:00,01/02/2026,11:00:00,,\n"
                "Ann,,,,x,2026-01-10,1:0:0,2026-01-10,:,,\n"
                "Ann,,,,x,tomorrow,10:00,tomorrow,11:00,,\n"
                ",,,,,,,,,,\n");

    ASSERT_EQ(import.count, 2);
    ASSERT_STR(import.records[0].kind, "timeEntry");
    ASSERT_STR(import.records[0].category, "Garden");
    ASSERT_STR(import.records[0].notes, "Weeding #a #b");
    ASSERT_EQ(import.records[0].begin, INT64_C(1783666800000)); /* 07:00 UTC */
    ASSERT_EQ(import.records[0].end - import.records[0].begin, 90 * 60000);
    ASSERT_STR(import.records[1].notes, "Plan");
    ASSERT_EQ(import.records[1].end - import.records[1].begin, 60 * 60000);
    ASSERT_TEXT(problems(t, &import),
                "4: the time ends before it begins\n"
                "5: when it began and ended is written 2026-02-18 and 09:30:00\n"
                "6: when it began and ended is written 2026-02-18 and 09:30:00\n"
                "7: when it began and ended is written 2026-02-18 and 09:30:00\n");
}

/* ---- Markdown ---- */

TEST(markdown_lists_become_tasks_items_and_notes)
{
    struct import import = read_as(t, IMPORT_MARKDOWN,
                                   "Some words\n\n"
                                   "- [ ] no category\n"
                                   "# Garden #\n"
                                   "- [ ] Fix gate #wood due:2026-04-01\n"
                                   "  - [x] buy hinge\n"
                                   "\t- [ ] mount it\n"
                                   "  more about it\n"
                                   "- plain item\n"
                                   "* [X] Rake\n"
                                   "+ [-] Not this\n"
                                   "1. [ ] Numbered \xf0\x9f\x93\x85 2026-05-02\n"
                                   "- [] none\n- [ ]none\n-[ ] none\n- [y] none\n"
                                   "```\n- [ ] code\n```\n"
                                   "####### no heading\n"
                                   "- [ ] Issue #12 is ##odd\n");

    ASSERT_EQ(import.problem_count, 0);
    ASSERT_TEXT(told(t, &import), "no category|||||0||\n"
                                  "Fix gate|2026-04-01|||Garden|0|wood|x buy hinge,mount it\n"
                                  "Rake|||DONE|Garden|0||\n"
                                  "Not this|||REJECTED|Garden|0||\n"
                                  "Numbered|2026-05-02|||Garden|0||\n"
                                  "Issue is ##odd||||Garden|0|12|\n");
    ASSERT_STR(import.records[1].notes, "more about it");
    ASSERT_EQ(import.records[1].line, 5);
}

TEST(no_box_of_a_markdown_list_is_lost)
{
    struct import import = read_as(t, IMPORT_MARKDOWN,
                                   "---\ntags: daily\n- [ ] no task\n---\n"
                                   "Work\n====\n"
                                   "- [/] Begun\n- [>] Put off\n- [!] Important\n- [?] Asked\n"
                                   "  - [/] half done\n"
                                   "- [1] a source\n"
                                   "\nHome life\n---------\n"
                                   "- [ ] High \xe2\x8f\xab \xf0\x9f\x93\x85 2026-05-02\n"
                                   "- [x] Was \xe2\x9c\x85 2026-05-01 \xe2\x9e\x95 2026-04-01\n"
                                   "- item\n---\n- [ ] after a rule\n"
                                   "---\n- [ ] after another\n");

    ASSERT_EQ(import.problem_count, 0);
    ASSERT_TEXT(told(t, &import), "Begun|||IN_PROGRESS|Work|0||\n"
                                  "Put off||||Work|0||\n"
                                  "Important||||Work|0||\n"
                                  "Asked||||Work|0||half done\n"
                                  "High|2026-05-02|P1||Home life|0||\n"
                                  "Was|||DONE|Home life|0||\n"
                                  "after a rule||||Home life|0||\n"
                                  "after another||||Home life|0||\n");
}

/* ---- iCalendar ---- */

#define CALENDAR(body) "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" body "END:VCALENDAR\r\n"

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

/* ---- all ---- */

TEST(what_is_no_text_is_refused)
{
    static const enum import_format formats[] = { IMPORT_CSV, IMPORT_TODOTXT, IMPORT_MARKDOWN,
                                                  IMPORT_ICS };
    struct str huge = str_of(arena_alloc(&t->arena, IMPORT_BYTES_MAX + 1, 1), IMPORT_BYTES_MAX + 1);

    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        ASSERT_EQ(import_format_of(str_from(import_format_name(formats[i]))), formats[i]);
        ASSERT_EQ(try_as(t, formats[i], STR("title\n\xff\xfe\n")), -1);
        ASSERT_CONTAINS(err_message(&t->err, 0), "not UTF-8");
        ASSERT_EQ(try_as(t, formats[i], STR("title\na\0b\n")), -1);
        ASSERT_EQ(try_as(t, formats[i], huge), -1);
        ASSERT_EQ(t->err.code, ERR_TOO_LARGE);
    }
    ASSERT_EQ(import_format_of(STR("none")), IMPORT_NONE);
}

TEST(what_is_too_long_or_holds_controls_is_a_problem)
{
    char title[1200], name[200];
    struct import import;

    memset(title, 'x', sizeof(title));
    title[501] = '\0';
    memset(name, 'y', sizeof(name));
    name[101] = '\0';
    import = read_as(t, IMPORT_TODOTXT,
                     arena_printf(&t->arena, "%s\nok @%s\nbell \a rings\nfine\n", title, name));
    ASSERT_TEXT(told(t, &import), "fine|||||0||\n");
    ASSERT_CONTAINS(problems(t, &import), "1: the title has 501 characters; at most 500");
    ASSERT_CONTAINS(problems(t, &import), "2: a label has 101 characters");
    ASSERT_CONTAINS(problems(t, &import), "3: the title holds control characters");
}

TEST(more_problems_than_are_kept_are_counted)
{
    AUTO_BUF text = BUF_INIT(1 << 20);
    struct import import;

    for (int i = 0; i < IMPORT_PROBLEMS_MAX + 500; i++)
        buf_add_text(&text, "(A) +x\n");
    import = read_as(t, IMPORT_TODOTXT, buf_text(&text));
    ASSERT_EQ(import.problem_count, IMPORT_PROBLEMS_MAX + 500);
    ASSERT_EQ(import.problems[IMPORT_PROBLEMS_MAX - 1].line, IMPORT_PROBLEMS_MAX);
}

TEST(ids_follow_from_what_is_said)
{
    struct import a = read_as(t, IMPORT_TODOTXT, "Call mum\nCall mum\n(A) Other\n");
    struct import b = read_as(t, IMPORT_TODOTXT, "x Call mum\n\nCall mum\n");
    struct import c =
        read_as(t, IMPORT_ICS,
                CALENDAR("BEGIN:VTODO\r\nUID:t1@dormouse\r\nSUMMARY:x\r\nEND:VTODO\r\n"
                         "BEGIN:VTODO\r\nUID:t1\r\nSUMMARY:x\r\nEND:VTODO\r\n"));

    ASSERT(!str_eq(a.records[0].id, a.records[1].id));
    ASSERT(str_eq(a.records[0].id, b.records[0].id));
    ASSERT(str_eq(a.records[1].id, b.records[1].id));
    ASSERT(!str_eq(a.records[2].id, a.records[0].id));
    ASSERT_STR(c.records[0].id, "t1");
    ASSERT(!str_is(c.records[1].id, "t1"));
    for (size_t i = 0; i < a.count; i++)
        ASSERT(record_id_valid(a.records[i].id));
}

/* ---- making records ---- */

static struct import_result apply(struct rig *rig, const struct import *import)
{
    struct import_result result = { .tasks = 0 };
    struct test *t = rig->t;

    rig_begin(rig);
    ASSERT_OK(import_apply(rig->write, import, 0, import->count, &result, &t->err));
    rig_end(rig);
    return result;
}

DB_TEST(importing_twice_makes_nothing_twice)
{
    AUTO_RIG rig;
    struct import import =
        read_as(t, IMPORT_MARKDOWN, "# Home\n- [ ] a #x\n  - [x] i1\n  - [ ] i2\n- [x] b #x #y\n");
    struct import_result first, again;
    struct record task;

    rig_open(&rig, t);
    first = apply(&rig, &import);
    again = apply(&rig, &import);
    ASSERT_EQ(first.tasks, 2);
    ASSERT_EQ(first.categories, 1);
    ASSERT_EQ(again.tasks, 0);
    ASSERT_EQ(again.there, 2);
    task = rig_get(&rig, RECORD_TASK, import.records[1].id);
    ASSERT_STR(record_str(&task, "status"), "DONE");
    ASSERT(record_get(&task, "closedAt")->set);
    ASSERT_OK(rig_remove(&rig, RECORD_TASK, import.records[0].id));
    again = apply(&rig, &import);
    ASSERT_EQ(again.there, 1);
    ASSERT_EQ(again.deleted, 1); /* what was deleted stays so */
    ASSERT(!rig_there(&rig, RECORD_TASK, import.records[0].id));
}

DB_TEST(a_task_was_done_when_the_file_says)
{
    struct import import =
        read_as(t, IMPORT_TODOTXT, "x 2020-01-02 Call mum\nx Just now\n(A) Open\n");
    struct record task;
    AUTO_RIG rig;

    rig_open(&rig, t);
    apply(&rig, &import);
    task = rig_get(&rig, RECORD_TASK, import.records[0].id);
    ASSERT_EQ(record_i64(&task, "closedAt"), INT64_C(1577919600000)); /* its midnight in Berlin */
    task = rig_get(&rig, RECORD_TASK, import.records[1].id);
    ASSERT_EQ(record_i64(&task, "closedAt"), NOW);
    task = rig_get(&rig, RECORD_TASK, import.records[2].id);
    ASSERT(!record_get(&task, "closedAt")->set);
}

DB_TEST(a_part_of_a_task_that_says_more_than_its_title_is_linked_to_it)
{
    struct import import = read_as(t, IMPORT_CSV,
                                   TODOIST "task,Move,,4,1,,,,\n"
                                           "task,Move,,4,1,,,,\n"
                                           "task,Child,said,4,2,,,,\n");
    struct record_filter filter = { .type = RECORD_ENTRY_LINK, .limit = 10 };
    struct record *links;
    size_t n;
    bool more;
    AUTO_RIG rig;

    rig_open(&rig, t);
    ASSERT_EQ(apply(&rig, &import).tasks, 3u);
    ASSERT_EQ(apply(&rig, &import).there, 3u);
    ASSERT_OK(record_list(rig.journal, &filter, &t->arena, &links, &n, &more, &t->err));
    ASSERT_EQ(n, 1u);
    ASSERT(str_eq(record_str(&links[0], "fromId"), import.records[2].id));
    ASSERT(str_eq(record_str(&links[0], "toId"), import.records[1].id));
}

static const char *exported(struct rig *rig, bool ics)
{
    AUTO_BUF out = BUF_INIT(1 << 22);
    struct test *t = rig->t;

    ASSERT_OK(ics ? export_ics(rig->journal, &out, &t->err)
                  : export_json(rig->journal, true, &out, &t->err));
    return arena_text(&t->arena, buf_text(&out));
}

/* The next journal of this test is a new one. */
static void start_empty(struct test *t)
{
    static const char *const names[] = { "journal.sqlite", "journal.sqlite-wal",
                                         "journal.sqlite-shm" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unlink(test_path(t, names[i]));
}

DB_TEST(what_is_exported_comes_back_the_same)
{
    AUTO_RIG rig = { .t = NULL };
    struct import import;
    const char *before, *after;
    struct str task;

    if (db_test_is_postgres(t))
        return; /* what is written into the file is the same there */
    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CATEGORY, "home", "{'name':'Home, sweet; home'}");
    task =
        rig_add_as(&rig, RECORD_TASK, "t1",
                   "{'title':'Fix \\\\ fence','notes':'a\\nb, c; d','due':'2026-03-01T16:00',"
                   "'priority':'P0','status':'BLOCKED','estimateMinutes':90,'categoryId':'home'}");
    rig_add_as(&rig, RECORD_TASK, "t2", "{'title':'Done'}");
    clock_set_wall(&rig.clock, NOW - DAYS(30));
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, STR("t2"), "{'status':'DONE'}"), 1);
    clock_set_wall(&rig.clock, NOW);
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, STR("t2"), "{'title':'Done long ago'}"), 1);
    rig_add_as(&rig, RECORD_DAY_PLAN, "", "{'planDate':'2026-02-18'}");
    rig_add_as(&rig, RECORD_DAY_PLAN_BLOCK, "b1",
               "{'planId':'dayplan-2026-02-18','taskId':'t1','startTime':'2026-02-18T08:00:00Z',"
               "'endTime':'2026-02-18T09:00:00Z','note':'early'}");
    rig_add_as(&rig, RECORD_TIME_ENTRY, "e1",
               "{'taskId':'t1','startedAt':'2026-02-18T06:00:00Z','endedAt':'2026-02-18T07:00:00Z',"
               "'description':'dug'}");
    rig_add_as(&rig, RECORD_ENTRY, "m1",
               "{'kind':'measurement','subtype':'weight','value':71.25,'unit':'kg',"
               "'at':'2026-02-18T05:00:00Z'}");
    rig_add_as(&rig, RECORD_ENTRY, "w1",
               "{'kind':'workout','subtype':'run','title':'river','durationMs':1800000,"
               "'at':'2026-02-18T05:30:00Z'}");
    before = exported(&rig, true);
    ASSERT_TEXT(exported(&rig, false), exported(&rig, false));
    rig_close(&rig);

    import = read_as(t, IMPORT_ICS, before);
    ASSERT_EQ(import.problem_count, 0);
    ASSERT_EQ(import.count, 6);
    start_empty(t);
    rig_open(&rig, t);
    ASSERT(!rig_there(&rig, RECORD_TASK, task));
    apply(&rig, &import);
    after = exported(&rig, true);
    ASSERT_TEXT(after, before);
}

DB_TEST(an_export_that_does_not_fit_says_so)
{
    AUTO_RIG rig;
    AUTO_BUF out = BUF_INIT(400);

    rig_open(&rig, t);
    for (int i = 0; i < 5; i++)
        rig_add(&rig, RECORD_TASK, "{'title':'a task with some words in its title'}");
    ASSERT_EQ(export_ics(rig.journal, &out, &t->err), -1);
    ASSERT_EQ(t->err.code, ERR_TOO_LARGE);
    buf_release(&out);
    out = BUF_INIT(400);
    t->err = ERR_INIT;
    ASSERT_EQ(export_json(rig.journal, false, &out, &t->err), -1);
    ASSERT_EQ(t->err.code, ERR_TOO_LARGE);
}

static void apply_as(struct rig *rig, const struct import *import, const char *id)
{
    struct test *t = rig->t;
    struct journal_author author = { .kind = CHANGE_BY_HUMAN,
                                     .operation_id = import_step_id(str_from(id), 0, &t->arena),
                                     .operation = STR("import") };
    struct import_result result = { .tasks = 0 };
    struct journal_write *write;
    struct str done;

    ASSERT_EQ(journal_begin(rig->journal, &author, &t->arena, &write, &done, &t->err), 1);
    ASSERT_OK(import_apply(write, import, 0, import->count, &result, &t->err));
    ASSERT_OK(journal_end(write, true, import_made(write, &t->arena), &t->err));
}

DB_TEST(an_import_is_taken_back_but_for_what_others_use)
{
    struct import first =
        read_as(t, IMPORT_CSV, "title,category,labels\nFix,Home,wood\nPaint,Yard,\n");
    struct import second = read_as(t, IMPORT_CSV, "title,category\nRake,Home\n");
    struct import_undone undone;
    AUTO_RIG rig;

    rig_open(&rig, t);
    apply_as(&rig, &first, "one.0");
    apply_as(&rig, &second, "oneself");
    ASSERT_OK(import_undo(rig.journal, STR("one"), &t->arena, &undone, &t->err));
    ASSERT_EQ(undone.removed, 4u); /* two tasks, a label, the category that nothing uses */
    ASSERT_EQ(undone.kept, 1u);
    ASSERT(!rig_there(&rig, RECORD_TASK, first.records[0].id));
    ASSERT(rig_there(&rig, RECORD_TASK, second.records[0].id));
    ASSERT_OK(import_undo(rig.journal, STR("one"), &t->arena, &undone, &t->err));
    ASSERT_EQ(undone.removed, 0u);
    ASSERT_FAILS(import_undo(rig.journal, STR("on"), &t->arena, &undone, &t->err), ERR_NOT_FOUND);
}

/* All that is there, without what says when. */
static const char *exported_tasks(struct rig *rig)
{
    AUTO_JSON all = rig_json(rig->t, exported(rig, false));
    AUTO_BUF out = BUF_INIT(1 << 20);
    struct json_object *tasks = json_find(all, "tasks");

    for (size_t i = 0; i < json_length(tasks); i++) {
        struct json_object *task = json_object_array_get_idx(tasks, i);

        buf_printf(&out, "%s %zu|", json_object_get_string(json_find(task, "title")),
                   json_length(json_find(task, "labelIds")));
    }
    buf_printf(&out, "%zu items, %zu labels, %zu categories, %zu blocks",
               json_length(json_find(all, "checklistItems")), json_length(json_find(all, "labels")),
               json_length(json_find(all, "categories")),
               json_length(json_find(all, "dayPlanBlocks")));
    return arena_text(&rig->t->arena, buf_text(&out));
}

DB_TEST(what_was_taken_back_is_made_again_but_not_what_somebody_deleted)
{
    struct import import = read_as(
        t, IMPORT_MARKDOWN, "# Home\n- [ ] a #x\n  - [x] i1\n  - [ ] i2\n- [x] b #x #y\n- [ ] c\n");
    struct import_undone undone;
    struct import_look look;
    struct import_result again;
    const char *before;
    AUTO_RIG rig;

    rig_open(&rig, t);
    apply_as(&rig, &import, "one");
    ASSERT_OK(rig_remove(&rig, RECORD_TASK, import.records[2].id));
    before = exported_tasks(&rig);
    ASSERT_TEXT(before, "a 1|b 2|2 items, 2 labels, 1 categories, 0 blocks");
    for (int round = 0; round < 2; round++) {
        clock_advance(&rig.clock, SECONDS(1));
        ASSERT_OK(
            import_undo(rig.journal, round ? STR("two") : STR("one"), &t->arena, &undone, &t->err));
        ASSERT_TEXT(exported_tasks(&rig), "0 items, 0 labels, 0 categories, 0 blocks");
        ASSERT_OK(import_look(rig.journal, &import, &t->arena, &look, &t->err));
        ASSERT_EQ(look.counts.tasks, 2u);
        ASSERT_EQ(look.counts.deleted, 1u);
        ASSERT_EQ(look.counts.there, 0u);
        clock_advance(&rig.clock, SECONDS(1));
        apply_as(&rig, &import, round ? "three" : "two");
        ASSERT_TEXT(exported_tasks(&rig), before);
    }
    again = apply(&rig, &import);
    ASSERT_EQ(again.there, 2u);
    ASSERT_EQ(again.deleted, 1u);
}

DB_TEST(a_journal_whose_import_was_taken_back_comes_back)
{
    AUTO_RIG rig = { .t = NULL };
    struct import import;
    struct import_undone undone;
    const char *before;

    if (db_test_is_postgres(t))
        return; /* what is written into the file is the same there */
    rig_open(&rig, t);
    import = read_as(t, IMPORT_MARKDOWN, "# Home\n- [ ] a #x\n  - [x] i1\n- [x] b #x #y\n");
    apply(&rig, &import);
    rig_add_as(&rig, RECORD_DAY_PLAN, "", "{'planDate':'2026-02-18'}");
    rig_add_as(&rig, RECORD_DAY_PLAN_BLOCK, "b1",
               "{'planId':'dayplan-2026-02-18','startTime':'2026-02-18T08:00:00Z',"
               "'endTime':'2026-02-18T09:00:00Z','note':'early'}");
    before = exported(&rig, false);
    rig_close(&rig);

    import = read_as(t, IMPORT_JSON, before);
    start_empty(t);
    rig_open(&rig, t);
    apply_as(&rig, &import, "one");
    clock_advance(&rig.clock, SECONDS(1));
    ASSERT_OK(import_undo(rig.journal, STR("one"), &t->arena, &undone, &t->err));
    ASSERT_TEXT(exported_tasks(&rig), "0 items, 0 labels, 0 categories, 0 blocks");
    apply_as(&rig, &import, "two");
    ASSERT_TEXT(exported(&rig, false), before);
}
