/* A machine that sleeps, travels, is killed, and whose clock is set: every occurrence of every
 * timer is fired or skipped exactly once, and none before its time.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/rand.h"
#include "db/db.h"
#include "timer_rig.h"

#define TIMERS 8

struct world {
    struct timer_rig rig;
    struct rand_fake rand;
    struct timer timers[TIMERS]; /* as they were made */
};

static int64_t pick(struct world *world, int64_t n)
{
    return (int64_t)rand_below(&world->rand.rand, (uint64_t)n);
}

static void make_timers(struct world *world)
{
    const struct timer made[TIMERS] = {
        { .rrule = STR("FREQ=DAILY;BYHOUR=7") },
        { .rrule = STR("FREQ=DAILY;BYHOUR=2;BYMINUTE=30"),
          .zone = STR("Europe/Berlin"),
          .missed = TIMER_MISSED_ALL,
          .missed_cap = 5 },
        { .rrule = STR("FREQ=DAILY;BYHOUR=2,3"), .zone = STR("America/New_York") },
        { .rrule = STR("FREQ=WEEKLY;BYDAY=MO,SA;BYHOUR=0"), .missed = TIMER_MISSED_SKIP },
        { .rrule = STR("FREQ=HOURLY;INTERVAL=5;BYMINUTE=10"),
          .zone = STR("Australia/Lord_Howe"),
          .missed = TIMER_MISSED_ALL,
          .missed_cap = 100 },
        { .interval_ms = HOURS(7) },
        { .rrule = STR("FREQ=HOURLY;BYMINUTE=0"), .start_local = "2026-01-01T00:00" },
        { .rrule = STR("FREQ=MONTHLY;BYMONTHDAY=31,-1;BYHOUR=23;BYMINUTE=59") },
    };

    for (int i = 0; i < TIMERS; i++)
        world->timers[i] = timer_rig_add(&world->rig, made[i]);
}

/* ---- what happens to a machine ---- */

static void restart(struct world *world)
{
    world->rig.fault = (struct db_fault){ 0 };
    timer_rig_kill(&world->rig);
    timer_rig_start(&world->rig);
}

static void kill_somewhere(struct world *world)
{
    clock_advance(&world->rig.clock, MINUTES(pick(world, 3000)));
    for (int64_t ticks = pick(world, 6); ticks; ticks--)
        loop_fake_tick(world->rig.loop);
    restart(world);
}

static void fail_somewhere(struct world *world)
{
    static const struct {
        enum db_fault_at at;
        enum db_fault_kind kind;
    } faults[] = { { DB_FAULT_STEP, DB_FAULT_BUSY },         { DB_FAULT_STEP, DB_FAULT_FULL },
                   { DB_FAULT_COMMIT, DB_FAULT_SYNC },       { DB_FAULT_COMMIT, DB_FAULT_BUSY },
                   { DB_FAULT_COMMIT_AFTER, DB_FAULT_SYNC }, { DB_FAULT_PREPARE, DB_FAULT_BUSY } };
    size_t i = (size_t)pick(world, ARRAY_LEN(faults));

    world->rig.fault = (struct db_fault){ .at = faults[i].at,
                                          .kind = faults[i].kind,
                                          .nth = (unsigned)pick(world, 30) + 1 };
    loop_fake_advance(world->rig.loop, HOURS(1 + pick(world, 30)));
    if (domain_health(world->rig.domain) != DOMAIN_OK)
        restart(world);
    world->rig.fault = (struct db_fault){ 0 };
}

static void travel(struct world *world)
{
    static const char *const places[] = { "Europe/Berlin",  "America/New_York",
                                          "Pacific/Apia",   "Pacific/Kiritimati",
                                          "Pacific/Midway", "Asia/Kolkata",
                                          "Asia/Kathmandu", "UTC",
                                          "Africa/Cairo",   "America/St_Johns" };

    timer_rig_zone = places[pick(world, ARRAY_LEN(places))];
    if (pick(world, 2))
        clockwork_look(world->rig.clockwork); /* else it is noticed with the next firing */
}

static void live(struct world *world)
{
    struct timer_rig *rig = &world->rig;

    switch (pick(world, 10)) {
    case 0:
        clock_advance(&rig->clock, MINUTES(pick(world, 20 * 1440))); /* asleep */
        break;
    case 1:
        clock_set_wall(&rig->clock, timer_rig_now(rig) + MINUTES(pick(world, 3 * 1440)));
        break;
    case 2:
        clock_set_wall(&rig->clock, timer_rig_now(rig) - MINUTES(pick(world, 2 * 1440)));
        break;
    case 3:
        travel(world);
        break;
    case 4:
        kill_somewhere(world);
        break;
    case 5:
        fail_somewhere(world);
        break;
    default:
        break;
    }
    loop_fake_advance(rig->loop, MINUTES(pick(world, 2 * 1440)) + pick(world, 60000));
}

/* ---- what must be true of it ---- */

static int64_t number(struct world *world, struct sql sql, struct str id)
{
    struct test *t = world->rig.t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(world->rig.domain), sql, &q, &t->err));
    stmt_bind_str(q, id);
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "it");
}

/* Occurrences from where it stood first to where it stands now. */
static int64_t occurred(struct test *t, const struct timer *made, const struct timer *now)
{
    AUTO(recurrence) rule = NULL;
    char at[TIMER_LOCAL_SIZE];
    int64_t n = 0;

    if (made->kind == TIMER_INTERVAL)
        return (now->next_run_at - made->next_run_at) / made->interval_ms;
    memcpy(at, made->next_local, sizeof(at));
    ASSERT_OK(recurrence_parse(made->rrule, str_from(made->start_local), &rule, &t->err));
    for (; strcmp(at, now->next_local) < 0; n++)
        ASSERT_EQ(recurrence_next(rule, at, at, &t->err), 1);
    ASSERT_TEXT(at, now->next_local);
    return n;
}

static void check_timer(struct world *world, int i)
{
    struct test *t = world->rig.t;
    const struct timer *made = &world->timers[i];
    struct timer now;
    int64_t fired =
        number(world, SQL("SELECT count(*) AS it FROM wake_queue WHERE reason_id = ?"), made->id);
    int64_t moments = number(
        world, SQL("SELECT count(DISTINCT scheduled_at) AS it FROM wake_queue WHERE reason_id = ?"),
        made->id);
    int64_t early = number(world,
                           SQL("SELECT count(*) AS it FROM wake_queue WHERE reason_id = ?"
                               " AND created_at < scheduled_at"),
                           made->id);
    int64_t skipped = number(world,
                             SQL("SELECT coalesce(sum(s.count), 0) AS it FROM timer_skips s"
                                 " JOIN agent_timers t ON t.n = s.timer_n WHERE t.id = ?"),
                             made->id);

    ASSERT_OK(timer_get(world->rig.domain, made->id, &t->arena, &now, &t->err));
    ASSERT_EQ(fired, moments);
    ASSERT_EQ(early, 0);
    ASSERT(now.next_run_at > 0);
    if (i == 6) { /* follows the clock of the machine: its local times come again */
        ASSERT(fired > 100);
        return;
    }
    if (fired + skipped != occurred(t, made, &now))
        FAIL("timer %d: %lld fired, %lld skipped, %lld occurred", i, (long long)fired,
             (long long)skipped, (long long)occurred(t, made, &now));
}

static void simulate(struct test *t, uint64_t seed, int actions)
{
    struct world world = { 0 };

    rand_fake_init(&world.rand, seed);
    timer_rig_open(&world.rig, t);
    make_timers(&world);
    for (int i = 0; i < actions; i++)
        live(&world);
    loop_fake_advance(world.rig.loop, HOURS(1));
    for (int i = 0; i < TIMERS; i++)
        check_timer(&world, i);
    timer_rig_kill(&world.rig);
}

DB_TEST(every_occurrence_is_fired_or_skipped_once_whatever_happens, .timeout_s = 1200)
{
    bool longer = test_long();
    const char *seed = getenv("DORMOUSE_TEST_SEED");

    if (db_test_is_postgres(t))
        simulate(t, 7, longer ? 500 : 60);
    else
        simulate(t, seed ? strtoull(seed, NULL, 10) : 1, longer ? 4000 : 400);
}
