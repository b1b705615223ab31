/* The table of routes, and who hears of events.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/api.h"

#include <stdlib.h>

#include "base/embed.h"
#include "serve/api_int.h"
#include "serve/api_journal_int.h"
#include "wake/webhook.h"

extern const struct embed_file api_schema_files[];

#define SMALL (64 * KIB)
#define FORM  (512 * KIB)
#define QUERY(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

#define GET(path, handler, ...)                                                                    \
    {                                                                                              \
        .method = "GET", .pattern = (path), .run = (handler), __VA_ARGS__                          \
    }
#define POST(path, handler, max, ...)                                                              \
    {                                                                                              \
        .method = "POST", .pattern = (path), .run = (handler), .body_max = (max), __VA_ARGS__      \
    }
#define PATCH(path, handler, max, ...)                                                             \
    {                                                                                              \
        .method = "PATCH", .pattern = (path), .run = (handler), .body_max = (max), __VA_ARGS__     \
    }
#define PUT(path, handler, max, ...)                                                               \
    {                                                                                              \
        .method = "PUT", .pattern = (path), .run = (handler), .body_max = (max), __VA_ARGS__       \
    }
#define DELETE(path, handler, ...)                                                                 \
    {                                                                                              \
        .method = "DELETE", .pattern = (path), .run = (handler), __VA_ARGS__                       \
    }

static const struct serve_route table[] = {
    POST("/run", api_run_post, LIMIT_HTTP_BODY_BYTES, .answer = SERVE_SSE, .takes = "RunRequest",
         .gives = "Event", .summary = "Starts a run and streams its events."),
    POST("/api/v1/run", api_run_post, LIMIT_HTTP_BODY_BYTES, .answer = SERVE_SSE,
         .takes = "RunRequest", .gives = "Event",
         .summary = "Starts a run and streams its events."),
    GET("/api/v1/runs", api_runs_list, .query = QUERY("agent", "before", "limit"),
        .gives = "RunList", .summary = "Runs, newest first."),
    GET("/api/v1/runs/{key}", api_runs_get, .gives = "Run", .summary = "A run."),
    GET("/api/v1/runs/{key}/events", api_runs_events, .query = QUERY("after", "limit"),
        .streams = true, .gives = "EventList", .also = 204,
        .summary = "The recorded events of a run; as server-sent events they go on until it is "
                   "done."),
    POST("/api/v1/runs/{key}/cancel", api_runs_cancel, SMALL, .gives = "Run",
         .summary = "Ends a run. One that has ended stays as it is."),
    POST("/api/v1/runs/{key}/mode", api_runs_mode, SMALL, .takes = "ModeRequest", .gives = "Run",
         .summary = "Changes the mode of a run under way."),
    POST("/api/v1/runs/{key}/rerun", api_run_again, SMALL, .answer = SERVE_SSE,
         .takes = "RerunRequest", .gives = "Event",
         .summary = "Starts a new run from the same prompt and streams its events."),
    GET("/api/v1/runs/{key}/trace", api_runs_trace, .query = QUERY("format"), .gives = "Trace",
        .summary = "The log of a run, event by event; format json, ndjson or text."),
    GET("/api/v1/runs/{key}/replay", api_runs_replay, .gives = "Replay",
        .summary = "Whether the program, run again from the log alone, goes the same way."),
    GET("/api/v1/inbox", api_inbox_list, .query = QUERY("state", "limit", "after"),
        .gives = "InboxList",
        .summary = "What waits for a person, oldest first; state=all: everything, newest first."),
    GET("/api/v1/inbox/{id}", api_inbox_get, .gives = "InboxItem", .summary = "An inbox item."),
    POST("/api/v1/inbox/{id}/decision", api_inbox_decide, LIMIT_HTTP_BODY_BYTES,
         .takes = "DecisionRequest", .gives = "Decision",
         .summary = "A person's word on an item; applied once, however often it is sent."),
    GET("/api/v1/grants", api_grants_list, .gives = "GrantList",
        .summary = "What was approved for a run or for always, and is in force."),
    DELETE("/api/v1/grants/{id}", api_grants_revoke, .status = 204,
           .summary = "Takes a grant back."),
    GET("/api/v1/kill", api_kill_list, .gives = "KillList",
        .summary = "The kill switches that are on."),
    POST("/api/v1/kill", api_kill_on, SMALL, .takes = "KillRequest", .gives = "KillChange",
         .summary = "Turns a kill switch on: no new effect starts, running ones are ended."),
    DELETE("/api/v1/kill", api_kill_off, .query = QUERY("scope", "value"), .gives = "KillChange",
           .summary = "Turns a kill switch off."),
    GET("/api/v1/agents", api_agents_list, .query = QUERY("system", "destroyed"),
        .gives = "AgentList", .summary = "Agents in order of name, each with how it is."),
    POST("/api/v1/agents", api_agents_create, FORM, .takes = "AgentForm", .gives = "Agent",
         .status = 201, .once = true, .summary = "Makes an agent."),
    POST("/api/v1/agents/import", api_agents_import, LIMIT_HTTP_BODY_BYTES, .query = QUERY("id"),
         .gives = "Agent", .status = 201, .bytes = true, .once = true,
         .summary = "Makes an agent from an archive that export gave. Its webhooks have new "
                    "tokens."),
    GET("/api/v1/agents/{id}", api_agents_get, .gives = "Agent", .summary = "An agent."),
    PATCH("/api/v1/agents/{id}", api_agents_change, FORM, .takes = "AgentChange", .gives = "Agent",
          .summary = "Changes what is given of an agent."),
    DELETE("/api/v1/agents/{id}", api_agents_destroy, .body_max = SMALL, .query = QUERY("confirm"),
           .takes = "AgentDestroy", .status = 204,
           .summary = "Destroys an agent for good; confirm is its name. Its runs end, its "
                      "conversations stay readable."),
    POST("/api/v1/agents/{id}/duplicate", api_agents_duplicate, SMALL, .takes = "AgentCopy",
         .gives = "Agent", .status = 201, .once = true,
         .summary = "Makes a copy of an agent, without its conversations. What wakes the copy "
                    "is switched off."),
    GET("/api/v1/agents/{id}/export", api_agents_export, .answer = SERVE_FILE,
        .summary = "The agent as one archive (tar.gz): settings, instructions, skills, "
                   "knowledge, what wakes it; never a secret."),
    POST("/api/v1/agents/{id}/pause", api_agents_pause, SMALL, .gives = "Agent",
         .summary = "Pauses an agent: it starts no runs."),
    POST("/api/v1/agents/{id}/resume", api_agents_resume, SMALL, .gives = "Agent",
         .summary = "Ends a pause."),
    GET("/api/v1/agents/{id}/state", api_state_get, .gives = "AgentState",
        .summary = "How long an agent sleeps, how often it failed in a row, and its slots."),
    PATCH("/api/v1/agents/{id}/state", api_state_change, SMALL, .takes = "AgentStateChange",
          .gives = "AgentState",
          .summary = "Changes what is given; null takes a value away: sleepUntil null ends a "
                     "sleep."),
    GET("/api/v1/agents/{id}/tools", api_agents_tools, .gives = "ToolList",
        .summary = "All tools, and which of them the agent has."),
    GET("/api/v1/tools", api_tools_list, .gives = "ToolList", .summary = "The tools there are."),
    GET("/api/v1/templates", api_templates_list, .gives = "TemplateList",
        .summary = "What an agent can begin with."),
    POST("/api/v1/wizard/threads", api_wizard_open, SMALL, .gives = "WizardThread", .status = 201,
         .summary = "Begins a conversation with the wizard, which makes agents."),
    GET("/api/v1/wizard/threads", api_wizard_threads, .query = QUERY("before", "limit", "query"),
        .gives = "ThreadList", .summary = "Conversations with the wizard, newest first."),
    GET("/api/v1/agents/{id}/threads", api_threads_list, .query = QUERY("before", "limit", "query"),
        .gives = "ThreadList",
        .summary = "An agent's conversations by their last word, newest first."),
    GET("/api/v1/agents/{id}/threads/{t}", api_threads_get, .gives = "Thread",
        .summary = "A conversation."),
    PATCH("/api/v1/agents/{id}/threads/{t}", api_threads_change, SMALL, .takes = "ThreadChange",
          .gives = "Thread", .summary = "Gives a conversation a title."),
    DELETE("/api/v1/agents/{id}/threads/{t}", api_threads_delete, .status = 204,
           .summary = "Puts a conversation away; not while a run is under way in it."),
    POST("/api/v1/agents/{id}/threads/{t}/restore", api_threads_restore, SMALL, .gives = "Thread",
         .summary = "Brings a conversation back that was deleted."),
    GET("/api/v1/agents/{id}/threads/{t}/messages", api_threads_messages,
        .query = QUERY("before", "limit"), .gives = "MessageList",
        .summary = "The messages of a thread, newest first."),
    GET("/api/v1/agents/{id}/memory", api_memory_list, .gives = "MemoryList",
        .summary = "The files that an agent keeps, and its instructions and tools as files."),
    GET("/api/v1/agents/{id}/memory/{path...}", api_memory_get, .query = QUERY("version"),
        .gives = "MemoryFile", .summary = "A file, or one version of it."),
    PUT("/api/v1/agents/{id}/memory/{path...}", api_memory_put, LIMIT_HTTP_BODY_BYTES,
        .takes = "MemoryWrite", .gives = "MemoryFile", .also = 201,
        .summary = "Writes a file as the person; version_conflict when base_version is not the "
                   "newest."),
    DELETE("/api/v1/agents/{id}/memory/{path...}", api_memory_delete,
           .query = QUERY("base_version", "reason"), .status = 204,
           .summary = "Deletes a file; its versions stay."),
    GET("/api/v1/agents/{id}/memory-history/{path...}", api_memory_history,
        .query = QUERY("before", "limit"), .gives = "MemoryHistory",
        .summary = "The versions of a file, newest first: who, when and why."),
    POST("/api/v1/agents/{id}/memory-restore/{path...}", api_memory_restore, SMALL,
         .takes = "MemoryRestore", .gives = "MemoryFile",
         .summary = "Makes an earlier version the newest, also of a deleted file."),
    GET("/api/v1/agents/{id}/ws", api_agents_ws, .query = QUERY("thread", "after"),
        .answer = SERVE_WEBSOCKET, .summary = "Speaks with an agent in a thread."),
    GET("/api/v1/activity", api_activity_get, .query = QUERY("after"), .answer = SERVE_SSE,
        .gives = "Activity",
        .summary = "That something changed, anywhere, without content; type hello comes first."),
    GET("/api/v1/activity/ws", api_activity_ws, .query = QUERY("after"), .answer = SERVE_WEBSOCKET,
        .summary = "The same over a WebSocket, which takes no connection from a page's requests."),
    GET("/api/v1/agents/{id}/skills", api_skills_list, .gives = "SkillList",
        .summary = "An agent's own skills and the shared ones, in order of name."),
    POST("/api/v1/agents/{id}/skills", api_skills_add, LIMIT_HTTP_BODY_BYTES,
         .takes = "SkillRequest", .gives = "SkillAnswer", .status = 201,
         .summary = "Adds a skill."),
    POST("/api/v1/agents/{id}/skills/import", api_skills_import, LIMIT_HTTP_BODY_BYTES,
         .gives = "SkillAnswer", .status = 201, .bytes = true,
         .summary = "Adds a skill from an archive (tar, tar.gz or zip) with all its files."),
    GET("/api/v1/agents/{id}/skills/{skillId}", api_skills_get, .gives = "SkillAnswer",
        .summary = "A skill, by id or name."),
    PUT("/api/v1/agents/{id}/skills/{skillId}", api_skills_change, LIMIT_HTTP_BODY_BYTES,
        .takes = "SkillRequest", .gives = "SkillAnswer",
        .summary = "Changes what is given of a skill; enabled switches it on or off."),
    DELETE("/api/v1/agents/{id}/skills/{skillId}", api_skills_remove, .status = 204,
           .summary = "Removes a skill with its files; their versions are kept."),
    POST("/api/v1/agents/{id}/skills/{skillId}/restore", api_skills_restore, SMALL,
         .gives = "SkillAnswer",
         .summary = "Brings a removed skill back with all its files, as it was."),
    GET("/api/v1/agents/{id}/skills/{skillId}/files/{path...}", api_skills_file,
        .gives = "SkillFile", .summary = "A file of a skill."),
    POST("/api/v1/skills/validate", api_skills_validate, LIMIT_HTTP_BODY_BYTES,
         .takes = "SkillText", .gives = "SkillVerdict", .bytes = true,
         .summary = "Checks the text of a SKILL.md, or an archive, without keeping it."),
    GET("/api/v1/agents/{id}/timers", api_timers_of_agent, .gives = "TimerList",
        .summary = "An agent's timers, in the order they were made."),
    POST("/api/v1/agents/{id}/timers", api_timers_add, SMALL, .takes = "TimerForm",
         .gives = "Timer", .status = 201,
         .summary = "Makes a timer: a recurrence rule, a local time, or an interval."),
    GET("/api/v1/wakes", api_wakes_list,
        .query = QUERY("agent", "status", "reason", "reasonId", "after", "limit"),
        .gives = "WakeList",
        .summary = "What woke agents, people among it, and what did not and why; newest first."),
    GET("/api/v1/wakes/{key}", api_wakes_get, .gives = "Wake",
        .summary = "A wake, with what it is about."),
    POST("/api/v1/agents/{id}/wake", api_agents_wake, SMALL, .takes = "WakeRequest",
         .gives = "Wake", .status = 202,
         .summary =
             "Wakes an agent now; the same requestId again wakes nobody twice. An agent that is "
             "paused, stopped or destroyed is not woken: that is refused."),
    GET("/api/v1/timers", api_timers_list, .query = QUERY("agent"), .gives = "TimerList",
        .summary = "The timers of all agents."),
    POST("/api/v1/timers/preview", api_timers_preview, SMALL, .takes = "TimerPreview",
         .gives = "TimerOccurrences",
         .summary = "When a recurrence rule would fire; nothing is stored."),
    GET("/api/v1/timers/{id}", api_timers_get, .gives = "Timer",
        .summary = "A timer, and what it skipped lately."),
    PATCH("/api/v1/timers/{id}", api_timers_change, SMALL, .takes = "TimerForm", .gives = "Timer",
          .summary = "Changes what is given; null takes a member away."),
    DELETE("/api/v1/timers/{id}", api_timers_remove, .status = 204, .summary = "Removes a timer."),
    GET("/api/v1/agents/{id}/subscriptions", api_subscriptions_of_agent,
        .gives = "SubscriptionList", .summary = "What an agent waits for."),
    POST("/api/v1/agents/{id}/subscriptions", api_subscriptions_add, SMALL,
         .takes = "SubscriptionForm", .gives = "Subscription", .status = 201,
         .summary = "Lets an agent wait for something; of a webhook token and url are said once."),
    GET("/api/v1/subscriptions", api_subscriptions_list, .query = QUERY("agent"),
        .gives = "SubscriptionList", .summary = "What agents wait for."),
    POST("/api/v1/subscriptions/preview", api_subscriptions_preview, SMALL,
         .takes = "SubscriptionPreview", .gives = "SubscriptionMatches",
         .summary = "What would have woken the agent in the last days, all of it counted and the "
                    "newest listed; nothing is stored."),
    GET("/api/v1/subscriptions/{id}", api_subscriptions_get, .gives = "Subscription",
        .summary = "A subscription, by its id or a unique beginning of it."),
    PATCH("/api/v1/subscriptions/{id}", api_subscriptions_change, SMALL,
          .takes = "SubscriptionForm", .gives = "Subscription",
          .summary = "Changes what is given; its source stays."),
    DELETE("/api/v1/subscriptions/{id}", api_subscriptions_remove, .status = 204,
           .summary = "Removes a subscription; a webhook's token is forgotten."),
    POST("/api/v1/hooks/{token}", api_hooks_call, WEBHOOK_BODY_MAX, .access = SERVE_PUBLIC,
         .gives = "HookAnswer", .status = 202, .bytes = true, .once = true,
         .summary = "Calls a webhook: the body is what the agent is told. No token but this one "
                    "is needed."),
    GET("/api/v1/agents/{id}/links", api_links_of_agent, .query = QUERY("limit"),
        .gives = "AgentLinks",
        .summary = "An agent's links: its state, newest message and report heads; records that its "
                   "acts changed and that its reports rest on, newest first."),
    GET("/api/v1/links", api_links_to, .query = QUERY("to", "limit"), .gives = "AgentLinks",
        .summary = "What agents did to a record, and which reports rest on it."),
    GET("/api/v1/agents/{id}/reports", api_reports_list, .query = QUERY("scope", "after", "limit"),
        .gives = "ReportList", .summary = "An agent's reports, newest first."),
    GET("/api/v1/agents/{id}/reports/current", api_reports_current, .query = QUERY("scope"),
        .gives = "CurrentReport",
        .summary = "What an agent has to say for now, and whether it is stale and why."),
    GET("/api/v1/agents/{id}/sessions", api_sessions_list, .query = QUERY("open"),
        .gives = "SessionList",
        .summary = "Sessions of people with an agent, the last word first; open=true: open ones."),
    GET("/api/v1/agents/{id}/sessions/{sid}", api_sessions_get, .gives = "Session",
        .summary = "A session."),
    DELETE("/api/v1/agents/{id}/sessions/{sid}", api_sessions_close, .status = 204,
           .summary = "Closes a session; speaking in it opens it again."),
    GET("/api/v1/search", api_search, .query = QUERY("q", "agent", "scope", "limit"),
        .gives = "SearchResults",
        .summary = "What was said, written and named with these words; the best first. scope: all, "
                   "journal or agents."),
    GET("/api/v1/models", api_models_list, .gives = "ModelList",
        .summary = "The models there are."),
    POST("/api/v1/models/reload", api_models_reload, SMALL, .gives = "ModelList",
         .summary = "Reads config.yaml again: models that are new there can be used at once, "
                    "others stay as they are until the next start."),
    POST("/api/v1/models/{id}/consent", api_models_agree, SMALL, .takes = "ConsentRequest",
         .gives = "Model", .summary = "Agrees to send text to a model's provider."),
    DELETE("/api/v1/models/{id}/consent", api_models_withdraw, .gives = "Model",
           .summary = "Takes a consent back; nothing more is sent from then on."),
    POST("/api/v1/credentials/slack", api_slack_set, SMALL, .takes = "SlackToken",
         .gives = "SlackStatus", .summary = "Checks a bot token with Slack and keeps it."),
    GET("/api/v1/credentials/slack/status", api_slack_status, .gives = "SlackStatus",
        .summary = "Whether Slack is connected."),
    POST("/api/v1/credentials/slack/test", api_slack_test, SMALL, .gives = "SlackStatus",
         .summary = "Asks Slack whether the token is still good."),
    DELETE("/api/v1/credentials/slack", api_slack_remove, .status = 204,
           .summary = "Forgets the Slack token."),
    POST("/api/v1/credentials/google/start", api_google_start, SMALL, .takes = "GoogleStart",
         .gives = "GoogleFlow", .summary = "Begins to ask a person for access to an account."),
    POST("/api/v1/credentials/google/finish", api_google_finish, SMALL, .takes = "GoogleFinish",
         .gives = "GoogleStatus", .summary = "What a client's own redirect address was told."),
    GET("/api/v1/credentials/google/status", api_google_status, .gives = "GoogleStatus",
        .summary = "Whether Google is connected, or being connected."),
    DELETE("/api/v1/credentials/google", api_google_remove, .status = 204, .also = 200,
           .gives = "GoogleStatus",
           .summary = "Takes the access back at Google and forgets the account."),
    GET("/oauth/google/callback", api_google_callback, .access = SERVE_LOCAL, .answer = SERVE_PAGE,
        .query = QUERY("code", "state", "error", "scope", "authuser", "prompt", "hd", "iss",
                       "error_description"),
        .summary = "Where the browser comes back from Google."),
    GET("/api/v1/secrets", api_secrets_list, .gives = "SecretList",
        .summary = "The names of all secrets and what uses them; never a value."),
    PUT("/api/v1/secrets/{name}", api_secrets_set, SMALL, .takes = "SecretValue", .status = 204,
        .summary = "Keeps a secret; its value is never shown again."),
    POST("/api/v1/secrets/{name}/test", api_secrets_test, SMALL, .gives = "SecretTest",
         .summary = "Whether the secret can be read."),
    DELETE("/api/v1/secrets/{name}", api_secrets_remove, .status = 204,
           .summary = "Removes a secret from every store."),
};

static void heard(struct run_listener *listener, const struct run_public *event)
{
    struct api *api = CONTAINER_OF(listener, struct api, listener);

    api_followers_publish(api, event);
    api_activity_run(api, event);
    if (api->config.find && !event->partial)
        find_wake(api->config.find);
}

static void journal_written(struct journal_listener *listener)
{
    struct api *api = CONTAINER_OF(listener, struct api, journal_listener);

    api_activity(api, &(struct api_notice){ .type = "journal", .kind = "changed" });
    if (api->config.find)
        find_wake(api->config.find);
}

static void wakes_changed(struct waker_listener *listener)
{
    struct api *api = CONTAINER_OF(listener, struct api, wake_listener);

    api_activity(api, &(struct api_notice){ .type = "wake", .kind = "changed" });
}

static void events_elsewhere(struct waker_listener *listener)
{
    api_followers_look(CONTAINER_OF(listener, struct api, wake_listener));
}

struct api *api_new(const struct api_config *config)
{
    struct api *api = NEW(struct api);

    *api = (struct api){ .config = *config, .listener = { .event = heard } };
    api->routes[0] = (struct serve_routes){
        .table = table,
        .count = ARRAY_LEN(table),
        .arg = api,
        .schemas = api_schema_files[0].bytes,
        .changed = api_changed,
    };
    api->schemas = BUF_INIT(MIB);
    api_journal_schemas(&api->schemas);
    api->routes[1] = (struct serve_routes){
        .table = api_journal_table,
        .count = api_journal_count,
        .arg = api,
        .schemas = buf_str(&api->schemas),
    };
    runner_listen(config->runner, &api->listener);
    api->journal_listener.written = journal_written;
    if (config->journal)
        journal_listen(config->journal, &api->journal_listener);
    api->wake_listener.changed = wakes_changed;
    api->wake_listener.events = events_elsewhere;
    if (config->waker)
        waker_tell(config->waker, &api->wake_listener);
    api_hooks_init(api);
    return api;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    runner_unlisten(api->config.runner, &api->listener);
    if (api->config.journal)
        journal_unlisten(api->config.journal, &api->journal_listener);
    if (api->config.waker)
        waker_tell(api->config.waker, NULL);
    buf_release(&api->schemas);
    api_followers_free(api);
    api_previews_free(api);
    api_hooks_end(api);
    serve_feed_free(api->activity);
    free(api);
}

const struct serve_routes *api_routes(struct api *api)
{
    return api->routes;
}
