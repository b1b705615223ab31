/* /agents: who there is and how they are; pausing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <time.h>

#include "serve/api_int.h"
#include "wake/wake.h"

/* When today began where this machine stands. */
static int64_t day_begin(struct api *api)
{
    time_t now = (time_t)(clock_wall_ms(loop_clock(api->config.loop)) / 1000);
    struct tm tm;

    if (!localtime_r(&now, &tm))
        return 0;
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    return (int64_t)mktime(&tm) * 1000;
}

void api_agents_list(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(2 * LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct agent_status_filter filter = { .day_ms = day_begin(api_of(request)) };
    struct agent_status *list;
    struct err err = ERR_INIT;
    size_t n;

    if (api_check_query(request) < 0)
        return;
    if (api_read_flag(request, "system", &filter.system, &err) < 0 ||
        api_read_flag(request, "destroyed", &filter.destroyed, &err) < 0 ||
        agent_status_list(api_of(request)->config.agent_domain, &filter,
                          serve_request_arena(request), &list, &n, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_array(&w, "agents");
    for (size_t i = 0; i < n; i++)
        api_write_agent(&w, &list[i], NULL, NULL);
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_reply_agent(struct serve_request *request, int status, const char *id,
                     const struct builder_warnings *warnings)
{
    struct agent_status_filter filter = { .id = str_from(id),
                                          .day_ms = day_begin(api_of(request)) };
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct agent_status *list;
    struct run_budget budget;
    struct err err = ERR_INIT;
    size_t n;

    if (agent_status_list(api_of(request)->config.agent_domain, &filter,
                          serve_request_arena(request), &list, &n, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    if (n != 1) { /* another process on the database has taken it away meanwhile */
        err_set(&err, ERR_NOT_FOUND, "there is no agent \"%s\" any more", id);
        serve_reply_error(request, &err);
        return;
    }
    if (runner_budget(api_of(request)->config.runner, &list[0].agent, &budget, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    api_write_agent(&w, &list[0], &budget, warnings);
    api_reply(request, status, &json, &w);
}

void api_agents_get(struct serve_request *request)
{
    struct agent agent;

    if (api_check_query(request) == 0 && api_agent(request, &agent) == 0)
        api_reply_agent(request, 200, agent.id, NULL);
}

/* ---- pausing ---- */

static int set_paused(struct api *api, const struct agent *agent, bool paused, struct err *err)
{
    const struct api_config *config = &api->config;
    int r;

    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = agent_set_paused(config->agent_domain, config->change, str_from(agent->id), paused,
                         clock_wall_ms(loop_clock(config->loop)), err);
    if (r > 0 && !paused && config->waker && waker_resumed(config->waker, agent->n, err) < 0)
        r = -1;
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
    if (set_paused(api_of(request), &agent, paused, &err) < 0)
        serve_reply_error(request, &err);
    else
        api_reply_agent(request, 200, agent.id, NULL);
}

void api_agents_pause(struct serve_request *request)
{
    change_paused(request, true);
}

void api_agents_resume(struct serve_request *request)
{
    change_paused(request, false);
}
