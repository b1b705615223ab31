/* Ticks over real SQLite files, with a disk that fails and a process that is killed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/fault_vfs.h"
#include "harness/test.h"
#include "loop/loop.h"
#include "row_store.h"
#include "victim.h"

struct ack {
    struct loop_effect effect; /* first */
    int64_t id;
    int ran, dropped;
    enum err_code why;
    const char *path; /* when set: another connection must see the row */
};

static void ack_run(struct loop_effect *effect)
{
    struct ack *ack = (struct ack *)effect;
    AUTO(domain) other = NULL;
    struct err err = ERR_INIT;
    int64_t count = 0;

    ack->ran++;
    if (!ack->path)
        return;
    if (rows_open(ack->path, &other, &err) < 0 || rows_count(other, ack->id, &count, &err) < 0)
        FAIL("%s", err_message(&err, 0));
    ASSERT_EQ(count, 1);
}

static void ack_drop(struct loop_effect *effect, const struct err *why)
{
    struct ack *ack = (struct ack *)effect;

    ack->dropped++;
    ack->why = why->code;
}

static struct ack ack_of(int64_t id)
{
    return (struct ack){ .effect = { ack_run, ack_drop }, .id = id };
}

/* Adds the row and queues its acknowledgement; false when the unit could not be kept. */
static bool add(struct loop *loop, struct domain *domain, struct ack *ack, struct err *err)
{
    bool kept;

    if (loop_unit_begin(loop, domain, err) < 0)
        return false;
    loop_after_commit(loop, &ack->effect);
    kept = rows_add(domain, ack->id, err) == 0;
    return loop_unit_end(loop, kept, err) == 0 && kept;
}

static struct fault_plan disk;

/* Before the databases are opened; later the plan alone changes. */
static void disk_install(void)
{
    fault_vfs_install(&disk);
}

static void disk_fail(enum fault_op op, enum fault_how how, unsigned nth)
{
    disk = (struct fault_plan){ .how = how, .op = op, .nth = nth };
}

TEST(an_effect_sees_its_row_from_another_connection)
{
    AUTO(domain) domain = NULL;
    AUTO(loop) loop = NULL;
    struct ack ack = ack_of(1);

    ack.path = test_path(t, "agent.db");
    ASSERT_OK(rows_open(ack.path, &domain, &t->err));
    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    loop_attach(loop, domain);
    ASSERT(add(loop, domain, &ack, &t->err));
    ASSERT_EQ(ack.ran, 0);
    loop_stop(loop);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(ack.ran, 1);
}

TEST(a_unit_that_breaks_a_constraint_rolls_back_alone)
{
    AUTO(domain) domain = NULL;
    AUTO(loop) loop = NULL;
    struct clock_fake clock;
    struct ack before = ack_of(1), bad = ack_of(2), after = ack_of(3);
    int64_t count;

    clock_fake_init(&clock, 0);
    loop = loop_new_fake(&clock);
    ASSERT_OK(rows_open(test_path(t, "agent.db"), &domain, &t->err));
    loop_attach(loop, domain);
    ASSERT(add(loop, domain, &before, &t->err));
    ASSERT_OK(loop_unit_begin(loop, domain, &t->err));
    ASSERT_OK(rows_add(domain, 2, &t->err));
    loop_after_commit(loop, &bad.effect);
    ASSERT_FAILS(rows_collide(domain, &t->err), ERR_CONFLICT);
    ASSERT_OK(loop_unit_end(loop, false, &t->err));
    ASSERT(add(loop, domain, &after, &t->err));
    loop_fake_tick(loop);
    ASSERT(before.ran == 1 && bad.dropped == 1 && bad.ran == 0 && after.ran == 1);
    ASSERT_OK(rows_count(domain, 2, &count, &t->err));
    ASSERT_EQ(count, 0);
    ASSERT_OK(rows_count(domain, 3, &count, &t->err));
    ASSERT_EQ(count, 1);
    loop_free(TAKE(loop));
}

TEST(a_failed_write_lets_nothing_out_and_reading_goes_on)
{
    AUTO(domain) domain = NULL;
    AUTO(domain) other = NULL;
    AUTO(loop) loop = NULL;
    struct ack first = ack_of(1), lost = ack_of(2), elsewhere = ack_of(3), refused = ack_of(4);
    int64_t count;

    disk_install();
    ASSERT_OK(rows_open(test_path(t, "agent.db"), &domain, &t->err));
    ASSERT_OK(rows_open(test_path(t, "journal.db"), &other, &t->err));
    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    loop_attach(loop, domain);
    loop_attach(loop, other);
    ASSERT(add(loop, domain, &first, &t->err));
    loop_stop(loop);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT(add(loop, domain, &lost, &t->err));
    disk_fail(FAULT_WRITE, FAULT_FULL, 1);
    loop_stop(loop);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(disk.fired, 1);
    ASSERT(lost.ran == 0 && lost.dropped == 1 && lost.why == ERR_STORAGE_FAILED);
    ASSERT_EQ(domain_health(domain), DOMAIN_READ_ONLY);
    ASSERT_FAILS(loop_unit_begin(loop, domain, &t->err), ERR_STORAGE_FAILED);
    ASSERT(!add(loop, domain, &refused, &t->err) && refused.ran + refused.dropped == 0);
    ASSERT_OK(rows_count(domain, 1, &count, &t->err));
    ASSERT_EQ(count, 1);
    ASSERT_OK(rows_count(domain, 2, &count, &t->err));
    ASSERT_EQ(count, 0);
    ASSERT(add(loop, other, &elsewhere, &t->err));
    loop_stop(loop);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(elsewhere.ran, 1);
    loop_free(TAKE(loop));
}

struct healths {
    struct loop *loop;
    enum domain_health seen[8];
    size_t n;
};

static void note_health(struct domain *domain, enum domain_health health, const struct err *why,
                        void *arg)
{
    struct healths *healths = arg;

    (void)domain, (void)why;
    healths->seen[healths->n++ % 8] = health;
    if (health == DOMAIN_OK)
        loop_stop(healths->loop);
}

TEST(a_domain_is_mended_when_the_disk_has_room)
{
    AUTO(domain) domain = NULL;
    AUTO(loop) loop = NULL;
    struct healths healths = { .n = 0 };
    struct ack lost = ack_of(1), kept = ack_of(2);
    int64_t count;

    disk_install();
    ASSERT_OK(rows_open(test_path(t, "agent.db"), &domain, &t->err));
    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    loop_attach(loop, domain);
    healths.loop = loop;
    loop_on_health(loop, note_health, &healths);
    ASSERT(add(loop, domain, &lost, &t->err));
    disk_fail(FAULT_WRITE, FAULT_FULL, 1);
    ASSERT_OK(loop_run(loop, &t->err)); /* ends when the domain is healthy again */
    ASSERT(lost.ran == 0 && lost.dropped == 1);
    ASSERT(healths.n == 2 && healths.seen[0] == DOMAIN_READ_ONLY && healths.seen[1] == DOMAIN_OK);
    loop_free(TAKE(loop));
    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    loop_attach(loop, domain);
    ASSERT(add(loop, domain, &kept, &t->err));
    loop_stop(loop);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(kept.ran, 1);
    loop_free(TAKE(loop));
    ASSERT_OK(rows_count(domain, 1, &count, &t->err));
    ASSERT_EQ(count, 0);
    ASSERT_OK(rows_count(domain, 2, &count, &t->err));
    ASSERT_EQ(count, 1);
    ASSERT_OK(domain_check(domain, &t->err));
}

TEST(a_failed_sync_ends_the_loop_after_everybody_was_told)
{
    AUTO(domain) domain = NULL;
    AUTO(domain) again = NULL;
    AUTO(loop) loop = NULL;
    struct ack first = ack_of(1), lost = ack_of(2);
    int64_t count;

    disk_install();
    ASSERT_OK(rows_open(test_path(t, "agent.db"), &domain, &t->err));
    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    loop_attach(loop, domain);
    ASSERT(add(loop, domain, &first, &t->err));
    loop_stop(loop);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT(add(loop, domain, &lost, &t->err));
    disk_fail(FAULT_SYNC, FAULT_FAIL, 1);
    /* Nobody stops it: it ends by itself. */
    ASSERT_FAILS(loop_run(loop, &t->err), ERR_STORAGE_FAILED);
    ASSERT_EQ(disk.fired, 1);
    ASSERT(lost.ran == 0 && lost.dropped == 1 && lost.why == ERR_STORAGE_FAILED);
    ASSERT_EQ(domain_health(domain), DOMAIN_LOST);
    loop_free(TAKE(loop));
    domain_free(TAKE(domain));
    /* The next start finds what was acknowledged; the other row is there whole or not at all. */
    ASSERT_OK(rows_open(test_path(t, "agent.db"), &again, &t->err));
    ASSERT_OK(rows_count(again, 1, &count, &t->err));
    ASSERT_EQ(count, 1);
    ASSERT_OK(rows_count(again, 2, &count, &t->err));
    ASSERT(count == 0 || count == 1);
}

#define SWEEP_TICKS 6

struct sweep {
    enum fault_op op;
    enum fault_how how;
    unsigned least; /* faults there must be room for: a tick needs several writes and a sync */
};

/* Ticks while the nth write or sync fails; then what a new start finds is compared with what was
 * let out. Returns whether the fault was reached. */
static bool sweep_once(struct test *t, const struct sweep *sweep, unsigned nth,
                       unsigned *acknowledged)
{
    const char *path =
        test_path(t, arena_printf(&t->arena, "%d-%d-%u.db", sweep->op, sweep->how, nth));
    struct domain *domain = NULL;
    AUTO(domain) again = NULL;
    struct clock_fake clock;
    struct loop *loop;
    struct ack acks[SWEEP_TICKS * 2];
    int64_t count;
    bool reached;

    clock_fake_init(&clock, 0);
    loop = loop_new_fake(&clock);
    disk_install();
    ASSERT_OK(rows_open(path, &domain, &t->err));
    loop_attach(loop, domain);
    disk_fail(sweep->op, sweep->how, nth);
    for (int i = 0; i < SWEEP_TICKS * 2; i++) {
        acks[i] = ack_of(i + 1);
        add(loop, domain, &acks[i], &t->err);
        if (i % 2)
            loop_fake_tick(loop);
    }
    reached = disk.fired > 0;
    loop_free(loop);
    disk_fail(FAULT_ANY, FAULT_NONE, 0);
    domain_free(domain);
    ASSERT_OK(rows_open(path, &again, &t->err));
    for (int i = 0; i < SWEEP_TICKS * 2; i++) {
        ASSERT_OK(rows_count(again, i + 1, &count, &t->err));
        ASSERT(acks[i].ran + acks[i].dropped <= 1);
        ASSERT(count == 1 || (count == 0 && !acks[i].ran));
        /* Only a failed sync leaves it open; whatever else was dropped is gone. */
        if (sweep->op == FAULT_WRITE)
            ASSERT_EQ(count, acks[i].ran);
        *acknowledged += (unsigned)acks[i].ran;
    }
    ASSERT_OK(rows_torn(again, 1, &count, &t->err));
    ASSERT_EQ(count, 0);
    return reached;
}

TEST(after_any_failing_write_or_sync_exactly_the_acknowledged_ticks_are_found)
{
    static const struct sweep sweeps[] = {
        { FAULT_WRITE, FAULT_FAIL, SWEEP_TICKS },
        { FAULT_WRITE, FAULT_FULL, SWEEP_TICKS },
        { FAULT_WRITE, FAULT_TEAR, SWEEP_TICKS },
        { FAULT_SYNC, FAULT_FAIL, SWEEP_TICKS },
    };
    unsigned acknowledged = 0, nth;

    for (size_t i = 0; i < ARRAY_LEN(sweeps); i++) {
        for (nth = 1; sweep_once(t, &sweeps[i], nth, &acknowledged); nth++)
            ;
        ASSERT(nth > sweeps[i].least);
    }
    ASSERT(acknowledged > 0);
}

/* ---- kill -9 ---- */

#define KILLS 200

/* A kill takes nothing from the kernel's memory, so the suite runs without real syncs. Starts the
 * victim, reads `acks` acknowledgements, kills it, reads what was still on its way.
 * Returns the last number it acknowledged, or before. */
static int64_t kill_after(const char *path, unsigned acks, int64_t before)
{
    int fds[2];
    int64_t id = before, next;
    unsigned seen = 0;
    pid_t pid;

    if (pipe(fds) < 0)
        FAIL("pipe: %s", strerror(errno));
    pid = fork();
    if (pid == 0) {
        close(fds[0]);
        victim_run(path, fds[1]);
    }
    close(fds[1]);
    while (read(fds[0], &next, sizeof(next)) == sizeof(next)) {
        /* In order, none left out, none twice. */
        if (seen > 0)
            ASSERT_EQ(next, id + 1);
        ASSERT(next > before);
        id = next;
        if (seen++ == acks)
            kill(pid, SIGKILL);
    }
    close(fds[0]);
    kill(pid, SIGKILL);
    if (waitpid(pid, NULL, 0) != pid)
        FAIL("waitpid: %s", strerror(errno));
    return id;
}

TEST(what_was_acknowledged_before_kill_9_is_there_once_and_whole, .timeout_s = 120)
{
    const char *path = test_path(t, "agent.db");
    int64_t acknowledged = 0, max, torn;
    uint64_t x = 99;

    for (int i = 0; i < KILLS; i++) {
        AUTO(domain) domain = NULL;

        x = x * 6364136223846793005u + 1442695040888963407u;
        acknowledged = kill_after(path, (unsigned)(x >> 33) % 24, acknowledged);
        ASSERT_OK(rows_open(path, &domain, &t->err));
        ASSERT_OK(rows_max(domain, &max, &t->err));
        ASSERT(max >= acknowledged);
        ASSERT_OK(rows_torn(domain, VICTIM_ROWS, &torn, &t->err));
        ASSERT_EQ(torn, 0);
    }
    ASSERT(acknowledged > KILLS * 5);
}
