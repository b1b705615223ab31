/* One exchange from start to on_done: look up, connect, send, wait, read, perhaps follow.
 *
 * A phase has one timer, the whole has another. Whatever goes wrong is noted once in `fail`; inside
 * libcurl the callback then returns an error and libcurl hands the transfer back, elsewhere it is
 * taken from libcurl at once (addresses are pinned, so there is no lookup that could block). All
 * ways lead through finish(), which calls on_done exactly once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <openssl/x509.h>
#include <stdlib.h>

#include "base/timefmt.h"
#include "loop/http_curl_int.h"

#define STOOD_STILL_MS 1000 /* no loop that only has much to do comes that late */

#define OF(member, timer_)                                                                         \
    ((struct transfer *)(void *)((char *)(timer_)-offsetof(struct transfer, member)))

static struct loop *loop_of(struct transfer *transfer)
{
    return transfer->client->loop;
}

static int64_t elapsed_ms(struct transfer *transfer)
{
    return clock_mono_ms(loop_clock(loop_of(transfer))) - transfer->started_ms;
}

int http_transfer_fail(struct transfer *transfer, enum err_code code, const char *fmt, ...)
{
    char origin[HTTP_ORIGIN_TEXT];
    va_list args;

    if (transfer->fail.code)
        return -1;
    va_start(args, fmt);
    err_set_v(&transfer->fail, code, fmt, args);
    va_end(args);
    return err_wrap(&transfer->fail, "%s %s", transfer->request.method,
                    http_origin_text(&transfer->url, origin));
}

/* ---- phases and time ---- */

static int64_t phase_limit(const struct transfer *transfer)
{
    const struct http_limits *limits = &transfer->request.limits;

    switch (transfer->phase) {
    case HTTP_PHASE_RESOLVE:
    case HTTP_PHASE_CONNECT:
    case HTTP_PHASE_TLS:
        return limits->connect_ms;
    case HTTP_PHASE_SEND:
        return transfer->source_waits ? HTTP_NEVER : limits->idle_ms;
    case HTTP_PHASE_WAIT:
        return limits->first_byte_ms;
    case HTTP_PHASE_BODY:
        return transfer->paused ? HTTP_NEVER : limits->idle_ms;
    default:
        return HTTP_NEVER;
    }
}

void http_transfer_moved(struct transfer *transfer)
{
    int64_t limit = phase_limit(transfer);

    if (limit < 0)
        loop_timer_stop(loop_of(transfer), &transfer->phase_timer);
    else
        loop_timer_start(loop_of(transfer), &transfer->phase_timer, limit);
}

void http_transfer_enter(struct transfer *transfer, enum http_phase phase)
{
    transfer->phase = phase;
    http_transfer_moved(transfer);
}

static void on_phase_timer(struct loop_timer *timer)
{
    struct transfer *transfer = OF(phase_timer, timer);
    char span[TIMEFMT_SPAN_SIZE];

    http_transfer_fail(transfer, ERR_TIMEOUT, "%s: nothing happened for %s",
                       http_phase_name(transfer->phase), timefmt_span(phase_limit(transfer), span));
    http_transfer_abort(transfer);
}

static void on_total_timer(struct loop_timer *timer)
{
    struct transfer *transfer = OF(total_timer, timer);
    int64_t late_ms = clock_mono_ms(loop_clock(loop_of(transfer))) - timer->due_ms;
    char span[TIMEFMT_SPAN_SIZE];

    /* The loop stood still: what the peer sent in time lies in the socket and takes several rounds
     * to be read. The exchange gets the time back that it could not use. */
    if (late_ms > STOOD_STILL_MS) {
        loop_timer_start(loop_of(transfer), timer, late_ms);
        return;
    }
    http_transfer_fail(transfer, ERR_TIMEOUT, "%s: not finished after %s",
                       http_phase_name(transfer->phase),
                       timefmt_span(transfer->request.limits.total_ms, span));
    http_transfer_abort(transfer);
}

static void stop_timers(struct transfer *transfer)
{
    loop_timer_stop(loop_of(transfer), &transfer->phase_timer);
    loop_timer_stop(loop_of(transfer), &transfer->total_timer);
    loop_timer_stop(loop_of(transfer), &transfer->later);
}

/* ---- the end ---- */

static void leave_multi(struct transfer *transfer)
{
    struct curl_client *client = transfer->client;

    if (transfer->in_multi)
        client->lib->multi_remove_handle(client->multi, transfer->easy);
    transfer->in_multi = false;
}

static void unlink_transfer(struct transfer *transfer)
{
    if (transfer->prev)
        transfer->prev->next = transfer->next;
    else
        transfer->client->transfers = transfer->next;
    if (transfer->next)
        transfer->next->prev = transfer->prev;
    transfer->client->active--;
}

static void transfer_free(struct transfer *transfer)
{
    http_setup_release(transfer);
    http_answer_release(transfer);
    arena_release(&transfer->arena);
    free(transfer);
}

static void finish(struct transfer *transfer)
{
    struct curl_client *client = transfer->client;
    struct http_result result = {
        .err = transfer->fail,
        .phase = transfer->fail.code ? transfer->phase : HTTP_PHASE_DONE,
        .status = transfer->head_done ? transfer->status : 0,
        .resolve_ms = transfer->resolve_ms,
        .connect_ms = transfer->connect_ms,
        .first_byte_ms = transfer->first_byte_ms,
        .total_ms = elapsed_ms(transfer),
        .sent_bytes = transfer->sent_bytes,
        .header_bytes = transfer->header_bytes,
        .body_bytes = transfer->body_bytes,
        .attempts = 1,
        .redirects = transfer->redirects,
        .reused = transfer->reused,
    };

    BUG_IF(client->in_curl);
    stop_timers(transfer);
    dns_cancel(&transfer->lookup);
    leave_multi(transfer);
    unlink_transfer(transfer);
    http_client_enter(client);
    transfer->handler.on_done(&transfer->exchange, &result, transfer->arg);
    transfer_free(transfer);
    http_client_leave(client);
}

void http_transfer_abort(struct transfer *transfer)
{
    BUG_IF(!transfer->fail.code);
    finish(transfer);
}

/* ---- one hop ---- */

static void do_later(struct transfer *transfer)
{
    loop_timer_start(loop_of(transfer), &transfer->later, 0);
}

static void connect_to_pins(struct transfer *transfer)
{
    struct curl_client *client = transfer->client;

    http_transfer_enter(transfer, HTTP_PHASE_CONNECT);
    if (http_setup(transfer) < 0) {
        do_later(transfer);
        return;
    }
    if (client->lib->multi_add_handle(client->multi, transfer->easy) != CURLM_OK) {
        http_transfer_fail(transfer, ERR_INTERNAL, "libcurl does not take the request");
        do_later(transfer);
        return;
    }
    transfer->in_multi = true;
}

/* The proxy's address is the user's own choice, the policy is for those of others. */
static void pin(struct transfer *transfer, const struct dns_addr *addrs, size_t n)
{
    transfer->n_pins = 0;
    for (size_t i = 0; i < n; i++)
        if (transfer->proxied || dns_allowed(transfer->client->policy, &addrs[i]))
            transfer->pins[transfer->n_pins++] = addrs[i];
}

static int deny(struct transfer *transfer, const struct dns_addr *addr)
{
    char text[DNS_ADDR_TEXT];

    return http_transfer_fail(transfer, ERR_NETWORK_DENIED, "the %s address %s is not allowed",
                              dns_class_name(dns_class(addr)), dns_addr_text(addr, text));
}

static void on_resolved(struct dns_lookup *lookup, const struct dns_answer *answer)
{
    struct transfer *transfer = OF(lookup, lookup);
    struct curl_client *client = transfer->client;

    http_client_enter(client);
    transfer->resolve_ms = elapsed_ms(transfer);
    pin(transfer, answer->addrs, answer->n);
    if (answer->n == 0)
        http_transfer_fail(transfer, answer->err.code, "%s", err_message(&answer->err, 0));
    else if (transfer->n_pins == 0)
        deny(transfer, &answer->addrs[0]);
    if (transfer->fail.code)
        finish(transfer);
    else
        connect_to_pins(transfer);
    http_client_leave(client);
}

static const char *proxy_for(const struct transfer *transfer)
{
    const char *proxy =
        transfer->request.proxy_url ? transfer->request.proxy_url : transfer->client->proxy_url;
    const char *no_proxy =
        transfer->request.no_proxy ? transfer->request.no_proxy : transfer->client->no_proxy;

    if (!proxy || !*proxy || http_no_proxy(no_proxy, &transfer->url))
        return NULL;
    return proxy;
}

/* What can be said of the target without a lookup. Names behind a proxy are the proxy's to judge.
 */
static int check_target(struct transfer *transfer)
{
    static const struct dns_addr loopback = { .bytes = { 127, 0, 0, 1 } };
    const struct dns_addr *addr = NULL;

    if (transfer->url.numeric)
        addr = &transfer->url.addr;
    else if (transfer->proxied && http_is_localhost(&transfer->url))
        addr = &loopback;
    if (addr && !dns_allowed(transfer->client->policy, addr))
        return deny(transfer, addr);
    return 0;
}

/* Looks up the host of this hop, or goes on at once when it is an address. -1 with fail set. */
static int begin_hop(struct transfer *transfer)
{
    const char *proxy = proxy_for(transfer);
    const struct http_url *first = &transfer->url;
    struct err err = ERR_INIT;

    transfer->begun = true;
    transfer->proxied = proxy != NULL;
    http_transfer_enter(transfer, HTTP_PHASE_RESOLVE);
    if (check_target(transfer) < 0)
        return -1;
    if (proxy) {
        if (http_proxy_parse(proxy, &transfer->proxy, &err) < 0)
            return http_transfer_fail(transfer, err.code, "%s", err_message(&err, 0));
        first = &transfer->proxy;
    }
    if (first->numeric) {
        transfer->resolve_ms = elapsed_ms(transfer);
        pin(transfer, &first->addr, 1);
        connect_to_pins(transfer);
        return 0;
    }
    if (dns_start(transfer->client->resolver, &transfer->lookup, first->host, on_resolved, &err) <
        0)
        return http_transfer_fail(transfer, err.code, "%s", err_message(&err, 0));
    return 0;
}

/* ---- libcurl's verdict ---- */

static const char *certificate_fault(struct transfer *transfer)
{
    long verify = X509_V_OK;

    transfer->client->lib->easy_getinfo(transfer->easy, CURLINFO_SSL_VERIFYRESULT, &verify);
    /* libcurl compares names before it asks for the chain's result, which is unspecified till then.
     */
    if (verify == X509_V_OK || verify == X509_V_ERR_UNSPECIFIED)
        return "it is not for this host";
    return X509_verify_cert_error_string(verify);
}

static void fail_connect(struct transfer *transfer, CURLcode code)
{
    const struct http_lib *lib = transfer->client->lib;
    long number = 0;

    lib->easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &number);
    http_transfer_fail(transfer, ERR_PROVIDER_FAILED, "connect: %s",
                       number ? strerror((int)number) : lib->easy_strerror(code));
}

static void fail_by_code(struct transfer *transfer, CURLcode code)
{
    const struct http_lib *lib = transfer->client->lib;
    long proxy_status = 0;

    switch (code) {
    case CURLE_COULDNT_CONNECT:
        fail_connect(transfer, code);
        return;
    case CURLE_PEER_FAILED_VERIFICATION:
        transfer->phase = HTTP_PHASE_TLS;
        http_transfer_fail(transfer, ERR_PROVIDER_FAILED, "the server's certificate is refused: %s",
                           certificate_fault(transfer));
        return;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
        transfer->phase = HTTP_PHASE_TLS;
        http_transfer_fail(transfer, ERR_PROVIDER_FAILED, "TLS: %s", lib->easy_strerror(code));
        return;
    case CURLE_OPERATION_TIMEDOUT:
        http_transfer_fail(transfer, ERR_TIMEOUT, "%s: timed out",
                           http_phase_name(transfer->phase));
        return;
    default:
        lib->easy_getinfo(transfer->easy, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
        if (proxy_status >= 300 && transfer->phase == HTTP_PHASE_CONNECT)
            http_transfer_fail(transfer, ERR_PROVIDER_FAILED, "connect: the proxy answered %ld",
                               proxy_status);
        else
            http_transfer_fail(transfer, ERR_PROVIDER_FAILED, "%s: %s",
                               http_phase_name(transfer->phase), lib->easy_strerror(code));
    }
}

static void next_hop(struct transfer *transfer)
{
    transfer->phase = HTTP_PHASE_REDIRECT;
    if (http_redirect_take(transfer) < 0) {
        finish(transfer);
        return;
    }
    http_answer_reset(transfer);
    transfer->n_pins = 0;
    if (begin_hop(transfer) < 0)
        finish(transfer);
}

static void note_reuse(struct transfer *transfer)
{
    long connects = 1;

    transfer->client->lib->easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &connects);
    transfer->reused = connects == 0;
}

/* A kept connection that the server had closed is found out by sending; libcurl tries again only
 * when it finds out by reading. Once, and only what may be sent twice. */
static bool send_again(struct transfer *transfer, CURLcode code)
{
    if (code != CURLE_SEND_ERROR || !transfer->reused || transfer->again || transfer->fail.code ||
        transfer->header_bytes > 0 || !http_may_repeat(&transfer->request) ||
        transfer->request.source)
        return false;
    transfer->again = true;
    http_answer_reset(transfer);
    transfer->n_pins = 0;
    if (begin_hop(transfer) < 0)
        finish(transfer);
    return true;
}

void http_transfer_done(struct transfer *transfer, CURLcode code)
{
    note_reuse(transfer);
    leave_multi(transfer);
    if (send_again(transfer, code))
        return;
    if (transfer->fail.code == ERR_NONE && transfer->redirect &&
        (code == CURLE_OK || transfer->drained)) {
        next_hop(transfer);
        return;
    }
    if (code != CURLE_OK)
        fail_by_code(transfer, code);
    if (!transfer->fail.code && transfer->paused) {
        transfer->held = true;
        stop_timers(transfer);
        return;
    }
    finish(transfer);
}

/* ---- what callers ask for ---- */

/* Cancelled, failed before it began, resumed, or a source woke up: outside any caller's call. */
static void on_later(struct loop_timer *timer)
{
    struct transfer *transfer = OF(later, timer);
    struct curl_client *client = transfer->client;
    int bits =
        (transfer->paused ? CURLPAUSE_RECV : 0) | (transfer->source_waits ? CURLPAUSE_SEND : 0);

    if (!transfer->fail.code && !transfer->begun && begin_hop(transfer) == 0)
        return;
    if (transfer->fail.code || (transfer->held && !transfer->paused)) {
        finish(transfer);
        return;
    }
    if (!transfer->in_multi)
        return;
    http_transfer_moved(transfer);
    client->in_curl = true;
    client->lib->easy_pause(transfer->easy, bits);
    client->in_curl = false;
}

void http_transfer_cancel(struct transfer *transfer)
{
    http_transfer_fail(transfer, ERR_CANCELLED, "the request was cancelled");
    do_later(transfer);
}

void http_transfer_resume(struct transfer *transfer)
{
    if (!transfer->paused)
        return;
    transfer->paused = false;
    do_later(transfer);
}

void http_transfer_source_ready(struct transfer *transfer)
{
    if (!transfer->source_waits)
        return;
    transfer->source_waits = false;
    do_later(transfer);
}

int http_transfer_start(struct curl_client *client, const struct http_request *request,
                        const struct http_handler *handler, void *arg,
                        struct transfer **ret_transfer, struct err *err)
{
    struct transfer *transfer = NEW(struct transfer);

    transfer->exchange.client = &client->client;
    transfer->client = client;
    transfer->handler = *handler;
    transfer->arg = arg;
    transfer->resolve_ms = transfer->connect_ms = transfer->first_byte_ms = -1;
    transfer->phase_timer.fire = on_phase_timer;
    transfer->total_timer.fire = on_total_timer;
    transfer->later.fire = on_later;
    transfer->started_ms = clock_mono_ms(loop_clock(client->loop));
    http_request_copy(&transfer->arena, request, &transfer->request);
    if (http_url_parse(transfer->request.url, &transfer->url, err) < 0) {
        transfer_free(transfer);
        return -1;
    }
    http_answer_reset(transfer);
    transfer->next = client->transfers;
    if (transfer->next)
        transfer->next->prev = transfer;
    client->transfers = transfer;
    client->active++;
    if (transfer->request.limits.total_ms >= 0)
        loop_timer_start(client->loop, &transfer->total_timer, transfer->request.limits.total_ms);
    /* libcurl takes no new request while one of its callbacks is on the stack. */
    if (client->in_curl || begin_hop(transfer) < 0)
        do_later(transfer);
    *ret_transfer = transfer;
    return 0;
}
