/* Between the files of the desk: one call at work, and what its tools have in common.
 *
 * A tool that writes is two functions. aim() reads what the arguments name and refuses what is out
 * of scope or makes no sense; it changes nothing and is called whenever the call is judged. act()
 * makes the change inside a unit of the journal, after aim() has looked once more in that unit. A
 * tool that reads has aim(), which may be NULL, and read().
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DESK_DESK_INT_H
#define DORMOUSE_DESK_DESK_INT_H

#include "base/json.h"
#include "base/json_write.h"
#include "desk/desk.h"
#include "journal/list.h"
#include "journal/moves.h"

#define DESK_OUTPUT_MAX (4u << 20)
#define DESK_NAMES_MAX  200

struct desk_tool;

struct desk_ids {
    struct str at[DESK_NAMES_MAX];
    size_t n;
};

struct desk_op {
    struct desk *desk;
    struct journal *journal;
    const struct desk_tool *tool;
    const struct tool_call *call;
    struct json_object *args;
    struct arena *arena;
    int64_t now;
    struct journal_scope scope;
    /* What aim() found, in the order it looked. An approval is bound to their versions. */
    struct record *aims;
    size_t aim_count, aim_room;
    struct journal_write *write;       /* of act(): the unit */
    struct json_writer *out;           /* of act() and read(): inside the object that is answered */
    struct desk_ids tasks, categories; /* that the answer names by id alone */
    struct str taint;                  /* of what the answer tells */
};

typedef int desk_fn(struct desk_op *op, struct err *err);

struct desk_tool {
    const char *name;
    const char *title; /* what a person is asked: "Log time"; NULL: a tool that reads */
    desk_fn *aim, *act, *read;
    int (*start)(struct tool_job *job, struct err *err); /* of one that does neither */
    bool everywhere; /* also for agents that have no category at all */
};

/* One array for each family. */
extern const struct desk_tool desk_read_tools[], desk_task_tools[], desk_checklist_tools[],
    desk_time_tools[], desk_plan_tools[], desk_rating_tools[], desk_report_tools[],
    desk_alarm_tools[], desk_slot_tools[];
extern const size_t desk_read_tool_count, desk_task_tool_count, desk_checklist_tool_count,
    desk_time_tool_count, desk_plan_tool_count, desk_rating_tool_count, desk_report_tool_count,
    desk_alarm_tool_count, desk_slot_tool_count;

struct desk_bound {
    struct desk *desk;
    const struct desk_tool *tool;
    struct tool_impl impl;
};
struct desk_waiting;
struct desk {
    struct desk_config config;
    struct tool_guard guard;
    const struct desk_alarms *alarms; /* NULL: there are none */
    void *alarms_arg;
    struct desk_bound *bound;
    size_t bound_count;
    struct desk_waiting *waiting; /* done in the journal, to be told after the commit */
};

void op_init(struct desk_op *op, struct desk *desk, const struct desk_tool *tool,
             const struct tool_call *call, struct json_object *args, struct arena *arena);

/* ---- scope.c: the only place that says what an agent may reach ---- */

void scope_of(const struct agent *agent, struct arena *arena, struct journal_scope *ret_scope);
bool scope_is_empty(const struct journal_scope *scope);
/* out_of_scope unless the agent may work in this category; empty: what has none. what: "the task",
 * for the message. */
int scope_category(struct desk_op *op, const char *what, struct str category, struct err *err);
/* The same of a category that something is put into, which must be there: not_found. */
int scope_into(struct desk_op *op, const char *what, struct str category, struct err *err);
/* The category that new things go to: the one that is given, or the only one there is. Empty only
 * for agents that reach all of the journal. */
int scope_choose(struct desk_op *op, struct str given, struct str *ret_category, struct err *err);
/* By the category that it counts for. */
int scope_record(struct desk_op *op, const struct record *record, struct err *err);
/* 1 within, 0 outside. */
int scope_has(struct desk_op *op, const struct record *record, struct err *err);
/* A record that is there and in scope, else not_found or out_of_scope. It becomes an aim. */
int scope_get(struct desk_op *op, enum record_type type, struct str id, struct record *ret_record,
              struct err *err);
void op_aim(struct desk_op *op, const struct record *record);
/* After act(): everything that the unit has changed lies in scope as it is now. */
int scope_changes(struct desk_op *op, struct err *err);

/* ---- saga.c: doing it once, and telling of it ---- */

int desk_write_start(struct tool_job *job, struct err *err);
int desk_write_preview(struct tool_job *job, struct err *err);
bool desk_write_spared(void *arg, const struct tool_call *call, struct json_object *arguments);
/* It ends with the tick that it began in. */
void desk_write_cancel(struct tool_job *job);
/* Was this call's change made before? 1 and what was kept of it. */
int desk_done(struct desk_op *op, struct str *ret_kept, struct err *err);
/* Nobody hears of what waits for its commit any more. */
void desk_forget(struct desk *desk);

/* ---- show.c: what a person reads before deciding ---- */

/* What a unit has changed: the records as they are inside of it, later those of before. */
struct desk_change {
    struct record before, after; /* type RECORD_NONE: there was none */
};
struct desk_changes {
    struct desk_change *at;
    size_t n;
    struct str labels; /* lines about labels of tasks */
};
/* Inside the unit. */
int changes_collect(struct desk_op *op, struct desk_changes *ret_changes, struct err *err);
/* After the unit was rolled back: what was before. */
int changes_before(struct desk_op *op, struct desk_changes *changes, struct err *err);
int changes_show(struct desk_op *op, const struct desk_changes *changes, struct buf *out,
                 struct err *err);

/* Tools of the journal, reports, alarms and slots. */
bool desk_owns(const struct tool_contract *contract);

/* ---- arguments and answers (args.c) ---- */

struct str arg_str(const struct desk_op *op, const char *name);
bool arg_bool(const struct desk_op *op, const char *name, bool otherwise);
int64_t arg_i64(const struct desk_op *op, const char *name, int64_t otherwise);
/* 0 when it is absent. schema_violation names it. */
int arg_time(const struct desk_op *op, const char *name, int64_t *ret_ms, struct err *err);
/* The texts of a list, in the arena; none when it is absent. */
size_t arg_list(const struct desk_op *op, const char *name, struct str **ret_list);
void fields_str(struct json_object *fields, const char *name, struct str value);
/* The arguments but for those named (a list that ends with NULL). */
struct json_object *fields_without(const struct desk_op *op, const char *const *names);

/* The answer holds texts of this record: it has what they have of strangers. */
void op_tells(struct desk_op *op, const struct record *record);
void out_str(struct desk_op *op, const char *name, struct str value);
void out_i64(struct desk_op *op, const char *name, int64_t value);
void out_bool(struct desk_op *op, const char *name, bool value);
void out_time(struct desk_op *op, const char *name, int64_t ms);
void out_record(struct desk_op *op, const char *name, const struct record *record);
void out_records(struct desk_op *op, const char *name, const struct record *records, size_t n);
/* The answer names this task, or category, by id alone: its title or name goes along, where the
 * agent reaches it. Records with a taskId, and tasks, do so by themselves. */
void out_titled(struct desk_op *op, struct str task_id);
void out_named(struct desk_op *op, struct str category_id);
/* "taskTitles":{"ID":"Leg day"} and "categoryNames", when there are some: the last members of an
 * answer. */
int out_names(struct desk_op *op, struct err *err);
/* The record as it is now, in the unit or outside. */
int out_now(struct desk_op *op, const char *name, enum record_type type, struct str id,
            struct err *err);

#endif
