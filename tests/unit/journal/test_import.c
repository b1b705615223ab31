/* Files of other programs: what is understood, what is refused and where.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/rand.h"
#include "import_rig.h"

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
