/* Fuzz target: texts of the HTTP client that come from outside (URLs, proxies, no_proxy lists, host
 * spellings, Retry-After). A URL that we accept must mean the same host and port to libcurl, or an
 * address check could be walked around.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include "loop/http_curl_int.h"
#include "loop/http_retry.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must_mean_the_same(const struct http_lib *lib, const struct http_url *ours)
{
    CURLU *url = lib->url();
    char *host = NULL, *port = NULL, *user = NULL;
    struct dns_addr addr;

    if (lib->url_set(url, CURLUPART_URL, ours->text, 0) != CURLUE_OK) {
        lib->url_cleanup(url); /* it refuses more: no harm */
        return;
    }
    if (lib->url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
        lib->url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK ||
        lib->url_get(url, CURLUPART_USER, &user, 0) != CURLUE_NO_USER || atoi(port) != ours->port)
        abort();
    if (dns_literal(str_from(host), &addr) > 0) {
        if (!ours->numeric || !dns_addr_eq(&addr, &ours->addr))
            abort();
    } else if (ours->numeric || !str_eq_nocase(str_from(host), ours->host)) {
        abort();
    }
    lib->free(host);
    lib->free(port);
    lib->url_cleanup(url);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const struct http_lib *lib;
    char *text = alloc_copy((const char *)bytes, n);
    char origin[HTTP_ORIGIN_TEXT];
    struct http_url url, proxy;
    struct dns_addr addr;

    if (!lib && http_lib_load(&lib, NULL) < 0)
        abort();
    if (http_url_parse(text, &url, NULL) == 0) {
        must_mean_the_same(lib, &url);
        http_origin_text(&url, origin);
        http_no_proxy(text, &url);
        http_is_localhost(&url);
    }
    http_proxy_parse(text, &proxy, NULL);
    if (dns_literal(str_of((const char *)bytes, n), &addr) > 0)
        (void)dns_class_name(dns_class(&addr));
    if (http_retry_after_ms(str_of((const char *)bytes, n), 1700000000000) < -1)
        abort();
    free(text);
    return 0;
}
