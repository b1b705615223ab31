/* Opening libsodium.
 *
 * SPDX-License-Identifier: MIT
 */
#include "policy/sodium_lib.h"

#include "base/alloc.h"
#include "base/dl.h"

struct sodium_lib na;

int sodium_lib_load(struct err *err)
{
    static const struct dl_symbol symbols[] = {
#define X(name) { #name, (void **)&na.name },
        SODIUM_FUNCTIONS(X)
#undef X
    };

    if (na.sodium_init)
        return 0;
    if (dl_load("libsodium.so.23", symbols, ARRAY_LEN(symbols), err) < 0)
        return err_wrap(err, "the sealed file needs libsodium (Debian package libsodium23)");
    if (na.sodium_init() < 0) {
        na.sodium_init = NULL;
        return err_set(err, ERR_INTERNAL, "libsodium could not be initialised");
    }
    return 0;
}
