/* Runs: started, spoken to, resumed and told about. Every door goes through here.
 *
 * A run is the program of run/program.h plus its log. What is in memory is a cache: at any moment
 * it can be dropped and built again by feeding the log to the program, which is what happens after
 * a crash, and after a wait. Model requests and tools are effects of selected events: they start
 * after the commit that recorded them and come back as events.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_RUN_RUN_H
#define DORMOUSE_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/budget.h"
#include "agent/inbox.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "bp/bp.h"
#include "change/batch.h"
#include "change/change.h"
#include "files/files.h"
#include "loop/loop.h"
#include "model/model.h"
#include "policy/kill.h"
#include "sandbox/sandbox.h"
#include "tool/tool.h"

struct runner;

enum run_mode { RUN_STRUCTURED = 0, RUN_COOK /* wiggum */ };

/* ---- the stream ---- */

/* An event as clients see it (CONTRACTS §3). Valid during the call. Recorded events come once each,
 * after their commit, in order of seq; partial ones (text and thinking deltas, seq of the event
 * that they will become, offset in bytes) may come between and are not kept. */
struct run_public {
    struct str thread_id, run_id;
    int64_t seq;
    bool partial;
    bool musing;           /* of a partial one: thinking, not text */
    int64_t offset, until; /* of a partial one: its bytes of the whole */
    const char *type;      /* "text" */
    struct str json;       /* the whole event, one line */
};
struct run_listener {
    /* Is this one worth making? NULL: all are. */
    bool (*wants)(struct run_listener *listener, struct str thread_id, struct str run_id,
                  const char *type);
    void (*event)(struct run_listener *listener, const struct run_public *event);
    struct run_listener *next;
};
void runner_listen(struct runner *runner, struct run_listener *listener);
void runner_unlisten(struct runner *runner, struct run_listener *listener);

/* On a shared database: that another process has recorded events is told here (db/listen.h). What
 * they are is in the log. */
#define RUN_EVENTS_CHANNEL "dormouse_events"

/* Recorded public events of a thread after a seq, oldest first, until fn returns false. run_id
 * empty: of all its runs. */
int run_events_after(struct runner *runner, struct str thread_id, struct str run_id, int64_t after,
                     bool (*fn)(void *arg, const struct run_public *event), void *arg,
                     struct err *err);

/* Up to where a listener has text and thinking of the event that comes next. */
struct run_heard {
    int64_t seq, until;
};
/* What a model is saying at this moment in a run of the thread (run_id empty: in the one that is
 * under way), as one partial event for its text and one for its thinking, however many were
 * published; without what was heard (text, thinking). So has the beginning who comes late. */
void run_partials(struct runner *runner, struct str thread_id, struct str run_id,
                  const struct run_heard heard[2],
                  void (*fn)(void *arg, const struct run_public *event), void *arg);

/* ---- starting and steering ---- */

/* Empty or 0: the default. */
struct run_request {
    struct str agent_id; /* the agent that greets */
    struct str prompt;
    struct str session_id; /* thread agentId:session:S, begun with its first run and open until
                            * nobody speaks for the agent's session_ttl_ms; empty: a thread of its
                            * own, for this run alone */
    struct str thread_id;  /* an existing thread of the agent instead: not_found when it is not */
    struct str turn_id;    /* the same turn sent again starts nothing new; empty: a new one */
    struct str model_id;
    struct str cwd; /* absolute; the runner's */
    enum run_mode mode;
    int64_t max_iterations, max_tokens, max_tool_calls, max_ms;
    struct str wake_reason; /* "userInitiated" */
    struct str rerun_of;    /* run id */
    struct str override_code;
    /* A run that nobody spoke to: its id is given (CONTRACTS §5), it has a thread of its own, and
     * prompt is an observation. */
    struct str run_key;
    struct str trigger_source_id; /* what woke it */
    bool observed;           /* prompt is what an earlier run was told, not what somebody says */
    struct str prompt_taint; /* where prompt came from (change/taint.h) */
    /* Called inside the unit that stores the run, after it: what has to stand with it. */
    int (*also)(void *arg, int64_t run_n, struct err *err);
    void *also_arg;
};

struct run_info {
    int64_t n;
    struct str run_id, thread_id, agent_id;
    struct str status, mode, model_id, wait_kind, wait_item; /* wait_item: the oldest pending */
    struct str stop_reason, error_code, error_message, result, prompt, prompt_taint, cwd;
    bool observed;      /* prompt is what it was told, not what somebody said */
    int64_t wait_until; /* of a rest; 0: none */
    int64_t created_at, updated_at, ended_at, iterations, tool_calls, input_tokens, output_tokens,
        cached_tokens, last_seq;
    int64_t active_ms, waited_ms; /* it worked, and waited for a person, until updated_at */
    int64_t max_iterations, max_tokens, max_tool_calls, max_ms; /* 0: no limit */
    double cost;
};

/* Opens a unit of its own; the run begins when it is committed. Repeating a turn_id gives the same
 * run. Texts of ret_info lie in arena. Refused: agent_destroyed, agent_paused, kill_switch_active,
 * not_found, model_not_allowed, too_large, conflict (the thread has a run under way). */
int run_start(struct runner *runner, const struct run_request *request, struct arena *arena,
              struct run_info *ret_info, struct err *err);
/* Nothing stands in the way of a run of this agent; else agent_destroyed, agent_paused or
 * kill_switch_active, with the command that changes that. kill may be NULL. */
int run_may_begin(const struct agent *agent, const struct kill_switches *kill, struct err *err);
/* Like a person pressing stop. 0 also when it had ended already. */
int run_cancel(struct runner *runner, struct str run_id, struct err *err);
/* Ends it here and now, with this reason, whatever it is doing: nothing of it is written after
 * this. Opens a unit. 0 also when it had ended already. */
int run_abort(struct runner *runner, struct str run_id, const struct err *why, struct err *err);
int run_set_mode(struct runner *runner, struct str run_id, enum run_mode mode, struct err *err);
/* A person's word on an inbox item of a run, applied once however often it is sent: 1 now, 0 had
 * been. edit: decision->answer holds the arguments. Units are opened inside. */
int run_decide(struct runner *runner, struct str item_id, const struct inbox_decision *decision,
               struct err *err);
/* kill_set() or kill_clear() through here, so that runs under way hear of it. */
int run_kill(struct runner *runner, enum kill_scope scope, const char *value, const char *reason,
             bool on, struct err *err);
/* Another process on the database may have set or lifted one: what is on is read again, and runs
 * under way hear of it. */
void run_kill_elsewhere(struct runner *runner);
/* Another process on the database may have stored decisions about runs that are under way here. */
void run_decided_elsewhere(struct runner *runner);

int run_get(struct runner *runner, struct str run_id, struct arena *arena,
            struct run_info *ret_info, struct err *err);
/* By a unique beginning of at least 4 characters: what people type. */
int run_find(struct runner *runner, struct str prefix, struct arena *arena,
             struct run_info *ret_info, struct err *err);
/* How the run of this row (a message names it) ended otherwise than with an answer. 1: so it did;
 * 0: it ended well, or goes on. */
struct run_ending {
    struct str run_id, stop_reason, error_code, error_message;
    int64_t at;
};
int run_end_of(struct runner *runner, int64_t run_n, struct arena *arena,
               struct run_ending *ret_end, struct err *err);
/* Did it begin anything that changes something, whatever came of that? 1, 0. */
int run_has_acted(struct domain *domain, int64_t run_n, struct err *err);
/* The run of a thread that has not ended: 1 found, 0 none (or no such thread). */
int run_open_in_thread(struct runner *runner, struct str thread_id, struct arena *arena,
                       struct run_info *ret_info, struct err *err);
/* Newest first, before the run `before` (0: all), at most limit (0: 50). agent_id may be empty. */
int run_list(struct runner *runner, struct str agent_id, int64_t before, int limit,
             struct arena *arena, struct run_info **ret_infos, size_t *ret_count, struct err *err);

/* ---- the runner ---- */

/* How a run ended, or that it waits: then only who it is. */
struct run_end {
    int64_t run_n, agent_n, thread_n;
    const char *agent_id;
    bool woken;                 /* its key was given */
    struct change_batch *batch; /* of the unit in which it ended: what else it changed */
    struct str run_id, stop_reason, error_code, error_message;
};

/* What a run may do in its directory. */
struct run_bounds {
    struct sandbox_spec sandbox;
    struct budget_limits budget; /* before the agent's own */
};

struct runner_config {
    struct loop *loop;
    struct domain *agent_domain;
    struct change *change;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct kill_switches *kill;
    struct files *files;              /* what agents remember; NULL: nothing is said of it */
    const struct bp_program *program; /* run_program, or with a policy; NULL: run_program */
    struct str policy_text;           /* of the policy in program; empty: none. Kept by pointer */
    struct sandbox_spec sandbox;      /* of every run; cwd is the run's own; outlives the runner */
    /* Tightens *bounds for a run in cwd, when one starts or is loaded; texts live in arena. A
     * failure refuses the run. NULL: bounds are as above. */
    int (*bounds)(void *arg, const char *cwd, struct arena *arena, struct run_bounds *bounds,
                  struct err *err);
    void *bounds_arg;
    struct budget_limits budget;    /* of every agent, and of all of them */
    const char *default_agent_name; /* "Planner" */
    const char *default_model;      /* "offline" */
    const char *default_cwd;
    /* What else stands at the end of the system text of this agent (its skills); the same from turn
     * to turn as long as nothing changes. NULL: nothing. */
    int (*more_system)(void *arg, const struct agent *agent, struct buf *out, struct arena *arena,
                       struct str *ret_taint, struct err *err);
    void *more_system_arg;
    /* Inside the unit that records how a run ended: what has to stand with it. NULL: nothing. */
    int (*ended)(void *arg, const struct run_end *end, struct err *err);
    /* The same of the unit in which a run that was woken begins to wait for a person. */
    int (*waits)(void *arg, const struct run_end *run, struct err *err);
    void *ended_arg;
    /* Inside the unit in which a person speaks in a conversation. NULL: nothing. */
    void (*spoken)(void *arg);
    void *spoken_arg;
    int64_t context_tokens; /* 0: CONTEXT_TOKENS_DEFAULT */
    int64_t approval_ms;    /* until an item expires; 0: 7 days */
    unsigned max_thinking;  /* model requests at a time; 0: 256. More wait for their turn */
};
/* What an agent used today, and what it and all agents together may. */
struct run_budget {
    struct budget_limits limits;
    struct budget own;                            /* the agent's own limits alone */
    struct budget used, held, all_used, all_held; /* held: reserved for requests under way */
    int64_t ends_ms;                              /* when the day does */
};
int runner_budget(struct runner *runner, const struct agent *agent, struct run_budget *ret_budget,
                  struct err *err);

/* Also the start-up path: every run that was under way goes on or ends with a stated reason, in
 * the first ticks. Work is bounded by what is open, not by what is stored. */
int runner_new(const struct runner_config *config, struct runner **ret_runner, struct err *err);
/* Cancels effects without a record: the next start recovers them. Free the gateway and the tool bed
 * after this, then the loop, then the runner. */
void runner_stop(struct runner *runner);
void runner_free(struct runner *runner);
AUTO_DEFINE(runner)
/* The same as config's: for whoever is made after the runner. Before its first tick. */
void runner_on_end(struct runner *runner,
                   int (*ended)(void *arg, const struct run_end *end, struct err *err),
                   int (*waits)(void *arg, const struct run_end *run, struct err *err), void *arg);
void runner_on_speech(struct runner *runner, void (*spoken)(void *arg), void *arg);

/* ---- a database that several processes write to ----
 *
 * There every run belongs to one host, under the number that the host's lease had when the run was
 * begun or taken over. Each unit of a run looks at its row first, and keeps others from it until
 * the commit: lease_lost when it is not ours any more. */

/* The number of this host's lease from now on, after it was got or got again: runs in memory under
 * another one are dropped, and those that are still this host's go on. 0: nothing is shared. */
void runner_set_fence(struct runner *runner, int64_t fence);
/* The store takes writes again: what could not be stored goes on. */
void runner_look_again(struct runner *runner);
/* Inside a unit: open runs of that host, which is gone, are ours. They go on in a later tick. How
 * many. */
int64_t runner_take_over(struct runner *runner, int64_t host_n, struct err *err);

/* What its runs execute. */
const struct bp_program *runner_program(const struct runner *runner);
/* Runs in memory, and those of them with an effect under way. */
size_t runner_loaded(const struct runner *runner);
size_t runner_active(const struct runner *runner);

/* The same of a domain that no runner has open. */
int run_info_get(struct domain *agent_domain, struct str run_id, struct arena *arena,
                 struct run_info *ret_info, struct err *err);
int run_info_find(struct domain *agent_domain, struct str prefix, struct arena *arena,
                  struct run_info *ret_info, struct err *err);
int run_info_list(struct domain *agent_domain, struct str agent_id, int64_t before, int limit,
                  struct arena *arena, struct run_info **ret_infos, size_t *ret_count,
                  struct err *err);

/* ---- reading the log ---- */

/* One row, as stored. */
struct run_row {
    int64_t n, seq; /* seq 0: internal */
    struct bp_event event;
    int64_t ref, at;
    struct str data;
    uint8_t chain[16];
};
int run_log_each(struct domain *agent_domain, int64_t run_n,
                 bool (*fn)(void *arg, const struct run_row *row), void *arg, struct err *err);

/* Re-executes the program from the log with nothing outside: 0 when every selected event, every
 * link of the chain and every content is as recorded. -1 with integrity_failed: the first row that
 * differs and how; resume_conflict: the program is another than the one recorded, or the policy is
 * and nobody kept it; not_found. Works while the run goes on. */
struct run_replay_report {
    int64_t rows, selected; /* selected: not from outside */
    int64_t policy_changes; /* while it ran */
    bool ended;             /* the last row is done */
};
int run_replay_check(struct domain *agent_domain, int64_t run_n, const struct bp_program *program,
                     struct run_replay_report *ret_report, struct err *err);
/* The same with another program than the one recorded: shows where that one would have gone
 * another way. */
int run_replay_with(struct domain *agent_domain, int64_t run_n, const struct bp_program *program,
                    struct run_replay_report *ret_report, struct err *err);

#endif
