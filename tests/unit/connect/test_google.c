/* Google: asking a person for a grant, and tokens that are made anew.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/hash.h"
#include "connect/google_int.h"
#include "connect/mime.h"
#include "desk.h"

#define TOKENS(access_)                                                                            \
    "{\"access_token\":\"" access_ "\",\"refresh_token\":\"" REFRESH                               \
    "\",\"expires_in\":3600,\"scope\":\"mail\"}"
#define DEVICE                                                                                     \
    "{\"device_code\":\"the-device\",\"user_code\":\"ABCD-EFGH\",\"verification_url\":"            \
    "\"https://www.google.com/device\",\"expires_in\":1800,\"interval\":5}"

static const char *status_of(struct desk *desk)
{
    return desk_status(desk, connect_google_status);
}

static int begin(struct desk *desk, const char *flow, struct err *err)
{
    struct connect_google_start start = { .flow = str_from(flow),
                                          .redirect_uri = STR("http://127.0.0.1:7717/cb") };

    desk->done = 0;
    return connect_google_begin(desk->connect, &start, desk_done, desk, err);
}

static const char *state_of(struct desk *desk)
{
    const char *at = strstr(desk_status(desk, connect_google_flow), "&state=");

    ASSERT(at);
    at += 7;
    return arena_printf(&desk->t->arena, "%.*s", (int)strcspn(at, "&"), at);
}

/* ---- beginning ---- */

DESK_TEST(a_grant_is_begun_with_what_is_allowed)
{
    static const struct {
        const char *flow, *redirect_uri, *says;
    } cases[] = {
        { "", NULL, "device or loopback" },
        { "implicit", NULL, "device or loopback" },
        { "loopback", NULL, "redirect_uri" },
        { "loopback", "https://127.0.0.1/", "redirect_uri" },
        { "loopback", "http://evil.example/", "redirect_uri" },
        { "loopback", "http://127.0.0.1.evil.example/", "redirect_uri" },
        { "loopback", "http://127.0.0.1@evil.example/", "redirect_uri" },
        { "loopback", "http://127.0.0.1:80/ x", "redirect_uri" },
        { "loopback", "http://localhost.evil.example/", "redirect_uri" },
        { "loopback", "http://[::1].evil.example/", "redirect_uri" },
        { "loopback", "http://[::1]evil.example/", "redirect_uri" },
        { "loopback", "http://[::ffff:8.8.8.8]/", "redirect_uri" },
        { "loopback", "http://2130706433/", "redirect_uri" },
    };
    static const char *const good[] = { "http://127.0.0.1/", "http://localhost:7717/cb",
                                        "http://[::1]:7717/cb" };
    AUTO(desk) desk = desk_new(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct connect_google_start start = { .flow = str_from(cases[i].flow),
                                              .redirect_uri = str_from(cases[i].redirect_uri) };

        ASSERT_FAILS(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err),
                     ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
        ASSERT_CONTAINS(status_of(desk), "\"pending\":false");
        err_reset(&t->err);
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct connect_google_start start = { .flow = STR("loopback"),
                                              .redirect_uri = str_from(good[i]) };

        ASSERT_OK(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err));
        ASSERT_CONTAINS(status_of(desk), "\"pending\":true");
    }
    ASSERT_EQ(desk_asked(desk), 0);
}

DESK_TEST(a_client_id_is_needed_and_everything_has_a_size)
{
    static const struct connect_config none = { .loop = NULL };
    AUTO(desk) desk = desk_new_with(t, &none);
    char much[3000];
    struct connect_google_start start = { .flow = STR("device") };

    memset(much, 'x', sizeof(much));
    ASSERT_FAILS(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "console.cloud.google.com");
    start.client_id = str_of(much, 600);
    ASSERT_FAILS(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err),
                 ERR_BAD_REQUEST);
    start.client_id = STR("me");
    start.client_secret = str_of(much, 2000);
    ASSERT_FAILS(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err),
                 ERR_BAD_REQUEST);
    start.client_secret = STR_NONE;
    start.scopes = str_of(much, 3000);
    ASSERT_FAILS(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err),
                 ERR_TOO_LARGE);
    desk->config.secrets = NULL;
    desk_restart(desk);
    ASSERT_FAILS(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err),
                 ERR_SECRET_UNAVAILABLE);
}

/* ---- loopback ---- */

DESK_TEST(the_browser_is_sent_with_a_state_and_a_challenge_that_fits_the_verifier)
{
    AUTO(desk) desk = desk_new(t);
    AUTO_BUF challenge = BUF_INIT(64);
    uint8_t digest[SHA256_BYTES];
    const char *flow, *verifier;

    ASSERT_OK(begin(desk, "loopback", &t->err));
    ASSERT_EQ(desk->done, 0);
    desk_turn(desk, 10);
    ASSERT_EQ(desk->done, 1);
    flow = desk_status(desk, connect_google_flow);
    ASSERT_CONTAINS(flow, "\"auth_url\":\"https://accounts.google.com/o/oauth2/v2/auth?client_id=");
    ASSERT_CONTAINS(flow, "&redirect_uri=http%3A%2F%2F127.0.0.1%3A7717%2Fcb&response_type=code");
    ASSERT_CONTAINS(flow, "&access_type=offline&prompt=consent");
    ASSERT_CONTAINS(flow, "\"expires_in\":");
    ASSERT_EQ(strlen(state_of(desk)), 43);
    desk_says(desk, 200, TOKENS(ACCESS));
    desk_says(desk, 200, "{\"emailAddress\":\"ada@example.org\"}");
    ASSERT_OK(connect_google_finish(desk->connect, STR("c"), str_from(state_of(desk)), STR_NONE,
                                    desk_done, desk, &t->err));
    desk_turn(desk, 1000);
    verifier =
        strstr(arena_printf(&t->arena, "%.*s", STR_ARG(desk_body(desk, 0))), "code_verifier=");
    ASSERT(verifier);
    sha256_of(str_of(verifier + 14, 43), digest);
    base64url_encode(str_of((const char *)digest, sizeof(digest)), &challenge);
    ASSERT_CONTAINS(flow, arena_printf(&t->arena, "&code_challenge=%s&code_challenge_method=S256",
                                       buf_text(&challenge)));
    ASSERT_EQ(desk_sent(desk, "client_secret"), 0); /* it has none */
    ASSERT_CONTAINS(status_of(desk), "\"configured\":true,\"pending\":false");
}

DESK_TEST(a_browser_that_comes_back_with_something_else_is_turned_away)
{
    AUTO(desk) desk = desk_new(t);
    const char *state;

    ASSERT_FAILS(
        connect_google_finish(desk->connect, STR("c"), STR(""), STR_NONE, desk_done, desk, &t->err),
        ERR_UNAUTHORIZED);
    ASSERT_OK(begin(desk, "loopback", &t->err));
    desk_turn(desk, 10);
    state = state_of(desk);
    ASSERT_FAILS(connect_google_finish(desk->connect, STR("c"), str_take(str_from(state), 42),
                                       STR_NONE, desk_done, desk, &t->err),
                 ERR_UNAUTHORIZED);
    ASSERT_CONTAINS(status_of(desk), "\"pending\":true"); /* anybody's link does not end it */
    err_reset(&t->err);
    ASSERT_FAILS(connect_google_finish(desk->connect, STR_NONE, str_from(state),
                                       STR("access_denied"), desk_done, desk, &t->err),
                 ERR_REJECTED);
    ASSERT_CONTAINS(status_of(desk), "access was not granted");
    err_reset(&t->err);
    ASSERT_FAILS(connect_google_finish(desk->connect, STR("c"), str_from(state), STR_NONE,
                                       desk_done, desk, &t->err),
                 ERR_UNAUTHORIZED); /* a state is good once */
    ASSERT_EQ(desk_asked(desk), 0);
    err_reset(&t->err);
    ASSERT_OK(begin(desk, "loopback", &t->err));
    ASSERT_FAILS(connect_google_finish(desk->connect, STR_NONE, str_from(state_of(desk)), STR_NONE,
                                       desk_done, desk, &t->err),
                 ERR_REJECTED);
    ASSERT_CONTAINS(test_err_text(t), "no code");
}

DESK_TEST(a_loopback_grant_that_nobody_gives_expires)
{
    AUTO(desk) desk = desk_new(t);

    ASSERT_OK(begin(desk, "loopback", &t->err));
    desk_turn(desk, 10);
    desk_turn(desk, 599000);
    ASSERT_CONTAINS(status_of(desk), "\"pending\":true");
    desk_turn(desk, 2000);
    ASSERT_CONTAINS(status_of(desk), "\"pending\":false");
    ASSERT_CONTAINS(status_of(desk), "in time");
}

DESK_TEST(a_code_that_google_does_not_take_is_told_of)
{
    static const struct {
        int status;
        const char *type, *body;
        enum err_code code;
        const char *says;
    } cases[] = {
        { 400, "application/json", "{\"error\":\"invalid_grant\"}", ERR_UNAUTHORIZED,
          "invalid_grant" },
        { 401, "application/json", "{\"error\":\"invalid_client\"}", ERR_UNAUTHORIZED,
          "client secret" },
        { 400, "application/json", "{\"error\":\"<script>\"}", ERR_PROVIDER_FAILED, "status 400" },
        { 200, "application/json", "{\"access_token\":\"a", ERR_PROVIDER_FAILED, "damaged" },
        { 200, "text/html", "<p>hello", ERR_PROVIDER_FAILED, "no JSON" },
        { 307, "text/html", "", ERR_PROVIDER_FAILED, "no JSON" },
        { 200, "application/json", "{\"access_token\":\"a\"}", ERR_PROVIDER_FAILED,
          "no refresh token" },
        { 200, "application/json", "{\"refresh_token\":\"a\"}", ERR_PROVIDER_FAILED,
          "no access token" },
    };
    AUTO(desk) desk = desk_new(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[ERR_TEXT_MAX];

        ASSERT_OK(begin(desk, "loopback", &t->err));
        desk_turn(desk, 10);
        desk_says_type(desk, cases[i].status, cases[i].type, str_from(cases[i].body));
        ASSERT_OK(connect_google_finish(desk->connect, STR("c"), str_from(state_of(desk)), STR_NONE,
                                        desk_done, desk, &t->err));
        desk_turn(desk, 20000);
        ASSERT_EQ(desk->done, 2);
        ASSERT_EQ(desk->err.code, cases[i].code);
        ASSERT_CONTAINS(err_format(&desk->err, text, sizeof(text)), cases[i].says);
        ASSERT_CONTAINS(status_of(desk), "\"configured\":false,\"pending\":false,\"error\"");
    }
    ASSERT_EQ(desk_asked(desk), desk->said); /* a code is never sent twice */
}

DESK_TEST(an_account_whose_name_google_does_not_say_is_connected_all_the_same)
{
    AUTO(desk) desk = desk_new(t);

    ASSERT_OK(begin(desk, "loopback", &t->err));
    desk_turn(desk, 10);
    desk_says(desk, 200, TOKENS(ACCESS));
    desk_says(desk, 403, "{\"error\":{\"message\":\"Gmail API has not been used\"}}");
    ASSERT_OK(connect_google_finish(desk->connect, STR("c"), str_from(state_of(desk)), STR_NONE,
                                    desk_done, desk, &t->err));
    desk_turn(desk, 1000);
    ASSERT_TEXT(status_of(desk), "{\"configured\":true,\"pending\":false,\"scopes\":[\"mail\"]}");
}

/* ---- device ---- */

DESK_TEST(a_code_is_shown_and_looked_after_as_often_as_google_says)
{
    AUTO(desk) desk = desk_new(t);

    desk_says(desk, 200, DEVICE);
    ASSERT_OK(begin(desk, "device", &t->err));
    desk_turn(desk, 1000);
    ASSERT_EQ(desk->done, 1);
    ASSERT_TEXT(desk_line(desk, 0), "POST https://oauth2.googleapis.com/device/code");
    ASSERT_CONTAINS(desk_status(desk, connect_google_flow),
                    "{\"flow\":\"device\",\"user_code\":\"ABCD-EFGH\",\"verification_url\":"
                    "\"https://www.google.com/device\",\"expires_in\":1800}");
    desk_says(desk, 428, "{\"error\":\"authorization_pending\"}");
    desk_says(desk, 403, "{\"error\":\"slow_down\"}");
    desk_says(desk, 200, TOKENS(ACCESS));
    desk_says(desk, 200, "{\"emailAddress\":\"ada@example.org\"}");
    desk_turn(desk, 4500);
    ASSERT_EQ(desk_asked(desk), 1);
    desk_turn(desk, 1000);
    ASSERT_EQ(desk_asked(desk), 2);
    desk_turn(desk, 5200); /* slow_down: ten seconds from now on */
    ASSERT_EQ(desk_asked(desk), 3);
    desk_turn(desk, 8000);
    ASSERT_EQ(desk_asked(desk), 3);
    desk_turn(desk, 4000);
    ASSERT_EQ(desk_asked(desk), 5);
    ASSERT_CONTAINS(status_of(desk), "\"configured\":true,\"pending\":false");
    ASSERT_EQ(desk->done, 1);
}

DESK_TEST(a_device_grant_ends_when_it_is_refused_or_late)
{
    static const struct {
        const char *word;
        const char *says;
    } cases[] = {
        { "access_denied", "access_denied" },
        { "expired_token", "expired_token" },
        { "invalid_scope", "use loopback" },
    };
    AUTO(desk) desk = desk_new(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        desk_says(desk, 200, DEVICE);
        desk_says(desk, 400, arena_printf(&t->arena, "{\"error\":\"%s\"}", cases[i].word));
        ASSERT_OK(begin(desk, "device", &t->err));
        desk_turn(desk, 1000);
        desk_turn(desk, 6000);
        ASSERT_CONTAINS(status_of(desk), "\"pending\":false");
        ASSERT_CONTAINS(status_of(desk), cases[i].says);
    }
    desk_says(desk, 200,
              "{\"device_code\":\"d\",\"user_code\":\"u\",\"verification_uri\":\"https://g/d\","
              "\"expires_in\":8,\"interval\":-4}");
    for (int i = 0; i < 3; i++)
        desk_fails(desk, ERR_TIMEOUT, HTTP_PHASE_CONNECT); /* tried again, more slowly */
    ASSERT_OK(begin(desk, "device", &t->err));
    desk_turn(desk, 1000);
    desk_turn(desk, 20000);
    ASSERT_CONTAINS(status_of(desk), "in time");
    ASSERT_EQ(desk_asked(desk), desk->said);
}

DESK_TEST(an_answer_without_a_code_is_no_grant)
{
    static const char *const bodies[] = {
        "{}",
        "{\"device_code\":\"d\",\"user_code\":\"u\"}",
        "{\"device_code\":\"d\",\"user_code\":\"u\",\"verification_url\":\"javascript:alert(1)\"}",
        "{\"device_code\":\"d\",\"user_code\":\"u\",\"verification_url\":\"http://evil.example/\"}",
        "{\"device_code\":\"d\",\"user_code\":\"u\",\"verification_url\":\"httpx:evil\"}",
        "{\"device_code\":\"d\",\"user_code\":\"u\",\"verification_url\":\"https://g@evil/\"}",
        "{\"device_code\":\"d\",\"user_code\":\"u\",\"verification_url\":\"https:\"}",
        "{\"user_code\":\"u\",\"verification_url\":\"https://g/\"}",
        "{\"device_code\":7,\"user_code\":\"u\",\"verification_url\":\"https://g/\"}",
    };
    AUTO(desk) desk = desk_new(t);

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        desk_says(desk, 200, bodies[i]);
        ASSERT_OK(begin(desk, "device", &t->err));
        desk_turn(desk, 1000);
        ASSERT_EQ(desk->done, 1);
        ASSERT_EQ(desk->err.code, ERR_PROVIDER_FAILED);
        ASSERT_CONTAINS(status_of(desk), "\"pending\":false");
    }
}

DESK_TEST(a_new_grant_takes_the_place_of_the_old)
{
    AUTO(desk) desk = desk_new(t);

    desk_says(desk, 200, DEVICE);
    desk_newest(desk)->delay_ms = 5000;
    ASSERT_OK(begin(desk, "device", &t->err));
    desk_turn(desk, 100);
    ASSERT_EQ(desk->done, 0);
    {
        struct connect_google_start start = { .flow = STR("loopback"),
                                              .redirect_uri = STR("http://localhost/") };

        ASSERT_OK(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err));
    }
    ASSERT_EQ(desk->done, 1);
    ASSERT_EQ(desk->err.code, ERR_CANCELLED);
    desk_turn(desk, 100);
    ASSERT_EQ(desk->err.code, ERR_NONE);
    desk_turn(desk, 10000); /* the old answer is nobody's */
    ASSERT_CONTAINS(desk_status(desk, connect_google_flow), "\"flow\":\"loopback\"");
}

/* ---- tokens ---- */

#define NO_EVENTS "{\"items\":[]}"

DB_TEST(a_token_is_made_anew_before_it_expires)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_google(desk);
    desk_says(desk, 200, NO_EVENTS);
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_NONE);
    ASSERT_STR(desk_header(desk, 2, "Authorization"), "Bearer " ACCESS);
    desk_turn(desk, 3550 * 1000);
    desk_says(desk, 200, "{\"access_token\":\"ya29.number-two\",\"expires_in\":3600}");
    desk_says(desk, 200, NO_EVENTS);
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_NONE);
    ASSERT_TEXT(desk_line(desk, 3), "POST https://oauth2.googleapis.com/token");
    ASSERT_STR(desk_body(desk, 3),
               "client_id=client-1&client_secret=" CLIENT_VALUE
               "&grant_type=refresh_token&refresh_token=1%2F%2Frefresh-token-of-ada");
    ASSERT_STR(desk_header(desk, 4, "Authorization"), "Bearer ya29.number-two");
    desk_restart(desk); /* the access token is nowhere kept */
    desk_says(desk, 200, "{\"access_token\":\"ya29.number-three\"}");
    desk_says(desk, 200, NO_EVENTS);
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_NONE);
    ASSERT_STR(desk_header(desk, 1, "Authorization"), "Bearer ya29.number-three");
}

DESK_TEST(a_refresh_token_that_is_replaced_is_the_next_one_used)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_google(desk);
    desk_restart(desk);
    desk_says(desk, 200,
              "{\"access_token\":\"ya29.number-two\",\"refresh_token\":\"1//the-next-one-now\"}");
    desk_says(desk, 200, NO_EVENTS);
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_NONE);
    desk_restart(desk);
    desk_says(desk, 200, "{\"access_token\":\"ya29.number-three\"}");
    desk_says(desk, 200, NO_EVENTS);
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_NONE);
    ASSERT_EQ(desk_sent(desk, "the-next-one-now"), 1);
    ASSERT_EQ(desk_sent(desk, "refresh-token-of-ada"), 0);
}

DESK_TEST(a_token_that_is_refused_is_replaced_once)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_google(desk);
    desk_says(desk, 401, "{\"error\":{\"message\":\"Invalid Credentials\"}}");
    desk_says(desk, 200, "{\"access_token\":\"ya29.number-two\"}");
    desk_says(desk, 200, NO_EVENTS);
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_NONE);
    desk_says(desk, 401, "{}");
    desk_says(desk, 200, "{\"access_token\":\"ya29.number-three\"}");
    desk_says(desk, 401, "{\"error\":{\"message\":\"Invalid Credentials\"}}");
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_UNAUTHORIZED);
    ASSERT_CONTAINS(desk_output(desk), "connect Google again");
    ASSERT_EQ(desk_asked(desk), desk->said);
}

static unsigned heard[4], heard_n;

struct waiting {
    struct google_wait wait; /* first */
    unsigned number;
};

static void on_heard(struct google_wait *wait, struct str token, const struct err *err)
{
    (void)token, (void)err;
    heard[heard_n++] = ((struct waiting *)wait)->number;
}

/* Whichever of three gives up, the others and one that comes later are told, in their order. */
DESK_TEST(a_call_that_gives_up_takes_nobody_else_s_token)
{
    AUTO(desk) desk = desk_new(t);

    desk_connect_google(desk);
    for (unsigned gone = 0; gone < 3; gone++) {
        struct waiting all[4];
        unsigned next = 0;

        heard_n = 0;
        for (unsigned i = 0; i < 4; i++) {
            all[i] = (struct waiting){ { .ready = on_heard }, i };
            if (i == 3)
                google_unwait(desk->connect->oauth, &all[gone].wait);
            google_token(desk->connect->oauth, &all[i].wait);
        }
        google_unwait(desk->connect->oauth, &all[gone].wait); /* it waits no more */
        desk_turn(desk, 1);
        ASSERT_EQ(heard_n, 3);
        for (unsigned i = 0; i < 4; i++)
            if (i != gone)
                ASSERT_EQ(heard[next++], i);
    }
}

/* Each of them has a defined outcome; only what Google said for good makes the account unusable. */
DESK_TEST(a_refresh_that_fails_is_told_and_the_next_call_tries_again)
{
    static const struct {
        int status;
        const char *type, *body;
        enum err_code fail, code;
        const char *says;
    } cases[] = {
        { 500, "application/json", "{\"error\":\"internal_failure\"}", 0, ERR_PROVIDER_FAILED,
          "internal_failure" },
        { 503, "text/html", "<p>later", 0, ERR_PROVIDER_FAILED, "status 503 and no JSON" },
        { 200, "application/json", "{\"access_tok", 0, ERR_PROVIDER_FAILED, "damaged" },
        { 200, "application/json", "[]", 0, ERR_PROVIDER_FAILED, "no object" },
        { 200, "application/json", "{\"access_token\":7}", 0, ERR_PROVIDER_FAILED,
          "no access token" },
        { 200, "text/plain", "{\"access_token\":\"x\"}", 0, ERR_PROVIDER_FAILED, "no JSON" },
        { 302, "text/html", "", 0, ERR_PROVIDER_FAILED, "302" },
        { 0, NULL, NULL, ERR_TIMEOUT, ERR_TIMEOUT, "ask Google" },
        { 0, NULL, NULL, ERR_TOO_LARGE, ERR_TOO_LARGE, "ask Google" },
        { 401, "application/json", "{\"error\":\"invalid_client\"}", 0, ERR_UNAUTHORIZED,
          "client secret" },
    };
    AUTO(desk) desk = desk_new(t);
    const char *reason = NULL;

    desk_connect_google(desk);
    desk_restart(desk);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (cases[i].fail)
            desk_fails(desk, cases[i].fail, HTTP_PHASE_WAIT);
        else
            desk_says_type(desk, cases[i].status, cases[i].type, str_from(cases[i].body));
        ASSERT_EQ(desk_does(desk, "list_events", "{}"), cases[i].code);
        ASSERT_CONTAINS(desk_output(desk), cases[i].says);
        ASSERT(!strstr(desk_output(desk), "refresh-token-of-ada"));
        ASSERT_EQ(desk_asked(desk), i + 1); /* a rotating server may take two for theft */
        ASSERT(connect_available(desk->connect, "list_events", &reason));
    }
}

DESK_TEST(access_that_was_taken_back_is_said_until_it_is_connected_again)
{
    AUTO(desk) desk = desk_new(t);
    const char *reason = NULL;
    size_t asked;

    desk_connect_google(desk);
    desk_restart(desk);
    desk_says(desk, 400, "{\"error\":\"invalid_grant\",\"error_description\":\"expired\"}");
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_SECRET_UNAVAILABLE);
    ASSERT_CONTAINS(desk_output(desk), "access was revoked or has expired. A person connects it");
    ASSERT(!connect_available(desk->connect, "send_email", &reason));
    ASSERT_TEXT(reason, "access was revoked or has expired");
    ASSERT_CONTAINS(status_of(desk), "\"error\":\"access was revoked or has expired\"");
    asked = desk_asked(desk);
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_SECRET_UNAVAILABLE);
    ASSERT_EQ(desk_asked(desk), asked);
    desk_connect_google(desk);
    ASSERT(connect_available(desk->connect, "send_email", &reason));
    desk_says(desk, 200, NO_EVENTS);
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_NONE);
}

/* A public client that was typed has no secret, whatever the configuration holds for another. */
DESK_TEST(a_client_that_was_typed_does_not_borrow_the_configured_secret)
{
    static const struct connect_config config = { .google_client_id = "client-1",
                                                  .google_client_secret_ref = "my-client" };
    AUTO(desk) desk = desk_new_with(t, &config);
    struct connect_google_start start = { .flow = STR("loopback"),
                                          .client_id = STR("client-2"),
                                          .redirect_uri = STR("http://127.0.0.1:1/") };

    ASSERT_OK(secrets_set(desk->secrets, "my-client", STR(CLIENT_VALUE), &t->err));
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err));
        desk_turn(desk, 10);
        desk_says(desk, 200, TOKENS(ACCESS));
        desk_says(desk, 200, "{}");
        ASSERT_OK(connect_google_finish(desk->connect, STR("c"), str_from(state_of(desk)), STR_NONE,
                                        desk_done, desk, &t->err));
        desk_turn(desk, 1000);
        ASSERT_EQ(desk->err.code, ERR_NONE);
        desk_restart(desk);
        desk_says(desk, 200, "{\"access_token\":\"ya29.number-two\"}");
        desk_says(desk, 200, NO_EVENTS);
        ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_NONE);
        ASSERT_EQ(desk_sent(desk, CLIENT_VALUE), i);
        ASSERT_EQ(desk_sent(desk, i ? "client_id=client-1" : "client_id=client-2"), 1);
        ASSERT_TEXT(connect_uses_secret(desk->connect, "my-client"), "Google");
        start.client_id = STR_NONE; /* the configured one, with its secret */
    }
    ASSERT_OK(secrets_remove(desk->secrets, "my-client", &t->err));
    ASSERT_FAILS(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err),
                 ERR_SECRET_UNAVAILABLE);
}

DESK_TEST(addresses_of_ones_own_server_are_used_as_they_are)
{
    static const struct connect_config config = {
        .slack_base_url = "http://127.0.0.1:9/api",
        .google_base_url = "http://127.0.0.1:9//",
        .google_auth_url = "http://127.0.0.1:9/auth",
        .google_token_url = "http://127.0.0.1:9/oauth/token",
        .google_client_id = "client-1",
    };
    AUTO(desk) desk = desk_new_with(t, &config);

    desk_connect_slack(desk);
    desk_connect_google(desk);
    desk_says(desk, 200, NO_EVENTS);
    ASSERT_EQ(desk_does(desk, "list_events", "{}"), ERR_NONE);
    desk_says(desk, 200, "{}");
    ASSERT_OK(connect_google_remove(desk->connect, desk_done, desk, &t->err));
    desk_turn(desk, 1000);
    ASSERT_TEXT(desk_line(desk, 0), "POST http://127.0.0.1:9/api/auth.test");
    ASSERT_TEXT(desk_line(desk, 1), "POST http://127.0.0.1:9/oauth/token");
    ASSERT_TEXT(desk_line(desk, 2), "GET http://127.0.0.1:9/gmail/v1/users/me/profile");
    ASSERT_CONTAINS(desk_line(desk, 3),
                    "GET http://127.0.0.1:9/calendar/v3/calendars/primary/events?");
    ASSERT_TEXT(desk_line(desk, 4), "POST http://127.0.0.1:9/oauth/revoke");
}
