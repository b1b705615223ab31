/* Whose runs are, in rows: several hosts that write to one database, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/buf.h"
#include "log_rig.h"
#include "run/run.h"

/* An open run in a thread of its own; until 0: it waits for no time. */
static int64_t insert(struct test *t, struct domain *domain, const char *key, int64_t host_n,
                      int64_t until)
{
    static int64_t thread = 1;
    struct run_record record = { .run_key = str_from(key),
                                 .agent_n = 1,
                                 .thread_n = thread++,
                                 .wake_reason = STR("manual"),
                                 .status = until ? RUN_WAITING : RUN_RUNNING,
                                 .host_n = host_n,
                                 .fence = 1,
                                 .created_at = NOW };

    ASSERT_EQ(run_insert(domain, &record, &t->err), 1);
    record.wait_until = until;
    record.updated_at = NOW;
    ASSERT_OK(run_update(domain, &record, &t->err));
    return record.n;
}

static void end(struct test *t, struct domain *domain, int64_t n)
{
    struct run_record record;

    ASSERT_EQ(run_load_n(domain, n, &t->arena, &record, &t->err), 1);
    record.status = RUN_DONE;
    record.ended_at = record.updated_at = NOW + 1;
    ASSERT_OK(run_update(domain, &record, &t->err));
}

/* "host/fence", with "+" when it has ended. */
static const char *owner(struct test *t, struct domain *domain, int64_t n)
{
    struct run_owner is = { 0 };

    ASSERT_EQ(run_lock(domain, n, &is, &t->err), 1);
    return arena_printf(&t->arena, "%lld/%lld%s", (long long)is.host_n, (long long)is.fence,
                        is.ended ? "+" : "");
}

DB_TEST(a_run_is_its_hosts_until_another_takes_it)
{
    AUTO(domain) domain = open_log(t);
    int64_t n = insert(t, domain, "a", 7, 0);
    struct run_owner is;

    ASSERT_TEXT(owner(t, domain, n), "7/1");
    ASSERT_OK(run_own(domain, n, 8, 5, &t->err));
    ASSERT_TEXT(owner(t, domain, n), "8/5");
    end(t, domain, n);
    ASSERT_TEXT(owner(t, domain, n), "8/5+");
    ASSERT_EQ(run_lock(domain, n + 1, &is, &t->err), 0);
}

DB_TEST(a_host_that_is_gone_leaves_what_is_open_and_nothing_else)
{
    AUTO(domain) domain = open_log(t);
    int64_t open[3], ended = insert(t, domain, "ended", 7, 0),
                     other = insert(t, domain, "other", 9, 0);

    end(t, domain, ended);
    for (int i = 0; i < 3; i++)
        open[i] = insert(t, domain, arena_printf(&t->arena, "o%d", i), 7, i ? NOW + i : 0);
    ASSERT_EQ(run_own_all(domain, 7, 8, 2, &t->err), 3);
    for (int i = 0; i < 3; i++)
        ASSERT_TEXT(owner(t, domain, open[i]), "8/2");
    ASSERT_TEXT(owner(t, domain, ended), "7/1+");
    ASSERT_TEXT(owner(t, domain, other), "9/1");
    /* There is nothing left to take. */
    ASSERT_EQ(run_own_all(domain, 7, 8, 3, &t->err), 0);
    ASSERT_TEXT(owner(t, domain, open[0]), "8/2");
}

DB_TEST(a_host_sees_its_own_runs_and_who_has_no_number_sees_all)
{
    static const struct {
        int64_t host_n;
        const char *open;
        size_t due;
        int64_t next;
    } hosts[] = {
        { 0, "a1 a2 b1 b2", 2, NOW + 10 },
        { 7, "a1 a2", 1, NOW + 10 },
        { 8, "b1 b2", 1, NOW + 15 },
        { 9, "", 0, 0 },
    };
    AUTO(domain) domain = open_log(t);

    insert(t, domain, "a1", 7, 0);
    insert(t, domain, "a2", 7, NOW + 10);
    insert(t, domain, "b1", 8, 0);
    insert(t, domain, "b2", 8, NOW + 15);
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        AUTO_BUF keys = BUF_INIT(1000);
        struct run_record *records;
        int64_t ns[8], at = -1;
        size_t count;

        ASSERT_OK(run_open_page(domain, hosts[i].host_n, STR("x"), 0, 100, &t->arena, &records,
                                &count, &t->err));
        for (size_t k = 0; k < count; k++)
            buf_printf(&keys, "%s%.*s", k ? " " : "", STR_ARG(records[k].run_key));
        ASSERT_TEXT(buf_text(&keys), hosts[i].open);
        ASSERT_OK(run_next_wait(domain, hosts[i].host_n, &at, &t->err));
        ASSERT_EQ(at, hosts[i].next);
        ASSERT_OK(
            run_waits_due(domain, hosts[i].host_n, NOW + 15, ns, ARRAY_LEN(ns), &count, &t->err));
        ASSERT_EQ(count, hosts[i].due);
        /* A moment before its time nothing is due. */
        ASSERT_OK(
            run_waits_due(domain, hosts[i].host_n, NOW + 9, ns, ARRAY_LEN(ns), &count, &t->err));
        ASSERT_EQ(count, 0);
    }
}

/* What a run only read can be done again; what it did can not. */
DB_TEST(a_run_has_acted_when_it_prepared_anything_but_reading)
{
    static const struct {
        enum operation_keyed keyed;
        bool acted;
    } cases[] = {
        { OPERATION_READ_ONLY, false },
        { OPERATION_UNKEYED, true },
        { OPERATION_KEYED, true },
    };
    AUTO(domain) domain = open_log(t);

    ASSERT_EQ(run_has_acted(domain, 1, &t->err), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct operation operation = { .operation_id =
                                           str_from(arena_printf(&t->arena, "op%zu", i)),
                                       .run_n = (int64_t)i + 1,
                                       .action_stable_id = STR("act"),
                                       .tool_name = STR("tool"),
                                       .keyed = cases[i].keyed,
                                       .created_at = NOW };

        ASSERT_EQ(operation_prepare(domain, &operation, &t->err), 1);
        ASSERT_EQ(run_has_acted(domain, (int64_t)i + 1, &t->err), cases[i].acted);
        /* Also when it came to nothing. */
        ASSERT_OK(operation_settle(domain, operation.n, STR("failed"), NOW, &t->err));
        ASSERT_EQ(run_has_acted(domain, (int64_t)i + 1, &t->err), cases[i].acted);
    }
}
