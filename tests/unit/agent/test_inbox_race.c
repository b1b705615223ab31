/* Two daemons decide the same item at the same moment.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>

#include "agent/inbox.h"
#include "rig.h"

struct daemon {
    struct test *t;
    const char *url;
    struct inbox_decision decision;
    pthread_barrier_t *start;
    int result;
    enum err_code code;
};

static int decide_and_commit(struct daemon *daemon, struct domain *domain, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct change *opened = NULL;
    int r = -1;

    if (change_open(domain, NULL, NULL, &opened, err) < 0)
        return -1;
    AUTO(change) change = opened;
    pthread_barrier_wait(daemon->start);
    if (domain_begin(domain, err) < 0)
        return -1;
    r = inbox_decide(domain, change, STR("item"), &daemon->decision, NOW + 5, NULL, &arena, err);
    if (domain_commit(domain, err) < 0)
        return -1;
    return r;
}

static void *run_daemon(void *arg)
{
    struct daemon *daemon = arg;
    struct domain_config config = { .name = "agent",
                                    .url = daemon->url,
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count };
    struct domain *opened = NULL;
    struct err err = ERR_INIT;

    daemon->result = -1;
    if (domain_open(&config, &opened, &err) == 0) {
        AUTO(domain) domain = opened;

        daemon->result = decide_and_commit(daemon, domain, &err);
    }
    daemon->code = err.code;
    return NULL;
}

static void race(struct test *t, struct inbox_decision a, struct inbox_decision b,
                 struct daemon ret_daemons[2])
{
    AUTO_RIG rig = rig_open(t);
    struct inbox_item item = {
        .id = STR("item"), .kind = INBOX_TOOL, .title = STR("x"), .created_at = NOW
    };
    pthread_barrier_t start;
    pthread_t threads[2];

    ASSERT_OK(inbox_add(rig.domain, rig.change, &item, &t->err));
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++) {
        ret_daemons[i] = (struct daemon){
            .t = t, .url = db_test_url(t), .decision = i ? b : a, .start = &start
        };
        ASSERT_EQ(pthread_create(&threads[i], NULL, run_daemon, &ret_daemons[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    ASSERT_OK(inbox_get(rig.domain, STR("item"), &t->arena, &item, &t->err));
    ASSERT(item.state == INBOX_APPROVED || item.state == INBOX_REJECTED);
    for (int i = 0; i < 2; i++)
        if (ret_daemons[i].result == 1)
            ASSERT_EQ(item.state, ret_daemons[i].decision.state);
}

DB_TEST(of_two_who_decide_alike_at_once_one_does_it_and_both_are_content)
{
    const struct inbox_decision yes = { .state = INBOX_APPROVED, .by = STR("owner") };
    struct daemon daemons[2];

    race(t, yes, yes, daemons);
    ASSERT_EQ(daemons[0].result + daemons[1].result, 1);
    ASSERT(daemons[0].result >= 0 && daemons[1].result >= 0);
}

DB_TEST(of_two_who_disagree_at_once_one_wins_and_the_other_hears_of_it)
{
    const struct inbox_decision yes = { .state = INBOX_APPROVED, .by = STR("owner") };
    const struct inbox_decision no = { .state = INBOX_REJECTED, .by = STR("owner") };
    struct daemon daemons[2];
    int loser;

    race(t, yes, no, daemons);
    loser = daemons[0].result == 1;
    ASSERT_EQ(daemons[!loser].result, 1);
    ASSERT_EQ(daemons[loser].result, -1);
    ASSERT_EQ(daemons[loser].code, ERR_CONFLICT);
}
