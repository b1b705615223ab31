/* SPDX-License-Identifier: MIT */
#include "base/diff.h"

#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "harness/test.h"

static const char *unified(struct test *t, const char *a, const char *b, size_t context)
{
    AUTO_BUF out = BUF_INIT(1u << 20);
    AUTO_DIFF diff = DIFF_INIT;

    ASSERT_OK(diff_make(str_from(a), str_from(b), &diff, &t->err));
    ASSERT_EQ(diff_unified(&diff, "a", "b", context, &out), 0);
    return arena_text(&t->arena, buf_text(&out));
}

TEST(diff_writes_what_diff_u_writes)
{
    static const struct {
        const char *a, *b, *text;
    } cases[] = {
        { "", "", "" },
        { "same\n", "same\n", "" },
        { "", "one\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+one\n" },
        { "one\ntwo\n", "", "--- a\n+++ b\n@@ -1,2 +0,0 @@\n-one\n-two\n" },
        { "a\nb\nc\n", "a\nB\nc\n", "--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n" },
        { "a\n", "a", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n" },
        { "a\nb", "a\nc",
          "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
          "\\ No newline at end of file\n" },
        { "x\ny", "w\ny",
          "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-x\n+w\n y\n\\ No newline at end of file\n" },
        { "a\r\nb\r\n", "a\r\nb\n", "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+b\n" },
        { "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
          "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n" },
        { "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\neight\n9\n",
          "--- a\n+++ b\n@@ -1,9 +1,9 @@\n-1\n+one\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+eight\n 9\n" },
        { "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n",
          "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n"
          "+nine\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(unified(t, cases[i].a, cases[i].b, DIFF_CONTEXT), cases[i].text);
}

TEST(diff_without_context_names_the_line_before_an_insertion)
{
    ASSERT_TEXT(unified(t, "a\nb\n", "a\nx\nb\n", 0), "--- a\n+++ b\n@@ -1,0 +2 @@\n+x\n");
    ASSERT_TEXT(unified(t, "a\nx\nb\n", "a\nb\n", 0), "--- a\n+++ b\n@@ -2 +1,0 @@\n-x\n");
}

TEST(diff_gives_a_function_its_own_closing_brace)
{
    ASSERT_TEXT(unified(t, "f\n{\n}\n\ng\n{\n}\n", "f\n{\n}\n\nh\n{\n}\n\ng\n{\n}\n", 0),
                "--- a\n+++ b\n@@ -4,0 +5,4 @@\n+h\n+{\n+}\n+\n");
}

TEST(diff_names_are_made_safe)
{
    AUTO_BUF out = BUF_INIT(1000);
    AUTO_BUF small = BUF_INIT(10);
    AUTO_DIFF diff = DIFF_INIT;

    ASSERT_OK(diff_make(STR("a\n"), STR("b\n"), &diff, &t->err));
    ASSERT_EQ(diff_unified(&diff, NULL, "x\n+++ y z", 3, &out), 0);
    ASSERT_TEXT(buf_text(&out), "--- /dev/null\n+++ \"x\\012+++ y z\"\n@@ -1 +1 @@\n-a\n+b\n");
    ASSERT_EQ(diff_unified(&diff, "a", "b", 3, &small), -1);
}

TEST(diff_refuses_what_is_too_large)
{
    AUTO_DIFF diff = DIFF_INIT;
    size_t n = DIFF_LINES_MAX + 1;
    char *text = alloc_zero(n, 1);

    memset(text, '\n', n);
    ASSERT_FAILS(diff_make(STR("a"), str_of(text, n), &diff, &t->err), ERR_TOO_LARGE);
    ASSERT_FAILS(diff_make(STR("a"), str_of(text, (size_t)DIFF_BYTES_MAX + 1), &diff, &t->err),
                 ERR_TOO_LARGE);
    free(text);
}

/* Length of the longest common subsequence, by the table. */
static size_t common_length(const struct diff *diff)
{
    static size_t table[64][64];

    for (size_t i = 0; i <= diff->a_n; i++)
        for (size_t k = 0; k <= diff->b_n; k++) {
            if (i == 0 || k == 0)
                table[i][k] = 0;
            else if (str_eq(diff->a[i - 1], diff->b[k - 1]))
                table[i][k] = table[i - 1][k - 1] + 1;
            else
                table[i][k] = table[i - 1][k] > table[i][k - 1] ? table[i - 1][k] : table[i][k - 1];
        }
    return table[diff->a_n][diff->b_n];
}

static void random_text(struct rand *rand, struct buf *out, size_t lines, unsigned letters)
{
    for (size_t i = 0; i < lines; i++) {
        buf_add_char(out, (char)('a' + rand_below(rand, letters)));
        buf_add_text(out, i + 1 == lines && rand_below(rand, 4) == 0 ? "" : "\n");
    }
}

/* Kept lines are equal, edits are in order and do not touch, everything is covered. */
static size_t check_edits(struct test *t, const struct diff *diff)
{
    size_t a = 0, b = 0, kept = 0;

    (void)t;
    for (size_t i = 0; i <= diff->edit_count; i++) {
        struct diff_edit end = { diff->a_n, 0, diff->b_n, 0 };
        struct diff_edit edit = i < diff->edit_count ? diff->edits[i] : end;

        ASSERT(edit.a >= a && edit.a - a == edit.b - b);
        ASSERT(i == 0 || i == diff->edit_count || edit.a > a);
        for (; a < edit.a; a++, b++, kept++)
            ASSERT(str_eq(diff->a[a], diff->b[b]));
        a += edit.a_n;
        b += edit.b_n;
    }
    ASSERT(a == diff->a_n && b == diff->b_n);
    return kept;
}

TEST(diff_is_minimal_on_small_inputs)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 2);
    for (int i = 0; i < 20000; i++) {
        AUTO_BUF a = BUF_INIT(1000);
        AUTO_BUF b = BUF_INIT(1000);
        AUTO_DIFF diff = DIFF_INIT;
        unsigned letters = 1 + (unsigned)rand_below(&rand.rand, 6);

        random_text(&rand.rand, &a, rand_below(&rand.rand, 30), letters);
        random_text(&rand.rand, &b, rand_below(&rand.rand, 30), letters);
        ASSERT_OK(diff_make(buf_str(&a), buf_str(&b), &diff, &t->err));
        ASSERT(diff.minimal);
        if (check_edits(t, &diff) != common_length(&diff))
            FAIL("not minimal:\n%s---\n%s", buf_text(&a), buf_text(&b));
    }
}

static int64_t time_diff(struct test *t, const struct buf *a, const struct buf *b, bool *minimal)
{
    AUTO_DIFF diff = DIFF_INIT;
    clock_t start = clock();

    ASSERT_OK(diff_make(buf_str(a), buf_str(b), &diff, &t->err));
    check_edits(t, &diff);
    *minimal = diff.minimal;
    return (clock() - start) / (CLOCKS_PER_SEC / 1000);
}

/* CPU time under sanitizers; release builds take a tenth. */
#define LARGE_MS_MAX 10000

TEST(diff_of_huge_and_unlike_texts_is_bounded, .timeout_s = 120)
{
    AUTO_BUF a = BUF_INIT(8u << 20);
    AUTO_BUF b = BUF_INIT(8u << 20);
    struct rand_fake rand;
    bool minimal;

    for (int i = 0; i < 100000; i++) {
        buf_printf(&a, "old %d\n", i);
        buf_printf(&b, "new %d\n", i);
    }
    ASSERT(time_diff(t, &a, &b, &minimal) < LARGE_MS_MAX);
    ASSERT(minimal); /* no line in common: nothing to search */
    buf_clear(&a);
    buf_clear(&b);
    rand_fake_init(&rand, 3);
    for (int i = 0; i < 100000; i++) {
        buf_printf(&a, "%d\n", (int)rand_below(&rand.rand, 50));
        buf_printf(&b, "%d\n", (int)rand_below(&rand.rand, 50));
    }
    ASSERT(time_diff(t, &a, &b, &minimal) < LARGE_MS_MAX);
    ASSERT(!minimal);
    buf_clear(&b);
    for (int i = 99999; i >= 0; i--)
        buf_printf(&b, "%d\n", i);
    buf_clear(&a);
    for (int i = 0; i < 100000; i++)
        buf_printf(&a, "%d\n", i);
    ASSERT(time_diff(t, &a, &b, &minimal) < LARGE_MS_MAX); /* turned around */
}

TEST(diff_finds_few_edits_in_a_huge_text)
{
    AUTO_BUF a = BUF_INIT(8u << 20);
    AUTO_BUF b = BUF_INIT(8u << 20);
    AUTO_DIFF diff = DIFF_INIT;
    size_t lines = 0;

    for (int i = 0; i < 200000; i++) {
        buf_printf(&a, "line %d\n", i % 1000);
        buf_printf(&b, i % 1000 == 77 ? "changed %d\n" : "line %d\n", i % 1000);
    }
    ASSERT_OK(diff_make(buf_str(&a), buf_str(&b), &diff, &t->err));
    check_edits(t, &diff);
    for (size_t i = 0; i < diff.edit_count; i++)
        lines += diff.edits[i].a_n + diff.edits[i].b_n;
    ASSERT(diff.minimal);
    ASSERT_EQ(lines, 400);
}
