/* The chain of a run's log: every row carries a digest of itself and of all rows before it, so that
 * one altered, missing or added row is found when the log is replayed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_RUN_CHAIN_H
#define DORMOUSE_RUN_CHAIN_H

#include <stdint.h>

#include "base/str.h"

#define RUN_CHAIN_BYTES  16
#define RUN_DIGEST_BYTES 32

/* What a row says. */
struct run_link {
    uint8_t type;
    uint16_t key;
    uint32_t bits;
    int64_t seq;                       /* 0: internal */
    uint8_t content[RUN_DIGEST_BYTES]; /* of what it refers to; zeroes when it refers to nothing */
    struct str data;
    int64_t at;
};

/* The first 16 bytes of SHA-256 over the link before (zeroes for the first row) and this row, in
 * an encoding in which no two rows have the same bytes. next may be prev. */
void run_chain_next(const uint8_t prev[RUN_CHAIN_BYTES], const struct run_link *link,
                    uint8_t next[RUN_CHAIN_BYTES]);

#endif
