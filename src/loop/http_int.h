/* Requests and URLs, shared by the implementations of struct http_ops.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_HTTP_INT_H
#define DORMOUSE_LOOP_HTTP_INT_H

#include "base/arena.h"
#include "loop/dns.h"
#include "loop/http.h"

/* ---- URLs ---- */

/* Parsed by a stricter grammar than libcurl's, so that the two can't disagree about the host. */
struct http_url {
    const char *text; /* the URL; whoever parsed it keeps it */
    bool https;
    bool numeric; /* addr holds the host */
    uint16_t port;
    struct str host; /* without brackets */
    struct dns_addr addr;
};

/* bad_request names what is wrong, never the URL's path, query or credentials. */
int http_url_parse(const char *text, struct http_url *ret_url, struct err *err);
/* As above, for a proxy: credentials are allowed, a path is not. */
int http_proxy_parse(const char *text, struct http_url *ret_url, struct err *err);
bool http_same_origin(const struct http_url *a, const struct http_url *b);
/* A name that means this host whatever a name server says. */
bool http_is_localhost(const struct http_url *url);
/* "https://host:443" */
#define HTTP_ORIGIN_TEXT (DNS_NAME_MAX + 32)
const char *http_origin_text(const struct http_url *url, char out[HTTP_ORIGIN_TEXT]);
/* list NULL: never. */
bool http_no_proxy(const char *list, const struct http_url *url);

/* ---- requests ---- */

int http_request_check(const struct http_request *request, struct err *err);
/* Deep, but for source; defaults filled in. */
void http_request_copy(struct arena *arena, const struct http_request *request,
                       struct http_request *ret_request);
bool http_is_secret(const struct http_header *header);
/* An idempotent method, or the caller said it is safe. request has a method. */
bool http_may_repeat(const struct http_request *request);

#endif
