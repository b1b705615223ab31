/* Requests: what is refused, and copies that outlive the caller's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/buf.h"
#include "loop/http_int.h"

static bool is_token(struct str s)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') &&
            !(c && strchr(marks, c)))
            return false;
    }
    return s.n > 0;
}

static int check_method(const char *method, struct err *err)
{
    struct str m = str_from(method);

    if (!is_token(m) || m.n > 32)
        return err_set(err, ERR_BAD_REQUEST, "method: it must be a word such as GET or POST");
    if (str_eq_nocase(m, STR("CONNECT")) || str_eq_nocase(m, STR("TRACE")))
        return err_set(err, ERR_BAD_REQUEST, "method: %s is not allowed", method);
    return 0;
}

/* Those that decide how the message is framed and where it goes: the client sets them. */
static bool is_ours(struct str name)
{
    static const char *const ours[] = { "Host",       "Content-Length",   "Transfer-Encoding",
                                        "Connection", "Proxy-Connection", "Keep-Alive",
                                        "Expect",     "Upgrade",          "TE",
                                        "Trailer" };

    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (str_eq_nocase(name, str_from(ours[i])))
            return true;
    return false;
}

/* The value may be a secret: never in the text. */
static int check_header(const struct http_header *header, struct err *err)
{
    if (!is_token(header->name) || header->name.n > 256)
        return err_set(err, ERR_BAD_REQUEST, "header: a name must be a token");
    if (is_ours(header->name))
        return err_set(err, ERR_BAD_REQUEST, "header %.*s: it is set by the client itself",
                       STR_ARG(header->name));
    for (size_t i = 0; i < header->value.n; i++) {
        unsigned char c = (unsigned char)header->value.p[i];

        if ((c < 0x20 && c != '\t') || c == 0x7F)
            return err_set(err, ERR_BAD_REQUEST,
                           "header %.*s: line ends, NUL and control bytes are not allowed",
                           STR_ARG(header->name));
    }
    return 0;
}

static int check_headers(const struct http_request *request, struct err *err)
{
    size_t total = 0;

    if (request->n_headers > HTTP_HEADERS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%zu headers, at most %d are allowed",
                       request->n_headers, HTTP_HEADERS_MAX);
    for (size_t i = 0; i < request->n_headers; i++) {
        if (check_header(&request->headers[i], err) < 0)
            return -1;
        total += request->headers[i].name.n + request->headers[i].value.n;
    }
    if (total > HTTP_HEADER_SENT_MAX)
        return err_set(err, ERR_BAD_REQUEST, "headers: %zu bytes, at most %u are allowed", total,
                       HTTP_HEADER_SENT_MAX);
    return 0;
}

static int check_text(const char *what, const char *text, struct err *err)
{
    for (; text && *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            return err_set(err, ERR_BAD_REQUEST, "%s: control bytes are not allowed", what);
    return 0;
}

static int check_limits(const struct http_limits *limits, struct err *err)
{
    const struct {
        const char *name;
        int64_t value, least;
    } all[] = {
        { "connect_ms", limits->connect_ms, HTTP_NEVER },
        { "first_byte_ms", limits->first_byte_ms, HTTP_NEVER },
        { "idle_ms", limits->idle_ms, HTTP_NEVER },
        { "total_ms", limits->total_ms, HTTP_NEVER },
        { "max_header_bytes", limits->max_header_bytes, 0 },
        { "max_body_bytes", limits->max_body_bytes, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].value < all[i].least)
            return err_set(err, ERR_BAD_REQUEST, "%s: %lld is not allowed", all[i].name,
                           (long long)all[i].value);
    return 0;
}

int http_request_check(const struct http_request *request, struct err *err)
{
    struct http_url url;

    if (request->method && check_method(request->method, err) < 0)
        return -1;
    if (!request->url)
        return err_set(err, ERR_BAD_REQUEST, "URL: there is none");
    if (http_url_parse(request->url, &url, err) < 0)
        return -1;
    if (request->proxy_url && *request->proxy_url &&
        http_proxy_parse(request->proxy_url, &url, err) < 0)
        return -1;
    if (request->body.n > 0 && request->source)
        return err_set(err, ERR_BAD_REQUEST, "body: give bytes or a source, not both");
    if (request->body.n > HTTP_BODY_SENT_MAX)
        return err_set(err, ERR_BAD_REQUEST, "body: %zu bytes, at most %u are allowed",
                       request->body.n, HTTP_BODY_SENT_MAX);
    if (request->max_redirects > HTTP_REDIRECTS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "max_redirects: %u, at most %d are allowed",
                       request->max_redirects, HTTP_REDIRECTS_MAX);
    if (check_text("user agent", request->user_agent, err) < 0 ||
        check_limits(&request->limits, err) < 0)
        return -1;
    return check_headers(request, err);
}

static const char *copy_text(struct arena *arena, const char *text)
{
    return text ? arena_text(arena, text) : NULL;
}

static int64_t or_default(int64_t value, int64_t otherwise)
{
    return value ? value : otherwise;
}

static void copy_limits(const struct http_limits *from, struct http_limits *to)
{
    *to = (struct http_limits){
        .connect_ms = or_default(from->connect_ms, HTTP_CONNECT_MS),
        .first_byte_ms = or_default(from->first_byte_ms, HTTP_FIRST_BYTE_MS),
        .idle_ms = or_default(from->idle_ms, HTTP_IDLE_MS),
        .total_ms = or_default(from->total_ms, HTTP_TOTAL_MS),
        .max_header_bytes = or_default(from->max_header_bytes, HTTP_MAX_HEADER_BYTES),
        .max_body_bytes = or_default(from->max_body_bytes, HTTP_MAX_BODY_BYTES),
    };
}

void http_request_copy(struct arena *arena, const struct http_request *request,
                       struct http_request *ret_request)
{
    struct http_request copy = *request;
    struct http_header *headers = ARENA_NEW_N(arena, struct http_header, request->n_headers + 1);

    for (size_t i = 0; i < request->n_headers; i++) {
        headers[i] = request->headers[i];
        headers[i].name = arena_str(arena, headers[i].name);
        headers[i].value = arena_str(arena, headers[i].value);
    }
    copy.method = arena_text(arena, request->method ? request->method : "GET");
    copy.url = arena_text(arena, request->url);
    copy.headers = headers;
    copy.body = arena_str(arena, request->body);
    copy.proxy_url = copy_text(arena, request->proxy_url);
    copy.no_proxy = copy_text(arena, request->no_proxy);
    copy.ca_file = copy_text(arena, request->ca_file);
    copy.ca_path = copy_text(arena, request->ca_path);
    copy.user_agent = copy_text(arena, request->user_agent);
    copy_limits(&request->limits, &copy.limits);
    *ret_request = copy;
}

bool http_is_secret(const struct http_header *header)
{
    return header->secret || str_eq_nocase(header->name, STR("Authorization")) ||
           str_eq_nocase(header->name, STR("Cookie")) ||
           str_eq_nocase(header->name, STR("Proxy-Authorization"));
}

bool http_may_repeat(const struct http_request *request)
{
    static const char *const idempotent[] = { "GET", "HEAD", "OPTIONS", "PUT", "DELETE" };

    for (size_t i = 0; i < ARRAY_LEN(idempotent); i++)
        if (strcmp(request->method, idempotent[i]) == 0)
            return true;
    return request->safe;
}
