/* What JSON may say about a record. SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/alloc.h"
#include "base/json.h"
#include "harness/test.h"
#include "journal/record.h"

static struct json_object *parse(struct test *t, const char *text)
{
    char *json = arena_text(&t->arena, text);
    struct json_object *value = NULL;

    for (char *at = json; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    ASSERT_OK(json_parse(str_from(json), &value, &t->err));
    return value;
}

static int apply(struct test *t, struct record *record, const char *text)
{
    AUTO_JSON json = parse(t, text);

    t->err = ERR_INIT;
    return record_apply(record, json, &t->arena, &t->err);
}

TEST(fields_of_a_task_are_read_by_their_kinds)
{
    struct record task = { .type = RECORD_TASK };

    ASSERT_OK(apply(t, &task,
                    "{'title':'  Fix fence ','notes':'a\\nb','status':'BLOCKED','priority':'P0',"
                    "'estimateMinutes':120,'due':'2028-02-29T16:05','language':'de-AT',"
                    "'categoryId':'home'}"));
    ASSERT_STR(record_str(&task, "title"), "Fix fence");
    ASSERT_STR(record_str(&task, "notes"), "a\nb");
    ASSERT_STR(record_str(&task, "status"), "BLOCKED");
    ASSERT_STR(record_str(&task, "priority"), "P0");
    ASSERT_EQ(record_i64(&task, "priority"), 0);
    ASSERT_EQ(record_i64(&task, "estimateMinutes"), 120);
    ASSERT_STR(record_str(&task, "due"), "2028-02-29T16:05");
    ASSERT_STR(record_str(&task, "language"), "de-AT");
    ASSERT_STR(record_str(&task, "categoryId"), "home");
    ASSERT(!record_get(&task, "closedAt")->set);
}

TEST(null_and_empty_text_take_a_value_away_where_that_is_allowed)
{
    struct record task = { .type = RECORD_TASK };

    ASSERT_OK(apply(t, &task, "{'notes':'x','due':'2026-02-18','priority':3,'language':'en'}"));
    ASSERT_STR(record_str(&task, "priority"), "P3");
    ASSERT_OK(apply(t, &task, "{'notes':'','due':null,'language':' '}"));
    ASSERT(!record_get(&task, "notes")->set);
    ASSERT(!record_get(&task, "due")->set);
    ASSERT(!record_get(&task, "language")->set);
    ASSERT_FAILS(apply(t, &task, "{'priority':null}"), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "/priority: may not be null");
}

TEST(numbers_times_and_lists_are_read)
{
    struct record entry = { .type = RECORD_ENTRY }, plan = { .type = RECORD_DAY_PLAN };

    ASSERT_OK(apply(t, &entry,
                    "{'kind':'measurement','subtype':'weight','value':81.5,'unit':'kg',"
                    "'at':'2026-02-18T10:00:00+01:00','durationMs':6e4}"));
    ASSERT(record_get(&entry, "value")->f == 81.5);
    ASSERT_EQ(record_i64(&entry, "at"), INT64_C(1771405200000));
    ASSERT_EQ(record_i64(&entry, "durationMs"), 60000);
    ASSERT_OK(apply(t, &plan, "{'planDate':'2026-02-18','pinnedTaskIds':['b','a','b']}"));
    ASSERT_STR(record_str(&plan, "pinnedTaskIds"), "[\"b\",\"a\"]");
    ASSERT_OK(apply(t, &plan, "{'pinnedTaskIds':[]}"));
    ASSERT(!record_get(&plan, "pinnedTaskIds")->set);
}

TEST(what_is_wrong_is_said_with_its_place_and_what_is_allowed)
{
    static const struct {
        enum record_type type;
        const char *json, *message;
    } cases[] = {
        { RECORD_TASK, "{'due':'31.13.'}",
          "/due: \"31.13.\" is not a day; write YYYY-MM-DD or YYYY-MM-DDTHH:MM" },
        { RECORD_TASK, "{'due':'2026-02-29'}",
          "/due: \"2026-02-29\" is not a day; write YYYY-MM-DD or YYYY-MM-DDTHH:MM" },
        { RECORD_TASK, "{'due':'2026-02-18T24:00'}",
          "/due: \"2026-02-18T24:00\" is not a day; write YYYY-MM-DD or YYYY-MM-DDTHH:MM" },
        { RECORD_TASK, "{'due':17}",
          "/due: 17 is not a day; write YYYY-MM-DD or YYYY-MM-DDTHH:MM" },
        { RECORD_TASK, "{'due':'9999-12-31'}",
          "/due: \"9999-12-31\" is not a day; write YYYY-MM-DD or YYYY-MM-DDTHH:MM" },
        { RECORD_DAY_PLAN, "{'planDate':'2026-02-18T10:00'}",
          "/planDate: \"2026-02-18T10:00\" is not a day; write YYYY-MM-DD" },
        { RECORD_TASK, "{'titel':'x'}",
          "/titel: a task has no such field; did you mean \"title\"?" },
        { RECORD_LABEL, "{'due':'x'}", "/due: a label has no such field; it has name, color" },
        { RECORD_TASK, "{'id':'x'}", "/id: the journal sets this itself" },
        { RECORD_TASK, "{'closedAt':null}", "/closedAt: the journal sets this itself" },
        { RECORD_TASK, "{'title':'  '}", "/title: is empty; it needs a text" },
        { RECORD_TASK, "{'title':['x']}", "/title: [\"x\"] is not a text" },
        { RECORD_TASK, "{'title':'a\\nb'}",
          "/title: \"a\\nb\" is not text on one line without control characters" },
        { RECORD_TASK, "{'notes':'a\\u0000b'}",
          "/notes: \"a\\u0000b\" is not text without NUL characters" },
        { RECORD_TASK, "{'status':'done'}",
          "/status: \"done\" is not one of OPEN, GROOMED, IN_PROGRESS, BLOCKED, ON_HOLD, DONE, "
          "REJECTED" },
        { RECORD_TASK, "{'priority':4}", "/priority: 4 is not one of P0, P1, P2, P3" },
        { RECORD_TASK, "{'status':1}",
          "/status: 1 is not one of OPEN, GROOMED, IN_PROGRESS, BLOCKED, ON_HOLD, DONE, "
          "REJECTED" },
        { RECORD_TASK, "{'estimateMinutes':0}",
          "/estimateMinutes: 0 is not a whole number from 1 to 100000" },
        { RECORD_TASK, "{'estimateMinutes':1.5}",
          "/estimateMinutes: 1.5 is not a whole number from 1 to 100000" },
        { RECORD_TASK, "{'estimateMinutes':'2h'}",
          "/estimateMinutes: \"2h\" is not a whole number from 1 to 100000" },
        { RECORD_TASK, "{'language':'e'}",
          "/language: \"e\" is not a language; write a BCP 47 tag such as en or de-AT" },
        { RECORD_TASK, "{'language':'de_AT'}",
          "/language: \"de_AT\" is not a language; write a BCP 47 tag such as en or de-AT" },
        { RECORD_TASK, "{'categoryId':'a|b'}",
          "/categoryId: \"a|b\" is not an id; one has 1 to 100 letters, digits, '-', '_' and "
          "'.'" },
        { RECORD_CATEGORY, "{'color':'red'}", "/color: \"red\" is not a color; write #RRGGBB" },
        { RECORD_CATEGORY, "{'color':'#12345g'}",
          "/color: \"#12345g\" is not a color; write #RRGGBB" },
        { RECORD_CATEGORY, "{'archived':1}", "/archived: 1 is not true or false" },
        { RECORD_ENTRY, "{'value':'12'}", "/value: \"12\" is not a number" },
        { RECORD_ENTRY, "{'at':'yesterday'}",
          "/at: \"yesterday\" is not a time; write 2026-02-18T16:00:00Z (RFC 3339, after 1970)" },
        { RECORD_ENTRY, "{'subtype':'a|b'}",
          "/subtype: \"a|b\" is not a short word of at most 200 bytes without '|'" },
        { RECORD_DAY_PLAN, "{'pinnedTaskIds':'x'}", "/pinnedTaskIds: \"x\" is not a list of ids" },
        { RECORD_DAY_PLAN, "{'pinnedTaskIds':[1]}",
          "/pinnedTaskIds: [1] is not a list of ids; one has 1 to 100 letters, digits, '-', '_' "
          "and '.'" },
        { RECORD_ATTACHMENT, "{'contentType':'text'}",
          "/contentType: \"text\" is not a content type; write TYPE/SUBTYPE" },
        { RECORD_RATING, "{'value':6}", "/value: 6 is not a whole number from 1 to 5" },
        { RECORD_TASK, "[]", "fields of a task are an object, not array" },
        { RECORD_TASK, "null", "fields of a task are an object, not null" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct record record = { .type = cases[i].type };

        ASSERT_FAILS(apply(t, &record, cases[i].json), ERR_SCHEMA_VIOLATION);
        ASSERT_TEXT(err_message(&t->err, 0), cases[i].message);
    }
}

TEST(a_refused_object_leaves_the_record_as_it_was)
{
    struct record task = { .type = RECORD_TASK };

    ASSERT_OK(apply(t, &task, "{'title':'before'}"));
    ASSERT_FAILS(apply(t, &task, "{'title':'after','priority':'P9'}"), ERR_SCHEMA_VIOLATION);
    ASSERT_STR(record_str(&task, "title"), "before");
}

TEST(sizes_are_bounded_in_characters_and_bytes)
{
    struct record task = { .type = RECORD_TASK };
    AUTO_BUF json = BUF_INIT(1 << 20);

    buf_add_text(&json, "{'title':'");
    for (int i = 0; i < 500; i++)
        buf_add_text(&json, "ü");
    buf_add_text(&json, "'}");
    ASSERT_OK(apply(t, &task, buf_text(&json)));
    buf_clear(&json);
    buf_add_text(&json, "{'title':'");
    for (int i = 0; i < 501; i++)
        buf_add_text(&json, "ü");
    buf_add_text(&json, "'}");
    ASSERT_FAILS(apply(t, &task, buf_text(&json)), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "/title: has 501 characters; at most 500 are allowed");
    buf_clear(&json);
    buf_add_text(&json, "{'notes':'");
    for (int i = 0; i < 100 * 1024 + 1; i++)
        buf_add_char(&json, 'x');
    buf_add_text(&json, "'}");
    ASSERT_FAILS(apply(t, &task, buf_text(&json)), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "/notes: has 102401 bytes; at most 102400 are allowed");
}

TEST(what_is_given_once_stays_in_a_stored_record)
{
    struct record plan = { .type = RECORD_DAY_PLAN };

    ASSERT_OK(apply(t, &plan, "{'planDate':'2026-02-18'}"));
    plan.n = 1;
    ASSERT_OK(apply(t, &plan, "{'planDate':'2026-02-18','note':'x'}"));
    ASSERT_FAILS(apply(t, &plan, "{'planDate':'2026-02-19'}"), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "/planDate: is given once and can't be changed");
}

TEST(hostile_names_and_values_are_shown_cut)
{
    struct record task = { .type = RECORD_TASK };
    AUTO_BUF json = BUF_INIT(1 << 20);

    buf_add_text(&json, "{'");
    for (int i = 0; i < 3000; i++)
        buf_add_text(&json, "ä");
    buf_add_text(&json, "':1}");
    ASSERT_FAILS(apply(t, &task, buf_text(&json)), ERR_SCHEMA_VIOLATION);
    ASSERT(strlen(err_message(&t->err, 0)) < 400);
    buf_clear(&json);
    buf_add_text(&json, "{'due':'");
    for (int i = 0; i < 3000; i++)
        buf_add_text(&json, "ä");
    buf_add_text(&json, "'}");
    ASSERT_FAILS(apply(t, &task, buf_text(&json)), ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(err_message(&t->err, 0), "... is not a day");
}

TEST(a_record_is_written_with_what_it_has)
{
    struct record task = { .type = RECORD_TASK,
                           .id = STR("t1"),
                           .created_at = INT64_C(1771405200000),
                           .updated_at = INT64_C(1771405200001) };
    AUTO_BUF out = BUF_INIT(10000);
    struct json_writer w = JSON_WRITER(&out);

    ASSERT_OK(apply(t, &task, "{'title':'Say \\\"hi\\\"','priority':'P1','estimateMinutes':5}"));
    record_write(&w, &task);
    ASSERT_OK(json_write_end(&w));
    ASSERT_TEXT(buf_text(&out), "{\"id\":\"t1\",\"title\":\"Say \\\"hi\\\"\",\"priority\":\"P1\","
                                "\"estimateMinutes\":5,\"createdAt\":\"2026-02-18T09:00:00.000Z\","
                                "\"updatedAt\":\"2026-02-18T09:00:00.001Z\"}");
}

TEST(every_kind_of_value_is_written_so_that_it_can_be_read_again)
{
    struct record entry = { .type = RECORD_ENTRY, .id = STR("e") }, again = entry;
    AUTO_BUF out = BUF_INIT(10000);
    AUTO_JSON json = NULL;
    struct json_writer w = JSON_WRITER(&out);

    ASSERT_OK(apply(t, &entry,
                    "{'kind':'workout','subtype':'running','categoryId':'gym','title':'Run',"
                    "'body':'x','at':'2026-02-18T09:00:00.5Z','durationMs':3,'value':2.25,"
                    "'unit':'km'}"));
    record_write(&w, &entry);
    ASSERT_OK(json_parse(buf_str(&out), &json, &t->err));
    json_object_object_del(json, "id");
    ASSERT_OK(record_apply(&again, json, &t->arena, &t->err));
    for (size_t i = 0; i < RECORD_FIELDS_MAX; i++) {
        ASSERT_EQ(again.v[i].set, entry.v[i].set);
        ASSERT_EQ(again.v[i].i, entry.v[i].i);
        ASSERT(again.v[i].f == entry.v[i].f);
        ASSERT(str_eq(again.v[i].s, entry.v[i].s));
    }
}

TEST(days_are_those_of_the_calendar)
{
    static const struct {
        const char *day;
        bool plain, clock;
    } cases[] = {
        { "2026-02-18", true, true },
        { "2026-02-29", false, false },
        { "2024-02-29", true, true },
        { "2026-2-18", false, false },
        { "2026-02-18T23:59", false, true },
        { "2026-02-18T23:60", false, false },
        { "2026-02-18 23:59", false, false },
        { "0000-01-01", false, false },
        { "2026-00-10", false, false },
        { "2026-13-10", false, false },
        { "2026-01-00", false, false },
        { "", false, false },
        { "2026-02-18T23:59:00", false, false },
        { "2026-02-1x", false, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_EQ(record_day_valid(str_from(cases[i].day), false), cases[i].plain);
        ASSERT_EQ(record_day_valid(str_from(cases[i].day), true), cases[i].clock);
    }
}

TEST(ids_are_short_and_plain)
{
    char longest[RECORD_ID_MAX + 2];

    memset(longest, 'a', sizeof(longest));
    ASSERT(record_id_valid(str_of(longest, RECORD_ID_MAX)));
    ASSERT(!record_id_valid(str_of(longest, RECORD_ID_MAX + 1)));
    ASSERT(record_id_valid(STR("dayplan-2026-02-18")));
    ASSERT(record_id_valid(STR("a_B.9")));
    ASSERT(!record_id_valid(STR("")));
    ASSERT(!record_id_valid(STR("a b")));
    ASSERT(!record_id_valid(STR("a:b")));
    ASSERT(!record_id_valid(STR("ä")));
    ASSERT(!record_id_valid(STR("../x")));
}
