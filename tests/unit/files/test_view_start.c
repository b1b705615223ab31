/* The view over starts and crashes, and at random.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/rand.h"
#include "view_rig.h"

/* Ends and starts again. A crash forgets what was not saved before it. */
static void restart(struct rig *rig, bool crash)
{
    const char *state = arena_printf(&rig->t->arena, "%s/.state", rig->view_dir);
    struct str kept = STR_NONE;

    if (crash && access(state, F_OK) == 0)
        kept = test_read_file(rig->t, state);
    files_free(rig->files);
    if (crash && kept.p)
        test_write_file(state, kept.p, kept.n);
    else if (crash)
        unlink(state);
    loop_fake_tick(rig->loop); /* a job that was under way ends */
    loop_fake_tick(rig->loop);
}

static void restart_and_settle(struct rig *rig, bool crash)
{
    restart(rig, crash);
    rig_start(rig);
    view_settle(rig);
}

DB_TEST(a_crash_between_commit_and_writing_is_repaired)
{
    AUTO(rig) rig = view_open(t);
    struct file file;

    agent_writes(rig, "a.md", "one");
    agent_writes(rig, "b.md", "one");
    view_settle(rig);
    /* Committed, and the daemon is gone before the pool wrote. */
    agent_writes(rig, "a.md", "two");
    agent_writes(rig, "new/c.md", "three");
    ASSERT_EQ(rig_remove(rig, "b.md", 1, &file), 1);
    restart_and_settle(rig, true);
    ASSERT_TEXT(disk(rig, "a.md"), "two");
    ASSERT_TEXT(disk(rig, "new/c.md"), "three");
    ASSERT_TEXT(disk(rig, "b.md"), "(none)");
    ASSERT_TEXT(history(rig, "a.md"), "agent:two agent:one");
    ASSERT_TEXT(history(rig, "b.md"), "owner:- agent:one");
    ASSERT_TEXT(history(rig, "new/c.md"), "agent:three");
}

DB_TEST(what_a_person_did_while_nobody_ran_is_recorded)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "a.md", "one");
    agent_writes(rig, "b.md", "two");
    agent_writes(rig, "c.md", "three");
    view_settle(rig);
    restart(rig, false);
    human_does(rig, "printf mine > a.md; rm b.md; mv c.md d.md; printf new > e.md");
    rig_start(rig);
    view_settle(rig);
    ASSERT_TEXT(history(rig, "a.md"), "owner:mine agent:one");
    ASSERT_TEXT(history(rig, "b.md"), "owner:- agent:two");
    ASSERT_TEXT(history(rig, "c.md"), "owner:- agent:three");
    ASSERT_TEXT(history(rig, "d.md"), "owner:three");
    ASSERT_TEXT(history(rig, "e.md"), "owner:new");
}

TEST(a_second_start_with_nothing_new_records_nothing, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    for (int i = 0; i < 3; i++)
        restart_and_settle(rig, i == 1);
    ASSERT_TEXT(history(rig, "a.md"), "agent:one");
    ASSERT_TEXT(disk(rig, "a.md"), "one");
}

TEST(old_content_on_disk_is_not_taken_for_an_edit_without_the_state, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    clock_advance(&rig->clock, 60000);
    agent_writes(rig, "a.md", "two");
    restart(rig, true);
    unlink(arena_printf(&t->arena, "%s/.state", rig->view_dir));
    rig_start(rig);
    view_settle(rig);
    ASSERT_TEXT(history(rig, "a.md"), "agent:two agent:one");
    ASSERT_TEXT(disk(rig, "a.md"), "two");
}

TEST(a_damaged_state_costs_only_time, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);
    const char *state = arena_printf(&t->arena, "%s/.state", rig->view_dir);

    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    restart(rig, false);
    test_write_file(state, "\0\377 nonsense", 12);
    rig_start(rig);
    view_settle(rig);
    ASSERT_TEXT(history(rig, "a.md"), "agent:one");
    ASSERT_EQ(memcmp(test_read_file(t, state).p, "1 ", 2), 0);
}

TEST(an_edit_that_came_out_of_an_exchange_before_a_crash_is_recorded, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "dir/a.md", "one");
    view_settle(rig);
    restart(rig, false);
    human_does(rig, "mkdir -p .dormouse/out/dir && printf mine > .dormouse/out/dir/a.md &&"
                    " printf one > .dormouse/out/b.md && mkdir -p .dormouse/in/dir &&"
                    " printf half > .dormouse/in/dir/a.md");
    rig_start(rig);
    view_settle(rig);
    ASSERT_TEXT(history(rig, "dir/a.md"), "owner:mine agent:one");
    ASSERT_TEXT(disk(rig, "dir/a.md"), "mine");
    ASSERT_TEXT(stored(rig, "b.md"), "one");
    ASSERT_EQ(access(disk_path(rig, ".dormouse/out/dir/a.md"), F_OK), -1);
}

/* ---- at random ---- */

#define PATHS 5

static const char *path_of(unsigned i)
{
    static const char *const paths[PATHS] = { "a.md", "b.md", "dir/a.md", "dir/b.md",
                                              "dir/e/c.md" };

    return paths[i % PATHS];
}

struct told {
    const char *path, *content;
};

/* After everything settled: disk and store say the same, and no text of a person is lost. */
static void check(struct rig *rig, const struct told *told, unsigned count, unsigned seed)
{
    for (unsigned i = 0; i < PATHS; i++)
        if (strcmp(disk(rig, path_of(i)), stored(rig, path_of(i))) != 0)
            FAIL("seed %u: %s is \"%s\" on disk, \"%s\" in the store (%s)", seed, path_of(i),
                 disk(rig, path_of(i)), stored(rig, path_of(i)), history(rig, path_of(i)));
    for (unsigned i = 0; i < count; i++)
        if (!strstr(history(rig, told[i].path),
                    arena_printf(&rig->t->arena, "owner:%s", told[i].content)))
            FAIL("seed %u: \"%s\" of %s is lost: %s", seed, told[i].content, told[i].path,
                 history(rig, told[i].path));
}

static void human_writes(struct rig *rig, const char *path, const char *content, bool by_rename)
{
    human_does(rig, arena_printf(&rig->t->arena, "mkdir -p dir/e; printf %s > %s%s", content,
                                 by_rename ? ".new; mv .new " : "", path));
}

/* One seed: agents write and remove, a person edits and removes, daemons end and crash. An edit
 * over another edit before anybody could look is the person's own doing. */
static void run_seed(struct rig *rig, unsigned seed)
{
    struct told told[64];
    bool edited[PATHS] = { false };
    unsigned count = 0;

    srand(seed);
    for (unsigned i = 0; i < 25; i++) {
        unsigned which = (unsigned)rand() % PATHS;
        const char *text = arena_printf(&rig->t->arena, "s%un%u", seed, i);
        struct file file;

        switch (rand() % 8) {
        case 0:
        case 1:
            agent_writes(rig, path_of(which), text);
            break;
        case 2:
            rig_remove(rig, path_of(which), FILE_ANY_VERSION, &file);
            break;
        case 3:
        case 4:
            if (edited[which])
                break;
            human_writes(rig, path_of(which), text, rand() % 2);
            edited[which] = true;
            told[count++] = (struct told){ path_of(which), text };
            break;
        case 5:
            view_advance(rig, rand() % 800);
            break;
        case 6:
            restart(rig, rand() % 2);
            rig_start(rig);
            break;
        default:
            view_settle(rig);
            memset(edited, 0, sizeof(edited));
        }
    }
    view_settle(rig);
    view_advance(rig, 130000);
    check(rig, told, count, seed);
}

TEST(whatever_happens_disk_and_store_agree_and_no_edit_is_lost, .param = &db_test_sqlite,
     .timeout_s = 120)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "a.md", "first");
    view_settle(rig);
    for (unsigned seed = 1; seed <= 40; seed++)
        run_seed(rig, seed);
}

TEST(a_look_without_a_daemon_names_what_is_wrong, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);
    struct file_problem *problems;
    size_t count;

    files_look(test_path(t, "none"), &t->arena, &problems, &count);
    ASSERT_EQ(count, 0);
    agent_writes(rig, "knowledge/a.md", "one");
    view_settle(rig);
    files_look(rig->view_dir, &t->arena, &problems, &count);
    ASSERT_EQ(count, 0);
    human_does(rig, "ln -s /etc/passwd knowledge/link.md; printf '\\377' > knowledge/odd.md");
    files_look(rig->view_dir, &t->arena, &problems, &count);
    ASSERT_EQ(count, 2);
    ASSERT_STR(problems[0].tree, "agents/coach");
    ASSERT_TEXT(stored(rig, "knowledge/odd.md"), "(none)");
}

TEST(many_files_are_recorded_in_slices, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);
    struct file *rows;
    size_t count;

    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    human_does(rig, "mkdir many; for i in $(seq 500); do echo $i > many/$i.md; done");
    view_settle(rig);
    ASSERT_OK(file_list(rig->files, TREE, STR("many/"), &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 500);
    /* And all of them appear again where nothing of the view is left. */
    restart(rig, false);
    ASSERT_EQ(system(arena_printf(&t->arena, "rm -r %s", rig->view_dir)), 0);
    rig_start(rig);
    view_settle(rig);
    ASSERT_TEXT(disk(rig, "many/500.md"), "500\n");
    ASSERT_TEXT(history(rig, "many/500.md"), "owner:500\n");
}
