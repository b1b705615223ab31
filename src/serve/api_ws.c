/* The agents' WebSocket: one thread, spoken to and followed over one connection.
 *
 * What a client sends is a JSON object with a type. What can't be done is answered with an error
 * event that ends nothing; what can be shows in the events that follow.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/api_int.h"

/* A message under way. */
struct said {
    struct api *api;
    struct api_follower *follower;
    struct json_object *value;
    struct arena arena;
};

static int read_fields(struct said *said, const struct json_field *fields, void *record,
                       struct err *err)
{
    return json_read(said->value, fields, JSON_REFUSE_UNKNOWN, record, err);
}

/* ---- whose it is ---- */

/* A connection speaks for one agent: what is another's is not there, and ids are whole, since
 * programs send them. That there is such a thing elsewhere is not said. */
static int check_own(struct said *said, int r, struct str agent_id, const char *what,
                     struct err *err)
{
    if (r < 0 && err->code != ERR_NOT_FOUND)
        return -1;
    if (r < 0 || !str_eq(agent_id, api_follower_agent(said->follower)))
        return err_set(err, ERR_NOT_FOUND, "this agent has no such %s", what);
    return 0;
}

static int own_item(struct said *said, struct str id, struct inbox_item *ret_item, struct err *err)
{
    int r = inbox_get(said->api->config.agent_domain, id, &said->arena, ret_item, err);

    return check_own(said, r, r < 0 ? STR_NONE : ret_item->agent_id, "item", err);
}

static int own_run(struct said *said, struct str id, struct run_info *ret_info, struct err *err)
{
    int r = run_get(said->api->config.runner, id, &said->arena, ret_info, err);

    return check_own(said, r, r < 0 ? STR_NONE : ret_info->agent_id, "run", err);
}

/* ---- message ---- */

struct message_body {
    struct str type, content, text, turn_id, mode, model, cwd;
    int64_t max_iterations, max_tokens, max_tool_calls, max_ms;
};

static const struct json_field message_fields[] = {
    JSON_FIELD(struct message_body, type, "type", JSON_STR),
    JSON_FIELD(struct message_body, content, "content", JSON_STR),
    JSON_FIELD(struct message_body, text, "text", JSON_STR),
    JSON_FIELD(struct message_body, turn_id, "turnId", JSON_STR),
    JSON_FIELD(struct message_body, mode, "mode", JSON_STR),
    JSON_FIELD(struct message_body, model, "model", JSON_STR),
    JSON_FIELD(struct message_body, cwd, "cwd", JSON_STR),
    JSON_FIELD(struct message_body, max_iterations, "maxIterations", JSON_I64),
    JSON_FIELD(struct message_body, max_tokens, "maxTokens", JSON_I64),
    JSON_FIELD(struct message_body, max_tool_calls, "maxToolCalls", JSON_I64),
    JSON_FIELD(struct message_body, max_ms, "maxMs", JSON_I64),
    { .name = NULL },
};

/* A session begins with its first message; any other thread must be there. */
static void say_where(struct said *said, struct run_request *run)
{
    struct str thread = api_follower_thread(said->follower);
    const char *own =
        arena_printf(&said->arena, "%.*s:session:", STR_ARG(api_follower_agent(said->follower)));

    if (str_starts(thread, str_from(own)) && thread.n > strlen(own))
        run->session_id = str_skip(thread, strlen(own));
    else
        run->thread_id = thread;
}

static int on_message(struct said *said, struct err *err)
{
    struct message_body body = { .type = STR_NONE };
    struct run_request run;
    struct run_info info;

    if (read_fields(said, message_fields, &body, err) < 0)
        return -1;
    run = (struct run_request){
        .agent_id = api_follower_agent(said->follower),
        .prompt = body.content.p ? body.content : body.text,
        .turn_id = body.turn_id,
        .model_id = body.model,
        .cwd = body.cwd,
        .max_iterations = body.max_iterations,
        .max_tokens = body.max_tokens,
        .max_tool_calls = body.max_tool_calls,
        .max_ms = body.max_ms,
    };
    say_where(said, &run);
    if (api_read_mode(body.mode, &run.mode, err) < 0)
        return -1;
    return run_start(said->api->config.runner, &run, &said->arena, &info, err);
}

/* ---- approval_response ---- */

struct response_body {
    struct str type, gate;
    struct api_decision decision;
};

static const struct json_field response_fields[] = {
    JSON_FIELD(struct response_body, type, "type", JSON_STR),
    JSON_FIELD(struct response_body, gate, "gateId", JSON_STR, .required = true),
    JSON_FIELD(struct response_body, decision.decision, "decision", JSON_STR, .required = true),
    JSON_FIELD(struct response_body, decision.scope, "scope", JSON_STR),
    JSON_FIELD(struct response_body, decision.reason, "reason", JSON_STR),
    JSON_FIELD(struct response_body, decision.input, "input", JSON_OBJECT),
    JSON_FIELD(struct response_body, decision.edited, "edited_content", JSON_ANY),
    JSON_FIELD(struct response_body, decision.answer, "answer", JSON_ANY),
    JSON_FIELD(struct response_body, decision.anyway, "anyway", JSON_BOOL),
    { .name = NULL },
};

static int on_response(struct said *said, struct err *err)
{
    struct response_body body = { .type = STR_NONE };
    struct inbox_decision decision;
    struct inbox_item item;

    if (read_fields(said, response_fields, &body, err) < 0 ||
        own_item(said, body.gate, &item, err) < 0 ||
        api_read_decision(&body.decision, &item, &said->arena, &decision, err) < 0)
        return -1;
    return run_decide(said->api->config.runner, item.id, &decision, err);
}

/* ---- memory_edit_decision, as the seed has it ---- */

static const struct json_field memory_fields[] = {
    JSON_FIELD(struct response_body, type, "type", JSON_STR),
    JSON_FIELD(struct response_body, gate, "request_id", JSON_STR, .required = true),
    JSON_FIELD(struct response_body, decision.decision, "decision", JSON_STR, .required = true),
    JSON_FIELD(struct response_body, decision.edited, "edited_content", JSON_ANY),
    JSON_FIELD(struct response_body, decision.reason, "reason", JSON_STR),
    JSON_FIELD(struct response_body, decision.anyway, "anyway", JSON_BOOL),
    { .name = NULL },
};

static int on_memory_decision(struct said *said, struct err *err)
{
    struct response_body body = { .type = STR_NONE };
    struct inbox_decision decision;
    struct inbox_item item;

    if (read_fields(said, memory_fields, &body, err) < 0 ||
        own_item(said, body.gate, &item, err) < 0)
        return -1;
    if (item.kind != INBOX_MEMORY)
        return err_set(err, ERR_BAD_REQUEST, "%.*s is no change of memory but of kind %s",
                       STR_ARG(str_take(item.id, 16)), inbox_kind_name(item.kind));
    if (str_is(body.decision.decision, "edit") && !body.decision.edited)
        return err_set(err, ERR_SCHEMA_VIOLATION, "edit needs edited_content");
    if (api_read_decision(&body.decision, &item, &said->arena, &decision, err) < 0)
        return -1;
    return run_decide(said->api->config.runner, item.id, &decision, err);
}

/* ---- cancel, setMode ---- */

struct steer_body {
    struct str type, mode, run_id;
    struct json_object *max_iterations;
};

static const struct json_field cancel_fields[] = {
    JSON_FIELD(struct steer_body, type, "type", JSON_STR),
    JSON_FIELD(struct steer_body, run_id, "runId", JSON_STR),
    { .name = NULL },
};

static const struct json_field mode_fields[] = {
    JSON_FIELD(struct steer_body, type, "type", JSON_STR),
    JSON_FIELD(struct steer_body, run_id, "runId", JSON_STR),
    JSON_FIELD(struct steer_body, mode, "mode", JSON_STR, .required = true),
    JSON_FIELD(struct steer_body, max_iterations, "maxIterations", JSON_ANY),
    { .name = NULL },
};

/* The one that was named, or the thread's that has not ended. */
static int find_run(struct said *said, struct str run_id, struct run_info *ret_info,
                    struct err *err)
{
    struct runner *runner = said->api->config.runner;
    int r;

    if (run_id.n)
        return own_run(said, run_id, ret_info, err);
    r = run_open_in_thread(runner, api_follower_thread(said->follower), &said->arena, ret_info,
                           err);
    return r == 0  ? err_set(err, ERR_NOT_FOUND, "no run is under way in this thread")
           : r < 0 ? -1
                   : 0;
}

static int on_cancel(struct said *said, struct err *err)
{
    struct steer_body body = { .type = STR_NONE };
    struct run_info info;

    if (read_fields(said, cancel_fields, &body, err) < 0 ||
        find_run(said, body.run_id, &info, err) < 0)
        return -1;
    return run_cancel(said->api->config.runner, info.run_id, err);
}

static int on_set_mode(struct said *said, struct err *err)
{
    struct steer_body body = { .type = STR_NONE };
    enum run_mode mode;
    struct run_info info;

    if (read_fields(said, mode_fields, &body, err) < 0 ||
        api_read_mode(body.mode, &mode, err) < 0 ||
        api_refuse_limit(body.max_iterations, err) < 0 ||
        find_run(said, body.run_id, &info, err) < 0)
        return -1;
    return run_set_mode(said->api->config.runner, info.run_id, mode, err);
}

/* ---- resume ---- */

struct resume_body {
    struct str type;
    int64_t after;
};

static const struct json_field resume_fields[] = {
    JSON_FIELD(struct resume_body, type, "type", JSON_STR),
    JSON_FIELD(struct resume_body, after, "after", JSON_I64, .required = true),
    { .name = NULL },
};

static int on_resume(struct said *said, struct err *err)
{
    struct resume_body body = { .after = 0 };

    if (read_fields(said, resume_fields, &body, err) < 0)
        return -1;
    return api_follower_resume(said->follower, body.after, err);
}

/* ---- dispatch ---- */

static const struct {
    const char *type;
    int (*run)(struct said *said, struct err *err);
    bool first; /* says itself where the events begin */
} kinds[] = {
    { "message", on_message, false }, { "approval_response", on_response, false },
    { "cancel", on_cancel, false },   { "setMode", on_set_mode, false },
    { "resume", on_resume, true },    { "memory_edit_decision", on_memory_decision, false },
};

static int dispatch(struct said *said, struct str text, struct err *err)
{
    struct str type;

    if (json_parse(text, &said->value, err) < 0)
        return err_wrap(err, "the message");
    if (!json_object_is_type(said->value, json_type_object))
        return err_set(err, ERR_SCHEMA_VIOLATION, "a message must be a JSON object, not %s",
                       json_type_name(said->value));
    type = json_str(json_find(said->value, "type"));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_is(type, kinds[i].type))
            continue;
        if (kinds[i].first)
            return kinds[i].run(said, err);
        api_follower_go(said->follower);
        if (kinds[i].run(said, err) < 0)
            return -1;
        api_follower_promise(said->follower);
        return 0;
    }
    return err_set(err, ERR_SCHEMA_VIOLATION,
                   "type must be message, approval_response, memory_edit_decision, cancel, setMode "
                   "or resume, not \"%.*s\"",
                   STR_ARG(str_take(type, 80)));
}

void api_ws_error(struct api_follower *follower, const struct err *err)
{
    AUTO_BUF json = BUF_INIT(8 * ERR_TEXT_MAX);
    struct json_writer w = JSON_WRITER(&json);

    api_write_error(&w, err);
    BUG_IF(json_write_end(&w) < 0);
    api_follower_tell(follower, "error", buf_str(&json));
}

void api_ws_message(struct api_follower *follower, struct str text)
{
    struct said said = { .api = api_follower_api(follower),
                         .follower = follower,
                         .arena = ARENA_INIT };
    struct err err = ERR_INIT;

    if (dispatch(&said, text, &err) < 0)
        api_ws_error(follower, &err);
    json_object_put(said.value);
    arena_release(&said.arena);
}

/* ---- opening ---- */

/* A thread's whole id, or the name of a session of this agent; "main" when nothing is said. */
static struct str thread_name(const struct agent *agent, struct str asked, struct arena *arena)
{
    const char *own = arena_printf(arena, "%s:", agent->id);

    if (str_starts(asked, str_from(arena_printf(arena, "%ssession:", own))) ||
        str_starts(asked, str_from(arena_printf(arena, "%srun:", own))))
        return asked;
    return str_from(
        arena_printf(arena, "%ssession:%.*s", own, STR_ARG(asked.n ? asked : STR("main"))));
}

void api_agents_ws(struct serve_request *request)
{
    struct api *api = api_of(request);
    struct arena *arena = serve_request_arena(request);
    struct thread thread = { .n = 0 };
    struct agent agent;
    struct err err = ERR_INIT;
    int64_t after = -1;
    struct str name;

    if (api_check_query(request) < 0 || api_query_i64(request, "after", 0, INT64_MAX, &after) < 0 ||
        api_agent(request, &agent) < 0)
        return;
    name = thread_name(&agent, serve_request_query(request, "thread"), arena);
    if (thread_find(api->config.agent_domain, name, arena, &thread, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    api_follower_open_ws(api_follower_new(api,
                                          &(struct api_follow){
                                              .thread_id = name,
                                              .agent_id = str_from(agent.id),
                                              .after = after >= 0 ? after : thread.last_seq,
                                              .held = after < 0,
                                          }),
                         request);
}
