/* Databases and disks that fail at every step: a write happens as a whole or not at all, and what a
 * person wrote is recorded in the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "db/db_fault.h"
#include "view_rig.h"

static struct rig *open_faulty(struct test *t, struct db_fault *fault, const char *view_dir)
{
    struct rig *rig = NEW(struct rig);
    struct domain_config config = { .name = "agent",
                                    .url = db_test_domain_url(t, "agent"),
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count,
                                    .fault = fault };

    rig->t = t;
    rig->view_dir = view_dir;
    ASSERT_OK(domain_open(&config, &rig->domain, &t->err));
    ASSERT_OK(change_open(rig->domain, NULL, NULL, &rig->change, &t->err));
    clock_fake_init(&rig->clock, clock_wall_ms(clock_system()));
    rig->loop = loop_new_fake(&rig->clock);
    loop_attach(rig->loop, rig->domain);
    rig_start(rig);
    view_advance(rig, 10);
    return rig;
}

/* One write with the nth step failing; whether it happened. */
static bool try_write(struct rig *rig, struct db_fault *fault, enum db_fault_at at, unsigned nth,
                      const char *path)
{
    struct test *t = rig->t;
    struct file_write write = { .tree = TREE,
                                .path = str_from(path),
                                .content = STR("two"),
                                .base = 1,
                                .author = STR("owner"),
                                .operation_id = str_from(path) };
    struct file file;
    int r;

    err_reset(&t->err);
    ASSERT_OK(loop_unit_begin(rig->loop, rig->domain, &t->err));
    *fault = (struct db_fault){ .at = at, .kind = DB_FAULT_CONFLICT, .nth = nth };
    r = file_put(rig->files, &write, &t->arena, &file, &t->err);
    *fault = (struct db_fault){ .at = DB_FAULT_NEVER };
    if (loop_unit_end(rig->loop, r >= 0, NULL) < 0)
        r = -1;
    loop_fake_tick(rig->loop);
    return r == 1;
}

/* Fails the first step, the second and so on, until it passes. */
static unsigned sweep(struct rig *rig, struct db_fault *fault, enum db_fault_at at,
                      const char *path)
{
    struct file file;
    unsigned nth = 1;

    ASSERT_EQ(rig_write(rig, path, "one", 0, &file), 1);
    for (; !try_write(rig, fault, at, nth, path); nth++) {
        ASSERT(nth < 100);
        ASSERT_TEXT(history(rig, path), "owner:one");
    }
    ASSERT_TEXT(history(rig, path), "owner:two owner:one");
    ASSERT(!try_write(rig, fault, DB_FAULT_NEVER, 0, path));
    ASSERT_TEXT(history(rig, path), "owner:two owner:one");
    return nth - 1;
}

DB_TEST(a_write_that_fails_at_any_step_leaves_nothing_behind)
{
    struct db_fault fault = { .at = DB_FAULT_NEVER };
    AUTO(rig) rig = open_faulty(t, &fault, NULL);

    ASSERT(sweep(rig, &fault, DB_FAULT_STEP, "dir/a.md") >= 4);
    sweep(rig, &fault, DB_FAULT_PREPARE, "dir/b.md");
}

TEST(an_edit_is_recorded_in_the_end_whichever_step_fails, .param = &db_test_sqlite)
{
    struct db_fault fault = { .at = DB_FAULT_NEVER };
    AUTO(rig) rig = open_faulty(t, &fault, test_path(t, "files"));

    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    for (unsigned nth = 1; nth <= 20; nth++) {
        const char *text = arena_printf(&t->arena, "mine%u", nth);

        human_does(rig, arena_printf(&t->arena, "printf %s > a.md", text));
        fault = (struct db_fault){ .at = nth % 2 ? DB_FAULT_STEP : DB_FAULT_PREPARE,
                                   .kind = DB_FAULT_BUSY,
                                   .nth = (nth + 1) / 2 };
        view_settle(rig);
        fault = (struct db_fault){ .at = DB_FAULT_NEVER };
        view_advance(rig, 130000);
        ASSERT_TEXT(stored(rig, "a.md"), text);
        ASSERT_TEXT(disk(rig, "a.md"), text);
    }
}

/* The database is another process here, so that only the view finds no space. */
TEST(a_full_disk_holds_up_no_commit_and_the_old_text_stays, .param = &db_test_postgres)
{
    AUTO(rig) rig = view_open(t);
    struct rlimit all, little = { .rlim_cur = 16 };
    const char *text = "a text that is longer than what the disk has left";

    signal(SIGXFSZ, SIG_IGN);
    agent_writes(rig, "a.md", "short");
    view_settle(rig);
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &all), 0);
    little.rlim_max = all.rlim_max;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
    agent_writes(rig, "a.md", text);
    view_advance(rig, 3000);
    ASSERT_TEXT(stored(rig, "a.md"), text);
    ASSERT_TEXT(disk(rig, "a.md"), "short");
    ASSERT_CONTAINS(problem(rig), "can't be written");
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &all), 0);
    view_advance(rig, 130000);
    ASSERT_TEXT(disk(rig, "a.md"), text);
    ASSERT_TEXT(problem(rig), "");
    ASSERT_TEXT(history(rig, "a.md"), arena_printf(&t->arena, "agent:%s agent:short", text));
}
