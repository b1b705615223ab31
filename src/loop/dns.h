/* Names to addresses, with a policy on every address.
 *
 * Lookups run in libuv's pool (getaddrinfo blocks), so a slow resolver never holds up the loop,
 * and a cancelled lookup is forgotten at once although the pool may still be busy with it. Which
 * addresses may be used is decided here, on the binary address and never on its spelling: an IPv4
 * address inside an IPv6 one (mapped, NAT64, 6to4, Teredo) is judged as what it leads to.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_DNS_H
#define DORMOUSE_LOOP_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct loop;
struct sockaddr;
struct dns_lookup;

/* ---- addresses ---- */

struct dns_addr {
    uint8_t v6;        /* 0: the first four bytes are an IPv4 address */
    uint8_t bytes[16]; /* network order */
};

enum dns_class {
    DNS_RESERVED = 0, /* documentation, benchmarking, future use, malformed tunnels */
    DNS_PUBLIC,
    DNS_LOOPBACK,
    DNS_PRIVATE,    /* RFC 1918, carrier NAT, IPv6 ULA and site-local, local-use NAT64 */
    DNS_LINK_LOCAL, /* the clouds' metadata services among them */
    DNS_MULTICAST,  /* and broadcast */
    DNS_UNSPECIFIED /* 0.0.0.0/8 and :: (which connect to this host) */
};

enum dns_class dns_class(const struct dns_addr *addr);
const char *dns_class_name(enum dns_class class);

/* A numeric host: dotted IPv4, the old spellings that inet_aton() knows (0x7f.1, 2130706433,
 * 0177.0.0.1), or IPv6 with or without brackets. 1 and *ret when it is one, 0 when it is a name,
 * -1 when it looks numeric and is none (1.2.3.4.5, 256.1, an IPv6 zone). */
int dns_literal(struct str host, struct dns_addr *ret);
/* False for families other than IPv4 and IPv6. */
bool dns_from_sockaddr(const struct sockaddr *sa, struct dns_addr *ret);
bool dns_addr_eq(const struct dns_addr *a, const struct dns_addr *b);
/* "192.0.2.1" or "2001:db8::1" */
#define DNS_ADDR_TEXT 46
const char *dns_addr_text(const struct dns_addr *addr, char out[DNS_ADDR_TEXT]);

/* ---- policy ---- */

struct dns_policy {
    /* May this address be connected to? NULL: when its class is in classes. */
    bool (*allow)(const struct dns_policy *policy, const struct dns_addr *addr);
    unsigned classes; /* DNS_CLASS(...) | ... */
};
#define DNS_CLASS(class) (1u << (class))

/* Nothing but the public Internet: for addresses that a model or a web page chose. */
extern const struct dns_policy dns_policy_public_only;
/* Public and this host: for addresses that the user configured. */
extern const struct dns_policy dns_policy_public_and_loopback;

bool dns_allowed(const struct dns_policy *policy, const struct dns_addr *addr);

/* ---- lookups ---- */

#define DNS_ADDRS_MAX 16
#define DNS_NAME_MAX  253

/* A name of letters, digits, '-', '_' and dots, no label empty or over 63 bytes. International
 * names must come as punycode. */
bool dns_name_ok(struct str host);

/* addrs is empty when the lookup failed; err then says why (provider_failed). */
struct dns_answer {
    struct dns_addr addrs[DNS_ADDRS_MAX];
    size_t n;
    struct err err;
};

/* Somebody who looks up names; dns_resolver_system(), or a test's own. */
struct dns_resolver {
    /* Starts one lookup. Exactly one call of dns_lookup_done() must follow, never from inside
     * start, unless cancel comes first. */
    int (*start)(struct dns_resolver *resolver, struct dns_lookup *lookup, struct err *err);
    /* Must return at once; dns_lookup_done() must not be called afterwards. */
    void (*cancel)(struct dns_resolver *resolver, struct dns_lookup *lookup);
    void (*free)(struct dns_resolver *resolver);
};

struct dns_lookup {
    struct dns_resolver *resolver;
    char host[DNS_NAME_MAX + 1];
    void (*done)(struct dns_lookup *lookup, const struct dns_answer *answer);
    void *data; /* the resolver's */
    bool active;
};

/* Asks the system (getaddrinfo: hosts file, resolv.conf, nss) in libuv's pool. Before it is freed
 * all lookups must be done or cancelled; loop_free() waits for those that the pool still runs. */
struct dns_resolver *dns_resolver_system(struct loop *loop);
void dns_resolver_free(struct dns_resolver *resolver);

/* done is called once, in a later tick. lookup is the caller's and must live until done or
 * dns_cancel(). host must be dns_name_ok(). */
int dns_start(struct dns_resolver *resolver, struct dns_lookup *lookup, struct str host,
              void (*done)(struct dns_lookup *lookup, const struct dns_answer *answer),
              struct err *err);
/* done will not be called; returns at once whatever the resolver does. Nothing when not active. */
void dns_cancel(struct dns_lookup *lookup);
/* For resolvers. */
void dns_lookup_done(struct dns_lookup *lookup, const struct dns_answer *answer);

#endif
