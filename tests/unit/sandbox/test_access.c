/* SPDX-License-Identifier: MIT */
#include "sandbox/access.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
#include "hand_ops.h"

/* The real path that reading `path` leads to, or NULL with t->err. */
static const char *reads(struct test *t, struct ops *ops, const char *path)
{
    AUTO_PLACE place = ACCESS_PLACE_INIT;

    err_reset(&t->err);
    if (access_read(&ops->ctx, str_from(path), &place, &t->err) < 0)
        return NULL;
    return place.path;
}

static const char *writes(struct test *t, struct ops *ops, const char *path)
{
    AUTO_PLACE place = ACCESS_PLACE_INIT;

    err_reset(&t->err);
    if (access_write(&ops->ctx, str_from(path), &place, &t->err) < 0)
        return NULL;
    return place.path;
}

#define ASSERT_READS(path_, name_)                                                                 \
    do {                                                                                           \
        const char *got_ = reads(t, ops, path_);                                                   \
        if (!got_)                                                                                 \
            FAIL("%s: %s", path_, test_err_text(t));                                               \
        ASSERT_TEXT(got_, ops_path(t, ops, name_));                                                \
    } while (0)
#define ASSERT_NO_READ(path_, code_)  ASSERT_FAILS(reads(t, ops, path_) ? 0 : -1, code_)
#define ASSERT_NO_WRITE(path_, code_) ASSERT_FAILS(writes(t, ops, path_) ? 0 : -1, code_)

static const char *in_root(struct test *t, struct ops *ops, const char *name)
{
    return arena_printf(&t->arena, "%s/%s", ops->root, name);
}

static void link_to(struct test *t, struct ops *ops, const char *target, const char *name)
{
    if (symlink(target, ops_path(t, ops, name)) < 0)
        FAIL("symlink %s: %s", name, strerror(errno));
}

static unsigned open_fds(void)
{
    unsigned n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

TEST(a_path_is_resolved_from_the_working_directory)
{
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "a/b", "x");
    ASSERT_READS("a/b", "a/b");
    ASSERT_READS("./a//./b", "a/b");
    ASSERT_READS("a/../a/b", "a/b");
    ASSERT_READS(ops_path(t, ops, "a/b"), "a/b");
    ASSERT_READS("a/", "a");
    ASSERT_TEXT(reads(t, ops, "/"), "/");
    ASSERT_TEXT(reads(t, ops, "/.."), "/");
    ASSERT_TEXT(reads(t, ops, "."), ops->allow[0]);
    setenv("HOME", ops->allow[0], 1);
    ASSERT_READS("~/a/b", "a/b");
    ASSERT_NO_READ("~x", ERR_NOT_FOUND);
}

TEST(links_are_followed_to_what_they_name)
{
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "a/b/f", "x");
    link_to(t, ops, "a", "la");
    link_to(t, ops, "../w/la/b", "lb");
    link_to(t, ops, ops_path(t, ops, "lb/f"), "lf");
    ASSERT_READS("la/b/f", "a/b/f");
    ASSERT_READS("lb/f", "a/b/f");
    ASSERT_READS("lf", "a/b/f");
    /* Back from where the link led to, as the kernel has it. */
    ASSERT_READS("lb/../b/f", "a/b/f");
    ASSERT_NO_READ("lf/", ERR_NOT_FOUND);
    ASSERT_NO_READ("lf/x", ERR_NOT_FOUND);
}

TEST(a_loop_of_links_ends)
{
    struct ops *ops = ops_new(t);
    char name[16], target[16];

    link_to(t, ops, "y", "x");
    link_to(t, ops, "x", "y");
    link_to(t, ops, "self/self/self", "self");
    ASSERT_NO_READ("x", ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "40 symbolic links");
    ASSERT_NO_READ("self", ERR_PATH_DENIED);
    ASSERT_NO_WRITE("x", ERR_PATH_DENIED);
    /* Targets that grow on the way. */
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof(name), "g%d", i);
        snprintf(target, sizeof(target), "g%d/../g%d", i + 1, i + 1);
        link_to(t, ops, target, name);
    }
    ASSERT_NO_READ("g0", ERR_PATH_DENIED);
}

TEST(what_is_denied_is_denied_under_every_name)
{
    struct ops *ops = ops_new(t);
    const char *key = in_root(t, ops, "secret/key");

    test_write_file(key, "k", 1);
    link_to(t, ops, "../secret", "s");
    link_to(t, ops, "../secret/key", "k");
    link_to(t, ops, ops->root, "up");
    ASSERT_NO_READ(key, ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "/secret may not be read");
    ASSERT_NO_READ("../secret", ERR_PATH_DENIED);
    ASSERT_NO_READ("../secret/", ERR_PATH_DENIED);
    ASSERT_NO_READ("s", ERR_PATH_DENIED);
    ASSERT_NO_READ("s/key", ERR_PATH_DENIED);
    ASSERT_NO_READ("s/../w", ERR_PATH_DENIED);
    ASSERT_NO_READ("k", ERR_PATH_DENIED);
    ASSERT_NO_READ("up/secret/key", ERR_PATH_DENIED);
    ASSERT_NO_READ("up/w/up/secret/absent", ERR_PATH_DENIED);
    /* A neighbour whose name only begins alike is not. */
    test_write_file(in_root(t, ops, "secrets"), "x", 1);
    ASSERT(reads(t, ops, "../secrets"));
}

TEST(a_rule_that_is_a_link_denies_what_it_names)
{
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "real/f", "x");
    link_to(t, ops, "real", "rule");
    ops->deny[1] = ops_path(t, ops, "rule");
    ASSERT_NO_READ("rule/f", ERR_PATH_DENIED);
    ASSERT_NO_READ("real/f", ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "another name");
}

TEST(hard_links_of_denied_files_are_known)
{
    struct ops *ops = ops_new(t);
    const char *file = in_root(t, ops, "shadow");

    test_write_file(file, "x", 1);
    ops_write(t, ops, ".env", "TOKEN=1");
    ops->deny[1] = file;
    ASSERT_EQ(link(file, ops_path(t, ops, "alias")), 0);
    ASSERT_EQ(link(ops_path(t, ops, ".env"), ops_path(t, ops, "env")), 0);
    ASSERT_NO_READ("alias", ERR_PATH_DENIED);
    ASSERT_NO_READ("env", ERR_PATH_DENIED);
    ASSERT_NO_WRITE("alias", ERR_PATH_DENIED);
}

TEST(denied_names_are_denied_anywhere_and_in_any_case)
{
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "a/.env", "x");
    ops_write(t, ops, "b/.ENV/f", "x");
    ops_write(t, ops, ".env.example", "x");
    ops->names[1] = "caf\xC3\xA9";
    ops_write(t, ops, "CAF\xC3\x89", "x");
    ASSERT_NO_READ("a/.env", ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "named .env");
    ASSERT_NO_READ("b/.ENV/f", ERR_PATH_DENIED);
    ASSERT_NO_READ("CAF\xC3\x89", ERR_PATH_DENIED);
    ASSERT_NO_WRITE("new/.env", ERR_PATH_DENIED);
    ASSERT_NO_WRITE(".Env", ERR_PATH_DENIED);
    ASSERT_READS(".env.example", ".env.example");
}

TEST(process_file_systems_lead_nowhere)
{
    struct ops *ops = ops_new(t);

    link_to(t, ops, "/proc/self/root", "root");
    link_to(t, ops, "/proc/self/environ", "environ");
    ASSERT_NO_READ("/proc/self/root/etc/passwd", ERR_PATH_DENIED);
    ASSERT_NO_READ("/proc/self/environ", ERR_PATH_DENIED);
    ASSERT_NO_READ("/proc/1/environ", ERR_PATH_DENIED);
    ASSERT_NO_READ("/proc/self/fd/0", ERR_PATH_DENIED);
    ASSERT_NO_READ("/proc/../proc/self/mem", ERR_PATH_DENIED);
    ASSERT_NO_READ("/dev/fd/0", ERR_PATH_DENIED);
    ASSERT_NO_READ("/dev/stdin", ERR_PATH_DENIED);
    ASSERT_NO_READ("root/etc", ERR_PATH_DENIED);
    ASSERT_NO_READ("environ", ERR_PATH_DENIED);
    ASSERT_NO_WRITE("/proc/self/comm", ERR_PATH_DENIED);
}

TEST(writing_is_for_the_writable_places_only)
{
    struct ops *ops = ops_new(t);

    ASSERT_EQ(mkdir(in_root(t, ops, "wide"), 0755), 0);
    link_to(t, ops, "/etc", "etc");
    link_to(t, ops, "../outside", "dangling");
    link_to(t, ops, "inner", "inside");
    ASSERT_TEXT(writes(t, ops, "new"), ops_path(t, ops, "new"));
    ASSERT_TEXT(writes(t, ops, "inside"), ops_path(t, ops, "inner"));
    ASSERT_TEXT(writes(t, ops, "a/./b//c"), ops_path(t, ops, "a/b/c"));
    ASSERT_NO_WRITE("../new", ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "not in a directory that may be written");
    ASSERT_NO_WRITE("../wide/f", ERR_PATH_DENIED);
    ASSERT_NO_WRITE("../w2/f", ERR_PATH_DENIED);
    ASSERT_NO_WRITE("etc/passwd", ERR_PATH_DENIED);
    ASSERT_NO_WRITE("etc/new", ERR_PATH_DENIED);
    ASSERT_NO_WRITE("dangling", ERR_PATH_DENIED);
    ASSERT_NO_WRITE("/tmp/x", ERR_PATH_DENIED);
    /* Nothing that is missing can be left again. */
    ASSERT_NO_WRITE("absent/../../x", ERR_NOT_FOUND);
    ASSERT_NO_WRITE("absent/..", ERR_NOT_FOUND);
    ASSERT_NO_WRITE("new/", ERR_BAD_REQUEST);
    ops->allow[0] = NULL;
    ASSERT_NO_WRITE("new", ERR_PATH_DENIED);
}

TEST(missing_directories_are_made_below_the_held_one)
{
    struct ops *ops = ops_new(t);
    AUTO_PLACE place = ACCESS_PLACE_INIT;
    struct stat st;

    ASSERT_OK(access_write(&ops->ctx, STR("a/b/c/f"), &place, &t->err));
    ASSERT_TEXT(place.missing, "a/b/c");
    ASSERT_TEXT(place.name, "f");
    ASSERT(stat(ops_path(t, ops, "a"), &st) < 0);
    /* A link in the place of a directory that was missing is not followed. */
    ASSERT_EQ(mkdir(in_root(t, ops, "out"), 0755), 0);
    link_to(t, ops, "../out", "a");
    ASSERT_FAILS(access_make_parents(&place, &t->err), ERR_NOT_FOUND);
    ASSERT(stat(in_root(t, ops, "out/b"), &st) < 0);
    ASSERT_EQ(unlink(ops_path(t, ops, "a")), 0);
    ASSERT_OK(access_make_parents(&place, &t->err));
    ASSERT_EQ(stat(ops_path(t, ops, "a/b/c"), &st), 0);
    ASSERT(S_ISDIR(st.st_mode));
}

TEST(what_is_no_path_is_refused)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF longest = BUF_INIT(100000);
    AUTO_PLACE place = ACCESS_PLACE_INIT;

    ASSERT_NO_READ("", ERR_BAD_REQUEST);
    ASSERT_FAILS(access_read(&ops->ctx, STR("a\0b"), &place, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "NUL");
    for (int i = 0; i < 256; i++)
        buf_add_char(&longest, 'n');
    ASSERT_NO_READ(buf_text(&longest), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "255 bytes");
    ASSERT_NO_WRITE(buf_text(&longest), ERR_BAD_REQUEST);
    ASSERT_NO_WRITE(arena_printf(&t->arena, "absent/%s/f", buf_text(&longest)), ERR_BAD_REQUEST);
    while (longest.n < LIMIT_PATH_BYTES - 2)
        buf_add_text(&longest, "/a");
    ASSERT_NO_READ(buf_text(&longest), ERR_BAD_REQUEST);
    buf_add_text(&longest, "/aaaa");
    ASSERT_NO_READ(buf_text(&longest), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "4096");
    /* Only slashes and dots are long but plain. */
    buf_clear(&longest);
    for (int i = 0; i < 1000; i++)
        buf_add_text(&longest, "./");
    ASSERT_TEXT(reads(t, ops, buf_text(&longest)), ops->allow[0]);
}

TEST(directories_too_deep_are_refused_without_a_leak)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF path = BUF_INIT(LIMIT_PATH_BYTES);
    unsigned before = open_fds();
    AUTO_FD dir = open(ops->allow[0], O_RDONLY | O_DIRECTORY);

    for (int i = 0; i < ACCESS_DEPTH_MAX + 2; i++) {
        int next;

        ASSERT_EQ(mkdirat(dir, "d", 0755), 0);
        next = openat(dir, "d", O_RDONLY | O_DIRECTORY);
        close(dir);
        dir = next;
        buf_add_text(&path, "d/");
    }
    ASSERT_NO_READ(buf_text(&path), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "256 directories deep");
    ASSERT_EQ(open_fds(), before + 1);
    ASSERT_NO_READ("d/d/absent", ERR_NOT_FOUND);
    ASSERT_CONTAINS(test_err_text(t), "no absent in");
    ASSERT(reads(t, ops, "d/d/../d"));
    ASSERT_TEXT(writes(t, ops, "d/d/new/f"), ops_path(t, ops, "d/d/new/f"));
    ASSERT_EQ(open_fds(), before + 1);
}

TEST(names_that_are_no_utf8_are_names)
{
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "x\xFF\xFE/y\x80", "x");
    ASSERT_READS("x\xFF\xFE/y\x80", "x\xFF\xFE/y\x80");
    ASSERT_NO_READ("x\xFF/y", ERR_NOT_FOUND);
}

TEST(what_would_wait_is_not_opened, .timeout_s = 10)
{
    struct ops *ops = ops_new(t);
    AUTO_PLACE place = ACCESS_PLACE_INIT;
    struct stat st;
    int fd;

    ASSERT_EQ(mkfifo(ops_path(t, ops, "pipe"), 0600), 0);
    ASSERT_OK(access_read(&ops->ctx, STR("pipe"), &place, &t->err));
    ASSERT_FAILS(access_open(&ops->ctx, &place, &fd, &st, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "named pipe");
    access_release(&place);
    ASSERT_OK(access_read(&ops->ctx, STR("/dev/zero"), &place, &t->err));
    ASSERT_FAILS(access_open(&ops->ctx, &place, &fd, &st, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "device");
    access_release(&place);
    /* A pipe that takes the place of a file after the check. */
    ops_write(t, ops, "f", "x");
    ASSERT_OK(access_read(&ops->ctx, STR("f"), &place, &t->err));
    ASSERT_EQ(unlink(ops_path(t, ops, "f")), 0);
    ASSERT_EQ(mkfifo(ops_path(t, ops, "f"), 0600), 0);
    ASSERT_FAILS(access_open(&ops->ctx, &place, &fd, &st, &t->err), ERR_CONFLICT);
    ASSERT_EQ(unlink(ops_path(t, ops, "f")), 0);
    link_to(t, ops, "../secret/key", "f");
    ASSERT_FAILS(access_open(&ops->ctx, &place, &fd, &st, &t->err), ERR_PATH_DENIED);
}

/* The rules are asked on the way; what is opened then is what they were asked about. */
TEST(another_file_that_takes_its_place_is_not_opened)
{
    struct ops *ops = ops_new(t);
    AUTO_PLACE place = ACCESS_PLACE_INIT;
    struct stat st;
    int fd = -1;

    ops_write(t, ops, "f", "x");
    ops_write(t, ops, ".env", "KEY=1");
    ASSERT_NO_READ(".env", ERR_PATH_DENIED);
    ASSERT_OK(access_read(&ops->ctx, STR("f"), &place, &t->err));
    /* A second name of what is denied by its name: no rule knows it by its number. */
    ASSERT_EQ(unlink(ops_path(t, ops, "f")), 0);
    ASSERT_EQ(link(ops_path(t, ops, ".env"), ops_path(t, ops, "f")), 0);
    ASSERT_FAILS(access_open(&ops->ctx, &place, &fd, &st, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "replaced by another file");
    ASSERT_EQ(fd, -1);
    err_reset(&t->err);
    ASSERT_NO_READ("f", ERR_PATH_DENIED);
    access_release(&place);
    /* The same file, longer by now, is the same file. */
    ops_write(t, ops, "g", "x");
    err_reset(&t->err);
    ASSERT_OK(access_read(&ops->ctx, STR("g"), &place, &t->err));
    ops_write(t, ops, "g", "longer");
    ASSERT_OK(access_open(&ops->ctx, &place, &fd, &st, &t->err));
    ASSERT_EQ(st.st_size, 6);
    close(fd);
}

/* ---- races ---- */

struct swapper {
    const char *a, *b; /* exchanged over and over */
    atomic_bool stop;
};

static void *swap_on(void *arg)
{
    struct swapper *s = arg;

    while (!atomic_load(&s->stop))
        renameat2(AT_FDCWD, s->a, AT_FDCWD, s->b, RENAME_EXCHANGE);
    return NULL;
}

TEST(a_link_swapped_in_never_leads_to_what_is_denied, .timeout_s = 30)
{
    struct ops *ops = ops_new(t);
    struct swapper s = { .a = ops_path(t, ops, "d"), .b = ops_path(t, ops, "l") };
    unsigned good = 0, denied = 0;
    pthread_t thread;

    ops_write(t, ops, "d/key", "open");
    test_write_file(in_root(t, ops, "secret/key"), "hidden", 6);
    link_to(t, ops, "../secret", "l");
    ASSERT_EQ(pthread_create(&thread, NULL, swap_on, &s), 0);
    for (int i = 0; i < 20000 && (good < 200 || denied < 200 || i < 2000); i++) {
        AUTO_PLACE place = ACCESS_PLACE_INIT;
        AUTO_FD fd = -1;
        char text[16] = "";
        struct stat st;

        err_reset(&t->err);
        if (access_read(&ops->ctx, STR("d/key"), &place, &t->err) < 0) {
            ASSERT(t->err.code == ERR_PATH_DENIED || t->err.code == ERR_NOT_FOUND);
            denied++;
            continue;
        }
        ASSERT_OK(access_open(&ops->ctx, &place, &fd, &st, &t->err));
        ASSERT_EQ(read(fd, text, sizeof(text) - 1), 4);
        ASSERT_TEXT(text, "open");
        good++;
    }
    atomic_store(&s.stop, true);
    pthread_join(thread, NULL);
    ASSERT(good > 0 && denied > 0);
}

TEST(a_directory_moved_away_does_not_take_the_way_back_along, .timeout_s = 30)
{
    struct ops *ops = ops_new(t);
    struct swapper s = { .a = ops_path(t, ops, "a/b"), .b = ops_path(t, ops, "c") };
    pthread_t thread;

    /* Were `..` asked of the file system, a/b/../../f could be one directory further up. */
    ops_write(t, ops, "a/b/f", "deep");
    ops_write(t, ops, "c/f", "flat");
    ops_write(t, ops, "f", "in");
    test_write_file(in_root(t, ops, "f"), "out", 3);
    ASSERT_EQ(pthread_create(&thread, NULL, swap_on, &s), 0);
    for (int i = 0; i < 3000; i++) {
        AUTO_PLACE place = ACCESS_PLACE_INIT;
        AUTO_FD fd = -1;
        char text[16] = "";
        struct stat st;

        ASSERT_OK(access_write(&ops->ctx, STR("a/b/../../f"), &place, &t->err));
        ASSERT_TEXT(place.path, ops_path(t, ops, "f"));
        ASSERT_OK(access_open(&ops->ctx, &place, &fd, &st, &t->err));
        ASSERT_EQ(read(fd, text, sizeof(text) - 1), 2);
    }
    atomic_store(&s.stop, true);
    pthread_join(thread, NULL);
}

/* Read, yes; by no name and no way written, whether it is there or not. */
TEST(settings_in_a_writable_place_are_read_but_not_written)
{
    struct ops *ops = ops_new(t);
    const char *const deny_write[] = { ops_path(t, ops, ".dormouse"), NULL };
    static const char *const ways[] = { ".dormouse",          ".dormouse/config.yaml",
                                        ".dormouse/x/y",      "sub/../.dormouse/config.yaml",
                                        "way/config.yaml",    "./.dormouse//config.yaml",
                                        "sub/up/config.yaml", "way/new" };

    ops->state.rules.deny_write = deny_write;
    ops_write(t, ops, "sub/f", "x");
    for (int there = 0; there < 2; there++) {
        if (there) {
            ops_write(t, ops, ".dormouse/config.yaml", "a: 1\n");
            ASSERT_EQ(symlink(".dormouse", ops_path(t, ops, "way")), 0);
            ASSERT_EQ(symlink("../.dormouse", ops_path(t, ops, "sub/up")), 0);
        }
        for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
            AUTO_PLACE place = ACCESS_PLACE_INIT;

            if (!there && !strstr(ways[i], ".dormouse"))
                continue;
            ASSERT_FAILS(access_write(&ops->ctx, str_from(ways[i]), &place, &t->err),
                         ERR_PATH_DENIED);
            ASSERT_CONTAINS(err_message(&t->err, 0), "are settings");
        }
    }
    ASSERT_TEXT(ops_text(t, ops, ".dormouse/config.yaml"), "a: 1\n");
    OPS_CALL(ops, op_read_file, "{\"path\":\".dormouse/config.yaml\"}");
    /* A name that only begins like it is another. */
    OPS_CALL(ops, op_write_file, "{\"path\":\".dormouse2\",\"content\":\"x\"}");
}
