/* list_slack_channels and send_slack_message, against answers of every kind.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "desk.h"
#include "harness/facts.h"

#define HELLO "{\"channel_id\":\"C024BE91L\",\"text\":\"hello <b>\\\"there\\\"</b> \\u00fc\"}"
#define INFO  "{\"ok\":true,\"channel\":{\"id\":\"C024BE91L\",\"name\":\"general\"}}"
#define SENT  "{\"ok\":true,\"ts\":\"1503435956.000247\",\"channel\":\"C024BE91L\"}"

static const char *page(struct test *t, int from, int n, const char *cursor)
{
    AUTO_BUF out = BUF_INIT(1u << 20);

    buf_add_text(&out, "{\"ok\":true,\"channels\":[");
    for (int i = from; i < from + n; i++)
        buf_printf(&out,
                   "%s{\"id\":\"C%d\",\"name\":\"room%d\",\"is_private\":%s,\"is_member\":true}",
                   i > from ? "," : "", i, i, i % 2 ? "true" : "false");
    buf_printf(&out, "],\"response_metadata\":{\"next_cursor\":\"%s\"}}", cursor);
    return arena_text(&t->arena, buf_text(&out));
}

static size_t listed(struct desk *desk)
{
    AUTO_JSON json = NULL;
    struct test *t = desk->t;

    ASSERT_OK(json_parse(desk->result.output, &json, &t->err));
    return json_object_array_length(json_find(json, "channels"));
}

DESK_TEST(channels_are_read_page_by_page)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_slack(desk);
    desk_says(desk, 200, page(t, 0, 60, "dXNlcjpVMDYxTkZUVDI="));
    desk_says(desk, 200, page(t, 60, 60, ""));
    ASSERT_EQ(desk_does(desk, "list_slack_channels", "{}"), ERR_NONE);
    ASSERT_TEXT(desk_line(desk, 1),
                "GET https://slack.com/api/conversations.list?types=public_channel%2Cprivate_"
                "channel&exclude_archived=true&limit=100");
    ASSERT_CONTAINS(desk_line(desk, 2), "&limit=40&cursor=dXNlcjpVMDYxTkZUVDI%3D");
    ASSERT_EQ(listed(desk), 100); /* as many as it says, not one more */
    ASSERT_CONTAINS(desk_output(desk), "\"more\":false");
    ASSERT_CONTAINS(desk_output(desk),
                    "{\"id\":\"C1\",\"name\":\"room1\",\"is_private\":true,\"is_member\":true}");
    ASSERT_STR(desk->result.taint,
               "slack,slack:room0,slack:room1,slack:room2,slack:room3,slack:room4");
    ASSERT_STR(desk_header(desk, 2, "Authorization"), "Bearer " SLACK_TOKEN);
}

DESK_TEST(a_server_that_never_ends_its_list_is_left_after_ten_pages)
{
    AUTO(desk) desk = desk_new(t);
    char cursor[1200];

    desk_connect_slack(desk);
    for (int i = 0; i < 12; i++)
        desk_says(desk, 200, page(t, i, 1, i % 2 ? "there" : "back"));
    ASSERT_EQ(desk_does(desk, "list_slack_channels", "{\"limit\":1000}"), ERR_NONE);
    ASSERT_EQ(desk_asked(desk), 11);
    ASSERT_CONTAINS(desk_output(desk), "\"more\":true");
    desk_restart(desk);
    memset(cursor, 'c', sizeof(cursor));
    cursor[sizeof(cursor) - 1] = '\0';
    desk->said = 0;
    desk_says(desk, 200, page(t, 0, 1, cursor));
    ASSERT_EQ(desk_does(desk, "list_slack_channels", "{}"), ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(desk_output(desk), "longer than 1 KB");
}

DESK_TEST(a_cursor_that_leads_to_its_own_page_ends_the_list)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_slack(desk);
    for (int i = 0; i < 3; i++)
        desk_says(desk, 200, page(t, i, 1, "again"));
    ASSERT_EQ(desk_does(desk, "list_slack_channels", "{\"limit\":1000}"), ERR_NONE);
    ASSERT_EQ(desk_asked(desk), 3); /* the token's check, and two pages */
    ASSERT_EQ(listed(desk), 2);
    ASSERT_CONTAINS(desk_output(desk), "\"more\":true");
}

DESK_TEST(entries_that_are_no_channels_are_left_out)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_slack(desk);
    desk_says(desk, 200,
              "{\"ok\":true,\"channels\":[null,7,[],{},{\"id\":\"C1\"},{\"name\":\"x\"},{\"id\":7,"
              "\"name\":\"x\"},{\"id\":\"C2\",\"name\":\"y\",\"is_private\":\"no\"}]}");
    ASSERT_EQ(desk_does(desk, "list_slack_channels", "{}"), ERR_NONE);
    ASSERT_EQ(listed(desk), 1);
    desk_says(desk, 200, "{\"ok\":true}");
    ASSERT_EQ(desk_does(desk, "list_slack_channels", "{}"), ERR_NONE);
    ASSERT_EQ(listed(desk), 0);
    desk_says(desk, 200, "{\"ok\":true,\"channels\":{}}");
    ASSERT_EQ(desk_does(desk, "list_slack_channels", "{}"), ERR_SCHEMA_VIOLATION);
}

DESK_TEST(a_message_is_shown_with_the_name_of_its_channel_and_sent_once)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_slack(desk);
    desk_says(desk, 200, INFO);
    desk_says(desk, 200, SENT);
    ASSERT_EQ(desk_does(desk, "send_slack_message", HELLO), ERR_NONE);
    ASSERT_STR(desk->preview.title, "Send a Slack message to #general");
    ASSERT_STR(desk->preview.text, "hello <b>\"there\"</b> \xc3\xbc");
    ASSERT_TEXT(facts_text(t, desk->preview.details),
                "to: #general (C024BE91L)\nworkspace: Mice & Men\n");
    ASSERT_TEXT(desk_line(desk, 1),
                "GET https://slack.com/api/conversations.info?channel=C024BE91L");
    ASSERT_TEXT(desk_line(desk, 2), "POST https://slack.com/api/chat.postMessage");
    ASSERT_STR(desk_body(desk, 2), "{\"channel\":\"C024BE91L\",\"text\":\"hello "
                                   "<b>\\\"there\\\"</b> \xc3\xbc\"}");
    ASSERT_STR(desk_header(desk, 2, "Content-Type"), "application/json; charset=utf-8");
    ASSERT_TEXT(desk_output(desk),
                "{\"ok\":true,\"ts\":\"1503435956.000247\",\"channel\":\"C024BE91L\"}");
    desk_says(desk, 200, SENT); /* its name is known now */
    ASSERT_EQ(desk_does(desk, "send_slack_message", HELLO), ERR_NONE);
    ASSERT_EQ(desk_asked(desk), 4);
}

DESK_TEST(a_channel_whose_name_is_not_found_is_shown_by_its_id)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_slack(desk);
    desk_says(desk, 200, "{\"ok\":false,\"error\":\"channel_not_found\"}");
    ASSERT_OK(desk_preview(desk, "send_slack_message", HELLO));
    desk_turn(desk, 1000);
    ASSERT_STR(desk->preview.title, "Send a Slack message to C024BE91L");
    ASSERT_CONTAINS(facts_text(t, desk->preview.details), "its name could not be looked up");
}

/* The workspace that was connected when a person said yes is the one it goes to. */
DESK_TEST(a_yes_does_not_hold_for_another_workspace)
{
    AUTO(desk) desk = desk_new(t);
    const char *digest;

    desk_connect_slack(desk);
    desk_says(desk, 200, INFO);
    ASSERT_OK(desk_preview(desk, "send_slack_message", HELLO));
    desk_turn(desk, 1000);
    digest = arena_text(&t->arena, desk->preview.digest);
    desk_says(desk, 200, "{\"ok\":true,\"team\":\"Other\",\"team_id\":\"T2\"}");
    ASSERT_OK(connect_slack_set(desk->connect, STR(SLACK_TOKEN), desk_done, desk, &t->err));
    desk_turn(desk, 1000);
    ASSERT_OK(desk_start(desk, "send_slack_message", HELLO, digest));
    desk_turn(desk, 1000);
    ASSERT_EQ(desk->told, 1);
    ASSERT(desk->result.stale);
    for (size_t i = 0; i < desk_asked(desk); i++)
        ASSERT(!strstr(desk_line(desk, i), "postMessage"));
}

/* What every kind of trouble comes to: never sent twice unless it surely did not arrive, and where
 * nobody knows, that is said. */
DESK_TEST(trouble_while_sending_has_a_defined_end)
{
    static const struct {
        const char *name;
        int status;
        const char *type, *body;
        enum err_code fail;
        enum http_phase phase;
        enum err_code code;
        const char *says;
    } cases[] = {
        { "reset", 0, NULL, NULL, ERR_PROVIDER_FAILED, HTTP_PHASE_WAIT, ERR_EFFECT_UNKNOWN,
          "did not say whether it was done" },
        { "stalls", 0, NULL, NULL, ERR_TIMEOUT, HTTP_PHASE_WAIT, ERR_EFFECT_UNKNOWN,
          "It is not sent again by itself" },
        { "stalls in the body", 0, NULL, NULL, ERR_TIMEOUT, HTTP_PHASE_BODY, ERR_EFFECT_UNKNOWN,
          "Slack" },
        { "too much", 0, NULL, NULL, ERR_TOO_LARGE, HTTP_PHASE_BODY, ERR_EFFECT_UNKNOWN, "Slack" },
        { "no connection", 0, NULL, NULL, ERR_TIMEOUT, HTTP_PHASE_CONNECT, ERR_TIMEOUT,
          "ask Slack" },
        { "bad certificate", 0, NULL, NULL, ERR_PROVIDER_FAILED, HTTP_PHASE_TLS,
          ERR_PROVIDER_FAILED, "ask Slack" },
        { "500", 500, "text/html", "oops", 0, 0, ERR_EFFECT_UNKNOWN, "status 500" },
        { "truncated", 200, "application/json", "{\"ok\":tr", 0, 0, ERR_EFFECT_UNKNOWN, "damaged" },
        { "html", 200, "text/html", "<p>", 0, 0, ERR_EFFECT_UNKNOWN, "no JSON" },
        { "redirect", 307, "text/html", "", 0, 0, ERR_PROVIDER_FAILED, "not followed" },
        { "repeats the token", 200, "application/json", "{\"ok\":true,\"x\":\"" SLACK_TOKEN "\"}",
          0, 0, ERR_EFFECT_UNKNOWN, "repeats the token" },
        { "archived", 200, "application/json", "{\"ok\":false,\"error\":\"is_archived\"}", 0, 0,
          ERR_CONFLICT, "archived" },
        { "revoked", 200, "application/json", "{\"ok\":false,\"error\":\"token_revoked\"}", 0, 0,
          ERR_UNAUTHORIZED, "revoked" },
    };

    AUTO(desk) desk = desk_new(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *reason = NULL;
        size_t before;

        desk_connect_slack(desk); /* good again, whatever became of it */
        before = desk_asked(desk);
        if (i == 0)
            desk_says(desk, 200, INFO);
        if (cases[i].fail)
            desk_fails(desk, cases[i].fail, cases[i].phase);
        else
            desk_says_type(desk, cases[i].status, cases[i].type, str_from(cases[i].body));
        if (desk_does(desk, "send_slack_message", HELLO) != cases[i].code)
            FAIL("%s: %s", cases[i].name, desk_output(desk));
        ASSERT_CONTAINS(desk_output(desk), cases[i].says);
        ASSERT(!strstr(desk_output(desk), SLACK_TOKEN));
        ASSERT_EQ(desk_asked(desk), before + (i == 0 ? 2 : 1)); /* with the look for its name */
        ASSERT_EQ(connect_available(desk->connect, "send_slack_message", &reason),
                  cases[i].code != ERR_UNAUTHORIZED);
    }
}

DESK_TEST(a_call_is_cancelled_wherever_it_is)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_slack(desk);
    desk_says(desk, 200, page(t, 0, 1, "more"));
    desk_says(desk, 200, "{}");
    desk_newest(desk)->silent = true;
    ASSERT_OK(desk_start(desk, "list_slack_channels", "{}", ""));
    for (int i = 0; i < 20; i++)
        loop_fake_tick(desk->loop);
    ASSERT_EQ(desk_asked(desk), 3);
    tool_cancel(desk->job);
    desk_turn(desk, 1000);
    ASSERT_EQ(desk->told, 1);
    ASSERT_EQ(desk->result.err.code, ERR_CANCELLED);
    desk_says(desk, 200, INFO);
    ASSERT_OK(desk_preview(desk, "send_slack_message", HELLO));
    desk_turn(desk, 1000);
    desk_says(desk, 200, SENT);
    desk_newest(desk)->silent = true;
    ASSERT_OK(
        desk_start(desk, "send_slack_message", HELLO, arena_text(&t->arena, desk->preview.digest)));
    for (int i = 0; i < 20; i++)
        loop_fake_tick(desk->loop);
    tool_cancel(desk->job);
    desk_turn(desk, 1000);
    ASSERT_EQ(desk->result.err.code, ERR_EFFECT_UNKNOWN); /* it was on its way */
}

DESK_TEST(a_token_that_was_removed_beside_the_account_is_named)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_slack(desk);
    ASSERT_OK(secrets_remove(desk->secrets, "slack-token", &t->err));
    ASSERT_EQ(desk_does(desk, "list_slack_channels", "{}"), ERR_SECRET_UNAVAILABLE);
    ASSERT_CONTAINS(desk_output(desk), "slack-token");
}
