/* The window of a turn, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/context.h"

#include "base/buf.h"
#include "base/json.h"
#include "rig.h"

#define BUDGET 4000
#define STEP   (BUDGET / 4)

static struct context load(struct rig *rig, int64_t budget)
{
    struct test *t = rig->t;
    struct context context;

    ASSERT_OK(context_load(rig->domain, &rig->thread, budget, &t->arena, &context, &t->err));
    ASSERT_EQ(context.left_out + (int64_t)context.count, rig->thread.message_count);
    return context;
}

static int64_t say(struct rig *rig, int64_t tokens)
{
    return rig_append(rig, (struct message){ .kind = MESSAGE_USER,
                                             .tokens_approx = tokens,
                                             .content = STR("{\"text\":\"something\"}") });
}

static int64_t call(struct rig *rig, const char *id)
{
    return rig_append(rig, (struct message){ .kind = MESSAGE_ACTION,
                                             .tokens_approx = 96,
                                             .call_id = str_from(id),
                                             .content = STR("{\"arguments\":\"{}\"}") });
}

static int64_t result(struct rig *rig, const char *id, int64_t action_n)
{
    return rig_append(rig, (struct message){ .kind = MESSAGE_TOOL_RESULT,
                                             .tokens_approx = 96,
                                             .call_id = str_from(id),
                                             .action_ref_n = action_n,
                                             .content = STR("{\"output\":\"ok\"}") });
}

static void begin(struct rig *rig)
{
    struct test *t = rig->t;

    ASSERT_OK(domain_begin(rig->domain, &t->err));
}

static void commit(struct rig *rig)
{
    struct test *t = rig->t;

    ASSERT_OK(domain_commit(rig->domain, &t->err));
}

DB_TEST(an_empty_thread_has_an_empty_context)
{
    AUTO_RIG rig = rig_open(t);
    struct context context = load(&rig, 0);

    ASSERT_EQ(context.count, 0);
    ASSERT_EQ(context.tokens, 0);
}

DB_TEST(a_short_thread_is_shown_whole_in_its_order)
{
    AUTO_RIG rig = rig_open(t);
    struct context context;
    int64_t action;

    say(&rig, 10);
    action = call(&rig, "c1");
    result(&rig, "c1", action);
    context = load(&rig, 0);
    ASSERT_EQ(context.count, 3);
    ASSERT_EQ(context.left_out, 0);
    ASSERT_EQ(context.messages[0].kind, MESSAGE_USER);
    ASSERT_EQ(context.messages[1].kind, MESSAGE_ACTION);
    ASSERT_EQ(context.messages[2].action_ref_n, action);
    ASSERT_STR(context.messages[2].call_id, "c1");
    ASSERT_STR(context.messages[2].content, "{\"output\":\"ok\"}");
    ASSERT_EQ(context.tokens, 10 + 96 + 96 + 3 * MESSAGE_TOKENS_EACH);
}

DB_TEST(the_newest_that_fit_are_shown_and_the_rest_is_counted)
{
    AUTO_RIG rig = rig_open(t);
    struct context context;

    begin(&rig);
    for (int i = 0; i < 100; i++)
        say(&rig, 96);
    commit(&rig);
    context = load(&rig, BUDGET);
    ASSERT(context.tokens <= BUDGET);
    ASSERT(context.tokens >= BUDGET - STEP - 100);
    ASSERT_EQ(context.messages[context.count - 1].ordinal, 100);
    ASSERT_EQ(context.messages[0].ordinal, context.left_out + 1);
}

/* The beginning moves in steps: between two jumps a prompt is the one before and something more. */
DB_TEST(consecutive_turns_share_their_beginning)
{
    AUTO_RIG rig = rig_open(t);
    int64_t first = 1;
    int jumps = 0;

    begin(&rig);
    for (int i = 0; i < 200; i++) {
        struct context context;

        say(&rig, 46 + i % 7);
        context = load(&rig, BUDGET);
        ASSERT(context.tokens <= BUDGET);
        if (context.messages[0].ordinal != first) {
            jumps++;
            ASSERT(context.messages[0].ordinal > first + 10);
            first = context.messages[0].ordinal;
        }
    }
    commit(&rig);
    /* 200 messages of about 53 tokens: the total passes the budget by 6.6 steps. */
    ASSERT_EQ(jumps, 7);
}

DB_TEST(where_the_window_begins_depends_on_the_thread_alone)
{
    AUTO_RIG rig = rig_open(t);
    AUTO_RIG other = rig;
    struct context a, b;

    other.domain = NULL, other.change = NULL;
    begin(&rig);
    for (int i = 0; i < 150; i++)
        say(&rig, 40 + i % 11);
    commit(&rig);
    a = load(&rig, BUDGET);
    /* As another process would read it. */
    ASSERT_EQ(thread_find(rig.domain, rig.thread.id, &t->arena, &other.thread, &t->err), 1);
    ASSERT_OK(context_load(rig.domain, &other.thread, BUDGET, &t->arena, &b, &t->err));
    ASSERT_EQ(a.messages[0].n, b.messages[0].n);
    ASSERT_EQ(a.count, b.count);
    ASSERT_EQ(a.tokens, b.tokens);
}

DB_TEST(a_call_and_its_result_are_never_parted)
{
    AUTO_RIG rig = rig_open(t);

    begin(&rig);
    for (int i = 0; i < 60; i++) {
        struct context context;
        int64_t actions[3], oldest;
        int n = 1 + i % 3;

        say(&rig, 20 + i % 13);
        for (int k = 0; k < n; k++)
            actions[k] = call(&rig, "c");
        for (int k = 0; k < n; k++)
            result(&rig, "c", actions[k]);
        context = load(&rig, BUDGET);
        oldest = context.messages[0].n;
        ASSERT_EQ(context.messages[0].kind, MESSAGE_USER);
        for (size_t k = 0; k < context.count; k++)
            ASSERT(!context.messages[k].action_ref_n || context.messages[k].action_ref_n >= oldest);
        ASSERT(context.tokens <= BUDGET);
        ASSERT(context.count > 20 || context.left_out == 0);
    }
    commit(&rig);
}

/* A result that came late, after somebody had spoken again. */
DB_TEST(a_window_does_not_begin_between_a_call_and_its_late_result)
{
    AUTO_RIG rig = rig_open(t);
    struct context context;
    int64_t action;

    begin(&rig);
    say(&rig, 900);
    action = call(&rig, "late");
    for (int i = 0; i < 9; i++)
        say(&rig, 300);
    result(&rig, "late", action);
    say(&rig, 300);
    commit(&rig);
    context = load(&rig, 3000); /* its mark lies among the nine */
    ASSERT(context.messages[0].n > action);
    for (size_t i = 0; i < context.count; i++)
        ASSERT(context.messages[i].kind != MESSAGE_TOOL_RESULT);
    ASSERT(context.count >= 1);
}

DB_TEST(one_exchange_larger_than_the_budget_is_shown_from_its_beginning)
{
    AUTO_RIG rig = rig_open(t);
    struct context context;
    struct str big = rig_text(t, 8000, 'r');
    int64_t actions[20];

    begin(&rig);
    say(&rig, 500);
    say(&rig, 30);
    for (int i = 0; i < 20; i++)
        actions[i] = call(&rig, "c");
    for (int i = 0; i < 20; i++)
        rig_append(&rig, (struct message){ .kind = MESSAGE_TOOL_RESULT,
                                           .action_ref_n = actions[i],
                                           .content = big });
    commit(&rig);
    context = load(&rig, BUDGET);
    ASSERT_EQ(context.count, 41);
    ASSERT_EQ(context.left_out, 1);
    ASSERT_EQ(context.messages[0].kind, MESSAGE_USER);
    ASSERT(context.messages[40].content.n < 500);
    ASSERT(context.tokens <= BUDGET + BUDGET / 4);
}

DB_TEST(a_long_message_is_shortened_and_says_so)
{
    AUTO_RIG rig = rig_open(t);
    struct context context;

    rig_append(&rig, (struct message){ .kind = MESSAGE_USER, .content = rig_text(t, 200000, 'x') });
    say(&rig, 10);
    context = load(&rig, 0);
    ASSERT_EQ(context.count, 2);
    ASSERT(context.messages[0].content.n < 4 * MESSAGE_TOKENS_MAX + 100);
    ASSERT(context.messages[0].content.n > 3 * MESSAGE_TOKENS_MAX);
    ASSERT(str_find(context.messages[0].content, STR("bytes left out")) > 0);
    ASSERT(context.messages[0].tokens_approx <= MESSAGE_TOKENS_MAX + 10);
    ASSERT(context.tokens <= CONTEXT_TOKENS_DEFAULT);
}

/* A provider's opaque part is kept in the exchange that is under way: a person's word or an
 * observation begins another one, what the agent did does not. */
DB_TEST(the_opaque_part_is_kept_until_somebody_is_heard)
{
    static const struct {
        enum message_kind kind;
        bool ends;
    } cases[] = {
        { MESSAGE_USER, true },     { MESSAGE_OBSERVATION, true }, { MESSAGE_THOUGHT, false },
        { MESSAGE_SUMMARY, false }, { MESSAGE_SYSTEM, false },
    };
    AUTO_RIG rig = rig_open(t);
    const char *text = rig_text(t, 200000, 'x').p; /* {"text":"xxx... */

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct context context;

        ASSERT_OK(thread_open(rig.domain,
                              str_from(arena_printf(&t->arena, "planner:session:s%zu", i)),
                              rig.agent.n, NOW, &t->arena, &rig.thread, &t->err));
        say(&rig, 10);
        rig_append(&rig, (struct message){ .kind = MESSAGE_THOUGHT,
                                           .content = str_from(arena_printf(
                                               &t->arena, "{\"opaque\":\"seal\",%s", text + 1)) });
        rig_append(&rig, (struct message){ .kind = cases[i].kind,
                                           .tokens_approx = 10,
                                           .content = STR("{\"text\":\"next\"}") });
        context = load(&rig, 0);
        ASSERT_EQ(context.count, 3);
        ASSERT(context.messages[1].content.n < 100000);
        if ((str_find(context.messages[1].content, STR("seal")) < 0) != cases[i].ends)
            FAIL("after kind %d: %.*s", cases[i].kind,
                 STR_ARG(str_take(context.messages[1].content, 100)));
    }
}

DB_TEST(the_newest_message_is_shown_however_small_the_budget)
{
    AUTO_RIG rig = rig_open(t);
    struct context context;

    for (int i = 0; i < 5; i++)
        rig_append(&rig,
                   (struct message){ .kind = MESSAGE_USER, .content = rig_text(t, 9000, 'x') });
    for (int64_t budget = 1; budget < 3000; budget = budget * 2 + 1) {
        context = load(&rig, budget);
        ASSERT(context.count >= 1);
        ASSERT_EQ(context.messages[context.count - 1].ordinal, 5);
        ASSERT(context.messages[0].content.n < 4 * (size_t)budget + 400);
    }
}

DB_TEST(the_number_of_messages_is_bounded_in_steps_too)
{
    AUTO_RIG rig = rig_open(t);
    int64_t first = 1;
    int jumps = 0;

    begin(&rig);
    for (int i = 0; i < 1600; i++)
        say(&rig, 1);
    for (int i = 0; i < 20; i++) {
        struct context context;

        for (int k = 0; k < 50; k++)
            say(&rig, 1);
        context = load(&rig, 1000000);
        ASSERT(context.count <= CONTEXT_MESSAGES_MAX);
        ASSERT(context.count >= CONTEXT_MESSAGES_MAX * 3 / 4);
        jumps += context.messages[0].ordinal != first;
        first = context.messages[0].ordinal;
    }
    commit(&rig);
    ASSERT_EQ(jumps, 5);
}

DB_TEST(other_threads_are_not_seen)
{
    AUTO_RIG rig = rig_open(t);
    struct thread mine = rig.thread, other;
    struct context context;

    say(&rig, 10);
    mine = rig.thread;
    ASSERT_OK(thread_open(rig.domain, STR("planner:session:2"), rig.agent.n, NOW, &t->arena, &other,
                          &t->err));
    rig.thread = other;
    for (int i = 0; i < 10; i++)
        say(&rig, 10);
    rig.thread = mine;
    say(&rig, 10);
    context = load(&rig, 0);
    ASSERT_EQ(context.count, 2);
    ASSERT_EQ(context.messages[1].prev_n, context.messages[0].n);
}

/* Where a window begins moves by quarters of its budget, and only when it has to. */
TEST(a_window_begins_at_a_quarter_and_stays_there)
{
    static const struct {
        int64_t total, begins;
    } cases[] = { { 0, 0 },      { 999, 0 },    { 1000, 0 },   { 1001, 250 },  { 1250, 250 },
                  { 1251, 500 }, { 1500, 500 }, { 1501, 750 }, { 10000, 9000 } };
    struct context_begin begin;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct thread thread = { .tokens_total = cases[i].total, .message_count = 1 };

        context_begins(&thread, 1000, &begin);
        ASSERT_EQ(begin.tokens, cases[i].begins);
        ASSERT_EQ(begin.messages, 0);
    }
    context_begins(&(struct thread){ .tokens_total = 9, .message_count = 9 }, 1, &begin);
    ASSERT_EQ(begin.tokens, 8); /* a budget without quarters */
    context_begins(&(struct thread){ .message_count = CONTEXT_MESSAGES_MAX + 1 }, 0, &begin);
    ASSERT_EQ(begin.messages, CONTEXT_MESSAGES_MAX / 4);
    context_begins(&(struct thread){ .tokens_total = CONTEXT_TOKENS_DEFAULT }, 0, &begin);
    ASSERT_EQ(begin.tokens, 0);
}

TEST(a_kept_window_takes_what_fits_whole_and_nothing_else)
{
    struct message message = { .tokens_approx = 250 };
    int64_t weight = context_weight(&message);

    ASSERT(context_takes(1000, 0, &message));
    ASSERT(context_takes(1000, 1000 - weight, &message));
    ASSERT(!context_takes(1000, 1001 - weight, &message));
    message.tokens_approx = 251; /* more than a quarter would be shortened */
    ASSERT(!context_takes(1000, 0, &message));
    message.tokens_approx = CONTEXT_TOKENS_DEFAULT;
    ASSERT(!context_takes(0, 0, &message));
    message.tokens_approx = 1;
    ASSERT(context_takes(0, 0, &message));
    ASSERT(!context_takes(0, CONTEXT_TOKENS_DEFAULT, &message));
}
