/* The target of a request: path and query, decoded strictly.
 *
 * Strictly means that a byte sequence with two readings is refused instead of guessed at: bad
 * percent signs, dot segments, control characters, text that is not UTF-8, a name given twice.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_TARGET_H
#define DORMOUSE_SERVE_TARGET_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define TARGET_QUERY_MAX 32

struct param {
    struct str name, value;
};

struct target {
    struct str authority; /* of the absolute form, else empty */
    struct str path;      /* as sent, begins with '/': decoded one segment at a time */
    struct param query[TARGET_QUERY_MAX];
    unsigned query_count;
};

/* raw is what stood between method and version. What ret_target points to lives in arena. */
int target_parse(struct arena *arena, struct str raw, struct target *ret_target, struct err *err);
/* One path segment. '+' stays what it is; %2F becomes part of the value. */
int target_decode_segment(struct arena *arena, struct str raw, struct str *ret_text,
                          struct err *err);
/* NULL p when absent. */
struct str target_query(const struct target *target, const char *name);

#endif
