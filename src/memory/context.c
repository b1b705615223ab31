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
#include "memory/message_int.h"

#define STEPS        4
#define EXCHANGE_MAX 256 /* messages that are looked through for the beginning of one */
#define MARKS_MAX    (CONTEXT_MESSAGES_MAX + EXCHANGE_MAX)
#define MARKS_PAGE   128
#define TOKENS_MIN   64 /* of one message, however many share the budget */

/* Marks of the newest messages, newest first, read as far back as is asked for. */
struct tail {
    struct domain *domain;
    int64_t thread_n;
    struct message_mark *marks;
    size_t count;
    bool whole; /* the thread's first message is among them */
};

/* 1 when the i-th from the end is there, 0 when the thread (or what may be looked at) ends before.
 */
static int tail_has(struct tail *tail, size_t i, struct err *err)
{
    while (i >= tail->count && !tail->whole && tail->count < MARKS_MAX) {
        size_t room = MARKS_MAX - tail->count, more;
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
static int count_inside(struct tail *tail, const struct thread *thread, int64_t budget,
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
static int count_shown(struct tail *tail, size_t inside, size_t *ret_count, struct err *err)
{
    int r;

    for (size_t n = inside; n > 0; n--)
        if (may_begin(&tail->marks[n - 1]) && !parts_a_pair(tail->marks, n - 1)) {
            *ret_count = n;
            return 0;
        }
    for (size_t n = inside; (r = tail_has(tail, n, err)) == 1 && n < inside + EXCHANGE_MAX; n++)
        if (may_begin(&tail->marks[n]) && !parts_a_pair(tail->marks, n)) {
            *ret_count = n + 1;
            return 0;
        }
    *ret_count = inside;
    return r < 0 ? -1 : 0;
}

static int64_t largest_share(int64_t budget)
{
    return budget / STEPS < MESSAGE_TOKENS_MAX ? budget / STEPS : MESSAGE_TOKENS_MAX;
}

/* What each message may count for, so that all of them stay within the budget. */
static int64_t fair_share(const struct message_mark *marks, size_t count, int64_t budget)
{
    int64_t share = largest_share(budget);
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum +=
            (marks[i].tokens_approx < share ? marks[i].tokens_approx : share) + MESSAGE_TOKENS_EACH;
    if (sum > budget)
        share = budget / (int64_t)count - MESSAGE_TOKENS_EACH;
    return share > TOKENS_MIN ? share : TOKENS_MIN;
}

int64_t context_weight(const struct message *message)
{
    return message->tokens_approx + MESSAGE_TOKENS_EACH;
}

/* A provider wants its opaque part back in the exchange that is under way, not before. */
static size_t last_heard(const struct context *context)
{
    for (size_t i = context->count; i > 0; i--)
        if (context->messages[i - 1].kind == MESSAGE_USER ||
            context->messages[i - 1].kind == MESSAGE_OBSERVATION)
            return i - 1;
    return 0;
}

static void shorten_all(struct context *context, int64_t share, struct arena *arena)
{
    size_t under_way = last_heard(context);

    context->tokens = 0;
    context->whole = true;
    for (size_t i = 0; i < context->count; i++) {
        struct message *message = &context->messages[i];

        if (message->tokens_approx > share) {
            size_t bytes = (size_t)((double)message->content.n * (double)share /
                                    (double)message->tokens_approx);

            message->content =
                message_shorten(message->kind, message->content, bytes, i >= under_way, arena);
            message->tokens_approx = tokens_estimate(message->content);
            context->whole = false;
        }
        context->tokens += context_weight(message);
    }
}

static int choose(struct tail *tail, const struct thread *thread, int64_t budget, size_t *ret_count,
                  struct err *err)
{
    size_t inside = 0;

    if (count_inside(tail, thread, budget, &inside, err) < 0)
        return -1;
    return count_shown(tail, inside, ret_count, err);
}

int context_load(struct domain *domain, const struct thread *thread, int64_t budget_tokens,
                 struct arena *arena, struct context *ret_context, struct err *err)
{
    AUTO_ARENA scratch = ARENA_INIT;
    struct tail tail = { .domain = domain,
                         .thread_n = thread->n,
                         .marks = ARENA_NEW_N(&scratch, struct message_mark, MARKS_MAX) };
    int64_t budget = budget_tokens > 0 ? budget_tokens : CONTEXT_TOKENS_DEFAULT;
    struct context context = { .count = 0 };
    size_t count;

    if (choose(&tail, thread, budget, &count, err) < 0)
        return err_wrap(err, "read the context of thread %.*s", STR_ARG(thread->id));
    if (count > 0) {
        context.messages = ARENA_NEW_N(arena, struct message, count);
        if (message_load_from(domain, thread->n, tail.marks[count - 1].n, count, arena,
                              context.messages, &context.count, err) < 0)
            return err_wrap(err, "read the context of thread %.*s", STR_ARG(thread->id));
        shorten_all(&context, fair_share(tail.marks, count, budget), arena);
        context.left_out = tail.marks[count - 1].ordinal - 1;
    }
    *ret_context = context;
    return 0;
}

/* ---- for a window that is kept ---- */

void context_begins(const struct thread *thread, int64_t budget_tokens,
                    struct context_begin *ret_begin)
{
    int64_t budget = budget_tokens > 0 ? budget_tokens : CONTEXT_TOKENS_DEFAULT;

    *ret_begin = (struct context_begin){
        .tokens = before_mark(thread->tokens_total, budget),
        .messages = before_mark(thread->message_count, CONTEXT_MESSAGES_MAX),
    };
}

bool context_takes(int64_t budget_tokens, int64_t tokens, const struct message *message)
{
    int64_t budget = budget_tokens > 0 ? budget_tokens : CONTEXT_TOKENS_DEFAULT;

    return message->tokens_approx <= largest_share(budget) &&
           tokens + context_weight(message) <= budget;
}
