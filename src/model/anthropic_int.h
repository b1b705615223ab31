/* The Anthropic provider's parts: anthropic.c asks, anthropic_read.c reads what comes.
 *
 * What a turn with thinking must see again is kept in the message's `opaque`: a JSON array in the
 * order of the answer's blocks, with thinking blocks as they came, {"text":N} for the next N bytes
 * of the message's text and {"call":I} for its I-th call. So nothing is stored twice, and edited
 * arguments or replaced ids find their way back.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_ANTHROPIC_INT_H
#define DORMOUSE_MODEL_ANTHROPIC_INT_H

#include "model/stream_int.h"

enum anthropic_kind {
    ANTHROPIC_OTHER = 0, /* of a kind that is not asked for; not looked at */
    ANTHROPIC_TEXT,
    ANTHROPIC_THINKING,
    ANTHROPIC_REDACTED, /* thinking that only the provider can read */
    ANTHROPIC_CALL,
};

struct anthropic_block {
    enum anthropic_kind kind;
    int64_t index;
    struct json_object *start; /* as it began, owned */
    size_t text_bytes;
    struct buf thinking, signature, arguments;
};

struct anthropic_state {
    struct model_stream stream; /* first */
    struct anthropic_block *blocks;
    size_t block_count, block_cap, bytes;
    int64_t input, cache_read, cache_write; /* -1: not said */
    bool stopped;                           /* a stop_reason came */
    enum model_stop stop;
};

#define ANTHROPIC_BLOCKS_MAX 512

extern const struct model_stream_ops anthropic_stream_ops;
void anthropic_state_release(struct anthropic_state *state);

#endif
