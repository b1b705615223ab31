/* Kinds, weight and digest.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/message.h"

#include "harness/test.h"
#include "memory/message_int.h"

TEST(words_and_numbers_of_kinds_agree)
{
    for (int i = MESSAGE_OBSERVATION; i <= MESSAGE_SYSTEM; i++)
        ASSERT_EQ(message_kind_of(str_from(message_kind_name((enum message_kind)i))), i);
    ASSERT_TEXT(message_kind_name(MESSAGE_TOOL_RESULT), "toolResult");
    ASSERT_EQ(message_kind_of(STR("toolresult")), MESSAGE_KIND_NONE);
    ASSERT_EQ(message_kind_of(STR_NONE), MESSAGE_KIND_NONE);
}

TEST(a_message_weighs_its_tokens_up_to_a_limit)
{
    ASSERT_EQ(message_weight(0), MESSAGE_TOKENS_EACH);
    ASSERT_EQ(message_weight(100), 100 + MESSAGE_TOKENS_EACH);
    ASSERT_EQ(message_weight(INT64_MAX), MESSAGE_TOKENS_MAX + MESSAGE_TOKENS_EACH);
}

static const struct message sample = {
    .n = 1,
    .id = { "id", 2 },
    .agent_n = 2,
    .thread_n = 3,
    .run_n = 4,
    .kind = MESSAGE_ACTION,
    .created_at = 5,
    .prev_n = 6,
    .content = { "{}", 2 },
    .tokens_approx = 7,
    .ordinal = 8,
    .tokens_total = 9,
    .action_type = { "a", 1 },
    .tool_name = { "b", 1 },
    .call_id = { "c", 1 },
    .arguments_hash = { "d", 1 },
    .scope_snapshot = { "e", 1 },
    .operation_n = 10,
    .action_ref_n = 11,
    .status = { "f", 1 },
    .error_code = { "g", 1 },
    .error_message = { "h", 1 },
    .changed_entity_ids = { "i", 1 },
    .changed_tokens = { "j", 1 },
    .prompt_id = { "k", 1 },
    .prompt_version = { "l", 1 },
    .model_id = { "m", 1 },
    .trigger_source_id = { "n", 1 },
    .taint = { "o", 1 },
};

static bool same(const struct message *a, const struct message *b)
{
    uint8_t one[32], other[32];

    message_digest(a, one);
    message_digest(b, other);
    return memcmp(one, other, sizeof(one)) == 0;
}

TEST(a_digest_speaks_of_every_number_but_the_row)
{
    struct message m = sample;
    int64_t *const numbers[] = { &m.agent_n,     &m.thread_n,      &m.run_n,   &m.created_at,
                                 &m.prev_n,      &m.tokens_approx, &m.ordinal, &m.tokens_total,
                                 &m.operation_n, &m.action_ref_n };

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        m = sample;
        ASSERT(same(&m, &sample));
        ++*numbers[i];
        ASSERT(!same(&m, &sample));
    }
    m = sample;
    m.kind = MESSAGE_USER;
    ASSERT(!same(&m, &sample));
    m = sample;
    m.n = 77;
    ASSERT(same(&m, &sample));
}

TEST(a_digest_speaks_of_every_text)
{
    struct message m = sample;
    struct str *const texts[] = {
        &m.id,         &m.content,        &m.action_type,        &m.tool_name,
        &m.call_id,    &m.arguments_hash, &m.scope_snapshot,     &m.status,
        &m.error_code, &m.error_message,  &m.changed_entity_ids, &m.changed_tokens,
        &m.prompt_id,  &m.prompt_version, &m.model_id,           &m.trigger_source_id,
        &m.taint
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        m = sample;
        *texts[i] = STR("altered");
        ASSERT(!same(&m, &sample));
        *texts[i] = STR_NONE;
        ASSERT(!same(&m, &sample));
    }
}

TEST(texts_that_run_into_each_other_have_different_digests)
{
    struct message a = sample, b = sample;

    a.action_type = STR("ab");
    a.tool_name = STR("c");
    b.action_type = STR("a");
    b.tool_name = STR("bc");
    ASSERT(!same(&a, &b));
}

TEST(a_long_text_is_digested_to_its_end)
{
    struct message a = sample, b = sample;
    char *long_a = arena_alloc(&t->arena, 1, 100000), *long_b = arena_alloc(&t->arena, 1, 100000);

    long_b[99999] = 1;
    a.content = str_of(long_a, 100000);
    b.content = str_of(long_b, 100000);
    ASSERT(!same(&a, &b));
    long_b[99999] = 0;
    ASSERT(same(&a, &b));
}
