/* The prompt of a turn: system text and tools first, which stay the same from turn to turn, then
 * the newest messages of the thread.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/embed.h"
#include "base/json.h"
#include "memory/context.h"
#include "run/run_int.h"

extern const struct embed_file run_prompts[];

static struct str prompt_text(const char *name)
{
    for (const struct embed_file *file = run_prompts; file->name; file++) {
        if (strcmp(file->name, name) == 0)
            return str_trim(file->bytes);
    }
    BUG("no prompt %s", name);
}

/* ---- system ---- */

static struct str system_text(const struct run *run, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct str text = prompt_text("run.md"), mark = STR("{name}");
    ptrdiff_t at = str_find(text, mark);

    buf_add_str(&out, str_take(text, (size_t)at));
    buf_add_text(&out, run->agent.display_name);
    buf_add_str(&out, str_skip(text, (size_t)at + mark.n));
    if (bp_record(run->engine, 0) & RUN_WIGGUM) {
        buf_add_text(&out, "\n\n");
        buf_add_str(&out, prompt_text("wiggum.md"));
    }
    if (run->agent.instructions[0]) {
        buf_add_text(&out, "\n\nYour instructions:\n");
        buf_add_text(&out, run->agent.instructions);
    }
    return arena_str(arena, buf_str(&out));
}

/* ---- tools ---- */

static void add_tools(const struct run *run, struct arena *arena, struct model_request *request)
{
    size_t n;
    const struct tool_contract *const *contracts =
        tool_bed_contracts(run->runner->config.tools, &n);
    struct model_tool *tools = ARENA_NEW_N(arena, struct model_tool, n ? n : 1);

    request->tools = tools;
    request->tool_count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!tool_offered(contracts[i], &run->agent, run->row.wake_reason))
            continue;
        tools[request->tool_count++] =
            (struct model_tool){ .name = str_from(contracts[i]->wire),
                                 .description = str_from(contracts[i]->description),
                                 .input_schema = str_from(contracts[i]->input_schema) };
    }
}

/* ---- messages ---- */

struct writing {
    struct arena *arena;
    struct model_message *out;
    size_t n;
    size_t calls_max; /* room in the last assistant message's calls */
};

static struct str member(struct arena *arena, struct json_object *content, const char *key)
{
    return arena_str(arena, json_str(json_find(content, key)));
}

static struct model_message *add(struct writing *w, enum model_role role)
{
    struct model_message *message = &w->out[w->n++];

    *message = (struct model_message){ .role = role };
    return message;
}

static void add_thought(struct writing *w, const struct message *from, struct json_object *content)
{
    struct model_message *message = add(w, MODEL_ASSISTANT);

    message->text = member(w->arena, content, "text");
    message->thinking = member(w->arena, content, "thinking");
    message->opaque = member(w->arena, content, "opaque");
    message->opaque_model = from->model_id;
}

/* Calls belong to the assistant's message before them; results end it. */
static void add_action(struct writing *w, const struct message *from, struct json_object *content)
{
    struct model_message *message = w->n ? &w->out[w->n - 1] : NULL;
    const struct tool_contract *contract = tool_contract_find(from->tool_name);
    struct model_call *calls;

    if (!message || message->role != MODEL_ASSISTANT)
        message = add(w, MODEL_ASSISTANT);
    calls = ARENA_NEW_N(w->arena, struct model_call, message->call_count + 1);
    for (size_t i = 0; i < message->call_count; i++)
        calls[i] = message->calls[i];
    calls[message->call_count] = (struct model_call){
        .id = from->call_id,
        .name = contract ? str_from(contract->wire) : from->tool_name,
        .arguments = member(w->arena, content, "arguments"),
    };
    message->calls = calls;
    message->call_count++;
}

static struct str result_text(struct writing *w, struct json_object *content)
{
    struct json_object *output = json_find(content, "output");
    struct json_object *error = json_find(content, "error");
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);

    if (error)
        buf_printf(&out, "%.*s: %.*s", STR_ARG(json_str(json_find(error, "code"))),
                   STR_ARG(json_str(json_find(error, "message"))));
    if (error && output)
        buf_add_char(&out, '\n');
    if (output && json_object_is_type(output, json_type_string))
        buf_add_str(&out, json_str(output));
    else if (output)
        buf_add_text(&out, json_object_to_json_string_ext(
                               output, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    return arena_str(w->arena, buf_str(&out));
}

static void add_result(struct writing *w, const struct message *from, struct json_object *content)
{
    const struct tool_contract *contract = tool_contract_find(from->tool_name);
    struct model_message *message = add(w, MODEL_TOOL);

    message->call_id = from->call_id;
    message->tool_name = contract ? str_from(contract->wire) : from->tool_name;
    message->failed = !str_is(from->status, "success");
    message->text = result_text(w, content);
}

static int add_message(struct writing *w, const struct message *from, struct err *err)
{
    AUTO_JSON content = NULL;

    if (json_parse(from->content, &content, err) < 0)
        return err_wrap(err, "message %.*s", STR_ARG(from->id));
    switch (from->kind) {
    case MESSAGE_THOUGHT:
        add_thought(w, from, content);
        break;
    case MESSAGE_ACTION:
        add_action(w, from, content);
        break;
    case MESSAGE_TOOL_RESULT:
        add_result(w, from, content);
        break;
    default:
        add(w, MODEL_USER)->text = member(w->arena, content, "text");
        break;
    }
    return 0;
}

static int add_messages(struct run *run, bool check, struct arena *arena,
                        struct model_request *request, struct err *err)
{
    struct context context;
    struct writing w = { .arena = arena };

    if (context_load(run->runner->config.agent_domain, &run->thread,
                     run->runner->config.context_tokens, arena, &context, err) < 0)
        return -1;
    w.out = ARENA_NEW_N(arena, struct model_message, context.count + 2);
    if (context.left_out)
        add(&w, MODEL_USER)->text = str_from(
            arena_printf(arena, "[%lld earlier messages of this conversation are not shown.]",
                         (long long)context.left_out));
    for (size_t i = 0; i < context.count; i++) {
        if (add_message(&w, &context.messages[i], err) < 0)
            return -1;
    }
    if (check)
        add(&w, MODEL_USER)->text = prompt_text("check.md");
    request->messages = w.out;
    request->message_count = w.n;
    return 0;
}

int run_prompt_build(struct run *run, bool check, struct arena *arena,
                     struct model_request *ret_request, struct err *err)
{
    *ret_request = (struct model_request){
        .model_id = arena_printf(arena, "%.*s", STR_ARG(run->row.model_id)),
        .system = system_text(run, arena),
    };
    add_tools(run, arena, ret_request);
    return add_messages(run, check, arena, ret_request, err);
}
