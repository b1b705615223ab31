/* Inside the hand: what an operation gets and gives. Linked into dormouse-hand (static) and into
 * the unit tests, never into the daemon.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_OP_INT_H
#define DORMOUSE_SANDBOX_OP_INT_H

#include <json-c/json_object.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json_write.h"
#include "base/map.h"

/* The allow and deny rules as the hand was told them; the same that the walls enforce. Absolute,
 * normalised, no trailing slash. */
struct op_rules {
    const char *const *allow_write; /* end with NULL */
    const char *const *deny_read;
    const char *const *deny_names; /* ".env": any file or directory of this name */
    const char *const *deny_write; /* Dormouse's own settings, whoever may write around them */
};

/* Lives as long as the hand. */
struct op_state {
    struct op_rules rules;
    char *cwd; /* owned; bash changes it */
    struct map
        *files_read; /* absolute path -> hex SHA-256 of what was last read or written whole */
};

/* One request. */
struct op_ctx {
    struct op_state *state;
    struct arena *arena;
    const atomic_bool *cancelled; /* look at it in loops */
    int64_t deadline_ms;          /* monotonic */
};

/* Reads its arguments (their schema has been checked by the keeper; check again what matters),
 * writes exactly one JSON value to out, or fails. */
typedef int op_fn(struct op_ctx *ctx, struct json_object *arguments, struct json_writer *out,
                  struct err *err);

op_fn op_bash, op_read_file, op_write_file, op_edit_file, op_search;
/* For approvals: {"path": where it leads, "target_version": hex or null, "diff"?: text, "exists":
 * bool} of what write_file or edit_file with these arguments would do; changes nothing. */
op_fn op_preview_write, op_preview_edit;

#endif
