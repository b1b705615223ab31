/* How agents are, in words.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent.h"
#include "agent/inbox.h"
#include "db/db.h"
#include "rig.h"

#define DAY INT64_C(86400000)

static int64_t add(struct test *t, struct rig *rig, const char *id, const char *name)
{
    struct agent agent = { .id = id, .kind = "custom", .display_name = name };

    ASSERT_OK(agent_add(rig->domain, rig->change, &agent, NOW, &t->err));
    return agent.n;
}

static void add_run(struct test *t, struct rig *rig, int64_t agent_n, const char *key,
                    const char *status, int64_t at, int64_t tokens)
{
    static int64_t thread;
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain),
                         SQL("INSERT INTO runs (run_key, agent_n, thread_n, wake_reason, status,"
                             " mode, model_id, cwd, program_hash, input_tokens, output_tokens,"
                             " error_message, host_n, created_at, updated_at, ended_at)"
                             " VALUES (?, ?, ?, 'manual', ?, 'structured', 'm', '/', ?, ?, 1,"
                             " 'the model is not there', 1, ?, ?, ?)"),
                         &q, &t->err));
    stmt_bind_text(q, key);
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, ++thread);
    stmt_bind_text(q, status);
    stmt_bind_blob(q, STR("hash"));
    stmt_bind_i64(q, tokens);
    stmt_bind_i64(q, at);
    stmt_bind_i64(q, at);
    if (strcmp(status, "done") == 0 || strcmp(status, "failed") == 0)
        stmt_bind_i64(q, at + 1000);
    else
        stmt_bind_null(q);
    ASSERT_OK(stmt_run(q, &t->err));
}

static void add_item(struct test *t, struct rig *rig, int64_t agent_n, const char *id,
                     const char *title, int64_t at)
{
    struct inbox_item item = { .id = str_from(id),
                               .kind = INBOX_TOOL,
                               .agent_n = agent_n,
                               .title = str_from(title),
                               .created_at = at };

    ASSERT_OK(inbox_add(rig->domain, rig->change, &item, &t->err));
}

static struct agent_status *list(struct test *t, struct rig *rig, struct agent_status_filter filter,
                                 size_t expect)
{
    struct agent_status *all;
    size_t n;

    ASSERT_OK(agent_status_list(rig->domain, &filter, &t->arena, &all, &n, &t->err));
    ASSERT_EQ(n, expect);
    return all;
}

static struct agent_status one(struct test *t, struct rig *rig, const char *id)
{
    return list(t, rig, (struct agent_status_filter){ .id = str_from(id), .day_ms = NOW }, 1)[0];
}

DB_TEST(an_agent_sleeps_until_something_wakes_it)
{
    AUTO_RIG rig = rig_open(t);
    int64_t n = add(t, &rig, "a", "A");
    struct agent_status status = one(t, &rig, "a");

    ASSERT_EQ(status.word, AGENT_ASLEEP);
    ASSERT_EQ(status.since, NOW);
    ASSERT_TEXT(status.why, "nothing has woken it yet");
    add_run(t, &rig, n, "r1", "done", NOW + 10, 5);
    status = one(t, &rig, "a");
    ASSERT_EQ(status.word, AGENT_ASLEEP);
    ASSERT_EQ(status.since, NOW + 1010);
    ASSERT_EQ(status.last_run_at, NOW + 10);
    ASSERT_EQ(status.tokens_today, 6);
}

DB_TEST(a_run_under_way_is_awake_and_an_item_is_waiting)
{
    AUTO_RIG rig = rig_open(t);
    int64_t n = add(t, &rig, "a", "A");
    struct agent_status status;

    add_run(t, &rig, n, "r1", "running", NOW + 10, 0);
    status = one(t, &rig, "a");
    ASSERT_EQ(status.word, AGENT_AWAKE);
    ASSERT_EQ(status.since, NOW + 10);
    ASSERT_TEXT(status.why, "a run is under way");
    add_item(t, &rig, n, "i1", "Run a command", NOW + 20);
    status = one(t, &rig, "a");
    ASSERT_EQ(status.word, AGENT_WAITING);
    ASSERT_EQ(status.since, NOW + 20);
    ASSERT_TEXT(status.why, "Run a command");
    add_item(t, &rig, n, "i2", "Run another", NOW + 30);
    status = one(t, &rig, "a");
    ASSERT_EQ(status.pending, 2);
    ASSERT_EQ(status.since, NOW + 20);
    ASSERT_TEXT(status.why, "2 things wait for you");
}

DB_TEST(a_last_run_that_failed_is_failing_until_one_goes_well)
{
    AUTO_RIG rig = rig_open(t);
    int64_t n = add(t, &rig, "a", "A");
    struct agent_status status;

    add_run(t, &rig, n, "r1", "failed", NOW, 0);
    status = one(t, &rig, "a");
    ASSERT_EQ(status.word, AGENT_FAILING);
    ASSERT_TEXT(status.why, "the model is not there");
    add_run(t, &rig, n, "r2", "done", NOW + 5000, 0);
    ASSERT_EQ(one(t, &rig, "a").word, AGENT_ASLEEP);
}

DB_TEST(paused_and_gone_come_before_everything_else)
{
    AUTO_RIG rig = rig_open(t);
    int64_t n = add(t, &rig, "a", "A");

    add_item(t, &rig, n, "i1", "x", NOW);
    ASSERT_EQ(agent_set_paused(rig.domain, rig.change, STR("a"), true, NOW + 7, &t->err), 1);
    ASSERT_EQ(one(t, &rig, "a").word, AGENT_HELD);
    ASSERT_EQ(one(t, &rig, "a").since, NOW + 7);
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("a"), NOW + 8, &t->err), 1);
    ASSERT_EQ(one(t, &rig, "a").word, AGENT_GONE);
    ASSERT_EQ(one(t, &rig, "a").since, NOW + 8);
    ASSERT_TEXT(agent_word_name(AGENT_HELD), "paused");
}

DB_TEST(a_dormant_agent_is_asleep_and_says_why)
{
    AUTO_RIG rig = rig_open(t);

    add(t, &rig, "a", "A");
    ASSERT_EQ(
        agent_set_lifecycle(rig.domain, rig.change, STR("a"), AGENT_DORMANT, NOW + 3, &t->err), 1);
    ASSERT_EQ(one(t, &rig, "a").word, AGENT_ASLEEP);
    ASSERT_EQ(one(t, &rig, "a").since, NOW + 3);
    ASSERT_CONTAINS(one(t, &rig, "a").why, "dormant");
}

DB_TEST(lists_leave_out_system_agents_and_those_destroyed_unless_asked)
{
    AUTO_RIG rig = rig_open(t);
    struct agent_status *all;

    add(t, &rig, "zed", "Zed");
    add(t, &rig, "amy", "Amy");
    add(t, &rig, "old", "Old");
    add(t, &rig, "system:x", "System");
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("old"), NOW, &t->err), 1);
    all = list(t, &rig, (struct agent_status_filter){ .day_ms = NOW }, 2);
    ASSERT_TEXT(all[0].agent.id, "amy");
    ASSERT_TEXT(all[1].agent.id, "zed");
    list(t, &rig, (struct agent_status_filter){ .system = true }, 3);
    list(t, &rig, (struct agent_status_filter){ .destroyed = true }, 3);
    list(t, &rig, (struct agent_status_filter){ .destroyed = true, .system = true }, 4);
    list(t, &rig, (struct agent_status_filter){ .id = STR("nobody") }, 0);
}

DB_TEST(numbers_belong_to_their_agent_and_to_today)
{
    AUTO_RIG rig = rig_open(t);
    int64_t a = add(t, &rig, "a", "A"), b = add(t, &rig, "b", "B");
    struct agent_status *all;

    add_run(t, &rig, a, "r1", "done", NOW - DAY, 1000);
    add_run(t, &rig, a, "r2", "done", NOW, 10);
    add_run(t, &rig, b, "r3", "waiting", NOW, 20);
    add_item(t, &rig, b, "i1", "x", NOW);
    all = list(t, &rig, (struct agent_status_filter){ .day_ms = NOW }, 2);
    ASSERT_EQ(all[0].tokens_today, 11);
    ASSERT_EQ(all[0].pending, 0);
    ASSERT_EQ(all[1].tokens_today, 21);
    ASSERT_EQ(all[1].pending, 1);
    ASSERT_EQ(all[1].runs_open, 1);
}
