/* What kind of address is this, and may it be used?
 *
 * Classes follow the IANA special-purpose registries (RFC 6890 and its updates). An IPv6 address
 * that carries an IPv4 one is judged by that, because a gateway on the way would unwrap it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "loop/dns.h"

struct range {
    uint8_t bytes[16];
    uint8_t bits;
    uint8_t class;
};

/* The first that fits counts. */
static const struct range ranges4[] = {
    { { 0 }, 8, DNS_UNSPECIFIED },
    { { 10 }, 8, DNS_PRIVATE },
    { { 100, 64 }, 10, DNS_PRIVATE }, /* carrier NAT, and a cloud's metadata service */
    { { 127 }, 8, DNS_LOOPBACK },
    { { 168, 63, 129, 16 }, 32, DNS_LINK_LOCAL }, /* a cloud's host agent behind a public number */
    { { 169, 254 }, 16, DNS_LINK_LOCAL },
    { { 172, 16 }, 12, DNS_PRIVATE },
    { { 192, 0, 0 }, 24, DNS_RESERVED },
    { { 192, 0, 2 }, 24, DNS_RESERVED },
    { { 192, 88, 99 }, 24, DNS_RESERVED }, /* 6to4 relays */
    { { 192, 168 }, 16, DNS_PRIVATE },
    { { 198, 18 }, 15, DNS_RESERVED },
    { { 198, 51, 100 }, 24, DNS_RESERVED },
    { { 203, 0, 113 }, 24, DNS_RESERVED },
    { { 224 }, 4, DNS_MULTICAST },
    { { 255, 255, 255, 255 }, 32, DNS_MULTICAST },
    { { 240 }, 4, DNS_RESERVED },
};

static const struct range ranges6[] = {
    { { [15] = 1 }, 128, DNS_LOOPBACK },
    { { 0 }, 128, DNS_UNSPECIFIED },
    { { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48, DNS_PRIVATE }, /* local-use NAT64 */
    { { 0xfc }, 7, DNS_PRIVATE },
    { { 0xfe, 0x80 }, 10, DNS_LINK_LOCAL },
    { { 0xfe, 0xc0 }, 10, DNS_PRIVATE }, /* site-local */
    { { 0xff }, 8, DNS_MULTICAST },
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32, DNS_RESERVED }, /* documentation */
    { { 0x3f, 0xff }, 20, DNS_RESERVED },             /* documentation */
    { { 0x20, 0x01 }, 23, DNS_RESERVED },             /* protocol assignments, ORCHID */
    { { 0x20 }, 3, DNS_PUBLIC },                      /* 2000::/3, all that was ever given out */
};

/* Where an IPv6 address carries an IPv4 one. */
static const struct embed {
    uint8_t prefix[12];
    uint8_t bits;
    uint8_t at;
    uint8_t flip; /* Teredo hides the client's address by inverting it */
} embeds[] = {
    { { [10] = 0xff, [11] = 0xff }, 96, 12, 0 },  /* ::ffff:0:0/96 mapped */
    { { [8] = 0xff, [9] = 0xff }, 96, 12, 0 },    /* ::ffff:0:0:0/96 translated */
    { { 0x00, 0x64, 0xff, 0x9b }, 96, 12, 0 },    /* NAT64 */
    { { 0x20, 0x02 }, 16, 2, 0 },                 /* 6to4 */
    { { 0x20, 0x01, 0x00, 0x00 }, 32, 12, 0xff }, /* Teredo */
    { { 0 }, 96, 12, 0 },                         /* compatible, long deprecated */
};

static bool in_prefix(const uint8_t *bytes, const uint8_t *prefix, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    if (memcmp(bytes, prefix, whole) != 0)
        return false;
    return rest == 0 || ((bytes[whole] ^ prefix[whole]) >> (8 - rest)) == 0;
}

static enum dns_class lookup_class(const struct range *ranges, size_t n, const uint8_t *bytes,
                                   enum dns_class otherwise)
{
    for (size_t i = 0; i < n; i++)
        if (in_prefix(bytes, ranges[i].bytes, ranges[i].bits))
            return ranges[i].class;
    return otherwise;
}

/* The IPv4 address that addr leads to. */
static bool embedded(const struct dns_addr *addr, struct dns_addr *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(embeds); i++) {
        if (!in_prefix(addr->bytes, embeds[i].prefix, embeds[i].bits))
            continue;
        *ret = (struct dns_addr){ .v6 = 0 };
        for (size_t k = 0; k < 4; k++)
            ret->bytes[k] = addr->bytes[embeds[i].at + k] ^ embeds[i].flip;
        return true;
    }
    return false;
}

enum dns_class dns_class(const struct dns_addr *addr)
{
    static const uint8_t tiny[15] = { 0 };
    struct dns_addr inner;

    if (!addr->v6)
        return lookup_class(ranges4, ARRAY_LEN(ranges4), addr->bytes, DNS_PUBLIC);
    /* :: and ::1 look like compatible addresses and are none. */
    if ((memcmp(addr->bytes, tiny, 15) != 0 || addr->bytes[15] > 1) && embedded(addr, &inner))
        return dns_class(&inner);
    return lookup_class(ranges6, ARRAY_LEN(ranges6), addr->bytes, DNS_RESERVED);
}

const char *dns_class_name(enum dns_class class)
{
    static const char *const names[] = {
        [DNS_RESERVED] = "reserved",       [DNS_PUBLIC] = "public",
        [DNS_LOOPBACK] = "loopback",       [DNS_PRIVATE] = "private",
        [DNS_LINK_LOCAL] = "link-local",   [DNS_MULTICAST] = "multicast",
        [DNS_UNSPECIFIED] = "unspecified",
    };

    return names[class];
}

/* ---- spellings ---- */

/* As the URL standard says: a host whose last label is a number is an IPv4 address or an error. */
static bool ends_in_number(struct str host)
{
    struct str last;
    size_t start;

    if (host.n > 0 && host.p[host.n - 1] == '.')
        host.n--;
    for (start = host.n; start > 0 && host.p[start - 1] != '.'; start--)
        ;
    last = str_skip(host, start);
    if (last.n >= 2 && last.p[0] == '0' && (last.p[1] | 0x20) == 'x') {
        for (size_t i = 2; i < last.n; i++)
            if (!((last.p[i] >= '0' && last.p[i] <= '9') ||
                  ((last.p[i] | 0x20) >= 'a' && (last.p[i] | 0x20) <= 'f')))
                return false;
        return true;
    }
    for (size_t i = 0; i < last.n; i++)
        if (last.p[i] < '0' || last.p[i] > '9')
            return false;
    return last.n > 0;
}

static int literal6(const char *text, struct dns_addr *ret)
{
    struct dns_addr addr = { .v6 = 1 };

    if (inet_pton(AF_INET6, text, addr.bytes) != 1)
        return -1;
    *ret = addr;
    return 1;
}

int dns_literal(struct str host, struct dns_addr *ret)
{
    char text[64];
    struct in_addr in;

    if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = str_of(host.p + 1, host.n - 2);
    else if (str_find_char(host, ':') < 0 && !ends_in_number(host))
        return 0;
    if (host.n == 0 || host.n >= sizeof(text) || str_find_char(host, '\0') >= 0)
        return -1;
    memcpy(text, host.p, host.n);
    text[host.n] = '\0';
    if (strchr(text, ':'))
        return literal6(text, ret);
    if (text[host.n - 1] == '.')
        text[host.n - 1] = '\0';
    if (strpbrk(text, " \t\r\n\v\f") || inet_aton(text, &in) != 1)
        return -1;
    *ret = (struct dns_addr){ .v6 = 0 };
    memcpy(ret->bytes, &in.s_addr, 4);
    return 1;
}

bool dns_from_sockaddr(const struct sockaddr *sa, struct dns_addr *ret)
{
    *ret = (struct dns_addr){ .v6 = 0 };
    if (sa->sa_family == AF_INET) {
        memcpy(ret->bytes, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
        return true;
    }
    if (sa->sa_family != AF_INET6)
        return false;
    ret->v6 = 1;
    memcpy(ret->bytes, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, 16);
    return true;
}

bool dns_addr_eq(const struct dns_addr *a, const struct dns_addr *b)
{
    return a->v6 == b->v6 && memcmp(a->bytes, b->bytes, a->v6 ? 16 : 4) == 0;
}

const char *dns_addr_text(const struct dns_addr *addr, char out[DNS_ADDR_TEXT])
{
    return inet_ntop(addr->v6 ? AF_INET6 : AF_INET, addr->bytes, out, DNS_ADDR_TEXT);
}

/* ---- policy ---- */

const struct dns_policy dns_policy_public_only = { .classes = DNS_CLASS(DNS_PUBLIC) };
const struct dns_policy dns_policy_public_and_loopback = {
    .classes = DNS_CLASS(DNS_PUBLIC) | DNS_CLASS(DNS_LOOPBACK),
};

bool dns_allowed(const struct dns_policy *policy, const struct dns_addr *addr)
{
    if (policy->allow)
        return policy->allow(policy, addr);
    return (policy->classes & DNS_CLASS(dns_class(addr))) != 0;
}
