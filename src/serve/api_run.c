/* POST /run and /runs/{key}/rerun: a run is started, and its events are streamed until it is done.
 *
 * A client that goes away does not end the run: it goes on, and can be followed again at
 * /runs/{key}/events.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/api_int.h"

struct run_body {
    struct str prompt, agent, mode, model, cwd, session, thread, turn_id;
    int64_t max_iterations, max_tokens, max_tool_calls, max_ms;
};

static const struct json_field run_fields[] = {
    JSON_FIELD(struct run_body, prompt, "prompt", JSON_STR, .required = true),
    JSON_FIELD(struct run_body, agent, "agent", JSON_STR),
    JSON_FIELD(struct run_body, mode, "mode", JSON_STR),
    JSON_FIELD(struct run_body, model, "model", JSON_STR),
    JSON_FIELD(struct run_body, cwd, "cwd", JSON_STR),
    JSON_FIELD(struct run_body, session, "session", JSON_STR),
    JSON_FIELD(struct run_body, thread, "thread", JSON_STR),
    JSON_FIELD(struct run_body, turn_id, "turnId", JSON_STR),
    JSON_FIELD(struct run_body, max_iterations, "maxIterations", JSON_I64),
    JSON_FIELD(struct run_body, max_tokens, "maxTokens", JSON_I64),
    JSON_FIELD(struct run_body, max_tool_calls, "maxToolCalls", JSON_I64),
    JSON_FIELD(struct run_body, max_ms, "maxMs", JSON_I64),
    { .name = NULL },
};

static int make_request(const struct run_body *body, struct run_request *ret_request,
                        struct err *err)
{
    *ret_request = (struct run_request){
        .agent_id = body->agent,
        .prompt = body->prompt,
        .session_id = body->session,
        .thread_id = body->thread,
        .turn_id = body->turn_id,
        .model_id = body->model,
        .cwd = body->cwd,
        .max_iterations = body->max_iterations,
        .max_tokens = body->max_tokens,
        .max_tool_calls = body->max_tool_calls,
        .max_ms = body->max_ms,
    };
    return api_read_mode(body->mode, &ret_request->mode, err);
}

static void start(struct serve_request *request, const struct run_request *run)
{
    struct api *api = api_of(request);
    struct run_info info;
    struct err err = ERR_INIT;

    if (run_start(api->config.runner, run, serve_request_arena(request), &info, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    if (api_reply_begin(request) < 0)
        return;
    api_follower_open_sse(api_follower_new(api, &(struct api_follow){ .thread_id = info.thread_id,
                                                                      .run_id = info.run_id }),
                          request);
    api_reply_end(request);
}

void api_run_post(struct serve_request *request)
{
    AUTO_JSON body = NULL;
    struct run_body read = { .prompt = STR_NONE };
    struct run_request run;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, run_fields, &read, &body) < 0)
        return;
    if (make_request(&read, &run, &err) < 0)
        serve_reply_error(request, &err);
    else
        start(request, &run);
}

/* ---- again ---- */

static const struct json_field again_fields[] = {
    JSON_FIELD(struct run_request, override_code, "override", JSON_STR),
    { .name = NULL },
};

/* The same prompt from the same place within the same limits, in a thread of its own. */
void api_run_again(struct serve_request *request)
{
    AUTO_JSON body = NULL;
    struct run_info earlier;
    struct run_request run = { .override_code = STR_NONE };

    if (api_check_query(request) < 0 || api_body(request, again_fields, &run, &body) < 0 ||
        api_run(request, &earlier) < 0)
        return;
    run.agent_id = earlier.agent_id;
    run.prompt = earlier.prompt;
    run.prompt_taint = earlier.prompt_taint;
    run.observed = earlier.observed;
    run.model_id = earlier.model_id;
    run.cwd = earlier.cwd;
    run.mode = str_is(earlier.mode, "wiggum") ? RUN_COOK : RUN_STRUCTURED;
    run.max_iterations = earlier.max_iterations;
    run.max_tokens = earlier.max_tokens;
    run.max_tool_calls = earlier.max_tool_calls;
    run.max_ms = earlier.max_ms;
    run.rerun_of = earlier.run_id;
    start(request, &run);
}
