/* Reports and their heads, on both engines.
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

static struct report report_of(const struct agent *agent, const char *id, const char *scope)
{
    return (struct report){ .id = str_from(id),
                            .agent_n = agent->n,
                            .created_at = NOW,
                            .scope = str_from(scope),
                            .title = STR("Today"),
                            .text = STR("# Plan\n\n- run\n"),
                            .confidence = -1 };
}

static int put(struct test *t, struct rig *rig, const struct report *report)
{
    return report_put(rig->domain, rig->change, report, NULL, &t->err);
}

DB_TEST(a_report_is_read_as_it_was_put)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct report report = report_of(&agent, "r-1", "current"), is;
    const struct report_source sources[] = {
        { .source_type = STR("journal"),
          .source_id = STR("task-1"),
          .section_id = STR("plan"),
          .claim_id = STR("c1"),
          .captured_at = NOW - 5,
          .freshness_at = NOW - 9,
          .confidence = 0.5,
          .inferred = true },
        { .source_type = STR("web"),
          .source_id = STR("https://example.org/a?b|c"),
          .captured_at = NOW,
          .confidence = -1 },
    };

    report.confidence = 0.75;
    report.provenance = STR("{\"runId\":\"k\"}");
    report.cursor = vclock_with(&report.cursor, STR("phone"), 12, &t->arena);
    report.taint = STR("web");
    report.sources = sources;
    report.source_count = 2;
    ASSERT_EQ(report_current(rig.domain, agent.n, STR("current"), &t->arena, &is, &t->err), 0);
    ASSERT_EQ(put(t, &rig, &report), 1);
    ASSERT_EQ(report_current(rig.domain, agent.n, STR("current"), &t->arena, &is, &t->err), 1);
    ASSERT_STR(is.id, "r-1");
    ASSERT_STR(is.title, "Today");
    ASSERT_STR(is.text, "# Plan\n\n- run\n");
    ASSERT_EQ((int)(is.confidence * 100), 75);
    ASSERT_STR(is.provenance, "{\"runId\":\"k\"}");
    ASSERT_EQ(vclock_of(&is.cursor, STR("phone")), 12);
    ASSERT_STR(is.taint, "web");
    ASSERT_EQ(is.created_at, NOW);
    ASSERT_EQ(is.source_count, 2);
    ASSERT_STR(is.sources[0].source_id, "task-1");
    ASSERT_STR(is.sources[0].claim_id, "c1");
    ASSERT_EQ(is.sources[0].freshness_at, NOW - 9);
    ASSERT(is.sources[0].inferred);
    ASSERT(!is.sources[1].inferred);
    ASSERT_EQ(is.sources[1].freshness_at, NOW);
    ASSERT(is.sources[1].confidence < 0);
}

/* What it rests on and can be followed from here: records and agents, each once. */
DB_TEST(a_report_is_linked_to_what_it_rests_on)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach"), other = add_agent(t, &rig, "other");
    struct report report = report_of(&agent, "r-1", "weekly"),
                  theirs = report_of(&other, "r-9", "weekly");
    AUTO_BUF far = BUF_INIT(4096);
    struct report_source sources[] = {
        { .source_type = STR("journal"), .source_id = STR("task-1"), .confidence = -1 },
        { .source_type = STR("journal"), .source_id = STR("task-1"), .claim_id = STR("c2") },
        { .source_type = STR("agent"), .source_id = STR("planner"), .confidence = -1 },
        { .source_type = STR("web"), .source_id = STR("https://example.org/"), .confidence = -1 },
        { .source_type = STR("tool_output"), .source_id = STR("call-7"), .confidence = -1 },
        { .source_type = STR("journal"), .source_id = STR("a|b"), .confidence = -1 },
        { .source_type = STR("journal"), .confidence = -1 },
    };
    struct agent_link *links;
    size_t n;

    while (far.n <= 200)
        buf_add_text(&far, "far away ");
    sources[6].source_id = buf_str(&far);
    report.sources = theirs.sources = sources;
    report.source_count = ARRAY_LEN(sources);
    theirs.source_count = 1;
    ASSERT_EQ(put(t, &rig, &report), 1);
    ASSERT_EQ(put(t, &rig, &report), 0);
    ASSERT_EQ(put(t, &rig, &theirs), 1);
    ASSERT_OK(agent_links_made(rig.domain, agent.n, 100, &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_STR(links[0].to_id, "planner");
    ASSERT_STR(links[1].to_id, "task-1");
    ASSERT_STR(links[1].from_id, "r-1");
    ASSERT_EQ(links[1].created_at, NOW);
    ASSERT_STR(links[1].metadata,
               "{\"agentId\":\"coach\",\"scope\":\"weekly\",\"sourceType\":\"journal\"}");
    ASSERT_OK(agent_links_at(rig.domain, STR("task-1"), 100, &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_OK(agent_links_made(rig.domain, agent.n, 1, &t->arena, &links, &n, &t->err));
    ASSERT_EQ(n, 1);
}

DB_TEST(the_same_report_again_changes_nothing)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct report first = report_of(&agent, "r-1", "current"), second = first, is, *list;
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_AGENT);
    size_t n;

    ASSERT_EQ(put(t, &rig, &first), 1);
    second.id = STR("r-2");
    ASSERT_EQ(put(t, &rig, &second), 1);
    first.title = STR("Other");
    ASSERT_EQ(report_put(rig.domain, rig.change, &first, &batch, &t->err), 0);
    ASSERT_EQ(batch.unit_count, 0);
    ASSERT_EQ(report_current(rig.domain, agent.n, STR("current"), &t->arena, &is, &t->err), 1);
    ASSERT_STR(is.id, "r-2");
    ASSERT_OK(report_list(rig.domain, agent.n, STR_NONE, 0, 10, &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_STR(list[1].title, "Today");
}

DB_TEST(every_scope_of_every_agent_has_a_head_of_its_own)
{
    AUTO_RIG rig = rig_open(t);
    struct agent coach = add_agent(t, &rig, "coach"), other = add_agent(t, &rig, "other");
    struct report a = report_of(&coach, "r-1", "current"), b = report_of(&coach, "r-2", "weekly");
    struct report c = report_of(&other, "r-3", "current"), is;

    ASSERT_EQ(put(t, &rig, &a), 1);
    ASSERT_EQ(put(t, &rig, &b), 1);
    ASSERT_EQ(put(t, &rig, &c), 1);
    ASSERT_EQ(report_current(rig.domain, coach.n, STR("current"), &t->arena, &is, &t->err), 1);
    ASSERT_STR(is.id, "r-1");
    ASSERT_EQ(report_current(rig.domain, coach.n, STR("weekly"), &t->arena, &is, &t->err), 1);
    ASSERT_STR(is.id, "r-2");
    ASSERT_EQ(report_current(rig.domain, other.n, STR("weekly"), &t->arena, &is, &t->err), 0);
    ASSERT_FAILS(report_current(rig.domain, other.n, STR("yearly"), &t->arena, &is, &t->err),
                 ERR_BAD_REQUEST);
}

DB_TEST(reports_are_listed_page_by_page)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct report *list;
    size_t n;

    for (int i = 0; i < 5; i++) {
        struct report report =
            report_of(&agent, arena_printf(&t->arena, "r-%d", i), i % 2 ? "daily" : "current");

        ASSERT_EQ(put(t, &rig, &report), 1);
    }
    ASSERT_OK(report_list(rig.domain, agent.n, STR_NONE, 0, 3, &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 3);
    ASSERT_STR(list[0].id, "r-4");
    ASSERT_OK(
        report_list(rig.domain, agent.n, STR_NONE, list[2].n, 3, &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_STR(list[1].id, "r-0");
    ASSERT_OK(report_list(rig.domain, agent.n, STR("daily"), 0, 10, &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_FAILS(report_list(rig.domain, agent.n, STR("x"), 0, 10, &t->arena, &list, &n, &t->err),
                 ERR_BAD_REQUEST);
}

DB_TEST(a_report_is_told_with_the_ids_of_agent_and_report)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct report report = report_of(&agent, "r-1", "current");
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_AGENT);
    struct change_cursor after;
    struct change_row *rows;
    size_t n;

    ASSERT_OK(change_batches_end(rig.domain, &after, &t->err));
    batch.author_id = STR("coach");
    ASSERT_EQ(report_put(rig.domain, rig.change, &report, &batch, &t->err), 1);
    ASSERT_EQ(change_batch_write(rig.domain, rig.change, &batch, NOW, &t->err), 1);
    ASSERT_OK(change_batches_after(rig.domain, after, 5, &t->arena, &rows, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_EQ(rows[0].unit_count, 2);
    ASSERT_STR(rows[0].unit[0].payload_type, "agentReport");
    ASSERT_STR(rows[0].unit[1].payload_id, "coach:current");
    ASSERT_CONTAINS(rows[0].typed_tokens.p, "[\"semanticKey\",null,\"AGENT_REPORT\"]");
    ASSERT_CONTAINS(rows[0].typed_tokens.p, "[\"entityId\",null,\"coach\"]");
    ASSERT_CONTAINS(rows[0].typed_tokens.p, "[\"entityId\",null,\"r-1\"]");
}

DB_TEST(an_agent_that_is_gone_reports_nothing_and_its_reports_stay)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct report report = report_of(&agent, "r-1", "current"), is;

    ASSERT_EQ(put(t, &rig, &report), 1);
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), NOW, &t->err), 1);
    report.id = STR("r-2");
    ASSERT_FAILS(put(t, &rig, &report), ERR_AGENT_DESTROYED);
    ASSERT_EQ(report_current(rig.domain, agent.n, STR("current"), &t->arena, &is, &t->err), 1);
    ASSERT_STR(is.id, "r-1");
}

DB_TEST(a_report_that_breaks_a_rule_is_refused)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct report good = report_of(&agent, "r-1", "current"), bad[12];
    const struct report_source odd = { .source_type = STR("rumour"), .source_id = STR("x") };
    const struct report_source nowhere = { .source_type = STR("web") };
    const struct report_source sure = { .source_type = STR("web"),
                                        .source_id = STR("x"),
                                        .confidence = 1.5 };
    const struct report_source lines = { .source_type = STR("web"), .source_id = STR("a\nb") };
    struct report long_text = good;
    char *text = arena_alloc(&t->arena, 1, REPORT_TEXT_MAX + 1);

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        bad[i] = good;
    bad[0].id = STR_NONE;
    bad[1].scope = STR("now");
    bad[2].title = STR(" ");
    bad[3].title = STR("two\nlines");
    bad[4].text = STR("a\x01");
    bad[5].confidence = 2;
    bad[6].provenance = STR("[]");
    bad[7].provenance = STR("{");
    bad[8].sources = &odd;
    bad[9].sources = &nowhere;
    bad[10].sources = &sure;
    bad[11].sources = &lines;
    for (size_t i = 8; i < 12; i++)
        bad[i].source_count = 1;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ASSERT_FAILS(put(t, &rig, &bad[i]), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "source 1");
    memset(text, 'x', REPORT_TEXT_MAX + 1);
    long_text.text = str_of(text, REPORT_TEXT_MAX + 1);
    ASSERT_FAILS(put(t, &rig, &long_text), ERR_TOO_LARGE);
    long_text.text.n--;
    ASSERT_EQ(put(t, &rig, &long_text), 1);
}

DB_TEST(a_damaged_report_is_named)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct report report = report_of(&agent, "r-1", "current"), is;

    ASSERT_EQ(put(t, &rig, &report), 1);
    ASSERT_OK(
        db_exec(domain_db(rig.domain), SQL("UPDATE agent_reports SET cursor = '7'"), &t->err));
    ASSERT_FAILS(report_current(rig.domain, agent.n, STR("current"), &t->arena, &is, &t->err),
                 ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "r-1");
    ASSERT_OK(db_exec(domain_db(rig.domain),
                      SQL("UPDATE agent_reports SET cursor = '{}', content = 'x'"), &t->err));
    ASSERT_FAILS(report_current(rig.domain, agent.n, STR("current"), &t->arena, &is, &t->err),
                 ERR_INTEGRITY_FAILED);
}
