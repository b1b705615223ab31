/* Timers, subscriptions, webhooks, sleep and slots, links and reports over the interface.
 *
 * SPDX-License-Identifier: MIT
 */
#include "home.h"

#define AGENT "/api/v1/agents/planner"

static const char *at(struct test *t, const char *base, const char *id)
{
    return arena_printf(&t->arena, "%s/%s", base, id);
}

/* The first agent has a timer and a subscription from the start; nothing else is there. */
static void check_only(struct test *t, struct home *home, const char *list, const char *name)
{
    const char *answer = ASK("GET", list, ""), *first = strstr(answer, "\"id\":");

    ASSERT_CONTAINS(answer, name);
    ASSERT(first && !strstr(first + 1, "\"id\":"));
}
#define CHECK_NO_TIMER_MORE        check_only(t, home, "/api/v1/timers", "Every day at 07:00")
#define CHECK_NO_SUBSCRIPTION_MORE check_only(t, home, "/api/v1/subscriptions", "A task is done")

/* ---- timers ---- */

TEST(a_timer_is_made_listed_changed_and_removed)
{
    struct home *home = home_start(t);
    const char *answer = ASK("POST", AGENT "/timers",
                             "{\"name\":\"Morning\",\"rrule\":\"FREQ=DAILY\",\"start\":"
                             "\"2026-02-18T07:00\",\"zone\":\"Europe/Berlin\",\"prompt\":\"Up\"}");
    const char *path;

    ASSERT_CONTAINS(answer, "HTTP/1.1 201");
    path = at(t, "/api/v1/timers", text_of(t, answer, "id"));
    CHECK({ "GET", path, "", "200", "\"skips\":[]" },
          { "GET", "/api/v1/timers", "", "200", "\"name\":\"Morning\"" },
          { "GET", "/api/v1/timers?agent=planner", "", "200", "\"zone\":\"Europe/Berlin\"" },
          { "GET", AGENT "/timers", "", "200", "\"kind\":\"rrule\"" },
          { "PATCH", path, "{\"active\":false}", "200", "\"active\":false" },
          { "PATCH", path, "{\"prompt\":\"Rise\"}", "200", "\"prompt\":\"Rise\"" },
          { "PATCH", path, "{\"rrule\":null,\"start\":null,\"zone\":null,\"intervalSeconds\":60}",
            "200", "\"kind\":\"interval\"" },
          { "PATCH", path, "{\"intervalSeconds\":61}", "200", "\"intervalSeconds\":61" },
          { "GET", path, "", "200", "\"active\":false" }, { "DELETE", path, "", "204", "" },
          { "DELETE", path, "", "404", "timer" });
    CHECK_NO_TIMER_MORE;
    home_end(home);
}

TEST(a_timer_that_cant_be_is_refused_by_what_is_wrong_with_it)
{
#define TIMER(form, status, says)                                                                  \
    {                                                                                              \
        "POST", AGENT "/timers", form, status, says                                                \
    }
    static const struct home_case cases[] = {
        TIMER("{}", "400", ""),
        TIMER("[]", "422", "the body must be a JSON object, not"),
        TIMER("{\"kind\":\"cron\"}", "400", "is none of rrule, once, interval"),
        TIMER("{\"kind\":7}", "422", "/kind"),
        TIMER("{\"rrule\":7}", "422", "rrule must be a text or null"),
        TIMER("{\"rrule\":\"FREQ=SOMETIMES\"}", "400", ""),
        TIMER("{\"rrule\":\"FREQ=DAILY\",\"zone\":\"Mars/Olympus\"}", "400", "Mars/Olympus"),
        TIMER("{\"rrule\":\"FREQ=DAILY\",\"zone\":\"../../etc/passwd\"}", "400", "zone"),
        TIMER("{\"start\":\"2026-02-30T07:00\"}", "400", "2026-02-30"),
        TIMER("{\"start\":\"2026-02-18T07:00:00.000000000000000000000000000000000000\"}", "400",
              "is no local time such as"),
        TIMER("{\"intervalSeconds\":-1}", "400", "intervalSeconds must be from 0 to 2147483647"),
        TIMER("{\"intervalSeconds\":2147483648}", "400", "from 0 to 2147483647"),
        TIMER("{\"intervalSeconds\":1.5}", "422", "intervalSeconds"),
        TIMER("{\"intervalSeconds\":\"60\"}", "422", "intervalSeconds"),
        TIMER("{\"intervalSeconds\":60,\"missedCap\":-1}", "400", "missedCap must be from 0"),
        TIMER("{\"intervalSeconds\":60,\"missed\":\"perhaps\"}", "400", "missed"),
        TIMER("{\"intervalSeconds\":60,\"active\":\"yes\"}", "422", "active"),
        TIMER("{\"intervalSeconds\":60,\"when\":1}", "422", "/when"),
        { "POST", "/api/v1/agents/nobody/timers", "{\"intervalSeconds\":60}", "404", "no agent" },
        { "POST", AGENT "/timers?x=1", "{\"intervalSeconds\":60}", "400", "query" },
        { "GET", "/api/v1/timers?agent=nobody", "", "404", "no agent" },
        { "GET", "/api/v1/timers?agents=planner", "", "400", "query" },
        { "GET", "/api/v1/timers/none", "", "404", "timer" },
        { "PATCH", "/api/v1/timers/none", "{}", "404", "timer" },
        { "DELETE", "/api/v1/timers/none", "", "404", "timer" },
    };
    struct home *home = home_start(t);

    home_check(t, home, cases, ARRAY_LEN(cases));
    ASSERT_CONTAINS(ask_in_vain(t, home, "POST", AGENT "/timers", "{\"intervalSeconds\":60}"),
                    "\"code\":\"storage_failed\"");
    CHECK_NO_TIMER_MORE;
    home_end(home);
}

TEST(a_rule_is_previewed_without_storing_anything)
{
#define PREVIEW(form, status, says)                                                                \
    {                                                                                              \
        "POST", "/api/v1/timers/preview", form, status, says                                       \
    }
#define DAILY "{\"rrule\":\"FREQ=DAILY\",\"start\":\"2026-03-28T02:30\",\"zone\":\"Europe/Berlin\""
    static const struct home_case cases[] = {
        PREVIEW(DAILY ",\"from\":\"2026-03-28T00:00:00Z\",\"count\":2}", "200",
                "\"clocks\":\"gap\""),
        PREVIEW(DAILY ",\"count\":0}", "400", "count"),
        PREVIEW(DAILY ",\"count\":-1}", "400", "count"),
        PREVIEW(DAILY ",\"count\":1000000000}", "400", "count"),
        PREVIEW(DAILY ",\"from\":\"yesterday\"}", "400", "from"),
        PREVIEW("{\"rrule\":\"FREQ=DAILY\",\"zone\":\"Nowhere\"}", "400", "Nowhere"),
        PREVIEW("{\"rrule\":\"\"}", "400", ""),
        PREVIEW("{\"rrule\":\"FREQ=DAILY;COUNT=0\"}", "400", "COUNT"),
        PREVIEW("{\"rrule\":null}", "400", "the rule is empty"),
        PREVIEW("{\"count\":\"2\"}", "422", "/count"),
    };
    struct home *home = home_start(t);

    home_check(t, home, cases, ARRAY_LEN(cases));
    CHECK_NO_TIMER_MORE;
    home_end(home);
}

/* ---- subscriptions and webhooks ---- */

TEST(a_webhook_is_called_by_its_token_alone_which_is_said_once)
{
    struct home *home = home_start(t);
    const char *answer = ASK("POST", AGENT "/subscriptions",
                             "{\"source\":\"webhook\",\"name\":\"build\",\"prompt\":\"Look\"}");
    const char *path, *hook, *token;

    ASSERT_CONTAINS(answer, "HTTP/1.1 201");
    token = text_of(t, answer, "token");
    hook = text_of(t, answer, "url");
    path = at(t, "/api/v1/subscriptions", text_of(t, answer, "id"));
    CHECK({ "POST", hook, "{\"built\":true}", "202", "{\"accepted\":true}" },
          { "GET", path, "", "200", "\"calls\":{\"received\":1,\"refused\":0" },
          { "POST", "/api/v1/hooks/none", "x", "404", "" },
          { "POST", arena_printf(&t->arena, "/api/v1/hooks/%.20s", token), "x", "404", "" },
          { "GET", "/api/v1/subscriptions?agent=planner", "", "200", "\"name\":\"build\"" },
          { "GET", AGENT "/subscriptions", "", "200", "\"source\":\"webhook\"" });
    ASSERT(strstr(ASK("GET", path, ""), token) == NULL);
    CHECK({ "PATCH", path, "{\"active\":false}", "200", "\"active\":false" },
          { "POST", hook, "x", "4", "" }, { "DELETE", path, "", "204", "" },
          { "POST", hook, "x", "404", "" }, { "DELETE", path, "", "404", "" });
    home_end(home);
}

TEST(a_subscription_that_cant_be_is_refused_by_what_is_wrong_with_it)
{
#define WAIT(form, status, says)                                                                   \
    {                                                                                              \
        "POST", AGENT "/subscriptions", form, status, says                                         \
    }
    static const struct home_case cases[] = {
        WAIT("{}", "4", "source"),
        WAIT("7", "422", "the body must be a JSON object"),
        WAIT("{\"source\":\"moon\"}", "4", "source"),
        WAIT("{\"source\":7}", "4", "source"),
        WAIT("{\"source\":\"files\"}", "4", "folder"),
        WAIT("{\"source\":\"files\",\"folder\":\"relative\"}", "4", "folder"),
        WAIT("{\"source\":\"journal\",\"tokens\":\"all\"}", "4", "tokens"),
        WAIT("{\"source\":\"journal\",\"tokens\":[{\"class\":\"fancy\",\"value\":\"x\"}]}", "4",
             "class"),
        WAIT("{\"source\":\"journal\",\"predicate\":\"((\"}", "4", "predicate"),
        WAIT("{\"source\":\"webhook\",\"color\":\"red\"}", "4", "color"),
        { "POST", "/api/v1/agents/nobody/subscriptions", "{\"source\":\"webhook\"}", "404",
          "no agent" },
        { "GET", "/api/v1/subscriptions?agent=nobody", "", "404", "no agent" },
        { "GET", "/api/v1/subscriptions/none", "", "404", "subscription" },
        { "PATCH", "/api/v1/subscriptions/none", "{}", "404", "subscription" },
        { "DELETE", "/api/v1/subscriptions/none", "", "404", "subscription" },
        { "POST", "/api/v1/subscriptions/preview", "{}", "4", "/agentId: is missing" },
        { "POST", "/api/v1/subscriptions/preview",
          "{\"agentId\":\"planner\",\"source\":\"journal\",\"days\":0}", "4", "days" },
        { "POST", "/api/v1/subscriptions/preview",
          "{\"agentId\":\"planner\",\"source\":\"journal\",\"days\":91}", "4", "90" },
        { "POST", "/api/v1/subscriptions/preview",
          "{\"agentId\":\"nobody\",\"source\":\"journal\"}", "404", "no agent" },
    };
    struct home *home = home_start(t);

    home_check(t, home, cases, ARRAY_LEN(cases));
    CHECK_NO_SUBSCRIPTION_MORE;
    home_end(home);
}

/* ---- sleep and slots ---- */

TEST(an_agent_sleeps_until_a_time_to_come_and_keeps_its_slots)
{
#define STATE(form, status, says)                                                                  \
    {                                                                                              \
        "PATCH", AGENT "/state", form, status, says                                                \
    }
    static const struct home_case cases[] = {
        STATE("{\"sleepUntil\":\"2999-01-01T00:00:00Z\"}", "200", "\"sleepUntil\":\"2999-"),
        STATE("{\"primaryGoal\":\"Rest\"}", "200", "\"primaryGoal\":\"Rest\""),
        STATE("{\"openLoopIds\":[\"a\",\"b\"]}", "200", "\"openLoopIds\":[\"a\",\"b\"]"),
        STATE("{\"preferenceByKey\":{\"tea\":\"green\"}}", "200", "{\"tea\":\"green\"}"),
        STATE("{\"openLoopIds\":null,\"primaryGoal\":null}", "200", "\"openLoopIds\":[]"),
        STATE("{\"sleepUntil\":\"2001-01-01T00:00:00Z\"}", "400", "lies in the past"),
        STATE("{\"sleepUntil\":\"soon\"}", "422", "a time is needed, such as"),
        STATE("{\"sleepUntil\":1}", "422", "a time is needed"),
        STATE("{\"primaryGoal\":1}", "422", "/primaryGoal: a text is needed, or null"),
        STATE("{\"openLoopIds\":{}}", "4", "openLoopIds"),
        STATE("{\"preferenceByKey\":[]}", "4", "preferenceByKey"),
        STATE("{\"nextWakeAt\":null}", "422", "allowed are sleepUntil, primaryGoal"),
        STATE("null", "422", "the body must be a JSON object, not null"),
        /* one member that is wrong, and none is changed */
        STATE("{\"sleepUntil\":null,\"color\":1}", "422", "/color"),
        { "GET", AGENT "/state", "", "200", "\"sleepUntil\":\"2999-" },
        { "GET", AGENT "/state?x=1", "", "400", "query" },
        { "GET", "/api/v1/agents/nobody/state", "", "404", "no agent" },
        STATE("{\"sleepUntil\":null}", "200", "\"consecutiveFailureCount\":0"),
    };
    struct home *home = home_start(t);

    home_check(t, home, cases, ARRAY_LEN(cases));
    ASSERT(strstr(ASK("GET", AGENT "/state", ""), "sleepUntil") == NULL);
    home_end(home);
}

/* ---- links, reports, sessions ---- */

TEST(what_there_is_nothing_of_is_an_empty_list_and_bounds_are_said)
{
    static const struct home_case cases[] = {
        { "GET", AGENT "/reports", "", "200", "{\"items\":[]}" },
        { "GET", AGENT "/reports/current", "", "200", "{\"report\":null}" },
        { "GET", AGENT "/reports?limit=0", "", "400", "limit must be a number from 1 to 100" },
        { "GET", AGENT "/reports?limit=101", "", "400", "limit must be a number from 1 to 100" },
        { "GET", AGENT "/reports?limit=100", "", "200", "items" },
        { "GET", AGENT "/reports?limit=", "", "400", "limit must be a number" },
        { "GET", AGENT "/reports?after=x", "", "400", "is no cursor of this list" },
        { "GET", AGENT "/reports?after=0", "", "400", "is no cursor of this list" },
        { "GET", AGENT "/reports?scope=%20", "", "400", "scope" },
        { "GET", AGENT "/reports/current?scope=%20", "", "400", "scope" },
        { "GET", AGENT "/links?limit=0", "", "400", "limit must be a number from 1 to" },
        { "GET", AGENT "/links", "", "200", "\"items\":[" },
        { "GET", "/api/v1/links", "", "400", "to is missing, or no id" },
        { "GET", "/api/v1/links?to=a%00b", "", "400", "" },
        { "GET", "/api/v1/links?to=abc", "", "200", "{\"items\":[]}" },
        { "GET", "/api/v1/links?to=abc&limit=x", "", "400", "limit" },
        { "GET", AGENT "/sessions", "", "200", "{\"items\":[" },
        { "GET", AGENT "/sessions?open=true", "", "200", "{\"items\":[" },
        { "GET", AGENT "/sessions?open=maybe", "", "400",
          "open must be true or false, not \\\"maybe\\\"" },
        { "GET", AGENT "/sessions/none", "", "404", "has no session" },
        { "DELETE", AGENT "/sessions/none", "", "404", "has no session" },
    };
    struct home *home = home_start(t);

    home_check(t, home, cases, ARRAY_LEN(cases));
    home_end(home);
}

TEST(a_session_is_closed_by_a_person_and_opens_again_when_one_speaks)
{
    struct home *home = home_start(t);

    ASK("POST", "/run", "{\"prompt\":\"hi\",\"session\":\"s\"}");
    CHECK({ "GET", AGENT "/sessions/s", "", "200", "\"open\":true" },
          { "DELETE", AGENT "/sessions/s", "", "204", "" },
          { "GET", AGENT "/sessions/s", "", "200", "\"open\":false" },
          { "GET", AGENT "/sessions?open=true", "", "200", "{\"items\":[]}" },
          { "GET", AGENT "/sessions?open=false", "", "200", "\"open\":false" },
          { "GET", "/api/v1/agents/system:builder-wizard/sessions/planner:session:s", "", "404",
            "has no session" });
    ASK("POST", "/run", "{\"prompt\":\"hi\",\"session\":\"s\"}");
    CHECK({ "GET", AGENT "/sessions/s", "", "200", "\"open\":true" });
    home_end(home);
}
