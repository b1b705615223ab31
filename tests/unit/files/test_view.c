/* The view while the daemon runs: what appears on disk, and what a person does there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <uv.h>

#include "agent/agent.h"
#include "view_rig.h"

DB_TEST(a_version_appears_on_disk_for_the_owner_alone)
{
    AUTO(rig) rig = view_open(t);
    struct stat st;

    agent_writes(rig, "knowledge/plans/may.md", "one");
    view_settle(rig);
    ASSERT_TEXT(disk(rig, "knowledge/plans/may.md"), "one");
    ASSERT_EQ(stat(disk_path(rig, "knowledge/plans/may.md"), &st), 0);
    ASSERT_EQ(st.st_mode & 0777, 0600);
    ASSERT_EQ(stat(disk_path(rig, "knowledge/plans"), &st), 0);
    ASSERT_EQ(st.st_mode & 0777, 0700);
    agent_writes(rig, "knowledge/plans/may.md", "two");
    view_settle(rig);
    ASSERT_TEXT(disk(rig, "knowledge/plans/may.md"), "two");
    ASSERT_TEXT(history(rig, "knowledge/plans/may.md"), "agent:two agent:one");
    ASSERT_TEXT(problem(rig), "");
}

TEST(without_a_view_nothing_is_written, .param = &db_test_sqlite)
{
    AUTO(rig) rig = rig_open(t);

    agent_writes(rig, "a.md", "one");
    view_advance(rig, 5000);
    ASSERT_EQ(access(test_path(t, "files"), F_OK), -1);
}

TEST(what_is_rolled_back_never_appears, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);
    struct file file;

    ASSERT_OK(loop_unit_begin(rig->loop, rig->domain, &t->err));
    ASSERT_EQ(file_put(rig->files,
                       &(struct file_write){ .tree = TREE,
                                             .path = STR("a.md"),
                                             .content = STR("x"),
                                             .author = STR("agent") },
                       &t->arena, &file, &t->err),
              1);
    loop_unit_end(rig->loop, false, NULL);
    view_settle(rig);
    ASSERT_TEXT(disk(rig, "a.md"), "(none)");
}

TEST(a_removed_file_and_its_empty_folders_go, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);
    struct file file;

    agent_writes(rig, "a/b/c.md", "one");
    agent_writes(rig, "a/d.md", "two");
    view_settle(rig);
    ASSERT_EQ(rig_remove(rig, "a/b/c.md", 1, &file), 1);
    view_settle(rig);
    ASSERT_EQ(access(disk_path(rig, "a/b"), F_OK), -1);
    ASSERT_TEXT(disk(rig, "a/d.md"), "two");
    ASSERT_EQ(access(disk_path(rig, ".dormouse/out/a/b/c.md"), F_OK), -1);
}

DB_TEST(an_edit_on_disk_is_the_owners_version)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "knowledge/a.md", "one");
    view_settle(rig);
    human_does(rig, "printf mine > knowledge/a.md");
    view_settle(rig);
    ASSERT_TEXT(history(rig, "knowledge/a.md"), "owner:mine agent:one");
    ASSERT_TEXT(disk(rig, "knowledge/a.md"), "mine");
    agent_writes(rig, "knowledge/a.md", "three");
    view_settle(rig);
    ASSERT_TEXT(disk(rig, "knowledge/a.md"), "three");
    ASSERT_TEXT(history(rig, "knowledge/a.md"), "agent:three owner:mine agent:one");
}

TEST(an_edit_keeps_what_is_known_about_untrusted_text, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);
    struct file file;

    ASSERT_EQ(rig_put(rig,
                      &(struct file_write){ .tree = TREE,
                                            .path = STR("a.md"),
                                            .content = STR("x"),
                                            .author = STR("agent"),
                                            .taint = STR("web") },
                      &file),
              1);
    view_settle(rig);
    human_does(rig, "printf y >> a.md");
    view_settle(rig);
    ASSERT_EQ(file_get(rig->files, TREE, STR("a.md"), &t->arena, &file, &t->err), 1);
    ASSERT_STR(file.content, "xy");
    ASSERT_STR(file.taint, "web");
}

TEST(editors_that_save_by_renaming_make_one_version, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    human_does(rig, "printf swap > .a.md.swp && touch 4913 && rm 4913 && mv a.md a.md~ &&"
                    " printf mine > a.md && printf x > '#a.md#' && rm .a.md.swp");
    view_settle(rig);
    human_does(rig, "printf again > x.tmp && mv x.tmp a.md");
    view_settle(rig);
    ASSERT_TEXT(history(rig, "a.md"), "owner:again owner:mine agent:one");
    ASSERT_TEXT(stored(rig, "a.md~"), "(none)");
    ASSERT_TEXT(problem(rig), "");
}

TEST(a_file_that_is_away_for_a_moment_was_not_removed, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    human_does(rig, "mv a.md /tmp/away-$$ && mv /tmp/away-$$ .away");
    view_advance(rig, 1000);
    ASSERT_TEXT(stored(rig, "a.md"), "one");
    human_does(rig, "mv .away a.md");
    view_settle(rig);
    ASSERT_TEXT(history(rig, "a.md"), "agent:one");
}

TEST(new_removed_and_renamed_files_are_recorded, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "a.md", "one");
    agent_writes(rig, "dir/b.md", "two");
    view_settle(rig);
    human_does(rig, "mkdir -p new/deep && printf hello > new/deep/c.md && rm a.md && mv dir moved");
    view_settle(rig);
    ASSERT_TEXT(history(rig, "new/deep/c.md"), "owner:hello");
    ASSERT_TEXT(history(rig, "a.md"), "owner:- agent:one");
    ASSERT_TEXT(history(rig, "dir/b.md"), "owner:- agent:two");
    ASSERT_TEXT(history(rig, "moved/b.md"), "owner:two");
    human_does(rig, "printf more > new/deep/d.md; mv moved/b.md moved/B.md");
    view_settle(rig);
    view_settle(rig);
    ASSERT_TEXT(stored(rig, "new/deep/d.md"), "more");
    ASSERT_TEXT(disk(rig, "moved/B.md"), "two");
    ASSERT_TEXT(disk(rig, "moved/b.md"), "(none)");
    ASSERT_TEXT(problem(rig), "");
}

DB_TEST(an_edit_that_meets_an_agents_write_is_kept_with_it)
{
    AUTO(rig) rig = view_open(t);
    struct file file;

    agent_writes(rig, "a.md", "one");
    agent_writes(rig, "b.md", "one");
    view_settle(rig);
    human_does(rig, "printf mine > a.md; printf mine > b.md");
    agent_writes(rig, "a.md", "two");
    ASSERT_EQ(rig_remove(rig, "b.md", 1, &file), 1);
    view_settle(rig);
    ASSERT_TEXT(history(rig, "a.md"), "owner:mine agent:two agent:one");
    ASSERT_TEXT(disk(rig, "a.md"), "mine");
    ASSERT_TEXT(history(rig, "b.md"), "owner:mine owner:- agent:one");
    ASSERT_TEXT(disk(rig, "b.md"), "mine");
    ASSERT_EQ(access(disk_path(rig, ".dormouse/out/a.md"), F_OK), -1);
}

TEST(a_file_that_is_not_admitted_is_a_problem_and_no_version, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "knowledge/a.md", "a");
    view_settle(rig);
    human_does(rig, "echo mine > AGENTS.md");
    view_settle(rig);
    ASSERT_TEXT(stored(rig, "AGENTS.md"), "(none)");
    ASSERT_TEXT(problem(rig), "AGENTS.md: what stands there is not recorded: not for files");
    ASSERT_TEXT(disk(rig, "AGENTS.md"), "mine\n");
    human_does(rig, "rm AGENTS.md");
    view_settle(rig);
    ASSERT_TEXT(problem(rig), "");
}

TEST(a_link_is_never_followed, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "a.md", "one");
    test_write_file(test_path(t, "victim"), "safe", 4);
    view_settle(rig);
    human_does(rig, "rm a.md && ln -s ../../../victim a.md");
    agent_writes(rig, "a.md", "two");
    view_settle(rig);
    ASSERT_STR(test_read_file(t, test_path(t, "victim")), "safe");
    ASSERT_CONTAINS(problem(rig), "a.md: a link");
    ASSERT_TEXT(history(rig, "a.md"), "agent:two agent:one");
    human_does(rig, "rm a.md");
    view_settle(rig);
    view_advance(rig, 120000);
    ASSERT_TEXT(disk(rig, "a.md"), "two");
    ASSERT_TEXT(problem(rig), "");
}

TEST(a_folder_that_became_a_link_is_not_written_through, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "dir/a.md", "one");
    view_settle(rig);
    ASSERT_EQ(mkdir(test_path(t, "elsewhere"), 0700), 0);
    human_does(rig, "mv dir old && ln -s ../../../elsewhere dir");
    agent_writes(rig, "dir/a.md", "two");
    view_advance(rig, 1000);
    ASSERT_EQ(access(test_path(t, "elsewhere/a.md"), F_OK), -1);
    view_settle(rig);
    ASSERT_EQ(access(test_path(t, "elsewhere/a.md"), F_OK), -1);
    human_does(rig, "rm dir");
    view_advance(rig, 120000);
    ASSERT_TEXT(disk(rig, "dir/a.md"), stored(rig, "dir/a.md"));
}

TEST(what_can_not_be_recorded_is_left_alone_and_told, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);
    static const struct {
        const char *make, *unmake, *told;
    } cases[] = {
        { "head -c 102401 /dev/zero > knowledge/big.md", "rm knowledge/big.md", "100 KB" },
        { "printf '\\377\\376' > knowledge/odd.md", "rm knowledge/odd.md", "UTF-8" },
        { "printf x > 'bad name.'", "rm 'bad name.'", "dot" },
        { "printf x > nul.txt", "rm nul.txt", "device" },
        { "mkfifo pipe", "rm pipe", "neither" },
        { "ln -s /etc/passwd knowledge/link.md", "rm knowledge/link.md", "link" },
        { "ln -s / root", "rm root", "link" },
        { "head -c 1048577 /dev/zero > big.bin", "rm big.bin", "1 MB" },
        { "printf x > \"$(printf 'a\\342\\200\\256b.md')\"", "rm a*b.md", "U+202E" },
    };

    agent_writes(rig, "knowledge/a.md", "one");
    view_settle(rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct file *rows;
        size_t count;

        human_does(rig, cases[i].make);
        view_settle(rig);
        ASSERT_CONTAINS(problem(rig), cases[i].told);
        ASSERT_OK(file_list(rig->files, TREE, STR(""), &t->arena, &rows, &count, &t->err));
        ASSERT_EQ(count, 1);
        human_does(rig, cases[i].unmake);
        view_settle(rig);
        ASSERT_TEXT(problem(rig), "");
    }
    human_does(rig, "head -c 102400 /dev/zero > knowledge/fits.md; printf '\\377' > any.bin");
    view_settle(rig);
    ASSERT_TEXT(problem(rig), "");
    ASSERT_TEXT(stored(rig, "any.bin"), "\377");
}

static int refuse(struct file_watcher *watcher, struct str tree, const struct file *after,
                  struct err *err)
{
    (void)watcher, (void)tree;
    return str_is(after->author, "owner") ? err_set(err, ERR_SCHEMA_VIOLATION, "no, thanks") : 0;
}

TEST(an_edit_that_is_refused_stays_and_is_put_aside_by_the_next_version, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);
    struct file_watcher watcher = { .written = refuse };

    files_watch(rig->files, &watcher);
    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    human_does(rig, "printf mine > a.md");
    view_settle(rig);
    ASSERT_CONTAINS(problem(rig), "a.md: what stands there is not recorded: no, thanks");
    ASSERT_TEXT(disk(rig, "a.md"), "mine");
    ASSERT_TEXT(history(rig, "a.md"), "agent:one");
    agent_writes(rig, "a.md", "two");
    view_settle(rig);
    ASSERT_TEXT(disk(rig, "a.md"), "two");
    ASSERT_TEXT(disk(rig, "a.md.~1~"), "mine");
}

TEST(a_view_that_can_not_be_written_fails_no_commit_and_is_tried_again, .param = &db_test_sqlite)
{
    AUTO(rig) rig = NULL;

    test_write_file(test_path(t, "files"), "in the way", 10);
    rig = view_open(t);
    agent_writes(rig, "dir/a.md", "one");
    view_settle(rig);
    ASSERT_CONTAINS(problem(rig), "can't be opened");
    ASSERT_EQ(unlink(test_path(t, "files")), 0);
    view_advance(rig, 60000);
    ASSERT_TEXT(disk(rig, "dir/a.md"), "one");
    ASSERT_TEXT(problem(rig), "");
    human_does(rig, "mv dir gone && printf file > dir");
    agent_writes(rig, "dir/a.md", "two");
    view_advance(rig, 500);
    ASSERT_TEXT(stored(rig, "dir/a.md"), "two");
    human_does(rig, "rm dir && mv gone dir");
    view_advance(rig, 120000);
    ASSERT_TEXT(disk(rig, "dir/a.md"), stored(rig, "dir/a.md"));
}

TEST(a_tree_folder_that_vanished_is_written_again, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    agent_writes(rig, "a.md", "one");
    agent_writes(rig, "b/c.md", "two");
    view_settle(rig);
    ASSERT_EQ(system(arena_printf(&t->arena, "rm -r %s/agents/coach", rig->view_dir)), 0);
    view_settle(rig);
    ASSERT_TEXT(disk(rig, "a.md"), "one");
    ASSERT_TEXT(disk(rig, "b/c.md"), "two");
    ASSERT_TEXT(history(rig, "a.md"), "agent:one");
}

TEST(a_folder_of_no_agent_is_left_alone, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);
    struct file *rows;
    size_t count;

    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    human_does(rig, "mkdir ../stranger && printf x > ../stranger/a.md");
    view_settle(rig);
    ASSERT_CONTAINS(problem(rig), "no such agent");
    ASSERT_OK(
        file_list(rig->files, STR("agents/stranger"), STR(""), &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 0);
    human_does(rig, "mkdir -p ../../users/me && printf y > ../../users/me/day.md");
    view_settle(rig);
    ASSERT_OK(file_list(rig->files, STR("users/me"), STR(""), &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 1);
}

/* ---- on the system's own loop ---- */

struct live {
    struct loop_timer timer;
    struct rig *rig;
    int64_t deadline;
    int step;
};

static void look(struct loop_timer *timer)
{
    struct live *live = CONTAINER_OF(timer, struct live, timer);
    struct rig *rig = live->rig;

    if (live->step == 0 && strcmp(disk(rig, "a.md"), "one") == 0) {
        human_does(rig, "printf mine > a.md");
        live->step = 1;
    } else if (live->step == 1 && strcmp(stored(rig, "a.md"), "mine") == 0)
        loop_stop(rig->loop);
    if (clock_mono_ms(clock_system()) > live->deadline)
        FAIL("step %d: %s on disk, %s stored", live->step, disk(rig, "a.md"), stored(rig, "a.md"));
    loop_timer_start(rig->loop, timer, 10);
}

TEST(the_kernel_tells_of_edits_on_a_real_loop, .param = &db_test_sqlite)
{
    struct rig *rig = NEW(struct rig);
    struct live live = { .timer = { .fire = look },
                         .rig = rig,
                         .deadline = clock_mono_ms(clock_system()) + 30000 };
    struct file file;

    rig->t = t;
    rig->view_dir = test_path(t, "files");
    rig->domain = db_test_open(t, migrations_agent, migrations_agent_count);
    ASSERT_OK(change_open(rig->domain, NULL, NULL, &rig->change, &t->err));
    ASSERT_OK(loop_new(NULL, &rig->loop, &t->err));
    loop_attach(rig->loop, rig->domain);
    rig_start(rig);
    ASSERT_OK(loop_unit_begin(rig->loop, rig->domain, &t->err));
    ASSERT_EQ(file_put(rig->files,
                       &(struct file_write){ .tree = TREE,
                                             .path = STR("a.md"),
                                             .content = STR("one"),
                                             .author = STR("agent") },
                       &t->arena, &file, &t->err),
              1);
    ASSERT_OK(loop_unit_end(rig->loop, true, &t->err));
    loop_timer_start(rig->loop, &live.timer, 10);
    ASSERT_OK(loop_run(rig->loop, &t->err));
    loop_timer_stop(rig->loop, &live.timer);
    files_free(rig->files);
    rig->files = NULL;
    loop_settle(rig->loop);
    rig_free(rig);
}
