/* Frames, head and tail, the executable, control groups.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "harness/test.h"
#include "sandbox/cgroup.h"
#include "sandbox/frame.h"
#include "sandbox/hand_int.h"
#include "sandbox/keep.h"
#include "sandbox/sandbox.h"

/* ---- frames ---- */

TEST(a_frame_comes_back_as_it_was_put)
{
    AUTO_BUF out = BUF_INIT(1024);
    struct str json;
    size_t used;

    ASSERT_EQ(frame_put(&out, STR("{\"a\":1}")), 0);
    ASSERT_EQ(frame_put(&out, STR("[]")), 0);
    ASSERT_EQ(frame_take(buf_str(&out), 100, &json, &used, &t->err), 1);
    ASSERT_STR(json, "{\"a\":1}");
    ASSERT_EQ(frame_take(str_skip(buf_str(&out), used), 100, &json, &used, &t->err), 1);
    ASSERT_STR(json, "[]");
}

TEST(a_frame_in_parts_waits_for_the_rest)
{
    AUTO_BUF out = BUF_INIT(1024);
    struct str json;
    size_t used;

    ASSERT_EQ(frame_put(&out, STR("[1]")), 0);
    for (size_t n = 0; n < out.n; n++)
        ASSERT_EQ(frame_take(str_of(out.p, n), 100, &json, &used, &t->err), 0);
}

TEST(frames_are_bounded_both_ways)
{
    AUTO_BUF out = BUF_INIT(16);
    struct str json;
    size_t used;

    ASSERT_EQ(frame_put(&out, STR("")), -1);
    ASSERT_EQ(frame_put(&out, STR("0123456789abc")), -1);
    ASSERT_EQ(out.n, 0);
    ASSERT_EQ(frame_put(&out, STR("0123456789ab")), 0);
    ASSERT_FAILS(frame_take(buf_str(&out), 11, &json, &used, &t->err), ERR_TOO_LARGE);
    ASSERT_FAILS(frame_take(STR("\xff\xff\xff\xff"), FRAME_BYTES, &json, &used, &t->err),
                 ERR_TOO_LARGE);
    ASSERT_FAILS(frame_take(STR("\0\0\0\0"), 11, &json, &used, &t->err), ERR_BAD_REQUEST);
}

/* ---- head and tail ---- */

static const char *kept(struct test *t, size_t bytes, size_t total, size_t step)
{
    AUTO_BUF out = BUF_INIT(1 << 20);
    struct keep keep;
    char *all = arena_alloc(&t->arena, total + 1, 1);

    for (size_t i = 0; i < total; i++)
        all[i] = (char)('a' + i % 26);
    keep_init(&keep, bytes);
    for (size_t at = 0; at < total; at += step)
        keep_add(&keep, all + at, total - at < step ? total - at : step);
    keep_write(&keep, &out);
    keep_release(&keep);
    return arena_text(&t->arena, buf_text(&out));
}

TEST(what_fits_is_kept_whole_however_it_comes)
{
    for (size_t step = 1; step <= 20; step++)
        ASSERT_TEXT(kept(t, 20, 20, step), "abcdefghijklmnopqrst");
}

TEST(what_does_not_fit_keeps_both_ends_and_says_how_much_is_missing)
{
    for (size_t step = 1; step <= 52; step++)
        ASSERT_TEXT(kept(t, 8, 52, step), "abcd\n[... 44 bytes left out ...]\nwxyz");
}

/* What is left of twenty times the character when n bytes are kept. */
static const char *kept_of(struct test *t, const char *character, size_t n)
{
    AUTO_BUF out = BUF_INIT(256);
    struct keep keep;

    keep_init(&keep, n);
    for (int i = 0; i < 20; i++)
        keep_add(&keep, character, strlen(character));
    keep_write(&keep, &out);
    keep_release(&keep);
    return arena_text(&t->arena, buf_text(&out));
}

TEST(the_cut_splits_no_character_and_counts_what_it_takes_with_it)
{
#define EURO "\xe2\x82\xac"
#define FACE "\xf0\x9f\x98\x80"
    static const struct {
        const char *character;
        size_t n;
        const char *kept;
    } cuts[] = {
        { EURO, 4, "\n[... 60 bytes left out ...]\n" },
        { EURO, 6, EURO "\n[... 54 bytes left out ...]\n" EURO },
        { EURO, 8, EURO "\n[... 54 bytes left out ...]\n" EURO },
        { EURO, 10, EURO "\n[... 54 bytes left out ...]\n" EURO },
        { EURO, 12, EURO EURO "\n[... 48 bytes left out ...]\n" EURO EURO },
        { FACE, 6, "\n[... 80 bytes left out ...]\n" },
        { FACE, 8, FACE "\n[... 72 bytes left out ...]\n" FACE },
        { FACE, 14, FACE "\n[... 72 bytes left out ...]\n" FACE },
        { "x", 0, "\n[... 20 bytes left out ...]\n" },
        { "x", 1, "\n[... 20 bytes left out ...]\n" },
        { "x", 2, "x\n[... 18 bytes left out ...]\nx" },
        /* No UTF-8 at all: nothing to be careful with. */
        { "\xff", 4, "\xff\xff\n[... 16 bytes left out ...]\n\xff\xff" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cuts); i++)
        ASSERT_TEXT(kept_of(t, cuts[i].character, cuts[i].n), cuts[i].kept);
}

/* ---- the hand's executable ---- */

TEST(a_hand_that_somebody_else_may_have_written_is_not_run)
{
    static const struct {
        mode_t mode;
        bool trusted;
    } modes[] = {
        { 0755, true },  { 0700, true },  { 0555, true },  { 0775, false },
        { 0757, false }, { 0777, false }, { 0644, false },
    };
    const char *path = test_path(t, "hand");

    hand_set_path(path);
    ASSERT(!sandbox_program());
    test_write_file(path, "x", 1);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        ASSERT_EQ(chmod(path, modes[i].mode), 0);
        if ((sandbox_program() != NULL) != modes[i].trusted)
            FAIL("mode %o is %s", modes[i].mode, modes[i].trusted ? "refused" : "taken");
    }
    ASSERT_EQ(chmod(path, 0755), 0);
    ASSERT_TEXT(sandbox_program(), path);
    if (geteuid() == 0) {
        ASSERT_EQ(chown(path, 12345, 0), 0);
        ASSERT(!sandbox_program());
    }
    ASSERT_EQ(unlink(path), 0);
    ASSERT_EQ(mkdir(path, 0755), 0);
    ASSERT(!sandbox_program());
}

/* ---- control groups, in a directory that looks like their file system ---- */

static struct cgroup *make(struct test *t, const char *membership, uint64_t tasks)
{
    test_write_file(test_path(t, "membership"), membership, strlen(membership));
    return cgroup_new(&(struct cgroup_config){ .mount = test_dir(t),
                                               .membership = test_path(t, "membership"),
                                               .memory_bytes = 1 << 20,
                                               .tasks = tasks });
}

TEST(without_a_hierarchy_there_is_no_group)
{
    ASSERT(!make(t, "0::/\n", 10));
    ASSERT(!make(t, "4:memory:/a\n3:pids:/b\n", 10));
    ASSERT(!make(t, "", 10));
    ASSERT(!make(t, "nonsense\n::::\n0:\n", 10));
    ASSERT(!make(t, "4:memory:/../..\n", 10));
    ASSERT(!cgroup_new(&(struct cgroup_config){ .membership = test_path(t, "absent") }));
}

/* An ordinary file system makes no files in a new directory, so no limit can be written. */
TEST(a_group_whose_limits_can_not_be_set_is_removed_again)
{
    mkdir(test_path(t, "memory"), 0755);
    mkdir(test_path(t, "pids"), 0755);
    ASSERT(!make(t, "4:memory:/\n3:pids:/\n", 10));
    /* Empty again. */
    ASSERT_EQ(rmdir(test_path(t, "memory")), 0);
    ASSERT_EQ(rmdir(test_path(t, "pids")), 0);
}

TEST(version_two_is_used_only_where_controllers_are_handed_down)
{
    mkdir(test_path(t, "user"), 0755);
    mkdir(test_path(t, "user/me"), 0755);
    test_write_file(test_path(t, "user/me/cgroup.subtree_control"), "cpu\n", 4);
    test_write_file(test_path(t, "user/cgroup.subtree_control"), "cpu memory pids\n", 16);
    /* It is made beside us, and removed because this is no real one. */
    ASSERT(!make(t, "0::/user/me\n", 10));
    ASSERT_EQ(rmdir(test_path(t, "user/me")) < 0, true);
}

TEST(groups_of_a_crashed_daemon_are_swept)
{
    mkdir(test_path(t, "pids"), 0755);
    mkdir(test_path(t, "pids/dormouse-1-0"), 0755);
    mkdir(test_path(t, "pids/other"), 0755);
    make(t, "3:pids:/\n", 10);
    ASSERT(access(test_path(t, "pids/dormouse-1-0"), F_OK) < 0);
    ASSERT_EQ(access(test_path(t, "pids/other"), F_OK), 0);
}

/* Whether this process is in a group of ours that has this controller. */
static bool joined(const char *controller)
{
    AUTO_BUF text = BUF_INIT(64 * KIB);
    struct str rest, line;

    if (file_read("/proc/self/cgroup", &text, NULL) < 0)
        return false;
    rest = buf_str(&text);
    while (str_split(&rest, '\n', &line))
        if ((str_find(line, str_from(controller)) >= 0 || str_starts(line, STR("0::"))) &&
            str_find(line, STR("/dormouse-")) >= 0)
            return true;
    return false;
}

TEST(a_real_group_holds_who_joins_it)
{
    struct cgroup *group =
        cgroup_new(&(struct cgroup_config){ .memory_bytes = 64 << 20, .tasks = 64 });
    int fds[CGROUP_FILES_MAX], n;
    pid_t child;

    if (!group)
        SKIP("no control group can be made here");
    ASSERT(cgroup_limits_memory(group) || cgroup_limits_tasks(group));
    n = cgroup_files(group, fds);
    ASSERT(n >= 1);
    child = fork();
    if (child == 0)
        _exit(cgroup_join(fds, n) && (!cgroup_limits_memory(group) || joined(":memory:")) &&
                      (!cgroup_limits_tasks(group) || joined(":pids:"))
                  ? 0
                  : 1);
    {
        int status;

        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0);
    }
    cgroup_free(group);
}
