/* The types of records and their names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "journal/record.h"

static const char *const names[] = { [RECORD_NONE] = "none",
#define X(id, name, key) [RECORD_##id] = name,
                                     RECORD_TYPES(X)
#undef X
};

const char *record_type_name(enum record_type type)
{
    return names[type];
}

enum record_type record_type_of(struct str name)
{
    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++) {
        if (str_is(name, names[type]))
            return (enum record_type)type;
    }
    return RECORD_NONE;
}
