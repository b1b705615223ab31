/* Trying again.
 *
 * An attempt outlives the retrying client only as an orphan: when the client is freed its callers
 * are told at once, while the inner client reports the cancelled attempt in a later tick.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/http_retry.h"

#include <stdlib.h>
#include <time.h>

#include "base/rand.h"
#include "loop/http_int.h"
#include "loop/loop.h"

#define DISCARD_MAX  (64 * 1024) /* of a body that nobody will see, to keep the connection */
#define STATUSES_MAX 32
#define SHIFT_MAX    30

struct retry_client {
    struct http_client client; /* first */
    struct loop *loop;
    struct http_client *inner;
    struct http_retry_policy policy;
    int statuses[STATUSES_MAX];
    struct retry *retries;
    unsigned depth;
    bool freed;
};

struct retry {
    struct http_exchange exchange; /* first */
    struct retry_client *client;   /* NULL: an orphan */
    struct retry *prev, *next;
    struct arena arena;
    struct http_request request;
    struct http_handler handler;
    void *arg;
    struct http_exchange *inner; /* NULL between attempts */
    struct loop_timer timer;     /* until the next attempt */
    int64_t started_ms, wait_ms, discarded;
    unsigned attempts;
    bool discard;   /* this answer is not shown */
    bool delivered; /* the caller has seen a head */
    bool cancelled;
};

/* ---- Retry-After ---- */

static int64_t date_ms(const char *text)
{
    /* Names of days and months are English: nothing here sets a locale. */
    static const char *const forms[] = {
        "%a, %d %b %Y %H:%M:%S GMT",
        "%A, %d-%b-%y %H:%M:%S GMT",
        "%a %b %e %H:%M:%S %Y",
    };

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct tm tm = { 0 };
        const char *end = strptime(text, forms[i], &tm);

        if (end && !*end && tm.tm_year >= 70)
            return (int64_t)timegm(&tm) * 1000;
    }
    return -1;
}

int64_t http_retry_after_ms(struct str value, int64_t wall_ms)
{
    char text[64];
    int64_t number;

    value = str_trim(value);
    if (value.n == 0 || value.n >= sizeof(text) || str_find_char(value, '\0') >= 0)
        return -1;
    if (value.p[0] >= '0' && value.p[0] <= '9') {
        if (str_to_i64(value, &number) < 0)
            return -1;
        return number > INT64_MAX / 1000 ? INT64_MAX : number * 1000;
    }
    memcpy(text, value.p, value.n);
    text[value.n] = '\0';
    number = date_ms(text);
    if (number < 0)
        return -1;
    return number > wall_ms ? number - wall_ms : 0;
}

/* ---- whether, and when ---- */

static int64_t elapsed_ms(const struct retry *retry)
{
    return clock_mono_ms(loop_clock(retry->client->loop)) - retry->started_ms;
}

static int64_t backoff_ms(const struct retry *retry)
{
    const struct http_retry_policy *policy = &retry->client->policy;
    unsigned shift = retry->attempts - 1 < SHIFT_MAX ? retry->attempts - 1 : SHIFT_MAX;
    int64_t bound =
        policy->base_ms > policy->cap_ms >> shift ? policy->cap_ms : policy->base_ms << shift;

    return (int64_t)rand_below(policy->rand, (uint64_t)bound + 1);
}

static bool may_repeat(const struct retry *retry)
{
    const struct http_request *request = &retry->request;

    if (retry->cancelled || retry->delivered ||
        retry->attempts >= retry->client->policy.max_attempts)
        return false;
    return http_may_repeat(request) && (!request->source || request->source->rewind);
}

/* The wait before the next attempt, at least least_ms; false when it would begin too late. */
static bool plan(struct retry *retry, int64_t least_ms)
{
    int64_t wait = backoff_ms(retry);

    retry->wait_ms = wait > least_ms ? wait : least_ms;
    return retry->wait_ms <= retry->client->policy.budget_ms - elapsed_ms(retry);
}

static bool is_listed(const struct retry_client *client, int status)
{
    for (size_t i = 0; i < client->policy.n_statuses; i++)
        if (client->policy.statuses[i] == status)
            return true;
    return false;
}

static bool repeats_answer(struct retry *retry, const struct http_head *head)
{
    struct retry_client *client = retry->client;
    struct str after = http_head_find(head, "Retry-After");
    int64_t least = 0;

    if (!is_listed(client, head->status) || !may_repeat(retry))
        return false;
    if (after.p)
        least = http_retry_after_ms(after, clock_wall_ms(loop_clock(client->loop)));
    if (least > client->policy.retry_after_cap_ms)
        return false;
    return plan(retry, least);
}

static bool repeats_failure(struct retry *retry, const struct http_result *result)
{
    if (result->err.code != ERR_PROVIDER_FAILED && result->err.code != ERR_TIMEOUT)
        return false;
    switch (result->phase) {
    case HTTP_PHASE_RESOLVE:
    case HTTP_PHASE_CONNECT:
    case HTTP_PHASE_SEND:
    case HTTP_PHASE_WAIT:
        return may_repeat(retry) && plan(retry, 0);
    default:
        return false;
    }
}

/* ---- the end ---- */

static void leave(struct retry_client *client)
{
    if (--client->depth == 0 && client->freed)
        free(client);
}

static void retry_free(struct retry *retry)
{
    arena_release(&retry->arena);
    free(retry);
}

static void unlink_retry(struct retry *retry)
{
    if (retry->prev)
        retry->prev->next = retry->next;
    else
        retry->client->retries = retry->next;
    if (retry->next)
        retry->next->prev = retry->prev;
    loop_timer_stop(retry->client->loop, &retry->timer);
}

static void deliver(struct retry *retry, const struct http_result *last)
{
    struct retry_client *client = retry->client;
    struct http_result result = *last;

    result.attempts = retry->attempts;
    result.total_ms = elapsed_ms(retry);
    client->depth++;
    unlink_retry(retry);
    retry->handler.on_done(&retry->exchange, &result, retry->arg);
    if (retry->inner) {
        retry->client = NULL;
        http_cancel(retry->inner);
    } else {
        retry_free(retry);
    }
    leave(client);
}

static void deliver_cancelled(struct retry *retry, const char *why)
{
    struct http_result result = { .phase = HTTP_PHASE_NONE };

    err_set(&result.err, ERR_CANCELLED, "%s", why);
    deliver(retry, &result);
}

/* ---- attempts ---- */

static void on_headers(struct http_exchange *x, const struct http_head *head, void *arg)
{
    struct retry *retry = arg;

    (void)x;
    if (!retry->client || retry->cancelled)
        return;
    retry->discard = repeats_answer(retry, head);
    if (retry->discard) {
        /* From now on, so that a body that drips in can't put the next attempt off. */
        loop_timer_start(retry->client->loop, &retry->timer, retry->wait_ms);
        return;
    }
    retry->delivered = true;
    if (retry->handler.on_headers)
        retry->handler.on_headers(&retry->exchange, head, retry->arg);
}

static enum http_flow on_data(struct http_exchange *x, struct str chunk, void *arg)
{
    struct retry *retry = arg;

    if (!retry->client || retry->cancelled)
        return HTTP_GO;
    if (retry->discard) {
        retry->discarded += (int64_t)chunk.n;
        if (retry->discarded > DISCARD_MAX)
            http_cancel(x);
        return HTTP_GO;
    }
    return retry->handler.on_data ? retry->handler.on_data(&retry->exchange, chunk, retry->arg)
                                  : HTTP_GO;
}

static void on_done(struct http_exchange *x, const struct http_result *result, void *arg);

static const struct http_handler attempt_handler = {
    .on_headers = on_headers,
    .on_data = on_data,
    .on_done = on_done,
};

static int start_attempt(struct retry *retry, struct err *err)
{
    retry->attempts++;
    retry->discard = false;
    retry->discarded = 0;
    return http_start(retry->client->inner, &retry->request, &attempt_handler, retry, &retry->inner,
                      err);
}

static void try_again(struct retry *retry)
{
    struct http_source *source = retry->request.source;
    struct http_result result = { .phase = HTTP_PHASE_NONE };

    if ((source && source->rewind(source, &result.err) < 0) ||
        start_attempt(retry, &result.err) < 0)
        deliver(retry, &result);
}

static void on_done(struct http_exchange *x, const struct http_result *result, void *arg)
{
    struct retry *retry = arg;

    (void)x;
    retry->inner = NULL;
    if (!retry->client) {
        retry_free(retry);
    } else if (retry->cancelled) {
        if (result->err.code)
            deliver(retry, result);
        else
            deliver_cancelled(retry, "the request was cancelled");
    } else if (retry->discard) {
        if (retry->timer.heap_index == 0)
            try_again(retry);
    } else if (repeats_failure(retry, result)) {
        loop_timer_start(retry->client->loop, &retry->timer, retry->wait_ms);
    } else {
        deliver(retry, result);
    }
}

static void on_timer(struct loop_timer *timer)
{
    struct retry *retry = (struct retry *)(void *)((char *)timer - offsetof(struct retry, timer));

    if (retry->cancelled)
        deliver_cancelled(retry, "the request was cancelled");
    else if (retry->inner)
        http_cancel(retry->inner); /* its body takes longer than the wait */
    else
        try_again(retry);
}

/* ---- struct http_ops ---- */

static int op_start(struct http_client *base, const struct http_request *request,
                    const struct http_handler *handler, void *arg,
                    struct http_exchange **ret_exchange, struct err *err)
{
    struct retry_client *client = (struct retry_client *)base;
    struct retry *retry = NEW(struct retry);

    BUG_IF(client->freed);
    retry->exchange.client = base;
    retry->client = client;
    retry->handler = *handler;
    retry->arg = arg;
    retry->timer.fire = on_timer;
    retry->started_ms = clock_mono_ms(loop_clock(client->loop));
    http_request_copy(&retry->arena, request, &retry->request);
    if (start_attempt(retry, err) < 0) {
        retry_free(retry);
        return -1;
    }
    retry->next = client->retries;
    if (retry->next)
        retry->next->prev = retry;
    client->retries = retry;
    *ret_exchange = &retry->exchange;
    return 0;
}

static void op_cancel(struct http_exchange *x)
{
    struct retry *retry = (struct retry *)x;

    retry->cancelled = true;
    if (retry->inner)
        http_cancel(retry->inner);
    else
        loop_timer_start(retry->client->loop, &retry->timer, 0);
}

static void op_resume(struct http_exchange *x)
{
    struct retry *retry = (struct retry *)x;

    if (retry->inner)
        http_resume(retry->inner);
}

static void op_source_ready(struct http_exchange *x)
{
    struct retry *retry = (struct retry *)x;

    if (retry->inner)
        http_source_ready(retry->inner);
}

static void op_free(struct http_client *base)
{
    struct retry_client *client = (struct retry_client *)base;

    client->depth++;
    client->freed = true;
    for (struct retry *first; (first = client->retries);) {
        deliver_cancelled(first, "the HTTP client is closed");
        BUG_IF(client->retries == first);
    }
    leave(client);
}

static const struct http_ops retry_ops = {
    .start = op_start,
    .cancel = op_cancel,
    .resume = op_resume,
    .source_ready = op_source_ready,
    .free = op_free,
};

static int64_t or_default(int64_t value, int64_t otherwise)
{
    return value > 0 ? value : otherwise;
}

struct http_client *http_retry_new(struct loop *loop, struct http_client *inner,
                                   const struct http_retry_policy *policy)
{
    static const int statuses[] = { 408, 425, 429, 500, 502, 503, 504, 529 };
    struct retry_client *client = NEW(struct retry_client);
    const int *list = policy->statuses ? policy->statuses : statuses;
    size_t n = policy->statuses ? policy->n_statuses : ARRAY_LEN(statuses);

    BUG_IF(n > STATUSES_MAX);
    memcpy(client->statuses, list, n * sizeof(*list));
    client->client.ops = &retry_ops;
    client->loop = loop;
    client->inner = inner;
    client->policy = (struct http_retry_policy){
        .max_attempts = policy->max_attempts ? policy->max_attempts : 4,
        .base_ms = or_default(policy->base_ms, 500),
        .cap_ms = or_default(policy->cap_ms, 30000),
        .retry_after_cap_ms = or_default(policy->retry_after_cap_ms, 60000),
        .budget_ms = or_default(policy->budget_ms, 120000),
        .statuses = client->statuses,
        .n_statuses = n,
        .rand = policy->rand ? policy->rand : rand_system(),
    };
    return &client->client;
}
