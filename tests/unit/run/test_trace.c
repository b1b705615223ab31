/* Traces and trajectories, line by line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/trace.h"

#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "db/db.h"
#include "run/resume.h"
#include "scribe.h"

#define LINES_MAX 100

struct lines {
    struct test *t;
    struct str at[LINES_MAX];
    size_t n;
};

static void keep(void *arg, struct str line)
{
    struct lines *lines = arg;

    ASSERT(lines->n < LINES_MAX);
    lines->at[lines->n++] = str_of(arena_copy(&lines->t->arena, line.p, line.n), line.n);
}

static struct lines traced(struct test *t, struct domain *domain, int64_t run_n, bool json)
{
    struct lines lines = { .t = t };

    ASSERT_OK(run_trace(domain, run_n, &run_program, json, keep, &lines, &t->err));
    return lines;
}

static int64_t store_story(struct test *t, struct domain *domain, const char *id, uint32_t mode)
{
    AUTO_SCRIBE s;

    scribe_story(&s, t, domain, &run_program, id, mode);
    return s.run.n;
}

/* The first line that holds the text, as a C string. */
static const char *line_with(const struct lines *lines, const char *text)
{
    for (size_t i = 0; i < lines->n; i++)
        if (str_find(lines->at[i], str_from(text)) >= 0)
            return lines->at[i].p;
    FAIL("no line has %s", text);
}

/* ---- for people ---- */

static const char *const story[] = {
    "run aaaa1111 of planner, 2023-11-14T22:13:20.000Z, structured, model offline: done",
    "     0.007     #1  start                              tidy this folder",
    "     0.014         think                               [loop]",
    "     0.021     #2  musing                             The folder may hold old files.",
    "     0.028     #3  said                               I look around.",
    "     0.035     #4  call(1)                            bash {\"command\":\"ls\"}",
    "     0.042     #5  call(2, risky)                     bash {\"command\":\"rm old.txt\"}",
    "     0.049     #6  call(3, risky)                     write_file "
    "{\"path\":\"a.txt\",\"content\":\"x\"}",
    "     0.056     #7  thought(more)                      {\"in\":12,\"out\":5} (took 42 ms)",
    "     0.063     #8  gate(2, risky)                     Run a command "
    "{\"command\":\"rm old.txt\"} [ask_first]",
};

TEST(a_trace_reads_line_by_line)
{
    AUTO(domain) domain = scribe_domain(t);
    struct lines lines;

    store_story(t, domain, "aaaa1111", 0);
    lines = traced(t, domain, 1, false);
    for (size_t i = 0; i < sizeof(story) / sizeof(story[0]); i++)
        ASSERT_STR(lines.at[i], story[i]);
    ASSERT_CONTAINS(line_with(&lines, "answer(2, allowed)"), "approved by owner (took ");
    ASSERT_CONTAINS(line_with(&lines, "answer(3)"), "rejected by owner: not today");
    ASSERT_CONTAINS(line_with(&lines, "acted(2, failed)"),
                    "bash path_denied: old.txt is not yours (took ");
    ASSERT_CONTAINS(line_with(&lines, " act(1)"), "bash, prepared [call]");
    ASSERT_CONTAINS(line_with(&lines, "settled(3"), "rejected: not today [call]");
    ASSERT_CONTAINS(lines.at[lines.n - 1].p, "\"stopReason\":\"end_turn\"");
}

TEST(what_a_tool_printed_can_not_steer_the_terminal_and_is_shortened)
{
    AUTO(domain) domain = scribe_domain(t);
    AUTO_SCRIBE s;
    struct lines lines;
    char long_text[4000];

    scribe_begin(&s, t, domain, &run_program, "bbbb2222", 0);
    scribe_call(&s, 1, 0, "bash", "{\"command\":\"cat x\"}");
    scribe_word(&s, RUN_EV_THOUGHT, 0, RUN_MORE, NULL);
    snprintf(long_text, sizeof(long_text), "{\"output\":\"a\\u001b[31mred\\nb\\u202ec%01500d\"}",
             0);
    scribe_acted(&s, 1, 0, long_text);
    lines = traced(t, domain, s.run.n, false);
    ASSERT_CONTAINS(line_with(&lines, "acted(1)"), "bash a [31mred b c0000");
    ASSERT_CONTAINS(line_with(&lines, "acted(1)"), "…");
    for (size_t i = 0; i < lines.n; i++) {
        ASSERT(lines.at[i].n < 400);
        ASSERT(str_find_char(lines.at[i], '\x1b') < 0);
        ASSERT(str_find_char(lines.at[i], '\n') < 0);
    }
}

/* ---- for programs ---- */

static struct json_object *parsed(struct test *t, struct str line)
{
    struct json_object *value = NULL;

    ASSERT_OK(json_parse(line, &value, &t->err));
    return value;
}

TEST(every_line_of_a_json_trace_is_an_object_with_who_asked_and_what_it_refers_to)
{
    AUTO(domain) domain = scribe_domain(t);
    struct lines lines;
    int64_t last = 0;

    lines = traced(t, domain, store_story(t, domain, "aaaa1111", RUN_WIGGUM), true);
    for (size_t i = 1; i < lines.n; i++) {
        AUTO_JSON value = parsed(t, lines.at[i]);
        struct str type = STR_NONE;
        int64_t row = 0;

        ASSERT_EQ(json_get_str(value, "type", &type, &t->err), 1);
        ASSERT_EQ(json_get_i64(value, "row", &row, &t->err), 1);
        ASSERT(row > last);
        last = row;
        /* What comes from outside was asked for by nobody, all else by someone. */
        for (unsigned k = 1; k < run_program.type_count; k++)
            if (str_is(type, run_program.types[k].name))
                ASSERT_EQ(json_find(value, "by") == NULL,
                          (run_program.types[k].flags & BP_EXT) != 0);
    }
}

TEST(a_json_trace_keeps_content_whole)
{
    AUTO(domain) domain = scribe_domain(t);
    struct lines lines = traced(t, domain, store_story(t, domain, "aaaa1111", 0), true);
    AUTO_JSON head = parsed(t, lines.at[0]);
    AUTO_JSON answer = NULL;
    struct json_object *item;

    ASSERT_STR(json_str(json_find(json_find(head, "run"), "agent")), "planner");
    ASSERT(json_object_get_boolean(json_find(json_find(head, "run"), "sameProgram")));
    answer = parsed(t, str_from(line_with(&lines, "\"rejected\",\"decidedBy\"")));
    item = json_find(answer, "item");
    ASSERT_STR(json_str(json_find(item, "decidedBy")), "owner");
    ASSERT_STR(json_str(json_find(item, "reason")), "not today");
    ASSERT_CONTAINS(line_with(&lines, "\"type\":\"gate\""), "\"thread\":\"ask_first\"");
    ASSERT_CONTAINS(line_with(&lines, "\"type\":\"acted\""), "\"tookMs\":");
    ASSERT_CONTAINS(line_with(&lines, "\"type\":\"act\""), "\"status\":\"prepared\"");
    ASSERT_CONTAINS(line_with(&lines, "\"type\":\"thought\""), "\"attributes\":[\"more\"]");
}

TEST(a_log_of_another_program_is_told_without_who_asked)
{
    AUTO(domain) domain = scribe_domain(t);
    int64_t n = store_story(t, domain, "aaaa1111", 0);
    const struct bp_program *lax = bp_program_without(&run_program, "ask_first", &t->arena);
    struct lines lines = { .t = t };

    ASSERT_OK(run_trace(domain, n, lax, false, keep, &lines, &t->err));
    ASSERT_CONTAINS(lines.at[0].p, "recorded with other rules");
    for (size_t i = 1; i < lines.n; i++)
        ASSERT(str_find(lines.at[i], STR("[ask_first]")) < 0);
}

TEST(a_run_or_event_that_is_not_there_is_an_error)
{
    AUTO(domain) domain = scribe_domain(t);
    struct lines lines = { .t = t };
    int64_t n = store_story(t, domain, "aaaa1111", 0);

    ASSERT_FAILS(run_trace(domain, 9, &run_program, false, keep, &lines, &t->err), ERR_NOT_FOUND);
    err_reset(&t->err);
    ASSERT_OK(
        db_exec(domain_db(domain), SQL("UPDATE run_events SET type = 77 WHERE n = 5"), &t->err));
    ASSERT_FAILS(run_trace(domain, n, &run_program, false, keep, &lines, &t->err),
                 ERR_INTEGRITY_FAILED);
    ASSERT_EQ(lines.n, 5);
}

/* ---- trajectories ---- */

static struct lines exported(struct test *t, struct domain *domain, struct trajectory_filter filter,
                             int expected)
{
    struct lines lines = { .t = t };

    ASSERT_EQ(run_trajectories(domain, &filter, keep, &lines, &t->err), expected);
    ASSERT_EQ(lines.n, (size_t)expected);
    return lines;
}

static struct json_object *step_of(struct json_object *trajectory, size_t i)
{
    return json_object_array_get_idx(json_find(trajectory, "steps"), i);
}

TEST(a_wiggum_run_becomes_a_trajectory_with_a_step_a_call)
{
    AUTO(domain) domain = scribe_domain(t);
    AUTO_JSON it = NULL;
    struct lines lines;

    store_story(t, domain, "aaaa1111", 0);
    store_story(t, domain, "bbbb2222", RUN_WIGGUM);
    lines = exported(t, domain, (struct trajectory_filter){ .since_ms = 0 }, 1);
    it = parsed(t, lines.at[0]);
    ASSERT_STR(json_str(json_find(it, "task_id")), "bbbb2222");
    ASSERT_STR(json_str(json_find(it, "prompt")), SCRIBE_PROMPT);
    ASSERT_STR(json_str(json_find(it, "outcome")), "success");
    ASSERT_EQ(json_object_get_int64(json_find(it, "iterations")), 2);
    ASSERT_EQ(json_object_get_int64(json_find(it, "reward")), 1);
    ASSERT_EQ(json_object_array_length(json_find(it, "steps")), 3);
    ASSERT_STR(json_str(json_find(step_of(it, 0), "action")), "ls");
    ASSERT_STR(json_str(json_find(step_of(it, 0), "observation")), "old.txt\n");
    ASSERT_STR(json_str(json_find(step_of(it, 0), "thinking")), "The folder may hold old files.");
    ASSERT_STR(json_str(json_find(step_of(it, 0), "state")),
               "Task: tidy this folder\nDirectory: /home/me/project\nIteration: 1\n");
    ASSERT_STR(json_str(json_find(step_of(it, 1), "observation")),
               "path_denied: old.txt is not yours");
    ASSERT_STR(json_str(json_find(step_of(it, 2), "action")),
               "write_file {\"path\":\"a.txt\",\"content\":\"x\"}");
    ASSERT_STR(json_str(json_find(step_of(it, 2), "observation")), "rejected: not today");
}

static void two_rounds(struct scribe *s, struct test *t, struct domain *domain, const char *id)
{
    scribe_begin(s, t, domain, &run_program, id, RUN_WIGGUM);
    scribe_call(s, 1, 0, "bash", "{\"command\":\"date\"}");
    scribe_word(s, RUN_EV_THOUGHT, 0, RUN_MORE, NULL);
    scribe_acted(s, 1, 0, "{\"output\":{\"exit_code\":0,\"output\":\"Monday\"}}");
    scribe_word(s, RUN_EV_CHECKED, 0, 0, NULL);
    scribe_call(s, 1, 0, "search", "{\"pattern\":\"x\"}");
    scribe_word(s, RUN_EV_THOUGHT, 0, RUN_MORE, NULL);
    scribe_acted(s, 1, 0, "{\"output\":[1,2]}");
    scribe_word(s, RUN_EV_CANCEL, 0, 0, NULL);
    scribe_word(s, RUN_EV_CHECKED, 0, RUN_FAILED, NULL);
    s->run.status = RUN_CANCELLED;
}

TEST(what_the_model_saw_is_the_state_of_the_next_step_and_a_cancelled_run_is_a_failure)
{
    AUTO(domain) domain = scribe_domain(t);
    AUTO_JSON it = NULL;
    struct lines lines;
    struct scribe s;

    two_rounds(&s, t, domain, "cccc3333");
    scribe_end(&s);
    lines = exported(t, domain, (struct trajectory_filter){ .agent_id = STR("planner") }, 1);
    it = parsed(t, lines.at[0]);
    ASSERT_STR(json_str(json_find(step_of(it, 1), "state")),
               "Task: tidy this folder\nDirectory: /home/me/project\nIteration: 2\n"
               "\n$ date\nMonday");
    ASSERT_STR(json_str(json_find(step_of(it, 1), "observation")), "[1,2]");
    ASSERT(json_find(step_of(it, 1), "thinking") == NULL);
    ASSERT_STR(json_str(json_find(it, "outcome")), "failure");
    ASSERT_EQ(json_object_get_int64(json_find(it, "reward")), 0);
}

TEST(trajectories_are_chosen_by_agent_time_and_end)
{
    AUTO(domain) domain = scribe_domain(t);
    struct trajectory_filter nobody = { .agent_id = STR("nobody") };
    struct lines lines = { .t = t };
    struct scribe open;

    for (unsigned i = 0; i < 3; i++)
        store_story(t, domain, arena_printf(&t->arena, "dddd%04u", i), RUN_WIGGUM);
    scribe_begin(&open, t, domain, &run_program, "eeee4444", RUN_WIGGUM);
    scribe_end(&open);
    exported(t, domain, (struct trajectory_filter){ .since_ms = SCRIBE_NOW }, 3);
    exported(t, domain, (struct trajectory_filter){ .since_ms = SCRIBE_NOW + 1 }, 0);
    ASSERT_FAILS(run_trajectories(domain, &nobody, keep, &lines, &t->err), ERR_NOT_FOUND);
}

/* ---- settings ---- */

TEST(limits_are_read_from_the_settings_of_a_run)
{
    struct run_limits limits;

    ASSERT_OK(run_limits(STR("{\"maxIterations\":3,\"maxToolCalls\":32767,\"maxMs\":9}"), &limits,
                         &t->err));
    ASSERT_EQ(limits.engine[RUN_LIMIT_ITERATIONS], 3);
    ASSERT_EQ(limits.engine[RUN_LIMIT_TOOL_CALLS], 32767);
    ASSERT_EQ(limits.ms, 9);
    ASSERT_EQ(limits.tokens, 0);
    ASSERT_OK(run_limits(STR("{}"), &limits, &t->err));
    ASSERT_EQ(limits.engine[RUN_LIMIT_ITERATIONS], 0);
    ASSERT_FAILS(run_limits(STR("{\"maxToolCalls\":32768}"), &limits, &t->err),
                 ERR_SCHEMA_VIOLATION);
    err_reset(&t->err);
    ASSERT_FAILS(run_limits(STR("{\"maxIterations\":-1}"), &limits, &t->err), ERR_SCHEMA_VIOLATION);
    err_reset(&t->err);
    ASSERT_FAILS(run_limits(STR("{\"maxIterations\":\"3\"}"), &limits, &t->err),
                 ERR_SCHEMA_VIOLATION);
    err_reset(&t->err);
    ASSERT_FAILS(run_limits(STR("{\"maxTokens\":\"many\"}"), &limits, &t->err),
                 ERR_SCHEMA_VIOLATION);
    err_reset(&t->err);
    ASSERT_FAILS(run_limits(STR("nonsense"), &limits, &t->err), ERR_BAD_REQUEST);
}
