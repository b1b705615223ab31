/* Hosts and their counters, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/rand.h"
#include "change/change.h"
#include "db/db.h"
#include "db/migrations.h"
#include "harness/db_test.h"

#define NOW   1700000000000
#define OTHER "01890a5d-ac96-774b-bcce-b302099a8057"

static struct domain *open_agent(struct test *t)
{
    return db_test_open(t, migrations_agent, migrations_agent_count);
}

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
