/* The rig of the model tests. SPDX-License-Identifier: MIT */
#include "model_rig.h"

#include <stdio.h>

/* ---- the server ---- */

#define FLOOD_BYTES (100u << 20)

static const char *const default_headers = "Content-Type: text/event-stream\r\n";

static bool send_chunk(struct peer_conn *conn, const char *bytes, size_t n)
{
    return n == 0 ||
           (peer_text(conn, "%zx\r\n", n) && peer_send(conn, bytes, n) && peer_text(conn, "\r\n"));
}

/* Whole bodies, many to a chunk: small chunks would only keep the test busy. */
static bool flood(struct peer_conn *conn, const char *body)
{
    static char block[1u << 20];
    size_t n = 0, one = strlen(body);

    while (n + one <= sizeof(block)) {
        memcpy(block + n, body, one);
        n += one;
    }
    for (size_t sent = 0; sent < FLOOD_BYTES; sent += n)
        if (!send_chunk(conn, block, n))
            return false;
    return false;
}

static bool drip(struct peer_conn *conn, const char *body)
{
    for (size_t i = 0;; i++) {
        if (!send_chunk(conn, &body[i % strlen(body)], 1))
            return false;
        peer_nap(20);
    }
}

static bool serve_says(struct peer_conn *conn)
{
    const struct say *say = conn->arg;
    unsigned nth = __atomic_fetch_add(&conn->shared->counter, 1, __ATOMIC_SEQ_CST);

    while (nth-- > 0 && say[1].status)
        say++;
    if (say->end == SAY_NOTHING)
        return false;
    peer_text(conn, "HTTP/1.1 %d X\r\n%sTransfer-Encoding: chunked\r\n\r\n", say->status,
              say->headers ? say->headers : default_headers);
    if (say->end == SAY_FLOOD)
        return flood(conn, say->body);
    if (say->end == SAY_DRIP)
        return drip(conn, say->body);
    if (say->end == SAY_BY_PIECES)
        for (size_t i = 0; i < strlen(say->body); i++)
            send_chunk(conn, &say->body[i], 1);
    else
        send_chunk(conn, say->body, strlen(say->body));
    if (say->end == SAY_CUT)
        return peer_text(conn, "ff\r\nda") && false;
    if (say->end == SAY_RESET)
        return peer_text(conn, "ff\r\nda") && (peer_nap(20), peer_reset(conn));
    if (say->end == SAY_OPEN)
        return peer_stall(conn);
    return peer_text(conn, "0\r\n\r\n");
}

/* ---- the gateway ---- */

static int give_secret(void *arg, const char *ref, struct buf *out, struct err *err)
{
    struct model_rig *rig = arg;

    rig->secrets++;
    if (!rig->secret)
        return err_set(err, ERR_SECRET_UNAVAILABLE, "no secret %s: dormouse secret set %s", ref,
                       ref);
    return buf_add_text(out, rig->secret);
}

static int give_consent(void *arg, const struct model_spec *spec, struct err *err)
{
    struct model_rig *rig = arg;

    rig->consents++;
    if (!rig->consent)
        return err_set(err, ERR_PRIVACY_CONFIRMATION_REQUIRED, "nobody agreed to %s", spec->id);
    return 0;
}

void model_rig_open(struct model_rig *rig, struct test *t, const char *provider,
                    const struct say *says,
                    void (*more)(struct model_rig *rig, struct model_gateway_config *config))
{
    static const struct http_retry_policy quick = {
        .max_attempts = 3, .base_ms = 1, .cap_ms = 2, .retry_after_cap_ms = 50, .budget_ms = 5000
    };
    struct model_gateway_config config = { .secret = give_secret, .consent = give_consent };

    *rig = (struct model_rig){ .t = t };
    rand_fake_init(&rig->rand, 7);
    if (says)
        peer_start(&rig->peer, serve_says, says);
    ASSERT_OK(loop_new(NULL, &rig->loop, &t->err));
    rig->spec = (struct model_spec){ .id = "m", .provider = provider, .model = "the-model" };
    if (says)
        rig->spec.base_url = arena_printf(&t->arena, "http://127.0.0.1:%u", rig->peer.port);
    config.loop = rig->loop;
    config.models = &rig->spec;
    config.model_count = 1;
    config.rand = &rig->rand.rand;
    config.retry = &quick;
    config.arg = rig;
    if (more)
        more(rig, &config);
    ASSERT_OK(model_gateway_new(&config, &rig->gateway, &t->err));
}

void model_rig_close(struct model_rig *rig)
{
    model_gateway_free(rig->gateway);
    model_wait(rig->loop);
    loop_free(rig->loop);
    if (rig->peer.pid)
        peer_stop(&rig->peer);
}

/* ---- questions ---- */

static void on_delta(void *arg, enum model_delta kind, struct str text)
{
    struct ask *ask = arg;

    if (ask->dones || !ask->x)
        FAIL("a delta at the wrong time");
    ask->delta_count++;
    buf_printf(&ask->deltas, "%c:%.*s|", kind == MODEL_DELTA_TEXT ? 'T' : 'H', STR_ARG(text));
    if (ask->cancel_after && ask->delta_count == ask->cancel_after)
        model_cancel(ask->x);
    else if (ask->cancel_after && ask->delta_count > ask->cancel_after)
        FAIL("a delta after cancel");
}

static struct str kept(struct ask *ask, struct str text)
{
    return arena_str(&ask->rig->t->arena, text);
}

static void keep_reply(struct ask *ask, const struct model_reply *reply)
{
    ask->replied = true;
    ask->text = kept(ask, reply->text);
    ask->thinking = kept(ask, reply->thinking);
    ask->opaque = kept(ask, reply->opaque);
    ask->model = kept(ask, reply->model);
    ask->stop = reply->stop;
    ask->usage = reply->usage;
    ask->call_count = reply->call_count;
    ask->calls = ARENA_NEW_N(&ask->rig->t->arena, struct model_call, reply->call_count + 1);
    for (size_t i = 0; i < reply->call_count; i++)
        ask->calls[i] = (struct model_call){
            .id = kept(ask, reply->calls[i].id),
            .name = kept(ask, reply->calls[i].name),
            .arguments = kept(ask, reply->calls[i].arguments),
            .problem = kept(ask, reply->calls[i].problem),
        };
}

static void on_done(void *arg, const struct model_reply *reply, const struct err *err,
                    int64_t retry_after_ms)
{
    struct ask *ask = arg;

    if (!ask->x)
        FAIL("done before model_start() returned");
    if (!reply == !err)
        FAIL("both or neither of reply and error");
    ask->dones++;
    if (reply)
        keep_reply(ask, reply);
    else
        ask->err = *err;
    ask->retry_after_ms = retry_after_ms;
    if (--ask->rig->waiting == 0)
        loop_stop(ask->rig->loop);
}

void ask_start(struct ask *ask, struct model_rig *rig, const struct model_request *request)
{
    static const struct model_message hello = { .role = MODEL_USER, .text = { "Hello", 5 } };
    static const struct model_request simple = { .model_id = "m",
                                                 .messages = &hello,
                                                 .message_count = 1 };
    static const struct model_sink sink = { .on_delta = on_delta, .on_done = on_done };
    struct test *t = rig->t;

    ask->rig = rig;
    ASSERT_OK(model_start(rig->gateway, request ? request : &simple, &sink, ask, &ask->x, &t->err));
    rig->waiting++;
}

void rig_wait(struct model_rig *rig)
{
    struct test *t = rig->t;

    if (rig->waiting)
        ASSERT_OK(loop_run(rig->loop, &t->err));
    ASSERT_EQ(rig->waiting, 0);
}

void ask_run(struct ask *ask, struct model_rig *rig, const struct model_request *request)
{
    ask_start(ask, rig, request);
    rig_wait(rig);
}

void ask_release(struct ask *ask)
{
    buf_release(&ask->deltas);
}

const char *ask_error(struct ask *ask)
{
    static char text[ERR_TEXT_MAX + 64];

    return err_format(&ask->err, text, sizeof(text));
}

struct json_object *rig_body(struct model_rig *rig)
{
    struct test *t = rig->t;
    struct json_object *body = NULL;

    ASSERT_OK(json_parse(str_from(rig->peer.shared->last_body), &body, &t->err));
    return body;
}

struct str body_at(struct json_object *body, const char *pointer)
{
    struct json_object *value = NULL;

    if (json_pointer_find(body, str_from(pointer), &value, NULL) < 0 || !value)
        return STR("");
    return str_from(json_object_get_string(value));
}
