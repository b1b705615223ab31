/* The offline model: rules, not a language model. What its files share.
 *
 * offline_think() is a pure function of the conversation: it finds the newest thing that a person
 * said, matches it against the table of intents (offline_intents.c) and lets the intent's action
 * make calls with the tools that it was given, or text. It keeps no state: which step an action is
 * at follows from the calls and results since that message, so a conversation that is resumed,
 * replayed or asked twice gives the same answer. After OFFLINE_ROUNDS_MAX rounds of calls only
 * text comes: nothing goes on for ever.
 *
 *   offline_words.c    text to words, without politeness
 *   offline_match.c    the little pattern language of the table
 *   offline_args.c     tools that were given, arguments by their schemas
 *   offline_result.c   what tools answered
 *   offline_report.c   results in a few honest lines
 *   offline_talk.c     greetings, help, "are you done?"
 *   offline_files.c, offline_edit.c, offline_tidy.c, offline_shell.c, offline_tasks.c,
 *   offline_memory.c, offline_accounts.c, offline_skills.c   the actions
 *   offline_wizard.c   the guided conversation that makes agents
 *   offline_choice.c   which of several tasks
 *   offline_when.c     days and times; offline_log.c, offline_diary.c   time that was spent
 *   offline_wake.c     what woke an agent; offline_coach.c, offline_planner.c,
 *   offline_strategist.c, offline_pomodoro.c, offline_alarm.c   what the first agents do
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_OFFLINE_INT_H
#define DORMOUSE_MODEL_OFFLINE_INT_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/model.h"

#define OFFLINE_WORDS_MAX   256 /* the last one takes the rest of a longer text */
#define OFFLINE_ROUNDS_MAX  4
#define OFFLINE_CALLS_MAX   16
#define OFFLINE_TEXT_MAX    (16u << 10)
#define OFFLINE_SHOWN_LINES 20
#define OFFLINE_CAPTURES    4

/* ---- words ---- */

struct offline_word {
    struct str raw;    /* without quotes and punctuation */
    struct str low;    /* in lower case */
    size_t begin, end; /* in the text, quotes included */
    bool quoted;
};

struct offline_words {
    struct str text;
    struct offline_word word[OFFLINE_WORDS_MAX];
    size_t n;
};

/* Splits text; low and expanded words lie in arena. */
void offline_words_split(struct str text, struct arena *arena, struct offline_words *ret_words);
/* Takes "could you please" off the front and "for me, thanks" off the end, but leaves a word. */
void offline_words_unpolite(struct offline_words *words);

/* part somewhere in text, without regard to ASCII case; an empty part is nowhere. */
bool offline_contains(struct str text, struct str part);

/* ---- patterns ---- */

struct offline_match {
    struct str cap[OFFLINE_CAPTURES]; /* a, b, c, d; p NULL: not captured */
    bool quoted[OFFLINE_CAPTURES];    /* it stood in quotes: to be taken literally */
};

/* pattern: elements between spaces, anchored at both ends:
 *   word  one|of|these  [may|be|absent]  <a> one word  {a} one or more words  ... any words  */
bool offline_match(const char *pattern, const struct offline_words *words,
                   struct offline_match *ret_match);

/* ---- a turn ---- */

struct offline_result {
    unsigned round;     /* of the calls that it answers, from 0 */
    struct str tool;    /* name on the wire */
    struct str command; /* of the call's arguments, when it has one */
    bool failed;        /* the call was refused or did not work */
    enum err_code code; /* of a failure; ERR_NONE: it named none that is known */
    struct str output;  /* what a person would want to see */
    struct str error;   /* why it failed, or what went to stderr */
    int64_t exit_code;  /* -1: there was none */
    bool cut;           /* the tool says that there is more */
    struct str *lines;  /* output as lines; of matches "path:line: text" */
    size_t line_count;
    struct json_object *json; /* NULL when the answer is none */
};

struct offline_turn {
    const struct model_request *request;
    struct arena *arena;
    int64_t now_ms;
    struct str said; /* by the person */
    struct offline_words words;
    struct offline_match match;
    const char *arg; /* of the intent's row */
    unsigned round;  /* rounds of calls since; 0: nothing was tried yet */
    struct offline_result *results;
    size_t result_count;
    /* what comes of it */
    struct buf say;
    struct model_call calls[OFFLINE_CALLS_MAX];
    size_t call_count;
    bool gave_up; /* it was not understood, could not be done, or failed */
};

/* The answer to request at wall time now_ms: turn->say, and calls when it wants tools. Everything
 * but say lies in arena. Release the turn. */
void offline_think(const struct model_request *request, int64_t now_ms, struct arena *arena,
                   struct offline_turn *ret_turn);
void offline_turn_release(struct offline_turn *turn);

typedef void offline_action(struct offline_turn *turn);

struct offline_intent {
    const char *pattern;
    offline_action *act;
    const char *arg;
};
/* Ends with pattern NULL; the first that matches counts. */
extern const struct offline_intent offline_intents[];

/* ---- calling ---- */

/* NULL when it was not given. Dotted names are found by their wire form. */
const struct model_tool *offline_tool(const struct offline_turn *turn, const char *name);

/* One thing to pass on: names are what schemas may call it, the first that the schema has is
 * taken; NULL-terminated. */
struct offline_arg {
    const char *const *names;
    struct str text;
    int64_t number; /* when text.p is NULL */
    bool is_bool;   /* number is 0 or 1 */
    bool optional;  /* left out when the schema has no name for it */
};

extern const char *const offline_name_command[],
    *const offline_name_path[],
        *const offline_name_pattern[],
            *const offline_name_glob[],
                *const offline_name_content[],
                    *const offline_name_old[],
                        *const offline_name_new[],
                            *const offline_name_title[],
                                *const offline_name_reason[],
                                    *const offline_name_task[],
                                        *const offline_name_query[],
                                            *const offline_name_literal[],
                                                *const offline_name_directory[];

/* Has the tool's schema one of these names? */
bool offline_takes(const struct model_tool *tool, const char *const *names);
/* The first of the names that a schema has among its properties, or NULL. */
const char *offline_name_in(struct json_object *schema, const char *const *names);
bool offline_requires(const struct model_tool *tool, const char *name);
/* Adds a call. False when the schema wants something that is not there: then it was said. */
bool offline_call(struct offline_turn *turn, const struct model_tool *tool,
                  const struct offline_arg *args, size_t n);
/* The same when somebody has the JSON already. */
void offline_call_json(struct offline_turn *turn, const struct model_tool *tool, struct str json);
/* The day that many days from now, as clocks of this machine show it: "2026-11-20". */
#define OFFLINE_DAY_SIZE 16
void offline_day(const struct offline_turn *turn, int days, char out[OFFLINE_DAY_SIZE]);
/* A shell command, when there is a shell; else says what is missing and is false. */
bool offline_bash(struct offline_turn *turn, const char *command);
/* 'as one word of a shell' */
const char *offline_quote(struct arena *arena, struct str text);

/* ---- results ---- */

/* Reads all tool messages after message `from` into turn. */
void offline_results_load(struct offline_turn *turn, size_t from);
/* The newest answer of a tool in this turn, or NULL. */
const struct offline_result *offline_result_of(const struct offline_turn *turn, const char *tool);
/* The n-th answer of a tool in this turn, from 0, or NULL. */
const struct offline_result *offline_result_nth(const struct offline_turn *turn, const char *tool,
                                                size_t n);
/* The last one; there is one whenever round > 0 and the host keeps its word; else NULL. */
const struct offline_result *offline_result_last(const struct offline_turn *turn);

/* ---- saying ---- */

void offline_say(struct offline_turn *turn, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* What came of all calls of the newest round. */
void offline_report(struct offline_turn *turn);
void offline_report_failure(struct offline_turn *turn, const struct offline_result *result);
/* Up to OFFLINE_SHOWN_LINES lines, and how many more there are. */
void offline_report_lines(struct offline_turn *turn, const struct offline_result *result);
/* When a tool that is needed was not given. */
void offline_lacks(struct offline_turn *turn, const char *what, const char *tool);
/* Did the newest result fail? Then that was said and the action is over. */
bool offline_failed(struct offline_turn *turn);

/* ---- paths ---- */

/* The path that the i-th capture means: "the src folder" is src, "this folder" and no capture are
 * ".", what stands in quotes is taken as it is. */
struct str offline_place(const struct offline_turn *turn, int i);
/* README.md, src/main.c, Makefile: rather a file than a folder. */
bool offline_is_file(struct str name);

/* ---- actions ---- */

offline_action offline_greet, offline_help, offline_who, offline_answer, offline_unknown,
    offline_done;
offline_action offline_list, offline_look, offline_explain, offline_search, offline_defined,
    offline_find_file, offline_find_kind, offline_find;
offline_action offline_write, offline_append, offline_replace, offline_move, offline_copy,
    offline_delete, offline_make_folder;
offline_action offline_tidy;
offline_action offline_run, offline_run_fixed, offline_run_direct, offline_project,
    offline_count_lines;
offline_action offline_tasks_list, offline_task_create, offline_task_finish, offline_task_due,
    offline_task_priority, offline_time_log, offline_time_log_minutes, offline_time_log_span,
    offline_workout, offline_did, offline_timer_start, offline_timer_stop, offline_checklist_add;
offline_action offline_slack_list, offline_slack_send, offline_mail_list, offline_calendar_list;
offline_action offline_remember, offline_recall, offline_recall_all, offline_forget;

offline_action offline_plan_day, offline_review, offline_conclude;
offline_action offline_session_start, offline_stop, offline_rate, offline_left, offline_break,
    offline_sessions;
offline_action offline_remind, offline_remind_then, offline_task_move;
offline_action offline_diary, offline_how_long;

/* Two steps: resolve words to a task, then call name with its id and what else is given. Once that
 * is done: true. args[0] is for the id. When several tasks fit, it says so and calls nothing. */
bool offline_with_task(struct offline_turn *turn, struct str words, const char *name,
                       struct offline_arg *args, size_t n);
/* The title of the task that words were resolved to; the words where nothing was. */
struct str offline_task_title(struct offline_turn *turn, struct str words);
/* What resolve_task_reference did not find, or found where the agent does not reach. */
void offline_say_no_task(struct offline_turn *turn, const struct offline_result *result,
                         struct str words);
/* Is there a day in it, as quick add reads it? */
bool offline_names_day(const struct offline_turn *turn, struct str text);
/* "the task X", "my X": X. */
struct str offline_task_words(struct str words);
/* "90 minutes", "2 hours", "1h30m", "1.5h", "an hour", "half an hour": minutes, or 0. */
int64_t offline_minutes(struct str words);

/* Is this what an agent is told when it wakes? */
bool offline_is_wake(struct str said);
/* Does what is to be done about it. False: a person's own words are to be done, which are in
 * turn->said now. */
bool offline_woken(struct offline_turn *turn);

/* Whoever may propose agents does nothing else. */
offline_action offline_wizard;
/* Does the person name a skill of the prompt as one ("use the tea skill")? Then it was used. */
bool offline_skill_asked(struct offline_turn *turn);
/* For what no intent matches: a skill whose name was said, or enough of its description. */
bool offline_skill_fits(struct offline_turn *turn);

/* Is this a question whether the work is done (wiggum mode)? */
bool offline_asks_done(struct str text);
/* Do the words begin like a shell command? */
bool offline_is_command(const struct offline_words *words);

#endif
