/* Between the files of this room: contracts with what only the pipeline reads of them, the bed,
 * and jobs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TOOL_TOOL_INT_H
#define DORMOUSE_TOOL_TOOL_INT_H

#include <json-c/json_object.h>

#include "base/buf.h"
#include "base/embed.h"
#include "base/hash.h"
#include "sandbox/hand.h"
#include "tool/tool.h"

#define TOOL_ARGUMENTS_MAX (4u << 20)   /* bytes of one call's arguments */
#define TOOL_PREVIEW_MAX   (512u << 10) /* bytes that a person is shown; more is refused */
#define TOOL_DETAILS_MAX   (4u << 20)
#define TOOL_NAMES_SHOWN   24 /* in messages */

/* ---- contracts: contract.c, contract_parse.c ---- */

struct tool_entry {
    struct tool_contract *contract;
    const char *path_argument; /* of scopeRules; NULL: no argument is a path */
    bool path_writes;
    size_t output_max; /* of dataMinimizationPolicyRef */
    bool redacts;
    const char *output_schema; /* JSON text */
};

/* The built-in ones, in the order of tool_contracts(). */
const struct tool_entry *tool_entries(size_t *ret_count);

/* One entry of the file into *ret_entry, all texts in arena. defs and policies are the file's. */
int contract_parse(struct json_object *json, struct json_object *defs, struct json_object *policies,
                   struct arena *arena, struct tool_entry *ret_entry, struct err *err);
/* Releases what an entry owns besides the arena. */
void contract_release(struct tool_entry *entry);
/* One entry from outside: checked by the file's schema first. */
int contract_add(const char *contract_json, struct arena *arena, struct tool_entry *ret_entry,
                 struct err *err);
extern const struct embed_file tool_contract_files[];

/* ---- the bed: bed.c ---- */

/* When wiggum mode spares the question. */
enum tool_waiver {
    TOOL_WAIVER_NONE = 0,
    TOOL_WAIVER_WALLS,      /* it runs inside the walls */
    TOOL_WAIVER_WRITE_PATH, /* ... and its path lies in the write-allow list */
};

struct tool_builtin {
    struct tool_impl impl;
    enum tool_waiver waiver;
    bool tells_timeout;            /* by timed_out in its output */
    const char *preview_operation; /* of the hand; NULL: it has none */
    const char *note_argument;     /* words for people that change nothing; no part of a grant */
    bool needs_files;              /* it is not offered without; its argument is the bed */
};
extern const struct tool_builtin tool_builtins[];
extern const size_t tool_builtin_count;

struct tool_binding {
    const struct tool_entry *entry;
    const struct tool_impl *impl;
    void *impl_arg;
    const struct tool_builtin *builtin; /* NULL: of another room, or added at run time */
    bool added;                         /* at run time: the entry is its own */
};

/* What another room does. */
struct tool_bound {
    const struct tool_impl *impl;
    void *arg;
    struct tool_bound *next;
};

struct tool_bed {
    struct tool_bed_config config;
    struct tool_bound *bound;
    struct tool_guard *guards;
    struct tool_binding **bindings; /* in byte order of names */
    const struct tool_contract **contracts;
    size_t count, room;
    struct arena arena; /* of what was added */
    struct tool_job *jobs;
};

struct tool_binding *bed_find(struct tool_bed *bed, struct str name);

/* ---- judging: judge.c, risk.c, ids.c, digest.c ---- */

struct judging {
    struct tool_bed *bed;
    const struct tool_call *call;
    struct arena *arena;
    const struct tool_binding *binding;
    struct json_object *arguments; /* NULL: not an object that could be read */
    struct tool_verdict *verdict;
};
/* The same stages for a call that has been judged: its ids are known, so the verdict has none. And
 * the parsed arguments for the caller to put (NULL when there are none). */
void judge_again(struct tool_bed *bed, const struct tool_call *call, struct arena *arena,
                 struct tool_verdict *ret_verdict, struct json_object **ret_arguments);
void judge_risk(struct judging *j);
void judge_ids(struct judging *j);
/* Lexical: where path leads from the sandbox's cwd. NULL when it climbs (".."). */
const char *risk_resolve(const struct sandbox_spec *spec, struct str path, struct arena *arena);
bool risk_below(const char *path, const char *root);
bool risk_may_write(const struct sandbox_spec *spec, struct str path, struct arena *arena);
/* The same for an argument of a call: from where the hand stands. */
const char *risk_target(const struct tool_call *call, struct str path, struct arena *arena);
/* Where the call would be done. */
const char *call_directory(const struct tool_call *call);
/* The hash of everything that bounds what it can do there. */
void walls_hash(const struct sandbox_spec *spec, char ret_hash[SHA256_TEXT_SIZE]);
/* What an approval is bound to. target_version "" for what has none. */
void approval_digest(const struct tool_bed *bed, const struct tool_call *call, const char *name,
                     struct str target_version, char ret_digest[SHA256_TEXT_SIZE]);

/* ---- jobs: job.c, preview.c, hand_tool.c, output.c ---- */

enum job_phase {
    JOB_NONE = 0,
    JOB_SHOWING,  /* a preview for a person */
    JOB_CHECKING, /* the same again, to compare with what was approved */
    JOB_ACTING,
};

/* What a call of the hand comes back to; outlives a job that gave up waiting. */
struct hand_wait {
    struct tool_job *job; /* NULL: nobody waits any more */
    struct hand_job *hand_job;
    void (*reply)(struct tool_job *job, const struct hand_reply *reply);
};

struct tool_job {
    struct tool_bed *bed;
    struct tool_job *next, **link; /* in the bed's list */
    struct arena arena;
    struct tool_call call; /* a copy of its own */
    struct json_object *arguments;
    const struct tool_binding *binding;
    struct hand *hand;
    struct hand_wait *hand_wait; /* NULL: the hand does nothing for it */
    struct str operation_id, approved;
    tool_done_fn *done;            /* of a start, or … */
    tool_preview_fn *preview_done; /* … of a preview */
    void *arg, *data;
    struct loop_timer limit, soon;
    enum job_phase phase;
    bool inside;        /* a call of the caller's is on the stack: told later */
    bool finished;      /* the result stands */
    bool ending;        /* cancelled or out of time */
    bool timed_out;     /* … the latter */
    bool version_known; /* checked: the operation must find this version of the target */
    struct str version;
    struct tool_result result;
    struct tool_preview preview;
    struct tool_fact *facts; /* of the preview */
};

struct tool_fact {
    struct tool_fact *next;
    const char *name;
    struct str value;
    bool warn;
};

/* Ends the job with an error, or as stale. */
void job_fail(struct tool_job *job, const struct err *err);
void job_stale(struct tool_job *job);
/* Now and here: the bed ends. */
void job_drop(struct tool_job *job, const struct err *err);
/* Why it was ended early. */
void job_end_error(const struct tool_job *job, struct err *ret_err);

/* hand_tool.c: the handlers of everything that the hand does. */
int hand_tool_start(struct tool_job *job, struct err *err);
int hand_tool_preview(struct tool_job *job, struct err *err);
void job_forget_hand(struct tool_job *job);
void job_cancel_hand(struct tool_job *job);

/* memory_tools.c: what the agent keeps. */
int memory_tool_check(void *arg, const struct tool_call *call, struct json_object *arguments,
                      struct err *err);
int memory_path_check(void *arg, const struct tool_call *call, struct json_object *arguments,
                      struct err *err);
bool memory_tool_spared(void *arg, const struct tool_call *call, struct json_object *arguments);
void memory_tool_danger(void *arg, const struct tool_call *call, struct json_object *arguments,
                        struct buf *out);
int read_memory_start(struct tool_job *job, struct err *err);
int list_memory_start(struct tool_job *job, struct err *err);
int write_memory_start(struct tool_job *job, struct err *err);
int write_memory_preview(struct tool_job *job, struct err *err);

/* preview.c: what a person sees. */
void preview_make(struct tool_job *job, const struct tool_preview *preview);
/* too_large when not all of it can be shown. */
int preview_check(const struct tool_preview *preview, struct err *err);
int preview_arguments(struct tool_job *job, struct err *err);
int preview_command(struct tool_job *job, struct err *err);
int preview_question(struct tool_job *job, struct err *err);

/* output.c: checks, redacts and bounds; the text lies in arena. */
int output_make(const struct tool_entry *entry, struct str text, struct arena *arena,
                struct str *ret_text, struct err *err);

/* shown.c: text from outside in a message or an answer, as visible_text() makes it. At most max
 * bytes of it, said so when more was there: not for what a person decides about. */
void shown_text(struct str text, size_t max, struct buf *out);
/* One line of it, in arena. */
const char *shown_word(struct str text, size_t max, struct arena *arena);

#endif
