/* Frames.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/frame.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

int frame_put(struct buf *out, struct str json)
{
    uint32_t head = htonl((uint32_t)json.n);

    if (json.n == 0 || json.n > FRAME_BYTES || out->full || out->max - out->n < FRAME_HEAD + json.n)
        return -1;
    buf_add(out, &head, sizeof(head));
    return buf_add_str(out, json);
}

int frame_take(struct str in, size_t max, struct str *ret_json, size_t *ret_used, struct err *err)
{
    uint32_t head;

    if (in.n < FRAME_HEAD)
        return 0;
    memcpy(&head, in.p, sizeof(head));
    head = ntohl(head);
    if (head == 0)
        return err_set(err, ERR_BAD_REQUEST, "an empty frame");
    if (head > max)
        return err_set(err, ERR_TOO_LARGE, "a frame of %u bytes, at most %zu are allowed", head,
                       max);
    if (in.n - FRAME_HEAD < head)
        return 0;
    *ret_json = str_of(in.p + FRAME_HEAD, head);
    *ret_used = FRAME_HEAD + (size_t)head;
    return 1;
}
