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

TEST(err_codes_have_names_and_sentences_of_their_own)
{
    ASSERT_TEXT(err_name(ERR_NONE), "none");
    ASSERT_TEXT(err_name(ERR_SCHEMA_VIOLATION), "schema_violation");
    ASSERT_EQ(err_http_status(ERR_NONE), 200);
    ASSERT_EQ(err_http_status(ERR_TOO_LARGE), 413);
    for (int a = ERR_NONE; a < ERR_CODE_COUNT; a++) {
        const char *sentence = err_sentence((enum err_code)a);

        ASSERT_EQ(sentence[strlen(sentence) - 1], '.');
        for (int b = ERR_NONE; b < a; b++) {
            ASSERT(strcmp(err_name((enum err_code)a), err_name((enum err_code)b)) != 0);
            ASSERT(strcmp(sentence, err_sentence((enum err_code)b)) != 0);
        }
    }
    /* "none" is no code that anybody may send. */
    ASSERT_EQ(err_from_name("none"), ERR_NONE);
    ASSERT_EQ(err_from_name(""), ERR_NONE);
    ASSERT_EQ(err_from_name("Timeout"), ERR_NONE);
}

/* A code from elsewhere is treated as one that we do not know. */
TEST(err_code_that_is_none_of_ours_is_internal)
{
    enum err_code strange = ERR_CODE_COUNT;

    ASSERT_TEXT(err_name(strange), "internal");
    ASSERT_TEXT(err_sentence(strange), err_sentence(ERR_INTERNAL));
    ASSERT_EQ(err_http_status(strange), 500);
}

TEST(err_format_fits_any_size)
{
    struct err err = ERR_INIT;
    char text[32], full[] = "load policy: no file";

    err_set(&err, ERR_NOT_FOUND, "no file");
    err_wrap(&err, "load policy");
    for (unsigned size = 1; size <= sizeof(text); size++) {
        memset(text, '#', sizeof(text));
        ASSERT(err_format(&err, text, size) == text);
        ASSERT_EQ(strlen(text), size <= strlen(full) ? size - 1 : strlen(full));
        ASSERT(strncmp(text, full, strlen(text)) == 0);
        if (size < sizeof(text))
            ASSERT_EQ(text[size], '#');
    }
    text[0] = '#';
    err_format(&err, text, 0);
    ASSERT_EQ(text[0], '#');
    err_reset(&err);
    ASSERT_TEXT(err_format(&err, text, sizeof(text)), "");
    ASSERT(err_message(&err, 0) == NULL);
    ASSERT_EQ(err.code, ERR_NONE);
}

TEST(err_text_is_used_to_the_last_byte)
{
    struct err err = ERR_INIT;
    char fits[ERR_TEXT_MAX];

    memset(fits, 'x', sizeof(fits));
    fits[ERR_TEXT_MAX - 1] = '\0';
    err_set(&err, ERR_INTERNAL, "%s", fits);
    ASSERT_EQ(err.cut, 0);
    fits[ERR_TEXT_MAX - 4] = '\0';
    err_set(&err, ERR_INTERNAL, "%s", fits);
    ASSERT_EQ(err.cut, 0);
    err_wrap(&err, "abc");
    ASSERT_EQ(err.cut, 1);
    ASSERT_TEXT(err_message(&err, 0), "ab");
    ASSERT_EQ(err.depth, 2);
}

/* Messages quote how something begins, cut after so many bytes. */
TEST(err_text_has_no_part_of_a_character)
{
    static const struct {
        const char *is, *becomes;
    } cases[] = {
        { "\"caf\xc3\" is", "\"caf\" is" },
        { "\xe2\x82", "" },
        { "a\xf0\x9f\x90", "a" },
        { "\xf0\x9f\x90\xad!", "\xf0\x9f\x90\xad!" },
        { "\xc3\xa4\xc3", "\xc3\xa4" },
        { "\xc3\xc3\xa4", "\xc3\xa4" },
        /* No beginning of anything: told as it is. */
        { "\xff\x80z", "\xff\x80z" },
    };
    struct err err = ERR_INIT;
    char big[2 * ERR_TEXT_MAX], text[8];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        err_set(&err, ERR_BAD_REQUEST, "%s", cases[i].is);
        ASSERT_TEXT(err_message(&err, 0), cases[i].becomes);
    }
    for (size_t i = 0; i + 1 < sizeof(big); i += 2)
        memcpy(big + i, "\xc3\xa4", 2);
    big[sizeof(big) - 1] = '\0';
    err_set(&err, ERR_BAD_REQUEST, "%s", big);
    ASSERT_EQ(err.cut, 1);
    ASSERT_EQ(strlen(err_message(&err, 0)) % 2, 0);
    ASSERT_EQ(strlen(err_format(&err, text, sizeof(text))), 6);
}
