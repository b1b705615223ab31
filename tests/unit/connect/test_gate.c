/* The gate: where it goes, what it carries, and when it asks again. On a clock that tests move.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "connect/connect_int.h"
#include "harness/test.h"
#include "loop/http_fake.h"

#define TOKEN "xoxb-a-token-for-tests"

struct door {
    struct clock_fake clock;
    struct loop *loop;
    struct http_client *http;
    struct gate *gate;
    unsigned told;
    enum err_code code;
    int status;
    bool unsure;
    char body[256];
};

static const char *const hosts[] = { "slack.com", NULL };

static struct door *door_new(struct test *t, const struct http_fake_answer *answers, size_t n)
{
    struct door *door = ARENA_NEW(&t->arena, struct door);

    clock_fake_init(&door->clock, 1000000);
    door->loop = loop_new_fake(&door->clock);
    door->http = http_fake_new(door->loop, answers, n);
    door->gate = gate_new(door->loop, door->http);
    return door;
}

static void door_end(struct door *door)
{
    http_client_free(door->http);
    gate_free(door->gate);
    loop_free(door->loop);
}

static void heard(void *arg, const struct gate_answer *answer)
{
    struct door *door = arg;

    door->told++;
    door->code = answer->err.code;
    door->status = answer->status;
    door->unsure = answer->unsure;
    snprintf(door->body, sizeof(door->body), "%.*s", STR_ARG(str_take(answer->body, 255)));
}

static void turn(struct door *door, int64_t ms)
{
    for (int64_t past = 0; past <= ms && !door->told; past += 50) {
        for (int i = 0; i < 8; i++)
            loop_fake_tick(door->loop);
        loop_fake_advance(door->loop, 50);
    }
}

static int ask(struct test *t, struct door *door, const char *method, const char *url,
               struct gate_call **ret_call)
{
    struct gate_request request = {
        .method = method, .url = url, .hosts = hosts, .token = STR(TOKEN), .max_body = 100
    };

    return gate_start(door->gate, &request, heard, door, ret_call, &t->err);
}

static const struct str ok_body = { "{\"ok\":true}", 11 };
static const struct http_field is_json[] = { { { "Content-Type", 12 },
                                               { "application/json", 16 } } };
static const struct http_field soon[] = { { { "Retry-After", 11 }, { "2", 1 } } };
static const struct http_field much_later[] = { { { "Retry-After", 11 }, { "60", 2 } } };
#define GOOD                                                                                       \
    {                                                                                              \
        .status = 200, .fields = is_json, .n_fields = 1, .chunks = &ok_body, .n_chunks = 1         \
    }

TEST(only_named_hosts_over_https_are_asked)
{
    static const char *const bad[] = { "http://slack.com/api/x",
                                       "https://slack.com.evil.example/",
                                       "https://evil.example/slack.com",
                                       "https://slack.com:444/x",
                                       "https://user@slack.com/x",
                                       "ftp://slack.com/",
                                       "slack.com/x",
                                       "http://10.0.0.1:80/x",
                                       "http://127.0.0.1:9001/x",
                                       "https://127.0.0.1:9000/x" };
    struct door *door = door_new(t, NULL, 0);

    gate_allow(door->gate, "http://127.0.0.1:9000/api");
    gate_allow(door->gate, "http://10.0.0.1:80/api");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ASSERT_FAILS(ask(t, door, "GET", bad[i], NULL), ERR_NETWORK_DENIED);
        ASSERT(!strstr(test_err_text(t), TOKEN));
        err_reset(&t->err);
    }
    ASSERT_EQ(http_fake_count(door->http), 0);
    door_end(door);
}

TEST(a_token_stands_in_one_header)
{
    static const struct http_fake_answer answers[] = { GOOD };
    struct door *door = door_new(t, answers, 1);
    const struct http_fake_seen *seen;
    unsigned found = 0;

    ASSERT_OK(ask(t, door, "GET", "https://SLACK.com/api/auth.test", NULL));
    turn(door, 1000);
    ASSERT_EQ(door->told, 1);
    ASSERT_TEXT(door->body, "{\"ok\":true}");
    seen = http_fake_seen(door->http, 0);
    ASSERT(!strstr(seen->url, TOKEN) && str_find(seen->body, STR(TOKEN)) < 0);
    for (size_t i = 0; i < seen->n_headers; i++) {
        bool there = str_find(seen->headers[i].value, STR(TOKEN)) >= 0;

        ASSERT(!there ||
               (str_is(seen->headers[i].name, "Authorization") && seen->headers[i].secret));
        found += there;
    }
    ASSERT_EQ(found, 1);
    door_end(door);
}

TEST(a_post_is_sent_again_only_when_it_surely_did_not_arrive)
{
    static const struct {
        struct http_fake_answer first;
        unsigned requests;
        enum err_code code;
        bool unsure;
    } cases[] = {
        { { .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_CONNECT }, 2, ERR_NONE, false },
        { { .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_WAIT }, 1, ERR_PROVIDER_FAILED, true },
        { { .fail = ERR_TIMEOUT, .phase = HTTP_PHASE_WAIT }, 1, ERR_TIMEOUT, true },
        { { .fail = ERR_TIMEOUT, .phase = HTTP_PHASE_CONNECT }, 1, ERR_TIMEOUT, false },
        { { .status = 429, .fields = soon, .n_fields = 1 }, 2, ERR_NONE, false },
        { { .status = 429, .fields = much_later, .n_fields = 1 }, 1, ERR_NONE, false },
        { { .status = 503 }, 1, ERR_NONE, true },
        { { .status = 400 }, 1, ERR_NONE, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_fake_answer answers[] = { cases[i].first, GOOD };
        struct door *door = door_new(t, answers, 2);

        ASSERT_OK(ask(t, door, "POST", "https://slack.com/api/chat.postMessage", NULL));
        turn(door, 10000);
        ASSERT_EQ(door->told, 1);
        ASSERT_EQ(http_fake_count(door->http), cases[i].requests);
        ASSERT_EQ(door->code, cases[i].code);
        ASSERT_EQ(door->unsure, cases[i].unsure);
        door_end(door);
    }
}

TEST(a_get_is_tried_three_times)
{
    static const struct http_fake_answer answers[] = {
        { .status = 502 }, { .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_BODY }, GOOD
    };
    static const struct http_fake_answer bad[] = {
        { .status = 500 }, { .status = 500 }, { .status = 500 }, GOOD
    };
    struct door *door = door_new(t, answers, 3);

    ASSERT_OK(ask(t, door, "GET", "https://slack.com/api/conversations.list", NULL));
    turn(door, 10000);
    ASSERT_EQ(door->code, ERR_NONE);
    ASSERT_EQ(door->status, 200);
    door_end(door);
    door = door_new(t, bad, 4);
    ASSERT_OK(ask(t, door, "GET", "https://slack.com/api/conversations.list", NULL));
    turn(door, 10000);
    ASSERT_EQ(http_fake_count(door->http), 3);
    ASSERT_EQ(door->status, 500);
    ASSERT(!door->unsure);
    door_end(door);
}

TEST(an_answer_that_repeats_the_token_is_dropped)
{
    static const struct str body = { "{\"you\":\"" TOKEN "\"}", sizeof(TOKEN) + 9 };
    static const struct http_fake_answer answers[] = {
        { .status = 200, .fields = is_json, .n_fields = 1, .chunks = &body, .n_chunks = 1 }
    };
    struct door *door = door_new(t, answers, 1);

    ASSERT_OK(ask(t, door, "POST", "https://slack.com/api/x", NULL));
    turn(door, 1000);
    ASSERT_EQ(door->code, ERR_PROVIDER_FAILED);
    ASSERT(door->unsure);
    ASSERT_TEXT(door->body, "");
    door_end(door);
}

TEST(a_call_can_be_cancelled_at_any_time)
{
    static const struct http_fake_answer answers[] = { { .silent = true },
                                                       { .status = 503 },
                                                       GOOD };
    struct door *door = door_new(t, answers, 3);
    struct gate_call *call = NULL;

    ASSERT_OK(ask(t, door, "GET", "https://slack.com/api/x", &call));
    gate_cancel(call);
    ASSERT_EQ(door->told, 0);
    turn(door, 1000);
    ASSERT_EQ(door->code, ERR_CANCELLED);
    door->told = 0;
    ASSERT_OK(ask(t, door, "GET", "https://slack.com/api/x", &call)); /* waits to be sent again */
    for (int i = 0; i < 8; i++)
        loop_fake_tick(door->loop);
    gate_cancel(call);
    turn(door, 1000);
    ASSERT_EQ(door->code, ERR_CANCELLED);
    ASSERT_EQ(http_fake_count(door->http), 2);
    door->told = 0;
    ASSERT_OK(ask(t, door, "GET", "https://slack.com/api/x", &call));
    http_client_free(TAKE(door->http));
    gate_stop(door->gate);
    ASSERT_EQ(door->told, 1);
    ASSERT_FAILS(ask(t, door, "GET", "https://slack.com/api/x", &call), ERR_CANCELLED);
    door_end(door);
}

TEST(only_json_objects_are_read)
{
    struct gate_answer answer = { .status = 200, .type = STR("text/html"), .body = STR("{}") };
    struct json_object *json = NULL;

    ASSERT_FAILS(gate_json("It", &answer, &json, &t->err), ERR_PROVIDER_FAILED);
    answer.type = STR("Application/JSON;charset=utf-8");
    ASSERT_OK(gate_json("It", &answer, &json, &t->err));
    json_object_put(json);
    answer.body = STR("{\"a\":1");
    ASSERT_FAILS(gate_json("It", &answer, &json, &t->err), ERR_PROVIDER_FAILED);
    answer.body = STR("[1]");
    ASSERT_FAILS(gate_json("It", &answer, &json, &t->err), ERR_PROVIDER_FAILED);
}

TEST(what_goes_into_an_address_is_encoded)
{
    AUTO_BUF out = BUF_INIT(256);

    gate_encode(&out, STR("a b&c=d/é~-._\n"));
    ASSERT_TEXT(buf_text(&out), "a%20b%26c%3Dd%2F%C3%A9~-._%0A");
}
