/* What the files of this room share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CONNECT_CONNECT_INT_H
#define DORMOUSE_CONNECT_CONNECT_INT_H

#include <json-c/json_object.h>

#include "base/arena.h"
#include "base/buf.h"
#include "connect/connect.h"
#include "loop/http.h"

#define CONNECT_ANSWER_MAX (12u << 20) /* bytes of one answer */

/* ---- gate.c: the one way out ---- */

struct gate;
struct gate_call;

struct gate_request {
    const char *method; /* NULL: GET */
    const char *url;
    const char *const *hosts; /* that may be asked over https, ends with NULL */
    struct str token;         /* for Authorization; empty: none */
    struct str body;
    const char *body_type;
    const char *if_match; /* an entity tag, or NULL */
    bool safe;            /* may be sent twice although it is a POST */
    int64_t max_body;     /* bytes of the answer; 0: CONNECT_ANSWER_MAX */
    size_t tag;           /* for who asks several things at once: task->tag when it is answered */
};

/* Valid during the call. */
struct gate_answer {
    struct err err; /* ERR_NONE: an answer came, whatever its status */
    bool unsure;    /* it may have been done although nobody said so */
    int status;
    struct str type, body;
    struct str scopes;      /* X-OAuth-Scopes */
    int64_t retry_after_ms; /* -1: not said */
};
typedef void gate_fn(void *arg, const struct gate_answer *answer);

struct gate *gate_new(struct loop *loop, struct http_client *http);
/* Ends all calls as cancelled. A client that was given to gate_new() has been freed before. */
void gate_stop(struct gate *gate);
void gate_free(struct gate *gate);
/* The address of a service that the person configured: its scheme, host and port may be asked. */
void gate_allow(struct gate *gate, const char *url);
/* Copies the request. network_denied when the host is not one that may be asked. fn comes once, in
 * a later tick. */
int gate_start(struct gate *gate, const struct gate_request *request, gate_fn *fn, void *arg,
               struct gate_call **ret_call, struct err *err);
/* fn(cancelled) follows in a later tick. */
void gate_cancel(struct gate_call *call);
/* The body as a JSON object. Says what is wrong with an answer that is none. */
int gate_json(const char *who, const struct gate_answer *answer, struct json_object **ret_json,
              struct err *err);
/* Percent-encodes all but unreserved characters. */
void gate_encode(struct buf *out, struct str text);

/* ---- credential_store.c ---- */

struct credential {
    const char *provider, *secret_ref;
    struct str account, scopes; /* JSON */
    int64_t checked_at;         /* 0: never */
};
/* 1 found, 0 none; texts lie in arena. */
int credential_find(struct domain *domain, const char *provider, struct arena *arena,
                    struct credential *ret_credential, struct err *err);
/* Inside a unit; replaces. */
int credential_save(struct domain *domain, const struct credential *credential, int64_t now_ms,
                    struct err *err);
int credential_remove(struct domain *domain, const char *provider, struct err *err);

/* ---- connect.c ---- */

struct account {
    const char *provider, *title; /* "slack", "Slack" */
    bool configured;
    char *secret_ref;
    struct json_object *info;   /* object */
    struct json_object *scopes; /* array */
    int64_t checked_at;
    char *trouble; /* why it does not work although it is configured, or NULL */
};

struct google;
struct names; /* of channels, by id */

struct google_wait {
    /* err NULL: token is good now. Once, in a later tick. */
    void (*ready)(struct google_wait *wait, struct str token, const struct err *err);
    struct google_wait *next;
    bool queued;
};

struct connect {
    struct connect_config config;
    struct gate *gate;
    struct account slack, google;
    struct google *oauth;
    struct names *channels;
    bool stopping;
};

int64_t connect_now(const struct connect *connect);
/* Writes the account's row, and then takes over info and scopes. */
int account_save(struct connect *connect, struct account *account, const char *secret_ref,
                 struct json_object *info, struct json_object *scopes, struct err *err);
/* Forgets the row and the secret. */
int account_remove(struct connect *connect, struct account *account, struct err *err);
void account_trouble(struct account *account, const char *text);
/* "a b,c" as a JSON array of texts. */
struct json_object *account_scopes(struct str text);
/* The secret of the account, appended; wipe it. */
int account_secret(struct connect *connect, const struct account *account, struct buf *out,
                   struct err *err);
/* secret_unavailable with what to do when the account is not connected. */
int account_check(const struct connect *connect, const struct account *account, struct err *err);

/* ---- task.c: what a tool's job keeps while it asks ---- */

struct task;
typedef void task_step_fn(struct task *task, const struct gate_answer *answer);

/* One question: it waits for a token, or is under way. */
struct asking {
    struct task *task;
    struct gate_call *call; /* under way */
    struct google_wait wait;
    unsigned token_serial;       /* of the token that it was sent with */
    struct gate_request request; /* Google: its texts lie in the job's arena */
    task_step_fn *step;
    /* Is it asked again after this answer? NULL: no. */
    bool (*again)(struct asking *asking, const struct gate_answer *answer);
    struct asking *next;
};

struct task {
    struct tool_job *job;
    struct connect *connect;
    struct asking *asks; /* all that are open */
    size_t tag;          /* of the request whose answer step() has */
    bool ending;         /* nothing new is asked; it ends as `end` when nothing is open */
    struct err end;
    void *data;                         /* the tool's own, and */
    void (*release)(struct task *task); /* what to do with it at the end; may be NULL */
};
/* The job's task; made at the first call. */
struct task *task_of(struct tool_job *job);
/* Sends; step is called with the answer, unless the job was cancelled, which ends it. */
int task_ask(struct task *task, const struct gate_request *request, task_step_fn *step,
             struct err *err);
/* The pieces of it, for questions that need a token first. */
struct asking *task_open(struct task *task, const struct gate_request *request, task_step_fn *step);
int task_send(struct asking *asking, struct err *err);
void task_close(struct asking *asking);
/* Ends the job; what is still open is cancelled first. */
void task_fail(struct task *task, const struct err *err);
/* The same for what changes something: effect_unknown when it may have been done. */
void task_fail_sent(struct task *task, bool unsure, const char *who, const struct err *err);
void task_cancel(struct tool_job *job);
/* Ends the job with this output. */
void task_finish(struct task *task, struct buf *json, struct json_writer *w);
/* Shows a preview. */
void task_show(struct task *task, const char *title, struct str text, struct str version);
/* An argument, empty when absent. */
struct str task_text(const struct task *task, const char *key);
int64_t task_number(const struct task *task, const char *key, int64_t otherwise);
/* The hosts of this tool's contract. */
const char *const *task_hosts(const struct task *task);

/* ---- slack.c ---- */

int slack_check_token(struct str token, struct err *err);
/* Ok, or err in words that help; *unsure: what was asked may have been done all the same. */
int slack_read(const struct gate_answer *answer, bool *unsure, struct json_object **ret_json,
               struct err *err);
void slack_url(const struct connect *connect, const char *method, struct buf *out);

extern const struct tool_impl slack_tools[], gmail_tools[], calendar_tools[];
extern const size_t slack_tool_count, gmail_tool_count, calendar_tool_count;

/* names.c: channel names that were seen, so that previews can show them. */
struct names *names_new(void);
void names_free(struct names *names);
void names_set(struct names *names, struct str id, struct str name);
const char *names_find(const struct names *names, struct str id);

/* ---- google.c ---- */

struct google *google_new(struct connect *connect);
void google_stop(struct google *google);
void google_free(struct google *google);
/* A token that has not expired; refreshes it when needed. */
void google_token(struct google *google, struct google_wait *wait);
void google_unwait(struct google *google, struct google_wait *wait);
/* Which token it is that ready() was given. */
unsigned google_token_serial(const struct google *google);
/* That token was refused: another one next time. */
void google_token_refused(struct google *google, unsigned serial);
/* Asks with a token; refreshed and sent once more when Google says 401. */
void google_task_ask(struct task *task, const struct gate_request *request, task_step_fn *step);
/* Ok (2xx with JSON), or err in words that help. */
int google_read(const struct gate_answer *answer, const char *api, struct json_object **ret_json,
                struct err *err);
void google_url(const struct connect *connect, const char *api, const char *path, struct buf *out);

#endif
