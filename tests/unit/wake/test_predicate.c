/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "harness/test.h"
#include "record_of.h"
#include "wake/predicate.h"

static bool holds(struct test *t, const char *text, const struct record *record)
{
    AUTO(predicate) predicate = NULL;

    if (predicate_parse(str_from(text), &predicate, &t->err) < 0)
        FAIL("%s: %s", text, test_err_text(t));
    return predicate_matches(predicate, record, STR_NONE);
}

/* ---- what it says ---- */

static const char gym_task[] =
    "{\"title\":\"Fix "
    "fence\",\"status\":\"IN_PROGRESS\",\"priority\":\"P1\",\"estimateMinutes\":90,"
    "\"due\":\"2026-12-01T09:30\",\"categoryId\":\"gym\"}";
static const char bare_task[] =
    "{\"title\":\"Buy \\\"milk\\\"\",\"status\":\"OPEN\",\"priority\":\"P3\"}";
static const char yoga[] = "{\"kind\":\"workout\",\"subtype\":\"yoga.hatha\",\"at\":"
                           "\"2026-11-16T06:00:00Z\",\"durationMs\":2700000,\"value\":70.5}";

static const struct {
    const char *predicate;
    bool gym, bare, yoga;
} table[] = {
    { "", true, true, true },
    { "  \t\n ", true, true, true },
    { "task.categoryId == \"gym\"", true, false, false },
    { "task.categoryId != \"gym\"", false, false, false }, /* null is not unequal */
    { "not task.categoryId == \"gym\"", false, true, true },
    { "task.categoryId == null", false, true, false },
    { "task.categoryId != null", true, false, false },
    { "not task.categoryId == null", true, false, true },
    { "task.categoryId in [\"home\", \"gym\"]", true, false, false },
    { "task.categoryId in [\"home\"]", false, false, false },
    { "task.categoryId == \"Sport\"@\"gym\"", true, false, false }, /* the id counts */
    { "task.categoryId == \"gym\"@\"home\"", false, false, false },
    { "task.categoryId in [\"a@b\", \"x\"@\"gym\"]", true, false, false },
    { "task.categoryId prefix \"gy\"", true, false, false },
    { "task.categoryId prefix \"gymnastics\"", false, false, false },
    { "task.title == \"Buy \\\"milk\\\"\"", false, true, false },
    { "task.title == \"Buy \\u0022milk\\u0022\"", false, true, false },
    { "task.title prefix \"Fix\"", true, false, false },
    { "task.title prefix \"fix\"", false, false, false },
    { "task.status == \"OPEN\"", false, true, false },
    { "task.status in [\"IN_PROGRESS\", \"BLOCKED\"]", true, false, false },
    { "task.priority <= 1", true, false, false },
    { "task.priority <= \"P1\"", true, false, false },
    { "task.priority == \"P3\"", false, true, false },
    { "task.priority in [0, \"P3\"]", false, true, false },
    { "task.priority > 1", false, true, false },
    { "task.priority < 1", false, false, false },
    { "task.priority >= 1", true, true, false },
    { "task.priority != 1", false, true, false },
    { "task.estimateMinutes > 60", true, false, false },
    { "task.estimateMinutes <= 60", false, false, false },
    { "task.estimateMinutes == null", false, true, false },
    { "task.due < \"2026-12-02\"", true, false, false },
    { "task.due == \"2026-12-01\"", true, false, false }, /* a day is all of it */
    { "task.due <= \"2026-12-01\"", true, false, false },
    { "task.due > \"2026-12-01\"", false, false, false },
    { "task.due > \"2026-12-01T09:00\"", true, false, false },
    { "task.due == \"2026-12-01T09:30\"", true, false, false },
    { "task.due >= \"2026-12-01T09:31\"", false, false, false },
    { "task.due in [\"2026-11-30\", \"2026-12-01\"]", true, false, false },
    { "entry.kind in [\"workout\", \"measurement\"] and not entry.subtype prefix \"run\"", false,
      false, true },
    { "entry.kind == \"workout\" and not entry.subtype prefix \"yoga\"", false, false, false },
    { "entry.value > 70", false, false, true },
    { "entry.value > 70.5", false, false, false },
    { "entry.value >= 7.05e1", false, false, true },
    { "entry.value in [1, 70.5]", false, false, true },
    { "entry.at < \"2026-11-16T08:00:00+01:00\"", false, false, true },
    { "entry.at == \"2026-11-16T07:00:00+01:00\"", false, false, true },
    { "entry.at > \"2026-11-16T06:00:00Z\"", false, false, false },
    { "entry.durationMs >= 1800000", false, false, true },
    { "task.id == \"r1\" or entry.id == \"r1\"", true, true, true },
    { "task.deletedAt == null", true, true, false },
    { "task.createdAt < \"1970-01-01T00:00:01.500Z\"", true, true, false },
    { "task.updatedAt < \"1970-01-01T00:00:01.500Z\"", false, false, false },
    /* and binds tighter than or, not tighter than both */
    { "task.priority == 1 or task.priority == 3 and task.status == \"DONE\"", true, false, false },
    { "(task.priority == 1 or task.priority == 3) and task.status == \"OPEN\"", false, true,
      false },
    { "not task.priority == 1 and task.status == \"OPEN\"", false, true, false },
    { "not (task.priority == 1 and task.status == \"OPEN\")", true, true, true },
    { "not not task.priority == 1", true, false, false },
    { "((((task.priority==1))))", true, false, false },
    { "task.priority == 1 and task.due < \"2026-12-02\" and task.estimateMinutes == 90 and "
      "task.categoryId == \"gym\"",
      true, false, false },
    { "task.status == \"DONE\" or entry.kind == \"note\" or task.title == \"x\"", false, false,
      false },
    { "checklist.title == \"x\" or rating.value == 3 or dayPlan.pinnedTaskIds == null", false,
      false, false },
};

TEST(predicates_say_what_they_say)
{
    struct record gym = record_of(t, RECORD_TASK, gym_task);
    struct record bare = record_of(t, RECORD_TASK, bare_task);
    struct record entry = record_of(t, RECORD_ENTRY, yoga);

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (holds(t, table[i].predicate, &gym) != table[i].gym)
            FAIL("%s: wrong about the task in the gym", table[i].predicate);
        if (holds(t, table[i].predicate, &bare) != table[i].bare)
            FAIL("%s: wrong about the bare task", table[i].predicate);
        if (holds(t, table[i].predicate, &entry) != table[i].yoga)
            FAIL("%s: wrong about the workout", table[i].predicate);
    }
}

TEST(a_day_without_a_clock_counts_as_its_beginning)
{
    struct record task = record_of(t, RECORD_TASK, "{\"title\":\"x\",\"due\":\"2026-12-01\"}");

    ASSERT(holds(t, "task.due == \"2026-12-01\"", &task));
    ASSERT(holds(t, "task.due == \"2026-12-01T00:00\"", &task));
    ASSERT(holds(t, "task.due < \"2026-12-01T00:01\"", &task));
    ASSERT(!holds(t, "task.due < \"2026-12-01\"", &task));
    ASSERT(holds(t, "task.due > \"2026-11-30T23:59\"", &task));
}

TEST(what_was_deleted_can_be_told)
{
    struct record task = record_of(t, RECORD_TASK, bare_task);

    task.deleted_at = 1763272800000;
    ASSERT(holds(t, "task.deletedAt != null", &task));
    ASSERT(holds(t, "task.deletedAt > \"2025-01-01T00:00:00Z\"", &task));
    ASSERT(!holds(t, "task.deletedAt == null", &task));
}

TEST(booleans_compare_with_booleans)
{
    struct record item = record_of(t, RECORD_CHECKLIST_ITEM,
                                   "{\"checklistId\":\"c\",\"title\":\"x\",\"checked\":true}");

    ASSERT(holds(t, "checklistItem.checked == true", &item));
    ASSERT(!holds(t, "checklistItem.checked == false", &item));
    ASSERT(holds(t, "checklistItem.checked != false", &item));
    ASSERT(holds(t, "checklistItem.checked in [true]", &item));
}

/* ---- what is refused ---- */

static const struct {
    const char *predicate, *why;
} refused[] = {
    { "task.priority == \"high\"", "column 18: task.priority is a number from 0 to 3 or one of P0, "
                                   "P1, P2, P3, \"high\" is text" },
    { "task.priority <= 4", "column 18: task.priority is a number from 0 to 3 or one of P0, P1, "
                            "P2, P3, 4 is outside" },
    { "task.priority == 1.5", "1.5 is outside" },
    { "task.priority == true", "column 18: " },
    { "task.title == 3", "column 15: task.title is a text, 3 is a number" },
    { "task.title == true", "column 15: task.title is a text, true is not" },
    { "task.title < \"x\"",
      "column 12: task.title is a text: \"<\" does not compare it; ==, !=, in "
      "and prefix do" },
    { "task.title prefix \"\"", "column 19: every text begins with \"\"" },
    { "task.status prefix \"OP\"", "column 13: task.status is one of OPEN" },
    { "task.status == \"OPNE\"", "\"OPNE\" is not; did you mean \"OPEN\"?" },
    { "task.status == \"flying\"", "column 16: task.status is one of OPEN, GROOMED, IN_PROGRESS, "
                                   "BLOCKED, ON_HOLD, DONE, REJECTED, \"flying\" is not" },
    { "task.status < \"DONE\"", "does not compare it; ==, != and in do" },
    { "task.status == 3", "3 is a number" },
    { "task.estimateMinutes == 0",
      "task.estimateMinutes is a number from 1 to 100000, 0 is outside" },
    { "task.estimateMinutes == 1.5", "1.5 is not" },
    { "task.estimateMinutes == \"1\"", "\"1\" is text" },
    { "task.due == \"2026-02-30\"", "column 13: task.due is a day such as \"2026-12-01\" or "
                                    "\"2026-12-01T09:30\", \"2026-02-30\" is not" },
    { "task.due == \"2026-02-03T24:00\"", "is not" },
    { "task.due == \"tomorrow\"", "\"tomorrow\" is not" },
    { "task.due == \"2026-02-03T09:30:00Z\"", "is not" },
    { "dayPlan.planDate == \"2026-02-03T09:30\"", "is a day such as \"2026-12-01\", " },
    { "entry.at > \"2026-02-03\"", "column 12: entry.at is a moment such as "
                                   "\"2026-12-01T08:00:00Z\", \"2026-02-03\" is not" },
    { "entry.at > 5", "5 is a number" },
    { "entry.value == \"7\"", "entry.value is a number, \"7\" is text" },
    { "entry.value == 1e999", "column 16: " },
    { "checklistItem.checked == 1", "checklistItem.checked is true or false, 1 is a number" },
    { "checklistItem.checked > false", "does not compare it" },
    { "task.categoryId == \"\"", "is the id of category, \"\" is empty; == null asks for none" },
    { "task.categoryId == 7", "7 is a number" },
    { "rating.targetId == 7", "is the id of a record" },
    { "task.categoryId in [\"a\", null]", "column 26: null is compared with == and != alone" },
    { "task.estimateMinutes < null", "column 24: null is compared" },
    { "dayPlan.pinnedTaskIds == \"x\"",
      "column 23: dayPlan.pinnedTaskIds is a list of ids of task: \"==\" does "
      "not compare it; in, == null and != null do" },
    { "task.labelIds prefix \"x\"", "column 15: task.labelIds is a list of ids of label" },
    { "task.labelIds in [\"\"]",
      "column 19: task.labelIds is a list of ids of label, \"\" is empty" },
    { "task.labelIds in [7]", "7 is a number" },
    { "task.labels in [\"x\"]", "column 6: task has no field \"labels\"" },
    { "entry.labelIds in [\"x\"]", "column 7: entry has no field \"labelIds\"" },
    { "task.prioriti == 1", "column 6: task has no field \"prioriti\"; did you mean priority?" },
    { "task.zebra == 1", "task has no field \"zebra\"; there are title, notes, status" },
    { "tsk.title == \"x\"", "column 1: there are no records \"tsk\"; did you mean task?" },
    { "spaceship.title == \"x\"", "there are no records \"spaceship\"; there are category, label" },
    { "task", "column 5: it ends, but a dot and the name of a field is needed" },
    { "task title", "column 5: \" title\" stands where a dot" },
    { "task.", "column 6: it ends, but the name of a field is needed" },
    { "task .title == \"x\"", "column 5: " },
    { "task.title", "column 11: it ends, but a comparison (== != < <= > >= in prefix) is needed" },
    { "task.title = \"x\"", "column 12: \"= \"x\"\" stands where a comparison" },
    { "task.title ==", "column 14: it ends, but a text in double quotes" },
    { "task.title == 'x'", "column 15: \"'x'\" stands where a text in double quotes" },
    { "task.title == x", "column 15: \"x\" stands where a text in double quotes" },
    { "task.title == \"x", "column 15: the text does not end" },
    { "task.title == \"x\\\"", "column 15: the text does not end" },
    { "task.title == \"\\x\"", "column 15: " },
    { "task.title == \"\\ud800\"", "column 15: " },
    { "task.title == \"a\nb\"", "column 15: " },
    { "task.title in \"x\"", "column 15: \"\"x\"\" stands where [ and a list of values" },
    { "task.title in []", "column 16: \"]\" stands where a text" },
    { "task.title in [\"x\"", "column 19: it ends, but , or ] is needed" },
    { "task.title in [\"x\",]", "column 20: \"]\" stands where" },
    { "task.title in [\"x\" \"y\"]", "column 20: " },
    { "(task.title == \"x\"", "it ends, but and, or, or ) is needed" },
    { "task.title == \"x\")", "column 18: \")\" stands where and, or, or the end is allowed" },
    { "task.title == \"x\" task.title == \"y\"", "column 19: " },
    { "and task.title == \"x\"", "column 1: there are no records \"and\"" },
    { "task.title == \"x\" and", "column 22: it ends, but a field such as task.status, not or (" },
    { "not", "column 4: it ends, but a field" },
    { "()", "column 2: \")\" stands where a field" },
    { "\"x\" == task.title", "column 1: " },
    { "task.priority==1and task.status==\"OPEN\"", "column 16: \"1and task.status\" stands where" },
    { "task.estimateMinutes == +1", "column 25: " },
    { "task.estimateMinutes == 01", "column 25: " },
    { "task.estimateMinutes == 0x10", "column 25: " },
    { "task.estimateMinutes == 99999999999999999999", "column 25: " },
    { "task.estimateMinutes == 1 and task.title == 3", "column 45: task.title is a text" },
    { "task.title == \"Größe\" and task.title == 3", "column 41: task.title is a text" },
    { "task.title == \"ä\" ü", "column 19: \"ü\" stands" },
};

TEST(what_makes_no_sense_is_refused_with_its_column)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        AUTO(predicate) predicate = NULL;

        t->err = ERR_INIT;
        ASSERT_FAILS(predicate_parse(str_from(refused[i].predicate), &predicate, &t->err),
                     ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), refused[i].why);
        ASSERT(str_starts(str_from(test_err_text(t)), STR("column ")));
        ASSERT(!predicate);
    }
}

TEST(a_list_is_asked_whether_it_holds_one_of_the_values)
{
    static const struct {
        const char *predicate, *labels;
        bool holds;
    } cases[] = {
        { "task.labelIds in [\"a\"]", "[\"a\"]", true },
        { "task.labelIds in [\"x\", \"b\"]", "[\"a\",\"b\"]", true },
        { "task.labelIds in [\"home\"@\"b\"]", "[\"a\",\"b\"]", true },
        { "task.labelIds in [\"b\"@\"home\"]", "[\"a\",\"b\"]", false },
        { "task.labelIds in [\"b\"] and task.labelIds in [\"c\"]", "[\"a\",\"b\"]", false },
        { "task.labelIds in [\"ab\"]", "[\"abc\",\"a\",\"b\"]", false },
        { "task.labelIds in [\"a\\\",\\\"b\"]", "[\"a\",\"b\"]", false }, /* no id */
        { "task.labelIds in [\"a\"]", "", false },
        { "not task.labelIds in [\"a\"]", "", true },
        { "task.labelIds == null", "", true },
        { "task.labelIds == null", "[\"a\"]", false },
        { "task.labelIds != null", "[\"a\"]", true },
    };
    const struct record task = { .type = RECORD_TASK, .id = STR("t") };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(predicate) predicate = NULL;

        ASSERT_OK(predicate_parse(str_from(cases[i].predicate), &predicate, &t->err));
        ASSERT(predicate_asks_labels(predicate));
        if (predicate_matches(predicate, &task, str_from(cases[i].labels)) != cases[i].holds)
            FAIL("%s of %s", cases[i].predicate, cases[i].labels);
    }
}

TEST(text_that_is_not_utf8_is_refused)
{
    AUTO(predicate) predicate = NULL;

    ASSERT_FAILS(predicate_parse(STR("task.title == \"\xff\""), &predicate, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "column 16: this is not UTF-8");
    t->err = ERR_INIT;
    ASSERT_FAILS(predicate_parse(STR("task.title == \"a\0b\""), &predicate, &t->err),
                 ERR_BAD_REQUEST);
}

/* ---- limits ---- */

static int parse_repeated(struct test *t, const char *before, const char *part, const char *after,
                          int times)
{
    AUTO(predicate) predicate = NULL;
    AUTO_BUF text = BUF_INIT(100000);

    t->err = ERR_INIT;
    buf_add_text(&text, before);
    for (int i = 0; i < times; i++)
        buf_add_text(&text, part);
    buf_add_text(&text, after);
    return predicate_parse(buf_str(&text), &predicate, &t->err);
}

TEST(depth_steps_values_and_bytes_are_bounded)
{
    ASSERT_OK(parse_repeated(t, "", "not ", "task.id == \"x\"", PREDICATE_DEPTH_MAX - 1));
    ASSERT_FAILS(parse_repeated(t, "", "not ", "task.id == \"x\"", PREDICATE_DEPTH_MAX),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "nested deeper than 32");
    ASSERT_FAILS(parse_repeated(t, "", "(", "", 4000), ERR_BAD_REQUEST);
    /* n comparisons and n - 1 jumps */
    ASSERT_OK(parse_repeated(t, "task.id==\"x\"", " or task.id==\"x\"", "", 127));
    ASSERT_FAILS(parse_repeated(t, "task.id==\"x\"", " or task.id==\"x\"", "", 128),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "more than 256 steps");
    ASSERT_OK(parse_repeated(t, "task.priority in [1", ",1", "]", 511));
    ASSERT_FAILS(parse_repeated(t, "task.priority in [1", ",1", "]", 512), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "more than 512 values");
    ASSERT_OK(parse_repeated(t, "", " ", "", PREDICATE_BYTES_MAX));
    ASSERT_FAILS(parse_repeated(t, "", " ", "", PREDICATE_BYTES_MAX + 1), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "4097 bytes; 4096 are allowed");
}

TEST(long_chains_leave_at_their_end)
{
    struct record task = record_of(t, RECORD_TASK, bare_task);
    AUTO_BUF any = BUF_INIT(8000);
    AUTO_BUF all = BUF_INIT(8000);

    for (int i = 0; i < 100; i++) {
        buf_printf(&any, "%stask.title == \"%d\"", i ? " or " : "", i);
        buf_printf(&all, "%stask.title != \"%d\"", i ? " and " : "", i);
    }
    ASSERT(!holds(t, buf_text(&any), &task));
    ASSERT(holds(t, buf_text(&all), &task));
    buf_add_text(&any, " or task.status == \"OPEN\"");
    buf_add_text(&all, " and task.status == \"DONE\"");
    ASSERT(holds(t, buf_text(&any), &task));
    ASSERT(!holds(t, buf_text(&all), &task));
}
