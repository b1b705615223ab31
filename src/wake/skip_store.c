/* Rows of skips. Those of timers are written one by one with the firings (timer_store.c), those of
 * batches by the reader as dead letters; they are added up here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/skip.h"

#include "db/db.h"
#include "db/prefix.h"

int skip_add(struct domain *domain, int64_t subscription_n, enum match_outcome outcome,
             int64_t count, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO subscription_skips (subscription_n, outcome, count, first_at,"
                       " last_at) VALUES (?, ?, ?, ?, ?)"
                       " ON CONFLICT (subscription_n, outcome) DO UPDATE SET"
                       " count = subscription_skips.count + excluded.count,"
                       " last_at = excluded.last_at"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, subscription_n);
    stmt_bind_text(q, match_outcome_name(outcome));
    stmt_bind_i64(q, count);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

/* ---- listing ---- */

const char *skip_of_name(enum skip_of of)
{
    static const char *const names[] = { [SKIP_OF_NONE] = "",
                                         [SKIP_OF_SUBSCRIPTION] = "subscription",
                                         [SKIP_OF_TIMER] = "timer",
                                         [SKIP_OF_BATCH] = "change" };

    return names[of];
}

/* detail: what was wrong with it the last time. */
static void say_subscription(struct str kind, struct str detail, struct arena *arena,
                             struct skip *skip)
{
    enum match_outcome outcome = MATCH_AUTHOR;

    while (outcome < MATCH_TOKENS && !str_is(kind, match_outcome_name(outcome)))
        outcome++;
    skip->kind = match_outcome_name(outcome);
    skip->why = detail.n
                    ? arena_printf(arena, "%s: %.*s", match_outcome_why(outcome), STR_ARG(detail))
                    : match_outcome_why(outcome);
}

static void say_timer(struct str kind, struct skip *skip)
{
    static const struct {
        const char *kind, *why;
    } known[] = {
        { "missed", "its time passed unnoticed, and its timer does not fire for each that did" },
        { "cap", "more firings were missed than its timer catches up on" },
        { "gap", "the clocks skipped its time, and another firing stands for it" },
        { "destroyed", "the agent was destroyed" },
        { "damaged", "what is stored of the timer can't be read" },
        { "other", "" },
    };
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(known) && !str_is(kind, known[i].kind))
        i++;
    skip->kind = known[i].kind;
    skip->why = known[i].why;
}

struct skips {
    int64_t agent_n;
    struct str of_id;
    struct arena *arena;
    struct skip *at;
    size_t n, limit;
};

/* Rows of a statement with parameters as bound here: whether those that were removed, whose, which,
 * how many. */
static int read_skips(struct domain *domain, struct sql sql, enum skip_of of, bool removed,
                      struct skips *skips, struct err *err)
{
    struct str of_id = skips->of_id.n ? skips->of_id : STR("");
    struct arena *arena = skips->arena;
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), sql, &q, err) < 0)
        return -1;
    stmt_bind_i64(q, removed);
    stmt_bind_i64(q, skips->agent_n);
    stmt_bind_i64(q, skips->agent_n);
    stmt_bind_str(q, of_id);
    stmt_bind_str(q, of_id);
    stmt_bind_i64(q, (int64_t)(skips->limit - skips->n));
    while ((r = stmt_step(q, err)) == 1) {
        struct skip *skip = &skips->at[skips->n++];

        *skip = (struct skip){
            .of = of,
            .of_id = arena_str(arena, stmt_str(q, "id")),
            .agent_id = arena_str(arena, stmt_str(q, "agent_id")),
            .name = arena_str(arena, stmt_str(q, "name")),
            .removed = removed,
            .count = stmt_i64(q, "many"),
            .first_at = stmt_i64(q, "first_at"),
            .last_at = stmt_i64(q, "last_at"),
        };
        if (of == SKIP_OF_TIMER)
            say_timer(stmt_str(q, "kind"), skip);
        else
            say_subscription(stmt_str(q, "kind"), stmt_str(q, "detail"), arena, skip);
    }
    return r;
}

#define WHICH(table)                                                                               \
    " WHERE CASE WHEN " table ".deleted_at IS NULL THEN 0 ELSE 1 END = ?"                          \
    " AND (? = 0 OR " table ".agent_n = ?) AND (? = '' OR " table ".id = ?)"

static int read_both(struct domain *domain, bool removed, struct skips *skips, struct err *err)
{
    if (read_skips(
            domain,
            SQL("SELECT s.id, s.name, a.id AS agent_id, k.outcome AS kind, k.count AS many,"
                " k.first_at, k.last_at, CASE WHEN k.outcome = 'failed' THEN (SELECT"
                " d.error_message FROM dead_letters d WHERE d.source = 'agent_subscriptions' AND"
                " d.ref = s.id ORDER BY d.n DESC LIMIT 1) END AS detail FROM subscription_skips k"
                " JOIN agent_subscriptions s ON s.n = k.subscription_n"
                " JOIN agents a ON a.n = s.agent_n" WHICH("s") " ORDER BY s.n, k.outcome LIMIT ?"),
            SKIP_OF_SUBSCRIPTION, removed, skips, err) < 0)
        return -1;
    return read_skips(domain,
                      SQL("SELECT t.id, t.name, a.id AS agent_id, k.reason AS kind,"
                          " CAST(sum(k.count) AS BIGINT) AS many, min(k.first_at) AS first_at,"
                          " max(k.last_at) AS last_at FROM timer_skips k"
                          " JOIN agent_timers t ON t.n = k.timer_n"
                          " JOIN agents a ON a.n = t.agent_n" WHICH(
                              "t") " GROUP BY t.n, t.id, t.name, a.id, k.reason ORDER BY t.n, "
                                   "k.reason LIMIT ?"),
                      SKIP_OF_TIMER, removed, skips, err);
}

/* One for each code, with the sentence of the newest. */
static int read_batches(struct domain *domain, struct skips *skips, struct err *err)
{
    struct arena *arena = skips->arena;
    AUTO(stmt) q = NULL;
    int r;

    if (skips->agent_n || skips->of_id.n)
        return 0;
    if (db_prepare(domain_db(domain),
                   SQL("SELECT d.ref, d.error_message, k.many, k.first_at, k.last_at FROM (SELECT"
                       " max(n) AS newest, count(*) AS many, min(created_at) AS first_at,"
                       " max(created_at) AS last_at FROM dead_letters"
                       " WHERE source <> 'agent_subscriptions' GROUP BY error_code) k"
                       " JOIN dead_letters d ON d.n = k.newest ORDER BY k.newest DESC LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, (int64_t)(skips->limit - skips->n));
    while ((r = stmt_step(q, err)) == 1)
        skips->at[skips->n++] = (struct skip){
            .of = SKIP_OF_BATCH,
            .of_id = arena_str(arena, stmt_str(q, "ref")),
            .kind = "unreadable",
            .why = arena_printf(arena, "it could not be judged for anybody; the last: %.*s",
                                STR_ARG(stmt_str(q, "error_message"))),
            .count = stmt_i64(q, "many"),
            .first_at = stmt_i64(q, "first_at"),
            .last_at = stmt_i64(q, "last_at"),
        };
    return r;
}

int skip_list(struct domain *domain, int64_t agent_n, struct str of_id, int limit,
              struct arena *arena, struct skip **ret_list, size_t *ret_count, struct err *err)
{
    struct skips skips = { .agent_n = agent_n,
                           .of_id = of_id,
                           .arena = arena,
                           .limit = limit < 1 || limit > SKIPS_MAX ? SKIPS_MAX : (size_t)limit };

    skips.at = ARENA_NEW_N(arena, struct skip, skips.limit);
    if (read_batches(domain, &skips, err) < 0 || read_both(domain, false, &skips, err) < 0 ||
        read_both(domain, true, &skips, err) < 0)
        return -1;
    *ret_list = skips.at;
    *ret_count = skips.n;
    return 0;
}

int skip_find_of(struct domain *domain, struct str prefix, struct arena *arena, struct str *ret_id,
                 struct err *err)
{
    static const struct prefix_words words = { "subscription or timer", "subscriptions and timers",
                                               "dormouse subscribe list",
                                               "subscriptions, `dormouse timer list` timers" };

    return prefix_find(domain_db(domain),
                       SQL("SELECT id FROM (SELECT id FROM agent_subscriptions UNION ALL"
                           " SELECT id FROM agent_timers) AS known"
                           " WHERE id >= ? AND id < ? || '~' ORDER BY id LIMIT 5"),
                       prefix, &words, arena, ret_id, err);
}
