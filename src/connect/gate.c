/* The gate: every request of this room leaves the process here.
 *
 * What it holds to: only hosts that a tool's contract names, over https, or the very address that
 * the person configured; no redirects; a token stands in the Authorization header and nowhere else,
 * and an answer that repeats it is dropped; sizes and times are bounded. A request is sent again
 * when it surely did not arrive (no connection, or 429 with a short Retry-After) and, when it may
 * be sent twice, also after a broken connection or a 5xx.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/uri.h"
#include "connect/connect_int.h"
#include "loop/dns.h"
#include "loop/http_retry.h"

#define ATTEMPTS_MAX   3
#define WAIT_MS        400   /* doubles */
#define WAIT_ASKED_MAX 10000 /* a server that wants us to wait longer is told about instead */
#define CONNECT_MS     10000
#define FIRST_BYTE_MS  30000
#define IDLE_MS        20000
#define TOTAL_MS       60000
#define ORIGINS_MAX    8
#define TYPE_MAX       128
#define SCOPES_MAX     4096
#define REPEATED_MIN   12 /* a token this long is in no answer by chance */

struct origin {
    char text[512]; /* "http://127.0.0.1:8080" in lower case */
};

struct gate {
    struct loop *loop;
    struct http_client *http, *own;
    struct gate_call *calls;
    struct origin origins[ORIGINS_MAX];
    size_t n_origins;
    bool stopping;
};

struct gate_call {
    struct gate *gate;
    gate_fn *fn;
    void *arg;
    struct arena arena;
    struct gate_request request;
    struct buf authorization, body;
    struct http_exchange *x;
    struct loop_timer timer;
    unsigned attempts;
    bool cancelled;
    int status;
    char type[TYPE_MAX], scopes[SCOPES_MAX];
    int64_t retry_after_ms;
    struct gate_call *next, **link;
};

/* ---- life ---- */

struct gate *gate_new(struct loop *loop, struct http_client *http)
{
    struct gate *gate = NEW(struct gate);

    gate->loop = loop;
    gate->http = http;
    return gate;
}

static void wipe(struct buf *buf)
{
    if (buf->cap)
        explicit_bzero(buf->p, buf->cap);
    buf_release(buf);
}

static void call_free(struct gate_call *call)
{
    loop_timer_stop(call->gate->loop, &call->timer);
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    wipe(&call->authorization);
    wipe(&call->body);
    if (call->request.body.n)
        explicit_bzero((char *)call->request.body.p, call->request.body.n);
    arena_release(&call->arena);
    free(call);
}

static void tell(struct gate_call *call, struct gate_answer *answer)
{
    gate_fn *fn = call->fn;

    answer->status = call->status;
    answer->type = str_from(call->type);
    answer->scopes = str_from(call->scopes);
    answer->retry_after_ms = call->retry_after_ms;
    answer->body = buf_str(&call->body);
    fn(call->arg, answer);
    call_free(call);
}

static void tell_cancelled(struct gate_call *call, bool unsure)
{
    struct gate_answer answer = { .unsure = unsure };

    err_set(&answer.err, ERR_CANCELLED, "the request was cancelled");
    tell(call, &answer);
}

void gate_stop(struct gate *gate)
{
    gate->stopping = true;
    http_client_free(TAKE(gate->own)); /* tells those that wait for an answer */
    gate->http = NULL;
    while (gate->calls) { /* those that wait to be sent again */
        /* The one before has left the list by its link, which the analyzer does not follow.
         * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        BUG_IF(gate->calls->x);
        tell_cancelled(gate->calls, false);
    }
}

void gate_free(struct gate *gate)
{
    if (!gate)
        return;
    gate_stop(gate);
    free(gate);
}

/* ---- where to ---- */

/* "scheme://authority" in lower case; -1 when it is no web address. */
static int origin_of(const char *url, struct origin *ret_origin)
{
    struct uri uri = uri_split(str_from(url));
    int n = snprintf(ret_origin->text, sizeof(ret_origin->text), "%.*s://%.*s", STR_ARG(uri.scheme),
                     STR_ARG(uri.authority));

    if (!uri.scheme.n || !uri.authority.n || n >= (int)sizeof(ret_origin->text))
        return -1;
    for (char *p = ret_origin->text; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p += 'a' - 'A';
    return 0;
}

void gate_allow(struct gate *gate, const char *url)
{
    if (url && gate->n_origins < ORIGINS_MAX &&
        origin_of(url, &gate->origins[gate->n_origins]) == 0)
        gate->n_origins++;
}

static bool is_loopback(struct str authority)
{
    struct str host = authority;

    if (host.n && host.p[0] == '[')
        return str_starts(host, STR("[::1]")) && (host.n == 5 || host.p[5] == ':');
    if (str_find_char(host, ':') >= 0)
        host = str_take(host, (size_t)str_find_char(host, ':'));
    return str_is(host, "localhost") || (uri_is_ipv4(host) && str_starts(host, STR("127.")));
}

static int check_place(const struct gate *gate, const struct gate_request *request, struct err *err)
{
    struct uri uri = uri_split(str_from(request->url));
    struct origin origin;

    if (origin_of(request->url, &origin) < 0)
        return err_set(err, ERR_NETWORK_DENIED, "the address is no web address");
    for (const char *const *host = request->hosts; host && *host; host++)
        if (str_eq_nocase(uri.scheme, STR("https")) &&
            str_eq_nocase(uri.authority, str_from(*host)))
            return 0;
    for (size_t i = 0; i < gate->n_origins; i++) {
        if (strcmp(gate->origins[i].text, origin.text) != 0)
            continue;
        if (str_eq_nocase(uri.scheme, STR("https")) || is_loopback(uri.authority))
            return 0;
        return err_set(err, ERR_NETWORK_DENIED,
                       "%s is not asked: over http a token would travel in the open; use https, or "
                       "an address of this machine",
                       origin.text);
    }
    return err_set(err, ERR_NETWORK_DENIED, "%s is not a host that this tool may ask", origin.text);
}

/* ---- asking ---- */

static bool may_repeat(const struct gate_call *call)
{
    const char *method = call->request.method;

    return call->request.safe || strcmp(method, "GET") == 0;
}

static void copy_field(const struct http_head *head, const char *name, char *out, size_t size)
{
    struct str value = http_head_find(head, name);

    snprintf(out, size, "%.*s", STR_ARG(str_take(value, size - 1)));
}

static void on_headers(struct http_exchange *x, const struct http_head *head, void *arg)
{
    struct gate_call *call = arg;
    struct str after = http_head_find(head, "Retry-After");

    (void)x;
    call->status = head->status;
    copy_field(head, "Content-Type", call->type, sizeof(call->type));
    copy_field(head, "X-OAuth-Scopes", call->scopes, sizeof(call->scopes));
    call->retry_after_ms =
        after.n ? http_retry_after_ms(after, clock_wall_ms(loop_clock(call->gate->loop))) : -1;
}

static enum http_flow on_data(struct http_exchange *x, struct str chunk, void *arg)
{
    struct gate_call *call = arg;

    (void)x;
    buf_add_str(&call->body, chunk);
    return HTTP_GO;
}

static bool surely_not_done(const struct gate_call *call, const struct http_result *result)
{
    if (result->err.code)
        return result->status == 0 && result->phase < HTTP_PHASE_SEND;
    return call->status == 429;
}

static bool is_passing(const struct gate_call *call, const struct http_result *result)
{
    if (result->err.code)
        return result->err.code == ERR_PROVIDER_FAILED && result->phase != HTTP_PHASE_TLS;
    return call->status == 429 || call->status == 500 ||
           (call->status >= 502 && call->status <= 504);
}

/* How long to wait before it is sent again; -1: it is not. */
static int64_t again_in(const struct gate_call *call, const struct http_result *result)
{
    if (call->cancelled || call->attempts >= ATTEMPTS_MAX || !is_passing(call, result) ||
        !(surely_not_done(call, result) || may_repeat(call)))
        return -1;
    if (call->retry_after_ms > WAIT_ASKED_MAX)
        return -1;
    if (call->retry_after_ms >= 0)
        return call->retry_after_ms;
    return (int64_t)WAIT_MS << (call->attempts - 1);
}

static int send_once(struct gate_call *call, struct err *err);

static void fail(struct gate_call *call, const struct err *err)
{
    struct gate_answer answer = { .err = *err };

    tell(call, &answer);
}

static void on_timer(struct loop_timer *timer)
{
    struct gate_call *call = CONTAINER_OF(timer, struct gate_call, timer);
    struct err err = ERR_INIT;

    if (call->cancelled)
        tell_cancelled(call, false);
    else if (send_once(call, &err) < 0)
        fail(call, &err);
}

static bool repeats_token(const struct gate_call *call)
{
    struct str token = call->request.token;

    return token.n >= REPEATED_MIN && (str_find(buf_str(&call->body), token) >= 0 ||
                                       str_find(str_from(call->scopes), token) >= 0);
}

static void answer_came(struct gate_call *call, const struct http_result *result)
{
    struct gate_answer answer = { .err = result->err };
    bool changes = !may_repeat(call);

    if (call->cancelled) {
        tell_cancelled(call, changes && !surely_not_done(call, result));
        return;
    }
    answer.unsure = changes && !surely_not_done(call, result) &&
                    (result->err.code || call->status >= 500 || call->body.full);
    if (!answer.err.code && call->body.full)
        err_set(&answer.err, ERR_TOO_LARGE, "the answer has more than %zu bytes", call->body.max);
    if (!answer.err.code && repeats_token(call)) {
        err_set(&answer.err, ERR_PROVIDER_FAILED, "the answer repeats the token and was dropped");
        answer.unsure = changes;
    }
    if (answer.err.code)
        buf_clear(&call->body);
    tell(call, &answer);
}

static void on_done(struct http_exchange *x, const struct http_result *result, void *arg)
{
    struct gate_call *call = arg;
    int64_t wait = call->gate->stopping ? -1 : again_in(call, result);

    (void)x;
    call->x = NULL;
    if (wait < 0)
        answer_came(call, result);
    else
        loop_timer_start(call->gate->loop, &call->timer, wait);
}

static struct http_client *client_of(struct gate *gate)
{
    if (!gate->http)
        gate->http = gate->own = http_client_new(
            gate->loop, &(struct http_options){ .policy = &dns_policy_public_and_loopback });
    return gate->http;
}

static int send_once(struct gate_call *call, struct err *err)
{
    static const struct http_handler handler = { on_headers, on_data, on_done };
    const struct gate_request *from = &call->request;
    struct http_header headers[4];
    struct http_request request = {
        .method = from->method,
        .url = from->url,
        .headers = headers,
        .body = from->body,
        .decompress = true,
        .limits = { CONNECT_MS, FIRST_BYTE_MS, IDLE_MS, TOTAL_MS, 0,
                    from->max_body ? from->max_body : CONNECT_ANSWER_MAX },
    };

    headers[request.n_headers++] =
        (struct http_header){ STR("Accept"), STR("application/json"), 0 };
    if (from->token.n)
        headers[request.n_headers++] =
            (struct http_header){ STR("Authorization"), buf_str(&call->authorization), true };
    if (from->body_type)
        headers[request.n_headers++] =
            (struct http_header){ STR("Content-Type"), str_from(from->body_type), false };
    if (from->if_match)
        headers[request.n_headers++] =
            (struct http_header){ STR("If-Match"), str_from(from->if_match), false };
    call->attempts++;
    call->status = 0;
    call->retry_after_ms = -1;
    call->type[0] = call->scopes[0] = '\0';
    buf_clear(&call->body);
    return http_start(client_of(call->gate), &request, &handler, call, &call->x, err);
}

static const char *copied(struct arena *arena, const char *text)
{
    return text ? arena_text(arena, text) : NULL;
}

static struct gate_call *call_new(struct gate *gate, const struct gate_request *request)
{
    struct gate_call *call = NEW(struct gate_call);
    int64_t max = request->max_body ? request->max_body : CONNECT_ANSWER_MAX;

    *call = (struct gate_call){ .gate = gate,
                                .request = *request,
                                .authorization = BUF_INIT(32u << 10),
                                .body = BUF_INIT((size_t)max),
                                .timer = { .fire = on_timer },
                                .next = gate->calls,
                                .link = &gate->calls };
    call->request.method = request->method ? copied(&call->arena, request->method) : "GET";
    call->request.url = copied(&call->arena, request->url);
    call->request.body_type = copied(&call->arena, request->body_type);
    call->request.if_match = copied(&call->arena, request->if_match);
    call->request.body = arena_str(&call->arena, request->body);
    buf_add_text(&call->authorization, "Bearer ");
    buf_add_str(&call->authorization, request->token);
    call->request.token = str_skip(buf_str(&call->authorization), 7);
    if (call->next)
        call->next->link = &call->next;
    gate->calls = call;
    return call;
}

int gate_start(struct gate *gate, const struct gate_request *request, gate_fn *fn, void *arg,
               struct gate_call **ret_call, struct err *err)
{
    struct gate_call *call;

    if (gate->stopping)
        return err_set(err, ERR_CANCELLED, "the daemon ends");
    if (check_place(gate, request, err) < 0)
        return -1;
    call = call_new(gate, request);
    call->fn = fn;
    call->arg = arg;
    if (send_once(call, err) < 0) {
        call_free(call);
        return -1;
    }
    if (ret_call)
        *ret_call = call;
    return 0;
}

void gate_cancel(struct gate_call *call)
{
    call->cancelled = true;
    if (call->x)
        http_cancel(call->x);
    else
        loop_timer_start(call->gate->loop, &call->timer, 0);
}

/* ---- answers ---- */

int gate_json(const char *who, const struct gate_answer *answer, struct json_object **ret_json,
              struct err *err)
{
    AUTO_JSON json = NULL;
    struct err wrong = ERR_INIT;
    struct str type = answer->type;

    if (str_find_char(type, ';') >= 0)
        type = str_take(type, (size_t)str_find_char(type, ';'));
    if (!str_eq_nocase(str_trim(type), STR("application/json")))
        return err_set(err, ERR_PROVIDER_FAILED, "%s answered with status %d and no JSON", who,
                       answer->status);
    if (json_parse(answer->body, &json, &wrong) < 0 || !json_object_is_type(json, json_type_object))
        return err_set(err, ERR_PROVIDER_FAILED,
                       "%s answered with status %d and JSON that is damaged or no object", who,
                       answer->status);
    *ret_json = TAKE(json);
    return 0;
}

void gate_encode(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            strchr("-._~", c ? c : '!'))
            buf_add_char(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}
