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

#include "base/alloc.h"
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
};

/* budget_tokens 0: the default. All of it lies in arena. */
int context_load(struct domain *domain, const struct thread *thread, int64_t budget_tokens,
                 struct arena *arena, struct context *ret_context, struct err *err);

/* ---- the same, kept ---- */

/* Windows of the threads that were read last, in memory: the next turn of a thread then reads what
 * was appended since, whatever the window holds. Bounded; the least recently read makes way. */
struct context_cache;

#define CONTEXT_CACHE_BYTES (16 * MIB)

/* max_bytes 0: CONTEXT_CACHE_BYTES. */
struct context_cache *context_cache_new(size_t max_bytes);
void context_cache_free(struct context_cache *cache);
AUTO_DEFINE(context_cache)

/* Gives exactly what context_load() gives, also all in arena. */
int context_load_cached(struct context_cache *cache, struct domain *domain,
                        const struct thread *thread, int64_t budget_tokens, struct arena *arena,
                        struct context *ret_context, struct err *err);
/* Forgets a thread (0: all). Needed after a rollback that took messages of it back, and useful when
 * a run goes to wait for long. */
void context_cache_drop(struct context_cache *cache, int64_t thread_n);
/* Bytes held. */
size_t context_cache_size(const struct context_cache *cache);

#endif
