/* Counting what a report has not seen.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/fresh.h"

#include "wake/subscription.h"

#define BATCHES_MAX 1000

/* Has the report not seen all of it? */
static bool is_new(const struct report *report, const struct change_row *row)
{
    for (size_t i = 0; i < row->unit_count; i++)
        if (row->unit[i].counter > vclock_of(&report->cursor, row->unit[i].host_id))
            return true;
    return false;
}

static bool same(const struct token *a, const struct token *b)
{
    return a->class == b->class && str_eq(a->name_space, b->name_space) &&
           str_eq(a->value, b->value);
}

static bool has_token(const struct subscription *subscription, const struct change_row *row)
{
    for (size_t i = 0; i < subscription->token_count; i++)
        for (size_t k = 0; k < row->token_count; k++)
            if (same(&subscription->tokens[i], &row->tokens[k]))
                return true;
    return false;
}

/* 1: one of them would have woken the agent for it, hours and cooldown apart. */
static int concerns(struct journal *journal, const struct agent *agent,
                    const struct subscription *list, size_t n, const struct change_row *row,
                    struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        AUTO_ARENA arena = ARENA_INIT;
        struct match match;

        if (!list[i].active || list[i].source != WAKE_JOURNAL || !has_token(&list[i], row))
            continue;
        if (subscription_judge(journal, &list[i], agent, row, &arena, &match, err) < 0)
            return -1;
        if (match.outcome == MATCH_YES)
            return 1;
    }
    return 0;
}

static int count_newer(struct domain *agent_domain, struct journal *journal,
                       const struct agent *agent, const struct report *report, struct arena *arena,
                       int64_t *ret_count, int64_t *ret_newest, struct err *err)
{
    struct subscription *list;
    struct change_row *rows;
    size_t n, row_count;

    if (subscription_list(agent_domain, agent->n, arena, &list, &n, err) < 0)
        return -1;
    if (n == 0)
        return 0;
    if (change_batches_since(journal_domain(journal), report->created_at, BATCHES_MAX, arena, &rows,
                             &row_count, err) < 0)
        return -1;
    for (size_t i = 0; i < row_count; i++) {
        int r = is_new(report, &rows[i]) ? concerns(journal, agent, list, n, &rows[i], err) : 0;

        if (r < 0)
            return -1;
        *ret_count += r;
        if (r && rows[i].created_at > *ret_newest)
            *ret_newest = rows[i].created_at;
    }
    return 0;
}

int report_freshness_of(struct domain *agent_domain, struct journal *journal,
                        const struct agent *agent, const struct report *report, int64_t now_ms,
                        struct arena *arena, struct report_freshness *ret_fresh, struct err *err)
{
    int64_t count = 0, newest = 0;

    if (journal &&
        count_newer(agent_domain, journal, agent, report, arena, &count, &newest, err) < 0)
        return -1;
    report_judge(report, now_ms, count, newest, arena, ret_fresh);
    return 0;
}
