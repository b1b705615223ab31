/* Kernels and file systems that lack what the view would rather use: no exchange of two names, no
 * more watches, a queue of events that ran over.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>

#include "base/utf8.h"
#include "view_rig.h"

static int renames_fail; /* errno of renameat2(); 0: it works */
static bool no_watches;

int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __real_inotify_add_watch(int fd, const char *path, uint32_t mask);
int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask);

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    if (!renames_fail)
        return __real_renameat2(from_fd, from, to_fd, to, flags);
    errno = renames_fail;
    return -1;
}

int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    if (!no_watches)
        return __real_inotify_add_watch(fd, path, mask);
    errno = ENOSPC;
    return -1;
}

/* ---- no exchange ---- */

static void write_without_exchange(struct test *t, int number)
{
    AUTO(rig) rig = view_open(t);

    renames_fail = number;
    agent_writes(rig, "dir/a.md", "one");
    view_settle(rig);
    ASSERT_TEXT(disk(rig, "dir/a.md"), "one");
    agent_writes(rig, "dir/a.md", "two");
    view_settle(rig);
    ASSERT_TEXT(disk(rig, "dir/a.md"), "two");
    ASSERT_TEXT(history(rig, "dir/a.md"), "agent:two agent:one");
    ASSERT_TEXT(problem(rig), "");
    ASSERT_EQ(access(disk_path(rig, ".dormouse/in/dir/a.md"), F_OK), -1);
    ASSERT_EQ(access(disk_path(rig, ".dormouse/out/dir/a.md"), F_OK), -1);
}

TEST(a_file_system_without_exchange_is_written_in_steps, .param = &db_test_sqlite)
{
    write_without_exchange(t, EINVAL);
}

TEST(a_kernel_without_renameat2_is_enough, .param = &db_test_sqlite)
{
    write_without_exchange(t, ENOSYS);
}

TEST(what_a_person_wrote_meanwhile_is_kept_without_exchange, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    renames_fail = EINVAL;
    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    human_does(rig, "printf mine > a.md");
    agent_writes(rig, "a.md", "two");
    view_settle(rig);
    ASSERT_TEXT(history(rig, "a.md"), "owner:mine agent:two agent:one");
    ASSERT_TEXT(disk(rig, "a.md"), "mine");
}

TEST(a_disk_that_renames_nothing_is_a_problem_until_it_does, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);

    renames_fail = EIO;
    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    ASSERT_CONTAINS(problem(rig), "a.md: it can't be written: Input/output error");
    ASSERT_TEXT(disk(rig, "a.md"), "(none)");
    ASSERT_EQ(access(disk_path(rig, ".dormouse/in/a.md"), F_OK), -1);
    renames_fail = 0;
    view_advance(rig, 120000);
    ASSERT_TEXT(disk(rig, "a.md"), "one");
    ASSERT_TEXT(problem(rig), "");
}

/* ---- no watches ---- */

TEST(without_watches_an_edit_is_seen_within_a_minute, .param = &db_test_sqlite)
{
    AUTO(rig) rig = NULL;

    no_watches = true;
    rig = view_open(t);
    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    human_does(rig, "printf mine > a.md");
    view_advance(rig, 70000);
    ASSERT_TEXT(history(rig, "a.md"), "owner:mine agent:one");
    human_does(rig, "printf again > a.md");
    view_advance(rig, 70000);
    ASSERT_TEXT(history(rig, "a.md"), "owner:again owner:mine agent:one");
}

/* ---- events that were lost ---- */

static long queue_length(void)
{
    FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    long n = 0;

    if (!file || fscanf(file, "%ld", &n) != 1)
        n = 0;
    if (file)
        fclose(file);
    return n;
}

static void write_elsewhere(struct rig *rig, const char *path)
{
    struct file file;

    ASSERT_EQ(rig_put(rig,
                      &(struct file_write){ .tree = STR("agents/other"),
                                            .path = str_from(path),
                                            .content = str_from(path),
                                            .base = FILE_ANY_VERSION,
                                            .author = STR("agent") },
                      &file),
              1);
}

TEST(a_queue_that_ran_over_loses_no_edit, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);
    long length = queue_length();
    const char *noise[2];

    if (length <= 0 || length > 200000)
        SKIP("the kernel's queue of events has %ld places", length);
    agent_writes(rig, "a.md", "one");
    write_elsewhere(rig, "x.md");
    view_settle(rig);
    /* Two names in turn: the same event twice in a row would be one. */
    for (int i = 0; i < 2; i++)
        noise[i] = arena_printf(&t->arena, "%s/agents/other/noise%d", rig->view_dir, i);
    for (long i = 0; i < length; i++) {
        int fd = open(noise[i % 2], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        ASSERT(fd >= 0);
        close(fd);
    }
    human_does(rig, "printf mine > a.md");
    view_settle(rig);
    ASSERT_TEXT(history(rig, "a.md"), "owner:mine agent:one");
}

/* ---- what has no place in the store ---- */

#define HUGE_BYTES "11000000"

/* Written over by an agent, a file that is too large to be kept lies beside it. */
static void put_aside(struct test *t, int number, const char *name)
{
    AUTO(rig) rig = view_open(t);
    const char *aside =
        arena_printf(&t->arena, "%.*s.~1~", STR_ARG(utf8_truncate(str_from(name), 240)));
    struct stat st;

    renames_fail = number;
    agent_writes(rig, name, "one");
    view_settle(rig);
    human_does(rig, arena_printf(&t->arena, "head -c " HUGE_BYTES " /dev/zero >'%s'", name));
    agent_writes(rig, name, "two");
    view_settle(rig);
    ASSERT_TEXT(disk(rig, name), "two");
    ASSERT_EQ(lstat(disk_path(rig, aside), &st), 0);
    ASSERT_EQ(st.st_size, atoi(HUGE_BYTES));
    ASSERT_TEXT(history(rig, name), "agent:two agent:one");
    /* Once more: the first one stays. */
    human_does(rig, arena_printf(&t->arena, "head -c " HUGE_BYTES " /dev/zero >'%s'", name));
    agent_writes(rig, name, "three");
    view_settle(rig);
    ASSERT_TEXT(disk(rig, name), "three");
    ASSERT_EQ(lstat(disk_path(rig, aside), &st), 0);
}

TEST(a_file_too_large_to_keep_is_put_beside_the_new_version, .param = &db_test_sqlite)
{
    put_aside(t, 0, "dir/a.md");
}

TEST(a_file_too_large_to_keep_is_put_aside_without_exchange, .param = &db_test_sqlite)
{
    put_aside(t, EINVAL, "dir/a.md");
}

/* 239 bytes and two-byte letters up to 255: the cut falls into one of them. */
TEST(what_is_put_aside_has_a_name_that_is_text, .param = &db_test_sqlite)
{
    AUTO_BUF name = BUF_INIT(300);

    while (name.n < 239)
        buf_add_char(&name, 'n');
    while (name.n < 253)
        buf_add_text(&name, "\u00e4");
    put_aside(t, 0, buf_text(&name));
}

TEST(a_pipe_in_the_way_is_left_where_it_is_and_told, .param = &db_test_sqlite)
{
    AUTO(rig) rig = view_open(t);
    struct file file;

    agent_writes(rig, "a.md", "one");
    view_settle(rig);
    human_does(rig, "rm a.md; mkfifo a.md");
    agent_writes(rig, "a.md", "two");
    view_settle(rig);
    ASSERT_CONTAINS(problem(rig), "a.md: a device stands where this file belongs; remove it");
    ASSERT_TEXT(stored(rig, "a.md"), "two");
    ASSERT_EQ(rig_put(rig,
                      &(struct file_write){ .tree = TREE,
                                            .path = STR("a.md"),
                                            .remove = true,
                                            .base = FILE_ANY_VERSION,
                                            .author = STR("agent") },
                      &file),
              1);
    view_settle(rig);
    ASSERT_TEXT(problem(rig), "a.md: neither a file nor a folder: it is not remembered");
    human_does(rig, "test -p a.md && rm a.md");
    view_settle(rig);
    ASSERT_TEXT(problem(rig), "");
    ASSERT_TEXT(stored(rig, "a.md"), "(none)");
}
