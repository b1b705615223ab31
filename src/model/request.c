/* Requests: the exchange's own copy, and what it weighs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/tokens.h"
#include "model/exchange_int.h"

/* What role and structure of a message cost beyond its text, by the APIs' own rules of thumb. */
#define TOKENS_PER_MESSAGE 4
#define TOKENS_PER_TOOL    8

static const struct model_call *copy_calls(struct arena *arena, const struct model_call *calls,
                                           size_t n)
{
    struct model_call *copy;

    if (n == 0)
        return NULL;
    copy = ARENA_NEW_N(arena, struct model_call, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = (struct model_call){
            .id = arena_str(arena, calls[i].id),
            .name = arena_str(arena, calls[i].name),
            .arguments = arena_str(arena, calls[i].arguments),
            .problem = arena_str(arena, calls[i].problem),
        };
    return copy;
}

static struct model_message copy_message(struct arena *arena, const struct model_message *message,
                                         const char *model_id)
{
    struct model_message copy = {
        .role = message->role,
        .text = arena_str(arena, message->text),
        .thinking = arena_str(arena, message->thinking),
        .calls = copy_calls(arena, message->calls, message->call_count),
        .call_count = message->call_count,
        .call_id = arena_str(arena, message->call_id),
        .tool_name = arena_str(arena, message->tool_name),
        .failed = message->failed,
    };

    /* Signatures of one model are refused by another. */
    if (message->opaque.n > 0 && str_is(message->opaque_model, model_id)) {
        copy.opaque = arena_str(arena, message->opaque);
        copy.opaque_model = arena_str(arena, message->opaque_model);
    }
    return copy;
}

void exchange_copy_request(struct model_exchange *x, const struct model_request *request)
{
    struct arena *arena = &x->arena;
    struct model_message *messages =
        ARENA_NEW_N(arena, struct model_message, request->message_count + 1);
    struct model_tool *tools = ARENA_NEW_N(arena, struct model_tool, request->tool_count + 1);

    for (size_t i = 0; i < request->message_count; i++)
        messages[i] = copy_message(arena, &request->messages[i], request->model_id);
    for (size_t i = 0; i < request->tool_count; i++)
        tools[i] = (struct model_tool){
            .name = arena_str(arena, request->tools[i].name),
            .description = arena_str(arena, request->tools[i].description),
            .input_schema = arena_str(arena, request->tools[i].input_schema),
        };
    x->request = (struct model_request){
        .model_id = arena_text(arena, request->model_id),
        .system = arena_str(arena, request->system),
        .tools = tools,
        .tool_count = request->tool_count,
        .messages = messages,
        .message_count = request->message_count,
        .max_output_tokens = request->max_output_tokens,
    };
}

static int64_t message_tokens(const struct model_message *message)
{
    int64_t sum = TOKENS_PER_MESSAGE + tokens_estimate(message->text);

    for (size_t i = 0; i < message->call_count; i++)
        sum +=
            tokens_estimate(message->calls[i].name) + tokens_estimate(message->calls[i].arguments);
    return sum;
}

int64_t exchange_estimate_input(const struct model_request *request)
{
    int64_t sum = tokens_estimate(request->system);

    for (size_t i = 0; i < request->tool_count; i++)
        sum += TOKENS_PER_TOOL + tokens_estimate(request->tools[i].name) +
               tokens_estimate(request->tools[i].description) +
               tokens_estimate(request->tools[i].input_schema);
    for (size_t i = 0; i < request->message_count; i++)
        sum += message_tokens(&request->messages[i]);
    return sum;
}
