/* What the file operations take at most, to the number, and what they say beyond it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "hand_ops.h"

struct bound {
    op_fn *fn;
    const char *arguments;
    const char *said; /* NULL: it is taken */
};

static void check(struct test *t, struct ops *ops, const struct bound *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool taken = ops_try(t, ops, all[i].fn, "%s", all[i].arguments) != NULL;

        if (taken != !all[i].said)
            FAIL("%s is %s: %s", all[i].arguments, taken ? "taken" : "refused", test_err_text(t));
        if (all[i].said)
            ASSERT_CONTAINS(test_err_text(t), all[i].said);
        err_reset(&t->err);
    }
}

TEST(numbers_of_lines_and_findings_have_bounds)
{
    static const struct bound all[] = {
        { op_read_file, "{\"path\":\"f\",\"limit\":1}", NULL },
        { op_read_file, "{\"path\":\"f\",\"limit\":20000}", NULL },
        { op_read_file, "{\"path\":\"f\",\"limit\":20001}", "limit is 20001; 1 to 20000 lines" },
        { op_read_file, "{\"path\":\"f\",\"limit\":0}", "limit is 0; 1 to 20000 lines" },
        { op_read_file, "{\"path\":\"f\",\"limit\":-9223372036854775808}", "1 to 20000 lines" },
        { op_read_file, "{\"path\":\"f\",\"offset\":3}", NULL },
        { op_read_file, "{\"path\":\"f\",\"offset\":4}", "offset is 4, but the file has 3 lines" },
        { op_read_file, "{\"path\":\"f\",\"offset\":0}", "offset is 0; lines are counted from 1" },
        { op_read_file, "{\"path\":\"f\",\"offset\":9223372036854775807,\"limit\":20000}",
          "but the file has 3 lines" },
        { op_search, "{\"pattern\":\"a\",\"limit\":1}", NULL },
        { op_search, "{\"pattern\":\"a\",\"limit\":1000}", NULL },
        { op_search, "{\"pattern\":\"a\",\"limit\":1001}", "limit is 1001; 1 to 1000" },
        { op_search, "{\"pattern\":\"a\",\"context\":10}", NULL },
        { op_search, "{\"pattern\":\"a\",\"context\":11}", "context is 11; 0 to 10 lines" },
        { op_search, "{\"pattern\":\"a\",\"context\":-1}", "context is -1; 0 to 10 lines" },
    };
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "f", "a\nb\nc\n");
    check(t, ops, all, ARRAY_LEN(all));
}

/* n edits, each of one letter of a text that has as many. */
static const char *many_edits(struct test *t, size_t n)
{
    AUTO_BUF json = BUF_INIT(1 << 16);

    buf_add_text(&json, "{\"path\":\"many\",\"edits\":[");
    for (size_t i = 0; i < n; i++)
        buf_printf(&json, "%s{\"old\":\"<%zu>\",\"new\":\"(%zu)\"}", i ? "," : "", i, i);
    buf_add_text(&json, "]}");
    return arena_text(&t->arena, buf_text(&json));
}

TEST(a_hundred_edits_are_one_call_and_one_more_is_refused_whole)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF text = BUF_INIT(1 << 16);
    const char *before;
    struct bound all[] = {
        { op_edit_file, "{\"path\":\"many\",\"edits\":[]}", "edits has 0 items; 1 to 100" },
        { op_edit_file, many_edits(t, 101), "edits has 101 items; 1 to 100 are allowed" },
        { op_edit_file, "{\"path\":\"many\",\"edits\":[1]}", "edits[0]" },
        { op_edit_file, "{\"path\":\"many\",\"edits\":[{\"old\":\"<0>\"}]}", "new is missing" },
        { op_edit_file, "{\"path\":\"many\",\"edits\":[{\"new\":\"x\"}]}", "old is missing" },
        { op_edit_file,
          "{\"path\":\"many\",\"edits\":[{\"old\":\"<0>\",\"new\":\"x\"}],\"old\":\"<1>\"}",
          "either edits or old and new" },
        { op_edit_file,
          "{\"path\":\"many\",\"edits\":[{\"old\":\"<0>\",\"new\":\"x\"},{\"old\":\"x\",\"new\":"
          "\"<0>\"}]}",
          "undo each other" },
        { op_edit_file,
          "{\"path\":\"many\",\"edits\":[{\"old\":\"<0>\",\"new\":\"x\"},{\"old\":\"nowhere\","
          "\"new\":\"y\"}]}",
          "edit 2 of 2" },
    };

    for (int i = 0; i < 101; i++)
        buf_printf(&text, "<%d>", i);
    ops_write(t, ops, "many", buf_text(&text));
    before = ops_text(t, ops, "many");
    check(t, ops, all, ARRAY_LEN(all));
    ASSERT_TEXT(ops_text(t, ops, "many"), before);
    ASSERT_EQ(ops_int(OPS_CALL(ops, op_edit_file, "%s", many_edits(t, 100)), "replacements"), 100);
    ASSERT_CONTAINS(ops_text(t, ops, "many"), "(98)(99)<100>");
}

TEST(paths_are_taken_up_to_their_longest)
{
    struct ops *ops = ops_new(t);
    char name[257];

    memset(name, 'n', 256);
    name[256] = '\0';
    ASSERT(ops_try(t, ops, op_write_file, "{\"path\":\"%.255s\",\"content\":\"x\"}", name));
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_write_file, "{\"path\":\"%.256s\",\"content\":\"x\"}", name);
    ASSERT_CONTAINS(test_err_text(t), "255 bytes");
    err_reset(&t->err);
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_read_file, "{\"path\":\"%.256s\"}", name);
    ASSERT_CONTAINS(test_err_text(t), "255 bytes");
    err_reset(&t->err);
    {
        AUTO_BUF path = BUF_INIT(1 << 13);

        while (path.n < 4096)
            buf_add_text(&path, "a/");
        /* Not there, but a path; one more is none. */
        OPS_FAILS(ops, ERR_NOT_FOUND, op_read_file, "{\"path\":\"%s\"}", buf_text(&path));
        err_reset(&t->err);
        buf_add_char(&path, 'a');
        OPS_FAILS(ops, ERR_BAD_REQUEST, op_read_file, "{\"path\":\"%s\"}", buf_text(&path));
        ASSERT_CONTAINS(test_err_text(t), "path has 4097 bytes; at most 4096");
    }
}
