/* Conversations with the offline model: tasks, memory, what it says at the end, and that it always
 * comes to one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <time.h>

#include "base/json.h"
#include "base/rand.h"
#include "minds_rig.h"
#include "offline_rig.h"

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
    rig_result(&rig, 0, RIG_MOVES);
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
