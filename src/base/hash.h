/* SHA-256, HMAC-SHA-256, hexadecimal and comparison of secrets.
 *
 * libcrypto does the arithmetic. It is started at the first HMAC, without its configuration
 * file, so a process that needs none pays nothing. That libcrypto lacks an algorithm or memory is
 * a crash (see alloc.h), so none of these can fail.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_HASH_H
#define DORMOUSE_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define SHA256_BYTES     32
#define SHA256_TEXT_SIZE (2 * SHA256_BYTES + 1) /* lower-case hex and its NUL */

void sha256_of(struct str bytes, uint8_t ret_digest[SHA256_BYTES]);
/* As ids and content hashes are written: lower-case hex, NUL-terminated. */
void sha256_text(struct str bytes, char ret_text[SHA256_TEXT_SIZE]);

/* In pieces: init, add any number of times, then finish. Holds nothing that must be given back. */
struct sha256 {
    uint32_t state[28];
};
void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, struct str bytes);
void sha256_finish(struct sha256 *hash, uint8_t ret_digest[SHA256_BYTES]);

void hmac_sha256(struct str key, struct str message, uint8_t ret_mac[SHA256_BYTES]);

/* 2 * n lower-case digits and a NUL. */
void hex_encode(const void *bytes, size_t n, char *ret_text);
/* Exactly 2 * n digits of either case, else -1 with ret_bytes untouched or partly written. */
int hex_decode(struct str text, uint8_t *ret_bytes, size_t n);

/* Equality in a time that depends on the lengths only: for tokens and MACs. */
bool secret_eq(struct str a, struct str b);

#endif
