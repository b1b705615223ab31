/* What a provider implements; the table of them is in gateway.c.
 *
 * A provider turns one request into what its server understands, feeds what comes back into the
 * exchange, and ends it. Token counting, cost, consent, secrets and cancelling are the gateway's.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_PROVIDER_INT_H
#define DORMOUSE_MODEL_PROVIDER_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/model.h"

struct model_exchange;

struct model_provider {
    const char *name;
    /* request is the exchange's own copy and lives as long as it. Nothing is handed over before
     * start has returned: use exchange_soon() when the answer is there at once. */
    int (*start)(struct model_exchange *x, struct err *err);
    void (*cancel)(
        struct model_exchange *x); /* exchange_fail(cancelled) must follow or have come */
    void (*release)(struct model_exchange *x); /* frees x->state; may be NULL */
    /* Something that lives with the gateway (a supervised server, a loaded script); may be NULL. */
    int (*open)(struct model_gateway *gateway, const struct model_spec *spec, void **ret_shared,
                struct err *err);
    void (*close)(void *shared);
};

extern const struct model_provider model_provider_openai, model_provider_anthropic,
    model_provider_functiongemma, model_provider_script, model_provider_offline,
    model_provider_call;

struct model_exchange {
    struct model_gateway *gateway;
    const struct model_spec *spec;
    const struct model_provider *provider;
    struct model_request request; /* deep copy in arena */
    struct arena arena;
    void *state;  /* the provider's own */
    void *shared; /* what its open() made for this spec, or NULL */
    /* The rest is the gateway's: see gateway.c. */
    struct model_exchange_core *core;
};

struct loop *exchange_loop(struct model_exchange *x);
struct http_client *exchange_http(struct model_exchange *x);
struct rand *exchange_rand(struct model_exchange *x);
/* The provider's key, or -1 (secret_unavailable). Clear it after use. With no secret_ref: 0 and
 * nothing is appended. */
int exchange_secret(struct model_exchange *x, struct buf *out, struct err *err);
/* fn runs in the next tick, unless the exchange ended before. */
void exchange_soon(struct model_exchange *x, void (*fn)(struct model_exchange *x),
                   int64_t delay_ms);

/* Text is collected for the reply and handed to the client; invalid UTF-8 is mended, characters
 * that are cut between two deltas included. too_large past the gateway's cap: the exchange has
 * failed then, -1. */
int exchange_delta(struct model_exchange *x, enum model_delta kind, struct str text);
/* A call of the reply. Ids that are missing or used twice are replaced; arguments that are no JSON
 * object get a problem. */
int exchange_call(struct model_exchange *x, struct str id, struct str name, struct str arguments,
                  struct str problem);
void exchange_opaque(struct model_exchange *x, struct str json);
/* -1 for numbers that the provider did not say. */
void exchange_usage(struct model_exchange *x, int64_t input, int64_t output, int64_t cached);
void exchange_model(struct model_exchange *x, struct str name);
/* Exactly one of these two, once; x is gone when it returns. */
void exchange_finish(struct model_exchange *x, enum model_stop stop);
void exchange_fail(struct model_exchange *x, const struct err *err, int64_t retry_after_ms);

#endif
