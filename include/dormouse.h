/* Dormouse as a library: agents that think with your model, act with your tools, and keep a log
 * that survives a crash.
 *
 *     struct dm_agent_config config = DM_AGENT_CONFIG_INIT;
 *     struct dm_prompt prompt = DM_PROMPT_INIT;
 *     config.directory = "/var/lib/me";
 *     config.model_call = my_model;
 *     dm_open(&config, &house, &error);
 *     dm_start(house, &(struct dm_prompt){ sizeof(struct dm_prompt), "tidy this folder" }, run,
 * &error); dm_run_until(house, run, -1, &error); dm_close(house);
 *
 * Threads: a house belongs to the thread that opened it; every function here, and every callback,
 * runs in that thread. Nothing happens between calls: the house works only inside dm_step() and
 * dm_run_until(). A foreign event loop watches dm_fd() for reading, waits no longer than
 * dm_timeout_ms(), and calls dm_step(). Callbacks may call anything here but dm_step(),
 * dm_run_until() and dm_close().
 *
 * Functions return 0 or more for success and -1 for failure, with the reason in *error (which may
 * be NULL). Texts are UTF-8 and end with NUL; what a callback is given is valid until it returns.
 *
 * Stability: structs that you fill begin with their size and grow only at the end; structs that
 * you are given grow only at the end, and come one by one, never as arrays of structs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_H
#define DORMOUSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DM_API __attribute__((visibility("default")))
#else
#define DM_API
#endif

#define DM_VERSION_MAJOR 0
#define DM_VERSION_MINOR 1
#define DM_ID_SIZE       72 /* bytes of a run's or an item's id with its NUL */

struct dm_house;
struct dm_answer;
struct dm_tool_job;

/* "0.1.0", of the library that is linked. */
DM_API const char *dm_version(void);

struct dm_error {
    char code[40]; /* "not_found": CONTRACTS' codes, stable */
    char message[960];
};

/* ---- the model ---- */

enum dm_role { DM_ROLE_NONE = 0, DM_USER, DM_ASSISTANT, DM_TOOL };

struct dm_tool_call {
    const char *id, *name;
    const char *arguments; /* JSON */
};

struct dm_message {
    int role; /* enum dm_role */
    const char *text;
    const struct dm_tool_call *const *calls; /* assistant: what it asked for */
    size_t call_count;
    const char *call_id, *tool_name; /* tool: whose result text is */
    int failed;
};

struct dm_tool_description {
    const char *name, *description;
    const char *input_schema; /* JSON */
};

struct dm_model_request {
    const char *system;
    const struct dm_message *const *messages;
    size_t message_count;
    const struct dm_tool_description *const *tools;
    size_t tool_count;
    const char *present; /* when and where it is asked; goes behind the last message */
};

/* Thinks. Answers with the functions below, before it returns or later, from a callback of yours in
 * the same thread. -1: it can't, and dm_answer_* must not be called. */
typedef int dm_model_fn(void *arg, const struct dm_model_request *request,
                        struct dm_answer *answer);

/* A piece of the text; it is streamed to whoever listens. */
DM_API void dm_answer_text(struct dm_answer *answer, const char *text);
DM_API void dm_answer_thinking(struct dm_answer *answer, const char *text);
/* Asks for a tool. id NULL: one is made. arguments: JSON. */
DM_API void dm_answer_call(struct dm_answer *answer, const char *id, const char *name,
                           const char *arguments);
DM_API void dm_answer_usage(struct dm_answer *answer, int64_t input_tokens, int64_t output_tokens);
/* One of these ends the answer, exactly once, also when the run was cancelled meanwhile or the
 * house closed. The answer must not be used afterwards. code: "provider_failed", "rate_limited",
 * "context_too_long", "timeout"; another becomes provider_failed. */
DM_API void dm_answer_done(struct dm_answer *answer);
DM_API void dm_answer_fail(struct dm_answer *answer, const char *code, const char *message);

/* ---- the house ---- */

/* An event of a run as one line of JSON: init, text, tool_use, tool_result, approval_gate, waiting,
 * error, done ... (docs/http.md). Recorded ones come once, after they are durable; pieces of text
 * (isPartial) may come before. */
typedef void dm_event_fn(void *arg, const char *run_id, const char *event_json);

struct dm_agent_config {
    size_t size;             /* sizeof(struct dm_agent_config) */
    const char *directory;   /* created when absent; NULL: a temporary one, removed at the end */
    const char *agent_name;  /* NULL: "Planner" */
    dm_model_fn *model_call; /* NULL: the built-in offline model */
    void *model_arg;
    dm_event_fn *on_event; /* may be NULL */
    void *event_arg;
    const char *cwd; /* where tools work; NULL: the process's */
    int no_sandbox;  /* file and shell tools without walls: only in a container of your own */
    const char *const *allow_write; /* directories besides cwd, ends with NULL; NULL: none */
};
#define DM_AGENT_CONFIG_INIT                                                                       \
    {                                                                                              \
        sizeof(struct dm_agent_config), NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL          \
    }

/* Runs that an earlier process left under way go on with the first steps. conflict: another
 * process has the directory. */
DM_API int dm_open(const struct dm_agent_config *config, struct dm_house **ret_house,
                   struct dm_error *error);
/* Runs under way are left as they are: the next dm_open() of the same directory continues them.
 * NULL is allowed. */
DM_API void dm_close(struct dm_house *house);

/* ---- runs ---- */

enum dm_mode { DM_STRUCTURED = 0, DM_WIGGUM };

struct dm_prompt {
    size_t size; /* sizeof(struct dm_prompt) */
    const char *prompt;
    const char *session; /* a conversation of your naming; NULL: one of its own */
    const char *turn;    /* the same turn sent again starts nothing new; NULL: a new one */
    int mode;            /* enum dm_mode */
    int64_t max_iterations, max_tokens, max_tool_calls, max_ms; /* 0: the default */
};
#define DM_PROMPT_INIT                                                                             \
    {                                                                                              \
        sizeof(struct dm_prompt), NULL, NULL, NULL, DM_STRUCTURED, 0, 0, 0, 0                      \
    }

DM_API int dm_start(struct dm_house *house, const struct dm_prompt *prompt,
                    char ret_run_id[DM_ID_SIZE], struct dm_error *error);
DM_API int dm_cancel(struct dm_house *house, const char *run_id, struct dm_error *error);
DM_API int dm_set_mode(struct dm_house *house, const char *run_id, int mode,
                       struct dm_error *error);

enum dm_decision { DM_DECISION_NONE = 0, DM_APPROVE, DM_REJECT, DM_EDIT, DM_ANSWER };
/* Added to DM_APPROVE or DM_EDIT (DM_APPROVE | DM_ANYWAY): although the item is dangerous. */
#define DM_ANYWAY 0x100
enum dm_scope { DM_ONCE = 0, DM_FOR_RUN, DM_ALWAYS };
/* A person's word on what waits (itemId or gateId of an event). text: the reason of a rejection,
 * the new arguments of an edit (JSON), the answer to a question; else NULL. 1 applied now, 0 it had
 * been. A yes to an item that has "danger" needs DM_ANYWAY, else confirmation_required: show the
 * sentences and ask again. Never let an agent's output decide. */
DM_API int dm_decide(struct dm_house *house, const char *item_id, int decision, int scope,
                     const char *text, struct dm_error *error);

enum dm_state { DM_STATE_NONE = 0, DM_RUNNING, DM_WAITING, DM_DONE, DM_CANCELLED, DM_FAILED };
/* An enum dm_state, or -1. */
DM_API int dm_run_state(struct dm_house *house, const char *run_id, struct dm_error *error);

/* ---- working ---- */

/* Works until the run has ended or waits for a person, at most timeout_ms (-1: as long as it
 * takes). Returns the enum dm_state that it has then. */
DM_API int dm_run_until(struct dm_house *house, const char *run_id, int timeout_ms,
                        struct dm_error *error);
/* Does what can be done now, without waiting: 1 when there may be more at once, else 0. */
DM_API int dm_step(struct dm_house *house, struct dm_error *error);
DM_API int dm_fd(const struct dm_house *house);
/* How long a foreign loop may wait before the next dm_step(); -1: until dm_fd() is readable. */
DM_API int dm_timeout_ms(const struct dm_house *house);

/* ---- tools ---- */

/* Does it. Ends with dm_tool_done() or dm_tool_fail(), before it returns or later. -1: it failed,
 * and neither must be called. operation_id is the same when an interrupted call is tried again. */
typedef int dm_tool_fn(void *arg, const char *arguments_json, const char *operation_id,
                       struct dm_tool_job *job);
/* output: JSON. Exactly one of them, once, also after a cancel. */
DM_API void dm_tool_done(struct dm_tool_job *job, const char *output_json);
DM_API void dm_tool_fail(struct dm_tool_job *job, const char *code, const char *message);

/* contract: JSON with at least name, description and inputSchema; see docs/tools.md for the rest.
 * What is not said is taken as dangerous: a call needs approval, changes things, and is not
 * repeated by itself. */
DM_API int dm_add_tool(struct dm_house *house, const char *contract_json, dm_tool_fn *fn, void *arg,
                       struct dm_error *error);

#ifdef __cplusplus
}
#endif
#endif
