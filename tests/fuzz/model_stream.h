/* Bytes of a server's answer through the whole gateway on a fake loop: what the two stream targets
 * share. The same bytes at once and cut by their own content must have the same outcome, and
 * whatever came must be as model.h promises.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FUZZ_MODEL_STREAM_H
#define DORMOUSE_FUZZ_MODEL_STREAM_H

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "loop/http_fake.h"
#include "loop/http_retry.h"
#include "model/model.h"

#define FUZZ_CHUNKS_MAX 4096

struct outcome {
    struct buf text, thinking; /* of the deltas */
    uint64_t hash;
    enum err_code code;
    unsigned dones;
};

static void fuzz_delta(void *arg, enum model_delta kind, struct str text)
{
    struct outcome *outcome = arg;

    if (outcome->dones || text.n == 0 || !utf8_valid(text))
        abort();
    buf_add_str(kind == MODEL_DELTA_TEXT ? &outcome->text : &outcome->thinking, text);
}

static void fuzz_check_call(const struct model_reply *reply, size_t i)
{
    const struct model_call *call = &reply->calls[i];
    AUTO_JSON arguments = NULL;

    if (call->id.n == 0 || !utf8_valid(call->name) || !utf8_valid(call->arguments))
        abort();
    for (size_t k = 0; k < i; k++)
        if (str_eq(reply->calls[k].id, call->id))
            abort();
    if (call->problem.n == 0 &&
        (json_parse(call->arguments, &arguments, NULL) < 0 ||
         !json_object_is_type(arguments, json_type_object) || call->name.n == 0))
        abort();
}

static void fuzz_mix(struct outcome *outcome, struct str part)
{
    outcome->hash = outcome->hash * 1099511628211u + map_hash(part);
}

static void fuzz_done(void *arg, const struct model_reply *reply, const struct err *err,
                      int64_t retry_after_ms)
{
    struct outcome *outcome = arg;

    if (outcome->dones++ || !reply == !err || retry_after_ms < -1)
        abort();
    if (!reply) {
        outcome->code = err->code;
        return;
    }
    if (!str_eq(reply->text, buf_str(&outcome->text)) ||
        !str_eq(reply->thinking, buf_str(&outcome->thinking)) || reply->stop == MODEL_STOP_NONE ||
        reply->usage.input_tokens < 0 || reply->usage.output_tokens < 0 ||
        reply->usage.cached_tokens > reply->usage.input_tokens || !utf8_valid(reply->model))
        abort();
    if (reply->opaque.n > 0) {
        AUTO_JSON opaque = NULL;

        if (json_parse(reply->opaque, &opaque, NULL) < 0)
            abort();
    }
    for (size_t i = 0; i < reply->call_count; i++) {
        fuzz_check_call(reply, i);
        fuzz_mix(outcome, reply->calls[i].name);
        fuzz_mix(outcome, reply->calls[i].arguments);
        fuzz_mix(outcome, reply->calls[i].problem);
    }
    fuzz_mix(outcome, reply->text);
    fuzz_mix(outcome, reply->thinking);
    fuzz_mix(outcome, reply->opaque);
    outcome->hash += (uint64_t)reply->stop + (uint64_t)reply->usage.output_tokens;
}

static void fuzz_ask(struct outcome *outcome, const char *provider, int status,
                     const struct str *chunks, size_t n)
{
    static const struct model_message hello = { .role = MODEL_USER, .text = { "Hi", 2 } };
    static const struct model_request request = { .model_id = "m",
                                                  .messages = &hello,
                                                  .message_count = 1 };
    static const struct model_sink sink = { .on_delta = fuzz_delta, .on_done = fuzz_done };
    static const struct http_retry_policy once = { .max_attempts = 1 };
    const struct http_fake_answer answer = { .status = status, .chunks = chunks, .n_chunks = n };
    const struct model_spec spec = {
        .id = "m", .provider = provider, .model = "x", .base_url = "http://127.0.0.1"
    };
    struct clock_fake clock;
    struct rand_fake rand;
    struct loop *loop;
    struct http_client *http;
    struct model_gateway *gateway = NULL;
    struct model_exchange *x;

    clock_fake_init(&clock, 0);
    rand_fake_init(&rand, 1);
    loop = loop_new_fake(&clock);
    http = http_fake_new(loop, &answer, 1);
    *outcome =
        (struct outcome){ .text = BUF_INIT(MODEL_TEXT_MAX), .thinking = BUF_INIT(MODEL_TEXT_MAX) };
    const struct model_gateway_config config = { .loop = loop,
                                                 .models = &spec,
                                                 .model_count = 1,
                                                 .http = http,
                                                 .rand = &rand.rand,
                                                 .retry = &once };
    if (model_gateway_new(&config, &gateway, NULL) < 0 ||
        model_start(gateway, &request, &sink, outcome, &x, NULL) < 0)
        abort();
    loop_fake_advance(loop, MINUTES(1));
    model_gateway_free(gateway);
    http_client_free(http);
    loop_free(loop);
    if (outcome->dones != 1)
        abort();
}

/* The first byte chooses the status, the rest is the body. */
static int fuzz_stream(const char *provider, const uint8_t *bytes, size_t n)
{
    static const int statuses[] = { 200, 400, 429, 500, 302 };
    static struct str cut[FUZZ_CHUNKS_MAX];
    struct outcome whole, parts;
    struct str all;
    size_t count = 0;
    int status;

    if (n == 0 || n > 65536)
        return 0;
    /* Text files begin with a letter: those are 200. */
    status = bytes[0] < ARRAY_LEN(statuses) ? statuses[bytes[0]] : 200;
    all = str_of((const char *)bytes + (bytes[0] < ARRAY_LEN(statuses)),
                 n - (bytes[0] < ARRAY_LEN(statuses)));
    for (size_t at = 0; at < all.n; count++) {
        size_t part = count + 1 == FUZZ_CHUNKS_MAX ? all.n : 1u + (uint8_t)all.p[at] % 29;

        part = part < all.n - at ? part : all.n - at;
        cut[count] = str_of(all.p + at, part);
        at += part;
    }
    fuzz_ask(&whole, provider, status, &all, all.n > 0);
    fuzz_ask(&parts, provider, status, cut, count);
    if (whole.code != parts.code || (!whole.code && whole.hash != parts.hash))
        abort();
    buf_release(&whole.text);
    buf_release(&whole.thinking);
    buf_release(&parts.text);
    buf_release(&parts.thinking);
    return 0;
}

#endif
