/* Rows of timers. (How they move on, and what is skipped: timer_move_store.c.)
 *
 * The index on (active, next_run_at) is the queue of timers: what is due next is its first entry,
 * however many sleep behind it. A timer that was removed or has ended is not in it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "db/db.h"
#include "db/prefix.h"
#include "wake/claim_int.h"
#include "wake/stamp_int.h"
#include "wake/timer_int.h"

#define TIMER_SELECT                                                                               \
    "SELECT t.n, t.id, t.agent_n, a.id AS agent_id, t.name, t.kind, t.rrule, t.start_local,"       \
    " t.zone, t.interval_ms, t.missed, t.missed_cap, t.prompt, t.next_run_at, t.next_local,"       \
    " t.last_run_at, t.active, t.created_at, t.updated_at, t.vector_clock"                         \
    " FROM agent_timers t JOIN agents a ON a.n = t.agent_n "

/* ---- reading ---- */

static struct str copy(struct arena *arena, struct str text)
{
    return text.n ? arena_str(arena, text) : STR("");
}

static void read_local(struct stmt *q, const char *column, char ret_local[TIMER_LOCAL_SIZE])
{
    snprintf(ret_local, TIMER_LOCAL_SIZE, "%.*s", STR_ARG(stmt_str(q, column)));
}

static void read_row(struct stmt *q, struct arena *arena, struct timer *ret)
{
#define TEXT(column) copy(arena, stmt_str(q, column))
    *ret = (struct timer){
        .n = stmt_i64(q, "n"),
        .id = TEXT("id"),
        .agent_n = stmt_i64(q, "agent_n"),
        .agent_id = TEXT("agent_id"),
        .name = TEXT("name"),
        .kind = timer_kind_of(stmt_str(q, "kind")),
        .rrule = TEXT("rrule"),
        .zone = TEXT("zone"),
        .prompt = TEXT("prompt"),
        .interval_ms = stmt_i64(q, "interval_ms"),
        .missed_cap = stmt_i64(q, "missed_cap"),
        .next_run_at = stmt_i64(q, "next_run_at"),
        .last_run_at = stmt_i64(q, "last_run_at"),
        .active = stmt_bool(q, "active"),
        .created_at = stmt_i64(q, "created_at"),
        .updated_at = stmt_i64(q, "updated_at"),
        .vector_clock = TEXT("vector_clock"),
    };
#undef TEXT
    read_local(q, "start_local", ret->start_local);
    read_local(q, "next_local", ret->next_local);
    (void)timer_missed_of(stmt_str(q, "missed"), &ret->missed, NULL);
}

/* All rows of a statement that is bound. */
static int read_rows(struct stmt *q, struct arena *arena, struct timer **ret_list,
                     size_t *ret_count, struct err *err)
{
    struct timer *list = NULL;
    size_t n = 0, room = 0;
    int r;

    while ((r = stmt_step(q, err)) == 1) {
        if (n == room) {
            struct timer *more = ARENA_NEW_N(arena, struct timer, room ? 2 * room : 16);

            if (n)
                memcpy(more, list, n * sizeof(*list));
            list = more;
            room = room ? 2 * room : 16;
        }
        read_row(q, arena, &list[n++]);
    }
    if (r < 0)
        return -1;
    *ret_list = list;
    *ret_count = n;
    return 0;
}

int timer_get(struct domain *domain, struct str id, struct arena *arena, struct timer *ret_timer,
              struct err *err)
{
    static const struct prefix_words words = { "timer", "timers", "dormouse timer list",
                                               "those there are" };
    AUTO(stmt) q = NULL;
    struct str whole;
    int r;

    if (prefix_find(domain_db(domain),
                    SQL("SELECT id FROM agent_timers WHERE id >= ? AND id < ? || '~'"
                        " AND deleted_at IS NULL ORDER BY id LIMIT 5"),
                    id, &words, arena, &whole, err) < 0)
        return -1;
    if (db_prepare(domain_db(domain), SQL(TIMER_SELECT "WHERE t.id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, whole);
    r = stmt_step(q, err);
    if (r == 0) /* its agent is not there */
        return err_set(err, ERR_INTEGRITY_FAILED, "the timer %.*s belongs to no agent",
                       STR_ARG(whole));
    if (r == 1)
        read_row(q, arena, ret_timer);
    return r < 0 ? -1 : 0;
}

/* In the greatest unit that it is a whole number of. */
static const char *every(int64_t ms, struct arena *arena)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = { { "days", DAYS(1) }, { "h", HOURS(1) }, { "min", MINUTES(1) }, { "s", 1000 } };
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(units) && ms % units[i].ms)
        i++;
    if (ms == DAYS(1))
        return "every day";
    return arena_printf(arena, "every %lld %s", (long long)(ms / units[i].ms), units[i].name);
}

int timer_describe(struct domain *domain, struct str id, struct arena *arena, struct str *ret_text,
                   struct err *err)
{
    AUTO(stmt) q = NULL;
    struct timer timer;
    int r;

    if (db_prepare(domain_db(domain), SQL(TIMER_SELECT "WHERE t.id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r <= 0)
        return r;
    read_row(q, arena, &timer);
    if (timer.rrule.n)
        *ret_text = timer.rrule;
    else if (timer.interval_ms)
        *ret_text = str_from(every(timer.interval_ms, arena));
    else
        *ret_text = str_from(arena_printf(arena, "at %.16s", timer.start_local));
    return 1;
}

int timer_list(struct domain *domain, int64_t agent_n, struct arena *arena, struct timer **ret_list,
               size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (agent_n) {
        if (db_prepare(domain_db(domain),
                       SQL(TIMER_SELECT "WHERE t.agent_n = ? AND t.deleted_at IS NULL"
                                        " ORDER BY t.n"),
                       &q, err) < 0)
            return -1;
        stmt_bind_i64(q, agent_n);
    } else if (db_prepare(domain_db(domain),
                          SQL(TIMER_SELECT "WHERE t.deleted_at IS NULL ORDER BY t.n"), &q,
                          err) < 0) {
        return -1;
    }
    return read_rows(q, arena, ret_list, ret_count, err);
}

int timer_next_due(struct domain *domain, int64_t *ret_at, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT next_run_at FROM agent_timers WHERE active = 1"
                       " AND next_run_at IS NOT NULL ORDER BY next_run_at LIMIT 1"),
                   &q, err) < 0)
        return -1;
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    *ret_at = r ? stmt_i64(q, "next_run_at") : 0;
    return 0;
}

int timer_due(struct domain *domain, int64_t now_ms, int limit, struct arena *arena,
              struct timer **ret_list, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL(TIMER_SELECT "WHERE t.active = 1 AND t.next_run_at <= ?"
                                    " ORDER BY t.next_run_at, t.n LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, limit);
    return read_rows(q, arena, ret_list, ret_count, err);
}

/* ---- writing ---- */

void timer_bind_number(struct stmt *q, int64_t n)
{
    stmt_bind_some_i64(q, n);
}

void timer_bind_text(struct stmt *q, struct str text)
{
    stmt_bind_some_str(q, text);
}

/* name ... next_local, as INSERT and UPDATE both have them. */
static void bind_members(struct stmt *q, const struct timer *timer)
{
    stmt_bind_str(q, timer->name.n ? timer->name : STR(""));
    stmt_bind_text(q, timer_kind_name(timer->kind));
    timer_bind_text(q, timer->rrule);
    timer_bind_text(q, str_from(timer->start_local));
    timer_bind_text(q, timer->zone);
    timer_bind_number(q, timer->interval_ms);
    stmt_bind_text(q, timer_missed_name(timer->missed));
    stmt_bind_i64(q, timer->missed_cap);
    stmt_bind_str(q, timer->prompt.n ? timer->prompt : STR(""));
    timer_bind_number(q, timer->next_run_at);
    timer_bind_text(q, str_from(timer->next_local));
    stmt_bind_i64(q, timer->active);
}

static int tell(struct domain *domain, struct change *change, const struct stamp *stamp,
                const struct timer *timer, int64_t now_ms, struct err *err)
{
    return stamp_tell(domain, change, stamp, STR("agentTimer"), timer->id, timer->agent_id, now_ms,
                      err);
}

static int insert(struct domain *domain, struct change *change, struct timer *timer, int64_t now_ms,
                  struct arena *arena, struct err *err)
{
    AUTO(stmt) q = NULL;
    char id[UUID_TEXT_SIZE];
    struct stamp stamp;

    change_new_id(change, id);
    if (stamp_next(domain, change, str_from(id), STR_NONE, arena, &stamp, err) < 0 ||
        db_prepare(domain_db(domain),
                   SQL("INSERT INTO agent_timers (name, kind, rrule, start_local, zone,"
                       " interval_ms, missed, missed_cap, prompt, next_run_at, next_local, active,"
                       " vector_clock, host_n, counter, id, agent_n, created_at, updated_at)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                       " RETURNING n, id"),
                   &q, err) < 0)
        return -1;
    bind_members(q, timer);
    stamp_bind(q, &stamp);
    stmt_bind_text(q, id);
    stmt_bind_i64(q, timer->agent_n);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, now_ms);
    if (stmt_step(q, err) != 1)
        return -1;
    timer->n = stmt_i64(q, "n");
    timer->id = arena_str(arena, stmt_str(q, "id"));
    timer->vector_clock = stamp.clock;
    return tell(domain, change, &stamp, timer, now_ms, err);
}

/* ---- adding and changing ---- */

static int check_room(struct domain *domain, int64_t agent_n, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT count(*) AS many FROM agent_timers"
                       " WHERE agent_n = ? AND deleted_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    if (stmt_step(q, err) != 1)
        return -1;
    if (stmt_i64(q, "many") >= TIMERS_OF_AGENT)
        return err_set(err, ERR_CONFLICT, "the agent has %d timers already; remove some",
                       TIMERS_OF_AGENT);
    return 0;
}

/* Checks it whole and computes when it fires next. before NULL: a new one. */
static int prepare(struct timer *timer, const struct timer *before, int64_t now_ms,
                   int64_t floor_ms, struct err *err)
{
    bool had_ended = before && !before->next_run_at && before->active;
    AUTO(zone) opened = NULL;
    const struct zone *zone = timer->zone.n ? NULL : timer->here;

    if (!zone && timer_zone_open(timer->zone, &opened, err) < 0)
        return err_wrap(err, "zone");
    zone = zone ? zone : opened;
    if (timer_check(timer, zone, now_ms, err) < 0 || timer_first(timer, zone, floor_ms, err) < 0)
        return -1;
    if (!timer->next_run_at && timer->active && !had_ended)
        return err_set(err, ERR_BAD_REQUEST, "%s",
                       timer->kind == TIMER_ONCE ? "start: lies in the past"
                                                 : "rrule: has no occurrence after now");
    return 0;
}

static int check_alive(const struct agent *agent, struct err *err)
{
    if (agent->lifecycle == AGENT_DESTROYED)
        return err_set(err, ERR_AGENT_DESTROYED, "agent %s no longer exists", agent->id);
    return 0;
}

int timer_add(struct domain *domain, struct change *change, struct timer *timer, int64_t now_ms,
              struct arena *arena, struct err *err)
{
    struct agent agent;

    if (agent_get_n(domain, timer->agent_n, arena, &agent, err) < 0 ||
        check_alive(&agent, err) < 0 || check_room(domain, timer->agent_n, err) < 0)
        return -1;
    timer->agent_id = str_from(agent.id);
    timer->active = true;
    timer->created_at = timer->updated_at = now_ms;
    timer->last_run_at = 0;
    if (prepare(timer, NULL, now_ms, now_ms, err) < 0)
        return -1;
    return insert(domain, change, timer, now_ms, arena, err);
}

static int update(struct domain *domain, struct change *change, const struct timer *timer,
                  int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;
    struct stamp stamp;

    if (stamp_next(domain, change, timer->id, timer->vector_clock, &arena, &stamp, err) < 0 ||
        db_prepare(domain_db(domain),
                   SQL("UPDATE agent_timers SET name = ?, kind = ?, rrule = ?, start_local = ?,"
                       " zone = ?, interval_ms = ?, missed = ?, missed_cap = ?, prompt = ?,"
                       " next_run_at = ?, next_local = ?, active = ?, vector_clock = ?,"
                       " host_n = ?, counter = ?, updated_at = ? WHERE n = ?"),
                   &q, err) < 0)
        return -1;
    bind_members(q, timer);
    stamp_bind(q, &stamp);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, timer->n);
    if (stmt_run(q, err) < 0)
        return -1;
    return tell(domain, change, &stamp, timer, now_ms, err);
}

static bool same_times(const struct timer *a, const struct timer *b)
{
    return a->kind == b->kind && str_eq(a->rrule, b->rrule) && str_eq(a->zone, b->zone) &&
           a->interval_ms == b->interval_ms && strcmp(a->start_local, b->start_local) == 0 &&
           a->active && b->active;
}

int timer_change(struct domain *domain, struct change *change, struct timer *timer, int64_t now_ms,
                 struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    int64_t floor_ms = timer->last_run_at > now_ms ? timer->last_run_at : now_ms;
    struct timer before;

    if (timer_get(domain, timer->id, &arena, &before, err) < 0 ||
        prepare(timer, &before, now_ms, floor_ms, err) < 0)
        return -1;
    if (same_times(timer, &before)) { /* what is due and not fired yet stays due */
        timer->next_run_at = before.next_run_at;
        memcpy(timer->next_local, before.next_local, sizeof(timer->next_local));
    }
    timer->updated_at = now_ms;
    if (before.active && !timer->active &&
        claim_drop_of(domain, before.agent_id, before.id, "its timer was switched off", now_ms,
                      err) < 0)
        return -1;
    return update(domain, change, timer, now_ms, err);
}

/* ---- ending ---- */

int timer_set_gone(struct domain *domain, struct change *change, const struct timer *timer,
                   bool deleted, int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;
    struct stamp stamp;

    if (stamp_next(domain, change, timer->id, timer->vector_clock, &arena, &stamp, err) < 0 ||
        db_prepare(domain_db(domain),
                   SQL("UPDATE agent_timers SET active = 0, next_run_at = NULL, next_local = NULL,"
                       " vector_clock = ?, host_n = ?, counter = ?, updated_at = ?,"
                       " deleted_at = ? WHERE n = ?"),
                   &q, err) < 0)
        return -1;
    stamp_bind(q, &stamp);
    stmt_bind_i64(q, now_ms);
    timer_bind_number(q, deleted ? now_ms : 0);
    stmt_bind_i64(q, timer->n);
    if (stmt_run(q, err) < 0)
        return -1;
    return deleted ? tell(domain, change, &stamp, timer, now_ms, err) : 0;
}

int timer_remove(struct domain *domain, struct change *change, struct str id, int64_t now_ms,
                 struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct timer timer;

    if (timer_get(domain, id, &arena, &timer, err) < 0 ||
        claim_drop_of(domain, timer.agent_id, timer.id, "its timer was removed", now_ms, err) < 0)
        return -1;
    return timer_set_gone(domain, change, &timer, true, now_ms, err);
}

/* ---- the zone of this machine ---- */

int timer_read_zoneless(struct domain *domain, int64_t after_n, int limit, struct arena *arena,
                        struct timer **ret_list, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL(TIMER_SELECT "WHERE t.n > ? AND t.active = 1 AND t.zone IS NULL"
                                    " AND t.kind <> 'interval' AND t.next_run_at IS NOT NULL"
                                    " ORDER BY t.n LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, after_n);
    stmt_bind_i64(q, limit);
    return read_rows(q, arena, ret_list, ret_count, err);
}
