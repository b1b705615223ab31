/* Hearing what others tell, on a connection that is watched and never waited for.
 *
 * SPDX-License-Identifier: MIT
 */
#include <poll.h>

#include "db/listen.h"
#include "things.h"

#define PG_TEST(name_, ...)                                                                        \
    static void name_(struct test *t);                                                             \
    DB_TEST_CASE(name_, postgres, __VA_ARGS__)                                                     \
    static void name_(__attribute__((unused)) struct test *t)

#define WAIT_MS 20000

static const char *const channels[] = { "test_first", "test_second" };

/* One step, when its descriptor says that there is something. */
static int step(struct test *t, struct db_listener *listener, unsigned *told)
{
    struct pollfd fd = { .fd = db_listener_fd(listener),
                         .events = (short)((db_listener_reads(listener) ? POLLIN : 0) |
                                           (db_listener_writes(listener) ? POLLOUT : 0)) };

    ASSERT(fd.fd >= 0 && fd.events != 0);
    ASSERT_EQ(poll(&fd, 1, WAIT_MS), 1);
    return db_listener_step(listener, told, &t->err);
}

static void connect_it(struct test *t, struct db_listener *listener)
{
    unsigned told;
    int r, steps = 0;

    ASSERT_OK(db_listener_start(listener, &t->err));
    while ((r = step(t, listener, &told)) == 0)
        steps++;
    ASSERT_EQ(r, 1);
    ASSERT(steps > 0); /* it did not wait for the server in one of them */
    ASSERT_EQ(told, 0u);
}

static unsigned hear(struct test *t, struct db_listener *listener)
{
    unsigned told = 0;

    while (told == 0)
        ASSERT_EQ(step(t, listener, &told), 1);
    return told;
}

static void tell(struct domain *domain, struct test *t)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(
        db_prepare(domain_db(domain), SQL("SELECT pg_notify('test_first', '')"), &q, &t->err));
    ASSERT_OK(stmt_run(q, &t->err));
}

TEST(where_nobody_else_writes_there_is_nothing_to_hear)
{
    AUTO(domain) domain = open_things(t);

    ASSERT(db_listener_new(domain, NULL, channels, ARRAY_LEN(channels)) == NULL);
}

PG_TEST(what_others_tell_is_heard_by_channel)
{
    AUTO(domain) domain = open_things(t);
    AUTO(db_listener) listener = db_listener_new(domain, NULL, channels, ARRAY_LEN(channels));

    connect_it(t, listener);
    db_test_admin(t, "NOTIFY test_first");
    ASSERT_EQ(hear(t, listener), 1u);
    db_test_admin(t, "NOTIFY test_second, 'with words'");
    ASSERT_EQ(hear(t, listener), 2u);
    db_test_admin(t, "BEGIN; NOTIFY test_second; NOTIFY test_first; COMMIT");
    ASSERT_EQ(hear(t, listener), 3u);
    db_test_admin(t, "NOTIFY another; BEGIN; NOTIFY test_first; ROLLBACK; NOTIFY test_second");
    ASSERT_EQ(hear(t, listener), 2u);
}

PG_TEST(what_we_tell_ourselves_is_not_heard)
{
    AUTO(domain) domain = open_things(t);
    AUTO(domain) other = open_things(t);
    AUTO(db_listener) both = db_listener_new(domain, other, channels, ARRAY_LEN(channels));
    AUTO(db_listener) one = db_listener_new(domain, NULL, channels, ARRAY_LEN(channels));

    connect_it(t, both);
    connect_it(t, one);
    tell(domain, t);
    tell(other, t);
    db_test_admin(t, "NOTIFY test_second");
    ASSERT_EQ(hear(t, both), 2u);
    ASSERT_EQ(hear(t, one) & 1u, 1u);
}

PG_TEST(a_connection_that_ends_is_told_and_can_be_made_anew)
{
    AUTO(domain) domain = open_things(t);
    AUTO(db_listener) listener = db_listener_new(domain, NULL, channels, ARRAY_LEN(channels));
    unsigned told;
    int r;

    connect_it(t, listener);
    db_test_admin(t, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                     " WHERE application_name = 'dormouse-listener'");
    while ((r = step(t, listener, &told)) == 1)
        ;
    ASSERT_EQ(r, -1);
    ASSERT_EQ(t->err.code, ERR_STORAGE_FAILED);
    err_reset(&t->err);
    db_listener_stop(listener);
    ASSERT_EQ(db_listener_fd(listener), -1);
    db_test_admin(t, "NOTIFY test_first"); /* nobody hears it */
    connect_it(t, listener);
    db_test_admin(t, "NOTIFY test_second");
    ASSERT_EQ(hear(t, listener), 2u);
}
