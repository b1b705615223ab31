/* libsodium, opened when the sealed file is first used: most processes never do.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_POLICY_SODIUM_LIB_H
#define DORMOUSE_POLICY_SODIUM_LIB_H

#include <sodium.h>

#include "base/err.h"

#define SODIUM_FUNCTIONS(X)                                                                        \
    X(sodium_init)                                                                                 \
    X(sodium_malloc)                                                                               \
    X(sodium_free)                                                                                 \
    X(crypto_aead_xchacha20poly1305_ietf_encrypt)                                                  \
    X(crypto_aead_xchacha20poly1305_ietf_decrypt)

/* na.sodium_malloc(...) and so on; filled by sodium_lib_load(). */
struct sodium_lib {
#define X(name) __typeof__(name) *(name);
    SODIUM_FUNCTIONS(X)
#undef X
};
extern struct sodium_lib na;

/* Calling it again is cheap. From one thread at a time. */
int sodium_lib_load(struct err *err);

#endif
