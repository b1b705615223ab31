/* What tools were asked and answered, in words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <time.h>

#include "desk_rig.h"

static const char *words(struct test *t, const char *tool, const char *output)
{
    AUTO_JSON value = NULL;
    AUTO_BUF out = BUF_INIT(64u << 10);

    ASSERT_OK(json_parse(str_from(output), &value, &t->err));
    ASSERT(desk_say_answer(str_from(tool), value, &out));
    return arena_text(&t->arena, buf_text(&out));
}

static const char *asked(struct test *t, const char *tool, const char *input)
{
    AUTO_JSON value = NULL;
    AUTO_BUF out = BUF_INIT(64u << 10);

    ASSERT_OK(json_parse(str_from(input), &value, &t->err));
    ASSERT(desk_say_asked(str_from(tool), value, &out));
    return arena_text(&t->arena, buf_text(&out));
}

DB_TEST(time_is_said_with_the_task_and_how_long_it_took)
{
    AUTO_OFFICE office;

    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    office_open(&office, t);
    office_fill(&office);
    ASSERT_OK(office_run(&office, "create_retrospective_time_entry", "op",
                         "{'taskId':'legs','startedAt':'2026-02-17T16:00:00+01:00',"
                         "'endedAt':'2026-02-17T17:05:00+01:00','description':'squats'}"));
    ASSERT_TEXT(office_out(&office, "/taskTitles/legs"), "\"Leg day\"");
    ASSERT_TEXT(words(t, "create_retrospective_time_entry", office.result.output.p),
                "Leg day, Tue 17 Feb 2026 16:00–17:05, 1 h 5 min: squats\n");
}

/* Ids say nothing to a model: what a list leads to is named beside it. */
DB_TEST(lists_come_with_the_names_of_what_they_belong_to)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    ASSERT_OK(office_run(&office, "list_tasks_in_scope", "op", "{}"));
    ASSERT_CONTAINS(office.result.output.p, "\"categoryNames\":{\"gym\":");
    rig_add(&office.rig, RECORD_DAY_PLAN_BLOCK,
            "{'planId':'dayplan-2026-02-18','categoryId':'gym','taskId':'legs',"
            "'startTime':'2026-02-18T21:00:00+01:00','endTime':'2026-02-18T21:30:00+01:00'}");
    ASSERT_OK(office_run(&office, "get_or_create_day_plan", "op2", "{'planDate':'2026-02-18'}"));
    ASSERT_TEXT(office_out(&office, "/taskTitles/legs"), "\"Leg day\"");
}

TEST(the_title_of_a_task_elsewhere_is_not_told_with_a_block)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    rig_add(&office.rig, RECORD_DAY_PLAN_BLOCK,
            "{'planId':'dayplan-2026-02-18','categoryId':'gym','taskId':'taxes',"
            "'startTime':'2026-02-18T21:00:00+01:00','endTime':'2026-02-18T21:30:00+01:00'}");
    ASSERT_OK(office_run(&office, "get_or_create_day_plan", "op", "{'planDate':'2026-02-18'}"));
    ASSERT(str_find(office.result.output, STR("secret")) < 0);
}

TEST(each_form_of_an_answer_has_its_words)
{
    static const struct {
        const char *tool, *output, *words;
    } cases[] = {
        { "list_allowed_categories", "{\"categories\":[{\"id\":\"c\",\"name\":\"Gym\"}]}",
          "Gym\n" },
        { "list_tasks_in_scope",
          "{\"tasks\":[{\"id\":\"a\",\"title\":\"Legs\",\"status\":\"OPEN\",\"priority\":\"P1\","
          "\"due\":\"2026-02-18\",\"estimateMinutes\":90}],\"next\":\"xyz\"}",
          "Legs, OPEN, P1, due 2026-02-18, estimate 1 h 30 min\n" },
        { "list_tasks_in_scope", "{\"tasks\":[]}", "no tasks\n" },
        { "resolve_task_reference",
          "{\"candidates\":[{\"taskId\":\"a\",\"title\":\"Legs\",\"status\":\"OPEN\",\"score\":1},"
          "{\"taskId\":\"b\",\"title\":\"Arms\",\"status\":\"OPEN\",\"score\":1}],"
          "\"ambiguous\":true}",
          "Legs, OPEN\nArms, OPEN\nnot clear which is meant\n" },
        { "resolve_task_reference", "{\"candidates\":[],\"ambiguous\":true,\"outOfReach\":true}",
          "no candidates\nthere is one, in none of its categories\n" },
        { "read_task",
          "{\"task\":{\"id\":\"a\",\"title\":\"Legs\",\"status\":\"OPEN\"},\"labels\":[],"
          "\"checklists\":[{\"id\":\"l\",\"title\":\"Gear\",\"items\":[{\"id\":\"i\",\"title\":"
          "\"Shoes\",\"checked\":true}]}],\"timeMinutes\":5,\"links\":[]}",
          "Legs, OPEN\nGear\n[x] Shoes\ntime: 5 min\n" },
        { "move_checklist_items_to_new_task",
          "{\"task\":{\"id\":\"a\",\"title\":\"Legs\"},\"moved\":2,\"preview\":true}",
          "Legs\nmoved: 2\nonly looked at: nothing was changed\n" },
        { "get_ratings_summary",
          "{\"summaries\":[{\"dimension\":\"focus\",\"count\":3,\"mean\":4.33,\"lowest\":4,"
          "\"highest\":5}]}",
          "focus 4.33 of 3 ratings, 4 to 5\n" },
        { "create_or_update_rating",
          "{\"rating\":{\"id\":\"r\",\"targetType\":\"task\",\"targetId\":\"a\",\"dimension\":"
          "\"focus\",\"value\":4,\"ratedAt\":\"2026-02-18T09:00:00Z\"}}",
          "focus 4 (task)\n" },
        { "set_alarm", "{\"name\":\"tea\",\"set\":false,\"cleared\":true}",
          "name: tea\ncleared\n" },
        { "write_report", "{\"reportId\":\"x\",\"changed\":true}", "changed\n" },
        { "write_report", "{\"reportId\":\"x\",\"changed\":false}", "it was so already\n" },
        /* Of another shape than promised. */
        { "list_tasks_in_scope", "{\"tasks\":[7,null,{\"title\":3}]}",
          "tasks: 7; null; title 3\n" },
        { "read_task", "{\"task\":{\"title\":\"a\\nb\"}}", "a b\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(words(t, cases[i].tool, cases[i].output), cases[i].words);
}

TEST(what_was_asked_is_said_without_ids)
{
    ASSERT_TEXT(asked(t, "start_task_timer", "{\"taskId\":\"a\",\"description\":\"x\"}"),
                "description x");
    ASSERT_TEXT(asked(t, "set_alarm", "{\"name\":\"tea\",\"minutes\":65}"), "name tea, 1 h 5 min");
    ASSERT_TEXT(asked(t, "read_task", "{\"taskId\":\"a\"}"), "");
}

TEST(answers_of_other_tools_are_not_the_desks)
{
    AUTO_JSON output = json_object_new_object();
    AUTO_BUF out = BUF_INIT(1024);

    ASSERT(!desk_say_answer(STR("bash"), output, &out));
    ASSERT(!desk_say_asked(STR("bash"), output, &out));
    ASSERT(!desk_say_answer(STR("nope"), output, &out));
    ASSERT(!desk_say_answer(STR("read_task"), NULL, &out));
}
