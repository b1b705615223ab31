/* Alarms as timers, and what their links remember.
 *
 * The link holds the call that set the alarm: the same call again finds it, whether the alarm has
 * rung since or not, and changes nothing.
 *
 *   metadata = {"operationId","name","note","taint","setAt","ringsAt","round"}
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "agent/link.h"
#include "base/json.h"
#include "base/json_put.h"
#include "wake/alarm.h"
#include "wake/timer_int.h"

#define ZONE       STR("UTC") /* an alarm is a moment, wherever the machine goes */
#define LINKS_READ 50         /* of a conversation, newest first, for a call that was made before */

struct kept {
    struct alarm_ring ring;
    struct str operation_id;
    int64_t round;
};

/* ---- what a link remembers ---- */

static void read_kept(const struct agent_link *link, struct arena *arena, struct kept *ret_kept)
{
    AUTO_JSON json = NULL;
    struct kept kept = { .ring = { .thread_id = link->to_id } };

    if (json_parse(link->metadata, &json, NULL) == 0) {
        kept.operation_id = arena_str(arena, json_str(json_find(json, "operationId")));
        kept.ring.name = arena_str(arena, json_str(json_find(json, "name")));
        kept.ring.note = arena_str(arena, json_str(json_find(json, "note")));
        kept.ring.taint = arena_str(arena, json_str(json_find(json, "taint")));
        (void)json_get_i64(json, "setAt", &kept.ring.set_at, NULL);
        (void)json_get_i64(json, "ringsAt", &kept.ring.rings_at, NULL);
        (void)json_get_i64(json, "round", &kept.round, NULL);
    }
    *ret_kept = kept;
}

static int write_kept(const struct kept *kept, struct buf *out, struct err *err)
{
    struct json_writer w = JSON_WRITER(out);

    json_write_object_begin(&w);
    json_put_str(&w, "operationId", kept->operation_id);
    json_put_str(&w, "name", kept->ring.name);
    json_put_str(&w, "note", kept->ring.note);
    json_put_str(&w, "taint", kept->ring.taint);
    json_put_i64(&w, "setAt", kept->ring.set_at);
    json_put_i64(&w, "ringsAt", kept->ring.rings_at);
    json_put_i64(&w, "round", kept->round);
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the alarm's note is too long");
    return 0;
}

static struct desk_alarm shown(const struct alarm_ring *ring)
{
    return (struct desk_alarm){
        .name = ring->name,
        .note = ring->note,
        .taint = ring->taint,
        .set_at = ring->set_at,
        .rings_at = ring->rings_at,
    };
}

/* ---- finding ---- */

int alarm_of_timer(struct domain *domain, const struct timer *timer, struct arena *arena,
                   struct alarm_ring *ret_ring, struct err *err)
{
    struct agent_link *links;
    struct kept kept;
    size_t n;

    if (timer->kind != TIMER_ONCE)
        return 0;
    if (agent_links_from(domain, AGENT_LINK_TIMER_THREAD, timer->id, 1, arena, &links, &n, err) < 0)
        return -1;
    if (n == 0)
        return 0;
    read_kept(&links[0], arena, &kept);
    *ret_ring = kept.ring;
    return 1;
}

/* Calls fn with each of the agent's timers that is an alarm. */
struct each {
    int (*fn)(struct each *each, const struct timer *timer, const struct alarm_ring *ring,
              struct err *err);
};

static int each_alarm(struct domain *domain, int64_t agent_n, struct arena *arena,
                      struct each *each, struct err *err)
{
    struct timer *timers;
    size_t n;

    if (timer_list(domain, agent_n, arena, &timers, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct alarm_ring ring;
        int r = alarm_of_timer(domain, &timers[i], arena, &ring, err);

        if (r < 0 || (r > 0 && each->fn(each, &timers[i], &ring, err) < 0))
            return -1;
    }
    return 0;
}

static bool is_pending(const struct timer *timer)
{
    return timer->active && timer->next_run_at != 0;
}

struct listing {
    struct each each;
    struct desk_alarm alarms[ALARMS_OF_AGENT];
    size_t n;
};

static int list_one(struct each *each, const struct timer *timer, const struct alarm_ring *ring,
                    struct err *err)
{
    struct listing *listing = CONTAINER_OF(each, struct listing, each);

    (void)err;
    if (is_pending(timer) && listing->n < ALARMS_OF_AGENT)
        listing->alarms[listing->n++] = shown(ring);
    return 0;
}

int alarm_list(struct domain *domain, int64_t agent_n, struct arena *arena,
               struct desk_alarm **ret_alarms, size_t *ret_count, struct err *err)
{
    struct listing listing = { .each = { list_one } };

    if (each_alarm(domain, agent_n, arena, &listing.each, err) < 0)
        return -1;
    *ret_alarms = ARENA_NEW_N(arena, struct desk_alarm, listing.n + 1);
    for (size_t i = 0; i < listing.n; i++)
        (*ret_alarms)[i] = listing.alarms[i];
    *ret_count = listing.n;
    return 0;
}

/* ---- taking back ---- */

/* Those that have rung go, too: nobody needs to see them. */
struct clearing {
    struct each each;
    struct domain *domain;
    struct change *change;
    struct str name;
    int64_t now;
    size_t cleared, left;
};

static int clear_one(struct each *each, const struct timer *timer, const struct alarm_ring *ring,
                     struct err *err)
{
    struct clearing *c = CONTAINER_OF(each, struct clearing, each);
    bool pending = is_pending(timer);

    if (pending && !str_eq(ring->name, c->name)) {
        c->left++;
        return 0;
    }
    c->cleared += pending;
    /* A wake of one that rang stays queued: it is to be heard. */
    return timer_set_gone(c->domain, c->change, timer, true, c->now, err) < 0 ? -1 : 0;
}

static int clear(struct clearing *c, int64_t agent_n, struct arena *arena, struct err *err)
{
    c->each.fn = clear_one;
    return each_alarm(c->domain, agent_n, arena, &c->each, err);
}

int alarm_clear(struct domain *domain, struct change *change, int64_t agent_n, struct str name,
                int64_t now_ms, struct arena *arena, struct err *err)
{
    struct clearing c = { .domain = domain, .change = change, .name = name, .now = now_ms };

    if (clear(&c, agent_n, arena, err) < 0)
        return -1;
    return c.cleared > 0;
}

/* ---- setting ---- */

/* 1 this very call was made before: what it set is in *ret_kept. Else 0, and the newest alarm of
 * the conversation is, if there is one. */
static int made_before(struct domain *domain, const struct tool_call *call, struct arena *arena,
                       struct kept *ret_kept, struct err *err)
{
    struct agent_link *links;
    size_t n;

    *ret_kept = (struct kept){ .round = 0 };
    if (agent_links_to(domain, AGENT_LINK_TIMER_THREAD, call->thread_id, LINKS_READ, arena, &links,
                       &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct kept kept;

        read_kept(&links[i], arena, &kept);
        if (i == 0)
            *ret_kept = kept;
        if (str_eq(kept.operation_id, call->operation_id)) {
            *ret_kept = kept;
            return 1;
        }
    }
    return 0;
}

/* How often it has rung in a row by itself, this one included. */
static int next_round(const struct tool_call *call, const struct kept *newest, int64_t *ret_round,
                      struct err *err)
{
    bool alone = str_is(call->wake_reason, "timer") || str_is(call->wake_reason, "recoveryCatchup");

    *ret_round = alone ? newest->round + 1 : 1;
    if (*ret_round > ALARM_ROUNDS_MAX)
        return err_set(err, ERR_RATE_LIMITED,
                       "your alarms rang %d times in a row; the next one can be set when a person "
                       "has spoken to you",
                       ALARM_ROUNDS_MAX);
    return 0;
}

static int add_timer(struct domain *domain, struct change *change, int64_t agent_n,
                     const struct kept *kept, int64_t now_ms, struct arena *arena,
                     struct str *ret_id, struct err *err)
{
    AUTO(zone) utc = NULL;
    struct timer timer = { .agent_n = agent_n,
                           .name = kept->ring.name,
                           .kind = TIMER_ONCE,
                           .zone = ZONE,
                           .prompt = kept->ring.note,
                           .active = true };

    if (timer_zone_open(ZONE, &utc, err) < 0)
        return -1;
    timer_local(utc, kept->ring.rings_at, timer.start_local);
    if (timer_add(domain, change, &timer, now_ms, arena, err) < 0)
        return -1;
    *ret_id = timer.id;
    return 0;
}

static int add(struct domain *domain, struct change *change, const struct tool_call *call,
               const struct kept *kept, int64_t now_ms, struct arena *arena, struct err *err)
{
    AUTO_BUF metadata = BUF_INIT(AGENT_LINK_METADATA_MAX);
    struct agent_link link = { .relation = AGENT_LINK_TIMER_THREAD, .to_id = call->thread_id };

    if (write_kept(kept, &metadata, err) < 0 ||
        add_timer(domain, change, call->agent->n, kept, now_ms, arena, &link.from_id, err) < 0)
        return -1;
    link.metadata = buf_str(&metadata);
    return agent_link_add(domain, change, &link, NULL, now_ms, err) < 0 ? -1 : 0;
}

int alarm_set(struct domain *domain, struct change *change, const struct tool_call *call,
              const struct desk_alarm *alarm, int64_t now_ms, struct arena *arena,
              struct desk_alarm *ret_alarm, bool *ret_replaced, struct err *err)
{
    struct clearing c = { .domain = domain, .change = change, .name = alarm->name, .now = now_ms };
    struct kept kept;
    int64_t round;
    int r = made_before(domain, call, arena, &kept, err);

    if (r != 0) {
        *ret_alarm = shown(&kept.ring);
        *ret_replaced = false;
        return r < 0 ? -1 : 0;
    }
    if (next_round(call, &kept, &round, err) < 0 || clear(&c, call->agent->n, arena, err) < 0)
        return -1;
    if (c.left >= ALARMS_OF_AGENT)
        return err_set(err, ERR_CONFLICT,
                       "you have %d alarms, which is all there may be; take one back (minutes 0)",
                       ALARMS_OF_AGENT);
    kept = (struct kept){ .ring = { .name = alarm->name,
                                    .note = alarm->note,
                                    .taint = call->taint,
                                    .set_at = now_ms,
                                    .rings_at = (alarm->rings_at + 999) / 1000 * 1000 },
                          .operation_id = call->operation_id,
                          .round = round };
    if (add(domain, change, call, &kept, now_ms, arena, err) < 0)
        return -1;
    *ret_alarm = shown(&kept.ring);
    *ret_replaced = c.cleared > 0;
    return 0;
}
