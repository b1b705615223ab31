/* Subscriptions that have a token of a change.
 *
 * Tokens are materialised in a table of their own, whose index holds everything that matching
 * needs: for each token of a change one search, then one row for each subscription that has it.
 * Those that are off or were removed are not met on the way.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "db/db.h"
#include "wake/subscription_int.h"

static struct str some(struct str text)
{
    return text.n ? text : STR("");
}

static struct str copy(struct arena *arena, struct str text)
{
    return text.n ? arena_str(arena, text) : STR("");
}

/* What judging and waking need, and no more: this is on the way of every change. */
#define MATCH_COLUMNS                                                                              \
    "s.n, s.id, s.agent_n, s.name, s.source, s.predicate, s.authors, s.active_hours,"              \
    " s.cooldown_ms, s.prompt, s.last_wake_at"

static void read_matched(struct stmt *q, struct arena *arena, struct subscription *ret)
{
    *ret = (struct subscription){
        .n = stmt_i64(q, "n"),
        .id = copy(arena, stmt_str(q, "id")),
        .agent_n = stmt_i64(q, "agent_n"),
        .name = copy(arena, stmt_str(q, "name")),
        .source = wake_source_of(stmt_str(q, "source")),
        .predicate = copy(arena, stmt_str(q, "predicate")),
        .authors = subscription_authors_of(stmt_str(q, "authors")),
        .active = true,
    };
    subscription_read_hours(stmt_str(q, "active_hours"), &ret->hours);
    ret->cooldown_ms = stmt_i64(q, "cooldown_ms");
    ret->prompt = copy(arena, stmt_str(q, "prompt"));
    ret->last_wake_at = stmt_i64(q, "last_wake_at");
}

static int by_n(const void *a, const void *b)
{
    int64_t x = ((const struct subscription *)a)->n, y = ((const struct subscription *)b)->n;

    return x < y ? -1 : x > y;
}

/* One that has several of the tokens was found for each of them: the first limit that are left. */
static void sort_once(struct subscription_rows *list, size_t limit)
{
    size_t kept = 0;

    if (list->n)
        qsort(list->at, list->n, sizeof(*list->at), by_n);
    for (size_t i = 0; i < list->n && kept < limit; i++) {
        if (!kept || list->at[kept - 1].n != list->at[i].n)
            list->at[kept++] = list->at[i];
    }
    list->n = kept;
}

/* Ids of records come by the thousand and are asked for by sets; keys are few, but thousands may
 * wait for one, and they come in the order of the index. */
#define SET_MAX 20
#define MARKS   "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define MATCH_SELECT(values)                                                                       \
    "SELECT " MATCH_COLUMNS " FROM agent_subscription_tokens t"                                    \
    " JOIN agent_subscriptions s ON s.n = t.subscription_n"                                        \
    " WHERE t.token_class = ? AND t.token_namespace = ? AND t.token_value " values                 \
    " AND t.active = 1 AND t.subscription_n > ? AND t.subscription_n <= ?"                         \
    " ORDER BY t.subscription_n LIMIT ?"

struct matching {
    struct stmt *one, *set;
    struct subscription_rows list;
    int64_t after_n, up_to_n; /* beyond this nothing is needed any more */
    size_t limit;
};

/* Those that have one of these, which are of one class and namespace. */
static int match_some(struct matching *m, const struct token *tokens, size_t n, struct err *err)
{
    struct stmt *q = n == 1 ? m->one : m->set;

    stmt_bind_text(q, token_class_name(tokens->class));
    stmt_bind_str(q, some(tokens->name_space));
    for (size_t i = 0; i < (n == 1 ? 1 : SET_MAX); i++)
        stmt_bind_str(q, i < n ? tokens[i].value : STR(""));
    stmt_bind_i64(q, m->after_n);
    stmt_bind_i64(q, m->up_to_n);
    stmt_bind_i64(q, (int64_t)m->limit);
    if (subscription_read_all(q, &m->list, read_matched, err) < 0)
        return -1;
    stmt_reset(q);
    if (m->list.n >= 4 * m->limit) {
        sort_once(&m->list, m->limit);
        m->up_to_n = m->list.n == m->limit ? m->list.at[m->limit - 1].n : m->up_to_n;
    }
    return 0;
}

static int match_all(struct matching *m, const struct token *tokens, size_t n, struct err *err)
{
    for (size_t i = 0, set; i < n; i += set) {
        for (set = 1; i + set < n && set < SET_MAX; set++) {
            const struct token *next = &tokens[i + set];

            if (next->class != tokens[i].class || next->class == TOKEN_SEMANTIC_KEY ||
                !str_eq(next->name_space, tokens[i].name_space))
                break;
        }
        if (match_some(m, &tokens[i], set, err) < 0)
            return -1;
    }
    return 0;
}

int subscription_match(struct domain *domain, const struct token *tokens, size_t n, int64_t after_n,
                       int limit, struct arena *arena, struct subscription **ret_list,
                       size_t *ret_count, struct err *err)
{
    AUTO(stmt) one = NULL;
    AUTO(stmt) set = NULL;
    struct matching m = { .list = { .arena = arena }, .after_n = after_n, .up_to_n = INT64_MAX };

    m.limit = limit < 1 || limit > SUBSCRIPTION_PAGE_MAX ? SUBSCRIPTION_PAGE_MAX : (size_t)limit;
    if (db_prepare(domain_db(domain), SQL(MATCH_SELECT("= ?")), &one, err) < 0 ||
        db_prepare(domain_db(domain), SQL(MATCH_SELECT("IN " MARKS)), &set, err) < 0)
        return -1;
    m.one = one;
    m.set = set;
    if (match_all(&m, tokens, n, err) < 0)
        return -1;
    sort_once(&m.list, m.limit);
    *ret_list = m.list.at;
    *ret_count = m.list.n;
    return 0;
}
