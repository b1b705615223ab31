/* Shared by the files of the interface.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_API_INT_H
#define DORMOUSE_SERVE_API_INT_H

#include "agent/agent.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "builder/builder.h"
#include "journal/journal.h"
#include "memory/conversation.h"
#include "memory/message.h"
#include "serve/api.h"
#include "serve/feed.h"
#include "serve/request.h"
#include "wake/wake.h"

struct api {
    struct api_config config;
    struct serve_routes routes[API_ROUTE_TABLES];
    struct buf schemas; /* of the journal's records */
    struct run_listener listener;
    struct journal_listener journal_listener;
    struct waker_listener wake_listener;
    struct serve_feed *feed; /* every client that follows a run or a thread; made with the first */
    struct api_follower *followers;
    struct loop_timer look; /* until they are looked at for what other processes recorded */
    struct api_look *looking;
    struct api_preview *previews; /* under way */
    struct loop_timer refused;    /* until calls of webhooks that were refused are written down */
    struct serve_feed *activity;  /* that something changed; made with the first reader */
    uint64_t activity_id;         /* of the newest notice; 0: none yet */
};

struct api *api_of(struct serve_request *request);
/* The person who speaks: whoever has the token. */
#define API_OWNER STR("owner")

/* ---- api_input.c: each answers the request itself when it returns -1 ---- */

/* The body as a JSON object, {} when there is none; fields are read into record. What record points
 * to lives as long as *ret_body. */
int api_body(struct serve_request *request, const struct json_field *fields, void *record,
             struct json_object **ret_body);
/* The same without a table. */
int api_object(struct serve_request *request, struct json_object **ret_body);
/* Only the query parameters that the route names. */
int api_check_query(struct serve_request *request);
/* An integer of the query; *value stays what it was when it is absent. */
int api_query_i64(struct serve_request *request, const char *name, int64_t min, int64_t max,
                  int64_t *value);
/* true or false; absent is false. */
int api_read_flag(struct serve_request *request, const char *name, bool *ret_flag, struct err *err);
/* What makes it another request than one before: route, parameters, query and body. */
void api_hash_request(struct serve_request *request, char ret_hash[SHA256_TEXT_SIZE]);
/* The run of {key}, the item or agent of {id}: by a unique beginning of at least 4 characters. */
int api_run(struct serve_request *request, struct run_info *ret_info);
int api_item(struct serve_request *request, struct inbox_item *ret_item);
int api_agent(struct serve_request *request, struct agent *ret_agent);

/* The same without a request. */
int api_find_agent(struct api *api, struct str id, struct arena *arena, struct agent *ret_agent,
                   struct err *err);
int api_read_mode(struct str text, enum run_mode *ret_mode, struct err *err);
/* A run's limits stay as they were when it began: -1 when a new one is given. */
int api_refuse_limit(struct json_object *max_iterations, struct err *err);

/* ---- api_json.c ---- */

/* JSON text as it is; null when it is none. */
void api_put_json(struct json_writer *w, const char *key, struct str text);

/* What people call a record of the journal: its title or name, or how its text begins. */
struct record;
struct str api_record_title(const struct record *record);
void api_write_run(struct json_writer *w, const struct run_info *info);
void api_write_item(struct json_writer *w, const struct inbox_item *item);
/* warnings NULL or none: without that member. */
/* budget NULL: nothing is said of it. */
void api_write_agent(struct json_writer *w, const struct agent_status *status,
                     const struct run_budget *budget, const struct builder_warnings *warnings);
void api_write_thread(struct json_writer *w, const struct conversation *conversation);
void api_write_message(struct json_writer *w, const struct message *message);
/* {"type":"error",...}: what a WebSocket client is told. */
/* after: the message that it comes after. */
void api_write_end(struct json_writer *w, const struct run_ending *end, int64_t after);
void api_write_error(struct json_writer *w, const struct err *err);

/* What is answered between these two belongs to what the handler wrote in this tick: if that can't
 * be kept, the client is told so instead. -1: it can't be already, and the request is answered.
 * Does nothing for GET. */
int api_reply_begin(struct serve_request *request);
void api_reply_end(struct serve_request *request);
/* Ends the text and answers with it, as above; too_large when it did not fit. */
void api_reply(struct serve_request *request, int status, struct buf *json, struct json_writer *w);

/* ---- api_follow.c: clients that read events as they come ---- */

struct api_follower;
struct api_follow {
    struct str thread_id;
    struct str run_id;   /* empty: of all runs of the thread; else it ends with the run */
    struct str agent_id; /* whom a WebSocket client speaks to */
    int64_t after;       /* the seq that the client has */
    bool held;           /* the client may say first where it was: api_follower_go() */
};
struct api_follower *api_follower_new(struct api *api, const struct api_follow *what);
/* Gives it to the client that the request becomes; frees it when the request was refused. */
void api_follower_open_sse(struct api_follower *follower, struct serve_request *request);
void api_follower_open_ws(struct api_follower *follower, struct serve_request *request);
struct api *api_follower_api(const struct api_follower *follower);
struct str api_follower_thread(const struct api_follower *follower);
struct str api_follower_agent(const struct api_follower *follower);
/* Begins, when it was held. */
void api_follower_go(struct api_follower *follower);
/* What comes after this seq and was not sent on this connection yet, then live. */
int api_follower_resume(struct api_follower *follower, int64_t after, struct err *err);
/* It is told when what was written for it in this tick can't be kept. */
void api_follower_promise(struct api_follower *follower);
/* To this client alone, now. */
void api_follower_tell(struct api_follower *follower, const char *type, struct str json);

void api_followers_publish(struct api *api, const struct run_public *event);
/* Another process may have recorded events: those who are live get them from the log. Cheap. */
void api_followers_look(struct api *api);
void api_followers_free(struct api *api);

/* ---- api_subscriptions.c ---- */

void api_hooks_init(struct api *api);
/* What was refused and is not written down yet is now. */
void api_hooks_end(struct api *api);

/* ---- api_preview.c ---- */

/* Those that are under way are not answered any more. */
void api_previews_free(struct api *api);

/* ---- api_activity.c ---- */

void api_activity_run(struct api *api, const struct run_public *event);
/* serve_routes.changed */
void api_changed(void *arg, struct serve_request *request);

/* ---- api_agents.c ---- */
/* Answers with the agent as it is now, with its state. */
void api_reply_agent(struct serve_request *request, int status, const char *id,
                     const struct builder_warnings *warnings);

/* ---- api_threads.c ---- */
/* The thread {t} of the agent {id}: its whole id, or what comes after AGENT:session:. Answers the
 * request itself when it returns -1. */
int api_thread(struct serve_request *request, struct thread *ret_thread);

/* ---- api_ws.c ---- */
void api_ws_message(struct api_follower *follower, struct str text);
void api_ws_error(struct api_follower *follower, const struct err *err);

/* ---- api_inbox.c ---- */
/* {"decision","scope","input","edited_content","reason","answer"} as a decision on this item; texts
 * lie in arena. edited_content is the whole text of a memory file, instead of input. */
struct api_decision {
    struct str decision, scope, reason;
    struct json_object *input, *answer, *edited;
    bool anyway;
};
int api_read_decision(const struct api_decision *from, const struct inbox_item *item,
                      struct arena *arena, struct inbox_decision *ret_decision, struct err *err);

/* ---- handlers ---- */
void api_run_post(struct serve_request *request);
void api_run_again(struct serve_request *request);
void api_runs_list(struct serve_request *request);
void api_runs_get(struct serve_request *request);
void api_runs_events(struct serve_request *request);
void api_runs_cancel(struct serve_request *request);
void api_runs_mode(struct serve_request *request);
void api_runs_trace(struct serve_request *request);
void api_runs_replay(struct serve_request *request);
void api_inbox_list(struct serve_request *request);
void api_inbox_get(struct serve_request *request);
void api_inbox_decide(struct serve_request *request);
void api_grants_list(struct serve_request *request);
void api_grants_revoke(struct serve_request *request);
void api_kill_list(struct serve_request *request);
void api_kill_on(struct serve_request *request);
void api_kill_off(struct serve_request *request);
void api_agents_list(struct serve_request *request);
void api_agents_get(struct serve_request *request);
void api_agents_pause(struct serve_request *request);
void api_agents_resume(struct serve_request *request);
void api_agents_create(struct serve_request *request);
void api_agents_change(struct serve_request *request);
void api_agents_duplicate(struct serve_request *request);
void api_agents_destroy(struct serve_request *request);
void api_agents_export(struct serve_request *request);
void api_agents_import(struct serve_request *request);
void api_agents_tools(struct serve_request *request);
void api_tools_list(struct serve_request *request);
void api_templates_list(struct serve_request *request);
void api_wizard_open(struct serve_request *request);
void api_wizard_threads(struct serve_request *request);
void api_threads_list(struct serve_request *request);
void api_threads_get(struct serve_request *request);
void api_threads_change(struct serve_request *request);
void api_threads_delete(struct serve_request *request);
void api_threads_restore(struct serve_request *request);
void api_threads_messages(struct serve_request *request);
void api_wakes_list(struct serve_request *request);
void api_wakes_get(struct serve_request *request);
void api_agents_wake(struct serve_request *request);
void api_timers_list(struct serve_request *request);
void api_timers_of_agent(struct serve_request *request);
void api_timers_get(struct serve_request *request);
void api_timers_add(struct serve_request *request);
void api_timers_change(struct serve_request *request);
void api_timers_remove(struct serve_request *request);
void api_timers_preview(struct serve_request *request);
void api_memory_list(struct serve_request *request);
void api_memory_get(struct serve_request *request);
void api_memory_put(struct serve_request *request);
void api_memory_delete(struct serve_request *request);
void api_memory_history(struct serve_request *request);
void api_memory_restore(struct serve_request *request);
void api_search(struct serve_request *request);
void api_agents_ws(struct serve_request *request);
void api_activity_get(struct serve_request *request);
void api_activity_ws(struct serve_request *request);
void api_models_list(struct serve_request *request);
void api_models_reload(struct serve_request *request);
void api_models_agree(struct serve_request *request);
void api_models_withdraw(struct serve_request *request);
void api_slack_set(struct serve_request *request);
void api_slack_status(struct serve_request *request);
void api_slack_test(struct serve_request *request);
void api_slack_remove(struct serve_request *request);
void api_google_start(struct serve_request *request);
void api_google_finish(struct serve_request *request);
void api_google_callback(struct serve_request *request);
void api_google_status(struct serve_request *request);
void api_google_remove(struct serve_request *request);
void api_secrets_list(struct serve_request *request);
void api_secrets_set(struct serve_request *request);
void api_secrets_test(struct serve_request *request);
void api_secrets_remove(struct serve_request *request);
void api_skills_list(struct serve_request *request);
void api_skills_add(struct serve_request *request);
void api_skills_import(struct serve_request *request);
void api_skills_validate(struct serve_request *request);
void api_skills_get(struct serve_request *request);
void api_skills_change(struct serve_request *request);
void api_skills_remove(struct serve_request *request);
void api_skills_restore(struct serve_request *request);
void api_skills_file(struct serve_request *request);
void api_subscriptions_of_agent(struct serve_request *request);
void api_subscriptions_list(struct serve_request *request);
void api_subscriptions_get(struct serve_request *request);
void api_state_get(struct serve_request *request);
void api_state_change(struct serve_request *request);
void api_subscriptions_add(struct serve_request *request);
void api_subscriptions_change(struct serve_request *request);
void api_subscriptions_remove(struct serve_request *request);
void api_subscriptions_preview(struct serve_request *request);
void api_hooks_call(struct serve_request *request);
void api_links_of_agent(struct serve_request *request);
void api_links_to(struct serve_request *request);
void api_reports_list(struct serve_request *request);
void api_reports_current(struct serve_request *request);
/* Of a subscription or timer of such an agent; NULL: it may wake. */
const char *api_interactive_warning(const struct agent *agent);
void api_put_warning(struct json_writer *w, const char *warning);
void api_sessions_list(struct serve_request *request);
void api_sessions_get(struct serve_request *request);
void api_sessions_close(struct serve_request *request);

#endif
