/* /agents/{id}/links and /links: what stands behind what. Links live in the agent domain; those of
 * the person's own records are the journal's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/link.h"
#include "serve/api_int.h"

#define LINKS_DEFAULT 100

static void write_link(struct json_writer *w, const struct agent_link *link)
{
    json_write_object_begin(w);
    json_put_some_str(w, "id", link->id);
    json_put_some_text(w, "relation", agent_relation_name(link->relation));
    json_put_some_str(w, "from", link->from_id);
    json_put_some_str(w, "to", link->to_id);
    api_put_json(w, "metadata", link->metadata);
    json_put_some_time(w, "createdAt", link->created_at);
    json_write_object_end(w);
}

static void write_links(struct json_writer *w, const struct agent_link *links, size_t n)
{
    for (size_t i = 0; i < n; i++)
        write_link(w, &links[i]);
}

static int read_limit(struct serve_request *request, int64_t *ret_limit, struct err *err)
{
    struct str text = serve_request_query(request, "limit");

    *ret_limit = LINKS_DEFAULT;
    if (text.p &&
        (str_to_i64(text, ret_limit) < 0 || *ret_limit < 1 || *ret_limit > AGENT_LINKS_MAX))
        return err_set(err, ERR_BAD_REQUEST, "limit must be a number from 1 to %d",
                       AGENT_LINKS_MAX);
    return 0;
}

static int of_agent(struct serve_request *request, const struct agent *agent, struct json_writer *w,
                    struct err *err)
{
    struct domain *domain = api_of(request)->config.agent_domain;
    struct arena *arena = serve_request_arena(request);
    struct agent_link *own, *made;
    size_t own_count, made_count;
    int64_t limit;

    if (read_limit(request, &limit, err) < 0 ||
        agent_links_of_agent(domain, str_from(agent->id), arena, &own, &own_count, err) < 0 ||
        agent_links_made(domain, agent->n, (int)limit, arena, &made, &made_count, err) < 0)
        return -1;
    write_links(w, own, own_count);
    write_links(w, made, made_count);
    return 0;
}

static int to_record(struct serve_request *request, struct json_writer *w, struct err *err)
{
    struct str to = serve_request_query(request, "to");
    struct agent_link *links;
    int64_t limit;
    size_t n;

    if (!agent_link_id_valid(to))
        return err_set(err, ERR_BAD_REQUEST,
                       "to is missing, or no id: the record whose links are asked for");
    if (read_limit(request, &limit, err) < 0 ||
        agent_links_at(api_of(request)->config.agent_domain, to, (int)limit,
                       serve_request_arena(request), &links, &n, err) < 0)
        return -1;
    write_links(w, links, n);
    return 0;
}

static void reply(struct serve_request *request, const struct agent *agent)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct err err = ERR_INIT;

    json_write_object_begin(&w);
    json_put_array(&w, "items");
    if ((agent ? of_agent(request, agent, &w, &err) : to_record(request, &w, &err)) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_links_of_agent(struct serve_request *request)
{
    struct agent agent;

    if (api_check_query(request) == 0 && api_agent(request, &agent) == 0)
        reply(request, &agent);
}

void api_links_to(struct serve_request *request)
{
    if (api_check_query(request) == 0)
        reply(request, NULL);
}
