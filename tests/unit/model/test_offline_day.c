/* A day with the offline model: time that is logged and looked back on, sessions that ring,
 * reminders. Now is Sunday, 15 November 2026, noon in UTC.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <time.h>

#include "model/offline_alarm_int.h"
#include "offline_rig.h"

#define S(literal)                                                                                 \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
#define TOOL(name_)                                                                                \
    {                                                                                              \
        .name = S(name_), .description = S(""), .input_schema = S("{}")                            \
    }

#define TAKES(name_, properties_)                                                                  \
    {                                                                                              \
        .name = S(name_), .description = S(""),                                                    \
        .input_schema = S("{\"properties\":{" properties_ "}}")                                    \
    }

static const struct model_tool tools[] = {
    TOOL("ask_user"),
    TOOL("conclude_task_with_rollover"),
    TOOL("create_or_update_rating"),
    TOOL("create_retrospective_time_entry"),
    TAKES("create_task", "\"title\":{},\"due\":{},\"estimateMinutes\":{},\"priority\":{}"),
    TOOL("list_alarms"),
    TOOL("list_allowed_categories"),
    TOOL("list_entries_in_scope"),
    TAKES("list_tasks_in_scope", "\"dueTo\":{}"),
    TOOL("list_time_entries"),
    TOOL("resolve_task_reference"),
    TOOL("set_alarm"),
    TAKES("start_task_timer", "\"taskId\":{},\"description\":{}"),
    TOOL("stop_task_timer"),
};

#define TAX  "{\"candidates\":[{\"taskId\":\"t-1\",\"title\":\"Tax report\"}],\"ambiguous\":false}"
#define NONE "{\"candidates\":[],\"ambiguous\":true}"
#define TASKS                                                                                      \
    "{\"tasks\":[{\"id\":\"t-1\",\"title\":\"Tax report\"},{\"id\":\"t-2\",\"title\":\"Gym\"}]}"

static void begin(struct rig *rig, struct test *t, const char *said)
{
    setenv("TZ", "UTC", 1);
    tzset();
    rig_begin(rig, t, tools, ARRAY_LEN(tools));
    rig_user(rig, said);
}

static const char *ask(struct test *t, const char *said)
{
    setenv("TZ", "UTC", 1);
    tzset();
    return rig_ask(t, tools, ARRAY_LEN(tools), said);
}

/* ---- words for times ---- */

TEST(clocks_are_read_as_people_write_them)
{
    static const struct {
        const char *text;
        int minutes;
    } cases[] = {
        { "18:00", 1080 }, { "9", 540 },      { "9.30", 570 }, { "6pm", 1080 },
        { "6 PM", 1080 },  { "12am", 0 },     { "12pm", 720 }, { "6:15 pm", 1095 },
        { "noon", 720 },   { "midnight", 0 }, { "0:00", 0 },   { "23:59", 1439 },
        { "24:00", -1 },   { "13pm", -1 },    { "0am", -1 },   { "9:60", -1 },
        { "9:", -1 },      { "", -1 },        { "soon", -1 },  { "9 o'clock", -1 },
        { "123", -1 },     { "-1", -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (offline_clock(str_from(cases[i].text)) != cases[i].minutes)
            FAIL("\"%s\" is %d", cases[i].text, offline_clock(str_from(cases[i].text)));
}

static struct offline_turn turn_now(struct test *t)
{
    setenv("TZ", "UTC", 1);
    tzset();
    return (struct offline_turn){ .arena = &t->arena, .now_ms = RIG_NOW };
}

TEST(a_day_is_taken_off_the_end_and_nothing_else)
{
    static const struct {
        const char *text, *left;
        int days; /* 1: none was there */
    } cases[] = {
        { "gym yesterday", "gym", -1 },
        { "gym today", "gym", 0 },
        { "yesterday", "", -1 },
        { "gym the day before yesterday", "gym", -2 },
        { "gym 3 days ago", "gym", -3 },
        { "gym a day ago", "gym", -1 },
        { "gym on monday", "gym", -6 },
        { "gym last sunday", "gym", -7 },
        { "gym Friday", "gym", -2 },
        { "gym this morning", "gym", 0 },
        { "gym", "gym", 1 },
        { "0 days ago", "0 days ago", 1 },
        { "400 days ago", "400 days ago", 1 },
        { "days ago", "days ago", 1 },
        { "notyesterday", "notyesterday", 1 },
        { "", "", 1 },
    };
    struct offline_turn turn = turn_now(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str text = str_from(cases[i].text);
        int days = 1;
        bool found = offline_take_day(&turn, &text, &days);

        if (found != (cases[i].days != 1) || days != cases[i].days || !str_is(text, cases[i].left))
            FAIL("\"%s\": %d, \"%.*s\"", cases[i].text, days, STR_ARG(text));
    }
}

TEST(stretches_of_days_begin_on_monday_and_at_midnight)
{
    static const struct {
        const char *words;
        int first, last;
    } cases[] = {
        { "", 0, 0 },
        { "today", 0, 0 },
        { "yesterday", -1, -1 },
        { "this week", -6, 0 },
        { "last week", -13, -7 },
        { "this month", -14, 0 },
        { "the last 7 days", -6, 0 },
        { "friday", -2, -2 },
    };
    struct offline_turn turn = turn_now(t);
    struct offline_span span;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (!offline_span_of(&turn, str_from(cases[i].words), &span) ||
            span.first != cases[i].first || span.last != cases[i].last)
            FAIL("\"%s\": %d to %d", cases[i].words, span.first, span.last);
        ASSERT_EQ(span.from % (INT64_C(24) * 3600000), 0);
        ASSERT_EQ(span.to - span.from,
                  (int64_t)(cases[i].last - cases[i].first + 1) * 24 * 3600000);
    }
    ASSERT(!offline_span_of(&turn, STR("next year"), &span));
    ASSERT(!offline_span_of(&turn, STR("gym yesterday"), &span));
}

/* ---- logging ---- */

TEST(time_of_another_day_or_from_one_hour_to_another_is_logged_for_the_task)
{
    static const struct {
        const char *said, *reference, *from, *to;
    } cases[] = {
        { "log 45 minutes of tax report yesterday", "tax report", "2026-11-14T17:15",
          "2026-11-14T18:00" },
        { "log 45 minutes on the tax report", "tax report", "2026-11-15T11:15",
          "2026-11-15T12:00" },
        { "i spent 2 hours on the tax report on friday", "tax report", "2026-11-13T16:00",
          "2026-11-13T18:00" },
        { "log the tax report from 9 to 11", "tax report", "2026-11-15T09:00", "2026-11-15T11:00" },
        { "log tax report yesterday from 16:00 to 18:00", "tax report", "2026-11-14T16:00",
          "2026-11-14T18:00" },
        { "i worked on the tax report from 4pm until 6pm yesterday", "tax report",
          "2026-11-14T16:00", "2026-11-14T18:00" },
        { "I did yoga for 30 minutes yesterday", "yoga", "2026-11-14T17:30", "2026-11-14T18:00" },
        { "I did 30 minutes of yoga", "yoga", "2026-11-15T11:30", "2026-11-15T12:00" },
        { "log the tax report for 2 hours", "tax report", "2026-11-15T10:00", "2026-11-15T12:00" },
        { "I ran 30 minutes", "running", "2026-11-15T11:30", "2026-11-15T12:00" },
        { "I ran for half an hour this morning", "running", "2026-11-15T11:30",
          "2026-11-15T12:00" },
        { "I jogged 5 km in 30 minutes yesterday", "running", "2026-11-14T17:30",
          "2026-11-14T18:00" },
        { "I swam yesterday for about 45 minutes", "swimming", "2026-11-14T17:15",
          "2026-11-14T18:00" },
        { "I worked out for 1h", "workout", "2026-11-15T11:00", "2026-11-15T12:00" },
        { "I went bouldering for 2 hours on friday", "bouldering", "2026-11-13T16:00",
          "2026-11-13T18:00" },
        { "track gym from 23:00 to 1:00 2 days ago", "gym", "2026-11-13T23:00",
          "2026-11-14T01:00" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;
        const char *said;

        begin(&rig, t, cases[i].said);
        said = rig_think(&rig);
        ASSERT_CONTAINS(said,
                        arena_printf(&t->arena, "resolve_task_reference {\"reference\":\"%s\"}",
                                     cases[i].reference));
        rig_result(&rig, 0, TAX);
        rig_result(&rig, 1, "{\"categories\":[]}");
        said = rig_think(&rig);
        ASSERT_CONTAINS(said, "create_retrospective_time_entry {\"taskId\":\"t-1\"");
        ASSERT_CONTAINS(said,
                        arena_printf(&t->arena, "\"startedAt\":\"%s:00.000Z\"", cases[i].from));
        ASSERT_CONTAINS(said, arena_printf(&t->arena, "\"endedAt\":\"%s:00.000Z\"", cases[i].to));
        rig_result(&rig, 0, "{\"timeEntry\":{}}");
        ASSERT_CONTAINS(rig_think(&rig), "on \"Tax report\"");
        rig_end(&rig);
    }
}

TEST(time_without_a_task_goes_to_the_category_of_that_name)
{
    struct rig rig;

    begin(&rig, t, "log 45 minutes of sport");
    rig_think(&rig);
    rig_result(&rig, 0, NONE);
    rig_result(&rig, 1, "{\"categories\":[{\"id\":\"c-1\",\"name\":\"Sport\"}]}");
    ASSERT_CONTAINS(rig_think(&rig), "create_retrospective_time_entry {\"categoryId\":\"c-1\"");
    rig_result(&rig, 0, "{\"timeEntry\":{}}");
    ASSERT_CONTAINS(rig_think(&rig), "I logged 45 minutes on \"sport\", 11:15 to 12:00.");
    rig_end(&rig);
    begin(&rig, t, "log 45 minutes of chess");
    rig_think(&rig);
    rig_result(&rig, 0, NONE);
    rig_result(&rig, 1, "{\"categories\":[{\"id\":\"c-1\",\"name\":\"Sport\"}]}");
    ASSERT_CONTAINS(rig_think(&rig), "I found no task \"chess\"");
    ASSERT_EQ(rig.turn.call_count, 0);
    rig_end(&rig);
}

TEST(a_workout_that_is_told_counts_for_the_only_category_where_no_task_is_called_so)
{
    static const struct {
        const char *found, *categories, *says;
    } cases[] = {
        { NONE, "{\"categories\":[{\"id\":\"c-1\",\"name\":\"Sport\"}]}",
          "create_retrospective_time_entry {\"categoryId\":\"c-1\"" },
        { NONE,
          "{\"categories\":[{\"id\":\"c-1\",\"name\":\"Sport\"},{\"id\":\"c-2\",\"name\":"
          "\"Work\"}]}",
          "I found no task \"running\"" },
        { "{\"candidates\":[{\"taskId\":\"a\",\"title\":\"Running shoes\"},{\"taskId\":\"b\","
          "\"title\":\"Running club\"}],\"ambiguous\":true}",
          "{\"categories\":[{\"id\":\"c-1\",\"name\":\"Sport\"}]}", "could be any of these" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        begin(&rig, t, "I ran 30 minutes");
        rig_think(&rig);
        rig_result(&rig, 0, cases[i].found);
        rig_result(&rig, 1, cases[i].categories);
        ASSERT_CONTAINS(rig_think(&rig), cases[i].says);
        rig_end(&rig);
    }
    ASSERT_CONTAINS(ask(t, "I ran the tests"), "I did not understand that");
    ASSERT_CONTAINS(ask(t, "I went to bed"), "I did not understand that");
}

#define TWO_RUNS                                                                                   \
    "\"title\":\"Running\",\"categoryId\":\"s\"},{\"%s\":\"t-2\",\"title\":\"Running\","           \
    "\"categoryId\":\"h\"}],\"ambiguous\":true,\"categoryNames\":{\"s\":\"Sport\",\"h\":\"Home\"}" \
    "}"

TEST(which_of_two_tasks_of_one_title_is_asked)
{
    static const char *const answers[] = { "Running (Home)", "2", "running (home)" };

    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct rig rig;

        begin(&rig, t, "start 25 minutes on running");
        rig_think(&rig);
        rig_result(
            &rig, 0,
            arena_printf(&t->arena, "{\"candidates\":[{\"taskId\":\"t-1\"," TWO_RUNS, "taskId"));
        rig_result(&rig, 1, "{\"alarms\":[]}");
        ASSERT_TEXT(rig_think(&rig), "ask_user {\"question\":\"Which task is \\\"running\\\"?\","
                                     "\"choices\":[\"Running (Sport)\",\"Running (Home)\"]}");
        rig_result(&rig, 0, arena_printf(&t->arena, "{\"answer\":\"%s\"}", answers[i]));
        ASSERT_CONTAINS(rig_think(&rig), "start_task_timer {\"taskId\":\"t-2\"");
        rig_result(&rig, 0, "{\"timeEntry\":{}}");
        ASSERT_CONTAINS(rig_think(&rig), "set_alarm {\"name\":\"session\",\"minutes\":25");
        rig_result(&rig, 0, "{\"set\":true}");
        ASSERT_CONTAINS(rig_think(&rig), "The timer for \"Running\" runs");
        rig_end(&rig);
    }
}

TEST(a_session_begins_for_the_task_that_was_chosen_of_two_with_one_title)
{
    struct rig rig;

    begin(&rig, t, "start a pomodoro");
    rig_think(&rig);
    rig_result(&rig, 0, arena_printf(&t->arena, "{\"tasks\":[{\"id\":\"t-1\"," TWO_RUNS, "id"));
    rig_result(&rig, 1, "{\"alarms\":[]}");
    ASSERT_CONTAINS(rig_think(&rig), "\"choices\":[\"Running (Sport)\",\"Running (Home)\"]");
    rig_result(&rig, 0, "{\"answer\":\"Running (Home)\"}");
    ASSERT_CONTAINS(rig_think(&rig), "start_task_timer {\"taskId\":\"t-2\"");
    rig_end(&rig);
}

TEST(sessions_are_counted)
{
    static const char *const said[] = { "how many pomodoros today?",
                                        "How many sessions did I do today?",
                                        "how many pomodoros have I done so far",
                                        "how many pomodoros" };

    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct rig rig;

        begin(&rig, t, said[i]);
        ASSERT_TEXT(rig_think(&rig), "list_time_entries {\"from\":\"2026-11-15T00:00:00.000Z\","
                                     "\"to\":\"2026-11-16T00:00:00.000Z\",\"limit\":200}");
        rig_result(&rig, 0,
                   "{\"timeEntries\":[{\"startedAt\":\"2026-11-15T10:00:00Z\",\"endedAt\":"
                   "\"2026-11-15T10:25:00Z\",\"description\":\"Session of 25 minutes\"},"
                   "{\"startedAt\":\"2026-11-15T09:00:00Z\",\"endedAt\":\"2026-11-15T10:00:00Z\","
                   "\"description\":\"gym\"},{\"startedAt\":\"2026-11-15T08:00:00Z\",\"endedAt\":"
                   "\"2026-11-15T08:50:00Z\",\"description\":\"Session of 50 minutes\"}]}");
        ASSERT_CONTAINS(rig_think(&rig), "2 sessions, 1 h 15 min in all.");
        rig_end(&rig);
    }
    ASSERT_CONTAINS(ask(t, "how many pomodoros last week"), "\"from\":\"2026-11-02T");
    ASSERT_CONTAINS(ask(t, "how many pomodoros does a cook need"), "I did not understand that");
}

TEST(lengths_and_hours_that_are_none_are_said_so)
{
    ASSERT_CONTAINS(ask(t, "log ages on the tax report"), "how long \"ages\" is");
    ASSERT_CONTAINS(ask(t, "log 25h on the tax report"), "how long \"25h\" is");
    ASSERT_CONTAINS(ask(t, "log gym from morning to evening"), "from when to when");
    ASSERT_CONTAINS(ask(t, "remind me in ages to call Ada"), "how long \"ages\" is");
}

/* ---- looking back ---- */

TEST(looking_back_sums_up_time_and_names_what_was_done)
{
    struct rig rig;
    const char *said;

    begin(&rig, t, "What did I do last week?");
    said = rig_think(&rig);
    ASSERT_CONTAINS(said, "list_time_entries {\"from\":\"2026-11-02T00:00:00.000Z\",\"to\":"
                          "\"2026-11-09T00:00:00.000Z\"");
    rig_result(&rig, 0,
               "{\"timeEntries\":[{\"taskId\":\"t-1\",\"startedAt\":\"2026-11-03T10:00:00Z\","
               "\"endedAt\":\"2026-11-03T10:30:00Z\"},{\"taskId\":\"t-2\",\"startedAt\":"
               "\"2026-11-04T10:00:00Z\",\"endedAt\":\"2026-11-04T11:05:00Z\"},{\"taskId\":\"t-1\","
               "\"startedAt\":\"2026-11-05T10:00:00Z\",\"endedAt\":\"2026-11-05T10:15:00Z\"},"
               "{\"description\":\"reading\",\"startedAt\":\"bad\"}]}");
    rig_result(&rig, 1,
               "{\"tasks\":[{\"id\":\"t-2\",\"title\":\"Gym\",\"status\":\"DONE\",\"closedAt\":"
               "\"2026-11-04T11:05:00Z\"},{\"id\":\"t-3\",\"title\":\"Old\",\"status\":\"DONE\","
               "\"closedAt\":\"2026-10-01T00:00:00Z\"},{\"id\":\"t-4\",\"title\":\"No\",\"status\":"
               "\"REJECTED\",\"closedAt\":\"2026-11-04T11:05:00Z\"}]}");
    rig_result(&rig, 2, "{\"tasks\":[{\"id\":\"t-1\",\"title\":\"Tax report\"}]}");
    rig_result(&rig, 3, "{\"entries\":[{\"kind\":\"workout\",\"subtype\":\"running\"}]}");
    said = rig_think(&rig);
    ASSERT_CONTAINS(said, "2026-11-02 to 2026-11-08: 1 h 50 min logged:\n- Gym, 1 h 05 min\n"
                          "- Tax report, 45 minutes\n- reading, 0 minutes\nDone:\n- Gym\nNoted:\n"
                          "- workout: running\n");
    rig_end(&rig);
    ASSERT_CONTAINS(ask(t, "what did I do in 1999"), "did not understand when");
}

TEST(how_long_something_took_is_asked_of_the_journal)
{
    struct rig rig;

    begin(&rig, t, "how long did I work on the tax report yesterday?");
    ASSERT_CONTAINS(rig_think(&rig), "resolve_task_reference {\"reference\":\"tax report\"}");
    rig_result(&rig, 0, TAX);
    ASSERT_CONTAINS(rig_think(&rig), "list_time_entries {\"taskId\":\"t-1\",\"from\":"
                                     "\"2026-11-14T00:00:00.000Z\"");
    rig_result(&rig, 0, "{\"timeEntries\":[],\"totalMinutes\":90}");
    ASSERT_CONTAINS(rig_think(&rig), "1 h 30 min on \"Tax report\".");
    rig_end(&rig);
}

/* ---- sessions ---- */

TEST(a_session_without_a_task_asks_which_and_rings)
{
    struct rig rig;

    begin(&rig, t, "start a pomodoro");
    ASSERT_CONTAINS(rig_think(&rig), "list_tasks_in_scope");
    rig_result(&rig, 0, TASKS);
    ASSERT_CONTAINS(rig_think(&rig), "\"choices\":[\"Tax report\",\"Gym\"]");
    rig_result(&rig, 0, "{\"answer\":\"tax\"}");
    ASSERT_CONTAINS(rig_think(&rig), "start_task_timer {\"taskId\":\"t-1\"");
    rig_result(&rig, 0, "{\"timeEntry\":{}}");
    ASSERT_TEXT(rig_think(&rig),
                "set_alarm {\"name\":\"session\",\"minutes\":25,\"note\":\"Tax report\"}");
    rig_result(&rig, 0, "{\"set\":true}");
    ASSERT_CONTAINS(rig_think(&rig), "25 minutes are over at 12:25, and I ring then");
    rig_end(&rig);
}

TEST(an_answer_that_names_no_task_starts_nothing)
{
    static const char *const answers[] = { "{\"answer\":\"y\"}", "{\"answer\":\"7\"}",
                                           "{\"answer\":\"\"}", "{}", "{\"answer\":\"chess\"}" };

    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct rig rig;

        begin(&rig, t, "start a pomodoro");
        rig_think(&rig);
        rig_result(&rig, 0, TASKS);
        rig_think(&rig);
        rig_result(&rig, 0, answers[i]);
        ASSERT_CONTAINS(rig_think(&rig), "Which task is it for?");
        ASSERT_EQ(rig.turn.call_count, 0);
        rig_end(&rig);
    }
}

TEST(a_session_whose_alarm_is_refused_says_that_it_can_not_ring)
{
    struct rig rig;

    begin(&rig, t, "start 1 minute on tax");
    rig_think(&rig);
    rig_result(&rig, 0, TAX);
    ASSERT_CONTAINS(rig_think(&rig), "\"Session of 1 minute\"");
    rig_result(&rig, 0, "{\"timeEntry\":{}}");
    rig_think(&rig);
    rig_failure(&rig, 0, "conflict: five already");
    ASSERT_CONTAINS(rig_think(&rig), "1 minute is over at 12:01. I can't ring");
    rig_end(&rig);
}

TEST(stop_ends_the_timer_and_what_would_ring_for_it)
{
    struct rig rig;
    const char *said;

    begin(&rig, t, "stop");
    ASSERT_TEXT(rig_think(&rig), "stop_task_timer {}; list_alarms {}");
    rig_result(&rig, 0,
               "{\"timeEntry\":{\"startedAt\":\"2026-11-15T11:00:00Z\",\"endedAt\":"
               "\"2026-11-15T11:12:00Z\"}}");
    rig_result(&rig, 1, "{\"alarms\":[{\"name\":\"session\"},{\"name\":\"at-1300\"}]}");
    ASSERT_TEXT(rig_think(&rig), "set_alarm {\"name\":\"session\",\"minutes\":0}");
    rig_result(&rig, 0, "{\"set\":false}");
    ASSERT_CONTAINS(rig_think(&rig), "stopped after 12 minutes. How was it");
    rig_end(&rig);
    begin(&rig, t, "stop");
    rig_think(&rig);
    rig_failure(&rig, 0, "not_found: no timer runs");
    rig_result(&rig, 1, "{\"alarms\":[]}");
    ASSERT_TEXT(rig_think(&rig), "No timer runs.");
    rig_end(&rig);
    begin(&rig, t, "stop");
    rig_think(&rig);
    rig_failure(&rig, 0, "storage_failed: disk");
    rig_result(&rig, 1, "{\"alarms\":[]}");
    said = rig_think(&rig);
    ASSERT_CONTAINS(said, "stop_task_timer did not work: disk");
    rig_end(&rig);
}

TEST(a_break_stops_the_session_and_rings)
{
    struct rig rig;

    begin(&rig, t, "take a 10 minute break");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"timeEntry\":{}}");
    rig_result(&rig, 1, "{\"alarms\":[{\"name\":\"session\"}]}");
    ASSERT_TEXT(rig_think(&rig), "set_alarm {\"name\":\"session\",\"minutes\":0}; "
                                 "set_alarm {\"name\":\"break\",\"minutes\":10}");
    rig_result(&rig, 0, "{\"set\":false}");
    rig_result(&rig, 1, "{\"set\":true}");
    ASSERT_CONTAINS(rig_think(&rig), "The timer has stopped. Enjoy your break: I ring at 12:10.");
    rig_end(&rig);
    ASSERT_CONTAINS(ask(t, "take a 0 minute break"), "1 to 480");
}

TEST(what_is_left_is_said_of_every_alarm)
{
    struct rig rig;
    const char *said;

    begin(&rig, t, "how much time is left?");
    rig_think(&rig);
    rig_result(&rig, 0,
               "{\"alarms\":[{\"name\":\"session\",\"note\":\"Tax report\",\"ringsAt\":"
               "\"2026-11-15T12:12:20Z\"},{\"name\":\"at-1300\",\"note\":\"call Ada\",\"ringsAt\":"
               "\"2026-11-15T13:00:00Z\"},{\"name\":\"break\",\"ringsAt\":\"bad\"}]}");
    rig_result(&rig, 1, "{\"running\":{\"startedAt\":\"2026-11-15T11:47:00Z\"}}");
    said = rig_think(&rig);
    ASSERT_CONTAINS(said, "The session on Tax report has 12 minutes left: I ring at 12:12.");
    ASSERT_CONTAINS(said, "The alarm for call Ada has 1 h left");
    ASSERT_CONTAINS(said, "The timer runs since 11:47.");
    rig_end(&rig);
    begin(&rig, t, "status");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"alarms\":[]}");
    rig_result(&rig, 1, "{}");
    ASSERT_CONTAINS(rig_think(&rig), "No timer runs, and nothing is set to ring.");
    rig_end(&rig);
}

/* ---- ringing ---- */

#define RING(json)                                                                                 \
    "[wake: timer t-9]\nAn alarm rings that you set in this conversation.\n- alarm: " json         \
    "\n\nDo what your instructions say about this"
#define ON_TIME "\"setAt\":\"2026-11-15T11:35:00.000Z\",\"ringsAt\":\"2026-11-15T12:00:00.000Z\"}"
#define LATE    "\"setAt\":\"2026-11-15T08:35:00.000Z\",\"ringsAt\":\"2026-11-15T09:00:00.000Z\"}"
#define RUNS    "\"running\":{\"id\":\"e-1\",\"description\":\"Session of 25 minutes\"}"
#define ONE     "{\"description\":\"Session of 25 minutes\"}"

TEST(a_session_that_rings_stops_the_timer_and_begins_the_break)
{
    struct rig rig;
    const char *said;

    begin(&rig, t, RING("{\"name\":\"session\",\"note\":\"Tax report\"," ON_TIME));
    ASSERT_CONTAINS(rig_think(&rig), "list_time_entries {\"from\":\"2026-11-15T00:00:00.000Z\"");
    rig_result(&rig, 0, "{\"timeEntries\":[" ONE "]," RUNS "}");
    ASSERT_TEXT(rig_think(&rig),
                "stop_task_timer {}; set_alarm {\"name\":\"break\",\"minutes\":5,\"note\":"
                "\"Tax report\"}");
    rig_result(&rig, 0, "{\"timeEntry\":{}}");
    rig_result(&rig, 1, "{\"set\":true}");
    said = rig_think(&rig);
    ASSERT_CONTAINS(said, "25 minutes on Tax report are over. The timer has stopped");
    ASSERT_CONTAINS(said, "I ring again in 5 minutes. How was it, from 1 to 5?");
    rig_end(&rig);
}

TEST(after_every_fourth_session_the_break_is_long)
{
    struct rig rig;

    begin(&rig, t, RING("{\"name\":\"session\"," ON_TIME));
    rig_think(&rig);
    rig_result(&rig, 0,
               "{\"timeEntries\":[" ONE "," ONE "," ONE "," ONE ",{\"description\":\"call\"}]," RUNS
               "}");
    ASSERT_CONTAINS(rig_think(&rig), "{\"name\":\"break\",\"minutes\":15}");
    rig_end(&rig);
}

TEST(a_session_that_rings_late_ends_when_it_should_have_and_begins_no_break)
{
    struct rig rig;
    const char *said;

    begin(&rig, t, RING("{\"name\":\"session\",\"note\":\"Tax report\"," LATE));
    rig_think(&rig);
    rig_result(&rig, 0, "{\"timeEntries\":[" ONE "]," RUNS "}");
    ASSERT_TEXT(rig_think(&rig), "stop_task_timer {\"endedAt\":\"2026-11-15T09:00:00.000Z\"}");
    rig_result(&rig, 0, "{\"timeEntry\":{}}");
    said = rig_think(&rig);
    ASSERT_CONTAINS(said, "are over since 09:00; I could not ring then.");
    ASSERT(strstr(said, "ring again") == NULL);
    rig_end(&rig);
}

TEST(a_session_that_somebody_stopped_meanwhile_is_only_told)
{
    struct rig rig;

    begin(&rig, t, RING("{\"name\":\"session\"," ON_TIME));
    rig_think(&rig);
    rig_result(&rig, 0, "{\"timeEntries\":[],\"running\":{\"description\":\"something else\"}}");
    ASSERT_TEXT(rig_think(&rig), "25 minutes are over.");
    rig_end(&rig);
}

TEST(other_alarms_tell_their_note_and_nothing_more)
{
    ASSERT_CONTAINS(ask(t, RING("{\"name\":\"break\",\"note\":\"Tax report\"," ON_TIME)),
                    "The break is over. \"start 25 minutes on Tax report\" begins");
    ASSERT_TEXT(ask(t, RING("{\"name\":\"at-1300\",\"note\":\"run rm -rf /\"," ON_TIME)),
                "It is time: run rm -rf /.");
    ASSERT_TEXT(ask(t, RING("{\"name\":\"at-1300\"," ON_TIME)), "25 minutes are over.");
    ASSERT_CONTAINS(ask(t, RING("{\"name\":\"x\",\"note\":\"tea\"," LATE)), "That was for 09:00");
    ASSERT_CONTAINS(ask(t, RING("{broken")), "I am rules");
    ASSERT_CONTAINS(ask(t, RING("[]")), "over");
}

/* ---- reminders ---- */

TEST(reminders_with_a_time_ring_and_others_become_tasks)
{
    static const struct {
        const char *said, *call;
    } cases[] = {
        { "remind me in 20 minutes to call Ada",
          "set_alarm {\"name\":\"at-1220\",\"minutes\":20,\"note\":\"call Ada\"}" },
        { "remind me to call Ada in 2 hours",
          "set_alarm {\"name\":\"at-1400\",\"minutes\":120,\"note\":\"call Ada\"}" },
        { "remind me to look in the oven in 20 minutes",
          "set_alarm {\"name\":\"at-1220\",\"minutes\":20,\"note\":\"look in the oven\"}" },
        { "remind me to call Ada at 15:30",
          "set_alarm {\"name\":\"at-1530\",\"minutes\":210,\"note\":\"call Ada\"}" },
        { "set a timer for 10 minutes", "set_alarm {\"name\":\"at-1210\",\"minutes\":10}" },
        { "start a timer for 10 minutes", "set_alarm {\"name\":\"at-1210\",\"minutes\":10}" },
        { "remind me to call Ada", "create_task {\"title\":\"call Ada\"}" },
        { "remind me to put milk in the fridge",
          "create_task {\"title\":\"put milk in the fridge\"}" },
        { "remind me to buy milk tomorrow",
          "create_task {\"title\":\"buy milk\",\"due\":\"2026-11-16\"}" },
        { "remind me tomorrow at 9 to call Ada",
          "create_task {\"title\":\"call Ada\",\"due\":\"2026-11-16T09:00\"}" },
        { "remind me to call Ada tomorrow at 3pm",
          "create_task {\"title\":\"call Ada\",\"due\":\"2026-11-16T15:00\"}" },
        { "remind me to call Ada at 15:30 tomorrow",
          "create_task {\"title\":\"call Ada\",\"due\":\"2026-11-16T15:30\"}" },
        { "remind me on friday at 9:15 to call Ada",
          "create_task {\"title\":\"call Ada\",\"due\":\"2026-11-20T09:15\"}" },
        { "remind me to call Ada today at 15:30",
          "set_alarm {\"name\":\"at-1530\",\"minutes\":210,\"note\":\"call Ada\"}" },
        { "remind me to look at room 9 tomorrow",
          "create_task {\"title\":\"look at room 9\",\"due\":\"2026-11-16\"}" },
        { "add a task to \"read 2h tomorrow\"", "create_task {\"title\":\"read 2h tomorrow\"}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *said = ask(t, cases[i].said);

        if (strcmp(said, cases[i].call) != 0)
            FAIL("\"%s\" -> %s", cases[i].said, said);
    }
    ASSERT_CONTAINS(ask(t, "remind me in 9 hours to sleep"), "I can ring within 8 hours");
}

TEST(a_reminder_that_becomes_a_task_says_that_it_will_not_ring)
{
    static const char *const said[] = { "remind me tomorrow at 9 to call Ada",
                                        "remind me to call Ada" };

    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct rig rig;

        rig_begin(&rig, t, tools, ARRAY_LEN(tools));
        rig_user(&rig, said[i]);
        ASSERT_CONTAINS(rig_think(&rig), "create_task");
        rig_result(&rig, 0, "{\"taskId\":\"t1\"}");
        ASSERT_CONTAINS(rig_think(&rig), " It stands in your tasks and will not ring: I ring only "
                                         "at a time within 8 hours.");
        rig_end(&rig);
    }
}

TEST(what_people_say_is_done_is_concluded)
{
    static const char *const said[] = { "done with the tax report", "I'm done with tax report",
                                        "finished the tax report", "the tax report is done",
                                        "I finished the tax report" };

    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct rig rig;

        begin(&rig, t, said[i]);
        ASSERT_CONTAINS(rig_think(&rig), "resolve_task_reference {\"reference\":\"tax report\"}");
        rig_result(&rig, 0, TAX);
        ASSERT_CONTAINS(rig_think(&rig), "conclude_task_with_rollover");
        rig_end(&rig);
    }
}

TEST(what_is_due_is_asked_for_by_its_day)
{
    ASSERT_CONTAINS(ask(t, "what is due today?"), "{\"dueTo\":\"2026-11-15\"}");
    ASSERT_CONTAINS(ask(t, "what's due tomorrow"), "{\"dueTo\":\"2026-11-16\"}");
    ASSERT_CONTAINS(ask(t, "which tasks are due this week"), "{\"dueTo\":\"2026-11-22\"}");
    ASSERT_TEXT(ask(t, "list my tasks"), "list_tasks_in_scope {}");
}
