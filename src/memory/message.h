/* Threads and their messages: an append-only chain, small content inline, large content once by
 * its hash.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MEMORY_MESSAGE_H
#define DORMOUSE_MEMORY_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"
#include "change/change.h"
#include "db/domain.h"

#define MESSAGE_INLINE_BYTES  4096
#define MESSAGE_CONTENT_BYTES (16 * MIB)
/* What one message counts for at most in a thread's running total: more of it is never shown. */
#define MESSAGE_TOKENS_MAX 4096
/* What every message costs beside its text. */
#define MESSAGE_TOKENS_EACH 4

enum message_kind {
    MESSAGE_KIND_NONE = 0,
    MESSAGE_OBSERVATION,
    MESSAGE_USER,
    MESSAGE_THOUGHT,
    MESSAGE_ACTION,
    MESSAGE_TOOL_RESULT,
    MESSAGE_SUMMARY,
    MESSAGE_SYSTEM,
};
const char *message_kind_name(enum message_kind kind);

/* A thread in memory while something is appended to it. */
struct thread {
    int64_t n, agent_n;
    struct str id;
    int64_t last_seq;       /* of its public events */
    int64_t last_message_n; /* 0: none */
    int64_t message_count;
    int64_t tokens_total; /* of its messages, each as it counts in a prompt */
    int64_t created_at, updated_at;
    int64_t deleted_at;      /* 0: it is there */
    struct str taint;        /* of all that its prompts have held (change/taint.h) */
    struct str taint_before; /* of messages from before each kept the thread's */
    struct arena *arena;     /* that holds id and taint */
};
/* By id, made when absent (inside a unit); one that was deleted is there again: somebody speaks in
 * it. The arena holds the id. */
int thread_open(struct domain *domain, struct str id, int64_t agent_n, int64_t now_ms,
                struct arena *arena, struct thread *ret_thread, struct err *err);
/* 1 found, 0 absent. */
int thread_find(struct domain *domain, struct str id, struct arena *arena,
                struct thread *ret_thread, struct err *err);
/* By row; integrity_failed when absent. */
int thread_get_n(struct domain *domain, int64_t n, struct arena *arena, struct thread *ret_thread,
                 struct err *err);
/* Inside a unit: the conversation was used at this time. Where it stands goes along for those who
 * list many; what is read here comes from the messages and events themselves. */
int thread_save(struct domain *domain, const struct thread *thread, int64_t now_ms,
                struct err *err);

/* Content is JSON, one object:
 *   user, system, observation, summary   {"text"}
 *   thought      {"text","thinking"?,"opaque"?}  opaque: what the provider must see again, as text
 *   action       {"arguments": <text as received>, "problem"?}
 *   toolResult   {"output": any} or {"error": {"code","message"}} */
struct message {
    int64_t n;
    struct str id;
    int64_t counter; /* of this host; set by append alone */
    int64_t agent_n, thread_n, run_n;
    enum message_kind kind;
    int64_t created_at;
    int64_t prev_n;
    struct str content;
    int64_t tokens_approx;
    int64_t ordinal;      /* 1, 2, 3 ... in its thread; set by append */
    int64_t tokens_total; /* of the thread up to and with this one; set by append */
    struct str action_type, tool_name, call_id, arguments_hash, scope_snapshot;
    int64_t operation_n, action_ref_n; /* 0: none */
    struct str status, error_code, error_message;
    struct str changed_entity_ids, changed_tokens; /* JSON lists, or empty */
    struct str prompt_id, prompt_version, model_id;
    struct str trigger_source_id;
    struct str taint;        /* of its text, whoever wrote it down (change/taint.h); empty: none */
    struct str thread_taint; /* of the thread up to and with this one; set by append */
};

/* Inside a unit: appends to the thread and moves its head in memory. Sets n, agent_n, thread_n,
 * prev_n, ordinal, tokens_total, thread_taint, and tokens_approx (when 0). O(1) whatever the
 * thread's length. too_large beyond MESSAGE_CONTENT_BYTES. */
int message_append(struct domain *domain, struct change *change, struct thread *thread,
                   struct message *message, struct err *err);
/* By row; integrity_failed when absent: something refers to it. */
int message_get_n(struct domain *domain, int64_t n, struct arena *arena,
                  struct message *ret_message, struct err *err);
/* The newest of a thread, newest first, until fn returns false. Content is loaded. before_n 0: from
 * the end. Streamed, not held. */
int message_each_back(struct domain *domain, int64_t thread_n, int64_t before_n,
                      bool (*fn)(void *arg, const struct message *message), void *arg,
                      struct err *err);
/* With which counter it was written, if this host did. */
int message_counter(struct domain *domain, int64_t n, int64_t host_n,
                    void (*fn)(void *arg, struct str id, int64_t counter), void *arg,
                    struct err *err);
/* Digest of everything that a message is (who, where, kind, content, metadata; not n): what a run's
 * log refers to. Of a message that was appended or read: append fills fields in. */
void message_digest(const struct message *message, uint8_t ret_digest[32]);

#endif
