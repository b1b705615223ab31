/* Accounts: connecting, keeping, testing and forgetting them, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/redact.h"
#include "desk.h"

static bool has_secret(struct desk *desk, const char *name)
{
    struct buf value = BUF_INIT(SECRET_VALUE_MAX);
    struct err err = ERR_INIT;
    bool there = secrets_get(desk->secrets, name, &value, &err) == 0;

    secrets_wipe(&value);
    return there;
}

static bool is_hidden(const char *value)
{
    AUTO_BUF out = BUF_INIT(4096);

    redact(str_from(value), &out);
    return str_find(buf_str(&out), str_from(value)) < 0;
}

/* ---- the table ---- */

DB_TEST(a_row_is_found_replaced_and_forgotten)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(desk) desk = desk_new(t);
    struct credential row = { .provider = "slack",
                              .secret_ref = "slack-token",
                              .account = STR("{\"team\":\"Ünïcode \\\"and\\\" more\"}"),
                              .scopes = STR("[\"a\"]"),
                              .checked_at = 5 };
    struct credential found;

    ASSERT_EQ(credential_find(desk->domain, "slack", &arena, &found, &t->err), 0);
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(loop_unit_begin(desk->loop, desk->domain, &t->err));
        ASSERT_OK(credential_save(desk->domain, &row, 10 + i, &t->err));
        ASSERT_OK(loop_unit_end(desk->loop, true, &t->err));
        ASSERT_EQ(credential_find(desk->domain, "slack", &arena, &found, &t->err), 1);
        ASSERT_TEXT(found.secret_ref, row.secret_ref);
        ASSERT(str_eq(found.account, row.account) && str_eq(found.scopes, row.scopes));
        ASSERT_EQ(found.checked_at, row.checked_at);
        row.secret_ref = "another";
        row.account = STR("{}");
        row.checked_at = 1767225600000;
    }
    ASSERT_EQ(credential_find(desk->domain, "google", &arena, &found, &t->err), 0);
    ASSERT_OK(loop_unit_begin(desk->loop, desk->domain, &t->err));
    ASSERT_OK(credential_remove(desk->domain, "slack", &t->err));
    ASSERT_OK(loop_unit_end(desk->loop, true, &t->err));
    ASSERT_EQ(credential_find(desk->domain, "slack", &arena, &found, &t->err), 0);
}

/* ---- Slack ---- */

DB_TEST(a_slack_token_is_asked_about_kept_and_there_after_a_restart)
{
    AUTO(desk) desk = desk_new(t);
    const char *reason = NULL;

    ASSERT_TEXT(desk_status(desk, connect_slack_status), "{\"configured\":false}");
    ASSERT(!connect_available(desk->connect, "send_slack_message", &reason));
    ASSERT_TEXT(reason, "Slack is not connected");
    desk_connect_slack(desk);
    ASSERT_TEXT(desk_line(desk, 0), "POST https://slack.com/api/auth.test");
    ASSERT_EQ(desk_sent(desk, SLACK_TOKEN), 1);
    ASSERT_STR(desk_header(desk, 0, "Authorization"), "Bearer " SLACK_TOKEN);
    ASSERT(has_secret(desk, "slack-token") && is_hidden(SLACK_TOKEN));
    desk_restart(desk);
    ASSERT_CONTAINS(desk_status(desk, connect_slack_status),
                    "\"configured\":true,\"team\":\"Mice & Men\",\"user\":\"dormouse\"");
    ASSERT_CONTAINS(desk_status(desk, connect_slack_status), "\"checked_at\":\"2026-01-01T00:00:0");
    ASSERT(!strstr(desk_status(desk, connect_slack_status), SLACK_TOKEN));
    ASSERT(connect_available(desk->connect, "send_slack_message", &reason));
    ASSERT_TEXT(connect_uses_secret(desk->connect, "slack-token"), "Slack");
    ASSERT(!connect_uses_secret(desk->connect, "google-client-secret"));
    ASSERT_OK(connect_slack_remove(desk->connect, &t->err));
    ASSERT(!has_secret(desk, "slack-token"));
    ASSERT_FAILS(connect_slack_remove(desk->connect, &t->err), ERR_NOT_FOUND);
    desk_restart(desk);
    ASSERT_TEXT(desk_status(desk, connect_slack_status), "{\"configured\":false}");
}

DESK_TEST(a_slack_token_that_is_refused_is_not_kept)
{
    static const struct {
        int status;
        const char *body;
        enum err_code code;
    } cases[] = {
        { 200, "{\"ok\":false,\"error\":\"invalid_auth\"}", ERR_UNAUTHORIZED },
        { 200, "{\"ok\":false,\"error\":\"account_inactive\"}", ERR_UNAUTHORIZED },
        { 200, "{\"ok\":tr", ERR_PROVIDER_FAILED },
        { 302, "{}", ERR_PROVIDER_FAILED },
        { 200, "{\"ok\":true,\"team\":\"" SLACK_TOKEN "\"}", ERR_PROVIDER_FAILED },
    };
    AUTO(desk) desk = desk_new(t);

    ASSERT_FAILS(connect_slack_set(desk->connect, STR("xoxp-1"), desk_done, desk, &t->err),
                 ERR_BAD_REQUEST);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        desk_says(desk, cases[i].status, cases[i].body);
        ASSERT_OK(
            connect_slack_set(desk->connect, STR("  " SLACK_TOKEN "\n"), desk_done, desk, &t->err));
        ASSERT_EQ(desk->done, i); /* never before it was asked */
        desk_turn(desk, 1000);
        ASSERT_EQ(desk->done, i + 1);
        ASSERT_EQ(desk->err.code, cases[i].code);
        ASSERT(!has_secret(desk, "slack-token"));
    }
    ASSERT_TEXT(desk_status(desk, connect_slack_status), "{\"configured\":false}");
    desk->config.secrets = NULL;
    desk_restart(desk);
    ASSERT_FAILS(connect_slack_set(desk->connect, STR(SLACK_TOKEN), desk_done, desk, &t->err),
                 ERR_SECRET_UNAVAILABLE);
}

DESK_TEST(a_slack_token_is_tested_again_and_says_what_became_of_it)
{
    AUTO(desk) desk = desk_new(t);
    const char *reason = NULL;

    ASSERT_FAILS(connect_slack_test(desk->connect, desk_done, desk, &t->err), ERR_NOT_FOUND);
    desk_connect_slack(desk);
    desk_says(desk, 200, "{\"ok\":false,\"error\":\"token_revoked\"}");
    ASSERT_OK(connect_slack_test(desk->connect, desk_done, desk, &t->err));
    desk_turn(desk, 1000);
    ASSERT_EQ(desk->err.code, ERR_UNAUTHORIZED);
    ASSERT_CONTAINS(desk_status(desk, connect_slack_status), "token was revoked");
    ASSERT(!connect_available(desk->connect, "list_slack_channels", &reason));
    ASSERT_CONTAINS(reason, "token was revoked");
    desk_says(desk, 200, "{\"ok\":true,\"team\":\"Other\"}");
    ASSERT_OK(connect_slack_test(desk->connect, desk_done, desk, &t->err));
    desk_turn(desk, 1000);
    ASSERT_EQ(desk->err.code, ERR_NONE);
    ASSERT(!strstr(desk_status(desk, connect_slack_status), "error"));
    ASSERT_OK(secrets_remove(desk->secrets, "slack-token", &t->err));
    ASSERT_FAILS(connect_slack_test(desk->connect, desk_done, desk, &t->err),
                 ERR_SECRET_UNAVAILABLE);
}

DESK_TEST(names_that_came_from_elsewhere_are_cut_and_cleaned)
{
    AUTO(desk) desk = desk_new(t);
    char body[2048];
    const char *status;

    snprintf(body, sizeof(body),
             "{\"ok\":true,\"team\":\"%0300d\",\"user\":\"password=hunter2hunter2\",\"team_id\":7}",
             1);
    desk_says(desk, 200, body);
    ASSERT_OK(connect_slack_set(desk->connect, STR(SLACK_TOKEN), desk_done, desk, &t->err));
    desk_turn(desk, 1000);
    status = desk_status(desk, connect_slack_status);
    ASSERT_CONTAINS(status, "\"configured\":true,\"user\"");
    ASSERT(!strstr(status, "hunter2") && !strstr(status, "team"));
}

/* ---- Google ---- */

DB_TEST(a_google_account_is_connected_kept_and_forgotten)
{
    AUTO(desk) desk = desk_new(t);
    const char *reason = NULL, *status;

    ASSERT(!connect_available(desk->connect, "list_events", &reason));
    ASSERT_TEXT(reason, "Google is not connected");
    desk_connect_google(desk);
    ASSERT_TEXT(desk_line(desk, 0), "POST https://oauth2.googleapis.com/token");
    ASSERT_TEXT(desk_line(desk, 1), "GET https://gmail.googleapis.com/gmail/v1/users/me/profile");
    ASSERT(str_find(desk_body(desk, 0), STR("code=the-code")) >= 0);
    ASSERT(str_find(desk_body(desk, 0), STR("client_secret=" CLIENT_VALUE)) >= 0);
    ASSERT_EQ(desk_sent(desk, CLIENT_VALUE), 1);
    ASSERT_STR(desk_header(desk, 1, "Authorization"), "Bearer " ACCESS);
    ASSERT(is_hidden(ACCESS) && is_hidden(REFRESH) && is_hidden(CLIENT_VALUE));
    desk_restart(desk);
    status = desk_status(desk, connect_google_status);
    ASSERT_TEXT(status, "{\"configured\":true,\"pending\":false,\"account\":\"ada@example.org\","
                        "\"scopes\":[\"mail\",\"calendar\"]}");
    ASSERT(connect_available(desk->connect, "list_events", &reason));
    ASSERT_TEXT(connect_uses_secret(desk->connect, "google-refresh-token"), "Google");
    ASSERT_TEXT(connect_uses_secret(desk->connect, "google-client-secret"), "Google");
    desk_says(desk, 200, "{}");
    ASSERT_OK(connect_google_remove(desk->connect, desk_done, desk, &t->err));
    desk->done = 0;
    desk_turn(desk, 1000);
    ASSERT_EQ(desk->done, 1);
    ASSERT_TEXT(desk_line(desk, 0), "POST https://oauth2.googleapis.com/revoke");
    ASSERT_STR(desk_body(desk, 0), "token=1%2F%2Frefresh-token-of-ada");
    ASSERT(!has_secret(desk, "google-refresh-token") && !has_secret(desk, "google-client-secret"));
    ASSERT_TEXT(desk_status(desk, connect_google_status),
                "{\"configured\":false,\"pending\":false}");
    ASSERT_FAILS(connect_google_remove(desk->connect, desk_done, desk, &t->err), ERR_NOT_FOUND);
}

/* What is at rest after a restart is known to redaction before anybody used it. */
DESK_TEST(secrets_of_accounts_are_recognised_from_the_start)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_slack(desk);
    desk_connect_google(desk);
    redact_forget_all();
    secrets_free(desk->secrets);
    desk->secrets = desk->config.secrets = secrets_new(test_dir(t));
    desk_restart(desk);
    ASSERT(is_hidden(SLACK_TOKEN) && is_hidden(REFRESH) && is_hidden(CLIENT_VALUE));
}

/* A grant that Google was not told about goes on there: the person hears of it. */
DESK_TEST(forgetting_an_account_says_when_google_was_not_told)
{
    static const struct {
        int status;
        const char *body;
        enum err_code fail;
        bool told;
    } cases[] = {
        { 200, "{}", ERR_NONE, true },
        { 200, "", ERR_NONE, true },
        { 400, "{\"error\":\"invalid_token\"}", ERR_NONE, true },
        { 400, "{\"error\":\"invalid_request\"}", ERR_NONE, false },
        { 403, "{}", ERR_NONE, false },
        { 302, "{}", ERR_NONE, false },
        { 0, NULL, ERR_TIMEOUT, false },
        { 0, NULL, ERR_NETWORK_DENIED, false },
    };
    AUTO(desk) desk = desk_new(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *status;

        desk_connect_google(desk);
        if (cases[i].fail)
            desk_fails(desk, cases[i].fail, HTTP_PHASE_CONNECT);
        else
            desk_says(desk, cases[i].status, cases[i].body);
        desk->done = 0;
        ASSERT_EQ(connect_google_remove(desk->connect, desk_done, desk, &t->err), 0);
        desk_turn(desk, 70000);
        ASSERT_EQ(desk->done, 1);
        ASSERT_EQ(desk->err.code, ERR_NONE);
        ASSERT(!has_secret(desk, "google-refresh-token"));
        status = desk_status(desk, connect_google_status);
        ASSERT_CONTAINS(status, "\"configured\":false");
        ASSERT_EQ(strstr(status, "myaccount.google.com/permissions") == NULL, cases[i].told);
    }
}

DESK_TEST(an_account_whose_secret_is_gone_is_forgotten_at_once)
{
    AUTO(desk) desk = desk_new(t);
    size_t asked;

    desk_connect_google(desk);
    asked = desk_asked(desk);
    ASSERT_OK(secrets_remove(desk->secrets, "google-refresh-token", &t->err));
    ASSERT_EQ(connect_google_remove(desk->connect, desk_done, desk, &t->err), 1);
    ASSERT_EQ(desk_asked(desk), asked);
    ASSERT_CONTAINS(desk_status(desk, connect_google_status), "myaccount.google.com");
}

DESK_TEST(forgetting_twice_at_the_same_time_is_forgetting_once)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_google(desk);
    desk_says(desk, 200, "{}");
    desk_says(desk, 400, "{\"error\":\"invalid_token\"}");
    desk->done = 0;
    ASSERT_EQ(connect_google_remove(desk->connect, desk_done, desk, &t->err), 0);
    ASSERT_EQ(connect_google_remove(desk->connect, desk_done, desk, &t->err), 0);
    desk_turn(desk, 1000);
    desk_turn(desk, 1000);
    ASSERT_EQ(desk->done, 2);
    ASSERT_EQ(desk->err.code, ERR_NONE);
}

DESK_TEST(what_is_under_way_when_the_daemon_ends_is_cancelled)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_google(desk);
    desk_says(desk, 200, "{}");
    desk_newest(desk)->silent = true;
    desk_says(desk, 200, "{}");
    desk_newest(desk)->silent = true;
    desk->done = 0;
    ASSERT_OK(connect_google_remove(desk->connect, desk_done, desk, &t->err));
    ASSERT_OK(connect_slack_set(desk->connect, STR(SLACK_TOKEN), desk_done, desk, &t->err));
    desk_restart(desk);
    ASSERT_EQ(desk->done, 2);
    ASSERT_EQ(desk->err.code, ERR_CANCELLED);
    ASSERT_CONTAINS(desk_status(desk, connect_google_status), "\"configured\":true");
    ASSERT(has_secret(desk, "google-refresh-token"));
}

/* The answer to a question about an account that is gone must not bring it back. */
DESK_TEST(a_slack_account_that_is_forgotten_during_a_test_stays_forgotten)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_slack(desk);
    desk_says(desk, 200, "{\"ok\":true,\"team\":\"Mice\"}");
    desk_newest(desk)->delay_ms = 500;
    desk->done = 0;
    ASSERT_OK(connect_slack_test(desk->connect, desk_done, desk, &t->err));
    ASSERT_OK(connect_slack_remove(desk->connect, &t->err));
    desk_turn(desk, 5000);
    ASSERT_EQ(desk->done, 1);
    ASSERT_EQ(desk->err.code, ERR_NOT_FOUND);
    ASSERT_TEXT(desk_status(desk, connect_slack_status), "{\"configured\":false}");
    desk_restart(desk);
    ASSERT_TEXT(desk_status(desk, connect_slack_status), "{\"configured\":false}");
}

DESK_TEST(a_google_account_that_is_forgotten_while_it_is_connected_anew_stays_forgotten)
{
    AUTO(desk) desk = desk_new(t);
    struct connect_google_start start = { .flow = STR("loopback"),
                                          .redirect_uri = STR("http://127.0.0.1:7717/cb") };
    const char *state;

    desk_connect_google(desk);
    ASSERT_OK(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err));
    desk_turn(desk, 100);
    state = strstr(desk_status(desk, connect_google_flow), "&state=") + 7;
    desk_says(desk, 200, "{\"access_token\":\"" ACCESS "\",\"refresh_token\":\"" REFRESH "\"}");
    desk_says(desk, 200, "{\"emailAddress\":\"ada@example.org\"}");
    desk_newest(desk)->delay_ms = 2000;
    desk_says(desk, 200, "{}"); /* it is taken back there */
    desk->done = 0;
    ASSERT_OK(connect_google_finish(desk->connect, STR("code"), str_of(state, strcspn(state, "&")),
                                    STR_NONE, desk_done, desk, &t->err));
    desk_turn(desk, 500);
    ASSERT_EQ(desk->done, 0);
    ASSERT_EQ(connect_google_remove(desk->connect, desk_done, desk, &t->err), 0);
    desk_turn(desk, 500);
    ASSERT_EQ(desk->done, 1);
    ASSERT_EQ(desk->err.code, ERR_NONE);
    desk_turn(desk, 5000);
    ASSERT_EQ(desk->done, 2);
    ASSERT_EQ(desk->err.code, ERR_CANCELLED);
    ASSERT_CONTAINS(desk_status(desk, connect_google_status), "\"configured\":false");
    desk_restart(desk);
    ASSERT_CONTAINS(desk_status(desk, connect_google_status), "\"configured\":false");
}

/* ---- what can be used ---- */

DESK_TEST(tools_of_other_rooms_are_always_available)
{
    const char *reason = NULL;

    ASSERT(connect_available(NULL, "bash", &reason));
    ASSERT(!connect_available(NULL, "send_email", &reason));
    ASSERT_TEXT(reason, "Google is not connected");
    ASSERT(!connect_available(NULL, "send_slack_message", &reason));
    ASSERT_TEXT(reason, "Slack is not connected");
}

/* A model is told of what works; a person who named a tool hears why it does not. */
DESK_TEST(tools_of_accounts_are_offered_when_they_are_connected_or_named)
{
    static const char *const tools[] = { "list_emails", "read_email",   "draft_email", "send_email",
                                         "list_events", "create_event", "update_event" };
    static const char *const slack_named[] = { "list_slack_channels", "send_slack_message" };
    AUTO(desk) desk = desk_new(t);

    for (int connected = 0; connected < 2; connected++) {
        for (size_t i = 0; i < ARRAY_LEN(tools); i++)
            ASSERT_EQ(tool_bed_offers(desk->tools, tool_contract_find(str_from(tools[i])),
                                      &desk->agent, STR("userInitiated")),
                      connected);
        for (size_t i = 0; i < ARRAY_LEN(slack_named); i++)
            ASSERT(!tool_bed_offers(desk->tools, tool_contract_find(str_from(slack_named[i])),
                                    &desk->agent, STR("userInitiated")));
        if (!connected)
            desk_connect_google(desk);
    }
    desk->agent.tools = "[\"send_slack_message\"]";
    ASSERT(tool_bed_offers(desk->tools, tool_contract_find(STR("send_slack_message")), &desk->agent,
                           STR("userInitiated")));
    desk->call.name = STR("send_slack_message");
    desk->call.arguments = STR("{\"channel_id\":\"C1\",\"text\":\"hi\"}");
    {
        struct tool_verdict verdict;

        tool_judge(desk->tools, &desk->call, &t->arena, &verdict);
        ASSERT(verdict.attributes & TOOL_REFUSED);
        ASSERT_EQ(verdict.code, ERR_SECRET_UNAVAILABLE);
        ASSERT_CONTAINS(verdict.message, "`dormouse connect slack`");
    }
}

DESK_TEST(an_account_that_was_damaged_in_the_database_is_told_of)
{
    AUTO(desk) desk = desk_new(t);
    struct credential row = { .provider = "slack",
                              .secret_ref = "slack-token",
                              .account = STR("{\"team\":"),
                              .scopes = STR("[]") };
    struct connect *other = NULL;

    ASSERT_OK(loop_unit_begin(desk->loop, desk->domain, &t->err));
    ASSERT_OK(credential_save(desk->domain, &row, 1, &t->err));
    ASSERT_OK(loop_unit_end(desk->loop, true, &t->err));
    ASSERT(connect_new(&desk->config, &other, &t->err) < 0);
    ASSERT_CONTAINS(test_err_text(t), "the account slack");
}
