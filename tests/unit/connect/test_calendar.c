/* list_events, create_event and update_event, against answers of every kind.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "desk.h"
#include "harness/facts.h"

#define BASE "https://www.googleapis.com/calendar/v3/calendars/"
#define LUNCH                                                                                      \
    "{\"id\":\"e1\",\"etag\":\"\\\"v1\\\"\",\"summary\":\"Lunch\",\"start\":{\"dateTime\":"        \
    "\"2026-03-29T12:00:00+02:00\",\"timeZone\":\"Europe/Berlin\"},\"end\":{\"dateTime\":"         \
    "\"2026-03-29T13:00:00+02:00\"},\"location\":\"Here\"}"
#define FAIR                                                                                       \
    "{\"id\":\"e2\",\"etag\":\"\\\"v1\\\"\",\"summary\":\"Fair\",\"start\":{\"date\":"             \
    "\"2026-02-27\"},\"end\":{\"date\":\"2026-03-01\"},\"attendees\":[{\"email\":\"bo@x.org\"},7]" \
    "}"

static struct desk *calendar_desk(struct test *t)
{
    struct desk *desk = desk_new(t);

    desk_connect_google(desk);
    return desk;
}

DESK_TEST(events_are_listed_for_a_week_unless_told_otherwise)
{
    AUTO(desk) desk = calendar_desk(t);

    desk_says(desk, 200, "{\"items\":[" LUNCH "," FAIR "],\"nextPageToken\":\"x\"}");
    ASSERT_EQ(desk_does(desk, "list_events", "{\"time_zone\":\"Europe/Berlin\"}"), ERR_NONE);
    ASSERT_CONTAINS(desk_line(desk, 2), "GET " BASE "primary/events?singleEvents=true&orderBy="
                                        "startTime&maxResults=50&timeMin=2026-01-01T00%3A00%3A0");
    ASSERT_CONTAINS(desk_line(desk, 2), "&timeMax=2026-01-08T00%3A00%3A0");
    ASSERT_CONTAINS(desk_line(desk, 2), "&timeZone=Europe%2FBerlin");
    ASSERT_CONTAINS(desk_output(desk),
                    "\"title\":\"Lunch\",\"start\":\"2026-03-29T12:00:00+02:00\"");
    ASSERT_CONTAINS(desk_output(desk), "\"all_day\":false,\"time_zone\":\"Europe/Berlin\"");
    ASSERT_CONTAINS(desk_output(desk), "\"more\":true");
    ASSERT_STR(desk->result.taint, "calendar:Fair (2026-02-27),calendar:Lunch (2026-03-29)");
    desk_says(desk, 200, "{}");
    ASSERT_EQ(desk_does(desk, "list_events",
                        "{\"from\":\"2026-03-01\",\"to\":\"2026-03-02\",\"query\":\"a&b\","
                        "\"limit\":3,\"calendar_id\":\"x/../y@z\",\"time_zone\":\"UTC\"}"),
              ERR_NONE);
    ASSERT_TEXT(desk_line(desk, 3),
                "GET " BASE "x%2F..%2Fy%40z/events?singleEvents=true&orderBy=startTime&maxResults=3"
                "&timeMin=2026-03-01T00%3A00%3A00.000Z&timeMax=2026-03-02T00%3A00%3A00.000Z"
                "&timeZone=UTC&q=a%26b");
    ASSERT_TEXT(desk_output(desk), "{\"events\":[],\"more\":false}");
}

/* What is read of an all-day event can be written back: its last day is its last day. */
DESK_TEST(the_last_day_of_an_all_day_event_is_the_same_read_and_written)
{
    AUTO(desk) desk = calendar_desk(t);

    desk_says(desk, 200, "{\"items\":[" FAIR "]}");
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_NONE);
    ASSERT_CONTAINS(desk_output(desk),
                    "\"start\":\"2026-02-27\",\"end\":\"2026-02-28\",\"all_day\":true");
    ASSERT_CONTAINS(desk_output(desk), "\"attendees\":[\"bo@x.org\",\"\"]");
    desk_says(desk, 200, FAIR);
    ASSERT_EQ(desk_does(desk, "create_event",
                        "{\"title\":\"Fair\",\"start\":\"2026-02-27\",\"end\":\"2026-02-28\"}"),
              ERR_NONE);
    ASSERT_CONTAINS(arena_printf(&t->arena, "%.*s", STR_ARG(desk_body(desk, 3))),
                    "\"end\":{\"date\":\"2026-03-01\",\"dateTime\":null,\"timeZone\":null}");
    desk_says(desk, 200,
              "{\"items\":[{\"id\":\"x\",\"end\":{\"date\":\"someday-xx\"}},{\"id\":"
              "\"y\",\"end\":{\"date\":\"2026-99-01\"}},{\"id\":\"z\",\"end\":7},7]}");
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_NONE);
    ASSERT_CONTAINS(desk_output(desk), "\"end\":\"someday-xx\"");
}

DESK_TEST(times_that_make_no_sense_are_refused_before_anybody_is_asked)
{
    static const struct {
        const char *tool, *arguments, *says;
    } cases[] = {
        { "list_events", "{\"from\":\"2026-03-02\",\"to\":\"2026-03-01\"}", "to must be after" },
        { "list_events", "{\"from\":\"some time soon\"}", "from must be a day" },
        { "list_events", "{\"time_zone\":\"Mars/Base\"}", "time_zone" },
        { "create_event", "{\"title\":\"x\",\"start\":\"2026-03-02\",\"end\":\"2026-03-01\"}",
          "end must be after start" },
        { "create_event",
          "{\"title\":\"x\",\"start\":\"2026-03-02T10:00\",\"end\":\"2026-03-02T10:00\"}",
          "end must be after start" },
        { "create_event", "{\"title\":\"x\",\"start\":\"2026-03-02\",\"end\":\"2026-03-02T10:00\"}",
          "both be days" },
        { "create_event",
          "{\"title\":\"x\",\"start\":\"2026-03-29T02:30\",\"end\":\"2026-03-29T04:00\","
          "\"time_zone\":\"Europe/Berlin\"}",
          "clocks are set forward" },
        { "create_event",
          "{\"title\":\"x\",\"start\":\"2026-03-02\",\"end\":\"2026-03-02\",\"attendees\":[\"bo\"]"
          "}",
          "attendees" },
        { "update_event", "{\"event_id\":\"e1\",\"start\":\"yesterday at noon\"}",
          "start must be a day" },
    };
    AUTO(desk) desk = calendar_desk(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tool_verdict verdict;

        desk->call.name = str_from(cases[i].tool);
        desk->call.arguments = str_from(cases[i].arguments);
        tool_judge(desk->tools, &desk->call, &t->arena, &verdict);
        ASSERT(verdict.attributes & TOOL_REFUSED);
        ASSERT_CONTAINS(verdict.message, cases[i].says);
    }
    ASSERT_EQ(desk_asked(desk), 2);
}

DESK_TEST(a_new_event_is_shown_and_sent_with_its_zone_and_its_guests)
{
    AUTO(desk) desk = calendar_desk(t);

    desk_says(desk, 200, LUNCH);
    ASSERT_EQ(
        desk_does(
            desk, "create_event",
            "{\"title\":\"Lunch\",\"start\":\"2026-03-29T12:00\",\"end\":\"2026-03-29T13:00\","
            "\"time_zone\":\"Europe/Berlin\",\"location\":\"Here\",\"description\":\"Food\","
            "\"attendees\":[\"Bo <bo@example.org>\"]}"),
        ERR_NONE);
    ASSERT_STR(desk->preview.title, "Add an event: Lunch");
    ASSERT_STR(desk->preview.text, "Food");
    ASSERT_TEXT(facts_text(t, desk->preview.details),
                "title: Lunch\nstart: 2026-03-29T12:00:00+02:00 (Europe/Berlin)\n"
                "end: 2026-03-29T13:00:00+02:00 (Europe/Berlin)\nlocation: Here\n"
                "invites: Bo <bo@example.org>\n");
    ASSERT_TEXT(desk_line(desk, 2), "POST " BASE "primary/events?sendUpdates=all");
    ASSERT_STR(desk_body(desk, 2),
               "{\"summary\":\"Lunch\",\"location\":\"Here\",\"description\":\"Food\",\"start\":{"
               "\"dateTime\":\"2026-03-29T12:00:00+02:00\",\"date\":null,\"timeZone\":"
               "\"Europe/Berlin\"},\"end\":{\"dateTime\":\"2026-03-29T13:00:00+02:00\",\"date\":"
               "null,\"timeZone\":\"Europe/Berlin\"},\"attendees\":[{\"email\":"
               "\"bo@example.org\"}]}");
    ASSERT_CONTAINS(desk_output(desk), "\"id\":\"e1\"");
}

/* Preview and check both read the event; the change names the version that was seen. */
DESK_TEST(a_change_is_shown_beside_what_is_and_bound_to_its_version)
{
    AUTO(desk) desk = calendar_desk(t);

    desk_says(desk, 200, FAIR);
    desk_says(desk, 200, FAIR);
    desk_says(desk, 200, FAIR);
    ASSERT_EQ(desk_does(desk, "update_event",
                        "{\"event_id\":\"e2\",\"title\":\"Big fair\",\"end\":\"2026-03-01\"}"),
              ERR_NONE);
    ASSERT_STR(desk->preview.title, "Change an event: Fair");
    ASSERT_TEXT(facts_text(t, desk->preview.details),
                "now title: Fair\nnow start: 2026-02-27\nnow end: 2026-02-28\n"
                "becomes title: Big fair\nbecomes end: 2026-03-01\n");
    ASSERT_TEXT(desk_line(desk, 2), "GET " BASE "primary/events/e2");
    ASSERT_TEXT(desk_line(desk, 4), "PATCH " BASE "primary/events/e2");
    ASSERT_STR(desk_header(desk, 4, "If-Match"), "\"v1\"");
    ASSERT_STR(desk_body(desk, 4), "{\"summary\":\"Big fair\",\"end\":{\"date\":\"2026-03-02\","
                                   "\"dateTime\":null,\"timeZone\":null}}");
}

DESK_TEST(an_event_that_changed_after_the_yes_is_asked_about_again)
{
    AUTO(desk) desk = calendar_desk(t);
    const char *digest;

    desk_says(desk, 200, LUNCH);
    ASSERT_OK(desk_preview(desk, "update_event", "{\"event_id\":\"e1\",\"title\":\"x\"}"));
    desk_turn(desk, 1000);
    digest = arena_text(&t->arena, desk->preview.digest);
    desk_says(desk, 200, "{\"id\":\"e1\",\"etag\":\"\\\"v2\\\"\",\"summary\":\"Dinner\"}");
    ASSERT_OK(desk_start(desk, "update_event", "{\"event_id\":\"e1\",\"title\":\"x\"}", digest));
    desk_turn(desk, 1000);
    ASSERT(desk->result.stale);
    ASSERT_EQ(desk_asked(desk), 4);
    desk_says(desk, 200, LUNCH); /* changed between the look and the change */
    desk_says(desk, 412, "{\"error\":{\"message\":\"Precondition Failed\"}}");
    ASSERT_OK(desk_start(desk, "update_event", "{\"event_id\":\"e1\",\"title\":\"x\"}", digest));
    desk_turn(desk, 1000);
    ASSERT_EQ(desk->result.err.code, ERR_VERSION_CONFLICT);
}

DESK_TEST(a_change_nobody_was_shown_is_not_made)
{
    AUTO(desk) desk = calendar_desk(t);

    ASSERT_FAILS((desk_start(desk, "update_event", "{\"event_id\":\"e1\",\"title\":\"x\"}", "") < 0
                      ? (t->err = desk->result.err, -1)
                      : (desk_turn(desk, 1000), t->err = desk->result.err, t->err.code ? -1 : 0)),
                 ERR_CONFIRMATION_REQUIRED);
    ASSERT_EQ(desk_asked(desk), 2);
}

DESK_TEST(trouble_with_the_calendar_has_a_defined_end)
{
    static const struct {
        int status;
        const char *body;
        enum err_code fail;
        enum http_phase phase;
        enum err_code listing, making;
        const char *says;
        int times; /* the same answer to a list */
    } cases[] = {
        { 0, NULL, ERR_TIMEOUT, HTTP_PHASE_WAIT, ERR_TIMEOUT, ERR_EFFECT_UNKNOWN, "Calendar", 1 },
        { 0, NULL, ERR_TOO_LARGE, HTTP_PHASE_BODY, ERR_TOO_LARGE, ERR_EFFECT_UNKNOWN, "Calendar",
          1 },
        { 200, "{\"items\":[", 0, 0, ERR_PROVIDER_FAILED, ERR_EFFECT_UNKNOWN, "damaged", 1 },
        { 500, "{}", 0, 0, ERR_PROVIDER_FAILED, ERR_EFFECT_UNKNOWN, "500", 3 },
        { 307, "{}", 0, 0, ERR_PROVIDER_FAILED, ERR_PROVIDER_FAILED, "redirect", 1 },
        { 404, "{}", 0, 0, ERR_NOT_FOUND, ERR_NOT_FOUND, "no such thing", 1 },
        { 409, "{}", 0, 0, ERR_VERSION_CONFLICT, ERR_VERSION_CONFLICT, "changed meanwhile", 1 },
    };
    AUTO(desk) desk = calendar_desk(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int n = 0; n <= cases[i].times; n++)
            if (cases[i].fail)
                desk_fails(desk, cases[i].fail, cases[i].phase);
            else
                desk_says(desk, cases[i].status, cases[i].body);
        ASSERT_EQ(desk_does(desk, "list_events", "{}"), cases[i].listing);
        ASSERT_CONTAINS(desk_output(desk), cases[i].says);
        ASSERT_EQ(desk_does(desk, "create_event",
                            "{\"title\":\"x\",\"start\":\"2026-03-02\",\"end\":\"2026-03-02\"}"),
                  cases[i].making);
        ASSERT_CONTAINS(desk_output(desk), cases[i].says);
        ASSERT_EQ(desk_asked(desk), desk->said);
    }
    desk_says(desk, 200, "{\"items\":7}");
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_SCHEMA_VIOLATION);
    desk_says(desk, 200, "{\"id\":\"e1\"}");
    ASSERT_EQ(desk_does(desk, "update_event", "{\"event_id\":\"e1\",\"title\":\"x\"}"),
              ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(desk_output(desk), "no version");
    desk_says(desk, 404, "{}");
    ASSERT_EQ(desk_does(desk, "update_event", "{\"event_id\":\"e1\",\"title\":\"x\"}"),
              ERR_NOT_FOUND);
}

/* What is given but empty is taken away, and a list of guests replaces the one that was. */
DESK_TEST(whatever_a_change_takes_away_is_shown_before_it_is_made)
{
    static const char *const party =
        "{\"id\":\"e1\",\"etag\":\"\\\"v1\\\"\",\"summary\":\"Party\",\"location\":\"Here\","
        "\"description\":\"Bring cake\",\"attendees\":[{\"email\":\"bo@x.org\"},{\"email\":"
        "\"cy@x.org\"}]}";
    static const struct {
        const char *arguments, *shown, *sent;
    } cases[] = {
        { "\"location\":\"\"", "now title: Party\nnow location: Here\nbecomes location: (none)\n",
          "{\"location\":\"\"}" },
        { "\"description\":\"\"",
          "now title: Party\nnow location: Here\nnow description: Bring cake\n"
          "becomes description: (none)\n",
          "{\"description\":\"\"}" },
        { "\"description\":\"Bring tea\"",
          "now title: Party\nnow location: Here\nnow description: Bring cake\n",
          "{\"description\":\"Bring tea\"}" },
        { "\"attendees\":[]",
          "now title: Party\nnow location: Here\nnow invited: bo@x.org\nnow invited: cy@x.org\n"
          "becomes invites: (nobody)\n",
          "{\"attendees\":[]}" },
        { "\"attendees\":[\"bo@x.org\"]",
          "now title: Party\nnow location: Here\nnow invited: bo@x.org\nnow invited: cy@x.org\n"
          "becomes invites: bo@x.org\n",
          "{\"attendees\":[{\"email\":\"bo@x.org\"}]}" },
    };
    AUTO(desk) desk = calendar_desk(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int n = 0; n < 3; n++)
            desk_says(desk, 200, party);
        ASSERT_EQ(
            desk_does(desk, "update_event",
                      arena_printf(&t->arena, "{\"event_id\":\"e1\",%s}", cases[i].arguments)),
            ERR_NONE);
        ASSERT_TEXT(facts_text(t, desk->preview.details), cases[i].shown);
        ASSERT_STR(desk->preview.text, i == 2 ? "Bring tea" : "");
        ASSERT_STR(desk_body(desk, 4 + 3 * i), cases[i].sent);
    }
}

DESK_TEST(an_event_without_guests_says_so_when_some_are_invited)
{
    AUTO(desk) desk = calendar_desk(t);

    desk_says(desk, 200, LUNCH);
    ASSERT_OK(desk_preview(desk, "update_event",
                           "{\"event_id\":\"e1\",\"attendees\":[\"Bo <bo@x.org>\"]}"));
    desk_turn(desk, 1000);
    ASSERT_CONTAINS(facts_text(t, desk->preview.details),
                    "now invited: (nobody)\nbecomes invites: Bo <bo@x.org>\n");
}

/* An address that is cut would name another event. */
DESK_TEST(the_longest_ids_stand_whole_in_the_address)
{
    AUTO(desk) desk = calendar_desk(t);
    const char *calendar = desk_repeated(t, "🐭", 200), *event = desk_repeated(t, "@", 1024);
    const char *path =
        arena_printf(&t->arena, BASE "%s/events", desk_repeated(t, "%F0%9F%90%AD", 200));

    for (int n = 0; n < 3; n++)
        desk_says(desk, 200, LUNCH);
    ASSERT_EQ(desk_does(desk, "update_event",
                        arena_printf(&t->arena,
                                     "{\"event_id\":\"%s\",\"calendar_id\":\"%s\",\"attendees\":"
                                     "[\"bo@x.org\"]}",
                                     event, calendar)),
              ERR_NONE);
    ASSERT_TEXT(desk_line(desk, 2),
                arena_printf(&t->arena, "GET %s/%s", path, desk_repeated(t, "%40", 1024)));
    ASSERT_TEXT(desk_line(desk, 4), arena_printf(&t->arena, "PATCH %s/%s?sendUpdates=all", path,
                                                 desk_repeated(t, "%40", 1024)));
    desk_says(desk, 200, "{}");
    ASSERT_EQ(desk_does(desk, "list_events",
                        arena_printf(&t->arena,
                                     "{\"calendar_id\":\"%s\",\"query\":\"%s\",\"time_zone\":"
                                     "\"America/Argentina/ComodRivadavia\"}",
                                     calendar, desk_repeated(t, "ä", 200))),
              ERR_NONE);
    ASSERT_CONTAINS(desk_line(desk, 5),
                    arena_printf(&t->arena, "&q=%s", desk_repeated(t, "%C3%A4", 200)));
}

DESK_TEST(the_title_of_an_event_to_decide_on_is_cut_between_two_characters)
{
    AUTO(desk) desk = calendar_desk(t);
    const char *title = arena_printf(&t->arena, "x%s", desk_repeated(t, "ä", 300));

    ASSERT_OK(desk_preview(
        desk, "create_event",
        arena_printf(&t->arena,
                     "{\"title\":\"%s\",\"start\":\"2026-03-02\",\"end\":\"2026-03-02\"}", title)));
    desk_turn(desk, 1000);
    ASSERT_STR(desk->preview.title,
               arena_printf(&t->arena, "Add an event: x%s", desk_repeated(t, "ä", 99)));
    desk_says(desk, 200,
              arena_printf(&t->arena, "{\"id\":\"e1\",\"etag\":\"v\",\"summary\":\"%s\"}", title));
    ASSERT_OK(desk_preview(desk, "update_event", "{\"event_id\":\"e1\",\"title\":\"y\"}"));
    desk_turn(desk, 1000);
    ASSERT_STR(desk->preview.title,
               arena_printf(&t->arena, "Change an event: x%s", desk_repeated(t, "ä", 99)));
}
