/* Timers that fire, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "db/db.h"
#include "timer_rig.h"

const char *timer_rig_zone = "Europe/Berlin";

#define SEVEN                                                                                      \
    ((struct timer){ .rrule = STR("FREQ=DAILY;BYHOUR=7"),                                          \
                     .name = STR("Morning"),                                                       \
                     .prompt = STR("Good morning.") })

DB_TEST(a_timer_wakes_its_agent_when_it_is_due)
{
    AUTO_TIMER_RIG rig;
    struct wake_job *jobs;
    struct timer timer, stored;
    char key[SHA256_TEXT_SIZE];

    timer_rig_open(&rig, t);
    timer = timer_rig_add(&rig, SEVEN);
    ASSERT_EQ(timer.next_run_at, utc("2026-02-18T06:00:00Z"));
    ASSERT_TEXT(timer.next_local, "2026-02-18T07:00:00");
    loop_fake_advance(rig.loop, MINUTES(30) - 1);
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 0);
    ASSERT_EQ(rig.told, 0);
    loop_fake_advance(rig.loop, 1);
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 1);
    ASSERT_EQ(rig.told, 1);
    ASSERT_STR(jobs[0].reason, "timer");
    ASSERT_STR(jobs[0].reason_id, timer.id.p);
    ASSERT_EQ(jobs[0].scheduled_at, timer.next_run_at);
    ASSERT_STR(jobs[0].payload, "{\"prompt\":\"Good morning.\"}");
    wake_key_timer("coach", timer.id, timer.next_run_at, key);
    ASSERT_STR(jobs[0].run_key, key);
    ASSERT_OK(timer_get(rig.domain, timer.id, &t->arena, &stored, &t->err));
    ASSERT_EQ(stored.last_run_at, utc("2026-02-18T06:00:00Z"));
    ASSERT_EQ(stored.next_run_at, utc("2026-02-19T06:00:00Z"));
    loop_fake_advance(rig.loop, DAYS(3));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 4);
}

DB_TEST(nine_days_in_a_drawer_wake_once)
{
    AUTO_TIMER_RIG rig;
    struct timer_skipped *skips;
    struct wake_job *jobs;
    struct timer timer;
    size_t n;

    timer_rig_open(&rig, t);
    timer = timer_rig_add(&rig, SEVEN);
    clock_advance(&rig.clock, DAYS(9)); /* asleep: no tick */
    loop_fake_tick(rig.loop);
    loop_fake_tick(rig.loop);
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 1);
    ASSERT_STR(jobs[0].reason, "recoveryCatchup");
    ASSERT_EQ(jobs[0].scheduled_at, utc("2026-02-26T06:00:00Z"));
    ASSERT_STR(jobs[0].payload,
               "{\"prompt\":\"Good morning.\",\"missed\":{\"count\":9,"
               "\"first\":\"2026-02-18T06:00:00.000Z\",\"last\":\"2026-02-26T06:00:00.000Z\"}}");
    ASSERT_OK(timer_skips(rig.domain, timer.n, 10, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(skips[0].why, "missed");
    ASSERT_EQ(skips[0].count, 8);
    ASSERT_EQ(skips[0].first, utc("2026-02-18T06:00:00Z"));
    ASSERT_EQ(skips[0].last, utc("2026-02-25T06:00:00Z"));
}

DB_TEST(a_start_after_nine_days_wakes_once)
{
    AUTO_TIMER_RIG rig;
    struct wake_job *jobs;

    timer_rig_open(&rig, t);
    timer_rig_add(&rig, SEVEN);
    timer_rig_kill(&rig);
    clock_advance(&rig.clock, DAYS(9));
    timer_rig_start(&rig);
    loop_fake_advance(rig.loop, 10);
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 1);
    timer_rig_kill(&rig);
    timer_rig_start(&rig);
    loop_fake_advance(rig.loop, 10);
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 1);
}

DB_TEST(a_clock_that_is_set_back_a_day_fires_nothing_twice)
{
    AUTO_TIMER_RIG rig;
    struct wake_job *jobs;

    timer_rig_open(&rig, t);
    timer_rig_add(&rig, SEVEN);
    loop_fake_advance(rig.loop, HOURS(1));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 1);
    clock_set_wall(&rig.clock, timer_rig_now(&rig) - DAYS(1));
    loop_fake_advance(rig.loop, DAYS(1) + HOURS(22));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 1);
    loop_fake_advance(rig.loop, HOURS(3));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 2);
    ASSERT_EQ(jobs[1].scheduled_at, utc("2026-02-19T06:00:00Z"));
}

DB_TEST(a_clock_that_jumps_ahead_counts_as_missed)
{
    AUTO_TIMER_RIG rig;
    struct wake_job *jobs;

    timer_rig_open(&rig, t);
    timer_rig_add(&rig, SEVEN);
    loop_fake_tick(rig.loop);
    clock_set_wall(&rig.clock, timer_rig_now(&rig) + HOURS(5));
    loop_fake_advance(rig.loop, 10);
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 1);
    ASSERT_STR(jobs[0].reason, "recoveryCatchup");
}

DB_TEST(a_moment_fires_once_and_an_interval_goes_on)
{
    AUTO_TIMER_RIG rig;
    struct wake_job *jobs;
    struct timer once = { .start_local = "2026-02-18T07:00" }, stored;

    timer_rig_open(&rig, t);
    once = timer_rig_add(&rig, once);
    ASSERT_EQ(once.kind, TIMER_ONCE);
    ASSERT_EQ(once.next_run_at, utc("2026-02-18T06:00:00Z"));
    loop_fake_advance(rig.loop, DAYS(2));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 1);
    ASSERT_OK(timer_get(rig.domain, once.id, &t->arena, &stored, &t->err));
    ASSERT_EQ(stored.next_run_at, 0);
    timer_rig_add(&rig, (struct timer){ .interval_ms = HOURS(8) });
    loop_fake_advance(rig.loop, DAYS(1));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 4);
    ASSERT_EQ(jobs[3].scheduled_at - jobs[2].scheduled_at, HOURS(8));
}

DB_TEST(a_machine_that_comes_to_another_zone_takes_its_timers_along)
{
    AUTO_TIMER_RIG rig;
    struct wake_job *jobs;
    struct timer here, there, stored;
    struct str known;

    timer_rig_open(&rig, t);
    here = timer_rig_add(&rig, SEVEN);
    there = SEVEN;
    there.zone = STR("Europe/Berlin");
    there = timer_rig_add(&rig, there);
    loop_fake_advance(rig.loop, HOURS(1));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 2);
    timer_rig_zone = "America/New_York";
    clockwork_look(rig.clockwork);
    loop_fake_advance(rig.loop, 10);
    ASSERT_OK(timer_get(rig.domain, here.id, &t->arena, &stored, &t->err));
    ASSERT_EQ(stored.next_run_at, utc("2026-02-19T12:00:00Z"));
    ASSERT_TEXT(stored.next_local, "2026-02-19T07:00:00");
    ASSERT_OK(timer_get(rig.domain, there.id, &t->arena, &stored, &t->err));
    ASSERT_EQ(stored.next_run_at, utc("2026-02-19T06:00:00Z"));
    ASSERT_OK(timer_zone_known(rig.domain, &t->arena, &known, &t->err));
    ASSERT_STR(known, "America/New_York");
    /* While it was off, it went on to where the time has passed: caught up. */
    timer_rig_kill(&rig);
    clock_advance(&rig.clock, HOURS(20)); /* 2026-02-19T02:30Z */
    timer_rig_zone = "Asia/Tokyo";        /* 11:30 */
    timer_rig_start(&rig);
    loop_fake_advance(rig.loop, 10);
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 3);
    ASSERT_STR(jobs[2].reason_id, here.id.p);
    ASSERT_STR(jobs[2].reason, "recoveryCatchup");
    ASSERT_EQ(jobs[2].scheduled_at, utc("2026-02-18T22:00:00Z"));
}

DB_TEST(an_hourly_timer_follows_the_clock_of_its_machine)
{
    AUTO_TIMER_RIG rig;
    struct wake_job *jobs;

    timer_rig_open(&rig, t);
    timer_rig_add(&rig, (struct timer){ .rrule = STR("FREQ=HOURLY;BYMINUTE=0"),
                                        .start_local = "2026-02-17T00:00" });
    loop_fake_advance(rig.loop, HOURS(2)); /* 06:00Z, 07:00Z */
    timer_rig_zone = "America/New_York";   /* six hours back: those hours come again */
    clockwork_look(rig.clockwork);
    loop_fake_advance(rig.loop, HOURS(2));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 4);
    ASSERT_EQ(jobs[3].scheduled_at, utc("2026-02-18T09:00:00Z"));
    timer_rig_zone = "Asia/Kolkata"; /* and half an hour off */
    clockwork_look(rig.clockwork);
    loop_fake_advance(rig.loop, HOURS(2));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 7); /* now it is three there */
    ASSERT_EQ(jobs[6].scheduled_at, utc("2026-02-18T11:30:00Z"));
}

DB_TEST(many_timers_at_one_moment_fire_in_pages, .timeout_s = 120)
{
    AUTO_TIMER_RIG rig;
    struct wake_job *jobs;
    struct timer *left;
    size_t n;

    timer_rig_open(&rig, t);
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    for (int i = 0; i < 450; i++) {
        struct timer timer = SEVEN;

        timer.zone = i % 2 ? STR("Europe/Berlin") : STR("Europe/Paris");
        timer.agent_n = rig.coach.n;
        ASSERT_OK(timer_add(rig.domain, rig.change, &timer, TIMER_NOW, &t->arena, &t->err));
    }
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    clockwork_look(rig.clockwork);
    loop_fake_advance(rig.loop, HOURS(1));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 450);
    ASSERT_EQ(rig.told, 3);
    ASSERT_OK(timer_due(rig.domain, timer_rig_now(&rig), 500, &t->arena, &left, &n, &t->err));
    ASSERT_EQ(n, 0);
}

DB_TEST(a_timer_that_is_removed_or_off_does_not_fire)
{
    AUTO_TIMER_RIG rig;
    AUTO(zone) here = NULL;
    struct wake_job *jobs;
    struct timer gone, off;

    timer_rig_open(&rig, t);
    ASSERT_OK(zone_open(str_from(timer_rig_zone), &here, &t->err));
    gone = timer_rig_add(&rig, SEVEN);
    off = timer_rig_add(&rig, SEVEN);
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_OK(timer_remove(rig.domain, rig.change, gone.id, TIMER_NOW, &t->err));
    off.here = here;
    off.active = false;
    ASSERT_OK(timer_change(rig.domain, rig.change, &off, TIMER_NOW, &t->err));
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    clockwork_look(rig.clockwork);
    loop_fake_advance(rig.loop, DAYS(2));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 0);
    /* Turned on again, it goes on from now: nothing was missed. */
    ASSERT_OK(timer_get(rig.domain, off.id, &t->arena, &off, &t->err));
    off.here = here;
    off.active = true;
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_OK(timer_change(rig.domain, rig.change, &off, timer_rig_now(&rig), &t->err));
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    clockwork_look(rig.clockwork);
    loop_fake_advance(rig.loop, DAYS(1));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 1);
    ASSERT_STR(jobs[0].reason, "timer");
}

DB_TEST(a_timer_of_a_destroyed_agent_ends)
{
    AUTO_TIMER_RIG rig;
    struct timer_skipped *skips;
    struct wake_job *jobs;
    struct timer timer;
    size_t n;
    int64_t at;

    timer_rig_open(&rig, t);
    timer = timer_rig_add(&rig, SEVEN);
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), TIMER_NOW, &t->err), 1);
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    ASSERT_OK(timer_next_due(rig.domain, &at, &t->err));
    ASSERT_EQ(at, 0);
    /* One that another machine still had, and that arrives now. */
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_OK(db_exec(domain_db(rig.domain),
                      SQL("UPDATE agent_timers SET active = 1, deleted_at = NULL,"
                          " next_run_at = 1771394400000, next_local = '2026-02-18T07:00:00'"),
                      &t->err));
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    clockwork_look(rig.clockwork);
    loop_fake_advance(rig.loop, DAYS(1));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 0);
    ASSERT_OK(timer_skips(rig.domain, timer.n, 10, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(skips[0].why, "destroyed");
    ASSERT_OK(timer_next_due(rig.domain, &at, &t->err));
    ASSERT_EQ(at, 0);
}

/* On the n-th day the n-th statement (or commit) of the firing fails: every day is fired once. */
static void sweep_faults(struct test *t, enum db_fault_at at, enum db_fault_kind kind)
{
    AUTO_TIMER_RIG rig;
    struct wake_job *jobs;
    bool fired = true;
    int day = 0;

    timer_rig_open(&rig, t);
    timer_rig_add(&rig, SEVEN);
    for (; fired && day < 100; day++) {
        rig.fault = (struct db_fault){ .at = at, .kind = kind, .nth = (unsigned)day + 1 };
        loop_fake_advance(rig.loop, HOURS(1));
        fired = rig.fault.fired > 0;
        rig.fault = (struct db_fault){ 0 };
        if (domain_health(rig.domain) != DOMAIN_OK) {
            timer_rig_kill(&rig);
            timer_rig_start(&rig);
        }
        loop_fake_advance(rig.loop, HOURS(23));
        ASSERT_EQ(timer_rig_wakes(&rig, &jobs), day + 1);
        ASSERT_EQ(jobs[day].scheduled_at, utc("2026-02-18T06:00:00Z") + DAYS(day));
    }
    ASSERT(day > (at == DB_FAULT_STEP ? 5 : 1) && day < 100);
}

DB_TEST(a_statement_that_fails_loses_and_doubles_nothing, .timeout_s = 120)
{
    sweep_faults(t, DB_FAULT_STEP, DB_FAULT_BUSY);
}

DB_TEST(a_full_disk_loses_and_doubles_nothing, .timeout_s = 120)
{
    sweep_faults(t, DB_FAULT_STEP, DB_FAULT_FULL);
}

DB_TEST(a_commit_that_fails_loses_and_doubles_nothing)
{
    sweep_faults(t, DB_FAULT_COMMIT, DB_FAULT_SYNC);
}

DB_TEST(a_commit_whose_answer_is_lost_doubles_nothing)
{
    sweep_faults(t, DB_FAULT_COMMIT_AFTER, DB_FAULT_SYNC);
}

/* ---- on a loop that sleeps ---- */

struct real {
    struct loop *loop;
    int told;
};

static void real_told(void *arg)
{
    struct real *real = arg;

    real->told++;
    loop_stop(real->loop);
}

/* The folder says where the machine is; replaced as by timedatectl. */
static const char *real_dir;

static void real_find_zone(char ret_name[ZONE_NAME_MAX + 1])
{
    char path[512];
    ssize_t n;

    snprintf(path, sizeof(path), "%s/localtime", real_dir);
    n = readlink(path, ret_name, ZONE_NAME_MAX);
    ret_name[n > 0 ? n : 0] = '\0';
}

static void real_set_zone(struct test *t, const char *name)
{
    const char *fresh = test_path(t, "etc/fresh");

    ASSERT_EQ(symlink(name, fresh), 0);
    ASSERT_EQ(rename(fresh, test_path(t, "etc/localtime")), 0);
}

struct mover {
    struct loop_timer timer;
    struct test *t;
};

static void move_machine(struct loop_timer *timer)
{
    real_set_zone(CONTAINER_OF(timer, struct mover, timer)->t, "Asia/Tokyo");
}

TEST(the_zone_of_the_machine_is_followed_without_polling)
{
    AUTO(domain) domain = NULL;
    AUTO(change) change = NULL;
    AUTO(zone) berlin = NULL;
    struct loop *loop = NULL;
    struct real real = { 0 };
    struct mover mover = { .timer.fire = move_machine, .t = t };
    struct clockwork *clockwork;
    struct agent coach = { .id = "coach", .kind = "coach", .display_name = "Coach" };
    struct timer timer = { 0 };
    int64_t now = clock_wall_ms(clock_system());
    struct domain_config config = { .name = "agent",
                                    .url = db_test_file_url(t, "agent", "agent.sqlite"),
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count };

    real_dir = test_path(t, "etc");
    ASSERT_EQ(mkdir(real_dir, 0700), 0);
    real_set_zone(t, "Europe/Berlin");
    ASSERT_OK(domain_open(&config, &domain, &t->err));
    ASSERT_OK(change_open(domain, NULL, NULL, &change, &t->err));
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(agent_add(domain, change, &coach, now, &t->err));
    /* An hour ahead in Berlin, long past in Tokyo. */
    ASSERT_OK(zone_open(STR("Europe/Berlin"), &berlin, &t->err));
    timer_local(berlin, now + HOURS(1), timer.start_local);
    timer.agent_n = coach.n;
    timer.here = berlin;
    ASSERT_OK(timer_add(domain, change, &timer, now, &t->arena, &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    loop_attach(loop, domain);
    real.loop = loop;
    clockwork = clockwork_new(&(struct clockwork_config){ .loop = loop,
                                                          .domain = domain,
                                                          .change = change,
                                                          .queued = real_told,
                                                          .arg = &real,
                                                          .find_zone = real_find_zone,
                                                          .zone_dir = real_dir });
    loop_timer_start(loop, &mover.timer, 50);
    ASSERT_OK(loop_run(loop, &t->err)); /* until it is told */
    ASSERT_EQ(real.told, 1);
    clockwork_free(clockwork);
    loop_free(loop);
}
