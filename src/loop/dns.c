/* Lookups in libuv's pool.
 *
 * The uv request lives apart from the caller's lookup: cancelling cuts the tie and lets the pool
 * finish by itself, however long getaddrinfo() takes. libuv gives lookups at most half of its
 * threads, so that a dead name server does not stop other work.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/dns.h"

#include <netdb.h>
#include <stdlib.h>
#include <uv.h>

#include "base/alloc.h"
#include "loop/loop.h"

bool dns_name_ok(struct str host)
{
    size_t label = 0;

    if (host.n == 0 || host.n > DNS_NAME_MAX)
        return false;
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];

        if (c == '.') {
            if (label == 0)
                return false;
            label = 0;
            continue;
        }
        if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') && c != '-' &&
            c != '_')
            return false;
        if (++label > 63)
            return false;
    }
    return label > 0;
}

int dns_start(struct dns_resolver *resolver, struct dns_lookup *lookup, struct str host,
              void (*done)(struct dns_lookup *lookup, const struct dns_answer *answer),
              struct err *err)
{
    BUG_IF(!dns_name_ok(host));
    lookup->resolver = resolver;
    memcpy(lookup->host, host.p, host.n);
    lookup->host[host.n] = '\0';
    lookup->done = done;
    lookup->data = NULL;
    if (resolver->start(resolver, lookup, err) < 0)
        return -1;
    lookup->active = true;
    return 0;
}

void dns_cancel(struct dns_lookup *lookup)
{
    if (!lookup->active)
        return;
    lookup->active = false;
    lookup->resolver->cancel(lookup->resolver, lookup);
}

void dns_lookup_done(struct dns_lookup *lookup, const struct dns_answer *answer)
{
    BUG_IF(!lookup->active);
    lookup->active = false;
    lookup->done(lookup, answer);
}

void dns_resolver_free(struct dns_resolver *resolver)
{
    if (resolver)
        resolver->free(resolver);
}

/* ---- the system's resolver ---- */

struct system_resolver {
    struct dns_resolver resolver; /* first */
    uv_loop_t *uv;
};

struct job {
    uv_getaddrinfo_t request;  /* first */
    struct dns_lookup *lookup; /* NULL: cancelled */
};

/* getaddrinfo() gives the best address first; keep that order, drop doubles. */
static void collect(const struct addrinfo *list, struct dns_answer *answer)
{
    for (const struct addrinfo *at = list; at && answer->n < DNS_ADDRS_MAX; at = at->ai_next) {
        struct dns_addr addr;
        size_t i = 0;

        if (!dns_from_sockaddr(at->ai_addr, &addr))
            continue;
        while (i < answer->n && !dns_addr_eq(&answer->addrs[i], &addr))
            i++;
        if (i == answer->n)
            answer->addrs[answer->n++] = addr;
    }
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *list)
{
    struct job *job = (struct job *)request;
    struct dns_lookup *lookup = job->lookup;
    struct dns_answer answer = { .n = 0 };

    free(job);
    if (lookup) {
        collect(list, &answer);
        if (answer.n == 0)
            err_set(&answer.err, ERR_PROVIDER_FAILED, "look up %s: %s", lookup->host,
                    status < 0 ? uv_strerror(status) : "it has no address");
        dns_lookup_done(lookup, &answer);
    }
    uv_freeaddrinfo(list);
}

static int system_start(struct dns_resolver *resolver, struct dns_lookup *lookup, struct err *err)
{
    static const struct addrinfo hints = { .ai_family = AF_UNSPEC,
                                           .ai_socktype = SOCK_STREAM,
                                           .ai_flags = AI_ADDRCONFIG };
    struct system_resolver *system = (struct system_resolver *)resolver;
    struct job *job = NEW(struct job);
    int status;

    status = uv_getaddrinfo(system->uv, &job->request, on_resolved, lookup->host, NULL, &hints);
    if (status < 0) {
        free(job);
        return err_set(err, ERR_PROVIDER_FAILED, "look up %s: %s", lookup->host,
                       uv_strerror(status));
    }
    job->lookup = lookup;
    lookup->data = job;
    return 0;
}

static void system_cancel(struct dns_resolver *resolver, struct dns_lookup *lookup)
{
    struct job *job = lookup->data;

    (void)resolver;
    job->lookup = NULL;
    uv_cancel((uv_req_t *)&job->request); /* works only while it waits for a thread */
}

static void system_free(struct dns_resolver *resolver)
{
    free(resolver);
}

struct dns_resolver *dns_resolver_system(struct loop *loop)
{
    struct system_resolver *system = NEW(struct system_resolver);

    system->resolver = (struct dns_resolver){ .start = system_start,
                                              .cancel = system_cancel,
                                              .free = system_free };
    system->uv = loop_uv(loop);
    return &system->resolver;
}
