/* SPDX-License-Identifier: MIT */
#include "sandbox/op_edit.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rand.h"
#include "hand_ops.h"

TEST(edit_file_replaces_exactly_one_place_and_shows_it)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "f.c", "int a;\nint b;\nint c;\n");
    ASSERT_EQ(chmod(ops_path(t, ops, "f.c"), 0640), 0);
    r = OPS_CALL(ops, op_edit_file, "{\"path\":\"f.c\",\"old\":\"int b;\",\"new\":\"long b;\"}");
    ASSERT_TEXT(ops_text(t, ops, "f.c"), "int a;\nlong b;\nint c;\n");
    ASSERT_EQ(ops_int(r, "replacements"), 1);
    ASSERT_CONTAINS(ops_str(r, "diff"), "@@ -1,3 +1,3 @@\n int a;\n-int b;\n+long b;\n int c;\n");
    ASSERT_EQ(ops_int(r, "bytes"), 22);
    ASSERT_EQ(strlen(ops_str(r, "sha256")), 64);
}

TEST(edit_file_needs_old_to_be_unique_or_all)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "f", "x\ny\nx\nx\n");
    OPS_FAILS(ops, ERR_CONFLICT, op_edit_file, "{\"path\":\"f\",\"old\":\"x\",\"new\":\"z\"}");
    ASSERT_CONTAINS(test_err_text(t), "occurs 3 times (lines 1, 3, 4)");
    ASSERT_TEXT(ops_text(t, ops, "f"), "x\ny\nx\nx\n");
    r = OPS_CALL(ops, op_edit_file, "{\"path\":\"f\",\"old\":\"x\",\"new\":\"zz\",\"all\":true}");
    ASSERT_EQ(ops_int(r, "replacements"), 3);
    ASSERT_TEXT(ops_text(t, ops, "f"), "zz\ny\nzz\nzz\n");
}

TEST(several_edits_are_applied_in_order_or_not_at_all)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "f", "one two three\n");
    r = OPS_CALL(ops, op_edit_file,
                 "{\"path\":\"f\",\"edits\":[{\"old\":\"one\",\"new\":\"1\"},"
                 "{\"old\":\"1 two\",\"new\":\"1 2\"}]}");
    ASSERT_EQ(ops_int(r, "replacements"), 2);
    ASSERT_TEXT(ops_text(t, ops, "f"), "1 2 three\n");
    OPS_FAILS(ops, ERR_CONFLICT, op_edit_file,
              "{\"path\":\"f\",\"edits\":[{\"old\":\"three\",\"new\":\"3\"},"
              "{\"old\":\"absent\",\"new\":\"x\"}]}");
    ASSERT_CONTAINS(test_err_text(t), "edit 2 of 2");
    ASSERT_TEXT(ops_text(t, ops, "f"), "1 2 three\n");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_edit_file,
              "{\"path\":\"f\",\"edits\":[{\"old\":\"three\",\"new\":\"3\"},"
              "{\"old\":\"3\",\"new\":\"three\"}]}");
    ASSERT_CONTAINS(test_err_text(t), "undo each other");
}

TEST(near_misses_are_shown)
{
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "f", "if (a) {\n\treturn  b;\n}\nfoo();\nBar();\n");
    OPS_FAILS(ops, ERR_CONFLICT, op_edit_file,
              "{\"path\":\"f\",\"old\":\"if (a) {\\n    return b;\\n}\",\"new\":\"x\"}");
    ASSERT_CONTAINS(test_err_text(t), "only white space or case differs at\n  line 1: if (a) {");
    OPS_FAILS(ops, ERR_CONFLICT, op_edit_file,
              "{\"path\":\"f\",\"old\":\"while (x) {\\n return b;\\n\",\"new\":\"x\"}");
    ASSERT_CONTAINS(test_err_text(t), "nor anything near it");
    OPS_FAILS(ops, ERR_CONFLICT, op_edit_file,
              "{\"path\":\"f\",\"old\":\"w {\\n return b;\\n\",\"new\":\"x\"}");
    ASSERT_CONTAINS(test_err_text(t), "longest line occurs at\n  line 2: \\treturn  b;");
    OPS_FAILS(ops, ERR_CONFLICT, op_edit_file, "{\"path\":\"f\",\"old\":\"bar();\",\"new\":\"x\"}");
    ASSERT_CONTAINS(test_err_text(t), "line 5: Bar();");
    OPS_FAILS(ops, ERR_CONFLICT, op_edit_file, "{\"path\":\"f\",\"old\":\"quux\",\"new\":\"x\"}");
    ASSERT_CONTAINS(test_err_text(t), "read the file again");
}

TEST(line_ends_of_windows_are_kept)
{
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "f", "a\r\nb\r\nc\r\n");
    OPS_CALL(ops, op_edit_file, "{\"path\":\"f\",\"old\":\"a\\nb\",\"new\":\"A\\nnew\\nB\"}");
    ASSERT_TEXT(ops_text(t, ops, "f"), "A\r\nnew\r\nB\r\nc\r\n");
    OPS_CALL(ops, op_edit_file, "{\"path\":\"f\",\"old\":\"c\\r\\n\",\"new\":\"d\\r\\n\"}");
    ASSERT_TEXT(ops_text(t, ops, "f"), "A\r\nnew\r\nB\r\nd\r\n");
    /* A file of both kinds is taken as it stands. */
    ops_write(t, ops, "g", "a\r\nb\nc\n");
    OPS_CALL(ops, op_edit_file, "{\"path\":\"g\",\"old\":\"b\\n\",\"new\":\"x\\ny\\n\"}");
    ASSERT_TEXT(ops_text(t, ops, "g"), "a\r\nx\ny\nc\n");
}

TEST(edit_file_refuses_what_says_nothing)
{
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "f", "x");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_edit_file, "{\"path\":\"f\",\"old\":\"\",\"new\":\"y\"}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_edit_file, "{\"path\":\"f\",\"old\":\"x\",\"new\":\"x\"}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_edit_file, "{\"path\":\"f\",\"old\":\"x\"}");
    ASSERT_CONTAINS(test_err_text(t), "new is missing");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_edit_file, "{\"path\":\"f\",\"edits\":[]}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_edit_file, "{\"path\":\"f\",\"edits\":[1]}");
    ASSERT_CONTAINS(test_err_text(t), "edits[0]");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_edit_file,
              "{\"path\":\"f\",\"edits\":[{\"old\":\"x\",\"new\":\"y\"}],\"old\":\"x\"}");
    OPS_FAILS(ops, ERR_SCHEMA_VIOLATION, op_edit_file, "{\"path\":\"f\",\"edits\":\"x\"}");
    OPS_FAILS(ops, ERR_SCHEMA_VIOLATION, op_edit_file,
              "{\"path\":\"f\",\"old\":\"x\",\"new\":\"y\",\"all\":3}");
    OPS_FAILS(ops, ERR_NOT_FOUND, op_edit_file, "{\"path\":\"g\",\"old\":\"x\",\"new\":\"y\"}");
    OPS_FAILS(ops, ERR_PATH_DENIED, op_edit_file,
              "{\"path\":\"/etc/passwd\",\"old\":\"x\",\"new\":\"y\"}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_edit_file, "{\"path\":\".\",\"old\":\"x\",\"new\":\"y\"}");
    ASSERT_TEXT(ops_text(t, ops, "f"), "x");
}

TEST(a_text_may_not_grow_past_the_cap)
{
    static char many[20000];
    struct edit edit = { .old_text = STR("a"),
                         .new_text = str_of(many, sizeof(many)),
                         .all = true };
    AUTO_BUF out = BUF_INIT(1u << 20);
    size_t n;

    memset(many, 'a', sizeof(many));
    ASSERT_FAILS(edit_apply(str_of(many, sizeof(many)), &edit, 1, &out, &n, &t->err),
                 ERR_TOO_LARGE);
    ASSERT_EQ(out.n, 0);
}

TEST(a_preview_shows_the_edit_and_changes_nothing)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;
    const char *version;

    ops_write(t, ops, "f", "a\n");
    r = OPS_CALL(ops, op_preview_edit, "{\"path\":\"f\",\"old\":\"a\",\"new\":\"b\"}");
    version = ops_str(r, "target_version");
    ASSERT_EQ(ops_bool(r, "exists"), 1);
    ASSERT_CONTAINS(ops_str(r, "diff"), "-a\n+b\n");
    ASSERT_TEXT(ops_text(t, ops, "f"), "a\n");
    ops_write(t, ops, "f", "a\nmore\n");
    OPS_FAILS(ops, ERR_VERSION_CONFLICT, op_edit_file,
              "{\"path\":\"f\",\"old\":\"a\",\"new\":\"b\",\"expected_version\":\"%s\"}", version);
    ops_write(t, ops, "f", "a\n");
    OPS_CALL(ops, op_edit_file,
             "{\"path\":\"f\",\"old\":\"a\",\"new\":\"b\",\"expected_version\":\"%s\"}", version);
    OPS_FAILS(ops, ERR_NOT_FOUND, op_preview_edit, "{\"path\":\"g\",\"old\":\"a\",\"new\":\"b\"}");
    OPS_FAILS(ops, ERR_CONFLICT, op_preview_edit, "{\"path\":\"f\",\"old\":\"z\",\"new\":\"b\"}");
}

TEST(who_knew_the_whole_file_still_knows_it_after_an_edit)
{
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "f", "a\n");
    ops_write(t, ops, "g", "a\n");
    OPS_CALL(ops, op_read_file, "{\"path\":\"f\"}");
    OPS_CALL(ops, op_edit_file, "{\"path\":\"f\",\"old\":\"a\",\"new\":\"b\"}");
    OPS_CALL(ops, op_write_file, "{\"path\":\"f\",\"content\":\"c\"}");
    OPS_CALL(ops, op_edit_file, "{\"path\":\"g\",\"old\":\"a\",\"new\":\"b\"}");
    OPS_FAILS(ops, ERR_CONFLICT, op_write_file, "{\"path\":\"g\",\"content\":\"c\"}");
}

/* ---- against a plain oracle ---- */

static void random_text(struct rand *rand, struct buf *out, size_t most)
{
    static const char letters[] = "aab \n\r";

    for (uint64_t n = rand_below(rand, most + 1); n > 0; n--)
        buf_add_char(out, letters[rand_below(rand, sizeof(letters) - 1)]);
}

/* Byte by byte, without any of the ways that the real one takes. */
static size_t replace_slowly(struct str text, struct str old_text, struct str new_text,
                             struct buf *out)
{
    size_t found = 0;

    for (size_t i = 0; i < text.n;) {
        if (text.n - i >= old_text.n && memcmp(text.p + i, old_text.p, old_text.n) == 0) {
            buf_add_str(out, new_text);
            i += old_text.n;
            found++;
        } else {
            buf_add_char(out, text.p[i++]);
        }
    }
    return found;
}

static bool all_crlf(struct str text)
{
    size_t lf = 0, pairs = 0;

    for (size_t i = 0; i < text.n; i++) {
        lf += text.p[i] == '\n';
        pairs += text.p[i] == '\n' && i && text.p[i - 1] == '\r';
    }
    return lf && lf == pairs;
}

TEST(edits_agree_with_a_plain_oracle, .timeout_s = 60)
{
    struct rand_fake rand;
    unsigned applied = 0, refused = 0;

    rand_fake_init(&rand, 42);
    for (int i = 0; i < 20000; i++) {
        AUTO_BUF text = BUF_INIT(1000);
        AUTO_BUF old_text = BUF_INIT(100);
        AUTO_BUF new_text = BUF_INIT(100);
        AUTO_BUF expected = BUF_INIT(10000);
        AUTO_BUF got = BUF_INIT(10000);
        struct edit edit = { .all = rand_below(&rand.rand, 2) };
        size_t found, replaced = 0;
        int r;

        random_text(&rand.rand, &text, 40);
        random_text(&rand.rand, &old_text, 3);
        random_text(&rand.rand, &new_text, 4);
        if (all_crlf(buf_str(&text)) || old_text.n == 0 ||
            str_eq(buf_str(&old_text), buf_str(&new_text)))
            continue;
        edit.old_text = buf_str(&old_text);
        edit.new_text = buf_str(&new_text);
        found = replace_slowly(buf_str(&text), edit.old_text, edit.new_text, &expected);
        r = edit_apply(buf_str(&text), &edit, 1, &got, &replaced, &t->err);
        ASSERT_EQ(r == 0, found == 1 || (found > 1 && edit.all));
        if (r == 0) {
            ASSERT(str_eq(buf_str(&got), buf_str(&expected)));
            ASSERT_EQ(replaced, found);
            applied++;
        } else {
            ASSERT_EQ(t->err.code, ERR_CONFLICT);
            refused++;
        }
    }
    ASSERT(applied > 1000 && refused > 1000);
}
