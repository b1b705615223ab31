/* Where the window of a thread begins, and what is in it.
 *
 * Every message knows the tokens of its thread up to and with itself. The window may hold `budget`
 * of them; it begins at the first message behind a mark, and marks stand at multiples of a quarter
 * of the budget. So as the thread grows the beginning stays until a quarter is used up, and then
 * jumps by a quarter: between jumps a prompt is the one before with something added at its end.
 * Where it begins depends on what the thread holds and on nothing else. In the same way the number
 * of messages is bounded.
 *
 * A window never begins inside an exchange: actions and results at its front are left out up to the
 * next message that may stand first. When all of it is one exchange (many calls with large results)
 * it is shown from its beginning, and its messages share the budget.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/context.h"

#include "base/tokens.h"
#include "memory/context_int.h"

#define STEPS      4
#define MARKS_PAGE 128
#define TOKENS_MIN 64 /* of one message, however many share the budget */

/* 1 when the i-th from the end is there, 0 when the thread (or what may be looked at) ends before.
 */
static int tail_has(struct context_tail *tail, size_t i, struct err *err)
{
    while (i >= tail->count && !tail->whole && tail->count < CONTEXT_MARKS) {
        size_t room = CONTEXT_MARKS - tail->count, more;
        size_t page = room < MARKS_PAGE ? room : MARKS_PAGE;
        int64_t before = tail->count ? tail->marks[tail->count - 1].n : 0;

        if (message_marks_back(tail->domain, tail->thread_n, before, tail->marks + tail->count,
                               page, &more, err) < 0)
            return -1;
        tail->count += more;
        tail->whole = more < page;
    }
    return i < tail->count;
}

/* How much of `total` lies before the window. */
static int64_t before_mark(int64_t total, int64_t budget)
{
    int64_t step = budget / STEPS > 0 ? budget / STEPS : 1;

    if (total <= budget)
        return 0;
    return (total - budget + step - 1) / step * step;
}

static bool may_begin(const struct message_mark *mark)
{
    return mark->kind != MESSAGE_ACTION && mark->kind != MESSAGE_TOOL_RESULT;
}

/* Whether beginning at marks[first] would part a result from its call. */
static bool parts_a_pair(const struct message_mark *marks, size_t first)
{
    for (size_t i = 0; i <= first; i++)
        if (marks[i].action_ref_n && marks[i].action_ref_n < marks[first].n)
            return true;
    return false;
}

/* Messages behind both marks: at least the newest. */
static int count_inside(struct context_tail *tail, const struct thread *thread, int64_t budget,
                        size_t *ret_count, struct err *err)
{
    int64_t first_token = before_mark(thread->tokens_total, budget);
    int64_t first_message = before_mark(thread->message_count, CONTEXT_MESSAGES_MAX);
    size_t n = 0;
    int r;

    while ((r = tail_has(tail, n, err)) == 1) {
        const struct message_mark *mark = &tail->marks[n];
        int64_t begins = mark->tokens_total - message_weight(mark->tokens_approx);

        if (n > 0 && (begins < first_token || mark->ordinal <= first_message))
            break;
        n++;
    }
    *ret_count = n;
    return r < 0 ? -1 : 0;
}

/* The number of newest messages to show: not more than are inside, unless these are all of one
 * exchange. */
static int count_shown(struct context_tail *tail, size_t inside, size_t *ret_count, struct err *err)
{
    int r;

    for (size_t n = inside; n > 0; n--)
        if (may_begin(&tail->marks[n - 1]) && !parts_a_pair(tail->marks, n - 1)) {
            *ret_count = n;
            return 0;
        }
    for (size_t n = inside; (r = tail_has(tail, n, err)) == 1 && n < inside + CONTEXT_EXCHANGE; n++)
        if (may_begin(&tail->marks[n]) && !parts_a_pair(tail->marks, n)) {
            *ret_count = n + 1;
            return 0;
        }
    *ret_count = inside;
    return r < 0 ? -1 : 0;
}

int64_t context_share(const struct message_mark *marks, size_t count, int64_t budget)
{
    int64_t share = budget / STEPS < MESSAGE_TOKENS_MAX ? budget / STEPS : MESSAGE_TOKENS_MAX;
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum +=
            (marks[i].tokens_approx < share ? marks[i].tokens_approx : share) + MESSAGE_TOKENS_EACH;
    if (sum > budget)
        share = budget / (int64_t)count - MESSAGE_TOKENS_EACH;
    return share > TOKENS_MIN ? share : TOKENS_MIN;
}

size_t context_under_way(const struct message *messages, size_t count)
{
    for (size_t i = count; i > 0; i--)
        if (messages[i - 1].kind == MESSAGE_USER)
            return i - 1;
    return 0;
}

void context_shorten(struct message *message, int64_t share, bool keep_opaque, struct arena *arena)
{
    size_t bytes;

    if (message->tokens_approx <= share)
        return;
    bytes = (size_t)((double)message->content.n * (double)share / (double)message->tokens_approx);
    message->content = message_shorten(message->kind, message->content, bytes, keep_opaque, arena);
    message->tokens_approx = tokens_estimate(message->content);
}

int context_choose(struct context_tail *tail, const struct thread *thread, int64_t budget,
                   size_t *ret_count, struct err *err)
{
    size_t inside = 0;

    if (count_inside(tail, thread, budget, &inside, err) < 0)
        return -1;
    return count_shown(tail, inside, ret_count, err);
}

static int load(struct domain *domain, const struct thread *thread, int64_t budget,
                struct arena *arena, struct context *context, struct err *err)
{
    AUTO_ARENA scratch = ARENA_INIT;
    struct context_tail tail = { .domain = domain,
                                 .thread_n = thread->n,
                                 .marks =
                                     ARENA_NEW_N(&scratch, struct message_mark, CONTEXT_MARKS) };
    size_t count, under_way;
    int64_t share;

    if (context_choose(&tail, thread, budget, &count, err) < 0)
        return -1;
    if (count == 0)
        return 0;
    context->messages = ARENA_NEW_N(arena, struct message, count);
    if (message_load_from(domain, thread->n, tail.marks[count - 1].n, count, arena,
                          context->messages, &context->count, err) < 0)
        return -1;
    share = context_share(tail.marks, count, budget);
    under_way = context_under_way(context->messages, context->count);
    for (size_t i = 0; i < context->count; i++) {
        context_shorten(&context->messages[i], share, i >= under_way, arena);
        context->tokens += context->messages[i].tokens_approx + MESSAGE_TOKENS_EACH;
    }
    context->left_out = tail.marks[count - 1].ordinal - 1;
    return 0;
}

int context_load(struct domain *domain, const struct thread *thread, int64_t budget_tokens,
                 struct arena *arena, struct context *ret_context, struct err *err)
{
    int64_t budget = budget_tokens > 0 ? budget_tokens : CONTEXT_TOKENS_DEFAULT;
    struct context context = { .count = 0 };

    if (load(domain, thread, budget, arena, &context, err) < 0)
        return err_wrap(err, "read the context of thread %.*s", STR_ARG(thread->id));
    *ret_context = context;
    return 0;
}
