/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/rand.h"
#include "hand_ops.h"
#include "sandbox/search.h"

static size_t shown(struct json_object *r)
{
    return json_object_array_length(json_find(r, "matches"));
}

/* The paths of the matches, in order: "a b". */
static const char *paths(struct test *t, struct json_object *r)
{
    AUTO_BUF out = BUF_INIT(1u << 20);

    for (size_t i = 0; i < shown(r); i++)
        buf_printf(&out, "%s%s", i ? " " : "",
                   ops_str(r, arena_printf(&t->arena, "matches/%zu/path", i)));
    return arena_text(&t->arena, buf_text(&out));
}

TEST(search_finds_lines_with_their_numbers)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "a/one.txt", "x\nneedle here\r\ny\n");
    ops_write(t, ops, "two.txt", "no\n");
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\"}");
    ASSERT_EQ(shown(r), 1);
    ASSERT_TEXT(ops_str(r, "matches/0/path"), "a/one.txt");
    ASSERT_EQ(ops_int(r, "matches/0/line"), 2);
    ASSERT_TEXT(ops_str(r, "matches/0/text"), "needle here");
    ASSERT_EQ(ops_int(r, "files"), 1);
    ASSERT_EQ(ops_int(r, "total"), 1);
    ASSERT_EQ(ops_int(r, "searched"), 2);
    ASSERT_EQ(ops_bool(r, "truncated"), 0);
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"ne+dle\",\"regex\":true,\"context\":1}");
    ASSERT_TEXT(ops_str(r, "matches/0/before/0"), "x");
    ASSERT_TEXT(ops_str(r, "matches/0/after/0"), "y");
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"NEEDLE\",\"ignore_case\":true,\"path\":\"a\"}");
    ASSERT_TEXT(paths(t, r), "a/one.txt");
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\",\"path\":\"a/one.txt\"}");
    ASSERT_TEXT(paths(t, r), "a/one.txt");
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"ne+dle\"}");
    ASSERT_EQ(ops_int(r, "total"), 0);
}

TEST(search_lists_files_by_name)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "src/a.c", "");
    ops_write(t, ops, "src/b.h", "");
    ops_write(t, ops, "c.c", "needle\n");
    r = OPS_CALL(ops, op_search, "{\"glob\":\"*.c\"}");
    ASSERT_TEXT(paths(t, r), "c.c src/a.c");
    ASSERT_EQ(ops_int(r, "total"), 2);
    r = OPS_CALL(ops, op_search, "{\"glob\":\"src/*\"}");
    ASSERT_TEXT(paths(t, r), "src/a.c src/b.h");
    r = OPS_CALL(ops, op_search, "{\"glob\":\"!src\"}");
    ASSERT_TEXT(paths(t, r), "c.c");
    r = OPS_CALL(ops, op_search, "{\"glob\":\"*.c\",\"pattern\":\"needle\",\"files_only\":true}");
    ASSERT_TEXT(paths(t, r), "c.c");
    ASSERT_EQ(ops_int(r, "total"), 1);
    r = OPS_CALL(ops, op_search, "{\"glob\":\"*\",\"path\":\"c.c\"}");
    ASSERT_TEXT(paths(t, r), "c.c");
    r = OPS_CALL(ops, op_search, "{\"glob\":\"*\",\"limit\":2}");
    ASSERT_TEXT(paths(t, r), "c.c src/a.c");
    ASSERT_EQ(ops_bool(r, "truncated"), 1);
    ASSERT_EQ(ops_int(r, "total"), 3);
}

TEST(search_passes_over_what_is_hidden_ignored_binary_or_denied)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, ".hidden/f", "needle\n");
    ops_write(t, ops, ".env", "needle\n");
    ops_write(t, ops, "build/f", "needle\n");
    ops_write(t, ops, "sub/keep.log", "needle\n");
    ops_write(t, ops, "sub/x.log", "needle\n");
    ops_write(t, ops, "sub/.gitignore", "!keep.log\n");
    ops_write(t, ops, ".gitignore", "build/\n*.log\n");
    ops_write(t, ops, ".git/info/exclude", "excluded\n");
    ops_write(t, ops, ".git/config", "needle\n");
    ops_write(t, ops, "excluded", "needle\n");
    ops_write(t, ops, "plain", "needle\n");
    ops_write(t, ops, "denied/f", "needle\n");
    test_write_file(ops_path(t, ops, "binary"), "needle\n\0", 8);
    ops->deny[1] = ops_path(t, ops, "denied");
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\"}");
    ASSERT_TEXT(paths(t, r), "plain sub/keep.log");
    ASSERT_EQ(ops_int(r, "skipped/binary"), 1);
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\",\"no_ignore\":true}");
    ASSERT_TEXT(paths(t, r), "build/f excluded plain sub/keep.log sub/x.log");
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\",\"hidden\":true}");
    ASSERT_TEXT(paths(t, r), ".hidden/f plain sub/keep.log");
    /* Rules of the repository hold in a search that begins below its top. */
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\",\"path\":\"sub\"}");
    ASSERT_TEXT(paths(t, r), "sub/keep.log");
    /* What is named is searched, ignored or not. */
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\",\"path\":\"build\"}");
    ASSERT_TEXT(paths(t, r), "build/f");
    OPS_FAILS(ops, ERR_PATH_DENIED, op_search, "{\"pattern\":\"x\",\"path\":\"denied\"}");
    OPS_FAILS(ops, ERR_PATH_DENIED, op_search, "{\"pattern\":\"x\",\"path\":\"/proc/self\"}");
}

TEST(search_follows_no_links_and_waits_for_nothing, .timeout_s = 20)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "d/f", "needle\n");
    test_write_file(arena_printf(&t->arena, "%s/key", ops->deny[0]), "needle\n", 7);
    ASSERT_EQ(symlink("../secret", ops_path(t, ops, "out")), 0);
    ASSERT_EQ(symlink(".", ops_path(t, ops, "loop")), 0);
    ASSERT_EQ(symlink("d/f", ops_path(t, ops, "link")), 0);
    ASSERT_EQ(symlink("d", ops_path(t, ops, "dlink")), 0);
    ASSERT_EQ(mkfifo(ops_path(t, ops, "pipe"), 0600), 0);
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\"}");
    ASSERT_TEXT(paths(t, r), "d/f");
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\",\"path\":\"dlink\"}");
    ASSERT_TEXT(paths(t, r), "d/f");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_search, "{\"pattern\":\"needle\",\"path\":\"pipe\"}");
    OPS_FAILS(ops, ERR_NOT_FOUND, op_search, "{\"pattern\":\"needle\",\"path\":\"absent\"}");
}

TEST(the_best_comes_first)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "a.c", "lookup(1);\n");
    ops_write(t, ops, "b.c", "lookup(1);\nlookup(2);\nlookup(3);\nlookup(4);\n");
    ops_write(t, ops, "c.c", "x\nint lookup(int n)\n{\n");
    ops_write(t, ops, "z_lookup.c", "lookup(9);\n");
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"lookup\",\"files_only\":false,\"limit\":4}");
    ASSERT_TEXT(paths(t, r), "z_lookup.c c.c b.c b.c");
    ASSERT_EQ(ops_bool(r, "truncated"), 1);
    ASSERT_EQ(ops_int(r, "total"), 7);
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"lookup\"}");
    ASSERT_TEXT(paths(t, r), "z_lookup.c c.c b.c b.c b.c b.c a.c");
}

TEST(no_file_hides_the_others_and_definitions_are_shown)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF big = BUF_INIT(1u << 20);
    struct json_object *r;

    for (int i = 0; i < 1000; i++)
        buf_printf(&big, "  call_me(%d);\n", i);
    buf_add_text(&big, "void call_me(int n)\n{\n");
    ops_write(t, ops, "big.c", buf_text(&big));
    ops_write(t, ops, "small.c", "  call_me(1);\n");
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"call_me\",\"limit\":4}");
    ASSERT_TEXT(paths(t, r), "big.c big.c big.c small.c");
    ASSERT_EQ(ops_int(r, "matches/0/line"), 1);
    ASSERT_EQ(ops_int(r, "matches/1/line"), 2);
    ASSERT_EQ(ops_int(r, "matches/2/line"), 1001);
    ASSERT_EQ(ops_int(r, "total"), 1002);
}

TEST(lines_that_define_are_told_from_those_that_use)
{
    static const char *const defining[] = {
        "def f(x):",       "class A:",           "  pub fn go() {",
        "#define X 1",     "static int f(void)", "export function a() {",
        "type T struct {", "struct a {",         "int main(void) {"
    };
    static const char *const using_[] = { "f(x);",    "  return f(x)", "",
                                          "   ",      "def",           "x = class_of(y)",
                                          "if (a) {", "// class A",    "defer f()" };

    for (size_t i = 0; i < sizeof(defining) / sizeof(*defining); i++)
        if (!search_defines(str_from(defining[i])))
            FAIL("%s", defining[i]);
    for (size_t i = 0; i < sizeof(using_) / sizeof(*using_); i++)
        if (search_defines(str_from(using_[i])))
            FAIL("%s", using_[i]);
}

TEST(long_lines_are_shown_around_the_match)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF line = BUF_INIT(4u << 20);
    struct json_object *r;

    for (int i = 0; i < 300000; i++)
        buf_add_text(&line, "\xC3\xA9");
    buf_add_text(&line, "needle");
    for (int i = 0; i < 300000; i++)
        buf_add_text(&line, "\xC3\xA9");
    ops_write(t, ops, "f", buf_text(&line));
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\"}");
    ASSERT_CONTAINS(ops_str(r, "matches/0/text"), "\xC3\xA9needle\xC3\xA9");
    ASSERT(strlen(ops_str(r, "matches/0/text")) < 320);
    ASSERT(strncmp(ops_str(r, "matches/0/text"), "…\xC3\xA9", 5) == 0);
    ASSERT(!strstr(ops_str(r, "matches/0/text"), "\xEF\xBF\xBD"));
}

TEST(large_files_are_searched_in_pieces, .timeout_s = 60)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF text = BUF_INIT(8u << 20);
    struct json_object *r;
    int lines = 0;

    /* Lines of odd lengths, so that pieces end in the middle of some. */
    while (text.n < 5u << 20) {
        buf_printf(&text, "%*s%s\n", lines % 977, "", lines % 1000 == 999 ? "needle" : "hay");
        lines++;
    }
    ops_write(t, ops, "f", buf_text(&text));
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\",\"limit\":1000}");
    ASSERT_EQ(ops_int(r, "total"), lines / 1000);
    ASSERT_EQ(ops_int(r, "matches/2/line"), 3000);
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"need|xyz\",\"regex\":true}");
    ASSERT_EQ(ops_int(r, "total"), lines / 1000);
    /* A NUL far behind the first match still makes it binary. */
    test_write_file(ops_path(t, ops, "f"), buf_text(&text), text.n + 1);
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\"}");
    ASSERT_EQ(ops_int(r, "total"), 0);
    ASSERT_EQ(ops_int(r, "skipped/binary"), 1);
}

TEST(a_line_longer_than_any_buffer_does_no_harm, .timeout_s = 60)
{
    struct ops *ops = ops_new(t);
    AUTO_FD fd = open(ops_path(t, ops, "f"), O_RDWR | O_CREAT, 0600);
    static char step[1 << 20];
    struct json_object *r;

    memset(step, 'x', sizeof(step));
    for (int i = 0; i < 20; i++)
        ASSERT_EQ(write(fd, step, sizeof(step)), (ssize_t)sizeof(step));
    ASSERT_EQ(write(fd, "needle\nneedle", 13), 13);
    r = OPS_CALL(ops, op_search, "{\"pattern\":\"needle\"}");
    ASSERT_EQ(ops_int(r, "total"), 2);
}

TEST(search_refuses_what_it_cannot_do)
{
    struct ops *ops = ops_new(t);

    OPS_FAILS(ops, ERR_BAD_REQUEST, op_search, "{}");
    ASSERT_CONTAINS(test_err_text(t), "at least one is needed");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_search, "{\"pattern\":\"\"}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_search, "{\"pattern\":\"(\",\"regex\":true}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_search, "{\"pattern\":\"x\",\"limit\":0}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_search, "{\"pattern\":\"x\",\"limit\":1001}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_search, "{\"pattern\":\"x\",\"context\":11}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_search, "{\"glob\":\"{a\"}");
    OPS_FAILS(ops, ERR_SCHEMA_VIOLATION, op_search, "{\"pattern\":\"x\",\"hidden\":1}");
}

TEST(a_search_ends_when_it_is_cancelled_or_too_late, .timeout_s = 30)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF text = BUF_INIT(1u << 20);

    for (int i = 0; i < 2000; i++)
        buf_add_text(&text, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n");
    for (int i = 0; i < 50; i++)
        ops_write(t, ops, arena_printf(&t->arena, "d%d/f", i), buf_text(&text));
    OPS_FAILS(ops, ERR_TIMEOUT, op_search, "{\"pattern\":\"^(a+)+$\",\"regex\":true}");
    ASSERT_CONTAINS(test_err_text(t), "too many ways");
    ops->ctx.deadline_ms = clock_mono_ms(clock_system()) + 1;
    OPS_FAILS(ops, ERR_TIMEOUT, op_search, "{\"pattern\":\"(x|y)+[0-9]z\",\"regex\":true}");
    ops->ctx.deadline_ms = 0;
    atomic_store(&ops->cancelled, true);
    OPS_FAILS(ops, ERR_CANCELLED, op_search, "{\"pattern\":\"x\"}");
}

static void *swap_on(void *arg)
{
    void **a = arg;

    while (!atomic_load((atomic_bool *)a[2]))
        renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_EXCHANGE);
    return NULL;
}

TEST(a_search_is_not_led_out_by_a_link_swapped_in, .timeout_s = 60)
{
    struct ops *ops = ops_new(t);
    atomic_bool stop = false;
    void *arg[3] = { (void *)ops_path(t, ops, "d"), (void *)ops_path(t, ops, "l"), &stop };
    pthread_t thread;

    ops_write(t, ops, "d/sub/f", "open\n");
    ASSERT_EQ(mkdir(arena_printf(&t->arena, "%s/sub", ops->deny[0]), 0755), 0);
    test_write_file(arena_printf(&t->arena, "%s/sub/f", ops->deny[0]), "hidden\n", 7);
    ASSERT_EQ(symlink("../secret", ops_path(t, ops, "l")), 0);
    ASSERT_EQ(pthread_create(&thread, NULL, swap_on, arg), 0);
    for (int i = 0; i < 300; i++) {
        struct json_object *r = OPS_CALL(ops, op_search, "{\"pattern\":\"hidden\"}");

        ASSERT_EQ(ops_int(r, "total"), 0);
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
}

/* ---- against rg and grep ---- */

static const char *const words[] = { "alpha",    "beta", "Gamma", "delta_1",     "x",
                                     "foo(bar)", "\t",   "  ",    "caf\xC3\xA9", "0x1F",
                                     "foo",      "bar",  ";" };

static void random_tree(struct test *t, struct ops *ops, struct rand *rand)
{
    for (uint64_t files = 30 + rand_below(rand, 60); files > 0; files--) {
        AUTO_BUF text = BUF_INIT(1u << 20);
        AUTO_BUF path = BUF_INIT(300);

        for (uint64_t n = rand_below(rand, 4); n > 0; n--)
            buf_printf(&path, "%c/", (int)('a' + rand_below(rand, 3)));
        buf_printf(&path, "f%u%s", (unsigned)rand_below(rand, 40),
                   rand_below(rand, 3) == 0 ? ".log" : ".txt");
        for (uint64_t n = rand_below(rand, 40); n > 0; n--) {
            for (uint64_t k = rand_below(rand, 6); k > 0; k--)
                buf_add_text(&text, words[rand_below(rand, sizeof(words) / sizeof(*words))]);
            buf_add_text(&text, rand_below(rand, 20) == 0 ? "\r\n" : "\n");
        }
        if (rand_below(rand, 4) == 0)
            buf_add_text(&text, "last foo");
        ops_write(t, ops, buf_text(&path), buf_text(&text));
    }
}

/* Sum of the counts that `rg -c` or `grep -c` print, one a line behind the last colon. */
static int64_t sum_of(const char *output)
{
    struct str rest = str_from(output), line;
    int64_t sum = 0, n;

    while (str_split(&rest, '\n', &line)) {
        const char *colon = line.n ? memrchr(line.p, ':', line.n) : NULL;

        if (colon && str_to_i64(str_skip(line, (size_t)(colon + 1 - line.p)), &n) == 0)
            sum += n;
    }
    return sum;
}

static const struct {
    const char *pattern, *json;
    bool regex, ignore_case;
} searches[] = {
    { "foo", "foo", false, false },
    { "GAMMA", "GAMMA", false, true },
    { "foo(bar)", "foo(bar)", false, false },
    { "foo\\(ba.\\)", "foo\\\\(ba.\\\\)", true, false },
    { "^\\s*$", "^\\\\s*$", true, false },
    { "^$", "^$", true, false },
    { "[^a-z]+x", "[^a-z]+x", true, false },
    { "caf.$", "caf.$", true, false },
    { "\\bbar\\b", "\\\\bbar\\\\b", true, false },
    { "ALPHA|(be|de)(ta|lta)", "ALPHA|(be|de)(ta|lta)", true, true },
    { "x*", "x*", true, false },
    { "\\w+_1", "\\\\w+_1", true, false },
    { ".*foo.*bar", ".*foo.*bar", true, false },
    { "\xC3\x89", "\xC3\x89", false, true },
    { "a[[:space:]]+b", "a[[:space:]]+b", true, false },
    { "(foo|bar){2,3};?$", "(foo|bar){2,3};?$", true, false },
};

TEST(counts_agree_with_rg_on_random_trees, .timeout_s = 180)
{
    struct ops *ops = ops_new(t);
    static const char *const init[] = { "git", "init", "-q", ".", NULL };
    struct rand_fake rand;
    int64_t all = 0;

    rand_fake_init(&rand, 23);
    random_tree(t, ops, &rand.rand);
    ops_run(t, ops->allow[0], 0, init);
    for (int round = 0; round < 6; round++) {
        random_tree(t, ops, &rand.rand);
        ops_write(t, ops, ".gitignore", round % 2 ? "*.log\n!f1.log\n/a/b/\n" : "b/\nf2*\n");
        ops_write(t, ops, "a/.gitignore", "f3.txt\n!f2.txt\n/c\n");
        ops_write(t, ops, "c/.ignore", round % 3 ? "!f4.log\n" : "f5.*\n");
        for (size_t i = 0; i < sizeof(searches) / sizeof(*searches); i++) {
            const char *rg[] = { "rg",
                                 "-c",
                                 "--no-config",
                                 "--no-require-git",
                                 searches[i].regex ? "-e" : "-Fe",
                                 searches[i].pattern,
                                 searches[i].ignore_case ? "-i" : "-s",
                                 ".",
                                 NULL };
            struct json_object *r =
                OPS_CALL(ops, op_search, "{\"pattern\":\"%s\",\"regex\":%s,\"ignore_case\":%s}",
                         searches[i].json, searches[i].regex ? "true" : "false",
                         searches[i].ignore_case ? "true" : "false");
            int64_t theirs = sum_of(ops_run(t, ops->allow[0], 1, rg));

            if (ops_int(r, "total") != theirs)
                FAIL("%s: %lld lines, rg has %lld", searches[i].pattern,
                     (long long)ops_int(r, "total"), (long long)theirs);
            all += theirs;
        }
    }
    ASSERT(all > 1000);
}

TEST(counts_agree_with_grep_when_nothing_is_ignored, .timeout_s = 60)
{
    struct ops *ops = ops_new(t);
    struct rand_fake rand;

    rand_fake_init(&rand, 77);
    random_tree(t, ops, &rand.rand);
    ops_write(t, ops, ".gitignore", "*\n");
    for (size_t i = 0; i < 3; i++) {
        const char *grep[] = { "grep",
                               "-rcF",
                               searches[i].ignore_case ? "-i" : "-a",
                               "--exclude=.*",
                               "-e",
                               searches[i].pattern,
                               ".",
                               NULL };
        struct json_object *r =
            OPS_CALL(ops, op_search, "{\"pattern\":\"%s\",\"no_ignore\":true,\"ignore_case\":%s}",
                     searches[i].json, searches[i].ignore_case ? "true" : "false");

        ASSERT_EQ(ops_int(r, "total"), sum_of(ops_run(t, ops->allow[0], 1, grep)));
        ASSERT(ops_int(r, "total") > 0);
    }
}

static size_t count_lines(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

TEST(globs_agree_with_rg, .timeout_s = 60)
{
    static const char *const globs[] = { "*.txt",      "!*.txt",  "a/*.log",         "a/**",
                                         "**/b/*",     "f[1-3]*", "{a,c}/**/f?.txt", "/f*",
                                         "*.{log,md}", "!a",      "!{a,b}/",         "a/**/c/*" };
    struct ops *ops = ops_new(t);
    struct rand_fake rand;

    rand_fake_init(&rand, 31);
    random_tree(t, ops, &rand.rand);
    random_tree(t, ops, &rand.rand);
    for (size_t i = 0; i < sizeof(globs) / sizeof(*globs); i++) {
        const char *rg[] = { "rg", "--files", "--no-config", "-g", globs[i], ".", NULL };
        struct json_object *r =
            OPS_CALL(ops, op_search, "{\"glob\":\"%s\",\"limit\":1000}", globs[i]);
        size_t theirs = count_lines(ops_run(t, ops->allow[0], 1, rg));

        if ((size_t)ops_int(r, "total") != theirs)
            FAIL("%s: %lld files, rg has %zu", globs[i], (long long)ops_int(r, "total"), theirs);
    }
}

TEST(the_result_does_not_depend_on_the_threads, .timeout_s = 60)
{
    struct ops *ops = ops_new(t);
    struct rand_fake rand;
    const char *first = NULL;
    AUTO(pattern) pattern = NULL;

    rand_fake_init(&rand, 3);
    random_tree(t, ops, &rand.rand);
    random_tree(t, ops, &rand.rand);
    ASSERT_OK(pattern_compile(STR("foo"), false, false, &pattern, &t->err));
    for (unsigned threads = 1; threads <= SEARCH_THREADS_MAX; threads++) {
        struct search_request request = { .pattern = pattern, .threads = threads };
        struct search_result result = SEARCH_RESULT_INIT;
        AUTO_PLACE root = ACCESS_PLACE_INIT;
        AUTO_BUF text = BUF_INIT(1u << 20);

        ASSERT_OK(access_read(&ops->ctx, STR("."), &root, &t->err));
        ASSERT_OK(search_run(&ops->ctx, &root, &request, &result, &t->err));
        for (size_t i = 0; i < result.n; i++)
            buf_printf(&text, "%s:%llu\n", result.found[i].path,
                       (unsigned long long)result.found[i].count);
        search_result_release(&result);
        if (!first)
            first = arena_text(&t->arena, buf_text(&text));
        ASSERT_TEXT(buf_text(&text), first);
    }
    ASSERT(first && first[0]);
}
