/* Timers of agents: lists, making and changing them, and what a rule would give.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "serve/api_int.h"
#include "wake/alarm.h"
#include "wake/wake.h"

#define SKIPS_SHOWN   50
#define PREVIEW_COUNT 5

/* ---- writing ---- */

/* Of an alarm also the conversation in which it rings. */
static int write_members(struct serve_request *request, struct json_writer *w,
                         const struct timer *timer, struct err *err)
{
    struct alarm_ring ring = { 0 };

    if (alarm_of_timer(api_of(request)->config.agent_domain, timer, serve_request_arena(request),
                       &ring, err) < 0)
        return -1;
    json_put_some_str(w, "id", timer->id);
    json_put_some_str(w, "agentId", timer->agent_id);
    json_put_str(w, "name", timer->name);
    json_put_some_text(w, "kind", timer_kind_name(timer->kind));
    json_put_some_str(w, "rrule", timer->rrule);
    json_put_some_str(w, "start", str_from(timer->start_local));
    json_put_some_str(w, "zone", timer->zone);
    if (timer->interval_ms)
        json_put_i64(w, "intervalSeconds", timer->interval_ms / 1000);
    json_put_some_text(w, "missed", timer_missed_name(timer->missed));
    json_put_i64(w, "missedCap", timer->missed_cap);
    json_put_str(w, "prompt", timer->prompt);
    json_put_some_time(w, "nextRunAt", timer->next_run_at);
    json_put_some_str(w, "nextLocal", str_from(timer->next_local));
    json_put_some_time(w, "lastRunAt", timer->last_run_at);
    json_put_bool(w, "active", timer->active);
    json_put_some_str(w, "threadId", ring.thread_id);
    json_put_some_time(w, "createdAt", timer->created_at);
    json_put_some_time(w, "updatedAt", timer->updated_at);
    return 0;
}

static void write_skips(struct json_writer *w, const struct timer_skipped *skips, size_t n)
{
    json_put_array(w, "skips");
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(w);
        json_put_some_str(w, "why", skips[i].why);
        json_put_some_time(w, "first", skips[i].first);
        json_put_some_time(w, "last", skips[i].last);
        json_put_i64(w, "count", skips[i].count);
        json_put_some_time(w, "at", skips[i].created_at);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static void reply_timer(struct serve_request *request, int status, const struct timer *timer,
                        const char *warning)
{
    struct api *api = api_of(request);
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct timer_skipped *skips;
    struct err err = ERR_INIT;
    size_t n;

    json_write_object_begin(&w);
    if (timer_skips(api->config.agent_domain, timer->n, SKIPS_SHOWN, serve_request_arena(request),
                    &skips, &n, &err) < 0 ||
        write_members(request, &w, timer, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    write_skips(&w, skips, n);
    api_put_warning(&w, warning);
    json_write_object_end(&w);
    api_reply(request, status, &json, &w);
}

/* ---- looking ---- */

static void reply_list(struct serve_request *request, int64_t agent_n)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct timer *list;
    struct err err = ERR_INIT;
    size_t n;

    if (timer_list(api_of(request)->config.agent_domain, agent_n, serve_request_arena(request),
                   &list, &n, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_array(&w, "items");
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(&w);
        if (write_members(request, &w, &list[i], &err) < 0) {
            serve_reply_error(request, &err);
            return;
        }
        json_write_object_end(&w);
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_timers_list(struct serve_request *request)
{
    struct str name = serve_request_query(request, "agent");
    struct agent agent = { 0 };
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0)
        return;
    if (name.n &&
        api_find_agent(api_of(request), name, serve_request_arena(request), &agent, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    reply_list(request, agent.n);
}

void api_timers_of_agent(struct serve_request *request)
{
    struct agent agent;

    if (api_check_query(request) == 0 && api_agent(request, &agent) == 0)
        reply_list(request, agent.n);
}

static int find_timer(struct serve_request *request, struct timer *ret_timer)
{
    struct err err = ERR_INIT;

    if (timer_get(api_of(request)->config.agent_domain, serve_request_param(request, "id"),
                  serve_request_arena(request), ret_timer, &err) == 0)
        return 0;
    serve_reply_error(request, &err);
    return -1;
}

void api_timers_get(struct serve_request *request)
{
    struct timer timer;

    if (api_check_query(request) == 0 && find_timer(request, &timer) == 0)
        reply_timer(request, 200, &timer, NULL);
}

/* ---- making and changing ---- */

struct timer_body {
    struct str name, kind, missed, prompt;
    struct json_object *rrule, *start, *zone, *interval, *cap, *active;
};
#define FIELD(member, name, kind) JSON_FIELD(struct timer_body, member, name, kind)
static const struct json_field timer_fields[] = {
    FIELD(name, "name", JSON_STR),
    FIELD(kind, "kind", JSON_STR),
    FIELD(rrule, "rrule", JSON_ANY),
    FIELD(start, "start", JSON_ANY),
    FIELD(zone, "zone", JSON_ANY),
    FIELD(interval, "intervalSeconds", JSON_ANY),
    FIELD(missed, "missed", JSON_STR),
    FIELD(cap, "missedCap", JSON_ANY),
    FIELD(prompt, "prompt", JSON_STR),
    FIELD(active, "active", JSON_ANY),
    { .name = NULL },
};

/* null takes a member away; one that is absent stays. */
static int read_text(struct json_object *body, const char *key, struct json_object *value,
                     struct str *text, struct err *err)
{
    if (!json_object_object_get_ex(body, key, NULL))
        return 0;
    if (value && !json_object_is_type(value, json_type_string))
        return err_set(err, ERR_SCHEMA_VIOLATION, "%s must be a text or null", key);
    *text = value ? json_str(value) : STR_NONE;
    return 0;
}

static int read_number(struct json_object *body, const char *key, int64_t scale, int64_t *number,
                       struct err *err)
{
    struct json_object *value = NULL;
    int64_t given;

    if (!json_object_object_get_ex(body, key, &value))
        return 0;
    if (!value) {
        *number = 0;
        return 0;
    }
    if (json_get_i64(body, key, &given, err) < 0)
        return -1;
    if (given < 0 || given > INT32_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%s must be from 0 to %d", key, INT32_MAX);
    *number = given * scale;
    return 0;
}

static int read_start(const struct timer_body *from, struct json_object *body, struct timer *timer,
                      struct err *err)
{
    struct str start = str_from(timer->start_local);

    if (read_text(body, "start", from->start, &start, err) < 0)
        return -1;
    if (start.n >= TIMER_LOCAL_SIZE)
        return err_set(err, ERR_BAD_REQUEST,
                       "start: \"%.*s\" is no local time such as 2026-02-18T07:00",
                       STR_ARG(str_take(start, 40)));
    if (start.p != timer->start_local)
        snprintf(timer->start_local, sizeof(timer->start_local), "%.*s", STR_ARG(start));
    return 0;
}

static int read_kind(const struct timer_body *from, struct timer *timer, struct err *err)
{
    timer->kind = from->kind.p ? timer_kind_of(from->kind) : TIMER_KIND_NONE;
    if (from->kind.p && !timer->kind)
        return err_set(err, ERR_BAD_REQUEST, "kind: \"%.*s\" is none of rrule, once, interval",
                       STR_ARG(str_take(from->kind, 20)));
    return 0;
}

static int read_form(const struct timer_body *from, struct json_object *body, struct timer *timer,
                     struct err *err)
{
    if (read_kind(from, timer, err) < 0 ||
        read_text(body, "rrule", from->rrule, &timer->rrule, err) < 0 ||
        read_text(body, "zone", from->zone, &timer->zone, err) < 0 ||
        read_start(from, body, timer, err) < 0 ||
        read_number(body, "intervalSeconds", 1000, &timer->interval_ms, err) < 0 ||
        read_number(body, "missedCap", 1, &timer->missed_cap, err) < 0 ||
        (from->missed.p && timer_missed_of(from->missed, &timer->missed, err) < 0))
        return -1;
    if (from->name.p)
        timer->name = from->name;
    if (from->prompt.p)
        timer->prompt = from->prompt;
    return from->active ? json_get_bool(body, "active", &timer->active, err) : 0;
}

/* add, change or remove, in a unit of its own. */
static int apply(struct serve_request *request, struct timer *timer,
                 int (*fn)(struct api *api, struct timer *timer, int64_t now_ms,
                           struct arena *arena, struct err *err),
                 struct err *err)
{
    struct api *api = api_of(request);
    const struct api_config *config = &api->config;
    int r;

    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = fn(api, timer, clock_wall_ms(loop_clock(config->loop)), serve_request_arena(request), err);
    if (loop_unit_end(config->loop, r == 0, r == 0 ? err : NULL) < 0)
        return -1;
    if (r == 0 && config->waker)
        waker_look(config->waker);
    return r;
}

static int add(struct api *api, struct timer *timer, int64_t now_ms, struct arena *arena,
               struct err *err)
{
    return timer_add(api->config.agent_domain, api->config.change, timer, now_ms, arena, err);
}

static int change(struct api *api, struct timer *timer, int64_t now_ms, struct arena *arena,
                  struct err *err)
{
    (void)arena;
    return timer_change(api->config.agent_domain, api->config.change, timer, now_ms, err);
}

static int drop(struct api *api, struct timer *timer, int64_t now_ms, struct arena *arena,
                struct err *err)
{
    (void)arena;
    return timer_remove(api->config.agent_domain, api->config.change, timer->id, now_ms, err);
}

void api_timers_add(struct serve_request *request)
{
    AUTO_JSON body = NULL;
    struct timer_body from = { 0 };
    struct timer timer = { .active = true };
    struct agent agent;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, timer_fields, &from, &body) < 0 ||
        api_agent(request, &agent) < 0)
        return;
    timer.agent_n = agent.n;
    if (read_form(&from, body, &timer, &err) < 0 || apply(request, &timer, add, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_timer(request, 201, &timer, api_interactive_warning(&agent));
}

void api_timers_change(struct serve_request *request)
{
    AUTO_JSON body = NULL;
    struct timer_body from = { 0 };
    struct timer timer;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, timer_fields, &from, &body) < 0 ||
        find_timer(request, &timer) < 0)
        return;
    if (read_form(&from, body, &timer, &err) < 0 || apply(request, &timer, change, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_timer(request, 200, &timer, NULL);
}

void api_timers_remove(struct serve_request *request)
{
    struct timer timer;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || find_timer(request, &timer) < 0)
        return;
    if (apply(request, &timer, drop, &err) < 0)
        serve_reply_error(request, &err);
    else
        serve_reply_empty(request, 204);
}

/* ---- what a rule would give ---- */

struct preview_body {
    struct str rrule, start, zone, from;
    int64_t count;
};
#define PREVIEW(member, name, kind) JSON_FIELD(struct preview_body, member, name, kind)
static const struct json_field preview_fields[] = {
    PREVIEW(rrule, "rrule", JSON_STR), PREVIEW(start, "start", JSON_STR),
    PREVIEW(zone, "zone", JSON_STR),   PREVIEW(from, "from", JSON_STR),
    PREVIEW(count, "count", JSON_I64), { .name = NULL },
};

static void reply_preview(struct serve_request *request, const struct timer_occurrence *list,
                          size_t n)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_put_array(&w, "occurrences");
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(&w);
        json_put_some_time(&w, "at", list[i].at);
        json_put_some_text(&w, "local", list[i].local);
        json_put_some_text(&w, "time", list[i].time);
        if (list[i].gap || list[i].overlap)
            json_put_some_text(&w, "clocks", list[i].gap ? "gap" : "overlap");
        json_write_object_end(&w);
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_timers_preview(struct serve_request *request)
{
    AUTO_JSON body = NULL;
    AUTO(zone) zone = NULL;
    struct preview_body from = { .count = PREVIEW_COUNT };
    struct timer_occurrence *list;
    struct err err = ERR_INIT;
    size_t n;

    if (api_check_query(request) < 0 || api_body(request, preview_fields, &from, &body) < 0)
        return;
    if (timer_zone_open(from.zone, &zone, &err) < 0 ||
        timer_preview(
            &(struct timer_preview){
                .rrule = from.rrule, .start = from.start, .from = from.from, .count = from.count },
            zone, clock_wall_ms(loop_clock(api_of(request)->config.loop)),
            serve_request_arena(request), &list, &n, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_preview(request, list, n);
}
