/* Messages and payloads, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/buf.h"
#include "base/tokens.h"
#include "db/db.h"
#include "rig.h"

static int64_t number(struct test *t, struct rig *rig, struct sql sql)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain), sql, &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}
#define PAYLOADS SQL("SELECT count(*) AS n FROM agent_message_payloads")
#define MESSAGES SQL("SELECT count(*) AS n FROM agent_messages")

DB_TEST(a_message_comes_back_as_it_was_appended)
{
    AUTO_RIG rig = rig_open(t);
    struct message in = { .id = STR("m1"),
                          .run_n = 12,
                          .kind = MESSAGE_ACTION,
                          .created_at = NOW,
                          .content = STR("{\"arguments\":\"{\\\"a\\\":1}\"}"),
                          .action_type = STR("tool_call"),
                          .tool_name = STR("bash"),
                          .call_id = STR("call_1"),
                          .arguments_hash = STR("h"),
                          .scope_snapshot = STR("[]"),
                          .operation_n = 3,
                          .action_ref_n = 4,
                          .status = STR("partial"),
                          .error_code = STR("timeout"),
                          .error_message = STR("It took too long."),
                          .changed_entity_ids = STR("[\"x\"]"),
                          .changed_tokens = STR("[\"y\"]"),
                          .prompt_id = STR("p"),
                          .prompt_version = STR("1"),
                          .model_id = STR("m"),
                          .trigger_source_id = STR("s"),
                          .taint = STR("file") };
    struct message out;
    uint8_t before[32], after[32];

    ASSERT_OK(message_append(rig.domain, rig.change, &rig.thread, &in, &t->err));
    ASSERT_OK(message_get_n(rig.domain, in.n, &t->arena, &out, &t->err));
    ASSERT_STR(out.id, "m1");
    ASSERT_STR(out.content, "{\"arguments\":\"{\\\"a\\\":1}\"}");
    ASSERT_STR(out.tool_name, "bash");
    ASSERT_EQ(out.tokens_approx, tokens_estimate(in.content));
    ASSERT_EQ(out.agent_n, rig.agent.n);
    ASSERT_EQ(out.thread_n, rig.thread.n);
    /* The digest speaks of every field. */
    message_digest(&in, before);
    message_digest(&out, after);
    ASSERT(memcmp(before, after, sizeof(before)) == 0);
}

DB_TEST(a_plain_message_has_the_same_digest_before_and_after)
{
    AUTO_RIG rig = rig_open(t);
    struct message in = { .id = STR("m1"),
                          .kind = MESSAGE_USER,
                          .created_at = NOW,
                          .taint = STR(""), /* kept as NULL */
                          .content = rig_text(t, 50000, 'x') };
    struct message out;
    uint8_t before[32], after[32];

    ASSERT_OK(message_append(rig.domain, rig.change, &rig.thread, &in, &t->err));
    ASSERT_OK(message_get_n(rig.domain, in.n, &t->arena, &out, &t->err));
    ASSERT(!out.taint.p && !out.tool_name.p);
    message_digest(&in, before);
    message_digest(&out, after);
    ASSERT(memcmp(before, after, sizeof(before)) == 0);
}

DB_TEST(messages_form_a_chain)
{
    AUTO_RIG rig = rig_open(t);
    int64_t last = 0, tokens = 0;

    for (int i = 1; i <= 5; i++) {
        struct message message = { .kind = MESSAGE_USER,
                                   .id = str_from(arena_printf(&t->arena, "m%d", i)),
                                   .created_at = NOW,
                                   .tokens_approx = i == 3 ? 9 : 0,
                                   .content = STR("{\"text\":\"a few words\"}") };

        ASSERT_OK(message_append(rig.domain, rig.change, &rig.thread, &message, &t->err));
        ASSERT_EQ(message.prev_n, last);
        ASSERT_EQ(message.ordinal, i);
        ASSERT(message.n > last);
        tokens +=
            MESSAGE_TOKENS_EACH + (i == 3 ? 9 : tokens_estimate(STR("{\"text\":\"a few words\"}")));
        ASSERT_EQ(message.tokens_total, tokens);
        last = message.n;
    }
    ASSERT_EQ(rig.thread.last_message_n, last);
    ASSERT_EQ(rig.thread.message_count, 5);
    ASSERT_EQ(rig.thread.tokens_total, tokens);
}

DB_TEST(large_content_is_kept_once)
{
    AUTO_RIG rig = rig_open(t);
    struct str limit = rig_text(t, MESSAGE_INLINE_BYTES, 'a');
    struct str large = rig_text(t, MESSAGE_INLINE_BYTES + 1, 'b');
    struct message out;
    int64_t first, second;

    rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = limit });
    ASSERT_EQ(number(t, &rig, PAYLOADS), 0);
    first = rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = large });
    second = rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = large });
    ASSERT_EQ(number(t, &rig, PAYLOADS), 1);
    ASSERT(first != second);
    ASSERT_OK(message_get_n(rig.domain, second, &t->arena, &out, &t->err));
    ASSERT(str_eq(out.content, large));
    rig_append(&rig, (struct message){ .kind = MESSAGE_USER,
                                       .content = rig_text(t, MESSAGE_INLINE_BYTES + 1, 'c') });
    ASSERT_EQ(number(t, &rig, PAYLOADS), 2);
    ASSERT_EQ(
        number(t, &rig, SQL("SELECT count(*) AS n FROM agent_messages WHERE content IS NULL")), 3);
}

DB_TEST(content_beyond_the_limit_is_refused_and_moves_nothing)
{
    AUTO_RIG rig = rig_open(t);
    struct message message = { .id = STR("m"),
                               .kind = MESSAGE_TOOL_RESULT,
                               .content = rig_text(t, MESSAGE_CONTENT_BYTES + 1, 'x') };

    ASSERT_FAILS(message_append(rig.domain, rig.change, &rig.thread, &message, &t->err),
                 ERR_TOO_LARGE);
    ASSERT_EQ(rig.thread.message_count, 0);
    ASSERT_EQ(number(t, &rig, PAYLOADS), 0);
}

DB_TEST(a_rolled_back_unit_leaves_no_message_and_no_payload)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_OK(domain_savepoint(rig.domain, &t->err));
    rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = rig_text(t, 9999, 'x') });
    rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = rig_text(t, 99, 'x') });
    domain_rollback_to(rig.domain);
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT_EQ(number(t, &rig, MESSAGES), 0);
    ASSERT_EQ(number(t, &rig, PAYLOADS), 0);
}

DB_TEST(a_row_that_is_missing_is_a_broken_promise)
{
    AUTO_RIG rig = rig_open(t);
    struct message message;

    ASSERT_FAILS(message_get_n(rig.domain, 4242, &t->arena, &message, &t->err),
                 ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(err_message(&t->err, 0), "4242");
}

struct seen {
    struct buf ids;
    int left;
};

static bool note(void *arg, const struct message *message)
{
    struct seen *seen = arg;

    buf_printf(&seen->ids, "%.*s ", STR_ARG(message->id));
    return --seen->left > 0;
}

DB_TEST(messages_are_read_back_newest_first)
{
    AUTO_RIG rig = rig_open(t);
    struct seen seen = { .ids = BUF_INIT(1 << 16), .left = 3 };
    int64_t middle = 0;

    ASSERT_OK(domain_begin(rig.domain, &t->err));
    for (int i = 1; i <= 200; i++) {
        int64_t n = rig_append(
            &rig, (struct message){ .kind = MESSAGE_USER, .content = STR("{\"text\":\"x\"}") });

        if (i == 100)
            middle = n;
    }
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT_OK(message_each_back(rig.domain, rig.thread.n, 0, note, &seen, &t->err));
    ASSERT_TEXT(buf_text(&seen.ids), "m200 m199 m198 ");
    buf_clear(&seen.ids);
    seen.left = 2;
    ASSERT_OK(message_each_back(rig.domain, rig.thread.n, middle, note, &seen, &t->err));
    ASSERT_TEXT(buf_text(&seen.ids), "m99 m98 ");
    seen.left = 1000;
    ASSERT_OK(message_each_back(rig.domain, rig.thread.n, 0, note, &seen, &t->err));
    ASSERT_EQ(seen.left, 800); /* every one, once, over several pages */
    seen.left = 1000;
    ASSERT_OK(message_each_back(rig.domain, rig.thread.n + 1, 0, note, &seen, &t->err));
    ASSERT_EQ(seen.left, 1000);
    buf_release(&seen.ids);
}

DB_TEST(text_from_outside_is_kept_as_it_is)
{
    static const char *const texts[] = { "{\"text\":\"'; DROP TABLE agents; --\"}",
                                         "{\"text\":\"?1 $1 :x @y\"}",
                                         "{\"text\":\"\\u0000 \xf0\x9f\x90\xad\"}" };
    AUTO_RIG rig = rig_open(t);
    struct message out;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        int64_t n = rig_append(
            &rig, (struct message){ .kind = MESSAGE_USER, .content = str_from(texts[i]) });

        ASSERT_OK(message_get_n(rig.domain, n, &t->arena, &out, &t->err));
        ASSERT_STR(out.content, texts[i]);
    }
}

struct counted {
    int calls;
    int64_t counter;
    char id[40];
};

static void count_one(void *arg, struct str id, int64_t counter)
{
    struct counted *counted = arg;

    counted->calls++;
    counted->counter = counter;
    snprintf(counted->id, sizeof(counted->id), "%.*s", STR_ARG(id));
}

DB_TEST(a_message_s_counter_is_known_for_the_host_that_wrote_it)
{
    AUTO_RIG rig = rig_open(t);
    struct message first = { .id = STR("first"), .kind = MESSAGE_USER, .content = STR("{}") };
    struct message second = { .id = STR("second"), .kind = MESSAGE_USER, .content = STR("{}") };
    struct counted counted = { .calls = 0 };
    int64_t host = change_host(rig.change);

    ASSERT_OK(message_append(rig.domain, rig.change, &rig.thread, &first, &t->err));
    ASSERT_OK(message_append(rig.domain, rig.change, &rig.thread, &second, &t->err));
    ASSERT(second.counter > first.counter);
    ASSERT_OK(message_counter(rig.domain, second.n, host, count_one, &counted, &t->err));
    ASSERT_EQ(counted.calls, 1);
    ASSERT_TEXT(counted.id, "second");
    ASSERT_EQ(counted.counter, second.counter);
    ASSERT_OK(message_counter(rig.domain, second.n, host + 1, count_one, &counted, &t->err));
    ASSERT_OK(message_counter(rig.domain, second.n + 1, host, count_one, &counted, &t->err));
    ASSERT_EQ(counted.calls, 1);
}

DB_TEST(content_just_at_its_bounds_comes_back)
{
    static const size_t sizes[] = { MESSAGE_INLINE_BYTES - 1, MESSAGE_INLINE_BYTES,
                                    MESSAGE_INLINE_BYTES + 1, MESSAGE_CONTENT_BYTES };
    AUTO_RIG rig = rig_open(t);

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        AUTO_ARENA arena = ARENA_INIT;
        struct str text = rig_text(t, sizes[i], 'x');
        struct message back;
        int64_t n = rig_append(
            &rig, (struct message){ .kind = MESSAGE_USER, .content = text, .tokens_approx = 1 });

        ASSERT_OK(message_get_n(rig.domain, n, &arena, &back, &t->err));
        ASSERT(str_eq(back.content, text));
    }
}
