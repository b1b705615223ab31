/* Lives of agents: the steps, the settings of a life, and the end, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/session.h"
#include "agent/state.h"
#include "db/db.h"
#include "rig.h"

static struct agent add_agent(struct test *t, struct rig *rig, const char *id,
                              enum agent_lifecycle lifecycle)
{
    struct agent agent = {
        .id = id, .kind = "coach", .display_name = "Coach", .lifecycle = lifecycle
    };

    ASSERT_OK(agent_add(rig->domain, rig->change, &agent, NOW, &t->err));
    return agent;
}

static int64_t count(struct test *t, struct rig *rig, struct sql sql)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain), sql, &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

static void exec(struct test *t, struct rig *rig, struct sql sql, int64_t agent_n)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain), sql, &q, &t->err));
    stmt_bind_i64(q, agent_n);
    ASSERT_OK(stmt_run(q, &t->err));
}

static int step(struct test *t, struct rig *rig, const char *id, enum agent_lifecycle to)
{
    return agent_set_lifecycle(rig->domain, rig->change, str_from(id), to, NOW + 1, &t->err);
}

DB_TEST(a_life_goes_from_created_over_active_and_dormant_to_destroyed)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach", AGENT_CREATED), is;
    struct agent_state state;

    ASSERT_EQ(step(t, &rig, "coach", AGENT_ACTIVE), 1);
    ASSERT_EQ(step(t, &rig, "coach", AGENT_ACTIVE), 0);
    ASSERT_EQ(step(t, &rig, "coach", AGENT_DORMANT), 1);
    ASSERT_EQ(step(t, &rig, "coach", AGENT_ACTIVE), 1);
    ASSERT_EQ(step(t, &rig, "coach", AGENT_DORMANT), 1);
    ASSERT_OK(agent_state_get(rig.domain, agent.n, NOW, &t->arena, &state, &t->err));
    ASSERT_EQ(state.lifecycle, AGENT_DORMANT);
    ASSERT_EQ(step(t, &rig, "coach", AGENT_DESTROYED), 1);
    ASSERT_EQ(step(t, &rig, "coach", AGENT_DESTROYED), 0);
    ASSERT_OK(agent_get(rig.domain, STR("coach"), &t->arena, &is, &t->err));
    ASSERT_EQ(is.lifecycle, AGENT_DESTROYED);
    ASSERT_OK(agent_state_get(rig.domain, agent.n, NOW, &t->arena, &state, &t->err));
    ASSERT_EQ(state.lifecycle, AGENT_DESTROYED);
}

DB_TEST(steps_that_there_are_not_are_refused)
{
    static const struct {
        enum agent_lifecycle from, to;
    } bad[] = {
        { AGENT_CREATED, AGENT_DORMANT },           { AGENT_ACTIVE, AGENT_CREATED },
        { AGENT_DORMANT, AGENT_CREATED },           { AGENT_ACTIVE, AGENT_LIFECYCLE_NONE },
        { AGENT_ACTIVE, (enum agent_lifecycle)17 },
    };
    AUTO_RIG rig = rig_open(t);
    const char *id;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        id = arena_printf(&t->arena, "coach-%zu", i);
        add_agent(t, &rig, id, bad[i].from);
        ASSERT_FAILS(step(t, &rig, id, bad[i].to), ERR_CONFLICT);
        ASSERT_CONTAINS(test_err_text(t), agent_lifecycle_name(bad[i].from));
        ASSERT_CONTAINS(test_err_text(t), "it can become");
    }
    add_agent(t, &rig, "gone", AGENT_ACTIVE);
    ASSERT_EQ(step(t, &rig, "gone", AGENT_DESTROYED), 1);
    for (enum agent_lifecycle to = AGENT_CREATED; to < AGENT_DESTROYED; to++)
        ASSERT_FAILS(step(t, &rig, "gone", to), ERR_AGENT_DESTROYED);
    ASSERT_FAILS(step(t, &rig, "nobody", AGENT_ACTIVE), ERR_NOT_FOUND);
}

/* ---- settings of a life ---- */

DB_TEST(mode_categories_sessions_profile_and_extension_can_be_set)
{
    AUTO_RIG rig = rig_open(t);
    struct agent to = { .id = "coach",
                        .mode = "autonomous",
                        .allowed_category_ids = "[\"gym\",\"home\"]",
                        .session_ttl_ms = 600000,
                        .profile = "gym-coach",
                        .extension = "{}" },
                 is;
    const unsigned all =
        AGENT_MODE | AGENT_CATEGORIES | AGENT_SESSION_TTL | AGENT_PROFILE | AGENT_EXTENSION;

    add_agent(t, &rig, "coach", AGENT_ACTIVE);
    ASSERT_OK(agent_get(rig.domain, STR("coach"), &t->arena, &is, &t->err));
    ASSERT_TEXT(is.mode, "hybrid");
    ASSERT_TEXT(is.allowed_category_ids, "[]");
    ASSERT_EQ(is.session_ttl_ms, AGENT_SESSION_TTL_MS);
    ASSERT_EQ(is.config_version, AGENT_CONFIG_VERSION);
    ASSERT_TEXT(is.extension, "{}");
    ASSERT(is.profile == NULL);
    ASSERT_EQ(agent_change(rig.domain, rig.change, &to, all, NOW + 1, &t->err), 1);
    ASSERT_EQ(agent_change(rig.domain, rig.change, &to, all, NOW + 2, &t->err), 0);
    ASSERT_OK(agent_get(rig.domain, STR("coach"), &t->arena, &is, &t->err));
    ASSERT_TEXT(is.mode, "autonomous");
    ASSERT_TEXT(is.allowed_category_ids, "[\"gym\",\"home\"]");
    ASSERT_EQ(is.session_ttl_ms, 600000);
    ASSERT_TEXT(is.profile, "gym-coach");
    ASSERT_TEXT(is.display_name, "Coach");
    to = (struct agent){ .id = "coach" };
    ASSERT_EQ(agent_change(rig.domain, rig.change, &to, AGENT_PROFILE | AGENT_SESSION_TTL, NOW + 3,
                           &t->err),
              1);
    ASSERT_OK(agent_get(rig.domain, STR("coach"), &t->arena, &is, &t->err));
    ASSERT(is.profile == NULL);
    ASSERT_EQ(is.session_ttl_ms, AGENT_SESSION_TTL_MS);
    ASSERT_TEXT(is.mode, "autonomous");
}

DB_TEST(settings_of_a_life_are_checked)
{
    static const struct {
        struct agent to;
        unsigned field;
        enum err_code code;
        const char *says;
    } bad[] = {
        { { .mode = "lazy" }, AGENT_MODE, ERR_BAD_REQUEST, "hybrid" },
        { { .mode = "" }, AGENT_MODE, ERR_BAD_REQUEST, "hybrid" },
        { { .allowed_category_ids = "gym" }, AGENT_CATEGORIES, ERR_BAD_REQUEST, "categories" },
        { { .allowed_category_ids = "{}" }, AGENT_CATEGORIES, ERR_BAD_REQUEST, "list" },
        { { .allowed_category_ids = "[7]" }, AGENT_CATEGORIES, ERR_BAD_REQUEST, "entry 1" },
        { { .allowed_category_ids = "[\"a\",\"\"]" },
          AGENT_CATEGORIES,
          ERR_BAD_REQUEST,
          "entry 2" },
        { { .allowed_category_ids = "[\"a\",\"a\"]" }, AGENT_CATEGORIES, ERR_BAD_REQUEST, "twice" },
        { { .allowed_category_ids = "[\"a\",\"*\"]" }, AGENT_CATEGORIES, ERR_BAD_REQUEST, "alone" },
        { { .allowed_category_ids = "[\"a|b\"]" }, AGENT_CATEGORIES, ERR_BAD_REQUEST, "'|'" },
        { { .session_ttl_ms = 59999 }, AGENT_SESSION_TTL, ERR_BAD_REQUEST, "1 minute" },
        { { .session_ttl_ms = -1 }, AGENT_SESSION_TTL, ERR_BAD_REQUEST, "30 days" },
        { { .session_ttl_ms = AGENT_SESSION_TTL_MAX + 1 },
          AGENT_SESSION_TTL,
          ERR_BAD_REQUEST,
          "30 days" },
        { { .profile = "" }, AGENT_PROFILE, ERR_BAD_REQUEST, "profile" },
        { { .profile = "Gym Coach" }, AGENT_PROFILE, ERR_BAD_REQUEST, "profile" },
        { { .extension = "{\"my.key\":1}" }, AGENT_EXTENSION, ERR_SCHEMA_VIOLATION, "my.key" },
        { { .extension = "[]" }, AGENT_EXTENSION, ERR_SCHEMA_VIOLATION, "object" },
        { { .extension = "{" }, AGENT_EXTENSION, ERR_BAD_REQUEST, "extension" },
    };
    AUTO_RIG rig = rig_open(t);

    add_agent(t, &rig, "coach", AGENT_ACTIVE);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct agent to = bad[i].to;

        to.id = "coach";
        ASSERT_FAILS(agent_change(rig.domain, rig.change, &to, bad[i].field, NOW, &t->err),
                     bad[i].code);
        ASSERT_CONTAINS(test_err_text(t), bad[i].says);
        to.id = "other";
        to.kind = "k";
        to.display_name = "Other";
        ASSERT_FAILS(agent_add(rig.domain, rig.change, &to, NOW, &t->err), bad[i].code);
    }
    ASSERT_FAILS(
        agent_add(
            rig.domain, rig.change,
            &(struct agent){ .id = "new", .kind = "k", .display_name = "New", .config_version = 2 },
            NOW, &t->err),
        ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "version 2");
    ASSERT_OK(agent_categories_check(STR("[\"*\"]"), &t->err));
    ASSERT_OK(agent_categories_check(STR("[]"), &t->err));
}

/* ---- batches ---- */

DB_TEST(every_change_of_an_agent_leaves_a_batch)
{
    AUTO_RIG rig = rig_open(t);
    struct agent to = { .id = "coach", .display_name = "Trainer" };
    struct change_row *rows;
    size_t n;

    add_agent(t, &rig, "coach", AGENT_ACTIVE);
    ASSERT_EQ(agent_change(rig.domain, rig.change, &to, AGENT_NAME, NOW, &t->err), 1);
    ASSERT_EQ(agent_change(rig.domain, rig.change, &to, AGENT_NAME, NOW, &t->err), 0);
    ASSERT_EQ(agent_set_paused(rig.domain, rig.change, STR("coach"), true, NOW, &t->err), 1);
    ASSERT_EQ(step(t, &rig, "coach", AGENT_DESTROYED), 1);
    ASSERT_OK(change_batches_after(rig.domain, (struct change_cursor){ 0, 0 }, 10, &t->arena, &rows,
                                   &n, &t->err));
    ASSERT_EQ(n, 4);
    for (size_t i = 0; i < n; i++) {
        ASSERT_EQ(rows[i].author, CHANGE_BY_HUMAN);
        ASSERT_STR(rows[i].unit[0].payload_type, "agent");
        ASSERT_STR(rows[i].unit[0].payload_id, "coach");
    }
    ASSERT_STR(rows[1].typed_tokens,
               "[[\"entityId\",null,\"coach\"],[\"semanticKey\",null,\"AGENT\"]]");
    ASSERT_CONTAINS(rows[0].typed_tokens.p, "AGENT_STATE");
    ASSERT_CONTAINS(rows[3].typed_tokens.p, "AGENT_STATE");
}

DB_TEST(whoever_gives_a_batch_says_who_it_was)
{
    AUTO_RIG rig = rig_open(t);
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_AGENT);
    struct agent agent = { .id = "child", .kind = "k", .display_name = "Child" };
    struct agent to = { .id = "child", .display_name = "Kid" };
    struct change_row *rows;
    size_t n;

    batch.author_id = STR("parent");
    ASSERT_OK(agent_add_in(rig.domain, rig.change, &agent, &batch, NOW, &t->err));
    ASSERT_EQ(agent_change_in(rig.domain, rig.change, &to, AGENT_NAME, &batch, NOW, &t->err), 1);
    ASSERT_EQ(agent_set_lifecycle_in(rig.domain, rig.change, STR("child"), AGENT_DORMANT, &batch,
                                     NOW, &t->err),
              1);
    ASSERT_EQ(change_batch_write(rig.domain, rig.change, &batch, NOW, &t->err), 1);
    ASSERT_OK(change_batches_after(rig.domain, (struct change_cursor){ 0, 0 }, 10, &t->arena, &rows,
                                   &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(rows[0].author_id, "parent");
    ASSERT_EQ(rows[0].unit_count, 5);
}

DB_TEST(an_id_that_is_taken_leaves_no_batch)
{
    AUTO_RIG rig = rig_open(t);
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_HUMAN);
    struct agent agent = { .id = "coach", .kind = "k", .display_name = "Coach" };

    add_agent(t, &rig, "coach", AGENT_ACTIVE);
    ASSERT_FAILS(agent_add_in(rig.domain, rig.change, &agent, &batch, NOW, &t->err), ERR_CONFLICT);
    ASSERT_EQ(batch.unit_count, 0);
}

DB_TEST(the_clock_of_an_agent_grows_with_every_write)
{
    AUTO_RIG rig = rig_open(t);
    struct change *other = NULL;
    struct agent to = { .id = "coach", .display_name = "Trainer" };
    AUTO(stmt) q = NULL;
    struct vclock clock;

    add_agent(t, &rig, "coach", AGENT_ACTIVE);
    ASSERT_OK(change_open_as(rig.domain, "01890a5d-ac96-774b-bcce-b302099a8057", NULL, NULL, &other,
                             &t->err));
    ASSERT_EQ(agent_change(rig.domain, other, &to, AGENT_NAME, NOW, &t->err), 1);
    ASSERT_OK(db_prepare(domain_db(rig.domain),
                         SQL("SELECT vector_clock, counter FROM agents WHERE id = 'coach'"), &q,
                         &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_OK(vclock_parse(stmt_str(q, "vector_clock"), &t->arena, &clock, &t->err));
    ASSERT_EQ(clock.n, 2);
    ASSERT_EQ(vclock_of(&clock, str_from(change_host_id(other))), stmt_i64(q, "counter"));
    ASSERT(vclock_of(&clock, str_from(change_host_id(rig.change))) > 0);
    change_free(other);
}

/* ---- the end ---- */

/* What another room would have written for an agent. */
static void give_triggers(struct test *t, struct rig *rig, const struct agent *agent)
{
    exec(t, rig,
         SQL("INSERT INTO agent_subscriptions (id, agent_n, source, created_at, updated_at, host_n,"
             " counter) SELECT 's-' || id, n, 'journal', 1, 1, 1, 1 FROM agents WHERE n = ?"),
         agent->n);
    exec(t, rig,
         SQL("INSERT INTO agent_subscription_tokens (subscription_n, token_class, token_value)"
             " SELECT n, 'semanticKey', 'TASK' FROM agent_subscriptions WHERE agent_n = ?"),
         agent->n);
    exec(t, rig,
         SQL("INSERT INTO agent_timers (id, agent_n, kind, next_run_at, created_at, updated_at,"
             " host_n, counter) SELECT 't-' || id, n, 'once', 99, 1, 1, 1, 1 FROM agents"
             " WHERE n = ?"),
         agent->n);
    exec(t, rig,
         SQL("INSERT INTO wake_queue (run_key, agent_n, reason, thread_id, payload, created_at)"
             " SELECT 'w1-' || id, n, 'timer', 'th', '{\"a\":1}', 7 FROM agents WHERE n = ?"),
         agent->n);
    exec(t, rig,
         SQL("INSERT INTO wake_queue (run_key, agent_n, reason, thread_id, created_at)"
             " SELECT 'w2-' || id, n, 'manual', 'th', 8 FROM agents WHERE n = ?"),
         agent->n);
}

DB_TEST(destroying_an_agent_ends_all_that_could_wake_it_and_nothing_else)
{
    AUTO_RIG rig = rig_open(t);
    struct agent coach = add_agent(t, &rig, "coach", AGENT_ACTIVE);
    struct agent other = add_agent(t, &rig, "other", AGENT_ACTIVE);

    give_triggers(t, &rig, &coach);
    give_triggers(t, &rig, &other);
    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), NOW + 9, &t->err), 1);
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT_EQ(count(t, &rig,
                    SQL("SELECT count(*) AS n FROM agent_subscriptions WHERE id = 's-coach'"
                        " AND active = 0 AND deleted_at = 1700000000009 AND counter > 1")),
              1);
    ASSERT_EQ(count(t, &rig,
                    SQL("SELECT count(*) AS n FROM agent_timers WHERE id = 't-coach' AND active = 0"
                        " AND deleted_at IS NOT NULL AND next_run_at IS NULL AND counter > 1")),
              1);
    ASSERT_EQ(count(t, &rig,
                    SQL("SELECT count(*) AS n FROM wake_runs WHERE status = 'skipped_destroyed'"
                        " AND ended_at = 1700000000009 AND error_code = 'agent_destroyed'")),
              2);
    ASSERT_EQ(count(t, &rig,
                    SQL("SELECT count(*) AS n FROM wake_runs WHERE run_key = 'w1-coach'"
                        " AND payload = '{\"a\":1}' AND created_at = 7 AND reason = 'timer'")),
              1);
    ASSERT_EQ(
        count(t, &rig, SQL("SELECT count(*) AS n FROM agent_subscription_tokens WHERE active = 0")),
        1);
    /* Nothing of the other. */
    ASSERT_EQ(count(t, &rig, SQL("SELECT count(*) AS n FROM wake_queue")), 2);
    ASSERT_EQ(count(t, &rig,
                    SQL("SELECT count(*) AS n FROM agent_subscriptions WHERE id = 's-other'"
                        " AND active = 1 AND deleted_at IS NULL")),
              1);
    ASSERT_EQ(count(t, &rig,
                    SQL("SELECT count(*) AS n FROM agent_timers WHERE id = 't-other'"
                        " AND active = 1 AND next_run_at = 99")),
              1);
}

DB_TEST(an_end_that_is_rolled_back_has_not_happened)
{
    AUTO_RIG rig = rig_open(t);
    struct agent coach = add_agent(t, &rig, "coach", AGENT_ACTIVE);

    give_triggers(t, &rig, &coach);
    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), NOW, &t->err), 1);
    domain_rollback(rig.domain);
    ASSERT_EQ(count(t, &rig, SQL("SELECT count(*) AS n FROM wake_queue")), 2);
    ASSERT_EQ(count(t, &rig, SQL("SELECT count(*) AS n FROM agent_timers WHERE active = 1")), 1);
    ASSERT_EQ(step(t, &rig, "coach", AGENT_DORMANT), 1);
}

DB_TEST(a_destroyed_agent_is_changed_by_nothing)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach", AGENT_ACTIVE);
    struct agent to = { .id = "coach", .mode = "hybrid" };
    struct agent_state state;

    ASSERT_OK(agent_state_get(rig.domain, agent.n, NOW, &t->arena, &state, &t->err));
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), NOW, &t->err), 1);
    agent.lifecycle = AGENT_DESTROYED;
    ASSERT_FAILS(agent_change(rig.domain, rig.change, &to, AGENT_MODE, NOW, &t->err),
                 ERR_AGENT_DESTROYED);
    ASSERT_FAILS(agent_state_put(rig.domain, rig.change, &state, NOW, &t->err),
                 ERR_AGENT_DESTROYED);
    ASSERT_FAILS(session_touch(rig.domain, &agent, STR("s"), 1, NOW, &t->err), ERR_AGENT_DESTROYED);
}

/* ---- while somebody writes for it ---- */

DB_TEST(who_holds_an_agent_alive_learns_that_it_is_gone)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach", AGENT_ACTIVE);

    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_OK(agent_hold_alive(rig.domain, agent.n, &t->err));
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), NOW, &t->err), 1);
    ASSERT_FAILS(agent_hold_alive(rig.domain, agent.n, &t->err), ERR_AGENT_DESTROYED);
    ASSERT_CONTAINS(test_err_text(t), "coach");
    ASSERT_FAILS(agent_hold_alive(rig.domain, 4711, &t->err), ERR_AGENT_DESTROYED);
}

/* Only a shared database has somebody else who could. */
static void an_agent_that_is_held_is_not_destroyed_meanwhile(struct test *t);
DB_TEST_CASE(an_agent_that_is_held_is_not_destroyed_meanwhile, postgres, .timeout_s = 60)
static void an_agent_that_is_held_is_not_destroyed_meanwhile(struct test *t)
{
    AUTO_RIG rig = rig_open(t);
    AUTO(domain) other = db_test_open(t, migrations_agent, migrations_agent_count);
    struct agent agent = add_agent(t, &rig, "coach", AGENT_ACTIVE);
    AUTO(stmt) q = NULL;

    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_OK(agent_hold_alive(rig.domain, agent.n, &t->err));
    /* What destroying does first, without waiting for its turn. */
    ASSERT_OK(
        db_prepare(domain_db(other), SQL("SELECT n FROM agents FOR UPDATE NOWAIT"), &q, &t->err));
    ASSERT(stmt_step(q, &t->err) < 0);
    stmt_reset(q);
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
}
