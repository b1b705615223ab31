/* Answers, and their wait for the commit.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <sys/socket.h>

#include "serve/serve_int.h"

struct serve_request *reply_request_of(struct loop_effect *effect)
{
    return (struct serve_request *)((char *)effect - offsetof(struct serve_request, effect));
}

void reply_resume(struct serve_request *request)
{
    struct conn *conn = request->conn;

    if (!conn) { /* the client left meanwhile, or the server stopped */
        request_free(request);
        return;
    }
    if (!conn->suspended)
        return;
    conn->suspended = false;
    MHD_resume_connection(conn->mhd);
    conn->door->ready = true;
    serve_wake(request->serve);
}

static void on_committed(struct loop_effect *effect)
{
    struct serve_request *request = reply_request_of(effect);

    request->waiting = false;
    reply_resume(request);
}

/* What was to be told did not happen: the reason is told instead. */
void reply_dropped(struct loop_effect *effect, const struct err *why)
{
    struct serve_request *request = reply_request_of(effect);

    request->waiting = false;
    request->refused = true; /* this answer waits for no commit */
    serve_reply_error(request, why);
}

void reply_drop(struct serve_request *request)
{
    if (request->response && !request->shared)
        MHD_destroy_response(request->response);
    request->response = NULL;
    request->shared = false;
}

/* Out now, or when the tick is committed. */
static void release(struct serve_request *request)
{
    bool must_wait = !request->refused && !request->safe;

    request->held = false;
    if (request->waiting)
        return;
    if (!must_wait) {
        reply_resume(request);
        return;
    }
    request->waiting = true;
    request->effect = (struct loop_effect){ .run = on_committed, .drop = reply_dropped };
    loop_after_commit(request->serve->loop, &request->effect);
}

void reply_set(struct serve_request *request, int status, struct MHD_Response *response)
{
    for (unsigned i = 0; i < request->header_count; i++)
        MHD_add_response_header(response, request->headers[i].name, request->headers[i].value);
    if (request->serve->stopping && status != 101)
        MHD_add_response_header(response, "Connection", "close");
    reply_drop(request);
    request->response = response;
    request->status = status;
    release(request);
}

void reply_shared(struct serve_request *request, int status, struct MHD_Response *response)
{
    reply_drop(request);
    request->response = response;
    request->shared = true;
    request->status = status;
    release(request);
}

struct MHD_Response *reply_response(struct str bytes, const char *type)
{
    /* The cast: MHD copies, but takes the bytes as writable. */
    struct MHD_Response *response =
        MHD_create_response_from_buffer(bytes.n, (void *)(uintptr_t)bytes.p, MHD_RESPMEM_MUST_COPY);

    if (!response)
        BUG("out of memory for a response");
    if (type)
        MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    return response;
}

void serve_reply_header(struct serve_request *request, const char *name, const char *value)
{
    BUG_IF(request->header_count == ARRAY_LEN(request->headers));
    request->headers[request->header_count].name = name;
    request->headers[request->header_count++].value = arena_text(&request->arena, value);
}

void serve_reply_text(struct serve_request *request, int status, const char *type, struct str text)
{
    reply_set(request, status, reply_response(text, type));
}

void serve_reply_empty(struct serve_request *request, int status)
{
    reply_set(request, status, reply_response(STR(""), NULL));
}

void serve_reply_json(struct serve_request *request, int status, struct json_object *object)
{
    size_t n;
    const char *text = json_object_to_json_string_length(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);

    serve_reply_text(request, status, "application/json", str_of(text, n));
    json_object_put(object);
}

void serve_reply_error_status(struct serve_request *request, int status, const struct err *err)
{
    struct json_object *root = json_object_new_object(), *error = json_object_new_object();
    char text[ERR_TEXT_MAX + 64];

    err_format(err, text, sizeof(text));
    if (!target_is_utf8(str_from(text))) /* what was sent is quoted in it */
        for (char *c = text; *c; c++)
            if ((unsigned char)*c >= 0x80)
                *c = '?';
    json_object_object_add(error, "code", json_object_new_string(err_name(err->code)));
    json_object_object_add(error, "message", json_object_new_string(text));
    json_object_object_add(root, "error", error);
    serve_reply_json(request, status, root);
}

void serve_reply_error(struct serve_request *request, const struct err *err)
{
    serve_reply_error_status(request, err_http_status(err->code), err);
}

/* For connections whose request can't be answered in the ordinary way. */
void reply_raw(int fd, int status)
{
    const char *phrase = status == 408 ? "Request Timeout" : "Content Too Large";
    const char *code = status == 408 ? "timeout" : "too_large";
    const char *said = status == 408 ? "the request took too long to arrive"
                                     : "the body is larger than allowed here";
    char body[160], text[400];
    int n = snprintf(body, sizeof(body), "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}", code,
                     said);

    n = snprintf(text, sizeof(text),
                 "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: application/json\r\n"
                 "Content-Length: %d\r\n\r\n%s",
                 status, phrase, n, body);
    if (send(fd, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return; /* nobody there to be told */
}
