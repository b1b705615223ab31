/* The reader under crashes: a life of writes, time and restarts is cut at every place where
 * something may be lost, and in the end each batch has woken each subscription that it matches
 * exactly once.
 *
 * A crash is: everything in memory is gone, open transactions are rolled back. It comes between any
 * two ticks, or in a commit of either domain, which is lost, or lasts although it seemed to fail.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "alert_rig.h"
#include "base/rand.h"
#include "db/db_fault.h"
#include "wake/reader.h"

#define WRITES 12

struct life {
    struct alert alert;
    struct db_fault agents_fault, records_fault;
    struct reader *reader;
    int written;
};

static struct domain *open_with(struct test *t, const char *name, struct db_fault *fault)
{
    bool journal = strcmp(name, "journal") == 0;
    struct domain_config config = {
        .name = name,
        .url = db_test_domain_url(t, name),
        .migrations = journal ? migrations_journal : migrations_agent,
        .migration_count = journal ? migrations_journal_count : migrations_agent_count,
        .fault = fault,
    };
    struct domain *domain;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    return domain;
}

static void begin_life(struct life *life)
{
    struct alert *a = &life->alert;
    struct test *t = a->t;

    life->agents_fault = life->records_fault = (struct db_fault){ 0 };
    a->loop = loop_new_fake(&a->clock);
    a->agents = open_with(t, "agent", &life->agents_fault);
    a->records = open_with(t, "journal", &life->records_fault);
    ASSERT_OK(change_open(a->agents, &a->clock.clock, NULL, &a->change, &t->err));
    ASSERT_OK(change_join(a->change, a->records, &t->err));
    loop_attach(a->loop, a->records);
    loop_attach(a->loop, a->agents);
    a->journal = journal_new(&(struct journal_config){
        .loop = a->loop, .domain = a->records, .change = a->change, .zone = "UTC" });
    ASSERT_OK(reader_new(&(struct reader_config){ .loop = a->loop,
                                                  .agent_domain = a->agents,
                                                  .journal = a->journal,
                                                  .change = a->change },
                         &life->reader, &t->err));
}

static void crash(struct life *life)
{
    reader_free(life->reader);
    alert_stop(&life->alert);
    clock_advance(&life->alert.clock, 7);
    begin_life(life);
}

/* Half of the tasks are urgent, which one of the two subscriptions asks for. Writing again what may
 * have been written is a person's affair, so here it is tried once. */
static void write_some(struct life *life)
{
    struct alert *a = &life->alert;
    struct test *t = a->t;
    AUTO_JSON fields = NULL;
    struct journal_author author = { .kind = CHANGE_BY_HUMAN };
    struct journal_write *write;
    struct record record;
    char id[16];
    bool kept;

    if (life->written == WRITES)
        return;
    snprintf(id, sizeof(id), "t-%d", life->written);
    ASSERT_OK(json_parse(str_from(life->written % 2 ? "{\"title\":\"x\",\"priority\":\"P0\"}"
                                                    : "{\"title\":\"x\",\"priority\":\"P3\"}"),
                         &fields, &t->err));
    life->written++;
    if (journal_begin(a->journal, &author, &t->arena, &write, NULL, &t->err) != 1)
        return;
    kept = journal_create(write, RECORD_TASK, str_from(id), fields, &record, &t->err) >= 0;
    journal_end(write, kept, STR_NONE, &t->err);
}

static void random_fault(struct life *life, struct rand *rand)
{
    struct db_fault *fault = rand_below(rand, 2) ? &life->agents_fault : &life->records_fault;

    *fault = (struct db_fault){
        .at = rand_below(rand, 2) ? DB_FAULT_COMMIT : DB_FAULT_COMMIT_AFTER,
        .kind = DB_FAULT_SYNC,
        .nth = 1 + (unsigned)rand_below(rand, 3),
    };
}

static void live(struct life *life, struct rand *rand)
{
    for (int step = 0; step < 60; step++) {
        switch (rand_below(rand, 6)) {
        case 0:
        case 1:
            write_some(life);
            break;
        case 2:
            loop_fake_tick(life->alert.loop);
            break;
        case 3:
            loop_fake_advance(life->alert.loop, (int64_t)rand_below(rand, 150));
            break;
        case 4:
            random_fault(life, rand);
            break;
        default:
            crash(life);
        }
        if (life->agents_fault.fired || life->records_fault.fired)
            crash(life);
    }
}

static bool has_wake(struct life *life, const struct subscription *s, const struct change_row *row)
{
    struct test *t = life->alert.t;
    struct wake_job job;
    char key[SHA256_TEXT_SIZE];
    struct err err = ERR_INIT;

    wake_key_subscription("coach", s->id, row->logical_change_key, key);
    return wake_get(life->alert.agents, str_from(key), &t->arena, &job, &err) >= 0;
}

/* What should be: told by the batches that lasted, without the reader's help. */
static void check(struct life *life, const struct subscription *all,
                  const struct subscription *some)
{
    struct test *t = life->alert.t;
    struct change_row *rows;
    struct wake_job *jobs;
    size_t count, wakes, expected = 0;

    ASSERT_OK(
        change_batches_since(life->alert.records, 0, 1000, &t->arena, &rows, &count, &t->err));
    ASSERT(count <= WRITES);
    for (size_t i = 0; i < count; i++) {
        bool urgent = (atoi(rows[i].unit[0].payload_id.p + 2) % 2) == 1;

        ASSERT(has_wake(life, all, &rows[i]));
        ASSERT_EQ(has_wake(life, some, &rows[i]), urgent);
        expected += 1 + urgent;
    }
    ASSERT_OK(wake_list(life->alert.agents, &(struct wake_filter){ .limit = 500 }, &t->arena, &jobs,
                        &wakes, &t->err));
    ASSERT_EQ(wakes, expected);
}

static void whole_life(struct test *t, uint64_t seed)
{
    struct life life = { .alert = { .t = t } };
    struct subscription *all, *some;
    struct rand_fake rand;
    int64_t coach;

    rand_fake_init(&rand, seed);
    clock_fake_init(&life.alert.clock, ALERT_NOW);
    begin_life(&life);
    coach = alert_agent(&life.alert, "coach", "[\"*\"]");
    all = alert_subscribe(&life.alert, coach, (struct subscription){ 0 });
    some = alert_subscribe(&life.alert, coach,
                           (struct subscription){ .predicate = STR("task.priority == 0") });
    live(&life, &rand.rand);
    crash(&life);
    while (life.written < WRITES)
        write_some(&life);
    loop_fake_advance(life.alert.loop, 10000);
    check(&life, all, some);
    reader_free(life.reader);
    alert_stop(&life.alert);
}

static void remove_files(struct test *t)
{
    static const char *const names[] = { "agent.sqlite", "journal.sqlite" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        remove(test_path(t, names[i]));
        remove(test_path(t, arena_printf(&t->arena, "%s-wal", names[i])));
        remove(test_path(t, arena_printf(&t->arena, "%s-shm", names[i])));
    }
}

/* On Postgres a test has one database, and so one life. */
DB_TEST(no_crash_loses_or_doubles_a_wake, .timeout_s = 300)
{
    uint64_t lives = db_test_is_postgres(t) ? 1 : 25;

    for (uint64_t seed = 1; seed <= lives; seed++) {
        whole_life(t, seed);
        if (!db_test_is_postgres(t))
            remove_files(t);
    }
}
