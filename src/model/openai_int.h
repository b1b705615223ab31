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
    struct err failed; /* a finish_reason that says the server gave up */
};

extern const struct model_stream_ops openai_stream_ops;
void openai_state_release(struct openai_state *state);

#endif
