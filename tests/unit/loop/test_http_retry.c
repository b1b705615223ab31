/* Trying again: on a scripted client and a clock that the test moves.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/http_retry.h"

#include "base/buf.h"
#include "base/rand.h"
#include "harness/http_peer.h"
#include "harness/test.h"
#include "http_rig.h"
#include "loop/http_fake.h"
#include "loop/loop.h"

#define WALL_NOW INT64_C(1700000000000) /* Tue, 14 Nov 2023 22:13:20 GMT */

#define SEED 42

struct retry_rig {
    struct clock_fake clock;
    struct loop *loop;
    struct http_client *fake, *client;
    struct http_exchange *x;
    struct http_result result;
    struct buf body;
    unsigned heads, dones;
    int status;
    struct rand_fake rand;
    bool cancel_in_data;
};

static void on_headers(struct http_exchange *x, const struct http_head *head, void *arg)
{
    struct retry_rig *r = arg;

    if (x != r->x)
        FAIL("another exchange");
    r->heads++;
    r->status = head->status;
}

static enum http_flow on_data(struct http_exchange *x, struct str chunk, void *arg)
{
    struct retry_rig *r = arg;

    buf_add_str(&r->body, chunk);
    if (r->cancel_in_data)
        http_cancel(x);
    return HTTP_GO;
}

static void on_done(struct http_exchange *x, const struct http_result *result, void *arg)
{
    struct retry_rig *r = arg;

    if (x != r->x)
        FAIL("another exchange");
    r->dones++;
    r->result = *result;
}

static const struct http_handler handler = {
    .on_headers = on_headers,
    .on_data = on_data,
    .on_done = on_done,
};

static void open_rig(struct retry_rig *r, const struct http_fake_answer *answers, size_t n,
                     struct http_retry_policy policy)
{
    *r = (struct retry_rig){ .body = BUF_INIT(1 << 20) };
    clock_fake_init(&r->clock, WALL_NOW);
    r->loop = loop_new_fake(&r->clock);
    r->fake = http_fake_new(r->loop, answers, n);
    rand_fake_init(&r->rand, SEED);
    policy.rand = &r->rand.rand;
    r->client = http_retry_new(r->loop, r->fake, &policy);
}

static void close_rig(struct retry_rig *r)
{
    http_client_free(r->client);
    http_client_free(r->fake);
    loop_free(r->loop);
    buf_release(&r->body);
}

static void start(struct retry_rig *r, struct test *t, struct http_request request)
{
    request.url = "https://api.example/v1";
    ASSERT_OK(http_start(r->client, &request, &handler, r, &r->x, &t->err));
}

/* Runs all of time. */
static void run(struct retry_rig *r, struct test *t, struct http_request request)
{
    start(r, t, request);
    loop_fake_advance(r->loop, HOURS(2));
    ASSERT_EQ(r->dones, 1);
}

static const struct str ok_chunks[] = { { "he", 2 }, { "llo", 3 } };
#define ANSWER_OK                                                                                  \
    {                                                                                              \
        .status = 200, .chunks = ok_chunks, .n_chunks = 2                                          \
    }
#define REFUSED                                                                                    \
    {                                                                                              \
        .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_CONNECT                                   \
    }

TEST(retry_tries_until_it_works)
{
    static const struct http_fake_answer script[] = { REFUSED, { .status = 503 }, ANSWER_OK };
    struct retry_rig r;

    open_rig(&r, script, 3, (struct http_retry_policy){ 0 });
    run(&r, t, (struct http_request){ 0 });
    ASSERT_EQ(r.result.err.code, ERR_NONE);
    ASSERT_EQ(r.result.status, 200);
    ASSERT_EQ(r.result.attempts, 3);
    ASSERT_EQ(r.heads, 1);
    ASSERT_STR(buf_str(&r.body), "hello");
    close_rig(&r);
}

/* The same random numbers below the same bounds give the same waits. */
TEST(retry_waits_a_random_time_below_a_bound_that_doubles_up_to_the_cap)
{
    static const struct http_fake_answer script[] = { REFUSED, REFUSED, REFUSED,  REFUSED,
                                                      REFUSED, REFUSED, ANSWER_OK };
    static const uint64_t bounds[] = { 100, 200, 400, 800, 1000, 1000 };
    struct rand_fake twin;
    struct retry_rig r;
    int64_t waits = 0;

    rand_fake_init(&twin, SEED);
    open_rig(&r, script, 7,
             (struct http_retry_policy){
                 .max_attempts = 10, .base_ms = 100, .cap_ms = 1000, .budget_ms = 100000 });
    run(&r, t, (struct http_request){ 0 });
    for (unsigned i = 0; i < ARRAY_LEN(bounds); i++)
        waits += (int64_t)rand_below(&twin.rand, bounds[i] + 1);
    ASSERT_EQ(r.result.attempts, 7);
    ASSERT_EQ(r.result.total_ms, waits);
    close_rig(&r);
}

TEST(retry_without_a_policy_takes_its_defaults)
{
    static const struct http_fake_answer script[] = { REFUSED, REFUSED, REFUSED, REFUSED };
    struct retry_rig r;

    open_rig(&r, script, 4, (struct http_retry_policy){ 0 });
    http_client_free(r.client);
    r.client = http_retry_new(r.loop, r.fake, &(struct http_retry_policy){ 0 });
    run(&r, t, (struct http_request){ 0 });
    ASSERT_EQ(r.result.attempts, 4);
    ASSERT(r.result.total_ms <= 500 + 1000 + 2000 + 4);
    close_rig(&r);
}

TEST(retry_gives_the_last_answer_as_it_is_when_attempts_are_used_up)
{
    static const struct str sorry[] = { { "busy", 4 } };
    static const struct http_fake_answer script[] = {
        { .status = 503, .chunks = sorry, .n_chunks = 1 },
        { .status = 503, .chunks = sorry, .n_chunks = 1 },
        ANSWER_OK,
    };
    struct retry_rig r;

    open_rig(&r, script, 3, (struct http_retry_policy){ .max_attempts = 2 });
    run(&r, t, (struct http_request){ 0 });
    ASSERT_EQ(r.result.err.code, ERR_NONE);
    ASSERT_EQ(r.result.status, 503);
    ASSERT_EQ(r.result.attempts, 2);
    ASSERT_STR(buf_str(&r.body), "busy");
    ASSERT_EQ(http_fake_count(r.fake), 2);
    close_rig(&r);
}

TEST(retry_gives_the_last_failure_when_attempts_are_used_up)
{
    static const struct http_fake_answer script[] = { REFUSED, REFUSED, REFUSED, REFUSED,
                                                      ANSWER_OK };
    struct retry_rig r;

    open_rig(&r, script, 5, (struct http_retry_policy){ 0 });
    run(&r, t, (struct http_request){ 0 });
    ASSERT_EQ(r.result.err.code, ERR_PROVIDER_FAILED);
    ASSERT_EQ(r.result.phase, HTTP_PHASE_CONNECT);
    ASSERT_EQ(r.result.attempts, 4);
    ASSERT_EQ(r.heads, 0);
    close_rig(&r);
}

TEST(retry_only_repeats_what_may_be_sent_twice)
{
    static const struct {
        const char *method;
        bool safe, repeats;
    } cases[] = { { "GET", false, true },    { "HEAD", false, true },    { "PUT", false, true },
                  { "DELETE", false, true }, { "OPTIONS", false, true }, { "POST", false, false },
                  { "PATCH", false, false }, { "POST", true, true },     { "get", false, false } };
    static const struct http_fake_answer script[] = { REFUSED, ANSWER_OK };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct retry_rig r;

        open_rig(&r, script, 2, (struct http_retry_policy){ 0 });
        run(&r, t, (struct http_request){ .method = cases[i].method, .safe = cases[i].safe });
        ASSERT_EQ(r.result.attempts, cases[i].repeats ? 2 : 1);
        close_rig(&r);
    }
}

TEST(retry_knows_which_failures_are_worth_it)
{
    static const struct {
        struct http_fake_answer answer;
        bool repeats;
    } cases[] = {
        { { .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_RESOLVE }, true },
        { { .fail = ERR_TIMEOUT, .phase = HTTP_PHASE_CONNECT }, true },
        { { .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_SEND }, true },
        { { .fail = ERR_TIMEOUT, .phase = HTTP_PHASE_WAIT }, true },
        { { .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_TLS }, false },
        { { .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_REDIRECT }, false },
        { { .fail = ERR_NETWORK_DENIED, .phase = HTTP_PHASE_RESOLVE }, false },
        { { .fail = ERR_TOO_LARGE, .phase = HTTP_PHASE_WAIT }, false },
        { { .fail = ERR_CANCELLED, .phase = HTTP_PHASE_WAIT }, false },
        { { .status = 200, .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_BODY }, false },
        { { .status = 408 }, true },
        { { .status = 429 }, true },
        { { .status = 500 }, true },
        { { .status = 529 }, true },
        { { .status = 503, .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_BODY }, true },
        { { .status = 400 }, false },
        { { .status = 401 }, false },
        { { .status = 404 }, false },
        { { .status = 501 }, false },
        { { .status = 302 }, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_fake_answer script[] = { cases[i].answer, ANSWER_OK };
        struct retry_rig r;

        open_rig(&r, script, 2, (struct http_retry_policy){ 0 });
        run(&r, t, (struct http_request){ 0 });
        if (r.result.attempts != (cases[i].repeats ? 2u : 1u))
            FAIL("case %zu: %u attempts", i, r.result.attempts);
        close_rig(&r);
    }
}

TEST(retry_never_repeats_after_bytes_were_delivered)
{
    static const struct http_fake_answer script[] = {
        { .status = 200,
          .chunks = ok_chunks,
          .n_chunks = 1,
          .fail = ERR_PROVIDER_FAILED,
          .phase = HTTP_PHASE_WAIT },
        ANSWER_OK,
    };
    struct retry_rig r;

    open_rig(&r, script, 2, (struct http_retry_policy){ 0 });
    run(&r, t, (struct http_request){ 0 });
    ASSERT_EQ(r.result.err.code, ERR_PROVIDER_FAILED);
    ASSERT_EQ(r.result.attempts, 1);
    ASSERT_STR(buf_str(&r.body), "he");
    close_rig(&r);
}

TEST(retry_takes_the_callers_list_of_statuses)
{
    static const int statuses[] = { 418 };
    static const struct http_fake_answer script[] = { { .status = 418 },
                                                      { .status = 503 },
                                                      ANSWER_OK };
    struct retry_rig r;

    open_rig(&r, script, 3, (struct http_retry_policy){ .statuses = statuses, .n_statuses = 1 });
    run(&r, t, (struct http_request){ 0 });
    ASSERT_EQ(r.result.status, 503);
    ASSERT_EQ(r.result.attempts, 2);
    close_rig(&r);
}

/* ---- Retry-After ---- */

static int64_t took_with(struct test *t, const char *value, unsigned *ret_attempts)
{
    struct http_field field = { STR("retry-after"), str_from(value) };
    struct http_fake_answer script[] = {
        { .status = 429, .fields = &field, .n_fields = 1 },
        ANSWER_OK,
    };
    struct retry_rig r;
    int64_t took;

    open_rig(&r, script, 2, (struct http_retry_policy){ .base_ms = 1 });
    run(&r, t, (struct http_request){ 0 });
    *ret_attempts = r.result.attempts;
    took = r.result.total_ms;
    close_rig(&r);
    return took;
}

TEST(retry_waits_as_long_as_the_server_asks)
{
    static const struct {
        const char *value;
        int64_t ms;
        unsigned attempts;
    } cases[] = {
        { "7", 7000, 2 },
        { "60", 60000, 2 },
        { "Tue, 14 Nov 2023 22:13:25 GMT", 5000, 2 },
        { "Tue, 14 Nov 2023 22:00:00 GMT", 0, 2 }, /* past */
        { "nonsense", 0, 2 },                      /* the usual wait: up to 1 ms */
        { "61", 0, 1 },                            /* more than the cap: not asked again */
        { "Wed, 15 Nov 2023 22:13:20 GMT", 0, 1 },
        { "99999999999999999999", 0, 2 }, /* no number that fits: nonsense */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        unsigned attempts;
        int64_t took = took_with(t, cases[i].value, &attempts);

        if (attempts != cases[i].attempts || took < cases[i].ms || took > cases[i].ms + 50)
            FAIL("\"%s\": %u attempts in %lld ms", cases[i].value, attempts, (long long)took);
    }
}

TEST(retry_reads_all_forms_of_retry_after)
{
    static const struct {
        const char *value;
        int64_t ms;
    } cases[] = {
        { "0", 0 },
        { " 120 ", 120000 },
        { "9223372036854775807", INT64_MAX },
        { "Tue, 14 Nov 2023 22:13:30 GMT", 10000 },
        { "Tuesday, 14-Nov-23 22:13:30 GMT", 10000 },
        { "Tue Nov 14 22:13:30 2023", 10000 },
        { "Sun, 06 Nov 1994 08:49:37 GMT", 0 },
        { "Sunday, 06-Nov-94 08:49:37 GMT", 0 },
        { "Thu, 29 Feb 2024 00:00:00 GMT", INT64_C(1709164800000) - WALL_NOW },
        { "", -1 },
        { "-1", -1 },
        { "1.5", -1 },
        { "5 seconds", -1 },
        { "Tue, 14 Nov 2023 22:13:30 PST", -1 },
        { "Tue, 14 Xxx 2023 22:13:30 GMT", -1 },
        { "Tue, 14 anF 2023 22:13:30 GMT", -1 },
        { "Tue, 99 Nov 2023 22:13:30 GMT", -1 },
        { "Tue, 14 Nov 2023 25:13:30 GMT", -1 },
        { "Tue, 14 Nov 2023", -1 },
        { "Tue, 14 Nov 2023 -2:13:30 GMT", -1 },
        { "Tue, 14 Nov 2023 22:-1:30 GMT", -1 },
        { "Tue, 14 Nov 2023 22:13:-1 GMT", -1 },
        { "Tue, 14 Nov 2023 22:13:30 GMT, and a very long tail that does not fit anywhere", -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t ms = http_retry_after_ms(str_from(cases[i].value), WALL_NOW);

        if (ms != cases[i].ms)
            FAIL("\"%s\" is %lld", cases[i].value, (long long)ms);
    }
    ASSERT_EQ(http_retry_after_ms(STR("1\0"), 0), -1);
}

/* The answer says "busy" and then drips for an hour. */
TEST(retry_does_not_wait_for_the_body_of_an_answer_nobody_sees)
{
    static const struct str drops[] = { { "b", 1 }, { "u", 1 }, { "s", 1 }, { "y", 1 } };
    static const struct http_fake_answer script[] = {
        { .status = 503, .chunks = drops, .n_chunks = 4, .chunk_delay_ms = MINUTES(15) },
        ANSWER_OK,
    };
    struct retry_rig r;

    open_rig(&r, script, 2, (struct http_retry_policy){ .base_ms = 100 });
    run(&r, t, (struct http_request){ 0 });
    ASSERT_EQ(r.result.err.code, ERR_NONE);
    ASSERT_EQ(r.result.attempts, 2);
    ASSERT_STR(buf_str(&r.body), "hello");
    ASSERT(r.result.total_ms <= 110);
    close_rig(&r);
}

TEST(retry_is_cancelled_while_it_throws_a_body_away)
{
    static const struct str drops[] = { { "b", 1 }, { "u", 1 } };
    static const struct http_fake_answer script[] = {
        { .status = 503, .chunks = drops, .n_chunks = 2, .chunk_delay_ms = MINUTES(15) },
        ANSWER_OK,
    };
    struct retry_rig r;

    open_rig(&r, script, 2, (struct http_retry_policy){ .base_ms = 5000 });
    start(&r, t, (struct http_request){ 0 });
    loop_fake_advance(r.loop, 2);
    http_cancel(r.x);
    loop_fake_advance(r.loop, HOURS(1));
    ASSERT_EQ(r.dones, 1);
    ASSERT_EQ(r.result.err.code, ERR_CANCELLED);
    ASSERT_EQ(http_fake_count(r.fake), 1);
    close_rig(&r);
}

TEST(retry_starts_nothing_past_its_budget)
{
    static const struct http_fake_answer script[] = {
        { .delay_ms = 3000, .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_CONNECT },
        { .delay_ms = 3000, .fail = ERR_PROVIDER_FAILED, .phase = HTTP_PHASE_CONNECT },
        ANSWER_OK,
    };
    struct retry_rig r;

    open_rig(&r, script, 3, (struct http_retry_policy){ .budget_ms = 5000 });
    run(&r, t, (struct http_request){ 0 });
    ASSERT_EQ(r.result.err.code, ERR_PROVIDER_FAILED);
    ASSERT_EQ(r.result.attempts, 2);
    close_rig(&r);
}

/* ---- cancel, free, sources ---- */

TEST(retry_is_cancelled_while_it_waits)
{
    static const struct http_fake_answer script[] = { REFUSED, ANSWER_OK };
    struct retry_rig r;

    open_rig(&r, script, 2, (struct http_retry_policy){ .base_ms = 10000 });
    start(&r, t, (struct http_request){ 0 });
    loop_fake_advance(r.loop, 1000);
    ASSERT_EQ(http_fake_count(r.fake), 1);
    http_cancel(r.x);
    ASSERT_EQ(r.dones, 0);
    loop_fake_advance(r.loop, 1);
    ASSERT_EQ(r.dones, 1);
    ASSERT_EQ(r.result.err.code, ERR_CANCELLED);
    loop_fake_advance(r.loop, HOURS(1));
    ASSERT_EQ(http_fake_count(r.fake), 1);
    close_rig(&r);
}

TEST(retry_is_cancelled_during_an_attempt)
{
    static const struct http_fake_answer silent[] = { { .silent = true } };
    static const struct http_fake_answer streaming[] = { ANSWER_OK };
    struct retry_rig r;

    open_rig(&r, silent, 1, (struct http_retry_policy){ 0 });
    start(&r, t, (struct http_request){ 0 });
    loop_fake_advance(r.loop, 1000);
    http_cancel(r.x);
    loop_fake_advance(r.loop, 1);
    ASSERT_EQ(r.dones, 1);
    ASSERT_EQ(r.result.err.code, ERR_CANCELLED);
    close_rig(&r);
    open_rig(&r, streaming, 1, (struct http_retry_policy){ 0 });
    r.cancel_in_data = true;
    run(&r, t, (struct http_request){ 0 });
    ASSERT_EQ(r.result.err.code, ERR_CANCELLED);
    ASSERT_STR(buf_str(&r.body), "he");
    close_rig(&r);
}

TEST(retry_free_ends_waiting_and_running_ones_once)
{
    static const struct http_fake_answer silent[] = { { .silent = true } };
    static const struct http_fake_answer refused[] = { REFUSED };
    struct retry_rig r;

    open_rig(&r, silent, 1, (struct http_retry_policy){ 0 });
    start(&r, t, (struct http_request){ 0 });
    loop_fake_advance(r.loop, 10);
    http_client_free(r.client);
    r.client = NULL;
    ASSERT_EQ(r.dones, 1);
    ASSERT_EQ(r.result.err.code, ERR_CANCELLED);
    loop_fake_advance(r.loop, 10); /* the inner one ends now, and nobody is told again */
    ASSERT_EQ(r.dones, 1);
    close_rig(&r);
    open_rig(&r, refused, 1, (struct http_retry_policy){ .base_ms = 10000 });
    start(&r, t, (struct http_request){ 0 });
    loop_fake_advance(r.loop, 10);
    close_rig(&r);
    ASSERT_EQ(r.dones, 1);
}

struct text_source {
    struct http_source source; /* first */
    const char *text;
    size_t at;
    unsigned rewinds;
};

static ssize_t text_read(struct http_source *source, char *out, size_t max, struct err *err)
{
    struct text_source *s = (struct text_source *)source;
    size_t n = strlen(s->text) - s->at;

    (void)err;
    n = n < max ? n : max;
    memcpy(out, s->text + s->at, n);
    s->at += n;
    return (ssize_t)n;
}

static int text_rewind(struct http_source *source, struct err *err)
{
    struct text_source *s = (struct text_source *)source;

    if (++s->rewinds > 1)
        return err_set(err, ERR_CONFLICT, "the file is gone");
    s->at = 0;
    return 0;
}

TEST(retry_rewinds_a_source_or_does_not_repeat)
{
    static const struct http_fake_answer script[] = { REFUSED, ANSWER_OK };
    static const struct http_fake_answer thrice[] = { REFUSED, REFUSED, ANSWER_OK };
    struct text_source once = { .source = { 5, text_read, NULL }, .text = "bytes" };
    struct text_source twice = { .source = { 5, text_read, text_rewind }, .text = "bytes" };
    struct retry_rig r;

    open_rig(&r, script, 2, (struct http_retry_policy){ 0 });
    run(&r, t, (struct http_request){ .method = "PUT", .source = &once.source });
    ASSERT_EQ(r.result.attempts, 1);
    close_rig(&r);
    open_rig(&r, script, 2, (struct http_retry_policy){ 0 });
    run(&r, t, (struct http_request){ .method = "PUT", .source = &twice.source });
    ASSERT_EQ(r.result.attempts, 2);
    ASSERT_STR(http_fake_seen(r.fake, 1)->body, "bytes");
    close_rig(&r);
    twice.rewinds = twice.at = 0;
    open_rig(&r, thrice, 3, (struct http_retry_policy){ 0 });
    run(&r, t, (struct http_request){ .method = "PUT", .source = &twice.source });
    ASSERT_EQ(r.result.err.code, ERR_CONFLICT);
    close_rig(&r);
}

TEST(retry_sends_the_same_request_again_after_the_caller_is_gone)
{
    static const struct http_fake_answer script[] = { REFUSED, ANSWER_OK };
    char value[] = "Bearer abc", body[] = "{}";
    struct http_header header = { .name = STR("Authorization"), .value = str_from(value) };
    const struct http_fake_seen *seen;
    struct retry_rig r;

    open_rig(&r, script, 2, (struct http_retry_policy){ 0 });
    start(&r, t,
          (struct http_request){ .method = "POST",
                                 .safe = true,
                                 .headers = &header,
                                 .n_headers = 1,
                                 .body = str_from(body) });
    memset(value, 'x', sizeof(value) - 1);
    memset(body, 'x', sizeof(body) - 1);
    loop_fake_advance(r.loop, HOURS(1));
    ASSERT_EQ(http_fake_count(r.fake), 2);
    seen = http_fake_seen(r.fake, 1);
    ASSERT_TEXT(seen->method, "POST");
    ASSERT_TEXT(seen->url, "https://api.example/v1");
    ASSERT_STR(seen->headers[0].value, "Bearer abc");
    ASSERT_STR(seen->body, "{}");
    close_rig(&r);
}

TEST(retry_refuses_malformed_requests_at_once)
{
    struct retry_rig r;

    open_rig(&r, NULL, 0, (struct http_retry_policy){ 0 });
    ASSERT_FAILS(http_start(r.client, &(struct http_request){ .url = "ftp://x/" }, &handler, &r,
                            &r.x, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_EQ(http_fake_count(r.fake), 0);
    close_rig(&r);
}

TEST(fake_pauses_resumes_and_fails_past_its_script)
{
    static const struct http_fake_answer script[] = {
        { .status = 200, .chunks = ok_chunks, .n_chunks = 2, .delay_ms = 100, .chunk_delay_ms = 50 }
    };
    struct retry_rig r;

    open_rig(&r, script, 1, (struct http_retry_policy){ .max_attempts = 1 });
    start(&r, t, (struct http_request){ 0 });
    loop_fake_advance(r.loop, 99);
    ASSERT_EQ(r.heads, 0);
    loop_fake_advance(r.loop, 2);
    ASSERT_EQ(r.heads, 1);
    ASSERT_EQ(r.body.n, 0);
    loop_fake_advance(r.loop, 50);
    ASSERT_STR(buf_str(&r.body), "he");
    http_resume(r.x); /* not paused: nothing */
    http_source_ready(r.x);
    loop_fake_advance(r.loop, 52);
    ASSERT_STR(buf_str(&r.body), "hello");
    ASSERT_EQ(r.dones, 1);
    r.dones = 0;
    run(&r, t, (struct http_request){ 0 });
    ASSERT_EQ(r.result.err.code, ERR_PROVIDER_FAILED);
    close_rig(&r);
}

/* ---- against a real peer ---- */

static bool serve_third_time(struct peer_conn *conn)
{
    unsigned n = __atomic_add_fetch(&conn->shared->counter, 1, __ATOMIC_SEQ_CST);

    if (n == 1)
        return peer_reset(conn);
    if (n == 2)
        return peer_answer(conn, 429, "Retry-After: 0\r\n", "slow down");
    return peer_answer(conn, 200, "", "third");
}

TEST(retry_works_over_the_real_client)
{
    struct rig rig;
    struct call call = { 0 };
    struct http_client *plain;

    rig_open(&rig, t, serve_third_time, NULL, NULL);
    plain = rig.client;
    rig.client = http_retry_new(rig.loop, plain, &(struct http_retry_policy){ .base_ms = 5 });
    call_get(&call, &rig, "/");
    ASSERT_CALL_OK(&call, 200);
    ASSERT_EQ(call.result.attempts, 3);
    ASSERT_EQ(call.heads, 1);
    ASSERT_STR(buf_str(&call.body), "third");
    call_release(&call);
    http_client_free(rig.client);
    rig.client = plain;
    rig_close(&rig);
}
