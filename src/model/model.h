/* The model gateway: a request in, a stream of deltas and one reply out.
 *
 * A model is named by its id in the configuration; the gateway finds its provider, asks for
 * consent where text would leave this machine, counts tokens and cost, tries again what may be
 * tried again, and reports everything else as one of the outcomes below. It never goes to another
 * model or provider than the one named.
 *
 * Start an exchange only when the intent is durable (from a loop_after_commit() effect). Callbacks
 * come inside a tick, never from inside model_start() or model_cancel().
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_MODEL_H
#define DORMOUSE_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "loop/http.h"
#include "loop/loop.h"

struct http_retry_policy;
struct model_exchange;
struct model_gateway;
struct rand;

/* ---- what is asked ---- */

enum model_role { MODEL_ROLE_NONE = 0, MODEL_USER, MODEL_ASSISTANT, MODEL_TOOL };

/* A tool call that a model made. */
struct model_call {
    struct str id;        /* unique within the reply: the provider's, or made by us */
    struct str name;      /* as on the wire: fs__list */
    struct str arguments; /* JSON text as received; "{}" when there was none */
    struct str problem;   /* in a reply: why it can't be executed (broken JSON ...); else empty */
};

struct model_message {
    enum model_role role;
    struct str text;
    /* assistant: */
    struct str thinking;
    struct str opaque; /* the provider's own form of what it must see again unchanged (JSON), or
                          empty; only sent back to the model_id that made it */
    struct str opaque_model;
    const struct model_call *calls;
    size_t call_count;
    /* tool: */
    struct str call_id, tool_name;
    bool failed;
};

struct model_tool {
    struct str name, description;
    struct str input_schema; /* JSON text */
};

/* Borrowed until model_start() returns; when it is stable, until on_done. */
struct model_request {
    const char *model_id; /* of the configuration, or "offline" */
    struct str system;    /* stable part first: prompt caches depend on it */
    const struct model_tool *tools;
    size_t tool_count;
    const struct model_message *messages;
    size_t message_count;
    /* When and where it is asked: read after everything else, and never part of what is the same in
     * the next request. Empty: nothing is said about it. */
    struct str present;
    int64_t max_output_tokens; /* 0: the provider's default */
    bool stable; /* all of it stays as it is until on_done, so that a long one need not be copied */
};

/* ---- what comes back ---- */

struct model_usage {
    int64_t input_tokens, output_tokens, cached_tokens;
    bool estimated; /* the provider said nothing */
    double cost;    /* by the configured prices; 0 when none are set */
};

enum model_stop {
    MODEL_STOP_NONE = 0,
    MODEL_STOP_END,    /* it is done talking */
    MODEL_STOP_CALLS,  /* it wants tools */
    MODEL_STOP_LENGTH, /* cut by the output limit; calls that were cut carry a problem */
    MODEL_STOP_FILTER, /* the provider's content filter; text is what came before */
};

/* Valid during the callback. Every text is valid UTF-8 without NUL, whatever was
 * received. */
struct model_reply {
    struct str text, thinking, opaque;
    const struct model_call *calls;
    size_t call_count;
    enum model_stop stop;
    struct model_usage usage;
    struct str model; /* as the provider named what answered; may be empty */
};

enum model_delta { MODEL_DELTA_NONE = 0, MODEL_DELTA_TEXT, MODEL_DELTA_THINKING };

/* on_done comes exactly once and ends the exchange. Failed (reply NULL): err->code is
 *   rate_limited       retry_after_ms says when to come back (-1: not said); a run rests until then
 *   context_too_long   the prompt does not fit
 *   provider_failed, timeout, too_large, network_denied, secret_unavailable,
 *   privacy_confirmation_required, model_not_allowed, bad_request, cancelled
 * What a broken stream had brought is not handed over as a reply. */
struct model_sink {
    void (*on_delta)(void *arg, enum model_delta kind, struct str text); /* may be NULL */
    void (*on_done)(void *arg, const struct model_reply *reply, const struct err *err,
                    int64_t retry_after_ms);
};

/* -1: nothing was sent and no callback comes. So end what is known without asking anybody: no such
 * model (model_not_allowed), no consent (privacy_confirmation_required), a key that would travel in
 * clear text or a request that can't be (bad_request), too many under way (rate_limited). A model
 * with a secret_ref hears of the request when its secret has come, so that one that is missing
 * (secret_unavailable) and a request that it can't take come through on_done. */
int model_start(struct model_gateway *gateway, const struct model_request *request,
                const struct model_sink *sink, void *arg, struct model_exchange **ret_exchange,
                struct err *err);
/* What its on_delta was told so far, in one piece: a view until the next delta. */
struct str model_said(struct model_exchange *exchange, enum model_delta kind);
/* on_done(cancelled) follows in a later tick, and no delta before it. */
void model_cancel(struct model_exchange *exchange);

/* ---- the gateway ---- */

/* A big model on a small machine reads a long prompt for minutes before its first byte. */
#define MODEL_FIRST_BYTE_MS (10 * 60 * 1000)
#define MODEL_IDLE_MS       (2 * 60 * 1000)
#define MODEL_TOTAL_MS      (30 * 60 * 1000)
/* Of a reply's text, of its thinking, of its calls' arguments together: too_large past it. */
#define MODEL_TEXT_MAX  (4u << 20)
#define MODEL_CALLS_MAX 128

/* A configured model; texts outlive the gateway. NULL where not set. */
struct model_spec {
    const char *id;
    const char *provider; /* openai, anthropic, functiongemma, offline, script, or "call" */
    const char *base_url, *model, *secret_ref;
    const char *script_path;             /* script: the YAML file */
    const char *server_path, *gguf_path; /* functiongemma: a llama-server to start and supervise */
    double price_input, price_output, price_cached; /* for a million tokens */
    int64_t context_tokens;                         /* 0: not known */
    bool privacy_trains;
    const char *policy_version, *retention, *jurisdiction;
    /* provider "call": the embedder's own (include/dormouse.h). */
    int (*call)(void *call_arg, const struct model_request *request, const struct model_sink *sink,
                void *arg, struct err *err);
    void *call_arg;
};

struct model_gateway_config {
    struct loop *loop;
    const struct model_spec *models; /* "offline" is always there besides */
    size_t model_count;
    /* NULL: one of its own, that reaches public and loopback addresses, and private ones that a
     * base_url names by number. */
    struct http_client *http;
    struct rand *rand; /* NULL: the system's */
    /* NULL: four attempts within 30 s; a server that asks for more than 10 s is not asked again
     * and the exchange ends as rate_limited. */
    const struct http_retry_policy *retry;
    struct http_limits limits; /* 0 where the gateway's own hold: MODEL_*_MS */
    /* The secret named by ref into *out (empty; wiped by the gateway after use), or -1 with
     * secret_unavailable. Called in a thread of the loop's pool, one call at a time, because it may
     * block; one that is under way outlives the gateway, so what it uses is freed after the loop.
     * NULL: there are none. */
    int (*secret)(void *arg, const char *ref, struct buf *out, struct err *err);
    /* 0 when a person has agreed to send text to this model's provider under its policy_version;
     * -1 with privacy_confirmation_required. Asked for every request to a provider beyond
     * loopback. NULL: nobody has. */
    int (*consent)(void *arg, const struct model_spec *spec, struct err *err);
    void *arg; /* for secret and consent */
};

int model_gateway_new(const struct model_gateway_config *config, struct model_gateway **ret_gateway,
                      struct err *err);
/* Cancels what is under way: every on_done is called before this returns. A supervised server is
 * told to end, a secret that is being fetched is not waited for: see model_wait(). Not from inside
 * a callback of an exchange. */
void model_gateway_free(struct model_gateway *gateway);
AUTO_DEFINE(model_gateway)
/* Runs the loop until what outlived its gateway has ended: servers (a second, rarely more), a
 * secret store that asks a person (until it gives up). Outside of loop_run() only, between
 * model_gateway_free() and loop_free(), with gateways of one loop only. Does nothing when there is
 * nothing. */
void model_wait(struct loop *loop);

/* One more, after those there are; at most MODEL_ADDED_MAX. conflict when there is one of this id.
 */
#define MODEL_ADDED_MAX 64
int model_gateway_add(struct model_gateway *gateway, const struct model_spec *spec,
                      struct err *err);

/* All of them, in the order of the configuration. */
const struct model_spec *model_specs(const struct model_gateway *gateway, size_t *ret_count);
/* NULL when there is no such model. "offline" is always found. */
const struct model_spec *model_spec_find(const struct model_gateway *gateway, const char *id);
/* Does text sent to it stay on this machine: offline, script, call, or a loopback base_url. */
bool model_spec_is_local(const struct model_spec *spec);
/* The host of a URL without user, port and brackets' port; empty when it has none. A view. */
struct str model_url_host(const char *url);
/* Where requests go when base_url is not set; NULL when the provider needs none, or needs one. */
const char *model_default_url(const char *provider);

#endif
