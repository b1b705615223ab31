/* Hosts and their counters, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "base/buf.h"
#include "base/rand.h"
#include "change/change.h"
#include "db/db.h"
#include "rig.h"

#define NOW   1700000000000
#define OTHER "01890a5d-ac96-774b-bcce-b302099a8057"

static struct change *open_change(struct test *t, struct domain *domain, const char *host_id)
{
    struct change *change = NULL;

    ASSERT_OK(change_open_as(domain, host_id, NULL, NULL, &change, &t->err));
    return change;
}

static void add_agent(struct test *t, struct domain *domain, const char *id, int64_t host,
                      int64_t counter)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("INSERT INTO agents (id, kind, display_name, created_at, updated_at,"
                             " host_n, counter) VALUES (?, 'k', 'd', 1, 1, ?, ?)"),
                         &q, &t->err));
    stmt_bind_text(q, id);
    stmt_bind_i64(q, host);
    stmt_bind_i64(q, counter);
    ASSERT_OK(stmt_run(q, &t->err));
}

static int64_t count_hosts(struct test *t, struct domain *domain)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT count(*) AS n FROM hosts"), &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

DB_TEST(a_host_is_made_once_and_found_again)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(change) first = open_change(t, domain, NULL);
    AUTO(change) again = open_change(t, domain, NULL);

    ASSERT(uuid_valid(str_from(change_host_id(first))));
    ASSERT_TEXT(change_host_id(again), change_host_id(first));
    ASSERT_EQ(change_host(again), change_host(first));
    ASSERT(change_host(first) > 0);
    ASSERT_EQ(count_hosts(t, domain), 1);
}

DB_TEST(a_host_is_called_as_the_machine_is)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(change) change = open_change(t, domain, NULL);
    AUTO(stmt) q = NULL;
    char name[256] = "";

    ASSERT_EQ(gethostname(name, sizeof(name) - 1), 0);
    ASSERT_OK(
        db_prepare(domain_db(domain), SQL("SELECT name FROM hosts WHERE n = ?"), &q, &t->err));
    stmt_bind_i64(q, change_host(change));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_STR(stmt_str(q, "name"), name);
}

DB_TEST(a_host_survives_the_process)
{
    char id[UUID_TEXT_SIZE];

    {
        AUTO(domain) domain = open_agent(t);
        AUTO(change) change = open_change(t, domain, NULL);

        memcpy(id, change_host_id(change), sizeof(id));
    }
    AUTO(domain) domain = open_agent(t);
    AUTO(change) change = open_change(t, domain, NULL);
    ASSERT_TEXT(change_host_id(change), id);
}

DB_TEST(a_daemon_that_shares_a_database_has_its_own_number)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(change) own = open_change(t, domain, NULL);
    AUTO(change) other = open_change(t, domain, OTHER);
    AUTO(change) again = open_change(t, domain, OTHER);

    ASSERT_TEXT(change_host_id(other), OTHER);
    ASSERT(change_host(other) != change_host(own));
    ASSERT_EQ(change_host(again), change_host(other));
    ASSERT_EQ(count_hosts(t, domain), 2);
}

DB_TEST(a_host_id_that_is_no_uuid_is_refused)
{
    static const char *const bad[] = { "", "me", OTHER " ", "'; DROP TABLE hosts; --" };
    AUTO(domain) domain = open_agent(t);
    struct change *change = NULL;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ASSERT_FAILS(change_open_as(domain, bad[i], NULL, NULL, &change, &t->err), ERR_BAD_REQUEST);
    ASSERT(change == NULL);
    ASSERT_EQ(count_hosts(t, domain), 0);
}

DB_TEST(counters_grow_from_one)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(change) change = open_change(t, domain, NULL);

    for (int64_t i = 1; i <= 1000; i++)
        ASSERT_EQ(change_next(change), i);
}

DB_TEST(a_counter_goes_on_after_the_highest_that_is_stored)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(change) change = open_change(t, domain, NULL);
    AUTO(change) other = open_change(t, domain, OTHER);

    add_agent(t, domain, "a", change_host(change), 41);
    add_agent(t, domain, "b", change_host(change), 7);
    add_agent(t, domain, "c", change_host(other), 999);
    AUTO(change) again = open_change(t, domain, NULL);
    AUTO(change) other_again = open_change(t, domain, OTHER);
    ASSERT_EQ(change_next(again), 42);
    ASSERT_EQ(change_next(other_again), 1000);
}

DB_TEST(a_counter_that_nobody_counted_to_is_refused)
{
    AUTO(domain) domain = open_agent(t);
    struct change *none = NULL;
    int64_t host;

    {
        AUTO(change) change = open_change(t, domain, NULL);

        host = change_host(change);
    }
    add_agent(t, domain, "x", host, INT64_C(1) << 62);
    {
        AUTO(change) change = open_change(t, domain, NULL);

        ASSERT_EQ(change_next(change), (INT64_C(1) << 62) + 1);
    }
    add_agent(t, domain, "y", host, INT64_MAX);
    ASSERT_FAILS(change_open(domain, NULL, NULL, &none, &t->err), ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "9223372036854775807");
    ASSERT(!none);
}

DB_TEST(a_counter_that_a_rolled_back_unit_took_is_not_given_again)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(change) change = open_change(t, domain, NULL);
    int64_t taken;

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    taken = change_next(change);
    add_agent(t, domain, "gone", change_host(change), taken);
    domain_rollback_to(domain);
    ASSERT(change_next(change) > taken);
    ASSERT_OK(domain_commit(domain, &t->err));
}

DB_TEST(opening_joins_the_transaction_that_is_open)
{
    AUTO(domain) domain = open_agent(t);

    ASSERT_OK(domain_begin(domain, &t->err));
    {
        AUTO(change) change = open_change(t, domain, NULL);

        ASSERT(change_host(change) > 0);
    }
    ASSERT(domain_in_transaction(domain));
    domain_rollback(domain);
    ASSERT_EQ(count_hosts(t, domain), 0);
}

DB_TEST(ids_and_identity_follow_the_given_clock_and_randomness)
{
    AUTO(domain) domain = open_agent(t);
    struct clock_fake clock;
    struct rand_fake rand;
    struct uuid uuid;
    struct change *opened = NULL;
    char id[UUID_TEXT_SIZE];

    clock_fake_init(&clock, NOW);
    rand_fake_init(&rand, 1);
    ASSERT_OK(change_open(domain, &clock.clock, &rand.rand, &opened, &t->err));
    AUTO(change) change = opened;
    ASSERT_OK(uuid_parse(str_from(change_host_id(change)), &uuid));
    ASSERT_EQ(uuid_ms(uuid), NOW);
    clock_advance(&clock, 5000);
    change_new_id(change, id);
    ASSERT_OK(uuid_parse(str_from(id), &uuid));
    ASSERT_EQ(uuid_ms(uuid), NOW + 5000);
}

DB_TEST(hosts_that_were_there_before_numbers_were_get_some)
{
    {
        AUTO(domain) old = db_test_open(t, migrations_agent, 1);

        ASSERT_OK(db_exec(domain_db(old),
                          SQL("INSERT INTO hosts (id, name, created_at) VALUES"
                              " ('01890a5d-ac96-774b-bcce-b302099a8057', 'old', 1),"
                              " ('01890a5d-ac96-774b-bcce-b302099a8058', 'older', 1)"),
                          &t->err));
    }
    AUTO(domain) domain = open_agent(t);
    AUTO(change) change = open_change(t, domain, OTHER);
    AUTO(change) own = open_change(t, domain, NULL);

    ASSERT_EQ(change_host(change), 1);
    ASSERT_EQ(change_host(own), 3);
    ASSERT_EQ(count_hosts(t, domain), 3);
}

/* ---- the journal ---- */

static void add_task(struct test *t, struct domain *journal, const char *id, int64_t host,
                     int64_t counter)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(journal),
                         SQL("INSERT INTO tasks (id, title, created_at, updated_at, vector_clock,"
                             " host_n, counter) VALUES (?, 't', 1, 1, '{}', ?, ?)"),
                         &q, &t->err));
    stmt_bind_text(q, id);
    stmt_bind_i64(q, host);
    stmt_bind_i64(q, counter);
    ASSERT_OK(stmt_run(q, &t->err));
}

DB_TEST(a_host_has_one_id_and_a_number_in_each_domain)
{
    AUTO(domain) agent = open_agent(t);
    AUTO(domain) journal = open_journal(t);
    AUTO(change) first = open_change(t, agent, NULL);
    AUTO(change) other = open_change(t, agent, OTHER);

    ASSERT_OK(change_join(other, journal, &t->err));
    ASSERT_OK(change_join(first, journal, &t->err));
    ASSERT_EQ(change_host_in(first, agent), change_host(first));
    ASSERT_EQ(change_host_in(other, journal), 1);
    ASSERT_EQ(change_host_in(first, journal), 2);
    ASSERT_EQ(count_hosts(t, journal), 2);
    AUTO(change) again = open_change(t, agent, NULL);
    ASSERT_OK(change_join(again, journal, &t->err));
    ASSERT_EQ(change_host_in(again, journal), 2);
}

DB_TEST(the_counter_goes_on_after_the_highest_of_both_domains)
{
    AUTO(domain) agent = open_agent(t);
    AUTO(domain) journal = open_journal(t);
    AUTO(change) change = open_change(t, agent, NULL);

    ASSERT_OK(change_join(change, journal, &t->err));
    add_agent(t, agent, "a", change_host(change), 41);
    add_task(t, journal, "t", change_host_in(change, journal), 40);
    AUTO(change) second = open_change(t, agent, NULL);
    ASSERT_OK(change_join(second, journal, &t->err));
    ASSERT_EQ(change_next(second), 42);
    add_task(t, journal, "t2", change_host_in(change, journal), 99);
    AUTO(change) third = open_change(t, agent, NULL);
    ASSERT_OK(change_join(third, journal, &t->err));
    ASSERT_EQ(change_next(third), 100);
}

/* A row of nothing but a host and its counter; what must not be NULL is anything. */
static void add_any(struct test *t, struct domain *domain, const char *table, int64_t host,
                    int64_t counter)
{
    AUTO_BUF names = BUF_INIT(4096);
    AUTO_BUF values = BUF_INIT(4096);
    AUTO(stmt) columns = NULL;

    ASSERT_OK(db_prepare(domain_db(domain),
                         (struct sql){ arena_printf(&t->arena,
                                                    "SELECT name, type, pk FROM"
                                                    " pragma_table_info('%s') WHERE \"notnull\" AND"
                                                    " dflt_value IS NULL AND name NOT IN"
                                                    " ('host_n', 'counter')",
                                                    table) },
                         &columns, &t->err));
    while (stmt_step(columns, &t->err) == 1) {
        struct str type = stmt_str(columns, "type");

        buf_printf(&names, ", %.*s", STR_ARG(stmt_str(columns, "name")));
        buf_printf(&values, ", %s", str_is(type, "TEXT") ? "'x'" : "1");
    }
    ASSERT_OK(db_exec(domain_db(domain),
                      (struct sql){ arena_printf(&t->arena,
                                                 "INSERT INTO %s (host_n, counter%s)"
                                                 " VALUES (%lld, %lld%s)",
                                                 table, buf_text(&names), (long long)host,
                                                 (long long)counter, buf_text(&values)) },
                      &t->err));
}

/* The schema says which tables hold counters: one that the scan forgot would give a number twice.
 */
TEST(the_counter_goes_on_after_every_table_that_has_one)
{
    AUTO(domain) agent = open_agent(t);
    AUTO(domain) journal = open_journal(t);
    AUTO(change) change = open_change(t, agent, NULL);
    struct domain *both[] = { agent, journal };
    int64_t highest = 0;
    unsigned tables[2] = { 0 };

    ASSERT_OK(change_join(change, journal, &t->err));
    for (int i = 0; i < 2; i++) {
        struct db *db = domain_db(both[i]);
        AUTO(stmt) q = NULL;

        ASSERT_OK(db_exec(db, SQL("PRAGMA foreign_keys = OFF"), &t->err));
        ASSERT_OK(db_exec(db, SQL("PRAGMA ignore_check_constraints = ON"), &t->err));
        ASSERT_OK(
            db_prepare(db,
                       SQL("SELECT m.name AS name FROM sqlite_schema m, pragma_table_info(m.name)"
                           " c WHERE m.type = 'table' AND c.name IN ('host_n', 'counter')"
                           " GROUP BY m.name HAVING count(*) = 2 ORDER BY m.name"),
                       &q, &t->err));
        while (stmt_step(q, &t->err) == 1) {
            const char *table = arena_str(&t->arena, stmt_str(q, "name")).p;

            highest += 10;
            add_any(t, both[i], table, change_host_in(change, both[i]), highest);
            AUTO(change) again = open_change(t, agent, NULL);
            ASSERT_OK(change_join(again, journal, &t->err));
            if (change_next(again) != highest + 1)
                FAIL("the counter does not go on after that of %s", table);
            tables[i]++;
        }
    }
    ASSERT(tables[0] >= 15);
    ASSERT(tables[1] >= 13);
}

/* The row may have been written over since, by another host. */
DB_TEST(the_counter_goes_on_after_that_of_a_batch)
{
    AUTO(domain) agent = open_agent(t);
    AUTO(domain) journal = open_journal(t);
    AUTO(change) change = open_change(t, agent, NULL);
    struct domain *both[] = { agent, journal };

    ASSERT_OK(change_join(change, journal, &t->err));
    for (int i = 0; i < 2; i++) {
        AUTO(stmt) q = NULL;

        ASSERT_OK(db_prepare(domain_db(both[i]),
                             SQL("INSERT INTO change_batches (local_batch_id, logical_change_key,"
                                 " change_unit_keys, units, typed_tokens, author, host_n,"
                                 " last_counter, created_at)"
                                 " VALUES ('b', 'k', '[]', '[]', '[]', 'human', ?, ?, 1)"),
                             &q, &t->err));
        stmt_bind_i64(q, change_host_in(change, both[i]));
        stmt_bind_i64(q, 500 + i * 100);
        ASSERT_OK(stmt_run(q, &t->err));
        AUTO(change) again = open_change(t, agent, NULL);
        ASSERT_OK(change_join(again, journal, &t->err));
        ASSERT_EQ(change_next(again), 501 + i * 100);
    }
}

DB_TEST(joining_takes_part_in_the_transaction_that_is_open)
{
    AUTO(domain) agent = open_agent(t);
    AUTO(domain) journal = open_journal(t);
    AUTO(change) change = open_change(t, agent, NULL);

    ASSERT_OK(domain_begin(journal, &t->err));
    ASSERT_OK(change_join(change, journal, &t->err));
    ASSERT(domain_in_transaction(journal));
    domain_rollback(journal);
    ASSERT_EQ(count_hosts(t, journal), 0);
}
