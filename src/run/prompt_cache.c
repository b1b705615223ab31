/* The newest messages of threads that were asked about lately, as models see them.
 *
 * Building the window of a long conversation costs more than a turn does; but from one request to
 * the next it only gets messages added at its end, until its beginning moves (memory/context.h). So
 * the windows of a few threads are kept, and what was appended since is read.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "memory/context.h"
#include "run/run_int.h"

#define WINDOWS_MAX      64
#define WINDOW_BYTES_MAX (4u << 20) /* a larger one is not kept */

struct window {
    int64_t thread_n; /* 0: free */
    int64_t budget;   /* that it was made for */
    int64_t last_n;   /* the newest message in it */
    int64_t message_count;
    struct context_begin begin;
    int64_t tokens, left_out;
    bool whole;
    struct model_message *messages;
    size_t n, room;
    struct arena arena; /* their texts */
    uint64_t used;
};

struct prompt_cache {
    struct window windows[WINDOWS_MAX];
    uint64_t uses;
};

struct prompt_cache *prompt_cache_new(void)
{
    return NEW(struct prompt_cache);
}

static void forget(struct window *w)
{
    free(w->messages);
    arena_release(&w->arena);
    *w = (struct window){ .arena = ARENA_INIT };
}

void prompt_cache_free(struct prompt_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < WINDOWS_MAX; i++)
        forget(&cache->windows[i]);
    free(cache);
}

/* ---- from stored messages to those of a model ---- */

static struct str member(struct arena *arena, struct json_object *content, const char *key)
{
    return arena_str(arena, json_str(json_find(content, key)));
}

static struct model_message *add(struct window *w, enum model_role role)
{
    struct model_message *message;

    if (w->n == w->room) {
        w->room = w->room ? 2 * w->room : 32;
        w->messages = alloc_resize(w->messages, w->room, sizeof(*w->messages));
    }
    message = &w->messages[w->n++];

    *message = (struct model_message){ .role = role };
    return message;
}

static void add_thought(struct window *w, const struct message *from, struct json_object *content)
{
    struct model_message *message = add(w, MODEL_ASSISTANT);

    message->text = member(&w->arena, content, "text");
    message->thinking = member(&w->arena, content, "thinking");
    message->opaque = member(&w->arena, content, "opaque");
    message->opaque_model = arena_str(&w->arena, from->model_id);
}

/* Calls belong to the assistant's message before them; results end it. */
static void add_action(struct window *w, const struct message *from, struct json_object *content)
{
    struct model_message *message = w->n ? &w->messages[w->n - 1] : NULL;
    const struct tool_contract *contract = tool_contract_find(from->tool_name);
    struct model_call *calls;

    if (!message || message->role != MODEL_ASSISTANT)
        message = add(w, MODEL_ASSISTANT);
    calls = ARENA_NEW_N(&w->arena, struct model_call, message->call_count + 1);
    for (size_t i = 0; i < message->call_count; i++)
        calls[i] = message->calls[i];
    calls[message->call_count] = (struct model_call){
        .id = arena_str(&w->arena, from->call_id),
        .name = contract ? str_from(contract->wire) : arena_str(&w->arena, from->tool_name),
        .arguments = member(&w->arena, content, "arguments"),
    };
    message->calls = calls;
    message->call_count++;
}

static struct str result_text(struct window *w, struct json_object *content)
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
    return arena_str(&w->arena, buf_str(&out));
}

static void add_result(struct window *w, const struct message *from, struct json_object *content)
{
    const struct tool_contract *contract = tool_contract_find(from->tool_name);
    struct model_message *message = add(w, MODEL_TOOL);

    message->call_id = arena_str(&w->arena, from->call_id);
    message->tool_name =
        contract ? str_from(contract->wire) : arena_str(&w->arena, from->tool_name);
    message->failed = !str_is(from->status, "success");
    message->text = result_text(w, content);
}

static int add_message(struct window *w, const struct message *from, struct err *err)
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
        add(w, MODEL_USER)->text = member(&w->arena, content, "text");
        break;
    }
    return 0;
}

/* ---- keeping ---- */

/* Half of what the model can hold goes to the conversation; the rest is for system text, tools and
 * the answer. */
static int64_t budget_of(const struct run *run)
{
    const struct runner_config *config = &run->runner->config;
    int64_t budget = config->context_tokens ? config->context_tokens : CONTEXT_TOKENS_DEFAULT;
    const struct model_spec *spec;
    char id[128];

    snprintf(id, sizeof(id), "%.*s", STR_ARG(run->row.model_id));
    spec = model_spec_find(config->models, id);
    if (spec && spec->context_tokens > 0 && spec->context_tokens / 2 < budget)
        budget = spec->context_tokens / 2;
    return budget;
}

static int add_all(struct window *w, const struct context *context, struct err *err)
{
    for (size_t i = 0; i < context->count; i++) {
        if (add_message(w, &context->messages[i], err) < 0)
            return -1;
        w->last_n = context->messages[i].n;
    }
    w->tokens += context->tokens;
    return 0;
}

/* 1 when the kept window could be brought up to date. */
static int extend(struct run *run, struct window *w, struct err *err)
{
    int64_t budget = budget_of(run);
    AUTO_ARENA arena = ARENA_INIT;
    struct context_begin begin;
    struct context more;
    int r;

    context_begins(&run->thread, budget, &begin);
    if (!w->whole || budget != w->budget || begin.tokens != w->begin.tokens ||
        begin.messages != w->begin.messages)
        return 0;
    if (w->last_n == run->thread.last_message_n)
        return 1;
    r = context_more(run->runner->config.agent_domain, &run->thread, budget, w->tokens, w->last_n,
                     &arena, &more, err);
    if (r <= 0)
        return r;
    if (w->message_count + (int64_t)more.count != run->thread.message_count)
        return 0;
    w->message_count = run->thread.message_count;
    return add_all(w, &more, err) < 0 ? -1 : 1;
}

static int rebuild(struct run *run, struct window *w, struct err *err)
{
    int64_t budget = budget_of(run);
    AUTO_ARENA arena = ARENA_INIT;
    struct context context;

    forget(w);
    if (context_load(run->runner->config.agent_domain, &run->thread, budget, &arena, &context,
                     err) < 0 ||
        add_all(w, &context, err) < 0) {
        forget(w);
        return -1;
    }
    context_begins(&run->thread, budget, &w->begin);
    w->thread_n = run->thread.n;
    w->budget = budget;
    w->message_count = run->thread.message_count;
    w->left_out = context.left_out;
    w->whole = context.whole;
    return 0;
}

/* The thread's own, or the one that was not used for longest. */
static struct window *find(struct prompt_cache *cache, int64_t thread_n)
{
    struct window *oldest = &cache->windows[0];

    for (size_t i = 0; i < WINDOWS_MAX; i++) {
        if (cache->windows[i].thread_n == thread_n)
            return &cache->windows[i];
        if (cache->windows[i].used < oldest->used)
            oldest = &cache->windows[i];
    }
    return oldest;
}

int prompt_cache_load(struct run *run, const struct model_message **ret_messages, size_t *ret_count,
                      int64_t *ret_left_out, struct err *err)
{
    struct prompt_cache *cache = run->runner->prompts;
    struct window *w = find(cache, run->thread.n);
    int r = w->thread_n == run->thread.n ? extend(run, w, err) : 0;

    if (r == 0)
        r = rebuild(run, w, err);
    if (r < 0) {
        forget(w);
        return -1;
    }
    w->used = ++cache->uses;
    if (w->arena.total > WINDOW_BYTES_MAX)
        w->whole = false; /* built anew the next time */
    *ret_messages = w->messages;
    *ret_count = w->n;
    *ret_left_out = w->left_out;
    return 0;
}
