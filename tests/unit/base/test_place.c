/* Places that settings name.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/place.h"
#include "harness/test.h"

TEST(a_place_is_told_by_where_it_lies)
{
    const char *base = test_dir(t);
    static const struct {
        const char *path, *real; /* real: below base; NULL: it means nothing */
    } cases[] = {
        { ".", "" },
        { "./", "" },
        { "sub", "/sub" },
        { "sub//", "/sub" },
        { "sub/..", "" },
        { "up", "" },
        { "up/sub", "/sub" },
        { "none", "/none" },
        { "sub/none/x", "/sub/none/x" },
        { "up/none", "/none" },
        { "none/..", NULL },
        { "none/../../x", NULL },
        { "dangling", "/dangling" },
        { "~nobody/x", NULL },
        { "", NULL },
    };

    mkdir(test_path(t, "sub"), 0700);
    ASSERT_EQ(symlink(".", test_path(t, "up")), 0);
    ASSERT_EQ(symlink("nowhere", test_path(t, "dangling")), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *real = place_real(cases[i].path, base, &t->arena);
        const char *wanted =
            cases[i].real ? arena_printf(&t->arena, "%s%s", base, cases[i].real) : "nothing";

        if (strcmp(real ? real : "nothing", wanted) != 0)
            FAIL("\"%s\" is %s, expected %s", cases[i].path, real ? real : "nothing", wanted);
    }
    ASSERT_TEXT(place_real("/", base, &t->arena), "/");
    ASSERT_TEXT(place_real("/no-such-place/x", base, &t->arena), "/no-such-place/x");
    ASSERT_TEXT(place_absolute("up/sub/", base, &t->arena),
                arena_printf(&t->arena, "%s/up/sub", base));
}

TEST(home_is_a_place_of_its_own)
{
    const char *before = getenv("HOME") ? arena_text(&t->arena, getenv("HOME")) : NULL;

    setenv("HOME", "/home/ada", 1);
    ASSERT_TEXT(place_absolute("~", "/x", &t->arena), "/home/ada");
    ASSERT_TEXT(place_absolute("~/.ssh", "/x", &t->arena), "/home/ada/.ssh");
    setenv("HOME", "relative", 1);
    ASSERT_TEXT(place_absolute("~/.ssh", "/x", &t->arena), "/.ssh");
    ASSERT_TEXT(place_absolute("~", "/x", &t->arena), "/");
    if (before)
        setenv("HOME", before, 1);
    else
        unsetenv("HOME");
}

TEST(within_is_by_whole_names)
{
    ASSERT(place_within("/a", "/a") && place_within("/a/b", "/a") && place_within("/a/b", "/a/"));
    ASSERT(place_within("/a", "/") && place_within("/", "/"));
    ASSERT(!place_within("/ab", "/a") && !place_within("/", "/a"));
    ASSERT(place_is_name(".env") && !place_is_name("~") && !place_is_name("./x"));
}
