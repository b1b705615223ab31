/* The gateway: models by id, the table of providers, consent before anything leaves.
 *
 * model_start() decides everything that can be decided without the network, in this order: is
 * there such a model, would its key travel in clear text, did a person agree where text would leave
 * this machine. Then its secret is fetched (key.c), and only then does the provider hear of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/rand.h"
#include "base/uri.h"
#include "loop/dns.h"
#include "model/exchange_int.h"
#include "model/llama_server_int.h"

static const struct model_provider *const providers[] = {
    &model_provider_openai, &model_provider_anthropic, &model_provider_functiongemma,
    &model_provider_call,   &model_provider_offline,   &model_provider_script,
};

static const struct model_spec offline_spec = { .id = "offline", .provider = "offline" };

/* ---- specs ---- */

static const struct model_provider *provider_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(providers); i++)
        if (name && strcmp(providers[i]->name, name) == 0)
            return providers[i];
    return NULL;
}

const char *model_default_url(const char *provider)
{
    const struct model_provider *found = provider_find(provider);

    return found ? found->default_url : NULL;
}

static ptrdiff_t spec_index(const struct model_gateway *gateway, const char *id)
{
    for (size_t i = 0; id && i < gateway->spec_count; i++)
        if (strcmp(gateway->specs[i].id, id) == 0)
            return (ptrdiff_t)i;
    return -1;
}

const struct model_spec *model_specs(const struct model_gateway *gateway, size_t *ret_count)
{
    *ret_count = gateway->spec_count;
    return gateway->specs;
}

const struct model_spec *model_spec_find(const struct model_gateway *gateway, const char *id)
{
    ptrdiff_t i = spec_index(gateway, id);

    return i < 0 ? NULL : &gateway->specs[i];
}

struct str model_url_host(const char *url)
{
    struct uri uri = uri_split(str_from(url));
    struct str host = uri.authority;
    ptrdiff_t at = str_find_char(host, '@'), end;

    if (at >= 0)
        host = str_skip(host, (size_t)at + 1);
    end = host.n > 0 && host.p[0] == '[' ? str_find_char(host, ']') + 1 : str_find_char(host, ':');
    return end > 0 ? str_take(host, (size_t)end) : host;
}

static bool is_loopback(struct str host)
{
    struct dns_addr addr;
    int literal = dns_literal(host, &addr);

    if (literal > 0)
        return dns_class(&addr) == DNS_LOOPBACK;
    return literal == 0 && str_eq_nocase(host, STR("localhost"));
}

bool model_spec_is_local(const struct model_spec *spec)
{
    static const char *const within[] = { "offline", "script", "call" };

    for (size_t i = 0; i < ARRAY_LEN(within); i++)
        if (strcmp(spec->provider, within[i]) == 0)
            return true;
    if (!spec->base_url)
        return strcmp(spec->provider, "functiongemma") == 0;
    return is_loopback(model_url_host(spec->base_url));
}

/* ---- opening and closing ---- */

static int open_spec(struct model_gateway *gateway, size_t i, struct err *err)
{
    const struct model_spec *spec = &gateway->specs[i];
    const struct model_provider *provider = provider_find(spec->provider);

    if (!provider) /* the configuration's schema lists them; an embedder may err */
        return err_set(err, ERR_BAD_REQUEST, "model %s: there is no provider \"%s\"", spec->id,
                       spec->provider ? spec->provider : "");
    for (size_t k = 0; k < i; k++)
        if (strcmp(gateway->specs[k].id, spec->id) == 0)
            return err_set(err, ERR_BAD_REQUEST, "model %s: this id is used twice", spec->id);
    gateway->providers[i] = provider;
    if (provider->open && provider->open(gateway, spec, &gateway->shared[i], err) < 0)
        return err_wrap(err, "model %s", spec->id);
    return 0;
}

int model_gateway_new(const struct model_gateway_config *config, struct model_gateway **ret_gateway,
                      struct err *err)
{
    AUTO(model_gateway) gateway = NEW(struct model_gateway);
    size_t n = config->model_count;

    gateway->config = *config;
    gateway->spec_room = n + 1 + MODEL_ADDED_MAX; /* exchanges point to specs: they never move */
    gateway->specs = NEW_N(struct model_spec, gateway->spec_room);
    gateway->providers = NEW_N(const struct model_provider *, gateway->spec_room);
    gateway->shared = NEW_N(void *, gateway->spec_room);
    if (n > 0)
        memcpy(gateway->specs, config->models, n * sizeof(*config->models));
    gateway->spec_count = n;
    if (!model_spec_find(gateway, offline_spec.id) && provider_find(offline_spec.provider))
        gateway->specs[gateway->spec_count++] = offline_spec;
    for (size_t i = 0; i < gateway->spec_count; i++)
        if (open_spec(gateway, i, err) < 0)
            return -1;
    *ret_gateway = TAKE(gateway);
    return 0;
}

int model_gateway_add(struct model_gateway *gateway, const struct model_spec *spec, struct err *err)
{
    size_t i = gateway->spec_count;

    if (spec_index(gateway, spec->id) >= 0)
        return err_set(err, ERR_CONFLICT, "there is a model %s already", spec->id);
    if (i == gateway->spec_room)
        return err_set(
            err, ERR_CONFLICT,
            "model %s: %d models were added since the daemon was started; start it again", spec->id,
            MODEL_ADDED_MAX);
    gateway->specs[i] = *spec;
    if (open_spec(gateway, i, err) < 0)
        return -1;
    gateway->spec_count++;
    return 0;
}

void model_gateway_free(struct model_gateway *gateway)
{
    struct err closed = ERR_INIT;

    if (!gateway)
        return;
    gateway->closing = true;
    err_set(&closed, ERR_CANCELLED, "the model gateway is closed");
    for (struct model_exchange *x = gateway->exchanges; x; x = x->core->next)
        x->core->cancelled = true;
    key_close(gateway);
    http_client_free(TAKE(gateway->retry)); /* ends what waits for an answer */
    while (gateway->exchanges)
        exchange_fail(gateway->exchanges, &closed, -1);
    for (size_t i = 0; i < gateway->spec_count; i++)
        if (gateway->shared[i])
            gateway->providers[i]->close(gateway->shared[i]);
    http_client_free(gateway->own_http);
    free(gateway->specs);
    free(gateway->providers);
    free(gateway->shared);
    free(gateway);
}

struct pause {
    struct loop_timer timer; /* first */
    struct loop *loop;
};

static void end_pause(struct loop_timer *timer)
{
    loop_stop(((struct pause *)(void *)timer)->loop);
}

void model_wait(struct loop *loop)
{
    struct pause pause = { .timer = { .fire = end_pause }, .loop = loop };
    struct err err = ERR_INIT;

    while (llama_servers_living() || keys_fetching()) {
        loop_timer_start(loop, &pause.timer, 20);
        if (loop_run(loop, &err) < 0)
            return;
    }
}

/* The addresses that requests may go to: public ones, this machine, and those of a private network
 * that a base_url names by number. A name must not lead there: whoever answers for it would choose
 * what inside the network is spoken to. */
static bool may_connect(const struct dns_policy *policy, const struct dns_addr *addr)
{
    const struct model_gateway *gateway =
        (const struct model_gateway *)(const void *)((const char *)policy -
                                                     offsetof(struct model_gateway, policy));
    struct dns_addr named;

    if (dns_allowed(&dns_policy_public_and_loopback, addr))
        return true;
    for (size_t i = 0; i < gateway->spec_count && dns_class(addr) == DNS_PRIVATE; i++)
        if (gateway->specs[i].base_url &&
            dns_literal(model_url_host(gateway->specs[i].base_url), &named) > 0 &&
            dns_addr_eq(&named, addr))
            return true;
    return false;
}

static struct http_client *new_http(struct model_gateway *gateway)
{
    gateway->policy = (struct dns_policy){ .allow = may_connect };
    return http_client_new(gateway->config.loop,
                           &(struct http_options){ .policy = &gateway->policy });
}

/* Waits longer than these are the run's: it rests, and costs nothing meanwhile. */
static const struct http_retry_policy retry_policy = {
    .max_attempts = 4,
    .base_ms = 500,
    .cap_ms = 8000,
    .retry_after_cap_ms = 10000,
    .budget_ms = 30000,
};

struct http_client *exchange_http(struct model_exchange *x)
{
    struct model_gateway *gateway = x->gateway;

    if (!gateway->retry) {
        struct http_retry_policy policy =
            gateway->config.retry ? *gateway->config.retry : retry_policy;
        struct http_client *inner = gateway->config.http;

        if (!inner)
            inner = gateway->own_http = new_http(gateway);
        policy.rand = exchange_rand(x);
        gateway->retry = http_retry_new(gateway->config.loop, inner, &policy);
    }
    return gateway->retry;
}

/* ---- one exchange ---- */

static int check_consent(const struct model_gateway *gateway, const struct model_spec *spec,
                         struct err *err)
{
    if (model_spec_is_local(spec))
        return 0;
    if (!gateway->config.consent)
        return err_set(err, ERR_PRIVACY_CONFIRMATION_REQUIRED,
                       "text would leave this machine for model %s, and nobody has agreed to that:"
                       " dormouse model consent %s",
                       spec->id, spec->id);
    return gateway->config.consent(gateway->config.arg, spec, err);
}

static int check_request(const struct model_gateway *gateway, const struct model_request *request,
                         struct err *err)
{
    if (gateway->closing)
        return err_set(err, ERR_CANCELLED, "the model gateway is closed");
    if (request->message_count == 0)
        return err_set(err, ERR_BAD_REQUEST, "a request to a model needs at least one message");
    return 0;
}

/* A key in clear text is everybody's on the way. In one's own network that is one's own affair. */
static int check_wire(const struct model_spec *spec, struct err *err)
{
    struct str host;
    struct dns_addr addr;

    if (!spec->secret_ref || !spec->base_url || model_spec_is_local(spec) ||
        !str_eq_nocase(uri_split(str_from(spec->base_url)).scheme, STR("http")))
        return 0;
    host = model_url_host(spec->base_url);
    if (dns_literal(host, &addr) > 0 && dns_class(&addr) == DNS_PRIVATE)
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "model %s: the key \"%s\" would go to %.*s unencrypted: set base_url to an"
                   " https:// address, or take secret_ref away",
                   spec->id, spec->secret_ref, STR_ARG(host));
}

int exchange_go(struct model_exchange *x, struct err *err)
{
    /* Fetching a secret may have taken a while. */
    if (x->core->key && check_consent(x->gateway, x->spec, err) < 0)
        return -1;
    x->core->key = KEY_NONE;
    if (x->provider->start(x, err) < 0)
        return -1;
    x->core->started = true;
    return 0;
}

static struct model_exchange *exchange_new(struct model_gateway *gateway, size_t i,
                                           const struct model_request *request,
                                           const struct model_sink *sink, void *arg)
{
    struct model_exchange *x = NEW(struct model_exchange);

    x->gateway = gateway;
    x->spec = &gateway->specs[i];
    x->provider = gateway->providers[i];
    x->shared = gateway->shared[i];
    exchange_init(x, sink, arg);
    exchange_take_request(x, request);
    return x;
}

int model_start(struct model_gateway *gateway, const struct model_request *request,
                const struct model_sink *sink, void *arg, struct model_exchange **ret_exchange,
                struct err *err)
{
    ptrdiff_t i = spec_index(gateway, request->model_id);
    struct model_exchange *x;

    if (check_request(gateway, request, err) < 0)
        return -1;
    if (i < 0)
        return err_set(err, ERR_MODEL_NOT_ALLOWED,
                       "there is no model \"%s\" in the configuration: see dormouse model list",
                       request->model_id ? request->model_id : "");
    if (check_wire(&gateway->specs[i], err) < 0 ||
        check_consent(gateway, &gateway->specs[i], err) < 0)
        return -1;
    x = exchange_new(gateway, (size_t)i, request, sink, arg);
    if ((x->spec->secret_ref ? key_want(x, err) : exchange_go(x, err)) < 0) {
        exchange_free(x);
        return -1;
    }
    x->core->next = gateway->exchanges;
    if (x->core->next)
        x->core->next->core->prev = x;
    gateway->exchanges = x;
    *ret_exchange = x;
    return 0;
}

static void fail_cancelled(struct model_exchange *x)
{
    exchange_fail(x, &x->core->failure, -1);
}

void model_cancel(struct model_exchange *x)
{
    if (x->core->cancelled)
        return;
    x->core->cancelled = true;
    x->core->key = KEY_NONE;
    if (x->core->started && x->provider->cancel)
        x->provider->cancel(x);
    else
        exchange_soon(x, fail_cancelled, 0);
}
