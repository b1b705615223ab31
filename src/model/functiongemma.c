/* Provider "functiongemma": Google's small function-calling model behind llama-server's raw
 * completion endpoint.
 *
 * POST /completion takes the prompt as text, control tokens and all, and streams
 * {"content": "..", "stop": false} until {"stop": true, "tokens_evaluated": .., ..}. The prompt is
 * made in gemma_format.c; what comes back goes through gemma_parse.c, which hands over text as it
 * comes and calls as they end. Where a server is configured (server_path, gguf_path) it is started
 * and watched (llama_server.c); in any case nothing is sent before it is healthy.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/json_put.h"
#include "model/exchange_int.h"
#include "model/gemma_int.h"
#include "model/llama_server_int.h"
#include "model/request_int.h"
#include "model/stream_int.h"
#include "policy/secret.h"

#define OUTPUT_TOKENS 1024 /* when nobody says: calls are short, and a small model may not stop */

/* Of one configured model. */
struct gemma_shared {
    const struct model_spec *spec;
    struct llama_server *server; /* made at the first request */
};

struct gemma_state {
    struct model_stream stream; /* first */
    struct llama_wait wait;
    struct model_exchange *x;
    struct gemma_parser parser;
    struct buf body;
    bool sent, failed; /* failed: a cap was passed */
    bool limited;      /* it stopped at the output limit */
    bool ended;
};

/* ---- what comes back ---- */

static void on_text(void *arg, struct str text)
{
    struct gemma_state *state = arg;

    if (exchange_delta(state->x, MODEL_DELTA_TEXT, text) < 0)
        state->failed = true;
}

static void on_call(void *arg, const struct gemma_call *call)
{
    struct gemma_state *state = arg;

    if (exchange_call(state->x, STR(""), call->name, call->arguments, call->problem) < 0)
        state->failed = true;
}

/* {"content":"..","stop":bool,"tokens_evaluated":n,"tokens_predicted":n,"stop_type":"limit"} */
static enum model_stream_step read_chunk(struct gemma_state *state, struct json_object *data)
{
    bool stop = false, limited = false;

    gemma_parser_feed(&state->parser, model_json_str(data, "content"));
    (void)json_get_bool(data, "stop", &stop, NULL);
    if (!stop)
        return state->failed ? MODEL_STREAM_FAILED : MODEL_STREAM_ON;
    (void)json_get_bool(data, "stopped_limit", &limited, NULL);
    state->limited = limited || str_is(model_json_str(data, "stop_type"), "limit");
    exchange_usage(state->x, model_json_i64(data, "tokens_evaluated", -1),
                   model_json_i64(data, "tokens_predicted", -1),
                   model_json_i64(json_find(data, "timings"), "cache_n", -1));
    if (model_json_str(data, "model").n)
        exchange_model(state->x, model_json_str(data, "model"));
    state->ended = true;
    return state->failed ? MODEL_STREAM_FAILED : MODEL_STREAM_DONE;
}

static enum model_stream_step gemma_event(struct model_exchange *x, const struct sse_event *event,
                                          struct json_object *data, struct err *err)
{
    (void)event;
    (void)err;
    return data ? read_chunk(x->state, data) : MODEL_STREAM_ON;
}

static int gemma_whole(struct model_exchange *x, struct json_object *answer, struct err *err)
{
    struct gemma_state *state = x->state;

    if (!json_object_is_type(json_find(answer, "content"), json_type_string))
        return err_set(err, ERR_PROVIDER_FAILED,
                       "the answer has no content: is this llama-server's /completion?");
    (void)read_chunk(state, answer);
    state->ended = true;
    return 0;
}

static int gemma_end(struct model_exchange *x, bool whole, enum model_stop *ret_stop,
                     struct err *err)
{
    struct gemma_state *state = x->state;

    (void)whole;
    if (!state->ended)
        return err_set(err, ERR_PROVIDER_FAILED, "the answer broke off before its end");
    gemma_parser_end(&state->parser);
    *ret_stop = state->limited ? MODEL_STOP_LENGTH : MODEL_STOP_END;
    return 0;
}

static const struct model_stream_ops gemma_stream_ops = {
    .event = gemma_event,
    .whole = gemma_whole,
    .end = gemma_end,
};

/* ---- what is sent ---- */

static void write_list(struct json_writer *w, const char *key, const char *const *items)
{
    json_put_array(w, key);
    for (; *items; items++)
        json_write_text(w, *items);
    json_write_array_end(w);
}

static int write_body(struct model_exchange *x, struct buf *out, struct err *err)
{
    static const char *const stops[] = { "<end_of_turn>", "<start_function_response>", NULL };
    /* Else the server leaves control tokens out of what it says. */
    static const char *const kept[] = { "<start_function_call>", "<end_function_call>", "<escape>",
                                        NULL };
    AUTO_BUF prompt = BUF_INIT(GEMMA_PROMPT_MAX);
    struct json_writer w = JSON_WRITER(out);
    int64_t most = x->request.max_output_tokens;

    if (gemma_prompt(&x->request, &prompt, err) < 0)
        return err_wrap(err, "model %s", x->spec->id);
    json_write_object_begin(&w);
    json_put_str(&w, "prompt", buf_str(&prompt));
    json_put_i64(&w, "n_predict", most > 0 ? most : OUTPUT_TOKENS);
    json_put_bool(&w, "stream", true);
    json_put_bool(&w, "cache_prompt", true);
    write_list(&w, "stop", stops);
    write_list(&w, "preserved_tokens", kept);
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_CONTEXT_TOO_LONG, "model %s: the request is too long", x->spec->id);
    return 0;
}

static int send_body(struct model_exchange *x, const char *url, struct err *err)
{
    static const struct http_header headers[] = {
        { { "Content-Type", 12 }, { "application/json", 16 }, false },
        { { "Accept", 6 }, { "text/event-stream", 17 }, false },
    };
    struct gemma_state *state = x->state;
    struct model_spec *spec = ARENA_NEW(&x->arena, struct model_spec);
    struct buf bearer = BUF_INIT(MODEL_SECRET_MAX + 16);
    struct http_header all[3] = { headers[0], headers[1] };
    int result;

    /* Where the server listens is known only now. */
    *spec = *x->spec;
    spec->base_url = arena_text(&x->arena, url);
    x->spec = spec;
    request_bearer(x, &bearer);
    all[2] = (struct http_header){ STR("Authorization"), buf_str(&bearer), true };
    state->sent = true;
    result = model_stream_start(x, &state->stream, &gemma_stream_ops, "/completion", all,
                                bearer.n ? 3 : 2, buf_str(&state->body), err);
    secrets_wipe(&bearer);
    return result;
}

static void on_ready(struct llama_wait *wait, const char *url, const struct err *failure)
{
    struct gemma_state *state =
        (struct gemma_state *)(void *)((char *)wait - offsetof(struct gemma_state, wait));
    struct model_exchange *x = state->x;
    struct err err = ERR_INIT;

    if (failure) {
        exchange_fail(x, failure, -1);
        return;
    }
    if (send_body(x, url, &err) < 0)
        exchange_fail(x, &err, -1);
}

/* ---- the provider ---- */

static int gemma_open(struct model_gateway *gateway, const struct model_spec *spec,
                      void **ret_shared, struct err *err)
{
    struct gemma_shared *shared;

    (void)gateway;
    if (!spec->server_path != !spec->gguf_path)
        return err_set(err, ERR_BAD_REQUEST,
                       "server_path and gguf_path belong together: set both, or neither and"
                       " base_url");
    if (!spec->server_path && !spec->base_url)
        return err_set(err, ERR_BAD_REQUEST,
                       "provider functiongemma needs base_url, the address of a llama-server, or"
                       " server_path and gguf_path to start one");
    if (spec->server_path && !strchr(spec->server_path, '/'))
        return err_set(err, ERR_BAD_REQUEST, "server_path must be a path with a slash, not \"%s\"",
                       spec->server_path);
    shared = NEW(struct gemma_shared);
    shared->spec = spec;
    *ret_shared = shared;
    return 0;
}

static void gemma_close(void *data)
{
    struct gemma_shared *shared = data;

    llama_server_free(shared->server);
    free(shared);
}

static struct llama_server *server_of(struct model_exchange *x)
{
    struct gemma_shared *shared = x->shared;
    const struct model_gateway *gateway = x->gateway;
    struct llama_server_config config = { .loop = exchange_loop(x),
                                          .id = x->spec->id,
                                          .server_path = x->spec->server_path,
                                          .gguf_path = x->spec->gguf_path,
                                          .base_url = x->spec->base_url,
                                          .context_tokens = x->spec->context_tokens,
                                          .start_ms = gateway->config.limits.first_byte_ms };

    if (!shared->server) {
        (void)exchange_http(x); /* makes the gateway's own */
        config.http = gateway->config.http ? gateway->config.http : gateway->own_http;
        shared->server = llama_server_new(&config);
    }
    return shared->server;
}

static int gemma_start(struct model_exchange *x, struct err *err)
{
    struct gemma_state *state;

    if (request_check(x, err) < 0)
        return -1;
    state = NEW(struct gemma_state);
    x->state = state;
    state->x = x;
    state->body = BUF_INIT(HTTP_BODY_SENT_MAX);
    state->wait.ready = on_ready;
    gemma_parser_init(&state->parser, x->request.tools, x->request.tool_count);
    state->parser.on_text = on_text;
    state->parser.on_call = on_call;
    state->parser.arg = state;
    if (write_body(x, &state->body, err) < 0)
        return -1;
    llama_server_need(server_of(x), &state->wait);
    return 0;
}

static void fail_cancelled(struct model_exchange *x)
{
    struct err err = ERR_INIT;

    err_set(&err, ERR_CANCELLED, "cancelled");
    exchange_fail(x, &err, -1);
}

static void gemma_cancel(struct model_exchange *x)
{
    struct gemma_state *state = x->state;

    if (state->sent) {
        model_stream_cancel(x);
        return;
    }
    llama_server_drop(&state->wait);
    exchange_soon(x, fail_cancelled, 0);
}

static void gemma_release(struct model_exchange *x)
{
    struct gemma_state *state = x->state;

    if (!state)
        return;
    llama_server_drop(&state->wait);
    if (state->stream.status == 0 && state->sent && x->shared) {
        struct gemma_shared *shared = x->shared;

        llama_server_doubt(shared->server);
    }
    if (state->sent)
        model_stream_release(&state->stream);
    gemma_parser_release(&state->parser);
    buf_release(&state->body);
    free(state);
    x->state = NULL;
}

const struct model_provider model_provider_functiongemma = {
    .name = "functiongemma",
    .start = gemma_start,
    .cancel = gemma_cancel,
    .release = gemma_release,
    .open = gemma_open,
    .close = gemma_close,
};
