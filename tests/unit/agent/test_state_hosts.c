/* Four devices that run the same agent, each with a database of its own: values travel late, twice
 * and in any order, months pass, and in the end all say the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/state.h"
#include "base/rand.h"
#include "db/migrations.h"
#include "harness/db_test.h"

#define NOW        INT64_C(1700000000000)
#define DAY        (24ll * 3600 * 1000)
#define HOSTS      4
#define STEPS      60
#define VALUES_MAX 200
#define WRITES_MAX 200
#define ELSEWHERE  "01890a5d-ac96-774b-bcce-b302099a8057" /* a device that is seen no more */

struct write {
    struct str host;
    int64_t counter, at;
};

struct world {
    struct test *t;
    struct rand_fake rand;
    struct domain *domain[HOSTS];
    struct change *change[HOSTS];
    struct agent agent[HOSTS];
    struct agent_state value[VALUES_MAX];
    bool has[HOSTS][VALUES_MAX]; /* whose it is, and who has heard of it */
    size_t values;
    struct write write[WRITES_MAX]; /* that somebody has processed */
    size_t writes;
    int64_t now, counter;
    bool destroyed;
};

static void open_host(struct world *w, size_t i, uint64_t seed)
{
    struct test *t = w->t;
    const struct domain_config config = {
        .name = "agent",
        .url = db_test_file_url(t, "agent", arena_printf(&t->arena, "%d-%zu.sqlite", (int)seed, i)),
        .migrations = migrations_agent,
        .migration_count = migrations_agent_count,
    };

    ASSERT_OK(domain_open(&config, &w->domain[i], &t->err));
    ASSERT_OK(change_open(w->domain[i], NULL, NULL, &w->change[i], &t->err));
    w->agent[i] = (struct agent){ .id = "coach", .kind = "coach", .display_name = "Coach" };
    ASSERT_OK(agent_add(w->domain[i], w->change[i], &w->agent[i], NOW, &t->err));
}

static struct agent_state state_of(struct world *w, size_t i)
{
    struct test *t = w->t;
    struct agent_state state;

    ASSERT_OK(agent_state_get(w->domain[i], w->agent[i].n, w->now, &t->arena, &state, &t->err));
    return state;
}

/* Somebody's write is looked at on this device. */
static void process(struct world *w, struct agent_state *state, size_t i)
{
    struct test *t = w->t;
    size_t of = rand_below(&w->rand.rand, HOSTS);
    struct str host = arena_str(&t->arena, str_from(change_host_id(w->change[of])));

    ASSERT(w->writes < WRITES_MAX);
    (void)i;
    agent_state_processed(state, host, ++w->counter, w->now, &t->arena);
    w->write[w->writes++] = (struct write){ host, w->counter, w->now };
}

/* A run of the agent ends on this device. */
static void act(struct world *w, size_t i)
{
    static const char *const goals[] = { "run", "swim", "rest" };
    struct test *t = w->t;
    struct rand *rand = &w->rand.rand;
    struct agent_state state = state_of(w, i);

    if (state.lifecycle == AGENT_DESTROYED) {
        ASSERT_FAILS(agent_state_put(w->domain[i], w->change[i], &state, w->now, &t->err),
                     ERR_AGENT_DESTROYED);
        err_reset(&t->err);
        return;
    }
    process(w, &state, i);
    if (rand_below(rand, 3))
        agent_state_succeeded(&state, w->now);
    else
        agent_state_failed(&state, w->now);
    state.sleep_until = rand_below(rand, 2) ? w->now + DAY : 0;
    state.next_wake_at = w->now + (int64_t)rand_below(rand, 5) * DAY;
    ASSERT_OK(agent_state_set_slot(&state, AGENT_SLOT_PRIMARY_GOAL,
                                   str_from(goals[rand_below(rand, 3)]),
                                   str_from(change_host_id(w->change[i])), &t->arena, &t->err));
    ASSERT_OK(agent_state_put(w->domain[i], w->change[i], &state, w->now, &t->err));
    ASSERT(w->values < VALUES_MAX);
    w->has[i][w->values] = true;
    w->value[w->values++] = state;
}

static void deliver(struct world *w, size_t to, size_t which)
{
    struct test *t = w->t;
    struct agent_state value = w->value[which];

    value.agent_n = w->agent[to].n;
    ASSERT_OK(agent_state_receive(w->domain[to], w->change[to], &value, w->now, &t->err));
    w->has[to][which] = true;
}

static void step(struct world *w)
{
    struct rand *rand = &w->rand.rand;
    size_t i = rand_below(rand, HOSTS);

    w->now += (int64_t)rand_below(rand, 30) * DAY; /* some hosts are away for half a year */
    if (rand_below(rand, 3) == 0)
        act(w, i);
    else if (w->values)
        deliver(w, i, rand_below(rand, w->values));
}

/* One device ends the agent; what the others still do does not bring it back. */
static void destroy(struct world *w, size_t i)
{
    struct test *t = w->t;
    struct agent_state value = state_of(w, i);

    value.lifecycle = AGENT_DESTROYED;
    value.clock = vclock_with(&value.clock, STR(ELSEWHERE), 1, &t->arena);
    value.host = STR(ELSEWHERE);
    value.id = STR("coach:" ELSEWHERE);
    w->value[w->values] = value;
    deliver(w, i, w->values++);
    w->destroyed = true;
}

static const char *text_of(struct test *t, const struct agent_state *s)
{
    return arena_printf(
        &t->arena, "%d %lld %lld %lld %lld %s %s %.*s %lld %.*s", (int)s->lifecycle,
        (long long)s->next_wake_at, (long long)s->sleep_until, (long long)s->failures,
        (long long)s->successes, vclock_text(&s->processed, &t->arena).p,
        vclock_text(&s->host_seen, &t->arena).p, STR_ARG(s->slots.primary_goal),
        (long long)s->slots.primary_goal_version, STR_ARG(s->slots.primary_goal_host));
}

/* Everybody hears of everything, each in an order of its own, some of it twice. */
static void meet(struct world *w)
{
    for (size_t i = 0; i < HOSTS; i++) {
        size_t first = rand_below(&w->rand.rand, w->values ? w->values : 1);

        for (size_t k = 0; k < 2 * w->values; k++)
            deliver(w, i, (first + 7 * k) % w->values);
        for (size_t k = 0; k < w->values; k++)
            if (!w->has[i][k])
                deliver(w, i, k);
    }
}

static void check(struct world *w, uint64_t seed)
{
    struct test *t = w->t;
    struct agent_state first = state_of(w, 0);

    for (size_t i = 0; i < HOSTS; i++) {
        struct agent_state state = state_of(w, i);

        if (strcmp(text_of(t, &state), text_of(t, &first)) != 0)
            FAIL("seed %d: host %zu says %s, the first %s", (int)seed, i, text_of(t, &state),
                 text_of(t, &first));
        if (w->destroyed && state.lifecycle != AGENT_DESTROYED)
            FAIL("seed %d: it lives again on host %zu", (int)seed, i);
        for (size_t k = 0; k < w->writes; k++)
            if (!agent_state_has_processed(&state, w->write[k].host, w->write[k].counter,
                                           w->write[k].at))
                FAIL("seed %d: host %zu would replay write %zu of %zu", (int)seed, i, k, w->writes);
        ASSERT(state.processed.n <= HOSTS);
    }
}

TEST(four_devices_agree_replay_nothing_and_raise_no_dead, .timeout_s = 300)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct world *w = ARENA_NEW(&t->arena, struct world);

        w->t = t;
        w->now = NOW;
        rand_fake_init(&w->rand, seed);
        for (size_t i = 0; i < HOSTS; i++)
            open_host(w, i, seed);
        for (int i = 0; i < STEPS; i++) {
            if (seed % 3 == 0 && i == STEPS / 2)
                destroy(w, rand_below(&w->rand.rand, HOSTS));
            step(w);
        }
        if (!w->values)
            act(w, 0);
        meet(w);
        check(w, seed);
        /* It stays so when they meet again, half a year later. */
        w->now += 200 * DAY;
        meet(w);
        check(w, seed);
        for (size_t i = 0; i < HOSTS; i++) {
            change_free(w->change[i]);
            domain_free(w->domain[i]);
        }
        arena_reset(&t->arena);
    }
}
