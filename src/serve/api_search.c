/* /search: everything that was said, written and named.
 *
 * SPDX-License-Identifier: MIT
 */
#include "find/find.h"
#include "serve/api_int.h"

static void write_result(struct json_writer *w, const struct find_result *result)
{
    json_write_object_begin(w);
    json_put_some_text(w, "kind", find_kind_name(result->kind));
    json_put_some_str(w, "agentId", result->agent_id);
    json_put_some_str(w, "threadId", result->thread_id);
    json_put_some_str(w, "path", result->path);
    json_put_some_str(w, "recordId", result->record_id);
    json_put_some_str(w, "taskId", result->task_id);
    json_put_str(w, "title", result->title);
    json_put_str(w, "snippet", result->snippet);
    json_put_some_time(w, "at", result->at);
    json_write_object_end(w);
}

static int search(struct serve_request *request, struct find_result **ret_results,
                  size_t *ret_count, struct err *err)
{
    struct find_query query = { .text = serve_request_query(request, "q") };
    struct str agent_id = serve_request_query(request, "agent");
    struct arena *arena = serve_request_arena(request);
    struct str limit = serve_request_query(request, "limit");
    struct str scope = serve_request_query(request, "scope");
    struct agent agent;
    int64_t number = 0;

    if (!query.text.n)
        return err_set(err, ERR_BAD_REQUEST, "q is missing: what to look for");
    if (limit.p && (str_to_i64(limit, &number) < 0 || number < 1 || number > 100))
        return err_set(err, ERR_BAD_REQUEST, "limit must be a number from 1 to 100");
    query.limit = (int)number;
    if (scope.n && !str_is(scope, "all") && !str_is(scope, "journal") && !str_is(scope, "agents"))
        return err_set(err, ERR_BAD_REQUEST, "scope must be all, journal or agents");
    query.scope = str_is(scope, "journal")  ? FIND_IN_JOURNAL
                  : str_is(scope, "agents") ? FIND_WITH_AGENTS
                                            : FIND_EVERYWHERE;
    if (agent_id.n) {
        if (api_find_agent(api_of(request), agent_id, arena, &agent, err) < 0)
            return -1;
        query.agent_id = str_from(agent.id);
    }
    if (!api_of(request)->config.find)
        return err_set(err, ERR_NOT_FOUND, "there is no index to search in");
    return find_search(api_of(request)->config.find, &query, arena, ret_results, ret_count, err);
}

void api_search(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct find_result *results;
    struct err err = ERR_INIT;
    size_t n;

    if (api_check_query(request) < 0)
        return;
    if (search(request, &results, &n, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_array(&w, "results");
    for (size_t i = 0; i < n; i++)
        write_result(&w, &results[i]);
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}
