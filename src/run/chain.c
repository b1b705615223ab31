/* Links of the chain.
 *
 * What is hashed: a version byte, the link before, the numbers big-endian at their full width, the
 * content's digest, whether there is data, and the data, which is last and so needs no length.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/chain.h"

#include <string.h>

#include "base/hash.h"

#define VERSION    1
#define HEAD_BYTES (1 + RUN_CHAIN_BYTES + 1 + 2 + 4 + 8 + RUN_DIGEST_BYTES + 8 + 1)
#define SMALL_DATA 512

static uint8_t *put_number(uint8_t *at, uint64_t number, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        *at++ = (uint8_t)(number >> (8 * i));
    return at;
}

static uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t n)
{
    memcpy(at, bytes, n);
    return at + n;
}

static void put_head(uint8_t *at, const uint8_t *prev, const struct run_link *link)
{
    *at++ = VERSION;
    at = put_bytes(at, prev, RUN_CHAIN_BYTES);
    at = put_number(at, link->type, 1);
    at = put_number(at, link->key, 2);
    at = put_number(at, link->bits, 4);
    at = put_number(at, (uint64_t)link->seq, 8);
    at = put_bytes(at, link->content, RUN_DIGEST_BYTES);
    at = put_number(at, (uint64_t)link->at, 8);
    put_number(at, link->data.n > 0, 1);
}

void run_chain_next(const uint8_t prev[RUN_CHAIN_BYTES], const struct run_link *link,
                    uint8_t next[RUN_CHAIN_BYTES])
{
    uint8_t bytes[HEAD_BYTES + SMALL_DATA], digest[SHA256_BYTES];
    struct sha256 hash;

    put_head(bytes, prev, link);
    if (link->data.n <= SMALL_DATA) {
        if (link->data.n > 0)
            memcpy(bytes + HEAD_BYTES, link->data.p, link->data.n);
        sha256_of(str_of((const char *)bytes, HEAD_BYTES + link->data.n), digest);
    } else {
        sha256_init(&hash);
        sha256_add(&hash, str_of((const char *)bytes, HEAD_BYTES));
        sha256_add(&hash, link->data);
        sha256_finish(&hash, digest);
    }
    memcpy(next, digest, RUN_CHAIN_BYTES);
}
