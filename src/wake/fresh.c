/* Counting what a report has not seen.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/fresh.h"

#include "wake/subscription.h"

#define BATCHES_MAX 1000

/* Has the report not seen all of it? Its cursor says so, also of what arrives late from elsewhere;
 * of a host that it knows nothing of, the time does. */
static bool is_new(const struct report *report, const struct change_row *row)
{
    for (size_t i = 0; i < row->unit_count; i++) {
        int64_t seen = vclock_of(&report->cursor, row->unit[i].host_id);

        if (seen ? row->unit[i].counter > seen : row->created_at > report->created_at)
            return true;
    }
    return false;
}

static bool is_by(const struct change_row *row, const struct agent *agent)
{
    return row->author == CHANGE_BY_AGENT && str_is(row->author_id, agent->id);
}

/* Does it rest on a record that was changed? */
static bool is_cited(const struct report *report, const struct change_row *row)
{
    for (size_t i = 0; i < report->source_count; i++) {
        const struct report_source *source = &report->sources[i];

        if (!str_is(source->source_type, "journal"))
            continue;
        for (size_t k = 0; k < row->unit_count; k++)
            if (str_eq(row->unit[k].payload_id, source->source_id))
                return true;
    }
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

/* Those of the journal; of an agent that waits for none, everything that it may see. */
static size_t keep_watching(struct subscription *list, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (list[i].active && list[i].source == WAKE_JOURNAL)
            list[kept++] = list[i];
    return kept;
}

static const struct subscription everything = {
    .source = WAKE_JOURNAL,
    .authors = 1u << CHANGE_BY_HUMAN | 1u << CHANGE_BY_AGENT | 1u << CHANGE_BY_SYNC,
};

static int would_wake(struct journal *journal, const struct agent *agent,
                      const struct subscription *subscription, const struct change_row *row,
                      struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct match match;

    if (subscription_judge(journal, subscription, agent, row, &arena, &match, err) < 0)
        return -1;
    return match.outcome == MATCH_YES;
}

/* 1: one of them would have woken the agent for it, hours and cooldown apart. */
static int concerns(struct journal *journal, const struct agent *agent,
                    const struct subscription *list, size_t n, const struct change_row *row,
                    struct err *err)
{
    if (n == 0)
        return would_wake(journal, agent, &everything, row, err);
    for (size_t i = 0; i < n; i++) {
        int r = has_token(&list[i], row) ? would_wake(journal, agent, &list[i], row, err) : 0;

        if (r != 0)
            return r;
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
    n = keep_watching(list, n);
    if (change_batches_since(journal_domain(journal), report->cursor.n ? 0 : report->created_at,
                             BATCHES_MAX, arena, &rows, &row_count, err) < 0)
        return -1;
    for (size_t i = 0; i < row_count; i++) {
        int r = 0;

        if (is_new(report, &rows[i]) && !is_by(&rows[i], agent))
            r = is_cited(report, &rows[i]) ? 1 : concerns(journal, agent, list, n, &rows[i], err);
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
