/* The embedder's model: our request as plain C structs, its answer as a reply.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embed/embed_int.h"

struct dm_answer {
    const struct model_sink *sink;
    void *arg;
    struct arena arena;
    struct model_call calls[MODEL_CALLS_MAX];
    size_t call_count;
    struct model_usage usage;
    bool too_many;
};

/* ---- the request ---- */

static const char *text_of(struct arena *arena, struct str s)
{
    return arena_copy(arena, s.p ? s.p : "", s.n);
}

static void fill_calls(struct arena *arena, const struct model_message *from,
                       struct dm_message *message)
{
    const struct dm_tool_call **calls =
        ARENA_NEW_N(arena, const struct dm_tool_call *, from->call_count + 1);

    for (size_t i = 0; i < from->call_count; i++) {
        struct dm_tool_call *call = arena_alloc(arena, 1, sizeof(*call));

        *call = (struct dm_tool_call){ .id = text_of(arena, from->calls[i].id),
                                       .name = text_of(arena, from->calls[i].name),
                                       .arguments = text_of(arena, from->calls[i].arguments) };
        calls[i] = call;
    }
    calls[from->call_count] = NULL;
    message->calls = calls;
    message->call_count = from->call_count;
}

static int role_of(enum model_role role)
{
    return role == MODEL_USER        ? DM_USER
           : role == MODEL_ASSISTANT ? DM_ASSISTANT
           : role == MODEL_TOOL      ? DM_TOOL
                                     : DM_ROLE_NONE;
}

static const struct dm_message *const *messages_of(struct arena *arena,
                                                   const struct model_request *request)
{
    const struct dm_message **list =
        ARENA_NEW_N(arena, const struct dm_message *, request->message_count + 1);

    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *from = &request->messages[i];
        struct dm_message *message = arena_alloc(arena, 1, sizeof(*message));

        *message = (struct dm_message){ .role = role_of(from->role),
                                        .text = text_of(arena, from->text),
                                        .call_id = text_of(arena, from->call_id),
                                        .tool_name = text_of(arena, from->tool_name),
                                        .failed = from->failed };
        fill_calls(arena, from, message);
        list[i] = message;
    }
    list[request->message_count] = NULL;
    return list;
}

static const struct dm_tool_description *const *tools_of(struct arena *arena,
                                                         const struct model_request *request)
{
    const struct dm_tool_description **list =
        ARENA_NEW_N(arena, const struct dm_tool_description *, request->tool_count + 1);

    for (size_t i = 0; i < request->tool_count; i++) {
        struct dm_tool_description *tool = arena_alloc(arena, 1, sizeof(*tool));

        *tool = (struct dm_tool_description){
            .name = text_of(arena, request->tools[i].name),
            .description = text_of(arena, request->tools[i].description),
            .input_schema = text_of(arena, request->tools[i].input_schema),
        };
        list[i] = tool;
    }
    list[request->tool_count] = NULL;
    return list;
}

static void answer_free(struct dm_answer *answer)
{
    arena_release(&answer->arena);
    free(answer);
}

int embed_model_call(void *call_arg, const struct model_request *request,
                     const struct model_sink *sink, void *arg, struct err *err)
{
    struct dm_house *house = call_arg;
    AUTO_ARENA arena = ARENA_INIT;
    struct dm_answer *answer = NEW(struct dm_answer);
    struct dm_model_request asked = {
        .system = text_of(&arena, request->system),
        .messages = messages_of(&arena, request),
        .message_count = request->message_count,
        .tools = tools_of(&arena, request),
        .tool_count = request->tool_count,
        .present = text_of(&arena, request->present),
    };

    answer->sink = sink;
    answer->arg = arg;
    answer->arena = ARENA_INIT;
    if (house->model_call(house->model_arg, &asked, answer) >= 0)
        return 0;
    answer_free(answer);
    return err_set(err, ERR_PROVIDER_FAILED, "the model's function failed");
}

/* ---- the answer ---- */

/* The gateway keeps and bounds what it is told, and mends characters that come in two pieces. */
static void add(struct dm_answer *answer, enum model_delta kind, const char *text)
{
    if (text && *text)
        answer->sink->on_delta(answer->arg, kind, str_from(text));
}

void dm_answer_text(struct dm_answer *answer, const char *text)
{
    add(answer, MODEL_DELTA_TEXT, text);
}

void dm_answer_thinking(struct dm_answer *answer, const char *text)
{
    add(answer, MODEL_DELTA_THINKING, text);
}

void dm_answer_call(struct dm_answer *answer, const char *id, const char *name,
                    const char *arguments)
{
    struct arena *arena = &answer->arena;
    struct model_call *call;

    if (answer->call_count == MODEL_CALLS_MAX) {
        answer->too_many = true;
        return;
    }
    call = &answer->calls[answer->call_count++];
    *call = (struct model_call){
        .id = str_from(id ? arena_text(arena, id)
                          : arena_printf(arena, "call_%zu", answer->call_count)),
        .name = str_from(arena_text(arena, name ? name : "")),
        .arguments = str_from(arena_text(arena, arguments && *arguments ? arguments : "{}")),
    };
}

void dm_answer_usage(struct dm_answer *answer, int64_t input_tokens, int64_t output_tokens)
{
    answer->usage.input_tokens = input_tokens;
    answer->usage.output_tokens = output_tokens;
}

void dm_answer_done(struct dm_answer *answer)
{
    struct model_reply reply = {
        .calls = answer->calls,
        .call_count = answer->call_count,
        .stop = answer->call_count ? MODEL_STOP_CALLS : MODEL_STOP_END,
        .usage = answer->usage,
    };

    if (answer->too_many) {
        dm_answer_fail(answer, "too_large", "the answer has more calls than a reply may have");
        return;
    }
    answer->sink->on_done(answer->arg, &reply, NULL, -1);
    answer_free(answer);
}

void dm_answer_fail(struct dm_answer *answer, const char *code, const char *message)
{
    static const enum err_code allowed[] = { ERR_RATE_LIMITED, ERR_CONTEXT_TOO_LONG, ERR_TIMEOUT,
                                             ERR_TOO_LARGE };
    enum err_code known = err_from_name(code ? code : ""), use = ERR_PROVIDER_FAILED;
    struct err err = ERR_INIT;

    for (size_t i = 0; i < ARRAY_LEN(allowed); i++) {
        if (allowed[i] == known)
            use = known;
    }
    err_set(&err, use, "%s", message ? message : "the model's function failed");
    answer->sink->on_done(answer->arg, NULL, &err, -1);
    answer_free(answer);
}
