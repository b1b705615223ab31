/* What was seen on disk, as text.
 *
 * SPDX-License-Identifier: MIT
 */
#include "files/view_int.h"
#include "harness/test.h"

#define HASH "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

TEST(a_line_comes_back_as_it_was)
{
    struct view_seen seen = { .version = 7,
                              .hash = HASH,
                              .stat = { .mtime_ns = INT64_MAX, .size = 5, .ino = UINT64_MAX } };
    AUTO_BUF out = BUF_INIT(4096);
    struct view_state_line line;
    struct str rest;

    view_state_add(&out, "agents/system:wizard", STR("a b/c d.md"), &seen);
    seen.stat.racy = true;
    view_state_add(&out, "users/me", STR("x"), &seen);
    rest = buf_str(&out);
    ASSERT(view_state_next(&rest, &line));
    ASSERT_STR(line.tree, "agents/system:wizard");
    ASSERT_STR(line.path, "a b/c d.md");
    ASSERT_EQ(line.seen.version, 7);
    ASSERT_TEXT(line.seen.hash, HASH);
    ASSERT(line.seen.stat.mtime_ns == INT64_MAX && line.seen.stat.ino == UINT64_MAX);
    ASSERT(view_state_next(&rest, &line));
    ASSERT_EQ(line.seen.stat.mtime_ns, 0);
    ASSERT(!view_state_next(&rest, &line));
}

TEST(what_is_not_understood_ends_it)
{
    static const char *const bad[] = {
        "",
        "\n",
        "1",
        "1 " HASH " 1 1 1 agents/a",
        "1 " HASH " 1 1 1 agents/a ",
        "-1 " HASH " 1 1 1 agents/a b",
        "1 " HASH " 1 1 -1 agents/a b",
        "1 xyz 1 1 1 agents/a b",
        "1 " HASH " 1 1 1 agents/../a b",
        "1 " HASH " 1 1 1 agents/a ../b",
        "1 " HASH " 1 1 1 agents/a /b",
        "99999999999999999999 " HASH " 1 1 1 agents/a b",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct view_state_line line;
        struct str rest = str_from(bad[i]);

        if (view_state_next(&rest, &line))
            FAIL("\"%s\" was understood", bad[i]);
    }
}
