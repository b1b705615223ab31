/* libcurl's multi handle in the libuv loop.
 *
 * libcurl says which sockets it waits for (uv_poll) and when it wants to be called (a loop timer);
 * both end in multi_socket_action(), and transfers that ended there are taken out afterwards,
 * outside libcurl, where handlers may do what they like. The handlers' callbacks for heads and data
 * run inside libcurl: what they ask for then (cancel, resume) is done in a later tick.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <uv.h>

#include "loop/http_curl_int.h"

#define ACTIVE_DEFAULT 64
#define KEPT_DEFAULT   16

struct socket_watch {
    uv_poll_t poll; /* first */
    struct curl_client *client;
    curl_socket_t fd;
    int events;
};

static void release(struct curl_client *client)
{
    dns_resolver_free(client->own_resolver);
    arena_release(&client->arena);
    free(client);
}

void http_client_enter(struct curl_client *client)
{
    client->depth++;
}

void http_client_leave(struct curl_client *client)
{
    if (--client->depth == 0 && client->freed)
        release(client);
}

/* ---- driving libcurl ---- */

static void collect_done(struct curl_client *client)
{
    CURLMsg *message;
    int left;

    while (!client->freed && (message = client->lib->multi_info_read(client->multi, &left))) {
        struct transfer *transfer = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        client->lib->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        http_transfer_done(transfer, message->data.result);
    }
}

static void drive(struct curl_client *client, curl_socket_t fd, int events)
{
    int running;

    http_client_enter(client);
    client->in_curl = true;
    client->lib->multi_socket_action(client->multi, fd, events, &running);
    client->in_curl = false;
    collect_done(client);
    http_client_leave(client);
}

static void on_curl_timer(struct loop_timer *timer)
{
    struct curl_client *client =
        (struct curl_client *)((char *)timer - offsetof(struct curl_client, timer));

    drive(client, CURL_SOCKET_TIMEOUT, 0);
}

static int set_curl_timer(CURLM *multi, long timeout_ms, void *arg)
{
    struct curl_client *client = arg;

    (void)multi;
    if (timeout_ms < 0)
        loop_timer_stop(client->loop, &client->timer);
    else
        loop_timer_start(client->loop, &client->timer, timeout_ms);
    return 0;
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
    struct socket_watch *watch = (struct socket_watch *)poll;
    int bits = 0;

    if (status < 0) {
        /* A reset, and libuv has stopped watching. Bytes that came before it are still there to be
         * read, so libcurl shall go on until reading itself fails. */
        events = UV_READABLE | UV_WRITABLE;
        uv_poll_start(poll, watch->events, on_socket);
    }
    if (events & UV_READABLE)
        bits |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        bits |= CURL_CSELECT_OUT;
    drive(watch->client, watch->fd, bits);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static struct socket_watch *watch_new(struct curl_client *client, curl_socket_t fd)
{
    struct socket_watch *watch = NEW(struct socket_watch);

    if (uv_poll_init(loop_uv(client->loop), &watch->poll, fd) < 0) {
        free(watch);
        return NULL;
    }
    watch->client = client;
    watch->fd = fd;
    client->lib->multi_assign(client->multi, fd, watch);
    return watch;
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct curl_client *client = arg;
    struct socket_watch *watch = socket_arg;
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watch) {
            client->lib->multi_assign(client->multi, fd, NULL);
            uv_close((uv_handle_t *)&watch->poll, on_closed);
        }
        return 0;
    }
    if (!watch && !(watch = watch_new(client, fd)))
        return -1;
    watch->events = events;
    return uv_poll_start(&watch->poll, events, on_socket) < 0 ? -1 : 0;
}

static int open_multi(struct curl_client *client, struct err *err)
{
    const struct http_lib *lib;

    if (http_lib_load(&lib, err) < 0)
        return -1;
    client->multi = http_lib_multi(lib);
    if (!client->multi)
        return err_set(err, ERR_INTERNAL, "libcurl: no multi handle");
    client->lib = lib;
    lib->multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    lib->multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    lib->multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, set_curl_timer);
    lib->multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    lib->multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)client->max_kept);
    return 0;
}

/* ---- struct http_ops ---- */

static int client_start(struct http_client *base, const struct http_request *request,
                        const struct http_handler *handler, void *arg,
                        struct http_exchange **ret_exchange, struct err *err)
{
    struct curl_client *client = (struct curl_client *)base;
    struct transfer *transfer;

    BUG_IF(client->freed);
    if (!client->lib && open_multi(client, err) < 0)
        return -1;
    if (client->active >= client->max_active)
        return err_set(err, ERR_RATE_LIMITED, "%u requests are under way, which is the limit",
                       client->active);
    if (http_transfer_start(client, request, handler, arg, &transfer, err) < 0)
        return -1;
    *ret_exchange = &transfer->exchange;
    return 0;
}

static void client_cancel(struct http_exchange *x)
{
    http_transfer_cancel((struct transfer *)x);
}

static void client_resume(struct http_exchange *x)
{
    http_transfer_resume((struct transfer *)x);
}

static void client_source_ready(struct http_exchange *x)
{
    http_transfer_source_ready((struct transfer *)x);
}

static void client_free(struct http_client *base)
{
    struct curl_client *client = (struct curl_client *)base;

    BUG_IF(client->in_curl || client->freed);
    http_client_enter(client);
    client->freed = true; /* a handler can't start another */
    while (client->transfers) {
        http_transfer_fail(client->transfers, ERR_CANCELLED, "the HTTP client is closed");
        http_transfer_abort(client->transfers);
    }
    if (client->multi)
        client->lib->multi_cleanup(client->multi);
    loop_timer_stop(client->loop, &client->timer);
    http_client_leave(client);
}

static const struct http_ops curl_ops = {
    .start = client_start,
    .cancel = client_cancel,
    .resume = client_resume,
    .source_ready = client_source_ready,
    .free = client_free,
};

static const char *keep(struct curl_client *client, const char *text)
{
    return text ? arena_text(&client->arena, text) : NULL;
}

struct http_client *http_client_new(struct loop *loop, const struct http_options *options)
{
    static const struct http_options none = { .policy = NULL };
    struct curl_client *client = NEW(struct curl_client);

    BUG_IF(!loop_uv(loop)); /* a fake loop takes http_fake_new() */
    if (!options)
        options = &none;
    client->client.ops = &curl_ops;
    client->loop = loop;
    client->timer.fire = on_curl_timer;
    client->policy = options->policy ? options->policy : &dns_policy_public_and_loopback;
    if (!options->resolver)
        client->own_resolver = dns_resolver_system(loop);
    client->resolver = options->resolver ? options->resolver : client->own_resolver;
    client->max_active = options->max_active ? options->max_active : ACTIVE_DEFAULT;
    client->max_kept = options->max_kept ? options->max_kept : KEPT_DEFAULT;
    client->proxy_url = keep(client, options->proxy_url);
    client->no_proxy = keep(client, options->no_proxy);
    client->ca_file = keep(client, options->ca_file);
    client->ca_path = keep(client, options->ca_path);
    client->user_agent = keep(client, options->user_agent);
    return &client->client;
}
