/* Kinds of messages, their weight and their digest.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/message.h"

#include <endian.h>

#include "base/buf.h"
#include "base/hash.h"
#include "memory/message_int.h"

static const char *const kind_names[] = {
    [MESSAGE_KIND_NONE] = "none",  [MESSAGE_OBSERVATION] = "observation",
    [MESSAGE_USER] = "user",       [MESSAGE_THOUGHT] = "thought",
    [MESSAGE_ACTION] = "action",   [MESSAGE_TOOL_RESULT] = "toolResult",
    [MESSAGE_SUMMARY] = "summary", [MESSAGE_SYSTEM] = "system",
};

const char *message_kind_name(enum message_kind kind)
{
    return kind_names[kind];
}

enum message_kind message_kind_of(struct str name)
{
    for (size_t i = 1; i < ARRAY_LEN(kind_names); i++)
        if (str_is(name, kind_names[i]))
            return (enum message_kind)i;
    return MESSAGE_KIND_NONE;
}

int64_t message_weight(int64_t tokens_approx)
{
    if (tokens_approx > MESSAGE_TOKENS_MAX)
        tokens_approx = MESSAGE_TOKENS_MAX;
    return tokens_approx + MESSAGE_TOKENS_EACH;
}

/* ---- digest ---- */

/* Numbers as eight bytes, texts with their length first: no two messages have the same bytes. */
struct digest {
    struct sha256 hash;
    uint8_t held[512];
    size_t n;
};

static void add_bytes(struct digest *digest, const void *bytes, size_t n)
{
    if (digest->n + n > sizeof(digest->held)) {
        sha256_add(&digest->hash, str_of((const char *)digest->held, digest->n));
        digest->n = 0;
    }
    if (n > sizeof(digest->held)) {
        sha256_add(&digest->hash, str_of(bytes, n));
        return;
    }
    if (n > 0)
        memcpy(digest->held + digest->n, bytes, n);
    digest->n += n;
}

static void add_number(struct digest *digest, int64_t number)
{
    uint64_t bytes = htobe64((uint64_t)number);

    add_bytes(digest, &bytes, sizeof(bytes));
}

static void add_text(struct digest *digest, struct str text)
{
    add_number(digest, (int64_t)text.n);
    add_bytes(digest, text.p, text.n);
}

void message_digest(const struct message *message, uint8_t ret_digest[32])
{
    const int64_t numbers[] = { message->agent_n,     message->thread_n,      message->run_n,
                                message->kind,        message->created_at,    message->prev_n,
                                message->ordinal,     message->tokens_approx, message->tokens_total,
                                message->operation_n, message->action_ref_n };
    const struct str texts[] = { message->id,
                                 message->content,
                                 message->action_type,
                                 message->tool_name,
                                 message->call_id,
                                 message->arguments_hash,
                                 message->scope_snapshot,
                                 message->status,
                                 message->error_code,
                                 message->error_message,
                                 message->changed_entity_ids,
                                 message->changed_tokens,
                                 message->prompt_id,
                                 message->prompt_version,
                                 message->model_id,
                                 message->trigger_source_id,
                                 message->taint };
    struct digest digest = { .n = 0 };

    sha256_init(&digest.hash);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        add_number(&digest, numbers[i]);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        add_text(&digest, texts[i]);
    if (message->thread_taint.n) /* older messages have none, and keep their digests */
        add_text(&digest, message->thread_taint);
    sha256_add(&digest.hash, str_of((const char *)digest.held, digest.n));
    sha256_finish(&digest.hash, ret_digest);
}
