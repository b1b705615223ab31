/* Paths that try to leave their root: by their text, by links, by an attacker who swaps names while
 * we look, and with the kernel's openat2() taken away.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/utf8.h"
#include "harness/test.h"

#define P(text)                                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

static const struct group {
    const char *reason;
    struct str paths[40];
} groups[] = {
    { "empty", { P("") } },
    { "names no file", { P("."), P("./"), P("././."), P(".//."), P(".///./") } },
    { "absolute",
      { P("/"), P("//"), P("/a"), P("/etc/passwd"), P("//server/share"), P("/./a"), P("/../a"),
        P("///a/b"), P("/proc/self/root"), P("/.") } },
    { "\"..\"",
      { P(".."), P("../"), P("../a"), P("./.."), P("./../a"), P("a/.."), P("a/../"), P("a/../b"),
        P("a/b/../../.."), P("a/./../b"), P("a//..//b"), P("../../../../../../etc/passwd"),
        P("x/../../y"), P("..//a"), P("a/b/c/../d") } },
    { "ends in a dot or blank",
      { P("..."), P("a..."), P("a./b"), P("a "), P("a /b"), P("... "), P(".. "), P(".. /x"),
        P("a/.. "), P("....//x"), P(".git."), P(".git "), P(".git. "), P(".git ./config"), P("a ."),
        P("\uFF0E./x"), P(" ..") } },
    { "begins with a blank", { P(" a"), P("x/ a"), P(" .git/config") } },
    { "NUL at byte",
      { P("\0"), P("a\0"), P("a\0b"), P("a/\0/b"), P("..\0"), P("safe.md\0/../../etc") } },
    { "backslash",
      { P("\\"), P("a\\b"), P("..\\"), P("..\\..\\windows"), P("\\\\server\\share"), P("C\\x"),
        P("a/..\\b"), P("\\\\?\\C"), P(".git\\config"), P("a\\") } },
    { "one of :",
      { P("C:"), P("C:/x"), P("c:x"), P("a:stream"), P(".git::$INDEX_ALLOCATION"), P(".git:$DATA"),
        P("file.txt:Zone.Identifier"), P("a*"), P("?"), P("a?b"), P("<a>"), P("a|b"), P("\"a\""),
        P("x/*"), P("http://a"), P("a/b:c/d") } },
    { "device", { P("CON"),           P("con"),        P("Con.txt"),
                  P("NUL"),           P("nul.tar.gz"), P("AUX"),
                  P("aux.c"),         P("PRN"),        P("x/PRN.md"),
                  P("COM1"),          P("com9.log"),   P("COM0"),
                  P("LPT1"),          P("lpt0.x"),     P("CONIN$"),
                  P("conout$"),       P("CON .txt"),   P("COM\u00B9"),
                  P("LPT\u00B2.txt"), P("com\u00B3"),  P("\uFF23\uFF2F\uFF2E"),
                  P("NU\uFF2C.txt"),  P("C\u2092M1"),  P("\u24B8on") } },
    { "short alias",
      { P("GIT~1"), P("git~1"), P("git~1/config"), P("PROGRA~1"), P("a/DOCUME~2.TXT"), P("A~12345"),
        P("x~0.md"), P("g\u2170t~1"), P("\uFF27IT~1"), P("AGENTS~1.MD") } },
    { "looks like a dot, a slash",
      { P("\uFF0E\uFF0E/x"), P("\uFF0E"),   P("\uFF0E\uFF0E"), P(".\uFF0E"),  P("\u2025/x"),
        P("\u2024\u2024"),   P("\u2026"),   P("a\u2024"),      P("a\uFF0E"),  P("\uFE52\uFE52"),
        P(".\uFE52/x"),      P("a\uFF0Fb"), P("a\uFF3Cb"),     P("a\uFE68b"), P("..\u2215etc"),
        P("a\u2044b"),       P("a\u29F8b"), P("a\u2216b"),     P("\u2100"),   P("\u2105x"),
        P("a\u29F5b"),       P("a\u29F9b") } },
    { "compatibility form",
      { P("\U0001D41A"), P("\uFDFA"), P("\uFB1D"), P("\uFE30"), P("\u33C2"), P("\u3250"),
        P("\U0001F100"), P("\u2F00"), P("\uF900"), P("\U0002F800"), P("\U0001EE00"), P("\uFE70"),
        P("\U0001FBF0") } },
    { "combining mark", { P("\u0301a"), P("x/\u0300"), P("\u20D2a"), P("\u3099"), P("\uFE20b") } },
    { "invalid UTF-8",
      { P("\xff"), P("a\xff"), P("\xc0\xae\xc0\xae/x"), P("\xe0\x80\xae"), P("\xf0\x80\x80\xae"),
        P("\xc0\xaf"), P("a\xc0\xafz"), P("\xed\xa0\x80"), P("\xf4\x90\x80\x80"), P("\xc3"),
        P("a/\xe2\x82"), P("\x80"), P("\xf8\x88\x80\x80\x80"), P("\uFFFE"), P("\U0001FFFF"),
        P("\uFDD0"), P("\xc1\x9c") } },
    { "control character",
      { P("a\nb"), P("a\r"), P("\t"), P("a\x1b[2J"), P("\x7f"), P("a\x01"), P("\xc2\x85"),
        P("a\u2028b"), P("\u2029"), P("..\n"), P("\x1f") } },
    { "text direction",
      { P("a\u202Ecod.exe"), P("\u200Ea"), P("\u200F"), P("\u2066a"), P("a\u2069"), P("\u061C"),
        P("\u202A..") } },
    { "hidden character",
      { P(".g\u200Cit"), P(".\u200B."), P("\u2060"), P("a\u00AD"), P("\uFEFFa"), P(".git\uFE0F"),
        P("\U000E0041"), P("\u3164"), P("\u115F"), P(".\u034F."), P("\u180E"), P("\u2800"),
        P("\uFFA0"), P("a\U000E0100") } },
    { "unusual space",
      { P("a\u00A0"), P("\u3000a"), P("a\u2003b"), P("\u1680"), P("..\u00A0"), P("\u202F") } },
    { "private-use", { P("\uE000"), P("a\uF8FF"), P("\U000F0000"), P("\U0010FFFD") } },
};

static int make_root(struct test *t)
{
    int root;

    mkdir(test_path(t, "root"), 0700);
    mkdir(test_path(t, "outside"), 0700);
    test_write_file(test_path(t, "outside/secret"), "secret", 6);
    root = open(test_path(t, "root"), O_RDONLY | O_DIRECTORY);
    ASSERT(root >= 0);
    return root;
}

/* What is refused as text is refused by every door to the disk. */
static bool all_doors_refuse(int root, const char *path, struct err *err)
{
    int fd = -1;

    return path_open_beneath(root, path, O_CREAT | O_WRONLY, 0600, &fd, err) < 0 &&
           path_open_walking(root, path, O_CREAT | O_WRONLY, 0600, &fd, err) < 0 &&
           path_mkdir_beneath(root, path, 0700, err) < 0 &&
           path_write_beneath(root, path, STR("x"), 0600, err) < 0 && fd == -1;
}

TEST(path_refuses_two_hundred_hostile_texts_each_for_its_reason)
{
    int root = make_root(t);
    unsigned count = 0;

    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        for (const struct str *path = groups[i].paths; path->p; path++, count++) {
            AUTO_BUF out = BUF_INIT(LIMIT_PATH_BYTES);
            char *text = arena_copy(&t->arena, path->p, path->n);

            if (path_normalise(*path, &out, &t->err) >= 0)
                FAIL("\"%s\" (%s, number %td) became \"%s\"", text, groups[i].reason,
                     path - groups[i].paths, buf_text(&out));
            ASSERT_EQ(t->err.code, ERR_PATH_DENIED);
            ASSERT_CONTAINS(test_err_text(t), groups[i].reason);
            ASSERT(utf8_find_odd(str_from(test_err_text(t)), ~0u, NULL, NULL) == UTF8_PLAIN);
            ASSERT_EQ(out.n, 0);
            if (strlen(text) == path->n && !all_doors_refuse(root, text, &t->err))
                FAIL("\"%s\" was let in", text);
        }
    ASSERT(count >= 200);
    close(root);
}

TEST(path_takes_names_that_merely_look_odd)
{
    static const char *const fine[] = {
        "..a",
        "a..b",
        ".a",
        "a.b.c",
        "-rf",
        "~",
        "~user",
        "%2e%2e",
        "a%2fb",
        "#x#",
        "x~",
        "x.~1~",
        "draft~one",
        "longname~1",
        "a~1.markdown",
        "~1",
        "a~1b",
        "CONSOLE",
        "con1",
        "comma",
        "COM10",
        "LPT",
        "nulls.txt",
        "$HOME",
        "a;b",
        "a&b",
        "a'b",
        "(a)[b]{c}",
        "a=b,c+d@e!f",
        "\u00E9t\u00E9.md",
        "\u65E5\u672C\u8A9E",
        "\u0645\u0631\u062D\u0628\u0627",
        "\u05E9\u05DC\u05D5\u05DD",
        "\uD55C\uAE00",
        "\u0928\u092E\u0938\u094D\u0924\u0947",
        "\U0001F600.txt",
        "na\u00EFve",
        "e\u0301",
        "\u00BDx",
        "wait\u2026.md",
        "\u4E00\u3002",
        "\u30AC",
        ".git~",
    };

    for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
        AUTO_BUF out = BUF_INIT(LIMIT_PATH_BYTES);

        ASSERT_OK(path_normalise(str_from(fine[i]), &out, &t->err));
        ASSERT_TEXT(buf_text(&out), fine[i]);
    }
}

/* Whatever single character is let into a name, no folding system makes structure of it. */
TEST(path_lets_no_character_through_that_folds_to_structure)
{
    for (uint32_t code = 0x80; code < 0x20000; code++) {
        AUTO_BUF name = BUF_INIT(32);
        AUTO_BUF out = BUF_INIT(64);
        AUTO_BUF fold = BUF_INIT(256);

        buf_add_utf8(&name, code);
        buf_add_utf8(&name, code);
        if (path_normalise(buf_str(&name), &out, NULL) < 0)
            continue;
        ASSERT_EQ(path_fold(buf_str(&out), &fold), 0);
        if (fold.n == 0 || strpbrk(buf_text(&fold), "/\\") || fold.p[fold.n - 1] == '.')
            FAIL("U+%04X is let in and folds to \"%s\"", code, buf_text(&fold));
    }
}

TEST(path_protects_a_name_against_every_spelling_of_it)
{
    static const char *const guarded[] = { ".git", "agents/coach/SOUL.md" };
    static const char *const spellings[] = {
        ".git",
        ".GIT",
        ".Git/config",
        ".g\u0131t/../x",
        ".G\u0130T",
        ".gi\u1D57",
        "\uFF0Egit/x",
        ".\uFF47it",
        ".\u210Ait",
        ".g\u2170t/hooks",
        ".g\u200Dit",
        "agents/coach/soul.MD",
        "AGENTS/COACH/\u017FOUL.md",
        "agents/\u1D9Coach/SOUL.md/x",
    };
    unsigned protected = 0;

    /* A spelling is either refused as a path, or seen through. */
    for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
        AUTO_BUF out = BUF_INIT(LIMIT_PATH_BYTES);

        if (path_normalise(str_from(spellings[i]), &out, &t->err) < 0)
            continue;
        if (path_check_protected(buf_str(&out), guarded, ARRAY_LEN(guarded), &t->err) >= 0 &&
            !strstr(spellings[i], "\u0130") && !strstr(spellings[i], "\u0131"))
            FAIL("%s is not seen", spellings[i]);
        protected++;
    }
    ASSERT(protected >= 8);
}

/* openat2() answers with this error from now on, in this process. */
static void forbid_openat2(struct test *t, int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { ARRAY_LEN(filter), filter };

    (void)t;
    ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        SKIP("no seccomp filters here");
    ASSERT_EQ(syscall(SYS_openat2, -1, "", NULL, 0), -1);
    ASSERT_EQ(errno, error);
}

static void check_tree(struct test *t, int root)
{
    static const struct {
        const char *path;
        int flags, code; /* ERR_NONE: opens */
    } cases[] = {
        { "d", O_RDONLY | O_DIRECTORY, ERR_NONE },
        { "d/file", O_RDONLY, ERR_NONE },
        { "d/file", O_PATH, ERR_NONE },
        { "d/made", O_WRONLY | O_CREAT, ERR_NONE },
        { "d/made", O_WRONLY | O_CREAT | O_EXCL, ERR_CONFLICT },
        { "d/file", O_RDONLY | O_DIRECTORY, ERR_NOT_FOUND },
        { "d/file/x", O_RDONLY, ERR_NOT_FOUND },
        { "absent", O_RDONLY, ERR_NOT_FOUND },
        { "absent/x", O_WRONLY | O_CREAT, ERR_NOT_FOUND },
        { "up", O_RDONLY, ERR_PATH_DENIED },
        { "up", O_PATH, ERR_PATH_DENIED },
        { "up", O_PATH | O_NOFOLLOW, ERR_PATH_DENIED },
        { "up", O_RDONLY | O_DIRECTORY, ERR_PATH_DENIED },
        { "up/secret", O_RDONLY, ERR_PATH_DENIED },
        { "up/new", O_WRONLY | O_CREAT, ERR_PATH_DENIED },
        { "abs/secret", O_RDONLY, ERR_PATH_DENIED },
        { "self/d/file", O_RDONLY, ERR_PATH_DENIED }, /* a link that stays inside is one, too */
        { "d/loop/x", O_RDONLY, ERR_PATH_DENIED },
        { "d/tofile", O_RDONLY, ERR_PATH_DENIED },
        { "d/tofile", O_WRONLY | O_TRUNC, ERR_PATH_DENIED },
        { "dangling", O_WRONLY | O_CREAT, ERR_PATH_DENIED },
        { "magic/fd", O_RDONLY, ERR_PATH_DENIED },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (int door = 0; door < 2; door++) {
            int fd = -1, r;

            t->err.code = ERR_NONE;
            unlink(test_path(t, cases[i].code == ERR_NONE ? "root/d/made" : "none"));
            r = (door ? path_open_walking : path_open_beneath)(root, cases[i].path, cases[i].flags,
                                                               0600, &fd, &t->err);
            if ((r < 0) != (cases[i].code != ERR_NONE) || (int)t->err.code != cases[i].code)
                FAIL("%s with flags %o by door %d: %s, expected %s", cases[i].path,
                     (unsigned)cases[i].flags, door, r < 0 ? test_err_text(t) : "opened",
                     err_name((enum err_code)cases[i].code));
            if (fd >= 0)
                close(fd);
        }
}

static int make_links(struct test *t)
{
    int root = make_root(t);

    mkdir(test_path(t, "root/d"), 0700);
    test_write_file(test_path(t, "root/d/file"), "inside", 6);
    ASSERT_EQ(symlink("../outside", test_path(t, "root/up")), 0);
    ASSERT_EQ(symlink(test_path(t, "outside"), test_path(t, "root/abs")), 0);
    ASSERT_EQ(symlink(".", test_path(t, "root/self")), 0);
    ASSERT_EQ(symlink("loop", test_path(t, "root/d/loop")), 0);
    ASSERT_EQ(symlink("file", test_path(t, "root/d/tofile")), 0);
    ASSERT_EQ(symlink("../outside/made", test_path(t, "root/dangling")), 0);
    ASSERT_EQ(symlink("/proc/self", test_path(t, "root/magic")), 0);
    return root;
}

static void check_outside(struct test *t)
{
    ASSERT_STR(test_read_file(t, test_path(t, "outside/secret")), "secret");
    ASSERT_EQ(unlink(test_path(t, "outside/secret")), 0);
    ASSERT_EQ(rmdir(test_path(t, "outside")), 0); /* nothing else was put there */
}

TEST(path_open_follows_no_link_with_the_kernels_help)
{
    int root = make_links(t);

    check_tree(t, root);
    check_outside(t);
    close(root);
}

TEST(path_open_follows_no_link_where_the_kernel_lacks_openat2)
{
    int root = make_links(t);

    forbid_openat2(t, ENOSYS);
    check_tree(t, root);
    check_outside(t);
    close(root);
}

TEST(path_open_follows_no_link_where_a_filter_forbids_openat2)
{
    int root = make_links(t);

    forbid_openat2(t, EPERM);
    check_tree(t, root);
    check_outside(t);
    close(root);
}

TEST(path_open_walks_when_openat2_asks_to_try_again_for_ever)
{
    int root = make_links(t);

    forbid_openat2(t, EAGAIN);
    check_tree(t, root);
    check_outside(t);
    close(root);
}

struct attacker {
    pthread_t thread;
    const char *a, *b;
    bool stop;
};

static void *swap_for_ever(void *arg)
{
    struct attacker *attacker = arg;

    while (!__atomic_load_n(&attacker->stop, __ATOMIC_RELAXED))
        renameat2(AT_FDCWD, attacker->a, AT_FDCWD, attacker->b, RENAME_EXCHANGE);
    return NULL;
}

/* root/mid/leaf is a directory and, every other moment, a link to the outside. `act` is called
 * until it has both got through and been refused a number of times, however the threads are
 * scheduled. */
static void attack(struct test *t, int (*act)(int root, unsigned i, struct err *err))
{
    int root = make_root(t);
    unsigned through = 0, refused = 0;
    struct attacker attacker = { .a = test_path(t, "root/mid/leaf"),
                                 .b = test_path(t, "root/mid/evil") };

    mkdir(test_path(t, "root/mid"), 0700);
    mkdir(test_path(t, "root/mid/leaf"), 0700);
    ASSERT_EQ(symlink("../../outside", test_path(t, "root/mid/evil")), 0);
    test_write_file(test_path(t, "root/mid/leaf/secret"), "inside", 6);
    ASSERT_EQ(pthread_create(&attacker.thread, NULL, swap_for_ever, &attacker), 0);
    for (unsigned i = 0; through < 300 || refused < 300; i++)
        if (act(root, i, &t->err) < 0) {
            if (t->err.code != ERR_PATH_DENIED)
                FAIL("%s", test_err_text(t));
            refused++;
        } else {
            through++;
        }
    __atomic_store_n(&attacker.stop, true, __ATOMIC_RELAXED);
    pthread_join(attacker.thread, NULL);
    check_outside(t);
    close(root);
}

static int act_read(int root, unsigned i, struct err *err)
{
    AUTO_BUF text = BUF_INIT(100);
    AUTO_FD fd = -1;

    if ((i % 2 ? path_open_walking : path_open_beneath)(root, "mid/leaf/secret", O_RDONLY, 0, &fd,
                                                        err) < 0)
        return -1;
    ASSERT_EQ(file_read_fd(fd, "secret", &text, err), 0);
    ASSERT_TEXT(buf_text(&text), "inside");
    return 0;
}

static int act_create(int root, unsigned i, struct err *err)
{
    AUTO_FD fd = -1;
    char path[64];

    snprintf(path, sizeof(path), "mid/leaf/new%u", i % 16);
    return (i % 2 ? path_open_walking : path_open_beneath)(root, path, O_WRONLY | O_CREAT | O_TRUNC,
                                                           0600, &fd, err);
}

static int act_write(int root, unsigned i, struct err *err)
{
    (void)i;
    return path_write_beneath(root, "mid/leaf/secret", STR("inside"), 0600, err);
}

static int act_mkdir(int root, unsigned i, struct err *err)
{
    char path[64];

    snprintf(path, sizeof(path), "mid/leaf/%u/%u", i % 8, i % 64);
    return path_mkdir_beneath(root, path, 0700, err);
}

TEST(path_reads_nothing_outside_while_links_are_swapped_in)
{
    attack(t, act_read);
}

TEST(path_creates_nothing_outside_while_links_are_swapped_in)
{
    attack(t, act_create);
}

TEST(path_writes_nothing_outside_while_links_are_swapped_in)
{
    attack(t, act_write);
}

TEST(path_makes_no_directory_outside_while_links_are_swapped_in)
{
    attack(t, act_mkdir);
}

TEST(path_reads_nothing_outside_while_attacked_without_openat2)
{
    forbid_openat2(t, ENOSYS);
    attack(t, act_read);
}

TEST(path_works_below_a_root_that_was_opened_for_its_path_only)
{
    int root = make_links(t), by_path = open(test_path(t, "root"), O_PATH | O_DIRECTORY), fd = -1;

    ASSERT_OK(path_write_beneath(by_path, "top", STR("one"), 0600, &t->err));
    ASSERT_OK(path_write_beneath(by_path, "d/file", STR("two"), 0600, &t->err));
    ASSERT_OK(path_mkdir_beneath(by_path, "x/y", 0700, &t->err));
    ASSERT_OK(path_open_beneath(by_path, "top", O_RDONLY, 0, &fd, &t->err));
    close(fd);
    ASSERT_STR(test_read_file(t, test_path(t, "root/top")), "one");
    ASSERT_STR(test_read_file(t, test_path(t, "root/d/file")), "two");
    ASSERT_FAILS(path_write_beneath(-1, "top", STR("x"), 0600, &t->err), ERR_INTERNAL);
    close(by_path);
    close(root);
}

TEST(path_doors_tell_missing_rights_from_missing_files)
{
    int root = make_links(t), fd = -1;

    if (geteuid() == 0 && setuid(65534) < 0)
        SKIP("can't become an unprivileged user");
    ASSERT_FAILS(path_open_beneath(root, "d/file", O_RDONLY, 0, &fd, &t->err), ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "open d/file: Permission denied");
    ASSERT_FAILS(path_mkdir_beneath(root, "d/x", 0700, &t->err), ERR_PATH_DENIED);
    ASSERT_FAILS(path_write_beneath(root, "top", STR("x"), 0600, &t->err), ERR_PATH_DENIED);
}
