/* SPDX-License-Identifier: MIT */
#include "alert_rig.h"
#include "wake/match.h"

static struct change_row *newest(struct alert *a, struct domain *domain)
{
    struct test *t = a->t;
    struct change_row *rows;
    size_t count;

    ASSERT_OK(change_batches_since(domain, 0, 1, &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 1);
    return rows;
}

static struct match judge(struct alert *a, const struct subscription *s, const char *agent_id)
{
    struct test *t = a->t;
    struct agent agent;
    struct match match;

    ASSERT_OK(agent_get(a->agents, str_from(agent_id), &t->arena, &agent, &t->err));
    ASSERT_OK(subscription_judge(a->journal, s, &agent, newest(a, a->records), &t->arena, &match,
                                 &t->err));
    return match;
}

/* ---- who wrote it ---- */

DB_TEST(who_wrote_it_decides_first)
{
    AUTO_ALERT a;
    struct subscription human = { .source = WAKE_JOURNAL, .authors = 1u << CHANGE_BY_HUMAN };
    struct subscription agents = { .source = WAKE_JOURNAL, .authors = 1u << CHANGE_BY_AGENT };
    struct subscription self = { .source = WAKE_JOURNAL, .authors = SUBSCRIPTION_BY_SELF };

    alert_open(&a, t);
    alert_agent(&a, "coach", "[\"*\"]");
    alert_agent(&a, "planner", "[\"*\"]");
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\"}");
    ASSERT_EQ(judge(&a, &human, "coach").outcome, MATCH_YES);
    ASSERT_EQ(judge(&a, &agents, "coach").outcome, MATCH_AUTHOR);
    ASSERT_EQ(judge(&a, &self, "coach").outcome, MATCH_AUTHOR);
    clock_advance(&a.clock, 10);
    alert_write(&a, "planner", RECORD_TASK, "t-1", "{\"title\":\"y\"}");
    ASSERT_EQ(judge(&a, &human, "coach").outcome, MATCH_AUTHOR);
    ASSERT_EQ(judge(&a, &agents, "coach").outcome, MATCH_YES);
    /* its own only when it says so */
    ASSERT_EQ(judge(&a, &agents, "planner").outcome, MATCH_OWN);
    ASSERT_EQ(judge(&a, &human, "planner").outcome, MATCH_AUTHOR);
    ASSERT_EQ(judge(&a, &self, "planner").outcome, MATCH_YES);
    ASSERT_EQ(judge(&a, &self, "coach").outcome, MATCH_AUTHOR);
}

/* ---- predicate and scope ---- */

DB_TEST(the_predicate_is_asked_about_what_changed)
{
    AUTO_ALERT a;
    struct subscription s = { .source = WAKE_JOURNAL,
                              .authors = 1u << CHANGE_BY_HUMAN,
                              .predicate = STR("task.categoryId == \"gym\"") };
    struct match match;

    alert_open(&a, t);
    alert_agent(&a, "coach", "[\"*\"]");
    alert_category(&a, "gym");
    alert_category(&a, "home");
    clock_advance(&a.clock, 10);
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\",\"categoryId\":\"gym\"}");
    match = judge(&a, &s, "coach");
    ASSERT_EQ(match.outcome, MATCH_YES);
    ASSERT_EQ(match.record_count, 1);
    ASSERT_STR(match.records[0].id, "t-1");
    clock_advance(&a.clock, 10);
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"categoryId\":\"home\"}");
    ASSERT_EQ(judge(&a, &s, "coach").outcome, MATCH_PREDICATE);
}

DB_TEST(a_change_out_of_its_categories_never_reaches_an_agent)
{
    AUTO_ALERT a;
    struct subscription s = { .source = WAKE_JOURNAL, .authors = 1u << CHANGE_BY_HUMAN };
    struct match match;

    alert_open(&a, t);
    alert_agent(&a, "gym", "[\"gym\"]");
    alert_agent(&a, "none", "[]");
    alert_agent(&a, "all", "[\"*\"]");
    alert_category(&a, "gym");
    alert_category(&a, "home");
    clock_advance(&a.clock, 10);
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\",\"categoryId\":\"home\"}");
    match = judge(&a, &s, "gym");
    ASSERT_EQ(match.outcome, MATCH_SCOPE);
    ASSERT_EQ(match.record_count, 0);
    ASSERT_EQ(match.hidden_count, 1);
    ASSERT_EQ(judge(&a, &s, "none").outcome, MATCH_SCOPE);
    ASSERT_EQ(judge(&a, &s, "all").outcome, MATCH_YES);
    /* what has no category is in nobody's */
    clock_advance(&a.clock, 10);
    alert_write(&a, NULL, RECORD_TASK, "t-2", "{\"title\":\"x\"}");
    ASSERT_EQ(judge(&a, &s, "gym").outcome, MATCH_SCOPE);
    /* a checklist is in the category of its task */
    clock_advance(&a.clock, 10);
    alert_write(&a, NULL, RECORD_TASK, "t-3", "{\"title\":\"x\",\"categoryId\":\"gym\"}");
    clock_advance(&a.clock, 10);
    alert_write(&a, NULL, RECORD_CHECKLIST, "c-1", "{\"title\":\"y\",\"taskId\":\"t-3\"}");
    ASSERT_EQ(judge(&a, &s, "gym").outcome, MATCH_YES);
}

/* ---- when ---- */

DB_TEST(a_link_is_seen_by_who_may_see_both_its_ends)
{
    AUTO_ALERT a;
    struct subscription s = { .source = WAKE_JOURNAL, .authors = 1u << CHANGE_BY_HUMAN };

    alert_open(&a, t);
    alert_agent(&a, "both", "[\"gym\",\"home\"]");
    alert_agent(&a, "from", "[\"gym\"]");
    alert_agent(&a, "to", "[\"home\"]");
    alert_category(&a, "gym");
    alert_category(&a, "home");
    alert_write(&a, NULL, RECORD_ENTRY, "e-1",
                "{\"kind\":\"note\",\"title\":\"n\",\"categoryId\":\"gym\"}");
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\",\"categoryId\":\"home\"}");
    clock_advance(&a.clock, 10);
    alert_write(&a, NULL, RECORD_ENTRY_LINK, "",
                "{\"fromType\":\"entry\",\"fromId\":\"e-1\",\"toType\":\"task\","
                "\"toId\":\"t-1\",\"relation\":\"about\"}");
    ASSERT_EQ(judge(&a, &s, "both").outcome, MATCH_YES);
    ASSERT_EQ(judge(&a, &s, "from").outcome, MATCH_SCOPE);
    ASSERT_EQ(judge(&a, &s, "to").outcome, MATCH_SCOPE);
}

/* When, and what it waits for. */
static int64_t when(const struct subscription *s, int64_t now, const char *held)
{
    enum wake_held why = WAKE_HELD_SLEEP;
    int64_t at = match_when(s, now, &why);

    return strcmp(wake_held_name(why), held) == 0 ? at : -1;
}

TEST(a_cooldown_delays_and_gathers)
{
    struct subscription s = { .cooldown_ms = 60000 };
    int64_t now = ALERT_NOW;

    ASSERT_EQ(when(&s, now, ""), now); /* never woke */
    s.last_wake_at = now;
    ASSERT_EQ(when(&s, now + 10000, "cooldown"), now + 60000);
    s.last_wake_at = now + 60000; /* that one is planned: the next ones join it */
    ASSERT_EQ(when(&s, now + 20000, "cooldown"), now + 60000);
    ASSERT_EQ(when(&s, now + 59999, "cooldown"), now + 60000);
    ASSERT_EQ(when(&s, now + 70000, "cooldown"), now + 120000);
    ASSERT_EQ(when(&s, now + 130000, ""), now + 130000);
    /* the clock was set back a day: what was planned then counts for nothing */
    ASSERT_EQ(when(&s, now - 86400000, ""), now - 86400000);
}

TEST(outside_of_active_hours_a_wake_waits)
{
    struct subscription s = {
        .hours = { .set = true, .from_min = 420, .to_min = 1320, .zone = "UTC" },
        .cooldown_ms = 3600000,
    };
    int64_t day = ALERT_NOW / 86400000 * 86400000, seven = 7 * 3600000, ten = 22 * 3600000;

    ASSERT_EQ(when(&s, day + seven, ""), day + seven);
    ASSERT_EQ(when(&s, day + ten, "hours"), day + 86400000 + seven);
    /* a cooldown that ends in the night ends in the morning */
    s.last_wake_at = day + ten - 60000;
    ASSERT_EQ(when(&s, day + ten - 1, "hours"), day + 86400000 + seven);
    s.last_wake_at = day + 86400000 + seven;
    ASSERT_EQ(when(&s, day + ten + 1000, "hours"), day + 86400000 + seven);
    s.last_wake_at = day + seven;
    ASSERT_EQ(when(&s, day + seven + 1000, "cooldown"), day + seven + 3600000);
}

/* ---- payloads ---- */

DB_TEST(a_payload_names_what_changed_and_no_more_than_the_agent_may_see)
{
    AUTO_ALERT a;
    AUTO_BUF text = BUF_INIT(WAKE_PAYLOAD_MAX);
    AUTO_JSON json = NULL;
    struct subscription s = { .source = WAKE_JOURNAL,
                              .authors = 1u << CHANGE_BY_HUMAN,
                              .prompt = STR("Look.") };
    struct journal_author author = { .kind = CHANGE_BY_HUMAN };
    struct journal_write *write;
    struct match_batch batch = { .source = WAKE_JOURNAL, .arena = &t->arena };
    struct match match;
    struct agent agent;
    struct record record;

    alert_open(&a, t);
    alert_agent(&a, "gym", "[\"gym\"]");
    ASSERT_OK(agent_get(a.agents, STR("gym"), &t->arena, &agent, &t->err));
    alert_category(&a, "gym");
    alert_category(&a, "home");
    clock_advance(&a.clock, 10);
    ASSERT_EQ(journal_begin(a.journal, &author, &t->arena, &write, NULL, &t->err), 1);
    for (int i = 0; i < 120; i++) {
        AUTO_JSON fields = NULL;

        ASSERT_OK(json_parse(str_from(i % 2 ? "{\"title\":\"s3cret\",\"categoryId\":\"home\"}"
                                            : "{\"title\":\"x\",\"categoryId\":\"gym\"}"),
                             &fields, &t->err));
        ASSERT_OK(journal_create(write, RECORD_TASK, str_from(arena_printf(&t->arena, "t-%03d", i)),
                                 fields, &record, &t->err));
    }
    ASSERT_OK(journal_end(write, true, STR_NONE, &t->err));
    loop_fake_tick(a.loop);

    batch.journal = a.journal;
    batch.row = newest(&a, a.records);
    ASSERT_OK(match_judge(&batch, &s, &agent, &t->arena, &match, &t->err));
    match_payload(&batch, &s, &match, WAKE_HELD_HOURS, &text);
    ASSERT_OK(json_parse(buf_str(&text), &json, &t->err));
    ASSERT_EQ(json_object_array_length(json_find(json, "records")), 50);
    ASSERT_EQ(json_object_get_int64(json_find(json, "recordCount")), 60);
    ASSERT_EQ(json_object_get_int64(json_find(json, "hiddenCount")), 60);
    ASSERT_EQ(json_object_array_length(json_find(json, "units")), 50);
    ASSERT_EQ(json_object_get_int64(json_find(json, "unitCount")), 120);
    ASSERT_STR(json_str(json_find(json, "prompt")), "Look.");
    ASSERT_STR(json_str(json_find(json, "domain")), "journal");
    ASSERT_STR(json_str(json_find(json, "author")), "human");
    ASSERT_STR(json_str(json_find(json, "held")), "hours");
    ASSERT_EQ(json_object_object_length(json_find(json, "counters")), 1);
    ASSERT(!strstr(buf_text(&text), "s3cret"));
    ASSERT(!strstr(buf_text(&text), "t-001")); /* not even its name */
    ASSERT(strstr(buf_text(&text), "[\"task\",\"t-000\"]"));
}
