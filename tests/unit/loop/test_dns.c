/* Addresses, their classes and spellings; lookups that answer, fail and are forgotten.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/dns.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/alloc.h"
#include "harness/test.h"
#include "loop/loop.h"

static const struct {
    const char *text;
    enum dns_class class;
} classes[] = {
    { "8.8.8.8", DNS_PUBLIC },
    { "1.1.1.1", DNS_PUBLIC },
    { "0.0.0.0", DNS_UNSPECIFIED },
    { "0.1.2.3", DNS_UNSPECIFIED },
    { "10.0.0.0", DNS_PRIVATE },
    { "10.255.255.255", DNS_PRIVATE },
    { "9.255.255.255", DNS_PUBLIC },
    { "11.0.0.0", DNS_PUBLIC },
    { "100.63.255.255", DNS_PUBLIC },
    { "100.64.0.0", DNS_PRIVATE },
    { "100.100.100.200", DNS_PRIVATE },
    { "100.127.255.255", DNS_PRIVATE },
    { "100.128.0.0", DNS_PUBLIC },
    { "127.0.0.1", DNS_LOOPBACK },
    { "127.255.255.254", DNS_LOOPBACK },
    { "128.0.0.1", DNS_PUBLIC },
    { "168.63.129.16", DNS_LINK_LOCAL },
    { "168.63.129.17", DNS_PUBLIC },
    { "169.253.255.255", DNS_PUBLIC },
    { "169.254.169.254", DNS_LINK_LOCAL },
    { "169.255.0.0", DNS_PUBLIC },
    { "172.15.255.255", DNS_PUBLIC },
    { "172.16.0.0", DNS_PRIVATE },
    { "172.31.255.255", DNS_PRIVATE },
    { "172.32.0.0", DNS_PUBLIC },
    { "192.0.0.192", DNS_RESERVED },
    { "192.0.2.1", DNS_RESERVED },
    { "192.88.99.1", DNS_RESERVED },
    { "192.167.255.255", DNS_PUBLIC },
    { "192.168.0.1", DNS_PRIVATE },
    { "192.169.0.0", DNS_PUBLIC },
    { "198.17.255.255", DNS_PUBLIC },
    { "198.18.0.1", DNS_RESERVED },
    { "198.19.255.255", DNS_RESERVED },
    { "198.51.100.1", DNS_RESERVED },
    { "203.0.113.1", DNS_RESERVED },
    { "223.255.255.255", DNS_PUBLIC },
    { "224.0.0.1", DNS_MULTICAST },
    { "239.255.255.255", DNS_MULTICAST },
    { "240.0.0.1", DNS_RESERVED },
    { "255.255.255.255", DNS_MULTICAST },
    { "::", DNS_UNSPECIFIED },
    { "::1", DNS_LOOPBACK },
    { "::2", DNS_UNSPECIFIED }, /* compatible: 0.0.0.2 */
    { "::127.0.0.1", DNS_LOOPBACK },
    { "::8.8.8.8", DNS_PUBLIC },
    { "::ffff:127.0.0.1", DNS_LOOPBACK },
    { "::ffff:10.0.0.1", DNS_PRIVATE },
    { "::ffff:169.254.169.254", DNS_LINK_LOCAL },
    { "::ffff:0.0.0.0", DNS_UNSPECIFIED },
    { "::ffff:8.8.8.8", DNS_PUBLIC },
    { "::ffff:0:127.0.0.1", DNS_LOOPBACK },
    { "64:ff9b::127.0.0.1", DNS_LOOPBACK },
    { "64:ff9b::a9fe:a9fe", DNS_LINK_LOCAL },
    { "64:ff9b::8.8.8.8", DNS_PUBLIC },
    { "64:ff9b:1::8.8.8.8", DNS_PRIVATE },
    { "2002:7f00:1::1", DNS_LOOPBACK },
    { "2002:a00:1::", DNS_PRIVATE },
    { "2002:808:808::", DNS_PUBLIC },
    { "2001:0:4136:e378:8000:63bf:80ff:fffe", DNS_LOOPBACK }, /* Teredo: 127.0.0.1 */
    { "2001:0:4136:e378:8000:63bf:f7f7:f7f7", DNS_PUBLIC },   /* Teredo: 8.8.8.8 */
    { "2001:db8::1", DNS_RESERVED },
    { "2001:2::1", DNS_RESERVED },
    { "3fff::1", DNS_RESERVED },
    { "2606:4700:4700::1111", DNS_PUBLIC },
    { "2a00:1450:4001:81b::200e", DNS_PUBLIC },
    { "fc00::1", DNS_PRIVATE },
    { "fd00:ec2::254", DNS_PRIVATE },
    { "fe80::1", DNS_LINK_LOCAL },
    { "febf::1", DNS_LINK_LOCAL },
    { "fec0::1", DNS_PRIVATE },
    { "ff02::1", DNS_MULTICAST },
    { "4000::1", DNS_RESERVED },
    { "100::1", DNS_RESERVED },
};

TEST(dns_knows_the_class_of_every_address)
{
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        struct dns_addr addr;

        ASSERT_EQ(dns_literal(str_from(classes[i].text), &addr), 1);
        if (dns_class(&addr) != classes[i].class)
            FAIL("%s is %s, expected %s", classes[i].text, dns_class_name(dns_class(&addr)),
                 dns_class_name(classes[i].class));
        ASSERT_EQ(dns_allowed(&dns_policy_public_only, &addr), classes[i].class == DNS_PUBLIC);
        ASSERT_EQ(dns_allowed(&dns_policy_public_and_loopback, &addr),
                  classes[i].class == DNS_PUBLIC || classes[i].class == DNS_LOOPBACK);
    }
}

TEST(dns_reads_odd_spellings_of_addresses)
{
    static const struct {
        const char *text;
        int result;
        const char *address;
    } cases[] = {
        { "127.0.0.1", 1, "127.0.0.1" },
        { "127.1", 1, "127.0.0.1" },
        { "0x7f.1", 1, "127.0.0.1" },
        { "0X7F000001", 1, "127.0.0.1" },
        { "2130706433", 1, "127.0.0.1" },
        { "017700000001", 1, "127.0.0.1" },
        { "0177.0.0.01", 1, "127.0.0.1" },
        { "127.0.0.1.", 1, "127.0.0.1" },
        { "0", 1, "0.0.0.0" },
        { "[::1]", 1, "::1" },
        { "::1", 1, "::1" },
        { "[::FFFF:7F00:1]", 1, "::ffff:127.0.0.1" },
        { "example.org", 0, NULL },
        { "1e100.net", 0, NULL },
        { "0x7f.example", 0, NULL },
        { "127.0.0.1.example", 0, NULL },
        { "", 0, NULL },
        { "256.0.0.1", -1, NULL },
        { "1.2.3.4.5", -1, NULL },
        { "4294967296", -1, NULL },
        { "a.1", -1, NULL },
        { "0x", -1, NULL },
        { "1..2", -1, NULL },
        { "08.0.0.1", -1, NULL },
        { "[]", -1, NULL },
        { "[::1", -1, NULL },
        { "[fe80::1%eth0]", -1, NULL },
        { "[127.0.0.1]x:", -1, NULL },
        { "1.2.3.4 ", 0, NULL },
        { "12345678901234567890123456789012345678901234567890123456789012345678", -1, NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct dns_addr addr;
        char text[DNS_ADDR_TEXT];
        int result = dns_literal(str_from(cases[i].text), &addr);

        if (result != cases[i].result)
            FAIL("\"%s\" gives %d, expected %d", cases[i].text, result, cases[i].result);
        if (result == 1)
            ASSERT_TEXT(dns_addr_text(&addr, text), cases[i].address);
    }
}

TEST(dns_accepts_only_plain_names)
{
    static const char *const good[] = { "a", "localhost", "a-b.c_d.example", "xn--bcher-kva.de",
                                        "123.example" };
    static const char *const bad[] = {
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "a b",
        "a/b",
        "a@b",
        "a%2e",
        "b\xC3\xBC.de",
        "a\nb",
        "a:1",
        "[a]",
        "a,b",
        "0123456789012345678901234567890123456789012345678901234567890123.x",
    };
    char long_name[DNS_NAME_MAX + 2];

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        ASSERT(dns_name_ok(str_from(good[i])));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ASSERT(!dns_name_ok(str_from(bad[i])));
    ASSERT(!dns_name_ok(STR("a\0b")));
    for (size_t i = 0; i < sizeof(long_name); i++)
        long_name[i] = i % 2 ? '.' : 'a';
    ASSERT(dns_name_ok(str_of(long_name, DNS_NAME_MAX)));
    ASSERT(!dns_name_ok(str_of(long_name, DNS_NAME_MAX + 2)));
}

TEST(dns_takes_addresses_from_sockets)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr_un un = { .sun_family = AF_UNIX };
    struct dns_addr a, b;

    ASSERT(dns_from_sockaddr((struct sockaddr *)&v4, &a));
    ASSERT(dns_from_sockaddr((struct sockaddr *)&v6, &b));
    ASSERT_EQ(dns_class(&a), DNS_LOOPBACK);
    ASSERT_EQ(dns_class(&b), DNS_LOOPBACK);
    ASSERT(!dns_addr_eq(&a, &b));
    ASSERT(dns_addr_eq(&a, &a));
    ASSERT(!dns_from_sockaddr((struct sockaddr *)&un, &a));
}

/* ---- lookups ---- */

struct asked {
    struct dns_lookup lookup; /* first */
    struct loop *loop;
    struct dns_answer answer;
    unsigned dones;
};

static void on_answer(struct dns_lookup *lookup, const struct dns_answer *answer)
{
    struct asked *asked = (struct asked *)lookup;

    asked->answer = *answer;
    asked->dones++;
    loop_stop(asked->loop);
}

TEST(dns_looks_up_this_host)
{
    struct loop *loop;
    struct dns_resolver *resolver;
    struct asked asked = { .dones = 0 };

    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    resolver = dns_resolver_system(loop);
    asked.loop = loop;
    ASSERT_OK(dns_start(resolver, &asked.lookup, STR("localhost"), on_answer, &t->err));
    ASSERT_EQ(asked.dones, 0);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(asked.dones, 1);
    ASSERT(asked.answer.n >= 1);
    for (size_t i = 0; i < asked.answer.n; i++)
        ASSERT_EQ(dns_class(&asked.answer.addrs[i]), DNS_LOOPBACK);
    dns_resolver_free(resolver);
    loop_free(loop);
}

TEST(dns_says_why_a_lookup_failed)
{
    struct loop *loop;
    struct dns_resolver *resolver;
    struct asked asked = { .dones = 0 };

    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    resolver = dns_resolver_system(loop);
    asked.loop = loop;
    ASSERT_OK(dns_start(resolver, &asked.lookup, STR("no-such-name.invalid"), on_answer, &t->err));
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(asked.answer.n, 0);
    ASSERT_EQ(asked.answer.err.code, ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(err_message(&asked.answer.err, 0), "no-such-name.invalid");
    dns_resolver_free(resolver);
    loop_free(loop);
}

TEST(dns_forgets_cancelled_lookups_at_once)
{
    struct loop *loop;
    struct dns_resolver *resolver;
    struct asked *gone = NEW_N(struct asked, 16), last = { .dones = 0 };

    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    resolver = dns_resolver_system(loop);
    last.loop = loop;
    for (int i = 0; i < 16; i++) {
        gone[i].loop = loop;
        ASSERT_OK(dns_start(resolver, &gone[i].lookup, STR("localhost"), on_answer, &t->err));
    }
    for (int i = 0; i < 16; i++) {
        dns_cancel(&gone[i].lookup);
        dns_cancel(&gone[i].lookup);
    }
    free(gone); /* a late answer would be seen by AddressSanitizer */
    ASSERT_OK(dns_start(resolver, &last.lookup, STR("localhost"), on_answer, &t->err));
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT_EQ(last.dones, 1);
    dns_resolver_free(resolver);
    loop_free(loop);
}
