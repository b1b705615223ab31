/* Ticks on the fake loop: what is committed, what runs, what is dropped, and in which order. Each
 * test compares the whole trace of what happened.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sanitizer/asan_interface.h>
#include <stdio.h>

#include "harness/test.h"
#include "store_fake.h"

#if defined(__SANITIZE_ADDRESS__)
#define POISONED(p) __asan_address_is_poisoned(p)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONED(p) __asan_address_is_poisoned(p)
#endif
#endif

struct room {
    struct clock_fake clock;
    struct loop *loop;
    struct buf trace;
    struct store_fake a, b;
};

struct effect {
    struct loop_effect effect; /* first */
    struct room *room;
    const char *name;
    struct effect *queues_next; /* queued when this one runs */
    int ran, dropped;
    enum err_code why;
};

static struct room *room_new(void)
{
    struct room *r = NEW(struct room);

    clock_fake_init(&r->clock, 1000000);
    r->loop = loop_new_fake(&r->clock);
    r->trace = BUF_INIT(1 << 20);
    r->a = (struct store_fake){ .name = "a", .trace = &r->trace };
    r->b = (struct store_fake){ .name = "b", .trace = &r->trace };
    loop_attach_store(r->loop, store_domain(&r->a), &store_fake_ops);
    loop_attach_store(r->loop, store_domain(&r->b), &store_fake_ops);
    return r;
}

static void room_free(struct room *r)
{
    loop_free(r->loop);
    buf_release(&r->trace);
    free(r);
}
AUTO_DEFINE(room)

static void effect_run(struct loop_effect *effect)
{
    struct effect *e = (struct effect *)effect;

    e->ran++;
    buf_printf(&e->room->trace, "run %s\n", e->name);
    if (e->queues_next)
        loop_after_commit(e->room->loop, &e->queues_next->effect);
}

static void effect_drop(struct loop_effect *effect, const struct err *why)
{
    struct effect *e = (struct effect *)effect;

    e->dropped++;
    e->why = why->code;
    buf_printf(&e->room->trace, "drop %s %s\n", e->name, err_name(why->code));
}

static struct effect effect_of(struct room *r, const char *name)
{
    return (struct effect){ .effect = { effect_run, effect_drop }, .room = r, .name = name };
}

/* A unit that writes row and queues effect. */
static void unit(struct room *r, struct store_fake *store, int row, struct effect *effect)
{
    struct err err = ERR_INIT;

    if (loop_unit_begin(r->loop, store_domain(store), &err) < 0)
        FAIL("unit_begin: %s", err_message(&err, 0));
    store_write(store, row);
    if (effect)
        loop_after_commit(r->loop, &effect->effect);
    if (loop_unit_end(r->loop, true, &err) < 0)
        FAIL("unit_end: %s", err_message(&err, 0));
}

static void expect(struct room *r, const char *trace)
{
    ASSERT_TEXT(buf_text(&r->trace), trace);
    buf_clear(&r->trace);
}

TEST(effects_run_after_all_commits_in_the_order_queued)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1"), two = effect_of(r, "2"), three = effect_of(r, "3");

    unit(r, &r->b, 1, &one);
    unit(r, &r->a, 2, &two);
    unit(r, &r->b, 3, &three);
    expect(r, "begin b\nbegin a\n");
    loop_fake_tick(r->loop);
    expect(r, "commit a\ncommit b\nrun 1\nrun 2\nrun 3\n");
    loop_fake_tick(r->loop);
    expect(r, "");
}

TEST(a_failed_commit_lets_no_effect_of_its_domain_out)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1"), two = effect_of(r, "2"), three = effect_of(r, "3"),
                  four = effect_of(r, "4");

    unit(r, &r->a, 1, &one);
    unit(r, &r->b, 2, &two);
    loop_after_commit(r->loop, &three.effect);
    unit(r, &r->a, 3, &four);
    r->a.fail_commit = true;
    r->a.health_then = DOMAIN_READ_ONLY;
    buf_clear(&r->trace);
    loop_fake_tick(r->loop);
    expect(r, "commit fails a\ncommit b\n"
              "drop 1 storage_failed\nrun 2\nrun 3\ndrop 4 storage_failed\n");
}

TEST(a_read_only_domain_refuses_units_and_the_loop_goes_on)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1");

    r->a.health = DOMAIN_READ_ONLY;
    ASSERT_FAILS(loop_unit_begin(r->loop, store_domain(&r->a), &t->err), ERR_STORAGE_FAILED);
    unit(r, &r->b, 1, &one);
    ASSERT_OK(loop_run(r->loop, &t->err));
    expect(r, "begin b\ncommit b\nrun 1\n");
}

static void tell_health(struct domain *domain, enum domain_health health, const struct err *why,
                        void *arg)
{
    struct room *r = arg;

    (void)domain, (void)why;
    buf_printf(&r->trace, "health %s\n", domain_health_name(health));
}

TEST(trouble_is_told_once_and_tried_with_growing_pauses)
{
    AUTO(room) r = room_new();

    loop_on_health(r->loop, tell_health, r);
    r->a.fail_mend = 6;
    r->a.health = DOMAIN_READ_ONLY;
    ASSERT(!loop_is_healthy(r->loop));
    loop_fake_tick(r->loop);
    expect(r, "health read_only\n");
    loop_fake_advance(r->loop, 999);
    ASSERT_EQ(r->a.mends, 0);
    loop_fake_advance(r->loop, 1 + 2000 + 4000 + 8000);
    ASSERT_EQ(r->a.mends, 4);
    loop_fake_advance(r->loop, 16000 + 30000);
    ASSERT_EQ(r->a.mends, 6);
    buf_clear(&r->trace);
    loop_fake_advance(r->loop, 29999);
    expect(r, "");
    loop_fake_advance(r->loop, 1);
    expect(r, "health ok\n");
    ASSERT(loop_is_healthy(r->loop));
    /* Back within a minute: the same trouble. */
    r->a.health = DOMAIN_READ_ONLY;
    loop_fake_tick(r->loop);
    loop_fake_advance(r->loop, 29999);
    ASSERT_EQ(r->a.mends, 7);
    loop_fake_advance(r->loop, 1);
    ASSERT(loop_is_healthy(r->loop));
    /* Later: another one. */
    loop_fake_advance(r->loop, 61000);
    r->a.health = DOMAIN_AWAY;
    loop_fake_tick(r->loop);
    loop_fake_advance(r->loop, 1000);
    ASSERT(loop_is_healthy(r->loop));
}

TEST(a_lost_domain_ends_the_loop_after_everybody_was_told)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1"), two = effect_of(r, "2"), last = effect_of(r, "last");

    two.queues_next = &last;
    unit(r, &r->a, 1, &one);
    unit(r, &r->b, 2, &two);
    r->a.fail_commit = true;
    r->a.health_then = DOMAIN_LOST;
    ASSERT_FAILS(loop_run(r->loop, &t->err), ERR_STORAGE_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "commit of a fails");
    expect(r, "begin a\nbegin b\ncommit fails a\ncommit b\n"
              "drop 1 storage_failed\nrun 2\nrun last\n");
    ASSERT_FAILS(loop_unit_begin(r->loop, store_domain(&r->a), &t->err), ERR_STORAGE_FAILED);
}

TEST(a_failing_unit_rolls_back_alone_with_its_effects)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1"), two = effect_of(r, "2"), three = effect_of(r, "3"),
                  four = effect_of(r, "4");

    unit(r, &r->a, 1, &one);
    ASSERT_OK(loop_unit_begin(r->loop, store_domain(&r->a), &t->err));
    store_write(&r->a, 2);
    loop_after_commit(r->loop, &two.effect);
    loop_after_commit(r->loop, &three.effect);
    ASSERT_OK(loop_unit_end(r->loop, false, &t->err));
    expect(r, "begin a\ndrop 2 cancelled\ndrop 3 cancelled\n");
    unit(r, &r->a, 4, &four);
    loop_fake_tick(r->loop);
    expect(r, "commit a\nrun 1\nrun 4\n");
    ASSERT(store_has(&r->a, 1) && !store_has(&r->a, 2) && store_has(&r->a, 4));
}

TEST(a_tick_whose_units_all_failed_commits_nothing)
{
    AUTO(room) r = room_new();

    ASSERT_OK(loop_unit_begin(r->loop, store_domain(&r->a), &t->err));
    store_write(&r->a, 1);
    ASSERT_OK(loop_unit_end(r->loop, false, &t->err));
    loop_fake_tick(r->loop);
    expect(r, "begin a\nrollback a\n");
}

TEST(an_effect_queued_by_an_effect_runs_at_the_end_of_the_next_tick)
{
    AUTO(room) r = room_new();
    struct effect first = effect_of(r, "first"), second = effect_of(r, "second");

    first.queues_next = &second;
    unit(r, &r->a, 1, &first);
    loop_fake_tick(r->loop);
    expect(r, "begin a\ncommit a\nrun first\n");
    ASSERT(loop_pending(r->loop));
    loop_fake_tick(r->loop);
    expect(r, "run second\n");
    ASSERT(!loop_pending(r->loop));
}

static void writes_again(struct loop_effect *effect)
{
    struct effect *e = (struct effect *)effect;

    buf_printf(&e->room->trace, "run %s\n", e->name);
    unit(e->room, &e->room->a, 2, e->queues_next);
}

TEST(what_an_effect_writes_belongs_to_the_next_tick)
{
    AUTO(room) r = room_new();
    struct effect first = effect_of(r, "first"), second = effect_of(r, "second");

    first.effect.run = writes_again;
    first.queues_next = &second;
    unit(r, &r->a, 1, &first);
    loop_fake_tick(r->loop);
    expect(r, "begin a\ncommit a\nrun first\nbegin a\n");
    loop_fake_tick(r->loop);
    expect(r, "commit a\nrun second\n");
}

TEST(a_refused_begin_leaves_nothing_open)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1");

    r->a.fail_begin = true;
    ASSERT_FAILS(loop_unit_begin(r->loop, store_domain(&r->a), &t->err), ERR_STORAGE_FAILED);
    ASSERT(!loop_pending(r->loop));
    unit(r, &r->a, 1, &one);
    loop_fake_tick(r->loop);
    expect(r, "begin a\ncommit a\nrun 1\n");
}

TEST(a_unit_that_cannot_begin_does_not_harm_the_others)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1");

    unit(r, &r->a, 1, &one);
    r->a.fail_savepoint = true;
    ASSERT_FAILS(loop_unit_begin(r->loop, store_domain(&r->a), &t->err), ERR_INTERNAL);
    loop_fake_tick(r->loop);
    expect(r, "begin a\ncommit a\nrun 1\n");
}

TEST(a_unit_that_cannot_be_kept_is_rolled_back_and_says_why)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1"), two = effect_of(r, "2");

    unit(r, &r->a, 1, &one);
    ASSERT_OK(loop_unit_begin(r->loop, store_domain(&r->a), &t->err));
    store_write(&r->a, 2);
    loop_after_commit(r->loop, &two.effect);
    r->a.fail_release = true;
    ASSERT_FAILS(loop_unit_end(r->loop, true, &t->err), ERR_CONFLICT);
    loop_fake_tick(r->loop);
    expect(r, "begin a\ndrop 2 conflict\ncommit a\nrun 1\n");
    ASSERT(!store_has(&r->a, 2));
}

static void leave(struct test *t, struct room *r, struct store_fake *store, int row,
                  struct effect *effect)
{
    ASSERT_OK(loop_unit_begin(r->loop, store_domain(store), &t->err));
    store_write(store, row);
    loop_after_commit(r->loop, &effect->effect);
    ASSERT_OK(loop_unit_leave(r->loop, &t->err));
}

TEST(a_unit_that_is_left_is_committed_without_a_question)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1"), two = effect_of(r, "2");

    leave(t, r, &r->a, 1, &one);
    loop_fake_tick(r->loop);
    expect(r, "begin a\ncommit a\nrun 1\n");
    ASSERT(store_has(&r->a, 1));
    unit(r, &r->a, 2, &two);
    loop_fake_tick(r->loop);
    expect(r, "begin a\ncommit a\nrun 2\n");
}

TEST(what_was_left_and_can_be_kept_is_settled_before_the_next_unit)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1"), two = effect_of(r, "2");

    leave(t, r, &r->a, 1, &one);
    unit(r, &r->a, 2, &two);
    unit(r, &r->a, 3, NULL);
    loop_fake_tick(r->loop);
    expect(r, "begin a\nsettle a\ncommit a\nrun 1\nrun 2\n");
    ASSERT(store_has(&r->a, 1) && store_has(&r->a, 2) && store_has(&r->a, 3));
}

TEST(what_was_left_and_can_not_be_kept_harms_nobody_else)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1"), other = effect_of(r, "other"), two = effect_of(r, "2"),
                  last = effect_of(r, "last");

    leave(t, r, &r->a, 1, &one);
    unit(r, &r->b, 7, &other);
    r->a.fail_settle = true;
    unit(r, &r->a, 2, &two);
    loop_after_commit(r->loop, &last.effect);
    loop_fake_tick(r->loop);
    expect(r, "begin a\nbegin b\nsettle a\nrollback a\ndrop 1 conflict\nbegin a\ncommit a\n"
              "commit b\nrun other\nrun 2\nrun last\n");
    ASSERT(!store_has(&r->a, 1) && store_has(&r->a, 2) && store_has(&r->b, 7));
}

TEST(what_was_left_and_fails_with_the_commit_is_dropped)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1"), two = effect_of(r, "2");

    leave(t, r, &r->a, 1, &one);
    r->a.fail_commit = true;
    loop_fake_tick(r->loop);
    expect(r, "begin a\ncommit fails a\ndrop 1 storage_failed\n");
    unit(r, &r->a, 2, &two);
    loop_fake_tick(r->loop);
    expect(r, "begin a\ncommit a\nrun 2\n");
}

TEST(when_the_engine_gives_the_transaction_up_the_whole_tick_of_it_fails)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1"), two = effect_of(r, "2"), three = effect_of(r, "3");

    unit(r, &r->a, 1, &one);
    ASSERT_OK(loop_unit_begin(r->loop, store_domain(&r->a), &t->err));
    loop_after_commit(r->loop, &two.effect);
    store_vanish(&r->a);
    ASSERT_FAILS(loop_unit_end(r->loop, true, &t->err), ERR_STORAGE_FAILED);
    /* Nothing may be added to a transaction of which the first half is gone. */
    ASSERT_FAILS(loop_unit_begin(r->loop, store_domain(&r->a), &t->err), ERR_STORAGE_FAILED);
    loop_fake_tick(r->loop);
    expect(r, "begin a\ndrop 2 storage_failed\nrollback a\n"
              "drop 1 storage_failed\n");
    unit(r, &r->a, 3, &three);
    loop_fake_tick(r->loop);
    expect(r, "begin a\ncommit a\nrun 3\n");
}

TEST(a_vanished_transaction_is_noticed_when_the_unit_was_to_be_rolled_back)
{
    AUTO(room) r = room_new();
    struct effect one = effect_of(r, "1");

    unit(r, &r->a, 1, &one);
    ASSERT_OK(loop_unit_begin(r->loop, store_domain(&r->a), &t->err));
    store_vanish(&r->a);
    ASSERT_OK(loop_unit_end(r->loop, false, &t->err));
    loop_fake_tick(r->loop);
    expect(r, "begin a\nrollback a\ndrop 1 storage_failed\n");
}

TEST(freeing_the_loop_rolls_back_and_drops_what_was_queued)
{
    struct room *r = room_new();
    struct effect one = effect_of(r, "1"), two = effect_of(r, "2");

    unit(r, &r->a, 1, &one);
    loop_after_commit(r->loop, &two.effect);
    loop_free(r->loop);
    r->loop = NULL;
    expect(r, "begin a\nrollback a\ndrop 1 cancelled\ndrop 2 cancelled\n");
    room_free(r);
}

/* ---- hooks ---- */

struct hook {
    struct loop_tick_hook hook; /* first */
    struct room *room;
    const char *name;
    struct loop_tick_hook *removes;
    int wakes;
};

static void hook_call(struct loop_tick_hook *hook)
{
    struct hook *h = (struct hook *)hook;

    buf_printf(&h->room->trace, "hook %s\n", h->name);
    if (h->removes)
        loop_remove_tick_hook(h->room->loop, h->removes);
    if (h->wakes-- > 0)
        loop_wake(h->room->loop);
}

TEST(hooks_run_last_in_the_order_they_were_added)
{
    AUTO(room) r = room_new();
    struct hook one = { { hook_call }, r, "1" }, two = { { hook_call }, r, "2" };
    struct effect effect = effect_of(r, "e");

    loop_add_tick_hook(r->loop, &one.hook);
    loop_add_tick_hook(r->loop, &two.hook);
    unit(r, &r->a, 1, &effect);
    loop_fake_tick(r->loop);
    expect(r, "begin a\ncommit a\nrun e\nhook 1\nhook 2\n");
}

TEST(a_hook_may_remove_itself_and_the_one_behind_it)
{
    AUTO(room) r = room_new();
    struct hook one = { { hook_call }, r, "1" }, two = { { hook_call }, r, "2" },
                three = { { hook_call }, r, "3" };

    loop_add_tick_hook(r->loop, &one.hook);
    loop_add_tick_hook(r->loop, &two.hook);
    loop_add_tick_hook(r->loop, &three.hook);
    one.removes = &one.hook;
    two.removes = &three.hook;
    loop_fake_tick(r->loop);
    expect(r, "hook 1\nhook 2\n");
    loop_remove_tick_hook(r->loop, &one.hook);
    loop_fake_tick(r->loop);
    expect(r, "hook 2\n");
}

TEST(waking_asks_for_another_tick)
{
    AUTO(room) r = room_new();
    struct hook hook = { { hook_call }, r, "h", .wakes = 2 };

    loop_add_tick_hook(r->loop, &hook.hook);
    loop_wake(r->loop);
    loop_fake_advance(r->loop, 0);
    expect(r, "hook h\nhook h\nhook h\n");
}

TEST(a_stopped_loop_does_its_last_ticks_and_no_more_than_those)
{
    AUTO(room) r = room_new();
    struct effect e = effect_of(r, "e");
    struct hook hook = { { hook_call }, r, "h", .wakes = 1 << 30 };

    unit(r, &r->a, 1, &e);
    loop_stop(r->loop);
    ASSERT_OK(loop_run(r->loop, &t->err));
    expect(r, "begin a\ncommit a\nrun e\n");
    loop_add_tick_hook(r->loop, &hook.hook);
    loop_stop(r->loop);
    ASSERT_OK(loop_run(r->loop, &t->err));
    ASSERT_EQ((1 << 30) - hook.wakes, LOOP_LAST_TICKS);
}

TEST(what_was_kept_in_an_earlier_tick_does_not_commit_a_later_one)
{
    AUTO(room) r = room_new();

    for (int tick = 0; tick < 2; tick++) {
        ASSERT_OK(loop_unit_begin(r->loop, store_domain(&r->a), &t->err));
        store_write(&r->a, tick);
        ASSERT_OK(loop_unit_end(r->loop, tick == 0, &t->err));
        buf_clear(&r->trace);
        loop_fake_tick(r->loop);
        ASSERT_TEXT(buf_text(&r->trace), tick == 0 ? "commit a\n" : "rollback a\n");
    }
    ASSERT_EQ(r->a.durable_count, 1);
}

/* ---- arena ---- */

struct keeper {
    struct loop_effect effect; /* first */
    struct loop *loop;
    const char *text;     /* of the tick that queued it */
    const char *for_next; /* allocated while it runs */
};

static void keeper_run(struct loop_effect *effect)
{
    struct keeper *k = (struct keeper *)effect;

    if (strcmp(k->text, "of the first tick") != 0)
        FAIL("the arena ended before the effect");
    k->for_next = arena_text(loop_arena(k->loop), "of the second tick");
}

TEST(the_arena_of_a_tick_lives_through_its_effects_and_no_longer)
{
    AUTO(room) r = room_new();
    struct keeper k = { .effect = { keeper_run, effect_drop }, .loop = r->loop };

    k.text = arena_text(loop_arena(r->loop), "of the first tick");
    loop_after_commit(r->loop, &k.effect);
    loop_fake_tick(r->loop);
    ASSERT_TEXT(k.for_next, "of the second tick");
#ifdef POISONED
    ASSERT(POISONED(k.text));
    ASSERT(!POISONED(k.for_next));
    loop_fake_tick(r->loop);
    ASSERT(POISONED(k.for_next));
#endif
}

/* ---- housekeeping ---- */

TEST(housekeeping_waits_until_nothing_was_committed_for_a_while)
{
    AUTO(room) r = room_new();

    for (int i = 0; i < 5; i++) {
        unit(r, &r->a, i, NULL);
        loop_fake_advance(r->loop, LOOP_IDLE_MS - 1);
    }
    ASSERT(!strstr(buf_text(&r->trace), "idle"));
    buf_clear(&r->trace);
    loop_fake_advance(r->loop, 1);
    expect(r, "idle a\n");
    loop_fake_advance(r->loop, HOURS(1));
    expect(r, "");
}

TEST(housekeeping_leaves_failed_domains_and_open_transactions_alone)
{
    AUTO(room) r = room_new();

    unit(r, &r->a, 1, NULL);
    unit(r, &r->b, 1, NULL);
    loop_fake_advance(r->loop, 1);
    buf_clear(&r->trace);
    r->a.health = DOMAIN_READ_ONLY;
    loop_fake_advance(r->loop, LOOP_IDLE_MS);
    expect(r, "idle b\n");
    r->a.health = DOMAIN_OK;
    ASSERT_OK(loop_unit_begin(r->loop, store_domain(&r->a), &t->err));
    tick_idle(&r->loop->tick);
    ASSERT_OK(loop_unit_end(r->loop, false, &t->err));
    expect(r, "begin a\n");
}

/* ---- a property, over random ticks ---- */

#define TICK_EFFECTS 64

struct ticket {
    struct loop_effect effect; /* first */
    struct store_fake *store;  /* NULL: queued outside a unit */
    int row;
    int ran, dropped;
    bool rolled_back;
    bool was_durable; /* when it ran */
};

static uint64_t random_state;
static int next_row;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % n;
}

static void ticket_run(struct loop_effect *effect)
{
    struct ticket *ticket = (struct ticket *)effect;

    ticket->ran++;
    ticket->was_durable = !ticket->store || store_has(ticket->store, ticket->row);
}

static void ticket_drop(struct loop_effect *effect, const struct err *why)
{
    struct ticket *ticket = (struct ticket *)effect;

    ticket->dropped++;
    if (!ticket->store || why->code == ERR_NONE)
        FAIL("dropped without a reason");
}

/* Queues up to three effects in one unit, of which something may fail. */
static struct ticket *random_unit(struct room *r, struct ticket *ticket)
{
    struct err err = ERR_INIT;
    struct store_fake *store = random_below(2) ? &r->a : &r->b;
    int effects = (int)random_below(4), row = next_row++;
    bool keep = random_below(4) != 0;

    store->fail_begin = !store->open && random_below(40) == 0;
    store->fail_savepoint = random_below(40) == 0;
    if (loop_unit_begin(r->loop, store_domain(store), &err) < 0) {
        store->fail_savepoint = false;
        return ticket;
    }
    store_write(store, row);
    for (int i = 0; i < effects; i++) {
        ticket[i] = (struct ticket){ { ticket_run, ticket_drop }, .store = store, .row = row };
        loop_after_commit(r->loop, &ticket[i].effect);
    }
    store->fail_release = keep && random_below(40) == 0;
    if (random_below(60) == 0)
        store_vanish(store);
    keep = loop_unit_end(r->loop, keep, &err) == 0 && keep;
    store->fail_release = false;
    for (int i = 0; i < effects; i++)
        ticket[i].rolled_back = !keep;
    return ticket + effects;
}

/* Exactly one of run and drop; run if and only if the row became durable, except that after an
 * ambiguous failure a durable row's effect was dropped. */
static void check_ticket(const struct ticket *ticket, bool ambiguous)
{
    bool durable = !ticket->store || store_has(ticket->store, ticket->row);

    ASSERT_EQ(ticket->ran + ticket->dropped, 1);
    ASSERT(!ticket->ran || ticket->was_durable);
    ASSERT(!ticket->ran || !ticket->rolled_back);
    if (!ambiguous)
        ASSERT_EQ(ticket->ran, durable);
}

static void random_tick(struct room *r, unsigned *ran, unsigned *dropped)
{
    struct ticket *tickets = NEW_N(struct ticket, TICK_EFFECTS), *next = tickets;
    struct store_fake *stores[] = { &r->a, &r->b };
    bool ambiguous = random_below(2);

    for (unsigned units = random_below(8); units > 0; units--) {
        next = random_unit(r, next);
        if (random_below(6) == 0) {
            *next = (struct ticket){ { ticket_run, ticket_drop } };
            loop_after_commit(r->loop, &(next++)->effect);
        }
    }
    for (int i = 0; i < 2; i++) {
        stores[i]->fail_commit = random_below(6) == 0;
        stores[i]->ambiguous = ambiguous;
    }
    loop_fake_tick(r->loop);
    for (const struct ticket *ticket = tickets; ticket < next; ticket++) {
        check_ticket(ticket, ambiguous);
        *ran += (unsigned)ticket->ran;
        *dropped += (unsigned)ticket->dropped;
    }
    for (int i = 0; i < 2; i++)
        stores[i]->fail_commit = stores[i]->ambiguous = false, stores[i]->durable_count = 0;
    free(tickets); /* a later touch is a use after free */
}

TEST(every_effect_runs_once_exactly_when_its_unit_is_durable)
{
    AUTO(room) r = room_new();
    unsigned ran = 0, dropped = 0;

    r->a.trace = r->b.trace = NULL;
    for (random_state = 1; next_row < 60000;) {
        random_tick(r, &ran, &dropped);
        buf_clear(&r->trace);
    }
    /* The generator reaches both ends in earnest. */
    ASSERT(ran > 10000 && dropped > 10000);
}
