/* The prompt of a turn: stable part first, newest messages within a budget, nothing silently lost.
 *
 * system   identity, instructions, rules (never the time: caches would break)
 * tools    in canonical order
 * messages the thread's newest that fit the token budget. What does not fit is named in the first
 *          message ("N earlier messages are not shown"). A call and its result are never parted;
 *          results longer than the per-message cap are shortened in the middle, and say so.
 *
 * Where the window begins moves in steps of a quarter of the budget, not with every message, so
 * that two consecutive turns share their prefix byte for byte.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MEMORY_CONTEXT_H
#define DORMOUSE_MEMORY_CONTEXT_H

#include "memory/message.h"

#define CONTEXT_TOKENS_DEFAULT 16384
#define CONTEXT_MESSAGES_MAX   1000

struct context {
    /* Oldest first; content shortened where needed. Filled: n, run_n, kind, created_at, prev_n,
     * content, tokens_approx, ordinal, tokens_total, tool_name, call_id, action_ref_n, status,
     * error_code, error_message, model_id, taint. */
    struct message *messages;
    size_t count;
    int64_t left_out; /* earlier messages of the thread that are not in it */
    int64_t tokens;   /* estimate of what is in it */
    bool whole;       /* no message was shortened */
};

/* Where the window of the thread, as it is now, begins. While this stays the same and everything is
 * whole, the window of a thread that has grown is the earlier one with messages added at its end.
 */
struct context_begin {
    int64_t tokens, messages;
};
void context_begins(const struct thread *thread, int64_t budget_tokens,
                    struct context_begin *ret_begin);
/* What a message counts for in a window. */
int64_t context_weight(const struct message *message);
/* May this message, just appended, be added to a window of `tokens` tokens? Else it would be
 * shortened, or there is no room: load the window anew. */
bool context_takes(int64_t budget_tokens, int64_t tokens, const struct message *message);

/* budget_tokens 0: the default. All of it lies in arena. */
int context_load(struct domain *domain, const struct thread *thread, int64_t budget_tokens,
                 struct arena *arena, struct context *ret_context, struct err *err);

#endif
