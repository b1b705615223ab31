/* Patches that do not fit, at offsets, of several files, and with hostile headers.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/patch.h"
#include "harness/test.h"

#define HEAD "--- a/f\n+++ b/f\n"

static int apply(struct test *t, const char *patch_text, const char *old_text, struct buf *out,
                 struct patch_reject *reject)
{
    AUTO_PATCH patch = PATCH_INIT;

    ASSERT_OK(patch_parse(str_from(patch_text), &patch, &t->err));
    return patch_apply(patch.files, str_from(old_text), out, reject, &t->err);
}

TEST(patch_rejects_with_numbers_and_words)
{
    static const struct {
        const char *patch, *text;
        size_t hunk, line;
        const char *error;
    } cases[] = {
        { HEAD "@@ -1 +1 @@\n-a\n+b\n", "x\n", 1, 1,
          "hunk 1 of 1 (line 3 of the patch) does not fit: line 1 should be \"a\", but is \"x\"" },
        { HEAD "@@ -1 +1 @@\n-a\n+b\n", "", 1, 1,
          "line 1 should be \"a\", but the text ends before it" },
        { HEAD "@@ -2,2 +2,2 @@\n b\n-c\n+C\n", "a\nb\nx\n", 1, 3,
          "line 3 should be \"c\", but is \"x\"" },
        { HEAD "@@ -2,2 +2,2 @@\n b\n-c\n+C\n", "a\nb\n", 1, 3,
          "line 3 should be \"c\", but the text ends before it" },
        { HEAD "@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-c\n+C\n", "a\nb\nx\n", 2, 3,
          "hunk 2 of 2 (line 6 of the patch) does not fit: line 3 should be \"c\"" },
        { HEAD "@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-c\n+C\n@@ -5 +5 @@\n-e\n+E\n", "a\nb\nc\nd\nx\n",
          3, 5, "hunk 3 of 3 (line 9 of the patch) does not fit: line 5" },
        { HEAD "@@ -1 +1 @@\n-a\n+b\n", "a\r\n", 1, 1, "line 1 should be \"a\", but is \"a\"" },
        { HEAD "@@ -1 +1 @@\n-a\n+b\n", "A\n", 1, 1, "should be \"a\", but is \"A\"" },
        { HEAD "@@ -1 +1 @@\n-a b\n+b\n", "a  b\n", 1, 1, "should be \"a b\", but is \"a  b\"" },
        { HEAD "@@ -1 +1 @@\n-a\n+b\n", "a", 1, 1, "should be \"a\", but is \"a\"" },
        { HEAD "@@ -1 +1 @@\n-\n+b\n", "a\n", 1, 1, "line 1 should be \"\", but is \"a\"" },
        /* Found elsewhere, but before what the first hunk has done already. */
        { HEAD "@@ -2 +2 @@\n-b\n+B\n@@ -4 +4 @@\n-d\n+D\n", "d\nb\nc\nx\n", 2, 4,
          "line 4 should be \"d\", but is \"x\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(1000);
        struct patch_reject reject = { .hunk = 0 };

        buf_add_text(&out, "kept");
        ASSERT_FAILS(apply(t, cases[i].patch, cases[i].text, &out, &reject), ERR_CONFLICT);
        ASSERT_CONTAINS(test_err_text(t), cases[i].error);
        ASSERT_EQ(reject.hunk, cases[i].hunk);
        ASSERT_EQ(reject.line, cases[i].line);
        ASSERT_TEXT(buf_text(&out), "kept");
    }
}

TEST(patch_shows_no_more_than_a_part_of_long_lines)
{
    char line[301], text[303], patch[400];
    struct patch_reject reject;
    AUTO_BUF out = BUF_INIT(1000);

    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    snprintf(text, sizeof(text), "%s\n", line);
    line[299] = 'y';
    snprintf(patch, sizeof(patch), HEAD "@@ -1 +1 @@\n-%s\n+b\n", line);
    ASSERT_FAILS(apply(t, patch, text, &out, &reject), ERR_CONFLICT);
    ASSERT_EQ(reject.expected.n, 301); /* whole for programs … */
    ASSERT_EQ(reject.found.n, 301);
    ASSERT(strlen(test_err_text(t)) < 300); /* … cut for people */
}

/* A block of ten lines whose hunk says line `said`, while it stands at `real`. */
TEST(patch_finds_its_place_at_every_offset)
{
    for (int said = 1; said <= 20; said++)
        for (int real = 1; real <= 20; real++) {
            AUTO_BUF text = BUF_INIT(1000);
            AUTO_BUF expected = BUF_INIT(1000);
            AUTO_BUF out = BUF_INIT(1000);
            const char *patch = arena_printf(
                &t->arena, HEAD "@@ -%d,3 +%d,3 @@\n one\n-two\n+TWO\n three\n", said, said);

            for (int i = 1; i < real; i++) {
                buf_printf(&text, "before %d\n", i);
                buf_printf(&expected, "before %d\n", i);
            }
            buf_add_text(&text, "one\ntwo\nthree\nafter\n");
            buf_add_text(&expected, "one\nTWO\nthree\nafter\n");
            ASSERT_OK(apply(t, patch, buf_text(&text), &out, NULL));
            ASSERT_TEXT(buf_text(&out), buf_text(&expected));
        }
}

TEST(patch_prefers_the_nearest_place_and_the_earlier_of_two)
{
    static const struct {
        int said;
        const char *expected;
    } cases[] = {
        { 1, "A\n-\n-\n-\na\n-\n-\na\n" }, { 2, "A\n-\n-\n-\na\n-\n-\na\n" },
        { 3, "A\n-\n-\n-\na\n-\n-\na\n" }, /* two lines either way */
        { 4, "a\n-\n-\n-\nA\n-\n-\na\n" }, { 5, "a\n-\n-\n-\nA\n-\n-\na\n" },
        { 6, "a\n-\n-\n-\nA\n-\n-\na\n" }, { 7, "a\n-\n-\n-\na\n-\n-\nA\n" },
        { 8, "a\n-\n-\n-\na\n-\n-\nA\n" }, { 900, "a\n-\n-\n-\na\n-\n-\nA\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(1000);
        const char *patch =
            arena_printf(&t->arena, HEAD "@@ -%d +%d @@\n-a\n+A\n", cases[i].said, cases[i].said);

        ASSERT_OK(apply(t, patch, "a\n-\n-\n-\na\n-\n-\na\n", &out, NULL));
        ASSERT_TEXT(buf_text(&out), cases[i].expected);
    }
}

TEST(patch_later_hunks_go_where_the_first_one_went)
{
    AUTO_BUF out = BUF_INIT(1000);

    /* Two lines came in before; without the drift the second hunk would take the nearer "b". */
    ASSERT_OK(apply(t, HEAD "@@ -1 +1 @@\n-a\n+A\n@@ -4 +4 @@\n-b\n+B\n", "new\nnew\na\nb\n-\nb\n",
                    &out, NULL));
    ASSERT_TEXT(buf_text(&out), "new\nnew\nA\nb\n-\nB\n");
    buf_clear(&out);
    /* And when lines went away. */
    ASSERT_OK(apply(t, HEAD "@@ -5 +5 @@\n-a\n+A\n@@ -8 +8 @@\n-b\n+B\n",
                    "a\n-\n-\nb\n-\n-\n-\nb\n", &out, NULL));
    ASSERT_TEXT(buf_text(&out), "A\n-\n-\nB\n-\n-\n-\nb\n");
}

TEST(patch_of_several_files_keeps_them_apart)
{
    static const char text[] = "diff --git a/one b/one\nindex 1..2 100644\n--- a/one\n+++ b/one\n"
                               "@@ -1 +1 @@\n-1\n+I\n@@ -3 +3 @@ in a function\n-3\n+III\n"
                               "diff --git a/two b/two\nnew file mode 100644\n--- /dev/null\n"
                               "+++ b/two\n@@ -0,0 +1 @@\n+new\n"
                               "some words between\n"
                               "--- a/dir/three\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";
    static const struct {
        const char *target, *before, *after;
        size_t hunks;
        bool creates, deletes;
    } files[] = {
        { "one", "1\n2\n3\n", "I\n2\nIII\n", 2, false, false },
        { "two", "", "new\n", 1, true, false },
        { "dir/three", "old\n", "", 1, false, true },
    };
    AUTO_PATCH patch = PATCH_INIT;
    const struct patch_file *file;
    size_t i = 0;

    ASSERT_OK(patch_parse(str_from(text), &patch, &t->err));
    ASSERT_EQ(patch.file_count, ARRAY_LEN(files));
    for (file = patch.files; file; file = file->next, i++) {
        AUTO_BUF out = BUF_INIT(1000);

        ASSERT_STR(patch_target(file), files[i].target);
        ASSERT_EQ(file->hunk_count, files[i].hunks);
        ASSERT_EQ(file->creates, files[i].creates);
        ASSERT_EQ(file->deletes, files[i].deletes);
        ASSERT_OK(patch_apply(file, str_from(files[i].before), &out, NULL, &t->err));
        ASSERT_STR(buf_str(&out), files[i].after);
    }
    ASSERT_EQ(i, ARRAY_LEN(files));
    ASSERT_EQ(patch.files->hunks[0].line, 5);
    ASSERT_EQ(patch.files->hunks[1].line, 8);
    ASSERT_EQ(patch.files->hunks[1].old_start, 3);
}

TEST(patch_takes_deleted_and_added_lines_that_look_like_headers)
{
    AUTO_BUF out = BUF_INIT(1000);

    ASSERT_OK(apply(t, HEAD "@@ -1,2 +1,2 @@\n--- x\n+++ y\n @@ -1 +1 @@\n", "-- x\n@@ -1 +1 @@\n",
                    &out, NULL));
    ASSERT_TEXT(buf_text(&out), "++ y\n@@ -1 +1 @@\n");
}

TEST(patch_refuses_hostile_headers_with_the_line)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { HEAD "@@ -1,1 +1,1 @\n", "patch line 3: \"@@ -1,1 +1,1 @\" is no hunk header" },
        { HEAD "@@ -,1 +1 @@\n", "is no hunk header" },
        { HEAD "@@ --1 +1 @@\n", "is no hunk header" },
        { HEAD "@@ -1, +1 @@\n", "is no hunk header" },
        { HEAD "@@ -1 -1 @@\n", "is no hunk header" },
        { HEAD "@@ -1  +1 @@\n", "is no hunk header" },
        { HEAD "@@ -0x1 +1 @@\n", "is no hunk header" },
        { HEAD "@@ -1,1000000000 +1 @@\n", "is no hunk header" },
        { HEAD "@@ -1,18446744073709551617 +1 @@\n", "is no hunk header" },
        { HEAD "@@@ -1 -1 +1 @@@\n", "is no hunk header" },
        { HEAD "@@\n", "patch line 3: \"@@\" is no hunk header" },
        { HEAD "@@ -1 +0 @@\n-a\n+b\n", "patch line 3: a hunk with lines begins at line 0" },
        { HEAD "@@ -999999999,999999999 +1 @@\n", "999999999 old and 1 new lines are missing" },
        { HEAD "@@ -1,2 +1,2 @@\n a\n\\ No newline at end of file\n",
          "patch line 6: the patch ends within a hunk; 1 old and 1 new lines are missing" },
        { HEAD "@@ -1 +1 @@\n-a\n+b\n-c\n", "patch line 6: \"-c\" follows a hunk" },
        { HEAD "@@ -1 +1 @@\n-a\n+b\n c\n", "patch line 6: \"c\" follows a hunk" },
        { HEAD "@@ -3 +3 @@\n-a\n+b\n@@ -3 +3 @@\n-a\n+b\n",
          "patch line 6: hunk begins at line 3, within or before the one that ends at line 3" },
        { HEAD "@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n",
          "patch line 8: a hunk (@@ …) must follow the file names" },
        { "--- a\n+++ \n@@ -1 +1 @@\n-a\n+b\n", "patch line 2: a file name is missing" },
        { "--- \t2026\n+++ b\n", "patch line 1: a file name is missing" },
        { "words\ncopy from x\n", "patch line 2: \"copy from x\": renames, copies and binary" },
        { "Binary files a/x and b/x differ\n", "patch line 1: \"Binary files" },
        { "--- \"a\\400\"\n+++ b\n", "patch line 1: a quoted file name is broken" },
        { "--- \"a\\1\"\n+++ b\n", "patch line 1: a quoted file name is broken" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct patch patch = PATCH_INIT;

        ASSERT_FAILS(patch_parse(str_from(cases[i].text), &patch, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].error);
        ASSERT(patch.files == NULL && patch.file_count == 0);
    }
}

TEST(patch_cut_at_any_byte_changes_nothing)
{
    static const char text[] = HEAD "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+BB\n c\n";
    const size_t whole = sizeof(text) - 1;

    for (size_t n = 0; n < whole; n++) {
        AUTO_PATCH patch = PATCH_INIT;
        AUTO_BUF out = BUF_INIT(100);

        if (patch_parse(str_of(text, n), &patch, &t->err) < 0)
            continue;
        /* Only the last line may be cut; it then differs from the line that is there. */
        ASSERT(n >= whole - 2);
        ASSERT_FAILS(patch_apply(patch.files, STR("a\nb\nc\n"), &out, NULL, &t->err), ERR_CONFLICT);
        ASSERT_EQ(out.n, 0);
        if (n < whole - 1)
            continue;
        ASSERT_OK(patch_apply(patch.files, STR("a\nb\nc"), &out, NULL, &t->err));
        ASSERT_TEXT(buf_text(&out), "a\nB\nBB\nc");
    }
}
