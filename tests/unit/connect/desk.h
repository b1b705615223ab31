/* A desk for tests of accounts and their tools: services that say what the test wrote down, a
 * database of either engine, a store of secrets, and a clock that the test moves.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_CONNECT_DESK_H
#define DORMOUSE_TESTS_CONNECT_DESK_H

#include "base/clock.h"
#include "base/rand.h"
#include "connect/connect_int.h"
#include "harness/db_test.h"
#include "loop/http_fake.h"
#include "policy/secret.h"
#include "tool/tool.h"

#define DESK_SCRIPT  128
#define SLACK_TOKEN  "xoxb-1234567890-the-token"
#define ACCESS       "ya29.access-token-one"
#define REFRESH      "1//refresh-token-of-ada"
#define CLIENT_VALUE "GOCSPX-secret-of-the-client"

/* A test that needs one engine only. */
#define DESK_TEST(name_)                                                                           \
    static void name_(struct test *t);                                                             \
    DB_TEST_CASE(name_, sqlite, )                                                                  \
    static void name_(__attribute__((unused)) struct test *t)

struct desk {
    struct test *t;
    struct clock_fake clock;
    struct rand_fake rand;
    struct loop *loop;
    struct domain *domain;
    struct secrets *secrets;
    struct http_client *http;
    struct connect_config config;
    struct connect *connect;
    struct tool_bed *tools;
    struct agent agent;
    struct tool_call call;
    struct http_fake_answer script[DESK_SCRIPT];
    size_t said; /* lines of the script */
    /* What came back; texts are copies in the test's arena. */
    unsigned told, shown, done;
    struct tool_result result;
    struct tool_preview preview;
    struct err err; /* of connect_done_fn; ERR_NONE: it went well */
    struct tool_job *job;
};

/* Nothing is connected. */
struct desk *desk_new(struct test *t);
/* With these changed before it begins. */
struct desk *desk_new_with(struct test *t, const struct connect_config *config);
void desk_free(struct desk *desk);
AUTO_DEFINE(desk)
/* The daemon ends and starts anew, on the same database and secrets. */
void desk_restart(struct desk *desk);

/* The next answer: JSON; another type; or a connection that fails. */
void desk_says(struct desk *desk, int status, const char *json);
void desk_says_type(struct desk *desk, int status, const char *type, struct str body);
void desk_fails(struct desk *desk, enum err_code code, enum http_phase phase);
/* Changes the newest line of the script. */
struct http_fake_answer *desk_newest(struct desk *desk);

/* Lets ms pass, or less when something came back. */
void desk_turn(struct desk *desk, int64_t ms);
size_t desk_asked(const struct desk *desk);
/* "GET https://…" of the i-th request, and its parts. */
const char *desk_line(struct desk *desk, size_t i);
struct str desk_body(struct desk *desk, size_t i);
struct str desk_header(struct desk *desk, size_t i, const char *name);
/* In how many of all requests this stands, in address, headers or body. */
size_t desk_sent(struct desk *desk, const char *text);

void desk_done(void *arg, const struct err *err);
/* Connects, with answers of its own, which come next. */
void desk_connect_slack(struct desk *desk);
void desk_connect_google(struct desk *desk);
/* What a _status() function writes. */
const char *desk_status(struct desk *desk,
                        void (*write)(const struct connect *connect, struct json_writer *w));

/* The whole of a call: preview when there is one, then the handler. Returns the result's code. */
enum err_code desk_does(struct desk *desk, const char *tool, const char *arguments);
/* Starts; nothing has moved yet. -1: it was refused, desk->result says why. */
int desk_start(struct desk *desk, const char *tool, const char *arguments, const char *digest);
int desk_preview(struct desk *desk, const char *tool, const char *arguments);
/* What the tool said, or why not. */
const char *desk_output(struct desk *desk);

/* This text n times, in the test's arena. */
const char *desk_repeated(struct test *t, const char *text, int n);

#endif
