/* What waits for a person, and what becomes of it, over the interface.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "home.h"

#define MEMORY "/api/v1/agents/planner/memory/knowledge/a.md"

/* What a stream says until it has said one of these. */
static const char *hear(struct test *t, int fd, const char *one, const char *other)
{
    char *heard = arena_alloc(&t->arena, 1, 1 << 16);
    size_t n = 0;
    ssize_t got;

    while (!strstr(heard, one) && !strstr(heard, other) &&
           (got = read(fd, heard + n, (1 << 16) - n - 1)) > 0)
        n += (size_t)got;
    close(fd);
    return heard;
}

/* A run that waits; the path of its item. Its stream would go on until a person decides. */
static const char *wait_for(struct test *t, struct home *home, const char *prompt)
{
    const char *body = arena_printf(&t->arena, "{\"model\":\"acts\",\"prompt\":\"%s\"}", prompt);
    int fd = home_stream(home, "POST", "/run", body);
    const char *heard = hear(t, fd, "event: waiting", "event: done");

    return arena_printf(&t->arena, "/api/v1/inbox/%s", text_of(t, heard, "itemId"));
}

/* Until the run of this item has ended. */
static void wait_end(struct test *t, struct home *home, const char *item)
{
    const char *run = text_of(t, ASK("GET", item, ""), "runId");
    const char *path = arena_printf(&t->arena, "/api/v1/runs/%s/events", run);

    ASSERT_CONTAINS(hear(t, home_stream(home, "GET", path, ""), "event: done", "event: error"),
                    "event: done");
}

static const char *question(struct test *t, struct home *home)
{
    return wait_for(t, home, "ask_user {\\\"question\\\":\\\"Tea?\\\"}");
}

static const char *change(struct test *t, struct home *home)
{
    return wait_for(t, home,
                    "write_memory {\\\"path\\\":\\\"knowledge/a.md\\\",\\\"content\\\":\\\"- "
                    "tea\\\",\\\"reason\\\":\\\"said so\\\"}");
}

static const char *decision(struct test *t, const char *item)
{
    return arena_printf(&t->arena, "%s/decision", item);
}

TEST(a_question_is_answered_once_however_often_it_is_sent)
{
    struct home *home = home_start(t);
    const char *item = question(t, home), *decide = decision(t, item);

    CHECK({ "GET", "/api/v1/inbox", "", "200", "Tea?" },
          { "GET", item, "", "200", "\"kind\":\"question\"" },
          { "GET", "/api/v1/inbox?limit=1", "", "200", "\"after\":" },
          { "POST", decide, "{\"decision\":\"answer\"}", "422", "answer needs answer" },
          { "POST", decide, "{\"decision\":\"maybe\"}", "422",
            "decision must be approve, reject, edit or answer, not \\\"maybe\\\"" },
          { "POST", decide, "{\"decision\":\"answer\",\"answer\":\"yes\",\"scope\":\"run\"}", "422",
            "a scope goes with approve only" },
          { "POST", decide, "{\"decision\":\"approve\",\"scope\":\"forever\"}", "422",
            "scope must be once, run or always, not \\\"forever\\\"" },
          { "POST", decide, "{\"decision\":\"answer\",\"answer\":\"yes\",\"edited_content\":\"x\"}",
            "422", "edited_content goes with edit only" },
          { "POST", decide, "{\"decision\":\"approve\",\"input\":{\"a\":1}}", "422",
            "input goes with edit only" },
          { "POST", decide, "{\"decision\":\"reject\",\"answer\":\"yes\"}", "422",
            "answer goes with answer only" },
          { "POST", decide, "{\"decision\":\"edit\",\"edited_content\":\"x\"}", "422",
            "goes with a change of memory; this is of kind question" },
          { "POST", decide, "{\"decision\":\"answer\",\"answer\":\"yes\",\"more\":1}", "422",
            "/more" },
          { "GET", item, "", "200", "\"state\":\"pending\"" },
          { "POST", decide, "{\"decision\":\"answer\",\"answer\":\"yes\"}", "200",
            "{\"applied\":true" },
          { "POST", decide, "{\"decision\":\"answer\",\"answer\":\"yes\"}", "200",
            "{\"applied\":false" },
          { "GET", item, "", "200", "\"state\":\"answered\"" },
          { "GET", "/api/v1/inbox", "", "200", "{\"items\":[]}" },
          { "GET", "/api/v1/inbox?state=answered", "", "200", "Tea?" },
          { "GET", "/api/v1/inbox?state=all", "", "200", "Tea?" },
          { "GET", "/api/v1/inbox?state=rejected", "", "200", "{\"items\":[]}" });
    home_end(home);
}

TEST(memory_is_written_as_the_person_edited_it)
{
    struct home *home = home_start(t);
    const char *item = change(t, home), *decide = decision(t, item);

    CHECK({ "GET", MEMORY, "", "404", "" },
          { "POST", decide, "{\"decision\":\"edit\"}", "422", "edit needs input" },
          { "POST", decide, "{\"decision\":\"edit\",\"input\":[]}", "422", "/input" },
          { "POST", decide, "{\"decision\":\"edit\",\"edited_content\":7}", "422",
            "edited_content must be a string, not" },
          { "GET", MEMORY, "", "404", "" },
          { "POST", decide, "{\"decision\":\"edit\",\"edited_content\":\"- coffee\"}", "200",
            "{\"applied\":true" });
    wait_end(t, home, item);
    CHECK({ "GET", MEMORY, "", "200", "\"content\":\"- coffee\"" });
    home_end(home);
}

TEST(what_is_rejected_is_not_done_and_says_why)
{
    struct home *home = home_start(t);
    const char *item = change(t, home);

    CHECK({ "POST", decision(t, item), "{\"decision\":\"reject\",\"reason\":\"not so\"}", "200",
            "\"state\":\"rejected\"" },
          { "GET", item, "", "200", "not so" },
          { "POST", decision(t, item), "{\"decision\":\"approve\"}", "409", "" },
          { "GET", MEMORY, "", "404", "" });
    home_end(home);
}

TEST(a_decision_that_could_not_be_stored_is_still_to_be_made)
{
    struct home *home = home_start(t);
    const char *item = question(t, home);

    ASSERT_CONTAINS(ask_in_vain(t, home, "POST", decision(t, item),
                                "{\"decision\":\"answer\",\"answer\":\"yes\"}"),
                    "\"code\":\"storage_failed\"");
    CHECK({ "GET", item, "", "200", "\"state\":\"pending\"" },
          { "POST", decision(t, item), "{\"decision\":\"answer\",\"answer\":\"yes\"}", "200",
            "{\"applied\":true" });
    home_end(home);
}

TEST(a_run_that_waits_is_shown_and_steered_by_the_beginning_of_its_key)
{
    struct home *home = home_start(t);
    const char *item = question(t, home), *run = text_of(t, ASK("GET", item, ""), "runId");
    const char *path = arena_printf(&t->arena, "/api/v1/runs/%.8s", run);
    const char *mode = arena_printf(&t->arena, "%s/mode", path);
    const char *trace = arena_printf(&t->arena, "%s/trace", path);
    const char *events = arena_printf(&t->arena, "%s/events", path);

    CHECK({ "GET", path, "", "200", "\"status\":\"waiting\"" },
          { "GET", "/api/v1/runs?agent=planner&limit=1", "", "200", run },
          { "GET", "/api/v1/runs?before=1", "", "200", "{\"runs\":[]}" },
          { "GET", trace, "", "200", "\"events\":[" },
          { "GET", arena_printf(&t->arena, "%s?format=text", trace), "", "200", "ask_user" },
          { "GET", arena_printf(&t->arena, "%s?format=ndjson", trace), "", "200", "{\"run\":" },
          { "GET", arena_printf(&t->arena, "%s?format=xml", trace), "", "400",
            "format must be json, ndjson or text, not \\\"xml\\\"" },
          { "GET", events, "", "200", "\"ended\":false" },
          { "GET", arena_printf(&t->arena, "%s?limit=1", events), "", "200", "\"more\":true" },
          { "GET", arena_printf(&t->arena, "%s?limit=1001", events), "", "400", "from 1 to 1000" },
          { "POST", mode, "{\"mode\":\"wiggum\"}", "200", "\"mode\":\"wiggum\"" },
          { "POST", mode, "{\"mode\":\"yolo\"}", "422", "mode must be structured or wiggum" },
          { "POST", mode, "{\"mode\":\"structured\",\"maxIterations\":3}", "400",
            "maxIterations can't be changed while the run goes on" },
          { "POST", arena_printf(&t->arena, "%s/cancel", path), "{\"x\":1}", "422", "/x" },
          { "POST", arena_printf(&t->arena, "%s/cancel", path), "", "200", "" });
    wait_end(t, home, item);
    CHECK({ "GET", item, "", "200", "\"state\":\"withdrawn\"" },
          { "GET", path, "", "200", "\"status\":\"cancelled\"" },
          { "GET", events, "", "200", "\"ended\":true" },
          { "POST", mode, "{\"mode\":\"wiggum\"}", "409", "" });
    home_end(home);
}
