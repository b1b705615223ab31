/* The journal's commands against a daemon: what they understand, print and refuse.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "ran.h"

TEST(tasks_are_added_changed_done_and_brought_back)
{
    start_daemon(t);
    LINES({ "journal task list", CLI_DONE, "No tasks yet." },
          { "journal add Fix fence tomorrow 2h #home --preview", CLI_DONE, "Fix fence" },
          { "journal task list", CLI_DONE, "No tasks yet." },
          { "journal add Fix fence tomorrow 2h #home", CLI_DONE, "Fix fence" },
          { "journal task add Paint door --due 2099-02-18 --priority P1 --estimate 45m --notes red",
            CLI_DONE, "Paint door" },
          { "journal task list", CLI_DONE, "Paint door" },
          { "journal task list --label home", CLI_DONE, "Fix fence" },
          { "journal task list --label nowhere", CLI_FAILED, "nowhere" },
          { "journal task list --status DONE", CLI_DONE, "No tasks that fit" },
          { "journal task show paint", CLI_DONE, "red" },
          { "journal task show nothing-like-it", CLI_FAILED, "nothing-like-it" },
          { "journal task set paint --title 'Paint gate' --due none --notes none", CLI_DONE,
            "Paint gate" },
          { "journal task set paint", CLI_USAGE, "" },
          { "journal task set paint --due 2099-02-30", CLI_FAILED, "2099-02-30" },
          { "journal task set paint --priority P9", CLI_FAILED, "P9" },
          { "journal task set paint --estimate long", CLI_FAILED, "long" },
          { "journal task set paint --language 'no tag'", CLI_FAILED, "language" },
          { "journal task set paint --category Nowhere", CLI_FAILED, "Nowhere" },
          { "journal task add ''", CLI_FAILED, "TITLE: is empty" },
          { "journal task add", CLI_USAGE, "" },
          { "journal task done paint", CLI_DONE, "Paint gate" },
          { "journal task done paint", CLI_DONE, "Paint gate" },
          { "journal task rm fence", CLI_DONE, "Deleted" },
          { "journal task rm fence", CLI_FAILED, "fence" },
          { "journal search fence", CLI_DONE, "" },
          { "journal search x --limit 0", CLI_USAGE, "--limit takes a number from 1 to 100" });
    stop_daemon(t);
}

TEST(words_that_name_two_tasks_name_none)
{
    start_daemon(t);
    LINES({ "journal task add Paint door", CLI_DONE, "" },
          { "journal task add Paint gate", CLI_DONE, "" },
          { "journal task done paint", CLI_FAILED, "Paint gate" },
          { "journal task done gate", CLI_DONE, "Paint gate" },
          { "journal task done paint", CLI_DONE, "Paint door" });
    stop_daemon(t);
}

TEST(items_of_checklists_are_checked_by_their_ids)
{
    const char *item;
    struct ran shown;

    start_daemon(t);
    LINES({ "journal task add Pack", CLI_DONE, "" },
          { "journal checklist add pack socks shoes --list Bag", CLI_DONE, "Added 2" },
          { "journal checklist add pack", CLI_USAGE, "" },
          { "journal checklist add nothing socks", CLI_FAILED, "nothing" },
          { "journal checklist check none", CLI_FAILED, "none" });
    shown = run_line(t, "journal task show pack --json");
    item = member(t, shown.out, "/checklists/0/items/0/id");
    LINES({ arena_printf(&t->arena, "journal checklist check %s", item), CLI_DONE, "" },
          { "journal task show pack", CLI_DONE, "[x] socks" },
          { arena_printf(&t->arena, "journal checklist uncheck %s", item), CLI_DONE, "" },
          { "journal task show pack", CLI_DONE, "[ ] socks" },
          { arena_printf(&t->arena, "journal checklist rm %s", item), CLI_DONE, "" },
          { arena_printf(&t->arena, "journal checklist rm %s", item), CLI_DONE, "" },
          { arena_printf(&t->arena, "journal restore %s", item), CLI_DONE, "" },
          { arena_printf(&t->arena, "journal restore %s", item), CLI_DONE, "socks" },
          { "journal restore none", CLI_FAILED, "none" });
    stop_daemon(t);
}

TEST(time_is_counted_noted_and_changed)
{
    const char *id;

    start_daemon(t);
    LINES({ "journal task add Paint door", CLI_DONE, "" }, { "journal time status", CLI_DONE, "" },
          { "journal time stop", CLI_FAILED, "no timer runs" },
          { "journal time start paint --description edges", CLI_DONE, "Paint door" },
          { "journal time status", CLI_DONE, "Paint door" },
          { "journal time stop", CLI_DONE, "Stopped" },
          { "journal time log paint --for 45m --day 2026-02-18 --from 9:00", CLI_DONE, "Logged" },
          { "journal time list", CLI_DONE, "Paint door" },
          { "journal time log paint --from 9:00 --to 8:00 --day 2026-02-18", CLI_FAILED, "" },
          { "journal time log paint", CLI_FAILED, "" },
          { "journal time log paint --for never", CLI_FAILED, "never" },
          { "journal time log nothing --for 45m", CLI_FAILED, "nothing" },
          { "journal time log --for 45m --category Nowhere", CLI_FAILED, "Nowhere" },
          { "journal time start nothing", CLI_FAILED, "nothing" },
          { "journal time set none --description x", CLI_FAILED, "none" });
    id = member(t, run_line(t, "journal time log paint --for 5m --json").out, "/id");
    LINES(
        { arena_printf(&t->arena, "journal time set %s --description corners", id), CLI_DONE, "" },
        { arena_printf(&t->arena, "journal time set %s", id), CLI_USAGE, "" },
        { "journal time list", CLI_DONE, "corners" },
        { arena_printf(&t->arena, "journal time rm %s", id), CLI_DONE, "" },
        { arena_printf(&t->arena, "journal time restore %s", id), CLI_DONE, "" });
    stop_daemon(t);
}

TEST(a_day_is_planned_in_blocks_that_do_not_overlap)
{
    start_daemon(t);
    LINES({ "journal plan 2099-02-18", CLI_DONE, "" },
          { "journal plan someday", CLI_FAILED, "someday" },
          { "journal task add Paint door", CLI_DONE, "" },
          { "journal plan block 2099-02-18 9:00 10:30 --task paint", CLI_DONE, "09:00" },
          { "journal plan block 2099-02-18 10:00 11:00 --note x", CLI_FAILED, "" },
          { "journal plan block 2099-02-18 11:00 10:00", CLI_FAILED, "" },
          { "journal plan block 2099-02-18 25:00 26:00", CLI_FAILED, "25:00" },
          { "journal plan block 2099-02-18 9:00", CLI_USAGE, "" },
          { "journal plan pin 2099-02-18 paint", CLI_DONE, "Paint door" },
          { "journal plan pin 2099-02-18 nothing", CLI_FAILED, "nothing" },
          { "journal plan 2099-02-18", CLI_DONE, "Paint door" },
          { "journal plan rm none", CLI_FAILED, "none" },
          { "journal rating add 2026-02-18 energy 4 --note rested", CLI_DONE, "4" },
          { "journal rating add 2099-02-18 energy 4", CLI_FAILED, "has not come yet" },
          { "journal rating add today energy 0", CLI_FAILED, "from 1 to 5" },
          { "journal rating add today energy 6", CLI_FAILED, "from 1 to 5" },
          { "journal rating add today energy high", CLI_USAGE, "from 1 to 5" },
          { "journal rating add nothing energy 4", CLI_FAILED, "nothing" },
          { "journal rating add today energy", CLI_USAGE, "" },
          { "journal rating list", CLI_DONE, "energy" });
    stop_daemon(t);
}

TEST(notes_workouts_and_measurements_are_entries)
{
    const char *file = test_path(t, "song.wav"), *copy = test_path(t, "copy.wav");
    const char *id;

    test_write_file(file, "RIFF....WAVEfmt ", 16);
    start_daemon(t);
    LINES({ "journal note add slept well --at '2026-02-18 7:30' --title Night", CLI_DONE, "" },
          { "journal note list", CLI_DONE, "Night" },
          { "journal note add x --at whenever", CLI_FAILED, "is no moment" },
          { "journal note add", CLI_USAGE, "" },
          { "journal workout add run along the river --for 35m", CLI_DONE, "" },
          { "journal workout add run --for ages", CLI_FAILED, "ages" },
          { "journal workout list", CLI_DONE, "river" },
          { "journal measure add weight 71.5 kg", CLI_DONE, "Noted" },
          { "journal measure add weight heavy", CLI_USAGE, "VALUE must be a number" },
          { "journal measure add weight nan", CLI_USAGE, "VALUE must be a number" },
          { "journal measure add weight inf kg", CLI_USAGE, "VALUE must be a number" },
          { "journal measure add weight 1e999", CLI_USAGE, "number" },
          { "journal measure list", CLI_DONE, "71.5" },
          { "journal audio add /nowhere", CLI_FAILED, "/nowhere" },
          { "journal entry show none", CLI_FAILED, "none" },
          { "journal entry rm none", CLI_FAILED, "none" });
    id = member(t,
                run_line(t, arena_printf(&t->arena, "journal audio add %s la la --json", file)).out,
                "/id");
    LINES(
        { "journal audio list", CLI_DONE, "song" },
        { arena_printf(&t->arena, "journal audio save %s %s", id, copy), CLI_DONE, "copy.wav" },
        { arena_printf(&t->arena, "journal audio save %s /nowhere/x", id), CLI_FAILED, "/nowhere" },
        { arena_printf(&t->arena, "journal entry show %s", id), CLI_DONE, "la la" },
        { arena_printf(&t->arena, "journal entry rm %s", id), CLI_DONE, "" },
        { arena_printf(&t->arena, "journal entry restore %s", id), CLI_DONE, "" });
    ASSERT_STR(test_read_file(t, copy), "RIFF....WAVEfmt ");
    stop_daemon(t);
}

TEST(categories_labels_and_links_are_named_by_people)
{
    start_daemon(t);
    LINES({ "journal category add Home --id home --color #3b82f6", CLI_DONE, "Home" },
          { "journal category add Home", CLI_FAILED, "Home" },
          { "journal category add Work --color blue", CLI_FAILED, "blue" },
          { "journal category list", CLI_DONE, "Home" },
          { "journal category set home --name House", CLI_DONE, "House" },
          { "journal category set nowhere --name X", CLI_FAILED, "nowhere" },
          { "journal category set home", CLI_USAGE, "nothing to change: give --name" },
          { "journal label add urgent", CLI_DONE, "urgent" },
          { "journal label add urgent", CLI_FAILED, "urgent" },
          { "journal label set urgent --name soon", CLI_DONE, "soon" },
          { "journal label list", CLI_DONE, "soon" },
          { "journal task add Paint door --category House", CLI_DONE, "" },
          { "journal task add Buy paint", CLI_DONE, "" },
          { "journal link add door buy", CLI_DONE, "" },
          { "journal link add door nothing", CLI_FAILED, "nothing" },
          { "journal link list door", CLI_DONE, "related" },
          { "journal link rm none", CLI_FAILED, "none" },
          { "journal label set soon", CLI_USAGE, "nothing to change: give --name" },
          { "journal label rm soon", CLI_DONE, "" },
          { "journal category rm House", CLI_FAILED,
            "archive it instead (`dormouse journal category set \"House\" --archived yes`)" },
          { "journal category set House --archived yes", CLI_DONE, "House" },
          { "journal task set door --category none", CLI_DONE, "" },
          { "journal category rm home", CLI_DONE, "" },
          { "journal category rm home", CLI_FAILED, "home" });
    stop_daemon(t);
}

TEST(a_journal_goes_out_and_comes_in)
{
    const char *todo = test_path(t, "todo.txt"), *odd = test_path(t, "odd.bin");
    const char *out = test_path(t, "j.json"), *bad = test_path(t, "bad.csv");

    test_write_file(todo, "(A) Plant leeks\nx Water them\n", 29);
    test_write_file(odd, "x", 1);
    test_write_file(bad, "title,due\nfine,2026-02-18\nwrong,2026-02-30\n", 43);
    start_daemon(t);
    LINES({ arena_printf(&t->arena, "journal import %s --preview", todo), CLI_DONE, "2" },
          { "journal task list", CLI_DONE, "No tasks yet." },
          { arena_printf(&t->arena, "journal import %s", todo), CLI_DONE, "" },
          { "journal task list", CLI_DONE, "Plant leeks" },
          { arena_printf(&t->arena, "journal import %s", odd), CLI_FAILED, "--format" },
          { arena_printf(&t->arena, "journal import %s", bad), CLI_FAILED, "2026-02-30" },
          { arena_printf(&t->arena, "journal import %s --skip-bad", bad), CLI_FAILED, "" },
          { "journal task list", CLI_DONE, "fine" },
          { "journal import /nowhere.csv", CLI_FAILED, "/nowhere.csv" },
          { "journal import - --format todotxt <<< Dig", CLI_DONE, "" },
          { "journal import undo none", CLI_FAILED, "none" },
          { arena_printf(&t->arena, "journal export %s", out), CLI_DONE, "" },
          { "journal export", CLI_DONE, "Plant leeks" },
          { "journal export --format ics", CLI_DONE, "BEGIN:VCALENDAR" },
          { "journal export /nowhere/j.json", CLI_FAILED, "/nowhere" });
    ASSERT_CONTAINS(test_read_file(t, out).p, "Plant leeks");
    stop_daemon(t);
}
