/* The library as a program uses it: a house in a temporary directory, models and tools of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dormouse.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "harness/test.h"

#define LONG_MS 20000

#define READ_ONLY                                                                                  \
    "\"idempotencyStrategy\":\"read_only\",\"riskLevel\":\"none\",\"mutating\":false,"             \
    "\"approval\":\"never\""
#define CONTRACT(name, more)                                                                       \
    "{\"name\":\"" name "\",\"description\":\"A tool that a test has made "                        \
    "up.\",\"inputSchema\":{\"type\":\"object\"}" more "}"

/* ---- a model that does what it was told ---- */

struct world {
    struct dm_house *house;
    struct dm_error error;
    char run[DM_ID_SIZE];
    struct buf events;
    const char *call;      /* the tool it asks for; NULL: it only speaks */
    const char *arguments; /* of that call; NULL: some */
    const char *fail;      /* the code it fails with */
    bool later;            /* the answer is kept */
    struct dm_answer *kept;
    struct dm_tool_job *job;
    int asked, acted;
    char gate[DM_ID_SIZE];
    char heard[512]; /* arguments, by the tool; the last tool message, by the model */
};

static int think(void *arg, const struct dm_model_request *request, struct dm_answer *answer)
{
    struct world *w = arg;
    const struct dm_message *last = request->messages[request->message_count - 1];

    w->asked++;
    if (w->later) {
        w->kept = answer;
        return 0;
    }
    if (w->fail) {
        dm_answer_fail(answer, w->fail, "it was told to");
        return 0;
    }
    if (last->role == DM_TOOL)
        snprintf(w->heard, sizeof(w->heard), "%s", last->text);
    if (w->call && last->role != DM_TOOL)
        dm_answer_call(answer, NULL, w->call, w->arguments ? w->arguments : "{\"a\":1}");
    else
        dm_answer_text(answer, "spoken");
    dm_answer_done(answer);
    return 0;
}

static void hear(void *arg, const char *run, const char *json)
{
    struct world *w = arg;
    const char *gate = strstr(json, "\"gateId\":\"");

    ASSERT_TEXT(run, w->run);
    buf_printf(&w->events, "%s\n", json);
    if (gate)
        snprintf(w->gate, sizeof(w->gate), "%.64s", gate + strlen("\"gateId\":\""));
}

static int act(void *arg, const char *arguments, const char *operation, struct dm_tool_job *job)
{
    struct world *w = arg;

    ASSERT_EQ(strlen(operation), 64);
    w->acted++;
    snprintf(w->heard, sizeof(w->heard), "%s", arguments);
    dm_tool_done(job, "{\"did\":true}");
    return 0;
}

static int act_later(void *arg, const char *arguments, const char *operation,
                     struct dm_tool_job *job)
{
    struct world *w = arg;

    (void)arguments, (void)operation;
    w->acted++;
    w->job = job;
    return 0;
}

static void open_world(struct world *w, const char *directory)
{
    struct dm_agent_config config = DM_AGENT_CONFIG_INIT;

    config.directory = directory;
    config.model_call = think;
    config.model_arg = w;
    config.on_event = hear;
    config.event_arg = w;
    w->events = BUF_INIT(1u << 20);
    if (dm_open(&config, &w->house, &w->error) < 0)
        FAIL("open: %s", w->error.message);
}

static void close_world(struct world *w)
{
    dm_close(w->house);
    buf_release(&w->events);
}

static void start(struct world *w, const char *text)
{
    struct dm_prompt prompt = DM_PROMPT_INIT;

    prompt.prompt = text;
    if (dm_start(w->house, &prompt, w->run, &w->error) < 0)
        FAIL("start: %s", w->error.message);
}

/* ---- runs ---- */

TEST(a_prompt_is_answered_by_the_programs_model)
{
    struct world w = { .asked = 0 };

    open_world(&w, NULL);
    start(&w, "hello");
    ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_DONE);
    ASSERT_EQ(w.asked, 1);
    ASSERT_CONTAINS(buf_text(&w.events), "\"result\":\"spoken\"");
    ASSERT_CONTAINS(buf_text(&w.events), "\"type\":\"done\"");
    close_world(&w);
}

TEST(a_tool_that_says_nothing_of_itself_waits_for_approval)
{
    struct world w = { .call = "deed" };

    open_world(&w, NULL);
    ASSERT_EQ(dm_add_tool(w.house, CONTRACT("deed", ""), act, &w, &w.error), 0);
    start(&w, "do it");
    ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_WAITING);
    ASSERT_EQ(w.acted, 0);
    ASSERT_EQ(dm_decide(w.house, w.gate, DM_APPROVE, DM_ONCE, NULL, &w.error), 1);
    ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_DONE);
    ASSERT_EQ(w.acted, 1);
    ASSERT_CONTAINS(w.heard, "did");
    close_world(&w);
}

TEST(a_yes_to_what_is_dangerous_needs_its_flag)
{
    static const struct {
        int decision;
        const char *text;
    } words[] = { { DM_APPROVE, NULL }, { DM_EDIT, "{\"a\":2}" } };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct world w = { .call = "deed", .arguments = "{\"a\":\"x\xE2\x80\xAEy\"}" };

        open_world(&w, NULL);
        ASSERT_EQ(dm_add_tool(w.house, CONTRACT("deed", ""), act, &w, &w.error), 0);
        start(&w, "do it");
        ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_WAITING);
        ASSERT_CONTAINS(buf_text(&w.events), "\"danger\":[");
        ASSERT_EQ(dm_decide(w.house, w.gate, words[i].decision, DM_ONCE, words[i].text, &w.error),
                  -1);
        ASSERT_TEXT(w.error.code, "confirmation_required");
        ASSERT_CONTAINS(w.error.message, "U+202E");
        ASSERT_EQ(w.acted, 0);
        ASSERT_EQ(dm_decide(w.house, w.gate, words[i].decision | DM_ANYWAY, DM_ONCE, words[i].text,
                            &w.error),
                  1);
        ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_DONE);
        ASSERT_EQ(w.acted, 1);
        close_world(&w);
    }
}

TEST(a_rejection_reaches_the_model_with_its_reason)
{
    struct world w = { .call = "deed" };

    open_world(&w, NULL);
    ASSERT_EQ(dm_add_tool(w.house, CONTRACT("deed", ""), act, &w, &w.error), 0);
    start(&w, "do it");
    ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_WAITING);
    ASSERT_EQ(dm_decide(w.house, w.gate, DM_REJECT, DM_ONCE, "not on a Sunday", &w.error), 1);
    ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_DONE);
    ASSERT_EQ(w.acted, 0);
    ASSERT_CONTAINS(w.heard, "not on a Sunday");
    close_world(&w);
}

TEST(edited_arguments_are_what_the_tool_gets)
{
    struct world w = { .call = "deed" };

    open_world(&w, NULL);
    ASSERT_EQ(dm_add_tool(w.house, CONTRACT("deed", ""), act_later, &w, &w.error), 0);
    start(&w, "do it");
    ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_WAITING);
    ASSERT_EQ(dm_decide(w.house, w.gate, DM_EDIT, DM_ONCE, "{\"a\":2}", &w.error), 1);
    ASSERT_EQ(dm_decide(w.house, w.gate, DM_EDIT, DM_ONCE, "{\"a\":2}", &w.error), 0);
    while (!w.job)
        ASSERT(dm_run_until(w.house, w.run, 100, &w.error) >= 0);
    dm_tool_done(w.job, "{}");
    ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_DONE);
    close_world(&w);
}

TEST(a_foreign_loop_drives_the_house_by_its_descriptor)
{
    struct world w = { .call = "look" };
    int turns = 0;

    open_world(&w, NULL);
    ASSERT_EQ(dm_add_tool(w.house, CONTRACT("look", "," READ_ONLY), act, &w, &w.error), 0);
    start(&w, "look");
    while (!strstr(buf_text(&w.events), "\"type\":\"done\"") && turns++ < 10000) {
        struct pollfd fd = { .fd = dm_fd(w.house), .events = POLLIN };
        int wait = dm_timeout_ms(w.house);

        poll(&fd, 1, wait < 0 || wait > 1000 ? 1000 : wait);
        ASSERT(dm_step(w.house, &w.error) >= 0);
    }
    ASSERT_EQ(dm_run_state(w.house, w.run, &w.error), DM_DONE);
    ASSERT_EQ(w.acted, 1);
    close_world(&w);
}

TEST(a_cancelled_run_ends_and_a_late_answer_is_for_nobody)
{
    struct world w = { .later = true };

    open_world(&w, NULL);
    start(&w, "think long");
    while (!w.kept)
        ASSERT(dm_run_until(w.house, w.run, 100, &w.error) >= 0);
    ASSERT_EQ(dm_cancel(w.house, w.run, &w.error), 0);
    ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_CANCELLED);
    dm_answer_text(w.kept, "too late");
    dm_answer_done(w.kept);
    ASSERT(!strstr(buf_text(&w.events), "too late"));
    close_world(&w);
}

TEST(an_answer_after_the_house_was_closed_harms_nobody)
{
    struct world w = { .later = true };

    open_world(&w, NULL);
    start(&w, "think long");
    while (!w.kept)
        ASSERT(dm_run_until(w.house, w.run, 100, &w.error) >= 0);
    close_world(&w);
    dm_answer_done(w.kept);
}

TEST(a_model_that_fails_ends_the_run_with_its_reason)
{
    struct world w = { .fail = "context_too_long" };

    open_world(&w, NULL);
    start(&w, "hello");
    ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_FAILED);
    ASSERT_CONTAINS(buf_text(&w.events), "\"code\":\"context_too_long\"");
    close_world(&w);
}

TEST(a_house_that_was_closed_while_waiting_goes_on_when_opened_again)
{
    struct world w = { .call = "deed" }, again = { .call = "deed" };
    char directory[] = "/tmp/dormouse-test-XXXXXX";
    AUTO_BUF remove = BUF_INIT(256);

    ASSERT(mkdtemp(directory));
    open_world(&w, directory);
    ASSERT_EQ(dm_add_tool(w.house, CONTRACT("deed", ""), act, &w, &w.error), 0);
    start(&w, "do it");
    ASSERT_EQ(dm_run_until(w.house, w.run, LONG_MS, &w.error), DM_WAITING);
    close_world(&w);

    open_world(&again, directory);
    snprintf(again.run, sizeof(again.run), "%s", w.run);
    ASSERT_EQ(dm_add_tool(again.house, CONTRACT("deed", ""), act, &again, &again.error), 0);
    ASSERT_EQ(dm_decide(again.house, w.gate, DM_APPROVE, DM_ONCE, NULL, &again.error), 1);
    ASSERT_EQ(dm_run_until(again.house, again.run, LONG_MS, &again.error), DM_DONE);
    ASSERT_EQ(again.acted, 1);
    close_world(&again);
    buf_printf(&remove, "rm -rf %s", directory);
    ASSERT_EQ(system(buf_text(&remove)), 0);
}

/* ---- bad input ---- */

TEST(what_cannot_be_is_refused_with_a_code)
{
    struct dm_agent_config config = DM_AGENT_CONFIG_INIT;
    struct dm_prompt prompt = DM_PROMPT_INIT;
    struct world w = { .asked = 0 };
    struct dm_house *other;

    ASSERT_EQ(dm_open(NULL, &other, &w.error), -1);
    config.size = 1;
    ASSERT_EQ(dm_open(&config, &other, &w.error), -1);
    ASSERT_TEXT(w.error.code, "bad_request");
    config.size = 4097;
    ASSERT_EQ(dm_open(&config, &other, &w.error), -1);
    config.size = sizeof(config);
    config.directory = "";
    ASSERT_EQ(dm_open(&config, &other, &w.error), -1);
    ASSERT_TEXT(w.error.code, "bad_request");
    config.directory = "/dev/null/house";
    ASSERT_EQ(dm_open(&config, &other, &w.error), -1);
    ASSERT(strstr(w.error.message, "/dev/null/house"));
    open_world(&w, NULL);
    ASSERT_EQ(dm_add_tool(w.house, "not JSON", act, &w, &w.error), -1);
    ASSERT_TEXT(w.error.code, "bad_request");
    ASSERT_EQ(dm_add_tool(w.house, "[]", act, &w, NULL), -1);
    ASSERT_EQ(dm_add_tool(w.house, CONTRACT("bash", ""), act, &w, &w.error), -1);
    ASSERT_TEXT(w.error.code, "conflict");
    ASSERT_EQ(dm_start(w.house, &prompt, w.run, &w.error), -1);
    prompt.prompt = "hello";
    prompt.mode = DM_WIGGUM + 1;
    ASSERT_EQ(dm_start(w.house, &prompt, w.run, &w.error), -1);
    ASSERT_TEXT(w.error.code, "bad_request");
    prompt.mode = -1;
    ASSERT_EQ(dm_start(w.house, &prompt, w.run, &w.error), -1);
    prompt.mode = DM_STRUCTURED;
    prompt.max_iterations = -1;
    ASSERT_EQ(dm_start(w.house, &prompt, w.run, &w.error), -1);
    prompt.max_iterations = 0;
    ASSERT_OK(dm_start(w.house, &prompt, w.run, &w.error));
    ASSERT_EQ(dm_set_mode(w.house, w.run, DM_WIGGUM + 1, &w.error), -1);
    ASSERT_TEXT(w.error.code, "bad_request");
    ASSERT_EQ(dm_set_mode(w.house, "nobody", DM_WIGGUM, &w.error), -1);
    ASSERT_TEXT(w.error.code, "not_found");
    ASSERT_EQ(dm_set_mode(w.house, w.run, DM_WIGGUM, &w.error), 0);
    prompt.size = 3;
    ASSERT_EQ(dm_start(w.house, &prompt, w.run, &w.error), -1);
    ASSERT_EQ(dm_cancel(w.house, "nobody", &w.error), -1);
    ASSERT_TEXT(w.error.code, "not_found");
    ASSERT_EQ(dm_run_state(w.house, "nobody", &w.error), -1);
    ASSERT_EQ(dm_decide(w.house, "nobody", 99, 0, NULL, &w.error), -1);
    ASSERT_EQ(dm_decide(w.house, "nobody", DM_ANSWER, 0, NULL, &w.error), -1);
    ASSERT_EQ(dm_run_until(w.house, "nobody", 10, &w.error), -1);
    ASSERT_EQ(dm_start(w.house, NULL, w.run, &w.error), -1);
    ASSERT_EQ(dm_cancel(w.house, NULL, &w.error), -1);
    ASSERT_EQ(dm_decide(w.house, NULL, DM_APPROVE, DM_ONCE, NULL, &w.error), -1);
    ASSERT_EQ(dm_decide(w.house, "nobody", DM_APPROVE, DM_ALWAYS + 1, NULL, &w.error), -1);
    ASSERT_EQ(dm_add_tool(w.house, NULL, act, &w, &w.error), -1);
    ASSERT_EQ(dm_add_tool(w.house, CONTRACT("idle", ""), NULL, &w, &w.error), -1);
    ASSERT_TEXT(w.error.code, "bad_request");
    close_world(&w);
}

/* ---- programs that are careless ---- */

struct careless {
    struct world w;
    const char *id, *name, *arguments, *output;
    int calls, rounds; /* calls in each of so many rounds */
    int64_t tokens;
    bool fails;
};

static int think_carelessly(void *arg, const struct dm_model_request *request,
                            struct dm_answer *answer)
{
    struct careless *c = arg;

    (void)request;
    dm_answer_text(answer, NULL);
    dm_answer_text(answer, "spo");
    dm_answer_text(answer, "ken \xff, \xc3");
    dm_answer_text(answer, "\xa4, and a piece of \xe2\x82");
    dm_answer_thinking(answer, "");
    dm_answer_usage(answer, c->tokens, c->tokens);
    for (int i = 0; c->w.asked < c->rounds && i < c->calls; i++)
        dm_answer_call(answer, c->id, c->name, c->arguments);
    c->w.asked++;
    if (c->fails)
        return -1;
    dm_answer_done(answer);
    return 0;
}

static int act_carelessly(void *arg, const char *arguments, const char *operation,
                          struct dm_tool_job *job)
{
    struct careless *c = arg;

    (void)arguments, (void)operation;
    c->w.acted++;
    if (c->output && strcmp(c->output, "fail") == 0)
        dm_tool_fail(job, "no such code", NULL);
    else if (c->output && strcmp(c->output, "-1") == 0)
        return -1;
    else
        dm_tool_done(job, c->output);
    return 0;
}

/* Runs one prompt to its end; what it became. */
static int run_carelessly(struct careless *c)
{
    struct dm_agent_config config = DM_AGENT_CONFIG_INIT;
    int state;

    config.model_call = think_carelessly;
    config.model_arg = c;
    config.on_event = hear;
    config.event_arg = &c->w;
    c->w.events = BUF_INIT(1u << 20);
    if (dm_open(&config, &c->w.house, &c->w.error) < 0 ||
        dm_add_tool(c->w.house, CONTRACT("poke", "," READ_ONLY), act_carelessly, c, &c->w.error) <
            0)
        FAIL("open: %s", c->w.error.message);
    start(&c->w, "go");
    state = dm_run_until(c->w.house, c->w.run, LONG_MS, &c->w.error);
    return state;
}

TEST(a_careless_program_ends_its_runs_all_the_same)
{
    static const struct {
        struct careless how;
        int state, acted;
        const char *told;
    } cases[] = {
        { { .output = "{}" },
          DM_DONE,
          0,
          "\"content\":\"spoken \xef\xbf\xbd, ä, and a piece of \xef\xbf\xbd" },
        { { .calls = 1, .rounds = 1, .name = "poke", .output = "{}" }, DM_DONE, 1, "completed" },
        { { .calls = 1, .rounds = 3, .name = "poke", .output = "{}" }, DM_DONE, 3, "completed" },
        { { .calls = 2, .rounds = 1, .name = "poke", .id = "same", .output = "{}" },
          DM_DONE,
          2,
          "completed" },
        { { .calls = 1, .rounds = 1, .name = "poke", .arguments = "no JSON" },
          DM_DONE,
          0,
          "failed" },
        { { .calls = 1, .rounds = 1, .name = "poke", .arguments = "[]" }, DM_DONE, 0, "failed" },
        { { .calls = 1, .rounds = 1, .name = "nothing" }, DM_DONE, 0, "failed" },
        { { .calls = 1, .rounds = 1, .name = NULL }, DM_DONE, 0, "failed" },
        { { .calls = 1, .rounds = 1, .name = "poke", .output = NULL }, DM_DONE, 1, "completed" },
        { { .calls = 1, .rounds = 1, .name = "poke", .output = "no JSON" }, DM_DONE, 1, "failed" },
        { { .calls = 1, .rounds = 1, .name = "poke", .output = "fail" }, DM_DONE, 1, "it failed" },
        { { .calls = 1, .rounds = 1, .name = "poke", .output = "-1" }, DM_DONE, 1, "poke failed" },
        { { .calls = 1000, .rounds = 1, .name = "poke" }, DM_FAILED, 0, "more calls than" },
        { { .fails = true }, DM_FAILED, 0, "the model's function failed" },
        { { .tokens = -5 }, DM_DONE, 0, "spoken" },
        { { .tokens = INT64_MAX }, DM_DONE, 0, "spoken" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct careless c = cases[i].how;
        int state = run_carelessly(&c);

        if (state != cases[i].state || c.w.acted != cases[i].acted ||
            !strstr(buf_text(&c.w.events), cases[i].told))
            FAIL("case %zu became %d, acted %d times: %s", i, state, c.w.acted,
                 buf_text(&c.w.events));
        close_world(&c.w);
    }
}

/* Results are matched with calls by their ids. */
TEST(ids_that_are_made_are_not_made_twice_in_a_run)
{
    struct careless c = { .calls = 2, .rounds = 2, .name = "poke", .output = "{}" };
    char ids[8][DM_ID_SIZE];
    size_t n = 0;

    ASSERT_EQ(run_carelessly(&c), DM_DONE);
    for (const char *at = buf_text(&c.w.events); (at = strstr(at, "\"type\":\"tool_use\"")); at++) {
        const char *id = strstr(at, "\"toolCallId\":\"");

        ASSERT(id && n < 8);
        snprintf(ids[n], sizeof(ids[n]), "%.*s", (int)strcspn(id + 14, "\""), id + 14);
        for (size_t i = 0; i < n; i++)
            ASSERT(strcmp(ids[i], ids[n]) != 0);
        n++;
    }
    ASSERT_EQ(n, 4);
    close_world(&c.w);
}

TEST(one_process_has_a_directory_at_a_time)
{
    char directory[] = "/tmp/dormouse-test-XXXXXX";
    struct dm_agent_config config = DM_AGENT_CONFIG_INIT;
    struct world w = { .asked = 0 };
    struct dm_house *other;
    AUTO_BUF remove = BUF_INIT(256);

    ASSERT(mkdtemp(directory));
    open_world(&w, directory);
    config.directory = directory;
    ASSERT_EQ(dm_open(&config, &other, &w.error), -1);
    ASSERT_TEXT(w.error.code, "conflict");
    close_world(&w);
    buf_printf(&remove, "rm -rf %s", directory);
    ASSERT_EQ(system(buf_text(&remove)), 0);
}
