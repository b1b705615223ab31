/* Answers, and their wait for the commit.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/socket.h>

#include "base/json_put.h"
#include "serve/serve_int.h"

struct serve_request *reply_request_of(struct loop_effect *effect)
{
    return (struct serve_request *)((char *)effect - offsetof(struct serve_request, effect));
}

void reply_resume(struct serve_request *request)
{
    if (request->conn)
        conn_resume(request->conn);
    else /* the client left meanwhile, or the server stopped */
        request_free(request);
}

static void on_committed(struct loop_effect *effect)
{
    struct serve_request *request = reply_request_of(effect);

    request->waiting = false;
    if (request->match.changed && request->status < 300)
        request->match.changed(request->match.arg, request);
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
    /* When the server has stopped there is nobody to tell, and no commit that would come before the
     * server is gone. */
    bool nobody = !request->conn && request->serve->stopping;
    bool must_wait = !request->refused && !request->safe && !nobody;

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

void serve_reply_json(struct serve_request *request, int status, struct str json)
{
    serve_reply_text(request, status, "application/json", json);
}

static void write_error(struct buf *out, const char *code, const char *message)
{
    struct json_writer w = JSON_WRITER(out);

    json_write_object_begin(&w);
    json_put_object(&w, "error");
    json_put_text(&w, "code", code);
    json_put_text(&w, "message", message);
    json_write_object_end(&w);
    json_write_object_end(&w);
    BUG_IF(json_write_end(&w) < 0);
}

void serve_reply_error_status(struct serve_request *request, int status, const struct err *err)
{
    AUTO_BUF json = BUF_INIT(8 * ERR_TEXT_MAX);
    char text[ERR_TEXT_MAX + 64];

    write_error(&json, err_name(err->code), err_format(err, text, sizeof(text)));
    serve_reply_json(request, status, buf_str(&json));
}

void serve_reply_error(struct serve_request *request, const struct err *err)
{
    serve_reply_error_status(request, err_http_status(err->code), err);
}

/* For connections whose request can't be answered in the ordinary way. */
void reply_raw(int fd, int status)
{
    static const struct {
        int status;
        const char *phrase, *code, *why;
    } answers[] = {
        { 408, "Request Timeout", "timeout", "the request took too long to arrive" },
        { 403, "Forbidden", "network_denied",
          "nobody else's process and none in a sandbox or container may speak here" },
        { 413, "Content Too Large", "too_large", "the body is larger than allowed here" },
    };
    AUTO_BUF body = BUF_INIT(256);
    AUTO_BUF text = BUF_INIT(512);
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(answers) && answers[i].status != status)
        i++;
    write_error(&body, answers[i].code, answers[i].why);
    buf_printf(&text,
               "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: application/json\r\n"
               "Content-Length: %zu\r\n\r\n%s",
               status, answers[i].phrase, body.n, buf_text(&body));
    if (send(fd, buf_text(&text), text.n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return; /* nobody there to be told */
}
