/* Values of states in their table: one row a host.
 *
 * A host's values follow each other by its own counter, so a row is replaced only by a later one of
 * the same host. Rows that were written before there were clocks have none: what they have seen is
 * what they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent_int.h"
#include "agent/state_int.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "db/db.h"

#define VALUES_MAX VCLOCK_HOSTS_MAX

/* ---- reading ---- */

static int read_clock(struct stmt *q, const char *column, struct arena *arena,
                      struct vclock *ret_clock, struct err *err)
{
    struct str text = stmt_str(q, column);

    if (!text.n)
        return 0;
    if (vclock_parse(text, arena, ret_clock, err) < 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "%s is no clock", column);
    return 0;
}

/* {"clock":{...},"host":"H"}, or nothing. */
static int read_pointer(struct stmt *q, const char *column, const char *place, struct arena *arena,
                        struct agent_pointer *ret_pointer, struct err *err)
{
    AUTO_JSON doc = NULL;
    AUTO_BUF clock = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&clock);
    struct json_object *seen;

    ret_pointer->message_id = arena_str(arena, stmt_str(q, column));
    if (stmt_is_null(q, place))
        return 0;
    if (json_parse(stmt_str(q, place), &doc, err) < 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "%s is not JSON", place);
    ret_pointer->host = arena_str(arena, json_str(json_find(doc, "host")));
    seen = json_find(doc, "clock");
    if (!seen)
        return 0;
    json_write_value(&w, seen);
    if (json_write_end(&w) < 0 ||
        vclock_parse(buf_str(&clock), arena, &ret_pointer->clock, err) < 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "%s holds no clock", place);
    return 0;
}

static int read_slots(struct stmt *q, struct arena *arena, struct agent_slots *ret_slots,
                      struct err *err)
{
    AUTO_JSON hosts = NULL;

    *ret_slots = (struct agent_slots){
        .primary_goal = arena_str(arena, stmt_str(q, "primary_goal")),
        .active_task_id = arena_str(arena, stmt_str(q, "active_task_id")),
        .open_loop_ids = arena_str(arena, stmt_str(q, "open_loop_ids")),
        .preference_by_key = arena_str(arena, stmt_str(q, "preference_by_key")),
        .extension = arena_str(arena, stmt_str(q, "extension")),
        .primary_goal_version = stmt_i64(q, "primary_goal_version"),
        .active_task_id_version = stmt_i64(q, "active_task_id_version"),
        .open_loop_ids_version = stmt_i64(q, "open_loop_ids_version"),
        .preference_by_key_version = stmt_i64(q, "preference_by_key_version"),
        .extension_version = stmt_i64(q, "extension_version"),
        .taint = arena_str(arena, stmt_str(q, "slot_taint")),
    };
    if (json_parse(stmt_str(q, "slot_hosts"), &hosts, err) < 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "slot_hosts is not JSON");
    for (int i = 0; i < AGENT_SLOT_COUNT; i++)
        *agent_slot_host(ret_slots, (enum agent_slot)i) =
            arena_str(arena, json_str(json_find(hosts, agent_slot_name((enum agent_slot)i))));
    return 0;
}

static int read_value(struct stmt *q, int64_t agent_n, struct arena *arena,
                      struct agent_state *ret_state, struct err *err)
{
    *ret_state = (struct agent_state){
        .id = arena_str(arena, stmt_str(q, "id")),
        .agent_n = agent_n,
        .revision = stmt_i64(q, "revision"),
        .updated_at = stmt_i64(q, "updated_at"),
        .lifecycle = agent_lifecycle_of(stmt_str(q, "lifecycle")),
        .last_wake_at = stmt_i64(q, "last_wake_at"),
        .next_wake_at = stmt_i64(q, "next_wake_at"),
        .sleep_until = stmt_i64(q, "sleep_until"),
        .failures = stmt_i64(q, "consecutive_failure_count"),
        .successes = stmt_i64(q, "success_count"),
        .host = arena_str(arena, stmt_str(q, "host_id")),
    };
    if (read_clock(q, "vector_clock", arena, &ret_state->clock, err) < 0 ||
        read_clock(q, "processed_counter_by_host", arena, &ret_state->processed, err) < 0 ||
        read_clock(q, "host_seen_at", arena, &ret_state->host_seen, err) < 0 ||
        read_pointer(q, "recent_head_message_id", "head_at", arena, &ret_state->head, err) < 0 ||
        read_pointer(q, "latest_summary_message_id", "summary_at", arena, &ret_state->summary,
                     err) < 0 ||
        read_slots(q, arena, &ret_state->slots, err) < 0)
        return err_wrap(err, "state %.*s", STR_ARG(ret_state->id));
    if (!ret_state->clock.n)
        ret_state->clock =
            vclock_with(&ret_state->clock, ret_state->host, stmt_i64(q, "counter"), arena);
    return 0;
}

static int read_values(struct domain *domain, int64_t agent_n, struct arena *arena,
                       struct agent_state **ret_values, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct agent_state *values = NULL;
    size_t n = 0, room = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT s.*, h.id AS host_id FROM agent_states AS s"
                       " JOIN hosts AS h ON h.n = s.host_n WHERE s.agent_n = ?"
                       " ORDER BY h.id, s.id LIMIT 1000"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    while ((r = stmt_step(q, err)) == 1) {
        if (n == room) {
            struct agent_state *more = ARENA_NEW_N(arena, struct agent_state, room = 2 * room + 2);

            if (n)
                memcpy(more, values, n * sizeof(*values));
            values = more;
        }
        if (read_value(q, agent_n, arena, &values[n++], err) < 0)
            return -1;
    }
    *ret_values = values;
    *ret_count = n;
    return r;
}

/* ---- ancestry of messages ---- */

struct family {
    struct domain *domain;
    int64_t agent_n;
    bool failed;
    struct err *err;
};

/* A thread is a chain: of two of its messages the later descends from the earlier. */
static bool message_descends(void *arg, struct str later, struct str earlier)
{
    struct family *family = arg;
    AUTO(stmt) q = NULL;
    int r = -1;

    if (!family->failed &&
        db_prepare(domain_db(family->domain),
                   SQL("SELECT 1 AS yes FROM agent_messages AS b, agent_messages AS a"
                       " WHERE b.agent_n = ? AND b.id = ? AND a.agent_n = ? AND a.id = ?"
                       " AND b.thread_n = a.thread_n AND b.ordinal > a.ordinal"),
                   &q, family->err) == 0) {
        stmt_bind_i64(q, family->agent_n);
        stmt_bind_str(q, later);
        stmt_bind_i64(q, family->agent_n);
        stmt_bind_str(q, earlier);
        r = stmt_step(q, family->err);
    }
    family->failed = r < 0;
    return r == 1;
}

int agent_state_get(struct domain *domain, int64_t agent_n, int64_t now_ms, struct arena *arena,
                    struct agent_state *ret_state, struct err *err)
{
    struct err cause = ERR_INIT;
    struct family family = { .domain = domain, .agent_n = agent_n, .err = err ? err : &cause };
    struct agent_state *rows, *values, state;
    size_t n;

    if (read_values(domain, agent_n, arena, &rows, &n, err) < 0)
        return -1;
    if (n == 0)
        return err_set(err, ERR_NOT_FOUND, "the agent with row %lld has no state",
                       (long long)agent_n);
    agent_state_join(rows, n, NULL, 0, arena, &values, &n);
    state = agent_state_resolve(values, n, now_ms, message_descends, &family, arena);
    if (family.failed)
        return -1;
    *ret_state = state;
    ret_state->arena = arena;
    return 0;
}

/* ---- writing ---- */

static struct str pointer_json(const struct agent_pointer *pointer, struct arena *arena)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&text);

    if (!pointer->message_id.n)
        return STR_NONE;
    json_write_object_begin(&w);
    json_put_raw(&w, "clock", vclock_text(&pointer->clock, arena));
    json_put_str(&w, "host", pointer->host);
    json_write_object_end(&w);
    BUG_IF(json_write_end(&w) < 0);
    return arena_str(arena, buf_str(&text));
}

static struct str slot_hosts_json(const struct agent_slots *slots, struct arena *arena)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&text);

    json_write_object_begin(&w);
    for (int i = 0; i < AGENT_SLOT_COUNT; i++) {
        struct str host = *agent_slot_host((struct agent_slots *)slots, (enum agent_slot)i);

        if (!host.n)
            continue;
        json_write_key(&w, agent_slot_name((enum agent_slot)i));
        json_write_str(&w, host);
    }
    json_write_object_end(&w);
    BUG_IF(json_write_end(&w) < 0);
    return arena_str(arena, buf_str(&text));
}

static void bind_slots(struct stmt *q, const struct agent_slots *slots, struct arena *arena)
{
    stmt_bind_some_str(q, slots->primary_goal);
    stmt_bind_i64(q, slots->primary_goal_version);
    stmt_bind_some_str(q, slots->active_task_id);
    stmt_bind_i64(q, slots->active_task_id_version);
    stmt_bind_str(q, slots->open_loop_ids.n ? slots->open_loop_ids : STR("[]"));
    stmt_bind_i64(q, slots->open_loop_ids_version);
    stmt_bind_str(q, slots->preference_by_key.n ? slots->preference_by_key : STR("{}"));
    stmt_bind_i64(q, slots->preference_by_key_version);
    stmt_bind_str(q, slots->extension.n ? slots->extension : STR("{}"));
    stmt_bind_i64(q, slots->extension_version);
    stmt_bind_str(q, slot_hosts_json(slots, arena));
    stmt_bind_some_str(q, slots->taint);
}

#define COLUMNS                                                                                    \
    "id, agent_n, revision, updated_at, lifecycle, last_wake_at, next_wake_at, sleep_until,"       \
    " recent_head_message_id, head_at, latest_summary_message_id, summary_at,"                     \
    " consecutive_failure_count, success_count, processed_counter_by_host, host_seen_at,"          \
    " primary_goal, primary_goal_version, active_task_id, active_task_id_version, open_loop_ids,"  \
    " open_loop_ids_version, preference_by_key, preference_by_key_version, extension,"             \
    " extension_version, slot_hosts, slot_taint, vector_clock, host_n, counter"

#define REPLACE_ALL                                                                                \
    "revision = excluded.revision, updated_at = excluded.updated_at, "                             \
    "lifecycle = excluded.lifecycle, last_wake_at = excluded.last_wake_at, "                       \
    "next_wake_at = excluded.next_wake_at, sleep_until = excluded.sleep_until, "                   \
    "recent_head_message_id = excluded.recent_head_message_id, head_at = excluded.head_at, "       \
    "latest_summary_message_id = excluded.latest_summary_message_id, "                             \
    "summary_at = excluded.summary_at, "                                                           \
    "consecutive_failure_count = excluded.consecutive_failure_count, "                             \
    "success_count = excluded.success_count, "                                                     \
    "processed_counter_by_host = excluded.processed_counter_by_host, "                             \
    "host_seen_at = excluded.host_seen_at, primary_goal = excluded.primary_goal, "                 \
    "primary_goal_version = excluded.primary_goal_version, "                                       \
    "active_task_id = excluded.active_task_id, "                                                   \
    "active_task_id_version = excluded.active_task_id_version, "                                   \
    "open_loop_ids = excluded.open_loop_ids, "                                                     \
    "open_loop_ids_version = excluded.open_loop_ids_version, "                                     \
    "preference_by_key = excluded.preference_by_key, "                                             \
    "preference_by_key_version = excluded.preference_by_key_version, "                             \
    "extension = excluded.extension, extension_version = excluded.extension_version, "             \
    "slot_hosts = excluded.slot_hosts, slot_taint = excluded.slot_taint, "                         \
    "vector_clock = excluded.vector_clock, "                                                       \
    "host_n = excluded.host_n, counter = excluded.counter"

static int check_sizes(const struct agent_state *state, struct err *err)
{
    if (state->clock.n > VCLOCK_HOSTS_MAX || state->processed.n > VCLOCK_HOSTS_MAX ||
        state->host_seen.n > VCLOCK_HOSTS_MAX || state->head.clock.n > VCLOCK_HOSTS_MAX ||
        state->summary.clock.n > VCLOCK_HOSTS_MAX)
        return err_set(err, ERR_TOO_LARGE, "state %.*s: more than %d hosts", STR_ARG(state->id),
                       VCLOCK_HOSTS_MAX);
    return 0;
}

static int store(struct db *db, const struct agent_state *state, int64_t host_n,
                 struct arena *arena, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (check_sizes(state, err) < 0 ||
        db_prepare(db,
                   SQL("INSERT INTO agent_states (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?,"
                       " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (id) DO UPDATE SET " REPLACE_ALL),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, state->id);
    stmt_bind_i64(q, state->agent_n);
    stmt_bind_i64(q, state->revision);
    stmt_bind_i64(q, state->updated_at);
    stmt_bind_text(q, agent_lifecycle_name(state->lifecycle));
    stmt_bind_some_i64(q, state->last_wake_at);
    stmt_bind_some_i64(q, state->next_wake_at);
    stmt_bind_some_i64(q, state->sleep_until);
    stmt_bind_some_str(q, state->head.message_id);
    stmt_bind_some_str(q, pointer_json(&state->head, arena));
    stmt_bind_some_str(q, state->summary.message_id);
    stmt_bind_some_str(q, pointer_json(&state->summary, arena));
    stmt_bind_i64(q, state->failures);
    stmt_bind_i64(q, state->successes);
    stmt_bind_str(q, vclock_text(&state->processed, arena));
    stmt_bind_str(q, vclock_text(&state->host_seen, arena));
    bind_slots(q, &state->slots, arena);
    stmt_bind_str(q, vclock_text(&state->clock, arena));
    stmt_bind_i64(q, host_n);
    stmt_bind_i64(q, vclock_of(&state->clock, state->host));
    return stmt_run(q, err);
}

/* The row of this host from before rows were named by it. */
static int drop_former(struct db *db, const struct agent_state *state, int64_t host_n,
                       struct err *err)
{
    AUTO(stmt) drop = NULL;
    AUTO(stmt) name = NULL;

    if (db_prepare(db, SQL("DELETE FROM agent_states WHERE agent_n = ? AND host_n = ? AND id <> ?"),
                   &drop, err) < 0 ||
        db_prepare(db,
                   SQL("UPDATE agents SET current_state_id = ?"
                       " WHERE n = ? AND current_state_id <> ?"),
                   &name, err) < 0)
        return -1;
    stmt_bind_i64(drop, state->agent_n);
    stmt_bind_i64(drop, host_n);
    stmt_bind_str(drop, state->id);
    stmt_bind_str(name, state->id);
    stmt_bind_i64(name, state->agent_n);
    stmt_bind_str(name, state->id);
    return stmt_run(drop, err) < 0 ? -1 : stmt_run(name, err);
}

/* This host's value, having seen what state has seen. */
static int write_own(struct domain *domain, struct change *change, struct agent_state *state,
                     const char *agent_id, int64_t now_ms, struct arena *arena, struct err *err)
{
    state->host = arena_str(arena, str_from(change_host_id(change)));
    state->id = str_from(arena_printf(arena, "%s:%s", agent_id, change_host_id(change)));
    state->clock = vclock_with(&state->clock, state->host, change_next(change), arena);
    state->revision++;
    state->updated_at = now_ms;
    if (store(domain_db(domain), state, change_host(change), arena, err) < 0)
        return -1;
    return drop_former(domain_db(domain), state, change_host(change), err);
}

static int check_unchanged(struct domain *domain, const struct agent_state *state,
                           struct arena *arena, struct err *err)
{
    struct agent_state *rows;
    struct vclock seen = { 0 };
    size_t n;

    if (read_values(domain, state->agent_n, arena, &rows, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        seen = vclock_merge(&seen, &rows[i].clock, arena);
    if (vclock_compare(&seen, &state->clock) != VCLOCK_EQUAL)
        return err_set(err, ERR_VERSION_CONFLICT,
                       "the agent's state was changed since it was read; read it again");
    return 0;
}

int agent_state_put(struct domain *domain, struct change *change, struct agent_state *state,
                    int64_t now_ms, struct err *err)
{
    AUTO_ARENA scratch = ARENA_INIT;
    struct agent agent;

    BUG_IF(!state->arena);
    if (agent_get_n(domain, state->agent_n, &scratch, &agent, err) < 0)
        return -1;
    if (agent.lifecycle == AGENT_DESTROYED)
        return err_set(err, ERR_AGENT_DESTROYED, "the agent %s no longer exists", agent.id);
    if (check_unchanged(domain, state, &scratch, err) < 0)
        return -1;
    return write_own(domain, change, state, agent.id, now_ms, state->arena, err);
}

int agent_state_begin(struct domain *domain, struct change *change, const struct agent *agent,
                      struct agent_state *ret_state, struct arena *arena, struct err *err)
{
    *ret_state = (struct agent_state){ .agent_n = agent->n,
                                       .lifecycle = agent->lifecycle,
                                       .revision = -1, /* its first is 0 */
                                       .arena = arena };
    return write_own(domain, change, ret_state, agent->id, agent->created_at, arena, err);
}

int agent_state_follow(struct domain *domain, struct change *change, const struct agent *agent,
                       enum agent_lifecycle lifecycle, int64_t now_ms, struct arena *arena,
                       struct agent_state *ret_state, struct err *err)
{
    struct agent_state *rows;
    size_t n;

    *ret_state = (struct agent_state){ .agent_n = agent->n, .arena = arena };
    if (read_values(domain, agent->n, arena, &rows, &n, err) < 0 ||
        (n && agent_state_get(domain, agent->n, now_ms, arena, ret_state, err) < 0))
        return -1;
    ret_state->lifecycle = lifecycle;
    return write_own(domain, change, ret_state, agent->id, now_ms, arena, err);
}

/* ---- what other hosts say ---- */

static int check_received(const struct agent_state *state, struct arena *arena, struct err *err)
{
    struct str kept;

    if (!state->host.n || !vclock_of(&state->clock, state->host) || !state->agent_n)
        return err_set(err, ERR_MISSING_CHANGE_PROVENANCE,
                       "a state needs the host that made it and that host's counter");
    if (state->lifecycle <= AGENT_LIFECYCLE_NONE || state->lifecycle > AGENT_DESTROYED)
        return err_set(err, ERR_BAD_REQUEST, "a state with a life cycle that there is not");
    for (int i = 0; i < AGENT_SLOT_COUNT; i++) {
        enum agent_slot slot = (enum agent_slot)i;
        struct str value = *agent_slot_value((struct agent_slots *)&state->slots, slot);

        if (value.n && agent_slot_check(slot, value, arena, &kept, err) < 0)
            return -1;
    }
    return 0;
}

/* 1 there is a row of this host that is as new or newer. */
static int is_known(struct domain *domain, struct str id, int64_t counter, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT 1 AS known FROM agent_states WHERE id = ? AND counter >= ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_str(q, id);
    stmt_bind_i64(q, counter);
    return stmt_step(q, err);
}

int agent_state_receive(struct domain *domain, struct change *change,
                        const struct agent_state *state, int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct agent_state value = *state, all;
    struct agent agent;
    int64_t host_n;
    int r;

    if (check_received(state, &arena, err) < 0 ||
        agent_get_n(domain, state->agent_n, &arena, &agent, err) < 0)
        return -1;
    value.id = str_from(arena_printf(&arena, "%s:%.*s", agent.id, STR_ARG(state->host)));
    r = is_known(domain, value.id, vclock_of(&value.clock, value.host), err);
    if (r != 0)
        return r < 0 ? -1 : 0;
    if (change_number(domain, value.host, now_ms, &host_n, err) < 0 ||
        store(domain_db(domain), &value, host_n, &arena, err) < 0 ||
        agent_state_get(domain, agent.n, now_ms, &arena, &all, err) < 0 ||
        agent_live_as(domain, change, &agent, all.lifecycle, NULL, now_ms, err) < 0)
        return -1;
    return 1;
}
