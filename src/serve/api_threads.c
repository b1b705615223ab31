/* Conversations of agents: lists, titles, deleting with a way back, and their messages.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "serve/api_int.h"

#define PAGE_BYTES (8 * MIB)

int api_thread(struct serve_request *request, struct thread *ret_thread)
{
    struct domain *domain = api_of(request)->config.agent_domain;
    struct arena *arena = serve_request_arena(request);
    struct str name = serve_request_param(request, "t");
    struct err err = ERR_INIT;
    struct agent agent;
    int r;

    if (api_agent(request, &agent) < 0)
        return -1;
    r = thread_find(domain, name, arena, ret_thread, &err);
    if (r == 0)
        r = thread_find(domain,
                        str_from(arena_printf(arena, "%s:session:%.*s", agent.id, STR_ARG(name))),
                        arena, ret_thread, &err);
    if (r == 0 || (r > 0 && ret_thread->agent_n != agent.n))
        r = err_set(&err, ERR_NOT_FOUND, "the agent %s has no thread %.*s", agent.id,
                    STR_ARG(str_take(name, 200)));
    if (r < 0)
        serve_reply_error(request, &err);
    return r < 0 ? -1 : 0;
}

#define MESSAGES_MAX 500

/* The last message of each run on the page, newest first. */
struct ending {
    int64_t run_n, message_n;
};

struct listing {
    struct json_writer *w;
    struct buf *json;
    int64_t left, last;
    bool more;
    struct ending endings[MESSAGES_MAX];
    size_t ending_count;
};

static bool list_message(void *arg, const struct message *message)
{
    struct listing *listing = arg;

    if (listing->left-- == 0 ||
        (listing->last && listing->json->n + message->content.n > PAGE_BYTES)) {
        listing->more = true;
        return false;
    }
    api_write_message(listing->w, message);
    listing->last = message->n;
    if (message->run_n && (!listing->ending_count ||
                           listing->endings[listing->ending_count - 1].run_n != message->run_n))
        listing->endings[listing->ending_count++] =
            (struct ending){ .run_n = message->run_n, .message_n = message->n };
    return true;
}

/* What no message says: that a run was stopped or failed, and after which of these messages. */
static int write_ends(struct serve_request *request, const struct listing *listing, struct err *err)
{
    struct json_writer *w = listing->w;
    struct run_ending end;
    int r;

    json_put_array(w, "ends");
    for (size_t i = 0; i < listing->ending_count; i++) {
        r = run_end_of(api_of(request)->config.runner, listing->endings[i].run_n,
                       serve_request_arena(request), &end, err);
        if (r < 0)
            return -1;
        if (r > 0)
            api_write_end(w, &end, listing->endings[i].message_n);
    }
    json_write_array_end(w);
    return 0;
}

/* Where the thread stands, read together with its newest messages: events after lastSeq are exactly
 * those that the messages do not show yet. */
static int write_now(struct serve_request *request, struct json_writer *w,
                     const struct thread *thread, struct err *err)
{
    struct run_info run;
    int r = run_open_in_thread(api_of(request)->config.runner, thread->id,
                               serve_request_arena(request), &run, err);

    if (r < 0)
        return -1;
    json_put_i64(w, "lastSeq", thread->last_seq);
    if (r > 0) {
        json_write_key(w, "run");
        api_write_run(w, &run);
    }
    return 0;
}

void api_threads_messages(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(PAGE_BYTES + 2 * LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct listing listing = { .w = &w, .json = &json, .left = 100 };
    int64_t before = 0;
    struct thread thread;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 ||
        api_query_i64(request, "before", 1, INT64_MAX, &before) < 0 ||
        api_query_i64(request, "limit", 1, MESSAGES_MAX, &listing.left) < 0 ||
        api_thread(request, &thread) < 0)
        return;
    json_write_object_begin(&w);
    json_put_array(&w, "messages");
    if (message_each_back(api_of(request)->config.agent_domain, thread.n, before, list_message,
                          &listing, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_array_end(&w);
    if (write_ends(request, &listing, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    if (listing.more)
        json_put_i64(&w, "before", listing.last);
    if (before == 0 && write_now(request, &w, &thread, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

/* ---- lists ---- */

static void reply_list(struct serve_request *request, int64_t agent_n)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct conversation_filter filter = {
        .agent_n = agent_n, .query = utf8_truncate(serve_request_query(request, "query"), 200)
    };
    struct conversation *list;
    struct err err = ERR_INIT;
    int64_t limit = 100;
    size_t n;

    if (api_query_i64(request, "before", 1, INT64_MAX, &filter.before) < 0 ||
        api_query_i64(request, "limit", 1, 500, &limit) < 0)
        return;
    filter.limit = (int)limit;
    if (conversation_list(api_of(request)->config.agent_domain, &filter,
                          serve_request_arena(request), &list, &n, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_array(&w, "threads");
    for (size_t i = 0; i < n; i++)
        api_write_thread(&w, &list[i]);
    json_write_array_end(&w);
    if (n == (size_t)limit)
        json_put_i64(&w, "before", list[n - 1].thread.n);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_threads_list(struct serve_request *request)
{
    struct agent agent;

    if (api_check_query(request) == 0 && api_agent(request, &agent) == 0)
        reply_list(request, agent.n);
}

static void reply_thread(struct serve_request *request, int64_t thread_n)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct conversation conversation;
    struct err err = ERR_INIT;

    if (conversation_get(api_of(request)->config.agent_domain, thread_n,
                         serve_request_arena(request), &conversation, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    api_write_thread(&w, &conversation);
    api_reply(request, 200, &json, &w);
}

void api_threads_get(struct serve_request *request)
{
    struct thread thread;

    if (api_check_query(request) == 0 && api_thread(request, &thread) == 0)
        reply_thread(request, thread.n);
}

/* ---- changing ---- */

struct thread_body {
    struct str title;
};

static const struct json_field thread_fields[] = {
    JSON_FIELD(struct thread_body, title, "title", JSON_STR, .required = true),
    { .name = NULL },
};

static int check_title(struct str title, struct err *err)
{
    if (utf8_count(title) > CONVERSATION_TITLE_MAX)
        return err_set(err, ERR_BAD_REQUEST, "the title has %zu characters; at most %d are allowed",
                       utf8_count(title), CONVERSATION_TITLE_MAX);
    return title.n ? agent_line_check("the title", title, err) : 0;
}

static int rename_thread(struct api *api, int64_t n, struct str title, struct err *err)
{
    const struct api_config *config = &api->config;
    int r;

    if (check_title(title, err) < 0 || loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = conversation_rename(config->agent_domain, n, title, err);
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r;
}

void api_threads_change(struct serve_request *request)
{
    struct thread_body body = { .title = STR_NONE };
    AUTO_JSON json = NULL;
    struct thread thread;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, thread_fields, &body, &json) < 0 ||
        api_thread(request, &thread) < 0)
        return;
    if (rename_thread(api_of(request), thread.n, str_trim(body.title), &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_thread(request, thread.n);
}

static int set_deleted(struct api *api, int64_t n, bool deleted, struct err *err)
{
    const struct api_config *config = &api->config;
    int r;

    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = deleted ? conversation_delete(config->agent_domain, n,
                                      clock_wall_ms(loop_clock(config->loop)), err)
                : conversation_restore(config->agent_domain, n, err);
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r;
}

void api_threads_delete(struct serve_request *request)
{
    struct thread thread;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_thread(request, &thread) < 0)
        return;
    if (set_deleted(api_of(request), thread.n, true, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    if (api_reply_begin(request) < 0)
        return;
    serve_reply_empty(request, 204);
    api_reply_end(request);
}

static const struct json_field no_fields[] = { { .name = NULL } };

void api_threads_restore(struct serve_request *request)
{
    AUTO_JSON body = NULL;
    struct thread thread;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, no_fields, NULL, &body) < 0 ||
        api_thread(request, &thread) < 0)
        return;
    if (set_deleted(api_of(request), thread.n, false, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_thread(request, thread.n);
}

/* ---- the wizard's ---- */

static int open_wizard(struct api *api, struct arena *arena, struct agent *ret_agent,
                       struct thread *ret_thread, struct err *err)
{
    const struct api_config *config = &api->config;
    char id[UUID_TEXT_SIZE];
    int r;

    change_new_id(config->change, id);
    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = builder_ensure_wizard(config->builder, arena, ret_agent, err);
    if (r >= 0 && ret_thread)
        r = thread_open(
            config->agent_domain, str_from(arena_printf(arena, "%s:session:%s", ret_agent->id, id)),
            ret_agent->n, clock_wall_ms(loop_clock(config->loop)), arena, ret_thread, err);
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r < 0 ? -1 : 0;
}

void api_wizard_open(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(4 * KIB);
    struct json_writer w = JSON_WRITER(&json);
    AUTO_JSON body = NULL;
    struct agent agent;
    struct thread thread;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, no_fields, NULL, &body) < 0)
        return;
    if (open_wizard(api_of(request), serve_request_arena(request), &agent, &thread, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_some_str(&w, "threadId", thread.id);
    json_put_some_text(&w, "agentId", agent.id);
    json_write_object_end(&w);
    api_reply(request, 201, &json, &w);
}

/* Before its first use there is no wizard, and no conversation of it. */
void api_wizard_threads(struct serve_request *request)
{
    struct agent agent;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0)
        return;
    if (agent_get(api_of(request)->config.agent_domain, STR(BUILDER_WIZARD_ID),
                  serve_request_arena(request), &agent, &err) == 0)
        reply_list(request, agent.n);
    else if (err.code == ERR_NOT_FOUND)
        reply_list(request, 0);
    else
        serve_reply_error(request, &err);
}
