/* Links of agents, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/link.h"
#include "agent/report.h"
#include "db/db.h"
#include "rig.h"

static struct agent add_agent(struct test *t, struct rig *rig, const char *id)
{
    struct agent agent = { .id = id, .kind = "coach", .display_name = "Coach" };

    ASSERT_OK(agent_add(rig->domain, rig->change, &agent, NOW, &t->err));
    return agent;
}

static int add(struct test *t, struct rig *rig, enum agent_relation relation, const char *from,
               const char *to, int64_t now)
{
    struct agent_link link = { .relation = relation,
                               .from_id = str_from(from),
                               .to_id = str_from(to) };

    return agent_link_add(rig->domain, rig->change, &link, NULL, now, &t->err);
}

static int64_t scalar(struct test *t, struct domain *domain, struct sql sql)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain), sql, &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

TEST(relations_have_names)
{
    ASSERT_TEXT(agent_relation_name(AGENT_LINK_MESSAGE_PREV), "message_prev");
    ASSERT_EQ(agent_relation_of(STR("tool_effect")), AGENT_LINK_TOOL_EFFECT);
    ASSERT_EQ(agent_relation_of(STR("agent_state")), AGENT_LINK_STATE);
    ASSERT_EQ(agent_relation_of(STR("none")), AGENT_RELATION_NONE);
    ASSERT_EQ(agent_relation_of(STR("entry_link")), AGENT_RELATION_NONE);
}

DB_TEST(a_link_made_twice_is_one)
{
    AUTO_RIG rig = rig_open(t);
    struct agent_link *links;
    size_t n;

    ASSERT_EQ(add(t, &rig, AGENT_LINK_TOOL_EFFECT, "m-1", "task-1", NOW), 1);
    ASSERT_EQ(add(t, &rig, AGENT_LINK_TOOL_EFFECT, "m-1", "task-1", NOW + 1), 0);
    ASSERT_EQ(add(t, &rig, AGENT_LINK_TOOL_EFFECT, "m-1", "task-2", NOW + 2), 1);
    ASSERT_EQ(add(t, &rig, AGENT_LINK_REPORT_SOURCE, "m-1", "task-1", NOW + 3), 1);
    ASSERT_OK(agent_links_from(rig.domain, AGENT_LINK_TOOL_EFFECT, STR("m-1"), 10, &t->arena,
                               &links, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_STR(links[0].to_id, "task-2");
    ASSERT_STR(links[1].to_id, "task-1");
    ASSERT_EQ(links[1].created_at, NOW);
    ASSERT_STR(links[1].metadata, "{}");
    /* printf 'link|v1|tool_effect|m-1|task-1' | sha256sum */
    ASSERT_STR(links[1].id, "53b5bb757f59b3c711d753406adbef8b9fb0bb03ea90ba5f5460c8212e4f6330");
    ASSERT_OK(agent_links_to(rig.domain, AGENT_LINK_TOOL_EFFECT, STR("task-1"), 10, &t->arena,
                             &links, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(links[0].from_id, "m-1");
    ASSERT_OK(agent_links_from(rig.domain, AGENT_LINK_TOOL_EFFECT, STR("m-1"), 1, &t->arena, &links,
                               &n, &t->err));
    ASSERT_EQ(n, 1);
}

DB_TEST(a_link_is_hidden_and_shown_again_by_making_it_anew)
{
    AUTO_RIG rig = rig_open(t);
    struct agent_link *links;
    struct str id;
    size_t n;

    ASSERT_EQ(add(t, &rig, AGENT_LINK_AGENT_PARENT, "child", "parent", NOW), 1);
    ASSERT_OK(agent_links_from(rig.domain, AGENT_LINK_AGENT_PARENT, STR("child"), 10, &t->arena,
                               &links, &n, &t->err));
    id = links[0].id;
    ASSERT_EQ(agent_link_hide(rig.domain, rig.change, id, NULL, &t->err), 1);
    ASSERT_EQ(agent_link_hide(rig.domain, rig.change, id, NULL, &t->err), 0);
    ASSERT_OK(agent_links_from(rig.domain, AGENT_LINK_AGENT_PARENT, STR("child"), 10, &t->arena,
                               &links, &n, &t->err));
    ASSERT_EQ(n, 0);
    ASSERT_EQ(add(t, &rig, AGENT_LINK_AGENT_PARENT, "child", "parent", NOW + 1), 1);
    ASSERT_OK(agent_links_to(rig.domain, AGENT_LINK_AGENT_PARENT, STR("parent"), 10, &t->arena,
                             &links, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_FAILS(agent_link_hide(rig.domain, rig.change, STR("no such"), NULL, &t->err),
                 ERR_NOT_FOUND);
}

DB_TEST(what_is_part_of_a_record_is_no_link_of_its_own)
{
    static const enum agent_relation columns[] = {
        AGENT_LINK_STATE,         AGENT_LINK_HEAD,        AGENT_LINK_REPORT_HEAD,
        AGENT_LINK_MESSAGE_PREV,  AGENT_LINK_ACTION_REF,  AGENT_LINK_MESSAGE_PAYLOAD,
        AGENT_LINK_SUMMARY_START, AGENT_LINK_SUMMARY_END, AGENT_RELATION_NONE,
        (enum agent_relation)99,
    };
    AUTO_RIG rig = rig_open(t);

    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        ASSERT_FAILS(add(t, &rig, columns[i], "a", "b", NOW), ERR_BAD_REQUEST);
    ASSERT_EQ(scalar(t, rig.domain, SQL("SELECT count(*) AS n FROM agent_links")), 0);
}

DB_TEST(ends_and_metadata_of_a_link_are_checked)
{
    AUTO_RIG rig = rig_open(t);
    struct agent_link link = { .relation = AGENT_LINK_TOOL_EFFECT,
                               .from_id = STR("a"),
                               .to_id = STR("b") };
    static const char *const bad[] = { "[]", "{", "7" };

    ASSERT_FAILS(add(t, &rig, AGENT_LINK_TOOL_EFFECT, "", "b", NOW), ERR_BAD_REQUEST);
    ASSERT_FAILS(add(t, &rig, AGENT_LINK_TOOL_EFFECT, "a", "b|c", NOW), ERR_BAD_REQUEST);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        link.metadata = str_from(bad[i]);
        ASSERT_FAILS(agent_link_add(rig.domain, rig.change, &link, NULL, NOW, &t->err),
                     ERR_BAD_REQUEST);
    }
    link.metadata =
        str_of(arena_alloc(&t->arena, 1, AGENT_LINK_METADATA_MAX + 1), AGENT_LINK_METADATA_MAX + 1);
    ASSERT_FAILS(agent_link_add(rig.domain, rig.change, &link, NULL, NOW, &t->err), ERR_TOO_LARGE);
    link.metadata = STR("{\"span\":[1,7]}");
    ASSERT_EQ(agent_link_add(rig.domain, rig.change, &link, NULL, NOW, &t->err), 1);
}

DB_TEST(links_are_told_in_a_batch)
{
    AUTO_RIG rig = rig_open(t);
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_AGENT);
    struct agent_link link = { .relation = AGENT_LINK_TOOL_EFFECT,
                               .from_id = STR("a"),
                               .to_id = STR("b") };

    ASSERT_EQ(agent_link_add(rig.domain, rig.change, &link, &batch, NOW, &t->err), 1);
    ASSERT_EQ(agent_link_add(rig.domain, rig.change, &link, &batch, NOW, &t->err), 0);
    ASSERT_EQ(batch.unit_count, 1);
    ASSERT_STR(batch.units[0].payload_type, "agentLink");
    ASSERT_EQ(agent_link_hide(rig.domain, rig.change, batch.units[0].payload_id, &batch, &t->err),
              1);
    ASSERT_EQ(batch.unit_count, 2);
    ASSERT(batch.units[1].counter > batch.units[0].counter);
}

/* ---- columns and rows alike ---- */

static const struct agent_link *find(const struct agent_link *links, size_t n,
                                     enum agent_relation relation)
{
    for (size_t i = 0; i < n; i++)
        if (links[i].relation == relation)
            return &links[i];
    FAIL("there is no link %s", agent_relation_name(relation));
}

static int64_t add_message(struct test *t, struct rig *rig, const struct agent *agent,
                           const char *id, int64_t prev, int64_t payload, int64_t act,
                           const char *span)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain),
                         SQL("INSERT INTO agent_messages (id, agent_n, thread_n, kind, created_at,"
                             " prev_n, ordinal, tokens_total, content_entry_n, action_ref_n,"
                             " summary_start_message_id, summary_end_message_id, host_n, counter)"
                             " VALUES (?, ?, 1, 'user', 5, ?, 1, 0, ?, ?, ?, ?, 1, 1)"
                             " RETURNING n"),
                         &q, &t->err));
    stmt_bind_text(q, id);
    stmt_bind_i64(q, agent->n);
    stmt_bind_i64(q, prev);
    stmt_bind_i64(q, payload);
    stmt_bind_i64(q, act);
    stmt_bind_text(q, span);
    stmt_bind_text(q, span);
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

DB_TEST(links_of_a_message_are_its_columns_and_its_rows)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct agent_link *links;
    int64_t first, second;
    size_t n;

    ASSERT_OK(db_exec(domain_db(rig.domain),
                      SQL("INSERT INTO agent_message_payloads (id, agent_n, created_at, content,"
                          " host_n, counter) VALUES ('big', 1, 1, '{}', 1, 1)"),
                      &t->err));
    first = add_message(t, &rig, &agent, "m-1", 0, 0, 0, NULL);
    second = add_message(t, &rig, &agent, "m-2", first,
                         scalar(t, rig.domain, SQL("SELECT n FROM agent_message_payloads")), first,
                         "m-0");
    ASSERT_EQ(add(t, &rig, AGENT_LINK_TOOL_EFFECT, "m-2", "task-1", NOW), 1);
    ASSERT_OK(agent_links_of_message(rig.domain, first, &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 0);
    ASSERT_OK(agent_links_of_message(rig.domain, second, &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 6);
    ASSERT_STR(find(links, n, AGENT_LINK_MESSAGE_PREV)->to_id, "m-1");
    ASSERT_STR(find(links, n, AGENT_LINK_MESSAGE_PAYLOAD)->to_id, "big");
    ASSERT_STR(find(links, n, AGENT_LINK_ACTION_REF)->to_id, "m-1");
    ASSERT_STR(find(links, n, AGENT_LINK_SUMMARY_START)->to_id, "m-0");
    ASSERT_STR(find(links, n, AGENT_LINK_SUMMARY_END)->from_id, "m-2");
    ASSERT_STR(find(links, n, AGENT_LINK_TOOL_EFFECT)->to_id, "task-1");
    ASSERT_FAILS(agent_links_of_message(rig.domain, 4711, &t->arena, &links, &n, &t->err),
                 ERR_NOT_FOUND);
}

DB_TEST(links_of_an_agent_are_its_state_its_head_its_reports_and_its_rows)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct report report = { .id = STR("r-1"),
                             .agent_n = agent.n,
                             .created_at = NOW,
                             .scope = STR("current"),
                             .title = STR("Today"),
                             .confidence = -1 };
    struct agent_link *links;
    AUTO(stmt) q = NULL;
    size_t n;

    ASSERT_OK(agent_links_of_agent(rig.domain, STR("coach"), &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_OK(db_prepare(domain_db(rig.domain),
                         SQL("INSERT INTO threads (id, agent_n, last_message_n, created_at,"
                             " updated_at) VALUES ('coach:session:1', ?, ?, 1, 1)"),
                         &q, &t->err));
    stmt_bind_i64(q, agent.n);
    stmt_bind_i64(q, add_message(t, &rig, &agent, "m-1", 0, 0, 0, NULL));
    ASSERT_OK(stmt_run(q, &t->err));
    ASSERT_EQ(report_put(rig.domain, rig.change, &report, NULL, &t->err), 1);
    ASSERT_EQ(add(t, &rig, AGENT_LINK_AGENT_PARENT, "coach", "planner", NOW), 1);
    ASSERT_OK(agent_links_of_agent(rig.domain, STR("coach"), &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 4);
    ASSERT_STR(find(links, n, AGENT_LINK_STATE)->to_id,
               arena_printf(&t->arena, "coach:%s", change_host_id(rig.change)));
    ASSERT_STR(find(links, n, AGENT_LINK_HEAD)->to_id, "m-1");
    ASSERT_STR(find(links, n, AGENT_LINK_REPORT_HEAD)->to_id, "r-1");
    ASSERT_STR(find(links, n, AGENT_LINK_AGENT_PARENT)->to_id, "planner");
    ASSERT_FAILS(agent_links_of_agent(rig.domain, STR("nobody"), &t->arena, &links, &n, &t->err),
                 ERR_NOT_FOUND);
}

/* ---- never in the journal ---- */

static struct domain *open_journal(struct test *t)
{
    const struct domain_config config = {
        .name = "journal",
        .url = db_test_domain_url(t, "journal"),
        .migrations = migrations_journal,
        .migration_count = migrations_journal_count,
    };
    struct domain *domain = NULL;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    return domain;
}

DB_TEST(nothing_that_agents_have_lands_in_the_journal)
{
    AUTO_RIG rig = rig_open(t);
    AUTO(domain) journal = open_journal(t);
    struct agent agent;
    struct report report;

    ASSERT_OK(change_join(rig.change, journal, &t->err));
    agent = add_agent(t, &rig, "coach");
    report = (struct report){ .id = STR("r-1"),
                              .agent_n = agent.n,
                              .created_at = NOW,
                              .scope = STR("current"),
                              .title = STR("Today"),
                              .confidence = -1 };
    ASSERT_EQ(add(t, &rig, AGENT_LINK_TOOL_EFFECT, "m-1", "task-1", NOW), 1);
    ASSERT_EQ(add(t, &rig, AGENT_LINK_REPORT_SOURCE, "r-1", "task-1", NOW), 1);
    ASSERT_EQ(report_put(rig.domain, rig.change, &report, NULL, &t->err), 1);
    ASSERT_EQ(scalar(t, journal, SQL("SELECT count(*) AS n FROM entry_links")), 0);
    ASSERT_EQ(scalar(t, journal, SQL("SELECT count(*) AS n FROM entries")), 0);
    ASSERT_EQ(scalar(t, journal, SQL("SELECT count(*) AS n FROM change_batches")), 0);
    /* There is no table there that could take one. */
    ASSERT(db_exec(domain_db(journal), SQL("DELETE FROM agent_links"), &t->err) < 0);
}

/* ---- of an agent's acts ---- */

static void add_result(struct test *t, struct rig *rig, int64_t agent_n, const char *id, int64_t at,
                       bool changed)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain),
                         SQL("INSERT INTO agent_messages (id, agent_n, thread_n, kind, created_at,"
                             " ordinal, tokens_total, changed_entity_ids, host_n, counter)"
                             " VALUES (?, ?, 1, 'toolResult', ?, 1, 0, ?, 1, 1)"),
                         &q, &t->err));
    stmt_bind_text(q, id);
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, at);
    if (changed)
        stmt_bind_text(q, "[\"x\"]");
    else
        stmt_bind_null(q);
    ASSERT_OK(stmt_run(q, &t->err));
}

DB_TEST(what_an_agent_changed_is_listed_the_newest_first_and_of_no_other)
{
    AUTO_RIG rig = rig_open(t);
    struct agent coach = add_agent(t, &rig, "coach"), other = add_agent(t, &rig, "other");
    struct agent_link *links;
    size_t n;

    add_result(t, &rig, coach.n, "m-1", NOW, true);
    add_result(t, &rig, coach.n, "m-2", NOW + 10, true);
    add_result(t, &rig, coach.n, "m-3", NOW + 20, false);
    add_result(t, &rig, other.n, "m-4", NOW + 30, true);
    ASSERT_EQ(add(t, &rig, AGENT_LINK_TOOL_EFFECT, "m-1", "task-1", NOW), 1);
    ASSERT_EQ(add(t, &rig, AGENT_LINK_TOOL_EFFECT, "m-2", "task-2", NOW + 10), 1);
    ASSERT_EQ(add(t, &rig, AGENT_LINK_TOOL_EFFECT, "m-2", "task-1", NOW + 10), 1);
    ASSERT_EQ(add(t, &rig, AGENT_LINK_TOOL_EFFECT, "m-4", "task-1", NOW + 30), 1);
    ASSERT_EQ(add(t, &rig, AGENT_LINK_AGENT_PARENT, "task-1", "task-2", NOW + 30), 1);
    ASSERT_OK(agent_links_made(rig.domain, coach.n, 100, &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 3);
    ASSERT_STR(links[0].from_id, "m-2");
    ASSERT_STR(links[0].to_id, "task-1");
    ASSERT_STR(links[1].to_id, "task-2");
    ASSERT_STR(links[2].from_id, "m-1");
    /* What is hidden is gone from both sides. */
    ASSERT_EQ(agent_link_hide(rig.domain, rig.change, links[0].id, NULL, &t->err), 1);
    ASSERT_OK(agent_links_made(rig.domain, coach.n, 1, &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(links[0].to_id, "task-2");
    ASSERT_OK(agent_links_at(rig.domain, STR("task-1"), 100, &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_STR(links[0].from_id, "m-4");
    ASSERT_STR(links[1].from_id, "m-1");
    ASSERT_OK(agent_links_at(rig.domain, STR("task-2"), 100, &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_EQ(links[1].relation, AGENT_LINK_AGENT_PARENT);
    ASSERT_OK(agent_links_at(rig.domain, STR("nobody"), 100, &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 0);
}

TEST(an_end_of_a_link_is_one_line_of_at_most_200_bytes)
{
    AUTO_BUF id = BUF_INIT(4096);

    ASSERT(agent_link_id_valid(STR("task-1")));
    ASSERT(!agent_link_id_valid(STR("")));
    ASSERT(!agent_link_id_valid(STR_NONE));
    ASSERT(!agent_link_id_valid(STR("a|b")));
    ASSERT(!agent_link_id_valid(STR("a\nb")));
    ASSERT(!agent_link_id_valid(STR("\xff")));
    while (id.n < 200)
        buf_add_text(&id, "x");
    ASSERT(agent_link_id_valid(buf_str(&id)));
    buf_add_text(&id, "x");
    ASSERT(!agent_link_id_valid(buf_str(&id)));
}
