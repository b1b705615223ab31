/* /agents/{id}/subscriptions, /subscriptions, /hooks: what agents wait for, and calls from
 * elsewhere.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/log.h"
#include "serve/api_int.h"
#include "wake/wake.h"
#include "wake/webhook.h"

/* ---- writing ---- */

/* What is said of a new one alone. */
struct fresh {
    char token[WEBHOOK_TOKEN_SIZE];
    const char *warning; /* or NULL */
};

/* With what a webhook's caller must know, said once. */
static void write_fresh(struct json_writer *w, const struct fresh *fresh, struct arena *arena)
{
    if (!fresh)
        return;
    if (*fresh->token) {
        json_put_some_text(w, "token", fresh->token);
        json_put_some_text(w, "url", arena_printf(arena, "/api/v1/hooks/%s", fresh->token));
    }
    api_put_warning(w, fresh->warning);
}

static int write_counts(struct serve_request *request, struct json_writer *w,
                        const struct subscription *subscription, struct err *err)
{
    struct webhook_counts counts;
    int r =
        subscription->source == WAKE_WEBHOOK
            ? webhook_counts(api_of(request)->config.agent_domain, subscription->n, &counts, err)
            : 0;

    if (r <= 0)
        return r;
    json_put_object(w, "calls");
    json_put_i64(w, "received", counts.received);
    json_put_i64(w, "refused", counts.refused);
    json_put_some_time(w, "lastAt", counts.last_at);
    json_write_object_end(w);
    return 0;
}

/* What categories that tokens have by id are called now. */
static int write_names(struct serve_request *request, struct json_writer *w,
                       const struct subscription *subscription, struct err *err)
{
    struct journal *journal = api_of(request)->config.journal;
    bool any = false;

    for (size_t i = 0; journal && i < subscription->token_count; i++) {
        const struct token *token = &subscription->tokens[i];
        struct record category;
        int r;

        if (!str_is(token->name_space, "categoryId"))
            continue;
        r = journal_get(journal, RECORD_CATEGORY, token->value, serve_request_arena(request),
                        &category, err);
        if (r < 0)
            return -1;
        if (r && !any)
            json_put_object(w, "tokenNames");
        any |= r > 0;
        if (r) {
            json_write_key_str(w, token->value);
            json_write_str(w, record_str(&category, "name"));
        }
    }
    if (any)
        json_write_object_end(w);
    return 0;
}

static int write_one(struct serve_request *request, struct json_writer *w,
                     const struct subscription *subscription, const struct fresh *fresh,
                     struct err *err)
{
    json_write_object_begin(w);
    subscription_write_members(w, subscription);
    write_fresh(w, fresh, serve_request_arena(request));
    if (write_names(request, w, subscription, err) < 0 ||
        write_counts(request, w, subscription, err) < 0)
        return -1;
    json_write_object_end(w);
    return 0;
}

static void reply_one(struct serve_request *request, int status,
                      const struct subscription *subscription, const struct fresh *fresh)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct err err = ERR_INIT;

    if (write_one(request, &w, subscription, fresh, &err) < 0)
        serve_reply_error(request, &err);
    else
        api_reply(request, status, &json, &w);
}

/* ---- looking ---- */

static void reply_list(struct serve_request *request, int64_t agent_n)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct subscription *list;
    struct err err = ERR_INIT;
    size_t n;

    if (subscription_list(api_of(request)->config.agent_domain, agent_n,
                          serve_request_arena(request), &list, &n, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_array(&w, "items");
    for (size_t i = 0; i < n; i++) {
        if (write_one(request, &w, &list[i], NULL, &err) < 0) {
            serve_reply_error(request, &err);
            return;
        }
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_subscriptions_of_agent(struct serve_request *request)
{
    struct agent agent;

    if (api_check_query(request) == 0 && api_agent(request, &agent) == 0)
        reply_list(request, agent.n);
}

void api_subscriptions_list(struct serve_request *request)
{
    struct str name = serve_request_query(request, "agent");
    struct agent agent = { .n = 0 };
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0)
        return;
    if (name.n &&
        api_find_agent(api_of(request), name, serve_request_arena(request), &agent, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_list(request, agent.n);
}

static int find(struct serve_request *request, struct subscription *ret_subscription)
{
    struct err err = ERR_INIT;

    if (subscription_get(api_of(request)->config.agent_domain, serve_request_param(request, "id"),
                         serve_request_arena(request), ret_subscription, &err) == 0)
        return 0;
    serve_reply_error(request, &err);
    return -1;
}

void api_subscriptions_get(struct serve_request *request)
{
    struct subscription subscription;

    if (api_check_query(request) == 0 && find(request, &subscription) == 0)
        reply_one(request, 200, &subscription, NULL);
}

/* ---- making and changing ---- */

enum what { ADD, CHANGE, REMOVE };

static int apply(struct serve_request *request, enum what what, struct subscription *subscription,
                 char token[WEBHOOK_TOKEN_SIZE], struct err *err)
{
    const struct api_config *config = &api_of(request)->config;
    int64_t now = clock_wall_ms(loop_clock(config->loop));
    int r;

    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = what == ADD
            ? subscription_add(config->agent_domain, config->change, subscription, now, token, err)
        : what == CHANGE
            ? subscription_change(config->agent_domain, config->change, subscription, now, err)
            : subscription_remove(config->agent_domain, config->change, subscription->id, now, err);
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? err : NULL) < 0 || r < 0)
        return -1;
    if (config->waker)
        waker_look(config->waker);
    return 0;
}

/* As it is stored: with the names that the rows have. */
static void reply_stored(struct serve_request *request, int status, struct str id,
                         const struct fresh *fresh)
{
    struct subscription stored;
    struct err err = ERR_INIT;

    if (subscription_get(api_of(request)->config.agent_domain, id, serve_request_arena(request),
                         &stored, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_one(request, status, &stored, fresh);
}

/* Why it will never wake its agent as that is now; NULL: it may. */
static const char *in_vain(const struct subscription *subscription, const struct agent *agent,
                           bool absent)
{
    if (api_interactive_warning(agent))
        return api_interactive_warning(agent);
    if (subscription->source == WAKE_JOURNAL && strcmp(agent->allowed_category_ids, "[]") == 0)
        return "this agent reaches no categories, so no change of the journal wakes it; give it "
               "some (allowedCategoryIds)";
    return absent ? "this folder can't be watched now: it is not there; it is looked for every "
                    "30 seconds"
                  : NULL;
}

/* A folder that may never be watched is refused. One that is not there may come: *ret_absent. */
static int check_folder(struct api *api, const struct subscription *subscription, bool *ret_absent,
                        struct err *err)
{
    *ret_absent = false;
    if (subscription->source != WAKE_FILES || !api->config.waker ||
        waker_folder_check(api->config.waker, subscription->folder, err) == 0)
        return 0;
    *ret_absent = err->code == ERR_NOT_FOUND;
    if (*ret_absent)
        err_reset(err);
    return *ret_absent ? 0 : -1;
}

/* What body gives, with ids for what it names. stored: as it was; NULL: it is new. */
static int read_form(struct serve_request *request, struct json_object *body,
                     const struct subscription *stored, struct subscription *subscription,
                     bool *ret_absent, struct err *err)
{
    struct api *api = api_of(request);
    struct arena *arena = serve_request_arena(request);
    bool moved;

    if (subscription_read(subscription, body, arena, err) < 0 ||
        subscription_name(subscription, stored, api->config.journal, arena, err) < 0)
        return -1;
    moved = !stored || !str_eq(stored->folder, subscription->folder);
    *ret_absent = false;
    return moved ? check_folder(api, subscription, ret_absent, err) : 0;
}

void api_subscriptions_add(struct serve_request *request)
{
    struct subscription *subscription =
        ARENA_NEW(serve_request_arena(request), struct subscription);
    struct fresh fresh = { .token = "" };
    struct err err = ERR_INIT;
    AUTO_JSON body = NULL;
    struct agent agent;
    bool absent;

    if (api_check_query(request) < 0 || api_object(request, &body) < 0 ||
        api_agent(request, &agent) < 0)
        return;
    subscription->active = true;
    subscription->agent_n = agent.n;
    subscription->agent_id = str_from(agent.id);
    if (read_form(request, body, NULL, subscription, &absent, &err) < 0 ||
        apply(request, ADD, subscription, fresh.token, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    fresh.warning = in_vain(subscription, &agent, absent);
    reply_stored(request, 201, subscription->id, &fresh);
}

void api_subscriptions_change(struct serve_request *request)
{
    struct subscription subscription, stored;
    struct err err = ERR_INIT;
    AUTO_JSON body = NULL;
    bool absent;

    if (api_check_query(request) < 0 || api_object(request, &body) < 0 ||
        find(request, &subscription) < 0)
        return;
    stored = subscription;
    if (read_form(request, body, &stored, &subscription, &absent, &err) < 0 ||
        apply(request, CHANGE, &subscription, NULL, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_stored(request, 200, subscription.id, NULL);
}

void api_subscriptions_remove(struct serve_request *request)
{
    struct subscription subscription;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || find(request, &subscription) < 0)
        return;
    if (apply(request, REMOVE, &subscription, NULL, &err) < 0) {
        serve_reply_error(request, &err);
    } else if (api_reply_begin(request) == 0) {
        serve_reply_empty(request, 204);
        api_reply_end(request);
    }
}

/* ---- webhooks ---- */

#define REFUSED_MS 1000 /* of a flood so much is lost when the power fails */

static void store_refused(struct api *api, bool in_loop)
{
    struct err err = ERR_INIT;

    if (api->config.waker && waker_store_refused(api->config.waker, in_loop, &err) < 0)
        LOG_WARN("serve", "refused calls of webhooks were not counted", LOG_ERR(&err));
}

static void refused_due(struct loop_timer *timer)
{
    store_refused(CONTAINER_OF(timer, struct api, refused), true);
}

void api_hooks_init(struct api *api)
{
    api->refused.fire = refused_due;
}

void api_hooks_end(struct api *api)
{
    loop_timer_stop(api->config.loop, &api->refused);
    store_refused(api, false);
}

static void note_refused(struct api *api, const struct err *err)
{
    if (err->code == ERR_RATE_LIMITED && !api->refused.heap_index)
        loop_timer_start(api->config.loop, &api->refused, REFUSED_MS);
}

/* The id that the sender gave its event, under one of the names that are in use. */
static struct str event_id(struct serve_request *request)
{
    static const char *const names[] = { "idempotency-key", "webhook-id", "x-github-delivery",
                                         "x-event-id" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str id = serve_request_header(request, names[i]);

        if (id.n)
            return id;
    }
    return STR_NONE;
}

void api_hooks_call(struct serve_request *request)
{
    struct waker *waker = api_of(request)->config.waker;
    AUTO_BUF json = BUF_INIT(64);
    struct json_writer w = JSON_WRITER(&json);
    struct err err = ERR_INIT;

    if (!waker)
        err_set(&err, ERR_NOT_FOUND, "there is no such hook");
    if (!waker || waker_webhook(waker, serve_request_param(request, "token"), event_id(request),
                                serve_request_header(request, "content-type"),
                                serve_request_body(request), &err) < 0) {
        note_refused(api_of(request), &err);
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_bool(&w, "accepted", true);
    json_write_object_end(&w);
    api_reply(request, 202, &json, &w);
}
