/* Records as JSON. Names are those of the events and of the seeds: camelCase, times in RFC 3339.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/utf8.h"
#include "change/taint.h"
#include "desk/desk.h"
#include "journal/record.h"
#include "serve/api_int.h"

#define TITLE_BYTES 200

/* ---- members ---- */

void api_put_json(struct json_writer *w, const char *key, struct str text)
{
    AUTO_JSON value = NULL;

    if (!text.n)
        return;
    json_write_key(w, key);
    if (json_parse(text, &value, NULL) == 0)
        json_write_value(w, value);
    else
        json_write_str(w, text);
}

struct str api_record_title(const struct record *record)
{
    static const char *const names[] = {
        "title", "name", "body", "description", "note", "subtype"
    };
    struct str title = STR_NONE;

    for (size_t i = 0; i < ARRAY_LEN(names) && !title.n; i++)
        if (record_field_index(record->type, str_from(names[i])) >= 0)
            title = record_str(record, names[i]);
    return utf8_truncate(title, TITLE_BYTES);
}

static bool writes(struct serve_request *request)
{
    return !str_is(serve_request_method(request), "GET") &&
           !str_is(serve_request_method(request), "HEAD");
}

/* An empty unit: its effects share the fate of the tick's transaction. */
int api_reply_begin(struct serve_request *request)
{
    const struct api_config *config = &api_of(request)->config;
    struct err err = ERR_INIT;

    if (!writes(request) || loop_unit_begin(config->loop, config->agent_domain, &err) == 0)
        return 0;
    serve_reply_error(request, &err);
    return -1;
}

void api_reply_end(struct serve_request *request)
{
    if (writes(request))
        loop_unit_end(api_of(request)->config.loop, true, NULL);
}

void api_reply(struct serve_request *request, int status, struct buf *json, struct json_writer *w)
{
    struct err err = ERR_INIT;

    if (json_write_end(w) == 0) {
        if (api_reply_begin(request) < 0)
            return;
        serve_reply_json(request, status, buf_str(json));
        api_reply_end(request);
        return;
    }
    err_set(&err, ERR_TOO_LARGE, "the answer is longer than %zu bytes: ask for less with limit",
            json->max);
    serve_reply_error_status(request, 500, &err);
}

/* ---- records ---- */

static void put_error(struct json_writer *w, struct str code, struct str message)
{
    if (!code.n)
        return;
    json_put_object(w, "error");
    json_put_some_str(w, "code", code);
    json_put_some_str(w, "message", message);
    json_write_object_end(w);
}

void api_write_run(struct json_writer *w, const struct run_info *info)
{
    json_write_object_begin(w);
    json_put_some_str(w, "runId", info->run_id);
    json_put_i64(w, "n", info->n);
    json_put_some_str(w, "threadId", info->thread_id);
    json_put_some_str(w, "agentId", info->agent_id);
    json_put_some_str(w, "status", info->status);
    json_put_some_str(w, "mode", info->mode);
    json_put_some_str(w, "model", info->model_id);
    json_put_some_str(w, "cwd", info->cwd);
    json_put_some_str(w, "waitKind", info->wait_kind);
    json_put_some_str(w, "waitItem", info->wait_item);
    json_put_some_time(w, "waitUntil", info->wait_until);
    json_put_some_str(w, "prompt", info->prompt);
    json_put_some_str(w, "result", info->result);
    json_put_some_str(w, "stopReason", info->stop_reason);
    put_error(w, info->error_code, info->error_message);
    json_put_i64(w, "iterations", info->iterations);
    json_put_i64(w, "toolCalls", info->tool_calls);
    json_put_i64(w, "inputTokens", info->input_tokens);
    json_put_i64(w, "outputTokens", info->output_tokens);
    json_put_i64(w, "cachedTokens", info->cached_tokens);
    json_put_double(w, "cost", info->cost);
    json_put_some_i64(w, "maxIterations", info->max_iterations);
    json_put_some_i64(w, "maxTokens", info->max_tokens);
    json_put_some_i64(w, "maxToolCalls", info->max_tool_calls);
    json_put_some_i64(w, "maxMs", info->max_ms);
    json_put_some_time(w, "createdAt", info->created_at);
    json_put_some_time(w, "updatedAt", info->updated_at);
    json_put_some_time(w, "endedAt", info->ended_at);
    json_put_i64(w, "activeMs", info->active_ms);
    json_put_i64(w, "waitedMs", info->waited_ms);
    json_write_object_end(w);
}

static const char *scope_name(enum inbox_scope scope)
{
    return scope == INBOX_FOR_RUN ? "run" : scope == INBOX_ALWAYS ? "always" : "once";
}

void api_write_item(struct json_writer *w, const struct inbox_item *item)
{
    json_write_object_begin(w);
    json_put_some_str(w, "id", item->id);
    json_put_i64(w, "n", item->n);
    json_put_some_text(w, "kind", inbox_kind_name(item->kind));
    json_put_some_text(w, "state", inbox_state_name(item->state));
    json_put_some_str(w, "agentId", item->agent_id);
    json_put_some_str(w, "agentName", item->agent_name);
    json_put_some_str(w, "runId", item->run_id);
    json_put_some_str(w, "threadId", item->thread_id);
    json_put_some_str(w, "toolName", item->tool_name);
    json_put_some_str(w, "title", item->title);
    api_put_json(w, item->kind == INBOX_TOOL || item->kind == INBOX_MEMORY ? "input" : "body",
                 item->body);
    json_put_some_str(w, "previewKind", item->preview_kind);
    json_put_some_str(w, "preview", item->preview);
    json_put_some_str(w, "digest", item->digest);
    taint_put(w, item->taint);
    inbox_put_view(w, item, true);
    json_put_some_time(w, "createdAt", item->created_at);
    json_put_some_time(w, "expiresAt", item->expires_at);
    json_put_some_time(w, "decidedAt", item->decided_at);
    json_put_some_str(w, "decidedBy", item->decided_by);
    json_put_some_str(w, "reason", item->reason);
    if (item->decided_at)
        json_put_some_text(w, "scope", scope_name(item->scope));
    api_put_json(w, "answer", item->answer);
    json_write_object_end(w);
}

static void put_state(struct json_writer *w, const struct agent_status *status)
{
    json_put_object(w, "state");
    json_put_some_text(w, "word", agent_word_name(status->word));
    json_put_some_time(w, "since", status->since);
    json_put_some_text(w, "why", status->why);
    json_write_object_end(w);
}

const char *api_interactive_warning(const struct agent *agent)
{
    return strcmp(agent->mode, "interactive") == 0
               ? "this agent is interactive: only a person wakes it; mode hybrid lets it wake by "
                 "itself, too"
               : NULL;
}

void api_put_warning(struct json_writer *w, const char *warning)
{
    if (!warning)
        return;
    json_put_array(w, "warnings");
    json_write_text(w, warning);
    json_write_array_end(w);
}

static void put_warnings(struct json_writer *w, const struct builder_warnings *warnings)
{
    if (!warnings->n)
        return;
    json_put_array(w, "warnings");
    for (size_t i = 0; i < warnings->n; i++)
        json_write_text(w, warnings->text[i]);
    json_write_array_end(w);
}

/* What callers of its webhooks must know, said once. */
static void put_hooks(struct json_writer *w, const struct builder_warnings *warnings)
{
    if (!warnings->hook_count)
        return;
    json_put_array(w, "webhooks");
    for (size_t i = 0; i < warnings->hook_count; i++) {
        AUTO_BUF url = BUF_INIT(256);

        buf_printf(&url, "/api/v1/hooks/%s", warnings->hooks[i].token);
        json_write_object_begin(w);
        json_put_some_text(w, "subscriptionId", warnings->hooks[i].subscription_id);
        json_put_some_text(w, "name", warnings->hooks[i].name);
        json_put_some_text(w, "token", warnings->hooks[i].token);
        json_put_some_str(w, "url", buf_str(&url));
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static void put_amount(struct json_writer *w, const char *name, int64_t used, int64_t held,
                       int64_t limit, double unit)
{
    const int64_t values[] = { used, held, limit, limit - used - held };
    static const char *const names[] = { "used", "reserved", "limit", "left" };

    json_put_object(w, name);
    for (size_t i = 0; i < (limit ? ARRAY_LEN(values) : 2); i++) {
        int64_t value = values[i] > 0 ? values[i] : 0;

        if (unit == 1) {
            json_put_i64(w, names[i], value);
        } else {
            json_put_double(w, names[i], (double)value / unit);
        }
    }
    json_write_object_end(w);
}

static void put_amounts(struct json_writer *w, const struct budget *used, const struct budget *held,
                        const struct budget *limit)
{
    put_amount(w, "tokens", used->tokens, held->tokens, limit->tokens, 1);
    put_amount(w, "cost", used->cost, held->cost, limit->cost, 1e6);
    put_amount(w, "toolCalls", used->tool_calls, 0, limit->tool_calls, 1);
}

static void put_own(struct json_writer *w, const struct budget *own)
{
    if (!own->tokens && !own->cost && !own->tool_calls)
        return;
    json_put_object(w, "own");
    json_put_some_i64(w, "tokensPerDay", own->tokens);
    if (own->cost)
        json_put_double(w, "costPerDay", (double)own->cost / 1e6);
    json_put_some_i64(w, "toolCallsPerDay", own->tool_calls);
    json_write_object_end(w);
}

/* Today: what it used, and what all agents did where that is limited. */
static void put_budget(struct json_writer *w, const struct run_budget *budget)
{
    const struct budget *all = &budget->limits.all;

    json_put_object(w, "budget");
    json_put_some_time(w, "resetsAt", budget->ends_ms);
    put_amounts(w, &budget->used, &budget->held, &budget->limits.agent);
    put_own(w, &budget->own);
    if (all->tokens || all->cost || all->tool_calls) {
        json_put_object(w, "all");
        put_amounts(w, &budget->all_used, &budget->all_held, all);
        json_write_object_end(w);
    }
    json_write_object_end(w);
}

void api_write_agent(struct json_writer *w, const struct agent_status *status,
                     const struct run_budget *budget, const struct builder_warnings *warnings)
{
    const struct agent *agent = &status->agent;

    json_write_object_begin(w);
    json_put_some_text(w, "id", agent->id);
    json_put_some_text(w, "kind", agent->kind);
    json_put_some_text(w, "displayName", agent->display_name);
    json_put_text(w, "description", agent->description);
    json_put_some_text(w, "template", agent->template);
    json_put_some_text(w, "lifecycle", agent_lifecycle_name(agent->lifecycle));
    json_put_bool(w, "paused", agent->paused);
    put_state(w, status);
    json_put_i64(w, "pending", status->pending);
    json_put_some_time(w, "lastRunAt", status->last_run_at);
    json_put_i64(w, "tokensToday", status->tokens_today);
    json_put_i64(w, "openSessions", status->sessions_open);
    json_put_some_time(w, "sessionExpiresAt", status->session_until);
    json_put_some_text(w, "mode", agent->mode);
    json_put_some_text(w, "model", agent->model_id);
    json_put_some_text(w, "instructions", agent->instructions);
    api_put_json(w, "tools", str_from(agent->tools));
    json_put_bool(w, "autoApproveMemory", agent->auto_approve_memory);
    api_put_json(w, "allowedCategoryIds", str_from(agent->allowed_category_ids));
    json_put_i64(w, "sessionTtlSeconds", agent->session_ttl_ms / 1000);
    json_put_some_text(w, "profile", agent->profile);
    if (budget)
        put_budget(w, budget);
    json_put_some_time(w, "createdAt", agent->created_at);
    json_put_some_time(w, "updatedAt", agent->updated_at);
    if (warnings) {
        put_warnings(w, warnings);
        put_hooks(w, warnings);
    }
    json_write_object_end(w);
}

void api_write_thread(struct json_writer *w, const struct conversation *conversation)
{
    const struct thread *thread = &conversation->thread;

    json_write_object_begin(w);
    json_put_some_str(w, "id", thread->id);
    json_put_i64(w, "n", thread->n);
    json_put_str(w, "title", conversation->title);
    json_put_bool(w, "named", conversation->named);
    json_put_str(w, "preview", conversation->preview);
    json_put_i64(w, "pending", conversation->pending);
    json_put_i64(w, "messages", thread->message_count);
    json_put_i64(w, "tokens", thread->tokens_total);
    json_put_i64(w, "lastSeq", thread->last_seq);
    json_put_some_time(w, "createdAt", thread->created_at);
    json_put_some_time(w, "updatedAt", thread->updated_at);
    json_put_some_time(w, "deletedAt", thread->deleted_at);
    json_write_object_end(w);
}

/* A result as a person reads it, where its tool has words for that. */
static void put_words(struct json_writer *w, const struct message *message)
{
    AUTO_JSON content = NULL;
    AUTO_BUF words = BUF_INIT(64u << 10);

    if (json_parse(message->content, &content, NULL) == 0 &&
        desk_say_answer(message->tool_name, json_find(content, "output"), &words))
        json_put_str(w, "words", str_trim(buf_str(&words)));
}

void api_write_message(struct json_writer *w, const struct message *message)
{
    json_write_object_begin(w);
    json_put_some_str(w, "id", message->id);
    json_put_i64(w, "n", message->n);
    json_put_some_text(w, "kind", message_kind_name(message->kind));
    json_put_some_time(w, "createdAt", message->created_at);
    api_put_json(w, "content", message->content);
    if (message->kind == MESSAGE_TOOL_RESULT)
        put_words(w, message);
    json_put_i64(w, "tokens", message->tokens_approx);
    json_put_some_str(w, "actionType", message->action_type);
    json_put_some_str(w, "toolName", message->tool_name);
    json_put_some_str(w, "toolCallId", message->call_id);
    json_put_some_str(w, "argumentsHash", message->arguments_hash);
    json_put_some_str(w, "status", message->status);
    put_error(w, message->error_code, message->error_message);
    api_put_json(w, "changedEntityIds", message->changed_entity_ids);
    api_put_json(w, "changedTokens", message->changed_tokens);
    json_put_some_str(w, "promptId", message->prompt_id);
    json_put_some_str(w, "promptVersion", message->prompt_version);
    json_put_some_str(w, "model", message->model_id);
    taint_put(w, message->taint);
    json_write_object_end(w);
}

void api_write_end(struct json_writer *w, const struct run_ending *end, int64_t after)
{
    json_write_object_begin(w);
    json_put_some_str(w, "runId", end->run_id);
    json_put_i64(w, "after", after);
    json_put_some_str(w, "stopReason", end->stop_reason);
    put_error(w, end->error_code, end->error_message);
    json_put_some_time(w, "at", end->at);
    json_write_object_end(w);
}

void api_write_error(struct json_writer *w, const struct err *err)
{
    char text[ERR_TEXT_MAX + 64];

    json_write_object_begin(w);
    json_put_some_text(w, "type", "error");
    json_put_some_text(w, "code", err_name(err->code));
    json_put_some_text(w, "message", err_format(err, text, sizeof(text)));
    json_put_bool(w, "recoverable", true);
    json_write_object_end(w);
}
