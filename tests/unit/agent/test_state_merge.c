/* States of several hosts: what remains of a set, and what it means.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/state.h"
#include "base/rand.h"
#include "harness/test.h"

#define NOW INT64_C(1700000000000)
#define DAY (24ll * 3600 * 1000)

static struct vclock clock_of(struct test *t, const char *text)
{
    struct vclock clock;

    ASSERT_OK(vclock_parse(str_from(text), &t->arena, &clock, &t->err));
    return clock;
}

static struct agent_state value_of(struct test *t, const char *host, const char *clock)
{
    return (struct agent_state){
        .agent_n = 1, .host = str_from(host), .lifecycle = AGENT_ACTIVE, .clock = clock_of(t, clock)
    };
}

static struct agent_state resolve(struct test *t, const struct agent_state *values, size_t n)
{
    return agent_state_resolve(values, n, NOW, NULL, NULL, &t->arena);
}

static const char *clock_text(struct test *t, const struct vclock *clock)
{
    return vclock_text(clock, &t->arena).p;
}

/* All that a state is, as text. */
static const char *text_of(struct test *t, const struct agent_state *s)
{
    return arena_printf(
        &t->arena,
        "%.*s|%s|%d|%lld %lld %lld %lld %lld|%lld/%lld|%s|%s|%.*s@%.*s%s|%.*s@%.*s|"
        "%.*s %lld %.*s|%.*s %lld|%.*s %lld|%.*s %lld",
        STR_ARG(s->host), clock_text(t, &s->clock), (int)s->lifecycle, (long long)s->revision,
        (long long)s->updated_at, (long long)s->last_wake_at, (long long)s->next_wake_at,
        (long long)s->sleep_until, (long long)s->failures, (long long)s->successes,
        clock_text(t, &s->processed), clock_text(t, &s->host_seen), STR_ARG(s->head.message_id),
        STR_ARG(s->head.host), clock_text(t, &s->head.clock), STR_ARG(s->summary.message_id),
        STR_ARG(s->summary.host), STR_ARG(s->slots.primary_goal),
        (long long)s->slots.primary_goal_version, STR_ARG(s->slots.primary_goal_host),
        STR_ARG(s->slots.active_task_id), (long long)s->slots.active_task_id_version,
        STR_ARG(s->slots.open_loop_ids), (long long)s->slots.open_loop_ids_version,
        STR_ARG(s->slots.preference_by_key), (long long)s->slots.preference_by_key_version);
}

static const char *set_text(struct test *t, const struct agent_state *values, size_t n)
{
    const char *all = "";

    for (size_t i = 0; i < n; i++)
        all = arena_printf(&t->arena, "%s[%s]", all, text_of(t, &values[i]));
    return all;
}

/* ---- random values ---- */

static const char *const hosts[] = { "a", "b", "c", "d" };
static const char *const messages[] = { "", "m1", "m2", "m3", "m4" };

static struct vclock random_clock(struct test *t, struct rand *rand, int64_t high)
{
    struct vclock clock = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
        clock = vclock_with(&clock, str_from(hosts[i]), (int64_t)rand_below(rand, (uint64_t)high),
                            &t->arena);
    return clock;
}

static struct agent_pointer random_pointer(struct test *t, struct rand *rand)
{
    return (struct agent_pointer){ str_from(messages[rand_below(rand, ARRAY_LEN(messages))]),
                                   random_clock(t, rand, 3),
                                   str_from(hosts[rand_below(rand, ARRAY_LEN(hosts))]) };
}

static struct str random_text(struct rand *rand)
{
    static const char *const texts[] = { "", "run", "swim", "[]", "{}" };

    return str_from(texts[rand_below(rand, ARRAY_LEN(texts))]);
}

/* Clocks collide on purpose, with other contents too: whatever is sent, devices must agree. */
static struct agent_state random_value(struct test *t, struct rand *rand)
{
    struct str host = str_from(hosts[rand_below(rand, ARRAY_LEN(hosts))]);

    return (struct agent_state){
        .agent_n = 1,
        .host = host,
        .clock = random_clock(t, rand, 4),
        .revision = (int64_t)rand_below(rand, 3),
        .updated_at = NOW + (int64_t)rand_below(rand, 3),
        .lifecycle = (enum agent_lifecycle)(1 + rand_below(rand, 4)),
        .last_wake_at = (int64_t)rand_below(rand, 3),
        .next_wake_at = rand_below(rand, 3) ? NOW - 2 + (int64_t)rand_below(rand, 5) : 0,
        .sleep_until = rand_below(rand, 2) ? NOW + (int64_t)rand_below(rand, 3) : 0,
        .failures = (int64_t)rand_below(rand, 4),
        .successes = (int64_t)rand_below(rand, 3),
        .head = random_pointer(t, rand),
        .summary = random_pointer(t, rand),
        .processed = random_clock(t, rand, 9),
        .host_seen = vclock_with(&(struct vclock){ 0 }, str_from(hosts[rand_below(rand, 4)]),
                                 rand_below(rand, 2) ? NOW : NOW - 200 * DAY, &t->arena),
        .slots = { .primary_goal = random_text(rand),
                   .primary_goal_version = (int64_t)rand_below(rand, 3),
                   .primary_goal_host = host,
                   .active_task_id = random_text(rand),
                   .active_task_id_version = (int64_t)rand_below(rand, 3),
                   .open_loop_ids = random_text(rand),
                   .open_loop_ids_version = (int64_t)rand_below(rand, 3),
                   .preference_by_key = random_text(rand),
                   .preference_by_key_version = (int64_t)rand_below(rand, 3) },
    };
}

struct set {
    struct agent_state *at;
    size_t n;
};

static struct set random_set(struct test *t, struct rand *rand)
{
    struct set set = { ARENA_NEW_N(&t->arena, struct agent_state, 6), rand_below(rand, 6) };

    for (size_t i = 0; i < set.n; i++)
        set.at[i] = random_value(t, rand);
    return set;
}

static struct set join(struct test *t, struct set a, struct set b)
{
    struct set out;

    agent_state_join(a.at, a.n, b.at, b.n, &t->arena, &out.at, &out.n);
    return out;
}

static void shuffle(struct set *set, struct rand *rand)
{
    for (size_t i = set->n; i > 1; i--) {
        size_t k = rand_below(rand, i);
        struct agent_state swap = set->at[i - 1];

        set->at[i - 1] = set->at[k];
        set->at[k] = swap;
    }
}

/* Ancestry as a chain of some messages; hostile ones claim anything. */
static bool descends(void *arg, struct str later, struct str earlier)
{
    const uint64_t *table = arg;
    unsigned a = (unsigned)(later.p[1] - '1'), b = (unsigned)(earlier.p[1] - '1');

    return *table >> (4 * a + b) & 1;
}

TEST(joining_is_commutative_associative_and_idempotent, .timeout_s = 120)
{
    for (uint64_t seed = 0; seed < 6000; seed++) {
        struct rand_fake rand;
        struct set a, b, c, ab, left, right;

        rand_fake_init(&rand, seed);
        a = random_set(t, &rand.rand);
        b = random_set(t, &rand.rand);
        c = random_set(t, &rand.rand);
        ab = join(t, a, b);
        left = join(t, ab, c);
        right = join(t, a, join(t, b, c));
        ASSERT_TEXT(set_text(t, left.at, left.n), set_text(t, right.at, right.n));
        right = join(t, b, a);
        ASSERT_TEXT(set_text(t, ab.at, ab.n), set_text(t, right.at, right.n));
        right = join(t, ab, ab);
        ASSERT_TEXT(set_text(t, ab.at, ab.n), set_text(t, right.at, right.n));
        right = join(t, ab, a);
        ASSERT_TEXT(set_text(t, ab.at, ab.n), set_text(t, right.at, right.n));
        arena_reset(&t->arena);
    }
}

TEST(what_a_set_means_does_not_depend_on_the_order_of_its_values, .timeout_s = 120)
{
    for (uint64_t seed = 0; seed < 6000; seed++) {
        struct rand_fake rand;
        struct set set;
        const char *first;
        uint64_t table;

        rand_fake_init(&rand, seed);
        set = random_set(t, &rand.rand);
        set = join(t, set, (struct set){ 0 });
        table = rand_u64(&rand.rand);
        for (int i = 0; i < 4; i++) {
            struct agent_state state =
                agent_state_resolve(set.at, set.n, NOW, descends, &table, &t->arena);

            if (i == 0)
                first = text_of(t, &state);
            ASSERT_TEXT(text_of(t, &state), first);
            shuffle(&set, &rand.rand);
        }
        arena_reset(&t->arena);
    }
}

TEST(two_devices_that_exchange_values_in_any_order_agree)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct rand_fake rand;
        struct set all, one = { 0 }, two = { 0 };
        struct agent_state a, b;

        rand_fake_init(&rand, seed);
        all = random_set(t, &rand.rand);
        for (size_t i = 0; i < all.n; i++)
            one = join(t, one, (struct set){ &all.at[i], 1 });
        for (int twice = 0; twice < 2; twice++)
            for (size_t i = all.n; i > 0; i--)
                two = join(t, (struct set){ &all.at[i - 1], 1 }, two);
        a = resolve(t, one.at, one.n);
        b = resolve(t, two.at, two.n);
        ASSERT_TEXT(text_of(t, &a), text_of(t, &b));
        arena_reset(&t->arena);
    }
}

TEST(a_value_that_has_seen_another_replaces_it)
{
    struct agent_state old = value_of(t, "a", "{\"a\":1}");
    struct agent_state new = value_of(t, "b", "{\"a\":1,\"b\":1}");
    struct agent_state aside = value_of(t, "c", "{\"c\":9}");
    struct agent_state all[] = { aside, new, old }, *values;
    size_t n;

    agent_state_join(all, 3, NULL, 0, &t->arena, &values, &n);
    ASSERT_EQ(n, 2);
    ASSERT_STR(values[0].host, "b");
    ASSERT_STR(values[1].host, "c");
}

/* ---- why a set ---- */

/* The simple way: the one that has seen the other, else field by field with the highest. */
static struct agent_state merge_two(struct test *t, struct agent_state a, struct agent_state b)
{
    struct agent_state both[] = { a, b };

    switch (vclock_compare(&a.clock, &b.clock)) {
    case VCLOCK_BEFORE:
        return b;
    case VCLOCK_AFTER:
    case VCLOCK_EQUAL:
        return a;
    default:
        return resolve(t, both, 2);
    }
}

/* b puts the sleep barrier of a away, having seen it; c knows of neither. */
TEST(merging_snapshots_by_dominance_and_maximum_is_not_associative)
{
    struct agent_state a = value_of(t, "a", "{\"a\":1}");
    struct agent_state b = value_of(t, "b", "{\"a\":1,\"b\":1}");
    struct agent_state c = value_of(t, "c", "{\"c\":1}");
    struct agent_state left, right, all[3], *values;
    size_t n;

    a.sleep_until = NOW + 1000;
    left = merge_two(t, merge_two(t, a, b), c);
    right = merge_two(t, merge_two(t, a, c), b);
    ASSERT_EQ(left.sleep_until, 0);
    ASSERT_EQ(right.sleep_until, NOW + 1000); /* back from the dead */

    all[0] = a;
    all[1] = c;
    all[2] = b;
    agent_state_join(all, 2, &all[2], 1, &t->arena, &values, &n);
    ASSERT_EQ(resolve(t, values, n).sleep_until, 0);
    agent_state_join(all, 1, &all[1], 2, &t->arena, &values, &n);
    ASSERT_EQ(resolve(t, values, n).sleep_until, 0);
}

/* ---- the rules, one by one ---- */

TEST(rule_2_counters_of_hosts_merge_by_maximum)
{
    struct agent_state v[] = { value_of(t, "a", "{\"a\":1}"), value_of(t, "b", "{\"b\":1}") };
    struct agent_state state;

    v[0].processed = clock_of(t, "{\"x\":7,\"y\":1}");
    v[1].processed = clock_of(t, "{\"x\":3,\"z\":4}");
    state = resolve(t, v, 2);
    ASSERT_TEXT(clock_text(t, &state.processed), "{\"x\":7,\"y\":1,\"z\":4}");
}

TEST(rule_3_destroyed_outranks_dormant_outranks_active_outranks_created)
{
    static const enum agent_lifecycle order[] = { AGENT_CREATED, AGENT_ACTIVE, AGENT_DORMANT,
                                                  AGENT_DESTROYED };

    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        for (size_t k = 0; k < ARRAY_LEN(order); k++) {
            struct agent_state v[] = { value_of(t, "a", "{\"a\":1}"),
                                       value_of(t, "b", "{\"b\":1}") };

            v[0].lifecycle = order[i];
            v[1].lifecycle = order[k];
            ASSERT_EQ(resolve(t, v, 2).lifecycle, order[i > k ? i : k]);
        }
}

static bool two_after_one(void *arg, struct str later, struct str earlier)
{
    (void)arg;
    return str_is(later, "m2") && str_is(earlier, "m1");
}

TEST(rule_4_a_pointer_goes_by_ancestry_then_clock_then_host_and_id)
{
    static const struct {
        const char *id_a, *clock_a, *host_a, *id_b, *clock_b, *host_b, *want;
    } cases[] = {
        /* The descendant, though its clock is older and its host smaller. */
        { "m2", "{\"a\":1}", "a", "m1", "{\"a\":1,\"b\":5}", "b", "m2" },
        /* No ancestry: the one that has seen the other. */
        { "m3", "{\"a\":2}", "a", "m4", "{\"a\":1}", "b", "m3" },
        /* Concurrent, or the same: host, then id. */
        { "m3", "{\"a\":1}", "a", "m4", "{\"b\":1}", "b", "m4" },
        { "m4", "{\"a\":1}", "a", "m3", "{\"b\":1}", "b", "m3" },
        { "m3", "{}", "a", "m4", "{}", "a", "m4" },
        /* Something is more than nothing. */
        { "", "{\"a\":9}", "z", "m3", "{}", "a", "m3" },
        { "", "{}", "", "", "{}", "", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct agent_state v[] = { value_of(t, "a", "{\"a\":1}"), value_of(t, "b", "{\"b\":1}") };
        struct agent_state state;

        v[0].head = (struct agent_pointer){ str_from(cases[i].id_a), clock_of(t, cases[i].clock_a),
                                            str_from(cases[i].host_a) };
        v[1].head = (struct agent_pointer){ str_from(cases[i].id_b), clock_of(t, cases[i].clock_b),
                                            str_from(cases[i].host_b) };
        v[1].summary = v[0].head;
        v[0].summary = v[1].head;
        state = agent_state_resolve(v, 2, NOW, two_after_one, NULL, &t->arena);
        ASSERT_STR(state.head.message_id, cases[i].want);
        ASSERT_STR(state.summary.message_id, cases[i].want);
    }
}

TEST(rule_5_failures_merge_by_maximum_and_only_a_success_resets_them)
{
    struct agent_state v[] = { value_of(t, "a", "{\"a\":1}"), value_of(t, "b", "{\"b\":1}") };
    struct agent_state state;

    v[0].failures = 3;
    v[1].failures = 5;
    ASSERT_EQ(resolve(t, v, 2).failures, 5);
    /* A host that does not know of failures has not made them good. */
    v[0].failures = 0;
    ASSERT_EQ(resolve(t, v, 2).failures, 5);
    agent_state_succeeded(&v[0], NOW);
    state = resolve(t, v, 2);
    ASSERT_EQ(state.failures, 0);
    ASSERT_EQ(state.successes, 1);
    agent_state_failed(&v[0], NOW);
    ASSERT_EQ(resolve(t, v, 2).failures, 1);
    /* Both had a success since; one failed again. */
    agent_state_succeeded(&v[1], NOW);
    ASSERT_EQ(resolve(t, v, 2).failures, 1);
}

TEST(rule_6_a_slot_goes_by_version_then_host_then_value)
{
    struct agent_state v[] = { value_of(t, "a", "{\"a\":1}"), value_of(t, "b", "{\"b\":1}") };
    struct agent_slots *a = &v[0].slots, *b = &v[1].slots, got;

    /* Clocks on the wall are of no account. */
    v[0].updated_at = NOW - 100 * DAY;
    v[1].updated_at = NOW;
    *a = (struct agent_slots){ .primary_goal = STR("walk"),
                               .primary_goal_version = 2,
                               .primary_goal_host = STR("a"),
                               .active_task_id = STR("t1"),
                               .active_task_id_version = 4,
                               .active_task_id_host = STR("a"),
                               .open_loop_ids = STR("[\"x\"]"),
                               .open_loop_ids_version = 1,
                               .open_loop_ids_host = STR("h") };
    *b = (struct agent_slots){ .primary_goal = STR("run"),
                               .primary_goal_version = 1,
                               .primary_goal_host = STR("b"),
                               .active_task_id = STR("t0"),
                               .active_task_id_version = 4,
                               .active_task_id_host = STR("b"),
                               .open_loop_ids = STR("[\"y\"]"),
                               .open_loop_ids_version = 1,
                               .open_loop_ids_host = STR("h") };
    got = resolve(t, v, 2).slots;
    ASSERT_STR(got.primary_goal, "walk");
    ASSERT_EQ(got.primary_goal_version, 2);
    ASSERT_STR(got.active_task_id, "t0");
    ASSERT_STR(got.active_task_id_host, "b");
    ASSERT_STR(got.open_loop_ids, "[\"y\"]");
}

TEST(rule_7_the_earliest_wake_to_come_and_the_latest_barrier_stay)
{
    static const struct {
        int64_t a, b, want;
    } wakes[] = {
        { NOW + 50, NOW + 20, NOW + 20 }, { NOW - 50, NOW + 20, NOW + 20 },
        { NOW + 90, 0, NOW + 90 },        { NOW - 50, NOW - 20, NOW - 20 },
        { NOW, NOW + 1, NOW + 1 },        { 0, 0, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(wakes); i++) {
        struct agent_state v[] = { value_of(t, "a", "{\"a\":1}"), value_of(t, "b", "{\"b\":1}") };

        v[0].next_wake_at = wakes[i].a;
        v[1].next_wake_at = wakes[i].b;
        v[0].sleep_until = NOW + 500;
        v[1].sleep_until = NOW + 100;
        ASSERT_EQ(resolve(t, v, 2).next_wake_at, wakes[i].want);
        ASSERT_EQ(resolve(t, v, 2).sleep_until, NOW + 500);
    }
}

TEST(which_wake_is_to_come_depends_on_when_somebody_asks)
{
    struct agent_state v[] = { value_of(t, "a", "{\"a\":1}"), value_of(t, "b", "{\"b\":1}") };

    v[0].next_wake_at = NOW + 10;
    v[1].next_wake_at = NOW + 20;
    ASSERT_EQ(agent_state_resolve(v, 2, NOW, NULL, NULL, &t->arena).next_wake_at, NOW + 10);
    ASSERT_EQ(agent_state_resolve(v, 2, NOW + 15, NULL, NULL, &t->arena).next_wake_at, NOW + 20);
}

TEST(a_single_value_is_itself_and_no_value_is_nothing)
{
    struct agent_state value = value_of(t, "a", "{\"a\":1}"), state;

    value.id = STR("coach:a");
    value.next_wake_at = NOW - 5;
    state = resolve(t, &value, 1);
    ASSERT_TEXT(text_of(t, &state), text_of(t, &value));
    ASSERT_STR(state.id, "coach:a");
    state = resolve(t, NULL, 0);
    ASSERT_EQ(state.clock.n, 0);
    ASSERT_EQ(state.lifecycle, AGENT_LIFECYCLE_NONE);
}

/* ---- hosts that are gone ---- */

TEST(a_host_not_heard_of_for_180_days_leaves_and_nothing_of_it_is_replayed)
{
    struct agent_state value = value_of(t, "a", "{\"a\":1}"), state, later;

    agent_state_processed(&value, STR("old"), 77, NOW - 181 * DAY, &t->arena);
    agent_state_processed(&value, STR("older"), 5, NOW - 300 * DAY, &t->arena);
    agent_state_processed(&value, STR("here"), 12, NOW - 179 * DAY, &t->arena);
    ASSERT_EQ(value.processed.n, 3);
    state = resolve(t, &value, 1);
    ASSERT_TEXT(clock_text(t, &state.processed), "{\"here\":12}");

    /* What it wrote before it was last heard of is done, whatever comes again. */
    ASSERT(agent_state_has_processed(&state, STR("old"), 77, NOW - 182 * DAY));
    ASSERT(agent_state_has_processed(&state, STR("old"), 3, NOW - 200 * DAY));
    ASSERT(agent_state_has_processed(&state, STR("older"), 5, NOW - 301 * DAY));
    /* A device that comes back is heard. */
    ASSERT(!agent_state_has_processed(&state, STR("old"), 78, NOW - 5 * DAY));
    ASSERT(!agent_state_has_processed(&state, STR("new"), 1, NOW));
    ASSERT(agent_state_has_processed(&state, STR("here"), 12, NOW));
    ASSERT(!agent_state_has_processed(&state, STR("here"), 13, NOW - 300 * DAY));
    agent_state_processed(&state, STR("old"), 78, NOW, &t->arena);
    ASSERT(agent_state_has_processed(&state, STR("old"), 77, NOW));

    /* Asked a year later the time up to which things are done has only grown. */
    later = agent_state_resolve(&state, 1, NOW + 365 * DAY, NULL, NULL, &t->arena);
    ASSERT_EQ(later.processed.n, 0);
    ASSERT_EQ(later.host_seen.n, 1);
    ASSERT(agent_state_has_processed(&later, STR("here"), 12, NOW - 180 * DAY));
    ASSERT(agent_state_has_processed(&later, STR("old"), 78, NOW - DAY));
}

TEST(nothing_that_was_processed_is_ever_unprocessed_by_pruning)
{
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct rand_fake rand;
        struct agent_state value = value_of(t, "a", "{\"a\":1}"), state;
        struct {
            struct str host;
            int64_t counter, at;
        } done[20];
        int64_t now = NOW;

        rand_fake_init(&rand, seed);
        for (size_t i = 0; i < ARRAY_LEN(done); i++) {
            now += (int64_t)rand_below(&rand.rand, 60) * DAY;
            done[i].host = str_from(hosts[rand_below(&rand.rand, ARRAY_LEN(hosts))]);
            done[i].counter = (int64_t)i + 1;
            done[i].at = now;
            agent_state_processed(&value, done[i].host, done[i].counter, now, &t->arena);
            if (rand_below(&rand.rand, 2))
                value = agent_state_resolve(&value, 1, now, NULL, NULL, &t->arena);
        }
        state = agent_state_resolve(&value, 1, now + (int64_t)rand_below(&rand.rand, 400) * DAY,
                                    NULL, NULL, &t->arena);
        for (size_t i = 0; i < ARRAY_LEN(done); i++)
            ASSERT(agent_state_has_processed(&state, done[i].host, done[i].counter, done[i].at));
        arena_reset(&t->arena);
    }
}

TEST(a_host_that_another_device_still_lists_is_listed_again)
{
    struct agent_state v[] = { value_of(t, "a", "{\"a\":1}"), value_of(t, "b", "{\"b\":1}") };
    struct agent_state state;

    v[0].host_seen = vclock_with(&v[0].host_seen, AGENT_HOSTS_GONE, NOW - 190 * DAY, &t->arena);
    agent_state_processed(&v[1], STR("phone"), 9, NOW - DAY, &t->arena);
    state = resolve(t, v, 2);
    ASSERT_TEXT(clock_text(t, &state.processed), "{\"phone\":9}");
    ASSERT(!agent_state_has_processed(&state, STR("phone"), 10, NOW - 200 * DAY));
}

TEST(a_wall_clock_that_jumps_far_ahead_and_back_loses_no_counter_that_others_hold)
{
    struct agent_state value = value_of(t, "a", "{\"a\":1}"), state;

    agent_state_processed(&value, STR("phone"), 9, NOW, &t->arena);
    state = agent_state_resolve(&value, 1, NOW - 10 * DAY, NULL, NULL, &t->arena);
    ASSERT_EQ(vclock_of(&state.processed, STR("phone")), 9);
    state = agent_state_resolve(&value, 1, NOW + 1000 * DAY, NULL, NULL, &t->arena);
    ASSERT(agent_state_has_processed(&state, STR("phone"), 9, NOW));
}
