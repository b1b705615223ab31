/* SPDX-License-Identifier: MIT */
#include "alert_rig.h"
#include "wake/predicate.h"
#include "wake/subscription_int.h"

/* ---- what they may be ---- */

static const struct token one_task[] = { KEY("TASK") }, one_message[] = { KEY("AGENT_MESSAGE") },
                          no_key[] = { KEY("TASKS") }, no_namespace[] = { SUBTYPE("", "x") },
                          odd_namespace[] = { SUBTYPE("colour", "red") },
                          odd_status[] = { SUBTYPE("taskStatus", "WHAT") },
                          agents_subtype[] = { SUBTYPE("taskStatus", "DONE") },
                          odd_id[] = { ENTITY("my task") };

static const struct {
    struct subscription s;
    const char *why;
} refused[] = {
    { { .tokens = one_task, .token_count = 1 }, "the source is missing" },
    { { .source = WAKE_JOURNAL }, "at least one token is needed" },
    { { .source = WAKE_JOURNAL, .tokens = no_key, .token_count = 1 }, "token 1: " },
    { { .source = WAKE_JOURNAL, .tokens = no_namespace, .token_count = 1 }, "token 1: " },
    { { .source = WAKE_JOURNAL, .tokens = odd_namespace, .token_count = 1 },
      "token 1: there is no namespace \"colour\"; there are: taskStatus, workoutType" },
    { { .source = WAKE_JOURNAL, .tokens = odd_status, .token_count = 1 },
      "there is no taskStatus \"WHAT\"; there are: OPEN" },
    { { .source = WAKE_AGENT, .tokens = agents_subtype, .token_count = 1 },
      "changes of agents have no subtypes" },
    { { .source = WAKE_JOURNAL, .tokens = odd_id, .token_count = 1 }, "\"my task\" is no id" },
    { { .source = WAKE_JOURNAL, .tokens = one_message, .token_count = 1 },
      "the source journal has no changes of the key AGENT_MESSAGE; agent has" },
    { { .source = WAKE_AGENT, .tokens = one_task, .token_count = 1 },
      "the source agent has no changes of the key TASK; journal has" },
    { { .source = WAKE_JOURNAL, .tokens = one_task, .token_count = 65 }, "at most 64 are allowed" },
    { { .source = WAKE_JOURNAL,
        .tokens = one_task,
        .token_count = 1,
        .predicate = { "task.priority == \"high\"", 23 } },
      "predicate: column 18: task.priority is a number" },
    { { .source = WAKE_AGENT,
        .tokens = one_message,
        .token_count = 1,
        .predicate = { "task.id == \"x\"", 14 } },
      "a predicate is for records of the journal; the source is agent" },
    { { .source = WAKE_JOURNAL, .tokens = one_task, .token_count = 1, .authors = 1 },
      "authors are human, agent, sync and self" },
    { { .source = WAKE_JOURNAL, .tokens = one_task, .token_count = 1, .cooldown_ms = -1 },
      "a cooldown is 0 to 2592000 seconds" },
    { { .source = WAKE_JOURNAL, .tokens = one_task, .token_count = 1, .folder = { "/a", 2 } },
      "folder and glob are for the source files" },
    { { .source = WAKE_FILES, .tokens = one_task, .token_count = 1, .folder = { "/a", 2 } },
      "tokens are for the sources journal and agent" },
    { { .source = WAKE_FILES }, "the absolute path of a folder is needed" },
    { { .source = WAKE_FILES, .folder = { "home/ann", 8 } }, "the absolute path" },
    { { .source = WAKE_FILES, .folder = { "/", 1 } }, "the absolute path" },
    { { .source = WAKE_FILES, .folder = { "/home/../etc", 12 } }, "without empty names" },
    { { .source = WAKE_FILES, .folder = { "/home//ann", 10 } }, "without empty names" },
    { { .source = WAKE_FILES, .folder = { "/home/ann/", 10 } }, "without empty names" },
    { { .source = WAKE_FILES, .folder = { "/home/a\0b", 9 } }, "the absolute path" },
    { { .source = WAKE_FILES, .folder = { "/a", 2 }, .glob = { "a/*.txt", 7 } },
      "a pattern for names without a slash" },
    { { .source = WAKE_WEBHOOK, .name = { "a\nb", 3 } }, "the subscription's name" },
    { { .source = WAKE_WEBHOOK, .prompt = { "a\x1b[0m", 5 } }, "the prompt" },
    { { .source = WAKE_WEBHOOK, .hours = { .set = true, .from_min = 60, .to_min = 60 } },
      "two different times" },
};

TEST(what_a_subscription_can_not_be_is_refused_with_a_reason)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct subscription s = refused[i].s;

        t->err = ERR_INIT;
        ASSERT_FAILS(subscription_check(&s, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), refused[i].why);
    }
}

TEST(sources_have_names)
{
    for (int source = WAKE_JOURNAL; source <= WAKE_WEBHOOK; source++)
        ASSERT_EQ(wake_source_of(str_from(wake_source_name((enum wake_source)source))), source);
    ASSERT_EQ(wake_source_of(STR("moon")), WAKE_SOURCE_NONE);
}

/* ---- names ---- */

static struct subscription named(const struct token *tokens, size_t n, const char *predicate)
{
    return (struct subscription){
        .source = WAKE_JOURNAL, .tokens = tokens, .token_count = n, .predicate = str_from(predicate)
    };
}

static const char *typed(struct test *t, const struct subscription *s)
{
    AUTO_BUF text = BUF_INIT(SUBSCRIPTION_PREDICATE_MAX);

    predicate_typed(s->predicate, &text);
    return arena_text(&t->arena, buf_text(&text));
}

DB_TEST(categories_are_named_once_and_kept_by_id)
{
    static const struct token tokens[] = { SUBTYPE("categoryId", "GYM"), KEY("TASK") };
    static const char where[] =
        "task.categoryId in [\"gym\", \"c-2\"] or category.id == \"Gym\" or task.title == \"gym\"";
    AUTO_ALERT a;
    struct subscription s, again;

    alert_open(&a, t);
    alert_write(&a, NULL, RECORD_CATEGORY, "c-1", "{\"name\":\"Gym\"}");
    alert_write(&a, NULL, RECORD_CATEGORY, "c-2", "{\"name\":\"Home\"}");
    s = named(tokens, 2, where);
    ASSERT_OK(subscription_name(&s, NULL, a.journal, &t->arena, &t->err));
    ASSERT_OK(subscription_check(&s, &t->err));
    ASSERT_STR(s.tokens[0].value, "c-1");
    ASSERT_STR(s.predicate, "task.categoryId in [\"gym\"@\"c-1\", \"c-2\"] or category.id == "
                            "\"Gym\"@\"c-1\" or task.title == \"gym\"");
    ASSERT_TEXT(typed(t, &s), where);
    /* another name changes nothing of what is stored, nor does writing it again as it is shown */
    alert_write(&a, NULL, RECORD_CATEGORY, "c-1", "{\"name\":\"Sport\"}");
    again = named(s.tokens, 2, where);
    ASSERT_OK(subscription_name(&again, &s, a.journal, &t->arena, &t->err));
    ASSERT(str_eq(again.predicate, s.predicate));
    again = named(s.tokens, 2, where);
    ASSERT_FAILS(subscription_name(&again, NULL, a.journal, &t->arena, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t),
                    "predicate: column 21: there is no category \"gym\"; there are Home, Sport");
}

DB_TEST(what_a_subscription_names_must_be_there)
{
    static const struct token nowhere[] = { SUBTYPE("categoryId", "garden") };
    static const struct token nobody[] = { ENTITY("t-9") }, task[] = { ENTITY("t-1") };
    AUTO_ALERT a;
    struct subscription s;

    alert_open(&a, t);
    s = named(nowhere, 1, "");
    ASSERT_FAILS(subscription_name(&s, NULL, a.journal, &t->arena, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "token 1: there is no category \"garden\", nor any other");
    t->err = ERR_INIT;
    s = named(nobody, 1, "");
    ASSERT_FAILS(subscription_name(&s, NULL, a.journal, &t->arena, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "no record with the id \"t-9\"");
    t->err = ERR_INIT;
    ASSERT_OK(subscription_name(&s, &s, a.journal, &t->arena, &t->err)); /* it was there before */
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\"}");
    s = named(task, 1, "");
    ASSERT_OK(subscription_name(&s, NULL, a.journal, &t->arena, &t->err));
    /* nobody types ids behind names */
    s = named(task, 1, "task.categoryId == \"gym\"@\"c-1\"");
    ASSERT_FAILS(subscription_name(&s, NULL, a.journal, &t->arena, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "column 25: \"@");
}

/* ---- rows ---- */

DB_TEST(a_subscription_is_read_as_it_was_written)
{
    static const struct token tokens[] = { KEY("WORKOUT"), SUBTYPE("workoutType", "running"),
                                           ENTITY("t-1") };
    AUTO_ALERT a;
    struct subscription *s, got;
    int64_t coach;

    alert_open(&a, t);
    coach = alert_agent(&a, "coach", "[\"*\"]");
    s = alert_subscribe(
        &a, coach,
        (struct subscription){
            .name = STR("Runs"),
            .tokens = tokens,
            .token_count = 3,
            .predicate = STR("entry.kind == \"workout\""),
            .authors = 1u << CHANGE_BY_HUMAN | 1u << CHANGE_BY_SYNC | SUBSCRIPTION_BY_SELF,
            .hours = { .set = true,
                       .days = 0x1f,
                       .from_min = 420,
                       .to_min = 1320,
                       .zone = "Europe/Berlin" },
            .cooldown_ms = 60000,
            .prompt = STR("Say well done."),
        });
    ASSERT_OK(subscription_get(a.agents, s->id, &t->arena, &got, &t->err));
    ASSERT_EQ(got.n, s->n);
    ASSERT_STR(got.agent_id, "coach");
    ASSERT_EQ(got.agent_n, coach);
    ASSERT_STR(got.name, "Runs");
    ASSERT_EQ(got.source, WAKE_JOURNAL);
    ASSERT_STR(got.predicate, "entry.kind == \"workout\"");
    ASSERT_EQ(got.authors, s->authors);
    ASSERT_EQ(got.hours.days, 0x1f);
    ASSERT_EQ(got.hours.from_min, 420);
    ASSERT_EQ(got.hours.to_min, 1320);
    ASSERT_TEXT(got.hours.zone, "Europe/Berlin");
    ASSERT_EQ(got.cooldown_ms, 60000);
    ASSERT_STR(got.prompt, "Say well done.");
    ASSERT(got.active);
    ASSERT_EQ(got.created_at, ALERT_NOW);
    ASSERT_EQ(got.token_count, 3);
    ASSERT_STR(got.tokens[0].value, "t-1");
    ASSERT_STR(got.tokens[1].value, "WORKOUT");
    ASSERT_STR(got.tokens[2].name_space, "workoutType");
    /* what no other id begins with is enough */
    ASSERT_OK(subscription_get(a.agents, str_take(s->id, 20), &t->arena, &got, &t->err));
    ASSERT_EQ(got.n, s->n);
}

static void match(struct alert *a, const struct token *tokens, size_t n, const char *expected)
{
    struct test *t = a->t;
    AUTO_BUF names = BUF_INIT(200);
    struct subscription *list;
    size_t count;

    ASSERT_OK(subscription_match(a->agents, tokens, n, 0, 0, &t->arena, &list, &count, &t->err));
    for (size_t i = 0; i < count; i++)
        buf_printf(&names, "%s%.*s", i ? " " : "", STR_ARG(list[i].name));
    ASSERT_TEXT(buf_text(&names), expected);
}

DB_TEST(matching_finds_those_with_one_of_the_tokens_once_each)
{
    static const struct token run[] = { KEY("WORKOUT"), SUBTYPE("workoutType", "running") };
    static const struct token gym[] = { SUBTYPE("categoryId", "gym") };
    static const struct token id[] = { ENTITY("running") };
    static const struct token batch[] = { KEY("WORKOUT"), SUBTYPE("workoutType", "running"),
                                          SUBTYPE("categoryId", "gym"), ENTITY("e-1") };
    static const struct token other[] = { SUBTYPE("other", "running"), ENTITY("WORKOUT") };
    AUTO_ALERT a;
    int64_t coach;

    alert_open(&a, t);
    coach = alert_agent(&a, "coach", "[]");
    alert_subscribe(&a, coach, (struct subscription){ .name = STR("tasks") });
    alert_subscribe(&a, coach,
                    (struct subscription){ .name = STR("runs"), .tokens = run, .token_count = 2 });
    alert_subscribe(&a, coach,
                    (struct subscription){ .name = STR("gym"), .tokens = gym, .token_count = 1 });
    alert_subscribe(&a, coach,
                    (struct subscription){ .name = STR("id"), .tokens = id, .token_count = 1 });
    match(&a, batch, 4, "runs gym");
    match(&a, other, 2, ""); /* the class and the namespace count, not the value alone */
    match(&a, NULL, 0, "");
}

DB_TEST(those_that_are_off_or_removed_are_not_found)
{
    static const struct token task[] = { KEY("TASK") }, rating[] = { KEY("RATING") };
    AUTO_ALERT a;
    struct subscription *s, got, *list;
    int64_t coach;
    size_t count;

    alert_open(&a, t);
    coach = alert_agent(&a, "coach", "[]");
    s = alert_subscribe(&a, coach, (struct subscription){ .name = STR("tasks") });
    match(&a, task, 1, "tasks");

    clock_advance(&a.clock, 1000);
    alert_begin(&a);
    s->active = false;
    ASSERT_OK(subscription_change(a.agents, a.change, s, alert_now(&a), &t->err));
    alert_end(&a);
    match(&a, task, 1, "");

    alert_begin(&a);
    s->active = true;
    s->tokens = rating;
    ASSERT_OK(subscription_change(a.agents, a.change, s, alert_now(&a), &t->err));
    alert_end(&a);
    match(&a, task, 1, "");
    match(&a, rating, 1, "tasks");
    ASSERT_OK(subscription_get(a.agents, s->id, &t->arena, &got, &t->err));
    ASSERT_EQ(got.updated_at, ALERT_NOW + 1000);
    ASSERT_EQ(got.token_count, 1);

    alert_begin(&a);
    ASSERT_OK(subscription_remove(a.agents, a.change, s->id, alert_now(&a), &t->err));
    ASSERT_FAILS(subscription_remove(a.agents, a.change, s->id, alert_now(&a), &t->err),
                 ERR_NOT_FOUND);
    t->err = ERR_INIT;
    ASSERT_FAILS(subscription_change(a.agents, a.change, s, alert_now(&a), &t->err), ERR_NOT_FOUND);
    alert_end(&a);
    match(&a, rating, 1, "");
    t->err = ERR_INIT;
    ASSERT_FAILS(subscription_get(a.agents, s->id, &t->arena, &got, &t->err), ERR_NOT_FOUND);
    ASSERT_OK(subscription_list(a.agents, 0, &t->arena, &list, &count, &t->err));
    ASSERT_EQ(count, 0);
}

DB_TEST(a_change_is_checked_as_a_new_one_is)
{
    AUTO_ALERT a;
    struct subscription *s, got;

    alert_open(&a, t);
    s = alert_subscribe(&a, alert_agent(&a, "coach", "[]"), (struct subscription){ 0 });
    alert_begin(&a);
    s->predicate = STR("task.due < 3");
    ASSERT_FAILS(subscription_change(a.agents, a.change, s, alert_now(&a), &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "column 12");
    s->predicate = STR("");
    s->source = WAKE_FILES; /* which it never becomes */
    ASSERT_OK(subscription_change(a.agents, a.change, s, alert_now(&a), &t->err));
    alert_end(&a);
    ASSERT_OK(subscription_get(a.agents, s->id, &t->arena, &got, &t->err));
    ASSERT_EQ(got.source, WAKE_JOURNAL);
}

DB_TEST(lists_are_of_one_agent_or_of_all_and_go_with_the_agent)
{
    static const struct token task[] = { KEY("TASK") };
    AUTO_ALERT a;
    struct subscription *list, *hook;
    int64_t coach, planner;
    size_t count;

    alert_open(&a, t);
    coach = alert_agent(&a, "coach", "[]");
    planner = alert_agent(&a, "planner", "[]");
    alert_subscribe(&a, coach, (struct subscription){ .name = STR("one") });
    hook = alert_subscribe(&a, coach,
                           (struct subscription){ .name = STR("two"), .source = WAKE_WEBHOOK });
    alert_subscribe(&a, planner, (struct subscription){ .name = STR("three") });
    ASSERT_OK(subscription_list(a.agents, coach, &t->arena, &list, &count, &t->err));
    ASSERT_EQ(count, 2);
    ASSERT_STR(list[1].name, "two");
    ASSERT_EQ(list[0].token_count, 1);
    ASSERT_EQ(list[1].token_count, 0);
    ASSERT_OK(subscription_list(a.agents, 0, &t->arena, &list, &count, &t->err));
    ASSERT_EQ(count, 3);

    alert_begin(&a);
    ASSERT_EQ(agent_set_destroyed(a.agents, a.change, STR("coach"), alert_now(&a), &t->err), 1);
    alert_end(&a);
    match(&a, task, 1, "three");
    ASSERT_OK(subscription_list(a.agents, 0, &t->arena, &list, &count, &t->err));
    ASSERT_EQ(count, 1);
    ASSERT(hook->n > 0);
}

DB_TEST(a_destroyed_agent_gets_no_subscription)
{
    AUTO_ALERT a;
    static const struct token task[] = { KEY("TASK") };
    struct subscription s = {
        .source = WAKE_JOURNAL, .tokens = task, .token_count = 1, .agent_id = STR("coach")
    };
    char token[WEBHOOK_TOKEN_SIZE];

    alert_open(&a, t);
    s.agent_n = alert_agent(&a, "coach", "[]");
    alert_begin(&a);
    ASSERT_OK(agent_set_destroyed(a.agents, a.change, STR("coach"), ALERT_NOW, &t->err));
    ASSERT_FAILS(subscription_add(a.agents, a.change, &s, ALERT_NOW, token, &t->err),
                 ERR_AGENT_DESTROYED);
    ASSERT_CONTAINS(test_err_text(t), "coach");
    ASSERT_OK(loop_unit_end(a.loop, true, &t->err));
}

DB_TEST(the_same_token_twice_counts_once)
{
    static const struct token twice[] = { KEY("TASK"), KEY("TASK") };
    AUTO_ALERT a;
    struct subscription *s, got;

    alert_open(&a, t);
    s = alert_subscribe(&a, alert_agent(&a, "coach", "[]"),
                        (struct subscription){ .tokens = twice, .token_count = 2 });
    ASSERT_OK(subscription_get(a.agents, s->id, &t->arena, &got, &t->err));
    ASSERT_EQ(got.token_count, 1);
}

/* ---- what edits say ---- */

/* What the one batch after the cursor says; the cursor moves on. */
static const char *told(struct alert *a, struct change_cursor *at)
{
    struct test *t = a->t;
    struct change_row *rows;
    AUTO_BUF text = BUF_INIT(4096);
    size_t n;

    ASSERT_OK(change_batches_after(a->agents, *at, 10, &t->arena, &rows, &n, &t->err));
    if (n != 1)
        return arena_printf(&t->arena, "%zu batches", n);
    *at = rows[0].at;
    buf_printf(&text, "%s", change_author_name(rows[0].author));
    for (size_t i = 0; i < rows[0].unit_count; i++)
        buf_printf(&text, " %.*s", STR_ARG(rows[0].unit[i].payload_type));
    for (size_t i = 0; i < rows[0].token_count; i++)
        buf_printf(&text, " %.*s", STR_ARG(rows[0].tokens[i].value));
    return arena_text(&t->arena, buf_text(&text));
}

DB_TEST(every_edit_says_so_to_who_follows_agents)
{
    AUTO_ALERT a;
    struct subscription *s;
    struct change_cursor at;
    const char *said;
    int64_t coach;

    alert_open(&a, t);
    coach = alert_agent(&a, "coach", "[]");
    ASSERT_OK(change_batches_end(a.agents, &at, &t->err));
    s = alert_subscribe(&a, coach, (struct subscription){ .name = STR("one") });
    said = arena_printf(&t->arena, "human agentSubscription %.*s coach AGENT", STR_ARG(s->id));
    ASSERT_TEXT(told(&a, &at), said);

    s->name = STR("two");
    alert_begin(&a);
    ASSERT_OK(subscription_change(a.agents, a.change, s, alert_now(&a), &t->err));
    alert_end(&a);
    ASSERT_TEXT(told(&a, &at), said);

    /* It woke: that is no edit. */
    alert_begin(&a);
    ASSERT_OK(subscription_woke(a.agents, s->n, alert_now(&a), &t->err));
    alert_end(&a);
    ASSERT_TEXT(told(&a, &at), "0 batches");

    /* Nor is what was refused. */
    s->cooldown_ms = -1;
    alert_begin(&a);
    ASSERT_FAILS(subscription_change(a.agents, a.change, s, alert_now(&a), &t->err),
                 ERR_BAD_REQUEST);
    alert_end(&a);
    ASSERT_TEXT(told(&a, &at), "0 batches");

    alert_begin(&a);
    ASSERT_OK(subscription_remove(a.agents, a.change, s->id, alert_now(&a), &t->err));
    alert_end(&a);
    ASSERT_TEXT(told(&a, &at), said);
}
