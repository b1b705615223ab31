/* What is refused before anything is sent: URLs, proxies, requests.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "harness/test.h"
#include "loop/http_int.h"

TEST(http_url_reads_scheme_host_and_port)
{
    static const struct {
        const char *url, *origin;
    } cases[] = {
        { "http://example.org", "http://example.org:80" },
        { "HTTPS://Example.org/", "https://Example.org:443" },
        { "http://example.org:8080/a/b?c=d#e", "http://example.org:8080" },
        { "https://example.org?q=a@b", "https://example.org:443" },
        { "http://example.org#f@g", "http://example.org:80" },
        { "http://example.org/x@y:z", "http://example.org:80" },
        { "http://[2001:db8::1]:81/", "http://[2001:db8::1]:81" },
        { "http://[::1]", "http://[::1]:80" },
        { "http://0x7f.1:65535/", "http://0x7f.1:65535" },
        { "http://a_b-c.example/", "http://a_b-c.example:80" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_url url;
        char origin[HTTP_ORIGIN_TEXT];

        ASSERT_OK(http_url_parse(cases[i].url, &url, &t->err));
        ASSERT_TEXT(http_origin_text(&url, origin), cases[i].origin);
    }
}

TEST(http_url_refuses_what_two_parsers_could_read_differently)
{
    static const char *const bad[] = {
        "",
        "example.org",
        "//example.org/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http:/example.org/",
        "http:example.org",
        "http://",
        "http:///path",
        "http://?q",
        "http://:80/",
        "http://user@example.org/",
        "http://user:password@example.org/",
        "http://@example.org/",
        "http://example.org:/",
        "http://example.org:0/",
        "http://example.org:65536/",
        "http://example.org:+80/",
        "http://example.org:8 0/",
        "http://example.org:80:90/",
        "http://exa mple.org/",
        "http://example.org/a b",
        "http://example.org/\r\nHost: evil",
        "http://example.org/\t",
        "http://example.org\\@evil.test/",
        "http://evil.test\\.example.org/",
        "http://exam%70le.org/",
        "http://b\xC3\xBC.example/",
        "http://example.org/\xC3\xBC",
        "http://[::1",
        "http://[::1]x/",
        "http://[fe80::1%25eth0]/",
        "http://[127.0.0.1.5]/",
        "http://::1/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://example..org/",
        "http://.example.org/",
        "http://example.org./",
        "http://a,b/",
        "http://a;b/",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct http_url url = { .port = 7 };

        err_reset(&t->err);
        if (http_url_parse(bad[i], &url, &t->err) >= 0)
            FAIL("\"%s\" was accepted", bad[i]);
        ASSERT_EQ(t->err.code, ERR_BAD_REQUEST);
        ASSERT_EQ(url.port, 7); /* untouched */
        ASSERT(!strstr(test_err_text(t), "password"));
    }
}

TEST(http_url_is_bounded)
{
    char *text = alloc_zero(1, HTTP_URL_MAX + 2);
    struct http_url url;
    int n = snprintf(text, HTTP_URL_MAX, "http://example.org/");

    memset(text + n, 'a', (size_t)(HTTP_URL_MAX - n));
    ASSERT_OK(http_url_parse(text, &url, &t->err));
    text[HTTP_URL_MAX] = 'a';
    ASSERT_FAILS(http_url_parse(text, &url, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "8193 bytes, at most 8192");
    free(text);
}

TEST(http_proxy_url_may_carry_credentials_but_no_path)
{
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        { "http://proxy.example:3128", true },
        { "http://proxy.example:3128/", true },
        { "https://proxy.example", true },
        { "http://user:p%40ss@proxy.example:3128", true },
        { "http://user:p@ss@proxy.example:3128", false },
        { "http://proxy.example/path", false },
        { "http://proxy.example?x", false },
        { "socks5://proxy.example", false },
        { "proxy.example:3128", false },
        { "http://user:secretpw@:80", false },
        { "http://user:secretpw@bad host", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_url url;
        int result;

        err_reset(&t->err);
        result = http_proxy_parse(cases[i].text, &url, &t->err);
        if ((result >= 0) != cases[i].good)
            FAIL("%s: %s", cases[i].text, test_err_text(t));
        if (result >= 0)
            ASSERT_STR(url.host, "proxy.example");
        else
            ASSERT(!strstr(test_err_text(t), "secretpw"));
    }
}

static struct http_url parsed(const char *text)
{
    struct http_url url = { .port = 0 };

    if (http_url_parse(text, &url, NULL) < 0)
        FAIL("%s", text);
    return url;
}

TEST(http_origin_is_scheme_host_and_port)
{
    struct http_url base = parsed("https://example.org/a");
    static const struct {
        const char *url;
        bool same;
    } cases[] = {
        { "https://EXAMPLE.org:443/b", true },  { "https://example.org:444/", false },
        { "http://example.org/", false },       { "https://www.example.org/", false },
        { "https://example.org.evil/", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_url other = parsed(cases[i].url);

        ASSERT_EQ(http_same_origin(&base, &other), cases[i].same);
    }
}

TEST(http_no_proxy_matches_whole_labels)
{
    static const struct {
        const char *list, *url;
        bool match;
    } cases[] = {
        { "example.org", "http://example.org/", true },
        { "example.org", "http://www.Example.ORG/", true },
        { ".example.org", "http://example.org/", true },
        { "example.org", "http://notexample.org/", false },
        { "a, b ,example.org", "http://x.example.org/", true },
        { "10.0.0.1", "http://10.0.0.1/", true },
        { "10.0.0.1", "http://10.1/", true },
        { "0.1", "http://10.0.0.1/", false },
        { "[::1]", "http://[::1]/", true },
        { "::1", "http://[0:0::1]/", true },
        { "*", "http://any.example/", true },
        { "", "http://any.example/", false },
        { ",,.", "http://any.example/", false },
        { NULL, "http://any.example/", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_url url = parsed(cases[i].url);

        if (http_no_proxy(cases[i].list, &url) != cases[i].match)
            FAIL("\"%s\" and %s", cases[i].list, cases[i].url);
    }
}

/* ---- requests ---- */

static int check_with_header(struct test *t, struct str name, struct str value)
{
    struct http_header header = { .name = name, .value = value };

    err_reset(&t->err);
    return http_request_check(
        &(struct http_request){ .url = "http://example.org/", .headers = &header, .n_headers = 1 },
        &t->err);
}

TEST(http_request_refuses_header_injection_and_never_shows_the_value)
{
    static const struct {
        const char *name, *value;
        size_t n;
    } bad[] = {
        { "X-A", "secret\r\nEvil: 1", 15 },
        { "X-A", "secret\nEvil: 1", 14 },
        { "X-A", "secret\rEvil", 11 },
        { "X-A", "secret\0x", 8 },
        { "X-A", "secret\x7f", 7 },
        { "X-A", "secret\x01", 7 },
        { "X A", "secret", 6 },
        { "X-A:", "secret", 6 },
        { "", "secret", 6 },
        { "X-\r\nB", "secret", 6 },
        { "X-\xC3\xBC", "secret", 6 },
        { "(x)", "secret", 6 },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ASSERT_FAILS(check_with_header(t, str_from(bad[i].name), str_of(bad[i].value, bad[i].n)),
                     ERR_BAD_REQUEST);
        ASSERT(!strstr(test_err_text(t), "secret"));
    }
    ASSERT_OK(check_with_header(t, STR("X-A"), STR("a\tb \xC3\xBC")));
    ASSERT_OK(check_with_header(t, STR("X-A"), STR("")));
    ASSERT_FAILS(check_with_header(t, STR("X\0A"), STR("")), ERR_BAD_REQUEST);
}

TEST(http_request_keeps_framing_headers_to_itself)
{
    static const char *const ours[] = {
        "Host", "content-length", "Transfer-Encoding", "CONNECTION",      "Expect", "Upgrade",
        "TE",   "Trailer",        "Keep-Alive",        "Proxy-Connection"
    };

    for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
        ASSERT_FAILS(check_with_header(t, str_from(ours[i]), STR("x")), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), ours[i]);
    }
}

static int check(struct test *t, struct http_request request)
{
    err_reset(&t->err);
    if (!request.url)
        request.url = "http://example.org/";
    return http_request_check(&request, &t->err);
}

TEST(http_request_refuses_bad_methods_limits_and_sizes)
{
    static const char *const methods[] = { "",           "GET POST",
                                           "GET\r\n",    "CONNECT",
                                           "connect",    "TRACE",
                                           "G\xC3\xBCT", "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ" };
    struct http_header *many = alloc_zero(HTTP_HEADERS_MAX + 1, sizeof(*many));
    char *big = alloc_zero(1, HTTP_HEADER_SENT_MAX + 2);
    struct http_source source = { .size = -1 };

    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        ASSERT_FAILS(check(t, (struct http_request){ .method = methods[i] }), ERR_BAD_REQUEST);
    ASSERT_OK(check(t, (struct http_request){ .method = "PROPFIND" }));
    ASSERT_FAILS(http_request_check(&(struct http_request){ .url = NULL }, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(check(t, (struct http_request){ .limits = { .connect_ms = -2 } }),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "connect_ms");
    ASSERT_OK(check(t, (struct http_request){ .limits = { .total_ms = HTTP_NEVER } }));
    ASSERT_FAILS(check(t, (struct http_request){ .limits = { .max_body_bytes = -1 } }),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(check(t, (struct http_request){ .max_redirects = HTTP_REDIRECTS_MAX + 1 }),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(check(t, (struct http_request){ .user_agent = "a\nb" }), ERR_BAD_REQUEST);
    ASSERT_FAILS(check(t, (struct http_request){ .proxy_url = "socks5://x" }), ERR_BAD_REQUEST);
    ASSERT_OK(check(t, (struct http_request){ .proxy_url = "" }));
    ASSERT_FAILS(check(t, (struct http_request){ .body = STR("x"), .source = &source }),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(check(t, (struct http_request){ .body = { "x", (size_t)HTTP_BODY_SENT_MAX + 1 } }),
                 ERR_BAD_REQUEST);
    for (size_t i = 0; i <= HTTP_HEADERS_MAX; i++)
        many[i] = (struct http_header){ .name = STR("X"), .value = STR("y") };
    ASSERT_OK(check(t, (struct http_request){ .headers = many, .n_headers = HTTP_HEADERS_MAX }));
    ASSERT_FAILS(
        check(t, (struct http_request){ .headers = many, .n_headers = HTTP_HEADERS_MAX + 1 }),
        ERR_BAD_REQUEST);
    memset(big, 'b', HTTP_HEADER_SENT_MAX);
    many[0].value = str_of(big, HTTP_HEADER_SENT_MAX);
    ASSERT_FAILS(check(t, (struct http_request){ .headers = many, .n_headers = 1 }),
                 ERR_BAD_REQUEST);
    free(many);
    free(big);
}

TEST(http_request_copy_shares_nothing_with_the_original)
{
    AUTO_ARENA arena = ARENA_INIT;
    char url[] = "http://example.org/", name[] = "X-A", value[] = "v", body[] = "body";
    struct http_header header = { .name = str_from(name), .value = str_from(value) };
    struct http_request copy, request = { .url = url,
                                          .headers = &header,
                                          .n_headers = 1,
                                          .body = str_from(body),
                                          .limits = { .idle_ms = 7, .total_ms = HTTP_NEVER } };

    http_request_copy(&arena, &request, &copy);
    memset(url, 'x', sizeof(url) - 1);
    name[0] = value[0] = body[0] = 'x';
    header.name = STR_NONE;
    ASSERT_TEXT(copy.url, "http://example.org/");
    ASSERT_TEXT(copy.method, "GET");
    ASSERT_STR(copy.headers[0].name, "X-A");
    ASSERT_STR(copy.headers[0].value, "v");
    ASSERT_STR(copy.body, "body");
    ASSERT_EQ(copy.limits.idle_ms, 7);
    ASSERT_EQ(copy.limits.total_ms, HTTP_NEVER);
    ASSERT_EQ(copy.limits.connect_ms, HTTP_CONNECT_MS);
    ASSERT_EQ(copy.limits.max_body_bytes, HTTP_MAX_BODY_BYTES);
}
