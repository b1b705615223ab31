/* Making, changing, copying and stopping agents, their conversations and what was said, over the
 * interface.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "home.h"

#define AGENT "/api/v1/agents/planner"

/* ---- making ---- */

TEST(an_agent_is_made_changed_copied_and_destroyed_by_its_name)
{
    struct home *home = home_start(t);

    CHECK(
        { "POST", "/api/v1/agents", "{\"displayName\":\"Ada\",\"id\":\"ada\",\"tools\":[]}", "201",
          "\"id\":\"ada\"" },
        { "POST", "/api/v1/agents", "{\"displayName\":\"Ada\",\"id\":\"ada\"}", "409", "ada" },
        { "PATCH", "/api/v1/agents/ada", "{\"displayName\":\"Ada L.\",\"paused\":true}", "200",
          "\"paused\":true" },
        { "PATCH", "/api/v1/agents/ada", "{\"model\":\"pauses\"}", "200", "pauses" },
        { "PATCH", "/api/v1/agents/ada", "{\"model\":null}", "200", "\"displayName\":\"Ada L.\"" },
        { "PATCH", "/api/v1/agents/ada", "{\"lifecycle\":\"\"}", "422", "active or dormant" },
        { "PATCH", "/api/v1/agents/ada", "{\"sessionTtlSeconds\":0}", "422",
          "sessionTtlSeconds must be an integer from" },
        { "PATCH", "/api/v1/agents/ada", "{\"sessionTtlSeconds\":9223372036854775807}", "422",
          "sessionTtlSeconds must be an integer from" },
        { "PATCH", "/api/v1/agents/ada", "{\"tools\":\"all\"}", "422",
          "tools must be a list of names, not" },
        { "PATCH", "/api/v1/agents/ada", "{\"model\":7}", "422", "model must be text, not" },
        { "PATCH", "/api/v1/agents/ada", "{\"id\":\"eve\"}", "422", "/id" },
        { "POST", "/api/v1/agents/ada/duplicate", "{\"displayName\":\"Eve\"}", "201",
          "\"displayName\":\"Eve\"" },
        { "POST", "/api/v1/agents/ada/duplicate", "{\"id\":\"x\"}", "422", "/id" },
        { "GET", "/api/v1/agents/ada/tools", "", "200", "\"enabled\":false" },
        { "DELETE", "/api/v1/agents/ad", "{\"confirm\":\"Ada L.\"}", "404", "no agent" },
        { "DELETE", "/api/v1/agents/ada?confirm=Ada+L.", "", "204", "" },
        { "POST", "/api/v1/agents/ada/resume", "", "4", "" },
        { "GET", "/api/v1/agents?destroyed=true", "", "200", "Ada L." });
    ASSERT(strstr(ASK("GET", "/api/v1/agents", ""), "Ada L.") == NULL);
    home_end(home);
}

/* As ask_home(), with a key. */
static const char *ask_once(struct test *t, struct home *home, const char *path, const char *key,
                            const char *body)
{
    return ASK("POST",
               arena_printf(&t->arena, "%s HTTP/1.1\r\nIdempotency-Key: %s\r\nX-Rest:", path, key),
               body);
}

TEST(the_same_request_again_makes_no_second_agent_and_another_one_is_refused)
{
    struct home *home = home_start(t);
    const char *first = ask_once(t, home, "/api/v1/agents", "k", "{\"displayName\":\"Ada\"}");
    const char *id = text_of(t, first, "id");
    char *longest = arena_alloc(&t->arena, 1, 202);

    memset(longest, 'k', 201);
    ASSERT_TEXT(
        text_of(t, ask_once(t, home, "/api/v1/agents", "k", "{\"displayName\":\"Ada\"}"), "id"),
        id);
    ASSERT_CONTAINS(ask_once(t, home, "/api/v1/agents", "k", "{\"displayName\":\"Eve\"}"),
                    "HTTP/1.1 409");
    ASSERT_CONTAINS(ask_once(t, home, "/api/v1/agents", longest, "{\"displayName\":\"Eve\"}"),
                    "Idempotency-Key must have 1 to 200");
    first = ask_once(t, home, AGENT "/duplicate", "copy", "");
    ASSERT_CONTAINS(first, "HTTP/1.1 201");
    ASSERT_TEXT(text_of(t, ask_once(t, home, AGENT "/duplicate", "copy", ""), "id"),
                text_of(t, first, "id"));
    ASSERT_CONTAINS(
        ask_once(t, home, arena_printf(&t->arena, "/api/v1/agents/%s/duplicate", id), "copy", ""),
        "HTTP/1.1 409");
    home_end(home);
}

TEST(an_archive_that_is_none_makes_no_agent)
{
    struct home *home = home_start(t);

    CHECK({ "POST", "/api/v1/agents/import", "", "400", "the body is empty" },
          { "POST", "/api/v1/agents/import", "nonsense", "4", "" },
          { "POST", "/api/v1/agents/import?name=x", "nonsense", "400", "query" },
          { "GET", "/api/v1/agents/nobody/export", "", "404", "no agent" },
          { "GET", AGENT "/export", "", "200", "filename=\"planner.dormouse-agent.tar.gz\"" });
    home_end(home);
}

TEST(a_beginning_of_an_id_names_an_agent_when_it_names_one_alone)
{
    struct home *home = home_start(t);

    CHECK({ "GET", "/api/v1/agents/plan", "", "200", "{\"id\":\"planner\"" },
          { "GET", "/api/v1/agents/pla", "", "404", "no agent" },
          { "POST", "/api/v1/agents", "{\"displayName\":\"P\",\"id\":\"planner2\"}", "201", "" },
          { "GET", "/api/v1/agents/plan", "", "400", "beginning of more than one agent's id" },
          { "GET", "/api/v1/agents/planner", "", "200", "{\"id\":\"planner\"" },
          { "GET", "/api/v1/agents/planner2x", "", "404", "no agent" },
          { "GET", "/api/v1/agents/%F0%9F%98%80%F0%9F%98%80", "", "400", "letters, digits" },
          { "GET", "/api/v1/agents/planner%00", "", "4", "" });
    home_end(home);
}

/* ---- stopping ---- */

TEST(a_switch_is_lifted_by_the_words_it_was_thrown_with)
{
    struct home *home = home_start(t);

    CHECK({ "POST", "/api/v1/kill", "{\"scope\":\"agent\",\"value\":\"plan\",\"reason\":\"loud\"}",
            "200", "\"value\":\"planner\",\"reason\":\"loud\"" },
          { "POST", "/api/v1/kill", "{\"scope\":\"agent\",\"value\":\"planner\"}", "200",
            "\"changed\":false" },
          { "DELETE", "/api/v1/kill?scope=agent&value=plan", "", "200",
            "{\"changed\":true,\"switches\":[]}" },
          { "POST", "/api/v1/kill", "{\"scope\":\"tools\",\"value\":\"wizardry\"}", "400",
            "there is no class of tools \\\"wizardry\\\"; there are:" },
          { "POST", "/api/v1/kill", "{\"scope\":\"tools\",\"value\":\"file\"}", "400",
            "did you mean \\\"files\\\"?" },
          { "POST", "/api/v1/kill", "{\"scope\":\"all\"}", "200", "\"changed\":true" },
          { "DELETE", "/api/v1/kill?scope=all%00x", "", "4", "" },
          { "POST", "/run", "{\"prompt\":\"hi\"}", "4", "kill_switch_active" },
          { "DELETE", "/api/v1/kill?scope=all", "", "200", "\"changed\":true" },
          { "DELETE", "/api/v1/kill?scope=all", "", "200", "\"changed\":false" },
          /* one that is no more can still be lifted */
          { "DELETE", "/api/v1/kill?scope=agent&value=long-gone", "", "200", "\"changed\":false" });
    home_end(home);
}

/* ---- conversations ---- */

TEST(a_conversation_is_named_put_away_and_brought_back)
{
    struct home *home = home_start(t);
    char *title = arena_alloc(&t->arena, 1, 3000);

    for (int i = 0; i < 1000; i++)
        strcat(title, "ä");
    ASK("POST", "/run", "{\"prompt\":\"tea or coffee\",\"session\":\"s\"}");
    CHECK(
        { "GET", AGENT "/threads", "", "200", "planner:session:s" },
        { "GET", AGENT "/threads/s", "", "200", "{\"id\":\"planner:session:s\"" },
        { "GET", AGENT "/threads/planner:session:s", "", "200", "planner:session:s" },
        { "GET", "/api/v1/agents/system:builder-wizard/threads/planner:session:s", "", "404",
          "has no thread" },
        { "PATCH", AGENT "/threads/s", "{\"title\":\"  Drinks \"}", "200", "\"title\":\"Drinks\"" },
        { "PATCH", AGENT "/threads/s", "{\"title\":\"a\\nb\"}", "400", "the title" },
        { "PATCH", AGENT "/threads/s", arena_printf(&t->arena, "{\"title\":\"%s\"}", title), "400",
          "the title has 1000 characters; at most" },
        { "PATCH", AGENT "/threads/s", "{}", "422", "/title" },
        { "GET", AGENT "/threads?query=drinks", "", "200", "Drinks" },
        { "GET", AGENT "/threads?query=juice", "", "200", "{\"threads\":[]}" },
        { "GET", AGENT "/threads?limit=1", "", "200", "\"before\":" },
        { "GET", AGENT "/threads?limit=501", "", "400", "limit must be a number from 1 to 500" },
        { "GET", AGENT "/threads?before=0", "", "400", "before must be a number from 1" },
        { "GET", AGENT "/threads/s/messages?limit=1", "", "200", "\"before\":" },
        { "GET", AGENT "/threads/s/messages", "", "200", "tea or coffee" },
        { "GET", AGENT "/threads/s/messages?before=1", "", "200", "{\"messages\":[]" },
        { "GET", AGENT "/threads/s/messages?limit=0", "", "400", "from 1 to 500" },
        { "DELETE", AGENT "/threads/s", "", "204", "" },
        { "GET", AGENT "/threads", "", "200", "{\"threads\":[]}" },
        { "POST", AGENT "/threads/s/restore", "", "200", "Drinks" },
        { "POST", AGENT "/threads/s/restore", "{\"x\":1}", "422", "/x" },
        { "GET", AGENT "/threads", "", "200", "Drinks" });
    home_end(home);
}

TEST(the_wizard_has_conversations_of_its_own)
{
    struct home *home = home_start(t);

    CHECK({ "GET", "/api/v1/wizard/threads", "", "200", "{\"threads\":[]}" },
          { "POST", "/api/v1/wizard/threads", "", "201", "\"agentId\":\"system:builder-wizard\"" },
          { "POST", "/api/v1/wizard/threads", "{\"agent\":\"x\"}", "422", "/agent" },
          { "GET", "/api/v1/wizard/threads?limit=x", "", "400", "limit" },
          { "GET", "/api/v1/templates", "", "200", "\"subscriptions\":[" },
          { "GET", "/api/v1/tools", "", "200", "\"available\":true" },
          { "GET", "/api/v1/tools?x", "", "400", "query" });
    ASSERT(strstr(ASK("GET", "/api/v1/tools", ""), "\"enabled\"") == NULL);
    home_end(home);
}

/* ---- finding ---- */

TEST(a_search_finds_what_was_said_and_refuses_what_is_no_search)
{
    struct home *home = home_start(t);
    char *query = arena_alloc(&t->arena, 1, 8000);
    size_t n = (size_t)sprintf(query, "/api/v1/search?q=");

    while (n < 7000)
        n += (size_t)sprintf(query + n, "w%%22*%%20");
    ASK("POST", "/run", "{\"prompt\":\"rhubarb crumble\",\"session\":\"s\"}");
    CHECK({ "GET", "/api/v1/search?q=rhub", "", "200", "\"threadId\":\"planner:session:s\"" },
          { "GET", "/api/v1/search?q=rhubarb&agent=planner&limit=100&scope=agents", "", "200",
            "rhubarb" },
          { "GET", "/api/v1/search?q=rhubarb&scope=journal", "", "200", "{\"results\":[]}" },
          { "GET", "/api/v1/search?q=%22%27*AND%20NEAR(", "", "200", "{\"results\":[" },
          { "GET", query, "", "200", "{\"results\":[" },
          { "GET", "/api/v1/search", "", "400", "q is missing: what to look for" },
          { "GET", "/api/v1/search?q=", "", "400", "q is missing" },
          { "GET", "/api/v1/search?q=a&limit=0", "", "400", "limit must be a number from 1 to" },
          { "GET", "/api/v1/search?q=a&limit=101", "", "400", "limit must be a number from 1 to" },
          { "GET", "/api/v1/search?q=a&scope=moon", "", "400", "scope must be all, journal" },
          { "GET", "/api/v1/search?q=a&agent=nobody", "", "404", "no agent" });
    home_end(home);
}
