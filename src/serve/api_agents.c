/* /agents: who there is, pausing, threads and their messages.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/api_int.h"

#define PAGE_BYTES (8 * MIB)

static bool write_one(void *arg, const struct agent *agent)
{
    api_write_agent(arg, agent);
    return true;
}

void api_agents_list(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0)
        return;
    json_write_object_begin(&w);
    json_write_key(&w, "agents");
    json_write_array_begin(&w);
    if (agent_each(api_of(request)->config.agent_domain, write_one, &w, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

static void reply_agent(struct serve_request *request, const struct agent *agent)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    api_write_agent(&w, agent);
    api_reply(request, 200, &json, &w);
}

void api_agents_get(struct serve_request *request)
{
    struct agent agent;

    if (api_check_query(request) == 0 && api_agent(request, &agent) == 0)
        reply_agent(request, &agent);
}

/* ---- pausing ---- */

static int set_paused(struct api *api, const char *id, bool paused, struct err *err)
{
    const struct api_config *config = &api->config;
    int r;

    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = agent_set_paused(config->agent_domain, config->change, str_from(id), paused,
                         clock_wall_ms(loop_clock(config->loop)), err);
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r;
}

static const struct json_field no_fields[] = { { .name = NULL } };

static void change_paused(struct serve_request *request, bool paused)
{
    AUTO_JSON body = NULL;
    struct agent agent;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, no_fields, NULL, &body) < 0 ||
        api_agent(request, &agent) < 0)
        return;
    if (set_paused(api_of(request), agent.id, paused, &err) < 0 ||
        agent_get(api_of(request)->config.agent_domain, str_from(agent.id),
                  serve_request_arena(request), &agent, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_agent(request, &agent);
}

void api_agents_pause(struct serve_request *request)
{
    change_paused(request, true);
}

void api_agents_resume(struct serve_request *request)
{
    change_paused(request, false);
}

/* ---- threads ---- */

void api_agents_threads(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    int64_t before = 0, limit = 100;
    struct thread *threads;
    struct agent agent;
    struct err err = ERR_INIT;
    size_t n;

    if (api_check_query(request) < 0 ||
        api_query_i64(request, "before", 1, INT64_MAX, &before) < 0 ||
        api_query_i64(request, "limit", 1, 500, &limit) < 0 || api_agent(request, &agent) < 0)
        return;
    if (thread_list(api_of(request)->config.agent_domain, agent.n, before, (int)limit,
                    serve_request_arena(request), &threads, &n, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_write_key(&w, "threads");
    json_write_array_begin(&w);
    for (size_t i = 0; i < n; i++)
        api_write_thread(&w, &threads[i]);
    json_write_array_end(&w);
    if (n == (size_t)limit)
        api_put_i64(&w, "before", threads[n - 1].n);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

/* The thread {t} of the agent {id}: its whole id, or what comes after AGENT:session:. */
static int find_thread(struct serve_request *request, struct thread *ret_thread)
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

struct listing {
    struct json_writer *w;
    struct buf *json;
    int64_t left, last;
    bool more;
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
    return true;
}

void api_agents_messages(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(PAGE_BYTES + 2 * LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct listing listing = { .w = &w, .json = &json, .left = 100 };
    int64_t before = 0;
    struct thread thread;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 ||
        api_query_i64(request, "before", 1, INT64_MAX, &before) < 0 ||
        api_query_i64(request, "limit", 1, 500, &listing.left) < 0 ||
        find_thread(request, &thread) < 0)
        return;
    json_write_object_begin(&w);
    json_write_key(&w, "messages");
    json_write_array_begin(&w);
    if (message_each_back(api_of(request)->config.agent_domain, thread.n, before, list_message,
                          &listing, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_array_end(&w);
    if (listing.more)
        api_put_i64(&w, "before", listing.last);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}
