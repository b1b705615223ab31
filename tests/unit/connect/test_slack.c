/* Slack's answers in words, and how its tokens look.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json.h"
#include "base/utf8.h"
#include "connect/connect_int.h"
#include "harness/test.h"

static int read_answer(struct test *t, int status, const char *body, bool *ret_unsure)
{
    AUTO_JSON json = NULL;
    struct gate_answer answer = { .status = status,
                                  .type = STR("application/json; charset=utf-8"),
                                  .body = str_from(body),
                                  .retry_after_ms = -1 };

    return slack_read(&answer, ret_unsure, &json, &t->err);
}

TEST(tokens_have_a_form)
{
    static const char *const bad[] = { "",
                                       "xoxb-",
                                       "xoxb-1234",
                                       "xoxp-123456789012-abcdef",
                                       "xoxb-1234567890 12345",
                                       "xoxb-1234567890-\nabcdefghij",
                                       "Bearer xoxb-123456789012345" };

    ASSERT_OK(slack_check_token(STR("xoxb-not-a-real-token-1"), &t->err));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ASSERT_FAILS(slack_check_token(str_from(bad[i]), &t->err), ERR_BAD_REQUEST);
        ASSERT(bad[i][0] == '\0' || strlen(bad[i]) < 8 || !strstr(test_err_text(t), bad[i]));
    }
}

TEST(refusals_are_sentences)
{
    static const struct {
        int status;
        const char *body;
        enum err_code code;
        const char *says;
        bool unsure;
    } cases[] = {
        { 200, "{\"ok\":false,\"error\":\"invalid_auth\"}", ERR_UNAUTHORIZED, "not valid", false },
        { 200, "{\"ok\":false,\"error\":\"channel_not_found\"}", ERR_NOT_FOUND, "list_slack",
          false },
        { 200,
          "{\"ok\":false,\"error\":\"missing_scope\",\"needed\":\"chat:write\",\"provided\":\"a:"
          "b\"}",
          ERR_CAPABILITY_DENIED, "scope chat:write (it has a:b)", false },
        { 200, "{\"ok\":false,\"error\":\"missing_scope\",\"needed\":\"<b>\",\"provided\":7}",
          ERR_CAPABILITY_DENIED, "that this needs", false },
        { 200, "{\"ok\":false,\"error\":\"fatal_error\"}", ERR_PROVIDER_FAILED, "inside Slack",
          true },
        { 200, "{\"ok\":false,\"error\":\"brand_new_word\"}", ERR_PROVIDER_FAILED, "brand_new_word",
          false },
        { 200, "{\"ok\":false,\"error\":\"no\\u0000thing\"}", ERR_PROVIDER_FAILED, "no reason",
          false },
        { 200, "{\"ok\":false}", ERR_PROVIDER_FAILED, "no reason", false },
        { 200, "{\"ok\":\"yes\"}", ERR_SCHEMA_VIOLATION, "ok", true },
        { 200, "{\"ok\":tr", ERR_PROVIDER_FAILED, "damaged", true },
        { 200, "[]", ERR_PROVIDER_FAILED, "no object", true },
        { 429, "", ERR_RATE_LIMITED, "too many", false },
        { 301, "", ERR_PROVIDER_FAILED, "redirect", false },
        { 500, "{\"ok\":true}", ERR_PROVIDER_FAILED, "500", false },
    };
    bool unsure;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_FAILS(read_answer(t, cases[i].status, cases[i].body, &unsure), cases[i].code);
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
        ASSERT_EQ(unsure, cases[i].unsure);
        err_reset(&t->err);
    }
    ASSERT_OK(read_answer(t, 200, "{\"ok\":true,\"ts\":\"1\"}", &unsure));
    ASSERT(!unsure);
}

TEST(every_word_that_slack_refuses_with_is_told_in_ours)
{
    static const struct {
        const char *word;
        enum err_code code;
        const char *says;
        bool unsure;
    } cases[] = {
        { "not_authed", ERR_UNAUTHORIZED, "no token was given", false },
        { "invalid_auth", ERR_UNAUTHORIZED, "the token is not valid", false },
        { "account_inactive", ERR_UNAUTHORIZED, "the token's account or app was removed", false },
        { "token_revoked", ERR_UNAUTHORIZED, "the token was revoked", false },
        { "token_expired", ERR_UNAUTHORIZED, "the token has expired", false },
        { "no_permission", ERR_CAPABILITY_DENIED, "the app may not do this in this workspace",
          false },
        { "org_login_required", ERR_UNAUTHORIZED, "the workspace is being moved to an organisation",
          false },
        { "ekm_access_denied", ERR_CAPABILITY_DENIED, "an administrator has suspended this",
          false },
        { "channel_not_found", ERR_NOT_FOUND,
          "there is no such channel, or the app can't see it; list_slack_channels has those it "
          "sees",
          false },
        { "not_in_channel", ERR_CAPABILITY_DENIED,
          "the app is not a member of this channel: invite it there with /invite", false },
        { "is_archived", ERR_CONFLICT, "the channel is archived", false },
        { "msg_too_long", ERR_TOO_LARGE, "the message is too long", false },
        { "no_text", ERR_BAD_REQUEST, "the message is empty", false },
        { "restricted_action", ERR_CAPABILITY_DENIED,
          "a setting of the workspace forbids posting there", false },
        { "restricted_action_read_only_channel", ERR_CAPABILITY_DENIED, "the channel is read-only",
          false },
        { "message_limit_exceeded", ERR_RATE_LIMITED, "the workspace has reached its message limit",
          false },
        { "rate_limited", ERR_RATE_LIMITED, "too many messages in a short time; try again later",
          false },
        { "ratelimited", ERR_RATE_LIMITED, "too many requests in a short time; try again later",
          false },
        { "invalid_cursor", ERR_PROVIDER_FAILED, "the list changed while it was read; ask again",
          false },
        { "internal_error", ERR_PROVIDER_FAILED, "it failed inside Slack", true },
        { "fatal_error", ERR_PROVIDER_FAILED, "it failed inside Slack", true },
        { "service_unavailable", ERR_PROVIDER_FAILED, "Slack is not available now", false },
        { "team_added_to_org", ERR_PROVIDER_FAILED, "the workspace is being moved; try again later",
          false },
    };
    bool unsure;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_FAILS(
            read_answer(t, 200,
                        arena_printf(&t->arena, "{\"ok\":false,\"error\":\"%s\"}", cases[i].word),
                        &unsure),
            cases[i].code);
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
        ASSERT_EQ(unsure, cases[i].unsure);
        err_reset(&t->err);
    }
}

/* A person decides by the name: nothing in it may look like another line or another name. */
TEST(the_name_of_a_channel_is_one_line_that_reads_as_it_is)
{
    static const struct {
        const char *given, *shown;
    } cases[] = {
        { "general", "general" },
        { "a\nb\r\tc", "a b  c" },
        { "a\033[2Kb", "a [2Kb" },
        { "a\xE2\x80\xAE"
          "b",
          "a b" },
        { "\xFF"
          "a",
          "\xEF\xBF\xBD"
          "a" },
        { "\xE4\xBD\xA0", "\xE4\xBD\xA0" },
    };
    struct names *names = names_new();
    AUTO_BUF longest = BUF_INIT(400);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        names_set(names, STR("C1"), str_from(cases[i].given));
        ASSERT_TEXT(names_find(names, STR("C1")), cases[i].shown);
    }
    for (int i = 0; i < 100; i++)
        buf_add_text(&longest, "\xFF\xC3\xA4");
    names_set(names, STR("C1"), buf_str(&longest));
    ASSERT(utf8_valid(str_from(names_find(names, STR("C1")))));
    ASSERT(strlen(names_find(names, STR("C1"))) <= 127);
    names_free(names);
}

TEST(names_of_channels_are_remembered_and_the_oldest_forgotten)
{
    struct names *names = names_new();
    char id[32];

    names_set(names, STR("C1"), STR("general"));
    names_set(names, STR("C1"), STR("renamed"));
    ASSERT_TEXT(names_find(names, STR("C1")), "renamed");
    ASSERT(!names_find(names, STR("C2")));
    names_set(names, STR(""), STR("x"));
    names_set(names, STR("C012345678901234567890123456789012345"), STR("x"));
    for (int i = 0; i < 600; i++) {
        snprintf(id, sizeof(id), "D%d", i);
        names_set(names, str_from(id), STR("room"));
    }
    ASSERT(!names_find(names, STR("C1")) && !names_find(names, STR("D0")));
    ASSERT_TEXT(names_find(names, STR("D599")), "room");
    names_free(names);
}
