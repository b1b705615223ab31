/* SPDX-License-Identifier: MIT */
#include "base/patch.h"

#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/diff.h"
#include "base/rand.h"
#include "harness/test.h"

static int apply(struct test *t, struct str patch_text, struct str old_text, struct buf *out,
                 struct patch_reject *reject)
{
    AUTO_PATCH patch = PATCH_INIT;

    if (patch_parse(patch_text, &patch, &t->err) < 0)
        return -1;
    return patch_apply(patch.files, old_text, out, reject, &t->err);
}

static void check(struct test *t, const char *patch, const char *old_text, const char *expected)
{
    AUTO_BUF out = BUF_INIT(1u << 20);

    ASSERT_OK(apply(t, str_from(patch), str_from(old_text), &out, NULL));
    ASSERT_TEXT(buf_text(&out), expected);
}

#define HEAD "--- a/f\n+++ b/f\n"

TEST(patch_applies_at_its_place_or_at_an_offset)
{
    static const char change[] = HEAD "@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n";

    check(t, change, "a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n");
    check(t, change, "new\nnew\na\nb\nc\nd\n", "new\nnew\na\nb\nC\nd\n");
    check(t, change, "b\nc\nd\n", "b\nC\nd\n");
    /* The nearest of two places. */
    check(t, change, "b\nc\nd\n1\n2\nb\nc\nd\n", "b\nC\nd\n1\n2\nb\nc\nd\n");
}

TEST(patch_keeps_line_ends_and_missing_newlines)
{
    check(t, HEAD "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n", "a\r\nb\r\n", "a\r\nB\r\n");
    check(t, HEAD "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "a", "a\n");
    check(t, HEAD "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", "a\n", "b");
    check(t, HEAD "@@ -1,3 +1,3 @@\n a\n\n-c\n+C\n", "a\n\nc\n", "a\n\nC\n");
    check(t, HEAD "@@ -1 +1 @@\n-a\n+b", "a\n", "b"); /* cut off without the remark */
}

TEST(patch_creates_and_deletes_files)
{
    AUTO_PATCH patch = PATCH_INIT;
    AUTO_BUF out = BUF_INIT(100);

    ASSERT_OK(patch_parse(STR("From: x\ndiff --git a/n b/n\nnew file mode 100644\nindex 0..1\n"
                              "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+one\n+two\n"
                              "diff --git a/o b/o\ndeleted file mode 100644\n"
                              "--- a/o\t2026-01-01 00:00:00\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
                              "-- \n2.39.2\n"),
                          &patch, &t->err));
    ASSERT_EQ(patch.file_count, 2);
    ASSERT(patch.files->creates && !patch.files->deletes);
    ASSERT_STR(patch_target(patch.files), "n");
    ASSERT_OK(patch_apply(patch.files, STR(""), &out, NULL, &t->err));
    ASSERT_TEXT(buf_text(&out), "one\ntwo\n");
    ASSERT_FAILS(patch_apply(patch.files, STR("x\n"), &out, NULL, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "creates n, which exists already");
    ASSERT_TEXT(buf_text(&out), "one\ntwo\n");
    ASSERT(patch.files->next->deletes);
    ASSERT_STR(patch_target(patch.files->next), "o");
    buf_clear(&out);
    ASSERT_OK(patch_apply(patch.files->next, STR("gone\n"), &out, NULL, &t->err));
    ASSERT_EQ(out.n, 0);
    ASSERT_FAILS(patch_apply(patch.files->next, STR("gone\nmore\n"), &out, NULL, &t->err),
                 ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "deletes o, but text would be left");
}

TEST(patch_target_keeps_names_that_are_not_gits)
{
    AUTO_PATCH patch = PATCH_INIT;

    ASSERT_OK(patch_parse(STR("--- a/x.orig\n+++ a/x\n@@ -1 +1 @@\n-a\n+b\n"), &patch, &t->err));
    ASSERT_STR(patch_target(patch.files), "a/x");
}

TEST(patch_says_which_hunk_does_not_fit_and_why)
{
    static const char two[] = HEAD "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -4,2 +4,2 @@\n d\n-e\n+E\n";
    struct patch_reject reject;
    AUTO_BUF out = BUF_INIT(100);

    buf_add_text(&out, "kept");
    ASSERT_FAILS(apply(t, str_from(two), STR("a\nb\nc\nd\nX\n"), &out, &reject), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "hunk 2 of 2 (line 7 of the patch) does not fit: line 5 "
                                      "should be \"e\", but is \"X\"");
    ASSERT_EQ(reject.hunk, 2);
    ASSERT_EQ(reject.line, 5);
    ASSERT_STR(reject.expected, "e\n");
    ASSERT_STR(reject.found, "X\n");
    ASSERT_TEXT(buf_text(&out), "kept");
    ASSERT_FAILS(apply(t, str_from(two), STR("a\nb\nc\n"), &out, &reject), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "but the text ends before it");
    ASSERT_FAILS(apply(t, str_from(two), STR(""), &out, NULL), ERR_CONFLICT);
    /* The second hunk's place may not lie before the first one's. */
    ASSERT_FAILS(apply(t, str_from(two), STR("d\ne\na\nb\n"), &out, &reject), ERR_CONFLICT);
    ASSERT_EQ(reject.hunk, 2);
    /* White space counts. */
    ASSERT_FAILS(apply(t, str_from(two), STR("a \nb\nc\nd\ne\n"), &out, &reject), ERR_CONFLICT);
    ASSERT_EQ(reject.hunk, 1);
}

TEST(patch_never_joins_lines)
{
    struct patch_reject reject;
    AUTO_BUF out = BUF_INIT(100);

    /* A last line without newline in the patch, but more follows in the text. */
    ASSERT_FAILS(apply(t, STR(HEAD "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"),
                       STR("a\nrest\n"), &out, &reject),
                 ERR_CONFLICT);
    /* Lines added after a last line that has no newline. */
    ASSERT_FAILS(apply(t, STR(HEAD "@@ -1,0 +2 @@\n+b\n"), STR("a"), &out, &reject), ERR_CONFLICT);
    check(t, HEAD "@@ -1,0 +2 @@\n+b\n", "a\nc\n", "a\nb\nc\n");
}

TEST(patch_that_grows_past_the_cap_leaves_nothing)
{
    AUTO_BUF out = BUF_INIT(4);

    ASSERT_FAILS(apply(t, STR(HEAD "@@ -1 +1,3 @@\n a\n+b\n+c\n"), STR("a\n"), &out, NULL),
                 ERR_TOO_LARGE);
    ASSERT_EQ(out.n, 0);
    ASSERT(!out.full);
}

TEST(patch_parse_refuses_what_is_broken)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "", "patch line 1: no file names" },
        { "just text\nand more\n", "no file names" },
        { "--- a\n", "no file names" },
        { "@@ -1 +1 @@\n-a\n+b\n", "patch line 1: a hunk without file names" },
        { HEAD, "patch line 3: a hunk (@@ …) must follow" },
        { HEAD "text\n", "patch line 3: a hunk (@@ …) must follow" },
        { HEAD "@@ 1 +1 @@\n", "patch line 3: \"@@ 1 +1 @@\" is no hunk header" },
        { HEAD "@@ -1 +1\n", "is no hunk header" },
        { HEAD "@@ -1,x +1 @@\n", "is no hunk header" },
        { HEAD "@@ -9999999999 +1 @@\n", "is no hunk header" },
        { HEAD "@@ -0,1 +1 @@\n-a\n+b\n", "begins at line 0" },
        { HEAD "@@ -1,2 +1 @@\n-a\n+b\n", "the patch ends within a hunk; 1 old and 0 new" },
        { HEAD "@@ -1 +1 @@\n-a\n-b\n+c\n", "patch line 5: \"-b\" does not fit the hunk's counts" },
        { HEAD "@@ -1 +1 @@\n-a\n+b\n+c\n",
          "patch line 6: \"+c\" follows a hunk that is complete" },
        { HEAD "@@ -1 +1 @@\n-a\n?b\n", "does not fit" },
        { HEAD "@@ -5 +5 @@\n-a\n+b\n@@ -2 +2 @@\n-c\n+d\n", "within or before the one that ends" },
        { HEAD "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -3 +3 @@\n-c\n+d\n", "hunk begins at line 3" },
        { "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "both file names are /dev/null" },
        { "--- \n+++ b\n@@ -1 +1 @@\n-a\n+b\n", "a file name is missing" },
        { "--- \"a\\qb\"\n+++ b\n@@ -1 +1 @@\n-a\n+b\n", "patch line 1: a quoted file name is" },
        { "--- a\n+++ \"b\n@@ -1 +1 @@\n-a\n+b\n", "patch line 2: a quoted file name is" },
        { "--- \"\"\n+++ b\n@@ -1 +1 @@\n-a\n+b\n", "a quoted file name is" },
        { "--- \"a\\000\"\n+++ b\n@@ -1 +1 @@\n-a\n+b\n", "a quoted file name is" },
        { "--- \"a\\389\"\n+++ b\n@@ -1 +1 @@\n-a\n+b\n", "a quoted file name is" },
        { "--- \"a\\", "no file names" },
        { "--- \"a\\\n+++ b\n", "a quoted file name is" },
        { "diff --git a/x b/y\nrename from x\nrename to y\n", "renames, copies and binary" },
        { "GIT binary patch\n", "renames, copies and binary" },
        { HEAD "@@ -1,4000000 +1,4000000 @@\n a\n", "the patch ends within a hunk" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct patch patch = PATCH_INIT;

        ASSERT_FAILS(patch_parse(str_from(cases[i].text), &patch, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].error);
        ASSERT(patch.files == NULL);
    }
}

static void random_text(struct rand *rand, struct buf *out, unsigned letters, size_t lines)
{
    static const char *const ends[] = { "\n", "\n", "\n", "\r\n" };

    for (size_t i = 0; i < lines; i++) {
        unsigned kind = (unsigned)rand_below(rand, 10);

        if (kind > 0) /* some lines are empty */
            buf_printf(out, "%s%c",
                       kind == 1   ? "-- "
                       : kind == 2 ? "\\ "
                                   : "",
                       (char)('a' + rand_below(rand, letters)));
        buf_add_text(out, ends[rand_below(rand, 4)]);
    }
    if (rand_below(rand, 3) == 0)
        buf_add_text(out, "last");
}

/* b is a with some lines changed. */
static void mutate(struct rand *rand, struct str a, struct buf *b)
{
    while (a.n) {
        ptrdiff_t end = str_find_char(a, '\n');
        struct str line = end < 0 ? a : str_take(a, (size_t)end + 1);
        unsigned choice = (unsigned)rand_below(rand, 12);

        a = str_skip(a, line.n);
        if (choice == 0)
            continue;
        if (choice == 1)
            buf_add_text(b, "inserted\n");
        buf_add_str(b, choice == 2 ? STR("replaced\n") : line);
    }
}

TEST(patch_of_a_diff_gives_the_new_text_for_random_pairs)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 4);
    for (int i = 0; i < 10000; i++) {
        AUTO_BUF a = BUF_INIT(100000);
        AUTO_BUF b = BUF_INIT(100000);
        AUTO_BUF text = BUF_INIT(1u << 20);
        AUTO_BUF out = BUF_INIT(100000);
        AUTO_DIFF diff = DIFF_INIT;

        random_text(&rand.rand, &a, 1 + (unsigned)rand_below(&rand.rand, 8),
                    rand_below(&rand.rand, 40));
        if (i % 2)
            mutate(&rand.rand, buf_str(&a), &b);
        else
            random_text(&rand.rand, &b, 1 + (unsigned)rand_below(&rand.rand, 8),
                        rand_below(&rand.rand, 40));
        ASSERT_OK(diff_make(buf_str(&a), buf_str(&b), &diff, &t->err));
        ASSERT_EQ(diff_unified(&diff, "a/f", "b/f", rand_below(&rand.rand, 5), &text), 0);
        if (text.n == 0) {
            ASSERT(str_eq(buf_str(&a), buf_str(&b)));
            continue;
        }
        if (apply(t, buf_str(&text), buf_str(&a), &out, NULL) < 0 ||
            !str_eq(buf_str(&out), buf_str(&b)))
            FAIL("%s\nold:\n%s\nnew:\n%s\npatch:\n%s\ngot:\n%s", test_err_text(t), buf_text(&a),
                 buf_text(&b), buf_text(&text), buf_text(&out));
    }
}

TEST(patch_search_is_bounded_on_hostile_input)
{
    AUTO_BUF old_text = BUF_INIT(1u << 20);
    AUTO_BUF text = BUF_INIT(1u << 20);
    AUTO_BUF out = BUF_INIT(2u << 20);
    clock_t start = clock();

    for (int i = 0; i < 100000; i++)
        buf_add_text(&old_text, "a\n");
    buf_add_text(&text, HEAD "@@ -50000,10001 +50000,10001 @@\n");
    for (int i = 0; i < 10000; i++)
        buf_add_text(&text, " a\n");
    buf_add_text(&text, "-b\n+c\n");
    ASSERT_FAILS(apply(t, buf_str(&text), buf_str(&old_text), &out, NULL), ERR_CONFLICT);
    ASSERT(clock() - start < 10 * CLOCKS_PER_SEC);
}
