/* HTTP answers of model servers.
 *
 * The first byte that is no white space says what a body is: '{' one document, '<' a web page,
 * anything else an event stream, whatever the Content-Type claims; servers and the proxies before
 * them are not reliable about it. A stream that reached its protocol's end is done even when the
 * server keeps the connection open; it is given a moment to end by itself, so that the connection
 * can be used again. Handlers must not free what they are called from, so failures inside a chunk
 * are noted, the transfer is cancelled, and the exchange ends in on_done.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/stream_int.h"

#include "base/clock.h"
#include "base/uri.h"
#include "loop/http_retry.h"
#include "model/exchange_int.h"

#define EVENT_MAX    (8u << 20)
#define WHOLE_MAX    (16u << 20)
#define LINGER_MS    200
#define MAX_SENT     (60u << 20)
#define RETRY_MS_MAX ((int64_t)24 * 60 * 60 * 1000)

enum body_kind { BODY_UNKNOWN = 0, BODY_EVENTS, BODY_DOCUMENT, BODY_PAGE, BODY_ERROR };

/* ---- where to ---- */

int model_url(const struct model_spec *spec, const char *default_url, const char *path,
              struct buf *out, struct err *err)
{
    const char *base = spec->base_url ? spec->base_url : default_url;
    struct uri uri = uri_split(str_from(base));
    struct str own = uri.path;

    if (!base || !uri.authority.p)
        return err_set(err, ERR_BAD_REQUEST, "model %s: base_url is missing or no URL", spec->id);
    while (own.n > 0 && own.p[own.n - 1] == '/')
        own.n--;
    buf_printf(out, "%.*s://%.*s%.*s", STR_ARG(uri.scheme), STR_ARG(uri.authority), STR_ARG(own));
    /* A base that has the path, or the part of it that is the version, already. */
    if (str_ends(own, STR("/v1")) && strncmp(path, "/v1/", 4) == 0)
        path += 3;
    if (!str_ends(own, str_from(path)))
        buf_add_text(out, path);
    if (uri.query.p)
        buf_printf(out, "?%.*s", STR_ARG(uri.query));
    return 0;
}

/* ---- ends ---- */

static void fail_later(struct model_stream *stream)
{
    if (stream->http)
        http_cancel(stream->http);
}

static void on_linger(struct model_exchange *x)
{
    fail_later(x->state);
}

static void note_complete(struct model_stream *stream)
{
    if (stream->complete)
        return;
    stream->complete = true;
    exchange_soon(stream->x, on_linger, LINGER_MS);
}

/* Ends the exchange; stream is gone. */
static void finish(struct model_stream *stream, bool whole)
{
    struct model_exchange *x = stream->x;
    enum model_stop stop = MODEL_STOP_END;
    struct err err = ERR_INIT;

    if (stream->ops->end(x, whole, &stop, &err) < 0) {
        err_wrap(&err, "model %s", x->spec->id);
        exchange_fail(x, &err, -1);
    } else {
        exchange_finish(x, stop);
    }
}

static void end_document(struct model_stream *stream)
{
    struct model_exchange *x = stream->x;
    struct err err = ERR_INIT;
    AUTO_JSON document = NULL;

    if (stream->body.full)
        err_set(&err, ERR_TOO_LARGE, "model %s: the answer is over %u bytes", x->spec->id,
                WHOLE_MAX);
    else if (model_json(buf_str(&stream->body), &document, &err) < 0) {
        err.code = ERR_PROVIDER_FAILED;
        err_wrap(&err, "model %s: the answer is no JSON", x->spec->id);
    } else if (model_is_fault(document)) {
        if (model_fault(x, 0, document, stream->retry_after_ms, &err) > 0) {
            exchange_finish(x, MODEL_STOP_FILTER);
            return;
        }
    } else if (stream->ops->whole(x, document, &err) == 0) {
        finish(stream, true);
        return;
    } else {
        err_wrap(&err, "model %s", x->spec->id);
    }
    exchange_fail(x, &err, stream->retry_after_ms);
}

static void end_fault(struct model_stream *stream)
{
    struct model_exchange *x = stream->x;
    int64_t retry_after = stream->retry_after_ms;
    struct err err = ERR_INIT;

    if (stream->ops->refused && stream->ops->refused(x, stream->status, buf_str(&stream->body)))
        return;
    if (model_fault_body(x, stream->status, buf_str(&stream->body), retry_after, &err) > 0)
        exchange_finish(x, MODEL_STOP_FILTER);
    else
        exchange_fail(x, &err, retry_after);
}

static void end_page(struct model_stream *stream)
{
    struct err err = ERR_INIT;

    err_set(&err, ERR_PROVIDER_FAILED, "model %s: %s; is base_url the address of the API?",
            stream->x->spec->id,
            stream->kind == BODY_PAGE ? "a web page came instead of an answer"
                                      : "the answer is empty");
    exchange_fail(stream->x, &err, -1);
}

static void on_done(struct http_exchange *http, const struct http_result *result, void *arg)
{
    struct model_stream *stream = arg;
    struct model_exchange *x = stream->x;
    struct err err = result->err;

    (void)http;
    stream->http = NULL;
    if (stream->filtered) {
        exchange_finish(x, MODEL_STOP_FILTER);
    } else if (stream->err.code) {
        exchange_fail(x, &stream->err, stream->retry_after_ms);
    } else if (stream->complete) {
        finish(stream, true);
    } else if (stream->kind == BODY_ERROR && err.code != ERR_CANCELLED) {
        end_fault(stream);
    } else if (err.code) {
        err_wrap(&err, "model %s", x->spec->id);
        exchange_fail(x, &err, -1);
    } else if (stream->kind == BODY_DOCUMENT) {
        end_document(stream);
    } else if (stream->kind == BODY_EVENTS) {
        finish(stream, false);
    } else {
        end_page(stream);
    }
}

/* ---- what comes ---- */

static int64_t wait_asked(struct model_stream *stream, const struct http_head *head)
{
    struct str exact = http_head_find(head, "retry-after-ms"),
               usual = http_head_find(head, "retry-after");
    int64_t ms = -1;

    if (exact.n > 0 && str_to_i64(exact, &ms) == 0 && ms >= 0)
        return ms < RETRY_MS_MAX ? ms : RETRY_MS_MAX;
    if (usual.n == 0)
        return -1;
    ms = http_retry_after_ms(usual, clock_wall_ms(loop_clock(exchange_loop(stream->x))));
    return ms < RETRY_MS_MAX ? ms : RETRY_MS_MAX;
}

static void on_headers(struct http_exchange *http, const struct http_head *head, void *arg)
{
    struct model_stream *stream = arg;

    (void)http;
    stream->status = head->status;
    stream->retry_after_ms = wait_asked(stream, head);
    if (head->status < 200 || head->status > 299) {
        stream->kind = BODY_ERROR;
        stream->body.max = MODEL_ERROR_BODY_MAX;
    }
}

static int on_event(const struct sse_event *event, void *arg)
{
    struct model_stream *stream = arg;
    struct str text = str_trim(event->data);
    AUTO_JSON data = NULL;
    int step;

    /* What is no object may be a word of the protocol. */
    if (str_starts(text, STR("{")) && model_json(text, &data, &stream->err) < 0) {
        stream->err.code = ERR_PROVIDER_FAILED;
        err_wrap(&stream->err, "model %s: an event of the answer is no JSON", stream->x->spec->id);
        return -1;
    }
    if (model_is_fault(data) || (data && str_is(event->type, "error"))) {
        stream->filtered =
            model_fault(stream->x, 0, data, stream->retry_after_ms, &stream->err) > 0;
        return -1;
    }
    step = stream->ops->event(stream->x, event, data, &stream->err);
    if (step < 0 && !stream->err.code) /* a cap was passed: the exchange knows */
        err_set(&stream->err, ERR_TOO_LARGE, "the answer is too large");
    return step;
}

static enum body_kind kind_of(char first)
{
    return first == '{' || first == '[' ? BODY_DOCUMENT : first == '<' ? BODY_PAGE : BODY_EVENTS;
}

static void feed(struct model_stream *stream, struct str chunk)
{
    struct err err = ERR_INIT;
    int step = sse_feed(&stream->sse, chunk, &err);

    if (step == MODEL_STREAM_DONE) {
        note_complete(stream);
    } else if (step < 0) {
        if (!stream->err.code && !stream->filtered)
            stream->err = err;
        fail_later(stream);
    }
}

static enum http_flow on_data(struct http_exchange *http, struct str chunk, void *arg)
{
    struct model_stream *stream = arg;

    (void)http;
    if (stream->complete || stream->err.code || stream->filtered)
        return HTTP_GO;
    if (stream->kind == BODY_UNKNOWN) {
        while (chunk.n > 0 && strchr(" \t\r\n", chunk.p[0]) && chunk.p[0])
            chunk = str_skip(chunk, 1);
        if (chunk.n == 0)
            return HTTP_GO;
        stream->kind = kind_of(chunk.p[0]);
    }
    if (stream->kind == BODY_EVENTS)
        feed(stream, chunk);
    else if (stream->kind != BODY_PAGE)
        buf_add_str(&stream->body, chunk);
    return HTTP_GO;
}

/* ---- starting ---- */

static int64_t limit(int64_t set, int64_t otherwise)
{
    return set ? set : otherwise;
}

static struct http_limits limits_of(const struct model_exchange *x)
{
    struct http_limits limits = x->gateway->config.limits;

    limits.first_byte_ms = limit(limits.first_byte_ms, MODEL_FIRST_BYTE_MS);
    limits.idle_ms = limit(limits.idle_ms, MODEL_IDLE_MS);
    limits.total_ms = limit(limits.total_ms, MODEL_TOTAL_MS);
    return limits;
}

int model_stream_start(struct model_exchange *x, struct model_stream *stream,
                       const struct model_stream_ops *ops, const char *path,
                       const struct http_header *headers, size_t n_headers, struct str body,
                       struct err *err)
{
    static const struct http_handler handler = {
        .on_headers = on_headers,
        .on_data = on_data,
        .on_done = on_done,
    };
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct http_request request = {
        .method = "POST",
        .headers = headers,
        .n_headers = n_headers,
        .body = body,
        .limits = limits_of(x),
        /* Asking twice costs tokens and changes nothing. */
        .safe = true,
    };

    model_stream_release(stream);
    *stream = (struct model_stream){
        .x = x, .ops = ops, .retry_after_ms = -1, .body = BUF_INIT(WHOLE_MAX)
    };
    sse_init(&stream->sse, EVENT_MAX, on_event, stream);
    if (model_url(x->spec, x->provider->default_url, path, &url, err) < 0)
        return -1;
    if (body.n > MAX_SENT)
        return err_set(err, ERR_CONTEXT_TOO_LONG, "model %s: the request is %zu bytes", x->spec->id,
                       body.n);
    request.url = buf_text(&url);
    if (http_start(exchange_http(x), &request, &handler, stream, &stream->http, err) < 0)
        return err_wrap(err, "model %s", x->spec->id);
    return 0;
}

void model_stream_cancel(struct model_exchange *x)
{
    fail_later(x->state);
}

void model_stream_release(struct model_stream *stream)
{
    sse_release(&stream->sse);
    buf_release(&stream->body);
}
