/* A transfer's options for libcurl, and the sockets it may open.
 *
 * The lookup is over when this runs: CURLOPT_RESOLVE pins the checked addresses, so libcurl never
 * asks a name server (which could block, or answer differently the second time). Should it try to
 * connect anywhere else after all, the socket callback refuses.
 *
 * HTTP/1.1 only: with one connection per exchange a paused reader holds up nobody else.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "loop/http_curl_int.h"

#define USER_AGENT "dormouse"

static bool is_pinned(const struct transfer *transfer, const struct dns_addr *addr)
{
    for (size_t i = 0; i < transfer->n_pins; i++)
        if (dns_addr_eq(&transfer->pins[i], addr))
            return true;
    return false;
}

/* Another exchange may have refreshed the pins of the same host meanwhile, so without a proxy the
 * policy decides, which both were checked by. */
static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct transfer *transfer = arg;
    struct dns_addr addr;

    (void)purpose;
    if (!dns_from_sockaddr(&to->addr, &addr) ||
        !(transfer->proxied ? is_pinned(transfer, &addr)
                            : dns_allowed(transfer->client->policy, &addr))) {
        http_transfer_fail(transfer, ERR_NETWORK_DENIED, "an address that was not checked");
        return CURL_SOCKET_BAD;
    }
    return socket(to->family, to->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->protocol);
}

static bool has_body(const struct transfer *transfer)
{
    return transfer->request.body.n > 0 || transfer->request.source;
}

/* Connected (or a kept connection was taken): the request goes out now. */
static int on_connected(void *arg, char *ip, char *local_ip, int port, int local_port)
{
    struct transfer *transfer = arg;
    struct loop *loop = transfer->client->loop;

    (void)ip, (void)local_ip, (void)port, (void)local_port;
    transfer->connect_ms = clock_mono_ms(loop_clock(loop)) - transfer->started_ms;
    http_transfer_enter(transfer, has_body(transfer) ? HTTP_PHASE_SEND : HTTP_PHASE_WAIT);
    return transfer->fail.code ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* Options are set one after the other and looked at once. */
struct options {
    const struct http_lib *lib;
    CURL *easy;
    bool failed;
};

static void set_long(struct options *o, CURLoption option, long value)
{
    o->failed |= o->lib->easy_setopt(o->easy, option, value) != CURLE_OK;
}

static void set_size(struct options *o, CURLoption option, int64_t value)
{
    o->failed |= o->lib->easy_setopt(o->easy, option, (curl_off_t)value) != CURLE_OK;
}

static void set_pointer(struct options *o, CURLoption option, const void *value)
{
    o->failed |= o->lib->easy_setopt(o->easy, option, value) != CURLE_OK;
}

/* A function pointer does not fit void * in ISO C; libcurl takes it as it is. */
#define set_function(o, option, fn)                                                                \
    ((o)->failed |= (o)->lib->easy_setopt((o)->easy, (option), (fn)) != CURLE_OK)

static void set_callbacks(struct options *o, struct transfer *transfer)
{
    set_pointer(o, CURLOPT_PRIVATE, transfer);
    set_function(o, CURLOPT_OPENSOCKETFUNCTION, on_open);
    set_pointer(o, CURLOPT_OPENSOCKETDATA, transfer);
    set_function(o, CURLOPT_PREREQFUNCTION, on_connected);
    set_pointer(o, CURLOPT_PREREQDATA, transfer);
    set_function(o, CURLOPT_HEADERFUNCTION, http_on_header);
    set_pointer(o, CURLOPT_HEADERDATA, transfer);
    set_function(o, CURLOPT_WRITEFUNCTION, http_on_write);
    set_pointer(o, CURLOPT_WRITEDATA, transfer);
    set_function(o, CURLOPT_READFUNCTION, http_on_read);
    set_pointer(o, CURLOPT_READDATA, transfer);
    set_function(o, CURLOPT_SEEKFUNCTION, http_on_seek);
    set_pointer(o, CURLOPT_SEEKDATA, transfer);
}

static void set_safety(struct options *o, struct transfer *transfer)
{
    const struct http_request *request = &transfer->request;
    const struct curl_client *client = transfer->client;
    const char *file = request->ca_file ? request->ca_file : client->ca_file;
    const char *path = request->ca_path ? request->ca_path : client->ca_path;

    set_pointer(o, CURLOPT_PROTOCOLS_STR, "http,https");
    set_long(o, CURLOPT_FOLLOWLOCATION, 0);
    set_long(o, CURLOPT_NOSIGNAL, 1);
    set_long(o, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    set_long(o, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
    set_long(o, CURLOPT_SSL_VERIFYPEER, 1);
    set_long(o, CURLOPT_SSL_VERIFYHOST, 2);
    if (!file && !path)
        return;
    /* Both, or the one that is not given would stay the system's. */
    set_pointer(o, CURLOPT_CAINFO, file);
    set_pointer(o, CURLOPT_CAPATH, path);
    set_pointer(o, CURLOPT_PROXY_CAINFO, file);
    set_pointer(o, CURLOPT_PROXY_CAPATH, path);
}

static void set_proxy(struct options *o, const struct transfer *transfer)
{
    /* An empty text: none, whatever the environment says. */
    set_pointer(o, CURLOPT_NOPROXY, "");
    set_pointer(o, CURLOPT_PROXY, transfer->proxied ? transfer->proxy.text : "");
    if (transfer->proxied)
        set_long(o, CURLOPT_PROXYPORT, transfer->proxy.port);
    set_long(o, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
}

static void set_body(struct options *o, const struct transfer *transfer)
{
    const struct http_request *request = &transfer->request;
    const char *method = request->method;

    if (has_body(transfer)) {
        set_long(o, CURLOPT_UPLOAD, 1);
        set_size(o, CURLOPT_INFILESIZE_LARGE,
                 request->source ? request->source->size : (int64_t)request->body.n);
    } else if (strcmp(method, "HEAD") == 0) {
        set_long(o, CURLOPT_NOBODY, 1);
    } else if (strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
               strcmp(method, "PATCH") == 0) {
        set_long(o, CURLOPT_POST, 1); /* says Content-Length: 0 */
        set_pointer(o, CURLOPT_POSTFIELDS, "");
        set_long(o, CURLOPT_POSTFIELDSIZE, 0);
        /* Without a body libcurl asks nobody before it sends again over a closed connection. */
        set_long(o, CURLOPT_FRESH_CONNECT, !http_may_repeat(request));
    } else {
        set_long(o, CURLOPT_HTTPGET, 1);
    }
    set_pointer(o, CURLOPT_CUSTOMREQUEST, method);
}

static void add_line(struct options *o, struct curl_slist **list, const char *line)
{
    struct curl_slist *grown = o->lib->slist_append(*list, line);

    o->failed |= !grown;
    if (grown)
        *list = grown;
}

static void set_headers(struct options *o, struct transfer *transfer)
{
    const struct http_request *request = &transfer->request;
    const char *agent = request->user_agent ? request->user_agent : transfer->client->user_agent;
    bool typed = false;

    add_line(o, &transfer->headers, "Expect:"); /* never wait for 100-continue */
    for (size_t i = 0; i < request->n_headers; i++) {
        const struct http_header *header = &request->headers[i];
        AUTO_BUF line = BUF_INIT(HTTP_HEADER_SENT_MAX + 4);

        typed |= str_eq_nocase(header->name, STR("Content-Type"));
        buf_add_str(&line, header->name);
        /* libcurl's way to say "empty" instead of "leave this out" */
        buf_add_text(&line, header->value.n ? ": " : ";");
        buf_add_str(&line, header->value);
        o->failed |= line.full;
        add_line(o, &transfer->headers, buf_text(&line));
    }
    if (!typed)
        add_line(o, &transfer->headers, "Content-Type:"); /* no guess of libcurl's */
    set_pointer(o, CURLOPT_HTTPHEADER, transfer->headers);
    set_pointer(o, CURLOPT_USERAGENT, agent ? agent : USER_AGENT);
    if (request->decompress)
        set_pointer(o, CURLOPT_ACCEPT_ENCODING, "gzip, deflate, br");
}

/* "+host:port:addr,addr": replaces what was pinned before and goes after a minute. */
static void set_pins(struct options *o, struct transfer *transfer)
{
    const struct http_url *url = transfer->proxied ? &transfer->proxy : &transfer->url;
    AUTO_BUF line = BUF_INIT(4096);
    char text[DNS_ADDR_TEXT];

    if (url->numeric)
        return;
    buf_printf(&line, "+%.*s:%u:", STR_ARG(url->host), url->port);
    for (size_t i = 0; i < transfer->n_pins; i++)
        buf_printf(&line, transfer->pins[i].v6 ? "%s[%s]" : "%s%s", i ? "," : "",
                   dns_addr_text(&transfer->pins[i], text));
    o->failed |= line.full;
    add_line(o, &transfer->resolve, buf_text(&line));
    set_pointer(o, CURLOPT_RESOLVE, transfer->resolve);
}

static void set_times(struct options *o, const struct transfer *transfer)
{
    int64_t connect_ms = transfer->request.limits.connect_ms;

    /* Ours fires first; libcurl's own default of five minutes must not cut a longer one. */
    if (connect_ms < 0 || connect_ms > INT32_MAX / 2)
        connect_ms = INT32_MAX / 2;
    set_long(o, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms + 1000);
    set_long(o, CURLOPT_TCP_KEEPALIVE, 1);
}

static void free_lists(struct transfer *transfer)
{
    transfer->client->lib->slist_free_all(transfer->headers);
    transfer->client->lib->slist_free_all(transfer->resolve);
    transfer->headers = transfer->resolve = NULL;
}

int http_setup(struct transfer *transfer)
{
    struct options o = { .lib = transfer->client->lib };

    if (transfer->easy)
        o.lib->easy_reset(transfer->easy);
    else
        transfer->easy = o.lib->easy_init();
    o.easy = transfer->easy;
    if (!o.easy)
        return http_transfer_fail(transfer, ERR_INTERNAL, "libcurl: no handle");
    free_lists(transfer);
    set_callbacks(&o, transfer);
    set_safety(&o, transfer);
    set_proxy(&o, transfer);
    set_body(&o, transfer);
    set_headers(&o, transfer);
    set_pins(&o, transfer);
    set_times(&o, transfer);
    set_pointer(&o, CURLOPT_URL, transfer->url.text);
    if (o.failed)
        return http_transfer_fail(transfer, ERR_INTERNAL, "libcurl refuses an option");
    return 0;
}

void http_setup_release(struct transfer *transfer)
{
    if (transfer->easy)
        transfer->client->lib->easy_cleanup(transfer->easy);
    transfer->easy = NULL;
    free_lists(transfer);
}
