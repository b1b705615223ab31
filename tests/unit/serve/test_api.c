/* The interface over a real runner and database that fail when a test says so.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "home.h"

TEST(a_run_over_the_unix_socket_needs_no_token_and_ends_with_done)
{
    struct home *home = home_start(t);
    const char *answer = ASK("POST", "/run", "{\"prompt\":\"hi\"}");

    ASSERT_CONTAINS(answer, "HTTP/1.1 200");
    ASSERT_CONTAINS(answer, "id: 1\nevent: init\n");
    ASSERT_CONTAINS(answer, "id: 3\nevent: done\n");
    ASSERT(strstr(answer, "goodbye") == NULL);
    home_end(home);
}

TEST(a_run_whose_start_could_not_be_stored_is_refused)
{
    struct home *home = home_start(t);
    const char *answer;

    answer = ask_in_vain(t, home, "POST", "/run", "{\"prompt\":\"hi\"}");
    ASSERT_CONTAINS(answer, "HTTP/1.1 503");
    ASSERT_CONTAINS(answer, "\"code\":\"storage_failed\"");
    ASSERT_CONTAINS(ASK("GET", "/api/v1/runs", ""), "{\"runs\":[]}");
    ASSERT_CONTAINS(ASK("POST", "/run", "{\"prompt\":\"hi\"}"), "event: done\n");
    home_end(home);
}

TEST(what_could_not_be_stored_is_not_said_to_be_done)
{
    static const struct {
        const char *method, *path, *body;
    } writes[] = {
        { "POST", "/api/v1/agents/planner/pause", "" },
        { "POST", "/api/v1/kill", "{\"scope\":\"all\"}" },
    };
    struct home *home = home_start(t);

    ASK("POST", "/run", "{\"prompt\":\"hi\"}"); /* makes the agent */
    for (size_t i = 0; i < ARRAY_LEN(writes); i++) {
        const char *answer = ask_in_vain(t, home, writes[i].method, writes[i].path, writes[i].body);

        ASSERT_CONTAINS(answer, "\"code\":\"storage_failed\"");
    }
    ASSERT_CONTAINS(ASK("GET", "/api/v1/agents/planner", ""), "\"paused\":false");
    home_end(home);
}

/* ---- memory ---- */

#define AT "/api/v1/agents/planner/memory"

static struct home *with_agent(struct test *t)
{
    struct home *home = home_start(t);

    ASK("POST", "/run", "{\"prompt\":\"hi\"}");
    return home;
}

TEST(memory_is_written_listed_and_read_by_its_owner)
{
    struct home *home = with_agent(t);
    const char *answer =
        ASK("PUT", AT "/knowledge/a.md", "{\"content\":\"- tea\\n\",\"reason\":\"mine\"}");

    ASSERT_CONTAINS(answer, "HTTP/1.1 201");
    ASSERT_CONTAINS(answer, "\"author\":\"owner\"");
    ASSERT_CONTAINS(ASK("PUT", AT "/knowledge/a.md", "{\"content\":\"- coffee\"}"), "HTTP/1.1 200");
    answer = ASK("GET", AT, "");
    ASSERT_CONTAINS(answer, "{\"path\":\"AGENTS.md\",");
    ASSERT_CONTAINS(answer, "{\"path\":\"knowledge/a.md\",\"content_type\":\"text/markdown\",");
    ASSERT_CONTAINS(answer, "\"size_bytes\":8,\"version\":2,\"writable\":true}");
    ASSERT_CONTAINS(answer, "\"total_bytes\":8,\"limit_bytes\":102400}");
    ASSERT_CONTAINS(ASK("GET", AT "/knowledge/a.md?version=1", ""), "\"content\":\"- tea\\n\"");
    ASSERT_CONTAINS(ASK("GET", AT "/knowledge/b.md", ""), "HTTP/1.1 404");
    ASSERT_CONTAINS(ASK("GET", AT "/tools.json", ""), "\"writable\":false");
    home_end(home);
}

TEST(memory_that_was_changed_meanwhile_is_not_overwritten)
{
    struct home *home = with_agent(t);

    ASK("PUT", AT "/knowledge/a.md", "{\"content\":\"1\",\"base_version\":0}");
    ASSERT_CONTAINS(ASK("PUT", AT "/knowledge/a.md", "{\"content\":\"2\",\"base_version\":0}"),
                    "\"code\":\"version_conflict\"");
    ASSERT_CONTAINS(ASK("PUT", AT "/knowledge/a.md", "{\"content\":\"2\",\"base_version\":1}"),
                    "\"version\":2");
    ASSERT_CONTAINS(ASK("DELETE", AT "/knowledge/a.md?base_version=1", ""), "HTTP/1.1 409");
    home_end(home);
}

TEST(deleted_memory_has_a_history_and_comes_back)
{
    struct home *home = with_agent(t);
    const char *answer;

    ASK("PUT", AT "/knowledge/a.md", "{\"content\":\"1\"}");
    ASSERT_CONTAINS(ASK("DELETE", AT "/knowledge/a.md?reason=old", ""), "HTTP/1.1 204");
    ASSERT_CONTAINS(ASK("DELETE", AT "/knowledge/a.md", ""), "HTTP/1.1 404");
    ASSERT_CONTAINS(ASK("GET", AT "/knowledge/a.md", ""), "HTTP/1.1 404");
    answer = ASK("GET", AT "-history/knowledge/a.md", "");
    ASSERT_CONTAINS(answer,
                    "{\"version\":2,\"size_bytes\":0,\"author\":\"owner\",\"reason\":\"old\"");
    ASSERT_CONTAINS(answer, "\"deleted\":true");
    ASSERT_CONTAINS(ASK("POST", AT "-restore/knowledge/a.md", "{\"version\":1}"), "\"version\":3");
    ASSERT_CONTAINS(ASK("GET", AT "/knowledge/a.md", ""), "\"content\":\"1\"");
    ASSERT_CONTAINS(ASK("POST", AT "-restore/knowledge/a.md", "{\"version\":9}"), "HTTP/1.1 404");
    ASSERT_CONTAINS(ASK("POST", AT "-restore/knowledge/a.md", "{\"version\":0}"), "HTTP/1.1 422");
    ASSERT_CONTAINS(ASK("GET", AT "-history/knowledge/none.md", ""), "HTTP/1.1 404");
    home_end(home);
}

TEST(memory_paths_do_not_lead_elsewhere)
{
    static const char *const paths[] = {
        "/../../kill",
        "/knowledge/../AGENTS.md",
        "/knowledge/%2e%2e/AGENTS.md",
        "/%2e%2e%2fx",
        "/knowledge%2F..%2Fx",
        "/knowledge/..%5cx",
        "/knowledge/a%00b",
        "/knowledge/%c0%ae%c0%ae",
        "/%2Fetc%2Fpasswd",
        "/knowledge//a",
        "/knowledge/a.md.",
        "/knowledge/%2e",
        "/knowledge/.hidden",
        "/AGENTS.md",
        "/tools.json",
        "/Knowledge/a.md",
        "/secrets/a",
        "/skills/Bad.md",
        "/skills/a/SKILL.md",
        "/knowledge/%E2%80%AEa",
        "/knowledge/con",
        "/knowledge/a%252e%252e",
        "/knowledge",
        "/agents/other/knowledge/a.md",
    };
    struct home *home = with_agent(t);
    const char *before;

    ASK("PUT", AT "/knowledge/keep.md", "{\"content\":\"kept\"}");
    before = strstr(ASK("GET", AT, ""), "{\"files\"");
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        const char *path = arena_printf(&t->arena, AT "%s", paths[i]);
        const char *put = ASK("PUT", path, "{\"content\":\"x\"}");
        const char *gone = ASK("DELETE", path, "");

        if (strncmp(put, "HTTP/1.1 4", 10) != 0 || strncmp(gone, "HTTP/1.1 4", 10) != 0)
            FAIL("%s: %.40s / %.40s", path, put, gone);
    }
    ASSERT_TEXT(strstr(ASK("GET", AT, ""), "{\"files\""), before);
    home_end(home);
}

TEST(memory_is_bounded_text_of_an_agent_that_there_is)
{
    struct home *home = with_agent(t);
    char *body = arena_alloc(&t->arena, 102400 + 100, 1);
    int n = sprintf(body, "{\"content\":\"");

    memset(body + n, 'x', 102401);
    strcpy(body + n + 102401, "\"}");
    ASSERT_CONTAINS(ASK("PUT", AT "/knowledge/a.md", body), "HTTP/1.1 413");
    body[n] = '\xFF';
    ASSERT_CONTAINS(ASK("PUT", AT "/knowledge/a.md", body), "HTTP/1.1 400");
    ASSERT_CONTAINS(ASK("PUT", AT "/knowledge/a.md", "{\"content\":\"a\\u0000b\"}"),
                    "HTTP/1.1 422");
    ASSERT_CONTAINS(ASK("PUT", AT "/knowledge/a.md", "{\"content\":7}"), "HTTP/1.1 422");
    ASSERT_CONTAINS(ASK("PUT", AT "/knowledge/a.md", "{}"), "HTTP/1.1 422");
    ASSERT_CONTAINS(ASK("PUT", AT "/knowledge/a.md", "{\"content\":\"\",\"x\":1}"), "HTTP/1.1 422");
    ASSERT_CONTAINS(ASK("GET", "/api/v1/agents/nobody/memory", ""), "HTTP/1.1 404");
    ASSERT_CONTAINS(
        ASK("PUT", "/api/v1/agents/nobody/memory/knowledge/a.md", "{\"content\":\"x\"}"),
        "HTTP/1.1 404");
    home_end(home);
}

/* What a stream says up to and with this text. */
static const char *hear(struct test *t, int fd, const char *text)
{
    char *out = arena_alloc(&t->arena, 1, 1 << 18);
    size_t n = 0;
    ssize_t got;

    while (!strstr(out, text) && (got = read(fd, out + n, (1 << 18) - n - 1)) > 0)
        n += (size_t)got;
    if (!strstr(out, text))
        FAIL("the stream ended without %s: %s", text, out);
    return out;
}

/* ---- what changed ---- */

/* A reader of the feed, past its first event. */
static int listen_in(struct test *t, struct home *home, const char *query, const char **ret_hello)
{
    int fd = home_stream(home, "GET", arena_printf(&t->arena, "/api/v1/activity%s", query), "");

    *ret_hello = hear(t, fd, "\"reset\":");
    return fd;
}

/* The id of the newest event in a text. */
static const char *last_id(struct test *t, const char *text)
{
    const char *at = text, *id = NULL;

    while ((at = strstr(at, "\nid: ")) != NULL)
        id = at += strlen("\nid: ");
    ASSERT(id != NULL);
    return arena_copy(&t->arena, id, strcspn(id, "\n"));
}

TEST(activity_tells_of_runs_and_of_what_requests_changed)
{
    struct home *home = home_start(t);
    const char *heard;
    int fd = listen_in(t, home, "", &heard);

    ASSERT_CONTAINS(heard, "event: hello");
    ASSERT_CONTAINS(heard, "\"reset\":false");
    ASK("POST", "/run", "{\"prompt\":\"hi\"}");
    heard = hear(t, fd, "\"kind\":\"done\"");
    ASSERT_CONTAINS(heard, "event: run");
    ASSERT_CONTAINS(heard, "\"kind\":\"init\"");
    ASSERT_CONTAINS(heard, "\"agentId\":\"planner\"");
    ASSERT(strstr(heard, "Hello.") == NULL); /* that, never what */
    ASK("POST", "/api/v1/kill", "{\"scope\":\"all\"}");
    ASSERT_CONTAINS(hear(t, fd, "event: kill"), "event: kill");
    ASK("POST", "/api/v1/agents/planner/pause", "");
    ASSERT_CONTAINS(hear(t, fd, "\"type\":\"agent\""), "\"agentId\":\"planner\"");
    close(fd);
    home_end(home);
}

TEST(activity_says_nothing_of_what_was_refused_or_not_stored)
{
    struct home *home = with_agent(t);
    const char *heard;
    int fd = listen_in(t, home, "", &heard);

    ASK("POST", "/api/v1/kill", "{\"scope\":\"none\"}");
    ASK("POST", "/api/v1/agents/nobody/pause", "");
    ask_in_vain(t, home, "POST", "/api/v1/kill", "{\"scope\":\"all\"}");
    ASK("POST", "/api/v1/agents/planner/pause", "");
    heard = hear(t, fd, "\"type\":\"agent\"");
    ASSERT(strstr(heard, "\"type\":\"kill\"") == NULL);
    ASSERT(strstr(heard, "nobody") == NULL);
    close(fd);
    home_end(home);
}

TEST(activity_tells_who_was_away_to_read_anew)
{
    struct home *home = with_agent(t);
    const char *heard, *id;
    int fd = listen_in(t, home, "", &heard);

    ASK("POST", "/api/v1/agents/planner/pause", "");
    id = last_id(t, hear(t, fd, "\"type\":\"agent\""));
    close(fd);
    fd = listen_in(t, home, arena_printf(&t->arena, "?after=%s", id), &heard);
    ASSERT_CONTAINS(heard, "\"reset\":false");
    ASK("POST", "/api/v1/agents/planner/resume", "");
    hear(t, fd, "\"type\":\"agent\"");
    close(fd);
    fd = listen_in(t, home, arena_printf(&t->arena, "?after=%s", id), &heard);
    ASSERT_CONTAINS(heard, "\"reset\":true");
    close(fd);
    ASSERT_CONTAINS(ASK("GET", "/api/v1/activity?after=x", ""), "HTTP/1.1 4");
    ASSERT_CONTAINS(ASK("GET", "/api/v1/activity?since=1", ""), "HTTP/1.1 4");
    home_end(home);
}

TEST(a_run_is_replayed_from_its_log)
{
    struct home *home = home_start(t);
    const char *answer = ASK("POST", "/run", "{\"prompt\":\"hi\"}");
    const char *key = strstr(answer, "\"runId\":\"");

    ASSERT(key != NULL);
    key = arena_copy(&t->arena, key + strlen("\"runId\":\""), 64);
    answer = ASK("GET", arena_printf(&t->arena, "/api/v1/runs/%s/replay", key), "");
    ASSERT_CONTAINS(answer, "HTTP/1.1 200");
    ASSERT_CONTAINS(answer, "\"same\":true");
    ASSERT_CONTAINS(answer, "\"ended\":true");
    ASSERT_CONTAINS(ASK("GET", "/api/v1/runs/0000/replay", ""), "HTTP/1.1 404");
    home_end(home);
}

/* ---- in the middle of an answer ---- */

/* Whoever starts the run, and whoever comes while the model speaks, has the answer from its first
 * byte on: a model may have spoken before the head of the response is out. */
TEST(who_comes_while_a_model_speaks_gets_what_it_has_said)
{
    struct home *home = home_start(t);
    int first = home_stream(home, "POST", "/run",
                            "{\"prompt\":\"hi\",\"model\":\"pauses\",\"session\":\"s\"}");
    const char *soon = hear(t, first, "mor\",\"isPartial\":true"), *run, *late;
    int second;

    ASSERT_CONTAINS(soon, "\"type\":\"thinking\",\"seq\":2");
    ASSERT_CONTAINS(soon, "\"content\":\"hm\",\"isPartial\":true,\"offset\":0}");
    ASSERT_CONTAINS(soon, "\"type\":\"text\",\"seq\":3");
    ASSERT_CONTAINS(soon, "\"content\":\"Good ");
    run = strstr(soon, "\"runId\":\"") + strlen("\"runId\":\"");
    second =
        home_stream(home, "GET", arena_printf(&t->arena, "/api/v1/runs/%.64s/events", run), "");
    late = hear(t, second, "\"content\":\"Good mor\",\"isPartial\":true,\"offset\":0}");
    ASSERT_CONTAINS(late, "\"content\":\"hm\",\"isPartial\":true,\"offset\":0}");
    home_go_on(home);
    for (int i = 0; i < 2; i++) {
        late = hear(t, i ? second : first, "event: done");
        ASSERT_CONTAINS(late, "\"content\":\"ning.\",\"isPartial\":true,\"offset\":8}");
        ASSERT_CONTAINS(late, "\"content\":\"Good morning.\",\"isPartial\":false}");
    }
    close(first);
    close(second);
    home_end(home);
}

/* ---- refusals ---- */

/* Each names what was wrong; and none of them leaves a run, an agent or a stop behind. */
TEST(requests_that_cant_be_are_refused_with_a_reason_and_change_nothing)
{
    static const struct home_case cases[] = {
        { "POST", "/run", "{", "400", "the body: 1:2" },
        { "POST", "/run", "{\"prompt\":\" \\n\\t\"}", "400", "the prompt is empty" },
        { "POST", "/run", "{\"prompt\":\"x\",\"agent\":\"nobody\"}", "404", "there is no agent" },
        { "POST", "/run", "{\"prompt\":\"x\",\"model\":\"gpt\"}", "403", "there is no model gpt" },
        { "POST", "/run", "{\"prompt\":\"x\",\"mode\":\"yolo\"}", "422",
          "mode must be structured or wiggum" },
        { "POST", "/run", "{\"prompt\":\"x\",\"maxIterations\":-1}", "400", "between 1 and 32767" },
        { "POST", "/run", "{\"prompt\":\"x\",\"maxMs\":-5}", "400", "maxMs" },
        { "POST", "/run", "{\"prompt\":\"x\",\"maxIterations\":1.5}", "422", "/maxIterations" },
        { "POST", "/run", "{\"prompt\":\"x\",\"thread\":\"planner:run:0\"}", "404", "thread" },
        { "POST", "/run?x=1", "{\"prompt\":\"x\"}", "400", "the query parameter" },
        { "GET", "/api/v1/runs?limit=0", "", "400", "limit must be a number from 1 to" },
        { "GET", "/api/v1/runs?limit=99999999999999999999", "", "400",
          "limit must be a number from 1 to" },
        { "GET", "/api/v1/runs?before=x", "", "400", "before" },
        { "GET", "/api/v1/runs?agent=nobody", "", "404", "there is no agent" },
        { "GET", "/api/v1/runs/abc", "", "400", "at least the first 4 characters" },
        { "GET", "/api/v1/runs/abcd/events?after=-1", "", "400", "after must be a number from 0" },
        { "POST", "/api/v1/runs/abcd/rerun", "{\"override\":7}", "422", "/override" },
        { "GET", "/api/v1/runs/abcd/trace?format=xml", "", "404", "there is no run" },
        { "GET", "/api/v1/runs/%", "", "400", "the path" },
        { "GET", "/api/v1/inbox?state=old", "", "400", "state" },
        { "GET", "/api/v1/inbox/none", "", "404", "there is no inbox item" },
        { "POST", "/api/v1/inbox/none/decision", "{}", "422", "/decision: required but absent" },
        { "DELETE", "/api/v1/grants/none", "", "404", "there is no grant" },
        { "POST", "/api/v1/kill", "{\"scope\":\"world\"}", "422",
          "scope must be all, agent or tools" },
        { "POST", "/api/v1/kill", "{\"scope\":\"agent\",\"value\":\"nobody\"}", "404",
          "there is no agent" },
        { "POST", "/api/v1/kill", "{\"scope\":\"all\",\"value\":\"x\"}", "400", "kill switch" },
        { "DELETE", "/api/v1/kill", "", "422", "scope" },
        { "DELETE", "/api/v1/kill?scope=tools", "", "400", "kill switch" },
        { "GET", "/api/v1/agents?destroyed=maybe", "", "400", "destroyed" },
        { "POST", "/api/v1/agents", "{\"displayName\":\"\"}", "400", "name is empty" },
        { "POST", "/api/v1/agents", "{\"displayName\":\"x\",\"tools\":[\"fly\"]}", "400",
          "there is no tool" },
        { "POST", "/api/v1/agents", "{\"displayName\":\"x\",\"model\":\"gpt\"}", "400",
          "there is no model" },
        { "POST", "/api/v1/agents", "{\"displayName\":\"x\",\"id\":\"Planner!\"}", "400", "id" },
        { "POST", "/api/v1/agents", "{\"displayName\":\"x\",\"template\":\"pirate\"}", "400",
          "there is no template" },
        { "PATCH", "/api/v1/agents/planner", "{\"paused\":\"yes\"}", "422",
          "paused must be true or false" },
        { "DELETE", "/api/v1/agents/planner", "", "400", "confirm" },
        { "DELETE", "/api/v1/agents/planner?confirm=planner", "", "400",
          "exactly as it is written" },
        { "POST", "/api/v1/agents/nobody/pause", "", "404", "there is no agent" },
        { "GET", "/api/v1/agents/planner/threads?limit=x", "", "400", "limit" },
        { "GET", "/api/v1/agents/planner/threads/none/messages", "", "404", "thread" },
        { "PATCH", "/api/v1/agents/planner/threads/none", "{\"title\":\"x\"}", "404", "thread" },
        { "POST", "/api/v1/models/reload", "", "404", "there is no configuration" },
        { "POST", "/api/v1/models/reload", "{\"x\":1}", "422", "/x" },
        { "POST", "/api/v1/models/gpt/consent", "{\"policy_version\":\"1\"}", "404",
          "there is no model gpt" },
        { "PUT", "/api/v1/models", "", "405", "allowed: OPTIONS, GET, HEAD" },
        { "GET", "/api/v1/nothing", "", "404", "there is nothing at" },
    };
    struct home *home = home_start(t);
    const char *answer;

    ASK("POST", "/run", "{\"prompt\":\"hi\"}"); /* makes the agent that greets */
    home_check(t, home, cases, ARRAY_LEN(cases));
    answer = ASK("GET", "/api/v1/runs", "");
    ASSERT(strstr(strstr(answer, "\"runId\"") + 1, "\"runId\"") == NULL);
    ASSERT_CONTAINS(ASK("GET", "/api/v1/kill", ""), "[]");
    answer = ASK("GET", "/api/v1/agents/planner", "");
    ASSERT_CONTAINS(answer, "\"paused\":false");
    home_end(home);
}
