/* POST /subscriptions/preview: what would have woken an agent.
 *
 * A long past takes many steps. The first is done at once, each further one in a tick of its own,
 * and the answer is written as it goes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "serve/api_int.h"
#include "wake/match.h"
#include "wake/preview.h"

#define PREVIEW_DAYS_MAX 90
#define PREVIEW_MAX      200 /* listed of those that match, and of those that do not */
#define SHOWN_RECORDS    20  /* of one change; their number is told */

struct api_preview {
    struct loop_timer timer;
    struct api *api;
    struct serve_request *request;
    struct agent agent;
    struct preview preview;
    struct buf json;
    struct json_writer w;
    struct api_preview *next;
};

/* ---- writing ---- */

static void write_records(struct json_writer *w, const struct match *match)
{
    json_put_array(w, "records");
    for (size_t i = 0; i < match->record_count && i < SHOWN_RECORDS; i++) {
        const struct record *record = &match->records[i];

        json_write_object_begin(w);
        json_put_some_text(w, "type", record_type_name(record->type));
        json_put_some_str(w, "id", record->id);
        json_put_some_str(w, "title", api_record_title(record));
        json_write_object_end(w);
    }
    json_write_array_end(w);
    if (match->record_count > SHOWN_RECORDS)
        json_put_i64(w, "recordCount", (int64_t)match->record_count);
    if (match->hidden_count)
        json_put_i64(w, "hidden", (int64_t)match->hidden_count);
}

static void write_match(void *arg, const struct preview_match *one)
{
    struct json_writer *w = arg;

    json_write_object_begin(w);
    json_put_some_time(w, "at", one->row->created_at);
    json_put_some_text(w, "author", change_author_name(one->row->author));
    json_put_some_str(w, "authorId", one->row->author_id);
    json_put_some_text(w, "outcome", match_outcome_name(one->match.outcome));
    json_put_some_text(w, "why", match_outcome_why(one->match.outcome));
    json_put_some_time(w, "notBefore", one->not_before);
    match_write_tokens(w, one->row, &one->match);
    write_records(w, &one->match);
    json_write_object_end(w);
}

/* All that there were; cut: not all of them are listed. */
static void write_counts(struct json_writer *w, const struct preview *preview)
{
    json_put_i64(w, "matched", preview->matched);
    json_put_i64(w, "unmatched", preview->unmatched);
    json_put_bool(w, "cut",
                  preview->matched > preview_shown(preview, true) ||
                      preview->unmatched > preview_shown(preview, false));
}

/* ---- step by step ---- */

static void forget(struct api_preview *one)
{
    struct api_preview **at = &one->api->previews;

    while (*at && *at != one)
        at = &(*at)->next;
    if (*at)
        *at = one->next;
    loop_timer_stop(one->api->config.loop, &one->timer);
    buf_release(&one->json);
    free(one);
}

void api_previews_free(struct api *api)
{
    while (api->previews)
        forget(api->previews);
}

/* True: the request is answered, and the preview gone. */
static bool go_on(struct api_preview *one)
{
    struct err err = ERR_INIT;
    int r = preview_step(&one->preview, &err);

    if (r > 0)
        return false;
    if (r < 0) {
        serve_reply_error(one->request, &err);
    } else {
        json_write_array_end(&one->w);
        write_counts(&one->w, &one->preview);
        json_write_object_end(&one->w);
        api_reply(one->request, 200, &one->json, &one->w);
    }
    forget(one);
    return true;
}

static void next_due(struct loop_timer *timer)
{
    struct api_preview *one = CONTAINER_OF(timer, struct api_preview, timer);

    if (!go_on(one))
        loop_timer_start(one->api->config.loop, timer, 0);
}

/* ---- the request ---- */

/* Takes what is not of the subscription out of the body. */
static int take_frame(struct serve_request *request, struct json_object *body,
                      struct agent *ret_agent, int64_t *ret_days, struct err *err)
{
    struct str id = STR_NONE;

    if (json_get_str(body, "agentId", &id, err) < 0 ||
        json_get_i64(body, "days", ret_days, err) < 0)
        return -1;
    if (!id.n)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/agentId: is missing: whom it would wake");
    if (*ret_days < 1 || *ret_days > PREVIEW_DAYS_MAX)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/days: must be a number from 1 to %d",
                       PREVIEW_DAYS_MAX);
    if (api_find_agent(api_of(request), id, serve_request_arena(request), ret_agent, err) < 0)
        return -1;
    json_object_object_del(body, "agentId");
    json_object_object_del(body, "days");
    return 0;
}

/* The one that body is a change of, when it says so; n 0: none. */
static int take_stored(struct api_preview *one, struct json_object *body,
                       struct subscription *ret_stored, struct err *err)
{
    struct str id = STR_NONE;

    *ret_stored = (struct subscription){ .n = 0 };
    if (json_get_str(body, "subscriptionId", &id, err) < 0)
        return -1;
    if (id.n && subscription_get(one->api->config.agent_domain, id,
                                 serve_request_arena(one->request), ret_stored, err) < 0)
        return -1;
    json_object_object_del(body, "subscriptionId");
    return 0;
}

static int begin(struct api_preview *one, struct json_object *body, struct err *err)
{
    const struct api_config *config = &one->api->config;
    struct subscription *subscription = &one->preview.subscription, stored;
    struct arena *arena = serve_request_arena(one->request);
    int64_t days = 7, now = clock_wall_ms(loop_clock(config->loop));

    if (!config->journal)
        return err_set(err, ERR_NOT_FOUND, "there is no journal here");
    one->preview = (struct preview){
        .agent_domain = config->agent_domain,
        .journal = config->journal,
        .subscription = { .active = true },
        .agent = &one->agent,
        .limit = PREVIEW_MAX,
        .tell = write_match,
        .arg = &one->w,
    };
    if (take_frame(one->request, body, &one->agent, &days, err) < 0 ||
        take_stored(one, body, &stored, err) < 0)
        return -1;
    one->preview.since_ms = now - days * 86400000;
    subscription->agent_n = one->agent.n;
    subscription->agent_id = str_from(one->agent.id);
    if (subscription_read(subscription, body, arena, err) < 0 ||
        subscription_name(subscription, stored.n ? &stored : NULL, config->journal, arena, err) < 0)
        return -1;
    return preview_begin(&one->preview, err);
}

static struct api_preview *preview_new(struct serve_request *request)
{
    struct api_preview *one = NEW(struct api_preview);

    one->api = api_of(request);
    one->request = request;
    one->timer.fire = next_due;
    one->json = BUF_INIT(LIMIT_JSON_BYTES);
    one->w = JSON_WRITER(&one->json);
    one->next = one->api->previews;
    one->api->previews = one;
    json_write_object_begin(&one->w);
    json_put_array(&one->w, "items");
    return one;
}

void api_subscriptions_preview(struct serve_request *request)
{
    struct err err = ERR_INIT;
    AUTO_JSON body = NULL;
    struct api_preview *one;

    if (api_check_query(request) < 0 || api_object(request, &body) < 0)
        return;
    one = preview_new(request);
    if (begin(one, body, &err) < 0) {
        serve_reply_error(request, &err);
        forget(one);
    } else if (!go_on(one)) {
        serve_request_hold(request);
        loop_timer_start(one->api->config.loop, &one->timer, 0);
    }
}
