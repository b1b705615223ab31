/* What the hand set aside is told to a person, and nothing waits for that.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "run/run_int.h"
#include "stage.h"

#define DETAIL                                                                                     \
    "/p/a/.envrc was made or changed: it is now called .envrc.set-aside-1\n/p/b/.vscode ..."

static struct inbox_item only_item(struct stage *stage)
{
    struct test *t = stage->t;
    struct inbox_item *items;
    size_t n;

    ASSERT_OK(inbox_list(stage->domain, INBOX_PENDING, 0, 0, &t->arena, &items, &n, &t->err));
    ASSERT_EQ(n, 1);
    return items[0];
}

static int64_t count(struct stage *stage, struct sql sql)
{
    struct test *t = stage->t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(stage->domain), sql, &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

DB_TEST(what_was_set_aside_is_an_item_that_no_run_waits_for)
{
    const struct inbox_decision yes = { .state = INBOX_APPROVED, .by = STR("owner") };
    const struct inbox_decision edit = { .state = INBOX_EDITED, .by = STR("owner") };
    struct stage *stage = stage_new(t);
    struct inbox_item item;
    struct str run;

    stage->hold_tools = true;
    stage_says(stage, "!note {}");
    stage_says(stage, "done");
    run = stage_run(stage, "work");
    run_aside(stage->runner, run, STR(DETAIL));
    item = only_item(stage);
    ASSERT_EQ(item.kind, INBOX_ESCALATED);
    ASSERT_STR(item.run_id, arena_copy(&t->arena, run.p, run.n));
    ASSERT(item.agent_id.n > 0);
    ASSERT_STR(item.preview, DETAIL);
    ASSERT_EQ(item.expires_at, 0);
    ASSERT_EQ(
        count(stage, SQL("SELECT count(*) AS n FROM run_events WHERE data LIKE '%set_aside%'")), 1);
    /* The run goes on, and ends; the item stays. */
    stage_finish(stage);
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, run), "done");
    item = only_item(stage);
    ASSERT_FAILS(run_decide(stage->runner, item.id, &edit, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(run_decide(stage->runner, item.id, &yes, &t->err), 1);
    ASSERT_EQ(run_decide(stage->runner, item.id, &yes, &t->err), 0);
    stage_free(stage);
}

/* Both or neither, wherever the database fails. */
DB_TEST(an_item_about_what_was_set_aside_and_its_row_are_one)
{
    unsigned both = 0, neither = 0;

    for (unsigned nth = 1; nth < 30 && both == 0; nth++) {
        struct stage *stage = stage_new(t);
        struct str run;
        int64_t items;

        stage->hold_tools = true;
        stage_says(stage, "!note {}");
        stage_says(stage, "done");
        run = stage_run(stage, "work");
        stage->fault = (struct db_fault){ .at = DB_FAULT_STEP, .kind = DB_FAULT_BUSY, .nth = nth };
        run_aside(stage->runner, run, STR(DETAIL));
        both += stage->fault.fired == 0;
        stage->fault.nth = 0;
        stage_settle(stage);
        items = count(stage, SQL("SELECT count(*) AS n FROM inbox WHERE kind = 'escalated'"));
        neither += items == 0;
        ASSERT_EQ(items, count(stage, SQL("SELECT count(*) AS n FROM run_events"
                                          " WHERE data LIKE '%set_aside%'")));
        run_cancel(stage->runner, run, NULL);
        stage_settle(stage);
        stage->altered = true;
        stage_free(stage);
    }
    ASSERT_EQ(both, 1);
    ASSERT(neither > 0);
}

/* A command that was ended with its run may have made something as well. */
DB_TEST(what_was_set_aside_after_the_end_is_told_too)
{
    struct stage *stage = stage_new(t);
    struct str run;

    stage_says(stage, "done");
    run = stage_run(stage, "work");
    ASSERT_TEXT(stage_status(stage, run), "done");
    run_aside(stage->runner, run, STR(DETAIL));
    ASSERT_EQ(only_item(stage).kind, INBOX_ESCALATED);
    stage_free(stage);
}
