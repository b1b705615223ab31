/* Requests: what the exchange keeps of one, what it weighs, and what is wrong with it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/request_int.h"

#include <string.h>

#include "base/json.h"
#include "base/tokens.h"
#include "model/exchange_int.h"

/* What role and structure of a message cost beyond its text, by the APIs' own rules of thumb. */
#define TOKENS_PER_MESSAGE 4
#define TOKENS_PER_TOOL    8
#define WIRE_NAME_MAX      64 /* bytes */

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

static void copy_request(struct model_exchange *x, const struct model_request *request)
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
        .present = arena_str(arena, request->present),
        .max_output_tokens = request->max_output_tokens,
    };
}

static bool has_strange_opaque(const struct model_request *request)
{
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].opaque.n > 0 &&
            !str_is(request->messages[i].opaque_model, request->model_id))
            return true;
    return false;
}

void exchange_take_request(struct model_exchange *x, const struct model_request *request)
{
    if (request->stable && !has_strange_opaque(request))
        x->request = *request;
    else
        copy_request(x, request);
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
    int64_t sum = tokens_estimate(request->system) + tokens_estimate(request->present);

    for (size_t i = 0; i < request->tool_count; i++)
        sum += TOKENS_PER_TOOL + tokens_estimate(request->tools[i].name) +
               tokens_estimate(request->tools[i].description) +
               tokens_estimate(request->tools[i].input_schema);
    for (size_t i = 0; i < request->message_count; i++)
        sum += message_tokens(&request->messages[i]);
    return sum;
}

/* ---- before it is written ---- */

static bool is_object(struct str text)
{
    AUTO_JSON value = NULL;

    return json_parse(text, &value, NULL) == 0 && json_object_is_type(value, json_type_object);
}

/* ---- calls and their results ---- */

/* Names that a model made up may hold what servers refuse to see again. */
static bool is_wire_name(struct str name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    for (size_t i = 0; i < name.n; i++)
        if (!memchr(letters, name.p[i], sizeof(letters) - 1))
            return false;
    return name.n > 0 && name.n <= WIRE_NAME_MAX;
}

static struct str wire_name(struct arena *arena, struct str name)
{
    size_t n = name.n < WIRE_NAME_MAX ? name.n : WIRE_NAME_MAX;
    char *text;

    if (n == 0)
        return STR("unknown");
    text = arena_copy(arena, name.p, n);
    for (size_t i = 0; i < n; i++)
        if (!is_wire_name(str_of(text + i, 1)))
            text[i] = '_';
    return str_of(text, n);
}

/* The message is not the exchange's own: another list of calls where a name has to change. */
static void mend_names(struct arena *arena, struct model_message *message)
{
    struct model_call *calls = NULL;

    for (size_t i = 0; i < message->call_count; i++) {
        if (is_wire_name(message->calls[i].name))
            continue;
        if (!calls) {
            calls = ARENA_NEW_N(arena, struct model_call, message->call_count);
            memcpy(calls, message->calls, message->call_count * sizeof(*calls));
        }
        calls[i].name = wire_name(arena, calls[i].name);
    }
    if (calls)
        message->calls = calls;
}

/* Providers refuse a request in which a call has no result or a result no call: what a crash, a
 * cancelled run or a shortened history leaves behind. */
struct mend {
    struct arena *arena;
    struct model_message *out;
    size_t n;
};

static void put(struct mend *mend, struct model_message message)
{
    mend->out[mend->n++] = message;
}

/* A result whose call is not there any more still tells something. */
static void put_orphan(struct mend *mend, const struct model_message *result)
{
    const char *text = arena_printf(mend->arena, "[Result of an earlier call of %.*s]\n%.*s",
                                    STR_ARG(result->tool_name), STR_ARG(result->text));

    put(mend, (struct model_message){ .role = MODEL_USER, .text = str_from(text) });
}

static size_t find_result(const struct model_message *from, size_t n, struct str id)
{
    size_t i = 0;

    while (i < n && !(from[i].role == MODEL_TOOL && str_eq(from[i].call_id, id)))
        i++;
    return i;
}

static bool is_answered(const struct model_message *assistant, const struct model_message *from,
                        size_t at)
{
    for (size_t i = 0; assistant && i < assistant->call_count; i++)
        if (str_eq(assistant->calls[i].id, from[at].call_id))
            return find_result(from, at, from[at].call_id) == at;
    return false;
}

static void put_results(struct mend *mend, const struct model_message *assistant,
                        const struct model_message *from, size_t n)
{
    for (size_t i = 0; i < assistant->call_count; i++) {
        const struct model_call *call = &assistant->calls[i];
        size_t at = find_result(from, n, call->id);

        if (at < n)
            put(mend, from[at]);
        else
            put(mend, (struct model_message){
                          .role = MODEL_TOOL,
                          .call_id = call->id,
                          .tool_name = call->name,
                          .text = STR("No result was recorded: the call was interrupted."),
                          .failed = true,
                      });
    }
}

/* One assistant message (NULL: before the first) and the n messages up to the next. */
static void mend_turn(struct mend *mend, const struct model_message *assistant,
                      const struct model_message *from, size_t n)
{
    struct model_message said;

    if (assistant) {
        said = *assistant;
        mend_names(mend->arena, &said);
        put(mend, said);
        put_results(mend, &said, from, n);
    }
    for (size_t i = 0; i < n; i++)
        if (from[i].role == MODEL_USER)
            put(mend, from[i]);
        else if (!is_answered(assistant, from, i))
            put_orphan(mend, &from[i]);
}

static void request_mend(struct model_exchange *x)
{
    struct model_request *request = &x->request;
    const struct model_message *all = request->messages, *assistant = NULL;
    size_t room = request->message_count, from = 0;
    struct mend mend = { .arena = &x->arena };

    for (size_t i = 0; i < request->message_count; i++)
        room += all[i].call_count;
    mend.out = ARENA_NEW_N(&x->arena, struct model_message, room);
    for (size_t i = 0; i <= request->message_count; i++) {
        if (i < request->message_count && all[i].role != MODEL_ASSISTANT)
            continue;
        mend_turn(&mend, assistant, all + from, i - from);
        assistant = all + i;
        from = i + 1;
    }
    request->messages = mend.out;
    request->message_count = mend.n;
}

int request_check(struct model_exchange *x, struct err *err)
{
    const struct model_request *request = &x->request;

    for (size_t i = 0; i < request->tool_count; i++)
        if (!is_object(request->tools[i].input_schema))
            return err_set(err, ERR_BAD_REQUEST, "tool %.*s: its input schema is no JSON object",
                           STR_ARG(request->tools[i].name));
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].role < MODEL_USER || request->messages[i].role > MODEL_TOOL)
            return err_set(err, ERR_BAD_REQUEST, "message %zu has no role", i);
    request_mend(x);
    return 0;
}

struct str request_arguments(const struct model_call *call)
{
    return is_object(call->arguments) ? call->arguments : STR("{}");
}

void request_bearer(const struct model_exchange *x, struct buf *out)
{
    if (exchange_secret(x).n > 0)
        buf_printf(out, "Bearer %.*s", STR_ARG(exchange_secret(x)));
}
