/* The OpenAI provider's parts: openai.c asks, openai_read.c reads what comes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_OPENAI_INT_H
#define DORMOUSE_MODEL_OPENAI_INT_H

#include "model/stream_int.h"

/* A call while its pieces come. */
struct openai_call {
    int64_t index; /* -1: the server gave none */
    struct buf id, name, arguments;
};

struct openai_state {
    struct model_stream stream; /* first */
    struct openai_call *calls;
    size_t call_count, call_cap, call_bytes;
    ptrdiff_t current; /* the call that was spoken of last, -1: none */
    bool some;         /* anything but silence came */
    bool refused;      /* text came as a refusal */
    bool stopped;      /* a finish_reason came */
    enum model_stop stop;
    struct err failed;           /* a finish_reason that says the server gave up */
    struct json_object *details; /* reasoning_details so far, an array; NULL: none came */
    size_t detail_bytes;
    bool plain; /* the server refused stream_options: they are left out */
};

extern const struct model_stream_ops openai_stream_ops;
void openai_state_release(struct openai_state *state);
/* For the stream: the server refused the request. True when it was sent again in another form; the
 * exchange then goes on. */
bool openai_refused(struct model_exchange *x, int status, struct str body);

/* ---- openai_details.c ---- */

/* Thinking in the form that OpenRouter wants to see again, in pieces. -1 past MODEL_TEXT_MAX. */
int openai_details_add(struct openai_state *state, struct json_object *pieces);
/* Keeps what came as the reply's opaque part. */
void openai_details_end(struct model_exchange *x, struct openai_state *state);

#endif
