/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include "harness/test.h"

TEST(err_keeps_the_chain_of_causes_outermost_first)
{
    struct err err = ERR_INIT;
    char text[128];

    ASSERT_EQ(err_set(&err, ERR_NOT_FOUND, "no file %s", "a"), -1);
    ASSERT_EQ(err_wrap(&err, "load policy"), -1);
    ASSERT_EQ(err.code, ERR_NOT_FOUND);
    ASSERT_TEXT(err_message(&err, 0), "load policy");
    ASSERT_TEXT(err_message(&err, 1), "no file a");
    ASSERT(err_message(&err, 2) == NULL);
    ASSERT_TEXT(err_format(&err, text, sizeof(text)), "load policy: no file a");
}

TEST(err_set_again_forgets_the_earlier_chain)
{
    struct err err = ERR_INIT;

    err_set(&err, ERR_INTERNAL, "first");
    err_wrap(&err, "context");
    err_set(&err, ERR_TIMEOUT, "second");
    ASSERT_EQ(err.depth, 1);
    ASSERT_TEXT(err_message(&err, 0), "second");
}

TEST(err_cuts_text_that_is_too_long_and_says_so)
{
    struct err err = ERR_INIT;
    char big[2 * ERR_TEXT_MAX];
    char text[64];

    memset(big, 'x', sizeof(big));
    big[sizeof(big) - 1] = '\0';
    err_set(&err, ERR_INTERNAL, "%s", big);
    ASSERT_EQ(err.cut, 1);
    ASSERT_EQ(strlen(err_message(&err, 0)), ERR_TEXT_MAX - 1);
    err_wrap(&err, "no room left");
    ASSERT_EQ(err.depth, 1);
    ASSERT_EQ(strlen(err_format(&err, text, sizeof(text))), sizeof(text) - 1);
}

TEST(err_drops_context_past_the_depth_limit)
{
    struct err err = ERR_INIT;

    err_set(&err, ERR_INTERNAL, "cause");
    for (int i = 0; i < 2 * ERR_DEPTH_MAX; i++)
        err_wrap(&err, "level %d", i);
    ASSERT_EQ(err.depth, ERR_DEPTH_MAX);
    ASSERT_EQ(err.cut, 1);
    ASSERT_TEXT(err_message(&err, ERR_DEPTH_MAX - 1), "cause");
}

TEST(err_accepts_a_caller_that_wants_no_detail)
{
    ASSERT_EQ(err_set(NULL, ERR_INTERNAL, "x"), -1);
    ASSERT_EQ(err_wrap(NULL, "y"), -1);
}

TEST(err_names_lead_back_to_their_codes)
{
    for (int code = ERR_NONE + 1; code < ERR_CODE_COUNT; code++) {
        ASSERT_EQ(err_from_name(err_name((enum err_code)code)), code);
        ASSERT(err_http_status((enum err_code)code) >= 400);
        ASSERT(strlen(err_sentence((enum err_code)code)) > 10);
    }
    ASSERT_EQ(err_from_name("no_such_code"), ERR_NONE);
}
