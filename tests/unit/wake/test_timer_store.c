/* Rows of timers, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "db/db.h"
#include "timer_rig.h"
#include "wake/skip.h"

static int add(struct timer_rig *rig, struct timer *timer)
{
    struct test *t = rig->t;
    int r;

    timer->agent_n = rig->coach.n;
    ASSERT_OK(loop_unit_begin(rig->loop, rig->domain, &t->err));
    r = timer_add(rig->domain, rig->change, timer, TIMER_NOW, &t->arena, &t->err);
    ASSERT_OK(loop_unit_end(rig->loop, r == 0, NULL));
    return r;
}

DB_TEST(a_timer_is_read_as_it_was_added)
{
    AUTO_TIMER_RIG rig;
    struct timer timer = { .name = STR("Morning \"run\""),
                           .rrule = STR("FREQ=WEEKLY;BYDAY=MO"),
                           .start_local = "2026-02-01T06:30",
                           .zone = STR("Asia/Tokyo"),
                           .prompt = STR("Go.\nNow."),
                           .missed = TIMER_MISSED_ALL,
                           .missed_cap = 3 };
    struct timer read;

    timer_rig_open(&rig, t);
    ASSERT_OK(add(&rig, &timer));
    ASSERT_OK(timer_get(rig.domain, str_take(timer.id, 13), &t->arena, &read, &t->err));
    ASSERT_EQ(read.n, timer.n);
    ASSERT_STR(read.id, timer.id.p);
    ASSERT_STR(read.agent_id, "coach");
    ASSERT_STR(read.name, "Morning \"run\"");
    ASSERT_STR(read.rrule, "FREQ=WEEKLY;BYDAY=MO");
    ASSERT_STR(read.zone, "Asia/Tokyo");
    ASSERT_STR(read.prompt, "Go.\nNow.");
    ASSERT_EQ(read.kind, TIMER_RRULE);
    ASSERT_EQ(read.missed, TIMER_MISSED_ALL);
    ASSERT_EQ(read.missed_cap, 3);
    ASSERT_TEXT(read.start_local, "2026-02-01T06:30:00");
    ASSERT_TEXT(read.next_local, "2026-02-23T06:30:00");
    ASSERT_EQ(read.next_run_at, utc("2026-02-22T21:30:00Z"));
    ASSERT_EQ(read.last_run_at, 0);
    ASSERT(read.active);
    ASSERT_EQ(read.created_at, TIMER_NOW);
    ASSERT_CONTAINS(arena_copy(&t->arena, read.vector_clock.p, read.vector_clock.n),
                    change_host_id(rig.change));
}

DB_TEST(what_is_no_timer_is_not_stored)
{
    AUTO_TIMER_RIG rig;
    struct timer *list;
    size_t n;
    int64_t at;
    struct timer bad[] = {
        { 0 },
        { .rrule = STR("FREQ=NEVER") },
        { .rrule = STR("FREQ=DAILY"), .zone = STR("Nowhere/Land") },
        { .rrule = STR("FREQ=DAILY"), .interval_ms = HOURS(1) },
        { .rrule = STR("FREQ=DAILY"), .missed_cap = TIMER_CAP_MAX + 1 },
        { .rrule = STR("FREQ=DAILY"), .missed_cap = -1 },
        { .rrule = STR("FREQ=DAILY"), .start_local = "tomorrow" },
        { .rrule = STR("FREQ=DAILY"), .name = STR("two\nlines") },
        { .rrule = STR("FREQ=DAILY"), .prompt = STR("\x01") },
        { .rrule = STR("FREQ=DAILY;UNTIL=20260101"), .start_local = "2025-01-01T00:00" },
        { .start_local = "2026-02-18T06:00", .zone = STR("Europe/Berlin") },
        { .kind = TIMER_ONCE },
        { .kind = TIMER_INTERVAL },
        { .interval_ms = 59999 },
        { .interval_ms = TIMER_INTERVAL_MAX + 1 },
        { .interval_ms = HOURS(1), .zone = STR("UTC") },
    };

    timer_rig_open(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ASSERT_FAILS(add(&rig, &bad[i]), ERR_BAD_REQUEST);
        err_reset(&t->err);
    }
    ASSERT_OK(timer_list(rig.domain, 0, &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 0);
    ASSERT_OK(timer_next_due(rig.domain, &at, &t->err));
    ASSERT_EQ(at, 0);
}

DB_TEST(lists_are_of_one_agent_or_all_in_order)
{
    AUTO_TIMER_RIG rig;
    struct agent other = { .id = "other", .kind = "coach", .display_name = "Other" };
    struct timer a = { .interval_ms = HOURS(1) }, b = { .interval_ms = HOURS(2) }, c = b, *list;
    size_t n;

    timer_rig_open(&rig, t);
    ASSERT_OK(add(&rig, &a));
    ASSERT_OK(add(&rig, &b));
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_OK(agent_add(rig.domain, rig.change, &other, TIMER_NOW, &t->err));
    c.agent_n = other.n;
    ASSERT_OK(timer_add(rig.domain, rig.change, &c, TIMER_NOW, &t->arena, &t->err));
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    ASSERT_OK(timer_list(rig.domain, rig.coach.n, &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_EQ(list[0].interval_ms, HOURS(1));
    ASSERT_OK(timer_list(rig.domain, 0, &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 3);
    ASSERT_STR(list[2].agent_id, "other");
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), TIMER_NOW, &t->err), 1);
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    ASSERT_OK(timer_list(rig.domain, 0, &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_FAILS(timer_get(rig.domain, a.id, &t->arena, &a, &t->err), ERR_NOT_FOUND);
}

DB_TEST(an_agent_that_is_gone_gets_no_timer)
{
    AUTO_TIMER_RIG rig;
    struct timer timer = { .interval_ms = HOURS(1) };

    timer_rig_open(&rig, t);
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), TIMER_NOW, &t->err), 1);
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    ASSERT_FAILS(add(&rig, &timer), ERR_AGENT_DESTROYED);
}

DB_TEST(an_agent_has_room_for_so_many_timers, .timeout_s = 120)
{
    AUTO_TIMER_RIG rig;
    struct timer timer;

    timer_rig_open(&rig, t);
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    for (int i = 0; i < TIMERS_OF_AGENT; i++) {
        timer = (struct timer){ .interval_ms = HOURS(1), .agent_n = rig.coach.n };
        ASSERT_OK(timer_add(rig.domain, rig.change, &timer, TIMER_NOW, &t->arena, &t->err));
    }
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    timer = (struct timer){ .interval_ms = HOURS(1) };
    ASSERT_FAILS(add(&rig, &timer), ERR_CONFLICT);
}

/* Whoever comes second finds it moved: on a shared database. */
DB_TEST(a_timer_moves_on_once_for_two_who_saw_it_due)
{
    AUTO_TIMER_RIG rig;
    struct timer timer = { .interval_ms = HOURS(1), .missed = TIMER_MISSED_SKIP }, *due;
    struct timer_skipped *skips;
    struct timer_plan plan;
    AUTO(zone) zone = NULL;
    size_t n;

    timer_rig_open(&rig, t);
    ASSERT_OK(zone_open(STR("UTC"), &zone, &t->err));
    ASSERT_OK(add(&rig, &timer));
    ASSERT_OK(timer_due(rig.domain, TIMER_NOW + HOURS(3), 10, &t->arena, &due, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_OK(timer_plan(&due[0], zone, TIMER_NOW + HOURS(3), &t->arena, &plan, &t->err));
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_EQ(timer_advance(rig.domain, rig.change, &due[0], &plan, TIMER_NOW, &t->err), 1);
    ASSERT_EQ(timer_advance(rig.domain, rig.change, &due[0], &plan, TIMER_NOW, &t->err), 0);
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    ASSERT_OK(timer_skips(rig.domain, timer.n, 10, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_EQ(skips[0].count, 2);
}

/* Beside what subscriptions let pass, added up for each timer and reason. */
DB_TEST(what_timers_skipped_is_listed_and_added_up)
{
    AUTO_TIMER_RIG rig;
    struct timer timer = { .name = STR("hourly"), .interval_ms = HOURS(1) };
    struct timer other = { .interval_ms = HOURS(2) };
    const struct timer_plan plans[] = {
        { .next_run_at = TIMER_NOW + DAYS(1),
          .skips = { { 10, 20, 3, "missed" }, { 30, 30, 1, "cap" } },
          .skip_count = 2 },
        { .next_run_at = TIMER_NOW + DAYS(2),
          .skips = { { 40, 50, 4, "missed" }, { 60, 60, 1, "what else" } },
          .skip_count = 2 },
    };
    static const struct {
        const char *kind;
        int64_t count, first, last;
    } want[] = { { "cap", 1, 30, 30 }, { "missed", 7, 10, 50 }, { "other", 1, 60, 60 } };
    struct skip *skips;
    struct str found;
    size_t n;

    timer_rig_open(&rig, t);
    ASSERT_OK(add(&rig, &timer));
    ASSERT_OK(add(&rig, &other));
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
        ASSERT_OK(timer_get(rig.domain, timer.id, &t->arena, &timer, &t->err));
        ASSERT_EQ(timer_advance(rig.domain, rig.change, &timer, &plans[i], TIMER_NOW, &t->err), 1);
    }
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    ASSERT_OK(skip_list(rig.domain, rig.coach.n, STR_NONE, 0, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, ARRAY_LEN(want));
    for (size_t i = 0; i < n; i++) {
        ASSERT_EQ(skips[i].of, SKIP_OF_TIMER);
        ASSERT(str_eq(skips[i].of_id, timer.id));
        ASSERT_STR(skips[i].name, "hourly");
        ASSERT_STR(skips[i].agent_id, "coach");
        ASSERT_TEXT(skips[i].kind, want[i].kind);
        ASSERT_EQ(skips[i].count, want[i].count);
        ASSERT_EQ(skips[i].first_at, want[i].first);
        ASSERT_EQ(skips[i].last_at, want[i].last);
    }
    ASSERT_CONTAINS(skips[0].why, "more firings were missed than");
    ASSERT_OK(skip_list(rig.domain, 0, timer.id, 2, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_OK(skip_list(rig.domain, 0, other.id, 0, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 0);
    ASSERT_OK(skip_list(rig.domain, rig.coach.n + 1, STR_NONE, 0, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 0);
    ASSERT_OK(skip_find_of(rig.domain, str_take(timer.id, 36), &t->arena, &found, &t->err));
    ASSERT(str_eq(found, timer.id));
    ASSERT_FAILS(skip_find_of(rig.domain, STR("nosuch"), &t->arena, &found, &t->err),
                 ERR_NOT_FOUND);
    t->err = ERR_INIT;
    /* they stay when the timer is removed */
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_OK(timer_remove(rig.domain, rig.change, timer.id, TIMER_NOW, &t->err));
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    ASSERT_OK(skip_list(rig.domain, 0, STR_NONE, 0, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, ARRAY_LEN(want));
    ASSERT(skips[0].removed);
    ASSERT_STR(skips[0].name, "hourly");
    ASSERT_EQ(timer_describe(rig.domain, timer.id, &t->arena, &found, &t->err), 1);
    ASSERT_STR(found, "every 1 h");
    ASSERT_EQ(timer_describe(rig.domain, STR("nosuch"), &t->arena, &found, &t->err), 0);
}

DB_TEST(a_change_of_its_words_leaves_a_timer_due)
{
    AUTO_TIMER_RIG rig;
    struct timer timer = { .rrule = STR("FREQ=DAILY;BYHOUR=7"), .zone = STR("UTC") };
    int64_t due, later = TIMER_NOW + DAYS(3);

    timer_rig_open(&rig, t);
    ASSERT_OK(add(&rig, &timer));
    due = timer.next_run_at;
    timer.prompt = STR("Other words.");
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_OK(timer_change(rig.domain, rig.change, &timer, later, &t->err));
    ASSERT_EQ(timer.next_run_at, due);
    timer.rrule = STR("FREQ=DAILY;BYHOUR=8");
    ASSERT_OK(timer_change(rig.domain, rig.change, &timer, later, &t->err));
    ASSERT_EQ(timer.next_run_at, utc("2026-02-21T08:00:00Z"));
    timer.rrule = STR("FREQ=OFTEN");
    ASSERT_FAILS(timer_change(rig.domain, rig.change, &timer, later, &t->err), ERR_BAD_REQUEST);
    ASSERT_OK(loop_unit_end(rig.loop, true, NULL));
    ASSERT_OK(timer_get(rig.domain, timer.id, &t->arena, &timer, &t->err));
    ASSERT_STR(timer.rrule, "FREQ=DAILY;BYHOUR=8");
    ASSERT_STR(timer.prompt, "Other words.");
}

/* A clock that was set back: what has fired stays fired, also when the rule is written anew. */
DB_TEST(a_change_fires_nothing_that_has_fired)
{
    AUTO_TIMER_RIG rig;
    struct timer timer = { .rrule = STR("FREQ=DAILY;BYHOUR=7"), .zone = STR("UTC") };

    timer_rig_open(&rig, t);
    ASSERT_OK(add(&rig, &timer));
    timer.last_run_at = TIMER_NOW + DAYS(2);
    timer.rrule = STR("FREQ=DAILY;BYHOUR=6");
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_OK(timer_change(rig.domain, rig.change, &timer, TIMER_NOW, &t->err));
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    ASSERT_EQ(timer.next_run_at, utc("2026-02-20T06:00:00Z"));
}

/* ---- what was damaged ---- */

DB_TEST(a_damaged_timer_ends_and_holds_up_no_other)
{
    AUTO_TIMER_RIG rig;
    struct timer bad = { .rrule = STR("FREQ=DAILY;BYHOUR=7"), .zone = STR("UTC") }, good = bad,
                 read;
    struct timer_skipped *skips;
    struct wake_job *jobs;
    size_t n;

    timer_rig_open(&rig, t);
    ASSERT_OK(add(&rig, &bad));
    ASSERT_OK(add(&rig, &good));
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_OK(db_exec(domain_db(rig.domain),
                      SQL("UPDATE agent_timers SET zone = 'Gone/Away' WHERE n = 1"), &t->err));
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    clockwork_look(rig.clockwork);
    loop_fake_advance(rig.loop, HOURS(3));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 1);
    ASSERT_STR(jobs[0].reason_id, good.id.p);
    ASSERT_OK(timer_skips(rig.domain, bad.n, 10, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(skips[0].why, "damaged");
    ASSERT_OK(timer_get(rig.domain, bad.id, &t->arena, &read, &t->err));
    ASSERT(!read.active);
}

DB_TEST(a_damaged_timer_does_not_hold_up_a_move)
{
    AUTO_TIMER_RIG rig;
    struct timer bad = { .rrule = STR("FREQ=DAILY;BYHOUR=7") }, good = bad, read;

    timer_rig_open(&rig, t);
    bad = timer_rig_add(&rig, bad);
    good = timer_rig_add(&rig, good);
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_OK(db_exec(domain_db(rig.domain),
                      SQL("UPDATE agent_timers SET rrule = 'FREQ=' WHERE n = 1"), &t->err));
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    timer_rig_zone = "Asia/Tokyo";
    clockwork_look(rig.clockwork);
    loop_fake_advance(rig.loop, 10);
    ASSERT_OK(timer_get(rig.domain, bad.id, &t->arena, &read, &t->err));
    ASSERT(!read.active);
    ASSERT_OK(timer_get(rig.domain, good.id, &t->arena, &read, &t->err));
    ASSERT_EQ(read.next_run_at, utc("2026-02-18T22:00:00Z")); /* fired at once, then the next */
}

/* ---- cost ---- */

/* However many sleep, what is due next is found by the index. */
TEST(the_next_timer_is_found_by_the_index)
{
    static const struct sql plans[] = {
        { "EXPLAIN QUERY PLAN SELECT next_run_at FROM agent_timers WHERE active = 1"
          " AND next_run_at IS NOT NULL ORDER BY next_run_at LIMIT 1" },
        { "EXPLAIN QUERY PLAN SELECT t.n FROM agent_timers t JOIN agents a ON a.n = t.agent_n"
          " WHERE t.active = 1 AND t.next_run_at <= ? ORDER BY t.next_run_at, t.n LIMIT ?" },
    };
    struct domain_config config = {
        .name = "agent",
        .url = db_test_file_url(t, "agent", "agent.sqlite"),
        .migrations = migrations_agent,
        .migration_count = migrations_agent_count,
    };
    AUTO(domain) domain = NULL;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
        AUTO_BUF text = BUF_INIT(4 * KIB);
        AUTO(stmt) q = NULL;

        ASSERT_OK(db_prepare(domain_db(domain), plans[i], &q, &t->err));
        if (i == 1) {
            stmt_bind_i64(q, TIMER_NOW);
            stmt_bind_i64(q, 10);
        }
        while (stmt_step(q, &t->err) == 1)
            buf_printf(&text, "%.*s\n", STR_ARG(stmt_str(q, "detail")));
        ASSERT_CONTAINS(buf_text(&text), "idx_agent_timers_due (active=? AND next_run_at");
        ASSERT(!strstr(buf_text(&text), "TEMP B-TREE"));
    }
}

DB_TEST(the_zone_of_the_machine_is_remembered)
{
    AUTO_TIMER_RIG rig;
    struct str known;

    timer_rig_open(&rig, t);
    loop_fake_advance(rig.loop, 10);
    ASSERT_OK(timer_zone_known(rig.domain, &t->arena, &known, &t->err));
    ASSERT_STR(known, "Europe/Berlin");
}

/* ---- what edits say ---- */

/* How many batches there are after the cursor that say: a person wrote this timer of the coach.
 * The cursor moves on. */
static int told(struct timer_rig *rig, struct str id, struct change_cursor *at)
{
    struct test *t = rig->t;
    struct change_row *rows;
    size_t n;
    int count = 0;

    ASSERT_OK(change_batches_after(rig->domain, *at, 10, &t->arena, &rows, &n, &t->err));
    for (size_t i = 0; i < n; i++) {
        const struct change_row *row = &rows[i];

        *at = row->at;
        count += row->author == CHANGE_BY_HUMAN && row->unit_count == 1 &&
                 str_is(row->unit[0].payload_type, "agentTimer") &&
                 str_eq(row->unit[0].payload_id, id) && row->token_count == 3 &&
                 str_eq(row->tokens[0].value, id) && str_is(row->tokens[1].value, "coach") &&
                 str_is(row->tokens[2].value, "AGENT");
    }
    return count;
}

DB_TEST(edits_say_so_to_who_follows_agents_and_firings_do_not)
{
    AUTO_TIMER_RIG rig;
    struct change_cursor at;
    struct wake_job *jobs;
    struct timer timer;

    timer_rig_open(&rig, t);
    ASSERT_OK(change_batches_end(rig.domain, &at, &t->err));
    timer = timer_rig_add(&rig, (struct timer){ .interval_ms = HOURS(1) });
    ASSERT_EQ(told(&rig, timer.id, &at), 1);

    loop_fake_advance(rig.loop, HOURS(1));
    ASSERT_EQ(timer_rig_wakes(&rig, &jobs), 1);
    ASSERT_EQ(told(&rig, timer.id, &at), 0);

    ASSERT_OK(timer_get(rig.domain, timer.id, &t->arena, &timer, &t->err));
    timer.interval_ms = HOURS(2);
    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_OK(timer_change(rig.domain, rig.change, &timer, timer_rig_now(&rig), &t->err));
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    loop_fake_tick(rig.loop);
    ASSERT_EQ(told(&rig, timer.id, &at), 1);

    ASSERT_OK(loop_unit_begin(rig.loop, rig.domain, &t->err));
    ASSERT_OK(timer_remove(rig.domain, rig.change, timer.id, timer_rig_now(&rig), &t->err));
    ASSERT_OK(loop_unit_end(rig.loop, true, &t->err));
    loop_fake_tick(rig.loop);
    ASSERT_EQ(told(&rig, timer.id, &at), 1);
}
