/* Folders read like archives.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "files/archive.h"
#include "harness/test.h"

struct result {
    struct archive_entry *entries;
    size_t count;
};

static int read_dir(struct test *t, const char *command, struct archive_limits limits,
                    struct result *ret)
{
    const char *dir = test_path(t, "d");

    if (system(arena_printf(&t->arena, "rm -rf %s && mkdir %s && cd %s && { %s; }", dir, dir, dir,
                            command)) != 0)
        FAIL("%s", command);
    err_reset(&t->err);
    return archive_read_dir(dir, &limits, &t->arena, &ret->entries, &ret->count, &t->err);
}

TEST(a_folder_is_read_in_order_and_without_what_is_hidden)
{
    struct result got;

    ASSERT_OK(read_dir(t,
                       "mkdir -p a/b .git && echo -n 1 > a/b/x.md && echo -n 2 > SKILL.md &&"
                       " echo 3 > .hidden && echo 4 > .git/config && chmod 755 SKILL.md",
                       (struct archive_limits){ 0 }, &got));
    ASSERT_EQ(got.count, 2);
    ASSERT_STR(got.entries[0].path, "SKILL.md");
    ASSERT(got.entries[0].executable);
    ASSERT_STR(got.entries[1].path, "a/b/x.md");
    ASSERT_STR(got.entries[1].content, "1");
}

TEST(links_pipes_bad_names_and_too_much_are_refused)
{
    static const struct {
        const char *command;
        struct archive_limits limits;
        enum err_code code;
        const char *named;
    } cases[] = {
        { "ln -s /etc/passwd l", { 0 }, ERR_BAD_REQUEST, "\"l\" is a link" },
        { "mkdir a && ln -s /etc a/l", { 0 }, ERR_BAD_REQUEST, "\"a/l\" is a link" },
        { "ln -s nowhere l", { 0 }, ERR_BAD_REQUEST, "\"l\" is a link" },
        { "mkfifo p", { 0 }, ERR_BAD_REQUEST, "\"p\" is neither" },
        { "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"s\")'",
          { 0 },
          ERR_BAD_REQUEST,
          "\"s\" is neither" },
        { "touch 'a b.'", { 0 }, ERR_PATH_DENIED, "dot" },
        { "touch 'a\\b'", { 0 }, ERR_PATH_DENIED, "backslash" },
        { "echo 1 > a; echo 2 > A", { 0 }, ERR_CONFLICT, "twice" },
        { "echo 12345 > a", { .entry_bytes = 5 }, ERR_TOO_LARGE, "\"a\"" },
        { "echo 12345 > a; echo 12345 > b", { .total_bytes = 11 }, ERR_TOO_LARGE, "in all" },
        { "touch a b c", { .entries = 2 }, ERR_TOO_LARGE, "more than 2 entries" },
        { "mkdir -p 1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17", { 0 }, ERR_PATH_DENIED, "16" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct result got;

        ASSERT_FAILS(read_dir(t, cases[i].command, cases[i].limits, &got), cases[i].code);
        if (!strstr(test_err_text(t), cases[i].named))
            FAIL("%s: \"%s\" lacks \"%s\"", cases[i].command, test_err_text(t), cases[i].named);
    }
}

TEST(what_is_no_folder_is_refused)
{
    struct archive_entry *entries;
    size_t count;

    test_write_file(test_path(t, "f"), "x", 1);
    ASSERT_EQ(symlink(test_dir(t), test_path(t, "l")), 0);
    ASSERT_FAILS(archive_read_dir(test_path(t, "none"), NULL, &t->arena, &entries, &count, &t->err),
                 ERR_NOT_FOUND);
    err_reset(&t->err);
    ASSERT_FAILS(archive_read_dir(test_path(t, "f"), NULL, &t->arena, &entries, &count, &t->err),
                 ERR_BAD_REQUEST);
    err_reset(&t->err);
    ASSERT_FAILS(archive_read_dir(test_path(t, "l"), NULL, &t->arena, &entries, &count, &t->err),
                 ERR_BAD_REQUEST);
}
