/* model.stream: tokens per second of a streamed answer through the gateway to the client's
 * callback, against what reading the same events and their JSON costs alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "loop/http_fake.h"
#include "loop/sse.h"
#include "model/model.h"

#define TOKENS 10000
#define ROUNDS 9
#define CHUNK  4096 /* bytes that come at once */
#define TARGET 0.7

static struct str chunks[1024];
static size_t chunk_count;

static void make_answer(struct buf *text)
{
    for (int i = 0; i < TOKENS; i++)
        buf_printf(text,
                   "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":"
                   "1700000000,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
                   "\" tok%d\"},\"finish_reason\":null}]}\n\n",
                   i);
    buf_add_text(text, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"
                       "\n\ndata: [DONE]\n\n");
    for (size_t at = 0; at < text->n; at += CHUNK)
        chunks[chunk_count++] =
            str_of(text->p + at, text->n - at < CHUNK ? text->n - at : (size_t)CHUNK);
}

static size_t deltas;
static bool replied;

static void on_delta(void *arg, enum model_delta kind, struct str text)
{
    (void)arg;
    (void)kind;
    (void)text;
    deltas++;
}

static void on_done(void *arg, const struct model_reply *reply, const struct err *err,
                    int64_t retry_after_ms)
{
    (void)arg;
    (void)err;
    (void)retry_after_ms;
    replied = reply != NULL;
}

static double through_gateway(void)
{
    static const struct model_message hello = { .role = MODEL_USER, .text = { "Hi", 2 } };
    static const struct model_request request = { .model_id = "m",
                                                  .messages = &hello,
                                                  .message_count = 1 };
    static const struct model_sink sink = { .on_delta = on_delta, .on_done = on_done };
    static const struct model_spec spec = { .id = "m",
                                            .provider = "openai",
                                            .base_url = "http://127.0.0.1" };
    const struct http_fake_answer answer = { .status = 200,
                                             .chunks = chunks,
                                             .n_chunks = chunk_count };
    struct clock_fake clock;
    struct model_gateway_config config = { .models = &spec, .model_count = 1 };
    struct model_gateway *gateway;
    struct model_exchange *x;
    int64_t start;

    clock_fake_init(&clock, 0);
    config.loop = loop_new_fake(&clock);
    config.http = http_fake_new(config.loop, &answer, 1);
    deltas = 0;
    start = clock_mono_ns(clock_system());
    if (model_gateway_new(&config, &gateway, NULL) < 0 ||
        model_start(gateway, &request, &sink, NULL, &x, NULL) < 0)
        exit(1);
    loop_fake_advance(config.loop, SECONDS(10));
    start = clock_mono_ns(clock_system()) - start;
    if (deltas != TOKENS || !replied)
        exit(1);
    model_gateway_free(gateway);
    http_client_free(config.http);
    loop_free(config.loop);
    return TOKENS * 1e9 / (double)start;
}

static int read_event(const struct sse_event *event, void *arg)
{
    AUTO_JSON value = NULL;

    (void)arg;
    json_parse(event->data, &value, NULL);
    return 0;
}

static double bare(void)
{
    int64_t start = clock_mono_ns(clock_system());
    struct sse_parser sse;

    sse_init(&sse, 1 * MIB, read_event, NULL);
    for (size_t i = 0; i < chunk_count; i++)
        sse_feed(&sse, chunks[i], NULL);
    sse_release(&sse);
    return TOKENS * 1e9 / (double)(clock_mono_ns(clock_system()) - start);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(void)
{
    AUTO_BUF text = BUF_INIT(16 * MIB);
    double gateway[ROUNDS], yard[ROUNDS], ratio;

    make_answer(&text);
    for (int i = 0; i < ROUNDS; i++) {
        yard[i] = bare();
        gateway[i] = through_gateway();
    }
    qsort(gateway, ROUNDS, sizeof(double), by_value);
    qsort(yard, ROUNDS, sizeof(double), by_value);
    ratio = gateway[ROUNDS / 2] / yard[ROUNDS / 2];
    printf("{\"bench\":\"model.stream\",\"tokens\":%d,\"value\":%.0f,\"unit\":\"tokens/s\","
           "\"yardstick\":\"events and JSON alone\",\"yardstick_value\":%.0f,\"ratio\":%.2f,"
           "\"target\":%.2f,\"ok\":%s}\n",
           TOKENS, gateway[ROUNDS / 2], yard[ROUNDS / 2], ratio, TARGET,
           ratio >= TARGET ? "true" : "false");
    return 0;
}
