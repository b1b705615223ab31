/* Where a request may go: redirects, names, policies, proxies.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/limits.h"
#include "http_rig.h"

/* Names of the tests; everything real is on loopback. */
static const struct table_name names[] = {
    { "here.test", "127.0.0.1", 0 },
    { "HERE.Test", "127.0.0.1", 0 },
    { "there.test", "127.0.0.1", 0 },
    { "both.test", "10.1.2.3,127.0.0.1", 0 },
    { "private.test", "10.1.2.3", 0 },
    { "metadata.test", "169.254.169.254", 0 },
    { "mapped.test", "::ffff:127.0.0.1", 0 },
    { "gone.test", NULL, 0 },
    { "slow.test", "127.0.0.1", -1 },
    { "localhost", "127.0.0.1", 0 },
    { NULL, NULL, 0 },
};

static bool serve_redirects(struct peer_conn *conn)
{
    char line[16384];
    const char *path = conn->path;

    if (strncmp(path, "/to/", 4) == 0) { /* /to/STATUS/URL */
        snprintf(line, sizeof(line), "Location: %s\r\n", path + 8);
        return peer_answer(conn, atoi(path + 4), line, "moved");
    }
    if (strcmp(path, "/loop") == 0)
        return peer_answer(conn, 302, "Location: /loop\r\n", "");
    if (strcmp(path, "/dir/relative") == 0)
        return peer_answer(conn, 302, "Location: ../end?x=1#frag\r\n", "");
    if (strcmp(path, "/bare") == 0)
        return peer_answer(conn, 302, "", "no location");
    if (strcmp(path, "/not-modified") == 0)
        return peer_answer(conn, 304, "Location: /end\r\n", "");
    if (strcmp(path, "/long-body") == 0) {
        static char block[65536];

        memset(block, 'x', sizeof(block));
        peer_text(conn, "HTTP/1.1 302 X\r\nLocation: /end\r\nContent-Length: 100000000\r\n\r\n");
        while (peer_send(conn, block, sizeof(block)))
            ;
        return false;
    }
    return peer_answer(conn, 200, "", conn->shared->last_body);
}

struct redirect_rig {
    struct rig rig;
    struct table_resolver table;
};

static void open_rig(struct redirect_rig *r, struct test *t, const struct http_options *more)
{
    struct http_options options = more ? *more : (struct http_options){ .policy = NULL };

    table_resolver_init(&r->table, names, &r->rig.loop);
    options.resolver = &r->table.resolver;
    rig_open(&r->rig, t, serve_redirects, NULL, &options);
}

/* "http://HOST:PORT/path" */
static const char *at(struct redirect_rig *r, const char *host, const char *path)
{
    return arena_printf(&r->rig.t->arena, "http://%s:%u%s", host, r->rig.peer.port, path);
}

static void run_url(struct call *call, struct redirect_rig *r, const char *url, unsigned redirects)
{
    call_run(call, &r->rig, &(struct http_request){ .url = url, .max_redirects = redirects });
}

TEST(http_a_redirect_is_an_answer_by_default)
{
    struct redirect_rig r;
    struct call call = { 0 };

    open_rig(&r, t, NULL);
    run_url(&call, &r, at(&r, "here.test", "/to/302/end"), 0);
    ASSERT_CALL_OK(&call, 302);
    ASSERT_STR(buf_str(&call.body), "moved");
    ASSERT_CONTAINS(call.text, "Location: end\n");
    ASSERT_EQ(r.rig.peer.shared->requests, 1);
    call_release(&call);
    rig_close(&r.rig);
}

TEST(http_follows_relative_and_absolute_redirects)
{
    struct redirect_rig r;
    struct call relative = { 0 }, absolute = { 0 }, long_body = { 0 };

    open_rig(&r, t, NULL);
    run_url(&relative, &r, at(&r, "here.test", "/dir/relative"), 3);
    ASSERT_CALL_OK(&relative, 200);
    ASSERT_EQ(relative.result.redirects, 1);
    ASSERT_EQ(relative.heads, 1);
    ASSERT_CONTAINS(r.rig.peer.shared->last_head, "GET /end?x=1 HTTP/1.1\r\nHost: here.test:");
    run_url(&absolute, &r,
            at(&r, "here.test", arena_printf(&t->arena, "/to/307/%s", at(&r, "there.test", "/x"))),
            3);
    ASSERT_CALL_OK(&absolute, 200);
    ASSERT_CONTAINS(r.rig.peer.shared->last_head, "GET /x HTTP/1.1\r\nHost: there.test:");
    run_url(&long_body, &r, at(&r, "here.test", "/long-body"), 3);
    ASSERT_CALL_OK(&long_body, 200);
    call_release(&relative);
    call_release(&absolute);
    call_release(&long_body);
    rig_close(&r.rig);
}

TEST(http_redirects_are_bounded)
{
    struct redirect_rig r;
    struct call call = { 0 };

    open_rig(&r, t, NULL);
    run_url(&call, &r, at(&r, "here.test", "/loop"), 4);
    ASSERT_CALL_FAILED(&call, ERR_PROVIDER_FAILED, HTTP_PHASE_REDIRECT);
    ASSERT_EQ(call.result.redirects, 4);
    ASSERT_EQ(r.rig.peer.shared->requests, 5);
    ASSERT_EQ(call.heads, 0);
    call_release(&call);
    rig_close(&r.rig);
}

TEST(http_only_real_redirects_are_followed)
{
    struct redirect_rig r;
    struct call bare = { 0 }, not_modified = { 0 };

    open_rig(&r, t, NULL);
    run_url(&bare, &r, at(&r, "here.test", "/bare"), 3);
    ASSERT_CALL_OK(&bare, 302);
    ASSERT_STR(buf_str(&bare.body), "no location");
    run_url(&not_modified, &r, at(&r, "here.test", "/not-modified"), 3);
    ASSERT_CALL_OK(&not_modified, 304);
    call_release(&bare);
    call_release(&not_modified);
    rig_close(&r.rig);
}

static const struct http_header secrets[] = {
    { .name = { "Authorization", 13 }, .value = { "Bearer s1", 9 } },
    { .name = { "Cookie", 6 }, .value = { "c=s2", 4 } },
    { .name = { "X-Api-Key", 9 }, .value = { "s3", 2 }, .secret = true },
    { .name = { "X-Plain", 7 }, .value = { "p", 1 } },
};

static void follow_with_secrets(struct redirect_rig *r, const char *target, bool kept)
{
    struct call call = { 0 };
    const char *head = r->rig.peer.shared->last_head;

    call_run(&call, &r->rig,
             &(struct http_request){
                 .url = at(r, "here.test", arena_printf(&r->rig.t->arena, "/to/302/%s", target)),
                 .headers = secrets,
                 .n_headers = 4,
                 .max_redirects = 2 });
    ASSERT_CALL_OK(&call, 200);
    ASSERT_EQ(strstr(head, "Authorization: Bearer s1") != NULL, kept);
    ASSERT_EQ(strstr(head, "Cookie: c=s2") != NULL, kept);
    ASSERT_EQ(strstr(head, "X-Api-Key: s3") != NULL, kept);
    ASSERT_CONTAINS(head, "X-Plain: p");
    call_release(&call);
}

TEST(http_secrets_do_not_follow_to_another_host)
{
    struct redirect_rig r;

    open_rig(&r, t, NULL);
    follow_with_secrets(&r, "/end", true);
    follow_with_secrets(&r, at(&r, "here.test", "/end"), true);
    follow_with_secrets(&r, at(&r, "there.test", "/end"), false);
    follow_with_secrets(&r, at(&r, "127.0.0.1", "/end"), false);
    /* And they do not come back once they were dropped. */
    follow_with_secrets(
        &r,
        at(&r, "there.test", arena_printf(&t->arena, "/to/302/%s", at(&r, "here.test", "/end"))),
        false);
    rig_close(&r.rig);
}

TEST(http_redirects_change_the_method_as_browsers_do)
{
    static const struct {
        const char *method, *path, *becomes;
    } cases[] = {
        { "POST", "/to/301//end", "GET" },  { "POST", "/to/302//end", "GET" },
        { "POST", "/to/303//end", "GET" },  { "POST", "/to/307//end", "POST" },
        { "POST", "/to/308//end", "POST" }, { "PUT", "/to/302//end", "PUT" },
        { "PUT", "/to/303//end", "GET" },
    };
    static const struct http_header type = { .name = { "Content-Type", 12 },
                                             .value = { "text/plain", 10 } };
    struct redirect_rig r;

    open_rig(&r, t, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct call call = { 0 };
        bool stays = strcmp(cases[i].method, cases[i].becomes) == 0;

        call_run(&call, &r.rig,
                 &(struct http_request){ .method = cases[i].method,
                                         .url = at(&r, "here.test", cases[i].path),
                                         .headers = &type,
                                         .n_headers = 1,
                                         .body = STR("payload"),
                                         .max_redirects = 1 });
        ASSERT_CALL_OK(&call, 200);
        ASSERT(str_starts(str_from(r.rig.peer.shared->last_head), str_from(cases[i].becomes)));
        ASSERT_STR(buf_str(&call.body), stays ? "payload" : "");
        ASSERT_EQ(strstr(r.rig.peer.shared->last_head, "Content-Type") != NULL, stays);
        call_release(&call);
    }
    rig_close(&r.rig);
}

TEST(http_bad_redirect_targets_are_refused)
{
    static const struct {
        const char *target;
        enum err_code code;
    } cases[] = {
        { "ftp://here.test/", ERR_PROVIDER_FAILED },
        { "file:///etc/passwd", ERR_PROVIDER_FAILED },
        { "gopher://127.0.0.1:25/_x", ERR_PROVIDER_FAILED },
        { "http://user:pw@here.test/", ERR_PROVIDER_FAILED },
        { "http://private.test/", ERR_NETWORK_DENIED },
        { "http://metadata.test/latest", ERR_NETWORK_DENIED },
        { "http://169.254.169.254/latest", ERR_NETWORK_DENIED },
        { "http://[fd00::1]/", ERR_NETWORK_DENIED },
        { "http://0xa9fea9fe/", ERR_NETWORK_DENIED },
        { "http://gone.test/", ERR_PROVIDER_FAILED },
        { "http://[::1", ERR_PROVIDER_FAILED },
        { "http://a..b/", ERR_PROVIDER_FAILED },
    };
    struct redirect_rig r;

    open_rig(&r, t, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct call call = { 0 };
        unsigned before = r.rig.peer.shared->requests;

        run_url(&call, &r,
                at(&r, "here.test", arena_printf(&t->arena, "/to/302/%s", cases[i].target)), 3);
        if (call.result.err.code != cases[i].code)
            FAIL("%s: %s (%s)", cases[i].target, err_name(call.result.err.code), call_error(&call));
        ASSERT(!strstr(call_error(&call), "pw"));
        ASSERT_EQ(r.rig.peer.shared->requests, before + 1);
        call_release(&call);
    }
    rig_close(&r.rig);
}

/* ---- policy ---- */

TEST(http_public_only_denies_every_spelling_of_this_host)
{
    static const char *const hosts[] = {
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "017700000001",
        "127.1",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::]",
        "localhost",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "here.test",
        "mapped.test",
        "[::127.0.0.1]",
        "0",
    };
    struct redirect_rig r;

    open_rig(&r, t, &(struct http_options){ .policy = &dns_policy_public_only });
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        struct call call = { 0 };

        run_url(&call, &r, at(&r, hosts[i], "/"), 0);
        if (call.result.err.code != ERR_NETWORK_DENIED)
            FAIL("%s: %s", hosts[i], call_error(&call));
        ASSERT_EQ(call.result.phase, HTTP_PHASE_RESOLVE);
        call_release(&call);
    }
    ASSERT_EQ(r.rig.peer.shared->connections, 0);
    rig_close(&r.rig);
}

TEST(http_the_default_allows_loopback_and_no_private_network)
{
    static const struct {
        const char *host;
        bool allowed;
    } cases[] = { { "127.0.0.1", true }, { "0x7f.1", true },        { "here.test", true },
                  { "10.1.2.3", false }, { "private.test", false }, { "metadata.test", false },
                  { "both.test", true }, { "192.168.0.1", false },  { "0.0.0.0", false },
                  { "HERE.Test", true } };
    struct redirect_rig r;

    open_rig(&r, t, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct call call = { 0 };

        run_url(&call, &r, at(&r, cases[i].host, "/"), 0);
        if (call.result.err.code != (cases[i].allowed ? ERR_NONE : ERR_NETWORK_DENIED))
            FAIL("%s: %s", cases[i].host, call_error(&call));
        call_release(&call);
    }
    rig_close(&r.rig);
}

static bool refuse_all(const struct dns_policy *policy, const struct dns_addr *addr)
{
    (void)policy, (void)addr;
    return false;
}

TEST(http_asks_the_callers_own_policy)
{
    struct dns_policy policy = { .allow = refuse_all };
    struct redirect_rig r;
    struct call call = { 0 };

    open_rig(&r, t, &(struct http_options){ .policy = &policy });
    run_url(&call, &r, at(&r, "here.test", "/"), 0);
    ASSERT_CALL_FAILED(&call, ERR_NETWORK_DENIED, HTTP_PHASE_RESOLVE);
    ASSERT_CONTAINS(call_error(&call), "loopback address 127.0.0.1");
    call_release(&call);
    rig_close(&r.rig);
}

/* Allows the check after the lookup, denies the one at the socket: as if libcurl went elsewhere. */
static unsigned asked;
static bool allow_first(const struct dns_policy *policy, const struct dns_addr *addr)
{
    (void)policy, (void)addr;
    return asked++ == 0;
}

TEST(http_checks_the_address_again_where_the_socket_is_opened)
{
    struct dns_policy policy = { .allow = allow_first };
    struct redirect_rig r;
    struct call call = { 0 };

    open_rig(&r, t, &(struct http_options){ .policy = &policy });
    run_url(&call, &r, at(&r, "here.test", "/"), 0);
    ASSERT_CALL_FAILED(&call, ERR_NETWORK_DENIED, HTTP_PHASE_CONNECT);
    ASSERT_EQ(r.rig.peer.shared->connections, 0);
    call_release(&call);
    rig_close(&r.rig);
}

TEST(http_names_that_fail_or_hang_do_not_hold_up_anything)
{
    struct redirect_rig r;
    struct call gone = { 0 }, slow = { 0 }, unknown = { 0 }, cancelled = { 0 };

    open_rig(&r, t, NULL);
    run_url(&gone, &r, "http://gone.test/", 0);
    ASSERT_CALL_FAILED(&gone, ERR_PROVIDER_FAILED, HTTP_PHASE_RESOLVE);
    ASSERT_CONTAINS(call_error(&gone), "no such name");
    run_url(&unknown, &r, "http://nobody.test/", 0);
    ASSERT_CALL_FAILED(&unknown, ERR_PROVIDER_FAILED, HTTP_PHASE_RESOLVE);
    call_run(&slow, &r.rig,
             &(struct http_request){ .url = "http://slow.test/", .limits = { .connect_ms = 50 } });
    ASSERT_CALL_FAILED(&slow, ERR_TIMEOUT, HTTP_PHASE_RESOLVE);
    call_start(&cancelled, &r.rig, &(struct http_request){ .url = "http://slow.test/" });
    http_cancel(cancelled.x);
    rig_run(&r.rig);
    ASSERT_CALL_FAILED(&cancelled, ERR_CANCELLED, HTTP_PHASE_RESOLVE);
    ASSERT_EQ(r.table.cancelled, 2);
    call_release(&gone);
    call_release(&slow);
    call_release(&unknown);
    call_release(&cancelled);
    rig_close(&r.rig);
}

TEST(http_falls_back_to_the_next_address_of_a_name)
{
    static const struct table_name two[] = { { "two.test", "127.9.9.9,127.0.0.1", 0 },
                                             { NULL, NULL, 0 } };
    struct redirect_rig r;
    struct call call = { 0 };

    open_rig(&r, t, NULL);
    r.table.names = two;
    run_url(&call, &r, at(&r, "two.test", "/"), 0);
    ASSERT_CALL_OK(&call, 200);
    call_release(&call);
    rig_close(&r.rig);
}

/* ---- proxies ---- */

static bool serve_proxy(struct peer_conn *conn)
{
    char value[256];

    if (!peer_header(conn, "Proxy-Authorization", value, sizeof(value)))
        strcpy(value, "none");
    conn->shared->counter++;
    if (strcmp(conn->method, "CONNECT") == 0)
        return peer_answer(conn, 403, "", "");
    return peer_answer(conn, 200, "", value);
}

struct proxy_case {
    const char *url, *no_proxy;
    bool through;
};

TEST(http_goes_through_a_proxy_but_for_exceptions)
{
    static const struct proxy_case cases[] = {
        { "http://anything.example/x", NULL, true },
        { "http://anything.example/x", "other.example", true },
        { "http://anything.example/x", "ing.example", true },
        { "http://here.test:PORT/", "here.test", false },
        { "http://here.test:PORT/", " .test , x", false },
        { "http://127.0.0.1:PORT/", "127.0.0.1", false },
        { "http://here.test:PORT/", "*", false },
        { "http://here.test:PORT/", "", true },
    };
    struct redirect_rig r;
    struct http_peer proxy;
    const char *proxy_url;

    peer_start(&proxy, serve_proxy, NULL);
    proxy_url = arena_printf(&t->arena, "http://user:p%%40ss@here.test:%u", proxy.port);
    open_rig(&r, t, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct call call = { 0 };
        unsigned before = proxy.shared->counter;
        const char *port = strstr(cases[i].url, "PORT");
        const char *url = !port ? cases[i].url
                                : arena_printf(&t->arena, "%.*s%u/", (int)(port - cases[i].url),
                                               cases[i].url, r.rig.peer.port);

        call_run(&call, &r.rig,
                 &(struct http_request){
                     .url = url, .proxy_url = proxy_url, .no_proxy = cases[i].no_proxy });
        ASSERT_CALL_OK(&call, 200);
        if (proxy.shared->counter - before != cases[i].through)
            FAIL("%s with no_proxy %s", cases[i].url, cases[i].no_proxy);
        if (cases[i].through)
            ASSERT_STR(buf_str(&call.body), "Basic dXNlcjpwQHNz"); /* user:p@ss */
        call_release(&call);
    }
    ASSERT_CONTAINS(proxy.shared->last_head, "GET http://here.test:");
    peer_stop(&proxy);
    rig_close(&r.rig);
}

TEST(http_a_proxy_does_not_open_what_the_policy_denies)
{
    static const char *const urls[] = { "http://127.0.0.1/", "http://localhost/",
                                        "http://x.localhost/", "http://[::1]/",
                                        "http://169.254.169.254/" };
    struct redirect_rig r;
    struct http_peer proxy;

    peer_start(&proxy, serve_proxy, NULL);
    open_rig(&r, t,
             &(struct http_options){
                 .policy = &dns_policy_public_only,
                 .proxy_url = arena_printf(&t->arena, "http://127.0.0.1:%u", proxy.port) });
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct call call = { 0 };

        run_url(&call, &r, urls[i], 0);
        ASSERT_CALL_FAILED(&call, ERR_NETWORK_DENIED, HTTP_PHASE_RESOLVE);
        call_release(&call);
    }
    ASSERT_EQ(proxy.shared->connections, 0);
    peer_stop(&proxy);
    rig_close(&r.rig);
}

TEST(http_a_proxy_that_refuses_a_tunnel_is_named)
{
    struct redirect_rig r;
    struct http_peer proxy;
    struct call call = { 0 };

    peer_start(&proxy, serve_proxy, NULL);
    open_rig(
        &r, t,
        &(struct http_options){
            .proxy_url = arena_printf(&t->arena, "http://u:secretpw@127.0.0.1:%u", proxy.port) });
    run_url(&call, &r, "https://anything.example/", 0);
    ASSERT_CALL_FAILED(&call, ERR_PROVIDER_FAILED, HTTP_PHASE_CONNECT);
    ASSERT_CONTAINS(call_error(&call), "the proxy answered 403");
    ASSERT(!strstr(call_error(&call), "secretpw"));
    ASSERT_CONTAINS(proxy.shared->last_head, "CONNECT anything.example:443 HTTP/1.1");
    call_release(&call);
    peer_stop(&proxy);
    rig_close(&r.rig);
}

TEST(http_environment_proxies_do_not_count)
{
    struct redirect_rig r;
    struct call call = { 0 };

    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("HTTPS_PROXY", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    open_rig(&r, t, NULL);
    run_url(&call, &r, at(&r, "here.test", "/"), 0);
    ASSERT_CALL_OK(&call, 200);
    call_release(&call);
    rig_close(&r.rig);
}

TEST(http_the_environment_does_not_switch_a_proxy_off)
{
    struct redirect_rig r;
    struct http_peer proxy;
    struct call call = { 0 };

    setenv("no_proxy", "*", 1);
    peer_start(&proxy, serve_proxy, NULL);
    open_rig(&r, t,
             &(struct http_options){
                 .proxy_url = arena_printf(&t->arena, "http://127.0.0.1:%u", proxy.port) });
    run_url(&call, &r, at(&r, "here.test", "/"), 0);
    ASSERT_CALL_OK(&call, 200);
    ASSERT_EQ(proxy.shared->counter, 1);
    call_release(&call);
    peer_stop(&proxy);
    rig_close(&r.rig);
}
