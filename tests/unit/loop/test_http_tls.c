/* TLS is verified, always: authorities, host names, dates. Certificates are made by openssl(1).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "http_rig.h"

static const struct table_name names[] = {
    { "good.test", "127.0.0.1", 0 },
    { "other.test", "127.0.0.1", 0 },
    { NULL, NULL, 0 },
};

static void sh(struct test *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void sh(struct test *t, const char *fmt, ...)
{
    char command[2048];
    va_list args;
    int n = snprintf(command, sizeof(command), "cd %s && ", test_dir(t));

    va_start(args, fmt);
    vsnprintf(command + n, sizeof(command) - (size_t)n, fmt, args);
    va_end(args);
    if (system(command) != 0)
        FAIL("%s", command);
}

static void make_authority(struct test *t, const char *name)
{
    sh(t,
       "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
       " -subj '/CN=%s' -keyout %s.key -out %s.crt >/dev/null 2>&1",
       name, name, name);
}

/* name.crt and name.key, signed by ca, for these subjectAltNames, valid for days (may be over). */
static void make_certificate(struct test *t, const char *name, const char *ca, const char *alt,
                             const char *dates)
{
    sh(t,
       "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=%s'"
       " -keyout %s.key -out %s.csr >/dev/null 2>&1",
       name, name, name);
    sh(t,
       "mkdir %s.d && : > %s.d/index.txt && echo 01 > %s.d/serial &&"
       " printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=%s.d/index.txt\\nserial=%s.d/serial\\n"
       "new_certs_dir=%s.d\\ndefault_md=sha256\\npolicy=p\\nx509_extensions=e\\n[p]\\n"
       "commonName=supplied\\n[e]\\nsubjectAltName=%s\\n' > %s.cnf &&"
       " openssl ca -batch -notext -config %s.cnf -cert %s.crt -keyfile %s.key %s -in %s.csr"
       " -out %s.crt >/dev/null 2>&1",
       name, name, name, name, name, name, alt, name, name, ca, ca, dates, name, name);
}

#define VALID   "-days 2"
#define EXPIRED "-startdate 20200101000000Z -enddate 20200201000000Z"
#define FUTURE  "-startdate 20900101000000Z -enddate 20910101000000Z"

static bool serve_tls(struct peer_conn *conn)
{
    if (strcmp(conn->path, "/down") == 0)
        return peer_answer(conn, 302, "Location: http://good.test/\r\n", "");
    return peer_answer(conn, 200, "", "secret answer");
}

struct tls_rig {
    struct rig rig;
    struct table_resolver table;
};

static void open_rig(struct tls_rig *r, struct test *t, const char *cert)
{
    table_resolver_init(&r->table, names, &r->rig.loop);
    rig_open(&r->rig, t, NULL, NULL, &(struct http_options){ .resolver = &r->table.resolver });
    peer_start_tls(&r->rig.peer, serve_tls, NULL,
                   test_path(t, arena_printf(&t->arena, "%s.crt", cert)),
                   test_path(t, arena_printf(&t->arena, "%s.key", cert)));
}

static void get(struct call *call, struct tls_rig *r, const char *host, const char *path,
                const char *ca)
{
    struct test *t = r->rig.t;

    call_run(call, &r->rig,
             &(struct http_request){
                 .url = arena_printf(&t->arena, "https://%s:%u%s", host, r->rig.peer.port, path),
                 .ca_file = ca ? test_path(t, ca) : NULL,
                 .max_redirects = 1 });
}

TEST(http_tls_accepts_a_certificate_of_the_given_authority)
{
    struct tls_rig r;
    struct call call = { 0 }, again = { 0 };

    make_authority(t, "ca");
    make_certificate(t, "good", "ca", "DNS:good.test", VALID);
    open_rig(&r, t, "good");
    get(&call, &r, "good.test", "/", "ca.crt");
    ASSERT_CALL_OK(&call, 200);
    ASSERT_STR(buf_str(&call.body), "secret answer");
    get(&again, &r, "good.test", "/", "ca.crt");
    ASSERT_CALL_OK(&again, 200);
    ASSERT(again.result.reused);
    call_release(&call);
    call_release(&again);
    rig_close(&r.rig);
}

TEST(http_tls_accepts_a_directory_of_authorities)
{
    struct tls_rig r;
    struct call call = { 0 };

    make_authority(t, "ca");
    make_certificate(t, "good", "ca", "DNS:good.test", VALID);
    sh(t, "mkdir authorities && cp ca.crt authorities/ca.pem && openssl rehash authorities");
    open_rig(&r, t, "good");
    call_run(&call, &r.rig,
             &(struct http_request){
                 .url = arena_printf(&t->arena, "https://good.test:%u/", r.rig.peer.port),
                 .ca_path = test_path(t, "authorities") });
    ASSERT_CALL_OK(&call, 200);
    call_release(&call);
    rig_close(&r.rig);
}

struct refusal {
    const char *what, *alt, *dates, *host, *ca, *text;
};

TEST(http_tls_refuses_what_is_not_proved)
{
    static const struct refusal cases[] = {
        { "unknown authority", "DNS:good.test", VALID, "good.test", "ca2.crt", "certificate" },
        { "the system's authorities", "DNS:good.test", VALID, "good.test", NULL, "certificate" },
        { "wrong host", "DNS:other.test", VALID, "good.test", "ca.crt", "not for this host" },
        { "wrong address", "DNS:good.test", VALID, "127.0.0.1", "ca.crt", "not for this host" },
        { "expired", "DNS:good.test", EXPIRED, "good.test", "ca.crt", "expired" },
        { "not valid yet", "DNS:good.test", FUTURE, "good.test", "ca.crt", "not yet valid" },
        { "no such file", "DNS:good.test", VALID, "good.test", "none.crt", "TLS" },
    };

    make_authority(t, "ca");
    make_authority(t, "ca2");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *name = arena_printf(&t->arena, "c%zu", i);
        struct tls_rig r;
        struct call call = { 0 };

        make_certificate(t, name, "ca", cases[i].alt, cases[i].dates);
        open_rig(&r, t, name);
        get(&call, &r, cases[i].host, "/", cases[i].ca);
        if (call.result.err.code != ERR_PROVIDER_FAILED || call.result.phase != HTTP_PHASE_TLS ||
            !strstr(call_error(&call), cases[i].text))
            FAIL("%s: %s in %s (%s)", cases[i].what, err_name(call.result.err.code),
                 http_phase_name(call.result.phase), call_error(&call));
        ASSERT_EQ(r.rig.peer.shared->requests, 0);
        ASSERT_EQ(call.bytes, 0);
        call_release(&call);
        rig_close(&r.rig);
    }
}

TEST(http_tls_self_signed_is_refused_without_its_authority)
{
    struct tls_rig r;
    struct call call = { 0 };

    make_authority(t, "self");
    open_rig(&r, t, "self");
    get(&call, &r, "good.test", "/", NULL);
    ASSERT_CALL_FAILED(&call, ERR_PROVIDER_FAILED, HTTP_PHASE_TLS);
    ASSERT_CONTAINS(call_error(&call), "self-signed");
    call_release(&call);
    rig_close(&r.rig);
}

TEST(http_tls_a_redirect_never_leads_back_to_plain_http)
{
    struct tls_rig r;
    struct call call = { 0 };

    make_authority(t, "ca");
    make_certificate(t, "good", "ca", "DNS:good.test", VALID);
    open_rig(&r, t, "good");
    get(&call, &r, "good.test", "/down", "ca.crt");
    ASSERT_CALL_FAILED(&call, ERR_NETWORK_DENIED, HTTP_PHASE_REDIRECT);
    ASSERT_CONTAINS(call_error(&call), "from https to http");
    call_release(&call);
    rig_close(&r.rig);
}

/* A kept connection of one request must not serve another that trusts other authorities. */
TEST(http_tls_a_kept_connection_does_not_lend_its_trust)
{
    struct tls_rig r;
    struct call trusted = { 0 }, other = { 0 };

    make_authority(t, "ca");
    make_authority(t, "ca2");
    make_certificate(t, "good", "ca", "DNS:good.test", VALID);
    open_rig(&r, t, "good");
    get(&trusted, &r, "good.test", "/", "ca.crt");
    ASSERT_CALL_OK(&trusted, 200);
    get(&other, &r, "good.test", "/", "ca2.crt");
    ASSERT_CALL_FAILED(&other, ERR_PROVIDER_FAILED, HTTP_PHASE_TLS);
    call_release(&trusted);
    call_release(&other);
    rig_close(&r.rig);
}

/* A proxy and, inside the tunnel, the server behind it. */
static bool serve_tunnel(struct peer_conn *conn)
{
    const char *const *files = conn->arg;

    if (strcmp(conn->method, "CONNECT") != 0)
        return peer_answer(conn, 200, "", conn->path);
    conn->shared->counter++;
    return peer_text(conn, "HTTP/1.1 200 Connected\r\nX-Proxy: 1\r\n\r\n") &&
           peer_upgrade(conn, files[0], files[1]);
}

TEST(http_tls_goes_through_a_proxys_tunnel_and_is_verified_there)
{
    const char *files[2];
    struct rig rig;
    struct call good = { 0 }, bad = { 0 };
    const char *proxy;

    make_authority(t, "ca");
    make_certificate(t, "far", "ca", "DNS:far.example", VALID);
    files[0] = test_path(t, "far.crt");
    files[1] = test_path(t, "far.key");
    rig_open(&rig, t, serve_tunnel, files, NULL);
    proxy = rig_url(&rig, "");
    call_run(&good, &rig,
             &(struct http_request){ .url = "https://far.example/path",
                                     .proxy_url = proxy,
                                     .ca_file = test_path(t, "ca.crt") });
    ASSERT_CALL_OK(&good, 200);
    ASSERT_STR(buf_str(&good.body), "/path");
    ASSERT(!strstr(good.text, "X-Proxy"));
    ASSERT_EQ(rig.peer.shared->counter, 1);
    call_run(&bad, &rig,
             &(struct http_request){ .url = "https://evil.example/path",
                                     .proxy_url = proxy,
                                     .ca_file = test_path(t, "ca.crt") });
    ASSERT_CALL_FAILED(&bad, ERR_PROVIDER_FAILED, HTTP_PHASE_TLS);
    call_release(&good);
    call_release(&bad);
    rig_close(&rig);
}

static bool serve_plain(struct peer_conn *conn)
{
    return peer_answer(conn, 200, "", "plain");
}

TEST(http_tls_to_a_plain_port_fails_in_the_handshake)
{
    struct rig rig;
    struct call call = { 0 };

    rig_open(&rig, t, serve_plain, NULL, NULL);
    call_run(&call, &rig,
             &(struct http_request){
                 .url = arena_printf(&t->arena, "https://127.0.0.1:%u/", rig.peer.port),
                 .limits = { .connect_ms = 300 } });
    /* The peer waits for the end of what it takes for a head. */
    ASSERT(call.result.err.code == ERR_TIMEOUT || call.result.phase == HTTP_PHASE_TLS);
    ASSERT_EQ(call.heads, 0);
    call_release(&call);
    rig_close(&rig);
}
