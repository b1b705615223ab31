/* One exchange from the inside: what gateway.c, request.c and exchange.c share. Providers use
 * provider_int.h only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_EXCHANGE_INT_H
#define DORMOUSE_MODEL_EXCHANGE_INT_H

#include "loop/dns.h"
#include "loop/http.h"
#include "loop/http_retry.h"
#include "model/provider_int.h"

struct model_gateway {
    struct model_gateway_config config;
    struct model_spec *specs; /* the configured ones, then "offline" unless it is among them */
    const struct model_provider **providers; /* of each */
    void **shared;                           /* what their open() made */
    size_t spec_count, spec_room;
    struct http_client *own_http, *retry; /* made when first needed */
    struct dns_policy policy;             /* of own_http */
    struct model_exchange *exchanges;     /* under way, newest first */
    struct key_job *key_job;              /* the secret that is being fetched, or NULL */
    bool closing;
};

/* Where an exchange stands with the secret of its model: see key.c. */
enum key_state { KEY_NONE = 0, KEY_WANTED, KEY_COME };

/* Text of one kind, and the first bytes of a character whose rest has not come. */
struct collected {
    struct buf all;
    char tail[4];
    size_t tail_n;
};

struct model_exchange_core {
    struct model_exchange *prev, *next;
    struct model_sink sink;
    void *arg;
    struct loop_timer timer; /* exchange_soon() */
    void (*soon)(struct model_exchange *x);
    struct collected text, thinking;
    struct buf opaque, model, mended;
    struct model_call *calls;
    size_t call_count, call_cap, call_bytes;
    int64_t input, output, cached; /* -1: not said */
    enum key_state key;
    struct buf secret;  /* registered with redact until the end */
    bool started;       /* its provider knows of it */
    struct err failure; /* of the answer itself: whatever the provider ends it with */
    struct model_exchange *self;
    bool cancelled;
};

/* A stable one as it is, else a deep copy into x->arena. What only its own model may see again is
 * left out for others. */
void exchange_take_request(struct model_exchange *x, const struct model_request *request);
/* Tokens of the request by rule of thumb. */
int64_t exchange_estimate_input(const struct model_request *request);

/* Hands the exchange to its provider. */
int exchange_go(struct model_exchange *x, struct err *err);

/* ---- key.c ---- */

/* Fetches the secret of x's model; exchange_go() follows in a later tick, or the exchange fails. */
int key_want(struct model_exchange *x, struct err *err);
/* The gateway goes; a fetch that is under way ends unheard. */
void key_close(struct model_gateway *gateway);
/* Fetches under way, those of gateways that were freed included. */
unsigned keys_fetching(void);

void exchange_init(struct model_exchange *x, const struct model_sink *sink, void *arg);
/* Frees it without a word: for an exchange that did not start. */
void exchange_free(struct model_exchange *x);

#endif
