/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/test.h"

static unsigned count_entries(const char *path)
{
    DIR *dir = opendir(path);
    unsigned n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

TEST(file_read_gives_the_whole_file_up_to_the_cap)
{
    const char *path = test_path(t, "a");
    AUTO_BUF exact = BUF_INIT(5);
    AUTO_BUF small = BUF_INIT(4);
    AUTO_BUF big = BUF_INIT(1u << 20);
    static char bytes[200000];

    test_write_file(path, "he\0lo", 5);
    ASSERT_OK(file_read(path, &exact, &t->err));
    ASSERT(str_eq(buf_str(&exact), STR("he\0lo")));
    ASSERT_FAILS(file_read(path, &small, &t->err), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "larger than 4 bytes");
    memset(bytes, 'x', sizeof(bytes));
    test_write_file(path, bytes, sizeof(bytes));
    ASSERT_OK(file_read(path, &big, &t->err));
    ASSERT_EQ(big.n, sizeof(bytes));
    test_write_file(path, "", 0);
    ASSERT_OK(file_read(path, &big, &t->err));
    ASSERT_EQ(big.n, sizeof(bytes));
}

TEST(file_read_says_what_is_wrong)
{
    AUTO_BUF out = BUF_INIT(100);

    ASSERT_FAILS(file_read(test_path(t, "absent"), &out, &t->err), ERR_NOT_FOUND);
    ASSERT_CONTAINS(test_err_text(t), "absent");
    ASSERT_FAILS(file_read(test_dir(t), &out, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(file_read("/dev/null", &out, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(mkfifo(test_path(t, "fifo"), 0600), 0);
    ASSERT_FAILS(file_read(test_path(t, "fifo"), &out, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(file_read_fd(-1, "nothing", &out, &t->err), ERR_INTERNAL);
}

TEST(file_write_atomic_replaces_text_and_mode_and_leaves_nothing_behind)
{
    const char *path = test_path(t, "config.yaml");
    struct stat st;

    umask(077);
    ASSERT_OK(file_write_atomic(path, STR("one"), 0644, &t->err));
    ASSERT_STR(test_read_file(t, path), "one");
    ASSERT_EQ(stat(path, &st), 0);
    ASSERT_EQ(st.st_mode & 07777, 0644);
    ASSERT_OK(file_write_atomic(path, STR("two\n"), 0600, &t->err));
    ASSERT_STR(test_read_file(t, path), "two\n");
    ASSERT_EQ(stat(path, &st), 0);
    ASSERT_EQ(st.st_mode & 07777, 0600);
    ASSERT_EQ(count_entries(test_dir(t)), 1);
}

TEST(file_write_atomic_works_in_the_working_directory)
{
    ASSERT_EQ(chdir(test_dir(t)), 0);
    ASSERT_OK(file_write_atomic("plain", STR("x"), 0600, &t->err));
    ASSERT_STR(test_read_file(t, "plain"), "x");
    ASSERT_EQ(chdir("/"), 0);
}

TEST(file_write_atomic_replaces_a_link_instead_of_following_it)
{
    const char *path = test_path(t, "link"), *target = test_path(t, "target");
    struct stat st;

    test_write_file(target, "keep", 4);
    ASSERT_EQ(symlink(target, path), 0);
    ASSERT_OK(file_write_atomic(path, STR("new"), 0600, &t->err));
    ASSERT_STR(test_read_file(t, target), "keep");
    ASSERT_EQ(lstat(path, &st), 0);
    ASSERT(S_ISREG(st.st_mode));
}

TEST(file_write_atomic_keeps_the_old_text_when_the_disk_is_full)
{
    const char *path = test_path(t, "a");
    struct rlimit limit, before;
    static char bytes[5000];

    signal(SIGXFSZ, SIG_IGN);
    ASSERT_OK(file_write_atomic(path, STR("old"), 0600, &t->err));
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){ 1000, before.rlim_max };
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ASSERT_FAILS(file_write_atomic(path, str_of(bytes, sizeof(bytes)), 0600, &t->err),
                 ERR_INTERNAL);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_STR(test_read_file(t, path), "old");
    ASSERT_EQ(count_entries(test_dir(t)), 1);
}

TEST(file_write_atomic_refuses_directories_and_missing_ones)
{
    char longer[5000];

    ASSERT_FAILS(file_write_atomic(test_path(t, "no/such"), STR("x"), 0600, &t->err),
                 ERR_NOT_FOUND);
    ASSERT_FAILS(file_write_atomic("/tmp/", STR("x"), 0600, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(mkdir(test_path(t, "dir"), 0700), 0);
    ASSERT_FAILS(file_write_atomic(test_path(t, "dir"), STR("x"), 0600, &t->err), ERR_INTERNAL);
    ASSERT_EQ(count_entries(test_dir(t)), 1);
    memset(longer, 'a', sizeof(longer));
    longer[4500] = '/';
    longer[sizeof(longer) - 1] = '\0';
    ASSERT_FAILS(file_write_atomic(longer, STR("x"), 0600, &t->err), ERR_TOO_LARGE);
}

TEST(file_write_atomic_takes_the_longest_name)
{
    char name[256];

    memset(name, 'n', 255);
    name[255] = '\0';
    ASSERT_OK(file_write_atomic(test_path(t, name), STR("x"), 0600, &t->err));
    ASSERT_STR(test_read_file(t, test_path(t, name)), "x");
}

TEST(file_write_all_goes_on_after_short_writes)
{
    static char bytes[300000], back[sizeof(bytes)];
    int fds[2];
    pid_t pid;
    size_t got = 0;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    ASSERT_EQ(pipe(fds), 0);
    pid = fork();
    if (pid == 0)
        _exit(file_write_all(fds[1], str_of(bytes, sizeof(bytes))) < 0);
    close(fds[1]);
    for (ssize_t n; (n = read(fds[0], back + got, 1000)) > 0;)
        got += (size_t)n;
    ASSERT_EQ(got, sizeof(bytes));
    ASSERT(memcmp(bytes, back, sizeof(bytes)) == 0);
    ASSERT_EQ(file_write_all(-1, STR("x")), -1);
}

TEST(file_errors_tell_missing_rights_links_and_long_names_apart)
{
    const char *dir = test_dir(t), *path = test_path(t, "private");
    AUTO_BUF out = BUF_INIT(100);
    char name[300];

    test_write_file(path, "x", 1);
    ASSERT_EQ(symlink("loop", test_path(t, "loop")), 0);
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ASSERT_FAILS(file_read(test_path(t, "loop"), &out, &t->err), ERR_PATH_DENIED);
    ASSERT_FAILS(file_read(test_path(t, "private/x"), &out, &t->err), ERR_NOT_FOUND);
    ASSERT_FAILS(file_write_atomic(test_path(t, name), STR("x"), 0600, &t->err), ERR_INTERNAL);
    ASSERT_CONTAINS(test_err_text(t), "File name too long");
    ASSERT_EQ(chmod(path, 0), 0);
    ASSERT_EQ(chmod(dir, 0555), 0);
    if (geteuid() == 0 && setuid(65534) < 0)
        SKIP("can't become an unprivileged user");
    ASSERT_FAILS(file_read(path, &out, &t->err), ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "Permission denied");
    ASSERT_FAILS(file_write_atomic(path, STR("x"), 0600, &t->err), ERR_PATH_DENIED);
    ASSERT_EQ(out.n, 0);
}

TEST(file_write_atomic_cuts_no_character_of_a_long_name)
{
    char name[256] = "";
    AUTO_FD dir_fd = open(test_dir(t), O_RDONLY | O_DIRECTORY);

    for (size_t i = 0; i < 127; i++)
        strcat(name, "\u00E9");
    ASSERT_OK(file_write_atomic_at(dir_fd, name, STR("x"), 0600, &t->err));
    ASSERT_STR(test_read_file(t, test_path(t, name)), "x");
    ASSERT_EQ(count_entries(test_dir(t)), 1);
    ASSERT_FAILS(file_write_atomic_at(dir_fd, "..", STR("x"), 0600, &t->err), ERR_INTERNAL);
    ASSERT_EQ(count_entries(test_dir(t)), 1);
}
