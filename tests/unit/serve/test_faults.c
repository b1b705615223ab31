/* Databases that fail at any statement of any request: whoever reads gets the whole answer or an
 * error, never a part of it that looks whole; whoever writes has changed everything or nothing.
 *
 * Every route that reads is tried, with every statement failing in turn, in each of the domains.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "db/db_fault.h"
#include "home.h"

#define API  "/api/v1"
#define J    API "/journal"
#define ME   API "/agents/planner"
#define MOST 400 /* statements of one request, and of what else goes on meanwhile */

/* ---- something of everything ---- */

static const struct {
    const char *method, *path, *body;
} things[] = {
    { "POST", J "/categories", "{\"id\":\"sport\",\"name\":\"Sport\"}" },
    { "POST", J "/labels", "{\"id\":\"urgent\",\"name\":\"urgent\"}" },
    { "POST", J "/tasks",
      "{\"id\":\"task1\",\"title\":\"Plant leeks\",\"categoryId\":\"sport\","
      "\"due\":\"2026-02-18\",\"labels\":[\"urgent\"]}" },
    { "POST", J "/tasks", "{\"id\":\"task2\",\"title\":\"Water leeks\"}" },
    { "POST", J "/checklists", "{\"id\":\"list1\",\"title\":\"Tools\",\"taskId\":\"task1\"}" },
    { "POST", J "/checklist-items",
      "{\"id\":\"item1\",\"checklistId\":\"list1\",\"title\":\"Spade\"}" },
    { "POST", J "/time-entries",
      "{\"id\":\"time1\",\"taskId\":\"task1\",\"startedAt\":\"2026-02-18T08:00:00Z\","
      "\"endedAt\":\"2026-02-18T09:00:00Z\"}" },
    { "POST", J "/day-plans",
      "{\"planDate\":\"2026-02-18\",\"note\":\"Outside\","
      "\"pinnedTaskIds\":[\"task1\"]}" },
    { "POST", J "/day-plan-blocks",
      "{\"id\":\"block1\",\"planId\":\"dayplan-2026-02-18\",\"taskId\":\"task1\","
      "\"startTime\":\"2026-02-18T10:00:00Z\",\"endTime\":\"2026-02-18T11:00:00Z\"}" },
    { "POST", J "/entries",
      "{\"id\":\"run1\",\"kind\":\"workout\",\"subtype\":\"running\","
      "\"categoryId\":\"sport\",\"at\":\"2026-02-18T07:00:00Z\",\"durationMs\":60000}" },
    { "POST", J "/ratings",
      "{\"targetType\":\"task\",\"targetId\":\"task1\","
      "\"dimension\":\"joy\",\"value\":4,\"ratedAt\":\"2026-02-18T12:00:00Z\"}" },
    { "POST", J "/entry-links",
      "{\"relation\":\"about\",\"fromType\":\"entry\",\"fromId\":\"run1\","
      "\"toType\":\"task\",\"toId\":\"task1\"}" },
    { "POST", "/run", "{\"prompt\":\"Good day\",\"session\":\"s\"}" },
    { "PUT", ME "/memory/knowledge/tea.md", "{\"content\":\"- green tea\"}" },
    { "PUT", ME "/memory/knowledge/tea.md", "{\"content\":\"- black tea\"}" },
    { "POST", ME "/skills",
      "{\"name\":\"brew\",\"description\":\"Brews tea.\",\"instructions\":\"Boil water.\"}" },
    { "POST", API "/wizard/threads", "{}" },
};

/* What has no id of the test's choosing, found by asking for a list. */
static const struct {
    const char *name, *list, *member;
} found[] = {
    { "{timer}", API "/timers", "id" },   { "{subscription}", API "/subscriptions", "id" },
    { "{run}", API "/runs", "runId" },    { "{inbox}", API "/inbox", "id" },
    { "{skill}", ME "/skills", "id" },    { "{file}", J "/attachments", "id" },
    { "{wake}", API "/wakes", "runKey" }, { "{rating}", J "/ratings", "id" },
    { "{link}", J "/entry-links", "id" },
};
static const char *ids[sizeof(found) / sizeof(found[0])];

/* Every route that answers a GET from the store; "!" before those whose answer is not JSON. */
static const char *const reads[] = {
    API "/runs",
    API "/runs?agent=planner&limit=1",
    API "/runs/{run}",
    API "/runs/{run}/events?limit=50",
    API "/runs/{run}/trace",
    API "/runs/{run}/replay",
    API "/inbox",
    API "/inbox?state=pending",
    API "/inbox/{inbox}",
    API "/grants",
    API "/kill",
    API "/agents",
    API "/agents?system=true",
    ME,
    "!" ME "/export",
    ME "/state",
    ME "/tools",
    API "/tools",
    API "/templates",
    API "/wizard/threads",
    ME "/threads",
    ME "/threads?query=day",
    ME "/threads/s",
    ME "/threads/s/messages",
    ME "/memory",
    ME "/memory/knowledge/tea.md",
    ME "/memory/knowledge/tea.md?version=1",
    ME "/memory-history/knowledge/tea.md",
    ME "/skills",
    ME "/skills/{skill}",
    ME "/skills/{skill}/files/SKILL.md",
    ME "/timers",
    API "/wakes",
    API "/wakes/{wake}",
    API "/timers",
    API "/timers?agent=planner",
    API "/timers/{timer}",
    ME "/subscriptions",
    API "/subscriptions",
    API "/subscriptions/{subscription}",
    ME "/links",
    API "/links?to=planner",
    ME "/reports",
    ME "/reports/current?scope=weekly",
    ME "/sessions",
    ME "/sessions/s",
    API "/search?q=leeks",
    API "/search?q=tea&agent=planner",
    API "/models",
    API "/secrets",
    API "/credentials/slack/status",
    API "/credentials/google/status",
    "!" J "/export?format=json&attachments=true",
    "!" J "/export?format=ics",
    J "/timer",
    J "/days/2026-02-18",
    J "/categories",
    J "/categories/sport",
    J "/labels",
    J "/labels/urgent",
    J "/tasks",
    J "/tasks?q=leeks&labelId=urgent&categoryId=sport&closed=any",
    J "/tasks/task1",
    J "/checklists?taskId=task1",
    J "/checklists/list1",
    J "/checklist-items?checklistId=list1",
    J "/checklist-items/item1",
    J "/time-entries?taskId=task1",
    J "/time-entries/time1",
    J "/day-plans",
    J "/day-plans/dayplan-2026-02-18",
    J "/day-plan-blocks?planId=dayplan-2026-02-18",
    J "/day-plan-blocks/block1",
    J "/ratings",
    J "/ratings/summary?from=2026-02-01T00:00:00Z&to=2026-03-01T00:00:00Z",
    J "/ratings/{rating}",
    J "/entries?kind=workout",
    J "/entries/run1",
    J "/attachments",
    J "/attachments/{file}",
    "!" J "/attachments/{file}/content",
    J "/entry-links?targetId=task1",
    J "/entry-links/{link}",
};

/* These answer without a store, or go on for ever. */
static const char *const others[] = {
    "/",
    "/assets/{name}",
    "/login",
    "/healthz",
    "/metrics",
    API "/openapi.json",
    API "/events",
    API "/events/ws",
    API "/agents/{id}/ws",
    API "/activity",
    API "/activity/ws",
    "/oauth/google/callback",
};

/* Archives hold any byte: the head says how many there are. */
static bool same_body(const char *answer, const char *other)
{
    static const char name[] = "Content-Length: ";
    const char *length = strstr(answer, name), *theirs = strstr(other, name);
    size_t n = length ? strtoul(length + strlen(name), NULL, 10) : 0;

    if (!length || !theirs)
        return strcmp(body_of(answer), body_of(other)) == 0;
    return n == strtoul(theirs + strlen(name), NULL, 10) &&
           memcmp(body_of(answer), body_of(other), n) == 0;
}

static bool is_ok(const char *answer)
{
    return strncmp(answer, "HTTP/1.1 2", strlen("HTTP/1.1 2")) == 0;
}

/* The path with ids where names of `found` stand. */
static const char *fill(struct test *t, const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(found); i++) {
        const char *at = strstr(path, found[i].name);

        if (at)
            path = arena_printf(&t->arena, "%.*s%s%s", (int)(at - path), path, ids[i],
                                at + strlen(found[i].name));
    }
    return path;
}

/* A run that waits for a person, so that the inbox has something. */
static void wait_for_person(struct home *home)
{
    int fd = home_stream(home, "POST", "/run",
                         "{\"model\":\"acts\",\"prompt\":\"ask_user {\\\"question\\\":"
                         "\\\"Tea?\\\"}\"}");
    char heard[1 << 14] = "";
    size_t n = 0;
    ssize_t got;

    while (!strstr(heard, "event: waiting") &&
           (got = read(fd, heard + n, sizeof(heard) - n - 1)) > 0)
        heard[n += (size_t)got] = '\0';
    close(fd);
    ASSERT_CONTAINS(heard, "event: waiting");
}

static struct home *furnished(struct test *t)
{
    struct home *home = home_start(t);

    wait_for_person(home);
    for (size_t i = 0; i < ARRAY_LEN(things); i++) {
        const char *answer = ASK(things[i].method, things[i].path, things[i].body);

        if (!is_ok(answer))
            FAIL("%s %s: %s", things[i].method, things[i].path, answer);
    }
    ASSERT(is_ok(ASK("POST", J "/attachments?entryId=run1&fileName=a.txt", "bytes")));
    ASSERT(is_ok(ASK("POST", ME "/wake", "{\"words\":\"Up\"}")));
    for (size_t i = 0; i < ARRAY_LEN(found); i++)
        ids[i] = text_of(t, ASK("GET", found[i].list, ""), found[i].member);
    /* Nothing is done but what a test asks for. */
    ASSERT(is_ok(ASK("PATCH", fill(t, API "/subscriptions/{subscription}"), "{\"active\":false}")));
    return home;
}

/* ---- reading ---- */

/* The answer with one statement failing; *ret_fired: whether there was one. */
static const char *ask_failing(struct test *t, struct home *home, enum home_domain domain,
                               enum db_fault_at at, unsigned nth, const char *method,
                               const char *path, const char *body, bool *ret_fired)
{
    struct db_fault *fault = home_fault(home, domain);
    const char *answer;

    *fault = (struct db_fault){ .at = at, .kind = DB_FAULT_BUSY, .nth = nth };
    answer = ASK(method, path, body);
    *ret_fired = fault->fired > 0;
    *fault = (struct db_fault){ .at = DB_FAULT_NEVER };
    return answer;
}

static void fail_each(struct test *t, struct home *home, enum home_domain domain,
                      enum db_fault_at at, const char *path)
{
    bool fired = true;

    for (unsigned nth = 1; fired; nth++) {
        const char *whole = ASK("GET", path, "");
        const char *answer = ask_failing(t, home, domain, at, nth, "GET", path, "", &fired);

        ASSERT(nth < MOST);
        if (is_ok(answer) ? !same_body(answer, whole) && !same_body(answer, ASK("GET", path, ""))
                          : !strstr(answer, "{\"error\":{\"code\":\"")) {
            test_case_failed(
                "GET %s, statement %u of domain %d at %d:\n%.2000s\ninstead of\n%.2000s", path, nth,
                (int)domain, (int)at, answer, whole);
            return;
        }
    }
    test_case_passed();
}

TEST(what_can_not_be_read_is_an_error_and_never_a_part, .timeout_s = 600)
{
    struct home *home = furnished(t);

    for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
        bool text = reads[i][0] == '!';
        const char *path = fill(t, reads[i] + text), *answer = ASK("GET", path, "");

        if (!is_ok(answer))
            FAIL("GET %s: %s", path, answer);
        for (enum home_domain domain = 0; domain < HOME_DOMAINS; domain++) {
            fail_each(t, home, domain, DB_FAULT_STEP, path);
            fail_each(t, home, domain, DB_FAULT_PREPARE, path);
        }
    }
    home_end(home);
}

/* ---- writing ---- */

/* In order, each on what the ones before have left. */
static const struct {
    const char *method, *path, *body;
} writes[] = {
    { "POST", J "/categories", "{\"name\":\"Home\"}" },
    { "POST", J "/tasks",
      "{\"title\":\"Buy seeds\",\"labels\":[\"urgent\"],\"categoryId\":\"sport\"}" },
    { "PATCH", J "/tasks/task1", "{\"title\":\"Plant onions\",\"status\":\"DONE\"}" },
    { "POST", J "/tasks/task1/labels", "{\"labels\":[]}" },
    { "POST", J "/tasks/task1/follow-up", "{\"title\":\"Eat onions\"}" },
    { "POST", J "/quick", "{\"text\":\"Water leeks tomorrow 1h @Sport\"}" },
    { "POST", J "/checklists/list1/items", "{\"titles\":[\"Rake\",\"Hoe\"]}" },
    { "POST", J "/timer/start", "{\"taskId\":\"task2\"}" },
    { "POST", J "/timer/stop", "" },
    { "PUT", J "/days/2026-02-18/blocks",
      "{\"upserts\":[{\"startTime\":\"2026-02-18T13:00:00Z\","
      "\"endTime\":\"2026-02-18T14:00:00Z\"}],\"deletes\":[\"block1\"]}" },
    { "PUT", J "/days/2026-02-18/pins", "{\"taskIds\":[\"task2\"]}" },
    { "POST", J "/ratings",
      "{\"targetType\":\"task\",\"targetId\":\"task1\",\"dimension\":\"joy\",\"value\":5}" },
    { "POST", J "/import?format=todotxt", "(A) Dig\nx 2026-02-01 Rest\n" },
    { "DELETE", J "/tasks/task1", "" },
    { "POST", J "/tasks/task1/restore", "" },
    { "POST", API "/agents", "{\"id\":\"second\",\"displayName\":\"Second\"}" },
    { "PATCH", API "/agents/second", "{\"description\":\"Another\"}" },
    { "POST", API "/agents/second/duplicate", "{\"displayName\":\"Third\"}" },
    { "POST", API "/agents/second/pause", "" },
    { "POST", API "/agents/second/resume", "" },
    { "PATCH", ME "/threads/s", "{\"title\":\"Tea\"}" },
    { "DELETE", ME "/threads/s", "" },
    { "POST", ME "/threads/s/restore", "" },
    { "POST", ME "/timers", "{\"intervalSeconds\":86400}" },
    { "PATCH", API "/timers/{timer}", "{\"active\":false}" },
    { "POST", ME "/subscriptions", "{\"source\":\"webhook\",\"name\":\"Bell\"}" },
    { "PATCH", API "/subscriptions/{subscription}", "{\"name\":\"Done\"}" },
    { "PUT", ME "/memory/knowledge/tea.md", "{\"content\":\"- white tea\"}" },
    { "DELETE", ME "/memory/knowledge/tea.md", "" },
    { "POST", ME "/memory-restore/knowledge/tea.md", "{\"version\":1}" },
    { "PUT", ME "/skills/brew", "{\"description\":\"Brews strong tea.\"}" },
    { "DELETE", ME "/skills/brew", "" },
    { "POST", ME "/skills/{skill}/restore", "" },
    { "POST", API "/kill", "{\"scope\":\"tools\",\"value\":\"shell\"}" },
    { "DELETE", API "/kill?scope=tools&value=shell", "" },
    { "DELETE", ME "/sessions/s", "" },
    { "POST", API "/inbox/{inbox}/decision", "{\"decision\":\"reject\"}" },
    { "DELETE", API "/timers/{timer}", "" },
    { "DELETE", API "/subscriptions/{subscription}", "" },
    { "DELETE", API "/agents/second?confirm=Second", "" },
};

/* All that the writes could have changed. */
static const char *everything(struct test *t, struct home *home)
{
    static const char *const paths[] = {
        J "/export?format=json",
        API "/agents",
        API "/timers",
        API "/subscriptions",
        API "/kill",
        ME "/threads",
        ME "/memory",
        ME "/memory/knowledge/tea.md",
        ME "/skills",
        ME "/sessions",
        API "/inbox",
    };
    const char *all = "";

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        all = arena_printf(&t->arena, "%s\n%s", all, body_of(ASK("GET", paths[i], "")));
    return all;
}

/* Fails the first statement, the second and so on, until it is done. */
static void write_failing(struct test *t, struct home *home, enum home_domain domain, size_t i)
{
    const char *path = fill(t, writes[i].path), *before = everything(t, home);
    const char *answer, *after;
    bool fired = true;

    for (unsigned nth = 1;; nth++) {
        answer = ask_failing(t, home, domain, DB_FAULT_STEP, nth, writes[i].method, path,
                             writes[i].body, &fired);
        ASSERT(nth < MOST);
        if (is_ok(answer))
            break;
        if (!fired)
            FAIL("%s %s: %s", writes[i].method, path, answer);
        after = everything(t, home);
        if (strcmp(after, before) != 0) {
            size_t same = 0;

            while (after[same] == before[same])
                same++;
            same -= same < 100 ? same : 100;
            test_case_failed(
                "%s %s was done in part when statement %u failed: %s\n%.300s\nbefore\n%.300s",
                writes[i].method, path, nth, answer, after + same, before + same);
            return;
        }
    }
    test_case_passed();
}

static void write_all_failing(struct test *t, enum home_domain domain)
{
    struct home *home = furnished(t);

    for (size_t i = 0; i < ARRAY_LEN(writes); i++)
        write_failing(t, home, domain, i);
    home_end(home);
}

TEST(what_the_journal_can_not_take_whole_is_not_written, .timeout_s = 600)
{
    write_all_failing(t, HOME_JOURNAL);
}

TEST(what_the_agents_domain_can_not_take_whole_is_not_written, .timeout_s = 600)
{
    write_all_failing(t, HOME_AGENT);
}

/* ---- the list is whole ---- */

/* Whether a path is one of the route "/a/{id}/b". */
static bool matches(const char *path, const char *route)
{
    while (*route) {
        if (*route == '{') {
            route = strchr(route, '}') + 1;
            path += *route ? strcspn(path, "/?") : strcspn(path, "?");
        } else if (*route++ != *path++) {
            return false;
        }
    }
    return *path == '\0' || *path == '?';
}

static bool is_tried(const char *route)
{
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (strcmp(others[i], route) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(reads); i++)
        if (matches(reads[i] + (reads[i][0] == '!'), route))
            return true;
    return false;
}

TEST(every_route_that_reads_is_tried)
{
    struct home *home = home_start(t);
    AUTO_JSON document = NULL;
    struct json_object *paths;

    ASSERT_OK(
        json_parse(str_from(body_of(ASK("GET", API "/openapi.json", ""))), &document, &t->err));
    paths = json_find(document, "paths");
    ASSERT(json_object_object_length(paths) > 100);
    json_object_object_foreach(paths, route, methods)
    {
        if (json_find(methods, "get") && !is_tried(route))
            test_case_failed("GET %s is in no list of tests/unit/serve/test_faults.c", route);
        else
            test_case_passed();
    }
    home_end(home);
}
