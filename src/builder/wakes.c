/* What wakes an agent, when the agent is copied or goes as an archive.
 *
 * In an archive it is wakes.json: {"subscriptions": [...], "timers": [...]}, each as a person gave
 * it, without ids, times of this house or a webhook's token. Coming in, each is checked as if it
 * had been typed and made anew; a webhook gets a token of its own. A timer that can't fire any more
 * does not go, and is left out of what comes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "base/json_canonical.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "builder/builder_int.h"
#include "wake/wake.h"

/* ---- timers that have ended ---- */

/* 1: nothing of it lies ahead. A timer for one moment is a rule that holds once. */
static int has_ended(const struct timer *timer, int64_t now_ms, struct arena *arena,
                     struct err *err)
{
    const struct timer_preview next = {
        .rrule = timer->rrule.n ? timer->rrule : STR("FREQ=DAILY;COUNT=1"),
        .start = str_from(timer->start_local),
        .count = 1,
    };
    struct timer_occurrence *list;
    AUTO(zone) zone = NULL;
    size_t n;

    if (timer->interval_ms || (!timer->rrule.n && !next.start.n))
        return 0;
    if (timer_zone_open(timer->zone, &zone, err) < 0 ||
        timer_preview(&next, zone, now_ms, arena, &list, &n, err) < 0)
        return -1;
    return n == 0;
}

/* ---- out ---- */

static void write_timer(struct json_writer *w, const struct timer *timer)
{
    json_write_object_begin(w);
    json_put_some_str(w, "name", timer->name);
    json_put_some_str(w, "rrule", timer->rrule);
    json_put_some_str(w, "start", str_from(timer->start_local));
    json_put_some_str(w, "zone", timer->zone);
    if (timer->interval_ms)
        json_put_i64(w, "intervalSeconds", timer->interval_ms / 1000);
    json_put_some_str(w, "missed", str_from(timer_missed_name(timer->missed)));
    json_put_i64(w, "missedCap", timer->missed_cap);
    json_put_some_str(w, "prompt", timer->prompt);
    json_put_bool(w, "active", timer->active);
    json_write_object_end(w);
}

static int write_timers(struct builder *builder, const struct agent *agent, struct arena *arena,
                        struct json_writer *w, size_t *count, struct err *err)
{
    struct timer *list;
    size_t n;

    if (timer_list(builder->config.agent_domain, agent->n, arena, &list, &n, err) < 0)
        return -1;
    json_put_array(w, "timers");
    for (size_t i = 0; i < n; i++) {
        int ended = has_ended(&list[i], builder_now(builder), arena, err);

        if (ended < 0)
            return -1;
        if (!ended)
            write_timer(w, &list[i]);
        *count += !ended;
    }
    json_write_array_end(w);
    return 0;
}

static int write_subscriptions(struct builder *builder, const struct agent *agent,
                               struct arena *arena, struct json_writer *w, size_t *count,
                               struct err *err)
{
    struct subscription *list;
    size_t n;

    if (subscription_list(builder->config.agent_domain, agent->n, arena, &list, &n, err) < 0)
        return -1;
    json_put_array(w, "subscriptions");
    for (size_t i = 0; i < n; i++)
        subscription_write(w, &list[i]);
    json_write_array_end(w);
    *count += n;
    return 0;
}

/* What only means something in this house. */
static void leave_out(struct json_object *subscriptions)
{
    static const char *const ours[] = { "id", "agentId", "lastWakeAt", "createdAt", "updatedAt" };

    for (size_t i = 0; i < json_length(subscriptions); i++)
        for (size_t k = 0; k < ARRAY_LEN(ours); k++)
            json_object_object_del(json_object_array_get_idx(subscriptions, i), ours[k]);
}

int builder_wakes_write(struct builder *builder, const struct agent *agent, struct arena *arena,
                        struct str *ret_text, struct err *err)
{
    AUTO_BUF plain = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_BUF canonical = BUF_INIT(BUILDER_WAKES_BYTES);
    struct json_writer w = JSON_WRITER(&plain);
    AUTO_JSON value = NULL;
    size_t count = 0;

    json_write_object_begin(&w);
    if (write_subscriptions(builder, agent, arena, &w, &count, err) < 0 ||
        write_timers(builder, agent, arena, &w, &count, err) < 0)
        return -1;
    json_write_object_end(&w);
    *ret_text = STR_NONE;
    if (count == 0)
        return 0;
    if (json_write_end(&w) == 0) {
        if (json_parse(buf_str(&plain), &value, err) < 0)
            return -1;
        leave_out(json_find(value, "subscriptions"));
    }
    if (!value || json_canonical(value, &canonical, NULL) < 0)
        return err_set(err, ERR_TOO_LARGE,
                       "what wakes %s does not fit into an archive; at most %d KiB do", agent->id,
                       BUILDER_WAKES_BYTES / KIB);
    buf_add_text(&canonical, "\n");
    *ret_text = arena_str(arena, buf_str(&canonical));
    return 0;
}

/* ---- made ---- */

static void note_hook(struct builder_warnings *notes, const struct subscription *subscription,
                      const char *token, struct arena *arena)
{
    if (!*token)
        return;
    notes->hooks[notes->hook_count++] = (struct builder_hook){
        .subscription_id = arena_text(arena, subscription->id_text),
        .name = arena_copy(arena, subscription->name.p, subscription->name.n),
        .token = arena_text(arena, token),
    };
}

static void room_for_hooks(struct builder_warnings *notes, size_t n, struct arena *arena)
{
    notes->hooks = ARENA_NEW_N(arena, struct builder_hook, n + 1);
    notes->hook_count = 0;
}

static int add_subscription(struct builder *builder, struct subscription *subscription,
                            const struct agent *agent, struct arena *arena,
                            struct builder_warnings *notes, struct err *err)
{
    const struct builder_config *config = &builder->config;
    char token[WEBHOOK_TOKEN_SIZE];

    subscription->n = 0;
    subscription->agent_n = agent->n;
    subscription->agent_id = str_from(agent->id);
    if (subscription_add(config->agent_domain, config->change, subscription, builder_now(builder),
                         token, err) < 0)
        return -1;
    note_hook(notes, subscription, token, arena);
    return 0;
}

/* A new one is active: one that is not is turned off afterwards, in the same unit. */
static int add_timer(struct builder *builder, struct timer *timer, const struct agent *agent,
                     struct arena *arena, struct err *err)
{
    const struct builder_config *config = &builder->config;
    bool active = timer->active;
    struct timer made;

    timer->n = 0;
    timer->agent_n = agent->n;
    timer->vector_clock = STR_NONE;
    if (timer_add(config->agent_domain, config->change, timer, builder_now(builder), arena, err) <
        0)
        return -1;
    if (active)
        return 0;
    if (timer_get(config->agent_domain, timer->id, arena, &made, err) < 0)
        return -1;
    made.active = false;
    return timer_change(config->agent_domain, config->change, &made, builder_now(builder), err);
}

/* ---- in ---- */

static void add_name(struct buf *names, struct str name)
{
    buf_printf(names, "%s%.*s", names->n ? ", " : "", STR_ARG(utf8_truncate(name, 80)));
}

static void say(struct builder_warnings *notes, const char *what, const struct buf *names,
                struct arena *arena)
{
    if (names->n)
        builder_warn(notes,
                     arena_printf(arena, "%s: %s%s", what, names->p, names->full ? " ..." : ""));
}

/* Whether it is watched as soon as it is there; the waker asks again then. */
static bool wakes_folder_ok(const struct builder *builder, struct str folder)
{
    return builder->waker ? waker_folder_check(builder->waker, folder, NULL) == 0
                          : folder_check(&(struct folder_rules){ .count = 0 }, folder, NULL) == 0;
}

static int read_subscriptions(struct builder *builder, struct json_object *list,
                              const struct agent *agent, struct arena *arena,
                              struct builder_warnings *notes, struct err *err)
{
    size_t n = json_length(list);
    AUTO_BUF absent = BUF_INIT(KIB);
    AUTO_BUF nameless = BUF_INIT(KIB);

    room_for_hooks(notes, n, arena);
    for (size_t i = 0; i < n; i++) {
        struct subscription one = { .source = WAKE_SOURCE_NONE };
        struct err unknown = ERR_INIT;

        if (subscription_read(&one, json_object_array_get_idx(list, i), arena, err) < 0)
            return err_wrap(err, "/subscriptions/%zu", i);
        if (subscription_name(&one, NULL, builder->config.journal, arena, &unknown) < 0)
            add_name(&nameless, one.name);
        err_reset(&unknown);
        if (add_subscription(builder, &one, agent, arena, notes, err) < 0)
            return err_wrap(err, "/subscriptions/%zu", i);
        if (one.source == WAKE_FILES && !wakes_folder_ok(builder, one.folder))
            add_name(&absent, one.folder);
    }
    say(notes, "It waits for categories or records that are not here", &nameless, arena);
    say(notes, "It waits for files in folders that can't be watched here", &absent, arena);
    return 0;
}

struct given {
    struct str name, rrule, start, zone, missed, prompt;
    int64_t interval_s, missed_cap;
    bool active;
};

static const struct json_field timer_fields[] = {
    JSON_FIELD(struct given, name, "name", JSON_STR),
    JSON_FIELD(struct given, rrule, "rrule", JSON_STR),
    JSON_FIELD(struct given, start, "start", JSON_STR),
    JSON_FIELD(struct given, zone, "zone", JSON_STR),
    JSON_FIELD(struct given, missed, "missed", JSON_STR),
    JSON_FIELD(struct given, prompt, "prompt", JSON_STR),
    JSON_FIELD(struct given, interval_s, "intervalSeconds", JSON_I64),
    JSON_FIELD(struct given, missed_cap, "missedCap", JSON_I64),
    JSON_FIELD(struct given, active, "active", JSON_BOOL),
    { .name = NULL },
};

static int read_timer(struct json_object *from, struct timer *ret_timer, struct err *err)
{
    struct given given = { .active = true, .missed = STR("once") };
    struct timer timer;

    if (!json_object_is_type(from, json_type_object))
        return err_set(err, ERR_SCHEMA_VIOLATION, "a timer is an object");
    if (json_read(from, timer_fields, JSON_REFUSE_UNKNOWN, &given, err) < 0)
        return -1;
    timer = (struct timer){ .name = given.name,
                            .rrule = given.rrule,
                            .zone = given.zone,
                            .prompt = given.prompt,
                            .missed_cap = given.missed_cap,
                            .active = given.active };
    if (timer_missed_of(given.missed, &timer.missed, err) < 0)
        return -1;
    if (given.interval_s < 0 || given.interval_s > TIMER_INTERVAL_MAX / 1000)
        return err_set(err, ERR_BAD_REQUEST, "intervalSeconds: is from %d to %d",
                       (int)(TIMER_INTERVAL_MIN / 1000), (int)(TIMER_INTERVAL_MAX / 1000));
    timer.interval_ms = given.interval_s * 1000;
    if (given.start.n >= TIMER_LOCAL_SIZE)
        return err_set(err, ERR_BAD_REQUEST,
                       "start: \"%.*s\" is no local time such as 2026-02-18T07:00",
                       STR_ARG(utf8_truncate(given.start, 40)));
    snprintf(timer.start_local, sizeof(timer.start_local), "%.*s", STR_ARG(given.start));
    *ret_timer = timer;
    return 0;
}

static int read_timers(struct builder *builder, struct json_object *list, const struct agent *agent,
                       struct arena *arena, struct builder_warnings *notes, struct err *err)
{
    size_t n = json_length(list);
    AUTO_BUF past = BUF_INIT(KIB);

    for (size_t i = 0; i < n; i++) {
        struct timer one;
        int r = read_timer(json_object_array_get_idx(list, i), &one, err);

        if (r == 0)
            r = has_ended(&one, builder_now(builder), arena, err);
        if (r == 0)
            r = add_timer(builder, &one, agent, arena, err);
        else if (r > 0)
            add_name(&past, one.name.n ? one.name : str_from(one.start_local));
        if (r < 0)
            return err_wrap(err, "/timers/%zu", i);
    }
    say(notes, "These timers have ended and were left out", &past, arena);
    return 0;
}

static void look(struct builder *builder)
{
    if (builder->waker)
        waker_look(builder->waker);
}

int builder_wakes_read(struct builder *builder, struct str text, const struct agent *agent,
                       struct arena *arena, struct builder_warnings *notes, struct err *err)
{
    struct {
        struct json_object *subscriptions, *timers;
    } given = { NULL, NULL };
    const struct json_field fields[] = {
        JSON_FIELD(__typeof__(given), subscriptions, "subscriptions", JSON_ARRAY),
        JSON_FIELD(__typeof__(given), timers, "timers", JSON_ARRAY),
        { .name = NULL },
    };
    AUTO_JSON value = NULL;

    if (json_parse(text, &value, err) < 0 ||
        json_read(value, fields, JSON_REFUSE_UNKNOWN, &given, err) < 0 ||
        read_subscriptions(builder, given.subscriptions, agent, arena, notes, err) < 0 ||
        read_timers(builder, given.timers, agent, arena, notes, err) < 0)
        return -1;
    look(builder);
    return 0;
}

/* ---- copied ---- */

static int copy_subscriptions(struct builder *builder, const struct agent *from,
                              const struct agent *to, struct arena *arena,
                              struct builder_warnings *notes, struct err *err)
{
    struct subscription *list;
    size_t n;

    if (subscription_list(builder->config.agent_domain, from->n, arena, &list, &n, err) < 0)
        return -1;
    room_for_hooks(notes, n, arena);
    for (size_t i = 0; i < n; i++) {
        list[i].active = false;
        if (add_subscription(builder, &list[i], to, arena, notes, err) < 0)
            return -1;
    }
    return n > 0;
}

static int copy_timers(struct builder *builder, const struct agent *from, const struct agent *to,
                       struct arena *arena, struct err *err)
{
    struct timer *list;
    int copied = 0;
    size_t n;

    if (timer_list(builder->config.agent_domain, from->n, arena, &list, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int ended = has_ended(&list[i], builder_now(builder), arena, err);

        list[i].active = false;
        if (ended < 0 || (!ended && add_timer(builder, &list[i], to, arena, err) < 0))
            return -1;
        copied |= !ended;
    }
    return copied;
}

int builder_wakes_copy(struct builder *builder, const struct agent *from, const struct agent *to,
                       struct arena *arena, struct builder_warnings *notes, struct err *err)
{
    int waits = copy_subscriptions(builder, from, to, arena, notes, err);
    int fires = waits < 0 ? -1 : copy_timers(builder, from, to, arena, err);

    if (fires < 0)
        return -1;
    if (waits || fires)
        builder_warn(notes,
                     arena_printf(arena,
                                  "What wakes %s was copied and is switched off, or both would do "
                                  "the same work. Switch on what %s shall wait for: dormouse "
                                  "subscribe enable, dormouse timer enable.",
                                  from->display_name, to->display_name));
    look(builder);
    return 0;
}
