/* Conversations with the offline model: what it makes of results, refusals and errors, and that it
 * always comes to an end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <time.h>

#include "base/json.h"
#include "base/rand.h"
#include "minds_rig.h"
#include "offline_rig.h"

#define MOVES                                                                                      \
    "{\"exit_code\":0,\"stdout\":\"renamed 'a.png' -> 'Images/a.png'\\nrenamed 'b.pdf' -> "        \
    "'Documents/b.pdf'\\n\"}"

TEST(offline_lists_a_folder_from_what_search_found)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "what is in this folder?");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"files\":[\"Makefile\",\"README.md\"]}");
    rig_result(&rig, 1,
               "{\"files\":[\"src/main.c\",\"src/a.c\",\"docs/x.md\"],\"truncated\":true}");
    ASSERT_TEXT(rig_think(&rig), "This folder has 2 files and 2 folders:\n\n    docs/\n    src/\n"
                                 "    Makefile\n    README.md\n"
                                 "The listing was cut: there may be more.\n");
    rig_end(&rig);
}

TEST(offline_lists_a_folder_that_read_file_reads)
{
    struct rig rig;

    rig_begin(&rig, t, rig_hands, rig_hands_count);
    rig_user(&rig, "what is in src?");
    ASSERT_TEXT(rig_think(&rig), "read_file {\"path\":\"src\"}");
    rig_result(&rig, 0,
               "{\"path\":\"src\",\"kind\":\"directory\",\"entries\":[\"a.c\",\"b/\","
               "\"l@\"],\"total\":3,\"truncated\":false}");
    ASSERT_TEXT(rig_think(&rig), "src has 2 files and 1 folder:\n\n    b/\n    a.c\n    l\n");
    rig_end(&rig);
}

TEST(offline_tidies_no_links)
{
    struct rig rig;

    rig_begin(&rig, t, rig_hands, rig_hands_count);
    rig_user(&rig, "tidy this folder");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"entries\":[\"a.png\",\"b.png@\",\"c.png/\"]}");
    ASSERT_CONTAINS(rig_think(&rig), "\"mkdir -p Images && mv -nv -- a.png Images/\"");
    rig_end(&rig);
}

TEST(offline_lists_plain_lines_matches_and_nothing_alike)
{
    static const struct {
        const char *first, *second, *answer;
    } cases[] = {
        { "a.c\nsrc/\n", "", "This folder has 1 file and 1 folder:\n\n    src/\n    a.c\n" },
        { "{\"matches\":[{\"path\":\"./a.c\"}]}", "[]",
          "This folder has 1 file and 0 folders:\n\n    a.c\n" },
        { "[]", "{\"matches\":[]}", "This folder has nothing in it that I can see." },
        { "\"a.c\\nb.c\"", "{}", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_plain, rig_plain_count);
        rig_user(&rig, "what is in this folder?");
        rig_think(&rig);
        rig_result(&rig, 0, cases[i].first);
        rig_result(&rig, 1, cases[i].second);
        if (cases[i].answer)
            ASSERT_TEXT(rig_think(&rig), cases[i].answer);
        else
            ASSERT_CONTAINS(rig_think(&rig), "    b.c\n");
        rig_end(&rig);
    }
}

TEST(offline_tidies_by_kind_and_reports_what_was_moved)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "tidy this folder");
    rig_think(&rig);
    rig_result(&rig, 0, "[\"a.png\",\"b.pdf\",\"it's.PNG\",\"unknown.xyz\",\".hidden.png\"]");
    rig_result(&rig, 1, "[\"Images/old.png\"]");
    ASSERT_TEXT(rig_think(&rig),
                "bash {\"command\":\"mkdir -p Images Documents && mv -nv -- a.png 'it'\\\\''s.PNG' "
                "Images/ && mv -nv -- b.pdf Documents/\"} | I would like to sort 3 files by kind "
                "into: Images Documents.\n");
    rig_result(&rig, 0, MOVES);
    ASSERT_CONTAINS(rig_think(&rig), "2 files were moved:\n\n    renamed 'a.png' -> ");
    rig_end(&rig);
}

TEST(offline_tidies_another_folder_from_inside_it)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "tidy \"my stuff\"");
    rig_think(&rig);
    rig_result(&rig, 0, "[\"my stuff/a.zip\"]");
    rig_result(&rig, 1, "[]");
    ASSERT_CONTAINS(rig_think(&rig),
                    "cd -- 'my stuff' && mkdir -p Archives && mv -nv -- a.zip Archives/");
    rig_failure(&rig, 0, "{\"error\":{\"code\":\"rejected\",\"message\":\"not my zip\"}}");
    ASSERT_CONTAINS(rig_think(&rig), "\" was rejected: not my zip\n\nNothing else was done.");
    rig_end(&rig);
}

TEST(offline_leaves_projects_and_tidy_folders_alone)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "tidy this folder");
    rig_think(&rig);
    rig_result(&rig, 0, "[\"Makefile\",\"logo.png\"]");
    rig_result(&rig, 1, "[]");
    ASSERT_CONTAINS(rig_think(&rig), "I left everything where it is: Makefile says");
    rig_end(&rig);

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "tidy this folder");
    rig_think(&rig);
    rig_result(&rig, 0, "[\"x.unknown\"]");
    rig_result(&rig, 1, "[]");
    ASSERT_CONTAINS(rig_think(&rig), "There is nothing to tidy: of 1 file none");
    rig_end(&rig);
}

TEST(offline_says_what_a_command_said_and_how_it_ended)
{
    static const struct {
        const char *result, *says;
        bool failed;
    } cases[] = {
        { "{\"exit_code\":0,\"stdout\":\"all good\\n\",\"stderr\":\"\"}",
          "make test says:\n\n    all good\n", false },
        { "{\"exitCode\":2,\"output\":\"boom\",\"stderr\":\"no rule\"}",
          "make test failed with exit code 2.\n\n    boom\nno rule\n", false },
        { "{\"exit_code\":2,\"output\":\"boom\"}", "make test failed with exit code 2.", true },
        { "{\"exit_code\":0,\"stdout\":\"\"}", "make test is done; it printed nothing.", false },
        { "rejected: too dangerous", "The command \"make test\" was rejected: too dangerous\n",
          true },
        { "expired: two days went by", "\"make test\" was not decided on in time: two days", true },
        { "withdrawn: the run ended", "\"make test\" was withdrawn: the run ended\n", true },
        { "cancelled: by you", "\"make test\" was cancelled: by you\n", true },
        { "timeout: 30 s", "\"make test\" took too long: 30 s\n", true },
        { "unsafe_target: never run: rm -rf /", "\" was refused: never run: rm -rf /\n", true },
        { "capability_denied: no shell here", "\" was refused: no shell here\n", true },
        { "path_denied: ~/.ssh", "\" was refused: ~/.ssh\n", true },
        { "network_denied: evil.example", "\" was refused: evil.example\n", true },
        { "kill_switch_active: all", "\" was refused: all\n", true },
        { "out_of_scope: not yours", "\" was refused: not yours\n", true },
        { "internal: a bug", "\" did not work: a bug\n", true },
        { "no_such_code: text", "\" did not work: no_such_code: text\n", true },
        { ": odd", "\" did not work: : odd\n", true },
        { "{\"error\":{\"code\":\"rejected\",\"message\":\"no\"}}", "\" was rejected: no\n", true },
        { "{\"error\":{\"code\":\"timeout\"}}", "\" took too long: timeout\n", true },
        { "", "\"make test\" did not work, without a reason.\n", true },
        { "plain output", "make test says:\n\n    plain output\n", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_plain, rig_plain_count);
        rig_user(&rig, "run make test");
        rig_think(&rig);
        (cases[i].failed ? rig_failure : rig_result)(&rig, 0, cases[i].result);
        ASSERT_CONTAINS(rig_think(&rig), cases[i].says);
        rig_end(&rig);
    }
}

TEST(offline_shows_a_bounded_part_of_long_output)
{
    AUTO_BUF text = BUF_INIT(1u << 20);
    struct rig rig;

    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "line %d\n", i);
    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "show big.txt");
    rig_think(&rig);
    rig_result(&rig, 0, buf_text(&text));
    ASSERT_CONTAINS(rig_think(&rig), "    line 19\n... and 3980 more lines, and the tool had cut");
    ASSERT(rig.turn.say.n < OFFLINE_TEXT_MAX);
    rig_end(&rig);
}

TEST(offline_reads_before_it_edits_and_stops_when_it_may_not)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "replace \"old text\" with new in notes.txt");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"content\":\"old text\"}");
    ASSERT_TEXT(rig_think(&rig), "edit_file {\"path\":\"notes.txt\",\"edits\":[{\"old_string\":"
                                 "\"old text\",\"new_string\":\"new\"}]}");
    rig_result(&rig, 0, "{}");
    ASSERT_CONTAINS(rig_think(&rig), "I replaced \"old text\" by \"new\" in notes.txt.");
    rig_end(&rig);

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "replace a with b in c.txt");
    rig_think(&rig);
    rig_failure(&rig, 0, "not_found: c.txt");
    ASSERT_CONTAINS(rig_think(&rig), "read_file did not work: c.txt\n\nNothing else was done.");
    rig_end(&rig);
}

TEST(offline_learns_from_the_folder_how_a_project_is_tested)
{
    static const struct {
        const char *files, *says;
    } cases[] = {
        { "[\"Makefile\"]", "bash {\"command\":\"make test\"}" },
        { "[\"Cargo.toml\"]", "bash {\"command\":\"cargo test\"}" },
        { "[\"package.json\"]", "bash {\"command\":\"npm test\"}" },
        { "[\"notes.txt\"]", "I don't see how this project is tested" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_plain, rig_plain_count);
        rig_user(&rig, "run the tests");
        rig_think(&rig);
        rig_result(&rig, 0, cases[i].files);
        rig_result(&rig, 1, "[]");
        ASSERT_CONTAINS(rig_think(&rig), cases[i].says);
        rig_end(&rig);
    }
}

TEST(offline_searches_and_says_where)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "find TODO in src");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"matches\":[{\"path\":\"src/a.c\",\"line\":3,\"text\":\" // TODO \"}]}");
    ASSERT_TEXT(rig_think(&rig), "1 place with \"TODO\":\n\n    src/a.c:3: // TODO\n");
    rig_end(&rig);

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "find TODO in src");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"matches\":[]}");
    ASSERT_TEXT(rig_think(&rig), "I found no \"TODO\" in src.");
    rig_end(&rig);
}

/* ---- tasks, time, memory ---- */

TEST(offline_creates_a_task_in_a_category_that_it_may_use)
{
    struct rig rig;

    rig_begin(&rig, t, rig_journal, rig_journal_count);
    rig_user(&rig, "remind me to call Ada");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"categories\":[{\"id\":\"cat-1\",\"name\":\"Work\"}]}");
    ASSERT_TEXT(rig_think(&rig), "create_task {\"title\":\"call Ada\",\"categoryId\":\"cat-1\"}");
    rig_result(&rig, 0, "{\"taskId\":\"t1\"}");
    ASSERT_TEXT(rig_think(&rig),
                "I created the task \"call Ada\". It stands in your tasks and will not ring.");
    rig_end(&rig);
}

TEST(offline_changes_the_task_that_is_meant_and_asks_when_it_could_be_two)
{
    static const struct {
        const char *said, *candidates, *says;
    } cases[] = {
        { "mark taxes as done", "{\"candidates\":[{\"taskId\":\"t1\",\"title\":\"Do the taxes\"}]}",
          "update_task_fields {\"taskId\":\"t1\",\"status\":\"DONE\"}" },
        { "mark taxes as done",
          "{\"candidates\":[{\"taskId\":\"t1\",\"title\":\"Taxes 2025\"},{\"taskId\":\"t2\","
          "\"title\":\"taxes\"}]}",
          "update_task_fields {\"taskId\":\"t2\",\"status\":\"DONE\"}" },
        { "mark taxes as done",
          "{\"candidates\":[{\"taskId\":\"t1\",\"title\":\"Taxes 2025\"},{\"taskId\":\"t2\","
          "\"title\":\"Taxes 2026\"}]}",
          "\"taxes\" could be any of these; please say its title:\n\n    Taxes 2025\n" },
        { "mark taxes as done", "{\"candidates\":[]}", "I found no task \"taxes\"." },
        { "mark taxes as done", "nonsense", "I found no task \"taxes\"." },
        { "set the due date of taxes to tomorrow", "[{\"id\":\"t1\",\"title\":\"taxes\"}]",
          "update_task_due_date {\"taskId\":\"t1\",\"dueDate\":\"2026-11-16\"}" },
        { "set the due date of taxes to today", "[{\"id\":\"t1\",\"title\":\"taxes\"}]",
          "update_task_due_date {\"taskId\":\"t1\",\"dueDate\":\"2026-11-15\"}" },
        { "set the priority of taxes to high", "[{\"id\":\"t1\",\"title\":\"taxes\"}]",
          "update_task_priority {\"taskId\":\"t1\",\"priority\":\"high\"}" },
        { "add receipts to the checklist of taxes", "[{\"id\":\"t1\",\"title\":\"taxes\"}]",
          "add_multiple_checklist_items {\"taskId\":\"t1\",\"items\":[\"receipts\"]}" },
        { "start a timer for taxes", "[{\"id\":\"t1\",\"title\":\"taxes\"}]",
          "start_task_timer {\"taskId\":\"t1\"}" },
        { "log 90 minutes on taxes", "[{\"id\":\"t1\",\"title\":\"taxes\"}]",
          "create_retrospective_time_entry {\"taskId\":\"t1\",\"startedAt\":"
          "\"2026-11-15T10:30:00.000Z\",\"endedAt\":\"2026-11-15T12:00:00.000Z\","
          "\"description\":\"taxes\"}" },
        { "I worked 1h30m on taxes", "[{\"id\":\"t1\",\"title\":\"taxes\"}]",
          "create_retrospective_time_entry {\"taskId\":\"t1\",\"startedAt\":"
          "\"2026-11-15T10:30:00.000Z\"" },
        { "log 1.5 hours on taxes", "[{\"id\":\"t1\",\"title\":\"taxes\"}]",
          "create_retrospective_time_entry {\"taskId\":\"t1\",\"startedAt\":"
          "\"2026-11-15T10:30:00.000Z\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;
        const char *second;

        rig_begin(&rig, t, rig_journal, rig_journal_count);
        rig_user(&rig, cases[i].said);
        rig_think(&rig);
        rig_result(&rig, 0, cases[i].candidates);
        second = rig_think(&rig);
        if (strncmp(second, cases[i].says, strlen(cases[i].says)) != 0)
            FAIL("%s -> %s, expected %s", cases[i].said, second, cases[i].says);
        if (rig.turn.call_count) {
            rig_result(&rig, 0, "{}");
            ASSERT_CONTAINS(rig_think(&rig), "taxes");
            ASSERT_EQ(rig.turn.call_count, 0);
        }
        rig_end(&rig);
    }
}

TEST(offline_remembers_recalls_and_forgets_line_by_line)
{
    struct rig rig;

    rig_begin(&rig, t, rig_journal, rig_journal_count);
    rig_user(&rig, "remember that I like tea");
    rig_think(&rig);
    rig_failure(&rig, 0, "{\"error\":{\"code\":\"not_found\",\"message\":\"not_found: no file\"}}");
    ASSERT_CONTAINS(rig_think(&rig), "write_memory {\"path\":\"knowledge/notes.md\",\"content\":"
                                     "\"- I like tea\\n\",\"reason\":");
    rig_result(&rig, 0, "\"Memory update proposed.\"");
    ASSERT_TEXT(rig_think(&rig), "I noted that. (Memory update proposed.)");

    rig_user(&rig, "remember that the door code is 4711");
    rig_think(&rig);
    rig_result(&rig, 0, "- I like tea");
    ASSERT_CONTAINS(rig_think(&rig), "\"- I like tea\\n- the door code is 4711\\n\"");
    rig_result(&rig, 0, "ok");
    rig_think(&rig);

    rig_user(&rig, "what do you know about TEA?");
    rig_think(&rig);
    rig_result(&rig, 0, "- I like tea\n- the door code is 4711\n");
    ASSERT_TEXT(rig_think(&rig), "My notes on TEA say:\n\n    - I like tea\n");

    rig_user(&rig, "forget tea");
    rig_think(&rig);
    rig_result(&rig, 0, "- I like tea\n- the door code is 4711\n");
    ASSERT_CONTAINS(rig_think(&rig), "\"content\":\"- the door code is 4711\\n\"");
    rig_failure(&rig, 0, "rejected: keep it");
    ASSERT_CONTAINS(rig_think(&rig), "rejected: keep it");
    rig_end(&rig);
}

TEST(offline_adds_a_line_where_it_can_append)
{
    struct rig rig;

    rig_begin(&rig, t, rig_memory, rig_memory_count);
    rig_user(&rig, "remember that I prefer mornings");
    ASSERT_TEXT(rig_think(&rig),
                "write_memory {\"path\":\"knowledge/preferences.md\",\"operation\":\"append\","
                "\"reason\":\"You asked me to remember this.\",\"content\":\"- I prefer "
                "mornings\\n\"}");
    rig_result(&rig, 0, "{\"path\":\"knowledge/preferences.md\",\"operation\":\"append\"}");
    ASSERT_TEXT(rig_think(&rig), "I noted that. (knowledge/preferences.md)");
    rig_user(&rig, "remember that the door code is 4711");
    ASSERT_CONTAINS(rig_think(&rig), "knowledge/notes.md");
    rig_failure(&rig, 0, "rejected: no codes");
    ASSERT_CONTAINS(rig_think(&rig), "no codes");
    rig_end(&rig);
}

TEST(offline_looks_through_its_files_for_what_it_remembers)
{
    struct rig rig;

    rig_begin(&rig, t, rig_memory, rig_memory_count);
    rig_user(&rig, "what do you remember about mornings?");
    ASSERT_TEXT(rig_think(&rig), "list_memory {\"directory\":\"knowledge\"}");
    rig_result(&rig, 0,
               "{\"files\":[{\"path\":\"knowledge/notes.md\",\"bytes\":9},"
               "{\"path\":\"knowledge/preferences.md\",\"bytes\":20}]}");
    ASSERT_TEXT(rig_think(&rig), "read_memory {\"path\":\"knowledge/notes.md\"}; "
                                 "read_memory {\"path\":\"knowledge/preferences.md\"}");
    rig_result(&rig, 0, "{\"path\":\"knowledge/notes.md\",\"content\":\"- tea\\n\"}");
    rig_result(&rig, 1,
               "{\"path\":\"knowledge/preferences.md\",\"content\":\"- I prefer "
               "mornings\\n- no sugar\\n\"}");
    ASSERT_TEXT(rig_think(&rig), "knowledge/preferences.md says:\n\n    - I prefer mornings\n");
    rig_user(&rig, "what do you know");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"files\":[]}");
    ASSERT_TEXT(rig_think(&rig), "I have no notes yet. Say \"remember that ...\".");
    rig_end(&rig);
}

TEST(offline_forgets_a_line_or_the_file_that_held_nothing_else)
{
    struct rig rig;
    const char *said;

    rig_begin(&rig, t, rig_memory, rig_memory_count);
    rig_user(&rig, "forget about tea");
    rig_think(&rig);
    rig_result(&rig, 0,
               "{\"files\":[{\"path\":\"knowledge/a.md\"},{\"path\":\"knowledge/b.md\"}]}");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"path\":\"knowledge/a.md\",\"content\":\"- tea\\n- milk\\n\"}");
    rig_result(&rig, 1, "{\"path\":\"knowledge/b.md\",\"content\":\"- green tea\\n\"}");
    said = rig_think(&rig);
    ASSERT_CONTAINS(said, "{\"path\":\"knowledge/a.md\",\"operation\":\"write\"");
    ASSERT_CONTAINS(said, "\"content\":\"- milk\\n\"");
    ASSERT_CONTAINS(said, "{\"path\":\"knowledge/b.md\",\"operation\":\"delete\"");
    rig_end(&rig);
}

TEST(offline_does_not_overwrite_notes_that_it_may_not_read)
{
    struct rig rig;

    rig_begin(&rig, t, rig_journal, rig_journal_count);
    rig_user(&rig, "remember that I like tea");
    rig_think(&rig);
    rig_failure(&rig, 0, "capability_denied: The agent was not given this ability.");
    ASSERT_CONTAINS(rig_think(&rig), "read_memory was refused: The agent was not given this");
    ASSERT_EQ(rig.turn.call_count, 0);
    rig_end(&rig);
}

/* ---- done? ---- */

TEST(offline_answers_truthfully_whether_it_is_done)
{
    static const char ask[] = "Are you done? Reply {\"done\": true/false}";
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "tidy this folder");
    rig_think(&rig);
    rig_result(&rig, 0, "[\"a.png\"]");
    rig_result(&rig, 1, "[]");
    rig_user(&rig, ask);
    ASSERT_TEXT(rig_think(&rig), "{\"done\": false}");
    rig.n -= 2; /* the question leaves no trace in the thread */
    rig_think(&rig);
    rig_result(&rig, 0, MOVES);
    rig_user(&rig, ask);
    /* All is moved, but nobody was told. */
    ASSERT_TEXT(rig_think(&rig), "{\"done\": false}");
    rig.n -= 2;
    ASSERT_CONTAINS(rig_think(&rig), "2 files were moved");
    rig_user(&rig, ask);
    ASSERT_TEXT(rig_think(&rig), "{\"done\": true}");
    rig_user(&rig, ask);
    ASSERT_TEXT(rig_think(&rig), "{\"done\": true}");
    rig_end(&rig);

    ASSERT_TEXT(rig_ask(t, rig_plain, rig_plain_count, ask), "{\"done\": true}");
    ASSERT_TEXT(rig_ask(t, NULL, 0, "Are you done? {\"done\": true or false}"), "{\"done\": true}");
}

/* As a wiggum run goes: think, act, check, until the check says so. What a person reads last. */
static const char *wiggum(struct test *t, const char *said, const char *failure, int *ret_rounds)
{
    static const char ask[] = "Are you done? Reply {\"done\": true/false}";
    const char *last = "";
    struct rig rig;
    bool done = false;
    int rounds = 0;

    rig_begin(&rig, t, rig_hands, rig_hands_count);
    rig_user(&rig, said);
    while (!done && rounds++ < 6) {
        rig_think(&rig);
        if (rig.turn.say.n)
            last = arena_text(&t->arena, buf_text(&rig.turn.say));
        for (size_t i = rig.turn.call_count; i-- > 0;)
            rig_failure(&rig, i, failure);
        rig_user(&rig, ask);
        done = strstr(rig_think(&rig), "{\"done\": true") != NULL;
        rig.n -= 2;
    }
    rig_end(&rig);
    *ret_rounds = rounds;
    return last;
}

TEST(offline_is_not_done_before_it_said_what_was_refused)
{
    static const struct {
        const char *said, *failure, *says;
    } cases[] = {
        { "run rm -rf /", "unsafe_target: This command is never run",
          "The command \"rm -rf /\" was refused: This command is never run" },
        { "show secret.txt", "path_denied: secret.txt", "read_file was refused: secret.txt" },
        { "tidy this folder", "rejected: leave it", "read_file was rejected: leave it" },
        { "run the tests", "kill_switch_active: all", "was refused: all" },
        { "write a to b.txt", "expired: nobody was there", "was not decided on in time" },
        { "delete b.txt", "timeout: 30 s", "took too long: 30 s" },
    };
    int rounds;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_CONTAINS(wiggum(t, cases[i].said, cases[i].failure, &rounds), cases[i].says);
        ASSERT_EQ(rounds, 2); /* the call, then the word about it */
    }
    ASSERT_CONTAINS(wiggum(t, "hello", "", &rounds), "Hello!");
    ASSERT_EQ(rounds, 1);
}

/* ---- files by their names ---- */

#define LISTING(...) "{\"kind\":\"directory\",\"entries\":[" __VA_ARGS__ "],\"total\":3}"

TEST(offline_finds_the_readme_however_it_is_spelled)
{
    static const struct {
        const char *said, *listing, *then;
    } cases[] = {
        { "show me the readme", LISTING("\"src/\",\"README.md\""),
          "read_file {\"path\":\"README.md\"}" },
        { "cat README", LISTING("\"README\",\"readme.txt\""), "read_file {\"path\":\"README\"}" },
        { "show the Makefile", LISTING("\"makefile\""), "read_file {\"path\":\"makefile\"}" },
        { "what is in the license?", LISTING("\"LICENSE\",\"LICENSE.old\""),
          "read_file {\"path\":\"LICENSE\"}" },
        { "show the readme", LISTING("\"readme/\",\"x.md\""), "There is no file readme here." },
        { "show the readme", "[]", "There is no file readme here." },
        { "show the readme", LISTING("\"READMES.md\",\".readme\""),
          "There is no file readme here." },
        { "explain the changelog", LISTING("\"CHANGELOG.md\""),
          "read_file {\"path\":\"CHANGELOG.md\"} | I am rules and can't explain" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_hands, rig_hands_count);
        rig_user(&rig, cases[i].said);
        ASSERT_TEXT(rig_think(&rig), "read_file {\"path\":\".\"}");
        rig_result(&rig, 0, cases[i].listing);
        ASSERT_CONTAINS(rig_think(&rig), cases[i].then);
        if (rig.turn.call_count) {
            rig_result(&rig, 0, "     1\tall of it");
            ASSERT_CONTAINS(rig_think(&rig), ":\n\n         1\tall of it");
        }
        rig_end(&rig);
    }
}

TEST(offline_shows_facts_of_what_is_no_text)
{
    static const struct {
        const char *result, *says;
    } cases[] = {
        { "{\"kind\":\"binary\",\"bytes\":300,\"type\":\"application/zip\"}",
          "a.png is no text (application/zip, 300 bytes): I can't show it." },
        { "{\"kind\":\"image\",\"bytes\":1}", "a.png is no text (image, 1 bytes)" },
        { "{\"kind\":\"binary\"}", "a.png is no text (binary, 0 bytes)" },
        { "{\"kind\":\"text\",\"content\":\"x\"}", "a.png:\n\n    x\n" },
        { "{\"kind\":7,\"content\":\"x\"}", "a.png:\n\n    x\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_hands, rig_hands_count);
        rig_user(&rig, "show a.png");
        rig_think(&rig);
        rig_result(&rig, 0, cases[i].result);
        ASSERT_CONTAINS(rig_think(&rig), cases[i].says);
        rig_end(&rig);
    }
}

TEST(offline_says_whether_something_was_really_moved)
{
    static const struct {
        const char *said, *stdout_text, *says;
    } cases[] = {
        { "rename a.txt to b.txt", "renamed 'a.txt' -> 'b.txt'\\n", "I moved a.txt to b.txt." },
        { "rename a.txt to b.txt", "",
          "There is b.txt already, and I don't overwrite: nothing was moved." },
        { "copy a.txt to b.txt", "'a.txt' -> 'b.txt'\\n", "I copied a.txt to b.txt." },
        { "copy a.txt to b.txt", "", "nothing was copied." },
        { "delete a.txt", "", "I deleted a.txt." },
        { "delete the docs folder", "", "I deleted docs." },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_hands, rig_hands_count);
        rig_user(&rig, cases[i].said);
        rig_think(&rig);
        rig_result(&rig, 0,
                   arena_printf(&t->arena, "{\"exit_code\":0,\"stdout\":\"%s\",\"stderr\":\"\"}",
                                cases[i].stdout_text));
        ASSERT_CONTAINS(rig_think(&rig), cases[i].says);
        rig_end(&rig);
        /* And when the command failed, what it said. */
        rig_begin(&rig, t, rig_hands, rig_hands_count);
        rig_user(&rig, cases[i].said);
        rig_think(&rig);
        rig_result(&rig, 0, "{\"exit_code\":1,\"stdout\":\"\",\"stderr\":\"No such file\"}");
        ASSERT_CONTAINS(rig_think(&rig), "failed with exit code 1.\nNo such file");
        rig_end(&rig);
    }
}

TEST(offline_does_not_put_documents_into_documents_of_documents)
{
    static const struct {
        const char *said;
        bool moves;
    } cases[] = {
        { "tidy Documents", false },      { "tidy documents/", false },
        { "tidy ~/Documents", false },    { "tidy My-Documents", true },
        { "tidy Documents/inbox", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_hands, rig_hands_count);
        rig_user(&rig, cases[i].said);
        rig_think(&rig);
        rig_result(&rig, 0, LISTING("\"a.txt\",\"b.pdf\""));
        if (cases[i].moves)
            ASSERT_CONTAINS(rig_think(&rig),
                            "mkdir -p Documents && mv -nv -- a.txt b.pdf Documents/");
        else
            ASSERT_CONTAINS(rig_think(&rig), "There is nothing to tidy: of 2 files none");
        rig_end(&rig);
    }
}

/* ---- it ends ---- */

static const char *const said[] = {
    "what is in this folder?",
    "tidy this folder",
    "tidy src",
    "find TODO in src",
    "show a.txt",
    "run make",
    "run the tests",
    "replace a with b in c",
    "write a to b.txt",
    "append a to b.txt",
    "rename a to b",
    "delete a",
    "mark a as done",
    "add a task to b",
    "log 1 hour on a",
    "remember that a",
    "forget a",
    "what do you know",
    "list my tasks",
    "stop the timer",
    "start a timer for a",
    "where is a defined",
    "find all c files",
    "nonsense",
    "how many lines are in a.txt",
    "make a folder called x",
    "copy a to b",
};

static const char *const answers[] = {
    "",
    "[]",
    "{}",
    "null",
    "[\"a.png\",\"b/c.pdf\"]",
    "{\"exit_code\":1,\"stdout\":\"x\"}",
    "{\"candidates\":[{\"taskId\":\"1\",\"title\":\"a\"}]}",
    "plain\ntext\n",
    "{\"error\":\"no\"}",
    "[[[[1]]]]",
    "\xff\xfe",
    "{\"files\":[1,2,null,{\"path\":7}]}",
    "true",
    "12",
    "\"quoted\"",
    "not_found",
    "{\"categories\":[]}",
    "{\"output\":[]}",
    "{\"matches\":[{\"path\":\"a\",\"line\":1}]}",
};

TEST(offline_ends_in_text_within_two_turns_whatever_tools_answer)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 3);
    for (int round = 0; round < 4000; round++) {
        struct rig rig;
        bool hands = rand_below(&rand.rand, 2) == 0;
        unsigned after_results = 0;

        rig_begin(&rig, t, hands ? rig_plain : rig_journal,
                  hands ? rig_plain_count : rig_journal_count);
        rig_user(&rig, said[rand_below(&rand.rand, ARRAY_LEN(said))]);
        rig_think(&rig);
        while (rig.turn.call_count) {
            size_t n = rig.turn.call_count;

            for (size_t i = 0; i < n; i++) {
                const char *text = answers[rand_below(&rand.rand, ARRAY_LEN(answers))];

                (rand_below(&rand.rand, 4) ? rig_result : rig_failure)(&rig, i, text);
            }
            rig_think(&rig);
            if (++after_results > OFFLINE_ROUNDS_MAX)
                FAIL("no end after \"%.*s\"", STR_ARG(rig.messages[0].text));
        }
        ASSERT(rig.turn.say.n > 0);
        rig_end(&rig);
        arena_reset(&t->arena);
    }
}

TEST(offline_gives_the_same_answer_to_the_same_conversation)
{
    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        ASSERT_TEXT(rig_ask(t, rig_plain, rig_plain_count, said[i]),
                    rig_ask(t, rig_plain, rig_plain_count, said[i]));
}

TEST(offline_survives_results_that_never_came_and_texts_without_end)
{
    const struct model_call call = { .id = STR("x"), .name = STR("bash"), .arguments = STR("{}") };
    struct rig rig;
    char *text = arena_alloc(&t->arena, 1, 300001);

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "run make");
    rig.messages[1] =
        (struct model_message){ .role = MODEL_ASSISTANT, .calls = &call, .call_count = 1 };
    rig.n = 2;
    ASSERT_CONTAINS(rig_think(&rig), "no result came back");
    rig_end(&rig);

    for (int i = 0; i < 300000; i++)
        text[i] = i % 3 ? 'a' : ' ';
    ASSERT_CONTAINS(rig_ask(t, rig_plain, rig_plain_count, text), "I did not understand");
    memcpy(text, "run echo", 8);
    ASSERT_CONTAINS(rig_ask(t, rig_plain, rig_plain_count, text), "too long");
}

/* ---- as a provider ---- */

TEST(offline_streams_in_small_pieces_and_counts)
{
    struct minds minds;
    struct told told;

    minds_open(&minds, t, "offline", NULL);
    minds_ask(&minds, &told, "offline", "Hello");
    ASSERT(told.replied);
    ASSERT_CONTAINS(told.text, "not a language model");
    ASSERT(told.longest <= 24);
    ASSERT(told.deltas > 5);
    ASSERT_TEXT(told.model, "offline rules");
    ASSERT_EQ(told.stop, MODEL_STOP_END);
    ASSERT(told.usage.input_tokens > 0 && told.usage.output_tokens > 0);
    minds_ask(&minds, &told, "m", "what can you do?");
    ASSERT(told.replied);
    minds_close(&minds);
}

TEST(offline_calls_tools_through_the_gateway)
{
    struct minds minds;
    struct told told;

    minds_open(&minds, t, "offline", NULL);
    minds.tools = rig_hands;
    minds.tool_count = rig_hands_count;
    minds_ask(&minds, &told, "m", "run make test");
    ASSERT_EQ(told.stop, MODEL_STOP_CALLS);
    ASSERT_TEXT(told.calls, "offline-1-1 bash {\"command\":\"make test\"}");
    minds_close(&minds);
}

TEST(offline_greets_when_nobody_has_said_anything)
{
    const struct model_message messages[] = {
        { .role = MODEL_ASSISTANT, .text = STR("earlier") },
        { .role = MODEL_USER, .text = STR(" \n ") },
    };
    const struct model_request request = { .messages = messages, .message_count = 2 };
    struct offline_turn turn;

    offline_think(&request, RIG_NOW, &t->arena, &turn);
    ASSERT_CONTAINS(buf_text(&turn.say), "Hello!");
    offline_turn_release(&turn);
}

TEST(offline_counts_rounds_and_stops_calling)
{
    const struct model_call call = { .id = STR("x"), .name = STR("bash"), .arguments = STR("{}") };
    struct rig rig;

    rig_begin(&rig, t, rig_hands, rig_hands_count);
    rig_user(&rig, "tidy this folder");
    for (int i = 0; i < 4; i++) {
        rig.messages[rig.n++] =
            (struct model_message){ .role = MODEL_ASSISTANT, .calls = &call, .call_count = 1 };
        rig.messages[rig.n++] = (struct model_message){ .role = MODEL_TOOL,
                                                        .call_id = STR("x"),
                                                        .tool_name = STR("bash"),
                                                        .text = STR("[\"a.png\"]") };
        if (i < 1)
            continue;
        ASSERT(rig_think(&rig));
        ASSERT_EQ(rig.turn.call_count, 0);
        rig.n--;
    }
    rig_end(&rig);
}

TEST(offline_can_be_cancelled)
{
    const struct model_message hello = { .role = MODEL_USER, .text = STR("help") };
    struct minds minds;
    struct told told;

    minds_open(&minds, t, "offline", NULL);
    minds_start(&minds, &told, "m", &hello, 1);
    model_cancel(told.x);
    loop_fake_advance(minds.loop, 1);
    ASSERT_EQ(told.err.code, ERR_CANCELLED);
    ASSERT_EQ(told.dones, 1);
    minds_close(&minds);
}

/* It is 12:00 UTC on the 15th: in Kiritimati (UTC+14) it is the 16th by now. */
TEST(tomorrow_is_the_day_after_today_where_the_person_is)
{
    static const struct {
        const char *zone, *from;
    } cases[] = { { "UTC", "2026-11-16" },
                  { "Pacific/Kiritimati", "2026-11-17" },
                  { "Pacific/Pago_Pago", "2026-11-16" } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct offline_turn turn = { .now_ms = RIG_NOW };
        char day[OFFLINE_DAY_SIZE];

        setenv("TZ", cases[i].zone, 1);
        tzset();
        offline_day(&turn, 1, day);
        ASSERT_TEXT(day, cases[i].from);
    }
    setenv("TZ", "Europe/Berlin", 1); /* a day of 23 hours, seen from 23:30 of the day before */
    tzset();
    {
        struct offline_turn turn = { .now_ms = 1774737000000 };
        char day[OFFLINE_DAY_SIZE];

        offline_day(&turn, 0, day);
        ASSERT_TEXT(day, "2026-03-28");
        offline_day(&turn, 1, day);
        ASSERT_TEXT(day, "2026-03-29");
        offline_day(&turn, 2, day);
        ASSERT_TEXT(day, "2026-03-30");
    }
}
