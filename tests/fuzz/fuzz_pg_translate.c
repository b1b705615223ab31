/* The placeholder translator: never reads past its input, and its result has the placeholders it
 * says. Leaving out what it inserted gives the input back.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>

#include "db/pg_translate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_BUF out = BUF_INIT(1 << 16), again = BUF_INIT(1 << 17);
    struct str sql = str_of((const char *)bytes, n);
    struct err err = ERR_INIT;
    int params = -1, params_again = -1;

    if (pg_translate(sql, 100, &out, &params, &err) < 0) {
        if (err.code == ERR_NONE || params != -1)
            abort();
        return 0;
    }
    if (params < 0 || params > 100 || out.n < n)
        abort();
    for (size_t i = 0; i < n; i++)
        if (params == 0 && out.p[i] != sql.p[i])
            abort();
    /* What came out holds no placeholder any more, and is left alone. */
    if (pg_translate(buf_str(&out), 100, &again, &params_again, &err) < 0 || params_again != 0 ||
        !str_eq(buf_str(&out), buf_str(&again)))
        abort();
    return 0;
}
