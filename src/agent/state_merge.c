/* States of several hosts as one: the set that remains of them, and what it means.
 *
 * Everything here is a function of a set: no step depends on the order in which values came. Where
 * a rule is a preference between two ("the descendant, else the newer, else the greater host"),
 * which need not be transitive, it is applied in stages to all candidates, each of which leaves
 * at least one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "agent/state.h"
#include "agent/state_int.h"
#include "change/taint.h"

const struct agent_slot_place agent_slot_places[AGENT_SLOT_COUNT] = {
#define PLACE(name_, member)                                                                       \
    {                                                                                              \
        .name = (name_), .value = offsetof(struct agent_slots, member),                            \
        .version = offsetof(struct agent_slots, member##_version),                                 \
        .host = offsetof(struct agent_slots, member##_host)                                        \
    }
    [AGENT_SLOT_PRIMARY_GOAL] = PLACE("primaryGoal", primary_goal),
    [AGENT_SLOT_ACTIVE_TASK_ID] = PLACE("activeTaskId", active_task_id),
    [AGENT_SLOT_OPEN_LOOP_IDS] = PLACE("openLoopIds", open_loop_ids),
    [AGENT_SLOT_PREFERENCE_BY_KEY] = PLACE("preferenceByKey", preference_by_key),
    [AGENT_SLOT_EXTENSION] = PLACE("extension", extension),
#undef PLACE
};

const char *agent_slot_name(enum agent_slot slot)
{
    return agent_slot_places[slot].name;
}

/* ---- order ---- */

static int cmp_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Any total order: by host, then counter. */
static int cmp_clock(const struct vclock *a, const struct vclock *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        int order = str_cmp(a->at[i].host, b->at[i].host);

        if (!order)
            order = cmp_i64(a->at[i].counter, b->at[i].counter);
        if (order)
            return order;
    }
    return cmp_i64((int64_t)a->n, (int64_t)b->n);
}

static int cmp_pointer(const struct agent_pointer *a, const struct agent_pointer *b)
{
    int order = str_cmp(a->host, b->host);

    if (!order)
        order = str_cmp(a->message_id, b->message_id);
    return order ? order : cmp_clock(&a->clock, &b->clock);
}

/* Rule 6: version, then host, then the value itself. */
static int cmp_slot(const struct agent_slots *a, const struct agent_slots *b, enum agent_slot slot)
{
    int order = cmp_i64(*agent_slot_version((struct agent_slots *)a, slot),
                        *agent_slot_version((struct agent_slots *)b, slot));

    if (!order)
        order = str_cmp(*agent_slot_host((struct agent_slots *)a, slot),
                        *agent_slot_host((struct agent_slots *)b, slot));
    return order ? order
                 : str_cmp(*agent_slot_value((struct agent_slots *)a, slot),
                           *agent_slot_value((struct agent_slots *)b, slot));
}

static int cmp_fields(const struct agent_state *a, const struct agent_state *b)
{
    const int64_t of_a[] = { a->revision,     a->updated_at,  a->lifecycle, a->last_wake_at,
                             a->next_wake_at, a->sleep_until, a->failures,  a->successes };
    const int64_t of_b[] = { b->revision,     b->updated_at,  b->lifecycle, b->last_wake_at,
                             b->next_wake_at, b->sleep_until, b->failures,  b->successes };

    for (size_t i = 0; i < ARRAY_LEN(of_a); i++)
        if (of_a[i] != of_b[i])
            return cmp_i64(of_a[i], of_b[i]);
    return 0;
}

/* Of all that values are; 0 only for equal ones. */
static int cmp_state(const struct agent_state *a, const struct agent_state *b)
{
    int order = str_cmp(a->host, b->host);

    if (!order)
        order = cmp_clock(&a->clock, &b->clock);
    if (!order)
        order = cmp_fields(a, b);
    if (!order)
        order = cmp_pointer(&a->head, &b->head);
    if (!order)
        order = cmp_pointer(&a->summary, &b->summary);
    if (!order)
        order = cmp_clock(&a->processed, &b->processed);
    if (!order)
        order = cmp_clock(&a->host_seen, &b->host_seen);
    for (int slot = 0; !order && slot < AGENT_SLOT_COUNT; slot++)
        order = cmp_slot(&a->slots, &b->slots, (enum agent_slot)slot);
    return order;
}

static int by_state(const void *a, const void *b)
{
    return cmp_state(a, b);
}

/* ---- joining ---- */

/* Does another one make this one superfluous: one that has seen it, or (it can't be, but whoever
 * sends it must not make two devices disagree) a greater one of the same clock? */
static bool is_covered(const struct agent_state *all, size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++) {
        enum vclock_order order =
            k == i ? VCLOCK_CONCURRENT : vclock_compare(&all[i].clock, &all[k].clock);

        if (order == VCLOCK_BEFORE)
            return true;
        if (order == VCLOCK_EQUAL) {
            int content = cmp_state(&all[i], &all[k]);

            if (content < 0 || (content == 0 && k < i))
                return true;
        }
    }
    return false;
}

void agent_state_join(const struct agent_state *a, size_t a_count, const struct agent_state *b,
                      size_t b_count, struct arena *arena, struct agent_state **ret_values,
                      size_t *ret_count)
{
    size_t n = a_count + b_count, kept = 0;
    struct agent_state *all = ARENA_NEW_N(arena, struct agent_state, n + 1);
    struct agent_state *values = ARENA_NEW_N(arena, struct agent_state, n + 1);

    if (a_count)
        memcpy(all, a, a_count * sizeof(*a));
    if (b_count)
        memcpy(all + a_count, b, b_count * sizeof(*b));
    for (size_t i = 0; i < n; i++)
        if (!is_covered(all, n, i))
            values[kept++] = all[i];
    qsort(values, kept, sizeof(*values), by_state);
    *ret_values = values;
    *ret_count = kept;
}

/* ---- pointers (rule 4) ---- */

struct pointers {
    const struct agent_pointer **at;
    bool *out;
    size_t n;
    agent_descends_fn *descends;
    void *arg;
};

typedef bool beats_fn(const struct pointers *set, const struct agent_pointer *a,
                      const struct agent_pointer *b);

static bool descends_from(const struct pointers *set, const struct agent_pointer *a,
                          const struct agent_pointer *b)
{
    return set->descends && !str_eq(a->message_id, b->message_id) &&
           set->descends(set->arg, a->message_id, b->message_id);
}

static bool has_seen(const struct pointers *set, const struct agent_pointer *a,
                     const struct agent_pointer *b)
{
    (void)set;
    return vclock_compare(&b->clock, &a->clock) == VCLOCK_BEFORE;
}

/* Drops those that another one beats; none when that would be all of them. */
static void drop_beaten(struct pointers *set, beats_fn *beats)
{
    size_t kept = 0;

    for (size_t i = 0; i < set->n; i++) {
        set->out[i] = false;
        for (size_t k = 0; k < set->n && !set->out[i]; k++)
            set->out[i] = k != i && beats(set, set->at[k], set->at[i]);
        kept += !set->out[i];
    }
    if (!kept)
        return;
    kept = 0;
    for (size_t i = 0; i < set->n; i++)
        if (!set->out[i])
            set->at[kept++] = set->at[i];
    set->n = kept;
}

static struct agent_pointer resolve_pointer(struct pointers *set)
{
    const struct agent_pointer *best = NULL;

    drop_beaten(set, descends_from);
    drop_beaten(set, has_seen);
    for (size_t i = 0; i < set->n; i++)
        if (!best || cmp_pointer(set->at[i], best) > 0)
            best = set->at[i];
    return best ? *best : (struct agent_pointer){ 0 };
}

static void resolve_pointers(const struct agent_state *values, size_t n,
                             agent_descends_fn *descends, void *arg, struct arena *arena,
                             struct agent_state *state)
{
    struct pointers set = { .at = ARENA_NEW_N(arena, const struct agent_pointer *, n + 1),
                            .out = ARENA_NEW_N(arena, bool, n + 1),
                            .descends = descends,
                            .arg = arg };

    for (size_t i = 0; i < n; i++)
        if (values[i].head.message_id.n)
            set.at[set.n++] = &values[i].head;
    state->head = resolve_pointer(&set);
    set.n = 0;
    for (size_t i = 0; i < n; i++)
        if (values[i].summary.message_id.n)
            set.at[set.n++] = &values[i].summary;
    state->summary = resolve_pointer(&set);
}

/* ---- numbers and slots (rules 3, 5, 6, 7) ---- */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Rule 7. The earliest wake to come; when none is to come the latest that is due. */
static int64_t next_wake(int64_t a, int64_t b, int64_t now_ms)
{
    if (a > now_ms && b > now_ms)
        return a < b ? a : b;
    return later(a, b);
}

/* Rule 5: the highest count since the newest success. */
static void merge_failures(struct agent_state *state, const struct agent_state *value)
{
    if (value->successes > state->successes) {
        state->successes = value->successes;
        state->failures = value->failures;
    } else if (value->successes == state->successes) {
        state->failures = later(state->failures, value->failures);
    }
}

static void merge_slots(struct agent_slots *slots, const struct agent_slots *from,
                        struct arena *arena)
{
    slots->taint = taint_join(slots->taint, from->taint, arena);
    for (int i = 0; i < AGENT_SLOT_COUNT; i++) {
        enum agent_slot slot = (enum agent_slot)i;

        if (cmp_slot(from, slots, slot) <= 0)
            continue;
        *agent_slot_value(slots, slot) = *agent_slot_value((struct agent_slots *)from, slot);
        *agent_slot_version(slots, slot) = *agent_slot_version((struct agent_slots *)from, slot);
        *agent_slot_host(slots, slot) = *agent_slot_host((struct agent_slots *)from, slot);
    }
}

static void merge_value(struct agent_state *state, const struct agent_state *value, int64_t now_ms,
                        struct arena *arena)
{
    state->revision = later(state->revision, value->revision);
    state->updated_at = later(state->updated_at, value->updated_at);
    if (value->lifecycle > state->lifecycle) /* rule 3: in the order in which lives go on */
        state->lifecycle = value->lifecycle;
    state->last_wake_at = later(state->last_wake_at, value->last_wake_at);
    state->next_wake_at = next_wake(state->next_wake_at, value->next_wake_at, now_ms);
    state->sleep_until = later(state->sleep_until, value->sleep_until);
    merge_failures(state, value);
    state->processed = vclock_merge(&state->processed, &value->processed, arena);
    state->host_seen = vclock_merge(&state->host_seen, &value->host_seen, arena);
    merge_slots(&state->slots, &value->slots, arena);
    state->clock = vclock_merge(&state->clock, &value->clock, arena);
}

/* ---- hosts that are gone ---- */

static bool is_stale(int64_t seen_at, int64_t now_ms)
{
    return seen_at > 0 && seen_at <= now_ms - AGENT_HOST_STALE_MS;
}

static struct vclock without_stale(const struct vclock *clock, const struct vclock *seen,
                                   int64_t now_ms, struct arena *arena)
{
    struct vclock out = { ARENA_NEW_N(arena, struct vclock_entry, clock->n + 1), 0 };

    for (size_t i = 0; i < clock->n; i++)
        if (str_eq(clock->at[i].host, AGENT_HOSTS_GONE) ||
            !is_stale(vclock_of(seen, clock->at[i].host), now_ms))
            out.at[out.n++] = clock->at[i];
    return out;
}

static void prune_hosts(struct agent_state *state, int64_t now_ms, struct arena *arena)
{
    struct vclock seen = state->host_seen;
    int64_t gone_at = 0;

    for (size_t i = 0; i < seen.n; i++)
        if (!str_eq(seen.at[i].host, AGENT_HOSTS_GONE) && is_stale(seen.at[i].counter, now_ms))
            gone_at = later(gone_at, seen.at[i].counter);
    if (!gone_at)
        return;
    state->processed = without_stale(&state->processed, &seen, now_ms, arena);
    state->host_seen = without_stale(&seen, &seen, now_ms, arena);
    state->host_seen = vclock_with(&state->host_seen, AGENT_HOSTS_GONE, gone_at, arena);
}

bool agent_state_has_processed(const struct agent_state *state, struct str host, int64_t counter,
                               int64_t written_at)
{
    int64_t upto = vclock_of(&state->processed, host);

    if (upto)
        return counter <= upto;
    return written_at <= vclock_of(&state->host_seen, AGENT_HOSTS_GONE);
}

/* ---- all of it ---- */

struct agent_state agent_state_resolve(const struct agent_state *values, size_t n, int64_t now_ms,
                                       agent_descends_fn *descends, void *arg, struct arena *arena)
{
    struct agent_state state = { 0 };

    if (n == 0)
        return state;
    state = values[0];
    for (size_t i = 1; i < n; i++)
        merge_value(&state, &values[i], now_ms, arena);
    if (n > 1) {
        resolve_pointers(values, n, descends, arg, arena, &state);
        state.id = state.host = STR_NONE;
    }
    prune_hosts(&state, now_ms, arena);
    return state;
}
