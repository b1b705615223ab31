/* Agents, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent.h"
#include "base/buf.h"
#include "db/db.h"
#include "rig.h"

static int64_t count(struct test *t, struct rig *rig, struct sql sql)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain), sql, &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}
#define AGENTS SQL("SELECT count(*) AS n FROM agents")

static int add(struct test *t, struct rig *rig, const char *id)
{
    struct agent agent = { .id = id, .kind = "planner", .display_name = "A name" };

    return agent_add(rig->domain, rig->change, &agent, NOW, &t->err);
}

DB_TEST(an_agent_comes_back_as_it_was_stored)
{
    AUTO_RIG rig = rig_open(t);
    struct agent in = { .id = "coach",
                        .kind = "coach",
                        .display_name = "Coach \xf0\x9f\x90\xad",
                        .lifecycle = AGENT_DORMANT,
                        .paused = true,
                        .mode = "hybrid",
                        .allowed_category_ids = "[\"c1\"]",
                        .model_id = "m",
                        .prompt_id = "p",
                        .instructions = "Be \"kind\".",
                        .tools = "[\"bash\"]" };
    struct agent by_id, by_n;

    ASSERT_OK(agent_add(rig.domain, rig.change, &in, NOW, &t->err));
    ASSERT(in.n > 0);
    ASSERT_OK(agent_get(rig.domain, STR("coach"), &t->arena, &by_id, &t->err));
    ASSERT_OK(agent_get_n(rig.domain, in.n, &t->arena, &by_n, &t->err));
    ASSERT_EQ(by_id.n, in.n);
    ASSERT_TEXT(by_n.id, "coach");
    ASSERT_TEXT(by_n.kind, "coach");
    ASSERT_TEXT(by_id.display_name, "Coach \xf0\x9f\x90\xad");
    ASSERT_EQ(by_id.lifecycle, AGENT_DORMANT);
    ASSERT(by_id.paused);
    ASSERT_TEXT(by_id.mode, "hybrid");
    ASSERT_TEXT(by_id.allowed_category_ids, "[\"c1\"]");
    ASSERT_TEXT(by_id.model_id, "m");
    ASSERT_TEXT(by_id.prompt_id, "p");
    ASSERT_TEXT(by_id.instructions, "Be \"kind\".");
    ASSERT_TEXT(by_id.tools, "[\"bash\"]");
    ASSERT_EQ(by_id.created_at, NOW);
    ASSERT_EQ(by_id.updated_at, NOW);
}

DB_TEST(what_is_not_given_has_its_default)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent;

    ASSERT_OK(add(t, &rig, "plain"));
    ASSERT_OK(agent_get(rig.domain, STR("plain"), &t->arena, &agent, &t->err));
    ASSERT_EQ(agent.lifecycle, AGENT_ACTIVE);
    ASSERT(!agent.paused && !agent.model_id && !agent.prompt_id && !agent.tools);
    ASSERT_TEXT(agent.mode, "hybrid");
    ASSERT_TEXT(agent.allowed_category_ids, "[]");
    ASSERT_TEXT(agent.instructions, "");
}

DB_TEST(a_new_agent_has_a_first_state)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_OK(add(t, &rig, "one"));
    ASSERT_EQ(count(t, &rig,
                    SQL("SELECT count(*) AS n FROM agents a JOIN agent_states s"
                        " ON s.agent_n = a.n AND s.id = a.current_state_id AND s.revision = 0")),
              1);
    /* Both rows can be told apart by those who sync them. */
    ASSERT_EQ(count(t, &rig,
                    SQL("SELECT count(DISTINCT c) AS n FROM (SELECT counter AS c FROM agents UNION"
                        " ALL SELECT counter FROM agent_states) AS x")),
              2);
}

DB_TEST(an_id_is_given_once)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_OK(add(t, &rig, "one"));
    ASSERT_FAILS(add(t, &rig, "one"), ERR_CONFLICT);
    ASSERT_CONTAINS(err_message(&t->err, 0), "one");
    ASSERT_EQ(count(t, &rig, AGENTS), 1);
    ASSERT_EQ(count(t, &rig, SQL("SELECT count(*) AS n FROM agent_states")), 1);
}

DB_TEST(an_agent_that_is_not_whole_is_refused)
{
    AUTO_RIG rig = rig_open(t);
    struct agent bad[] = {
        { .id = "Bad", .kind = "k", .display_name = "d" },
        { .id = "a", .kind = "", .display_name = "d" },
        { .id = "a", .display_name = "d" },
        { .id = "a", .kind = "k" },
        { .id = "a", .kind = "k", .display_name = "" },
        { .id = "a", .kind = "k", .display_name = "d", .mode = "wild" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ASSERT_FAILS(agent_add(rig.domain, rig.change, &bad[i], NOW, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(count(t, &rig, AGENTS), 0);
}

DB_TEST(an_agent_that_is_not_there_is_said_so)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent;

    ASSERT_FAILS(agent_get(rig.domain, STR("nobody"), &t->arena, &agent, &t->err), ERR_NOT_FOUND);
    ASSERT_CONTAINS(err_message(&t->err, 0), "\"nobody\"");
    ASSERT_CONTAINS(err_message(&t->err, 0), "dormouse agent list");
    ASSERT_FAILS(agent_get(rig.domain, STR("x' OR '1'='1"), &t->arena, &agent, &t->err),
                 ERR_BAD_REQUEST);
}

DB_TEST(an_agent_whose_id_is_mistyped_is_named)
{
    AUTO_RIG rig = rig_open(t);
    struct agent in = { .id = "coach", .kind = "k", .display_name = "Coach" }, agent;

    ASSERT_OK(agent_add(rig.domain, rig.change, &in, NOW, &t->err));
    ASSERT_FAILS(agent_get(rig.domain, STR("caoch"), &t->arena, &agent, &t->err), ERR_NOT_FOUND);
    ASSERT_CONTAINS(err_message(&t->err, 0), "\"caoch\"; did you mean \"coach\"?");
}

static bool note_id(void *arg, const struct agent *agent)
{
    struct buf *ids = arg;

    buf_printf(ids, "%s ", agent->id);
    return strcmp(agent->id, "m") != 0;
}

DB_TEST(agents_come_in_order_of_id_until_it_is_enough)
{
    static const char *const ids[] = { "z", "b", "m", "a-b", "a", "a:b" };
    AUTO_RIG rig = rig_open(t);
    AUTO_BUF seen = BUF_INIT(100);

    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        ASSERT_OK(add(t, &rig, ids[i]));
    ASSERT_OK(agent_each(rig.domain, note_id, &seen, &t->err));
    ASSERT_TEXT(buf_text(&seen), "a a-b a:b b m ");
}

DB_TEST(the_agent_that_greets_is_made_once)
{
    AUTO_RIG rig = rig_open(t);
    struct agent first, again, nameless;

    ASSERT_OK(agent_ensure_default(rig.domain, rig.change, "Day Planner", NOW, &t->arena, &first,
                                   &t->err));
    ASSERT_TEXT(first.id, "day-planner");
    ASSERT_TEXT(first.kind, "planner");
    ASSERT_TEXT(first.display_name, "Day Planner");
    ASSERT(first.n > 0);
    ASSERT_OK(agent_ensure_default(rig.domain, rig.change, "Day Planner", NOW + 5, &t->arena,
                                   &again, &t->err));
    ASSERT_EQ(again.n, first.n);
    ASSERT_EQ(again.created_at, NOW);
    ASSERT_OK(agent_ensure_default(rig.domain, rig.change, "\xe2\x98\x85", NOW, &t->arena,
                                   &nameless, &t->err));
    ASSERT_TEXT(nameless.id, "planner");
    ASSERT_EQ(count(t, &rig, AGENTS), 2);
}

DB_TEST(pausing_says_whether_anything_changed)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent;

    ASSERT_OK(add(t, &rig, "one"));
    ASSERT_EQ(agent_set_paused(rig.domain, rig.change, STR("one"), true, NOW + 1, &t->err), 1);
    ASSERT_EQ(agent_set_paused(rig.domain, rig.change, STR("one"), true, NOW + 2, &t->err), 0);
    ASSERT_OK(agent_get(rig.domain, STR("one"), &t->arena, &agent, &t->err));
    ASSERT(agent.paused);
    ASSERT_EQ(agent.updated_at, NOW + 1);
    ASSERT_EQ(agent_set_paused(rig.domain, rig.change, STR("one"), false, NOW + 3, &t->err), 1);
    ASSERT_FAILS(agent_set_paused(rig.domain, rig.change, STR("two"), true, NOW, &t->err),
                 ERR_NOT_FOUND);
    ASSERT_FAILS(agent_set_paused(rig.domain, rig.change, STR("T w o"), true, NOW, &t->err),
                 ERR_BAD_REQUEST);
}

DB_TEST(a_rolled_back_unit_leaves_no_agent)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_OK(domain_savepoint(rig.domain, &t->err));
    ASSERT_OK(add(t, &rig, "gone"));
    domain_rollback_to(rig.domain);
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT_EQ(count(t, &rig, AGENTS), 0);
    ASSERT_EQ(count(t, &rig, SQL("SELECT count(*) AS n FROM agent_states")), 0);
}
