/* How agents are, in words: one query for all of them. What waits and what is open is read through
 * indexes that hold nothing else, so its cost is that of what is open, not of what was.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "agent/agent_int.h"
#include "db/db.h"

static const char *const words[] = {
    [AGENT_WORD_NONE] = "none",  [AGENT_ASLEEP] = "asleep", [AGENT_AWAKE] = "awake",
    [AGENT_WAITING] = "waiting", [AGENT_HELD] = "paused",   [AGENT_FAILING] = "failing",
    [AGENT_GONE] = "gone",
};

const char *agent_word_name(enum agent_word word)
{
    return words[word];
}

/* last_n is the agent's newest run: what it ended with tells whether the agent is failing. */
#define STATUS_SELECT                                                                              \
    "SELECT a.n, a.id, a.kind, a.display_name, a.lifecycle, a.paused, a.mode,"                     \
    " a.allowed_category_ids, a.model_id, a.prompt_id, a.instructions, a.tools, a.description,"    \
    " a.template, a.auto_approve_memory, a.created_at, a.updated_at, a.destroyed_at,"              \
    " a.session_ttl_ms, a.profile, a.config_schema_version, a.extension, a.taint,"                 \
    " p.pending, p.pending_since, p.pending_title, o.open_runs, o.open_since, r.status AS status," \
    " r.created_at AS run_at, r.ended_at, r.error_code, r.error_message, d.tokens,"                \
    " s.sessions, s.session_until"                                                                 \
    " FROM agents AS a"                                                                            \
    " LEFT JOIN (SELECT agent_n, count(*) AS pending, min(created_at) AS pending_since,"           \
    " min(title) AS pending_title FROM inbox WHERE state = 'pending' GROUP BY agent_n) AS p"       \
    " ON p.agent_n = a.n"                                                                          \
    " LEFT JOIN (SELECT agent_n, count(*) AS open_runs, min(created_at) AS open_since FROM runs"   \
    " WHERE ended_at IS NULL GROUP BY agent_n) AS o ON o.agent_n = a.n"                            \
    " LEFT JOIN runs AS r ON r.n = (SELECT max(n) FROM runs WHERE agent_n = a.n)"                  \
    " LEFT JOIN (SELECT agent_n, sum(input_tokens + output_tokens) AS tokens FROM runs"            \
    " WHERE created_at >= ? GROUP BY agent_n) AS d ON d.agent_n = a.n"                             \
    " LEFT JOIN (SELECT agent_n, count(*) AS sessions, max(expires_at) AS session_until"           \
    " FROM sessions WHERE closed_at IS NULL GROUP BY agent_n) AS s ON s.agent_n = a.n "

static const char *text_in(struct stmt *q, const char *column, struct arena *arena)
{
    struct str text = stmt_str(q, column);

    return text.p ? arena_copy(arena, text.p, text.n) : "";
}

static const char *first_sentence(struct stmt *q, struct arena *arena)
{
    const char *message = text_in(q, "error_message", arena);
    const char *code = text_in(q, "error_code", arena);

    return message[0] ? message : code[0] ? code : "the last run failed";
}

static void say(struct agent_status *status, enum agent_word word, int64_t since, const char *why)
{
    status->word = word;
    status->since = since;
    status->why = why;
}

static void find_word(struct stmt *q, struct arena *arena, struct agent_status *status)
{
    const struct agent *agent = &status->agent;

    if (agent->lifecycle == AGENT_DESTROYED)
        say(status, AGENT_GONE, stmt_i64(q, "destroyed_at"), "it was destroyed");
    else if (agent->paused)
        say(status, AGENT_HELD, agent->updated_at, "a person paused it");
    else if (status->pending > 0)
        say(status, AGENT_WAITING, stmt_i64(q, "pending_since"),
            status->pending == 1
                ? text_in(q, "pending_title", arena)
                : arena_printf(arena, "%lld things wait for you", (long long)status->pending));
    else if (status->runs_open > 0)
        say(status, AGENT_AWAKE, stmt_i64(q, "open_since"),
            status->runs_open == 1
                ? "a run is under way"
                : arena_printf(arena, "%lld runs are under way", (long long)status->runs_open));
    else if (str_is(stmt_str(q, "status"), "failed"))
        say(status, AGENT_FAILING, stmt_i64(q, "ended_at"), first_sentence(q, arena));
    else if (agent->lifecycle == AGENT_DORMANT)
        say(status, AGENT_ASLEEP, agent->updated_at,
            "it is dormant: changes and timers do not wake it");
    else
        say(status, AGENT_ASLEEP, status->last_run_at ? stmt_i64(q, "ended_at") : agent->created_at,
            status->last_run_at ? "its last run has ended" : "nothing has woken it yet");
}

static void read_status(struct stmt *q, struct arena *arena, struct agent_status *ret_status)
{
    agent_read_row(q, arena, &ret_status->agent);
    ret_status->pending = stmt_i64(q, "pending");
    ret_status->runs_open = stmt_i64(q, "open_runs");
    ret_status->last_run_at = stmt_i64(q, "run_at");
    ret_status->tokens_today = stmt_i64(q, "tokens");
    ret_status->sessions_open = stmt_i64(q, "sessions");
    ret_status->session_until = stmt_i64(q, "session_until");
    find_word(q, arena, ret_status);
}

static int prepare(struct db *db, const struct agent_status_filter *filter, struct stmt **ret_q,
                   struct err *err)
{
    struct sql one = SQL(STATUS_SELECT "WHERE a.id = ?");
    struct sql all = SQL(STATUS_SELECT "WHERE (? = 1 OR a.id NOT LIKE 'system:%')"
                                       " AND (? = 1 OR a.lifecycle <> 'destroyed')"
                                       " ORDER BY a.display_name, a.id");

    if (db_prepare(db, filter->id.n ? one : all, ret_q, err) < 0)
        return -1;
    stmt_bind_i64(*ret_q, filter->day_ms);
    if (filter->id.n) {
        stmt_bind_str(*ret_q, filter->id);
        return 0;
    }
    stmt_bind_i64(*ret_q, filter->system);
    stmt_bind_i64(*ret_q, filter->destroyed);
    return 0;
}

int agent_status_list(struct domain *domain, const struct agent_status_filter *filter,
                      struct arena *arena, struct agent_status **ret_list, size_t *ret_count,
                      struct err *err)
{
    AUTO(stmt) q = NULL;
    struct agent_status *list = NULL;
    size_t count = 0, room = 0;
    int r;

    if (prepare(domain_db(domain), filter, &q, err) < 0)
        return -1;
    while ((r = stmt_step(q, err)) == 1) {
        if (count == room) {
            struct agent_status *more =
                ARENA_NEW_N(arena, struct agent_status, room = 2 * room + 8);

            if (count)
                memcpy(more, list, count * sizeof(*list));
            list = more;
        }
        read_status(q, arena, &list[count++]);
    }
    if (r < 0)
        return -1;
    *ret_list = list;
    *ret_count = count;
    return 0;
}
