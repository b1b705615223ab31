/* The head of a request: its headers, and whether it is let in.
 *
 * Framing first, since two readings of where a request ends are how requests are smuggled; then the
 * host, the route, who asks and from where, and how long the body may be.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/limits.h"
#include "serve/serve_int.h"

static bool is_token(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i], letter = (char)(c | 0x20);

        if (!(letter >= 'a' && letter <= 'z') && !(c >= '0' && c <= '9') &&
            (c == '\0' || !strchr("-_!#$%&'*+.^`|~", c)))
            return false;
    }
    return name.n > 0;
}

static bool has_control(struct str value)
{
    for (size_t i = 0; i < value.n; i++)
        if (((unsigned char)value.p[i] < 0x20 && value.p[i] != '\t') || value.p[i] == 0x7F)
            return true;
    return false;
}

/* libmicrohttpd 0.9.75 keeps names with a blank before their colon, and adds what stands on a
 * folded line to the name. Others read these as the header itself, so none may begin like one that
 * says where the request ends. */
static bool is_twisted(struct str name)
{
    static const char *const ends[] = { "Content-Length", "Transfer-Encoding" };

    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_eq_nocase(str_take(name, strlen(ends[i])), str_from(ends[i])))
            return name.n > strlen(ends[i]);
    return false;
}

enum MHD_Result request_take_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                    size_t name_n, const char *value, size_t value_n)
{
    struct head *head = cls;
    struct str key = str_of(name, name_n), text = str_of(value ? value : "", value_n);

    (void)kind;
    if (!is_token(key) || has_control(text) || is_twisted(key))
        head->malformed = true;
    if (str_eq_nocase(key, STR("Host"))) {
        head->host = text;
        head->hosts++;
    } else if (str_eq_nocase(key, STR("Origin"))) {
        head->origin = text;
    } else if (str_eq_nocase(key, STR("Authorization"))) {
        head->authorization = text;
    } else if (str_eq_nocase(key, STR("Cookie"))) {
        head->cookie = text;
    } else if (str_eq_nocase(key, STR("Content-Length"))) {
        head->length = text;
        head->lengths++;
    } else if (str_eq_nocase(key, STR("Transfer-Encoding"))) {
        head->coding = text;
        head->codings++;
    } else if (str_eq_nocase(key, STR("Forwarded")) || str_eq_nocase(key, STR("X-Forwarded-For"))) {
        head->forwarded = true;
    }
    return MHD_YES;
}

/* Two readings of where a request ends are how requests are smuggled. */
static int check_framing(const struct serve_request *request, const struct head *head,
                         uint64_t *ret_length, struct err *err)
{
    if (head->malformed)
        return err_set(err, ERR_BAD_REQUEST, "a header is malformed");
    if (head->lengths > 1 || head->codings > 1 || (head->lengths && head->codings))
        return err_set(err, ERR_BAD_REQUEST,
                       "send one Content-Length or one Transfer-Encoding, not several");
    if (head->lengths && str_to_u64(head->length, ret_length) < 0)
        return err_set(err, ERR_BAD_REQUEST, "Content-Length must be a decimal number");
    if (head->codings && request->http_1_0)
        return err_set(err, ERR_BAD_REQUEST, "HTTP/1.0 has no Transfer-Encoding");
    if (head->codings && !str_eq_nocase(head->coding, STR("chunked")))
        return err_set(err, ERR_BAD_REQUEST, "the only Transfer-Encoding understood is chunked");
    return 0;
}

static int check_host(struct serve_request *request, const struct head *head, struct err *err)
{
    struct str host = head->host, authority = request->target.authority;

    if (request->conn->door->is_unix)
        return 0;
    if (head->hosts != 1 || host.n == 0)
        return err_set(err, ERR_BAD_REQUEST, "one Host header is needed");
    if (authority.n > 0 && !str_eq_nocase(authority, host))
        return err_set(err, ERR_BAD_REQUEST,
                       "the Host header and the request target name different hosts");
    if (!guard_host_ok(&request->serve->guard, host))
        return err_set(err, ERR_NETWORK_DENIED,
                       "this server does not go by the name \"%.*s\"; open %s, or add the name to "
                       "server.hosts in config.yaml",
                       STR_ARG(str_take(host, 100)), request->serve->url);
    return 0;
}

enum who {
    WHO_NOBODY = 0,
    WHO_WRONG, /* a credential that is not ours */
    WHO_OWNER, /* on the Unix socket, which only the owner can open */
    WHO_BEARER,
    WHO_COOKIE,
};

static enum who who_asks(struct serve_request *request, const struct head *head)
{
    struct guard *guard = &request->serve->guard;
    struct str secret;

    if (request->conn->door->is_unix)
        return WHO_OWNER;
    if (guard_parse_bearer(head->authorization, &secret))
        return guard_token_ok(guard, secret) ? WHO_BEARER : WHO_WRONG;
    if (guard_parse_cookie(head->cookie, guard->cookie_name, &secret))
        return guard_cookie_ok(guard, secret) ? WHO_COOKIE : WHO_WRONG;
    return head->authorization.n ? WHO_WRONG : WHO_NOBODY;
}

static int check_token(struct serve_request *request, enum who who, struct err *err)
{
    struct guard *guard = &request->serve->guard;
    const struct sockaddr *peer =
        MHD_get_connection_info(request->conn->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
            ->client_addr;

    if (who == WHO_OWNER)
        return 0;
    if (guard_blocked(guard, peer)) {
        serve_reply_header(request, "Retry-After", "60");
        return err_set(err, ERR_RATE_LIMITED, "too many wrong tokens; try again in a minute");
    }
    if (who == WHO_BEARER || who == WHO_COOKIE)
        return 0;
    if (who == WHO_WRONG)
        guard_failed(guard, peer);
    serve_reply_header(request, "WWW-Authenticate", "Bearer");
    return err_set(err, ERR_UNAUTHORIZED,
                   who == WHO_WRONG
                       ? "this token or cookie is not valid here (any more); see DATA/token"
                       : "send Authorization: Bearer TOKEN (DATA/token), or open the one-time link "
                         "that dormouse serve prints");
}

/* Pages of other sites must not act with the reader's cookie. */
static int check_origin(struct serve_request *request, const struct head *head, enum who who,
                        struct err *err)
{
    const struct serve_route *route = request->match.route;
    bool acts = !request->safe || (route && route->answer == SERVE_WEBSOCKET);

    if (request->conn->door->is_unix)
        return 0;
    if (head->origin.p && !guard_origin_ok(&request->serve->guard, head->origin))
        return err_set(err, ERR_NETWORK_DENIED, "pages of \"%.*s\" may not use this server",
                       STR_ARG(str_take(head->origin, 100)));
    if (!head->origin.p && acts && who == WHO_COOKIE)
        return err_set(err, ERR_NETWORK_DENIED,
                       "a request with the page's cookie needs an Origin header");
    return 0;
}

static int check_access(struct serve_request *request, const struct head *head, struct err *err)
{
    const struct serve_route *route = request->match.route;
    bool is_api = str_starts(request->target.path, STR("/api/"));
    enum who who = who_asks(request, head);

    if (check_origin(request, head, who, err) < 0)
        return -1;
    if (route && route->access == SERVE_LOCAL && !request->local)
        return err_set(err, ERR_NETWORK_DENIED, "this is answered to this machine only");
    /* Also for paths that do not exist: a stranger learns nothing about what does. */
    if (route ? route->access == SERVE_TOKEN : is_api)
        return check_token(request, who, err);
    return 0;
}

/* Finds the route, or what to say when there is none. Views of the page have their own paths, which
 * are the page's to read: all are answered like /. */
static int find_route(struct serve_request *request, struct buf *allow, struct err *err)
{
    struct serve *serve = request->serve;
    struct str path = page_is_view(request->target.path) ? STR("/") : request->target.path;
    int r = route_find(serve->tables, serve->table_count, &request->arena, request->method, path,
                       &request->match, allow, err);

    if (r == 0 && !str_is(request->target.path, "*"))
        return err_set(err, ERR_NOT_FOUND, "there is nothing at %.*s",
                       STR_ARG(str_take(request->target.path, 200)));
    return r == -1 ? -1 : 0;
}

static int check_body(struct serve_request *request, uint64_t length, bool chunked, struct err *err)
{
    size_t max = request->match.route ? request->match.route->body_max : 0;

    if (length > max || (chunked && max == 0))
        return err_set(err, ERR_TOO_LARGE,
                       max ? "the body is larger than the %zu bytes allowed here"
                           : "no body is accepted here (%zu bytes allowed)",
                       max);
    request->body = BUF_INIT(max);
    return 0;
}

static bool method_is_known(struct str method)
{
    static const char *const known[] = {
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(method, known[i]))
            return true;
    return false;
}

/* OPTIONS, and methods that a path does not have. */
static void answer_allow(struct serve_request *request, const struct buf *allow)
{
    struct err err = ERR_INIT;

    serve_reply_header(request, "Allow",
                       allow->n ? arena_text(&request->arena, buf_text(allow))
                                : "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    if (str_is(request->method, "OPTIONS")) {
        serve_reply_empty(request, 204);
        return;
    }
    err_set(&err, ERR_BAD_REQUEST, "%.*s is not allowed here; allowed: %s",
            STR_ARG(request->method), buf_text(allow));
    serve_reply_error_status(request, method_is_known(request->method) ? 405 : 501, &err);
}

/* Somebody looks for what is not there. */
static bool is_look(const struct serve_request *request, const struct err *err)
{
    return err->code == ERR_NOT_FOUND &&
           (str_is(request->method, "GET") || str_is(request->method, "HEAD"));
}

void request_judge(struct serve_request *request, const struct head *head, uint64_t *ret_length)
{
    AUTO_BUF allow = BUF_INIT(256);
    struct err err = ERR_INIT;

    request->refused = true;
    *ret_length = 0;
    if (check_framing(request, head, ret_length, &err) < 0) {
        request->unframed = true;
        serve_reply_header(request, "Connection", "close");
        serve_reply_error(request, &err);
        return;
    }
    if (target_parse(&request->arena, request->raw_target, &request->target, &err) < 0 ||
        check_host(request, head, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    if (find_route(request, &allow, &err) < 0) {
        struct err denied = ERR_INIT;
        bool ok = check_access(request, head, &denied) == 0;

        if (!ok || !is_look(request, &err) || page_reply_missing(request, request->target.path) < 0)
            serve_reply_error(request, ok ? &err : &denied);
        return;
    }
    if (check_access(request, head, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    if (!request->match.route) {
        answer_allow(request, &allow);
        return;
    }
    if (check_body(request, *ret_length, head->codings > 0, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    request->refused = false;
}
