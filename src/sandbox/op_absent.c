/* Operations that this build does not hold. Weak: the real one, where it is linked in, replaces it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/op_int.h"

#define ABSENT(name)                                                                               \
    __attribute__((weak)) int name(struct op_ctx *ctx, struct json_object *arguments,              \
                                   struct json_writer *out, struct err *err)                       \
    {                                                                                              \
        (void)ctx, (void)arguments, (void)out;                                                     \
        return err_set(err, ERR_NOT_FOUND, #name " is not part of this build");                    \
    }

ABSENT(op_read_file)
ABSENT(op_write_file)
ABSENT(op_edit_file)
ABSENT(op_search)
ABSENT(op_preview_write)
ABSENT(op_preview_edit)
