/* States in their table, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/state.h"
#include "db/db.h"
#include "rig.h"

#define PHONE  "01890a5d-ac96-774b-bcce-b302099a8057"
#define LAPTOP "01890a5d-ac96-774b-bcce-b302099a8058"

static struct agent add_agent(struct test *t, struct rig *rig, const char *id)
{
    struct agent agent = { .id = id, .kind = "coach", .display_name = "Coach" };

    ASSERT_OK(agent_add(rig->domain, rig->change, &agent, NOW, &t->err));
    return agent;
}

static struct agent_state get(struct test *t, struct rig *rig, const struct agent *agent)
{
    struct agent_state state;

    ASSERT_OK(agent_state_get(rig->domain, agent->n, NOW, &t->arena, &state, &t->err));
    return state;
}

static int64_t count(struct test *t, struct rig *rig, struct sql sql)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain), sql, &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

/* What another host says, having seen all that is in clock. */
static struct agent_state from_host(struct test *t, const struct agent *agent, const char *host,
                                    int64_t counter, const struct vclock *clock)
{
    return (struct agent_state){ .agent_n = agent->n,
                                 .host = str_from(host),
                                 .lifecycle = AGENT_ACTIVE,
                                 .clock = vclock_with(clock ? clock : &(struct vclock){ 0 },
                                                      str_from(host), counter, &t->arena) };
}

DB_TEST(a_state_is_read_as_it_was_put)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct agent_state state = get(t, &rig, &agent), again;

    ASSERT_EQ(state.revision, 0);
    ASSERT_EQ(state.lifecycle, AGENT_ACTIVE);
    agent_state_failed(&state, NOW + 5);
    agent_state_processed(&state, STR(PHONE), 12, NOW + 5, &t->arena);
    state.next_wake_at = NOW + 100;
    state.sleep_until = NOW + 50;
    state.head = (struct agent_pointer){ STR("m-1"), state.clock, STR(LAPTOP) };
    ASSERT_EQ(agent_state_set_slot(&state, AGENT_SLOT_PRIMARY_GOAL, STR("größer"),
                                   str_from(change_host_id(rig.change)), &t->arena, &t->err),
              1);
    ASSERT_EQ(agent_state_set_slot(&state, AGENT_SLOT_PREFERENCE_BY_KEY, STR("{\"k\":\"v\"}"),
                                   STR(PHONE), &t->arena, &t->err),
              1);
    ASSERT_OK(agent_state_put(rig.domain, rig.change, &state, NOW + 6, &t->err));
    again = get(t, &rig, &agent);
    ASSERT_EQ(again.revision, 1);
    ASSERT_EQ(again.updated_at, NOW + 6);
    ASSERT_EQ(again.failures, 1);
    ASSERT_EQ(again.last_wake_at, NOW + 5);
    ASSERT_EQ(again.next_wake_at, NOW + 100);
    ASSERT_EQ(again.sleep_until, NOW + 50);
    ASSERT_EQ(vclock_of(&again.processed, STR(PHONE)), 12);
    ASSERT_EQ(vclock_of(&again.host_seen, STR(PHONE)), NOW + 5);
    ASSERT_STR(again.head.message_id, "m-1");
    ASSERT_STR(again.head.host, LAPTOP);
    ASSERT_EQ(vclock_compare(&again.head.clock, &state.head.clock), VCLOCK_EQUAL);
    ASSERT_STR(again.slots.primary_goal, "größer");
    ASSERT_STR(again.slots.primary_goal_host, change_host_id(rig.change));
    ASSERT_STR(again.slots.preference_by_key, "{\"k\":\"v\"}");
    ASSERT_STR(again.slots.preference_by_key_host, PHONE);
    ASSERT_STR(again.slots.open_loop_ids, "[]");
    ASSERT_STR(again.id, arena_printf(&t->arena, "coach:%s", change_host_id(rig.change)));
    ASSERT_EQ(count(t, &rig, SQL("SELECT count(*) AS n FROM agent_states")), 1);
}

DB_TEST(a_state_that_was_put_may_be_put_again)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct agent_state state = get(t, &rig, &agent);

    for (int i = 1; i <= 3; i++) {
        agent_state_succeeded(&state, NOW + i);
        ASSERT_OK(agent_state_put(rig.domain, rig.change, &state, NOW + i, &t->err));
    }
    ASSERT_EQ(get(t, &rig, &agent).successes, 3);
    ASSERT_EQ(get(t, &rig, &agent).revision, 3);
}

DB_TEST(a_state_that_changed_since_it_was_read_is_not_written_over)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct agent_state stale = get(t, &rig, &agent), state = get(t, &rig, &agent), other;

    ASSERT_OK(agent_state_put(rig.domain, rig.change, &state, NOW, &t->err));
    ASSERT_FAILS(agent_state_put(rig.domain, rig.change, &stale, NOW, &t->err),
                 ERR_VERSION_CONFLICT);
    /* So too when another host's value came in between. */
    other = from_host(t, &agent, PHONE, 7, NULL);
    ASSERT_EQ(agent_state_receive(rig.domain, rig.change, &other, NOW, &t->err), 1);
    ASSERT_FAILS(agent_state_put(rig.domain, rig.change, &state, NOW, &t->err),
                 ERR_VERSION_CONFLICT);
    state = get(t, &rig, &agent);
    ASSERT_OK(agent_state_put(rig.domain, rig.change, &state, NOW, &t->err));
}

DB_TEST(values_of_hosts_stand_side_by_side_until_one_has_seen_them)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct agent_state phone = from_host(t, &agent, PHONE, 3, NULL);
    struct agent_state laptop = from_host(t, &agent, LAPTOP, 9, NULL), state;

    phone.failures = 2;
    phone.sleep_until = NOW + 5;
    laptop.failures = 1;
    laptop.next_wake_at = NOW + 7;
    ASSERT_EQ(agent_state_receive(rig.domain, rig.change, &phone, NOW, &t->err), 1);
    ASSERT_EQ(agent_state_receive(rig.domain, rig.change, &laptop, NOW, &t->err), 1);
    ASSERT_EQ(agent_state_receive(rig.domain, rig.change, &phone, NOW, &t->err), 0);
    state = get(t, &rig, &agent);
    ASSERT_EQ(state.failures, 2);
    ASSERT_EQ(state.sleep_until, NOW + 5);
    ASSERT_EQ(state.next_wake_at, NOW + 7);
    ASSERT_EQ(state.id.n, 0);
    ASSERT_EQ(state.clock.n, 3);
    state.sleep_until = 0;
    ASSERT_OK(agent_state_put(rig.domain, rig.change, &state, NOW, &t->err));
    ASSERT_EQ(count(t, &rig, SQL("SELECT count(*) AS n FROM agent_states")), 3);
    state = get(t, &rig, &agent);
    ASSERT_EQ(state.sleep_until, 0);
    ASSERT_STR(state.host, change_host_id(rig.change));
}

DB_TEST(an_older_value_of_a_host_does_not_replace_a_later_one)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct agent_state first = from_host(t, &agent, PHONE, 3, NULL);
    struct agent_state second = from_host(t, &agent, PHONE, 8, NULL);

    first.failures = 1;
    second.failures = 4;
    ASSERT_EQ(agent_state_receive(rig.domain, rig.change, &second, NOW, &t->err), 1);
    ASSERT_EQ(agent_state_receive(rig.domain, rig.change, &first, NOW, &t->err), 0);
    ASSERT_EQ(get(t, &rig, &agent).failures, 4);
}

DB_TEST(values_arrive_in_any_order_and_mean_the_same)
{
    static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };
    AUTO_RIG rig = rig_open(t);
    const char *first = NULL;

    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct agent agent = add_agent(t, &rig, arena_printf(&t->arena, "coach-%zu", i));
        struct agent_state v[3], state;
        const char *text;

        v[0] = from_host(t, &agent, PHONE, 3, NULL);
        v[0].sleep_until = NOW + 900;
        v[1] = from_host(t, &agent, LAPTOP, 5, &v[0].clock); /* has seen it and puts it away */
        v[2] = from_host(t, &agent, "01890a5d-ac96-774b-bcce-b302099a8059", 2, NULL);
        v[2].failures = 3;
        for (int k = 0; k < 3; k++)
            ASSERT_EQ(agent_state_receive(rig.domain, rig.change, &v[orders[i][k]], NOW, &t->err),
                      1);
        state = get(t, &rig, &agent);
        text = arena_printf(&t->arena, "%lld %lld", (long long)state.sleep_until,
                            (long long)state.failures);
        if (!first)
            first = text;
        ASSERT_TEXT(text, first);
        ASSERT_TEXT(text, "0 3");
    }
}

DB_TEST(a_value_without_provenance_or_with_odd_contents_is_refused)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct agent_state no_host = from_host(t, &agent, PHONE, 3, NULL);
    struct agent_state no_counter = no_host, no_life = no_host, slot = no_host, name = no_host;

    no_host.host = STR_NONE;
    no_counter.clock = (struct vclock){ 0 };
    no_life.lifecycle = (enum agent_lifecycle)9;
    slot.slots.extension = STR("{\"x\":1}");
    ASSERT_FAILS(agent_state_receive(rig.domain, rig.change, &no_host, NOW, &t->err),
                 ERR_MISSING_CHANGE_PROVENANCE);
    ASSERT_FAILS(agent_state_receive(rig.domain, rig.change, &no_counter, NOW, &t->err),
                 ERR_MISSING_CHANGE_PROVENANCE);
    ASSERT_FAILS(agent_state_receive(rig.domain, rig.change, &no_life, NOW, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(agent_state_receive(rig.domain, rig.change, &slot, NOW, &t->err),
                 ERR_SCHEMA_VIOLATION);
    name.host = STR("me");
    name.clock = vclock_with(&name.clock, STR("me"), 1, &t->arena);
    ASSERT_FAILS(agent_state_receive(rig.domain, rig.change, &name, NOW, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(count(t, &rig, SQL("SELECT count(*) AS n FROM agent_states")), 1);
}

DB_TEST(an_agent_that_was_destroyed_elsewhere_is_destroyed_here)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach"), is;
    struct agent_state gone = from_host(t, &agent, PHONE, 3, NULL);
    struct agent_state state = get(t, &rig, &agent);

    gone.lifecycle = AGENT_DESTROYED;
    ASSERT_EQ(agent_state_receive(rig.domain, rig.change, &gone, NOW + 9, &t->err), 1);
    ASSERT_OK(agent_get(rig.domain, STR("coach"), &t->arena, &is, &t->err));
    ASSERT_EQ(is.lifecycle, AGENT_DESTROYED);
    ASSERT_FAILS(agent_state_put(rig.domain, rig.change, &state, NOW, &t->err),
                 ERR_AGENT_DESTROYED);
}

DB_TEST(a_dormant_agent_stays_dormant_beside_a_host_that_thinks_it_is_active)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach"), is;
    struct agent_state active = from_host(t, &agent, PHONE, 3, NULL);

    ASSERT_EQ(
        agent_set_lifecycle(rig.domain, rig.change, STR("coach"), AGENT_DORMANT, NOW, &t->err), 1);
    ASSERT_EQ(agent_state_receive(rig.domain, rig.change, &active, NOW, &t->err), 1);
    ASSERT_OK(agent_get(rig.domain, STR("coach"), &t->arena, &is, &t->err));
    ASSERT_EQ(is.lifecycle, AGENT_DORMANT);
    ASSERT_EQ(get(t, &rig, &agent).lifecycle, AGENT_DORMANT);
}

static void add_message(struct test *t, struct rig *rig, const struct agent *agent, const char *id,
                        int64_t thread_n, int64_t ordinal)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain),
                         SQL("INSERT INTO agent_messages (id, agent_n, thread_n, kind, created_at,"
                             " ordinal, tokens_total, host_n, counter)"
                             " VALUES (?, ?, ?, 'user', 1, ?, 0, 1, 1)"),
                         &q, &t->err));
    stmt_bind_text(q, id);
    stmt_bind_i64(q, agent->n);
    stmt_bind_i64(q, thread_n);
    stmt_bind_i64(q, ordinal);
    ASSERT_OK(stmt_run(q, &t->err));
}

DB_TEST(of_two_heads_in_one_conversation_the_later_stays)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct agent_state phone = from_host(t, &agent, PHONE, 3, NULL);
    struct agent_state laptop = from_host(t, &agent, LAPTOP, 3, NULL);

    add_message(t, &rig, &agent, "z-early", 5, 1);
    add_message(t, &rig, &agent, "a-late", 5, 2);
    phone.head = (struct agent_pointer){ STR("a-late"), { 0 }, STR(PHONE) };
    laptop.head = (struct agent_pointer){ STR("z-early"), { 0 }, STR(LAPTOP) };
    ASSERT_EQ(agent_state_receive(rig.domain, rig.change, &phone, NOW, &t->err), 1);
    ASSERT_EQ(agent_state_receive(rig.domain, rig.change, &laptop, NOW, &t->err), 1);
    ASSERT_STR(get(t, &rig, &agent).head.message_id, "a-late");
}

DB_TEST(a_row_from_before_there_were_clocks_is_read_and_then_replaced)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct agent_state state;

    ASSERT_OK(db_exec(domain_db(rig.domain),
                      SQL("UPDATE agent_states SET id = 'a-uuid', vector_clock = '{}',"
                          " consecutive_failure_count = 6"),
                      &t->err));
    ASSERT_OK(db_exec(domain_db(rig.domain), SQL("UPDATE agents SET current_state_id = 'a-uuid'"),
                      &t->err));
    state = get(t, &rig, &agent);
    ASSERT_EQ(state.failures, 6);
    ASSERT_EQ(state.clock.n, 1);
    ASSERT_OK(agent_state_put(rig.domain, rig.change, &state, NOW, &t->err));
    ASSERT_EQ(get(t, &rig, &agent).failures, 6);
    ASSERT_EQ(count(t, &rig,
                    SQL("SELECT count(*) AS n FROM agents a JOIN agent_states s"
                        " ON s.agent_n = a.n AND s.id = a.current_state_id")),
              1);
    ASSERT_EQ(count(t, &rig, SQL("SELECT count(*) AS n FROM agent_states")), 1);
}

DB_TEST(a_damaged_state_is_named)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct agent_state state;

    ASSERT_OK(db_exec(domain_db(rig.domain),
                      SQL("UPDATE agent_states SET processed_counter_by_host = '[]'"), &t->err));
    ASSERT_FAILS(agent_state_get(rig.domain, agent.n, NOW, &t->arena, &state, &t->err),
                 ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "coach:");
    ASSERT_CONTAINS(test_err_text(t), "processed_counter_by_host");
    ASSERT_OK(db_exec(domain_db(rig.domain),
                      SQL("UPDATE agent_states SET processed_counter_by_host = '{}',"
                          " slot_hosts = '{'"),
                      &t->err));
    ASSERT_FAILS(agent_state_get(rig.domain, agent.n, NOW, &t->arena, &state, &t->err),
                 ERR_INTEGRITY_FAILED);
    ASSERT_OK(db_exec(domain_db(rig.domain),
                      SQL("UPDATE agent_states SET slot_hosts = '{}', head_at = '{\"clock\":7}'"),
                      &t->err));
    ASSERT_FAILS(agent_state_get(rig.domain, agent.n, NOW, &t->arena, &state, &t->err),
                 ERR_INTEGRITY_FAILED);
    ASSERT_FAILS(agent_state_get(rig.domain, 4711, NOW, &t->arena, &state, &t->err), ERR_NOT_FOUND);
}

DB_TEST(what_was_put_is_told_with_the_ids_of_agent_and_state)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach");
    struct agent_state state = get(t, &rig, &agent);
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_AGENT);
    struct change_cursor after;
    struct change_row *rows;
    size_t n;

    ASSERT_OK(change_batches_end(rig.domain, &after, &t->err));
    batch.author_id = STR("coach");
    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_OK(agent_state_put(rig.domain, rig.change, &state, NOW, &t->err));
    agent_state_tell(&batch, rig.change, &state, "coach");
    ASSERT_EQ(change_batch_write(rig.domain, rig.change, &batch, NOW, &t->err), 1);
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT_OK(change_batches_after(rig.domain, after, 10, &t->arena, &rows, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(rows[0].typed_tokens,
               arena_printf(&t->arena,
                            "[[\"entityId\",null,\"coach\"],[\"entityId\",null,\"coach:%s\"],"
                            "[\"semanticKey\",null,\"AGENT_STATE\"]]",
                            change_host_id(rig.change)));
    ASSERT_STR(rows[0].unit[0].payload_type, "agentState");
}
