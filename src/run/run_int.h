/* A run in memory, and how the files of this room share it.
 *
 * Whatever happens to a run happens in a unit (unit.c): events are offered to its engine, each
 * selected one becomes a row (record.c), and what it asks of the outside is started once the unit
 * is durable (think.c, act.c). When a unit can't be kept, the engine has run ahead of the log: the
 * run is dropped from memory and loaded again from its rows (load.c).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_RUN_RUN_INT_H
#define DORMOUSE_RUN_RUN_INT_H

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/uuid.h"
#include "bp/engine.h"
#include "memory/message.h"
#include "run/chain.h"
#include "run/log_int.h"
#include "run/program.h"
#include "run/resume.h"
#include "run/rules.h"
#include "run/run.h"
#include "tool/hands.h"

struct prompt_texts;

/* A tool call between its birth and its settlement. */
struct run_call {
    struct run *run;
    uint16_t key;
    bool live;
    struct arena arena; /* holds the texts below */
    struct str call_id, name, arguments, problem;
    uint32_t occurrence;
    struct tool_verdict verdict;
    int64_t action_n, result_n, operation_n, inbox_n; /* rows; 0: none yet */
    int64_t edit_n; /* the item whose answer holds its arguments */
    char operation_id[SHA256_TEXT_SIZE], inbox_id[SHA256_TEXT_SIZE];
    char digest[SHA256_TEXT_SIZE]; /* of what was shown; "" when nothing was */
    struct str title, preview_kind, preview, details;
    struct str taint;        /* of the prompt that it was asked for in */
    struct str shown;        /* the arguments that digest is of, when a person gave others */
    enum err_code fail_code; /* its preview failed: so would the call */
    struct str fail_message;
    struct str granted_by;   /* the item whose answer covers this call too … */
    struct str grant_id;     /* … by this grant */
    enum err_code stop_code; /* why the call alone was stopped */
    bool by_person;          /* the arguments are a person's: showing them again asks nobody */
    bool acting;             /* act was selected and acted has not come */
    bool attempted;          /* act was selected for its operation before */
    bool unknown;            /* nobody knows whether it acted */
    bool holds_hand;
    bool asked;            /* the tool itself waits for a person */
    bool waits;            /* for an answer to the item inbox_n */
    enum err_code no_code; /* why it was denied */
    struct str no_message;
    struct tool_job *job;
};

/* What the model answered, until it is recorded. */
struct run_turn {
    struct arena arena;
    struct str text, thinking, opaque, model;
    struct model_usage usage;
    enum model_stop stop;
    unsigned call_count, dropped_calls;
    unsigned previews; /* still to come */
    bool shown;        /* there were any */
    struct run_call *calls[RUN_CALLS_MAX];
};

/* What goes with an event from outside into its row. */
struct run_said {
    int64_t ref;
    struct str data; /* small JSON, or empty */
    const struct message *message;
    const struct inbox_item *item;
};

/* A message that the unit appended. */
struct run_appended {
    struct run_appended *next;
    struct message message;
};

/* A recorded event on its way to clients. */
struct run_out_event {
    struct run_out_event *next;
    int64_t seq;
    const char *type;
    struct buf json;
};

/* What a unit lets out once it is durable. */
struct run_outbox {
    struct loop_effect effect;
    struct run *run;
    struct run_out_event *first, **last;
    uint64_t acts; /* keys to start */
    bool think, check, ended;
};

struct run {
    struct runner *runner;
    struct arena arena; /* holds the texts of row, agent and thread */
    struct run_record row;
    struct agent agent;
    struct thread thread;
    struct bp_engine *engine;
    uint8_t chain[RUN_CHAIN_BYTES];
    int64_t rows;                              /* of its log */
    struct run_call *calls[RUN_CALLS_MAX + 1]; /* by key, made at first use: run_call_get() */
    struct run_turn *turn;
    struct run_limits limits;
    int64_t active_since;
    unsigned rests;        /* in a row */
    int64_t resting_since; /* when the first of them began */
    struct loop_timer time_limit;
    struct run_unit {
        bool open, failed;
        bool recovers; /* it only notes that the run goes on: no step that failed before */
        struct err err;
        int64_t now, rows, last_message_n;
        struct run_outbox *out;
        struct run_said said;
        struct run_appended *appended;
        int64_t digested_n; /* the message that digest is of; 0: none yet */
        uint8_t digest[SHA256_BYTES];
    } unit;
    struct model_exchange *exchange;
    struct model_request request; /* of the exchange, or of the one that waits for its budget */
    struct loop_effect reserved;  /* its budget is */
    int64_t reserved_input;       /* tokens; 0: no budget limits it */
    bool sent;                    /* it has left */
    unsigned asking;              /* units that want one and are not durable yet */
    struct {
        struct arena arena;
        struct prompt_texts *texts;
    } prompt;                           /* what the exchange reads */
    struct str system_taint;            /* of the system text that the model saw last */
    bool thinking, checking;            /* a model request is wanted or under way */
    bool spoke_first;                   /* text came before thinking: its event, too */
    int64_t text_bytes, thinking_bytes; /* of the partial answer */
    struct map intents;                 /* tool and arguments -> how often, plus one */
    uint64_t interrupted;               /* keys of calls that acted when it was loaded */
    unsigned busy;                      /* what will call back: outboxes, exchanges, jobs */
    const char *cwd;
    struct run_bounds bounds;
    struct err bounds_err;  /* why they could not be read again; no tool of the hand works then */
    struct run *queue_next; /* waits for a place to think */
    bool queued, spent;
    bool dirty; /* the row of the run must be written */
    bool ended, broken, cancelled;
    bool decreed;         /* it is ended without asking its program */
    int64_t last_said_n;  /* the message whose text is the result when it is done */
    struct arena scratch; /* of the unit */
    struct buf hand_state;
};

#define RUNNER_ENGINES 64
#define RUNNER_LISTS   64

/* What the system text says of an agent's files, for as long as they stay the same. */
struct memory_said {
    int64_t agent_n;
    uint64_t stamp; /* files_stamp() before it was made */
    struct buf text, taint;
};

struct runner {
    struct runner_config config;
    struct run_rulebook rules;
    struct map runs; /* run_key -> struct run */
    struct hands *hands;
    struct run_listener *listeners;
    struct uuid_source uuids;
    struct loop_timer waits,
        waited; /* rests that are over, questions that expire: by either clock */
    int64_t waited_at, waits_pause_ms; /* the latter while something could not be done */
    struct loop_timer recover;         /* goes through the open runs, a page a tick */
    int64_t recover_after;             /* the thread of the last one */
    size_t thinking;                   /* model requests under way */
    struct budget_day today;
    struct run *queue_first, **queue_last;
    struct bp_engine
        *engines[RUNNER_ENGINES]; /* idle ones: setting one up costs more than a turn */
    size_t engine_count;
    struct map failures; /* run_key -> units in a row that could not be kept */
    struct prompt_cache *prompts;
    struct memory_said said[RUNNER_LISTS]; /* by the agent's number */
    int64_t fence;                         /* of this host's lease; 0: nothing is shared */
    bool stopping;
};

/* ---- bounds.c ---- */
int run_bounds_read(struct run *run, struct err *err);
void run_bounds_reload(struct run *run);

/* ---- budget.c ---- */
/* Whether a day's budget limits what its model is asked. */
bool run_budget_limits(const struct run *run);
/* Inside a unit. Lowers what the answer may have to what is left. */
int run_budget_reserve(struct run *run, struct model_request *request, struct err *err);
/* Inside the run's unit: what was used. */
int run_budget_settle(struct run *run, const struct model_usage *usage, struct err *err);
int run_budget_failed(struct run *run, enum err_code code, struct err *err);
/* Inside the run's unit: 1 that many calls may act, 0 they may not and the row says why. */
int run_budget_calls(struct run *run, unsigned count, struct err *err);

/* ---- unit.c ---- */
int run_unit_begin(struct run *run, struct err *err);
/* Offers an event; what is selected because of it goes into the log. -1 with conflict, or the code
 * of the guard that stands in the way, when it is refused: then nothing has changed. */
int run_offer(struct run *run, enum run_event_type type, uint16_t key, uint32_t bits,
              const struct run_said *said, struct err *err);
/* keep false, or a failure on the way: nothing of the unit stays. */
int run_unit_end(struct run *run, bool keep, struct err *err);
/* What came back can't be written now: the run is dropped, and loaded again after a while. */
void run_give_back(struct run *run);
/* The same for what nobody will say a second time (an answer, a result): when it is not kept the
 * run is given back instead of waiting for it. `what` begins the line in the daemon's log. */
void run_unit_settle(struct run *run, bool kept, const char *what, struct err *err);

/* ---- runner.c ---- */
/* Keeps the run in memory until run_unhold(), which may free it. */
void run_hold(struct run *run);
void run_unhold(struct run *run);

/* An engine of the program, to be reset; and back. */
struct bp_engine *runner_engine_take(struct runner *runner);
void runner_engine_give(struct runner *runner, struct bp_engine *engine);

/* ---- own.c ---- */
/* Whose runs are ours to go on with; 0: all are. */
int64_t runner_host(const struct runner *runner);
/* Inside a unit: lease_lost when the run is another's by now, or another has ended it. One of
 * another host that waits, and nobody executes, becomes ours. */
int run_check_own(struct run *run, struct err *err);
/* The same for one that was read after its row was locked, whatever it does. */
int run_take(struct run *run, struct err *err);
/* Inside a unit: agent_destroyed when its agent was, elsewhere; else that waits for the commit. */
int run_check_alive(struct run *run, struct err *err);

/* ---- record.c ---- */
bp_selected_fn run_record_selected;
void run_new_id(const struct run *run, char ret_id[SHA256_TEXT_SIZE]);
/* Inside a unit: fills what all messages of a run have in common. */
void run_message_init(struct run *run, struct message *message, enum message_kind kind);
/* To the run's thread. Its texts stay until the end of the unit: an event of it may refer to it. */
int run_message_append(struct run *run, struct message *message, struct err *err);

/* ---- public.c ---- */
/* call: whose event it is, NULL: the run's. */
bool run_event_is_public(const struct bp_event *event, const struct run_call *call);
/* Of an event that is public; item: what its row refers to, if it is one. */
const char *run_public_type(const struct bp_event *event, const struct inbox_item *item);
/* Appends the event as one line of JSON. */
/* A settlement that withdrew a question about memory is two events to clients: memory_edit_complete
 * with the number before its own, then its result. Does the row tell one before it? */
bool run_public_has_before(const struct run_event_row *row);
int run_public_before(struct buf *out, const struct run_record *run, struct str thread_id,
                      const struct run_event_row *row, struct err *err);
int run_public_write(struct buf *out, const struct run_record *row, struct str thread_id,
                     const struct run_event_row *event, const struct message *message,
                     const struct inbox_item *item, struct err *err);
/* Does anybody want to hear of events of this type? */
bool run_is_followed(const struct run *run, const char *type);
void run_publish(struct runner *runner, const struct run_public *event);

/* ---- ask.c ---- */
void run_think_start(struct run *run);
/* Answers for the model when the run waits for a place to ask it. */
void run_think_drop(struct run *run);
/* Starts who waits for a place. */
void run_think_next(struct runner *runner);

/* ---- think.c ---- */
void run_take_reply(struct run *run, const struct model_reply *reply);
void run_take_check(struct run *run, const struct model_reply *reply);
void run_take_failure(struct run *run, const struct err *why, int64_t retry_after_ms);
/* The answer's previews are all there: into the log with it. */
void run_thought_ready(struct run *run);
void run_turn_free(struct run *run);

/* ---- prompt.c ---- */
#define RUN_PROMPT_ID      "dormouse.run"
#define RUN_PROMPT_VERSION "1"
/* The request lies in run->prompt until that is released. */
int run_prompt_build(struct run *run, bool check, struct model_request *ret_request,
                     struct err *err);
void run_prompt_release(struct run *run);

/* ---- prompt_cache.c ---- */
/* The newest messages of threads that were asked about lately, as models see them. */
struct prompt_cache *prompt_cache_new(void);
void prompt_cache_free(struct prompt_cache *cache);
/* The window of this thread; what was left out is named in its first message. All of it stays as it
 * is until texts are released. */
int prompt_cache_load(struct run *run, const struct model_message **ret_messages, size_t *ret_count,
                      struct prompt_texts **ret_texts, struct err *err);
void prompt_texts_unref(struct prompt_texts *texts);
/* A message was appended to the run's thread, in a unit; and: it did not stay. */
void prompt_cache_add(struct run *run, const struct message *message);
void prompt_cache_forget(struct run *run);

/* ---- act.c ---- */
void run_act_start(struct run *run, uint16_t key);
/* The run's hand for this call; NULL for tools that need none. Rests when the call has come back.
 */
int run_hand_take(struct run_call *call, struct hand **ret_hand, struct err *err);
void run_hand_rest(struct run_call *call);
/* Inside a unit: the result of a call into the log, its operation settled. */
int run_call_result(struct run_call *call, const struct tool_result *result, struct err *err);
/* The tool can not be repeated safely, and whether it was done is not known: a person is asked. */
int run_call_ask_unknown(struct run_call *call, struct err *err);
/* The call of a key, which is blank when there has been none. */
struct run_call *run_call_get(struct run *run, uint16_t key);
/* The next one that there has been, or NULL. */
struct run_call *run_call_after(const struct run *run, uint16_t key);
#define run_each_call(run, call)                                                                   \
    for ((call) = run_call_after(run, 0); (call); (call) = run_call_after(run, (call)->key))
void run_call_release(struct run_call *call);
void run_call_tool(struct run_call *call, struct tool_call *ret_call);
uint32_t run_call_bits(const struct tool_verdict *verdict);
/* Why a call does not act. */
void run_call_why_not(const struct run_call *call, struct err *why);
/* Writes the result of a call that will not act. */
int run_call_refuse(struct run_call *call, struct run_said *said, struct message *message,
                    struct err *err);

/* Judges the call, counts its intent and gives it its place among equal ones. */
int run_call_count(struct run_call *call, struct err *err);
/* Takes back what run_call_count() counted last. */
void run_call_uncount(struct run_call *call);
/* Enters the call into the ledger, unless it is there. */
int run_call_prepare(struct run_call *call, struct err *err);

/* ---- gate.c ---- */
/* Judges the call anew, with grants. */
int run_call_judge(struct run_call *call, struct err *err);
bool run_call_needs_preview(const struct run_call *call);
/* Before it acts: 0 when nobody was asked, and what spared the question does not hold any more. */
int run_call_check_grant(struct run_call *call, struct err *err);
/* It acts by a grant. Not when a person was asked all the same, whatever was granted since. */
bool run_call_is_granted(const struct run_call *call);
/* done(call) in a later tick; the call keeps what is to be shown. */
void run_call_preview(struct run_call *call, void (*done)(struct run_call *call));
int run_gate_open(struct run_call *call, struct inbox_item *item, struct err *err);
int run_item_add(struct run *run, struct run_call *call, enum inbox_kind kind,
                 struct inbox_item *item, struct err *err);
/* Is it a change of memory that a person was asked about? */
bool run_call_is_memory(const struct run_call *call);
/* What memory_edit_complete says. why NULL: it was done. Appended to out. */
void run_memory_complete(const struct run_call *call, const struct err *why, struct buf *out);

/* ---- steer.c ---- */
void run_stop_effects(struct run *run);
/* Why nothing may begin or go on: kill_switch_active, cancelled or budget_exceeded; else none. */
enum err_code run_stop_code(const struct run *run);
/* Inside a unit: nobody needs to answer what is still pending of this call. 1: something was, and
 * *ret_kind (may be NULL) says what; 0: nothing was. */
int run_withdraw(struct run_call *call, enum inbox_kind *ret_kind, struct err *err);
/* Offers kill or unkill when the switches say something else than the engine knows. */
int run_follow_kill(struct run *run, struct err *err);
/* Offers spent when the run has used more tokens than it may. */
int run_spend_check(struct run *run, struct err *err);
/* A budget is used up: nothing more is begun. */
int run_spend(struct run *run, const char *what, struct err *err);

/* Inside a unit: items of calls that act although they were asked about. */
int run_withdraw_acting(struct run *run, struct err *err);
int run_stop(struct run *run, struct err *err);
void run_watch_time(struct run *run);

/* ---- decide.c ---- */
/* The call that waits for the item; conflict when none does. */
int run_decision_call(const struct run *run, const struct inbox_item *item,
                      struct run_call **ret_call, struct err *err);
/* Can it be followed now? The call has the arguments of an edit afterwards. */
int run_decision_check(struct run_call *call, const struct inbox_decision *decision,
                       struct err *err);
/* The arguments that a person wrote, judged; on failure the call is as before. */
int run_decision_edit(struct run_call *call, struct str arguments, struct err *err);
/* Inside a unit: what a decided item means for its call. */
int run_decision_apply(struct run *run, const struct inbox_item *item, struct err *err);

/* ---- elsewhere.c ---- */
/* What an event says of whether its call waits for a person. */
void run_call_follow_wait(struct run_call *call, const struct bp_event *event);
/* As run_decide(), of a run that is under way on another host. lease_lost: it is no longer. */
int run_decide_elsewhere(struct runner *runner, const struct inbox_item *item,
                         const struct inbox_decision *decision, struct err *err);
/* Inside a unit: decisions that other hosts have stored. */
int run_follow_decided(struct run *run, struct err *err);
/* The same, in a unit of its own when there are any. */
void run_hear_decided(struct run *run);

/* ---- load.c ---- */
/* Inside a unit: a copy to look at, for run_free(), of a run that is under way on another host.
 * That writes nothing until the unit ends. lease_lost: it is no longer under way. */
int run_peek(struct runner *runner, struct str run_key, struct run **ret_run, struct err *err);
int run_call_read(struct run_call *call, int64_t action_n, struct err *err);
/* In memory, from its log when needed, and going on; conflict when it has ended. One that can never
 * go on (resume_conflict, integrity_failed) is ended. */
int run_open(struct runner *runner, struct str run_key, struct run **ret_run, struct err *err);
struct run *run_new(struct runner *runner);
/* Of the rules of today, or of others. */
int run_engine_new(struct run *run, const struct bp_program *program, struct err *err);
void run_free(struct run *run);
/* Why it could not be loaded: it will not be otherwise the next time. */
bool run_is_final(enum err_code code);
/* integrity_failed unless the item that the call waits for says so, too. */
int run_check_item(const struct run_call *call, const struct inbox_item *item, struct err *err);
/* Its rows as they are, without the program: enough to end it. */
int run_read_plain(struct run *run, struct str run_key, struct err *err);

/* ---- adopt.c ---- */
/* The run goes on under the rules of today; past is what was recorded under others. */
int run_adopt(struct run *run, const struct run_past *past, struct err *err);

/* ---- end.c ---- */
/* Inside the unit in which it ended, or began to wait: what has to stand with it. */
int run_tell_end(struct run *run, struct err *err);
/* A person's words, with which it begins. */
int run_tell_said(struct run *run, const struct message *message, struct err *err);
int run_tell_wait(struct run *run, struct err *err);
/* Ends a run that can't go on: open calls get their results, items are withdrawn, clients hear of
 * it. */
void run_end_with(struct runner *runner, struct str run_key, const struct err *why);

/* ---- recover.c ---- */
/* Starts what the log says is under way and nobody is doing. */
void run_continue(struct run *run);
void runner_recover(struct runner *runner);
/* Looks for runs that nobody is at, in a later tick. */
void runner_reload(struct runner *runner, int64_t delay_ms);
/* Rests and questions that this process has not stored are its own now. */
void runner_watch_waits(struct runner *runner);
/* Something is due at this time. */
void runner_wait_until(struct runner *runner, int64_t at);
/* A note in the log, if the run takes one. */
void run_note(struct run *run, const char *what, struct str detail);
/* The same within a unit. */
int run_offer_note(struct run *run, const char *what, struct str detail, struct err *err);
/* What a command of the run made, and the hand set aside (aside.c): a row of the trace and an item
 * that nobody waits for, in one unit; the item alone when the run has ended. */
void run_aside(struct runner *runner, struct str run_key, struct str detail);

/* ---- query.c ---- */
/* not_found when there is none. */
int run_record_get(struct domain *domain, struct str run_id, struct arena *arena,
                   struct run_record *ret_record, struct err *err);

/* What it waits for, empty when for nobody, and for how long it waited for a person instead of
 * working; how long it worked is active_ms. */
int run_times(struct domain *domain, const struct run_record *row, struct arena *arena,
              struct str *ret_pending, int64_t *ret_waited_ms, struct err *err);
/* What the run may use. */
void run_info_limits(const struct run_limits *limits, struct run_info *info);

#endif
