/* The sandbox's one way out: an HTTP proxy on a Unix socket that admits listed hosts only.
 *
 * It runs in the keeper, on the loop. The socket is mounted into the sandbox, where a forwarder
 * (sandbox/forward.h) leads a loopback port to it. It speaks CONNECT and plain http requests in
 * absolute form, one request a connection.
 *
 * The list has names ("example.org"), everything below a name but not itself ("*.example.org"), and
 * IP addresses ("192.0.2.7", "[2001:db8::1]"). An entry admits ports 80 and 443, or with ":PORT"
 * just that one. Names compare without regard to case.
 *
 * What a name leads to is looked up here and judged by its binary address; the connection goes to
 * the very address that was judged, so a name server that changes its answer gains nothing. Public
 * addresses are fine. Any other (loopback, link-local and with it the clouds' metadata services,
 * private, multicast, reserved, and IPv4 inside IPv6) needs an entry of its own that is this
 * address: to reach intranet.example at 10.1.2.3 both are listed, and to reach a server on this
 * machine "127.0.0.1:8080" is.
 *
 * What it can't see: which host is named inside TLS. Two names behind one shared address can be
 * swapped there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_PROXY_H
#define DORMOUSE_SANDBOX_PROXY_H

#include <stdint.h>

#include "base/alloc.h"
#include "base/err.h"
#include "loop/dns.h"
#include "loop/loop.h"

#define PROXY_HEAD_MAX    (16 * 1024) /* request line and headers */
#define PROXY_ENTRIES_MAX 1024
#define PROXY_REPORTS_MAX 100 /* refusals told one by one; later ones are only counted */

struct proxy;

/* Valid during the callback. */
struct proxy_refusal {
    const char *host; /* "" when the request did not name one */
    uint16_t port;    /* 0: as above */
    const char *why;  /* a sentence; the client got the same */
};

/* Texts are borrowed until proxy_start() returns. Numbers: 0 is the default. */
struct proxy_config {
    const char *socket_path;          /* must not exist; made with mode 0600 */
    const char *const *allow_domains; /* ends with NULL; NULL: nothing is admitted */
    struct dns_resolver *resolver;    /* NULL: the system's; must outlive the proxy */
    /* May be NULL. Must not free the proxy. */
    void (*on_refused)(void *arg, const struct proxy_refusal *refusal);
    void *arg;
    unsigned connections_max; /* 64; more are answered 503 */
    int64_t head_ms;          /* 10 s for the whole head, however slowly it comes */
    int64_t connect_ms;       /* 20 s for looking up and connecting */
    int64_t idle_ms;          /* 5 minutes in which no byte moves */
};

struct proxy_counts {
    uint64_t admitted, refused;
    unsigned open; /* connections now */
};

/* bad_request names a wrong entry of the list, or a path that is too long for a socket. */
int proxy_start(struct loop *loop, const struct proxy_config *config, struct proxy **ret_proxy,
                struct err *err);
/* Ends all connections and removes the socket; no callback comes any more. Its handles are closed
 * in the next turn of the loop, or by loop_free(). */
void proxy_free(struct proxy *proxy);
AUTO_DEFINE(proxy)

struct proxy_counts proxy_counts(const struct proxy *proxy);

#endif
