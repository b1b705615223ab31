/* URLs of requests and proxies: http://host[:port][/path][?query][#fragment], nothing looser.
 *
 * libcurl parses the text again for itself. What two parsers could read differently (backslashes,
 * percent signs or '@' in the host, white space, control bytes, bytes over 127) is refused here.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "loop/http_int.h"

static int parse_scheme(struct str *rest, struct http_url *url, struct err *err)
{
    if (rest->n >= 7 && str_eq_nocase(str_take(*rest, 7), STR("http://"))) {
        *rest = str_skip(*rest, 7);
    } else if (rest->n >= 8 && str_eq_nocase(str_take(*rest, 8), STR("https://"))) {
        *rest = str_skip(*rest, 8);
        url->https = true;
    } else {
        return err_set(err, ERR_BAD_REQUEST, "URL: it must begin with http:// or https://");
    }
    return 0;
}

static int check_bytes(struct str text, struct err *err)
{
    if (text.n > HTTP_URL_MAX)
        return err_set(err, ERR_BAD_REQUEST, "URL: %zu bytes, at most %d are allowed", text.n,
                       HTTP_URL_MAX);
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] <= 0x20 || (unsigned char)text.p[i] >= 0x7F ||
            text.p[i] == '\\')
            return err_set(err, ERR_BAD_REQUEST,
                           "URL: byte %zu (0x%02x) must be percent-encoded, or punycode in a host",
                           i, (unsigned char)text.p[i]);
    return 0;
}

static int parse_port(struct str port, struct http_url *url, struct err *err)
{
    uint64_t number;

    if (str_to_u64(port, &number) < 0 || number < 1 || number > 65535)
        return err_set(err, ERR_BAD_REQUEST, "URL: the port must be a number from 1 to 65535");
    url->port = (uint16_t)number;
    return 0;
}

static int parse_host(struct str host, struct http_url *url, struct err *err)
{
    int literal = dns_literal(host, &url->addr);

    if (literal < 0)
        return err_set(err, ERR_BAD_REQUEST, "URL: the host \"%.*s\" is no valid IP address",
                       STR_ARG(str_take(host, 64)));
    url->numeric = literal > 0;
    if (!url->numeric && !dns_name_ok(host))
        return err_set(err, ERR_BAD_REQUEST,
                       "URL: the host must be a name of letters, digits, '-', '_' and dots, or an"
                       " IP address");
    if (host.n > 0 && host.p[0] == '[')
        host = str_of(host.p + 1, host.n - 2);
    url->host = host;
    return 0;
}

/* host[:port], with an IPv6 address in brackets. */
static int parse_authority(struct str authority, struct http_url *url, struct err *err)
{
    ptrdiff_t colon;
    size_t host_n = authority.n;

    if (authority.n > 0 && authority.p[0] == '[') {
        ptrdiff_t end = str_find_char(authority, ']');

        if (end < 0)
            return err_set(err, ERR_BAD_REQUEST, "URL: '[' without ']' in the host");
        host_n = (size_t)end + 1;
        if (host_n < authority.n && authority.p[host_n] != ':')
            return err_set(err, ERR_BAD_REQUEST, "URL: after ']' only a port may follow");
    } else if ((colon = str_find_char(authority, ':')) >= 0) {
        host_n = (size_t)colon;
    }
    url->port = url->https ? 443 : 80;
    if (host_n < authority.n && parse_port(str_skip(authority, host_n + 1), url, err) < 0)
        return -1;
    return parse_host(str_take(authority, host_n), url, err);
}

static struct str cut_authority(struct str *rest)
{
    size_t n = 0;
    struct str authority;

    while (n < rest->n && rest->p[n] != '/' && rest->p[n] != '?' && rest->p[n] != '#')
        n++;
    authority = str_take(*rest, n);
    *rest = str_skip(*rest, n);
    return authority;
}

int http_url_parse(const char *text, struct http_url *ret_url, struct err *err)
{
    struct http_url url = { .text = text };
    struct str rest = str_from(text), authority;

    if (check_bytes(rest, err) < 0 || parse_scheme(&rest, &url, err) < 0)
        return -1;
    authority = cut_authority(&rest);
    if (str_find_char(authority, '@') >= 0)
        return err_set(err, ERR_BAD_REQUEST, "URL: credentials are not allowed, use a header");
    if (parse_authority(authority, &url, err) < 0)
        return -1;
    *ret_url = url;
    return 0;
}

int http_proxy_parse(const char *text, struct http_url *ret_url, struct err *err)
{
    struct http_url url = { .text = text };
    struct str rest = str_from(text), authority;
    size_t at;

    if (check_bytes(rest, err) < 0 || parse_scheme(&rest, &url, err) < 0)
        return err_wrap(err, "proxy");
    authority = cut_authority(&rest);
    if (rest.n > 0 && !str_is(rest, "/"))
        return err_set(err, ERR_BAD_REQUEST, "proxy: URL: only host and port may be given");
    for (at = authority.n; at > 0 && authority.p[at - 1] != '@'; at--)
        ;
    if (str_find_char(str_take(authority, at > 0 ? at - 1 : 0), '@') >= 0)
        return err_set(err, ERR_BAD_REQUEST, "proxy: URL: '@' in a password must be encoded");
    if (parse_authority(str_skip(authority, at), &url, err) < 0)
        return err_wrap(err, "proxy");
    *ret_url = url;
    return 0;
}

bool http_same_origin(const struct http_url *a, const struct http_url *b)
{
    return a->https == b->https && a->port == b->port && str_eq_nocase(a->host, b->host);
}

static bool has_suffix(struct str host, struct str suffix)
{
    return host.n >= suffix.n && str_eq_nocase(str_skip(host, host.n - suffix.n), suffix);
}

bool http_is_localhost(const struct http_url *url)
{
    return str_eq_nocase(url->host, STR("localhost")) || has_suffix(url->host, STR(".localhost"));
}

const char *http_origin_text(const struct http_url *url, char out[HTTP_ORIGIN_TEXT])
{
    bool v6 = str_find_char(url->host, ':') >= 0;

    snprintf(out, HTTP_ORIGIN_TEXT, "%s://%s%.*s%s:%u", url->https ? "https" : "http",
             v6 ? "[" : "", STR_ARG(url->host), v6 ? "]" : "", url->port);
    return out;
}

/* "example.org" and ".example.org" both mean it and all below it. */
static bool no_proxy_entry(struct str entry, const struct http_url *url)
{
    struct dns_addr addr;

    if (str_is(entry, "*"))
        return true;
    if (dns_literal(entry, &addr) > 0)
        return url->numeric && dns_addr_eq(&addr, &url->addr);
    if (entry.n > 0 && entry.p[0] == '.')
        entry = str_skip(entry, 1);
    if (entry.n == 0 || url->numeric || !has_suffix(url->host, entry))
        return false;
    return url->host.n == entry.n || url->host.p[url->host.n - entry.n - 1] == '.';
}

bool http_no_proxy(const char *list, const struct http_url *url)
{
    struct str rest = str_from(list), entry;

    if (!list)
        return false;
    while (str_split(&rest, ',', &entry))
        if (no_proxy_entry(str_trim(entry), url))
            return true;
    return false;
}
