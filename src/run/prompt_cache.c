/* The newest messages of threads that were asked about lately, as models see them.
 *
 * Building the window of a long conversation costs more than a turn does; but from one request to
 * the next it only gets messages added at its end, until its beginning moves (memory/context.h). So
 * the windows of a few threads are kept, and every message that a run appends is added to them as
 * it is written. A unit that does not stay takes the window with it.
 *
 * What a request shows lies in the window's texts, which only grow. They are counted: a window may
 * be built anew while somebody still reads the old one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "memory/context.h"
#include "run/run_int.h"

#define WINDOWS_MAX      64
#define WINDOW_BYTES_MAX (4u << 20) /* a larger one is not kept */

struct prompt_texts {
    unsigned refs;
    struct arena arena; /* of messages and their texts */
};

struct window {
    int64_t thread_n; /* 0: free */
    int64_t budget;   /* that it was made for */
    int64_t last_n;   /* the newest message in it */
    int64_t message_count;
    struct context_begin begin;
    int64_t tokens;
    bool whole;
    struct model_message *messages;
    size_t n, room;
    struct prompt_texts *texts;
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

void prompt_texts_unref(struct prompt_texts *texts)
{
    if (!texts || --texts->refs > 0)
        return;
    arena_release(&texts->arena);
    free(texts);
}

static void forget(struct window *w)
{
    prompt_texts_unref(w->texts);
    *w = (struct window){ .thread_n = 0 };
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
        struct model_message *more;

        w->room = w->room ? 2 * w->room : 32;
        more = ARENA_NEW_N(&w->texts->arena, struct model_message, w->room);
        if (w->n)
            memcpy(more, w->messages, w->n * sizeof(*more));
        w->messages = more;
    }
    message = &w->messages[w->n++];
    *message = (struct model_message){ .role = role };
    return message;
}

static void add_thought(struct window *w, const struct message *from, struct json_object *content)
{
    struct model_message *message = add(w, MODEL_ASSISTANT);

    message->text = member(&w->texts->arena, content, "text");
    message->thinking = member(&w->texts->arena, content, "thinking");
    message->opaque = member(&w->texts->arena, content, "opaque");
    message->opaque_model = arena_str(&w->texts->arena, from->model_id);
}

/* Calls belong to the assistant's message before them; results end it. */
static void add_action(struct window *w, const struct message *from, struct json_object *content)
{
    struct model_message *message = w->n ? &w->messages[w->n - 1] : NULL;
    const struct tool_contract *contract = tool_contract_find(from->tool_name);
    struct model_call *calls;

    if (!message || message->role != MODEL_ASSISTANT)
        message = add(w, MODEL_ASSISTANT);
    calls = ARENA_NEW_N(&w->texts->arena, struct model_call, message->call_count + 1);
    for (size_t i = 0; i < message->call_count; i++)
        calls[i] = message->calls[i];
    calls[message->call_count] = (struct model_call){
        .id = arena_str(&w->texts->arena, from->call_id),
        .name = contract ? str_from(contract->wire) : arena_str(&w->texts->arena, from->tool_name),
        .arguments = member(&w->texts->arena, content, "arguments"),
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
    return arena_str(&w->texts->arena, buf_str(&out));
}

static void add_result(struct window *w, const struct message *from, struct json_object *content)
{
    const struct tool_contract *contract = tool_contract_find(from->tool_name);
    struct model_message *message = add(w, MODEL_TOOL);

    message->call_id = arena_str(&w->texts->arena, from->call_id);
    message->tool_name =
        contract ? str_from(contract->wire) : arena_str(&w->texts->arena, from->tool_name);
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
        add(w, MODEL_USER)->text = member(&w->texts->arena, content, "text");
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
    if (context->left_out)
        add(w, MODEL_USER)->text = str_from(arena_printf(
            &w->texts->arena, "[%lld earlier messages of this conversation are not shown.]",
            (long long)context->left_out));
    for (size_t i = 0; i < context->count; i++) {
        if (add_message(w, &context->messages[i], err) < 0)
            return -1;
        w->last_n = context->messages[i].n;
    }
    w->tokens = context->tokens;
    return 0;
}

static int rebuild(struct run *run, struct window *w, struct err *err)
{
    int64_t budget = budget_of(run);
    AUTO_ARENA arena = ARENA_INIT;
    struct context context;

    forget(w);
    w->texts = NEW(struct prompt_texts);
    w->texts->refs = 1;
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
    w->whole = context.whole;
    return 0;
}

static struct window *find(struct prompt_cache *cache, int64_t thread_n)
{
    for (size_t i = 0; i < WINDOWS_MAX; i++) {
        if (cache->windows[i].thread_n == thread_n)
            return &cache->windows[i];
    }
    return NULL;
}

static struct window *oldest(struct prompt_cache *cache)
{
    struct window *w = &cache->windows[0];

    for (size_t i = 1; i < WINDOWS_MAX; i++) {
        if (cache->windows[i].used < w->used)
            w = &cache->windows[i];
    }
    return w;
}

/* Does the window begin where one that is built now would, with nothing shortened? */
static bool holds(const struct run *run, const struct window *w)
{
    struct context_begin begin;

    context_begins(&run->thread, w->budget, &begin);
    return w->whole && begin.tokens == w->begin.tokens && begin.messages == w->begin.messages;
}

void prompt_cache_add(struct run *run, const struct message *message)
{
    struct window *w = find(run->runner->prompts, run->thread.n);
    struct err err = ERR_INIT;

    if (!w)
        return;
    if (w->last_n != message->prev_n || w->message_count + 1 != message->ordinal ||
        !holds(run, w) || !context_takes(w->budget, w->tokens, message) ||
        add_message(w, message, &err) < 0) {
        forget(w);
        return;
    }
    w->last_n = message->n;
    w->message_count = message->ordinal;
    w->tokens += context_weight(message);
}

void prompt_cache_forget(struct run *run)
{
    struct window *w = find(run->runner->prompts, run->thread.n);

    if (w)
        forget(w);
}

int prompt_cache_load(struct run *run, const struct model_message **ret_messages, size_t *ret_count,
                      struct prompt_texts **ret_texts, struct err *err)
{
    struct prompt_cache *cache = run->runner->prompts;
    struct window *w = find(cache, run->thread.n);

    if (!w || w->last_n != run->thread.last_message_n ||
        w->message_count != run->thread.message_count || w->budget != budget_of(run) ||
        !holds(run, w)) {
        w = w ? w : oldest(cache);
        if (rebuild(run, w, err) < 0)
            return -1;
    }
    w->used = ++cache->uses;
    if (w->texts->arena.total > WINDOW_BYTES_MAX)
        w->whole = false; /* built anew the next time */
    w->texts->refs++;
    *ret_messages = w->messages;
    *ret_count = w->n;
    *ret_texts = w->texts;
    return 0;
}
