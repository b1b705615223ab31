/* What a hand says: a stream of frames, each read as the keeper reads it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/frame.h"
#include "sandbox/hand_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct hand_frame *frame)
{
    switch (frame->said) {
    case HAND_SAID_REPLY:
        if (frame->id <= 0 || (frame->failed && frame->err.code == ERR_NONE))
            abort();
        if (frame->cwd.n > 0 && frame->cwd.p[0] != '/')
            abort();
        break;
    case HAND_SAID_NOTICE:
        if (!frame->kind || !frame->detail.p)
            abort();
        break;
    case HAND_SAID_HELLO:
        break;
    default:
        abort();
    }
}

static void read_one(struct str json)
{
    struct hand_frame frame;
    struct err err = ERR_INIT;

    if (hand_frame_read(json, &frame, &err) == 0)
        check(&frame);
    else if (err.code == ERR_NONE)
        abort();
    hand_frame_release(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = str_of((const char *)data, size), json;
    struct err err = ERR_INIT;
    size_t used;

    while (frame_take(in, FRAME_BYTES, &json, &used, &err) == 1) {
        if (used > in.n || json.n + FRAME_HEAD != used)
            abort();
        read_one(json);
        in = str_skip(in, used);
    }
    /* Also without a head, so that the interesting part is found at once. */
    if (size > 0)
        read_one(str_of((const char *)data, size));
    return 0;
}
