/* Tools: one contract each, one pipeline for every call.
 *
 * The contract (share/tools/agent_tool_contract_spec.yaml, embedded) is the only source of a tool's
 * name, schemas, class, risk and rules; a handler binds to it by name. A call is judged when it is
 * born (and again after an approval, an edit or a policy change), previewed when a person is asked,
 * and started when the run's program selected `act` and the intent is durable.
 *
 *   schema -> kill switch -> life cycle -> wake reason -> capability -> scope -> budget
 *          -> risk and approval -> ledger intent -> handler -> result
 *
 * tool_judge() is everything up to risk; the program's guards are the approval; the runner writes
 * the ledger; tool_start() judges once more from the kill switch on and runs the handler.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TOOL_TOOL_H
#define DORMOUSE_TOOL_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/inbox.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"
#include "sandbox/sandbox.h"

struct bp_policy;
struct bp_program;
struct domain;
struct files;
struct hand;
struct json_object;
struct kill_switches;
struct schema;

/* ---- contracts ---- */

enum tool_risk { TOOL_RISK_NONE = 0, TOOL_RISK_LOW, TOOL_RISK_MEDIUM, TOOL_RISK_HIGH };
enum tool_keyed { TOOL_UNKEYED = 0, TOOL_KEYED, TOOL_READ_ONLY };
enum tool_approval { TOOL_ASK_NONE = 0, TOOL_ASK_ALWAYS, TOOL_ASK_BY_RISK, TOOL_ASK_NEVER };

struct tool_contract {
    const char *name; /* "bash", "fs.list" */
    const char *wire; /* for providers: "fs__list" */
    const char *version, *description;
    const char *tool_class;          /* "shell", "files", "people", ... what a kill switch names */
    const char *const *capabilities; /* ends with NULL */
    const char *const *wake_reasons; /* ends with NULL */
    const char *input_schema;        /* JSON text */
    const char *shown_schema;        /* the part of it that models are shown */
    const struct schema *input, *output;
    enum tool_risk risk;
    enum tool_keyed keyed; /* idempotencyStrategy */
    enum tool_approval approval;
    bool mutating, parallel_safe;
    int64_t timeout_ms;
    const char *const *egress_hosts;
    const char *const *entity_types, *const *tokens; /* sideEffects; end with NULL */
    const char *output_taint;                        /* NULL: what it returns is trusted */
    enum inbox_kind inbox_kind; /* of the item that asks a person: tool, unless it says otherwise */
};

/* All of them in canonical (byte) order of names. Loaded and checked at the first call; a broken
 * file is a BUG, the build's tests read it. */
const struct tool_contract *tool_contracts(size_t *ret_count);
/* By name or wire name; NULL when there is none. */
const struct tool_contract *tool_contract_find(struct str name);

/* Providers take names of [a-zA-Z0-9_-]{1,64}, so '.' travels as "__". To be turned back without
 * doubt a name must not have "__", nor '_' at either end of a part: bad_request says so. */
#define TOOL_NAME_MAX 64
int tool_wire_name(struct str name, char ret_wire[TOOL_NAME_MAX + 1], struct err *err);
int tool_name_of_wire(struct str wire, char ret_name[TOOL_NAME_MAX + 1], struct err *err);

/* ---- a call ---- */

/* Everything a stage may look at. Borrowed. */
struct tool_call {
    const struct agent *agent;
    struct str thread_id, run_id;
    int64_t run_n;
    struct str wake_reason;
    struct str name;      /* as the model wrote it */
    struct str arguments; /* JSON text, kept and hashed as received */
    struct str problem;   /* the model's call could not be read */
    uint32_t occurrence;  /* how many equal intents this run had before */
    bool wiggum;
    struct str taint; /* where untrusted text in the thread came from: "file,web"; empty: nowhere */
    struct str inbox_id; /* what approved it; empty: nothing did */
    bool edited;         /* the arguments are what a person made of the agent's */
    bool granted;        /* a grant covers it: nobody was shown where its path leads today */
    /* For a preview that is made again: what may have been done of it by now. Empty: nothing. */
    struct str operation_id;
    struct sandbox_spec sandbox;
    const char *directory; /* where the run's hand stands now: `cd` moves it. NULL: sandbox.cwd */
};

/* Attributes that the program's guards look at (run/program.h maps them to bits). */
enum tool_attribute {
    TOOL_RISKY = 1,     /* needs a person's yes */
    TOOL_WAIVABLE = 2,  /* ... unless the run is in wiggum mode */
    TOOL_DANGEROUS = 4, /* never, whoever says yes */
    TOOL_REFUSED = 8,   /* a stage before approval said no: code and message */
    TOOL_SERIAL = 16,   /* not beside another */
    TOOL_KILLED = 32,   /* a kill switch of its class is on */
};

struct tool_verdict {
    const struct tool_contract *contract; /* NULL: no such tool */
    uint32_t attributes;
    uint32_t policy_bits; /* attributes that the user's policy adds, by its own numbering */
    enum err_code code;   /* of REFUSED, DANGEROUS or KILLED */
    const char *message;  /* for the model and for people */
    /* arguments_hash is of the text as received. The ids take the canonical form where there is
     * one, so that the same intent written in another way is the same action. intent_id is the
     * action_stable_id of occurrence 0: equal for equal intents, which is what `occurrence` counts.
     */
    char arguments_hash[65], intent_id[65], action_stable_id[65], operation_id[65];
    struct str pattern;        /* what a grant of this call covers (agent/inbox.h); empty: each
                                  such call is decided by itself */
    struct str scope_snapshot; /* canonical JSON of what the agent may touch */
};

struct tool_bed; /* registry of handlers plus what stages need */

struct tool_bed_config {
    struct loop *loop;
    struct domain *agent_domain;
    struct kill_switches *kill;
    const struct bp_policy *policy;   /* NULL: none */
    const struct bp_program *program; /* the run's program with that policy applied: it numbers the
                                         policy's attributes; NULL without policy */
    const char *policy_text_hash;     /* "" without policy; part of approval digests */
    struct files *files;              /* what agents remember; NULL: no memory tools */
};
int tool_bed_new(const struct tool_bed_config *config, struct tool_bed **ret_bed, struct err *err);
/* Jobs under way get their completion (cancelled) before this returns. */
void tool_bed_free(struct tool_bed *bed);
AUTO_DEFINE(tool_bed)
/* Another policy from now on; calls that wait have to be judged anew. All three are kept by
 * pointer. */
void tool_bed_set_policy(struct tool_bed *bed, const struct bp_policy *policy,
                         const struct bp_program *program, const char *policy_text_hash);
/* May this agent be offered this tool for such a wake? What a model is shown; the stages say the
 * same when it is called. */
bool tool_offered(const struct tool_contract *contract, const struct agent *agent,
                  struct str wake_reason);
/* Only for agents of Dormouse itself, whose tools name it: one of its capabilities begins with
 * "system.". Nobody can give such a tool to another agent. */
bool tool_is_for_system(const struct tool_contract *contract);
/* Is a person asked first, by the contract alone? */
bool tool_asks(const struct tool_contract *contract);

/* The same, and the tool itself has nothing against it. */
bool tool_bed_offers(struct tool_bed *bed, const struct tool_contract *contract,
                     const struct agent *agent, struct str wake_reason);

/* Pure but for reading kill switches: the same call gives the same verdict. Never fails: what is
 * wrong with a call is in the verdict. Texts lie in arena. */
void tool_judge(struct tool_bed *bed, const struct tool_call *call, struct arena *arena,
                struct tool_verdict *ret_verdict);

/* Appends a sentence for each thing in the arguments that a yes should not pass over: what a reader
 * misses or is misled by, suspicious places of a text. The preview of the same call says as much.
 */
void tool_danger(struct tool_bed *bed, const struct tool_call *call, struct buf *out);

/* What a person is shown before deciding; digest binds the answer to it (tool, arguments, version
 * of the target, policy). Asynchronous: a diff needs the hand. done comes once, in a later tick. */
struct tool_preview {
    struct err err;        /* ERR_NONE; else there is no preview, and why (shown instead) */
    struct str title;      /* "Run a command", "Change src/main.c" */
    struct str kind, text; /* diff, command, text: all of it */
    struct str details;    /* JSON object kept with the item: what its kind shows beyond text */
    char digest[65];
};
struct tool_job;
typedef void tool_preview_fn(void *arg, const struct tool_preview *preview);
int tool_preview(struct tool_bed *bed, const struct tool_call *call, struct hand *hand,
                 tool_preview_fn *done, void *arg, struct tool_job **ret_job, struct err *err);

/* Runs the handler. approved_digest: what was shown (empty: nobody was asked); when the target is
 * another by now the result is stale and nothing was done. done comes once, in a later tick. */
struct tool_result {
    struct err err; /* ERR_NONE: success */
    bool stale;     /* nothing done: ask again */
    bool waits;     /* nothing more will come by itself: an inbox item is asked (ask_user);
                       question holds its body */
    struct str question;
    struct str output; /* JSON value as text; for bash also when it failed */
    struct str changed_entity_ids, changed_tokens; /* JSON lists or empty */
    struct str taint;
};
typedef void tool_done_fn(void *arg, const struct tool_result *result);
int tool_start(struct tool_bed *bed, const struct tool_call *call, struct str operation_id,
               struct str approved_digest, struct hand *hand, tool_done_fn *done, void *arg,
               struct tool_job **ret_job, struct err *err);
/* done(cancelled) follows. Previews too (err cancelled). */
void tool_cancel(struct tool_job *job);

/* ---- handlers ---- */

/* Data plus functions; the array of all is in builtin.c. Tests and embedders add their own with a
 * contract at run time. */
struct tool_impl {
    const char *name;
    /* What the schema does not say; a no is told to the model before anybody is asked. NULL:
     * nothing.
     */
    int (*check)(void *impl_arg, const struct tool_call *call, struct json_object *arguments,
                 struct err *err);
    /* Pure: may this call go without a person although its contract says ask? For what depends on
     * more than the contract (a setting of the agent). NULL: no. */
    bool (*spared)(void *impl_arg, const struct tool_call *call, struct json_object *arguments);
    /* May be NULL. Looks itself for what is suspicious in arguments that fit the contract, and
     * shows it in details; see tool_danger(). */
    void (*danger)(void *impl_arg, const struct tool_call *call, struct json_object *arguments,
                   struct buf *out);
    /* Pure: what would run besides the arguments (the files of a skill), as a hash for grants. -1:
     * there is nothing to run, and nothing to grant. NULL: the arguments are all. */
    int (*files)(void *impl_arg, const struct tool_call *call, struct json_object *arguments,
                 char ret_hash[65]);
    /* May a model be told of it now? NULL: yes. For tools that need more than this machine (an
     * account that is connected); called by name it says what is missing. */
    bool (*offered)(void *impl_arg, const struct agent *agent);
    /* Ends with tool_job_finish(), exactly once; when that is called from inside start(), the
     * caller hears of it in a later tick all the same. */
    int (*start)(struct tool_job *job, struct err *err);
    /* NULL: the hand's job is cancelled, or without one the job is finished as cancelled. Else it
     * has to see to it that tool_job_finish() comes soon, also when it was called for a preview. */
    void (*cancel)(struct tool_job *job);
    /* Ends with tool_job_shown(), as above. NULL: the arguments as text. */
    int (*preview)(struct tool_job *job, struct err *err);
    bool uses_hand; /* of another room: it works through tool_job_hand() */
};

/* What a handler works with; all of it lives as long as the job. */
const struct tool_call *tool_job_call(const struct tool_job *job);
struct json_object *tool_job_arguments(const struct tool_job *job);
struct str tool_job_operation_id(const struct tool_job *job);
void *tool_job_impl_arg(const struct tool_job *job);
struct loop *tool_job_loop(const struct tool_job *job);
struct domain *tool_job_domain(const struct tool_job *job); /* the bed's */
struct hand *tool_job_hand(const struct tool_job *job);     /* may be NULL */
struct arena *tool_job_arena(struct tool_job *job);
/* An operation of the run's hand; sandbox_unavailable without one. reply comes once, unless the job
 * ends before. When the job is cancelled the hand's work is, too, and reply says so. */
struct hand_reply;
int tool_job_ask_hand(struct tool_job *job, const char *operation, struct str arguments,
                      void (*reply)(struct tool_job *job, const struct hand_reply *reply),
                      struct err *err);
/* The handler's own. */
void tool_job_set_data(struct tool_job *job, void *data);
void *tool_job_data(const struct tool_job *job);
/* The job ends with it. output is checked against the contract, redacted and bounded here; texts
 * are copied. */
void tool_job_finish(struct tool_job *job, const struct tool_result *result);
/* A line of ours about what is shown: whom a message goes to, where a command runs. It stands
 * outside of the text, which can't imitate it. Given before tool_job_shown(); an empty value is
 * none. The second says that it is dangerous: approving takes a second step. */
void tool_job_fact(struct tool_job *job, const char *name, struct str value);
void tool_job_warn(struct tool_job *job, const char *name, struct str value);
/* The facts of everything that runs a command: directory, time limit, walls. Returns the directory,
 * which belongs into target_version. */
struct str tool_job_place(struct tool_job *job);
/* What is shown; target_version goes into the digest ("": it has none). Text that is too long to be
 * shown makes the preview fail with too_large, and the call with it. */
void tool_job_shown(struct tool_job *job, const struct tool_preview *preview,
                    struct str target_version);

/* A handler of another room for a contract of the file. Before the first use of the bed; impl
 * outlives it. A contract that nobody does is not offered. */
void tool_bed_bind(struct tool_bed *bed, const struct tool_impl *impl, void *impl_arg);
/* contract_json: one entry of the contract file, checked like those. impl outlives the bed.
 * conflict when the name, or its form on the wire, is taken. */
int tool_bed_add(struct tool_bed *bed, const char *contract_json, const struct tool_impl *impl,
                 void *impl_arg, struct err *err);
/* Another room that has a say in every call, whatever tool it is for. Each may be NULL. */
struct tool_guard {
    /* As pure as tool_judge(), after the agent's own abilities. arguments fit the contract. A
     * failure refuses the call before anybody is asked: its code and message are the model's. */
    int (*judge)(struct tool_guard *guard, const struct tool_call *call,
                 const struct tool_contract *contract, struct json_object *arguments,
                 struct err *err);
    /* What judge() says for every call of this tool by this agent: false, and no model is told of
     * it. */
    bool (*offers)(struct tool_guard *guard, const struct tool_contract *contract,
                   const struct agent *agent);
    /* The call succeeded; before its result is told. Outside of units. */
    void (*succeeded)(struct tool_guard *guard, const struct tool_call *call,
                      const struct tool_contract *contract, struct json_object *arguments);
    /* What an agent reads of memory that is not in its own tree (shared skills). 1 found, 0 there
     * is none. */
    int (*read_memory)(struct tool_guard *guard, const struct tool_call *call, struct str path,
                       struct arena *arena, struct str *ret_content, struct err *err);
    struct tool_guard *next;
};
/* Outlives the bed. */
void tool_bed_guard(struct tool_bed *bed, struct tool_guard *guard);
/* By name or wire name; NULL when there is none. */
const struct tool_contract *tool_bed_find(struct tool_bed *bed, struct str name);
/* Does its handler work through the run's hand? */
bool tool_bed_uses_hand(struct tool_bed *bed, const struct tool_contract *contract);
/* All contracts of this bed, those added too, in canonical order. */
const struct tool_contract *const *tool_bed_contracts(struct tool_bed *bed, size_t *ret_count);

#endif
