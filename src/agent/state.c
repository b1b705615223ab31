/* Changes of a state that touch nothing else, and what slots may hold.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/state.h"

#include <json-c/json_object_iterator.h>

#include "agent/state_int.h"
#include "base/json.h"
#include "base/json_canonical.h"
#include "base/limits.h"
#include "base/utf8.h"

#define BACKOFF_FIRST_MS INT64_C(30000)
#define BACKOFF_MAX_MS   (6ll * 3600 * 1000)
#define VALUE_MAX        1000 /* bytes of a preference */

/* ---- after a wake ---- */

void agent_state_succeeded(struct agent_state *state, int64_t now_ms)
{
    state->successes++;
    state->failures = 0;
    state->last_wake_at = now_ms;
}

void agent_state_failed(struct agent_state *state, int64_t now_ms)
{
    state->failures++;
    state->last_wake_at = now_ms;
}

void agent_state_processed(struct agent_state *state, struct str host, int64_t counter,
                           int64_t now_ms, struct arena *arena)
{
    state->processed = vclock_with(&state->processed, host, counter, arena);
    state->host_seen = vclock_with(&state->host_seen, host, now_ms, arena);
}

int64_t agent_backoff_ms(int64_t failures)
{
    int64_t wait = BACKOFF_FIRST_MS;

    if (failures <= 0)
        return 0;
    for (int64_t i = 1; i < failures && wait < BACKOFF_MAX_MS; i++)
        wait *= 2;
    return wait < BACKOFF_MAX_MS ? wait : BACKOFF_MAX_MS;
}

/* ---- slots ---- */

static int canonical(struct json_object *value, struct arena *arena, struct str *ret_text,
                     struct err *err)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);

    if (json_canonical(value, &text, err) < 0)
        return -1;
    *ret_text = arena_str(arena, buf_str(&text));
    return 0;
}

static int check_id(struct str id, struct err *err)
{
    const struct token token = { TOKEN_ENTITY_ID, STR_NONE, id };

    return token_check(&token, err);
}

static int check_loops(struct json_object *list, struct err *err)
{
    size_t n;

    if (!json_object_is_type(list, json_type_array))
        return err_set(err, ERR_BAD_REQUEST, "expected a list of ids, found %s",
                       json_type_name(list));
    n = json_length(list);
    if (n > AGENT_OPEN_LOOPS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%zu ids; at most %d are allowed", n,
                       AGENT_OPEN_LOOPS_MAX);
    for (size_t i = 0; i < n; i++)
        if (check_id(json_str(json_object_array_get_idx(list, i)), err) < 0)
            return err_wrap(err, "entry %zu", i + 1);
    return 0;
}

static int check_preference(const char *key, struct json_object *value, struct err *err)
{
    if (check_id(str_from(key), err) < 0)
        return err_wrap(err, "key \"%.60s\"", key);
    if (!json_object_is_type(value, json_type_string) || json_str(value).n > VALUE_MAX)
        return err_set(err, ERR_BAD_REQUEST, "\"%.60s\": expected a text of at most %d bytes", key,
                       VALUE_MAX);
    return 0;
}

static int check_preferences(struct json_object *map, struct err *err)
{
    struct json_object_iterator at, end;

    if (!json_object_is_type(map, json_type_object))
        return err_set(err, ERR_BAD_REQUEST, "expected an object of texts, found %s",
                       json_type_name(map));
    if (json_object_object_length(map) > AGENT_PREFERENCES_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%d keys; at most %d are allowed",
                       json_object_object_length(map), AGENT_PREFERENCES_MAX);
    at = json_object_iter_begin(map);
    end = json_object_iter_end(map);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
        if (check_preference(json_object_iter_peek_name(&at), json_object_iter_peek_value(&at),
                             err) < 0)
            return -1;
    return 0;
}

static int check_json(enum agent_slot slot, struct str value, struct arena *arena,
                      struct str *ret_value, struct err *err)
{
    AUTO_JSON doc = NULL;

    if (json_parse(value, &doc, err) < 0)
        return -1;
    if (slot == AGENT_SLOT_OPEN_LOOP_IDS && check_loops(doc, err) < 0)
        return -1;
    if (slot == AGENT_SLOT_PREFERENCE_BY_KEY && check_preferences(doc, err) < 0)
        return -1;
    if (slot == AGENT_SLOT_EXTENSION && agent_extension_check(doc, err) < 0)
        return -1;
    return canonical(doc, arena, ret_value, err);
}

int agent_slot_check(enum agent_slot slot, struct str value, struct arena *arena,
                     struct str *ret_value, struct err *err)
{
    int r = 0;

    if (slot > AGENT_SLOT_ACTIVE_TASK_ID)
        r = check_json(slot, value, arena, ret_value, err);
    else if (slot == AGENT_SLOT_PRIMARY_GOAL)
        r = agent_text_check("the goal", value, AGENT_GOAL_MAX, err);
    else if (value.n)
        r = check_id(value, err);
    if (r < 0)
        return err_wrap(err, "slot %s", agent_slot_name(slot));
    if (slot <= AGENT_SLOT_ACTIVE_TASK_ID)
        *ret_value = arena_str(arena, value);
    return 0;
}

int agent_state_set_slot(struct agent_state *state, enum agent_slot slot, struct str value,
                         struct str host, struct arena *arena, struct err *err)
{
    struct str kept;

    if (agent_slot_check(slot, value, arena, &kept, err) < 0)
        return -1;
    if (str_eq(kept, *agent_slot_value(&state->slots, slot)))
        return 0;
    *agent_slot_value(&state->slots, slot) = kept;
    *agent_slot_version(&state->slots, slot) += 1;
    *agent_slot_host(&state->slots, slot) = arena_str(arena, host);
    return 1;
}

void agent_state_tell(struct change_batch *batch, const struct change *change,
                      const struct agent_state *state, const char *agent_id)
{
    change_batch_unit(batch, change, vclock_of(&state->clock, state->host), STR("agentState"),
                      state->id);
    change_batch_key(batch, "AGENT_STATE");
    change_batch_id(batch, str_from(agent_id));
}
