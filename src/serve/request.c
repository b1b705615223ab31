/* A request from its first line to its handler.
 *
 * libmicrohttpd calls request_begin() with the first line, request_step() when the head is whole,
 * then with pieces of the body, then once more at its end; and again after a suspended connection
 * was resumed. All checks happen at the head, before a byte of the body is taken.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/limits.h"
#include "serve/serve_int.h"

static struct conn *conn_of(struct MHD_Connection *mhd)
{
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static struct serve_request *request_new(struct serve *serve)
{
    struct serve_request *request = serve->spare;

    if (request) {
        struct arena arena = request->arena;

        serve->spare = request->spare_next;
        serve->spare_count--;
        *request = (struct serve_request){ .arena = arena };
    } else {
        request = NEW(struct serve_request);
    }
    request->serve = serve;
    return request;
}

void request_free(struct serve_request *request)
{
    struct serve *serve = request->serve;

    reply_drop(request);
    client_free(request->pending);
    buf_release(&request->body);
    if (serve->spare_count == SERVE_SPARE_MAX) {
        arena_release(&request->arena);
        free(request);
        return;
    }
    arena_reset(&request->arena);
    request->spare_next = serve->spare;
    serve->spare = request;
    serve->spare_count++;
}

void *request_begin(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    struct serve *serve = ((struct door *)cls)->serve;
    struct conn *conn = conn_of(mhd);
    struct serve_request *request = request_new(serve);

    request->conn = conn;
    request->raw_target = arena_str(&request->arena, str_from(uri));
    conn->request = request;
    conn_set_state(conn, CONN_HEAD);
    return request;
}

void request_completed(void *cls, struct MHD_Connection *mhd, void **slot,
                       enum MHD_RequestTerminationCode why)
{
    struct conn *conn = conn_of(mhd);

    (void)cls, (void)why;
    *slot = NULL;
    if (!conn || !conn->request)
        return;
    if (conn->request->held || conn->request->waiting)
        conn->request->conn = NULL;
    else
        request_free(conn->request);
    conn->request = NULL;
    conn_set_state(conn, CONN_ANSWERED);
}

/* ---- the head ---- */

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

static enum MHD_Result take_header(void *cls, enum MHD_ValueKind kind, const char *name,
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

/* Sets a reply when the request is refused. */
static void judge(struct serve_request *request, const struct head *head, uint64_t *ret_length)
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

static enum MHD_Result queue_reply(struct serve_request *request)
{
    struct conn *conn = request->conn;
    enum MHD_Result result;

    metrics_count(request->serve, request, request->status);
    conn_set_state(conn, CONN_REPLY);
    result = MHD_queue_response(conn->mhd, (unsigned)request->status, request->response);
    reply_drop(request);
    return result;
}

static enum MHD_Result step_head(struct serve_request *request, const char *method,
                                 const char *version)
{
    struct head head = { .hosts = 0 };
    uint64_t length;

    request->started = true;
    request->method = arena_str(&request->arena, str_from(method));
    request->safe = str_is(request->method, "GET") || str_is(request->method, "HEAD") ||
                    str_is(request->method, "OPTIONS");
    request->http_1_0 = strcmp(version, "HTTP/1.1") != 0;
    MHD_get_connection_values_n(request->conn->mhd, MHD_HEADER_KIND, take_header, &head);
    /* What a proxy on this machine passes on comes from somewhere else. */
    request->local = !request->conn->remote && !head.forwarded;
    judge(request, &head, &length);
    /* A small body is read and dropped, so that the connection lives on; for a big one, or one
     * whose end is not sure, the answer comes at once and the connection ends. */
    if (request->refused && (request->unframed || length > SERVE_SWALLOW_BYTES || head.codings))
        return queue_reply(request);
    if (length > 0 || head.codings)
        conn_set_state(request->conn, CONN_BODY);
    return MHD_YES;
}

static enum MHD_Result step_body(struct serve_request *request, const char *bytes, size_t *n)
{
    size_t got = *n;

    *n = 0;
    if (request->refused || buf_add(&request->body, bytes, got) == 0)
        return MHD_YES;
    /* Chunked, so the length was not known before. libmicrohttpd takes no answer here. */
    metrics_count(request->serve, request, 413);
    reply_raw(request->conn->fd, 413);
    return MHD_NO;
}

static void dispatch(struct serve_request *request)
{
    request->dispatched = true;
    if (!request->safe)
        request->serve->writing = true;
    request->match.route->run(request);
    if (!request->response && !request->held) {
        struct err err = ERR_INIT;

        err_set(&err, ERR_INTERNAL, "the handler of %s gave no answer",
                request->match.route->pattern);
        serve_reply_error(request, &err);
    }
}

static void on_clean(struct loop_effect *effect)
{
    struct serve_request *request = reply_request_of(effect);

    request->waiting = false;
    if (request->conn)
        dispatch(request);
    else
        request_free(request);
}

/* A handler that reads must not see what another one wrote in this tick: that is not yet safe, and
 * may never be. It runs when the tick is committed. */
static void postpone(struct serve_request *request)
{
    request->waiting = true;
    request->effect = (struct loop_effect){ .run = on_clean, .drop = reply_dropped };
    loop_after_commit(request->serve->loop, &request->effect);
}

enum MHD_Result request_step(void *cls, struct MHD_Connection *mhd, const char *url,
                             const char *method, const char *version, const char *bytes, size_t *n,
                             void **slot)
{
    struct conn *conn = conn_of(mhd);
    struct serve_request *request = conn->request;

    (void)cls, (void)url, (void)slot;
    if (!request || conn->cut)
        return MHD_NO;
    if (!request->started)
        return step_head(request, method, version);
    if (*n > 0)
        return step_body(request, bytes, n);
    if (!request->refused && !request->dispatched) {
        if (request->safe && request->serve->writing)
            postpone(request);
        else
            dispatch(request);
    }
    if (request->response && !request->waiting)
        return queue_reply(request);
    conn_set_state(conn, CONN_HELD);
    conn_suspend(conn);
    return MHD_YES;
}

/* ---- for handlers ---- */

struct serve *serve_request_serve(struct serve_request *request)
{
    return request->serve;
}

void *serve_request_arg(struct serve_request *request)
{
    return request->match.arg;
}

const struct serve_route *serve_request_route(struct serve_request *request)
{
    return request->match.route;
}

struct arena *serve_request_arena(struct serve_request *request)
{
    return &request->arena;
}

struct str serve_request_method(struct serve_request *request)
{
    return request->method;
}

struct str serve_request_param(struct serve_request *request, const char *name)
{
    for (unsigned i = 0; i < request->match.param_count; i++)
        if (str_is(request->match.params[i].name, name))
            return request->match.params[i].value;
    BUG("the route %s has no parameter %s", request->match.route->pattern, name);
}

struct str serve_request_query(struct serve_request *request, const char *name)
{
    return target_query(&request->target, name);
}

struct str serve_request_header(struct serve_request *request, const char *name)
{
    if (!request->conn)
        return STR_NONE;
    return str_from(MHD_lookup_connection_value(request->conn->mhd, MHD_HEADER_KIND, name));
}

struct str serve_request_body(struct serve_request *request)
{
    return buf_str(&request->body);
}

bool serve_request_is_local(struct serve_request *request)
{
    return request->local;
}

int serve_request_check_query(struct serve_request *request, const char *const *allowed,
                              struct err *err)
{
    for (unsigned i = 0; i < request->target.query_count; i++) {
        struct str name = request->target.query[i].name;
        bool known = false;

        for (size_t k = 0; allowed[k] && !known; k++)
            known = str_is(name, allowed[k]);
        if (!known)
            return err_set(err, ERR_BAD_REQUEST, "the query parameter \"%.*s\" is not known here",
                           STR_ARG(str_take(name, 80)));
    }
    return 0;
}

void serve_request_hold(struct serve_request *request)
{
    request->held = true;
}
