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

#define MODEL_SECRET_MAX 8192

struct model_exchange;

struct model_provider {
    const char *name;
    const char *default_url; /* where requests go without a base_url; NULL: one must be set */
    /* request is the exchange's own copy and lives as long as it. Nothing is handed over before
     * start has returned: use exchange_soon() when the answer is there at once. */
    int (*start)(struct model_exchange *x, struct err *err);
    /* exchange_fail() must follow in a later tick. NULL: nothing needs to be told; the gateway ends
     * the exchange in the next tick. */
    void (*cancel)(struct model_exchange *x);
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
/* Tries again what may be (requests that are marked safe): see loop/http_retry.h. */
struct http_client *exchange_http(struct model_exchange *x);
struct rand *exchange_rand(struct model_exchange *x);
/* The model's key, empty when it has no secret_ref. Lives as long as the exchange, is wiped with it
 * and known to redact() until then: whoever copies it wipes the copy. */
struct str exchange_secret(const struct model_exchange *x);
/* fn runs in a later tick, unless the exchange ended before. One at a time: a later call takes the
 * place of one that waits. */
void exchange_soon(struct model_exchange *x, void (*fn)(struct model_exchange *x),
                   int64_t delay_ms);

/* Text is collected for the reply and handed to the client; invalid UTF-8 is mended, characters
 * that are cut between two deltas included. -1 past MODEL_TEXT_MAX: stop and end the exchange;
 * whatever it is ended with, it is too_large then. */
int exchange_delta(struct model_exchange *x, enum model_delta kind, struct str text);
/* What was collected so far; valid until the next delta. */
struct str exchange_text(struct model_exchange *x, enum model_delta kind);
/* A call of the reply, in order; -1 as above. Ids that are missing or used twice are replaced;
 * arguments that are no JSON object get a problem. */
int exchange_call(struct model_exchange *x, struct str id, struct str name, struct str arguments,
                  struct str problem);
void exchange_opaque(struct model_exchange *x, struct str json);
/* -1 for numbers that the provider did not say. */
void exchange_usage(struct model_exchange *x, int64_t input, int64_t output, int64_t cached);
void exchange_model(struct model_exchange *x, struct str name);
/* Exactly one of these two, once; x is gone when it returns. END with calls is CALLS and the other
 * way round. err may be anything but NULL; after model_cancel() it is cancelled. */
void exchange_finish(struct model_exchange *x, enum model_stop stop);
void exchange_fail(struct model_exchange *x, const struct err *err, int64_t retry_after_ms);

#endif
