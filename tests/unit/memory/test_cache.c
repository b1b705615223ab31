/* Windows that are kept give what reading gives, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/rand.h"
#include "memory/context.h"
#include "rig.h"

static void same_text(struct str a, struct str b)
{
    if (!str_eq(a, b))
        FAIL("\"%.*s\" is not \"%.*s\"", STR_ARG(a), STR_ARG(b));
}

/* Both ways; they must agree in everything. Returns how many messages are shown. */
static size_t compare(struct rig *rig, struct context_cache *cache, int64_t budget)
{
    struct test *t = rig->t;
    AUTO_ARENA arena = ARENA_INIT;
    struct context read, kept;

    ASSERT_OK(context_load(rig->domain, &rig->thread, budget, &arena, &read, &t->err));
    ASSERT_OK(
        context_load_cached(cache, rig->domain, &rig->thread, budget, &arena, &kept, &t->err));
    ASSERT_EQ(kept.count, read.count);
    ASSERT_EQ(kept.left_out, read.left_out);
    ASSERT_EQ(kept.tokens, read.tokens);
    for (size_t i = 0; i < read.count; i++) {
        const struct message *a = &kept.messages[i], *b = &read.messages[i];

        ASSERT_EQ(a->n, b->n);
        ASSERT_EQ(a->kind, b->kind);
        ASSERT_EQ(a->tokens_approx, b->tokens_approx);
        ASSERT_EQ(a->action_ref_n, b->action_ref_n);
        same_text(a->content, b->content);
        same_text(a->call_id, b->call_id);
        same_text(a->tool_name, b->tool_name);
        same_text(a->status, b->status);
        same_text(a->taint, b->taint);
    }
    return read.count;
}

/* Something that could be said, of any size now and then. */
static void say_something(struct rig *rig, struct rand *rand)
{
    struct test *t = rig->t;
    size_t size =
        rand_below(rand, 20) == 0 ? 3000 + rand_below(rand, 40000) : 20 + rand_below(rand, 300);
    int64_t action;

    switch (rand_below(rand, 3)) {
    case 0:
        rig_append(rig,
                   (struct message){ .kind = MESSAGE_USER, .content = rig_text(t, size, 'u') });
        break;
    case 1:
        rig_append(rig, (struct message){ .kind = MESSAGE_THOUGHT,
                                          .content = STR("{\"text\":\"t\",\"opaque\":\"o\"}") });
        break;
    default:
        action = rig_append(rig, (struct message){ .kind = MESSAGE_ACTION,
                                                   .call_id = STR("c"),
                                                   .tool_name = STR("bash"),
                                                   .content = STR("{\"arguments\":\"{}\"}") });
        rig_append(rig, (struct message){ .kind = MESSAGE_TOOL_RESULT,
                                          .call_id = STR("c"),
                                          .status = STR("success"),
                                          .taint = STR("command"),
                                          .action_ref_n = action,
                                          .content = rig_text(t, size, 'r') });
    }
}

DB_TEST(a_kept_window_is_what_reading_gives)
{
    AUTO_RIG rig = rig_open(t);
    AUTO(context_cache) cache = context_cache_new(0);
    struct rand_fake rand;

    rand_fake_init(&rand, 7);
    ASSERT_EQ(compare(&rig, cache, 2000), 0);
    ASSERT_OK(domain_begin(rig.domain, &t->err));
    for (int i = 0; i < 250; i++) {
        say_something(&rig, &rand.rand);
        compare(&rig, cache, 4000);
        if (i % 50 == 7)
            compare(&rig, cache, 9000); /* more than is kept */
        if (i % 50 == 9)
            compare(&rig, cache, 500);
    }
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT(context_cache_size(cache) > 0);
}

DB_TEST(a_window_is_forgotten_when_the_thread_does_not_go_on_from_it)
{
    AUTO_RIG rig = rig_open(t);
    AUTO(context_cache) cache = context_cache_new(0);
    struct thread before;

    ASSERT_OK(domain_begin(rig.domain, &t->err));
    rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = STR("{\"text\":\"a\"}") });
    before = rig.thread;
    ASSERT_OK(domain_savepoint(rig.domain, &t->err));
    rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = STR("{\"text\":\"b\"}") });
    rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = STR("{\"text\":\"b\"}") });
    ASSERT_EQ(compare(&rig, cache, 0), 3);
    domain_rollback_to(rig.domain);
    rig.thread = before;
    ASSERT_EQ(compare(&rig, cache, 0), 1);
    rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = STR("{\"text\":\"cc\"}") });
    ASSERT_EQ(compare(&rig, cache, 0), 2);
    ASSERT_OK(domain_commit(rig.domain, &t->err));
}

/* Rows may be given again after a rollback: only who rolled back knows, and says so. */
DB_TEST(a_dropped_window_is_read_anew)
{
    AUTO_RIG rig = rig_open(t);
    AUTO(context_cache) cache = context_cache_new(0);
    struct thread before = rig.thread;

    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_OK(domain_savepoint(rig.domain, &t->err));
    rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = STR("{\"text\":\"a\"}") });
    ASSERT_EQ(compare(&rig, cache, 0), 1);
    domain_rollback_to(rig.domain);
    rig.thread = before;
    context_cache_drop(cache, rig.thread.n);
    ASSERT_EQ(context_cache_size(cache), 0);
    rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = STR("{\"text\":\"b\"}") });
    ASSERT_EQ(compare(&rig, cache, 0), 1);
    ASSERT_OK(domain_commit(rig.domain, &t->err));
}

DB_TEST(what_is_kept_is_bounded)
{
    AUTO_RIG rig = rig_open(t);
    AUTO(context_cache) cache = context_cache_new(300000);

    ASSERT_OK(domain_begin(rig.domain, &t->err));
    for (int i = 0; i < 300; i++) {
        ASSERT_OK(thread_open(rig.domain,
                              str_from(arena_printf(&t->arena, "planner:session:x%d", i)),
                              rig.agent.n, NOW, &t->arena, &rig.thread, &t->err));
        rig_append(&rig, (struct message){ .kind = MESSAGE_USER,
                                           .content = rig_text(t, i == 200 ? 200000 : 3000, 'x') });
        compare(&rig, cache, 0);
        compare(&rig, cache, 0);
        ASSERT(context_cache_size(cache) <= 300000);
    }
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT(context_cache_size(cache) > 150000);
    context_cache_drop(cache, 999999);
    ASSERT(context_cache_size(cache) > 150000);
    context_cache_drop(cache, 0);
    ASSERT_EQ(context_cache_size(cache), 0);
}
