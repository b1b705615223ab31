/* The reader: from one batch to its wakes.
 *
 * What matched and the agent may see becomes a wake. What matched and lies outside of its
 * categories leaves a wake that has ended (skipped_noop): people see that it was no accident. What
 * failed before that (its author, the predicate) is the ordinary case: it is counted for each
 * subscription and reason (skip_store.c), and a preview explains it batch by batch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "wake/reader_int.h"
#include "wake/skip.h"

/* ---- provenance ---- */

int reader_check(const struct change_row *row, struct err *err)
{
    if (!row->unit_count)
        return err_set(err, ERR_MISSING_CHANGE_PROVENANCE, "batch %.*s names no change",
                       STR_ARG(row->local_batch_id));
    if (row->logical_change_key.n != SHA256_TEXT_SIZE - 1)
        return err_set(err, ERR_MISSING_CHANGE_PROVENANCE, "batch %.*s has no logicalChangeKey",
                       STR_ARG(row->local_batch_id));
    if (row->author == CHANGE_BY_AGENT && !row->author_id.n)
        return err_set(err, ERR_MISSING_CHANGE_PROVENANCE, "batch %.*s does not name its agent",
                       STR_ARG(row->local_batch_id));
    for (size_t i = 0; i < row->unit_count; i++) {
        const struct change_unit *unit = &row->unit[i];

        if (!unit->host_id.n || unit->counter <= 0 || !unit->payload_type.n || !unit->payload_id.n)
            return err_set(err, ERR_MISSING_CHANGE_PROVENANCE,
                           "batch %.*s: change %zu lacks its host, counter, type or id",
                           STR_ARG(row->local_batch_id), i + 1);
    }
    return 0;
}

/* ---- misses ---- */

struct miss {
    int64_t subscription_n;
    enum match_outcome outcome;
    int64_t count;
};

static void note_miss(struct reader_page *page, int64_t n, enum match_outcome outcome)
{
    const int64_t key[] = { n, outcome };
    struct str name = str_of((const char *)key, sizeof(key));
    struct miss *miss = map_find(&page->misses, name);

    page->counts.misses[outcome]++;
    if (!miss) {
        miss = ARENA_NEW(page->arena, struct miss);
        *miss = (struct miss){ .subscription_n = n, .outcome = outcome };
        map_put(&page->misses, name, miss);
    }
    miss->count++;
}

int reader_keep_misses(struct reader_page *page, struct err *err)
{
    map_each (&page->misses, entry) {
        const struct miss *miss = entry->value;

        if (skip_add(page->agents, miss->subscription_n, miss->outcome, miss->count, page->now_ms,
                     err) < 0)
            return -1;
    }
    return 0;
}

void reader_page_release(struct reader_page *page)
{
    map_release(&page->agents_seen);
    map_release(&page->misses);
}

/* ---- one subscription ---- */

static int agent_of(struct reader_page *page, int64_t n, struct agent **ret_agent, struct err *err)
{
    struct str key = str_of((const char *)&n, sizeof(n));
    struct agent *agent = map_find(&page->agents_seen, key);

    if (!agent) {
        agent = ARENA_NEW(page->arena, struct agent);
        if (agent_get_n(page->agents, n, page->arena, agent, err) < 0)
            return -1;
        map_put(&page->agents_seen, key, agent);
    }
    *ret_agent = agent;
    return 0;
}

/* Failures that are about this subscription alone; all others are about the database. */
static bool is_its_own(enum err_code code)
{
    return code == ERR_BAD_REQUEST || code == ERR_TOO_LARGE || code == ERR_AGENT_DESTROYED;
}

static int wake_or_skip(struct reader_page *page, const struct match_batch *batch,
                        const struct subscription *s, const struct match *match, struct err *err)
{
    int r;

    if (match->outcome == MATCH_YES) {
        r = match_wake(page->agents, batch, s, match, page->now_ms, err);
        page->counts.wakes += r == 1;
        return r;
    }
    note_miss(page, s->n, match->outcome);
    if (match->outcome != MATCH_SCOPE)
        return 0;
    r = match_skip(page->agents, batch, s, match, page->now_ms, err);
    page->counts.skips += r == 1;
    return r;
}

static int judge_one(struct reader_page *page, struct match_batch *batch, struct subscription *s,
                     struct err *err)
{
    struct agent *agent;
    struct match match;

    if (agent_of(page, s->agent_n, &agent, err) < 0)
        return -1;
    if (agent->lifecycle == AGENT_DESTROYED)
        return 0;
    s->agent_id = str_from(agent->id);
    if (match_judge(batch, s, agent, page->arena, &match, err) < 0)
        return -1;
    return wake_or_skip(page, batch, s, &match, err);
}

/* What went wrong with it is written down; the others are woken all the same. */
static int bury_one(struct reader_page *page, const struct subscription *s, const struct err *why,
                    struct err *err)
{
    LOG_WARN("wake", "a subscription could not be judged", LOG_STR("subscription", s->id),
             LOG_ERR(why));
    page->counts.dead++;
    note_miss(page, s->n, MATCH_FAILED);
    return reader_bury(page->agents, "agent_subscriptions", s->id, why, page->now_ms, err);
}

/* ---- one batch ---- */

static int judge_list(struct reader_page *page, struct match_batch *batch,
                      struct subscription *list, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct err why = ERR_INIT;

        if (list[i].source != page->source || judge_one(page, batch, &list[i], &why) >= 0)
            continue;
        if (!is_its_own(why.code)) {
            *err = why;
            return -1;
        }
        if (bury_one(page, &list[i], &why, err) < 0)
            return -1;
    }
    return 0;
}

int reader_judge(struct reader_page *page, const struct change_row *row, int64_t *after_n,
                 struct err *err)
{
    struct match_batch batch = {
        .source = page->source, .journal = page->journal, .row = row, .arena = page->arena
    };
    struct subscription *list;
    size_t count;
    int limit = page->left;

    if (subscription_match(page->agents, row->tokens, row->token_count, *after_n, limit,
                           page->arena, &list, &count, err) < 0 ||
        judge_list(page, &batch, list, count, err) < 0)
        return -1;
    page->left -= (int)count;
    if (count == (size_t)limit) {
        *after_n = list[count - 1].n;
        return 0;
    }
    page->counts.batches++;
    return 1;
}
