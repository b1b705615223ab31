/* Decisions: what is typed can't leave its place in a path, and the editor decides nothing by
 * accident.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <json-c/json.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/json.h"
#include "cli/decide.h"
#include "harness/test.h"

static const char *segment(struct test *t, const char *text)
{
    AUTO_BUF out = BUF_INIT(1000);

    decide_add_segment(&out, text);
    return arena_text(&t->arena, buf_text(&out));
}

TEST(what_is_typed_stays_one_segment)
{
    ASSERT_TEXT(segment(t, "0c1d3f"), "0c1d3f");
    ASSERT_TEXT(segment(t, "planner:run:a-b_c.d"), "planner:run:a-b_c.d");
    ASSERT_TEXT(segment(t, "a/b?c#d e%"), "a%2Fb%3Fc%23d%20e%25");
    ASSERT_TEXT(segment(t, "x HTTP/1.1\r\nHost: y"), "x%20HTTP%2F1.1%0D%0AHost:%20y");
    ASSERT_TEXT(segment(t, "ü&=+"), "%C3%BC%26%3D%2B");
}

/* ---- the editor ---- */

/* An editor that runs this line of shell with the file as $1. */
static void use_editor(struct test *t, const char *line)
{
    const char *path = test_path(t, "editor");

    test_write_file(path, line, strlen(line));
    chmod(path, 0700);
    unsetenv("VISUAL");
    setenv("EDITOR", arena_printf(&t->arena, "sh %s", path), 1);
    setenv("TMPDIR", test_path(t, "tmp"), 1);
    mkdir(test_path(t, "tmp"), 0700);
}

static int edit(struct test *t, const char *json, struct json_object **ret_input)
{
    AUTO_JSON input = NULL;

    ASSERT_OK(json_parse(str_from(json), &input, &t->err));
    return decide_edit(input, ret_input, &t->err);
}

static bool nothing_left(struct test *t)
{
    DIR *dir = opendir(test_path(t, "tmp"));
    struct dirent *entry;
    bool empty = true;

    while ((entry = readdir(dir)))
        empty = empty && entry->d_name[0] == '.';
    closedir(dir);
    return empty;
}

TEST(what_the_editor_writes_is_taken)
{
    AUTO_JSON input = NULL;

    use_editor(t, "grep -q a/b \"$1\" || exit 1\necho '{\"path\":\"c/d\"}' > \"$1\"\n");
    ASSERT_EQ(edit(t, "{\"path\":\"a/b\"}", &input), 1);
    ASSERT_STR(json_str(json_find(input, "path")), "c/d");
    ASSERT(nothing_left(t));
}

TEST(the_file_is_for_its_owner_alone)
{
    AUTO_JSON input = NULL;

    use_editor(t, "test $(stat -c %a \"$1\") = 600 || exit 1\n");
    ASSERT_EQ(edit(t, "{\"a\":1}", &input), 0);
}

TEST(an_unchanged_file_decides_nothing)
{
    AUTO_JSON input = NULL;

    use_editor(t, "echo >> \"$1\"\n");
    ASSERT_EQ(edit(t, "{\"a\":1,\"b\":[]}", &input), 0);
    ASSERT(!input);
    ASSERT(nothing_left(t));
}

TEST(an_editor_that_fails_decides_nothing)
{
    AUTO_JSON input = NULL;

    use_editor(t, "echo '{}' > \"$1\"; exit 3\n");
    ASSERT_EQ(edit(t, "{\"a\":1}", &input), -1);
    ASSERT_EQ(t->err.code, ERR_CANCELLED);
    err_reset(&t->err);
    use_editor(t, "kill -9 $$\n");
    ASSERT_EQ(edit(t, "{\"a\":1}", &input), -1);
    setenv("EDITOR", "/no/such/editor", 1);
    err_reset(&t->err);
    ASSERT_EQ(edit(t, "{\"a\":1}", &input), -1);
    ASSERT_CONTAINS(test_err_text(t), "/no/such/editor");
    ASSERT(nothing_left(t));
}

TEST(what_is_no_object_is_named)
{
    AUTO_JSON input = NULL;

    use_editor(t, "echo '{\"a\":' > \"$1\"\n");
    ASSERT_EQ(edit(t, "{\"a\":1}", &input), -1);
    ASSERT_CONTAINS(test_err_text(t), "not JSON");
    err_reset(&t->err);
    use_editor(t, "echo '[1]' > \"$1\"\n");
    ASSERT_EQ(edit(t, "{\"a\":1}", &input), -1);
    ASSERT_CONTAINS(test_err_text(t), "must be a JSON object");
    err_reset(&t->err);
    use_editor(t, "rm \"$1\"\n");
    ASSERT_EQ(edit(t, "{\"a\":1}", &input), -1);
    ASSERT(!input);
}

TEST(visual_comes_before_editor)
{
    AUTO_JSON input = NULL;

    use_editor(t, "exit 1\n");
    setenv("VISUAL", "true", 1);
    ASSERT_EQ(edit(t, "{\"a\":1}", &input), 0);
}
