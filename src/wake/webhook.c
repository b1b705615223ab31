/* Webhooks: a bucket for each hook, and the wake that a call makes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_put.h"
#include "base/map.h"
#include "base/utf8.h"
#include "change/taint.h"
#include "wake/match.h"
#include "wake/skip.h"
#include "wake/waker_int.h"

#define PER_MINUTE 60
#define BURST      20

/* ---- buckets ---- */

struct bucket {
    int64_t at_ns;
    double left;
    int64_t n;       /* of the subscription */
    int64_t refused; /* and not written yet */
};

struct webhook_gate {
    struct clock *clock;
    struct webhook_limits limits;
    struct map buckets; /* number of a subscription: only those that exist get here */
};

struct webhook_gate *webhook_gate_new(struct clock *clock, struct webhook_limits limits)
{
    struct webhook_gate *gate = NEW(struct webhook_gate);

    gate->clock = clock;
    gate->limits.per_minute = limits.per_minute ? limits.per_minute : PER_MINUTE;
    gate->limits.burst = limits.burst ? limits.burst : BURST;
    return gate;
}

void webhook_gate_free(struct webhook_gate *gate)
{
    if (!gate)
        return;
    map_each (&gate->buckets, entry)
        free(entry->value);
    map_release(&gate->buckets);
    free(gate);
}

static struct bucket *bucket_of(struct webhook_gate *gate, int64_t n)
{
    struct str key = str_of((const char *)&n, sizeof(n));
    struct bucket *bucket = map_find(&gate->buckets, key);

    if (bucket)
        return bucket;
    bucket = NEW(struct bucket);
    *bucket =
        (struct bucket){ .at_ns = clock_mono_ns(gate->clock), .left = gate->limits.burst, .n = n };
    map_put(&gate->buckets, key, bucket);
    return bucket;
}

static bool let_in(struct webhook_gate *gate, struct bucket *bucket)
{
    int64_t now = clock_mono_ns(gate->clock);
    double filled = (double)(now - bucket->at_ns) / 60e9 * gate->limits.per_minute;

    bucket->at_ns = now;
    bucket->left += filled;
    if (bucket->left > gate->limits.burst)
        bucket->left = gate->limits.burst;
    if (bucket->left < 1) {
        bucket->refused++;
        return false;
    }
    bucket->left -= 1;
    return true;
}

/* Whole seconds until the next call is let in. */
static int wait_s(const struct webhook_gate *gate, const struct bucket *bucket)
{
    return (int)ceil((1 - bucket->left) * 60 / gate->limits.per_minute);
}

/* ---- counting ---- */

/* Inside a unit: so many were let in, and so many refused before. */
static int count(struct domain *domain, const struct bucket *bucket, int64_t received,
                 int64_t now_ms, struct err *err)
{
    if (webhook_count(domain, bucket->n, received, bucket->refused, now_ms, err) < 0)
        return -1;
    return bucket->refused
               ? skip_add(domain, bucket->n, MATCH_RATE_LIMITED, bucket->refused, now_ms, err)
               : 0;
}

int webhook_gate_store(struct webhook_gate *gate, struct domain *domain, int64_t now_ms,
                       struct err *err)
{
    map_each (&gate->buckets, entry) {
        const struct bucket *bucket = entry->value;

        if (bucket->refused && count(domain, bucket, 0, now_ms, err) < 0)
            return -1;
    }
    return 0;
}

void webhook_gate_stored(struct webhook_gate *gate)
{
    map_each (&gate->buckets, entry)
        ((struct bucket *)entry->value)->refused = 0;
}

static bool has_refused(const struct webhook_gate *gate)
{
    map_each (&gate->buckets, entry)
        if (((const struct bucket *)entry->value)->refused)
            return true;
    return false;
}

/* In the loop it is a unit; afterwards a transaction of its own. */
static int store_refused(struct waker *waker, bool in_loop, struct err *err)
{
    struct loop *loop = waker->config.loop;
    struct domain *domain = waker->config.agent_domain;
    int64_t now = clock_wall_ms(loop_clock(loop));
    int r;

    if ((in_loop ? loop_unit_begin(loop, domain, err) : domain_begin(domain, err)) < 0)
        return -1;
    r = webhook_gate_store(waker->gate, domain, now, err);
    if (in_loop)
        return loop_unit_end(loop, r == 0, r == 0 ? err : NULL) < 0 ? -1 : r;
    if (r == 0)
        return domain_commit(domain, err);
    domain_rollback(domain);
    return -1;
}

int waker_store_refused(struct waker *waker, bool in_loop, struct err *err)
{
    if (!has_refused(waker->gate))
        return 0;
    if (store_refused(waker, in_loop, err) < 0)
        return err_wrap(err, "count the calls of webhooks that were refused");
    webhook_gate_stored(waker->gate);
    return 0;
}

/* ---- a call ---- */

static int check_call(const struct webhook_call *call, struct err *err)
{
    if (call->body.n > WEBHOOK_BODY_MAX)
        return err_set(err, ERR_TOO_LARGE, "a body of %zu bytes; a webhook takes at most %u",
                       call->body.n, WEBHOOK_BODY_MAX);
    if (call->event_id.n > WEBHOOK_EVENT_ID_MAX ||
        utf8_find_odd(call->event_id, ~0u << UTF8_INVALID, NULL, NULL))
        return err_set(err, ERR_BAD_REQUEST,
                       "the event's id is at most %d bytes of plain text on one line",
                       WEBHOOK_EVENT_ID_MAX);
    return 0;
}

/* Without an id of the sender's, the same body within a second is the same event. */
static void event_id_of(const struct webhook_call *call, int64_t now_ms,
                        char ret_id[SHA256_TEXT_SIZE])
{
    struct sha256 hash;
    uint8_t digest[SHA256_BYTES];
    char head[64];

    snprintf(head, sizeof(head), "webhook|v1|%lld|", (long long)(now_ms / 1000));
    sha256_init(&hash);
    if (call->event_id.n) {
        sha256_add(&hash, STR("webhook|v1|id|"));
        sha256_add(&hash, call->event_id);
    } else {
        sha256_add(&hash, str_from(head));
        sha256_add(&hash, call->content_type);
        sha256_add(&hash, STR("|"));
        sha256_add(&hash, call->body);
    }
    sha256_finish(&hash, digest);
    hex_encode(digest, sizeof(digest), ret_id);
}

static void write_payload(const struct subscription *s, const struct webhook_call *call,
                          const char *event_id, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    AUTO_ARENA arena = ARENA_INIT;

    json_write_object_begin(&w);
    if (s->prompt.n) {
        json_put_str(&w, "prompt", s->prompt);
    }
    json_put_object(&w, "event");
    json_put_str(&w, "id", call->event_id.n ? call->event_id : str_from(event_id));
    json_put_str(&w, "contentType", utf8_truncate(call->content_type, 200));
    json_put_i64(&w, "bytes", (int64_t)call->body.n);
    json_put_str(&w, "body", call->body);
    json_write_object_end(&w);
    json_put_str(&w, "taint", taint_source(TAINT_WEBHOOK, s->name, &arena));
    json_write_object_end(&w);
}

static int queue_call(struct domain *domain, const struct subscription *s,
                      const struct webhook_call *call, int64_t now_ms, struct err *err)
{
    AUTO_BUF payload = BUF_INIT(WAKE_PAYLOAD_MAX);
    char event_id[SHA256_TEXT_SIZE];

    event_id_of(call, now_ms, event_id);
    write_payload(s, call, event_id, &payload);
    if (payload.full)
        return err_set(err, ERR_TOO_LARGE,
                       "the body takes more than %u bytes when it is written down as text",
                       WAKE_PAYLOAD_MAX);
    return match_wake_source(domain, s, str_from(event_id), buf_str(&payload), now_ms, err);
}

int webhook_receive(struct webhook_gate *gate, struct domain *domain,
                    const struct webhook_call *call, int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct subscription s;
    struct bucket *bucket;
    int r = webhook_find(domain, call->token, &arena, &s, err);

    if (r < 0)
        return -1;
    if (r == 0 || !s.active)
        return err_set(err, ERR_NOT_FOUND, "there is no such webhook");
    bucket = bucket_of(gate, s.n);
    if (!let_in(gate, bucket))
        return err_set(err, ERR_RATE_LIMITED,
                       "this webhook takes %u calls a minute, %u at once; again in %d s",
                       gate->limits.per_minute, gate->limits.burst, wait_s(gate, bucket));
    if (check_call(call, err) < 0)
        return -1;
    r = queue_call(domain, &s, call, now_ms, err);
    if (r < 0 || count(domain, bucket, 1, now_ms, err) < 0)
        return -1;
    bucket->refused = 0;
    return r;
}
