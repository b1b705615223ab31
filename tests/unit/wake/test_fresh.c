/* How fresh reports are, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "alert_rig.h"
#include "wake/fresh.h"

/* A report of now that has seen all there is, as its tool writes it. */
static struct report report_now(struct alert *a, int64_t agent_n)
{
    struct report report = { .agent_n = agent_n,
                             .scope = STR("current"),
                             .created_at = alert_now(a) };

    report.cursor = vclock_with(&report.cursor, str_from(change_host_id(a->change)),
                                change_next(a->change), &a->t->arena);
    clock_advance(&a->clock, 10);
    return report;
}

static struct report_freshness look(struct alert *a, const char *agent_id,
                                    const struct report *report)
{
    struct test *t = a->t;
    struct report_freshness fresh;
    struct agent agent;

    ASSERT_OK(agent_get(a->agents, str_from(agent_id), &t->arena, &agent, &t->err));
    ASSERT_OK(report_freshness_of(a->agents, a->journal, &agent, report, alert_now(a), &t->arena,
                                  &fresh, &t->err));
    return fresh;
}

static void add_task(struct alert *a, const char *agent, const char *id, const char *category)
{
    alert_write(a, agent, RECORD_TASK, id,
                arena_printf(&a->t->arena, "{\"title\":\"x%lld\",\"categoryId\":\"%s\"}",
                             (long long)clock_mono_ns(&a->clock.clock), category));
    clock_advance(&a->clock, 10);
}

DB_TEST(a_report_is_stale_when_what_its_agent_waits_for_has_happened)
{
    AUTO_ALERT a;
    struct report_freshness fresh;
    struct report report;
    int64_t coach;

    alert_open(&a, t);
    alert_category(&a, "gym");
    alert_category(&a, "home");
    coach = alert_agent(&a, "coach", "[\"*\"]");
    alert_subscribe(&a, coach,
                    (struct subscription){ .predicate = STR("task.categoryId == \"gym\"") });
    add_task(&a, NULL, "old", "gym"); /* seen */
    report = report_now(&a, coach);
    ASSERT(!look(&a, "coach", &report).stale);
    add_task(&a, NULL, "t-1", "home");   /* not what it waits for */
    add_task(&a, "coach", "t-2", "gym"); /* it did that itself */
    add_task(&a, "other", "t-3", "gym"); /* nor does it wait for agents */
    ASSERT(!look(&a, "coach", &report).stale);
    add_task(&a, NULL, "t-4", "gym");
    clock_advance(&a.clock, MINUTES(3));
    fresh = look(&a, "coach", &report);
    ASSERT(fresh.stale);
    ASSERT_EQ(fresh.newer_events, 1);
    ASSERT_TEXT(fresh.why, "1 change happened since it was written, the last 3 minutes ago");
    add_task(&a, NULL, "old", "gym");
    ASSERT_EQ(look(&a, "coach", &report).newer_events, 2);
    /* One that is written now has seen all that. */
    report = report_now(&a, coach);
    ASSERT(!look(&a, "coach", &report).stale);
    clock_advance(&a.clock, HOURS(37));
    fresh = look(&a, "coach", &report);
    ASSERT(fresh.stale);
    ASSERT_EQ(fresh.newer_events, 0);
}

DB_TEST(without_subscriptions_a_report_goes_by_the_categories_of_its_agent)
{
    AUTO_ALERT a;
    struct report all, gym, none;
    struct subscription *off;
    int64_t n;

    alert_open(&a, t);
    alert_category(&a, "gym");
    alert_category(&a, "home");
    all = report_now(&a, alert_agent(&a, "all", "[\"*\"]"));
    n = alert_agent(&a, "gym", "[\"gym\"]");
    off = alert_subscribe(&a, n, (struct subscription){ 0 });
    alert_subscribe(&a, n, (struct subscription){ .source = WAKE_WEBHOOK });
    off->active = false;
    alert_begin(&a);
    ASSERT_OK(subscription_change(a.agents, a.change, off, alert_now(&a), &t->err));
    alert_end(&a);
    gym = report_now(&a, n);
    none = report_now(&a, alert_agent(&a, "none", "[]"));
    add_task(&a, NULL, "t-1", "home");
    add_task(&a, "gym", "t-2", "gym"); /* its own */
    ASSERT_EQ(look(&a, "all", &all).newer_events, 2);
    ASSERT_EQ(look(&a, "gym", &gym).newer_events, 0);
    add_task(&a, "all", "t-3", "gym");
    ASSERT_EQ(look(&a, "all", &all).newer_events, 2);
    ASSERT_EQ(look(&a, "gym", &gym).newer_events, 1);
    ASSERT_EQ(look(&a, "none", &none).newer_events, 0);
}

DB_TEST(what_a_report_cites_concerns_it_whoever_changed_it)
{
    static const struct report_source sources[] = {
        { .source_type = { "web", 3 }, .source_id = { "t-2", 3 } },
        { .source_type = { "journal", 7 }, .source_id = { "t-1", 3 } },
    };
    AUTO_ALERT a;
    struct report report;
    int64_t coach;

    alert_open(&a, t);
    alert_category(&a, "home");
    coach = alert_agent(&a, "coach", "[\"*\"]");
    alert_subscribe(&a, coach, (struct subscription){ .predicate = STR("task.priority == 0") });
    add_task(&a, NULL, "t-1", "home");
    add_task(&a, NULL, "t-2", "home");
    report = report_now(&a, coach);
    report.sources = sources;
    report.source_count = ARRAY_LEN(sources);
    add_task(&a, NULL, "t-2", "home"); /* cited as something else */
    add_task(&a, "coach", "t-1", "home");
    ASSERT(!look(&a, "coach", &report).stale);
    add_task(&a, "other", "t-1", "home");
    ASSERT_EQ(look(&a, "coach", &report).newer_events, 1);
}

DB_TEST(the_cursor_counts_and_where_it_says_nothing_the_time_does)
{
    AUTO_ALERT a;
    struct report report;
    int64_t coach;

    alert_open(&a, t);
    alert_category(&a, "gym");
    coach = alert_agent(&a, "coach", "[\"*\"]");
    alert_subscribe(&a, coach, (struct subscription){ 0 });
    report = report_now(&a, coach);
    add_task(&a, NULL, "t-1", "gym");
    /* The report's time says nothing: it was begun before and ended after the change. */
    report.created_at = alert_now(&a);
    ASSERT_EQ(look(&a, "coach", &report).newer_events, 1);
    /* A report that knows nothing of this host. */
    report.cursor = (struct vclock){ 0 };
    ASSERT_EQ(look(&a, "coach", &report).newer_events, 0);
    report.created_at -= 60;
    ASSERT_EQ(look(&a, "coach", &report).newer_events, 1);
    report.cursor =
        vclock_with(&report.cursor, STR("01890a5d-ac96-774b-bcce-b302099a8057"), 7, &t->arena);
    ASSERT_EQ(look(&a, "coach", &report).newer_events, 1);
}
