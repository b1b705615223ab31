/* What is exported as iCalendar, read by somebody else: libical, which knows nothing of this
 * program. SPDX-License-Identifier: MIT */
#include <libical/ical.h>

#include "base/rand.h"
#include "journal/export.h"
#include "journal/ics.h"
#include "journal/moves.h"
#include "rig.h"

static icalcomponent *exported(struct rig *rig)
{
    struct test *t = rig->t;
    AUTO_BUF out = BUF_INIT(1 << 22);
    icalcomponent *calendar;

    ASSERT_OK(export_ics(rig->journal, &out, &t->err));
    calendar = icalparser_parse_string(buf_text(&out));
    ASSERT(calendar != NULL);
    return calendar;
}

/* The component of a record; a test fails when there is none. */
static icalcomponent *find(struct test *t, icalcomponent *calendar, const char *id)
{
    const char *uid = arena_printf(&t->arena, "%s@dormouse", id);

    for (icalcomponent *at = icalcomponent_get_first_component(calendar, ICAL_ANY_COMPONENT); at;
         at = icalcomponent_get_next_component(calendar, ICAL_ANY_COMPONENT))
        if (strcmp(icalcomponent_get_uid(at), uid) == 0)
            return at;
    FAIL("nothing has the UID %s", uid);
}

static const char *extra(icalcomponent *component, const char *name)
{
    for (icalproperty *at = icalcomponent_get_first_property(component, ICAL_X_PROPERTY); at;
         at = icalcomponent_get_next_property(component, ICAL_X_PROPERTY))
        if (strcmp(icalproperty_get_x_name(at), name) == 0)
            return icalproperty_get_x(at);
    return "";
}

static void fill(struct rig *rig)
{
    struct test *t = rig->t;
    struct str labels[] = { STR("wet, cold"), STR("semi;colon") };

    rig_add_as(rig, RECORD_CATEGORY, "home", "{'name':'Home; sweet, home'}");
    rig_add_as(
        rig, RECORD_TASK, "fence",
        "{'title':'Fix, the; fence \\\\ now: ünï 🐭 and a title that is so long that it has to "
        "be folded more than once because it goes on','categoryId':'home',"
        "'due':'2026-03-01','priority':'P0','notes':'two\\nlines, \\\\n'}");
    rig_add_as(rig, RECORD_TASK, "timed", "{'title':'Timed','due':'2026-03-29T02:30'}");
    rig_begin(rig);
    ASSERT_OK(task_set_labels(rig->write, STR("fence"), labels, 2, true, &t->err));
    rig_end(rig);
    rig_add_as(rig, RECORD_TASK, "done", "{'title':'Done','status':'DONE'}");
    rig_add_as(rig, RECORD_TASK, "no", "{'title':'No','status':'REJECTED','priority':'P3'}");
    rig_add_as(rig, RECORD_TASK, "doing",
               "{'title':'Doing','status':'IN_PROGRESS','priority':'P1'}");
    rig_add_as(rig, RECORD_CHECKLIST, "list", "{'taskId':'fence','title':'Steps'}");
    rig_add_as(rig, RECORD_CHECKLIST_ITEM, "i",
               "{'checklistId':'list','title':'wood','checked':true}");
    rig_add(rig, RECORD_DAY_PLAN, "{'planDate':'2026-02-18'}");
    rig_add_as(rig, RECORD_DAY_PLAN_BLOCK, "block",
               "{'planId':'dayplan-2026-02-18','startTime':'2026-02-18T10:00:00Z',"
               "'endTime':'2026-02-18T11:00:00Z','taskId':'fence','note':'early'}");
    rig_add_as(
        rig, RECORD_TIME_ENTRY, "spent",
        "{'taskId':'done','startedAt':'2026-02-18T07:00:00Z','endedAt':'2026-02-18T08:00:00Z'}");
    rig_add_as(rig, RECORD_TIME_ENTRY, "blink",
               "{'startedAt':'2026-02-18T07:00:00.100Z','endedAt':'2026-02-18T07:00:00.900Z'}");
    rig_add_as(rig, RECORD_TIME_ENTRY, "runs", "{'startedAt':'2026-02-18T09:00:00Z'}");
    rig_add_as(
        rig, RECORD_ENTRY, "run",
        "{'kind':'workout','subtype':'run','durationMs':1800000,'at':'2026-02-18T06:00:00Z'}");
    rig_add_as(rig, RECORD_ENTRY, "kg",
               "{'kind':'measurement','subtype':'weight','value':71.5,'unit':'kg'}");
    rig_add_as(rig, RECORD_ENTRY, "gone", "{'kind':'note','body':'gone'}");
    rig_remove(rig, RECORD_ENTRY, STR("gone"));
}

DB_TEST(another_program_finds_no_fault_in_what_is_exported)
{
    AUTO_RIG rig;
    icalcomponent *calendar;

    rig_open(&rig, t);
    fill(&rig);
    calendar = exported(&rig);
    ASSERT_EQ(icalcomponent_isa(calendar), ICAL_VCALENDAR_COMPONENT);
    ASSERT_EQ(icalrestriction_check(calendar), 1);
    ASSERT_EQ(icalcomponent_count_errors(calendar), 0);
    ASSERT_EQ(icalcomponent_count_components(calendar, ICAL_VTODO_COMPONENT), 5);
    ASSERT_EQ(icalcomponent_count_components(calendar, ICAL_VEVENT_COMPONENT), 5);
    ASSERT_EQ(icalcomponent_count_components(calendar, ICAL_ANY_COMPONENT), 10);
    for (icalcomponent *at = icalcomponent_get_first_component(calendar, ICAL_ANY_COMPONENT); at;
         at = icalcomponent_get_next_component(calendar, ICAL_ANY_COMPONENT)) {
        ASSERT_EQ(icalcomponent_count_properties(at, ICAL_DTSTAMP_PROPERTY), 1);
        ASSERT_EQ(icalcomponent_count_properties(at, ICAL_UID_PROPERTY), 1);
    }
    icalcomponent_free(calendar);
}

DB_TEST(another_program_reads_tasks_as_they_are)
{
    static const struct {
        const char *id, *due;
        icalproperty_status status;
        int priority;
    } rows[] = {
        { "fence", "20260301", ICAL_STATUS_NEEDSACTION, 1 },
        { "timed", "20260329T023000", ICAL_STATUS_NEEDSACTION, 5 },
        { "done", NULL, ICAL_STATUS_COMPLETED, 5 },
        { "no", NULL, ICAL_STATUS_CANCELLED, 9 },
        { "doing", NULL, ICAL_STATUS_INPROCESS, 3 },
    };
    AUTO_RIG rig;
    icalcomponent *calendar, *fence;

    rig_open(&rig, t);
    fill(&rig);
    calendar = exported(&rig);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        icalcomponent *task = find(t, calendar, rows[i].id);
        icalproperty *due = icalcomponent_get_first_property(task, ICAL_DUE_PROPERTY);
        icalproperty *priority = icalcomponent_get_first_property(task, ICAL_PRIORITY_PROPERTY);

        ASSERT_EQ(icalcomponent_isa(task), ICAL_VTODO_COMPONENT);
        ASSERT_EQ(icalcomponent_get_status(task), rows[i].status);
        ASSERT_EQ(icalproperty_get_priority(priority), rows[i].priority);
        ASSERT_EQ(due != NULL, rows[i].due != NULL);
        if (due)
            ASSERT_TEXT(icaltime_as_ical_string(icalproperty_get_due(due)), rows[i].due);
    }
    fence = find(t, calendar, "fence");
    ASSERT_TEXT(
        icalcomponent_get_summary(fence),
        "Fix, the; fence \\ now: ünï 🐭 and a title that is so long that it has to be folded "
        "more than once because it goes on");
    ASSERT_TEXT(icalcomponent_get_description(fence), "two\nlines, \\n");
    ASSERT_EQ(icalcomponent_count_properties(fence, ICAL_CATEGORIES_PROPERTY), 2);
    ASSERT_TEXT(extra(fence, "X-DORMOUSE-ITEM"), "wood");
    ASSERT_EQ(icalcomponent_count_properties(find(t, calendar, "done"), ICAL_COMPLETED_PROPERTY),
              1);
    icalcomponent_free(calendar);
}

DB_TEST(another_program_reads_when_things_were)
{
    static const struct {
        const char *id, *summary, *from, *to, *kind;
    } rows[] = {
        { "block", "Fix, the; fence", "20260218T100000Z", "20260218T110000Z", "" },
        { "spent", "Done", "20260218T070000Z", "20260218T080000Z", "timeEntry" },
        { "blink", "Time", "20260218T070000Z", NULL, "timeEntry" },
        { "run", NULL, "20260218T060000Z", "20260218T063000Z", "workout" },
        { "kg", NULL, "20260218T090000Z", NULL, "measurement" },
    };
    AUTO_RIG rig;
    icalcomponent *calendar;

    rig_open(&rig, t);
    fill(&rig);
    calendar = exported(&rig);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        icalcomponent *event = find(t, calendar, rows[i].id);
        icalproperty *end = icalcomponent_get_first_property(event, ICAL_DTEND_PROPERTY);

        ASSERT_EQ(icalcomponent_isa(event), ICAL_VEVENT_COMPONENT);
        ASSERT_TEXT(icaltime_as_ical_string(icalcomponent_get_dtstart(event)), rows[i].from);
        ASSERT_EQ(end != NULL, rows[i].to != NULL);
        if (end)
            ASSERT_TEXT(icaltime_as_ical_string(icalproperty_get_dtend(end)), rows[i].to);
        ASSERT_TEXT(extra(event, "X-DORMOUSE-KIND"), rows[i].kind);
        if (rows[i].summary)
            ASSERT_CONTAINS(icalcomponent_get_summary(event), rows[i].summary);
    }
    ASSERT_TEXT(extra(find(t, calendar, "kg"), "X-DORMOUSE-VALUE"), "71.5");
    ASSERT_TEXT(icalcomponent_get_description(find(t, calendar, "block")), "early");
    icalcomponent_free(calendar);
}

TEST(another_program_reads_every_text_as_it_was)
{
    static const char *const pieces[] = { "a",  ",",    ";",        "\\",
                                          "n",  "N",    "\n",       ":",
                                          "\"", " ",    "\xc3\xbc", "\xf0\x9f\x90\xad",
                                          "=",  "word", "\t",       "BEGIN:VEVENT" };
    struct rand_fake seeded;

    rand_fake_init(&seeded, 5);
    for (int i = 0; i < 2000; i++) {
        AUTO_BUF text = BUF_INIT(4096);
        AUTO_BUF line = BUF_INIT(16384);
        struct ics_reader reader;
        struct ics_line own;
        icalproperty *property;

        buf_add_char(&text, 'x'); /* libical takes blanks off both ends */
        for (uint64_t n = rand_below(&seeded.rand, 60); n > 0; n--)
            buf_add_text(&text, pieces[rand_below(&seeded.rand, ARRAY_LEN(pieces))]);
        buf_add_char(&text, 'x');
        ics_put_text(&line, "SUMMARY", buf_str(&text));
        property = icalproperty_new_from_string(buf_text(&line));
        ASSERT(property != NULL);
        ASSERT_TEXT(icalproperty_get_summary(property), buf_text(&text));
        icalproperty_free(property);
        reader = (struct ics_reader){ .rest = buf_str(&line), .arena = &t->arena };
        ASSERT_EQ(ics_next(&reader, &own), 1);
        ASSERT(str_eq(ics_text(own.value, &t->arena), buf_str(&text)));
        ASSERT_EQ(ics_next(&reader, &own), 0);
    }
}

DB_TEST(an_empty_journal_is_a_calendar_too)
{
    AUTO_RIG rig;
    icalcomponent *calendar;

    rig_open(&rig, t);
    calendar = exported(&rig);
    ASSERT_EQ(icalcomponent_isa(calendar), ICAL_VCALENDAR_COMPONENT);
    ASSERT_EQ(icalcomponent_count_components(calendar, ICAL_ANY_COMPONENT), 0);
    icalcomponent_free(calendar);
}
