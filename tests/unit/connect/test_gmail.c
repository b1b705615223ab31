/* list_emails, read_email, draft_email and send_email, against answers of every kind.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "connect/mime.h"
#include "desk.h"
#include "harness/facts.h"

#define MAIL "{\"to\":[\"bo@example.org\"],\"subject\":\"Lunch\",\"body\":\"At noon?\\n\"}"

/* A desk with an account; what follows is request 0. */
static struct desk *mail_desk(struct test *t)
{
    struct desk *desk = desk_new(t);

    desk_connect_google(desk);
    return desk;
}

static const char *ids(struct test *t, int n, const char *more)
{
    AUTO_BUF out = BUF_INIT(64u << 10);

    buf_add_text(&out, "{\"messages\":[");
    for (int i = 0; i < n; i++)
        buf_printf(&out, "%s{\"id\":\"m%d\",\"threadId\":\"t%d\"}", i ? "," : "", i, i);
    buf_printf(&out, "]%s}", more);
    return arena_text(&t->arena, buf_text(&out));
}

static const char *head(struct test *t, int i)
{
    return arena_printf(&t->arena,
                        "{\"id\":\"m%d\",\"threadId\":\"t%d\",\"labelIds\":[\"INBOX\"%s],"
                        "\"snippet\":\"s\",\"payload\":{\"headers\":[{\"name\":\"from\",\"value\":"
                        "\"=?utf-8?q?J=C3=BCrgen?= <j@example.org>\"},{\"name\":\"Subject\","
                        "\"value\":\"Mail %d\"}]}}",
                        i, i, i % 2 ? ",\"UNREAD\"" : "", i);
}

static struct json_object *emails(struct desk *desk)
{
    struct json_object *json = NULL;
    struct test *t = desk->t;

    ASSERT_OK(json_parse(desk->result.output, &json, &t->err));
    return json;
}

static void says_raw(struct desk *desk, const char *message)
{
    AUTO_BUF raw = BUF_INIT(1u << 20);

    base64url_encode(str_from(message), &raw);
    desk_says(desk, 200,
              arena_printf(&desk->t->arena, "{\"id\":\"m1\",\"threadId\":\"t1\",\"raw\":\"%s\"}",
                           buf_text(&raw)));
}

/* ---- listing ---- */

DESK_TEST(mails_are_listed_in_order_and_five_are_asked_for_at_a_time)
{
    AUTO(desk) desk = mail_desk(t);
    AUTO_JSON json = NULL;
    struct json_object *list;

    desk_says(desk, 200, ids(t, 8, ",\"nextPageToken\":\"x\""));
    for (int i = 0; i < 8; i++) {
        desk_says(desk, 200, head(t, i));
        desk_newest(desk)->delay_ms = i == 0 ? 3000 : 500; /* the first is the last to come */
    }
    ASSERT_OK(
        desk_start(desk, "list_emails", "{\"query\":\"from:ada & b\",\"unread_only\":true}", ""));
    desk_turn(desk, 300);
    ASSERT_TEXT(desk_line(desk, 2),
                "GET https://gmail.googleapis.com/gmail/v1/users/me/messages?maxResults=10&q="
                "from%3Aada%20%26%20b%20is%3Aunread");
    ASSERT_EQ(desk_asked(desk), 3 + 5);
    desk_turn(desk, 5000);
    ASSERT_EQ(desk->told, 1);
    json = emails(desk);
    list = json_find(json, "emails");
    ASSERT_EQ(json_object_array_length(list), 8);
    for (size_t i = 0; i < 8; i++) {
        struct json_object *mail = json_object_array_get_idx(list, i);

        ASSERT_STR(json_str(json_find(mail, "id")), arena_printf(&t->arena, "m%zu", i));
        ASSERT_STR(json_str(json_find(mail, "from")), "J\xc3\xbcrgen <j@example.org>");
        ASSERT_STR(json_str(json_find(mail, "to")), "");
        ASSERT_EQ(json_object_get_boolean(json_find(mail, "unread")), i % 2);
    }
    ASSERT(json_object_get_boolean(json_find(json, "more")));
    ASSERT_STR(desk->result.taint, "mail:Jürgen <j@example.org>");
}

DESK_TEST(a_mail_that_was_deleted_meanwhile_is_left_out)
{
    AUTO(desk) desk = mail_desk(t);

    desk_says(desk, 200, ids(t, 3, ""));
    desk_says(desk, 200, head(t, 0));
    desk_says(desk, 404, "{\"error\":{\"message\":\"Not found\"}}");
    desk_says(desk, 200, head(t, 2));
    ASSERT_EQ(desk_does(desk, "list_emails", "{}"), ERR_NONE);
    {
        AUTO_JSON json = emails(desk);

        ASSERT_EQ(json_object_array_length(json_find(json, "emails")), 2);
        ASSERT(!json_object_get_boolean(json_find(json, "more")));
    }
    desk_says(desk, 200, "{\"resultSizeEstimate\":0}");
    ASSERT_EQ(desk_does(desk, "list_emails", "{}"), ERR_NONE);
    ASSERT_TEXT(desk_output(desk), "{\"emails\":[],\"more\":false}");
}

DESK_TEST(more_mails_than_were_asked_for_are_not_fetched)
{
    AUTO(desk) desk = mail_desk(t);

    desk_says(desk, 200, ids(t, 100, ""));
    desk_says(desk, 200, head(t, 0));
    desk_says(desk, 200, head(t, 1));
    ASSERT_EQ(desk_does(desk, "list_emails", "{\"limit\":2}"), ERR_NONE);
    ASSERT_EQ(desk_asked(desk), 5);
    ASSERT_CONTAINS(desk_output(desk), "\"more\":true");
}

/* One of several that fails ends the call, after the others have ended. */
DESK_TEST(a_list_of_which_one_mail_fails_ends_once_and_leaves_nothing_behind)
{
    AUTO(desk) desk = mail_desk(t);

    desk_says(desk, 200, ids(t, 8, ""));
    for (int i = 0; i < 5; i++) {
        desk_says(desk, i == 2 ? 400 : 200, i == 2 ? "{\"error\":{\"message\":\"no\"}}" : "{}");
        desk_newest(desk)->silent = i > 2;
    }
    ASSERT_EQ(desk_does(desk, "list_emails", "{}"), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(desk_output(desk), "status 400: no");
    desk_turn(desk, 5000);
    ASSERT_EQ(desk->told, 1);
}

DESK_TEST(five_refused_tokens_are_one_refresh)
{
    AUTO(desk) desk = mail_desk(t);

    desk_says(desk, 200, ids(t, 3, ""));
    for (int i = 0; i < 3; i++) {
        desk_says(desk, 401, "{}");
        desk_newest(desk)->delay_ms = i * 400; /* the last comes after the new token */
    }
    desk_says(desk, 200, "{\"access_token\":\"ya29.number-two\"}");
    for (int i = 0; i < 3; i++)
        desk_says(desk, 200, head(t, i));
    ASSERT_EQ(desk_does(desk, "list_emails", "{}"), ERR_NONE);
    ASSERT_EQ(desk_sent(desk, "grant_type=refresh_token"), 1);
    ASSERT_EQ(desk_sent(desk, "ya29.number-two"), 3);
}

DESK_TEST(a_list_is_cancelled_while_it_waits_for_a_token_and_while_it_reads)
{
    AUTO(desk) desk = mail_desk(t);

    desk_restart(desk); /* no token */
    desk_says(desk, 200, "{\"access_token\":\"ya29.number-two\"}");
    desk_newest(desk)->delay_ms = 1000;
    ASSERT_OK(desk_start(desk, "list_emails", "{}", ""));
    desk_turn(desk, 100);
    tool_cancel(desk->job);
    desk_turn(desk, 100);
    ASSERT_EQ(desk->result.err.code, ERR_CANCELLED);
    desk_turn(desk, 2000);
    desk_says(desk, 200, ids(t, 8, ""));
    for (int i = 0; i < 5; i++) {
        desk_says(desk, 200, "{}");
        desk_newest(desk)->silent = true;
    }
    ASSERT_OK(desk_start(desk, "list_emails", "{}", ""));
    desk_turn(desk, 300);
    ASSERT_EQ(desk_asked(desk), 7);
    tool_cancel(desk->job);
    desk_turn(desk, 100);
    ASSERT_EQ(desk->told, 1);
    ASSERT_EQ(desk->result.err.code, ERR_CANCELLED);
}

DESK_TEST(a_daemon_that_ends_ends_a_list_that_is_being_read)
{
    AUTO(desk) desk = mail_desk(t);

    desk_says(desk, 200, ids(t, 8, ""));
    for (int i = 0; i < 5; i++) {
        desk_says(desk, 200, "{}");
        desk_newest(desk)->silent = true;
    }
    ASSERT_OK(desk_start(desk, "list_emails", "{}", ""));
    desk_turn(desk, 300);
    desk_restart(desk);
    ASSERT_EQ(desk->told, 1);
    ASSERT_EQ(desk->result.err.code, ERR_CANCELLED);
}

/* ---- reading ---- */

DESK_TEST(a_mail_is_read_from_its_bytes)
{
    AUTO(desk) desk = mail_desk(t);

    says_raw(desk, "From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\r\nTo: ada@example.org\r\n"
                   "Subject: Hi\r\nContent-Type: text/html\r\n\r\n"
                   "<p>Hello <b>there</b><script>alert(1)</script></p>");
    ASSERT_EQ(desk_does(desk, "read_email", "{\"id\":\"m1\"}"), ERR_NONE);
    ASSERT_TEXT(desk_line(desk, 2),
                "GET https://gmail.googleapis.com/gmail/v1/users/me/messages/m1?format=raw");
    ASSERT_CONTAINS(desk_output(desk), "\"id\":\"m1\",\"thread_id\":\"t1\",\"from\":\"J\xc3\xbc");
    ASSERT_CONTAINS(desk_output(desk), "\"from_html\":true");
    ASSERT(!strstr(desk_output(desk), "alert"));
    ASSERT_STR(desk->result.taint, "mail:Jürgen <j@example.org>");
}

/* Reading asks again by itself where that helps, and ends in words where it does not. */
DESK_TEST(trouble_while_reading_has_a_defined_end)
{
    static const struct {
        const char *name;
        int status;
        const char *type, *body;
        enum err_code fail;
        enum http_phase phase;
        enum err_code code;
        const char *says;
        int times; /* the same answer comes so often */
    } cases[] = {
        { "slow", 0, NULL, NULL, ERR_TIMEOUT, HTTP_PHASE_WAIT, ERR_TIMEOUT, "ask Gmail", 1 },
        { "stalls", 0, NULL, NULL, ERR_TIMEOUT, HTTP_PHASE_BODY, ERR_TIMEOUT, "ask Gmail", 1 },
        { "resets", 0, NULL, NULL, ERR_PROVIDER_FAILED, HTTP_PHASE_BODY, ERR_PROVIDER_FAILED,
          "ask Gmail", 3 },
        { "100 MB", 0, NULL, NULL, ERR_TOO_LARGE, HTTP_PHASE_BODY, ERR_TOO_LARGE,
          "larger than 12 MB with its attachments; open it in Gmail", 1 },
        { "truncated", 200, "application/json", "{\"raw\":\"aGVsb", 0, 0, ERR_PROVIDER_FAILED,
          "damaged", 1 },
        { "no object", 200, "application/json", "[]", 0, 0, ERR_PROVIDER_FAILED, "no object", 1 },
        { "no raw", 200, "application/json", "{\"id\":\"m1\"}", 0, 0, ERR_PROVIDER_FAILED,
          "base64url", 1 },
        { "raw is no base64", 200, "application/json", "{\"raw\":\"a b<>\"}", 0, 0,
          ERR_PROVIDER_FAILED, "base64url", 1 },
        { "html", 200, "text/html", "<p>sign in", 0, 0, ERR_PROVIDER_FAILED, "no JSON", 1 },
        { "another host", 302, "text/html", "", 0, 0, ERR_PROVIDER_FAILED, "not followed", 1 },
        { "500", 500, "text/html", "oops", 0, 0, ERR_PROVIDER_FAILED, "status 500", 3 },
        { "503", 503, "application/json", "{\"error\":{\"message\":\"a\\u0007b\"}}", 0, 0,
          ERR_PROVIDER_FAILED, "status 503: a b", 3 },
        { "501 that steers", 501, "application/json",
          "{\"error\":{\"message\":\"a\\u009b\\u202eb\\n\"}}", 0, 0, ERR_PROVIDER_FAILED,
          "status 501: a  b", 1 },
        { "501", 501, "text/html", "", 0, 0, ERR_PROVIDER_FAILED, "status 501", 1 },
        { "403", 403, "application/json",
          "{\"error\":{\"message\":\"Request had insufficient authentication scopes.\"}}", 0, 0,
          ERR_CAPABILITY_DENIED, "without the scope", 1 },
        { "quota", 403, "application/json", "{\"error\":{\"message\":\"User Rate Limit\"}}", 0, 0,
          ERR_RATE_LIMITED, "too many", 1 },
        { "404", 404, "application/json", "{}", 0, 0, ERR_NOT_FOUND, "no such thing", 1 },
        { "410", 410, "application/json", "{}", 0, 0, ERR_NOT_FOUND, "no such thing", 1 },
        { "repeats the token", 200, "application/json", "{\"raw\":\"" ACCESS "\"}", 0, 0,
          ERR_PROVIDER_FAILED, "repeats the token", 1 },
    };
    AUTO(desk) desk = mail_desk(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int n = 0; n < cases[i].times; n++)
            if (cases[i].fail)
                desk_fails(desk, cases[i].fail, cases[i].phase);
            else
                desk_says_type(desk, cases[i].status, cases[i].type, str_from(cases[i].body));
        if (desk_does(desk, "read_email", "{\"id\":\"m1\"}") != cases[i].code)
            FAIL("%s: %s", cases[i].name, desk_output(desk));
        ASSERT_CONTAINS(desk_output(desk), cases[i].says);
        ASSERT(!strstr(desk_output(desk), ACCESS));
        ASSERT_EQ(desk_asked(desk), desk->said);
    }
}

/* A server that goes on and on: what is kept is bounded, whatever it says. */
DESK_TEST(an_answer_larger_than_was_asked_for_is_dropped)
{
    AUTO(desk) desk = mail_desk(t);
    size_t n = (1u << 20) + 1;
    char *much = malloc(n);

    ASSERT(much);
    memset(much, ' ', n);
    desk_says_type(desk, 200, "application/json", str_of(much, n));
    ASSERT_EQ(desk_does(desk, "list_emails", "{}"), ERR_TOO_LARGE);
    free(much);
}

/* ---- writing ---- */

/* The message of a request's "raw". */
static const char *message_of(struct desk *desk, size_t i)
{
    AUTO_JSON json = NULL;
    AUTO_BUF bytes = BUF_INIT(1u << 20);
    struct json_object *message;
    struct test *t = desk->t;

    ASSERT_OK(json_parse(desk_body(desk, i), &json, &t->err));
    message = json_find(json, "message") ? json_find(json, "message") : json;
    base64_decode(json_str(json_find(message, "raw")), &bytes);
    return arena_text(&t->arena, buf_text(&bytes));
}

DESK_TEST(a_mail_is_shown_as_it_goes_out)
{
    AUTO(desk) desk = mail_desk(t);

    desk_says(desk, 200, "{\"id\":\"m9\",\"threadId\":\"t9\",\"labelIds\":[\"SENT\"]}");
    ASSERT_EQ(desk_does(desk, "send_email", MAIL), ERR_NONE);
    ASSERT_STR(desk->preview.title, "Send a mail: Lunch");
    ASSERT_STR(desk->preview.text, "At noon?\n");
    ASSERT_TEXT(facts_text(t, desk->preview.details),
                "from: ada@example.org\nto: bo@example.org\nsubject: Lunch\n");
    ASSERT_TEXT(desk_line(desk, 2),
                "POST https://gmail.googleapis.com/gmail/v1/users/me/messages/send");
    ASSERT_CONTAINS(message_of(desk, 2), "From: ada@example.org\r\nTo: bo@example.org\r\n");
    ASSERT_CONTAINS(message_of(desk, 2), "\r\n\r\nAt noon?\r\n");
    ASSERT_TEXT(desk_output(desk), "{\"id\":\"m9\",\"thread_id\":\"t9\"}");
    desk_says(desk, 200, "{\"id\":\"d1\",\"message\":{\"id\":\"m9\",\"threadId\":\"t9\"}}");
    ASSERT_EQ(desk_does(desk, "draft_email", MAIL), ERR_NONE);
    ASSERT_TEXT(desk_line(desk, 3), "POST https://gmail.googleapis.com/gmail/v1/users/me/drafts");
    ASSERT_TEXT(desk_output(desk), "{\"id\":\"d1\",\"thread_id\":\"t9\"}");
}

DESK_TEST(a_mail_that_can_not_be_written_is_refused_before_anybody_is_asked)
{
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        { "{\"to\":[\"bo@example.org\\r\\nBcc: x@example.org\"],\"subject\":\"s\",\"body\":\"\"}",
          "To" },
        { "{\"to\":[\"bo@example.org\"],\"subject\":\"a\\nBcc: x@example.org\",\"body\":\"\"}",
          "subject must be one line" },
        { "{\"to\":[\"nobody\"],\"subject\":\"s\",\"body\":\"\"}", "To" },
        { "{\"to\":[\"bo@example.org\"],\"subject\":\"s\",\"body\":\"\\u0000\"}", "NUL" },
        { "{\"to\":[],\"subject\":\"s\",\"body\":\"\"}", "" },
    };
    AUTO(desk) desk = mail_desk(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tool_verdict verdict;

        desk->call.name = STR("send_email");
        desk->call.arguments = str_from(cases[i].arguments);
        tool_judge(desk->tools, &desk->call, &t->arena, &verdict);
        ASSERT(verdict.attributes & TOOL_REFUSED);
        ASSERT_CONTAINS(verdict.message, cases[i].says);
    }
    ASSERT_EQ(desk_asked(desk), 2);
}

#define REPLY                                                                                      \
    "{\"to\":[\"bo@example.org\"],\"subject\":\"Re: x\",\"body\":\"yes\",\"reply_to_id\":\"m1\"}"

DESK_TEST(a_reply_stays_in_its_thread_and_takes_nothing_else_from_a_stranger)
{
    static const struct {
        const char *id, *references, *has, *lacks;
    } cases[] = {
        { "<a@x>", "<r1@x> <r2@x>",
          "In-Reply-To: <a@x>\r\nReferences: <r1@x>\r\n <r2@x>\r\n <a@x>\r\n", "Bcc" },
        { "<a@x>", "", "In-Reply-To: <a@x>\r\nReferences: <a@x>\r\n", "Bcc" },
        { "", "", "Subject: Re: x\r\nMIME", "In-Reply-To" },
        { "<a@x>\\r\\nBcc: evil@example.org", "", "Subject: Re: x", "Bcc" },
        { "=?utf-8?q?<a@x>=0D=0ABcc:_evil@example.org?=", "<r@x>", "References: <r@x>", "Bcc" },
        { "<\\u00fc@x>", "<a@x>\\n\\nbody", "Subject: Re: x", "body" },
    };
    AUTO(desk) desk = mail_desk(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t at = desk_asked(desk);

        desk_says(desk, 200,
                  arena_printf(&t->arena,
                               "{\"threadId\":\"t1\",\"payload\":{\"headers\":[{\"name\":"
                               "\"Message-Id\",\"value\":\"%s\"},{\"name\":\"References\","
                               "\"value\":\"%s\"}]}}",
                               cases[i].id, cases[i].references));
        desk_says(desk, 200, "{\"id\":\"m9\",\"threadId\":\"t1\"}");
        ASSERT_EQ(desk_does(desk, "send_email", REPLY), ERR_NONE);
        ASSERT_CONTAINS(desk_line(desk, at), "/messages/m1?format=metadata");
        ASSERT_CONTAINS(message_of(desk, at + 1), cases[i].has);
        ASSERT(!strstr(message_of(desk, at + 1), cases[i].lacks));
        ASSERT(str_find(desk_body(desk, at + 1), STR("\"threadId\":\"t1\"")) >= 0);
    }
    ASSERT_CONTAINS(facts_text(t, desk->preview.details), "in reply to: m1");
    desk_says(desk, 404, "{}");
    ASSERT_EQ(desk_does(desk, "send_email", REPLY), ERR_NOT_FOUND);
    ASSERT_CONTAINS(desk_output(desk), "the mail to reply to");
}

DESK_TEST(a_mail_that_may_have_gone_out_is_not_sent_again)
{
    static const struct {
        int status;
        const char *body;
        enum err_code fail;
        enum http_phase phase;
        enum err_code code;
    } cases[] = {
        { 0, NULL, ERR_PROVIDER_FAILED, HTTP_PHASE_WAIT, ERR_EFFECT_UNKNOWN },
        { 0, NULL, ERR_TIMEOUT, HTTP_PHASE_WAIT, ERR_EFFECT_UNKNOWN },
        { 0, NULL, ERR_TIMEOUT, HTTP_PHASE_CONNECT, ERR_TIMEOUT },
        { 200, "{\"id\":", 0, 0, ERR_EFFECT_UNKNOWN },
        { 500, "{}", 0, 0, ERR_EFFECT_UNKNOWN },
        { 400, "{}", 0, 0, ERR_BAD_REQUEST },
        { 302, "{}", 0, 0, ERR_PROVIDER_FAILED },
    };
    AUTO(desk) desk = mail_desk(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (cases[i].fail)
            desk_fails(desk, cases[i].fail, cases[i].phase);
        else
            desk_says(desk, cases[i].status, cases[i].body);
        ASSERT_EQ(desk_does(desk, "send_email", MAIL), cases[i].code);
        ASSERT_EQ(desk_asked(desk), desk->said);
    }
    desk_says(desk, 401, "{}"); /* it did nothing: a new token, and once more */
    desk_says(desk, 200, "{\"access_token\":\"ya29.number-two\"}");
    desk_says(desk, 200, "{\"id\":\"m9\"}");
    ASSERT_EQ(desk_does(desk, "send_email", MAIL), ERR_NONE);
}

/* ---- the longest that is allowed ---- */

DESK_TEST(the_longest_query_reaches_gmail_whole)
{
    AUTO(desk) desk = mail_desk(t);

    desk_says(desk, 200, "{}");
    ASSERT_EQ(desk_does(desk, "list_emails",
                        arena_printf(&t->arena, "{\"query\":\"%s\",\"unread_only\":true}",
                                     desk_repeated(t, "🐭", 500))),
              ERR_NONE);
    ASSERT_TEXT(
        desk_line(desk, 2),
        arena_printf(&t->arena,
                     "GET https://gmail.googleapis.com/gmail/v1/users/me/messages?maxResults="
                     "10&q=%s%%20is%%3Aunread",
                     desk_repeated(t, "%F0%9F%90%AD", 500)));
    ASSERT_EQ(desk_start(desk, "list_emails",
                         arena_printf(&t->arena, "{\"query\":\"%s\"}", desk_repeated(t, "x", 501)),
                         ""),
              -1);
    ASSERT_EQ(desk->result.err.code, ERR_SCHEMA_VIOLATION);
}

DESK_TEST(the_title_of_a_mail_to_decide_on_is_cut_between_two_characters)
{
    AUTO(desk) desk = mail_desk(t);

    ASSERT_OK(desk_preview(
        desk, "send_email",
        arena_printf(&t->arena, "{\"to\":[\"bo@example.org\"],\"subject\":\"x%s\",\"body\":\"b\"}",
                     desk_repeated(t, "ä", 300))));
    desk_turn(desk, 1000);
    ASSERT_STR(desk->preview.title,
               arena_printf(&t->arena, "Send a mail: x%s", desk_repeated(t, "ä", 99)));
}

DESK_TEST(a_header_that_is_too_long_for_a_list_keeps_its_letters)
{
    AUTO(desk) desk = mail_desk(t);

    desk_says(desk, 200, ids(t, 1, ""));
    desk_says(desk, 200,
              arena_printf(&t->arena,
                           "{\"id\":\"m0\",\"payload\":{\"headers\":[{\"name\":\"To\",\"value\":"
                           "\"x%s\"}]}}",
                           desk_repeated(t, "ä", 3000)));
    ASSERT_EQ(desk_does(desk, "list_emails", "{}"), ERR_NONE);
    ASSERT_CONTAINS(desk_output(desk),
                    arena_printf(&t->arena, "\"to\":\"x%s\"", desk_repeated(t, "ä", 2047)));
}

DESK_TEST(attachments_and_what_was_cut_are_told)
{
    AUTO(desk) desk = mail_desk(t);

    says_raw(desk, arena_printf(&t->arena,
                                "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n%s\n--b\n"
                                "Content-Type: application/pdf; name=a.pdf\n\nabc\n--b--",
                                desk_repeated(t, "word ", 60000)));
    ASSERT_EQ(desk_does(desk, "read_email", "{\"id\":\"m1\"}"), ERR_NONE);
    ASSERT_CONTAINS(desk_output(desk),
                    "\"from_html\":false,\"truncated\":true,\"attachments\":[{\"name\":\"a.pdf\","
                    "\"type\":\"application/pdf\",\"bytes\":3}]");
}

DESK_TEST(too_many_requests_are_told_as_such)
{
    static const struct {
        int status;
        const char *body;
    } cases[] = {
        { 429, "{}" },
        { 403, "{\"error\":{\"message\":\"User Rate Limit Exceeded\"}}" },
        { 403, "{\"error\":{\"message\":\"Quota: rate limit\"}}" },
    };
    AUTO(desk) desk = mail_desk(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int n = 0; n < (cases[i].status == 429 ? 3 : 1); n++)
            desk_says(desk, cases[i].status, cases[i].body);
        ASSERT_EQ(desk_does(desk, "send_email", MAIL), ERR_RATE_LIMITED);
        ASSERT_CONTAINS(desk_output(desk), "Gmail: too many requests");
        ASSERT_EQ(desk_asked(desk), desk->said);
    }
}
