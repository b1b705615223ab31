/* Hunks: where they begin and end, which edits share one, and what their headers say.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/diff.h"
#include "base/patch.h"
#include "base/rand.h"
#include "harness/test.h"

/* 1 .. n, the lines in `changed` (ended by 0) with a c after them. */
static const char *numbers(struct test *t, int n, const int *changed)
{
    AUTO_BUF text = BUF_INIT(1u << 20);

    for (int i = 1; i <= n; i++) {
        bool hit = false;

        for (const int *at = changed; *at; at++)
            hit |= *at == i;
        buf_printf(&text, hit ? "%dc\n" : "%d\n", i);
    }
    return arena_copy(&t->arena, buf_text(&text), text.n);
}

static const char *headers(struct test *t, const char *a, const char *b, size_t context)
{
    AUTO_BUF out = BUF_INIT(1u << 20);
    AUTO_DIFF diff = DIFF_INIT;
    struct diff_hunk hunk;
    size_t at = 0;

    ASSERT_OK(diff_make(str_from(a), str_from(b), &diff, &t->err));
    while (diff_next_hunk(&diff, context, &at, &hunk))
        buf_printf(&out, "%zu,%zu %zu,%zu x%zu;", hunk.a, hunk.a_n, hunk.b, hunk.b_n,
                   hunk.edit_count);
    ASSERT(!diff_next_hunk(&diff, context, &at, &hunk));
    return arena_copy(&t->arena, buf_text(&out), out.n);
}

static const char *unified(struct test *t, const char *a, const char *b, size_t context)
{
    AUTO_BUF out = BUF_INIT(1u << 20);
    AUTO_DIFF diff = DIFF_INIT;

    ASSERT_OK(diff_make(str_from(a), str_from(b), &diff, &t->err));
    ASSERT_EQ(diff_unified(&diff, "a", "b", context, &out), 0);
    return arena_copy(&t->arena, buf_text(&out), out.n);
}

TEST(diff_hunks_merge_when_their_contexts_touch)
{
    static const struct {
        int first, second;
        size_t context;
        const char *hunks;
    } cases[] = {
        { 5, 6, 0, "4,2 4,2 x1;" },
        { 5, 7, 0, "4,1 4,1 x1;6,1 6,1 x1;" },
        { 5, 7, 1, "3,5 3,5 x2;" },
        { 5, 8, 1, "3,6 3,6 x2;" },
        { 5, 9, 1, "3,3 3,3 x1;7,3 7,3 x1;" },
        { 5, 12, 3, "1,14 1,14 x2;" },
        { 5, 13, 3, "1,7 1,7 x1;9,7 9,7 x1;" },
        { 1, 20, 3, "0,4 0,4 x1;16,4 16,4 x1;" },
        { 2, 19, 3, "0,5 0,5 x1;15,5 15,5 x1;" },
        { 4, 17, 3, "0,7 0,7 x1;13,7 13,7 x1;" },
        { 1, 20, 9, "0,20 0,20 x2;" },
        { 1, 20, 8, "0,9 0,9 x1;11,9 11,9 x1;" },
        { 10, 10, 100, "0,20 0,20 x1;" },
    };
    const char *old_text = numbers(t, 20, (int[]){ 0 });

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *new_text = numbers(t, 20, (int[]){ cases[i].first, cases[i].second, 0 });

        ASSERT_TEXT(headers(t, old_text, new_text, cases[i].context), cases[i].hunks);
    }
    ASSERT_TEXT(headers(t, old_text, old_text, 3), "");
    ASSERT_TEXT(headers(t, "", "", 3), "");
}

TEST(diff_hunks_of_insertions_and_deletions_drift_apart)
{
    ASSERT_TEXT(headers(t, "1\n2\n3\n4\n5\n6\n", "x\n1\n2\n3\n4\n5\n", 1),
                "0,1 0,2 x1;4,2 5,1 x1;");
    ASSERT_TEXT(headers(t, "1\n2\n3\n4\n5\n6\n", "2\n3\n4\n5\n6\nx\n", 1),
                "0,2 0,1 x1;5,1 4,2 x1;");
    ASSERT_TEXT(headers(t, "", "1\n2\n", 3), "0,0 0,2 x1;");
    ASSERT_TEXT(headers(t, "1\n2\n", "", 3), "0,2 0,0 x1;");
}

TEST(diff_headers_count_as_diff_u_does)
{
    static const struct {
        const char *a, *b;
        size_t context;
        const char *text;
    } cases[] = {
        { "a\n", "b\n", 3, "@@ -1 +1 @@\n-a\n+b\n" },
        { "", "b\n", 3, "@@ -0,0 +1 @@\n+b\n" },
        { "", "b\nc\n", 3, "@@ -0,0 +1,2 @@\n+b\n+c\n" },
        { "a\n", "", 3, "@@ -1 +0,0 @@\n-a\n" },
        { "a\nb\n", "", 3, "@@ -1,2 +0,0 @@\n-a\n-b\n" },
        { "a\nb\nc\n", "a\nc\n", 0, "@@ -2 +1,0 @@\n-b\n" },
        { "a\nc\n", "a\nb\nc\n", 0, "@@ -1,0 +2 @@\n+b\n" },
        { "a\nc\n", "b\na\nc\n", 0, "@@ -0,0 +1 @@\n+b\n" },
        { "a\nc\n", "a\nc\nb\n", 0, "@@ -2,0 +3 @@\n+b\n" },
        { "a\nb\n", "x\ny\nb\n", 1, "@@ -1,2 +1,3 @@\n-a\n+x\n+y\n b\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(unified(t, cases[i].a, cases[i].b, cases[i].context),
                    arena_printf(&t->arena, "--- a\n+++ b\n%s", cases[i].text));
}

TEST(diff_takes_line_ends_for_part_of_the_line)
{
    static const struct {
        const char *a, *b, *text;
    } cases[] = {
        { "a\r\n", "a\n", "@@ -1 +1 @@\n-a\r\n+a\n" },
        { "a\r\nb\r\n", "a\r\nB\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n" },
        { "a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n" },
        { "a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n" },
        { "x\na", "y\na", "@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n" },
        { "a\rb\n", "a\rc\n", "@@ -1 +1 @@\n-a\rb\n+a\rc\n" },
        { "a\n", "a\n\n", "@@ -1 +1,2 @@\n a\n+\n" },
        { "a", "b",
          "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"
          "\\ No newline at end of file\n" },
        { "\n", "", "@@ -1 +0,0 @@\n-\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(unified(t, cases[i].a, cases[i].b, 3),
                    arena_printf(&t->arena, "--- a\n+++ b\n%s", cases[i].text));
}

TEST(diff_compares_bytes_after_a_nul)
{
    AUTO_DIFF same = DIFF_INIT;
    AUTO_DIFF other = DIFF_INIT;

    ASSERT_OK(diff_make(STR("a\0b\nc\n"), STR("a\0b\nc\n"), &same, &t->err));
    ASSERT_EQ(same.edit_count, 0);
    ASSERT_OK(diff_make(STR("a\0b\nc\n"), STR("a\0x\nc\n"), &other, &t->err));
    ASSERT_EQ(other.edit_count, 1);
    ASSERT_EQ(other.edits[0].a_n, 1);
    ASSERT_EQ(other.edits[0].b_n, 1);
}

TEST(diff_names_are_written_so_that_they_can_be_read_back)
{
    static const struct {
        const char *name, *written;
    } cases[] = {
        { "plain", "plain" },
        { "with blank", "with blank\t" },
        { "tab\there", "\"tab\\011here\"" },
        { "quote\"", "\"quote\\042\"" },
        { "back\\slash", "\"back\\134slash\"" },
        { "line\nfeed", "\"line\\012feed\"" },
        { "del\x7f", "\"del\\177\"" },
        { "\x01", "\"\\001\"" },
        { "caf\xc3\xa9", "caf\xc3\xa9" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(1000);
        AUTO_DIFF diff = DIFF_INIT;
        AUTO_PATCH patch = PATCH_INIT;

        ASSERT_OK(diff_make(STR("a\n"), STR("b\n"), &diff, &t->err));
        ASSERT_EQ(diff_unified(&diff, cases[i].name, NULL, 3, &out), 0);
        ASSERT_TEXT(buf_text(&out),
                    arena_printf(&t->arena, "--- %s\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
                                 cases[i].written));
        ASSERT_OK(patch_parse(buf_str(&out), &patch, &t->err));
        ASSERT_STR(patch.files->old_name, cases[i].name);
        ASSERT(patch.files->deletes);
    }
}

/* A hunk shows exactly its context, and every line of both texts is told once. */
TEST(diff_hunks_hold_their_context_and_no_more)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 12);
    for (int i = 0; i < 3000; i++) {
        AUTO_BUF a = BUF_INIT(10000);
        AUTO_BUF b = BUF_INIT(10000);
        AUTO_DIFF diff = DIFF_INIT;
        size_t context = rand_below(&rand.rand, 5), at = 0, end = 0, edits = 0;
        struct diff_hunk hunk;

        for (size_t k = rand_below(&rand.rand, 40); k > 0; k--) {
            buf_printf(&a, "%zu\n", k);
            if (rand_below(&rand.rand, 6))
                buf_printf(&b, "%zu\n", k);
            if (rand_below(&rand.rand, 8) == 0)
                buf_add_text(&b, "new\n");
        }
        ASSERT_OK(diff_make(buf_str(&a), buf_str(&b), &diff, &t->err));
        while (diff_next_hunk(&diff, context, &at, &hunk)) {
            const struct diff_edit *first = &diff.edits[hunk.first_edit];
            const struct diff_edit *last = first + hunk.edit_count - 1;
            size_t before = first->a - hunk.a;
            size_t after = hunk.a + hunk.a_n - (last->a + last->a_n);

            ASSERT_EQ(hunk.first_edit, edits);
            ASSERT(before == context || (before < context && hunk.a == 0));
            ASSERT(after == context || (after < context && hunk.a + hunk.a_n == diff.a_n));
            ASSERT_EQ(first->b - hunk.b, before);
            ASSERT_EQ(hunk.b + hunk.b_n - (last->b + last->b_n), after);
            ASSERT(edits == 0 || hunk.a > end); /* hunks that touch are one */
            end = hunk.a + hunk.a_n;
            edits += hunk.edit_count;
        }
        ASSERT_EQ(edits, diff.edit_count);
    }
}

TEST(diff_that_does_not_fit_says_so_at_every_size)
{
    const char *old_text = numbers(t, 30, (int[]){ 0 });
    const char *new_text = numbers(t, 30, (int[]){ 3, 15, 28, 0 });
    size_t whole = strlen(unified(t, old_text, new_text, 3));
    AUTO_DIFF diff = DIFF_INIT;

    ASSERT_OK(diff_make(str_from(old_text), str_from(new_text), &diff, &t->err));
    for (size_t max = 1; max <= whole + 1; max++) {
        AUTO_BUF out = BUF_INIT(max);

        ASSERT_EQ(diff_unified(&diff, "a", "b", 3, &out), max >= whole ? 0 : -1);
    }
}
