/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "harness/test.h"

TEST(path_normalise_gives_one_form)
{
    static const struct {
        const char *path, *normal;
    } cases[] = {
        { "a", "a" },
        { "a/b.md", "a/b.md" },
        { "./a//b/./c/", "a/b/c" },
        { ".hidden/..x/...y", ".hidden/..x/...y" },
        { "notes/日本語/žluť.md", "notes/日本語/žluť.md" },
        { "with blank/and-dash_1", "with blank/and-dash_1" },
        { "a/.", "a" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(100);

        ASSERT_OK(path_normalise(str_from(cases[i].path), &out, &t->err));
        ASSERT_TEXT(buf_text(&out), cases[i].normal);
    }
}

TEST(path_normalise_refuses_and_says_why)
{
    static const struct {
        struct str path;
        const char *reason;
    } cases[] = {
        { { "", 0 }, "empty" },
        { { ".", 1 }, "names no file" },
        { { "./.", 3 }, "names no file" },
        { { "/etc/passwd", 11 }, "absolute" },
        { { "//a", 3 }, "absolute" },
        { { "..", 2 }, "\"..\"" },
        { { "a/../b", 6 }, "\"..\"" },
        { { "a/..", 4 }, "\"..\"" },
        { { "a\0b", 3 }, "NUL at byte 1" },
        { { "a\\b", 3 }, "backslash" },
        { { "a\xffz", 3 }, "invalid UTF-8 at byte 1" },
        { { "a\xc0\xae", 3 }, "invalid UTF-8" },
        { { "a\nb", 3 }, "control character U+000A at byte 1" },
        { { "a\x7f", 2 }, "control" },
        { { "a\u202Ecod.exe", 11 }, "text direction character U+202E" },
        { { "a\u200Bb", 5 }, "hidden character U+200B" },
        { { "a\u00A0b", 4 }, "unusual space U+00A0" },
        { { "a\uE000", 4 }, "private-use" },
        { { "a./b", 4 }, "ends in a dot or blank" },
        { { "a ", 2 }, "ends in a dot or blank" },
        { { "b/ a", 4 }, "begins with a blank" },
        { { "...", 3 }, "ends in a dot" },
        { { "C:x", 3 }, "one of :" },
        { { "a/file.txt:stream", 17 }, "one of :" },
        { { "what?", 5 }, "one of :" },
        { { "NUL", 3 }, "device" },
        { { "x/con.txt", 9 }, "device" },
        { { "Com1.log", 8 }, "device" },
        { { "lpt9", 4 }, "device" },
        { { "COM\u00B9", 5 }, "device" },
        { { "\uFF23\uFF2F\uFF2E", 9 }, "device" },
        { { "\u0301a", 3 }, "combining mark" },
        { { "\uFF0E\uFF0E/x", 8 }, "looks like a dot" },
        { { "\u2025/x", 5 }, "looks like a dot" },
        { { "a\uFF0Fb", 5 }, "looks like a dot, a slash" },
        { { "a\uFF3Cb", 5 }, "looks like a dot, a slash" },
        { { "\U0001D41A", 4 }, "compatibility form" },
        { { "\uFDFA", 3 }, "compatibility form" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(100);

        buf_add_text(&out, "kept");
        ASSERT_FAILS(path_normalise(cases[i].path, &out, &t->err), ERR_PATH_DENIED);
        ASSERT_CONTAINS(test_err_text(t), cases[i].reason);
        ASSERT(utf8_find_odd(str_from(test_err_text(t)), ~0u, NULL, NULL) == UTF8_PLAIN);
        ASSERT_TEXT(buf_text(&out), "kept");
    }
}

TEST(path_normalise_bounds_names_and_paths)
{
    char text[LIMIT_PATH_BYTES + 10];
    AUTO_BUF out = BUF_INIT(LIMIT_PATH_BYTES);
    AUTO_BUF small = BUF_INIT(3);

    memset(text, 'a', sizeof(text));
    ASSERT_OK(path_normalise(str_of(text, 255), &out, &t->err));
    ASSERT_FAILS(path_normalise(str_of(text, 256), &out, &t->err), ERR_PATH_DENIED);
    for (size_t i = 1; i < sizeof(text); i += 2)
        text[i] = '/';
    buf_clear(&out);
    ASSERT_OK(path_normalise(str_of(text, LIMIT_PATH_BYTES), &out, &t->err));
    ASSERT_FAILS(path_normalise(str_of(text, LIMIT_PATH_BYTES + 1), &out, &t->err),
                 ERR_PATH_DENIED);
    ASSERT_FAILS(path_normalise(STR("abcd"), &small, &t->err), ERR_TOO_LARGE);
}

TEST(path_fold_equates_names_that_are_taken_for_one)
{
    static const struct {
        const char *a, *b;
    } same[] = {
        { "README.md", "readme.MD" },
        { "\u00C9t\u00E9", "e\u0301te\u0301" }, /* composed and decomposed */
        { "stra\u00DFe", "STRASSE" },
        { "\uFF53\uFF4B\uFF49\uFF4C\uFF4C", "skill" }, /* fullwidth */
        { "\uFB01le", "file" },                        /* ligature */
        { "a\u0323\u0301", "a\u0301\u0323" },          /* marks in either order */
        { "\u1EA5", "a\u0302\u0301" },
        { "\u03A3\u03AF\u03C3\u03C5\u03C6\u03BF\u03C2",
          "\u03C3\u03AF\u03C3\u03C5\u03C6\u03BF\u03C3" },
        { "\u041F\u0420\u0418", "\u043F\u0440\u0438" },       /* Cyrillic */
        { "\u212A", "k" },                                    /* Kelvin sign */
        { "\uAC00\uAC01", "\u1100\u1161\u1100\u1161\u11A8" }, /* Hangul */
        { "\u304C", "\u304B\u3099" },                         /* kana with its mark */
        { "\uFF76\uFF9E", "\u30AC" },                         /* halfwidth katakana */
        { "x\u200By", "xy" },
        { "x\u00B2", "x2" },
        { "\u0130", "i\u0307" },
        { "\u10D0\u1C90", "\u10D0\u10D0" }, /* Georgian */
    };
    static const struct {
        const char *a, *b;
    } different[] = { { "a", "b" },      { "a/b", "ab" }, { "e", "\u00E9" },
                      { "\u0430", "a" }, { "a", "aa" },   { "\u65E5", "\u66F0" } };

    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        if (!path_same(str_from(same[i].a), str_from(same[i].b)))
            FAIL("%s and %s are different", same[i].a, same[i].b);
    for (size_t i = 0; i < ARRAY_LEN(different); i++)
        if (path_same(str_from(different[i].a), str_from(different[i].b)))
            FAIL("%s and %s are the same", different[i].a, different[i].b);
    ASSERT(!path_same(STR("\xff"), STR("a")));
}

TEST(path_fold_of_a_fold_is_itself)
{
    for (uint32_t code = 1; code < 0x110000; code++) {
        AUTO_BUF once = BUF_INIT(100);
        AUTO_BUF twice = BUF_INIT(100);
        char bytes[UTF8_MAX_BYTES];
        size_t n = utf8_encode(code, bytes);

        if (n == 0)
            continue;
        ASSERT_EQ(path_fold(str_of(bytes, n), &once), 0);
        ASSERT_EQ(path_fold(buf_str(&once), &twice), 0);
        if (!str_eq(buf_str(&once), buf_str(&twice)))
            FAIL("U+%04X", code);
    }
}

TEST(path_fold_is_bounded_with_many_marks)
{
    AUTO_BUF text = BUF_INIT(1000);
    AUTO_BUF out = BUF_INIT(1000);
    AUTO_BUF small = BUF_INIT(2);

    buf_add_char(&text, 'a');
    for (int i = 0; i < 100; i++)
        buf_add_utf8(&text, 0x0300 + (uint32_t)i % 16);
    ASSERT_EQ(path_fold(buf_str(&text), &out), 0);
    ASSERT_EQ(out.n, text.n);
    ASSERT_EQ(path_fold(STR("abc"), &small), -1);
    ASSERT_EQ(path_fold(STR("a\xff"), &out), -1);
}

TEST(path_check_protected_sees_through_case_and_forms)
{
    static const char *const guarded[] = { ".git", "AGENTS.md", "agents/caf\u00E9/identity" };
    static const char *const denied[] = { ".git", ".GIT/config", "agents.MD", "\uFF21GENTS.md",
                                          "Agents/CAFE\u0301/Identity/x" };
    static const char *const allowed[] = { ".gitignore", "a/.git", "agents", "agents/x" };

    for (size_t i = 0; i < ARRAY_LEN(denied); i++) {
        ASSERT_FAILS(path_check_protected(str_from(denied[i]), guarded, 3, &t->err),
                     ERR_PATH_DENIED);
        ASSERT_CONTAINS(test_err_text(t), "is protected");
    }
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
        ASSERT_OK(path_check_protected(str_from(allowed[i]), guarded, 3, &t->err));
    ASSERT_FAILS(path_check_protected(STR("\xff"), guarded, 3, &t->err), ERR_PATH_DENIED);
}

/* root/ok/file, root/link -> ../outside, root/ok/filelink -> file, outside/secret */
static int make_tree(struct test *t)
{
    int root;

    mkdir(test_path(t, "root"), 0700);
    mkdir(test_path(t, "root/ok"), 0700);
    mkdir(test_path(t, "outside"), 0700);
    test_write_file(test_path(t, "root/ok/file"), "fine", 4);
    test_write_file(test_path(t, "outside/secret"), "secret", 6);
    ASSERT_EQ(symlink("../outside", test_path(t, "root/link")), 0);
    ASSERT_EQ(symlink("file", test_path(t, "root/ok/filelink")), 0);
    ASSERT_EQ(symlink("/proc/self/root", test_path(t, "root/magic")), 0);
    root = open(test_path(t, "root"), O_RDONLY | O_DIRECTORY);
    ASSERT(root >= 0);
    return root;
}

typedef int open_function(int, const char *, int, mode_t, int *, struct err *);

static void check_open(struct test *t, open_function *open_path)
{
    int root = make_tree(t), fd = -7;
    AUTO_BUF out = BUF_INIT(100);

    ASSERT_OK(open_path(root, "ok/file", O_RDONLY, 0, &fd, &t->err));
    ASSERT_OK(file_read_fd(fd, "file", &out, &t->err));
    ASSERT_TEXT(buf_text(&out), "fine");
    ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    ASSERT_OK(open_path(root, "ok/new", O_WRONLY | O_CREAT | O_EXCL, 0640, &fd, &t->err));
    close(fd);
    ASSERT_OK(open_path(root, "ok", O_RDONLY | O_DIRECTORY, 0, &fd, &t->err));
    close(fd);
    fd = -7;
    ASSERT_FAILS(open_path(root, "ok/new", O_WRONLY | O_CREAT | O_EXCL, 0600, &fd, &t->err),
                 ERR_CONFLICT);
    ASSERT_FAILS(open_path(root, "link/secret", O_RDONLY, 0, &fd, &t->err), ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "link/secret: a symbolic link is on the way");
    ASSERT_FAILS(open_path(root, "link", O_RDONLY, 0, &fd, &t->err), ERR_PATH_DENIED);
    ASSERT_FAILS(open_path(root, "link", O_PATH, 0, &fd, &t->err), ERR_PATH_DENIED);
    ASSERT_FAILS(open_path(root, "ok/filelink", O_RDONLY, 0, &fd, &t->err), ERR_PATH_DENIED);
    ASSERT_FAILS(open_path(root, "ok/filelink", O_WRONLY | O_CREAT, 0600, &fd, &t->err),
                 ERR_PATH_DENIED);
    ASSERT_FAILS(open_path(root, "magic/etc/passwd", O_RDONLY, 0, &fd, &t->err), ERR_PATH_DENIED);
    ASSERT_FAILS(open_path(root, "../outside/secret", O_RDONLY, 0, &fd, &t->err), ERR_PATH_DENIED);
    ASSERT_FAILS(open_path(root, "/etc/passwd", O_RDONLY, 0, &fd, &t->err), ERR_PATH_DENIED);
    ASSERT_FAILS(open_path(root, "ok//file", O_RDONLY, 0, &fd, &t->err), ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "not normalised; expected \"ok/file\"");
    ASSERT_FAILS(open_path(root, "absent/x", O_RDONLY, 0, &fd, &t->err), ERR_NOT_FOUND);
    ASSERT_FAILS(open_path(root, "ok/file/x", O_RDONLY, 0, &fd, &t->err), ERR_NOT_FOUND);
    ASSERT_EQ(fd, -7);
    close(root);
}

TEST(path_open_beneath_stays_below_its_root)
{
    check_open(t, path_open_beneath);
}

TEST(path_open_walking_stays_below_its_root)
{
    check_open(t, path_open_walking);
}

struct swap {
    const char *a, *b;
    bool stop;
};

static void *swap_names(void *arg)
{
    struct swap *swap = arg;

    while (!__atomic_load_n(&swap->stop, __ATOMIC_RELAXED))
        renameat2(AT_FDCWD, swap->a, AT_FDCWD, swap->b, RENAME_EXCHANGE);
    return NULL;
}

/* A directory and a link out of the root change places all the time; until both have been met
 * often, whatever the scheduler does. */
static void check_race(struct test *t, open_function *open_path)
{
    int root = make_tree(t), fd, opened = 0, refused = 0;
    struct swap swap = { test_path(t, "root/ok"), test_path(t, "root/link"), false };
    pthread_t thread;

    test_write_file(test_path(t, "root/ok/secret"), "inside", 6);
    ASSERT_EQ(pthread_create(&thread, NULL, swap_names, &swap), 0);
    while (opened < 500 || refused < 500) {
        AUTO_BUF out = BUF_INIT(100);

        if (open_path(root, "ok/secret", O_RDONLY, 0, &fd, &t->err) < 0) {
            refused++;
            continue;
        }
        ASSERT_OK(file_read_fd(fd, "secret", &out, &t->err));
        ASSERT_TEXT(buf_text(&out), "inside");
        close(fd);
        opened++;
    }
    __atomic_store_n(&swap.stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    close(root);
}

TEST(path_open_beneath_wins_against_swapped_links)
{
    check_race(t, path_open_beneath);
}

TEST(path_open_walking_wins_against_swapped_links)
{
    check_race(t, path_open_walking);
}

TEST(path_mkdir_beneath_makes_what_is_missing_and_follows_no_link)
{
    int root = make_tree(t);
    struct stat st;

    ASSERT_OK(path_mkdir_beneath(root, "ok/a/b/c", 0750, &t->err));
    ASSERT_OK(path_mkdir_beneath(root, "ok/a/b/c", 0750, &t->err));
    ASSERT_EQ(stat(test_path(t, "root/ok/a/b/c"), &st), 0);
    ASSERT(S_ISDIR(st.st_mode));
    ASSERT_FAILS(path_mkdir_beneath(root, "link/a", 0700, &t->err), ERR_PATH_DENIED);
    ASSERT(access(test_path(t, "outside/a"), F_OK) < 0);
    ASSERT_FAILS(path_mkdir_beneath(root, "../x", 0700, &t->err), ERR_PATH_DENIED);
    ASSERT_FAILS(path_mkdir_beneath(root, "ok/file/x", 0700, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "file is not a directory");
    ASSERT_FAILS(path_mkdir_beneath(-1, "x", 0700, &t->err), ERR_INTERNAL);
    close(root);
}

TEST(path_write_beneath_writes_below_its_root_only)
{
    int root = make_tree(t);

    ASSERT_OK(path_write_beneath(root, "top", STR("one"), 0600, &t->err));
    ASSERT_STR(test_read_file(t, test_path(t, "root/top")), "one");
    ASSERT_OK(path_write_beneath(root, "ok/file", STR("two"), 0600, &t->err));
    ASSERT_STR(test_read_file(t, test_path(t, "root/ok/file")), "two");
    ASSERT_FAILS(path_write_beneath(root, "link/secret", STR("x"), 0600, &t->err), ERR_PATH_DENIED);
    ASSERT_STR(test_read_file(t, test_path(t, "outside/secret")), "secret");
    ASSERT_FAILS(path_write_beneath(root, "no/dir", STR("x"), 0600, &t->err), ERR_NOT_FOUND);
    ASSERT_FAILS(path_write_beneath(root, "../x", STR("x"), 0600, &t->err), ERR_PATH_DENIED);
    close(root);
}

TEST(path_messages_show_the_path_and_spell_out_what_deceives)
{
    static const struct {
        struct str path;
        const char *message;
    } cases[] = {
        { { "caf\u00E9/../x y", 12 }, "path \"caf\u00E9/../x y\": \"..\" is not allowed" },
        { { "a\u202Eb\x1b", 6 },
          "path \"a\\u202eb\\u001b\": text direction character U+202E at byte 1" },
        { { "a\0b", 3 }, "path \"a\\u0000b\": NUL at byte 1" },
        { { "a\xffz", 3 }, "path \"a\uFFFDz\": invalid UTF-8 at byte 1" },
        { { "GIT~1", 5 }, "path \"GIT~1\": a name looks like a short alias of Windows (NAME~1)" },
    };
    char many[200];
    AUTO_BUF none = BUF_INIT(100);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(100);

        ASSERT_FAILS(path_normalise(cases[i].path, &out, &t->err), ERR_PATH_DENIED);
        ASSERT_TEXT(test_err_text(t), cases[i].message);
    }
    memset(many, '.', sizeof(many));
    ASSERT_FAILS(path_normalise(str_of(many, sizeof(many)), &none, &t->err), ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "..\u2026\": a name ends in a dot");
}
