/* /agents/{id}/state: how long an agent sleeps, how often it failed, and its slots.
 *
 * What is answered is what the values of all hosts mean now. A change makes this host's value, in a
 * unit with its batch; it has seen the others.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/state.h"

#include <json-c/json.h>
#include <json-c/linkhash.h>

#include "base/clock.h"
#include "base/timefmt.h"
#include "serve/api_int.h"
#include "wake/wake.h"

static int64_t now_of(struct serve_request *request)
{
    return clock_wall_ms(loop_clock(api_of(request)->config.loop));
}

/* ---- looking ---- */

static void put_counters(struct json_writer *w, const struct vclock *processed)
{
    json_put_object(w, "processedCounterByHost");
    for (size_t i = 0; i < processed->n; i++) {
        json_write_key_str(w, processed->at[i].host);
        json_write_i64(w, processed->at[i].counter);
    }
    json_write_object_end(w);
}

/* How often each was set; those that never were are left out. */
static void put_versions(struct json_writer *w, const struct agent_slots *slots)
{
    const struct {
        enum agent_slot slot;
        int64_t version;
    } all[] = {
        { AGENT_SLOT_PRIMARY_GOAL, slots->primary_goal_version },
        { AGENT_SLOT_ACTIVE_TASK_ID, slots->active_task_id_version },
        { AGENT_SLOT_OPEN_LOOP_IDS, slots->open_loop_ids_version },
        { AGENT_SLOT_PREFERENCE_BY_KEY, slots->preference_by_key_version },
    };

    json_put_object(w, "slotVersions");
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].version > 0)
            json_put_i64(w, agent_slot_name(all[i].slot), all[i].version);
    json_write_object_end(w);
}

static void put_slots(struct json_writer *w, const struct agent_slots *slots)
{
    json_put_some_str(w, "primaryGoal", slots->primary_goal);
    json_put_some_str(w, "activeTaskId", slots->active_task_id);
    api_put_json(w, "openLoopIds", slots->open_loop_ids.n ? slots->open_loop_ids : STR("[]"));
    api_put_json(w, "preferenceByKey",
                 slots->preference_by_key.n ? slots->preference_by_key : STR("{}"));
}

static void reply_state(struct serve_request *request, const struct agent *agent,
                        const struct agent_state *state)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    int64_t now = now_of(request), backoff = agent_backoff_ms(state->failures), last_run;
    struct err err = ERR_INIT;

    if (wake_last_run_at(api_of(request)->config.agent_domain, agent->n, &last_run, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_some_text(&w, "agentId", agent->id);
    /* The state knows of what woke it by itself, its runs of what people said to it as well. */
    json_put_some_time(&w, "lastWakeAt",
                       last_run > state->last_wake_at ? last_run : state->last_wake_at);
    json_put_some_time(&w, "nextWakeAt", state->next_wake_at);
    if (state->sleep_until > now)
        json_put_some_time(&w, "sleepUntil", state->sleep_until);
    json_put_i64(&w, "consecutiveFailureCount", state->failures);
    if (backoff && state->last_wake_at + backoff > now)
        json_put_some_time(&w, "backoffUntil", state->last_wake_at + backoff);
    put_slots(&w, &state->slots);
    put_versions(&w, &state->slots);
    put_counters(&w, &state->processed);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_state_get(struct serve_request *request)
{
    struct agent_state state;
    struct agent agent;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_agent(request, &agent) < 0)
        return;
    if (agent_state_get(api_of(request)->config.agent_domain, agent.n, now_of(request),
                        serve_request_arena(request), &state, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_state(request, &agent, &state);
}

/* ---- changing ---- */

static int set_sleep(struct agent_state *state, struct json_object *value, int64_t now,
                     struct err *err)
{
    if (!value) {
        state->sleep_until = 0;
        return 0;
    }
    if (!json_object_is_type(value, json_type_string) ||
        timefmt_parse(json_str(value), &state->sleep_until, NULL) < 0)
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/sleepUntil: a time is needed, such as 2026-02-18T16:00:00Z, or null");
    if (state->sleep_until <= now)
        return err_set(err, ERR_BAD_REQUEST, "/sleepUntil: lies in the past");
    return 0;
}

/* A text for goal and task, JSON for the others; null is the empty value. */
static struct str slot_value(enum agent_slot slot, struct json_object *value)
{
    if (slot == AGENT_SLOT_OPEN_LOOP_IDS || slot == AGENT_SLOT_PREFERENCE_BY_KEY)
        return str_from(value                              ? json_object_to_json_string(value)
                        : slot == AGENT_SLOT_OPEN_LOOP_IDS ? "[]"
                                                           : "{}");
    return json_str(value);
}

static int set_slot(struct serve_request *request, struct agent_state *state, enum agent_slot slot,
                    struct json_object *value, struct err *err)
{
    bool text = slot == AGENT_SLOT_PRIMARY_GOAL || slot == AGENT_SLOT_ACTIVE_TASK_ID;

    if (text && value && !json_object_is_type(value, json_type_string))
        return err_set(err, ERR_SCHEMA_VIOLATION, "/%s: a text is needed, or null",
                       agent_slot_name(slot));
    return agent_state_set_slot(state, slot, slot_value(slot, value),
                                str_from(change_host_id(api_of(request)->config.change)),
                                serve_request_arena(request), err);
}

static int set_member(struct serve_request *request, struct agent_state *state, const char *key,
                      struct json_object *value, struct err *err)
{
    if (strcmp(key, "sleepUntil") == 0)
        return set_sleep(state, value, now_of(request), err);
    for (enum agent_slot slot = 0; slot < AGENT_SLOT_EXTENSION; slot++)
        if (strcmp(key, agent_slot_name(slot)) == 0)
            return set_slot(request, state, slot, value, err);
    return err_set(err, ERR_SCHEMA_VIOLATION,
                   "/%.60s: unknown key; allowed are sleepUntil, primaryGoal, activeTaskId, "
                   "openLoopIds, preferenceByKey",
                   key);
}

static int apply(struct serve_request *request, const struct agent *agent, struct json_object *body,
                 struct agent_state *state, struct err *err)
{
    const struct api_config *config = &api_of(request)->config;
    struct arena *arena = serve_request_arena(request);
    struct change_batch batch = CHANGE_BATCH(arena, CHANGE_BY_HUMAN);
    struct json_object_iter at;
    int64_t now = now_of(request), slept_until;

    if (agent_state_get(config->agent_domain, agent->n, now, arena, state, err) < 0)
        return -1;
    slept_until = state->sleep_until;
    json_object_object_foreachC(body, at)
    {
        if (set_member(request, state, at.key, at.val, err) < 0)
            return -1;
    }
    if (agent_state_put(config->agent_domain, config->change, state, now, err) < 0 ||
        (state->sleep_until != slept_until &&
         wake_end_of_sleep(config->agent_domain, agent->n, agent->id, state->sleep_until, now,
                           err) < 0))
        return -1;
    agent_state_tell(&batch, config->change, state, agent->id);
    return change_batch_write(config->agent_domain, config->change, &batch, now, err);
}

void api_state_change(struct serve_request *request)
{
    const struct api_config *config = &api_of(request)->config;
    struct agent_state state;
    struct err err = ERR_INIT;
    AUTO_JSON body = NULL;
    struct agent agent;
    int r;

    if (api_check_query(request) < 0 || api_object(request, &body) < 0 ||
        api_agent(request, &agent) < 0)
        return;
    r = loop_unit_begin(config->loop, config->agent_domain, &err);
    if (r == 0) {
        r = apply(request, &agent, body, &state, &err);
        if (loop_unit_end(config->loop, r >= 0, r >= 0 ? &err : NULL) < 0)
            r = -1;
    }
    if (r < 0) {
        serve_reply_error(request, &err);
        return;
    }
    if (config->waker)
        waker_look(config->waker);
    reply_state(request, &agent, &state);
}
