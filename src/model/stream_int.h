/* An exchange over HTTP whose answer streams: what the network providers share.
 *
 * A provider makes the body, gives its headers, and is then told each event of the answer. Its
 * state embeds struct model_stream first. Whether the server really streams, answers with one JSON
 * document although a stream was asked for, sends a web page, an error, too much or too little, is
 * sorted out here and in fault.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_STREAM_INT_H
#define DORMOUSE_MODEL_STREAM_INT_H

#include "base/json.h"
#include "loop/http.h"
#include "loop/sse.h"
#include "model/provider_int.h"

enum model_stream_step {
    MODEL_STREAM_FAILED = -1, /* err is set */
    MODEL_STREAM_ON = 0,
    MODEL_STREAM_DONE = 1, /* the protocol's own end; what follows is not looked at */
};

struct model_stream_ops {
    /* One event. data is the parsed text of it, NULL when it is no JSON ("[DONE]"). */
    enum model_stream_step (*event)(struct model_exchange *x, const struct sse_event *event,
                                    struct json_object *data, struct err *err);
    /* The whole answer in one document. */
    int (*whole)(struct model_exchange *x, struct json_object *answer, struct err *err);
    /* All has come that will come: hands over calls and the like and says how it stopped. whole:
     * the protocol's own end was seen. -1 (err set) when the answer is cut. */
    int (*end)(struct model_exchange *x, bool whole, enum model_stop *ret_stop, struct err *err);
    /* The server answered with this status and body. True: the provider took it from here, by
     * starting the stream again or ending the exchange. NULL: it never does. */
    bool (*refused)(struct model_exchange *x, int status, struct str body);
};

struct model_stream {
    struct model_exchange *x;
    const struct model_stream_ops *ops;
    struct http_exchange *http; /* NULL once done */
    struct sse_parser sse;
    struct buf body; /* an error's, or an answer that is no event stream */
    int kind;        /* enum body_kind in stream.c */
    int status;
    int64_t retry_after_ms;
    bool complete; /* the protocol's own end came */
    bool filtered; /* the provider refused by a content filter, as an error */
    struct err err;
};

#define MODEL_ERROR_BODY_MAX (64u << 10)

/* state begins with a struct model_stream that is zeroed or has ended; x->state is set. path is put
 * between base_url's path and its query. */
int model_stream_start(struct model_exchange *x, struct model_stream *stream,
                       const struct model_stream_ops *ops, const char *path,
                       const struct http_header *headers, size_t n_headers, struct str body,
                       struct err *err);
/* For the provider's cancel and release. */
void model_stream_cancel(struct model_exchange *x);
void model_stream_release(struct model_stream *stream);

/* base_url with path behind its own path, before its query. */
int model_url(const struct model_spec *spec, const char *default_url, const char *path,
              struct buf *out, struct err *err);

/* ---- fault.c: what servers say when they refuse ---- */

/* From the document of an error (an object with "error", or one of the other shapes in use); NULL
 * when there is none. status 0: it came inside a stream. err says what it is; retry_after_ms is
 * what the server asked for, -1 when nothing. 1 when a content filter refused, else 0. */
int model_fault(struct model_exchange *x, int status, struct json_object *document,
                int64_t retry_after_ms, struct err *err);
/* The same from the body of an answer, whatever is in it. */
int model_fault_body(struct model_exchange *x, int status, struct str body, int64_t retry_after_ms,
                     struct err *err);
/* Whether the document is an error's. */
bool model_is_fault(struct json_object *document);

/* Strict JSON, but for escaped halves of characters outside the basic plane: servers that cut text
 * between two of them send such, and they become U+FFFD. */
int model_json(struct str text, struct json_object **ret_value, struct err *err);

/* An integer of any sign and form, or what is given when there is none. */
int64_t model_json_i64(struct json_object *object, const char *key, int64_t otherwise);
/* A number of tokens; -1 when there is none, or none that can be. */
int64_t model_json_tokens(struct json_object *object, const char *key);
/* The text of a member, STR_NONE when it is none. */
struct str model_json_str(struct json_object *object, const char *key);

#endif
