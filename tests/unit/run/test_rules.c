/* Runs whose policy becomes another one while they wait, think or act.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "run/program.h"
#include "run/run_int.h"
#include "run/trace.h"
#include "stage.h"

#define POLICY(tool)                                                                               \
    "version: 1\n"                                                                                 \
    "for: [run]\n"                                                                                 \
    "classify:\n"                                                                                  \
    "  unwanted: tool == \"" tool "\"\n"                                                           \
    "guards:\n"                                                                                    \
    "  - name: no_unwanted\n"                                                                      \
    "    points:\n"                                                                                \
    "      - block: [{ on: act, has: [unwanted] }]\n"                                              \
    "  - name: refuse_unwanted\n"                                                                  \
    "    each: { on: [call, edit, judged], has: [unwanted] }\n"                                    \
    "    points:\n"                                                                                \
    "      - request: denied\n"                                                                    \
    "        interrupt: { on: [edit, judged], lacks: [unwanted] }\n"
#define NO_SEND POLICY("send")
#define NO_NOTE POLICY("note")
/* A guard of each call that only sees calls being born and thoughts ending. */
#define LATE_SEND                                                                                  \
    "version: 1\n"                                                                                 \
    "classify:\n"                                                                                  \
    "  other: tool == \"note\"\n"                                                                  \
    "  posted: tool == \"send\"\n"                                                                 \
    "guards:\n"                                                                                    \
    "  - name: late\n"                                                                             \
    "    each: { on: call, has: [posted] }\n"                                                      \
    "    points:\n"                                                                                \
    "      - wait: [{ on: thought }]\n"                                                            \
    "        block: [{ on: act }]\n"                                                               \
    "      - request: denied\n"                                                                    \
    "        block: [{ on: act }]\n"

static struct run_info get(struct stage *stage, struct str id)
{
    struct test *t = stage->t;
    struct run_info info;

    ASSERT_OK(run_get(stage->runner, id, &t->arena, &info, &t->err));
    return info;
}

struct rows {
    const struct bp_program *program;
    struct buf out;
};

static bool add_row(void *arg, const struct run_row *row)
{
    struct rows *rows = arg;

    buf_printf(&rows->out, "%s%s", rows->out.n ? " " : "", run_program.types[row->event.type].name);
    if (row->event.key)
        buf_printf(&rows->out, "%u", row->event.key);
    return true;
}

/* "start think call1 ...": the types and keys of a run's log. */
static const char *rows_of(struct stage *stage, struct str id)
{
    struct test *t = stage->t;
    struct rows rows = { .out = BUF_INIT(1 << 16) };
    const char *text;

    ASSERT_OK(run_log_each(stage->domain, get(stage, id).n, add_row, &rows, &t->err));
    text = arena_text(&t->arena, buf_text(&rows.out));
    buf_release(&rows.out);
    return text;
}

static int approve(struct stage *stage, struct str item)
{
    return run_decide(stage->runner, item,
                      &(struct inbox_decision){ .state = INBOX_APPROVED, .by = STR("owner") },
                      &stage->t->err);
}

static void change_policy(struct stage *stage, const char *policy)
{
    stage->policy = policy;
    stage->config.program = NULL;
    stage_crash(stage);
}

static int64_t replayed_changes(struct stage *stage, struct str id)
{
    struct test *t = stage->t;
    struct run_replay_report report;

    ASSERT_OK(run_replay_check(stage->domain, get(stage, id).n, &run_program, &report, &t->err));
    return report.policy_changes;
}

DB_TEST(call_that_waits_is_refused_by_a_policy_that_came_meanwhile)
{
    static const char *const policies[] = { NO_SEND, LATE_SEND };

    for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
        struct stage *stage = stage_new(t);
        struct str id, item;

        stage_says(stage, "!send {}");
        id = stage_run(stage, "go");
        item = stage_item(stage);
        change_policy(stage, policies[i]);
        stage_settle(stage);
        /* Nobody is woken to be told. */
        ASSERT_STR(get(stage, id).status, "waiting");
        ASSERT_EQ(runner_loaded(stage->runner), 0);
        stage_says(stage, "Then not.");
        ASSERT_FAILS(approve(stage, item), ERR_CONFLICT);
        stage_settle(stage);
        ASSERT_STR(get(stage, id).status, "done");
        ASSERT_EQ(stage->done_count, 0);
        ASSERT_TEXT(rows_of(stage, id),
                    "start think call1 thought gate1 waiting1 policy_changed denied1 settled1"
                    " observe think said thought done");
        ASSERT_EQ(replayed_changes(stage, id), 1);
        stage_free(stage);
    }
}

DB_TEST(yes_given_under_a_new_policy_is_asked_for_again)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->policy = NO_NOTE;
    stage_crash(stage);
    stage_says(stage, "!send {}");
    id = stage_run(stage, "go");
    change_policy(stage, NULL);
    ASSERT(approve(stage, stage_item(stage)) > 0);
    stage_settle(stage);
    ASSERT_EQ(stage->done_count, 0);
    ASSERT_TEXT(rows_of(stage, id),
                "start think call1 thought gate1 waiting1 policy_changed answer1 act1 acted1 gate1"
                " waiting1");
    stage_says(stage, "Sent.");
    ASSERT(approve(stage, stage_item(stage)) > 0);
    stage_settle(stage);
    ASSERT_EQ(stage->done_count, 1);
    ASSERT_STR(get(stage, id).status, "done");
    stage_free(stage);
}

/* What a call is to a policy is another matter than its tables: these have the same. */
DB_TEST(another_expression_is_another_policy)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->policy = NO_NOTE;
    stage_crash(stage);
    stage_says(stage, "!send {}");
    id = stage_run(stage, "go");
    change_policy(stage, NO_SEND);
    stage_says(stage, "Then not.");
    ASSERT_FAILS(approve(stage, stage_item(stage)), ERR_CONFLICT);
    stage_settle(stage);
    ASSERT_EQ(stage->done_count, 0);
    ASSERT_STR(get(stage, id).status, "done");
    stage_free(stage);
}

DB_TEST(calls_that_act_when_the_policy_changes_are_done_once_and_come_back)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->hold_tools = true;
    stage_says(stage, "!note {}\n!poke {}\n!send {}");
    id = stage_run(stage, "go");
    change_policy(stage, NO_NOTE);
    stage_settle(stage);
    /* note may be repeated, nobody knows of poke, send waits on. */
    ASSERT_TEXT(rows_of(stage, id),
                "start think call1 call2 call3 thought gate3 waiting3 act1 act2 policy_changed note"
                " acted2");
    change_policy(stage, NO_SEND);
    stage_settle(stage);
    stage_says(stage, "Well.");
    while (stage_act(stage))
        stage_settle(stage);
    stage_decide(stage, INBOX_REJECTED, NULL);
    stage_settle(stage);
    ASSERT_STR(get(stage, id).status, "done");
    ASSERT_EQ(stage->done_count, 1);
    ASSERT_TEXT(stage->effects[0].tool, "note");
    ASSERT_EQ(replayed_changes(stage, id), 2);
    stage_free(stage);
}

/* The policy lets go of what it held: it acts once, and nobody is asked whether it had. */
DB_TEST(call_that_a_former_policy_held_acts_once_when_it_is_gone)
{
    static const char holds[] = "version: 1\n"
                                "classify:\n"
                                "  poked: tool == \"poke\"\n"
                                "guards:\n"
                                "  - name: hold\n"
                                "    points:\n"
                                "      - block: [{ on: act, has: [poked] }]\n";
    struct stage *stage = stage_new(t);
    struct str id;

    stage->policy = holds;
    stage_crash(stage);
    stage->hold_tools = true;
    stage_says(stage, "!note {}\n!poke {}");
    id = stage_run(stage, "go");
    change_policy(stage, NULL);
    stage_says(stage, "Done.");
    stage_settle(stage);
    while (stage_act(stage))
        stage_settle(stage);
    ASSERT_TEXT(rows_of(stage, id),
                "start think call1 call2 thought act1 policy_changed act2 note acted2 settled2"
                " acted1 settled1 observe think said thought done");
    ASSERT_EQ(stage->done_count, 2);
    stage_free(stage);
}

DB_TEST(policy_may_change_there_and_back_and_every_part_is_replayed_with_its_own)
{
    struct stage *stage = stage_new(t);
    struct run_replay_report report;
    struct str id;

    stage->policy = NO_NOTE;
    stage_crash(stage);
    stage_says(stage, "!note {}\n!send {}");
    id = stage_run(stage, "go");
    for (int i = 0; i < 4; i++) {
        change_policy(stage, i % 2 ? NO_NOTE : NO_SEND);
        if (i % 2 == 0)
            continue; /* nobody opens it: nothing is recorded */
        ASSERT_OK(run_set_mode(stage->runner, id, RUN_STRUCTURED, &t->err));
        stage_settle(stage);
    }
    ASSERT_EQ(replayed_changes(stage, id), 0);
    change_policy(stage, NULL);
    ASSERT_OK(run_set_mode(stage->runner, id, RUN_STRUCTURED, &t->err));
    stage_settle(stage);
    change_policy(stage, NO_NOTE);
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    ASSERT_EQ(replayed_changes(stage, id), 2);
    ASSERT_OK(
        run_replay_check(stage->domain, get(stage, id).n, stage->config.program, &report, &t->err));
    ASSERT_STR(get(stage, id).status, "cancelled");
    stage_free(stage);
}

/* ---- what is not as it was ---- */

static struct str changed_run(struct stage *stage)
{
    struct test *t = stage->t;
    struct str id;

    stage->policy = NO_NOTE;
    stage_crash(stage);
    stage_says(stage, "!send {}");
    id = stage_run(stage, "go");
    change_policy(stage, LATE_SEND);
    stage_says(stage, "Then not.");
    ASSERT_FAILS(approve(stage, stage_item(stage)), ERR_CONFLICT);
    stage_settle(stage);
    return id;
}

DB_TEST(altered_change_of_policy_is_found)
{
    static const struct {
        const char *sql, *says;
        enum err_code code;
    } cases[] = {
        { "UPDATE run_events SET data = replace(data, '\"1\":', '\"2\":') WHERE type = 30",
          "the chain breaks here", ERR_INTEGRITY_FAILED },
        { "UPDATE run_events SET type = 29 WHERE type = 30", "the chain breaks here",
          ERR_INTEGRITY_FAILED },
        { "DELETE FROM meta WHERE key LIKE 'policy|%'", "can't make any more",
          ERR_RESUME_CONFLICT },
        { "UPDATE meta SET value = value || ' # more' WHERE key LIKE 'policy|%'",
          "can't make any more", ERR_RESUME_CONFLICT },
        { "UPDATE meta SET value = ': [' WHERE key LIKE 'policy|%'", "can't make any more",
          ERR_RESUME_CONFLICT },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stage *stage = stage_new(t);
        struct str id = changed_run(stage);
        struct run_replay_report report;

        stage_alter(stage, cases[i].sql);
        ASSERT_FAILS(
            run_replay_check(stage->domain, get(stage, id).n, &run_program, &report, &t->err),
            cases[i].code);
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
        stage_free(stage);
    }
}
