/* A real loop, a real server on loopback that says what it is told, a gateway, and questions whose
 * outcome can be looked at.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_MODEL_RIG_H
#define DORMOUSE_TESTS_MODEL_RIG_H

#include "base/buf.h"
#include "base/json.h"
#include "base/rand.h"
#include "harness/http_peer.h"
#include "harness/test.h"
#include "loop/dns.h"
#include "loop/http_retry.h"
#include "model/model.h"

/* How an answer ends. */
enum say_end {
    SAY_WHOLE = 0, /* chunked, with its last chunk */
    SAY_CUT,       /* chunked, closed inside */
    SAY_RESET,     /* the same, with a reset */
    SAY_OPEN,      /* chunked; the last chunk never comes, nor a close */
    SAY_DRIP,      /* byte by byte, one each 20 ms, for ever */
    SAY_FLOOD,     /* the body again and again, 100 MB */
    SAY_NOTHING,   /* no answer at all: hangs up */
    SAY_BY_PIECES, /* each byte its own chunk */
};

/* The n-th request gets the n-th; the last one is repeated. Ends with status 0. */
struct say {
    int status;
    const char *headers; /* lines with CRLF; NULL: text/event-stream */
    const char *body;
    enum say_end end;
};

struct model_rig {
    struct test *t;
    struct loop *loop;
    struct http_peer peer;
    struct model_gateway *gateway;
    struct model_spec spec;
    struct rand_fake rand;
    unsigned waiting;
    /* What the gateway asked of us. */
    unsigned secrets, consents;
    bool consent;       /* what is answered */
    const char *secret; /* NULL: not set */
};

/* A gateway with one model "m" of this provider on the peer. more may be NULL: fills in what the
 * test wants besides (spec is rig->spec). */
void model_rig_open(struct model_rig *rig, struct test *t, const char *provider,
                    const struct say *says,
                    void (*more)(struct model_rig *rig, struct model_gateway_config *config));
void model_rig_close(struct model_rig *rig);

/* One question and what came of it. Texts live in t->arena. */
struct ask {
    struct model_rig *rig;
    struct model_exchange *x;
    struct buf deltas; /* "T:text|H:thinking|" */
    unsigned delta_count, dones;
    bool replied;
    struct str text, thinking, opaque, model;
    struct model_call *calls;
    size_t call_count;
    enum model_stop stop;
    struct model_usage usage;
    struct err err;
    int64_t retry_after_ms;
    unsigned cancel_after; /* cancels in this delta; 0: never */
};

/* request NULL: "Hello" from the user to model "m". Runs until it is done. */
void ask_run(struct ask *ask, struct model_rig *rig, const struct model_request *request);
void ask_start(struct ask *ask, struct model_rig *rig, const struct model_request *request);
void rig_wait(struct model_rig *rig);
void ask_release(struct ask *ask);
const char *ask_error(struct ask *ask);
/* A question from nothing, run and released by the caller. */
#define ASK_INIT ((struct ask){ .deltas = BUF_INIT(1u << 20) })

#define ASSERT_REPLIED(ask_, stop_)                                                                \
    do {                                                                                           \
        if (!(ask_)->replied)                                                                      \
            FAIL("failed: %s: %s", err_name((ask_)->err.code), ask_error(ask_));                   \
        ASSERT_EQ((ask_)->stop, (stop_));                                                          \
        ASSERT_EQ((ask_)->dones, 1);                                                               \
    } while (0)
#define ASSERT_ASK_FAILED(ask_, code_)                                                             \
    do {                                                                                           \
        if ((ask_)->replied)                                                                       \
            FAIL("replied \"%.*s\", expected %s", STR_ARG((ask_)->text), err_name(code_));         \
        if ((ask_)->err.code != (code_))                                                           \
            FAIL("failed with %s (%s), expected %s", err_name((ask_)->err.code), ask_error(ask_),  \
                 err_name(code_));                                                                 \
        ASSERT_EQ((ask_)->dones, 1);                                                               \
    } while (0)

/* The body of the last request, parsed; put by the caller. */
struct json_object *rig_body(struct model_rig *rig);
/* Member of nested objects and arrays as text: "/messages/0/role"; "" when absent. */
struct str body_at(struct json_object *body, const char *pointer);

#endif
