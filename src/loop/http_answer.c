/* What comes and goes on the wire: libcurl's callbacks for heads and bodies.
 *
 * They run inside libcurl. A callback that finds `fail` set, by itself or by the handler it called,
 * returns an error; libcurl then gives the transfer back.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop/http_curl_int.h"

#define DRAIN_MAX (64 * 1024) /* of a redirect's body, to keep the connection */

void http_answer_release(struct transfer *transfer)
{
    arena_release(&transfer->head_arena);
    free(transfer->fields);
    transfer->fields = NULL;
}

static void forget_head(struct transfer *transfer)
{
    arena_reset(&transfer->head_arena);
    transfer->n_fields = 0;
    transfer->status = 0;
}

void http_answer_reset(struct transfer *transfer)
{
    forget_head(transfer);
    transfer->head_done = transfer->redirect = transfer->drained = false;
    transfer->header_bytes = transfer->body_bytes = transfer->drained_bytes = 0;
    transfer->sent_bytes = 0;
    transfer->body_at = 0;
    transfer->source_waits = false;
}

/* ---- the head ---- */

static void add_field(struct transfer *transfer, struct str name, struct str value)
{
    if (transfer->n_fields == transfer->cap_fields) {
        transfer->cap_fields = transfer->cap_fields ? transfer->cap_fields * 2 : 16;
        transfer->fields =
            alloc_resize(transfer->fields, transfer->cap_fields, sizeof(*transfer->fields));
    }
    transfer->fields[transfer->n_fields++] =
        (struct http_field){ arena_str(&transfer->head_arena, name),
                             arena_str(&transfer->head_arena, value) };
}

/* An old way to continue a value on the next line. */
static void fold(struct transfer *transfer, struct str more)
{
    struct http_field *last;
    char *joined;

    if (transfer->n_fields == 0)
        return;
    last = &transfer->fields[transfer->n_fields - 1];
    joined = arena_alloc(&transfer->head_arena, last->value.n + 1 + more.n + 1, 1);
    memcpy(joined, last->value.p, last->value.n);
    joined[last->value.n] = ' ';
    memcpy(joined + last->value.n + 1, more.p, more.n);
    last->value = str_of(joined, last->value.n + 1 + more.n);
}

static void begin_head(struct transfer *transfer, struct str line)
{
    ptrdiff_t space = str_find_char(line, ' ');
    int64_t status = 0;

    forget_head(transfer);
    if (space > 0 && str_to_i64(str_take(str_skip(line, (size_t)space + 1), 3), &status) == 0)
        transfer->status = (int)status;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static void note_redirect(struct transfer *transfer, const struct http_head *head)
{
    struct str location = http_head_find(head, "Location");

    transfer->redirect =
        transfer->request.max_redirects > 0 && is_redirect(head->status) && location.p;
    if (transfer->redirect)
        transfer->location = arena_copy(&transfer->arena, location.p, location.n);
}

/* A body that says it will be too long need not be read. */
static int check_length(struct transfer *transfer, const struct http_head *head)
{
    struct str length = http_head_find(head, "Content-Length");
    int64_t n, max = transfer->request.limits.max_body_bytes;

    if (!length.p || strcmp(transfer->request.method, "HEAD") == 0 ||
        (transfer->request.decompress && http_head_find(head, "Content-Encoding").p))
        return 0;
    if (str_to_i64(length, &n) < 0 || n <= max)
        return 0;
    return http_transfer_fail(transfer, ERR_TOO_LARGE,
                              "the answer has %lld bytes, at most %lld are allowed", (long long)n,
                              (long long)max);
}

static void end_head(struct transfer *transfer)
{
    struct http_head head = { transfer->status, transfer->fields, transfer->n_fields };
    struct loop *loop = transfer->client->loop;

    if (head.status < 200)
        return; /* interim: the real one follows */
    transfer->head_done = true;
    transfer->first_byte_ms = clock_mono_ms(loop_clock(loop)) - transfer->started_ms;
    http_transfer_enter(transfer, HTTP_PHASE_BODY);
    note_redirect(transfer, &head);
    if (transfer->redirect || check_length(transfer, &head) < 0)
        return;
    if (transfer->handler.on_headers)
        transfer->handler.on_headers(&transfer->exchange, &head, transfer->arg);
}

static void head_line(struct transfer *transfer, struct str line)
{
    ptrdiff_t colon = str_find_char(line, ':');

    if (str_starts(line, STR("HTTP/")))
        begin_head(transfer, line);
    else if (line.n == 0)
        end_head(transfer);
    else if (line.p[0] == ' ' || line.p[0] == '\t')
        fold(transfer, str_trim(line));
    else if (colon > 0)
        add_field(transfer, str_take(line, (size_t)colon),
                  str_trim(str_skip(line, (size_t)colon + 1)));
}

size_t http_on_header(char *bytes, size_t size, size_t n, void *arg)
{
    struct transfer *transfer = arg;
    struct str line = str_of(bytes, size * n);

    transfer->header_bytes += (int64_t)line.n;
    if (transfer->header_bytes > transfer->request.limits.max_header_bytes)
        http_transfer_fail(transfer, ERR_TOO_LARGE,
                           "the answer's head is longer than the allowed %lld bytes",
                           (long long)transfer->request.limits.max_header_bytes);
    while (line.n > 0 && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == '\r'))
        line.n--;
    if (!transfer->fail.code && !transfer->head_done) /* else a trailer */
        head_line(transfer, line);
    return transfer->fail.code ? 0 : size * n;
}

/* ---- the answer's body ---- */

static size_t drain(struct transfer *transfer, size_t n)
{
    transfer->drained_bytes += (int64_t)n;
    transfer->drained = transfer->drained_bytes > DRAIN_MAX;
    return transfer->drained ? 0 : n;
}

size_t http_on_write(char *bytes, size_t size, size_t n, void *arg)
{
    struct transfer *transfer = arg;
    struct str chunk = str_of(bytes, size * n);
    int64_t max = transfer->request.limits.max_body_bytes;

    if (transfer->fail.code)
        return 0;
    if (transfer->paused)
        return CURL_WRITEFUNC_PAUSE;
    http_transfer_moved(transfer);
    if (transfer->redirect)
        return drain(transfer, chunk.n);
    if ((int64_t)chunk.n > max - transfer->body_bytes) {
        http_transfer_fail(transfer, ERR_TOO_LARGE,
                           "the answer is longer than the allowed %lld bytes", (long long)max);
        return 0;
    }
    transfer->body_bytes += (int64_t)chunk.n;
    if (transfer->handler.on_data &&
        transfer->handler.on_data(&transfer->exchange, chunk, transfer->arg) == HTTP_PAUSE) {
        transfer->paused = true;
        http_transfer_moved(transfer);
    }
    return transfer->fail.code ? 0 : chunk.n;
}

/* ---- the request's body ---- */

static size_t read_bytes(struct transfer *transfer, char *out, size_t max)
{
    struct str rest = str_skip(transfer->request.body, transfer->body_at);
    size_t n = rest.n < max ? rest.n : max;

    memcpy(out, rest.p, n);
    transfer->body_at += n;
    transfer->sent_bytes += (int64_t)n;
    if (transfer->body_at == transfer->request.body.n)
        http_transfer_enter(transfer, HTTP_PHASE_WAIT);
    return n;
}

static size_t fail_source(struct transfer *transfer, const struct err *err)
{
    char text[256];

    http_transfer_fail(transfer, err->code ? err->code : ERR_BAD_REQUEST, "the body's source: %s",
                       err_format(err, text, sizeof(text)));
    return CURL_READFUNC_ABORT;
}

static size_t read_source(struct transfer *transfer, char *out, size_t max)
{
    struct http_source *source = transfer->request.source;
    struct err err = ERR_INIT;
    ssize_t n;

    if (source->size >= 0 && (int64_t)max > source->size - transfer->sent_bytes)
        max = (size_t)(source->size - transfer->sent_bytes);
    n = max ? source->read(source, out, max, &err) : 0;
    if (n == HTTP_SOURCE_LATER) {
        transfer->source_waits = true;
        http_transfer_moved(transfer);
        return CURL_READFUNC_PAUSE;
    }
    if (n == 0 && transfer->sent_bytes < source->size)
        err_set(&err, ERR_BAD_REQUEST, "it ended after %lld of %lld bytes",
                (long long)transfer->sent_bytes, (long long)source->size);
    if (n < 0 || err.code)
        return fail_source(transfer, &err);
    transfer->sent_bytes += n;
    if (n == 0 || transfer->sent_bytes == source->size)
        http_transfer_enter(transfer, HTTP_PHASE_WAIT);
    return (size_t)n;
}

size_t http_on_read(char *out, size_t size, size_t n, void *arg)
{
    struct transfer *transfer = arg;
    size_t used;

    if (transfer->fail.code)
        return CURL_READFUNC_ABORT;
    http_transfer_moved(transfer);
    used = transfer->request.source ? read_source(transfer, out, size * n)
                                    : read_bytes(transfer, out, size * n);
    return transfer->fail.code ? CURL_READFUNC_ABORT : used;
}

/* A kept connection closed before anything came back: libcurl wants to send once more. Whether the
 * server saw the request is not known, so only what may be sent twice is. */
int http_on_seek(void *arg, curl_off_t offset, int origin)
{
    struct transfer *transfer = arg;
    struct http_source *source = transfer->request.source;
    struct err err = ERR_INIT;

    if (origin != SEEK_SET || offset != 0)
        return CURL_SEEKFUNC_CANTSEEK;
    if (!http_may_repeat(&transfer->request) || (source && !source->rewind)) {
        http_transfer_fail(transfer, ERR_PROVIDER_FAILED,
                           "%s: the connection was closed; the request may have arrived",
                           http_phase_name(transfer->phase));
        return CURL_SEEKFUNC_FAIL;
    }
    if (source && source->rewind(source, &err) < 0) {
        fail_source(transfer, &err);
        return CURL_SEEKFUNC_FAIL;
    }
    transfer->body_at = 0;
    transfer->sent_bytes = 0;
    return CURL_SEEKFUNC_OK;
}
