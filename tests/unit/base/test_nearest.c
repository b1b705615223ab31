/* What a mistyped name is taken for, and what is said of one that nothing is near to.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/nearest.h"
#include "harness/test.h"

TEST(the_nearest_name_is_near)
{
    static const char *const names[] = { "serve", "schema", "doctor", "v" };

    ASSERT_TEXT(nearest_name("srve", names, 4), "serve");
    ASSERT_TEXT(nearest_name("sevre", names, 4), "serve");
    ASSERT_TEXT(nearest_name("schem", names, 4), "schema");
    ASSERT_TEXT(nearest_name("doc", names, 4), "doctor");
    ASSERT_TEXT(nearest_name("SCHMEA", names, 4), "schema");
    ASSERT(nearest_name("x", names, 4) == NULL);
    ASSERT(nearest_name("", names, 4) == NULL);
    ASSERT(nearest_name("banana", names, 4) == NULL);
    ASSERT(nearest_name("serve", names, 0) == NULL);
}

TEST(a_name_that_is_not_there_is_refused_with_the_nearest_or_with_all)
{
    static const char *const names[] = { "read_file", "write_file", "search" };

    ASSERT_EQ(nearest_refuse("tool", STR("raed_file"), names, 3, &t->err), -1);
    ASSERT_EQ(t->err.code, ERR_BAD_REQUEST);
    ASSERT_TEXT(test_err_text(t), "there is no tool \"raed_file\"; did you mean \"read_file\"?");
    err_reset(&t->err);
    ASSERT_EQ(nearest_refuse("tool", STR("sing"), names, 3, &t->err), -1);
    ASSERT_TEXT(test_err_text(t),
                "there is no tool \"sing\"; there are: read_file, write_file, search");
}
