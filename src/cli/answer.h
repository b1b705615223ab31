/* Reading an HTTP/1.1 answer out of bytes as they come, cut anywhere.
 *
 * Bytes are appended to `in`; answer_head() and answer_piece() take what is whole. Nothing here
 * reads a descriptor. The other side is our own daemon, and is read with bounds all the same.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_ANSWER_H
#define DORMOUSE_CLI_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define ANSWER_HEAD_BYTES (64u << 10)
#define ANSWER_IN_BYTES   (1u << 20) /* read and not taken */

enum answer_body { ANSWER_NONE = 0, ANSWER_LENGTH, ANSWER_CHUNKED, ANSWER_TO_END };
enum answer_at { ANSWER_STATUS = 0, ANSWER_FIELDS, ANSWER_BODY, ANSWER_TRAILER, ANSWER_OVER };

struct answer {
    struct buf in;
    enum answer_at at;
    enum answer_body kind;
    int status;
    bool close;       /* the server ends the connection after it */
    bool chunk_ended; /* its CRLF has to come */
    size_t head;      /* bytes of the head so far */
    uint64_t left;    /* of the body, or of the chunk */
};

void answer_init(struct answer *answer);
void answer_release(struct answer *answer);
/* Ready for the next one; what was read beyond the last stays. */
void answer_next(struct answer *answer);

/* 1: status and fields are read, 0: more bytes are needed, -1: this is not HTTP. */
int answer_head(struct answer *answer, struct err *err);
/* After the head. 1: *ret_piece is a part of the body, to be given back with answer_took();
 * 0: nothing more is there (answer->at says whether it is over); -1: malformed. */
int answer_piece(struct answer *answer, struct str *ret_piece, struct err *err);
void answer_took(struct answer *answer, size_t n);
/* The connection has ended: 0 when the answer is whole, -1 when it was cut. */
int answer_closed(struct answer *answer, struct err *err);

#endif
